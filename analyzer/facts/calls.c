/* Calls: who is called. */

#include "analyzer/facts/calls.h"

#include <string.h>

/* What a few straight lines give is worth following even when little else is: a number, a
 * sum of losses. */
static bool too_deep(const struct analysis *a, const struct state *state, context_id context,
                     const struct ir_func *func)
{
	const bool small = func->insts.count <= FACTS_SMALL_FUNCTION && func->loops.count <= 1;

	return ((a->exhausted || a->decorates || state->count > FACTS_MAX_OBJECTS) && !small) ||
	       context_get(a, context)->depth >= (a->making ? FACTS_IMPORT_DEPTH : a->depth);
}

/* Into containers that are known one goes down to what they hold. */
static int deepest(struct analysis *a, const struct state *state, struct call call)
{
	const struct value *v = value_get(a, arguments_all(a, call));
	bool nests = false;

	for (uint32_t i = 0; i < v->count; i++) {
		if (def_of(a, v->refs[i])->kind == OBJECT_UNKNOWN)
			return MAX_RECURSION;
		nests |= builtin_class_of(container_kind(a, state, v->refs[i])) != NULL;
	}
	return nests ? MAX_NESTING : MAX_RECURSION;
}

static bool recurses(const struct analysis *a, context_id context, const struct ir_func *func,
                     int deepest)
{
	int same = 0;

	for (; context.n != 0; context = context_get(a, context)->parent)
		same += context_get(a, context)->func == func;
	return same >= deepest;
}

static struct activation *outermost_of(struct activation *act, const struct ir_func *func)
{
	struct activation *outermost = NULL;

	for (; act; act = act->caller)
		outermost = act->func == func ? act : outermost;
	return outermost;
}

/* One that calls itself at several places would be followed to each end of a tree. */
static bool branches_out(struct activation *act, const struct ir_func *func)
{
	struct activation *outermost = outermost_of(act, func);

	return outermost && ++outermost->entered > MAX_ENTERED;
}

/* What the function has returned so far; its outermost call runs again if that was
 * not all. */
static value_id call_recursive(struct analysis *a, struct activation *act, struct state *state,
                               const struct ir_func *func)
{
	struct activation *outermost = outermost_of(act, func);
	value_id result = {0};

	for (; act; act = act->caller)
		if (act->func == func)
			result = value_join(a, result, value_join(a, act->assumed, act->returned));
	if (outermost)
		outermost->recursed = true;
	state->reachable = result.n != 0;
	return result;
}

static value_id make_generator(struct analysis *a, struct activation *act, struct state *state,
                               struct call call, object_id function, object_id frame)
{
	object_id id = site_object(a, act, call.inst, 0x30 + call.part, OBJECT_GENERATOR);
	struct object *object = object_renew(a, state, id);

	object->of = value_of(a, frame);
	object->with = value_of(a, function);
	object->flags = object_read(state, function)->flags & O_CONTEXT_MANAGER;
	return value_of(a, id);
}

/* The cache keeps the result; the place to tell of is where the cache is made. */
static void keep_cached(struct analysis *a, struct activation *act, struct state *state,
                        struct call call, object_id function, value_id result)
{
	const uint32_t before = a->pending.count;

	container_add(a, act, state, call.inst, value_of(a, function), result);
	for (uint32_t i = before; i < a->pending.count; i++) {
		a->pending.at[i].flags |= EVENT_IN_CACHE;
		a->pending.at[i].place = def_of(a, function)->cached_at;
	}
}

enum { UNSEEN_PART = 0x31 };

bool is_unseen(const struct analysis *a, const struct activation *act, struct call call,
               object_id result)
{
	const struct def *def = def_of(a, result);

	return def->kind == OBJECT_UNKNOWN && def->part == UNSEEN_PART && def->inst == call.inst &&
	       def->context.n == act->context.n;
}

static value_id call_unseen(struct analysis *a, struct activation *act, struct state *state,
                            struct call call)
{
	const value_id arguments = arguments_all(a, call);
	const value_id result = unknown_value(a, act, state, call.inst, UNSEEN_PART, arguments);

	doubt_graph(a, state, value_single(a, result));
	return result;
}

