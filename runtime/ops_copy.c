/* Copies, casts and fills. */

#include <string.h>

#include "runtime/element.h"
#include "runtime/op.h"

struct ag_tensor *ag_clone_as(struct ag_ctx *ctx, struct ag_tensor *a, const int64_t *strides)
{
	struct ag_tensor *out = ag_make(ctx, (enum ag_dtype)a->dtype, a->ndim, a->shape, true);
	struct ag_node *node;

	if (!out)
		return NULL;
	memcpy(out->strides, strides, a->ndim * sizeof(*strides));
	node = ag_record1(ctx, AG_NODE_Clone, a, 0, 0);
	ag_copy_data(out, a);
	if (node)
		ag_set_history(out, node);
	ag_node_release(node);
	return out;
}

struct ag_tensor *op_clone_strided(struct ag_ctx *ctx, struct ag_tensor *a, int ndim,
                                   const int64_t *shape, const int64_t *strides)
{
	int64_t plain[AG_MAX_DIMS];

	if (!a || !ag_shape_is(a, ndim, shape))
		return NULL;
	ag_contiguous_strides(ndim, shape, plain);
	return scoped(ctx, ag_clone_as(ctx, a, ag_count(ndim, shape) ? strides : plain));
}

static struct ag_tensor *clone_in(struct ag_ctx *ctx, struct ag_tensor *a, enum ag_format format)
{
	struct ag_tensor shaped = *a;

	ag_contiguous_strides(a->ndim, a->shape, shaped.strides);
	ag_lay_out(&shaped, format, a);
	return ag_clone_as(ctx, a, shaped.strides);
}

bool op_run_clone(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0);
	enum ag_format format = AG_PRESERVE;

	return ag_format_arg(f, 1, a->ndim, &format) && ag_give(f, clone_in(f->ctx, a, format));
}

bool op_run_clone_contiguous(struct ag_frame *f)
{
	return ag_give(f, clone_in(f->ctx, arg_t(f, 0), AG_CONTIGUOUS));
}

struct ag_tensor *op_contiguous_in(struct ag_ctx *ctx, struct ag_tensor *a, enum ag_format format)
{
	if (!a || ag_is_contiguous_in(a, format))
		return a;
	return scoped(ctx, clone_in(ctx, a, format));
}

bool bw_Clone(struct ag_bw *b)
{
	B_SET(0, B_GRAD);
	return true;
}

bool op_run_contiguous(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0);
	enum ag_format format = AG_CONTIGUOUS;

	if (!ag_format_arg(f, 1, a->ndim, &format))
		return false;
	if (format == AG_PRESERVE && !ag_is_contiguous(a))
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "preserve memory format is unsupported by the contiguous operator");
	return ag_give_ref(f, op_contiguous_in(f->ctx, a, format));
}

/* Of real numbers, all the same. */
bool op_run_conj(struct ag_frame *f)
{
	return ag_no_complex(f->ctx, arg_t(f, 0)) && ag_give_ref(f, arg_t(f, 0));
}

bool op_run_same(struct ag_frame *f)
{
	return ag_give_ref(f, arg_t(f, 0));
}

static bool detach_in_place(struct ag_ctx *ctx, struct ag_tensor *t)
{
	struct ag_node *fn = t->grad_fn;

	if (t->base)
		return ag_fail(ctx, AG_ERR_RUNTIME,
		               "Can't detach views in-place. Use detach() instead. If you are "
		               "using DistributedDataParallel (DDP) for training, and "
		               "gradient_as_bucket_view is set as True, gradients are views of DDP "
		               "buckets, and hence detach_() cannot be called on these gradients. "
		               "To fix this error, please refer to the Optimizer.zero_grad() "
		               "function in torch/optim/optimizer.py as a solution.");
	t->grad_fn = NULL;
	t->output_nr = 0;
	t->requires_grad = false;
	ag_node_release(fn);
	return true;
}

bool op_run_detach(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0);

	if (!f->inplace)
		return ag_give(f, ag_alias_same(a));
	return detach_in_place(f->ctx, a) && ag_give_ref(f, a);
}

