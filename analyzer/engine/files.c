/* Which files a run looks at, and their bytes. */

#include <string.h>

#include "analyzer/engine/run.h"

static void add_failure(struct run *run, const char *path, const char *reason)
{
	struct skipped skipped = {.path = path, .reason = reason, .is_failure = true};

	vec_push(&run->arena, &run->unread, skipped);
}

static void list_files(struct run *run)
{
	run->file_count = run->found.files.count;
	run->files = arena_array(&run->arena, struct run_file, run->file_count);
	for (uint32_t i = 0; i < run->file_count; i++) {
		run->files[i].path = run->found.files.at[i].path;
		run->files[i].named = run->found.files.at[i].named;
	}
}

void run_find_files(struct run *run)
{
	const struct engine_settings *settings = run->settings;
	VEC(const char *) paths = {0};
	bool has_stdin = false;

	for (uint32_t i = 0; i < settings->path_count; i++) {
		if (!strcmp(settings->paths[i], "-"))
			has_stdin = true;
		else
			vec_push(&run->arena, &paths, settings->paths[i]);
	}
	discover(&run->arena, &settings->discover, paths.at, paths.count, &run->found);
	run->error = run->found.complaint;
	for (uint32_t i = 0; i < run->found.problems.count; i++)
		add_failure(run, run->found.problems.at[i].path, run->found.problems.at[i].message);
	if (has_stdin) {
		struct discovered_file file = {"-", true};

		vec_push(&run->arena, &run->found.files, file);
	}
	list_files(run);
}

static void read_file(void *context, size_t index, unsigned worker)
{
	struct run *run = context;
	struct run_file *file = &run->files[index];

	(void)worker;
	if ((file->known && !file->needed) || file->source)
		return;
	if (run->cache.records && !file_stamp_take(file->path, &file->stamp))
		file->stamp = (struct file_stamp){0};
	if (!strcmp(file->path, "-")) {
		file->path = run->settings->stdin_path;
		file->source = source_open_stdin(&file->arena, file->path, &file->problem);
	} else {
		file->source = source_open(&file->arena, file->path, &file->problem);
	}
	if (run->cache.records && file->source)
		file->digest = digest_bytes(file->source->bytes, file->source->size);
}

/* A notebook in another language that lay in a folder is nobody's loss. */
static void tell_problem(struct run *run, const struct run_file *file)
{
	struct skipped skipped = {
	        .path = file->path,
	        .reason = file->problem.message,
	        .is_failure = file->problem.failure == SOURCE_UNREADABLE,
	};

	if (file->problem.failure == SOURCE_NOT_OURS && !file->named)
		return;
	vec_push(&run->arena, &run->unread, skipped);
}

static void tell_no_language(struct run *run, const struct run_file *file)
{
	struct skipped skipped = {.path = file->path,
	                          .reason = "neither Python, a notebook nor C++ by its name"};

	vec_push(&run->arena, &run->unread, skipped);
}

void run_read_files(struct run *run)
{
	thread_pool_run(run->pool, run->file_count, read_file, run);
	for (uint32_t i = 0; i < run->file_count; i++) {
		struct run_file *file = &run->files[i];

		if (file->known || file->told)
			continue;
		file->told = true;
		if (!file->source) {
			tell_problem(run, file);
		} else if (!front_end_find(file->path)) {
			tell_no_language(run, file);
			file->has_no_language = true;
		}
	}
}
