/* The arithmetic of each optimizer, on one parameter at a time. */

#include <math.h>

#include "runtime/kernel.h"
#include "runtime/optim.h"

#define NUMBER(name) ag_group_number(o, g, name)

/* Runs `fn` over parameter, gradient and state in place: what it computes into
 * `out` goes to the tensor `to`. */
static void update(struct ag_tensor *to, struct ag_tensor *const *in, int n, ag_map_fn *fn,
                   const double *p)
{
	ag_map(to, in, n, fn, p);
	ag_bump(to);
}

/* weight decay and maximize: in[0] gradient, in[1] parameter */
static void map_decayed(int64_t n, double *out, const double *const *in, const double *p)
{
	int64_t i;

	for (i = 0; i < n; i++)
		out[i] = p[1] * in[0][i] + p[0] * in[1][i];
}

/* The gradient as the step sees it; a temporary when it must differ. */
static struct ag_tensor *gradient(struct ag_ctx *ctx, struct ag_optim *o, struct ag_optim_group *g,
                                  struct ag_param_state *s, bool decay)
{
	double p[2] = {decay ? NUMBER("weight_decay") : 0, NUMBER("maximize") != 0 ? -1 : 1};
	struct ag_tensor *in[2] = {s->param->grad, s->param}, *out;

	if (p[0] == 0 && p[1] == 1)
		return in[0];
	out = scoped(ctx, ag_make(ctx, (enum ag_dtype)s->param->dtype, s->param->ndim,
	                          s->param->shape, true));
	if (out)
		ag_map(out, in, 2, map_decayed, p);
	return out;
}

/* out = in[0] + p0 * in[1] */
static void map_axpy(int64_t n, double *out, const double *const *in, const double *p)
{
	int64_t i;

	for (i = 0; i < n; i++)
		out[i] = in[0][i] + p[0] * in[1][i];
}

/* out = p0 * in[0] + p1 * in[1] */
static void map_blend(int64_t n, double *out, const double *const *in, const double *p)
{
	int64_t i;

	for (i = 0; i < n; i++)
		out[i] = p[0] * in[0][i] + p[1] * in[1][i];
}

/* out = p0 * in[0] + p1 * in[1] * in[1] */
static void map_blend_square(int64_t n, double *out, const double *const *in, const double *p)
{
	int64_t i;

	for (i = 0; i < n; i++)
		out[i] = p[0] * in[0][i] + p[1] * in[1][i] * in[1][i];
}

static void axpy(struct ag_tensor *x, double a, struct ag_tensor *y)
{
	struct ag_tensor *in[2] = {x, y};

	update(x, in, 2, map_axpy, &a);
}

static void blend(struct ag_tensor *x, double a, struct ag_tensor *y, double b, ag_map_fn *fn)
{
	struct ag_tensor *in[2] = {x, y};
	double p[2] = {a, b};

	update(x, in, 2, fn, p);
}

bool ag_step_sgd(struct ag_ctx *ctx, struct ag_optim *o, struct ag_optim_group *g,
                 struct ag_param_state *s)
{
	struct ag_tensor *grad = gradient(ctx, o, g, s, true), *buffer;
	double momentum = NUMBER("momentum");

	if (!grad)
		return false;
	if (momentum != 0) {
		bool first = !s->at[0];

		buffer = ag_state(ctx, s, 0, 0);
		if (!buffer)
			return false;
		blend(buffer, first ? 0 : momentum, grad, first ? 1 : 1 - NUMBER("dampening"),
		      map_blend);
		if (NUMBER("nesterov") != 0) {
			axpy(s->param, -NUMBER("lr"), grad);
			axpy(s->param, -NUMBER("lr") * momentum, buffer);
			return true;
		}
		grad = buffer;
	}
	axpy(s->param, -NUMBER("lr"), grad);
	return true;
}

/* in: parameter, first and second moment; p: lr / c1, sqrt(c2), eps */
static void map_adam(int64_t n, double *out, const double *const *in, const double *p)
{
	int64_t i;

	for (i = 0; i < n; i++)
		out[i] = in[0][i] - p[0] * in[1][i] / (sqrt(in[2][i]) / p[1] + p[2]);
}

static void map_larger(int64_t n, double *out, const double *const *in, const double *p)
{
	int64_t i;

	(void)p;
	for (i = 0; i < n; i++)
		out[i] = in[0][i] > in[1][i] ? in[0][i] : in[1][i];
}

static void map_scale(int64_t n, double *out, const double *const *in, const double *p)
{
	int64_t i;

	for (i = 0; i < n; i++)
		out[i] = p[0] * in[0][i];
}

bool ag_step_adam(struct ag_ctx *ctx, struct ag_optim *o, struct ag_optim_group *g,
                  struct ag_param_state *s)
{
	bool decoupled = o->id == AG_OPTIM_AdamW || NUMBER("decoupled_weight_decay") != 0;
	struct ag_tensor *grad = gradient(ctx, o, g, s, !decoupled), *in[3];
	double scale = 1 - NUMBER("lr") * NUMBER("weight_decay"), p[3];

