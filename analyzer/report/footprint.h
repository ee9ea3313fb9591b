#ifndef GRAPHLINT_REPORT_FOOTPRINT_H
#define GRAPHLINT_REPORT_FOOTPRINT_H

/* The memory of one training step as a table, and what would change it. All
 * figures come from replays; everything is borrowed. */

#include "analyzer/report/curve.h"

struct footprint_change {
	const char *name;
	const struct replay_result *result; /* its last step counts */
};

struct footprint {
	const struct replay_result *result; /* its last step is the one that is told */
	const struct source *source;        /* with the loop */
	const struct source *program;       /* that was run */
	const char *version;
	const struct footprint_change *changes;
	uint32_t change_count;
	bool color;
};

void footprint_text(const struct footprint *footprint, struct text *out);
void footprint_json(const struct footprint *footprint, struct text *out);

#endif
