#include <string.h>

#include "analyzer/replay/py.h"

static bool slice_end(struct vm *vm, struct val v, int64_t fallback, int64_t length, int64_t low,
                      int64_t high, int64_t *out)
{
	int64_t at;

	if (is_missing(v) || is_kind(v, K_UNKNOWN)) {
		*out = fallback;
		return true;
	}
	if (!rp_index(vm, v, &at))
		return false;
	if (at < 0)
		at = at < -length ? low : at + length < low ? low : at + length;
	*out = at < low ? low : at > high ? high : at;
	return true;
}

/* What a slice means for a length: first index, step and how many. */
bool slice_bounds(struct vm *vm, struct slice *s, int64_t length, int64_t *start, int64_t *stop,
                  int64_t *step, int64_t *count)
{
	bool down;

	*step = 1;
	if (!is_missing(s->step) && !rp_index(vm, s->step, step))
		return false;
	if (!*step) {
		rp_raise(vm, TY_ValueError, "slice step cannot be zero");
		return false;
	}
	down = *step < 0;
	if (!slice_end(vm, s->start, down ? length - 1 : 0, length, down ? -1 : 0,
	               down ? length - 1 : length, start) ||
	    !slice_end(vm, s->stop, down ? -1 : length, length, down ? -1 : 0,
	               down ? length - 1 : length, stop))
		return false;
	if (down)
		*count = *start > *stop ? (*start - *stop - 1) / -*step + 1 : 0;
	else
		*count = *stop > *start ? (*stop - *start - 1) / *step + 1 : 0;
	return true;
}

static bool position(struct vm *vm, struct val index, int64_t length, const char *what, int64_t *at)
{
	if (!rp_index(vm, index, at)) {
		if (exc_is(vm, TY_TypeError)) {
			exc_clear(vm);
			rp_raise(vm, TY_TypeError, "%s indices must be integers or slices, not %s",
			         what, type_name(vm, index));
		}
		return false;
	}
	if (*at < 0)
		*at += length;
	if (*at >= 0 && *at < length)
		return true;
	rp_raise(vm, TY_IndexError, "%s index out of range", what);
	return false;
}

static struct val sequence_slice(struct vm *vm, struct val o, struct slice *s)
{
	int64_t start, stop, step, count;
	struct list *from, *out;

	if (!slice_bounds(vm, s, rp_length(vm, o), &start, &stop, &step, &count))
		return val_null();
	if (is_kind(o, K_STR))
		return str_slice(vm, AS(str, o), start, count, step);
	if (is_kind(o, K_BYTES)) {
		struct str *b = AS(str, o);

		return val_obj(bytes_new(vm, b->at + start, (size_t)(count > 0 ? count : 0)));
	}
	if (is_kind(o, K_RANGE)) {
		struct range *r = AS(range, o),
		             *n = rp_new(vm, K_RANGE, vm->t[TY_range], sizeof(*n));

		n->start = r->start + start * r->step;
		n->step = r->step * step;
		n->length = count;
		n->stop = n->start + count * n->step;
		return val_obj(n);
	}
	from = AS(list, o);
	out = is_kind(o, K_TUPLE) ? tuple_new(vm, (uint32_t)count) : list_new(vm, (uint32_t)count);
	if (is_kind(o, K_TUPLE) && o.as.o->cls == vm->t[TY_size])
		out->h.cls = vm->t[TY_size];
	for (int64_t i = 0; i < count; i++)
		out->at[i] = ref(from->at[start + i * step]);
	out->count = (uint32_t)count;
	return val_obj(out);
}

/* What a key gives that is not known. */
static struct val any_value(struct vm *vm, struct dict *d)
{
	uint32_t at = 0;
	struct dict_entry *e = dict_next(d, &at);

	return e ? ref(e->value) : unknown_new(vm, "item of an empty dict");
}

/* A key that nothing is known of may be any. */
static struct val unknown_value(const struct dict *d)
{
	for (uint32_t i = 0; i < d->used; i++)
		if (is_kind(d->at[i].key, K_UNKNOWN))
			return d->at[i].value;
	return val_null();
}

static struct val dict_item(struct vm *vm, struct val o, struct val key)
{
	struct val v = dict_get(vm, AS(dict, o), key), fn;

	if (!is_null(v))
		return ref(v);
	if (!is_null(vm->exc))
		return val_null();
	if (o.as.o->cls->flags & CLS_HEAP) {
		fn = special_find(vm, o, PN_missing);
		if (!is_null(fn)) {
			v = rp_call1(vm, fn, key);
			unref(vm, fn);
			return v;
		}
		if (!is_null(vm->exc))
			return val_null();
	}
	if (is_kind(key, K_UNKNOWN))
		return any_value(vm, AS(dict, o));
	v = unknown_value(AS(dict, o));
	return is_null(v) ? rp_raise_key(vm, key) : ref(v);
}

