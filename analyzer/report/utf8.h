#ifndef GRAPHLINT_REPORT_UTF8_H
#define GRAPHLINT_REPORT_UTF8_H

/* Characters of UTF-8 text and how many columns each takes on a terminal. */

#include <stddef.h>
#include <stdint.h>

/* The code point at `*at`, which moves past it; U+FFFD for a wrong byte. */
uint32_t utf8_next(const char *bytes, size_t length, size_t *at);
/* 0 for marks that combine, 2 for wide characters, else 1. */
unsigned utf8_columns(uint32_t code_point);

#endif