	if (!grad || !ag_state_step(ctx, s))
		return false;
	in[0] = s->param;
	in[1] = ag_state(ctx, s, 0, 0);
	in[2] = ag_state(ctx, s, 1, 0);
	if (!in[1] || !in[2])
		return false;
	if (decoupled)
		update(s->param, in, 1, map_scale, &scale);
	blend(in[1], g->betas[0], grad, 1 - g->betas[0], map_blend);
	blend(in[2], g->betas[1], grad, 1 - g->betas[1], map_blend_square);
	if (NUMBER("amsgrad") != 0) {
		struct ag_tensor *both[2];

		both[0] = ag_state(ctx, s, 2, 0);
		both[1] = in[2];
		if (!both[0])
			return false;
		update(both[0], both, 2, map_larger, NULL);
		in[2] = both[0];
	}
	p[0] = NUMBER("lr") / (1 - pow(g->betas[0], s->count));
	p[1] = sqrt(1 - pow(g->betas[1], s->count));
	p[2] = NUMBER("eps");
	update(s->param, in, 3, map_adam, p);
	return true;
}

/* in: parameter, moment, second moment, gradient; p: moment's and gradient's rates */
static void map_nadam(int64_t n, double *out, const double *const *in, const double *p)
{
	int64_t i;

	for (i = 0; i < n; i++) {
		double d = sqrt(in[2][i] / p[2]) + p[3];

		out[i] = in[0][i] - p[0] * in[3][i] / d - p[1] * in[1][i] / d;
	}
}

bool ag_step_nadam(struct ag_ctx *ctx, struct ag_optim *o, struct ag_optim_group *g,
                   struct ag_param_state *s)
{
	struct ag_tensor *grad = gradient(ctx, o, g, s, true), *in[4];
	double decay = NUMBER("momentum_decay"), mu, next, p[4];

	if (!grad || !ag_state_step(ctx, s))
		return false;
	in[0] = s->param;
	in[1] = ag_state(ctx, s, 0, 0);
	in[2] = ag_state(ctx, s, 1, 0);
	in[3] = grad;
	if (!s->at[2])
		s->at[2] = ag_make(ctx, AG_F32, 0, NULL, true);
	if (!in[1] || !in[2] || !s->at[2])
		return false;
	ag_storage_set_kind(s->at[2]->storage, AG_KIND_OPTIM);
	mu = g->betas[0] * (1 - 0.5 * pow(0.96, s->count * decay));
	next = g->betas[0] * (1 - 0.5 * pow(0.96, (s->count + 1) * decay));
	s->product *= mu;
	ag_fill_data(s->at[2], s->product);
	blend(in[1], g->betas[0], grad, 1 - g->betas[0], map_blend);
	blend(in[2], g->betas[1], grad, 1 - g->betas[1], map_blend_square);
	p[0] = NUMBER("lr") * (1 - mu) / (1 - s->product);
	p[1] = NUMBER("lr") * next / (1 - s->product * next);
	p[2] = 1 - pow(g->betas[1], s->count);
	p[3] = NUMBER("eps");
	update(s->param, in, 4, map_nadam, p);
	return true;
}

bool ag_step_radam(struct ag_ctx *ctx, struct ag_optim *o, struct ag_optim_group *g,
                   struct ag_param_state *s)
{
	struct ag_tensor *grad = gradient(ctx, o, g, s, true), *in[3];
	double c1, c2, top, length, p[3];

	if (!grad || !ag_state_step(ctx, s))
		return false;
	in[0] = s->param;
	in[1] = ag_state(ctx, s, 0, 0);
	in[2] = ag_state(ctx, s, 1, 0);
	if (!in[1] || !in[2])
		return false;
	blend(in[1], g->betas[0], grad, 1 - g->betas[0], map_blend);
	blend(in[2], g->betas[1], grad, 1 - g->betas[1], map_blend_square);
	c1 = 1 - pow(g->betas[0], s->count);
	c2 = 1 - pow(g->betas[1], s->count);
	top = 2 / (1 - g->betas[1]) - 1;
	length = top - 2 * s->count * pow(g->betas[1], s->count) / c2;
	if (length <= 5) {
		axpy(s->param, -NUMBER("lr") / c1, in[1]);
		return true;
	}
	p[0] = NUMBER("lr") / c1 *
	       sqrt((length - 4) * (length - 2) * top / ((top - 4) * (top - 2) * length)) *
	       sqrt(c2);
	p[1] = 1;
	p[2] = NUMBER("eps");
	update(s->param, in, 3, map_adam, p);
	return true;
}

/* in: infinity norm, gradient; p: beta2, eps */
static void map_infinity(int64_t n, double *out, const double *const *in, const double *p)
{
	int64_t i;

	for (i = 0; i < n; i++)
		out[i] = fmax(p[0] * in[0][i], fabs(in[1][i]) + p[1]);
}

