/*
 * The inside of the caching allocator model, shared by its files: blocks, the sorted list of free
 * blocks of a pool, the table of live blocks. A block belongs to the allocator from segment_new to
 * segment_release; a free list and the live table only point at blocks.
 */
#ifndef GRAPHLINT_RUNTIME_CACHING_INTERNAL_H
#define GRAPHLINT_RUNTIME_CACHING_INTERNAL_H

#include "runtime/caching_allocator.h"

#define CACHING_MIB            (UINT64_C(1024) * 1024)
#define CACHING_SMALLEST_BLOCK UINT64_C(512)
#define CACHING_LARGEST_SMALL  CACHING_MIB
#define CACHING_MEDIUM_SEGMENT (20 * CACHING_MIB) /* for requests of 1 MiB to 10 MiB */

struct caching_block {
	uint64_t address, size, requested;
	struct caching_block *before, *after; /* neighbours in the segment */
	uint32_t stream;
	bool small;
	bool live;
	bool used_elsewhere;
	bool waiting;
};

/* Free blocks by stream, then size, then address. */
struct caching_free_list {
	struct caching_block **at;
	size_t count, capacity;
};

void caching_free_list_add(struct caching_free_list *list, struct caching_block *block);
void caching_free_list_remove(struct caching_free_list *list, const struct caching_block *block);
/* The first block of the stream with at least `size` bytes, as an index; count if there is none. */
size_t caching_free_list_find(const struct caching_free_list *list, uint32_t stream, uint64_t size);

/* Live blocks by address, an open hash table. */
struct caching_table {
	struct caching_block **slot;
	size_t count, capacity;
};

void caching_table_add(struct caching_table *table, struct caching_block *block);
struct caching_block *caching_table_find(const struct caching_table *table, uint64_t address);
void caching_table_remove(struct caching_table *table, uint64_t address);

struct ag_caching {
	struct ag_caching_options options;
	struct ag_caching_stat stats[AG_CACHING_METRICS][AG_CACHING_POOLS];
	struct caching_free_list free[2]; /* large, small */
	struct caching_table live;
	struct caching_block **segments; /* the first block of each, by address */
	size_t segment_count, segment_capacity;
	struct caching_block **waiting; /* freed blocks that other streams still use */
	size_t waiting_count, waiting_capacity;
	uint64_t next_address;
	uint64_t retries, failures;
};

void caching_stat_add(struct ag_caching *caching, enum ag_caching_metric metric, bool small,
                      uint64_t amount);
void caching_stat_remove(struct ag_caching *caching, enum ag_caching_metric metric, bool small,
                         uint64_t amount);

/* Grows an array of block pointers so that one more fits; aborts when out of memory. */
struct caching_block **caching_grow(struct caching_block **array, size_t count, size_t *capacity);

#endif
