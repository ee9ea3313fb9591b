/* Repeating, turning, cutting off and padding: a copy with an index map. */

#include <stdlib.h>
#include <string.h>

#include "runtime/element.h"
#include "runtime/op.h"
#include "runtime/shape.h"

/* ---- repeat, flip, roll, tril, triu: an index map each */

typedef int64_t source_fn(const struct ag_tensor *a, const int64_t *index, const int64_t *p);

/* out[index] = a[source], or 0 where the source is -1 */
static void rearrange(struct ag_tensor *out, struct ag_tensor *a, source_fn *fn, const int64_t *p)
{
	int64_t index[AG_MAX_DIMS] = {0}, i;
	double *values;

	if (!ag_ready1(out, a))
		return;
	values = ag_alloc((size_t)out->numel + 1, sizeof(*values));
	for (i = 0; i < out->numel; i++) {
		int64_t at = fn(a, index, p);

		values[i] =
		        at < 0 ? 0 : ag_load_double((enum ag_dtype)a->dtype, a->storage->data, at);
		ag_step(out, index);
	}
	ag_put_plain(out, values);
	free(values);
}

static int64_t repeat_source(const struct ag_tensor *a, const int64_t *index, const int64_t *p)
{
	int64_t at = a->offset;
	int d, shift = (int)p[0] - a->ndim;

	for (d = 0; d < a->ndim; d++)
		at += index[d + shift] % a->shape[d] * a->strides[d];
	return at;
}

static bool repeat(struct ag_frame *f, const int64_t *times, int n)
{
	struct ag_tensor *a = arg_t(f, 0), *out;
	int64_t shape[AG_MAX_DIMS], words[1] = {n};
	struct ag_node *node;
	int d;

	if (n < a->ndim)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "Number of dimensions of repeat dims can not be smaller than number "
		               "of dimensions of tensor");
	for (d = 0; d < n; d++)
		shape[d] = ag_times(times[d], d >= n - a->ndim ? a->shape[d - (n - a->ndim)] : 1);
	out = ag_make(f->ctx, (enum ag_dtype)a->dtype, n, shape, true);
	if (!out)
		return false;
	node = ag_record1(f->ctx, AG_NODE_Repeat, a, 0, 2u + (uint32_t)n + a->ndim);
	if (node) {
		node->ints[0] = a->ndim;
		memcpy(node->ints + 1, a->shape, a->ndim * sizeof(*shape));
		node->ints[1 + a->ndim] = n;
		memcpy(node->ints + 2 + a->ndim, times, (size_t)n * sizeof(*shape));
	}
	rearrange(out, a, repeat_source, words);
	return ag_finish(f, out, node);
}

bool op_run_repeat(struct ag_frame *f)
{
	int64_t times[AG_MAX_DIMS];
	int n = arg_ints(f, 1, times, AG_MAX_DIMS);

	return n >= 0 && repeat(f, times, n);
}

bool op_run_tile(struct ag_frame *f)
{
	int64_t given[AG_MAX_DIMS], times[AG_MAX_DIMS];
	int n = arg_ints(f, 1, given, AG_MAX_DIMS), ndim = arg_t(f, 0)->ndim, d;

	if (n < 0)
		return false;
	for (d = 0; d < ndim; d++)
		times[d] = d < ndim - n ? 1 : given[d - (ndim - n)];
	return n >= ndim ? repeat(f, given, n) : repeat(f, times, ndim);
}

/* [r0, s0, r1, s1, ...] with the r summed away */
bool bw_Repeat(struct ag_bw *b)
{
	const int64_t *w = b->node->ints, *times;
	struct ag_ctx *c = B_CTX;
	struct ag_tensor *g = B_GRAD;
	int ndim = (int)w[0], n = (int)w[1 + ndim], d, lead = n - ndim;

	times = w + 2 + ndim;
	for (d = 0; d < lead; d++)
		g = op_sum_dim(c, g, 0, false);
	for (d = 0; d < ndim && g; d++) {
		int64_t shape[AG_MAX_DIMS + 1];
		int k;

		if (times[lead + d] == 1)
			continue;
		if (g->ndim == AG_MAX_DIMS)
			return ag_fail(c, AG_ERR_RUNTIME, "too many dimensions to repeat");
		for (k = 0; k <= ndim; k++)
			shape[k] = k < d ? g->shape[k] : k > d + 1 ? g->shape[k - 1] : 0;
		shape[d] = times[lead + d];
		shape[d + 1] = w[1 + d];
		g = op_sum_dim(c, op_reshape(c, g, ndim + 1, shape), d, false);
	}
	B_SET(0, g);
	return true;
}

