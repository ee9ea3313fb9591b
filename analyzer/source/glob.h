#ifndef GRAPHLINT_SOURCE_GLOB_H
#define GRAPHLINT_SOURCE_GLOB_H

/* Shell patterns over paths, as git's ignore files have them: `*` and `?` stay
 * within a folder, `[a-z]`, `[!a]`, `[[:alpha:]]`, a backslash escapes, and
 * a `**` that is a whole component stands for any number of folders. The time is bounded by the
 * product of the lengths, whatever the pattern. */

#include <stdbool.h>
#include <stddef.h>

bool glob_match(const char *pattern, size_t pattern_length, const char *path, size_t path_length);

#endif
