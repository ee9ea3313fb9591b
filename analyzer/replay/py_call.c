#include <stdlib.h>
#include <string.h>

#include "analyzer/replay/py_code.h"

/* --- native functions: arguments sorted by the signature */

enum { NATIVE_MAX_PARAMS = 24 };

struct native_sig {
	struct str *names[NATIVE_MAX_PARAMS];
	uint32_t count, required, positional;
	int star, double_star;
	bool of_self, of_class; /* the first is called self, or cls */
};

static struct native_sig *sig_parse(struct vm *vm, const char *text)
{
	struct native_sig *sig = arena_new(vm->arena, struct native_sig);
	bool optional = false, keyword_only = false;

	sig->star = sig->double_star = -1;
	while (*text) {
		size_t length;

		text += strspn(text, " ");
		length = strcspn(text, " ");
		if (!length)
			break;
		if (length == 1 && *text == '?') {
			optional = true;
		} else if (length == 1 && *text == '|') {
			keyword_only = optional = true;
		} else {
			BUG_IF(sig->count == NATIVE_MAX_PARAMS);
			if (text[0] == '*' && text[1] == '*')
				sig->double_star = (int)sig->count;
			else if (text[0] == '*')
				sig->star = (int)sig->count, keyword_only = optional = true;
			else if (!optional)
				sig->required = sig->count + 1;
			if (!keyword_only)
				sig->positional = sig->count + 1;
			sig->names[sig->count++] = str_intern(vm, text, length);
		}
		text += length;
	}
	sig->of_self = sig->positional && str_is(sig->names[0], "self");
	sig->of_class = sig->positional && str_is(sig->names[0], "cls");
	return sig;
}

struct val native_new(struct vm *vm, const struct native_def *def, struct val bound)
{
	struct native *n = rp_new(vm, K_NATIVE, vm->t[TY_native], sizeof(*n));

	n->def = def;
	n->name = str_intern(vm, def->name, strlen(def->name));
	n->name->h.refs++;
	n->bound = ref(bound);
	return val_obj(n);
}

void native_offer(struct vm *vm, struct native_offer **offers, const struct native_def *defs)
{
	struct native_offer *offer = arena_new(vm->arena, struct native_offer);

	*offer = (struct native_offer){defs, *offers};
	*offers = offer;
}

static struct val native_take(struct vm *vm, struct dict *ns, const struct native_def *def,
                              struct cls *owner)
{
	struct val fn = native_new(vm, def, val_null());

	AS(native, fn)->owner = owner;
	dict_put_str(vm, ns, AS(native, fn)->name, fn);
	unref(vm, fn);
	return fn;
}

struct val native_offered(struct vm *vm, struct dict *ns, const struct native_offer *offers,
                          struct cls *owner, const struct str *name)
{
	for (; offers; offers = offers->next)
		for (const struct native_def *def = offers->defs; def->name; def++)
			if (def->name[0] == name->at[0] && strcmp(def->name, name->at) == 0)
				return native_take(vm, ns, def, owner);
	return val_null();
}

void native_take_all(struct vm *vm, struct dict *ns, struct native_offer **offers,
                     struct cls *owner)
{
	const struct native_offer *offer = *offers;

	*offers = NULL;
	for (; offer; offer = offer->next)
		for (const struct native_def *def = offer->defs; def->name; def++)
			if (is_null(dict_get_str(vm, ns,
			                         str_intern(vm, def->name, strlen(def->name)))))
				native_take(vm, ns, def, owner);
}

static bool native_keywords(struct vm *vm, struct native *fn, struct val *slots, struct dict *kw)
{
	struct native_sig *sig = fn->parsed;
	uint32_t at = 0, i;
	struct dict_entry *e;

	while ((e = dict_next(kw, &at))) {
		struct str *key = AS(str, e->key);

		for (i = 0; i < sig->count; i++)
			if (str_is(sig->names[i], key->at))
				break;
		/* What takes any keyword has no names for what is given by position. */
		if (i < sig->count && !is_null(slots[i]) && sig->double_star >= 0)
			i = sig->count;
		if (i < sig->count && (int)i != sig->star && (int)i != sig->double_star) {
			if (!is_null(slots[i])) {
				rp_raise(vm, TY_TypeError,
				         "%s() got multiple values for argument '%s'", fn->name->at,
				         key->at);
				return false;
			}
			slots[i] = ref(e->value);
		} else if (sig->double_star >= 0) {
			if (is_null(slots[sig->double_star]))
				slots[sig->double_star] = val_obj(dict_new(vm));
			dict_put(vm, AS(dict, slots[sig->double_star]), e->key, e->value);
		} else {
			rp_raise(vm, TY_TypeError, "%s() got an unexpected keyword argument '%s'",
			         fn->name->at, key->at);
			return false;
		}
	}
	return true;
}

