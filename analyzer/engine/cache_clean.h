#ifndef GRAPHLINT_ENGINE_CACHE_CLEAN_H
#define GRAPHLINT_ENGINE_CACHE_CLEAN_H

/* The folder of the cache on disk. It is marked as one (CACHEDIR.TAG) and
 * ignored by git; nothing but files of ours is ever removed from it. */

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/base/bug.h"

struct cache_cleaned {
	uint64_t files;
	const char *problem; /* a system's message */
};

/* A folder that does not exist is clean; one that is not ours is left alone. */
GL_MUST_USE bool cache_clean(const char *folder, struct cache_cleaned *cleaned);

/* Keeps the newest indexes when there are many. */
void cache_prune(const char *folder);

#endif
