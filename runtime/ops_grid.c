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

/* What a place takes of one axis: elements (-1: outside), their weights, and how these change:
 * the derivatives by the place. */
struct axis {
	int count;
	int64_t at[MOST_TAPS];
	double weight[MOST_TAPS], slope[MOST_TAPS], bend[MOST_TAPS];
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

static void add_tap(struct axis *a, double at, int64_t size, double weight, double slope,
                    double bend)
{
	a->at[a->count] = at >= 0 && at < (double)size ? (int64_t)at : -1;
	a->weight[a->count] = weight;
	a->bend[a->count] = bend;
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
	double bend[4] = {-4.5 * (t + 1) + 7.5, 7.5 * t - 4.5, 7.5 * (1 - t) - 4.5,
	                  -4.5 * (2 - t) + 7.5};
	int i;

	for (i = 0; i < 4; i++)
		add_tap(a, padded(g, base - 1 + i, size, &none), size, weight[i], slope[i] * scale,
		        bend[i] * scale * scale);
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
		add_tap(a, nearbyint(x), size, 1, 0, 0);
		return;
	}
	t = x - floor(x);
	add_tap(a, floor(x), size, 1 - t, -slope, 0);
	add_tap(a, floor(x) + 1, size, t, slope, 0);
}

/* An element that a place takes, its weight, and the derivatives of that by the place. */
struct tap {
	int64_t at;
	double weight, slopes[GRID_DIMS], bends[GRID_DIMS][GRID_DIMS];
};

/* What is computed at one place: the result's element, both gradients, or those of the gradients:
 * then `more` are the changes of d_image and `toward` those of d_place. */
struct place {
	const double *image, *grad, *more, *toward;
	double *out, *d_image, *d_place;
	int64_t area; /* of a channel of the image */
	int64_t step; /* of a channel of the result */
};

static void meet(const struct grid *g, const struct place *p, const struct tap *t)
{
	int64_t c;
	int d;

	for (c = 0; c < g->channels; c++) {
		double value = p->image[c * p->area + t->at];

		if (!p->grad) {
			p->out[c * p->step] += t->weight * value;
			continue;
		}
		p->d_image[c * p->area + t->at] += t->weight * p->grad[c * p->step];
		for (d = 0; d < g->nd; d++)
			p->d_place[d] += t->slopes[d] * value * p->grad[c * p->step];
	}
}

static void meet_again(const struct grid *g, const struct place *p, const struct tap *t)
{
	double along = 0, turn[GRID_DIMS] = {0};
	int64_t c;
	int d, e;

	for (d = 0; d < g->nd; d++) {
		along += p->toward[d] * t->slopes[d];
		for (e = 0; e < g->nd; e++)
			turn[e] += p->toward[d] * t->bends[d][e];
	}
	for (c = 0; c < g->channels; c++) {
		int64_t at = c * p->area + t->at;
		double grad = p->grad[c * p->step];

		p->out[c * p->step] += t->weight * p->more[at] + along * p->image[at];
		p->d_image[at] += along * grad;
		for (e = 0; e < g->nd; e++)
			p->d_place[e] +=
			        grad * (t->slopes[e] * p->more[at] + turn[e] * p->image[at]);
	}
}

/* One axis' part in the product that is differentiated by the places of axes d and e (-1: not). */
static double part_of(const struct axis *a, int tap, bool by_d, bool by_e)
{
	if (by_d && by_e)
		return a->bend[tap];
	return by_d || by_e ? a->slope[tap] : a->weight[tap];
}

static double product_of(const struct grid *g, const struct axis *axes, const int *taps, int d,
                         int e)
{
	double product = 1;
	int i;

	for (i = 0; i < g->nd; i++)
		product *= part_of(&axes[i], taps[i], i == d, i == e);
	return product;
}

/* The grid names the last axis first. False: the element is outside. */
static bool take_tap(const struct grid *g, const struct axis *axes, int64_t number, bool bends,
                     struct tap *t)
{
	int taps[GRID_DIMS], d, e, last = g->nd - 1;

	t->at = 0;
	for (d = 0; d < g->nd; d++) {
		taps[d] = (int)(number % axes[d].count);
		number /= axes[d].count;
		if (axes[d].at[taps[d]] < 0)
			return false;
		t->at = t->at * g->in[d] + axes[d].at[taps[d]];
	}
	t->weight = product_of(g, axes, taps, -1, -1);
	for (d = 0; d < g->nd; d++) {
		t->slopes[d] = product_of(g, axes, taps, last - d, -1);
		for (e = 0; bends && e < g->nd; e++)
			t->bends[d][e] = product_of(g, axes, taps, last - d, last - e);
	}
	return true;
}

static void walk_place(const struct grid *g, const struct place *p, const double *where)
{
	struct axis axes[GRID_DIMS];
	int64_t many = 1, k;
	struct tap t;
	int d;

	for (d = 0; d < g->nd; d++) {
		axis_at(g, &axes[d], where[g->nd - 1 - d], g->in[d]);
		many *= axes[d].count;
	}
	for (k = 0; k < many; k++) {
		if (!take_tap(g, axes, k, p->toward != NULL, &t))
			continue;
		if (p->toward)
			meet_again(g, p, &t);
		else
			meet(g, p, &t);
	}
}

struct grid_arrays {
	double *image, *grid, *grad, *more, *toward, *out, *d_image, *d_grid;
};

static double *beyond(double *array, int64_t by)
{
	return array ? array + by : NULL;
}

