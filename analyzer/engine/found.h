#ifndef GRAPHLINT_ENGINE_FOUND_H
#define GRAPHLINT_ENGINE_FOUND_H

/* What the analysis of one file brought to light, as findings and before any of
 * them was compared with what other files brought: it depends on that file and
 * on what it looks up, so it can be kept from run to run. Functions are told
 * apart by digests. */

#include "analyzer/base/hash.h"
#include "analyzer/engine/pack_findings.h"
#include "analyzer/facts/analyze.h"

struct found_finding {
	struct finding finding;
	struct digest in;  /* the function it happens in */
	bool from_outside; /* it stands only if no file is known to call that function */
};

struct file_found {
	VEC(struct found_finding) findings;
	VEC(struct digest) known; /* functions that are known to be called */
};

typedef VEC(struct file_found) found_list;

void found_tell(struct arena *arena, struct rule_table rules, const struct file_events *events,
                struct file_found *found);
void found_pack(struct text *out, const struct file_found *found);
GL_MUST_USE bool found_unpack(struct finding_unpacking *unpacking, struct file_found *found);
/* Adds the findings of all files that stand, in the order of the files. */
void found_join(struct arena *arena, const found_list *files, finding_list *findings);

/* All of it for a loaded project. */
void found_in_project(struct arena *arena, const struct project *project, struct thread_pool *pool,
                      struct rule_table rules, finding_list *findings);

#endif
