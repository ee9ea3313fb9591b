/* Autograd nodes: edges, saved tensors, and taking dead graphs apart. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/checkpoint.h"
#include "runtime/core.h"

static const struct {
	const char *name;
	const char *saved; /* names of what is saved, in order */
} kinds[AG_NODE_COUNT] = {
#define NODE(id, name, saved) [AG_NODE_##id] = {name, saved},
#include "runtime/nodes.def"
#undef NODE
};

struct ag_node *ag_node_new(struct ag_ctx *ctx, enum ag_node_kind kind, uint32_t nedges,
                            uint32_t nsaved, uint32_t nints)
{
	size_t size = sizeof(struct ag_node) + nedges * sizeof(struct ag_edge) +
	              nsaved * sizeof(struct ag_saved) + nints * sizeof(int64_t);
	struct ag_node *n = ag_block_new(ctx, size);

	n->ctx = ctx;
	n->refs = 1;
	n->kind = (uint16_t)kind;
	n->id = ++ctx->next_id;
	n->site = ctx->site;
	n->bytes = (uint32_t)size;
	n->nedges = (uint16_t)nedges;
	n->nsaved = (uint16_t)nsaved;
	n->nints = (uint16_t)nints;
	n->saved = (struct ag_saved *)(n + 1);
	n->edges = (struct ag_edge *)(n->saved + nsaved);
	n->ints = (int64_t *)(n->edges + nedges);
	n->next = &ctx->nodes;
	n->prev = ctx->nodes.prev;
	n->prev->next = n->next->prev = n;
	ctx->memory.nodes++;
	ctx->memory.nodes_made++;
	ctx->memory.host_bytes += size;
	if (n->site < ctx->nsites)
		ctx->sites[n->site].memory.nodes++;
	return n;
}

struct ag_node *ag_accumulator(struct ag_tensor *t)
{
	struct ag_node *n = t->accumulator;

	if (n)
		return n;
	n = ag_node_new(t->ctx, AG_NODE_AccumulateGrad, 0, 0, 0);
	n->extra = ag_retain(t);
	ag_node_add_result(n, t);
	t->accumulator = n;
	return n;
}

/* `owned` says whether the caller must release the node: a new accumulator. */
struct ag_edge ag_gradient_edge(struct ag_tensor *t)
{
	struct ag_edge edge = {0};
	struct ag_node *fn;

	if (!t)
		return edge;
	fn = ag_grad_fn(t->ctx, t);
	if (fn) {
		edge.node = ag_node_retain(fn);
		edge.slot = t->output_nr;
	} else if (t->requires_grad) {
		edge.node = t->accumulator ? ag_node_retain(t->accumulator) : ag_accumulator(t);
	}
	return edge;
}

void ag_node_connect(struct ag_node *n, uint32_t i, struct ag_tensor *t)
{
	n->edges[i] = ag_gradient_edge(t);
}

struct ag_node *ag_node_retain(struct ag_node *n)
{
	if (n)
		n->refs++;
	return n;
}

void ag_node_release(struct ag_node *n)
{
	struct ag_ctx *ctx;

	if (!n || --n->refs)
		return;
	ctx = n->ctx;
	n->prev->next = n->next;
	n->next->prev = n->prev;
	n->next = ctx->dead_nodes;
	ctx->dead_nodes = n;
	ag_drain(ctx);
}

void ag_node_add_result(struct ag_node *n, const struct ag_tensor *t)
{
	uint32_t used = 0, i, need = 1u + t->ndim;

	for (i = 0; i < n->nresults; i++)
		used += 1 + (uint32_t)(n->meta[used] >> 8);
	if (used + need <= AG_NODE_WORDS) {
		n->meta = n->few;
	} else if (n->meta == n->few || !n->meta) {
		int64_t *meta = ag_alloc(used + need, sizeof(*meta));

		memcpy(meta, n->few, used * sizeof(*meta));
		n->meta = meta;
	} else {
		n->meta = ag_grow(n->meta, used + need, sizeof(*n->meta));
	}
	n->meta[used] = t->dtype | (int64_t)t->ndim << 8;
	memcpy(n->meta + used + 1, t->shape, t->ndim * sizeof(int64_t));
	n->nresults++;
}

