#ifndef GRAPHLINT_SOURCE_GITIGNORE_H
#define GRAPHLINT_SOURCE_GITIGNORE_H

/* The patterns of one ignore file, with git's meaning (gitignore(5)): the last
 * one that matches decides, `!` takes back, a slash in front or within anchors
 * to the file's folder, a slash at the end is for folders only. Which files apply
 * to a path, and that an excluded folder is not entered, is discover's matter. */

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/base/arena.h"
#include "analyzer/base/vec.h"

struct ignore_pattern {
	const char *glob;
	size_t length;
	bool negated;
	bool folders_only;
	bool anchored; /* matched against the path, else against the last name */
};

struct ignore_list {
	VEC(struct ignore_pattern) patterns;
};

enum ignore_verdict { IGNORE_SILENT, IGNORE_EXCLUDED, IGNORE_KEPT };

/* The bytes of an ignore file; added to what the list has. */
void ignore_add_lines(struct arena *arena, struct ignore_list *list, const char *bytes,
                      size_t length);
/* `path` is relative to the folder of the file, without a slash in front. */
enum ignore_verdict ignore_match(const struct ignore_list *list, const char *path, size_t length,
                                 bool is_folder);

#endif
