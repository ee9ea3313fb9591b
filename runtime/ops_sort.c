/* Order along a dimension: values with their indices, running values, counts. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/element.h"
#include "runtime/op.h"
#include "runtime/order.h"
#include "runtime/shape.h"

/* One line of a tensor along a dimension, as numbers. */
struct line {
	double *x;
	int64_t *order;
	int64_t n;
};

/* Writes `m` values and indices for a line; p are the op's numbers. */
typedef void line_fn(const struct line *l, double *values, int64_t *indices, const int64_t *p);

static int ascending(const void *a, const void *b)
{
	const double *x = *(const double *const *)a, *y = *(const double *const *)b;

	if (isnan(*x) || isnan(*y))
		return isnan(*x) && isnan(*y) ? (x > y) - (x < y) : isnan(*x) - isnan(*y);
	if (*x != *y)
		return *x > *y ? 1 : -1;
	return (x > y) - (x < y);
}

static int descending(const void *a, const void *b)
{
	const double *x = *(const double *const *)a, *y = *(const double *const *)b;

	if (isnan(*x) || isnan(*y))
		return isnan(*x) && isnan(*y) ? (x > y) - (x < y) : isnan(*y) - isnan(*x);
	if (*x != *y)
		return *x < *y ? 1 : -1;
	return (x > y) - (x < y);
}

void ag_order(const double *x, int64_t n, bool down, int64_t *order)
{
	const double **at = ag_alloc((size_t)n + 1, sizeof(*at));
	int64_t i;

	for (i = 0; i < n; i++)
		at[i] = x + i;
	qsort(at, (size_t)n, sizeof(*at), down ? descending : ascending);
	for (i = 0; i < n; i++)
		order[i] = at[i] - x;
	free(at);
}

/* p: how many, downwards, first */
static void take_sorted(const struct line *l, double *values, int64_t *indices, const int64_t *p)
{
	int64_t *order = ag_alloc((size_t)l->n + 1, sizeof(*order)), i;

	ag_order(l->x, l->n, p[1] != 0, order);
	for (i = 0; i < p[0]; i++) {
		indices[i] = order[p[2] + i];
		values[i] = l->x[indices[i]];
	}
	free(order);
}

static void take_extreme(const struct line *l, double *values, int64_t *indices, const int64_t *p)
{
	int64_t best = 0, i;

	for (i = 1; i < l->n && !isnan(l->x[best]); i++) {
		if (isnan(l->x[i]) || (p[0] ? l->x[i] > l->x[best] : l->x[i] < l->x[best]))
			best = i;
	}
	values[0] = l->x[best];
	indices[0] = best;
}

static void take_median(const struct line *l, double *values, int64_t *indices, const int64_t *p)
{
	int64_t q[3] = {1, 0, (l->n - 1) / 2}, i;

	(void)p;
	for (i = 0; i < l->n; i++) {
		if (isnan(l->x[i])) {
			values[0] = l->x[i];
			indices[0] = i;
			return;
		}
	}
	take_sorted(l, values, indices, q);
}

static void take_mode(const struct line *l, double *values, int64_t *indices, const int64_t *p)
{
	int64_t *order = ag_alloc((size_t)l->n + 1, sizeof(*order)), i, run = 0, best = 0;

	(void)p;
	ag_order(l->x, l->n, false, order);
	for (i = 0; i < l->n; i++) {
		run = i && l->x[order[i]] == l->x[order[i - 1]] ? run + 1 : 1;
		if (run > best) {
			best = run;
			values[0] = l->x[order[i]];
			indices[0] = order[i];
		}
	}
	free(order);
}

/* p: largest */
static void run_extreme(const struct line *l, double *values, int64_t *indices, const int64_t *p)
{
	int64_t best = 0, i;

	for (i = 0; i < l->n; i++) {
		double x = l->x[i], top = l->x[best];

		if (isnan(x) || (!isnan(top) && (p[0] ? x >= top : x <= top)))
			best = i;
		values[i] = l->x[best];
		indices[i] = best;
	}
}

struct lines {
	int dim;
	int64_t n, m; /* along the dimension: input, result */
	bool drop;    /* the dimension goes from the result */
};

