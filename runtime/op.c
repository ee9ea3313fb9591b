/* What every family of ops shares: results, histories, promotion, short calls. */

#include <string.h>

#include "runtime/element.h"
#include "runtime/engine.h"
#include "runtime/op.h"

struct ag_tensor *op_call(struct ag_ctx *ctx, enum ag_op op, const struct ag_value *args,
                          uint32_t count)
{
	return scoped(ctx, ag_run1(ctx, op, args, count));
}

struct ag_tensor *op_inplace(struct ag_ctx *ctx, enum ag_op op, const struct ag_value *args,
                             uint32_t count)
{
	struct ag_results results;

	if (!ag_run_op(ctx, op, true, args, count, &results))
		return NULL;
	ag_results_release(&results);
	return args[0].as.tensor;
}

static bool inplace_fits(struct ag_frame *f, struct ag_tensor *self, enum ag_dtype dtype, int ndim,
                         const int64_t *shape)
{
	char a[128], b[128];

	if (!ag_shape_is(self, ndim, shape))
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "output with shape %s doesn't match the broadcast shape %s",
		               ag_shape_text(self->ndim, self->shape, a, sizeof(a)),
		               ag_shape_text(ndim, shape, b, sizeof(b)));
	if (ag_category(dtype) > ag_category((enum ag_dtype)self->dtype) &&
	    !(ag_op_info(f->op)->flags & AG_OPF_NOGRAD))
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "result type %s can't be cast to the desired output type %s",
		               ag_dtype_name(dtype), ag_dtype_name((enum ag_dtype)self->dtype));
	return true;
}

/* PyTorch warns only: the elements get one value, whichever is last. */
static bool overlap_is_fine(enum ag_op op)
{
	return op == AG_OP_masked_fill || op == AG_OP_index_fill || op == AG_OP_index_put;
}

struct ag_tensor *ag_result(struct ag_frame *f, enum ag_dtype dtype, int ndim, const int64_t *shape,
                            bool record)
{
	struct ag_tensor *self;

	if (!f->inplace)
		return ag_make(f->ctx, dtype, ndim, shape, true);
	self = arg_t(f, 0);
	if (!inplace_fits(f, self, dtype, ndim, shape) || !ag_check_inplace(f->ctx, self, record) ||
	    !(overlap_is_fine(f->op) || ag_no_overlap(f->ctx, self)))
		return NULL;
	return ag_retain(self);
}

bool ag_finish(struct ag_frame *f, struct ag_tensor *out, struct ag_node *node)
{
	if (f->inplace)
		ag_bump(out);
	if (node && f->inplace)
		ag_rebase_history(out, node);
	else if (node)
		ag_set_history(out, node);
	ag_node_release(node);
	return ag_give(f, out);
}

bool ag_finish_saving(struct ag_frame *f, struct ag_tensor *out, struct ag_node *node, uint32_t at)
{
	ag_node_retain(node);
	if (!ag_finish(f, out, node))
		return false;
	if (node)
		ag_save_output(node, at, out);
	ag_node_release(node);
	return true;
}

void ag_save_arg(struct ag_frame *f, struct ag_node *n, uint32_t i, struct ag_tensor *t)
{
	if (f->inplace && t == arg_t(f, 0))
		t = op_clone(f->ctx, t);
	ag_save_input(n, i, t);
}

/* Undefined takes part in promotion as nothing. */
static int promote_known(int a, int b)
{
	if (a < 0)
		return b;
	if (b < 0)
		return a;
	return (int)ag_promote((enum ag_dtype)a, (enum ag_dtype)b);
}

static int combine(int higher, int lower)
{
	int hc = higher < 0 ? -1 : ag_category((enum ag_dtype)higher);
	int lc = lower < 0 ? -1 : ag_category((enum ag_dtype)lower);

	if (hc == 3)
		return higher;
	if (hc == 2)
		return lc == 3 ? (higher == AG_F64 ? AG_C128 : AG_C64) : higher;
	if (higher < 0 || hc == 0 || lc >= 2)
		return promote_known(higher, lower);
	return higher;
}

enum ag_dtype ag_result_type(struct ag_ctx *ctx, const struct ag_value *values, uint32_t count)
{
	int dim = -1, zero = -1, wrapped = -1, result;
	uint32_t i;

	for (i = 0; i < count; i++) {
		const struct ag_value *v = &values[i];

		if (v->kind == AG_TENSOR && v->as.tensor) {
			int dtype = v->as.tensor->dtype;

			if (v->as.tensor->wrapped_number)
				wrapped = promote_known(wrapped,
				                        ag_category((enum ag_dtype)dtype) == 2
				                                ? (int)ctx->default_dtype
				                                : dtype);
			else if (v->as.tensor->ndim == 0)
				zero = promote_known(zero, dtype);
			else
				dim = promote_known(dim, dtype);
		} else if (v->kind == AG_FLOAT) {
			wrapped = promote_known(wrapped, (int)ctx->default_dtype);
		} else if (v->kind == AG_INT) {
			wrapped = promote_known(wrapped, AG_I64);
		} else if (v->kind == AG_BOOL) {
			wrapped = promote_known(wrapped, AG_BOOL8);
		}
	}
	result = combine(dim, combine(zero, wrapped));
	return result < 0 ? ctx->default_dtype : (enum ag_dtype)result;
}

