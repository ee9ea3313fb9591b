#include "analyzer/front/python_lower.h"

static void expression_statement(struct py_lower *l, uint32_t node)
{
	uint32_t first = py_first(l->tree, node);
	enum py_kind kind = first ? py_kind(l->tree, first) : PY_ERROR;

	if (kind == PY_assignment) {
		py_assignment(l, first);
		return;
	}
	if (kind == PY_augmented_assignment) {
		py_augmented(l, first);
		return;
	}
	if (py_has(l->tree, node, PY_HAS_ERROR))
		py_broken(l, node, "syntax error");
	else if (py_has(l->tree, node, PY_HAS_COMMA))
		py_elements(l, node, SUB_build_tuple);
	else
		py_expr(l, first);
	py_drop(l, py_span(l, node));
}

static void assert_statement(struct py_lower *l, uint32_t node)
{
	uint32_t test = py_first(l->tree, node);
	uint32_t message = test ? py_next(l->tree, node, test) : 0;
	struct span span = py_span(l, node);
	block_id fail = py_block(l), pass = py_block(l);

	py_condition(l, test, pass, fail);
	py_join(l, fail, span);
	if (!py_is_dead(l)) {
		py_emit(l, OP_load, SUB_scope_global, SYM_assertion_error, span, 0);
		if (message) {
			py_expr(l, message);
			py_emit(l, OP_call, SUB_NONE, 0, span, 2);
		}
		py_throw(l, span, 1);
	}
	py_join(l, pass, span);
}

static void delete_statement(struct py_lower *l, uint32_t node)
{
	for (uint32_t c = py_first(l->tree, node); c; c = py_next(l->tree, node, c))
		py_delete_target(l, c);
}

/* Python 2's print and exec. */
static void old_statement(struct py_lower *l, uint32_t node, const char *reason)
{
	uint32_t count = 0;

	for (uint32_t c = py_first(l->tree, node); c; c = py_next(l->tree, node, c)) {
		uint32_t value = py_kind(l->tree, c) == PY_chevron ? py_first(l->tree, c) : c;
		if (!value || count == PY_OPERANDS_MAX)
			continue;
		py_expr(l, value);
		count++;
	}
	py_unknown(l, reason, py_span(l, node), count);
	py_drop(l, py_span(l, node));
}

static void type_alias(struct py_lower *l, uint32_t node)
{
	uint32_t end = l->tree->nodes[node].next;
	uint32_t name = node;

	while (name < end && py_kind(l->tree, name) != PY_identifier)
		name++;
	if (name == end)
		return;
	py_unknown(l, "type alias", py_span(l, node), 0);
	py_assign_name(l, name);
}

static void mark_error(struct py_lower *l, uint32_t node)
{
	py_unknown(l, "syntax error", py_span(l, node), 0);
	py_drop(l, py_span(l, node));
}

/* Whatever can still be made out of what the parser gave up on. */
static void recover(struct py_lower *l, uint32_t node)
{
	if (py_kind(l->tree, node) == PY_ERROR)
		mark_error(l, node);
	for (uint32_t c = py_first(l->tree, node); c; c = py_next(l->tree, node, c))
		py_statement(l, c);
}

static void simple(struct py_lower *l, uint32_t node)
{
	switch (py_kind(l->tree, node)) {
	case PY_assert_statement:
		assert_statement(l, node);
		break;
	case PY_delete_statement:
		delete_statement(l, node);
		break;
	case PY_import_statement:
		py_import(l, node);
		break;
	case PY_import_from_statement:
	case PY_future_import_statement:
		py_import_from(l, node);
		break;
	case PY_print_statement:
		old_statement(l, node, "print statement");
		break;
	case PY_exec_statement:
		old_statement(l, node, "exec statement");
		break;
	case PY_type_alias_statement:
		type_alias(l, node);
		break;
	case PY_pass_statement:
	case PY_global_statement:
	case PY_nonlocal_statement:
		break;
	default:
		if (py_is_expression(py_kind(l->tree, node))) {
			py_expr(l, node);
			py_drop(l, py_span(l, node));
		} else {
			recover(l, node);
		}
	}
}

static void jump_statement(struct py_lower *l, uint32_t node)
{
	switch (py_kind(l->tree, node)) {
	case PY_return_statement:
		py_return_statement(l, node);
		break;
	case PY_raise_statement:
		py_raise(l, node);
		break;
	case PY_break_statement:
		py_break(l, node, false);
		break;
	case PY_continue_statement:
		py_break(l, node, true);
		break;
	default:
		simple(l, node);
	}
}

static void statement(struct py_lower *l, uint32_t node)
{
	if (py_has(l->tree, node, PY_HAS_ERROR) &&
	    py_kind(l->tree, node) != PY_expression_statement &&
	    !py_is_expression(py_kind(l->tree, node)))
		mark_error(l, node);
	switch (py_kind(l->tree, node)) {
	case PY_expression_statement:
		expression_statement(l, node);
		break;
	case PY_if_statement:
		py_if(l, node);
		break;
	case PY_for_statement:
		py_for(l, node);
		break;
	case PY_while_statement:
		py_while(l, node);
		break;
	case PY_try_statement:
		py_try(l, node);
		break;
	case PY_with_statement:
		py_with(l, node);
		break;
	case PY_function_definition:
		py_function(l, node);
		break;
	case PY_class_definition:
		py_class(l, node);
		break;
	case PY_decorated_definition:
		py_decorated(l, node);
		break;
	case PY_match_statement:
		py_match(l, node);
		break;
	default:
		jump_statement(l, node);
	}
}

void py_statement(struct py_lower *l, uint32_t node)
{
	uint32_t depth = l->depth;

	if (py_enter_depth(l, node)) {
		statement(l, node);
	} else {
		py_unknown(l, "nested too deeply", py_span(l, node), 0);
		py_drop(l, py_span(l, node));
	}
	l->depth = depth;
}

void py_body(struct py_lower *l, uint32_t block)
{
	if (block == 0)
		return;
	for (uint32_t c = py_first(l->tree, block); c; c = py_next(l->tree, block, c))
		py_statement(l, c);
}
