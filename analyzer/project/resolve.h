#ifndef GRAPHLINT_PROJECT_RESOLVE_H
#define GRAPHLINT_PROJECT_RESOLVE_H

/* Where Python looks for a module: paths that `dotted` may mean when a file
 * imports it, the likeliest first. Only names are made here; nothing is opened. */

#include "analyzer/base/arena.h"

enum { RESOLVE_MAX_PATHS = 24 };

struct resolve_paths {
	const char *at[RESOLVE_MAX_PATHS];
	unsigned count;
};

/* `package_root`: the folder above the outermost package that holds the file. */
void resolve_python(struct arena *arena, const char *importer, const char *package_root,
                    const char *dotted, struct resolve_paths *paths);
/* Without "./", "//" and "x/..", as text. */
const char *resolve_normal(struct arena *arena, const char *path);
const char *resolve_folder(struct arena *arena, const char *path);

/* The folder above the outermost package around the file: asks the disk. */
const char *resolve_root(struct arena *arena, const char *path);

#endif
