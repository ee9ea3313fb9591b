#include "analyzer/facts/roots.h"

#include <stdlib.h>
#include <string.h>

static value_id unknown_argument(struct root *root, uint32_t part)
{
	value_id value = unknown_value(root->a, &root->act, root->state, 0,
	                               0x1000 + part + 0x10000 * root->number, (value_id){0});

	object_write(root->a, root->state, value_single(root->a, value))->flags |= O_ESCAPED;
	return value;
}

struct root_function {
	object_id id;    /* under its decorators */
	object_id outer; /* with them */
	uint32_t model;  /* the parameter that is a model; 0: none is known */
};

/* Something with parameters, as whoever calls promises. */
static value_id model_argument(struct root *root, uint32_t part)
{
	const value_id value = unknown_argument(root, part);
	const object_id id = value_single(root->a, value);

	object_write(root->a, root->state, id)->flags |= O_MODULE | O_HAS_WEIGHTS;
	def_of(root->a, id)->proven_module = true;
	return value;
}

/* Calls with something unknown for each parameter, the receiver aside. */
static value_id call_with_unknowns(struct root *root, struct activation *caller,
                                   struct state *state, struct root_function function,
                                   value_id receiver, uint32_t part)
{
	const struct ir_func *func = def_of(root->a, function.id)->func;
	VEC(struct argument) arguments = {0};
	struct state *before = root->state;
	value_id result;

	root->state = state;
	for (uint32_t p = 0; p < func->params.count; p++) {
		const struct ir_param *param = &func->params.at[p];
		const sym_id name = func->slots.at[param->slot.n].name;

		if (param->kind == PARAM_VAR_POSITIONAL || param->kind == PARAM_VAR_KEYWORD)
			continue;
		if (p == 0 && receiver.n)
			vec_push(root->a->heap, &arguments, (struct argument){receiver, {0}});
		else
			vec_push(root->a->heap, &arguments,
			         (struct argument){function.model && p == function.model
			                                   ? model_argument(root, part * 32 + p)
			                                   : unknown_argument(root, part * 32 + p),
			                           name});
	}
	result = call_object(root->a, caller, state,
	                     (struct call){0, part, arguments.at, arguments.count}, function.outer);
	root->state = before;
	return result;
}

/* A caller that is not known may still run backward on what it gets. */
static void give_away(struct root *root, struct state *state, value_id result)
{
	const struct value *v = value_get(root->a, result);
	uint8_t modes = state->modes;

	for (uint32_t i = 0; i < v->count; i++)
		if (def_of(root->a, v->refs[i])->kind == OBJECT_GENERATOR)
			result = value_join(
			        root->a, result,
			        call_generator(root->a, &root->act, state, 0, v->refs[i], &modes));
	graph_may_be_needed(root->a, state, result, true);
}

static bool was_executed(struct analysis *a, const struct project_file *file,
                         const struct ir_func *func)
{
	return function_facts(a, file, func)->executed;
}

static void restart(struct root *root)
{
	struct analysis *a = root->a;

	root->cut |= a->exhausted;
	a->steps = 0;
	a->budget = a->all_steps < FACTS_FILE_STEPS ? FACTS_MAX_STEPS : FACTS_LEAST_STEPS;
	a->last_step = a->budget;
	a->exhausted = false;
}

/* What takes the command line is the program: nobody calls it who could have done anything. */
static bool is_program(struct root *root, object_id function)
{
	const struct ir_func *func = def_of(root->a, function)->func;

	if (func->params.count > 0 || func->kind != FUNC_FUNCTION || func->is_generator)
		return false;
	for (uint32_t i = 1; i < func->insts.count; i++) {
		const struct ir_inst *inst = &func->insts.at[i];

		if (inst->op == OP_load_attr &&
		    strcmp(intern_chars(root->a->names, (sym_id){inst->name}, NULL),
		           "parse_args") == 0)
			return true;
	}
	return false;
}

static void run_function_root(struct root *root, struct root_function function)
{
	struct state *state = state_copy(root->a, root->state);
	value_id result;

	restart(root);
	root->a->from_outside = !is_program(root, function.id);
	result = call_with_unknowns(root, &root->act, state, function, (value_id){0}, 0);
	root->a->from_outside = true;
	give_away(root, state, result);
}

static bool is_method(struct analysis *a, const struct state *state, object_id id)
{
	return def_of(a, id)->kind == OBJECT_FUNCTION &&
	       !(object_read(state, id)->flags & O_STATIC);
}

