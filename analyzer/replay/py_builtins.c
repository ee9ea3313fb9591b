#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/replay/py.h"

enum { UNKNOWN_RANGE = 8 }; /* steps of a range whose end is not known */

#define BUILTIN(name) static struct val name(struct vm *vm, struct val *a, uint32_t n)

static struct val truth_val(int truth)
{
	return truth < 0 ? val_null() : val_bool(truth);
}

static struct str *attr_name(struct vm *vm, struct val v)
{
	if (is_kind(v, K_UNKNOWN))
		return str_intern(vm, "$unknown", 8);
	if (!arg_str(vm, v, "attribute name must be string"))
		return NULL;
	return str_intern(vm, chars_of(v), AS(str, v)->length);
}

static struct val print_to(struct vm *vm, struct val file, const struct text *line)
{
	struct val text = val_text(vm, line), result;

	result = rp_call_method(vm, file, "write", &text, 1);
	unref(vm, text);
	unref(vm, result);
	return is_null(result) ? result : val_none();
}

/* Whether what is printed to it is what the program prints. */
static bool is_output(struct vm *vm, struct val file)
{
	struct val marked;

	if (is_missing(file) || is_kind(file, K_UNKNOWN))
		return true;
	marked = rp_attr_find(vm, file, str_intern(vm, "$stdout", 7));
	unref(vm, marked);
	return !is_null(marked);
}

static void print_part(struct vm *vm, struct text *line, bool to_output)
{
	if (!to_output)
		return;
	if (vm->out.length < vm->out_cap)
		text_add(&vm->out, text_chars(line), line->length);
	text_cut(line, 0);
}

BUILTIN(builtin_print)
{
	struct list *items = AS(list, a[0]);
	struct arena scratch = {0};
	struct text line = {.arena = &scratch};
	struct val file = is_output(vm, a[3]) ? vm->out_to : a[3], result = val_none();

	(void)n;
	for (uint32_t i = 0; i < items->count && is_null(vm->exc); i++) {
		if (i)
			text_add_chars(&line, is_kind(a[1], K_STR) ? chars_of(a[1]) : " ");
		str_into(vm, items->at[i], &line);
		print_part(vm, &line, is_null(file));
	}
	if (is_null(vm->exc)) {
		text_add_chars(&line, is_kind(a[2], K_STR) ? chars_of(a[2]) : "\n");
		print_part(vm, &line, is_null(file));
	}
	if (!is_null(vm->exc))
		result = val_null();
	else if (!is_null(file))
		result = print_to(vm, file, &line);
	arena_release(&scratch);
	return result;
}

/* Calls it, and lets go of it. */
static struct val rp_call_drop(struct vm *vm, struct val fn)
{
	struct val result = rp_call0(vm, fn);

	unref(vm, fn);
	return result;
}

BUILTIN(builtin_len)
{
	struct val own;
	int64_t length;

	(void)n;
	if (is_kind(a[0], K_UNKNOWN))
		return unknown_new(vm, "len(%s)", AS(unknown, a[0])->what->at);
	own = special_own(vm, a[0], PN_len);
	if (!is_null(own)) {
		own = rp_call_drop(vm, own);
		if (is_null(own) || is_kind(own, K_UNKNOWN) || (is_int(own) && own.as.i >= 0))
			return own;
		unref(vm, own);
	}
	length = rp_length(vm, a[0]);
	if (length >= 0)
		return val_int(length);
	if (exc_is(vm, TY_TypeError) && (type_of(vm, a[0])->flags & CLS_OPAQUE)) {
		exc_clear(vm);
		return unknown_new(vm, "len(%s)", type_name(vm, a[0]));
	}
	return val_null();
}

BUILTIN(builtin_repr)
{
	(void)n;
	return rp_repr(vm, a[0]);
}

BUILTIN(builtin_abs)
{
	struct val fn, v;

	(void)n;
	v = number_unless(vm, a[0], PN_abs);
	if (is_any_int(v))
		return int_compare(v, val_int(0)) < 0
		               ? int_negate(vm, v)
		               : int_binary(vm, SUB_binary_add, v, val_int(0));
	if (v.tag == PY_FLOAT)
		return val_float(fabs(v.as.f));
	if (is_kind(a[0], K_UNKNOWN))
		return ref(a[0]);
	fn = special_find(vm, a[0], PN_abs);
	if (is_null(fn))
		return is_null(vm->exc)
		               ? rp_raise(vm, TY_TypeError, "bad operand type for abs(): '%s'",
		                          type_name(vm, a[0]))
		               : val_null();
	v = rp_call0(vm, fn);
	unref(vm, fn);
	return v;
}

