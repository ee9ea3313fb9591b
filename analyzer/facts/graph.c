/* Tensors and their graphs: parents, what backward frees, what is proven. */

#include "analyzer/facts/analysis.h"

bool is_tensor_like(const struct analysis *a, object_id id)
{
	enum object_kind kind = def_of(a, id)->kind;

	return kind == OBJECT_TENSOR || kind == OBJECT_UNKNOWN;
}

/* What a function keeps: defaults, and the captured variables of its frame. */
static value_id captured_by(struct analysis *a, const struct state *state, object_id function)
{
	const struct object *object = object_read(state, function);
	const struct ir_func *func = def_of(a, function)->func;
	object_id frame = value_single(a, object->of);
	value_id all = contents_of(a, object);

	for (uint32_t s = 1; frame.n && func && s < func->slots.count; s++)
		if (func->slots.at[s].kind == SLOT_FREE)
			all = value_join(
			        a, all,
			        field_get(object_read(state, frame), func->slots.at[s].outer.n));
	return all;
}

/* What is kept alive with an object that is no tensor. */
static value_id held_by(struct analysis *a, const struct state *state, object_id id)
{
	const struct object *object = object_read(state, id);

	switch (def_of(a, id)->kind) {
	case OBJECT_FUNCTION:
		return captured_by(a, state, id);
	case OBJECT_PARTIAL:
	case OBJECT_BOUND:
	case OBJECT_WRAPPER:
		return value_join(a, object->of, contents_of(a, object));
	case OBJECT_GENERATOR:
		return contents_of(a, object_read(state, value_single(a, object->of)));
	default:
		return contents_of(a, object);
	}
}

static bool holds_others(enum object_kind kind)
{
	switch (kind) {
	case OBJECT_FUNCTION:
	case OBJECT_PARTIAL:
	case OBJECT_BOUND:
	case OBJECT_WRAPPER:
	case OBJECT_GENERATOR:
	case OBJECT_LIST:
	case OBJECT_TUPLE:
	case OBJECT_SET:
	case OBJECT_DEQUE:
	case OBJECT_DICT:
	case OBJECT_ITERATOR:
	case OBJECT_INSTANCE:
		return true;
	default:
		return false;
	}
}

static uint32_t held_begin(struct analysis *a)
{
	if (a->held_room < a->defs.count * 2) {
		a->held_room = a->defs.count * 4;
		a->held_marks = arena_array(a->arena, uint32_t, a->held_room);
	}
	a->held.count = 0;
	return ++a->held_round;
}

/* Queues what else is held: each thing once, however many ways lead to it. */
static void look_into(struct analysis *a, value_id value, uint32_t round)
{
	const struct value *v = value_get(a, value);

	for (uint32_t i = 0; i < v->count; i++) {
		const object_id id = v->refs[i];

		if (a->held_marks[id.n] == round ||
		    (!is_tensor_like(a, id) && !holds_others(def_of(a, id)->kind)))
			continue;
		a->held_marks[id.n] = round;
		vec_push(a->arena, &a->held, id);
	}
}

value_id tensors_in(struct analysis *a, const struct state *state, value_id value, int depth)
{
	const uint32_t round = held_begin(a);
	value_id found = {0};

	look_into(a, value, round);
	for (uint32_t i = 0, level = a->held.count; i < a->held.count; i++) {
		const object_id id = a->held.at[i];

		if (i == level) {
			level = a->held.count;
			depth--;
		}
		if (is_tensor_like(a, id) && !def_of(a, id)->no_tensor)
			found = value_join(a, found, value_of(a, id));
		if (depth > 0 && holds_others(def_of(a, id)->kind) &&
		    !(object_read(state, id)->flags & O_MODULE))
			look_into(a, held_by(a, state, id), round);
	}
	return found;
}

bool may_carry(const struct object *object)
{
	return (object->tensor & (T_GRAPH | T_ASSUMED)) != 0;
}

bool value_may_carry(struct analysis *a, const struct state *state, value_id value)
{
	const struct value *v = value_get(a, value);

	for (uint32_t i = 0; i < v->count; i++)
		if (is_tensor_like(a, v->refs[i]) && may_carry(object_read(state, v->refs[i])))
			return true;
	return false;
}

struct carried {
	unsigned bits;
	unsigned lasting; /* bits that do not depend on the mode */
	value_id parents;
	bool all_weights;
};