static bool native_bind(struct vm *vm, struct native *fn, struct val *slots, struct val *a,
                        uint32_t n, struct dict *kw)
{
	struct native_sig *sig = fn->parsed;
	uint32_t plain = n < sig->positional ? n : sig->positional;

	for (uint32_t i = 0; i < plain; i++)
		slots[i] = ref(a[i]);
	if (sig->star >= 0)
		slots[sig->star] = tuple_of(vm, a + plain, n - plain);
	else if (n > plain) {
		rp_raise(vm, TY_TypeError, "%s() takes at most %u arguments (%u given)",
		         fn->name->at, sig->positional, n);
		return false;
	}
	if (kw && kw->count && !native_keywords(vm, fn, slots, kw))
		return false;
	for (uint32_t i = 0; i < sig->required; i++) {
		if (is_null(slots[i]) && (int)i != sig->double_star) {
			rp_raise(vm, TY_TypeError, "%s() missing required argument '%s' (pos %u)",
			         fn->name->at, sig->names[i]->at, i + 1);
			return false;
		}
	}
	return true;
}

/* Stack of running natives, so that one function can serve many names. */
struct native_call {
	struct native *fn;
	struct native_call *outer;
};

struct native *native_running(struct vm *vm)
{
	return ((struct native_call *)vm->native_stack)->fn;
}

/* What makes instances makes them of its own kind. */
static bool fits_class(struct vm *vm, const struct native *fn, struct val v)
{
	if (!is_kind(v, K_CLASS))
		rp_raise(vm, TY_TypeError, "%s.%s(X): X is not a type object (%s)",
		         fn->owner->name->at, fn->name->at, type_name(vm, v));
	else if (fn->name == vm->n[PN_new] && fn->owner != vm->t[TY_object] &&
	         (!cls_is(AS(cls, v), fn->owner) || AS(cls, v)->layout != fn->owner->layout))
		rp_raise(vm, TY_TypeError, "%s.__new__(%s): %s is not a subtype of %s",
		         fn->owner->name->at, AS(cls, v)->name->at, AS(cls, v)->name->at,
		         fn->owner->name->at);
	return is_null(vm->exc);
}

/* A method of a built-in type that is called on something else: list.append(5, 1). */
static bool fits_owner(struct vm *vm, struct native *fn, struct val *a, uint32_t n)
{
	if (!fn->owner || !n)
		return true;
	if (!fn->parsed->of_self)
		return !fn->parsed->of_class || fits_class(vm, fn, a[0]);
	if (cls_is(type_of(vm, a[0]), fn->owner))
		return true;
	rp_raise(vm, TY_TypeError,
	         "descriptor '%s' for '%s' objects doesn't apply to a '%s' object", fn->name->at,
	         fn->owner->name->at, type_name(vm, a[0]));
	return false;
}

/* Whether the arguments are the parameters as they stand. */
static bool fits_exactly(const struct native_sig *sig, uint32_t n, const struct dict *kw)
{
	return n == sig->count && n == sig->positional && sig->star < 0 && sig->double_star < 0 &&
	       (!kw || !kw->count);
}

static struct val native_sorted(struct vm *vm, struct native *fn, struct val *a, uint32_t n,
                                struct dict *kw)
{
	struct val slots[NATIVE_MAX_PARAMS], result = val_null();

	for (uint32_t i = 0; i < fn->parsed->count; i++)
		slots[i] = val_null();
	if (native_bind(vm, fn, slots, a, n, kw))
		result = fn->def->fn(vm, slots, fn->parsed->count);
	for (uint32_t i = 0; i < fn->parsed->count; i++)
		unref(vm, slots[i]);
	return result;
}

