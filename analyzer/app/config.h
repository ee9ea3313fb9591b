#ifndef GRAPHLINT_APP_CONFIG_H
#define GRAPHLINT_APP_CONFIG_H

/* The configuration file: the nearest .graphlint.toml, graphlint.toml or
 * pyproject.toml with [tool.graphlint], upward from a folder. Paths in it are
 * relative to its own folder. A mistake is one sentence that starts with file
 * and line. */

#include "analyzer/app/settings.h"

/* What such files are called, the first of them first; ended by NULL. */
extern const char *const config_names[];

/* NULL: there is none. `folder` "" is the current one. */
const char *config_find(struct arena *arena, const char *folder);
/* Reads the file, and first what it extends, over `settings`. */
GL_MUST_USE bool config_read(struct arena *arena, const char *path, struct settings *settings,
                             struct text *complaint);

#endif
