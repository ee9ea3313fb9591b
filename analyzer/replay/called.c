/* A function that nothing in the program calls: what its name stands for is called, an
 * instance is made for it, and its arguments are stood in for. A function of autograd is
 * applied to tensors, and a backward runs. */

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/bug.h"
#include "analyzer/replay/measure.h"

enum { MOST_DECORATORS = 4 };

/* A default that stands for what callers would give. */
static bool is_example(struct val v)
{
	return v.tag == PY_INT || is_kind(v, K_STR) || is_kind(v, K_LIST) || is_kind(v, K_TUPLE);
}

/* The script's own object of that name, or something that nothing is known of. */
static struct val argument_for(struct vm *vm, const struct function *fn, struct str *name)
{
	struct val global = dict_get_str(vm, fn->module->ns, name);

	vm_stand_in(vm, "argument %s", name->at);
	return is_kind(global, K_INSTANCE) ? ref(global) : unknown_new(vm, "%s", name->at);
}

/* --- operands of a function of autograd */

static bool is_tensor_parameter(struct vm *vm, const struct function *fn, uint32_t i)
{
	const sym_id written = fn->code->func->params.at[i].annotation;

	return written.n && strstr(intern_chars(vm->names, written, NULL), "Tensor");
}

/* As it turned out to be in the call before. */
static struct val operand_for(struct vm *vm, const struct called *c, uint32_t i)
{
	struct ag_tensor *known, *made;

	if (is_null(c->operands[i]))
		return argument_for(vm, c->fn, c->fn->code->params[i].name);
	known = tensor_of(c->operands[i]);
	made = ag_tensor_new(ctx_of(vm), ag_dtype(known), ag_ndim(known), ag_shape(known), NULL);
	if (made && ag_dtype_is_float(ag_dtype(made)))
		ag_set_requires_grad(ctx_of(vm), made, true);
	return torch_wrap(vm, made);
}

/* Which of them were tensors; one is. */
static void note_operands(struct vm *vm, struct called *c, const struct list *args)
{
	bool any = false;

	for (uint32_t i = 0; i < args->count; i++) {
		const uint32_t parameter = c->first + i;
		struct unknown *u = is_kind(args->at[i], K_UNKNOWN)
		                            ? unknown_root(AS(unknown, args->at[i]))
		                            : NULL;

		if (u && is_tensor_parameter(vm, c->fn, parameter))
			unknown_to_tensors(vm, args->at[i], 0);
		any |= !u || is_kind(u->same, K_TENSOR);
		if (u && is_kind(u->same, K_TENSOR))
			slot_set(vm, &c->operands[parameter], ref(u->same));
	}
	if (any || !args->count || !is_kind(args->at[0], K_UNKNOWN))
		return;
	unknown_to_tensors(vm, args->at[0], 0);
	slot_set(vm, &c->operands[c->first], ref(unknown_root(AS(unknown, args->at[0]))->same));
}

/* A default that is an example, or stands for a tensor that may be left out. */
static bool keeps_default(struct vm *vm, const struct called *c, uint32_t i)
{
	const struct val given = c->fn->defaults ? c->fn->defaults[i] : val_null();

	return !is_null(given) && !(vm->healing && is_example(given)) &&
	       !(c->applied && is_tensor_parameter(vm, c->fn, i));
}

struct val called_call(struct vm *vm, struct called *c)
{
	struct list *args = list_new(vm, 4);
	struct dict *kw = dict_new(vm);
	struct val result;

	for (uint32_t i = c->first; i < c->fn->code->nparams; i++) {
		struct code_param *p = &c->fn->code->params[i];
		struct val v;

		if (p->kind == PARAM_VAR_POSITIONAL || p->kind == PARAM_VAR_KEYWORD)
			continue;
		if (i == 0 && !is_null(c->self)) {
			list_push(vm, args, ref(c->self));
			continue;
		}
		if (keeps_default(vm, c, i))
			continue;
		v = c->applied ? operand_for(vm, c, i) : argument_for(vm, c->fn, p->name);
		if (p->kind == PARAM_KEYWORD_ONLY)
			dict_put_str(vm, kw, p->name, v), unref(vm, v);
		else
			list_push(vm, args, v);
	}
	result = rp_call(vm, c->callee, args->at, args->count, kw);
	if (c->applied && !is_null(result)) {
		note_operands(vm, c, args);
		torch_framework_backward(vm, result);
	}
	unref_obj(vm, args);
	unref_obj(vm, kw);
	return result;
}