bool ag_no_complex(struct ag_ctx *ctx, const struct ag_tensor *t)
{
	if (t && ag_category((enum ag_dtype)t->dtype) == 3)
		return ag_fail(ctx, AG_ERR_RUNTIME, "complex arithmetic is not supported");
	return true;
}

bool ag_need_float(struct ag_frame *f, const struct ag_tensor *t)
{
	if (ag_category((enum ag_dtype)t->dtype) == 2)
		return true;
	return ag_fail(f->ctx, AG_ERR_RUNTIME, "\"%s\" not implemented for '%s'",
	               ag_op_info(f->op)->id, ag_dtype_name((enum ag_dtype)t->dtype));
}

struct ag_node *ag_record(struct ag_ctx *ctx, enum ag_node_kind kind,
                          struct ag_tensor *const *inputs, uint32_t count, uint32_t nsaved,
                          uint32_t nints)
{
	struct ag_node *n;
	uint32_t i;

	if (!ag_wants_grad(ctx, inputs, count))
		return NULL;
	if (count > AG_MOST_OF_NODE || nsaved > AG_MOST_OF_NODE || nints > AG_MOST_OF_NODE) {
		ag_break(ctx, "more than %d tensors or sizes in one recorded call",
		         AG_MOST_OF_NODE);
		return NULL;
	}
	n = ag_node_new(ctx, kind, count, nsaved, nints);
	for (i = 0; i < count; i++) {
		if (inputs[i] && ag_requires_grad(inputs[i]))
			ag_node_connect(n, i, inputs[i]);
	}
	return n;
}

struct ag_tensor *ag_view_of(struct ag_ctx *ctx, struct ag_tensor *v, struct ag_tensor *t,
                             enum ag_node_kind kind, const int64_t *ints, uint32_t nints)
{
	struct ag_node *n;

	if (!v)
		return NULL;
	n = ag_record1(ctx, kind, t, 0, nints);
	if (n && nints)
		memcpy(n->ints, ints, nints * sizeof(*ints));
	ag_make_view(v, t, n, AG_VIEW_NORMAL);
	ag_node_release(n);
	return v;
}

bool ag_give_view(struct ag_frame *f, struct ag_tensor *v, struct ag_tensor *t,
                  enum ag_node_kind kind, const int64_t *ints, uint32_t nints)
{
	return ag_give(f, ag_view_of(f->ctx, v, t, kind, ints, nints));
}

struct ag_tensor *op_mul_n(struct ag_ctx *ctx, struct ag_tensor *a, double b)
{
	return b == 1 ? a : op_mul_number(ctx, a, b);
}

bool op_copy_(struct ag_ctx *ctx, struct ag_tensor *a, struct ag_tensor *b)
{
	struct ag_value v[2] = {ag_arg(a), ag_arg(b)};

	return a && b && op_inplace(ctx, AG_OP_copy, v, 2);
}

bool op_zero_(struct ag_ctx *ctx, struct ag_tensor *a)
{
	struct ag_value v[1] = {ag_arg(a)};

	return a && op_inplace(ctx, AG_OP_zero, v, 1);
}

struct ag_tensor *op_zeros(struct ag_ctx *ctx, enum ag_dtype dtype, int ndim, const int64_t *shape)
{
	return scoped(ctx, ag_make(ctx, dtype, ndim, shape, true));
}

struct ag_tensor *op_zeros_as(struct ag_ctx *ctx, struct ag_tensor *like)
{
	return like ? op_zeros(ctx, (enum ag_dtype)like->dtype, like->ndim, like->shape) : NULL;
}

struct ag_tensor *op_unknown_as(struct ag_ctx *ctx, const struct ag_tensor *like)
{
	return like ? scoped(ctx, ag_make(ctx, (enum ag_dtype)like->dtype, like->ndim, like->shape,
	                                  false))
	            : NULL;
}

bool ag_bw_is_blind(const struct ag_ctx *ctx, struct ag_tensor *const *in, int count)
{
	int i;

	for (i = 0; i < count && !ctx->mode.enabled; i++) {
		if (in[i] && in[i]->numel && !ag_has_data(in[i]))
			return true;
	}
	return false;
}

struct ag_tensor *op_full_as(struct ag_ctx *ctx, struct ag_tensor *like, double value)
{
	struct ag_tensor *t = op_zeros_as(ctx, like);

	if (t)
		ag_fill_data(t, value);
	return t;
}

struct ag_tensor *ag_ones_like(struct ag_ctx *ctx, struct ag_tensor *t)
{
	struct ag_tensor *ones = ag_make(ctx, (enum ag_dtype)t->dtype, t->ndim, t->shape, true);

	if (ones)
		ag_fill_data(ones, 1);
	return ones;
}

struct ag_tensor *op_where_n(struct ag_ctx *ctx, struct ag_tensor *cond, struct ag_tensor *a,
                             double b)
{
	struct ag_value v[3] = {ag_arg(cond), ag_arg(a), ag_float(b)};

	return op_call(ctx, AG_OP_where, v, 3);
}
