/* Pooling by maxima, which keeps their places as indices. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/pool.h"

/* The windows of one axis: places from `start`, `step` apart, below `end`. */
struct window {
	int64_t start, end, step;
};

struct maxima {
	struct pool pool;
	bool adaptive;
	int64_t in[SPATIAL_DIMS], out[SPATIAL_DIMS];
};

static struct window window_at(const struct maxima *m, int d, int64_t out)
{
	const struct pool *p = &m->pool;
	struct window w = {0, 1, 1};
	int e = d - (SPATIAL_DIMS - p->nd);

	if (e < 0)
		return w;
	if (m->adaptive) {
		w.start = out * m->in[d] / m->out[d];
		w.end = ((out + 1) * m->in[d] + m->out[d] - 1) / m->out[d];
		return w;
	}
	w.step = p->dilation[e];
	w.start = out * p->stride[e] - p->pad[e];
	w.end = w.start + (p->kernel[e] - 1) * w.step + 1;
	w.end = w.end < m->in[d] ? w.end : m->in[d];
	if (w.start < 0)
		w.start += (w.step - 1 - w.start) / w.step * w.step;
	return w;
}

static int64_t best_place(const struct maxima *m, const int64_t *at, const double *plane)
{
	struct window w[SPATIAL_DIMS];
	double best = -INFINITY;
	int64_t place = -1, i, k, l;
	int d;

	/* A window without a place in the plane has the first that it could have. */
	for (d = 0; d < SPATIAL_DIMS; d++) {
		w[d] = window_at(m, d, at[d]);
		w[d].start = w[d].start < m->in[d] ? w[d].start : m->in[d] - 1;
		w[d].end = w[d].end > w[d].start ? w[d].end : w[d].start + 1;
	}
	for (i = w[0].start; i < w[0].end; i += w[0].step) {
		for (k = w[1].start; k < w[1].end; k += w[1].step) {
			for (l = w[2].start; l < w[2].end; l += w[2].step) {
				int64_t here = (i * m->in[1] + k) * m->in[2] + l;

				if (place < 0 || plane[here] > best || isnan(plane[here])) {
					best = plane[here];
					place = here;
				}
			}
		}
	}
	return place;
}

static void fill_maxima(const struct maxima *m, struct ag_tensor *out, struct ag_tensor *indices)
{
	int64_t size = m->in[0] * m->in[1] * m->in[2], planes, p, n = 0, at[SPATIAL_DIMS];
	double *in, *values;
	int64_t *places;

	if (!out->numel)
		return;
	if (!ag_ready1(out, m->pool.x) || !ag_ready1(indices, m->pool.x)) {
		ag_storage_drop_data(out->storage);
		ag_storage_drop_data(indices->storage);
		return;
	}
	in = ag_plain(m->pool.x);
	values = ag_alloc((size_t)out->numel, sizeof(*values));
	places = ag_alloc((size_t)out->numel, sizeof(*places));
	planes = m->pool.x->numel / size;
	for (p = 0; p < planes; p++) {
		for (at[0] = 0; at[0] < m->out[0]; at[0]++) {
			for (at[1] = 0; at[1] < m->out[1]; at[1]++) {
				for (at[2] = 0; at[2] < m->out[2]; at[2]++, n++) {
					places[n] = best_place(m, at, in + p * size);
					values[n] = in[p * size + places[n]];
				}
			}
		}
	}
	ag_put_plain(out, values);
	ag_put_ints(indices, places);
	free(in);
	free(values);
	free(places);
}

static bool maxima_run(struct ag_frame *f, struct maxima *m, enum ag_node_kind kind, bool both)
{
	struct ag_tensor *x = m->pool.x, *out, *indices;
	int d, nd = m->pool.nd, shift = SPATIAL_DIMS - nd;
	struct ag_node *node;

	for (d = 0; d < SPATIAL_DIMS; d++) {
		m->in[d] = d < shift ? 1 : x->shape[x->ndim - nd + d - shift];
		m->out[d] = d < shift ? 1 : m->pool.shape[x->ndim - nd + d - shift];
	}
	out = ag_make(f->ctx, (enum ag_dtype)x->dtype, x->ndim, m->pool.shape, true);
	indices = scoped(f->ctx, ag_make(f->ctx, AG_I64, x->ndim, m->pool.shape, true));
	if (!out || !indices) {
		ag_release(out);
		return false;
	}
	if (x->ndim == nd + 2 && (nd < 3 || !m->adaptive) && ag_suggests_last(x)) {
		ag_put_channels_last(out);
		ag_put_channels_last(indices);
	}
	node = ag_record1(f->ctx, kind, x, 2, AG_MAX_DIMS + 1);
	if (node) {
		ag_save_input(node, 0, indices);
		ag_save_input(node, 1, x);
		node->ints[0] = x->ndim;
		memcpy(node->ints + 1, x->shape, (size_t)x->ndim * sizeof(*x->shape));
	}
	fill_maxima(m, out, indices);
	return ag_finish(f, out, node) && (!both || ag_give_ref(f, indices));
}

static bool max_pool(struct ag_frame *f, int nd, enum ag_node_kind kind)
{
	struct maxima m = {.adaptive = false};

	return pool_read(f, &m.pool, nd, 4, 5) && maxima_run(f, &m, kind, arg_b(f, 6));
}

bool op_run_max_pool2d(struct ag_frame *f)
{
	return max_pool(f, 2, AG_NODE_MaxPool2d);
}

bool op_run_max_pool3d(struct ag_frame *f)
{
	return max_pool(f, 3, AG_NODE_MaxPool3d);
}

