#include "analyzer/base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/bug.h"
#include "analyzer/base/sanitizer.h"

#if HAS_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
enum { ARENA_GAP = 16 }; /* poisoned bytes between two objects */
#define POISON(at, size)   ASAN_POISON_MEMORY_REGION(at, size)
#define UNPOISON(at, size) ASAN_UNPOISON_MEMORY_REGION(at, size)
#else
enum { ARENA_GAP = 0 };
#define POISON(at, size)   ((void)(at), (void)(size))
#define UNPOISON(at, size) ((void)(at), (void)(size))
#endif

enum {
	ARENA_ALIGNMENT = 16,
	ARENA_FIRST_BLOCK = 1 << 10,
	ARENA_LARGEST_BLOCK = 512 << 10,
};

struct arena_block {
	struct arena_block *below;
	size_t size; /* of the bytes that follow */
	size_t used;
	alignas(ARENA_ALIGNMENT) char bytes[];
};

static size_t aligned(size_t size)
{
	return (size + ARENA_ALIGNMENT - 1) & ~(size_t)(ARENA_ALIGNMENT - 1);
}

static struct arena_block *block_new(size_t size)
{
	struct arena_block *block = checked_alloc(1, sizeof(*block) + size);

	block->below = NULL;
	block->size = size;
	block->used = 0;
	POISON(block->bytes, size);
	return block;
}

static void block_free(struct arena_block *block)
{
	UNPOISON(block->bytes, block->size);
	free(block);
}

/* A block with room for `size`. One that is large for its time goes below the
 * top, so that the rest of the top stays in use. */
static struct arena_block *arena_add_block(struct arena *arena, size_t size)
{
	size_t next = arena->top ? arena->top->size * 2 : ARENA_FIRST_BLOCK;
	struct arena_block *block;

	if (next > ARENA_LARGEST_BLOCK)
		next = ARENA_LARGEST_BLOCK;
	if (size > next / 4 && arena->top) {
		block = block_new(size);
		block->below = arena->top->below;
		arena->top->below = block;
		return block;
	}
	block = block_new(size > next ? size : next);
	block->below = arena->top;
	arena->top = block;
	return block;
}

static char *arena_take(struct arena *arena, size_t size)
{
	size_t whole = aligned(size + ARENA_GAP);
	struct arena_block *block = arena->top;
	char *at;

	if (!block || block->size - block->used < whole)
		block = arena_add_block(arena, whole);
	at = block->bytes + block->used;
	block->used += whole;
	arena->used += whole;
	UNPOISON(at, size);
	return at;
}

void *arena_alloc(struct arena *arena, size_t count, size_t size)
{
	char *at;

	if (size && count > SIZE_MAX / 4 / size)
		BUG("an arena cannot hold %zu times %zu bytes", count, size);
	at = arena_take(arena, count * size);
	memset(at, 0, count * size);
	return at;
}

char *arena_text(struct arena *arena, const char *bytes, size_t length)
{
	char *at = arena_take(arena, length + 1);

	if (length)
		memcpy(at, bytes, length);
	at[length] = '\0';
	return at;
}

static int arena_extend(struct arena *arena, char *block, size_t old_size, size_t new_size)
{
	struct arena_block *top = arena->top;
	size_t old_whole = aligned(old_size + ARENA_GAP);
	size_t more = aligned(new_size + ARENA_GAP) - old_whole;

	if (!top || block + old_whole != top->bytes + top->used || top->size - top->used < more)
		return 0;
	top->used += more;
	arena->used += more;
	UNPOISON(block, new_size);
	return 1;
}

void *arena_resize(struct arena *arena, void *block, size_t old_size, size_t new_size)
{
	char *at = block;

	if (new_size > SIZE_MAX / 4)
		BUG("an arena cannot hold %zu bytes", new_size);
	if (new_size <= old_size)
		return block;
	if (!block || !arena_extend(arena, block, old_size, new_size)) {
		at = arena_take(arena, new_size);
		if (old_size)
			memcpy(at, block, old_size);
		if (block)
			POISON(block, old_size);
	}
	memset(at + old_size, 0, new_size - old_size);
	return at;
}

void arena_reset(struct arena *arena)
{
	struct arena_block *kept = arena->top;
	struct arena_block *block;

	if (!kept)
		return;
	while ((block = kept->below)) {
		kept->below = block->below;
		block_free(block);
	}
	POISON(kept->bytes, kept->size);
	kept->used = 0;
	arena->used = 0;
}

void arena_release(struct arena *arena)
{
	arena_reset(arena);
	if (arena->top)
		block_free(arena->top);
	arena->top = NULL;
}
