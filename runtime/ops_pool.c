/* Pooling: what all pools share, and averages, which are spatial maps. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/pool.h"

static bool rank_fits(struct ag_frame *f, const struct ag_tensor *x, int nd)
{
	char text[128];

	if (x->ndim == nd + 1 || x->ndim == nd + 2)
		return true;
	return ag_fail(f->ctx, AG_ERR_RUNTIME,
	               "Expected %dD or %dD (batch mode) tensor, but got: %s", nd + 1, nd + 2,
	               ag_shape_text(x->ndim, x->shape, text, sizeof(text)));
}

static bool pool_size(struct ag_frame *f, struct pool *p, int d)
{
	int64_t in = p->x->shape[p->x->ndim - p->nd + d], *out = &p->shape[p->x->ndim - p->nd + d];
	int64_t reach = p->dilation[d] * (p->kernel[d] - 1) + 1, room = in + 2 * p->pad[d] - reach;

	if (p->kernel[d] <= 0 || p->stride[d] <= 0 || p->dilation[d] <= 0)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "kernel size and stride should be greater than zero");
	if (p->pad[d] < 0 || p->pad[d] > reach / 2)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "pad should be at most half of effective kernel size, but got "
		               "pad=%lld, kernel_size=%lld and dilation=%lld",
		               (long long)p->pad[d], (long long)p->kernel[d],
		               (long long)p->dilation[d]);
	if (room < 0 && !(p->ceil_mode && room > -p->stride[d]))
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "Given input size %lld, the calculated output size is too small",
		               (long long)in);
	*out = room / p->stride[d] + 1;
	if (p->ceil_mode) {
		*out = (room + p->stride[d] - 1) / p->stride[d] + 1;
		if ((*out - 1) * p->stride[d] >= in + p->pad[d])
			--*out;
	}
	return true;
}

bool pool_read(struct ag_frame *f, struct pool *p, int nd, int dilation, int ceil_mode)
{
	char text[128];
	int d;

	memset(p, 0, sizeof(*p));
	p->x = arg_t(f, 0);
	p->nd = nd;
	p->ceil_mode = arg_b(f, (uint32_t)ceil_mode);
	if (!rank_fits(f, p->x, nd) || !arg_ints_n(f, 1, p->kernel, nd))
		return false;
	for (d = p->x->ndim - nd - 1; d < p->x->ndim && p->x->shape[d]; d++)
		;
	if (d < p->x->ndim)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "Expected %dD or %dD (batch mode) tensor with optional 0 dim batch "
		               "size for input, but got:%s",
		               nd + 1, nd + 2,
		               ag_shape_text(p->x->ndim, p->x->shape, text, sizeof(text)));
	memcpy(p->stride, p->kernel, sizeof(p->stride));
	if (!arg_none(f, 2) && !(f->v[2].kind == AG_LIST && !f->v[2].count) &&
	    !arg_ints_n(f, 2, p->stride, nd))
		return false;
	for (d = 0; d < nd; d++)
		p->dilation[d] = 1;
	if (!arg_ints_n(f, 3, p->pad, nd) ||
	    (dilation && !arg_ints_n(f, (uint32_t)dilation, p->dilation, nd)))
		return false;
	memcpy(p->shape, p->x->shape, sizeof(p->shape));
	for (d = 0; d < nd; d++) {
		if (!pool_size(f, p, d))
			return false;
	}
	return true;
}

/* ---- by way of two dimensions */

/* x with a dimension of one before its last goes through `op`; the results lose it again. */
static bool through_2d(struct ag_frame *f, enum ag_op op, struct ag_value *v, uint32_t count)
{
	struct ag_value squeeze[2] = {{.kind = AG_NONE}, ag_int(-2)};
	struct ag_tensor *x = op_unsqueeze(f->ctx, arg_t(f, 0), -2);
	struct ag_results results;
	bool good = true;
	uint32_t i;

	if (!x)
		return false;
	v[0] = ag_arg(x);
	if (!ag_run_op(f->ctx, op, false, v, count, &results))
		return false;
	for (i = 0; i < results.count; i++) {
		struct ag_tensor *out = scoped(f->ctx, ag_results_take(&results, i));

		squeeze[0] = ag_arg(out);
		out = op_call(f->ctx, AG_OP_squeeze_dim, squeeze, 2);
		good = good && out && ag_give_ref(f, out);
	}
	ag_results_release(&results);
	return good;
}

