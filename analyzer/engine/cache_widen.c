/* What turns out to be needed once files are loaded and analysed. */

#include <stddef.h>
#include <string.h>

#include "analyzer/engine/cache_plan.h"
#include "analyzer/engine/pack_findings.h"
#include "analyzer/project/resolve.h"

/* Everything that a file looked up, directly or not: needed to analyse it. */
static void need_all_of(struct run *run, bool *seen, uint32_t start)
{
	const struct cache_index *index = &run->cache.index;
	VEC(uint32_t) todo = {0};

	vec_push(&run->arena, &todo, start);
	while (todo.count) {
		const struct cached_file *file = &index->files.at[todo.at[--todo.count]];

		for (uint32_t k = 0; k < file->lookups.count; k++) {
			const uint32_t to = file->lookups.at[k].to;

			if (!to || seen[to - 1])
				continue;
			seen[to - 1] = true;
			vec_push(&run->arena, &todo, to - 1);
		}
	}
}

static bool is_start(const struct run *run, const struct cached_file *file)
{
	return file->linted && (file->matters || run->settings->no_skip) &&
	       run_is_in_shard(run, file->path);
}

/* Imports are followed from what the scan left, as project_load does; `kept` has
 * what else is in the project. */
static void follow_imports(struct run *run, bool *kept)
{
	const struct cache_plan *plan = run->cache.plan;
	const struct cache_index *index = &run->cache.index;
	VEC(uint32_t) todo = {0};

	for (uint32_t i = 0; i < index->files.count; i++) {
		if (!plan->changed[i] && (is_start(run, &index->files.at[i]) || kept[i])) {
			kept[i] = true;
			vec_push(&run->arena, &todo, i);
		}
	}
	while (todo.count) {
		const uint32_t place = todo.at[--todo.count];
		const struct cached_file *file = &index->files.at[place];

		for (uint32_t k = 0; !plan->changed[place] && k < file->lookups.count; k++) {
			const uint32_t to = file->lookups.at[k].to;

			if (!to || !file->lookups.at[k].loads || kept[to - 1])
				continue;
			kept[to - 1] = true;
			vec_push(&run->arena, &todo, to - 1);
		}
	}
}

bool *run_cache_kept(struct run *run)
{
	const struct cache_plan *plan = run->cache.plan;
	bool *kept = arena_array(&run->arena, bool, run->cache.index.files.count + 1);

	for (uint32_t i = 0; i < project_file_count(run->project); i++) {
		const struct project_file *file = project_file_at(run->project, i);
		struct name_entry *entry = name_table_find(&plan->by_normal, file->path);

		if (entry && file->lowered.module)
			kept[entry->value - 1] = true;
	}
	follow_imports(run, kept);
	return kept;
}

/* Of what is needed, the code that is there: loaded by name, since who imports it
 * may not be. */
static void mark_imported(struct run *run, const bool *seen)
{
	const struct cache_index *index = &run->cache.index;
	bool *kept = arena_array(&run->arena, bool, index->files.count + 1);

	follow_imports(run, kept);
	for (uint32_t i = 0; i < index->files.count; i++)
		run->cache.plan->imported[i] |= seen[i] && kept[i];
}

void run_cache_mark(struct run *run)
{
	const struct cache_plan *plan = run->cache.plan;
	const struct cached_file *files = run->cache.index.files.at;
	bool *seen = arena_array(&run->arena, bool, run->cache.index.files.count + 1);

	for (uint32_t i = 0; i < run->file_count; i++) {
		struct run_file *file = &run->files[i];

		file->known = file->cached && !plan->touched[file->cached - files];
		file->reused = file->cached && !file->is_told_anew &&
		               !plan->reported[file->cached - files];
		if (file->cached && (!file->known || !file->reused))
			need_all_of(run, seen, (uint32_t)(file->cached - files));
	}
	for (uint32_t i = 0; i < run->file_count; i++) {
		struct run_file *file = &run->files[i];

		file->needed |= file->cached && (seen[file->cached - files] || !file->reused);
	}
	mark_imported(run, seen);
}

void run_cache_add_imported(struct run *run)
{
	const struct cache_plan *plan = run->cache.plan;

	for (uint32_t i = 0; plan && plan->imported && i < run->cache.index.files.count; i++) {
		if (plan->imported[i])
			project_add_imported(run->project, run->cache.index.files.at[i].normal);
	}
	for (uint32_t i = 0; i < run->file_count; i++) {
		if (run->files[i].asked_for)
			project_add_imported(run->project, run->files[i].normal);
	}
}

/* after loading */

/* A file whose code is there because of files that are not loaded. */
static bool need_imported(struct run *run, const bool *kept, const char *normal)
{
	const struct cache_plan *plan = run->cache.plan;
	struct name_entry *entry = name_table_find(&plan->by_normal, normal);
	const uint32_t place = entry ? entry->value - 1 : 0;

	if (!entry || !kept[place] || plan->imported[place] || run_has_loaded(run, normal))
		return false;
	plan->imported[place] = true;
	return true;
}

