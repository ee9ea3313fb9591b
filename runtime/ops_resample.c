/* Rows over spatial maps: interpolation, padding, unfolding and folding, pixel shuffles. */
#include <math.h>
#include <string.h>

#include "runtime/spatial.h"

static bool give_map(struct ag_frame *f, const struct spatial *s, const int64_t *shape, int ndim,
                     enum ag_node_kind kind, bool saves, bool adjoint)
{
	return ag_give(f, spatial_run(f->ctx, s, arg_t(f, 0), ndim, shape, kind, saves, adjoint));
}

/* ---- interpolation */

static const struct {
	const char *mode;
	int first, last; /* dimensions that it is for */
	enum spatial_kind kind;
	enum ag_node_kind node[SPATIAL_DIMS];
} modes[] = {
        {"nearest",
         1,
         3,
         SPATIAL_NEAREST,
         {AG_NODE_Upsample1d, AG_NODE_Upsample2d, AG_NODE_Upsample3d}},
        {"nearest-exact",
         1,
         3,
         SPATIAL_NEAREST_EXACT,
         {AG_NODE_UpsampleExact1d, AG_NODE_UpsampleExact2d, AG_NODE_UpsampleExact3d}},
        {"linear", 1, 1, SPATIAL_LINEAR, {AG_NODE_UpsampleLinear}},
        {"bilinear", 2, 2, SPATIAL_LINEAR, {AG_NODE_None, AG_NODE_UpsampleBilinear}},
        {"trilinear",
         3,
         3,
         SPATIAL_LINEAR,
         {AG_NODE_None, AG_NODE_None, AG_NODE_UpsampleTrilinear}},
        {"bicubic", 2, 2, SPATIAL_CUBIC, {AG_NODE_None, AG_NODE_UpsampleBicubic}},
};

static bool sizes_are_positive(struct ag_frame *f, const struct spatial *s)
{
	char in[128], out[128];
	int d;

	for (d = 0; d < s->nd; d++) {
		if (s->in[d] <= 0 || s->out[d] <= 0)
			return ag_fail(f->ctx, AG_ERR_RUNTIME,
			               "Input and output sizes should be greater than 0, but got "
			               "input %s and output %s",
			               ag_shape_text((int)s->nd, s->in, in, sizeof(in)),
			               ag_shape_text((int)s->nd, s->out, out, sizeof(out)));
	}
	return true;
}

/* The result's sizes, from `size` or from the scale factors; s->scale keeps the latter. */
static bool resampled_sizes(struct ag_frame *f, struct spatial *s)
{
	const struct ag_value *scale = &f->v[2];
	int d, nd = (int)s->nd;

	if (arg_none(f, 1) == arg_none(f, 2))
		return ag_fail(f->ctx, AG_ERR_VALUE,
		               "only one of size or scale_factor should be defined");
	if (!arg_none(f, 1))
		return arg_ints_n(f, 1, s->out, nd) && sizes_are_positive(f, s);
	if (scale->kind == AG_LIST && (int)scale->count != nd)
		return ag_fail(f->ctx, AG_ERR_VALUE, "scale_factor must have %d values", nd);
	for (d = 0; d < nd; d++) {
		double factor = ag_value_float(scale->kind == AG_LIST ? &scale->as.list[d] : scale);
		double size = floor((double)s->in[d] * factor);

		if (!(size >= 1 && size < 1e12))
			return ag_fail(f->ctx, AG_ERR_RUNTIME,
			               "Input and output sizes should be greater than 0");
		s->out[d] = (int64_t)size;
		s->scale[d] = arg_none(f, 5) || !arg_b(f, 5) ? factor : 0;
	}
	return sizes_are_positive(f, s);
}

static bool interpolate_area(struct ag_frame *f, const struct spatial *s)
{
	static const enum ag_op ops[] = {AG_OP_adaptive_avg_pool1d, AG_OP_adaptive_avg_pool2d,
	                                 AG_OP_adaptive_avg_pool3d};
	struct ag_value sizes[SPATIAL_DIMS], v[2];
	struct ag_tensor *out;
	int d;

	for (d = 0; d < s->nd; d++)
		sizes[d] = ag_int(s->out[d]);
	v[0] = f->v[0];
	v[1] = ag_list(sizes, (size_t)s->nd);
	out = op_call(f->ctx, ops[s->nd - 1], v, 2);
	return out && ag_give_ref(f, out);
}