const int64_t *ag_node_result(const struct ag_node *n, uint32_t slot, int *ndim,
                              enum ag_dtype *dtype)
{
	uint32_t used = 0, i;

	for (i = 0; i < slot; i++)
		used += 1 + (uint32_t)(n->meta[used] >> 8);
	*ndim = (int)(n->meta[used] >> 8);
	*dtype = (enum ag_dtype)(n->meta[used] & 255);
	return n->meta + used + 1;
}

static void save(struct ag_node *n, uint32_t i, struct ag_tensor *handle, struct ag_tensor *t)
{
	struct ag_saved *s = &n->saved[i];
	bool is_output = handle != t;

	if (t->inference && !n->ctx->mode.inference) {
		n->ctx->save_failed = true;
		ag_release(handle);
		return;
	}
	if (n->ctx->region && ag_region_save(n, i, t, is_output)) {
		ag_release(handle);
		return;
	}
	s->is_output = is_output;
	s->t = handle;
	s->version = ag_version(t);
	s->output_nr = t->output_nr;
	s->set = true;
	ag_storage_save(handle->storage);
}

void ag_save_input(struct ag_node *n, uint32_t i, struct ag_tensor *t)
{
	if (t)
		save(n, i, ag_retain(t), t);
}

void ag_save_output(struct ag_node *n, uint32_t i, struct ag_tensor *t)
{
	if (!t->grad_fn) {
		ag_save_input(n, i, t);
		return;
	}
	save(n, i, ag_alias_same(t), t);
}

bool ag_saves_ok(struct ag_ctx *ctx)
{
	bool ok = !ctx->save_failed;

	ctx->save_failed = false;
	if (ok)
		return true;
	if (ag_checkpoint_stops(ctx))
		return ag_fail(ctx, AG_ERR_RUNTIME, "all that the checkpoint needs is there");
	return ag_fail(ctx, AG_ERR_RUNTIME,
	               "Inference tensors cannot be saved for backward. Please do not use Tensors "
	               "created in inference mode in computation tracked by autograd. To work "
	               "around this, you can make a clone to get a normal tensor and use it in "
	               "autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`.");
}

const char *ag_type_text(const struct ag_tensor *t, char *out, size_t size)
{
	static const char *const names[AG_DTYPE_COUNT] = {
	        [AG_BOOL8] = "Bool", [AG_U8] = "Byte",          [AG_I8] = "Char",
	        [AG_I16] = "Short",  [AG_I32] = "Int",          [AG_I64] = "Long",
	        [AG_F16] = "Half",   [AG_BF16] = "BFloat16",    [AG_F32] = "Float",
	        [AG_F64] = "Double", [AG_C64] = "ComplexFloat", [AG_C128] = "ComplexDouble",
	};
	char shape[128];

	snprintf(out, size, "torch.%sTensor %s", names[t->dtype],
	         ag_shape_text(t->ndim, t->shape, shape, sizeof(shape)));
	return out;
}

static struct ag_tensor *version_error(struct ag_node *n, const struct ag_saved *s)
{
	char type[192], output[96] = "";
	const struct ag_node *fn = s->is_output ? n : s->t->grad_fn;

	if (fn)
		snprintf(output, sizeof(output), ", which is output %u of %s,", s->output_nr,
		         kinds[fn->kind].name);
	return ag_null(n->ctx, AG_ERR_RUNTIME,
	               "one of the variables needed for gradient computation has been modified by "
	               "an inplace operation: [%s]%s is at version %u; expected version %u "
	               "instead. Hint: enable anomaly detection to find the operation that failed "
	               "to compute its gradient, with torch.autograd.set_detect_anomaly(True).",
	               ag_type_text(s->t, type, sizeof(type)), output, ag_version(s->t),
	               s->version);
}

