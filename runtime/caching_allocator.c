#include "runtime/caching_internal.h"

#include <stdlib.h>
#include <string.h>

static const uint64_t first_address = UINT64_C(0x7f0000000000);
static const uint64_t largest_request = UINT64_C(1) << 62;

/* blocks */

static struct caching_block *block_new(const struct caching_block *fields)
{
	struct caching_block *block = malloc(sizeof(*block));

	if (!block)
		abort();
	*block = *fields;
	return block;
}

static bool is_split(const struct caching_block *block)
{
	return block->before || block->after;
}

static void inactive_split(struct ag_caching *caching, const struct caching_block *block, bool add)
{
	void (*change)(struct ag_caching *, enum ag_caching_metric, bool, uint64_t) =
	        add ? caching_stat_add : caching_stat_remove;

	if (!is_split(block))
		return;
	change(caching, AG_CACHING_INACTIVE_SPLIT_BYTES, block->small, block->size);
	change(caching, AG_CACHING_INACTIVE_SPLIT_BLOCKS, block->small, 1);
}

static struct caching_block *segment_new(struct ag_caching *caching, uint64_t rounded,
                                         uint32_t stream)
{
	uint64_t size = ag_caching_segment_size(rounded);
	bool small = rounded <= CACHING_LARGEST_SMALL;
	uint64_t reserved = caching->stats[AG_CACHING_RESERVED_BYTES][AG_CACHING_ALL].current;
	struct caching_block fields = {.size = size, .stream = stream, .small = small};
	struct caching_block *block;

	if (size > caching->options.device_bytes || reserved > caching->options.device_bytes - size)
		return NULL;
	fields.address = caching->next_address;
	caching->next_address += size;
	block = block_new(&fields);
	caching->segments =
	        caching_grow(caching->segments, caching->segment_count, &caching->segment_capacity);
	caching->segments[caching->segment_count++] = block;
	caching_stat_add(caching, AG_CACHING_RESERVED_BYTES, small, size);
	caching_stat_add(caching, AG_CACHING_SEGMENTS, small, 1);
	return block;
}

/* Gives a segment that is one free block back to the device. */
static void segment_release(struct ag_caching *caching, struct caching_block *block)
{
	size_t at = 0;

	while (caching->segments[at] != block)
		at++;
	caching->segment_count--;
	memmove(caching->segments + at, caching->segments + at + 1,
	        (caching->segment_count - at) * sizeof(*caching->segments));
	caching_stat_remove(caching, AG_CACHING_RESERVED_BYTES, block->small, block->size);
	caching_stat_remove(caching, AG_CACHING_SEGMENTS, block->small, 1);
	caching_free_list_remove(&caching->free[block->small], block);
	free(block);
}

static void release_whole_segments(struct ag_caching *caching)
{
	for (int small = 0; small < 2; small++) {
		struct caching_free_list *list = &caching->free[small];
		for (size_t i = list->count; i-- > 0;) {
			if (!is_split(list->at[i]))
				segment_release(caching, list->at[i]);
		}
	}
}

void ag_caching_empty_cache(struct ag_caching *caching)
{
	ag_caching_synchronize(caching);
	release_whole_segments(caching);
}

/* Takes block->after into block; `after` must be free and in no list. */
static void absorb_after(struct caching_block *block)
{
	struct caching_block *after = block->after;

	block->size += after->size;
	block->after = after->after;
	if (block->after)
		block->after->before = block;
	free(after);
}

static bool is_free(const struct caching_block *block)
{
	return block && !block->live && !block->waiting;
}

/* Merges a block that is no longer used with free neighbours and puts it into its pool. */
static void block_reclaim(struct ag_caching *caching, struct caching_block *block)
{
	struct caching_free_list *list = &caching->free[block->small];

	if (is_free(block->after)) {
		inactive_split(caching, block->after, false);
		caching_free_list_remove(list, block->after);
		absorb_after(block);
	}
	if (is_free(block->before)) {
		block = block->before;
		inactive_split(caching, block, false);
		caching_free_list_remove(list, block);
		absorb_after(block);
	}
	inactive_split(caching, block, true);
	caching_free_list_add(list, block);
}

