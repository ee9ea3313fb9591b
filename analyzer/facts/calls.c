/* Calls: who is called, with what bound to what. */

#include "analyzer/facts/analysis.h"

#include <string.h>

enum { MAX_ARGUMENTS = 24, MAX_RECURSION = 2 };

value_id arguments_all(struct analysis *a, struct call call)
{
	value_id all = {0};

	for (uint32_t i = 0; i < call.count; i++)
		all = value_join(a, all, call.at[i].value);
	return all;
}

value_id argument_named(const struct analysis *a, struct call call, const char *keyword)
{
	for (uint32_t i = 0; i < call.count; i++)
		if (call.at[i].keyword.n &&
		    strcmp(intern_chars(a->names, call.at[i].keyword, NULL), keyword) == 0)
			return call.at[i].value;
	return (value_id){0};
}

value_id argument_at(struct analysis *a, const struct state *state, struct call call,
                     uint32_t index, const char *keyword)
{
	uint32_t position = 0;

	for (uint32_t i = 0; i < call.count; i++) {
		if (sym_is(call.at[i].keyword, SYM_star))
			return contents_of(a,
			                   object_read(state, value_single(a, call.at[i].value)));
		if (call.at[i].keyword.n == 0 && position++ == index)
			return call.at[i].value;
	}
	return keyword ? argument_named(a, call, keyword) : (value_id){0};
}

/* Binding of arguments to parameters. */

static value_id rest_tuple(struct analysis *a, struct activation *act, struct state *state,
                           struct call call, uint32_t from)
{
	object_id id = site_object(a, act, call.inst, 0x20, OBJECT_TUPLE);
	struct object built = {0};
	uint32_t position = 0;

	for (uint32_t i = 0; i < call.count; i++) {
		if (sym_is(call.at[i].keyword, SYM_star)) {
			elements_join(a, &built,
			              iterate(a, act, state, call.inst, call.at[i].value));
		} else if (call.at[i].keyword.n == 0) {
			if (position >= from)
				field_set(a, &built, position - from, call.at[i].value);
			position++;
		}
	}
	built.stamp = state->stamp;
	*object_renew(a, state, id) = built;
	return value_of(a, id);
}

static bool is_parameter(const struct ir_func *func, sym_id name)
{
	for (uint32_t p = 0; p < func->params.count; p++)
		if (func->slots.at[func->params.at[p].slot.n].name.n == name.n &&
		    func->params.at[p].kind != PARAM_VAR_KEYWORD)
			return true;
	return false;
}

static value_id rest_dict(struct analysis *a, struct activation *act, struct state *state,
                          struct call call, const struct ir_func *func)
{
	object_id id = site_object(a, act, call.inst, 0x21, OBJECT_DICT);
	struct object built = {0};

	for (uint32_t i = 0; i < call.count; i++) {
		sym_id keyword = call.at[i].keyword;

		if (sym_is(keyword, SYM_double_star))
			elements_join(a, &built,
			              iterate(a, act, state, call.inst, call.at[i].value));
		else if (keyword.n && !sym_is(keyword, SYM_star) && !is_parameter(func, keyword))
			field_set(a, &built, const_object(a, SUB_const_str, keyword).n,
			          call.at[i].value);
	}
	built.stamp = state->stamp;
	*object_renew(a, state, id) = built;
	return value_of(a, id);
}

static value_id spread_value(struct analysis *a, struct activation *act, struct state *state,
                             struct call call, enum well_known_name star)
{
	value_id spread = {0};

	for (uint32_t i = 0; i < call.count; i++)
		if (sym_is(call.at[i].keyword, star))
			spread = value_join(
			        a, spread,
			        star == SYM_star
			                ? iterate(a, act, state, call.inst, call.at[i].value)
			                : contents_of(
			                          a,
			                          object_read(state,
			                                      value_single(a, call.at[i].value))));
	return spread;
}