/* The kernel keeps a place and a weight for each element that a line of the result is made of.
 * Small images go through a copy with channels last, there and back. */
static void resample_room(struct ag_ctx *ctx, const struct spatial *s, const struct ag_tensor *x)
{
	int64_t size = (int64_t)ag_dtype_size((enum ag_dtype)x->dtype), bytes = 0, taps = 1;
	int64_t result = x->shape[0] * x->shape[1] * ag_count((int)s->nd, s->out) * size;
	int d;

	if (s->kind == SPATIAL_CUBIC)
		taps = 4;
	else if (s->kind == SPATIAL_LINEAR)
		taps = 2;
	for (d = 0; d < s->nd; d++)
		bytes += taps * s->out[d] * ((int64_t)sizeof(int64_t) + size);
	if (s->nd == 2 && taps < 4 && s->out[0] + s->out[1] <= 128)
		bytes = x->shape[1] > 1 && !ag_suggests_last(x) ? x->numel * size + result : 0;
	ag_transient(ctx, bytes);
}

bool op_run_interpolate(struct ag_frame *f)
{
	struct ag_tensor *x = arg_t(f, 0);
	struct spatial s = {.nd = x->ndim - 2, .align_corners = !arg_none(f, 4) && arg_b(f, 4)};
	int64_t shape[AG_MAX_DIMS];
	size_t i;

	if (s.nd < 1 || s.nd > SPATIAL_DIMS)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "Input Error: Only 3D, 4D and 5D input Tensors supported (got %dD)",
		               x->ndim);
	memcpy(s.in, x->shape + 2, (size_t)s.nd * sizeof(*s.in));
	if (!resampled_sizes(f, &s))
		return false;
	if (arg_text_is(f, 3, "area"))
		return interpolate_area(f, &s);
	memcpy(shape, x->shape, sizeof(shape));
	memcpy(shape + 2, s.out, (size_t)s.nd * sizeof(*s.out));
	for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (!arg_text_is(f, 3, modes[i].mode) || s.nd < modes[i].first ||
		    s.nd > modes[i].last)
			continue;
		s.kind = modes[i].kind;
		if (!give_map(f, &s, shape, x->ndim, modes[i].node[s.nd - 1], false, false))
			return false;
		resample_room(f->ctx, &s, x);
		return true;
	}
	return ag_fail(f->ctx, AG_ERR_RUNTIME, "this mode is not for %d-dimensional input",
	               x->ndim);
}

/* ---- padding */

static bool pad_inside(struct ag_frame *f, const int64_t *pads, int nd, enum spatial_kind kind,
                       const enum ag_node_kind *nodes)
{
	struct ag_tensor *x = arg_t(f, 0);
	struct spatial s = {.kind = kind, .nd = nd};
	int64_t shape[AG_MAX_DIMS];
	char text[128];
	int d;

	if (nd < 1 || nd > SPATIAL_DIMS || (x->ndim != nd + 1 && x->ndim != nd + 2))
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "Only 2D, 3D, 4D, 5D padding with non-constant padding are "
		               "supported for now");
	/* The batch may be empty, but no channels; sizes are looked at below. */
	if (!x->shape[x->ndim - nd - 1])
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "Expected %dD or %dD (batch mode) tensor with possibly 0 batch size "
		               "and other non-zero dimensions for input, but got: %s",
		               nd + 1, nd + 2,
		               ag_shape_text(x->ndim, x->shape, text, sizeof(text)));
	memcpy(shape, x->shape, sizeof(shape));
	for (d = 0; d < nd; d++) {
		int64_t before = pads[2 * (nd - 1 - d)], after = pads[2 * (nd - 1 - d) + 1];
		int64_t in = x->shape[x->ndim - nd + d];
		int64_t most = kind == SPATIAL_REFLECT ? in - 1 : INT64_MAX;

		if (before > most || after > most)
			return ag_fail(
			        f->ctx, AG_ERR_RUNTIME,
			        "Padding size should be less than the corresponding input "
			        "dimension, but got: padding (%lld, %lld) at dimension %d of input",
			        (long long)before, (long long)after, x->ndim - nd + d);
		s.in[d] = in;
		s.pad[d] = before;
		s.out[d] = in + before + after;
		shape[x->ndim - nd + d] = s.out[d];
		if (s.out[d] < 1 || in < 1)
			return ag_fail(f->ctx, AG_ERR_RUNTIME,
			               "padding leaves nothing of dimension %d", x->ndim - nd + d);
	}
	return give_map(f, &s, shape, x->ndim, nodes[nd - 1], true, false);
}

