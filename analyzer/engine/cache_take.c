/* What the last run found, brought back: of single analyses, before findings are
 * compared, and of whole files, as they are reported. */

#include <string.h>

#include "analyzer/engine/cache_plan.h"
#include "analyzer/engine/found.h"
#include "analyzer/facts/analyze.h"

struct taking {
	struct run *run;
	struct name_table places; /* paths of sources: place + 1 */
	VEC(const struct source *) sources;
	struct name_table linted, imported; /* places of files + 1 */
	bool named;
};

static void add_source(struct taking *taking, const char *path, const struct source *source)
{
	bool is_new;
	struct name_entry *entry = name_table_put(&taking->places, path, &is_new);

	if (!is_new)
		return;
	vec_push(&taking->run->arena, &taking->sources, source);
	entry->value = taking->sources.count;
}

/* Those of the project come first: a source is known by its address. */
static struct taking taking_begin(struct run *run)
{
	struct taking taking = {
	        .run = run,
	        .places = {.arena = &run->arena},
	        .linted = {.arena = &run->arena},
	        .imported = {.arena = &run->arena},
	};

	for (uint32_t i = 0; i < project_file_count(run->project); i++) {
		const struct source *source = project_file_at(run->project, i)->source;

		add_source(&taking, source->path, source);
	}
	return taking;
}

static bool has_digest(const struct source *source, const struct cached_file *file)
{
	return source && digest_same(file->digest, digest_bytes(source->bytes, source->size));
}

static const struct source *open_linted(struct run_file *file)
{
	if (!file->source)
		file->source = source_open(&file->arena, file->path, &file->problem);
	return file->cached && has_digest(file->source, file->cached) ? file->source : NULL;
}

static void name_files(struct taking *taking)
{
	struct run *run = taking->run;
	const struct cache_index *index = &run->cache.index;
	bool is_new;

	for (uint32_t i = 0; i < run->file_count; i++)
		name_table_put(&taking->linted, run->files[i].path, &is_new)->value = i + 1;
	for (uint32_t i = 0; i < index->files.count; i++) {
		if (!index->files.at[i].linted)
			name_table_put(&taking->imported, index->files.at[i].path, &is_new)->value =
			        i + 1;
	}
	taking->named = true;
}

static const struct source *open_source(struct taking *taking, const char *path)
{
	struct run *run = taking->run;
	struct source_problem problem;
	const struct cached_file *cached;
	const struct source *source;
	struct name_entry *entry;

	if (!taking->named)
		name_files(taking);
	if ((entry = name_table_find(&taking->linted, path)))
		return open_linted(&run->files[entry->value - 1]);
	if (!(entry = name_table_find(&taking->imported, path)))
		return NULL;
	cached = &run->cache.index.files.at[entry->value - 1];
	source = source_open(&run->arena, path, &problem);
	return has_digest(source, cached) ? source : NULL;
}

static const struct source *source_of(void *context, const char *path)
{
	struct taking *taking = context;
	struct name_entry *entry = name_table_find(&taking->places, path);
	const struct source *source;

	if (entry)
		return taking->sources.at[entry->value - 1];
	source = open_source(taking, path);
	if (source)
		add_source(taking, path, source);
	return source;
}

static struct finding_unpacking unpacking_of(struct taking *taking, struct cached_bytes bytes)
{
	return (struct finding_unpacking){
	        .in = {&taking->run->arena, bytes.at, bytes.at + bytes.length, false},
	        .rules = taking->run->rules,
	        .source_of = source_of,
	        .context = taking,
	};
}

/* analyses */

static void tell_found(struct run *run, const struct file_events *events, struct run_file *file,
                       struct file_found *found)
{
	struct text packed = {.arena = &run->arena};

	file->used = (file_list){0};
	found_tell(&run->arena, run->rules, events, found);
	if (!run->cache.records)
		return;
	for (uint32_t i = 0; i < events->used.count; i++)
		vec_push(&run->arena, &file->used, events->used.at[i]);
	found_pack(&packed, found);
	file->found = (struct cached_bytes){packed.at, packed.length};
}

