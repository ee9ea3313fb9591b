/* Pointwise arithmetic and comparisons of two operands with broadcasting. */

#include <math.h>
#include <stdlib.h>

#include "runtime/binary.h"
#include "runtime/element.h"
#include "runtime/op.h"

static struct ag_tensor *operand(struct ag_frame *f, uint32_t i)
{
	if (f->v[i].kind == AG_TENSOR)
		return f->v[i].as.tensor;
	return scoped(f->ctx, ag_wrapped(f->ctx, &f->v[i]));
}

bool ag_binary_open(struct ag_frame *f, struct ag_binary *b)
{
	struct ag_value both[2];

	b->in[0] = operand(f, 0);
	b->in[1] = operand(f, 1);
	if (!b->in[0] || !b->in[1] || !ag_no_complex(f->ctx, b->in[0]) ||
	    !ag_no_complex(f->ctx, b->in[1]))
		return false;
	both[0] = ag_arg(b->in[0]);
	both[1] = ag_arg(b->in[1]);
	b->dtype = ag_result_type(f->ctx, both, 2);
	b->record = wants2(f->ctx, b->in[0], b->in[1]);
	return ag_broadcast(f->ctx, b->in[0], b->in[1], &b->ndim, b->shape);
}

struct ag_tensor *ag_binary_out(struct ag_frame *f, const struct ag_binary *b)
{
	struct ag_tensor *out = ag_result_like(f, b->dtype, b->ndim, b->shape, b->record, b->in, 2);
	int64_t cast = 0;
	int i;

	/* Operands of another dtype, numbers too, are cast beside the result. */
	for (i = 0; out && i < 2; i++) {
		if (b->in[i]->dtype != b->dtype)
			cast += b->in[i]->numel * (int64_t)ag_dtype_size(b->dtype);
	}
	ag_transient(f->ctx, cast);
	return out;
}

static struct ag_node *binary_node(struct ag_frame *f, struct ag_binary *b, enum ag_node_kind kind,
                                   uint32_t nsaved)
{
	return ag_record(f->ctx, kind, b->in, 2, nsaved, 0);
}

static bool needs(const struct ag_node *n, uint32_t i)
{
	return n->edges[i].node != NULL;
}

MAP2(map_add, double, x + *p * y)
MAP2(map_mul, double, x *y)
MAP2(map_div, double, x / y)
MAP2(map_div_floor, double, floor(x / y))
MAP2(map_div_trunc, double, trunc(x / y))
MAP2(map_max, double, isnan(x) ? x : isnan(y) ? y : x > y ? x : y)
MAP2(map_min, double, isnan(x) ? x : isnan(y) ? y : x < y ? x : y)
MAP2(map_pow, double, y == 2 ? x * x : y == 1 ? x : pow(x, y))
MAP2(map_atan2, double, atan2(x, y))
MAP2(map_fmod, double, fmod(x, y))
MAP2(map_remainder, double, x - y * floor(x / y))
MAP2(map_xlogy, double, isnan(y) ? y : x == 0 ? 0 : x * log(y))

static int64_t floor_div(int64_t x, int64_t y)
{
	int64_t q;

	if (y == 0)
		return 0;
	if (y == -1)
		return ag_wrap64(0 - (uint64_t)x);
	q = x / y;
	return q - (x % y != 0 && (x < 0) != (y < 0));
}

static int64_t trunc_div(int64_t x, int64_t y)
{
	return y == 0 ? 0 : y == -1 ? ag_wrap64(0 - (uint64_t)x) : x / y;
}

static int64_t int_pow(int64_t x, int64_t y)
{
	uint64_t result = 1, base = (uint64_t)x;

	if (y < 0)
		return x == 1 ? 1 : x == -1 ? (y % 2 ? -1 : 1) : 0;
	for (; y; y >>= 1) {
		if (y & 1)
			result *= base;
		base *= base;
	}
	return ag_wrap64(result);
}

MAP2(imap_add, int64_t, ag_wrap64((uint64_t)x + (uint64_t)ag_to_int(*p) * (uint64_t)y))
MAP2(imap_mul, int64_t, ag_wrap64((uint64_t)x *(uint64_t)y))
MAP2(imap_div_floor, int64_t, floor_div(x, y))
MAP2(imap_div_trunc, int64_t, trunc_div(x, y))
MAP2(imap_max, int64_t, x > y ? x : y)
MAP2(imap_min, int64_t, x < y ? x : y)
MAP2(imap_pow, int64_t, int_pow(x, y))
MAP2(imap_fmod, int64_t, y == 0 || y == -1 ? 0 : x % y)
MAP2(imap_remainder, int64_t, ag_wrap64((uint64_t)x - (uint64_t)floor_div(x, y) * (uint64_t)y))

