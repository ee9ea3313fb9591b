/* What layers do when they are called. */

#include <stdlib.h>
#include <string.h>

#include "runtime/module.h"
#include "runtime/op.h"

enum { MAX_WORDS = 12, WORD_LENGTH = 32 };

/* Words of modules.def's list: "weight", or "sizes:unflattened_size". */
static int split_words(const char *list, char words[MAX_WORDS][WORD_LENGTH])
{
	int n = 0;

	while (*list && n < MAX_WORDS) {
		size_t length = strcspn(list, " ");

		if (length >= WORD_LENGTH)
			break;
		memcpy(words[n], list, length);
		words[n++][length] = '\0';
		list += length + (list[length] == ' ');
	}
	return n;
}

/* BatchNorm counts its batches, and uses the batch when it keeps no statistics. */
static bool is_batch_norm(const struct ag_module *m)
{
	return m->id == AG_MODULE_BatchNorm1d || m->id == AG_MODULE_BatchNorm2d ||
	       m->id == AG_MODULE_BatchNorm3d;
}

static double average_factor(struct ag_ctx *ctx, struct ag_module *m)
{
	struct ag_tensor *count = ag_module_tensor(m, "num_batches_tracked");
	const struct ag_value *momentum = ag_module_find(m, "momentum");
	double batches = 1;

	if (momentum->kind != AG_NONE)
		return ag_value_float(momentum);
	if (count && ag_has_data(count))
		ag_item(ctx, count, &batches);
	return batches > 0 ? 1 / batches : 0;
}

static bool count_batch(struct ag_ctx *ctx, struct ag_module *m)
{
	struct ag_tensor *count = ag_module_tensor(m, "num_batches_tracked");
	struct ag_value v[2] = {ag_arg(count), ag_int(1)};
	struct ag_results results;
	bool good;

	if (!count || !m->training)
		return true;
	good = ag_run_op(ctx, AG_OP_add, true, v, 2, &results);
	ag_results_release(&results);
	return good;
}

static struct ag_value named(struct ag_ctx *ctx, struct ag_module *m, const char *name)
{
	struct ag_tensor *t = ag_module_tensor(m, name);
	const struct ag_value *v;

	if (t)
		return ag_arg(t);
	if (!strcmp(name, "training"))
		return ag_bool(m->training ||
		               (is_batch_norm(m) && !ag_module_tensor(m, "running_mean")));
	if (is_batch_norm(m) && !strcmp(name, "momentum"))
		return ag_float(average_factor(ctx, m));
	v = ag_module_find(m, name);
	if (v && v->kind == AG_BOOL && !strcmp(name, "bias"))
		return ag_none();
	return v && v->kind != AG_TENSOR ? *v : ag_none();
}

static bool run_function(struct ag_ctx *ctx, struct ag_module *m, const struct ag_args *args,
                         struct ag_results *results)
{
	const struct ag_module_info *info = ag_module_info(m->id);
	struct ag_keyword keywords[MAX_WORDS + AG_MAX_PARAMS];
	char words[MAX_WORDS][WORD_LENGTH];
	struct ag_args call = *args;
	int n = split_words(info->arguments, words), i;
	uint32_t k = 0;

	if (is_batch_norm(m) && !count_batch(ctx, m))
		return false;
	for (i = 0; i < n; i++) {
		char *colon = strchr(words[i], ':');

		if (colon)
			*colon = '\0';
		keywords[k].name = words[i];
		keywords[k].value = named(ctx, m, colon ? colon + 1 : words[i]);
		if (keywords[k].value.kind != AG_NONE)
			k++;
	}
	for (i = 0; i < (int)args->nkeywords && i < AG_MAX_PARAMS; i++)
		keywords[k++] = args->keywords[i];
	call.keywords = keywords;
	call.nkeywords = k;
	return ag_call(ctx, info->function, &call, results);
}

