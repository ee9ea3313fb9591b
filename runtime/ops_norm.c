/* Layer, batch, group and instance normalisation. The statistics are saved;
 * a backward that itself records works them out again, so that second
 * derivatives go through them. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/element.h"
#include "runtime/op.h"
#include "runtime/shape.h"

/* x seen as [outer, groups, inner]: statistics are per group, over the rest. */
struct norm {
	int64_t outer, groups, inner;
	double eps;
};

/* Mean and 1 / sqrt(var + eps) of each group. */
static void statistics(const double *x, const struct norm *s, double *mean, double *rstd,
                       double *var)
{
	int64_t g, o, i, n = s->outer * s->inner;

	for (g = 0; g < s->groups; g++) {
		double sum = 0, square = 0;

		for (o = 0; o < s->outer; o++) {
			for (i = 0; i < s->inner; i++)
				sum += x[(o * s->groups + g) * s->inner + i];
		}
		mean[g] = sum / (double)n;
		for (o = 0; o < s->outer; o++) {
			for (i = 0; i < s->inner; i++) {
				double d = x[(o * s->groups + g) * s->inner + i] - mean[g];

				square += d * d;
			}
		}
		if (var)
			var[g] = square;
		rstd[g] = 1 / sqrt(square / (double)n + s->eps);
	}
}

static void normalise(double *x, const struct norm *s, const double *mean, const double *rstd)
{
	int64_t o, g, i;

	for (o = 0; o < s->outer; o++) {
		for (g = 0; g < s->groups; g++) {
			double *at = x + (o * s->groups + g) * s->inner;

			for (i = 0; i < s->inner; i++)
				at[i] = (at[i] - mean[g]) * rstd[g];
		}
	}
}

/* Of the input, but float32 for half inputs with float32 parameters: nothing else mixes.
 * AG_DTYPE_COUNT with an error for what does not. */
static enum ag_dtype statistics_dtype(struct ag_ctx *ctx, const struct ag_tensor *x,
                                      struct ag_tensor *const *params, int count)
{
	int i;

	for (i = 0; i < count && !params[i];)
		i++;
	if (i == count || params[i]->dtype == x->dtype)
		return (enum ag_dtype)x->dtype;
	for (; i < count; i++) {
		if (params[i] && params[i]->dtype != AG_F32) {
			ag_fail(ctx, AG_ERR_RUNTIME,
			        "mixed dtype (CPU): expect parameter to have scalar type of Float");
			return AG_DTYPE_COUNT;
		}
	}
	if (x->dtype == AG_F16 || x->dtype == AG_BF16)
		return AG_F32;
	ag_fail(ctx, AG_ERR_RUNTIME, "mixed dtype (CPU): all inputs must share same datatype.");
	return AG_DTYPE_COUNT;
}

/* A pair of statistics; false with an error. */
static bool make_statistics(struct ag_frame *f, const struct ag_tensor *x,
                            struct ag_tensor *const *params, int count, int ndim,
                            const int64_t *shape, struct ag_tensor **pair)
{
	enum ag_dtype dtype = statistics_dtype(f->ctx, x, params, count);

	if (dtype == AG_DTYPE_COUNT)
		return false;
	pair[0] = op_zeros(f->ctx, dtype, ndim, shape);
	pair[1] = op_zeros(f->ctx, dtype, ndim, shape);
	return pair[0] && pair[1];
}

/* ---- layer norm */

static void affine_last(double *x, int64_t rows, int64_t width, const double *w, const double *b)
{
	int64_t i, k;

	for (i = 0; i < rows; i++) {
		for (k = 0; k < width; k++)
			x[i * width + k] = x[i * width + k] * (w ? w[k] : 1) + (b ? b[k] : 0);
	}
}

