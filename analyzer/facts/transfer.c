/* The transfer functions of the IR. */

#include "analyzer/facts/exec.h"

#include <string.h>

value_id operand(const struct activation *act, const struct ir_inst *inst, uint32_t index)
{
	return index < inst->nargs ? act->temps[ir_args(act->func, inst)[index].value.n]
	                           : (value_id){0};
}

static value_id do_const(struct analysis *a, const struct ir_inst *inst)
{
	if (inst->sub == SUB_const_none)
		return value_flags(a, V_NONE);
	return value_of(a, const_object(a, (enum ir_sub)inst->sub, (sym_id){inst->name}));
}

/* A method that was only looked up to be called is gone with the call. */
static void drop_methods(struct analysis *a, const struct activation *act, struct state *state,
                         uint32_t looked_up)
{
	const struct value *v = value_get(a, act->temps[looked_up]);

	if (inst_at(act, looked_up)->op != OP_load_attr)
		return;
	for (uint32_t i = 0; i < v->count; i++) {
		const struct def *def = def_of(a, v->refs[i]);

		if (def->kind == OBJECT_BOUND && def->inst == looked_up &&
		    def->context.n == act->context.n && !is_older(v->refs[i]))
			object_drop(a, state, v->refs[i]);
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

bool is_const(const struct analysis *a, object_id id)
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
				if (def_of(a, l->refs[i])->kind == OBJECT_UNKNOWN &&
				    !def_of(a, l->refs[i])->some)
					return value_flags(a, V_NUMBER);
			return truth(a, !wanted);
		}
	}
	return value_flags(a, V_NUMBER);
}

/* A thing of its own, which equals no text and no number. */
static bool is_no_constant(struct analysis *a, struct state *state, object_id id)
{
	switch (id.n ? def_of(a, id)->kind : OBJECT_NONE) {
	case OBJECT_FUNCTION:
	case OBJECT_CLASS:
	case OBJECT_NAMESPACE:
	case OBJECT_BOUND:
	case OBJECT_LIST:
	case OBJECT_TUPLE:
	case OBJECT_DICT:
		return true;
	case OBJECT_INSTANCE:
		return object_read(state, id)->flags & O_MODULE;
	default:
		return false;
	}
}

static value_id do_compare(struct analysis *a, struct activation *act, struct state *state,
                           uint32_t at)
{
	const struct ir_inst *inst = inst_at(act, at);
	value_id left = operand(act, inst, 0), right = operand(act, inst, 1);
	object_id x = value_single(a, left), y = value_single(a, right), result;
	const struct value *tensors;
	value_id operands;

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
		if ((is_const(a, x) && is_no_constant(a, state, y)) ||
		    (is_const(a, y) && is_no_constant(a, state, x)))
			return truth(a, inst->sub == SUB_compare_not_equal);
		break;
	default:
		break;
	}
	operands = tensors_in(a, state, value_join(a, left, right), 0);
	tensors = value_get(a, operands);
	if (tensors->count == 0)
		return value_flags(a, V_NUMBER);
	for (uint32_t i = 0; i < tensors->count; i++)
		def_of(a, tensors->refs[i])->counted = true;
	result = tensor_make(a, act, state, at, 0, (value_id){0}, 0);
	shape_follows(a, state, result, operands);
	return value_of(a, result);
}

/* What is made inside a function, and called by nobody, is looked at by itself. */
static void note_nested(struct analysis *a, const struct activation *act, struct state *state,
                        object_id id)
{
	const enum func_kind kind = act->func->kind;

	if (kind != FUNC_MODULE && kind != FUNC_CLASS_BODY && !a->making &&
	    a->nested.count < FACTS_MAX_NESTED)
		vec_push(a->heap, &a->nested, (struct nested){id, state_copy(a, state)});
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
	if (def_of(a, id)->func->kind == FUNC_FUNCTION)
		note_nested(a, act, state, id);
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
	note_nested(a, act, state, id);
	return value_of(a, id);
}

static value_id do_unary(struct analysis *a, struct activation *act, struct state *state,
                         uint32_t at)
{
	const struct ir_inst *inst = inst_at(act, at);
	value_id value = operand(act, inst, 0);
	object_id only = value_single(a, value), result;

	if (inst->sub == SUB_unary_not) {
		mark_number(a, value);
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
	result = tensor_make(a, act, state, at, 0,
	                     inst->sub == SUB_unary_invert ? (value_id){0} : value,
	                     operand_bits(a, state, value));
	shape_follows(a, state, result, value);
	return value_of(a, result);
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
	if (act->filled.n)
		container_add(a, act, state, at, value_of(a, act->filled), value);
	act->yielded = value_join(a, act->yielded, value);
	act->yield_modes |= state->modes;
	if (!act->exit) /* the consumer may see no more of it than this */
		act->exit = state_copy(a, state);
	else
		state_join(a, act->exit, state);
	return value_flags(a, V_NONE | V_CLEAN);
}

value_id define(struct analysis *a, struct activation *act, struct state *state, uint32_t at)
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
		if (inst->nargs > 1 && inst->sub == SUB_format_plain) /* f"{x:.3f}" */
			mark_number(a, operand(act, inst, 0));
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

void effect_only(struct analysis *a, struct activation *act, struct state *state, block_id block,
                 uint32_t at)
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
		item_delete(a, act, state, at, operand(act, inst, 0), operand(act, inst, 1));
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
