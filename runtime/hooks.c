/* Hooks on tensors, nodes and leaves, and the leaves' own accumulation. */

#include <stdlib.h>
#include <string.h>

#include "runtime/engine.h"
#include "runtime/op.h"

static uint64_t hook_new(struct ag_ctx *ctx, struct ag_hook **list, struct ag_hook fields)
{
	struct ag_hook *hook = ag_alloc(1, sizeof(*hook));

	*hook = fields;
	hook->handle = ++ctx->next_id;
	while (*list)
		list = &(*list)->next;
	*list = hook;
	return hook->handle;
}

static void closure_refused(struct ag_closure closure)
{
	if (closure.release)
		closure.release(closure.data);
}

uint64_t ag_tensor_hook(struct ag_ctx *ctx, struct ag_tensor *t, ag_hook_fn *fn,
                        struct ag_closure closure)
{
	struct ag_hook hook = {.kind = AG_HOOK_TENSOR, .fn = fn, .closure = closure};
	struct ag_node *node;

	if (!t || !ag_requires_grad(t)) {
		ag_fail(ctx, AG_ERR_RUNTIME,
		        "cannot register a hook on a tensor that doesn't require gradient");
		closure_refused(closure);
		return 0;
	}
	node = ag_grad_fn(ctx, t);
	if (!node)
		return hook_new(ctx, &t->hooks, hook);
	hook.slot = t->output_nr;
	return hook_new(ctx, &node->hooks, hook);
}

uint64_t ag_post_accumulate_hook(struct ag_ctx *ctx, struct ag_tensor *t, ag_hook_fn *fn,
                                 struct ag_closure closure)
{
	struct ag_hook hook = {.kind = AG_HOOK_POST, .fn = fn, .closure = closure};

	if (!t || !t->requires_grad || t->grad_fn) {
		ag_fail(ctx, AG_ERR_RUNTIME,
		        "post accumulate grad hooks cannot be registered on non-leaf tensors");
		closure_refused(closure);
		return 0;
	}
	return hook_new(ctx, &t->post_hooks, hook);
}

uint64_t ag_node_hook(struct ag_ctx *ctx, struct ag_node *node, ag_node_hook_fn *fn,
                      struct ag_closure closure)
{
	struct ag_hook hook = {.kind = AG_HOOK_NODE, .node_fn = fn, .closure = closure};

	if (!node) {
		ag_fail(ctx, AG_ERR_TYPE, "a node is missing");
		closure_refused(closure);
		return 0;
	}
	return hook_new(ctx, &node->hooks, hook);
}

bool ag_retain_grad(struct ag_ctx *ctx, struct ag_tensor *t)
{
	struct ag_hook hook = {.kind = AG_HOOK_RETAIN};
	struct ag_node *node;

	if (!t || !ag_requires_grad(t))
		return ag_fail(ctx, AG_ERR_RUNTIME,
		               "can't retain_grad on Tensor that has requires_grad=False");
	node = ag_grad_fn(ctx, t);
	if (!node || t->retains_grad)
		return true;
	hook.slot = t->output_nr;
	hook.retain = t;
	t->retains_grad = true;
	t->retain_node = node;
	hook_new(ctx, &node->hooks, hook);
	return true;
}

static bool remove_from(struct ag_hook **list, uint64_t handle)
{
	for (; *list; list = &(*list)->next) {
		struct ag_hook *hook = *list;

		if (hook->handle != handle)
			continue;
		*list = hook->next;
		hook->next = NULL;
		ag_hooks_free(hook);
		return true;
	}
	return false;
}

void ag_hook_remove(struct ag_ctx *ctx, uint64_t handle)
{
	struct ag_tensor *t;
	struct ag_node *n;

	for (t = ctx->tensors.next; t != &ctx->tensors; t = t->next) {
		if (remove_from(&t->hooks, handle) || remove_from(&t->post_hooks, handle))
			return;
	}
	for (n = ctx->nodes.next; n != &ctx->nodes; n = n->next) {
		if (remove_from(&n->hooks, handle))
			return;
	}
}

static bool fill_grad(struct ag_ctx *ctx, struct ag_tensor *t, struct ag_tensor *grad)
{
	struct ag_tensor *value = t->grad ? ag_add(ctx, t->grad, grad) : ag_clone(ctx, grad);
	bool good = value && ag_set_grad(ctx, t, value);

	ag_release(value);
	return good;
}