static bool layer_shape(struct ag_frame *f, const struct ag_tensor *x, int *ndim, struct norm *s)
{
	int64_t shape[AG_MAX_DIMS];
	int n = arg_ints(f, 1, shape, AG_MAX_DIMS), d, lead = x->ndim - n;
	char a[128], b[128];

	if (n < 0)
		return false;
	for (d = 0; d < n && lead >= 0; d++)
		lead = x->shape[x->ndim - n + d] == shape[d] ? lead : -1;
	if (n < 1 || lead < 0)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "Given normalized_shape=%s, expected input with shape [*, ...], but "
		               "got input of size%s",
		               ag_shape_text(n, shape, a, sizeof(a)),
		               ag_shape_text(x->ndim, x->shape, b, sizeof(b)));
	*ndim = lead;
	s->outer = 1;
	s->groups = ag_count(lead, x->shape);
	s->inner = ag_count(n, shape);
	return true;
}

bool op_run_layer_norm(struct ag_frame *f)
{
	struct ag_tensor *x = arg_t(f, 0), *w = arg_t(f, 2), *b = arg_t(f, 3), *out, *stats[2];
	struct ag_tensor *in[3] = {x, w, b};
	struct norm s = {.eps = arg_f(f, 4)};
	int64_t shape[AG_MAX_DIMS];
	struct ag_node *node;
	int lead, d;

	if (!ag_need_float(f, x) || !layer_shape(f, x, &lead, &s))
		return false;
	if ((w && w->numel != s.inner) || (b && b->numel != s.inner))
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "Expected weight and bias to be of same shape as normalized_shape");
	for (d = 0; d < x->ndim; d++)
		shape[d] = d < lead ? x->shape[d] : 1;
	if (!make_statistics(f, x, in + 1, 2, x->ndim, shape, stats))
		return false;
	out = ag_make(f->ctx, (enum ag_dtype)x->dtype, x->ndim, x->shape, true);
	if (!out)
		return false;
	node = ag_record(f->ctx, AG_NODE_LayerNorm, in, 3, 5, 1);
	if (node) {
		node->ints[0] = lead;
		node->num[0] = s.eps;
		ag_save_input(node, 0, x);
		ag_save_input(node, 1, w);
		ag_save_input(node, 2, b);
		ag_save_input(node, 3, stats[0]);
		ag_save_input(node, 4, stats[1]);
	}
	if (ag_ready(out, in, 3)) {
		double *px = ag_plain(x), *pw = w ? ag_plain(w) : NULL,
		       *pb = b ? ag_plain(b) : NULL;
		double *m = ag_alloc((size_t)s.groups + 1, sizeof(*m));
		double *r = ag_alloc((size_t)s.groups + 1, sizeof(*r));

		statistics(px, &s, m, r, NULL);
		normalise(px, &s, m, r);
		affine_last(px, s.groups, s.inner, pw, pb);
		ag_put_plain(out, px);
		ag_put_plain(stats[0], m);
		ag_put_plain(stats[1], r);
		free(px);
		free(pw);
		free(pb);
		free(m);
		free(r);
	} else {
		ag_storage_drop_data(stats[0]->storage);
		ag_storage_drop_data(stats[1]->storage);
	}
	return ag_finish(f, out, node);
}

static int64_t bytes_of(int64_t count, const struct ag_tensor *like)
{
	return count * (int64_t)ag_dtype_size((enum ag_dtype)like->dtype);
}

static bool is_half(const struct ag_tensor *t)
{
	return t->dtype == AG_F16 || t->dtype == AG_BF16;
}

/* Halves are computed with in float32; results are cast back. */
static struct ag_tensor *wide(struct ag_ctx *c, struct ag_tensor *t)
{
	return t && is_half(t) ? op_cast(c, t, AG_F32) : t;
}

static void widen(struct ag_ctx *c, struct ag_tensor **x, struct ag_tensor **w,
                  struct ag_tensor **g, struct ag_tensor **mean, struct ag_tensor **rstd)
{
	*x = wide(c, *x);
	*w = wide(c, *w);
	*g = wide(c, *g);
	*mean = wide(c, *mean);
	*rstd = wide(c, *rstd);
}

static struct ag_tensor *mean_over(struct ag_ctx *c, struct ag_tensor *x, const int64_t *dims,
                                   int n)
{
	struct ag_value list[AG_MAX_DIMS], v[3];
	int i;

	for (i = 0; i < n; i++)
		list[i] = ag_int(dims[i]);
	v[0] = ag_arg(x);
	v[1] = ag_list(list, (size_t)n);
	v[2] = ag_bool(true);
	return op_call(c, AG_OP_mean, v, 3);
}

