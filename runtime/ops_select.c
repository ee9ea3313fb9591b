/* Choosing and mixing pointwise: where, masked_fill, clamp, lerp, addcmul. */

#include <math.h>

#include "runtime/element.h"
#include "runtime/op.h"

/* The common shape of up to three operands. */
static bool broadcast3(struct ag_ctx *ctx, struct ag_tensor *const *in, int n, int *ndim,
                       int64_t *shape)
{
	struct ag_tensor all = *in[0];
	int i;

	for (i = 1; i < n; i++) {
		if (!in[i])
			continue;
		if (!ag_broadcast(ctx, &all, in[i], ndim, shape))
			return false;
		all.ndim = (uint8_t)*ndim;
		ag_set_shape(&all, *ndim, shape, NULL);
	}
	*ndim = all.ndim;
	for (i = 0; i < all.ndim; i++)
		shape[i] = all.shape[i];
	return true;
}

static struct ag_tensor *operand(struct ag_frame *f, uint32_t i)
{
	if (f->v[i].kind == AG_TENSOR)
		return f->v[i].as.tensor;
	return scoped(f->ctx, ag_wrapped(f->ctx, &f->v[i]));
}

static void map_where(int64_t n, double *out, const double *const *in, const double *p)
{
	int64_t i;

	(void)p;
	for (i = 0; i < n; i++)
		out[i] = in[0][i] != 0 ? in[1][i] : in[2][i];
}

static void imap_where(int64_t n, int64_t *out, const int64_t *const *in, const double *p)
{
	int64_t i;

	(void)p;
	for (i = 0; i < n; i++)
		out[i] = in[0][i] ? in[1][i] : in[2][i];
}

bool op_run_where(struct ag_frame *f)
{
	struct ag_tensor *in[3] = {arg_t(f, 0), operand(f, 1), operand(f, 2)}, *out;
	struct ag_value both[2];
	int64_t shape[AG_MAX_DIMS];
	struct ag_node *node;
	enum ag_dtype dtype;
	int ndim;

	if (!in[1] || !in[2])
		return false;
	if (in[0]->dtype != AG_BOOL8 && in[0]->dtype != AG_U8)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "where expected condition to be a boolean tensor, but got a tensor "
		               "with dtype %s",
		               ag_dtype_name((enum ag_dtype)in[0]->dtype));
	if (!broadcast3(f->ctx, in, 3, &ndim, shape))
		return false;
	both[0] = ag_arg(in[1]);
	both[1] = ag_arg(in[2]);
	dtype = ag_result_type(f->ctx, both, 2);
	out = ag_make(f->ctx, dtype, ndim, shape, true);
	if (!out)
		return false;
	ag_layout(out, in, 3);
	node = ag_record(f->ctx, AG_NODE_Where, in + 1, 2, 1, 0);
	if (node)
		ag_save_input(node, 0, in[0]);
	if (ag_category(dtype) < 2)
		ag_imap(out, in, 3, imap_where, NULL);
	else
		ag_map(out, in, 3, map_where, NULL);
	return ag_finish(f, out, node);
}

bool bw_Where(struct ag_bw *b)
{
	struct ag_ctx *c = B_CTX;
	struct ag_tensor *cond = B_SAVED(0);

	if (!cond)
		return false;
	if (B_WANT(0))
		B_SET(0, op_where_n(c, cond, B_GRAD, 0));
	if (B_WANT(1)) {
		struct ag_value v[3] = {ag_arg(cond), ag_float(0), ag_arg(B_GRAD)};

		B_SET(1, op_call(c, AG_OP_where, v, 3));
	}
	return true;
}

