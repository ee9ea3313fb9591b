#include <string.h>

#include "analyzer/replay/py.h"

#define METHOD(name) static struct val name(struct vm *vm, struct val *a, uint32_t n)
#define LIST(v)      AS(list, (v))

static struct val done(struct vm *vm)
{
	return is_null(vm->exc) && !vm->halt ? val_none() : val_null();
}

METHOD(list_new_method)
{
	struct list *list = list_new(vm, 0);

	(void)n;
	if (AS(cls, a[0]) != vm->t[TY_list]) {
		list->h.cls = AS(cls, a[0]);
		list->h.cls->h.refs += (list->h.cls->flags & CLS_HEAP) != 0;
	}
	return val_obj(list);
}

METHOD(list_init_method)
{
	(void)n;
	list_remove(vm, LIST(a[0]), 0, LIST(a[0])->count);
	if (!is_null(a[1]) && !list_extend(vm, LIST(a[0]), a[1]))
		return val_null();
	return val_none();
}

METHOD(list_append)
{
	(void)n;
	list_push(vm, LIST(a[0]), ref(a[1]));
	return vm->halt ? val_null() : val_none();
}

METHOD(list_extend_method)
{
	(void)n;
	return list_extend(vm, LIST(a[0]), a[1]) ? val_none() : val_null();
}

METHOD(list_insert_method)
{
	int64_t at;

	(void)n;
	if (!rp_index(vm, a[1], &at))
		return val_null();
	if (at < 0)
		at += LIST(a[0])->count;
	if (at > (int64_t)LIST(a[0])->count)
		at = LIST(a[0])->count;
	at = at < 0 ? 0 : at;
	list_insert(vm, LIST(a[0]), (uint32_t)at, ref(a[2]));
	return val_none();
}

METHOD(list_pop_method)
{
	struct list *list = LIST(a[0]);
	int64_t at;
	struct val v;

	(void)n;
	if (!arg_int(vm, a[1], -1, &at))
		return val_null();
	if (!list->count)
		return rp_raise(vm, TY_IndexError, "pop from empty list");
	if (at < 0)
		at += list->count;
	if (at < 0 || at >= list->count)
		return rp_raise(vm, TY_IndexError, "pop index out of range");
	v = ref(list->at[at]);
	list_remove(vm, list, (uint32_t)at, 1);
	return v;
}

/* Index of the first equal element, -1: none, -2: exception. */
/* -1: it is not there; -2: an exception */
static int64_t find_equal(struct vm *vm, struct list *list, struct val v, int64_t start,
                          int64_t stop)
{
	for (int64_t i = start; i < stop && i < list->count; i++) {
		int same = val_same(list->at[i], v) ? 1 : rp_eq(vm, list->at[i], v);

		if (same)
			return same > 0 ? i : -2;
	}
	return -1;
}

METHOD(list_remove_method)
{
	int64_t at = find_equal(vm, LIST(a[0]), a[1], 0, INT64_MAX);

	(void)n;
	if (at == -1)
		return rp_raise(vm, TY_ValueError, "list.remove(x): x not in list");
	if (at >= 0)
		list_remove(vm, LIST(a[0]), (uint32_t)at, 1);
	return done(vm);
}

METHOD(list_index_method)
{
	int64_t start, stop, at;
	struct val shown;

	(void)n;
	if (!arg_int(vm, a[2], 0, &start) || !arg_int(vm, a[3], INT64_MAX, &stop))
		return val_null();
	start += start < 0 ? LIST(a[0])->count : 0;
	stop += stop < 0 ? LIST(a[0])->count : 0;
	at = find_equal(vm, LIST(a[0]), a[1], start < 0 ? 0 : start, stop);
	if (at >= 0)
		return val_int(at);
	if (at == -1 && is_kind(a[0], K_TUPLE))
		return rp_raise(vm, TY_ValueError, "tuple.index(x): x not in tuple");
	if (at == -1) {
		shown = rp_repr(vm, a[1]);
		rp_raise(vm, TY_ValueError, "%s is not in list",
		         is_kind(shown, K_STR) ? chars_of(shown) : "x");
		unref(vm, shown);
	}
	return val_null();
}

METHOD(list_count_method)
{
	int64_t count = 0;

	(void)n;
	for (uint32_t i = 0; i < LIST(a[0])->count; i++)
		count += rp_eq(vm, LIST(a[0])->at[i], a[1]) > 0;
	return is_null(vm->exc) ? val_int(count) : val_null();
}

METHOD(list_clear_method)
{
	(void)n;
	list_remove(vm, LIST(a[0]), 0, LIST(a[0])->count);
	return val_none();
}

