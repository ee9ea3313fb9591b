/* Pointwise functions of one tensor, and their derivatives. */

#include <math.h>

#include "runtime/element.h"
#include "runtime/gamma.h"
#include "runtime/op.h"

enum rule { FLOAT, KEEP, BOOL };

#define UNARY(id, node, saves, rule, expression)                                                   \
	static void map_##id(int64_t n, double *out, const double *const *in, const double *p)     \
	{                                                                                          \
		int64_t i;                                                                         \
		(void)p;                                                                           \
		for (i = 0; i < n; i++) {                                                          \
			double x = in[0][i];                                                       \
			out[i] = (double)(expression);                                             \
		}                                                                                  \
	}
#include "runtime/unary.def"
#undef UNARY

static void imap_neg(int64_t n, int64_t *out, const int64_t *const *in, const double *p)
{
	int64_t i;

	(void)p;
	for (i = 0; i < n; i++)
		out[i] = (int64_t)(0 - (uint64_t)in[0][i]);
}

static void imap_abs(int64_t n, int64_t *out, const int64_t *const *in, const double *p)
{
	int64_t i;

	(void)p;
	for (i = 0; i < n; i++)
		out[i] = in[0][i] < 0 ? (int64_t)(0 - (uint64_t)in[0][i]) : in[0][i];
}

static void imap_sign(int64_t n, int64_t *out, const int64_t *const *in, const double *p)
{
	int64_t i;

	(void)p;
	for (i = 0; i < n; i++)
		out[i] = (in[0][i] > 0) - (in[0][i] < 0);
}

static void imap_same(int64_t n, int64_t *out, const int64_t *const *in, const double *p)
{
	int64_t i;

	(void)p;
	for (i = 0; i < n; i++)
		out[i] = in[0][i];
}

static ag_imap_fn *integer_map(enum ag_op op)
{
	if (op == AG_OP_neg)
		return imap_neg;
	if (op == AG_OP_abs)
		return imap_abs;
	return op == AG_OP_sign ? imap_sign : imap_same;
}

static bool unary(struct ag_frame *f, ag_map_fn *fn, enum ag_node_kind kind, int saves,
                  enum rule rule)
{
	struct ag_tensor *a = arg_t(f, 0), *out;
	enum ag_dtype dtype = (enum ag_dtype)a->dtype;
	struct ag_node *node;

	if (!ag_no_complex(f->ctx, a))
		return false;
	if (rule == BOOL)
		dtype = AG_BOOL8;
	else if (rule == FLOAT && ag_category(dtype) < 2)
		dtype = f->ctx->default_dtype;
	out = ag_result_like(f, dtype, a->ndim, a->shape, rule != BOOL && wants1(f->ctx, a), &a, 1);
	if (!out)
		return false;
	node = rule == BOOL ? NULL : ag_record1(f->ctx, kind, a, saves ? 1 : 0, 0);
	if (node && saves == 1)
		ag_save_arg(f, node, 0, a);
	if (rule == KEEP && ag_category(dtype) < 2)
		ag_imap(out, &a, 1, integer_map(f->op), NULL);
	else
		ag_map(out, &a, 1, fn, NULL);
	if (node && saves == 2) {
		ag_node_retain(node);
		if (!ag_finish(f, out, node))
			return false;
		ag_save_output(node, 0, out);
		ag_node_release(node);
		return true;
	}
	return ag_finish(f, out, node);
}

