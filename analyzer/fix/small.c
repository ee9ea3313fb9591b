/* One argument, one call, one attribute. */

#include <string.h>

#include "analyzer/fix/edit.h"

static uint32_t find_keyword(const struct fixer *f, uint32_t in, const char *name)
{
	for (uint32_t n = in; n < f->tree.nodes[in].next; n++) {
		if (py_kind(&f->tree, n) == PY_keyword_argument &&
		    fixer_has_text(f, py_field(&f->tree, n, PY_F_name), name))
			return n;
	}
	return 0;
}

/* An argument goes with the comma that parts it from its neighbour. */
static struct span with_comma(const struct fixer *f, uint32_t argument)
{
	const uint32_t list = f->parents[argument];
	const uint32_t next = py_next(&f->tree, list, argument);
	struct span span = f->tree.nodes[argument].span;
	uint32_t before = 0;

	for (uint32_t c = py_first(&f->tree, list); c && c != argument;
	     c = py_next(&f->tree, list, c))
		before = c;
	if (before)
		span.start = f->tree.nodes[before].span.end;
	else if (next)
		span.end = f->tree.nodes[next].span.start;
	return span;
}

void fix_retained(struct fixer *f)
{
	const uint32_t argument = find_keyword(f, f->statement, "retain_graph");
	edit_list edits = {0};

	if (!argument)
		return;
	fixer_replace(f, &edits, with_comma(f, argument), "");
	fixer_offer(f, &edits, true, NULL);
}

void fix_flushed(struct fixer *f)
{
	const struct source *source = f->finding->source;
	struct span span = f->tree.nodes[f->statement].span;
	const uint32_t first = source_line_at(source, span.start);
	const uint32_t last = source_line_at(source, span.end);
	const struct span lines = {source_line_span(source, first).start,
	                           last + 1 < source->line_count ? source->lines[last + 1]
	                                                         : source->length};
	const uint32_t block = f->parents[f->statement];
	edit_list edits = {0};
	bool alone = true;

	if (py_kind(&f->tree, f->statement) != PY_expression_statement)
		return;
	for (uint32_t i = lines.start; i < span.start; i++)
		alone = alone && strchr(" \t", source->text[i]);
	for (uint32_t i = span.end; alone && i < lines.end && source->text[i] != '#'; i++)
		alone = strchr(" \t\r\n", source->text[i]) != NULL;
	if (py_child_count(&f->tree, block) < 2 || !alone)
		fixer_replace(f, &edits, span, "pass");
	else
		fixer_replace(f, &edits, lines, "");
	fixer_offer(f, &edits, true, NULL);
}

void fix_data(struct fixer *f)
{
	uint32_t at = 0;
	edit_list edits = {0};

	for (uint32_t n = f->node; n < f->tree.nodes[f->node].next; n++) {
		if (py_kind(&f->tree, n) == PY_attribute &&
		    fixer_has_text(f, py_field(&f->tree, n, PY_F_attribute), "data")) {
			at = py_field(&f->tree, n, PY_F_attribute);
			break;
		}
	}
	if (!at)
		return;
	fixer_replace(f, &edits, f->tree.nodes[at].span, "detach()");
	fixer_offer(f, &edits, true, NULL);
}

/* Saved in forward, read in backward. Calls that are there already stay: then
 * there is no edit, because their order is somebody's. */
void fix_context(struct fixer *f)
{
	const uint32_t class = fixer_around(f, f->node, PY_class_definition);
	const uint32_t assignment = fixer_around(f, f->node, PY_assignment);
	const uint32_t at = assignment ? assignment : py_first(&f->tree, f->statement);
	const uint32_t left =
	        py_kind(&f->tree, at) == PY_assignment ? py_field(&f->tree, at, PY_F_left) : 0;
	struct text save = {.arena = f->arena}, read = {.arena = f->arena};
	edit_list edits = {0};

	if (!class || !left || py_kind(&f->tree, left) != PY_attribute)
		return;
	for (uint32_t n = class; n < f->tree.nodes[class].next; n++) {
		if (fixer_calls(f, n, "save_for_backward"))
			return;
		if (n != left && py_kind(&f->tree, n) == PY_attribute &&
		    fixer_same_text(f, n, left)) {
			text_cut(&read, 0);
			text_print(&read, "%s.saved_tensors[0]",
			           fixer_text(f, py_field(&f->tree, n, PY_F_object)));
			fixer_replace(f, &edits, f->tree.nodes[n].span,
			              arena_text(f->arena, text_chars(&read), read.length));
		}
	}
	text_print(&save, "%s.save_for_backward(%s)",
	           fixer_text(f, py_field(&f->tree, left, PY_F_object)),
	           fixer_text(f, py_field(&f->tree, at, PY_F_right)));
	fixer_replace(f, &edits, f->tree.nodes[at].span, text_chars(&save));
	fixer_offer(f, &edits, true, NULL);
}
