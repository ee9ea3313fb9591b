/* Pieces of a tensor: views that are results of one node. */

#include <stdlib.h>
#include <string.h>

#include "runtime/element.h"
#include "runtime/op.h"
#include "runtime/shape.h"

/* All pieces are results of one node; formulas put their gradients together. */
static bool pieces(struct ag_frame *f, enum ag_node_kind kind, int dim, const int64_t *sizes,
                   uint32_t count, bool drop_dim)
{
	struct ag_tensor *a = arg_t(f, 0);
	struct ag_node *node = ag_record1(f->ctx, kind, a, 0, 3u + a->ndim + count);
	int64_t start = 0;
	uint32_t i;

	if (node) {
		node->ints[0] = dim;
		node->ints[1] = a->dtype;
		node->ints[2] = a->ndim;
		memcpy(node->ints + 3, a->shape, a->ndim * sizeof(int64_t));
		memcpy(node->ints + 3 + a->ndim, sizes, count * sizeof(int64_t));
	}
	for (i = 0; i < count; i++) {
		int64_t shape[AG_MAX_DIMS], strides[AG_MAX_DIMS];
		struct ag_tensor *v;
		int d, n = 0;

		for (d = 0; d < a->ndim; d++) {
			if (d == dim && drop_dim)
				continue;
			shape[n] = d == dim ? sizes[i] : a->shape[d];
			strides[n++] = a->strides[d];
		}
		v = ag_alias(a, n, shape, strides, a->offset + ag_times(start, a->strides[dim]));
		start += sizes[i];
		if (kind == AG_NODE_UnsafeSplit)
			ag_own_version(v);
		if (kind != AG_NODE_UnsafeSplit)
			ag_make_view(v, a, node, AG_VIEW_MULTI);
		else if (node)
			ag_set_history(v, node);
		ag_give(f, v);
	}
	ag_node_release(node);
	return true;
}

/* `pieces_of_none`: how many a size of zero gives. */
static bool split_even(struct ag_frame *f, enum ag_node_kind kind, int dim, int64_t size,
                       int64_t pieces_of_none)
{
	struct ag_tensor *a = arg_t(f, 0);
	int64_t total = a->shape[dim], n, i, *sizes;
	bool good;

	if (size < 0 || (size == 0 && total))
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "split expects split_size be non-negative, but got split_size=%lld",
		               (long long)size);
	n = size ? (total + size - 1) / size : 0;
	n = n < 1 ? pieces_of_none : n;
	if (n > UINT16_MAX)
		return ag_fail(f->ctx, AG_ERR_RUNTIME, "more than %d pieces are not supported",
		               UINT16_MAX);
	sizes = ag_alloc((size_t)n, sizeof(*sizes));
	for (i = 0; i < n; i++)
		sizes[i] = i < n - 1 ? size : total - size * (n - 1);
	good = pieces(f, kind, dim, sizes, (uint32_t)n, false);
	free(sizes);
	return good;
}

static int split_dim(struct ag_frame *f, uint32_t i)
{
	if (!arg_t(f, 0)->ndim) {
		ag_fail(f->ctx, AG_ERR_RUNTIME, "%s expects at least a 1-dimensional tensor",
		        ag_op_info(f->op)->id);
		return -1;
	}
	return ag_dim(f->ctx, arg_t(f, 0), arg_i(f, i));
}

bool op_run_split(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0);
	int dim = split_dim(f, 2);
	int64_t *sizes, sum = 0;
	uint32_t i, n;
	bool good;

	if (dim < 0)
		return false;
	if (f->v[1].kind != AG_LIST)
		return split_even(f, AG_NODE_Split, dim, arg_i(f, 1), 1);
	n = f->v[1].count;
	sizes = ag_alloc(n, sizeof(*sizes));
	for (i = 0; i < n; i++) {
		sizes[i] = ag_within(ag_value_int(&f->v[1].as.list[i]));
		sum = sizes[i] < 0 || sum < 0 ? -1 : ag_within(sum + sizes[i]);
	}
	if (sum == a->shape[dim] && n <= UINT16_MAX)
		good = pieces(f, AG_NODE_SplitSizes, dim, sizes, n, false);
	else
		good = ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "split_with_sizes expects split_sizes to sum exactly to %lld (input "
		               "tensor's size at dimension %d)",
		               (long long)a->shape[dim], dim);
	free(sizes);
	return good;
}

static bool chunks(struct ag_frame *f, enum ag_node_kind kind)
{
	int dim = split_dim(f, 2);
	int64_t n = arg_i(f, 1), size;

	if (dim < 0)
		return false;
	if (n <= 0)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "chunk expects `chunks` to be greater than 0, got: %lld",
		               (long long)n);
	size = (arg_t(f, 0)->shape[dim] + n - 1) / n;
	return split_even(f, kind, dim, size, n);
}

bool op_run_chunk(struct ag_frame *f)
{
	return chunks(f, AG_NODE_Split);
}

bool op_run_unsafe_chunk(struct ag_frame *f)
{
	return chunks(f, AG_NODE_UnsafeSplit);
}

bool op_run_unbind(struct ag_frame *f)
{
	int dim = split_dim(f, 1);
	int64_t n, i, *sizes;
	bool good;

	if (dim < 0)
		return false;
	n = arg_t(f, 0)->shape[dim];
	if (n > UINT16_MAX)
		return ag_fail(f->ctx, AG_ERR_RUNTIME, "more than %d pieces are not supported",
		               UINT16_MAX);
	sizes = ag_alloc((size_t)n, sizeof(*sizes));
	for (i = 0; i < n; i++)
		sizes[i] = 1;
	good = pieces(f, AG_NODE_Unbind, dim, sizes, (uint32_t)n, true);
	free(sizes);
	return good;
}

static bool pieces_backward(struct ag_bw *b, enum ag_op op)
{
	const int64_t *w = b->node->ints, *sizes;
	int ndim = (int)w[2], n = b->node->nresults, i;
	struct ag_value *list = ag_alloc((size_t)n + 1, sizeof(*list)), v[2];

	sizes = w + 3 + ndim;
	for (i = 0; i < n; i++) {
		struct ag_tensor *g = b->grads[i];
		int64_t shape[AG_MAX_DIMS];
		int d, k = 0;

		for (d = 0; d < ndim && !g; d++) {
			if (d != w[0] || op != AG_OP_stack)
				shape[k++] = d == w[0] ? sizes[i] : w[3 + d];
		}
		list[i] = ag_arg(g ? g : op_zeros(B_CTX, (enum ag_dtype)w[1], k, shape));
	}
	v[0] = ag_list(list, (size_t)n);
	v[1] = ag_int(w[0]);
	if (n)
		B_SET(0, op_call(B_CTX, op, v, 2));
	free(list);
	return true;
}

bool bw_Split(struct ag_bw *b)
{
	return pieces_backward(b, AG_OP_cat);
}

bool bw_SplitSizes(struct ag_bw *b)
{
	return pieces_backward(b, AG_OP_cat);
}

bool bw_UnsafeSplit(struct ag_bw *b)
{
	return pieces_backward(b, AG_OP_cat);
}

bool bw_Unbind(struct ag_bw *b)
{
	return pieces_backward(b, AG_OP_stack);
}
