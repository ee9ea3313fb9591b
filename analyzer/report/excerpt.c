#include "analyzer/report/excerpt.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/report/utf8.h"

enum {
	TAB_COLUMNS = 4,
	SHOWN_COLUMNS = 160,  /* longer lines are cut */
	CONTEXT_SHARE = 4,    /* of a cut line, this part is before the first mark */
	WHOLE_MARK_LINES = 4, /* of longer marks, the first and the last line */
};

/* A part of a mark that is on one line. */
struct piece {
	uint32_t line;
	unsigned start, end; /* columns, from 0 */
	bool primary;
	const char *label;
};

struct drawing {
	struct arena *scratch;
	const struct source *source;
	const struct excerpt_look *look;
	struct text *out;
	VEC(struct piece) pieces; /* by line, then start */
};

/* lines as they are shown */

/* Appends the line's characters from byte `from` to `to`; returns the column
 * reached when starting at `column`. `out` NULL: only count. */
static unsigned show_bytes(const struct source *source, uint32_t from, uint32_t to, unsigned column,
                           struct text *out, struct text *spare)
{
	struct text *into = out ? out : spare;

	for (size_t at = from; at < to;) {
		uint32_t c = utf8_next(source->text, to, &at);

		if (c == '\t') {
			unsigned blanks = TAB_COLUMNS - column % TAB_COLUMNS;

			text_add_repeated(into, ' ', blanks);
			column += blanks;
		} else {
			column += show_character(into, c);
		}
		if (!out)
			text_cut(spare, 0);
	}
	return column;
}

static unsigned column_of(const struct drawing *drawing, uint32_t line, uint32_t offset)
{
	struct text spare = {.arena = drawing->scratch};
	struct span span = source_line_span(drawing->source, line);

	if (offset > span.end)
		offset = span.end;
	return show_bytes(drawing->source, span.start, offset, 0, NULL, &spare);
}

/* Where the line's first character that is no blank stands. */
static uint32_t line_indent_end(const struct source *source, uint32_t line)
{
	struct span span = source_line_span(source, line);

	while (span.start < span.end && strchr(" \t", source->text[span.start]) &&
	       source->text[span.start])
		span.start++;
	return span.start;
}

/* pieces */

static void add_piece(struct drawing *drawing, const struct excerpt_mark *mark, uint32_t line,
                      uint32_t from, uint32_t to, bool labelled)
{
	struct piece piece = {
	        .line = line,
	        .start = column_of(drawing, line, from),
	        .end = column_of(drawing, line, to),
	        .primary = mark->primary,
	        .label = labelled ? mark->label : NULL,
	};

	if (piece.end <= piece.start)
		piece.end = piece.start + 1;
	vec_push(drawing->scratch, &drawing->pieces, piece);
}

static void add_mark(struct drawing *drawing, const struct excerpt_mark *mark)
{
	const struct source *source = drawing->source;
	uint32_t end = mark->span.end > mark->span.start ? mark->span.end - 1 : mark->span.end;
	uint32_t first = source_line_at(source, mark->span.start);
	uint32_t last = source_line_at(source, end);

	for (uint32_t line = first; line <= last; line++) {
		struct span span = source_line_span(source, line);
		uint32_t from = line == first ? mark->span.start : line_indent_end(source, line);
		uint32_t to = line == last ? mark->span.end : span.end;

		if (line > first && line < last &&
		    (last - first >= WHOLE_MARK_LINES || from >= span.end))
			continue;
		add_piece(drawing, mark, line, from, to, line == last);
	}
}

static int compare_pieces(const void *left, const void *right)
{
	const struct piece *a = left;
	const struct piece *b = right;

	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->end != b->end)
		return a->end < b->end ? -1 : 1;
	if (a->primary != b->primary)
		return a->primary ? -1 : 1;
	return strcmp(a->label ? a->label : "", b->label ? b->label : "");
}

/* rows of the drawing */

void excerpt_gap(const struct excerpt_look *look, struct text *out)
{
	style_on(out, look->color, STYLE_FRAME);
	text_add_repeated(out, ' ', look->gutter + 1);
	text_add_char(out, '|');
	style_off(out, look->color, STYLE_FRAME);
}

static void end_row(struct text *out)
{
	while (out->length && out->at[out->length - 1] == ' ')
		text_cut(out, out->length - 1);
	text_add_char(out, '\n');
}

/* The columns of a line that are shown: all, or a part around its marks. */
struct window {
	unsigned start, end;
	bool cut_before, cut_after;
};