static void walk_grid(const struct grid *g, const struct grid_arrays *a)
{
	int64_t area = ag_count(g->nd, g->in), places = ag_count(g->nd, g->out), n, i;

	for (n = 0; n < g->batch; n++) {
		for (i = 0; i < places; i++) {
			int64_t image = n * g->channels * area, at = n * g->channels * places + i;
			int64_t where = (n * places + i) * g->nd;
			struct place p = {.image = a->image + image,
			                  .grad = beyond(a->grad, at),
			                  .more = beyond(a->more, image),
			                  .toward = beyond(a->toward, where),
			                  .out = beyond(a->out, at),
			                  .d_image = beyond(a->d_image, image),
			                  .d_place = beyond(a->d_grid, where),
			                  .area = area,
			                  .step = places};

			walk_place(g, &p, a->grid + where);
		}
	}
}

static void arrays_free(struct grid_arrays *a)
{
	free(a->image);
	free(a->grid);
	free(a->grad);
	free(a->more);
	free(a->toward);
	free(a->out);
	free(a->d_image);
	free(a->d_grid);
}

static double *zeros_for(const struct ag_tensor *t)
{
	return ag_alloc((size_t)t->numel + 1, sizeof(double));
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

enum { MODE, PADDING, ALIGN, WORDS };

static void remember(struct ag_node *n, const struct grid *g)
{
	n->ints[MODE] = g->mode;
	n->ints[PADDING] = g->padding;
	n->ints[ALIGN] = g->align;
}

static struct grid remembered(const struct ag_node *n)
{
	return (struct grid){.mode = (enum grid_mode)n->ints[MODE],
	                     .padding = (enum grid_padding)n->ints[PADDING],
	                     .align = n->ints[ALIGN] != 0};
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
	                 2, WORDS);
	if (node) {
		remember(node, &g);
		ag_save_input(node, 0, in[0]);
		ag_save_input(node, 1, in[1]);
	}
	if (ag_ready(out, in, 2)) {
		a.image = ag_plain(in[0]);
		a.grid = ag_plain(in[1]);
		a.out = zeros_for(out);
		walk_grid(&g, &a);
		ag_put_plain(out, a.out);
		arrays_free(&a);
	}
	return ag_finish(f, out, node);
}

static struct ag_tensor *shaped_like(struct ag_ctx *c, const struct ag_tensor *like)
{
	return scoped(c, ag_make(c, (enum ag_dtype)like->dtype, like->ndim, like->shape, true));
}

enum { HAS_IMAGE = WORDS, GRADIENT_WORDS };

/* With create_graph the gradients have a graph; what it gives has none. */
static void set_gradient_history(struct ag_ctx *c, const struct grid *g,
                                 struct ag_tensor *const *in, struct ag_tensor *const *out)
{
	enum ag_node_kind kind =
	        g->nd == 2 ? AG_NODE_GridSampler2dGradient : AG_NODE_GridSampler3dGradient;
	struct ag_node *node = ag_record(c, kind, in, 3, 3, GRADIENT_WORDS);

	if (!node)
		return;
	remember(node, g);
	node->ints[HAS_IMAGE] = out[0] != NULL;
	ag_save_input(node, 0, in[0]);
	ag_save_input(node, 1, in[2]);
	ag_save_input(node, 2, in[1]);
	if (out[0])
		ag_set_history(out[0], node);
	ag_set_history(out[1], node);
	ag_node_release(node);
}

bool bw_GridSampler2d(struct ag_bw *b)
{
	struct ag_ctx *c = B_CTX;
	struct ag_tensor *x = B_SAVED(0), *t = B_SAVED(1), *in[3] = {B_GRAD, x, t}, *out[2];
	struct grid g = remembered(b->node);
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
		a.d_image = zeros_for(x);
		a.d_grid = zeros_for(t);
		walk_grid(&g, &a);
		if (out[0])
			ag_put_plain(out[0], a.d_image);
		ag_put_plain(out[1], a.d_grid);
		arrays_free(&a);
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

/* What comes back to a gradient; nothing counts as zeros. */
static double *changes_of(struct ag_tensor *gradient, const struct ag_tensor *like)
{
	return gradient ? ag_plain(gradient) : zeros_for(like);
}

bool bw_GridSampler2dGradient(struct ag_bw *b)
{
	struct ag_ctx *c = B_CTX;
	struct ag_tensor *grad = B_SAVED(0), *t = B_SAVED(1), *x = B_SAVED(2), *out[3];
	const bool has_image = b->node->ints[HAS_IMAGE] != 0;
	struct ag_tensor *in[5] = {grad, x, t, has_image ? b->grads[0] : NULL, b->grads[has_image]};
	struct grid g = remembered(b->node);
	struct ag_frame frame = {.ctx = c};
	struct grid_arrays a = {0};
	uint32_t i;

	if (!grad || !x || !t || !sizes_fit(&frame, x, t, &g))
		return false;
	for (i = 0; i < 3; i++) {
		out[i] = shaped_like(c, in[i]);
		if (!out[i])
			return false;
	}
	if (ag_ready(out[0], in, 5) && ag_ready(out[1], in, 5) && ag_ready(out[2], in, 5)) {
		a = (struct grid_arrays){
		        ag_plain(x),          ag_plain(t),     ag_plain(grad), changes_of(in[3], x),
		        changes_of(in[4], t), zeros_for(grad), zeros_for(x),   zeros_for(t)};
		walk_grid(&g, &a);
		ag_put_plain(out[0], a.out);
		ag_put_plain(out[1], a.d_image);
		ag_put_plain(out[2], a.d_grid);
		arrays_free(&a);
	}
	for (i = 0; i < 3; i++)
		B_SET(i, out[i]);
	return true;
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