static bool any_unknown(const struct val *a, uint32_t n, const struct dict *kw)
{
	uint32_t at = 0;
	const struct dict_entry *e;

	for (uint32_t i = 0; i < n; i++)
		if (is_kind(a[i], K_UNKNOWN))
			return true;
	while (kw && (e = dict_next(kw, &at)))
		if (is_kind(e->value, K_UNKNOWN))
			return true;
	return false;
}

struct val stood_in(struct vm *vm, const struct str *function)
{
	exc_clear(vm);
	vm_stand_in(vm, "%s()", function->at);
	return vm->halt ? val_null() : unknown_new(vm, "%s()", function->at);
}

static struct val native_run(struct vm *vm, struct native *fn, struct val *a, uint32_t n,
                             struct dict *kw)
{
	struct val result = val_null();
	struct native_call here = {fn, vm->native_stack};

	if (!vm_work(vm, 1))
		return val_null();
	vm->native_stack = &here;
	if (!fn->def->sig) {
		if (kw && kw->count)
			result = rp_raise(vm, TY_TypeError, "%s() takes no keyword arguments",
			                  fn->name->at);
		else
			result = fn->def->fn(vm, a, n);
		vm->native_stack = here.outer;
		return result;
	}
	if (!fn->parsed)
		fn->parsed = sig_parse(vm, fn->def->sig);
	if (fits_owner(vm, fn, a, n))
		result = fits_exactly(fn->parsed, n, kw) ? fn->def->fn(vm, a, n)
		                                         : native_sorted(vm, fn, a, n, kw);
	vm->native_stack = here.outer;
	return result;
}

/* An exception is set; what was made before something went wrong goes. */
static struct val native_failed(struct vm *vm, const struct native *fn, struct val result,
                                struct val *a, uint32_t n, struct dict *kw)
{
	if (is_null(result) && !vm->halt && exc_is(vm, TY_TypeError) && any_unknown(a, n, kw) &&
	    vm->frame && !vm->frame->code->library)
		return stood_in(vm, fn->name);
	unref(vm, result);
	return val_null();
}

static struct val native_call(struct vm *vm, struct native *fn, struct val *a, uint32_t n,
                              struct dict *kw)
{
	const struct val result = native_run(vm, fn, a, n, kw);

	return is_null(vm->exc) ? result : native_failed(vm, fn, result, a, n, kw);
}

/* --- Python functions */

static struct val *param_place(struct frame *f, uint32_t param)
{
	struct val *slot = &f->slots[f->code->params[param].slot];

	return is_kind(*slot, K_CELL) &&
	                       f->code->func->slots.at[f->code->params[param].slot].kind ==
	                               SLOT_CELL
	               ? &AS(cell, *slot)->value
	               : slot;
}

static bool is_positional_only(const struct code *code, const struct str *name)
{
	for (uint32_t i = 0; i < code->nparams; i++)
		if (code->params[i].kind == PARAM_POSITIONAL_ONLY &&
		    str_is(code->params[i].name, name->at))
			return true;
	return false;
}

static bool bind_keywords(struct vm *vm, struct frame *f, struct dict *kw, struct dict *rest)
{
	struct code *code = f->code;
	uint32_t at = 0, i;
	struct dict_entry *e;

	while ((e = dict_next(kw, &at))) {
		struct str *key = AS(str, e->key);

		for (i = 0; i < code->nparams; i++)
			if (code->params[i].kind != PARAM_POSITIONAL_ONLY &&
			    (int)i != code->star_param && (int)i != code->double_star_param &&
			    (code->params[i].name == key || str_is(code->params[i].name, key->at)))
				break;
		if (i < code->nparams) {
			if (!is_null(*param_place(f, i))) {
				rp_raise(vm, TY_TypeError,
				         "%s() got multiple values for argument '%s'",
				         code->qualified->at, key->at);
				return false;
			}
			*param_place(f, i) = ref(e->value);
		} else if (rest) {
			dict_put(vm, rest, e->key, e->value);
		} else {
			rp_raise(vm, TY_TypeError,
			         is_positional_only(code, key)
			                 ? "%s() got some positional-only arguments passed as "
			                   "keyword arguments: '%s'"
			                 : "%s() got an unexpected keyword argument '%s'",
			         code->qualified->at, key->at);
			return false;
		}
	}
	return true;
}