/* (x - mean) * rstd and rstd, from what is saved or, when recording, from x. */
static struct ag_tensor *standard(struct ag_ctx *c, struct ag_tensor *x, struct ag_tensor *mean,
                                  struct ag_tensor **rstd, const int64_t *dims, int n, double eps)
{
	struct ag_tensor *d;

	if (wants1(c, x)) {
		d = op_sub(c, x, mean_over(c, x, dims, n));
		*rstd = op_rsqrt(c, op_add_n(c, mean_over(c, op_mul(c, d, d), dims, n), eps));
	} else {
		d = op_sub(c, x, mean);
	}
	return op_mul(c, d, *rstd);
}

/* rstd * (g - mean(g) - xhat * mean(g * xhat)) */
static struct ag_tensor *input_grad(struct ag_ctx *c, struct ag_tensor *g, struct ag_tensor *xhat,
                                    struct ag_tensor *rstd, const int64_t *dims, int n)
{
	struct ag_tensor *a = mean_over(c, g, dims, n);
	struct ag_tensor *b = op_mul(c, xhat, mean_over(c, op_mul(c, g, xhat), dims, n));

	return op_mul(c, rstd, op_sub(c, op_sub(c, g, a), b));
}

bool bw_LayerNorm(struct ag_bw *b)
{
	struct ag_ctx *c = B_CTX;
	struct ag_tensor *x = B_SAVED(0), *w = B_SAVED(1), *bias = B_SAVED(2), *g = B_GRAD;
	struct ag_tensor *mean = B_SAVED(3), *rstd = B_SAVED(4), *xhat;
	int lead = (int)b->node->ints[0], d, n = 0;
	int64_t dims[AG_MAX_DIMS];

	if (!x || !mean || !rstd)
		return false;
	if (ag_bw_is_blind(c, (struct ag_tensor *[]){x, w, g}, 3)) {
		B_SET(0, op_unknown_as(c, x));
		B_SET(1, op_unknown_as(c, w));
		B_SET(2, op_unknown_as(c, bias));
		/* Each thread sums for itself. */
		if (w || bias)
			ag_transient(
			        c, 2 * AG_THREADS *
			                   bytes_of(ag_count(x->ndim - lead, x->shape + lead), x));
		return true;
	}
	widen(c, &x, &w, &g, &mean, &rstd);
	for (d = lead; d < x->ndim; d++)
		dims[n++] = d;
	xhat = standard(c, x, mean, &rstd, dims, n, b->node->num[0]);
	if (B_WANT(0))
		B_SET(0, input_grad(c, w ? op_mul(c, g, w) : g, xhat, rstd, dims, n));
	if (B_WANT(1))
		B_SET(1, op_sum_to(c, op_mul(c, g, xhat), w->ndim, w->shape));
	if (B_WANT(2))
		B_SET(2, op_sum_to(c, g, bias->ndim, bias->shape));
	return true;
}

/* input, normalized_shape, weight, eps: composed, as PyTorch does on CPU */
bool op_run_rms_norm(struct ag_frame *f)
{
	struct ag_ctx *c = f->ctx;
	struct ag_tensor *x = arg_t(f, 0), *w = arg_t(f, 2), *r, *input = wide(c, x);
	double eps = x->dtype == AG_F64 ? 2.220446049250313e-16 : 1.1920928955078125e-07;
	int64_t dims[AG_MAX_DIMS];
	struct ag_value v[2];
	struct norm s;
	int lead, d, n = 0;
	size_t mark = ag_scope_open(c);

	if (!ag_need_float(f, x) || !layer_shape(f, x, &lead, &s))
		return false;
	if (!arg_none(f, 3))
		eps = arg_f(f, 3);
	for (d = lead; d < x->ndim; d++)
		dims[n++] = d;
	v[0] = ag_arg(op_pow_n(c, input, 2));
	v[0] = ag_arg(mean_over(c, v[0].as.tensor, dims, n));
	v[1] = ag_float(eps);
	r = ag_scope_keep(c, mark, op_rsqrt(c, op_call(c, AG_OP_add_scalar, v, 2)));
	r = op_mul(c, input, r);
	r = op_contiguous(c, w ? op_mul(c, r, w) : r);
	return ag_give_ref(f, is_half(x) ? op_cast(c, r, (enum ag_dtype)x->dtype) : r);
}

