#ifndef GRAPHLINT_SOURCE_SOURCE_H
#define GRAPHLINT_SOURCE_SOURCE_H

/* A file as the analyser sees it: UTF-8 text, whatever the bytes on disk were.
 * Spans are byte offsets into that text; people see rows and columns from 1,
 * columns in code points, rows within the cell in a notebook. Everything lives
 * in the arena that the source was opened in; a source never changes.
 * A source can always be had from bytes: what could not be decoded becomes
 * U+FFFD, one a byte, and a note says so. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/base/arena.h"
#include "analyzer/base/text.h"
#include "analyzer/base/vec.h"
#include "analyzer/source/span.h"

/* NULs after the text, for readers that look at a block of bytes at once. */
enum { SOURCE_PADDING = 64 };

/* A damaged place of a wide encoding: its bytes are not kept. */
enum { SOURCE_BYTES_LOST = 256 };

/* Something about the bytes that the user must be told once. */
struct source_note {
	struct span span;
	const char *message;
};

/* A code cell of a notebook. Its text ends with a newline that may be ours. */
struct source_cell {
	struct span span;
	uint32_t number; /* from 1, markdown cells are counted */
	uint32_t line;   /* index of its first line */
};

/* The character at `offset` stands for this byte of the file. */
struct source_damage {
	uint32_t offset;
	uint32_t byte;
};

struct source {
	const char *path;  /* as given: for people */
	const char *bytes; /* as on disk */
	size_t size;
	const char *text; /* SOURCE_PADDING NULs follow */
	uint32_t length;
	const uint32_t *lines; /* where each begins; the first at 0 */
	uint32_t line_count;   /* at least 1 */
	const char *encoding;  /* "utf-8", or as iconv calls it */
	bool has_bom;
	bool is_notebook;
	VEC(struct source_cell) cells; /* of a notebook, in order */
	VEC(struct source_note) notes;
	VEC(struct source_damage) damage; /* by offset */
};

struct position {
	uint32_t row;
	uint32_t column;
	uint32_t cell; /* 0: not in a notebook */
};

enum source_failure {
	SOURCE_READ,
	SOURCE_UNREADABLE, /* missing, no permission, a directory, a device */
	SOURCE_TOO_LARGE,
	SOURCE_NOT_OURS, /* a notebook in another language */
	SOURCE_BROKEN,   /* a notebook that is no JSON, or no notebook */
};

struct source_problem {
	enum source_failure failure;
	const char *message; /* "Permission denied"; in the arena */
};

/* NULL: `problem` says why. The file is read once; a pipe or a device is not. */
struct source *source_open(struct arena *arena, const char *path, struct source_problem *problem);
/* Standard input, known to people as `path`. */
struct source *source_open_stdin(struct arena *arena, const char *path,
                                 struct source_problem *problem);
/* The bytes are copied. A path that ends in .ipynb is a notebook. */
struct source *source_from_bytes(struct arena *arena, const char *path, const char *bytes,
                                 size_t size, struct source_problem *problem);

struct position source_position(const struct source *source, uint32_t offset);
/* The nearest offset when there is no such place. */
uint32_t source_offset(const struct source *source, struct position position);
/* Index into `lines` of the line that `offset` is on. */
uint32_t source_line_at(const struct source *source, uint32_t offset);
/* A line without its end; empty when there is none. */
struct span source_line_span(const struct source *source, uint32_t line);
/* The cell that `offset` is in; NULL when not in a notebook. */
const struct source_cell *source_cell_at(const struct source *source, uint32_t offset);
/* Code units between two offsets of one line, for editors. */
uint32_t source_utf16_units(const struct source *source, uint32_t from, uint32_t to);

/* Appends the file's own bytes for a piece of the text (not of a notebook),
 * and the bytes that new text has in the file's encoding; false: it has none. */
bool source_encode_span(const struct source *source, struct span span, struct text *out);
bool source_encode_text(const struct source *source, const char *utf8, size_t length,
                        struct text *out);

#endif
