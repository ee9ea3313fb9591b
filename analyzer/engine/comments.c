/* The comments of a run's files, for the directives in them. */

#include "analyzer/engine/run.h"
#include "analyzer/engine/suppress.h"

static void add_file(struct run *run, const struct source *source,
                     const struct front_result *lowered, struct suppress_file *file)
{
	struct span *spans = arena_array(&run->arena, struct span, lowered->comments.count);

	for (uint32_t i = 0; i < lowered->comments.count; i++)
		spans[i] = lowered->comments.at[i].span;
	*file = (struct suppress_file){
	        .source = source, .comments = spans, .comment_count = lowered->comments.count};
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
	lowered = file->front->lower(&run->arena, run->names, file->source, NULL);
	add_file(run, file->source, &lowered, suppress);
	return true;
}

static bool has_findings(const struct run *run, const struct source *source)
{
	for (uint32_t i = 0; i < run->outcome.findings.count; i++) {
		if (run->outcome.findings.at[i].source == source)
			return true;
	}
	return false;
}

/* Files whose results are taken as they are need no second look; one that is
 * only imported needs one when something was found in it. */
static bool is_looked_at(const struct run *run, const struct project_file *file)
{
	const struct run_file *owner = run->owners[file->number];

	if (!owner)
		return has_findings(run, file->source);
	return !owner->reused && (!file->waits || file->lowered.module);
}

void run_suppress(struct run *run)
{
	uint32_t count = project_file_count(run->project);
	struct suppress_file *files = arena_array(&run->arena, struct suppress_file, count);
	struct run_file **owners = arena_array(&run->arena, struct run_file *, count);
	uint32_t used = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct project_file *file = project_file_at(run->project, i);

		if (!is_looked_at(run, file) || !read_file(run, file, &files[used]))
			continue;
		files[used].is_imported = !run->owners[i];
		owners[used++] = run->owners[i];
	}
	suppress_findings(&run->arena, run->rules, files, used, &run->outcome);
	for (uint32_t i = 0; i < used; i++) {
		if (owners[i])
			owners[i]->suppressed = files[i].suppressed;
		else
			vec_push(
			        &run->arena, &run->imported_suppressed,
			        (struct imported_suppressed){files[i].source, files[i].suppressed});
	}
}