/* ---- batch norm */

static void update_running(struct ag_tensor *running, const double *batch, int64_t n,
                           double momentum)
{
	double *values;
	int64_t i;

	if (!running)
		return;
	if (!ag_has_data(running) || !batch) {
		ag_storage_drop_data(running->storage);
		return;
	}
	values = ag_plain(running);
	for (i = 0; i < n; i++)
		values[i] = (1 - momentum) * values[i] + momentum * batch[i];
	ag_put_plain(running, values);
	free(values);
}

static void affine_channels(double *x, const struct norm *s, const double *w, const double *b)
{
	int64_t o, g, i;

	for (o = 0; o < s->outer; o++) {
		for (g = 0; g < s->groups; g++) {
			for (i = 0; i < s->inner; i++) {
				double *at = &x[(o * s->groups + g) * s->inner + i];

				*at = *at * (w ? w[g] : 1) + (b ? b[g] : 0);
			}
		}
	}
}

struct batch_norm {
	struct ag_tensor *x, *mean, *var, *w, *b, *saved[2], *out; /* saved: mean, rstd */
	struct norm s;
	bool training;
	double momentum;
};

static void batch_compute(struct batch_norm *n)
{
	struct ag_tensor *in[5] = {n->x, n->w, n->b, n->training ? NULL : n->mean,
	                           n->training ? NULL : n->var};
	int64_t c = n->s.groups, i, count = n->s.outer * n->s.inner;
	double *x, *w, *b, *mean, *rstd, *var;

	/* A batch of nothing says nothing. */
	if (!n->x->numel)
		return;
	if (!ag_ready(n->out, in, 5)) {
		ag_storage_drop_data(n->saved[0]->storage);
		ag_storage_drop_data(n->saved[1]->storage);
		if (n->training) {
			update_running(n->mean, NULL, c, 0);
			update_running(n->var, NULL, c, 0);
		}
		return;
	}
	x = ag_plain(n->x);
	w = n->w ? ag_plain(n->w) : NULL;
	b = n->b ? ag_plain(n->b) : NULL;
	mean = n->training ? ag_alloc((size_t)c + 1, sizeof(*mean)) : ag_plain(n->mean);
	var = n->training ? ag_alloc((size_t)c + 1, sizeof(*var)) : ag_plain(n->var);
	rstd = ag_alloc((size_t)c + 1, sizeof(*rstd));
	if (n->training) {
		statistics(x, &n->s, mean, rstd, var);
		for (i = 0; i < c; i++)
			var[i] /= (double)(count - 1);
		update_running(n->mean, mean, c, n->momentum);
		update_running(n->var, var, c, n->momentum);
		ag_put_plain(n->saved[0], mean);
		ag_put_plain(n->saved[1], rstd);
	} else {
		for (i = 0; i < c; i++)
			rstd[i] = 1 / sqrt(var[i] + n->s.eps);
	}
	normalise(x, &n->s, mean, rstd);
	affine_channels(x, &n->s, w, b);
	ag_put_plain(n->out, x);
	free(x);
	free(w);
	free(b);
	free(mean);
	free(var);
	free(rstd);
}

static bool batch_run(struct ag_frame *f, struct batch_norm *n)
{
	struct ag_tensor *edges[3] = {n->x, n->w, n->b};
	struct ag_tensor *params[4] = {n->w, n->b, n->mean, n->var};
	int64_t saved = n->training ? n->s.groups : 0;
	struct ag_node *node;

	if (!make_statistics(f, n->x, params, 4, 1, &saved, n->saved))
		return false;
	n->out = ag_make_image(f->ctx, n->x, n->x->ndim, n->x->shape);
	if (!n->out)
		return false;
	node = ag_record(f->ctx, AG_NODE_BatchNorm, edges, 3, 6, 1);
	if (node) {
		node->ints[0] = n->training;
		node->num[0] = n->s.eps;
		ag_save_input(node, 0, n->x);
		ag_save_input(node, 1, n->w);
		ag_save_input(node, 2, n->mean);
		ag_save_input(node, 3, n->var);
		ag_save_input(node, 4, n->saved[0]);
		ag_save_input(node, 5, n->saved[1]);
	}
	batch_compute(n);
	/* Factor and offset of each channel; where channels come last each thread sums for itself.
	 */
	ag_transient(f->ctx, 2 * bytes_of(n->s.groups, n->x));
	if (n->training && (n->s.inner == 1 || ag_suggests_last(n->x)))
		ag_transient(f->ctx, (2 + AG_THREADS) * bytes_of(n->s.groups, n->x));
	return ag_finish(f, n->out, node);
}

