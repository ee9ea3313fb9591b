/* Runs a function over all its paths: the transfer functions of the IR. */

#include "analyzer/facts/analysis.h"
#include "analyzer/flow/flow.h"

#include <stdlib.h>
#include <string.h>

struct run {
	struct analysis *a;
	struct activation *act;
	struct flow *flow;
};

static bool same_function(const struct analysis *a, uint32_t id, const void *key)
{
	return a->functions.at[id].func == key;
}

static uint64_t rehash_function(const struct analysis *a, uint32_t id)
{
	return hash_join((uint64_t)(uintptr_t)a->functions.at[id].func, 1);
}

static const loop_id *loops_by_instruction(struct arena *arena, const struct ir_func *func)
{
	loop_id *loops = arena_array(arena, loop_id, func->insts.count + 1);

	for (uint32_t b = 1; b < func->blocks.count; b++)
		for (uint32_t i = 0; i < func->blocks.at[b].count; i++)
			loops[func->blocks.at[b].first + i] = func->blocks.at[b].loop;
	return loops;
}

struct function_facts *function_facts(struct analysis *a, const struct project_file *file,
                                      const struct ir_func *func)
{
	uint32_t *slot;

	if (a->functions.count == 0)
		vec_push(a->arena, &a->functions, (struct function_facts){0});
	slot = id_table_slot(a, &a->function_index, hash_join((uint64_t)(uintptr_t)func, 1),
	                     same_function, rehash_function, func);
	if (*slot == 0) {
		*slot = a->functions.count;
		vec_push(a->arena, &a->functions,
		         (struct function_facts){
		                 .func = func,
		                 .live = flow_live_new(a->arena, file->lowered.module, func),
		                 .loop_of = loops_by_instruction(a->arena, func),
		         });
	}
	return &a->functions.at[*slot];
}

struct activation activation_begin(struct analysis *a, struct activation *caller,
                                   const struct project_file *file, const struct ir_func *func,
                                   context_id context)
{
	struct function_facts *facts = function_facts(a, file, func);
	struct activation act = {
	        .caller = caller,
	        .context = context,
	        .file = file,
	        .func = func,
	        .frame = frame_object(a, context, func),
	        .temps = arena_array(a->heap, value_id, func->insts.count + 1),
	        .live = facts->live,
	};

	facts->executed = true;
	a->contexts.at[context.n].loop_of = facts->loop_of;
	facts->known |= !a->from_outside;
	act.names = func->kind == FUNC_MODULE ? namespace_object(a, file) : (object_id){0};
	return act;
}

/* Slots: locals and cells stand in the frame, captured ones in an outer one. */

static object_id slot_owner(struct analysis *a, const struct activation *act,
                            const struct state *state, uint32_t *slot)
{
	const struct ir_func *func = act->func;
	object_id frame = act->frame;

	while (func->slots.at[*slot].kind == SLOT_FREE && func->parent.n != 0) {
		object_id outer = value_single(a, object_read(state, frame)->of);

		*slot = func->slots.at[*slot].outer.n;
		func = ir_func_get(act->file->lowered.module, func->parent);
		if (outer.n == 0)
			return outer;
		frame = outer;
	}
	return frame;
}

value_id slot_read(struct analysis *a, struct activation *act, struct state *state, uint32_t slot)
{
	object_id owner = slot_owner(a, act, state, &slot);

	return owner.n ? field_get(object_read(state, owner), slot) : (value_id){0};
}

void slot_write(struct analysis *a, struct activation *act, struct state *state, uint32_t slot,
                value_id value)
{
	const bool own = act->func->slots.at[slot].kind != SLOT_FREE;
	object_id owner = slot_owner(a, act, state, &slot);

	if (owner.n == 0)
		return;
	if (own || !is_older(owner))
		field_set(a, object_write(a, state, owner), slot, value);
	else
		field_join(a, object_write(a, state, owner), slot, value);
}

value_id enclosing_class(struct analysis *a, struct activation *act, struct state *state)
{
	const struct ir_func *func = act->func;

	for (uint32_t s = 1; s < func->slots.count; s++)
		if (strcmp(intern_chars(a->names, func->slots.at[s].name, NULL), "__class__") == 0)
			return slot_read(a, act, state, s);
	return (value_id){0};
}

static value_id operand(const struct activation *act, const struct ir_inst *inst, uint32_t index)
{
	return index < inst->nargs ? act->temps[ir_args(act->func, inst)[index].value.n]
	                           : (value_id){0};
}

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

