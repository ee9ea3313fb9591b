/* Norms, extremes, products and running sums. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/element.h"
#include "runtime/reduce.h"
#include "runtime/shape.h"

void ag_reduce_rows(struct ag_tensor *out, struct ag_tensor *a, const struct ag_reduction *r,
                    ag_row_fn *fn, const double *p)
{
	double *rows, *values;
	int64_t i;

	if (!ag_ready1(out, a))
		return;
	rows = ag_rows(a, r);
	values = ag_alloc((size_t)r->outer + 1, sizeof(*values));
	for (i = 0; i < r->outer; i++)
		values[i] = fn(rows + i * r->inner, r->inner, p);
	ag_put_plain(out, values);
	free(rows);
	free(values);
}

bool ag_reduce_saved(struct ag_frame *f, struct ag_tensor *a, const struct ag_reduction *r,
                     enum ag_node_kind kind, ag_row_fn *fn, const double *p)
{
	struct ag_tensor *out = ag_make(f->ctx, (enum ag_dtype)a->dtype, r->ndim, r->shape, true);
	int64_t words[AG_MAX_DIMS + 3];
	uint32_t n = ag_reduction_words(a, r, words);
	struct ag_node *node;

	if (!out)
		return false;
	node = ag_record1(f->ctx, kind, a, 2, n);
	if (node) {
		memcpy(node->ints, words, n * sizeof(*words));
		memcpy(node->num, p, sizeof(node->num));
		ag_save_input(node, 1, a);
	}
	ag_reduce_rows(out, a, r, fn, p);
	return ag_finish_saving(f, out, node, 0);
}

/* The largest magnitude, or the smallest. */
static double row_extreme(const double *row, int64_t n, bool largest)
{
	double best = largest || !n ? 0 : INFINITY;
	int64_t i;

	for (i = 0; i < n; i++) {
		double x = fabs(row[i]);

		if (isnan(x) || (largest ? x > best : x < best))
			best = x;
	}
	return best;
}

static double power_of(double x, double p)
{
	if (p == 0)
		return x != 0;
	if (p == 1)
		return x;
	return p == 2 ? x * x : pow(x, p);
}

static double row_norm(const double *row, int64_t n, const double *p)
{
	double sum = 0;
	int64_t i;

	if (isinf(p[0]))
		return row_extreme(row, n, p[0] > 0);
	for (i = 0; i < n; i++)
		sum += power_of(fabs(row[i]), p[0]);
	if (p[0] == 0 || p[0] == 1)
		return sum;
	return p[0] == 2 ? sqrt(sum) : pow(sum, 1 / p[0]);
}

/* input, ord, dim, keepdim */
static bool any_norm(struct ag_frame *f, enum ag_node_kind kind)
{
	struct ag_tensor *a = arg_t(f, 0);
	double p[2] = {2, 0};
	struct ag_reduction r;

	if (f->v[1].kind == AG_TEXT)
		p[0] = arg_text_is(f, 1, "inf")    ? INFINITY
		       : arg_text_is(f, 1, "-inf") ? -INFINITY
		                                   : 2;
	else if (!arg_none(f, 1))
		p[0] = arg_f(f, 1);
	return ag_need_float(f, a) && ag_reduction_open(f, a, 2, arg_b(f, 3), &r) &&
	       ag_reduce_saved(f, a, &r, kind, row_norm, p);
}

bool op_run_vector_norm(struct ag_frame *f)
{
	return any_norm(f, AG_NODE_VectorNorm);
}

/* at::norm, which C++ losses still call */
bool op_run_old_norm(struct ag_frame *f)
{
	return any_norm(f, AG_NODE_Norm);
}

static struct ag_tensor *masked_zero(struct ag_ctx *c, struct ag_tensor *x, struct ag_tensor *norm)
{
	struct ag_value v[3] = {ag_arg(x), ag_arg(op_eq_n(c, norm, 0)), ag_float(0)};

	return op_call(c, AG_OP_masked_fill, v, 3);
}

