#include "analyzer/replay/assume.h"
#include "analyzer/replay/torch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NATIVE(name) static struct val name(struct vm *vm, struct val *a, uint32_t n)

/* --- grad modes: 0 off, 1 on, 2 inference */

NATIVE(mode_get)
{
	struct ag_grad_mode mode = ag_grad_mode(ctx_of(vm));

	(void)a, (void)n;
	return val_int(mode.inference ? 2 : mode.enabled);
}

NATIVE(mode_set)
{
	int64_t mode;

	(void)n;
	if (!rp_index(vm, a[0], &mode))
		return val_null();
	ag_set_grad_mode(ctx_of(vm), (struct ag_grad_mode){mode == 1, mode == 2});
	return val_none();
}

/* Sets the mode and gives the one before. */
NATIVE(mode_swap)
{
	struct val before = mode_get(vm, a, n);

	return is_null(mode_set(vm, a, n)) ? val_null() : before;
}

NATIVE(is_grad_enabled)
{
	(void)a, (void)n;
	return val_bool(ag_grad_mode(ctx_of(vm)).enabled);
}

/* --- callbacks own a Python function */

struct callback {
	struct vm *vm;
	struct val fn;
	struct val ctx;    /* of a Function: its context object */
	struct val *flags; /* which arguments were tensors */
	uint32_t nflags;
	struct val *first; /* of a checkpoint: where its first result goes */
};

static void callback_release(void *data)
{
	struct callback *c = data;

	if (!c->vm->at_close) {
		unref(c->vm, c->fn);
		unref(c->vm, c->ctx);
	}
	free(c->flags);
	free(c);
}

struct walk_pair {
	ag_visit_fn *fn;
	void *walk;
};

static bool visit_held(void *walk, struct val child, const char *role, struct val key)
{
	struct walk_pair *pair = walk;

	(void)key;
	if (is_kind(child, K_TENSOR) && !(child.as.o->flags & OBJ_PRESERVED))
		pair->fn(pair->walk, tensor_of(child), NULL, role);
	else if (is_kind(child, K_CELL) || is_kind(child, K_DICT) || is_kind(child, K_LIST) ||
	         is_kind(child, K_TUPLE))
		rp_visit(NULL, child.as.o, visit_held, walk);
	return true;
}

static void callback_visit(void *data, ag_visit_fn *fn, void *walk)
{
	struct callback *c = data;
	struct walk_pair pair = {fn, walk};

	if (is_kind(c->fn, K_FUNCTION))
		rp_visit(c->vm, c->fn.as.o, visit_held, &pair);
	if (c->ctx.tag == PY_OBJECT && c->ctx.as.o->attrs)
		rp_visit(c->vm, &c->ctx.as.o->attrs->h, visit_held, &pair);
}

static struct ag_closure closure_of(struct vm *vm, struct val fn, struct val ctx,
                                    struct callback **out)
{
	struct callback *c = checked_alloc(1, sizeof(*c));

	memset(c, 0, sizeof(*c));
	c->vm = vm;
	c->fn = ref(fn);
	c->ctx = ref(ctx);
	if (out)
		*out = c;
	return (struct ag_closure){c, callback_release, callback_visit};
}

static struct ag_tensor *hook_run(struct ag_ctx *ctx, void *data, struct ag_tensor *grad)
{
	struct callback *c = data;
	struct val wrapped = torch_wrap_ref(c->vm, grad), fn = ref(c->fn), result;
	struct ag_tensor *replacement = NULL;

	result = rp_call1(c->vm, fn, wrapped);
	unref(c->vm, wrapped);
	unref(c->vm, fn);
	if (is_null(result))
		ag_raise(ctx, AG_ERR_RUNTIME, "exception in a hook");
	else if (is_kind(result, K_TENSOR))
		replacement = ag_retain(tensor_of(result));
	unref(c->vm, result);
	return replacement;
}

NATIVE(hook_tensor)
{
	uint64_t id = ag_tensor_hook(ctx_of(vm), tensor_of(a[0]), hook_run,
	                             closure_of(vm, a[1], val_null(), NULL));

	(void)n;
	return id ? val_int((int64_t)id) : torch_raise(vm);
}

