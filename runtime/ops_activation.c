/* Activations by table: value, slope and bend of each, so that second
 * derivatives are there without a formula of their own. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/element.h"
#include "runtime/op.h"

#define ROOT_HALF       0.70710678118654752440
#define ROOT_TWO_BY_PI  0.79788456080286535588
#define INV_ROOT_TWO_PI 0.39894228040143267794

enum act {
#define ACT(id, node, f, f1, f2) ACT_##id,
#include "runtime/act.def"
#undef ACT
	ACT_COUNT
};

static double logistic(double x)
{
	return 1 / (1 + exp(-x));
}

static double log_one_exp(double x)
{
	return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

static double gauss(double x)
{
	return INV_ROOT_TWO_PI * exp(-0.5 * x * x);
}

static double gelu_slope(double x)
{
	return 0.5 * erfc(-x * ROOT_HALF) + x * gauss(x);
}

static double gelu_inner(double x)
{
	return ROOT_TWO_BY_PI * (x + 0.044715 * x * x * x);
}

static double gelu_tanh_slope(double x)
{
	double t = tanh(gelu_inner(x)), d = ROOT_TWO_BY_PI * (1 + 3 * 0.044715 * x * x);

	return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * d;
}

static double gelu_tanh_bend(double x)
{
	double t = tanh(gelu_inner(x)), d = ROOT_TWO_BY_PI * (1 + 3 * 0.044715 * x * x);
	double s = 1 - t * t;

	return s * d - x * t * s * d * d + 0.5 * x * s * ROOT_TWO_BY_PI * 6 * 0.044715 * x;
}

static double silu_bend(double x)
{
	double s = logistic(x), d = s * (1 - s);

	return 2 * d + x * d * (1 - 2 * s);
}

static double mish_slope(double x)
{
	double t = tanh(log_one_exp(x));

	return t + x * (1 - t * t) * logistic(x);
}

static double mish_bend(double x)
{
	double t = tanh(log_one_exp(x)), s = logistic(x), u = 1 - t * t;

	return 2 * u * s + x * (u * s * (1 - s) - 2 * t * u * s * s);
}

#define PARAMETERS double a = p[0], b = p[1], c = p[2]
#define ACT(id, node, f, f1, f2)                                                                   \
	static void value_##id(int64_t n, double *out, const double *const *in, const double *p)   \
	{                                                                                          \
		PARAMETERS;                                                                        \
		int64_t i;                                                                         \
		(void)a, (void)b, (void)c;                                                         \
		for (i = 0; i < n; i++) {                                                          \
			double x = in[0][i];                                                       \
			out[i] = f;                                                                \
		}                                                                                  \
	}                                                                                          \
	static void slope_##id(int64_t n, double *out, const double *const *in, const double *p)   \
	{                                                                                          \
		PARAMETERS;                                                                        \
		int64_t i;                                                                         \
		(void)a, (void)b, (void)c;                                                         \
		for (i = 0; i < n; i++) {                                                          \
			double x = in[1][i];                                                       \
			(void)x;                                                                   \
			out[i] = in[0][i] * (f1);                                                  \
		}                                                                                  \
	}                                                                                          \
	static void bend_##id(int64_t n, double *out, const double *const *in, const double *p)    \
	{                                                                                          \
		PARAMETERS;                                                                        \
		int64_t i;                                                                         \
		(void)a, (void)b, (void)c;                                                         \
		for (i = 0; i < n; i++) {                                                          \
			double x = in[1][i];                                                       \
			(void)x;                                                                   \
			out[i] = in[0][i] * in[2][i] * (f2);                                       \
		}                                                                                  \
	}
#include "runtime/act.def"
#undef ACT

static const struct {
	ag_map_fn *value, *slope, *bend;
	enum ag_node_kind node;
} acts[ACT_COUNT] = {
#define ACT(id, node, f, f1, f2) [ACT_##id] = {value_##id, slope_##id, bend_##id, AG_NODE_##node},
#include "runtime/act.def"
#undef ACT
};

/* Words of such a node: the function and its third parameter. */
static void remember(struct ag_node *n, enum act act, const double *p)
{
	n->num[0] = p[0];
	n->num[1] = p[1];
	n->ints[0] = act;
	memcpy(&n->ints[1], &p[2], sizeof(p[2]));
}

