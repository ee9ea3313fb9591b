#include "analyzer/report/markdown.h"

#include <string.h>

static void show_span(const char **at, const char *end, char mark, size_t marks, enum style style,
                      struct text *out)
{
	const char *from = *at + marks;
	const char *to = from;

	while (to < end && *to != mark)
		to++;
	if (to == end) {
		text_add_char(out, **at);
		++*at;
		return;
	}
	style_on(out, true, style);
	text_add(out, from, (size_t)(to - from));
	style_off(out, true, style);
	*at = to + marks;
}

static void show_line(const char *line, size_t length, struct text *out)
{
	const char *end = line + length;

	while (line < end) {
		if (*line == '`')
			show_span(&line, end, '`', 1, STYLE_SECOND, out);
		else if (*line == '*' && line + 1 < end && line[1] == '*')
			show_span(&line, end, '*', 2, STYLE_BOLD, out);
		else
			text_add_char(out, *line++);
	}
}

static void show_heading(const char *line, size_t length, struct text *out)
{
	size_t marks = strspn(line, "#");

	marks += line[marks] == ' ';
	style_on(out, true, STYLE_BOLD);
	text_add(out, line + marks, length - marks);
	style_off(out, true, STYLE_BOLD);
}

static void show_code(const char *line, size_t length, struct text *out)
{
	text_add_chars(out, "    ");
	style_on(out, true, STYLE_SECOND);
	text_add(out, line, length);
	style_off(out, true, STYLE_SECOND);
}

void markdown_show(const char *markdown, bool color, struct text *out)
{
	bool in_code = false;

	if (!color) {
		text_add_chars(out, markdown);
		return;
	}
	while (*markdown) {
		size_t length = strcspn(markdown, "\n");

		if (!strncmp(markdown, "```", 3)) {
			in_code = !in_code;
		} else {
			if (in_code)
				show_code(markdown, length, out);
			else if (*markdown == '#')
				show_heading(markdown, length, out);
			else
				show_line(markdown, length, out);
			text_add_char(out, '\n');
		}
		markdown += length + (markdown[length] == '\n');
	}
}
