#include <math.h>
#include <string.h>

#include "analyzer/replay/py.h"

#define BUILTIN(name) static struct val name(struct vm *vm, struct val *a, uint32_t n)

BUILTIN(builtin_iter)
{
	struct iter *it;

	(void)n;
	if (is_null(a[1]))
		return rp_iter(vm, a[0]);
	it = iter_new(vm, IT_SENTINEL, TY_iterator, a[0]);
	iter_inner(vm, it, 1);
	it->inner[0] = ref(a[1]);
	return val_obj(it);
}

BUILTIN(builtin_next)
{
	bool measured = vm->measured_next;
	struct val v;

	(void)n;
	/* Who asks for items one by one has a loop of their own. */
	vm->measured_next = true;
	v = rp_next(vm, a[0]);
	vm->measured_next = measured;
	if (!is_null(v) || !is_null(vm->exc) || vm->halt)
		return v;
	if (!is_null(a[1]))
		return ref(a[1]);
	rp_raise(vm, TY_StopIteration, "%s", "");
	if (is_kind(a[0], K_GENERATOR) && !is_missing(AS(generator, a[0])->result))
		dict_put_str(vm, vm->exc.as.o->attrs, vm->n[PN_value], AS(generator, a[0])->result);
	return val_null();
}

BUILTIN(enumerate_new)
{
	struct iter *it;
	int64_t start;
	struct val inner;

	(void)n;
	if (!arg_int(vm, a[2], 0, &start))
		return val_null();
	inner = rp_iter(vm, a[1]);
	if (is_null(inner))
		return inner;
	it = iter_new(vm, IT_ENUMERATE, TY_enumerate, val_null());
	iter_inner(vm, it, 1);
	it->inner[0] = inner;
	it->at = start;
	return val_obj(it);
}

static struct val over_many(struct vm *vm, enum iter_kind what, enum rp_type type, struct val fn,
                            struct list *sources)
{
	struct iter *it = iter_new(vm, what, type, fn);

	iter_inner(vm, it, sources->count);
	for (uint32_t i = 0; i < sources->count; i++) {
		it->inner[i] = rp_iter(vm, sources->at[i]);
		if (is_null(it->inner[i])) {
			unref_obj(vm, it);
			return val_null();
		}
	}
	return val_obj(it);
}

BUILTIN(zip_new)
{
	struct val it = over_many(vm, IT_ZIP, TY_zip, val_null(), AS(list, a[1]));

	(void)n;
	if (!is_null(it) && !is_null(a[2]))
		AS(iter, it)->strict = rp_truth(vm, a[2]) > 0;
	return it;
}

BUILTIN(map_new)
{
	(void)n;
	return over_many(vm, IT_MAP, TY_map, a[1], AS(list, a[2]));
}

BUILTIN(filter_new)
{
	struct list *one = tuple_new(vm, 1);
	struct val it;

	(void)n;
	one->at[0] = ref(a[2]);
	it = over_many(vm, IT_FILTER, TY_filter, a[1], one);
	unref_obj(vm, one);
	return it;
}

BUILTIN(builtin_reversed)
{
	struct val fn = special_find(vm, a[0], PN_reversed), v;
	struct iter *it;
	int64_t length;

	(void)n;
	if (!is_null(fn)) {
		v = rp_call0(vm, fn);
		unref(vm, fn);
		if (is_kind(v, K_LIST))
			slot_set(vm, &v, rp_iter(vm, v));
		return v;
	}
	if (!is_null(vm->exc))
		return val_null();
	if (is_kind(a[0], K_VIEW)) {
		struct list *list = list_from(vm, a[0]);

		it = iter_new(vm, IT_REVERSED, TY_iterator, val_obj(list));
		it->at = list->count;
		unref_obj(vm, list);
		return val_obj(it);
	}
	if (is_kind(a[0], K_UNKNOWN))
		return rp_iter(vm, a[0]);
	length = rp_length(vm, a[0]);
	if (length < 0)
		return val_null();
	it = iter_new(vm, IT_REVERSED, TY_iterator, a[0]);
	it->at = length;
	return val_obj(it);
}

bool list_sort(struct vm *vm, struct list *list, struct val key, bool reverse);

BUILTIN(builtin_sorted)
{
	struct list *list = list_from(vm, a[0]);

	(void)n;
	if (!list)
		return val_null();
	if (list_sort(vm, list, a[1], !is_null(a[2]) && rp_truth(vm, a[2]) > 0))
		return val_obj(list);
	unref_obj(vm, list);
	return val_null();
}

