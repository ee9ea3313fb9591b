/* Reading and binding of variables; what they carry from step to step. */

#include "analyzer/facts/exec.h"

#include <string.h>

static value_id builtin_name(struct analysis *a, sym_id name)
{
	char dotted[128];
	size_t length;
	const char *text = intern_chars(a->names, name, &length);

	if (length + 10 >= sizeof(dotted))
		return value_flags(a, V_CLEAN);
	memcpy(dotted, "builtins.", 9);
	memcpy(dotted + 9, text, length + 1);
	return value_of(a, external_object(a, intern_text(a->names, dotted, length + 9)));
}

static value_id load_global(struct analysis *a, struct activation *act, struct state *state,
                            sym_id name)
{
	object_id globals = namespace_object(a, act->file);
	value_id value = {0};

	if (act->names.n != 0 && act->names.n != globals.n)
		value = field_get(object_read(state, act->names), name.n);
	if (value.n == 0)
		value = field_get(object_read(state, globals), name.n);
	value = value_without(a, value, V_UNBOUND);
	return value.n ? value : builtin_name(a, name);
}

value_id do_load(struct analysis *a, struct activation *act, struct state *state,
                 const struct ir_inst *inst)
{
	value_id value;

	if (inst->sub == SUB_scope_slot || inst->sub == SUB_scope_take)
		value = slot_read(a, act, state, inst->name);
	else
		value = load_global(a, act, state, (sym_id){inst->name});
	value = force_import(a, act, state, value_without(a, value, V_UNBOUND));
	if (inst->sub == SUB_scope_take)
		slot_write(a, act, state, inst->name, (value_id){0});
	return value;
}

bool variable_lives(const struct analysis *a, const struct flow_live *live,
                    const struct ir_func *func, loop_id loop, struct variable variable)
{
	(void)a;
	if (variable.slot == 0)
		return variable.name.n == 0 || flow_name_lives(live, loop, variable.name);
	if (func->slots.at[variable.slot].kind != SLOT_LOCAL)
		return func->slots.at[variable.slot].kind != SLOT_HIDDEN;
	return flow_slot_lives(live, loop, variable.slot);
}

/* Does what it holds at the start of an enclosing loop matter in it? */
static bool lives_across_iterations(const struct analysis *a, const struct activation *act,
                                    block_id block, struct variable variable)
{
	loop_id loop = act->func->blocks.at[block.n].loop;

	if (loop.n == 0) /* carried by the callers' loops, if at all */
		return variable.slot == 0 || act->func->slots.at[variable.slot].kind != SLOT_LOCAL;
	for (; loop.n != 0; loop = act->func->loops.at[loop.n].parent)
		if (variable_lives(a, act->live, act->func, loop, variable))
			return true;
	return false;
}

bool target_is_carried(const struct analysis *a, const struct activation *act, uint32_t inst)
{
	const struct ir_inst *op = inst_at(act, inst), *left;
	struct variable variable = {0};
	const loop_id *loop_of = context_get(a, act->context)->loop_of;
	loop_id loop = loop_of ? loop_of[inst] : (loop_id){0};

	if (op->op != OP_inplace || loop.n == 0)
		return true;
	left = inst_at(act, ir_args(act->func, op)[0].value.n);
	if (left->op != OP_load)
		return true;
	if (left->sub == SUB_scope_slot)
		variable.slot = left->name;
	else if (left->sub == SUB_scope_global && act->func->kind == FUNC_MODULE)
		variable.name.n = left->name;
	return variable_lives(a, act->live, act->func, loop, variable);
}

static void check_carried(struct analysis *a, struct activation *act, struct state *state,
                          uint32_t at, value_id before, value_id value, object_id holder,
                          struct variable variable)
{
	check_chain(a, act, state, at, before, value, holder, variable);
	check_links(a, act, state, at, before, value);
}

void do_store(struct analysis *a, struct activation *act, struct state *state, block_id block,
              uint32_t at)
{
	const struct ir_inst *inst = inst_at(act, at);
	value_id value = operand(act, inst, 0), before;
	struct variable variable;
	object_id names = act->names.n && inst->sub != SUB_scope_global
	                          ? act->names
	                          : namespace_object(a, act->file);

	if (inst->sub == SUB_scope_slot || inst->sub == SUB_scope_take) {
		before = slot_read(a, act, state, inst->name);
		variable = (struct variable){.slot = inst->name};
		if (lives_across_iterations(a, act, block, variable))
			check_carried(a, act, state, at, before, value, act->frame, variable);
		containers_replaced(a, state, before, value);
		containers_let_go(a, act, state, at, before, value);
		slot_write(a, act, state, inst->name, value);
		return;
	}
	variable = (struct variable){.name = {act->func->kind == FUNC_MODULE ? inst->name : 0}};
	before = field_get(object_read(state, names), inst->name);
	if (lives_across_iterations(a, act, block, variable))
		check_carried(a, act, state, at, before, value, names, variable);
	containers_replaced(a, state, before, value);
	containers_let_go(a, act, state, at, before, value);
	field_set(a, object_write(a, state, names), inst->name, value);
}

void do_delete(struct analysis *a, struct activation *act, struct state *state,
               const struct ir_inst *inst)
{
	const value_id unbound = value_flags(a, V_UNBOUND);

	if (inst->sub == SUB_scope_slot || inst->sub == SUB_scope_take)
		slot_write(a, act, state, inst->name, unbound);
	else
		field_set(a,
		          object_write(a, state,
		                       act->names.n ? act->names : namespace_object(a, act->file)),
		          inst->name, unbound);
}
