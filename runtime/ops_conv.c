/* Convolutions: arguments, nodes, and gradients of both orders; see conv.h for the sums. */
#include <stdlib.h>
#include <string.h>

#include "runtime/conv.h"
#include "runtime/op.h"

/* ---- arguments */

static void conv_pack(const struct conv *c, int64_t *ints)
{
	ints[0] = c->nd;
	ints[1] = c->transposed;
	ints[2] = c->groups;
	memcpy(ints + 3, c->stride, sizeof(c->stride));
	memcpy(ints + 3 + CONV_DIMS, c->pad, sizeof(c->pad));
	memcpy(ints + 3 + 2 * CONV_DIMS, c->dilation, sizeof(c->dilation));
	memcpy(ints + 3 + 3 * CONV_DIMS, c->output_pad, sizeof(c->output_pad));
}

static void conv_unpack(struct conv *c, const int64_t *ints)
{
	c->nd = (int)ints[0];
	c->transposed = ints[1] != 0;
	c->groups = ints[2];
	memcpy(c->stride, ints + 3, sizeof(c->stride));
	memcpy(c->pad, ints + 3 + CONV_DIMS, sizeof(c->pad));
	memcpy(c->dilation, ints + 3 + 2 * CONV_DIMS, sizeof(c->dilation));
	memcpy(c->output_pad, ints + 3 + 3 * CONV_DIMS, sizeof(c->output_pad));
}

/* The settings as arguments; the lists live in `items`. */
static void conv_values(const struct conv *c, struct ag_value *v, struct ag_value *items)
{
	const int64_t *lists[4] = {c->stride, c->pad, c->dilation, c->output_pad};
	int i, d;

	for (i = 0; i < 4; i++) {
		for (d = 0; d < c->nd; d++)
			items[i * CONV_DIMS + d] = ag_int(lists[i][d]);
	}
	v[0] = ag_list(items, (size_t)c->nd);
	v[1] = ag_list(items + CONV_DIMS, (size_t)c->nd);
	v[2] = ag_list(items + 2 * CONV_DIMS, (size_t)c->nd);
	v[3] = ag_bool(c->transposed);
	v[4] = ag_list(items + 3 * CONV_DIMS, (size_t)c->nd);
	v[5] = ag_int(c->groups);
}

static bool conv_read(struct ag_frame *f, struct conv *c, int nd)
{
	memset(c, 0, sizeof(*c));
	c->nd = nd;
	c->transposed = arg_b(f, 6);
	c->groups = arg_i(f, 8);
	return arg_ints_n(f, 3, c->stride, nd) && arg_ints_n(f, 4, c->pad, nd) &&
	       arg_ints_n(f, 5, c->dilation, nd) && arg_ints_n(f, 7, c->output_pad, nd);
}

static bool positive(struct ag_frame *f, const int64_t *values, int nd, const char *what)
{
	int d;

	for (d = 0; d < nd; d++) {
		if (values[d] <= 0)
			return ag_fail(f->ctx, AG_ERR_RUNTIME, "non-positive %s is not supported",
			               what);
	}
	return true;
}

static bool not_negative(struct ag_frame *f, const int64_t *values, int nd, const char *what)
{
	int d;

	for (d = 0; d < nd; d++) {
		if (values[d] < 0)
			return ag_fail(f->ctx, AG_ERR_RUNTIME, "negative %s is not supported",
			               what);
	}
	return true;
}

static bool channels_fit(struct ag_frame *f, const struct conv *c, struct ag_tensor *x,
                         struct ag_tensor *w)
{
	int64_t want = c->transposed ? w->shape[0] : ag_times(w->shape[1], c->groups);
	char ws[128], xs[128];

	if (c->groups <= 0)
		return ag_fail(f->ctx, AG_ERR_RUNTIME, "non-positive groups is not supported");
	if (w->shape[0] % c->groups)
		return ag_fail(
		        f->ctx, AG_ERR_RUNTIME,
		        "expected weight to be at least %lld at dimension 0 and divisible by it",
		        (long long)c->groups);
	if (x->shape[1] == want)
		return true;
	return ag_fail(f->ctx, AG_ERR_RUNTIME,
	               "Given groups=%lld, weight of size %s, expected input%s to have %lld "
	               "channels, but got %lld channels instead",
	               (long long)c->groups, ag_shape_text(w->ndim, w->shape, ws, sizeof(ws)),
	               ag_shape_text(x->ndim, x->shape, xs, sizeof(xs)), (long long)want,
	               (long long)x->shape[1]);
}