static bool channel_sizes(struct ag_frame *f, const struct ag_tensor *x, const struct ag_tensor *t,
                          const char *what)
{
	if (!t || t->numel == x->shape[1])
		return true;
	return ag_fail(f->ctx, AG_ERR_RUNTIME, "%s should contain %lld elements not %lld", what,
	               (long long)x->shape[1], (long long)t->numel);
}

/* input, running_mean, running_var, weight, bias, training, momentum, eps */
bool op_run_batch_norm(struct ag_frame *f)
{
	struct batch_norm n = {.x = arg_t(f, 0),
	                       .mean = arg_t(f, 1),
	                       .var = arg_t(f, 2),
	                       .w = arg_t(f, 3),
	                       .b = arg_t(f, 4),
	                       .training = arg_b(f, 5),
	                       .momentum = arg_f(f, 6)};
	struct ag_tensor *x = n.x;

	if (!ag_need_float(f, x))
		return false;
	if (x->ndim < 2)
		return ag_fail(f->ctx, AG_ERR_VALUE, "expected 2D or 3D input (got %dD input)",
		               x->ndim);
	if (n.training && x->numel / (x->shape[1] ? x->shape[1] : 1) == 1)
		return ag_fail(f->ctx, AG_ERR_VALUE,
		               "Expected more than 1 value per channel when training, got input "
		               "size torch.Size([%lld, %lld])",
		               (long long)x->shape[0], (long long)x->shape[1]);
	if (!n.training && (!n.mean || !n.var))
		return ag_fail(
		        f->ctx, AG_ERR_RUNTIME,
		        "Expected running_mean and running_var to be defined when training=False");
	if (!channel_sizes(f, x, n.mean, "running_mean") ||
	    !channel_sizes(f, x, n.var, "running_var") || !channel_sizes(f, x, n.w, "weight") ||
	    !channel_sizes(f, x, n.b, "bias"))
		return false;
	n.s.outer = x->shape[0];
	n.s.groups = x->shape[1];
	n.s.inner = ag_count(x->ndim - 2, x->shape + 2);
	n.s.eps = arg_f(f, 7);
	return batch_run(f, &n);
}

bool bw_BatchNorm(struct ag_bw *b)
{
	struct ag_ctx *c = B_CTX;
	bool training = b->node->ints[0] != 0;
	struct ag_tensor *x = B_SAVED(0), *w = B_SAVED(1), *g = B_GRAD;
	struct ag_tensor *mean, *rstd, *xhat, *gw;
	int64_t dims[AG_MAX_DIMS], shape[AG_MAX_DIMS];
	int d, n = 0;

	mean = B_SAVED(training ? 4 : 2);
	rstd = B_SAVED(training ? 5 : 3);
	if (!x || !mean || !rstd)
		return false;
	if (ag_bw_is_blind(c, (struct ag_tensor *[]){x, w, g, mean}, 4)) {
		B_SET(0, op_unknown_as(c, x));
		for (d = 1; d < 3; d++)
			B_SET((uint32_t)d, op_unknown_as(c, w ? w : mean));
		ag_transient(c, bytes_of(x->numel, x));
		return true;
	}
	widen(c, &x, &w, &g, &mean, &rstd);
	for (d = 0; d < x->ndim; d++) {
		shape[d] = d == 1 ? x->shape[1] : 1;
		if (d != 1)
			dims[n++] = d;
	}
	mean = op_view(c, mean, x->ndim, shape);
	rstd = op_view(c, rstd, x->ndim, shape);
	if (training) {
		xhat = standard(c, x, mean, &rstd, dims, n, b->node->num[0]);
	} else {
		rstd = op_rsqrt(c, op_add_n(c, rstd, b->node->num[0]));
		xhat = op_mul(c, op_sub(c, x, mean), rstd);
	}
	gw = w ? op_mul(c, g, op_view(c, w, x->ndim, shape)) : g;
	if (B_WANT(0))
		B_SET(0, training ? input_grad(c, gw, xhat, rstd, dims, n) : op_mul(c, gw, rstd));
	if (B_WANT(1))
		B_SET(1, op_sum_dims(c, op_mul(c, g, xhat), dims, n, false));
	if (B_WANT(2))
		B_SET(2, op_sum_dims(c, g, dims, n, false));
	return true;
}

