/* The rows that give views: arguments checked, then shape.c makes them. */

#include <string.h>

#include "runtime/op.h"
#include "runtime/shape.h"

static bool shape_arg(struct ag_frame *f, uint32_t i, int64_t *shape, int *ndim)
{
	*ndim = arg_ints(f, i, shape, AG_MAX_DIMS);
	return *ndim >= 0 && ag_infer_shape(f->ctx, *ndim, shape, arg_t(f, 0)->numel);
}

bool op_run_view(struct ag_frame *f)
{
	int64_t shape[AG_MAX_DIMS];
	int ndim;

	return shape_arg(f, 1, shape, &ndim) &&
	       ag_give(f, ag_reshaped(f->ctx, arg_t(f, 0), ndim, shape, AG_NODE_View));
}

bool op_run_reshape(struct ag_frame *f)
{
	int64_t shape[AG_MAX_DIMS];
	int ndim;

	return shape_arg(f, 1, shape, &ndim) &&
	       ag_give(f, ag_reshape(f->ctx, arg_t(f, 0), ndim, shape));
}

bool op_run_view_as(struct ag_frame *f)
{
	struct ag_tensor *like = arg_t(f, 1);
	int64_t shape[AG_MAX_DIMS];

	memcpy(shape, like->shape, sizeof(shape));
	return ag_infer_shape(f->ctx, like->ndim, shape, arg_t(f, 0)->numel) &&
	       ag_give(f, ag_reshaped(f->ctx, arg_t(f, 0), like->ndim, shape, AG_NODE_View));
}

bool op_run_reshape_as(struct ag_frame *f)
{
	struct ag_tensor *like = arg_t(f, 1);
	int64_t shape[AG_MAX_DIMS];

	memcpy(shape, like->shape, sizeof(shape));
	return ag_infer_shape(f->ctx, like->ndim, shape, arg_t(f, 0)->numel) &&
	       ag_give(f, ag_reshape(f->ctx, arg_t(f, 0), like->ndim, shape));
}

bool op_run_flatten(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0);
	int start = ag_dim(f->ctx, a, arg_i(f, 1)), end = ag_dim(f->ctx, a, arg_i(f, 2)), d, n = 0;
	int64_t shape[AG_MAX_DIMS];

	if (start < 0 || end < 0)
		return false;
	if (start > end)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "flatten() has invalid args: start_dim cannot come after end_dim");
	if (!a->ndim) {
		shape[0] = 1;
		return ag_give(f, ag_reshape(f->ctx, a, 1, shape));
	}
	if (start == end)
		return ag_give_ref(f, a);
	for (d = 0; d < a->ndim; d++) {
		if (d > start && d <= end)
			shape[n - 1] *= a->shape[d];
		else
			shape[n++] = a->shape[d];
	}
	return ag_give(f, ag_reshape(f->ctx, a, n, shape));
}

bool op_run_unflatten(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0);
	int64_t sizes[AG_MAX_DIMS], shape[AG_MAX_DIMS];
	int dim = ag_dim(f->ctx, a, arg_i(f, 1)), n = arg_ints(f, 2, sizes, AG_MAX_DIMS), d, k = 0,
	    i;

	if (dim < 0 || n < 0)
		return false;
	if (!a->ndim || a->ndim - 1 + n > AG_MAX_DIMS)
		return ag_fail(f->ctx, AG_ERR_RUNTIME, "unflatten: %d dimensions of %d are too %s",
		               n, a->ndim, a->ndim ? "many" : "few");
	if (!ag_infer_shape(f->ctx, n, sizes, a->shape[dim]))
		return false;
	for (d = 0; d < a->ndim; d++) {
		for (i = 0; d == dim && i < n; i++)
			shape[k++] = sizes[i];
		if (d != dim)
			shape[k++] = a->shape[d];
	}
	return ag_give(f, ag_reshaped(f->ctx, a, k, shape, AG_NODE_View));
}

bool op_run_expand(struct ag_frame *f)
{
	int64_t shape[AG_MAX_DIMS];
	int ndim = arg_ints(f, 1, shape, AG_MAX_DIMS);

	return ndim >= 0 && ag_give(f, ag_expand(f->ctx, arg_t(f, 0), ndim, shape));
}

