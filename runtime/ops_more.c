/* The CTC loss and embedding_bag. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/ctc.h"
#include "runtime/op.h"

/* ---- ctc_loss */

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
	    (c->targets->ndim == 2 && c->target_lengths[i] > c->targets->shape[1]))
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
		total += c->target_lengths[i];
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

/* ---- embedding_bag */

enum bag_mode { BAG_SUM, BAG_MEAN, BAG_MAX };

struct bags {
	struct ag_tensor *indices, *offsets, *weight, *scales;
	int64_t count, width;
	enum bag_mode mode;
	int64_t skipped; /* padding_idx, or -1 */
	bool last_offset;
	/* what PyTorch returns beside the result and keeps */
	struct ag_tensor *bag_of, *sizes, *largest;
};

static struct ag_tensor *row_starts(struct ag_ctx *ctx, const struct ag_tensor *indices)
{
	struct ag_tensor *t = scoped(ctx, ag_make(ctx, AG_I64, 1, indices->shape, true));
	int64_t i, *values;

	if (!t || !t->storage->data)
		return t;
	values = ag_alloc((size_t)t->numel + 1, sizeof(*values));
	for (i = 0; i < t->numel; i++)
		values[i] = i * indices->shape[1];
	ag_put_ints(t, values);
	free(values);
	return t;
}

static bool bag_mode_of(struct ag_frame *f, enum bag_mode *mode)
{
	if (arg_text_is(f, 6, "sum"))
		*mode = BAG_SUM;
	else if (arg_text_is(f, 6, "mean"))
		*mode = BAG_MEAN;
	else if (arg_text_is(f, 6, "max"))
		*mode = BAG_MAX;
	else
		return ag_fail(f->ctx, AG_ERR_VALUE, "mode has to be one of sum, mean or max");
	return true;
}

static bool bags_read(struct ag_frame *f, struct bags *s)
{
	struct ag_tensor *indices = arg_t(f, 0);
	int64_t numel = indices->numel;

	memset(s, 0, sizeof(*s));
	s->weight = arg_t(f, 1);
	s->offsets = arg_t(f, 2);
	s->scales = arg_t(f, 8);
	s->last_offset = arg_b(f, 9);
	s->skipped = arg_none(f, 10) ? -1 : arg_i(f, 10);
	if (!bag_mode_of(f, &s->mode))
		return false;
	if (indices->ndim == 2 && s->offsets)
		return ag_fail(f->ctx, AG_ERR_VALUE, "if input is 2D, then offsets has to be None");
	if (indices->ndim < 1 || indices->ndim > 2 || (indices->ndim == 1 && !s->offsets) ||
	    s->weight->ndim != 2)
		return ag_fail(f->ctx, AG_ERR_VALUE,
		               "input has to be 1D (with offsets) or 2D Tensor");
	if (ag_dtype_is_float((enum ag_dtype)indices->dtype))
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "Expected tensor for argument #1 'indices' to have an integer type");
	if (s->scales && s->mode != BAG_SUM)
		return ag_fail(f->ctx, AG_ERR_VALUE,
		               "per_sample_weights was not None, but only mode='sum' supports it");
	if (!s->offsets)
		s->offsets = row_starts(f->ctx, indices);
	s->indices = op_reshape(f->ctx, indices, 1, &numel);
	if (!s->offsets || !s->indices)
		return false;
	s->count = s->offsets->numel - s->last_offset;
	s->width = s->weight->shape[1];
	return s->count >= 0 ||
	       ag_fail(f->ctx, AG_ERR_RUNTIME, "include_last_offset needs an offset");
}

/* bag_of is made one longer than it is, as in PyTorch. */
static bool bags_extra(struct ag_ctx *ctx, struct bags *s)
{
	int64_t longer = s->indices->numel + 1, shape[2] = {s->count, s->width};
	struct ag_tensor *all = scoped(ctx, ag_make(ctx, AG_I64, 1, &longer, true));

	if (!all)
		return false;
	s->bag_of = op_narrow(ctx, all, 0, 0, longer - 1);
	s->sizes = scoped(ctx, ag_make(ctx, AG_I64, 1, shape, true));
	s->largest = scoped(ctx, ag_make(ctx, AG_I64, s->mode == BAG_MAX ? 2 : 1, shape, true));
	return s->bag_of && s->sizes && s->largest;
}

/* Where bag i ends. */
static int64_t bag_end(const struct bags *s, const int64_t *offsets, int64_t i)
{
	return i + 1 < s->offsets->numel ? offsets[i + 1] : s->indices->numel;
}

struct bag_arrays {
	int64_t *indices, *offsets, *bag_of, *sizes, *largest;
	double *weight, *scales, *out;
};

