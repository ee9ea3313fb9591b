/* Losses that want the scores of the right classes above those of the others by a margin. */

#include <stdlib.h>

#include "runtime/loss.h"
#include "runtime/op.h"

/* Samples of `c` scores each: one target, or a list of them that a negative one may end. */
struct rows {
	int64_t n, c;
	double margin;
	bool squared;
	enum ag_loss_reduction r;
	double *x, *weight;
	int64_t *targets;
	double *marks; /* 1 for the classes that a sample's list names; NULL: it has one target */
};

static double exceeds(const struct rows *r, const double *x, int64_t right, int64_t wrong,
                      double scale, double *slope)
{
	double z = r->margin - x[right] + x[wrong], step;

	if (z <= 0)
		return 0;
	if (slope) {
		step = scale * (r->squared ? 2 * z : 1);
		slope[wrong] += step;
		slope[right] -= step;
	}
	return scale * (r->squared ? z * z : z);
}

/* The loss of sample i; its slopes are added to those of `slope`, unless that is NULL. */
static double row_loss(const struct rows *r, int64_t i, double *slope)
{
	const double *x = r->x + i * r->c, *marks = r->marks ? r->marks + i * r->c : NULL;
	const int64_t *t = r->targets + (marks ? i * r->c : i);
	int64_t k, j, count = marks ? r->c : 1;
	double sum = 0, scale;

	for (k = 0; k < count && t[k] >= 0; k++) {
		scale = (r->weight ? r->weight[t[k]] : 1) / (double)r->c;
		for (j = 0; j < r->c; j++) {
			if (marks ? !marks[j] : j != t[k])
				sum += exceeds(r, x, t[k], j, scale, slope);
		}
	}
	return sum;
}

static bool read_rows(struct ag_frame *f, struct rows *r, bool lists)
{
	struct ag_tensor *x = arg_t(f, 0), *t = arg_t(f, 1);
	char text[128];

	if (!ag_need_float(f, x))
		return false;
	r->n = x->ndim == 2 ? x->shape[0] : 1;
	r->c = x->ndim ? x->shape[x->ndim - 1] : 1;
	if (x->ndim > 2 || !r->c)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "Expected non-empty vector or matrix with optional 0-dim batch "
		               "size, but got: %s",
		               ag_shape_text(x->ndim, x->shape, text, sizeof(text)));
	if (lists ? t->numel != x->numel || t->ndim > 2 || (x->ndim == 2) != (t->ndim == 2)
	          : t->numel != r->n || t->ndim > 1)
		return ag_fail(f->ctx, AG_ERR_RUNTIME, "inconsistent target size: %s",
		               ag_shape_text(t->ndim, t->shape, text, sizeof(text)));
	if (t->dtype != AG_I64)
		return ag_fail(f->ctx, AG_ERR_RUNTIME, "expected scalar type Long for the target");
	return true;
}

static bool targets_fit(struct ag_ctx *ctx, const struct rows *r, int64_t count)
{
	int64_t i;

	for (i = 0; i < count; i++) {
		if (r->targets[i] >= r->c || (r->targets[i] < 0 && !r->marks))
			return ag_fail(ctx, AG_ERR_RUNTIME, "target out of range");
	}
	return true;
}

static void mark(struct rows *r)
{
	int64_t i, k;

	for (i = 0; i < r->n; i++) {
		for (k = 0; k < r->c && r->targets[i * r->c + k] >= 0; k++)
			r->marks[i * r->c + r->targets[i * r->c + k]] = 1;
	}
}

/* Only x and the targets; `in` has x, targets, weight or marks. */
static bool open_rows(struct rows *r, struct ag_tensor *out, struct ag_tensor *const *in,
                      bool lists)
{
	if (lists && !ag_work(out->ctx, (double)in[0]->numel * (double)r->c))
		ag_storage_drop_data(out->storage);
	if (!ag_ready2(out, in[0], in[1]) || (in[2] && !lists && !ag_ready1(out, in[2])))
		return false;
	r->x = ag_plain(in[0]);
	r->targets = ag_plain_ints(in[1]);
	r->weight = in[2] && !lists ? ag_plain(in[2]) : NULL;
	r->marks = lists ? ag_alloc((size_t)in[0]->numel + 1, sizeof(double)) : NULL;
	return true;
}

static void close_rows(struct rows *r)
{
	free(r->x);
	free(r->targets);
	free(r->weight);
	free(r->marks);
}

static bool fill_loss(struct rows *r, struct ag_tensor *out, struct ag_tensor *const *in,
                      bool lists)
{
	double *losses, sum = 0;
	int64_t i;
	bool good;

	if (lists)
		ag_transient(out->ctx, sizeof(*r->targets)); /* the least of them */
	if (!open_rows(r, out, in, lists)) {
		if (lists)
			ag_storage_drop_data(in[2]->storage);
		return true;
	}
	good = targets_fit(out->ctx, r, in[1]->numel);
	losses = ag_alloc((size_t)r->n + 1, sizeof(*losses));
	if (good && lists) {
		mark(r);
		ag_put_plain(in[2], r->marks);
	}
	for (i = 0; i < r->n && good; i++)
		sum += losses[i] = row_loss(r, i, NULL);
	if (r->r == AG_REDUCE_NONE)
		ag_put_plain(out, losses);
	else
		ag_fill_data(out, r->r == AG_REDUCE_MEAN ? sum / (double)r->n : sum);
	free(losses);
	close_rows(r);
	return good;
}

