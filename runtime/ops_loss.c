/* Losses with a node of their own. A scalar that mse, smooth L1 or binary
 * cross-entropy reduces to keeps the storage of the unreduced loss. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/element.h"
#include "runtime/loss.h"
#include "runtime/op.h"
#include "runtime/shape.h"

bool ag_reduction_arg(struct ag_frame *f, uint32_t i, enum ag_loss_reduction *r)
{
	if (arg_text_is(f, i, "mean"))
		*r = AG_REDUCE_MEAN;
	else if (arg_text_is(f, i, "sum"))
		*r = AG_REDUCE_SUM;
	else if (arg_text_is(f, i, "none"))
		*r = AG_REDUCE_NONE;
	else if (arg_text_is(f, i, "batchmean"))
		*r = AG_REDUCE_BATCHMEAN;
	else
		return ag_fail(f->ctx, AG_ERR_VALUE, "%.*s is not a valid value for reduction",
		               f->v[i].kind == AG_TEXT ? (int)f->v[i].count : 0,
		               f->v[i].kind == AG_TEXT ? f->v[i].as.text : "");
	return true;
}

struct ag_tensor *ag_reduce_loss(struct ag_ctx *c, struct ag_tensor *loss, enum ag_loss_reduction r)
{
	if (r == AG_REDUCE_MEAN)
		return op_mean(c, loss);
	return r == AG_REDUCE_NONE ? loss : op_sum(c, loss);
}

/* Both operands at their common shape. */
bool ag_loss_operands(struct ag_frame *f, struct ag_tensor **x, struct ag_tensor **y)
{
	int64_t shape[AG_MAX_DIMS];
	int ndim;

	*x = arg_t(f, 0);
	*y = arg_t(f, 1);
	if (ag_same_shape(*x, *y))
		return true;
	if (!ag_broadcast(f->ctx, *x, *y, &ndim, shape))
		return false;
	if (!ag_shape_is(*x, ndim, shape))
		*x = op_expand(f->ctx, *x, ndim, shape);
	if (!ag_shape_is(*y, ndim, shape))
		*y = op_expand(f->ctx, *y, ndim, shape);
	return *x && *y;
}

/* The mean or sum of what `full` holds, as a 0-dim tensor. */
static void reduce_data(struct ag_tensor *out, const double *full, int64_t n,
                        enum ag_loss_reduction r)
{
	double sum = 0;
	int64_t i;

	for (i = 0; i < n; i++)
		sum += full[i];
	ag_fill_data(out, r == AG_REDUCE_MEAN ? sum / (double)n : sum);
}

/* What the kernel takes beside the result and the unreduced loss, or the two in one storage. */
static int64_t room_of(enum ag_node_kind kind, const struct ag_tensor *full,
                       enum ag_loss_reduction r)
{
	int64_t bytes = (int64_t)full->storage->bytes, mean = r == AG_REDUCE_MEAN ? AG_DIVISOR : 0;

	if (kind == AG_NODE_MseLoss || kind == AG_NODE_SmoothL1Loss || kind == AG_NODE_BceLogits)
		return bytes + mean;
	if (kind == AG_NODE_BinaryCrossEntropy)
		return (int64_t)ag_dtype_size((enum ag_dtype)full->dtype) + mean;
	return kind == AG_NODE_SoftMarginLoss ? bytes : mean;
}

/* A loss of x, y and optional weights; `roomy`: the storage stays unreduced. */
static bool pointwise_loss(struct ag_frame *f, enum ag_node_kind kind, struct ag_tensor *const *in,
                           int nin, uint32_t edges, ag_map_fn *fn, const double *p,
                           enum ag_loss_reduction r, bool roomy)
{
	struct ag_tensor *full, *out;
	struct ag_value both[2] = {ag_arg(in[0]), ag_arg(in[1])};
	struct ag_node *node;
	uint32_t i;
	double *values;

	full = ag_make(f->ctx, ag_result_type(f->ctx, both, 2), in[0]->ndim, in[0]->shape, true);
	if (!full)
		return false;
	scoped(f->ctx, full);
	ag_layout(full, in, 2);
	ag_map(full, in, nin, fn, p);
	/* Of nothing the unreduced storage has no room for the result. */
	if (r == AG_REDUCE_NONE || (roomy && full->numel))
		out = ag_retain(full);
	else
		out = ag_make(f->ctx, (enum ag_dtype)full->dtype, 0, NULL, true);
	if (!out)
		return false;
	if (r != AG_REDUCE_NONE) {
		values = ag_plain(full);
		ag_set_shape(out, 0, NULL, NULL);
		ag_transient(f->ctx, room_of(kind, full, r));
		if (values && out->storage->data)
			reduce_data(out, values, in[0]->numel, r);
		else
			ag_storage_drop_data(out->storage);
		free(values);
	}
	node = ag_record(f->ctx, kind, in, edges, (uint32_t)nin, 1);
	if (node) {
		node->ints[0] = r;
		memcpy(node->num, p, sizeof(node->num));
		for (i = 0; i < (uint32_t)nin; i++)
			ag_save_input(node, i, in[i]);
	}
	return ag_finish(f, out, node);
}

