#include "analyzer/engine/directive.h"

#include <string.h>
#include <strings.h>

struct reader {
	struct arena *arena;
	const char *text;
	uint32_t at, end;
	struct span comment;
	directive_list *directives;
};

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
	return is_letter(c) || is_digit(c) || c == '_' || c == '-';
}

static char peek(const struct reader *reader, uint32_t ahead)
{
	return reader->end - reader->at > ahead ? reader->text[reader->at + ahead] : '\0';
}

static void skip_blanks(struct reader *reader)
{
	while (peek(reader, 0) == ' ' || peek(reader, 0) == '\t')
		reader->at++;
}

/* Moves past `word`, whatever its case, when it stands here as a whole. */
static bool take_word(struct reader *reader, const char *word, bool any_case)
{
	uint32_t length = (uint32_t)strlen(word);
	const char *here = reader->text + reader->at;

	if (reader->end - reader->at < length ||
	    (any_case ? strncasecmp(here, word, length) : strncmp(here, word, length)) != 0 ||
	    is_word(peek(reader, length)))
		return false;
	reader->at += length;
	return true;
}

static bool take_char(struct reader *reader, char c)
{
	if (peek(reader, 0) != c)
		return false;
	reader->at++;
	return true;
}

static void add_code(struct reader *reader, struct directive *directive, uint32_t start)
{
	struct directive_code code = {.span = {start, reader->at}};
	uint32_t length = reader->at - start;

	if (length == 1 && reader->text[start] == '*')
		code.selector = "ALL";
	else if (reader->text[reader->at - 1] == '*')
		code.selector = arena_text(reader->arena, reader->text + start, length - 1);
	else
		code.selector = arena_text(reader->arena, reader->text + start, length);
	vec_push(reader->arena, &directive->codes, code);
	directive->span.end = reader->at;
}

static void add_directive(struct reader *reader, struct directive *directive)
{
	directive->comment = reader->comment;
	vec_push(reader->arena, reader->directives, *directive);
}

/* flake8's form: letters, then digits, with commas or blanks between. */
static bool take_plain_code(struct reader *reader)
{
	uint32_t start = reader->at;

	while (is_letter(peek(reader, 0)))
		reader->at++;
	if (reader->at > start && is_digit(peek(reader, 0))) {
		while (is_digit(peek(reader, 0)))
			reader->at++;
		if (!is_word(peek(reader, 0)))
			return true;
	}
	reader->at = start;
	return false;
}

static void skip_between(struct reader *reader)
{
	while (strchr(" \t,", peek(reader, 0)) && peek(reader, 0))
		reader->at++;
}

/* After `noqa`: a colon without a code is a slip, and means nothing. */
static void read_noqa(struct reader *reader, uint32_t start)
{
	struct directive directive = {.kind = DIRECTIVE_NOQA, .span = {start, reader->at}};
	uint32_t after_word = reader->at;

	skip_blanks(reader);
	if (!take_char(reader, ':')) {
		reader->at = after_word;
		add_directive(reader, &directive);
		return;
	}
	directive.has_list = true;
	for (skip_between(reader);; skip_between(reader)) {
		uint32_t code = reader->at;

		if (!take_plain_code(reader))
			break;
		add_code(reader, &directive, code);
	}
	if (directive.codes.count)
		add_directive(reader, &directive);
}

/* `[GL103, graph-in-list]` or `(GL103)`; without one the directive means all. */
static void read_list(struct reader *reader, struct directive *directive, char open, char close)
{
	if (!take_char(reader, open))
		return;
	directive->has_list = true;
	for (skip_between(reader); reader->at < reader->end && !take_char(reader, close);
	     skip_between(reader)) {
		uint32_t start = reader->at;

		while (is_word(peek(reader, 0)) || strchr(".*", peek(reader, 0))) {
			if (!peek(reader, 0))
				break;
			reader->at++;
		}
		if (reader->at == start)
			reader->at++;
		else
			add_code(reader, directive, start);
	}
	directive->span.end = reader->at;
}

static bool read_ours(struct reader *reader, uint32_t start)
{
	struct directive directive = {.kind = DIRECTIVE_IGNORE};

	if (!take_char(reader, ':'))
		return false;
	skip_blanks(reader);
	if (take_word(reader, "ignore-file", false))
		directive.kind = DIRECTIVE_FILE;
	else if (!take_word(reader, "ignore", false))
		return false;
	directive.span = (struct span){start, reader->at};
	read_list(reader, &directive, '[', ']');
	add_directive(reader, &directive);
	return true;
}

/* What can follow a comment mark. */
static void read_after_mark(struct reader *reader, uint32_t mark)
{
	skip_blanks(reader);
	if (take_word(reader, "noqa", true))
		read_noqa(reader, mark);
	else if (take_word(reader, "graphlint", false))
		read_ours(reader, mark);
}

static bool read_nolint(struct reader *reader, const char *word, enum directive_kind kind)
{
	struct directive directive = {.kind = kind, .span.start = reader->at};

	if (!take_word(reader, word, false))
		return false;
	directive.span.end = reader->at;
	read_list(reader, &directive, '(', ')');
	add_directive(reader, &directive);
	return true;
}

static void read_hash_comment(struct reader *reader)
{
	while (reader->at < reader->end) {
		uint32_t mark = reader->at;

		if (take_char(reader, '#'))
			read_after_mark(reader, mark);
		else
			reader->at++;
	}
}

static void read_slash_comment(struct reader *reader)
{
	uint32_t mark = reader->at;

	reader->at += 2;
	read_after_mark(reader, mark);
	while (reader->at < reader->end) {
		bool starts_word = !is_word(reader->text[reader->at - 1]);

		if (starts_word && (read_nolint(reader, "NOLINTNEXTLINE", DIRECTIVE_NEXT_LINE) ||
		                    read_nolint(reader, "NOLINT", DIRECTIVE_NOLINT)))
			continue;
		reader->at++;
	}
}

void directive_read(struct arena *arena, const struct source *source, struct span span,
                    directive_list *directives)
{
	struct reader reader = {arena, source->text, span.start, span.end, span, directives};

	if (span.end - span.start < 2)
		return;
	if (source->text[span.start] == '#')
		read_hash_comment(&reader);
	else if (source->text[span.start] == '/')
		read_slash_comment(&reader);
}

bool directive_code_is_ours(const char *selector)
{
	return !strncmp(selector, "GL", 2) && is_digit(selector[2]);
}
