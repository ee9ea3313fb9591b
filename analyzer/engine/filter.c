/* Which findings are reported: by rule, certainty and file. */

#include <string.h>

#include "analyzer/engine/run.h"
#include "analyzer/finding/fingerprint.h"
#include "analyzer/source/gitignore.h"

/* A row of per-file-ignores, its pattern read. */
struct matcher {
	const struct file_ignore *row;
	struct ignore_list patterns;
};

static struct matcher *read_patterns(struct run *run)
{
	uint32_t count = run->settings->file_ignore_count;
	struct matcher *matchers = arena_array(&run->arena, struct matcher, count);

	for (uint32_t i = 0; i < count; i++) {
		const char *pattern = run->settings->file_ignores[i].pattern;

		matchers[i].row = &run->settings->file_ignores[i];
		ignore_add_lines(&run->arena, &matchers[i].patterns, pattern, strlen(pattern));
	}
	return matchers;
}

static bool file_matches(struct run *run, const struct matcher *matcher, const char *path)
{
	const char *folder = path_absolute(&run->arena, matcher->row->folder);
	const char *below = path_below(&run->arena, folder, path);

	if (*below == '/')
		return false;
	/* A pattern that names a folder holds for all that is in it. */
	for (const char *slash = below; (slash = strchr(slash, '/')); slash++) {
		if (ignore_match(&matcher->patterns, below, (size_t)(slash - below), true) ==
		    IGNORE_EXCLUDED)
			return true;
	}
	return ignore_match(&matcher->patterns, below, strlen(below), false) == IGNORE_EXCLUDED;
}

static bool row_names(const struct file_ignore *row, const struct rule *rule)
{
	for (uint32_t i = 0; i < row->selectors.count; i++) {
		if (rule_matches(rule, row->selectors.at[i]))
			return true;
	}
	return false;
}

static bool is_ignored_in_file(struct run *run, const struct matcher *matchers,
                               const struct finding *finding)
{
	for (uint32_t i = 0; i < run->settings->file_ignore_count; i++) {
		if (row_names(matchers[i].row, finding->rule) &&
		    file_matches(run, &matchers[i], finding->source->path))
			return true;
	}
	return false;
}

static bool is_reported(struct run *run, const struct rule_choice *choice,
                        const struct matcher *matchers, const struct finding *finding)
{
	return choice->on && finding->confidence >= run->settings->least_confidence &&
	       run_is_in_shard(run, finding->source->path) &&
	       !is_ignored_in_file(run, matchers, finding);
}

void run_filter(struct run *run)
{
	struct rule_choice *choices =
	        selection_apply(&run->arena, &run->settings->selection, run->rules);
	struct matcher *matchers = read_patterns(run);
	finding_list *findings = &run->outcome.findings;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < findings->count; i++) {
		struct finding *finding = &findings->at[i];
		const struct rule_choice *choice = &choices[finding->rule - run->rules.at];

		if (!is_reported(run, choice, matchers, finding))
			continue;
		if (finding->replay.refuted) {
			run->outcome.refuted++;
			continue;
		}
		if (choice->has_severity && finding->severity > choice->severity)
			finding->severity = choice->severity;
		findings->at[kept++] = *finding;
	}
	findings->count = kept;
}