static bool conv_fits(struct ag_frame *f, const struct conv *c, struct ag_tensor *x,
                      struct ag_tensor *w, struct ag_tensor *b)
{
	int64_t out = c->transposed ? ag_times(w->shape[1], c->groups) : w->shape[0];

	if (x->dtype != w->dtype)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "Input type (%s) and weight type (%s) should be the same",
		               ag_dtype_name((enum ag_dtype)x->dtype),
		               ag_dtype_name((enum ag_dtype)w->dtype));
	if (!positive(f, c->stride, c->nd, "stride") ||
	    !positive(f, c->dilation, c->nd, "dilation") ||
	    !not_negative(f, c->pad, c->nd, "padding") ||
	    !not_negative(f, c->output_pad, c->nd, "output_padding") || !channels_fit(f, c, x, w))
		return false;
	if (b && (b->ndim != 1 || b->shape[0] != out))
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "Given weight of size with %lld output channels, expected bias to "
		               "be 1-dimensional with %lld elements",
		               (long long)out, (long long)out);
	if (b && b->dtype != w->dtype)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "Input type (%s) and bias type (%s) should be the same",
		               ag_dtype_name((enum ag_dtype)x->dtype),
		               ag_dtype_name((enum ag_dtype)b->dtype));
	return true;
}

static bool output_shape(struct ag_frame *f, const struct conv *c, const struct ag_tensor *x,
                         const struct ag_tensor *w, int64_t *shape)
{
	int d;

	shape[0] = x->shape[0];
	shape[1] = c->transposed ? ag_times(w->shape[1], c->groups) : w->shape[0];
	for (d = 0; d < c->nd; d++) {
		int64_t size = x->shape[2 + d],
		        reach = ag_times(c->dilation[d], w->shape[2 + d] - 1) + 1;
		int64_t room = size + 2 * c->pad[d];

		if (c->transposed) {
			shape[2 + d] = ag_times(size - 1, c->stride[d]) - 2 * c->pad[d] + reach +
			               c->output_pad[d];
		} else {
			if (room < reach)
				return ag_fail(f->ctx, AG_ERR_RUNTIME,
				               "Calculated padded input size per channel: (%lld). "
				               "Kernel size: (%lld). Kernel size can't be greater "
				               "than actual input size",
				               (long long)room, (long long)reach);
			shape[2 + d] = (room - reach) / c->stride[d] + 1;
		}
		if (shape[2 + d] < 0)
			return ag_fail(f->ctx, AG_ERR_RUNTIME,
			               "Given input size per channel: (%lld). Calculated output "
			               "size per channel: (%lld). Output size is too small",
			               (long long)size, (long long)shape[2 + d]);
	}
	return true;
}

/* ---- convolution */

/* What PyTorch gives to oneDNN when it has several threads. */
static bool uses_onednn(const struct conv *c, const struct ag_tensor *x, const struct ag_tensor *w)
{
	if (x->dtype != AG_F32)
		return false;
	return c->groups > 1 || x->shape[0] > 1 ||
	       ag_count(x->ndim < 4 ? x->ndim : 4, x->shape) > 20480 ||
	       (w->shape[w->ndim - 1] > 3 && w->shape[w->ndim - 2] > 3);
}

/* Channels come last in what a convolution makes as soon as one operand has them there. The
 * input in one dimension is made contiguous first, and one kernel in three knows no formats. */
static struct ag_tensor *conv_make(struct ag_ctx *ctx, const struct conv *c, int64_t const *shape,
                                   const struct ag_tensor *x, const struct ag_tensor *w)
{
	struct ag_tensor *out = ag_make(ctx, (enum ag_dtype)x->dtype, x->ndim, shape, true);
	bool last = (c->nd > 1 && ag_suggests_last(x)) || ag_suggests_last(w);

	if (out && last && (c->nd < 3 || uses_onednn(c, x, w)))
		ag_put_channels_last(out);
	return out;
}

/* What a kernel takes for itself. One of PyTorch's own spreads the image out, every window a
 * column; the rest are not known. */