BUILTIN(builtin_isinstance)
{
	(void)n;
	if (vm->healing && is_kind(a[0], K_UNKNOWN))
		return unknown_new(vm, "class of %s", AS(unknown, a[0])->what->at);
	return truth_val(rp_isinstance(vm, a[0], a[1]));
}

BUILTIN(builtin_issubclass)
{
	(void)n;
	return truth_val(rp_issubclass(vm, a[0], a[1]));
}

BUILTIN(builtin_getattr)
{
	struct str *name = attr_name(vm, a[1]);
	struct val v;

	(void)n;
	if (!name)
		return val_null();
	if (is_null(a[2]))
		return rp_attr(vm, a[0], name);
	v = rp_attr_find(vm, a[0], name);
	return is_null(v) && is_null(vm->exc) ? ref(a[2]) : v;
}

BUILTIN(builtin_hasattr)
{
	struct str *name = attr_name(vm, a[1]);
	struct val v;

	(void)n;
	if (!name)
		return val_null();
	v = rp_attr_find(vm, a[0], name);
	if (!is_null(vm->exc))
		return val_null();
	unref(vm, v);
	return val_bool(!is_null(v));
}

BUILTIN(builtin_setattr)
{
	struct str *name = attr_name(vm, a[1]);

	(void)n;
	return name && rp_set_attr(vm, a[0], name, a[2]) ? val_none() : val_null();
}

BUILTIN(builtin_delattr)
{
	struct str *name = attr_name(vm, a[1]);

	(void)n;
	return name && rp_del_attr(vm, a[0], name) ? val_none() : val_null();
}

BUILTIN(builtin_callable)
{
	(void)n;
	if (a[0].tag != PY_OBJECT)
		return val_bool(false);
	switch ((enum rp_kind)a[0].as.o->kind) {
	case K_FUNCTION:
	case K_NATIVE:
	case K_METHOD:
	case K_CLASS:
	case K_UNKNOWN:
		return val_bool(true);
	default:
		return val_bool(!is_null(cls_find(vm, type_of(vm, a[0]), vm->n[PN_call])));
	}
}

BUILTIN(builtin_id)
{
	(void)vm, (void)n;
	return val_int(
	        a[0].tag == PY_OBJECT
	                ? (int64_t)(uintptr_t)a[0].as.o
	                : (int64_t)(((uint64_t)a[0].as.i * 32 + 9000000 + a[0].tag) & INT64_MAX));
}

/* Modulo a prime, as Python does: equal numbers of any type have the same. */
static struct val number_hash(struct vm *vm, struct val v)
{
	static const int64_t prime = (INT64_C(1) << 61) - 1;
	struct val rest;
	int exponent = 0;
	int64_t hash = 0;

	if (v.tag != PY_FLOAT) {
		const bool negative = int_compare(v, val_int(0)) < 0;
		struct val size = negative ? int_negate(vm, v) : ref(v);

		rest = int_binary(vm, SUB_binary_modulo, size, val_int(prime));
		unref(vm, size);
		hash = negative ? -rest.as.i : rest.as.i;
	} else if (!isfinite(v.as.f)) {
		return val_int(v.as.f > 0 ? 314159 : v.as.f < 0 ? -314159 : 0);
	} else {
		for (double f = frexp(fabs(v.as.f), &exponent); f != 0; f -= trunc(f)) {
			hash = (hash << 28 & prime) | hash >> 33;
			f *= 268435456.0;
			exponent -= 28;
			hash = (hash + (int64_t)f) % prime;
		}
		exponent = exponent >= 0 ? exponent % 61 : 60 - (-1 - exponent) % 61;
		hash = (hash << exponent & prime) | hash >> (61 - exponent);
		hash = v.as.f < 0 ? -hash : hash;
	}
	return val_int(hash == -1 ? -2 : hash);
}

BUILTIN(builtin_hash)
{
	struct val v = number_unless(vm, a[0], PN_hash), own = special_own(vm, v, PN_hash);
	uint64_t hash;

	(void)n;
	if (v.tag == PY_FLOAT || is_any_int(v))
		return number_hash(vm, v);
	if (!is_null(own)) {
		own = rp_call_drop(vm, own);
		if (!is_any_int(own))
			return own;
		v = number_hash(vm, own);
		unref(vm, own);
		return v;
	}
	return is_null(vm->exc) && rp_hash(vm, v, &hash) ? val_int((int64_t)(hash >> 2))
	                                                 : val_null();
}

