/* States: objects by id, copied on write, joined by union. */

#include "analyzer/facts/analysis.h"

#include <string.h>

static const struct object no_object;

enum { SMALLEST_ROOM = 8 };

static unsigned room_class(uint32_t room)
{
	unsigned class = 0;

	while (((uint32_t)SMALLEST_ROOM << class) < room)
		class ++;
	return class;
}

/* Lists of chunks come and go with states: freed ones are kept by size. */
static struct chunk_ref *refs_take(struct analysis *a, uint32_t wanted, uint32_t *room)
{
	const unsigned class = room_class(wanted);
	struct chunk_ref *refs = a->free_refs[class];

	*room = (uint32_t)SMALLEST_ROOM << class;
	if (refs)
		a->free_refs[class] = (struct chunk_ref *)(void *)refs[0].chunk;
	else
		refs = arena_array(a->heap, struct chunk_ref, *room);
	return refs;
}

static void refs_give(struct analysis *a, struct chunk_ref *refs, uint32_t room)
{
	const unsigned class = room_class(room);

	if (!refs)
		return;
	refs[0].chunk = (struct chunk *)(void *)a->free_refs[class];
	a->free_refs[class] = refs;
}

static struct chunk *chunk_take(struct analysis *a)
{
	struct chunk *chunk = a->free_chunks;

	if (chunk)
		a->free_chunks = (struct chunk *)(void *)chunk->at[0];
	else
		chunk = arena_new(a->heap, struct chunk);
	return chunk;
}

static void chunk_give(struct analysis *a, struct chunk *chunk)
{
	chunk->at[0] = (struct object *)(void *)a->free_chunks;
	a->free_chunks = chunk;
}

void heap_switch(struct analysis *a, struct arena *heap)
{
	a->heap = heap;
	a->free_chunks = NULL;
	memset(a->free_refs, 0, sizeof(a->free_refs));
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
	copy->chunks = refs_take(a, state->chunk_count + 2, &copy->room);
	if (state->chunk_count)
		memcpy(copy->chunks, state->chunks, state->chunk_count * sizeof(*copy->chunks));
	copy->stamp = ++a->stamps;
	state->stamp = ++a->stamps; /* what both share may be written by neither */
	return copy;
}

void state_release(struct analysis *a, struct state *state)
{
	for (uint32_t i = 0; i < state->chunk_count; i++)
		if (state->chunks[i].chunk->stamp == state->stamp)
			chunk_give(a, state->chunks[i].chunk);
	refs_give(a, state->chunks, state->room);
	state->chunks = NULL;
	state->count = state->chunk_count = state->room = 0;
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
	for (struct state_place p = {0}; state_next(state, &p);)
		a->base.at[p.id.n] = p.object;
	state->count = state->chunk_count = 0;
	state->stamp = ++a->stamps;
}

bool state_next(const struct state *state, struct state_place *place)
{
	const struct chunk_ref *ref;
	uint32_t at;

	if (place->left == 0) {
		place->chunk += place->began;
		if (place->chunk >= state->chunk_count)
			return false;
		place->began = true;
		place->left = state->chunks[place->chunk].chunk->held;
	}
	ref = &state->chunks[place->chunk];
	at = (uint32_t)__builtin_ctz(place->left);
	place->left &= place->left - 1;
	place->id.n = ref->number * CHUNK_OBJECTS + at;
	place->object = ref->chunk->at[at];
	return true;
}

