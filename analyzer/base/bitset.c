#include "analyzer/base/bitset.h"

#include <string.h>

static uint32_t word_count(uint32_t size)
{
	return size / 64 + (size % 64 != 0);
}

static void check_same_size(struct bitset a, struct bitset b)
{
	if (a.size != b.size)
		BUG("sets of %u and %u members are combined", a.size, b.size);
}

struct bitset bitset_new(struct arena *arena, uint32_t size)
{
	struct bitset set = {arena_array(arena, uint64_t, word_count(size)), size};

	BUG_IF(size >= BITSET_END);
	return set;
}

void bitset_clear(struct bitset set)
{
	if (set.size)
		memset(set.words, 0, word_count(set.size) * sizeof(*set.words));
}

void bitset_fill(struct bitset set)
{
	if (!set.size)
		return;
	memset(set.words, 0xff, word_count(set.size) * sizeof(*set.words));
	if (set.size % 64)
		set.words[set.size / 64] = ((uint64_t)1 << (set.size % 64)) - 1;
}

void bitset_copy(struct bitset to, struct bitset from)
{
	check_same_size(to, from);
	if (to.size)
		memcpy(to.words, from.words, word_count(to.size) * sizeof(*to.words));
}

bool bitset_join(struct bitset into, struct bitset from)
{
	uint64_t changed = 0;

	check_same_size(into, from);
	for (uint32_t i = 0; i < word_count(into.size); i++) {
		changed |= from.words[i] & ~into.words[i];
		into.words[i] |= from.words[i];
	}
	return changed != 0;
}

bool bitset_meet(struct bitset into, struct bitset from)
{
	uint64_t changed = 0;

	check_same_size(into, from);
	for (uint32_t i = 0; i < word_count(into.size); i++) {
		changed |= into.words[i] & ~from.words[i];
		into.words[i] &= from.words[i];
	}
	return changed != 0;
}

bool bitset_subtract(struct bitset into, struct bitset from)
{
	uint64_t changed = 0;

	check_same_size(into, from);
	for (uint32_t i = 0; i < word_count(into.size); i++) {
		changed |= into.words[i] & from.words[i];
		into.words[i] &= ~from.words[i];
	}
	return changed != 0;
}

bool bitset_same(struct bitset a, struct bitset b)
{
	check_same_size(a, b);
	return !a.size || !memcmp(a.words, b.words, word_count(a.size) * sizeof(*a.words));
}

bool bitset_intersects(struct bitset a, struct bitset b)
{
	check_same_size(a, b);
	for (uint32_t i = 0; i < word_count(a.size); i++)
		if (a.words[i] & b.words[i])
			return true;
	return false;
}

bool bitset_is_empty(struct bitset set)
{
	return bitset_next(set, 0) == BITSET_END;
}

uint32_t bitset_count(struct bitset set)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < word_count(set.size); i++)
		count += (uint32_t)__builtin_popcountll(set.words[i]);
	return count;
}

uint32_t bitset_next(struct bitset set, uint32_t from)
{
	uint32_t at = from / 64;
	uint64_t word;

	if (from >= set.size)
		return BITSET_END;
	word = set.words[at] & (~(uint64_t)0 << (from % 64));
	while (!word) {
		if (++at >= word_count(set.size))
			return BITSET_END;
		word = set.words[at];
	}
	return at * 64 + (uint32_t)__builtin_ctzll(word);
}
