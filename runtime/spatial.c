#include "runtime/spatial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The map along one axis: `count` outputs of up to `taps` inputs. An output's place in the plane
 * is the sum of its axes' rows, an input's that of the columns; column -1 is none. */
struct axis {
	int64_t count, taps;
	int64_t *row, *column;
	double *weight;
};

int64_t spatial_in(const struct spatial *s)
{
	return ag_count((int)s->nd, s->in) *
	       (s->kind == SPATIAL_SHUFFLE ? ag_count((int)s->nd, s->kernel) : 1);
}

int64_t spatial_out(const struct spatial *s)
{
	return ag_count((int)s->nd, s->out) *
	       (s->kind == SPATIAL_COLUMNS ? ag_count((int)s->nd, s->kernel) : 1);
}

static void axis_open(struct axis *a, int64_t count, int64_t taps)
{
	int64_t i;

	a->count = count;
	a->taps = taps;
	a->row = ag_alloc((size_t)count + 1, sizeof(*a->row));
	a->column = ag_alloc((size_t)(count * taps) + 1, sizeof(*a->column));
	a->weight = ag_alloc((size_t)(count * taps) + 1, sizeof(*a->weight));
	for (i = 0; i < count * taps; i++)
		a->column[i] = -1;
	for (i = 0; i < count; i++)
		a->row[i] = i;
}

static void axis_free(struct axis *a)
{
	free(a->row);
	free(a->column);
	free(a->weight);
}

static void tap(struct axis *a, int64_t out, int64_t i, int64_t in, double weight)
{
	a->column[out * a->taps + i] = in;
	a->weight[out * a->taps + i] = weight;
}

/* Columns and rows count elements along the axis; here they become offsets in the plane. */
static void axis_scale(struct axis *a, int64_t row, int64_t column)
{
	int64_t i;

	for (i = 0; i < a->count; i++)
		a->row[i] *= row;
	for (i = 0; i < a->count * a->taps; i++) {
		if (a->column[i] > 0)
			a->column[i] *= column;
	}
}

/* ---- the kinds */

static int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static void average(struct axis *a, const struct spatial *s, int d)
{
	int64_t out, start, end, from, to, i, count;

	axis_open(a, s->out[d], smaller(s->kernel[d], s->in[d]));
	for (out = 0; out < s->out[d]; out++) {
		start = out * s->stride[d] - s->pad[d];
		end = smaller(start + s->kernel[d], s->in[d] + s->pad[d]);
		from = larger(start, 0);
		to = smaller(end, s->in[d]);
		count = s->count_pad ? end - start : to - from;
		if (s->divisor)
			count = d ? 1 : s->divisor;
		for (i = from; i < to; i++)
			tap(a, out, i - from, i, 1.0 / (double)count);
	}
}

static void adaptive(struct axis *a, const struct spatial *s, int d)
{
	int64_t in = s->in[d], count = s->out[d], out, i;

	axis_open(a, count, count ? in / count + 2 : 0);
	for (out = 0; out < count; out++) {
		int64_t start = out * in / count, end = ((out + 1) * in + count - 1) / count;

		for (i = start; i < end; i++)
			tap(a, out, i - start, i, 1.0 / (double)(end - start));
	}
}

static double ratio(const struct spatial *s, int d)
{
	if (s->align_corners)
		return s->out[d] > 1 ? (double)(s->in[d] - 1) / (double)(s->out[d] - 1) : 0;
	return s->scale[d] > 0 ? 1.0 / s->scale[d] : (double)s->in[d] / (double)s->out[d];
}

static void nearest(struct axis *a, const struct spatial *s, int d, double shift)
{
	float scale = (float)ratio(s, d);
	int64_t out;

	axis_open(a, s->out[d], 1);
	for (out = 0; out < s->out[d]; out++) {
		float at = floorf(((float)out + (float)shift) * scale);

		tap(a, out, 0, smaller((int64_t)at, s->in[d] - 1), 1);
	}
}

static void linear(struct axis *a, const struct spatial *s, int d)
{
	double scale = ratio(s, d);
	int64_t out;

	axis_open(a, s->out[d], 2);
	for (out = 0; out < s->out[d]; out++) {
		double at =
		        s->align_corners ? scale * (double)out : scale * ((double)out + 0.5) - 0.5;
		int64_t low;
		double rest;

		at = at < 0 ? 0 : at;
		low = smaller((int64_t)at, s->in[d] - 1);
		rest = at - (double)low;
		rest = rest > 1 ? 1 : rest;
		tap(a, out, 0, low, 1 - rest);
		tap(a, out, 1, smaller(low + 1, s->in[d] - 1), rest);
	}
}

