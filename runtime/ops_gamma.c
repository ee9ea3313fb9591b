/* What is drawn from gamma and Dirichlet distributions. The gradients of what was drawn are exact
 * here; PyTorch approximates them, to less than a thousandth. */

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "runtime/gamma.h"
#include "runtime/op.h"

static struct ag_tensor *fresh(struct ag_frame *f, struct ag_tensor *a)
{
	return ag_need_float(f, a)
	               ? ag_make(f->ctx, (enum ag_dtype)a->dtype, a->ndim, a->shape, true)
	               : NULL;
}

static void draw_gamma(struct ag_tensor *out, struct ag_tensor *alpha)
{
	size_t n = (size_t)out->numel, i;
	double *values;
	float *floats;

	if (!ag_drawable(out) || !ag_ready1(out, alpha))
		return;
	values = ag_plain(alpha);
	floats = ag_alloc(n + 1, sizeof(*floats));
	for (i = 0; i < n; i++)
		floats[i] = (float)values[i];
	if (alpha->dtype == AG_F64)
		ag_random_fill_gamma_f64(&out->ctx->random, values, values, n);
	else
		ag_random_fill_gamma_f32(&out->ctx->random, floats, floats, n);
	for (i = 0; alpha->dtype != AG_F64 && i < n; i++)
		values[i] = floats[i];
	ag_put_plain(out, values);
	free(values);
	free(floats);
}

bool op_run_standard_gamma(struct ag_frame *f)
{
	struct ag_tensor *alpha = arg_t(f, 0), *out = fresh(f, alpha);
	struct ag_node *node;

	if (!out)
		return false;
	draw_gamma(out, alpha);
	node = ag_record1(f->ctx, AG_NODE_StandardGamma, alpha, 2, 0);
	if (node)
		ag_save_input(node, 1, alpha);
	return ag_finish_saving(f, out, node, 0);
}

static void map_gamma_slope(int64_t n, double *out, const double *const *in, const double *p)
{
	int64_t i;

	(void)p;
	for (i = 0; i < n; i++)
		out[i] = ag_gamma_slope(in[0][i], in[1][i]);
}

/* By alpha, with a Dirichlet's other numbers scaled as x grows. */
static void map_dirichlet_slope(int64_t n, double *out, const double *const *in, const double *p)
{
	int64_t i;

	(void)p;
	for (i = 0; i < n; i++)
		out[i] = ag_beta_slope(in[0][i], in[1][i], in[2][i] - in[1][i]) / (1 - in[0][i]);
}

enum { SLOPE_WORK = 1000 };

static bool slopes(struct ag_frame *f, int count, ag_map_fn *fn)
{
	struct ag_tensor *in[3] = {arg_t(f, 0), arg_t(f, 1), count > 2 ? arg_t(f, 2) : NULL};
	struct ag_tensor *out = fresh(f, in[0]);

	if (out && !ag_work(f->ctx, SLOPE_WORK * (double)out->numel))
		ag_storage_drop_data(out->storage);
	if (out)
		ag_map(out, in, count, fn, NULL);
	return ag_give(f, out);
}

bool op_run_standard_gamma_grad(struct ag_frame *f)
{
	return slopes(f, 2, map_gamma_slope);
}

bool op_run_dirichlet_grad(struct ag_frame *f)
{
	return slopes(f, 3, map_dirichlet_slope);
}

bool bw_StandardGamma(struct ag_bw *b)
{
	struct ag_value v[2] = {ag_arg(B_SAVED(1)), ag_arg(B_SAVED(0))};

	if (!v[0].as.tensor || !v[1].as.tensor)
		return false;
	B_SET(0, op_mul(B_CTX, B_GRAD, op_call(B_CTX, AG_OP_standard_gamma_grad, v, 2)));
	return true;
}

static void normalize_rows(double *x, int64_t rows, int64_t n, double low, double high)
{
	int64_t i, k;

	for (i = 0; i < rows; i++) {
		double sum = 0;

		for (k = 0; k < n; k++)
			sum += x[i * n + k];
		for (k = 0; k < n; k++)
			x[i * n + k] = fmin(fmax(x[i * n + k] / sum, low), high);
	}
}

bool op_run_sample_dirichlet(struct ag_frame *f)
{
	struct ag_tensor *alpha = arg_t(f, 0), *out = fresh(f, alpha);
	int64_t n = alpha->ndim ? alpha->shape[alpha->ndim - 1] : 1;
	double *values;

	if (!out)
		return false;
	if (ag_drawable(out) && ag_ready1(out, alpha)) {
		values = ag_plain(alpha);
		ag_random_fill_gamma_f64(&f->ctx->random, values, values, (size_t)out->numel);
		normalize_rows(values, out->numel / n, n,
		               alpha->dtype == AG_F64 ? DBL_MIN : FLT_MIN, nextafterf(1, 0));
		ag_put_plain(out, values);
		free(values);
	}
	return ag_give(f, out);
}
