#include "analyzer/project/project.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/base/hash.h"
#include "analyzer/project/lookups.h"
#include "analyzer/project/relevance.h"
#include "analyzer/project/resolve.h"

enum { MAX_IMPORTED_FILES = 4000 };

struct known_path {
	const char *path;
	bool is_asked, is_missing;
};

struct project {
	struct intern *names;
	struct arena arena;
	VEC(struct project_file *) files;
	uint32_t *index; /* open addressing over paths: file number + 1 */
	uint32_t index_room;
	uint32_t linted;
	VEC(struct project_file *) todo; /* to be lowered */
	VEC(const char *) imported;      /* to be loaded in any case */
	VEC(struct known_path) known;    /* paths that were asked for */
	uint32_t *known_index;
	uint32_t known_room;
	struct lookups *lookups;
	bool loaded, full;
	const struct project_model *models;
	uint32_t model_count;
};

struct project *project_open(struct intern *names)
{
	struct project *project = checked_alloc(1, sizeof(*project));

	memset(project, 0, sizeof(*project));
	project->names = names;
	project->lookups = lookups_open();
	return project;
}

void project_close(struct project *project)
{
	for (uint32_t i = 0; i < project->files.count; i++)
		arena_release(&project->files.at[i]->arena);
	lookups_close(project->lookups);
	arena_release(&project->arena);
	free(project);
}

static const char *path_of(const struct project_file *file)
{
	return file->path; /* the normal path: what the index is by */
}

static void index_put(struct project *project, uint32_t number)
{
	const char *path = path_of(project->files.at[number]);
	uint64_t place = hash_bytes(path, strlen(path));

	while (project->index[place & (project->index_room - 1)] != 0)
		place++;
	project->index[place & (project->index_room - 1)] = number + 1;
}

static void index_grow(struct project *project)
{
	project->index_room = project->index_room ? project->index_room * 2 : 1024;
	project->index = arena_array(&project->arena, uint32_t, project->index_room);
	for (uint32_t i = 0; i < project->files.count; i++)
		index_put(project, i);
}

static struct project_file *index_find(const struct project *project, const char *path)
{
	uint64_t place = hash_bytes(path, strlen(path));
	uint32_t number;

	if (project->index_room == 0)
		return NULL;
	while ((number = project->index[place & (project->index_room - 1)]) != 0) {
		if (strcmp(path_of(project->files.at[number - 1]), path) == 0)
			return project->files.at[number - 1];
		place++;
	}
	return NULL;
}

static struct project_file *add_file(struct project *project, const struct source *source,
                                     const char *path)
{
	struct project_file *file = arena_new(&project->arena, struct project_file);

	file->source = source;
	file->front = front_end_find(source->path);
	file->path = path;
	if ((project->files.count + 1) * 2 > project->index_room)
		index_grow(project);
	file->number = project->files.count;
	vec_push(&project->arena, &project->files, file);
	index_put(project, project->files.count - 1);
	return file;
}

static struct project_file *add_linted(struct project *project, const struct source *source)
{
	const char *path = resolve_normal(&project->arena, source->path);
	struct project_file *file = index_find(project, path);

	if (!file)
		file = add_file(project, source, path);
	file->linted = true;
	return file;
}

void project_add(struct project *project, const struct source *source)
{
	project_add_parsed(project, source, NULL);
}

void project_add_parsed(struct project *project, const struct source *source,
                        struct front_syntax *syntax)
{
	struct project_file *file = add_linted(project, source);

	file->known = file->waits = false;
	file->syntax = syntax;
}

void project_add_known(struct project *project, const struct source *source)
{
	add_linted(project, source)->known = true;
}

void project_add_waiting(struct project *project, const struct source *source)
{
	const uint32_t before = project->files.count;
	struct project_file *file = add_linted(project, source);

	/* another spelling of its path may be asked for */
	if (project->files.count > before)
		file->known = file->waits = true;
}

