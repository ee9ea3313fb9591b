/* What of the last run still holds. The list of files and the names in the
 * folders that imports were looked for in must be the same, or nothing does;
 * then a component of files that look each other up holds as long as no byte of
 * it changed. */

#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "analyzer/base/files.h"
#include "analyzer/engine/pack_findings.h"
#include "analyzer/engine/run.h"
#include "analyzer/project/resolve.h"

/* the key */

static void add_key(struct text *key, const char *chars)
{
	text_add_chars(key, chars ? chars : "");
	text_add_char(key, '\0');
}

static void add_list(struct text *key, const char *const *list)
{
	for (; list && *list; list++)
		add_key(key, *list);
	text_add_char(key, '\1');
}

/* All that a result depends on besides the files: the program, the folder that
 * paths are relative to, what was asked for. */
static struct digest cache_key(struct run *run)
{
	const struct engine_settings *settings = run->settings;
	struct text key = {.arena = &run->arena};
	struct file_stamp program = {0};

	add_key(&key, settings->build);
	if (!file_stamp_take("/proc/self/exe", &program))
		program = (struct file_stamp){0};
	text_print(&key, "%llu %llu %d %d %d %d %d %u/%u ", (unsigned long long)program.size,
	           (unsigned long long)program.modified, settings->no_skip, (int)settings->confirm,
	           settings->discover.no_default_excludes, settings->discover.no_gitignore,
	           settings->discover.force_exclude, settings->shard, settings->shards);
	add_key(&key, run->here);
	add_list(&key, settings->discover.suffixes);
	add_list(&key, settings->discover.excludes);
	add_key(&key, settings->discover.exclude_base);
	for (uint32_t i = 0; i < settings->model_count; i++) {
		add_key(&key, settings->models[i].name);
		add_key(&key, settings->models[i].effect);
	}
	for (uint32_t i = 0; i < settings->path_count; i++)
		add_key(&key, settings->paths[i]);
	return digest_bytes(key.at, key.length);
}

static const char *cache_path(struct run *run)
{
	struct text path = {.arena = &run->arena};
	char hex[DIGEST_HEX_LENGTH + 1];

	if (!run->settings->cache)
		return NULL;
	for (uint32_t i = 0; i < run->settings->path_count; i++) {
		if (!strcmp(run->settings->paths[i], "-"))
			return NULL;
	}
	digest_hex(cache_key(run), hex);
	text_print(&path, "%s/%s.index", run->settings->cache, hex);
	return text_chars(&path);
}

/* what holds */

static bool same_files(const struct run *run)
{
	const struct cache_index *index = &run->cache.index;
	uint32_t linted = 0;

	while (linted < index->files.count && index->files.at[linted].linted)
		linted++;
	if (linted != run->file_count)
		return false;
	for (uint32_t i = 0; i < linted; i++) {
		if (strcmp(index->files.at[i].path, run->files[i].path) != 0)
			return false;
	}
	return true;
}

static bool same_folders(struct run *run)
{
	struct cache_index *index = &run->cache.index;

	for (uint32_t i = 0; i < index->folders.count; i++) {
		struct cached_folder *folder = &index->folders.at[i];
		struct file_stamp now;

		if (!file_stamp_take(folder->path, &now))
			return false;
		if (file_stamp_same(&folder->stamp, &now))
			continue;
		if (folder_names_hash(folder->path) != folder->names)
			return false;
		folder->stamp = now;
		run->cache.stale_stamps = true;
	}
	return true;
}

struct checking {
	struct run *run;
	bool *changed; /* by place in the index */
	bool *stale;
};

static bool same_bytes(const char *path, struct digest digest)
{
	struct arena arena = {0};
	struct file_text file;
	bool same = file_read_whole(&arena, path, &file) &&
	            digest_same(digest, digest_bytes(file.bytes, file.length));

	arena_release(&arena);
	return same;
}

static void check_file(void *context, size_t i, unsigned worker)
{
	struct checking *checking = context;
	struct cached_file *file = &checking->run->cache.index.files.at[i];
	struct file_stamp now;

	(void)worker;
	if (file->has_problem || !file_stamp_take(file->path, &now)) {
		checking->changed[i] = true;
	} else if (!file_stamp_same(&file->stamp, &now)) {
		checking->changed[i] = !same_bytes(file->path, file->digest);
		checking->stale[i] = true;
		file->stamp = now;
	}
}

/* A component with one file that changed is analysed as a whole. */
static void drop_component(struct run *run, uint32_t component)
{
	for (uint32_t i = 0; i < run->file_count; i++) {
		if (run->files[i].cached && run->files[i].cached->component == component)
			run->files[i].reused = false;
	}
}

static void drop_all(struct run *run)
{
	for (uint32_t i = 0; i < run->file_count; i++)
		run->files[i].reused = false;
	run->cache.usable = false;
}

