#include "analyzer/fix/edit.h"

#include <string.h>

#include "analyzer/base/bug.h"

/* tree */

static void find_parents(struct fixer *f)
{
	VEC(uint32_t) open = {0};

	f->parents = arena_array(&f->scratch, uint32_t, f->tree.count + 1);
	for (uint32_t n = 0; n < f->tree.count; n++) {
		while (open.count && f->tree.nodes[open.at[open.count - 1]].next <= n)
			open.count--;
		f->parents[n] = open.count ? open.at[open.count - 1] : 0;
		vec_push(&f->scratch, &open, n);
	}
}

/* The outermost node with exactly the finding's span, else the innermost around it. */
static uint32_t find_node(const struct fixer *f, struct span span)
{
	uint32_t best = 0;

	for (uint32_t n = 0; n < f->tree.count; n++) {
		const struct span at = f->tree.nodes[n].span;

		/* a block may be as long as its only statement */
		if (at.start == span.start && at.end == span.end && n &&
		    py_kind(&f->tree, n) != PY_block)
			return n;
		if (at.start <= span.start && at.end >= span.end)
			best = n;
	}
	return best;
}

bool fixer_is_statement(const struct fixer *f, uint32_t node)
{
	const enum py_kind up = py_kind(&f->tree, f->parents[node]);

	return node && (up == PY_block || up == PY_module);
}

void fixer_open(struct fixer *f, struct arena *arena, const struct finding *finding,
                struct front_syntax *syntax, fix_list *fixes)
{
	struct ir_module module = {.arena = arena};
	struct front_result result = {.module = &module};

	*f = (struct fixer){.arena = arena, .finding = finding, .fixes = fixes};
	module.arena = &f->scratch;
	py_tree_parse(&f->tree, &f->scratch, &result, finding->source, syntax);
	find_parents(f);
	f->node = find_node(f, finding->span);
	f->statement = f->node;
	while (f->statement && !fixer_is_statement(f, f->statement))
		f->statement = f->parents[f->statement];
}

void fixer_release(struct fixer *f)
{
	arena_release(&f->scratch);
}

uint32_t fixer_around(const struct fixer *f, uint32_t node, enum py_kind kind)
{
	while (node && py_kind(&f->tree, node) != kind)
		node = f->parents[node];
	return node;
}

uint32_t fixer_loop(const struct fixer *f, uint32_t node)
{
	for (; node; node = f->parents[node]) {
		const enum py_kind kind = py_kind(&f->tree, node);

		if (kind == PY_for_statement || kind == PY_while_statement)
			return node;
		if (kind == PY_function_definition || kind == PY_class_definition)
			return 0;
	}
	return 0;
}

bool fixer_same_text(const struct fixer *f, uint32_t a, uint32_t b)
{
	size_t la, lb;
	const char *ta = py_text(&f->tree, a, &la), *tb = py_text(&f->tree, b, &lb);

	return la == lb && !memcmp(ta, tb, la);
}

bool fixer_has_text(const struct fixer *f, uint32_t node, const char *text)
{
	size_t length;
	const char *at = py_text(&f->tree, node, &length);

	return length == strlen(text) && !memcmp(at, text, length);
}

bool fixer_calls(const struct fixer *f, uint32_t call, const char *name)
{
	uint32_t callee =
	        py_kind(&f->tree, call) == PY_call ? py_field(&f->tree, call, PY_F_function) : 0;

	if (callee && py_kind(&f->tree, callee) == PY_attribute)
		callee = py_field(&f->tree, callee, PY_F_attribute);
	return callee && fixer_has_text(f, callee, name);
}

const char *fixer_text(const struct fixer *f, uint32_t node)
{
	size_t length;
	const char *text = py_text(&f->tree, node, &length);

	return arena_text(f->arena, text, length);
}

/* edits */

void fixer_replace(struct fixer *f, edit_list *edits, struct span span, const char *text)
{
	const struct finding_edit edit = {span, text};
	uint32_t at;

	vec_push(f->arena, edits, edit);
	for (at = edits->count - 1; at && edits->at[at - 1].span.start > span.start; at--)
		edits->at[at] = edits->at[at - 1];
	edits->at[at] = edit;
}

