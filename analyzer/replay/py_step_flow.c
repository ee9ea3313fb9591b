#include <stdio.h>
#include <string.h>

#include "analyzer/replay/py_step.h"

/* --- imports */

static struct val import_from(struct vm *vm, struct val module, struct str *name)
{
	struct val v = rp_attr_find(vm, module, name);
	char full[512];

	if (!is_null(v) || !is_null(vm->exc) || vm->halt)
		return v;
	if (is_kind(module, K_MODULE)) {
		int length = snprintf(full, sizeof(full), "%s.%s", AS(module, module)->name->at,
		                      name->at);

		if (length > 0 && (size_t)length < sizeof(full) &&
		    !is_of_library(AS(module, module))) {
			v = module_import(vm, full, NULL);
			if (!is_null(v))
				return v;
			if (!exc_is(vm, TY_ImportError))
				return v;
			exc_clear(vm);
		}
		if (is_of_library(AS(module, module)))
			return rp_attr(vm, module, name);
		return rp_raise(vm, TY_ImportError, "cannot import name '%s' from '%s'", name->at,
		                AS(module, module)->name->at);
	}
	return rp_raise(vm, TY_ImportError, "cannot import name '%s'", name->at);
}

enum step step_import(struct run *run, struct frame *f, const struct code_inst *in)
{
	struct vm *vm = run->vm;
	struct val module, v;
	bool ok = true;

	if (in->op == OP_import)
		return reg_put(f, in,
		               in->sub == SUB_import_leaf
		                       ? module_import(vm, in->str->at, f->module)
		                       : module_import_top(vm, in->str->at, f->module));
	module = reg_out(f, in, 0);
	if (in->op == OP_import_from) {
		v = import_from(vm, module, in->str);
		unref(vm, module);
		return reg_put(f, in, v);
	}
	if (is_kind(module, K_MODULE))
		ok = module_star(vm, AS(module, module), f->module);
	unref(vm, module);
	return ok ? STEP_NEXT : STEP_RAISE;
}

/* --- with */

enum step step_enter(struct run *run, struct frame *f, const struct code_inst *in)
{
	struct vm *vm = run->vm;
	struct val manager = reg_out(f, in, 0), enter, result;

	if (is_kind(manager, K_UNKNOWN)) {
		result = unknown_enter(vm, AS(unknown, manager));
		slot_set(vm, slot_place(f, in->name), manager);
		return reg_put(f, in, result);
	}
	enter = in->sub == SUB_enter_async
	                ? rp_attr_find(vm, manager, str_intern(vm, "__aenter__", 10))
	                : special_find(vm, manager, PN_enter);
	if (is_null(enter) && is_null(vm->exc)) {
		if (type_of(vm, manager)->flags & CLS_OPAQUE)
			enter = unknown_new(vm, "__enter__");
		else
			rp_raise(vm, TY_TypeError,
			         "'%s' object does not support the context "
			         "manager protocol",
			         type_name(vm, manager));
	}
	if (is_null(enter)) {
		unref(vm, manager);
		return STEP_RAISE;
	}
	slot_set(vm, slot_place(f, in->name), manager);
	result = rp_call0(vm, enter);
	unref(vm, enter);
	if (in->sub == SUB_enter_async && is_kind(result, K_GENERATOR)) {
		result = await_value(vm, result);
	}
	return reg_put(f, in, result);
}

static struct val call_exit(struct vm *vm, struct val manager, struct val *a)
{
	struct val leave = special_find(vm, manager, PN_exit), result;

	if (is_null(leave) && is_null(vm->exc))
		leave = rp_attr_find(vm, manager, str_intern(vm, "__aexit__", 9));
	if (is_null(leave))
		return is_null(vm->exc) ? val_none() : val_null();
	result = rp_call(vm, leave, a, 3, NULL);
	unref(vm, leave);
	if (is_kind(result, K_GENERATOR)) {
		result = await_value(vm, result);
	}
	return result;
}

