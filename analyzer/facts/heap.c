/* States: objects by id, copied on write, joined by union. */

#include "analyzer/facts/analysis.h"

#include <string.h>

static const struct object no_object;

enum { SMALLEST_ROOM = 16 };

static unsigned room_class(uint32_t room)
{
	unsigned class = 0;

	while (((uint32_t)SMALLEST_ROOM << class) < room)
		class ++;
	return class;
}

/* Arrays of entries come and go with states: freed ones are kept by size. */
static struct state_entry *entries_take(struct analysis *a, uint32_t wanted, uint32_t *room)
{
	const unsigned class = room_class(wanted);
	struct state_entry *entries = a->free_entries[class];

	*room = (uint32_t)SMALLEST_ROOM << class;
	if (entries)
		a->free_entries[class] = (struct state_entry *)(void *)entries[0].object;
	else
		entries = arena_array(a->heap, struct state_entry, *room);
	return entries;
}

static void entries_give(struct analysis *a, struct state_entry *entries, uint32_t room)
{
	const unsigned class = room_class(room);

	if (!entries)
		return;
	entries[0].object = (struct object *)(void *)a->free_entries[class];
	a->free_entries[class] = entries;
}

void heap_switch(struct analysis *a, struct arena *heap)
{
	a->heap = heap;
	memset(a->free_entries, 0, sizeof(a->free_entries));
}

struct state *state_new(struct analysis *a)
{
	struct state *state = arena_new(a->heap, struct state);

	state->base = &a->base;
	state->stamp = ++a->stamps;
	state->modes = MODE_ON;
	state->reachable = true;
	return state;
}

struct state *state_copy(struct analysis *a, struct state *state)
{
	struct state *copy = arena_new(a->heap, struct state);

	*copy = *state;
	copy->entries = entries_take(a, state->count + 4, &copy->room);
	if (state->count)
		memcpy(copy->entries, state->entries, state->count * sizeof(*copy->entries));
	copy->stamp = ++a->stamps;
	state->stamp = ++a->stamps; /* what both share may be written by neither */
	return copy;
}

void state_release(struct analysis *a, struct state *state)
{
	entries_give(a, state->entries, state->room);
	state->entries = NULL;
	state->count = state->room = 0;
}

static void base_make_room(struct analysis *a)
{
	const uint32_t room = a->defs.count * 4;
	struct object **at;

	if (a->base.room >= a->defs.count * 2)
		return;
	at = arena_array(a->arena, struct object *, room);
	if (a->base.room)
		memcpy(at, a->base.at, a->base.room * sizeof(*at));
	a->base.at = at;
	a->base.room = room;
}

void base_put(struct analysis *a, object_id id, struct object *object)
{
	base_make_room(a);
	a->base.at[id.n] = object;
}

void state_promote(struct analysis *a, struct state *state)
{
	base_make_room(a);
	for (uint32_t i = 0; i < state->count; i++)
		a->base.at[state->entries[i].id.n] = state->entries[i].object;
	state->count = 0;
	state->stamp = ++a->stamps;
}

