#include <string.h>

#include "analyzer/replay/py.h"

#define METHOD(name) static struct val name(struct vm *vm, struct val *a, uint32_t n)
#define DICT(v)      AS(dict, (v))

static struct val made_of(struct vm *vm, struct dict *d, struct val cls)
{
	(void)vm;
	d->h.cls = AS(cls, cls);
	d->h.cls->h.refs += (d->h.cls->flags & CLS_HEAP) != 0;
	return val_obj(d);
}

METHOD(dict_new_method)
{
	(void)n;
	return made_of(vm, dict_new(vm), a[0]);
}

METHOD(dict_update_method)
{
	(void)n;
	if (!is_missing(a[1]) && !dict_update(vm, DICT(a[0]), a[1]))
		return val_null();
	if (!is_null(a[2]) && !dict_update(vm, DICT(a[0]), a[2]))
		return val_null();
	return val_none();
}

METHOD(dict_get_method)
{
	struct val v = dict_get(vm, DICT(a[0]), a[1]);

	(void)n;
	if (!is_null(v))
		return ref(v);
	if (!is_null(vm->exc))
		return val_null();
	return is_null(a[2]) ? val_none() : ref(a[2]);
}

METHOD(dict_setdefault)
{
	struct val v = dict_get(vm, DICT(a[0]), a[1]);

	(void)n;
	if (!is_null(v))
		return ref(v);
	if (!is_null(vm->exc))
		return val_null();
	v = is_null(a[2]) ? val_none() : a[2];
	return dict_put(vm, DICT(a[0]), a[1], v) ? ref(v) : val_null();
}

METHOD(dict_pop_method)
{
	struct val old;
	int done = dict_remove(vm, DICT(a[0]), a[1], &old);

	(void)n;
	if (done > 0)
		return old;
	if (done < 0)
		return val_null();
	return is_null(a[2]) ? rp_raise_key(vm, a[1]) : ref(a[2]);
}

METHOD(dict_popitem)
{
	struct dict *d = DICT(a[0]);
	struct val pair;

	while (d->used && is_null(d->at[d->used - 1].key))
		d->used--;
	if (!d->used)
		return rp_raise(vm, TY_KeyError, "popitem(): dictionary is empty");
	n = d->used - 1;
	pair = tuple_pair(vm, ref(d->at[n].key), ref(d->at[n].value));
	dict_remove(vm, d, AS(list, pair)->at[0], NULL);
	return pair;
}

static struct val view_new(struct vm *vm, struct val d, uint32_t mode)
{
	struct view *v = rp_new(vm, K_VIEW, vm->t[TY_dict_keys + mode], sizeof(*v));

	v->dict = AS(dict, ref(d));
	v->mode = mode;
	return val_obj(v);
}

METHOD(dict_keys_method)
{
	(void)n;
	return view_new(vm, a[0], 0);
}

METHOD(dict_values_method)
{
	(void)n;
	return view_new(vm, a[0], 1);
}

METHOD(dict_items_method)
{
	(void)n;
	return view_new(vm, a[0], 2);
}

METHOD(dict_clear_method)
{
	(void)n;
	dict_clear(vm, DICT(a[0]));
	return val_none();
}

METHOD(dict_copy_method)
{
	(void)n;
	return val_obj(dict_copy(vm, DICT(a[0])));
}

METHOD(dict_getitem_method)
{
	struct val v = dict_get(vm, DICT(a[0]), a[1]), fn;

	(void)n;
	if (!is_null(v) || !is_null(vm->exc))
		return ref(v);
	fn = a[0].as.o->cls->flags & CLS_HEAP ? special_find(vm, a[0], PN_missing) : val_null();
	if (is_null(fn))
		return is_null(vm->exc) ? rp_raise_key(vm, a[1]) : val_null();
	v = rp_call1(vm, fn, a[1]);
	unref(vm, fn);
	return v;
}

METHOD(dict_setitem_method)
{
	(void)n;
	return dict_put(vm, DICT(a[0]), a[1], a[2]) ? val_none() : val_null();
}

METHOD(dict_delitem_method)
{
	int done = dict_remove(vm, DICT(a[0]), a[1], NULL);

	(void)n;
	if (!done)
		return rp_raise_key(vm, a[1]);
	return done > 0 ? val_none() : val_null();
}

METHOD(dict_len_method)
{
	(void)vm, (void)n;
	return val_int(DICT(a[0])->count);
}

