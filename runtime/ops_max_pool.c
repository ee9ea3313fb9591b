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
	struct ag_tensor *drawn; /* where windows lie at random: numbers for each plane */
	const double *numbers;   /* of the plane at hand */
	int64_t in[SPATIAL_DIMS], out[SPATIAL_DIMS];
};

/* Steps as even as the sizes allow, begun somewhere; the last window ends with the plane. */
static int64_t random_start(const struct maxima *m, int d, int e, int64_t out)
{
	int64_t room = m->in[d] - m->pool.kernel[e], steps = m->out[d] - 1;
	double begun = m->numbers[m->pool.nd == 2 ? 1 - e : e], step;

	if (out == steps || !(begun >= 0 && begun <= 1))
		return room;
	if (m->pool.x->dtype == AG_F64) {
		step = (double)room / (double)steps;
		return (int64_t)(((double)out + begun) * step) - (int64_t)(begun * step);
	}
	step = (float)room / (float)steps;
	return (int64_t)((float)((float)out + (float)begun) * (float)step) -
	       (int64_t)((float)begun * (float)step);
}

static struct window window_at(const struct maxima *m, int d, int64_t out)
{
	const struct pool *p = &m->pool;
	struct window w = {0, 1, 1};
	int e = d - (SPATIAL_DIMS - p->nd);