/* A setting of one dimension as (neutral, setting). */
static struct ag_value pair(struct ag_frame *f, uint32_t i, int64_t neutral, struct ag_value *items)
{
	int64_t value = neutral;

	if (arg_none(f, i) || (f->v[i].kind == AG_LIST && !f->v[i].count))
		return ag_none();
	arg_ints_n(f, i, &value, 1);
	items[0] = ag_int(neutral);
	items[1] = ag_int(value);
	return ag_list(items, 2);
}

static bool one_dimensional(struct ag_frame *f)
{
	const struct ag_tensor *x = arg_t(f, 0);

	if (x->ndim == 2 || x->ndim == 3)
		return true;
	return ag_fail(f->ctx, AG_ERR_RUNTIME,
	               "Expected 2D or 3D (batch mode) tensor, but got %d dimensions", x->ndim);
}

bool op_run_avg_pool1d(struct ag_frame *f)
{
	struct ag_value items[6], v[7] = {{.kind = AG_NONE}};

	if (!one_dimensional(f))
		return false;
	v[1] = pair(f, 1, 1, items);
	v[2] = pair(f, 2, 1, items + 2);
	v[3] = pair(f, 3, 0, items + 4);
	v[4] = f->v[4];
	v[5] = f->v[5];
	v[6] = ag_none();
	return through_2d(f, AG_OP_avg_pool2d, v, 7);
}

bool op_run_max_pool1d(struct ag_frame *f)
{
	struct ag_value items[8], v[7] = {{.kind = AG_NONE}};

	if (!one_dimensional(f))
		return false;
	v[1] = pair(f, 1, 1, items);
	v[2] = pair(f, 2, 1, items + 2);
	v[3] = pair(f, 3, 0, items + 4);
	v[4] = pair(f, 4, 1, items + 6);
	v[5] = f->v[5];
	v[6] = f->v[6];
	return through_2d(f, AG_OP_max_pool2d, v, 7);
}

bool op_run_adaptive_avg_pool1d(struct ag_frame *f)
{
	struct ag_value items[2], v[2] = {{.kind = AG_NONE}};

	v[1] = pair(f, 1, 1, items);
	return one_dimensional(f) && through_2d(f, AG_OP_adaptive_avg_pool2d, v, 2);
}

bool op_run_adaptive_max_pool1d(struct ag_frame *f)
{
	struct ag_value items[2], v[3] = {{.kind = AG_NONE}};

	v[1] = pair(f, 1, 1, items);
	v[2] = f->v[2];
	return one_dimensional(f) && through_2d(f, AG_OP_adaptive_max_pool2d, v, 3);
}

/* ---- averages */

static bool avg_pool(struct ag_frame *f, int nd, enum ag_node_kind kind)
{
	struct spatial s = {.kind = SPATIAL_AVERAGE, .nd = nd};
	struct pool p;

	if (!pool_read(f, &p, nd, 0, 4) || !ag_need_float(f, p.x))
		return false;
	memcpy(s.in, p.x->shape + p.x->ndim - nd, (size_t)nd * sizeof(*s.in));
	memcpy(s.out, p.shape + p.x->ndim - nd, (size_t)nd * sizeof(*s.out));
	memcpy(s.kernel, p.kernel, sizeof(s.kernel));
	memcpy(s.stride, p.stride, sizeof(s.stride));
	memcpy(s.pad, p.pad, sizeof(s.pad));
	s.count_pad = arg_b(f, 5);
	s.divisor = arg_none(f, 6) ? 0 : arg_i(f, 6);
	return ag_give(f, spatial_run(f->ctx, &s, p.x, p.x->ndim, p.shape, kind, true, false));
}

bool op_run_avg_pool2d(struct ag_frame *f)
{
	return avg_pool(f, 2, AG_NODE_AvgPool2d);
}

