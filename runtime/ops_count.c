/* Counting and finding: results whose shape depends on data, any and all. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/element.h"
#include "runtime/op.h"
#include "runtime/order.h"

/* ---- shapes that depend on data: known data is needed */

static bool known(struct ag_frame *f, const struct ag_tensor *a)
{
	return ag_has_data(a) || !a->numel ||
	       ag_fail(f->ctx, AG_ERR_NO_DATA, "%s needs values that are not known",
	               ag_op_info(f->op)->id);
}

/* input, as_tuple */
bool op_run_nonzero(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0), *out;
	int64_t shape[2], index[AG_MAX_DIMS] = {0}, i, *at, k = 0;
	double *x;
	int d;

	if (!known(f, a))
		return false;
	x = ag_plain(a);
	shape[0] = 0;
	shape[1] = a->ndim;
	for (i = 0; i < a->numel; i++)
		shape[0] += x[i] != 0;
	at = ag_alloc((size_t)(shape[0] * shape[1]) + 1, sizeof(*at));
	for (i = 0; i < a->numel; i++) {
		for (d = 0; x[i] != 0 && d < a->ndim; d++)
			at[k++] = index[d];
		for (d = a->ndim - 1; d >= 0 && ++index[d] == a->shape[d]; d--)
			index[d] = 0;
	}
	free(x);
	out = ag_make(f->ctx, AG_I64, 2, shape, true);
	if (out) {
		ag_put_columns(out);
		ag_put_ints(out, at);
	}
	free(at);
	if (!out || !arg_b(f, 1))
		return ag_give(f, out);
	for (d = 0; d < a->ndim; d++)
		ag_give_ref(f, op_contiguous(f->ctx, op_select(f->ctx, out, 1, d)));
	ag_release(out);
	return true;
}

/* input, num_classes */
bool op_run_one_hot(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0), *out;
	int64_t shape[AG_MAX_DIMS], classes = arg_i(f, 1), *at, i;

	if (a->ndim == AG_MAX_DIMS || a->dtype != AG_I64)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "one_hot is only applicable to index tensor of type LongTensor.");
	if (classes < 0 && !known(f, a))
		return false;
	at = ag_plain_ints(a);
	for (i = 0; at && arg_i(f, 1) < 0 && i < a->numel; i++)
		classes = at[i] + 1 > classes ? at[i] + 1 : classes;
	memcpy(shape, a->shape, sizeof(shape));
	shape[a->ndim] = classes < 0 ? 0 : classes;
	for (i = 0; at && i < a->numel; i++) {
		if (at[i] < 0 || at[i] >= classes) {
			free(at);
			return ag_fail(f->ctx, AG_ERR_RUNTIME,
			               "Class values must be smaller than num_classes.");
		}
	}
	out = ag_make(f->ctx, AG_I64, a->ndim + 1, shape, at != NULL);
	for (i = 0; out && out->storage->data && i < a->numel; i++)
		ag_store_int(AG_I64, out->storage->data, i * classes + at[i], 1);
	free(at);
	return ag_give(f, out);
}

/* input, weights, minlength */
bool op_run_bincount(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0), *w = arg_t(f, 1), *out;
	int64_t n = arg_i(f, 2), i, *at;
	double *counts, *pw;

	if (!known(f, a) || (w && !known(f, w)))
		return false;
	if (a->ndim != 1 || ag_category((enum ag_dtype)a->dtype) != 1)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "bincount only supports 1-d non-negative integral inputs.");
	if (w && (w->ndim != 1 || w->numel != a->numel))
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "weights should be 1-d and have the same length as input");
	at = ag_plain_ints(a);
	for (i = 0; i < a->numel; i++) {
		if (at[i] < 0 || at[i] > INT32_MAX) {
			free(at);
			return ag_fail(f->ctx, AG_ERR_RUNTIME,
			               "bincount only supports 1-d non-negative integral inputs.");
		}
		n = at[i] + 1 > n ? at[i] + 1 : n;
	}
	pw = w ? ag_plain(w) : NULL;
	counts = ag_alloc((size_t)n + 1, sizeof(*counts));
	for (i = 0; i < a->numel; i++)
		counts[at[i]] += pw ? pw[i] : 1;
	out = ag_make(f->ctx, w ? AG_F64 : AG_I64, 1, &n, true);
	if (out)
		ag_put_plain(out, counts);
	free(at);
	free(pw);
	free(counts);
	return ag_give(f, out);
}