struct ag_tensor *ag_unpack(struct ag_node *n, uint32_t i)
{
	struct ag_saved *s = &n->saved[i];
	struct ag_tensor *t;

	if (!s->set)
		return NULL;
	if (s->packed)
		return ag_region_unpack(n, i);
	if (!s->t)
		return ag_null(n->ctx, AG_ERR_RUNTIME,
		               "Trying to backward through the graph a second time (or directly "
		               "access saved tensors after they have already been freed). Saved "
		               "intermediate values of the graph are freed when you call "
		               ".backward() or autograd.grad(). Specify retain_graph=True if you "
		               "need to backward through the graph a second time or if you need to "
		               "access saved tensors after calling backward.");
	if (ag_version(s->t) != s->version)
		return version_error(n, s);
	if (!s->is_output || !n->ctx->mode.enabled)
		return s->t;
	t = scoped(n->ctx, ag_alias_same(s->t));
	t->grad_fn = ag_node_retain(n);
	t->output_nr = s->output_nr;
	t->requires_grad = true;
	return t;
}

void ag_node_free_saved(struct ag_node *n)
{
	struct ag_node *region = n->region;
	uint32_t i;

	for (i = 0; i < n->nsaved; i++) {
		struct ag_tensor *t = n->saved[i].t;

		if (n->saved[i].packed)
			ag_region_forget(n, i);
		if (!t)
			continue;
		n->saved[i].t = NULL;
		ag_storage_unsave(t->storage);
		ag_release(t);
	}
	n->region = NULL;
	ag_node_release(region);
}

static void free_closure(struct ag_closure *closure)
{
	if (closure->release)
		closure->release(closure->data);
}

void ag_hooks_free(struct ag_hook *hooks)
{
	while (hooks) {
		struct ag_hook *next = hooks->next;

		if (hooks->retain)
			hooks->retain->retain_node = NULL;
		free_closure(&hooks->closure);
		free(hooks);
		hooks = next;
	}
}

static void forget_retain(struct ag_tensor *t)
{
	struct ag_hook *h;

	if (!t->retain_node)
		return;
	for (h = t->retain_node->hooks; h; h = h->next) {
		if (h->retain == t)
			h->retain = NULL;
	}
	t->retain_node = NULL;
}

static void tensor_cut(struct ag_tensor *t)
{
	struct ag_node *fn = t->grad_fn;
	struct ag_tensor *grad = t->grad, *base = t->base;
	struct ag_hook *hooks = t->hooks, *post = t->post_hooks;

	forget_retain(t);
	t->grad_fn = NULL;
	t->grad = t->base = NULL;
	t->hooks = t->post_hooks = NULL;
	ag_node_release(fn);
	ag_release(grad);
	ag_release(base);
	ag_hooks_free(hooks);
	ag_hooks_free(post);
}

static void node_cut(struct ag_node *n)
{
	struct ag_tensor *leaf;
	struct ag_hook *hooks = n->hooks;
	uint32_t i;

	ag_node_free_saved(n);
	for (i = 0; i < n->nedges; i++) {
		struct ag_node *next = n->edges[i].node;

		n->edges[i].node = NULL;
		ag_node_release(next);
	}
	if (n->extra && n->kind == AG_NODE_AccumulateGrad) {
		leaf = n->extra;
		n->extra = NULL;
		leaf->accumulator = NULL;
		ag_release(leaf);
	} else if (n->extra && n->kind == AG_NODE_CopySlices) {
		ag_copy_slices_free(n);
	} else if (n->extra && n->kind == AG_NODE_Custom) {
		ag_custom_free(n);
	} else if (n->extra && n->kind == AG_NODE_Checkpoint) {
		ag_checkpoint_free(n);
	}
	n->hooks = NULL;
	ag_hooks_free(hooks);
}

