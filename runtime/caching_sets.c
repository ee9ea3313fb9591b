#include "runtime/caching_internal.h"

#include <stdlib.h>
#include <string.h>

struct caching_block **caching_grow(struct caching_block **array, size_t count, size_t *capacity)
{
	if (count < *capacity)
		return array;
	*capacity = *capacity ? *capacity * 2 : 16;
	array = realloc(array, *capacity * sizeof(*array));
	if (!array)
		abort();
	return array;
}

/* free list */

static bool comes_before(const struct caching_block *block, uint32_t stream, uint64_t size,
                         uint64_t address)
{
	if (block->stream != stream)
		return block->stream < stream;
	if (block->size != size)
		return block->size < size;
	return block->address < address;
}

static size_t position(const struct caching_free_list *list, uint32_t stream, uint64_t size,
                       uint64_t address)
{
	size_t low = 0;
	size_t high = list->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (comes_before(list->at[middle], stream, size, address))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void caching_free_list_add(struct caching_free_list *list, struct caching_block *block)
{
	size_t at = position(list, block->stream, block->size, block->address);

	list->at = caching_grow(list->at, list->count, &list->capacity);
	memmove(list->at + at + 1, list->at + at, (list->count - at) * sizeof(*list->at));
	list->at[at] = block;
	list->count++;
}

void caching_free_list_remove(struct caching_free_list *list, const struct caching_block *block)
{
	size_t at = position(list, block->stream, block->size, block->address);

	list->count--;
	memmove(list->at + at, list->at + at + 1, (list->count - at) * sizeof(*list->at));
}

size_t caching_free_list_find(const struct caching_free_list *list, uint32_t stream, uint64_t size)
{
	size_t at = position(list, stream, size, 0);

	return at < list->count && list->at[at]->stream == stream ? at : list->count;
}

/* live table */

static size_t home(const struct caching_table *table, uint64_t address)
{
	uint64_t hash = (address >> 9) * UINT64_C(0x9e3779b97f4a7c15);

	return (size_t)(hash >> 32) & (table->capacity - 1);
}

static size_t slot_of(const struct caching_table *table, uint64_t address)
{
	size_t slot = home(table, address);

	while (table->slot[slot] && table->slot[slot]->address != address)
		slot = (slot + 1) & (table->capacity - 1);
	return slot;
}

static void table_grow(struct caching_table *table)
{
	struct caching_table old = *table;

	table->capacity = old.capacity ? old.capacity * 2 : 64;
	table->slot = calloc(table->capacity, sizeof(*table->slot));
	if (!table->slot)
		abort();
	for (size_t i = 0; i < old.capacity; i++) {
		if (old.slot[i])
			table->slot[slot_of(table, old.slot[i]->address)] = old.slot[i];
	}
	free(old.slot);
}

void caching_table_add(struct caching_table *table, struct caching_block *block)
{
	if (table->count * 2 >= table->capacity)
		table_grow(table);
	table->slot[slot_of(table, block->address)] = block;
	table->count++;
}

struct caching_block *caching_table_find(const struct caching_table *table, uint64_t address)
{
	return table->capacity ? table->slot[slot_of(table, address)] : NULL;
}

void caching_table_remove(struct caching_table *table, uint64_t address)
{
	size_t mask = table->capacity - 1;
	size_t hole = slot_of(table, address);

	table->slot[hole] = NULL;
	table->count--;
	/* Entries behind the hole move up unless that would put them before their home. */
	for (size_t i = (hole + 1) & mask; table->slot[i]; i = (i + 1) & mask) {
		size_t wanted = home(table, table->slot[i]->address);
		if (((i - wanted) & mask) >= ((i - hole) & mask)) {
			table->slot[hole] = table->slot[i];
			table->slot[i] = NULL;
			hole = i;
		}
	}
}
