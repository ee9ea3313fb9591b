/* embedding_bag: sums, means and maxima of rows of a weight. */
#include <stdlib.h>
#include <string.h>

#include "runtime/gather.h"
#include "runtime/op.h"

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
		values[i] = ag_times(i, indices->shape[1]);
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
	if (s->scales && !ag_same_shape(s->scales, indices))
		return ag_fail(
		        f->ctx, AG_ERR_VALUE,
		        "embedding_bag: If per_sample_weights is not None, then it must have "
		        "the same shape as the input");
	if (!s->offsets) {
		s->offsets = row_starts(f->ctx, indices);
		s->last_offset = false;
	}
	s->indices = op_reshape(f->ctx, indices, 1, &numel);
	if (!s->offsets || !s->indices)
		return false;
	s->count = s->offsets->numel - s->last_offset;
	s->width = s->weight->shape[1];
	return s->count >= 0 ||
	       ag_fail(f->ctx, AG_ERR_RUNTIME, "include_last_offset needs an offset");
}

/* PyTorch's quick way to a sum does without bag_of. */
static bool is_quick(const struct bags *s)
{
	return s->mode == BAG_SUM && s->skipped < 0 && s->weight->dtype != AG_F64;
}

/* bag_of is made one longer than it is, as in PyTorch. */
static bool bags_extra(struct ag_ctx *ctx, struct bags *s)
{
	int64_t longer = is_quick(s) ? 0 : s->indices->numel + 1, shape[2] = {s->count, s->width};
	struct ag_tensor *all = scoped(ctx, ag_make(ctx, AG_I64, 1, &longer, true));

	if (!all)
		return false;
	longer -= longer > 0;
	ag_set_shape(all, 1, &longer, NULL);
	s->bag_of = all;
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

	if (!ag_ready(out, in, 4) || (s->bag_of->numel && !ag_ready(s->bag_of, in, 2)) ||
	    !ag_ready(s->sizes, in, 2) || !ag_ready(s->largest, in, 3))
		return true;
	a.indices = ag_plain_ints(s->indices);
	a.offsets = ag_plain_ints(s->offsets);
	a.weight = ag_plain(s->weight);
	a.scales = s->scales ? ag_plain(s->scales) : NULL;
	a.bag_of = ag_alloc((size_t)s->indices->numel + 1, sizeof(int64_t));
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

static bool bags_shorten(struct ag_frame *f, const struct bags *s)
{
	int64_t *at;
	bool good;

	if (arg_none(f, 3))
		return true;
	at = ag_index_values(f->ctx, s->indices, s->weight->shape[0], &good);
	if (good)
		ag_shorten_rows(s->weight, s->indices, at, arg_f(f, 3), arg_f(f, 4));
	free(at);
	return good;
}

bool op_run_embedding_bag(struct ag_frame *f)
{
	struct ag_tensor *out;
	int64_t shape[2];
	struct bags s;

	if (!bags_read(f, &s) || !bags_shorten(f, &s) || !bags_extra(f->ctx, &s))
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

static struct ag_tensor *bags_of(struct ag_ctx *ctx, const struct ag_tensor *indices,
                                 struct ag_tensor *offsets)
{
	struct ag_tensor *out = scoped(ctx, ag_make(ctx, AG_I64, 1, &indices->numel, true));
	int64_t *starts, *values, bag = 0, i;

	if (!out || !offsets || !ag_ready1(out, offsets))
		return out;
	starts = ag_plain_ints(offsets);
	values = ag_alloc((size_t)out->numel + 1, sizeof(*values));
	for (i = 0; i < out->numel; i++) {
		while (bag + 1 < offsets->numel && i >= starts[bag + 1])
			bag++;
		values[i] = bag;
	}
	ag_put_ints(out, values);
	free(starts);
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
	if (in[1]->numel < in[0]->numel)
		in[1] = bags_of(B_CTX, in[0], B_SAVED(1));
	if (!in[1])
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