METHOD(dict_contains_method)
{
	struct val v = dict_get(vm, DICT(a[0]), a[1]);

	(void)n;
	return is_null(vm->exc) ? val_bool(!is_null(v)) : val_null();
}

METHOD(dict_iter_method)
{
	struct view view = {.dict = DICT(a[0])};
	struct iter *it =
	        iter_new(vm, a[0].as.o->kind == K_SET ? IT_SET : IT_DICT, TY_iterator, a[0]);

	(void)n;
	it->version = view.dict->version;
	return val_obj(it);
}

METHOD(dict_fromkeys)
{
	struct dict *d = dict_new(vm);
	struct val it = rp_iter(vm, a[1]), key;

	(void)n;
	while (!is_null(it) && !is_null(key = rp_next(vm, it))) {
		dict_put(vm, d, key, is_null(a[2]) ? val_none() : a[2]);
		unref(vm, key);
	}
	unref(vm, it);
	return made_of(vm, d, a[0]);
}

METHOD(dict_repr_method)
{
	struct cls *own = a[0].as.o->cls;
	struct val result;

	(void)n;
	a[0].as.o->cls = vm->t[is_kind(a[0], K_DICT) ? TY_dict : TY_set];
	result = rp_repr(vm, a[0]);
	a[0].as.o->cls = own;
	return result;
}

METHOD(dict_eq_method)
{
	(void)n;
	if (a[1].tag != PY_OBJECT || a[0].as.o->kind != a[1].as.o->kind)
		return (struct val){.tag = PY_NOT_IMPLEMENTED};
	return rp_compare(vm, SUB_compare_equal, a[0], a[1]);
}

METHOD(dict_reversed)
{
	struct list *keys = list_from(vm, a[0]);

	(void)n;
	for (uint32_t i = 0, k = keys ? keys->count : 0; i + 1 < k; i++) {
		struct val t = keys->at[i];

		keys->at[i] = keys->at[--k];
		keys->at[k] = t;
	}
	return keys ? val_obj(keys) : val_null();
}

const struct native_def dict_methods[] = {
        {"__new__", dict_new_method, "cls ? *args **kw"},
        {"__init__", dict_update_method, "self ? other **kw"},
        {"update", dict_update_method, "self ? other **kw"},
        {"get", dict_get_method, "self key ? default"},
        {"setdefault", dict_setdefault, "self key ? default"},
        {"pop", dict_pop_method, "self key ? default"},
        {"popitem", dict_popitem, "self ? last"},
        {"keys", dict_keys_method, "self"},
        {"values", dict_values_method, "self"},
        {"items", dict_items_method, "self"},
        {"clear", dict_clear_method, "self"},
        {"copy", dict_copy_method, "self"},
        {"__getitem__", dict_getitem_method, "self key"},
        {"__setitem__", dict_setitem_method, "self key value"},
        {"__delitem__", dict_delitem_method, "self key"},
        {"__len__", dict_len_method, "self"},
        {"__contains__", dict_contains_method, "self key"},
        {"__iter__", dict_iter_method, "self"},
        {"__repr__", dict_repr_method, "self"},
        {"__eq__", dict_eq_method, "self other"},
        {"__reversed__", dict_reversed, "self"},
        {0},
};

const struct native_def dict_class_methods[] = {{"fromkeys", dict_fromkeys, "cls keys ? value"},
                                                {0}};

/* --- set */

METHOD(set_new_method)
{
	bool frozen = cls_is(AS(cls, a[0]), vm->t[TY_frozenset]);
	struct dict *d = set_new(vm, frozen);
	struct list *items;

	(void)n;
	if (frozen && !is_null(a[1])) {
		items = list_from(vm, AS(list, a[1])->count ? AS(list, a[1])->at[0] : a[1]);
		for (uint32_t i = 0; items && i < items->count; i++)
			dict_put(vm, d, items->at[i], val_none());
		unref_obj(vm, items);
	}
	return made_of(vm, d, a[0]);
}

static bool set_add_all(struct vm *vm, struct dict *d, struct val items)
{
	struct val it = rp_iter(vm, items), v;

	if (is_null(it))
		return false;
	while (!is_null(v = rp_next(vm, it))) {
		bool ok = dict_put(vm, d, v, val_none()) && vm_work(vm, 1);

		unref(vm, v);
		if (!ok)
			break;
	}
	unref(vm, it);
	return is_null(vm->exc);
}

METHOD(set_init_method)
{
	(void)n;
	if (!is_null(a[1]) && !DICT(a[0])->frozen && !set_add_all(vm, DICT(a[0]), a[1]))
		return val_null();
	return val_none();
}

