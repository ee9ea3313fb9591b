/* What the library does to all parameters of a model in every step: in Python it
 * would be most of what a replay costs. */

#include "analyzer/replay/torch.h"

#include <string.h>

#define NATIVE(name) static struct val name(struct vm *vm, struct val *a, uint32_t n)

/* A table of a module: a new reference, PY_NULL without an exception: none. */
static struct val table_of(struct vm *vm, struct val module, enum rp_name name)
{
	struct val table =
	        module.as.o->attrs ? dict_get_str(vm, module.as.o->attrs, vm->n[name]) : val_null();

	if (is_kind(table, K_DICT))
		return ref(table);
	table = rp_attr(vm, module, vm->n[name]);
	if (is_kind(table, K_DICT) || is_null(table))
		return table;
	unref(vm, table);
	return val_null();
}

/* A list of objects, each once: marked as long as the list is made. */
static void list_once(struct vm *vm, struct list *list, struct val v)
{
	if (v.tag == PY_OBJECT && v.as.o->flags & OBJ_LISTED)
		return;
	if (v.tag == PY_OBJECT)
		v.as.o->flags |= OBJ_LISTED;
	list_push(vm, list, ref(v));
}

static void list_made(const struct list *list)
{
	for (uint32_t i = 0; i < list->count; i++)
		if (list->at[i].tag == PY_OBJECT)
			list->at[i].as.o->flags &= (uint8_t)~OBJ_LISTED;
}

static bool push_modules(struct vm *vm, struct val module, struct list *todo)
{
	struct val table = table_of(vm, module, PN_modules_);

	for (uint32_t i = is_null(table) ? 0 : AS(dict, table)->used; i > 0; i--) {
		const struct dict_entry *e = &AS(dict, table)->at[i - 1];

		if (!is_null(e->key) && e->value.tag == PY_OBJECT && !is_kind(e->value, K_UNKNOWN))
			list_push(vm, todo, ref(e->value));
	}
	unref(vm, table);
	return is_null(vm->exc);
}

static bool add_parameters(struct vm *vm, struct val module, struct list *out)
{
	struct val table = table_of(vm, module, PN_parameters_);
	uint32_t at = 0;
	struct dict_entry *e;

	while (!is_null(table) && (e = dict_next(AS(dict, table), &at)))
		if (!is_none(e->value))
			list_once(vm, out, e->value);
	unref(vm, table);
	return is_null(vm->exc) && vm_work(vm, at + 1);
}

/* In the order of named_modules. */
NATIVE(module_parameters)
{
	struct list *todo = list_new(vm, 8), *modules = list_new(vm, 8), *out = list_new(vm, 16);
	int recurse = rp_truth(vm, a[1]);
	bool ok = recurse >= 0;

	(void)n;
	list_push(vm, todo, ref(a[0]));
	while (ok && todo->count) {
		struct val module = todo->at[--todo->count];
		const uint32_t before = modules->count;

		list_once(vm, modules, module);
		if (modules->count > before)
			ok = add_parameters(vm, module, out) &&
			     (!recurse || push_modules(vm, module, todo));
		ok = ok && is_null(vm->exc);
		unref(vm, module);
	}
	list_made(modules);
	list_made(out);
	unref_obj(vm, todo);
	unref_obj(vm, modules);
	if (ok)
		return val_obj(out);
	unref_obj(vm, out);
	return val_null();
}

static struct val gradient_of(struct vm *vm, struct val parameter)
{
	if (is_kind(parameter, K_TENSOR) &&
	    (parameter.as.o->cls == vm->t[TY_parameter] || parameter.as.o->cls == vm->t[TY_tensor]))
		return torch_wrap_ref(vm, ag_grad_of(tensor_of(parameter)));
	return rp_attr(vm, parameter, vm->n[PN_grad]);
}

/* Those of the gradients that are there. */
NATIVE(gradients)
{
	struct list *parameters = list_from(vm, a[0]), *out;

	(void)n;
	if (!parameters)
		return val_null();
	out = list_new(vm, parameters->count);
	for (uint32_t i = 0; i < parameters->count; i++) {
		struct val grad = vm_work(vm, 1) ? gradient_of(vm, parameters->at[i]) : val_null();

		if (is_null(grad))
			break;
		if (!is_none(grad))
			list_push(vm, out, grad);
	}
	unref_obj(vm, parameters);
	if (is_null(vm->exc) && !vm->halt)
		return val_obj(out);
	unref_obj(vm, out);
	return val_null();
}

NATIVE(drop_gradients)
{
	struct list *parameters = list_from(vm, a[0]);
	struct str *name = vm->n[PN_grad];
	bool ok = parameters;

	(void)n;
	for (uint32_t i = 0; ok && i < parameters->count; i++) {
		struct val grad = gradient_of(vm, parameters->at[i]);

		ok = !is_null(grad) && vm_work(vm, 1) &&
		     (is_none(grad) || rp_set_attr(vm, parameters->at[i], name, val_none()));
		unref(vm, grad);
	}
	unref_obj(vm, parameters);
	return ok ? val_none() : val_null();
}

/* A stand-in has methods of its own. */
static struct val call_one(struct vm *vm, const char *op, struct val v, struct val argument)
{
	struct val both[2] = {v, argument};

	if (!is_kind(v, K_TENSOR) && strncmp(op, "Tensor.", 7) == 0)
		return rp_call_method(vm, v, op + 7, &argument, 1);
	return torch_call(vm, op, both, 2, NULL);
}

/* each(op, tensors, argument): a list of op(tensor, argument). */
NATIVE(each)
{
	struct list *tensors = AS(list, a[1]), *out = list_new(vm, tensors->count);

	(void)n;
	for (uint32_t i = 0; i < tensors->count; i++) {
		struct val result = vm_work(vm, 1)
		                            ? call_one(vm, chars_of(a[0]), tensors->at[i], a[2])
		                            : val_null();

		if (is_null(result)) {
			unref_obj(vm, out);
			return result;
		}
		list_push(vm, out, result);
	}
	return val_obj(out);
}

const struct native_def many_functions[] = {
        {"module_parameters", module_parameters, "module recurse"},
        {"gradients", gradients, "parameters"},
        {"drop_gradients", drop_gradients, "parameters"},
        {"each", each, "op tensors argument"},
        {0},
};
