#include <string.h>

#include "analyzer/front/python_lower.h"

enum prefix_flag {
	RAW = 1,
	BYTES = 2,
	FORMAT = 4,
	TEMPLATE = 8,
};

/* One literal among those that are joined. */
struct literal {
	uint32_t node;
	unsigned prefix;
	struct span content;
};

/* A string being put together: what is not yet pushed, and how many parts are. */
struct joined {
	struct text text;
	uint32_t parts;
	bool template;
	struct span span;
};

static struct literal literal_read(const struct py_lower *l, uint32_t node)
{
	struct literal literal = {.node = node, .content = py_span(l, node)};
	uint32_t start = py_child(l->tree, node, PY_string_start);
	size_t length = 0, letters = 0, quotes;
	const char *text = start ? py_text(l->tree, start, &length) : "";
	const char *source = l->tree->source->text;

	for (; letters < length && text[letters] != '"' && text[letters] != '\''; letters++)
		switch (text[letters] | 0x20) {
		case 'r':
			literal.prefix |= RAW;
			break;
		case 'b':
			literal.prefix |= BYTES;
			break;
		case 'f':
			literal.prefix |= FORMAT;
			break;
		case 't':
			literal.prefix |= FORMAT | TEMPLATE;
			break;
		default:
			break;
		}
	quotes = length - letters;
	literal.content.start += (uint32_t)length;
	if (literal.content.end - literal.content.start >= quotes &&
	    memcmp(source + literal.content.end - quotes, text + letters, quotes) == 0)
		literal.content.end -= (uint32_t)quotes;
	return literal;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
		return (c | 0x20) - 'a' + 10;
	return -1;
}

static void add_value(struct text *out, uint32_t value, unsigned prefix)
{
	if (prefix & BYTES)
		text_add_char(out, (char)(value & 0xff));
	else
		text_add_code_point(out, value);
}

/* \xhh, \uhhhh, \Uhhhhhhhh: exactly so many digits. */
static size_t escape_hex(struct text *out, const char *at, size_t left, size_t digits,
                         unsigned prefix)
{
	uint32_t value = 0;
	size_t i;

	for (i = 1; i <= digits && i < left && hex_digit(at[i]) >= 0; i++)
		value = value * 16 + (uint32_t)hex_digit(at[i]);
	if (i <= digits) {
		text_add_char(out, '\\');
		return 0;
	}
	add_value(out, value, prefix);
	return digits + 1;
}

static size_t escape_octal(struct text *out, const char *at, size_t left, unsigned prefix)
{
	uint32_t value = 0;
	size_t i;

	for (i = 0; i < 3 && i < left && at[i] >= '0' && at[i] <= '7'; i++)
		value = value * 8 + (uint32_t)(at[i] - '0');
	add_value(out, value, prefix);
	return i;
}

/* \N{NAME}: some character; which one nobody here knows. */
static size_t escape_named(struct text *out, const char *at, size_t left)
{
	const char *end = left > 1 && at[1] == '{' ? memchr(at, '}', left) : NULL;

	if (!end) {
		text_add_char(out, '\\');
		return 0;
	}
	text_add_code_point(out, 0xFFFD);
	return (size_t)(end - at) + 1;
}

/* What follows a backslash; returns how much of it is used. */
static size_t escape(struct text *out, const char *at, size_t left, unsigned prefix)
{
	static const char letters[] = "\\'\"abfnrtv";
	static const char values[] = "\\'\"\a\b\f\n\r\t\v";
	const char *letter = *at ? strchr(letters, *at) : NULL;

	if (letter) {
		text_add_char(out, values[letter - letters]);
		return 1;
	}
	if (*at == '\n')
		return 1;
	if (*at == '\r')
		return left > 1 && at[1] == '\n' ? 2 : 1;
	if (*at >= '0' && *at <= '7')
		return escape_octal(out, at, left, prefix);
	if (*at == 'x')
		return escape_hex(out, at, left, 2, prefix);
	if (!(prefix & BYTES) && *at == 'u')
		return escape_hex(out, at, left, 4, prefix);
	if (!(prefix & BYTES) && *at == 'U')
		return escape_hex(out, at, left, 8, prefix);
	if (!(prefix & BYTES) && *at == 'N')
		return escape_named(out, at, left);
	text_add_char(out, '\\');
	return 0;
}