/* The function that decorators wrap. */
static object_id wrapped_function(struct analysis *a, const struct state *state, value_id value)
{
	object_id id = value_single(a, value);

	for (int depth = 0; depth < 8 && id.n && def_of(a, id)->kind == OBJECT_WRAPPER; depth++)
		id = value_single(a, object_read(state, id)->of);
	return id;
}

/* Something of a namespace that can be started at. */
struct candidate {
	object_id id;    /* under its decorators */
	object_id outer; /* with them */
	sym_id name;
	uint32_t position; /* in the source: ids depend on thread timing */
	bool referenced;   /* by code other than its own */
};

typedef VEC(struct candidate) candidate_list;

static int by_position(const void *x, const void *y)
{
	const struct candidate *a = x, *b = y;

	return a->position < b->position ? -1 : a->position > b->position;
}

static candidate_list candidates_of(struct root *root, const struct state *state, object_id owner)
{
	const struct object *object = object_read(state, owner);
	candidate_list list = {0};

	for (uint32_t i = 0; i < object->field_count; i++) {
		const value_id value = object->fields[i].value;
		object_id id = wrapped_function(root->a, state, value);
		const struct def *def = def_of(root->a, id);

		if (id.n == 0 || def->file != root->file ||
		    (def->kind != OBJECT_FUNCTION && def->kind != OBJECT_CLASS))
			continue;
		vec_push(root->a->heap, &list,
		         (struct candidate){id,
		                            value_single(root->a, value),
		                            {object->fields[i].key},
		                            def->place.span.start,
		                            false});
	}
	if (list.count)
		qsort(list.at, list.count, sizeof(*list.at), by_position);
	return list;
}

static bool lies_in(const struct ir_func *func, const struct ir_func *outer)
{
	return func->span.start >= outer->span.start && func->span.end <= outer->span.end;
}

static void mark_name(struct root *root, candidate_list *list, sym_id name,
                      const struct ir_func *by)
{
	for (uint32_t i = 0; i < list->count; i++)
		if (list->at[i].name.n == name.n &&
		    !lies_in(by, def_of(root->a, list->at[i].id)->func))
			list->at[i].referenced = true;
}

/* Functions named in other functions of the file have callers that we know. */
static void mark_referenced(struct root *root, candidate_list *list, enum ir_op how)
{
	const struct ir_module *module = root->file->lowered.module;

	for (uint32_t f = 2; f < module->funcs.count; f++) {
		const struct ir_func *func = module->funcs.at[f];

		for (uint32_t i = 1; i < func->insts.count; i++)
			if (func->insts.at[i].op == how &&
			    (how == OP_load_attr || func->insts.at[i].sub == SUB_scope_global))
				mark_name(root, list, (sym_id){func->insts.at[i].name}, func);
	}
}

static bool runs_already(struct root *root, const struct candidate *candidate)
{
	return was_executed(root->a, root->file, def_of(root->a, candidate->id)->func);
}

/* A framework runs backward from it, or from the first of a tuple. */
static void train_on(struct analysis *a, struct state *state, value_id result)
{
	const struct value *v = value_get(a, result);
	value_id losses = {0};

	for (uint32_t i = 0; i < v->count; i++)
		losses = value_join(a, losses,
		                    def_of(a, v->refs[i])->kind == OBJECT_TUPLE
		                            ? field_get(object_read(state, v->refs[i]), 0)
		                            : value_of(a, v->refs[i]));
	mark_loss(a, losses);
	graph_backward(a, state, losses, (value_id){0}, false);
}

static void run_method(struct root *root, struct state *state, const struct candidate *method,
                       object_id class, value_id self, uint32_t part)
{
	const char *base = external_class(root->a, root->state, class);
	const char *name = intern_chars(root->a->names, method->name, NULL);
	const struct api_hook_mode *contract =
	        base ? api_framework_method(base, strlen(base), name, strlen(name)) : NULL;
	struct state *branch = state_copy(root->a, state);
	value_id result;

	branch->modes = contract && contract->mode != API_MODE_KEEP
	                        ? modes_of(root->a, (enum api_mode)contract->mode, (value_id){0})
	                        : MODE_ON;
	root->a->trains |= contract && contract->mode == API_MODE_ON;
	result = call_with_unknowns(
	        root, &root->methods, branch,
	        (struct root_function){method->id, method->outer, contract ? contract->model : 0},
	        self, part);
	if (contract && contract->need == API_NEED_RESULT)
		train_on(root->a, branch, result);
	else if (!contract || contract->need == API_NEED_NOTHING)
		give_away(root, branch, result);
	branch->reachable = true;
	state_join(root->a, state, branch);
	state->modes = MODE_ON;
}

