#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/recorded_runner.h"
#include "tests/row_checks.h"
#include "tests/row_runner.h"

/* The tolerances of torch.testing.assert_close, of the dtype that was computed in. */
static bool close_to(double got, double want, enum ag_dtype dtype)
{
	const char *name = ag_dtype_name(dtype);
	double relative = 0;
	double absolute = 0;

	if (strcmp(name, "float64") == 0)
		relative = absolute = 1e-7;
	else if (strcmp(name, "float32") == 0)
		relative = 1.3e-6, absolute = 1e-5;
	else if (strcmp(name, "float16") == 0)
		relative = 1e-3, absolute = 1e-5;
	else if (strcmp(name, "bfloat16") == 0)
		relative = 1.6e-2, absolute = 1e-5;
	if (isnan(want))
		return isnan(got);
	if (isinf(want))
		return got == want;
	return fabs(got - want) <= absolute + relative * fabs(want);
}

static double number_of(const json_t *json)
{
	if (json_is_string(json))
		return strtod(json_string_value(json), NULL);
	if (json_is_boolean(json))
		return json_is_true(json);
	return json_number_value(json);
}

static bool is_coarser(const struct ag_tensor *tensor, enum ag_dtype than)
{
	return ag_dtype_is_float(ag_dtype(tensor)) && ag_dtype(tensor) < than;
}

/* The dtype in which a leaf's gradient was computed: with singles about, sums are of singles. */
static enum ag_dtype coarsest(const struct row_run *run)
{
	enum ag_dtype dtype = AG_F64;

	for (uint32_t i = 0; i < run->leaf_count; i++)
		dtype = is_coarser(run->leaves[i], dtype) ? ag_dtype(run->leaves[i]) : dtype;
	for (uint32_t i = 0; i < run->result_count; i++)
		dtype = is_coarser(run->results[i], dtype) ? ag_dtype(run->results[i]) : dtype;
	return dtype;
}

static bool check_data(struct row_run *run, const struct ag_tensor *tensor, const json_t *data,
                       enum ag_dtype dtype, const char *what, struct row_message *message)
{
	size_t count = json_array_size(data);
	double got[ROW_MOST_ELEMENTS];

	if (!tensor)
		return row_differ(message, "%s: no tensor", what);
	if ((size_t)ag_numel(tensor) != count || count > ROW_MOST_ELEMENTS)
		return row_differ(message, "%s: %d elements, not %zu", what, (int)ag_numel(tensor),
		                  count);
	if (!ag_read(run->ctx, tensor, got, (int64_t)count))
		return row_differ(message, "%s: cannot be read: %s", what, row_failure(run));
	for (size_t i = 0; i < count; i++) {
		double want = number_of(json_array_get(data, i));
		if (!close_to(got[i], want, dtype))
			return row_differ(message, "%s[%zu] is %.9g, not %.9g", what, i, got[i],
			                  want);
	}
	return true;
}

static bool check_grads(struct row_run *run, const json_t *grads, struct row_message *message)
{
	struct ag_tensor *heads[ROW_MOST_RESULTS];
	struct ag_tensor *weights[ROW_MOST_RESULTS];
	struct ag_tensor *out[ROW_MOST_INPUTS] = {0};
	uint32_t count = 0;
	bool same = true;
	bool done;

	for (uint32_t i = 0; i < run->result_count; i++) {
		if (!ag_requires_grad(run->results[i]))
			continue;
		heads[count] = run->results[i];
		weights[count++] = row_weight_like(run, run->results[i]);
	}
	done = ag_grad(run->ctx, heads, weights, count, run->leaves, run->leaf_count,
	               AG_ALLOW_UNUSED, out);
	for (uint32_t i = 0; i < count; i++)
		ag_release(weights[i]);
	if (!done)
		return row_differ(message, "backward: %s", row_failure(run));
	for (uint32_t i = 0; i < run->leaf_count; i++) {
		const json_t *want = json_array_get(grads, i);
		char what[32];
		snprintf(what, sizeof(what), "gradient %u", i);
		if (same && json_is_null(want) != (out[i] == NULL))
			same = row_differ(message, "%s is %s", what, out[i] ? "there" : "missing");
		else if (same && out[i])
			same = check_data(run, out[i], want, coarsest(run), what, message);
		ag_release(out[i]);
	}
	return same;
}