void project_add_imported(struct project *project, const char *path)
{
	vec_push(&project->arena, &project->imported,
	         arena_text(&project->arena, path, strlen(path)));
}

void project_set_models(struct project *project, const struct project_model *models, uint32_t count)
{
	project->models = models;
	project->model_count = count;
}

bool project_has_models(const struct project *project)
{
	return project->model_count > 0;
}

unsigned project_model(const struct project *project, const char *dotted, size_t length)
{
	unsigned effects = 0;

	for (uint32_t i = 0; i < project->model_count; i++) {
		const char *name = project->models[i].name;

		if (!strncmp(name, dotted, length) && !name[length])
			effects |= project->models[i].effects;
	}
	return effects;
}

bool project_models_class(const struct project *project, const char *dotted, size_t length)
{
	for (uint32_t i = 0; i < project->model_count; i++) {
		const char *name = project->models[i].name;

		if (!strncmp(name, dotted, length) && name[length] == '.')
			return true;
	}
	return false;
}

uint32_t project_file_count(const struct project *project)
{
	return project->files.count;
}

const struct project_file *project_file_at(const struct project *project, uint32_t index)
{
	return project->files.at[index];
}

struct intern *project_names(const struct project *project)
{
	return project->names;
}

static const char *root_of(const struct project *project, const struct project_file *file,
                           struct arena *arena)
{
	(void)project;
	return file->root ? file->root : resolve_root(arena, path_of(file));
}

/* Of a project that is loaded, a question that was asked has its answer. */
static bool is_answered(const struct project *project, struct project_lookup *lookup)
{
	return project->loaded && lookups_find(project->lookups, lookup);
}

const struct project_file *project_import(const struct project *project,
                                          const struct project_file *from, const char *dotted)
{
	struct project_lookup lookup = {from->number, PROJECT_NOTHING, dotted, !project->loaded,
	                                false};
	struct arena scratch = {0};
	struct resolve_paths paths;
	const struct project_file *found = NULL;

	if (is_answered(project, &lookup))
		return lookup.to == PROJECT_NOTHING ? NULL : project->files.at[lookup.to];
	resolve_python(&scratch, path_of(from), root_of(project, from, &scratch), dotted, &paths);
	for (unsigned i = 0; i < paths.count && !found; i++)
		found = index_find(project, paths.at[i]);
	arena_release(&scratch);
	lookup.to = found ? found->number : PROJECT_NOTHING;
	lookups_add(project->lookups, lookup);
	return found;
}

uint32_t project_lookup_count(const struct project *project)
{
	return lookups_count(project->lookups);
}

struct project_lookup project_lookup_at(const struct project *project, uint32_t index)
{
	return lookups_at(project->lookups, index);
}

bool project_is_full(const struct project *project)
{
	return project->full;
}

static void grow_known(struct project *project)
{
	project->known_room = project->known_room ? project->known_room * 2 : 1024;
	project->known_index = arena_array(&project->arena, uint32_t, project->known_room);
	for (uint32_t i = 0; i < project->known.count; i++) {
		const char *path = project->known.at[i].path;
		uint64_t at = hash_bytes(path, strlen(path));

		while (project->known_index[at & (project->known_room - 1)])
			at++;
		project->known_index[at & (project->known_room - 1)] = i + 1;
	}
}

/* What is known of the path of so many bytes; a new entry knows nothing yet. */
static struct known_path *known_path(struct project *project, const char *path, size_t length)
{
	uint64_t place = hash_bytes(path, length);
	struct known_path new = {0};
	uint32_t number;

	if ((project->known.count + 1) * 2 > project->known_room)
		grow_known(project);
	while ((number = project->known_index[place & (project->known_room - 1)]) != 0) {
		struct known_path *known = &project->known.at[number - 1];

		if (strncmp(known->path, path, length) == 0 && !known->path[length])
			return known;
		place++;
	}
	new.path = arena_text(&project->arena, path, length);
	vec_push(&project->arena, &project->known, new);
	project->known_index[place & (project->known_room - 1)] = project->known.count;
	return &project->known.at[project->known.count - 1];
}

