#ifndef GRAPHLINT_FINDING_OUTCOME_H
#define GRAPHLINT_FINDING_OUTCOME_H

/* The result of a run, as reports print it: what was found and, never mixed up
 * with finding nothing, what could not be looked at. Findings are sorted and
 * merged; skips are sorted by path and place. Lives in the run's arena. */

#include "analyzer/finding/finding.h"

struct skipped {
	const char *path;
	const struct source *source; /* NULL: the file could not be read at all */
	struct span span;            /* empty: the whole file */
	const char *reason;
	bool is_failure; /* a file that should be readable: exit status 2 */
};

struct outcome {
	finding_list findings;
	VEC(struct skipped) skipped;
	VEC(const char *) stale; /* baseline entries that no finding answers to */
	uint32_t files;          /* linted */
	uint32_t analysed;       /* of those, not taken from the cache or left out by the scan */
	uint32_t from_cache;
	uint32_t left_out;   /* by the scan: they cannot matter */
	uint32_t suppressed; /* by comments */
	uint32_t baselined;
	uint32_t off_diff; /* on lines that did not change */
	uint32_t refuted;  /* by replay */
};

/* Whether it names a place; else it is the whole file. */
bool skipped_has_place(const struct skipped *skipped);
void outcome_sort(struct outcome *outcome);
uint32_t outcome_count(const struct outcome *outcome, enum severity severity);
bool outcome_has_failure(const struct outcome *outcome);

#endif
