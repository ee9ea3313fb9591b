#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/python_random.h"
#include "runtime/random.h"
#include "tests/recorded_runner.h"

enum { MOST_VALUES = 2048 };

/* One recorded call and where its values go. */
struct draw {
	struct ag_random *random;
	const json_t *row;
	size_t count;
	float f32[MOST_VALUES];
	double f64[MOST_VALUES];
	int64_t i64[MOST_VALUES];
};

static bool is_call(const struct draw *draw, const char *name)
{
	return strcmp(recorded_text(draw->row, "call"), name) == 0;
}

static double arg(const struct draw *draw, size_t index)
{
	return recorded_at(draw->row, "args", index);
}

static void draw_f32(struct draw *draw)
{
	struct ag_random *random = draw->random;
	float weights[MOST_VALUES];

	for (size_t i = 0; i < draw->count; i++)
		weights[i] = draw->count > 1 ? (float)i / (float)(draw->count - 1) : 0;
	if (is_call(draw, "rand"))
		ag_random_fill_uniform_f32(random, draw->f32, draw->count, 0, 1);
	else if (is_call(draw, "randn"))
		ag_random_fill_normal_f32(random, draw->f32, draw->count, 0, 1);
	else if (is_call(draw, "uniform"))
		ag_random_fill_uniform_f32(random, draw->f32, draw->count, arg(draw, 0),
		                           arg(draw, 1));
	else if (is_call(draw, "normal"))
		ag_random_fill_normal_f32(random, draw->f32, draw->count, arg(draw, 0),
		                          arg(draw, 1));
	else if (is_call(draw, "exponential"))
		ag_random_fill_exponential_f32(random, draw->f32, draw->count, arg(draw, 0));
	else if (is_call(draw, "bernoulli"))
		ag_random_fill_bernoulli_f32(random, draw->f32, draw->count, arg(draw, 0));
	else if (is_call(draw, "bernoulli_each"))
		ag_random_fill_bernoulli_each_f32(random, draw->f32, weights, draw->count);
	else if (is_call(draw, "dropout"))
		ag_random_fill_dropout_f32(random, draw->f32, draw->count, arg(draw, 0));
	else
		ck_abort_msg("unknown call %s", recorded_text(draw->row, "call"));
}

static void draw_f64(struct draw *draw)
{
	struct ag_random *random = draw->random;
	double weights[MOST_VALUES];

	for (size_t i = 0; i < draw->count; i++)
		weights[i] = draw->count > 1 ? (double)i / (double)(draw->count - 1) : 0;
	if (is_call(draw, "rand"))
		ag_random_fill_uniform_f64(random, draw->f64, draw->count, 0, 1);
	else if (is_call(draw, "randn"))
		ag_random_fill_normal_f64(random, draw->f64, draw->count, 0, 1);
	else if (is_call(draw, "uniform"))
		ag_random_fill_uniform_f64(random, draw->f64, draw->count, arg(draw, 0),
		                           arg(draw, 1));
	else if (is_call(draw, "normal"))
		ag_random_fill_normal_f64(random, draw->f64, draw->count, arg(draw, 0),
		                          arg(draw, 1));
	else if (is_call(draw, "exponential"))
		ag_random_fill_exponential_f64(random, draw->f64, draw->count, arg(draw, 0));
	else if (is_call(draw, "bernoulli"))
		ag_random_fill_bernoulli_f64(random, draw->f64, draw->count, arg(draw, 0));
	else if (is_call(draw, "bernoulli_each"))
		ag_random_fill_bernoulli_each_f64(random, draw->f64, weights, draw->count);
	else if (is_call(draw, "dropout"))
		ag_random_fill_dropout_f64(random, draw->f64, draw->count, arg(draw, 0));
	else
		ck_abort_msg("unknown call %s", recorded_text(draw->row, "call"));
}

static void draw_multinomial(struct draw *draw, bool single)
{
	size_t rows = (size_t)arg(draw, 0);
	size_t categories = (size_t)arg(draw, 1);
	size_t samples = (size_t)arg(draw, 2);
	bool replacement = arg(draw, 3) != 0;

	for (size_t i = 0; i < rows * categories; i++) {
		draw->f32[i] = (float)(i * 7 % 16);
		draw->f64[i] = (double)(i * 7 % 16);
	}
	if (single)
		ck_assert(ag_random_multinomial_f32(draw->random, draw->i64, draw->f32, rows,
		                                    categories, samples, replacement));
	else
		ck_assert(ag_random_multinomial_f64(draw->random, draw->i64, draw->f64, rows,
		                                    categories, samples, replacement));
}

