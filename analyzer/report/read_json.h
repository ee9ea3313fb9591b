#ifndef GRAPHLINT_REPORT_READ_JSON_H
#define GRAPHLINT_REPORT_READ_JSON_H

/* A json report back into an outcome, so that the reports of shards can be put
 * together and written in any format. The sources are opened anew for their
 * lines; one that is gone leaves an empty excerpt. */

#include "analyzer/finding/outcome.h"
#include "analyzer/finding/rule.h"

struct json_reading {
	struct arena *arena;
	struct rule_table rules;
	VEC(struct source *) sources; /* each opened once */
	struct outcome outcome;
};

/* What a shard's report has besides; parts 0: it is none. */
struct json_shard {
	uint32_t part, parts;
	const char *record;
};

/* Adds a report's findings, skips and counts; of a shard's report only what it has
 * besides is read. Returns NULL, or what is wrong. */
const char *json_report_read(struct json_reading *reading, const char *path,
                             struct json_shard *shard);

#endif
