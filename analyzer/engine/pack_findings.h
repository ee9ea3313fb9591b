#ifndef GRAPHLINT_ENGINE_PACK_FINDINGS_H
#define GRAPHLINT_ENGINE_PACK_FINDINGS_H

/* Findings and skips as bytes and back. Sources are written as paths; who reads
 * them says which source a path means. */

#include "analyzer/engine/packing.h"
#include "analyzer/finding/outcome.h"
#include "analyzer/finding/rule.h"

/* NULL: there is none any more, and what refers to it is broken. */
typedef const struct source *source_of_path(void *context, const char *path);

struct finding_unpacking {
	struct unpacking in;
	struct rule_table rules;
	source_of_path *source_of;
	void *context;
};

void pack_finding(struct text *out, const struct finding *finding);
void pack_skipped(struct text *out, const struct skipped *skipped);
bool unpack_finding(struct finding_unpacking *unpacking, struct finding *finding);
bool unpack_skipped(struct finding_unpacking *unpacking, struct skipped *skipped);

#endif
