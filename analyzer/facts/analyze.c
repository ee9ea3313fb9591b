/* Where analyses start: each linted file's body, then what nothing has called. */

#include "analyzer/facts/analyze.h"

#include <string.h>

#include "analyzer/facts/analysis.h"
#include "analyzer/facts/roots.h"
#include "analyzer/facts/summary.h"

struct file_job {
	const struct project *project;
	struct module_summaries *summaries;
	struct arena *arenas;        /* by file: what its events hold */
	struct file_events *results; /* by file; empty where there is nothing to do */
};

/* A backward that frees it may stand in what was not followed. */
static void doubt_last(struct analysis *a)
{
	for (uint32_t i = 1; i < a->pending.count; i++)
		a->pending.at[i].incomplete |= a->pending.at[i].kind == EVENT_LAST;
}

/* What it takes counts against the roots after it as if it were one of them. */
static void run_body(struct analysis *a, struct root *root)
{
	a->budget = FACTS_BODY_STEPS;
	a->last_step = 2 * FACTS_BODY_STEPS;
	run_function(a, &root->act, root->state);
	if (a->all_steps > FACTS_MAX_STEPS)
		a->all_steps = FACTS_MAX_STEPS;
	if (a->exhausted)
		doubt_last(a);
}

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
	run_body(a, &root);
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
	a->last_step = 2 * FACTS_MAX_STEPS;
	a->depth = FACTS_MAX_DEPTH;
	values_init(a);
	lookups_init(a);
	sites_init(a);
}

static void analyze_job(void *context, size_t index, unsigned worker)
{
	struct file_job *job = context;
	const struct project_file *file = project_file_at(job->project, (uint32_t)index);
	struct arena arena = {0};
	struct analysis *a;

	(void)worker;
	if (!file->linted || file->known || !file->relevant || !file->lowered.module)
		return;
	job->results[index].file = file;
	a = arena_new(&arena, struct analysis);
	analysis_init(a, job->project, job->summaries, &arena);
	analyze_file(a, file);
	events_judge(a, &job->arenas[index], &job->results[index]);
	arena_release(&arena);
}

static const char *copy_text(struct arena *arena, const char *text)
{
	return text ? arena_text(arena, text, strlen(text)) : NULL;
}

/* Out of the arena of one file; texts but this one are the run's names and the
 * API table's. */
static void hand_on(struct arena *arena, const struct file_events *from, struct project_events *to)
{
	struct file_events events = {.file = from->file};

	for (uint32_t i = 0; i < from->found.count; i++) {
		struct found_event found = from->found.at[i];

		found.event.value_name = copy_text(arena, found.event.value_name);
		vec_push(arena, &events.found, found);
	}
	for (uint32_t i = 0; i < from->known.count; i++)
		vec_push(arena, &events.known, from->known.at[i]);
	for (uint32_t i = 0; i < from->used.count; i++)
		vec_push(arena, &events.used, from->used.at[i]);
	vec_push(arena, &to->files, events);
}

void analyze_project(const struct project *project, struct thread_pool *pool, struct arena *arena,
                     struct project_events *events)
{
	const uint32_t count = project_file_count(project);
	struct arena scratch = {0};
	struct file_job job = {
	        .project = project,
	        .summaries = module_summaries_open(count),
	        .arenas = arena_array(&scratch, struct arena, count + 1),
	        .results = arena_array(&scratch, struct file_events, count + 1),
	};

	thread_pool_run(pool, count, analyze_job, &job);
	module_summaries_uses(job.summaries, arena, project, events);
	module_summaries_close(job.summaries);
	for (uint32_t f = 0; f < count; f++) {
		if (job.results[f].file)
			hand_on(arena, &job.results[f], events);
		arena_release(&job.arenas[f]);
	}
	arena_release(&scratch);
}