METHOD(list_copy_method)
{
	struct list *copy = list_from(vm, a[0]);

	(void)n;
	return copy ? val_obj(copy) : val_null();
}

METHOD(list_reverse_method)
{
	struct list *list = LIST(a[0]);

	(void)vm, (void)n;
	for (uint32_t i = 0, k = list->count; i + 1 < k; i++) {
		struct val t = list->at[i];

		list->at[i] = list->at[--k];
		list->at[k] = t;
	}
	return val_none();
}

/* --- sorting: stable merges, keys beside values */

struct sorter {
	struct vm *vm;
	struct val *key, *value, *key2, *value2;
	bool reverse;
};

static void merge(struct sorter *s, uint32_t from, uint32_t middle, uint32_t to)
{
	uint32_t i = from, k = middle, at = from;

	while (i < middle || k < to) {
		bool right = i >= middle;

		if (!right && k < to && is_null(s->vm->exc))
			right = s->reverse ? rp_less(s->vm, s->key[i], s->key[k]) > 0
			                   : rp_less(s->vm, s->key[k], s->key[i]) > 0;
		s->key2[at] = s->key[right ? k : i];
		s->value2[at++] = s->value[right ? k++ : i++];
	}
	memcpy(s->key + from, s->key2 + from, (to - from) * sizeof(*s->key));
	memcpy(s->value + from, s->value2 + from, (to - from) * sizeof(*s->value));
}

static void sort_range(struct sorter *s, uint32_t from, uint32_t to)
{
	uint32_t middle = from + (to - from) / 2;

	if (to - from < 2 || !vm_work(s->vm, to - from))
		return;
	sort_range(s, from, middle);
	sort_range(s, middle, to);
	merge(s, from, middle, to);
}

bool list_sort(struct vm *vm, struct list *list, struct val key, bool reverse);
bool list_sort(struct vm *vm, struct list *list, struct val key, bool reverse)
{
	uint32_t count = list->count;
	struct sorter s = {.vm = vm, .reverse = reverse};
	struct val *all;

	if (count < 1)
		return true;
	all = rp_mem(vm, NULL, 0, (size_t)count * 3 * sizeof(*all));
	s.value = list->at;
	s.key = all;
	s.key2 = all + count;
	s.value2 = all + 2 * (size_t)count;
	for (uint32_t i = 0; i < count; i++)
		s.key[i] = is_missing(key)    ? ref(s.value[i])
		           : is_null(vm->exc) ? rp_call1(vm, key, s.value[i])
		                              : val_null();
	if (is_null(vm->exc))
		sort_range(&s, 0, count);
	for (uint32_t i = 0; i < count; i++)
		unref(vm, s.key[i]);
	rp_mem(vm, all, (size_t)count * 3 * sizeof(*all), 0);
	return is_null(vm->exc) && !vm->halt;
}

METHOD(list_sort_method)
{
	int reverse = is_null(a[2]) ? 0 : rp_truth(vm, a[2]);

	(void)n;
	return reverse >= 0 && list_sort(vm, LIST(a[0]), a[1], reverse) ? val_none() : val_null();
}

METHOD(item_method)
{
	(void)n;
	if (is_kind(a[0], K_LIST) || is_kind(a[0], K_TUPLE)) {
		struct cls *own = a[0].as.o->cls;
		struct val v;

		/* Called through super(): not the subclass's own __getitem__. */
		a[0].as.o->cls = vm->t[is_kind(a[0], K_LIST) ? TY_list : TY_tuple];
		v = rp_item(vm, a[0], a[1]);
		a[0].as.o->cls = own;
		return v;
	}
	return val_null();
}

METHOD(set_item_method)
{
	struct cls *own = a[0].as.o->cls;
	bool ok;

	(void)n;
	a[0].as.o->cls = vm->t[TY_list];
	ok = rp_set_item(vm, a[0], a[1], a[2]);
	a[0].as.o->cls = own;
	return ok ? val_none() : val_null();
}

METHOD(del_item_method)
{
	struct cls *own = a[0].as.o->cls;
	bool ok;

	(void)n;
	a[0].as.o->cls = vm->t[TY_list];
	ok = rp_del_item(vm, a[0], a[1]);
	a[0].as.o->cls = own;
	return ok ? val_none() : val_null();
}

METHOD(len_method)
{
	(void)vm, (void)n;
	return val_int(LIST(a[0])->count);
}

METHOD(iter_method)
{
	(void)n;
	return val_obj(iter_new(vm, IT_LIST, TY_iterator, a[0]));
}

