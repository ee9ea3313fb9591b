/* What tensors know of their history: views, in-place changes, gradients kept. */

#include <stdlib.h>
#include <string.h>

#include "runtime/copy_slices.h"
#include "runtime/core.h"
#include "runtime/element.h"

bool ag_requires_grad(const struct ag_tensor *t)
{
	while (t) {
		if (t->requires_grad || t->grad_fn)
			return true;
		t = t->base;
	}
	return false;
}

bool ag_is_leaf(const struct ag_tensor *t)
{
	return !t->grad_fn;
}

bool ag_is_inference(const struct ag_tensor *t)
{
	return t->inference;
}

struct ag_tensor *ag_base(const struct ag_tensor *t)
{
	return t->base;
}

struct ag_tensor *ag_grad_of(struct ag_tensor *t)
{
	return t->grad;
}

bool ag_is_parameter(const struct ag_tensor *t)
{
	return t->is_parameter;
}

void ag_make_view(struct ag_tensor *v, struct ag_tensor *t, struct ag_node *n,
                  enum ag_creation creation)
{
	struct ag_ctx *ctx = t->ctx;

	if (t->inference && ctx->mode.inference)
		return;
	v->base = ag_retain(t->base ? t->base : t);
	v->attr_version = ag_version(v);
	v->creation = (uint8_t)(ctx->mode.enabled ? creation : AG_VIEW_NO_GRAD);
	if (t->base && t->creation != AG_VIEW_NORMAL)
		v->creation = t->creation;
	if (n)
		ag_set_history(v, n);
}

/* A view whose base was changed through another handle gets its history anew. */
static void regenerate(struct ag_tensor *t)
{
	struct ag_tensor *base = t->base;
	uint32_t words = 3u * t->ndim + 2u * base->ndim + 3u, i;
	struct ag_node *n = ag_node_new(t->ctx, AG_NODE_AsStrided, 1, 0, words);
	int64_t *at = n->ints;

	*at++ = base->ndim;
	*at++ = t->ndim;
	*at++ = t->offset - base->offset;
	for (i = 0; i < base->ndim; i++)
		*at++ = base->shape[i];
	for (i = 0; i < base->ndim; i++)
		*at++ = base->strides[i];
	for (i = 0; i < t->ndim; i++)
		*at++ = t->shape[i];
	for (i = 0; i < t->ndim; i++)
		*at++ = t->strides[i];
	ag_node_connect(n, 0, base);
	ag_node_release(t->grad_fn);
	t->grad_fn = NULL;
	t->attr_version = ag_version(t);
	ag_set_history(t, n);
	ag_node_release(n);
}

struct ag_node *ag_grad_fn(struct ag_ctx *ctx, struct ag_tensor *t)
{
	(void)ctx;
	if (!t->base || (!t->grad_fn && !ag_requires_grad(t->base)))
		return t->grad_fn;
	if (t->attr_version != ag_version(t))
		regenerate(t);
	return t->grad_fn;
}

bool ag_check_inplace(struct ag_ctx *ctx, struct ag_tensor *t, bool differentiable)
{
	if (t->inference && !ctx->mode.inference)
		return ag_fail(
		        ctx, AG_ERR_RUNTIME,
		        "Inplace update to inference tensor outside InferenceMode is not "
		        "allowed.You can make a clone to get a normal tensor before doing inplace "
		        "update.See https://github.com/pytorch/rfcs/pull/17 for more details.");
	if (!ctx->mode.enabled || !(differentiable || ag_requires_grad(t)))
		return true;
	if (t->base && t->creation == AG_VIEW_MULTI)
		return ag_fail(ctx, AG_ERR_RUNTIME,
		               "Output %u of %s is a view and is being modified inplace. This view "
		               "is the output of a function that returns multiple views. Such "
		               "functions do not allow the output views to be modified inplace. "
		               "You should replace the inplace operation by an out-of-place one.",
		               t->output_nr,
		               t->grad_fn ? ag_node_name(t->grad_fn) : "UnbindBackward0");
	if (t->base && t->creation == AG_VIEW_NO_GRAD)
		return ag_fail(ctx, AG_ERR_RUNTIME,
		               "A view was created in no_grad mode and is being modified inplace "
		               "with grad mode enabled. Given that this use case is ambiguous and "
		               "error-prone, it is forbidden. You can clarify your code by moving "
		               "both the view and the inplace either both inside the no_grad block "
		               "(if you don't want the inplace to be tracked) or both outside (if "
		               "you want the inplace to be tracked).");
	if (t->base && t->base->requires_grad && !t->base->grad_fn)
		return ag_fail(ctx, AG_ERR_RUNTIME,
		               "a view of a leaf Variable that requires grad is being used in an "
		               "in-place operation.");
	if (t->requires_grad && !t->grad_fn)
		return ag_fail(ctx, AG_ERR_RUNTIME,
		               "a leaf Variable that requires grad is being used in an in-place "
		               "operation.");
	return true;
}

bool ag_no_overlap(struct ag_ctx *ctx, const struct ag_tensor *t)
{
	int d;

	for (d = 0; d < t->ndim && t->numel; d++) {
		if (t->shape[d] > 1 && t->strides[d] == 0)
			return ag_fail(ctx, AG_ERR_RUNTIME,
			               "unsupported operation: more than one element of the "
			               "written-to tensor refers to a single memory location. "
			               "Please clone() the tensor before performing the "
			               "operation.");
	}
	return true;
}

