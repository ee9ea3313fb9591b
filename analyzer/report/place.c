#include "analyzer/report/place.h"

#include <string.h>

#include "analyzer/finding/fingerprint.h"
#include "analyzer/report/style.h"
#include "analyzer/report/utf8.h"

void place_print(const struct source *source, struct span span, struct text *out)
{
	struct position position = source_position(source, span.start);

	show_text(out, source->path);
	if (position.cell)
		text_print(out, ":cell %u", position.cell);
	text_print(out, ":%u:%u", position.row, position.column);
}

struct position place_end(const struct source *source, struct span span)
{
	return source_position(source, span.end > span.start ? span.end : span.start);
}

uint32_t place_file_row(const struct source *source, uint32_t offset)
{
	return source_line_at(source, offset) + 1;
}

static bool is_plain_in_uri(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c && strchr("-._~/", c));
}

void place_uri(struct arena *scratch, const char *root, const char *path, struct text *out)
{
	const char *below = root ? path_below(scratch, root, path) : path;

	if (*below == '/')
		text_add_chars(out, "file://");
	for (; *below; below++) {
		if (is_plain_in_uri(*below))
			text_add_char(out, *below);
		else
			text_print(out, "%%%02X", (unsigned)(unsigned char)*below);
	}
}

void place_escape_xml(const char *chars, struct text *out)
{
	size_t length = strlen(chars);

	for (size_t at = 0; at < length;) {
		uint32_t c = utf8_next(chars, length, &at);

		if (c == '<')
			text_add_chars(out, "&lt;");
		else if (c == '>')
			text_add_chars(out, "&gt;");
		else if (c == '&')
			text_add_chars(out, "&amp;");
		else if (c == '"')
			text_add_chars(out, "&quot;");
		else if (c == '\n' || c == '\t')
			text_print(out, "&#%u;", (unsigned)c);
		else if (c >= 0x20 && c != 0xfffe && c != 0xffff)
			text_add_code_point(out, c);
		else
			text_add_code_point(out, 0xfffd);
	}
}
