/* eval, exec and annotations: text that becomes code while the program runs. */

#include <string.h>

#include "analyzer/front/front.h"
#include "analyzer/replay/py_step.h"
#include "analyzer/source/source.h"

enum {
	MOST_TEXT = 1 << 16, /* bytes of one text */
	MOST_TEXTS = 1 << 20 /* of all of them; they are kept as long as the machine */
};

static const char result_name[] = "__eval__";

struct evaluated {
	const struct str *text;
	bool expression;
	const struct ir_module *ir; /* NULL: broken syntax */
	struct evaluated *next;
};

static const struct ir_module *lowered(struct vm *vm, const struct str *text, bool expression)
{
	struct arena scratch = {0};
	struct text wrapped = {.arena = &scratch};
	struct source_problem problem;
	const struct source *source;
	struct front_result result = {0};

	if (expression)
		text_print(&wrapped, "%s = (", result_name);
	text_add(&wrapped, text->at, text->length);
	text_add_chars(&wrapped, expression ? "\n)\n" : "\n");
	source = source_from_bytes(vm->arena, "<string>", text_chars(&wrapped), wrapped.length,
	                           &problem);
	if (source)
		result = python_front_end.lower(vm->arena, vm->names, source, NULL);
	arena_release(&scratch);
	return result.has_error ? NULL : result.module;
}

static const struct evaluated *evaluated_of(struct vm *vm, const struct str *text, bool expression)
{
	struct evaluated *e = vm->evaluated;

	while (e && (e->expression != expression || e->text->length != text->length ||
	             memcmp(e->text->at, text->at, text->length) != 0))
		e = e->next;
	if (e)
		return e;
	if (text->length > MOST_TEXT || vm->evaluated_bytes + text->length > MOST_TEXTS ||
	    !vm_work(vm, text->length + 1))
		return NULL;
	vm->evaluated_bytes += text->length + 64;
	e = arena_new(vm->arena, struct evaluated);
	e->text = str_intern(vm, text->at, text->length);
	e->expression = expression;
	e->ir = lowered(vm, text, expression);
	e->next = vm->evaluated;
	vm->evaluated = e;
	return e;
}

static struct val text_unknown(struct vm *vm, const char *what)
{
	vm_stand_in(vm, "%s", what);
	return unknown_new(vm, "%s", what);
}

/* `ns` is what the text sees and changes. */
static struct val text_run(struct vm *vm, const struct str *text, bool expression, struct dict *ns,
                           const struct module *around)
{
	const struct evaluated *e = evaluated_of(vm, text, expression);
	struct module *m;
	struct val result, made = val_null();

	if (!e)
		return text_unknown(vm, expression ? "eval()" : "exec()");
	if (!e->ir)
		return rp_raise(vm, TY_SyntaxError, "invalid syntax");
	m = module_new(vm, around->name->at);
	unref_obj(vm, m->ns);
	m->ns = ns;
	ns->h.refs++;
	m->opaque_names = around->opaque_names;
	result = module_run(vm, m, e->ir);
	unref_obj(vm, m);
	if (!is_null(result) && expression)
		dict_remove(vm, ns, val_obj(str_intern(vm, result_name, strlen(result_name))),
		            &made);
	unref(vm, result);
	return is_null(result) ? result : is_null(made) ? val_none() : made;
}

struct val frame_locals(struct vm *vm, struct frame *f)
{
	struct dict *names;

	if (f->ns)
		return ref_obj(f->ns);
	names = dict_new(vm);
	for (uint32_t i = 1; i < f->code->nslots; i++) {
		const struct val v = *slot_place(f, i);

		if (!is_null(v) && f->code->func->slots.at[i].kind != SLOT_HIDDEN)
			dict_put_str(vm, names, code_slot_name(vm, f->code, i), v);
	}
	return val_obj(names);
}

/* The namespaces that were given, or those of the caller; a merged copy where there are two. */
static struct dict *namespace_of(struct vm *vm, const struct val *a, struct val *inner)
{
	struct frame *f = vm->frame;
	struct dict *outer = is_kind(a[1], K_DICT) ? AS(dict, a[1]) : f->module->ns, *both;

	*inner = is_kind(a[2], K_DICT)   ? ref(a[2])
	         : is_kind(a[1], K_DICT) ? val_null()
	                                 : frame_locals(vm, f);
	if (is_null(*inner) || AS(dict, *inner) == outer)
		return AS(dict, ref_obj(outer));
	both = dict_copy(vm, outer);
	dict_update(vm, both, *inner);
	return both;
}

/* What was stored goes to the inner names. */
static void keep_stored(struct vm *vm, struct dict *inner, const struct dict *both,
                        struct dict *outer)
{
	uint32_t at = 0;
	struct dict_entry *e;

