#ifndef GRAPHLINT_FIX_VARY_H
#define GRAPHLINT_FIX_VARY_H

/* Programs that are like a given one but for what decides how much memory it
 * takes: batch size, precision, checkpointing. They are edits of its source and
 * nothing else is known of them: a replay says what comes of each. */

#include "analyzer/fix/fix.h"

struct variant {
	const char *name; /* "batch of 32 instead of 64" */
	edit_list edits;
};

typedef VEC(struct variant) variant_list;

/* `loop` is the span of the measured loop. */
void vary(struct arena *arena, struct front_syntax *syntax, struct span loop,
          variant_list *variants);

#endif
