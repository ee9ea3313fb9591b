/* The tensors of each layer, and their initial values in PyTorch's order of draws. */

#include <stdio.h>
#include <string.h>

#include "runtime/init.h"
#include "runtime/module.h"
#include "runtime/op.h"

static struct ag_array array_of(struct ag_tensor *t)
{
	struct ag_array a = {NULL, NULL, NULL, 0};

	if (!t)
		return a;
	a.shape = t->shape;
	a.ndim = t->ndim;
	if (!ag_drawable(t))
		return a;
	if (t->dtype == AG_F32)
		a.f32 = t->storage->data;
	if (t->dtype == AG_F64)
		a.f64 = t->storage->data;
	return a;
}

static struct ag_tensor *parameter(struct ag_ctx *ctx, struct ag_module *m, const char *name,
                                   int ndim, const int64_t *shape)
{
	return ag_module_make(ctx, m, AG_SLOT_PARAMETER, name, ctx->default_dtype, ndim, shape);
}

/* A parameter that may be switched off: registered as None then. */
static struct ag_tensor *optional(struct ag_ctx *ctx, struct ag_module *m, bool on,
                                  const char *name, int ndim, const int64_t *shape)
{
	if (on)
		return parameter(ctx, m, name, ndim, shape);
	ag_module_set_tensor(ctx, m, AG_SLOT_PARAMETER, name, NULL);
	return NULL;
}

bool ag_build_none(struct ag_ctx *ctx, struct ag_module *m)
{
	(void)ctx;
	(void)m;
	return true;
}

static bool positive(struct ag_ctx *ctx, const struct ag_module *m, const char *name)
{
	int64_t n = ag_module_int(m, name);

	return n >= 0 ||
	       ag_fail(ctx, AG_ERR_RUNTIME, "Trying to create tensor with negative dimension %lld",
	               (long long)n);
}

static bool init_linear(struct ag_ctx *ctx, struct ag_tensor *w, struct ag_tensor *b)
{
	struct ag_array weight = array_of(w), bias = array_of(b);

	if (!w)
		return false;
	return !w->numel || ag_init_linear(&ctx->random, &weight, b ? &bias : NULL) || true;
}

bool ag_build_linear(struct ag_ctx *ctx, struct ag_module *m)
{
	int64_t shape[2] = {ag_module_int(m, "out_features"), ag_module_int(m, "in_features")};
	struct ag_tensor *w;

	if (!positive(ctx, m, "out_features") || !positive(ctx, m, "in_features"))
		return false;
	w = parameter(ctx, m, "weight", 2, shape);
	return w && init_linear(ctx, w,
	                        optional(ctx, m, ag_module_int(m, "bias") != 0, "bias", 1, shape));
}

bool ag_build_bilinear(struct ag_ctx *ctx, struct ag_module *m)
{
	int64_t shape[3] = {ag_module_int(m, "out_features"), ag_module_int(m, "in1_features"),
	                    ag_module_int(m, "in2_features")};
	struct ag_tensor *w = parameter(ctx, m, "weight", 3, shape), *b;
	struct ag_array weight, bias;

	if (!w)
		return false;
	b = optional(ctx, m, ag_module_int(m, "bias") != 0, "bias", 1, shape);
	weight = array_of(w);
	bias = array_of(b);
	return ag_init_bilinear(&ctx->random, &weight, b ? &bias : NULL) || true;
}

static int spatial(const struct ag_module *m)
{
	return m->name[strlen(m->name) - 2] - '0';
}

static bool conv(struct ag_ctx *ctx, struct ag_module *m, bool transposed)
{
	int64_t in = ag_module_int(m, "in_channels"), out = ag_module_int(m, "out_channels");
	int64_t groups = ag_module_int(m, "groups"), shape[AG_MAX_DIMS];
	struct ag_tensor *w;
	int n = spatial(m);

	if (groups <= 0)
		return ag_fail(ctx, AG_ERR_VALUE, "groups must be a positive integer");
	if (in % groups)
		return ag_fail(ctx, AG_ERR_VALUE, "in_channels must be divisible by groups");
	if (out % groups)
		return ag_fail(ctx, AG_ERR_VALUE, "out_channels must be divisible by groups");
	if (!ag_module_ints(ctx, m, "kernel_size", n, shape + 2))
		return false;
	shape[0] = transposed ? in : out;
	shape[1] = (transposed ? out : in) / groups;
	w = parameter(ctx, m, "weight", n + 2, shape);
	return w && init_linear(ctx, w,
	                        optional(ctx, m, ag_module_int(m, "bias") != 0, "bias", 1, &out));
}

