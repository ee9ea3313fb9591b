#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/replay/py.h"

void float_repr(struct text *out, double f)
{
	char digits[40], *e;
	int exponent, precision = 0;

	if (f != f || isinf(f)) {
		text_add_chars(out, f != f ? "nan" : f > 0 ? "inf" : "-inf");
		return;
	}
	do {
		snprintf(digits, sizeof(digits), "%.*e", precision, f);
	} while (strtod(digits, NULL) != f && ++precision < 18);
	e = strchr(digits, 'e');
	exponent = (int)strtol(e + 1, NULL, 10);
	if (exponent >= -4 && exponent < 16) {
		int after = precision - exponent;

		text_print(out, "%.*f", after > 0 ? after : 1, f);
		return;
	}
	*e = 0;
	text_print(out, "%se%c%02d", digits, exponent < 0 ? '-' : '+', abs(exponent));
}

static void repr_escaped(struct text *out, const char *at, size_t length, bool bytes)
{
	bool has_single = memchr(at, '\'', length), has_double = memchr(at, '"', length);
	char quote = has_single && !has_double ? '"' : '\'';

	if (bytes)
		text_add_char(out, 'b');
	text_add_char(out, quote);
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)at[i];

		if (c == (unsigned char)quote || c == '\\')
			text_print(out, "\\%c", c);
		else if (c == '\n' || c == '\t' || c == '\r')
			text_print(out, "\\%c", c == '\n' ? 'n' : c == '\t' ? 't' : 'r');
		else if (c < 32 || c == 127 || (bytes && c > 127))
			text_print(out, "\\x%02x", c);
		else
			text_add_char(out, (char)c);
	}
	text_add_char(out, quote);
}

static bool repr_items(struct vm *vm, struct val *at, uint32_t count, struct text *out)
{
	for (uint32_t i = 0; i < count; i++) {
		struct val item = ref(at[i]);
		bool ok;

		if (i)
			text_add_chars(out, ", ");
		ok = repr_into(vm, item, out);
		unref(vm, item);
		if (!ok)
			return false;
	}
	return true;
}

static bool repr_list(struct vm *vm, struct val v, struct text *out)
{
	struct list *list = AS(list, v);
	bool tuple = is_kind(v, K_TUPLE), ok;

	if (v.as.o->cls == vm->t[TY_size])
		text_add_chars(out, "torch.Size([");
	else
		text_add_char(out, tuple ? '(' : '[');
	ok = repr_items(vm, list->at, list->count, out);
	if (v.as.o->cls == vm->t[TY_size]) {
		text_add_chars(out, "])");
		return ok;
	}
	if (tuple && list->count == 1)
		text_add_char(out, ',');
	text_add_char(out, tuple ? ')' : ']');
	return ok;
}

static bool repr_dict(struct vm *vm, struct dict *d, struct text *out, uint32_t mode)
{
	uint32_t at = 0;
	bool first = true;
	struct dict_entry *e;

	while ((e = dict_next(d, &at))) {
		struct val key = ref(e->key), value = ref(e->value);
		bool ok = true;

		if (!first)
			text_add_chars(out, ", ");
		first = false;
		if (mode == 2 && d->h.kind == K_DICT)
			text_add_char(out, '(');
		if (mode != 1)
			ok = repr_into(vm, key, out);
		if (mode == 2 || mode == 3)
			text_add_chars(out, mode == 3 ? ": " : ", ");
		if (mode)
			ok = ok && repr_into(vm, value, out);
		if (mode == 2)
			text_add_char(out, ')');
		unref(vm, key);
		unref(vm, value);
		if (!ok)
			return false;
	}
	return true;
}

static bool repr_set(struct vm *vm, struct dict *d, struct text *out)
{
	bool ok;

	if (!d->count) {
		text_add_chars(out, d->frozen ? "frozenset()" : "set()");
		return true;
	}
	text_add_chars(out, d->frozen ? "frozenset({" : "{");
	ok = repr_dict(vm, d, out, 0);
	text_add_chars(out, d->frozen ? "})" : "}");
	return ok;
}

static void repr_default(struct vm *vm, struct val v, struct text *out)
{
	struct cls *cls = type_of(vm, v);
	struct val module = dict_get_str(vm, cls->ns, vm->n[PN_module]);

	text_add_char(out, '<');
	if (is_kind(module, K_STR))
		text_print(out, "%s.", chars_of(module));
	text_print(out, "%s object at 0x%012llx>", cls->qualified->at,
	           (unsigned long long)(uintptr_t)v.as.o & 0xffffffffffffull);
}

