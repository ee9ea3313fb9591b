#include "analyzer/finding/outcome.h"

#include <stdlib.h>
#include <string.h>

bool skipped_has_place(const struct skipped *skipped)
{
	return skipped->source && (skipped->span.start || skipped->span.end);
}

static int compare_skipped(const void *left, const void *right)
{
	const struct skipped *a = left;
	const struct skipped *b = right;
	int order = strcmp(a->path, b->path);

	if (!order)
		order = (a->span.start > b->span.start) - (a->span.start < b->span.start);
	return order ? order : strcmp(a->reason, b->reason);
}

void outcome_sort(struct outcome *outcome)
{
	findings_sort(&outcome->findings);
	findings_merge(NULL, &outcome->findings);
	if (outcome->skipped.count > 1)
		qsort(outcome->skipped.at, outcome->skipped.count, sizeof(*outcome->skipped.at),
		      compare_skipped);
}

uint32_t outcome_count(const struct outcome *outcome, enum severity severity)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < outcome->findings.count; i++)
		count += outcome->findings.at[i].severity == severity;
	return count;
}

bool outcome_has_failure(const struct outcome *outcome)
{
	for (uint32_t i = 0; i < outcome->skipped.count; i++) {
		if (outcome->skipped.at[i].is_failure)
			return true;
	}
	return false;
}
