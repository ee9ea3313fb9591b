/* Sampling images at the places of a grid, and grids of affine maps. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/op.h"

enum { GRID_DIMS = 3, MOST_TAPS = 4 };
enum grid_mode { GRID_LINEAR, GRID_NEAREST, GRID_CUBIC };
enum grid_padding { GRID_ZEROS, GRID_BORDER, GRID_REFLECTION };

struct grid {
	enum grid_mode mode;
	enum grid_padding padding;
	bool align;
	int nd;
	int64_t batch, channels, in[GRID_DIMS], out[GRID_DIMS];
};

/* What a place takes of one axis: elements (-1: outside), their weights, and how these change. */
struct axis {
	int count;
	int64_t at[MOST_TAPS];
	double weight[MOST_TAPS], slope[MOST_TAPS];
};

static double clipped(double x, int64_t size, double *slope)
{
	double top = (double)(size - 1);

	if (x > 0 && x < top)
		return x;
	*slope = 0;
	return x > 0 ? top : 0;
}

static double reflected(double x, int64_t size, bool align, double *slope)
{
	double low = align ? 0 : -0.5, span = align ? (double)(size - 1) : (double)size, rest;

	if (span <= 0) {
		*slope = 0;
		return 0;
	}
	if (x < low)
		*slope = -*slope;
	x = fabs(x - low);
	rest = fmod(x, span);
	if (fmod(floor(x / span), 2) == 0)
		return rest + low;
	*slope = -*slope;
	return span - rest + low;
}

static double padded(const struct grid *g, double x, int64_t size, double *slope)
{
	if (g->padding == GRID_ZEROS)
		return x;
	if (g->padding == GRID_REFLECTION)
		x = reflected(x, size, g->align, slope);
	return clipped(x, size, slope);
}

static void add_tap(struct axis *a, double at, int64_t size, double weight, double slope)
{
	a->at[a->count] = at >= 0 && at < (double)size ? (int64_t)at : -1;
	a->weight[a->count] = weight;
	a->slope[a->count++] = slope;
}

static double cubic_near(double t)
{
	return (1.25 * t - 2.25) * t * t + 1;
}

static double cubic_far(double t)
{
	return ((-0.75 * t + 3.75) * t - 6) * t + 3;
}

static void cubic_taps(const struct grid *g, struct axis *a, double x, int64_t size, double scale)
{
	double base = floor(x), t = x - base, none = 1;
	double weight[4] = {cubic_far(t + 1), cubic_near(t), cubic_near(1 - t), cubic_far(2 - t)};
	double slope[4] = {(-2.25 * (t + 1) + 7.5) * (t + 1) - 6, (3.75 * t - 4.5) * t,
	                   -(3.75 * (1 - t) - 4.5) * (1 - t),
	                   -((-2.25 * (2 - t) + 7.5) * (2 - t) - 6)};
	int i;

	for (i = 0; i < 4; i++)
		add_tap(a, padded(g, base - 1 + i, size, &none), size, weight[i], slope[i] * scale);
}

static void axis_at(const struct grid *g, struct axis *a, double x, int64_t size)
{
	double slope = g->align ? (double)(size - 1) / 2 : (double)size / 2, t;

	a->count = 0;
	x = g->align ? (x + 1) / 2 * (double)(size - 1) : ((x + 1) * (double)size - 1) / 2;
	if (g->mode == GRID_CUBIC) {
		cubic_taps(g, a, x, size, slope);
		return;
	}
	x = padded(g, x, size, &slope);
	if (g->mode == GRID_NEAREST) {
		add_tap(a, nearbyint(x), size, 1, 0);
		return;
	}
	t = x - floor(x);
	add_tap(a, floor(x), size, 1 - t, -slope);
	add_tap(a, floor(x) + 1, size, t, slope);
}

/* What is computed at one place: the result's element, or both gradients. */
struct place {
	const double *image, *grad;
	double *out, *d_image, *d_place;
	int64_t area; /* of a channel of the image */
	int64_t step; /* of a channel of the result */
};

static void meet(const struct grid *g, const struct place *p, int64_t at, double weight,
                 const double *slopes)
{
	int64_t c;
	int d;

	for (c = 0; c < g->channels; c++) {
		double value = p->image[c * p->area + at];

		if (p->out) {
			p->out[c * p->step] += weight * value;
			continue;
		}
		p->d_image[c * p->area + at] += weight * p->grad[c * p->step];
		for (d = 0; d < g->nd; d++)
			p->d_place[d] += slopes[d] * value * p->grad[c * p->step];
	}
}

