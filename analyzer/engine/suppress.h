#ifndef GRAPHLINT_ENGINE_SUPPRESS_H
#define GRAPHLINT_ENGINE_SUPPRESS_H

/* Comments that leave findings out. A directive counts for a finding that
 * starts on its line, or whose statement ends there. One that names our codes
 * and leaves nothing out is itself a finding (unused-suppression). */

#include "analyzer/finding/outcome.h"
#include "analyzer/finding/rule.h"

struct suppress_file {
	const struct source *source;
	const struct span *comments;
	uint32_t comment_count;
	bool is_imported;    /* only: what is unused in it is not told */
	uint32_t suppressed; /* result: findings that were left out */
};

/* Whether a file can hold a directive at all: a look at its bytes. */
bool suppress_is_possible(const struct source *source);
/* ... and one that names us or one of our codes. */
bool suppress_names_ours(const struct source *source);
/* Takes suppressed findings out of the outcome and adds the unused ones; the
 * list stays sorted. Sets every finding's noqa_row. */
void suppress_findings(struct arena *arena, struct rule_table rules, struct suppress_file *files,
                       uint32_t count, struct outcome *outcome);

#endif