/* One round: every method once. Those that others of the class call have had
 * their turn by then. */
static void run_methods(struct root *root, struct state *state, object_id class, value_id self,
                        const candidate_list *methods)
{
	for (int referenced = 0; referenced <= 1; referenced++)
		for (uint32_t i = 0; i < methods->count; i++) {
			const struct candidate *method = &methods->at[i];

			if (method->referenced != (referenced == 1) ||
			    (method->referenced && runs_already(root, method)) ||
			    !is_method(root->a, root->state, method->id) ||
			    sym_is(method->name, SYM_init))
				continue;
			run_method(root, state, method, class, self, i + 1);
		}
}

static bool class_needs_run(struct root *root, object_id class)
{
	const candidate_list methods = candidates_of(root, root->state, class);

	for (uint32_t i = 0; i < methods.count; i++)
		if (is_method(root->a, root->state, methods.at[i].id) &&
		    !runs_already(root, &methods.at[i]))
			return true;
	return false;
}

static void run_class_root(struct root *root, object_id class)
{
	const uint32_t pinned = root->a->pinned.count;
	struct state *state = state_copy(root->a, root->state);
	VEC(struct argument) arguments = {0};
	value_id init = class_lookup(root->a, state, value_of(root->a, class), sym(SYM_init));
	object_id constructor = value_single(root->a, init);
	candidate_list methods = candidates_of(root, root->state, class);
	value_id self;

	mark_referenced(root, &methods, OP_load_attr);
	restart(root);
	if (constructor.n && def_of(root->a, constructor)->kind == OBJECT_FUNCTION) {
		const struct ir_func *func = def_of(root->a, constructor)->func;
		struct state *before = root->state;

		root->state = state;
		for (uint32_t p = 1; p < func->params.count; p++)
			if (func->params.at[p].kind == PARAM_POSITIONAL ||
			    func->params.at[p].kind == PARAM_KEYWORD_ONLY)
				vec_push(root->a->heap, &arguments,
				         (struct argument){
				                 unknown_argument(root, 0x800 + p),
				                 func->slots.at[func->params.at[p].slot.n].name});
		root->state = before;
	}
	self = bind_class(root->a, &root->act, state,
	                  (struct call){0, 0, arguments.at, arguments.count}, class);
	object_write(root->a, state, value_single(root->a, self))->flags |=
	        O_EVAL; /* or training */
	vec_push(root->a->arena, &root->a->pinned, value_single(root->a, self));
	for (int round = 0; round < 3; round++) {
		struct state *start = state_copy(root->a, state);

		run_methods(root, state, class, self, &methods);
		state_age(root->a, state, root->methods.context, (loop_id){0});
		if (!state_join(root->a, start, state))
			break;
		state = start;
	}
	root->a->pinned.count = pinned;
}

