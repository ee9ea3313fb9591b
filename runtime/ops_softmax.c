/* Softmax and log-softmax, gated units, prelu, dropout. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/element.h"
#include "runtime/op.h"
#include "runtime/shape.h"

/* Rows along one dimension of a plain array. */
struct lines {
	int64_t outer, size, inner;
};

static struct lines lines_of(const struct ag_tensor *a, int dim)
{
	struct lines l = {1, a->ndim ? a->shape[dim] : 1, 1};
	int d;

	for (d = 0; d < a->ndim; d++) {
		if (d < dim)
			l.outer *= a->shape[d];
		if (d > dim)
			l.inner *= a->shape[d];
	}
	return l;
}

static void softmax_lines(double *x, struct lines l, bool logs)
{
	int64_t o, i, k;

	for (o = 0; o < l.outer; o++) {
		for (i = 0; i < l.inner; i++) {
			double *row = x + o * l.size * l.inner + i, top = -INFINITY, sum = 0;

			for (k = 0; k < l.size; k++)
				top = row[k * l.inner] > top || isnan(row[k * l.inner])
				              ? row[k * l.inner]
				              : top;
			for (k = 0; k < l.size; k++)
				sum += exp(row[k * l.inner] - top);
			for (k = 0; k < l.size; k++)
				row[k * l.inner] = logs ? row[k * l.inner] - top - log(sum)
				                        : exp(row[k * l.inner] - top) / sum;
		}
	}
}

static bool softmax(struct ag_frame *f, enum ag_node_kind kind)
{
	struct ag_tensor *a = arg_t(f, 0), *out;
	struct ag_node *node;
	double *x;
	int dim;

	if (f->v[2].kind == AG_DTYPE)
		a = op_cast(f->ctx, a, f->v[2].as.dtype);
	if (!a || !ag_need_float(f, a))
		return false;
	/* Without dim the functional forms guess as they did of old. */
	dim = arg_none(f, 1) ? (a->ndim == 0 || a->ndim == 1 || a->ndim == 3 ? 0 : 1)
	                     : ag_dim(f->ctx, a, arg_i(f, 1));
	if (dim < 0)
		return false;
	out = ag_make(f->ctx, (enum ag_dtype)a->dtype, a->ndim, a->shape, true);
	if (!out)
		return false;
	node = ag_record1(f->ctx, kind, a, 1, 1);
	if (node)
		node->ints[0] = dim;
	if (ag_ready1(out, a)) {
		x = ag_plain(a);
		softmax_lines(x, lines_of(a, dim), kind == AG_NODE_LogSoftmax);
		ag_put_plain(out, x);
		free(x);
	}
	return ag_finish_saving(f, out, node, 0);
}

bool op_run_softmax(struct ag_frame *f)
{
	return softmax(f, AG_NODE_Softmax);
}

bool op_run_log_softmax(struct ag_frame *f)
{
	return softmax(f, AG_NODE_LogSoftmax);
}

bool op_run_softmin(struct ag_frame *f)
{
	struct ag_value v[3] = {ag_arg(op_neg(f->ctx, arg_t(f, 0))), f->v[1], f->v[2]};

	return ag_give_ref(f, op_call(f->ctx, AG_OP_softmax, v, 3));
}

/* grad, result, dim */
static bool softmax_backward(struct ag_frame *f, enum ag_node_kind kind)
{
	struct ag_tensor *in[2] = {arg_t(f, 0), arg_t(f, 1)}, *out;
	bool logs = kind == AG_NODE_LogSoftmaxBackward;
	int dim = (int)arg_i(f, 2);
	struct lines l = lines_of(in[1], dim);
	struct ag_node *node;
	int64_t o, i, k;
	double *g, *y;

	out = ag_make(f->ctx, (enum ag_dtype)in[1]->dtype, in[1]->ndim, in[1]->shape, true);
	if (!out)
		return false;
	node = ag_record(f->ctx, kind, in, 2, 2, 1);
	if (node) {
		node->ints[0] = dim;
		ag_save_input(node, 0, in[0]);
		ag_save_input(node, 1, in[1]);
	}
	if (!ag_ready2(out, in[0], in[1]))
		return ag_finish(f, out, node);
	g = ag_plain(in[0]);
	y = ag_plain(in[1]);
	for (o = 0; o < l.outer; o++) {
		for (i = 0; i < l.inner; i++) {
			int64_t first = o * l.size * l.inner + i;
			double sum = 0;

			for (k = 0; k < l.size; k++)
				sum += g[first + k * l.inner] * (logs ? 1 : y[first + k * l.inner]);
			for (k = 0; k < l.size; k++) {
				double *x = &g[first + k * l.inner], r = y[first + k * l.inner];

				*x = logs ? *x - exp(r) * sum : (*x - sum) * r;
			}
		}
	}
	ag_put_plain(out, g);
	free(g);
	free(y);
	return ag_finish(f, out, node);
}

