/* autograd.Function: a node whose formula is the caller's. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/engine.h"
#include "runtime/op.h"

struct ag_custom {
	struct ag_ctx *ctx;
	struct ag_node *node; /* while it lives; made by end */
	ag_custom_backward_fn *backward;
	struct ag_closure closure;
	struct ag_grad_mode mode; /* of the caller */
	struct ag_tensor **saved, **dirty, **no_grad;
	bool *needs;
	uint32_t nsaved, ndirty, nno_grad, nneeds;
	char name[64];
};

struct ag_custom *ag_custom_begin(struct ag_ctx *ctx, const char *name,
                                  ag_custom_backward_fn *backward, struct ag_closure closure)
{
	struct ag_custom *fn = ag_alloc(1, sizeof(*fn));

	fn->ctx = ctx;
	fn->backward = backward;
	fn->closure = closure;
	fn->mode = ag_no_grad(ctx);
	snprintf(fn->name, sizeof(fn->name), "%s", name);
	return fn;
}

static void release_list(struct ag_tensor **list, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		ag_release(list[i]);
	free(list);
}

static void custom_free(struct ag_custom *fn)
{
	struct ag_closure closure = fn->closure;

	release_list(fn->saved, fn->nsaved);
	release_list(fn->dirty, fn->ndirty);
	release_list(fn->no_grad, fn->nno_grad);
	free(fn->needs);
	free(fn);
	if (closure.release)
		closure.release(closure.data);
}

void ag_custom_free(struct ag_node *n)
{
	struct ag_custom *fn = n->extra;

	n->extra = NULL;
	custom_free(fn);
}

const char *ag_custom_name(const struct ag_node *n)
{
	return n->extra ? ((const struct ag_custom *)n->extra)->name : "Function";
}

bool ag_custom_save(struct ag_custom *fn, struct ag_tensor *const *tensors, uint32_t count)
{
	uint32_t i;

	release_list(fn->saved, fn->nsaved);
	fn->saved = ag_alloc(count, sizeof(*fn->saved));
	fn->nsaved = count;
	for (i = 0; i < count; i++)
		fn->saved[i] = ag_retain(tensors[i]);
	return true;
}

static void note(struct ag_tensor ***list, uint32_t *count, struct ag_tensor *t)
{
	*list = ag_grow(*list, *count + 1u, sizeof(**list));
	(*list)[(*count)++] = ag_retain(t);
}

void ag_custom_mark_dirty(struct ag_custom *fn, struct ag_tensor *t)
{
	note(&fn->dirty, &fn->ndirty, t);
}

void ag_custom_mark_no_grad(struct ag_custom *fn, struct ag_tensor *t)
{
	note(&fn->no_grad, &fn->nno_grad, t);
}

bool ag_custom_needs_grad(const struct ag_custom *fn, uint32_t input)
{
	return input < fn->nneeds && fn->needs[input];
}

static bool among(struct ag_tensor *const *list, uint32_t count, const struct ag_tensor *t)
{
	uint32_t i;

	for (i = 0; i < count; i++) {
		if (list[i] == t)
			return true;
	}
	return false;
}

/* Gives one output its history; may put another tensor in its place. */
static void wrap_output(struct ag_custom *fn, struct ag_node *node, struct ag_tensor *const *inputs,
                        uint32_t ninputs, struct ag_tensor **output)
{
	struct ag_tensor *t = *output, *v;

	if (!t)
		return;
	if (!ag_dtype_is_float((enum ag_dtype)t->dtype) || among(fn->no_grad, fn->nno_grad, t)) {
		ag_node_add_result(node, t);
		return;
	}
	if (among(fn->dirty, fn->ndirty, t)) {
		ag_bump(t);
		ag_rebase_history(t, node);
		return;
	}
	if (among(inputs, ninputs, t) || t->base) {
		v = ag_alias_same(t);
		if (among(inputs, ninputs, t))
			ag_make_view(v, t, NULL, AG_VIEW_CUSTOM);
		ag_release(t);
		*output = t = v;
	}
	ag_set_history(t, node);
}

static void save_all(struct ag_custom *fn, struct ag_node *node, struct ag_tensor **outputs,
                     uint32_t noutputs)
{
	uint32_t i;

	for (i = 0; i < fn->nsaved; i++) {
		struct ag_tensor *t = fn->saved[i];

		if (!t)
			continue;
		if (among(outputs, noutputs, t) && t->grad_fn == node)
			ag_save_output(node, i, t);
		else
			ag_save_input(node, i, t);
	}
	release_list(fn->saved, fn->nsaved);
	fn->saved = NULL;
	fn->nsaved = 0;
}

/* What was marked leads back to the node now: held any longer, it would be a cycle. */
static void forget_marks(struct ag_custom *fn)
{
	release_list(fn->dirty, fn->ndirty);
	release_list(fn->no_grad, fn->nno_grad);
	fn->dirty = fn->no_grad = NULL;
	fn->ndirty = fn->nno_grad = 0;
}