static bool is_missing_param(struct frame *f, const struct function *fn, uint32_t i, bool keyword)
{
	const struct code *code = f->code;

	return is_null(*param_place(f, i)) && (int)i != code->star_param &&
	       (int)i != code->double_star_param &&
	       (code->params[i].kind == PARAM_KEYWORD_ONLY) == keyword &&
	       (!fn->defaults || is_null(fn->defaults[i]));
}

/* All that are missing, and not only the first. */
static void raise_missing(struct vm *vm, struct frame *f, const struct function *fn, bool keyword)
{
	struct arena scratch = {0};
	struct text names = {.arena = &scratch};
	uint32_t count = 0, at = 0;

	for (uint32_t i = 0; i < f->code->nparams; i++)
		count += is_missing_param(f, fn, i, keyword);
	for (uint32_t i = 0; i < f->code->nparams; i++) {
		if (!is_missing_param(f, fn, i, keyword))
			continue;
		if (at++)
			text_add_chars(&names, count == 2    ? " and "
			                       : at == count ? ", and "
			                                     : ", ");
		text_print(&names, "'%s'", f->code->params[i].name->at);
	}
	rp_raise(vm, TY_TypeError, "%s() missing %u required %s argument%s: %s",
	         f->code->qualified->at, count, keyword ? "keyword-only" : "positional",
	         count == 1 ? "" : "s", text_chars(&names));
	arena_release(&scratch);
}

static bool bind_defaults(struct vm *vm, struct frame *f, struct function *fn)
{
	struct code *code = f->code;

	for (uint32_t i = 0; i < code->nparams; i++) {
		struct val *place = param_place(f, i);

		if (!is_null(*place) || (int)i == code->star_param ||
		    (int)i == code->double_star_param)
			continue;
		if (!fn->defaults || is_null(fn->defaults[i])) {
			raise_missing(vm, f, fn, code->params[i].kind == PARAM_KEYWORD_ONLY);
			return false;
		}
		*place = ref(fn->defaults[i]);
	}
	return true;
}

static bool bind_params(struct vm *vm, struct frame *f, struct function *fn, struct val *a,
                        uint32_t n, struct dict *kw)
{
	struct code *code = f->code;
	uint32_t plain = n < code->npositional ? n : code->npositional;
	struct dict *rest = NULL;

	for (uint32_t i = 0; i < plain; i++)
		*param_place(f, i) = ref(a[i]);
	if (code->star_param >= 0) {
		*param_place(f, (uint32_t)code->star_param) = tuple_of(vm, a + plain, n - plain);
	} else if (n > plain) {
		rp_raise(vm, TY_TypeError, "%s() takes %u positional argument%s but %u %s given",
		         code->qualified->at, code->npositional, code->npositional == 1 ? "" : "s",
		         n, n == 1 ? "was" : "were");
		return false;
	}
	if (code->double_star_param >= 0) {
		rest = dict_new(vm);
		*param_place(f, (uint32_t)code->double_star_param) = val_obj(rest);
	}
	if (kw && kw->count && !bind_keywords(vm, f, kw, rest))
		return false;
	return bind_defaults(vm, f, fn);
}

struct frame *frame_for_call(struct vm *vm, struct function *fn, struct val *a, uint32_t n,
                             struct dict *kw)
{
	struct frame *f = frame_new(vm, fn->code, fn->module);

	f->fn = fn;
	fn->h.refs++;
	for (uint32_t i = 0; fn->captured && i < fn->code->nslots; i++)
		if (!is_null(fn->captured[i]))
			f->slots[i] = ref(fn->captured[i]);
	if (bind_params(vm, f, fn, a, n, kw))
		return f;
	unref_obj(vm, f);
	return NULL;
}

static struct val function_call(struct vm *vm, struct function *fn, struct val *a, uint32_t n,
                                struct dict *kw)
{
	struct frame *f = frame_for_call(vm, fn, a, n, kw);

