#include <string.h>

#include "analyzer/replay/py.h"

/* Items of a stand-in that is iterated; by the loop that is measured: enough to
 * see a trend. */
enum { UNKNOWN_LENGTH = 3, MEASURED_LENGTH = 32 };

struct iter *iter_new(struct vm *vm, enum iter_kind what, enum rp_type type, struct val a)
{
	struct iter *it = rp_new(vm, K_ITER, vm->t[type], sizeof(*it));

	it->what = what;
	it->a = ref(a);
	return it;
}

void iter_inner(struct vm *vm, struct iter *it, uint32_t count)
{
	it->inner = rp_mem(vm, NULL, 0, count * sizeof(struct val));
	if (count)
		memset(it->inner, 0, count * sizeof(struct val));
	it->count = count;
}

static struct val iter_special(struct vm *vm, struct val v)
{
	struct val fn = special_find(vm, v, PN_iter), it;

	if (!is_null(fn)) {
		it = rp_call0(vm, fn);
		unref(vm, fn);
		return it;
	}
	if (!is_null(vm->exc))
		return fn;
	if (!is_null(cls_find(vm, type_of(vm, v), vm->n[PN_getitem])))
		return val_obj(iter_new(vm, IT_GETITEM, TY_iterator, v));
	if (type_of(vm, v)->flags & CLS_OPAQUE)
		return val_obj(iter_new(vm, IT_UNKNOWN, TY_iterator, v));
	return rp_raise(vm, TY_TypeError, "'%s' object is not iterable", type_name(vm, v));
}

static struct val iter_dict(struct vm *vm, struct dict *d, uint32_t mode)
{
	struct iter *it =
	        iter_new(vm, d->h.kind == K_SET ? IT_SET : IT_DICT, TY_iterator, val_obj(d));

	it->mode = mode;
	it->version = d->version;
	return val_obj(it);
}

static struct val iter_range(struct vm *vm, struct val v)
{
	struct iter *it = iter_new(vm, IT_RANGE, TY_iterator, val_null());

	it->at = AS(range, v)->start;
	it->step = AS(range, v)->step;
	it->stop = AS(range, v)->length;
	return val_obj(it);
}

struct val rp_iter(struct vm *vm, struct val v)
{
	if (v.tag != PY_OBJECT)
		return iter_special(vm, v);
	if (v.as.o->cls && (v.as.o->cls->flags & CLS_HEAP) && v.as.o->kind != K_CLASS) {
		struct val fn = special_own(vm, v, PN_iter);

		if (!is_null(vm->exc))
			return val_null();
		if (!is_null(fn)) {
			unref(vm, fn);
			return iter_special(vm, v);
		}
	}
	switch ((enum rp_kind)v.as.o->kind) {
	case K_LIST:
	case K_TUPLE:
		return val_obj(iter_new(vm, IT_LIST, TY_iterator, v));
	case K_STR:
		return val_obj(iter_new(vm, IT_STR, TY_iterator, v));
	case K_BYTES:
		return val_obj(iter_new(vm, IT_BYTES, TY_iterator, v));
	case K_DICT:
	case K_SET:
		return iter_dict(vm, AS(dict, v), 0);
	case K_VIEW:
		return iter_dict(vm, AS(view, v)->dict, AS(view, v)->mode);
	case K_DEQUE:
		return val_obj(iter_new(vm, IT_DEQUE, TY_iterator, v));
	case K_RANGE:
		return iter_range(vm, v);
	case K_GENERATOR:
	case K_ITER:
		return ref(v);
	case K_UNKNOWN:
		return val_obj(iter_new(vm, IT_UNKNOWN, TY_iterator, v));
	default:
		if (vm->kinds[v.as.o->kind].iterate)
			return vm->kinds[v.as.o->kind].iterate(vm, v);
		return iter_special(vm, v);
	}
}

static struct val next_list(struct vm *vm, struct iter *it)
{
	struct list *list = AS(list, it->a);

	if (it->at < list->count)
		return ref(list->at[it->at++]);
	slot_set(vm, &it->a, val_null());
	it->done = true;
	return val_null();
}

static struct val next_dict(struct vm *vm, struct iter *it)
{
	struct dict *d = AS(dict, it->a);
	uint32_t at = (uint32_t)it->at;
	struct dict_entry *e;

	if (d->version != it->version && is_kind(it->a, K_DICT)) {
		it->done = true;
		return rp_raise(vm, TY_RuntimeError, "dictionary changed size during iteration");
	}
	if (d->version != it->version)
		return rp_raise(vm, TY_RuntimeError, "Set changed size during iteration");
	e = dict_next(d, &at);
	it->at = at;
	if (!e) {
		it->done = true;
		slot_set(vm, &it->a, val_null());
		return val_null();
	}
	if (it->mode == 2)
		return tuple_pair(vm, ref(e->key), ref(e->value));
	return ref(it->mode == 1 ? e->value : e->key);
}

