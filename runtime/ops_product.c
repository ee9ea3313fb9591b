/* Products made of others: matmul, linear, outer, bilinear, as PyTorch composes them. */

#include <string.h>

#include "runtime/op.h"
#include "runtime/shape.h"

static struct ag_tensor *unsafe_view(struct ag_ctx *c, struct ag_tensor *t, int ndim,
                                     const int64_t *shape)
{
	return t ? scoped(c, ag_unsafe_view(c, t, ndim, shape)) : NULL;
}

/* Whether the larger operand is folded into a matrix, so that one mm does it. */
static bool should_fold(struct ag_tensor *a, struct ag_tensor *b)
{
	bool first = a->ndim >= b->ndim;
	struct ag_tensor large = first ? *a : *b, *small = first ? b : a;
	int64_t swap;
	int n = large.ndim, d;

	if (n < 3 || small->ndim > 2)
		return false;
	if (ag_requires_grad(small))
		return true;
	if (a->ndim == 2)
		return false;
	if (!large.numel)
		return true;
	if (!first) {
		swap = large.shape[n - 1];
		large.shape[n - 1] = large.shape[n - 2];
		large.shape[n - 2] = swap;
		swap = large.strides[n - 1];
		large.strides[n - 1] = large.strides[n - 2];
		large.strides[n - 2] = swap;
	}
	for (d = 0; d < n - 2; d++) {
		if (large.strides[d] != large.strides[d + 1] * large.shape[d + 1])
			return false;
	}
	return true;
}

static struct ag_tensor *folded(struct ag_ctx *c, struct ag_tensor *a, struct ag_tensor *b)
{
	bool turned = b->ndim > a->ndim;
	struct ag_tensor *large = turned ? op_transpose(c, b, -1, -2) : a;
	struct ag_tensor *small = turned ? (a->ndim == 2 ? op_t(c, a) : a) : b, *out;
	int64_t shape[AG_MAX_DIMS], matrix[2];
	int n;

	if (!large || !small)
		return NULL;
	n = large->ndim;
	memcpy(shape, large->shape, sizeof(shape));
	matrix[0] = ag_count(n - 1, shape);
	matrix[1] = shape[n - 1];
	large = op_reshape(c, large, 2, matrix);
	if (small->ndim == 1)
		return unsafe_view(c, op_mv(c, large, small), n - 1, shape);
	shape[n - 1] = small->shape[1];
	out = unsafe_view(c, op_mm(c, large, small), n, shape);
	if (!turned)
		return out;
	return op_contiguous(c, op_transpose(c, out, -1, -2));
}

/* The batch dimensions of both, broadcast. */
static bool batch_shape(struct ag_ctx *c, struct ag_tensor *a, struct ag_tensor *b, int *ndim,
                        int64_t *shape)
{
	struct ag_tensor x = *a, y = *b;

	x.ndim = (uint8_t)(a->ndim > 2 ? a->ndim - 2 : 0);
	y.ndim = (uint8_t)(b->ndim > 2 ? b->ndim - 2 : 0);
	return ag_broadcast(c, &x, &y, ndim, shape);
}

static struct ag_tensor *batched(struct ag_ctx *c, struct ag_tensor *a, struct ag_tensor *b)
{
	int64_t n = a->ndim > 1 ? a->shape[a->ndim - 2] : 1, m = a->shape[a->ndim - 1];
	int64_t m2 = b->ndim > 1 ? b->shape[b->ndim - 2] : b->shape[0];
	int64_t p = b->ndim > 1 ? b->shape[b->ndim - 1] : 1, count;
	int64_t batch[AG_MAX_DIMS], full[AG_MAX_DIMS], three[3];
	bool vec1 = a->ndim == 1, vec2 = b->ndim == 1;
	int k;

	if (!batch_shape(c, a, b, &k, batch))
		return NULL;
	count = ag_count(k, batch);
	memcpy(full, batch, sizeof(full));
	full[k] = n;
	full[k + 1] = m;
	three[0] = count;
	three[1] = n;
	three[2] = m;
	a = op_reshape(c, op_expand(c, a, k + 2, full), 3, three);
	if (vec2)
		b = op_unsqueeze(c, b, 1);
	full[k] = m2;
	full[k + 1] = p;
	three[1] = m2;
	three[2] = p;
	b = op_reshape(c, op_expand(c, b, k + 2, full), 3, three);
	full[k] = n;
	full[k + 1] = p;
	if (vec1)
		full[k] = p;
	return unsafe_view(c, op_bmm(c, a, b), k + 2 - vec1 - vec2, full);
}

/* Of two batches, one with a single matrix is that matrix. */
static struct ag_tensor *single(struct ag_ctx *c, struct ag_tensor *a, struct ag_tensor *other)
{
	struct ag_value v[2] = {ag_arg(a), ag_int(0)};

	if (a->ndim != 3 || other->ndim != 3 || a->shape[0] != 1 || other->shape[0] == 1)
		return a;
	return op_call(c, AG_OP_squeeze_dim, v, 2);
}

static struct ag_tensor *matmul(struct ag_ctx *c, struct ag_tensor *a, struct ag_tensor *b)
{
	struct ag_value v[2];

