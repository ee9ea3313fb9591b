/* What this run leaves for the next. */

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer/base/files.h"
#include "analyzer/engine/cache_clean.h"
#include "analyzer/engine/cache_plan.h"
#include "analyzer/engine/pack_findings.h"
#include "analyzer/project/resolve.h"

struct storing {
	struct run *run;
	struct cache_index index;
	uint32_t *of_loaded; /* by number in the project: place in the new index + 1 */
	uint32_t *of_cached; /* by place in the old index: in the new one + 1 */
	struct name_table findings, skips; /* by path: the first of its file + 1 */
};

/* the folder */

static const char *in_folder(struct run *run, const char *name)
{
	return path_join(&run->arena, run->settings->cache, name);
}

static bool make_folder(struct run *run)
{
	static const char tag[] = "Signature: 8a477f597d28d172789f06886806bc55\n"
	                          "# This folder is a cache of graphlint and can be deleted.\n";
	const char *mark = in_folder(run, "CACHEDIR.TAG");
	struct stat status;

	if (mkdir(run->settings->cache, 0777) != 0 && errno != EEXIST)
		return false;
	if (stat(mark, &status) == 0)
		return true;
	return file_write(mark, tag, sizeof(tag) - 1) &&
	       file_write(in_folder(run, ".gitignore"), "*\n", 2);
}

/* results */

static bool is_told_of(const struct skipped *skipped, const struct source *source, const char *path)
{
	return source ? skipped->source == source
	              : !skipped->source && !strcmp(skipped->path, path);
}

/* Findings are sorted by file; skips are put in that order here. */
static void find_firsts(struct storing *storing)
{
	struct outcome *outcome = &storing->run->outcome;
	bool is_new;

	storing->findings.arena = storing->skips.arena = &storing->run->arena;
	outcome_sort(outcome);
	for (uint32_t i = 0; i < outcome->findings.count; i++) {
		struct name_entry *entry = name_table_put(
		        &storing->findings, outcome->findings.at[i].source->path, &is_new);

		if (is_new)
			entry->value = i;
	}
	for (uint32_t i = 0; i < outcome->skipped.count; i++) {
		struct name_entry *entry =
		        name_table_put(&storing->skips, outcome->skipped.at[i].path, &is_new);

		if (is_new)
			entry->value = i;
	}
}

static uint32_t first_of(const struct name_table *firsts, const char *path)
{
	const struct name_entry *entry = name_table_find(firsts, path);

	return entry ? entry->value : UINT32_MAX;
}

/* The findings and skips of one file; those without a text are told by path. */
static struct cached_bytes pack_results(struct storing *storing, const struct source *source,
                                        const char *path)
{
	const struct outcome *outcome = &storing->run->outcome;
	struct text findings = {.arena = &storing->run->arena}, skips = findings, out = findings;
	uint32_t found = 0, skipped = 0;

	for (uint32_t i = first_of(&storing->findings, path);
	     source && i < outcome->findings.count &&
	     !strcmp(outcome->findings.at[i].source->path, path);
	     i++) {
		if (outcome->findings.at[i].source != source)
			continue;
		pack_finding(&findings, &outcome->findings.at[i]);
		found++;
	}
	for (uint32_t i = first_of(&storing->skips, path);
	     i < outcome->skipped.count && !strcmp(outcome->skipped.at[i].path, path); i++) {
		if (!is_told_of(&outcome->skipped.at[i], source, path))
			continue;
		pack_skipped(&skips, &outcome->skipped.at[i]);
		skipped++;
	}
	if (!found && !skipped)
		return (struct cached_bytes){0};
	pack_number(&out, found);
	text_add(&out, text_chars(&findings), findings.length);
	pack_number(&out, skipped);
	text_add(&out, text_chars(&skips), skips.length);
	return (struct cached_bytes){out.at, out.length};
}

static struct digest judged_of(const struct storing *storing, const char *path)
{
	const struct cache_plan *plan = storing->run->cache.plan;
	struct name_entry *entry = name_table_find(&plan->judged, path);

	return entry ? plan->digests.at[entry->value - 1] : (struct digest){0};
}

/* Places are those of another index: they are filled in at the end. */
static void forget_places(struct cached_file *file)
{
	file->lookups.count = file->lookups.capacity = 0;
	file->used.count = file->used.capacity = 0;
	file->asked.count = file->asked.capacity = 0;
	file->replayed.count = file->replayed.capacity = 0;
}

/* linted files */

static struct cached_file fresh_file(const struct run_file *file)
{
	return (struct cached_file){
	        .path = file->path,
	        .normal = file->normal,
	        .root = file->loaded ? file->loaded->root : NULL,
	        .stamp = file->stamp,
	        .digest = file->digest,
	        .linted = true,
	        .matters = file->loaded && file->loaded->matters,
	        .analysed = file->loaded && file->loaded->lowered.module,
	        .is_broken = !file->loaded,
	        .is_gone = !file->stamp.seen,
	        .found = file->found,
	};
}

