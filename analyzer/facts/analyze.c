/* Where analyses start: each linted file's body, then what nothing has called. */

#include "analyzer/facts/analyze.h"

#include "analyzer/facts/analysis.h"

#include <string.h>

struct file_job {
	const struct project *project;
	struct arena *arenas; /* by file: what its events hold */
	event_list *events;   /* by file */
};

/* Functions and classes of the file's top level that no run has entered. */
struct root {
	struct analysis *a;
	const struct project_file *file;
	struct activation act;
	struct activation methods; /* calls them: they age as in the body of a loop */
	struct state *state;
};

static value_id unknown_argument(struct root *root, uint32_t part)
{
	value_id value =
		unknown_value(root->a, &root->act, root->state, 0, 0x1000 + part, (value_id){0});

	object_write(root->a, root->state, value_single(root->a, value))->flags |= O_ESCAPED;
	return value;
}

/* Calls with something unknown for each parameter, the receiver aside. */
static value_id call_with_unknowns(struct root *root, struct activation *caller,
				   struct state *state, object_id function, value_id receiver,
				   uint32_t part)
{
	const struct ir_func *func = def_of(root->a, function)->func;
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
			vec_push(root->a->arena, &arguments, (struct argument){receiver, {0}});
		else
			vec_push(root->a->arena, &arguments,
				 (struct argument){unknown_argument(root, part * 32 + p), name});
	}
	result = call_object(root->a, caller, state,
			     (struct call){0, part, arguments.at, arguments.count}, function);
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
			result = value_join(root->a, result,
					    call_generator(root->a, &root->act, state, 0, v->refs[i], &modes));
	graph_may_be_needed(root->a, state, result, true);
}

static bool was_executed(struct analysis *a, const struct project_file *file,
			 const struct ir_func *func)
{
	return function_facts(a, file, func)->executed;
}

static void restart(struct analysis *a)
{
	a->steps = 0;
	a->exhausted = false;
}

static void run_function_root(struct root *root, object_id function)
{
	struct state *state = state_copy(root->a, root->state);
	value_id result;

	restart(root->a);
	result = call_with_unknowns(root, &root->act, state, function, (value_id){0}, 0);
	give_away(root, state, result);
}

static bool is_method(struct analysis *a, const struct state *state, object_id id)
{
	return def_of(a, id)->kind == OBJECT_FUNCTION &&
	       !(object_read(state, id)->flags & O_STATIC);
}

/* The function that a method's decorators wrap. */
static object_id method_function(struct analysis *a, const struct state *state, value_id value)
{
	object_id id = value_single(a, value);

	for (int depth = 0; depth < 8 && id.n && def_of(a, id)->kind == OBJECT_WRAPPER; depth++)
		id = value_single(a, object_read(state, id)->of);
	return id;
}

static bool class_needs_run(struct root *root, object_id class)
{
	const struct object *object = object_read(root->state, class);

	for (uint32_t i = 0; i < object->field_count; i++) {
		object_id id = method_function(root->a, root->state, object->fields[i].value);

		if (id.n && is_method(root->a, root->state, id) &&
		    !was_executed(root->a, root->file, def_of(root->a, id)->func))
			return true;
	}
	return false;
}

/* One round: every method once, in the order of the class body. */
static void run_methods(struct root *root, struct state *state, object_id class, value_id self)
{
	const struct object object = *object_read(root->state, class);
	const char *base = external_class(root->a, root->state, class);

	for (uint32_t i = 0; i < object.field_count; i++) {
		object_id id = method_function(root->a, root->state, object.fields[i].value);
		const char *name = intern_chars(root->a->names, (sym_id){object.fields[i].key}, NULL);
		const struct api_hook_mode *contract;
		struct state *branch;
		value_id result;

		if (id.n == 0 || !is_method(root->a, root->state, id) || strcmp(name, "__init__") == 0)
			continue;
		contract = base ? api_framework_method(base, strlen(base), name, strlen(name)) : NULL;
		branch = state_copy(root->a, state);
		branch->modes = contract && contract->mode != API_MODE_KEEP
					? modes_of(root->a, (enum api_mode)contract->mode, (value_id){0})
					: MODE_ON;
		result = call_with_unknowns(root, &root->methods, branch, id, self, i + 1);
		if (contract && contract->need == API_NEED_RESULT)
			graph_backward(root->a, branch, result, false);
		else if (!contract || contract->need == API_NEED_NOTHING)
			give_away(root, branch, result);
		branch->reachable = true;
		state_join(root->a, state, branch);
		state->modes = MODE_ON;
	}
}

