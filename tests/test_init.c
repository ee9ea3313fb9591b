#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/init.h"
#include "tests/recorded_runner.h"

enum { MOST_VALUES = 2048, MOST_PARAMETERS = 24 };

/* An array of one parameter, with room for its shape and values. */
struct parameter {
	struct ag_array array;
	int64_t shape[8];
	float f32[MOST_VALUES];
	double f64[MOST_VALUES];
};

static void parameter_init(struct parameter *parameter, const json_t *row, bool single)
{
	const json_t *shape = json_object_get(row, "shape");

	parameter->array =
	        (struct ag_array){.shape = parameter->shape, .ndim = (int)json_array_size(shape)};
	for (int i = 0; i < parameter->array.ndim; i++)
		parameter->shape[i] = (int64_t)recorded_at(row, "shape", (size_t)i);
	ck_assert_int_le(ag_array_numel(&parameter->array), MOST_VALUES);
	if (single)
		parameter->array.f32 = parameter->f32;
	else
		parameter->array.f64 = parameter->f64;
}

static void check_parameter(const struct parameter *parameter, const json_t *row, const char *where)
{
	size_t count = (size_t)ag_array_numel(&parameter->array);

	if (parameter->array.f32)
		recorded_equal_f32(row, parameter->f32, count, where);
	else
		recorded_equal_f64(row, parameter->f64, count, where);
}

static void check_close(const struct parameter *parameter, const json_t *row, const char *where)
{
	double tolerance = parameter->array.f32 ? 2e-6 : 1e-13;

	for (int64_t i = 0; i < ag_array_numel(&parameter->array); i++) {
		double want = recorded_at(row, "values", (size_t)i);
		double got = ag_array_get(&parameter->array, i);
		if (!(fabs(got - want) <= tolerance))
			ck_abort_msg("%s[%d]: %.17g, not %.17g", where, (int)i, got, want);
	}
}

static enum ag_fan fan_of(const json_t *args)
{
	return strcmp(recorded_text(args, "mode"), "fan_in") == 0 ? AG_FAN_IN : AG_FAN_OUT;
}

static bool run_scaled(const char *call, const json_t *args, struct ag_random *random,
                       struct ag_array *array, bool *done)
{
	*done = true;
	if (strcmp(call, "xavier_uniform_") == 0)
		return ag_init_xavier_uniform(random, array, recorded_number(args, "gain"));
	if (strcmp(call, "xavier_normal_") == 0)
		return ag_init_xavier_normal(random, array, recorded_number(args, "gain"));
	if (strcmp(call, "kaiming_uniform_") == 0)
		return ag_init_kaiming_uniform(random, array, recorded_number(args, "a"),
		                               fan_of(args), recorded_text(args, "nonlinearity"));
	if (strcmp(call, "kaiming_normal_") == 0)
		return ag_init_kaiming_normal(random, array, recorded_number(args, "a"),
		                              fan_of(args), recorded_text(args, "nonlinearity"));
	*done = false;
	return false;
}

static bool run_init(const char *call, const json_t *args, struct ag_random *random,
                     struct ag_array *array)
{
	bool done;
	bool result = run_scaled(call, args, random, array, &done);

	if (done)
		return result;
	if (strcmp(call, "trunc_normal_") == 0)
		return ag_init_trunc_normal(random, array, recorded_number(args, "mean"),
		                            recorded_number(args, "std"),
		                            recorded_number(args, "a"), recorded_number(args, "b"));
	if (strcmp(call, "orthogonal_") == 0)
		return ag_init_orthogonal(random, array, recorded_number(args, "gain"));
	if (strcmp(call, "sparse_") == 0)
		return ag_init_sparse(random, array, recorded_number(args, "sparsity"),
		                      recorded_number(args, "std"));
	if (strcmp(call, "eye_") == 0)
		return ag_init_eye(array);
	if (strcmp(call, "dirac_") == 0)
		return ag_init_dirac(array, (int64_t)recorded_number(args, "groups"));
	ck_abort_msg("unknown call %s", call);
	return false;
}

