#ifndef GRAPHLINT_BASE_ARENA_H
#define GRAPHLINT_BASE_ARENA_H

/* Memory with one lifetime. Objects are never freed singly and have no
 * destructor; the arena frees all of them. `{0}` is an empty arena.
 * An arena belongs to one thread at a time. Under AddressSanitizer what is not
 * handed out is poisoned, so that an overrun or a stale pointer is reported. */

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
/* `block` of `old_size` bytes with room for `new_size`: in place when it is the
 * newest, else moved. What is new is zeroed. `block` may be NULL. */
void *arena_resize(struct arena *arena, void *block, size_t old_size, size_t new_size);
/* Forgets everything but keeps a block, for scratch that is filled again. */
void arena_reset(struct arena *arena);
/* Frees everything; the arena can be used again. */
void arena_release(struct arena *arena);

#define arena_new(arena, T)      ((T *)arena_alloc((arena), 1, sizeof(T)))
#define arena_array(arena, T, n) ((T *)arena_alloc((arena), (n), sizeof(T)))

#endif