static int64_t flip_source(const struct ag_tensor *a, const int64_t *index, const int64_t *p)
{
	int64_t at = a->offset;
	int d;

	for (d = 0; d < a->ndim; d++)
		at += (p[0] >> d & 1 ? a->shape[d] - 1 - index[d] : index[d]) * a->strides[d];
	return at;
}

static bool same_shape_op(struct ag_frame *f, enum ag_node_kind kind, enum ag_format format,
                          source_fn *fn, const int64_t *words, uint32_t n)
{
	struct ag_tensor *a = arg_t(f, 0), *out;
	struct ag_node *node;

	out = ag_make(f->ctx, (enum ag_dtype)a->dtype, a->ndim, a->shape, true);
	if (!out)
		return false;
	ag_lay_out(out, format, a);
	node = ag_record1(f->ctx, kind, a, 0, n);
	if (node)
		memcpy(node->ints, words, n * sizeof(*words));
	rearrange(out, a, fn, words);
	return ag_finish(f, out, node);
}

bool op_run_flip(struct ag_frame *f)
{
	int64_t dims[AG_MAX_DIMS], mask[1] = {0};
	int n = arg_ints(f, 1, dims, AG_MAX_DIMS), i;

	for (i = 0; i < n; i++) {
		int d = ag_dim(f->ctx, arg_t(f, 0), dims[i]);

		if (d < 0)
			return false;
		mask[0] |= INT64_C(1) << d;
	}
	return n >= 0 && same_shape_op(f, AG_NODE_Flip, AG_PRESERVE, flip_source, mask, 1);
}

bool bw_Flip(struct ag_bw *b)
{
	struct ag_value dims[AG_MAX_DIMS], v[2];
	int d, n = 0;

	for (d = 0; d < AG_MAX_DIMS; d++) {
		if (b->node->ints[0] >> d & 1)
			dims[n++] = ag_int(d);
	}
	v[0] = ag_arg(B_GRAD);
	v[1] = ag_list(dims, (size_t)n);
	B_SET(0, op_call(B_CTX, AG_OP_flip, v, 2));
	return true;
}

static int64_t shuffled_source(const struct ag_tensor *a, const int64_t *index, const int64_t *p)
{
	int64_t at = a->offset, size = a->shape[1] / p[0];
	int d;

	for (d = 0; d < a->ndim; d++)
		at += (d == 1 ? index[1] % p[0] * size + index[1] / p[0] : index[d]) *
		      a->strides[d];
	return at;
}

static bool channel_shuffle(struct ag_frame *f, enum ag_node_kind kind, enum ag_format format)
{
	const struct ag_tensor *a = arg_t(f, 0);
	int64_t groups[1] = {arg_i(f, 1)};

	if (a->ndim < 3)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "channel_shuffle expects input with > 2 dims, but got input with "
		               "sizes of %d dims",
		               a->ndim);
	if (groups[0] < 1 || a->shape[1] % groups[0])
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "Number of channels must be divisible by groups. Got %lld channels "
		               "and %lld groups.",
		               (long long)a->shape[1], (long long)groups[0]);
	return same_shape_op(f, kind, format, shuffled_source, groups, 1);
}

bool op_run_channel_shuffle(struct ag_frame *f)
{
	return channel_shuffle(f, AG_NODE_ChannelShuffle, AG_PRESERVE);
}

/* For inference: it has a node, but none that runs. */
bool op_run_native_channel_shuffle(struct ag_frame *f)
{
	return channel_shuffle(f, AG_NODE_NotImplemented, AG_PRESERVE);
}

bool bw_NotImplemented(struct ag_bw *b)
{
	return ag_fail(B_CTX, AG_ERR_RUNTIME,
	               "derivative for aten::native_channel_shuffle is not implemented");
}

bool bw_ChannelShuffle(struct ag_bw *b)
{
	struct ag_value v[2] = {ag_arg(B_GRAD), ag_int(B_GRAD->shape[1] / b->node->ints[0])};

	B_SET(0, op_call(B_CTX, AG_OP_channel_shuffle, v, 2));
	return true;
}