static void each_line(struct ag_tensor *a, const struct lines *s, struct ag_tensor *values,
                      struct ag_tensor *indices, line_fn *fn, const int64_t *p)
{
	int64_t outer = ag_count(s->dim, a->shape), inner = 1, o, i, k, *at, *w;
	double *x, *out, *v;
	struct line l = {NULL, NULL, s->n};

	if (!values->numel)
		return;
	if (a->ndim)
		inner = ag_count(a->ndim - s->dim - 1, a->shape + s->dim + 1);
	x = ag_plain(a);
	out = ag_alloc((size_t)values->numel, sizeof(*out));
	at = ag_alloc((size_t)values->numel, sizeof(*at));
	l.x = ag_alloc((size_t)s->n + 1, sizeof(double));
	v = ag_alloc((size_t)s->m, sizeof(*v));
	w = ag_alloc((size_t)s->m, sizeof(*w));
	for (o = 0; o < outer; o++) {
		for (i = 0; i < inner; i++) {
			for (k = 0; k < s->n; k++)
				l.x[k] = x[(o * s->n + k) * inner + i];
			fn(&l, v, w, p);
			for (k = 0; k < s->m; k++) {
				out[(o * s->m + k) * inner + i] = v[k];
				at[(o * s->m + k) * inner + i] = w[k];
			}
		}
	}
	ag_put_plain(values, out);
	if (indices)
		ag_put_ints(indices, at);
	free(x);
	free(out);
	free(at);
	free(l.x);
	free(v);
	free(w);
}

static int result_shape(const struct ag_tensor *a, const struct lines *s, int64_t *shape)
{
	int d, n = 0;

	for (d = 0; d < a->ndim; d++) {
		if (d == s->dim && s->drop)
			continue;
		shape[n++] = d == s->dim ? s->m : a->shape[d];
	}
	return n;
}

/* One without data leaves the other without. */
static void forget_both(struct ag_tensor *values, struct ag_tensor *indices)
{
	if (!values->numel)
		return;
	ag_storage_drop_data(values->storage);
	ag_storage_drop_data(indices->storage);
}

/* Values and indices; the node saves the indices, and the input if asked. */
static bool with_indices(struct ag_frame *f, const struct lines *s, enum ag_node_kind kind,
                         line_fn *fn, const int64_t *p, bool save_input)
{
	struct ag_tensor *a = arg_t(f, 0), *values, *indices;
	int64_t shape[AG_MAX_DIMS];
	int ndim = result_shape(a, s, shape);
	struct ag_node *node;

	if (a->ndim && s->n == 0 && s->m > 0)
		return ag_fail(f->ctx, AG_ERR_INDEX,
		               "%s(): Expected reduction dim %d to have non-zero size.",
		               ag_op_info(f->op)->id, s->dim);
	values = ag_make(f->ctx, (enum ag_dtype)a->dtype, ndim, shape, true);
	indices = values ? ag_make(f->ctx, AG_I64, ndim, shape, true) : NULL;
	if (!indices) {
		ag_release(values);
		return false;
	}
	if (kind == AG_NODE_Sort) {
		ag_lay_out(values, AG_PRESERVE, a);
		ag_lay_out(indices, AG_PRESERVE, a);
	}
	node = ag_record1(f->ctx, kind, a, 2, 3u + a->ndim);
	if (node) {
		node->ints[0] = s->dim;
		node->ints[1] = s->drop;
		node->ints[2] = a->ndim;
		memcpy(node->ints + 3, a->shape, a->ndim * sizeof(int64_t));
		ag_save_input(node, 0, indices);
		if (save_input)
			ag_save_input(node, 1, a);
	}
	if (ag_ready1(indices, a) && ag_ready1(values, a))
		each_line(a, s, values, indices, fn, p);
	else
		forget_both(values, indices);
	if (node)
		ag_set_history(values, node);
	ag_node_release(node);
	return ag_give(f, values) && ag_give(f, indices);
}