/* What a hook gives in place of a gradient is like it. */
static bool same_kind(struct ag_ctx *ctx, const struct ag_tensor *changed,
                      const struct ag_tensor *grad)
{
	if (changed->dtype != grad->dtype)
		return ag_fail(ctx, AG_ERR_RUNTIME,
		               "hook has changed the type of value (was %s got %s)",
		               ag_dtype_name((enum ag_dtype)grad->dtype),
		               ag_dtype_name((enum ag_dtype)changed->dtype));
	return ag_same_shape(changed, grad) ||
	       ag_fail(ctx, AG_ERR_RUNTIME, "hook has changed the size of value");
}

static bool run_list(struct ag_ctx *ctx, struct ag_hook *list, enum ag_hook_kind kind,
                     struct ag_tensor **grads)
{
	struct ag_hook *hook, *next;

	for (hook = list; hook; hook = next) {
		struct ag_tensor **grad = &grads[hook->slot], *changed = NULL;

		next = hook->next;
		if (hook->kind != kind || !*grad)
			continue;
		if (kind == AG_HOOK_RETAIN) {
			if (hook->retain && !fill_grad(ctx, hook->retain, *grad))
				return false;
			continue;
		}
		changed = hook->fn(ctx, hook->closure.data, *grad);
		if (ctx->error.status != AG_OK) {
			ag_release(changed);
			return false;
		}
		if (changed && !same_kind(ctx, changed, *grad)) {
			ag_release(changed);
			return false;
		}
		if (changed) {
			ag_release(*grad);
			*grad = changed;
		}
	}
	return true;
}

bool ag_run_tensor_hooks(struct ag_ctx *ctx, struct ag_node *n, struct ag_tensor **grads)
{
	struct ag_tensor *leaf = ag_node_variable(n);

	if (leaf)
		return run_list(ctx, leaf->hooks, AG_HOOK_TENSOR, grads);
	if (!n->hooks)
		return true;
	return run_list(ctx, n->hooks, AG_HOOK_TENSOR, grads) &&
	       run_list(ctx, n->hooks, AG_HOOK_RETAIN, grads);
}

bool ag_run_node_hooks(struct ag_ctx *ctx, struct ag_node *n, struct ag_tensor **grad_inputs,
                       struct ag_tensor **grad_outputs)
{
	struct ag_hook *hook, *next;

	for (hook = n->hooks; hook; hook = next) {
		next = hook->next;
		if (hook->kind == AG_HOOK_NODE &&
		    !hook->node_fn(ctx, hook->closure.data, grad_inputs, n->nedges, grad_outputs,
		                   n->nresults))
			return false;
	}
	return true;
}

/* Whether a gradient's strides may become those of leaf's .grad. */
static bool layout_fits(const struct ag_tensor *grad, const struct ag_tensor *leaf)
{
	int i;

	if (!ag_is_dense(leaf))
		return ag_is_contiguous(grad);
	for (i = 0; i < leaf->ndim; i++) {
		if (leaf->shape[i] != 1 && grad->strides[i] != leaf->strides[i])
			return false;
	}
	return true;
}

static struct ag_tensor *first_grad(struct ag_ctx *ctx, struct ag_tensor *leaf,
                                    struct ag_tensor *grad)
{
	if (!ctx->mode.enabled && grad->refs == 1 && layout_fits(grad, leaf))
		return ag_alias_same(grad);
	if (!ag_is_dense(leaf))
		return ag_clone(ctx, grad);
	return ag_clone_as(ctx, grad, leaf->strides);
}

bool ag_accumulate(struct ag_ctx *ctx, struct ag_tensor *leaf, struct ag_tensor *grad)
{
	struct ag_tensor *next[1] = {NULL};
	bool good = true;

	if (!leaf->grad) {
		next[0] = first_grad(ctx, leaf, grad);
	} else if (!ctx->mode.enabled) {
		good = ag_add_(ctx, leaf->grad, grad, 1);
	} else {
		next[0] = ag_add(ctx, leaf->grad, grad);
	}
	ag_release(grad);
	if (next[0]) {
		good = ag_set_grad(ctx, leaf, next[0]);
		ag_release(next[0]);
	}
	if (!good || !leaf->grad)
		return false;
	if (leaf->post_hooks) {
		struct ag_hook *hook, *after;

		for (hook = leaf->post_hooks; hook; hook = after) {
			after = hook->next;
			ag_release(hook->fn(ctx, hook->closure.data, leaf));
			if (ctx->error.status != AG_OK)
				return false;
		}
	}
	return true;
}