enum step step_leave(struct run *run, struct frame *f, const struct code_inst *in)
{
	struct vm *vm = run->vm;
	struct val *slot = slot_place(f, in->name), manager = *slot, result;
	struct val a[3] = {val_none(), val_none(), val_none()};
	int swallowed;

	*slot = val_null();
	if (is_null(manager) || is_kind(manager, K_UNKNOWN)) {
		unref(vm, manager);
		return reg_put(f, in,
		               in->sub == SUB_leave_exception ? val_bool(false) : val_none());
	}
	if (in->sub == SUB_leave_exception && f->handled.tag == PY_OBJECT) {
		a[0] = val_obj(f->handled.as.o->cls);
		a[1] = f->handled;
	}
	result = call_exit(vm, manager, a);
	unref(vm, manager);
	if (is_null(result) || in->sub != SUB_leave_exception)
		return reg_put(f, in, result);
	swallowed = is_kind(result, K_UNKNOWN) ? 0 : rp_truth(vm, result);
	unref(vm, result);
	return reg_put(f, in, swallowed < 0 ? val_null() : val_bool(swallowed));
}

/* --- yield and await */

static enum step delegate_done(struct run *run, struct frame *f, struct val result)
{
	slot_set(run->vm, &f->generator->delegate, val_null());
	f->regs[f->dst] = result;
	return STEP_NEXT;
}

enum step delegate_step(struct run *run, struct frame *f, struct val sent)
{
	struct vm *vm = run->vm;
	struct generator *g = f->generator;
	struct val inner = g->delegate, v, result;

	if (is_kind(inner, K_GENERATOR)) {
		v = generator_send(vm, AS(generator, inner), sent);
	} else if (!is_missing(sent)) {
		v = rp_call_method(vm, inner, "send", &sent, 1);
		unref(vm, sent);
	} else {
		v = rp_next(vm, inner);
	}
	if (!is_null(v)) {
		run->result = v;
		return STEP_YIELD;
	}
	if (!is_null(vm->exc) || vm->halt) {
		slot_set(vm, &g->delegate, val_null());
		return STEP_RAISE;
	}
	result = is_kind(inner, K_GENERATOR) && !is_null(AS(generator, inner)->result)
	                 ? ref(AS(generator, inner)->result)
	                 : val_none();
	return delegate_done(run, f, result);
}

enum step step_yield(struct run *run, struct frame *f, const struct code_inst *in)
{
	struct vm *vm = run->vm;
	struct val v = reg_out(f, in, 0), it;

	if (!f->generator) {
		unref(vm, v);
		rp_raise(vm, TY_RuntimeError, "yield outside a generator");
		return STEP_RAISE;
	}
	f->dst = in->dst;
	f->line = 0;
	if (in->sub != SUB_yield_from) {
		run->result = v;
		return STEP_YIELD;
	}
	it = rp_iter(vm, v);
	unref(vm, v);
	if (is_null(it))
		return STEP_RAISE;
	slot_set(vm, &f->generator->delegate, it);
	return delegate_step(run, f, val_none());
}

/* Coroutines run to their end at the first await: nothing else is running. */
struct val await_value(struct vm *vm, struct val v)
{
	struct val hook, step;

	if (!is_kind(v, K_GENERATOR) && !is_kind(v, K_UNKNOWN)) {
		hook = special_find(vm, v, PN_await);
		if (is_null(hook))
			return v;
		step = rp_call0(vm, hook);
		unref(vm, hook);
		unref(vm, v);
		v = step;
	}
	if (!is_kind(v, K_GENERATOR))
		return v;
	while (!is_null(step = generator_send(vm, AS(generator, v), val_none())))
		unref(vm, step);
	if (is_null(vm->exc) && !vm->halt)
		step = is_null(AS(generator, v)->result) ? val_none()
		                                         : ref(AS(generator, v)->result);
	unref(vm, v);
	return step;
}

enum step step_await(struct run *run, struct frame *f, const struct code_inst *in)
{
	return reg_put(f, in, await_value(run->vm, reg_out(f, in, 0)));
}
