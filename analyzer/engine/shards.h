#ifndef GRAPHLINT_ENGINE_SHARDS_H
#define GRAPHLINT_ENGINE_SHARDS_H

/* What the shards of a run left, put together as if one run had left it. A run over
 * that compares what they found, as it would have been compared at once, and does
 * again what one of them could not know. */

#include "analyzer/engine/cache_index.h"

/* Which one a file belongs to, from 1: by its path, so that it stays the same
 * when other files are added. */
uint32_t shard_of(const char *path, uint32_t shards);
/* `parts` in their order, all of them. */
void shards_join(struct arena *arena, const struct cache_index *parts, uint32_t count,
                 struct cache_index *joined);

#endif
