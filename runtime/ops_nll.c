/* Negative log likelihood: x[n, c, k], target[n, k]. */

#include <stdlib.h>

#include "runtime/element.h"
#include "runtime/loss.h"
#include "runtime/op.h"
#include "runtime/shape.h"

struct nll {
	int64_t n, c, k, ignore;
	enum ag_loss_reduction r;
};

static bool nll_sizes(struct ag_ctx *ctx, const struct ag_tensor *x, const struct ag_tensor *t,
                      struct nll *l)
{
	l->n = x->ndim > 1 ? x->shape[0] : 1;
	l->c = x->ndim > 1 ? x->shape[1] : x->shape[0];
	l->k = x->ndim == 4 ? x->shape[2] * x->shape[3] : 1;
	if (t->dtype != AG_I64 && t->dtype != AG_U8)
		return ag_fail(ctx, AG_ERR_RUNTIME, "expected scalar type Long but found %s",
		               ag_dtype_is_float((enum ag_dtype)t->dtype) ? "Float" : "Int");
	if (t->numel != l->n * l->k)
		return ag_fail(
		        ctx, AG_ERR_VALUE,
		        "Expected input batch_size (%lld) to match target batch_size (%lld).",
		        (long long)l->n, (long long)(t->ndim ? t->shape[0] : 1));
	return true;
}

static bool nll_weight_fits(struct ag_ctx *ctx, const struct nll *l, const struct ag_tensor *w)
{
	char text[128];

	return !w || (w->ndim == 1 && w->numel == l->c) ||
	       ag_fail(ctx, AG_ERR_RUNTIME,
	               "weight tensor should be defined either for all %lld classes or no classes "
	               "but got weight tensor of shape: %s",
	               (long long)l->c, ag_shape_text(w->ndim, w->shape, text, sizeof(text)));
}

static bool nll_compute(struct ag_ctx *ctx, const struct nll *l, struct ag_tensor *out,
                        struct ag_tensor *total, struct ag_tensor *x, struct ag_tensor *t,
                        struct ag_tensor *w)
{
	double *px, *pw, *loss, sum = 0, weight = 0;
	int64_t *pt, i;
	bool good = true;

	if (!ag_ready2(out, x, t) || (w && !ag_ready1(out, w))) {
		ag_storage_drop_data(total->storage);
		return true;
	}
	px = ag_plain(x);
	pt = ag_plain_ints(t);
	pw = w ? ag_plain(w) : NULL;
	loss = ag_alloc((size_t)(l->n * l->k) + 1, sizeof(*loss));
	for (i = 0; i < l->n * l->k && good; i++) {
		int64_t row = i / l->k, at = i % l->k, y = pt[i];
		double scale;

		if (y == l->ignore)
			continue;
		if (y < 0 || y >= l->c) {
			good = ag_fail(ctx, AG_ERR_INDEX, "Target %lld is out of bounds.",
			               (long long)y);
			break;
		}
		scale = pw ? pw[y] : 1;
		loss[i] = -px[(row * l->c + y) * l->k + at] * scale;
		sum += loss[i];
		weight += scale;
	}
	if (l->r == AG_REDUCE_NONE)
		ag_put_plain(out, loss);
	else
		ag_fill_data(out, l->r == AG_REDUCE_MEAN ? sum / weight : sum);
	ag_fill_data(total, l->r == AG_REDUCE_NONE ? 0 : weight);
	free(px);
	free(pt);
	free(pw);
	free(loss);
	return good;
}

/* input, target, weight, ignore_index, reduction */
bool op_run_nll_loss_kernel(struct ag_frame *f)
{
	struct ag_tensor *x = arg_t(f, 0), *t = arg_t(f, 1), *w = arg_t(f, 2), *out, *total;
	struct nll l = {.ignore = arg_i(f, 3)};
	struct ag_node *node;

	if (!ag_reduction_arg(f, 4, &l.r) || !ag_need_float(f, x) || !nll_sizes(f->ctx, x, t, &l) ||
	    !nll_weight_fits(f->ctx, &l, w))
		return false;
	out = l.r == AG_REDUCE_NONE
	              ? ag_make(f->ctx, (enum ag_dtype)x->dtype, t->ndim, t->shape, true)
	              : ag_make(f->ctx, (enum ag_dtype)x->dtype, 0, NULL, true);
	total = out ? op_zeros(f->ctx, (enum ag_dtype)x->dtype, 0, NULL) : NULL;
	if (!total || !nll_compute(f->ctx, &l, out, total, x, t, w)) {
		ag_release(out);
		return false;
	}
	node = ag_record1(f->ctx, x->ndim == 4 ? AG_NODE_NllLoss2d : AG_NODE_NllLoss, x, 4, 2);
	if (node) {
		node->ints[0] = l.r;
		node->ints[1] = l.ignore;
		ag_save_input(node, 0, x);
		ag_save_input(node, 1, t);
		ag_save_input(node, 2, total);
		ag_save_input(node, 3, w);
	}
	return ag_finish(f, out, node);
}

/* The matrix M with loss = sum(M * x): -w[y] / total at the targets. */
static struct ag_tensor *nll_matrix(struct ag_bw *b, struct ag_tensor *x)
{
	struct ag_tensor *t = B_SAVED(1), *total = B_SAVED(2), *w = B_SAVED(3), *m;
	struct nll l = {.ignore = b->node->ints[1], .r = (enum ag_loss_reduction)b->node->ints[0]};
	double *values, *pw, all = 1;
	int64_t *pt, i;

	m = op_zeros_as(B_CTX, x);
	if (!m || !t || !total || !nll_sizes(B_CTX, x, t, &l) || !nll_weight_fits(B_CTX, &l, w))
		return NULL;
	if (!ag_ready2(m, t, total) || (w && !ag_ready1(m, w)))
		return m;
	pt = ag_plain_ints(t);
	pw = w ? ag_plain(w) : NULL;
	values = ag_alloc((size_t)x->numel + 1, sizeof(*values));
	if (l.r == AG_REDUCE_MEAN)
		ag_item(B_CTX, total, &all);
	for (i = 0; i < l.n * l.k; i++) {
		int64_t y = pt[i];

		if (y != l.ignore && y >= 0 && y < l.c)
			values[(i / l.k * l.c + y) * l.k + i % l.k] = -(pw ? pw[y] : 1) / all;
	}
	ag_put_plain(m, values);
	free(values);
	free(pt);
	free(pw);
	return m;
}

bool bw_NllLoss(struct ag_bw *b)
{
	struct ag_tensor *x = B_SAVED(0), *m, *g = B_GRAD;

	if (!x)
		return false;
	if (ag_bw_is_blind(B_CTX, (struct ag_tensor *[]){x, g}, 2)) {
		B_SET(0, op_unknown_as(B_CTX, x));
		return true;
	}
	m = nll_matrix(b, x);
	if (g->ndim == 1 && x->ndim == 2)
		g = op_unsqueeze(B_CTX, g, 1);
	else if (g->ndim == 3)
		g = op_unsqueeze(B_CTX, g, 1);
	B_SET(0, op_mul(B_CTX, m, g));
	return true;
}

bool bw_NllLoss2d(struct ag_bw *b)
{
	return bw_NllLoss(b);
}