/* `result` says which node kind works from the result when it is in place. */
static bool activate(struct ag_frame *f, enum act act, const double *p, enum ag_node_kind result)
{
	struct ag_tensor *a = arg_t(f, 0), *out;
	bool from_result = f->inplace && result != AG_NODE_None;
	enum ag_dtype dtype = (enum ag_dtype)a->dtype;
	bool integers = ag_category(dtype) < 2;
	struct ag_node *node;

	if (!ag_no_complex(f->ctx, a))
		return false;
	if (integers && (act == ACT_clamp_range || act == ACT_clamp_min || act == ACT_clamp_max) &&
	    (f->v[1].kind == AG_FLOAT || f->v[2].kind == AG_FLOAT))
		dtype = f->ctx->default_dtype;
	out = ag_result_like(f, dtype, a->ndim, a->shape, wants1(f->ctx, a), &a, 1);
	if (!out)
		return false;
	node = ag_record1(f->ctx, from_result ? result : acts[act].node, a, 1, 2);
	if (node) {
		remember(node, act, p);
		if (!from_result)
			ag_save_arg(f, node, 0, a);
	}
	ag_map(out, &a, 1, acts[act].value, p);
	if (!node || !from_result)
		return ag_finish(f, out, node);
	ag_node_retain(node);
	if (!ag_finish(f, out, node))
		return false;
	ag_save_output(node, 0, out);
	ag_node_release(node);
	return true;
}

static bool maybe_inplace(struct ag_frame *f, uint32_t i)
{
	f->inplace = f->inplace || arg_b(f, i);
	return true;
}

bool op_run_leaky_relu(struct ag_frame *f)
{
	double p[3] = {arg_f(f, 1), 0, 0};

	maybe_inplace(f, 2);
	return activate(f, ACT_leaky_relu, p, AG_NODE_LeakyReluResult);
}

/* input, alpha, inplace: alpha, scale 1, input scale 1 */
bool op_run_elu(struct ag_frame *f)
{
	double p[3] = {arg_f(f, 1), 1, 1};

	maybe_inplace(f, 2);
	return activate(f, ACT_elu, p, AG_NODE_EluResult);
}

bool op_run_selu(struct ag_frame *f)
{
	double p[3] = {1.6732632423543772848170429916717, 1.0507009873554804934193349852946, 1};

	maybe_inplace(f, 1);
	return activate(f, ACT_elu, p, AG_NODE_EluResult);
}

bool op_run_celu(struct ag_frame *f)
{
	double p[3] = {arg_f(f, 1), 1, 1};

	maybe_inplace(f, 2);
	return activate(f, ACT_celu, p, AG_NODE_CeluResult);
}

bool op_run_gelu(struct ag_frame *f)
{
	double p[3] = {0, 0, 0};

	return activate(f, arg_text_is(f, 1, "tanh") ? ACT_gelu_tanh : ACT_gelu, p, AG_NODE_None);
}

#define SIMPLE(id)                                                                                 \
	bool op_run_##id(struct ag_frame *f)                                                       \
	{                                                                                          \
		double p[3] = {0, 0, 0};                                                           \
		maybe_inplace(f, 1);                                                               \
		return activate(f, ACT_##id, p, AG_NODE_None);                                     \
	}

SIMPLE(silu)
SIMPLE(mish)
SIMPLE(hardswish)
SIMPLE(hardsigmoid)

bool op_run_hardtanh(struct ag_frame *f)
{
	double p[3] = {arg_f(f, 1), arg_f(f, 2), 0};

	maybe_inplace(f, 3);
	return activate(f, ACT_hardtanh, p, AG_NODE_None);
}

bool op_run_relu6(struct ag_frame *f)
{
	double p[3] = {0, 6, 0};

	maybe_inplace(f, 1);
	return activate(f, ACT_hardtanh, p, AG_NODE_HardtanhResult);
}

bool op_run_softplus(struct ag_frame *f)
{
	double p[3] = {arg_f(f, 1), arg_f(f, 2), 0};

	return activate(f, ACT_softplus, p, AG_NODE_None);
}

bool op_run_softshrink(struct ag_frame *f)
{
	double p[3] = {arg_f(f, 1), 0, 0};

	return activate(f, ACT_softshrink, p, AG_NODE_None);
}

bool op_run_hardshrink(struct ag_frame *f)
{
	double p[3] = {arg_f(f, 1), 0, 0};

	return activate(f, ACT_hardshrink, p, AG_NODE_None);
}

bool op_run_threshold(struct ag_frame *f)
{
	double p[3] = {arg_f(f, 1), arg_f(f, 2), 0};

	maybe_inplace(f, 3);
	return activate(f, ACT_threshold, p, AG_NODE_None);
}

bool op_run_logit(struct ag_frame *f)
{
	double p[3] = {0, 0, 0};

	return activate(f, ACT_logit, p, AG_NODE_None);
}

bool op_run_clamp(struct ag_frame *f)
{
	bool low = !arg_none(f, 1), high = !arg_none(f, 2);
	double p[3] = {low ? arg_f(f, 1) : -INFINITY, high ? arg_f(f, 2) : INFINITY, 0};

	if (!low && !high)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "torch.clamp: At least one of 'min' or 'max' must not be None");
	return activate(f, ACT_clamp_range, p, AG_NODE_None);
}