bool op_run_masked_fill(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0), *mask = arg_t(f, 1), *value = operand(f, 2), *out;
	struct ag_tensor *in[3] = {mask, value, a}, *edges[2] = {a, arg_t(f, 2)};
	int64_t shape[AG_MAX_DIMS];
	struct ag_node *node;
	int ndim;

	if (!value)
		return false;
	if (value->ndim)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "masked_fill_ only supports a 0-dimensional value tensor, but got "
		               "tensor with %d dimension(s).",
		               value->ndim);
	if (mask->dtype != AG_BOOL8)
		return ag_fail(
		        f->ctx, AG_ERR_RUNTIME,
		        "masked_fill_ only supports boolean masks, but got mask with dtype %s",
		        ag_dtype_name((enum ag_dtype)mask->dtype));
	if (!ag_broadcast(f->ctx, a, mask, &ndim, shape))
		return false;
	out = ag_result(f, (enum ag_dtype)a->dtype, ndim, shape, wants2(f->ctx, a, edges[1]));
	if (!out)
		return false;
	node = ag_record(f->ctx, edges[1] ? AG_NODE_MaskedFillTensor : AG_NODE_MaskedFill, edges,
	                 edges[1] ? 2 : 1, 1, 0);
	if (node)
		ag_save_input(node, 0, mask);
	if (ag_category((enum ag_dtype)a->dtype) < 2)
		ag_imap(out, in, 3, imap_where, NULL);
	else
		ag_map(out, in, 3, map_where, NULL);
	return ag_finish(f, out, node);
}

static struct ag_tensor *without(struct ag_bw *b)
{
	struct ag_value v[3] = {ag_arg(B_GRAD), ag_arg(B_SAVED(0)), ag_float(0)};

	return op_call(B_CTX, AG_OP_masked_fill, v, 3);
}

bool bw_MaskedFill(struct ag_bw *b)
{
	B_SET(0, without(b));
	return true;
}

bool bw_MaskedFillTensor(struct ag_bw *b)
{
	if (B_WANT(0))
		B_SET(0, without(b));
	if (B_WANT(1))
		B_SET(1, op_sum(B_CTX, op_where_n(B_CTX, B_SAVED(0), B_GRAD, 0)));
	return true;
}

/* ---- clamp with tensors: the bounds' gradients count where they hold */

static void map_clamp(int64_t n, double *out, const double *const *in, const double *p)
{
	int64_t i;

	for (i = 0; i < n; i++) {
		double x = in[0][i], low = in[1][i], high = in[2][i];

		if (p[0] != 0 && (isnan(low) || x < low))
			x = low;
		if (p[1] != 0 && (isnan(high) || x > high))
			x = high;
		out[i] = x;
	}
}

bool op_run_clamp_tensor(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0), *min = arg_t(f, 1), *max = arg_t(f, 2), *out;
	struct ag_tensor *in[3] = {a, min ? min : a, max ? max : a}, *edges[3] = {a, min, max};
	double p[2] = {min != NULL, max != NULL};
	struct ag_value values[3] = {ag_arg(a), ag_arg(min ? min : a), ag_arg(max ? max : a)};
	int64_t shape[AG_MAX_DIMS];
	struct ag_node *node;
	int ndim;

	if (!min && !max)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "torch.clamp: At least one of 'min' or 'max' must not be None");
	if (!broadcast3(f->ctx, in, 3, &ndim, shape))
		return false;
	out = ag_result_like(f, ag_result_type(f->ctx, values, 3), ndim, shape,
	                     ag_wants_grad(f->ctx, edges, 3), in, 3);
	if (!out)
		return false;
	node = ag_record(f->ctx, AG_NODE_ClampTensor, edges, 3, 3, 0);
	if (node) {
		ag_save_input(node, 0, max);
		ag_save_input(node, 1, min);
		ag_save_arg(f, node, 2, a);
	}
	ag_map(out, in, 3, map_clamp, p);
	return ag_finish(f, out, node);
}