#define UNARY(id, node, saves, rule, expression)                                                   \
	bool op_run_##id(struct ag_frame *f)                                                       \
	{                                                                                          \
		return unary(f, map_##id, AG_NODE_##node, saves, rule);                            \
	}
#include "runtime/unary.def"
#undef UNARY

#define FORMULA(id, value)                                                                         \
	bool bw_##id(struct ag_bw *b)                                                              \
	{                                                                                          \
		struct ag_ctx *c = B_CTX;                                                          \
		struct ag_tensor *g = B_GRAD, *s;                                                  \
		(void)c;                                                                           \
		if (!g)                                                                            \
			return true;                                                               \
		s = b->node->nsaved ? B_SAVED(0) : NULL;                                           \
		if (b->node->nsaved && !s)                                                         \
			return false;                                                              \
		B_SET(0, value);                                                                   \
		return true;                                                                       \
	}

static struct ag_tensor *one_minus_square(struct ag_ctx *c, struct ag_tensor *x)
{
	return op_add_n(c, op_neg(c, op_mul(c, x, x)), 1);
}

static struct ag_tensor *square_plus(struct ag_ctx *c, struct ag_tensor *x, double n)
{
	return op_add_n(c, op_mul(c, x, x), n);
}

FORMULA(Exp, op_mul(c, g, s))
FORMULA(Expm1, op_mul(c, g, op_add_n(c, s, 1)))
FORMULA(Exp2, op_mul_number(c, op_mul(c, g, s), 0.69314718055994530942))
FORMULA(Log, op_div(c, g, s))
FORMULA(Log1p, op_div(c, g, op_add_n(c, s, 1)))
FORMULA(Log2, op_div(c, g, op_mul_number(c, s, 0.69314718055994530942)))
FORMULA(Log10, op_div(c, g, op_mul_number(c, s, 2.30258509299404568402)))
FORMULA(Sqrt, op_div(c, g, op_mul_number(c, s, 2)))
FORMULA(Rsqrt, op_mul(c, op_mul_number(c, g, -0.5), op_pow_n(c, s, 3)))
FORMULA(Reciprocal, op_mul(c, op_neg(c, g), op_mul(c, s, s)))
FORMULA(Sin, op_mul(c, g, op_cos(c, s)))
FORMULA(Cos, op_mul(c, g, op_neg(c, op_sin(c, s))))
FORMULA(Tan, op_mul(c, g, square_plus(c, s, 1)))
FORMULA(Asin, op_mul(c, g, op_rsqrt(c, one_minus_square(c, s))))
FORMULA(Acos, op_neg(c, op_mul(c, g, op_rsqrt(c, one_minus_square(c, s)))))
FORMULA(Atan, op_div(c, g, square_plus(c, s, 1)))
FORMULA(Sinh, op_mul(c, g, op_cosh(c, s)))
FORMULA(Cosh, op_mul(c, g, op_sinh(c, s)))
FORMULA(Asinh, op_mul(c, g, op_rsqrt(c, square_plus(c, s, 1))))
FORMULA(Acosh, op_mul(c, g, op_rsqrt(c, square_plus(c, s, -1))))
FORMULA(Atanh, op_div(c, g, one_minus_square(c, s)))
FORMULA(Erf,
        op_mul(c, op_mul_number(c, op_exp(c, op_neg(c, op_mul(c, s, s))), 1.12837916709551257390),
               g))
FORMULA(Erfc,
        op_mul(c, op_mul_number(c, op_exp(c, op_neg(c, op_mul(c, s, s))), -1.12837916709551257390),
               g))
FORMULA(Lgamma, op_mul(c, g, op_digamma(c, s)))
FORMULA(Digamma, op_mul(c, g, op_trigamma(c, s)))
FORMULA(Neg, op_neg(c, g))
FORMULA(Abs, op_mul(c, g, op_sign(c, s)))
FORMULA(Sign, op_zeros_as(c, g))
FORMULA(Round, op_zeros_as(c, g))
FORMULA(RoundDecimals, op_zeros_as(c, g))
FORMULA(Floor, op_zeros_as(c, g))
FORMULA(Ceil, op_zeros_as(c, g))
FORMULA(Trunc, op_zeros_as(c, g))
FORMULA(Frac, g)

bool bw_Trigamma(struct ag_bw *b)
{
	B_SET(0, op_mul(B_CTX, B_GRAD, op_tetragamma(B_CTX, B_SAVED(0))));
	return true;
}

bool bw_Tetragamma(struct ag_bw *b)
{
	return ag_fail(B_CTX, AG_ERR_RUNTIME,
	               "the derivative of 'polygamma(2)' is not implemented");
}

/* tanh and sigmoid have backward ops of their own, with second derivatives. */
static void map_tanh_backward(int64_t n, double *out, const double *const *in, const double *p)
{
	int64_t i;

	(void)p;
	for (i = 0; i < n; i++)
		out[i] = in[0][i] * (1 - in[1][i] * in[1][i]);
}

static void map_sigmoid_backward(int64_t n, double *out, const double *const *in, const double *p)
{
	int64_t i;

	(void)p;
	for (i = 0; i < n; i++)
		out[i] = in[0][i] * (1 - in[1][i]) * in[1][i];
}

static bool from_result(struct ag_frame *f, ag_map_fn *fn, enum ag_node_kind kind)
{
	struct ag_tensor *in[2] = {arg_t(f, 0), arg_t(f, 1)};
	struct ag_tensor *out =
	        ag_make(f->ctx, (enum ag_dtype)in[0]->dtype, in[0]->ndim, in[0]->shape, true);
	struct ag_node *node;

	if (!out)
		return false;
	node = ag_record(f->ctx, kind, in, 2, 2, 0);
	if (node) {
		ag_save_input(node, 0, ag_requires_grad(in[1]) ? in[0] : NULL);
		ag_save_input(node, 1, in[1]);
	}
	ag_map(out, in, 2, fn, NULL);
	return ag_finish(f, out, node);
}

bool op_run_tanh_backward(struct ag_frame *f)
{
	return from_result(f, map_tanh_backward, AG_NODE_TanhBackward);
}

bool op_run_sigmoid_backward(struct ag_frame *f)
{
	return from_result(f, map_sigmoid_backward, AG_NODE_SigmoidBackward);
}

bool bw_Tanh(struct ag_bw *b)
{
	struct ag_value v[2] = {ag_arg(B_GRAD), ag_arg(B_SAVED(0))};

	B_SET(0, op_call(B_CTX, AG_OP_tanh_backward, v, 2));
	return true;
}

bool bw_Sigmoid(struct ag_bw *b)
{
	struct ag_value v[2] = {ag_arg(B_GRAD), ag_arg(B_SAVED(0))};

	B_SET(0, op_call(B_CTX, AG_OP_sigmoid_backward, v, 2));
	return true;
}

bool bw_TanhBackward(struct ag_bw *b)
{
	struct ag_ctx *c = B_CTX;
	struct ag_tensor *g = B_GRAD, *result = B_SAVED(1);
	struct ag_value v[2] = {ag_arg(g), ag_arg(result)};

	B_SET(0, op_call(c, AG_OP_tanh_backward, v, 2));
	if (B_WANT(1))
		B_SET(1, op_mul(c, op_mul(c, op_mul_number(c, g, -2), B_SAVED(0)), result));
	return true;
}

bool bw_SigmoidBackward(struct ag_bw *b)
{
	struct ag_ctx *c = B_CTX;
	struct ag_tensor *g = B_GRAD, *result = B_SAVED(1);
	struct ag_value v[2] = {ag_arg(g), ag_arg(result)};

	B_SET(0, op_call(c, AG_OP_sigmoid_backward, v, 2));
	if (B_WANT(1))
		B_SET(1, op_mul(c, op_mul(c, g, B_SAVED(0)),
		                op_add_n(c, op_mul_number(c, result, -2), 1)));
	return true;
}

/* p: the power of ten, whether to multiply with it first, whether in single precision */
static void map_round_decimals(int64_t n, double *out, const double *const *in, const double *p)
{
	int64_t i;

	for (i = 0; i < n; i++) {
		double x = p[1] != 0 ? in[0][i] * p[0] : in[0][i] / p[0];

		x = nearbyint(p[2] != 0 ? (double)(float)x : x);
		out[i] = p[1] != 0 ? x / p[0] : x * p[0];
	}
}

/* input, decimals */
bool op_run_round_decimals(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0), *out;
	int64_t decimals = arg_i(f, 1);
	double p[3] = {pow(10, (double)(decimals < 0 ? -decimals : decimals)), decimals >= 0,
	               a->dtype == AG_F32};
	struct ag_node *node;

	if (!ag_need_float(f, a))
		return false;
	out = ag_result_like(f, (enum ag_dtype)a->dtype, a->ndim, a->shape, wants1(f->ctx, a), &a,
	                     1);
	if (!out)
		return false;
	node = ag_record1(f->ctx, AG_NODE_RoundDecimals, a, 0, 0);
	ag_map(out, &a, 1, map_round_decimals, p);
	return ag_finish(f, out, node);
}
