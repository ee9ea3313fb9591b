/* Modules: what calling one gives, and the hooks it runs. */

#include "analyzer/facts/calls.h"
#include "analyzer/facts/effects.h"

#include <stdio.h>
#include <string.h>

enum { WEIGHTS_DEPTH = 4, MAX_RISEN = 3 };

/* Modules. */

static bool is_method(const struct activation *act)
{
	const struct ir_func *func = act->func;

	return func->kind == FUNC_FUNCTION && func->params.count && func->parent.n &&
	       ir_func_get(act->file->lowered.module, func->parent)->kind == FUNC_CLASS_BODY;
}

value_id module_self(struct analysis *a, struct activation *act, const struct state *state)
{
	value_id self = is_method(act) ? slot_read(a, act, state, act->func->params.at[0].slot.n)
	                               : (value_id){0};
	object_id id = value_single(a, self);

	return id.n && object_read(state, id)->flags & O_MODULE ? self : (value_id){0};
}

/* Its graph goes on; or it asks for a gradient, which a model that is not seen may take. */
static bool continues_graph(struct analysis *a, const struct state *state, struct call call,
                            object_id module)
{
	const bool unseen = def_of(a, module)->kind == OBJECT_UNKNOWN;
	const value_id tensors = tensors_in(a, state, arguments_all(a, call), 2);
	const struct value *v = value_get(a, tensors);

	for (uint32_t i = 0; i < v->count; i++) {
		const unsigned bits = object_read(state, v->refs[i])->tensor;

		if (!is_older(v->refs[i]) &&
		    (bits & T_GRAPH || (unseen && bits & T_LEAF && !(bits & T_WEIGHTS))))
			return true;
	}
	return false;
}

/* What puts its model into evaluation by itself is a whole evaluation, not a step of one. */
static bool is_whole_evaluation(const struct analysis *a, const struct ir_func *func)
{
	for (uint32_t i = 1; i < func->insts.count; i++) {
		const struct ir_inst *inst = &func->insts.at[i];

		if (inst->op == OP_load_attr &&
		    strcmp(intern_chars(a->names, (sym_id){inst->name}, NULL), "eval") == 0)
			return true;
	}
	return false;
}

/* A loop that evaluates may leave the call to a function: the loop's line is what counts. */
static void rise_to_loop(const struct analysis *a, struct activation **act, uint32_t *inst)
{
	struct activation *at = *act;
	uint32_t place = *inst;

	for (int risen = 0; at && risen <= MAX_RISEN; risen++) {
		const struct context *context = context_get(a, at->context);

		if (context->loop_of && context->loop_of[place].n != 0) {
			*act = at;
			*inst = place;
			return;
		}
		place = context->call;
		at = at->func->kind == FUNC_FUNCTION && !is_whole_evaluation(a, at->func)
		             ? at->caller
		             : NULL;
	}
}

void note_forward(struct analysis *a, struct activation *act, struct state *state, struct call call,
                  object_id module, value_id result)
{
	const value_id tensors = tensors_in(a, state, result, 3);
	const struct value *v = value_get(a, tensors);
	const uint32_t modes = object_read(state, module)->flags & (O_EVAL | O_TRAINING);
	value_id self;

	if (runs_forward(a, act->context) || a->module_depth > 0 ||
	    continues_graph(a, state, call, module))
		return;
	/* A method that the model calls on itself is part of it, whatever its name. */
	self = module_self(a, act, state);
	while (self.n && act->caller && module_self(a, act->caller, state).n == self.n) {
		call.inst = context_get(a, act->context)->call;
		act = act->caller;
	}
	if (modes == O_EVAL)
		rise_to_loop(a, &act, &call.inst);
	for (uint32_t i = 0; i < v->count; i++)
		if (object_read(state, v->refs[i])->tensor & T_GRAPH)
			event_note(a, act, call.inst, EVENT_EVAL, (object_id){0}, v->refs[i])
			        ->evaluates |= modes == O_EVAL;
}

static void run_hooks(struct analysis *a, struct activation *act, struct state *state,
                      struct call call, object_id module, value_id result)
{
	const sym_id hooks = intern_text(a->names, "$forward_hooks", 14);
	value_id functions = field_get(object_read(state, module), hooks.n);
	const struct argument arguments[3] = {
	        {value_of(a, module), {0}}, {arguments_all(a, call), {0}}, {result, {0}}};

	if (functions.n == 0)
		return;
	a->hook_depth++;
	call_value(a, act, state, (struct call){call.inst, 9, arguments, 3}, functions);
	a->hook_depth--;
}