static bool lines_open(struct ag_frame *f, uint32_t dim, bool drop, struct lines *s)
{
	struct ag_tensor *a = arg_t(f, 0);

	if (!ag_no_complex(f->ctx, a))
		return false;
	s->dim = ag_dim(f->ctx, a, arg_i(f, dim));
	s->n = s->dim >= 0 && a->ndim ? a->shape[s->dim] : 1;
	s->m = 1;
	s->drop = drop;
	return s->dim >= 0;
}

bool op_run_max_dim(struct ag_frame *f)
{
	int64_t p[1] = {1};
	struct lines s;

	return lines_open(f, 1, !arg_b(f, 2), &s) &&
	       with_indices(f, &s, AG_NODE_MaxDim, take_extreme, p, false);
}

bool op_run_min_dim(struct ag_frame *f)
{
	int64_t p[1] = {0};
	struct lines s;

	return lines_open(f, 1, !arg_b(f, 2), &s) &&
	       with_indices(f, &s, AG_NODE_MinDim, take_extreme, p, false);
}

bool op_run_median_dim(struct ag_frame *f)
{
	struct lines s;

	return lines_open(f, 1, !arg_b(f, 2), &s) &&
	       with_indices(f, &s, AG_NODE_MedianDim, take_median, NULL, false);
}

bool op_run_mode(struct ag_frame *f)
{
	struct lines s;

	return lines_open(f, 1, !arg_b(f, 2), &s) &&
	       with_indices(f, &s, AG_NODE_ModeDim, take_mode, NULL, false);
}

/* input, k, dim, keepdim */
bool op_run_kthvalue(struct ag_frame *f)
{
	int64_t p[3] = {1, 0, 0}, k = arg_i(f, 1);
	struct lines s;

	if (!lines_open(f, 2, !arg_b(f, 3), &s))
		return false;
	if (k < 1 || k > s.n)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "kthvalue(): selected number k out of range for dimension %d",
		               s.dim);
	p[2] = k - 1;
	return with_indices(f, &s, AG_NODE_Kthvalue, take_sorted, p, false);
}

/* input, dim, descending, stable */
bool op_run_sort(struct ag_frame *f)
{
	int64_t p[3] = {0, arg_b(f, 2), 0};
	struct lines s;

	if (!lines_open(f, 1, false, &s))
		return false;
	s.m = p[0] = s.n;
	return with_indices(f, &s, AG_NODE_Sort, take_sorted, p, false);
}

bool op_run_argsort(struct ag_frame *f)
{
	struct ag_grad_mode mode = ag_no_grad(f->ctx);
	bool good = op_run_sort(f);

	ag_set_grad_mode(f->ctx, mode);
	if (!good)
		return false;
	ag_release(f->results->at[0]);
	f->results->at[0] = f->results->at[1];
	f->results->count = 1;
	return true;
}

/* input, k, dim, largest, sorted */
bool op_run_topk(struct ag_frame *f)
{
	int64_t p[3] = {arg_i(f, 1), arg_b(f, 3), 0};
	struct lines s;

	if (!lines_open(f, 2, false, &s))
		return false;
	if (p[0] < 0 || p[0] > s.n)
		return ag_fail(f->ctx, AG_ERR_RUNTIME, "selected index k out of range");
	s.m = p[0];
	return with_indices(f, &s, AG_NODE_Topk, take_sorted, p, false);
}

bool op_run_cummax(struct ag_frame *f)
{
	int64_t p[1] = {1};
	struct lines s;

	if (!lines_open(f, 1, false, &s))
		return false;
	s.m = s.n;
	return with_indices(f, &s, AG_NODE_Cummax, run_extreme, p, true);
}

bool op_run_cummin(struct ag_frame *f)
{
	int64_t p[1] = {0};
	struct lines s;

	if (!lines_open(f, 1, false, &s))
		return false;
	s.m = s.n;
	return with_indices(f, &s, AG_NODE_Cummin, run_extreme, p, true);
}

