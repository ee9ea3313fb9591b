/* Checkpoints that are not reentrant: nodes that save holders in place of tensors. */

#include <stdlib.h>
#include <string.h>

#include "runtime/checkpoint.h"

static struct ag_holder *holder_of(const struct ag_node *n, uint32_t i)
{
	struct ag_checkpoint *cp = n->region->extra;

	return &cp->holders[n->saved[i].version];
}

/* When a context closes, regions go before what saved into them. */
static bool has_holders(const struct ag_node *n)
{
	return n->region && n->region->extra;
}

static void drop_value(struct ag_holder *h)
{
	struct ag_tensor *t = h->value;

	if (!t)
		return;
	h->value = NULL;
	ag_storage_unsave(t->storage);
	ag_release(t);
}

static struct ag_holder *holder_add(struct ag_checkpoint *cp, const struct ag_tensor *t)
{
	struct ag_holder *h;

	if (cp->count == cp->capacity) {
		cp->capacity = cp->capacity ? 2 * cp->capacity : 8;
		cp->holders = ag_grow(cp->holders, cp->capacity, sizeof(*cp->holders));
	}
	h = &cp->holders[cp->count++];
	memset(h, 0, sizeof(*h));
	h->live = true;
	h->dtype = t->dtype;
	h->ndim = t->ndim;
	if (t->ndim) {
		h->shape = ag_alloc(t->ndim, sizeof(*h->shape));
		memcpy(h->shape, t->shape, t->ndim * sizeof(*h->shape));
	}
	return h;
}

/* ---- the first run */

static void pack(struct ag_node *n, uint32_t i, struct ag_tensor *t, bool is_output)
{
	struct ag_checkpoint *cp = n->ctx->region->extra;
	struct ag_saved *s = &n->saved[i];
	struct ag_holder *h = holder_add(cp, t);

	if (!n->region)
		n->region = ag_node_retain(n->ctx->region);
	if (!is_output) {
		struct ag_edge edge = ag_gradient_edge(t);

		h->origin = edge.node;
		h->slot = edge.slot;
	}
	s->version = cp->count - 1;
	s->output_nr = t->output_nr;
	s->is_output = is_output;
	s->packed = s->set = true;
}

bool ag_region_run(struct ag_ctx *ctx, struct ag_checkpoint *cp, struct ag_tensor *const *inputs,
                   uint32_t ninputs, struct ag_results *outputs)
{
	struct ag_node *region = ag_node_new(ctx, AG_NODE_Checkpoint, 0, ninputs, 0);
	struct ag_node *outer = ctx->region;
	bool again = ctx->computes_again, good;
	uint32_t i;

	region->extra = cp;
	region->hidden = true;
	ctx->memory.nodes--;
	ctx->save_failed = false;
	for (i = 0; i < ninputs; i++)
		ag_save_input(region, i, inputs[i]);
	good = ag_saves_ok(ctx);
	ctx->region = region;
	ctx->computes_again = false;
	good = good && cp->run(ctx, cp->closure.data, inputs, ninputs, outputs);
	ctx->region = outer;
	ctx->computes_again = again;
	ag_node_release(region);
	return good;
}

/* ---- and again */

static bool all_there(const struct ag_checkpoint *cp)
{
	return cp->counted >= cp->count;
}

bool ag_checkpoint_stops(const struct ag_ctx *ctx)
{
	return ctx->region && ctx->computes_again && all_there(ctx->region->extra);
}

/* Fills the next holder; the run ends once the last one has its value. */
static void fill(struct ag_ctx *ctx, struct ag_tensor *t)
{
	struct ag_checkpoint *cp = ctx->region->extra;
	uint32_t at = cp->counted++;

	if (at < cp->count && cp->holders[at].live) {
		cp->holders[at].value = ag_alias_same(t);
		ag_storage_save(t->storage);
	}
	ctx->save_failed |= all_there(cp);
}

bool ag_region_save(struct ag_node *n, uint32_t i, struct ag_tensor *t, bool is_output)
{
	if (t->wrapped_number)
		return false;
	if (n->ctx->computes_again) {
		fill(n->ctx, t);
		return false;
	}
	pack(n, i, t, is_output);
	return true;
}

