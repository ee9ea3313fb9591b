/* Losses that PyTorch composes of other ops, node for node. */

#include <string.h>

#include "runtime/loss.h"
#include "runtime/op.h"
#include "runtime/shape.h"

/* In place, as PyTorch's losses do it. */
static struct ag_tensor *clamp_min(struct ag_ctx *c, struct ag_tensor *x, double low)
{
	struct ag_value v[2] = {ag_arg(x), ag_float(low)};

	return x ? op_inplace(c, AG_OP_clamp_min, v, 2) : NULL;
}

/* tensor + number and number - tensor as C++ writes them */
static struct ag_tensor *plus(struct ag_ctx *c, struct ag_tensor *x, double n)
{
	struct ag_value v[2] = {ag_arg(x), ag_float(n)};

	return op_call(c, AG_OP_add_scalar, v, 2);
}

static struct ag_tensor *minus_from(struct ag_ctx *c, double n, struct ag_tensor *x)
{
	struct ag_value v[2] = {ag_float(n), ag_arg(x)};

	return op_call(c, AG_OP_sub, v, 2);
}

static struct ag_tensor *nll_kernel(struct ag_frame *f, struct ag_tensor *x, struct ag_tensor *t,
                                    struct ag_value weight, struct ag_value ignore,
                                    struct ag_value reduction)
{
	struct ag_value v[5] = {ag_arg(x), ag_arg(t), weight, ignore, reduction};

	return op_call(f->ctx, AG_OP_nll_loss_kernel, v, 5);
}

/* Other than 1, 2 or 4 dimensions are folded into four. */
static struct ag_tensor *nll_nd(struct ag_frame *f, struct ag_tensor *x, struct ag_tensor *t,
                                struct ag_value weight, struct ag_value ignore,
                                struct ag_value reduction)
{
	struct ag_ctx *c = f->ctx;
	int64_t shape[4], flat[3], out_shape[AG_MAX_DIMS];
	struct ag_tensor *out;
	int ndim, d;

	if (x->ndim < 1)
		return ag_null(c, AG_ERR_VALUE, "Expected 1 or more dimensions (got 0)");
	if (x->ndim != 1 && (!t->ndim || x->shape[0] != t->shape[0]))
		return ag_null(
		        c, AG_ERR_VALUE,
		        "Expected input batch_size (%lld) to match target batch_size (%lld).",
		        (long long)x->shape[0], (long long)(t->ndim ? t->shape[0] : 1));
	if (x->ndim == 1 || x->ndim == 2 || x->ndim == 4)
		return nll_kernel(f, x, t, weight, ignore, reduction);
	shape[0] = flat[0] = x->shape[0];
	shape[1] = x->shape[1];
	shape[2] = flat[1] = 1;
	shape[3] = flat[2] = ag_count(x->ndim - 2, x->shape + 2);
	ndim = t->ndim;
	for (d = 0; d < ndim; d++)
		out_shape[d] = t->shape[d];
	x = op_view(c, op_contiguous(c, x), 4, shape);
	t = op_view(c, op_contiguous(c, t), 3, flat);
	out = nll_kernel(f, x, t, weight, ignore, reduction);
	if (out && out->ndim)
		return op_view(c, out, ndim, out_shape);
	return out;
}

/* input, target, weight, ignore_index, reduction */
bool op_run_nll_loss(struct ag_frame *f)
{
	return ag_give_ref(f, nll_nd(f, arg_t(f, 0), arg_t(f, 1), f->v[2], f->v[3], f->v[4]));
}

static struct ag_tensor *probability_target(struct ag_frame *f, struct ag_tensor *x,
                                            struct ag_tensor *t, int dim, double smoothing)
{
	struct ag_ctx *c = f->ctx;
	struct ag_tensor *w = arg_t(f, 2), *sum, *logs;
	struct ag_value v[2] = {ag_arg(x), ag_int(dim)};
	int64_t shape[AG_MAX_DIMS];
	enum ag_loss_reduction r;
	int d;