BUILTIN(builtin_format)
{
	(void)n;
	return is_kind(a[1], K_STR) ? rp_format(vm, a[0], chars_of(a[1]), AS(str, a[1])->length)
	                            : rp_format(vm, a[0], "", 0);
}

static struct val based(struct vm *vm, struct val v, const char *prefix, int base)
{
	struct arena scratch = {0};
	struct text out = {.arena = &scratch};
	struct val result, positive;
	bool negative;
	int64_t i;

	if (!is_any_int(v) && !rp_index(vm, v, &i))
		return val_null();
	negative = is_any_int(v) && int_compare(v, val_int(0)) < 0;
	positive = !is_any_int(v) ? val_int(i) : negative ? int_negate(vm, v) : ref(v);
	text_add_chars(&out, negative ? "-" : "");
	text_add_chars(&out, prefix);
	int_print(vm, positive, base, &out);
	unref(vm, positive);
	result = val_text(vm, &out);
	arena_release(&scratch);
	return result;
}

BUILTIN(builtin_hex)
{
	(void)n;
	return based(vm, a[0], "0x", 16);
}

BUILTIN(builtin_bin)
{
	(void)n;
	return based(vm, a[0], "0b", 2);
}

BUILTIN(builtin_oct)
{
	(void)n;
	return based(vm, a[0], "0o", 8);
}

BUILTIN(builtin_chr)
{
	struct arena scratch = {0};
	struct text out = {.arena = &scratch};
	struct val result;
	int64_t i;

	(void)n;
	if (!rp_index(vm, a[0], &i))
		return val_null();
	text_add_code_point(&out, (uint32_t)i);
	result = val_text(vm, &out);
	arena_release(&scratch);
	return result;
}

BUILTIN(builtin_ord)
{
	const unsigned char *at;
	uint32_t c;

	(void)n;
	if (!is_kind(a[0], K_STR) || AS(str, a[0])->chars != 1)
		return rp_raise(vm, TY_TypeError, "ord() expected a character");
	at = (const unsigned char *)chars_of(a[0]);
	c = at[0] < 0x80   ? at[0]
	    : at[0] < 0xe0 ? at[0] & 0x1fu
	    : at[0] < 0xf0 ? at[0] & 0xfu
	                   : at[0] & 7u;
	for (uint32_t i = 1; i < AS(str, a[0])->length; i++)
		c = c << 6 | (at[i] & 0x3fu);
	return val_int(c);
}

BUILTIN(builtin_vars)
{
	(void)n;
	if (is_null(a[0]))
		return vm->frame ? frame_locals(vm, vm->frame) : val_obj(dict_new(vm));
	return rp_attr(vm, a[0], vm->n[PN_dict]);
}

BUILTIN(builtin_globals)
{
	(void)a, (void)n;
	return vm->frame ? ref_obj(vm->frame->module->ns) : val_obj(dict_new(vm));
}

BUILTIN(builtin_dir)
{
	struct val fn, names, sorted;

	(void)n;
	if (is_null(a[0])) {
		names = vm->frame ? frame_locals(vm, vm->frame) : val_obj(dict_new(vm));
		sorted = val_obj(list_from(vm, names));
		unref(vm, names);
		names = sorted;
	} else {
		fn = cls_find(vm, vm->t[TY_object], str_intern(vm, "__dir__", 7));
		names = rp_call1(vm, fn, a[0]);
	}
	sorted = is_null(names) ? names : rp_call_method(vm, names, "sort", NULL, 0);
	unref(vm, sorted);
	return names;
}

BUILTIN(builtin_input)
{
	(void)a, (void)n;
	return rp_raise(vm, TY_EOFError, "EOF when reading a line");
}

/* Nothing is read or written: a file is a stand-in. */
BUILTIN(builtin_open)
{
	(void)a, (void)n;
	vm_stand_in(vm, "open()");
	return unknown_new(vm, "file");
}

BUILTIN(builtin_import)
{
	(void)n;
	if (!arg_str(vm, a[0], "module name must be str"))
		return val_null();
	return module_import_top(vm, chars_of(a[0]), NULL);
}