static bool as_before(struct ag_ctx *ctx, const struct ag_checkpoint *cp)
{
	char was[128], is[128];
	uint32_t i;

	if (cp->counted < cp->count)
		return ag_fail(ctx, AG_ERR_RUNTIME,
		               "torch.utils.checkpoint: A different number of tensors was saved "
		               "during the original forward and recomputation.\nNumber of tensors "
		               "saved during forward: %u\nNumber of tensors saved during "
		               "recomputation: %u.",
		               cp->count, cp->counted);
	for (i = 0; i < cp->count; i++) {
		const struct ag_holder *h = &cp->holders[i];

		if (!h->value ||
		    (h->value->dtype == h->dtype && ag_shape_is(h->value, h->ndim, h->shape)))
			continue;
		return ag_fail(ctx, AG_ERR_RUNTIME,
		               "torch.utils.checkpoint: Recomputed values for the following "
		               "tensors have different metadata than during the forward "
		               "pass.\ntensor at position %u:\nsaved metadata: {'shape': "
		               "torch.Size(%s), 'dtype': torch.%s}\nrecomputed metadata: {'shape': "
		               "torch.Size(%s), 'dtype': torch.%s}",
		               i, ag_shape_text(h->ndim, h->shape, was, sizeof(was)),
		               ag_dtype_name((enum ag_dtype)h->dtype),
		               ag_shape_text(h->value->ndim, h->value->shape, is, sizeof(is)),
		               ag_dtype_name((enum ag_dtype)h->value->dtype));
	}
	return true;
}

static bool run_again(struct ag_ctx *ctx, struct ag_node *region)
{
	struct ag_checkpoint *cp = region->extra;
	struct ag_tensor **inputs = ag_alloc(region->nsaved, sizeof(*inputs));
	struct ag_node *outer = ctx->region;
	struct ag_results outputs = {0};
	bool again = ctx->computes_again, failed = ctx->save_failed, good = true;
	uint32_t i;

	for (i = 0; good && i < region->nsaved; i++) {
		inputs[i] = ag_unpack(region, i);
		good = inputs[i] || !region->saved[i].set;
	}
	for (i = 0; i < cp->count; i++) {
		drop_value(&cp->holders[i]);
		cp->holders[i].asked = false;
	}
	cp->counted = 0;
	ctx->region = region;
	ctx->computes_again = true;
	if (good && !ag_checkpoint_again(ctx, cp, inputs, region->nsaved, &outputs))
		good = all_there(cp);
	ctx->region = outer;
	ctx->computes_again = again;
	ctx->save_failed = failed;
	ag_results_release(&outputs);
	ag_region_done(region);
	free(inputs);
	if (!good)
		return false;
	ag_error_clear(ctx);
	cp->backward = ctx->backward;
	return as_before(ctx, cp);
}

/* A handle on what was computed again, where the first one was in the graph. */
static struct ag_tensor *in_place_of(struct ag_node *n, uint32_t i)
{
	const struct ag_holder *h = holder_of(n, i);
	struct ag_tensor *t;

	if (h->origin && h->origin->kind == AG_NODE_AccumulateGrad)
		return h->origin->extra;
	t = scoped(n->ctx, ag_alias_same(h->value));
	if (h->origin || n->saved[i].is_output) {
		t->grad_fn = ag_node_retain(h->origin ? h->origin : n);
		t->output_nr = h->origin ? h->slot : n->saved[i].output_nr;
		t->requires_grad = true;
	}
	return t;
}

struct ag_tensor *ag_region_unpack(struct ag_node *n, uint32_t i)
{
	struct ag_ctx *ctx = n->ctx;
	struct ag_node *region = ag_node_retain(n->region);
	struct ag_checkpoint *cp = region->extra;
	struct ag_tensor *t = NULL;

	if (((ctx->backward && cp->backward == ctx->backward) || run_again(ctx, region)) &&
	    n->saved[i].packed) {
		holder_of(n, i)->asked = true;
		if (holder_of(n, i)->value)
			t = in_place_of(n, i);
		else
			ag_fail(ctx, AG_ERR_RUNTIME,
			        "torch.utils.checkpoint: Unpack is being triggered for a tensor "
			        "that was already unpacked once. If you are calling "
			        "ctx.saved_tensors in backward, make sure to do so only once.");
	}
	ag_node_release(region);
	return t;
}

void ag_region_done(struct ag_node *n)
{
	uint32_t i;

	for (i = 0; has_holders(n) && i < n->nsaved; i++) {
		if (n->saved[i].packed && holder_of(n, i)->asked)
			drop_value(holder_of(n, i));
	}
}

/* ---- what ends */

void ag_region_forget(struct ag_node *n, uint32_t i)
{
	struct ag_holder *h;
	struct ag_node *origin;

	n->saved[i].packed = false;
	if (!has_holders(n))
		return;
	h = holder_of(n, i);
	origin = h->origin;
	h->live = false;
	h->origin = NULL;
	free(h->shape);
	h->shape = NULL;
	drop_value(h);
	ag_node_release(origin);
}

struct ag_node *ag_region_origin(const struct ag_node *n, uint32_t i)
{
	return n->saved[i].packed && has_holders(n) ? holder_of(n, i)->origin : NULL;
}

void ag_region_release(struct ag_checkpoint *cp)
{
	uint32_t i;

	for (i = 0; i < cp->count; i++) {
		drop_value(&cp->holders[i]);
		ag_node_release(cp->holders[i].origin);
		free(cp->holders[i].shape);
	}
	free(cp->holders);
}