static bool is_telling_name(const char *name)
{
	static const char *const names[] = {
	        "append",
	        "extend",
	        "insert",
	        "appendleft",
	        "add",
	        "update",
	        "setdefault",
	        "backward",
	        "register_hook",
	        "register_forward_hook",
	        "register_full_backward_hook",
	        "no_grad",
	        "set_grad_enabled",
	        "enable_grad",
	        "inference_mode",
	        "heappush",
	        "register_buffer",
	        "empty_cache",
	        "collect",
	        "data",
	        "eval",
	        "setattr",
	        "save_for_backward",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* Can the instruction be part of an event, in a function that no event reaches from outside? */
static bool is_telling(struct root *root, const struct ir_func *func, const struct ir_inst *inst)
{
	switch ((enum ir_op)inst->op) {
	case OP_store_attr:
		return !sym_is(func->name, SYM_init);
	case OP_store:
		return inst->sub == SUB_scope_global;
	case OP_store_item:
	case OP_inplace:
		return true;
	case OP_binary:
		return func->loops.count > 1;
	case OP_collect:
		return func->kind == FUNC_COMPREHENSION;
	case OP_load:
		return inst->sub == SUB_scope_global &&
		       is_telling_name(intern_chars(root->a->names, (sym_id){inst->name}, NULL));
	case OP_load_attr:
		return is_telling_name(intern_chars(root->a->names, (sym_id){inst->name}, NULL));
	default:
		return false;
	}
}

static bool tells_anything(struct root *root, const struct ir_func *outer)
{
	const struct ir_module *module = root->file->lowered.module;

	for (uint32_t f = 2; f < module->funcs.count; f++) {
		const struct ir_func *func = module->funcs.at[f];

		if (!lies_in(func, outer) || func->kind == FUNC_CLASS_BODY)
			continue;
		for (uint32_t i = 1; i < func->insts.count; i++)
			if (is_telling(root, func, &func->insts.at[i]))
				return true;
	}
	return false;
}

static bool is_worth_running(struct root *root, object_id function)
{
	return tells_anything(root, def_of(root->a, function)->func) || is_program(root, function);
}

static void run_nested(struct root *root)
{
	struct state *before = root->state;

	for (uint32_t i = 0; i < root->a->nested.count; i++) {
		const struct nested nested = root->a->nested.at[i];
		const struct def *def = def_of(root->a, nested.id);

		root->state = nested.state;
		if (def->kind == OBJECT_CLASS && class_needs_run(root, nested.id))
			run_class_root(root, nested.id);
		else if (def->kind == OBJECT_FUNCTION && def->file == root->file &&
		         !was_executed(root->a, root->file, def->func) &&
		         is_worth_running(root, nested.id))
			run_function_root(root, (struct root_function){nested.id, nested.id, 0});
	}
	root->state = before;
	memset(&root->a->nested, 0, sizeof(root->a->nested));
}

/* Once: false if it was too large to be looked through. */
static bool try_candidate(struct root *root, const struct candidate *candidate)
{
	struct analysis *a = root->a;
	const uint32_t before = a->pending.count;

	root->number++;
	root->cut = a->exhausted = false;
	a->trains = false;
	a->left_count = 0;
	if (def_of(a, candidate->id)->kind == OBJECT_CLASS) {
		if (class_needs_run(root, candidate->id))
			run_class_root(root, candidate->id);
	} else if (!runs_already(root, candidate)) {
		run_function_root(root, (struct root_function){candidate->id, candidate->outer, 0});
	}
	run_nested(root);
	a->exhausted |= root->cut;
	events_doubt(a, before);
	return !a->exhausted;
}

static bool *executed_functions(struct analysis *a)
{
	bool *executed = arena_array(a->heap, bool, a->functions.count + 1);

	for (uint32_t i = 0; i < a->functions.count; i++)
		executed[i] = a->functions.at[i].executed;
	return executed;
}

/* With little of what it calls: in contexts of its own, as if it had not been started at. */
static void try_again(struct root *root, const struct candidate *candidate)
{
	struct analysis *a = root->a;
	const struct ir_func *body = root->act.func;
	struct root again = *root;

	a->depth = FACTS_LEAST_DEPTH;
	again.act.context = context_enter(a, (context_id){0}, root->file, body, 2, 0);
	again.methods = activation_begin(a, &again.act, root->file, body,
	                                 context_enter(a, (context_id){0}, root->file, body, 1, 1));
	a->top = &again.methods;
	try_candidate(&again, candidate);
	a->top = &root->methods;
	root->number = again.number;
	a->depth = FACTS_MAX_DEPTH;
}

static void run_candidate(struct root *root, const struct candidate *candidate)
{
	struct analysis *a = root->a;
	const uint32_t count = a->functions.count;
	const bool *executed = executed_functions(a);

	if (!try_candidate(root, candidate)) {
		for (uint32_t i = 0; i < a->functions.count; i++)
			a->functions.at[i].executed = i < count && executed[i];
		try_again(root, candidate);
	}
}

void run_roots(struct root *root)
{
	candidate_list list =
	        candidates_of(root, root->state, namespace_object(root->a, root->file));

	struct arena work = {0};

	mark_referenced(root, &list, OP_load);
	run_nested(root);
	heap_switch(root->a, &work);
	for (int referenced = 0; referenced <= 1; referenced++)
		for (uint32_t i = 0; i < list.count; i++)
			if (list.at[i].referenced == (referenced == 1)) {
				if (is_worth_running(root, list.at[i].id))
					run_candidate(root, &list.at[i]);
				root->a->exhausted = false;
				arena_reset(&work);
				heap_switch(root->a, &work);
			}
	heap_switch(root->a, root->a->arena);
	arena_release(&work);
}
