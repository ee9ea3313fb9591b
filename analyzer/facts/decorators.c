/* What hands back the function or class that it is given, as most decorators do. */

#include "analyzer/facts/calls.h"

enum { MAX_HANDED_ON = 4 }; /* functions that hand on to each other */

struct definition {
	const struct ir_module *module;
	const struct ir_func *func;
};

static func_id id_of(struct definition d)
{
	for (uint32_t f = 1; f < d.module->funcs.count; f++)
		if (d.module->funcs.at[f] == d.func)
			return (func_id){f};
	return (func_id){0};
}

static bool stores(const struct ir_func *func, uint32_t slot)
{
	for (uint32_t i = 1; i < func->insts.count; i++) {
		const struct ir_inst *inst = &func->insts.at[i];

		if (slot && (inst->op == OP_store || inst->op == OP_delete) &&
		    inst->sub == SUB_scope_slot && inst->name == slot)
			return true;
	}
	return false;
}

static bool stored_inside(struct definition d, uint32_t slot)
{
	const func_id outer = id_of(d);

	for (uint32_t f = 1; f < d.module->funcs.count; f++) {
		const struct ir_func *func = d.module->funcs.at[f];

		if (func->parent.n != outer.n)
			continue;
		for (uint32_t s = 1; s < func->slots.count; s++)
			if (func->slots.at[s].kind == SLOT_FREE &&
			    func->slots.at[s].outer.n == slot && stores(func, s))
				return true;
	}
	return false;
}

/* The parameter that the temporary is, counted from 1; 0: none. */
static uint32_t parameter_in(struct definition d, inst_id temp)
{
	const struct ir_inst *inst = &d.func->insts.at[temp.n];

	if (inst->op != OP_load || inst->sub != SUB_scope_slot || stores(d.func, inst->name))
		return 0;
	for (uint32_t p = 0; p < d.func->params.count; p++)
		if (d.func->params.at[p].slot.n == inst->name)
			return stored_inside(d, inst->name) ? 0 : p + 1;
	return 0;
}

/* The function that the name stands for, if there is one. */
static const struct ir_func *function_named(struct definition d, const struct ir_inst *load)
{
	const bool is_local = load->sub == SUB_scope_slot;
	const func_id parent = is_local ? id_of(d) : (func_id){1};
	const sym_id name = is_local ? d.func->slots.at[load->name].name : (sym_id){load->name};
	const struct ir_func *found = NULL;

	for (uint32_t f = 2; f < d.module->funcs.count; f++) {
		const struct ir_func *func = d.module->funcs.at[f];

		if (func->parent.n != parent.n || func->name.n != name.n)
			continue;
		if (found || func->kind != FUNC_FUNCTION)
			return NULL;
		found = func;
	}
	return found;
}

static uint32_t handed_back(struct definition d, int depth);

static uint32_t handed_on(struct definition d, const struct ir_inst *call, int depth)
{
	const struct ir_arg *args = ir_args(d.func, call);
	const struct ir_inst *callee = &d.func->insts.at[args[0].value.n];
	const struct ir_func *func = callee->op == OP_load ? function_named(d, callee) : NULL;
	const uint32_t part = func ? handed_back((struct definition){d.module, func}, depth) : 0;

	if (part == 0 || part >= call->nargs)
		return 0;
	for (uint32_t i = 1; i <= part; i++)
		if (args[i].keyword.n)
			return 0;
	return parameter_in(d, args[part].value);
}

static uint32_t handed_back(struct definition d, int depth)
{
	uint32_t found = 0;

	if (depth == 0 || d.func->is_generator || d.func->is_async)
		return 0;
	for (uint32_t b = 0; b < d.func->order_count; b++) {
		const struct ir_block *block = &d.func->blocks.at[d.func->order[b].n];
		const struct ir_inst *last = &d.func->insts.at[block->first + block->count - 1];
		uint32_t part;
		inst_id value;

		if (block->count == 0 || last->op != OP_return)
			continue;
		value = ir_args(d.func, last)[0].value;
		part = d.func->insts.at[value.n].op == OP_call
		               ? handed_on(d, &d.func->insts.at[value.n], depth - 1)
		               : parameter_in(d, value);
		if (part == 0 || (found && part != found))
			return 0;
		found = part;
	}
	return found;
}

static bool is_definition(const struct analysis *a, object_id id)
{
	const enum object_kind kind = def_of(a, id)->kind;

	return kind == OBJECT_FUNCTION || kind == OBJECT_CLASS || kind == OBJECT_WRAPPER;
}

value_id definition_handed_back(struct analysis *a, const struct state *state, struct call call,
                                const struct project_file *file, const struct ir_func *func)
{
	const value_id none = {0};
	struct function_facts *facts;
	value_id given;
	bool any = false;

	for (uint32_t i = 0; i < call.count; i++)
		any |= is_definition(a, value_single(a, call.at[i].value));
	if (!any)
		return none;
	facts = function_facts(a, file, func);
	if (!facts->looked_through) {
		facts->looked_through = true;
		facts->hands_back =
		        handed_back((struct definition){file->lowered.module, func}, MAX_HANDED_ON);
	}
	if (facts->hands_back == 0)
		return none;
	given = argument_at(
	        a, state, call, facts->hands_back - 1,
	        intern_chars(a->names,
	                     func->slots.at[func->params.at[facts->hands_back - 1].slot.n].name,
	                     NULL));
	return is_definition(a, value_single(a, given)) ? given : none;
}

bool is_decoration(const struct analysis *a, const struct activation *act, struct call call)
{
	const struct value *v = call.count == 1 ? value_get(a, call.at[0].value) : NULL;
	const struct ir_inst *inst = call.inst ? inst_at(act, call.inst) : NULL;
	enum ir_op made_by;

	if (!v || v->count != 1 || !inst || inst->op != OP_call || inst->nargs != 2)
		return false;
	made_by = (enum ir_op)inst_at(act, ir_args(act->func, inst)[1].value.n)->op;
	return (made_by == OP_function || made_by == OP_class || made_by == OP_call) &&
	       is_definition(a, v->refs[0]);
}
