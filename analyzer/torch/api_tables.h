#ifndef GRAPHLINT_TORCH_API_TABLES_H
#define GRAPHLINT_TORCH_API_TABLES_H

/* The .def files as constant arrays. Rows hold offsets into one block of names in place of
 * pointers, so that loading the executable relocates and copies nothing.
 * Every array is sorted by name, byte by byte; a test and tools/gen_api.py check it. */

#include "analyzer/torch/api.h"

struct api_table {
	const struct api_entry *rows;
	uint32_t count;
};

struct api_pair { /* alias and canonical name; function and class of its result */
	uint32_t from;
	uint32_t to;
};

enum { API_TABLE_COUNT = 4 };

extern const char *const api_name_block;
extern const struct api_table api_tables[API_TABLE_COUNT];
extern const struct api_class api_class_rows[];
extern const uint32_t api_class_count;
extern const struct api_class api_measured_class_rows[];
extern const uint32_t api_measured_class_count;
extern const struct api_pair api_alias_rows[];
extern const uint32_t api_alias_count;
extern const struct api_pair api_result_rows[];
extern const uint32_t api_result_count;
extern const struct api_hook_mode api_hook_rows[];
extern const uint32_t api_hook_count;

#endif
