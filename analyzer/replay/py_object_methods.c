#include <string.h>

#include "analyzer/replay/py.h"

/* object and type: what super() ends in, and making instances. */

static struct val object_new(struct vm *vm, struct val *a, uint32_t n)
{
	if (!n || !is_kind(a[0], K_CLASS))
		return rp_raise(vm, TY_TypeError, "object.__new__(X): X is not a type object");
	if (AS(cls, a[0])->layout != K_INSTANCE)
		return rp_raise(vm, TY_TypeError,
		                "object.__new__(%s) is not safe, use %s.__new__()",
		                AS(cls, a[0])->name->at, AS(cls, a[0])->name->at);
	return val_obj(rp_new(vm, K_INSTANCE, AS(cls, a[0]), sizeof(struct obj)));
}

static struct val object_init(struct vm *vm, struct val *a, uint32_t n)
{
	(void)vm, (void)a, (void)n;
	return val_none();
}

static struct val object_setattr(struct vm *vm, struct val *a, uint32_t n)
{
	(void)n;
	if (!arg_str(vm, a[1], "attribute name must be string"))
		return val_null();
	return object_set_attr(vm, a[0], str_intern(vm, chars_of(a[1]), AS(str, a[1])->length),
	                       a[2])
	               ? val_none()
	               : val_null();
}

static struct val object_getattribute(struct vm *vm, struct val *a, uint32_t n)
{
	struct val v;

	(void)n;
	if (!arg_str(vm, a[1], "attribute name must be string"))
		return val_null();
	v = object_attr(vm, a[0], str_intern(vm, chars_of(a[1]), AS(str, a[1])->length));
	if (is_null(v) && is_null(vm->exc))
		rp_raise(vm, TY_AttributeError, "'%s' object has no attribute '%s'",
		         type_name(vm, a[0]), chars_of(a[1]));
	return v;
}

static struct val object_delattr(struct vm *vm, struct val *a, uint32_t n)
{
	(void)n;
	if (!arg_str(vm, a[1], "attribute name must be string"))
		return val_null();
	return object_del_attr(vm, a[0], str_intern(vm, chars_of(a[1]), AS(str, a[1])->length))
	               ? val_none()
	               : val_null();
}

/* The default text, not the one that a subclass defines. */
static struct val object_repr(struct vm *vm, struct val *a, uint32_t n)
{
	(void)n;
	if (a[0].tag != PY_OBJECT || a[0].as.o->kind != K_INSTANCE)
		return rp_repr(vm, a[0]);
	return str_print(vm, "<%s.%s object at 0x%012llx>",
	                 a[0].as.o->cls->module ? a[0].as.o->cls->module->at : "builtins",
	                 type_name(vm, a[0]),
	                 (unsigned long long)(uintptr_t)a[0].as.o & 0xffffffffffffull);
}

static struct val object_str(struct vm *vm, struct val *a, uint32_t n)
{
	(void)n;
	return rp_repr(vm, a[0]);
}

static struct val object_eq(struct vm *vm, struct val *a, uint32_t n)
{
	(void)vm, (void)n;
	return val_same(a[0], a[1]) ? val_bool(true) : (struct val){.tag = PY_NOT_IMPLEMENTED};
}

static struct val object_hash(struct vm *vm, struct val *a, uint32_t n)
{
	(void)vm, (void)n;
	return val_int(a[0].tag == PY_OBJECT ? (int64_t)((uintptr_t)a[0].as.o >> 4) : a[0].as.i);
}

static struct val object_init_subclass(struct vm *vm, struct val *a, uint32_t n)
{
	(void)vm, (void)a, (void)n;
	return val_none();
}

static struct val object_format(struct vm *vm, struct val *a, uint32_t n)
{
	(void)n;
	return rp_str(vm, a[0]);
}

static bool name_add(struct vm *vm, struct dict *names, struct dict *from)
{
	uint32_t at = 0;
	struct dict_entry *e;

	while (from && (e = dict_next(from, &at)))
		if (!dict_put(vm, names, e->key, val_none()))
			return false;
	return true;
}

static struct val object_dir(struct vm *vm, struct val *a, uint32_t n)
{
	struct dict *names = dict_new(vm);
	struct cls *cls = is_kind(a[0], K_CLASS) ? AS(cls, a[0]) : type_of(vm, a[0]);
	struct list *list;

	(void)n;
	if (is_kind(a[0], K_MODULE))
		name_add(vm, names, module_namespace(vm, AS(module, a[0])));
	else if (a[0].tag == PY_OBJECT)
		name_add(vm, names, a[0].as.o->attrs);
	for (uint32_t i = 0; i < cls->mro_count; i++)
		name_add(vm, names, type_namespace(vm, cls->mro[i]));
	list = list_from(vm, val_obj(names));
	unref_obj(vm, names);
	return list ? val_obj(list) : val_null();
}

const struct native_def object_methods[] = {
        {"__new__", object_new, "cls ? *args **kw"},
        {"__init__", object_init, "self ? *args **kw"},
        {"__setattr__", object_setattr, "self name value"},
        {"__getattribute__", object_getattribute, "self name"},
        {"__delattr__", object_delattr, "self name"},
        {"__repr__", object_repr, "self"},
        {"__str__", object_str, "self"},
        {"__eq__", object_eq, "self other"},
        {"__hash__", object_hash, "self"},
        {"__format__", object_format, "self spec"},
        {"__init_subclass__", object_init_subclass, "? *args **kw"},
        {"__dir__", object_dir, "self"},
        {0},
};