/* Children in order; what one gives is held until the next has read it. */
static bool run_container(struct ag_ctx *ctx, struct ag_module *m, const struct ag_args *args,
                          struct ag_results *results)
{
	struct ag_frame f = {.results = results};
	struct ag_args next = *args;
	struct ag_results out;
	struct ag_tensor *x;
	struct ag_value v;
	bool good = true;
	uint32_t i;

	if (!args->count || args->at[0].kind != AG_TENSOR || !args->at[0].as.tensor)
		return ag_fail(ctx, AG_ERR_TYPE, "Module [%s] takes a tensor", m->name);
	x = ag_retain(args->at[0].as.tensor);
	for (i = 0; i < m->nlinks && good && m->links[i].child; i++) {
		good = ag_module_call(ctx, m->links[i].child, &next, &out);
		ag_release(x);
		x = good ? ag_results_take(&out, 0) : NULL;
		ag_results_release(&out);
		v = ag_arg(x);
		next = (struct ag_args){&v, 1, NULL, 0};
	}
	return ag_give(&f, x);
}

/* ---- recurrent layers: input, optional states */

static struct ag_tensor *zero_state(struct ag_ctx *ctx, struct ag_module *m, struct ag_tensor *x,
                                    int64_t width)
{
	bool first = ag_module_int(m, "batch_first") != 0;
	int64_t shape[3];

	shape[0] = ag_module_int(m, "num_layers") * (ag_module_int(m, "bidirectional") ? 2 : 1);
	shape[1] = x->ndim == 3 ? x->shape[first ? 0 : 1] : 1;
	shape[2] = width;
	return op_zeros(ctx, (enum ag_dtype)x->dtype, 3, shape);
}

/* The results of one sequence without a batch lose the dimension that it was given. */
static bool drop_batch(struct ag_ctx *ctx, struct ag_results *results, int64_t batch_dim)
{
	uint32_t i;

	for (i = 0; i < results->count; i++) {
		struct ag_value v[2] = {ag_arg(results->at[i]), ag_int(i ? 1 : batch_dim)};
		struct ag_tensor *t = ag_run1(ctx, AG_OP_squeeze_dim, v, 2);

		if (!t)
			return false;
		ag_release(results->at[i]);
		results->at[i] = t;
	}
	return true;
}

/* State i of the call: a tensor argument, or an item of a tuple. */
static struct ag_tensor *state_of(const struct ag_args *args, uint32_t i)
{
	const struct ag_value *v;

	if (args->count < 2 || args->at[1].kind == AG_NONE)
		return NULL;
	v = &args->at[1];
	if (v->kind == AG_LIST)
		return i < v->count && v->as.list[i].kind == AG_TENSOR ? v->as.list[i].as.tensor
		                                                       : NULL;
	if (v->kind == AG_TENSOR && i == 0)
		return v->as.tensor;
	return args->count > 1 + i && args->at[1 + i].kind == AG_TENSOR ? args->at[1 + i].as.tensor
	                                                                : NULL;
}

static const char *recurrent_function(const struct ag_module *m)
{
	const struct ag_value *v = ag_module_find(m, "nonlinearity");
	bool relu = v && v->kind == AG_TEXT && v->count == 4 && !memcmp(v->as.text, "relu", 4);

	if (m->id == AG_MODULE_RNN && relu)
		return "torch.rnn_relu";
	if (m->id == AG_MODULE_RNNCell && relu)
		return "torch.rnn_relu_cell";
	return ag_module_info(m->id)->function;
}

/* Input and states as a batch; NULL states are zero. */
static bool recurrent_inputs(struct ag_ctx *ctx, struct ag_module *m, const struct ag_args *args,
                             struct ag_tensor **x, struct ag_value *states)
{
	struct ag_tensor *h = state_of(args, 0), *c = state_of(args, 1);
	int64_t hidden = ag_module_int(m, "hidden_size");
	int64_t proj = m->id == AG_MODULE_LSTM ? ag_module_int(m, "proj_size") : 0;