bool op_run_softmax_backward(struct ag_frame *f)
{
	return softmax_backward(f, AG_NODE_SoftmaxBackward);
}

bool op_run_log_softmax_backward(struct ag_frame *f)
{
	return softmax_backward(f, AG_NODE_LogSoftmaxBackward);
}

static struct ag_tensor *call_backward(struct ag_bw *b, enum ag_op op, struct ag_tensor *g,
                                       struct ag_tensor *y)
{
	struct ag_value v[3] = {ag_arg(g), ag_arg(y), ag_int(b->node->ints[0])};

	return op_call(B_CTX, op, v, 3);
}

bool bw_Softmax(struct ag_bw *b)
{
	B_SET(0, call_backward(b, AG_OP_softmax_backward, B_GRAD, B_SAVED(0)));
	return true;
}

bool bw_LogSoftmax(struct ag_bw *b)
{
	B_SET(0, call_backward(b, AG_OP_log_softmax_backward, B_GRAD, B_SAVED(0)));
	return true;
}

/* d/dy of (g - sum(g y)) y: gg (g - sum(g y)) - g sum(gg y) */
bool bw_SoftmaxBackward(struct ag_bw *b)
{
	struct ag_ctx *c = B_CTX;
	struct ag_tensor *g = B_SAVED(0), *y = B_SAVED(1), *gg = B_GRAD;
	int64_t dim = b->node->ints[0];

	if (!g || !y)
		return false;
	B_SET(0, call_backward(b, AG_OP_softmax_backward, gg, y));
	if (B_WANT(1)) {
		struct ag_tensor *s = op_sum_dim(c, op_mul(c, g, y), dim, true);
		struct ag_tensor *t = op_sum_dim(c, op_mul(c, gg, y), dim, true);

		B_SET(1, op_sub(c, op_mul(c, gg, op_sub(c, g, s)), op_mul(c, g, t)));
	}
	return true;
}

bool bw_LogSoftmaxBackward(struct ag_bw *b)
{
	struct ag_ctx *c = B_CTX;
	struct ag_tensor *g = B_SAVED(0), *y = B_SAVED(1), *gg = B_GRAD, *e;
	int64_t dim = b->node->ints[0];

	if (!g || !y)
		return false;
	e = op_exp(c, y);
	B_SET(0, op_sub(c, gg, op_sum_dim(c, op_mul(c, gg, e), dim, true)));
	if (B_WANT(1))
		B_SET(1, op_neg(c, op_mul(c, op_mul(c, gg, e), op_sum_dim(c, g, dim, true))));
	return true;
}

/* ---- glu: first half times the logistic of the second */

static bool halves(struct ag_ctx *ctx, struct ag_tensor *a, int dim, struct ag_tensor **x,
                   struct ag_tensor **y)
{
	int64_t half = a->shape[dim] / 2;

	*x = op_narrow(ctx, a, dim, 0, half);
	*y = op_narrow(ctx, a, dim, half, half);
	return *x && *y;
}

bool op_run_glu(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0), *x, *y, *out;
	int dim = ag_dim(f->ctx, a, arg_i(f, 1));
	struct ag_grad_mode mode;
	struct ag_node *node;

	if (dim < 0)
		return false;
	if (!a->ndim || a->shape[dim] % 2)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "Halving dimension must be even, but dimension %d is size %lld", dim,
		               (long long)(a->ndim ? a->shape[dim] : 1));
	mode = ag_no_grad(f->ctx);
	if (!halves(f->ctx, a, dim, &x, &y))
		out = NULL;
	else
		out = op_mul(f->ctx, x, ag_has_data(a) ? op_sigmoid(f->ctx, y) : y);
	ag_set_grad_mode(f->ctx, mode);
	if (!out)
		return false;
	node = ag_record1(f->ctx, AG_NODE_Glu, a, 1, 1);
	if (node) {
		node->ints[0] = dim;
		ag_save_input(node, 0, a);
	}
	return ag_finish(f, ag_retain(out), node);
}