METHOD(contains_method)
{
	int64_t at = find_equal(vm, LIST(a[0]), a[1], 0, INT64_MAX);

	(void)n;
	return at == -2 ? val_null() : val_bool(at >= 0);
}

METHOD(iadd_method)
{
	(void)n;
	return list_extend(vm, LIST(a[0]), a[1]) ? ref(a[0]) : val_null();
}

static struct val repr_plain(struct vm *vm, struct val v, enum rp_type type)
{
	struct cls *own = v.as.o->cls;
	struct val result;

	v.as.o->cls = vm->t[type];
	result = rp_repr(vm, v);
	v.as.o->cls = own;
	return result;
}

METHOD(list_repr_method)
{
	(void)n;
	return repr_plain(vm, a[0], is_kind(a[0], K_LIST) ? TY_list : TY_tuple);
}

METHOD(eq_method)
{
	(void)n;
	if (a[1].tag != PY_OBJECT || a[0].as.o->kind != a[1].as.o->kind)
		return (struct val){.tag = PY_NOT_IMPLEMENTED};
	return rp_compare(vm, SUB_compare_equal, a[0], a[1]);
}

const struct native_def list_methods[] = {
        {"__new__", list_new_method, "cls ? *args **kw"},
        {"__init__", list_init_method, "self ? iterable"},
        {"append", list_append, "self item"},
        {"extend", list_extend_method, "self items"},
        {"insert", list_insert_method, "self index item"},
        {"pop", list_pop_method, "self ? index"},
        {"remove", list_remove_method, "self item"},
        {"index", list_index_method, "self item ? start stop"},
        {"count", list_count_method, "self item"},
        {"clear", list_clear_method, "self"},
        {"copy", list_copy_method, "self"},
        {"reverse", list_reverse_method, "self"},
        {"sort", list_sort_method, "self ? | key reverse"},
        {"__getitem__", item_method, "self index"},
        {"__setitem__", set_item_method, "self index value"},
        {"__delitem__", del_item_method, "self index"},
        {"__len__", len_method, "self"},
        {"__iter__", iter_method, "self"},
        {"__contains__", contains_method, "self item"},
        {"__iadd__", iadd_method, "self items"},
        {"__repr__", list_repr_method, "self"},
        {"__eq__", eq_method, "self other"},
        {0},
};

METHOD(tuple_new_method)
{
	struct list *list, *tuple;

	(void)n;
	if (is_kind(a[1], K_TUPLE) && AS(cls, a[0]) == vm->t[TY_tuple] &&
	    a[1].as.o->cls == vm->t[TY_tuple])
		return ref(a[1]);
	if (is_kind(a[1], K_UNKNOWN))
		return ref(a[1]);
	list = is_null(a[1]) ? list_new(vm, 0) : list_from(vm, a[1]);
	if (!list)
		return val_null();
	tuple = AS(list, tuple_of(vm, list->at, list->count));
	unref_obj(vm, list);
	tuple->h.cls = AS(cls, a[0]);
	tuple->h.cls->h.refs += (tuple->h.cls->flags & CLS_HEAP) != 0;
	return val_obj(tuple);
}

METHOD(size_numel)
{
	int64_t product = 1;

	(void)vm, (void)n;
	for (uint32_t i = 0; i < LIST(a[0])->count; i++)
		product *= is_int(LIST(a[0])->at[i]) ? LIST(a[0])->at[i].as.i : 1;
	return val_int(product);
}

const struct native_def tuple_methods[] = {
        {"__new__", tuple_new_method, "cls ? iterable"},
        {"index", list_index_method, "self item ? start stop"},
        {"count", list_count_method, "self item"},
        {"numel", size_numel, "self"},
        {"__getitem__", item_method, "self index"},
        {"__len__", len_method, "self"},
        {"__iter__", iter_method, "self"},
        {"__contains__", contains_method, "self item"},
        {"__repr__", list_repr_method, "self"},
        {"__eq__", eq_method, "self other"},
        {0},
};

/* --- deque */

METHOD(deque_new_method)
{
	struct deque *d = deque_new(vm, -1);

	(void)n;
	d->h.cls = AS(cls, a[0]);
	d->h.cls->h.refs += (d->h.cls->flags & CLS_HEAP) != 0;
	return val_obj(d);
}

static bool deque_extend(struct vm *vm, struct deque *d, struct val items, bool left)
{
	struct val it = rp_iter(vm, items), v;

	if (is_null(it))
		return false;
	while (!is_null(v = rp_next(vm, it)))
		deque_push(vm, d, v, left);
	unref(vm, it);
	return is_null(vm->exc);
}

