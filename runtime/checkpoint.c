/* torch.utils.checkpoint: run without a graph, run again when gradients come. */

#include <stdlib.h>
#include <string.h>

#include "runtime/checkpoint.h"
#include "runtime/engine.h"
#include "runtime/op.h"

static void checkpoint_free(struct ag_checkpoint *cp)
{
	ag_region_release(cp);
	ag_release(cp->state);
	if (cp->closure.release)
		cp->closure.release(cp->closure.data);
	free(cp);
}

void ag_checkpoint_free(struct ag_node *n)
{
	struct ag_checkpoint *cp = n->extra;

	n->extra = NULL;
	checkpoint_free(cp);
}

void ag_checkpoint_visit(const struct ag_node *n, ag_visit_fn *visit, void *walk)
{
	const struct ag_checkpoint *cp = n->extra;
	uint32_t i;

	if (!cp)
		return;
	if (cp->state)
		visit(walk, cp->state, NULL, "rng_state");
	for (i = 0; i < cp->count; i++) {
		if (cp->holders[i].value)
			visit(walk, cp->holders[i].value, NULL, "recomputed");
	}
	if (cp->closure.visit)
		cp->closure.visit(cp->closure.data, visit, walk);
}

/* An object of Python's, whoever holds it. */
static struct ag_tensor *rng_state(struct ag_ctx *ctx)
{
	int64_t bytes = AG_RANDOM_STATE_BYTES;
	struct ag_tensor *state = ag_make(ctx, AG_U8, 1, &bytes, false);

	if (state)
		state->shown = true;
	return state;
}

struct ag_checkpoint *ag_checkpoint_new(struct ag_ctx *ctx, ag_checkpoint_fn *run,
                                        struct ag_closure closure, bool preserve_rng)
{
	struct ag_checkpoint *cp = ag_alloc(1, sizeof(*cp));

	cp->run = run;
	cp->closure = closure;
	cp->random = ctx->random;
	cp->autocast[AG_CPU] = ag_autocast_of(ctx, AG_CPU);
	cp->autocast[AG_CUDA] = ag_autocast_of(ctx, AG_CUDA);
	cp->state = preserve_rng ? rng_state(ctx) : NULL;
	return cp;
}

static bool run_plain(struct ag_ctx *ctx, ag_checkpoint_fn *run, struct ag_closure *closure,
                      struct ag_tensor *const *inputs, uint32_t count, struct ag_results *outputs)
{
	struct ag_grad_mode mode = ag_no_grad(ctx);
	bool good = run(ctx, closure->data, inputs, count, outputs);

	ag_set_grad_mode(ctx, mode);
	return good;
}

/* One node in place of those of the ops. */
static void record(struct ag_ctx *ctx, struct ag_checkpoint *cp, struct ag_tensor *const *inputs,
                   uint32_t ninputs, struct ag_results *outputs)
{
	struct ag_node *node = ag_record(ctx, AG_NODE_Checkpoint, inputs, ninputs, ninputs, 0);
	uint32_t i;

	if (!node) {
		checkpoint_free(cp);
		return;
	}
	node->extra = cp;
	for (i = 0; i < ninputs; i++)
		ag_save_input(node, i, inputs[i]);
	for (i = 0; i < outputs->count; i++) {
		if (!outputs->at[i])
			continue;
		if (ag_dtype_is_float((enum ag_dtype)outputs->at[i]->dtype))
			ag_set_history(outputs->at[i], node);
		else
			ag_node_add_result(node, outputs->at[i]);
	}
	ag_node_release(node);
}

