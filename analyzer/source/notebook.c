#include "analyzer/source/notebook.h"

#include <jansson.h>
#include <string.h>

#include "analyzer/base/text.h"
#include "analyzer/source/magic.h"

struct reading {
	struct arena *arena;
	struct source *source;
	struct text text;
};

static bool fail(struct arena *arena, struct source_problem *problem, enum source_failure failure,
                 const char *format, ...) GL_PRINTF(4, 5);

static bool fail(struct arena *arena, struct source_problem *problem, enum source_failure failure,
                 const char *format, ...)
{
	struct text message = {.arena = arena};
	va_list arguments;

	va_start(arguments, format);
	text_vprint(&message, format, arguments);
	va_end(arguments);
	problem->failure = failure;
	problem->message = message.at;
	return false;
}

static void note_cell(struct reading *r, struct span span, struct text *message)
{
	vec_push(r->arena, &r->source->notes, (struct source_note){span, text_chars(message)});
}

/* A multi-line string is one string or a list of them. */
static void add_multiline(struct text *out, const json_t *value)
{
	const json_t *line;
	size_t i;

	if (json_is_string(value))
		text_add(out, json_string_value(value), json_string_length(value));
	json_array_foreach(value, i, line) if (json_is_string(line))
	        text_add(out, json_string_value(line), json_string_length(line));
}

static bool is_python(const char *language)
{
	return !language || !strncmp(language, "python", 6) || !strcmp(language, "ipython");
}

static const char *member_text(const json_t *object, const char *first, const char *second)
{
	return json_string_value(json_object_get(json_object_get(object, first), second));
}

/* Lone carriage returns end lines here as in a file. */
static void unify_line_ends(char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (text[i] == '\r' && (i + 1 == length || text[i + 1] != '\n'))
			text[i] = '\n';
}

static void blank_whole(char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (text[i] != '\n' && text[i] != '\r')
			text[i] = ' ';
}

static void blank_magics(struct reading *r, struct span span, uint32_t number)
{
	struct text message = {.arena = r->arena};
	char *text = r->text.at + span.start;
	size_t length = span.end - span.start;

	if (magic_blank(text, length))
		return;
	/* Else the open string or bracket would swallow the cells that follow. */
	blank_whole(text, length);
	text_print(&message, "cell %u is not read: a string or a bracket is never closed", number);
	note_cell(r, span, &message);
}

static void read_code_cell(struct reading *r, const json_t *content, uint32_t number)
{
	struct span span = {(uint32_t)r->text.length, 0};
	struct text message = {.arena = r->arena};
	const char *magic;
	size_t length;

	add_multiline(&r->text, content);
	if (r->text.length == span.start)
		return;
	if (magic_other_language(r->text.at + span.start, r->text.length - span.start, &magic,
	                         &length)) {
		text_print(&message, "cell %u is not read: it begins with %%%%%.*s", number,
		           (int)length, magic);
		text_cut(&r->text, span.start);
		note_cell(r, (struct span){span.start, span.start}, &message);
		return;
	}
	if (r->text.at[r->text.length - 1] != '\n')
		text_add_char(&r->text, '\n');
	span.end = (uint32_t)r->text.length;
	unify_line_ends(r->text.at + span.start, span.end - span.start);
	blank_magics(r, span, number);
	vec_push(r->arena, &r->source->cells, (struct source_cell){span, number, 0});
}

static void read_cell(struct reading *r, const json_t *cell, uint32_t number)
{
	const char *type = json_string_value(json_object_get(cell, "cell_type"));
	const char *language = json_string_value(json_object_get(
	        json_object_get(json_object_get(cell, "metadata"), "vscode"), "languageId"));
	const json_t *content = json_object_get(cell, "source");

	if (!type || strcmp(type, "code") != 0 || !is_python(language))
		return;
	if (!content)
		content = json_object_get(cell, "input"); /* format 3 */
	read_code_cell(r, content, number);
}

static void read_cells(struct reading *r, const json_t *cells, uint32_t *number)
{
	const json_t *cell;
	size_t i;

	json_array_foreach(cells, i, cell) read_cell(r, cell, ++*number);
}

/* Format 4 has cells; format 3 has them in worksheets. */
static bool read_root(struct reading *r, const json_t *root, struct source_problem *problem)
{
	const json_t *metadata = json_object_get(root, "metadata");
	const json_t *cells = json_object_get(root, "cells");
	const json_t *sheets = json_object_get(root, "worksheets"), *sheet;
	const char *language = member_text(metadata, "language_info", "name");
	uint32_t number = 0;
	size_t i;

	if (!json_is_array(cells) && !json_is_array(sheets))
		return fail(r->arena, problem, SOURCE_BROKEN, "not a notebook: it has no cells");
	if (!language)
		language = member_text(metadata, "kernelspec", "language");
	if (!is_python(language))
		return fail(r->arena, problem, SOURCE_NOT_OURS, "a notebook in %s", language);
	read_cells(r, cells, &number);
	json_array_foreach(sheets, i, sheet)
	        read_cells(r, json_object_get(sheet, "cells"), &number);
	return true;
}

static void clear_spans(struct source *source)
{
	for (uint32_t i = 0; i < source->notes.count; i++)
		source->notes.at[i].span = (struct span){0, 0};
	source->damage.count = 0;
}

bool notebook_read(struct arena *arena, struct source *source, struct source_problem *problem)
{
	struct reading r = {.arena = arena, .source = source, .text = {.arena = arena}};
	json_error_t error;
	json_t *root;
	bool done;

	root = json_loadb(source->text, source->length, JSON_ALLOW_NUL, &error);
	if (!root)
		return fail(arena, problem, SOURCE_BROKEN, "line %d, column %d: %s", error.line,
		            error.column, error.text);
	clear_spans(source);
	text_reserve(&r.text, SOURCE_PADDING);
	done = read_root(&r, root, problem);
	json_decref(root);
	text_add_repeated(&r.text, '\0', SOURCE_PADDING);
	source->text = r.text.at;
	source->length = (uint32_t)(r.text.length - SOURCE_PADDING);
	return done;
}