static void compute(struct ag_binary *b, struct ag_tensor *out, ag_map_fn *fn, ag_imap_fn *ifn,
                    const double *p)
{
	if (ag_category(b->dtype) < 2 && ifn)
		ag_imap(out, b->in, 2, ifn, p);
	else
		ag_map(out, b->in, 2, fn, p);
}

static bool sum_of(struct ag_frame *f, enum ag_node_kind kind, double alpha)
{
	struct ag_binary b;
	struct ag_tensor *out;
	struct ag_node *node;
	double p = kind == AG_NODE_Add ? alpha : -alpha;

	if (!ag_binary_open(f, &b))
		return false;
	out = ag_binary_out(f, &b);
	if (!out)
		return false;
	node = binary_node(f, &b, kind, 0);
	if (node)
		node->num[0] = alpha;
	compute(&b, out, map_add, imap_add, &p);
	return ag_finish(f, out, node);
}

bool op_run_add(struct ag_frame *f)
{
	return sum_of(f, AG_NODE_Add, arg_f(f, 2));
}

bool bw_Add(struct ag_bw *b)
{
	B_SET(0, B_GRAD);
	B_SET(1, op_mul_n(B_CTX, B_GRAD, b->node->num[0]));
	return true;
}

bool op_run_sub(struct ag_frame *f)
{
	return sum_of(f, AG_NODE_Sub, arg_f(f, 2));
}

bool bw_Sub(struct ag_bw *b)
{
	B_SET(0, B_GRAD);
	if (B_WANT(1))
		B_SET(1, op_mul_n(B_CTX, op_neg(B_CTX, B_GRAD), b->node->num[0]));
	return true;
}

/* input, other, alpha: other - alpha * input */
bool op_run_rsub(struct ag_frame *f)
{
	struct ag_binary b;
	struct ag_tensor *out, *swap[2];
	struct ag_node *node;
	double p = -arg_f(f, 2);

	if (!ag_binary_open(f, &b))
		return false;
	out = ag_binary_out(f, &b);
	if (!out)
		return false;
	node = binary_node(f, &b, AG_NODE_Rsub, 0);
	if (node)
		node->num[0] = -p;
	swap[0] = b.in[1];
	swap[1] = b.in[0];
	b.in[0] = swap[0];
	b.in[1] = swap[1];
	compute(&b, out, map_add, imap_add, &p);
	return ag_finish(f, out, node);
}

bool bw_Rsub(struct ag_bw *b)
{
	if (B_WANT(0))
		B_SET(0, op_mul_n(B_CTX, op_neg(B_CTX, B_GRAD), b->node->num[0]));
	B_SET(1, B_GRAD);
	return true;
}

/* Saves each operand for the other's sake. */
static void save_crosswise(struct ag_frame *f, struct ag_node *node, const struct ag_binary *b)
{
	if (!node)
		return;
	if (needs(node, 0))
		ag_save_input(node, 0, b->in[1]);
	if (needs(node, 1))
		ag_save_arg(f, node, 1, b->in[0]);
}

bool op_run_mul(struct ag_frame *f)
{
	struct ag_binary b;
	struct ag_tensor *out;
	struct ag_node *node;

	if (!ag_binary_open(f, &b))
		return false;
	out = ag_binary_out(f, &b);
	if (!out)
		return false;
	node = binary_node(f, &b, AG_NODE_Mul, 2);
	save_crosswise(f, node, &b);
	compute(&b, out, map_mul, imap_mul, NULL);
	return ag_finish(f, out, node);
}

bool bw_Mul(struct ag_bw *b)
{
	if (B_WANT(0))
		B_SET(0, op_mul(B_CTX, B_GRAD, B_SAVED(0)));
	if (B_WANT(1))
		B_SET(1, op_mul(B_CTX, B_GRAD, B_SAVED(1)));
	return true;
}

/* What C++ makes of tensor * number: nothing is saved for it. */
static bool by_number(struct ag_frame *f, enum ag_node_kind kind, ag_map_fn *fn, ag_imap_fn *ifn)
{
	struct ag_binary b;
	struct ag_tensor *out;
	struct ag_node *node;

	if (!ag_binary_open(f, &b))
		return false;
	if (!ifn && ag_category(b.dtype) < 2)
		b.dtype = f->ctx->default_dtype;
	out = ag_binary_out(f, &b);
	if (!out)
		return false;
	node = ag_record1(f->ctx, kind, b.in[0], 0, 0);
	if (node)
		node->num[0] = arg_f(f, 1);
	compute(&b, out, fn, ifn, NULL);
	return ag_finish(f, out, node);
}