NATIVE(hook_accumulate)
{
	uint64_t id = ag_post_accumulate_hook(ctx_of(vm), tensor_of(a[0]), hook_run,
	                                      closure_of(vm, a[1], val_null(), NULL));

	(void)n;
	return id ? val_int((int64_t)id) : torch_raise(vm);
}

static struct val tuple_of_tensors(struct vm *vm, struct ag_tensor *const *at, uint32_t count)
{
	struct list *t = tuple_new(vm, count);

	for (uint32_t i = 0; i < count; i++)
		t->at[i] = torch_wrap_ref(vm, at[i]);
	return val_obj(t);
}

static bool node_hook_run(struct ag_ctx *ctx, void *data, struct ag_tensor **grad_inputs,
                          uint32_t ninputs, struct ag_tensor *const *grad_outputs,
                          uint32_t noutputs)
{
	struct callback *c = data;
	struct val inputs = tuple_of_tensors(c->vm, grad_inputs, ninputs);
	struct val outputs = tuple_of_tensors(c->vm, grad_outputs, noutputs), result;

	result = rp_call2(c->vm, c->fn, inputs, outputs);
	unref(c->vm, inputs);
	unref(c->vm, outputs);
	if (is_null(result)) {
		ag_raise(ctx, AG_ERR_RUNTIME, "exception in a hook");
		return false;
	}
	for (uint32_t i = 0; is_kind(result, K_TUPLE) && i < ninputs && i < AS(list, result)->count;
	     i++) {
		struct val v = AS(list, result)->at[i];

		if (!is_kind(v, K_TENSOR))
			continue;
		ag_release(grad_inputs[i]);
		grad_inputs[i] = ag_retain(tensor_of(v));
	}
	unref(c->vm, result);
	return true;
}

NATIVE(hook_node)
{
	uint64_t id;

	(void)n;
	if (!is_kind(a[0], K_NODE))
		return val_int(0);
	id = ag_node_hook(ctx_of(vm), AS(node, a[0])->n, node_hook_run,
	                  closure_of(vm, a[1], val_null(), NULL));
	return id ? val_int((int64_t)id) : torch_raise(vm);
}

NATIVE(hook_remove)
{
	(void)n;
	if (is_int(a[0]))
		ag_hook_remove(ctx_of(vm), (uint64_t)a[0].as.i);
	return val_none();
}

/* --- torch.autograd.grad and backward */

static uint32_t tensors_of(struct val v, struct ag_tensor **out)
{
	uint32_t count = 0;

	if (is_kind(v, K_TENSOR)) {
		out[count++] = tensor_of(v);
	} else if (is_kind(v, K_LIST) || is_kind(v, K_TUPLE)) {
		for (uint32_t i = 0; i < AS(list, v)->count && count < 4096; i++)
			out[count++] = is_kind(AS(list, v)->at[i], K_TENSOR)
			                       ? tensor_of(AS(list, v)->at[i])
			                       : NULL;
	}
	return count;
}

static uint32_t count_of(struct val v)
{
	return is_kind(v, K_LIST) || is_kind(v, K_TUPLE) ? AS(list, v)->count : 1;
}

