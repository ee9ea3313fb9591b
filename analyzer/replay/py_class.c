#include <stdlib.h>
#include <string.h>

#include "analyzer/replay/py.h"

/* --- method resolution order (C3) */

static bool in_tail(struct cls **seq, uint32_t from, uint32_t count, const struct cls *c)
{
	for (uint32_t i = from + 1; i < count; i++)
		if (seq[i] == c)
			return true;
	return false;
}

struct merge {
	struct cls ***seq;
	uint32_t *at, *count;
	uint32_t n;
};

static struct cls *merge_next(struct merge *m)
{
	for (uint32_t i = 0; i < m->n; i++) {
		struct cls *c;
		bool blocked = false;

		if (m->at[i] >= m->count[i])
			continue;
		c = m->seq[i][m->at[i]];
		for (uint32_t k = 0; k < m->n && !blocked; k++)
			blocked = m->at[k] < m->count[k] &&
			          in_tail(m->seq[k], m->at[k], m->count[k], c);
		if (!blocked)
			return c;
	}
	return NULL;
}

static bool make_mro(struct vm *vm, struct cls *cls, struct cls **bases, uint32_t n)
{
	struct merge m = {.n = n + 1};
	uint32_t total = 1, used = 1;
	struct cls **mro;

	m.seq = checked_alloc(n + 1, sizeof(*m.seq));
	m.at = checked_alloc(n + 1, sizeof(uint32_t));
	m.count = checked_alloc(n + 1, sizeof(uint32_t));
	for (uint32_t i = 0; i <= n; i++) {
		m.at[i] = 0;
		m.seq[i] = i < n ? bases[i]->mro : bases;
		m.count[i] = i < n ? bases[i]->mro_count : n;
		total += m.count[i];
	}
	mro = rp_mem(vm, NULL, 0, total * sizeof(*mro));
	mro[0] = cls;
	for (struct cls *c; (c = merge_next(&m));) {
		mro[used++] = c;
		c->h.refs++;
		for (uint32_t i = 0; i <= n; i++)
			while (m.at[i] < m.count[i] && m.seq[i][m.at[i]] == c)
				m.at[i]++;
	}
	cls->mro = rp_mem(vm, mro, total * sizeof(*mro), used * sizeof(*mro));
	cls->mro_count = used;
	for (uint32_t i = 0; i <= n; i++)
		used = m.at[i] < m.count[i] ? 0 : used;
	free((void *)m.seq);
	free(m.at);
	free(m.count);
	return used != 0;
}

struct cls *cls_new(struct vm *vm, struct str *name, struct cls **bases, uint32_t count,
                    struct dict *ns)
{
	struct cls *cls = rp_new(vm, K_CLASS, vm->t[TY_type], sizeof(*cls));

	cls->name = name;
	cls->qualified = name;
	name->h.refs += 2;
	cls->ns = ns;
	ns->h.refs++;
	cls->bases = tuple_new(vm, count);
	cls->layout = K_INSTANCE;
	vm->version++;
	for (uint32_t i = 0; i < count; i++) {
		cls->bases->at[i] = ref_obj(bases[i]);
		cls->flags |= bases[i]->flags &
		              (CLS_EXCEPTION | CLS_NN_MODULE | CLS_HAS_DEL | CLS_OPAQUE);
		if (cls->layout == K_INSTANCE)
			cls->layout = bases[i]->layout;
		if (!cls->meta)
			cls->meta = bases[i]->meta;
	}
	if (!is_null(dict_get_str(vm, ns, vm->n[PN_del])))
		cls->flags |= CLS_HAS_DEL;
	if (!make_mro(vm, cls, bases, count))
		rp_raise(vm, TY_TypeError,
		         "Cannot create a consistent method resolution order "
		         "(MRO) for bases");
	return cls;
}

bool cls_is(const struct cls *cls, const struct cls *base)
{
	for (uint32_t i = 0; i < cls->mro_count; i++)
		if (cls->mro[i] == base)
			return true;
	return false;
}

struct cls *type_of(struct vm *vm, struct val v)
{
	switch ((enum rp_tag)v.tag) {
	case PY_BOOL:
		return vm->t[TY_bool];
	case PY_INT:
		return vm->t[TY_int];
	case PY_FLOAT:
		return vm->t[TY_float];
	case PY_NOT_IMPLEMENTED:
		return vm->t[TY_not_implemented];
	case PY_ELLIPSIS:
		return vm->t[TY_ellipsis];
	case PY_OBJECT:
		if (v.as.o->kind == K_CLASS)
			return AS(cls, v)->meta ? AS(cls, v)->meta : vm->t[TY_type];
		return v.as.o->cls ? v.as.o->cls : vm->t[TY_object];
	default:
		return vm->t[TY_none];
	}
}

