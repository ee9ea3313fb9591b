/* What holds what: walks from a tensor or node, each object once, and the
 * cycles that backward(create_graph=True) leaves. */

#include <stdlib.h>
#include <string.h>

#include "runtime/checkpoint.h"
#include "runtime/copy_slices.h"
#include "runtime/core.h"

struct item {
	struct ag_tensor *t;
	struct ag_node *n;
};

struct walk {
	struct item *items; /* in the order they were found: also the queue */
	size_t count, capacity;
	uint32_t *table; /* object to item + 1 */
	size_t table_size;
	struct item from;
	ag_reach_fn *fn;
	void *data;
	bool go_on;
};

static const void *key_of(const struct item *i)
{
	return i->t ? (const void *)i->t : (const void *)i->n;
}

static size_t slot_of(const struct walk *w, const void *key)
{
	uint64_t h = (uint64_t)(uintptr_t)key * UINT64_C(0x9e3779b97f4a7c15);
	size_t at = (size_t)(h >> 20) & (w->table_size - 1);

	while (w->table[at] && key_of(&w->items[w->table[at] - 1]) != key)
		at = (at + 1) & (w->table_size - 1);
	return at;
}

static void table_grow(struct walk *w)
{
	size_t i;

	free(w->table);
	w->table_size = w->table_size ? w->table_size * 2 : 64;
	w->table = ag_alloc(w->table_size, sizeof(*w->table));
	for (i = 0; i < w->count; i++)
		w->table[slot_of(w, key_of(&w->items[i]))] = (uint32_t)i + 1;
}

static void reach(struct walk *w, struct ag_tensor *t, struct ag_node *n, const char *role)
{
	struct item item = {t, t ? NULL : n};
	struct ag_reach r = {t, item.n, w->from.t, w->from.n, role};
	size_t at;

	if ((!t && !n) || !w->go_on)
		return;
	if (2 * (w->count + 1) > w->table_size)
		table_grow(w);
	at = slot_of(w, key_of(&item));
	if (w->table[at])
		return;
	if (w->count == w->capacity) {
		w->capacity = w->capacity ? 2 * w->capacity : 64;
		w->items = ag_grow(w->items, w->capacity, sizeof(*w->items));
	}
	w->items[w->count++] = item;
	w->table[at] = (uint32_t)w->count;
	w->go_on = w->fn(w->data, &r);
}

static void visit(void *walk, struct ag_tensor *t, struct ag_node *n, const char *role)
{
	reach(walk, t, n, role);
}

static void reach_hooks(struct walk *w, struct ag_hook *hook)
{
	for (; hook; hook = hook->next) {
		if (hook->closure.visit)
			hook->closure.visit(hook->closure.data, visit, w);
	}
}

static void from_tensor(struct walk *w, struct ag_tensor *t)
{
	reach(w, NULL, t->grad_fn, "grad_fn");
	reach(w, t->base, NULL, "base");
	reach(w, t->grad, NULL, "grad");
	reach_hooks(w, t->hooks);
	reach_hooks(w, t->post_hooks);
}

static void from_node(struct walk *w, struct ag_node *n)
{
	uint32_t i;

	for (i = 0; i < n->nsaved; i++) {
		reach(w, n->saved[i].t, NULL, "saved");
		reach(w, NULL, ag_region_origin(n, i), "edge");
	}
	reach(w, NULL, n->region, "checkpoint");
	for (i = 0; i < n->nedges; i++)
		reach(w, NULL, n->edges[i].node, "edge");
	if (n->kind == AG_NODE_AccumulateGrad)
		reach(w, n->extra, NULL, "variable");
	else if (n->kind == AG_NODE_CopySlices)
		reach(w, NULL, ag_copy_slices_inner(n), "inner");
	else if (n->kind == AG_NODE_Custom)
		ag_custom_visit(n, visit, w);
	else if (n->kind == AG_NODE_Checkpoint)
		ag_checkpoint_visit(n, visit, w);
	reach_hooks(w, n->hooks);
}

void ag_reachable(struct ag_ctx *ctx, struct ag_tensor *t, struct ag_node *n, ag_reach_fn *fn,
                  void *data)
{
	struct walk w = {.fn = fn, .data = data, .go_on = true};
	size_t i;

	(void)ctx;
	reach(&w, t, n, "start");
	for (i = 0; i < w.count && w.go_on; i++) {
		w.from = w.items[i];
		if (w.from.t)
			from_tensor(&w, w.from.t);
		else
			from_node(&w, w.from.n);
	}
	free(w.items);
	free(w.table);
}

struct search {
	struct ag_tensor *target;
	bool found;
};

static bool is_target(void *data, const struct ag_reach *reach_to)
{
	struct search *s = data;

	s->found = s->found || reach_to->tensor == s->target;
	return !s->found;
}

uint64_t ag_cycles(struct ag_ctx *ctx)
{
	struct ag_tensor *t;
	uint64_t count = 0;

	for (t = ctx->tensors.next; t != &ctx->tensors; t = t->next) {
		struct search s = {t, false};

		if (!t->grad || !t->grad->grad_fn)
			continue;
		ag_reachable(ctx, t->grad, NULL, is_target, &s);
		count += s.found;
	}
	return count;
}