bool op_run_clamp_min(struct ag_frame *f)
{
	double p[3] = {arg_f(f, 1), 0, 0};

	return activate(f, ACT_clamp_min, p, AG_NODE_None);
}

bool op_run_clamp_max(struct ag_frame *f)
{
	double p[3] = {0, arg_f(f, 1), 0};

	return activate(f, ACT_clamp_max, p, AG_NODE_None);
}

/* saves its input and a buffer of the input's size */
bool op_run_logsigmoid(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0), *out, *buffer;
	double p[3] = {0, 0, 0};
	struct ag_node *node;

	if (!ag_need_float(f, a))
		return false;
	out = ag_make(f->ctx, (enum ag_dtype)a->dtype, a->ndim, a->shape, true);
	buffer = out ? scoped(f->ctx,
	                      ag_make(f->ctx, (enum ag_dtype)a->dtype, a->ndim, a->shape, true))
	             : NULL;
	if (!buffer) {
		ag_release(out);
		return false;
	}
	node = ag_record1(f->ctx, AG_NODE_LogSigmoid, a, 2, 2);
	if (node) {
		remember(node, ACT_logsigmoid, p);
		ag_save_input(node, 0, buffer);
		ag_save_input(node, 1, a);
	}
	ag_map(out, &a, 1, value_logsigmoid, p);
	return ag_finish(f, out, node);
}

/* grad, input, function, a, b, c */
bool op_run_act_backward(struct ag_frame *f)
{
	struct ag_tensor *in[2] = {arg_t(f, 0), arg_t(f, 1)}, *out;
	double p[3] = {arg_f(f, 3), arg_f(f, 4), arg_f(f, 5)};
	int64_t act = arg_i(f, 2);
	struct ag_node *node;

	if (act < 0 || act >= ACT_COUNT)
		return ag_fail(f->ctx, AG_ERR_VALUE, "no such activation");
	out = ag_make(f->ctx, (enum ag_dtype)in[0]->dtype, in[1]->ndim, in[1]->shape, true);
	if (!out)
		return false;
	node = ag_record(f->ctx, AG_NODE_ActBackward, in, 2, 2, 2);
	if (node) {
		remember(node, (enum act)act, p);
		ag_save_input(node, 0, ag_requires_grad(in[1]) ? in[0] : NULL);
		ag_save_input(node, 1, in[1]);
	}
	ag_map(out, in, 2, acts[act].slope, p);
	return ag_finish(f, out, node);
}

static struct ag_tensor *slope_of(struct ag_bw *b, struct ag_tensor *g, struct ag_tensor *x)
{
	double third;
	struct ag_value v[6];

	memcpy(&third, &b->node->ints[1], sizeof(third));
	v[0] = ag_arg(g);
	v[1] = ag_arg(x);
	v[2] = ag_int(b->node->ints[0]);
	v[3] = ag_float(b->node->num[0]);
	v[4] = ag_float(b->node->num[1]);
	v[5] = ag_float(third);
	return x ? op_call(B_CTX, AG_OP_act_backward, v, 6) : NULL;
}