bool op_run_expand_as(struct ag_frame *f)
{
	struct ag_tensor *like = arg_t(f, 1);

	return ag_give(f, ag_expand(f->ctx, arg_t(f, 0), like->ndim, like->shape));
}

bool op_run_permute(struct ag_frame *f)
{
	int64_t dims[AG_MAX_DIMS];
	int n = arg_ints(f, 1, dims, AG_MAX_DIMS);

	return n >= 0 && ag_give(f, ag_permute(f->ctx, arg_t(f, 0), dims, n));
}

bool op_run_transpose(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0);
	int d0 = ag_dim(f->ctx, a, arg_i(f, 1)), d1 = ag_dim(f->ctx, a, arg_i(f, 2));

	if (d0 < 0 || d1 < 0)
		return false;
	return ag_give(f, a->ndim ? ag_swap(f->ctx, a, d0, d1) : ag_retain(a));
}

/* .T: all dimensions reversed; .mT: the last two swapped */
bool op_run_numpy_T(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0);
	int64_t dims[AG_MAX_DIMS];
	int d;

	for (d = 0; d < a->ndim; d++)
		dims[d] = a->ndim - 1 - d;
	return ag_give(f, ag_permute(f->ctx, a, dims, a->ndim));
}

bool op_run_mT(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0);

	if (!a->ndim)
		return ag_give(f, ag_permute(f->ctx, a, NULL, 0));
	if (a->ndim < 2)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "tensor.mT is only supported on matrices or batches of matrices. "
		               "Got %d-D tensor.",
		               a->ndim);
	return ag_give(f, ag_swap(f->ctx, a, a->ndim - 2, a->ndim - 1));
}

static bool movedim(struct ag_frame *f, const int64_t *from, const int64_t *to, int n)
{
	struct ag_tensor *a = arg_t(f, 0);
	int64_t order[AG_MAX_DIMS];
	unsigned taken = 0;
	int i, d, next = 0;

	for (d = 0; d < a->ndim; d++)
		order[d] = -1;
	for (i = 0; i < n; i++) {
		int s = ag_dim(f->ctx, a, from[i]), t = ag_dim(f->ctx, a, to[i]);

		if (s < 0 || t < 0)
			return false;
		order[t] = s;
		taken |= 1u << s;
	}
	for (d = 0; d < a->ndim; d++) {
		if (order[d] >= 0)
			continue;
		while (taken >> next & 1)
			next++;
		order[d] = next++;
	}
	return ag_give(f, ag_permute(f->ctx, a, order, a->ndim));
}

bool op_run_movedim(struct ag_frame *f)
{
	int64_t from[AG_MAX_DIMS], to[AG_MAX_DIMS];
	int n = arg_ints(f, 1, from, AG_MAX_DIMS), k = arg_ints(f, 2, to, AG_MAX_DIMS);

	if (n < 0 || k != n)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "movedim: Invalid source or destination dims");
	return movedim(f, from, to, n);
}

/* Removes the dimensions of size one among those of `mask`. */
static bool squeeze(struct ag_frame *f, unsigned mask, enum ag_node_kind kind)
{
	struct ag_tensor *a = arg_t(f, 0);
	int64_t shape[AG_MAX_DIMS], strides[AG_MAX_DIMS], ints[AG_MAX_DIMS + 1];
	int d, n = 0;

	for (d = 0; d < a->ndim; d++) {
		if (a->shape[d] == 1 && mask >> d & 1)
			continue;
		shape[n] = a->shape[d];
		strides[n++] = a->strides[d];
	}
	if (f->inplace) {
		ag_set_shape(a, n, shape, strides);
		return ag_give_ref(f, a);
	}
	ints[0] = a->ndim;
	memcpy(ints + 1, a->shape, a->ndim * sizeof(*ints));
	return ag_give_view(f, ag_alias(a, n, shape, strides, a->offset), a, kind, ints,
	                    1u + a->ndim);
}

bool op_run_squeeze(struct ag_frame *f)
{
	return squeeze(f, ~0u, AG_NODE_Squeeze);
}

/* squeeze_(0) of a fresh result, as matmul does it */
bool op_run_squeeze_row(struct ag_frame *f)
{
	return squeeze(f, 1, AG_NODE_SqueezeInplace);
}