static bool check_results(struct row_run *run, const json_t *value_case,
                          struct row_message *message)
{
	const json_t *outputs = json_object_get(value_case, "outputs");
	const json_t *grads = json_object_get(value_case, "grads");

	if (run->result_count != json_array_size(outputs))
		return row_differ(message, "%u results, not %zu", run->result_count,
		                  json_array_size(outputs));
	for (uint32_t i = 0; i < run->result_count; i++) {
		const json_t *want = json_array_get(outputs, i);
		char what[32];
		snprintf(what, sizeof(what), "result %u", i);
		if (!row_check_kind(run->results[i], want, what, message) ||
		    !check_data(run, run->results[i], json_object_get(want, "data"),
		                ag_dtype(run->results[i]), what, message))
			return false;
	}
	return json_array_size(grads) == 0 || check_grads(run, grads, message);
}

static bool check_error(const struct row_run *run, bool done, const json_t *error,
                        struct row_message *message)
{
	const char *want = json_string_value(error);
	const char *got;

	if (done)
		return row_differ(message, "no error, but PyTorch raises %s", want);
	got = ag_status_exception(ag_error(run->ctx)->status);
	if (strcmp(want, "Exception") != 0 && strcmp(got, want) != 0)
		return row_differ(message, "%s (%s), but PyTorch raises %s", got, row_failure(run),
		                  want);
	return true;
}

static bool check_case(struct row_run *run, const json_t *document, const json_t *row,
                       const json_t *value_case, struct row_message *message)
{
	const json_t *error = json_object_get(value_case, "error");
	bool done;

	if (!row_make_inputs(run, document, json_object_get(value_case, "inputs"),
	                     json_object_get(value_case, "needs")))
		return row_differ(message, "inputs: %s", row_failure(run));
	done = row_execute_case(run, document, row, value_case);
	if (error)
		return check_error(run, done, error, message);
	if (!done)
		return row_differ(message, "%s", row_failure(run));
	return check_results(run, value_case, message);
}

/* The message gets the shapes of the case in front. */
static void name_case(const json_t *value_case, struct row_message *message)
{
	const json_t *specs = json_object_get(value_case, "inputs");
	char text[sizeof(message->text)];
	size_t used = 0;

	for (size_t i = 0; i < json_array_size(specs) && used < 120; i++) {
		const json_t *spec = json_array_get(specs, i);
		char *shape = json_dumps(json_object_get(spec, "shape"), JSON_COMPACT);
		used += (size_t)snprintf(text + used, 200 - used, "%s %s%s ",
		                         recorded_text(spec, "dtype"), recorded_text(spec, "name"),
		                         shape);
		free(shape);
	}
	snprintf(text + used, sizeof(text) - used, ": %.300s", message->text);
	memcpy(message->text, text, sizeof(text));
}

bool row_check_values(const json_t *document, const json_t *row, struct row_message *message)
{
	const json_t *cases = json_object_get(row, "values");
	bool same = true;

	for (size_t i = 0; same && i < json_array_size(cases); i++) {
		struct row_run run = {.ctx = ag_open(NULL)};
		struct ag_memory memory;
		run.machine.ctx = run.ctx;
		same = check_case(&run, document, row, json_array_get(cases, i), message);
		row_release(&run);
		ag_memory(run.ctx, &memory);
		if (same && (memory.live_bytes || memory.nodes || memory.tensors))
			same = row_differ(message,
			                  "%llu bytes, %llu nodes, %llu tensors are left over",
			                  (unsigned long long)memory.live_bytes,
			                  (unsigned long long)memory.nodes,
			                  (unsigned long long)memory.tensors);
		ag_close(run.ctx);
		if (!same)
			name_case(json_array_get(cases, i), message);
	}
	return same;
}

/* second order */

