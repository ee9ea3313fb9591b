#include "analyzer/front/python_lower.h"

/* Positional operands that were pushed since `base`, as one unpacked tuple. */
static void fold_positional(struct py_lower *l, uint32_t base, struct span span)
{
	if (l->pending.count - base < PY_OPERANDS_MAX)
		return;
	py_emit(l, OP_build, SUB_build_tuple, 0, span, l->pending.count - base);
	py_keyword(l, sym(SYM_star));
}

static bool is_keyword(const struct py_lower *l, uint32_t argument)
{
	enum py_kind kind = py_kind(l->tree, argument);

	return kind == PY_keyword_argument || kind == PY_dictionary_splat;
}

static void positional(struct py_lower *l, uint32_t argument)
{
	uint32_t node = py_unwrap(l->tree, argument);
	enum py_kind kind = py_kind(l->tree, node);

	while (kind == PY_parenthesized_list_splat && py_first(l->tree, node)) {
		node = py_first(l->tree, node);
		kind = py_kind(l->tree, node);
	}
	if ((kind == PY_list_splat || kind == PY_list_splat_pattern) && py_first(l->tree, node)) {
		py_expr(l, py_first(l->tree, node));
		py_keyword(l, sym(SYM_star));
	} else {
		py_expr(l, node);
	}
}

static void keyword(struct py_lower *l, uint32_t argument)
{
	uint32_t name = py_field(l->tree, argument, PY_F_name);

	if (py_kind(l->tree, argument) == PY_keyword_argument) {
		py_expr(l, py_field(l->tree, argument, PY_F_value));
		py_keyword(l, name ? py_ident(l, name) : sym(SYM_double_star));
	} else {
		py_expr(l, py_first(l->tree, argument));
		py_keyword(l, sym(SYM_double_star));
	}
}

/* Positional and unpacked arguments are evaluated before all keywords. */
void py_arguments(struct py_lower *l, uint32_t list)
{
	uint32_t base = l->pending.count;

	for (uint32_t a = py_first(l->tree, list); a; a = py_next(l->tree, list, a)) {
		if (is_keyword(l, a))
			continue;
		positional(l, a);
		fold_positional(l, base, py_span(l, list));
	}
	for (uint32_t a = py_first(l->tree, list); a; a = py_next(l->tree, list, a)) {
		if (!is_keyword(l, a))
			continue;
		if (l->pending.count - base >= PY_OPERANDS_MAX + 1024) {
			py_gap(l, py_span(l, a), "too many keyword arguments");
			continue;
		}
		keyword(l, a);
	}
}

/* The callee is at index `callee` of the pending values. */
void py_call_arguments(struct py_lower *l, uint32_t node, uint32_t list, uint32_t callee)
{
	if (list && py_kind(l->tree, list) == PY_argument_list)
		py_arguments(l, list);
	else
		py_expr(l, list);
	py_emit(l, OP_call, SUB_NONE, 0, py_span(l, node), l->pending.count - callee);
}

/* start : stop : step, what is left out is None. */
static void slice(struct py_lower *l, uint32_t node)
{
	unsigned filled = 0, part = 0;

	for (uint32_t c = py_first(l->tree, node); c && part < 3; c = py_next(l->tree, node, c)) {
		if (py_kind(l->tree, c) != PY_T_colon) {
			py_expr(l, c);
			filled = part + 1;
			continue;
		}
		if (filled == part)
			py_none(l, py_span(l, node));
		filled = ++part;
	}
	for (; filled < 3; filled++)
		py_none(l, py_span(l, node));
	py_emit(l, OP_build, SUB_build_slice, 0, py_span(l, node), 3);
}

static void index_part(struct py_lower *l, uint32_t part)
{
	if (py_kind(l->tree, part) == PY_slice)
		slice(l, part);
	else
		positional(l, part);
}

void py_index(struct py_lower *l, uint32_t subscript)
{
	uint32_t base = l->pending.count;
	bool tuple = py_has(l->tree, subscript, PY_HAS_COMMA);
	struct span span = {0, 0};

	for (uint32_t c = py_first(l->tree, subscript); c; c = py_next(l->tree, subscript, c)) {
		if (l->tree->nodes[c].field != PY_F_subscript)
			continue;
		index_part(l, c);
		if (span.end == 0)
			span = py_span(l, c);
		span.end = py_span(l, c).end;
		fold_positional(l, base, span);
	}
	if (l->pending.count == base)
		py_unknown(l, "syntax error", py_span(l, subscript), 0);
	else if (tuple || l->pending.at[base].keyword.n)
		py_emit(l, OP_build, SUB_build_tuple, 0, span, l->pending.count - base);
}