static void plan_files(struct run *run)
{
	struct cache_index *index = &run->cache.index;
	struct checking checking = {
	        .run = run,
	        .changed = arena_array(&run->arena, bool, index->files.count),
	        .stale = arena_array(&run->arena, bool, index->files.count),
	};
	bool *dropped = arena_array(&run->arena, bool, index->files.count);

	thread_pool_run(run->pool, index->files.count, check_file, &checking);
	for (uint32_t i = 0; i < index->files.count; i++) {
		run->cache.stale_stamps |= checking.stale[i];
		if (checking.changed[i])
			dropped[index->files.at[i].component] = true;
	}
	for (uint32_t i = 0; i < run->file_count; i++) {
		run->files[i].cached = &index->files.at[i];
		run->files[i].reused = !dropped[index->files.at[i].component];
	}
}

void run_cache_plan(struct run *run)
{
	struct timespec now;

	run->here = path_current(&run->arena);
	run->cache.path = cache_path(run);
	if (!run->cache.path)
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	run->cache.started = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	for (uint32_t i = 0; i < run->file_count; i++)
		run->files[i].normal = resolve_normal(&run->arena, run->files[i].path);
	run->cache.usable = !run->ignores_cache &&
	                    cache_index_read(&run->arena, run->cache.path, &run->cache.index) &&
	                    same_files(run) && same_folders(run);
	if (run->cache.usable)
		plan_files(run);
}

/* A file that was loaded by being imported: known to the last run or not. */
static const struct cached_file *find_cached(const struct cache_index *index, const char *normal)
{
	for (uint32_t i = 0; i < index->files.count; i++) {
		if (!strcmp(index->files.at[i].normal, normal))
			return &index->files.at[i];
	}
	return NULL;
}

/* Whether the component's results were going to be reused. */
static bool is_reused(const struct run *run, uint32_t component)
{
	for (uint32_t i = 0; i < run->file_count; i++) {
		if (run->files[i].reused && run->files[i].cached->component == component)
			return true;
	}
	return false;
}

bool run_cache_widen(struct run *run)
{
	uint32_t count = project_file_count(run->project);
	bool wider = false;

	for (uint32_t i = 0; i < count && run->cache.usable; i++) {
		const struct project_file *file = project_file_at(run->project, i);
		const struct cached_file *known;

		if (file->linted)
			continue;
		known = find_cached(&run->cache.index, file->path);
		if (!known) {
			drop_all(run);
			wider = true;
		} else if (is_reused(run, known->component)) {
			drop_component(run, known->component);
			wider = true;
		}
	}
	return wider;
}

/* taking */

struct taking {
	struct run *run;
	VEC(const struct source *) imported;
};

static const struct source *open_linted(struct run_file *file)
{
	if (file->source)
		return file->source;
	file->source = source_open(&file->arena, file->path, &file->problem);
	if (file->source && !digest_same(file->cached->digest,
	                                 digest_bytes(file->source->bytes, file->source->size)))
		return NULL;
	return file->source;
}

static const struct source *open_imported(struct taking *taking, const char *path)
{
	struct run *run = taking->run;
	const struct cached_file *known = find_cached(&run->cache.index, path);
	struct source_problem problem;
	const struct source *source;

	for (uint32_t i = 0; i < taking->imported.count; i++) {
		if (!strcmp(taking->imported.at[i]->path, path))
			return taking->imported.at[i];
	}
	source = known ? source_open(&run->arena, path, &problem) : NULL;
	if (!source || !digest_same(known->digest, digest_bytes(source->bytes, source->size)))
		return NULL;
	vec_push(&run->arena, &taking->imported, source);
	return source;
}

static const struct source *source_of(void *context, const char *path)
{
	struct taking *taking = context;
	struct run *run = taking->run;

	for (uint32_t i = 0; i < run->file_count; i++) {
		if (!strcmp(run->files[i].path, path))
			return open_linted(&run->files[i]);
	}
	return open_imported(taking, path);
}

static bool take_results(struct taking *taking, const struct cached_file *cached)
{
	struct run *run = taking->run;
	struct finding_unpacking unpacking = {
	        .in = {&run->arena, cached->results, cached->results + cached->results_length,
	               false},
	        .rules = run->rules,
	        .source_of = source_of,
	        .context = taking,
	};
	uint32_t findings, skips;
	struct skipped skipped;
	struct finding finding;

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

bool run_cache_take(struct run *run)
{
	struct taking taking = {.run = run};

	for (uint32_t i = 0; i < run->file_count; i++) {
		const struct cached_file *cached = run->files[i].cached;

		if (!run->files[i].reused || !run_is_in_shard(run, run->files[i].path))
			continue;
		if (!take_results(&taking, cached))
			return false;
		run->outcome.files++;
		run->outcome.from_cache++;
		run->outcome.left_out += !cached->analysed;
		run->outcome.suppressed += cached->suppressed;
	}
	return true;
}
