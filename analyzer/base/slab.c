#include "analyzer/base/slab.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/bug.h"
#include "analyzer/base/sanitizer.h"

enum {
	FIRST_CHUNK = 32 << 10,
	LARGEST_CHUNK = 512 << 10,
};

struct slab_chunk {
	struct slab_chunk *below;
	size_t size; /* of the bytes that follow */
	alignas(SLAB_STEP) char bytes[];
};

/* A block of its own; the slab knows them all. */
struct slab_large {
	struct slab_large *prev, *next;
	alignas(SLAB_STEP) char bytes[];
};

/* 0: a large one. */
static size_t size_class(size_t size)
{
	const size_t class = (size + SLAB_STEP - 1) / SLAB_STEP;

	return !HAS_ADDRESS_SANITIZER && class < SLAB_CLASSES ? class : 0;
}

static struct slab_large *large_of(void *block)
{
	return (struct slab_large *)(void *)((char *)block - offsetof(struct slab_large, bytes));
}

static void large_link(struct slab *slab, struct slab_large *large)
{
	large->prev = NULL;
	large->next = slab->large;
	if (slab->large)
		slab->large->prev = large;
	slab->large = large;
}

static void large_unlink(struct slab *slab, struct slab_large *large)
{
	if (large->prev)
		large->prev->next = large->next;
	else
		slab->large = large->next;
	if (large->next)
		large->next->prev = large->prev;
}

static size_t large_size(size_t size)
{
	if (size > SIZE_MAX - sizeof(struct slab_large))
		BUG("a slab cannot hold %zu bytes", size);
	return sizeof(struct slab_large) + size;
}

static void *large_take(struct slab *slab, size_t size)
{
	struct slab_large *large = checked_alloc(1, large_size(size));

	large_link(slab, large);
	return large->bytes;
}

static void *chunk_take(struct slab *slab, size_t size)
{
	char *at;

	if ((size_t)(slab->end - slab->next) < size) {
		size_t room = slab->chunks ? slab->chunks->size * 2 : FIRST_CHUNK;
		struct slab_chunk *chunk;

		if (room > LARGEST_CHUNK)
			room = LARGEST_CHUNK;
		chunk = checked_alloc(1, sizeof(*chunk) + room);
		chunk->below = slab->chunks;
		chunk->size = room;
		slab->chunks = chunk;
		slab->next = chunk->bytes;
		slab->end = chunk->bytes + room;
	}
	at = slab->next;
	slab->next += size;
	return at;
}

void *slab_take(struct slab *slab, size_t size)
{
	const size_t class = size_class(size ? size : 1);
	void *block;

	if (!class)
		return large_take(slab, size);
	block = slab->spare[class];
	if (!block)
		return chunk_take(slab, class * SLAB_STEP);
	memcpy(&slab->spare[class], block, sizeof(void *));
	return block;
}

void slab_give(struct slab *slab, void *block, size_t size)
{
	const size_t class = size_class(size ? size : 1);

	if (!block)
		return;
	if (!class) {
		large_unlink(slab, large_of(block));
		free(large_of(block));
		return;
	}
	memcpy(block, &slab->spare[class], sizeof(void *));
	slab->spare[class] = block;
}

void *slab_resize(struct slab *slab, void *block, size_t old_size, size_t new_size)
{
	struct slab_large *large;
	void *moved;

	if (!new_size) {
		slab_give(slab, block, old_size);
		return NULL;
	}
	if (!block)
		return slab_take(slab, new_size);
	if (size_class(old_size) && size_class(old_size) == size_class(new_size))
		return block;
	if (!size_class(old_size) && !size_class(new_size)) {
		large = large_of(block);
		large_unlink(slab, large);
		large = checked_realloc(large, 1, large_size(new_size));
		large_link(slab, large);
		return large->bytes;
	}
	moved = slab_take(slab, new_size);
	memcpy(moved, block, old_size < new_size ? old_size : new_size);
	slab_give(slab, block, old_size);
	return moved;
}

void slab_release(struct slab *slab)
{
	while (slab->large) {
		struct slab_large *large = slab->large;

		slab->large = large->next;
		free(large);
	}
	while (slab->chunks) {
		struct slab_chunk *chunk = slab->chunks;

		slab->chunks = chunk->below;
		free(chunk);
	}
	*slab = (struct slab){0};
}
