#include "analyzer/engine/cache_plan.h"

#include <string.h>
#include <unistd.h>

#include "analyzer/project/resolve.h"

enum { FOLDER_SAME = 1, FOLDER_CHANGED };

static void put(struct name_table *table, const char *name, uint32_t value)
{
	bool is_new;

	name_table_put(table, name, &is_new)->value = value;
}

void cache_plan_add_delta(struct cache_plan *plan, const char *normal)
{
	put(&plan->delta, normal, 1);
}

/* look-ups */

/* The nearest folder that was watched decides: what lies below it did not exist,
 * and to come into being it must have changed. */
static bool may_have_come(struct cache_plan *plan, const char *path)
{
	struct name_entry *entry = NULL;

	if (!plan->any_folder_changed)
		return false;
	while (!entry && strcmp(path, ".") != 0 && strcmp(path, "/") != 0) {
		path = resolve_folder(&plan->scratch, path);
		entry = name_table_find(&plan->folders, path);
	}
	return !entry || entry->value == FOLDER_CHANGED;
}

/* Whether a package may begin elsewhere around the file. */
static bool root_may_have_moved(struct cache_plan *plan, const struct cached_file *file)
{
	const char *folder = file->normal;

	if (!plan->any_folder_changed)
		return false;
	do {
		struct name_entry *entry;

		folder = resolve_folder(&plan->scratch, folder);
		entry = name_table_find(&plan->folders, folder);
		if (entry && entry->value == FOLDER_CHANGED)
			return true;
	} while (strcmp(folder, file->root) != 0 && strcmp(folder, ".") != 0 &&
	         strcmp(folder, "/") != 0);
	return false;
}

static bool exists(struct cache_plan *plan, const char *path)
{
	bool is_new;
	struct name_entry *entry = name_table_put(&plan->exists, path, &is_new);

	if (is_new)
		entry->value = access(path, R_OK) == 0 ? 2 : 1;
	return entry->value == 2;
}

/* What was found may be another file now: one that came or went, or, where the
 * disk is asked, one before it that was not there. */
static bool lookup_changed(struct cache_plan *plan, const struct cached_file *file,
                           const struct cached_lookup *lookup)
{
	const struct cache_index *index = &plan->run->cache.index;
	const char *hit = lookup->to ? index->files.at[lookup->to - 1].normal : NULL;
	struct resolve_paths paths;

	resolve_python(&plan->scratch, file->normal, file->root, lookup->dotted, &paths);
	for (unsigned i = 0; i < paths.count; i++) {
		if (name_table_find(&plan->delta, paths.at[i]))
			return true;
		if (hit && !strcmp(paths.at[i], hit))
			return false;
		if (lookup->loads && may_have_come(plan, paths.at[i]) && exists(plan, paths.at[i]))
			return true;
	}
	return hit != NULL;
}

static bool file_looks_elsewhere(struct cache_plan *plan, const struct cached_file *file)
{
	if (!file->root)
		return false;
	if (root_may_have_moved(plan, file) &&
	    strcmp(resolve_root(&plan->scratch, file->normal), file->root) != 0)
		return true;
	for (uint32_t i = 0; i < file->lookups.count; i++) {
		if (lookup_changed(plan, file, &file->lookups.at[i]))
			return true;
	}
	return false;
}

bool cache_plan_check_lookups(struct cache_plan *plan)
{
	const struct cache_index *index = &plan->run->cache.index;
	bool any = false;

	if (!plan->any_folder_changed && !plan->delta.count)
		return false;
	for (uint32_t i = 0; i < index->files.count; i++) {
		if (!plan->changed[i] && file_looks_elsewhere(plan, &index->files.at[i]))
			plan->changed[i] = any = true;
		arena_reset(&plan->scratch);
	}
	return any;
}

bool cache_plan_any(const bool *marks, const place_list *places)
{
	for (uint32_t i = 0; i < places->count; i++) {
		if (marks[places->at[i]])
			return true;
	}
	return false;
}

