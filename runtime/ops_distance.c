/* Distances between the rows of two sets, or of one. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/element.h"
#include "runtime/op.h"
#include "runtime/shape.h"

/* ---- cdist */

static double distance(const double *x, const double *y, int64_t m, double power)
{
	double sum = 0;
	int64_t k;

	for (k = 0; k < m; k++) {
		double d = fabs(x[k] - y[k]);

		if (isinf(power))
			sum = d > sum ? d : sum;
		else if (power == 0)
			sum += d != 0;
		else if (power == 1)
			sum += d;
		else
			sum += power == 2 ? d * d : pow(d, power);
	}
	if (power == 0 || power == 1 || isinf(power))
		return sum;
	return power == 2 ? sqrt(sum) : pow(sum, 1 / power);
}

static void cdist_rows(double *out, const double *x, const double *y, int64_t batch, int64_t p,
                       int64_t r, int64_t m, double power)
{
	int64_t i, j;

	for (i = 0; i < batch * p; i++) {
		for (j = 0; j < r; j++)
			out[i * r + j] = distance(x + i * m, y + (i / p * r + j) * m, m, power);
	}
}

bool op_run_cdist(struct ag_frame *f)
{
	struct ag_tensor *in[2] = {arg_t(f, 0), arg_t(f, 1)}, *out;
	int64_t shape[AG_MAX_DIMS], m;
	struct ag_node *node;
	int n = in[0]->ndim;

	if (n < 2 || in[1]->ndim != n || in[0]->shape[n - 1] != in[1]->shape[n - 1] ||
	    memcmp(in[0]->shape, in[1]->shape, (size_t)(n - 2) * sizeof(int64_t)) != 0)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "X1 and X2 must have the same number of columns and equal batch "
		               "dimensions.");
	memcpy(shape, in[0]->shape, sizeof(shape));
	m = shape[n - 1];
	shape[n - 1] = in[1]->shape[n - 2];
	out = ag_make(f->ctx, (enum ag_dtype)in[0]->dtype, n, shape, true);
	if (!out)
		return false;
	node = ag_record(f->ctx, AG_NODE_Cdist, in, 2, 3, 0);
	if (node) {
		node->num[0] = arg_f(f, 2);
		ag_save_input(node, 1, in[0]);
		ag_save_input(node, 2, in[1]);
	}
	if (!ag_work(f->ctx, (double)out->numel * (double)m))
		ag_storage_drop_data(out->storage);
	if (ag_ready2(out, in[0], in[1])) {
		double *x = ag_plain(in[0]), *y = ag_plain(in[1]);
		double *to = ag_alloc((size_t)out->numel + 1, sizeof(*to));

		cdist_rows(to, x, y, ag_count(n - 2, shape), shape[n - 2], shape[n - 1], m,
		           arg_f(f, 2));
		ag_put_plain(out, to);
		free(x);
		free(y);
		free(to);
	}
	return ag_finish_saving(f, out, node, 0);
}

/* g * d|d|_p / dd for the differences d of pairs, which lie as far apart as `dist` says */
static struct ag_tensor *pair_grads(struct ag_bw *b, struct ag_tensor *d, struct ag_tensor *dist)
{
	struct ag_ctx *c = B_CTX;
	struct ag_tensor *g = B_GRAD, *w;
	double p = b->node->num[0];

	if (p == 0)
		return op_zeros_as(c, d);
	if (p == 1)
		return op_mul(c, op_sign(c, d), op_unsqueeze(c, g, -1));
	if (isinf(p)) {
		w = op_eq(c, op_abs(c, d), op_unsqueeze(c, dist, -1));
		return op_mul(c, op_mul(c, op_sign(c, d), w), op_unsqueeze(c, g, -1));
	}
	w = op_div(c, g, p == 2 ? dist : op_pow_n(c, dist, p - 1));
	w = op_unsqueeze(c, op_where_n(c, op_ne_n(c, dist, 0), w, 0), -1);
	if (p == 2)
		return op_mul(c, d, w);
	return op_mul(c, op_mul(c, op_sign(c, d), op_pow_n(c, op_abs(c, d), p - 1)), w);
}