/* The entry's place, or where it would be inserted. */
static uint32_t state_place(const struct state *state, object_id id)
{
	uint32_t low = 0, high = state->count;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (state->entries[middle].id.n < id.n)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct object *entry_find(const struct state *state, object_id id)
{
	uint32_t place = state_place(state, id);

	return place < state->count && state->entries[place].id.n == id.n
	               ? state->entries[place].object
	               : NULL;
}

static struct object *base_find(const struct state *state, object_id id)
{
	return id.n < state->base->room ? state->base->at[id.n] : NULL;
}

static struct object *state_find(const struct state *state, object_id id)
{
	struct object *object = entry_find(state, id);

	return object ? object : base_find(state, id);
}

static void state_put(struct analysis *a, struct state *state, object_id id, struct object *object)
{
	uint32_t place = state_place(state, id);

	if (place < state->count && state->entries[place].id.n == id.n) {
		state->entries[place].object = object;
		return;
	}
	if (state->count == state->room) {
		uint32_t room;
		struct state_entry *entries = entries_take(a, state->count + 1, &room);

		if (state->count)
			memcpy(entries, state->entries, state->count * sizeof(*entries));
		entries_give(a, state->entries, state->room);
		state->entries = entries;
		state->room = room;
	}
	memmove(state->entries + place + 1, state->entries + place,
	        (state->count - place) * sizeof(*state->entries));
	state->entries[place] = (struct state_entry){id, object};
	state->count++;
}

const struct object *object_read(const struct state *state, object_id id)
{
	const struct object *object = state_find(state, id);

	return object ? object : &no_object;
}

void object_drop(struct state *state, object_id id)
{
	uint32_t place = state_place(state, id);

	if (place >= state->count || state->entries[place].id.n != id.n)
		return;
	memmove(state->entries + place, state->entries + place + 1,
	        (state->count - place - 1) * sizeof(*state->entries));
	state->count--;
}

bool object_exists(const struct state *state, object_id id)
{
	return state_find(state, id) != NULL;
}

static struct object *object_clone(struct analysis *a, const struct object *object)
{
	struct object *clone = arena_new(a->heap, struct object);

	*clone = *object;
	clone->field_room = object->field_count + 2;
	clone->fields = arena_array(a->heap, struct field, clone->field_room);
	if (object->field_count)
		memcpy(clone->fields, object->fields, object->field_count * sizeof(*clone->fields));
	return clone;
}

struct object *object_write(struct analysis *a, struct state *state, object_id id)
{
	struct object *object = state_find(state, id);

	if (object && object->stamp == state->stamp)
		return object;
	object = object ? object_clone(a, object) : arena_new(a->heap, struct object);
	object->stamp = state->stamp;
	state_put(a, state, id, object);
	return object;
}

/* Kinds whose fields are attributes; items stand apart from them. */
static bool has_attributes(enum object_kind kind)
{
	return kind == OBJECT_INSTANCE || kind == OBJECT_UNKNOWN;
}

uint32_t item_key(const struct analysis *a, object_id owner, object_id key)
{
	return key.n + (has_attributes(def_of(a, owner)->kind) ? ITEM_KEYS : 0);
}

object_id item_of_key(const struct analysis *a, object_id owner, uint32_t key)
{
	const enum object_kind kind = def_of(a, owner)->kind;
	const object_id none = {0};

	if (kind == OBJECT_DICT)
		return (object_id){key};
	return has_attributes(kind) && key >= ITEM_KEYS && key != UINT32_MAX
	               ? (object_id){key - ITEM_KEYS}
	               : none;
}

object_id key_constant(const struct analysis *a, object_id owner, uint32_t key)
{
	const object_id id = item_of_key(a, owner, key);

	return def_of(a, id)->kind == OBJECT_CONST ? id : (object_id){0};
}

struct object *object_renew(struct analysis *a, struct state *state, object_id id)
{
	struct object *object = arena_new(a->heap, struct object);

	object->stamp = state->stamp;
	state_put(a, state, id, object);
	return object;
}

static uint32_t field_place(const struct object *object, uint32_t key)
{
	uint32_t low = 0, high = object->field_count;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (object->fields[middle].key < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

value_id field_get(const struct object *object, uint32_t key)
{
	uint32_t place = field_place(object, key);
	const value_id none = {0};

	return place < object->field_count && object->fields[place].key == key
	               ? object->fields[place].value
	               : none;
}

void field_set(struct analysis *a, struct object *object, uint32_t key, value_id value)
{
	uint32_t place = field_place(object, key);

	if (place < object->field_count && object->fields[place].key == key) {
		object->fields[place].value = value;
		return;
	}
	if (object->field_count >= FACTS_MAX_FIELDS) {
		elements_join(a, object, value);
		return;
	}
	if (object->field_count == object->field_room) {
		uint32_t room = object->field_room * 2 + 4;
		struct field *fields = arena_array(a->heap, struct field, room);

		if (object->field_count)
			memcpy(fields, object->fields, object->field_count * sizeof(*fields));
		object->fields = fields;
		object->field_room = room;
	}
	memmove(object->fields + place + 1, object->fields + place,
	        (object->field_count - place) * sizeof(*object->fields));
	object->fields[place] = (struct field){key, value};
	object->field_count++;
}

void field_join(struct analysis *a, struct object *object, uint32_t key, value_id value)
{
	field_set(a, object, key, value_join(a, field_get(object, key), value));
}

void elements_join(struct analysis *a, struct object *object, value_id value)
{
	object->elements = value_join(a, object->elements, value);
}

value_id contents_of(struct analysis *a, const struct object *object)
{
	value_id all = object->elements;

	for (uint32_t i = 0; i < object->field_count; i++)
		all = value_join(a, all, object->fields[i].value);
	return value_without(a, all, V_UNBOUND);
}

bool is_strong(const struct analysis *a, value_id holders, object_id id)
{
	return !is_older(id) && value_get(a, holders)->count == 1;
}

static bool join_value(struct analysis *a, value_id *into, value_id from)
{
	value_id joined = value_join(a, *into, from);
	bool grew = joined.n != into->n;

	*into = joined;
	return grew;
}

static bool fields_differ(struct analysis *a, const struct object *x, const struct object *y)
{
	uint32_t j = 0;
	const value_id unbound = value_flags(a, V_UNBOUND);

	for (uint32_t i = 0; i < x->field_count; i++) {
		while (j < y->field_count && y->fields[j].key < x->fields[i].key) {
			j++;
			return true; /* a key that x lacks */
		}
		if (j < y->field_count && y->fields[j].key == x->fields[i].key) {
			if (value_join(a, x->fields[i].value, y->fields[j].value).n !=
			    x->fields[i].value.n)
				return true;
			j++;
		} else if (value_join(a, x->fields[i].value, unbound).n != x->fields[i].value.n) {
			return true;
		}
	}
	return j < y->field_count;
}

static bool object_covers(struct analysis *a, const struct object *x, const struct object *y)
{
	return (x->tensor | y->tensor) == x->tensor && (x->flags | y->flags) == x->flags &&
	       value_join(a, x->of, y->of).n == x->of.n &&
	       value_join(a, x->with, y->with).n == x->with.n &&
	       value_join(a, x->elements, y->elements).n == x->elements.n &&
	       value_join(a, x->parents, y->parents).n == x->parents.n &&
	       value_join(a, x->base, y->base).n == x->base.n && !fields_differ(a, x, y);
}

static void join_fields(struct analysis *a, struct object *into, const struct object *from)
{
	const value_id unbound = value_flags(a, V_UNBOUND);
	const uint32_t before = into->field_count;

	for (uint32_t i = 0; i < before; i++) {
		uint32_t place = field_place(from, into->fields[i].key);

		if (place >= from->field_count || from->fields[place].key != into->fields[i].key)
			join_value(a, &into->fields[i].value, unbound);
	}
	for (uint32_t i = 0; i < from->field_count; i++) {
		uint32_t key = from->fields[i].key;
		uint32_t place = field_place(into, key);
		bool had = place < into->field_count && into->fields[place].key == key;

		field_join(a, into, key,
		           had ? from->fields[i].value
		               : value_join(a, from->fields[i].value, unbound));
	}
}

static void join_object(struct analysis *a, struct object *into, const struct object *from)
{
	into->tensor |= from->tensor;
	into->flags |= from->flags;
	join_value(a, &into->of, from->of);
	join_value(a, &into->with, from->with);
	join_value(a, &into->elements, from->elements);
	join_value(a, &into->parents, from->parents);
	join_value(a, &into->base, from->base);
	join_fields(a, into, from);
}

/* The object that is one of both states' `id` becomes what either can be. */
static bool join_at(struct analysis *a, struct state *into, uint32_t place,
                    const struct object *from)
{
	const struct object *mine = into->entries[place].object;

	if (mine == from || object_covers(a, mine, from))
		return false;
	join_object(a, object_write(a, into, into->entries[place].id), from);
	return true;
}

static bool is_new_to(const struct state *into, const struct state *from, uint32_t i, uint32_t j)
{
	return j == into->count || from->entries[i].id.n < into->entries[j].id.n;
}

/* Makes room in `into` for what only `from` has; those start as the base has them. */
static bool join_places(struct analysis *a, struct state *into, const struct state *from)
{
	struct state_entry *entries;
	uint32_t room, n = 0, i = 0, j = 0, missing = 0;

	for (i = 0; i < from->count; i++) {
		while (j < into->count && into->entries[j].id.n < from->entries[i].id.n)
			j++;
		missing += is_new_to(into, from, i, j);
	}
	if (missing == 0)
		return false;
	entries = entries_take(a, into->count + missing, &room);
	for (i = j = 0; i < from->count || j < into->count;) {
		if (i < from->count && is_new_to(into, from, i, j)) {
			entries[n] = from->entries[i++];
			if (base_find(into, entries[n].id))
				entries[n].object = base_find(into, entries[n].id);
			n++;
			continue;
		}
		if (i < from->count && from->entries[i].id.n == into->entries[j].id.n)
			i++;
		entries[n++] = into->entries[j++];
	}
	entries_give(a, into->entries, into->room);
	into->entries = entries;
	into->count = n;
	into->room = room;
	return true;
}

bool state_join(struct analysis *a, struct state *into, struct state *from)
{
	bool grew = (into->modes | from->modes) != into->modes;
	uint32_t i = 0;

	into->modes |= from->modes;
	if (into->mode_set == 0)
		into->mode_set = from->mode_set;
	from->stamp = ++a->stamps; /* its objects may now be shared */
	grew |= join_places(a, into, from);
	for (uint32_t j = 0; j < into->count; j++) {
		const object_id id = into->entries[j].id;
		const struct object *other;

		while (i < from->count && from->entries[i].id.n < id.n)
			i++;
		other = i < from->count && from->entries[i].id.n == id.n ? from->entries[i].object
		                                                         : base_find(from, id);
		if (other)
			grew |= join_at(a, into, j, other);
	}
	return grew;
}

/* Which sites' newest instances become older ones. */
struct aging {
	context_id context;
	loop_id loop;
};

static bool ages(const struct analysis *a, const struct def *def, struct aging aging)
{
	switch (def->kind) {
	case OBJECT_NONE:
	case OBJECT_CONST:
	case OBJECT_EXTERNAL:
	case OBJECT_IMPORTED:
	case OBJECT_NAMESPACE:
		return false;
	default:
		return made_inside(a, def, aging.context, aging.loop);
	}
}

static void rename_object(struct analysis *a, struct state *state, uint32_t place,
                          const uint64_t *aged)
{
	const struct object *o = state->entries[place].object;
	bool changed = value_older(a, o->of, aged).n != o->of.n ||
	               value_older(a, o->with, aged).n != o->with.n ||
	               value_older(a, o->elements, aged).n != o->elements.n ||
	               value_older(a, o->parents, aged).n != o->parents.n ||
	               value_older(a, o->base, aged).n != o->base.n;
	struct object *w;

	for (uint32_t i = 0; !changed && i < o->field_count; i++)
		changed = value_older(a, o->fields[i].value, aged).n != o->fields[i].value.n;
	if (!changed)
		return;
	w = object_write(a, state, state->entries[place].id);
	w->of = value_older(a, w->of, aged);
	w->with = value_older(a, w->with, aged);
	w->elements = value_older(a, w->elements, aged);
	w->parents = value_older(a, w->parents, aged);
	w->base = value_older(a, w->base, aged);
	for (uint32_t i = 0; i < w->field_count; i++)
		w->fields[i].value = value_older(a, w->fields[i].value, aged);
}

/* What an event asks to know when the iteration ends. What inner loops made has aged already. */
static void judge_aged(struct analysis *a, const struct state *state, const uint64_t *aged,
                       struct aging aging)
{
	for (uint32_t i = 0; i < state->count; i++) {
		object_id id = state->entries[i].id;
		const struct def *def = def_of(a, id);
		const bool inner = is_older(id) && !object_exists(state, newest_of(id)) &&
		                   made_inside(a, def, aging.context, aging.loop);

		if ((def->watched || def->followed) &&
		    (inner || (!is_older(id) && (aged[id.n / 128] >> (id.n / 2 % 64) & 1))))
			events_outlive(a, id, aging.context, aging.loop,
			               def->watched &&
			                       graph_holds_activations(a, state, id, aging.context,
			                                               aging.loop));
	}
}

static void merge_aged(struct analysis *a, struct state *state, const uint64_t *aged)
{
	struct state old = *state;

	state->count = 0;
	state->entries = entries_take(a, old.count + 1, &state->room);
	for (uint32_t i = 0; i < old.count; i++) {
		struct state_entry entry = old.entries[i];
		uint32_t def = entry.id.n / 2;
		bool moves = !is_older(entry.id) && (aged[def / 64] >> (def % 64) & 1);
		bool has_older = moves && i + 1 < old.count &&
		                 old.entries[i + 1].id.n == older_of(entry.id).n;

		if (moves)
			entry.id = older_of(entry.id);
		state->entries[state->count++] = entry;
		if (has_older)
			join_object(a, object_write(a, state, entry.id), old.entries[++i].object);
	}
	entries_give(a, old.entries, old.room);
}

static void age(struct analysis *a, struct state *state, struct aging aging)
{
	uint64_t *aged = arena_array(a->heap, uint64_t, a->defs.count / 64 + 1);
	bool any = false;

	for (uint32_t i = 0; i < state->count; i++) {
		object_id id = state->entries[i].id;

		if (!is_older(id) && ages(a, def_of(a, id), aging)) {
			aged[id.n / 128] |= (uint64_t)1 << (id.n / 2 % 64);
			any = true;
		}
	}
	judge_aged(a, state, aged, aging);
	if (!any)
		return;
	if (a->top) /* a generator goes on after it has given a value */
		a->top->yielded =
		        value_join(a, a->top->yielded, value_older(a, a->top->yielded, aged));
	for (uint32_t i = 0; i < state->count; i++)
		rename_object(a, state, i, aged);
	merge_aged(a, state, aged);
}

void state_age(struct analysis *a, struct state *state, context_id context, loop_id loop)
{
	age(a, state, (struct aging){context, loop});
}
