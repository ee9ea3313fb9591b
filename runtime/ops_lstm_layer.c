/* One LSTM layer in one direction as one node: what PyTorch runs as a oneDNN kernel on CPU. The
 * formula runs the layer again in double; PyTorch's has no formula of its own either. */
#include <stdlib.h>
#include <string.h>

#include "runtime/lstm.h"
#include "runtime/op.h"

enum { LAYER_INPUTS = 7, SAVED_OUTPUTS = 7, WORKSPACE = 10, LAYER_SAVED = 11 };

/* Inputs in the order of the row: x, w_ih, w_hh, b_ih, b_hh, h, c. */
static void lstm_sizes(struct lstm *l, struct ag_tensor *const *in, bool reverse)
{
	memset(l, 0, sizeof(*l));
	l->steps = in[0]->shape[0];
	l->batch = in[0]->shape[1];
	l->inputs = in[0]->shape[2];
	l->hidden = in[2]->shape[1];
	l->reverse = reverse;
}

static void lstm_load(struct lstm *l, struct ag_tensor *const *in)
{
	l->x = ag_plain(in[0]);
	l->w = ag_plain(in[1]);
	l->u = ag_plain(in[2]);
	l->b = ag_plain(in[3]);
	l->c = ag_plain(in[4]);
	l->h0 = ag_plain(in[5]);
	l->c0 = ag_plain(in[6]);
}

static void layer_compute(struct ag_tensor *const *in, struct ag_tensor *const *out, bool reverse)
{
	bool ready = true;
	double *output;
	struct lstm l;
	int i;

	/* Each output element takes a row of four gates. */
	if (!ag_work(out[0]->storage->ctx, (double)out[0]->numel * 8 * (double)in[2]->shape[1]))
		ag_storage_drop_data(out[0]->storage);
	for (i = 0; i < 3; i++)
		ready = ag_ready(out[i], in, LAYER_INPUTS) && ready;
	if (!ready)
		return;
	lstm_sizes(&l, in, reverse);
	lstm_load(&l, in);
	lstm_forward(&l);
	output = ag_alloc((size_t)out[0]->numel + 1, sizeof(*output));
	lstm_output(&l, output);
	ag_put_plain(out[0], output);
	ag_put_plain(out[1], lstm_final(&l, l.states));
	ag_put_plain(out[2], lstm_final(&l, l.cells));
	free(output);
	lstm_release(&l);
}

static struct ag_tensor *workspace_of(struct ag_ctx *ctx, struct ag_tensor *const *in)
{
	struct lstm l;
	int64_t bytes;

	lstm_sizes(&l, in, false);
	bytes = lstm_workspace(&l);
	return scoped(ctx, ag_make(ctx, AG_U8, 1, &bytes, false));
}

static bool layer_record(struct ag_frame *f, struct ag_tensor *const *in, struct ag_tensor **out)
{
	struct ag_node *node =
	        ag_record(f->ctx, AG_NODE_MkldnnRnnLayer, in, LAYER_INPUTS, LAYER_SAVED, 1);
	struct ag_tensor *workspace;
	uint32_t i;

	if (!node)
		return true;
	workspace = workspace_of(f->ctx, in);
	if (!workspace) {
		ag_node_release(node);
		return false;
	}
	node->ints[0] = arg_b(f, 7);
	for (i = 0; i < LAYER_INPUTS; i++)
		ag_save_input(node, i, in[i]);
	for (i = 0; i < 3; i++) {
		ag_set_history(out[i], node);
		ag_save_output(node, SAVED_OUTPUTS + i, out[i]);
	}
	ag_save_input(node, WORKSPACE, workspace);
	ag_node_release(node);
	return true;
}

/* [steps, batch, inputs], weights for four gates of the hidden size, states [batch, hidden]. */
static bool layer_fits(struct ag_frame *f, struct ag_tensor *const *in)
{
	struct lstm l;
	int64_t gates, shapes[LAYER_INPUTS][3] = {{0}};
	int dims[LAYER_INPUTS] = {3, 2, 2, 1, 1, 2, 2}, i;

	if (in[0]->ndim != 3 || in[2]->ndim != 2)
		return ag_fail(f->ctx, AG_ERR_RUNTIME, "lstm: weights must be matrices");
	lstm_sizes(&l, in, false);
	gates = ag_times(4, l.hidden);
	shapes[0][0] = l.steps;
	shapes[0][1] = shapes[5][0] = shapes[6][0] = l.batch;
	shapes[0][2] = shapes[1][1] = l.inputs;
	shapes[1][0] = shapes[2][0] = gates;
	shapes[2][1] = shapes[5][1] = shapes[6][1] = l.hidden;
	for (i = 0; i < LAYER_INPUTS; i++) {
		/* Biases may be larger, when they are nothing but zeros. */
		if (dims[i] == 1 ? in[i]->numel < gates : !ag_shape_is(in[i], dims[i], shapes[i]))
			return ag_fail(
			        f->ctx, AG_ERR_RUNTIME,
			        "Expected hidden size and weights that fit %lld inputs and a "
			        "hidden size of %lld",
			        (long long)l.inputs, (long long)l.hidden);
	}
	return true;
}

