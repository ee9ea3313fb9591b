#include <string.h>

#include "analyzer/replay/py_code.h"

struct dict *attrs_of(struct vm *vm, struct obj *o)
{
	if (!o->attrs)
		o->attrs = dict_new(vm);
	return o->attrs;
}

/* Attributes that the machine knows of every object. */
static struct val builtin_attr(struct vm *vm, struct val o, struct str *name)
{
	if (name == vm->n[PN_class])
		return ref_obj(type_of(vm, o));
	if (name == vm->n[PN_dict] && o.tag == PY_OBJECT && o.as.o->kind != K_CLASS &&
	    o.as.o->kind != K_MODULE && (o.as.o->cls->flags & (CLS_HEAP | CLS_NN_MODULE)))
		return ref_obj(attrs_of(vm, o.as.o));
	if (name == vm->n[PN_doc])
		return val_none();
	if (name == vm->n[PN_module])
		return val_str(vm, "builtins");
	return val_null();
}

static struct val function_defaults(struct vm *vm, const struct function *f)
{
	struct list *values = list_new(vm, 2);
	struct val result;

	for (uint32_t i = 0; f->defaults && i < f->code->npositional; i++)
		if (!is_null(f->defaults[i]))
			list_push(vm, values, ref(f->defaults[i]));
	result = values->count ? tuple_of(vm, values->at, values->count) : val_none();
	unref_obj(vm, values);
	return result;
}

static struct val function_attr(struct vm *vm, struct val o, struct str *name)
{
	struct function *f = AS(function, o);

	if (name == vm->n[PN_name])
		return ref_obj(f->name);
	if (name == vm->n[PN_qualname])
		return ref_obj(f->qualified);
	if (name == vm->n[PN_module])
		return ref_obj(f->module->name);
	if (name == vm->n[PN_globals])
		return ref_obj(f->module->ns);
	if (name == vm->n[PN_defaults])
		return function_defaults(vm, f);
	if (name == vm->n[PN_dict])
		return ref_obj(attrs_of(vm, o.as.o));
	return val_null();
}

static struct val method_attr(struct vm *vm, struct val o, struct str *name)
{
	if (name == vm->n[PN_self])
		return ref(AS(method, o)->self);
	if (name == vm->n[PN_func])
		return ref(AS(method, o)->fn);
	return rp_attr_find(vm, AS(method, o)->fn, name);
}

static struct val class_special(struct vm *vm, struct cls *c, struct str *name)
{
	if (name == vm->n[PN_name])
		return ref_obj(c->name);
	if (name == vm->n[PN_qualname])
		return ref_obj(c->qualified);
	if (name == vm->n[PN_module])
		return c->module ? ref_obj(c->module) : val_str(vm, "builtins");
	if (name == vm->n[PN_bases])
		return ref_obj(c->bases);
	if (name == vm->n[PN_base])
		return c->bases->count ? ref(c->bases->at[0]) : val_none();
	if (name == vm->n[PN_dict])
		return ref_obj(type_namespace(vm, c));
	if (name == vm->n[PN_doc])
		return val_none();
	if (name == vm->n[PN_mro]) {
		struct list *mro = tuple_new(vm, c->mro_count);

		for (uint32_t i = 0; i < c->mro_count; i++)
			mro->at[i] = ref_obj(c->mro[i]);
		return val_obj(mro);
	}
	return val_null();
}

static struct val class_attr(struct vm *vm, struct val o, struct str *name)
{
	struct cls *c = AS(cls, o), *meta = type_of(vm, o);
	struct val found = cls_find(vm, meta, name);

	if (is_kind(found, K_DESCRIPTOR) && AS(descriptor, found)->what == DESC_PROPERTY)
		return bind(vm, found, o, meta);
	if (name != vm->n[PN_name] && name != vm->n[PN_module] && name != vm->n[PN_qualname]) {
		struct val own = cls_find(vm, c, name);

		if (is_null(own) && vm->complete_class && vm->complete_class(vm, c, name))
			own = cls_find(vm, c, name);
		if (!is_null(own))
			return bind(vm, own, val_null(), c);
	}
	if (!is_null(found))
		return bind(vm, found, o, meta);
	found = class_special(vm, c, name);
	if (!is_null(found) || !is_null(vm->exc))
		return found;
	if (c->flags & CLS_OPAQUE)
		return unknown_new(vm, "%s.%s", c->name->at, name->at);
	return val_null();
}

/* super().name: the class after `start` in the order of self's class. */
static struct val super_attr(struct vm *vm, struct val o, struct str *name)
{
	struct super *s = AS(super, o);
	struct cls *cls = is_kind(s->self, K_CLASS) && !is_null(s->self) ? AS(cls, s->self)
	                                                                 : type_of(vm, s->self);
	struct val found, self = s->self;