/* Keys' kernel with a = -0.75, for |x| <= 1 and 1 < |x| < 2. */
static double keys(double x)
{
	const double k = -0.75;

	if (x <= 1)
		return ((k + 2) * x - (k + 3)) * x * x + 1;
	return ((k * x - 5 * k) * x + 8 * k) * x - 4 * k;
}

static void cubic(struct axis *a, const struct spatial *s, int d)
{
	double scale = ratio(s, d);
	int64_t out, i;

	axis_open(a, s->out[d], 4);
	for (out = 0; out < s->out[d]; out++) {
		double at =
		        s->align_corners ? scale * (double)out : scale * ((double)out + 0.5) - 0.5;
		double low = floor(at);

		for (i = 0; i < 4; i++) {
			int64_t in = larger(smaller((int64_t)low - 1 + i, s->in[d] - 1), 0);

			tap(a, out, i, in, keys(fabs(at - low + 1 - (double)i)));
		}
	}
}

static void padding(struct axis *a, const struct spatial *s, int d)
{
	int64_t in = s->in[d], out;

	axis_open(a, s->out[d], 1);
	for (out = 0; out < s->out[d]; out++) {
		int64_t at = out - s->pad[d];

		if (s->kind == SPATIAL_REFLECT && at < 0)
			at = -at;
		else if (s->kind == SPATIAL_REFLECT && at >= in)
			at = 2 * (in - 1) - at;
		tap(a, out, 0, larger(smaller(at, in - 1), 0), 1);
	}
}

/* Outputs are (kernel element, block); their rows are final, see below. */
static void columns(struct axis *a, const struct spatial *s, int d)
{
	int64_t blocks = ag_count((int)s->nd, s->out), inner = 1, kernels = 1, k, l;

	for (int i = d + 1; i < s->nd; i++) {
		inner *= s->out[i];
		kernels *= s->kernel[i];
	}
	axis_open(a, s->kernel[d] * s->out[d], 1);
	for (k = 0; k < s->kernel[d]; k++) {
		for (l = 0; l < s->out[d]; l++) {
			int64_t out = k * s->out[d] + l;
			int64_t in = l * s->stride[d] - s->pad[d] + k * s->dilation[d];

			a->row[out] = k * kernels * blocks + l * inner;
			if (in >= 0 && in < s->in[d])
				tap(a, out, 0, in, 1);
		}
	}
}

/* Inputs are (place in the block, position); their columns are final. */
static void shuffle(struct axis *a, const struct spatial *s, int d)
{
	int64_t area = ag_count((int)s->nd, s->in), inner = 1, kernels = 1, i, k;

	for (int e = d + 1; e < s->nd; e++) {
		inner *= s->in[e];
		kernels *= s->kernel[e];
	}
	axis_open(a, s->out[d], 1);
	for (i = 0; i < s->in[d]; i++) {
		for (k = 0; k < s->kernel[d]; k++)
			tap(a, i * s->kernel[d] + k, 0, k * kernels * area + i * inner, 1);
	}
}

static void axis_of(struct axis *a, const struct spatial *s, int d)
{
	int64_t row = ag_count((int)s->nd - d - 1, s->out + d + 1);
	int64_t column = ag_count((int)s->nd - d - 1, s->in + d + 1);

	switch ((enum spatial_kind)s->kind) {
	case SPATIAL_AVERAGE:
		average(a, s, d);
		break;
	case SPATIAL_ADAPTIVE:
		adaptive(a, s, d);
		break;
	case SPATIAL_NEAREST:
		nearest(a, s, d, 0);
		break;
	case SPATIAL_NEAREST_EXACT:
		nearest(a, s, d, 0.5);
		break;
	case SPATIAL_LINEAR:
		linear(a, s, d);
		break;
	case SPATIAL_CUBIC:
		cubic(a, s, d);
		break;
	case SPATIAL_REFLECT:
	case SPATIAL_REPLICATE:
		padding(a, s, d);
		break;
	case SPATIAL_COLUMNS:
		columns(a, s, d);
		row = 1;
		break;
	case SPATIAL_SHUFFLE:
		shuffle(a, s, d);
		column = 1;
		break;
	}
	axis_scale(a, row, column);
}

/* ---- applying */