static struct val class_item(struct vm *vm, struct val o, struct val index)
{
	struct val fn = AS(cls, o)->meta ? special_find(vm, o, PN_getitem) : val_null(), result;

	if (is_null(fn) && is_null(vm->exc))
		fn = rp_attr_find(vm, o, vm->n[PN_class_getitem]);
	if (is_null(fn))
		return is_null(vm->exc) ? ref(o) : val_null();
	/* __class_getitem__ is a class method without saying so. */
	result = is_kind(fn, K_FUNCTION) ? rp_call2(vm, fn, o, index) : rp_call1(vm, fn, index);
	unref(vm, fn);
	return result;
}

static struct val builtin_item(struct vm *vm, struct val o, struct val index)
{
	int64_t at;

	switch ((enum rp_kind)o.as.o->kind) {
	case K_LIST:
	case K_TUPLE:
		if (is_kind(index, K_SLICE))
			return sequence_slice(vm, o, AS(slice, index));
		if (!position(vm, index, AS(list, o)->count, is_kind(o, K_LIST) ? "list" : "tuple",
		              &at))
			return val_null();
		return ref(AS(list, o)->at[at]);
	case K_DICT:
		return dict_item(vm, o, index);
	case K_STR:
	case K_BYTES:
		if (is_kind(index, K_SLICE))
			return sequence_slice(vm, o, AS(slice, index));
		if (!position(vm, index, rp_length(vm, o), "string", &at))
			return val_null();
		return is_kind(o, K_STR) ? str_at(vm, AS(str, o), at)
		                         : val_int((unsigned char)AS(str, o)->at[at]);
	case K_RANGE:
		if (is_kind(index, K_SLICE))
			return sequence_slice(vm, o, AS(slice, index));
		if (!position(vm, index, AS(range, o)->length, "range object", &at))
			return val_null();
		return val_int(AS(range, o)->start + at * AS(range, o)->step);
	case K_DEQUE:
		if (!position(vm, index, AS(deque, o)->count, "deque", &at))
			return val_null();
		return ref(*deque_at(AS(deque, o), at));
	case K_CLASS:
		return class_item(vm, o, index);
	default:
		if (vm->kinds[o.as.o->kind].item)
			return vm->kinds[o.as.o->kind].item(vm, o, index);
		return val_null();
	}
}

static struct val stand_in_item(struct vm *vm, struct val o, struct val index)
{
	struct val v = val_null();

	if (vm->kinds[K_UNKNOWN].item)
		v = vm->kinds[K_UNKNOWN].item(vm, o, index);
	return is_null(v) ? unknown_item(vm, AS(unknown, o), index) : v;
}

static bool is_sequence(struct val o)
{
	return is_kind(o, K_LIST) || is_kind(o, K_TUPLE) || is_kind(o, K_STR) ||
	       is_kind(o, K_BYTES) || is_kind(o, K_RANGE);
}

/* PY_NULL without an exception: it cannot be indexed. */
static struct val object_item(struct vm *vm, struct val o, struct val index)
{
	struct val fn = o.as.o->kind == K_CLASS ? val_null() : special_own(vm, o, PN_getitem), v;

	if (is_null(fn) && is_null(vm->exc)) {
		/* A stand-in as index picks an element that is there. */
		if (is_kind(index, K_UNKNOWN) && is_sequence(o) && rp_length(vm, o) > 0)
			return builtin_item(vm, o, val_int(0));
		v = builtin_item(vm, o, index);
		if (!is_null(v) || !is_null(vm->exc) || vm->halt)
			return v;
		fn = special_find(vm, o, PN_getitem);
	}
	if (is_null(fn))
		return is_null(vm->exc) && (type_of(vm, o)->flags & CLS_OPAQUE)
		               ? unknown_new(vm, "%s[]", type_name(vm, o))
		               : val_null();
	v = rp_call1(vm, fn, index);
	unref(vm, fn);
	return v;
}

struct val rp_item(struct vm *vm, struct val o, struct val index)
{
	struct val v = val_null();

	if (is_kind(o, K_UNKNOWN))
		return stand_in_item(vm, o, index);
	if (o.tag == PY_OBJECT)
		v = object_item(vm, o, index);
	if (!is_null(v) || !is_null(vm->exc) || vm->halt)
		return v;
	if (is_none(o) && vm->forgiving)
		return unknown_new(vm, "None[]");
	return rp_raise(vm, TY_TypeError, "'%s' object is not subscriptable", type_name(vm, o));
}