	if ((*x)->ndim != 3) {
		*x = op_unsqueeze(ctx, *x, ag_module_int(m, "batch_first") ? 0 : 1);
		h = h ? op_unsqueeze(ctx, h, 1) : NULL;
		c = c ? op_unsqueeze(ctx, c, 1) : NULL;
		if (!*x)
			return false;
	}
	h = h ? h : zero_state(ctx, m, *x, proj ? proj : hidden);
	if (m->id == AG_MODULE_LSTM && !c)
		c = zero_state(ctx, m, *x, hidden);
	states[0] = ag_arg(h);
	states[1] = ag_arg(c);
	return true;
}

static bool run_recurrent(struct ag_ctx *ctx, struct ag_module *m, const struct ag_args *args,
                          struct ag_results *results)
{
	struct ag_tensor *x =
	        args->count && args->at[0].kind == AG_TENSOR ? args->at[0].as.tensor : NULL;
	struct ag_value *params, states[2], v[9];
	struct ag_args call = {v, 9, NULL, 0};
	uint32_t i, n = 0;
	int64_t batch_dim = ag_module_int(m, "batch_first") ? 0 : 1;
	bool good, batch = x && x->ndim == 3;

	if (!x || (x->ndim != 3 && x->ndim != 2))
		return ag_fail(ctx, AG_ERR_VALUE,
		               "%s: Expected input to be 2D or 3D, got %dD instead", m->name,
		               x ? x->ndim : 0);
	if (!recurrent_inputs(ctx, m, args, &x, states))
		return false;
	params = ag_alloc(m->nslots, sizeof(*params));
	for (i = 0; i < m->nslots; i++) {
		if (m->slots[i].tensor)
			params[n++] = ag_arg(m->slots[i].tensor);
	}
	v[0] = ag_arg(x);
	v[1] = m->id == AG_MODULE_LSTM ? ag_list(states, 2) : states[0];
	v[2] = ag_list(params, n);
	v[3] = ag_bool(ag_module_int(m, "bias") != 0);
	v[4] = ag_int(ag_module_int(m, "num_layers"));
	v[5] = ag_float(ag_module_float(m, "dropout"));
	v[6] = ag_bool(m->training);
	v[7] = ag_bool(ag_module_int(m, "bidirectional") != 0);
	v[8] = ag_bool(ag_module_int(m, "batch_first") != 0);
	good = ag_call(ctx, recurrent_function(m), &call, results);
	free(params);
	return good && (batch || drop_batch(ctx, results, batch_dim));
}

static bool run_cell(struct ag_ctx *ctx, struct ag_module *m, const struct ag_args *args,
                     struct ag_results *results)
{
	struct ag_tensor *x =
	        args->count && args->at[0].kind == AG_TENSOR ? args->at[0].as.tensor : NULL;
	static const char *const names[4] = {"weight_ih", "weight_hh", "bias_ih", "bias_hh"};
	struct ag_tensor *h = state_of(args, 0), *c = state_of(args, 1);
	struct ag_value states[2], v[6];
	struct ag_args call = {v, 6, NULL, 0};
	int64_t shape[2];
	int i;

	if (!x || x->ndim != 2)
		return ag_fail(ctx, AG_ERR_RUNTIME, "%s: Expected input to be 2D, got %dD instead",
		               m->name, x ? x->ndim : 0);
	shape[0] = x->shape[0];
	shape[1] = ag_module_int(m, "hidden_size");
	h = h ? h : op_zeros(ctx, (enum ag_dtype)x->dtype, 2, shape);
	if (m->id == AG_MODULE_LSTMCell && !c)
		c = op_zeros(ctx, (enum ag_dtype)x->dtype, 2, shape);
	states[0] = ag_arg(h);
	states[1] = ag_arg(c);
	v[0] = ag_arg(x);
	v[1] = m->id == AG_MODULE_LSTMCell ? ag_list(states, 2) : ag_arg(h);
	for (i = 0; i < 4; i++) {
		struct ag_tensor *t = ag_module_tensor(m, names[i]);

		v[2 + i] = t ? ag_arg(t) : ag_none();
	}
	return ag_call(ctx, recurrent_function(m), &call, results);
}