START_TEST(init_functions_are_pytorchs)
{
	json_t *root = recorded_load("random.json");
	struct parameter *parameter = calloc(1, sizeof(*parameter));
	const json_t *row;
	size_t index;

	ck_assert_uint_ge(json_array_size(json_object_get(root, "init")), 60);
	json_array_foreach(json_object_get(root, "init"), index, row)
	{
		const char *call = recorded_text(row, "call");
		struct ag_random random;
		char where[96];
		snprintf(where, sizeof(where), "%zu %s %s", index, call,
		         recorded_text(row, "dtype"));
		ag_random_seed(&random, (uint64_t)recorded_number(row, "seed"));
		parameter_init(parameter, row, strcmp(recorded_text(row, "dtype"), "float32") == 0);
		ck_assert(run_init(call, json_object_get(row, "args"), &random, &parameter->array));
		if (strcmp(call, "orthogonal_") == 0)
			check_close(parameter, row, where);
		else
			check_parameter(parameter, row, where);
	}
	free(parameter);
	json_decref(root);
}
END_TEST

/* A recorded layer's parameters, in the module's order. */
struct layer {
	const json_t *row;
	const json_t *rows;
	struct parameter *parameters;
	uint32_t count;
};

static struct ag_array *named(struct layer *layer, const char *name)
{
	for (uint32_t i = 0; i < layer->count; i++) {
		const json_t *row = json_array_get(layer->rows, i);
		if (strcmp(recorded_text(row, "name"), name) == 0)
			return &layer->parameters[i].array;
	}
	return NULL;
}

static void init_attention(struct layer *layer, struct ag_random *random)
{
	struct ag_attention_arrays arrays = {
	        .in_weight = named(layer, "in_proj_weight"),
	        .q_weight = named(layer, "q_proj_weight"),
	        .k_weight = named(layer, "k_proj_weight"),
	        .v_weight = named(layer, "v_proj_weight"),
	        .in_bias = named(layer, "in_proj_bias"),
	        .out_weight = named(layer, "out_proj.weight"),
	        .out_bias = named(layer, "out_proj.bias"),
	        .k_bias = named(layer, "bias_k"),
	        .v_bias = named(layer, "bias_v"),
	};

	ag_init_attention(random, &arrays);
}

static void init_layer(struct layer *layer, struct ag_random *random)
{
	const char *kind = recorded_text(layer->row, "kind");
	struct ag_array *weight = named(layer, "weight");
	struct ag_array *bias = named(layer, "bias");
	struct ag_array all[MOST_PARAMETERS];

	for (uint32_t i = 0; i < layer->count; i++)
		all[i] = layer->parameters[i].array;
	if (strcmp(kind, "linear") == 0)
		ck_assert(ag_init_linear(random, weight, bias));
	else if (strcmp(kind, "bilinear") == 0)
		ck_assert(ag_init_bilinear(random, weight, bias));
	else if (strcmp(kind, "embedding") == 0)
		ag_init_embedding(random, weight,
		                  (int64_t)recorded_number(layer->row, "padding_idx"));
	else if (strcmp(kind, "recurrent") == 0)
		ag_init_recurrent(random, all, layer->count,
		                  (int64_t)recorded_number(layer->row, "hidden"));
	else if (strcmp(kind, "attention") == 0)
		init_attention(layer, random);
	else
		ck_abort_msg("unknown kind %s", kind);
}

static void check_layer(const json_t *row)
{
	struct layer layer = {.row = row, .rows = json_object_get(row, "parameters")};
	struct ag_random random;
	char where[96];

	layer.count = (uint32_t)json_array_size(layer.rows);
	ck_assert_uint_le(layer.count, MOST_PARAMETERS);
	layer.parameters = calloc(layer.count, sizeof(*layer.parameters));
	for (uint32_t i = 0; i < layer.count; i++)
		parameter_init(&layer.parameters[i], json_array_get(layer.rows, i), true);
	ag_random_seed(&random, (uint64_t)recorded_number(row, "seed"));
	init_layer(&layer, &random);
	for (uint32_t i = 0; i < layer.count; i++) {
		const json_t *parameter = json_array_get(layer.rows, i);
		snprintf(where, sizeof(where), "%s.%s", recorded_text(row, "layer"),
		         recorded_text(parameter, "name"));
		check_parameter(&layer.parameters[i], parameter, where);
	}
	/* The stream goes on as after PyTorch's constructor. */
	for (size_t i = 0; i < 2; i++)
		ck_assert_double_eq((double)ag_random_uniform_f32(&random),
		                    recorded_at(row, "next", i));
	free(layer.parameters);
}