/* outputs inputs grad_outputs retain_graph create_graph allow_unused */
NATIVE(autograd_grad)
{
	struct ag_tensor **outputs = checked_alloc(count_of(a[0]) + 1, sizeof(*outputs));
	struct ag_tensor **inputs = checked_alloc(count_of(a[1]) + 1, sizeof(*inputs));
	struct ag_tensor **grads = checked_alloc(count_of(a[2]) + 1, sizeof(*grads));
	struct ag_tensor **out = checked_alloc(count_of(a[1]) + 1, sizeof(*out));
	uint32_t noutputs = tensors_of(a[0], outputs), ninputs = tensors_of(a[1], inputs);
	uint32_t ngrads = tensors_of(a[2], grads);
	struct val result = val_null();
	unsigned flags = 0;

	(void)n;
	flags |= rp_truth(vm, a[4]) > 0 ? AG_CREATE_GRAPH | AG_RETAIN_GRAPH : 0;
	flags |= rp_truth(vm, a[5]) > 0 ? AG_ALLOW_UNUSED : 0;
	if (!is_none(a[3]))
		flags = rp_truth(vm, a[3]) > 0 ? flags | AG_RETAIN_GRAPH
		                               : flags & ~(unsigned)AG_RETAIN_GRAPH;
	for (uint32_t i = 0; i < noutputs; i++)
		backward_starts(vm, outputs[i], flags);
	if (ag_grad(ctx_of(vm), outputs, ngrads ? grads : NULL, noutputs, inputs, ninputs, flags,
	            out)) {
		struct list *t = tuple_new(vm, ninputs);

		for (uint32_t i = 0; i < ninputs; i++)
			t->at[i] = out[i] ? torch_wrap(vm, out[i]) : val_none();
		result = val_obj(t);
	} else {
		torch_raise(vm);
	}
	free((void *)outputs);
	free((void *)inputs);
	free((void *)grads);
	free((void *)out);
	return result;
}

NATIVE(autograd_backward)
{
	struct ag_tensor **tensors = checked_alloc(count_of(a[0]) + 1, sizeof(*tensors));
	struct ag_tensor **grads = checked_alloc(count_of(a[1]) + 1, sizeof(*grads));
	uint32_t count = tensors_of(a[0], tensors), ngrads = tensors_of(a[1], grads);
	unsigned flags = rp_truth(vm, a[3]) > 0 ? AG_CREATE_GRAPH | AG_RETAIN_GRAPH : 0;
	bool ok;

	(void)n;
	if (!is_none(a[2]) && rp_truth(vm, a[2]) > 0)
		flags |= AG_RETAIN_GRAPH;
	for (uint32_t i = 0; i < count; i++)
		backward_starts(vm, tensors[i], flags);
	ok = ag_backward_many(ctx_of(vm), tensors, ngrads ? grads : NULL, count, NULL, 0, flags);
	free((void *)tensors);
	free((void *)grads);
	return ok ? val_none() : torch_raise(vm);
}

/* --- torch.autograd.Function */

/* The running custom function, for save_for_backward and saved_tensors. */
static struct ag_custom *custom_of(struct vm *vm, struct val ctx)
{
	struct val v = ctx.as.o->attrs
	                       ? dict_get_str(vm, ctx.as.o->attrs, str_intern(vm, "$custom", 7))
	                       : val_null();

	return v.tag == PY_INT ? (struct ag_custom *)(uintptr_t)v.as.i : NULL;
}

static void custom_set(struct vm *vm, struct val ctx, struct ag_custom *fn)
{
	dict_put_str(vm, attrs_of(vm, ctx.as.o), str_intern(vm, "$custom", 7),
	             val_int((int64_t)(uintptr_t)fn));
}

static bool custom_results(struct callback *c, struct ag_ctx *ctx, struct val result,
                           struct ag_tensor **grad_inputs, uint32_t ninputs)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < c->nflags && at < ninputs; i++) {
		struct val v =
		        is_kind(result, K_TUPLE)
		                ? i < AS(list, result)->count ? AS(list, result)->at[i] : val_none()
		        : i == 0 ? result
		                 : val_none();

		if (!c->flags[i].as.i)
			continue;
		grad_inputs[at++] = is_kind(v, K_TENSOR) ? ag_retain(tensor_of(v)) : NULL;
	}
	(void)ctx;
	return true;
}

static bool custom_backward(struct ag_ctx *ctx, void *data, struct ag_custom *fn,
                            struct ag_tensor *const *grads, uint32_t ngrads,
                            struct ag_tensor **grad_inputs, uint32_t ninputs)
{
	struct callback *c = data;
	struct vm *vm = c->vm;
	struct val backward = rp_attr_chars(vm, c->fn, "backward"), result;
	struct val *args = checked_alloc(ngrads + 1, sizeof(*args)), kept = ref(c->ctx);
	bool ok;