METHOD(deque_init_method)
{
	int64_t maxlen;

	(void)n;
	if (!arg_int(vm, a[2], -1, &maxlen))
		return val_null();
	AS(deque, a[0])->maxlen = maxlen;
	if (!is_null(a[1]) && !deque_extend(vm, AS(deque, a[0]), a[1], false))
		return val_null();
	return val_none();
}

METHOD(deque_append)
{
	(void)n;
	deque_push(vm, AS(deque, a[0]), ref(a[1]), false);
	return val_none();
}

METHOD(deque_appendleft)
{
	(void)n;
	deque_push(vm, AS(deque, a[0]), ref(a[1]), true);
	return val_none();
}

METHOD(deque_extend_method)
{
	(void)n;
	return deque_extend(vm, AS(deque, a[0]), a[1], false) ? val_none() : val_null();
}

METHOD(deque_extendleft)
{
	(void)n;
	return deque_extend(vm, AS(deque, a[0]), a[1], true) ? val_none() : val_null();
}

static struct val popped(struct vm *vm, struct val v)
{
	return is_null(v) ? rp_raise(vm, TY_IndexError, "pop from an empty deque") : v;
}

METHOD(deque_pop_method)
{
	(void)n;
	return popped(vm, deque_pop(vm, AS(deque, a[0]), false));
}

METHOD(deque_popleft)
{
	(void)n;
	return popped(vm, deque_pop(vm, AS(deque, a[0]), true));
}

METHOD(deque_clear)
{
	(void)n;
	while (AS(deque, a[0])->count)
		unref(vm, deque_pop(vm, AS(deque, a[0]), true));
	return val_none();
}

METHOD(deque_rotate)
{
	struct deque *d = AS(deque, a[0]);
	int64_t by;

	(void)n;
	if (!arg_int(vm, a[1], 1, &by))
		return val_null();
	by = d->count ? by % (int64_t)d->count : 0;
	for (; by > 0; by--)
		deque_push(vm, d, deque_pop(vm, d, false), true);
	for (; by < 0; by++)
		deque_push(vm, d, deque_pop(vm, d, true), false);
	return val_none();
}

/* A list's method on the items. */
static struct val by_list(struct vm *vm, struct val *a, const char *method, uint32_t nargs)
{
	struct deque *d = AS(deque, a[0]);
	struct list *items = list_from(vm, a[0]);
	struct val result;

	if (!items)
		return val_null();
	result = rp_call_method(vm, val_obj(items), method, a + 1, nargs);
	if (!is_null(result)) {
		while (d->count)
			unref(vm, deque_pop(vm, d, true));
		deque_extend(vm, d, val_obj(items), false);
	}
	unref_obj(vm, items);
	return result;
}

METHOD(deque_count)
{
	(void)n;
	return by_list(vm, a, "count", 1);
}

METHOD(deque_index)
{
	(void)n;
	return by_list(vm, a, "index", 1);
}

METHOD(deque_remove)
{
	(void)n;
	return by_list(vm, a, "remove", 1);
}

METHOD(deque_insert)
{
	(void)n;
	return by_list(vm, a, "insert", 2);
}

METHOD(deque_reverse)
{
	(void)n;
	return by_list(vm, a, "reverse", 0);
}

METHOD(deque_copy)
{
	struct deque *d = deque_new(vm, AS(deque, a[0])->maxlen);

	(void)n;
	deque_extend(vm, d, a[0], false);
	return val_obj(d);
}

METHOD(deque_maxlen)
{
	(void)vm, (void)n;
	return AS(deque, a[0])->maxlen < 0 ? val_none() : val_int(AS(deque, a[0])->maxlen);
}

METHOD(deque_len)
{
	(void)vm, (void)n;
	return val_int(AS(deque, a[0])->count);
}

const struct native_def deque_methods[] = {
        {"__new__", deque_new_method, "cls ? *args **kw"},
        {"__init__", deque_init_method, "self ? iterable maxlen"},
        {"append", deque_append, "self item"},
        {"appendleft", deque_appendleft, "self item"},
        {"extend", deque_extend_method, "self items"},
        {"extendleft", deque_extendleft, "self items"},
        {"pop", deque_pop_method, "self"},
        {"popleft", deque_popleft, "self"},
        {"clear", deque_clear, "self"},
        {"rotate", deque_rotate, "self ? n"},
        {"copy", deque_copy, "self"},
        {"count", deque_count, "self item"},
        {"index", deque_index, "self item"},
        {"remove", deque_remove, "self item"},
        {"insert", deque_insert, "self index item"},
        {"reverse", deque_reverse, "self"},
        {"__len__", deque_len, "self"},
        {0},
};

const struct native_def deque_properties[] = {{"maxlen", deque_maxlen, "self"}, {0}};
