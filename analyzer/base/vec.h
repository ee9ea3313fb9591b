#ifndef GRAPHLINT_BASE_VEC_H
#define GRAPHLINT_BASE_VEC_H

/* The one growable array. It lives in an arena, so it is never freed;
 * `{0}` is empty. Elements move when it grows: keep indices, not pointers. */

#include <stdint.h>

#include "analyzer/base/arena.h"

#define VEC(T)                                                                                     \
	struct {                                                                                   \
		T *at;                                                                             \
		uint32_t count;                                                                    \
		uint32_t capacity;                                                                 \
	}

/* Makes room for one more element of `size` bytes; returns the new block. */
void *vec_grow(struct arena *arena, void *at, uint32_t count, uint32_t *capacity, size_t size);

#define vec_push(arena, v, ...)                                                                    \
	do {                                                                                       \
		if ((v)->count == (v)->capacity)                                                   \
			(v)->at = vec_grow((arena), (v)->at, (v)->count, &(v)->capacity,           \
			                   sizeof(*(v)->at));                                      \
		(v)->at[(v)->count++] = (__VA_ARGS__);                                             \
	} while (0)

#endif