	args[0] = c->ctx;
	for (uint32_t i = 0; i < ngrads; i++)
		args[i + 1] = torch_wrap_ref(vm, grads[i]);
	custom_set(vm, kept, fn);
	result = is_null(backward) ? backward : rp_call(vm, backward, args, ngrads + 1, NULL);
	unref(vm, backward);
	for (uint32_t i = 0; i < ngrads; i++)
		unref(vm, args[i + 1]);
	free(args);
	ok = !is_null(result) && custom_results(c, ctx, result, grad_inputs, ninputs);
	if (!ok)
		ag_raise(ctx, AG_ERR_RUNTIME, "exception in backward");
	unref(vm, result);
	unref(vm, kept);
	return ok;
}

static bool custom_save(struct vm *vm, struct val ctx, struct ag_custom *fn)
{
	struct str *key = str_intern(vm, "$saved", 6);
	struct val saved = dict_get_str(vm, attrs_of(vm, ctx.as.o), key);
	struct ag_tensor *at[TORCH_MAX_ARGS];
	uint32_t count = 0;
	bool ok;

	if (!is_kind(saved, K_TUPLE))
		return true;
	for (uint32_t i = 0; i < AS(list, saved)->count && count < TORCH_MAX_ARGS; i++)
		at[count++] = is_kind(AS(list, saved)->at[i], K_TENSOR)
		                      ? tensor_of(AS(list, saved)->at[i])
		                      : NULL;
	ok = ag_custom_save(fn, at, count);
	dict_remove(vm, ctx.as.o->attrs, val_obj(key), NULL);
	return ok;
}

/* The tensors among the arguments, at most TORCH_MAX_ARGS; flags say which they are. */
static uint32_t custom_inputs(struct callback *c, const struct list *args,
                              struct ag_tensor **inputs)
{
	uint32_t count = 0;

	c->nflags = args->count;
	c->flags = checked_alloc(args->count + 1, sizeof(*c->flags));
	for (uint32_t i = 0; i < args->count && count < TORCH_MAX_ARGS; i++) {
		c->flags[i] = val_int(is_kind(args->at[i], K_TENSOR));
		if (c->flags[i].as.i)
			inputs[count++] = tensor_of(args->at[i]);
	}
	return count;
}

static uint32_t custom_outputs(const struct val *results, uint32_t nresults,
                               struct ag_tensor **outputs)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < nresults && count < TORCH_MAX_ARGS; i++)
		if (is_kind(results[i], K_TENSOR))
			outputs[count++] = ag_retain(tensor_of(results[i]));
	return count;
}

/* The results with the node's outputs in the place of its tensors. */
static struct val custom_tuple(struct vm *vm, const struct list *results,
                               struct ag_tensor **outputs)
{
	struct list *out = tuple_new(vm, results->count);

	for (uint32_t i = 0; i < out->count; i++)
		out->at[i] = is_kind(results->at[i], K_TENSOR) ? torch_wrap(vm, *outputs++)
		                                               : ref(results->at[i]);
	return val_obj(out);
}

/* A function of autograd gives tensors. */
static struct val known_outputs(struct vm *vm, struct val result)
{
	struct val known;

	unknown_to_tensors(vm, result, 0);
	known = is_kind(result, K_UNKNOWN) ? unknown_root(AS(unknown, result))->same : val_null();
	if (is_kind(known, K_TENSOR))
		slot_set(vm, &result, ref(known));
	return result;
}