/* ---- group norm */

bool op_run_group_norm(struct ag_frame *f)
{
	struct ag_tensor *x = arg_t(f, 0), *w = arg_t(f, 2), *b = arg_t(f, 3), *out, *stats[2];
	struct ag_tensor *in[3] = {x, w, b};
	int64_t groups = arg_i(f, 1), shape[2];
	struct norm s = {.outer = 1, .eps = arg_f(f, 4)}, channels;
	struct ag_node *node;

	if (!ag_need_float(f, x))
		return false;
	if (x->ndim < 2 || groups < 1 || x->shape[1] % groups)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "Expected number of channels in input to be divisible by "
		               "num_groups, but got input of %d dimensions and num_groups=%lld",
		               x->ndim, (long long)groups);
	if (!channel_sizes(f, x, w, "weight") || !channel_sizes(f, x, b, "bias"))
		return false;
	x = in[0] = op_contiguous_in(f->ctx, x, ag_format_of(x));
	if (!x)
		return false;
	shape[0] = x->shape[0];
	shape[1] = groups;
	s.groups = ag_times(shape[0], groups);
	s.inner = s.groups ? x->numel / s.groups : 0;
	if (!make_statistics(f, x, in + 1, 2, 2, shape, stats))
		return false;
	out = ag_make_image(f->ctx, x, x->ndim, x->shape);
	if (!out)
		return false;
	node = ag_record(f->ctx, AG_NODE_GroupNorm, in, 3, 4, 1);
	if (node) {
		node->ints[0] = groups;
		node->num[0] = s.eps;
		ag_save_input(node, 0, x);
		ag_save_input(node, 1, w);
		ag_save_input(node, 2, stats[0]);
		ag_save_input(node, 3, stats[1]);
	}
	if (ag_ready(out, in, 3)) {
		double *px = ag_plain(x), *pw = w ? ag_plain(w) : NULL,
		       *pb = b ? ag_plain(b) : NULL;
		double *m = ag_alloc((size_t)s.groups + 1, sizeof(*m));
		double *r = ag_alloc((size_t)s.groups + 1, sizeof(*r));

		statistics(px, &s, m, r, NULL);
		normalise(px, &s, m, r);
		channels.outer = x->shape[0];
		channels.groups = x->shape[1];
		channels.inner = ag_count(x->ndim - 2, x->shape + 2);
		affine_channels(px, &channels, pw, pb);
		ag_put_plain(out, px);
		ag_put_plain(stats[0], m);
		ag_put_plain(stats[1], r);
		free(px);
		free(pw);
		free(pb);
		free(m);
		free(r);
	} else {
		ag_storage_drop_data(stats[0]->storage);
		ag_storage_drop_data(stats[1]->storage);
	}
	return ag_finish(f, out, node);
}

