/* Things nothing is known of, and their parts: the same part under a key each time, another
 * one in each iteration. */

#include "analyzer/facts/analysis.h"

/* A part of what is no tensor may be one. */
static value_id unknowns_in(struct analysis *a, value_id value)
{
	const struct value *v = value_get(a, value);
	value_id found = {0};

	for (uint32_t i = 0; i < v->count; i++)
		if (def_of(a, v->refs[i])->no_tensor)
			found = value_join(a, found, value_of(a, v->refs[i]));
	return found;
}

value_id unknown_value(struct analysis *a, struct activation *act, struct state *state,
                       uint32_t inst, uint32_t part, value_id from)
{
	object_id id = site_object(a, act, inst, part, OBJECT_UNKNOWN);
	const value_id tensors = value_join(a, tensors_in(a, state, from, 2), unknowns_in(a, from));
	const struct value *v = value_get(a, tensors);
	struct object *object = object_renew(a, state, id);
	unsigned bits = 0, flags = 0;

	for (uint32_t i = 0; i < v->count; i++) {
		const struct object *o = object_read(state, v->refs[i]);

		bits |= o->tensor;
		flags |= o->flags & O_ESCAPED;
		if (may_carry(o))
			object->parents = value_join(a, object->parents, value_of(a, v->refs[i]));
	}
	if (v->count == 0)
		bits = T_BARE | T_ASSUMED;
	object->tensor = ((bits & (T_BARE | T_ASSUMED | T_GRAPH | T_DEVICE | T_OUTPUT)) | T_LIVE);
	if (bits & T_VOLATILE) {
		object->tensor = T_BARE | T_LIVE | T_VOLATILE;
		object->parents = (value_id){0};
	}
	object->flags |= flags;
	def_of(a, id)->tensor_seen |= object->tensor & ~(unsigned)T_GRAPH;
	def_of(a, id)->parents_seen = value_join(a, def_of(a, id)->parents_seen, object->parents);
	return value_of(a, id);
}

/* The part of an unknown object under a key: the same one each time. */
value_id unknown_part(struct analysis *a, struct activation *act, struct state *state,
                      uint32_t inst, object_id owner, uint32_t key, uint32_t part)
{
	value_id known = field_get(object_read(state, owner), key);

	if (known.n == 0) {
		known = unknown_value(a, act, state, inst, part, value_of(a, owner));
		def_of(a, value_single(a, known))->whole = newest_of(owner);
		def_of(a, value_single(a, known))->tensor_seen |=
		        object_read(state, value_single(a, known))->tensor;
		field_set(a, object_write(a, state, owner), key, known);
	}
	return known;
}

/* Each iteration is given another part, of the same kind as those before. */
value_id unknown_iteration(struct analysis *a, struct activation *act, struct state *state,
                           uint32_t inst, object_id owner)
{
	const object_id before = value_single(a, field_get(object_read(state, owner), UINT32_MAX));
	value_id next = unknown_part(a, act, state, inst, owner, UINT32_MAX, 0);
	object_id id;

	if (before.n == 0)
		return next;
	next = unknown_value(a, act, state, inst, 0, value_of(a, owner));
	id = value_single(a, next);
	def_of(a, id)->whole = newest_of(owner);
	object_write(a, state, id)->flags |= object_read(state, before)->flags;
	def_of(a, id)->proven_module |= def_of(a, before)->proven_module;
	def_of(a, id)->tensor_seen |= object_read(state, id)->tensor;
	return next;
}