/* What the operands' graphs make of a result, gradients being on. */
static struct carried carry_of(struct analysis *a, const struct state *state, value_id operands)
{
	const value_id tensors = tensors_in(a, state, operands, 3);
	const struct value *v = value_get(a, tensors);
	struct carried carried = {.bits = T_BARE, .all_weights = true};
	bool any = false, volatile_one = false;

	for (uint32_t i = 0; i < v->count; i++) {
		const struct object *o = object_read(state, v->refs[i]);

		carried.lasting |= o->tensor & (T_DEVICE | T_OUTPUT | T_ARRAY | T_VOLATILE);
		volatile_one |= (o->tensor & T_VOLATILE) != 0;
		if (o->tensor & T_WEIGHTS)
			carried.lasting |= T_OUTPUT;
		if (o->tensor & (T_GRAPH | T_LEAF))
			carried.bits |= T_GRAPH;
		if (o->tensor & T_ASSUMED)
			carried.bits |= T_ASSUMED;
		if (!(o->tensor & T_BARE))
			carried.bits &= ~(unsigned)T_BARE;
		if (may_carry(o)) {
			carried.parents = value_join(a, carried.parents, value_of(a, v->refs[i]));
			if (o->flags & O_RETAINED && !is_older(v->refs[i]))
				def_of(a, v->refs[i])->used_again = true;
		}
		if (o->tensor & (T_GRAPH | T_ASSUMED | T_LEAF)) {
			any = true;
			carried.all_weights &= (o->tensor & T_WEIGHTS) != 0;
		}
	}
	carried.all_weights &= any;
	if (volatile_one) {
		carried.bits = T_BARE;
		carried.parents = (value_id){0};
	}
	return carried;
}

static void def_gather(struct analysis *a, object_id id, const struct object *object)
{
	struct def *def = def_of(a, id);
	value_id parents = value_join(a, def->parents_seen, object->parents);

	def->parents_seen = parents;
	def->tensor_seen |= object->tensor;
}

static void set_graph(struct analysis *a, struct state *state, object_id id, struct object *object,
                      struct carried carried, unsigned bits)
{
	if (!(state->modes & MODE_ON)) {
		carried.bits = T_BARE;
		carried.parents = (value_id){0};
	} else if (state->modes & MODE_OFF) {
		carried.bits |= T_BARE;
	}
	object->tensor |= (carried.bits | carried.lasting | bits | T_LIVE);
	if (carried.all_weights)
		object->tensor |= T_WEIGHTS;
	object->parents = value_join(a, object->parents, carried.parents);
	def_gather(a, id, object);
}

void feel_modes_left(struct analysis *a, const struct state *state, unsigned carried)
{
	for (uint32_t i = 0; i < a->left_count; i++)
		if ((state->modes & a->left[i].modes) && carried & (T_GRAPH | T_ASSUMED))
			a->pending.at[a->left[i].event].felt = true;
}

object_id tensor_make(struct analysis *a, struct activation *act, struct state *state,
                      uint32_t inst, uint32_t part, value_id operands, unsigned bits)
{
	const struct value *v = value_get(a, operands);
	object_id id = site_object(a, act, inst, part, OBJECT_TENSOR);
	struct carried carried = carry_of(a, state, operands);

	for (uint32_t i = 0; i < v->count; i++)
		def_of(a, v->refs[i])->read = true;
	feel_modes_left(a, state, carried.bits);
	set_graph(a, state, id, object_renew(a, state, id), carried, bits);
	return id;
}

void tensor_join_graph(struct analysis *a, struct state *state, object_id target, value_id operands,
                       bool strong)
{
	struct carried carried = carry_of(a, state, operands);
	struct object *object;

	if (!(state->modes & MODE_ON) || !(carried.bits & (T_GRAPH | T_ASSUMED)))
		return;
	object = object_write(a, state, target);
	if (strong && carried.bits & T_GRAPH && !(state->modes & MODE_OFF))
		object->tensor &= ~(unsigned)T_BARE;
	carried.all_weights = false;
	carried.bits &= ~(unsigned)T_BARE;
	set_graph(a, state, target, object, carried, 0);
}

uint32_t marks_begin(struct analysis *a)
{
	if (a->mark_room < a->defs.count * 2) {
		a->mark_room = a->defs.count * 4;
		a->marks = arena_array(a->arena, uint32_t, a->mark_room);
	}
	a->walk.count = 0;
	return ++a->mark_round;
}