/* One output of a plane: the sum over the taps of all axes, or its spreading back. */
static void apply_at(const struct axis *axes, const int64_t *at, const double *in, double *out,
                     bool adjoint)
{
	int64_t row = axes[0].row[at[0]] + axes[1].row[at[1]] + axes[2].row[at[2]], i, k, l;

	for (i = at[0] * axes[0].taps; i < (at[0] + 1) * axes[0].taps; i++) {
		for (k = at[1] * axes[1].taps;
		     axes[0].column[i] >= 0 && k < (at[1] + 1) * axes[1].taps; k++) {
			for (l = at[2] * axes[2].taps;
			     axes[1].column[k] >= 0 && l < (at[2] + 1) * axes[2].taps; l++) {
				int64_t column =
				        axes[0].column[i] + axes[1].column[k] + axes[2].column[l];
				double weight =
				        axes[0].weight[i] * axes[1].weight[k] * axes[2].weight[l];

				if (axes[2].column[l] < 0)
					continue;
				if (adjoint)
					out[column] += weight * in[row];
				else
					out[row] += weight * in[column];
			}
		}
	}
}

static void apply_plane(const struct axis *axes, const double *in, double *out, bool adjoint)
{
	int64_t at[SPATIAL_DIMS];

	for (at[0] = 0; at[0] < axes[0].count; at[0]++) {
		for (at[1] = 0; at[1] < axes[1].count; at[1]++) {
			for (at[2] = 0; at[2] < axes[2].count; at[2]++)
				apply_at(axes, at, in, out, adjoint);
		}
	}
}

static void apply(const struct spatial *s, struct ag_tensor *out, struct ag_tensor *x, bool adjoint)
{
	int64_t from = adjoint ? spatial_out(s) : spatial_in(s);
	int64_t to = adjoint ? spatial_in(s) : spatial_out(s), planes, i;
	struct axis axes[SPATIAL_DIMS];
	double *in, *sums;
	int d, shift = SPATIAL_DIMS - (int)s->nd;

	if (!ag_ready1(out, x) || !out->numel || !from)
		return;
	planes = x->numel / from;
	for (d = 0; d < SPATIAL_DIMS; d++) {
		if (d >= shift) {
			axis_of(&axes[d], s, d - shift);
			continue;
		}
		axis_open(&axes[d], 1, 1);
		tap(&axes[d], 0, 0, 0, 1);
	}
	in = ag_plain(x);
	sums = ag_alloc((size_t)out->numel + 1, sizeof(*sums));
	for (i = 0; i < planes; i++)
		apply_plane(axes, in + i * from, sums + i * to, adjoint);
	ag_put_plain(out, sums);
	free(in);
	free(sums);
	for (d = 0; d < SPATIAL_DIMS; d++)
		axis_free(&axes[d]);
}

/* A node's words: adjoint or not, the map, and the shape that its formula must give. */
enum { NODE_INTS = 2 + SPATIAL_INTS + AG_MAX_DIMS };

static void remember(struct ag_node *node, const struct spatial *s, const struct ag_tensor *x,
                     bool adjoint)
{
	node->ints[0] = adjoint;
	node->ints[1] = x->ndim;
	memcpy(node->ints + 2, s, sizeof(*s));
	memcpy(node->ints + 2 + SPATIAL_INTS, x->shape, (size_t)x->ndim * sizeof(*x->shape));
}

/* `roomy`: in a storage that would hold x, too; PyTorch folds into memory shaped like x. */
static struct ag_tensor *make_result(struct ag_ctx *ctx, const struct ag_tensor *x, int ndim,
                                     const int64_t *shape, bool roomy)
{
	struct ag_tensor *out;

	if (!ag_check_shape(ctx, ndim, shape))
		return NULL;
	if (!roomy || ag_count(ndim, shape) >= x->numel)
		return ag_make(ctx, (enum ag_dtype)x->dtype, ndim, shape, true);
	out = ag_make(ctx, (enum ag_dtype)x->dtype, 1, &x->numel, true);
	if (out)
		ag_set_shape(out, ndim, shape, NULL);
	return out;
}

/* Whether a result keeps channels last where x has them. */
static bool keeps_layout(const struct spatial *s, const struct ag_tensor *x)
{
	if (x->ndim != s->nd + 2 || !ag_suggests_last(x))
		return false;
	switch ((enum spatial_kind)s->kind) {
	case SPATIAL_AVERAGE:
	case SPATIAL_ADAPTIVE:
		return s->nd < 3;
	case SPATIAL_NEAREST:
	case SPATIAL_NEAREST_EXACT:
	case SPATIAL_LINEAR:
	case SPATIAL_CUBIC:
	case SPATIAL_REFLECT:
	case SPATIAL_REPLICATE:
		return s->nd > 1;
	case SPATIAL_SHUFFLE:
		return true;
	case SPATIAL_COLUMNS:
		break;
	}
	return false;
}

