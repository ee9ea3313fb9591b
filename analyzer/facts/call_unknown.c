/* Callees that are not known: what they may return, and do to what they get. */

#include "analyzer/facts/calls.h"

#include <string.h>

/* Unknown callees. */

bool result_is_dropped(const struct activation *act, uint32_t inst)
{
	const struct ir_inst *next;

	if (inst == 0 || inst + 1 >= act->func->insts.count)
		return false;
	next = inst_at(act, inst + 1);
	return next->op == OP_drop && ir_args(act->func, next)->value.n == inst;
}

static value_id containers_in(struct analysis *a, value_id value)
{
	const struct value *v = value_get(a, value);
	value_id found = {0};

	for (uint32_t i = 0; i < v->count; i++)
		if (!is_tensor_like(a, v->refs[i]))
			found = value_join(a, found, value_of(a, v->refs[i]));
	return found;
}

static bool is_callback(const struct analysis *a, const struct state *state, object_id id)
{
	enum object_kind kind = def_of(a, id)->kind;
	object_id method;

	if (kind == OBJECT_FUNCTION || kind == OBJECT_WRAPPER)
		return true;
	method = kind == OBJECT_BOUND ? value_single(a, object_read(state, id)->with)
	                              : (object_id){0};
	return method.n != 0 && (def_of(a, method)->kind == OBJECT_FUNCTION ||
	                         def_of(a, method)->kind == OBJECT_WRAPPER);
}

static void call_back(struct analysis *a, struct activation *act, struct state *state,
                      struct call call)
{
	struct argument unknown[4];
	const bool outside = a->from_outside;

	for (uint32_t i = 0; i < call.count; i++) {
		const struct value *v = value_get(a, call.at[i].value);

		for (uint32_t r = 0; r < v->count; r++) {
			if (!is_callback(a, state, v->refs[r]))
				continue;
			for (uint32_t k = 0; k < 4; k++)
				unknown[k] = (struct argument){
				        unknown_value(a, act, state, call.inst,
				                      0x50 + k + 0x100 * (v->refs[r].n + 1),
				                      (value_id){0}),
				        {0}};
			a->from_outside = true;
			call_object(a, act, state, (struct call){call.inst, 10, unknown, 4},
			            v->refs[r]);
			a->from_outside = outside;
			state->reachable = true;
		}
	}
}

/* Containers that unknown code gets: it may add to them and empty them. */
static void hand_over(struct analysis *a, struct activation *act, struct state *state,
                      struct call call)
{
	const value_id arguments = arguments_all(a, call);
	const struct value *v = value_get(a, arguments);

	for (uint32_t i = 0; i < v->count; i++) {
		enum object_kind kind = def_of(a, v->refs[i])->kind;
		struct object *object;

		if (kind != OBJECT_LIST && kind != OBJECT_DICT && kind != OBJECT_SET &&
		    kind != OBJECT_DEQUE)
			continue;
		object = object_write(a, state, v->refs[i]);
		object->flags |= O_CLEARED;
		if (object->elements.n == 0 && object->field_count == 0) {
			value_id added =
			        unknown_value(a, act, state, call.inst, 0x58, (value_id){0});

			elements_join(a, object_write(a, state, v->refs[i]), added);
		}
	}
}

void doubt_graph(struct analysis *a, struct state *state, object_id id)
{
	struct object *object = object_write(a, state, id);

	object->tensor |= T_SAVES | T_BARE;
	if (object->tensor & T_GRAPH)
		object->tensor |= T_ASSUMED;
	object->tensor &= ~(unsigned)T_GRAPH;
}

static void mark_passed(struct analysis *a, const struct state *state, value_id arguments)
{
	const value_id tensors = tensors_in(a, state, arguments, 1);
	const struct value *v = value_get(a, tensors);

	for (uint32_t i = 0; i < v->count; i++)
		def_of(a, v->refs[i])->passed = true;
}

/* A method of a thing that is no model answers with what the thing has: an environment's
 * state, a metric. */
static bool is_no_model(const struct analysis *a, const struct state *state, object_id owner)
{
	return owner.n && !(object_read(state, owner)->flags & O_MODULE) &&
	       !def_of(a, owner)->proven_module;
}

static void not_an_output(struct analysis *a, struct state *state, value_id result)
{
	if (value_single(a, result).n)
		object_write(a, state, value_single(a, result))->tensor &= ~(unsigned)T_OUTPUT;
}

value_id call_unknown(struct analysis *a, struct activation *act, struct state *state,
                      struct call call, value_id callee)
{
	const value_id arguments = arguments_all(a, call);
	value_id result;

	if (is_decoration(a, act, call))
		return call.at[0].value;
	call_back(a, act, state, call);
	hand_over(a, act, state, call);
	mark_passed(a, state, arguments);
	if (result_is_dropped(act, call.inst))
		graph_may_be_needed(a, state, containers_in(a, arguments), false);
	result = unknown_value(a, act, state, call.inst, 0x35 + call.part,
	                       value_join(a, arguments, tensors_in(a, state, callee, 0)));
	doubt_graph(a, state, value_single(a, result));
	if (is_no_model(a, state,
	                value_single(a, object_read(state, value_single(a, callee))->with)))
		not_an_output(a, state, result);
	return result;
}

void tell_module(struct analysis *a, struct state *state, object_id id)
{
	object_write(a, state, id)->flags |= O_MODULE | O_HAS_WEIGHTS;
	def_of(a, id)->proven_module = true;
}

/* A method of something unknown: its name tells what it can be. */
static value_id call_unknown_method(struct analysis *a, struct activation *act, struct state *state,
                                    struct call call, object_id method, object_id receiver)
{
	const char *name = intern_chars(a->names, def_of(a, method)->name, NULL);
	static const char *const classes[] = {"list", "dict", "torch.Tensor"};
	struct argument room[MAX_ARGUMENTS + 1];
	struct call full = with_receiver(call, receiver, a, room);
	const struct api_entry *entry;
	value_id result;

	entry = method_entry(a, "torch.nn.Module", name);
	if (entry && api_has(entry, API_TELLS)) {
		tell_module(a, state, receiver);
		return apply_api(a, act, state, full, entry);
	}
	if (strcmp(name, "backward") == 0 && call.count > 0 && call.at[0].keyword.n == 0 &&
	    value_may_carry(a, state, call.at[0].value))
		full = call; /* accelerator.backward(loss), fabric.backward(loss) */
	for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); i++) {
		entry = method_entry(a, classes[i], name);
		if (entry && strcmp(name, "update") != 0 && strcmp(name, "add") != 0)
			return apply_api(a, act, state, full, entry);
	}
	result = call_unknown(a, act, state, call, value_of(a, receiver));
	if (is_no_model(a, state, receiver))
		not_an_output(a, state, result);
	return result;
}

value_id call_unknown_object(struct analysis *a, struct activation *act, struct state *state,
                             struct call call, object_id id)
{
	object_id receiver = value_single(a, object_read(state, id)->with);

	if (object_read(state, id)->flags & O_MODULE || def_of(a, id)->proven_module) {
		object_write(a, state, id)->flags |= O_MODULE | O_HAS_WEIGHTS;
		return call_module(a, act, state, call, id);
	}
	if (receiver.n && def_of(a, id)->name.n)
		return call_unknown_method(a, act, state, call, id, receiver);
	return call_unknown(a, act, state, call, value_of(a, id));
}
