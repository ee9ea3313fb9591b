#include "tests/row_runner.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/random.h"
#include "tests/recorded_runner.h"

bool row_differ(struct row_message *message, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(message->text, sizeof(message->text), format, args);
	va_end(args);
	return false;
}

void row_release(struct row_run *run)
{
	for (uint32_t i = 0; i < run->result_count; i++)
		ag_release(run->results[i]);
	run->result_count = 0;
	steps_release(&run->machine);
	for (uint32_t i = 0; i < run->stop_count; i++)
		ag_node_release(run->stops[i]);
	run->stop_count = 0;
	for (uint32_t i = 0; i < run->leaf_count; i++)
		ag_release(run->leaves[i]);
	run->leaf_count = 0;
}

/* inputs */

int64_t row_shape(const json_t *json, int64_t *shape, int *ndim)
{
	const json_t *sizes = json_object_get(json, "shape");
	int64_t numel = 1;

	*ndim = (int)json_array_size(sizes);
	for (int i = 0; i < *ndim; i++) {
		shape[i] = json_integer_value(json_array_get(sizes, (size_t)i));
		numel *= shape[i];
	}
	return numel;
}

static void fill_input(struct ag_random *random, const json_t *spec, float *out, size_t count)
{
	const char *kind = recorded_text(spec, "kind");
	size_t side = 1;

	if (strcmp(kind, "randn") == 0) {
		ag_random_fill_normal_f32(random, out, count, 0, 1);
		return;
	}
	if (strcmp(kind, "u") == 0)
		ag_random_fill_uniform_f32(random, out, count, 0, 1);
	if (strcmp(kind, "spd") == 0)
		side = (size_t)recorded_at(spec, "shape",
		                           json_array_size(json_object_get(spec, "shape")) - 1);
	for (size_t i = 0; i < count; i++) {
		if (strcmp(kind, "u") == 0) {
			float scaled = out[i] * 0.8F;
			out[i] = scaled + 0.1F;
		} else if (strcmp(kind, "bool") == 0) {
			out[i] = i % 2 == 0;
		} else if (strcmp(kind, "spd") == 0) {
			out[i] = (i / side % side == i % side) + 0.125F;
		} else {
			out[i] = strcmp(kind, "ones") == 0 ? 1.0F : 0.25F;
		}
	}
}

static struct ag_tensor *tensor_of(struct ag_ctx *ctx, const json_t *spec, const float *singles,
                                   const int64_t *integers)
{
	int64_t shape[AG_MAX_DIMS];
	int ndim;
	int64_t numel = row_shape(spec, shape, &ndim);
	double doubles[ROW_MOST_ELEMENTS];
	unsigned char bytes[ROW_MOST_ELEMENTS];
	int64_t wide[ROW_MOST_ELEMENTS];
	const void *data = singles;
	struct ag_tensor *tensor;
	enum ag_dtype dtype;

	if (!ag_dtype_find(recorded_text(spec, "dtype"), &dtype))
		return NULL;
	for (int64_t i = 0; i < numel; i++) {
		doubles[i] = (double)singles[i];
		bytes[i] = singles[i] != 0;
		wide[i] = integers ? integers[i] : (int64_t)singles[i];
	}
	if (strcmp(ag_dtype_name(dtype), "float64") == 0)
		data = doubles;
	else if (strcmp(ag_dtype_name(dtype), "bool") == 0)
		data = bytes;
	else if (strcmp(ag_dtype_name(dtype), "int64") == 0)
		data = wide;
	else if (strcmp(ag_dtype_name(dtype), "float32") != 0)
		data = NULL;
	tensor = ag_tensor_new(ctx, dtype, ndim, shape, data);
	if (tensor && !data)
		ag_write(ctx, tensor, doubles, numel);
	return tensor;
}

static struct ag_tensor *channels_last(struct ag_ctx *ctx, struct ag_tensor *t)
{
	const char *format = ag_ndim(t) == 4 ? "channels_last" : "channels_last_3d";
	struct ag_value v[2] = {ag_arg(t), ag_text(format, strlen(format))};
	struct ag_tensor *out = ag_call1(ctx, AG_OP_clone, v, 2);