/* The grid names the last axis first. */
static void walk_place(const struct grid *g, const struct place *p, const double *where)
{
	struct axis axes[GRID_DIMS];
	int64_t many = 1, k;
	int d, e;

	for (d = 0; d < g->nd; d++) {
		axis_at(g, &axes[d], where[g->nd - 1 - d], g->in[d]);
		many *= axes[d].count;
	}
	for (k = 0; k < many; k++) {
		int64_t at = 0, rest = k;
		double weight = 1, slopes[GRID_DIMS] = {1, 1, 1};

		for (d = 0; d < g->nd && at >= 0; d++) {
			int tap = (int)(rest % axes[d].count);

			rest /= axes[d].count;
			at = axes[d].at[tap] < 0 ? -1 : at * g->in[d] + axes[d].at[tap];
			weight *= axes[d].weight[tap];
			for (e = 0; e < g->nd; e++)
				slopes[e] *= e == g->nd - 1 - d ? axes[d].slope[tap]
				                                : axes[d].weight[tap];
		}
		if (at >= 0)
			meet(g, p, at, weight, slopes);
	}
}

struct grid_arrays {
	double *image, *grid, *grad, *out, *d_image, *d_grid;
};

static void walk_grid(const struct grid *g, const struct grid_arrays *a)
{
	int64_t area = ag_count(g->nd, g->in), places = ag_count(g->nd, g->out), n, i;

	for (n = 0; n < g->batch; n++) {
		for (i = 0; i < places; i++) {
			int64_t image = n * g->channels * area, at = n * g->channels * places + i;
			int64_t where = (n * places + i) * g->nd;
			struct place p = {.image = a->image + image,
			                  .grad = a->grad ? a->grad + at : NULL,
			                  .out = a->out ? a->out + at : NULL,
			                  .d_image = a->d_image ? a->d_image + image : NULL,
			                  .d_place = a->d_grid ? a->d_grid + where : NULL,
			                  .area = area,
			                  .step = places};

			walk_place(g, &p, a->grid + where);
		}
	}
}

static bool sizes_fit(struct ag_frame *f, const struct ag_tensor *x, const struct ag_tensor *t,
                      struct grid *g)
{
	int d;

	if (x->ndim != t->ndim || x->ndim < 4 || x->ndim > 5 || x->shape[0] != t->shape[0] ||
	    t->shape[t->ndim - 1] != x->ndim - 2)
		return ag_fail(
		        f->ctx, AG_ERR_RUNTIME,
		        "grid_sampler(): expected grid and input to have same batch size and "
		        "grid to have size %d in last dimension",
		        x->ndim - 2);
	if (x->dtype != t->dtype)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "grid_sampler(): expected input and grid to have same dtype");
	g->nd = x->ndim - 2;
	g->batch = x->shape[0];
	g->channels = x->shape[1];
	for (d = 0; d < g->nd; d++) {
		g->in[d] = x->shape[2 + d];
		g->out[d] = t->shape[1 + d];
		if (!g->in[d])
			return ag_fail(f->ctx, AG_ERR_RUNTIME,
			               "grid_sampler(): expected input to have non-empty spatial "
			               "dimensions");
	}
	return g->mode != GRID_CUBIC || g->nd == 2 ||
	       ag_fail(f->ctx, AG_ERR_RUNTIME,
	               "grid_sampler(): bicubic interpolation only supports 4D input");
}

static bool named(struct ag_frame *f, uint32_t i, const char *const *names, int *found)
{
	for (*found = 0; *found < 3; ++*found) {
		if (arg_text_is(f, i, names[*found]))
			return true;
	}
	return ag_fail(f->ctx, AG_ERR_VALUE,
	               "nn.functional.grid_sample(): expected %s to be '%s', '%s' or '%s'",
	               i == 2 ? "mode" : "padding_mode", names[0], names[1], names[2]);
}

