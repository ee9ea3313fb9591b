/* Views of every kind, and the formulas that undo them. */

#include <stdlib.h>
#include <string.h>

#include "runtime/op.h"
#include "runtime/shape.h"

bool ag_view_strides(const struct ag_tensor *t, int ndim, const int64_t *shape, int64_t *strides)
{
	int64_t chunk, t_numel = 1, view_numel = 1;
	int d, v = ndim - 1;

	if (!t->numel || !t->ndim) {
		ag_contiguous_strides(ndim, shape, strides);
		return true;
	}
	chunk = t->strides[t->ndim - 1];
	for (d = t->ndim - 1; d >= 0; d--) {
		t_numel *= t->shape[d];
		if (d && (t->shape[d - 1] == 1 || t->strides[d - 1] == ag_times(t_numel, chunk)))
			continue;
		while (v >= 0 && (view_numel < t_numel || shape[v] == 1)) {
			strides[v] = ag_times(view_numel, chunk);
			view_numel *= shape[v];
			v--;
		}
		if (view_numel != t_numel)
			return false;
		if (d) {
			chunk = t->strides[d - 1];
			t_numel = 1;
			view_numel = 1;
		}
	}
	return v == -1;
}

static bool wrong_shape(struct ag_ctx *ctx, int ndim, const int64_t *shape, int64_t numel)
{
	char text[128];

	return ag_fail(ctx, AG_ERR_RUNTIME, "shape '%s' is invalid for input of size %lld",
	               ag_shape_text(ndim, shape, text, sizeof(text)), (long long)numel);
}

bool ag_infer_shape(struct ag_ctx *ctx, int ndim, int64_t *shape, int64_t numel)
{
	int64_t known = 1;
	int hole = -1, i;
	char text[128];

	for (i = 0; i < ndim; i++) {
		if (shape[i] == -1 && hole >= 0)
			return ag_fail(ctx, AG_ERR_RUNTIME, "only one dimension can be inferred");
		if (shape[i] < -1)
			return ag_fail(ctx, AG_ERR_RUNTIME, "invalid shape dimension %lld",
			               (long long)shape[i]);
		if (shape[i] == -1)
			hole = i;
		else if (shape[i] && known > INT64_MAX / shape[i])
			return wrong_shape(ctx, ndim, shape, numel);
		else
			known *= shape[i];
	}
	if (hole >= 0 && known == 0)
		return ag_fail(ctx, AG_ERR_RUNTIME,
		               "cannot reshape tensor of 0 elements into shape %s because the "
		               "unspecified dimension size -1 can be any value and is ambiguous",
		               ag_shape_text(ndim, shape, text, sizeof(text)));
	if (hole >= 0 ? numel % known != 0 : numel != known)
		return wrong_shape(ctx, ndim, shape, numel);
	if (hole >= 0)
		shape[hole] = numel / known;
	return true;
}

/* The words [ndim, shape...] that formulas restore a shape from. */
static uint32_t shape_words(const struct ag_tensor *t, int64_t *ints)
{
	ints[0] = t->ndim;
	memcpy(ints + 1, t->shape, t->ndim * sizeof(*ints));
	return 1u + t->ndim;
}

static struct ag_tensor *incompatible(struct ag_ctx *ctx)
{
	return ag_null(ctx, AG_ERR_RUNTIME,
	               "view size is not compatible with input tensor's size and stride (at least "
	               "one dimension spans across two contiguous subspaces). Use .reshape(...) "
	               "instead.");
}

struct ag_tensor *ag_reshaped(struct ag_ctx *ctx, struct ag_tensor *t, int ndim,
                              const int64_t *shape, enum ag_node_kind kind)
{
	int64_t strides[AG_MAX_DIMS], ints[AG_MAX_DIMS + 1];

	if (!ag_view_strides(t, ndim, shape, strides))
		return incompatible(ctx);
	return ag_view_of(ctx, ag_alias(t, ndim, shape, strides, t->offset), t, kind, ints,
	                  shape_words(t, ints));
}

struct ag_tensor *ag_unsafe_view(struct ag_ctx *ctx, struct ag_tensor *t, int ndim,
                                 const int64_t *shape)
{
	int64_t strides[AG_MAX_DIMS];
	struct ag_tensor *v;
	struct ag_node *n;

	if (!ag_view_strides(t, ndim, shape, strides))
		return incompatible(ctx);
	n = ag_record1(ctx, AG_NODE_UnsafeView, t, 0, 1u + t->ndim);
	v = ag_alias(t, ndim, shape, strides, t->offset);
	if (n && v) {
		shape_words(t, n->ints);
		ag_set_history(v, n);
	}
	ag_node_release(n);
	return v;
}