static unsigned any_bits(const struct analysis *a, const struct state *state, value_id tensors)
{
	const struct value *v = value_get(a, tensors);
	unsigned bits = 0;

	for (uint32_t i = 0; i < v->count; i++)
		bits |= object_read(state, v->refs[i])->tensor;
	return bits;
}

static bool has_weights(const struct state *state, object_id module)
{
	return (object_read(state, module)->flags & (O_HAS_WEIGHTS | O_FROZEN)) == O_HAS_WEIGHTS;
}

/* What a module computes is in its weights' graph, if they have one now. */
static void mark_output(struct analysis *a, struct state *state, object_id module, object_id id,
                        unsigned operands, bool weights)
{
	struct object *result = object_write(a, state, id);

	if (weights)
		feel_modes_left(a, state, T_GRAPH);
	result->tensor |= T_MODULE | T_OUTPUT | (weights ? operands & T_ROWS : 0);
	if (object_read(state, module)->flags & O_DEVICE)
		result->tensor |= T_DEVICE;
	if (!(state->modes & MODE_ON)) {
		result->tensor &= ~(unsigned)(T_GRAPH | T_ASSUMED);
		result->tensor |= T_BARE;
		result->parents = (value_id){0};
	} else if (weights && !(operands & T_VOLATILE)) {
		result->tensor |= T_GRAPH;
		if (!(state->modes & MODE_OFF))
			result->tensor &= ~(unsigned)T_BARE;
	}
	def_of(a, id)->tensor_seen |= result->tensor;
}

static value_id opaque_result(struct analysis *a, struct activation *act, struct state *state,
                              struct call call)
{
	value_id opaque =
	        unknown_value(a, act, state, call.inst, 0x33 + call.part, arguments_all(a, call));

	object_write(a, state, value_single(a, opaque))->tensor |= T_SAVES;
	return opaque;
}

/* A criterion whose mean or sum is not switched off. */
static bool reduces(struct analysis *a, const struct state *state, object_id module,
                    const struct api_entry *entry)
{
	const object_id none = const_object(a, SUB_const_str, intern_text(a->names, "none", 4));

	return api_has(entry, API_SCALAR) &&
	       !value_has(a, contents_of(a, object_read(state, module)), none);
}

static value_id module_result(struct analysis *a, struct activation *act, struct state *state,
                              struct call call, object_id module)
{
	const char *class_name = external_class(a, state, module);
	const struct api_entry *entry = class_name ? method_entry(a, class_name, "__call__") : NULL;
	const value_id operands = arguments_all(a, call);
	value_id result, outputs = tensors_in(a, state, operands, 1);
	const unsigned bits = any_bits(a, state, outputs);
	const struct value *v;

	if (def_of(a, module)->kind == OBJECT_UNKNOWN || !entry ||
	    (entry->result != KIND_TENSOR && entry->result != KIND_TENSORS)) {
		result = opaque_result(a, act, state, call);
	} else if (entry->result == KIND_TENSORS) {
		struct effect effect = {a, act, state, call, entry};

		result = effect_tuple(&effect, operands, T_SAVES);
	} else {
		object_id id =
		        tensor_make(a, act, state, call.inst, 0x34 + call.part, operands,
		                    T_SAVES | (reduces(a, state, module, entry) ? T_SCALAR : 0));

		def_of(a, id)->api = entry;
		result = value_of(a, id);
	}
	outputs = tensors_in(a, state, result, 2);
	v = value_get(a, outputs);
	for (uint32_t i = 0; i < v->count; i++)
		mark_output(a, state, module, v->refs[i], bits, has_weights(state, module));
	return result;
}

static bool is_chain_of_modules(struct analysis *a, const struct state *state, object_id module)
{
	const char *class_name = external_class(a, state, module);
	const struct value *parts = value_get(a, object_read(state, module)->elements);

	if (!class_name || !class_is_a(a, class_name, "torch.nn.Sequential"))
		return false;
	for (uint32_t i = 0; i < parts->count; i++)
		if (!(object_read(state, parts->refs[i])->flags & O_MODULE))
			return false;
	return parts->count > 0;
}

/* nn.Sequential: objects are numbered as they are made, which is the order of the parts. */
static value_id call_in_order(struct analysis *a, struct activation *act, struct state *state,
                              struct call call, object_id module)
{
	const value_id elements = object_read(state, module)->elements;
	const struct value *parts = value_get(a, elements);
	struct argument x = {arguments_all(a, call), {0}};