bool ag_checkpoint(struct ag_ctx *ctx, ag_checkpoint_fn *run, struct ag_closure closure,
                   struct ag_tensor *const *inputs, uint32_t ninputs, bool reentrant,
                   bool preserve_rng, struct ag_results *outputs)
{
	struct ag_checkpoint *cp;
	bool good;

	memset(outputs, 0, sizeof(*outputs));
	if (ninputs > AG_MOST_OF_NODE) {
		if (closure.release)
			closure.release(closure.data);
		return ag_fail(ctx, AG_ERR_RUNTIME, "more than %d inputs of a checkpoint",
		               AG_MOST_OF_NODE);
	}
	cp = ag_checkpoint_new(ctx, run, closure, preserve_rng);
	if (!reentrant && ctx->mode.enabled)
		return ag_region_run(ctx, cp, inputs, ninputs, outputs);
	good = run_plain(ctx, run, &cp->closure, inputs, ninputs, outputs);
	if (!good || !ag_wants_grad(ctx, inputs, ninputs)) {
		checkpoint_free(cp);
		return good;
	}
	ctx->save_failed = false;
	record(ctx, cp, inputs, ninputs, outputs);
	good = ag_saves_ok(ctx);
	return ag_whole(ctx) && good;
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

bool ag_checkpoint_again(struct ag_ctx *ctx, struct ag_checkpoint *cp,
                         struct ag_tensor *const *inputs, uint32_t ninputs,
                         struct ag_results *outputs)
{
	struct ag_random now = ctx->random;
	struct ag_tensor *kept = cp->state ? rng_state(ctx) : NULL;
	struct ag_grad_mode mode = ag_enable_grad(ctx);
	struct ag_autocast cpu = ag_autocast_enter(ctx, AG_CPU, cp->autocast[AG_CPU]);
	struct ag_autocast cuda = ag_autocast_enter(ctx, AG_CUDA, cp->autocast[AG_CUDA]);
	bool good;

	if (cp->state)
		ctx->random = cp->random;
	good = cp->run(ctx, cp->closure.data, inputs, ninputs, outputs);
	if (cp->state)
		ctx->random = now;
	ag_autocast_exit(ctx, AG_CUDA, cuda);
	ag_autocast_exit(ctx, AG_CPU, cpu);
	ag_release(kept);
	ag_set_grad_mode(ctx, mode);
	return good;
}

/* The inner graph ends at copies of the inputs; parameters it uses get their
 * gradients from the inner backward itself. */
static bool backward_inside(struct ag_bw *b)
{
	struct ag_tensor **inputs = ag_alloc(b->node->nsaved, sizeof(*inputs));
	struct ag_tensor **roots, **grads;
	struct ag_results outputs = {0};
	uint32_t i, n = 0;
	bool good = detached_inputs(b, inputs) &&
	            ag_checkpoint_again(B_CTX, b->node->extra, inputs, b->node->nsaved, &outputs);

	roots = ag_alloc(outputs.count, sizeof(*roots));
	grads = ag_alloc(outputs.count, sizeof(*grads));
	for (i = 0; good && i < outputs.count && i < b->node->nresults; i++) {
		if (!b->grads[i] || !outputs.at[i] || !ag_requires_grad(outputs.at[i]))
			continue;
		roots[n] = outputs.at[i];
		grads[n++] = b->grads[i];
	}
	if (good && !n)
		good = ag_fail(B_CTX, AG_ERR_RUNTIME,
		               "none of output has requires_grad=True, this checkpoint() is not "
		               "necessary");
	if (good)
		good = ag_backward_many(B_CTX, roots, grads, n, NULL, 0, 0);
	for (i = 0; good && i < b->node->nsaved; i++)
		B_SET(i, inputs[i]->grad);
	ag_results_release(&outputs);
	free(roots);
	free(grads);
	free(inputs);
	return good;
}

bool bw_Checkpoint(struct ag_bw *b)
{
	if (b->wanted)
		return ag_fail(
		        B_CTX, AG_ERR_RUNTIME,
		        "When use_reentrant=True, torch.utils.checkpoint is incompatible "
		        "with .grad() or passing an `inputs` parameter to .backward(). To "
		        "resolve this error, you can either set use_reentrant=False, or call "
		        ".backward() without passing the `inputs` argument.");
	return backward_inside(b);
}