struct ag_tensor *ag_reshape(struct ag_ctx *ctx, struct ag_tensor *t, int ndim,
                             const int64_t *shape)
{
	int64_t strides[AG_MAX_DIMS];
	struct ag_tensor *copy, *out;
	struct ag_value v[1] = {ag_arg(t)};

	/* Where a view would do PyTorch's composite calls view or _reshape_alias. */
	if (ag_view_strides(t, ndim, shape, strides))
		return ag_reshaped(ctx, t, ndim, shape,
		                   ag_is_contiguous(t) ? AG_NODE_View : AG_NODE_ReshapeAlias);
	copy = ag_run1(ctx, AG_OP_clone_contiguous, v, 1);
	out = copy ? ag_unsafe_view(ctx, copy, ndim, shape) : NULL;
	ag_release(copy);
	return out;
}

bool bw_View(struct ag_bw *b)
{
	B_SET(0, op_reshape(B_CTX, B_GRAD, (int)b->node->ints[0], b->node->ints + 1));
	return true;
}

bool bw_UnsafeView(struct ag_bw *b)
{
	return bw_View(b);
}

bool bw_ReshapeAlias(struct ag_bw *b)
{
	return bw_View(b);
}

bool bw_Squeeze(struct ag_bw *b)
{
	return bw_View(b);
}

bool bw_SqueezeDim(struct ag_bw *b)
{
	return bw_View(b);
}

bool bw_SqueezeInplace(struct ag_bw *b)
{
	return bw_View(b);
}

bool bw_SqueezeDims(struct ag_bw *b)
{
	return bw_View(b);
}

struct ag_tensor *ag_expand(struct ag_ctx *ctx, struct ag_tensor *t, int ndim, const int64_t *shape)
{
	int64_t to[AG_MAX_DIMS], strides[AG_MAX_DIMS], ints[AG_MAX_DIMS + 1];
	int shift = ndim - t->ndim, d;
	char a[128], e[128];

	if (shift < 0)
		return ag_null(
		        ctx, AG_ERR_RUNTIME,
		        "expand(torch.FloatTensor{%s}, size=%s): the number of sizes provided (%d) "
		        "must be greater or equal to the number of dimensions in the tensor (%d)",
		        ag_shape_text(t->ndim, t->shape, a, sizeof(a)),
		        ag_shape_text(ndim, shape, e, sizeof(e)), ndim, t->ndim);
	for (d = 0; d < ndim; d++) {
		bool old = d >= shift;
		int64_t size = old ? t->shape[d - shift] : 1;

		to[d] = shape[d] == -1 ? size : shape[d];
		strides[d] = old && (size != 1 || to[d] == 1) ? t->strides[d - shift] : 0;
		if ((shape[d] == -1 && !old) || (size != 1 && to[d] != size))
			return ag_null(ctx, AG_ERR_RUNTIME,
			               "The expanded size of the tensor (%lld) must match the "
			               "existing size (%lld) at non-singleton dimension %d.  "
			               "Target sizes: %s.  Tensor sizes: %s",
			               (long long)to[d], (long long)size, d,
			               ag_shape_text(ndim, shape, e, sizeof(e)),
			               ag_shape_text(t->ndim, t->shape, a, sizeof(a)));
	}
	return ag_view_of(ctx, ag_alias(t, ndim, to, strides, t->offset), t, AG_NODE_Expand, ints,
	                  shape_words(t, ints));
}

bool bw_Expand(struct ag_bw *b)
{
	B_SET(0, op_sum_to(B_CTX, B_GRAD, (int)b->node->ints[0], b->node->ints + 1));
	return true;
}

struct ag_tensor *ag_permute(struct ag_ctx *ctx, struct ag_tensor *t, const int64_t *dims, int n)
{
	int64_t shape[AG_MAX_DIMS], strides[AG_MAX_DIMS], ints[AG_MAX_DIMS];
	unsigned seen = 0;
	int i, d;

