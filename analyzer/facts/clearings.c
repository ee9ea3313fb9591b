/* Containers that are emptied, or begun anew. */

#include "analyzer/facts/analysis.h"

static void note_clear(struct analysis *a, const struct activation *act, uint32_t inst,
                       object_id holder, bool weak)
{
	const struct clearing clearing = {newest_of(holder), {act->context, inst, false}, weak};

	for (uint32_t i = 0; i < a->clearings.count; i++) {
		struct clearing *c = &a->clearings.at[i];

		if (c->holder.n == clearing.holder.n && c->site.inst == inst &&
		    c->site.context.n == act->context.n) {
			c->weak |= weak;
			return;
		}
	}
	vec_push(a->arena, &a->clearings, clearing);
}

void container_clear(struct analysis *a, const struct activation *act, struct state *state,
                     uint32_t inst, value_id holders)
{
	const struct value *v = value_get(a, holders);
	object_id id = value_single(a, holders);
	struct object *object;

	for (uint32_t i = 0; i < v->count; i++)
		if (object_exists(state, v->refs[i])) {
			object_write(a, state, v->refs[i])->flags |= O_CLEARED;
			note_clear(a, act, inst, v->refs[i], id.n == 0 || is_older(id));
		}
	if (id.n == 0 || is_older(id))
		return;
	object = object_write(a, state, id);
	object->flags = (object->flags | O_CLEARED) & ~(uint32_t)O_USED;
	object->elements = (value_id){0};
	object->field_count = 0;
}

void containers_replaced(struct analysis *a, struct state *state, value_id before, value_id after)
{
	const struct value *v = value_get(a, before);

	for (uint32_t i = 0; i < v->count; i++)
		if (builtin_class_of(def_of(a, v->refs[i])->kind) &&
		    object_read(state, v->refs[i])->flags & O_USED &&
		    !value_has(a, after, v->refs[i]))
			object_write(a, state, v->refs[i])->flags |= O_CLEARED;
}

/* Everything it holds was made elsewhere than what it is compared with holds. */
static bool holds_nothing_of(struct analysis *a, const struct state *state, object_id id,
                             value_id held)
{
	const value_id mine = contents_of(a, object_read(state, id));
	const struct value *v = value_get(a, mine);

	for (uint32_t i = 0; i < v->count; i++)
		if (value_has(a, held, v->refs[i]))
			return false;
	return true;
}

/* A container made here, empty or with other things; or what is left of the old one. */
static bool starts_anew(struct analysis *a, const struct activation *act, const struct state *state,
                        object_id id, object_id old)
{
	const struct def *def = def_of(a, id);
	const value_id held = contents_of(a, object_read(state, old));

	if (!builtin_class_of(def->kind) || is_older(id) || def->context.n != act->context.n)
		return false;
	return value_has(a, def->cut_from, newest_of(old)) ||
	       value_has(a, def->cut_from, older_of(old)) || holds_nothing_of(a, state, id, held);
}

void containers_let_go(struct analysis *a, const struct activation *act, const struct state *state,
                       uint32_t inst, value_id before, value_id after)
{
	const struct value *b = value_get(a, before), *v = value_get(a, after);

	for (uint32_t i = 0; i < b->count; i++) {
		bool anew = v->count > 0 && builtin_class_of(def_of(a, b->refs[i])->kind) &&
		            object_read(state, b->refs[i])->elements.n;

		for (uint32_t k = 0; anew && k < v->count; k++)
			anew = starts_anew(a, act, state, v->refs[k], b->refs[i]);
		if (anew)
			note_clear(a, act, inst, b->refs[i], false);
	}
}
