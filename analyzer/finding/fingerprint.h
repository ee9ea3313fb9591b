#ifndef GRAPHLINT_FINDING_FINGERPRINT_H
#define GRAPHLINT_FINDING_FINGERPRINT_H

/* What identifies a finding from one version of the code to the next: rule,
 * file, function and the text of its line without blanks, and the how-manieth
 * of those that agree in all this. Line numbers do not count. */

#include "analyzer/base/hash.h"
#include "analyzer/finding/finding.h"

/* One digest for each finding of a sorted list, in `arena`. Paths are taken
 * from `root`, an absolute folder, so that it does not matter how they were
 * given; NULL: as given. */
struct digest *findings_fingerprint(struct arena *arena, const finding_list *findings,
                                    const char *root);

/* From the current folder, "." and ".." folded by their spelling. */
const char *path_absolute(struct arena *arena, const char *path);
/* `path` below the absolute folder `root`; as it is when it lies elsewhere. */
const char *path_below(struct arena *arena, const char *root, const char *path);

#endif