/* Where a walk ends. */
struct walk_bounds {
	unsigned through; /* bits that all have whose parents are visited */
	value_id before;  /* these are not visited */
};

static void walk(struct analysis *a, const struct state *state, value_id from,
                 struct walk_bounds bounds, graph_visit *visit, void *context)
{
	const uint32_t round = marks_begin(a);
	const struct value *before = value_get(a, bounds.before);
	uint32_t visited = 0;
	const struct object *object;

	for (uint32_t i = 0; i < before->count; i++)
		a->marks[before->refs[i].n] = round;

	for (;;) {
		const struct value *v = value_get(a, from);

		for (uint32_t i = 0; i < v->count; i++) {
			uint32_t n = v->refs[i].n;

			if (!is_tensor_like(a, v->refs[i]) || a->marks[n] == round)
				continue;
			a->marks[n] = round;
			vec_push(a->arena, &a->walk, v->refs[i]);
		}
		if (a->walk.count == 0 || visited++ > FACTS_MAX_REACH)
			return;
		if (!visit(a, state, a->walk.at[--a->walk.count], context))
			return;
		object = object_read(state, a->walk.at[a->walk.count]);
		from = (object->tensor & bounds.through) == bounds.through ? object->parents
		                                                           : (value_id){0};
	}
}

void graph_walk(struct analysis *a, const struct state *state, value_id from, graph_visit *visit,
                void *context)
{
	walk(a, state, from, (struct walk_bounds){0}, visit, context);
}

struct search {
	object_id wanted;
	bool found;
};

static bool find_visit(struct analysis *a, const struct state *state, object_id id, void *context)
{
	struct search *search = context;

	(void)a;
	(void)state;
	search->found = id.n == search->wanted.n;
	return !search->found;
}

bool graph_reaches(struct analysis *a, const struct state *state, value_id from, object_id id)
{
	struct search search = {id, false};

	graph_walk(a, state, from, find_visit, &search);
	return search.found;
}

bool graph_sums_up(struct analysis *a, const struct state *state, object_id sum)
{
	struct search search = {older_of(sum), false};
	const struct object *object = object_read(state, sum);

	if (object->tensor & T_ACCUMULATES)
		walk(a, state, object->parents, (struct walk_bounds){.through = T_ACCUMULATES},
		     find_visit, &search);
	return search.found;
}

struct saved_search {
	context_id context;
	loop_id loop;
	bool found;
};

static bool activation_visit(struct analysis *a, const struct state *state, object_id id,
                             void *context)
{
	struct saved_search *search = context;
	const struct object *o = object_read(state, id);

	search->found = (o->tensor & T_LIVE) && (o->tensor & T_SAVES) && may_carry(o) &&
	                !(is_older(id) && o->tensor & T_FREED) &&
	                made_inside(a, def_of(a, id), search->context, search->loop);
	return !search->found;
}

bool graph_holds_activations(struct analysis *a, const struct state *state, object_id id,
                             context_id context, loop_id loop)
{
	struct saved_search search = {context, loop, false};

	graph_walk(a, state, value_of(a, id), activation_visit, &search);
	return search.found;
}

struct reach {
	VEC(object_id) ids;
	bool freed;
};

static bool collect_visit(struct analysis *a, const struct state *state, object_id id,
                          void *context)
{
	struct reach *reach = context;
	unsigned bits = object_read(state, id)->tensor;

	if ((bits & T_FREED) && !(bits & T_LIVE) && (bits & T_SAVES))
		reach->freed = true;
	vec_push(a->heap, &reach->ids, id);
	return true;
}

static void mark_reached(struct analysis *a, const struct state *state, object_id id, bool retain)
{
	struct def *def = def_of(a, id);

	if (!(object_read(state, id)->tensor & T_LIVE))
		return;
	def->reached = true;
	def->backward_sites |= a->backward_now;
	if (is_older(id) && retain)
		def->reached_retained = true;
	else if (is_older(id))
		def->reached_old = true;
}

/* A backward through it proves a graph; with one parent it proves that too. */
static void prove(struct analysis *a, const struct state *state, object_id id)
{
	for (int depth = 0; depth < 64; depth++) {
		const struct value *parents;

		def_of(a, id)->proven = true;
		if (object_read(state, id)->tensor & T_GRAPH)
			return;
		parents = value_get(a, object_read(state, id)->parents);
		if (parents->count != 1)
			return;
		id = parents->refs[0];
	}
}