	if (!f)
		return val_null();
	if (fn->code->func->is_generator || fn->code->func->is_async) {
		struct generator *g = rp_new(vm, K_GENERATOR, vm->t[TY_generator], sizeof(*g));

		g->frame = f;
		f->generator = g;
		return val_obj(g);
	}
	return frame_run(vm, f);
}

/* --- classes */

static bool is_object_init(struct vm *vm, struct val init)
{
	return is_null(init) ||
	       (is_kind(init, K_NATIVE) && AS(native, init)->owner == vm->t[TY_object]);
}

static struct val run_init(struct vm *vm, struct cls *cls, struct val made, struct val *a,
                           uint32_t n, struct dict *kw)
{
	struct val init = cls_find(vm, cls, vm->n[PN_init]), few[9], *all = few, result;

	if (is_object_init(vm, init))
		return made;
	if (n > 8)
		all = checked_alloc(n + 1, sizeof(*all));
	all[0] = made;
	if (n)
		memcpy(all + 1, a, n * sizeof(*a));
	if (is_kind(init, K_FUNCTION) || is_kind(init, K_NATIVE)) {
		result = rp_call(vm, init, all, n + 1, kw);
	} else {
		struct val bound = bind(vm, init, made, cls);

		result = rp_call(vm, bound, a, n, kw);
		unref(vm, bound);
	}
	if (all != few)
		free(all);
	if (is_null(result)) {
		unref(vm, made);
		return val_null();
	}
	unref(vm, result);
	return made;
}

static struct val opaque_instance(struct vm *vm, struct cls *cls)
{
	struct obj *o = rp_new(vm, K_INSTANCE, cls, sizeof(*o));

	vm_stand_in(vm, "%s()", cls->name->at);
	return val_obj(o);
}

struct val instantiate(struct vm *vm, struct cls *cls, struct val *a, uint32_t n, struct dict *kw)
{
	struct val new = cls_find(vm, cls, vm->n[PN_new]), made, *all;
	bool plain = is_kind(new, K_NATIVE) && AS(native, new)->owner == vm->t[TY_object];

	/* What runs by itself may be a method of one. */
	if ((cls->flags & (CLS_ABSTRACT | CLS_OPAQUE)) == CLS_ABSTRACT && !vm->forgiving)
		return class_refuse(vm, cls);
	if (plain) {
		struct val init = cls_find(vm, cls, vm->n[PN_init]);

		if ((n || (kw && kw->count)) && is_object_init(vm, init)) {
			if (cls->flags & CLS_OPAQUE)
				return opaque_instance(vm, cls);
			return rp_raise(vm, TY_TypeError, "%s() takes no arguments", cls->name->at);
		}
		made = val_obj(rp_new(vm, K_INSTANCE, cls, sizeof(struct obj)));
		return run_init(vm, cls, made, a, n, kw);
	}
	if (is_kind(new, K_DESCRIPTOR))
		new = AS(descriptor, new)->get;
	all = checked_alloc(n + 1, sizeof(*all));
	all[0] = val_obj(cls);
	if (n)
		memcpy(all + 1, a, n * sizeof(*a));
	made = rp_call(vm, new, all, n + 1, kw);
	free(all);
	if (is_null(made) || !cls_is(type_of(vm, made), cls) ||
	    (is_kind(made, K_CLASS) && is_kind(cls_find(vm, cls, vm->n[PN_init]), K_NATIVE)))
		return made;
	return run_init(vm, type_of(vm, made), made, a, n, kw);
}

static struct val class_call(struct vm *vm, struct cls *cls, struct val *a, uint32_t n,
                             struct dict *kw)
{
	struct val call, result;

	if (cls == vm->t[TY_type] && n == 1 && is_kind(a[0], K_UNKNOWN))
		return unknown_new(vm, "type of %s", AS(unknown, a[0])->what->at);
	if (cls == vm->t[TY_type] && n == 1)
		return ref_obj(type_of(vm, a[0]));
	call = cls->meta ? special_own(vm, val_obj(cls), PN_call) : val_null();
	if (!is_null(vm->exc))
		return val_null();
	if (is_null(call))
		return instantiate(vm, cls, a, n, kw);
	result = rp_call(vm, call, a, n, kw);
	unref(vm, call);
	return result;
}