bool ag_build_conv(struct ag_ctx *ctx, struct ag_module *m)
{
	return conv(ctx, m, false);
}

bool ag_build_conv_transpose(struct ag_ctx *ctx, struct ag_module *m)
{
	return conv(ctx, m, true);
}

static bool affine(struct ag_ctx *ctx, struct ag_module *m, bool weight, bool bias, int ndim,
                   const int64_t *shape)
{
	struct ag_tensor *w = optional(ctx, m, weight, "weight", ndim, shape);

	if (w)
		ag_fill_data(w, 1);
	return (w || !weight) && (optional(ctx, m, bias, "bias", ndim, shape) || !bias);
}

bool ag_build_batch_norm(struct ag_ctx *ctx, struct ag_module *m)
{
	int64_t n = ag_module_int(m, "num_features");
	bool on = ag_module_int(m, "affine") != 0;
	struct ag_tensor *var;

	if (!affine(ctx, m, on, on, 1, &n))
		return false;
	if (!ag_module_int(m, "track_running_stats"))
		return true;
	if (!ag_module_make(ctx, m, AG_SLOT_BUFFER, "running_mean", ctx->default_dtype, 1, &n))
		return false;
	var = ag_module_make(ctx, m, AG_SLOT_BUFFER, "running_var", ctx->default_dtype, 1, &n);
	if (var)
		ag_fill_data(var, 1);
	return var &&
	       ag_module_make(ctx, m, AG_SLOT_BUFFER, "num_batches_tracked", AG_I64, 0, NULL);
}

bool ag_build_layer_norm(struct ag_ctx *ctx, struct ag_module *m)
{
	const struct ag_value *v = ag_module_find(m, "normalized_shape");
	int n = v->kind == AG_LIST ? (int)v->count : 1;
	bool on = ag_module_int(m, "elementwise_affine") != 0;
	bool bias = on && ag_module_find(m, "bias") && ag_module_int(m, "bias");
	int64_t shape[AG_MAX_DIMS];

	if (n > AG_MAX_DIMS || !ag_module_ints(ctx, m, "normalized_shape", n, shape))
		return false;
	return affine(ctx, m, on, bias, n, shape);
}

bool ag_build_group_norm(struct ag_ctx *ctx, struct ag_module *m)
{
	int64_t n = ag_module_int(m, "num_channels"), groups = ag_module_int(m, "num_groups");
	bool on = ag_module_int(m, "affine") != 0;

	if (groups < 1 || n % groups)
		return ag_fail(ctx, AG_ERR_VALUE, "num_channels must be divisible by num_groups");
	return affine(ctx, m, on, on, 1, &n);
}

bool ag_build_embedding(struct ag_ctx *ctx, struct ag_module *m)
{
	int64_t shape[2] = {ag_module_int(m, "num_embeddings"), ag_module_int(m, "embedding_dim")};
	const struct ag_value *pad = ag_module_find(m, "padding_idx");
	struct ag_tensor *w = parameter(ctx, m, "weight", 2, shape);
	struct ag_array weight = array_of(w);
	int64_t at = pad->kind == AG_NONE ? -1 : ag_value_int(pad);

	if (!w)
		return false;
	ag_init_embedding(&ctx->random, &weight, at < -1 ? at + shape[0] : at);
	return true;
}

bool ag_build_prelu(struct ag_ctx *ctx, struct ag_module *m)
{
	int64_t n = ag_module_int(m, "num_parameters");
	struct ag_tensor *w = parameter(ctx, m, "weight", 1, &n);

	if (w)
		ag_fill_data(w, ag_module_float(m, "init"));
	return w != NULL;
}

