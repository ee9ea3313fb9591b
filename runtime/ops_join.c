/* Joining, repeating and rearranging: results with storages of their own. */

#include <stdlib.h>
#include <string.h>

#include "runtime/element.h"
#include "runtime/op.h"
#include "runtime/shape.h"

/* Copies src into the part of out that begins at `start` along `dim`. */
static void put_part(struct ag_tensor *out, struct ag_tensor *src, int dim, int64_t start)
{
	struct ag_tensor part = *out;

	part.offset += start * out->strides[dim];
	part.shape[dim] = src->shape[dim];
	part.numel = src->numel;
	ag_copy_data(&part, src);
}

static bool list_of(struct ag_frame *f, struct ag_tensor ***list, uint32_t *count)
{
	uint32_t i;

	*count = arg_list(f, 0);
	if (!*count)
		return ag_fail(f->ctx, AG_ERR_RUNTIME, "%s expects a non-empty TensorList",
		               ag_op_info(f->op)->id);
	*list = ag_alloc(*count, sizeof(**list));
	for (i = 0; i < *count; i++) {
		(*list)[i] = arg_list_t(f, 0, i);
		if (!(*list)[i]) {
			free(*list);
			return ag_fail(f->ctx, AG_ERR_TYPE, "expected Tensor as element %u", i);
		}
	}
	return true;
}

static enum ag_dtype common_dtype(struct ag_ctx *ctx, struct ag_tensor **list, uint32_t count)
{
	struct ag_value v[2];
	enum ag_dtype dtype = (enum ag_dtype)list[0]->dtype;
	uint32_t i;

	for (i = 1; i < count; i++) {
		if (list[i]->dtype == dtype)
			continue;
		v[0] = ag_arg(list[0]);
		v[1] = ag_arg(list[i]);
		dtype = ag_promote(dtype, ag_result_type(ctx, v, 2));
	}
	return dtype;
}

/* Old code passes empty 1-D tensors, which cat leaves out. */
static bool left_out(const struct ag_tensor *t)
{
	return t->ndim == 1 && t->shape[0] == 0;
}

static bool cat_shape(struct ag_ctx *ctx, struct ag_tensor **list, uint32_t count, int64_t dim_arg,
                      struct ag_tensor **model, int *dim, int64_t *shape)
{
	uint32_t i;
	int d;

	*model = list[0];
	for (i = 0; i < count && left_out(*model); i++)
		*model = list[i];
	if (!(*model)->ndim)
		return ag_fail(ctx, AG_ERR_RUNTIME,
		               "zero-dimensional tensor (at position 0) cannot be concatenated");
	*dim = ag_dim(ctx, *model, dim_arg);
	if (*dim < 0)
		return false;
	memcpy(shape, (*model)->shape, sizeof((*model)->shape));
	shape[*dim] = 0;
	for (i = 0; i < count; i++) {
		if (left_out(list[i]) && (*model)->ndim != 1)
			continue;
		if (list[i]->ndim != (*model)->ndim)
			return ag_fail(ctx, AG_ERR_RUNTIME,
			               "Tensors must have same number of dimensions: got %d and %d",
			               (*model)->ndim, list[i]->ndim);
		for (d = 0; d < (*model)->ndim; d++) {
			if (d != *dim && list[i]->shape[d] != (*model)->shape[d])
				return ag_fail(ctx, AG_ERR_RUNTIME,
				               "Sizes of tensors must match except in dimension "
				               "%d. Expected size %lld but got size %lld for "
				               "tensor number %u in the list.",
				               *dim, (long long)(*model)->shape[d],
				               (long long)list[i]->shape[d], i);
		}
		shape[*dim] += list[i]->shape[*dim];
		if (!ag_check_shape(ctx, (*model)->ndim, shape))
			return false;
	}
	return true;
}

/* The format that all of them suggest. */
static enum ag_format common_format(struct ag_tensor *const *list, uint32_t count)
{
	enum ag_format format = count ? ag_format_of(list[0]) : AG_CONTIGUOUS;
	uint32_t i;

	for (i = 1; i < count; i++)
		format = ag_format_of(list[i]) == format ? format : AG_CONTIGUOUS;
	return format;
}