bool op_run_mul_scalar(struct ag_frame *f)
{
	return by_number(f, AG_NODE_MulScalar, map_mul, imap_mul);
}

bool bw_MulScalar(struct ag_bw *b)
{
	B_SET(0, op_mul_number(B_CTX, B_GRAD, b->node->num[0]));
	return true;
}

bool op_run_div_scalar(struct ag_frame *f)
{
	return by_number(f, AG_NODE_DivScalar, map_div, NULL);
}

bool bw_DivScalar(struct ag_bw *b)
{
	B_SET(0, op_div_n(B_CTX, B_GRAD, b->node->num[0]));
	return true;
}

/* Integers are not divided by zero, as far as they are known. */
static bool divisor_fits(struct ag_frame *f, const struct ag_binary *b)
{
	int64_t *values, i;
	bool fits = true;

	if (ag_category(b->dtype) >= 2 || !b->in[0]->numel)
		return true;
	values = ag_plain_ints(b->in[1]);
	for (i = 0; values && fits && i < b->in[1]->numel; i++)
		fits = values[i] != 0;
	free(values);
	return fits || ag_fail(f->ctx, AG_ERR_RUNTIME, "ZeroDivisionError");
}

static bool divide(struct ag_frame *f, enum ag_node_kind kind, ag_map_fn *fn, ag_imap_fn *ifn)
{
	struct ag_binary b;
	struct ag_tensor *out;
	struct ag_node *node;

	if (!ag_binary_open(f, &b) || (ifn && !divisor_fits(f, &b)))
		return false;
	if (!ifn && ag_category(b.dtype) < 2)
		b.dtype = f->ctx->default_dtype;
	out = ag_binary_out(f, &b);
	if (!out)
		return false;
	node = binary_node(f, &b, kind, 2);
	if (node && (kind == AG_NODE_Div || kind == AG_NODE_DivMode)) {
		ag_save_input(node, 0, b.in[1]);
		if (needs(node, 1))
			ag_save_arg(f, node, 1, b.in[0]);
	}
	compute(&b, out, fn, ifn, NULL);
	return ag_finish(f, out, node);
}

bool op_run_div(struct ag_frame *f)
{
	if (arg_text_is(f, 2, "floor"))
		return divide(f, AG_NODE_DivMode, map_div_floor, imap_div_floor);
	if (arg_text_is(f, 2, "trunc"))
		return divide(f, AG_NODE_DivMode, map_div_trunc, imap_div_trunc);
	return divide(f, AG_NODE_Div, map_div, NULL);
}

bool bw_Div(struct ag_bw *b)
{
	struct ag_ctx *c = B_CTX;
	struct ag_tensor *other = B_SAVED(0);

	if (B_WANT(0))
		B_SET(0, op_div(c, B_GRAD, other));
	if (B_WANT(1))
		B_SET(1,
		      op_mul(c, op_neg(c, B_GRAD), op_div(c, op_div(c, B_SAVED(1), other), other)));
	return true;
}

bool bw_DivMode(struct ag_bw *b)
{
	B_SET(0, op_zeros_as(B_CTX, B_GRAD));
	B_SET(1, op_zeros_as(B_CTX, B_GRAD));
	return true;
}

bool op_run_floor_divide(struct ag_frame *f)
{
	struct ag_binary b;
	struct ag_tensor *out;

	if (!ag_binary_open(f, &b) || !divisor_fits(f, &b))
		return false;
	b.record = false;
	out = ag_binary_out(f, &b);
	if (!out)
		return false;
	compute(&b, out, map_div_floor, imap_div_floor, NULL);
	return ag_finish(f, out, NULL);
}

/* Saves both operands, whoever wants them. */
static bool both_saved(struct ag_frame *f, enum ag_node_kind kind, ag_map_fn *fn, ag_imap_fn *ifn)
{
	struct ag_binary b;
	struct ag_tensor *out;
	struct ag_node *node;

	if (!ag_binary_open(f, &b))
		return false;
	if (!ifn && ag_category(b.dtype) < 2)
		b.dtype = f->ctx->default_dtype;
	out = ag_binary_out(f, &b);
	if (!out)
		return false;
	node = binary_node(f, &b, kind, 2);
	if (node) {
		ag_save_input(node, 0, b.in[1]);
		ag_save_arg(f, node, 1, b.in[0]);
	}
	compute(&b, out, fn, ifn, NULL);
	return ag_finish(f, out, node);
}

