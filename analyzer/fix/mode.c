/* Code that is put under a grad mode. */

#include <string.h>

#include "analyzer/fix/edit.h"

/* The lines from one statement to another one of the same block. */
struct lines {
	uint32_t first, last; /* indices */
};

static bool starts_its_line(const struct fixer *f, uint32_t statement)
{
	const struct source *source = f->finding->source;
	const uint32_t start = f->tree.nodes[statement].span.start;
	uint32_t at = source_line_span(source, source_line_at(source, start)).start;

	while (at < start && strchr(" \t", source->text[at]))
		at++;
	return at == start;
}

/* What begins inside a string is text, not indentation. */
static bool is_in_string(const struct fixer *f, uint32_t offset)
{
	for (uint32_t n = 0; n < f->tree.count; n++) {
		const struct span span = f->tree.nodes[n].span;

		if (py_kind(&f->tree, n) == PY_string && span.start < offset && offset < span.end)
			return true;
	}
	return false;
}

static struct lines lines_of(const struct fixer *f, uint32_t from, uint32_t to)
{
	const struct source *source = f->finding->source;

	return (struct lines){source_line_at(source, f->tree.nodes[from].span.start),
	                      source_line_at(source, f->tree.nodes[to].span.end - 1)};
}

static void indent(struct fixer *f, edit_list *edits, struct lines lines)
{
	const struct source *source = f->finding->source;

	for (uint32_t i = lines.first; i <= lines.last; i++) {
		const struct span line = source_line_span(source, i);
		uint32_t at = line.start;

		while (at < line.end && strchr(" \t\r", source->text[at]))
			at++;
		if (at < line.end && !is_in_string(f, line.start))
			fixer_insert(f, edits, line.start,
			             source->text[line.start] == '\t' ? "\t" : "    ");
	}
}

/* Puts a header above the lines and indents them. */
static void wrap(struct fixer *f, edit_list *edits, uint32_t from, uint32_t to, const char *header)
{
	const struct source *source = f->finding->source;
	const struct lines lines = lines_of(f, from, to);
	const struct span first = source_line_span(source, lines.first);
	struct text text = {.arena = f->arena};
	const uint32_t start = f->tree.nodes[from].span.start;

	text_add(&text, source->text + first.start, start - first.start);
	text_print(&text, "%s\n", header);
	fixer_insert(f, edits, first.start, text_chars(&text));
	indent(f, edits, lines);
}

static const char *mode_header(struct fixer *f, edit_list *edits)
{
	struct text text = {.arena = f->arena};

	text_print(&text, "with %s.no_grad():", fixer_torch(f, edits));
	return text_chars(&text);
}

static const char *title(struct fixer *f, const char *header, uint32_t from, uint32_t to)
{
	const struct lines lines = lines_of(f, from, to);
	struct text text = {.arena = f->arena};
	const struct source *source = f->finding->source;
	const uint32_t first = source_position(source, source->lines[lines.first]).row;

	if (lines.first == lines.last)
		text_print(&text, "`%s` around line %u", header, first);
	else
		text_print(&text, "`%s` around lines %u-%u", header, first,
		           first + lines.last - lines.first);
	return text_chars(&text);
}

static void offer_wrapped(struct fixer *f, uint32_t from, uint32_t to)
{
	edit_list edits = {0};
	const uint32_t before = f->fixes->count;
	const char *header;

	if (!from || !starts_its_line(f, from))
		return;
	header = mode_header(f, &edits);
	wrap(f, &edits, from, to, header);
	fixer_offer(f, &edits, true, NULL);
	if (f->fixes->count > before)
		f->fixes->at[before].title = title(f, header, from, to);
}

static uint32_t only_statement_of(const struct fixer *f, uint32_t loop)
{
	const uint32_t body = py_field(&f->tree, loop, PY_F_body);

	return py_child_count(&f->tree, body) == 1 ? py_first(&f->tree, body) : 0;
}

/* The update alone, or the loop that does nothing else. */
void fix_averaged(struct fixer *f)
{
	const uint32_t loop = fixer_loop(f, f->statement);

	if (loop && only_statement_of(f, loop) == f->statement)
		offer_wrapped(f, loop, loop);
	offer_wrapped(f, f->statement, f->statement);
	fix_summed(f);
}

void fix_evaluated(struct fixer *f)
{
	uint32_t loop = fixer_loop(f, f->node), inner = loop;

	for (uint32_t up = loop; up; up = fixer_loop(f, f->parents[up]))
		loop = up;
	offer_wrapped(f, loop, loop);
	if (inner != loop)
		offer_wrapped(f, inner, inner);
	offer_wrapped(f, f->statement, f->statement);
}

/* `with torch.no_grad:` lacks its call; a bare statement its block. */
void fix_entered(struct fixer *f)
{
	const uint32_t item = fixer_around(f, f->node, PY_with_item);
	const uint32_t block = f->parents[f->statement];
	edit_list edits = {0};
	uint32_t first = py_next(&f->tree, block, f->statement), last = first;
	struct text header = {.arena = f->arena};
	const struct span span = f->tree.nodes[f->statement].span;

	if (item) {
		fixer_insert(f, &edits, f->tree.nodes[f->node].span.end, "()");
		fixer_offer(f, &edits, true, NULL);
		return;
	}
	if (!first || py_kind(&f->tree, f->statement) != PY_expression_statement ||
	    !starts_its_line(f, f->statement) || !starts_its_line(f, first))
		return;
	for (uint32_t c = first; c; c = py_next(&f->tree, block, c))
		last = c;
	fixer_insert(f, &edits, span.start, "with ");
	fixer_insert(f, &edits, span.end, ":");
	indent(f, &edits, lines_of(f, first, last));
	text_print(&header, "with %s:", fixer_text(f, f->statement));
	fixer_offer(f, &edits, false, "what runs in the mode");
	if (f->fixes->count)
		f->fixes->at[f->fixes->count - 1].title =
		        title(f, text_chars(&header), first, last);
}
