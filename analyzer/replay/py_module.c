#include <stdio.h>
#include <string.h>

#include "analyzer/replay/library.h"
#include "analyzer/replay/py_code.h"

struct module *module_new(struct vm *vm, const char *name)
{
	struct module *m = rp_new(vm, K_MODULE, vm->t[TY_module], sizeof(*m));

	m->name = str_intern(vm, name, strlen(name));
	m->name->h.refs++;
	m->ns = dict_new(vm);
	dict_put_str(vm, m->ns, vm->n[PN_name], val_obj(m->name));
	return m;
}

void module_set(struct vm *vm, struct module *module, const char *name, struct val v)
{
	dict_put_str(vm, module->ns, str_intern(vm, name, strlen(name)), v);
	unref(vm, v);
}

void module_add(struct vm *vm, struct module *module, const struct native_def *defs)
{
	if (defs)
		native_offer(vm, &module->offers, defs);
}

struct val module_own(struct vm *vm, struct module *module, struct str *name)
{
	const struct val v = dict_get_str(vm, module->ns, name);

	return is_null(v) ? native_offered(vm, module->ns, module->offers, NULL, name) : v;
}

struct dict *module_namespace(struct vm *vm, struct module *module)
{
	native_take_all(vm, module->ns, &module->offers, NULL);
	return module->ns;
}

/* --- definitions of the library, by name */

static bool library_run(struct vm *vm, struct module *m,
                        const struct library_definition *definition)
{
	struct code *code = code_of(vm, library_lowered(vm->arena, definition), (func_id){1});
	struct frame *f;
	struct val result;

	code->library = true;
	f = frame_new(vm, code, m);
	f->ns = m->ns;
	f->ns->h.refs++;
	result = frame_run(vm, f);
	unref(vm, result);
	return !is_null(result);
}

static struct val library_attr(struct vm *vm, struct module *m, struct str *name)
{
	const struct library_definition *definition;
	struct val v;

	if (!m->library || !name->length || m->busy > 200)
		return val_null();
	definition = library_definition_find(m->library, name);
	if (!definition)
		return val_null();
	m->busy++;
	library_run(vm, m, definition);
	m->busy--;
	v = dict_get_str(vm, m->ns, name);
	return is_null(v) ? v : ref(v);
}

struct val module_defined(struct vm *vm, struct module *m, struct str *name)
{
	return library_attr(vm, m, name);
}

static const struct native_module *native_of(const struct vm *vm, const char *name)
{
	for (uint32_t i = 0; i < vm->offered_count; i++)
		if (strcmp(vm->offered[i]->name, name) == 0)
			return vm->offered[i];
	return NULL;
}

/* A function `__getattr__` of the module itself. */
static struct val module_getattr(struct vm *vm, struct module *m, struct str *name)
{
	struct val hook = dict_get_str(vm, m->ns, vm->n[PN_getattr]), v;

	hook = is_null(hook) ? library_attr(vm, m, vm->n[PN_getattr]) : ref(hook);
	if (is_null(hook))
		return hook;
	v = rp_call1(vm, hook, val_obj(name));
	unref(vm, hook);
	return v;
}

/* What neither the module nor the library has. */
static struct val module_unknown(struct vm *vm, struct module *m, struct str *name)
{
	struct val v;

	if (name->at[0] == '_' && name->at[1] == '_')
		return val_null();
	/* An import that nobody uses stands in for nothing. */
	if (m->opaque) {
		vm_stand_in(vm, "module %s", m->name->at);
		return unknown_new(vm, "%s.%s", m->name->at, name->at);
	}
	v = module_getattr(vm, m, name);
	if (!is_null(v) || !is_null(vm->exc) || !m->library ||
	    strncmp(m->name->at, "torch.", 6) != 0)
		return v;
	vm_stand_in(vm, "%s.%s", m->name->at, name->at);
	return unknown_new(vm, "%s.%s", m->name->at, name->at);
}

