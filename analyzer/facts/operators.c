/* `left op right`, in place or not, by what the operands can be. */

#include "analyzer/facts/effects.h"

#include <stdio.h>
#include <string.h>

struct operands {
	struct analysis *a;
	struct activation *act;
	struct state *state;
	uint32_t inst;
	enum ir_sub op;
	bool in_place;
};

static const char *special_stem(enum ir_sub op)
{
	switch (op) {
	case SUB_binary_add:
		return "add";
	case SUB_binary_subtract:
		return "sub";
	case SUB_binary_multiply:
		return "mul";
	case SUB_binary_divide:
		return "truediv";
	case SUB_binary_matmul:
		return "matmul";
	case SUB_binary_or:
		return "or";
	case SUB_binary_and:
		return "and";
	default:
		return NULL;
	}
}

static bool call_operator(struct operands *o, const char *format, object_id self, value_id other,
                          value_id *result)
{
	const char *stem = special_stem(o->op);
	const struct argument arguments[2] = {{value_of(o->a, self), {0}}, {other, {0}}};
	char name[24];
	value_id method;

	if (!stem || def_of(o->a, self)->kind != OBJECT_INSTANCE)
		return false;
	snprintf(name, sizeof(name), format, stem);
	method = class_lookup(o->a, o->state, object_read(o->state, self)->of,
	                      intern_text(o->a->names, name, strlen(name)));
	if (method.n == 0)
		return false;
	*result = value_join(o->a, *result,
	                     call_value(o->a, o->act, o->state,
	                                (struct call){o->inst, 5, arguments, 2}, method));
	return true;
}

static bool is_sequence(struct operands *o, object_id id)
{
	enum object_kind kind = container_kind(o->a, o->state, id);

	return kind == OBJECT_LIST || kind == OBJECT_TUPLE || kind == OBJECT_DEQUE;
}

/* old + [new]: the growth of an append, in a list made anew. */
static value_id concatenate(struct operands *o, object_id left, value_id right)
{
	object_id id =
	        site_object(o->a, o->act, o->inst, 1,
	                    def_of(o->a, left)->kind == OBJECT_TUPLE ? OBJECT_TUPLE : OBJECT_LIST);
	value_id added = {0};
	const struct value *v = value_get(o->a, right);
	struct object *object;
	value_id contents;

	for (uint32_t i = 0; i < v->count; i++)
		if (is_sequence(o, v->refs[i])) {
			value_id theirs = contents_of(o->a, object_read(o->state, v->refs[i]));
			value_id ours = contents_of(o->a, object_read(o->state, left));

			check_store(o->a, o->act, o->state, o->inst, left, theirs);
			check_store(o->a, o->act, o->state, o->inst, v->refs[i], ours);
			added = value_join(o->a, added, theirs);
		}
	contents = contents_of(o->a, object_read(o->state, left));
	object = object_renew(o->a, o->state, id);
	elements_join(o->a, object, value_join(o->a, contents, added));
	return value_of(o->a, id);
}

static value_id sequence_operator(struct operands *o, object_id left, value_id right)
{
	if (o->op == SUB_binary_add && o->in_place &&
	    container_kind(o->a, o->state, left) != OBJECT_TUPLE) {
		value_id items = iterate(o->a, o->act, o->state, o->inst, right);

		container_add(o->a, o->act, o->state, o->inst, value_of(o->a, left), items);
		return value_of(o->a, left);
	}
	if (o->op == SUB_binary_add || o->op == SUB_binary_multiply)
		return concatenate(o, left, right);
	return value_flags(o->a, V_CLEAN);
}

static bool is_tensors(struct operands *o, value_id value)
{
	return tensors_in(o->a, o->state, value, 0).n != 0;
}

bool is_known_tensor(const struct analysis *a, const struct state *state, object_id id)
{
	const unsigned bits = object_read(state, id)->tensor;

	if (def_of(a, id)->kind == OBJECT_TENSOR)
		return !(bits & T_GUESSED);
	return bits & T_MODULE || def_of(a, id)->proven;
}

