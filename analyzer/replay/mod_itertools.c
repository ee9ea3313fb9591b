#include "analyzer/replay/modules.h"

#define NATIVE(name) static struct val name(struct vm *vm, struct val *a, uint32_t n)

NATIVE(itertools_count)
{
	struct iter *it = iter_new(vm, IT_COUNT, TY_iterator, is_null(a[0]) ? val_int(0) : a[0]);

	(void)n;
	iter_inner(vm, it, 1);
	it->inner[0] = is_null(a[1]) ? val_int(1) : ref(a[1]);
	return val_obj(it);
}

NATIVE(itertools_repeat)
{
	struct iter *it;
	int64_t times;

	(void)n;
	if (!arg_int(vm, a[1], -1, &times))
		return val_null();
	it = iter_new(vm, IT_REPEAT, TY_iterator, a[0]);
	it->stop = is_null(a[1]) ? -1 : times < 0 ? 0 : times;
	return val_obj(it);
}

static struct val chain_over(struct vm *vm, struct val sources)
{
	struct val inner = rp_iter(vm, sources);
	struct iter *it;

	if (is_null(inner))
		return inner;
	it = iter_new(vm, IT_CHAIN, TY_iterator, inner);
	unref(vm, inner);
	iter_inner(vm, it, 1);
	return val_obj(it);
}

NATIVE(itertools_chain)
{
	(void)n;
	return chain_over(vm, a[0]);
}

NATIVE(itertools_from_iterable)
{
	(void)n;
	return chain_over(vm, a[0]);
}

NATIVE(itertools_islice)
{
	struct val inner;
	struct iter *it;
	int64_t start = 0, stop = -1, step = 1;

	(void)n;
	if (is_null(a[2])) {
		if (!arg_int(vm, a[1], -1, &stop))
			return val_null();
	} else if (!arg_int(vm, a[1], 0, &start) || !arg_int(vm, a[2], -1, &stop) ||
	           !arg_int(vm, a[3], 1, &step)) {
		return val_null();
	}
	inner = rp_iter(vm, a[0]);
	if (is_null(inner))
		return inner;
	it = iter_new(vm, IT_ISLICE, TY_iterator, inner);
	unref(vm, inner);
	it->version = (uint32_t)start;
	it->stop = stop;
	it->step = step > 0 ? step : 1;
	return val_obj(it);
}

static const struct native_def from_iterable_def = {"from_iterable", itertools_from_iterable,
                                                    "iterables"};

static const struct native_def itertools_functions[] = {
        {"count", itertools_count, "? start step"},
        {"repeat", itertools_repeat, "object ? times"},
        {"chain", itertools_chain, "*iterables"},
        {"islice", itertools_islice, "iterable stop ? end step"},
        {0},
};

static void itertools_init(struct vm *vm, struct module *m)
{
	struct val chain = module_own(vm, m, str_intern(vm, "chain", 5));
	struct val from = native_new(vm, &from_iterable_def, val_null());

	dict_put_str(vm, attrs_of(vm, chain.as.o), str_intern(vm, "from_iterable", 13), from);
	unref(vm, from);
}

const struct native_module itertools_module = {"itertools", itertools_functions, itertools_init,
                                               NULL};

/* --- collections */

static void collections_init(struct vm *vm, struct module *m)
{
	module_set(vm, m, "deque", ref_obj(vm->t[TY_deque]));
}

const struct native_module collections_module = {"collections", NULL, collections_init, NULL};

void modules_offer(struct vm *vm)
{
	static const struct native_module *const all[] = {
	        &math_module,        &random_module,  &regex_module,   &time_module,
	        &gc_module,          &sys_module,     &weakref_module, &itertools_module,
	        &collections_module, &support_module,
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		vm_offer(vm, all[i]);
}
