/* What the library in Python cannot say itself. */

#include <string.h>

#include "analyzer/replay/modules.h"
#include "analyzer/replay/py_code.h"

#define NATIVE(name) static struct val name(struct vm *vm, struct val *a, uint32_t n)

/* The caller's annotations of a class in order, its own only. */
NATIVE(support_own)
{
	struct val v;

	(void)n;
	v = is_kind(a[0], K_CLASS) && is_kind(a[1], K_STR) ? dict_get(vm, AS(cls, a[0])->ns, a[1])
	                                                   : val_null();
	return is_null(v) ? val_none() : ref(v);
}

NATIVE(support_unknown)
{
	(void)n;
	vm_stand_in(vm, "%s", is_kind(a[0], K_STR) ? chars_of(a[0]) : "value");
	return unknown_new(vm, "%s", is_kind(a[0], K_STR) ? chars_of(a[0]) : "value");
}

NATIVE(support_is_unknown)
{
	(void)vm, (void)n;
	return val_bool(is_kind(a[0], K_UNKNOWN));
}

NATIVE(support_types)
{
	static const struct {
		const char *name;
		enum rp_type type;
	} rows[] = {
	        {"function", TY_function}, {"generator", TY_generator},
	        {"method", TY_method},     {"module", TY_module},
	        {"native", TY_native},     {"frame", TY_frame},
	        {"ellipsis", TY_ellipsis}, {"not_implemented", TY_not_implemented},
	};

	(void)n;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (is_kind(a[0], K_STR) && str_is(AS(str, a[0]), rows[i].name))
			return ref_obj(vm->t[rows[i].type]);
	return ref_obj(vm->t[TY_none]);
}

NATIVE(support_is_generator_function)
{
	(void)vm, (void)n;
	if (!is_kind(a[0], K_FUNCTION))
		return val_bool(false);
	return val_bool(code_is_generator(AS(function, a[0])));
}

NATIVE(support_is_coroutine_function)
{
	(void)vm, (void)n;
	return val_bool(is_kind(a[0], K_FUNCTION) && AS(function, a[0])->code->func->is_async);
}

/* As many items of an iterator as are wanted, or as there are. */
NATIVE(support_take)
{
	struct list *out = list_new(vm, 8);
	int64_t wanted = is_int(a[1]) ? a[1].as.i : 1;
	struct val item;

	(void)n;
	while (out->count < wanted && is_null(vm->exc) && !vm->halt &&
	       !is_null(item = rp_next(vm, a[0])))
		list_push(vm, out, item);
	if (is_null(vm->exc) && !vm->halt)
		return val_obj(out);
	unref_obj(vm, out);
	return val_null();
}

/* Names of a function's parameters, those with defaults included. */
NATIVE(support_parameters)
{
	struct val fn = is_kind(a[0], K_METHOD) ? AS(method, a[0])->fn : a[0];

	(void)n;
	return is_kind(fn, K_FUNCTION) ? code_parameters(vm, AS(function, fn))
	                               : val_obj(list_new(vm, 0));
}

/* --- what built-in objects are made of */

NATIVE(support_plain)
{
	(void)vm, (void)n;
	return ref(number_plain(a[0]));
}

/* Attributes, whatever the class says of them. */
NATIVE(support_attrs)
{
	(void)n;
	return a[0].tag == PY_OBJECT ? ref_obj(attrs_of(vm, a[0].as.o)) : val_obj(dict_new(vm));
}

/* Of a property, classmethod or staticmethod: get, set, del, doc. */
NATIVE(support_parts)
{
	const struct descriptor *d = AS(descriptor, a[0]);
	struct val parts[4] = {val_none(), val_none(), val_none(), val_none()};

	(void)n;
	if (is_kind(a[0], K_DESCRIPTOR)) {
		parts[0] = is_null(d->get) ? val_none() : d->get;
		parts[1] = is_null(d->set) ? val_none() : d->set;
		parts[2] = is_null(d->del) ? val_none() : d->del;
		parts[3] = is_null(d->doc) ? val_none() : d->doc;
	}
	return tuple_of(vm, parts, 4);
}

NATIVE(support_builtin_binary)
{
	enum ir_sub sub = SUB_binary_add;

	(void)n;
	while (sub <= SUB_binary_xor && is_kind(a[0], K_STR) &&
	       !str_is(AS(str, a[0]), ir_sub_text(sub)))
		sub++;
	return rp_binary_builtin(vm, sub, a[1], a[2]);
}

/* The texts of annotations, as what they name in a module. */
NATIVE(support_annotations)
{
	(void)n;
	return annotations_evaluated(vm, a[0], a[1], !is_missing(a[2]));
}

NATIVE(support_native_name)
{
	(void)n;
	return is_kind(a[0], K_NATIVE) ? ref_obj(AS(native, a[0])->name) : val_str(vm, "");
}

/* --- functions */

static const struct function *function_behind(struct val v)
{
	if (is_kind(v, K_METHOD))
		v = AS(method, v)->fn;
	return is_kind(v, K_FUNCTION) ? AS(function, v) : NULL;
}

