#include "analyzer/base/vec.h"

#include "analyzer/base/bug.h"

enum { VEC_FIRST_BYTES = 64, VEC_FIRST_COUNT = 4 };

static uint32_t next_capacity(uint32_t capacity, size_t size)
{
	uint32_t first = (uint32_t)(VEC_FIRST_BYTES / size);

	if (capacity > UINT32_MAX / 2)
		BUG("an array of %u elements cannot grow", capacity);
	if (capacity)
		return capacity * 2;
	return first > VEC_FIRST_COUNT ? first : VEC_FIRST_COUNT;
}

void *vec_grow(struct arena *arena, void *at, uint32_t count, uint32_t *capacity, size_t size)
{
	uint32_t next = next_capacity(*capacity, size);

	BUG_IF(count > *capacity);
	*capacity = next;
	return arena_resize(arena, at, count * size, next * size);
}
