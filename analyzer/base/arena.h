#ifndef GRAPHLINT_BASE_ARENA_H
#define GRAPHLINT_BASE_ARENA_H

/* Memory with one lifetime. Objects are never freed singly and have no
 * destructor; the arena frees all of them. `{0}` is an empty arena. */

#include <stddef.h>

struct arena_block;

struct arena {
	struct arena_block *top;
	size_t used; /* bytes handed out, alignment included */
};

/* Zeroed, aligned for any type, never NULL. */
void *arena_alloc(struct arena *arena, size_t count, size_t size);
/* A NUL-terminated copy of `length` bytes. */
char *arena_text(struct arena *arena, const char *bytes, size_t length);
/* Frees everything; the arena can be used again. */
void arena_release(struct arena *arena);

#define arena_new(arena, T) ((T *)arena_alloc((arena), 1, sizeof(T)))
#define arena_array(arena, T, n) ((T *)arena_alloc((arena), (n), sizeof(T)))

#endif