static struct ag_tensor *sliced(struct ag_ctx *ctx, struct ag_tensor *t, int dim, int64_t start,
                                int64_t end)
{
	struct ag_value v[5] = {ag_arg(t), ag_int(dim), ag_int(start), ag_int(end), ag_int(1)};

	return t ? op_call(ctx, AG_OP_slice, v, 5) : NULL;
}

static bool circular_shape(struct ag_frame *f, const int64_t *pads, int nd, int64_t *shape)
{
	struct ag_tensor *x = arg_t(f, 0);
	int d;

	if (nd < 1 || nd > SPATIAL_DIMS || x->ndim != nd + 2)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "Invalid padding size, expected %d but got %d", 2 * (x->ndim - 2),
		               2 * nd);
	memcpy(shape, x->shape, sizeof(x->shape));
	for (d = 0; d < nd; d++) {
		int64_t before = pads[2 * (nd - 1 - d)], after = pads[2 * (nd - 1 - d) + 1];
		int64_t in = x->shape[2 + d];

		if (before > in || after > in)
			return ag_fail(f->ctx, AG_ERR_RUNTIME,
			               "Padding value causes wrapping around more than once.");
		shape[2 + d] = in + before + after;
		if (shape[2 + d] < 0)
			return ag_fail(f->ctx, AG_ERR_RUNTIME,
			               "Negative padding value is resulting in an empty dimension");
	}
	return true;
}

/* As PyTorch does it: the input is copied into the middle, then side by side from there. */
static bool pad_circular(struct ag_frame *f, const int64_t *pads, int nd)
{
	struct ag_tensor *x = arg_t(f, 0), *out, *hole, *part = x;
	struct ag_ctx *c = f->ctx;
	int64_t shape[AG_MAX_DIMS], l[SPATIAL_DIMS], r[SPATIAL_DIMS];
	bool good;
	int i;

	if (!circular_shape(f, pads, nd, shape))
		return false;
	out = hole = op_zeros(c, (enum ag_dtype)x->dtype, x->ndim, shape);
	for (i = 0; i < nd; i++) {
		int d = nd + 1 - i;

		l[i] = pads[2 * i] > 0 ? pads[2 * i] : 0;
		r[i] = pads[2 * i + 1] > 0 ? pads[2 * i + 1] : 0;
		hole = sliced(c, hole, d, l[i], shape[d] - r[i]);
		part = sliced(c, part, d, l[i] - pads[2 * i],
		              x->shape[d] - (r[i] - pads[2 * i + 1]));
	}
	good = op_copy_(c, hole, part);
	for (i = 0; good && i < nd; i++) {
		int d = nd + 1 - i;
		int64_t end = shape[d] - r[i];

		if (l[i])
			good = op_copy_(c, sliced(c, out, d, 0, l[i]),
			                sliced(c, out, d, end - l[i], end));
		if (good && r[i])
			good = op_copy_(c, sliced(c, out, d, end, shape[d]),
			                sliced(c, out, d, l[i], l[i] + r[i]));
	}
	return good && ag_give_ref(f, out);
}