/* The result tuple is used again when nobody else kept it, as CPython does: it
 * holds the current items until the next step. */
static struct list *cached_tuple(struct vm *vm, struct iter *it, uint32_t count)
{
	if (is_kind(it->cached, K_TUPLE) && it->cached.as.o->refs == 1)
		return AS(list, it->cached);
	if (is_null(it->cached)) {
		struct list *t = tuple_new(vm, count);

		it->cached = val_obj(t);
		return t;
	}
	return NULL;
}

static struct val next_enumerate(struct vm *vm, struct iter *it)
{
	struct val item = rp_next(vm, it->inner[0]);
	struct list *t;

	if (is_null(item))
		return item;
	t = cached_tuple(vm, it, 2);
	if (!t)
		return tuple_pair(vm, val_int(it->at++), item);
	slot_set(vm, &t->at[0], val_int(it->at++));
	slot_set(vm, &t->at[1], item);
	return ref_obj(t);
}

static void zip_uneven(struct vm *vm, uint32_t which, const char *how)
{
	if (which == 2)
		rp_raise(vm, TY_ValueError, "zip() argument 2 is %s than argument 1", how);
	else
		rp_raise(vm, TY_ValueError, "zip() argument %u is %s than arguments 1-%u", which,
		         how, which - 1);
}

/* Number `ended`, from 0, is the first that has no more. */
static void zip_strict(struct vm *vm, struct iter *it, uint32_t ended)
{
	if (ended) {
		zip_uneven(vm, ended + 1, "shorter");
		return;
	}
	for (uint32_t i = 1; i < it->count && is_null(vm->exc); i++) {
		struct val item = rp_next(vm, it->inner[i]);

		if (!is_null(item))
			zip_uneven(vm, i + 1, "longer");
		unref(vm, item);
	}
}

static struct val next_zip(struct vm *vm, struct iter *it)
{
	struct list *t = it->count ? cached_tuple(vm, it, it->count) : NULL;

	if (!it->count)
		return val_null();
	if (!t)
		t = tuple_new(vm, it->count);
	else
		t->h.refs++;
	for (uint32_t i = 0; i < it->count; i++) {
		struct val item = rp_next(vm, it->inner[i]);

		if (is_null(item)) {
			unref_obj(vm, t);
			it->done = true;
			if (it->strict && is_null(vm->exc))
				zip_strict(vm, it, i);
			return val_null();
		}
		slot_set(vm, &t->at[i], item);
	}
	return val_obj(t);
}

static struct val next_map(struct vm *vm, struct iter *it)
{
	struct val few[8] = {{0}}, result;
	uint32_t n = 0, count = it->count > 8 ? 8 : it->count;

	for (; n < count; n++) {
		few[n] = rp_next(vm, it->inner[n]);
		if (is_null(few[n]))
			break;
	}
	result = n == count ? rp_call(vm, it->a, few, count, NULL) : val_null();
	for (uint32_t i = 0; i < n; i++)
		unref(vm, few[i]);
	return result;
}

static struct val next_filter(struct vm *vm, struct iter *it)
{
	struct val item;

	while (!is_null(item = rp_next(vm, it->inner[0]))) {
		struct val verdict = is_missing(it->a) ? ref(item) : rp_call1(vm, it->a, item);
		int yes = is_null(verdict) ? -1 : rp_truth(vm, verdict);

		unref(vm, verdict);
		if (yes > 0)
			return item;
		unref(vm, item);
		if (yes < 0 || !vm_work(vm, 1))
			break;
	}
	return val_null();
}

static struct val next_reversed(struct vm *vm, struct iter *it)
{
	struct val index;

	if (it->at <= 0)
		return val_null();
	index = val_int(--it->at);
	return rp_item(vm, it->a, index);
}

static struct val next_getitem(struct vm *vm, struct iter *it)
{
	struct val item = rp_item(vm, it->a, val_int(it->at++));

	if (is_null(item) && (exc_is(vm, TY_IndexError) || exc_is(vm, TY_StopIteration)) &&
	    !vm->halt)
		exc_clear(vm);
	return item;
}

static struct val next_sentinel(struct vm *vm, struct iter *it)
{
	struct val item = rp_call0(vm, it->a);
	int same;

	if (is_null(item))
		return item;
	same = rp_eq(vm, item, it->inner[0]);
	if (!same)
		return item;
	unref(vm, item);
	it->done = true;
	return val_null();
}

