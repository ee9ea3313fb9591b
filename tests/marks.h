#ifndef GRAPHLINT_TESTS_MARKS_H
#define GRAPHLINT_TESTS_MARKS_H

/* What a fixture says of its own lines, in comments:
 *   # expect: GL101          a finding of this code must be on this line
 *   # expect: GL101 error    ... and have this severity
 *   # allow: GL201           a finding here is fair, and may stand for an expected one
 *   # known-miss: GL104      should be found and is not; found, the test fails
 *   # known-noise: GL103     is found and should not be; quiet, the test fails
 * Several codes are separated by commas. */

#include "analyzer/finding/finding.h"
#include "analyzer/front/front.h"

enum mark_kind { MARK_EXPECT, MARK_ALLOW, MARK_KNOWN_MISS, MARK_KNOWN_NOISE };

struct mark {
	enum mark_kind kind;
	const struct source *source;
	uint32_t row;
	const char *code;
	enum severity severity; /* SEVERITY_OFF: any */
	bool hit;
};

typedef VEC(struct mark) mark_list;

void marks_read(struct arena *arena, const struct source *source,
                const struct front_result *lowered, mark_list *marks);
/* Appends a line for each difference between the marks and the findings. */
void marks_compare(mark_list *marks, const finding_list *findings, struct text *differences);

#endif