	if (e < 0)
		return w;
	if (m->drawn) {
		w.start = random_start(m, d, e, out);
		w.end = w.start + p->kernel[e];
		return w;
	}
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

static void fill_maxima(struct maxima *m, struct ag_tensor *out, struct ag_tensor *indices)
{
	int64_t size = m->in[0] * m->in[1] * m->in[2], planes, p, n = 0, at[SPATIAL_DIMS];
	double *in, *values, *numbers;
	int64_t *places;

	if (!out->numel)
		return;
	if (!ag_ready1(out, m->pool.x) || !ag_ready1(indices, m->pool.x) ||
	    (m->drawn && !ag_ready1(out, m->drawn))) {
		ag_storage_drop_data(out->storage);
		ag_storage_drop_data(indices->storage);
		return;
	}
	in = ag_plain(m->pool.x);
	values = ag_alloc((size_t)out->numel, sizeof(*values));
	places = ag_alloc((size_t)out->numel, sizeof(*places));
	numbers = m->drawn ? ag_plain(m->drawn) : NULL;
	planes = m->pool.x->numel / size;
	for (p = 0; p < planes; p++) {
		m->numbers = numbers ? numbers + p * m->pool.nd : NULL;
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
	free(numbers);
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
	if (x->ndim == nd + 2 && (nd < 3 || !m->adaptive) && !m->drawn && ag_suggests_last(x)) {
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

/* ---- windows that lie at random: input, kernel_size, output_size, output_ratio, return_indices,
 * _random_samples */

/* The size asked for in dimension d, or that of the input times a ratio. */
static int64_t fractional_size(struct ag_frame *f, int d, int64_t in)
{
	const bool sized = !arg_none(f, 2);
	const struct ag_value *items;
	uint32_t count;

	items = value_items(&f->v[sized ? 2 : 3], &count);
	if ((uint32_t)d < count)
		items += d;
	return ag_within(sized ? ag_value_int(items)
	                       : (int64_t)((double)in * ag_value_float(items)));
}

static bool fractional_shape(struct ag_frame *f, struct maxima *m)
{
	struct pool *p = &m->pool;
	int d, first = p->x->ndim - p->nd;

	if (p->x->ndim != p->nd + 1 && p->x->ndim != p->nd + 2)
		return ag_fail(f->ctx, AG_ERR_RUNTIME, "%s(): Expected %dD or %dD tensor",
		               ag_op_info(f->op)->id, p->nd + 1, p->nd + 2);
	if (arg_none(f, 2) && arg_none(f, 3))
		return ag_fail(f->ctx, AG_ERR_VALUE,
		               "%s requires specifying either an output_size or an output_ratio",
		               ag_op_info(f->op)->id);
	if (!arg_ints_n(f, 1, p->kernel, p->nd))
		return false;
	memcpy(p->shape, p->x->shape, sizeof(p->shape));
	for (d = 0; d < p->nd; d++) {
		int64_t in = p->x->shape[first + d], out = fractional_size(f, d, in);

		p->shape[first + d] = out;
		if (p->kernel[d] < 1 || out < 1 || out > in ||
		    out + p->kernel[d] - 1 > in - (p->nd == 3))
			return ag_fail(f->ctx, AG_ERR_RUNTIME,
			               "%s(): pool size %lld too large relative to input size %lld",
			               ag_op_info(f->op)->id, (long long)p->kernel[d],
			               (long long)in);
	}
	return true;
}

static bool fractional_max_pool(struct ag_frame *f, int nd, enum ag_node_kind kind)
{
	struct ag_tensor *x = arg_t(f, 0);
	struct maxima m = {.pool = {.nd = nd, .x = x}, .drawn = arg_t(f, 5)};
	struct ag_value sizes[3], v[2];

	if (!fractional_shape(f, &m))
		return false;
	if (!m.drawn) {
		sizes[0] = ag_int(x->ndim == nd + 1 ? 1 : x->shape[0]);
		sizes[1] = ag_int(x->shape[x->ndim - nd - 1]);
		sizes[2] = ag_int(nd);
		v[0] = ag_list(sizes, 3);
		v[1] = ag_type((enum ag_dtype)x->dtype);
		m.drawn = op_call(f->ctx, AG_OP_rand, v, 2);
	}
	if (!m.drawn)
		return false;
	if (m.drawn->numel != x->numel / ag_count(nd, x->shape + x->ndim - nd) * nd)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "Expect _random_samples to have %d numbers for each plane", nd);
	return maxima_run(f, &m, kind, arg_b(f, 4));
}

bool op_run_fractional_max_pool2d(struct ag_frame *f)
{
	return fractional_max_pool(f, 2, AG_NODE_FractionalMaxPool2d);
}

bool op_run_fractional_max_pool3d(struct ag_frame *f)
{
	return fractional_max_pool(f, 3, AG_NODE_FractionalMaxPool3d);
}

/* ---- values to and from their places: pool_place(grad, indices, shape), pool_pick(x, indices) */

/* Planes are what the dimensions before the last `nd` index; both tensors have as many. */
static int64_t planes_of(const struct ag_tensor *indices, int64_t nd)
{
	return ag_count(indices->ndim - (int)nd, indices->shape);
}

enum move { MOVE_PICK, MOVE_ADD, MOVE_PUT };

/* Indices beyond a plane are errors. */
static void move_values(struct ag_tensor *out, struct ag_tensor *from, struct ag_tensor *indices,
                        int64_t nd, enum move move)
{
	int64_t planes = planes_of(indices, nd), size, few, i;
	struct ag_tensor *large = move == MOVE_PICK ? from : out;
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
			ag_break(out->ctx, "Found an invalid max index: %lld",
			         (long long)places[i]);
		else if (move == MOVE_PICK)
			values[i] = in[at];
		else
			values[at] = in[i] + (move == MOVE_ADD ? values[at] : 0);
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
	move_values(out, g, indices, nd, MOVE_ADD);
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
	move_values(out, x, indices, arg_i(f, 2), MOVE_PICK);
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

bool bw_FractionalMaxPool2d(struct ag_bw *b)
{
	return max_formula(b, 2);
}

bool bw_FractionalMaxPool3d(struct ag_bw *b)
{
	return max_formula(b, 3);
}

static bool pick_formula(struct ag_bw *b, int64_t nd)
{
	struct ag_value v[3] = {ag_arg(B_GRAD), ag_arg(B_SAVED(0)), ag_int(nd)};

	if (!v[1].as.tensor)
		return false;
	B_SET(0, op_call(B_CTX, AG_OP_pool_pick, v, 3));
	return true;
}

bool bw_PoolPlace(struct ag_bw *b)
{
	return pick_formula(b, b->node->ints[0]);
}

bool bw_PoolPick(struct ag_bw *b)
{
	const int64_t *ints = b->node->ints;

	B_SET(0, placed(B_CTX, B_GRAD, B_SAVED(0), ints[1], ints + 2, ints[0]));
	return true;
}

/* ---- unpooling: input, indices, kernel_size, stride, padding, output_size */

/* The last `nd` sizes of the result, after the input's others. */
static bool unpooled_shape(struct ag_frame *f, int nd, int64_t *shape)
{
	const struct ag_tensor *x = arg_t(f, 0);
	int64_t kernel[SPATIAL_DIMS], stride[SPATIAL_DIMS], pad[SPATIAL_DIMS],
	        asked[SPATIAL_DIMS + 2];
	int d, count = 0;

	if (!arg_ints_n(f, 2, kernel, nd) || !arg_ints_n(f, arg_none(f, 3) ? 2 : 3, stride, nd) ||
	    !arg_ints_n(f, 4, pad, nd))
		return false;
	if (!arg_none(f, 5))
		count = arg_ints(f, 5, asked, nd + 2);
	if (count && count != nd && count != nd + 2)
		return ag_fail(f->ctx, AG_ERR_VALUE,
		               "output_size should be a sequence containing %d or %d elements", nd,
		               nd + 2);
	memcpy(shape, x->shape, sizeof(x->shape));
	for (d = 0; d < nd; d++) {
		int64_t *size = &shape[x->ndim - nd + d];
		int64_t plain = ag_times(*size - 1, stride[d]) + kernel[d] - 2 * pad[d];

		*size = count ? asked[count - nd + d] : plain;
		if (*size <= plain - stride[d] || (*size >= plain + stride[d] && *size != plain))
			return ag_fail(f->ctx, AG_ERR_VALUE,
			               "invalid output_size (dim %d must be between %lld and %lld)",
			               d, (long long)(plain - stride[d]),
			               (long long)(plain + stride[d]));
	}
	return ag_check_shape(f->ctx, x->ndim, shape);
}

static bool max_unpool(struct ag_frame *f, int nd, enum ag_node_kind kind)
{
	struct ag_tensor *x = arg_t(f, 0), *indices = arg_t(f, 1), *out;
	int64_t shape[AG_MAX_DIMS];
	struct ag_node *node;

	if (indices->dtype != AG_I64)
		return ag_fail(f->ctx, AG_ERR_RUNTIME, "elements in indices should be type int64");
	if (x->ndim != nd + 1 && x->ndim != nd + 2)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "Input to max_unpooling%dd should be a %dd or %dd Tensor, but got "
		               "a tensor with dim = %d",
		               nd, nd + 1, nd + 2, x->ndim);
	if (!ag_same_shape(x, indices))
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "Expected shape of indices to be same as that of the input tensor");
	if (!unpooled_shape(f, nd, shape))
		return false;
	out = nd == 2 ? ag_make_image(f->ctx, x, x->ndim, shape)
	              : ag_make(f->ctx, (enum ag_dtype)x->dtype, x->ndim, shape, true);
	if (!out)
		return false;
	node = ag_record1(f->ctx, kind, x, 1, 0);
	if (node)
		ag_save_input(node, 0, indices);
	move_values(out, x, indices, nd, MOVE_PUT);
	return ag_finish(f, out, node);
}

bool op_run_max_unpool2d(struct ag_frame *f)
{
	return max_unpool(f, 2, AG_NODE_MaxUnpool2d);
}

bool op_run_max_unpool3d(struct ag_frame *f)
{
	return max_unpool(f, 3, AG_NODE_MaxUnpool3d);
}

/* In two dimensions, the second of which is one. */
bool op_run_max_unpool1d(struct ag_frame *f)
{
	static const int64_t second[] = {1, 1, 0, 1};
	struct ag_ctx *c = f->ctx;
	struct ag_value items[8], v[6], squeeze[2] = {ag_none(), ag_int(-1)};
	uint32_t i, count;

	v[0] = ag_arg(op_unsqueeze(c, arg_t(f, 0), -1));
	v[1] = ag_arg(op_unsqueeze(c, arg_t(f, 1), -1));
	if (!v[0].as.tensor || !v[1].as.tensor)
		return false;
	for (i = 0; i < 4; i++) {
		const struct ag_value *given = value_items(&f->v[i + 2], &count);

		items[2 * i] = count ? given[count - 1] : ag_none();
		items[2 * i + 1] = ag_int(second[i]);
		v[i + 2] = arg_none(f, i + 2) || !count ? ag_none() : ag_list(items + 2 * i, 2);
	}
	squeeze[0] = ag_arg(op_call(c, AG_OP_max_unpool2d, v, 6));
	return squeeze[0].as.tensor && ag_give_ref(f, op_call(c, AG_OP_squeeze_dim, squeeze, 2));
}

bool bw_MaxUnpool2d(struct ag_bw *b)
{
	return pick_formula(b, 2);
}

bool bw_MaxUnpool3d(struct ag_bw *b)
{
	return pick_formula(b, 3);
}
