#include "analyzer/base/text.h"

#include <stdio.h>
#include <string.h>

enum { TEXT_FIRST_BYTES = 64 };

void text_reserve(struct text *text, size_t length)
{
	size_t needed = text->length + length + 1;
	size_t capacity = text->capacity ? text->capacity : TEXT_FIRST_BYTES;

	BUG_IF(needed < length);
	if (needed <= text->capacity)
		return;
	while (capacity < needed)
		capacity *= 2;
	text->at = arena_resize(text->arena, text->at, text->capacity, capacity);
	text->capacity = capacity;
}

void text_add(struct text *text, const char *bytes, size_t length)
{
	if (length >= text->capacity - text->length)
		text_reserve(text, length);
	if (length)
		memmove(text->at + text->length, bytes, length);
	text->length += length;
	text->at[text->length] = '\0';
}

void text_add_chars(struct text *text, const char *chars)
{
	text_add(text, chars, strlen(chars));
}

void text_add_char(struct text *text, char c)
{
	text_add(text, &c, 1);
}

void text_add_number(struct text *text, uint64_t number)
{
	char digits[20];
	size_t at = sizeof(digits);

	do
		digits[--at] = (char)('0' + number % 10);
	while (number /= 10);
	text_add(text, digits + at, sizeof(digits) - at);
}

void text_add_repeated(struct text *text, char c, size_t count)
{
	text_reserve(text, count);
	memset(text->at + text->length, c, count);
	text_cut(text, text->length + count);
}

void text_add_code_point(struct text *text, uint32_t c)
{
	char utf8[4];
	size_t length = 0;

	if (c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		c = 0xfffd;
	if (c < 0x80) {
		utf8[length++] = (char)c;
	} else if (c < 0x800) {
		utf8[length++] = (char)(0xc0 | c >> 6);
		utf8[length++] = (char)(0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		utf8[length++] = (char)(0xe0 | c >> 12);
		utf8[length++] = (char)(0x80 | (c >> 6 & 0x3f));
		utf8[length++] = (char)(0x80 | (c & 0x3f));
	} else {
		utf8[length++] = (char)(0xf0 | c >> 18);
		utf8[length++] = (char)(0x80 | (c >> 12 & 0x3f));
		utf8[length++] = (char)(0x80 | (c >> 6 & 0x3f));
		utf8[length++] = (char)(0x80 | (c & 0x3f));
	}
	text_add(text, utf8, length);
}

void text_vprint(struct text *text, const char *format, va_list arguments)
{
	va_list again;
	int length;

	va_copy(again, arguments);
	text_reserve(text, 0);
	length = vsnprintf(text->at + text->length, text->capacity - text->length, format,
	                   arguments);
	BUG_IF(length < 0);
	if ((size_t)length >= text->capacity - text->length) {
		text_reserve(text, (size_t)length);
		vsnprintf(text->at + text->length, (size_t)length + 1, format, again);
	}
	va_end(again);
	text->length += (size_t)length;
}

void text_print(struct text *text, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	text_vprint(text, format, arguments);
	va_end(arguments);
}

void text_cut(struct text *text, size_t length)
{
	if (!text->at)
		return;
	BUG_IF(length >= text->capacity);
	text->length = length;
	text->at[length] = '\0';
}