	if (!ag_reduction_arg(f, 4, &r))
		return NULL;
	logs = op_call(c, AG_OP_log_softmax, v, 2);
	if (smoothing > 0)
		t = op_add_n(c, op_mul_number(c, t, 1 - smoothing),
		             smoothing / (double)x->shape[dim]);
	logs = op_mul(c, logs, t);
	if (w) {
		for (d = 0; d < x->ndim; d++)
			shape[d] = d == dim ? w->shape[0] : 1;
		logs = op_mul(c, logs, op_view(c, w, x->ndim, shape));
	}
	if (r == AG_REDUCE_NONE)
		return op_neg(c, op_sum_dim(c, logs, dim, false));
	sum = op_neg(c, op_sum(c, logs));
	if (r == AG_REDUCE_MEAN)
		sum = op_div_n(c, sum, (double)x->numel / (double)x->shape[dim]);
	return sum;
}

static struct ag_tensor *smoothed(struct ag_frame *f, struct ag_tensor *logs, struct ag_tensor *t,
                                  int dim, double smoothing)
{
	struct ag_ctx *c = f->ctx;
	struct ag_tensor *w = arg_t(f, 2), *nll, *smooth, *ignored;
	int64_t shape[AG_MAX_DIMS];
	enum ag_loss_reduction r;
	struct ag_value v[3];
	int d;

	if (!logs || !ag_reduction_arg(f, 4, &r))
		return NULL;
	nll = nll_nd(f, logs, t, f->v[2], f->v[3], f->v[4]);
	if (w) {
		for (d = 0; d < logs->ndim; d++)
			shape[d] = d == dim ? w->shape[0] : 1;
		smooth = op_mul(c, logs, op_view(c, w, logs->ndim, shape));
	} else {
		smooth = logs;
	}
	smooth = op_neg(c, op_sum_dim(c, smooth, dim, false));
	ignored = op_eq_n(c, t, arg_f(f, 3));
	v[0] = ag_arg(smooth);
	v[1] = ag_arg(ignored);
	v[2] = ag_float(0);
	if (!smooth || !ignored || !nll)
		return NULL;
	smooth = op_inplace(c, AG_OP_masked_fill, v, 3);
	if (r == AG_REDUCE_MEAN && w) {
		struct ag_value g[3] = {ag_arg(w), ag_int(0), ag_arg(t)};
		int64_t flat = t->numel;

		g[2] = ag_arg(op_reshape(c, t, 1, &flat));
		smooth = op_div(c, op_sum(c, smooth),
		                op_sum(c, op_call(c, AG_OP_index_select, g, 3)));
	} else if (r == AG_REDUCE_MEAN) {
		struct ag_value n[1] = {ag_arg(ignored)};

		smooth = op_div(c, op_sum(c, smooth),
		                op_sum(c, op_call(c, AG_OP_logical_not, n, 1)));
	} else if (r == AG_REDUCE_SUM) {
		smooth = op_sum(c, smooth);
	}
	return op_add(c, op_mul_number(c, smooth, smoothing / (double)logs->shape[dim]),
	              op_mul_number(c, nll, 1 - smoothing));
}

/* input, target, weight, ignore_index, reduction, label_smoothing */
bool op_run_cross_entropy(struct ag_frame *f)
{
	struct ag_tensor *x = arg_t(f, 0), *t = arg_t(f, 1), *logs;
	double smoothing = arg_f(f, 5);
	int dim = x->ndim == 1 ? 0 : 1;
	struct ag_value v[2] = {ag_arg(x), ag_int(dim)};

	if (!x->ndim)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "cross_entropy: input must have a dimension");
	if (ag_same_shape(x, t) && ag_dtype_is_float((enum ag_dtype)t->dtype))
		return ag_give_ref(f, probability_target(f, x, t, dim, smoothing));
	logs = op_call(f->ctx, AG_OP_log_softmax, v, 2);
	if (!logs)
		return false;
	if (smoothing > 0)
		return ag_give_ref(f, smoothed(f, logs, t, dim, smoothing));
	return ag_give_ref(f, nll_nd(f, logs, t, f->v[2], f->v[3], f->v[4]));
}

/* input, target, reduction, log_target */
bool op_run_kl_div(struct ag_frame *f)
{
	struct ag_ctx *c = f->ctx;
	struct ag_tensor *x = arg_t(f, 0), *t = arg_t(f, 1), *out;
	enum ag_loss_reduction r;
	struct ag_value v[2] = {ag_arg(t), ag_arg(t)};

	if (!ag_reduction_arg(f, 2, &r))
		return false;
	if (arg_b(f, 3))
		out = op_mul(c, op_exp(c, t), op_sub(c, t, x));
	else
		out = op_sub(c, op_call(c, AG_OP_xlogy, v, 2), op_mul(c, t, x));
	out = ag_reduce_loss(c, out, r);
	if (r == AG_REDUCE_BATCHMEAN && x->ndim) {
		v[0] = ag_arg(out);
		v[1] = ag_int(x->shape[0]);
		out = op_call(c, AG_OP_div, v, 2);
	}
	return ag_give_ref(f, out);
}

