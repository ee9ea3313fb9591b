/* What this run leaves for the next. */

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer/base/files.h"
#include "analyzer/engine/cache.h"
#include "analyzer/engine/pack_findings.h"
#include "analyzer/engine/run.h"

struct storing {
	struct run *run;
	struct cache_index index;
	uint32_t *place; /* by number in the project: place in the index */
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

/* files of this run */

static uint32_t count_of(const struct run *run, const struct source *source, bool of_findings)
{
	uint32_t count = 0;

	for (uint32_t i = 0; of_findings && i < run->outcome.findings.count; i++)
		count += run->outcome.findings.at[i].source == source;
	for (uint32_t i = 0; !of_findings && i < run->outcome.skipped.count; i++)
		count += run->outcome.skipped.at[i].source == source;
	return count;
}

static void pack_results(struct storing *storing, const struct source *source,
                         struct cached_file *into)
{
	const struct outcome *outcome = &storing->run->outcome;
	struct text out = {.arena = &storing->run->arena};

	pack_number(&out, count_of(storing->run, source, true));
	for (uint32_t i = 0; i < outcome->findings.count; i++) {
		if (outcome->findings.at[i].source == source)
			pack_finding(&out, &outcome->findings.at[i]);
	}
	pack_number(&out, count_of(storing->run, source, false));
	for (uint32_t i = 0; i < outcome->skipped.count; i++) {
		if (outcome->skipped.at[i].source == source)
			pack_skipped(&out, &outcome->skipped.at[i]);
	}
	into->results = text_chars(&out);
	into->results_length = out.length;
}

static void add_run_file(struct storing *storing, const struct run_file *file)
{
	uint32_t place = storing->index.files.count;
	struct cached_file stored = {
	        .path = file->path,
	        .normal = file->normal,
	        .stamp = file->stamp,
	        .digest = file->digest,
	        .component = place,
	        .linted = true,
	        .has_problem = !file->loaded || !file->stamp.seen,
	        .suppressed = file->suppressed,
	};

	if (file->reused) {
		stored = *file->cached;
	} else if (file->loaded) {
		stored.analysed = file->loaded->lowered.module != NULL;
		storing->place[file->loaded->number] = place;
		pack_results(storing, file->source, &stored);
	}
	vec_push(&storing->run->arena, &storing->index.files, stored);
}

/* Its bytes were read some time after the run began: a change since then may
 * have been missed, and then it is looked at again. */
static void add_imported(struct storing *storing, const struct project_file *file)
{
	struct cached_file stored = {
	        .path = file->path,
	        .normal = file->path,
	        .digest = digest_bytes(file->source->bytes, file->source->size),
	        .component = storing->index.files.count,
	};

	stored.has_problem = !file_stamp_take(file->path, &stored.stamp) ||
	                     stored.stamp.changed + 50 * 1000 * 1000 >= storing->run->cache.started;
	storing->place[file->number] = storing->index.files.count;
	vec_push(&storing->run->arena, &storing->index.files, stored);
}

/* components */

static uint32_t find_root(const struct storing *storing, uint32_t place)
{
	while (storing->index.files.at[place].component != place)
		place = storing->index.files.at[place].component;
	return place;
}

static void join(struct storing *storing, uint32_t a, uint32_t b)
{
	uint32_t x = find_root(storing, a), y = find_root(storing, b);

	if (x < y)
		storing->index.files.at[y].component = x;
	else
		storing->index.files.at[x].component = y;
}

/* Components that are kept have the numbers of the last run: each becomes the
 * place of its first file in this one. */
static void renumber_kept(struct storing *storing)
{
	struct run *run = storing->run;
	uint32_t *first = arena_array(&run->arena, uint32_t, run->cache.index.files.count + 1);

	for (uint32_t i = 0; i < storing->index.files.count; i++) {
		struct cached_file *file = &storing->index.files.at[i];
		bool kept = i < run->file_count ? run->files[i].reused : file->component != i;

		if (!kept)
			continue;
		if (!first[file->component])
			first[file->component] = i + 1;
		file->component = first[file->component] - 1;
	}
}

static bool component_is_kept(const struct run *run, uint32_t component)
{
	for (uint32_t i = 0; i < run->file_count; i++) {
		if (run->files[i].reused && run->files[i].cached->component == component)
			return true;
	}
	return false;
}

static void add_kept_imports(struct storing *storing)
{
	const struct run *run = storing->run;

	for (uint32_t i = run->file_count; i < run->cache.index.files.count; i++) {
		const struct cached_file *file = &run->cache.index.files.at[i];

		if (component_is_kept(run, file->component))
			vec_push(&storing->run->arena, &storing->index.files, *file);
	}
}

static void collect_files(struct storing *storing)
{
	struct run *run = storing->run;
	uint32_t loaded = project_file_count(run->project);

	storing->place = arena_array(&run->arena, uint32_t, loaded + 1);
	for (uint32_t i = 0; i < run->file_count; i++)
		add_run_file(storing, &run->files[i]);
	if (run->cache.usable)
		add_kept_imports(storing);
	renumber_kept(storing);
	for (uint32_t i = 0; i < loaded; i++) {
		if (!project_file_at(run->project, i)->linted)
			add_imported(storing, project_file_at(run->project, i));
	}
	for (uint32_t i = 0; i < project_lookup_count(run->project); i++) {
		struct project_lookup lookup = project_lookup_at(run->project, i);

		if (lookup.to != PROJECT_NOTHING)
			join(storing, storing->place[lookup.from], storing->place[lookup.to]);
	}
	for (uint32_t i = 0; i < storing->index.files.count; i++)
		storing->index.files.at[i].component = find_root(storing, i);
}

void run_cache_store(struct run *run)
{
	struct storing storing = {.run = run};
	bool all_reused = true;

	if (!run->cache.path)
		return;
	for (uint32_t i = 0; i < run->file_count; i++)
		all_reused &= run->files[i].reused;
	if (all_reused && !run->cache.stale_stamps && run->cache.usable)
		return;
	collect_files(&storing);
	if (run->cache.usable) {
		for (uint32_t i = 0; i < run->cache.index.folders.count; i++)
			vec_push(&run->arena, &storing.index.folders,
			         run->cache.index.folders.at[i]);
	}
	run_cache_folders(run, &storing.index);
	/* A folder that cannot be written to only means no cache. */
	if (make_folder(run) && cache_index_write(run->cache.path, &storing.index))
		cache_prune(run->settings->cache);
}