static bool should_split(const struct ag_caching *caching, const struct caching_block *block,
                         uint64_t size)
{
	uint64_t rest = block->size - size;
	uint64_t limit = caching->options.max_split_size;

	if (block->small)
		return rest >= CACHING_SMALLEST_BLOCK;
	return rest > CACHING_LARGEST_SMALL && (!limit || size < limit);
}

/* Cuts a free block that is in no list; the rest goes into the pool. */
static void block_split(struct ag_caching *caching, struct caching_block *block, uint64_t size)
{
	struct caching_block fields = *block;
	struct caching_block *rest;

	fields.address += size;
	fields.size -= size;
	fields.before = block;
	rest = block_new(&fields);
	if (rest->after)
		rest->after->before = rest;
	block->after = rest;
	block->size = size;
	inactive_split(caching, rest, true);
	caching_free_list_add(&caching->free[block->small], rest);
}

/* Out of its pool: the smallest free block that fits and may serve the request. */
static struct caching_block *block_take(struct ag_caching *caching, uint64_t size, uint32_t stream)
{
	bool small = size <= CACHING_LARGEST_SMALL;
	struct caching_free_list *list = &caching->free[small];
	size_t at = caching_free_list_find(list, stream, size);
	uint64_t limit = caching->options.max_split_size;
	struct caching_block *block;

	if (at == list->count)
		return NULL;
	block = list->at[at];
	if (limit && size < limit && block->size >= limit)
		return NULL;
	if (limit && size >= limit && block->size >= size + CACHING_MEDIUM_SEGMENT)
		return NULL;
	caching_free_list_remove(list, block);
	inactive_split(caching, block, false);
	return block;
}

/* With max_split_size: gives back unsplit oversized blocks, enough of them for the request. */
static bool release_oversized(struct ag_caching *caching, uint64_t size, uint32_t stream)
{
	struct caching_free_list *list = &caching->free[0];
	uint64_t limit = caching->options.max_split_size;
	uint64_t wanted = size > limit ? size : limit;
	uint64_t released = 0;
	size_t at;

	if (!limit)
		return false;
	at = caching_free_list_find(list, stream, wanted);
	if (at < list->count && !is_split(list->at[at])) {
		segment_release(caching, list->at[at]);
		return true;
	}
	for (at = list->count; at-- > 0 && released < wanted;) {
		struct caching_block *block = list->at[at];
		if (block->stream != stream || block->size < limit || is_split(block))
			continue;
		released += block->size;
		segment_release(caching, block);
	}
	return released >= wanted;
}

static struct caching_block *block_find(struct ag_caching *caching, uint64_t size, uint32_t stream)
{
	struct caching_block *block = block_take(caching, size, stream);

	if (!block)
		block = segment_new(caching, size, stream);
	if (!block && release_oversized(caching, size, stream))
		block = segment_new(caching, size, stream);
	if (!block) {
		caching->retries++;
		ag_caching_empty_cache(caching);
		block = segment_new(caching, size, stream);
	}
	return block;
}

bool ag_caching_allocate(struct ag_caching *caching, uint64_t bytes, uint32_t stream,
                         uint64_t *address)
{
	struct caching_block *block = NULL;
	uint64_t size;

	*address = 0;
	if (bytes == 0)
		return true;
	size = bytes <= largest_request ? ag_caching_round(caching, bytes) : 0;
	if (size)
		block = block_find(caching, size, stream);
	if (!block) {
		caching->failures++;
		return false;
	}
	if (should_split(caching, block, size))
		block_split(caching, block, size);
	block->live = true;
	block->requested = bytes;
	caching_table_add(&caching->live, block);
	caching_stat_add(caching, AG_CACHING_ALLOCATED_BYTES, block->small, block->size);
	caching_stat_add(caching, AG_CACHING_REQUESTED_BYTES, block->small, bytes);
	caching_stat_add(caching, AG_CACHING_ACTIVE_BYTES, block->small, block->size);
	caching_stat_add(caching, AG_CACHING_ALLOCATIONS, block->small, 1);
	caching_stat_add(caching, AG_CACHING_ACTIVE_BLOCKS, block->small, 1);
	*address = block->address;
	return true;
}