	if (is_kind(s->self, K_CLASS) && !cls_is(cls, s->start))
		cls = type_of(vm, s->self);
	found = cls_find_after(vm, cls, s->start, name);
	if (is_null(found) && vm->complete_class && vm->complete_class(vm, cls, name))
		found = cls_find_after(vm, cls, s->start, name);
	if (is_null(found)) {
		if (cls->flags & CLS_OPAQUE)
			return unknown_new(vm, "super().%s", name->at);
		return val_null();
	}
	if (name == vm->n[PN_new])
		return ref(found);
	if (is_kind(found, K_NATIVE) && !AS(native, found)->owner)
		return ref(found);
	return bind(vm, found, self, cls);
}

static bool is_data_descriptor(struct vm *vm, struct val v)
{
	if (is_kind(v, K_DESCRIPTOR))
		return AS(descriptor, v)->what == DESC_PROPERTY;
	return is_kind(v, K_INSTANCE) && (v.as.o->cls->flags & CLS_HEAP) &&
	       !is_null(cls_find(vm, v.as.o->cls, vm->n[PN_set]));
}

struct val object_attr(struct vm *vm, struct val o, struct str *name)
{
	struct cls *cls = type_of(vm, o);
	struct val found = cls_find(vm, cls, name), own;

	if (!is_null(found) && is_data_descriptor(vm, found))
		return bind(vm, found, o, cls);
	if (o.tag == PY_OBJECT && o.as.o->attrs) {
		own = dict_get_str(vm, o.as.o->attrs, name);
		if (!is_null(own))
			return ref(own);
	}
	if (!is_null(found))
		return bind(vm, found, o, cls);
	return builtin_attr(vm, o, name);
}

static struct val attr_by_kind(struct vm *vm, struct val o, struct str *name)
{
	struct val v = val_null();

	if (o.tag != PY_OBJECT)
		return object_attr(vm, o, name);
	switch ((enum rp_kind)o.as.o->kind) {
	case K_CLASS:
		return class_attr(vm, o, name);
	case K_MODULE:
		return module_attr(vm, AS(module, o), name);
	case K_SUPER:
		return super_attr(vm, o, name);
	case K_UNKNOWN:
		return unknown_attr(vm, AS(unknown, o), name);
	case K_FUNCTION:
		v = function_attr(vm, o, name);
		break;
	case K_METHOD:
		v = method_attr(vm, o, name);
		break;
	default:
		if (vm->kinds[o.as.o->kind].attr)
			v = vm->kinds[o.as.o->kind].attr(vm, o.as.o, name);
	}
	if (!is_null(v) || !is_null(vm->exc))
		return v;
	return object_attr(vm, o, name);
}

/* __getattr__ of the class, after everything else failed. */
static struct val attr_fallback(struct vm *vm, struct val o, struct str *name)
{
	struct cls *cls = type_of(vm, o);
	struct val hook, result, found;

	if (o.tag != PY_OBJECT)
		return val_null();
	found = cls_find(vm, cls, vm->n[PN_getattr]);
	if (is_null(found)) {
		if ((cls->flags & CLS_OPAQUE) && name->at[0] != '_' && o.as.o->kind != K_CLASS)
			return unknown_new(vm, "%s.%s", cls->name->at, name->at);
		return val_null();
	}
	if (binds_self(found)) {
		struct val argument = val_obj(name);

		return rp_call_bound(vm, found, o, &argument, 1, NULL);
	}
	hook = bind(vm, found, o, cls);
	if (is_null(hook))
		return hook;
	result = rp_call1(vm, hook, val_obj(name));
	unref(vm, hook);
	return result;
}

static struct val attr_overridden(struct vm *vm, struct val o, struct str *name)
{
	struct val hook = special_own(vm, o, PN_getattribute), result;

	if (is_null(hook))
		return val_null();
	result = rp_call1(vm, hook, val_obj(name));
	unref(vm, hook);
	return result;
}

static struct val attr_lookup(struct vm *vm, struct val o, struct str *name)
{
	struct val v = val_null();

	if (o.tag == PY_OBJECT && o.as.o->cls && (o.as.o->cls->flags & CLS_HEAP) &&
	    o.as.o->kind != K_CLASS && o.as.o->kind != K_SUPER)
		v = attr_overridden(vm, o, name);
	if (is_null(v) && is_null(vm->exc))
		v = attr_by_kind(vm, o, name);
	if (!is_null(v) || vm->halt)
		return v;
	if (!is_null(vm->exc) && !exc_is(vm, TY_AttributeError))
		return v;
	if (is_null(vm->exc))
		return attr_fallback(vm, o, name);
	/* A property that raised AttributeError falls back to __getattr__ too. */
	if (o.tag == PY_OBJECT && o.as.o->kind == K_INSTANCE &&
	    !is_null(cls_find(vm, o.as.o->cls, vm->n[PN_getattr]))) {
		struct val first = exc_take(vm);

		v = attr_fallback(vm, o, name);
		unref(vm, first);
	}
	return v;
}