static value_id parameter_value(struct analysis *a, struct activation *act, struct state *state,
                                struct call call, const struct ir_func *func, uint32_t p,
                                const struct object *function)
{
	const struct ir_param *param = &func->params.at[p];
	const sym_id name = func->slots.at[param->slot.n].name;
	value_id value = {0};
	uint32_t position = 0;

	if (param->kind == PARAM_VAR_POSITIONAL)
		return rest_tuple(a, act, state, call, p);
	if (param->kind == PARAM_VAR_KEYWORD)
		return rest_dict(a, act, state, call, func);
	for (uint32_t i = 0; i < call.count && value.n == 0; i++) {
		if (call.at[i].keyword.n == 0 && param->kind != PARAM_KEYWORD_ONLY &&
		    position++ == p)
			value = call.at[i].value;
		else if (call.at[i].keyword.n == name.n)
			value = call.at[i].value;
	}
	if (value.n == 0 && param->kind != PARAM_KEYWORD_ONLY)
		value = spread_value(a, act, state, call, SYM_star);
	if (value.n == 0)
		value = spread_value(a, act, state, call, SYM_double_star);
	if (param->has_default)
		value = value.n ? value : field_get(function, name.n);
	return value;
}

static void bind_parameters(struct analysis *a, struct activation *act, struct state *state,
                            struct call call, object_id function, object_id frame)
{
	const struct ir_func *func = def_of(a, function)->func;
	value_id values[MAX_ARGUMENTS];
	struct object *object;
	uint32_t count = func->params.count;

	if (count > MAX_ARGUMENTS)
		count = MAX_ARGUMENTS;
	for (uint32_t p = 0; p < count; p++)
		values[p] =
		        parameter_value(a, act, state, call, func, p, object_read(state, function));
	object = object_renew(a, state, frame);
	object->of = object_read(state, function)->of;
	for (uint32_t p = 0; p < count; p++)
		field_set(a, object, func->params.at[p].slot.n, values[p]);
}

