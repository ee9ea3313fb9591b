#include <stdlib.h>
#include <string.h>

#include "analyzer/replay/py.h"

struct list *list_new(struct vm *vm, uint32_t capacity)
{
	struct list *list = rp_new(vm, K_LIST, vm->t[TY_list], sizeof(*list));

	list->at = rp_mem(vm, NULL, 0, capacity * sizeof(struct val));
	list->capacity = capacity;
	return list;
}

struct list *tuple_new(struct vm *vm, uint32_t count)
{
	struct list *list = rp_new(vm, K_TUPLE, vm->t[TY_tuple], sizeof(*list));

	list->at = rp_mem(vm, NULL, 0, count * sizeof(struct val));
	if (count)
		memset(list->at, 0, count * sizeof(struct val));
	list->count = list->capacity = count;
	return list;
}

static void list_reserve(struct vm *vm, struct list *list, uint32_t count)
{
	uint32_t capacity = list->capacity;

	if (count <= capacity)
		return;
	capacity = capacity + capacity / 2 + 4;
	if (capacity < count)
		capacity = count;
	list->at = rp_mem(vm, list->at, list->capacity * sizeof(struct val),
	                  capacity * sizeof(struct val));
	list->capacity = capacity;
}

void list_push(struct vm *vm, struct list *list, struct val v)
{
	list_reserve(vm, list, list->count + 1);
	list->at[list->count++] = v;
}

void list_insert(struct vm *vm, struct list *list, uint32_t at, struct val v)
{
	list_reserve(vm, list, list->count + 1);
	memmove(list->at + at + 1, list->at + at, (list->count - at) * sizeof(struct val));
	list->at[at] = v;
	list->count++;
}

/* The elements are let go only after the list is whole again. */
void list_remove(struct vm *vm, struct list *list, uint32_t at, uint32_t count)
{
	struct val few[16], *gone = few;

	if (!count)
		return;
	if (count > 16)
		gone = checked_alloc(count, sizeof(struct val));
	memcpy(gone, list->at + at, count * sizeof(struct val));
	memmove(list->at + at, list->at + at + count,
	        (list->count - at - count) * sizeof(struct val));
	list->count -= count;
	for (uint32_t i = 0; i < count; i++)
		unref(vm, gone[i]);
	if (gone != few)
		free(gone);
}

bool list_extend(struct vm *vm, struct list *list, struct val iterable)
{
	struct val it, v;

	if (is_kind(iterable, K_LIST) || is_kind(iterable, K_TUPLE)) {
		struct list *from = AS(list, iterable);
		uint32_t count = from->count;

		list_reserve(vm, list, list->count + count);
		for (uint32_t i = 0; i < count; i++)
			list->at[list->count++] = ref(from->at[i]);
		return true;
	}
	it = rp_iter(vm, iterable);
	if (is_null(it))
		return false;
	while (!is_null(v = rp_next(vm, it))) {
		list_push(vm, list, v);
		if (!vm_work(vm, 1))
			break;
	}
	unref(vm, it);
	return is_null(vm->exc) && !vm->halt;
}

struct list *list_from(struct vm *vm, struct val iterable)
{
	struct list *list = list_new(vm, 0);

	if (list_extend(vm, list, iterable))
		return list;
	unref_obj(vm, list);
	return NULL;
}

struct val tuple_of(struct vm *vm, const struct val *at, uint32_t count)
{
	struct list *tuple = tuple_new(vm, count);

	for (uint32_t i = 0; i < count; i++)
		tuple->at[i] = ref(at[i]);
	return val_obj(tuple);
}

struct val tuple_pair(struct vm *vm, struct val a, struct val b)
{
	struct list *tuple = tuple_new(vm, 2);

	tuple->at[0] = a;
	tuple->at[1] = b;
	return val_obj(tuple);
}

struct deque *deque_new(struct vm *vm, int64_t maxlen)
{
	struct deque *d = rp_new(vm, K_DEQUE, vm->t[TY_deque], sizeof(*d));

	d->maxlen = maxlen;
	return d;
}

struct val *deque_at(struct deque *d, int64_t i)
{
	return &d->at[(d->first + (uint32_t)i) % d->capacity];
}

static void deque_grow(struct vm *vm, struct deque *d)
{
	uint32_t capacity = d->capacity ? d->capacity * 2 : 8;
	struct val *at = rp_mem(vm, NULL, 0, capacity * sizeof(*at));

	for (uint32_t i = 0; i < d->count; i++)
		at[i] = *deque_at(d, i);
	rp_mem(vm, d->at, d->capacity * sizeof(*at), 0);
	d->at = at;
	d->first = 0;
	d->capacity = capacity;
}

void deque_push(struct vm *vm, struct deque *d, struct val v, bool left)
{
	if (d->maxlen == 0) {
		unref(vm, v);
		return;
	}
	if (d->count == d->capacity)
		deque_grow(vm, d);
	if (left) {
		d->first = (d->first + d->capacity - 1) % d->capacity;
		d->at[d->first] = v;
	} else {
		d->at[(d->first + d->count) % d->capacity] = v;
	}
	d->count++;
	if (d->maxlen >= 0 && d->count > d->maxlen)
		unref(vm, deque_pop(vm, d, !left));
}

struct val deque_pop(struct vm *vm, struct deque *d, bool left)
{
	struct val v;

	(void)vm;
	if (!d->count)
		return val_null();
	v = *deque_at(d, left ? 0 : d->count - 1);
	if (left)
		d->first = (d->first + 1) % d->capacity;
	d->count--;
	return v;
}
