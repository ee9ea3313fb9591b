/* Hooks on tensors run where their gradient is asked for, and are given its graph if that is
 * wanted, too. */

#include "analyzer/facts/effects.h"

enum { PARTS_DEPTH = 3 };

/* What the program has hung on its tensors, in the namespace where it began: pairs of tensors
 * and functions. */
static object_id hooks_owner(struct analysis *a, const struct activation *act)
{
	while (act->caller)
		act = act->caller;
	return namespace_object(a, act->file);
}

static sym_id hooks_name(struct analysis *a)
{
	return intern_text(a->names, "$gradient_hooks", 15);
}

void gradient_hook_add(struct effect *e, value_id tensors, value_id functions)
{
	const object_id owner = hooks_owner(e->a, e->act);
	const object_id pair = site_object(e->a, e->act, e->call.inst, 0xeb, OBJECT_TUPLE);
	struct object *object = object_renew(e->a, e->state, pair);

	field_set(e->a, object, 0, tensors);
	field_set(e->a, object, 1, functions);
	field_join(e->a, object_write(e->a, e->state, owner), hooks_name(e->a).n,
	           value_of(e->a, pair));
}

/* Is one of the modules the other one, or a part of it? */
static bool is_part(struct analysis *a, const struct state *state, value_id modules, value_id whole,
                    int depth)
{
	const struct value *v = value_get(a, modules), *w = value_get(a, whole);

	for (uint32_t i = 0; i < v->count; i++)
		if (value_has(a, whole, v->refs[i]))
			return true;
	for (uint32_t i = 0; depth > 0 && i < w->count; i++)
		if (is_part(a, state, modules, contents_of(a, object_read(state, w->refs[i])),
		            depth - 1))
			return true;
	return false;
}

static bool are_asked(struct analysis *a, const struct state *state, value_id tensors,
                      value_id inputs)
{
	const struct value *v = value_get(a, tensors), *in = value_get(a, inputs);

	for (uint32_t i = 0; i < v->count; i++)
		for (uint32_t k = 0; k < in->count; k++) {
			const struct object *one = object_read(state, v->refs[i]);
			const struct object *other = object_read(state, in->refs[k]);

			if (v->refs[i].n == in->refs[k].n)
				return true;
			if (one->flags & other->flags & O_PARAMETERS &&
			    (is_part(a, state, one->of, other->of, PARTS_DEPTH) ||
			     is_part(a, state, other->of, one->of, PARTS_DEPTH)))
				return true;
		}
	return false;
}

static void run_hook(struct effect *e, uint32_t part, value_id functions, value_id operands)
{
	const object_id gradient =
	        tensor_make(e->a, e->act, e->state, e->call.inst, 0xec + part, operands, T_SAVES);
	const struct argument argument = {value_of(e->a, gradient), {0}};

	e->a->hook_depth++;
	call_value(e->a, e->act, e->state,
	           (struct call){e->call.inst, 0x100 * (part + 1) + 13, &argument, 1}, functions);
	e->a->hook_depth--;
	e->state->reachable = true;
}

void gradient_hooks_run(struct effect *e, value_id outputs, value_id inputs)
{
	const value_id wanted = tensors_in(e->a, e->state, inputs, 2);
	const value_id hooks =
	        field_get(object_read(e->state, hooks_owner(e->a, e->act)), hooks_name(e->a).n);
	const struct value *v = value_get(e->a, hooks);

	for (uint32_t i = 0; i < v->count; i++) {
		const struct object *pair = object_read(e->state, v->refs[i]);

		if (are_asked(e->a, e->state, field_get(pair, 0), wanted))
			run_hook(e, 2 * i, field_get(pair, 1), value_join(e->a, outputs, inputs));
	}
}
