/* What nothing outside refers to, yet is alive: cycles of counted references.
 * An object with more references than other objects account for is held from
 * outside; what cannot be reached from such objects is garbage for ever. */

#include <stdlib.h>
#include <string.h>

#include "runtime/checkpoint.h"
#include "runtime/copy_slices.h"
#include "runtime/core.h"

struct thing {
	struct ag_tensor *t;
	struct ag_node *n;
	uint32_t inside; /* references from other objects */
	bool held;       /* from outside, or by something that is */
};

struct heap {
	struct thing *things;
	size_t count;
	uint32_t *table; /* object to thing + 1 */
	size_t table_size;
	size_t *queue;
	size_t queued;
};

typedef void edge_fn(struct heap *h, const void *to);

static const void *key_of(const struct thing *x)
{
	return x->t ? (const void *)x->t : (const void *)x->n;
}

static size_t slot_of(const struct heap *h, const void *key)
{
	uint64_t hash = (uint64_t)(uintptr_t)key * UINT64_C(0x9e3779b97f4a7c15);
	size_t at = (size_t)(hash >> 20) & (h->table_size - 1);

	while (h->table[at] && key_of(&h->things[h->table[at] - 1]) != key)
		at = (at + 1) & (h->table_size - 1);
	return at;
}

static void add(struct heap *h, struct ag_tensor *t, struct ag_node *n)
{
	struct thing thing = {t, n, 0, false};

	h->things[h->count] = thing;
	h->table[slot_of(h, t ? (const void *)t : (const void *)n)] = (uint32_t)++h->count;
}

/* Hidden nodes are in the list, too, though the counts leave them out. */
static void heap_open(struct heap *h, struct ag_ctx *ctx)
{
	struct ag_tensor *t;
	struct ag_node *n;
	size_t total = 0;

	for (t = ctx->tensors.next; t != &ctx->tensors; t = t->next)
		total++;
	for (n = ctx->nodes.next; n != &ctx->nodes; n = n->next)
		total++;
	memset(h, 0, sizeof(*h));
	for (h->table_size = 64; h->table_size < 2 * total; h->table_size *= 2)
		;
	h->things = ag_alloc(total, sizeof(*h->things));
	h->queue = ag_alloc(total, sizeof(*h->queue));
	h->table = ag_alloc(h->table_size, sizeof(*h->table));
	for (t = ctx->tensors.next; t != &ctx->tensors; t = t->next)
		add(h, t, NULL);
	for (n = ctx->nodes.next; n != &ctx->nodes; n = n->next)
		add(h, NULL, n);
}

static void each_edge(struct heap *h, const struct thing *x, edge_fn *fn)
{
	struct ag_node *n = x->n;
	uint32_t i;

	if (x->t) {
		fn(h, x->t->grad_fn);
		fn(h, x->t->base);
		fn(h, x->t->grad);
		return;
	}
	for (i = 0; i < n->nsaved; i++) {
		fn(h, n->saved[i].t);
		fn(h, ag_region_origin(n, i));
	}
	fn(h, n->region);
	for (i = 0; i < n->nedges; i++)
		fn(h, n->edges[i].node);
	if (n->kind == AG_NODE_AccumulateGrad)
		fn(h, n->extra);
	if (n->kind == AG_NODE_CopySlices)
		fn(h, ag_copy_slices_inner(n));
}

static struct thing *find(struct heap *h, const void *key)
{
	uint32_t at = key ? h->table[slot_of(h, key)] : 0;

	return at ? &h->things[at - 1] : NULL;
}

static void count_edge(struct heap *h, const void *to)
{
	struct thing *x = find(h, to);

	if (x)
		x->inside++;
}

static void mark(struct heap *h, struct thing *x)
{
	if (x->held)
		return;
	x->held = true;
	h->queue[h->queued++] = (size_t)(x - h->things);
}

static void mark_edge(struct heap *h, const void *to)
{
	struct thing *x = find(h, to);

	if (x)
		mark(h, x);
}

/* A storage counts when no held tensor is on it: its references are all lost. */
static void count_bytes(struct heap *h, struct ag_ctx *ctx, struct ag_garbage *out)
{
	struct ag_storage *s;
	size_t i;

	for (s = ctx->storages.next; s != &ctx->storages; s = s->next) {
		uint32_t lost = 0;

		for (i = 0; i < h->count && s->refs > lost; i++)
			lost += !h->things[i].held && h->things[i].t &&
			        h->things[i].t->storage == s;
		if (lost && lost == s->refs)
			out->bytes += s->bytes;
	}
}

/* After this what is not held is garbage. */
static void heap_settle(struct heap *h, struct ag_ctx *ctx)
{
	size_t i;

	heap_open(h, ctx);
	for (i = 0; i < h->count; i++)
		each_edge(h, &h->things[i], count_edge);
	for (i = 0; i < h->count; i++) {
		struct thing *x = &h->things[i];

		if ((x->t ? x->t->refs : x->n->refs) > x->inside)
			mark(h, x);
	}
	for (i = 0; i < h->queued; i++)
		each_edge(h, &h->things[h->queue[i]], mark_edge);
}

static void heap_close(struct heap *h)
{
	free(h->things);
	free(h->queue);
	free(h->table);
}

static bool is_lost(const struct thing *x)
{
	return !x->held && (x->t || !x->n->hidden);
}

void ag_find_garbage(struct ag_ctx *ctx, struct ag_garbage *out)
{
	struct heap h;
	size_t i;

	memset(out, 0, sizeof(*out));
	heap_settle(&h, ctx);
	for (i = 0; i < h.count; i++) {
		out->tensors += is_lost(&h.things[i]) && h.things[i].t;
		out->nodes += is_lost(&h.things[i]) && h.things[i].n;
	}
	if (out->tensors)
		count_bytes(&h, ctx, out);
	heap_close(&h);
}

void ag_each_garbage(struct ag_ctx *ctx, ag_reach_fn *fn, void *data)
{
	struct heap h;
	bool more = true;
	size_t i;

	heap_settle(&h, ctx);
	for (i = 0; i < h.count && more; i++) {
		struct ag_reach lost = {
		        .tensor = h.things[i].t, .node = h.things[i].n, .role = "lost"};

		more = !is_lost(&h.things[i]) || fn(data, &lost);
	}
	heap_close(&h);
}