bool bw_ActBackward(struct ag_bw *b)
{
	double p[3] = {b->node->num[0], b->node->num[1], 0};
	struct ag_tensor *x = B_SAVED(1), *in[3], *out;

	B_SET(0, slope_of(b, B_GRAD, x));
	if (!B_WANT(1))
		return true;
	if (B_CTX->mode.enabled && ag_requires_grad(x) && ag_requires_grad(B_GRAD))
		return ag_fail(B_CTX, AG_ERR_RUNTIME,
		               "third derivatives of activations are not implemented");
	in[0] = B_GRAD;
	in[1] = x;
	in[2] = B_SAVED(0);
	out = x && in[2] ? op_zeros_as(B_CTX, x) : NULL;
	if (!out)
		return false;
	memcpy(&p[2], &b->node->ints[1], sizeof(p[2]));
	ag_map(out, in, 3, acts[b->node->ints[0]].bend, p);
	B_SET(1, out);
	return true;
}

#define BY_SLOPE(id, word)                                                                         \
	bool bw_##id(struct ag_bw *b)                                                              \
	{                                                                                          \
		B_SET(0, slope_of(b, B_GRAD, B_SAVED(word)));                                      \
		return true;                                                                       \
	}

BY_SLOPE(Act, 0)
BY_SLOPE(LeakyRelu, 0)
BY_SLOPE(LeakyReluResult, 0)
BY_SLOPE(Elu, 0)
BY_SLOPE(Celu, 0)
BY_SLOPE(Gelu, 0)
BY_SLOPE(Silu, 0)
BY_SLOPE(Mish, 0)
BY_SLOPE(Hardswish, 0)
BY_SLOPE(Hardsigmoid, 0)
BY_SLOPE(Hardtanh, 0)
BY_SLOPE(HardtanhResult, 0)
BY_SLOPE(Softplus, 0)
BY_SLOPE(Softshrink, 0)
BY_SLOPE(Hardshrink, 0)
BY_SLOPE(LogSigmoid, 1)
BY_SLOPE(Clamp, 0)
BY_SLOPE(ClampMin, 0)
BY_SLOPE(ClampMax, 0)
BY_SLOPE(Logit, 0)
BY_SLOPE(Threshold, 0)

/* From the result: where it is negative the slope is result + alpha, scaled. */
bool bw_EluResult(struct ag_bw *b)
{
	struct ag_ctx *c = B_CTX;
	struct ag_tensor *r = B_SAVED(0), *slope;
	double a = b->node->num[0], scale = b->node->num[1];

	if (ag_bw_is_blind(c, &r, 1)) {
		B_SET(0, op_unknown_as(c, r));
		return true;
	}
	slope = op_where_n(c, op_le_n(c, r, 0), op_add_n(c, r, a * scale), scale);
	B_SET(0, op_mul(c, B_GRAD, slope));
	return true;
}

bool bw_CeluResult(struct ag_bw *b)
{
	struct ag_ctx *c = B_CTX;
	struct ag_tensor *r = B_SAVED(0), *slope;

	if (ag_bw_is_blind(c, &r, 1)) {
		B_SET(0, op_unknown_as(c, r));
		return true;
	}
	slope = op_where_n(c, op_le_n(c, r, 0), op_add_n(c, op_mul_n(c, r, 1 / b->node->num[0]), 1),
	                   1);
	B_SET(0, op_mul(c, B_GRAD, slope));
	return true;
}

/* ---- rrelu: slopes are drawn in training, and kept as noise */

static void map_leak(int64_t n, double *out, const double *const *in, const double *p)
{
	int64_t i;

	for (i = 0; i < n; i++)
		out[i] = in[0][i] > 0 ? in[0][i] : in[0][i] * (p ? *p : in[1][i]);
}

static void draw_slopes(struct ag_tensor *noise, struct ag_tensor *a, double low, double high)
{
	double *x, *slopes;
	int64_t i;

	if (!ag_drawable(noise) || !ag_ready1(noise, a))
		return;
	x = ag_plain(a);
	slopes = ag_alloc((size_t)a->numel + 1, sizeof(*slopes));
	for (i = 0; i < a->numel; i++) {
		slopes[i] = 1;
		if (x[i] <= 0)
			ag_random_fill_uniform_f64(&a->ctx->random, &slopes[i], 1, low, high);
	}
	ag_put_plain(noise, slopes);
	free(slopes);
	free(x);
}

/* RRELU_TENSORS: what PyTorch takes for the mean of the bounds. */
enum { RRELU_TRAINS = 2, RRELU_WORDS, RRELU_TENSORS = 48 };