const char *type_name(struct vm *vm, struct val v)
{
	return type_of(vm, v)->name->at;
}

bool is_instance_of(struct vm *vm, struct val v, enum rp_type type)
{
	return cls_is(type_of(vm, v), vm->t[type]);
}

/* In the class itself; borrowed. */
static struct val find_in(struct vm *vm, struct cls *cls, struct str *name)
{
	const struct val found = dict_get_str(vm, cls->ns, name);

	return is_null(found) ? native_offered(vm, cls->ns, cls->offers, cls, name) : found;
}

static struct val find_slowly(struct vm *vm, struct cls *cls, struct str *name)
{
	for (uint32_t i = 0; i < cls->mro_count; i++) {
		struct val v = find_in(vm, cls->mro[i], name);

		if (!is_null(v))
			return v;
	}
	return val_null();
}

/* Names are interned, so that a cache by pointer is enough. */
struct val cls_find(struct vm *vm, struct cls *cls, struct str *name)
{
	uintptr_t mix = ((uintptr_t)cls >> 4) * 31 + ((uintptr_t)name >> 4);
	struct attr_cache *c = &vm->cache[(mix ^ mix >> 10) % PY_ATTR_CACHE];

	if (!name->interned)
		return find_slowly(vm, cls, name);
	if (c->cls != cls || c->name != name || c->version != vm->version) {
		c->cls = cls;
		c->name = name;
		c->version = vm->version;
		c->found = find_slowly(vm, cls, name);
	}
	return c->found;
}

struct val cls_find_after(struct vm *vm, struct cls *cls, struct cls *start, struct str *name)
{
	uint32_t i = 0;

	while (i < cls->mro_count && cls->mro[i] != start)
		i++;
	for (i++; i < cls->mro_count; i++) {
		struct val v = find_in(vm, cls->mro[i], name);

		if (!is_null(v))
			return v;
	}
	return val_null();
}

static struct val method_new(struct vm *vm, struct val fn, struct val self)
{
	struct method *m = rp_new(vm, K_METHOD, vm->t[TY_method], sizeof(*m));

	m->fn = ref(fn);
	m->self = ref(self);
	return val_obj(m);
}

static struct val bind_descriptor(struct vm *vm, struct descriptor *d, struct val self,
                                  struct cls *cls)
{
	switch (d->what) {
	case DESC_CLASSMETHOD:
		if (is_kind(d->get, K_FUNCTION) || is_kind(d->get, K_NATIVE))
			return method_new(vm, d->get, val_obj(cls));
		return bind(vm, d->get, val_obj(cls), cls);
	case DESC_STATICMETHOD:
		return ref(d->get);
	case DESC_PROPERTY:
		break;
	}
	if (is_null(self))
		return ref_obj(d);
	if (is_missing(d->get))
		return rp_raise(vm, TY_AttributeError, "unreadable attribute");
	return rp_call1(vm, d->get, self);
}

bool binds_self(struct val found)
{
	return is_kind(found, K_FUNCTION) || (is_kind(found, K_NATIVE) && AS(native, found)->owner);
}

/* What an attribute found in a class gives for `self` (PY_NULL: the class). */
struct val bind(struct vm *vm, struct val found, struct val self, struct cls *cls)
{
	struct val get, a[3], result;

	if (found.tag != PY_OBJECT)
		return found;
	switch ((enum rp_kind)found.as.o->kind) {
	case K_FUNCTION:
		return is_null(self) ? ref(found) : method_new(vm, found, self);
	case K_NATIVE:
		return is_null(self) || !AS(native, found)->owner ? ref(found)
		                                                  : method_new(vm, found, self);
	case K_DESCRIPTOR:
		return bind_descriptor(vm, AS(descriptor, found), self, cls);
	case K_INSTANCE:
		break;
	default:
		return ref(found);
	}
	if (!(found.as.o->cls->flags & CLS_HEAP))
		return ref(found);
	get = special_find(vm, found, PN_get);
	if (is_null(get))
		return is_null(vm->exc) ? ref(found) : val_null();
	a[0] = is_null(self) ? val_none() : self;
	a[1] = val_obj(cls);
	result = rp_call(vm, get, a, 2, NULL);
	unref(vm, get);
	return result;
}