/* input, target, margin, reduction */
bool op_run_hinge_embedding_loss(struct ag_frame *f)
{
	struct ag_ctx *c = f->ctx;
	struct ag_tensor *x = arg_t(f, 0), *t = arg_t(f, 1), *margin, *one, *two;
	enum ag_loss_reduction r;

	if (!ag_reduction_arg(f, 3, &r))
		return false;
	margin = clamp_min(c, minus_from(c, arg_f(f, 2), x), 0);
	one = op_where_n(c, op_ne_n(c, t, 1), margin, 0);
	two = op_where_n(c, op_ne_n(c, t, -1), x, 0);
	return ag_give_ref(f, ag_reduce_loss(c, op_add(c, one, two), r));
}

/* input1, input2, target, margin, reduction */
bool op_run_margin_ranking_loss(struct ag_frame *f)
{
	struct ag_ctx *c = f->ctx;
	struct ag_tensor *out;
	enum ag_loss_reduction r;

	if (!ag_reduction_arg(f, 4, &r))
		return false;
	out = op_mul(c, op_neg(c, arg_t(f, 2)), op_sub(c, arg_t(f, 0), arg_t(f, 1)));
	out = clamp_min(c, plus(c, out, arg_f(f, 3)), 0);
	return ag_give_ref(f, ag_reduce_loss(c, out, r));
}

/* input1, input2, target, margin, reduction */
bool op_run_cosine_embedding_loss(struct ag_frame *f)
{
	struct ag_ctx *c = f->ctx;
	struct ag_tensor *x = arg_t(f, 0), *y = arg_t(f, 1), *t = arg_t(f, 2), *prod, *mag1, *mag2,
	                 *cos;
	struct ag_tensor *pos, *neg;
	int dim = x->ndim - 1;
	enum ag_loss_reduction r;
	struct ag_value v[3];

	if (!ag_reduction_arg(f, 4, &r))
		return false;
	prod = op_sum_dim(c, op_mul(c, x, y), dim, false);
	mag1 = plus(c, op_sum_dim(c, op_mul(c, x, x), dim, false), 1e-12);
	mag2 = plus(c, op_sum_dim(c, op_mul(c, y, y), dim, false), 1e-12);
	cos = op_div(c, prod, op_sqrt(c, op_mul(c, mag1, mag2)));
	pos = minus_from(c, 1, cos);
	v[0] = ag_arg(cos);
	v[1] = ag_float(arg_f(f, 3));
	neg = clamp_min(c, op_call(c, AG_OP_sub_scalar, v, 2), 0);
	pos = op_where_n(c, op_eq_n(c, t, 1), pos, 0);
	neg = op_where_n(c, op_eq_n(c, t, -1), neg, 0);
	return ag_give_ref(f, ag_reduce_loss(c, op_add(c, pos, neg), r));
}

static struct ag_tensor *old_distance(struct ag_ctx *c, struct ag_tensor *x, struct ag_tensor *y,
                                      double p, double eps)
{
	struct ag_tensor *d = plus(c, op_sub(c, x, y), eps);
	struct ag_value dim = ag_int(-1), v[4];

	v[0] = ag_arg(d);
	v[1] = ag_float(p);
	v[2] = ag_list(&dim, 1);
	v[3] = ag_bool(false);
	return op_call(c, AG_OP_old_norm, v, 4);
}

/* x1, x2, p, eps, keepdim */
bool op_run_pairwise_distance(struct ag_frame *f)
{
	struct ag_tensor *d =
	        old_distance(f->ctx, arg_t(f, 0), arg_t(f, 1), arg_f(f, 2), arg_f(f, 3));

	if (d && arg_b(f, 4))
		d = op_unsqueeze(f->ctx, d, -1);
	return ag_give_ref(f, d);
}