static void block_deactivate(struct ag_caching *caching, struct caching_block *block)
{
	caching_stat_remove(caching, AG_CACHING_ACTIVE_BYTES, block->small, block->size);
	caching_stat_remove(caching, AG_CACHING_REQUESTED_BYTES, block->small, block->requested);
	caching_stat_remove(caching, AG_CACHING_ACTIVE_BLOCKS, block->small, 1);
	block->used_elsewhere = false;
	block->requested = 0;
	block_reclaim(caching, block);
}

bool ag_caching_free(struct ag_caching *caching, uint64_t address)
{
	struct caching_block *block = caching_table_find(&caching->live, address);

	if (!block)
		return address == 0;
	caching_table_remove(&caching->live, address);
	block->live = false;
	caching_stat_remove(caching, AG_CACHING_ALLOCATED_BYTES, block->small, block->size);
	caching_stat_remove(caching, AG_CACHING_ALLOCATIONS, block->small, 1);
	if (!block->used_elsewhere) {
		block_deactivate(caching, block);
		return true;
	}
	block->waiting = true;
	caching->waiting =
	        caching_grow(caching->waiting, caching->waiting_count, &caching->waiting_capacity);
	caching->waiting[caching->waiting_count++] = block;
	return true;
}

bool ag_caching_record_stream(struct ag_caching *caching, uint64_t address, uint32_t stream)
{
	struct caching_block *block = caching_table_find(&caching->live, address);

	if (block && block->stream != stream)
		block->used_elsewhere = true;
	return block != NULL;
}

void ag_caching_synchronize(struct ag_caching *caching)
{
	for (size_t i = 0; i < caching->waiting_count; i++) {
		struct caching_block *block = caching->waiting[i];
		block->waiting = false;
		block_deactivate(caching, block);
	}
	caching->waiting_count = 0;
}

uint64_t ag_caching_largest_free(const struct ag_caching *caching, uint32_t stream)
{
	uint64_t largest = 0;

	for (int small = 0; small < 2; small++) {
		const struct caching_free_list *list = &caching->free[small];
		for (size_t i = 0; i < list->count; i++) {
			if (list->at[i]->stream == stream && list->at[i]->size > largest)
				largest = list->at[i]->size;
		}
	}
	return largest;
}

void ag_caching_each(const struct ag_caching *caching, ag_caching_visit_fn *visit, void *data)
{
	for (size_t i = 0; i < caching->segment_count; i++) {
		const struct caching_block *block = caching->segments[i];
		for (uint64_t segment = block->address; block; block = block->after) {
			struct ag_caching_block_info info = {
			        .address = block->address,
			        .size = block->size,
			        .requested = block->requested,
			        .segment = segment,
			        .stream = block->stream,
			        .live = block->live,
			        .waiting = block->waiting,
			};
			if (!visit(data, &info))
				return;
		}
	}
}

/* opening and closing */

struct ag_caching *ag_caching_open(const struct ag_caching_options *options)
{
	struct ag_caching *caching = calloc(1, sizeof(*caching));

	if (!caching)
		abort();
	caching->options = *options;
	caching->next_address = first_address;
	return caching;
}

void ag_caching_close(struct ag_caching *caching)
{
	if (!caching)
		return;
	for (size_t i = 0; i < caching->segment_count; i++) {
		struct caching_block *block = caching->segments[i];
		while (block->after)
			absorb_after(block);
		free(block);
	}
	for (int small = 0; small < 2; small++)
		free(caching->free[small].at);
	free(caching->live.slot);
	free(caching->segments);
	free(caching->waiting);
	free(caching);
}