static void check_draw(struct draw *draw, const char *where)
{
	const char *dtype = recorded_text(draw->row, "dtype");
	bool single = strcmp(dtype, "float32") == 0;

	if (is_call(draw, "randint")) {
		ag_random_fill_int64(draw->random, draw->i64, draw->count, (int64_t)arg(draw, 0),
		                     (int64_t)arg(draw, 1));
		recorded_equal_i64(draw->row, draw->i64, draw->count, where);
	} else if (is_call(draw, "randperm")) {
		ag_random_fill_permutation(draw->random, draw->i64, draw->count);
		recorded_equal_i64(draw->row, draw->i64, draw->count, where);
	} else if (is_call(draw, "multinomial")) {
		draw_multinomial(draw, single);
		recorded_equal_i64(draw->row, draw->i64, draw->count, where);
	} else if (single) {
		draw_f32(draw);
		recorded_equal_f32(draw->row, draw->f32, draw->count, where);
	} else if (strcmp(dtype, "float64") == 0) {
		draw_f64(draw);
		recorded_equal_f64(draw->row, draw->f64, draw->count, where);
	} else {
		/* Half types are the caller's to round; here the stream must stay in step. */
		ag_random_fill_normal_half(draw->random, draw->f32, draw->count, 0, 1);
	}
}

static void check_stream(const json_t *stream)
{
	const json_t *draws = json_object_get(stream, "draws");
	const char *seed = recorded_text(stream, "seed");
	struct ag_random random;
	struct draw *draw = calloc(1, sizeof(*draw));
	size_t index;

	ck_assert_ptr_nonnull(draw);
	draw->random = &random;
	ag_random_seed(&random, strtoull(seed, NULL, 10));
	json_array_foreach(draws, index, draw->row)
	{
		char where[160];
		draw->count = (size_t)recorded_number(draw->row, "n");
		ck_assert_uint_le(draw->count, MOST_VALUES);
		snprintf(where, sizeof(where), "seed %s draw %zu %s %s %zu", seed, index,
		         recorded_text(draw->row, "call"), recorded_text(draw->row, "dtype"),
		         draw->count);
		check_draw(draw, where);
	}
	free(draw);
}

START_TEST(torch_streams_are_pytorchs)
{
	json_t *root = recorded_load("random.json");
	const json_t *streams = json_object_get(root, "random");
	const json_t *stream;
	size_t index;

	ck_assert_uint_ge(json_array_size(streams), 4);
	json_array_foreach(streams, index, stream)
	{
		ck_assert_uint_ge(json_array_size(json_object_get(stream, "draws")), 80);
		check_stream(stream);
	}
	json_decref(root);
}
END_TEST

START_TEST(a_copied_generator_repeats)
{
	struct ag_random random;
	struct ag_random copy;
	float first[7];
	float again[7];

	ag_random_seed(&random, 3);
	ag_random_fill_normal_f32(&random, first, 3, 0, 1);
	copy = random;
	ag_random_fill_normal_f32(&random, first, 7, 0, 1);
	ag_random_fill_normal_f32(&copy, again, 7, 0, 1);
	ck_assert_mem_eq(first, again, sizeof(first));
	ag_random_seed(&random, 3);
	ck_assert(!random.has_cached_normal);
}
END_TEST

START_TEST(multinomial_refuses_bad_weights)
{
	static const double negative[] = {1, -1, 1};
	static const double infinite[] = {1, 1 / 0.0, 1};
	static const double zero[] = {0, 0, 0};
	static const double good[] = {0, 1, 0};
	struct ag_random random;
	struct ag_random before;
	int64_t out[4] = {-1, -1, -1, -1};

	ag_random_seed(&random, 1);
	before = random;
	ck_assert(!ag_random_multinomial_f64(&random, out, negative, 1, 3, 1, false));
	ck_assert(!ag_random_multinomial_f64(&random, out, infinite, 1, 3, 1, true));
	ck_assert(!ag_random_multinomial_f64(&random, out, zero, 1, 3, 1, true));
	ck_assert(!ag_random_multinomial_f64(&random, out, good, 1, 3, 4, false));
	ck_assert(!ag_random_multinomial_f64(&random, out, good, 1, 0, 1, true));
	ck_assert_int_eq(out[0], -1);
	ck_assert_uint_eq(ag_random_u32(&random), ag_random_u32(&before));
	ck_assert(ag_random_multinomial_f64(&random, out, good, 1, 3, 4, true));
	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(out[i], 1);
}
END_TEST

/* Python */

static bool python_number(struct ag_python_random *random, const json_t *row, double *value)
{
	const char *call = recorded_text(row, "call");

	if (strcmp(call, "random") == 0)
		*value = ag_python_random(random);
	else if (strcmp(call, "uniform") == 0)
		*value = ag_python_uniform(random, recorded_at(row, "args", 0),
		                           recorded_at(row, "args", 1));
	else if (strcmp(call, "gauss") == 0)
		*value = ag_python_gauss(random, recorded_at(row, "args", 0),
		                         recorded_at(row, "args", 1));
	else if (strcmp(call, "normalvariate") == 0)
		*value = ag_python_normal(random, recorded_at(row, "args", 0),
		                          recorded_at(row, "args", 1));
	else if (strcmp(call, "expovariate") == 0)
		*value = ag_python_exponential(random, recorded_at(row, "args", 0));
	else
		return false;
	return true;
}

