#include "analyzer/finding/finding.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/finding/rule.h"

static int compare_numbers(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

/* Sources without a path sort first; two sources may share one path. */
static int compare_sources(const struct source *a, const struct source *b)
{
	if (a == b)
		return 0;
	return strcmp(a ? a->path : "", b ? b->path : "");
}

static int compare_findings(const void *left, const void *right)
{
	const struct finding *a = left;
	const struct finding *b = right;
	int order = compare_sources(a->source, b->source);

	if (!order)
		order = compare_numbers(a->span.start, b->span.start);
	if (!order)
		order = strcmp(a->rule->code, b->rule->code);
	if (!order)
		order = (int)b->severity - (int)a->severity;
	if (!order)
		order = (int)b->confidence - (int)a->confidence;
	if (!order)
		order = compare_numbers(b->span.end, a->span.end);
	if (!order)
		order = strcmp(a->message, b->message);
	return order;
}

void findings_sort(finding_list *findings)
{
	if (findings->count > 1)
		qsort(findings->at, findings->count, sizeof(*findings->at), compare_findings);
}

/* Two that start together are one: the longer shows more of it. */
static bool same_place_and_rule(const struct finding *a, const struct finding *b)
{
	return a->rule == b->rule && a->span.start == b->span.start &&
	       !compare_sources(a->source, b->source);
}

void findings_merge(finding_list *findings)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < findings->count; i++) {
		if (kept && same_place_and_rule(&findings->at[kept - 1], &findings->at[i]))
			continue;
		findings->at[kept++] = findings->at[i];
	}
	findings->count = kept;
}

const char *severity_name(enum severity severity)
{
	switch (severity) {
	case SEVERITY_OFF:
		return "off";
	case SEVERITY_INFO:
		return "info";
	case SEVERITY_WARNING:
		return "warning";
	case SEVERITY_ERROR:
		return "error";
	}
	BUG("severity %d", (int)severity);
}

const char *confidence_name(enum confidence confidence)
{
	switch (confidence) {
	case CONFIDENCE_LIKELY:
		return "likely";
	case CONFIDENCE_CERTAIN:
		return "certain";
	case CONFIDENCE_CONFIRMED:
		return "confirmed";
	}
	BUG("confidence %d", (int)confidence);
}

const char *step_role_name(enum step_role role)
{
	switch (role) {
	case STEP_BORN:
		return "born";
	case STEP_TRAVELS:
		return "travels";
	case STEP_MADE:
		return "made";
	case STEP_KEPT:
		return "kept";
	case STEP_NEEDED:
		return "needed";
	}
	BUG("step role %d", (int)role);
}

const char *evidence_name(enum evidence verdict)
{
	switch (verdict) {
	case EVIDENCE_NONE:
		return "not-replayed";
	case EVIDENCE_FLAT:
		return "flat";
	case EVIDENCE_BOUNDED:
		return "bounded";
	case EVIDENCE_LINEAR:
		return "linear";
	case EVIDENCE_SUPERLINEAR:
		return "superlinear";
	}
	BUG("replay verdict %d", (int)verdict);
}