struct val special_find(struct vm *vm, struct val v, enum rp_name name)
{
	struct cls *cls = type_of(vm, v);
	struct val found = cls_find(vm, cls, vm->n[name]);

	return is_null(found) ? found : bind(vm, found, v, cls);
}

struct val special_own(struct vm *vm, struct val v, enum rp_name name)
{
	struct cls *cls = type_of(vm, v);
	struct val found;

	if (!(cls->flags & CLS_HEAP))
		return val_null();
	found = cls_find(vm, cls, vm->n[name]);
	if (is_null(found) || is_kind(found, K_NATIVE) || is_none(found))
		return val_null();
	return bind(vm, found, v, cls);
}

/* --- the class statement */

static bool call_set_names(struct vm *vm, struct cls *cls)
{
	for (uint32_t i = 0; i < cls->ns->used; i++) {
		struct dict_entry *e = &cls->ns->at[i];
		struct val set, a[2];

		if (!is_kind(e->value, K_INSTANCE) || !(e->value.as.o->cls->flags & CLS_HEAP))
			continue;
		set = special_own(vm, e->value, PN_set_name);
		if (is_null(set)) {
			if (!is_null(vm->exc))
				return false;
			continue;
		}
		a[0] = val_obj(cls);
		a[1] = e->key;
		unref(vm, rp_call(vm, set, a, 2, NULL));
		unref(vm, set);
		if (!is_null(vm->exc))
			return false;
	}
	return true;
}

static bool call_init_subclass(struct vm *vm, struct cls *cls, struct dict *kw)
{
	struct val hook = cls_find_after(vm, cls, cls, vm->n[PN_init_subclass]), bound, self;

	if (is_null(hook) || is_kind(hook, K_NATIVE))
		return true;
	self = val_obj(cls);
	if (is_kind(hook, K_DESCRIPTOR))
		hook = AS(descriptor, hook)->get;
	bound = method_new(vm, hook, self);
	unref(vm, rp_call(vm, bound, NULL, 0, kw));
	unref(vm, bound);
	return is_null(vm->exc);
}

/* Bases that are no classes: what stands in for one, or typing's forms. */
static bool base_add(struct vm *vm, struct list *out, struct val base, bool *opaque)
{
	struct val entries, more, all;

	if (is_kind(base, K_CLASS)) {
		list_push(vm, out, ref(base));
		return true;
	}
	if (is_kind(base, K_UNKNOWN) || is_kind(base, K_MODULE)) {
		*opaque = true;
		return true;
	}
	entries = rp_attr_find(vm, base, str_intern(vm, "__mro_entries__", 15));
	if (!is_null(vm->exc))
		return false;
	if (is_null(entries))
		return true;
	all = tuple_of(vm, &base, 1);
	more = rp_call1(vm, entries, all);
	unref(vm, all);
	unref(vm, entries);
	if (is_null(more))
		return false;
	list_extend(vm, out, more);
	unref(vm, more);
	return is_null(vm->exc);
}

/* Slots count if every base but object has them, too, or is a built-in without more. */
static bool only_slots(struct vm *vm, const struct cls *cls)
{
	if (is_null(dict_get_str(vm, cls->ns, vm->n[PN_slots])))
		return false;
	for (uint32_t i = 0; i < cls->bases->count; i++)
		if (AS(cls, cls->bases->at[i])->flags & (CLS_HEAP | CLS_EXCEPTION | CLS_OPAQUE) &&
		    !(AS(cls, cls->bases->at[i])->flags & CLS_SLOTS))
			return false;
	return true;
}

static void class_marks(struct vm *vm, struct cls *cls)
{
	cls->flags |= only_slots(vm, cls) ? CLS_HEAP | CLS_SLOTS : CLS_HEAP;
	/* What is equal has to have the same hash: the inherited one will not do. */
	if (!is_null(dict_get_str(vm, cls->ns, vm->n[PN_eq])) &&
	    is_null(dict_get_str(vm, cls->ns, vm->n[PN_hash])))
		dict_put_str(vm, cls->ns, vm->n[PN_hash], val_none());
}

static struct val class_finish(struct vm *vm, struct cls *cls, struct dict *kw)
{
	struct val module = dict_get_str(vm, cls->ns, vm->n[PN_module]);