bool bw_Glu(struct ag_bw *b)
{
	struct ag_ctx *c = B_CTX;
	struct ag_tensor *a = B_SAVED(0), *x, *y, *s;
	struct ag_value parts[2], v[2];

	if (!a || !halves(c, a, (int)b->node->ints[0], &x, &y))
		return false;
	if (ag_bw_is_blind(c, (struct ag_tensor *[]){a, B_GRAD}, 2)) {
		B_SET(0, op_unknown_as(c, a));
		return true;
	}
	s = op_sigmoid(c, y);
	parts[0] = ag_arg(op_mul(c, B_GRAD, s));
	parts[1] =
	        ag_arg(op_mul(c, op_mul(c, B_GRAD, x), op_mul(c, s, op_add_n(c, op_neg(c, s), 1))));
	v[0] = ag_list(parts, 2);
	v[1] = ag_int(b->node->ints[0]);
	B_SET(0, op_call(c, AG_OP_cat, v, 2));
	return true;
}

/* ---- prelu: the weight is seen with the input's dimensions */

static void map_prelu(int64_t n, double *out, const double *const *in, const double *p)
{
	int64_t i;

	(void)p;
	for (i = 0; i < n; i++)
		out[i] = in[0][i] > 0 ? in[0][i] : in[0][i] * in[1][i];
}

bool op_run_prelu_kernel(struct ag_frame *f)
{
	struct ag_tensor *in[2] = {arg_t(f, 0), arg_t(f, 1)}, *out;
	struct ag_node *node;

	out = ag_result_like(f, (enum ag_dtype)in[0]->dtype, in[0]->ndim, in[0]->shape,
	                     wants2(f->ctx, in[0], in[1]), in, 2);
	if (!out)
		return false;
	node = ag_record(f->ctx, AG_NODE_PreluKernel, in, 2, 2, 0);
	if (node) {
		ag_save_input(node, 0, in[0]);
		ag_save_input(node, 1, in[1]);
	}
	ag_map(out, in, 2, map_prelu, NULL);
	return ag_finish(f, out, node);
}

bool op_run_prelu(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0), *w = arg_t(f, 1);
	int64_t shape[AG_MAX_DIMS];
	struct ag_value v[2];
	int d;

	if (w->numel != 1 && (a->ndim < 2 || a->shape[1] != w->numel))
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "Mismatch of parameter numbers and input channel size. Found "
		               "parameter numbers = %lld and channel size = %lld.",
		               (long long)w->numel, (long long)(a->ndim > 1 ? a->shape[1] : 1));
	for (d = 0; d < a->ndim; d++)
		shape[d] = d == 1 || a->ndim == 1 ? w->numel : 1;
	if (a->ndim != w->ndim)
		w = op_view(f->ctx, w, a->ndim, shape);
	v[0] = ag_arg(a);
	v[1] = ag_arg(w);
	return ag_give_ref(f, op_call(f->ctx, AG_OP_prelu_kernel, v, 2));
}

bool bw_PreluKernel(struct ag_bw *b)
{
	struct ag_ctx *c = B_CTX;
	struct ag_tensor *a = B_SAVED(0), *w = B_SAVED(1), *positive;

	if (!a || !w)
		return false;
	if (ag_bw_is_blind(c, (struct ag_tensor *[]){a, B_GRAD}, 2)) {
		B_SET(0, op_unknown_as(c, a));
		B_SET(1, op_unknown_as(c, a));
		return true;
	}
	positive = op_gt_n(c, a, 0);
	if (B_WANT(0)) {
		struct ag_value v[3] = {ag_arg(positive), ag_arg(B_GRAD),
		                        ag_arg(op_mul(c, B_GRAD, w))};

		B_SET(0, op_call(c, AG_OP_where, v, 3));
	}
	if (B_WANT(1)) {
		struct ag_value v[3] = {ag_arg(positive), ag_float(0),
		                        ag_arg(op_mul(c, B_GRAD, a))};

		B_SET(1, op_call(c, AG_OP_where, v, 3));
	}
	return true;
}

