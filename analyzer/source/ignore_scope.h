#ifndef GRAPHLINT_SOURCE_IGNORE_SCOPE_H
#define GRAPHLINT_SOURCE_IGNORE_SCOPE_H

/* The ignore files that apply in a folder: its own, then those of the folders
 * around it up to the top of the work tree. An inner one outranks an outer. */

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/base/arena.h"
#include "analyzer/source/gitignore.h"

struct ignore_scope {
	const struct ignore_scope *outer;
	struct ignore_list list;
	size_t base; /* length of the folder's path, its slash included */
};

/* The scope in `folder`, an absolute path without a slash at the end ("" is the
 * root), inside `outer`. Folders without ignore files share the outer scope. */
const struct ignore_scope *ignore_scope_enter(struct arena *arena, const struct ignore_scope *outer,
                                              const char *folder);
/* The scope around `folder`, from the top of the work tree it is in down to its
 * parent; NULL when it is in none. */
const struct ignore_scope *ignore_scope_around(struct arena *arena, const char *folder);
bool ignore_scope_excludes(const struct ignore_scope *scope, const char *path, size_t length,
                           bool is_folder);

#endif