static void conv_room(struct ag_ctx *ctx, const struct conv *c, const struct ag_tensor *x,
                      const struct ag_tensor *w, const struct ag_tensor *small)
{
	int64_t area = ag_count(c->nd, small->shape + 2), field = ag_count(c->nd, w->shape + 2);
	double columns = (double)x->shape[0] * (double)x->shape[1] * (double)field * (double)area;
	bool known = !uses_onednn(c, x, w) && c->nd < 3 && !c->transposed && c->groups == 1;
	bool spread = field > 1;
	int d;

	for (d = 0; d < c->nd; d++) {
		known = known && c->dilation[d] == 1;
		spread = spread || c->stride[d] > 1 || c->pad[d];
	}
	if (!known)
		ctx->memory.unsized++;
	else if (spread && columns < (double)AG_MOST_ELEMENTS)
		ag_transient(ctx,
		             (int64_t)columns * (int64_t)ag_dtype_size((enum ag_dtype)x->dtype));
}

bool op_run_convolution(struct ag_frame *f)
{
	struct ag_tensor *x = arg_t(f, 0), *w = arg_t(f, 1), *b = arg_t(f, 2), *in[3] = {x, w, b},
	                 *out;
	int64_t shape[AG_MAX_DIMS];
	struct ag_node *node;
	struct conv c;

	if (w->ndim < 3 || w->ndim > CONV_DIMS + 2 || x->ndim != w->ndim)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "Expected %d-dimensional input for %d-dimensional weight, but got "
		               "%d-dimensional input instead",
		               w->ndim, w->ndim, x->ndim);
	if (!conv_read(f, &c, w->ndim - 2) || !conv_fits(f, &c, x, w, b) ||
	    !output_shape(f, &c, x, w, shape))
		return false;
	out = conv_make(f->ctx, &c, shape, x, w);
	if (!out)
		return false;
	node = ag_record(f->ctx, AG_NODE_Convolution, in, 3, 2, CONV_INTS);
	if (node) {
		ag_save_input(node, 0, x);
		ag_save_input(node, 1, w);
		conv_pack(&c, node->ints);
	}
	if (c.transposed)
		conv_walk(&c, CONV_SCATTER, x, out, w, b);
	else
		conv_walk(&c, CONV_GATHER, out, x, w, b);
	conv_room(f->ctx, &c, x, w, out);
	return ag_finish(f, out, node);
}

/* ---- its gradients: (grad_output, input, weight, settings..., mask of what is wanted) */

static struct ag_tensor *input_gradient(struct ag_ctx *ctx, const struct conv *c,
                                        struct ag_tensor *g, struct ag_tensor *x,
                                        struct ag_tensor *w)
{
	struct ag_tensor *out = conv_make(ctx, c, x->shape, x, w);

	if (out && c->transposed)
		conv_walk(c, CONV_GATHER, out, g, w, NULL);
	else if (out)
		conv_walk(c, CONV_SCATTER, g, out, w, NULL);
	return out;
}

static struct ag_tensor *weight_gradient(struct ag_ctx *ctx, const struct conv *c,
                                         struct ag_tensor *g, struct ag_tensor *x,
                                         struct ag_tensor *w)
{
	struct ag_tensor *out = conv_make(ctx, c, w->shape, x, w);

	if (out && c->transposed)
		conv_walk(c, CONV_WEIGHT, x, g, out, NULL);
	else if (out)
		conv_walk(c, CONV_WEIGHT, g, x, out, NULL);
	return out;
}

static struct ag_tensor *bias_gradient(struct ag_ctx *ctx, struct ag_tensor *g)
{
	struct ag_tensor *out = ag_make(ctx, (enum ag_dtype)g->dtype, 1, g->shape + 1, true);
	int64_t area = ag_count(g->ndim - 2, g->shape + 2), i;
	double *values, *sums;

	if (!out || !ag_ready1(out, g))
		return out;
	values = ag_plain(g);
	sums = ag_alloc((size_t)out->numel + 1, sizeof(*sums));
	for (i = 0; i < g->numel; i++)
		sums[i / area % g->shape[1]] += values[i];
	ag_put_plain(out, sums);
	free(values);
	free(sums);
	return out;
}