/* Weights of losses are buffers. */
bool ag_build_weights(struct ag_ctx *ctx, struct ag_module *m)
{
	const char *names[2] = {"weight", "pos_weight"};
	int i;

	for (i = 0; i < 2; i++) {
		const struct ag_value *v = ag_module_find(m, names[i]);

		if (v && v->kind == AG_TENSOR)
			ag_module_set_tensor(ctx, m, AG_SLOT_BUFFER, names[i], v->as.tensor);
	}
	return true;
}

/* ---- recurrent layers */

enum { MAX_RECURRENT = 256 };

static int gates_of(const struct ag_module *m)
{
	return m->name[0] == 'L' ? 4 : m->name[0] == 'G' ? 3 : 1;
}

/* What a layer gives out: its hidden size, or an LSTM's projection. */
static int64_t given_out(const struct ag_module *m)
{
	int64_t proj = m->id == AG_MODULE_LSTM ? ag_module_int(m, "proj_size") : 0;

	return proj ? proj : ag_module_int(m, "hidden_size");
}

/* w_ih, w_hh, b_ih, b_hh, w_hr of one layer and direction; `tail` ends their names. */
static int recurrent_set(struct ag_ctx *ctx, struct ag_module *m, int64_t in, const char *tail,
                         struct ag_array *arrays)
{
	static const char *const heads[4] = {"weight_ih", "weight_hh", "bias_ih", "bias_hh"};
	int64_t h = ag_module_int(m, "hidden_size"), shape[2];
	int n = ag_module_int(m, "bias") ? 4 : 2, i;
	char name[64];

	for (i = 0; i < n; i++) {
		struct ag_tensor *t;

		shape[0] = gates_of(m) * h;
		shape[1] = i == 0 ? in : given_out(m);
		snprintf(name, sizeof(name), "%s%s", heads[i], tail);
		t = parameter(ctx, m, name, i < 2 ? 2 : 1, shape);
		if (!t)
			return -1;
		arrays[i] = array_of(t);
	}
	if (given_out(m) != h) {
		struct ag_tensor *t;

		shape[0] = given_out(m);
		shape[1] = h;
		snprintf(name, sizeof(name), "weight_hr%s", tail);
		t = parameter(ctx, m, name, 2, shape);
		if (!t)
			return -1;
		arrays[n++] = array_of(t);
	}
	for (; i < 4 && !*tail; i++)
		ag_module_set_tensor(ctx, m, AG_SLOT_PARAMETER, heads[i], NULL);
	return n;
}

bool ag_build_recurrent(struct ag_ctx *ctx, struct ag_module *m)
{
	struct ag_array arrays[MAX_RECURRENT];
	int64_t layers = ag_module_int(m, "num_layers"), h = ag_module_int(m, "hidden_size"), l;
	int directions = ag_module_int(m, "bidirectional") ? 2 : 1, d, count = 0, n;
	char tail[32];

	if (layers < 1 || h < 1)
		return ag_fail(ctx, AG_ERR_VALUE, "%s must be greater than zero",
		               h < 1 ? "hidden_size" : "num_layers");
	for (l = 0; l < layers; l++) {
		for (d = 0; d < directions; d++) {
			if (count + 5 > MAX_RECURRENT)
				return ag_fail(ctx, AG_ERR_VALUE, "too many recurrent layers");
			ag_module_label(tail, sizeof(tail), "_l", (int)l, d ? "_reverse" : "");
			n = recurrent_set(ctx, m,
			                  l ? given_out(m) * directions
			                    : ag_module_int(m, "input_size"),
			                  tail, arrays + count);
			if (n < 0)
				return false;
			count += n;
		}
	}
	ag_init_recurrent(&ctx->random, arrays, (uint32_t)count, h);
	return true;
}

bool ag_build_cell(struct ag_ctx *ctx, struct ag_module *m)
{
	struct ag_array arrays[4];
	int n = recurrent_set(ctx, m, ag_module_int(m, "input_size"), "", arrays);

	if (n < 0)
		return false;
	ag_init_recurrent(&ctx->random, arrays, (uint32_t)n, ag_module_int(m, "hidden_size"));
	return true;
}

/* ---- attention */

