#ifndef GRAPHLINT_SOURCE_ENCODING_H
#define GRAPHLINT_SOURCE_ENCODING_H

/* Bytes to UTF-8 and back. The encoding is the byte order mark's, else the one
 * that a comment in the first two lines declares (PEP 263), else UTF-8. Decoding
 * cannot fail: a byte that stands for nothing becomes U+FFFD and is remembered. */

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/base/arena.h"
#include "analyzer/base/text.h"
#include "analyzer/source/source.h"

/* Fills text, length, encoding, has_bom, damage and notes from the bytes. */
void encoding_decode(struct arena *arena, struct source *source);
/* The bytes of `utf8` in this encoding; false: it cannot be written in it. */
bool encoding_encode(const char *encoding, const char *utf8, size_t length, struct text *out);
/* Bytes from the start that are valid UTF-8. */
size_t utf8_valid_length(const char *bytes, size_t size);

#endif