/* The gradient goes to the places that were chosen. */
static bool to_places(struct ag_bw *b)
{
	struct ag_ctx *c = B_CTX;
	const int64_t *w = b->node->ints;
	struct ag_tensor *g = B_GRAD, *at = B_SAVED(0), *zeros;
	struct ag_value v[4];

	if (!at)
		return false;
	zeros = op_zeros(c, (enum ag_dtype)g->dtype, (int)w[2], w + 3);
	if (w[1] && w[2]) {
		g = op_unsqueeze(c, g, w[0]);
		at = op_unsqueeze(c, at, w[0]);
	}
	v[0] = ag_arg(zeros);
	v[1] = ag_int(w[0]);
	v[2] = ag_arg(at);
	v[3] = ag_arg(g);
	B_SET(0, op_call(c, AG_OP_scatter_add, v, 4));
	return true;
}

bool bw_MaxDim(struct ag_bw *b)
{
	return to_places(b);
}

bool bw_MinDim(struct ag_bw *b)
{
	return to_places(b);
}

bool bw_MedianDim(struct ag_bw *b)
{
	return to_places(b);
}

bool bw_ModeDim(struct ag_bw *b)
{
	return to_places(b);
}

bool bw_Kthvalue(struct ag_bw *b)
{
	return to_places(b);
}

bool bw_Sort(struct ag_bw *b)
{
	return to_places(b);
}

bool bw_Topk(struct ag_bw *b)
{
	return to_places(b);
}

bool bw_Cummax(struct ag_bw *b)
{
	return to_places(b);
}

bool bw_Cummin(struct ag_bw *b)
{
	return to_places(b);
}

/* ---- argmax, argmin */

static bool argument(struct ag_frame *f, int64_t largest)
{
	struct ag_tensor *a = arg_t(f, 0), *values, *out;
	int64_t shape[AG_MAX_DIMS], flat = a->numel, p[1];
	struct ag_grad_mode mode = ag_no_grad(f->ctx);
	struct lines s = {0, a->numel, 1, true};
	int ndim;

	p[0] = largest;
	if (arg_none(f, 1))
		a = op_reshape(f->ctx, a, 1, &flat);
	else if (!lines_open(f, 1, !arg_b(f, 2), &s))
		a = NULL;
	ag_set_grad_mode(f->ctx, mode);
	if (!a)
		return false;
	if (!s.n)
		return ag_fail(
		        f->ctx, AG_ERR_INDEX,
		        "%s(): Expected reduction dim to be specified for input.numel() == 0.",
		        ag_op_info(f->op)->id);
	ndim = result_shape(a, &s, shape);
	values = op_zeros(f->ctx, (enum ag_dtype)a->dtype, ndim, shape);
	out = values ? ag_make(f->ctx, AG_I64, ndim, shape, true) : NULL;
	if (!out)
		return false;
	if (ag_ready1(out, a) && ag_ready1(values, a))
		each_line(a, &s, values, out, take_extreme, p);
	else
		forget_both(values, out);
	return ag_give(f, out);
}

bool op_run_argmax(struct ag_frame *f)
{
	return argument(f, 1);
}

bool op_run_argmin(struct ag_frame *f)
{
	return argument(f, 0);
}

/* ---- running sums and products */

static void run_sum(const struct line *l, double *values, int64_t *indices, const int64_t *p)
{
	double sum = 0;
	int64_t i;

	(void)indices;
	(void)p;
	for (i = 0; i < l->n; i++)
		values[i] = sum += l->x[i];
}

static void run_product(const struct line *l, double *values, int64_t *indices, const int64_t *p)
{
	double product = 1;
	int64_t i;

	(void)indices;
	(void)p;
	for (i = 0; i < l->n; i++)
		values[i] = product *= l->x[i];
}