static void tensor_free(struct ag_tensor *t)
{
	tensor_cut(t);
	ag_storage_release(t->storage);
	ag_drop_version(t->own_version);
	ag_block_free(t->ctx, t, sizeof(*t));
}

static void node_free(struct ag_node *n)
{
	struct ag_ctx *ctx = n->ctx;

	node_cut(n);
	ctx->memory.nodes -= !n->hidden;
	ctx->memory.host_bytes -= n->bytes;
	if (n->site < ctx->nsites)
		ctx->sites[n->site].memory.nodes--;
	if (n->meta != n->few)
		free(n->meta);
	ag_block_free(ctx, n, n->bytes);
}

void ag_drain(struct ag_ctx *ctx)
{
	if (ctx->draining)
		return;
	ctx->draining = true;
	while (ctx->dead_tensors || ctx->dead_nodes) {
		struct ag_tensor *t = ctx->dead_tensors;
		struct ag_node *n = ctx->dead_nodes;

		if (t) {
			ctx->dead_tensors = t->next;
			tensor_free(t);
		} else {
			ctx->dead_nodes = n->next;
			node_free(n);
		}
	}
	ctx->draining = false;
}

void ag_unlink_all(struct ag_ctx *ctx)
{
	struct ag_tensor *t;
	struct ag_node *n;

	for (n = ctx->nodes.next; n != &ctx->nodes; n = n->next)
		node_cut(n);
	for (t = ctx->tensors.next; t != &ctx->tensors; t = t->next)
		tensor_cut(t);
}

void ag_set_history(struct ag_tensor *t, struct ag_node *n)
{
	t->output_nr = n->nresults;
	t->requires_grad = true;
	ag_node_add_result(n, t);
	ag_node_retain(n);
	ag_node_release(t->grad_fn);
	t->grad_fn = n;
}

const char *ag_node_name(const struct ag_node *n)
{
	if (n->kind == AG_NODE_Custom)
		return ag_custom_name(n);
	return kinds[n->kind].name;
}

uint64_t ag_node_id(const struct ag_node *n)
{
	return n->id;
}

uint32_t ag_node_site(const struct ag_node *n)
{
	return n->site;
}

bool ag_node_freed(const struct ag_node *n)
{
	return n->freed;
}

bool ag_node_is_opaque(const struct ag_node *n)
{
	return n->kind == AG_NODE_Opaque;
}

uint32_t ag_node_edges(const struct ag_node *n)
{
	return n->nedges;
}

struct ag_node *ag_node_edge(const struct ag_node *n, uint32_t i)
{
	return i < n->nedges ? n->edges[i].node : NULL;
}

struct ag_tensor *ag_node_variable(const struct ag_node *n)
{
	return n->kind == AG_NODE_AccumulateGrad ? n->extra : NULL;
}

uint32_t ag_node_saved(const struct ag_node *n)
{
	return n->nsaved;
}

/* The i-th word of a list of names; the last one serves for all that follow. */
static void saved_name(const char *names, uint32_t i, char *out, size_t size)
{
	while (i-- && strchr(names, ' '))
		names = strchr(names, ' ') + 1;
	snprintf(out, size, "%.*s", (int)strcspn(names, " "), names);
}

bool ag_node_saved_at(const struct ag_node *n, uint32_t i, struct ag_saved_info *info)
{
	if (i >= n->nsaved || !n->saved[i].t)
		return false;
	saved_name(kinds[n->kind].saved, i, info->name, sizeof(info->name));
	info->tensor = n->saved[i].t;
	info->storage = n->saved[i].t->storage;
	info->is_output = n->saved[i].is_output;
	return true;
}

void ag_each_node(struct ag_ctx *ctx, ag_node_fn *fn, void *data)
{
	struct ag_node *n = ctx->nodes.next;

	while (n != &ctx->nodes && fn(data, n))
		n = n->next;
}