/* A known file that this run turned out to look at. */
static bool need(struct run *run, const bool *kept, const char *normal)
{
	struct name_entry *entry = name_table_find(&run->cache.plan->linted, normal);
	struct run_file *file = entry ? &run->files[entry->value - 1] : NULL;

	bool wider = need_imported(run, kept, normal);

	if (!file || !file->known || file->needed)
		return wider;
	file->needed = true;
	return true;
}

static bool need_candidates(struct run *run, const bool *kept, struct project_lookup lookup)
{
	struct arena *scratch = &run->cache.plan->scratch;
	const struct project_file *from = project_file_at(run->project, lookup.from);
	const char *hit = lookup.to == PROJECT_NOTHING
	                          ? NULL
	                          : project_file_at(run->project, lookup.to)->path;
	const char *root = from->root ? from->root : resolve_root(scratch, from->path);
	struct resolve_paths paths;
	bool wider = false;

	resolve_python(scratch, from->path, root, lookup.dotted, &paths);
	for (unsigned i = 0; i < paths.count; i++) {
		if (hit && !strcmp(paths.at[i], hit))
			break;
		wider |= need(run, kept, paths.at[i]);
	}
	return wider;
}

/* Files to be told of anew whose code is there because of others that are not
 * loaded. */
static bool need_told(struct run *run, const bool *kept)
{
	bool *imported = run->cache.plan->imported;
	bool wider = false;

	for (uint32_t i = 0; i < run->file_count; i++) {
		const struct run_file *file = &run->files[i];
		const ptrdiff_t place = file->cached - run->cache.index.files.at;

		if (!file->cached || file->reused || !file->loaded || file->loaded->wanted ||
		    !kept[place] || imported[place])
			continue;
		imported[place] = wider = true;
	}
	return wider;
}

static bool need_what_was_looked_up(struct run *run)
{
	const uint32_t files = project_file_count(run->project);
	const uint32_t lookups = project_lookup_count(run->project);
	const bool *kept = run_cache_kept(run);
	bool wider = need_told(run, kept);

	for (uint32_t i = 0; i < files; i++) {
		const struct project_file *file = project_file_at(run->project, i);

		if (!file->linted)
			wider |= need(run, kept, file->path);
	}
	for (uint32_t i = 0; i < lookups; i++)
		wider |= need_candidates(run, kept, project_lookup_at(run->project, i));
	for (uint32_t i = 0; i < run->drivers.count; i++)
		wider |= need(run, kept, run->drivers.at[i]);
	arena_reset(&run->cache.plan->scratch);
	return wider;
}

/* Code that is read has its own gaps to tell of. */
static void code_came_or_went(struct cache_plan *plan, uint32_t place, const char *normal)
{
	cache_plan_add_delta(plan, normal);
	plan->changed[place] = true;
}

/* Files whose code came into the project or went with this run's changes. */
static bool find_new_delta(struct run *run)
{
	struct cache_plan *plan = run->cache.plan;
	const struct cache_index *index = &run->cache.index;
	const bool *kept = run_cache_kept(run);
	const uint32_t before = plan->delta.count;

	for (uint32_t i = 0; i < project_file_count(run->project); i++) {
		const struct project_file *file = project_file_at(run->project, i);
		struct name_entry *entry;

		entry = name_table_find(&plan->by_normal, file->path);
		if (!file->lowered.module)
			continue;
		if (!entry)
			cache_plan_add_delta(plan, file->path);
		else if (!index->files.at[entry->value - 1].analysed)
			code_came_or_went(plan, entry->value - 1, file->path);
	}
	for (uint32_t i = 0; i < index->files.count; i++) {
		const struct cached_file *file = &index->files.at[i];

		if (file->analysed && !kept[i] && !is_start(run, file))
			code_came_or_went(plan, i, file->normal);
	}
	return plan->delta.count > before;
}

/* Whether it matters may change with what it imports; then so does who imports it. */
static bool check_relevance(struct run *run)
{
	struct cache_plan *plan = run->cache.plan;
	bool any = false;

	for (uint32_t i = 0; i < run->file_count; i++) {
		const struct run_file *file = &run->files[i];

		if (!file->loaded || !file->cached ||
		    file->loaded->matters == file->cached->matters)
			continue;
		if (plan->delta.count == 0 || !name_table_find(&plan->delta, file->normal)) {
			cache_plan_add_delta(plan, file->normal);
			any = true;
		}
	}
	return any;
}

