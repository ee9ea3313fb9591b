#ifndef GRAPHLINT_BASE_TEXT_H
#define GRAPHLINT_BASE_TEXT_H

/* Growable bytes in an arena, with printf into them. The bytes may hold NULs
 * and are always followed by one that `length` does not count.
 * `{.arena = &arena}` is an empty text; `at` moves when it grows. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/base/arena.h"
#include "analyzer/base/bug.h"

struct text {
	struct arena *arena;
	char *at; /* NULL while nothing was added: use text_chars */
	size_t length;
	size_t capacity;
};

void text_add(struct text *text, const char *bytes, size_t length);
/* The bytes before the NUL. */
void text_add_chars(struct text *text, const char *chars);
void text_add_char(struct text *text, char c);
/* In decimal. */
void text_add_number(struct text *text, uint64_t number);
void text_add_repeated(struct text *text, char c, size_t count);
/* UTF-8 of a code point; U+FFFD for what is none. */
void text_add_code_point(struct text *text, uint32_t code_point);
void text_print(struct text *text, const char *format, ...) GL_PRINTF(2, 3);
void text_vprint(struct text *text, const char *format, va_list arguments) GL_PRINTF(2, 0);
/* Shortens to `length` bytes; the memory stays. */
void text_cut(struct text *text, size_t length);
/* Makes room for `length` more bytes. */
void text_reserve(struct text *text, size_t length);

/* Never NULL. */
static inline const char *text_chars(const struct text *text)
{
	return text->at ? text->at : "";
}

#endif
