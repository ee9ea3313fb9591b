/* Variances and deviations, with their means as well, and sums that leave out NaN. */

#include <math.h>
#include <string.h>

#include "runtime/reduce.h"

static double row_var(const double *row, int64_t n, const double *p)
{
	double mean = 0, sum = 0;
	int64_t i;

	for (i = 0; i < n; i++)
		mean += row[i];
	mean /= (double)n;
	for (i = 0; i < n; i++)
		sum += (row[i] - mean) * (row[i] - mean);
	return sum / ((double)n - p[0] > 0 ? (double)n - p[0] : 0);
}

static double row_std(const double *row, int64_t n, const double *p)
{
	return sqrt(row_var(row, n, p));
}

static double correction_of(struct ag_frame *f)
{
	return arg_none(f, 2) ? 1 : f->v[2].kind == AG_BOOL ? (double)f->v[2].as.b : arg_f(f, 2);
}

bool op_run_var(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0), *out;
	double p[2] = {correction_of(f), 0};
	int64_t words[AG_MAX_DIMS + 3];
	struct ag_reduction r;
	struct ag_node *node;
	uint32_t n;

	if (!ag_need_float(f, a) || !ag_reduction_open(f, a, 1, arg_b(f, 3), &r))
		return false;
	out = ag_make(f->ctx, (enum ag_dtype)a->dtype, r.ndim, r.shape, true);
	if (!out)
		return false;
	n = ag_reduction_words(a, &r, words);
	node = ag_record1(f->ctx, AG_NODE_Var, a, 1, n);
	if (node) {
		memcpy(node->ints, words, n * sizeof(*words));
		node->num[0] = p[0];
		ag_save_input(node, 0, a);
	}
	ag_reduce_rows(out, a, &r, row_var, p);
	return ag_finish(f, out, node);
}

static struct ag_tensor *var_backward(struct ag_bw *b, struct ag_tensor *g, struct ag_tensor *self)
{
	const int64_t *w = b->node->ints;
	struct ag_ctx *c = B_CTX;
	int n = (int)w[0], d, k = 0;
	struct ag_value dims[AG_MAX_DIMS], v[3];
	double count = 1;

	for (d = 0; d < n; d++) {
		if (w[1 + n] >> d & 1) {
			dims[k++] = ag_int(d);
			count *= (double)w[1 + d];
		}
	}
	v[0] = ag_arg(self);
	v[1] = ag_list(dims, (size_t)k);
	v[2] = ag_bool(true);
	g = op_mul_number(c, ag_restore_dims(c, g, w), 2 / (count - b->node->num[0]));
	return op_mul(c, g, op_sub(c, self, op_call(c, AG_OP_mean, v, 3)));
}

bool bw_Var(struct ag_bw *b)
{
	B_SET(0, var_backward(b, B_GRAD, B_SAVED(0)));
	return true;
}

bool op_run_std(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0);
	double p[2] = {correction_of(f), 0};
	struct ag_reduction r;

	return ag_need_float(f, a) && ag_reduction_open(f, a, 1, arg_b(f, 3), &r) &&
	       ag_reduce_saved(f, a, &r, AG_NODE_Std, row_std, p);
}

/* The gradient of a standard deviation, as that of a variance. */
static struct ag_tensor *as_var(struct ag_ctx *c, struct ag_tensor *g, struct ag_tensor *std)
{
	g = op_div(c, g, op_mul_number(c, std, 2));
	return op_where_n(c, op_ne_n(c, std, 0), g, 0);
}

bool bw_Std(struct ag_bw *b)
{
	B_SET(0, var_backward(b, as_var(B_CTX, B_GRAD, B_SAVED(0)), B_SAVED(1)));
	return true;
}

/* ---- two statistics at once */

static double row_mean(const double *row, int64_t n, const double *p)
{
	double sum = 0;
	int64_t i;

	(void)p;
	for (i = 0; i < n; i++)
		sum += row[i];
	return sum / (double)n;
}

