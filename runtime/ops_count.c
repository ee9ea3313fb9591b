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
		classes = ag_within(at[i]) >= classes ? ag_within(at[i]) + 1 : classes;
	memcpy(shape, a->shape, sizeof(shape));
	shape[a->ndim] = classes < 0 ? 0 : classes;
	for (i = 0; at && i < a->numel; i++) {
		if (at[i] < 0 || (arg_i(f, 1) >= 0 && at[i] >= classes)) {
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

/* One more than the largest value, `least` at least; -1 with an error. */
static int64_t bins(struct ag_frame *f, const int64_t *at, int64_t count, int64_t least)
{
	int64_t i;

	if (least < 0) {
		ag_fail(f->ctx, AG_ERR_RUNTIME, "minlength should be >= 0");
		return -1;
	}
	for (i = 0; i < count; i++) {
		if (at[i] < 0) {
			ag_fail(f->ctx, AG_ERR_RUNTIME,
			        "bincount only supports 1-d non-negative integral inputs.");
			return -1;
		}
		least = ag_within(at[i]) >= least ? ag_within(at[i]) + 1 : least;
	}
	return least;
}

static void count_into(struct ag_tensor *out, const int64_t *at, int64_t count, struct ag_tensor *w)
{
	double *counts, *weights;
	int64_t i;

	if (!out->storage->data)
		return;
	weights = w ? ag_plain(w) : NULL;
	counts = ag_alloc((size_t)out->numel + 1, sizeof(*counts));
	for (i = 0; i < count; i++)
		counts[at[i]] += weights ? weights[i] : 1;
	ag_put_plain(out, counts);
	free(weights);
	free(counts);
}

/* input, weights, minlength */
bool op_run_bincount(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0), *w = arg_t(f, 1), *out;
	int64_t n, *at;

	if (!known(f, a) || (w && !known(f, w)))
		return false;
	if (a->ndim != 1 || ag_category((enum ag_dtype)a->dtype) != 1)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "bincount only supports 1-d non-negative integral inputs.");
	if (w && (w->ndim != 1 || w->numel != a->numel))
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "weights should be 1-d and have the same length as input");
	at = ag_plain_ints(a);
	n = bins(f, at, a->numel, arg_i(f, 2));
	out = n < 0 ? NULL : ag_make(f->ctx, w ? AG_F64 : AG_I64, 1, &n, true);
	if (out)
		count_into(out, at, a->numel, w);
	free(at);
	return ag_give(f, out);
}

static void extend_range(const double *x, int64_t count, double *low, double *high)
{
	for (int64_t i = 0; i < count; i++) {
		*low = !i || x[i] < *low ? x[i] : *low;
		*high = !i || x[i] > *high ? x[i] : *high;
	}
}

static void count_ranges(const double *x, int64_t count, double low, double high, double *counts,
                         int64_t bins)
{
	for (int64_t i = 0; i < count; i++) {
		double at = (high > low ? (x[i] - low) / (high - low) : 0.5) * (double)bins;

		if (x[i] >= low && x[i] <= high)
			counts[at < (double)bins ? (int64_t)at : bins - 1]++;
	}
}

/* input, bins, min, max: equal bounds are those of the data */
bool op_run_histc(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0), *out;
	double low = arg_f(f, 2), high = arg_f(f, 3), *x, *counts;
	int64_t bins = arg_i(f, 1);

	if (!ag_need_float(f, a))
		return false;
	if (bins < 1)
		return ag_fail(f->ctx, AG_ERR_RUNTIME, "bins must be > 0");
	out = ag_make(f->ctx, (enum ag_dtype)a->dtype, 1, &bins, ag_has_data(a));
	x = ag_plain(a);
	if (!out || !x || !out->storage->data) {
		free(x);
		return ag_give(f, out);
	}
	if (low == high)
		extend_range(x, a->numel, &low, &high);
	if (!isfinite(high - low) || low > high) {
		free(x);
		ag_release(out);
		return low > high ? ag_fail(f->ctx, AG_ERR_RUNTIME, "max must be larger than min")
		                  : ag_fail(f->ctx, AG_ERR_RUNTIME,
		                            "range of [%g, %g] is not finite", low, high);
	}
	if (low == high) {
		low--;
		high++;
	}
	counts = ag_alloc((size_t)bins, sizeof(*counts));
	count_ranges(x, a->numel, low, high, counts, bins);
	ag_put_plain(out, counts);
	free(counts);
	free(x);
	return ag_give(f, out);
}

/* What unique compares: rows of `width` numbers, in order; row order[i] is of the to[order[i]]th
 * kind, of which there are times[...]. */
struct kinds {
	double *x;
	int64_t rows, width, count, *order, *to, *times;
};

static double row_at(const struct kinds *k, int64_t row, int64_t column)
{
	return k->x[row * k->width + column];
}

static bool same_rows(const struct kinds *k, int64_t a, int64_t b)
{
	int64_t i = 0;

	while (i < k->width && row_at(k, a, i) == row_at(k, b, i))
		i++;
	return i == k->width;
}