/* The gradient that every element gets. */
static struct ag_tensor *scaled(struct ag_bw *b, const struct ag_tensor *self)
{
	if (b->node->ints[0] == AG_REDUCE_MEAN)
		return op_div_n(B_CTX, B_GRAD, (double)self->numel);
	return B_GRAD;
}

static void map_mse(int64_t n, double *out, const double *const *in, const double *p)
{
	int64_t i;

	(void)p;
	for (i = 0; i < n; i++)
		out[i] = (in[0][i] - in[1][i]) * (in[0][i] - in[1][i]);
}

bool op_run_mse_loss(struct ag_frame *f)
{
	struct ag_tensor *in[2];
	enum ag_loss_reduction r;
	double p[2] = {0, 0};

	return ag_reduction_arg(f, 2, &r) && ag_loss_operands(f, &in[0], &in[1]) &&
	       pointwise_loss(f, AG_NODE_MseLoss, in, 2, 2, map_mse, p, r, true);
}

/* scale * clamp(x - y, -edge, edge) * grad */
static void map_loss_slope(int64_t n, double *out, const double *const *in, const double *p)
{
	int64_t i;

	for (i = 0; i < n; i++)
		out[i] = p[1] * fmax(fmin(in[1][i] - in[2][i], p[0]), -p[0]) * in[0][i];
}

/* Whether the slope still changes: scale where |x - y| is within the edge. */
static void map_loss_bend(int64_t n, double *out, const double *const *in, const double *p)
{
	int64_t i;

	for (i = 0; i < n; i++)
		out[i] = fabs(in[0][i] - in[1][i]) < p[0] ? p[1] : 0;
}

/* grad, input, target, kind of node, edge, scale */
bool op_run_loss_backward(struct ag_frame *f)
{
	struct ag_tensor *in[3] = {arg_t(f, 0), arg_t(f, 1), arg_t(f, 2)}, *out;
	struct ag_value both[2] = {ag_arg(in[1]), ag_arg(in[2])};
	double p[2] = {arg_f(f, 4), arg_f(f, 5)};
	const int64_t kind = arg_i(f, 3);
	struct ag_node *node;
	uint32_t i;

	if (kind != AG_NODE_MseLossBackward && kind != AG_NODE_SmoothL1LossBackward &&
	    kind != AG_NODE_HuberLossBackward)
		return ag_fail(f->ctx, AG_ERR_VALUE, "no such loss");
	out = ag_make(f->ctx, ag_result_type(f->ctx, both, 2), in[1]->ndim, in[1]->shape, true);
	if (!out)
		return false;
	node = ag_record(f->ctx, (enum ag_node_kind)kind, in, 3, 3, 0);
	if (node) {
		memcpy(node->num, p, sizeof(node->num));
		for (i = 0; i < 3; i++)
			ag_save_input(node, i, in[i]);
	}
	ag_map(out, in, 3, map_loss_slope, p);
	return ag_finish(f, out, node);
}

static struct ag_tensor *loss_slope(struct ag_bw *b, enum ag_node_kind kind, struct ag_tensor *g,
                                    struct ag_tensor *x, struct ag_tensor *y, const double *p)
{
	struct ag_value v[6] = {ag_arg(g),    ag_arg(x),      ag_arg(y),
	                        ag_int(kind), ag_float(p[0]), ag_float(p[1])};

	return op_call(B_CTX, AG_OP_loss_backward, v, 6);
}

/* Both gradients of a loss whose slope is clamp(x - y, -edge, edge) * scale. */
static bool bw_by_slope(struct ag_bw *b, enum ag_node_kind kind, double edge, double scale)
{
	struct ag_tensor *x = B_SAVED(0), *y = B_SAVED(1);
	double p[2] = {edge, scale};

	if (!x || !y)
		return false;
	if (b->node->ints[0] == AG_REDUCE_MEAN)
		p[1] /= (double)x->numel;
	if (B_WANT(0))
		B_SET(0, loss_slope(b, kind, B_GRAD, x, y, p));
	if (B_WANT(1))
		B_SET(1, loss_slope(b, kind, B_GRAD, y, x, p));
	return true;
}