bool op_run_convolution_backward(struct ag_frame *f)
{
	struct ag_tensor *in[3] = {arg_t(f, 0), arg_t(f, 1), arg_t(f, 2)}, *out[3] = {NULL};
	int64_t mask = arg_i(f, 9);
	struct ag_node *node;
	struct conv c;
	int i;

	if (!conv_read(f, &c, in[2]->ndim - 2))
		return false;
	node = ag_record(f->ctx, AG_NODE_ConvolutionBackward, in, 3, 3, CONV_INTS + 1);
	for (i = 0; node && i < 3; i++)
		ag_save_input(node, (uint32_t)i, in[i]);
	if (node) {
		conv_pack(&c, node->ints);
		node->ints[CONV_INTS] = mask;
	}
	if (mask & 1)
		out[0] = input_gradient(f->ctx, &c, in[0], in[1], in[2]);
	if (mask & 2)
		out[1] = weight_gradient(f->ctx, &c, in[0], in[1], in[2]);
	if (mask & 4)
		out[2] = bias_gradient(f->ctx, in[0]);
	conv_room(f->ctx, &c, in[1], in[2], in[0]);
	for (i = 0; i < 3; i++) {
		if (out[i] && node)
			ag_set_history(out[i], node);
		if (mask >> i & 1 && !ag_give(f, out[i])) {
			ag_node_release(node);
			return false;
		}
	}
	ag_node_release(node);
	return true;
}

/* Calls it for what `mask` wants; results borrowed, NULL where not wanted. */
static bool conv_gradients(struct ag_ctx *ctx, const struct conv *c, struct ag_tensor *g,
                           struct ag_tensor *x, struct ag_tensor *w, int64_t mask,
                           struct ag_tensor **out)
{
	struct ag_value v[10] = {ag_arg(g), ag_arg(x), ag_arg(w)}, items[4 * CONV_DIMS];
	struct ag_results results;
	uint32_t next = 0;
	int i;

	memset(out, 0, 3 * sizeof(*out));
	if (!g || !x || !w)
		return false;
	conv_values(c, v + 3, items);
	v[9] = ag_int(mask);
	if (!ag_run_op(ctx, AG_OP_convolution_backward, false, v, 10, &results))
		return false;
	for (i = 0; i < 3; i++) {
		if (mask >> i & 1)
			out[i] = scoped(ctx, ag_results_take(&results, next++));
	}
	ag_results_release(&results);
	return true;
}

bool bw_Convolution(struct ag_bw *b)
{
	struct ag_tensor *out[3];
	int64_t mask = B_WANT(0) | B_WANT(1) << 1 | B_WANT(2) << 2;
	struct conv c;
	uint32_t i;

	conv_unpack(&c, b->node->ints);
	if (!conv_gradients(B_CTX, &c, B_GRAD, B_SAVED(0), B_SAVED(1), mask, out))
		return false;
	for (i = 0; i < 3; i++) {
		if (out[i])
			B_SET(i, out[i]);
	}
	return true;
}

static struct ag_tensor *convolve(struct ag_ctx *ctx, const struct conv *c, struct ag_tensor *x,
                                  struct ag_tensor *w)
{
	struct ag_value v[9] = {ag_arg(x), ag_arg(w), ag_none()}, items[4 * CONV_DIMS];

	if (!x || !w)
		return NULL;
	conv_values(c, v + 3, items);
	return op_call(ctx, AG_OP_convolution, v, 9);
}

static struct ag_tensor *plus(struct ag_ctx *ctx, struct ag_tensor *a, struct ag_tensor *b)
{
	if (!a || !b)
		return a ? a : b;
	return op_add(ctx, a, b);
}

/* What the bias gradient's gradient says of grad_output: the same number everywhere. */
static struct ag_tensor *spread(struct ag_ctx *ctx, struct ag_tensor *a,
                                const struct ag_tensor *like)
{
	int64_t shape[AG_MAX_DIMS];
	int d;

	if (!a)
		return NULL;
	for (d = 0; d < like->ndim; d++)
		shape[d] = d == 1 ? a->numel : 1;
	return op_expand(ctx, op_view(ctx, a, like->ndim, shape), like->ndim, like->shape);
}

/* The gradients of the wanted results, in the order input, weight, bias. */
static void masked_grads(const struct ag_bw *b, int64_t mask, struct ag_tensor **out)
{
	uint32_t next = 0;
	int i;

	for (i = 0; i < 3; i++)
		out[i] = mask >> i & 1 ? b->grads[next++] : NULL;
}

