#ifndef GRAPHLINT_ENGINE_DIFF_H
#define GRAPHLINT_ENGINE_DIFF_H

/* Findings on lines that differ from a git revision. git is asked, as a
 * program; files that it does not know count as new. */

#include "analyzer/finding/outcome.h"

/* Takes findings on unchanged lines out of the outcome. Returns NULL, or why
 * the difference could not be had. */
const char *diff_filter(struct arena *arena, const char *revision, struct outcome *outcome);

#endif