void fixer_insert(struct fixer *f, edit_list *edits, uint32_t at, const char *text)
{
	fixer_replace(f, edits, (struct span){at, at}, text);
}

static bool binds_tightly(enum py_kind kind)
{
	return kind == PY_identifier || kind == PY_attribute || kind == PY_subscript ||
	       kind == PY_call || kind == PY_parenthesized_expression;
}

void fixer_suffix(struct fixer *f, edit_list *edits, uint32_t node, const char *suffix)
{
	const struct span span = f->tree.nodes[node].span;
	struct text end = {.arena = f->arena};

	if (!binds_tightly(py_kind(&f->tree, node))) {
		fixer_insert(f, edits, span.start, "(");
		text_add_char(&end, ')');
	}
	text_add_chars(&end, suffix);
	fixer_insert(f, edits, span.end, text_chars(&end));
}

static const char *imported_as(const struct fixer *f, uint32_t import)
{
	for (uint32_t c = py_first(&f->tree, import); c; c = py_next(&f->tree, import, c)) {
		if (fixer_has_text(f, c, "torch"))
			return "torch";
		if (py_kind(&f->tree, c) == PY_aliased_import &&
		    fixer_has_text(f, py_field(&f->tree, c, PY_F_name), "torch"))
			return fixer_text(f, py_field(&f->tree, c, PY_F_alias));
	}
	return NULL;
}

const char *fixer_torch(struct fixer *f, edit_list *edits)
{
	uint32_t first = 0;

	for (uint32_t c = py_first(&f->tree, 0); c; c = py_next(&f->tree, 0, c)) {
		const enum py_kind kind = py_kind(&f->tree, c);
		const char *name = kind == PY_import_statement ? imported_as(f, c) : NULL;

		if (name)
			return name;
		if (!first && (kind == PY_import_statement || kind == PY_import_from_statement))
			first = c;
	}
	if (first)
		fixer_insert(f, edits, f->tree.nodes[first].span.start, "import torch\n");
	return "torch";
}

/* Of the line of the last edit: an import above is not what matters. */
static const char *title_of(struct fixer *f, const struct source *fixed, const edit_list *edits)
{
	const struct finding_edit *last = &edits->at[edits->count - 1];
	uint32_t at = fix_move(edits, last->span.start);
	struct span line;
	struct text title = {.arena = f->arena};

	if (last->span.start == last->span.end && last->text[0] == ')')
		at = fix_move(edits, last->span.end) - 1;
	line = source_line_span(fixed, source_line_at(fixed, at));
	while (line.start < line.end && strchr(" \t", fixed->text[line.start]))
		line.start++;
	while (line.end > line.start && strchr(" \t\r", fixed->text[line.end - 1]))
		line.end--;
	for (uint32_t i = line.start; i < line.end; i++) {
		if (fixed->text[i] == '#' && i > line.start && fixed->text[i - 1] == ' ') {
			line.end = i;
			while (line.end > line.start && fixed->text[line.end - 1] == ' ')
				line.end--;
		}
	}
	text_add_char(&title, '`');
	text_add(&title, fixed->text + line.start, line.end - line.start);
	text_add_char(&title, '`');
	return text_chars(&title);
}

void fixer_offer(struct fixer *f, edit_list *edits, bool safe, const char *changes)
{
	struct finding_fix fix = {.safe = safe, .changes = changes};
	const struct source *fixed;

	if (!edits->count || f->fixes->count >= FIX_MOST_CANDIDATES)
		return;
	fixed = fix_edited(&f->scratch, f->finding->source, edits);
	if (!fixed)
		return;
	fix.title = title_of(f, fixed, edits);
	for (uint32_t i = 0; i < edits->count; i++)
		vec_push(f->arena, &fix.edits, edits->at[i]);
	vec_push(f->arena, f->fixes, fix);
}