static void decode(const struct py_lower *l, struct text *out, struct span span, unsigned prefix)
{
	const char *text = l->tree->source->text;

	for (size_t i = span.start; i < span.end;) {
		char c = text[i++];
		size_t left = span.end - i;

		if (c == '\\' && !(prefix & RAW) && left) {
			i += escape(out, text + i, left, prefix);
			continue;
		}
		if (c == '\r') {
			c = '\n';
			i += left && text[i] == '\n';
		} else if ((prefix & FORMAT) && (c == '{' || c == '}') && left && text[i] == c) {
			i++;
		}
		text_add_char(out, c);
	}
}

static void push_text(struct py_lower *l, struct joined *joined)
{
	sym_id id;

	if (joined->text.length == 0)
		return;
	id = intern_text(l->module->names, text_chars(&joined->text), joined->text.length);
	py_const(l, SUB_const_str, id, joined->span);
	joined->parts++;
	text_cut(&joined->text, 0);
}

static void count_part(struct py_lower *l, struct joined *joined)
{
	if (++joined->parts < PY_OPERANDS_MAX)
		return;
	py_emit(l, OP_build, SUB_build_string, 0, joined->span, joined->parts);
	joined->parts = 1;
}

static enum ir_sub conversion(const struct py_lower *l, uint32_t node)
{
	uint32_t field = py_field(l->tree, node, PY_F_type_conversion);
	size_t length = 0;
	const char *text = field ? py_text(l->tree, field, &length) : "";

	switch (length > 1 ? text[1] : '\0') {
	case 's':
		return SUB_format_str;
	case 'r':
		return SUB_format_repr;
	case 'a':
		return SUB_format_ascii;
	default:
		return SUB_format_plain;
	}
}

/* f"{x = }": what stands between the braces up to the `=` and its blanks. */
static void add_expression_text(const struct py_lower *l, struct joined *joined, uint32_t node,
                                uint32_t value)
{
	const char *text = l->tree->source->text;
	uint32_t from = py_span(l, node).start + 1;
	uint32_t at = py_span(l, value).end;
	uint32_t end = py_span(l, node).end;

	while (at < end && text[at] != '=')
		at++;
	at += at < end;
	while (at < end && strchr(" \t\r\n", text[at]) && text[at])
		at++;
	text_add(&joined->text, text + from, at - from);
}

static void format_parts(struct py_lower *l, uint32_t node, struct span content, unsigned prefix,
                         struct joined *joined);

/* Pushes the specification of a field: text with fields of its own. */
static void specification(struct py_lower *l, uint32_t node, unsigned prefix)
{
	struct joined inner = {.text = {.arena = l->scratch}, .span = py_span(l, node)};

	format_parts(l, node, (struct span){inner.span.start + 1, inner.span.end}, prefix, &inner);
	push_text(l, &inner);
	if (inner.parts != 1)
		py_emit(l, OP_build, SUB_build_string, 0, inner.span, inner.parts);
}

/* f"{x:=9}": the parser sees `x := 9`, Python sees x and the specification "=9". */
static void aligned_field(struct py_lower *l, uint32_t node, uint32_t walrus, unsigned prefix)
{
	uint32_t name = py_field(l->tree, walrus, PY_F_name);
	struct span span = {name ? py_span(l, name).end : 0, py_span(l, node).end - 1};
	const char *text = l->tree->source->text;
	struct text spec = {.arena = l->scratch};

	while (span.start < span.end && text[span.start] != ':')
		span.start++;
	span.start++;
	if (span.start < span.end)
		decode(l, &spec, span, prefix);
	py_expr(l, name);
	py_const(l, SUB_const_str, intern_text(l->module->names, text_chars(&spec), spec.length),
	         span);
	py_emit(l, OP_format, conversion(l, node), 0, py_span(l, node), 2);
}

static void field(struct py_lower *l, uint32_t node, unsigned prefix, struct joined *joined)
{
	uint32_t value = py_field(l->tree, node, PY_F_expression);
	uint32_t spec = py_field(l->tree, node, PY_F_format_specifier);
	enum ir_sub sub = conversion(l, node);

	if (value && py_has(l->tree, node, PY_HAS_EQUALS)) {
		add_expression_text(l, joined, node, value);
		if (!spec && sub == SUB_format_plain)
			sub = SUB_format_repr;
	}
	push_text(l, joined);
	if (value && py_kind(l->tree, value) == PY_named_expression && !joined->template) {
		aligned_field(l, node, value, prefix);
		count_part(l, joined);
		return;
	}
	py_expr(l, value);
	if (spec && !joined->template)
		specification(l, spec, prefix);
	if (!joined->template)
		py_emit(l, OP_format, sub, 0, py_span(l, node), spec ? 2 : 1);
	count_part(l, joined);
}