	for (uint32_t i = 0; i < parts->count && state->reachable; i++) {
		object_id part = parts->refs[i];

		if (object_read(state, module)->flags & O_FROZEN)
			object_write(a, state, part)->flags |= O_FROZEN;
		if (object_read(state, module)->flags & O_DEVICE)
			object_write(a, state, part)->flags |= O_DEVICE;
		a->module_depth++;
		x.value = call_module(a, act, state,
		                      (struct call){call.inst, 0x400 * (i + 1), &x, 1}, part);
		a->module_depth--;
	}
	return x.value;
}

static void mark_computed(struct analysis *a, struct state *state, value_id result)
{
	const value_id outputs = tensors_in(a, state, result, 2);
	const struct value *v = value_get(a, outputs);

	for (uint32_t i = 0; i < v->count; i++)
		if (!is_older(v->refs[i]) && object_read(state, v->refs[i])->tensor & T_GRAPH)
			object_write(a, state, v->refs[i])->tensor |= T_MODULE;
}

/* Its own, or those of its parts. */
static bool has_weights_inside(struct analysis *a, const struct state *state, object_id id,
                               int depth)
{
	const value_id contents = contents_of(a, object_read(state, id));
	const struct value *v = value_get(a, contents);

	if (has_weights(state, id))
		return true;
	for (uint32_t i = 0; i < v->count; i++) {
		const struct object *part = object_read(state, v->refs[i]);

		if ((part->tensor & T_WEIGHTS && part->tensor & T_LEAF) ||
		    (depth > 0 && part->flags & O_MODULE && !(part->flags & O_FROZEN) &&
		     has_weights_inside(a, state, v->refs[i], depth - 1)))
			return true;
	}
	return false;
}

static bool cuts(struct analysis *a, const char *name)
{
	const struct api_entry *method = method_entry(a, "torch.Tensor", name);
	char dotted[64];
	const int length = snprintf(dotted, sizeof(dotted), "torch.%s", name);
	const struct api_entry *function = length > 0 && (size_t)length < sizeof(dotted)
	                                           ? api_find(dotted, (size_t)length)
	                                           : NULL;

	return (function && function->effect == API_MODE) ||
	       (method && (method->effect == API_CUTS || method->effect == API_CUTS_VIEW ||
	                   method->effect == API_CUTS_IN_PLACE));
}

/* Does nothing in its text drop a graph? */
static bool hands_graph_on(struct analysis *a, const struct ir_func *func)
{
	for (uint32_t i = 1; i < func->insts.count; i++) {
		const struct ir_inst *inst = &func->insts.at[i];

		if (inst->op == OP_load_attr &&
		    cuts(a, intern_chars(a->names, (sym_id){inst->name}, NULL)))
			return false;
	}
	return true;
}

/* A forward that was too much to follow gives what a module that is not known gives. */
static void mark_unseen(struct analysis *a, const struct activation *act, struct state *state,
                        struct call call, object_id module, value_id method, value_id result)
{
	const object_id id = value_single(a, result), function = value_single(a, method);
	const value_id operands = tensors_in(a, state, arguments_all(a, call), 1);

	if (!id.n || !is_unseen(a, act, call, id) || !function.n ||
	    def_of(a, function)->kind != OBJECT_FUNCTION ||
	    !hands_graph_on(a, def_of(a, function)->func))
		return;
	mark_output(a, state, module, id, any_bits(a, state, operands),
	            !(object_read(state, module)->flags & O_FROZEN) &&
	                    has_weights_inside(a, state, module, WEIGHTS_DEPTH));
}

value_id call_module(struct analysis *a, struct activation *act, struct state *state,
                     struct call call, object_id module)
{
	const value_id classes = object_read(state, module)->of;
	value_id method = class_lookup(a, state, classes, sym(SYM_call));
	struct argument room[MAX_ARGUMENTS + 1];
	value_id result;

	if (method.n == 0)
		method = class_lookup(a, state, classes, sym(SYM_forward));
	if (method.n == 0)
		method = field_get(object_read(state, module), (uint32_t)SYM_forward);
	if (method.n) {
		result = call_value(a, act, state, with_receiver(call, module, a, room), method);
		mark_unseen(a, act, state, call, module, method, result);
		mark_computed(a, state, result);
	} else if (is_chain_of_modules(a, state, module))
		result = call_in_order(a, act, state, call, module);
	else
		result = module_result(a, act, state, call, module);
	if (!runs_forward(a, act->context))
		site_note(a, &a->runs, (struct site){act->context, call.inst, false});
	run_hooks(a, act, state, call, module, result);
	note_forward(a, act, state, call, module, result);
	return result;
}