bool run_find(struct run *run)
{
	struct taking taking = taking_begin(run);
	struct project_events events = {0};
	found_list all = {0};
	uint32_t next = 0;

	if (run->cache.reuses_all)
		return true;
	run->outcome.findings = (finding_list){0};
	progress_begin(run->settings->progress, "analysing");
	analyze_project(run->project, run->pool, &run->arena, &events);
	for (uint32_t i = 0; i < run->file_count; i++) {
		struct run_file *file = &run->files[i];
		struct file_found found = {0};

		if (next < events.files.count && events.files.at[next].file == file->loaded) {
			tell_found(run, &events.files.at[next++], file, &found);
		} else if (file->known && file->cached->found.length) {
			struct finding_unpacking unpacking =
			        unpacking_of(&taking, file->cached->found);

			if (!found_unpack(&unpacking, &found))
				return false;
		}
		vec_push(&run->arena, &all, found);
	}
	run->modules.count = 0;
	for (uint32_t i = 0; i < events.modules.count; i++)
		vec_push(&run->arena, &run->modules, events.modules.at[i]);
	found_join(&run->arena, &all, &run->outcome.findings);
	return true;
}

/* results */

static bool is_reused(const struct run *run, const struct source *source)
{
	const struct cache_plan *plan = run->cache.plan;
	struct name_entry *entry;

	if (!run->cache.usable)
		return false;
	if ((entry = name_table_find(&plan->given, source->path)))
		return run->files[entry->value - 1].reused;
	entry = name_table_find(&plan->by_normal, source->path);
	return entry && !plan->reported[entry->value - 1];
}

void run_cache_split(struct run *run)
{
	finding_list *findings = &run->outcome.findings;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < findings->count; i++) {
		if (!is_reused(run, findings->at[i].source))
			findings->at[kept++] = findings->at[i];
	}
	findings->count = kept;
}

static bool take_results(struct taking *taking, struct cached_bytes results)
{
	struct run *run = taking->run;
	struct finding_unpacking unpacking = unpacking_of(taking, results);
	uint32_t findings, skips;
	struct skipped skipped;
	struct finding finding;

	if (!results.length)
		return true;
	findings = unpack_count(&unpacking.in);
	for (uint32_t i = 0; i < findings; i++) {
		if (!unpack_finding(&unpacking, &finding))
			return false;
		vec_push(&run->arena, &run->outcome.findings, finding);
	}
	skips = unpack_count(&unpacking.in);
	for (uint32_t i = 0; i < skips; i++) {
		if (!unpack_skipped(&unpacking, &skipped))
			return false;
		vec_push(&run->arena, &run->outcome.skipped, skipped);
	}
	return !unpacking.in.broken;
}

static bool take_linted(struct taking *taking, const struct run_file *file)
{
	if (!file->reused)
		return true;
	taking->run->outcome.suppressed += file->cached->suppressed;
	if (!file->cached->is_broken)
		run_count_file(taking->run, file, file->cached->analysed);
	return take_results(taking, file->cached->results);
}

/* Of files that are only imported. */
static bool take_imported(struct taking *taking, uint32_t place)
{
	const struct run *run = taking->run;
	const struct cached_file *file = &run->cache.index.files.at[place];

	if (file->linted || (!run->cache.reuses_all && run->cache.plan->reported[place]))
		return true;
	taking->run->outcome.suppressed += file->suppressed;
	return take_results(taking, file->results);
}

bool run_cache_take(struct run *run)
{
	struct taking taking = taking_begin(run);

	for (uint32_t i = 0; i < run->file_count; i++) {
		if (!take_linted(&taking, &run->files[i]))
			return false;
	}
	for (uint32_t i = 0; run->cache.usable && i < run->cache.index.files.count; i++) {
		if (!take_imported(&taking, i))
			return false;
	}
	return true;
}
