#ifndef GRAPHLINT_BASE_BASE64_H
#define GRAPHLINT_BASE_BASE64_H

/* Bytes as plain letters, for formats that carry only text (RFC 4648). */

#include <stdbool.h>

#include "analyzer/base/bug.h"
#include "analyzer/base/text.h"

void base64_add(struct text *out, const char *bytes, size_t length);
/* False: it is none. */
GL_MUST_USE bool base64_read(struct text *out, const char *letters, size_t length);

#endif
