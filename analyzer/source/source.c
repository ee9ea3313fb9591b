#include "analyzer/source/source.h"

#include <string.h>
#include <unistd.h>

#include "analyzer/base/limits.h"
#include "analyzer/source/encoding.h"
#include "analyzer/source/notebook.h"
#include "analyzer/source/read.h"

static bool ends_with(const char *path, const char *suffix)
{
	size_t length = strlen(path), tail = strlen(suffix);

	return length >= tail && !strcmp(path + length - tail, suffix);
}

/* Opening */

static void index_lines(struct arena *arena, struct source *source)
{
	VEC(uint32_t) lines = {0};
	const char *at = source->text, *end = source->text + source->length;

	vec_push(arena, &lines, 0);
	while ((at = memchr(at, '\n', (size_t)(end - at)))) {
		at++;
		vec_push(arena, &lines, (uint32_t)(at - source->text));
	}
	source->lines = lines.at;
	source->line_count = lines.count;
}

static void number_cell_lines(struct source *source)
{
	for (uint32_t i = 0; i < source->cells.count; i++)
		source->cells.at[i].line = source_line_at(source, source->cells.at[i].span.start);
}

static struct source *source_from_raw(struct arena *arena, const char *path,
                                      const struct raw_bytes *raw, struct source_problem *problem)
{
	struct source *source = arena_new(arena, struct source);

	problem->failure = SOURCE_READ;
	problem->message = NULL;
	source->path = arena_text(arena, path, strlen(path));
	source->bytes = raw->at;
	source->size = raw->size;
	source->is_notebook = ends_with(path, ".ipynb");
	if (raw->changed)
		vec_push(arena, &source->notes,
		         (struct source_note){{0, 0}, "the file changed while it was read"});
	encoding_decode(arena, source);
	if (source->is_notebook && !notebook_read(arena, source, problem))
		return NULL;
	index_lines(arena, source);
	number_cell_lines(source);
	return source;
}

struct source *source_open(struct arena *arena, const char *path, struct source_problem *problem)
{
	struct raw_bytes raw;

	if (!read_file(arena, path, LIMIT_SOURCE_BYTES, &raw, problem))
		return NULL;
	return source_from_raw(arena, path, &raw, problem);
}

struct source *source_open_stdin(struct arena *arena, const char *path,
                                 struct source_problem *problem)
{
	struct raw_bytes raw;

	if (!read_stream(arena, STDIN_FILENO, LIMIT_SOURCE_BYTES, &raw, problem))
		return NULL;
	return source_from_raw(arena, path, &raw, problem);
}

struct source *source_from_bytes(struct arena *arena, const char *path, const char *bytes,
                                 size_t size, struct source_problem *problem)
{
	struct raw_bytes raw = {.size = size};

	if (size > LIMIT_SOURCE_BYTES) {
		*problem = (struct source_problem){SOURCE_TOO_LARGE, "too large"};
		return NULL;
	}
	raw.at = arena_alloc(arena, 1, size + SOURCE_PADDING);
	if (size)
		memcpy(raw.at, bytes, size);
	return source_from_raw(arena, path, &raw, problem);
}

/* Places */

uint32_t source_line_at(const struct source *source, uint32_t offset)
{
	uint32_t low = 0, high = source->line_count;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (source->lines[middle] <= offset)
			low = middle;
		else
			high = middle;
	}
	return low;
}

struct span source_line_span(const struct source *source, uint32_t line)
{
	struct span span = {source->length, source->length};

	if (line >= source->line_count)
		return span;
	span.start = source->lines[line];
	if (line + 1 < source->line_count)
		span.end = source->lines[line + 1] - 1;
	if (span.end > span.start && source->text[span.end - 1] == '\r')
		span.end--;
	return span;
}

const struct source_cell *source_cell_at(const struct source *source, uint32_t offset)
{
	uint32_t low = 0, high = source->cells.count;

	if (!high)
		return NULL;
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (source->cells.at[middle].span.start <= offset)
			low = middle;
		else
			high = middle;
	}
	return &source->cells.at[low];
}

static bool starts_code_point(char c)
{
	return ((unsigned char)c & 0xc0) != 0x80;
}

static uint32_t code_points(const char *text, uint32_t from, uint32_t to)
{
	uint32_t count = 0;

	for (uint32_t i = from; i < to; i++)
		count += starts_code_point(text[i]);
	return count;
}

uint32_t source_utf16_units(const struct source *source, uint32_t from, uint32_t to)
{
	uint32_t count = 0;

	for (uint32_t i = from; i < to; i++)
		count += starts_code_point(source->text[i]) +
		         ((unsigned char)source->text[i] >= 0xf0);
	return count;
}

struct position source_position(const struct source *source, uint32_t offset)
{
	struct position position = {0};
	const struct source_cell *cell;
	uint32_t line, start;

	if (offset > source->length)
		offset = source->length;
	line = source_line_at(source, offset);
	start = source->lines[line];
	position.row = line + 1;
	position.column = code_points(source->text, start, offset) + 1;
	cell = source_cell_at(source, offset);
	if (cell) {
		position.cell = cell->number;
		position.row -= cell->line;
	}
	return position;
}

/* The lines of a cell, or all of them. */
static bool lines_of_cell(const struct source *source, uint32_t number, uint32_t *first,
                          uint32_t *last)
{
	*first = 0;
	*last = source->line_count - 1;
	if (!source->cells.count)
		return true;
	for (uint32_t i = 0; i < source->cells.count; i++) {
		if (source->cells.at[i].number != number)
			continue;
		*first = source->cells.at[i].line;
		if (i + 1 < source->cells.count)
			*last = source->cells.at[i + 1].line - 1;
		return true;
	}
	return false;
}

uint32_t source_offset(const struct source *source, struct position position)
{
	uint32_t first, last, line, left;
	struct span span;

	if (!lines_of_cell(source, position.cell, &first, &last))
		return source->length;
	line = position.row ? position.row - 1 : 0;
	line = line > last - first ? last : first + line;
	span = source_line_span(source, line);
	left = position.column ? position.column - 1 : 0;
	while (left && span.start < span.end) {
		do
			span.start++;
		while (span.start < span.end && !starts_code_point(source->text[span.start]));
		left--;
	}
	return span.start;
}

/* Back to bytes */

static uint32_t first_damage(const struct source *source, uint32_t offset)
{
	uint32_t low = 0, high = source->damage.count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (source->damage.at[middle].offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool source_encode_text(const struct source *source, const char *utf8, size_t length,
                        struct text *out)
{
	return encoding_encode(source->encoding, utf8, length, out);
}

bool source_encode_span(const struct source *source, struct span span, struct text *out)
{
	uint32_t at = span.start;
	size_t before = out->length;
	bool done = true;

	for (uint32_t i = first_damage(source, at); i < source->damage.count && done; i++) {
		struct source_damage damage = source->damage.at[i];

		if (damage.offset >= span.end)
			break;
		done = damage.byte != SOURCE_BYTES_LOST &&
		       source_encode_text(source, source->text + at, damage.offset - at, out);
		text_add_char(out, (char)damage.byte);
		at = damage.offset + (damage.byte == '\r' ? 1 : 3);
	}
	done = done && source_encode_text(source, source->text + at, span.end - at, out);
	if (!done)
		text_cut(out, before);
	return done;
}