bool ag_rebase_history(struct ag_tensor *t, struct ag_node *n)
{
	if (t->base) {
		if (!n->nresults)
			ag_node_add_result(n, t);
		ag_copy_slices(t, n);
		ag_grad_fn(t->ctx, t);
		return true;
	}
	t->output_nr = n->nresults;
	ag_node_add_result(n, t);
	ag_node_retain(n);
	ag_node_release(t->grad_fn);
	t->grad_fn = n;
	t->requires_grad = true;
	return true;
}

bool ag_set_requires_grad(struct ag_ctx *ctx, struct ag_tensor *t, bool on)
{
	if (!t)
		return false;
	if (t->grad_fn && !on)
		return ag_fail(ctx, AG_ERR_RUNTIME,
		               "you can only change requires_grad flags of leaf variables. If you "
		               "want to use a computed variable in a subgraph that doesn't require "
		               "differentiation use var_no_grad = var.detach().");
	if (t->grad_fn)
		return true;
	if (on && !ag_dtype_is_float((enum ag_dtype)t->dtype))
		return ag_fail(
		        ctx, AG_ERR_RUNTIME,
		        "only Tensors of floating point and complex dtype can require gradients");
	if (on && t->inference && !ctx->mode.inference)
		return ag_fail(ctx, AG_ERR_RUNTIME,
		               "Setting requires_grad=True on inference tensor outside "
		               "InferenceMode is not allowed.");
	t->requires_grad = on;
	return true;
}

bool ag_set_grad(struct ag_ctx *ctx, struct ag_tensor *t, struct ag_tensor *grad)
{
	struct ag_tensor *old;

	if (!t)
		return false;
	if (grad == t)
		return ag_fail(ctx, AG_ERR_RUNTIME, "can't assign Variable as its own grad");
	if (grad && grad->dtype != t->dtype)
		return ag_fail(
		        ctx, AG_ERR_RUNTIME,
		        "attempting to assign a gradient with dtype '%s' to a tensor with dtype "
		        "'%s'. Please ensure that the gradient and the tensor have the same dtype",
		        ag_dtype_name((enum ag_dtype)grad->dtype),
		        ag_dtype_name((enum ag_dtype)t->dtype));
	if (grad && !ag_same_shape(grad, t)) {
		char a[128], b[128];

		return ag_fail(
		        ctx, AG_ERR_RUNTIME,
		        "attempting to assign a gradient of size '%s' to a tensor of size '%s'. "
		        "Please ensure that the gradient and the tensor are the same size",
		        ag_shape_text(grad->ndim, grad->shape, a, sizeof(a)),
		        ag_shape_text(t->ndim, t->shape, b, sizeof(b)));
	}
	old = t->grad;
	t->grad = ag_retain(grad);
	if (grad && grad->storage->kind <= AG_KIND_ACTIVATION)
		ag_storage_set_kind(grad->storage, AG_KIND_GRADIENT);
	ag_release(old);
	return true;
}

static struct ag_version *version_new(uint32_t n)
{
	struct ag_version *version = ag_alloc(1, sizeof(*version));

	version->refs = 1;
	version->n = n;
	return version;
}

void ag_own_version(struct ag_tensor *t)
{
	ag_drop_version(t->own_version);
	t->own_version = version_new(0);
}

struct ag_tensor *ag_data_of(struct ag_ctx *ctx, struct ag_tensor *t)
{
	struct ag_tensor *v;

	(void)ctx;
	if (!t)
		return NULL;
	v = ag_alias_same(t);
	ag_own_version(v);
	return v;
}

/* The nodes that saved t count it on its storage: keep that count right. A formula relies on the
 * shape and the dtype of what was saved: others are as good as a change in place. */
static void move_saved(struct ag_tensor *t, const struct ag_tensor *value)
{
	struct ag_storage *to = value->storage;
	bool alike = t->dtype == value->dtype && ag_same_shape(t, value);
	struct ag_node *n;
	uint32_t i;

	if (!t->storage->saved_refs)
		return;
	for (n = t->ctx->nodes.next; n != &t->ctx->nodes; n = n->next) {
		for (i = 0; i < n->nsaved; i++) {
			if (n->saved[i].t != t)
				continue;
			ag_storage_unsave(t->storage);
			ag_storage_save(to);
			if (!alike)
				n->saved[i].version--;
		}
	}
}

bool ag_set_data(struct ag_ctx *ctx, struct ag_tensor *t, struct ag_tensor *value)
{
	struct ag_storage *old;
	uint32_t version;

	if (!t || !value)
		return false;
	if (t->dtype != value->dtype && t->requires_grad &&
	    !ag_dtype_is_float((enum ag_dtype)value->dtype))
		return ag_fail(ctx, AG_ERR_RUNTIME,
		               "data set to a tensor that requires gradients must be floating "
		               "point or complex dtype");
	version = ag_version(t);
	old = t->storage;
	move_saved(t, value);
	if (t->is_parameter && value->storage->kind == AG_KIND_OTHER)
		ag_storage_set_kind(value->storage, AG_KIND_PARAMETER);
	t->storage = ag_storage_retain(value->storage);
	t->dtype = value->dtype;
	t->offset = value->offset;
	ag_set_shape(t, value->ndim, value->shape, value->strides);
	if (!t->own_version)
		t->own_version = version_new(version);
	ag_storage_release(old);
	return true;
}

struct ag_tensor *ag_parameter(struct ag_ctx *ctx, struct ag_tensor *t, bool requires_grad)
{
	struct ag_tensor *p;

	if (!t)
		return NULL;
	p = ag_alias_same(t);
	if (!ag_set_requires_grad(ctx, p, requires_grad)) {
		ag_release(p);
		return NULL;
	}
	p->is_parameter = true;
	ag_storage_set_kind(p->storage, AG_KIND_PARAMETER);
	return p;
}