static struct window window_of(const struct drawing *drawing, uint32_t line,
                               const struct piece *first)
{
	struct span span = source_line_span(drawing->source, line);
	unsigned width = column_of(drawing, line, span.end);
	struct window window = {0, width, false, false};
	const unsigned shown = drawing->look->columns ? drawing->look->columns : SHOWN_COLUMNS;
	const unsigned context = shown / CONTEXT_SHARE;

	if (width <= shown)
		return window;
	if (first && first->start > context)
		window.start = first->start - context;
	window.cut_before = window.start > 0;
	window.cut_after = width - window.start > shown;
	if (window.cut_after)
		window.end = window.start + shown;
	return window;
}

static void show_window(const struct drawing *drawing, uint32_t line, struct window window,
                        struct text *out)
{
	struct span span = source_line_span(drawing->source, line);
	struct text spare = {.arena = drawing->scratch};
	unsigned column = 0;

	for (size_t at = span.start; at < span.end;) {
		size_t from = at;
		unsigned next;

		utf8_next(drawing->source->text, span.end, &at);
		next = show_bytes(drawing->source, (uint32_t)from, (uint32_t)at, column, NULL,
		                  &spare);
		if (column >= window.start && next <= window.end)
			show_bytes(drawing->source, (uint32_t)from, (uint32_t)at, column, out,
			           &spare);
		else if (column < window.start && next > window.start)
			text_add_repeated(out, ' ', next - window.start);
		column = next;
	}
}

static void draw_source_line(const struct drawing *drawing, uint32_t line, struct window window)
{
	struct span span = source_line_span(drawing->source, line);
	struct position position = source_position(drawing->source, span.start);
	struct text *out = drawing->out;

	style_on(out, drawing->look->color, STYLE_FRAME);
	text_print(out, "%*u |", (int)drawing->look->gutter, position.row);
	style_off(out, drawing->look->color, STYLE_FRAME);
	text_add_chars(out, window.cut_before ? "…" : " ");
	show_window(drawing, line, window, out);
	text_add_chars(out, window.cut_after ? "…" : "");
	end_row(out);
}

static void start_row(const struct drawing *drawing)
{
	excerpt_gap(drawing->look, drawing->out);
	text_add_char(drawing->out, ' ');
}

static enum style style_of(const struct drawing *drawing, bool primary)
{
	return primary ? drawing->look->primary : STYLE_SECOND;
}

/* A piece as seen through the window: in columns of the row. */
static struct piece seen(const struct piece *piece, struct window window)
{
	struct piece moved = *piece;
	unsigned width = window.end - window.start;

	moved.start = piece->start > window.start ? piece->start - window.start : 0;
	moved.end = piece->end > window.start ? piece->end - window.start : 0;
	if (window.cut_after && moved.start >= width)
		moved.start = width ? width - 1 : 0;
	if (window.cut_after && moved.end > width)
		moved.end = width;
	if (moved.end <= moved.start)
		moved.end = moved.start + 1;
	return moved;
}

/* The primary mark is drawn over the others. */
static unsigned draw_underlines(const struct drawing *drawing, const struct piece *pieces,
                                uint32_t count)
{
	struct text cells = {.arena = drawing->scratch};
	struct text *out = drawing->out;
	bool color = drawing->look->color;

	for (int primary = 0; primary < 2; primary++) {
		for (uint32_t i = 0; i < count; i++) {
			if (pieces[i].primary != (bool)primary)
				continue;
			if (cells.length < pieces[i].end)
				text_add_repeated(&cells, ' ', pieces[i].end - cells.length);
			memset(cells.at + pieces[i].start, primary ? '^' : '-',
			       pieces[i].end - pieces[i].start);
		}
	}
	for (size_t at = 0; at < cells.length;) {
		char mark = cells.at[at];
		size_t run = at;
		enum style style = mark == ' ' ? STYLE_PLAIN : style_of(drawing, mark == '^');

		while (run < cells.length && cells.at[run] == mark)
			run++;
		style_on(out, color, style);
		text_add(out, cells.at + at, run - at);
		style_off(out, color, style);
		at = run;
	}
	return (unsigned)cells.length;
}

static void draw_label(const struct drawing *drawing, const struct piece *piece)
{
	enum style style = style_of(drawing, piece->primary);

	style_on(drawing->out, drawing->look->color, style);
	show_text(drawing->out, piece->label);
	style_off(drawing->out, drawing->look->color, style);
}

