/* What happens at the places that are watched: what they make has a graph, what they
 * store is a tensor, what they retain is run backward through again. */

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/bug.h"
#include "analyzer/base/hash.h"
#include "analyzer/replay/assume.h"
#include "analyzer/replay/measure.h"

enum {
	MOST_WALKED = 20000, /* nodes, for one backward */
	TRAINING_STEPS = 8,  /* whose backwards are digested */
};

static bool is_tensor(struct val v)
{
	if (is_kind(v, K_UNKNOWN))
		v = unknown_root(AS(unknown, v))->same;
	return is_kind(v, K_TENSOR);
}

static void place_ran(struct vm *vm, uint32_t index, struct val stored)
{
	struct replay *r = vm->user;

	r->ran |= UINT64_C(1) << index;
	if (r->request->tensors >> index & 1)
		unknown_to_tensors(vm, stored, 0);
	if (is_tensor(stored))
		r->stored |= UINT64_C(1) << index;
	r->at_place = index + 1;
}

static void place_made(struct vm *vm, struct val made, uint32_t place)
{
	struct replay *r = vm->user;
	struct ag_tensor *tensors[TORCH_MAX_ARGS];
	uint32_t count = 0;

	gather_tensors(made, tensors, &count, TORCH_MAX_ARGS, 0);
	for (uint32_t i = 0; i < count; i++) {
		assumed_prove(vm, tensors[i]);
		if (place && ag_grad_fn(ctx_of(vm), tensors[i]))
			r->recorded |= UINT64_C(1) << (place - 1);
	}
}

static bool is_born(struct vm *vm, const struct ir_module *module, struct span span)
{
	const struct replay_request *request = ((struct replay *)vm->user)->request;

	for (uint32_t i = 0; i < request->born_count; i++)
		if (request->born[i].source == module->source &&
		    request->born[i].span.start == span.start &&
		    request->born[i].span.end == span.end)
			return true;
	return false;
}

/* --- what backward runs through */

static void note_reuse(struct replay *r, uint64_t id)
{
	for (uint32_t i = 0; i < r->vm->watch_count; i++)
		if (r->retained[i].at && id_set_has(&r->retained[i], id))
			r->seen[i].reused = true;
}

static uint64_t digest_of(struct ag_node *node)
{
	const struct ag_tensor *leaf = ag_node_variable(node);
	const char *name = ag_node_name(node);

	if (leaf)
		return hash_bytes(ag_shape(leaf), (size_t)ag_ndim(leaf) * sizeof(int64_t));
	return hash_bytes(name, strlen(name));
}

struct walk {
	struct replay *r;
	struct ag_node **todo;
	uint32_t count, capacity;
	struct id_set met;
	uint64_t digest;
};

static void walk_push(struct walk *w, struct ag_node *node)
{
	if (!node || w->met.count >= MOST_WALKED || !id_set_add(&w->met, ag_node_id(node)))
		return;
	if (w->count == w->capacity) {
		w->capacity = w->capacity ? w->capacity * 2 : 64;
		w->todo = checked_realloc((void *)w->todo, w->capacity, sizeof(struct ag_node *));
	}
	w->todo[w->count++] = node;
}

static void walk(struct walk *w)
{
	while (w->count) {
		struct ag_node *node = w->todo[--w->count];

		w->digest = hash_join(w->digest, digest_of(node));
		if (w->r->request->follow_retained && !ag_node_variable(node))
			note_reuse(w->r, ag_node_id(node));
		if (w->r->closing)
			needs_backward(w->r, ag_node_id(node));
		for (uint32_t i = 0; i < ag_node_edges(node); i++)
			walk_push(w, ag_node_edge(node, i));
	}
	free((void *)w->todo);
}

void needs_returned(struct replay *r, struct val result)
{
	struct ag_tensor *tensors[TORCH_MAX_ARGS];
	struct walk w = {.r = r};
	uint32_t count = 0;

	if (!r->closing || is_null(result))
		return;
	gather_tensors(result, tensors, &count, TORCH_MAX_ARGS, 0);
	for (uint32_t i = 0; i < count; i++)
		walk_push(&w, ag_grad_fn(ctx_of(r->vm), tensors[i]));
	walk(&w);
	free(w.met.at);
}

static void keep_retained(struct replay *r, const struct walk *w, uint32_t place)
{
	r->seen[place].retained++;
	for (uint32_t i = 0; w->met.at && i <= w->met.mask; i++)
		if (w->met.at[i])
			id_set_add(&r->retained[place], w->met.at[i] - 1);
}

static void place_backward(struct vm *vm, struct ag_tensor *from, unsigned flags)
{
	struct replay *r = vm->user;
	struct walk w = {.r = r};
	uint32_t place = r->at_place;

	r->recorded = 0;
	r->at_place = 0;
	if (!r->closing && !r->request->follow_retained && r->result->count >= TRAINING_STEPS)
		return;
	walk_push(&w, from ? ag_grad_fn(ctx_of(vm), from) : NULL);
	walk(&w);
	if (r->result->count < TRAINING_STEPS)
		r->result->trained = hash_join(r->result->trained, w.digest);
	if (r->request->follow_retained && place && flags & AG_RETAIN_GRAPH)
		keep_retained(r, &w, place - 1);
	free(w.met.at);
}

/* --- an iteration is over */

void places_note(struct replay *r)
{
	for (uint32_t i = 0; i < r->vm->watch_count; i++) {
		r->watched[i] += r->ran >> i & 1;
		r->seen[i].recorded += r->recorded >> i & 1;
		r->seen[i].stored += r->stored >> i & 1;
	}
	r->ran = r->recorded = r->stored = 0;
}

void places_open(struct replay *r)
{
	struct arena *arena = r->request->arena;

	r->watched = arena_array(arena, uint32_t, REPLAY_MOST_WATCHED + 1);
	r->seen = arena_array(arena, struct replay_seen, REPLAY_MOST_WATCHED + 1);
	r->retained = arena_array(arena, struct id_set, REPLAY_MOST_WATCHED + 1);
	r->result->watched = r->watched;
	r->result->seen = r->seen;
	r->vm->on_watched = place_ran;
	r->vm->on_born = place_made;
	if (r->request->born_count)
		r->vm->is_born = is_born;
	torch_of(r->vm)->on_backward = place_backward;
}

/* What was noted so far was another loop's. */
void places_reset(struct replay *r)
{
	memset(r->watched, 0, (REPLAY_MOST_WATCHED + 1) * sizeof(*r->watched));
	memset(r->seen, 0, (REPLAY_MOST_WATCHED + 1) * sizeof(*r->seen));
	r->ran = r->recorded = r->stored = 0;
}

void places_release(struct replay *r)
{
	for (uint32_t i = 0; i < REPLAY_MOST_WATCHED; i++)
		free(r->retained[i].at);
}
