/* torch.utils.checkpoint: run without a graph, run again when gradients come. */

#include <stdlib.h>
#include <string.h>

#include "runtime/engine.h"
#include "runtime/op.h"

struct checkpoint {
	ag_checkpoint_fn *run;
	struct ag_closure closure;
	struct ag_random random; /* as it was before the first run */
	struct ag_tensor *state; /* the tensor PyTorch keeps it in */
	bool reentrant;
};

void ag_checkpoint_free(struct ag_node *n)
{
	struct checkpoint *cp = n->extra;

	n->extra = NULL;
	ag_release(cp->state);
	if (cp->closure.release)
		cp->closure.release(cp->closure.data);
	free(cp);
}

void ag_checkpoint_visit(const struct ag_node *n, ag_visit_fn *visit, void *walk)
{
	const struct checkpoint *cp = n->extra;

	if (!cp)
		return;
	if (cp->state)
		visit(walk, cp->state, NULL, "rng_state");
	if (cp->closure.visit)
		cp->closure.visit(cp->closure.data, visit, walk);
}

static struct ag_tensor *rng_state(struct ag_ctx *ctx)
{
	int64_t bytes = AG_RANDOM_STATE_BYTES;

	return ag_make(ctx, AG_U8, 1, &bytes, false);
}

static bool run_plain(struct ag_ctx *ctx, ag_checkpoint_fn *run, void *data,
                      struct ag_tensor *const *inputs, uint32_t count, struct ag_results *outputs)
{
	struct ag_grad_mode mode = ag_no_grad(ctx);
	bool good = run(ctx, data, inputs, count, outputs);

	ag_set_grad_mode(ctx, mode);
	return good;
}

bool ag_checkpoint(struct ag_ctx *ctx, ag_checkpoint_fn *run, struct ag_closure closure,
                   struct ag_tensor *const *inputs, uint32_t ninputs, bool reentrant,
                   bool preserve_rng, struct ag_results *outputs)
{
	struct ag_random before = ctx->random;
	struct checkpoint *cp;
	struct ag_node *node;
	bool wants = ag_wants_grad(ctx, inputs, ninputs);
	uint32_t i;

	memset(outputs, 0, sizeof(*outputs));
	if (!wants || !run_plain(ctx, run, closure.data, inputs, ninputs, outputs)) {
		bool good = !wants && run(ctx, closure.data, inputs, ninputs, outputs);

		if (closure.release)
			closure.release(closure.data);
		return good;
	}
	node = ag_record(ctx, AG_NODE_Checkpoint, inputs, ninputs, ninputs, 0);
	cp = ag_alloc(1, sizeof(*cp));
	cp->run = run;
	cp->closure = closure;
	cp->random = before;
	cp->state = preserve_rng ? rng_state(ctx) : NULL;
	cp->reentrant = reentrant;
	node->extra = cp;
	for (i = 0; i < ninputs; i++)
		ag_save_input(node, i, inputs[i]);
	for (i = 0; i < outputs->count; i++) {
		if (ag_dtype_is_float((enum ag_dtype)outputs->at[i]->dtype))
			ag_set_history(outputs->at[i], node);
		else
			ag_node_add_result(node, outputs->at[i]);
	}
	ag_node_release(node);
	return true;
}

static bool detached_inputs(struct ag_bw *b, struct ag_tensor **inputs)
{
	uint32_t i;

	for (i = 0; i < b->node->nsaved; i++) {
		struct ag_tensor *t = B_SAVED(i);

		if (!t)
			return false;
		inputs[i] = scoped(B_CTX, ag_alias_same(t));
		inputs[i]->requires_grad = b->node->edges[i].node != NULL;
	}
	return true;
}

static bool replay(struct ag_bw *b, struct ag_tensor **inputs, struct ag_results *outputs)
{
	struct checkpoint *cp = b->node->extra;
	struct ag_ctx *ctx = B_CTX;
	struct ag_random now = ctx->random;
	struct ag_grad_mode mode = ag_enable_grad(ctx);
	bool good;

	if (cp->state)
		ctx->random = cp->random;
	good = cp->run(ctx, cp->closure.data, inputs, b->node->nsaved, outputs);
	if (cp->state)
		ctx->random = now;
	ag_set_grad_mode(ctx, mode);
	return good;
}

/* The inner graph ends at copies of the inputs; parameters it uses get their
 * gradients from the inner backward itself. */
bool bw_Checkpoint(struct ag_bw *b)
{
	struct ag_tensor **inputs = ag_alloc(b->node->nsaved, sizeof(*inputs));
	struct ag_tensor **roots, **grads;
	struct ag_results outputs = {0};
	uint32_t i, n = 0;
	bool good = detached_inputs(b, inputs) && replay(b, inputs, &outputs);

	roots = ag_alloc(outputs.count, sizeof(*roots));
	grads = ag_alloc(outputs.count, sizeof(*grads));
	for (i = 0; good && i < outputs.count && i < b->node->nresults; i++) {
		if (!b->grads[i] || !ag_requires_grad(outputs.at[i]))
			continue;
		roots[n] = outputs.at[i];
		grads[n++] = b->grads[i];
	}
	if (good && n)
		good = ag_backward_many(B_CTX, roots, grads, n, NULL, 0, 0);
	for (i = 0; good && i < b->node->nsaved; i++)
		B_SET(i, inputs[i]->grad);
	ag_results_release(&outputs);
	free(roots);
	free(grads);
	free(inputs);
	return good;
}