/* Sums of floats are compensated since Python 3.12; 3.11 adds them plainly. */
BUILTIN(builtin_sum)
{
	struct val total = is_null(a[1]) ? val_int(0) : ref(a[1]), it = rp_iter(vm, a[0]), item;

	(void)n;
	if (is_null(it)) {
		unref(vm, total);
		return val_null();
	}
	while (!is_null(total) && !is_null(item = rp_next(vm, it))) {
		struct val next = rp_binary(vm, SUB_binary_add, total, item);

		unref(vm, item);
		slot_set(vm, &total, next);
	}
	unref(vm, it);
	if (is_null(vm->exc) && !vm->halt)
		return total;
	unref(vm, total);
	return val_null();
}

static struct val any_all(struct vm *vm, struct val iterable, int stop_at)
{
	struct val it = rp_iter(vm, iterable), item;
	int found = 0;

	if (is_null(it))
		return it;
	while (!found && !is_null(item = rp_next(vm, it))) {
		int truth = rp_truth(vm, item);

		unref(vm, item);
		if (truth < 0)
			break;
		found = truth == stop_at;
		if (!vm_work(vm, 1))
			break;
	}
	unref(vm, it);
	return is_null(vm->exc) ? val_bool(found ? stop_at : !stop_at) : val_null();
}

BUILTIN(builtin_any)
{
	(void)n;
	return any_all(vm, a[0], 1);
}

BUILTIN(builtin_all)
{
	(void)n;
	return any_all(vm, a[0], 0);
}

/* What max() and min() give when there is nothing to choose from. */
static struct val no_extreme(struct vm *vm, struct val default_value, bool largest)
{
	if (!is_null(default_value))
		return ref(default_value);
	if (vm->forgiving)
		return unknown_new(vm, largest ? "max()" : "min()");
	return rp_raise(vm, TY_ValueError, "%s() arg is an empty sequence",
	                largest ? "max" : "min");
}

static struct val extreme(struct vm *vm, struct val *a, bool largest)
{
	struct list *args = AS(list, a[0]);
	struct val it, item, best = val_null(), best_key = val_null();

	it = rp_iter(vm, args->count == 1 ? args->at[0] : a[0]);
	if (is_null(it))
		return it;
	while (is_null(vm->exc) && !is_null(item = rp_next(vm, it))) {
		struct val key = is_missing(a[1]) ? ref(item) : rp_call1(vm, a[1], item);
		int better = is_null(key)    ? -1
		             : is_null(best) ? 1
		             : largest       ? rp_less(vm, best_key, key)
		                             : rp_less(vm, key, best_key);

		if (better > 0) {
			slot_set(vm, &best, ref(item));
			slot_set(vm, &best_key, ref(key));
		}
		unref(vm, key);
		unref(vm, item);
	}
	unref(vm, it);
	unref(vm, best_key);
	if (!is_null(vm->exc)) {
		unref(vm, best);
		return val_null();
	}
	return is_null(best) ? no_extreme(vm, a[2], largest) : best;
}

BUILTIN(builtin_max)
{
	(void)n;
	return extreme(vm, a, true);
}

BUILTIN(builtin_min)
{
	(void)n;
	return extreme(vm, a, false);
}

const struct native_def builtin_iter_functions[] = {
        {"iter", builtin_iter, "obj ? sentinel"},
        {"next", builtin_next, "it ? default"},
        {"reversed", builtin_reversed, "seq"},
        {"sorted", builtin_sorted, "iterable ? | key reverse"},
        {"sum", builtin_sum, "iterable ? start"},
        {"any", builtin_any, "iterable"},
        {"all", builtin_all, "iterable"},
        {"max", builtin_max, "*args key default"},
        {"min", builtin_min, "*args key default"},
        {0},
};

static const struct native_def enumerate_methods[] = {
        {"__new__", enumerate_new, "cls iterable ? start"}, {0}};
static const struct native_def zip_methods[] = {{"__new__", zip_new, "cls *iterables strict"}, {0}};
static const struct native_def map_methods[] = {{"__new__", map_new, "cls fn *iterables"}, {0}};
static const struct native_def filter_methods[] = {{"__new__", filter_new, "cls fn iterable"}, {0}};

void iter_builtins_init(struct vm *vm);
void iter_builtins_init(struct vm *vm)
{
	type_add(vm, vm->t[TY_enumerate], enumerate_methods);
	type_add(vm, vm->t[TY_zip], zip_methods);
	type_add(vm, vm->t[TY_map], map_methods);
	type_add(vm, vm->t[TY_filter], filter_methods);
}