/* anchor, positive, negative, margin, p, eps, swap, reduction */
bool op_run_triplet_margin_loss(struct ag_frame *f)
{
	struct ag_ctx *c = f->ctx;
	struct ag_tensor *anchor = arg_t(f, 0), *positive = arg_t(f, 1), *negative = arg_t(f, 2);
	struct ag_tensor *near, *far, *out;
	struct ag_value v[2];
	double p = arg_f(f, 4), eps = arg_f(f, 5);
	enum ag_loss_reduction r;

	if (anchor->ndim != positive->ndim || anchor->ndim != negative->ndim)
		return ag_fail(c, AG_ERR_RUNTIME,
		               "The anchor, positive, and negative tensors are expected to have "
		               "the same number of dimensions, but got: anchor %dD, positive %dD, "
		               "and negative %dD inputs",
		               anchor->ndim, positive->ndim, negative->ndim);
	if (!ag_reduction_arg(f, 7, &r))
		return false;
	near = old_distance(c, anchor, positive, p, eps);
	far = old_distance(c, anchor, negative, p, eps);
	if (arg_b(f, 6))
		far = op_minimum(c, far, old_distance(c, positive, negative, p, eps));
	v[0] = ag_arg(op_sub(c, plus(c, near, arg_f(f, 3)), far));
	v[1] = ag_float(0);
	out = op_call(c, AG_OP_clamp_min, v, 2);
	return ag_give_ref(f, ag_reduce_loss(c, out, r));
}

/* A variance for each input or, on the last dimension, one for all; NULL with an error. */
static struct ag_tensor *fitting_variance(struct ag_ctx *c, const struct ag_tensor *x,
                                          struct ag_tensor *var)
{
	int n = x->ndim;

	if (ag_same_shape(x, var))
		return var;
	if (n && ag_shape_is(var, n - 1, x->shape))
		return op_unsqueeze(c, var, -1);
	if (n && var->ndim == n && var->shape[n - 1] == 1 &&
	    !memcmp(x->shape, var->shape, (size_t)(n - 1) * sizeof(*x->shape)))
		return var;
	return ag_null(c, AG_ERR_VALUE, "var is of incorrect size");
}

/* input, target, var, full, eps, reduction */
bool op_run_gaussian_nll_loss(struct ag_frame *f)
{
	struct ag_ctx *c = f->ctx;
	struct ag_tensor *x = arg_t(f, 0), *t = arg_t(f, 1), *d, *out;
	struct ag_tensor *var = fitting_variance(c, x, arg_t(f, 2));
	struct ag_grad_mode mode;
	struct ag_value v[2] = {{.kind = AG_NONE}, ag_float(arg_f(f, 4))};
	enum ag_loss_reduction r;

	if (!var)
		return false;
	var = op_clone(c, var);
	v[0] = ag_arg(var);
	mode = ag_no_grad(c);
	var = var ? op_inplace(c, AG_OP_clamp_min, v, 2) : NULL;
	ag_set_grad_mode(c, mode);
	if (!var || !ag_reduction_arg(f, 5, &r))
		return false;
	d = op_sub(c, x, t);
	v[0] = ag_arg(d);
	v[1] = ag_int(2);
	d = op_div(c, op_call(c, AG_OP_pow_scalar, v, 2), var);
	out = op_add(c, op_log(c, var), d);
	v[0] = ag_float(0.5);
	v[1] = ag_arg(out);
	out = op_call(c, AG_OP_mul, v, 2);
	if (arg_b(f, 3))
		out = op_add_n(c, out, 0.91893853320467274178);
	return ag_give_ref(f, ag_reduce_loss(c, out, r));
}

/* input, target, log_input, full, size_average, eps, reduce, reduction */
bool op_run_poisson_nll_loss(struct ag_frame *f)
{
	struct ag_ctx *c = f->ctx;
	struct ag_tensor *x = arg_t(f, 0), *t = arg_t(f, 1), *out;
	enum ag_loss_reduction r;

	if (!ag_reduction_arg(f, 7, &r))
		return false;
	if (arg_b(f, 2))
		out = op_sub(c, op_exp(c, x), op_mul(c, t, x));
	else
		out = op_sub(c, x, op_mul(c, t, op_log(c, op_add_n(c, x, arg_f(f, 5)))));
	if (arg_b(f, 3)) {
		struct ag_tensor *stirling = op_sub(c, op_mul(c, t, op_log(c, t)), t);

		stirling = op_add(
		        c, stirling,
		        op_mul_number(c, op_log(c, op_mul_number(c, t, 6.28318530717958647692)),
		                      0.5));
		out = op_add(c, out, op_where_n(c, op_gt_n(c, t, 1), stirling, 0));
	}
	return ag_give_ref(f, ag_reduce_loss(c, out, r));
}
