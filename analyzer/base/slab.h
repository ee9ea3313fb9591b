#ifndef GRAPHLINT_BASE_SLAB_H
#define GRAPHLINT_BASE_SLAB_H

/* Memory of many small blocks that are taken and given back singly, and in the end
 * all at once. A block that was given back is used again for the next of its size.
 * `{0}` is an empty slab; it belongs to one thread at a time. Under
 * AddressSanitizer each block is malloc's, so that a stale pointer is reported. */

#include <stddef.h>

#define SLAB_STEP 16

enum { SLAB_CLASSES = 33 };

struct slab_large;
struct slab_chunk;

struct slab {
	void *spare[SLAB_CLASSES]; /* given back, by size in steps */
	char *next, *end;          /* what is left of the newest chunk */
	struct slab_chunk *chunks;
	struct slab_large *large;
};

/* Not zeroed, aligned for any type, never NULL. */
void *slab_take(struct slab *slab, size_t size);
/* `size` is what the block was taken or resized with. `block` may be NULL. */
void slab_give(struct slab *slab, void *block, size_t size);
/* The block with another size and what it holds: possibly elsewhere. `block` may be NULL;
 * of a new size of 0 comes NULL. */
void *slab_resize(struct slab *slab, void *block, size_t old_size, size_t new_size);
/* Frees everything; the slab can be used again. */
void slab_release(struct slab *slab);

#endif
