/* The folders that decide what an import means. As long as the names in them
 * stay, no import finds another file than it did. */

#include <string.h>
#include <sys/stat.h>

#include "analyzer/base/files.h"
#include "analyzer/engine/run.h"
#include "analyzer/project/relevance.h"
#include "analyzer/project/resolve.h"

enum { ANCESTORS = 3 };

struct name_set {
	const char **at;
	uint32_t count, room;
};

struct walking {
	struct run *run;
	struct arena scratch;
	struct cache_index *index;
	struct name_set seen;   /* folders in the index */
	struct name_set absent; /* paths that are no folders */
	const struct project_file *file;
};

static const char **set_place(const struct name_set *set, const char *name)
{
	uint64_t at = hash_bytes(name, strlen(name));

	while (set->at[at & (set->room - 1)] && strcmp(set->at[at & (set->room - 1)], name) != 0)
		at++;
	return &set->at[at & (set->room - 1)];
}

static void set_grow(struct arena *arena, struct name_set *set)
{
	struct name_set larger = {.count = set->count, .room = set->room ? set->room * 2 : 256};

	larger.at = arena_array(arena, const char *, larger.room);
	for (uint32_t i = 0; i < set->room; i++) {
		if (set->at[i])
			*set_place(&larger, set->at[i]) = set->at[i];
	}
	*set = larger;
}

/* False: it was there. The name is copied. */
static bool set_add(struct arena *arena, struct name_set *set, const char *name)
{
	const char **place;

	if ((set->count + 1) * 2 > set->room)
		set_grow(arena, set);
	place = set_place(set, name);
	if (*place)
		return false;
	*place = arena_text(arena, name, strlen(name));
	set->count++;
	return true;
}

static bool is_folder(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* False: there is no such folder. */
static bool watch(struct walking *walking, const char *path)
{
	struct arena *arena = &walking->run->arena;
	struct cached_folder folder = {0};

	if (walking->absent.room && *set_place(&walking->absent, path))
		return false;
	if (walking->seen.room && *set_place(&walking->seen, path))
		return true;
	if (!is_folder(path)) {
		set_add(arena, &walking->absent, path);
		return false;
	}
	set_add(arena, &walking->seen, path);
	folder.path = arena_text(arena, path, strlen(path));
	if (file_stamp_take(path, &folder.stamp)) {
		folder.names = folder_names_hash(path);
		vec_push(arena, &walking->index->folders, folder);
	}
	return true;
}

/* From `base` down the parts of a dotted name, as far as there are folders. */
static void descend(struct walking *walking, const char *base, const char *dotted)
{
	struct text path = {.arena = &walking->scratch};

	text_add_chars(&path, resolve_normal(&walking->scratch, base));
	while (watch(walking, text_chars(&path)) && *dotted) {
		size_t length = strcspn(dotted, ".");

		text_add_char(&path, '/');
		text_add(&path, dotted, length);
		dotted += length;
		dotted += *dotted == '.';
	}
}

static const char *above(struct arena *arena, const char *folder, unsigned levels)
{
	struct text path = {.arena = arena};

	text_add_chars(&path, folder);
	while (levels--)
		text_add_chars(&path, "/..");
	return text_chars(&path);
}

/* The places of resolve_python. */
static void watch_import(struct walking *walking, const char *dotted)
{
	struct arena *scratch = &walking->scratch;
	const char *folder = resolve_folder(scratch, walking->file->path);
	const char *root = walking->file->root ? walking->file->root : folder;
	size_t dots = strspn(dotted, ".");
	struct text source = {.arena = scratch};

	if (dots) {
		descend(walking, above(scratch, folder, (unsigned)(dots - 1)), dotted + dots);
		return;
	}
	text_print(&source, "%s/src", root);
	descend(walking, folder, dotted);
	descend(walking, text_chars(&source), dotted);
	for (unsigned i = 0; i <= ANCESTORS; i++)
		descend(walking, above(scratch, root, i), dotted);
}

static void found_import(void *context, const char *dotted, size_t length)
{
	struct walking *walking = context;

	watch_import(walking, arena_text(&walking->scratch, dotted, length));
}

static void watch_function(struct walking *walking, const struct ir_func *func)
{
	for (uint32_t i = 1; i < func->insts.count; i++) {
		const struct ir_inst *inst = &func->insts.at[i];
		struct text dotted = {.arena = &walking->scratch};
		const struct ir_inst *module;

		if (inst->op != OP_import_from)
			continue;
		module = &func->insts.at[ir_args(func, inst)[0].value.n];
		if (module->op != OP_import)
			continue;
		text_add_chars(&dotted,
		               intern_chars(walking->run->names, (sym_id){module->name}, NULL));
		if (dotted.length && dotted.at[dotted.length - 1] != '.')
			text_add_char(&dotted, '.');
		text_add_chars(&dotted,
		               intern_chars(walking->run->names, (sym_id){inst->name}, NULL));
		watch_import(walking, text_chars(&dotted));
	}
	for (uint32_t i = 1; i < func->insts.count; i++) {
		if (func->insts.at[i].op == OP_import)
			watch_import(walking, intern_chars(walking->run->names,
			                                   (sym_id){func->insts.at[i].name}, NULL));
	}
}

/* Its own folder and those around it: an __init__.py there makes a package. */
static void watch_around(struct walking *walking)
{
	const char *folder = resolve_folder(&walking->scratch, walking->file->path);

	for (unsigned i = 0; i <= ANCESTORS; i++)
		watch(walking,
		      resolve_normal(&walking->scratch, above(&walking->scratch, folder, i)));
	watch_import(walking, "");
}

void run_cache_folders(struct run *run, struct cache_index *index)
{
	struct walking walking = {.run = run, .index = index};

	for (uint32_t i = 0; i < index->folders.count; i++)
		set_add(&run->arena, &walking.seen, index->folders.at[i].path);
	for (uint32_t i = 0; i < project_file_count(run->project); i++) {
		const struct ir_module *module;

		walking.file = project_file_at(run->project, i);
		module = walking.file->lowered.module;
		watch_around(&walking);
		for (uint32_t k = 1; module && k < module->funcs.count; k++)
			watch_function(&walking, module->funcs.at[k]);
		if (!module)
			relevance_imports(walking.file->source, found_import, &walking);
		arena_reset(&walking.scratch);
	}
	arena_release(&walking.scratch);
}
