/* Dropping what a state can no longer reach. */

#include "analyzer/facts/analysis.h"

struct sweep {
	struct analysis *a;
	const struct state *state;
	uint32_t round;
};

static void sweep_value(struct sweep *sweep, value_id value)
{
	struct analysis *a = sweep->a;
	const struct value *v;

	if (value.n == 0 || a->value_marks[value.n] == sweep->round)
		return;
	a->value_marks[value.n] = sweep->round;
	v = a->values.at[value.n];
	for (uint32_t i = 0; i < v->count; i++) {
		const uint32_t id = v->refs[i].n;

		if (a->marks[id] == sweep->round)
			continue;
		a->marks[id] = sweep->round;
		if (a->places[id].round == sweep->round)
			vec_push(a->arena, &a->walk, v->refs[i]);
	}
}

static void sweep_root(struct sweep *sweep, object_id id)
{
	struct analysis *a = sweep->a;

	if (a->marks[id.n] == sweep->round)
		return;
	a->marks[id.n] = sweep->round;
	if (a->places[id.n].round == sweep->round)
		vec_push(a->arena, &a->walk, id);
}

static void sweep_roots(struct sweep *sweep)
{
	struct analysis *a = sweep->a;
	const struct state *state = sweep->state;

	for (const struct activation *act = a->top; act; act = act->caller) {
		sweep_root(sweep, act->frame);
		sweep_value(sweep, act->returned);
		sweep_value(sweep, act->yielded);
		for (uint32_t i = 0; i < act->block_count; i++)
			sweep_value(sweep, act->temps[act->block_first + i]);
	}
	for (uint32_t i = 0; i < a->pinned.count; i++)
		sweep_root(sweep, a->pinned.at[i]);
	for (struct state_place p = {0}; state_next(state, &p);)
		if (def_of(a, p.id)->kind == OBJECT_NAMESPACE || base_has(state->base, p.id))
			sweep_root(sweep, p.id);
}

static void sweep_object(struct sweep *sweep, const struct object *o)
{
	sweep_value(sweep, o->of);
	sweep_value(sweep, o->with);
	sweep_value(sweep, o->elements);
	sweep_value(sweep, o->parents);
	sweep_value(sweep, o->base);
	for (uint32_t i = 0; i < o->field_count; i++)
		sweep_value(sweep, o->fields[i].value);
}

static void make_room(struct analysis *a)
{
	if (a->value_mark_room < a->values.count) {
		a->value_mark_room = a->values.count * 2;
		a->value_marks = arena_array(a->arena, uint32_t, a->value_mark_room);
	}
	if (a->place_room < a->mark_room) {
		a->place_room = a->mark_room;
		a->places = arena_array(a->arena, struct swept_place, a->place_room);
	}
}

/* What the base holds refers to nothing beside it: only entries are followed. */
void state_sweep(struct analysis *a, struct state *state)
{
	struct sweep sweep = {a, state, marks_begin(a)};

	make_room(a);
	for (struct state_place p = {0}; state_next(state, &p);)
		a->places[p.id.n] = (struct swept_place){sweep.round, p.object};
	sweep_roots(&sweep);
	while (a->walk.count > 0) {
		const object_id id = a->walk.at[--a->walk.count];

		sweep_object(&sweep, a->places[id.n].object);
	}
	state_keep_marked(a, state, sweep.round);
}