/* Nothing is asked for below a folder that is missing: a name of a library has many places
 * where it might be. */
static bool is_missing(struct project *project, const char *path, size_t length, int access_mode)
{
	struct known_path *known = known_path(project, path, length);
	size_t folder = length;
	bool missing;

	if (known->is_asked)
		return known->is_missing;
	while (folder > 0 && path[folder - 1] != '/')
		folder--;
	missing = folder > 1 && is_missing(project, path, folder - 1, F_OK);
	known = known_path(project, path, length);
	known->is_asked = true;
	known->is_missing = missing || access(known->path, access_mode) != 0;
	return known->is_missing;
}

static struct project_file *open_file(struct project *project, const char *path)
{
	struct source_problem problem;
	struct project_file *file = index_find(project, path);
	const struct source *source;

	if (file || is_missing(project, path, strlen(path), R_OK))
		return file;
	if (project->files.count - project->linted >= MAX_IMPORTED_FILES) {
		project->full = true;
		return NULL;
	}
	path = arena_text(&project->arena, path, strlen(path));
	source = source_open(&project->arena, path, &problem);
	return source ? add_file(project, source, path) : NULL;
}

static void want(struct project *project, struct project_file *file)
{
	if (file->wanted || !file->front)
		return;
	file->wanted = true;
	file->root = resolve_root(&project->arena, path_of(file));
	vec_push(&project->arena, &project->todo, file);
}

static void want_import(struct project *project, const struct project_file *from,
                        const char *dotted, struct arena *scratch)
{
	struct project_lookup lookup = {from->number, PROJECT_NOTHING, dotted, false, true};
	struct project_file *file = NULL;
	struct resolve_paths paths;

	resolve_python(scratch, path_of(from), from->root, dotted, &paths);
	for (unsigned i = 0; i < paths.count && !file; i++)
		file = open_file(project, paths.at[i]);
	if (file) {
		lookup.to = file->number;
		want(project, file);
	}
	lookups_add(project->lookups, lookup);
}

/* `import a.b.c` runs a and a.b, too. */
static void want_outer(struct project *project, const struct project_file *file, const char *dotted,
                       struct arena *scratch)
{
	const char *dot = *dotted == '.' ? NULL : strchr(dotted, '.');

	for (; dot; dot = strchr(dot + 1, '.'))
		want_import(project, file, arena_text(scratch, dotted, (size_t)(dot - dotted)),
		            scratch);
}

/* `from a import b`: b may be a module, too. */
static void want_member(struct project *project, const struct project_file *file,
                        const char *module, const char *name, struct arena *scratch)
{
	struct text dotted = {.arena = scratch};

	text_add_chars(&dotted, module);
	if (module[strlen(module) - 1] != '.')
		text_add_char(&dotted, '.');
	text_add_chars(&dotted, name);
	want_import(project, file, text_chars(&dotted), scratch);
}

/* What is imported from a module follows its import. */
static void want_imports_of(struct project *project, const struct project_file *file,
                            const struct ir_func *func, struct arena *scratch)
{
	const char *module = NULL;

	for (uint32_t i = 1; i < func->insts.count; i++) {
		const struct ir_inst *inst = &func->insts.at[i];

		if (inst->op == OP_import) {
			module = intern_chars(project->names, (sym_id){inst->name}, NULL);
			if (!inst->sub)
				want_outer(project, file, module, scratch);
			want_import(project, file, module, scratch);
		} else if (inst->op == OP_import_from && module) {
			want_member(project, file, module,
			            intern_chars(project->names, (sym_id){inst->name}, NULL),
			            scratch);
		}
	}
}

