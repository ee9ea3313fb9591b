#include "analyzer/base/name_table.h"

#include <string.h>

#include "analyzer/base/hash.h"

static struct name_entry *place_of(const struct name_table *table, const char *name)
{
	uint64_t at = hash_bytes(name, strlen(name));

	while (table->at[at & (table->room - 1)].name &&
	       strcmp(table->at[at & (table->room - 1)].name, name) != 0)
		at++;
	return &table->at[at & (table->room - 1)];
}

static void grow(struct name_table *table)
{
	struct name_table larger = {.arena = table->arena, .count = table->count};

	larger.room = table->room ? table->room * 2 : 256;
	larger.at = arena_array(table->arena, struct name_entry, larger.room);
	for (uint32_t i = 0; i < table->room; i++) {
		if (table->at[i].name)
			*place_of(&larger, table->at[i].name) = table->at[i];
	}
	*table = larger;
}

struct name_entry *name_table_find(const struct name_table *table, const char *name)
{
	struct name_entry *entry = table->room ? place_of(table, name) : NULL;

	return entry && entry->name ? entry : NULL;
}

struct name_entry *name_table_put(struct name_table *table, const char *name, bool *is_new)
{
	struct name_entry *entry;

	if ((table->count + 1) * 2 > table->room)
		grow(table);
	entry = place_of(table, name);
	*is_new = !entry->name;
	if (*is_new) {
		entry->name = arena_text(table->arena, name, strlen(name));
		table->count++;
	}
	return entry;
}