static bool grid_read(struct ag_frame *f, struct grid *g)
{
	static const char *const modes[] = {"bilinear", "nearest", "bicubic"};
	static const char *const paddings[] = {"zeros", "border", "reflection"};
	int mode, padding;

	if (!named(f, 2, modes, &mode) || !named(f, 3, paddings, &padding))
		return false;
	g->mode = (enum grid_mode)mode;
	g->padding = (enum grid_padding)padding;
	g->align = !arg_none(f, 4) && arg_b(f, 4);
	return ag_need_float(f, arg_t(f, 0)) && sizes_fit(f, arg_t(f, 0), arg_t(f, 1), g);
}

/* input, grid, mode, padding_mode, align_corners */
bool op_run_grid_sample(struct ag_frame *f)
{
	struct ag_tensor *in[2] = {arg_t(f, 0), arg_t(f, 1)}, *out;
	struct grid_arrays a = {0};
	struct ag_node *node;
	struct grid g = {0};
	int64_t shape[AG_MAX_DIMS];

	if (!grid_read(f, &g))
		return false;
	memcpy(shape, in[0]->shape, 2 * sizeof(*shape));
	memcpy(shape + 2, g.out, (size_t)g.nd * sizeof(*shape));
	out = ag_make(f->ctx, (enum ag_dtype)in[0]->dtype, in[0]->ndim, shape, true);
	if (!out)
		return false;
	node = ag_record(f->ctx, g.nd == 2 ? AG_NODE_GridSampler2d : AG_NODE_GridSampler3d, in, 2,
	                 2, 3);
	if (node) {
		node->ints[0] = g.mode;
		node->ints[1] = g.padding;
		node->ints[2] = g.align;
		ag_save_input(node, 0, in[0]);
		ag_save_input(node, 1, in[1]);
	}
	if (ag_ready(out, in, 2)) {
		a.image = ag_plain(in[0]);
		a.grid = ag_plain(in[1]);
		a.out = ag_alloc((size_t)out->numel + 1, sizeof(double));
		walk_grid(&g, &a);
		ag_put_plain(out, a.out);
		free(a.image);
		free(a.grid);
		free(a.out);
	}
	return ag_finish(f, out, node);
}

static struct ag_tensor *shaped_like(struct ag_ctx *c, const struct ag_tensor *like)
{
	return scoped(c, ag_make(c, (enum ag_dtype)like->dtype, like->ndim, like->shape, true));
}

/* PyTorch's cannot be differentiated again either. */
/* With create_graph the gradients have a graph; it cannot be gone through. */
static void set_gradient_history(struct ag_ctx *c, const struct grid *g,
                                 struct ag_tensor *const *in, struct ag_tensor *const *out)
{
	enum ag_node_kind kind =
	        g->nd == 2 ? AG_NODE_GridSampler2dGradient : AG_NODE_GridSampler3dGradient;
	struct ag_node *node = ag_record(c, kind, in, 3, 0, 0);

	if (!node)
		return;
	if (out[0])
		ag_set_history(out[0], node);
	ag_set_history(out[1], node);
	ag_node_release(node);
}

bool bw_GridSampler2d(struct ag_bw *b)
{
	struct ag_ctx *c = B_CTX;
	struct ag_tensor *x = B_SAVED(0), *t = B_SAVED(1), *in[3] = {x, t, B_GRAD}, *out[2];
	struct grid g = {.mode = (enum grid_mode)b->node->ints[0],
	                 .padding = (enum grid_padding)b->node->ints[1],
	                 .align = b->node->ints[2] != 0};
	struct ag_frame frame = {.ctx = c};
	struct grid_arrays a = {0};

	if (!x || !t || !sizes_fit(&frame, x, t, &g))
		return false;
	out[0] = B_WANT(0) ? shaped_like(c, x) : NULL;
	out[1] = shaped_like(c, t);
	if (!out[1] || (B_WANT(0) && !out[0]))
		return false;
	if (ag_ready(out[1], in, 3) && (!out[0] || ag_ready(out[0], in, 3))) {
		a.image = ag_plain(x);
		a.grid = ag_plain(t);
		a.grad = ag_plain(B_GRAD);
		a.d_image = ag_alloc((size_t)x->numel + 1, sizeof(double));
		a.d_grid = ag_alloc((size_t)t->numel + 1, sizeof(double));
		walk_grid(&g, &a);
		if (out[0])
			ag_put_plain(out[0], a.d_image);
		ag_put_plain(out[1], a.d_grid);
		free(a.image);
		free(a.grid);
		free(a.grad);
		free(a.d_image);
		free(a.d_grid);
	}
	set_gradient_history(c, &g, in, out);
	B_SET(0, out[0]);
	B_SET(1, out[1]);
	return true;
}

