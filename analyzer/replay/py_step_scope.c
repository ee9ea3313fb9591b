#include "analyzer/replay/py_step.h"

struct val *slot_place(struct frame *f, uint32_t slot)
{
	enum slot_kind kind = f->code->func->slots.at[slot].kind;
	struct val *place = &f->slots[slot];

	if ((kind == SLOT_CELL || kind == SLOT_FREE) && is_kind(*place, K_CELL))
		return &AS(cell, *place)->value;
	return place;
}

static enum step unbound(struct run *run, struct frame *f, uint32_t slot)
{
	const struct ir_slot *s = &f->code->func->slots.at[slot];
	const char *name = code_slot_name(run->vm, f->code, slot)->at;

	if (run->vm->forgiving) {
		vm_stand_in(run->vm, "%s", name);
		slot_set(run->vm, slot_place(f, slot), unknown_new(run->vm, "%s", name));
		return STEP_NEXT;
	}
	if (s->kind == SLOT_FREE)
		rp_raise(run->vm, TY_NameError,
		         "cannot access free variable '%s' where it is not "
		         "associated with a value in enclosing scope",
		         name);
	else
		rp_raise(run->vm, TY_UnboundLocalError,
		         "cannot access local variable '%s' where it "
		         "is not associated with a value",
		         name);
	return STEP_RAISE;
}

struct val load_global(struct vm *vm, struct module *module, struct str *name)
{
	struct val v = module_own(vm, module, name);

	if (!is_null(v))
		return ref(v);
	/* Before the library's own definitions, which have to be searched for. */
	v = module_own(vm, vm->builtins, name);
	if (!is_null(v))
		return ref(v);
	v = module_defined(vm, module, name);
	if (!is_null(v) || !is_null(vm->exc))
		return v;
	/* Library code uses its module's native half by name. */
	v = module->native || module->library ? module_attr(vm, module, name) : val_null();
	if (!is_null(v) || !is_null(vm->exc))
		return v;
	v = builtin_late(vm, name);
	if (!is_null(v) || !is_null(vm->exc))
		return v;
	if (module->opaque_names) {
		vm_stand_in(vm, "%s", name->at);
		return unknown_new(vm, "%s", name->at);
	}
	return rp_raise(vm, TY_NameError, "name '%s' is not defined", name->at);
}

enum step step_load(struct run *run, struct frame *f, const struct code_inst *in)
{
	struct val *place, v;

	switch ((int)in->sub) {
	case SUB_scope_slot:
		place = slot_place(f, in->name);
		if (is_null(*place) && unbound(run, f, in->name) == STEP_RAISE)
			return STEP_RAISE;
		return reg_put(f, in, ref(*place));
	case SUB_scope_take:
		place = slot_place(f, in->name);
		v = *place;
		*place = val_null();
		/* What was never stored on this path is dropped unseen. */
		return reg_put(f, in, is_null(v) ? val_none() : v);
	case SUB_scope_name:
		v = f->ns ? dict_get_str(run->vm, f->ns, in->str) : val_null();
		if (!is_null(v))
			return reg_put(f, in, ref(v));
		return reg_put(f, in, load_global(run->vm, f->module, in->str));
	default:
		return reg_put(f, in, load_global(run->vm, f->module, in->str));
	}
}

enum step step_store(struct run *run, struct frame *f, const struct code_inst *in)
{
	struct val v = reg_out(f, in, 0);

	switch ((int)in->sub) {
	case SUB_scope_slot:
	case SUB_scope_take:
		slot_set(run->vm, slot_place(f, in->name), v);
		return STEP_NEXT;
	case SUB_scope_name:
		if (f->ns && f->ns->h.cls != run->vm->t[TY_dict]) {
			bool done = rp_set_item(run->vm, val_obj(f->ns), val_obj(in->str), v);

			unref(run->vm, v);
			return done ? STEP_NEXT : STEP_RAISE;
		}
		dict_put_str(run->vm, f->ns ? f->ns : f->module->ns, in->str, v);
		break;
	default:
		dict_put_str(run->vm, f->module->ns, in->str, v);
	}
	unref(run->vm, v);
	return STEP_NEXT;
}

enum step step_delete(struct run *run, struct frame *f, const struct code_inst *in)
{
	struct dict *ns = in->sub == SUB_scope_name && f->ns ? f->ns : f->module->ns;
	struct val *place;

	if (in->sub == SUB_scope_slot || in->sub == SUB_scope_take) {
		place = slot_place(f, in->name);
		if (is_null(*place) && f->code->func->slots.at[in->name].kind != SLOT_HIDDEN)
			return unbound(run, f, in->name);
		slot_set(run->vm, place, val_null());
		return STEP_NEXT;
	}
	if (dict_remove(run->vm, ns, val_obj(in->str), NULL) > 0)
		return STEP_NEXT;
	rp_raise(run->vm, TY_NameError, "name '%s' is not defined", in->str->at);
	return STEP_RAISE;
}