/* --- anything */

struct val rp_call_bound(struct vm *vm, struct val fn, struct val self, struct val *a, uint32_t n,
                         struct dict *kw)
{
	struct val few[9], *all = few, result;

	if (n > 8)
		all = checked_alloc(n + 1, sizeof(*all));
	ref(fn);
	all[0] = ref(self);
	if (n)
		memcpy(all + 1, a, n * sizeof(*a));
	result = rp_call(vm, fn, all, n + 1, kw);
	unref(vm, all[0]);
	unref(vm, fn);
	if (all != few)
		free(all);
	return result;
}

static struct val instance_call(struct vm *vm, struct val fn, struct val *a, uint32_t n,
                                struct dict *kw)
{
	struct val call = cls_find(vm, type_of(vm, fn), vm->n[PN_call]), result;

	if (binds_self(call))
		return rp_call_bound(vm, call, fn, a, n, kw);
	call = is_null(call) ? call : bind(vm, call, fn, type_of(vm, fn));
	if (!is_null(call)) {
		result = rp_call(vm, call, a, n, kw);
		unref(vm, call);
		return result;
	}
	if (!is_null(vm->exc))
		return val_null();
	if (fn.tag == PY_OBJECT && vm->kinds[fn.as.o->kind].call)
		return vm->kinds[fn.as.o->kind].call(vm, fn, a, n, kw);
	if (fn.tag == PY_OBJECT && fn.as.o->cls && (fn.as.o->cls->flags & CLS_OPAQUE))
		return unknown_call(vm, fn, a, n, kw);
	return rp_raise(vm, TY_TypeError, "'%s' object is not callable", type_name(vm, fn));
}

struct val rp_call(struct vm *vm, struct val fn, struct val *a, uint32_t n, struct dict *kw)
{
	struct val result;

	if (vm->halt)
		return val_null();
	if (vm->native_depth >= PY_NATIVE_DEPTH * 4)
		return rp_raise(vm, TY_RecursionError, "maximum recursion depth exceeded");
	vm->native_depth++;
	if (is_none(fn) && vm->forgiving) {
		result = unknown_call(vm, fn, a, n, kw);
	} else if (fn.tag != PY_OBJECT) {
		result = rp_raise(vm, TY_TypeError, "'%s' object is not callable",
		                  type_name(vm, fn));
	} else {
		switch ((enum rp_kind)fn.as.o->kind) {
		case K_FUNCTION:
			result = function_call(vm, AS(function, fn), a, n, kw);
			break;
		case K_NATIVE:
			result = native_call(vm, AS(native, fn), a, n, kw);
			break;
		case K_METHOD:
			result = rp_call_bound(vm, AS(method, fn)->fn, AS(method, fn)->self, a, n,
			                       kw);
			break;
		case K_CLASS:
			result = class_call(vm, AS(cls, fn), a, n, kw);
			break;
		case K_UNKNOWN:
			result = unknown_call(vm, fn, a, n, kw);
			break;
		case K_DESCRIPTOR:
			result = rp_call(vm, AS(descriptor, fn)->get, a, n, kw);
			break;
		default:
			result = instance_call(vm, fn, a, n, kw);
		}
	}
	vm->native_depth--;
	return result;
}

struct val rp_call0(struct vm *vm, struct val fn)
{
	return rp_call(vm, fn, NULL, 0, NULL);
}

struct val rp_call1(struct vm *vm, struct val fn, struct val a)
{
	return rp_call(vm, fn, &a, 1, NULL);
}

struct val rp_call2(struct vm *vm, struct val fn, struct val a, struct val b)
{
	struct val both[2] = {a, b};

	return rp_call(vm, fn, both, 2, NULL);
}

struct val rp_call_method(struct vm *vm, struct val o, const char *name, struct val *a, uint32_t n)
{
	struct val fn = rp_attr_chars(vm, o, name), result;

	if (is_null(fn))
		return fn;
	result = rp_call(vm, fn, a, n, NULL);
	unref(vm, fn);
	return result;
}