bool bw_GridSampler3d(struct ag_bw *b)
{
	return bw_GridSampler2d(b);
}

bool bw_GridSampler2dGradient(struct ag_bw *b)
{
	return ag_fail(B_CTX, AG_ERR_RUNTIME,
	               "the second derivative of grid_sample is not implemented");
}

bool bw_GridSampler3dGradient(struct ag_bw *b)
{
	return bw_GridSampler2dGradient(b);
}

/* ---- grids of affine maps: places of the result, with a one, times the map */

/* [N, places, nd + 1] */
static struct ag_tensor *places_of(struct ag_ctx *c, enum ag_dtype dtype, const int64_t *size,
                                   int nd, bool align)
{
	int64_t shape[3] = {size[0], ag_count(nd, size + 2), nd + 1}, i;
	struct ag_tensor *t = scoped(c, ag_make(c, dtype, 3, shape, true));
	double *values;

	if (!t || !t->storage->data)
		return t;
	values = ag_alloc((size_t)t->numel + 1, sizeof(*values));
	for (i = 0; i < shape[0] * shape[1]; i++) {
		int64_t rest = i % shape[1];
		int d;

		for (d = 0; d < nd; d++) {
			int64_t n = size[1 + nd - d], at = rest % n;
			double x = n > 1 ? 2 * (double)at / (double)(n - 1) - 1 : 0;

			rest /= n;
			values[i * shape[2] + d] = align ? x : x * (double)(n - 1) / (double)n;
		}
		values[i * shape[2] + nd] = 1;
	}
	ag_put_plain(t, values);
	free(values);
	return t;
}

/* theta, size, align_corners */
bool op_run_affine_grid(struct ag_frame *f)
{
	struct ag_tensor *theta = arg_t(f, 0), *out;
	int64_t size[AG_MAX_DIMS], shape[AG_MAX_DIMS];
	int n = arg_ints(f, 1, size, 5), nd = n - 2;
	bool align = !arg_none(f, 2) && arg_b(f, 2);
	struct ag_grad_mode mode;
	struct ag_node *node;

	if (n < 4 || !ag_need_float(f, theta) || theta->ndim != 3 || theta->shape[0] != size[0] ||
	    theta->shape[1] != nd || theta->shape[2] != nd + 1)
		return n >= 0 &&
		       ag_fail(f->ctx, AG_ERR_VALUE,
		               "Expected a batch of affine matrices of shape Nx%dx%d for size of "
		               "%d dimensions.",
		               nd, nd + 1, n);
	shape[0] = size[0];
	memcpy(shape + 1, size + 2, (size_t)nd * sizeof(*shape));
	shape[nd + 1] = nd + 1;
	if (!ag_check_shape(f->ctx, nd + 2, shape))
		return false;
	mode = ag_no_grad(f->ctx);
	out = op_bmm(f->ctx, places_of(f->ctx, (enum ag_dtype)theta->dtype, size, nd, align),
	             op_transpose(f->ctx, theta, 1, 2));
	ag_set_grad_mode(f->ctx, mode);
	if (!out)
		return false;
	shape[nd + 1] = nd;
	out = ag_retain(out);
	ag_set_shape(out, nd + 2, shape, NULL);
	node = ag_record1(f->ctx, AG_NODE_AffineGrid, theta, 0, 7);
	if (node) {
		node->ints[0] = n;
		node->ints[1] = align;
		memcpy(node->ints + 2, size, (size_t)n * sizeof(*size));
	}
	return ag_finish(f, out, node);
}

bool bw_AffineGrid(struct ag_bw *b)
{
	const int64_t *size = b->node->ints + 2;
	int nd = (int)b->node->ints[0] - 2;
	struct ag_ctx *c = B_CTX;
	int64_t flat[3] = {size[0], ag_count(nd, size + 2), nd};
	struct ag_tensor *places =
	        places_of(c, (enum ag_dtype)B_GRAD->dtype, size, nd, b->node->ints[1] != 0);

	if (!places)
		return false;
	B_SET(0,
	      op_transpose(c,
	                   op_bmm(c, op_transpose(c, places, 1, 2), op_reshape(c, B_GRAD, 3, flat)),
	                   1, 2));
	return true;
}