/* ---- dropout: one Mul with scaled noise */

static struct ag_tensor *noise_of(struct ag_ctx *ctx, struct ag_tensor *a, double p, int ndim,
                                  const int64_t *shape)
{
	struct ag_tensor *noise = op_zeros(ctx, (enum ag_dtype)a->dtype, ndim, shape);
	double *values;
	float *floats;
	int64_t i;

	if (!noise || !ag_drawable(noise))
		return noise;
	values = ag_alloc((size_t)noise->numel + 1, sizeof(*values));
	floats = ag_alloc((size_t)noise->numel + 1, sizeof(*floats));
	if (a->dtype == AG_F64)
		ag_random_fill_dropout_f64(&ctx->random, values, (size_t)noise->numel, p);
	else
		ag_random_fill_dropout_f32(&ctx->random, floats, (size_t)noise->numel, p);
	for (i = 0; a->dtype != AG_F64 && i < noise->numel; i++)
		values[i] = floats[i];
	ag_put_plain(noise, values);
	/* Drawn in the order of memory, which is that of a when the noise is as large. */
	if (ag_same_shape(noise, a) && ag_is_dense(a))
		memcpy(noise->strides, a->strides, sizeof(noise->strides));
	free(values);
	free(floats);
	return noise;
}

/* `channels`: one number per sample and channel */
static bool dropout(struct ag_frame *f, bool channels)
{
	struct ag_ctx *c = f->ctx;
	struct ag_tensor *a = arg_t(f, 0);
	double p = arg_f(f, 1);
	int64_t shape[AG_MAX_DIMS];
	struct ag_value v[2];
	int d;

	if (p < 0 || p > 1)
		return ag_fail(c, AG_ERR_VALUE,
		               "dropout probability has to be between 0 and 1, but got %g", p);
	if (channels && a->ndim < 2)
		return ag_fail(c, AG_ERR_RUNTIME,
		               "Feature dropout requires at least 2 dimensions in the input");
	if (!arg_b(f, 2) || p == 0 || !a->numel)
		return ag_give_ref(f, a);
	memcpy(shape, a->shape, sizeof(shape));
	for (d = 2; channels && d < a->ndim; d++)
		shape[d] = 1;
	v[0] = ag_arg(a);
	v[1] = p == 1 ? ag_arg(op_zeros(c, (enum ag_dtype)a->dtype, 0, NULL))
	              : ag_arg(noise_of(c, a, p, a->ndim, shape));
	if (arg_b(f, 3))
		return ag_give_ref(f, op_inplace(c, AG_OP_mul, v, 2));
	return ag_give_ref(f, op_call(c, AG_OP_mul, v, 2));
}

bool op_run_dropout(struct ag_frame *f)
{
	return dropout(f, false);
}

bool op_run_feature_dropout(struct ag_frame *f)
{
	return dropout(f, true);
}

static bool alpha_dropout(struct ag_frame *f, bool channels)
{
	struct ag_ctx *c = f->ctx;
	struct ag_tensor *a = arg_t(f, 0), *keep;
	int64_t shape[AG_MAX_DIMS];
	int d;
	double p = arg_f(f, 1), alpha = 1.7580993408473766, scale;

	if (p < 0 || p > 1)
		return ag_fail(c, AG_ERR_VALUE,
		               "dropout probability has to be between 0 and 1, but got %g", p);
	if (!arg_b(f, 2) || p == 0 || !a->numel)
		return ag_give_ref(f, a);
	if (channels && a->ndim < 2)
		return ag_fail(c, AG_ERR_RUNTIME,
		               "Feature dropout requires at least 2 dimensions in the input");
	memcpy(shape, a->shape, sizeof(shape));
	for (d = 2; channels && d < a->ndim; d++)
		shape[d] = 1;
	keep = op_gt_n(c, noise_of(c, a, p, a->ndim, shape), 0);
	scale = 1 / sqrt((alpha * alpha * p + 1) * (1 - p));
	keep = op_mul_number(c, op_cast(c, keep, (enum ag_dtype)a->dtype), scale);
	return ag_give_ref(f, op_add(c, op_mul(c, a, keep),
	                             op_add_n(c, op_mul_number(c, keep, alpha),
	                                      alpha * scale * p - alpha * scale)));
}