/* --- type */

struct val type_make(struct vm *vm, struct val meta, struct val name, struct val bases,
                     struct val ns, struct dict *kw);

static struct val type_new(struct vm *vm, struct val *a, uint32_t n)
{
	if (is_missing(a[2]) && n > 1)
		return ref_obj(type_of(vm, a[1]));
	if (!is_kind(a[1], K_STR) || !is_kind(a[2], K_TUPLE) || !is_kind(a[3], K_DICT))
		return rp_raise(vm, TY_TypeError, "type() takes 1 or 3 arguments");
	return type_make(vm, a[0], a[1], a[2], a[3], is_kind(a[4], K_DICT) ? AS(dict, a[4]) : NULL);
}

static struct val type_init(struct vm *vm, struct val *a, uint32_t n)
{
	(void)vm, (void)a, (void)n;
	return val_none();
}

static struct val type_call(struct vm *vm, struct val *a, uint32_t n)
{
	struct list *args = AS(list, a[1]);

	(void)n;
	return instantiate(vm, AS(cls, a[0]), args->at, args->count,
	                   is_kind(a[2], K_DICT) ? AS(dict, a[2]) : NULL);
}

static struct val type_mro(struct vm *vm, struct val *a, uint32_t n)
{
	struct val tuple = rp_attr(vm, a[0], vm->n[PN_mro]);
	struct list *list = is_null(tuple) ? NULL : list_from(vm, tuple);

	(void)n;
	unref(vm, tuple);
	return list ? val_obj(list) : val_null();
}

static struct val type_subclasses(struct vm *vm, struct val *a, uint32_t n)
{
	struct list *list = list_new(vm, 0);

	(void)n;
	for (struct obj *o = vm->first.next; o != &vm->first; o = o->next) {
		struct cls *c = (struct cls *)(void *)o;

		if (o->kind == K_CLASS && c->mro_count > 1 && c->bases->count &&
		    c->bases->at[0].as.o == a[0].as.o)
			list_push(vm, list, ref_obj(o));
	}
	return val_obj(list);
}

const struct native_def type_methods[] = {
        {"__new__", type_new, "cls name ? bases ns **kw"},
        {"__init__", type_init, "cls ? *args **kw"},
        {"__call__", type_call, "cls *args **kw"},
        {"mro", type_mro, "cls"},
        {"__subclasses__", type_subclasses, "cls"},
        {0},
};

/* --- generators and iterators */

static struct val generator_done(struct vm *vm, struct generator *g)
{
	struct val args;

	if (!is_null(vm->exc) || vm->halt)
		return val_null();
	rp_raise(vm, TY_StopIteration, "%s", "");
	if (!is_missing(g->result)) {
		args = tuple_of(vm, &g->result, 1);
		dict_put_str(vm, vm->exc.as.o->attrs, vm->n[PN_args], args);
		unref(vm, args);
	}
	dict_put_str(vm, vm->exc.as.o->attrs, vm->n[PN_value],
	             is_null(g->result) ? val_none() : g->result);
	return val_null();
}

static struct val generator_send_method(struct vm *vm, struct val *a, uint32_t n)
{
	struct generator *g = AS(generator, a[0]);
	struct val v;

	(void)n;
	if (!g->started && !is_missing(a[1]) && g->frame)
		return rp_raise(vm, TY_TypeError,
		                "can't send non-None value to a just-started generator");
	v = generator_send(vm, g, is_null(a[1]) ? val_none() : ref(a[1]));
	return is_null(v) ? generator_done(vm, g) : v;
}

static struct val generator_throw_method(struct vm *vm, struct val *a, uint32_t n)
{
	struct val exc = exc_normalize(vm, is_missing(a[2]) ? a[1] : a[2]), v;

	(void)n;
	if (is_null(exc))
		return exc;
	v = generator_throw(vm, AS(generator, a[0]), exc);
	return is_null(v) ? generator_done(vm, AS(generator, a[0])) : v;
}

static struct val generator_close_method(struct vm *vm, struct val *a, uint32_t n)
{
	(void)n;
	generator_close(vm, AS(generator, a[0]));
	return is_null(vm->exc) ? val_none() : val_null();
}

static struct val return_self(struct vm *vm, struct val *a, uint32_t n)
{
	(void)vm, (void)n;
	return ref(a[0]);
}

static struct val iterator_next(struct vm *vm, struct val *a, uint32_t n)
{
	struct val v = rp_next(vm, a[0]);

	(void)n;
	if (is_null(v) && is_null(vm->exc) && !vm->halt)
		return rp_raise(vm, TY_StopIteration, "%s", "");
	return v;
}

const struct native_def generator_methods[] = {
        {"send", generator_send_method, "self value"},
        {"__next__", generator_send_method, "self ? value"},
        {"throw", generator_throw_method, "self type ? value tb"},
        {"close", generator_close_method, "self"},
        {"__iter__", return_self, "self"},
        {"__await__", return_self, "self"},
        {0},
};

const struct native_def iterator_methods[] = {
        {"__next__", iterator_next, "self"},
        {"__iter__", return_self, "self"},
        {0},
};