static bool bags_in_range(struct ag_frame *f, const struct bags *s, const struct bag_arrays *a)
{
	int64_t i;

	for (i = 0; i < s->indices->numel; i++) {
		if (a->indices[i] < 0 || a->indices[i] >= s->weight->shape[0])
			return ag_fail(f->ctx, AG_ERR_RUNTIME,
			               "embedding_bag: Expected idx >= 0 && idx < num_embeddings "
			               "but found idx to be %lld",
			               (long long)a->indices[i]);
	}
	for (i = 0; i < s->count; i++) {
		if (a->offsets[i] < 0 || a->offsets[i] > bag_end(s, a->offsets, i) ||
		    bag_end(s, a->offsets, i) > s->indices->numel)
			return ag_fail(f->ctx, AG_ERR_RUNTIME,
			               "embedding_bag: offsets must rise and fit the input");
	}
	return true;
}

static void add_to_bag(const struct bags *s, struct bag_arrays *a, int64_t bag, int64_t i)
{
	const double *row = a->weight + a->indices[i] * s->width;
	double *out = a->out + bag * s->width, scale = a->scales ? a->scales[i] : 1;
	int64_t k;

	a->bag_of[i] = bag;
	if (a->indices[i] == s->skipped)
		return;
	a->sizes[bag]++;
	for (k = 0; k < s->width; k++) {
		if (s->mode != BAG_MAX) {
			out[k] += row[k] * scale;
		} else if (a->sizes[bag] == 1 || row[k] > out[k]) {
			out[k] = row[k];
			a->largest[bag * s->width + k] = a->indices[i];
		}
	}
}

static void bags_compute(const struct bags *s, struct bag_arrays *a)
{
	int64_t bag, i, k;

	for (bag = 0; bag < s->count; bag++) {
		for (i = a->offsets[bag]; i < bag_end(s, a->offsets, bag); i++)
			add_to_bag(s, a, bag, i);
		for (k = 0; s->mode == BAG_MEAN && a->sizes[bag] && k < s->width; k++)
			a->out[bag * s->width + k] /= (double)a->sizes[bag];
		if (s->mode != BAG_MAX)
			a->largest[bag] = a->sizes[bag];
	}
}

static bool bags_fill(struct ag_frame *f, struct bags *s, struct ag_tensor *out)
{
	struct ag_tensor *in[4] = {s->indices, s->offsets, s->weight, s->scales};
	struct bag_arrays a;
	bool good;

	if (!ag_ready(out, in, 4) || !ag_ready(s->bag_of, in, 2) || !ag_ready(s->sizes, in, 2) ||
	    !ag_ready(s->largest, in, 3))
		return true;
	a.indices = ag_plain_ints(s->indices);
	a.offsets = ag_plain_ints(s->offsets);
	a.weight = ag_plain(s->weight);
	a.scales = s->scales ? ag_plain(s->scales) : NULL;
	a.bag_of = ag_alloc((size_t)s->bag_of->numel + 1, sizeof(int64_t));
	a.sizes = ag_alloc((size_t)s->count + 1, sizeof(int64_t));
	a.largest = ag_alloc((size_t)s->largest->numel + 1, sizeof(int64_t));
	a.out = ag_alloc((size_t)out->numel + 1, sizeof(double));
	good = bags_in_range(f, s, &a);
	if (good) {
		bags_compute(s, &a);
		ag_put_plain(out, a.out);
		ag_put_ints(s->bag_of, a.bag_of);
		ag_put_ints(s->sizes, a.sizes);
		ag_put_ints(s->largest, a.largest);
	}
	free(a.indices);
	free(a.offsets);
	free(a.weight);
	free(a.scales);
	free(a.bag_of);
	free(a.sizes);
	free(a.largest);
	free(a.out);
	return good;
}

static void bags_record(struct ag_frame *f, const struct bags *s, struct ag_tensor *out)
{
	struct ag_tensor *in[2] = {s->weight, s->scales};
	struct ag_node *node = ag_record(f->ctx, AG_NODE_EmbeddingBag, in, 2, 7, 4);

	if (!node)
		return;
	ag_save_input(node, 0, s->indices);
	ag_save_input(node, 1, s->offsets);
	ag_save_input(node, 2, s->bag_of);
	ag_save_input(node, 3, s->sizes);
	ag_save_input(node, 4, s->largest);
	if (s->scales) {
		ag_save_input(node, 5, s->scales);
		ag_save_input(node, 6, s->weight);
	}
	node->ints[0] = s->weight->shape[0];
	node->ints[1] = s->mode;
	node->ints[2] = s->skipped;
	node->ints[3] = s->scales != NULL;
	ag_set_history(out, node);
	ag_node_release(node);
}