/* By the last column first: each pass leaves what is equal as it was. */
static void order_rows(struct kinds *k)
{
	double *column = ag_alloc((size_t)k->rows + 1, sizeof(*column));
	int64_t *by = ag_alloc((size_t)k->rows + 1, sizeof(*by)), i, c;
	int64_t *next = ag_alloc((size_t)k->rows + 1, sizeof(*next));

	for (i = 0; i < k->rows; i++)
		k->order[i] = i;
	for (c = k->width - 1; c >= 0; c--) {
		for (i = 0; i < k->rows; i++)
			column[i] = row_at(k, k->order[i], c);
		ag_order(column, k->rows, false, by);
		for (i = 0; i < k->rows; i++)
			next[i] = k->order[by[i]];
		memcpy(k->order, next, (size_t)k->rows * sizeof(*next));
	}
	free(column);
	free(by);
	free(next);
}

static void find_kinds(struct kinds *k)
{
	int64_t i;

	k->order = ag_alloc((size_t)k->rows + 1, sizeof(*k->order));
	k->to = ag_alloc((size_t)k->rows + 1, sizeof(*k->to));
	k->times = ag_alloc((size_t)k->rows + 1, sizeof(*k->times));
	order_rows(k);
	for (i = 0; i < k->rows; i++) {
		k->count += !i || !same_rows(k, k->order[i], k->order[i - 1]);
		k->to[k->order[i]] = k->count - 1;
		k->times[k->count - 1]++;
	}
}

static bool give_kinds(struct ag_frame *f, const struct kinds *k, struct ag_tensor *out,
                       int inverse_ndim, const int64_t *inverse_shape)
{
	struct ag_tensor *inverse, *counts;
	/* Of slices the counts lie in memory for as many as there could be. */
	const int64_t room = arg_none(f, 4) ? k->count : k->rows;

	if (!ag_give(f, out))
		return false;
	inverse = arg_b(f, 2) ? ag_make(f->ctx, AG_I64, inverse_ndim, inverse_shape, true) : NULL;
	if (inverse)
		ag_put_ints(inverse, k->to);
	if (arg_b(f, 2) && !ag_give(f, inverse))
		return false;
	counts = arg_b(f, 3) ? ag_make(f->ctx, AG_I64, 1, &room, true) : NULL;
	if (counts) {
		ag_set_shape(counts, 1, &k->count, NULL);
		ag_put_ints(counts, k->times);
	}
	return !arg_b(f, 3) || ag_give(f, counts);
}

static void release_kinds(struct kinds *k)
{
	free(k->x);
	free(k->order);
	free(k->to);
	free(k->times);
}

/* Only the dimension itself may be without elements. */
static bool slices_fit(struct ag_frame *f, const struct ag_tensor *a, int dim)
{
	int d;

	for (d = 0; d < a->ndim; d++) {
		if (d != dim && !a->shape[d])
			return ag_fail(f->ctx, AG_ERR_RUNTIME,
			               "There are 0 sized dimensions, and they aren't selected, so "
			               "unique cannot be applied");
	}
	return true;
}

/* Slices of one dimension that differ, in order. */
static struct ag_tensor *moved(struct ag_ctx *ctx, struct ag_tensor *a, int from, int to)
{
	struct ag_value v[3] = {ag_arg(a), ag_int(from), ag_int(to)};

	return op_call(ctx, AG_OP_movedim, v, 3);
}

static bool unique_slices(struct ag_frame *f, struct ag_tensor *a, int dim)
{
	struct ag_tensor *rows, *out;
	int64_t shape[AG_MAX_DIMS], i, c;
	struct kinds k = {0};
	bool ok;

	if (!a->ndim)
		return ag_fail(f->ctx, AG_ERR_INDEX,
		               "Dimension specified as 0 but tensor has no dimensions");
	rows = op_contiguous(f->ctx, moved(f->ctx, a, dim, 0));
	if (!rows || !slices_fit(f, a, dim) || !known(f, rows))
		return false;
	k.rows = a->shape[dim];
	k.width = k.rows ? a->numel / k.rows : 0;
	k.x = ag_plain(rows);
	find_kinds(&k);
	memcpy(shape, rows->shape, sizeof(shape));
	shape[0] = k.count;
	out = ag_make(f->ctx, (enum ag_dtype)a->dtype, a->ndim, shape, true);
	for (i = 0; out && out->storage->data && i < k.rows; i++)
		for (c = 0; c < k.width; c++)
			ag_store_double((enum ag_dtype)a->dtype, out->storage->data,
			                k.to[i] * k.width + c, row_at(&k, i, c));
	out = moved(f->ctx, scoped(f->ctx, out), 0, dim);
	ok = give_kinds(f, &k, out ? ag_data_of(f->ctx, out) : NULL, 1, &k.rows);
	release_kinds(&k);
	return ok;
}

/* Sorted distinct values, or slices. */
bool op_run_unique(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0), *out;
	struct kinds k = {.rows = a->numel, .width = 1};
	int64_t i;
	int dim;
	bool ok;

	if (!known(f, a))
		return false;
	if (!arg_none(f, 4)) {
		dim = ag_dim(f->ctx, a, arg_i(f, 4));
		return dim >= 0 && unique_slices(f, a, dim);
	}
	k.x = ag_plain(a);
	find_kinds(&k);
	out = ag_make(f->ctx, (enum ag_dtype)a->dtype, 1, &k.count, true);
	for (i = 0; out && out->storage->data && i < a->numel; i++)
		ag_store_double((enum ag_dtype)a->dtype, out->storage->data, k.to[i], k.x[i]);
	ok = give_kinds(f, &k, out, a->ndim, a->shape);
	release_kinds(&k);
	return ok;
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