static value_id call_body(struct analysis *a, struct activation *act, struct state *state,
                          struct call call, object_id function)
{
	const struct def *def = def_of(a, function);
	const struct ir_func *func = def->func;
	const struct project_file *file = def->file;
	const value_id definition = definition_handed_back(a, state, call, file, func);
	const bool decorates = a->decorates;
	context_id context;
	object_id frame;
	struct activation callee;
	value_id result;

	if (too_deep(a, state, act->context, func))
		return definition.n ? definition : call_unseen(a, act, state, call);
	if (!func->is_generator &&
	    (recurses(a, act->context, func, deepest(a, state, call)) || branches_out(act, func)))
		return call_recursive(a, act, state, func);
	context = context_enter(a, act->context, file, func, call.inst, call.part);
	frame = frame_object(a, context, func);
	bind_parameters(a, act, state, call, function, frame);
	if (func->is_generator)
		return make_generator(a, act, state, call, function, frame);
	callee = activation_begin(a, act, file, func, context);
	a->decorates |= definition.n != 0;
	result = run_function(a, &callee, state);
	a->decorates = decorates;
	if (object_read(state, function)->flags & O_CACHED)
		keep_cached(a, act, state, call, function, result);
	return result;
}

static value_id call_function(struct analysis *a, struct activation *act, struct state *state,
                              struct call call, object_id function)
{
	const unsigned model = model_of_function(a, function);
	const uint8_t modes = state->modes;
	value_id result;

	if (model & ~(unsigned)MODEL_NO_GRAD)
		return apply_model(a, act, state, call, function, model);
	if (model)
		state->modes = MODE_OFF;
	result = call_body(a, act, state, call, function);
	if (model)
		state->modes = modes;
	return result;
}

value_id call_generator(struct analysis *a, struct activation *act, struct state *state,
                        uint32_t inst, object_id generator, uint8_t *modes)
{
	const struct object *object = object_read(state, generator);
	object_id frame = value_single(a, object->of);
	object_id function = value_single(a, object->with);
	struct activation callee;

	if (frame.n == 0 || function.n == 0 ||
	    too_deep(a, state, act->context, def_of(a, function)->func) ||
	    recurses(a, act->context, def_of(a, function)->func, MAX_RECURSION))
		return unknown_value(a, act, state, inst, 0x32, (value_id){0});
	callee = activation_begin(a, act, def_of(a, function)->file, def_of(a, function)->func,
	                          def_of(a, frame)->context);
	callee.frame = frame;
	callee.filled = a->filled;
	a->filled = (object_id){0};
	run_function(a, &callee, state);
	state->reachable = true;
	*modes = callee.yield_modes ? callee.yield_modes : state->modes;
	return callee.yielded;
}

static value_id call_wrapper(struct analysis *a, struct activation *act, struct state *state,
                             struct call call, object_id wrapper)
{
	const struct object *object = object_read(state, wrapper);
	const uint8_t before = state->modes;
	value_id result;

	state->modes = modes_of(a, def_of(a, wrapper)->mode, object->with);
	result = call_value(a, act, state, call, object->of);
	state->modes = before;
	return result;
}

static value_id call_autograd_function(struct analysis *a, struct activation *act,
                                       struct state *state, struct call call, object_id class)
{
	value_id forward = class_lookup(a, state, value_of(a, class), sym(SYM_forward));
	value_id context = unknown_value(a, act, state, call.inst, 0x36, (value_id){0});
	struct argument room[MAX_ARGUMENTS + 1];
	const uint8_t before = state->modes;

	object_write(a, state, value_single(a, context))->flags |= O_AUTOGRAD_CONTEXT;
	state->modes = MODE_OFF;
	if (forward.n)
		call_value(a, act, state, with_receiver(call, value_single(a, context), a, room),
		           forward);
	state->modes = before;
	state->reachable = true;
	return value_of(
	        a, tensor_make(a, act, state, call.inst, 0x37, arguments_all(a, call), T_SAVES));
}

static bool is_forward(const struct analysis *a, object_id function)
{
	return function.n && def_of(a, function)->kind == OBJECT_FUNCTION &&
	       sym_is(def_of(a, function)->func->name, SYM_forward);
}

static value_id call_bound(struct analysis *a, struct activation *act, struct state *state,
                           struct call call, object_id bound)
{
	object_id receiver = value_single(a, object_read(state, bound)->of);
	struct argument room[MAX_ARGUMENTS + 1];
	value_id result;

