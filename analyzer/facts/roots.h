#ifndef GRAPHLINT_FACTS_ROOTS_H
#define GRAPHLINT_FACTS_ROOTS_H

/* Starting points beside a file's body: functions and classes that nothing we
 * know calls. Their arguments are unknown, their callers may do anything; the
 * methods of a class run in any order, again and again, on one instance. */

#include "analyzer/facts/analysis.h"

struct root {
	struct analysis *a;
	const struct project_file *file;
	struct activation act;
	struct activation methods; /* calls them: they age as in the body of a loop */
	struct state *state;
	bool cut;        /* some part of it was too large */
	uint32_t number; /* of roots so far: each has unknown arguments of its own */
};

/* All of the file's, those first that no other function of it names. */
void run_roots(struct root *root);

#endif
