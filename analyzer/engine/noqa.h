#ifndef GRAPHLINT_ENGINE_NOQA_H
#define GRAPHLINT_ENGINE_NOQA_H

/* --add-noqa: a comment for every finding, at the end of the line where its
 * statement ends; codes join those that are there. Nothing else of the file
 * changes: encoding, line endings and marks stay. */

#include "analyzer/finding/outcome.h"

struct noqa_result {
	uint32_t comments; /* lines that got one, or more codes */
	uint32_t files;
	uint32_t left_out; /* findings in notebooks */
	bool failed;
};

/* Writes a file's new bytes; false: it could not, and said so. */
typedef bool noqa_write(void *context, const struct source *source, const struct text *bytes);

struct noqa_result noqa_add(struct arena *arena, const struct outcome *outcome, noqa_write *write,
                            void *context);

#endif
