#include "analyzer/replay/torch.h"

#include <stdio.h>
#include <string.h>

#include "analyzer/replay/library.h"

/* The hot part of torch.nn.Module: attributes and calls. The rest of it is
 * Python (lib/torch.nn.modules.module.py). */

#define METHOD(name) static struct val name(struct vm *vm, struct val *a, uint32_t n)

static struct dict *part(struct vm *vm, struct val self, enum rp_name name)
{
	struct val d =
	        self.as.o->attrs ? dict_get_str(vm, self.as.o->attrs, vm->n[name]) : val_null();

	return is_kind(d, K_DICT) ? AS(dict, d) : NULL;
}

static void put_dict(struct vm *vm, struct dict *attrs, struct str *name)
{
	struct dict *d = dict_new(vm);

	dict_put_str(vm, attrs, name, val_obj(d));
	unref_obj(vm, d);
}

static const enum rp_name hook_tables[] = {PN_backward_pre_hooks, PN_backward_hooks,
                                           PN_forward_hooks, PN_forward_pre_hooks};

METHOD(module_init)
{
	struct dict *attrs = attrs_of(vm, a[0].as.o), *set;

	(void)n;
	dict_put_str(vm, attrs, vm->n[PN_training], val_bool(true));
	put_dict(vm, attrs, vm->n[PN_parameters_]);
	put_dict(vm, attrs, vm->n[PN_buffers_]);
	set = set_new(vm, false);
	dict_put_str(vm, attrs, vm->n[PN_non_persistent], val_obj(set));
	unref_obj(vm, set);
	for (size_t i = 0; i < sizeof(hook_tables) / sizeof(hook_tables[0]); i++)
		put_dict(vm, attrs, vm->n[hook_tables[i]]);
	put_dict(vm, attrs, vm->n[PN_modules_]);
	return val_none();
}

static void forget(struct vm *vm, struct dict *d, struct str *name)
{
	if (d)
		dict_remove(vm, d, val_obj(name), NULL);
}

static bool module_put(struct vm *vm, struct val self, struct str *name, struct val value,
                       enum rp_name where)
{
	struct dict *into = part(vm, self, where);

	if (!into) {
		rp_raise(vm, TY_AttributeError, "cannot assign %s before Module.__init__() call",
		         where == PN_parameters_ ? "parameters" : "module");
		return false;
	}
	forget(vm, self.as.o->attrs, name);
	if (where != PN_parameters_)
		forget(vm, part(vm, self, PN_parameters_), name);
	if (where != PN_buffers_)
		forget(vm, part(vm, self, PN_buffers_), name);
	if (where != PN_modules_)
		forget(vm, part(vm, self, PN_modules_), name);
	dict_put_str(vm, into, name, value);
	return true;
}

static bool has_name(struct vm *vm, struct dict *d, struct str *name)
{
	return d && !is_null(dict_get_str(vm, d, name));
}

static bool module_assign(struct vm *vm, struct val self, struct str *name, struct val value)
{
	bool is_module = value.tag == PY_OBJECT && value.as.o->kind == K_INSTANCE &&
	                 (value.as.o->cls->flags & CLS_NN_MODULE);

	if (is_kind(value, K_TENSOR) && ag_is_parameter(tensor_of(value)))
		return module_put(vm, self, name, value, PN_parameters_);
	if (is_module)
		return module_put(vm, self, name, value, PN_modules_);
	if (has_name(vm, part(vm, self, PN_parameters_), name)) {
		if (is_none(value)) {
			dict_put_str(vm, part(vm, self, PN_parameters_), name, value);
			return true;
		}
		if (is_kind(value, K_UNKNOWN))
			return true;
		rp_raise(vm, TY_TypeError,
		         "cannot assign '%s' as parameter '%s' (torch.nn.Parameter or "
		         "None expected)",
		         is_kind(value, K_TENSOR) ? "torch.FloatTensor" : type_name(vm, value),
		         name->at);
		return false;
	}
	if (has_name(vm, part(vm, self, PN_modules_), name) && is_none(value)) {
		dict_put_str(vm, part(vm, self, PN_modules_), name, value);
		return true;
	}
	if (has_name(vm, part(vm, self, PN_buffers_), name) &&
	    (is_none(value) || is_kind(value, K_TENSOR))) {
		dict_put_str(vm, part(vm, self, PN_buffers_), name, value);
		return true;
	}
	return object_set_attr(vm, self, name, value);
}

METHOD(module_setattr)
{
	(void)n;
	if (!arg_str(vm, a[1], "attribute name must be string"))
		return val_null();
	return module_assign(vm, a[0], str_intern(vm, chars_of(a[1]), AS(str, a[1])->length), a[2])
	               ? val_none()
	               : val_null();
}

/* The part of Module that few programs need is merged in when a name of it is
 * asked for: lowering it would cost more than most replays. */
