#include "analyzer/engine/engine.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/engine/baseline.h"
#include "analyzer/engine/diff.h"
#include "analyzer/engine/run.h"

static struct run *run_open(const struct engine_settings *settings, struct rule_table rules)
{
	struct run *run = checked_alloc(1, sizeof(*run));

	*run = (struct run){.settings = settings, .rules = rules};
	run->pool = thread_pool_open(settings->jobs);
	thread_pool_count(run->pool, settings->progress);
	run->names = intern_open();
	run->project = project_open(run->names);
	return run;
}

static void release_evidence(struct run *run)
{
	for (uint32_t i = 0; i < run->confirmed; i++)
		arena_release(run->confirm_arenas[i]);
	run->confirmed = 0;
}

void run_close(struct run *run)
{
	release_evidence(run);
	run_cache_close(run);
	project_close(run->project);
	intern_close(run->names);
	thread_pool_close(run->pool);
	for (uint32_t i = 0; i < run->file_count; i++)
		arena_release(&run->files[i].arena);
	arena_release(&run->arena);
	free(run);
}

static void add_files(struct run *run)
{
	for (uint32_t i = 0; i < run->file_count; i++) {
		const struct run_file *file = &run->files[i];

		if (!file->source || file->has_no_language || (file->known && !file->needed))
			continue;
		if (!run_is_in_shard(run, file->path))
			project_add_waiting(run->project, file->source);
		else if (file->known)
			project_add_known(run->project, file->source);
		else
			project_add(run->project, file->source);
	}
}

/* Sources are added in the order of the files; of two with one path only the
 * first is the project's. */
static void find_owners(struct run *run)
{
	uint32_t next = 0;

	run->owners =
	        arena_array(&run->arena, struct run_file *, project_file_count(run->project) + 1);
	for (uint32_t i = 0; i < run->file_count; i++) {
		struct run_file *file = &run->files[i];
		const struct project_file *loaded = next < project_file_count(run->project)
		                                            ? project_file_at(run->project, next)
		                                            : NULL;

		file->loaded = loaded && loaded->source == file->source ? loaded : NULL;
		if (file->loaded)
			run->owners[next++] = file;
	}
}

static void load_project(struct run *run)
{
	progress_begin(run->settings->progress, "reading");
	project_close(run->project);
	run->project = project_open(run->names);
	add_files(run);
	run_cache_add_imported(run);
	if (run->settings->models)
		project_set_models(run->project, run->settings->models->at,
		                   run->settings->models->count);
	project_load(run->project, run->pool, run->settings->no_skip);
	find_owners(run);
}

static void add_skip(struct run *run, const struct source *source, struct span span,
                     const char *reason)
{
	struct skipped skipped = {source->path, source, span, reason, false};

	vec_push(&run->arena, &run->outcome.skipped, skipped);
}

/* What shards found counts as found by the one run that they are. */
void run_count_file(struct run *run, const struct run_file *file, bool was_analysed)
{
	const bool is_old = file->known && !run->settings->joined;

	if (!run_is_in_shard(run, file->path))
		return;
	run->outcome.files++;
	run->outcome.from_cache += is_old;
	run->outcome.analysed += !is_old && was_analysed;
	run->outcome.left_out += !was_analysed;
}

/* What a file could not tell: bytes that are no text, code that is no code. */
static void collect_gaps(struct run *run)
{
	for (uint32_t i = 0; i < run->file_count; i++) {
		const struct project_file *file = run->files[i].loaded;
		const struct ir_module *module = file ? file->lowered.module : NULL;

		if (!file || run->files[i].reused)
			continue;
		run_count_file(run, &run->files[i], module != NULL);
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
	if (settings->shards)
		run_shard_filter(run);
	if (settings->diff_base)
		run->error = diff_filter(&run->arena, settings->diff_base, &run->outcome);
	if (settings->baseline && !run->error)
		run->error = baseline_filter(&run->arena, settings->baseline, settings->root,
		                             &run->outcome);
	/* What is gone can only be told by all shards together. */
	if (settings->shards)
		run->outcome.stale.count = 0;
	outcome_sort(&run->outcome);
}

/* False: what is known of a file cannot be had any more. */
static bool find_all(struct run *run)
{
	do {
		do {
			run_read_files(run);
			load_project(run);
		} while (run_cache_widen(run));
		if (!run_find(run))
			return false;
	} while (run_cache_settle(run) || run_shard_widen(run));
	return true;
}

static void begin_outcome(struct run *run)
{
	run->outcome = (struct outcome){.findings = run->outcome.findings};
	for (uint32_t i = 0; i < run->unread.count; i++)
		vec_push(&run->arena, &run->outcome.skipped, run->unread.at[i]);
	run->drivers.count = run->replayed.count = run->imported_suppressed.count = 0;
	release_evidence(run);
}

/* A replay may ask for more files than were loaded: then this is done again. */
static void tell_all(struct run *run)
{
	begin_outcome(run);
	run_cache_split(run);
	collect_gaps(run);
	run_suppress(run);
	progress_begin(run->settings->progress, "replaying");
	run_confirm(run);
}

/* False: a file changed while what is known of it was being taken. */
static bool run_all(struct run *run)
{
	run_find_files(run);
	if (run->error)
		return true;
	run_cache_plan(run);
	do {
		if (!find_all(run))
			return false;
		tell_all(run);
	} while (run_cache_widen(run));
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
	begin_outcome(run);
	return run;
}

bool run_has_loaded(const struct run *run, const char *normal)
{
	for (uint32_t i = 0; i < project_file_count(run->project); i++) {
		if (!strcmp(project_file_at(run->project, i)->path, normal))
			return project_file_at(run->project, i)->wanted;
	}
	return false;
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