bool op_run_squeeze_dim(struct ag_frame *f)
{
	int dim = ag_dim(f->ctx, arg_t(f, 0), arg_i(f, 1));

	return dim >= 0 && squeeze(f, 1u << dim, AG_NODE_SqueezeDim);
}

bool op_run_squeeze_dims(struct ag_frame *f)
{
	int64_t dims[AG_MAX_DIMS];
	int n = arg_ints(f, 1, dims, AG_MAX_DIMS), i;
	unsigned mask = 0;

	for (i = 0; i < n; i++) {
		int dim = ag_dim(f->ctx, arg_t(f, 0), dims[i]);

		if (dim < 0)
			return false;
		mask |= 1u << dim;
	}
	return n >= 0 && squeeze(f, mask, AG_NODE_SqueezeDims);
}

bool op_run_unsqueeze(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0);
	int dim = ag_dim_of(f->ctx, arg_i(f, 1), a->ndim + 1);

	return dim >= 0 && ag_give(f, ag_unsqueezed(f->ctx, a, dim));
}

bool op_run_narrow(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0);
	int dim = ag_dim(f->ctx, a, arg_i(f, 1));
	int64_t start = arg_i(f, 2), length = arg_i(f, 3), size;

	if (dim < 0)
		return false;
	if (!a->ndim)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "narrow() cannot be applied to a 0-dim tensor.");
	size = a->shape[dim];
	start = start < 0 ? start + size : start;
	if (start < 0 || length < 0 || start > size || length > size - start)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "start (%lld) + length (%lld) exceeds dimension size (%lld).",
		               (long long)start, (long long)length, (long long)size);
	return ag_give(f, ag_slice_step(f->ctx, a, dim, start, start + length, 1));
}

bool op_run_slice(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0);
	int dim = ag_dim(f->ctx, a, arg_i(f, 1));

	if (dim < 0 || !a->ndim)
		return ag_fail(f->ctx, AG_ERR_INDEX,
		               "slice() cannot be applied to a 0-dim tensor.");
	if (arg_i(f, 4) <= 0)
		return ag_fail(f->ctx, AG_ERR_VALUE, "slice step must be positive");
	return ag_give(f, ag_slice_step(f->ctx, a, dim, arg_i(f, 2),
	                                arg_none(f, 3) ? a->shape[dim] : arg_i(f, 3), arg_i(f, 4)));
}

bool op_run_as_strided(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0);
	int64_t shape[AG_MAX_DIMS], strides[AG_MAX_DIMS], last, offset;
	int64_t ints[4 * AG_MAX_DIMS + 3], size = (int64_t)ag_dtype_size((enum ag_dtype)a->dtype);
	int n = arg_ints(f, 1, shape, AG_MAX_DIMS), k = arg_ints(f, 2, strides, AG_MAX_DIMS), d;
	char text[128];

	if (n < 0 || k != n)
		return ag_fail(f->ctx, AG_ERR_RUNTIME, "mismatch in length of strides and shape");
	offset = arg_none(f, 3) ? a->offset : arg_i(f, 3);
	if (!ag_check_shape(f->ctx, n, shape))
		return false;
	last = 0;
	for (d = 0; d < n; d++) {
		if (strides[d] < 0)
			return ag_fail(f->ctx, AG_ERR_RUNTIME,
			               "as_strided: Negative strides are not supported at the "
			               "moment, got strides: %s",
			               ag_shape_text(n, strides, text, sizeof(text)));
		last = ag_within(last + (shape[d] ? ag_times(strides[d], shape[d] - 1) : 0));
	}
	if (offset < 0 || last > AG_MOST_ELEMENTS ||
	    (ag_count(n, shape) && last + offset >= (int64_t)a->storage->bytes / size))
		return ag_fail(
		        f->ctx, AG_ERR_RUNTIME,
		        "setStorage: sizes and strides are out of bounds for storage of size %llu",
		        (unsigned long long)a->storage->bytes);
	ints[0] = a->ndim;
	ints[1] = n;
	ints[2] = offset - a->offset;
	memcpy(ints + 3, a->shape, a->ndim * sizeof(*ints));
	memcpy(ints + 3 + a->ndim, a->strides, a->ndim * sizeof(*ints));
	memcpy(ints + 3 + 2 * a->ndim, shape, (size_t)n * sizeof(*ints));
	memcpy(ints + 3 + 2 * a->ndim + n, strides, (size_t)n * sizeof(*ints));
	return ag_give_view(f, ag_alias(a, n, shape, strides, offset), a, AG_NODE_AsStrided, ints,
	                    3u + 2u * a->ndim + 2u * (uint32_t)n);
}

