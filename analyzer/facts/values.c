/* Hash-consed sets of objects and flags. */

#include "analyzer/facts/analysis.h"

#include <string.h>

static uint64_t hash_value(uint32_t flags, const object_id *refs, uint32_t count)
{
	return hash_join(flags, hash_bytes(refs, count * sizeof(*refs)));
}

static bool same_value(const struct analysis *a, uint32_t id, const void *key)
{
	const struct value *x = a->values.at[id];
	const struct value *y = key;

	return x->flags == y->flags && x->count == y->count &&
	       (!x->count || memcmp(x->refs, y->refs, x->count * sizeof(*x->refs)) == 0);
}

static void id_table_grow(struct analysis *a, struct id_table *table)
{
	const uint32_t room = table->room ? table->room * 2 : 256;
	struct id_slot *at = arena_array(a->arena, struct id_slot, room);

	for (uint32_t i = 0; i < table->room; i++) {
		const struct id_slot slot = table->at[i];
		uint32_t place = slot.hash & (room - 1);

		if (slot.id == 0)
			continue;
		while (at[place].id != 0)
			place = (place + 1) & (room - 1);
		at[place] = slot;
	}
	table->at = at;
	table->room = room;
}

uint32_t *id_table_slot(struct analysis *a, struct id_table *table, uint64_t hash,
                        bool (*same)(const struct analysis *a, uint32_t id, const void *key),
                        const void *key)
{
	struct id_slot *slot;

	if (table->count * 2 >= table->room)
		id_table_grow(a, table);
	for (uint64_t place = hash;; place++) {
		slot = &table->at[place & (table->room - 1)];
		if (slot->id == 0 || (slot->hash == (uint32_t)hash && same(a, slot->id, key)))
			break;
	}
	if (slot->id == 0) {
		slot->hash = (uint32_t)hash; /* the caller fills in the id */
		table->count++;
	}
	return &slot->id;
}

/* What value_get gave out must outlive the table's growth. */
static void value_add(struct analysis *a, struct value value)
{
	struct value *stored = arena_new(a->arena, struct value);

	*stored = value;
	vec_push(a->arena, &a->values, stored);
}

static value_id value_intern(struct analysis *a, uint32_t flags, const object_id *refs,
                             uint32_t count)
{
	const struct value key = {flags, count, refs};
	value_id id = {0};
	uint32_t *slot;
	object_id *copy;

	if (flags == 0 && count == 0)
		return id;
	slot = id_table_slot(a, &a->value_index, hash_value(flags, refs, count), same_value, &key);
	if (*slot == 0) {
		copy = arena_array(a->arena, object_id, count + 1);
		if (count)
			memcpy(copy, refs, count * sizeof(*refs));
		*slot = a->values.count;
		value_add(a, (struct value){flags, count, copy});
	}
	id.n = *slot;
	return id;
}

void values_init(struct analysis *a)
{
	static const object_id no_refs[1];

	value_add(a, (struct value){0, 0, no_refs});
	a->join_cache = arena_array(a->arena, struct join_cached, FACTS_JOIN_CACHE);
}

static int compare_ids(const object_id *x, const object_id *y)
{
	return x->n < y->n ? -1 : x->n > y->n;
}

static void insertion_sort(object_id *refs, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++)
		for (uint32_t j = i; j > 0 && compare_ids(&refs[j - 1], &refs[j]) > 0; j--) {
			object_id swap = refs[j];

			refs[j] = refs[j - 1];
			refs[j - 1] = swap;
		}
}

value_id value_flags(struct analysis *a, uint32_t flags)
{
	return value_intern(a, flags, NULL, 0);
}

static void singles_grow(struct analysis *a)
{
	const uint32_t room = a->defs.count * 4;
	value_id *singles = arena_array(a->arena, value_id, room);

	if (a->single_room)
		memcpy(singles, a->singles, a->single_room * sizeof(*singles));
	a->singles = singles;
	a->single_room = room;
}

value_id value_of(struct analysis *a, object_id id)
{
	if (id.n >= a->single_room)
		singles_grow(a);
	if (a->singles[id.n].n == 0)
		a->singles[id.n] = value_intern(a, 0, &id, 1);
	return a->singles[id.n];
}

value_id value_of_set(struct analysis *a, uint32_t flags, object_id *refs, uint32_t count)
{
	insertion_sort(refs, count);
	return value_intern(a, flags, refs, count);
}

static value_id join_slowly(struct analysis *a, value_id x, value_id y)
{
	const struct value *v = value_get(a, x), *w = value_get(a, y);
	object_id refs[2 * FACTS_MAX_REFS];
	uint32_t i = 0, j = 0, n = 0;

	while (i < v->count || j < w->count) {
		if (j == w->count || (i < v->count && v->refs[i].n <= w->refs[j].n)) {
			if (j < w->count && v->refs[i].n == w->refs[j].n)
				j++;
			refs[n++] = v->refs[i++];
		} else {
			refs[n++] = w->refs[j++];
		}
	}
	if (n > FACTS_MAX_REFS)
		n = FACTS_MAX_REFS; /* the first made are kept: sites are numbered as met */
	return value_intern(a, v->flags | w->flags, refs, n);
}

value_id value_join(struct analysis *a, value_id x, value_id y)
{
	struct join_cached *cached;

	if (x.n == y.n || y.n == 0)
		return x;
	if (x.n == 0)
		return y;
	cached = &a->join_cache[(x.n * 31 + y.n) & (FACTS_JOIN_CACHE - 1)];
	if (cached->a.n != x.n || cached->b.n != y.n) {
		cached->result = join_slowly(a, x, y);
		cached->a = x;
		cached->b = y;
	}
	return cached->result;
}

value_id value_without(struct analysis *a, value_id x, uint32_t flags)
{
	const struct value *v = value_get(a, x);

	return v->flags & flags ? value_intern(a, v->flags & ~flags, v->refs, v->count) : x;
}

value_id value_older(struct analysis *a, value_id x, const uint64_t *aged)
{
	const struct value *v = value_get(a, x);
	object_id refs[FACTS_MAX_REFS];
	uint32_t n = 0;
	bool changed = false;

	for (uint32_t i = 0; i < v->count; i++) {
		object_id id = v->refs[i];
		uint32_t def = id.n / 2;

		if (!is_older(id) && (aged[def / 64] >> (def % 64) & 1)) {
			id = older_of(id);
			changed = true;
		}
		if (n == 0 || refs[n - 1].n != id.n)
			refs[n++] = id;
	}
	if (!changed)
		return x;
	insertion_sort(refs, n);
	return value_intern(a, v->flags, refs, n);
}

bool value_has(const struct analysis *a, value_id x, object_id id)
{
	const struct value *v = value_get(a, x);

	for (uint32_t i = 0; i < v->count; i++)
		if (v->refs[i].n == id.n)
			return true;
	return false;
}

object_id value_single(const struct analysis *a, value_id x)
{
	const struct value *v = value_get(a, x);
	const object_id none = {0};

	return v->count == 1 && (v->flags & ~(uint32_t)(V_UNBOUND | V_NONE)) == 0 ? v->refs[0]
	                                                                          : none;
}

bool value_is_empty(value_id x)
{
	return x.n == 0;
}