	if (n != t->ndim)
		return ag_null(ctx, AG_ERR_RUNTIME,
		               "permute(sparse_coo): number of dimensions in the tensor input does "
		               "not match the length of the desired ordering of dimensions i.e. "
		               "input.dim() = %d is not equal to len(dims) = %d",
		               t->ndim, n);
	for (i = 0; i < n; i++) {
		d = ag_dim(ctx, t, dims[i]);
		if (d < 0)
			return NULL;
		if (seen >> d & 1)
			return ag_null(ctx, AG_ERR_RUNTIME,
			               "permute(): duplicate dims are not allowed.");
		seen |= 1u << d;
		shape[i] = t->shape[d];
		strides[i] = t->strides[d];
		ints[i] = d;
	}
	return ag_view_of(ctx, ag_alias(t, n, shape, strides, t->offset), t, AG_NODE_Permute, ints,
	                  (uint32_t)n);
}

bool bw_Permute(struct ag_bw *b)
{
	int64_t back[AG_MAX_DIMS];
	int i, n = b->node->nints;

	for (i = 0; i < n; i++)
		back[b->node->ints[i]] = i;
	B_SET(0, op_permute(B_CTX, B_GRAD, back, n));
	return true;
}

static struct ag_tensor *swapped(struct ag_tensor *t, int d0, int d1)
{
	int64_t shape[AG_MAX_DIMS], strides[AG_MAX_DIMS];

	memcpy(shape, t->shape, sizeof(shape));
	memcpy(strides, t->strides, sizeof(strides));
	shape[d0] = t->shape[d1];
	shape[d1] = t->shape[d0];
	strides[d0] = t->strides[d1];
	strides[d1] = t->strides[d0];
	return ag_alias(t, t->ndim, shape, strides, t->offset);
}

struct ag_tensor *ag_swap(struct ag_ctx *ctx, struct ag_tensor *t, int d0, int d1)
{
	int64_t ints[2] = {d0, d1};

	return ag_view_of(ctx, swapped(t, d0, d1), t, AG_NODE_Transpose, ints, 2);
}

bool bw_Transpose(struct ag_bw *b)
{
	B_SET(0, op_transpose(B_CTX, B_GRAD, b->node->ints[0], b->node->ints[1]));
	return true;
}

bool op_run_t(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0);

	if (a->ndim > 2)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "t() expects a tensor with <= 2 dimensions, but self is %dD",
		               a->ndim);
	return ag_give_view(f, a->ndim == 2 ? swapped(a, 0, 1) : ag_alias_same(a), a, AG_NODE_T,
	                    NULL, 0);
}

bool bw_T(struct ag_bw *b)
{
	B_SET(0, op_t(B_CTX, B_GRAD));
	return true;
}

struct ag_tensor *ag_unsqueezed(struct ag_ctx *ctx, struct ag_tensor *t, int dim)
{
	int64_t shape[AG_MAX_DIMS], strides[AG_MAX_DIMS], ints[1] = {dim};
	int d;

	if (t->ndim == AG_MAX_DIMS)
		return ag_null(ctx, AG_ERR_RUNTIME,
		               "tensors of more than %d dimensions are not supported", AG_MAX_DIMS);
	for (d = 0; d <= t->ndim; d++) {
		int from = d > dim ? d - 1 : d;

		shape[d] = d == dim ? 1 : t->shape[from];
		strides[d] = d != dim         ? t->strides[from]
		             : from < t->ndim ? ag_times(t->shape[from], t->strides[from])
		                              : 1;
	}
	return ag_view_of(ctx, ag_alias(t, t->ndim + 1, shape, strides, t->offset), t,
	                  AG_NODE_Unsqueeze, ints, 1);
}

bool bw_Unsqueeze(struct ag_bw *b)
{
	struct ag_value v[2] = {ag_arg(B_GRAD), ag_int(b->node->ints[0])};

	B_SET(0, op_call(B_CTX, AG_OP_squeeze_dim, v, 2));
	return true;
}

/* [ndim, shape..., strides of the view in a contiguous base..., offset] */
static void embed_words(const struct ag_tensor *v, const struct ag_tensor *t, int64_t *ints,
                        const int64_t *base_strides, int64_t offset)
{
	ints[0] = t->ndim;
	memcpy(ints + 1, t->shape, t->ndim * sizeof(*ints));
	ints += 1 + t->ndim;
	memcpy(ints, base_strides, v->ndim * sizeof(*ints));
	ints[v->ndim] = offset;
}