static bool cat(struct ag_frame *f, struct ag_tensor **list, uint32_t count)
{
	struct ag_tensor *model, *out;
	int64_t shape[AG_MAX_DIMS], start = 0;
	struct ag_node *node;
	uint32_t i;
	int dim = 0;

	if (!cat_shape(f->ctx, list, count, arg_i(f, 1), &model, &dim, shape))
		return false;
	out = ag_make(f->ctx, common_dtype(f->ctx, list, count), model->ndim, shape, true);
	if (!out)
		return false;
	ag_lay_out(out, common_format(list, count), out);
	node = ag_record(f->ctx, AG_NODE_Cat, list, count, 0, 1 + count);
	for (i = 0; i < count; i++) {
		int64_t size = left_out(list[i]) && model->ndim != 1 ? -1 : list[i]->shape[dim];

		if (node)
			node->ints[1 + i] = size;
		if (size <= 0)
			continue;
		put_part(out, list[i], dim, start);
		start += size;
	}
	if (node)
		node->ints[0] = dim;
	return ag_finish(f, out, node);
}

bool op_run_cat(struct ag_frame *f)
{
	struct ag_tensor **list;
	uint32_t count;
	bool good;

	if (!list_of(f, &list, &count))
		return false;
	good = cat(f, list, count);
	free(list);
	return good;
}

bool bw_Cat(struct ag_bw *b)
{
	const int64_t *w = b->node->ints;
	int64_t start = 0;
	uint32_t i;

	for (i = 0; i < b->node->nedges; i++) {
		int64_t zero = 0;

		if (w[1 + i] < 0) {
			B_SET(i, op_zeros(B_CTX, (enum ag_dtype)B_GRAD->dtype, 1, &zero));
			continue;
		}
		if (B_WANT(i))
			B_SET(i, op_narrow(B_CTX, B_GRAD, w[0], start, w[1 + i]));
		start += w[1 + i];
	}
	return true;
}

/* But for a new last dimension a stack is a view of what cat would make. */
static void stack_layout(struct ag_tensor *out, int dim, const struct ag_tensor *part,
                         enum ag_format format)
{
	struct ag_tensor joined = *part;
	int d;

	if (dim == part->ndim || format == AG_CONTIGUOUS)
		return;
	joined.shape[dim] *= out->shape[dim];
	ag_put_channels_last(&joined);
	for (d = 0; d < part->ndim; d++)
		out->strides[d < dim ? d : d + 1] = joined.strides[d];
	out->strides[dim] = part->shape[dim] * joined.strides[dim];
}

static bool stack(struct ag_frame *f, struct ag_tensor **list, uint32_t count)
{
	int dim = ag_dim_of(f->ctx, arg_i(f, 1), list[0]->ndim + 1), d;
	int64_t shape[AG_MAX_DIMS + 1];
	struct ag_node *node;
	struct ag_tensor *out;
	char a[128], e[128];
	uint32_t i;

	if (dim < 0)
		return false;
	for (i = 1; i < count; i++) {
		if (!ag_same_shape(list[0], list[i]))
			return ag_fail(f->ctx, AG_ERR_RUNTIME,
			               "stack expects each tensor to be equal size, but got %s at "
			               "entry 0 and %s at entry %u",
			               ag_shape_text(list[0]->ndim, list[0]->shape, a, sizeof(a)),
			               ag_shape_text(list[i]->ndim, list[i]->shape, e, sizeof(e)),
			               i);
	}
	for (d = 0; d <= list[0]->ndim; d++)
		shape[d] = d == dim ? count : list[0]->shape[d > dim ? d - 1 : d];
	out = ag_make(f->ctx, common_dtype(f->ctx, list, count), list[0]->ndim + 1, shape, true);
	if (!out)
		return false;
	stack_layout(out, dim, list[0], common_format(list, count));
	node = ag_record(f->ctx, AG_NODE_Stack, list, count, 0, 1);
	if (node)
		node->ints[0] = dim;
	for (i = 0; i < count; i++) {
		struct ag_tensor part = *out;

		part.offset += (int64_t)i * out->strides[dim];
		part.ndim--;
		part.numel = list[i]->numel;
		for (d = 0; d < part.ndim; d++) {
			part.shape[d] = out->shape[d >= dim ? d + 1 : d];
			part.strides[d] = out->strides[d >= dim ? d + 1 : d];
		}
		ag_copy_data(&part, list[i]);
	}
	return ag_finish(f, out, node);
}

bool op_run_stack(struct ag_frame *f)
{
	struct ag_tensor **list;
	uint32_t count;
	bool good;

	if (!list_of(f, &list, &count))
		return false;
	good = stack(f, list, count);
	free(list);
	return good;
}

/* One unbind serves all, as in PyTorch: the pieces share a storage. */
bool bw_Stack(struct ag_bw *b)
{
	uint32_t i;

	for (i = 0; i < b->node->nedges; i++) {
		if (B_WANT(i))
			B_SET(i, op_select(B_CTX, B_GRAD, b->node->ints[0], i));
	}
	return true;
}