bool op_run_data(struct ag_frame *f)
{
	return ag_give(f, ag_data_of(f->ctx, arg_t(f, 0)));
}

bool op_run_requires_grad_(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0);

	return ag_set_requires_grad(f->ctx, a, arg_b(f, 1)) && ag_give_ref(f, a);
}

bool op_run_retain_grad(struct ag_frame *f)
{
	return ag_retain_grad(f->ctx, arg_t(f, 0)) && ag_give_ref(f, arg_t(f, 0));
}

/* ---- in-place only: copy_, zero_, fill_ */

static bool expands(struct ag_frame *f, struct ag_tensor *self, struct ag_tensor *src)
{
	int shift = self->ndim - src->ndim, d;
	char a[128], b[128];

	for (d = 0; d < src->ndim && shift >= 0; d++) {
		if (src->shape[d] != 1 && src->shape[d] != self->shape[d + shift])
			shift = -1;
	}
	/* Leading dimensions of one are ignored, as assignments do. */
	if (shift < 0 && src->numel == 1 && self->numel >= 1)
		return true;
	return shift >= 0 || ag_fail(f->ctx, AG_ERR_RUNTIME,
	                             "The expanded size of the tensor must match the existing "
	                             "size. Target sizes: %s.  Tensor sizes: %s",
	                             ag_shape_text(self->ndim, self->shape, a, sizeof(a)),
	                             ag_shape_text(src->ndim, src->shape, b, sizeof(b)));
}

bool op_run_copy(struct ag_frame *f)
{
	struct ag_tensor *in[2] = {arg_t(f, 0), arg_t(f, 1)}, *out;
	struct ag_node *node;

	if (!expands(f, in[0], in[1]))
		return false;
	f->inplace = true;
	if (!ag_check_inplace(f->ctx, in[0], wants1(f->ctx, in[1])) ||
	    !ag_no_overlap(f->ctx, in[0]))
		return false;
	out = ag_retain(in[0]);
	node = ag_dtype_is_float((enum ag_dtype)out->dtype)
	               ? ag_record(f->ctx, AG_NODE_Copy, in, 2, 0, 1)
	               : NULL;
	if (node)
		node->ints[0] = in[1]->dtype;
	ag_copy_data(out, in[1]);
	return ag_finish(f, out, node);
}

bool bw_Copy(struct ag_bw *b)
{
	if (B_WANT(0))
		B_SET(0, op_zeros_as(B_CTX, B_GRAD));
	if (B_WANT(1))
		B_SET(1, op_cast(B_CTX, B_GRAD, (enum ag_dtype)b->node->ints[0]));
	return true;
}

static bool fill_with(struct ag_frame *f, enum ag_node_kind kind, double value)
{
	struct ag_tensor *a = arg_t(f, 0), *out;
	struct ag_node *node;

	f->inplace = true;
	if (!ag_check_inplace(f->ctx, a, false))
		return false;
	out = ag_retain(a);
	node = ag_record1(f->ctx, kind, a, 0, 0);
	if (!out->storage->data && !f->ctx->meta && out->numel > 0 &&
	    (uint64_t)out->numel * ag_dtype_size((enum ag_dtype)out->dtype) ==
	            out->storage->bytes &&
	    out->storage->bytes <= f->ctx->options.data_cap)
		out->storage->data = ag_alloc(out->storage->bytes, 1);
	ag_fill_data(out, value);
	return ag_finish(f, out, node);
}

bool op_run_zero(struct ag_frame *f)
{
	return fill_with(f, AG_NODE_Zero, 0);
}

bool op_run_fill(struct ag_frame *f)
{
	struct ag_tensor *value = arg_t(f, 1), *in[2] = {arg_t(f, 0), value};
	struct ag_node *node;

	if (!value)
		return fill_with(f, AG_NODE_FillInplace, arg_f(f, 1));
	if (value->ndim)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "fill_ only supports 0-dimension value tensor but got tensor with "
		               "%d dimensions.",
		               value->ndim);
	f->inplace = true;
	if (!ag_check_inplace(f->ctx, in[0], wants1(f->ctx, value)))
		return false;
	node = ag_record(f->ctx, AG_NODE_FillTensor, in, 2, 0, 0);
	ag_copy_data(in[0], value);
	return ag_finish(f, ag_retain(in[0]), node);
}