	ag_release(t);
	return out;
}

/* The same elements, the last two dimensions exchanged in memory. */
static struct ag_tensor *transposed(struct ag_ctx *ctx, struct ag_tensor *t)
{
	struct ag_tensor *there = ag_transpose(ctx, t, -1, -2);
	struct ag_value v[1] = {ag_arg(there)};
	struct ag_tensor *dense = ag_call1(ctx, AG_OP_contiguous, v, 1);
	struct ag_tensor *out = ag_transpose(ctx, dense, -1, -2);

	ag_release(t);
	ag_release(there);
	ag_release(dense);
	return out;
}

static struct ag_tensor *laid_out(struct ag_ctx *ctx, const json_t *spec, struct ag_tensor *t)
{
	const char *layout = json_string_value(json_object_get(spec, "layout"));

	if (!layout || !t)
		return t;
	return strcmp(layout, "channels_last") == 0 ? channels_last(ctx, t) : transposed(ctx, t);
}

static struct ag_tensor *make_input(struct ag_ctx *ctx, struct ag_random *random,
                                    const json_t *spec)
{
	int64_t shape[AG_MAX_DIMS];
	int ndim;
	size_t count = (size_t)row_shape(spec, shape, &ndim);
	float singles[ROW_MOST_ELEMENTS] = {0};
	int64_t integers[ROW_MOST_ELEMENTS];
	bool whole = strcmp(recorded_text(spec, "kind"), "int") == 0;

	if (count > ROW_MOST_ELEMENTS)
		return NULL;
	if (whole)
		ag_random_fill_int64(random, integers, count, 0,
		                     (int64_t)recorded_number(spec, "high"));
	else
		fill_input(random, spec, singles, count);
	return laid_out(ctx, spec, tensor_of(ctx, spec, singles, whole ? integers : NULL));
}

static float imaginary(size_t i, enum row_part part, uint32_t input)
{
	return part == ROW_OTHER_COMPLEX ? 0.9F - (float)(i % 7) / 8
	                                 : 0.15F + (float)((i + input) % 4) / 5;
}

/* Complex numbers in place of real ones, or their imaginary parts alone. */
static struct ag_tensor *as_part(struct row_run *run, struct ag_tensor *t)
{
	float numbers[2 * ROW_MOST_ELEMENTS] = {0};
	double values[ROW_MOST_ELEMENTS];
	bool whole = run->part != ROW_IMAGINARY;
	struct ag_tensor *out = NULL;

	if (run->part == ROW_AS_IT_IS || !t || ag_dtype(t) != AG_F32)
		return t;
	if (ag_read(run->ctx, t, values, ag_numel(t))) {
		for (int64_t i = 0; i < ag_numel(t); i++) {
			numbers[whole ? 2 * i : i] = (float)values[i];
			numbers[whole ? 2 * i + 1 : i] =
			        imaginary((size_t)i, run->part, run->machine.count);
		}
		out = ag_tensor_new(run->ctx, whole ? AG_C64 : AG_F32, ag_ndim(t), ag_shape(t),
		                    numbers);
	}
	ag_release(t);
	return out;
}

static bool names_include(const json_t *names, const char *name)
{
	for (size_t i = 0; i < json_array_size(names); i++) {
		if (strcmp(json_string_value(json_array_get(names, i)), name) == 0)
			return true;
	}
	return false;
}

static bool nudge_leaf(struct row_run *run, struct ag_tensor *leaf)
{
	double values[ROW_MOST_ELEMENTS];
	int64_t count = ag_numel(leaf);

	if (run->nudge.by == 0 || run->nudge.leaf != run->leaf_count)
		return true;
	if (!ag_read(run->ctx, leaf, values, count))
		return false;
	values[run->nudge.element] += run->nudge.by;
	return ag_write(run->ctx, leaf, values, count);
}