/* A bar under each labelled piece that starts before `limit`; returns the column. */
static unsigned draw_bars(const struct drawing *drawing, const struct piece *pieces, uint32_t count,
                          unsigned limit)
{
	unsigned column = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (!pieces[i].label || pieces[i].start >= limit || pieces[i].start < column)
			continue;
		text_add_repeated(drawing->out, ' ', pieces[i].start - column);
		style_text(drawing->out, drawing->look->color, style_of(drawing, pieces[i].primary),
		           "|");
		column = pieces[i].start + 1;
	}
	return column;
}

/* The labels that did not fit beside the underlines, the rightmost first. */
static void draw_hanging_labels(const struct drawing *drawing, const struct piece *pieces,
                                uint32_t count)
{
	bool first = true;

	for (uint32_t i = count; i--;) {
		unsigned column;

		if (!pieces[i].label)
			continue;
		if (first) {
			start_row(drawing);
			draw_bars(drawing, pieces, count, UINT32_MAX);
			end_row(drawing->out);
			first = false;
		}
		start_row(drawing);
		column = draw_bars(drawing, pieces, count, pieces[i].start);
		text_add_repeated(drawing->out, ' ', pieces[i].start - column);
		draw_label(drawing, &pieces[i]);
		end_row(drawing->out);
	}
}

/* The label that stands beside the underlines: the primary one's if its
 * underline reaches the end, else the last one's. */
static struct piece *label_beside(struct piece *pieces, uint32_t count, unsigned width)
{
	struct piece *found = NULL;

	for (uint32_t i = 0; i < count; i++) {
		if (pieces[i].label && pieces[i].end == width && !(found && found->primary))
			found = &pieces[i];
	}
	return found;
}

static void draw_marks(const struct drawing *drawing, const struct piece *first, uint32_t count,
                       struct window window)
{
	struct piece *pieces = arena_array(drawing->scratch, struct piece, count);
	struct piece *beside;
	unsigned width;

	for (uint32_t i = 0; i < count; i++)
		pieces[i] = seen(&first[i], window);
	start_row(drawing);
	width = draw_underlines(drawing, pieces, count);
	beside = label_beside(pieces, count, width);
	if (beside) {
		text_add_char(drawing->out, ' ');
		draw_label(drawing, beside);
		beside->label = NULL;
	}
	end_row(drawing->out);
	draw_hanging_labels(drawing, pieces, count);
}

static void draw_line(const struct drawing *drawing, uint32_t line, const struct piece *first,
                      uint32_t count)
{
	struct window window = window_of(drawing, line, first);

	draw_source_line(drawing, line, window);
	if (count)
		draw_marks(drawing, first, count, window);
}

/* One line between two marked ones is shown, more are left out. */
static void draw_between(const struct drawing *drawing, uint32_t before, uint32_t line)
{
	if (line - before == 2)
		draw_line(drawing, before + 1, NULL, 0);
	else if (line - before > 2)
		style_text(drawing->out, drawing->look->color, STYLE_FRAME, "...\n");
}

unsigned excerpt_gutter(const struct source *source, const excerpt_marks *marks)
{
	uint32_t most = 1;
	unsigned digits = 1;

	for (uint32_t i = 0; i < marks->count; i++) {
		struct position first = source_position(source, marks->at[i].span.start);
		struct position last = source_position(source, marks->at[i].span.end);

		most = first.row > most ? first.row : most;
		most = last.row > most ? last.row : most;
	}
	for (; most >= 10; most /= 10)
		digits++;
	return digits;
}

void excerpt_print(struct arena *scratch, const struct source *source, excerpt_marks *marks,
                   const struct excerpt_look *look, struct text *out)
{
	struct drawing drawing = {.scratch = scratch, .source = source, .look = look, .out = out};

	for (uint32_t i = 0; i < marks->count; i++)
		add_mark(&drawing, &marks->at[i]);
	if (!drawing.pieces.count)
		return;
	qsort(drawing.pieces.at, drawing.pieces.count, sizeof(struct piece), compare_pieces);
	for (uint32_t i = 0, next; i < drawing.pieces.count; i = next) {
		uint32_t line = drawing.pieces.at[i].line;

		for (next = i; next < drawing.pieces.count && drawing.pieces.at[next].line == line;)
			next++;
		if (i)
			draw_between(&drawing, drawing.pieces.at[i - 1].line, line);
		draw_line(&drawing, line, &drawing.pieces.at[i], next - i);
	}
}