bool op_run_alpha_dropout(struct ag_frame *f)
{
	return alpha_dropout(f, false);
}

bool op_run_feature_alpha_dropout(struct ag_frame *f)
{
	return alpha_dropout(f, true);
}

/* ---- draws from probabilities */

bool op_run_bernoulli(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0), *out;
	struct ag_node *node;
	double *p, *drawn;
	float *fp, *fdrawn;
	int64_t i;

	if (!ag_need_float(f, a))
		return false;
	out = ag_result(f, (enum ag_dtype)a->dtype, a->ndim, a->shape, wants1(f->ctx, a));
	if (!out)
		return false;
	node = ag_record1(f->ctx, AG_NODE_Bernoulli, a, 0, 0);
	if (!ag_drawable(out) || !ag_ready1(out, a))
		return ag_finish(f, out, node);
	p = ag_plain(a);
	drawn = ag_alloc((size_t)a->numel + 1, sizeof(*drawn));
	fp = ag_alloc((size_t)a->numel + 1, sizeof(*fp));
	fdrawn = ag_alloc((size_t)a->numel + 1, sizeof(*fdrawn));
	for (i = 0; i < a->numel; i++) {
		p[i] = arg_none(f, 1) ? p[i] : arg_f(f, 1);
		fp[i] = (float)p[i];
	}
	if (!arg_none(f, 1) && a->dtype == AG_F64)
		ag_random_fill_bernoulli_f64(&f->ctx->random, drawn, (size_t)a->numel, arg_f(f, 1));
	else if (!arg_none(f, 1))
		ag_random_fill_bernoulli_f32(&f->ctx->random, fdrawn, (size_t)a->numel,
		                             arg_f(f, 1));
	else if (a->dtype == AG_F64)
		ag_random_fill_bernoulli_each_f64(&f->ctx->random, drawn, p, (size_t)a->numel);
	else
		ag_random_fill_bernoulli_each_f32(&f->ctx->random, fdrawn, fp, (size_t)a->numel);
	for (i = 0; a->dtype != AG_F64 && i < a->numel; i++)
		drawn[i] = fdrawn[i];
	ag_put_plain(out, drawn);
	free(p);
	free(drawn);
	free(fp);
	free(fdrawn);
	return ag_finish(f, out, node);
}

bool bw_Bernoulli(struct ag_bw *b)
{
	B_SET(0, op_zeros_as(B_CTX, B_GRAD));
	return true;
}

bool op_run_multinomial(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0), *out;
	int64_t shape[2], samples = arg_i(f, 1), rows, categories, *drawn;
	double *p;
	float *fp;
	int64_t i;
	bool good;

	if (a->ndim < 1 || a->ndim > 2)
		return ag_fail(f->ctx, AG_ERR_RUNTIME, "prob_dist must be 1 or 2 dim");
	if (samples <= 0)
		return ag_fail(f->ctx, AG_ERR_RUNTIME, "cannot sample n_sample <= 0 samples");
	categories = a->shape[a->ndim - 1];
	rows = a->ndim == 2 ? a->shape[0] : 1;
	shape[0] = a->ndim == 2 ? rows : samples;
	shape[1] = samples;
	out = ag_make(f->ctx, AG_I64, a->ndim, shape, true);
	if (!out || !ag_drawable(out) || !ag_ready1(out, a))
		return ag_give(f, out);
	p = ag_plain(a);
	fp = ag_alloc((size_t)a->numel + 1, sizeof(*fp));
	drawn = ag_alloc((size_t)out->numel + 1, sizeof(*drawn));
	for (i = 0; i < a->numel; i++)
		fp[i] = (float)p[i];
	good = a->dtype == AG_F64
	               ? ag_random_multinomial_f64(&f->ctx->random, drawn, p, (size_t)rows,
	                                           (size_t)categories, (size_t)samples, arg_b(f, 2))
	               : ag_random_multinomial_f32(&f->ctx->random, drawn, fp, (size_t)rows,
	                                           (size_t)categories, (size_t)samples,
	                                           arg_b(f, 2));
	if (good)
		ag_put_ints(out, drawn);
	free(p);
	free(fp);
	free(drawn);
	if (good)
		return ag_give(f, out);
	ag_release(out);
	return ag_fail(f->ctx, AG_ERR_RUNTIME,
	               "probability tensor contains either `inf`, `nan` or element < 0");
}
