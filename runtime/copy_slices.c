/* CopySlices: the history of a base that was written to through a view. */

#include <stdlib.h>

#include "runtime/copy_slices.h"
#include "runtime/op.h"

struct geometry {
	int ndim;
	int64_t shape[AG_MAX_DIMS];
	int64_t strides[AG_MAX_DIMS];
	int64_t offset;
};

struct copy_slices {
	struct ag_node *fn; /* the op's node; gone after a backward that frees */
	struct geometry base, view;
};

static void geometry_of(const struct ag_tensor *t, struct geometry *g)
{
	int i;

	g->ndim = t->ndim;
	g->offset = t->offset;
	for (i = 0; i < t->ndim; i++) {
		g->shape[i] = t->shape[i];
		g->strides[i] = t->strides[i];
	}
}

void ag_copy_slices(struct ag_tensor *view, struct ag_node *fn)
{
	struct ag_tensor *base = view->base;
	struct copy_slices *s = ag_alloc(1, sizeof(*s));
	struct ag_node *n =
	        ag_node_new(view->ctx, AG_NODE_CopySlices, fn->nedges ? fn->nedges : 1, 0, 0);
	uint32_t i;

	geometry_of(base, &s->base);
	geometry_of(view, &s->view);
	s->fn = ag_node_retain(fn);
	fn->hidden = true;
	view->ctx->memory.nodes--;
	n->extra = s;
	ag_node_connect(n, 0, base);
	/* The op's way back to the view's own history is never taken. */
	if (fn->nedges) {
		ag_node_release(fn->edges[0].node);
		fn->edges[0].node = ag_node_retain(n->edges[0].node);
		fn->edges[0].slot = n->edges[0].slot;
	}
	for (i = 1; i < fn->nedges; i++) {
		n->edges[i].node = ag_node_retain(fn->edges[i].node);
		n->edges[i].slot = fn->edges[i].slot;
	}
	base->output_nr = 0;
	ag_node_add_result(n, base);
	ag_node_release(base->grad_fn);
	base->grad_fn = n;
	base->requires_grad = true;
}

void ag_copy_slices_free(struct ag_node *n)
{
	struct copy_slices *s = n->extra;

	n->extra = NULL;
	ag_node_release(s->fn);
	free(s);
}

void ag_copy_slices_drop(struct ag_node *n)
{
	struct copy_slices *s = n->extra;

	ag_node_release(s->fn);
	s->fn = NULL;
}

struct ag_node *ag_copy_slices_inner(const struct ag_node *n)
{
	return n->extra ? ((const struct copy_slices *)n->extra)->fn : NULL;
}

/* The gradient of the base, zero where the view was overwritten unless the op
 * passes something on, and the gradients of the op's other inputs. */
bool bw_CopySlices(struct ag_bw *b)
{
	struct copy_slices *s = b->node->extra;
	struct ag_ctx *ctx = b->ctx;
	struct ag_tensor *grad = b->grads[0], *result, *slice, *inner_grad;
	struct ag_tensor *inner[AG_MAX_PARAMS] = {NULL};
	struct ag_bw in = {ctx, s->fn, &inner_grad, inner, b->wanted};
	bool good;
	uint32_t i;

	if (!grad)
		return true;
	if (!s->fn)
		return ag_fail(ctx, AG_ERR_RUNTIME, AG_TWICE);
	if (s->fn->nedges > AG_MAX_PARAMS)
		return ag_fail(ctx, AG_ERR_RUNTIME, "too many inputs in an in-place write");
	result = op_clone_strided(ctx, grad, s->base.ndim, s->base.shape, s->base.strides);
	slice = op_as_strided(ctx, result, s->view.ndim, s->view.shape, s->view.strides,
	                      s->view.offset - s->base.offset);
	inner_grad = op_clone(ctx, slice);
	if (!inner_grad)
		return false;
	good = ag_node_apply(&in);
	for (i = 0; good && i < s->fn->nedges; i++) {
		if (!ag_bw_want(b, i))
			continue;
		if (i == 0) {
			good = inner[0] ? op_copy_(ctx, slice, inner[0]) : op_zero_(ctx, slice);
			ag_bw_set(b, 0, result);
		} else {
			ag_bw_set(b, i, inner[i]);
		}
	}
	for (i = 0; i < s->fn->nedges; i++)
		ag_release(inner[i]);
	return good;
}
