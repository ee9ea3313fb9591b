/* The comments of a run's files, for the directives in them. */

#include "analyzer/engine/run.h"
#include "analyzer/engine/suppress.h"

static void add_file(struct run *run, const struct source *source,
                     const struct front_result *lowered, struct suppress_file *file)
{
	struct span *spans = arena_array(&run->arena, struct span, lowered->comments.count);

	for (uint32_t i = 0; i < lowered->comments.count; i++)
		spans[i] = lowered->comments.at[i].span;
	*file = (struct suppress_file){source, spans, lowered->comments.count, 0};
}

/* A file that the scan left out is read all the same when it names us: a
 * directive in it can only be of no use. */
static bool read_file(struct run *run, const struct project_file *file,
                      struct suppress_file *suppress)
{
	struct front_result lowered;

	if (file->lowered.module) {
		if (!suppress_is_possible(file->source))
			return false;
		add_file(run, file->source, &file->lowered, suppress);
		return true;
	}
	if (!file->front || !suppress_names_ours(file->source))
		return false;
	lowered = file->front->lower(&run->arena, run->names, file->source);
	add_file(run, file->source, &lowered, suppress);
	return true;
}

void run_suppress(struct run *run)
{
	uint32_t count = project_file_count(run->project);
	struct suppress_file *files = arena_array(&run->arena, struct suppress_file, count);
	uint32_t used = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct project_file *file = project_file_at(run->project, i);

		if (file->linted && run_is_in_shard(run, file->source->path))
			used += read_file(run, file, &files[used]);
	}
	suppress_findings(&run->arena, run->rules, files, used, &run->outcome);
	for (uint32_t i = 0; i < run->file_count; i++) {
		for (uint32_t k = 0; k < used; k++) {
			if (run->files[i].source == files[k].source)
				run->files[i].suppressed = files[k].suppressed;
		}
	}
}