static bool running(struct ag_frame *f, enum ag_node_kind kind, line_fn *fn, uint32_t nsaved)
{
	struct ag_tensor *a = arg_t(f, 0), *out;
	struct ag_node *node;
	struct lines s;

	if (f->v[2].kind == AG_DTYPE)
		a = op_cast(f->ctx, a, f->v[2].as.dtype);
	else if (ag_category((enum ag_dtype)a->dtype) < 2)
		a = op_cast(f->ctx, a, AG_I64);
	if (!a || !lines_open(f, 1, false, &s))
		return false;
	s.m = s.n;
	out = ag_make(f->ctx, (enum ag_dtype)a->dtype, a->ndim, a->shape, true);
	if (!out)
		return false;
	node = ag_record1(f->ctx, kind, a, nsaved, 1);
	if (node) {
		node->ints[0] = s.dim;
		if (nsaved)
			ag_save_input(node, 1, a);
	}
	if (ag_ready1(out, a))
		each_line(a, &s, out, NULL, fn, NULL);
	ag_node_retain(node);
	if (!ag_finish(f, out, node))
		return false;
	if (node && nsaved)
		ag_save_output(node, 0, out);
	ag_node_release(node);
	return true;
}

bool op_run_cumsum(struct ag_frame *f)
{
	return running(f, AG_NODE_Cumsum, run_sum, 0);
}

bool op_run_cumprod(struct ag_frame *f)
{
	return running(f, AG_NODE_Cumprod, run_product, 2);
}

static struct ag_tensor *flipped(struct ag_ctx *c, struct ag_tensor *a, int64_t dim)
{
	struct ag_value v[2] = {ag_arg(a), ag_int(dim)};

	return op_call(c, AG_OP_flip, v, 2);
}

static struct ag_tensor *sum_from_end(struct ag_ctx *c, struct ag_tensor *g, int64_t dim)
{
	struct ag_value v[2];

	if (!g || !g->ndim)
		return g;
	v[0] = ag_arg(flipped(c, g, dim));
	v[1] = ag_int(dim);
	return flipped(c, op_call(c, AG_OP_cumsum, v, 2), dim);
}

bool bw_Cumsum(struct ag_bw *b)
{
	B_SET(0, sum_from_end(B_CTX, B_GRAD, b->node->ints[0]));
	return true;
}

/* One line of it: d out[j] / d x[k] is the product of the others. */
static void cumprod_line(double *to, const double *x, const double *g, int64_t n, int64_t step)
{
	int64_t k, j, m;

	for (k = 0; k < n; k++) {
		double product = 1;

		for (m = 0; m < k; m++)
			product *= x[m * step];
		for (j = k; j < n; j++) {
			product *= j > k ? x[j * step] : 1;
			to[k * step] += g[j * step] * product;
		}
	}
}

/* The slow and always right way. */
static struct ag_tensor *cumprod_zeros(struct ag_ctx *c, struct ag_tensor *g, struct ag_tensor *x,
                                       int dim)
{
	struct ag_tensor *out = op_zeros_as(c, x);
	int64_t n = x->shape[dim], outer = 1, inner = 1, i;
	double *px, *pg, *to;
	int d;

	if (out && !ag_work(c, (double)n * (double)x->numel))
		ag_storage_drop_data(out->storage);
	if (!out || !ag_ready2(out, g, x))
		return out;
	for (d = 0; d < x->ndim; d++) {
		outer *= d < dim ? x->shape[d] : 1;
		inner *= d > dim ? x->shape[d] : 1;
	}
	px = ag_plain(x);
	pg = ag_plain(g);
	to = ag_alloc((size_t)x->numel + 1, sizeof(*to));
	for (i = 0; i < outer * inner; i++) {
		int64_t first = i / inner * n * inner + i % inner;

		cumprod_line(to + first, px + first, pg + first, n, inner);
	}
	ag_put_plain(out, to);
	free(px);
	free(pg);
	free(to);
	return out;
}

bool bw_Cumprod(struct ag_bw *b)
{
	struct ag_ctx *c = B_CTX;
	struct ag_tensor *result = B_SAVED(0), *x = B_SAVED(1);
	double *values;
	bool zero = false;
	int64_t i;

	if (!result || !x)
		return false;
	values = ag_plain(x);
	for (i = 0; values && i < x->numel; i++)
		zero |= values[i] == 0;
	free(values);
	if (zero && x->ndim)
		B_SET(0, cumprod_zeros(c, B_GRAD, x, (int)b->node->ints[0]));
	else
		B_SET(0,
		      op_div(c, sum_from_end(c, op_mul(c, B_GRAD, result), b->node->ints[0]), x));
	return true;
}