bool op_run_pad(struct ag_frame *f)
{
	static const enum ag_node_kind reflect[] = {
	        AG_NODE_ReflectionPad1d, AG_NODE_ReflectionPad2d, AG_NODE_ReflectionPad3d};
	static const enum ag_node_kind replicate[] = {
	        AG_NODE_ReplicationPad1d, AG_NODE_ReplicationPad2d, AG_NODE_ReplicationPad3d};
	int64_t pads[2 * AG_MAX_DIMS];
	int n = arg_ints(f, 1, pads, 2 * AG_MAX_DIMS);
	struct ag_value v[3] = {f->v[0], f->v[1], arg_none(f, 3) ? ag_int(0) : f->v[3]};
	struct ag_tensor *out;

	if (n < 0 || n % 2)
		return ag_fail(f->ctx, AG_ERR_RUNTIME, "Padding length must be divisible by 2");
	if (arg_text_is(f, 2, "reflect"))
		return pad_inside(f, pads, n / 2, SPATIAL_REFLECT, reflect);
	if (arg_text_is(f, 2, "replicate"))
		return pad_inside(f, pads, n / 2, SPATIAL_REPLICATE, replicate);
	if (arg_text_is(f, 2, "circular"))
		return pad_circular(f, pads, n / 2);
	if (!arg_text_is(f, 2, "constant"))
		return ag_fail(f->ctx, AG_ERR_RUNTIME, "Unrecognised padding mode");
	out = op_call(f->ctx, AG_OP_constant_pad, v, 3);
	return out && ag_give_ref(f, out);
}

/* As the layers have it: one number stands for all sides of nd dimensions. */
bool op_run_pad_sides(struct ag_frame *f)
{
	int64_t pads[2 * AG_MAX_DIMS], nd = arg_i(f, 2);
	struct ag_value items[2 * SPATIAL_DIMS], v[4] = {f->v[0]};
	int n = arg_ints(f, 1, pads, 2 * AG_MAX_DIMS), i;
	struct ag_tensor *out;

	if (nd < 1 || nd > SPATIAL_DIMS)
		return ag_fail(f->ctx, AG_ERR_RUNTIME, "padding of 1 to %d dimensions only",
		               SPATIAL_DIMS);
	if (n != 1 && n != 2 * nd)
		return ag_fail(f->ctx, AG_ERR_RUNTIME, "padding must have 1 or %d values",
		               2 * (int)nd);
	for (i = 0; i < 2 * nd && i < 2 * SPATIAL_DIMS; i++)
		items[i] = ag_int(pads[n == 1 ? 0 : i]);
	v[1] = ag_list(items, (size_t)i);
	v[2] = f->v[3];
	v[3] = f->v[4];
	out = op_call(f->ctx, AG_OP_pad, v, 4);
	return out && ag_give_ref(f, out);
}

/* ---- unfolding */

/* Kernel, dilation, padding, stride from argument `at` on; the blocks of s->in. */
static bool columns_read(struct ag_frame *f, uint32_t at, struct spatial *s)
{
	int d;

	s->kind = SPATIAL_COLUMNS;
	s->nd = 2;
	if (!arg_ints_n(f, at, s->kernel, 2) || !arg_ints_n(f, at + 1, s->dilation, 2) ||
	    !arg_ints_n(f, at + 2, s->pad, 2) || !arg_ints_n(f, at + 3, s->stride, 2))
		return false;
	for (d = 0; d < 2; d++) {
		int64_t room = s->in[d] + 2 * s->pad[d] - s->dilation[d] * (s->kernel[d] - 1) - 1;

		if (s->pad[d] < 0)
			return ag_fail(f->ctx, AG_ERR_RUNTIME,
			               "padding should be non-negative, but got %lld",
			               (long long)s->pad[d]);
		if (s->kernel[d] <= 0 || s->dilation[d] <= 0 || s->stride[d] <= 0 || room < 0)
			return ag_fail(
			        f->ctx, AG_ERR_RUNTIME,
			        "Given input with spatial size (%lld, %lld), calculated shape of "
			        "the array of sliding blocks is too small (non-positive)",
			        (long long)s->in[0], (long long)s->in[1]);
		s->out[d] = room / s->stride[d] + 1;
	}
	return true;
}

