/* Weak references: by target, in one hash table. */

#include <stdlib.h>
#include <string.h>

#include "analyzer/replay/py.h"

static uint32_t weak_slot(const struct vm *vm, const struct obj *o)
{
	return (uint32_t)(((uintptr_t)o >> 4) * 0x9e3779b1u) & vm->weak_mask;
}

static void weak_grow(struct vm *vm)
{
	struct weakref **old = vm->weak;
	uint32_t count = old ? vm->weak_mask + 1 : 0, size = count ? count * 2 : 64;

	vm->weak = checked_alloc(size, sizeof(struct weakref *));
	memset(vm->weak, 0, size * sizeof(struct weakref *));
	vm->weak_mask = size - 1;
	for (uint32_t i = 0; i < count; i++) {
		struct weakref *w = old[i], *next;

		for (; w; w = next) {
			next = w->next;
			w->next = vm->weak[weak_slot(vm, w->target)];
			vm->weak[weak_slot(vm, w->target)] = w;
		}
	}
	free(old);
}

struct val rp_weakref(struct vm *vm, struct obj *target, struct val callback)
{
	struct weakref *w = rp_new(vm, K_WEAKREF, vm->t[TY_weakref], sizeof(*w));
	uint32_t slot;

	if (!vm->weak || vm->weak_count > vm->weak_mask)
		weak_grow(vm);
	slot = weak_slot(vm, target);
	w->target = target;
	w->callback = ref(callback);
	w->next = vm->weak[slot];
	vm->weak[slot] = w;
	vm->weak_count++;
	target->flags |= OBJ_WEAK;
	return val_obj(w);
}

void weak_forget(struct vm *vm, struct weakref *w)
{
	struct weakref **at;

	if (!w->target)
		return;
	for (at = &vm->weak[weak_slot(vm, w->target)]; *at && *at != w; at = &(*at)->next)
		;
	if (*at) {
		*at = w->next;
		vm->weak_count--;
	}
	w->target = NULL;
}

void weak_notify(struct vm *vm, struct obj *o)
{
	struct weakref **at = &vm->weak[weak_slot(vm, o)], *gone = NULL, *w;

	while ((w = *at)) {
		if (w->target != o) {
			at = &w->next;
			continue;
		}
		*at = w->next;
		vm->weak_count--;
		w->target = NULL;
		w->next = gone;
		w->h.refs++;
		gone = w;
	}
	while ((w = gone)) {
		gone = w->next;
		if (!is_missing(w->callback) && !vm->at_close) {
			struct val saved = vm->exc;

			vm->exc = val_null();
			unref(vm, rp_call1(vm, w->callback, val_obj(w)));
			exc_clear(vm);
			vm->exc = saved;
		}
		unref_obj(vm, w);
	}
}
