#include "analyzer/replay/py.h"

/* Attributes of built-in values that are read and never set, and what slices and
 * functions can do. */

#define PROPERTY(name) static struct val name(struct vm *vm, struct val *a, uint32_t n)

PROPERTY(number_itself)
{
	(void)vm, (void)n;
	return a[0].tag == PY_BOOL ? val_int(a[0].as.i) : ref(a[0]);
}

PROPERTY(int_imag)
{
	(void)vm, (void)a, (void)n;
	return val_int(0);
}

PROPERTY(int_denominator)
{
	(void)vm, (void)a, (void)n;
	return val_int(1);
}

PROPERTY(float_imag)
{
	(void)vm, (void)a, (void)n;
	return val_float(0);
}

PROPERTY(slice_start)
{
	(void)vm, (void)n;
	return ref(AS(slice, a[0])->start);
}

PROPERTY(slice_stop)
{
	(void)vm, (void)n;
	return ref(AS(slice, a[0])->stop);
}

PROPERTY(slice_step)
{
	(void)vm, (void)n;
	return ref(AS(slice, a[0])->step);
}

PROPERTY(range_start)
{
	(void)vm, (void)n;
	return val_int(AS(range, a[0])->start);
}

PROPERTY(range_stop)
{
	(void)vm, (void)n;
	return val_int(AS(range, a[0])->stop);
}

PROPERTY(range_step)
{
	(void)vm, (void)n;
	return val_int(AS(range, a[0])->step);
}

PROPERTY(slice_indices)
{
	int64_t length, start, stop, step, count;
	struct list *t;

	(void)n;
	if (!rp_index(vm, a[1], &length) ||
	    !slice_bounds(vm, AS(slice, a[0]), length, &start, &stop, &step, &count))
		return val_null();
	t = tuple_new(vm, 3);
	t->at[0] = val_int(start);
	t->at[1] = val_int(stop);
	t->at[2] = val_int(step);
	return val_obj(t);
}

/* function.__get__: how code binds a function to an object by hand */
PROPERTY(function_get)
{
	(void)n;
	return bind(vm, a[0], is_none(a[1]) ? val_null() : a[1], type_of(vm, a[1]));
}

static const struct native_def function_methods[] = {{"__get__", function_get, "self obj ? cls"},
                                                     {0}};
static const struct native_def slice_methods[] = {{"indices", slice_indices, "self length"}, {0}};

static const struct {
	enum rp_type type;
	struct native_def def;
} rows[] = {
        {TY_int, {"real", number_itself, "self"}},
        {TY_int, {"imag", int_imag, "self"}},
        {TY_int, {"numerator", number_itself, "self"}},
        {TY_int, {"denominator", int_denominator, "self"}},
        {TY_float, {"real", number_itself, "self"}},
        {TY_float, {"imag", float_imag, "self"}},
        {TY_slice, {"start", slice_start, "self"}},
        {TY_slice, {"stop", slice_stop, "self"}},
        {TY_slice, {"step", slice_step, "self"}},
        {TY_range, {"start", range_start, "self"}},
        {TY_range, {"stop", range_stop, "self"}},
        {TY_range, {"step", range_step, "self"}},
};

void properties_init(struct vm *vm)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		type_method(vm, vm->t[rows[i].type], rows[i].def.name, DESC_PROPERTY, &rows[i].def);
	type_add(vm, vm->t[TY_slice], slice_methods);
	type_add(vm, vm->t[TY_function], function_methods);
}