static int64_t roll_source(const struct ag_tensor *a, const int64_t *index, const int64_t *p)
{
	int64_t at = a->offset, from;
	int d;

	for (d = 0; d < a->ndim; d++) {
		from = a->shape[d] ? (index[d] - p[d]) % a->shape[d] : 0;
		at += (from < 0 ? from + a->shape[d] : from) * a->strides[d];
	}
	return at;
}

bool op_run_roll(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0), *flat;
	int64_t shifts[AG_MAX_DIMS], dims[AG_MAX_DIMS], by[AG_MAX_DIMS] = {0}, all;
	int n = arg_ints(f, 1, shifts, AG_MAX_DIMS), k = arg_ints(f, 2, dims, AG_MAX_DIMS), i;
	enum ag_format format = ag_format_of(a);
	struct ag_value v[3];

	if (n < 0 || k < 0)
		return false;
	if (!k) {
		all = a->numel;
		flat = op_reshape(f->ctx, a, 1, &all);
		v[0] = ag_arg(flat);
		v[1] = ag_int(n ? shifts[0] : 0);
		v[2] = ag_int(0);
		flat = op_call(f->ctx, AG_OP_roll, v, 3);
		return ag_give_ref(f, op_view(f->ctx, flat, a->ndim, a->shape));
	}
	if (k != n)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "shifts and dimensions must align. shifts: %d, dims:%d", n, k);
	if (!a->ndim)
		return ag_fail(f->ctx, AG_ERR_INDEX,
		               "Dimension specified as %d but tensor has no dimensions",
		               (int)dims[0]);
	for (i = 0; i < n; i++) {
		int d = ag_dim(f->ctx, a, dims[i]);

		if (d < 0)
			return false;
		by[d] += a->shape[d] ? shifts[i] % a->shape[d] : 0;
		/* PyTorch joins two parts; one of them empty, the result is contiguous. */
		if (a->shape[d] && shifts[i] % a->shape[d] == 0)
			format = AG_CONTIGUOUS;
	}
	return same_shape_op(f, AG_NODE_Roll, format, roll_source, by, AG_MAX_DIMS);
}

bool bw_Roll(struct ag_bw *b)
{
	struct ag_value shifts[AG_MAX_DIMS], dims[AG_MAX_DIMS], v[3];
	int d;

	for (d = 0; d < B_GRAD->ndim; d++) {
		shifts[d] = ag_int(-b->node->ints[d]);
		dims[d] = ag_int(d);
	}
	v[0] = ag_arg(B_GRAD);
	v[1] = ag_list(shifts, B_GRAD->ndim);
	v[2] = ag_list(dims, B_GRAD->ndim);
	B_SET(0, op_call(B_CTX, AG_OP_roll, v, 3));
	return true;
}

static int64_t place(const struct ag_tensor *a, const int64_t *index)
{
	int64_t at = a->offset;
	int d;

	for (d = 0; d < a->ndim; d++)
		at += index[d] * a->strides[d];
	return at;
}

static int64_t tril_source(const struct ag_tensor *a, const int64_t *index, const int64_t *p)
{
	return index[a->ndim - 1] - index[a->ndim - 2] <= p[0] ? place(a, index) : -1;
}

static int64_t triu_source(const struct ag_tensor *a, const int64_t *index, const int64_t *p)
{
	return index[a->ndim - 1] - index[a->ndim - 2] >= p[0] ? place(a, index) : -1;
}

static bool triangle(struct ag_frame *f, enum ag_node_kind kind, source_fn *fn)
{
	int64_t words[1] = {arg_i(f, 1)};

	if (arg_t(f, 0)->ndim < 2)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "%s: input tensor must have at least 2 dimensions",
		               ag_op_info(f->op)->id);
	return same_shape_op(f, kind, AG_CONTIGUOUS, fn, words, 1);
}

bool op_run_tril(struct ag_frame *f)
{
	return triangle(f, AG_NODE_Tril, tril_source);
}

bool op_run_triu(struct ag_frame *f)
{
	return triangle(f, AG_NODE_Triu, triu_source);
}

bool bw_Tril(struct ag_bw *b)
{
	struct ag_value v[2] = {ag_arg(B_GRAD), ag_int(b->node->ints[0])};

	B_SET(0, op_call(B_CTX, AG_OP_tril, v, 2));
	return true;
}

bool bw_Triu(struct ag_bw *b)
{
	struct ag_value v[2] = {ag_arg(B_GRAD), ag_int(b->node->ints[0])};

	B_SET(0, op_call(B_CTX, AG_OP_triu, v, 2));
	return true;
}