bool bw_GroupNorm(struct ag_bw *b)
{
	struct ag_ctx *c = B_CTX;
	struct ag_tensor *x = B_SAVED(0), *w = B_SAVED(1), *g = B_GRAD;
	struct ag_tensor *mean = B_SAVED(2), *rstd = B_SAVED(3), *flat, *xhat, *gw;
	int64_t rows[3], one[3], shape[AG_MAX_DIMS], dims[AG_MAX_DIMS], last = 2;
	int d, n = 0;

	if (!x || !mean || !rstd)
		return false;
	if (ag_bw_is_blind(c, (struct ag_tensor *[]){x, w, g}, 3)) {
		shape[0] = x->shape[1];
		B_SET(0, op_unknown_as(c, x));
		for (d = 1; d < 3; d++)
			B_SET((uint32_t)d, scoped(c, ag_make(c, (enum ag_dtype)(w ? w : x)->dtype,
			                                     1, shape, false)));
		ag_transient(c, 2 * bytes_of(x->shape[0] * x->shape[1], x));
		return true;
	}
	widen(c, &x, &w, &g, &mean, &rstd);
	rows[0] = one[0] = x->shape[0];
	rows[1] = one[1] = b->node->ints[0];
	rows[2] = x->numel ? x->numel / (rows[0] * rows[1]) : 0;
	one[2] = 1;
	for (d = 0; d < x->ndim; d++) {
		shape[d] = d == 1 ? x->shape[1] : 1;
		if (d != 1)
			dims[n++] = d;
	}
	flat = op_reshape(c, x, 3, rows);
	mean = op_view(c, mean, 3, one);
	rstd = op_view(c, rstd, 3, one);
	xhat = standard(c, flat, mean, &rstd, &last, 1, b->node->num[0]);
	gw = w ? op_mul(c, g, op_view(c, w, x->ndim, shape)) : g;
	if (B_WANT(0))
		B_SET(0,
		      op_reshape(c, input_grad(c, op_reshape(c, gw, 3, rows), xhat, rstd, &last, 1),
		                 x->ndim, x->shape));
	if (B_WANT(1))
		B_SET(1, op_sum_dims(c, op_mul(c, g, op_reshape(c, xhat, x->ndim, x->shape)), dims,
		                     n, false));
	if (B_WANT(2))
		B_SET(2, op_sum_dims(c, g, dims, n, false));
	return true;
}

/* ---- instance norm: batch norm over [1, N * C, ...] */

static struct ag_tensor *repeated(struct ag_ctx *c, struct ag_tensor *t, int64_t times)
{
	struct ag_value n = ag_int(times), v[2];

	if (!t)
		return NULL;
	v[0] = ag_arg(t);
	v[1] = ag_list(&n, 1);
	return op_call(c, AG_OP_repeat, v, 2);
}

static struct ag_value maybe(struct ag_tensor *t)
{
	return t ? ag_arg(t) : ag_none();
}

/* The mean over the samples goes back into the running statistics. */
static bool give_back(struct ag_ctx *c, struct ag_tensor *running, struct ag_tensor *each,
                      int64_t n)
{
	int64_t shape[2], dim = 0;

	if (!running)
		return true;
	shape[0] = n;
	shape[1] = running->numel;
	return op_copy_(c, running, mean_over(c, op_view(c, each, 2, shape), &dim, 1)) || true;
}

bool op_run_instance_norm(struct ag_frame *f)
{
	struct ag_ctx *c = f->ctx;
	struct ag_tensor *x = arg_t(f, 0), *mean, *var, *out;
	int64_t shape[AG_MAX_DIMS], n = x->ndim ? x->shape[0] : 0;
	struct ag_value v[8];

	if (x->ndim < 2)
		return ag_fail(c, AG_ERR_RUNTIME, "instance_norm expects at least 2 dimensions");
	memcpy(shape, x->shape, sizeof(shape));
	shape[1] = ag_times(shape[1], shape[0]);
	shape[0] = 1;
	mean = repeated(c, arg_t(f, 1), n);
	var = repeated(c, arg_t(f, 2), n);
	v[0] = ag_arg(op_reshape(c, op_contiguous(c, x), x->ndim, shape));
	v[1] = maybe(mean);
	v[2] = maybe(var);
	v[3] = maybe(repeated(c, arg_t(f, 3), n));
	v[4] = maybe(repeated(c, arg_t(f, 4), n));
	v[5] = ag_bool(arg_b(f, 5));
	v[6] = ag_float(arg_f(f, 6));
	v[7] = ag_float(arg_f(f, 7));
	out = op_call(c, AG_OP_batch_norm, v, 8);
	if (!out || !give_back(c, arg_t(f, 1), mean, n) || !give_back(c, arg_t(f, 2), var, n))
		return false;
	return ag_give_ref(f, op_view(c, out, x->ndim, x->shape));
}