bool bw_Cdist(struct ag_bw *b)
{
	struct ag_ctx *c = B_CTX;
	struct ag_tensor *dist = B_SAVED(0), *x = B_SAVED(1), *y = B_SAVED(2), *g;

	if (!dist || !x || !y)
		return false;
	g = pair_grads(b, op_sub(c, op_unsqueeze(c, x, -2), op_unsqueeze(c, y, -3)), dist);
	if (B_WANT(0))
		B_SET(0, op_sum_dim(c, g, -2, false));
	if (B_WANT(1))
		B_SET(1, op_neg(c, op_sum_dim(c, g, -3, false)));
	return g != NULL;
}

/* ---- pdist: the pairs of one set */

bool op_run_pdist(struct ag_frame *f)
{
	struct ag_tensor *x = arg_t(f, 0), *out;
	double power = arg_f(f, 1), *in, *to;
	int64_t n, m, count, i, j, k = 0;
	struct ag_node *node;

	if (x->ndim != 2)
		return ag_fail(f->ctx, AG_ERR_RUNTIME, "pdist only supports 2D tensors, got: %dD",
		               x->ndim);
	if (power < 0 || !ag_need_float(f, x))
		return ag_fail(f->ctx, AG_ERR_RUNTIME, "pdist only supports non-negative p values");
	n = x->shape[0];
	m = x->shape[1];
	count = n > 1 ? ag_times(n, n - 1) / 2 : 0;
	x = op_contiguous(f->ctx, x);
	out = x ? ag_make(f->ctx, (enum ag_dtype)x->dtype, 1, &count, true) : NULL;
	if (!out)
		return false;
	node = ag_record1(f->ctx, AG_NODE_Pdist, x, 2, 0);
	if (node) {
		node->num[0] = power;
		ag_save_input(node, 1, x);
	}
	if (!ag_work(f->ctx, (double)count * (double)m))
		ag_storage_drop_data(out->storage);
	if (ag_ready1(out, x)) {
		in = ag_plain(x);
		to = ag_alloc((size_t)count + 1, sizeof(*to));
		for (i = 0; i < n; i++) {
			for (j = i + 1; j < n; j++)
				to[k++] = distance(in + i * m, in + j * m, m, power);
		}
		ag_put_plain(out, to);
		free(in);
		free(to);
	}
	return ag_finish_saving(f, out, node, 0);
}

/* The row numbers of the pairs' first, or second, members. */
static struct ag_tensor *members(struct ag_ctx *ctx, int64_t rows, int64_t pairs, bool second)
{
	struct ag_tensor *t = scoped(ctx, ag_make(ctx, AG_I64, 1, &pairs, true));
	int64_t *at, i, j, k = 0;

	if (!t || !t->storage->data)
		return t;
	at = ag_alloc((size_t)pairs + 1, sizeof(*at));
	for (i = 0; i < rows; i++) {
		for (j = i + 1; j < rows; j++)
			at[k++] = second ? j : i;
	}
	ag_put_ints(t, at);
	free(at);
	return t;
}

bool bw_Pdist(struct ag_bw *b)
{
	struct ag_ctx *c = B_CTX;
	struct ag_tensor *dist = B_SAVED(0), *x = B_SAVED(1), *side[2], *g;
	struct ag_value v[5] = {ag_none(), ag_int(0), ag_none(), ag_none(), ag_none()};
	int i;

	if (!dist || !x)
		return false;
	if (ag_bw_is_blind(c, (struct ag_tensor *[]){x, B_GRAD}, 2)) {
		B_SET(0, op_unknown_as(c, x));
		return true;
	}
	for (i = 0; i < 2; i++) {
		side[i] = members(c, x->shape[0], dist->numel, i);
		v[0] = ag_arg(x);
		v[2] = ag_arg(side[i]);
		v[3 + i] = ag_arg(op_call(c, AG_OP_index_select, v, 3));
	}
	g = pair_grads(b, op_sub(c, v[3].as.tensor, v[4].as.tensor), dist);
	v[0] = ag_arg(op_zeros_as(c, x));
	for (i = 0; i < 2; i++) {
		v[2] = ag_arg(side[i]);
		v[3] = ag_arg(g);
		v[4] = ag_int(i ? -1 : 1);
		v[0] = ag_arg(g ? op_call(c, AG_OP_index_add, v, 5) : NULL);
	}
	B_SET(0, v[0].as.tensor);
	return g != NULL;
}