static int64_t integer_arg(const json_t *row, size_t index)
{
	return json_integer_value(json_array_get(json_object_get(row, "args"), index));
}

static bool python_integer(struct ag_python_random *random, const json_t *row, int64_t *value)
{
	const char *call = recorded_text(row, "call");
	int64_t first = integer_arg(row, 0);

	if (strcmp(call, "getrandbits") == 0)
		*value = (int64_t)ag_python_bits(random, (unsigned)first);
	else if (strcmp(call, "randrange") == 0 || strcmp(call, "choice") == 0)
		*value = (int64_t)ag_python_below(random, (uint64_t)first);
	else if (strcmp(call, "randint") == 0)
		*value = ag_python_int(random, first, integer_arg(row, 1));
	else
		return false;
	return true;
}

/* Fills indices; returns how many. */
static size_t python_indices(struct ag_python_random *random, const json_t *row, size_t *out)
{
	const char *call = recorded_text(row, "call");
	size_t count = (size_t)integer_arg(row, 0);
	size_t samples = (size_t)integer_arg(row, 1);
	double cumulative[64];
	double sum = 0;

	for (size_t i = 0; i < count && i < 64; i++)
		cumulative[i] = sum += (double)(i % 3) + 0.5;
	if (strcmp(call, "shuffle") == 0) {
		ag_python_shuffle(random, out, count);
		return count;
	}
	if (strcmp(call, "sample") == 0)
		ag_python_sample(random, out, count, samples);
	else if (strcmp(call, "choices") == 0)
		ag_python_choices(random, out, count, samples);
	else if (strcmp(call, "choices_weighted") == 0)
		ag_python_choices_weighted(random, out, cumulative, count, samples);
	else
		ck_abort_msg("unknown call %s", call);
	return samples;
}

static void check_python(struct ag_python_random *random, const json_t *row, const char *where)
{
	int64_t integers[64];
	size_t indices[64];
	size_t count;
	double value;

	if (python_number(random, row, &value)) {
		recorded_equal_f64(row, &value, 1, where);
	} else if (python_integer(random, row, integers)) {
		recorded_equal_i64(row, integers, 1, where);
	} else {
		count = python_indices(random, row, indices);
		for (size_t i = 0; i < count; i++)
			integers[i] = (int64_t)indices[i];
		recorded_equal_i64(row, integers, count, where);
	}
}

START_TEST(python_streams_are_cpythons)
{
	json_t *root = recorded_load("random.json");
	const json_t *stream;
	const json_t *row;
	size_t index;
	size_t draw;

	ck_assert_uint_ge(json_array_size(json_object_get(root, "python")), 6);
	json_array_foreach(json_object_get(root, "python"), index, stream)
	{
		int64_t seed = json_integer_value(json_object_get(stream, "seed"));
		struct ag_python_random random;
		ag_python_seed(&random, seed);
		json_array_foreach(json_object_get(stream, "draws"), draw, row)
		{
			char where[96];
			snprintf(where, sizeof(where), "seed %" PRId64 " draw %zu %s", seed, draw,
			         recorded_text(row, "call"));
			check_python(&random, row, where);
		}
	}
	json_decref(root);
}
END_TEST

START_TEST(python_int_covers_all_numbers)
{
	struct ag_python_random random;
	bool negative = false;
	bool positive = false;

	ag_python_seed(&random, 5);
	for (int i = 0; i < 100; i++) {
		int64_t value = ag_python_int(&random, INT64_MIN, INT64_MAX);
		negative |= value < 0;
		positive |= value > 0;
		ck_assert_int_eq(ag_python_int(&random, INT64_MAX, INT64_MAX), INT64_MAX);
	}
	ck_assert(negative && positive);
}
END_TEST

Suite *random_suite(void);

Suite *random_suite(void)
{
	Suite *suite = suite_create("random");
	TCase *torch = tcase_create("torch");
	TCase *python = tcase_create("python");

	tcase_add_test(torch, torch_streams_are_pytorchs);
	tcase_add_test(torch, a_copied_generator_repeats);
	tcase_add_test(torch, multinomial_refuses_bad_weights);
	suite_add_tcase(suite, torch);
	tcase_add_test(python, python_streams_are_cpythons);
	tcase_add_test(python, python_int_covers_all_numbers);
	suite_add_tcase(suite, python);
	return suite;
}