/* apply(cls, ctx, forward, arguments): forward has been bound to its context. */
NATIVE(custom_apply)
{
	struct list *args = AS(list, a[3]);
	struct ag_tensor *inputs[TORCH_MAX_ARGS], *outputs[TORCH_MAX_ARGS];
	uint32_t ninputs, noutputs;
	struct callback *c;
	struct ag_closure closure = closure_of(vm, a[0], a[1], &c);
	struct ag_custom *fn;
	struct val result;
	struct list *out;

	(void)n;
	ninputs = custom_inputs(c, args, inputs);
	fn = ag_custom_begin(ctx_of(vm), chars_of(a[4]), custom_backward, closure);
	if (!fn)
		return torch_raise(vm);
	custom_set(vm, a[1], fn);
	result = rp_call(vm, a[2], args->at, args->count, NULL);
	if (is_null(result) || !custom_save(vm, a[1], fn)) {
		ag_custom_cancel(fn);
		unref(vm, result);
		return is_null(vm->exc) ? torch_raise(vm) : val_null();
	}
	result = known_outputs(vm, result);
	out = is_kind(result, K_TUPLE) || is_kind(result, K_LIST) ? AS(list, result) : NULL;
	noutputs = custom_outputs(out ? out->at : &result, out ? out->count : 1, outputs);
	if (!out)
		unref(vm, result);
	if (!ag_custom_end(fn, inputs, ninputs, outputs, noutputs)) {
		if (out)
			unref(vm, result);
		return torch_raise(vm);
	}
	if (!out)
		return noutputs ? torch_wrap(vm, outputs[0]) : val_none();
	out = AS(list, custom_tuple(vm, out, outputs));
	unref(vm, result);
	return val_obj(out);
}

NATIVE(custom_saved)
{
	struct ag_custom *fn = custom_of(vm, a[0]);
	uint32_t count = fn ? ag_custom_saved_count(fn) : 0;
	struct list *t = tuple_new(vm, count);

	(void)n;
	for (uint32_t i = 0; i < count; i++) {
		struct ag_tensor *saved = ag_custom_saved(fn, i);

		if (!saved && ag_error(ctx_of(vm))->status != AG_OK) {
			unref_obj(vm, t);
			return torch_raise(vm);
		}
		t->at[i] = saved ? torch_wrap(vm, saved) : val_none();
	}
	return val_obj(t);
}

NATIVE(custom_mark)
{
	struct ag_custom *fn = custom_of(vm, a[0]);
	struct list *list = AS(list, a[1]);
	bool dirty = rp_truth(vm, a[2]) > 0;

	(void)n;
	for (uint32_t i = 0; fn && i < list->count; i++) {
		if (!is_kind(list->at[i], K_TENSOR))
			continue;
		if (dirty)
			ag_custom_mark_dirty(fn, tensor_of(list->at[i]));
		else
			ag_custom_mark_no_grad(fn, tensor_of(list->at[i]));
	}
	return val_none();
}

/* --- torch.utils.checkpoint */

static bool checkpoint_run(struct ag_ctx *ctx, void *data, struct ag_tensor *const *inputs,
                           uint32_t ninputs, struct ag_results *outputs)
{
	struct callback *c = data;
	struct vm *vm = c->vm;
	struct val *args = checked_alloc(ninputs + 1, sizeof(*args)), result;
	struct list *out;
	uint32_t count;

	for (uint32_t i = 0; i < ninputs; i++)
		args[i] = torch_wrap_ref(vm, inputs[i]);
	result = rp_call(vm, c->fn, args, ninputs, NULL);
	for (uint32_t i = 0; i < ninputs; i++)
		unref(vm, args[i]);
	free(args);
	if (is_null(result)) {
		if (ag_checkpoint_stops(ctx))
			exc_clear(vm);
		ag_raise(ctx, AG_ERR_RUNTIME, "exception in checkpoint");
		return false;
	}
	out = is_kind(result, K_TUPLE) || is_kind(result, K_LIST) ? AS(list, result) : NULL;
	count = out ? out->count : 1;
	if (count > 4)
		outputs->at = checked_alloc(count, sizeof(*outputs->at)), outputs->capacity = count;
	else if (!outputs->at)
		outputs->at = outputs->few, outputs->capacity = 4;
	outputs->count = 0;
	for (uint32_t i = 0; i < count; i++) {
		struct val v = out ? out->at[i] : result;

		if (is_kind(v, K_TENSOR))
			outputs->at[outputs->count++] = ag_retain(tensor_of(v));
	}
	if (c->first) {
		*c->first = ref(result);
		c->first = NULL;
	}
	unref(vm, result);
	return true;
}

/* The result with the tensors that the checkpoint's node made in place of its own. */
static struct val of_the_node(struct vm *vm, struct val given, struct ag_results *results)
{
	struct list *in, *out;
	uint32_t next = 0;

