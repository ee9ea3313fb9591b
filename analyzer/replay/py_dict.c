#include <string.h>

#include "analyzer/replay/py.h"

enum { DICT_SMALL = 8 };

struct dict *dict_new(struct vm *vm)
{
	return rp_new(vm, K_DICT, vm->t[TY_dict], sizeof(struct dict));
}

struct dict *set_new(struct vm *vm, bool frozen)
{
	struct dict *d = rp_new(vm, K_SET, vm->t[frozen ? TY_frozenset : TY_set], sizeof(*d));

	d->frozen = frozen;
	return d;
}

static uint64_t spread(uint64_t hash)
{
	return hash * 0x9e3779b97f4a7c15u >> 20;
}

static void index_build(struct vm *vm, struct dict *d, uint32_t size)
{
	size_t old = d->index ? ((size_t)d->mask + 1) * sizeof(uint32_t) : 0;

	d->index = rp_mem(vm, d->index, old, size * sizeof(uint32_t));
	memset(d->index, 0, size * sizeof(uint32_t));
	d->mask = size - 1;
	for (uint32_t i = 0; i < d->used; i++) {
		uint32_t at = (uint32_t)spread(d->at[i].hash) & d->mask;

		while (d->index[at])
			at = (at + 1) & d->mask;
		d->index[at] = i + 1;
	}
}

/* Drops deleted entries and makes room for one more. */
static void dict_grow(struct vm *vm, struct dict *d)
{
	uint32_t kept = 0, capacity = d->capacity;

	for (uint32_t i = 0; i < d->used; i++)
		if (!is_null(d->at[i].key))
			d->at[kept++] = d->at[i];
	d->used = kept;
	if (kept + 1 > capacity - capacity / 4) {
		capacity = capacity ? capacity * 2 : DICT_SMALL;
		d->at = rp_mem(vm, d->at, d->capacity * sizeof(*d->at), capacity * sizeof(*d->at));
		d->capacity = capacity;
	}
	if (capacity > DICT_SMALL)
		index_build(vm, d, capacity * 2);
}

static bool str_same(const struct str *a, const struct str *b)
{
	return a == b || (!(a->interned && b->interned) && a->length == b->length &&
	                  memcmp(a->at, b->at, a->length) == 0);
}

/* 1 same, 0 different, -1 exception */
static int key_same(struct vm *vm, const struct dict_entry *e, struct val key, uint64_t hash)
{
	if (is_null(e->key) || e->hash != hash)
		return 0;
	if (val_same(e->key, key) && key.tag != PY_FLOAT)
		return 1;
	if (is_kind(key, K_STR) && is_kind(e->key, K_STR))
		return str_same(AS(str, key), AS(str, e->key));
	return rp_eq(vm, e->key, key);
}

/* Entry number, UINT32_MAX: absent or exception. */
static uint32_t dict_locate(struct vm *vm, struct dict *d, struct val key, uint64_t hash)
{
	if (!d->index) {
		for (uint32_t i = 0; i < d->used; i++) {
			int same = d->at[i].hash == hash ? key_same(vm, &d->at[i], key, hash) : 0;

			if (same)
				return same > 0 ? i : UINT32_MAX;
		}
		return UINT32_MAX;
	}
	for (uint32_t at = (uint32_t)spread(hash) & d->mask; d->index[at];
	     at = (at + 1) & d->mask) {
		int same = key_same(vm, &d->at[d->index[at] - 1], key, hash);

		if (same)
			return same > 0 ? d->index[at] - 1 : UINT32_MAX;
	}
	return UINT32_MAX;
}

struct val dict_get(struct vm *vm, struct dict *d, struct val key)
{
	uint64_t hash;
	uint32_t at;

	if (!rp_hash(vm, key, &hash))
		return val_null();
	at = dict_locate(vm, d, key, hash);
	return at == UINT32_MAX ? val_null() : d->at[at].value;
}

/* The first entry of that hash, UINT32_MAX: none. */
static uint32_t first_of_hash(const struct dict *d, uint64_t hash)
{
	if (!d->index) {
		for (uint32_t i = 0; i < d->used; i++)
			if (d->at[i].hash == hash)
				return i;
		return UINT32_MAX;
	}
	for (uint32_t at = (uint32_t)spread(hash) & d->mask; d->index[at]; at = (at + 1) & d->mask)
		if (d->at[d->index[at] - 1].hash == hash)
			return d->index[at] - 1;
	return UINT32_MAX;
}

/* Most keys are interned, and so is what is looked for. */
static uint32_t locate_str(struct vm *vm, struct dict *d, struct str *key)
{
	const uint64_t hash = str_hash(key);
	const uint32_t at = first_of_hash(d, hash);

	if (at == UINT32_MAX || (d->at[at].key.tag == PY_OBJECT && d->at[at].key.as.o == &key->h))
		return at;
	return dict_locate(vm, d, val_obj(key), hash);
}

struct val dict_get_str(struct vm *vm, struct dict *d, struct str *key)
{
	uint32_t at = locate_str(vm, d, key);

	return at == UINT32_MAX ? val_null() : d->at[at].value;
}