/* d|x|_p; g and norm have the reduced dimensions back. */
static struct ag_tensor *norm_backward(struct ag_ctx *c, struct ag_tensor *g,
                                       struct ag_tensor *self, double p, struct ag_tensor *norm,
                                       const int64_t *words)
{
	struct ag_tensor *x;
	int64_t dims[AG_MAX_DIMS];
	int n = (int)words[0], d, k = 0;

	if (p == 0)
		return op_zeros_as(c, self);
	if (p == 1)
		return op_mul(c, op_sign(c, self), g);
	if (p == 2)
		return op_mul(c, g, masked_zero(c, op_div(c, self, norm), norm));
	if (isinf(p)) {
		for (d = 0; d < n; d++) {
			if (words[1 + n] >> d & 1)
				dims[k++] = d;
		}
		x = op_eq(c, op_abs(c, self), norm);
		g = op_div(
		        c, g,
		        op_sum_dims(c, op_cast(c, x, (enum ag_dtype)self->dtype), dims, k, true));
		return op_mul(c, op_sign(c, self), op_mul(c, x, g));
	}
	x = op_mul(c, op_sign(c, self), op_pow_n(c, op_abs(c, self), p - 1));
	x = p < 1 ? masked_zero(c, x, self) : x;
	return op_mul(c, x, masked_zero(c, op_div(c, g, op_pow_n(c, norm, p - 1)), norm));
}

bool bw_VectorNorm(struct ag_bw *b)
{
	struct ag_ctx *c = B_CTX;
	const int64_t *w = b->node->ints;
	struct ag_tensor *norm = B_SAVED(0), *self = B_SAVED(1);

	if (!norm || !self)
		return false;
	B_SET(0, norm_backward(c, ag_restore_dims(c, B_GRAD, w), self, b->node->num[0],
	                       ag_restore_dims(c, norm, w), w));
	return true;
}

bool bw_Norm(struct ag_bw *b)
{
	return bw_VectorNorm(b);
}

bool op_run_dist(struct ag_frame *f)
{
	struct ag_tensor *in[2] = {arg_t(f, 0), arg_t(f, 1)}, *out, *diff;
	struct ag_grad_mode mode = ag_no_grad(f->ctx);
	double p[2] = {arg_f(f, 2), 0};
	struct ag_reduction r;
	struct ag_node *node;

	diff = op_sub(f->ctx, in[0], in[1]);
	ag_set_grad_mode(f->ctx, mode);
	out = diff ? ag_make(f->ctx, (enum ag_dtype)diff->dtype, 0, NULL, true) : NULL;
	if (!out)
		return false;
	ag_reduction_dims(diff, (1u << diff->ndim) - 1, false, &r);
	ag_reduce_rows(out, diff, &r, row_norm, p);
	node = ag_record(f->ctx, AG_NODE_Dist, in, 2, 3, 0);
	if (node) {
		node->num[0] = p[0];
		ag_save_input(node, 0, in[1]);
		ag_save_input(node, 2, in[0]);
	}
	return ag_finish_saving(f, out, node, 1);
}

bool bw_Dist(struct ag_bw *b)
{
	struct ag_ctx *c = B_CTX;
	struct ag_tensor *other = B_SAVED(0), *norm = B_SAVED(1), *self = B_SAVED(2), *diff, *grad;
	int64_t words[AG_MAX_DIMS + 3];
	struct ag_reduction r;

	if (!other || !norm || !self)
		return false;
	diff = op_sub(c, self, other);
	if (!diff)
		return false;
	ag_reduction_dims(diff, (1u << diff->ndim) - 1, false, &r);
	ag_reduction_words(diff, &r, words);
	grad = norm_backward(c, B_GRAD, diff, b->node->num[0], norm, words);
	B_SET(0, grad);
	if (B_WANT(1))
		B_SET(1, op_neg(c, grad));
	return true;
}

/* ---- extremes of everything, or over dims without indices */

static double row_max(const double *row, int64_t n, const double *p)
{
	double best = row[0];
	int64_t i;

	(void)p;
	for (i = 1; i < n; i++)
		best = row[i] > best || isnan(row[i]) ? row[i] : best;
	return best;
}