bool op_run_embedding_bag(struct ag_frame *f)
{
	struct ag_tensor *out;
	int64_t shape[2];
	struct bags s;

	if (!bags_read(f, &s) || !bags_extra(f->ctx, &s))
		return false;
	shape[0] = s.count;
	shape[1] = s.width;
	out = ag_make(f->ctx, (enum ag_dtype)s.weight->dtype, 2, shape, true);
	if (!out || !bags_fill(f, &s, out)) {
		ag_release(out);
		return false;
	}
	bags_record(f, &s, out);
	return ag_give(f, out);
}

/* One index of the input: its share of the bag's gradient goes to its row of the weight. */
static void spread_index(const struct ag_bw *b, const struct bag_arrays *a, const double *grad,
                         int64_t width, int64_t i)
{
	int64_t bag = a->bag_of[i], row = a->indices[i], k;
	enum bag_mode mode = (enum bag_mode)b->node->ints[1];
	double scale = a->scales ? a->scales[i] : 1;

	if (row == b->node->ints[2])
		return;
	if (mode == BAG_MEAN)
		scale /= (double)a->sizes[bag];
	for (k = 0; k < width; k++) {
		if (mode == BAG_MAX) {
			bool chosen = a->largest[bag * width + k] == row;
			a->largest[bag * width + k] = chosen ? -1 : a->largest[bag * width + k];
			scale = chosen;
		}
		a->out[row * width + k] += grad[bag * width + k] * scale;
	}
}

static void bag_weight_gradient(struct ag_bw *b, struct ag_tensor *const *in,
                                struct ag_tensor *scales, struct ag_tensor *out)
{
	struct bag_arrays a = {.indices = ag_plain_ints(in[0]),
	                       .bag_of = ag_plain_ints(in[1]),
	                       .sizes = ag_plain_ints(in[2]),
	                       .largest = ag_plain_ints(in[3])};
	double *grad = ag_plain(in[4]);
	int64_t i;

	a.scales = scales ? ag_plain(scales) : NULL;
	a.out = ag_alloc((size_t)out->numel + 1, sizeof(double));
	for (i = 0; i < in[0]->numel; i++)
		spread_index(b, &a, grad, out->shape[1], i);
	ag_put_plain(out, a.out);
	free(a.indices);
	free(a.bag_of);
	free(a.sizes);
	free(a.largest);
	free(a.scales);
	free(a.out);
	free(grad);
}

/* per_sample_weights: each index has the product of its row with its bag's gradient. */
static struct ag_tensor *bag_scale_gradient(struct ag_bw *b, struct ag_tensor *const *in)
{
	struct ag_tensor *weight = B_SAVED(6), *scales = B_SAVED(5), *all[4], *out;
	int64_t *indices, *bag_of, i, k, width;
	double *rows, *grad, *values;

	if (!weight || !scales)
		return NULL;
	out = op_zeros_as(B_CTX, scales);
	all[0] = in[0];
	all[1] = in[1];
	all[2] = in[4];
	all[3] = weight;
	if (!out || !ag_ready(out, all, 4))
		return out;
	width = weight->shape[1];
	indices = ag_plain_ints(in[0]);
	bag_of = ag_plain_ints(in[1]);
	grad = ag_plain(in[4]);
	rows = ag_plain(weight);
	values = ag_alloc((size_t)out->numel + 1, sizeof(*values));
	for (i = 0; i < out->numel; i++) {
		for (k = 0; k < width && indices[i] != b->node->ints[2]; k++)
			values[i] += rows[indices[i] * width + k] * grad[bag_of[i] * width + k];
	}
	ag_put_plain(out, values);
	free(indices);
	free(bag_of);
	free(grad);
	free(rows);
	free(values);
	return out;
}

bool bw_EmbeddingBag(struct ag_bw *b)
{
	struct ag_tensor *in[5] = {B_SAVED(0), B_SAVED(2), B_SAVED(3), B_SAVED(4), B_GRAD}, *out;
	bool scaled = b->node->ints[3] != 0;
	struct ag_tensor *scales = scaled ? B_SAVED(5) : NULL;
	int64_t shape[2] = {b->node->ints[0], ag_size(B_GRAD, 1)};

	if (!in[0] || !in[1] || !in[2] || !in[3] || (scaled && !scales))
		return false;
	if (B_WANT(0)) {
		out = op_zeros(B_CTX, (enum ag_dtype)B_GRAD->dtype, 2, shape);
		if (!out)
			return false;
		if (ag_ready(out, in, 5) && (!scales || ag_ready1(out, scales)))
			bag_weight_gradient(b, in, scales, out);
		B_SET(0, out);
	}
	if (scaled && B_WANT(1)) {
		out = bag_scale_gradient(b, in);
		if (!out)
			return false;
		B_SET(1, out);
	}
	return true;
}