unsigned operand_bits(struct analysis *a, const struct state *state, value_id operands)
{
	const value_id tensors = tensors_in(a, state, operands, 0);
	const struct value *v = value_get(a, tensors);
	unsigned all = T_SCALAR, any = 0;
	bool known = false;

	for (uint32_t i = 0; i < v->count; i++) {
		all &= object_read(state, v->refs[i])->tensor;
		any |= object_read(state, v->refs[i])->tensor;
		known |= is_known_tensor(a, state, v->refs[i]);
	}
	return all | (any & T_ROWS) | (known ? 0U : T_GUESSED);
}

/* What the operation's node saves, and whether it adds something up. */
static unsigned operator_bits(struct operands *o, value_id left, value_id right)
{
	const unsigned size = operand_bits(o->a, o->state, value_join(o->a, left, right));

	switch (o->op) {
	case SUB_binary_add:
	case SUB_binary_subtract:
		return T_ACCUMULATES | size;
	default:
		return size |
		       (is_tensors(o, left) && is_tensors(o, right) && !(size & T_SCALAR) ? T_SAVES
		                                                                          : 0);
	}
}

static value_id tensor_operator(struct operands *o, value_id left, value_id right)
{
	value_id both = value_join(o->a, left, right);
	const struct value *l = value_get(o->a, left);
	value_id kept = {0};
	object_id result;
	bool fresh = l->flags != 0 || l->count == 0;

	for (uint32_t i = 0; i < l->count; i++) {
		if (o->in_place && def_of(o->a, l->refs[i])->kind == OBJECT_TENSOR)
			kept = value_join(o->a, kept, value_of(o->a, l->refs[i]));
		else
			fresh = true;
	}
	if (kept.n) {
		join_in_place(o->a, o->act, o->state, o->inst, kept, right);
		if (!fresh)
			return kept;
	}
	result = tensor_make(o->a, o->act, o->state, o->inst, 0, both,
	                     operator_bits(o, left, right));
	shape_follows(o->a, o->state, result, both);
	return value_join(o->a, kept, value_of(o->a, result));
}

static value_id scalar_operator(struct operands *o, value_id both)
{
	uint32_t flags = value_get(o->a, both)->flags;
	const struct value *v = value_get(o->a, both);

	for (uint32_t i = 0; i < v->count; i++)
		if (def_of(o->a, v->refs[i])->kind == OBJECT_CONST &&
		    def_of(o->a, v->refs[i])->sub == SUB_const_str)
			flags |= V_STRING;
	if (flags & V_STRING)
		return value_flags(o->a, V_STRING);
	return value_flags(o->a, flags & V_CLEAN ? V_CLEAN : V_NUMBER);
}

/* Strings make strings, whatever is put behind or into them. */
static bool is_text(const struct analysis *a, value_id value)
{
	const struct value *v = value_get(a, value);

	for (uint32_t i = 0; i < v->count; i++)
		if (def_of(a, v->refs[i])->kind != OBJECT_CONST ||
		    def_of(a, v->refs[i])->sub != SUB_const_str)
			return false;
	return value.n && (v->count ? v->flags == 0 : v->flags == V_STRING);
}

value_id apply_binary(struct analysis *a, struct activation *act, struct state *state,
                      uint32_t inst, enum ir_sub op, value_id left, value_id right, bool in_place)
{
	struct operands o = {a, act, state, inst, op, in_place};
	const struct value *l = value_get(a, left), *r = value_get(a, right);
	value_id result = {0};
	bool done = false;

	if (is_text(a, left) && (op == SUB_binary_add || op == SUB_binary_modulo))
		return value_flags(a, V_STRING);
	for (uint32_t i = 0; i < l->count; i++) {
		if ((in_place && call_operator(&o, "__i%s__", l->refs[i], right, &result)) ||
		    call_operator(&o, "__%s__", l->refs[i], right, &result)) {
			done = true;
		} else if (is_sequence(&o, l->refs[i]) && !is_tensors(&o, right)) {
			result = value_join(a, result, sequence_operator(&o, l->refs[i], right));
			done = true;
		}
	}
	for (uint32_t i = 0; !done && i < r->count; i++)
		done = call_operator(&o, "__r%s__", r->refs[i], left, &result);
	if (is_tensors(&o, left) || (is_tensors(&o, right) && !done))
		return value_join(a, result, tensor_operator(&o, left, right));
	return done ? result : scalar_operator(&o, value_join(a, left, right));
}