static double row_min(const double *row, int64_t n, const double *p)
{
	double best = row[0];
	int64_t i;

	(void)p;
	for (i = 1; i < n; i++)
		best = row[i] < best || isnan(row[i]) ? row[i] : best;
	return best;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return isnan(x) || isnan(y) ? isnan(x) - isnan(y) : (x > y) - (x < y);
}

static double row_median(const double *row, int64_t n, const double *p)
{
	double *sorted, value;

	(void)p;
	if (!n)
		return NAN;
	sorted = ag_alloc((size_t)n, sizeof(*sorted));
	memcpy(sorted, row, (size_t)n * sizeof(*sorted));
	qsort(sorted, (size_t)n, sizeof(*sorted), by_value);
	value = isnan(sorted[n - 1]) ? sorted[n - 1] : sorted[(n - 1) / 2];
	free(sorted);
	return value;
}

static bool extreme(struct ag_frame *f, enum ag_node_kind kind, ag_row_fn *fn, bool dims)
{
	struct ag_tensor *a = arg_t(f, 0);
	double p[2] = {0, 0};
	struct ag_reduction r;

	if (!ag_no_complex(f->ctx, a))
		return false;
	if (dims) {
		if (!ag_reduction_open(f, a, 1, arg_b(f, 2), &r))
			return false;
	} else {
		ag_reduction_dims(a, (1u << a->ndim) - 1, false, &r);
	}
	if (!r.inner && kind != AG_NODE_MedianAll)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "%s(): Expected reduction dim to be specified for input.numel() == "
		               "0. Specify the reduction dim with the 'dim' argument.",
		               ag_op_info(f->op)->id);
	return ag_reduce_saved(f, a, &r, kind, fn, p);
}

bool op_run_max_all(struct ag_frame *f)
{
	return extreme(f, AG_NODE_MaxAll, row_max, false);
}

bool op_run_min_all(struct ag_frame *f)
{
	return extreme(f, AG_NODE_MinAll, row_min, false);
}

bool op_run_median_all(struct ag_frame *f)
{
	return extreme(f, AG_NODE_MedianAll, row_median, false);
}

bool op_run_amax(struct ag_frame *f)
{
	return extreme(f, AG_NODE_Amax, row_max, true);
}

bool op_run_amin(struct ag_frame *f)
{
	return extreme(f, AG_NODE_Amin, row_min, true);
}

/* Ties share the gradient evenly. */
bool bw_MaxAll(struct ag_bw *b)
{
	struct ag_ctx *c = B_CTX;
	const int64_t *w = b->node->ints;
	struct ag_tensor *result = B_SAVED(0), *self = B_SAVED(1), *mask, *count;
	int64_t dims[AG_MAX_DIMS];
	int n = (int)w[0], d, k = 0;

	if (!result || !self)
		return false;
	for (d = 0; d < n; d++) {
		if (w[1 + n] >> d & 1)
			dims[k++] = d;
	}
	mask = op_eq(c, self, ag_restore_dims(c, result, w));
	count = op_sum_dims(c, mask, dims, k, true);
	B_SET(0, op_mul(c, mask, op_div(c, ag_restore_dims(c, B_GRAD, w), count)));
	return true;
}

bool bw_MinAll(struct ag_bw *b)
{
	return bw_MaxAll(b);
}

bool bw_MedianAll(struct ag_bw *b)
{
	return bw_MaxAll(b);
}

bool bw_Amax(struct ag_bw *b)
{
	return bw_MaxAll(b);
}

bool bw_Amin(struct ag_bw *b)
{
	return bw_MaxAll(b);
}

/* ---- products */

static double row_prod(const double *row, int64_t n, const double *p)
{
	double product = 1;
	int64_t i;

	(void)p;
	for (i = 0; i < n; i++)
		product *= row[i];
	return product;
}