bool op_run_trace(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0), *out;
	struct ag_node *node;
	double sum = 0;
	int64_t i;

	if (a->ndim != 2)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "trace: expected a matrix, but got %d-D tensor", a->ndim);
	out = ag_make(f->ctx,
	              ag_category((enum ag_dtype)a->dtype) < 2 ? AG_I64 : (enum ag_dtype)a->dtype,
	              0, NULL, true);
	if (!out)
		return false;
	node = ag_record1(f->ctx, AG_NODE_Trace, a, 0, 2);
	if (node)
		memcpy(node->ints, a->shape, 2 * sizeof(int64_t));
	if (ag_ready1(out, a)) {
		for (i = 0; i < a->shape[0] && i < a->shape[1]; i++)
			sum += ag_load_double((enum ag_dtype)a->dtype, a->storage->data,
			                      a->offset + i * (a->strides[0] + a->strides[1]));
		ag_fill_data(out, sum);
	}
	return ag_finish(f, out, node);
}

bool bw_Trace(struct ag_bw *b)
{
	struct ag_value v[2] = {ag_int(b->node->ints[0]), ag_int(b->node->ints[1])};
	struct ag_tensor *eye = op_call(B_CTX, AG_OP_eye, v, 2);

	if (!eye)
		return false;
	B_SET(0, op_mul(B_CTX, B_GRAD, op_cast(B_CTX, eye, (enum ag_dtype)B_GRAD->dtype)));
	return true;
}

/* ---- constant padding: pairs from the last dimension on */

bool op_run_constant_pad(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0), *out, inner;
	int64_t pad[2 * AG_MAX_DIMS], shape[AG_MAX_DIMS];
	int n = arg_ints(f, 1, pad, 2 * AG_MAX_DIMS), i;
	struct ag_node *node;

	if (n < 0 || n % 2 || n / 2 > a->ndim)
		return ag_fail(
		        f->ctx, AG_ERR_RUNTIME,
		        "Length of pad should be no more than twice the number of dimensions of "
		        "the input. Pad length is %d while the input has %d dimensions.",
		        n, a->ndim);
	memcpy(shape, a->shape, sizeof(shape));
	for (i = 0; i < n / 2; i++) {
		int64_t low = pad[2 * i], high = pad[2 * i + 1], *size = &shape[a->ndim - 1 - i];

		if (*size + (low < 0 ? low : 0) + (high < 0 ? high : 0) < 0)
			return ag_fail(f->ctx, AG_ERR_RUNTIME,
			               "narrow(): length must be non-negative.");
		*size += low + high;
	}
	out = ag_make_image(f->ctx, a, a->ndim, shape);
	if (!out)
		return false;
	node = ag_record1(f->ctx, AG_NODE_ConstantPad, a, 0, 1u + (uint32_t)n);
	if (node) {
		node->ints[0] = n;
		memcpy(node->ints + 1, pad, (size_t)n * sizeof(*pad));
	}
	if (arg_f(f, 2) != 0)
		ag_fill_data(out, arg_f(f, 2));
	inner = *a;
	{
		struct ag_tensor hole = *out;

		for (i = 0; i < n / 2; i++) {
			int d = a->ndim - 1 - i;
			int64_t low = pad[2 * i], high = pad[2 * i + 1];

			hole.offset += ag_times(low > 0 ? low : 0, out->strides[d]);
			inner.offset += ag_times(low < 0 ? -low : 0, a->strides[d]);
			inner.shape[d] = a->shape[d] + (low < 0 ? low : 0) + (high < 0 ? high : 0);
			hole.shape[d] = inner.shape[d];
		}
		hole.numel = inner.numel = ag_count(a->ndim, inner.shape);
		ag_copy_data(&hole, &inner);
	}
	return ag_finish(f, out, node);
}

bool bw_ConstantPad(struct ag_bw *b)
{
	struct ag_value pad[2 * AG_MAX_DIMS], v[3];
	int n = (int)b->node->ints[0], i;

	for (i = 0; i < n; i++)
		pad[i] = ag_int(-b->node->ints[1 + i]);
	v[0] = ag_arg(B_GRAD);
	v[1] = ag_list(pad, (size_t)n);
	v[2] = ag_float(0);
	B_SET(0, op_call(B_CTX, AG_OP_constant_pad, v, 3));
	return true;
}
