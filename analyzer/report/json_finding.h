#ifndef GRAPHLINT_REPORT_JSON_FINDING_H
#define GRAPHLINT_REPORT_JSON_FINDING_H

/* A finding and a skip as JSON objects: what json, jsonl and the language
 * server send. docs/output.md says what each field is. */

#include "analyzer/finding/outcome.h"
#include "analyzer/finding/rule.h"
#include "analyzer/report/emit.h"

void json_finding(struct emitter *json, const char *name, const struct finding *finding);
void json_skipped(struct emitter *json, const char *name, const struct skipped *skipped);
void json_summary(struct emitter *json, const char *name, const struct outcome *outcome);
/* {"row": 27, "column": 5} */
void json_position(struct emitter *json, const char *name, struct position position);

#endif