static bool adaptive_max_pool(struct ag_frame *f, int nd, enum ag_node_kind kind)
{
	struct maxima m = {.adaptive = true, .pool = {.nd = nd, .x = arg_t(f, 0)}};
	int64_t out[SPATIAL_DIMS];

	return pool_adaptive_shape(f, nd, out, m.pool.shape) &&
	       maxima_run(f, &m, kind, arg_b(f, 2));
}

bool op_run_adaptive_max_pool2d(struct ag_frame *f)
{
	return adaptive_max_pool(f, 2, AG_NODE_AdaptiveMaxPool2d);
}

bool op_run_adaptive_max_pool3d(struct ag_frame *f)
{
	return adaptive_max_pool(f, 3, AG_NODE_AdaptiveMaxPool3d);
}

/* ---- values to and from their places: pool_place(grad, indices, shape), pool_pick(x, indices) */

/* Planes are what the dimensions before the last `nd` index; both tensors have as many. */
static int64_t planes_of(const struct ag_tensor *indices, int64_t nd)
{
	return ag_count(indices->ndim - (int)nd, indices->shape);
}

static void move_values(struct ag_tensor *out, struct ag_tensor *from, struct ag_tensor *indices,
                        int64_t nd, bool place)
{
	int64_t planes = planes_of(indices, nd), size, few, i;
	struct ag_tensor *large = place ? out : from;
	double *in, *values;
	int64_t *places;

	if (!ag_ready2(out, from, indices) || !indices->numel)
		return;
	size = large->numel / planes;
	few = indices->numel / planes;
	in = ag_plain(from);
	places = ag_plain_ints(indices);
	values = ag_alloc((size_t)out->numel + 1, sizeof(*values));
	for (i = 0; i < indices->numel; i++) {
		int64_t at = i / few * size + places[i];

		if (places[i] < 0 || places[i] >= size)
			continue;
		if (place)
			values[at] += in[i];
		else
			values[i] = in[at];
	}
	ag_put_plain(out, values);
	free(in);
	free(places);
	free(values);
}

bool op_run_pool_place(struct ag_frame *f)
{
	struct ag_tensor *g = arg_t(f, 0), *indices = arg_t(f, 1), *out;
	int64_t shape[AG_MAX_DIMS], nd = arg_i(f, 3);
	int ndim = arg_ints(f, 2, shape, AG_MAX_DIMS);
	struct ag_node *node;

	out = ag_make(f->ctx, (enum ag_dtype)g->dtype, ndim, shape, true);
	if (!out)
		return false;
	node = ag_record1(f->ctx, AG_NODE_PoolPlace, g, 1, 1);
	if (node) {
		ag_save_input(node, 0, indices);
		node->ints[0] = nd;
	}
	move_values(out, g, indices, nd, true);
	return ag_finish(f, out, node);
}

bool op_run_pool_pick(struct ag_frame *f)
{
	struct ag_tensor *x = arg_t(f, 0), *indices = arg_t(f, 1), *out;
	struct ag_node *node;

	out = ag_make(f->ctx, (enum ag_dtype)x->dtype, indices->ndim, indices->shape, true);
	if (!out)
		return false;
	node = ag_record1(f->ctx, AG_NODE_PoolPick, x, 1, AG_MAX_DIMS + 2);
	if (node) {
		ag_save_input(node, 0, indices);
		node->ints[0] = arg_i(f, 2);
		node->ints[1] = x->ndim;
		memcpy(node->ints + 2, x->shape, (size_t)x->ndim * sizeof(*x->shape));
	}
	move_values(out, x, indices, arg_i(f, 2), false);
	return ag_finish(f, out, node);
}

static struct ag_tensor *placed(struct ag_ctx *ctx, struct ag_tensor *g, struct ag_tensor *indices,
                                int64_t ndim, const int64_t *shape, int64_t nd)
{
	struct ag_value sizes[AG_MAX_DIMS], v[4];
	int i;

	if (!g || !indices)
		return NULL;
	for (i = 0; i < ndim; i++)
		sizes[i] = ag_int(shape[i]);
	v[0] = ag_arg(g);
	v[1] = ag_arg(indices);
	v[2] = ag_list(sizes, (size_t)ndim);
	v[3] = ag_int(nd);
	return op_call(ctx, AG_OP_pool_place, v, 4);
}

static bool max_formula(struct ag_bw *b, int64_t nd)
{
	struct ag_tensor *indices = B_SAVED(0);
	const int64_t *ints = b->node->ints;

	if (!indices || !B_SAVED(1))
		return false;
	B_SET(0, placed(B_CTX, B_GRAD, indices, ints[0], ints + 1, nd));
	return true;
}

bool bw_MaxPool2d(struct ag_bw *b)
{
	return max_formula(b, 2);
}

bool bw_MaxPool3d(struct ag_bw *b)
{
	return max_formula(b, 3);
}

bool bw_AdaptiveMaxPool2d(struct ag_bw *b)
{
	return max_formula(b, 2);
}

bool bw_AdaptiveMaxPool3d(struct ag_bw *b)
{
	return max_formula(b, 3);
}

bool bw_PoolPlace(struct ag_bw *b)
{
	struct ag_value v[3] = {ag_arg(B_GRAD), ag_arg(B_SAVED(0)), ag_int(b->node->ints[0])};

	if (!v[1].as.tensor)
		return false;
	B_SET(0, op_call(B_CTX, AG_OP_pool_pick, v, 3));
	return true;
}

bool bw_PoolPick(struct ag_bw *b)
{
	const int64_t *ints = b->node->ints;

	B_SET(0, placed(B_CTX, B_GRAD, B_SAVED(0), ints[1], ints + 2, ints[0]));
	return true;
}