	if (!a->ndim || !b->ndim)
		return ag_null(
		        c, AG_ERR_RUNTIME,
		        "both arguments to matmul need to be at least 1D, but they are %dD and %dD",
		        a->ndim, b->ndim);
	if (a->ndim == 1 && b->ndim == 1) {
		v[0] = ag_arg(a);
		v[1] = ag_arg(b);
		return op_call(c, AG_OP_dot, v, 2);
	}
	if (a->ndim == 2 && b->ndim == 1)
		return op_mv(c, a, b);
	if (a->ndim == 1 && b->ndim == 2) {
		v[0] = ag_arg(op_mm(c, op_unsqueeze(c, a, 0), b));
		return op_call(c, AG_OP_squeeze_row, v, 1);
	}
	if (a->ndim == 2 && b->ndim == 2)
		return op_mm(c, a, b);
	if (a->ndim == 3 && b->ndim == 3) {
		struct ag_tensor *x = single(c, a, b), *y = single(c, b, a);

		if (!x || !y)
			return NULL;
		if (x != a || y != b)
			return folded(c, x, y);
	}
	return should_fold(a, b) ? folded(c, a, b) : batched(c, a, b);
}

bool op_run_matmul(struct ag_frame *f)
{
	return ag_give_ref(f, matmul(f->ctx, arg_t(f, 0), arg_t(f, 1)));
}

static struct ag_tensor *addmm(struct ag_ctx *c, struct ag_tensor *bias, struct ag_tensor *x,
                               struct ag_tensor *w)
{
	struct ag_value v[5] = {ag_arg(bias), ag_arg(x), ag_arg(w), ag_int(1), ag_int(1)};

	return x && w ? op_call(c, AG_OP_addmm, v, 5) : NULL;
}

static struct ag_tensor *linear(struct ag_ctx *c, struct ag_tensor *x, struct ag_tensor *w,
                                struct ag_tensor *bias)
{
	struct ag_tensor *wt = op_t(c, w), *out;
	int64_t shape[AG_MAX_DIMS], matrix[2];
	struct ag_value v[3];
	int n = x->ndim;

	if (!wt || w->ndim == 1 || !bias) {
		out = wt ? op_matmul(c, x, wt) : NULL;
	} else if (n == 2) {
		return addmm(c, bias, x, wt);
	} else if (n && ag_is_contiguous(x)) {
		memcpy(shape, x->shape, sizeof(shape));
		matrix[0] = ag_count(n - 1, shape);
		matrix[1] = shape[n - 1];
		out = addmm(c, bias, op_view(c, x, 2, matrix), wt);
		shape[n - 1] = w->shape[0];
		return op_view(c, out, n, shape);
	} else {
		out = op_matmul(c, x, wt);
	}
	if (!out || !bias)
		return out;
	v[0] = ag_arg(out);
	v[1] = ag_arg(bias);
	v[2] = ag_int(1);
	return op_inplace(c, AG_OP_add, v, 3);
}

bool op_run_linear(struct ag_frame *f)
{
	return ag_give_ref(f, linear(f->ctx, arg_t(f, 0), arg_t(f, 1), arg_t(f, 2)));
}

bool op_run_outer(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0), *b = arg_t(f, 1);
	int64_t shape[2];

	if (a->ndim != 1 || b->ndim != 1)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "outer: Expected 1-D argument self, but got %d-D", a->ndim);
	shape[0] = a->shape[0];
	shape[1] = 1;
	return ag_give_ref(f, op_mul(f->ctx, op_reshape(f->ctx, a, 2, shape), b));
}

/* ---- kron: every element of the first times the second */

/* Each size of t, from the left filled up to `ndim` of them, with a one after or before it. */
static struct ag_tensor *spread(struct ag_ctx *c, struct ag_tensor *t, int ndim, bool before)
{
	int64_t shape[AG_MAX_DIMS] = {0};
	int d, missing = ndim - t->ndim;

	for (d = 0; d < ndim; d++) {
		shape[2 * d + before] = d < missing ? 1 : t->shape[d - missing];
		shape[2 * d + !before] = 1;
	}
	return unsafe_view(c, t, 2 * ndim, shape);
}

bool op_run_kron(struct ag_frame *f)
{
	struct ag_tensor *x = arg_t(f, 0), *y = arg_t(f, 1), *out;
	int ndim = x->ndim > y->ndim ? x->ndim : y->ndim, d;
	int64_t shape[AG_MAX_DIMS] = {0};

	if (2 * ndim > AG_MAX_DIMS)
		return ag_fail(f->ctx, AG_ERR_RUNTIME, "kron: too many dimensions");
	out = op_mul(f->ctx, spread(f->ctx, x, ndim, false), spread(f->ctx, y, ndim, true));
	if (!out)
		return false;
	for (d = 0; d < ndim; d++)
		shape[d] = ag_times(out->shape[2 * d], out->shape[2 * d + 1]);
	return ag_check_shape(f->ctx, ndim, shape) &&
	       ag_give_ref(f, unsafe_view(f->ctx, out, ndim, shape));
}
