#ifndef GRAPHLINT_REPORT_JSON_WRITER_H
#define GRAPHLINT_REPORT_JSON_WRITER_H

/* JSON written front to back into a text: commas, escapes and, on request,
 * indentation. Names are NULL inside arrays. What is no UTF-8 becomes U+FFFD,
 * so that the result can always be read. */

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/base/text.h"

enum { JSON_DEPTH = 32 };

struct json_writer {
	struct text *out;
	bool indents;
	unsigned depth;
	bool filled[JSON_DEPTH]; /* by depth: something stands before */
};

void json_open_object(struct json_writer *json, const char *name);
void json_close_object(struct json_writer *json);
void json_open_array(struct json_writer *json, const char *name);
void json_close_array(struct json_writer *json);
void json_text(struct json_writer *json, const char *name, const char *value);
void json_bytes(struct json_writer *json, const char *name, const char *bytes, size_t length);
void json_number(struct json_writer *json, const char *name, int64_t value);
/* The shortest digits that read back as the same number; null when there is none. */
void json_real(struct json_writer *json, const char *name, double value);
void json_bool(struct json_writer *json, const char *name, bool value);
void json_null(struct json_writer *json, const char *name);

/* Text or null. */
static inline void json_optional(struct json_writer *json, const char *name, const char *value)
{
	if (value)
		json_text(json, name, value);
	else
		json_null(json, name);
}

#endif