struct ag_tensor *ag_slice_step(struct ag_ctx *ctx, struct ag_tensor *t, int dim, int64_t start,
                                int64_t stop, int64_t step)
{
	int64_t shape[AG_MAX_DIMS], strides[AG_MAX_DIMS], plain[AG_MAX_DIMS];
	int64_t ints[2 * AG_MAX_DIMS + 2], size = t->shape[dim];
	struct ag_tensor *v;
	int64_t first;

	start = start < 0 ? start + size : start;
	stop = stop < 0 ? stop + size : stop;
	start = start < 0 ? 0 : start > size ? size : start;
	stop = stop < start ? start : stop > size ? size : stop;
	memcpy(shape, t->shape, sizeof(shape));
	memcpy(strides, t->strides, sizeof(strides));
	shape[dim] = (stop - start + step - 1) / step;
	strides[dim] = ag_times(t->strides[dim], step);
	v = ag_alias(t, t->ndim, shape, strides, t->offset + ag_times(start, t->strides[dim]));
	ag_contiguous_strides(t->ndim, t->shape, plain);
	first = start * plain[dim];
	plain[dim] = ag_within(ag_times(plain[dim], step));
	embed_words(v, t, ints, plain, first);
	return ag_view_of(ctx, v, t, AG_NODE_Slice, ints, 2u * t->ndim + 2);
}

static struct ag_tensor *embed(struct ag_ctx *ctx, struct ag_tensor *grad, const int64_t *ints)
{
	int n = (int)ints[0], i;
	struct ag_value shape[AG_MAX_DIMS], strides[AG_MAX_DIMS], v[4];

	if (!grad)
		return NULL;
	for (i = 0; i < n; i++)
		shape[i] = ag_int(ints[1 + i]);
	for (i = 0; i < grad->ndim; i++)
		strides[i] = ag_int(ints[1 + n + i]);
	v[0] = ag_arg(grad);
	v[1] = ag_list(shape, (size_t)n);
	v[2] = ag_list(strides, grad->ndim);
	v[3] = ag_int(ints[1 + n + grad->ndim]);
	return op_call(ctx, AG_OP_embed, v, 4);
}

bool bw_Slice(struct ag_bw *b)
{
	B_SET(0, embed(B_CTX, B_GRAD, b->node->ints));
	return true;
}

bool bw_Select(struct ag_bw *b)
{
	return bw_Slice(b);
}

bool bw_Diagonal(struct ag_bw *b)
{
	return bw_Slice(b);
}

bool bw_Unfold(struct ag_bw *b)
{
	return bw_Slice(b);
}

static struct ag_tensor *select_view(struct ag_ctx *ctx, struct ag_tensor *t, int dim,
                                     int64_t index)
{
	int64_t shape[AG_MAX_DIMS], strides[AG_MAX_DIMS], plain[AG_MAX_DIMS], inner[AG_MAX_DIMS];
	int64_t ints[2 * AG_MAX_DIMS + 2];
	struct ag_tensor *v;
	int d, n = 0;

	ag_contiguous_strides(t->ndim, t->shape, plain);
	for (d = 0; d < t->ndim; d++) {
		if (d == dim)
			continue;
		shape[n] = t->shape[d];
		strides[n] = t->strides[d];
		inner[n++] = plain[d];
	}
	v = ag_alias(t, n, shape, strides, t->offset + ag_times(index, t->strides[dim]));
	embed_words(v, t, ints, inner, index * plain[dim]);
	return ag_view_of(ctx, v, t, AG_NODE_Select, ints, 1u + t->ndim + (uint32_t)n + 1);
}

bool op_run_select(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0);
	int64_t index = arg_i(f, 2), size;
	int dim;

	if (!a->ndim)
		return ag_fail(f->ctx, AG_ERR_INDEX,
		               "select() cannot be applied to a 0-dim tensor.");
	dim = ag_dim(f->ctx, a, arg_i(f, 1));
	if (dim < 0)
		return false;
	size = a->shape[dim];
	if (index < -size || index >= size)
		return ag_fail(f->ctx, AG_ERR_INDEX,
		               "index %lld is out of bounds for dimension %d with size %lld",
		               (long long)index, dim, (long long)size);
	return ag_give(f, select_view(f->ctx, a, dim, index < 0 ? index + size : index));
}