struct val rp_attr_find(struct vm *vm, struct val o, struct str *name)
{
	struct val v = attr_lookup(vm, o, name);

	if (is_null(v) && exc_is(vm, TY_AttributeError) && !vm->halt)
		exc_clear(vm);
	return v;
}

bool is_of_library(const struct module *m)
{
	return m->library || m->native;
}

/* The library does not have all that is there, nor does code that runs by itself. */
static bool is_stood_in(struct vm *vm, struct val o, const struct str *name)
{
	struct cls *cls = type_of(vm, o);

	if (is_kind(o, K_UNKNOWN))
		return true;
	if (name->length > 4 && name->at[0] == '_' && name->at[1] == '_')
		return false;
	if (is_kind(o, K_MODULE))
		return is_of_library(AS(module, o));
	if (is_kind(o, K_CLASS))
		return AS(cls, o)->flags & CLS_OPAQUE;
	if (o.tag == PY_OBJECT && o.as.o->kind == K_INSTANCE && cls->flags & CLS_LIBRARY)
		return !(cls->flags & (CLS_NN_MODULE | CLS_EXCEPTION));
	return cls->flags & CLS_OPAQUE ||
	       (vm->forgiving && (is_none(o) || is_kind(o, K_TENSOR) || is_kind(o, K_FUNCTION)));
}

struct val rp_attr(struct vm *vm, struct val o, struct str *name)
{
	struct val v = attr_lookup(vm, o, name);

	if (!is_null(v) || !is_null(vm->exc) || vm->halt)
		return v;
	if (is_stood_in(vm, o, name)) {
		return unknown_named(vm, type_name(vm, o), name);
	}
	if (is_kind(o, K_MODULE))
		return rp_raise(vm, TY_AttributeError, "module '%s' has no attribute '%s'",
		                AS(module, o)->name->at, name->at);
	if (is_kind(o, K_CLASS))
		return rp_raise(vm, TY_AttributeError, "type object '%s' has no attribute '%s'",
		                AS(cls, o)->name->at, name->at);
	return rp_raise(vm, TY_AttributeError, "'%s' object has no attribute '%s'",
	                type_name(vm, o), name->at);
}

struct val rp_attr_chars(struct vm *vm, struct val o, const char *name)
{
	return rp_attr(vm, o, str_intern(vm, name, strlen(name)));
}

/* --- setting */

static bool set_by_descriptor(struct vm *vm, struct val found, struct val o, struct val value)
{
	struct val set, a[2], result;

	if (is_kind(found, K_DESCRIPTOR)) {
		if (is_missing(AS(descriptor, found)->set)) {
			rp_raise(vm, TY_AttributeError, "property of '%s' object has no setter",
			         type_name(vm, o));
			return false;
		}
		result = rp_call2(vm, AS(descriptor, found)->set, o, value);
	} else {
		set = special_find(vm, found, PN_set);
		a[0] = o;
		a[1] = value;
		result = rp_call(vm, set, a, 2, NULL);
		unref(vm, set);
	}
	unref(vm, result);
	return !is_null(result);
}

static bool may_have_attrs(struct vm *vm, struct val o)
{
	if (o.tag != PY_OBJECT)
		return false;
	if (o.as.o->kind == K_FUNCTION || o.as.o->kind == K_TENSOR || o.as.o->kind == K_NATIVE)
		return true;
	if (o.as.o->kind == K_METHOD || !o.as.o->cls)
		return false;
	return (o.as.o->cls->flags & (CLS_HEAP | CLS_EXCEPTION | CLS_NN_MODULE)) ||
	       o.as.o->cls == vm->t[TY_node];
}

bool object_set_attr(struct vm *vm, struct val o, struct str *name, struct val value)
{
	struct cls *cls = type_of(vm, o);
	struct val found = cls_find(vm, cls, name);

	if (!is_null(found) && is_data_descriptor(vm, found))
		return set_by_descriptor(vm, found, o, value);
	if (!may_have_attrs(vm, o)) {
		rp_raise(vm, TY_AttributeError, "'%s' object has no attribute '%s'",
		         type_name(vm, o), name->at);
		return false;
	}
	if (name == vm->n[PN_class] && is_kind(value, K_CLASS)) {
		struct cls *old = o.as.o->cls;

		AS(cls, value)->h.refs++;
		o.as.o->cls = AS(cls, value);
		if (old->flags & CLS_HEAP)
			unref_obj(vm, old);
		return true;
	}
	if (name == vm->n[PN_dict] && is_kind(value, K_DICT)) {
		struct dict *old = o.as.o->attrs;

		o.as.o->attrs = AS(dict, ref(value));
		unref_obj(vm, old);
		return true;
	}
	dict_put_str(vm, attrs_of(vm, o.as.o), name, value);
	return true;
}