METHOD(set_add)
{
	(void)n;
	return dict_put(vm, DICT(a[0]), a[1], val_none()) ? val_none() : val_null();
}

METHOD(set_discard)
{
	(void)n;
	return dict_remove(vm, DICT(a[0]), a[1], NULL) < 0 ? val_null() : val_none();
}

METHOD(set_pop)
{
	uint32_t at = 0;
	struct dict_entry *e = dict_next(DICT(a[0]), &at);
	struct val v;

	(void)n;
	if (!e)
		return rp_raise(vm, TY_KeyError, "pop from an empty set");
	v = ref(e->key);
	dict_remove(vm, DICT(a[0]), v, NULL);
	return v;
}

METHOD(set_update)
{
	(void)n;
	for (uint32_t i = 0; i < AS(list, a[1])->count; i++)
		if (!set_add_all(vm, DICT(a[0]), AS(list, a[1])->at[i]))
			return val_null();
	return val_none();
}

static struct val set_with(struct vm *vm, struct val *a, enum ir_sub sub)
{
	struct val result = ref(a[0]), other;

	for (uint32_t i = 0; i < AS(list, a[1])->count && !is_null(result); i++) {
		struct dict *d = set_new(vm, false);

		if (!set_add_all(vm, d, AS(list, a[1])->at[i])) {
			unref_obj(vm, d);
			unref(vm, result);
			return val_null();
		}
		other = val_obj(d);
		slot_set(vm, &result, rp_binary(vm, sub, result, other));
		unref(vm, other);
	}
	if (!is_null(result) && result.as.o == a[0].as.o) {
		unref(vm, result);
		return val_obj(dict_copy(vm, DICT(a[0])));
	}
	return result;
}

METHOD(set_union)
{
	(void)n;
	return set_with(vm, a, SUB_binary_or);
}

METHOD(set_intersection)
{
	(void)n;
	return set_with(vm, a, SUB_binary_and);
}

METHOD(set_difference)
{
	(void)n;
	return set_with(vm, a, SUB_binary_subtract);
}

METHOD(set_symmetric_difference)
{
	struct dict *d = set_new(vm, false);
	struct val result = set_add_all(vm, d, a[1])
	                            ? rp_binary(vm, SUB_binary_xor, a[0], val_obj(d))
	                            : val_null();

	(void)n;
	unref_obj(vm, d);
	return result;
}

static struct val set_compare(struct vm *vm, struct val *a, enum ir_sub sub)
{
	struct dict *d = set_new(vm, false);
	struct val result =
	        set_add_all(vm, d, a[1]) ? rp_compare(vm, sub, a[0], val_obj(d)) : val_null();

	unref_obj(vm, d);
	return result;
}

METHOD(set_issubset)
{
	(void)n;
	return set_compare(vm, a, SUB_compare_less_equal);
}

METHOD(set_issuperset)
{
	(void)n;
	return set_compare(vm, a, SUB_compare_greater_equal);
}

METHOD(set_isdisjoint)
{
	struct val both = rp_call_method(vm, a[0], "intersection", a + 1, 1), result;

	(void)n;
	if (is_null(both))
		return both;
	result = val_bool(DICT(both)->count == 0);
	unref(vm, both);
	return result;
}

const struct native_def set_changing_methods[] = {
        {"add", set_add, "self item"},
        {"discard", set_discard, "self item"},
        {"remove", dict_delitem_method, "self item"},
        {"pop", set_pop, "self"},
        {"clear", dict_clear_method, "self"},
        {"update", set_update, "self *others"},
        {0},
};

/* What frozen sets have, too. */
const struct native_def set_methods[] = {
        {"__new__", set_new_method, "cls ? *args **kw"},
        {"__init__", set_init_method, "self ? iterable"},
        {"copy", dict_copy_method, "self"},
        {"union", set_union, "self *others"},
        {"intersection", set_intersection, "self *others"},
        {"difference", set_difference, "self *others"},
        {"symmetric_difference", set_symmetric_difference, "self other"},
        {"issubset", set_issubset, "self other"},
        {"issuperset", set_issuperset, "self other"},
        {"isdisjoint", set_isdisjoint, "self other"},
        {"__len__", dict_len_method, "self"},
        {"__contains__", dict_contains_method, "self item"},
        {"__iter__", dict_iter_method, "self"},
        {"__repr__", dict_repr_method, "self"},
        {"__eq__", dict_eq_method, "self other"},
        {0},
};
