/* What happens at the places that are watched: what they make has a graph, what they
 * store is a tensor, what they retain is run backward through again. */

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/bug.h"
#include "analyzer/base/hash.h"
#include "analyzer/replay/assume.h"
#include "analyzer/replay/measure.h"
#include "analyzer/replay/py_step.h"

enum {
	MOST_WALKED = 20000, /* nodes, for one backward */
	TRAINING_STEPS = 8,  /* whose backwards are digested */
	MOST_RETURNED = 512, /* tensors */
};

static bool is_tensor(struct val v)
{
	if (is_kind(v, K_UNKNOWN))
		v = unknown_root(AS(unknown, v))->same;
	return is_kind(v, K_TENSOR);
}

/* --- sums and states: what is stored contains what was stored before */

enum { CHAIN_DEPTH = 4 };

static bool contains(const struct ag_node *node, const struct id_set *set, int depth)
{
	for (uint32_t i = 0; node && depth < CHAIN_DEPTH && i < ag_node_edges(node); i++) {
		const struct ag_node *edge = ag_node_edge(node, i);

		if (edge && (id_set_has(set, ag_node_id(edge)) || contains(edge, set, depth + 1)))
			return true;
	}
	return false;
}

static void note_chain(struct replay *r, uint32_t index, struct val stored)
{
	struct id_set *before = &r->chained[index];
	struct ag_tensor *tensor = NULL;
	struct ag_node *node;
	uint32_t count = 0;

	if (!is_null(stored))
		gather_tensors(stored, &tensor, &count, 1, 0);
	node = count ? ag_grad_fn(ctx_of(r->vm), tensor) : NULL;
	if (!node || ag_node_variable(node))
		return;
	if (before->at && contains(node, before, 0))
		r->chains |= UINT64_C(1) << index;
	id_set_add(before, ag_node_id(node));
}

static bool is_in_loop(const struct vm *vm)
{
	for (const struct frame *f = vm->frame; f; f = f->caller)
		if (runs_watched(vm, f) &&
		    cfg_in_loop(f->code->func, (block_id){f->block},
		                f->code->func->blocks.at[vm->watched_header.n].loop))
			return true;
	return false;
}

static void place_ran(struct vm *vm, uint32_t index, struct val stored)
{
	struct replay *r = vm->user;

	r->ran |= UINT64_C(1) << index;
	if (r->request->tensors >> index & 1)
		unknown_to_tensors(vm, stored, 0);
	note_chain(r, index, stored);
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
	uint32_t *links; /* that were met, by place; NULL: nobody asks */
};

static void note_links(const struct walk *w, uint64_t id)
{
	for (uint32_t i = 0; i < w->r->vm->watch_count; i++)
		if (w->r->chains >> i & 1 && id_set_has(&w->r->chained[i], id) && ++w->links[i] > 1)
			w->r->seen[i].needed = true;
}

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
		if (w->links)
			note_links(w, ag_node_id(node));
		if (w->r->kept.at)
			needs_backward(w->r, ag_node_id(node));
		for (uint32_t i = 0; i < ag_node_edges(node); i++)
			walk_push(w, ag_node_edge(node, i));
	}
	free((void *)w->todo);
}

void needs_returned(struct replay *r, struct val result)
{
	struct ag_tensor *tensors[MOST_RETURNED];
	struct walk w = {.r = r};
	uint32_t count = 0;

	if (is_null(result) || (!r->closing && (r->result->count < REPLAY_LEAST || !needs_look(r))))
		return;
	gather_tensors(result, tensors, &count, MOST_RETURNED, 0);
	for (uint32_t i = 0; i < count; i++)
		walk_push(&w, ag_grad_fn(ctx_of(r->vm), tensors[i]));
	walk(&w);
	free(w.met.at);
	if (!r->closing)
		needs_forget(r);
}

static void keep_retained(struct replay *r, const struct walk *w, uint32_t place)
{
	r->seen[place].retained++;
	for (uint32_t i = 0; w->met.at && i <= w->met.mask; i++)
		if (w->met.at[i]) {
			id_set_add(&r->retained[place], w->met.at[i] - 1);
			shares_note(r, place, w->met.at[i] - 1);
		}
}

static void place_backward(struct vm *vm, struct ag_tensor *from, unsigned flags)
{
	struct replay *r = vm->user;
	uint32_t links[REPLAY_MOST_WATCHED] = {0}, place = r->at_place;
	struct walk w = {.r = r, .links = r->chains && !is_in_loop(vm) ? links : NULL};

	r->recorded = 0;
	r->at_place = 0;
	if (!r->closing && !r->request->follow_retained && !w.links &&
	    r->result->count >= TRAINING_STEPS)
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
	r->chained = arena_array(arena, struct id_set, REPLAY_MOST_WATCHED + 1);
	r->result->watched = r->watched;
	r->result->seen = r->seen;
	r->vm->on_watched = place_ran;
	r->vm->on_given = shares_given;
	r->vm->on_passed = shares_passed;
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
	shares_reset(r);
}

void places_release(struct replay *r)
{
	shares_reset(r);
	for (uint32_t i = 0; i < REPLAY_MOST_WATCHED; i++) {
		free(r->retained[i].at);
		free(r->chained[i].at);
	}
}