static void repr_class(struct vm *vm, struct cls *c, struct text *out)
{
	struct val module = dict_get_str(vm, c->ns, vm->n[PN_module]);

	text_add_chars(out, "<class '");
	if (c->module && !str_is(c->module, "builtins"))
		text_print(out, "%s.", c->module->at);
	else if (is_kind(module, K_STR))
		text_print(out, "%s.", chars_of(module));
	text_print(out, "%s'>", c->qualified->at);
}

static bool repr_rest(struct vm *vm, struct val v, struct text *out)
{
	bool ok = true;

	switch ((enum rp_kind)v.as.o->kind) {
	case K_DEQUE: {
		struct list *list = list_from(vm, v);

		text_add_chars(out, "deque([");
		ok = list && repr_items(vm, list->at, list->count, out);
		text_add_char(out, ']');
		if (AS(deque, v)->maxlen >= 0)
			text_print(out, ", maxlen=%lld", (long long)AS(deque, v)->maxlen);
		text_add_char(out, ')');
		unref_obj(vm, list);
		return ok;
	}
	case K_RANGE:
		text_print(out, "range(%lld, %lld", (long long)AS(range, v)->start,
		           (long long)AS(range, v)->stop);
		if (AS(range, v)->step != 1)
			text_print(out, ", %lld", (long long)AS(range, v)->step);
		text_add_char(out, ')');
		return true;
	case K_FUNCTION:
		text_print(out, "<function %s at 0x%012llx>", AS(function, v)->qualified->at,
		           (unsigned long long)(uintptr_t)v.as.o & 0xffffffffffffull);
		return true;
	case K_NATIVE:
		text_print(out, "<built-in function %s>", AS(native, v)->name->at);
		return true;
	case K_METHOD:
		text_add_chars(out, "<bound method ");
		str_into(vm, AS(method, v)->fn, out);
		text_add_char(out, '>');
		return true;
	case K_CLASS:
		repr_class(vm, AS(cls, v), out);
		return true;
	case K_MODULE:
		text_print(out, "<module '%s'>", AS(module, v)->name->at);
		return true;
	case K_VIEW:
		text_print(out, "%s([", v.as.o->cls->name->at);
		ok = repr_dict(vm, AS(view, v)->dict, out, AS(view, v)->mode);
		text_add_chars(out, "])");
		return ok;
	case K_SLICE:
		text_add_chars(out, "slice(");
		ok = repr_into(vm, AS(slice, v)->start, out);
		text_add_chars(out, ", ");
		ok = ok && repr_into(vm, AS(slice, v)->stop, out);
		text_add_chars(out, ", ");
		ok = ok && repr_into(vm, AS(slice, v)->step, out);
		text_add_char(out, ')');
		return ok;
	case K_UNKNOWN:
		text_print(out, "<%s>", AS(unknown, v)->what->at);
		return true;
	default:
		if (vm->kinds[v.as.o->kind].repr)
			vm->kinds[v.as.o->kind].repr(vm, v, out);
		else
			repr_default(vm, v, out);
		return is_null(vm->exc);
	}
}

static bool repr_object(struct vm *vm, struct val v, struct text *out)
{
	bool ok;

	switch ((enum rp_kind)v.as.o->kind) {
	case K_STR:
		repr_escaped(out, AS(str, v)->at, AS(str, v)->length, false);
		return true;
	case K_BYTES:
		repr_escaped(out, AS(str, v)->at, AS(str, v)->length, true);
		return true;
	case K_LONG:
		int_print(vm, v, 10, out);
		return true;
	default:
		break;
	}
	if (v.as.o->busy) {
		text_add_chars(out, is_kind(v, K_DICT)   ? "{...}"
		                    : is_kind(v, K_LIST) ? "[...]"
		                                         : "...");
		return true;
	}
	if (++vm->native_depth > PY_NATIVE_DEPTH * 4) {
		vm->native_depth--;
		rp_raise(vm, TY_RecursionError,
		         "maximum recursion depth exceeded while getting the "
		         "repr of an object");
		return false;
	}
	v.as.o->busy = 1;
	switch ((enum rp_kind)v.as.o->kind) {
	case K_LIST:
	case K_TUPLE:
		ok = repr_list(vm, v, out);
		break;
	case K_DICT:
		text_add_char(out, '{');
		ok = repr_dict(vm, AS(dict, v), out, 3);
		text_add_char(out, '}');
		break;
	case K_SET:
		ok = repr_set(vm, AS(dict, v), out);
		break;
	default:
		ok = repr_rest(vm, v, out);
	}
	v.as.o->busy = 0;
	vm->native_depth--;
	return ok;
}