/* input, lower, upper, training, inplace */
bool op_run_rrelu(struct ag_frame *f)
{
	struct ag_tensor *in[2] = {arg_t(f, 0)}, *out;
	double p[3] = {(arg_f(f, 1) + arg_f(f, 2)) / 2, 0, 0};
	bool trains = arg_b(f, 3);
	struct ag_node *node;

	maybe_inplace(f, 4);
	if (!ag_need_float(f, in[0]))
		return false;
	out = ag_result(f, (enum ag_dtype)in[0]->dtype, in[0]->ndim, in[0]->shape,
	                wants1(f->ctx, in[0]));
	in[1] = out ? op_zeros(f->ctx, (enum ag_dtype)in[0]->dtype, in[0]->ndim, in[0]->shape)
	            : NULL;
	if (!in[1]) {
		ag_release(out);
		return false;
	}
	node = ag_record1(f->ctx, f->inplace ? AG_NODE_RreluResult : AG_NODE_Rrelu, in[0], 2,
	                  RRELU_WORDS);
	if (node) {
		remember(node, ACT_leaky_relu, p);
		node->ints[RRELU_TRAINS] = trains && arg_f(f, 2) - arg_f(f, 1) > 1e-6;
		ag_save_input(node, 1, in[1]);
		if (!f->inplace)
			ag_save_input(node, 0, in[0]);
	}
	if (trains)
		draw_slopes(in[1], in[0], arg_f(f, 1), arg_f(f, 2));
	else
		ag_transient(f->ctx, RRELU_TENSORS);
	ag_map(out, in, trains ? 2 : 1, map_leak, trains ? NULL : p);
	return f->inplace ? ag_finish_saving(f, out, node, 0) : ag_finish(f, out, node);
}

bool bw_Rrelu(struct ag_bw *b)
{
	if (b->node->ints[RRELU_TRAINS])
		B_SET(0, op_mul(B_CTX, B_SAVED(1), B_GRAD));
	else
		B_SET(0, slope_of(b, B_GRAD, B_SAVED(0)));
	return true;
}

bool bw_RreluResult(struct ag_bw *b)
{
	return bw_Rrelu(b);
}

/* ---- relu works from its result */

static void map_relu(int64_t n, double *out, const double *const *in, const double *p)
{
	int64_t i;

	(void)p;
	for (i = 0; i < n; i++)
		out[i] = in[0][i] > 0 || isnan(in[0][i]) ? in[0][i] : 0;
}

static void map_gate(int64_t n, double *out, const double *const *in, const double *p)
{
	int64_t i;

	for (i = 0; i < n; i++)
		out[i] = in[1][i] > *p ? in[0][i] : 0;
}

bool op_run_relu(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0), *out;
	struct ag_node *node;

	maybe_inplace(f, 1);
	if (!ag_no_complex(f->ctx, a))
		return false;
	out = ag_result_like(f, (enum ag_dtype)a->dtype, a->ndim, a->shape, wants1(f->ctx, a), &a,
	                     1);
	if (!out)
		return false;
	node = ag_record1(f->ctx, AG_NODE_Relu, a, 1, 0);
	ag_map(out, &a, 1, map_relu, NULL);
	return ag_finish_saving(f, out, node, 0);
}

/* grad, x, threshold: grad where x is above it */
bool op_run_threshold_backward(struct ag_frame *f)
{
	struct ag_tensor *in[2] = {arg_t(f, 0), arg_t(f, 1)}, *out;
	double p = arg_f(f, 2);
	struct ag_node *node;

	out = ag_make(f->ctx, (enum ag_dtype)in[0]->dtype, in[1]->ndim, in[1]->shape, true);
	if (!out)
		return false;
	node = ag_record(f->ctx, AG_NODE_ThresholdBackward, in, 2, 1, 0);
	if (node) {
		node->num[0] = p;
		ag_save_input(node, 0, in[1]);
	}
	ag_map(out, in, 2, map_gate, &p);
	return ag_finish(f, out, node);
}

static struct ag_tensor *gate(struct ag_bw *b)
{
	struct ag_value v[3] = {ag_arg(B_GRAD), ag_arg(B_SAVED(0)), ag_float(b->node->num[0])};

	return op_call(B_CTX, AG_OP_threshold_backward, v, 3);
}

bool bw_Relu(struct ag_bw *b)
{
	B_SET(0, gate(b));
	return true;
}

bool bw_ThresholdBackward(struct ag_bw *b)
{
	if (B_WANT(0))
		B_SET(0, gate(b));
	if (B_WANT(1))
		B_SET(1, op_zeros_as(B_CTX, B_GRAD));
	return true;
}
