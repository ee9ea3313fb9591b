#ifndef GRAPHLINT_PROJECT_RELEVANCE_H
#define GRAPHLINT_PROJECT_RELEVANCE_H

/* The scan: can this text matter without looking at what it imports? A file
 * that names no framework of ours has no graph of its own. */

#include <stdbool.h>

#include "analyzer/source/source.h"

bool relevance_of(const struct source *source);

/* Calls `found` with each module that a line of the text imports, as far as a
 * look at the lines tells. */
void relevance_imports(const struct source *source,
                       void (*found)(void *context, const char *dotted, size_t length),
                       void *context);

#endif
