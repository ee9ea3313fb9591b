#include <stdio.h>
#include <string.h>

#include "analyzer/replay/py.h"

/* Names of stand-ins stay short: "loader.next()[0]", not a whole history. */
struct val unknown_new(struct vm *vm, const char *format, ...)
{
	struct unknown *u = rp_new(vm, K_UNKNOWN, vm->t[TY_unknown], sizeof(*u));
	char what[96];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(what, sizeof(what), format, arguments);
	va_end(arguments);
	u->what = str_chars(vm, what);
	vm->unknown_count++;
	return val_obj(u);
}

struct val unknown_attr(struct vm *vm, struct unknown *u, struct str *name)
{
	struct val v;

	if (name->length > 4 && name->at[0] == '_' && name->at[1] == '_' &&
	    name != vm->n[PN_name] && name != vm->n[PN_class])
		return val_null();
	if (!is_null(u->same))
		return rp_attr_find(vm, u->same, name);
	v = unknown_new(vm, "%s.%s", u->what->at, name->at);
	AS(unknown, v)->base = ref_obj(u);
	AS(unknown, v)->method = name;
	return v;
}

struct val unknown_call(struct vm *vm, struct val callee, struct val *a, uint32_t n)
{
	const char *what =
	        is_kind(callee, K_UNKNOWN) ? AS(unknown, callee)->what->at : type_name(vm, callee);

	if (is_kind(callee, K_UNKNOWN) && !is_null(AS(unknown, callee)->same))
		return rp_call(vm, AS(unknown, callee)->same, a, n, NULL);
	if (is_kind(callee, K_UNKNOWN) && vm->kinds[K_UNKNOWN].call)
		return vm->kinds[K_UNKNOWN].call(vm, callee, a, n, NULL);
	vm_stand_in(vm, "%s()", what);
	return unknown_new(vm, "%s()", what);
}