bool bw_Zero(struct ag_bw *b)
{
	B_SET(0, op_zeros_as(B_CTX, B_GRAD));
	return true;
}

bool bw_Fill(struct ag_bw *b)
{
	return bw_Zero(b);
}

bool bw_FillInplace(struct ag_bw *b)
{
	return bw_Fill(b);
}

bool bw_FillTensor(struct ag_bw *b)
{
	B_SET(0, op_zeros_as(B_CTX, B_GRAD));
	if (B_WANT(1))
		B_SET(1, op_sum(B_CTX, B_GRAD));
	return true;
}

/* ---- casts */

static struct ag_tensor *cast(struct ag_ctx *ctx, struct ag_tensor *a, enum ag_dtype dtype,
                              enum ag_format format, bool copy)
{
	bool stays = format == AG_PRESERVE || format == ag_format_of(a);
	struct ag_tensor *out;
	struct ag_node *node = NULL;

	if (a->dtype == dtype && stays && !copy)
		return ag_retain(a);
	out = ag_make(ctx, dtype, a->ndim, a->shape, true);
	if (!out)
		return NULL;
	ag_lay_out(out, format, a);
	if (ag_dtype_is_float(dtype))
		node = ag_record1(ctx, AG_NODE_ToCopy, a, 0, 1);
	if (node)
		node->ints[0] = a->dtype;
	ag_copy_data(out, a);
	if (node)
		ag_set_history(out, node);
	ag_node_release(node);
	return out;
}

struct ag_tensor *op_cast(struct ag_ctx *ctx, struct ag_tensor *a, enum ag_dtype dtype)
{
	return op_to(ctx, a, dtype, AG_PRESERVE);
}

struct ag_tensor *op_to(struct ag_ctx *ctx, struct ag_tensor *a, enum ag_dtype dtype,
                        enum ag_format format)
{
	return a ? scoped(ctx, cast(ctx, a, dtype, format, false)) : NULL;
}

bool bw_ToCopy(struct ag_bw *b)
{
	B_SET(0, op_cast(B_CTX, B_GRAD, (enum ag_dtype)b->node->ints[0]));
	return true;
}

/* to(dtype), to(device, dtype), to(tensor), with or without names */
bool op_run_to(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0);
	enum ag_dtype dtype = (enum ag_dtype)a->dtype;
	enum ag_format format = AG_PRESERVE;
	bool copy = arg_b(f, 3);
	uint32_t i;

	if (!ag_format_arg(f, 6, a->ndim, &format))
		return false;

	for (i = 1; i < f->count; i++) {
		if (f->v[i].kind == AG_DTYPE)
			dtype = f->v[i].as.dtype;
		if (f->v[i].kind == AG_TENSOR)
			dtype = (enum ag_dtype)f->v[i].as.tensor->dtype;
	}
	return ag_give(f, cast(f->ctx, a, dtype, format, copy));
}

static bool cast_to(struct ag_frame *f, enum ag_dtype dtype)
{
	struct ag_tensor *a = arg_t(f, 0);
	enum ag_format format = AG_PRESERVE;

	return ag_format_arg(f, 1, a->ndim, &format) &&
	       ag_give(f, cast(f->ctx, a, dtype, format, false));
}

#define CAST(id, dtype)                                                                            \
	bool op_run_##id(struct ag_frame *f)                                                       \
	{                                                                                          \
		return cast_to(f, dtype);                                                          \
	}

CAST(to_float, AG_F32)
CAST(to_double, AG_F64)
CAST(to_half, AG_F16)
CAST(to_bfloat16, AG_BF16)
CAST(to_long, AG_I64)
CAST(to_int, AG_I32)
CAST(to_short, AG_I16)
CAST(to_char, AG_I8)
CAST(to_byte, AG_U8)
CAST(to_bool, AG_BOOL8)