static bool with_mean(struct ag_frame *f, enum ag_node_kind kind, ag_row_fn *fn)
{
	struct ag_tensor *a = arg_t(f, 0), *out, *mean;
	double p[2] = {correction_of(f), 0};
	int64_t words[AG_MAX_DIMS + 3];
	struct ag_reduction r;
	struct ag_node *node;
	uint32_t n;

	if (!ag_need_float(f, a) || !ag_reduction_open(f, a, 1, arg_b(f, 3), &r))
		return false;
	out = ag_make(f->ctx, (enum ag_dtype)a->dtype, r.ndim, r.shape, true);
	mean = scoped(f->ctx, ag_make(f->ctx, (enum ag_dtype)a->dtype, r.ndim, r.shape, true));
	if (!out || !mean) {
		ag_release(out);
		return false;
	}
	ag_reduce_rows(out, a, &r, fn, p);
	ag_reduce_rows(mean, a, &r, row_mean, p);
	n = ag_reduction_words(a, &r, words);
	node = ag_record1(f->ctx, kind, a, kind == AG_NODE_StdMean ? 2 : 1, n);
	if (node) {
		memcpy(node->ints, words, n * sizeof(*words));
		node->num[0] = p[0];
		ag_save_input(node, 0, a);
		ag_set_history(out, node);
		ag_set_history(mean, node);
	}
	if (node && kind == AG_NODE_StdMean)
		ag_save_output(node, 1, out);
	ag_node_release(node);
	return ag_give(f, out) && ag_give_ref(f, mean);
}

bool op_run_var_mean(struct ag_frame *f)
{
	return with_mean(f, AG_NODE_VarMean, row_var);
}

bool op_run_std_mean(struct ag_frame *f)
{
	return with_mean(f, AG_NODE_StdMean, row_std);
}

static bool mean_too(struct ag_bw *b, struct ag_tensor *g)
{
	struct ag_tensor *self = B_SAVED(0), *sum = NULL, *of_mean;
	int64_t count = 1, kept;

	if (!self)
		return false;
	kept = b->grads[0] ? b->grads[0]->numel : b->grads[1] ? b->grads[1]->numel : 1;
	count = kept ? self->numel / kept : 1;
	if (g)
		sum = var_backward(b, g, self);
	if (b->grads[1]) {
		of_mean = op_div_n(B_CTX, ag_unreduce(B_CTX, b->grads[1], b->node->ints),
		                   (double)count);
		sum = sum ? op_add(B_CTX, sum, of_mean) : of_mean;
	}
	if (sum)
		B_SET(0, sum);
	return sum != NULL;
}

bool bw_VarMean(struct ag_bw *b)
{
	return mean_too(b, b->grads[0]);
}

bool bw_StdMean(struct ag_bw *b)
{
	struct ag_tensor *std = B_SAVED(1);

	if (!std)
		return false;
	return mean_too(b, b->grads[0] ? as_var(B_CTX, b->grads[0], std) : NULL);
}

/* ---- a sum that leaves out NaN */

static double row_known(const double *row, int64_t n, const double *p)
{
	double sum = 0;
	int64_t i;

	(void)p;
	for (i = 0; i < n; i++)
		sum += isnan(row[i]) ? 0 : row[i];
	return sum;
}

bool op_run_nansum(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0), *out;
	int64_t words[AG_MAX_DIMS + 3];
	struct ag_reduction r;
	struct ag_node *node;
	uint32_t n;

	if (!ag_need_float(f, a) || !ag_reduction_open(f, a, 1, arg_b(f, 2), &r))
		return false;
	out = ag_make(f->ctx, (enum ag_dtype)a->dtype, r.ndim, r.shape, true);
	if (!out)
		return false;
	n = ag_reduction_words(a, &r, words);
	node = ag_record1(f->ctx, AG_NODE_Nansum, a, 1, n);
	if (node) {
		memcpy(node->ints, words, n * sizeof(*words));
		ag_save_input(node, 0, a);
	}
	ag_reduce_rows(out, a, &r, row_known, NULL);
	return ag_finish(f, out, node);
}

bool bw_Nansum(struct ag_bw *b)
{
	struct ag_tensor *self = B_SAVED(0), *g;

	if (!self)
		return false;
	g = ag_unreduce(B_CTX, B_GRAD, b->node->ints);
	B_SET(0, op_where_n(B_CTX, op_eq(B_CTX, self, self), g, 0));
	return true;
}
