/* Where analyses start: each linted file's body, then what nothing has called. */

#include "analyzer/facts/analyze.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/facts/analysis.h"
#include "analyzer/facts/roots.h"
#include "analyzer/facts/summary.h"

struct file_job {
	const struct project *project;
	struct module_summaries *summaries;
	struct arena *arenas;       /* by file: what its events hold */
	struct file_facts *results; /* by file */
};

static void analyze_file(struct analysis *a, const struct project_file *file)
{
	const struct ir_func *body = ir_func_get(file->lowered.module, (func_id){1});
	object_id globals = namespace_object(a, file);
	struct root root = {.a = a, .file = file};
	context_id context = context_enter(a, (context_id){0}, file, body, 0, 0);

	root.state = state_new(a);
	def_of(a, globals)->running = true;
	object_renew(a, root.state, globals);
	field_set(a, object_write(a, root.state, globals), sym(SYM_name).n,
	          value_of(a, const_object(a, SUB_const_str, sym(SYM_main))));
	root.act = activation_begin(a, NULL, file, body, context);
	object_renew(a, root.state, root.act.frame);
	run_function(a, &root.act, root.state);
	root.state->reachable = true;
	state_promote(a, root.state);
	root.act.exit = NULL;
	root.methods = activation_begin(a, &root.act, file, body,
	                                context_enter(a, (context_id){0}, file, body, 1, 0));
	a->top = &root.methods;
	a->from_outside = true;
	run_roots(&root);
}

void analysis_init(struct analysis *a, const struct project *project,
                   struct module_summaries *summaries, struct arena *arena)
{
	memset(a, 0, sizeof(*a));
	a->project = project;
	a->summaries = summaries;
	a->names = project_names(project);
	a->arena = arena;
	a->heap = arena;
	a->budget = FACTS_MAX_STEPS;
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
	analysis_init(a, job->project, job->summaries, &arena);
	analyze_file(a, file);
	events_judge(a, &job->arenas[index], &job->results[index]);
	arena_release(&arena);
}

static int by_address(const void *x, const void *y)
{
	const uintptr_t a = (uintptr_t) * (const struct ir_func *const *)x;
	const uintptr_t b = (uintptr_t) * (const struct ir_func *const *)y;

	return a < b ? -1 : a > b;
}

/* The functions that some file's body is known to call, sorted. */
static function_list known_functions(const struct file_job *job, uint32_t count,
                                     struct arena *arena)
{
	function_list all = {0};

	for (uint32_t f = 0; f < count; f++)
		for (uint32_t i = 0; i < job->results[f].known.count; i++)
			vec_push(arena, &all, job->results[f].known.at[i]);
	if (all.count)
		qsort(all.at, all.count, sizeof(*all.at), by_address);
	return all;
}

static bool is_known(const function_list *known, const struct ir_func *func)
{
	return known->count && bsearch(&func, known->at, known->count, sizeof(func), by_address);
}

void analyze_project(const struct project *project, struct thread_pool *pool, struct arena *arena,
                     event_list *events)
{
	const uint32_t count = project_file_count(project);
	struct arena scratch = {0};
	struct file_job job = {
	        .project = project,
	        .summaries = module_summaries_open(count),
	        .arenas = arena_array(&scratch, struct arena, count + 1),
	        .results = arena_array(&scratch, struct file_facts, count + 1),
	};
	function_list known;

	thread_pool_run(pool, count, analyze_job, &job);
	module_summaries_close(job.summaries);
	known = known_functions(&job, count, &scratch);
	for (uint32_t f = 0; f < count; f++) {
		for (uint32_t i = 0; i < job.results[f].events.count; i++) {
			const struct judged_event *judged = &job.results[f].events.at[i];

			if (!judged->from_outside || !is_known(&known, judged->func))
				vec_push(arena, events, event_copy(arena, &judged->event));
		}
		arena_release(&job.arenas[f]);
	}
	arena_release(&scratch);
}