static void add_linted(struct storing *storing, const struct run_file *file)
{
	const struct cached_file *cached = file->cached;
	struct cached_file stored = file->known ? *cached : fresh_file(file);

	if (file->reused) {
		stored.suppressed = cached->suppressed;
		stored.results = cached->results;
		stored.judged = cached->judged;
	} else {
		stored.suppressed = file->suppressed;
		stored.results =
		        pack_results(storing, file->loaded ? file->source : NULL, file->path);
		stored.judged = judged_of(storing, file->path);
	}
	forget_places(&stored);
	vec_push(&storing->run->arena, &storing->index.files, stored);
	if (cached)
		storing->of_cached[cached - storing->run->cache.index.files.at] =
		        storing->index.files.count;
	if (file->loaded)
		storing->of_loaded[file->loaded->number] = storing->index.files.count;
}

/* imported files */

static const struct cached_file *find_cached(const struct storing *storing, const char *normal)
{
	const struct run_cache *cache = &storing->run->cache;
	struct name_entry *entry =
	        cache->usable ? name_table_find(&cache->plan->by_normal, normal) : NULL;

	return entry ? &cache->index.files.at[entry->value - 1] : NULL;
}

/* Its bytes were read some time after the run began: a change since then may
 * have been missed, and then its stamp is no stamp. */
static struct cached_file imported_file(struct storing *storing, const struct project_file *file)
{
	enum { RACE_NANOSECONDS = 50 * 1000 * 1000 };
	struct cached_file stored = {
	        .path = file->path,
	        .normal = file->path,
	        .root = file->root,
	        .digest = digest_bytes(file->source->bytes, file->source->size),
	        .analysed = file->lowered.module != NULL,
	};

	if (!file_stamp_take(file->path, &stored.stamp))
		stored.is_gone = true;
	else if (stored.stamp.changed + RACE_NANOSECONDS >= storing->run->cache.started)
		stored.stamp.seen = 0;
	return stored;
}

static bool is_untouched(const struct storing *storing, const struct cached_file *cached)
{
	const struct run_cache *cache = &storing->run->cache;

	return cached && !cached->linted && !cache->plan->changed[cached - cache->index.files.at];
}

static uint32_t suppressed_in(const struct run *run, const struct source *source)
{
	for (uint32_t i = 0; i < run->imported_suppressed.count; i++) {
		if (run->imported_suppressed.at[i].source == source)
			return run->imported_suppressed.at[i].count;
	}
	return 0;
}

static void add_loaded(struct storing *storing, const struct project_file *file)
{
	const struct cached_file *cached = find_cached(storing, file->path);
	struct cached_file stored =
	        is_untouched(storing, cached) ? *cached : imported_file(storing, file);
	const struct run_cache *cache = &storing->run->cache;

	if (!is_untouched(storing, cached) ||
	    cache->plan->reported[cached - cache->index.files.at]) {
		stored.results = pack_results(storing, file->source, file->path);
		stored.judged = judged_of(storing, file->path);
		stored.suppressed = suppressed_in(storing->run, file->source);
	}
	forget_places(&stored);
	vec_push(&storing->run->arena, &storing->index.files, stored);
	if (cached)
		storing->of_cached[cached - cache->index.files.at] = storing->index.files.count;
	storing->of_loaded[file->number] = storing->index.files.count;
}

/* Files that others import which were not looked at in this run. */
static void add_kept(struct storing *storing)
{
	const struct run_cache *cache = &storing->run->cache;
	const bool *kept = cache->usable ? run_cache_kept(storing->run) : NULL;

	for (uint32_t i = 0; cache->usable && i < cache->index.files.count; i++) {
		struct cached_file stored = cache->index.files.at[i];

		if (stored.linted || storing->of_cached[i] || !kept[i])
			continue;
		if (cache->plan->reported[i])
			stored.results = (struct cached_bytes){0};
		forget_places(&stored);
		vec_push(&storing->run->arena, &storing->index.files, stored);
		storing->of_cached[i] = storing->index.files.count;
	}
}

/* look-ups */

static bool has_lookup(const struct cached_file *file, const struct cached_lookup *lookup)
{
	for (uint32_t i = 0; i < file->lookups.count; i++) {
		if (file->lookups.at[i].scans == lookup->scans &&
		    !strcmp(file->lookups.at[i].dotted, lookup->dotted))
			return true;
	}
	return false;
}

static void add_new_lookups(struct storing *storing)
{
	const struct project *project = storing->run->project;

	for (uint32_t i = 0; i < project_lookup_count(project); i++) {
		const struct project_lookup lookup = project_lookup_at(project, i);
		struct cached_file *file =
		        &storing->index.files.at[storing->of_loaded[lookup.from] - 1];

		vec_push(&storing->run->arena, &file->lookups,
		         (struct cached_lookup){
		                 .dotted = lookup.dotted,
		                 .to = lookup.to == PROJECT_NOTHING ? 0
		                                                    : storing->of_loaded[lookup.to],
		                 .scans = lookup.scans,
		                 .loads = lookup.loads,
		         });
	}
}

