/* A hook that uses the tensor it hangs on: it is given the value instead. */

#include "analyzer/fix/edit.h"

/* The definition of that name in the same block, before the statement; 0: none. */
static uint32_t find_definition(const struct fixer *f, uint32_t name)
{
	const uint32_t block = f->parents[f->statement];
	uint32_t found = 0;

	for (uint32_t c = py_first(&f->tree, block); c && c != f->statement;
	     c = py_next(&f->tree, block, c)) {
		if (py_kind(&f->tree, c) == PY_function_definition &&
		    fixer_same_text(f, py_field(&f->tree, c, PY_F_name), name))
			found = c;
	}
	return found;
}

/* What runs as the hook: a lambda, or a function that is defined before. */
static uint32_t find_hook(const struct fixer *f, uint32_t call)
{
	const uint32_t list = py_field(&f->tree, call, PY_F_arguments);
	const uint32_t hook = list ? py_first(&f->tree, list) : 0;

	if (!hook)
		return 0;
	if (py_kind(&f->tree, hook) == PY_identifier)
		return find_definition(f, hook);
	return py_kind(&f->tree, hook) == PY_lambda ? hook : 0;
}

/* `loud.register_hook`: loud; 0 when it hangs on something without a name. */
static uint32_t find_owner(const struct fixer *f, uint32_t call)
{
	uint32_t owner = py_field(&f->tree, call, PY_F_function);

	while (owner && py_kind(&f->tree, owner) == PY_attribute)
		owner = py_field(&f->tree, owner, PY_F_object);
	return owner && py_kind(&f->tree, owner) == PY_identifier ? owner : 0;
}

static bool is_name_of_other(const struct fixer *f, uint32_t node)
{
	const uint32_t up = f->parents[node];
	const uint8_t field = f->tree.nodes[node].field;

	return (py_kind(&f->tree, up) == PY_attribute && field == PY_F_attribute) ||
	       (py_kind(&f->tree, up) == PY_keyword_argument && field == PY_F_name);
}

static uint32_t find_call(const struct fixer *f)
{
	for (uint32_t n = f->statement; n < f->tree.nodes[f->statement].next; n++) {
		if (fixer_calls(f, n, "register_hook") || fixer_calls(f, n, "register_prehook"))
			return n;
	}
	return 0;
}

void fix_captured(struct fixer *f)
{
	const uint32_t call = find_call(f);
	const uint32_t owner = call ? find_owner(f, call) : 0;
	const uint32_t hook = call ? find_hook(f, call) : 0;
	const uint32_t before = hook && fixer_is_statement(f, hook) ? hook : f->statement;
	struct text line = {.arena = f->arena}, name = {.arena = f->arena};
	edit_list edits = {0};
	const struct source *source = f->finding->source;
	const uint32_t start = f->tree.nodes[before].span.start;
	const uint32_t first = source_line_span(source, source_line_at(source, start)).start;

	if (!owner || !hook)
		return;
	text_print(&name, "%s_value", fixer_text(f, owner));
	text_print(&line, "%s = %s.detach()\n", text_chars(&name), fixer_text(f, owner));
	text_add(&line, source->text + first, start - first);
	fixer_insert(f, &edits, start, text_chars(&line));
	for (uint32_t n = hook; n < f->tree.nodes[hook].next; n++) {
		if (py_kind(&f->tree, n) == PY_identifier && fixer_same_text(f, n, owner) &&
		    !is_name_of_other(f, n))
			fixer_replace(f, &edits, f->tree.nodes[n].span, text_chars(&name));
	}
	if (edits.count > 1)
		fixer_offer(f, &edits, true, NULL);
}