	if (def_of(a, receiver)->kind == OBJECT_CLASS &&
	    def_of(a, value_single(a, object_read(state, bound)->with))->kind == OBJECT_EXTERNAL)
		return call_autograd_function(a, act, state, call, receiver);
	result = call_value(a, act, state, with_receiver(call, receiver, a, room),
	                    object_read(state, bound)->with);
	if (is_forward(a, value_single(a, object_read(state, bound)->with)) &&
	    is_module_instance(a, state, receiver))
		note_forward(a, act, state, call, receiver, result);
	return result;
}

static value_id call_instance(struct analysis *a, struct activation *act, struct state *state,
                              struct call call, object_id id)
{
	value_id method = class_lookup(a, state, object_read(state, id)->of, sym(SYM_call));
	struct argument room[MAX_ARGUMENTS + 1];
	const char *class_name;
	const struct api_entry *entry;

	if (is_module_instance(a, state, id))
		return call_module(a, act, state, call, id);
	if (method.n)
		return call_value(a, act, state, with_receiver(call, id, a, room), method);
	class_name = external_class(a, state, id);
	entry = class_name ? method_entry(a, class_name, "__call__") : NULL;
	return entry ? apply_api(a, act, state, with_receiver(call, id, a, room), entry)
	             : call_unknown(a, act, state, call, value_of(a, id));
}

static value_id call_partial(struct analysis *a, struct activation *act, struct state *state,
                             struct call call, object_id partial)
{
	const struct object *object = object_read(state, partial);
	struct argument room[2 * MAX_ARGUMENTS];
	uint32_t count = 0;

	for (uint32_t i = 0; i < object->field_count && count < MAX_ARGUMENTS; i++) {
		const sym_id keyword = {object->fields[i].key >= PARTIAL_KEYWORDS
		                                ? object->fields[i].key - PARTIAL_KEYWORDS
		                                : 0};

		room[count++] = (struct argument){object->fields[i].value, keyword};
	}
	for (uint32_t i = 0; i < call.count && i < MAX_ARGUMENTS; i++)
		room[count++] = call.at[i];
	call.at = room;
	call.count = count;
	return call_value(a, act, state, call, object->of);
}

/* `@torch.no_grad()`: the made mode is called with the function. */
static value_id decorate(struct analysis *a, struct activation *act, struct state *state,
                         struct call call, object_id scope)
{
	object_id id = site_object(a, act, call.inst, 0x3c, OBJECT_WRAPPER);
	struct object *object = object_renew(a, state, id);

	object->of = argument_at(a, state, call, 0, NULL);
	object->with = object_read(state, scope)->with;
	def_of(a, id)->mode = def_of(a, scope)->mode;
	return value_of(a, id);
}

value_id call_object(struct analysis *a, struct activation *act, struct state *state,
                     struct call call, object_id callee)
{
	switch (def_of(a, callee)->kind) {
	case OBJECT_FUNCTION:
		return call_function(a, act, state, call, callee);
	case OBJECT_WRAPPER:
		return call_wrapper(a, act, state, call, callee);
	case OBJECT_BOUND:
		return call_bound(a, act, state, call, callee);
	case OBJECT_CLASS:
		return bind_class(a, act, state, call, callee);
	case OBJECT_INSTANCE:
		return call_instance(a, act, state, call, callee);
	case OBJECT_EXTERNAL:
		return call_external(a, act, state, call, callee);
	case OBJECT_PARTIAL:
		return call_partial(a, act, state, call, callee);
	case OBJECT_NAMEDTUPLE:
		return make_record_tuple(a, act, state, call, callee);
	case OBJECT_SCOPE:
		return decorate(a, act, state, call, callee);
	case OBJECT_UNKNOWN:
	case OBJECT_TENSOR:
		return call_unknown_object(a, act, state, call, callee);
	default:
		return call_unknown(a, act, state, call, (value_id){0});
	}
}