bool op_run_diagonal(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0), *v;
	int d0 = ag_dim(f->ctx, a, arg_i(f, 2)), d1 = ag_dim(f->ctx, a, arg_i(f, 3)), d, n = 0;
	int64_t shift = arg_i(f, 1), size, first, plain_first;
	int64_t shape[AG_MAX_DIMS], strides[AG_MAX_DIMS], plain[AG_MAX_DIMS], inner[AG_MAX_DIMS];
	int64_t ints[2 * AG_MAX_DIMS + 2];

	if (d0 < 0 || d1 < 0)
		return false;
	if (d0 == d1)
		return ag_fail(f->ctx, AG_ERR_RUNTIME, "diagonal dimensions cannot be identical");
	ag_contiguous_strides(a->ndim, a->shape, plain);
	for (d = 0; d < a->ndim; d++) {
		if (d == d0 || d == d1)
			continue;
		shape[n] = a->shape[d];
		strides[n] = a->strides[d];
		inner[n++] = plain[d];
	}
	size = shift >= 0
	               ? (a->shape[d0] < a->shape[d1] - shift ? a->shape[d0] : a->shape[d1] - shift)
	               : (a->shape[d0] + shift < a->shape[d1] ? a->shape[d0] + shift
	                                                      : a->shape[d1]);
	size = size < 0 ? 0 : size;
	first = !size ? 0 : shift >= 0 ? shift * a->strides[d1] : -shift * a->strides[d0];
	plain_first = !size ? 0 : shift >= 0 ? shift * plain[d1] : -shift * plain[d0];
	shape[n] = size;
	strides[n] = a->strides[d0] + a->strides[d1];
	inner[n++] = plain[d0] + plain[d1];
	v = ag_alias(a, n, shape, strides, a->offset + first);
	ints[0] = a->ndim;
	memcpy(ints + 1, a->shape, a->ndim * sizeof(*ints));
	memcpy(ints + 1 + a->ndim, inner, (size_t)n * sizeof(*ints));
	ints[1 + a->ndim + n] = plain_first;
	return ag_give_view(f, v, a, AG_NODE_Diagonal, ints, 2u + a->ndim + (uint32_t)n);
}

bool op_run_unfold(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0), *v;
	int dim = ag_dim(f->ctx, a, arg_i(f, 1)), n = a->ndim;
	int64_t size = arg_i(f, 2), step = arg_i(f, 3);
	int64_t shape[AG_MAX_DIMS], strides[AG_MAX_DIMS], plain[AG_MAX_DIMS];
	int64_t ints[2 * AG_MAX_DIMS + 2];

	if (dim < 0)
		return false;
	if (!n || n == AG_MAX_DIMS || step <= 0 || size < 0 || size > a->shape[dim])
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "maximum size for tensor at dimension %d is %lld but size is %lld",
		               dim, (long long)(n ? a->shape[dim] : 1), (long long)size);
	memcpy(shape, a->shape, sizeof(shape));
	memcpy(strides, a->strides, sizeof(strides));
	ag_contiguous_strides(n, a->shape, plain);
	shape[dim] = (a->shape[dim] - size) / step + 1;
	shape[n] = size;
	strides[n] = a->strides[dim];
	strides[dim] = ag_times(strides[dim], step);
	plain[n] = plain[dim];
	plain[dim] = ag_times(plain[dim], step);
	v = ag_alias(a, n + 1, shape, strides, a->offset);
	ints[0] = n;
	memcpy(ints + 1, a->shape, (size_t)n * sizeof(*ints));
	memcpy(ints + 1 + n, plain, (size_t)(n + 1) * sizeof(*ints));
	ints[2 + 2 * n] = 0;
	return ag_give_view(f, v, a, AG_NODE_Unfold, ints, 3u + 2u * (uint32_t)n);
}