/* New reference; PY_NULL without an exception: no such name. */
struct val module_attr(struct vm *vm, struct module *m, struct str *name)
{
	struct val v = dict_get_str(vm, m->ns, name);
	char full[256];
	int length;

	if (!is_null(v))
		return ref(v);
	/* What was missing before, and made. */
	if (m->h.attrs && m->native && m->native->missing) {
		v = dict_get_str(vm, m->h.attrs, name);
		if (!is_null(v))
			return ref(v);
	}
	v = module_own(vm, m, name);
	v = is_null(v) ? library_attr(vm, m, name) : ref(v);
	if (!is_null(v) || !is_null(vm->exc) || vm->halt)
		return v;
	if (name == vm->n[PN_dict])
		return m->opaque ? unknown_new(vm, "%s.__dict__", m->name->at)
		                 : ref_obj(module_namespace(vm, m));
	if (m == vm->builtins)
		return builtin_late(vm, name);
	if (m == vm->main)
		return v;
	length = snprintf(full, sizeof(full), "%s.%s", m->name->at, name->at);
	if (length > 0 && (size_t)length < sizeof(full) &&
	    (library_find(full) || native_of(vm, full)))
		return module_import(vm, full, NULL);
	if (m->native && m->native->missing) {
		v = m->native->missing(vm, m, name);
		if (!is_null(v) || !is_null(vm->exc))
			return v;
	}
	return module_unknown(vm, m, name);
}

/* --- import */

static bool resolve_relative(const char *name, const struct module *from, char *full, size_t size)
{
	size_t level = strspn(name, "."), length;
	int written;

	if (!level || !from) {
		written = snprintf(full, size, "%s", name + level);
		return written >= 0 && (size_t)written < size;
	}
	length = from->name->length;
	for (size_t drop = level - (from->package ? 1 : 0); drop; drop--) {
		while (length && from->name->at[length - 1] != '.')
			length--;
		length -= length > 0;
	}
	written = snprintf(full, size, "%.*s%s%s", (int)length, from->name->at,
	                   length && name[level] ? "." : "", name + level);
	return written >= 0 && (size_t)written < size;
}

static struct val module_forget(struct vm *vm, struct str *name)
{
	struct val saved = exc_take(vm);

	dict_remove(vm, vm->modules, val_obj(name), NULL);
	vm->exc = saved;
	return val_null();
}

bool module_run_imports(struct vm *vm, struct module *m)
{
	const struct library_definition *imports =
	        m->library ? library_definition_find(m->library, str_intern(vm, "", 0)) : NULL;

	return !imports || library_run(vm, m, imports);
}

static struct val module_of_library(struct vm *vm, struct module *m)
{
	if (m->native)
		module_add(vm, m, m->native->defs);
	if (m->native && m->native->init)
		m->native->init(vm, m);
	if (!module_run_imports(vm, m))
		return module_forget(vm, m->name);
	return val_obj(m);
}

static struct val module_of_source(struct vm *vm, struct module *m, const struct ir_module *ir)
{
	struct str *name = m->name;
	struct val result;

	module_set(vm, m, "__file__", val_str(vm, ir->source ? ir->source->path : "module.py"));
	result = module_run(vm, m, ir);
	unref(vm, result);
	if (!is_null(result))
		return val_obj(m);
	unref_obj(vm, m);
	return module_forget(vm, name);
}

static struct val module_make(struct vm *vm, struct str *name)
{
	const struct native_module *native = native_of(vm, name->at);
	const struct library_module *library = library_find(name->at);
	const struct ir_module *ir = NULL;
	const char *alias = library_alias(name->at);
	bool package = false;
	struct module *m;

	if (alias != name->at) {
		struct val same = module_import(vm, alias, NULL);

		if (!is_null(same))
			dict_put_str(vm, vm->modules, name, same);
		return same;
	}
	if (!native && !library && vm->find_module)
		ir = vm->find_module(vm, name->at, &package);
	m = module_new(vm, name->at);
	m->native = native;
	m->library = library;
	m->package = package;
	dict_put_str(vm, vm->modules, name, val_obj(m));
	if (native || library)
		return module_of_library(vm, m);
	if (ir)
		return module_of_source(vm, m, ir);
	m->opaque = true;
	return val_obj(m);
}

