/* Hashes: what is equal has the same one, numbers of all kinds included. */

#include <math.h>
#include <string.h>

#include "analyzer/base/hash.h"
#include "analyzer/replay/py.h"

static bool hash_tuple(struct vm *vm, struct list *t, uint64_t *hash)
{
	uint64_t mixed = t->count + 0x345678u, one;

	for (uint32_t i = 0; i < t->count; i++) {
		if (!rp_hash(vm, t->at[i], &one))
			return false;
		mixed = hash_join(mixed, one);
	}
	*hash = mixed;
	return true;
}

static bool hash_own(struct vm *vm, struct val v, uint64_t *hash)
{
	struct val fn = special_own(vm, v, PN_hash), result;

	if (is_null(fn)) {
		if (is_null(vm->exc) && is_none(cls_find(vm, type_of(vm, v), vm->n[PN_hash])))
			rp_raise(vm, TY_TypeError, "unhashable type: '%s'", type_name(vm, v));
		*hash = (uint64_t)(uintptr_t)v.as.o >> 4;
		return is_null(vm->exc);
	}
	result = rp_call0(vm, fn);
	unref(vm, fn);
	if (is_null(result))
		return false;
	*hash = is_any_int(result) ? int_hash(result) : 0;
	unref(vm, result);
	return true;
}

static bool hash_object(struct vm *vm, struct val v, uint64_t *hash)
{
	switch ((enum rp_kind)v.as.o->kind) {
	case K_STR:
	case K_BYTES:
		/* A text with a number that was not computed in it. */
		if (vm->lazy && vm->asked && !AS(str, v)->interned &&
		    memmem(AS(str, v)->at, AS(str, v)->length, "<tensor", 7))
			vm_stand_in(vm, "key %s", AS(str, v)->at);
		*hash = str_hash(AS(str, v));
		return true;
	case K_UNKNOWN:
		vm_stand_in(vm, "key %s", AS(unknown, v)->what->at);
		return hash_own(vm, v, hash);
	case K_LONG:
		*hash = int_hash(v);
		return true;
	case K_NUMBER:
		return is_kind(cls_find(vm, v.as.o->cls, vm->n[PN_hash]), K_NATIVE)
		               ? rp_hash(vm, AS(number, v)->value, hash)
		               : hash_own(vm, v, hash);
	case K_TUPLE:
		return hash_tuple(vm, AS(list, v), hash);
	case K_METHOD:
		*hash = hash_join((uintptr_t)AS(method, v)->fn.as.o,
		                  AS(method, v)->self.tag == PY_OBJECT
		                          ? (uintptr_t)AS(method, v)->self.as.o
		                          : 0);
		return true;
	case K_SET:
		if (AS(dict, v)->frozen) {
			uint32_t at = 0;
			struct dict_entry *e;

			for (*hash = 1927868237u; (e = dict_next(AS(dict, v), &at));)
				*hash ^= e->hash * 0x9e3779b97f4a7c15u;
			return true;
		}
		break;
	case K_LIST:
	case K_DICT:
	case K_DEQUE:
	case K_SLICE:
		break;
	default:
		if (!vm->kinds[v.as.o->kind].hash)
			return hash_own(vm, v, hash);
		*hash = vm->kinds[v.as.o->kind].hash(v);
		return true;
	}
	if (v.as.o->cls->flags & CLS_HEAP) {
		struct val fn = special_own(vm, v, PN_hash);

		unref(vm, fn);
		if (!is_null(fn))
			return hash_own(vm, v, hash);
	}
	rp_raise(vm, TY_TypeError, "unhashable type: '%s'", type_name(vm, v));
	return false;
}

bool rp_hash(struct vm *vm, struct val v, uint64_t *hash)
{
	switch ((enum rp_tag)v.tag) {
	case PY_BOOL:
	case PY_INT:
		*hash = int_hash(val_int(v.as.i));
		return true;
	case PY_FLOAT:
		*hash = v.as.f == floor(v.as.f) && fabs(v.as.f) < 9e18
		                ? int_hash(val_int((int64_t)v.as.f))
		                : hash_bytes(&v.as.f, 8);
		return true;
	case PY_OBJECT:
		return hash_object(vm, v, hash);
	default:
		*hash = v.tag * 0x9e3779b9u;
		return true;
	}
}