static void map_ratio(int64_t n, double *out, const double *const *in, const double *p)
{
	int64_t i;

	for (i = 0; i < n; i++)
		out[i] = in[0][i] - p[0] * in[1][i] / in[2][i];
}

bool ag_step_adamax(struct ag_ctx *ctx, struct ag_optim *o, struct ag_optim_group *g,
                    struct ag_param_state *s)
{
	struct ag_tensor *grad = gradient(ctx, o, g, s, true), *in[3];
	double rate;

	if (!grad || !ag_state_step(ctx, s))
		return false;
	in[0] = s->param;
	in[1] = ag_state(ctx, s, 0, 0);
	in[2] = ag_state(ctx, s, 1, 0);
	if (!in[1] || !in[2])
		return false;
	blend(in[1], g->betas[0], grad, 1 - g->betas[0], map_blend);
	blend(in[2], g->betas[1], grad, NUMBER("eps"), map_infinity);
	rate = NUMBER("lr") / (1 - pow(g->betas[0], s->count));
	update(s->param, in, 3, map_ratio, &rate);
	return true;
}

/* in: x, gradient, square average, average; p: rate, eps, centered, momentum */
static void map_rms(int64_t n, double *out, const double *const *in, const double *p)
{
	int64_t i;

	for (i = 0; i < n; i++) {
		double var = in[2][i] - (p[2] != 0 ? in[3][i] * in[3][i] : 0);

		out[i] = p[3] * in[0][i] + p[0] * in[1][i] / (sqrt(var) + p[1]);
	}
}

bool ag_step_rmsprop(struct ag_ctx *ctx, struct ag_optim *o, struct ag_optim_group *g,
                     struct ag_param_state *s)
{
	struct ag_tensor *grad = gradient(ctx, o, g, s, true), *in[4];
	double alpha = NUMBER("alpha"), momentum = NUMBER("momentum"), p[4];
	bool centered = NUMBER("centered") != 0;

	if (!grad || !ag_state_step(ctx, s))
		return false;
	in[1] = grad;
	in[2] = ag_state(ctx, s, 0, 0);
	in[3] = centered ? ag_state(ctx, s, 1, 0) : in[2];
	in[0] = momentum > 0 ? ag_state(ctx, s, 2, 0) : s->param;
	if (!in[0] || !in[2] || !in[3])
		return false;
	blend(in[2], alpha, grad, 1 - alpha, map_blend_square);
	if (centered)
		blend(in[3], alpha, grad, 1 - alpha, map_blend);
	p[0] = momentum > 0 ? 1 : -NUMBER("lr");
	p[1] = NUMBER("eps");
	p[2] = centered;
	p[3] = momentum > 0 ? momentum : 1;
	update(in[0], in, 4, map_rms, p);
	if (momentum > 0)
		axpy(s->param, -NUMBER("lr"), in[0]);
	return true;
}

bool ag_step_adagrad(struct ag_ctx *ctx, struct ag_optim *o, struct ag_optim_group *g,
                     struct ag_param_state *s)
{
	struct ag_tensor *grad = gradient(ctx, o, g, s, true), *in[4];
	double p[4];

	if (!grad || !ag_state_step(ctx, s) || !ag_state(ctx, s, 0, 0))
		return false;
	in[0] = s->param;
	in[1] = grad;
	in[2] = in[3] = s->at[0];
	blend(in[2], 1, grad, 1, map_blend_square);
	p[0] = -NUMBER("lr") / (1 + (s->count - 1) * NUMBER("lr_decay"));
	p[1] = NUMBER("eps");
	p[2] = 0;
	p[3] = 1;
	update(s->param, in, 4, map_rms, p);
	return true;
}

/* in: square average, gradient, average of deltas; p: eps */
static void map_delta(int64_t n, double *out, const double *const *in, const double *p)
{
	int64_t i;

	for (i = 0; i < n; i++)
		out[i] = sqrt(in[2][i] + p[0]) / sqrt(in[0][i] + p[0]) * in[1][i];
}

bool ag_step_adadelta(struct ag_ctx *ctx, struct ag_optim *o, struct ag_optim_group *g,
                      struct ag_param_state *s)
{
	struct ag_tensor *grad = gradient(ctx, o, g, s, true), *in[3], *delta;
	double rho = NUMBER("rho"), eps = NUMBER("eps");

	if (!grad || !ag_state_step(ctx, s))
		return false;
	in[0] = ag_state(ctx, s, 0, 0);
	in[1] = grad;
	in[2] = ag_state(ctx, s, 1, 0);
	delta = scoped(ctx, ag_make(ctx, (enum ag_dtype)s->param->dtype, s->param->ndim,
	                            s->param->shape, true));
	if (!in[0] || !in[2] || !delta)
		return false;
	blend(in[0], rho, grad, 1 - rho, map_blend_square);
	ag_map(delta, in, 3, map_delta, &eps);
	blend(in[2], rho, delta, 1 - rho, map_blend_square);
	axpy(s->param, -NUMBER("lr"), delta);
	return true;
}