/* ---- attention */

static const struct ag_value *keyword(const struct ag_args *args, const char *name)
{
	uint32_t i;

	for (i = 0; i < args->nkeywords; i++) {
		if (!strcmp(args->keywords[i].name, name))
			return &args->keywords[i].value;
	}
	return NULL;
}

/* Position i of forward(query, key, value, key_padding_mask, need_weights, attn_mask). */
static struct ag_value input_at(const struct ag_args *args, uint32_t i, const char *name)
{
	const struct ag_value *v = keyword(args, name);

	if (v)
		return *v;
	return i < args->count ? args->at[i] : ag_none();
}

static bool turn_batch(struct ag_ctx *ctx, struct ag_tensor **q, struct ag_tensor **k,
                       struct ag_tensor **v)
{
	bool same_kv = *k == *v, same_qk = *q == *k;

	*q = op_transpose(ctx, *q, 1, 0);
	*k = same_qk && same_kv ? *q : op_transpose(ctx, *k, 1, 0);
	*v = same_kv ? *k : op_transpose(ctx, *v, 1, 0);
	return *q && *k && *v;
}

static bool run_attention(struct ag_ctx *ctx, struct ag_module *m, const struct ag_args *args,
                          struct ag_results *results)
{
	static const char *const names[6] = {
	        "query", "key", "value", "key_padding_mask", "need_weights", "attn_mask"};
	struct ag_module *out = ag_module_child(m, "out_proj");
	struct ag_value in[6], v[19];
	struct ag_tensor *t[3];
	bool batch_first = ag_module_int(m, "batch_first") != 0;
	const struct ag_value *average = keyword(args, "average_attn_weights");
	const struct ag_value *causal = keyword(args, "is_causal");
	int i;

	if (!out)
		return ag_fail(ctx, AG_ERR_TYPE, "MultiheadAttention has no out_proj");
	for (i = 0; i < 6; i++)
		in[i] = input_at(args, (uint32_t)i, names[i]);
	for (i = 0; i < 3; i++) {
		if (in[i].kind != AG_TENSOR || !in[i].as.tensor || in[i].as.tensor->ndim != 3)
			return ag_fail(ctx, AG_ERR_RUNTIME, "%s should be a batched 3-D tensor",
			               names[i]);
		t[i] = in[i].as.tensor;
	}
	if (batch_first && !turn_batch(ctx, &t[0], &t[1], &t[2]))
		return false;
	for (i = 0; i < 3; i++)
		v[i] = ag_arg(t[i]);
	v[3] = ag_int(ag_module_int(m, "embed_dim"));
	v[4] = ag_int(ag_module_int(m, "num_heads"));
	v[5] = named(ctx, m, "in_proj_weight");
	v[6] = named(ctx, m, "in_proj_bias");
	v[7] = v[8] = ag_none();
	v[9] = ag_bool(false);
	v[10] = ag_float(ag_module_float(m, "dropout"));
	v[11] = named(ctx, out, "weight");
	v[12] = named(ctx, out, "bias");
	v[13] = ag_bool(m->training);
	v[14] = in[3];
	v[15] = in[4].kind == AG_NONE ? ag_bool(true) : in[4];
	v[16] = in[5];
	v[17] = average ? *average : ag_bool(true);
	v[18] = causal ? *causal : ag_bool(false);
	if (!ag_run_op(ctx, AG_OP_multi_head_attention, false, v, 19, results))
		return false;
	if (batch_first) {
		struct ag_value turn[3] = {ag_arg(results->at[0]), ag_int(1), ag_int(0)};
		struct ag_tensor *turned = ag_run1(ctx, AG_OP_transpose, turn, 3);

		ag_release(results->at[0]);
		results->at[0] = turned;
		return turned != NULL;
	}
	return true;
}