BUILTIN(builtin_super)
{
	struct super *s;

	(void)n;
	if (!is_kind(a[1], K_CLASS) || is_missing(a[2]))
		return rp_raise(vm, TY_RuntimeError, "super(): no arguments");
	s = rp_new(vm, K_SUPER, vm->t[TY_super], sizeof(*s));
	s->start = AS(cls, a[1]);
	s->self = ref(a[2]);
	return val_obj(s);
}

BUILTIN(super_new)
{
	return builtin_super(vm, a, n);
}

static struct val descriptor_new(struct vm *vm, struct val *a, enum descriptor_kind what)
{
	struct descriptor *d = rp_new(vm, K_DESCRIPTOR, AS(cls, a[0]), sizeof(*d));

	if (!(AS(cls, a[0])->flags & CLS_HEAP))
		d->h.cls = AS(cls, a[0]);
	d->what = what;
	d->get = ref(a[1]);
	return val_obj(d);
}

BUILTIN(property_new)
{
	struct val d;

	(void)n;
	d = descriptor_new(vm, a, DESC_PROPERTY);
	AS(descriptor, d)->set = ref(a[2]);
	AS(descriptor, d)->del = ref(a[3]);
	AS(descriptor, d)->doc = ref(a[4]);
	return d;
}

BUILTIN(classmethod_new)
{
	(void)n;
	return descriptor_new(vm, a, DESC_CLASSMETHOD);
}

BUILTIN(staticmethod_new)
{
	(void)n;
	return descriptor_new(vm, a, DESC_STATICMETHOD);
}

static struct val property_with(struct vm *vm, struct val *a, size_t which)
{
	struct descriptor *old = AS(descriptor, a[0]), *d;

	d = rp_new(vm, K_DESCRIPTOR, old->h.cls, sizeof(*d));
	d->what = old->what;
	d->get = ref(which == 0 ? a[1] : old->get);
	d->set = ref(which == 1 ? a[1] : old->set);
	d->del = ref(which == 2 ? a[1] : old->del);
	d->doc = ref(old->doc);
	return val_obj(d);
}

BUILTIN(property_getter)
{
	(void)n;
	return property_with(vm, a, 0);
}

BUILTIN(property_setter)
{
	(void)n;
	return property_with(vm, a, 1);
}

BUILTIN(property_deleter)
{
	(void)n;
	return property_with(vm, a, 2);
}

static const struct native_def property_methods[] = {
        {"__new__", property_new, "cls ? fget fset fdel doc"},
        {"getter", property_getter, "self fn"},
        {"setter", property_setter, "self fn"},
        {"deleter", property_deleter, "self fn"},
        {0},
};
static const struct native_def classmethod_methods[] = {{"__new__", classmethod_new, "cls fn"},
                                                        {0}};
static const struct native_def staticmethod_methods[] = {{"__new__", staticmethod_new, "cls fn"},
                                                         {0}};
static const struct native_def super_methods[] = {{"__new__", super_new, "cls ? type self"}, {0}};

BUILTIN(range_new)
{
	struct range *r;
	int64_t start = 0, stop, step = 1;

	for (uint32_t i = 1; i < n; i++)
		if (is_kind(a[i], K_UNKNOWN)) {
			a[i] = i == 3 ? val_int(1)
			              : val_int(i == 1 && !is_null(a[2]) ? 0 : UNKNOWN_RANGE);
			vm_stand_in(vm, "length of a range");
		}
	if (is_null(a[2]) ? !rp_index(vm, a[1], &stop)
	                  : !rp_index(vm, a[1], &start) || !rp_index(vm, a[2], &stop))
		return val_null();
	if (!is_null(a[3]) && !rp_index(vm, a[3], &step))
		return val_null();
	if (!step)
		return rp_raise(vm, TY_ValueError, "range() arg 3 must not be zero");
	r = rp_new(vm, K_RANGE, vm->t[TY_range], sizeof(*r));
	r->start = start;
	r->stop = stop;
	r->step = step;
	if (step > 0)
		r->length = stop > start ? (stop - start - 1) / step + 1 : 0;
	else
		r->length = start > stop ? (start - stop - 1) / -step + 1 : 0;
	return val_obj(r);
}

BUILTIN(slice_new)
{
	struct slice *s = rp_new(vm, K_SLICE, vm->t[TY_slice], sizeof(*s));

	(void)n;
	s->start = is_null(a[2]) ? val_none() : ref(a[1]);
	s->stop = is_null(a[2]) ? ref(a[1]) : ref(a[2]);
	s->step = is_null(a[3]) ? val_none() : ref(a[3]);
	return val_obj(s);
}