bool op_run_prod(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0);
	double p[2] = {0, 0};
	struct ag_reduction r;

	if (f->v[3].kind == AG_DTYPE)
		a = op_cast(f->ctx, a, f->v[3].as.dtype);
	else if (ag_category((enum ag_dtype)a->dtype) < 2)
		a = op_cast(f->ctx, a, AG_I64);
	if (!a || !ag_reduction_open(f, a, 1, arg_b(f, 2), &r))
		return false;
	return ag_reduce_saved(f, a, &r, r.whole ? AG_NODE_Prod : AG_NODE_ProdDim, row_prod, p);
}

/* The product of all others: right where elements are zero, too. */
static struct ag_tensor *others(struct ag_ctx *ctx, struct ag_tensor *a, const int64_t *w)
{
	struct ag_tensor *out = op_zeros_as(ctx, a), turned, place;
	struct ag_reduction r;
	double *rows, *values;
	int64_t i, k, j;
	int d, n = 0, pass;

	ag_reduction_dims(a, (unsigned)w[1 + w[0]], true, &r);
	if (out && !ag_work(ctx, (double)a->numel * (double)r.inner))
		ag_storage_drop_data(out->storage);
	if (!out || !ag_ready1(out, a))
		return out;
	rows = ag_rows(a, &r);
	values = ag_alloc((size_t)a->numel + 1, sizeof(*values));
	for (i = 0; i < r.outer; i++) {
		for (k = 0; k < r.inner; k++) {
			double product = 1;

			for (j = 0; j < r.inner; j++)
				product *= j == k ? 1 : rows[i * r.inner + j];
			values[i * r.inner + k] = product;
		}
	}
	turned = *out;
	place = *out;
	for (pass = 0; pass < 2; pass++) {
		for (d = 0; d < out->ndim; d++) {
			if ((int)(r.mask >> d & 1) != pass)
				continue;
			turned.shape[n] = place.shape[d];
			turned.strides[n++] = place.strides[d];
		}
	}
	ag_put_plain(&turned, values);
	free(rows);
	free(values);
	return out;
}

static bool has_zero(const struct ag_tensor *a)
{
	double *values = ag_plain(a);
	bool zero = false;
	int64_t i;

	for (i = 0; values && i < a->numel; i++)
		zero |= values[i] == 0;
	free(values);
	return zero;
}

bool bw_Prod(struct ag_bw *b)
{
	struct ag_ctx *c = B_CTX;
	const int64_t *w = b->node->ints;
	struct ag_tensor *result = B_SAVED(0), *self = B_SAVED(1), *g;

	if (!result || !self)
		return false;
	g = ag_restore_dims(c, B_GRAD, w);
	if (has_zero(self))
		B_SET(0, op_mul(c, g, others(c, self, w)));
	else
		B_SET(0, op_div(c, op_mul(c, g, ag_restore_dims(c, result, w)), self));
	return true;
}

bool bw_ProdDim(struct ag_bw *b)
{
	return bw_Prod(b);
}

/* ---- logsumexp */

static double row_logsumexp(const double *row, int64_t n, const double *p)
{
	double top, sum = 0;
	int64_t i;

	if (!n)
		return -INFINITY;
	top = row_max(row, n, p);
	if (isinf(top))
		return top;
	for (i = 0; i < n; i++)
		sum += exp(row[i] - top);
	return top + log(sum);
}

bool op_run_logsumexp(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0);
	double p[2] = {0, 0};
	struct ag_reduction r;

	return ag_need_float(f, a) && ag_reduction_open(f, a, 1, arg_b(f, 2), &r) &&
	       ag_reduce_saved(f, a, &r, AG_NODE_Logsumexp, row_logsumexp, p);
}

bool bw_Logsumexp(struct ag_bw *b)
{
	struct ag_ctx *c = B_CTX;
	const int64_t *w = b->node->ints;
	struct ag_tensor *result = B_SAVED(0), *self = B_SAVED(1);

	if (!result || !self)
		return false;
	B_SET(0, op_mul(c, ag_restore_dims(c, B_GRAD, w),
	                op_exp(c, op_sub(c, self, ag_restore_dims(c, result, w)))));
	return true;
}