/* `x.backward()` where x is one of several: one method of whichever it is. */
static bool same_method(struct analysis *a, const struct state *state, const struct value *callees,
                        value_id *receivers)
{
	value_id method = {0};

	for (uint32_t i = 0; i < callees->count; i++) {
		const struct object *bound = object_read(state, callees->refs[i]);
		const object_id receiver = value_single(a, bound->of);
		const object_id function = value_single(a, bound->with);

		if (def_of(a, callees->refs[i])->kind != OBJECT_BOUND || !function.n ||
		    def_of(a, function)->kind != OBJECT_EXTERNAL || !receiver.n ||
		    def_of(a, receiver)->kind == OBJECT_CLASS ||
		    (i > 0 && bound->with.n != method.n))
			return false;
		method = bound->with;
		*receivers = value_join(a, *receivers, bound->of);
	}
	return true;
}

/* A method that only modules have, of a module or of something unknown; NULL: another one. */
static const struct api_entry *telling_method(struct analysis *a, const struct state *state,
                                              object_id callee)
{
	const struct api_entry *entry = NULL;
	object_id function;

	switch (def_of(a, callee)->kind) {
	case OBJECT_BOUND:
		function = value_single(a, object_read(state, callee)->with);
		entry = function.n ? def_of(a, function)->api : NULL;
		break;
	case OBJECT_UNKNOWN:
		if (def_of(a, callee)->name.n && object_read(state, callee)->with.n)
			entry = method_entry(a, "torch.nn.Module",
			                     intern_chars(a->names, def_of(a, callee)->name, NULL));
		break;
	default:
		break;
	}
	return entry && api_has(entry, API_TELLS) ? entry : NULL;
}

/* `model.eval()` where the model is one of several, not all of which are known. */
static bool same_telling_method(struct analysis *a, struct state *state,
                                const struct value *callees, value_id *receivers,
                                const struct api_entry **entry)
{
	*receivers = (value_id){0};
	for (uint32_t i = 0; i < callees->count; i++) {
		const object_id callee = callees->refs[i];
		const bool bound = def_of(a, callee)->kind == OBJECT_BOUND;
		const struct api_entry *method = telling_method(a, state, callee);

		if (!method || (i > 0 && method != *entry))
			return false;
		*entry = method;
		*receivers = value_join(a, *receivers,
		                        bound ? object_read(state, callee)->of
		                              : object_read(state, callee)->with);
	}
	callees = value_get(a, *receivers);
	for (uint32_t i = 0; i < callees->count; i++)
		if (def_of(a, callees->refs[i])->kind == OBJECT_UNKNOWN)
			tell_module(a, state, callees->refs[i]);
	return true;
}

static value_id call_together(struct analysis *a, struct activation *act, struct state *state,
                              struct call call, object_id bound, value_id receivers)
{
	struct argument room[MAX_ARGUMENTS + 1];
	struct call full = with_receiver(call, bound, a, room);

	room[0].value = receivers;
	return call_value(a, act, state, full, object_read(state, bound)->with);
}

value_id call_value(struct analysis *a, struct activation *act, struct state *state,
                    struct call call, value_id callee)
{
	const struct value *v = value_get(a, callee);
	const bool by_choice = a->by_choice;
	struct argument room[MAX_ARGUMENTS + 1];
	const struct api_entry *telling = NULL;
	struct state *joined = NULL;
	value_id receivers = {0};
	value_id result = v->flags & (V_CLEAN | V_NUMBER | V_STRING) ? value_flags(a, V_CLEAN)
	                                                             : (value_id){0};

	if (v->count == 1)
		return value_join(a, result, call_object(a, act, state, call, v->refs[0]));
	if (v->count == 0)
		return call_unknown(a, act, state, call, callee);
	if (same_method(a, state, v, &receivers))
		return value_join(a, result,
		                  call_together(a, act, state, call, v->refs[0], receivers));
	if (same_telling_method(a, state, v, &receivers, &telling)) {
		call = with_receiver(call, v->refs[0], a, room);
		room[0].value = receivers;
		return value_join(a, result, apply_api(a, act, state, call, telling));
	}
	a->by_choice |= is_choice(a, state, callee);
	for (uint32_t i = 0; i < v->count && i < FACTS_CALLEES; i++) {
		struct state *branch = state_copy(a, state);

		result = value_join(a, result, call_object(a, act, branch, call, v->refs[i]));
		if (!branch->reachable)
			continue;
		if (!joined) {
			joined = branch;
			continue;
		}
		state_join(a, joined, branch);
		state_release(a, branch);
	}
	a->by_choice = by_choice;
	if (joined) {
		state_release(a, state);
		*state = *joined;
	}
	return result;
}