static bool special_into(struct vm *vm, struct val v, enum rp_name name, struct text *out,
                         bool *found)
{
	struct val fn = special_find(vm, v, name), s;

	*found = !is_null(fn);
	if (is_null(fn))
		return is_null(vm->exc);
	s = rp_call0(vm, fn);
	unref(vm, fn);
	if (is_kind(s, K_STR))
		text_add(out, AS(str, s)->at, AS(str, s)->length);
	else if (is_kind(s, K_UNKNOWN))
		text_print(out, "<%s>", AS(unknown, s)->what->at);
	else if (!is_null(s))
		rp_raise(vm, TY_TypeError, "__str__ returned non-string");
	unref(vm, s);
	return is_null(vm->exc);
}

static bool has_own(struct vm *vm, struct val v, enum rp_name name)
{
	struct val found;

	if (v.tag != PY_OBJECT || v.as.o->kind == K_CLASS)
		return false;
	if (!(v.as.o->cls->flags & (CLS_HEAP | CLS_EXCEPTION | CLS_NN_MODULE)))
		return false;
	if ((v.as.o->cls->flags & CLS_NN_MODULE) && vm->complete_class)
		vm->complete_class(vm, v.as.o->cls, vm->n[name]);
	found = cls_find(vm, v.as.o->cls, vm->n[name]);
	return !is_null(found) &&
	       !(is_kind(found, K_NATIVE) && AS(native, found)->owner == vm->t[TY_object]);
}

bool repr_into(struct vm *vm, struct val v, struct text *out)
{
	bool found;

	if (out->length > PY_MAX_BYTES / 4)
		return vm_halt(vm, VM_HALT_BYTES, "a text of more than 256 MiB");
	switch ((enum rp_tag)v.tag) {
	case PY_NULL:
		return false;
	case PY_NONE:
		text_add_chars(out, "None");
		return true;
	case PY_BOOL:
		text_add_chars(out, v.as.i ? "True" : "False");
		return true;
	case PY_INT:
		text_print(out, "%lld", (long long)v.as.i);
		return true;
	case PY_FLOAT:
		float_repr(out, v.as.f);
		return true;
	case PY_NOT_IMPLEMENTED:
		text_add_chars(out, "NotImplemented");
		return true;
	case PY_ELLIPSIS:
		text_add_chars(out, "Ellipsis");
		return true;
	case PY_OBJECT:
		break;
	}
	if (has_own(vm, v, PN_repr))
		return special_into(vm, v, PN_repr, out, &found);
	return repr_object(vm, v, out);
}

bool str_into(struct vm *vm, struct val v, struct text *out)
{
	bool found;

	if (is_kind(v, K_STR) && v.as.o->cls == vm->t[TY_str]) {
		text_add(out, AS(str, v)->at, AS(str, v)->length);
		return true;
	}
	if (v.tag == PY_OBJECT && vm->kinds[v.as.o->kind].str) {
		vm->kinds[v.as.o->kind].str(vm, v, out);
		return is_null(vm->exc);
	}
	if (has_own(vm, v, PN_str))
		return special_into(vm, v, PN_str, out, &found);
	return repr_into(vm, v, out);
}

struct val rp_repr(struct vm *vm, struct val v)
{
	struct arena scratch = {0};
	struct text text = {.arena = &scratch};
	struct val result = repr_into(vm, v, &text) ? val_text(vm, &text) : val_null();

	arena_release(&scratch);
	return result;
}

struct val rp_str(struct vm *vm, struct val v)
{
	struct arena scratch = {0};
	struct text text = {.arena = &scratch};
	struct val result;

	if (is_kind(v, K_STR) && v.as.o->cls == vm->t[TY_str])
		return ref(v);
	result = str_into(vm, v, &text) ? val_text(vm, &text) : val_null();
	arena_release(&scratch);
	return result;
}