static bool list_set_slice(struct vm *vm, struct list *list, struct slice *s, struct val value)
{
	int64_t start, stop, step, count;
	struct list *from;

	if (!slice_bounds(vm, s, list->count, &start, &stop, &step, &count))
		return false;
	from = is_null(value) ? list_new(vm, 0) : list_from(vm, value);
	if (!from)
		return false;
	if (step == 1) {
		for (uint32_t i = 0; i < from->count; i++)
			list_insert(vm, list, (uint32_t)(start + i), ref(from->at[i]));
		list_remove(vm, list, (uint32_t)(start + from->count), (uint32_t)count);
	} else if (is_null(value)) {
		for (int64_t i = count; i-- > 0;)
			list_remove(vm, list,
			            (uint32_t)(step > 0 ? start + i * step
			                                : start + (count - 1 - i) * step),
			            1);
	} else if (from->count != count) {
		rp_raise(vm, TY_ValueError,
		         "attempt to assign sequence of size %u to extended slice "
		         "of size %lld",
		         from->count, (long long)count);
	} else {
		for (int64_t i = 0; i < count; i++)
			slot_set(vm, &list->at[start + i * step], ref(from->at[i]));
	}
	unref_obj(vm, from);
	return is_null(vm->exc);
}

static int builtin_set_item(struct vm *vm, struct val o, struct val index, struct val value)
{
	int64_t at;

	switch ((enum rp_kind)o.as.o->kind) {
	case K_LIST:
		if (is_kind(index, K_SLICE))
			return list_set_slice(vm, AS(list, o), AS(slice, index), value) ? 1 : -1;
		if (is_kind(index, K_UNKNOWN))
			index = val_int(0);
		if (!position(vm, index, AS(list, o)->count, "list assignment", &at))
			return -1;
		slot_set(vm, &AS(list, o)->at[at], ref(value));
		return 1;
	case K_DICT:
		return dict_put(vm, AS(dict, o), index, value) ? 1 : -1;
	case K_DEQUE:
		if (!position(vm, index, AS(deque, o)->count, "deque", &at))
			return -1;
		slot_set(vm, deque_at(AS(deque, o), at), ref(value));
		return 1;
	case K_UNKNOWN:
		return unknown_set_item(vm, AS(unknown, o), index, value) ? 1 : -1;
	default:
		if (vm->kinds[o.as.o->kind].set_item)
			return vm->kinds[o.as.o->kind].set_item(vm, o, index, value);
		return 0;
	}
}

bool rp_set_item(struct vm *vm, struct val o, struct val index, struct val value)
{
	struct val fn, result;
	int done = 0;

	if (o.tag == PY_OBJECT) {
		fn = special_own(vm, o, PN_setitem);
		if (is_null(fn) && is_null(vm->exc)) {
			done = builtin_set_item(vm, o, index, value);
			if (done)
				return done > 0;
			fn = special_find(vm, o, PN_setitem);
		}
		if (!is_null(fn)) {
			result = rp_call2(vm, fn, index, value);
			unref(vm, fn);
			unref(vm, result);
			return !is_null(result);
		}
		if (type_of(vm, o)->flags & CLS_OPAQUE)
			return true;
	}
	if (is_none(o) && vm->forgiving)
		return true;
	if (is_null(vm->exc))
		rp_raise(vm, TY_TypeError, "'%s' object does not support item assignment",
		         type_name(vm, o));
	return false;
}

static int builtin_del_item(struct vm *vm, struct val o, struct val index)
{
	int64_t at;
	int done;

	switch ((enum rp_kind)o.as.o->kind) {
	case K_LIST:
		if (is_kind(index, K_SLICE))
			return list_set_slice(vm, AS(list, o), AS(slice, index), val_null()) ? 1
			                                                                     : -1;
		if (!position(vm, index, AS(list, o)->count, "list assignment", &at))
			return -1;
		list_remove(vm, AS(list, o), (uint32_t)at, 1);
		return 1;
	case K_DICT:
		done = dict_remove(vm, AS(dict, o), index, NULL);
		if (!done)
			rp_raise_key(vm, index);
		return done > 0 ? 1 : -1;
	case K_DEQUE: {
		struct deque *d = AS(deque, o);

		if (!position(vm, index, d->count, "deque", &at))
			return -1;
		for (; at + 1 < d->count; at++) {
			struct val *a = deque_at(d, at), *b = deque_at(d, at + 1), t = *a;

			*a = *b;
			*b = t;
		}
		unref(vm, deque_pop(vm, d, false));
		return 1;
	}
	default:
		return is_kind(o, K_UNKNOWN);
	}
}

bool rp_del_item(struct vm *vm, struct val o, struct val index)
{
	struct val fn, result;
	int done;

	if (o.tag == PY_OBJECT) {
		fn = special_own(vm, o, PN_delitem);
		if (is_null(fn) && is_null(vm->exc)) {
			done = builtin_del_item(vm, o, index);
			if (done)
				return done > 0;
			fn = special_find(vm, o, PN_delitem);
		}
		if (!is_null(fn)) {
			result = rp_call1(vm, fn, index);
			unref(vm, fn);
			unref(vm, result);
			return !is_null(result);
		}
	}
	if (is_null(vm->exc))
		rp_raise(vm, TY_TypeError, "'%s' object doesn't support item deletion",
		         type_name(vm, o));
	return false;
}