bool op_run_view_as_real(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0), *v;
	int64_t shape[AG_MAX_DIMS], strides[AG_MAX_DIMS];
	int d;

	if (a->dtype != AG_C64 && a->dtype != AG_C128)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "view_as_real is only supported for complex tensors");
	if (a->ndim == AG_MAX_DIMS)
		return ag_fail(f->ctx, AG_ERR_RUNTIME, "too many dimensions");
	for (d = 0; d < a->ndim; d++) {
		shape[d] = a->shape[d];
		strides[d] = ag_times(a->strides[d], 2);
	}
	shape[d] = 2;
	strides[d] = 1;
	v = ag_alias(a, d + 1, shape, strides, a->offset * 2);
	if (v)
		v->dtype = a->dtype == AG_C64 ? AG_F32 : AG_F64;
	return ag_give_view(f, v, a, AG_NODE_ViewAsReal, NULL, 0);
}

/* Pairs of floats seen as complex; a fresh contiguous gradient allows that. */
bool bw_ViewAsReal(struct ag_bw *b)
{
	struct ag_ctx *c = B_CTX;
	struct ag_tensor *g = op_contiguous(c, B_GRAD), *v;

	if (!g)
		return false;
	v = scoped(c, ag_alias(g, g->ndim - 1, g->shape, NULL, g->offset / 2));
	if (v)
		v->dtype = g->dtype == AG_F32 ? AG_C64 : AG_C128;
	B_SET(0, v);
	return true;
}

/* ---- short forms for formulas */

struct ag_tensor *op_view(struct ag_ctx *ctx, struct ag_tensor *a, int ndim, const int64_t *shape)
{
	return a ? scoped(ctx, ag_reshaped(ctx, a, ndim, shape, AG_NODE_View)) : NULL;
}

struct ag_tensor *op_reshape(struct ag_ctx *ctx, struct ag_tensor *a, int ndim,
                             const int64_t *shape)
{
	return a ? scoped(ctx, ag_reshape(ctx, a, ndim, shape)) : NULL;
}

struct ag_tensor *op_expand(struct ag_ctx *ctx, struct ag_tensor *a, int ndim, const int64_t *shape)
{
	return a ? scoped(ctx, ag_expand(ctx, a, ndim, shape)) : NULL;
}

struct ag_tensor *op_permute(struct ag_ctx *ctx, struct ag_tensor *a, const int64_t *dims, int n)
{
	return a ? scoped(ctx, ag_permute(ctx, a, dims, n)) : NULL;
}

struct ag_tensor *op_transpose(struct ag_ctx *ctx, struct ag_tensor *a, int64_t d0, int64_t d1)
{
	struct ag_value v[3] = {ag_arg(a), ag_int(d0), ag_int(d1)};

	return op_call(ctx, AG_OP_transpose, v, 3);
}

struct ag_tensor *op_narrow(struct ag_ctx *ctx, struct ag_tensor *a, int64_t dim, int64_t start,
                            int64_t length)
{
	struct ag_value v[4] = {ag_arg(a), ag_int(dim), ag_int(start), ag_int(length)};

	return op_call(ctx, AG_OP_narrow, v, 4);
}

struct ag_tensor *op_select(struct ag_ctx *ctx, struct ag_tensor *a, int64_t dim, int64_t index)
{
	struct ag_value v[3] = {ag_arg(a), ag_int(dim), ag_int(index)};

	return op_call(ctx, AG_OP_select, v, 3);
}

struct ag_tensor *op_as_strided(struct ag_ctx *ctx, struct ag_tensor *a, int ndim,
                                const int64_t *shape, const int64_t *strides, int64_t offset)
{
	struct ag_value sizes[AG_MAX_DIMS], steps[AG_MAX_DIMS], v[4];
	int d;

	if (!a)
		return NULL;
	for (d = 0; d < ndim; d++) {
		sizes[d] = ag_int(shape[d]);
		steps[d] = ag_int(strides[d]);
	}
	v[0] = ag_arg(a);
	v[1] = ag_list(sizes, (size_t)ndim);
	v[2] = ag_list(steps, (size_t)ndim);
	v[3] = ag_int(a->offset + offset);
	return op_call(ctx, AG_OP_as_strided, v, 4);
}
