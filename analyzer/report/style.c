#include "analyzer/report/style.h"

#include <string.h>

#include "analyzer/report/utf8.h"

void style_on(struct text *out, bool color, enum style style)
{
	static const char *const codes[] = {
	        [STYLE_PLAIN] = "",      [STYLE_BOLD] = "1",     [STYLE_FRAME] = "1;34",
	        [STYLE_SECOND] = "1;36", [STYLE_ERROR] = "1;31", [STYLE_WARNING] = "1;33",
	        [STYLE_INFO] = "1;34",   [STYLE_GOOD] = "1;32",
	};

	if (color && style != STYLE_PLAIN)
		text_print(out, "\x1b[%sm", codes[style]);
}

void style_off(struct text *out, bool color, enum style style)
{
	if (color && style != STYLE_PLAIN)
		text_add_chars(out, "\x1b[0m");
}

void style_text(struct text *out, bool color, enum style style, const char *chars)
{
	style_on(out, color, style);
	text_add_chars(out, chars);
	style_off(out, color, style);
}

enum style style_of_severity(enum severity severity)
{
	switch (severity) {
	case SEVERITY_ERROR:
		return STYLE_ERROR;
	case SEVERITY_WARNING:
		return STYLE_WARNING;
	case SEVERITY_INFO:
	case SEVERITY_OFF:
		break;
	}
	return STYLE_INFO;
}

/* Marks that reorder text on screen could make code look like other code. */
static bool changes_direction(uint32_t c)
{
	return c == 0x200e || c == 0x200f || c == 0x61c || (c >= 0x202a && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069);
}

unsigned show_character(struct text *out, uint32_t c)
{
	size_t before = out->length;

	if (changes_direction(c)) {
		text_print(out, "<U+%04X>", (unsigned)c);
		return (unsigned)(out->length - before);
	}
	if (c < 0x20)
		c += 0x2400;
	else if (c == 0x7f)
		c = 0x2421;
	else if ((c >= 0x80 && c < 0xa0) || c == 0x2028 || c == 0x2029)
		c = 0xfffd;
	text_add_code_point(out, c);
	return utf8_columns(c);
}

void show_text(struct text *out, const char *chars)
{
	size_t length = strlen(chars);

	for (size_t at = 0; at < length;)
		show_character(out, utf8_next(chars, length, &at));
}