static bool bw_of_slope(struct ag_bw *b)
{
	struct ag_ctx *c = B_CTX;
	struct ag_tensor *g = B_SAVED(0), *in[2] = {B_SAVED(1), B_SAVED(2)}, *bend, *inner;

	if (!g || !in[0] || !in[1])
		return false;
	if (B_WANT(0))
		B_SET(0, op_sum_to(c,
		                   loss_slope(b, (enum ag_node_kind)b->node->kind, B_GRAD, in[0],
		                              in[1], b->node->num),
		                   g->ndim, g->shape));
	if (!B_WANT(1) && !B_WANT(2))
		return true;
	inner = op_mul(c, B_GRAD, g);
	if (isinf(b->node->num[0])) {
		inner = op_mul_n(c, inner, b->node->num[1]);
	} else {
		bend = ag_make(c, (enum ag_dtype)in[0]->dtype, in[0]->ndim, in[0]->shape, true);
		if (!bend)
			return false;
		scoped(c, bend);
		ag_map(bend, in, 2, map_loss_bend, b->node->num);
		inner = op_mul(c, inner, bend);
	}
	if (B_WANT(1))
		B_SET(1, inner);
	if (B_WANT(2))
		B_SET(2, op_neg(c, inner));
	return true;
}

bool bw_MseLoss(struct ag_bw *b)
{
	return bw_by_slope(b, AG_NODE_MseLossBackward, INFINITY, 2);
}

bool bw_MseLossBackward(struct ag_bw *b)
{
	return bw_of_slope(b);
}

bool op_run_l1_loss(struct ag_frame *f)
{
	struct ag_tensor *x, *y;
	enum ag_loss_reduction r;

	return ag_reduction_arg(f, 2, &r) && ag_loss_operands(f, &x, &y) &&
	       ag_give_ref(f, ag_reduce_loss(f->ctx, op_abs(f->ctx, op_sub(f->ctx, x, y)), r));
}

static void map_smooth_l1(int64_t n, double *out, const double *const *in, const double *p)
{
	int64_t i;

	for (i = 0; i < n; i++) {
		double d = fabs(in[0][i] - in[1][i]);

		out[i] = d < p[0] ? 0.5 * d * d / p[0] : d - 0.5 * p[0];
	}
}

static void map_huber(int64_t n, double *out, const double *const *in, const double *p)
{
	int64_t i;

	for (i = 0; i < n; i++) {
		double d = fabs(in[0][i] - in[1][i]);

		out[i] = d < p[0] ? 0.5 * d * d : p[0] * (d - 0.5 * p[0]);
	}
}

bool op_run_smooth_l1_loss(struct ag_frame *f)
{
	struct ag_tensor *in[2];
	enum ag_loss_reduction r;
	double p[2] = {arg_f(f, 3), 0};

	if (!ag_reduction_arg(f, 2, &r) || !ag_loss_operands(f, &in[0], &in[1]))
		return false;
	if (p[0] == 0)
		return ag_give_ref(
		        f, ag_reduce_loss(f->ctx, op_abs(f->ctx, op_sub(f->ctx, in[0], in[1])), r));
	return pointwise_loss(f, AG_NODE_SmoothL1Loss, in, 2, 2, map_smooth_l1, p, r, true);
}

bool op_run_huber_loss(struct ag_frame *f)
{
	struct ag_tensor *in[2];
	enum ag_loss_reduction r;
	double p[2] = {arg_f(f, 3), 0};

	return ag_reduction_arg(f, 2, &r) && ag_loss_operands(f, &in[0], &in[1]) &&
	       pointwise_loss(f, AG_NODE_HuberLoss, in, 2, 2, map_huber, p, r, false);
}

bool bw_SmoothL1Loss(struct ag_bw *b)
{
	const double edge = b->node->num[0];

	return bw_by_slope(b, AG_NODE_SmoothL1LossBackward, edge, 1 / edge);
}

bool bw_HuberLoss(struct ag_bw *b)
{
	return bw_by_slope(b, AG_NODE_HuberLossBackward, b->node->num[0], 1);
}

bool bw_SmoothL1LossBackward(struct ag_bw *b)
{
	return bw_of_slope(b);
}

bool bw_HuberLossBackward(struct ag_bw *b)
{
	return bw_of_slope(b);
}

/* ---- binary cross-entropy */