static void dict_append(struct vm *vm, struct dict *d, struct val key, uint64_t hash,
                        struct val value)
{
	if (d->used == d->capacity || (d->index && d->used * 4 >= d->capacity * 3))
		dict_grow(vm, d);
	d->at[d->used++] = (struct dict_entry){ref(key), ref(value), hash};
	d->count++;
	d->version++;
	if (d->index) {
		uint32_t at = (uint32_t)spread(hash) & d->mask;

		while (d->index[at])
			at = (at + 1) & d->mask;
		d->index[at] = d->used;
	}
}

bool dict_put(struct vm *vm, struct dict *d, struct val key, struct val value)
{
	uint64_t hash;
	uint32_t at;

	if (!rp_hash(vm, key, &hash))
		return false;
	at = dict_locate(vm, d, key, hash);
	if (!is_null(vm->exc))
		return false;
	if (at != UINT32_MAX)
		slot_set(vm, &d->at[at].value, ref(value));
	else
		dict_append(vm, d, key, hash, value);
	return true;
}

void dict_put_str(struct vm *vm, struct dict *d, struct str *key, struct val value)
{
	uint32_t at = locate_str(vm, d, key);

	if (at != UINT32_MAX)
		slot_set(vm, &d->at[at].value, ref(value));
	else
		dict_append(vm, d, val_obj(key), str_hash(key), value);
}

int dict_remove(struct vm *vm, struct dict *d, struct val key, struct val *old)
{
	uint64_t hash;
	uint32_t at;
	struct dict_entry gone;

	if (!rp_hash(vm, key, &hash))
		return -1;
	at = dict_locate(vm, d, key, hash);
	if (at == UINT32_MAX)
		return is_null(vm->exc) ? 0 : -1;
	gone = d->at[at];
	d->at[at].key = d->at[at].value = val_null();
	d->count--;
	d->version++;
	if (!d->index && at + 1 == d->used)
		d->used--;
	unref(vm, gone.key);
	if (old)
		*old = gone.value;
	else
		unref(vm, gone.value);
	return 1;
}

void dict_clear(struct vm *vm, struct dict *d)
{
	struct dict_entry *at = d->at;
	uint32_t used = d->used, capacity = d->capacity;

	rp_mem(vm, d->index, d->index ? ((size_t)d->mask + 1) * sizeof(uint32_t) : 0, 0);
	d->at = NULL;
	d->index = NULL;
	d->used = d->count = d->capacity = d->mask = 0;
	d->version++;
	for (uint32_t i = 0; i < used; i++) {
		unref(vm, at[i].key);
		unref(vm, at[i].value);
	}
	rp_mem(vm, at, capacity * sizeof(*at), 0);
}

struct dict_entry *dict_next(const struct dict *d, uint32_t *at)
{
	while (*at < d->used) {
		struct dict_entry *e = &d->at[(*at)++];

		if (!is_null(e->key))
			return e;
	}
	return NULL;
}

static bool update_pairs(struct vm *vm, struct dict *d, struct val other)
{
	struct val it = rp_iter(vm, other), pair;
	bool ok = !is_null(it);

	while (ok && !is_null(pair = rp_next(vm, it))) {
		struct list *two = list_from(vm, pair);

		ok = two && two->count == 2 && dict_put(vm, d, two->at[0], two->at[1]);
		if (two && two->count != 2)
			rp_raise(vm, TY_ValueError,
			         "dictionary update sequence element has length %u; 2 is required",
			         two->count);
		unref_obj(vm, two);
		unref(vm, pair);
		ok = ok && vm_work(vm, 1);
	}
	unref(vm, it);
	return ok && is_null(vm->exc);
}

static bool update_mapping(struct vm *vm, struct dict *d, struct val other, struct val keys)
{
	struct val it, key, list = rp_call0(vm, keys);
	bool ok = !is_null(list);

	it = ok ? rp_iter(vm, list) : val_null();
	unref(vm, list);
	while (!is_null(it) && ok && !is_null(key = rp_next(vm, it))) {
		struct val value = rp_item(vm, other, key);

		ok = !is_null(value) && dict_put(vm, d, key, value);
		unref(vm, value);
		unref(vm, key);
	}
	unref(vm, it);
	return ok && is_null(vm->exc);
}

bool dict_update(struct vm *vm, struct dict *d, struct val other)
{
	struct val keys;
	bool ok;

	if (is_kind(other, K_DICT)) {
		struct dict *from = AS(dict, other);
		uint32_t at = 0;
		struct dict_entry *e;

		while ((e = dict_next(from, &at)))
			if (!dict_put(vm, d, e->key, e->value))
				return false;
		return true;
	}
	if (is_kind(other, K_UNKNOWN))
		return true;
	keys = rp_attr_find(vm, other, str_intern(vm, "keys", 4));
	if (!is_null(vm->exc))
		return false;
	if (is_null(keys))
		return update_pairs(vm, d, other);
	ok = update_mapping(vm, d, other, keys);
	unref(vm, keys);
	return ok;
}

struct dict *dict_copy(struct vm *vm, struct dict *d)
{
	struct dict *copy = d->h.kind == K_SET ? set_new(vm, d->frozen) : dict_new(vm);
	uint32_t at = 0;
	struct dict_entry *e;

	while ((e = dict_next(d, &at)))
		dict_append(vm, copy, e->key, e->hash, e->value);
	return copy;
}
