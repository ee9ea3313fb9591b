#ifndef GRAPHLINT_TORCH_API_TABLES_H
#define GRAPHLINT_TORCH_API_TABLES_H

/* The .def files as constant arrays. Rows hold offsets into one block of names in place of
 * pointers, so that loading the executable relocates and copies nothing.
 * Every array is sorted by name, byte by byte; a test and tools/gen_api.py check it. */

#include "analyzer/torch/api.h"

struct api_table {
	const void *rows; /* each begins with the offset of its name */
	uint32_t count;
	uint32_t size; /* of a row */
};

struct api_pair { /* alias and canonical name; function and class of its result */
	uint32_t from;
	uint32_t to;
};

enum {
	API_TABLE_COUNT = 4,
	API_NAME_ROOM = 256, /* longer names have no row */
};

extern const char *const api_name_block;
extern const struct api_table api_tables[API_TABLE_COUNT];
extern const struct api_table api_class_tables[2]; /* by hand, measured */
extern const struct api_table api_alias_tables[2];
extern const struct api_table api_result_tables[2];
extern const struct api_table api_hook_table;

#endif