/* The chunk's place, or where it would be inserted. */
static uint32_t chunk_place(const struct state *state, uint32_t number)
{
	uint32_t low = 0, high = state->chunk_count;

	while (low < high) {
		const uint32_t middle = (low + high) / 2;

		if (state->chunks[middle].number < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool has_chunk(const struct state *state, uint32_t place, uint32_t number)
{
	return place < state->chunk_count && state->chunks[place].number == number;
}

static uint32_t bit_of(object_id id)
{
	return 1U << id.n % CHUNK_OBJECTS;
}

static struct object *entry_find(const struct state *state, object_id id)
{
	const uint32_t number = id.n / CHUNK_OBJECTS;
	const uint32_t place = chunk_place(state, number);
	const struct chunk *chunk;

	if (!has_chunk(state, place, number))
		return NULL;
	chunk = state->chunks[place].chunk;
	return chunk->held & bit_of(id) ? chunk->at[id.n % CHUNK_OBJECTS] : NULL;
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

static void chunk_insert(struct analysis *a, struct state *state, uint32_t place,
                         struct chunk_ref ref)
{
	if (state->chunk_count == state->room) {
		uint32_t room;
		struct chunk_ref *chunks = refs_take(a, state->chunk_count + 1, &room);

		if (state->chunk_count)
			memcpy(chunks, state->chunks, state->chunk_count * sizeof(*chunks));
		refs_give(a, state->chunks, state->room);
		state->chunks = chunks;
		state->room = room;
	}
	memmove(state->chunks + place + 1, state->chunks + place,
	        (state->chunk_count - place) * sizeof(*state->chunks));
	state->chunks[place] = ref;
	state->chunk_count++;
}

/* A chunk of the state's own. */
static struct chunk *chunk_write(struct analysis *a, struct state *state, uint32_t place)
{
	struct chunk_ref *ref = &state->chunks[place];
	struct chunk *own;

	if (ref->chunk->stamp == state->stamp)
		return ref->chunk;
	own = chunk_take(a);
	*own = *ref->chunk;
	own->stamp = state->stamp;
	ref->chunk = own;
	return own;
}

static void state_put(struct analysis *a, struct state *state, object_id id, struct object *object)
{
	const uint32_t number = id.n / CHUNK_OBJECTS;
	const uint32_t place = chunk_place(state, number);
	struct chunk *chunk;

	if (!has_chunk(state, place, number)) {
		chunk = chunk_take(a);
		chunk->stamp = state->stamp;
		chunk->held = 0;
		chunk_insert(a, state, place, (struct chunk_ref){number, chunk});
	}
	chunk = chunk_write(a, state, place);
	state->count += (chunk->held & bit_of(id)) == 0;
	chunk->held |= bit_of(id);
	chunk->at[id.n % CHUNK_OBJECTS] = object;
}

const struct object *object_read(const struct state *state, object_id id)
{
	const struct object *object = state_find(state, id);

	return object ? object : &no_object;
}

static uint32_t count_bits(uint32_t bits)
{
	return (uint32_t)__builtin_popcount(bits);
}

static void chunk_keep(struct analysis *a, struct state *state, uint32_t place, uint32_t kept)
{
	struct chunk *chunk = state->chunks[place].chunk;

	if (chunk->held == kept)
		return;
	state->count -= count_bits(chunk->held) - count_bits(kept);
	chunk_write(a, state, place)->held = kept;
}

static void drop_empty_chunks(struct analysis *a, struct state *state)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < state->chunk_count; i++) {
		struct chunk *chunk = state->chunks[i].chunk;

		if (chunk->held)
			state->chunks[kept++] = state->chunks[i];
		else if (chunk->stamp == state->stamp)
			chunk_give(a, chunk);
	}
	state->chunk_count = kept;
}

void object_drop(struct analysis *a, struct state *state, object_id id)
{
	const uint32_t number = id.n / CHUNK_OBJECTS;
	const uint32_t place = chunk_place(state, number);

	if (!has_chunk(state, place, number))
		return;
	chunk_keep(a, state, place, state->chunks[place].chunk->held & ~bit_of(id));
	drop_empty_chunks(a, state);
}

void state_keep_marked(struct analysis *a, struct state *state, uint32_t round)
{
	for (uint32_t i = 0; i < state->chunk_count; i++) {
		const struct chunk_ref *ref = &state->chunks[i];
		uint32_t kept = 0;

		for (uint32_t left = ref->chunk->held; left; left &= left - 1) {
			const uint32_t at = (uint32_t)__builtin_ctz(left);

			if (a->marks[ref->number * CHUNK_OBJECTS + at] == round)
				kept |= 1U << at;
		}
		chunk_keep(a, state, i, kept);
	}
	drop_empty_chunks(a, state);
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
static bool join_at(struct analysis *a, struct state *into, object_id id, const struct object *mine,
                    const struct object *from)
{
	if (mine == from || object_covers(a, mine, from))
		return false;
	join_object(a, object_write(a, into, id), from);
	return true;
}

/* What only `from` has starts as the base has it. */
static bool join_new(struct analysis *a, struct state *into, object_id id, struct object *object)
{
	struct object *base = base_find(into, id);

	state_put(a, into, id, base ? base : object);
	if (base)
		join_at(a, into, id, base, object);
	return true;
}

static bool join_chunk(struct analysis *a, struct state *into, const struct state *from,
                       uint32_t number, const struct chunk *mine, const struct chunk *other)
{
	const uint32_t had = mine ? mine->held : 0, has = other ? other->held : 0;
	bool grew = false;

	for (uint32_t left = had | has; left; left &= left - 1) {
		const uint32_t at = (uint32_t)__builtin_ctz(left), bit = 1U << at;
		const object_id id = {number * CHUNK_OBJECTS + at};
		const struct object *object;

		if ((had & bit) == 0) {
			grew |= join_new(a, into, id, other->at[at]);
			continue;
		}
		object = has & bit ? other->at[at] : base_find(from, id);
		if (object)
			grew |= join_at(a, into, id, mine->at[at], object);
	}
	return grew;
}

/* Chunks that only `from` has, and none of whose objects the base has, are shared. */
static bool can_share(const struct state *from, struct chunk_ref ref)
{
	for (uint32_t left = ref.chunk->held; left; left &= left - 1) {
		const object_id id = {ref.number * CHUNK_OBJECTS + (uint32_t)__builtin_ctz(left)};

		if (base_find(from, id))
			return false;
	}
	return true;
}

static bool join_chunks(struct analysis *a, struct state *into, const struct state *from)
{
	uint32_t i = 0;
	bool grew = false;

	for (uint32_t j = 0; i < from->chunk_count || j < into->chunk_count;) {
		const struct chunk_ref *mine = j < into->chunk_count ? &into->chunks[j] : NULL;
		const struct chunk_ref *other = i < from->chunk_count ? &from->chunks[i] : NULL;

		if (!mine || (other && other->number < mine->number)) {
			if (can_share(from, *other)) {
				chunk_insert(a, into, j, *other);
				into->count += count_bits(other->chunk->held);
				grew = true;
			} else {
				grew |= join_chunk(a, into, from, other->number, NULL,
				                   other->chunk);
			}
			i++;
		} else if (!other || mine->number < other->number) {
			grew |= join_chunk(a, into, from, mine->number, mine->chunk, NULL);
		} else {
			if (mine->chunk != other->chunk)
				grew |= join_chunk(a, into, from, mine->number, mine->chunk,
				                   other->chunk);
			i++;
		}
		j++;
	}
	return grew;
}

bool state_join(struct analysis *a, struct state *into, struct state *from)
{
	bool grew = (into->modes | from->modes) != into->modes;

	into->modes |= from->modes;
	if (into->mode_set == 0)
		into->mode_set = from->mode_set;
	from->stamp = ++a->stamps; /* its objects may now be shared */
	return join_chunks(a, into, from) || grew;
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

static void rename_object(struct analysis *a, struct state *state, object_id id,
                          const struct object *o, const uint64_t *aged)
{
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
	w = object_write(a, state, id);
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
	for (struct state_place p = {0}; state_next(state, &p);) {
		const object_id id = p.id;
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

static bool is_aged(const uint64_t *aged, object_id id)
{
	return aged[id.n / 128] >> (id.n / 2 % 64) & 1;
}

/* The older instances have their place beside the newest one's. */
static void merge_aged(struct analysis *a, struct state *state, const uint64_t *aged)
{
	for (uint32_t i = 0; i < state->chunk_count; i++) {
		const struct chunk_ref ref = state->chunks[i];
		const uint32_t newest = ref.chunk->held & 0x55555555U;

		for (uint32_t left = newest; left; left &= left - 1) {
			const uint32_t at = (uint32_t)__builtin_ctz(left);
			const object_id id = {ref.number * CHUNK_OBJECTS + at};

			if (!is_aged(aged, id))
				continue;
			if (ref.chunk->held & bit_of(older_of(id)))
				join_object(a, object_write(a, state, older_of(id)),
				            ref.chunk->at[at]);
			else
				state_put(a, state, older_of(id), ref.chunk->at[at]);
			chunk_keep(a, state, i, state->chunks[i].chunk->held & ~bit_of(id));
		}
	}
}

static void age(struct analysis *a, struct state *state, struct aging aging)
{
	uint64_t *aged = arena_array(a->heap, uint64_t, a->defs.count / 64 + 1);
	bool any = false;

	for (struct state_place p = {0}; state_next(state, &p);) {
		const object_id id = p.id;

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
	for (struct state_place p = {0}; state_next(state, &p);)
		rename_object(a, state, p.id, p.object, aged);
	merge_aged(a, state, aged);
}

void state_age(struct analysis *a, struct state *state, context_id context, loop_id loop)
{
	age(a, state, (struct aging){context, loop});
}