static value_id do_load(struct analysis *a, struct activation *act, struct state *state,
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

static void check_carried(struct analysis *a, struct activation *act, struct state *state,
                          uint32_t at, value_id before, value_id value, object_id holder,
                          struct variable variable)
{
	check_chain(a, act, state, at, before, value, holder, variable);
	check_links(a, act, state, at, before, value);
}

static void do_store(struct analysis *a, struct activation *act, struct state *state,
                     block_id block, uint32_t at)
{
	const struct ir_inst *inst = inst_at(act, at);
	value_id value = operand(act, inst, 0);
	struct variable variable;
	object_id names = act->names.n && inst->sub != SUB_scope_global
	                          ? act->names
	                          : namespace_object(a, act->file);

	if (inst->sub == SUB_scope_slot || inst->sub == SUB_scope_take) {
		variable = (struct variable){inst->name, {0}};
		if (lives_across_iterations(a, act, block, variable))
			check_carried(a, act, state, at, slot_read(a, act, state, inst->name),
			              value, act->frame, variable);
		slot_write(a, act, state, inst->name, value);
		return;
	}
	variable = (struct variable){0, {act->func->kind == FUNC_MODULE ? inst->name : 0}};
	if (lives_across_iterations(a, act, block, variable))
		check_carried(a, act, state, at, field_get(object_read(state, names), inst->name),
		              value, names, variable);
	field_set(a, object_write(a, state, names), inst->name, value);
}

static void do_delete(struct analysis *a, struct activation *act, struct state *state,
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

static value_id do_const(struct analysis *a, const struct ir_inst *inst)
{
	if (inst->sub == SUB_const_none)
		return value_flags(a, V_NONE);
	return value_of(a, const_object(a, (enum ir_sub)inst->sub, (sym_id){inst->name}));
}

/* A method that was only looked up to be called is gone with the call. */
static void drop_methods(const struct analysis *a, const struct activation *act,
                         struct state *state, uint32_t looked_up)
{
	const struct value *v = value_get(a, act->temps[looked_up]);

	if (inst_at(act, looked_up)->op != OP_load_attr)
		return;
	for (uint32_t i = 0; i < v->count; i++) {
		const struct def *def = def_of(a, v->refs[i]);

		if (def->kind == OBJECT_BOUND && def->inst == looked_up &&
		    def->context.n == act->context.n && !is_older(v->refs[i]))
			object_drop(state, v->refs[i]);
	}
	act->temps[looked_up] = (value_id){0};
}

static value_id do_call(struct analysis *a, struct activation *act, struct state *state,
                        uint32_t at)
{
	const struct ir_inst *inst = inst_at(act, at);
	const struct ir_arg *args = ir_args(act->func, inst);
	VEC(struct argument) arguments = {0};
	value_id result;

	for (uint32_t i = 1; i < inst->nargs; i++) {
		value_id value = act->temps[args[i].value.n];
		object_id only = value_single(a, value);
		const struct object *object = object_read(state, only);
		enum object_kind kind = only.n ? def_of(a, only)->kind : OBJECT_NONE;

		if (sym_is(args[i].keyword, SYM_star) && object->elements.n == 0 &&
		    (kind == OBJECT_TUPLE || kind == OBJECT_LIST)) {
			for (uint32_t f = 0; f < object->field_count; f++)
				if (object->fields[f].key < PARTIAL_KEYWORDS)
					vec_push(a->heap, &arguments,
					         (struct argument){object->fields[f].value, {0}});
		} else if (sym_is(args[i].keyword, SYM_double_star) && kind == OBJECT_DICT &&
		           object->elements.n == 0) {
			for (uint32_t f = 0; f < object->field_count; f++) {
				object_id key = key_constant(a, only, object->fields[f].key);

				if (key.n)
					vec_push(a->heap, &arguments,
					         (struct argument){object->fields[f].value,
					                           def_of(a, key)->name});
			}
		} else {
			vec_push(a->heap, &arguments, (struct argument){value, args[i].keyword});
		}
	}
	result = call_value(a, act, state, (struct call){at, 0, arguments.at, arguments.count},
	                    act->temps[args[0].value.n]);
	drop_methods(a, act, state, args[0].value.n);
	return result;
}

static value_id truth(struct analysis *a, bool known)
{
	return value_of(a, const_object(a, known ? SUB_const_true : SUB_const_false, (sym_id){0}));
}

static bool is_const(const struct analysis *a, object_id id)
{
	return id.n != 0 && def_of(a, id)->kind == OBJECT_CONST;
}

static value_id compare_identity(struct analysis *a, value_id left, value_id right, bool wanted)
{
	const struct value *l = value_get(a, left), *r = value_get(a, right);

	if (r->flags == V_NONE && r->count == 0) {
		if (l->flags == V_NONE && l->count == 0)
			return truth(a, wanted);
		if (!(l->flags & (V_NONE | V_UNBOUND | V_CLEAN)) && left.n) {
			for (uint32_t i = 0; i < l->count; i++)
				if (def_of(a, l->refs[i])->kind == OBJECT_UNKNOWN)
					return value_flags(a, V_NUMBER);
			return truth(a, !wanted);
		}
	}
	return value_flags(a, V_NUMBER);
}

static value_id do_compare(struct analysis *a, struct activation *act, struct state *state,
                           uint32_t at)
{
	const struct ir_inst *inst = inst_at(act, at);
	value_id left = operand(act, inst, 0), right = operand(act, inst, 1);
	object_id x = value_single(a, left), y = value_single(a, right);

	switch (inst->sub) {
	case SUB_compare_is:
	case SUB_compare_is_not:
		return compare_identity(a, left, right, inst->sub == SUB_compare_is);
	case SUB_compare_in:
	case SUB_compare_not_in:
	case SUB_compare_catches:
		return value_flags(a, V_NUMBER);
	case SUB_compare_equal:
	case SUB_compare_not_equal:
		if (is_const(a, x) && is_const(a, y) && def_of(a, x)->sub == def_of(a, y)->sub)
			return truth(a, (x.n == y.n) == (inst->sub == SUB_compare_equal));
		break;
	default:
		break;
	}
	if (tensors_in(a, state, value_join(a, left, right), 0).n == 0)
		return value_flags(a, V_NUMBER);
	return value_of(a, tensor_make(a, act, state, at, 0, (value_id){0}, 0));
}

/* A function keeps the frame it was made in. */
static value_id do_function(struct analysis *a, struct activation *act, struct state *state,
                            uint32_t at)
{
	const struct ir_inst *inst = inst_at(act, at);
	const struct ir_arg *args = ir_args(act->func, inst);
	object_id id = site_object(a, act, at, 0, OBJECT_FUNCTION);
	struct object *object = object_renew(a, state, id);

	def_of(a, id)->func = ir_func_get(act->file->lowered.module, (func_id){inst->name});
	object->of = value_of(a, act->frame);
	for (uint32_t i = 0; i < inst->nargs; i++)
		field_set(a, object, args[i].keyword.n, act->temps[args[i].value.n]);
	return value_of(a, id);
}

static value_id do_class(struct analysis *a, struct activation *act, struct state *state,
                         uint32_t at)
{
	const struct ir_inst *inst = inst_at(act, at);
	const struct ir_arg *args = ir_args(act->func, inst);
	const struct ir_func *body = ir_func_get(act->file->lowered.module, (func_id){inst->name});
	object_id id = site_object(a, act, at, 0, OBJECT_CLASS);
	context_id context = context_enter(a, act->context, act->file, body, at, 0);
	struct activation inner;
	struct object *object = object_renew(a, state, id);

	def_of(a, id)->func = body;
	for (uint32_t i = 0; i < inst->nargs; i++)
		if (args[i].keyword.n == 0)
			object->of = value_join(a, object->of, act->temps[args[i].value.n]);
	inner = activation_begin(a, act, act->file, body, context);
	object_renew(a, state, inner.frame)->of = value_of(a, act->frame);
	inner.names = id;
	run_function(a, &inner, state);
	state->reachable = true;
	for (uint32_t s = 1; s < body->slots.count; s++)
		if (strcmp(intern_chars(a->names, body->slots.at[s].name, NULL), "__class__") == 0)
			field_set(a, object_write(a, state, inner.frame), s, value_of(a, id));
	return value_of(a, id);
}

static const char *top_name(const char *dotted, char *room, size_t size)
{
	size_t length = strcspn(dotted, ".");

	if (length >= size)
		return dotted;
	memcpy(room, dotted, length);
	room[length] = 0;
	return room;
}

static value_id do_import(struct analysis *a, struct activation *act, const struct ir_inst *inst)
{
	const char *dotted = intern_chars(a->names, (sym_id){inst->name}, NULL);
	char top[128];
	const struct project_file *file;

	if (*dotted == '.') {
		file = project_import(a->project, act->file, dotted);
		return file ? value_of(a, imported_object(a, file, (sym_id){0}))
		            : value_flags(a, V_CLEAN);
	}
	dotted = inst->sub ? dotted : top_name(dotted, top, sizeof(top));
	file = project_import(a->project, act->file, dotted);
	if (file)
		return value_of(a, imported_object(a, file, (sym_id){0}));
	return value_of(a, external_object(a, intern_text(a->names, dotted, strlen(dotted))));
}

static value_id do_import_from(struct analysis *a, struct activation *act, struct state *state,
                               uint32_t at)
{
	const struct ir_inst *inst = inst_at(act, at);
	value_id module = operand(act, inst, 0);
	object_id only = value_single(a, module);

	if (only.n && def_of(a, only)->kind == OBJECT_IMPORTED && def_of(a, only)->name.n == 0)
		return value_of(a, imported_object(a, def_of(a, only)->file, (sym_id){inst->name}));
	return attribute_get(a, act, state, at, module, (sym_id){inst->name});
}

static void do_import_star(struct analysis *a, struct activation *act, struct state *state,
                           value_id module)
{
	object_id from, globals = namespace_object(a, act->file);
	const struct object *names;

	module = force_import(a, act, state, module);
	from = value_single(a, module);
	if (from.n == 0 || def_of(a, from)->kind != OBJECT_NAMESPACE)
		return;
	names = object_read(state, from);
	for (uint32_t i = 0; i < names->field_count; i++)
		field_set(a, object_write(a, state, globals), names->fields[i].key,
		          names->fields[i].value);
}

static value_id do_unary(struct analysis *a, struct activation *act, struct state *state,
                         uint32_t at)
{
	const struct ir_inst *inst = inst_at(act, at);
	value_id value = operand(act, inst, 0);
	object_id only = value_single(a, value);

	if (inst->sub == SUB_unary_not) {
		if (is_const(a, only) && (def_of(a, only)->sub == SUB_const_true ||
		                          def_of(a, only)->sub == SUB_const_false))
			return truth(a, def_of(a, only)->sub == SUB_const_false);
		return value_flags(a, V_NUMBER);
	}
	if (inst->sub == SUB_unary_negative && is_const(a, only) &&
	    def_of(a, only)->sub == SUB_const_int) {
		char text[32] = "-";

		strncat(text, intern_chars(a->names, def_of(a, only)->name, NULL), 24);
		return value_of(a, const_object(a, SUB_const_int,
		                                intern_text(a->names, text, strlen(text))));
	}
	if (tensors_in(a, state, value, 0).n == 0)
		return value_flags(a, V_NUMBER);
	return value_of(a, tensor_make(a, act, state, at, 0,
	                               inst->sub == SUB_unary_invert ? (value_id){0} : value, 0));
}

static void do_collect(struct analysis *a, struct activation *act, struct state *state, uint32_t at)
{
	const struct ir_inst *inst = inst_at(act, at);
	value_id container = slot_read(a, act, state, inst->name);

	if (inst->sub == SUB_build_dict)
		item_set(a, act, state, at, container, operand(act, inst, 0),
		         operand(act, inst, 1));
	else
		container_add(a, act, state, at, container, operand(act, inst, 0));
}

static value_id do_yield(struct analysis *a, struct activation *act, struct state *state,
                         uint32_t at)
{
	const struct ir_inst *inst = inst_at(act, at);
	value_id value = operand(act, inst, 0);

	if (inst->sub == SUB_yield_from)
		value = iterate(a, act, state, at, value);
	act->yielded = value_join(a, act->yielded, value);
	act->yield_modes |= state->modes;
	if (!act->exit) /* the consumer may see no more of it than this */
		act->exit = state_copy(a, state);
	else
		state_join(a, act->exit, state);
	return value_flags(a, V_NONE | V_CLEAN);
}

static value_id define(struct analysis *a, struct activation *act, struct state *state, uint32_t at)
{
	const struct ir_inst *inst = inst_at(act, at);

	switch ((enum ir_op)inst->op) {
	case OP_const:
		return do_const(a, inst);
	case OP_load:
		return do_load(a, act, state, inst);
	case OP_load_attr:
		return attribute_get(a, act, state, at, operand(act, inst, 0),
		                     (sym_id){inst->name});
	case OP_load_item:
		return item_get(a, act, state, at, operand(act, inst, 0), operand(act, inst, 1));
	case OP_call:
		return do_call(a, act, state, at);
	case OP_unary:
		return do_unary(a, act, state, at);
	case OP_binary:
	case OP_inplace:
		return apply_binary(a, act, state, at, (enum ir_sub)inst->sub,
		                    operand(act, inst, 0), operand(act, inst, 1),
		                    inst->op == OP_inplace);
	case OP_compare:
		return do_compare(a, act, state, at);
	case OP_build:
		return build_container(a, act, state, at, inst);
	case OP_format:
		return value_flags(a, V_STRING);
	case OP_unpack:
		return unpack_value(a, act, state, at, operand(act, inst, 0), inst->name);
	case OP_iter:
	case OP_await:
		return operand(act, inst, 0);
	case OP_next:
		return iterate(a, act, state, at, slot_read(a, act, state, inst->name));
	case OP_function:
		return do_function(a, act, state, at);
	case OP_class:
		return do_class(a, act, state, at);
	case OP_import:
		return do_import(a, act, inst);
	case OP_import_from:
		return do_import_from(a, act, state, at);
	case OP_yield:
		return do_yield(a, act, state, at);
	case OP_enter:
		return scope_enter(a, act, state, at, operand(act, inst, 0), inst->name);
	case OP_leave:
		scope_leave(a, act, state, at, inst->name);
		return value_flags(a, V_NUMBER);
	case OP_match:
		if (inst->sub == SUB_match_position || inst->sub == SUB_match_rest)
			return unknown_value(a, act, state, at, 0, operand(act, inst, 0));
		return value_flags(a, V_NUMBER);
	case OP_unknown:
		return unknown_value(a, act, state, at, 0, (value_id){0});
	default:
		return value_flags(a, V_CLEAN);
	}
}

static void effect_only(struct analysis *a, struct activation *act, struct state *state,
                        block_id block, uint32_t at)
{
	const struct ir_inst *inst = inst_at(act, at);

	switch ((enum ir_op)inst->op) {
	case OP_store:
		do_store(a, act, state, block, at);
		break;
	case OP_delete:
		do_delete(a, act, state, inst);
		break;
	case OP_store_attr:
		attribute_set(a, act, state, at, operand(act, inst, 0), (sym_id){inst->name},
		              operand(act, inst, 1));
		break;
	case OP_delete_attr:
		attribute_set(a, act, state, at, operand(act, inst, 0), (sym_id){inst->name},
		              value_flags(a, V_UNBOUND));
		break;
	case OP_store_item:
		item_set(a, act, state, at, operand(act, inst, 0), operand(act, inst, 1),
		         operand(act, inst, 2));
		break;
	case OP_delete_item:
		item_delete(a, state, operand(act, inst, 0), operand(act, inst, 1));
		break;
	case OP_collect:
		do_collect(a, act, state, at);
		break;
	case OP_import_star:
		do_import_star(a, act, state, operand(act, inst, 0));
		break;
	default:
		break;
	}
}

/* 1 true, 0 false, -1 not known. */
static int truth_of(const struct analysis *a, value_id value)
{
	const struct value *v = value_get(a, value);
	object_id only = value_single(a, value);

	if (v->count == 0 && v->flags == V_NONE)
		return 0;
	if (v->flags || !is_const(a, only))
		return -1;
	switch (def_of(a, only)->sub) {
	case SUB_const_true:
		return 1;
	case SUB_const_false:
		return 0;
	case SUB_const_int:
		return strcmp(intern_chars(a->names, def_of(a, only)->name, NULL), "0") != 0;
	default:
		return -1;
	}
}

static void edge(struct run *run, block_id from, block_id to, struct state *state)
{
	if (to.n == 0)
		return;
	if (flow_is_back_edge(run->act->func, from, to)) {
		state = state_copy(run->a, state);
		state_sweep(run->a, state);
		state_age(run->a, state, run->act->context, run->act->func->blocks.at[to.n].loop);
		flow_edge(run->flow, to, state);
		state_release(run->a, state);
		return;
	}
	flow_edge(run->flow, to, state);
}

static void do_return(struct run *run, struct state *state, value_id value)
{
	struct activation *act = run->act;

	act->returned = value_join(run->a, act->returned, value);
	check_mode_left(run->a, act, state);
	if (!act->exit)
		act->exit = state_copy(run->a, state);
	else
		state_join(run->a, act->exit, state);
}

static void end_block(struct run *run, block_id block, uint32_t at, struct state *state)
{
	const struct ir_block *b = &run->act->func->blocks.at[block.n];
	const struct ir_inst *inst = inst_at(run->act, at);
	int known;

	switch ((enum ir_op)inst->op) {
	case OP_jump:
		edge(run, block, b->succ[0], state);
		break;
	case OP_branch:
		known = truth_of(run->a, operand(run->act, inst, 0));
		if (known != 0)
			edge(run, block, b->succ[0], state);
		if (known != 1)
			edge(run, block, b->succ[1], state);
		break;
	case OP_next:
		edge(run, block, b->succ[1], state);
		if (run->act->temps[at].n != 0)
			edge(run, block, b->succ[0], state);
		break;
	case OP_return:
		do_return(run, state, operand(run->act, inst, 0));
		break;
	default:
		break; /* raise: the handler has the state of the block's start and end */
	}
	if (b->handler.n)
		edge(run, block, b->handler, state);
}

static void transfer(void *context, block_id block, void *entry)
{
	struct run *run = context;
	struct state *state = entry;
	const struct ir_block *b = &run->act->func->blocks.at[block.n];

	run->act->block_first = b->first;
	run->act->block_count = b->count;
	if (b->handler.n)
		edge(run, block, b->handler, state);
	for (uint32_t i = 0; i < b->count; i++) {
		uint32_t at = b->first + i;
		const unsigned flags = op_info[inst_at(run->act, at)->op].flags;

		run->a->all_steps++;
		if (++run->a->steps > run->a->budget)
			run->a->exhausted = true;
		if (run->a->steps > 2 * run->a->budget)
			return;
		if (flags & OPF_DEFINES)
			run->act->temps[at] = define(run->a, run->act, state, at);
		else if (!(flags & OPF_ENDS_BLOCK))
			effect_only(run->a, run->act, state, block, at);
		if (!state->reachable)
			return;
	}
	if (b->count > 0)
		end_block(run, block, b->first + b->count - 1, state);
}

static void *copy(void *context, void *state)
{
	struct run *run = context;

	return state_copy(run->a, state);
}

static bool join(void *context, block_id block, void **at_start, void *state)
{
	struct run *run = context;

	(void)block;
	if (!*at_start) {
		*at_start = state_copy(run->a, state);
		return true;
	}
	return state_join(run->a, *at_start, state);
}

static void release(void *context, void *state)
{
	struct run *run = context;

	state_release(run->a, state);
}

value_id run_function(struct analysis *a, struct activation *act, struct state *state)
{
	struct run run = {a, act, NULL};
	const struct flow_client client = {&run, transfer, copy, join, release};
	struct activation *before = a->top;
	const uint32_t objects = state->count, mode_set = state->mode_set;

	state->mode_set = 0;
	run.flow = flow_new(a->heap, act->func, client);
	act->entry_modes = state->modes;
	a->top = act;
	flow_edge(run.flow, (block_id){1}, state);
	flow_solve(run.flow, FACTS_MAX_ROUNDS);
	if (act->exit) {
		state_release(a, state);
		*state = *act->exit;
		state->mode_set = mode_set;
		if (state->count > FACTS_SWEEP_OBJECTS && state->count > objects + 32)
			state_sweep(a, state);
	} else {
		state->reachable = act->func->is_generator;
	}
	a->top = before;
	return act->returned;
}

/* A module's body runs once, from nothing; what it makes is the base of every
 * state. One that imports itself in a circle is seen as far as it got. */
value_id run_module(struct analysis *a, struct activation *act, struct state *state,
                    const struct project_file *file)
{
	object_id id = namespace_object(a, file);
	struct activation inner;
	struct state *fresh;
	struct arena *before = a->heap;
	const struct ir_func *body;

	(void)act;
	if (object_exists(state, id) || def_of(a, id)->running || !file->lowered.module ||
	    a->imports > FACTS_MAX_IMPORTS)
		return value_of(a, id);
	a->imports++;
	def_of(a, id)->running = true;
	body = ir_func_get(file->lowered.module, (func_id){1});
	heap_switch(a, a->arena);
	fresh = state_new(a);
	object_renew(a, fresh, id);
	inner = activation_begin(a, NULL, file, body,
	                         context_enter(a, (context_id){0}, file, body, 0, 0));
	object_renew(a, fresh, inner.frame);
	a->importing++;
	run_function(a, &inner, fresh);
	a->importing--;
	state_promote(a, fresh);
	heap_switch(a, before);
	return value_of(a, id);
}