/* ---- the transformer's encoder layer */

static struct ag_tensor *call_child(struct ag_ctx *ctx, struct ag_module *m, const char *name,
                                    struct ag_tensor *x)
{
	return scoped(ctx, ag_module_forward(ctx, ag_module_child(m, name), x));
}

static struct ag_tensor *activation(struct ag_ctx *ctx, const struct ag_module *m,
                                    struct ag_tensor *x)
{
	const struct ag_value *v = ag_module_find(m, "activation");
	struct ag_value a[1] = {ag_arg(x)};

	if (v->kind == AG_TEXT && v->count == 4 && !memcmp(v->as.text, "gelu", 4))
		return op_call(ctx, AG_OP_gelu, a, 1);
	return op_relu(ctx, x);
}

static struct ag_tensor *feed_forward(struct ag_ctx *ctx, struct ag_module *m, struct ag_tensor *x)
{
	x = activation(ctx, m, call_child(ctx, m, "linear1", x));
	x = call_child(ctx, m, "linear2", call_child(ctx, m, "dropout", x));
	return call_child(ctx, m, "dropout2", x);
}

static struct ag_tensor *self_attention(struct ag_ctx *ctx, struct ag_module *m,
                                        struct ag_tensor *x, const struct ag_args *args)
{
	struct ag_value v[6];
	struct ag_args call = {v, 6, NULL, 0};
	struct ag_results results;
	struct ag_tensor *out;

	v[0] = v[1] = v[2] = ag_arg(x);
	v[3] = input_at(args, 2, "src_key_padding_mask");
	v[4] = ag_bool(false);
	v[5] = input_at(args, 1, "src_mask");
	if (!x || !ag_module_call(ctx, ag_module_child(m, "self_attn"), &call, &results))
		return NULL;
	out = scoped(ctx, ag_results_take(&results, 0));
	ag_results_release(&results);
	return call_child(ctx, m, "dropout1", out);
}

static bool run_encoder_layer(struct ag_ctx *ctx, struct ag_module *m, const struct ag_args *args,
                              struct ag_results *results)
{
	struct ag_tensor *x =
	        args->count && args->at[0].kind == AG_TENSOR ? args->at[0].as.tensor : NULL;
	struct ag_frame f = {.results = results};

	if (ag_module_int(m, "norm_first")) {
		x = op_add(ctx, x, self_attention(ctx, m, call_child(ctx, m, "norm1", x), args));
		x = op_add(ctx, x, feed_forward(ctx, m, call_child(ctx, m, "norm2", x)));
	} else {
		x = call_child(ctx, m, "norm1", op_add(ctx, x, self_attention(ctx, m, x, args)));
		x = call_child(ctx, m, "norm2", op_add(ctx, x, feed_forward(ctx, m, x)));
	}
	return ag_give(&f, ag_retain(x));
}

typedef bool forward_fn(struct ag_ctx *ctx, struct ag_module *m, const struct ag_args *args,
                        struct ag_results *results);

static forward_fn *forward_of(const struct ag_module *m)
{
	switch (m->id) {
	case AG_MODULE_CONTAINER:
	case AG_MODULE_Identity:
		return run_container;
	case AG_MODULE_RNN:
	case AG_MODULE_LSTM:
	case AG_MODULE_GRU:
		return run_recurrent;
	case AG_MODULE_RNNCell:
	case AG_MODULE_LSTMCell:
	case AG_MODULE_GRUCell:
		return run_cell;
	case AG_MODULE_MultiheadAttention:
		return run_attention;
	case AG_MODULE_TransformerEncoderLayer:
		return run_encoder_layer;
	default:
		return run_function;
	}
}

bool ag_module_run(struct ag_ctx *ctx, struct ag_module *m, const struct ag_args *args,
                   struct ag_results *results)
{
	size_t mark = ag_scope_open(ctx);
	bool good = forward_of(m)(ctx, m, args, results);

	ag_scope_close(ctx, mark);
	return good;
}