bool bw_ConvolutionBackward(struct ag_bw *b)
{
	struct ag_tensor *g = B_SAVED(0), *x = B_SAVED(1), *w = B_SAVED(2), *gg[3], *out[3];
	struct ag_ctx *ctx = B_CTX;
	struct conv c;

	if (!g || !x || !w)
		return false;
	conv_unpack(&c, b->node->ints);
	masked_grads(b, b->node->ints[CONV_INTS], gg);
	if (B_WANT(0)) {
		struct ag_tensor *sum = gg[0] ? convolve(ctx, &c, gg[0], w) : NULL;

		sum = plus(ctx, sum, gg[1] ? convolve(ctx, &c, x, gg[1]) : NULL);
		sum = plus(ctx, sum, spread(ctx, gg[2], g));
		if (sum)
			B_SET(0, sum);
	}
	if (B_WANT(1) && gg[1]) {
		if (!conv_gradients(ctx, &c, g, x, gg[1], 1, out))
			return false;
		B_SET(1, out[0]);
	}
	if (B_WANT(2) && gg[0]) {
		if (!conv_gradients(ctx, &c, g, gg[0], w, 2, out))
			return false;
		B_SET(2, out[1]);
	}
	return true;
}

/* ---- the rows that programs call */

/* Half of what "same" must add on each side; the odd one goes behind, as padding before. */
static struct ag_tensor *pad_same(struct ag_frame *f, struct ag_tensor *x,
                                  const struct ag_tensor *w, struct conv *c)
{
	struct ag_value pads[2 * CONV_DIMS], v[3];
	bool uneven = false;
	int d;

	for (d = 0; d < c->nd; d++) {
		int64_t total = ag_times(c->dilation[d], w->shape[2 + d] - 1);

		if (c->stride[d] != 1) {
			ag_fail(f->ctx, AG_ERR_RUNTIME,
			        "padding='same' is not supported for strided convolutions");
			return NULL;
		}
		c->pad[d] = total / 2;
		pads[2 * (c->nd - 1 - d)] = ag_int(0);
		pads[2 * (c->nd - 1 - d) + 1] = ag_int(total % 2);
		uneven |= total % 2 != 0;
	}
	if (!uneven)
		return x;
	v[0] = ag_arg(x);
	v[1] = ag_list(pads, 2 * (size_t)c->nd);
	v[2] = ag_int(0);
	return op_call(f->ctx, AG_OP_constant_pad, v, 3);
}

static bool batched(struct ag_frame *f, const struct ag_tensor *x, int nd, bool *yes)
{
	char text[128];

	*yes = x->ndim == nd + 2;
	if (*yes || x->ndim == nd + 1)
		return true;
	return ag_fail(
	        f->ctx, AG_ERR_RUNTIME,
	        "Expected %dD (unbatched) or %dD (batched) input to %s, but got input of size: %s",
	        nd + 1, nd + 2, ag_op_info(f->op)->id,
	        ag_shape_text(x->ndim, x->shape, text, sizeof(text)));
}

/* Settings of a user's call: plain ones take dilation before groups, transposed ones after. */
static bool user_settings(struct ag_frame *f, struct conv *c)
{
	int dilation = c->transposed ? 7 : 5, nd = c->nd;

	c->groups = arg_i(f, 6);
	if (!arg_ints_n(f, 3, c->stride, nd) || !arg_ints_n(f, (uint32_t)dilation, c->dilation, nd))
		return false;
	if (c->transposed && !arg_ints_n(f, 5, c->output_pad, nd))
		return false;
	return f->v[4].kind == AG_TEXT || arg_ints_n(f, 4, c->pad, nd);
}

static bool run_nd(struct ag_frame *f, int nd, bool transposed)
{
	struct ag_tensor *x = arg_t(f, 0), *w = arg_t(f, 1), *out;
	struct conv c = {.nd = nd, .transposed = transposed};
	struct ag_value v[9], items[4 * CONV_DIMS], squeeze[2];
	bool batch;

	if (!batched(f, x, nd, &batch) || !user_settings(f, &c))
		return false;
	if (w->ndim != nd + 2)
		return ag_fail(f->ctx, AG_ERR_RUNTIME, "weight should have %d dimensions, not %d",
		               nd + 2, w->ndim);
	if (!batch)
		x = op_unsqueeze(f->ctx, x, 0);
	if (x && arg_text_is(f, 4, "same"))
		x = pad_same(f, x, w, &c);
	if (!x)
		return false;
	conv_values(&c, v + 3, items);
	v[0] = ag_arg(x);
	v[1] = ag_arg(w);
	v[2] = f->v[2];
	out = op_call(f->ctx, AG_OP_convolution, v, 9);
	if (out && !batch) {
		squeeze[0] = ag_arg(out);
		squeeze[1] = ag_int(0);
		out = op_call(f->ctx, AG_OP_squeeze_dim, squeeze, 2);
	}
	return out && ag_give_ref(f, out);
}