bool op_run_avg_pool3d(struct ag_frame *f)
{
	return avg_pool(f, 3, AG_NODE_AvgPool3d);
}

/* PyTorch gives such a mean the strides of channels that come last, by a node of its own. */
static bool restride(struct ag_frame *f, struct ag_tensor *mean)
{
	struct ag_node *node;
	bool good = true;

	if (ag_format_of(arg_t(f, 0)) == AG_CONTIGUOUS)
		return true;
	node = ag_record1(f->ctx, AG_NODE_Restride, mean, 0, 0);
	ag_put_channels_last(mean);
	if (node)
		good = ag_rebase_history(mean, node);
	ag_node_release(node);
	return good;
}

/* The same elements in the same order. */
bool bw_Restride(struct ag_bw *b)
{
	B_SET(0, B_GRAD);
	return true;
}

static bool mean_of_all(struct ag_frame *f, int nd)
{
	struct ag_value dims[SPATIAL_DIMS], v[4] = {ag_arg(arg_t(f, 0))};
	struct ag_tensor *out;
	int d;

	for (d = 0; d < nd; d++)
		dims[d] = ag_int(-1 - d);
	v[1] = ag_list(dims, (size_t)nd);
	v[2] = ag_bool(true);
	v[3] = ag_none();
	out = op_call(f->ctx, AG_OP_mean, v, 4);
	return out && (nd == 1 || restride(f, out)) && ag_give_ref(f, out);
}

/* Only the batch may be empty. */
static bool adaptive_fits(struct ag_frame *f, const struct ag_tensor *x)
{
	char text[128];
	int d;

	for (d = 1; d < x->ndim; d++) {
		if (!x->shape[d])
			return ag_fail(f->ctx, AG_ERR_RUNTIME,
			               "%s(): Expected input to have non-zero size for non-batch "
			               "dimensions, but input has sizes %s with dimension %d being "
			               "empty",
			               ag_op_info(f->op)->id,
			               ag_shape_text(x->ndim, x->shape, text, sizeof(text)), d);
	}
	return true;
}

bool pool_adaptive_shape(struct ag_frame *f, int nd, int64_t *out, int64_t *shape)
{
	struct ag_tensor *x = arg_t(f, 0);
	const struct ag_value *v = &f->v[1];
	int d;

	if (!rank_fits(f, x, nd))
		return false;
	memcpy(shape, x->shape, sizeof(x->shape));
	for (d = 0; d < nd; d++) {
		const struct ag_value *one =
		        v->kind == AG_LIST && d < (int)v->count ? &v->as.list[d] : v;
		int64_t *size = &shape[x->ndim - nd + d];

		if (one->kind == AG_INT || one->kind == AG_BOOL)
			*size = ag_value_int(one);
		if (*size < 0)
			return ag_fail(
			        f->ctx, AG_ERR_RUNTIME,
			        "elements of output_size must be greater than or equal to 0");
		out[d] = *size;
	}
	return ag_check_shape(f->ctx, x->ndim, shape) && adaptive_fits(f, x);
}

static bool adaptive_avg_pool(struct ag_frame *f, int nd, enum ag_node_kind kind)
{
	struct spatial s = {.kind = SPATIAL_ADAPTIVE, .nd = nd};
	struct ag_tensor *x = arg_t(f, 0);
	int64_t shape[AG_MAX_DIMS];

	if (!pool_adaptive_shape(f, nd, s.out, shape) || !ag_need_float(f, x))
		return false;
	if (ag_count(nd, s.out) == 1)
		return mean_of_all(f, nd);
	memcpy(s.in, x->shape + x->ndim - nd, (size_t)nd * sizeof(*s.in));
	return ag_give(f, spatial_run(f->ctx, &s, x, x->ndim, shape, kind, true, false));
}

bool op_run_adaptive_avg_pool2d(struct ag_frame *f)
{
	return adaptive_avg_pool(f, 2, AG_NODE_AdaptiveAvgPool2d);
}

bool op_run_adaptive_avg_pool3d(struct ag_frame *f)
{
	return adaptive_avg_pool(f, 3, AG_NODE_AdaptiveAvgPool3d);
}