bool ag_custom_end(struct ag_custom *fn, struct ag_tensor *const *inputs, uint32_t ninputs,
                   struct ag_tensor **outputs, uint32_t noutputs)
{
	struct ag_ctx *ctx = fn->ctx;
	struct ag_node *node;
	uint32_t i;

	ag_set_grad_mode(ctx, fn->mode);
	fn->nneeds = ninputs;
	fn->needs = ag_alloc(ninputs, sizeof(bool));
	for (i = 0; i < ninputs; i++)
		fn->needs[i] = wants1(ctx, inputs[i]);
	node = ag_record(ctx, AG_NODE_Custom, inputs, ninputs, fn->nsaved, 0);
	if (!node) {
		custom_free(fn);
		return ag_whole(ctx);
	}
	for (i = 0; i < fn->ndirty; i++) {
		if (!ag_check_inplace(ctx, fn->dirty[i], true)) {
			ag_node_release(node);
			custom_free(fn);
			return false;
		}
	}
	for (i = 0; i < noutputs; i++)
		wrap_output(fn, node, inputs, ninputs, &outputs[i]);
	forget_marks(fn);
	ctx->save_failed = false;
	save_all(fn, node, outputs, noutputs);
	if (!ag_saves_ok(ctx)) {
		ag_node_release(node);
		custom_free(fn);
		return false;
	}
	fn->node = node;
	node->extra = fn;
	ag_node_release(node);
	return true;
}

void ag_custom_cancel(struct ag_custom *fn)
{
	ag_set_grad_mode(fn->ctx, fn->mode);
	custom_free(fn);
}

struct ag_tensor *ag_custom_saved(struct ag_custom *fn, uint32_t index)
{
	if (!fn->node || index >= fn->node->nsaved)
		return NULL;
	return ag_retain(ag_unpack(fn->node, index));
}

uint32_t ag_custom_saved_count(const struct ag_custom *fn)
{
	return fn->node ? fn->node->nsaved : fn->nsaved;
}

void ag_custom_visit(const struct ag_node *n, ag_visit_fn *visit, void *walk)
{
	const struct ag_custom *fn = n->extra;

	if (fn && fn->closure.visit)
		fn->closure.visit(fn->closure.data, visit, walk);
}

/* Gradients that did not come are zeros, as PyTorch materialises them. */
bool bw_Custom(struct ag_bw *b)
{
	struct ag_custom *fn = b->node->extra;
	struct ag_tensor **in = ag_alloc(b->node->nedges, sizeof(*in));
	struct ag_tensor **grads = ag_alloc(b->node->nresults, sizeof(*grads));
	bool good = true;
	uint32_t i;

	for (i = 0; i < b->node->nresults; i++) {
		int ndim;
		enum ag_dtype dtype;
		const int64_t *shape = ag_node_result(b->node, i, &ndim, &dtype);

		grads[i] = b->grads[i] ? b->grads[i] : op_zeros(B_CTX, dtype, ndim, shape);
	}
	good = fn->backward(B_CTX, fn->closure.data, fn, grads, b->node->nresults, in,
	                    b->node->nedges);
	for (i = 0; i < b->node->nedges; i++) {
		if (good)
			B_SET(i, in[i]);
		ag_release(in[i]);
	}
	free(in);
	free(grads);
	return good;
}

/* ---- what cannot be known */

struct ag_tensor *ag_opaque(struct ag_ctx *ctx, struct ag_tensor *const *inputs, uint32_t count,
                            enum ag_dtype dtype, int ndim, const int64_t *shape, bool force)
{
	struct ag_tensor *out;
	struct ag_node *node = NULL;
	uint32_t i;

	if (ndim < 0 || dtype >= AG_DTYPE_COUNT)
		return ag_null(ctx, AG_ERR_VALUE, "invalid shape or dtype");
	out = ag_make(ctx, dtype, ndim, shape, false);
	if (!out || !ag_dtype_is_float(dtype))
		return out;
	if (ag_wants_grad(ctx, inputs, count)) {
		node = ag_record(ctx, AG_NODE_Opaque, inputs, count, count, 0);
		for (i = 0; node && i < count; i++)
			ag_save_input(node, i, inputs[i]);
	} else if (force && ctx->mode.enabled) {
		node = ag_node_new(ctx, AG_NODE_Opaque, 0, 0, 0);
	}
	if (node)
		ag_set_history(out, node);
	ag_node_release(node);
	if (ag_whole(ctx))
		return out;
	ag_release(out);
	return NULL;
}

bool bw_Opaque(struct ag_bw *b)
{
	uint32_t i;

	for (i = 0; i < b->node->nedges; i++) {
		struct ag_tensor *t;

		if (!B_WANT(i))
			continue;
		t = B_SAVED(i);
		if (!t)
			return false;
		B_SET(i, scoped(B_CTX,
		                ag_make(B_CTX, (enum ag_dtype)t->dtype, t->ndim, t->shape, false)));
	}
	return true;
}

bool bw_None(struct ag_bw *b)
{
	(void)b;
	return true;
}

bool bw_AccumulateGrad(struct ag_bw *b)
{
	return bw_None(b);
}