static struct val next_chain(struct vm *vm, struct iter *it)
{
	for (;;) {
		struct val item, source;

		if (!is_null(it->inner[0])) {
			item = rp_next(vm, it->inner[0]);
			if (!is_null(item) || !is_null(vm->exc))
				return item;
			slot_set(vm, &it->inner[0], val_null());
		}
		source = rp_next(vm, it->a);
		if (is_null(source))
			return source;
		it->inner[0] = rp_iter(vm, source);
		unref(vm, source);
		if (is_null(it->inner[0]) || !vm_work(vm, 1))
			return val_null();
	}
}

static struct val next_islice(struct vm *vm, struct iter *it)
{
	struct val item;

	while (it->stop < 0 || it->at < it->stop) {
		item = rp_next(vm, it->a);
		if (is_null(item))
			return item;
		if (it->at++ == (int64_t)it->version) {
			it->version += (uint32_t)it->step;
			return item;
		}
		unref(vm, item);
	}
	return val_null();
}

static struct val next_simple(struct vm *vm, struct iter *it)
{
	struct val v;

	switch (it->what) {
	case IT_STR:
		return it->at < AS(str, it->a)->chars ? str_at(vm, AS(str, it->a), it->at++)
		                                      : val_null();
	case IT_BYTES:
		return it->at < AS(str, it->a)->length
		               ? val_int((unsigned char)AS(str, it->a)->at[it->at++])
		               : val_null();
	case IT_DEQUE:
		return it->at < AS(deque, it->a)->count ? ref(*deque_at(AS(deque, it->a), it->at++))
		                                        : val_null();
	case IT_RANGE:
		if (it->stop <= 0)
			return val_null();
		it->stop--;
		v = val_int(it->at);
		it->at += it->step;
		return v;
	case IT_COUNT:
		v = ref(it->a);
		slot_set(vm, &it->a, rp_binary(vm, SUB_binary_add, v, it->inner[0]));
		return v;
	case IT_REPEAT:
		if (it->stop == 0)
			return val_null();
		it->stop -= it->stop > 0;
		return ref(it->a);
	case IT_UNKNOWN:
		if (it->at++ >= (vm->measured_next ? MEASURED_LENGTH : UNKNOWN_LENGTH))
			return val_null();
		if (is_kind(it->a, K_UNKNOWN))
			return unknown_next(vm, AS(unknown, it->a));
		return unknown_new(vm, "%s's item", type_name(vm, it->a));
	default:
		return val_null();
	}
}

static struct val iter_step(struct vm *vm, struct iter *it)
{
	if (it->done)
		return val_null();
	switch (it->what) {
	case IT_LIST:
		return next_list(vm, it);
	case IT_DICT:
	case IT_SET:
		return next_dict(vm, it);
	case IT_ENUMERATE:
		return next_enumerate(vm, it);
	case IT_ZIP:
		return next_zip(vm, it);
	case IT_MAP:
		return next_map(vm, it);
	case IT_FILTER:
		return next_filter(vm, it);
	case IT_REVERSED:
		return next_reversed(vm, it);
	case IT_GETITEM:
		return next_getitem(vm, it);
	case IT_SENTINEL:
		return next_sentinel(vm, it);
	case IT_CHAIN:
		return next_chain(vm, it);
	case IT_ISLICE:
		return next_islice(vm, it);
	default:
		return next_simple(vm, it);
	}
}

struct val rp_next(struct vm *vm, struct val iterator)
{
	struct val fn, item;

	if (vm->halt)
		return val_null();
	if (is_kind(iterator, K_ITER)) {
		struct val keep = ref(iterator);

		item = vm_work(vm, 1) ? iter_step(vm, AS(iter, iterator)) : val_null();
		unref(vm, keep);
		return item;
	}
	if (is_kind(iterator, K_GENERATOR)) {
		struct val keep = ref(iterator);

		item = generator_send(vm, AS(generator, iterator), val_none());
		unref(vm, keep);
		return item;
	}
	if (is_kind(iterator, K_UNKNOWN))
		return unknown_new(vm, "next(%s)", AS(unknown, iterator)->what->at);
	fn = special_find(vm, iterator, PN_next);
	if (is_null(fn)) {
		if (is_null(vm->exc))
			rp_raise(vm, TY_TypeError, "'%s' object is not an iterator",
			         type_name(vm, iterator));
		return val_null();
	}
	item = rp_call0(vm, fn);
	unref(vm, fn);
	if (is_null(item) && exc_is(vm, TY_StopIteration) && !vm->halt)
		exc_clear(vm);
	return item;
}