bool bw_ClampTensor(struct ag_bw *b)
{
	struct ag_ctx *c = B_CTX;
	struct ag_tensor *max = B_SAVED(0), *min = B_SAVED(1), *self = B_SAVED(2), *g = B_GRAD, *ok;

	if (!self || c->error.status != AG_OK)
		return false;
	if (B_WANT(0)) {
		ok = min ? op_ge(c, self, min) : op_le(c, self, max);
		if (min && max)
			ok = op_logical_and(c, ok, op_le(c, self, max));
		B_SET(0, op_where_n(c, ok, g, 0));
	}
	if (B_WANT(1)) {
		ok = op_lt(c, self, min);
		if (max)
			ok = op_logical_and(c, ok, op_lt(c, min, max));
		B_SET(1, op_where_n(c, ok, g, 0));
	}
	if (B_WANT(2)) {
		ok = op_gt(c, self, max);
		if (min) {
			struct ag_tensor *crossed = op_gt(c, min, max);
			struct ag_value v[2] = {ag_arg(ok), ag_arg(crossed)};

			ok = op_call(c, AG_OP_logical_or, v, 2);
		}
		B_SET(2, op_where_n(c, ok, g, 0));
	}
	return true;
}

/* ---- lerp: start + weight * (end - start) */

static void map_lerp(int64_t n, double *out, const double *const *in, const double *p)
{
	int64_t i;

	(void)p;
	for (i = 0; i < n; i++)
		out[i] = in[0][i] + in[2][i] * (in[1][i] - in[0][i]);
}

bool op_run_lerp(struct ag_frame *f)
{
	bool number = f->v[2].kind != AG_TENSOR;
	struct ag_tensor *in[3] = {arg_t(f, 0), arg_t(f, 1), operand(f, 2)}, *out;
	int64_t shape[AG_MAX_DIMS];
	struct ag_node *node;
	int ndim;

	if (!in[2] || !broadcast3(f->ctx, in, 3, &ndim, shape))
		return false;
	out = ag_result_like(f, (enum ag_dtype)in[0]->dtype, ndim, shape,
	                     ag_wants_grad(f->ctx, in, 3), in, 3);
	if (!out)
		return false;
	node = ag_record(f->ctx, number ? AG_NODE_LerpScalar : AG_NODE_LerpTensor, in,
	                 number ? 2 : 3, number ? 0 : 3, 0);
	if (node && number)
		node->num[0] = arg_f(f, 2);
	if (node && !number) {
		bool weighed = node->edges[2].node != NULL;

		ag_save_arg(f, node, 0, weighed ? in[1] : NULL);
		ag_save_arg(f, node, 1, weighed ? in[0] : NULL);
		ag_save_input(node, 2, in[2]);
	}
	ag_map(out, in, 3, map_lerp, NULL);
	return ag_finish(f, out, node);
}

bool bw_LerpScalar(struct ag_bw *b)
{
	double w = b->node->num[0];

	if (B_WANT(0))
		B_SET(0, op_mul_number(B_CTX, B_GRAD, 1 - w));
	if (B_WANT(1))
		B_SET(1, op_mul_number(B_CTX, B_GRAD, w));
	return true;
}

bool bw_LerpTensor(struct ag_bw *b)
{
	struct ag_ctx *c = B_CTX;
	struct ag_tensor *w = B_SAVED(2);

	if (!w)
		return false;
	if (B_WANT(0))
		B_SET(0, op_mul(c, B_GRAD, op_add_n(c, op_neg(c, w), 1)));
	if (B_WANT(1))
		B_SET(1, op_mul(c, B_GRAD, w));
	if (B_WANT(2))
		B_SET(2, op_mul(c, B_GRAD, op_sub(c, B_SAVED(0), B_SAVED(1))));
	return true;
}

/* ---- addcmul, addcdiv */

static void map_addcmul(int64_t n, double *out, const double *const *in, const double *p)
{
	int64_t i;

	for (i = 0; i < n; i++)
		out[i] = in[0][i] + *p * in[1][i] * in[2][i];
}

static void map_addcdiv(int64_t n, double *out, const double *const *in, const double *p)
{
	int64_t i;

	for (i = 0; i < n; i++)
		out[i] = in[0][i] + *p * (in[1][i] / in[2][i]);
}