	class_marks(vm, cls);
	if (is_kind(module, K_STR)) {
		cls->module = AS(str, module);
		cls->module->h.refs++;
	}
	if (!is_null(vm->exc) || !call_set_names(vm, cls) || !call_init_subclass(vm, cls, kw)) {
		unref_obj(vm, cls);
		return val_null();
	}
	return val_obj(cls);
}

static struct cls *meta_of(struct vm *vm, struct list *bases, struct val given)
{
	struct cls *meta = is_kind(given, K_CLASS) ? AS(cls, given) : NULL;

	for (uint32_t i = 0; !meta && i < bases->count; i++)
		meta = AS(cls, bases->at[i])->meta;
	return meta == vm->t[TY_type] ? NULL : meta;
}

static struct val opaque_module(struct vm *vm)
{
	struct val nn = module_import(vm, "torch.nn", NULL);
	struct val module = is_null(nn) ? nn : rp_attr_chars(vm, nn, "Module");

	unref(vm, nn);
	return is_kind(module, K_CLASS) ? module : ref_obj(vm->t[TY_object]);
}

struct val class_build(struct vm *vm, struct str *name, struct val bases, struct dict *ns,
                       struct dict *kw)
{
	struct list *real = list_new(vm, 2);
	bool opaque = false, ok = true;
	struct val given = val_null(), result, a[3];
	struct cls *cls, *meta;

	for (uint32_t i = 0; ok && i < AS(list, bases)->count; i++)
		ok = base_add(vm, real, AS(list, bases)->at[i], &opaque);
	if (kw)
		dict_remove(vm, kw, val_obj(str_intern(vm, "metaclass", 9)), &given);
	/* What runs its own forward is a module, whatever it derives from. */
	if (opaque && !real->count && !is_null(dict_get_str(vm, ns, vm->n[PN_forward])))
		list_push(vm, real, opaque_module(vm));
	if (!real->count)
		list_push(vm, real, ref_obj(vm->t[TY_object]));
	meta = ok ? meta_of(vm, real, given) : NULL;
	unref(vm, given);
	if (!ok) {
		result = val_null();
	} else if (meta && (meta->flags & CLS_HEAP)) {
		a[0] = val_obj(name);
		a[1] = tuple_of(vm, real->at, real->count);
		a[2] = val_obj(ns);
		result = rp_call(vm, val_obj(meta), a, 3, kw);
		unref(vm, a[1]);
	} else {
		struct cls **list = checked_alloc(real->count, sizeof(*list));

		for (uint32_t i = 0; i < real->count; i++)
			list[i] = AS(cls, real->at[i]);
		cls = cls_new(vm, name, list, real->count, ns);
		free((void *)list);
		if (opaque)
			cls->flags |= CLS_OPAQUE;
		result = class_finish(vm, cls, kw);
	}
	unref_obj(vm, real);
	return result;
}

/* type(name, bases, namespace), called by metaclasses through super(). */
struct val type_make(struct vm *vm, struct val meta, struct val name, struct val bases,
                     struct val ns, struct dict *kw);
struct val type_make(struct vm *vm, struct val meta, struct val name, struct val bases,
                     struct val ns, struct dict *kw)
{
	struct list *list = AS(list, bases);
	struct cls **at = checked_alloc(list->count + 1, sizeof(*at));
	struct cls *cls;
	uint32_t n = 0;
	struct dict *copy = dict_copy(vm, AS(dict, ns));

	for (uint32_t i = 0; i < list->count; i++)
		if (is_kind(list->at[i], K_CLASS))
			at[n++] = AS(cls, list->at[i]);
	if (!n)
		at[n++] = vm->t[TY_object];
	cls = cls_new(vm, AS(str, name), at, n, copy);
	unref_obj(vm, copy);
	free((void *)at);
	if (is_kind(meta, K_CLASS) && AS(cls, meta) != vm->t[TY_type])
		cls->meta = AS(cls, meta);
	return class_finish(vm, cls, kw);
}

/* --- abstract classes */

void class_set_abstract(struct vm *vm, struct cls *cls, struct val methods)
{
	const int any = rp_truth(vm, methods);

	cls->flags &= ~(uint32_t)CLS_ABSTRACT;
	if (any > 0)
		cls->flags |= CLS_ABSTRACT;
}

