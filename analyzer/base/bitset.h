#ifndef GRAPHLINT_BASE_BITSET_H
#define GRAPHLINT_BASE_BITSET_H

/* Sets of small ids with a fixed size, in an arena. Join is union, and says
 * whether anything changed: that is all a fixpoint needs. Two sets that are
 * combined have the same size. */

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/base/arena.h"
#include "analyzer/base/bug.h"

struct bitset {
	uint64_t *words;
	uint32_t size; /* members are below it */
};

enum { BITSET_END = INT32_MAX };

struct bitset bitset_new(struct arena *arena, uint32_t size);
void bitset_clear(struct bitset set);
void bitset_fill(struct bitset set);
void bitset_copy(struct bitset to, struct bitset from);
/* These change `into` and tell whether they did. */
bool bitset_join(struct bitset into, struct bitset from);
bool bitset_meet(struct bitset into, struct bitset from);
bool bitset_subtract(struct bitset into, struct bitset from);

bool bitset_same(struct bitset a, struct bitset b);
bool bitset_intersects(struct bitset a, struct bitset b);
bool bitset_is_empty(struct bitset set);
uint32_t bitset_count(struct bitset set);
/* The first member at or above `from`, or BITSET_END. */
uint32_t bitset_next(struct bitset set, uint32_t from);

static inline bool bitset_has(struct bitset set, uint32_t member)
{
	return member < set.size && (set.words[member / 64] >> (member % 64) & 1);
}

static inline void bitset_add(struct bitset set, uint32_t member)
{
	BUG_IF(member >= set.size);
	set.words[member / 64] |= (uint64_t)1 << (member % 64);
}

static inline void bitset_remove(struct bitset set, uint32_t member)
{
	BUG_IF(member >= set.size);
	set.words[member / 64] &= ~((uint64_t)1 << (member % 64));
}

#endif