bool op_run_conv1d(struct ag_frame *f)
{
	return run_nd(f, 1, false);
}

bool op_run_conv2d(struct ag_frame *f)
{
	return run_nd(f, 2, false);
}

bool op_run_conv3d(struct ag_frame *f)
{
	return run_nd(f, 3, false);
}

bool op_run_conv_transpose1d(struct ag_frame *f)
{
	return run_nd(f, 1, true);
}

bool op_run_conv_transpose2d(struct ag_frame *f)
{
	return run_nd(f, 2, true);
}

bool op_run_conv_transpose3d(struct ag_frame *f)
{
	return run_nd(f, 3, true);
}

/* ---- conv_tbc: time comes first, channels last */

static const int64_t from_tbc[] = {1, 2, 0}, to_tbc[] = {2, 0, 1}, turned[] = {2, 1, 0};

static struct conv tbc(int64_t pad)
{
	return (struct conv){.nd = 1, .groups = 1, .stride = {1}, .pad = {pad}, .dilation = {1}};
}

static struct ag_tensor *in_order(struct ag_ctx *ctx, struct ag_tensor *a, const int64_t *dims)
{
	return a ? op_contiguous(ctx, op_permute(ctx, a, dims, 3)) : NULL;
}

/* input, weight, bias, pad */
bool op_run_conv_tbc(struct ag_frame *f)
{
	struct ag_ctx *ctx = f->ctx;
	struct ag_tensor *in[3] = {arg_t(f, 0), arg_t(f, 1), arg_t(f, 2)}, *out;
	struct conv c = tbc(arg_i(f, 3));
	struct ag_grad_mode mode;
	struct ag_node *node;
	uint32_t i;

	if (in[0]->ndim != 3 || in[1]->ndim != 3 || in[2]->ndim != 1)
		return ag_fail(ctx, AG_ERR_RUNTIME,
		               "Input must have 3 dims: time, batch, in_channel; weight tensor 3: "
		               "kernel_width, in_channels, out_channels; bias 1");
	if (in[0]->shape[2] != in[1]->shape[1] || in[2]->numel != in[1]->shape[2])
		return ag_fail(ctx, AG_ERR_RUNTIME, "Input dims do not match weight and bias");
	mode = ag_no_grad(ctx);
	out = convolve(ctx, &c, op_permute(ctx, in[0], from_tbc, 3),
	               op_permute(ctx, in[1], turned, 3));
	out = op_add(ctx, in_order(ctx, out, to_tbc), in[2]);
	ag_set_grad_mode(ctx, mode);
	if (!out)
		return false;
	node = ag_record(ctx, AG_NODE_ConvTbc, in, 3, 3, 1);
	if (node) {
		node->ints[0] = c.pad[0];
		for (i = 0; i < 3; i++)
			ag_save_input(node, i, in[(i + 2) % 3]);
	}
	return ag_finish(f, ag_retain(out), node);
}

bool bw_ConvTbc(struct ag_bw *b)
{
	struct ag_tensor *bias = B_SAVED(0), *x = B_SAVED(1), *w = B_SAVED(2), *out[3];
	struct conv c = tbc(b->node->ints[0]);

	if (!bias || !x || !w ||
	    !conv_gradients(B_CTX, &c, op_permute(B_CTX, B_GRAD, from_tbc, 3),
	                    op_permute(B_CTX, x, from_tbc, 3), op_permute(B_CTX, w, turned, 3),
	                    B_WANT(0) | B_WANT(1) << 1, out))
		return false;
	B_SET(0, in_order(B_CTX, out[0], to_tbc));
	B_SET(1, in_order(B_CTX, out[1], turned));
	B_SET(2, op_sum_to(B_CTX, B_GRAD, 1, bias->shape));
	return true;
}