/* A weight is multiplied into the loss, which stays as large as the input. */
static bool weight_spreads(struct ag_frame *f, const struct ag_tensor *w)
{
	const struct ag_tensor *x = arg_t(f, 0);
	int64_t shape[AG_MAX_DIMS];
	char a[128], b[128];
	int ndim;

	if (!ag_broadcast(f->ctx, x, w, &ndim, shape))
		return false;
	return ag_shape_is(x, ndim, shape) ||
	       ag_fail(f->ctx, AG_ERR_RUNTIME,
	               "output with shape %s doesn't match the broadcast shape %s",
	               ag_shape_text(x->ndim, x->shape, a, sizeof(a)),
	               ag_shape_text(ndim, shape, b, sizeof(b)));
}

static double clamped_log(double x)
{
	double l = log(x);

	return l < -100 ? -100 : l;
}

static void map_bce(int64_t n, double *out, const double *const *in, const double *p)
{
	int64_t i;

	for (i = 0; i < n; i++) {
		double x = in[0][i], y = in[1][i];

		out[i] = (y - 1) * fmax(log1p(-x), -100) - y * clamped_log(x);
		out[i] *= p[0] != 0 ? in[2][i] : 1;
	}
}

bool op_run_binary_cross_entropy(struct ag_frame *f)
{
	struct ag_tensor *in[3] = {arg_t(f, 0), arg_t(f, 1), arg_t(f, 2)};
	enum ag_loss_reduction r;
	double p[2] = {in[2] != NULL, 0};
	char a[128], e[128];

	if (!ag_reduction_arg(f, 3, &r))
		return false;
	if (!ag_same_shape(in[0], in[1]))
		return ag_fail(
		        f->ctx, AG_ERR_VALUE,
		        "Using a target size (torch.Size(%s)) that is different to the input size "
		        "(torch.Size(%s)) is deprecated. Please ensure they have the same size.",
		        ag_shape_text(in[1]->ndim, in[1]->shape, a, sizeof(a)),
		        ag_shape_text(in[0]->ndim, in[0]->shape, e, sizeof(e)));
	return (!in[2] || weight_spreads(f, in[2])) &&
	       pointwise_loss(f, AG_NODE_BinaryCrossEntropy, in, in[2] ? 3 : 2, 2, map_bce, p, r,
	                      true);
}

bool bw_BinaryCrossEntropy(struct ag_bw *b)
{
	struct ag_ctx *c = B_CTX;
	struct ag_tensor *x = B_SAVED(0), *y = B_SAVED(1), *g, *d;
	struct ag_value v[2];

	if (!x || !y)
		return false;
	if (ag_bw_is_blind(c, (struct ag_tensor *[]){x, B_GRAD}, 2)) {
		B_SET(0, op_unknown_as(c, x));
		B_SET(1, op_unknown_as(c, y));
		ag_transient(c, b->node->ints[0] == AG_REDUCE_MEAN ? AG_DIVISOR : 0);
		return true;
	}
	g = scaled(b, x);
	if (b->node->num[0] != 0)
		g = op_mul(c, g, B_SAVED(2));
	if (B_WANT(0)) {
		d = op_mul(c, op_add_n(c, op_neg(c, x), 1), x);
		v[0] = ag_arg(d);
		v[1] = ag_float(1e-12);
		d = op_call(c, AG_OP_clamp_min, v, 2);
		B_SET(0, op_div(c, op_mul(c, g, op_sub(c, x, y)), d));
	}
	if (B_WANT(1)) {
		d = op_sub(c, op_log(c, op_add_n(c, op_neg(c, x), 1)), op_log(c, x));
		B_SET(1, op_mul(c, g, d));
	}
	return true;
}

/* p[0] weight given, p[1] pos_weight given */
static void map_bce_logits(int64_t n, double *out, const double *const *in, const double *p)
{
	const double *weight = in[2], *positive = p[0] != 0 ? in[3] : in[2];
	int64_t i;

	for (i = 0; i < n; i++) {
		double x = in[0][i], y = in[1][i];
		double softplus = x < 0 ? log1p(exp(x)) - x : log1p(exp(-x));
		double scale = p[1] != 0 ? 1 + (positive[i] - 1) * y : 1;

		out[i] = (1 - y) * x + scale * softplus;
		out[i] *= p[0] != 0 ? weight[i] : 1;
	}
}

