/* The folders that decide what a look-up finds: those that its candidates would
 * lie in, as far as they exist. As long as the names in them stay, every module
 * is found where it was. */

#include <string.h>
#include <sys/stat.h>

#include "analyzer/engine/cache_plan.h"
#include "analyzer/project/resolve.h"

struct walking {
	struct run *run;
	struct cache_index *index;
	struct arena scratch;
	struct name_table seen;  /* 1: no folder, 2: watched */
	struct name_table asked; /* look-ups that were walked, by where they start */
};

static bool is_folder(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static void watch(struct walking *walking, const char *path)
{
	struct cached_folder folder = {.path = path};

	if (!file_stamp_take(path, &folder.stamp))
		return;
	/* One that changed since the run began is looked through again. */
	if (folder.stamp.changed < walking->run->cache.started)
		folder.names = folder_names_hash(path);
	vec_push(&walking->run->arena, &walking->index->folders, folder);
}

/* The folder, or the nearest one around where it would be. */
static void watch_nearest(struct walking *walking, const char *path)
{
	for (;;) {
		bool is_new;
		struct name_entry *entry = name_table_put(&walking->seen, path, &is_new);

		if (is_new) {
			entry->value = is_folder(path) ? 2 : 1;
			if (entry->value == 2)
				watch(walking, entry->name);
		}
		if (entry->value == 2 || !strcmp(path, ".") || !strcmp(path, "/"))
			return;
		path = resolve_folder(&walking->scratch, path);
	}
}

static void watch_lookup(struct walking *walking, const struct cached_file *file,
                         const struct cached_lookup *lookup)
{
	const char *hit = lookup->to ? walking->index->files.at[lookup->to - 1].normal : NULL;
	const char *folder = resolve_folder(&walking->scratch, file->normal);
	struct text question = {.arena = &walking->scratch};
	struct resolve_paths paths;
	bool is_new;

	text_print(&question, "%s\n%s\n%s", file->root, folder, lookup->dotted);
	name_table_put(&walking->asked, text_chars(&question), &is_new);
	if (!is_new)
		return;
	resolve_python(&walking->scratch, file->normal, file->root, lookup->dotted, &paths);
	for (unsigned i = 0; i < paths.count; i++) {
		watch_nearest(walking, resolve_folder(&walking->scratch, paths.at[i]));
		if (hit && !strcmp(paths.at[i], hit))
			return;
	}
}

/* Its own folder and those up to its root: an __init__.py there makes a package. */
static void watch_around(struct walking *walking, const struct cached_file *file)
{
	const char *folder = resolve_folder(&walking->scratch, file->normal);

	watch_nearest(walking, folder);
	while (strcmp(folder, file->root) != 0 && strcmp(folder, ".") != 0 &&
	       strcmp(folder, "/") != 0) {
		folder = resolve_folder(&walking->scratch, folder);
		watch_nearest(walking, folder);
	}
}

void run_cache_folders(struct run *run, struct cache_index *index)
{
	struct walking walking = {
	        .run = run,
	        .index = index,
	        .seen = {.arena = &run->arena},
	        .asked = {.arena = &run->arena},
	};

	for (uint32_t i = 0; i < index->files.count; i++) {
		const struct cached_file *file = &index->files.at[i];

		for (uint32_t k = 0; file->root && k < file->lookups.count; k++)
			watch_lookup(&walking, file, &file->lookups.at[k]);
		if (file->root)
			watch_around(&walking, file);
		arena_reset(&walking.scratch);
	}
	arena_release(&walking.scratch);
}
