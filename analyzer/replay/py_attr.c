#include <string.h>

#include "analyzer/replay/library.h"
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
	    o.as.o->kind != K_MODULE && (o.as.o->cls->flags & (CLS_HEAP | CLS_NN_MODULE)) &&
	    !(o.as.o->cls->flags & CLS_SLOTS))
		return ref_obj(attrs_of(vm, o.as.o));
	if (name == vm->n[PN_doc] && is_kind(o, K_DESCRIPTOR))
		return is_missing(AS(descriptor, o)->doc)
		               ? rp_attr(vm, AS(descriptor, o)->get, name)
		               : ref(AS(descriptor, o)->doc);
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

/* What is made when it is asked for, unless something else was put there. */
static struct val function_late(struct vm *vm, struct val o, struct str *name)
{
	struct function *f = AS(function, o);
	const struct ir_func *func = f->code->func;
	struct val v = o.as.o->attrs ? dict_get_str(vm, o.as.o->attrs, name) : val_null();

	if (!is_null(v))
		return ref(v);
	if (name == vm->n[PN_doc])
		return func->doc.n ? ref_obj(name_of_sym(vm, f->code->module, func->doc))
		                   : val_none();
	v = function_annotations(vm, f);
	dict_put_str(vm, attrs_of(vm, o.as.o), name, v);
	return v;
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
	if (name == vm->n[PN_doc] || name == vm->n[PN_annotations])
		return function_late(vm, o, name);
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

/* Annotations are kept as texts. */
static struct val class_annotations(struct vm *vm, struct cls *c)
{
	const struct val own = dict_get_str(vm, c->ns, vm->n[PN_annotations]);

	if (is_null(own))
		return val_obj(dict_new(vm));
	return annotations_evaluated(vm, own, c->module ? val_obj(c->module) : val_null(), false);
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
		if (name == vm->n[PN_annotations] && !is_null(own))
			return class_annotations(vm, c);
		if (!is_null(own))
			return bind(vm, own, val_null(), c);
	}
	if (!is_null(found))
		return bind(vm, found, o, meta);
	found = class_special(vm, c, name);
	if (!is_null(found) || !is_null(vm->exc))
		return found;
	if (type_late(vm, c, name))
		return bind(vm, cls_find(vm, c, name), val_null(), c);
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
	if (is_null(found) && !(cls->flags & CLS_OPAQUE) && type_late(vm, cls, name))
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

	found = o.tag == PY_OBJECT ? cls_find(vm, cls, vm->n[PN_getattr]) : val_null();
	if (is_null(found)) {
		if (type_late(vm, cls, name))
			return object_attr(vm, o, name);
		if (o.tag != PY_OBJECT)
			return val_null();
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

static bool set_by_descriptor(struct vm *vm, struct val found, struct val o, struct str *name,
                              struct val value)
{
	struct val set, a[2], result;

	if (is_kind(found, K_DESCRIPTOR)) {
		if (is_missing(AS(descriptor, found)->set)) {
			rp_raise(vm, TY_AttributeError,
			         "property '%s' of '%s' object has no setter", name->at,
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

static bool slot_fits(const struct str *slot, const struct str *name)
{
	/* Private names have the class before them. */
	return slot == name || str_is(slot, name->at) || str_is(slot, "__dict__") ||
	       (slot->at[0] == '_' && slot->at[1] == '_' && name->length > slot->length &&
	        strcmp(name->at + name->length - slot->length, slot->at) == 0);
}

static bool is_slot(struct vm *vm, const struct cls *cls, const struct str *name)
{
	for (uint32_t i = 0; i < cls->mro_count; i++) {
		struct val slots = dict_get_str(vm, cls->mro[i]->ns, vm->n[PN_slots]), it, one;
		bool fits = is_kind(slots, K_STR) && slot_fits(AS(str, slots), name);

		it = is_null(slots) || is_kind(slots, K_STR) ? val_null() : rp_iter(vm, slots);
		while (!fits && !is_null(it) && !is_null(one = rp_next(vm, it))) {
			fits = is_kind(one, K_STR) && slot_fits(AS(str, one), name);
			unref(vm, one);
		}
		unref(vm, it);
		if (fits || !is_null(vm->exc))
			return fits;
	}
	return false;
}

static void class_set_attr(struct vm *vm, struct cls *cls, struct str *name, struct val value)
{
	dict_put_str(vm, cls->ns, name, value);
	vm->version++;
	if (str_is(name, "__abstractmethods__"))
		class_set_abstract(vm, cls, value);
}

bool object_set_attr(struct vm *vm, struct val o, struct str *name, struct val value)
{
	struct cls *cls = type_of(vm, o);
	struct val found = cls_find(vm, cls, name);

	if (is_kind(o, K_CLASS)) {
		class_set_attr(vm, AS(cls, o), name, value);
		return true;
	}
	if (!is_null(found) && is_data_descriptor(vm, found))
		return set_by_descriptor(vm, found, o, name, value);
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
	if (cls->flags & CLS_SLOTS && !is_slot(vm, cls, name)) {
		rp_raise(vm, TY_AttributeError, "'%s' object has no attribute '%s'",
		         type_name(vm, o), name->at);
		return false;
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

/* Whether the metaclass has a __setattr__ of its own. */
static bool meta_sets(struct vm *vm, const struct cls *cls)
{
	return !is_kind(cls_find(vm, cls->meta, vm->n[PN_setattr]), K_NATIVE);
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
	if (is_kind(o, K_CLASS) && (!AS(cls, o)->meta || !meta_sets(vm, AS(cls, o)))) {
		class_set_attr(vm, AS(cls, o), name, value);
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

static bool del_by_descriptor(struct vm *vm, struct val found, struct val o, struct str *name)
{
	struct val del = is_kind(found, K_DESCRIPTOR) ? ref(AS(descriptor, found)->del)
	                                              : special_find(vm, found, PN_delete);
	struct val result;

	if (is_missing(del)) {
		if (is_null(vm->exc))
			rp_raise(vm, TY_AttributeError,
			         "property '%s' of '%s' object has no deleter", name->at,
			         type_name(vm, o));
		return false;
	}
	result = rp_call1(vm, del, o);
	unref(vm, del);
	unref(vm, result);
	return !is_null(result);
}

bool object_del_attr(struct vm *vm, struct val o, struct str *name)
{
	struct val found = cls_find(vm, type_of(vm, o), name);
	int done = 0;

	if (!is_null(found) && is_data_descriptor(vm, found))
		return del_by_descriptor(vm, found, o, name);
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
