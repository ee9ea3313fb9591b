#include <math.h>
#include <string.h>

#include "tests/recorded_runner.h"
#include "tests/row_checks.h"
#include "tests/row_runner.h"

/* The numbers of every result, real and imaginary ones by turns where there are both. */
struct outcome {
	bool good;
	uint32_t count;
	struct {
		bool has_data, complex;
		int64_t numel;
		double at[2 * ROW_MOST_ELEMENTS];
	} results[ROW_MOST_RESULTS + ROW_MOST_INPUTS]; /* then the gradients */
};

static void read_next(struct row_run *run, struct outcome *o, struct ag_tensor *from)
{
	struct ag_tensor *t = ag_detach(run->ctx, from);
	uint32_t i = o->count++;
	struct ag_value v = ag_arg(t);
	struct ag_args args = {&v, 1, NULL, 0};
	struct ag_results pairs = {0};

	if (!t)
		return;
	o->results[i].complex = ag_dtype(t) >= AG_C64;
	o->results[i].has_data = ag_has_data(t) && ag_numel(t) <= ROW_MOST_ELEMENTS;
	if (o->results[i].has_data && o->results[i].complex) {
		o->results[i].has_data = ag_call(run->ctx, "torch.view_as_real", &args, &pairs);
		ag_release(t);
		t = ag_results_take(&pairs, 0);
		ag_results_release(&pairs);
	}
	if (o->results[i].has_data) {
		o->results[i].numel = ag_numel(t);
		o->results[i].has_data = ag_read(run->ctx, t, o->results[i].at, ag_numel(t));
	}
	ag_release(t);
}

/* From each result, with itself as its gradient. */
static bool backward(struct row_run *run)
{
	bool good = true;

	for (uint32_t i = 0; i < run->result_count; i++) {
		struct ag_tensor *grad = ag_detach(run->ctx, run->results[i]);

		if (ag_requires_grad(run->results[i]))
			good = ag_backward(run->ctx, run->results[i], grad, AG_RETAIN_GRAPH) &&
			       good;
		ag_release(grad);
	}
	return good;
}

static bool run_part(const json_t *document, const json_t *row, enum row_part part,
                     struct outcome *o, struct row_message *message)
{
	struct ag_options options = {0};
	struct row_run run = {.ctx = ag_open(&options), .part = part};
	const json_t *choices = json_object_get(row, "memory");
	const json_t *needs =
	        json_object_get(json_array_get(choices, json_array_size(choices) - 1), "needs");
	bool same = true;

	run.machine.ctx = run.ctx;
	memset(o, 0, sizeof(*o));
	o->good = row_make_inputs(&run, document, json_object_get(row, "inputs"), needs);
	if (!o->good)
		same = row_differ(message, "inputs: %s", row_failure(&run));
	o->good = o->good && row_execute(&run, document, row);
	for (uint32_t i = 0; o->good && i < run.result_count; i++)
		read_next(&run, o, run.results[i]);
	if (o->good && backward(&run)) {
		for (uint32_t i = 0; i < run.leaf_count; i++)
			read_next(&run, o, ag_grad_of(run.leaves[i]));
	}
	row_release(&run);
	ag_close(run.ctx);
	return same;
}

static bool equal(double a, double b)
{
	return (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-5 * (1 + fabs(b));
}

/* Does result i depend on the numbers at all? */
static bool same_numbers(const struct outcome *a, const struct outcome *b, uint32_t i)
{
	if (!a->good || !b->good || a->results[i].numel != b->results[i].numel)
		return false;
	for (int64_t k = 0; k < a->results[i].numel; k++) {
		if (!equal(a->results[i].at[k], b->results[i].at[k]))
			return false;
	}
	return true;
}

/* What is linear and real acts on both parts alike: nothing else is computed. */
static bool linear(const struct outcome *z, const struct outcome *re, const struct outcome *im,
                   uint32_t i, struct row_message *message)
{
	if (!re->good || !im->good)
		return row_differ(message, "result %u has numbers", i);
	for (int64_t k = 0; k < z->results[i].numel; k += 2) {
		double a = re->results[i].at[k / 2], b = im->results[i].at[k / 2];

		if (!equal(z->results[i].at[k], a) || !equal(z->results[i].at[k + 1], b))
			return row_differ(message, "result %u: %g + %gi, not %g + %gi", i,
			                  z->results[i].at[k], z->results[i].at[k + 1], a, b);
	}
	return true;
}

bool row_check_complex(const json_t *document, const json_t *row, struct row_message *message)
{
	static struct outcome z, other, re, im;

	if (!run_part(document, row, ROW_COMPLEX, &z, message) ||
	    !run_part(document, row, ROW_OTHER_COMPLEX, &other, message) ||
	    !run_part(document, row, ROW_AS_IT_IS, &re, message) ||
	    !run_part(document, row, ROW_IMAGINARY, &im, message))
		return false;
	for (uint32_t i = 0; i < z.count; i++) {
		if (!z.results[i].has_data)
			continue;
		if (z.results[i].complex && !linear(&z, &re, &im, i, message))
			return false;
		/* A real result is right if it sees imaginary parts, or no numbers at all. */
		if (!z.results[i].complex && same_numbers(&z, &other, i) &&
		    !same_numbers(&re, &im, i))
			return row_differ(message, "result %u is of the real parts alone", i);
	}
	return true;
}