struct ag_tensor *spatial_run(struct ag_ctx *ctx, const struct spatial *s, struct ag_tensor *x,
                              int ndim, const int64_t *shape, enum ag_node_kind kind, bool saves,
                              bool adjoint)
{
	bool folds = kind == AG_NODE_Col2im ||
	             (kind == AG_NODE_SparseMap && s->kind == SPATIAL_COLUMNS && adjoint);
	struct ag_tensor *out = make_result(ctx, x, ndim, shape, folds);
	struct ag_node *node;

	if (!out)
		return NULL;
	if (keeps_layout(s, x))
		ag_put_channels_last(out);
	node = ag_record1(ctx, kind, x, saves, NODE_INTS);
	if (node) {
		remember(node, s, x, adjoint);
		if (saves)
			ag_save_input(node, 0, x);
	}
	apply(s, out, x, adjoint);
	if (node)
		ag_set_history(out, node);
	ag_node_release(node);
	return out;
}

/* Row `spatial_map`: input, the map's words, the result's shape, which way. */
bool op_run_spatial_map(struct ag_frame *f)
{
	int64_t ints[SPATIAL_INTS], shape[AG_MAX_DIMS];
	int ndim = arg_ints(f, 2, shape, AG_MAX_DIMS), i;
	struct spatial s;

	if (arg_list(f, 1) != SPATIAL_INTS || ndim < 0)
		return ag_fail(f->ctx, AG_ERR_RUNTIME, "spatial_map: bad arguments");
	for (i = 0; i < SPATIAL_INTS; i++)
		ints[i] = ag_value_int(&f->v[1].as.list[i]); /* words, of numbers too */
	memcpy(&s, ints, sizeof(s));
	return ag_give(f, spatial_run(f->ctx, &s, arg_t(f, 0), ndim, shape, AG_NODE_SparseMap,
	                              false, arg_b(f, 3)));
}

bool spatial_backward(struct ag_bw *b)
{
	const int64_t *ints = b->node->ints;
	struct ag_value words[SPATIAL_INTS], sizes[AG_MAX_DIMS], v[4];
	int i, ndim = (int)ints[1];

	if (b->node->nsaved && !B_SAVED(0)) /* freed: PyTorch refuses, though we need no values */
		return false;
	for (i = 0; i < SPATIAL_INTS; i++)
		words[i] = ag_int(ints[2 + i]);
	for (i = 0; i < ndim; i++)
		sizes[i] = ag_int(ints[2 + SPATIAL_INTS + i]);
	v[0] = ag_arg(B_GRAD);
	v[1] = ag_list(words, SPATIAL_INTS);
	v[2] = ag_list(sizes, (size_t)ndim);
	v[3] = ag_bool(!ints[0]);
	B_SET(0, op_call(B_CTX, AG_OP_spatial_map, v, 4));
	return true;
}

#define SPATIAL_FORMULA(id)                                                                        \
	bool bw_##id(struct ag_bw *b)                                                              \
	{                                                                                          \
		return spatial_backward(b);                                                        \
	}
SPATIAL_FORMULA(AvgPool2d)
SPATIAL_FORMULA(AvgPool3d)
SPATIAL_FORMULA(AdaptiveAvgPool2d)
SPATIAL_FORMULA(AdaptiveAvgPool3d)
SPATIAL_FORMULA(Upsample1d)
SPATIAL_FORMULA(Upsample2d)
SPATIAL_FORMULA(Upsample3d)
SPATIAL_FORMULA(UpsampleExact1d)
SPATIAL_FORMULA(UpsampleExact2d)
SPATIAL_FORMULA(UpsampleExact3d)
SPATIAL_FORMULA(UpsampleLinear)
SPATIAL_FORMULA(UpsampleBilinear)
SPATIAL_FORMULA(UpsampleTrilinear)
SPATIAL_FORMULA(UpsampleBicubic)
SPATIAL_FORMULA(ReflectionPad1d)
SPATIAL_FORMULA(ReflectionPad2d)
SPATIAL_FORMULA(ReflectionPad3d)
SPATIAL_FORMULA(ReplicationPad1d)
SPATIAL_FORMULA(ReplicationPad2d)
SPATIAL_FORMULA(ReplicationPad3d)
SPATIAL_FORMULA(Im2col)
SPATIAL_FORMULA(Col2im)
SPATIAL_FORMULA(PixelShuffle)
SPATIAL_FORMULA(PixelUnshuffle)
SPATIAL_FORMULA(SparseMap)
