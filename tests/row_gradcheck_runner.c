#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/recorded_runner.h"
#include "tests/row_checks.h"
#include "tests/row_runner.h"

/* Elements of an input that are moved; the rest is left to the recorded gradients. */
enum { MOST_MOVED = 10 };

static const double step = 1e-6;

static bool is_double(const struct ag_tensor *tensor)
{
	return strcmp(ag_dtype_name(ag_dtype(tensor)), "float64") == 0;
}

static bool open_run(struct row_run *run, const json_t *document, const json_t *row,
                     const json_t *value_case)
{
	run->ctx = ag_open(NULL);
	run->machine.ctx = run->ctx;
	return row_make_inputs(run, document, json_object_get(value_case, "inputs"),
	                       json_object_get(value_case, "needs")) &&
	       row_execute_case(run, document, row, value_case);
}

static void close_run(struct row_run *run)
{
	row_release(run);
	ag_close(run->ctx);
}

/* Element times weight, over the results that require grad. */
static bool weighted_sum(struct row_run *run, double *sum)
{
	double values[ROW_MOST_ELEMENTS];

	*sum = 0;
	for (uint32_t i = 0; i < run->result_count; i++) {
		const struct ag_tensor *result = run->results[i];
		if (!ag_requires_grad(result))
			continue;
		if (!ag_read(run->ctx, result, values, ag_numel(result)))
			return false;
		for (int64_t k = 0; k < ag_numel(result); k++)
			*sum += values[k] * row_weight(k);
	}
	return true;
}

static bool nudged_sum(const json_t *document, const json_t *row, const json_t *value_case,
                       struct row_nudge nudge, double *sum)
{
	struct row_run run = {.nudge = nudge};
	bool done = open_run(&run, document, row, value_case) && weighted_sum(&run, sum);

	close_run(&run);
	return done;
}

struct gradients {
	double at[ROW_MOST_INPUTS][ROW_MOST_ELEMENTS];
	int64_t count[ROW_MOST_INPUTS];
	uint32_t leaves;
};

static bool read_gradients(struct row_run *run, struct ag_tensor *const *grads,
                           struct gradients *out)
{
	bool done = true;

	out->leaves = run->leaf_count;
	for (uint32_t i = 0; i < run->leaf_count; i++) {
		out->count[i] = is_double(run->leaves[i]) ? ag_numel(run->leaves[i]) : 0;
		memset(out->at[i], 0, sizeof(out->at[i]));
		if (grads[i] && out->count[i])
			done &= ag_read(run->ctx, grads[i], out->at[i], out->count[i]);
	}
	return done;
}

static bool take_gradients(struct row_run *run, struct gradients *out)
{
	struct ag_tensor *heads[ROW_MOST_RESULTS];
	struct ag_tensor *weights[ROW_MOST_RESULTS];
	struct ag_tensor *grads[ROW_MOST_INPUTS] = {0};
	uint32_t count = 0;
	bool done;

	for (uint32_t i = 0; i < run->result_count; i++) {
		if (!ag_requires_grad(run->results[i]))
			continue;
		heads[count] = run->results[i];
		weights[count++] = row_weight_like(run, run->results[i]);
	}
	done = count == 0 || ag_grad(run->ctx, heads, weights, count, run->leaves, run->leaf_count,
	                             AG_ALLOW_UNUSED, grads);
	done = done && read_gradients(run, grads, out);
	for (uint32_t i = 0; i < count; i++)
		ag_release(weights[i]);
	for (uint32_t i = 0; i < run->leaf_count; i++)
		ag_release(grads[i]);
	return done;
}

/* Nothing to check where a result that requires grad is not in double. */
static bool is_smooth(const struct row_run *run)
{
	for (uint32_t i = 0; i < run->result_count; i++) {
		if (ag_requires_grad(run->results[i]) && !is_double(run->results[i]))
			return false;
	}
	return true;
}

static bool check_element(const json_t *document, const json_t *row, const json_t *value_case,
                          const struct gradients *gradients, struct row_nudge nudge,
                          struct row_message *message)
{
	double want = gradients->at[nudge.leaf][nudge.element];
	double above;
	double below;
	double got;

	nudge.by = step;
	if (!nudged_sum(document, row, value_case, nudge, &above))
		return row_differ(message, "gradcheck: the nudged row fails");
	nudge.by = -step;
	if (!nudged_sum(document, row, value_case, nudge, &below))
		return row_differ(message, "gradcheck: the nudged row fails");
	got = (above - below) / (2 * step);
	if (fabs(got - want) > 1e-6 + 1e-5 * fabs(want))
		return row_differ(message, "gradient %u[%d] is %.9g, differences say %.9g",
		                  nudge.leaf, (int)nudge.element, want, got);
	return true;
}

static bool check_elements(const json_t *document, const json_t *row, const json_t *value_case,
                           const struct gradients *gradients, struct row_message *message)
{
	for (uint32_t leaf = 0; leaf < gradients->leaves; leaf++) {
		int64_t count = gradients->count[leaf];
		int64_t stride = count > MOST_MOVED ? count / MOST_MOVED : 1;
		for (int64_t i = 0; i < count; i += stride) {
			struct row_nudge nudge = {.leaf = leaf, .element = i};
			if (!check_element(document, row, value_case, gradients, nudge, message))
				return false;
		}
	}
	return true;
}

/* The case whose inputs are in double, NULL if there is none that works. */
static const json_t *double_case(const json_t *row)
{
	const json_t *value_case = json_array_get(json_object_get(row, "values"), 1);
	const json_t *first = json_array_get(json_object_get(value_case, "inputs"), 0);

	if (!value_case || json_object_get(value_case, "error") || !first)
		return NULL;
	return value_case;
}

bool row_check_gradients(const json_t *document, const json_t *row, struct row_message *message)
{
	const json_t *value_case = double_case(row);
	struct gradients gradients;
	struct row_run run = {.ctx = NULL};
	bool smooth;
	bool same = true;

	if (!value_case || !json_is_true(json_object_get(row, "differences")))
		return true;
	if (!open_run(&run, document, row, value_case))
		same = row_differ(message, "gradcheck: %s", row_failure(&run));
	smooth = same && is_smooth(&run);
	if (smooth && !take_gradients(&run, &gradients))
		same = row_differ(message, "gradcheck: %s", row_failure(&run));
	close_run(&run);
	if (!same || !smooth)
		return same;
	return check_elements(document, row, value_case, &gradients, message);
}