bool op_run_bce_logits(struct ag_frame *f)
{
	struct ag_tensor *in[4] = {arg_t(f, 0), arg_t(f, 1), NULL, NULL};
	enum ag_loss_reduction r;
	double p[2] = {!arg_none(f, 2), !arg_none(f, 4)};
	char a[128], e[128];
	int n = 2, i;

	if (!ag_reduction_arg(f, 3, &r))
		return false;
	if (!ag_same_shape(in[0], in[1]))
		return ag_fail(f->ctx, AG_ERR_VALUE,
		               "Target size (torch.Size(%s)) must be the same as input size "
		               "(torch.Size(%s))",
		               ag_shape_text(in[1]->ndim, in[1]->shape, a, sizeof(a)),
		               ag_shape_text(in[0]->ndim, in[0]->shape, e, sizeof(e)));
	if (p[0] != 0)
		in[n++] = arg_t(f, 2);
	if (p[1] != 0)
		in[n++] = arg_t(f, 4);
	for (i = 2; i < n; i++) {
		if (!weight_spreads(f, in[i]))
			return false;
	}
	return pointwise_loss(f, AG_NODE_BceLogits, in, n, 2, map_bce_logits, p, r, false);
}

bool bw_BceLogits(struct ag_bw *b)
{
	struct ag_ctx *c = B_CTX;
	bool weighed = b->node->num[0] != 0, positive = b->node->num[1] != 0;
	struct ag_tensor *x = B_SAVED(0), *y = B_SAVED(1), *g, *s, *d;

	if (!x || !y)
		return false;
	if (!B_WANT(1) && ag_bw_is_blind(c, (struct ag_tensor *[]){x, B_GRAD}, 2)) {
		B_SET(0, op_unknown_as(c, x));
		ag_transient(c, b->node->ints[0] == AG_REDUCE_MEAN ? AG_DIVISOR : 0);
		return true;
	}
	g = scaled(b, x);
	if (weighed)
		g = op_mul(c, g, B_SAVED(2));
	s = op_sigmoid(c, x);
	if (positive) {
		struct ag_tensor *w = B_SAVED(weighed ? 3 : 2), *t = op_mul(c, w, y);

		d = op_sub(c, op_mul(c, op_sub(c, op_add_n(c, t, 1), y), s), t);
		if (B_WANT(1)) {
			struct ag_value v[1] = {ag_arg(op_neg(c, x))};
			struct ag_tensor *minus = op_call(c, AG_OP_logsigmoid, v, 1), *plus;

			v[0] = ag_arg(x);
			plus = op_call(c, AG_OP_logsigmoid, v, 1);
			B_SET(1, op_mul(c, g, op_sub(c, minus, op_mul(c, w, plus))));
		}
	} else {
		d = op_sub(c, s, y);
		if (B_WANT(1))
			B_SET(1, op_mul(c, op_neg(c, x), g));
	}
	B_SET(0, op_mul(c, d, g));
	return true;
}

/* ---- soft margin: log(1 + exp(-y x)) */

static void map_soft_margin(int64_t n, double *out, const double *const *in, const double *p)
{
	int64_t i;

	(void)p;
	for (i = 0; i < n; i++) {
		double z = -in[1][i] * in[0][i];

		out[i] = z > 0 ? z + log1p(exp(-z)) : log1p(exp(z));
	}
}

bool op_run_soft_margin_loss(struct ag_frame *f)
{
	struct ag_tensor *in[2];
	int64_t shape[AG_MAX_DIMS];
	enum ag_loss_reduction r;
	double p[2] = {0, 0};
	char a[128], b[128];
	int ndim;

	/* The input's negation is multiplied in place: it is not broadcast. */
	if (!ag_broadcast(f->ctx, arg_t(f, 0), arg_t(f, 1), &ndim, shape))
		return false;
	if (!ag_shape_is(arg_t(f, 0), ndim, shape))
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "output with shape %s doesn't match the broadcast shape %s",
		               ag_shape_text(arg_t(f, 0)->ndim, arg_t(f, 0)->shape, a, sizeof(a)),
		               ag_shape_text(ndim, shape, b, sizeof(b)));
	return ag_reduction_arg(f, 2, &r) && ag_loss_operands(f, &in[0], &in[1]) &&
	       pointwise_loss(f, AG_NODE_SoftMarginLoss, in, 2, 1, map_soft_margin, p, r, true);
}

bool bw_SoftMarginLoss(struct ag_bw *b)
{
	struct ag_ctx *c = B_CTX;
	struct ag_tensor *x = B_SAVED(0), *y = B_SAVED(1), *s;

	if (!x || !y)
		return false;
	if (ag_bw_is_blind(c, (struct ag_tensor *[]){x, B_GRAD}, 2)) {
		B_SET(0, op_unknown_as(c, x));
		return true;
	}
	s = op_sigmoid(c, op_neg(c, op_mul(c, x, y)));
	B_SET(0, op_mul(c, op_neg(c, op_mul(c, y, s)), scaled(b, x)));
	return true;
}