/* A module and the packages around it; the last one is the result. */
static struct val import_path(struct vm *vm, const char *full, bool want_top)
{
	struct val outer = val_null(), top = val_null();
	const char *at = full;

	while (*at) {
		const char *dot = strchr(at, '.');
		size_t length = dot ? (size_t)(dot - full) : strlen(full);
		struct str *name = str_intern(vm, full, length);
		struct val m = dict_get_str(vm, vm->modules, name);
		struct str *last = str_intern(vm, at, (size_t)(full + length - at));

		m = is_null(m) ? module_make(vm, name) : ref(m);
		if (is_null(m)) {
			unref(vm, outer);
			unref(vm, top);
			return m;
		}
		if (is_kind(outer, K_MODULE) &&
		    is_null(dict_get_str(vm, AS(module, outer)->ns, last)))
			dict_put_str(vm, AS(module, outer)->ns, last, m);
		if (is_null(top))
			top = ref(m);
		slot_set(vm, &outer, m);
		at = dot ? dot + 1 : full + length;
	}
	unref(vm, want_top ? outer : top);
	return want_top ? top : outer;
}

static struct val import_any(struct vm *vm, const char *name, struct module *from, bool want_top)
{
	char full[512];

	if (!resolve_relative(name, from, full, sizeof(full)) || !*full)
		return rp_raise(vm, TY_ImportError, "cannot import %s", name);
	return import_path(vm, full, want_top && name[0] != '.');
}

struct val module_import(struct vm *vm, const char *name, struct module *from)
{
	return import_any(vm, name, from, false);
}

struct val module_import_top(struct vm *vm, const char *name, struct module *from)
{
	return import_any(vm, name, from, true);
}

struct val library_call(struct vm *vm, const char *module, const char *name, struct val *a,
                        uint32_t n)
{
	struct val m = module_import(vm, module, NULL), result;

	result = is_null(m) ? m : rp_call_method(vm, m, name, a, n);
	unref(vm, m);
	return result;
}

/* Definitions of a library are made when they are asked for. */
static bool complete_library(struct vm *vm, struct module *from)
{
	const struct library_module *library = from->library;

	for (uint32_t i = 0; library && i < library->definitions.count; i++) {
		const struct library_definition *d =
		        &library_definitions[library->definitions.first + i];
		const struct library_name *n = &library_names[d->name];
		struct val v;

		if (!n->length || library_bytes[n->start] == '_')
			continue;
		v = rp_attr(vm, val_obj(from), str_intern(vm, library_bytes + n->start, n->length));
		if (is_null(v))
			return false;
		unref(vm, v);
	}
	return true;
}

bool module_star(struct vm *vm, struct module *from, struct module *into)
{
	struct val all = module_attr(vm, from, vm->n[PN_all]);
	uint32_t at = 0;
	struct dict_entry *e;

	into->opaque_names |= from->opaque || from->opaque_names;
	if (from->opaque)
		vm_stand_in(vm, "module %s", from->name->at);
	if (is_kind(all, K_LIST) || is_kind(all, K_TUPLE)) {
		for (uint32_t i = 0; i < AS(list, all)->count; i++) {
			struct val name = AS(list, all)->at[i], v;

			if (!is_kind(name, K_STR))
				continue;
			v = rp_attr(vm, val_obj(from),
			            str_intern(vm, chars_of(name), AS(str, name)->length));
			if (is_null(v))
				break;
			dict_put(vm, into->ns, name, v);
			unref(vm, v);
		}
		unref(vm, all);
		return is_null(vm->exc);
	}
	unref(vm, all);
	if (!complete_library(vm, from))
		return false;
	while ((e = dict_next(module_namespace(vm, from), &at)))
		if (is_kind(e->key, K_STR) && chars_of(e->key)[0] != '_')
			dict_put(vm, into->ns, e->key, e->value);
	return is_null(vm->exc);
}
