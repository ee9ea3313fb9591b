#include <string.h>

#include "analyzer/front/python_lower.h"

/* The name as it is imported: dots and identifiers without blanks. */
static sym_id dotted(struct py_lower *l, uint32_t node)
{
	return py_annotation(l, node);
}

static void import(struct py_lower *l, sym_id module, enum ir_sub sub, struct span span)
{
	py_emit(l, OP_import, sub, module.n, span, 0);
}

/* `import a.b.c as d` binds what a.b.c is, `import a.b.c` binds a. */
static void import_one(struct py_lower *l, uint32_t name)
{
	uint32_t alias = 0, module = name;
	uint32_t first;

	if (py_kind(l->tree, name) == PY_aliased_import) {
		alias = py_field(l->tree, name, PY_F_alias);
		module = py_field(l->tree, name, PY_F_name);
	}
	first = module ? py_first(l->tree, module) : 0;
	if (!first)
		return;
	import(l, dotted(l, module), SUB_NONE, py_span(l, name));
	if (!alias) {
		py_assign_name(l, first);
		return;
	}
	for (uint32_t c = py_next(l->tree, module, first); c; c = py_next(l->tree, module, c)) {
		struct span span = {py_span(l, module).start, py_span(l, c).end};
		py_emit(l, OP_load_attr, SUB_NONE, py_ident(l, c).n, span, 1);
	}
	py_assign_name(l, alias);
}

void py_import(struct py_lower *l, uint32_t node)
{
	for (uint32_t c = py_first(l->tree, node); c; c = py_next(l->tree, node, c))
		if (l->tree->nodes[c].field == PY_F_name)
			import_one(l, c);
}

static void import_name(struct py_lower *l, uint32_t name)
{
	uint32_t what = name, bound = 0;

	if (py_kind(l->tree, name) == PY_aliased_import) {
		what = py_field(l->tree, name, PY_F_name);
		bound = py_field(l->tree, name, PY_F_alias);
	}
	what = what ? py_first(l->tree, what) : 0;
	if (!what) {
		py_drop(l, py_span(l, name));
		return;
	}
	py_emit(l, OP_import_from, SUB_NONE, py_ident(l, what).n, py_span(l, name), 1);
	py_assign_name(l, bound ? bound : what);
}

static uint32_t next_name(const struct py_lower *l, uint32_t node, uint32_t after)
{
	uint32_t c = after ? py_next(l->tree, node, after) : py_first(l->tree, node);

	while (c && l->tree->nodes[c].field != PY_F_name)
		c = py_next(l->tree, node, c);
	return c;
}

static void import_names(struct py_lower *l, uint32_t node, uint32_t first)
{
	struct span span = py_span(l, node);
	slot_id module = py_hidden(l);

	py_hidden_store(l, module, span);
	for (uint32_t c = first; c; c = next_name(l, node, c)) {
		if (next_name(l, node, c))
			py_hidden_load(l, module, span);
		else
			py_hidden_take(l, module, span);
		import_name(l, c);
	}
	py_hidden_free(l, module);
}

void py_import_from(struct py_lower *l, uint32_t node)
{
	uint32_t module = py_field(l->tree, node, PY_F_module_name);
	uint32_t first = next_name(l, node, 0);
	struct span span = py_span(l, node);
	sym_id name = module ? dotted(l, module) : (sym_id){0};

	if (py_kind(l->tree, node) == PY_future_import_statement)
		name = intern_text(l->module->names, "__future__", 10);
	import(l, name, SUB_import_leaf, span);
	if (py_child(l->tree, node, PY_wildcard_import))
		py_emit(l, OP_import_star, SUB_NONE, 0, span, 1);
	else if (!first)
		py_drop(l, span);
	else if (next_name(l, node, first))
		import_names(l, node, first);
	else
		import_name(l, first);
}
