/* Which findings are reported: by rule, certainty and file. */

#include <string.h>

#include "analyzer/engine/run.h"
#include "analyzer/finding/fingerprint.h"
#include "analyzer/source/gitignore.h"

/* A row of per-file-ignores, its pattern read. */
struct matcher {
	const struct file_ignore *row;
	const char *folder; /* absolute */
	struct ignore_list patterns;
};

/* What holds for some of the files, made ready. */
struct filter {
	const struct file_terms *terms;
	const struct rule_choice *choices;
	VEC(struct matcher) matchers;
};

struct filtering {
	struct run *run;
	VEC(struct filter *) filters;
};

static struct filter *make_filter(struct run *run, const struct file_terms *terms)
{
	struct filter *filter = arena_new(&run->arena, struct filter);

	filter->terms = terms;
	filter->choices = selection_apply(&run->arena, &terms->selection, run->rules);
	for (uint32_t i = 0; i < terms->ignores.count; i++) {
		const struct file_ignore *row = &terms->ignores.at[i];
		struct matcher matcher = {.row = row};

		matcher.folder = path_absolute(&run->arena, row->folder);
		ignore_add_lines(&run->arena, &matcher.patterns, row->pattern,
		                 strlen(row->pattern));
		vec_push(&run->arena, &filter->matchers, matcher);
	}
	return filter;
}

static const struct filter *filter_of(struct filtering *filtering, const char *path)
{
	struct run *run = filtering->run;
	const struct engine_settings *settings = run->settings;
	const struct file_terms *terms =
	        settings->terms_of ? settings->terms_of(settings->context, path) : &settings->terms;

	for (uint32_t i = 0; i < filtering->filters.count; i++) {
		if (filtering->filters.at[i]->terms == terms)
			return filtering->filters.at[i];
	}
	vec_push(&run->arena, &filtering->filters, make_filter(run, terms));
	return filtering->filters.at[filtering->filters.count - 1];
}

static bool file_matches(struct run *run, const struct matcher *matcher, const char *path)
{
	const char *below = path_below(&run->arena, matcher->folder, path);

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

static bool is_ignored_in_file(struct run *run, const struct filter *filter,
                               const struct finding *finding)
{
	for (uint32_t i = 0; i < filter->matchers.count; i++) {
		if (row_names(filter->matchers.at[i].row, finding->rule) &&
		    file_matches(run, &filter->matchers.at[i], finding->source->path))
			return true;
	}
	return false;
}

void run_filter(struct run *run)
{
	struct filtering filtering = {.run = run};
	finding_list *findings = &run->outcome.findings;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < findings->count; i++) {
		struct finding *finding = &findings->at[i];
		const struct filter *filter = filter_of(&filtering, finding->source->path);
		const struct rule_choice *choice = &filter->choices[finding->rule - run->rules.at];

		if (!choice->on || finding->confidence < filter->terms->least_confidence ||
		    is_ignored_in_file(run, filter, finding))
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
