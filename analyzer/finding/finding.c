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

static int compare_drivers(const struct finding_driver *a, const struct finding_driver *b)
{
	int order = compare_sources(a->program, b->program);

	if (!order)
		order = compare_sources(a->source, b->source);
	return order ? order : compare_numbers(a->span.start, b->span.start);
}

/* The first ones stay, in whatever order they come. */
void finding_add_driver(struct arena *arena, struct finding *finding, struct finding_driver driver)
{
	for (uint32_t i = 0; i < finding->drivers.count; i++) {
		const struct finding_driver other = finding->drivers.at[i];
		const int order = compare_drivers(&driver, &other);

		if (order == 0)
			return;
		if (order < 0) {
			finding->drivers.at[i] = driver;
			driver = other;
		}
	}
	if (finding->drivers.count < FINDING_MOST_DRIVERS)
		vec_push(arena, &finding->drivers, driver);
}

void findings_merge(struct arena *arena, finding_list *findings)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < findings->count; i++) {
		const struct finding *next = &findings->at[i];
		struct finding *last = kept ? &findings->at[kept - 1] : NULL;

		if (!last || !same_place_and_rule(last, next)) {
			findings->at[kept++] = *next;
			continue;
		}
		for (uint32_t k = 0; k < next->drivers.count; k++)
			finding_add_driver(arena, last, next->drivers.at[k]);
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