/* grad placed into zeros of `shape`; elements that overlap are added */
bool op_run_embed(struct ag_frame *f)
{
	struct ag_tensor *grad = arg_t(f, 0), *out;
	int64_t shape[AG_MAX_DIMS], strides[AG_MAX_DIMS], words[2 * AG_MAX_DIMS + 2], i;
	int64_t index[AG_MAX_DIMS] = {0}, at;
	int n = arg_ints(f, 1, shape, AG_MAX_DIMS), k = arg_ints(f, 2, strides, AG_MAX_DIMS), d;
	struct ag_node *node;
	double *from, *to;

	if (n < 0 || k != grad->ndim)
		return false;
	out = ag_make(f->ctx, (enum ag_dtype)grad->dtype, n, shape, true);
	if (!out)
		return false;
	node = ag_record1(f->ctx, AG_NODE_Embed, grad, 0, 2u * grad->ndim + 2);
	if (node) {
		words[0] = k;
		memcpy(words + 1, grad->shape, (size_t)k * sizeof(*words));
		memcpy(words + 1 + k, strides, (size_t)k * sizeof(*words));
		words[1 + 2 * k] = arg_i(f, 3);
		memcpy(node->ints, words, (2u * grad->ndim + 2) * sizeof(*words));
	}
	if (ag_ready1(out, grad) && grad->numel) {
		from = ag_plain(grad);
		to = ag_plain(out);
		for (i = 0, at = arg_i(f, 3); i < grad->numel; i++) {
			/* as_strided may have left what its base is seen as. */
			if (at >= 0 && at < out->numel)
				to[at] += from[i];
			for (d = k - 1; d >= 0; d--) {
				at += strides[d];
				if (++index[d] < grad->shape[d])
					break;
				index[d] = 0;
				at -= strides[d] * grad->shape[d];
			}
		}
		ag_put_plain(out, to);
		free(from);
		free(to);
	}
	return ag_finish(f, out, node);
}

bool bw_Embed(struct ag_bw *b)
{
	const int64_t *w = b->node->ints;
	int k = (int)w[0];

	if (B_WANT(0))
		B_SET(0, op_clone(B_CTX, op_as_strided(B_CTX, op_contiguous(B_CTX, B_GRAD), k,
		                                       w + 1, w + 1 + k, w[1 + 2 * k])));
	return true;
}

/* A base whose strides are not the plain ones is a permutation of one that is:
 * embed in that one, then view it as the base. */
static struct ag_tensor *embed_in(struct ag_ctx *ctx, struct ag_tensor *grad, int n,
                                  const int64_t *shape, const int64_t *strides,
                                  const int64_t *view_strides, int64_t offset)
{
	int64_t words[2 * AG_MAX_DIMS + 2], order[AG_MAX_DIMS], back[AG_MAX_DIMS];
	int i, j;

	if (!grad)
		return NULL;
	for (i = 0; i < n; i++) {
		for (j = i; j > 0 && strides[order[j - 1]] < strides[i]; j--)
			order[j] = order[j - 1];
		order[j] = i;
	}
	words[0] = n;
	for (i = 0; i < n; i++) {
		words[1 + i] = shape[order[i]];
		back[order[i]] = i;
	}
	memcpy(words + 1 + n, view_strides, grad->ndim * sizeof(*words));
	words[1 + n + grad->ndim] = offset;
	return op_permute(ctx, embed(ctx, grad, words), back, n);
}

/* [base ndim, view ndim, offset, base shape, base strides, shape, strides] */
bool bw_AsStrided(struct ag_bw *b)
{
	const int64_t *w = b->node->ints;
	int n = (int)w[0], k = (int)w[1];

	B_SET(0, embed_in(B_CTX, B_GRAD, n, w + 3, w + 3 + n, w + 3 + 2 * n + k, w[2]));
	return true;
}

struct ag_tensor *ag_first_dims_swapped(struct ag_tensor *x)
{
	int64_t shape[AG_MAX_DIMS], strides[AG_MAX_DIMS];

	memcpy(shape, x->shape, sizeof(shape));
	memcpy(strides, x->strides, sizeof(strides));
	shape[0] = x->shape[1];
	shape[1] = x->shape[0];
	strides[0] = x->strides[1];
	strides[1] = x->strides[0];
	return ag_alias(x, x->ndim, shape, strides, x->offset);
}