/* A leaf that requires grad, and its clone as the input. */
static struct ag_tensor *behind_clone(struct row_run *run, struct ag_tensor *leaf)
{
	struct ag_tensor *clone;

	if (!leaf || !nudge_leaf(run, leaf) || !ag_set_requires_grad(run->ctx, leaf, true)) {
		ag_release(leaf);
		return NULL;
	}
	run->leaves[run->leaf_count++] = leaf;
	clone = ag_clone(run->ctx, leaf);
	if (clone)
		run->stops[run->stop_count++] = ag_node_retain(ag_grad_fn(run->ctx, clone));
	return clone;
}

bool row_make_inputs(struct row_run *run, const json_t *document, const json_t *specs,
                     const json_t *needs)
{
	struct ag_random random;

	ag_random_seed(&random, (uint64_t)recorded_number(document, "input_seed"));
	for (size_t i = 0; i < json_array_size(specs); i++) {
		const json_t *spec = json_array_get(specs, i);
		struct ag_tensor *input = as_part(run, make_input(run->ctx, &random, spec));

		if (names_include(needs, recorded_text(spec, "name")))
			input = behind_clone(run, input);
		if (!input)
			return false;
		steps_add_input(&run->machine, input);
	}
	return true;
}

bool row_execute(struct row_run *run, const json_t *document, const json_t *row)
{
	const json_t *results = json_object_get(row, "results");

	ag_manual_seed(run->ctx, (uint64_t)recorded_number(document, "seed"));
	if (!steps_run(&run->machine, json_object_get(row, "steps"), results))
		return false;
	run->result_count = steps_results(&run->machine, results, run->results, ROW_MOST_RESULTS);
	return true;
}

bool row_execute_case(struct row_run *run, const json_t *document, const json_t *row,
                      const json_t *value_case)
{
	const char *name = json_string_value(json_object_get(value_case, "default"));
	enum ag_dtype before = ag_default_dtype(run->ctx), dtype;
	bool done;

	if (name && ag_dtype_find(name, &dtype))
		ag_set_default_dtype(run->ctx, dtype);
	done = row_execute(run, document, row);
	ag_set_default_dtype(run->ctx, before);
	return done;
}

const char *row_failure(const struct row_run *run)
{
	const struct ag_error *error = ag_error(run->ctx);

	return error && error->status != AG_OK ? error->text : "failed without an error";
}

/* what tests compare */

bool row_check_kind(const struct ag_tensor *tensor, const json_t *want, const char *what,
                    struct row_message *message)
{
	int64_t shape[AG_MAX_DIMS];
	int ndim;

	row_shape(want, shape, &ndim);
	if (strcmp(ag_dtype_name(ag_dtype(tensor)), recorded_text(want, "dtype")) != 0)
		return row_differ(message, "%s is %s, not %s", what,
		                  ag_dtype_name(ag_dtype(tensor)), recorded_text(want, "dtype"));
	if (ag_ndim(tensor) != ndim)
		return row_differ(message, "%s has %d dimensions, not %d", what, ag_ndim(tensor),
		                  ndim);
	for (int i = 0; i < ndim; i++) {
		if (ag_size(tensor, i) != shape[i])
			return row_differ(message, "%s: size %d is %d, not %d", what, i,
			                  (int)ag_size(tensor, i), (int)shape[i]);
	}
	return true;
}

double row_weight(int64_t index)
{
	return (double)(index * 7 % 11 - 5) / 4;
}

struct ag_tensor *row_weight_like(struct row_run *run, const struct ag_tensor *tensor)
{
	struct ag_tensor *weight =
	        ag_tensor_new(run->ctx, ag_dtype(tensor), ag_ndim(tensor), ag_shape(tensor), NULL);
	double values[ROW_MOST_ELEMENTS];

	for (int64_t i = 0; i < ag_numel(tensor); i++)
		values[i] = row_weight(i);
	if (weight)
		ag_write(run->ctx, weight, values, ag_numel(tensor));
	return weight;
}