bool op_run_maximum(struct ag_frame *f)
{
	return both_saved(f, AG_NODE_Maximum, map_max, imap_max);
}

bool op_run_minimum(struct ag_frame *f)
{
	return both_saved(f, AG_NODE_Minimum, map_min, imap_min);
}

/* Ties share the gradient. */
static bool extremum(struct ag_bw *b, bool largest)
{
	struct ag_ctx *c = B_CTX;
	struct ag_tensor *other = B_SAVED(0), *self = B_SAVED(1), *half, *g = B_GRAD;
	struct ag_tensor *lose0, *lose1;

	if (!other || !self)
		return false;
	half = op_where_n(c, op_eq(c, self, other), op_div_n(c, g, 2), 0);
	lose0 = largest ? op_gt(c, self, other) : op_lt(c, self, other);
	lose1 = largest ? op_lt(c, self, other) : op_gt(c, self, other);
	B_SET(0, op_add(c, half, op_where_n(c, lose0, g, 0)));
	B_SET(1, op_add(c, half, op_where_n(c, lose1, g, 0)));
	return true;
}

bool bw_Maximum(struct ag_bw *b)
{
	return extremum(b, true);
}

bool bw_Minimum(struct ag_bw *b)
{
	return extremum(b, false);
}

bool op_run_atan2(struct ag_frame *f)
{
	return both_saved(f, AG_NODE_Atan2, map_atan2, NULL);
}

bool bw_Atan2(struct ag_bw *b)
{
	struct ag_ctx *c = B_CTX;
	struct ag_tensor *other = B_SAVED(0), *self = B_SAVED(1), *scale;

	scale = op_div(c, B_GRAD, op_add(c, op_mul(c, self, self), op_mul(c, other, other)));
	B_SET(0, op_mul(c, scale, other));
	B_SET(1, op_mul(c, op_neg(c, scale), self));
	return true;
}

static bool modulo(struct ag_frame *f, enum ag_node_kind by_number, enum ag_node_kind by_tensor,
                   ag_map_fn *fn, ag_imap_fn *ifn)
{
	struct ag_binary b;
	struct ag_tensor *out;
	struct ag_node *node;

	if (!ag_binary_open(f, &b) || !divisor_fits(f, &b))
		return false;
	if (f->v[1].kind == AG_TENSOR)
		return both_saved(f, by_tensor, fn, ifn);
	out = ag_binary_out(f, &b);
	if (!out)
		return false;
	node = binary_node(f, &b, by_number, 0);
	compute(&b, out, fn, ifn, NULL);
	return ag_finish(f, out, node);
}

bool op_run_fmod(struct ag_frame *f)
{
	return modulo(f, AG_NODE_Fmod, AG_NODE_FmodTensor, map_fmod, imap_fmod);
}

bool op_run_remainder(struct ag_frame *f)
{
	return modulo(f, AG_NODE_Remainder, AG_NODE_RemainderTensor, map_remainder, imap_remainder);
}

bool bw_Fmod(struct ag_bw *b)
{
	B_SET(0, B_GRAD);
	return true;
}

bool bw_Remainder(struct ag_bw *b)
{
	B_SET(0, B_GRAD);
	return true;
}

static bool modulo_backward(struct ag_bw *b, const char *mode)
{
	struct ag_ctx *c = B_CTX;
	struct ag_tensor *other = B_SAVED(0), *self = B_SAVED(1);
	struct ag_value v[3] = {ag_arg(self), ag_arg(other), ag_text(mode, 5)};

	B_SET(0, B_GRAD);
	if (B_WANT(1))
		B_SET(1, op_neg(c, op_mul(c, B_GRAD, op_call(c, AG_OP_div, v, 3))));
	return true;
}

bool bw_FmodTensor(struct ag_bw *b)
{
	return modulo_backward(b, "trunc");
}

bool bw_RemainderTensor(struct ag_bw *b)
{
	return modulo_backward(b, "floor");
}

bool op_run_xlogy(struct ag_frame *f)
{
	return both_saved(f, AG_NODE_Xlogy, map_xlogy, NULL);
}

bool bw_Xlogy(struct ag_bw *b)
{
	struct ag_ctx *c = B_CTX;
	struct ag_tensor *other = B_SAVED(0), *self = B_SAVED(1), *flat;
	struct ag_value v[3];

	if (!other || !self)
		return false;
	flat = op_logical_and(c, op_eq_n(c, self, 0), op_le_n(c, other, 0));
	v[0] = ag_arg(flat);
	v[1] = ag_float(0);
	v[2] = ag_arg(op_mul(c, B_GRAD, op_log(c, other)));
	B_SET(0, op_call(c, AG_OP_where, v, 3));
	B_SET(1, op_div(c, op_mul(c, B_GRAD, self), other));
	return true;
}