struct val class_refuse(struct vm *vm, struct cls *cls)
{
	struct list *names =
	        list_from(vm, dict_get_str(vm, cls->ns, str_intern(vm, "__abstractmethods__", 19)));
	struct val argument = names ? val_obj(names) : val_null(), comma, joined;

	if (!names)
		return val_null();
	unref(vm, rp_call_method(vm, argument, "sort", NULL, 0));
	comma = val_str(vm, ", ");
	joined = is_null(vm->exc) ? rp_call_method(vm, comma, "join", &argument, 1) : val_null();
	if (is_kind(joined, K_STR))
		rp_raise(vm, TY_TypeError,
		         "Can't instantiate abstract class %s with abstract method%s %s",
		         cls->name->at, names->count == 1 ? "" : "s", chars_of(joined));
	unref(vm, joined);
	unref(vm, comma);
	unref_obj(vm, names);
	return val_null();
}

/* --- isinstance */

/* What the type's class says of the instance, or of the class if that is PY_NULL. */
static int check_hook(struct vm *vm, struct cls *cls, struct val type, struct val instance)
{
	struct val hook, result;
	int yes;

	if (is_kind(instance, K_UNKNOWN))
		return 0;
	hook = special_own(vm, type, is_null(instance) ? PN_subclasscheck : PN_instancecheck);
	if (is_null(hook))
		return is_null(vm->exc) ? 0 : -1;
	result = rp_call1(vm, hook, is_null(instance) ? val_obj(cls) : instance);
	unref(vm, hook);
	yes = is_null(result) ? -1 : rp_truth(vm, result);
	unref(vm, result);
	return yes;
}

static int one_subclass(struct vm *vm, struct cls *cls, struct val type, struct val instance)
{
	struct val hook;
	int yes;

	if (is_kind(type, K_CLASS))
		return cls_is(cls, AS(cls, type)) ? 1
		       : AS(cls, type)->meta      ? check_hook(vm, cls, type, instance)
		                                  : 0;
	if (is_kind(type, K_UNKNOWN) || is_kind(type, K_MODULE))
		return 0;
	yes = check_hook(vm, cls, type, instance);
	if (yes)
		return yes;
	hook = rp_attr_find(vm, type, str_intern(vm, "__origin__", 10));
	if (is_kind(hook, K_CLASS))
		yes = cls_is(cls, AS(cls, hook));
	else
		yes = is_null(vm->exc) ? 0 : -1;
	unref(vm, hook);
	return yes;
}

static int many_subclass(struct vm *vm, struct cls *cls, struct val type, struct val instance)
{
	if (!is_kind(type, K_TUPLE))
		return one_subclass(vm, cls, type, instance);
	for (uint32_t i = 0; i < AS(list, type)->count; i++) {
		int yes = many_subclass(vm, cls, AS(list, type)->at[i], instance);

		if (yes)
			return yes;
	}
	return 0;
}

int rp_isinstance(struct vm *vm, struct val v, struct val type)
{
	return many_subclass(vm, type_of(vm, v), type, v);
}

int rp_issubclass(struct vm *vm, struct val v, struct val type)
{
	if (is_kind(v, K_UNKNOWN))
		return 0;
	if (!is_kind(v, K_CLASS)) {
		rp_raise(vm, TY_TypeError, "issubclass() arg 1 must be a class");
		return -1;
	}
	return many_subclass(vm, AS(cls, v), type, val_null());
}

void type_add(struct vm *vm, struct cls *cls, const struct native_def *defs)
{
	native_offer(vm, &cls->offers, defs);
	vm->version++;
}

struct dict *type_namespace(struct vm *vm, struct cls *cls)
{
	native_take_all(vm, cls->ns, &cls->offers, cls);
	return cls->ns;
}

void type_method(struct vm *vm, struct cls *cls, const char *name, enum descriptor_kind what,
                 const struct native_def *def)
{
	struct descriptor *d = rp_new(vm, K_DESCRIPTOR,
	                              vm->t[what == DESC_PROPERTY      ? TY_property
	                                    : what == DESC_CLASSMETHOD ? TY_classmethod
	                                                               : TY_staticmethod],
	                              sizeof(*d));

	d->what = what;
	d->get = native_new(vm, def, val_null());
	AS(native, d->get)->owner = what == DESC_STATICMETHOD ? NULL : cls;
	dict_put_str(vm, cls->ns, str_intern(vm, name, strlen(name)), val_obj(d));
	unref_obj(vm, d);
	vm->version++;
}