static bool too_deep(const struct analysis *a, context_id context, const struct ir_func *func)
{
	const struct context *c = context_get(a, context);
	int same = 0;

	if (a->exhausted || c->depth >= (a->importing ? FACTS_IMPORT_DEPTH : FACTS_MAX_DEPTH))
		return true;
	for (; context.n != 0; context = context_get(a, context)->parent)
		same += context_get(a, context)->func == func;
	return same >= MAX_RECURSION;
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

static value_id call_function(struct analysis *a, struct activation *act, struct state *state,
                              struct call call, object_id function)
{
	const struct def *def = def_of(a, function);
	const struct ir_func *func = def->func;
	const struct project_file *file = def->file;
	context_id context;
	object_id frame;
	struct activation callee;
	value_id result;

	if (too_deep(a, act->context, func))
		return unknown_value(a, act, state, call.inst, 0x31, arguments_all(a, call));
	context = context_enter(a, act->context, file, func, call.inst, call.part);
	frame = frame_object(a, context, func);
	bind_parameters(a, act, state, call, function, frame);
	if (func->is_generator)
		return make_generator(a, act, state, call, function, frame);
	callee = activation_begin(a, act, file, func, context);
	result = run_function(a, &callee, state);
	if (object_read(state, function)->flags & O_CACHED)
		keep_cached(a, act, state, call, function, result);
	return result;
}

value_id call_generator(struct analysis *a, struct activation *act, struct state *state,
                        uint32_t inst, object_id generator, uint8_t *modes)
{
	const struct object *object = object_read(state, generator);
	object_id frame = value_single(a, object->of);
	object_id function = value_single(a, object->with);
	struct activation callee;

	if (frame.n == 0 || function.n == 0 || too_deep(a, act->context, def_of(a, function)->func))
		return unknown_value(a, act, state, inst, 0x32, (value_id){0});
	callee = activation_begin(a, act, def_of(a, function)->file, def_of(a, function)->func,
	                          def_of(a, frame)->context);
	callee.frame = frame;
	run_function(a, &callee, state);
	state->reachable = true;
	*modes = callee.yield_modes ? callee.yield_modes : state->modes;
	return callee.yielded;
}

/* Construction. */

static bool is_record_class(struct analysis *a, const struct state *state, object_id class)
{
	const char *base = external_class(a, state, class);

	return object_read(state, class)->flags & O_RECORD ||
	       (base && strcmp(base, "typing.NamedTuple") == 0);
}

static void bind_record(struct analysis *a, struct activation *act, struct state *state,
                        struct call call, object_id class, object_id instance)
{
	const struct ir_func *body = def_of(a, class)->func;
	uint32_t position = 0;

	for (uint32_t i = 1; i < body->insts.count; i++) {
		const struct ir_inst *inst = &body->insts.at[i];
		sym_id name = {inst->name};
		value_id value;

		if (inst->op != OP_annotate)
			continue;
		value = argument_at(a, state, call, position++, intern_chars(a->names, name, NULL));
		if (value.n == 0)
			value = class_lookup(a, state, value_of(a, class), name);
		(void)act;
		field_set(a, object_write(a, state, instance), name.n, value);
	}
}

static struct call with_receiver(struct call call, object_id receiver, struct analysis *a,
                                 struct argument *room)
{
	uint32_t count = call.count < MAX_ARGUMENTS ? call.count : MAX_ARGUMENTS;

	room[0] = (struct argument){value_of(a, receiver), {0}};
	if (count)
		memcpy(room + 1, call.at, count * sizeof(*room));
	call.at = room;
	call.count = count + 1;
	return call;
}

value_id bind_class(struct analysis *a, struct activation *act, struct state *state,
                    struct call call, object_id class)
{
	object_id id = site_object(a, act, call.inst, 0x28 + call.part, OBJECT_INSTANCE);
	struct object *object = object_renew(a, state, id);
	struct argument room[MAX_ARGUMENTS + 1];
	value_id init;

	object->of = value_of(a, class);
	if (is_module_instance(a, state, id))
		object_write(a, state, id)->flags |= O_MODULE | O_TRAINING;
	if (is_record_class(a, state, class))
		bind_record(a, act, state, call, class, id);
	init = class_lookup(a, state, value_of(a, class), sym(SYM_init));
	if (init.n)
		call_value(a, act, state, with_receiver(call, id, a, room), init);
	else if (external_class(a, state, id) && !is_record_class(a, state, class))
		elements_join(a, object_write(a, state, id),
		              tensors_in(a, state, arguments_all(a, call), 2));
	state->reachable = true;
	return value_of(a, id);
}

/* Modules. */

static bool inside_module(const struct analysis *a, context_id context)
{
	for (; context.n != 0; context = context_get(a, context)->parent)
		if (sym_is(context_get(a, context)->func->name, SYM_forward))
			return true;
	return false;
}

static void note_eval(struct analysis *a, struct activation *act, struct state *state,
                      struct call call, value_id result)
{
	const value_id tensors = tensors_in(a, state, result, 3);
	const struct value *v = value_get(a, tensors);

	if (inside_module(a, act->context) || a->module_depth > 0)
		return;
	for (uint32_t i = 0; i < v->count; i++)
		if (object_read(state, v->refs[i])->tensor & T_GRAPH)
			event_note(a, act, call.inst, EVENT_EVAL, (object_id){0}, v->refs[i]);
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

static value_id module_result(struct analysis *a, struct activation *act, struct state *state,
                              struct call call, object_id module)
{
	const struct object *object = object_read(state, module);
	const bool weights = object->flags & O_HAS_WEIGHTS && !(object->flags & O_FROZEN);
	const char *class_name = external_class(a, state, module);
	const struct api_entry *entry =
	        class_name ? api_method(class_name, strlen(class_name), "__call__", 8) : NULL;
	object_id id;
	struct object *result;

	if (def_of(a, module)->kind == OBJECT_UNKNOWN || !entry || entry->result != KIND_TENSOR) {
		value_id opaque = unknown_value(a, act, state, call.inst, 0x33 + call.part,
		                                arguments_all(a, call));

		id = value_single(a, opaque);
		result = object_write(a, state, id);
		result->tensor |= T_SAVES;
	} else {
		id = tensor_make(a, act, state, call.inst, 0x34 + call.part, arguments_all(a, call),
		                 T_SAVES);
		def_of(a, id)->api = entry;
		result = object_write(a, state, id);
	}
	result->tensor |= T_MODULE | T_OUTPUT;
	if (object_read(state, module)->flags & O_DEVICE)
		result->tensor |= T_DEVICE;
	if (!(state->modes & MODE_ON)) {
		result->tensor &= (uint16_t) ~(T_GRAPH | T_ASSUMED);
		result->tensor |= T_BARE;
		result->parents = (value_id){0};
	} else if (weights) {
		result->tensor |= T_GRAPH;
		if (!(state->modes & MODE_OFF))
			result->tensor &= (uint16_t)~T_BARE;
	}
	def_of(a, id)->tensor_seen |= result->tensor;
	return value_of(a, id);
}

static bool is_chain_of_modules(struct analysis *a, const struct state *state, object_id module)
{
	const char *class_name = external_class(a, state, module);
	const struct value *parts = value_get(a, object_read(state, module)->elements);

	if (!class_name || !api_is_a(class_name, strlen(class_name), "torch.nn.Sequential"))
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
	if (method.n)
		result = call_value(a, act, state, with_receiver(call, module, a, room), method);
	else if (is_chain_of_modules(a, state, module))
		result = call_in_order(a, act, state, call, module);
	else
		result = module_result(a, act, state, call, module);
	run_hooks(a, act, state, call, module, result);
	if ((object_read(state, module)->flags & (O_EVAL | O_TRAINING)) == O_EVAL)
		note_eval(a, act, state, call, result);
	return result;
}

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

/* `@unknown` above a definition: what it makes is taken for the function or class. */
static bool is_decoration(const struct analysis *a, const struct activation *act, struct call call)
{
	const struct value *v = call.count == 1 ? value_get(a, call.at[0].value) : NULL;
	const struct ir_inst *inst = call.inst ? inst_at(act, call.inst) : NULL;
	enum ir_op made_by;

	if (!v || v->count != 1 || !inst || inst->op != OP_call || inst->nargs != 2)
		return false;
	made_by = (enum ir_op)inst_at(act, ir_args(act->func, inst)[1].value.n)->op;
	return made_by == OP_function || made_by == OP_class || made_by == OP_call
	               ? def_of(a, v->refs[0])->kind == OBJECT_FUNCTION ||
	                         def_of(a, v->refs[0])->kind == OBJECT_CLASS ||
	                         def_of(a, v->refs[0])->kind == OBJECT_WRAPPER
	               : false;
}

/* Unknown code may return a graph of its arguments, or a number. */
static void doubt(struct analysis *a, struct state *state, object_id id)
{
	struct object *object = object_write(a, state, id);

	object->tensor |= T_SAVES | T_BARE;
	if (object->tensor & T_GRAPH)
		object->tensor |= T_ASSUMED;
	object->tensor &= (uint16_t)~T_GRAPH;
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
	if (result_is_dropped(act, call.inst))
		graph_may_be_needed(a, state, containers_in(a, arguments), false);
	result = unknown_value(a, act, state, call.inst, 0x35 + call.part,
	                       value_join(a, arguments, tensors_in(a, state, callee, 0)));
	doubt(a, state, value_single(a, result));
	return result;
}

static bool is_module_evidence(const char *method)
{
	static const char *const names[] = {
	        "parameters",
	        "named_parameters",
	        "train",
	        "eval",
	        "modules",
	        "named_modules",
	        "children",
	        "named_children",
	        "register_forward_hook",
	        "load_state_dict",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(names[i], method) == 0)
			return true;
	return false;
}

/* A method of something unknown: its name tells what it can be. */
static value_id call_unknown_method(struct analysis *a, struct activation *act, struct state *state,
                                    struct call call, object_id method, object_id receiver)
{
	size_t length;
	const char *name = intern_chars(a->names, def_of(a, method)->name, &length);
	static const char *const classes[] = {"list", "dict", "torch.Tensor"};
	struct argument room[MAX_ARGUMENTS + 1];
	struct call full = with_receiver(call, receiver, a, room);
	const struct api_entry *entry;

	if (is_module_evidence(name) && (entry = api_method("torch.nn.Module", 15, name, length))) {
		object_write(a, state, receiver)->flags |= O_MODULE | O_HAS_WEIGHTS;
		def_of(a, receiver)->proven_module = true;
		return apply_api(a, act, state, full, entry);
	}
	if (strcmp(name, "backward") == 0 && call.count > 0)
		full = call; /* accelerator.backward(loss), fabric.backward(loss) */
	for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); i++) {
		entry = api_method(classes[i], strlen(classes[i]), name, length);
		if (entry && strcmp(name, "update") != 0 && strcmp(name, "add") != 0)
			return apply_api(a, act, state, full, entry);
	}
	return call_unknown(a, act, state, call, value_of(a, receiver));
}