/* Sorted distinct values. */
bool op_run_unique(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0), *out, *inverse, *counts;
	double *x;
	int64_t *order, *to, *times, i, n = 0;

	if (!known(f, a))
		return false;
	x = ag_plain(a);
	order = ag_alloc((size_t)a->numel + 1, sizeof(*order));
	to = ag_alloc((size_t)a->numel + 1, sizeof(*to));
	times = ag_alloc((size_t)a->numel + 1, sizeof(*times));
	ag_order(x, a->numel, false, order);
	for (i = 0; i < a->numel; i++) {
		n += !i || x[order[i]] != x[order[i - 1]];
		to[order[i]] = n - 1;
		times[n - 1]++;
	}
	out = ag_make(f->ctx, (enum ag_dtype)a->dtype, 1, &n, true);
	inverse = ag_make(f->ctx, AG_I64, a->ndim, a->shape, true);
	counts = ag_make(f->ctx, AG_I64, 1, &n, true);
	for (i = 0; out && i < a->numel; i++)
		ag_store_double((enum ag_dtype)a->dtype, out->storage->data, to[i], x[i]);
	if (inverse)
		ag_put_ints(inverse, to);
	if (counts)
		ag_put_ints(counts, times);
	free(x);
	free(order);
	free(to);
	free(times);
	ag_give(f, out);
	if (arg_b(f, 2))
		ag_give(f, inverse);
	else
		ag_release(inverse);
	if (arg_b(f, 3))
		ag_give(f, counts);
	else
		ag_release(counts);
	return out != NULL;
}

/* ---- any, all, count_nonzero */

typedef double count_fn(int64_t hits, int64_t n);

static double count_any(int64_t hits, int64_t n)
{
	(void)n;
	return hits > 0;
}

static double count_all(int64_t hits, int64_t n)
{
	return hits == n;
}

static double count_hits(int64_t hits, int64_t n)
{
	(void)n;
	return (double)hits;
}

static bool counted(struct ag_frame *f, enum ag_dtype dtype, count_fn *fn, bool keepdim)
{
	struct ag_tensor *a = arg_t(f, 0), *out;
	int64_t shape[AG_MAX_DIMS], outer = 1, inner = 1, n = a->numel, o, i, k;
	int dim = -1, d, ndim = 0;
	double *x, *to;

	if (!arg_none(f, 1)) {
		dim = ag_dim(f->ctx, a, arg_i(f, 1));
		if (dim < 0)
			return false;
		n = a->ndim ? a->shape[dim] : 1;
	}
	for (d = 0; d < a->ndim && dim >= 0; d++) {
		outer *= d < dim ? a->shape[d] : 1;
		inner *= d > dim ? a->shape[d] : 1;
		if (d != dim || keepdim)
			shape[ndim++] = d == dim ? 1 : a->shape[d];
	}
	out = ag_make(f->ctx, dtype, ndim, shape, true);
	if (!out || !ag_ready1(out, a))
		return ag_give(f, out);
	x = ag_plain(a);
	to = ag_alloc((size_t)(outer * inner) + 1, sizeof(*to));
	for (o = 0; o < outer; o++) {
		for (i = 0; i < inner; i++) {
			int64_t hits = 0;

			for (k = 0; k < n; k++)
				hits += x[(o * n + k) * inner + i] != 0;
			to[o * inner + i] = fn(hits, n);
		}
	}
	ag_put_plain(out, to);
	free(x);
	free(to);
	return ag_give(f, out);
}

bool op_run_any(struct ag_frame *f)
{
	return counted(f, AG_BOOL8, count_any, arg_b(f, 2));
}

bool op_run_all(struct ag_frame *f)
{
	return counted(f, AG_BOOL8, count_all, arg_b(f, 2));
}

bool op_run_count_nonzero(struct ag_frame *f)
{
	return counted(f, AG_I64, count_hits, false);
}

/* Values equal within tolerances, all of them: a bool tensor of one element. */
bool op_run_isclose(struct ag_frame *f)
{
	struct ag_ctx *c = f->ctx;
	struct ag_tensor *a = arg_t(f, 0), *b = arg_t(f, 1), *near;
	struct ag_grad_mode mode = ag_no_grad(c);
	struct ag_value v[2];

	near = op_add_n(c, op_mul_number(c, op_abs(c, b), arg_f(f, 2)), arg_f(f, 3));
	v[0] = ag_arg(op_le(c, op_abs(c, op_sub(c, a, b)), near));
	v[1] = ag_arg(op_eq(c, a, b));
	near = op_call(c, AG_OP_logical_or, v, 2);
	ag_set_grad_mode(c, mode);
	return ag_give_ref(f, near);
}

bool op_run_equal(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0), *b = arg_t(f, 1), *out;
	double *x, *y;
	bool same;
	int64_t i;

	out = ag_make(f->ctx, AG_BOOL8, 0, NULL, true);
	if (!out || !ag_same_shape(a, b) || !ag_ready2(out, a, b))
		return ag_give(f, out);
	x = ag_plain(a);
	y = ag_plain(b);
	for (i = 0, same = true; i < a->numel; i++)
		same = same && x[i] == y[i];
	ag_fill_data(out, same);
	free(x);
	free(y);
	return ag_give(f, out);
}
