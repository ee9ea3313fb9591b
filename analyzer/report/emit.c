#include "analyzer/report/emit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/report/utf8.h"

static void add_line(struct emitter *json)
{
	if (!json->indents)
		return;
	text_add_char(json->out, '\n');
	text_add_repeated(json->out, ' ', 2 * (size_t)json->depth);
}

static void add_escaped(struct text *out, uint32_t c)
{
	switch (c) {
	case '"':
		text_add_chars(out, "\\\"");
		break;
	case '\\':
		text_add_chars(out, "\\\\");
		break;
	case '\n':
		text_add_chars(out, "\\n");
		break;
	case '\r':
		text_add_chars(out, "\\r");
		break;
	case '\t':
		text_add_chars(out, "\\t");
		break;
	default:
		if (c < 0x20 || c == 0x7f)
			text_print(out, "\\u%04x", (unsigned)c);
		else
			text_add_code_point(out, c);
	}
}

static void add_string(struct text *out, const char *bytes, size_t length)
{
	size_t at = 0;

	text_add_char(out, '"');
	while (at < length)
		add_escaped(out, utf8_next(bytes, length, &at));
	text_add_char(out, '"');
}

/* What stands before a value: comma, line, name. */
static void begin(struct emitter *json, const char *name)
{
	if (json->filled[json->depth])
		text_add_char(json->out, ',');
	if (json->depth)
		add_line(json);
	json->filled[json->depth] = true;
	if (name) {
		add_string(json->out, name, strlen(name));
		text_add_chars(json->out, json->indents ? ": " : ":");
	}
}

static void open(struct emitter *json, const char *name, char bracket)
{
	begin(json, name);
	text_add_char(json->out, bracket);
	json->depth++;
	BUG_IF(json->depth >= JSON_DEPTH);
	json->filled[json->depth] = false;
}

static void close(struct emitter *json, char bracket)
{
	bool filled = json->filled[json->depth];

	BUG_IF(!json->depth);
	json->depth--;
	if (filled)
		add_line(json);
	text_add_char(json->out, bracket);
}

void emit_open_object(struct emitter *json, const char *name)
{
	open(json, name, '{');
}

void emit_close_object(struct emitter *json)
{
	close(json, '}');
}

void emit_open_array(struct emitter *json, const char *name)
{
	open(json, name, '[');
}

void emit_close_array(struct emitter *json)
{
	close(json, ']');
}

void emit_bytes(struct emitter *json, const char *name, const char *bytes, size_t length)
{
	begin(json, name);
	add_string(json->out, bytes, length);
}

void emit_text(struct emitter *json, const char *name, const char *value)
{
	emit_bytes(json, name, value, strlen(value));
}

void emit_number(struct emitter *json, const char *name, int64_t value)
{
	begin(json, name);
	text_print(json->out, "%lld", (long long)value);
}

void emit_real(struct emitter *json, const char *name, double value)
{
	char digits[40];

	if (!isfinite(value)) {
		emit_null(json, name);
		return;
	}
	begin(json, name);
	for (int precision = 1; precision <= 17; precision++) {
		snprintf(digits, sizeof(digits), "%.*g", precision, value);
		if (strtod(digits, NULL) == value)
			break;
	}
	text_add_chars(json->out, digits);
}

void emit_bool(struct emitter *json, const char *name, bool value)
{
	begin(json, name);
	text_add_chars(json->out, value ? "true" : "false");
}

void emit_null(struct emitter *json, const char *name)
{
	begin(json, name);
	text_add_chars(json->out, "null");
}