bool op_run_mkldnn_rnn_layer(struct ag_frame *f)
{
	struct ag_tensor *in[LAYER_INPUTS], *out[3];
	enum ag_dtype dtype;
	int64_t shape[3];
	uint32_t i;

	f->ctx->memory.unsized++;
	for (i = 0; i < LAYER_INPUTS; i++)
		in[i] = arg_t(f, i);
	if (!layer_fits(f, in))
		return false;
	dtype = (enum ag_dtype)in[0]->dtype;
	shape[0] = in[0]->shape[0];
	shape[1] = in[0]->shape[1];
	shape[2] = in[2]->shape[1];
	out[0] = ag_make(f->ctx, dtype, 3, shape, true);
	out[1] = ag_make(f->ctx, dtype, 2, shape + 1, true);
	out[2] = ag_make(f->ctx, dtype, 2, shape + 1, true);
	if (out[0] && out[1] && out[2]) {
		layer_compute(in, out, arg_b(f, 7));
		if (layer_record(f, in, out))
			return ag_give(f, out[0]) && ag_give(f, out[1]) && ag_give(f, out[2]);
	}
	for (i = 0; i < 3; i++)
		ag_release(out[i]);
	return false;
}

/* Plain arrays of the results' gradients; false when one has no data. */
static bool load_gradients(struct ag_bw *b, double **grads)
{
	bool ready = true;
	int i;

	for (i = 0; i < 3; i++) {
		grads[i] = b->grads[i] ? ag_plain(b->grads[i]) : NULL;
		ready = ready && (!b->grads[i] || grads[i] || !b->grads[i]->numel);
	}
	return ready;
}

static void layer_gradients(struct ag_bw *b, struct ag_tensor *const *in,
                            struct ag_tensor *const *out)
{
	double *grads[3], *made[LAYER_INPUTS];
	struct lstm_gradients g;
	struct lstm l;
	int i;

	lstm_sizes(&l, in, b->node->ints[0] != 0);
	if (load_gradients(b, grads)) {
		for (i = 0; i < LAYER_INPUTS; i++)
			made[i] = ag_alloc((size_t)in[i]->numel + 1, sizeof(double));
		g = (struct lstm_gradients){grads[0], grads[1], grads[2], made[0], made[1],
		                            made[2],  made[3],  made[5],  made[6]};
		lstm_load(&l, in);
		lstm_forward(&l);
		lstm_backward(&l, &g);
		lstm_release(&l);
		memcpy(made[4], made[3], (size_t)(4 * l.hidden) * sizeof(double));
		for (i = 0; i < LAYER_INPUTS; i++) {
			if (out[i])
				ag_put_plain(out[i], made[i]);
			free(made[i]);
		}
	} else {
		for (i = 0; i < LAYER_INPUTS; i++) {
			if (out[i])
				ag_storage_drop_data(out[i]->storage);
		}
	}
	for (i = 0; i < 3; i++)
		free(grads[i]);
}

bool bw_MkldnnRnnLayer(struct ag_bw *b)
{
	struct ag_tensor *in[LAYER_INPUTS], *out[LAYER_INPUTS] = {NULL};
	bool ready = true;
	uint32_t i;

	B_CTX->memory.unsized++;
	for (i = 0; i < LAYER_INPUTS; i++) {
		in[i] = B_SAVED(i);
		if (!in[i])
			return false;
		ready = ready && (ag_has_data(in[i]) || !in[i]->numel);
	}
	for (i = 0; i < LAYER_INPUTS; i++) {
		if (!B_WANT(i))
			continue;
		out[i] = op_zeros_as(B_CTX, in[i]);
		if (!out[i])
			return false;
		if (!ready)
			ag_storage_drop_data(out[i]->storage);
		ready = ready && ag_has_data(out[i]);
	}
	if (ready)
		layer_gradients(b, in, out);
	for (i = 0; i < LAYER_INPUTS; i++) {
		if (out[i])
			B_SET(i, out[i]);
	}
	return true;
}
