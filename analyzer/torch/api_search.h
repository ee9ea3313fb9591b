#ifndef GRAPHLINT_TORCH_API_SEARCH_H
#define GRAPHLINT_TORCH_API_SEARCH_H

/* Finding rows by name in the sorted tables: exactly, by pattern, by first component.
 * A slice's bytes are borrowed; names with a NUL in them are in no table. */

#include "analyzer/torch/api_tables.h"

struct slice {
	const char *at;
	size_t length;
};

/* The NUL-terminated name at an offset that a row holds. */
struct slice search_name(uint32_t offset);
/* Like strcmp of `name`, which must hold no NUL, with the name at `offset`. */
int search_compare(struct slice name, uint32_t offset);
/* The first of `count` tables that has the name decides; NULL when none has. */
const void *search_tables(const struct api_table *tables, size_t count, struct slice name);
/* Rows for many names: "transformers.*Config", "transformers.*Config.from_pretrained",
 * "transformers.*.from_pretrained", "cv2.*"; the longest prefix wins, then the longest tail. */
const void *search_pattern(const struct api_table *tables, size_t count, struct slice name);
/* Does any row begin with the first component of the name, which must hold no NUL? */
bool search_root(const struct api_table *tables, size_t count, struct slice name);
/* Length of what stands before the last component, its dot included. */
size_t search_last_dot(struct slice name);

#endif
