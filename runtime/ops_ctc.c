/* The CTC loss: one node a batch, its lengths among the node's words. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/ctc.h"
#include "runtime/op.h"

struct ctc_batch {
	struct ag_tensor *x, *targets; /* [T, N, C]; [N, S] or concatenated */
	int64_t steps, batch, classes, places, blank;
	int64_t *input_lengths, *target_lengths, *starts;
	bool infinite_is_zero;
};

static void ctc_release(struct ctc_batch *c)
{
	free(c->input_lengths);
	free(c->target_lengths);
	free(c->starts);
}

/* Lengths come as integers or as a tensor; NULL after ag_fail. */
static int64_t *lengths(struct ag_frame *f, uint32_t i, int64_t count)
{
	int64_t *out;
	uint32_t k;

	if (f->v[i].kind == AG_TENSOR && f->v[i].as.tensor) {
		if (f->v[i].as.tensor->numel == count && (ag_has_data(f->v[i].as.tensor) || !count))
			return ag_plain_ints(f->v[i].as.tensor);
		ag_fail(f->ctx, ag_has_data(f->v[i].as.tensor) ? AG_ERR_RUNTIME : AG_ERR_NO_DATA,
		        "ctc_loss: the lengths must be known, one for each sequence");
		return NULL;
	}
	if (f->v[i].kind != AG_LIST || f->v[i].count != count) {
		ag_fail(f->ctx, AG_ERR_RUNTIME, "input_lengths must be of size batch_size");
		return NULL;
	}
	out = ag_alloc((size_t)count + 1, sizeof(*out));
	for (k = 0; k < count; k++)
		out[k] = ag_value_int(&f->v[i].as.list[k]);
	return out;
}

static bool lengths_fit(struct ag_frame *f, const struct ctc_batch *c, int64_t i)
{
	if (c->input_lengths[i] < 0 || c->input_lengths[i] > c->steps)
		return ag_fail(
		        f->ctx, AG_ERR_RUNTIME,
		        "Expected input_lengths to have value at most %lld, but got value %lld",
		        (long long)c->steps, (long long)c->input_lengths[i]);
	if (c->target_lengths[i] < 0 ||
	    c->target_lengths[i] > c->targets->shape[c->targets->ndim - 1])
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "Expected tensor to have size at least %lld at dimension 1",
		               (long long)c->target_lengths[i]);
	return true;
}

/* Where each target starts, and the places of the longest. */
static bool ctc_fits(struct ag_frame *f, struct ctc_batch *c)
{
	int64_t longest = 0, total = 0, i;

	c->starts = ag_alloc((size_t)c->batch + 1, sizeof(*c->starts));
	for (i = 0; i < c->batch; i++) {
		if (!lengths_fit(f, c, i))
			return false;
		c->starts[i] = c->targets->ndim == 2 ? i * c->targets->shape[1] : total;
		total = ag_within(total + c->target_lengths[i]);
		longest = c->target_lengths[i] > longest ? c->target_lengths[i] : longest;
	}
	if (c->targets->ndim == 2 ? c->targets->shape[0] != c->batch : total != c->targets->numel)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "Expected targets to hold the target lengths of %lld sequences",
		               (long long)c->batch);
	c->places = 2 * longest + 1;
	return true;
}

static bool ctc_read(struct ag_frame *f, struct ctc_batch *c)
{
	memset(c, 0, sizeof(*c));
	c->x = arg_t(f, 0);
	c->targets = arg_t(f, 1);
	if (c->x->ndim != 3 || c->targets->ndim > 2 || !c->targets->ndim)
		return ag_fail(
		        f->ctx, AG_ERR_RUNTIME,
		        "ctc_loss: expected log_probs of 3 dimensions and targets of 1 or 2");
	if (ag_dtype_is_float((enum ag_dtype)c->targets->dtype))
		return ag_fail(f->ctx, AG_ERR_RUNTIME, "targets must be integral");
	c->steps = c->x->shape[0];
	c->batch = c->x->shape[1];
	c->classes = c->x->shape[2];
	c->blank = arg_i(f, 4);
	c->infinite_is_zero = arg_b(f, 6);
	if (c->blank < 0 || c->blank >= c->classes)
		return ag_fail(f->ctx, AG_ERR_RUNTIME, "blank must be in label range");
	c->input_lengths = lengths(f, 2, c->batch);
	c->target_lengths = c->input_lengths ? lengths(f, 3, c->batch) : NULL;
	return c->target_lengths && ctc_fits(f, c);
}