static struct ag_module *child(struct ag_ctx *ctx, struct ag_module *m, const char *name,
                               const char *kind, const struct ag_value *v, uint32_t count)
{
	struct ag_args args = {v, count, NULL, 0};
	struct ag_module *c = ag_module_new(ctx, kind, &args);

	if (c)
		ag_module_set_child(ctx, m, name, c);
	ag_module_release(c);
	return c;
}

bool ag_build_attention(struct ag_ctx *ctx, struct ag_module *m)
{
	int64_t e = ag_module_int(m, "embed_dim"), shape[2] = {3 * e, e};
	bool bias = ag_module_int(m, "bias") != 0;
	struct ag_tensor *w, *b;
	struct ag_module *out;
	struct ag_value v[3] = {ag_int(e), ag_int(e), ag_bool(bias)};
	struct ag_array arrays[4];
	struct ag_attention_arrays all = {0};
	struct ag_random before;

	if (e < 1 || ag_module_int(m, "num_heads") < 1 || e % ag_module_int(m, "num_heads"))
		return ag_fail(ctx, AG_ERR_RUNTIME, "embed_dim must be divisible by num_heads");
	if (ag_module_int(m, "add_bias_kv") || ag_module_int(m, "add_zero_attn") ||
	    ag_module_find(m, "kdim")->kind != AG_NONE ||
	    ag_module_find(m, "vdim")->kind != AG_NONE)
		return ag_fail(ctx, AG_ERR_RUNTIME,
		               "MultiheadAttention with kdim, vdim, add_bias_kv or add_zero_attn "
		               "is not supported");
	w = parameter(ctx, m, "in_proj_weight", 2, shape);
	b = optional(ctx, m, bias, "in_proj_bias", 1, shape);
	/* The draws of out_proj are made below, with the others. */
	before = ctx->random;
	out = w ? child(ctx, m, "out_proj", "Linear", v, 3) : NULL;
	if (!out)
		return false;
	ctx->random = before;
	arrays[0] = array_of(w);
	arrays[1] = array_of(b);
	arrays[2] = array_of(ag_module_tensor(out, "weight"));
	arrays[3] = array_of(ag_module_tensor(out, "bias"));
	all.in_weight = &arrays[0];
	all.in_bias = b ? &arrays[1] : NULL;
	all.out_weight = &arrays[2];
	all.out_bias = bias ? &arrays[3] : NULL;
	ag_init_attention(&ctx->random, &all);
	return true;
}

bool ag_build_encoder_layer(struct ag_ctx *ctx, struct ag_module *m)
{
	int64_t d = ag_module_int(m, "d_model"), ff = ag_module_int(m, "dim_feedforward");
	double eps = ag_module_float(m, "layer_norm_eps"), p = ag_module_float(m, "dropout");
	bool bias = ag_module_int(m, "bias") != 0;
	struct ag_value attention[9] = {ag_int(d),
	                                ag_int(ag_module_int(m, "nhead")),
	                                ag_float(p),
	                                ag_bool(bias),
	                                ag_bool(false),
	                                ag_bool(false),
	                                ag_none(),
	                                ag_none(),
	                                ag_bool(ag_module_int(m, "batch_first") != 0)};
	struct ag_value up[3] = {ag_int(d), ag_int(ff), ag_bool(bias)};
	struct ag_value down[3] = {ag_int(ff), ag_int(d), ag_bool(bias)};
	struct ag_value norm[4] = {ag_int(d), ag_float(eps), ag_bool(true), ag_bool(bias)};
	struct ag_value drop[1] = {ag_float(p)};

	return child(ctx, m, "self_attn", "MultiheadAttention", attention, 9) &&
	       child(ctx, m, "linear1", "Linear", up, 3) &&
	       child(ctx, m, "dropout", "Dropout", drop, 1) &&
	       child(ctx, m, "linear2", "Linear", down, 3) &&
	       child(ctx, m, "norm1", "LayerNorm", norm, 4) &&
	       child(ctx, m, "norm2", "LayerNorm", norm, 4) &&
	       child(ctx, m, "dropout1", "Dropout", drop, 1) &&
	       child(ctx, m, "dropout2", "Dropout", drop, 1);
}
