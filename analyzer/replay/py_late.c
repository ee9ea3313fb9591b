/* What few programs ask of the built-in types and of `builtins` is written in Python
 * (lib/_types.py, lib/builtins.py), and made when it is asked for. */

#include <string.h>

#include "analyzer/replay/library.h"
#include "analyzer/replay/py.h"

static const char types_module[] = "_types";

/* `str_istitle` is the method `istitle` of `str`. */
static bool is_of_type(const struct library_name *written, const struct str *type,
                       const struct str *name)
{
	const char *at = library_bytes + written->start;

	return written->length == type->length + 1 + name->length && at[type->length] == '_' &&
	       memcmp(at, type->at, type->length) == 0 &&
	       memcmp(at + type->length + 1, name->at, name->length) == 0;
}

static const struct library_name *written_for(const struct library_module *library,
                                              const struct str *type, const struct str *name)
{
	const struct library_definition *at = library_definitions + library->definitions.first;

	for (uint32_t i = 0; i < library->definitions.count; i++)
		if (is_of_type(&library_names[at[i].name], type, name))
			return &library_names[at[i].name];
	return NULL;
}

static bool type_add_late(struct vm *vm, struct cls *cls, struct str *name)
{
	struct val types = module_import(vm, types_module, NULL), v;
	const struct library_name *written =
	        is_kind(types, K_MODULE) ? written_for(AS(module, types)->library, cls->name, name)
	                                 : NULL;

	v = written ? module_defined(
	                      vm, AS(module, types),
	                      str_intern(vm, library_bytes + written->start, written->length))
	            : val_null();
	unref(vm, types);
	if (is_null(v))
		return false;
	dict_put_str(vm, cls->ns, name, v);
	unref(vm, v);
	vm->version++;
	return true;
}

bool type_late(struct vm *vm, const struct cls *cls, struct str *name)
{
	if (cls->flags & CLS_NN_MODULE)
		return false;
	for (uint32_t i = 0; i < cls->mro_count; i++) {
		struct cls *c = cls->mro[i];

		if (!(c->flags & CLS_HEAP) && c->layout < K_UNKNOWN && c != vm->t[TY_object] &&
		    type_add_late(vm, c, name))
			return true;
	}
	return false;
}

struct val builtin_late(struct vm *vm, struct str *name)
{
	struct module *m = vm->builtins;
	struct val v = dict_get_str(vm, m->ns, name);

	if (!is_null(v))
		return ref(v);
	if (!m->library) {
		m->library = library_find(m->name->at);
		module_run_imports(vm, m);
	}
	return module_defined(vm, m, name);
}