/* Bodies that rest on others, directly or not. */
static void find_moved(struct cache_plan *plan)
{
	const struct cache_index *index = &plan->run->cache.index;
	bool again = true;

	while (again) {
		again = false;
		for (uint32_t i = 0; i < index->files.count; i++) {
			if (plan->moved[i] ||
			    (!plan->changed[i] &&
			     !cache_plan_any(plan->moved, &index->files.at[i].asked)))
				continue;
			plan->moved[i] = again = true;
		}
	}
}

void cache_plan_touch(struct cache_plan *plan)
{
	const struct cache_index *index = &plan->run->cache.index;

	find_moved(plan);
	for (uint32_t i = 0; i < index->files.count; i++) {
		const struct cached_file *file = &index->files.at[i];

		plan->touched[i] |= plan->changed[i] || cache_plan_any(plan->moved, &file->used);
		plan->reported[i] |=
		        plan->changed[i] || cache_plan_any(plan->changed, &file->replayed);
	}
}

/* the first plan */

static void name_all(struct cache_plan *plan)
{
	struct run *run = plan->run;
	struct cache_index *index = &run->cache.index;

	for (uint32_t i = 0; i < run->file_count; i++) {
		run->files[i].normal = resolve_normal(&run->arena, run->files[i].path);
		put(&plan->linted, run->files[i].normal, i + 1);
		put(&plan->given, run->files[i].path, i + 1);
	}
	for (uint32_t i = 0; run->cache.usable && i < index->files.count; i++) {
		put(&plan->by_normal, index->files.at[i].normal, i + 1);
		if (index->files.at[i].linted)
			put(&plan->by_path, index->files.at[i].path, i + 1);
	}
	for (uint32_t i = 0; run->cache.usable && i < index->folders.count; i++) {
		put(&plan->folders, index->folders.at[i].path,
		    run->cache.folder_changed[i] ? FOLDER_CHANGED : FOLDER_SAME);
		plan->any_folder_changed |= run->cache.folder_changed[i];
	}
}

/* Files that are linted now and were not, or the other way round. */
static void find_delta(struct cache_plan *plan)
{
	struct run *run = plan->run;
	struct cache_index *index = &run->cache.index;

	for (uint32_t i = 0; i < run->file_count; i++) {
		struct name_entry *entry = name_table_find(&plan->by_path, run->files[i].path);

		run->files[i].cached = entry ? &index->files.at[entry->value - 1] : NULL;
		if (!entry)
			cache_plan_add_delta(plan, run->files[i].normal);
	}
	for (uint32_t i = 0; i < index->files.count; i++) {
		const struct cached_file *file = &index->files.at[i];

		if (file->linted && !name_table_find(&plan->linted, file->normal)) {
			cache_plan_add_delta(plan, file->normal);
			plan->changed[i] = true;
		}
	}
}

static bool any_touched(const struct cache_plan *plan)
{
	for (uint32_t i = 0; i < plan->run->cache.index.files.count; i++) {
		if (plan->touched[i] || plan->reported[i])
			return true;
	}
	return false;
}

void cache_plan_open(struct run *run)
{
	struct cache_plan *plan = arena_new(&run->arena, struct cache_plan);
	struct cache_index *index = &run->cache.index;

	run->cache.plan = plan;
	plan->run = run;
	plan->by_path.arena = plan->by_normal.arena = plan->linted.arena = &run->arena;
	plan->folders.arena = plan->exists.arena = plan->delta.arena = &run->arena;
	plan->given.arena = plan->judged.arena = &run->arena;
	name_all(plan);
	if (!run->cache.usable)
		return;
	plan->changed = run->cache.file_changed;
	for (uint32_t i = 0; i < index->files.count; i++)
		plan->changed[i] |= index->files.at[i].is_open;
	plan->moved = arena_array(&run->arena, bool, index->files.count + 1);
	plan->touched = arena_array(&run->arena, bool, index->files.count + 1);
	plan->reported = arena_array(&run->arena, bool, index->files.count + 1);
	plan->imported = arena_array(&run->arena, bool, index->files.count + 1);
	find_delta(plan);
	cache_plan_check_lookups(plan);
	cache_plan_touch(plan);
	run_cache_mark(run);
	run->cache.reuses_all =
	        !run->settings->joined && run->cache.same_files && !any_touched(plan);
}