static bool is_plural(enum object_kind kind)
{
	return kind == OBJECT_LIST || kind == OBJECT_DICT || kind == OBJECT_SET ||
	       kind == OBJECT_DEQUE;
}

/* Holders of what backward has gone through: from now on they keep it in vain. */
static void mark_holders(struct analysis *a, struct state *state, const struct reach *reach)
{
	const uint32_t round = marks_begin(a);

	for (uint32_t i = 0; i < reach->ids.count; i++)
		a->marks[reach->ids.at[i].n] = round;
	for (struct state_place at = {0}; state_next(state, &at);) {
		const object_id id = at.id;
		value_id held;
		const struct value *v;

		if (!is_plural(def_of(a, id)->kind))
			continue;
		held = tensors_in(a, state, at.object->elements, 2);
		v = value_get(a, held);
		for (uint32_t k = 0; k < v->count; k++)
			if (is_older(v->refs[k]) && a->marks[v->refs[k].n] == round) {
				object_write(a, state, id)->flags |= O_USED;
				break;
			}
	}
}

void graph_backward(struct analysis *a, struct state *state, value_id losses, value_id inputs,
                    bool retain)
{
	const value_id tensors = tensors_in(a, state, losses, 2);
	const struct value *v = value_get(a, tensors);
	struct reach reach = {0};

	a->trains = true;
	if (v->count == 1)
		prove(a, state, v->refs[0]);
	walk(a, state, tensors, (struct walk_bounds){.before = tensors_in(a, state, inputs, 2)},
	     collect_visit, &reach);
	for (uint32_t i = 0; i < reach.ids.count; i++) {
		object_id id = reach.ids.at[i];
		struct object *object;

		mark_reached(a, state, id, retain);
		object = object_write(a, state, id);
		if (object->flags & O_RETAINED && def_of(a, id)->kind == OBJECT_TENSOR &&
		    !is_older(id))
			def_of(a, id)->used_again = true; /* the next round of an inner loop */
		if (retain) {
			object->flags |= O_RETAINED;
			continue;
		}
		object->tensor |= T_FREED;
		if (!is_older(id)) /* of several, whichever it was */
			object->tensor &= ~(unsigned)T_LIVE;
		def_gather(a, id, object);
	}
	if (!retain)
		mark_holders(a, state, &reach);
}

void graph_may_be_needed(struct analysis *a, struct state *state, value_id value, bool returned)
{
	struct reach reach = {0};

	graph_walk(a, state, tensors_in(a, state, value, 3), collect_visit, &reach);
	if (reach.freed)
		return; /* a second backward would fail: nobody runs it */
	for (uint32_t i = 0; i < reach.ids.count; i++) {
		mark_reached(a, state, reach.ids.at[i], false);
		def_of(a, reach.ids.at[i])->escaped |= returned;
	}
}

bool graph_has_ancestor(struct analysis *a, object_id graph, ancestor_test *test,
                        const void *context)
{
	const uint32_t round = marks_begin(a);
	uint32_t visited = 0;

	vec_push(a->arena, &a->walk, newest_of(graph));
	while (a->walk.count > 0 && visited++ < FACTS_MAX_REACH) {
		const object_id id = a->walk.at[--a->walk.count];
		const struct value *parents;
		enum ancestor found;

		if (a->marks[id.n] == round)
			continue;
		a->marks[id.n] = round;
		found = test(a, id, context);
		if (found == ANCESTOR_FOUND)
			return true;
		if (found == ANCESTOR_PASSED)
			continue;
		parents = value_get(a, def_of(a, id)->parents_seen);
		for (uint32_t i = 0; i < parents->count; i++)
			if (a->marks[newest_of(parents->refs[i]).n] != round)
				vec_push(a->arena, &a->walk, newest_of(parents->refs[i]));
	}
	return false;
}

static enum ancestor proven_test(const struct analysis *a, object_id id, const void *context)
{
	const struct def *def = def_of(a, id);

	(void)context;
	if (def->proven || def->tensor_seen & T_GRAPH)
		return ANCESTOR_FOUND;
	return def->kind == OBJECT_UNKNOWN ? ANCESTOR_PASSED : ANCESTOR_ABOVE;
}

bool graph_proven(struct analysis *a, object_id id)
{
	return graph_has_ancestor(a, id, proven_test, NULL);
}