static bool margin_loss(struct ag_frame *f, struct rows *r, enum ag_node_kind kind,
                        struct ag_tensor *third, bool lists)
{
	struct ag_tensor *in[3] = {arg_t(f, 0), arg_t(f, 1), third}, *out;
	int ndim = r->r == AG_REDUCE_NONE && in[0]->ndim == 2 ? 1 : 0;
	struct ag_node *node;
	uint32_t i;

	out = ag_make(f->ctx, (enum ag_dtype)in[0]->dtype, ndim, &r->n, true);
	if (!out)
		return false;
	if (!fill_loss(r, out, in, lists)) {
		ag_release(out);
		return false;
	}
	node = ag_record1(f->ctx, kind, in[0], 3, 2);
	if (node) {
		node->num[0] = r->margin;
		node->ints[0] = r->r;
		node->ints[1] = r->squared;
		for (i = 0; i < 3; i++)
			ag_save_input(node, i, in[i]);
	}
	return ag_finish(f, out, node);
}

/* input, target, p, margin, weight, size_average, reduce, reduction */
bool op_run_multi_margin_loss(struct ag_frame *f)
{
	struct ag_tensor *weight = arg_t(f, 4);
	struct rows r = {.margin = arg_f(f, 3), .squared = arg_f(f, 2) == 2};

	if (!r.squared && arg_f(f, 2) != 1)
		return ag_fail(f->ctx, AG_ERR_VALUE, "only p == 1 and p == 2 supported");
	if (!ag_reduction_arg(f, 7, &r.r) || !read_rows(f, &r, false))
		return false;
	if (weight && (weight->ndim != 1 || weight->numel != r.c))
		return ag_fail(f->ctx, AG_ERR_VALUE, "weight must be one-dimensional");
	return margin_loss(f, &r, AG_NODE_MultiMarginLoss, weight, false);
}

/* input, target, size_average, reduce, reduction */
bool op_run_multilabel_margin_loss(struct ag_frame *f)
{
	struct ag_tensor *x = arg_t(f, 0), *marks;
	struct rows r = {.margin = 1};

	if (!ag_reduction_arg(f, 4, &r.r) || !read_rows(f, &r, true))
		return false;
	marks = op_zeros_as(f->ctx, x);
	return marks && margin_loss(f, &r, AG_NODE_MultilabelMarginLoss, marks, true);
}

/* Every sample's slopes; borrowed. */
static struct ag_tensor *slopes_of(struct ag_bw *b, struct ag_tensor *const *in, bool lists)
{
	struct rows r = {.n = in[0]->ndim == 2 ? in[0]->shape[0] : 1,
	                 .c = in[0]->ndim ? in[0]->shape[in[0]->ndim - 1] : 1,
	                 .margin = b->node->num[0],
	                 .squared = b->node->ints[1] != 0};
	struct ag_tensor *out = op_zeros_as(B_CTX, in[0]);
	double *slopes;
	int64_t i;

	if (!out || !open_rows(&r, out, in, lists))
		return out;
	slopes = ag_alloc((size_t)in[0]->numel + 1, sizeof(*slopes));
	if (lists)
		mark(&r);
	for (i = 0; i < r.n; i++)
		row_loss(&r, i, slopes + i * r.c);
	ag_put_plain(out, slopes);
	free(slopes);
	close_rows(&r);
	return out;
}

static bool margin_formula(struct ag_bw *b, bool lists)
{
	struct ag_tensor *in[3] = {B_SAVED(0), B_SAVED(1), B_SAVED(2)}, *g = B_GRAD;

	if (!in[0] || !in[1])
		return false;
	if (ag_bw_is_blind(B_CTX, (struct ag_tensor *[]){in[0], in[1], g}, 3)) {
		B_SET(0, op_unknown_as(B_CTX, in[0]));
		if (lists)
			ag_transient(B_CTX, sizeof(int64_t));
		return true;
	}
	if (b->node->ints[0] == AG_REDUCE_MEAN && in[0]->ndim == 2)
		g = op_div_n(B_CTX, g, (double)in[0]->shape[0]);
	if (g && g->ndim)
		g = op_unsqueeze(B_CTX, g, -1);
	B_SET(0, op_mul(B_CTX, slopes_of(b, in, lists), g));
	return true;
}

bool bw_MultiMarginLoss(struct ag_bw *b)
{
	return margin_formula(b, false);
}

bool bw_MultilabelMarginLoss(struct ag_bw *b)
{
	return margin_formula(b, true);
}