static value_id call_unknown_object(struct analysis *a, struct activation *act, struct state *state,
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

static value_id call_bound(struct analysis *a, struct activation *act, struct state *state,
                           struct call call, object_id bound)
{
	object_id receiver = value_single(a, object_read(state, bound)->of);
	struct argument room[MAX_ARGUMENTS + 1];

	if (def_of(a, receiver)->kind == OBJECT_CLASS &&
	    def_of(a, value_single(a, object_read(state, bound)->with))->kind == OBJECT_EXTERNAL)
		return call_autograd_function(a, act, state, call, receiver);
	return call_value(a, act, state, with_receiver(call, receiver, a, room),
	                  object_read(state, bound)->with);
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
	entry = class_name ? api_method(class_name, strlen(class_name), "__call__", 8) : NULL;
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

/* The names in "seen move logp", or in a list of strings; 0 past the end. */
static sym_id field_name(struct analysis *a, const struct state *state, value_id names,
                         uint32_t index)
{
	object_id id = value_single(a, names);
	const char *text, *end;

	if (id.n && def_of(a, id)->kind != OBJECT_CONST) {
		object_id item = value_single(a, field_get(object_read(state, id), index));

		return item.n ? def_of(a, item)->name : (sym_id){0};
	}
	if (id.n == 0)
		return (sym_id){0};
	text = intern_chars(a->names, def_of(a, id)->name, NULL);
	for (;; index--) {
		text += strspn(text, " ,\n\t");
		end = text + strcspn(text, " ,\n\t");
		if (end == text)
			return (sym_id){0};
		if (index == 0)
			return intern_text(a->names, text, (size_t)(end - text));
		text = end;
	}
}

static value_id make_record_tuple(struct analysis *a, struct activation *act, struct state *state,
                                  struct call call, object_id class)
{
	object_id id = site_object(a, act, call.inst, 0x3b + call.part, OBJECT_TUPLE);
	value_id names = object_read(state, class)->of;
	struct object built = {0};

	for (uint32_t i = 0; i < MAX_ARGUMENTS; i++) {
		sym_id name = field_name(a, state, names, i);
		value_id value;

		if (name.n == 0)
			break;
		value = argument_at(a, state, call, i, intern_chars(a->names, name, NULL));
		field_set(a, &built, i, value);
		field_set(a, &built, PARTIAL_KEYWORDS + name.n, value);
	}
	built.stamp = state->stamp;
	*object_renew(a, state, id) = built;
	return value_of(a, id);
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

value_id call_value(struct analysis *a, struct activation *act, struct state *state,
                    struct call call, value_id callee)
{
	const struct value *v = value_get(a, callee);
	struct state *joined = NULL;
	value_id result = v->flags & (V_CLEAN | V_NUMBER | V_STRING) ? value_flags(a, V_CLEAN)
	                                                             : (value_id){0};

	if (v->count == 1)
		return value_join(a, result, call_object(a, act, state, call, v->refs[0]));
	if (v->count == 0)
		return call_unknown(a, act, state, call, callee);
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
	if (joined) {
		state_release(a, state);
		*state = *joined;
	}
	return result;
}