bool run_cache_widen(struct run *run)
{
	bool wider, found, relevant;

	if (!run->cache.usable || run->cache.reuses_all)
		return false;
	wider = need_what_was_looked_up(run);
	if (!wider) {
		found = find_new_delta(run);
		relevant = check_relevance(run);
		wider = found || relevant;
		if (wider)
			cache_plan_check_lookups(run->cache.plan);
	}
	if (wider) {
		cache_plan_touch(run->cache.plan);
		run_cache_mark(run);
	}
	return wider;
}

/* after the analysis */

struct settling {
	struct run *run;
	bool *has_findings; /* by place in the index */
	bool wider;
};

/* The findings first..end-1, all in one file. */
static struct digest judged_digest(struct run *run, uint32_t first, uint32_t end)
{
	struct text packed = {.arena = &run->arena};

	for (uint32_t i = first; i < end; i++)
		pack_finding(&packed, &run->outcome.findings.at[i]);
	return digest_bytes(packed.at, packed.length);
}

/* One of the shards may have told just these findings. */
static bool adopt(const struct run *run, uint32_t place, struct digest judged)
{
	struct cached_file *file = &run->cache.index.files.at[place];

	for (uint32_t i = 0; i < file->others.count; i++) {
		const struct cached_telling *other = &file->others.at[i];

		if (!digest_same(other->judged, judged) ||
		    cache_plan_any(run->cache.plan->changed, &other->replayed))
			continue;
		file->judged = judged;
		file->suppressed = other->suppressed;
		file->results = other->results;
		return true;
	}
	return false;
}

static void tell_anew(struct settling *settling, struct run_file *file)
{
	if (!file->reused)
		return;
	file->is_told_anew = true;
	file->reused = false;
	settling->wider |= !file->needed && file->known;
}

static void settle_linted(struct settling *settling, struct run_file *file, struct digest judged)
{
	uint32_t place;

	if (!file->cached)
		return;
	place = (uint32_t)(file->cached - settling->run->cache.index.files.at);
	settling->has_findings[place] = true;
	if (!digest_same(judged, file->cached->judged) && !adopt(settling->run, place, judged))
		tell_anew(settling, file);
}

/* A file that is only imported cannot be loaded by itself: what imports it is. */
static void settle_imported(struct settling *settling, uint32_t place, struct digest judged)
{
	struct cache_plan *plan = settling->run->cache.plan;
	const struct cached_file *file = &settling->run->cache.index.files.at[place];

	settling->has_findings[place] = true;
	if ((digest_same(judged, file->judged) || adopt(settling->run, place, judged)) &&
	    !plan->reported[place])
		return;
	plan->reported[place] = true;
	if (run_has_loaded(settling->run, file->normal))
		return;
	plan->changed[place] = true;
	settling->wider = true;
}

static void settle_file(struct settling *settling, const struct source *source,
                        struct digest judged)
{
	struct cache_plan *plan = settling->run->cache.plan;
	struct name_entry *entry;
	bool is_new;

	vec_push(&settling->run->arena, &plan->digests, judged);
	name_table_put(&plan->judged, source->path, &is_new)->value = plan->digests.count;
	if ((entry = name_table_find(&plan->given, source->path)))
		settle_linted(settling, &settling->run->files[entry->value - 1], judged);
	else if ((entry = name_table_find(&plan->by_normal, source->path)))
		settle_imported(settling, entry->value - 1, judged);
}

static void settle_the_rest(struct settling *settling)
{
	struct run *run = settling->run;
	const struct digest none = {0};

	for (uint32_t i = 0; i < run->file_count; i++) {
		struct run_file *file = &run->files[i];

		if (file->cached &&
		    !settling->has_findings[file->cached - run->cache.index.files.at])
			settle_linted(settling, file, none);
	}
	for (uint32_t i = 0; i < run->cache.index.files.count; i++) {
		const struct cached_file *file = &run->cache.index.files.at[i];

		if (!file->linted && !settling->has_findings[i] && !digest_same(file->judged, none))
			run->cache.plan->reported[i] = true;
	}
}

bool run_cache_settle(struct run *run)
{
	const uint32_t files = run->cache.index.files.count;
	const finding_list *findings = &run->outcome.findings;
	struct settling settling = {
	        .run = run,
	        .has_findings = arena_array(&run->arena, bool, files + 1),
	};

	if (!run->cache.records || run->cache.reuses_all)
		return false;
	run->cache.plan->judged.count = run->cache.plan->judged.room = 0;
	for (uint32_t i = 0, next; i < findings->count; i = next) {
		for (next = i + 1;
		     next < findings->count && findings->at[next].source == findings->at[i].source;)
			next++;
		settle_file(&settling, findings->at[i].source, judged_digest(run, i, next));
	}
	if (!run->cache.usable)
		return false;
	settle_the_rest(&settling);
	if (settling.wider) {
		cache_plan_touch(run->cache.plan);
		run_cache_mark(run);
	}
	return settling.wider;
}