	while ((e = dict_next(both, &at))) {
		const struct val before = dict_get(vm, inner, e->key);

		if (is_null(before) ? !val_same(dict_get(vm, outer, e->key), e->value)
		                    : !val_same(before, e->value))
			dict_put(vm, inner, e->key, e->value);
	}
}

static struct val evaluate(struct vm *vm, const struct val *a, bool expression)
{
	struct frame *f = vm->frame;
	struct dict *ns;
	struct val inner, result, text = val_null();
	const char *at, *end;

	if (!is_kind(a[0], K_STR) || !f)
		return text_unknown(vm, expression ? "eval()" : "exec()");
	at = chars_of(a[0]);
	end = at + AS(str, a[0])->length;
	while (expression && at < end && (*at == ' ' || *at == '\t'))
		at++;
	text = val_obj(str_new(vm, at, (size_t)(end - at)));
	ns = namespace_of(vm, a, &inner);
	result = text_run(vm, AS(str, text), expression, ns, f->module);
	if (is_kind(inner, K_DICT) && AS(dict, inner) != ns && !is_null(result))
		keep_stored(vm, AS(dict, inner), ns,
		            is_kind(a[1], K_DICT) ? AS(dict, a[1]) : f->module->ns);
	unref(vm, inner);
	unref_obj(vm, ns);
	unref(vm, text);
	return result;
}

static struct val builtin_eval(struct vm *vm, struct val *a, uint32_t n)
{
	(void)n;
	return evaluate(vm, a, true);
}

static struct val builtin_exec(struct vm *vm, struct val *a, uint32_t n)
{
	(void)n;
	return evaluate(vm, a, false);
}

static struct val builtin_compile(struct vm *vm, struct val *a, uint32_t n)
{
	(void)a, (void)n;
	return text_unknown(vm, "compile()");
}

static struct val builtin_locals(struct vm *vm, struct val *a, uint32_t n)
{
	(void)a, (void)n;
	return vm->frame ? frame_locals(vm, vm->frame) : val_obj(dict_new(vm));
}

const struct native_def eval_functions[] = {
        {"eval", builtin_eval, "source ? globals locals"},
        {"exec", builtin_exec, "source ? globals locals"},
        {"compile", builtin_compile, "*args **kw"},
        {"locals", builtin_locals, ""},
        {0},
};

/* --- annotations: the texts that are kept of them */

struct val annotation_value(struct vm *vm, struct val text, struct module *m, bool always)
{
	struct val v;

	/* from __future__ import annotations */
	if (!is_kind(text, K_STR) || !m || vm->halt ||
	    (!always && is_none(dict_get_str(vm, m->ns, str_intern(vm, "annotations", 11)))))
		return ref(text);
	v = text_run(vm, AS(str, text), true, m->ns, m);
	if (is_null(v)) {
		exc_clear(vm);
		return ref(text);
	}
	return v;
}

static void annotation_add(struct vm *vm, const struct function *fn, struct dict *all,
                           struct str *name, sym_id annotation)
{
	struct val v;

	if (!annotation.n)
		return;
	v = annotation_value(vm, val_obj(str_of_sym(vm, annotation)), fn->module, false);
	dict_put_str(vm, all, name, v);
	unref(vm, v);
}

struct val function_annotations(struct vm *vm, const struct function *fn)
{
	const struct ir_func *func = fn->code->func;
	struct dict *all = dict_new(vm);

	if (!fn->code->module->names)
		return val_obj(all);
	for (uint32_t i = 0; i < fn->code->nparams; i++)
		annotation_add(vm, fn, all, fn->code->params[i].name,
		               func->params.at[i].annotation);
	annotation_add(vm, fn, all, str_intern(vm, "return", 6), func->returns);
	return val_obj(all);
}

/* Of a class or what else has them: with the names that its module has. */
struct val annotations_evaluated(struct vm *vm, struct val all, struct val module, bool always)
{
	const struct val m =
	        is_kind(module, K_STR) ? dict_get(vm, vm->modules, module) : val_null();
	struct dict *out, *from;
	uint32_t at = 0;
	struct dict_entry *e;

	if (!is_kind(all, K_DICT) || !is_kind(m, K_MODULE))
		return ref(all);
	from = dict_copy(vm, AS(dict, all));
	out = dict_new(vm);
	while ((e = dict_next(from, &at))) {
		struct val v = annotation_value(vm, e->value, AS(module, m), always);

		dict_put(vm, out, e->key, v);
		unref(vm, v);
	}
	unref_obj(vm, from);
	return val_obj(out);
}