static bool addc(struct ag_frame *f, enum ag_node_kind kind, ag_map_fn *fn)
{
	struct ag_tensor *in[3] = {arg_t(f, 0), arg_t(f, 1), arg_t(f, 2)}, *out;
	struct ag_value values[3] = {ag_arg(in[0]), ag_arg(in[1]), ag_arg(in[2])};
	int64_t shape[AG_MAX_DIMS];
	double p = arg_f(f, 3);
	struct ag_node *node;
	int ndim;

	if (!broadcast3(f->ctx, in, 3, &ndim, shape))
		return false;
	out = ag_result_like(f, ag_result_type(f->ctx, values, 3), ndim, shape,
	                     ag_wants_grad(f->ctx, in, 3), in, 3);
	if (!out)
		return false;
	node = ag_record(f->ctx, kind, in, 3, 3, 0);
	if (node) {
		bool a = node->edges[1].node != NULL, d = node->edges[2].node != NULL;

		node->num[0] = p;
		if (kind == AG_NODE_Addcmul) {
			ag_save_arg(f, node, 0, d ? in[1] : NULL);
			ag_save_arg(f, node, 1, a ? in[2] : NULL);
		} else {
			ag_save_arg(f, node, 1, d ? in[1] : NULL);
			ag_save_arg(f, node, 2, a || d ? in[2] : NULL);
		}
	}
	ag_map(out, in, 3, fn, &p);
	return ag_finish(f, out, node);
}

bool op_run_addcmul(struct ag_frame *f)
{
	return addc(f, AG_NODE_Addcmul, map_addcmul);
}

bool op_run_addcdiv(struct ag_frame *f)
{
	return addc(f, AG_NODE_Addcdiv, map_addcdiv);
}

bool bw_Addcmul(struct ag_bw *b)
{
	struct ag_ctx *c = B_CTX;
	double p = b->node->num[0];

	B_SET(0, B_GRAD);
	if (B_WANT(1))
		B_SET(1, op_mul(c, B_GRAD, op_mul_number(c, B_SAVED(1), p)));
	if (B_WANT(2))
		B_SET(2, op_mul(c, B_GRAD, op_mul_number(c, B_SAVED(0), p)));
	return true;
}

bool bw_Addcdiv(struct ag_bw *b)
{
	struct ag_ctx *c = B_CTX;
	double p = b->node->num[0];

	B_SET(0, B_GRAD);
	if (B_WANT(1))
		B_SET(1, op_mul_number(c, op_div(c, B_GRAD, B_SAVED(2)), p));
	if (B_WANT(2)) {
		struct ag_tensor *d = B_SAVED(2);

		B_SET(2, op_mul(c, op_mul_number(c, B_GRAD, -p),
		                op_div(c, B_SAVED(1), op_mul(c, d, d))));
	}
	return true;
}

/* ---- nan_to_num */

static void map_nan_to_num(int64_t n, double *out, const double *const *in, const double *p)
{
	int64_t i;

	for (i = 0; i < n; i++) {
		double x = in[0][i];

		out[i] = isnan(x) ? p[0] : !isinf(x) ? x : x > 0 ? p[1] : p[2];
	}
}

bool op_run_nan_to_num(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0), *out;
	double top = a->dtype == AG_F64   ? 1.7976931348623157e308
	             : a->dtype == AG_F16 ? 65504
	                                  : 3.4028234663852886e38;
	double p[3] = {arg_f(f, 1), arg_none(f, 2) ? top : arg_f(f, 2),
	               arg_none(f, 3) ? -top : arg_f(f, 3)};
	struct ag_node *node;

	out = ag_result_like(f, (enum ag_dtype)a->dtype, a->ndim, a->shape, wants1(f->ctx, a), &a,
	                     1);
	if (!out)
		return false;
	node = ag_record1(f->ctx, AG_NODE_NanToNum, a, 1, 0);
	if (node)
		ag_save_arg(f, node, 0, a);
	ag_map(out, &a, 1, map_nan_to_num, p);
	return ag_finish(f, out, node);
}

bool bw_NanToNum(struct ag_bw *b)
{
	struct ag_tensor *self = B_SAVED(0);
	struct ag_value v[1] = {ag_arg(self)};

	B_SET(0, op_where_n(B_CTX, op_call(B_CTX, AG_OP_isfinite, v, 1), B_GRAD, 0));
	return true;
}