	if (!is_kind(given, K_TUPLE) && !is_kind(given, K_LIST))
		return results->count ? torch_wrap(vm, ag_results_take(results, 0)) : ref(given);
	in = AS(list, given);
	out = tuple_new(vm, in->count);
	for (uint32_t i = 0; i < in->count; i++)
		out->at[i] = is_kind(in->at[i], K_TENSOR)
		                     ? torch_wrap(vm, ag_results_take(results, next++))
		                     : ref(in->at[i]);
	return val_obj(out);
}

/* checkpoint(run, tensors, reentrant, preserve): run takes the tensors only. */
NATIVE(checkpoint)
{
	struct ag_tensor *inputs[TORCH_MAX_ARGS];
	struct ag_results results = {0};
	struct callback *c;
	struct ag_closure closure = closure_of(vm, a[0], val_null(), &c);
	struct val first = val_null(), result;
	bool reentrant = rp_truth(vm, a[2]) > 0;
	uint32_t count = 0;

	(void)n;
	c->first = &first;
	for (uint32_t i = 0; i < AS(list, a[1])->count && count < TORCH_MAX_ARGS; i++)
		inputs[count++] = tensor_of(AS(list, a[1])->at[i]);
	if (!ag_checkpoint(ctx_of(vm), checkpoint_run, closure, inputs, count, reentrant,
	                   rp_truth(vm, a[3]) > 0, &results)) {
		unref(vm, first);
		return torch_raise(vm);
	}
	result = reentrant ? of_the_node(vm, first, &results) : ref(first);
	unref(vm, first);
	ag_results_release(&results);
	return result;
}

/* A handle whose remove() takes the hook away. */
static struct val handle_of(struct vm *vm, struct val id)
{
	struct val torch, cls, handle;

	if (is_null(id))
		return id;
	torch = dict_get_str(vm, vm->modules, str_intern(vm, "torch", 5));
	cls = rp_attr_chars(vm, torch, "_HookHandle");
	if (is_null(cls))
		return cls;
	handle = rp_call1(vm, cls, id);
	unref(vm, cls);
	return handle;
}

NATIVE(register_hook)
{
	return handle_of(vm, is_kind(a[0], K_NODE) ? hook_node(vm, a, n) : hook_tensor(vm, a, n));
}

NATIVE(register_accumulate)
{
	return handle_of(vm, hook_accumulate(vm, a, n));
}

const struct native_def tensor_hook_methods[] = {
        {"register_hook", register_hook, "self hook"},
        {"register_post_accumulate_grad_hook", register_accumulate, "self hook"},
        {0},
};

/* Nodes that PyTorch gives no name of their own are told by their type. */
NATIVE(node_name)
{
	const char *name = ag_node_name(AS(node, a[0])->n);
	char text[64];

	(void)n;
	if (strcmp(name, "AccumulateGrad") != 0 && strcmp(name, "CopySlices") != 0)
		return val_str(vm, name);
	snprintf(text, sizeof(text), "torch::autograd::%s", name);
	return val_str(vm, text);
}

const struct native_def node_methods[] = {
        {"name", node_name, "self"},
        {"register_hook", register_hook, "self hook"},
        {0},
};

const struct native_def autograd_functions[] = {
        {"mode_get", mode_get, ""},
        {"mode_set", mode_set, "mode"},
        {"mode_swap", mode_swap, "mode"},
        {"is_grad_enabled", is_grad_enabled, ""},
        {"hook_tensor", hook_tensor, "tensor fn"},
        {"hook_accumulate", hook_accumulate, "tensor fn"},
        {"hook_node", hook_node, "node fn"},
        {"hook_remove", hook_remove, "id"},
        {"grad", autograd_grad, "outputs inputs grad_outputs retain create allow_unused"},
        {"backward", autograd_backward, "tensors grads retain create"},
        {"custom_apply", custom_apply, "cls ctx forward args name"},
        {"custom_saved", custom_saved, "ctx"},
        {"custom_mark", custom_mark, "ctx tensors dirty"},
        {"checkpoint", checkpoint, "run tensors reentrant preserve"},
        {0},
};