/* Those of the last run, of files that are what they were. */
static void add_old_lookups(struct storing *storing)
{
	const struct run_cache *cache = &storing->run->cache;

	for (uint32_t i = 0; cache->usable && i < cache->index.files.count; i++) {
		const struct cached_file *old = &cache->index.files.at[i];
		struct cached_file *file;

		if (!storing->of_cached[i] || cache->plan->changed[i])
			continue;
		file = &storing->index.files.at[storing->of_cached[i] - 1];
		for (uint32_t k = 0; k < old->lookups.count; k++) {
			struct cached_lookup lookup = old->lookups.at[k];

			if (has_lookup(file, &lookup))
				continue;
			if (lookup.to)
				lookup.to = storing->of_cached[lookup.to - 1];
			vec_push(&storing->run->arena, &file->lookups, lookup);
		}
	}
}

/* what results rest on */

static void add_loaded_places(struct storing *storing, const file_list *used, place_list *places)
{
	for (uint32_t i = 0; i < used->count; i++)
		vec_push(&storing->run->arena, places, storing->of_loaded[used->at[i]->number] - 1);
}

static bool has_place(const place_list *places, uint32_t count, uint32_t place)
{
	for (uint32_t i = 0; i < count; i++) {
		if (places->at[i] == place)
			return true;
	}
	return false;
}

static void add_cached_places(struct storing *storing, const place_list *old, place_list *places)
{
	const uint32_t before = places->count;

	for (uint32_t i = 0; i < old->count; i++) {
		const uint32_t place = storing->of_cached[old->at[i]]; /* + 1 */

		if (place && !has_place(places, before, place - 1))
			vec_push(&storing->run->arena, places, place - 1);
	}
}

static void add_used(struct storing *storing)
{
	struct run *run = storing->run;

	for (uint32_t i = 0; i < run->file_count; i++) {
		struct cached_file *file = &storing->index.files.at[i];

		if (run->files[i].known)
			add_cached_places(storing, &run->files[i].cached->used, &file->used);
		else
			add_loaded_places(storing, &run->files[i].used, &file->used);
	}
}

static void add_asked(struct storing *storing)
{
	const struct run_cache *cache = &storing->run->cache;

	for (uint32_t i = 0; i < storing->run->modules.count; i++) {
		const struct module_uses *uses = &storing->run->modules.at[i];
		const uint32_t place = storing->of_loaded[uses->file->number] - 1;

		add_loaded_places(storing, &uses->used, &storing->index.files.at[place].asked);
	}
	for (uint32_t i = 0; cache->usable && i < cache->index.files.count; i++) {
		if (storing->of_cached[i] && !cache->plan->moved[i])
			add_cached_places(
			        storing, &cache->index.files.at[i].asked,
			        &storing->index.files.at[storing->of_cached[i] - 1].asked);
	}
}

static void add_replayed(struct storing *storing)
{
	const struct run_cache *cache = &storing->run->cache;

	for (uint32_t i = 0; i < storing->run->replayed.count; i++) {
		const struct replayed_file *replayed = &storing->run->replayed.at[i];
		const uint32_t place = storing->of_loaded[replayed->file->number] - 1;

		add_loaded_places(storing, &replayed->used,
		                  &storing->index.files.at[place].replayed);
	}
	for (uint32_t i = 0; cache->usable && i < cache->index.files.count; i++) {
		if (storing->of_cached[i] && !cache->plan->reported[i])
			add_cached_places(
			        storing, &cache->index.files.at[i].replayed,
			        &storing->index.files.at[storing->of_cached[i] - 1].replayed);
	}
}

static void collect_files(struct storing *storing)
{
	struct run *run = storing->run;
	uint32_t loaded = project_file_count(run->project);

	storing->of_loaded = arena_array(&run->arena, uint32_t, loaded + 1);
	storing->of_cached = arena_array(&run->arena, uint32_t, run->cache.index.files.count + 1);
	find_firsts(storing);
	for (uint32_t i = 0; i < run->file_count; i++)
		add_linted(storing, &run->files[i]);
	for (uint32_t i = 0; i < loaded; i++) {
		if (!project_file_at(run->project, i)->linted)
			add_loaded(storing, project_file_at(run->project, i));
	}
	add_kept(storing);
	add_new_lookups(storing);
	add_old_lookups(storing);
	add_used(storing);
	add_asked(storing);
	add_replayed(storing);
}

void run_cache_store(struct run *run)
{
	struct storing storing = {.run = run};
	bool written;

	if (!run->cache.records || run->settings->joined || project_is_full(run->project) ||
	    (run->cache.reuses_all && !run->cache.is_stale))
		return;
	if (!run->cache.reuses_all) {
		collect_files(&storing);
		run_cache_folders(run, &storing.index);
		run->cache.left = storing.index;
		run->cache.leaves = true;
	}
	/* A folder that cannot be written to only means no cache. */
	if (!run->cache.path || !make_folder(run))
		return;
	written = cache_index_write(run->cache.path,
	                            run->cache.reuses_all ? &run->cache.index : &run->cache.left);
	if (written)
		cache_prune(run->settings->cache);
}