static bool function_set_attr(struct vm *vm, struct val o, struct str *name, struct val value)
{
	struct function *f = AS(function, o);

	if (name == vm->n[PN_name] && is_kind(value, K_STR)) {
		unref_obj(vm, f->name);
		f->name = AS(str, ref(value));
		return true;
	}
	if (name == vm->n[PN_qualname] && is_kind(value, K_STR)) {
		unref_obj(vm, f->qualified);
		f->qualified = AS(str, ref(value));
		return true;
	}
	return object_set_attr(vm, o, name, value);
}

bool rp_set_attr(struct vm *vm, struct val o, struct str *name, struct val value)
{
	struct val hook, result;
	int done;

	if (is_kind(o, K_UNKNOWN))
		return unknown_set_attr(vm, AS(unknown, o), name, value);
	if (is_kind(o, K_MODULE)) {
		dict_put_str(vm, AS(module, o)->ns, name, value);
		return true;
	}
	if (is_kind(o, K_CLASS)) {
		dict_put_str(vm, AS(cls, o)->ns, name, value);
		vm->version++;
		return true;
	}
	if (is_kind(o, K_FUNCTION))
		return function_set_attr(vm, o, name, value);
	if (is_kind(o, K_SUPER))
		o = AS(super, o)->self;
	hook = cls_find(vm, type_of(vm, o), vm->n[PN_setattr]);
	if (!is_null(hook) &&
	    !(is_kind(hook, K_NATIVE) && AS(native, hook)->owner == vm->t[TY_object])) {
		hook = bind(vm, hook, o, type_of(vm, o));
		result = rp_call2(vm, hook, val_obj(name), value);
		unref(vm, hook);
		unref(vm, result);
		return !is_null(result);
	}
	if (o.tag == PY_OBJECT && vm->kinds[o.as.o->kind].set_attr) {
		done = vm->kinds[o.as.o->kind].set_attr(vm, o.as.o, name, value);
		if (done)
			return done > 0;
	}
	return object_set_attr(vm, o, name, value);
}

bool rp_set_attr_chars(struct vm *vm, struct val o, const char *name, struct val value)
{
	return rp_set_attr(vm, o, str_intern(vm, name, strlen(name)), value);
}

bool object_del_attr(struct vm *vm, struct val o, struct str *name)
{
	struct val found = cls_find(vm, type_of(vm, o), name);
	int done = 0;

	if (is_kind(found, K_DESCRIPTOR) && AS(descriptor, found)->what == DESC_PROPERTY &&
	    !is_missing(AS(descriptor, found)->del)) {
		struct val result = rp_call1(vm, AS(descriptor, found)->del, o);

		unref(vm, result);
		return !is_null(result);
	}
	if (o.tag == PY_OBJECT && o.as.o->attrs)
		done = dict_remove(vm, o.as.o->attrs, val_obj(name), NULL);
	if (!done)
		rp_raise(vm, TY_AttributeError, "'%s' object has no attribute '%s'",
		         type_name(vm, o), name->at);
	return done > 0;
}

bool rp_del_attr(struct vm *vm, struct val o, struct str *name)
{
	struct val hook, result;
	struct dict *ns = is_kind(o, K_MODULE)  ? AS(module, o)->ns
	                  : is_kind(o, K_CLASS) ? AS(cls, o)->ns
	                                        : NULL;

	if (is_kind(o, K_UNKNOWN)) {
		if (o.as.o->attrs)
			dict_remove(vm, o.as.o->attrs, val_obj(name), NULL);
		return true;
	}
	if (ns) {
		vm->version++;
		if (dict_remove(vm, ns, val_obj(name), NULL) > 0)
			return true;
		rp_raise(vm, TY_AttributeError, "no attribute '%s'", name->at);
		return false;
	}
	hook = cls_find(vm, type_of(vm, o), vm->n[PN_delattr]);
	if (is_null(hook))
		return object_del_attr(vm, o, name);
	hook = bind(vm, hook, o, type_of(vm, o));
	result = rp_call1(vm, hook, val_obj(name));
	unref(vm, hook);
	unref(vm, result);
	return !is_null(result);
}
