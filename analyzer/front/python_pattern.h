#ifndef GRAPHLINT_FRONT_PYTHON_PATTERN_H
#define GRAPHLINT_FRONT_PYTHON_PATTERN_H

/* The patterns of `case`: each goes on if the value in a hidden slot matches
 * and to `fail` if not, where the caller unbinds what it left. */

#include "analyzer/front/python_lower.h"

/* What a pattern binds waits in hidden slots until the whole of it matches. */
struct py_capture {
	uint32_t name; /* identifier */
	slot_id slot;
};

struct py_matching {
	struct py_lower *l;
	VEC(struct py_capture) captures;
};

void py_pattern(struct py_matching *m, uint32_t node, slot_id subject, block_id fail);
void py_sequence_pattern(struct py_matching *m, const uint32_t *parts, uint32_t count,
                         slot_id subject, block_id fail, struct span span);
void py_broken_pattern(struct py_matching *m, uint32_t node, slot_id subject, block_id fail);

#endif