static void run_class_root(struct root *root, object_id class)
{
	struct state *state = state_copy(root->a, root->state);
	VEC(struct argument) arguments = {0};
	value_id init = class_lookup(root->a, state, value_of(root->a, class), sym(SYM_init));
	object_id constructor = value_single(root->a, init);
	value_id self;

	restart(root->a);
	if (constructor.n && def_of(root->a, constructor)->kind == OBJECT_FUNCTION) {
		const struct ir_func *func = def_of(root->a, constructor)->func;
		struct state *before = root->state;

		root->state = state;
		for (uint32_t p = 1; p < func->params.count; p++)
			if (func->params.at[p].kind == PARAM_POSITIONAL ||
			    func->params.at[p].kind == PARAM_KEYWORD_ONLY)
				vec_push(root->a->arena, &arguments,
					 (struct argument){unknown_argument(root, 0x800 + p),
							   func->slots.at[func->params.at[p].slot.n].name});
		root->state = before;
	}
	self = bind_class(root->a, &root->act, state,
			  (struct call){0, 0, arguments.at, arguments.count}, class);
	object_write(root->a, state, value_single(root->a, self))->flags |= O_EVAL; /* or training */
	vec_push(root->a->arena, &root->a->pinned, value_single(root->a, self));
	for (int round = 0; round < 3; round++) {
		struct state *start = state_copy(root->a, state);

		run_methods(root, state, class, self);
		state_age(root->a, state, root->methods.context, (loop_id){0});
		if (!state_join(root->a, start, state))
			break;
		state = start;
	}
	root->a->pinned.count--;
}

static void run_roots(struct root *root)
{
	const struct object globals =
		*object_read(root->state, namespace_object(root->a, root->file));

	for (int classes = 1; classes >= 0; classes--)
		for (uint32_t i = 0; i < globals.field_count; i++) {
			object_id id = method_function(root->a, root->state, globals.fields[i].value);
			const struct def *def = def_of(root->a, id);

			if (id.n == 0 || def->file != root->file)
				continue;
			if (classes && def->kind == OBJECT_CLASS && class_needs_run(root, id))
				run_class_root(root, id);
			else if (!classes && def->kind == OBJECT_FUNCTION && !was_executed(root->a, root->file, def->func))
				run_function_root(root, value_single(root->a, globals.fields[i].value));
		}
}

static void analyze_file(struct analysis *a, const struct project_file *file)
{
	const struct ir_func *body = ir_func_get(file->lowered.module, (func_id){1});
	object_id globals = namespace_object(a, file);
	struct root root = {.a = a, .file = file};
	context_id context = context_enter(a, (context_id){0}, file, body, 0, 0);

	root.state = state_new(a);
	object_renew(a, root.state, globals);
	field_set(a, object_write(a, root.state, globals), sym(SYM_name).n,
		  value_of(a, const_object(a, SUB_const_str, sym(SYM_main))));
	root.act = activation_begin(a, NULL, file, body, context);
	object_renew(a, root.state, root.act.frame);
	run_function(a, &root.act, root.state);
	root.state->reachable = true;
	root.act.exit = NULL;
	root.methods = activation_begin(a, &root.act, file, body,
					context_enter(a, (context_id){0}, file, body, 1, 0));
	a->top = &root.methods;
	run_roots(&root);
}

static void analysis_init(struct analysis *a, const struct project *project, struct arena *arena)
{
	memset(a, 0, sizeof(*a));
	a->project = project;
	a->names = project_names(project);
	a->arena = arena;
	values_init(a);
	sites_init(a);
}

static void analyze_job(void *context, size_t index, unsigned worker)
{
	struct file_job *job = context;
	const struct project_file *file = project_file_at(job->project, (uint32_t)index);
	struct arena arena = {0};
	struct analysis *a;

	(void)worker;
	if (!file->linted || !file->relevant || !file->lowered.module)
		return;
	a = arena_new(&arena, struct analysis);
	analysis_init(a, job->project, &arena);
	analyze_file(a, file);
	events_judge(a, &job->arenas[index], &job->events[index]);
	arena_release(&arena);
}

void analyze_project(const struct project *project, struct thread_pool *pool, struct arena *arena,
		     event_list *events)
{
	const uint32_t count = project_file_count(project);
	struct file_job job = {
		.project = project,
		.arenas = arena_array(arena, struct arena, count + 1),
		.events = arena_array(arena, event_list, count + 1),
	};

	thread_pool_run(pool, count, analyze_job, &job);
	for (uint32_t f = 0; f < count; f++) {
		for (uint32_t i = 0; i < job.events[f].count; i++)
			vec_push(arena, events, event_copy(arena, &job.events[f].at[i]));
		arena_release(&job.arenas[f]);
	}
}