bool op_run_im2col(struct ag_frame *f)
{
	struct ag_tensor *x = arg_t(f, 0);
	struct spatial s = {.nd = 2};
	int64_t shape[AG_MAX_DIMS];

	if (x->ndim != 3 && x->ndim != 4)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size "
		               "and other non-zero dimensions for input, but got %d dimensions",
		               x->ndim);
	memcpy(s.in, x->shape + x->ndim - 2, 2 * sizeof(*s.in));
	if (!columns_read(f, 1, &s))
		return false;
	shape[0] = x->shape[0];
	shape[x->ndim - 3] = ag_times(x->shape[x->ndim - 3], ag_times(s.kernel[0], s.kernel[1]));
	shape[x->ndim - 2] = ag_times(s.out[0], s.out[1]);
	return give_map(f, &s, shape, x->ndim - 1, AG_NODE_Im2col, false, false);
}

bool op_run_col2im(struct ag_frame *f)
{
	struct ag_tensor *x = arg_t(f, 0);
	struct spatial s = {.nd = 2};
	int64_t shape[AG_MAX_DIMS], area;

	if (x->ndim != 2 && x->ndim != 3)
		return ag_fail(
		        f->ctx, AG_ERR_RUNTIME,
		        "Expected 2D or 3D (batch mode) tensor for input, but got %d dimensions",
		        x->ndim);
	if (!arg_ints_n(f, 1, s.in, 2) || !columns_read(f, 2, &s))
		return false;
	area = ag_times(s.kernel[0], s.kernel[1]);
	if (x->shape[x->ndim - 2] % area || x->shape[x->ndim - 1] != ag_times(s.out[0], s.out[1]))
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "Given input of size (%lld, %lld), expected the blocks of "
		               "output_size (%lld, %lld)",
		               (long long)x->shape[x->ndim - 2], (long long)x->shape[x->ndim - 1],
		               (long long)s.in[0], (long long)s.in[1]);
	shape[0] = x->shape[0];
	shape[x->ndim - 2] = x->shape[x->ndim - 2] / area;
	memcpy(shape + x->ndim - 1, s.in, 2 * sizeof(*s.in));
	return give_map(f, &s, shape, x->ndim + 1, AG_NODE_Col2im, false, true);
}

/* ---- pixel shuffles */

static bool shuffle_fits(struct ag_frame *f, const struct ag_tensor *x, int64_t r, bool back)
{
	bool fits = x->ndim >= 3 && r > 0 && r <= INT16_MAX;

	if (fits && back)
		fits = x->shape[x->ndim - 1] % r == 0 && x->shape[x->ndim - 2] % r == 0;
	else if (fits)
		fits = x->shape[x->ndim - 3] % (r * r) == 0;
	return fits ||
	       ag_fail(f->ctx, AG_ERR_RUNTIME,
	               "%s expects sizes that are divisible by the factor %lld (or its square)",
	               ag_op_info(f->op)->id, (long long)r);
}

static bool pixel_map(struct ag_frame *f, bool back)
{
	struct ag_tensor *x = arg_t(f, 0);
	struct spatial s = {.kind = SPATIAL_SHUFFLE, .nd = 2};
	int64_t shape[AG_MAX_DIMS], r = arg_i(f, 1);
	int d;

	if (!shuffle_fits(f, x, r, back))
		return false;
	memcpy(shape, x->shape, sizeof(shape));
	shape[x->ndim - 3] =
	        back ? ag_times(shape[x->ndim - 3], r * r) : shape[x->ndim - 3] / (r * r);
	for (d = 0; d < 2; d++) {
		int64_t *size = &shape[x->ndim - 2 + d];

		s.kernel[d] = r;
		s.in[d] = back ? *size / r : *size;
		s.out[d] = ag_times(s.in[d], r);
		*size = back ? s.in[d] : s.out[d];
	}
	return give_map(f, &s, shape, x->ndim, back ? AG_NODE_PixelUnshuffle : AG_NODE_PixelShuffle,
	                false, back);
}

bool op_run_pixel_shuffle(struct ag_frame *f)
{
	return pixel_map(f, false);
}

bool op_run_pixel_unshuffle(struct ag_frame *f)
{
	return pixel_map(f, true);
}