/* Names of local variables, and how many of them positions and keywords fill. */
NATIVE(support_variables)
{
	const struct function *fn = function_behind(a[0]);
	struct list *names = list_new(vm, 4);
	struct val out[3] = {val_null(), val_int(0), val_int(0)}, result;

	(void)n;
	for (uint32_t i = 0; fn && i < fn->code->nparams; i++) {
		const enum param_kind kind = fn->code->params[i].kind;

		out[1].as.i += kind == PARAM_POSITIONAL || kind == PARAM_POSITIONAL_ONLY;
		out[2].as.i += kind == PARAM_KEYWORD_ONLY;
		/* Stars come after the others. */
		if (kind != PARAM_VAR_POSITIONAL && kind != PARAM_VAR_KEYWORD)
			list_push(vm, names, ref_obj(fn->code->params[i].name));
	}
	for (uint32_t i = 0; fn && i < fn->code->nparams; i++)
		if (!rp_contains(vm, val_obj(names), val_obj(fn->code->params[i].name)))
			list_push(vm, names, ref_obj(fn->code->params[i].name));
	for (uint32_t i = 1; fn && i < fn->code->nslots; i++) {
		struct val name = val_obj(code_slot_name(vm, fn->code, i));

		if (fn->code->func->slots.at[i].kind != SLOT_HIDDEN &&
		    !rp_contains(vm, val_obj(names), name))
			list_push(vm, names, ref(name));
	}
	out[0] = tuple_of(vm, names->at, names->count);
	unref_obj(vm, names);
	result = tuple_of(vm, out, 3);
	unref(vm, out[0]);
	return result;
}

NATIVE(support_place)
{
	const struct function *fn = function_behind(a[0]);

	(void)n;
	return tuple_pair(vm, val_str(vm, fn ? code_file(fn->code) : ""),
	                  val_int(fn ? code_line(fn->code, 1) : 0));
}

/* Of each parameter: name, kind, whether it has a default, and that. */
NATIVE(support_signature)
{
	const struct function *fn = function_behind(a[0]);
	struct list *all = list_new(vm, 4);

	(void)n;
	for (uint32_t i = 0; fn && i < fn->code->nparams; i++) {
		const bool has = fn->defaults && !is_null(fn->defaults[i]);
		struct val one[4] = {val_obj(fn->code->params[i].name),
		                     val_int(fn->code->params[i].kind), val_bool(has),
		                     has ? fn->defaults[i] : val_none()};

		list_push(vm, all, tuple_of(vm, one, 4));
	}
	return val_obj(all);
}

/* Whether a generator has not ended. */
NATIVE(support_is_live)
{
	(void)vm, (void)n;
	return val_bool(is_kind(a[0], K_GENERATOR) && AS(generator, a[0])->frame &&
	                !AS(generator, a[0])->frame->finished);
}

NATIVE(support_generator_name)
{
	(void)n;
	return is_kind(a[0], K_GENERATOR) && AS(generator, a[0])->frame
	               ? ref_obj(AS(generator, a[0])->frame->code->name)
	               : val_str(vm, "generator");
}

/* Who called the library: name, file and line. */
NATIVE(support_caller)
{
	const struct frame *f = vm->frame;
	struct val out[3], result;

	(void)a, (void)n;
	while (f && f->code->library)
		f = f->caller;
	out[0] = f ? ref_obj(f->code->name) : val_str(vm, "<module>");
	out[1] = val_str(vm, f ? code_file(f->code) : "");
	out[2] = val_int(f ? code_line(f->code, f->pc - 1) : 0);
	result = tuple_of(vm, out, 3);
	unref(vm, out[0]);
	unref(vm, out[1]);
	return result;
}

/* --- exceptions and output */

static struct val handled(struct vm *vm)
{
	struct frame *f = vm->frame;

	while (f && is_missing(f->handled))
		f = f->caller;
	return f ? f->handled : val_none();
}

NATIVE(support_handled)
{
	(void)a, (void)n;
	return ref(handled(vm));
}

NATIVE(support_traceback)
{
	struct arena scratch = {0};
	struct text out = {.arena = &scratch};
	struct val result;

	(void)n;
	exc_print(vm, a[0], &out);
	result = val_text(vm, &out);
	arena_release(&scratch);
	return result;
}

/* What is printed goes to this object's `write` instead; the one before. */
NATIVE(support_redirect)
{
	struct val old = is_null(vm->out_to) ? val_none() : vm->out_to;

	(void)n;
	vm->out_to = is_none(a[0]) ? val_null() : ref(a[0]);
	return old;
}

static const struct native_def support_functions[] = {
        {"own", support_own, "cls name"},
        {"unknown", support_unknown, "what"},
        {"is_unknown", support_is_unknown, "v"},
        {"builtin_type", support_types, "name"},
        {"is_generator_function", support_is_generator_function, "fn"},
        {"is_coroutine_function", support_is_coroutine_function, "fn"},
        {"parameters", support_parameters, "fn"},
        {"take", support_take, "items count"},
        {"plain", support_plain, "v"},
        {"attrs", support_attrs, "v"},
        {"parts", support_parts, "v"},
        {"builtin_binary", support_builtin_binary, "op a b"},
        {"annotations", support_annotations, "texts module ? always"},
        {"native_name", support_native_name, "fn"},
        {"variables", support_variables, "fn"},
        {"place", support_place, "fn"},
        {"caller", support_caller, ""},
        {"is_live", support_is_live, "generator"},
        {"generator_name", support_generator_name, "generator"},
        {"signature", support_signature, "fn"},
        {"handled", support_handled, ""},
        {"traceback", support_traceback, "exc"},
        {"redirect", support_redirect, "target"},
        {0},
};

const struct native_module support_module = {"_support", support_functions, NULL, NULL};
