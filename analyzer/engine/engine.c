#include "analyzer/engine/engine.h"

#include <stdlib.h>

#include "analyzer/engine/baseline.h"
#include "analyzer/engine/diff.h"
#include "analyzer/engine/found.h"
#include "analyzer/engine/run.h"

static struct run *run_open(const struct engine_settings *settings, struct rule_table rules)
{
	struct run *run = checked_alloc(1, sizeof(*run));

	*run = (struct run){.settings = settings, .rules = rules};
	run->pool = thread_pool_open(settings->jobs);
	run->names = intern_open();
	run->project = project_open(run->names);
	return run;
}

void run_close(struct run *run)
{
	project_close(run->project);
	intern_close(run->names);
	thread_pool_close(run->pool);
	for (uint32_t i = 0; i < run->file_count; i++)
		arena_release(&run->files[i].arena);
	for (uint32_t i = 0; i < run->confirmed; i++)
		arena_release(run->confirm_arenas[i]);
	arena_release(&run->arena);
	free(run);
}

static void load_project(struct run *run)
{
	uint32_t next = 0;

	project_close(run->project);
	run->project = project_open(run->names);
	for (uint32_t i = 0; i < run->file_count; i++) {
		if (run->files[i].source && !run->files[i].reused && !run->files[i].has_no_language)
			project_add(run->project, run->files[i].source);
	}
	project_load(run->project, run->pool, run->settings->no_skip);
	for (uint32_t i = 0; i < run->file_count; i++) {
		struct run_file *file = &run->files[i];
		const struct project_file *loaded = next < project_file_count(run->project)
		                                            ? project_file_at(run->project, next)
		                                            : NULL;

		file->loaded = loaded && loaded->source == file->source ? loaded : NULL;
		next += file->loaded != NULL;
	}
}

static void find_events(struct run *run)
{
	found_in_project(&run->arena, run->project, run->pool, run->rules, &run->outcome.findings);
}

static void add_skip(struct run *run, const struct source *source, struct span span,
                     const char *reason)
{
	struct skipped skipped = {source->path, source, span, reason, false};

	vec_push(&run->arena, &run->outcome.skipped, skipped);
}

/* What a file could not tell: bytes that are no text, code that is no code. */
static void collect_gaps(struct run *run)
{
	uint32_t count = project_file_count(run->project);

	for (uint32_t i = 0; i < count; i++) {
		const struct project_file *file = project_file_at(run->project, i);
		const struct ir_module *module = file->lowered.module;

		if (!file->linted || !run_is_in_shard(run, file->source->path))
			continue;
		run->outcome.files++;
		run->outcome.analysed += module != NULL;
		run->outcome.left_out += module == NULL;
		for (uint32_t k = 0; k < file->source->notes.count; k++)
			add_skip(run, file->source, file->source->notes.at[k].span,
			         file->source->notes.at[k].message);
		for (uint32_t k = 0; module && k < module->gaps.count; k++)
			add_skip(run, file->source, module->gaps.at[k].span,
			         module->gaps.at[k].reason);
	}
}

static void finish(struct run *run)
{
	const struct engine_settings *settings = run->settings;

	run_filter(run);
	if (settings->diff_base)
		run->error = diff_filter(&run->arena, settings->diff_base, &run->outcome);
	if (settings->baseline && !run->error)
		run->error = baseline_filter(&run->arena, settings->baseline, settings->root,
		                             &run->outcome);
	outcome_sort(&run->outcome);
}

/* False: a file changed while its stored results were being taken. */
static bool run_all(struct run *run)
{
	run_find_files(run);
	run_cache_plan(run);
	do {
		run_read_files(run);
		load_project(run);
	} while (run_cache_widen(run));
	find_events(run);
	collect_gaps(run);
	run_suppress(run);
	run_confirm(run);
	run_cache_store(run);
	if (!run_cache_take(run))
		return false;
	finish(run);
	return true;
}

struct run *engine_run(const struct engine_settings *settings, struct rule_table rules)
{
	struct run *run = run_open(settings, rules);

	if (run_all(run))
		return run;
	run_close(run);
	run = run_open(settings, rules);
	run->ignores_cache = true;
	run_all(run);
	return run;
}

struct run *engine_list(const struct engine_settings *settings)
{
	struct run *run = run_open(settings, (struct rule_table){0});

	run_find_files(run);
	return run;
}

const char *run_error(const struct run *run)
{
	return run->error;
}

struct outcome *run_outcome(struct run *run)
{
	return &run->outcome;
}

const struct project *run_project(const struct run *run)
{
	return run->project;
}

struct arena *run_arena(struct run *run)
{
	return &run->arena;
}

const struct discovery *run_files(const struct run *run)
{
	return &run->found;
}
