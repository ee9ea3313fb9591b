#ifndef GRAPHLINT_ENGINE_BASELINE_H
#define GRAPHLINT_ENGINE_BASELINE_H

/* Findings that are known and not to be reported again. A baseline lists them
 * by fingerprint, which survives edits elsewhere in the file; what it lists and
 * no run finds any more is named, so that the list can shrink. */

#include "analyzer/finding/outcome.h"

/* Takes what the file lists out of the outcome. Returns NULL, or why the file
 * could not be used. */
const char *baseline_filter(struct arena *arena, const char *path, const char *root,
                            struct outcome *outcome);
/* The baseline of these findings. */
void baseline_print(const finding_list *findings, const char *root, struct text *out);

#endif