static struct ctc ctc_one(const struct ctc_batch *c, const double *x, const int64_t *targets,
                          int64_t i)
{
	struct ctc one = {
	        x + i * c->classes, c->batch * c->classes,  c->input_lengths[i], c->classes,
	        c->blank,           targets + c->starts[i], c->target_lengths[i]};

	return one;
}

static bool labels_fit(struct ag_frame *f, const struct ctc_batch *c, const int64_t *targets)
{
	int64_t i, k;

	for (i = 0; i < c->batch; i++) {
		for (k = 0; k < c->target_lengths[i]; k++) {
			int64_t label = targets[c->starts[i] + k];

			if (label < 0 || label >= c->classes)
				return ag_fail(f->ctx, AG_ERR_RUNTIME,
				               "ctc_loss: a label is out of range");
		}
	}
	return true;
}

static bool ctc_fill(struct ag_frame *f, const struct ctc_batch *c, struct ag_tensor *loss,
                     struct ag_tensor *alpha)
{
	int64_t area = c->steps * c->places, *targets, i;
	double *x, *values, *losses;
	bool good;

	if (!ag_ready2(loss, c->x, c->targets) || !ag_ready2(alpha, c->x, c->targets))
		return true;
	x = ag_plain(c->x);
	targets = ag_plain_ints(c->targets);
	values = ag_alloc((size_t)alpha->numel + 1, sizeof(*values));
	losses = ag_alloc((size_t)c->batch + 1, sizeof(*losses));
	good = labels_fit(f, c, targets);
	for (i = 0; good && i < c->batch; i++) {
		struct ctc one = ctc_one(c, x, targets, i);

		losses[i] = ctc_forward(&one, values + i * area);
	}
	if (good) {
		ag_put_plain(loss, losses);
		ag_put_plain(alpha, values);
	}
	free(x);
	free(targets);
	free(values);
	free(losses);
	return good;
}

static struct ag_node *ctc_record(struct ag_ctx *ctx, const struct ctc_batch *c,
                                  struct ag_tensor *loss, struct ag_tensor *alpha)
{
	uint32_t words = 4 + 3 * (uint32_t)c->batch;
	struct ag_node *node = ag_record1(ctx, AG_NODE_CtcLoss, c->x, 4, words);
	size_t bytes = (size_t)c->batch * sizeof(int64_t);

	if (!node)
		return NULL;
	node->ints[0] = c->blank;
	node->ints[1] = c->places;
	node->ints[2] = c->infinite_is_zero;
	node->ints[3] = c->batch;
	memcpy(node->ints + 4, c->input_lengths, bytes);
	memcpy(node->ints + 4 + c->batch, c->target_lengths, bytes);
	memcpy(node->ints + 4 + 2 * c->batch, c->starts, bytes);
	ag_save_input(node, 0, c->x);
	ag_set_history(loss, node);
	ag_save_output(node, 1, loss);
	ag_save_input(node, 2, alpha);
	ag_save_input(node, 3, c->targets);
	return node;
}

/* One loss a sequence. */
static struct ag_tensor *ctc_losses(struct ag_frame *f, const struct ctc_batch *c)
{
	int64_t shape[3] = {c->batch, c->steps, c->places};
	enum ag_dtype dtype = (enum ag_dtype)c->x->dtype;
	struct ag_tensor *loss = scoped(f->ctx, ag_make(f->ctx, dtype, 1, shape, true));
	struct ag_tensor *alpha = scoped(f->ctx, ag_make(f->ctx, dtype, 3, shape, true));

	if (!loss || !alpha || !ctc_fill(f, c, loss, alpha))
		return NULL;
	ag_node_release(ctc_record(f->ctx, c, loss, alpha));
	return loss;
}

