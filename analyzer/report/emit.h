#ifndef GRAPHLINT_REPORT_EMIT_H
#define GRAPHLINT_REPORT_EMIT_H

/* JSON written front to back into a text: commas, escapes and, on request,
 * indentation. Names are NULL inside arrays. What is no UTF-8 becomes U+FFFD,
 * so that the result can always be read. */

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/base/text.h"

enum { JSON_DEPTH = 32 };

struct emitter {
	struct text *out;
	bool indents;
	unsigned depth;
	bool filled[JSON_DEPTH]; /* by depth: something stands before */
};

void emit_open_object(struct emitter *json, const char *name);
void emit_close_object(struct emitter *json);
void emit_open_array(struct emitter *json, const char *name);
void emit_close_array(struct emitter *json);
void emit_text(struct emitter *json, const char *name, const char *value);
void emit_bytes(struct emitter *json, const char *name, const char *bytes, size_t length);
void emit_number(struct emitter *json, const char *name, int64_t value);
/* The shortest digits that read back as the same number; null when there is none. */
void emit_real(struct emitter *json, const char *name, double value);
void emit_bool(struct emitter *json, const char *name, bool value);
void emit_null(struct emitter *json, const char *name);

/* Text or null. */
static inline void emit_optional(struct emitter *json, const char *name, const char *value)
{
	if (value)
		emit_text(json, name, value);
	else
		emit_null(json, name);
}

#endif