/* ---- powers */

bool op_run_pow_scalar(struct ag_frame *f)
{
	struct ag_binary b;
	struct ag_tensor *out, *a;
	struct ag_node *node;

	if (!ag_binary_open(f, &b))
		return false;
	if (ag_category(b.dtype) == 1 && arg_f(f, 1) < 0)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "Integers to negative integer powers are not allowed.");
	out = ag_binary_out(f, &b);
	if (!out)
		return false;
	a = b.in[0];
	node = ag_record1(f->ctx, AG_NODE_PowScalar, a, 1, 0);
	if (node) {
		node->num[0] = arg_f(f, 1);
		ag_save_arg(f, node, 0, a);
	}
	compute(&b, out, map_pow, imap_pow, NULL);
	return ag_finish(f, out, node);
}

bool op_run_square(struct ag_frame *f)
{
	f->v[1] = ag_int(2);
	f->count = 2;
	return op_run_pow_scalar(f);
}

bool bw_PowScalar(struct ag_bw *b)
{
	struct ag_ctx *c = B_CTX;
	struct ag_tensor *self = B_SAVED(0);
	double n = b->node->num[0];

	if (!self)
		return false;
	if (n == 0)
		B_SET(0, op_zeros_as(c, self));
	else
		B_SET(0, op_mul(c, B_GRAD, op_mul_number(c, op_pow_n(c, self, n - 1), n)));
	return true;
}

bool op_run_pow_tensor(struct ag_frame *f)
{
	struct ag_binary b;
	struct ag_tensor *out;
	struct ag_node *node;

	if (!ag_binary_open(f, &b))
		return false;
	out = ag_binary_out(f, &b);
	if (!out)
		return false;
	node = binary_node(f, &b, AG_NODE_PowTensor, 3);
	if (node) {
		ag_save_input(node, 0, b.in[1]);
		ag_save_arg(f, node, 2, b.in[0]);
	}
	compute(&b, out, map_pow, imap_pow, NULL);
	return ag_finish_saving(f, out, node, 1);
}

bool bw_PowTensor(struct ag_bw *b)
{
	struct ag_ctx *c = B_CTX;
	struct ag_tensor *e = B_SAVED(0), *result = B_SAVED(1), *self = B_SAVED(2), *g = B_GRAD;

	if (!e || !result || !self)
		return false;
	if (B_WANT(0)) {
		struct ag_tensor *d = op_mul(c, e, op_pow_tensor(c, self, op_add_n(c, e, -1)));

		B_SET(0, op_where_n(c, op_ne_n(c, e, 0), op_mul(c, g, d), 0));
	}
	if (B_WANT(1)) {
		struct ag_tensor *zero = op_logical_and(c, op_eq_n(c, self, 0), op_ge_n(c, e, 0));
		struct ag_tensor *keep = op_eq_n(c, zero, 0);

		B_SET(1, op_where_n(c, keep, op_mul(c, g, op_mul(c, result, op_log(c, self))), 0));
	}
	return true;
}

/* number ** tensor */
bool op_run_pow_base(struct ag_frame *f)
{
	struct ag_binary b;
	struct ag_tensor *out;
	struct ag_node *node;

	if (!ag_binary_open(f, &b))
		return false;
	out = ag_result(f, b.dtype, b.ndim, b.shape, b.record);
	if (!out)
		return false;
	node = ag_record1(f->ctx, AG_NODE_PowBase, b.in[1], 2, 0);
	if (node) {
		node->num[0] = arg_f(f, 0);
		ag_save_input(node, 0, b.in[1]);
	}
	compute(&b, out, map_pow, imap_pow, NULL);
	return ag_finish_saving(f, out, node, 1);
}

bool bw_PowBase(struct ag_bw *b)
{
	struct ag_ctx *c = B_CTX;
	struct ag_tensor *result = B_SAVED(1);
	double base = b->node->num[0];

	if (base == 0)
		B_SET(0, op_where_n(c, op_lt_n(c, B_SAVED(0), 0),
		                    op_mul_number(c, op_mul(c, B_GRAD, result), log(base)), 0));
	else
		B_SET(0, op_mul(c, B_GRAD, op_mul_number(c, result, log(base))));
	return true;
}