static struct ag_tensor *finite_only(struct ag_ctx *ctx, struct ag_tensor *loss)
{
	struct ag_tensor *infinite = op_eq_n(ctx, loss, INFINITY);
	struct ag_value v[3] = {ag_arg(infinite), ag_float(0), ag_arg(loss)};

	return infinite ? op_call(ctx, AG_OP_where, v, 3) : NULL;
}

static struct ag_tensor *by_length(struct ag_ctx *ctx, const struct ctc_batch *c,
                                   struct ag_tensor *loss)
{
	double *values = ag_alloc((size_t)c->batch + 1, sizeof(*values));
	struct ag_tensor *divisor =
	        scoped(ctx, ag_make(ctx, (enum ag_dtype)loss->dtype, 1, &c->batch, true));
	int64_t i;

	for (i = 0; i < c->batch; i++)
		values[i] = c->target_lengths[i] > 1 ? (double)c->target_lengths[i] : 1;
	if (divisor && divisor->storage->data)
		ag_put_plain(divisor, values);
	free(values);
	return divisor ? op_mean(ctx, op_div(ctx, loss, divisor)) : NULL;
}

bool op_run_ctc_loss(struct ag_frame *f)
{
	struct ag_tensor *loss = NULL;
	struct ctc_batch c;

	if (ctc_read(f, &c))
		loss = ctc_losses(f, &c);
	if (loss && c.infinite_is_zero)
		loss = finite_only(f->ctx, loss);
	if (loss && (arg_text_is(f, 5, "mean") || (f->v[5].kind == AG_INT && arg_i(f, 5) == 1)))
		loss = by_length(f->ctx, &c, loss);
	else if (loss && !arg_text_is(f, 5, "none") &&
	         !(f->v[5].kind == AG_INT && arg_i(f, 5) == 0))
		loss = op_sum(f->ctx, loss);
	ctc_release(&c);
	return loss && ag_give_ref(f, loss);
}

static void ctc_unpack(struct ctc_batch *c, const struct ag_node *node, struct ag_tensor *x)
{
	const int64_t *ints = node->ints;

	memset(c, 0, sizeof(*c));
	c->x = x;
	c->blank = ints[0];
	c->places = ints[1];
	c->infinite_is_zero = ints[2] != 0;
	c->steps = x->shape[0];
	c->batch = ints[3];
	c->classes = x->shape[2];
	c->input_lengths = node->ints + 4;
	c->target_lengths = c->input_lengths + c->batch;
	c->starts = c->target_lengths + c->batch;
}

static void ctc_gradients(const struct ctc_batch *c, struct ag_tensor *const *in,
                          struct ag_tensor *out)
{
	double *x = ag_plain(in[0]), *losses = ag_plain(in[1]), *alpha = ag_plain(in[2]);
	double *scales = ag_plain(in[4]), *sums = ag_alloc((size_t)out->numel + 1, sizeof(*sums));
	int64_t *targets = ag_plain_ints(in[3]), i;

	for (i = 0; i < c->batch; i++) {
		struct ctc one = ctc_one(c, x, targets, i);

		if (c->infinite_is_zero && isinf(losses[i]))
			continue;
		ctc_backward(&one, alpha + i * c->steps * c->places, losses[i], scales[i],
		             sums + i * c->classes);
	}
	ag_put_plain(out, sums);
	free(x);
	free(losses);
	free(alpha);
	free(scales);
	free(sums);
	free(targets);
}

bool bw_CtcLoss(struct ag_bw *b)
{
	struct ag_tensor *in[5] = {B_SAVED(0), B_SAVED(1), B_SAVED(2), B_SAVED(3), B_GRAD}, *out;
	struct ctc_batch c;

	if (!in[0] || !in[1] || !in[2] || !in[3])
		return false;
	out = op_zeros_as(B_CTX, in[0]);
	if (!out)
		return false;
	ctc_unpack(&c, b->node, in[0]);
	if (ag_ready(out, in, 5))
		ctc_gradients(&c, in, out);
	B_SET(0, out);
	return true;
}