static const struct native_def range_methods[] = {{"__new__", range_new, "cls start ? stop step"},
                                                  {0}};
static const struct native_def slice_methods[] = {{"__new__", slice_new, "cls start ? stop step"},
                                                  {0}};

const struct native_def builtin_functions[] = {
        {"print", builtin_print, "*args sep end file flush"},
        {"len", builtin_len, "obj"},
        {"repr", builtin_repr, "obj"},
        {"abs", builtin_abs, "x"},
        {"isinstance", builtin_isinstance, "obj cls"},
        {"issubclass", builtin_issubclass, "cls base"},
        {"getattr", builtin_getattr, "obj name ? default"},
        {"hasattr", builtin_hasattr, "obj name"},
        {"setattr", builtin_setattr, "obj name value"},
        {"delattr", builtin_delattr, "obj name"},
        {"callable", builtin_callable, "obj"},
        {"id", builtin_id, "obj"},
        {"hash", builtin_hash, "obj"},
        {"format", builtin_format, "obj ? spec"},
        {"hex", builtin_hex, "x"},
        {"bin", builtin_bin, "x"},
        {"oct", builtin_oct, "x"},
        {"chr", builtin_chr, "i"},
        {"ord", builtin_ord, "c"},
        {"vars", builtin_vars, "? obj"},
        {"globals", builtin_globals, NULL},
        {"dir", builtin_dir, "? obj"},
        {"input", builtin_input, "? prompt"},
        {"open", builtin_open, "*args **kw"},
        {"__import__", builtin_import, "name ? globals locals fromlist level"},
        {0},
};

static const enum rp_type visible_types[] = {
        TY_object,   TY_type,        TY_int,          TY_bool,  TY_float, TY_str,
        TY_bytes,    TY_list,        TY_tuple,        TY_dict,  TY_set,   TY_frozenset,
        TY_slice,    TY_range,       TY_enumerate,    TY_zip,   TY_map,   TY_filter,
        TY_property, TY_classmethod, TY_staticmethod, TY_super,
};

extern const struct native_def dict_class_methods[], deque_properties[], exit_functions[];
void iter_builtins_init(struct vm *vm);

void builtins_init(struct vm *vm)
{
	struct module *m = module_new(vm, "builtins");

	vm->builtins = m;
	vm->modules = dict_new(vm);
	dict_put_str(vm, vm->modules, m->name, val_obj(m));
	for (size_t i = 0; i < sizeof(visible_types) / sizeof(visible_types[0]); i++)
		dict_put_str(vm, m->ns, vm->t[visible_types[i]]->name,
		             val_obj(vm->t[visible_types[i]]));
	for (int i = TY_BaseException; i < TY_COUNT; i++)
		if (i != TY_OutOfMemoryError)
			dict_put_str(vm, m->ns, vm->t[i]->name, val_obj(vm->t[i]));
	module_set(vm, m, "IOError", ref_obj(vm->t[TY_OSError]));
	module_set(vm, m, "EnvironmentError", ref_obj(vm->t[TY_OSError]));
	module_set(vm, m, "NotImplemented", (struct val){.tag = PY_NOT_IMPLEMENTED});
	module_set(vm, m, "Ellipsis", (struct val){.tag = PY_ELLIPSIS});
	module_set(vm, m, "__debug__", val_bool(true));
	module_add(vm, m, builtin_functions);
	module_add(vm, m, eval_functions);
	module_add(vm, m, builtin_iter_functions);
	module_add(vm, m, builtin_number_functions);
	module_add(vm, m, exit_functions);
	iter_builtins_init(vm);
	type_add(vm, vm->t[TY_property], property_methods);
	type_add(vm, vm->t[TY_classmethod], classmethod_methods);
	type_add(vm, vm->t[TY_staticmethod], staticmethod_methods);
	type_add(vm, vm->t[TY_super], super_methods);
	type_add(vm, vm->t[TY_range], range_methods);
	type_add(vm, vm->t[TY_slice], slice_methods);
	type_method(vm, vm->t[TY_dict], "fromkeys", DESC_CLASSMETHOD, dict_class_methods);
	type_method(vm, vm->t[TY_deque], "maxlen", DESC_PROPERTY, deque_properties);
	properties_init(vm);
	numbers_init(vm);
}