/* Those of `tensors` that require grad, and as many weights. */
struct heads {
	struct ag_tensor *at[ROW_MOST_RESULTS];
	struct ag_tensor *weights[ROW_MOST_RESULTS];
	uint32_t count;
};

static void heads_open(struct heads *heads, struct row_run *run, struct ag_tensor *const *tensors,
                       uint32_t count)
{
	heads->count = 0;
	for (uint32_t i = 0; i < count; i++) {
		if (!tensors[i] || !ag_requires_grad(tensors[i]))
			continue;
		heads->at[heads->count] = tensors[i];
		heads->weights[heads->count++] = row_weight_like(run, tensors[i]);
	}
}

static void heads_close(struct heads *heads)
{
	for (uint32_t i = 0; i < heads->count; i++)
		ag_release(heads->weights[i]);
}

static bool heads_grad(struct row_run *run, const struct heads *heads,
                       struct ag_tensor *const *inputs, uint32_t count, unsigned flags,
                       struct ag_tensor **out)
{
	return heads->count > 0 && ag_grad(run->ctx, heads->at, heads->weights, heads->count,
	                                   inputs, count, flags | AG_ALLOW_UNUSED, out);
}

/* By the leaves, and by the weights of the first order. */
static bool check_second(struct row_run *run, const struct heads *first,
                         struct ag_tensor *const *grads, const json_t *second,
                         struct row_message *message)
{
	struct ag_tensor *inputs[ROW_MOST_INPUTS + ROW_MOST_RESULTS];
	struct ag_tensor *out[ROW_MOST_INPUTS + ROW_MOST_RESULTS] = {0};
	uint32_t count = 0;
	struct heads heads;
	bool same = true;

	for (uint32_t i = 0; i < run->leaf_count; i++)
		inputs[count++] = run->leaves[i];
	for (uint32_t i = 0; i < first->count; i++)
		inputs[count++] = first->weights[i];
	heads_open(&heads, run, grads, run->leaf_count);
	if (!heads_grad(run, &heads, inputs, count, 0, out))
		same = row_differ(message, "second order: %s", row_failure(run));
	heads_close(&heads);
	for (uint32_t i = 0; i < count; i++) {
		const json_t *want = json_array_get(second, i);
		char what[40];
		snprintf(what, sizeof(what), "second gradient %u", i);
		/* Whether a gradient that is zero is there at all is not compared. */
		if (same && !json_is_null(want) && out[i])
			same = check_data(run, out[i], want, coarsest(run), what, message);
		ag_release(out[i]);
	}
	return same;
}

static bool check_twice(struct row_run *run, const json_t *second, struct row_message *message)
{
	struct ag_tensor *grads[ROW_MOST_INPUTS] = {0};
	struct heads first;
	bool same;

	heads_open(&first, run, run->results, run->result_count);
	for (uint32_t i = 0; i < first.count; i++)
		ag_set_requires_grad(run->ctx, first.weights[i], true);
	if (heads_grad(run, &first, run->leaves, run->leaf_count, AG_CREATE_GRAPH, grads))
		same = check_second(run, &first, grads, second, message);
	else
		same = row_differ(message, "first order: %s", row_failure(run));
	heads_close(&first);
	for (uint32_t i = 0; i < run->leaf_count; i++)
		ag_release(grads[i]);
	return same;
}

bool row_check_second(const json_t *document, const json_t *row, struct row_message *message)
{
	const json_t *second = json_object_get(row, "second");
	const json_t *value_case = json_array_get(json_object_get(row, "values"), 1);
	struct row_run run = {.ctx = NULL};
	bool same;

	if (!json_is_array(second))
		return true;
	run.ctx = ag_open(NULL);
	run.machine.ctx = run.ctx;
	if (!row_make_inputs(&run, document, json_object_get(value_case, "inputs"),
	                     json_object_get(value_case, "needs")) ||
	    !row_execute_case(&run, document, row, value_case))
		same = row_differ(message, "%s", row_failure(&run));
	else if (coarsest(&run) < AG_F32)
		same = true; /* halves are rounded at other places on the way */
	else
		same = check_twice(&run, second, message);
	row_release(&run);
	ag_close(run.ctx);
	return same;
}
