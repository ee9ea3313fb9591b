/* What of the last run still holds: all of it, when the same files are linted
 * and nothing that was looked at changed; else see cache_plan.c. */

#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "analyzer/base/files.h"
#include "analyzer/engine/cache_plan.h"

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

/* All that a result depends on besides the files: the program, who runs it and
 * where, what was asked for. */
static struct digest cache_key(struct run *run)
{
	const struct engine_settings *settings = run->settings;
	struct text key = {.arena = &run->arena};
	struct file_stamp program = {0};

	add_key(&key, settings->build);
	if (!file_stamp_take("/proc/self/exe", &program))
		program = (struct file_stamp){0};
	text_print(&key, "%llu %llu %ld %d %d %d %d %d %u/%u ", (unsigned long long)program.size,
	           (unsigned long long)program.modified, (long)geteuid(), settings->no_skip,
	           (int)settings->confirm, settings->discover.no_default_excludes,
	           settings->discover.no_gitignore, settings->discover.force_exclude,
	           settings->shard, settings->shards);
	add_key(&key, run->here);
	add_list(&key, settings->discover.suffixes);
	add_list(&key, settings->discover.excludes);
	add_key(&key, settings->discover.exclude_base);
	for (uint32_t i = 0; settings->models && i < settings->models->count; i++) {
		add_key(&key, settings->models->at[i].name);
		text_print(&key, "%u", settings->models->at[i].effects);
		add_key(&key, "");
	}
	for (uint32_t i = 0; i < settings->path_count; i++)
		add_key(&key, settings->paths[i]);
	return digest_bytes(key.at, key.length);
}

static const char *cache_path(struct run *run)
{
	struct text path = {.arena = &run->arena};
	char hex[DIGEST_HEX_LENGTH + 1];

	if (!run->settings->cache || run->settings->joined)
		return NULL;
	for (uint32_t i = 0; i < run->settings->path_count; i++) {
		if (!strcmp(run->settings->paths[i], "-"))
			return NULL;
	}
	digest_hex(cache_key(run), hex);
	text_print(&path, "%s/%s.index", run->settings->cache, hex);
	return text_chars(&path);
}

/* what changed */

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

/* Whether an import could find something else in it; its stamp is brought up
 * to date. */
static bool check_folder(struct cached_folder *folder)
{
	struct file_stamp now;
	uint64_t names;

	if (!file_stamp_take(folder->path, &now))
		return true;
	if (file_stamp_same(&folder->stamp, &now))
		return false;
	names = folder_names_hash(folder->path);
	folder->stamp = now;
	/* A new stamp alone is not worth writing: others write to /tmp all the time. */
	if (names == folder->names)
		return false;
	folder->names = names;
	return true;
}

static bool check_folders(struct run *run)
{
	struct run_cache *cache = &run->cache;
	bool changed = false;

	cache->folder_changed = arena_array(&run->arena, bool, cache->index.folders.count + 1);
	for (uint32_t i = 0; i < cache->index.folders.count; i++) {
		cache->folder_changed[i] = check_folder(&cache->index.folders.at[i]);
		changed |= cache->folder_changed[i];
	}
	return changed;
}

struct checking {
	struct run *run;
	bool *is_stale; /* by place in the index */
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
	struct run_cache *cache = &checking->run->cache;
	struct cached_file *file = &cache->index.files.at[i];
	struct file_stamp now;

	(void)worker;
	if (!file_stamp_take(file->path, &now)) {
		cache->file_changed[i] = !file->is_gone;
	} else if (file->is_gone || !file_stamp_same(&file->stamp, &now)) {
		cache->file_changed[i] = file->is_gone || !same_bytes(file->path, file->digest);
		checking->is_stale[i] = true;
		file->stamp = now;
	}
}

static bool check_files(struct run *run)
{
	struct run_cache *cache = &run->cache;
	const uint32_t count = cache->index.files.count;
	struct checking checking = {run, arena_array(&run->arena, bool, count + 1)};
	bool changed = false;

	cache->file_changed = arena_array(&run->arena, bool, count + 1);
	thread_pool_run(run->pool, count, check_file, &checking);
	for (uint32_t i = 0; i < count; i++) {
		cache->is_stale |= checking.is_stale[i];
		changed |= cache->file_changed[i];
	}
	return changed;
}

static void reuse_all(struct run *run)
{
	for (uint32_t i = 0; i < run->file_count; i++) {
		run->files[i].cached = &run->cache.index.files.at[i];
		run->files[i].known = run->files[i].reused = true;
	}
	run->cache.reuses_all = true;
}

static bool read_index(struct run *run)
{
	struct run_cache *cache = &run->cache;

	if (run->settings->joined)
		cache->index = *run->settings->joined;
	else
		return cache->path && cache_index_read(&run->arena, cache->path, &cache->index);
	return true;
}

void run_cache_plan(struct run *run)
{
	struct run_cache *cache = &run->cache;
	struct timespec now;
	bool changed;

	run->here = path_current(&run->arena);
	cache->path = cache_path(run);
	cache->records = cache->path || run->settings->shards || run->settings->joined;
	if (!cache->records)
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	cache->started = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	cache->usable = !run->ignores_cache && read_index(run);
	if (run->settings->joined && cache->usable) {
		cache->same_files = same_files(run);
		check_folders(run);
		check_files(run);
	} else if (cache->usable) {
		cache->same_files = same_files(run);
		changed = check_folders(run);
		/* What their names decided may be the same all the same: then it is stored. */
		cache->is_stale = changed;
		changed |= check_files(run) || !cache->same_files;
		if (!changed && !cache->is_stale) {
			reuse_all(run);
			return;
		}
		cache->usable = cache_index_read_rest(&run->arena, cache->path, &cache->index);
		if (cache->usable && !changed) {
			reuse_all(run);
			return;
		}
	}
	cache_plan_open(run);
}

void run_cache_close(struct run *run)
{
	if (run->cache.plan)
		arena_release(&run->cache.plan->scratch);
}
