#include "runtime/conv.h"

#include <stdlib.h>

struct walk {
	enum conv_mode mode;
	double *small, *big, *weight;
	int64_t batch, groups;
	int64_t small_channels, big_channels; /* of one group */
	int64_t small_size[CONV_DIMS], big_size[CONV_DIMS], kernel[CONV_DIMS];
	int64_t stride[CONV_DIMS], pad[CONV_DIMS], dilation[CONV_DIMS];
};

static int64_t volume(const int64_t *size)
{
	return size[0] * size[1] * size[2];
}

/* The offset on the big side that position `at` and kernel element `k` meet; -1: outside. */
static int64_t big_offset(const struct walk *w, const int64_t *at, const int64_t *k)
{
	int64_t offset = 0;

	for (int d = 0; d < CONV_DIMS; d++) {
		int64_t p = at[d] * w->stride[d] - w->pad[d] + k[d] * w->dilation[d];

		if (p < 0 || p >= w->big_size[d])
			return -1;
		offset = offset * w->big_size[d] + p;
	}
	return offset;
}

static double meet(const struct walk *w, double *big, double *weight, double small)
{
	if (w->mode == CONV_GATHER)
		return *big * *weight;
	if (w->mode == CONV_SCATTER)
		*big += small * *weight;
	else
		*weight += small * *big;
	return 0;
}

/* One element of the small side with all that it meets. */
static void walk_element(const struct walk *w, const int64_t *at, double *small, double *big,
                         double *weight)
{
	int64_t area = volume(w->big_size), field = volume(w->kernel), k[CONV_DIMS], c, i = 0;
	double sum = 0;

	for (k[0] = 0; k[0] < w->kernel[0]; k[0]++) {
		for (k[1] = 0; k[1] < w->kernel[1]; k[1]++) {
			for (k[2] = 0; k[2] < w->kernel[2]; k[2]++, i++) {
				int64_t offset = big_offset(w, at, k);

				for (c = 0; offset >= 0 && c < w->big_channels; c++)
					sum += meet(w, big + c * area + offset,
					            weight + c * field + i, *small);
			}
		}
	}
	if (w->mode == CONV_GATHER)
		*small = sum;
}

/* All positions of one channel of the small side. */
static void walk_channel(const struct walk *w, double *small, double *big, double *weight)
{
	int64_t at[CONV_DIMS];

	for (at[0] = 0; at[0] < w->small_size[0]; at[0]++) {
		for (at[1] = 0; at[1] < w->small_size[1]; at[1]++) {
			for (at[2] = 0; at[2] < w->small_size[2]; at[2]++)
				walk_element(w, at, small++, big, weight);
		}
	}
}

static void walk_run(const struct walk *w)
{
	int64_t n, g, c, channels = w->groups * w->small_channels;
	int64_t field = w->big_channels * volume(w->kernel);

	for (n = 0; n < w->batch; n++) {
		for (g = 0; g < w->groups; g++) {
			double *big = w->big +
			              (n * w->groups + g) * w->big_channels * volume(w->big_size);

			for (c = g * w->small_channels; c < (g + 1) * w->small_channels; c++)
				walk_channel(w,
				             w->small + (n * channels + c) * volume(w->small_size),
				             big, w->weight + c * field);
		}
	}
}

/* Sizes with leading ones, so that there are always three dimensions. */
static void sizes_of(const struct ag_tensor *t, int64_t *out)
{
	int nd = t->ndim - 2, d;

	for (d = 0; d < CONV_DIMS; d++)
		out[d] = d < CONV_DIMS - nd ? 1 : t->shape[2 + d - (CONV_DIMS - nd)];
}

static void geometry(struct walk *w, const struct conv *c, const struct ag_tensor *small,
                     const struct ag_tensor *big, const struct ag_tensor *weight)
{
	int d, shift = CONV_DIMS - c->nd;

	w->batch = small->shape[0];
	w->groups = c->groups;
	w->small_channels = small->shape[1] / c->groups;
	w->big_channels = big->shape[1] / c->groups;
	sizes_of(small, w->small_size);
	sizes_of(big, w->big_size);
	sizes_of(weight, w->kernel);
	for (d = 0; d < CONV_DIMS; d++) {
		w->stride[d] = d < shift ? 1 : c->stride[d - shift];
		w->pad[d] = d < shift ? 0 : c->pad[d - shift];
		w->dilation[d] = d < shift ? 1 : c->dilation[d - shift];
	}
}

static double multiplications(const struct walk *w, const struct ag_tensor *small)
{
	double count = (double)small->numel * (double)w->big_channels;

	for (int d = 0; d < CONV_DIMS; d++)
		count *= (double)w->kernel[d];
	return count;
}

static void add_bias(double *values, const struct ag_tensor *out, const struct ag_tensor *bias)
{
	int64_t area = out->shape[1] ? ag_count(out->ndim - 2, out->shape + 2) : 0, i;
	double *add;

	if (!bias)
		return;
	add = ag_plain(bias);
	for (i = 0; i < out->numel; i++)
		values[i] += add[i / area % out->shape[1]];
	free(add);
}

void conv_walk(const struct conv *c, enum conv_mode mode, struct ag_tensor *small,
               struct ag_tensor *big, struct ag_tensor *weight, struct ag_tensor *bias)
{
	struct ag_tensor *all[3] = {small, big, weight};
	struct ag_tensor *out = all[mode],
	                 *in[3] = {all[mode ? 0 : 1], all[mode == CONV_WEIGHT ? 1 : 2], bias};
	struct walk w = {.mode = mode};
	double *values[3];
	int i;

	geometry(&w, c, small, big, weight);
	if (!ag_work(out->storage->ctx, multiplications(&w, small)))
		ag_storage_drop_data(out->storage);
	if (!ag_ready(out, in, 3))
		return;
	for (i = 0; i < 3; i++)
		values[i] = i == (int)mode ? ag_alloc((size_t)out->numel + 1, sizeof(double))
		                           : ag_plain(all[i]);
	w.small = values[0];
	w.big = values[1];
	w.weight = values[2];
	if (small->numel && big->numel && weight->numel)
		walk_run(&w);
	add_bias(values[mode], out, bias);
	ag_put_plain(out, values[mode]);
	for (i = 0; i < 3; i++)
		free(values[i]);
}
