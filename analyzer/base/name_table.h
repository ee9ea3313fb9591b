#ifndef GRAPHLINT_BASE_NAME_TABLE_H
#define GRAPHLINT_BASE_NAME_TABLE_H

/* Texts to numbers. `{.arena = ...}` is empty; what is added lives in the
 * arena, names are copied. */

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/base/arena.h"

struct name_entry {
	const char *name; /* NULL: a free place */
	uint32_t value;
};

struct name_table {
	struct arena *arena;
	struct name_entry *at; /* open addressing */
	uint32_t count, room;
};

/* NULL: it is not there. */
struct name_entry *name_table_find(const struct name_table *table, const char *name);
/* The entry of the name; a new one has value 0, and `*is_new` is set. */
struct name_entry *name_table_put(struct name_table *table, const char *name, bool *is_new);

#endif