/* Whether it is the function, or made around it: a decorator's result. */
static bool is_around(struct vm *vm, struct val v, const struct function *fn, int depth)
{
	const struct function *outer = is_kind(v, K_FUNCTION) ? AS(function, v) : NULL;
	struct val inner;

	if (v.tag != PY_OBJECT || v.as.o == &fn->h || depth == MOST_DECORATORS)
		return v.tag == PY_OBJECT && v.as.o == &fn->h;
	if (is_kind(v, K_DESCRIPTOR))
		return is_around(vm, AS(descriptor, v)->get, fn, depth + 1);
	inner = v.as.o->attrs ? dict_get_str(vm, v.as.o->attrs, vm->n[PN_wrapped]) : val_null();
	if (!is_null(inner))
		return is_around(vm, inner, fn, depth + 1);
	for (uint32_t i = 0; outer && outer->captured && i < outer->code->nslots; i++)
		if (is_kind(outer->captured[i], K_CELL) &&
		    is_around(vm, AS(cell, outer->captured[i])->value, fn, depth + 1))
			return true;
	return false;
}

static bool finds_in(struct vm *vm, struct dict *ns, const struct function *fn, struct val *found)
{
	*found = ns ? dict_get_str(vm, ns, fn->name) : val_null();
	return is_around(vm, *found, fn, 0);
}

/* The class whose namespace holds the function, for an instance to call it on. */
static struct cls *class_of_function(struct vm *vm, const struct function *fn, struct val *found)
{
	for (struct obj *o = vm->first.next; o != &vm->first; o = o->next)
		if (o->kind == K_CLASS && finds_in(vm, ((struct cls *)(void *)o)->ns, fn, found))
			return (struct cls *)(void *)o;
	return NULL;
}

static struct val instance_for(struct vm *vm, struct cls *cls)
{
	struct val init = cls_find(vm, cls, vm->n[PN_init]), self;
	struct val made = val_obj(rp_new(vm, K_INSTANCE, cls, sizeof(struct obj)));

	for (struct obj *o = vm->first.next; o != &vm->first; o = o->next) {
		if (o->kind == K_INSTANCE && o->cls == cls && o != made.as.o && o->refs) {
			unref(vm, made);
			return ref_obj(o);
		}
	}
	cls->flags |= CLS_OPAQUE;
	if (!is_kind(init, K_FUNCTION))
		return made;
	self = called_call(
	        vm, &(struct called){.fn = AS(function, init), .callee = init, .self = made});
	if (is_null(self) && !vm->halt)
		exc_clear(vm);
	unref(vm, self);
	return made;
}

/* --- functions of autograd */

static bool is_autograd_function(const struct cls *cls)
{
	for (uint32_t i = 0; cls && i < cls->mro_count; i++)
		if (cls->mro[i]->flags & CLS_LIBRARY && str_is(cls->mro[i]->name, "Function"))
			return true;
	return false;
}

/* They are applied, again and again, to tensors. */
static void apply_instead(struct vm *vm, struct cls *cls, struct called *c)
{
	const bool sets_up =
	        !is_null(dict_get_str(vm, cls->ns, str_intern(vm, "setup_context", 13)));
	struct val forward = dict_get_str(vm, cls->ns, str_intern(vm, "forward", 7)), apply;

	if (is_kind(forward, K_DESCRIPTOR))
		forward = AS(descriptor, forward)->get;
	apply = is_kind(forward, K_FUNCTION) ? rp_attr_chars(vm, val_obj(cls), "apply")
	                                     : val_null();
	if (is_null(apply)) {
		exc_clear(vm);
		return;
	}
	c->fn = AS(function, forward);
	slot_set(vm, &c->callee, apply);
	c->applied = true;
	c->first = !sets_up;
	c->operands = checked_alloc(c->fn->code->nparams + 1, sizeof(*c->operands));
	for (uint32_t i = 0; i <= c->fn->code->nparams; i++)
		c->operands[i] = val_null();
}

struct called called_open(struct vm *vm, struct function *fn)
{
	struct called c = {.fn = fn, .callee = val_obj(fn)};
	struct val found;
	struct cls *cls = class_of_function(vm, fn, &found);
	const struct descriptor *d =
	        cls && is_kind(found, K_DESCRIPTOR) ? AS(descriptor, found) : NULL;

	if (d)
		c.callee = d->get;
	else if (cls || finds_in(vm, fn->module->ns, fn, &found))
		c.callee = found;
	ref(c.callee);
	if (is_autograd_function(cls))
		apply_instead(vm, cls, &c);
	else if (d && d->what == DESC_CLASSMETHOD)
		c.self = ref_obj(cls);
	else if (cls && !(d && d->what == DESC_STATICMETHOD))
		c.self = instance_for(vm, cls);
	c.fn->h.refs++;
	return c;
}

void called_close(struct vm *vm, struct called *c)
{
	for (uint32_t i = 0; c->operands && i < c->fn->code->nparams; i++)
		unref(vm, c->operands[i]);
	free(c->operands);
	unref(vm, c->self);
	unref(vm, c->callee);
	unref_obj(vm, c->fn);
}