START_TEST(layers_start_as_in_pytorch)
{
	json_t *root = recorded_load("random.json");
	const json_t *row;
	size_t index;

	ck_assert_uint_ge(json_array_size(json_object_get(root, "layers")), 15);
	json_array_foreach(json_object_get(root, "layers"), index, row) check_layer(row);
	json_decref(root);
}
END_TEST

START_TEST(refusals_draw_nothing)
{
	static const int64_t shape[] = {2, 3, 4};
	float data[24];
	struct ag_array vector = {.f32 = data, .shape = shape, .ndim = 1};
	struct ag_array cube = {.f32 = data, .shape = shape, .ndim = 3};
	struct ag_random random;
	struct ag_random before;
	double gain = -1;

	ag_random_seed(&random, 9);
	before = random;
	ck_assert(!ag_init_xavier_uniform(&random, &vector, 1));
	ck_assert(!ag_init_xavier_normal(&random, &vector, 1));
	ck_assert(!ag_init_kaiming_uniform(&random, &vector, 0, AG_FAN_IN, "relu"));
	ck_assert(!ag_init_kaiming_normal(&random, &cube, 0, AG_FAN_IN, "softplus"));
	ck_assert(!ag_init_orthogonal(&random, &vector, 1));
	ck_assert(!ag_init_sparse(&random, &cube, 0.1, 1));
	ck_assert(!ag_init_eye(&cube));
	ck_assert(!ag_init_dirac(&vector, 1));
	ck_assert(!ag_init_dirac(&cube, 0));
	ck_assert(!ag_init_trunc_normal(&random, &cube, 0, 0, -1, 1));
	ck_assert(!ag_init_trunc_normal(&random, &cube, 0, 1, 1, -1));
	ck_assert(!ag_init_linear(&random, &vector, NULL));
	ck_assert(!ag_init_gain("softplus", 0, &gain));
	ck_assert_uint_eq(ag_random_u32(&random), ag_random_u32(&before));
}
END_TEST

START_TEST(arrays_without_data_draw_nothing)
{
	static const int64_t shape[] = {2, 3};
	struct ag_array meta = {.shape = shape, .ndim = 2};
	struct ag_random random;
	struct ag_random before;

	ag_random_seed(&random, 9);
	before = random;
	ag_init_constant(&meta, 1);
	ck_assert(ag_init_linear(&random, &meta, NULL));
	ck_assert(ag_init_orthogonal(&random, &meta, 1));
	ck_assert(ag_init_trunc_normal(&random, &meta, 0, 1, -2, 2));
	ck_assert(ag_init_sparse(&random, &meta, 0.5, 1));
	ck_assert(ag_init_eye(&meta));
	ag_init_embedding(&random, &meta, 1);
	ck_assert_uint_eq(ag_random_u32(&random), ag_random_u32(&before));
}
END_TEST

Suite *init_suite(void);

Suite *init_suite(void)
{
	Suite *suite = suite_create("init");
	TCase *recorded = tcase_create("recorded");
	TCase *edges = tcase_create("edges");

	tcase_add_test(recorded, init_functions_are_pytorchs);
	tcase_add_test(recorded, layers_start_as_in_pytorch);
	suite_add_tcase(suite, recorded);
	tcase_add_test(edges, refusals_draw_nothing);
	tcase_add_test(edges, arrays_without_data_draw_nothing);
	suite_add_tcase(suite, edges);
	return suite;
}