/* Fields are pushed, text between them is collected. */
static void format_parts(struct py_lower *l, uint32_t node, struct span content, unsigned prefix,
                         struct joined *joined)
{
	uint32_t at = content.start;
	uint32_t depth = l->depth;

	for (uint32_t c = py_first(l->tree, node); c; c = py_next(l->tree, node, c)) {
		enum py_kind kind = py_kind(l->tree, c);
		struct span span = py_span(l, c);

		if ((kind != PY_interpolation && kind != PY_format_expression) || span.start < at)
			continue;
		decode(l, &joined->text, (struct span){at, span.start}, prefix);
		if (py_enter_depth(l, c))
			field(l, c, prefix, joined);
		l->depth = depth;
		at = span.end;
	}
	if (at < content.end)
		decode(l, &joined->text, (struct span){at, content.end}, prefix);
}

static bool is_literal(const struct py_lower *l, uint32_t node)
{
	return py_kind(l->tree, node) == PY_string;
}

static void string_parts(struct py_lower *l, uint32_t node, struct joined *joined, bool *bytes)
{
	struct literal literal = literal_read(l, node);

	*bytes = *bytes || (literal.prefix & BYTES);
	joined->template = joined->template || (literal.prefix & TEMPLATE);
	format_parts(l, node, literal.content, literal.prefix, joined);
}

static void string_value(struct py_lower *l, struct joined *joined, bool bytes)
{
	if (joined->parts == 0 && !joined->template) {
		sym_id id = intern_text(l->module->names, text_chars(&joined->text),
		                        joined->text.length);
		py_const(l, bytes ? SUB_const_bytes : SUB_const_str, id, joined->span);
		return;
	}
	push_text(l, joined);
	if (joined->template)
		py_unknown(l, "template string", joined->span, joined->parts);
	else
		py_emit(l, OP_build, SUB_build_string, 0, joined->span, joined->parts);
}

void py_string(struct py_lower *l, uint32_t node)
{
	struct arena scratch = {0};
	struct joined joined = {.text = {.arena = &scratch}, .span = py_span(l, node)};
	bool bytes = false;

	if (is_literal(l, node))
		string_parts(l, node, &joined, &bytes);
	else
		for (uint32_t c = py_first(l->tree, node); c; c = py_next(l->tree, node, c))
			if (is_literal(l, c))
				string_parts(l, c, &joined, &bytes);
	string_value(l, &joined, bytes);
	arena_release(&scratch);
}

static bool add_plain(struct py_lower *l, uint32_t node, struct text *text)
{
	struct literal literal = literal_read(l, node);

	if (literal.prefix & (BYTES | FORMAT))
		return false;
	decode(l, text, literal.content, literal.prefix);
	return true;
}

sym_id py_docstring(struct py_lower *l, uint32_t statement)
{
	struct arena scratch = {0};
	struct text text = {.arena = &scratch};
	uint32_t node = py_first(l->tree, statement);
	sym_id doc = {0};
	bool plain = false;

	if (py_kind(l->tree, statement) != PY_expression_statement || !node ||
	    py_next(l->tree, statement, node) || py_has(l->tree, statement, PY_HAS_COMMA))
		return doc;
	if (is_literal(l, node)) {
		plain = add_plain(l, node, &text);
	} else if (py_kind(l->tree, node) == PY_concatenated_string) {
		plain = true;
		for (uint32_t c = py_first(l->tree, node); c && plain;
		     c = py_next(l->tree, node, c))
			plain = is_literal(l, c) && add_plain(l, c, &text);
	}
	if (plain)
		doc = intern_text(l->module->names, text_chars(&text), text.length);
	arena_release(&scratch);
	return doc;
}

/* Digits without `_`, `L` and `j`. */
void py_number(struct py_lower *l, uint32_t node)
{
	struct arena scratch = {0};
	struct text text = {.arena = &scratch};
	size_t length;
	const char *from = py_text(l->tree, node, &length);
	bool hex = length > 1 && (from[1] | 0x20) == 'x';
	enum ir_sub sub = py_kind(l->tree, node) == PY_integer ? SUB_const_int : SUB_const_float;

	for (size_t i = 0; i < length; i++) {
		if (!hex && (from[i] | 0x20) == 'j')
			sub = SUB_const_imaginary;
		else if (from[i] != '_' && (from[i] | 0x20) != 'l')
			text_add_char(&text, from[i]);
	}
	py_const(l, sub, intern_text(l->module->names, text_chars(&text), text.length),
	         py_span(l, node));
	arena_release(&scratch);
}