static void lower_job(void *context, size_t index, unsigned worker)
{
	struct project *project = context;
	struct project_file *file = project->todo.at[index];

	(void)worker;
	file->lowered =
	        file->front->lower(&file->arena, project->names, file->source, file->syntax);
}

static void lower_all(struct project *project, struct thread_pool *pool)
{
	struct arena scratch = {0};

	while (project->todo.count > 0) {
		uint32_t count = project->todo.count;
		struct project_file **batch = project->todo.at;

		thread_pool_run(pool, count, lower_job, project);
		memset(&project->todo, 0, sizeof(project->todo));
		for (uint32_t i = 0; i < count; i++) {
			const struct ir_module *module = batch[i]->lowered.module;

			for (uint32_t f = 1; module && f < module->funcs.count; f++)
				want_imports_of(project, batch[i], module->funcs.at[f], &scratch);
			arena_release(&scratch);
		}
	}
}

struct import_scan {
	struct project *project;
	const struct project_file *file;
	bool relevant;
};

static void found_import(void *context, const char *dotted, size_t length)
{
	struct import_scan *scan = context;
	char name[256];
	const struct project_file *file;

	if (scan->relevant || length >= sizeof(name))
		return;
	memcpy(name, dotted, length);
	name[length] = 0;
	file = project_import(scan->project, scan->file, name);
	scan->relevant = file && file->matters;
}

/* A file that imports one that matters, matters. */
static bool spread_relevance(struct project *project)
{
	bool changed = false;

	for (uint32_t i = 0; i < project->linted; i++) {
		struct project_file *file = project->files.at[i];
		struct import_scan scan = {project, file, false};

		if (file->matters || !file->front)
			continue;
		relevance_imports(file->source, found_import, &scan);
		file->matters = scan.relevant;
		changed |= scan.relevant;
	}
	return changed;
}

/* By the last part of its name, whatever it is imported as. */
static bool names_a_model(const struct project *project, const struct source *source)
{
	for (uint32_t i = 0; i < project->model_count; i++) {
		const char *dot = strrchr(project->models[i].name, '.');
		const char *name = dot ? dot + 1 : project->models[i].name;

		if (memmem(source->text, source->length, name, strlen(name)))
			return true;
	}
	return false;
}

static void scan_job(void *context, size_t index, unsigned worker)
{
	struct project *project = context;

	(void)worker;
	project->files.at[index]->matters =
	        relevance_of(project->files.at[index]->source) ||
	        names_a_model(project, project->files.at[index]->source);
}

void project_load(struct project *project, struct thread_pool *pool, bool no_skip)
{
	project->linted = project->files.count;
	thread_pool_run(pool, project->linted, scan_job, project);
	for (uint32_t i = 0; i < project->linted; i++) {
		struct project_file *file = project->files.at[i];

		file->root = resolve_root(&project->arena, path_of(file));
	}
	while (spread_relevance(project))
		;
	for (uint32_t i = 0; i < project->linted; i++)
		project->files.at[i]->relevant = project->files.at[i]->matters || no_skip;
	for (uint32_t i = 0; i < project->linted; i++)
		if (project->files.at[i]->relevant && !project->files.at[i]->waits)
			want(project, project->files.at[i]);
	for (uint32_t i = 0; i < project->imported.count; i++) {
		struct project_file *file = open_file(project, project->imported.at[i]);

		if (file)
			want(project, file);
	}
	lower_all(project, pool);
	project->loaded = true;
}

const struct ir_module *project_import_module(const struct project *project,
                                              const struct project_file *from, const char *dotted,
                                              bool *is_package)
{
	const struct project_file *file = project_import(project, from, dotted);
	const char *slash;

	if (!file)
		return NULL;
	slash = strrchr(file->path, '/');
	*is_package = !strcmp(slash ? slash + 1 : file->path, "__init__.py");
	return file->lowered.module;
}
