/* Bytes as calls of everything that ag.h offers, with arguments that may fit or not: ops by name
 * and by number, indexing, layers, optimizers, backward, hooks, functions, checkpoints, regions
 * and modes. Each call gives a result or an error that says so, and afterwards nothing is alive
 * but what refers to itself. */

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/bug.h"
#include "tests/hostile.h"

enum { MOST_CALLS = 40, MOST_DEPTH = 3 };

struct row {
	const char *name, *signature;
};

static const struct row modules[] = {
#define MODULE(name, signature, function, settings, run) {#name, signature},
#include "runtime/modules.def"
#undef MODULE
};

static const struct row optimizers[] = {
#define OPTIM(name, signature, step) {#name, signature},
#include "runtime/optims.def"
#undef OPTIM
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- ops */

static void call_op(struct hostile *h)
{
	enum ag_op op = (enum ag_op)((hostile_byte(h) * 256 + hostile_byte(h)) % (AG_OP_COUNT + 1));
	const struct ag_op_info *info = ag_op_info(op);
	struct ag_results results;
	struct hostile_args a;
	char name[64] = "";
	size_t length = info && info->names ? strcspn(info->names, " ") : 0;
	bool inplace, by_name;

	if (length + 2 > sizeof(name))
		return;
	if (length)
		memcpy(name, info->names, length);
	by_name = hostile_byte(h) % 2;
	hostile_read(h, length ? info->signature : "T input", by_name, &a);
	inplace = hostile_byte(h) % 4 == 0;
	if (inplace)
		name[length] = '_';
	hostile_check(h,
	              by_name ? ag_call(h->ctx, name, &a.args, &results)
	                      : ag_call_op(h->ctx, op, inplace, a.args.at, a.args.count, &results));
	hostile_put_results(h, &results);
}

static void call_index(struct hostile *h)
{
	struct ag_index index[3] = {{.kind = AG_AT}};
	uint32_t count = hostile_byte(h) % 4, i;
	struct ag_tensor *t = hostile_some(h), *out;

	for (i = 0; i < count; i++) {
		unsigned bits = hostile_byte(h);

		index[i].kind = (enum ag_index_kind)(bits % 5);
		index[i].start = hostile_number(h);
		index[i].stop = hostile_number(h);
		index[i].step = bits & 64 ? hostile_number(h) : 0;
		index[i].has_start = bits & 16;
		index[i].has_stop = bits & 32;
		index[i].tensor = hostile_some(h);
	}
	if (!t)
		return;
	if (hostile_byte(h) % 2) {
		out = ag_index(h->ctx, t, index, count);
		hostile_check(h, out != NULL);
		hostile_put(h, out);
	} else {
		struct ag_value value = hostile_value(h, hostile_byte(h) < 240 ? 'X' : 'v', 0);

		hostile_check(h, ag_index_put(h->ctx, t, index, count, &value));
	}
}

/* ---- layers and optimizers */

static bool module_hook(struct ag_ctx *ctx, void *data, struct ag_module *m,
                        struct ag_tensor **tensors, uint32_t count)
{
	(void)m;
	(void)tensors;
	(void)count;
	if (hostile_byte(data) % 8)
		return true;
	ag_raise(ctx, AG_ERR_RUNTIME, "refused");
	return false;
}

static bool result_hook(struct ag_ctx *ctx, void *data, struct ag_module *m,
                        struct ag_tensor **tensors, uint32_t count)
{
	struct hostile *h = data;

	(void)ctx;
	(void)m;
	if (count && hostile_byte(h) % 4 == 0) {
		ag_release(tensors[0]);
		tensors[0] = ag_retain(hostile_some(h));
	}
	return true;
}

static void change_layer(struct hostile *h, struct ag_module *m, struct ag_module *other)
{
	struct ag_closure closure = {h, NULL, NULL};
	enum ag_dtype dtype = hostile_dtype(h);
	enum ag_device device = (enum ag_device)(hostile_byte(h) % 3);

	switch (hostile_byte(h) % 9) {
	case 0:
		hostile_check(h, ag_module_to(h->ctx, m, &dtype, NULL));
		break;
	case 1:
		hostile_check(h, ag_module_to(h->ctx, m, NULL, &device));
		break;
	case 2:
		hostile_check(
		        h, ag_module_to_format(h->ctx, m, (enum ag_format)(hostile_byte(h) % 5)));
		break;
	case 3:
		ag_module_set_tensor(h->ctx, m, (enum ag_slot_kind)(hostile_byte(h) % 2), "weight",
		                     hostile_some(h));
		break;
	case 4:
		ag_module_set_child(h->ctx, m, hostile_byte(h) % 2 ? "linear1" : "0", other);
		break;
	case 5:
		ag_module_forward_hook(h->ctx, m, result_hook, closure);
		break;
	case 6:
		ag_module_hook_remove(m,
		                      ag_module_forward_pre_hook(h->ctx, m, module_hook, closure) -
		                              hostile_byte(h) % 2);
		break;
	case 7:
		ag_module_train(m, hostile_byte(h) % 2);
		break;
	default:
		ag_module_requires_grad(h->ctx, m, hostile_byte(h) % 2);
		break;
	}
}

static void run_layer(struct hostile *h, struct ag_module *m)
{
	struct ag_results results;
	struct hostile_args a;

	hostile_read(h, "T x, T y, T z", false, &a);
	hostile_check(h, ag_module_call(h->ctx, m, &a.args, &results));
	hostile_put_results(h, &results);
}

static struct ag_module *new_layer(struct hostile *h)
{
	const struct row *row = &modules[hostile_byte(h) % (sizeof(modules) / sizeof(modules[0]))];
	struct hostile_args a;
	struct ag_module *m;

	hostile_read(h, row->signature, true, &a);
	m = ag_module_new(h->ctx, row->name, &a.args);
	hostile_check(h, m != NULL);
	return m;
}

/* A layer that was put into itself would stay. */
static void free_layer(struct hostile *h, struct ag_module *m)
{
	ag_module_set_child(h->ctx, m, "linear1", NULL);
	ag_module_set_child(h->ctx, m, "0", NULL);
	ag_module_release(m);
}

static void call_layer(struct hostile *h)
{
	struct ag_module *m = new_layer(h), *other = NULL, *copy;
	unsigned i, changes;

	if (!m)
		return;
	run_layer(h, m);
	changes = hostile_byte(h) % 4;
	if (changes && hostile_byte(h) % 2) {
		other = hostile_byte(h) % 2 ? new_layer(h) : ag_module_container(h->ctx, "M");
		if (other)
			ag_module_set_child(h->ctx, other, "0", m);
	}
	for (i = 0; i < changes; i++)
		change_layer(h, m, hostile_byte(h) % 4 ? NULL : m);
	if (changes)
		run_layer(h, other ? other : m);
	if (hostile_byte(h) % 8 == 1) {
		copy = ag_module_copy(h->ctx, m);
		run_layer(h, copy);
		free_layer(h, copy);
	}
	ag_module_zero_grad(h->ctx, m, hostile_byte(h) % 2);
	ag_module_release(other);
	free_layer(h, m);
}

static void clip(struct hostile *h, struct ag_tensor *const *params)
{
	struct ag_tensor *total = NULL;

	if (hostile_byte(h) % 2)
		hostile_check(h, ag_clip_grad_value(h->ctx, params, 2, hostile_real(h)));
	else
		hostile_check(h, ag_clip_grad_norm(h->ctx, params, 2, hostile_real(h),
		                                   hostile_real(h), &total));
	hostile_put(h, total);
}

static void call_optimizer(struct hostile *h)
{
	const struct row *row =
	        &optimizers[hostile_byte(h) % (sizeof(optimizers) / sizeof(optimizers[0]))];
	struct ag_tensor *params[2];
	struct hostile_args a;
	struct ag_optim *opt;
	unsigned i, steps;

	params[0] = hostile_some(h);
	params[1] = hostile_some(h);
	hostile_read(h, row->signature, true, &a);
	opt = ag_optim_new(h->ctx, row->name, params, 2, &a.args);
	hostile_check(h, opt != NULL);
	if (!opt)
		return;
	steps = hostile_byte(h) % 3;
	for (i = 0; i <= steps; i++) {
		hostile_check(h, ag_optim_step(h->ctx, opt));
		if (hostile_byte(h) % 4 == 1)
			clip(h, params);
		if (hostile_byte(h) % 4 == 1 && hostile_some(h))
			ag_set_data(h->ctx, params[0], hostile_some(h));
		ag_optim_set(opt, hostile_byte(h) % 2, "lr", hostile_real(h));
	}
	if (hostile_byte(h) % 4 == 1)
		hostile_check(h, ag_optim_add_group(h->ctx, opt, params, 1, &a.args));
	ag_optim_zero_grad(h->ctx, opt, hostile_byte(h) % 2);
	ag_optim_release(opt);
}

/* ---- graphs */

static struct ag_tensor *gradient_hook(struct ag_ctx *ctx, void *data, struct ag_tensor *grad)
{
	struct hostile *h = data;
	unsigned what = hostile_byte(h);

	(void)grad;
	if (what < 128)
		return NULL;
	if (what < 200)
		return ag_retain(hostile_some(h));
	ag_raise(ctx, AG_ERR_RUNTIME, "refused");
	return NULL;
}

static bool node_hook(struct ag_ctx *ctx, void *data, struct ag_tensor **grad_inputs,
                      uint32_t ninputs, struct ag_tensor *const *grad_outputs, uint32_t noutputs)
{
	struct hostile *h = data;

	(void)ctx;
	(void)grad_outputs;
	(void)noutputs;
	if (ninputs && hostile_byte(h) % 2) {
		ag_release(grad_inputs[0]);
		grad_inputs[0] = ag_retain(hostile_some(h));
	}
	return true;
}

static void call_hook(struct hostile *h)
{
	struct ag_closure closure = {h, NULL, NULL};
	struct ag_tensor *t = hostile_some(h);
	uint64_t handle;

	if (!t)
		return;
	switch (hostile_byte(h) % 3) {
	case 0:
		handle = ag_tensor_hook(h->ctx, t, gradient_hook, closure);
		break;
	case 1:
		handle = ag_post_accumulate_hook(h->ctx, t, gradient_hook, closure);
		break;
	default:
		handle = ag_node_hook(h->ctx, ag_grad_fn(h->ctx, t), node_hook, closure);
		break;
	}
	hostile_check(h, handle != 0);
	if (hostile_byte(h) % 4 == 0)
		ag_hook_remove(h->ctx, handle);
}

static void call_backward(struct hostile *h)
{
	unsigned flags = hostile_byte(h) % 8;
	struct ag_tensor *t = hostile_some(h), *out[2] = {NULL}, *inputs[2], *roots[2];
	struct ag_tensor *grad = hostile_byte(h) % 2 ? hostile_some(h) : NULL, *grads[2] = {grad};

	roots[0] = t;
	roots[1] = inputs[0] = hostile_some(h);
	if (!t)
		return;
	switch (hostile_byte(h) % 4) {
	case 0:
		if (!inputs[0])
			break;
		hostile_check(h,
		              ag_grad(h->ctx, &t, grad ? &grad : NULL, 1, inputs, 1, flags, out));
		hostile_put(h, out[0]);
		break;
	case 1:
		inputs[1] = hostile_some(h);
		hostile_check(h, ag_backward_many(h->ctx, roots, grads, 2, inputs,
		                                  hostile_byte(h) % 3, flags));
		break;
	default:
		hostile_check(h, ag_backward(h->ctx, t, grad, flags));
		break;
	}
}

static void step(struct hostile *h);

/* What a checkpoint runs: a call or two. */
static bool region_run(struct ag_ctx *ctx, void *data, struct ag_tensor *const *inputs,
                       uint32_t ninputs, struct ag_results *outputs)
{
	struct hostile *h = data;
	struct ag_value v[2];
	unsigned what = hostile_byte(h);

	if (what % 4 == 0 && h->depth < MOST_DEPTH) {
		h->depth++;
		step(h);
		h->depth--;
	}
	v[0] = ag_arg(ninputs ? inputs[0] : NULL);
	v[1] = ag_arg(ninputs > 1 ? inputs[1] : NULL);
	if (what % 8 == 1)
		ag_error_clear(ctx);
	return ag_call_op(ctx, what % 2 ? AG_OP_mul : AG_OP_exp, false, v, what % 2 ? 2 : 1,
	                  outputs);
}

static void call_checkpoint(struct hostile *h)
{
	struct ag_closure closure = {h, NULL, NULL};
	struct ag_tensor *inputs[2];
	struct ag_results outputs;
	unsigned bits = hostile_byte(h);
	bool good;

	inputs[0] = ag_retain(hostile_some(h));
	inputs[1] = ag_retain(hostile_some(h));
	good = ag_checkpoint(h->ctx, region_run, closure, inputs, 2, bits & 1, bits & 2, &outputs);
	hostile_check(h, good);
	if (!good)
		ag_results_release(&outputs);
	else
		hostile_put_results(h, &outputs);
	ag_release(inputs[0]);
	ag_release(inputs[1]);
}

static bool function_backward(struct ag_ctx *ctx, void *data, struct ag_custom *fn,
                              struct ag_tensor *const *grads, uint32_t ngrads,
                              struct ag_tensor **grad_inputs, uint32_t ninputs)
{
	struct hostile *h = data;
	uint32_t i;

	for (i = 0; i < ninputs; i++) {
		unsigned what = hostile_byte(h);

		grad_inputs[i] = what < 100   ? ag_retain(i < ngrads ? grads[i] : NULL)
		                 : what < 180 ? ag_custom_saved(fn, what % 3)
		                              : ag_retain(hostile_some(h));
	}
	if (hostile_byte(h) < 240)
		return true;
	ag_raise(ctx, AG_ERR_RUNTIME, "refused");
	return false;
}

static void call_function(struct hostile *h)
{
	struct ag_closure closure = {h, NULL, NULL};
	struct ag_custom *fn = ag_custom_begin(h->ctx, "Hostile", function_backward, closure);
	struct ag_tensor *inputs[2], *saved[2], *outputs[1];
	unsigned bits;

	bits = hostile_byte(h);
	if (bits & 1)
		call_op(h);
	inputs[0] = hostile_some(h);
	inputs[1] = hostile_some(h);
	outputs[0] = ag_retain(hostile_some(h));
	saved[0] = hostile_some(h);
	saved[1] = outputs[0];
	ag_custom_save(fn, saved, 2);
	if (bits & 2 && outputs[0])
		ag_custom_mark_dirty(fn, outputs[0]);
	if (bits & 4 && outputs[0])
		ag_custom_mark_no_grad(fn, outputs[0]);
	if (!outputs[0] || bits & 8) {
		ag_custom_cancel(fn);
		ag_release(outputs[0]);
		return;
	}
	ag_error_clear(h->ctx);
	hostile_check(h, ag_custom_end(fn, inputs, 2, outputs, 1));
	hostile_put(h, outputs[0]);
}

/* ---- single tensors */

static void look_at(struct hostile *h, struct ag_tensor *t)
{
	double values[64];
	char text[200];
	int64_t whole;

	ag_print(t, text, sizeof(text));
	ag_item_int(h->ctx, t, &whole);
	if (ag_numel(t) <= 64) {
		hostile_check(h, ag_read(h->ctx, t, values, ag_numel(t)));
		hostile_check(h, ag_write(h->ctx, t, values, ag_numel(t)));
	}
	ag_is_contiguous_in(t, (enum ag_format)(hostile_byte(h) % 5));
	ag_cycles(h->ctx);
}

static void make_of_list(struct hostile *h)
{
	enum ag_dtype dtype = hostile_dtype(h);
	struct ag_value outer[3], data;
	uint32_t i;

	for (i = 0; i < 3; i++)
		outer[i] = hostile_value(h, hostile_byte(h) % 4 ? 'I' : 'v', i);
	data = ag_list(outer, hostile_byte(h) % 4);
	hostile_put(h, ag_tensor_of(h->ctx, &data, hostile_byte(h) % 2 ? &dtype : NULL,
	                            hostile_byte(h) % 2));
}

static void call_tensor(struct hostile *h)
{
	struct ag_tensor *t = hostile_some(h), *other = hostile_some(h);
	double value;

	if (!t)
		return;
	switch (hostile_byte(h) % 8) {
	case 0:
		ag_set_requires_grad(h->ctx, t, hostile_byte(h) % 2);
		break;
	case 1:
		ag_retain_grad(h->ctx, t);
		break;
	case 2:
		if (other)
			ag_set_data(h->ctx, t, other);
		break;
	case 3:
		hostile_put(h, ag_data_of(h->ctx, t));
		break;
	case 4:
		ag_set_grad(h->ctx, t, hostile_byte(h) < 200 ? NULL : other);
		break;
	case 5:
		ag_item(h->ctx, t, &value);
		look_at(h, t);
		break;
	case 6:
		hostile_put(h, ag_parameter(h->ctx, t, hostile_byte(h) % 2));
		break;
	default:
		hostile_put(h, ag_opaque(h->ctx, &t, 1, AG_F32, ag_ndim(t), ag_shape(t),
		                         hostile_byte(h) % 2));
		break;
	}
}

/* ---- the typed calls, which look at nothing before the op does */

static void call_typed(struct hostile *h)
{
	struct ag_tensor *a = hostile_some(h), *b = hostile_some(h), *c = hostile_some(h);
	int64_t shape[3] = {hostile_number(h), hostile_number(h), hostile_number(h)};
	int ndim = (int)hostile_number(h);

	ndim = ndim > 3 && ndim <= AG_MAX_DIMS ? 3 : ndim;
	switch (hostile_byte(h) % 8) {
	case 0:
		hostile_put(h, ag_view(h->ctx, a, ndim, shape));
		break;
	case 1:
		hostile_put(h, ag_transpose(h->ctx, a, ndim, (int)shape[0]));
		break;
	case 2:
		hostile_put(h, ag_select(h->ctx, a, ndim, shape[0]));
		break;
	case 3:
		hostile_put(h, ag_slice(h->ctx, a, ndim, shape[0], shape[1]));
		break;
	case 4:
		hostile_put(h, ag_linear(h->ctx, a, b, c));
		break;
	case 5:
		hostile_put(h, ag_randn(h->ctx, ndim, shape));
		break;
	case 6:
		ag_add_(h->ctx, a, b, hostile_real(h));
		break;
	default:
		c = ag_pow_number(h->ctx, b, hostile_real(h));
		hostile_put(h, ag_cross_entropy(h->ctx, a, c));
		ag_release(c);
		break;
	}
}

/* ---- modes and regions */

static void call_setting(struct hostile *h)
{
	switch (hostile_byte(h) % 7) {
	case 0:
		ag_set_meta(h->ctx, hostile_byte(h) % 2);
		break;
	case 1:
		ag_set_default_dtype(h->ctx, hostile_dtype(h));
		break;
	case 2:
		ag_set_default_device(h->ctx, (enum ag_device)(hostile_byte(h) % 3));
		break;
	case 3:
		ag_set_site(h->ctx, (uint32_t)hostile_number(h));
		break;
	case 4:
		ag_manual_seed(h->ctx, (uint64_t)hostile_number(h));
		break;
	case 5:
		ag_empty_cache(h->ctx);
		break;
	default:
		ag_set_grad_mode(h->ctx,
		                 (struct ag_grad_mode){hostile_byte(h) % 2, hostile_byte(h) % 2});
		break;
	}
}

static void call_mode(struct hostile *h)
{
	struct ag_autocast region = {hostile_byte(h) % 2, hostile_byte(h) % 2 ? AG_BF16 : AG_F16,
	                             true};
	enum ag_device device = AG_CPU;
	struct ag_autocast before;
	unsigned i, calls = hostile_byte(h) % 4, bits = hostile_byte(h);

	if (bits % 4 == 0) {
		ag_set_grad_mode(h->ctx, (struct ag_grad_mode){hostile_byte(h) % 2, false});
		return;
	}
	if (bits >= 200) {
		region.dtype = hostile_dtype(h);
		region.cache = bits & 1;
		device = (enum ag_device)(hostile_byte(h) % 3);
	}
	before = ag_autocast_enter(h->ctx, device, region);
	for (i = 0; i < calls; i++)
		call_op(h);
	if (bits % 8 == 1)
		ag_autocast_forget(h->ctx);
	ag_autocast_exit(h->ctx, device, before);
	if (bits % 16 == 3)
		ag_autocast_set(h->ctx, device, region);
}

static void call_more(struct hostile *h)
{
	static void (*const calls[])(struct hostile *) = {
	        call_hook,    call_checkpoint, call_function,      make_of_list,
	        call_setting, call_typed,      hostile_look_around};

	calls[hostile_byte(h) % (sizeof(calls) / sizeof(calls[0]))](h);
}

static void step(struct hostile *h)
{
	static void (*const calls[])(struct hostile *) = {
	        call_layer, call_optimizer, call_index, call_tensor, call_mode, call_backward};
	unsigned what = hostile_byte(h);

	ag_error_clear(h->ctx);
	if (what < 32)
		hostile_put(h, hostile_fresh(h));
	else if (what < 160)
		call_op(h);
	else if (what < 232)
		calls[what % 6](h);
	else
		call_more(h);
}

static void nothing_is_left(struct hostile *h)
{
	struct ag_garbage garbage;
	struct ag_memory memory;
	int i;

	for (i = 0; i < HOSTILE_SLOTS; i++)
		ag_release(h->slots[i]);
	ag_autocast_forget(h->ctx);
	ag_memory(h->ctx, &memory);
	if (!memory.tensors && !memory.nodes)
		return;
	ag_find_garbage(h->ctx, &garbage);
	BUG_IF(garbage.tensors == 0 && garbage.nodes == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hostile *h = calloc(1, sizeof(*h));
	struct ag_options options = {
	        .byte_cap = 1 << 26, .data_cap = 1 << 16, .work_cap = 1e7, .node_cap = 20000};
	unsigned bits;
	int i;

	BUG_IF(!h);
	h->at = data;
	h->end = data + size;
	options.meta = hostile_byte(h) % 4 == 0;
	bits = hostile_byte(h);
	if (bits % 4 == 0)
		options.byte_cap = 0;
	options.model_caching = bits >= 224;
	h->ctx = ag_open(&options);
	for (i = 0; i < 4; i++)
		hostile_put(h, hostile_fresh(h));
	for (i = 0; i < MOST_CALLS && h->at < h->end; i++)
		step(h);
	nothing_is_left(h);
	ag_close(h->ctx);
	free(h);
	return 0;
}
