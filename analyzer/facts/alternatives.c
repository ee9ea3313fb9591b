/* Things of which there is one at most: the models that the branches of an `if` make. */

#include "analyzer/facts/analysis.h"

enum { MOST_ALTERNATIVES = 8 };

/* Does some way through the function come by one block and then by the other, in one round
 * of the loops around them? */
static bool comes_by_both(const struct ir_func *func, block_id first, block_id then)
{
	const uint32_t last = func->order_of[then.n];
	struct arena scratch = {0};
	bool *met = arena_array(&scratch, bool, func->blocks.count + 1);
	bool found;

	met[first.n] = true;
	for (uint32_t i = func->order_of[first.n]; i < last; i++) {
		const struct ir_block *b = &func->blocks.at[func->order[i].n];
		const struct cfg_edges next = cfg_successors(b);

		for (uint32_t k = 0; met[func->order[i].n] && k < next.count; k++)
			met[next.to[k].n] = true;
	}
	found = met[then.n];
	arena_release(&scratch);
	return found;
}

static bool are_exclusive(const struct analysis *a, object_id x, object_id y)
{
	const struct def *one = def_of(a, x), *other = def_of(a, y);
	block_id first, then;

	if (one->kind != OBJECT_INSTANCE || other->kind != OBJECT_INSTANCE || one->context.n == 0 ||
	    one->context.n != other->context.n || one->func != other->func)
		return false;
	first = cfg_block_of(one->func, one->inst);
	then = cfg_block_of(one->func, other->inst);
	if (first.n == 0 || then.n == 0 || first.n == then.n)
		return false;
	return one->func->order_of[first.n] < one->func->order_of[then.n]
	               ? !comes_by_both(one->func, first, then)
	               : !comes_by_both(one->func, then, first);
}

bool are_alternatives(const struct analysis *a, value_id holders)
{
	const struct value *v = value_get(a, holders);

	for (uint32_t i = 0; i < v->count; i++) {
		if (is_older(v->refs[i]) || v->count > MOST_ALTERNATIVES)
			return false;
		for (uint32_t k = 0; k < i; k++)
			if (!are_exclusive(a, v->refs[k], v->refs[i]))
				return false;
	}
	return true;
}

static bool is_one_class(const struct state *state, const struct value *instances)
{
	for (uint32_t i = 1; i < instances->count; i++)
		if (object_read(state, instances->refs[i])->of.n !=
		    object_read(state, instances->refs[0])->of.n)
			return false;
	return true;
}

bool is_choice(struct analysis *a, const struct state *state, value_id callees)
{
	const struct value *v = value_get(a, callees);
	value_id receivers = {0};

	for (uint32_t i = 0; i < v->count; i++)
		receivers = value_join(a, receivers,
		                       def_of(a, v->refs[i])->kind == OBJECT_BOUND
		                               ? object_read(state, v->refs[i])->of
		                               : value_of(a, v->refs[i]));
	v = value_get(a, receivers);
	return v->count > 1 && !is_one_class(state, v) && are_alternatives(a, receivers);
}
