/* Grad modes: as scopes, as statements, and where they are left behind. */

#include "analyzer/facts/analysis.h"

#include <string.h>

uint8_t modes_of(struct analysis *a, enum api_mode mode, value_id argument)
{
	object_id constant = value_single(a, argument);

	switch (mode) {
	case API_MODE_OFF:
	case API_MODE_INFERENCE:
		return MODE_OFF;
	case API_MODE_ARGUMENT:
		if (constant.n && def_of(a, constant)->sub == SUB_const_true)
			return MODE_ON;
		if (constant.n && def_of(a, constant)->sub == SUB_const_false)
			return MODE_OFF;
		return MODE_ON | MODE_OFF;
	case API_MODE_ON:
	case API_MODE_KEEP:
		break;
	}
	return MODE_ON;
}

/* What the hidden slot of a `with` remembers: the modes to go back to. */
static void remember(struct analysis *a, struct activation *act, struct state *state, uint32_t inst,
                     uint32_t slot, value_id manager, uint8_t modes)
{
	object_id id = site_object(a, act, inst, 0x3d, OBJECT_SCOPE);
	struct object *object = object_renew(a, state, id);

	object->flags = modes;
	object->of = manager;
	if (slot != 0)
		slot_write(a, act, state, slot, value_of(a, id));
}

static value_id enter_generator(struct analysis *a, struct activation *act, struct state *state,
                                uint32_t inst, object_id generator)
{
	uint8_t modes = state->modes;
	value_id yielded = call_generator(a, act, state, inst, generator, &modes);

	state->modes = modes;
	return yielded;
}

static value_id enter_instance(struct analysis *a, struct activation *act, struct state *state,
                               uint32_t inst, object_id id)
{
	value_id method = class_lookup(a, state, object_read(state, id)->of,
	                               intern_text(a->names, "__enter__", 9));
	const struct argument self = {value_of(a, id), {0}};

	if (method.n == 0)
		return value_of(a, id);
	return call_value(a, act, state, (struct call){inst, 3, &self, 1}, method);
}

static value_id enter_object(struct analysis *a, struct activation *act, struct state *state,
                             uint32_t inst, object_id id)
{
	const struct def *def = def_of(a, id);

	switch (def->kind) {
	case OBJECT_SCOPE:
		if (def->mode != API_MODE_KEEP)
			state->modes = modes_of(a, def->mode, object_read(state, id)->with);
		return value_flags(a, V_NONE);
	case OBJECT_GENERATOR:
		return enter_generator(a, act, state, inst, id);
	case OBJECT_INSTANCE:
		return enter_instance(a, act, state, inst, id);
	case OBJECT_EXTERNAL:
		if (def->api && def->api->effect == API_MODE)
			event_note(a, act, inst, EVENT_MODE_UNUSED, (object_id){0}, (object_id){0});
		return value_of(a, id);
	default:
		return value_of(a, id);
	}
}

/* set_grad_enabled switched the mode when it was called; leaving goes back before that. */
static uint8_t modes_before(const struct analysis *a, const struct state *state, value_id manager)
{
	object_id id = value_single(a, manager);

	if (id.n && def_of(a, id)->kind == OBJECT_SCOPE && def_of(a, id)->mode == API_MODE_ARGUMENT)
		return (uint8_t)object_read(state, id)->flags;
	return state->modes;
}

value_id scope_enter(struct analysis *a, struct activation *act, struct state *state, uint32_t inst,
                     value_id manager, uint32_t slot)
{
	const struct value *v = value_get(a, manager);
	const uint8_t before = modes_before(a, state, manager);
	const uint8_t entered = state->modes;
	uint8_t modes = 0;
	value_id result = {0};

	for (uint32_t i = 0; i < v->count; i++) {
		state->modes = entered;
		result = value_join(a, result, enter_object(a, act, state, inst, v->refs[i]));
		modes |= state->modes;
	}
	state->modes = v->count && !v->flags ? modes : modes | entered;
	if (slot != 0)
		remember(a, act, state, inst, slot, manager, before);
	return result.n ? result : value_flags(a, V_CLEAN);
}

static void exit_instances(struct analysis *a, struct activation *act, struct state *state,
                           uint32_t inst, value_id manager)
{
	const struct value *v = value_get(a, manager);
	const value_id none = value_flags(a, V_NONE);

	for (uint32_t i = 0; i < v->count; i++) {
		const struct argument arguments[4] = {
		        {value_of(a, v->refs[i]), {0}}, {none, {0}}, {none, {0}}, {none, {0}}};
		value_id method;

		if (def_of(a, v->refs[i])->kind != OBJECT_INSTANCE)
			continue;
		method = class_lookup(a, state, object_read(state, v->refs[i])->of,
		                      intern_text(a->names, "__exit__", 8));
		if (method.n)
			call_value(a, act, state, (struct call){inst, 4, arguments, 4}, method);
	}
}

void scope_leave(struct analysis *a, struct activation *act, struct state *state, uint32_t inst,
                 uint32_t slot)
{
	value_id scopes = slot_read(a, act, state, slot);
	const struct value *v = value_get(a, scopes);
	uint8_t modes = 0;

	for (uint32_t i = 0; i < v->count; i++) {
		if (def_of(a, v->refs[i])->kind != OBJECT_SCOPE)
			continue;
		modes |= (uint8_t)object_read(state, v->refs[i])->flags;
		exit_instances(a, act, state, inst, object_read(state, v->refs[i])->of);
	}
	if (modes)
		state->modes = modes;
}

void mode_statement(struct analysis *a, struct activation *act, struct state *state, uint32_t inst,
                    value_id argument)
{
	state->modes = modes_of(a, API_MODE_ARGUMENT, argument);
	if (result_is_dropped(act, inst) && state->modes != (MODE_ON | MODE_OFF))
		state->mode_set = inst;
}

void check_mode_used(struct analysis *a, struct activation *act, uint32_t inst)
{
	if (result_is_dropped(act, inst))
		event_note(a, act, inst, EVENT_MODE_UNUSED, (object_id){0}, (object_id){0});
}

void check_mode_left(struct analysis *a, struct activation *act, const struct state *exit)
{
	if (exit->mode_set == 0 || act->func->kind == FUNC_MODULE ||
	    (exit->modes & ~(unsigned)act->entry_modes) == 0)
		return;
	event_note(a, act, exit->mode_set, EVENT_MODE_LEFT, (object_id){0}, (object_id){0})
	        ->left_on |= (exit->modes & ~(unsigned)act->entry_modes & MODE_ON) != 0;
	if (a->left_count < FACTS_MAX_LEFT)
		a->left[a->left_count++] = (struct left_mode){a->pending.count - 1, exit->modes};
}
