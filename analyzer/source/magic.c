#include "analyzer/source/magic.h"

#include <stdint.h>
#include <string.h>

struct walk {
	char *text;
	size_t length;
	size_t at;
	uint32_t depth; /* of brackets */
	bool open;      /* a string is not closed */
};

static char peek(const struct walk *w, size_t ahead)
{
	return w->at + ahead < w->length ? w->text[w->at + ahead] : '\0';
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || (unsigned char)c >= 0x80;
}

static size_t end_of_line(const struct walk *w, size_t from)
{
	const char *found = memchr(w->text + from, '\n', w->length - from);

	return found ? (size_t)(found - w->text) : w->length;
}

static size_t skip_spaces(const struct walk *w, size_t from)
{
	while (from < w->length &&
	       (w->text[from] == ' ' || w->text[from] == '\t' || w->text[from] == '\f'))
		from++;
	return from;
}

/* The end of a command, which goes on after a backslash. */
static size_t end_of_command(const struct walk *w, size_t from)
{
	size_t end = end_of_line(w, from);

	while (end < w->length) {
		size_t last = end;

		if (last > from && w->text[last - 1] == '\r')
			last--;
		if (last == from || w->text[last - 1] != '\\')
			break;
		end = end_of_line(w, end + 1);
	}
	return end;
}

/* `word` and then spaces up to `end`; line ends stay. */
static void replace(struct walk *w, size_t end, const char *word)
{
	for (size_t i = w->at; i < end; i++) {
		if (*word)
			w->text[i] = *word++;
		else if (w->text[i] != '\n' && w->text[i] != '\r')
			w->text[i] = ' ';
	}
	w->at = end;
}

static bool starts_compound(const char *text, size_t length)
{
	static const char *const words[] = {"if",    "for", "while", "with", "try",
	                                    "class", "def", "async", "@",    "match"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t word = strlen(words[i]);

		if (length > word && !memcmp(text, words[i], word) && !is_word(text[word]))
			return true;
	}
	return false;
}

/* `%time statement`: the statement is run here and binds its names. */
static bool keep_timed_statement(struct walk *w, size_t end)
{
	static const char magic[] = "%time";
	size_t statement;

	if (end - w->at <= sizeof(magic) ||
	    memcmp(w->text + w->at, magic, sizeof(magic) - 1) != 0 ||
	    w->text[w->at + sizeof(magic) - 1] != ' ')
		return false;
	statement = skip_spaces(w, w->at + sizeof(magic) - 1);
	if (statement >= end || w->text[statement] == '-' ||
	    starts_compound(w->text + statement, end - statement))
		return false;
	replace(w, statement, "0;");
	return true;
}

/* `name?`, `name.attribute??`: the line asks for help. */
static bool asks_for_help(const struct walk *w)
{
	size_t end = end_of_line(w, w->at), at = w->at;

	while (at < end && (is_word(w->text[at]) || strchr(".*[]", w->text[at])) && w->text[at])
		at++;
	if (at == w->at || at == end || w->text[at] != '?')
		return false;
	while (at < end && w->text[at] == '?')
		at++;
	at = skip_spaces(w, at);
	return at == end || w->text[at] == '\r' || w->text[at] == '#';
}

static bool is_escape(char c)
{
	return c == '%' || c == '!' || c == '?' || c == '/' || c == ',' || c == ';';
}

/* At the first character of a logical line. */
static void blank_line_start(struct walk *w)
{
	static const char statement[] = "pass";
	size_t end, line_end;

	if (!is_escape(peek(w, 0)) && !asks_for_help(w))
		return;
	end = end_of_command(w, w->at);
	if (keep_timed_statement(w, end))
		return;
	line_end = end_of_line(w, w->at);
	line_end -= w->text[line_end - 1] == '\r';
	replace(w, end, line_end - w->at >= strlen(statement) ? statement : "0");
}

/* At `=`: `files = !ls` and `out = %magic` give a value nobody knows. */
static void blank_assigned(struct walk *w)
{
	size_t value = skip_spaces(w, w->at + 1);
	char before = w->at ? w->text[w->at - 1] : '\0';

	w->at++;
	if (value >= w->length || strchr("=!<>", before))
		return;
	if (w->text[value] != '%' &&
	    (w->text[value] != '!' || (value + 1 < w->length && w->text[value + 1] == '=')))
		return;
	w->at = value;
	replace(w, end_of_command(w, value), "_");
}

static void walk_string(struct walk *w)
{
	char quote = peek(w, 0);
	bool triple = peek(w, 1) == quote && peek(w, 2) == quote;

	w->at += triple ? 3 : 1;
	while (w->at < w->length) {
		char c = w->text[w->at];

		if (c == '\\') {
			w->at += peek(w, 1) == '\r' && peek(w, 2) == '\n' ? 3 : 2;
			continue;
		}
		if (c == '\n' && !triple)
			return; /* broken, and over with the line */
		if (c == quote && (!triple || (peek(w, 1) == quote && peek(w, 2) == quote))) {
			w->at += triple ? 3 : 1;
			return;
		}
		w->at++;
	}
	w->open = triple;
}

/* One token or character; true: a logical line ended. */
static bool walk_token(struct walk *w)
{
	char c = peek(w, 0);

	switch (c) {
	case '\n':
		w->at++;
		return w->depth == 0;
	case '#':
		w->at = end_of_line(w, w->at);
		return false;
	case '\\':
		w->at += peek(w, 1) == '\r' && peek(w, 2) == '\n' ? 3 : 2;
		return false;
	case '"':
	case '\'':
		walk_string(w);
		return false;
	case '(':
	case '[':
	case '{':
		w->depth++;
		break;
	case ')':
	case ']':
	case '}':
		w->depth -= w->depth > 0;
		break;
	case '=':
		if (!w->depth) {
			blank_assigned(w);
			return false;
		}
		break;
	default:
		break;
	}
	w->at++;
	return false;
}

bool magic_blank(char *text, size_t length)
{
	struct walk w = {.text = text, .length = length};
	bool starts = true;

	while (w.at < w.length) {
		if (starts) {
			w.at = skip_spaces(&w, w.at);
			if (w.at < w.length)
				blank_line_start(&w);
			if (w.at >= w.length)
				break;
		}
		starts = walk_token(&w);
	}
	return !w.open && !w.depth;
}

static bool keeps_python(const char *name, size_t length)
{
	static const char *const names[] = {
#define MAGIC(name) name,
#include "analyzer/source/magics.def"
#undef MAGIC
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i]) == length && !memcmp(names[i], name, length))
			return true;
	return false;
}

bool magic_other_language(const char *text, size_t length, const char **name, size_t *name_length)
{
	size_t at = 0, end;

	while (at < length && strchr(" \t\r\n", text[at]) && text[at])
		at++;
	if (length - at < 3 || text[at] != '%' || text[at + 1] != '%')
		return false;
	at += 2;
	end = at;
	while (end < length && (is_word(text[end]) || text[end] == '!'))
		end++;
	*name = text + at;
	*name_length = end - at;
	return !keeps_python(*name, *name_length);
}