bool torch_complete_class(struct vm *vm, struct cls *cls, struct str *name)
{
	struct val m, module, more;
	const struct library_definition *written;
	uint32_t at = 0;
	struct dict_entry *e;

	if (!(cls->flags & CLS_NN_MODULE) || torch_of(vm)->module)
		return false;
	m = dict_get_str(vm, vm->modules, str_intern(vm, "torch.nn.modules.module", 23));
	if (!is_kind(m, K_MODULE))
		return false;
	written = library_definition_find(AS(module, m)->library, str_intern(vm, "_More", 5));
	if (!library_definition_has(written, name->at) && !str_is(name, "register_backward_hook") &&
	    !str_is(name, "get_buffer"))
		return false;
	module = dict_get_str(vm, AS(module, m)->ns, str_intern(vm, "Module", 6));
	more = rp_attr_chars(vm, m, "_More");
	if (!is_kind(module, K_CLASS) || !is_kind(more, K_CLASS)) {
		unref(vm, more);
		return false;
	}
	torch_of(vm)->module = AS(cls, module);
	while ((e = dict_next(AS(cls, more)->ns, &at)))
		if (is_null(dict_get(vm, AS(cls, module)->ns, e->key)))
			dict_put(vm, AS(cls, module)->ns, e->key, e->value);
	vm->version++;
	unref(vm, more);
	return true;
}

METHOD(module_getattr)
{
	static const enum rp_name where[] = {PN_parameters_, PN_buffers_, PN_modules_};

	(void)n;
	for (int i = 0; i < 3; i++) {
		struct dict *d = part(vm, a[0], where[i]);
		struct val v = d && is_kind(a[1], K_STR) ? dict_get(vm, d, a[1]) : val_null();

		if (!is_null(v))
			return ref(v);
	}
	if (torch_complete_class(vm, a[0].as.o->cls,
	                         str_intern(vm, chars_of(a[1]), AS(str, a[1])->length)))
		return rp_attr(vm, a[0], str_intern(vm, chars_of(a[1]), AS(str, a[1])->length));
	if ((a[0].as.o->cls->flags & CLS_OPAQUE) && strncmp(chars_of(a[1]), "__", 2) != 0)
		return unknown_named(vm, type_name(vm, a[0]),
		                     str_intern(vm, chars_of(a[1]), AS(str, a[1])->length));
	return rp_raise(vm, TY_AttributeError, "'%s' object has no attribute '%s'",
	                type_name(vm, a[0]), chars_of(a[1]));
}

METHOD(module_delattr)
{
	static const enum rp_name where[] = {PN_parameters_, PN_buffers_, PN_modules_};

	(void)n;
	for (int i = 0; i < 3; i++) {
		struct dict *d = part(vm, a[0], where[i]);

		if (d && dict_remove(vm, d, a[1], NULL) > 0)
			return val_none();
	}
	return object_del_attr(vm, a[0], str_intern(vm, chars_of(a[1]), AS(str, a[1])->length))
	               ? val_none()
	               : val_null();
}

static bool has_hooks(struct vm *vm, struct val self)
{
	for (size_t i = 0; i < sizeof(hook_tables) / sizeof(hook_tables[0]); i++) {
		const struct dict *d = part(vm, self, hook_tables[i]);

		if (d && d->count)
			return true;
	}
	return false;
}

/* The class's own function, where nothing else comes before it; PY_NULL: look it up. */
static struct val plain_forward(struct vm *vm, struct val self)
{
	struct val found = cls_find(vm, self.as.o->cls, vm->n[PN_forward]);

	return is_kind(found, K_FUNCTION) && self.as.o->attrs &&
	                       is_null(dict_get_str(vm, self.as.o->attrs, vm->n[PN_forward])) &&
	                       is_kind(cls_find(vm, self.as.o->cls, vm->n[PN_getattribute]),
	                               K_NATIVE)
	               ? found
	               : val_null();
}

METHOD(module_call)
{
	struct list *args = AS(list, a[1]);
	struct dict *kw = is_kind(a[2], K_DICT) ? AS(dict, a[2]) : NULL;
	const bool hooked = has_hooks(vm, a[0]);
	struct val fn = hooked ? val_null() : plain_forward(vm, a[0]);
	struct val result;

	(void)n;
	if (!is_null(fn))
		return rp_call_bound(vm, fn, a[0], args->at, args->count, kw);
	fn = rp_attr(vm, a[0], hooked ? str_intern(vm, "_call_with_hooks", 16) : vm->n[PN_forward]);
	if (is_null(fn)) {
		if (exc_is(vm, TY_AttributeError) && (a[0].as.o->cls->flags & CLS_OPAQUE)) {
			exc_clear(vm);
			return torch_opaque(vm, args->at, args->count, type_name(vm, a[0]));
		}
		return fn;
	}
	result = rp_call(vm, fn, args->at, args->count, kw);
	unref(vm, fn);
	return result;
}

const struct native_def module_methods[] = {
        {"__init__", module_init, "self *args **kw"},
        {"__setattr__", module_setattr, "self name value"},
        {"__getattr__", module_getattr, "self name"},
        {"__delattr__", module_delattr, "self name"},
        {"__call__", module_call, "self *args **kw"},
        {0},
};
