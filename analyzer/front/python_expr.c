#include "analyzer/base/bug.h"
#include "analyzer/front/python_lower.h"

bool py_is_expression(enum py_kind kind)
{
	switch (kind) {
	case PY_attribute:
	case PY_await:
	case PY_binary_operator:
	case PY_boolean_operator:
	case PY_call:
	case PY_comparison_operator:
	case PY_concatenated_string:
	case PY_conditional_expression:
	case PY_dictionary:
	case PY_dictionary_comprehension:
	case PY_ellipsis:
	case PY_expression_list:
	case PY_false:
	case PY_float:
	case PY_generator_expression:
	case PY_identifier:
	case PY_integer:
	case PY_lambda:
	case PY_list:
	case PY_list_comprehension:
	case PY_named_expression:
	case PY_none:
	case PY_not_operator:
	case PY_parenthesized_expression:
	case PY_set:
	case PY_set_comprehension:
	case PY_string:
	case PY_subscript:
	case PY_true:
	case PY_tuple:
	case PY_unary_operator:
	case PY_yield:
		return true;
	default:
		return false;
	}
}

bool py_enter_depth(struct py_lower *l, uint32_t node)
{
	if (l->depth < PY_DEPTH_MAX) {
		l->depth++;
		return true;
	}
	py_gap(l, py_span(l, node), "nested too deeply");
	return false;
}

void py_broken(struct py_lower *l, uint32_t node, const char *reason)
{
	uint32_t count = 0;

	for (uint32_t c = py_first(l->tree, node); c; c = py_next(l->tree, node, c)) {
		if (count == PY_OPERANDS_MAX || !py_is_expression(py_kind(l->tree, c)))
			continue;
		py_expr(l, c);
		count++;
	}
	py_unknown(l, reason, py_span(l, node), count);
}

uint32_t py_scope_open(struct py_lower *l, uint32_t node)
{
	uint32_t scope = py_scope_of(&l->scopes, node);

	if (scope)
		return scope;
	py_gap(l, py_span(l, node), "syntax error");
	py_unknown(l, "syntax error", py_span(l, node), 0);
	return 0;
}

sym_id py_ident(struct py_lower *l, uint32_t node)
{
	return py_name(&l->scopes, l->func->names, node);
}

enum ir_sub py_binary_sub(enum py_kind token)
{
	switch (token) {
	case PY_T_plus:
	case PY_T_plus_equal:
		return SUB_binary_add;
	case PY_T_minus:
	case PY_T_minus_equal:
		return SUB_binary_subtract;
	case PY_T_star:
	case PY_T_star_equal:
		return SUB_binary_multiply;
	case PY_T_at:
	case PY_T_at_equal:
		return SUB_binary_matmul;
	case PY_T_slash:
	case PY_T_slash_equal:
		return SUB_binary_divide;
	case PY_T_double_slash:
	case PY_T_double_slash_equal:
		return SUB_binary_floor_divide;
	case PY_T_percent:
	case PY_T_percent_equal:
		return SUB_binary_modulo;
	case PY_T_double_star:
	case PY_T_double_star_equal:
		return SUB_binary_power;
	case PY_T_shift_left:
	case PY_T_shift_left_equal:
		return SUB_binary_shift_left;
	case PY_T_shift_right:
	case PY_T_shift_right_equal:
		return SUB_binary_shift_right;
	case PY_T_and_bits:
	case PY_T_and_bits_equal:
		return SUB_binary_and;
	case PY_T_pipe:
	case PY_T_pipe_equal:
		return SUB_binary_or;
	case PY_T_caret:
	case PY_T_caret_equal:
		return SUB_binary_xor;
	default:
		return SUB_NONE;
	}
}

static void unary(struct py_lower *l, uint32_t node)
{
	uint32_t token = py_field(l->tree, node, PY_F_operator);
	uint32_t argument = py_field(l->tree, node, PY_F_argument);
	enum py_kind kind = token ? py_kind(l->tree, token) : PY_ERROR;
	enum ir_sub sub = kind == PY_T_minus  ? SUB_unary_negative
	                  : kind == PY_T_plus ? SUB_unary_positive
	                                      : SUB_unary_invert;

	py_expr(l, argument);
	py_emit(l, OP_unary, sub, 0, py_span(l, node), 1);
}

static void not_operator(struct py_lower *l, uint32_t node)
{
	py_expr(l, py_field(l->tree, node, PY_F_argument));
	py_emit(l, OP_unary, SUB_unary_not, 0, py_span(l, node), 1);
}

/* A chunk of the elements becomes one unpacked operand when there are too many
 * for one instruction. */
static void fold_elements(struct py_lower *l, uint32_t *count, enum ir_sub sub, struct span span)
{
	if (*count < PY_OPERANDS_MAX)
		return;
	py_emit(l, OP_build, sub, 0, span, *count);
	py_keyword(l, sym(sub == SUB_build_dict ? SYM_double_star : SYM_star));
	*count = 1;
}

/* `*x`, also in parentheses. */
static uint32_t splat_value(const struct py_lower *l, uint32_t node)
{
	while (py_kind(l->tree, node) == PY_parenthesized_expression ||
	       py_kind(l->tree, node) == PY_parenthesized_list_splat) {
		uint32_t inner = py_first(l->tree, node);
		if (!inner)
			return 0;
		node = inner;
	}
	if (py_kind(l->tree, node) != PY_list_splat &&
	    py_kind(l->tree, node) != PY_list_splat_pattern)
		return 0;
	return py_first(l->tree, node);
}

/* The grammar reads `*f(x)` as a call of `*f`, and `*x.y` as an attribute of `*x`. */
static bool starts_with_splat(const struct py_lower *l, uint32_t node)
{
	for (;;) {
		switch ((int)py_kind(l->tree, node)) {
		case PY_call:
		case PY_attribute:
		case PY_subscript:
		case PY_binary_operator:
			node = py_first(l->tree, node);
			break;
		case PY_list_splat:
			return true;
		default:
			return false;
		}
		if (!node)
			return false;
	}
}

void py_elements(struct py_lower *l, uint32_t node, enum ir_sub sub)
{
	uint32_t count = 0;

	for (uint32_t c = py_first(l->tree, node); c; c = py_next(l->tree, node, c)) {
		uint32_t splat = splat_value(l, c);
		py_expr(l, splat ? splat : c);
		if (splat || starts_with_splat(l, c))
			py_keyword(l, sym(SYM_star));
		count++;
		fold_elements(l, &count, sub, py_span(l, node));
	}
	py_emit(l, OP_build, sub, 0, py_span(l, node), count);
}

static void dictionary(struct py_lower *l, uint32_t node)
{
	uint32_t count = 0;

	for (uint32_t c = py_first(l->tree, node); c; c = py_next(l->tree, node, c)) {
		if (py_kind(l->tree, c) == PY_pair) {
			py_expr(l, py_field(l->tree, c, PY_F_key));
			py_expr(l, py_field(l->tree, c, PY_F_value));
			count += 2;
		} else if (py_kind(l->tree, c) == PY_dictionary_splat && py_first(l->tree, c)) {
			py_expr(l, py_first(l->tree, c));
			py_keyword(l, sym(SYM_double_star));
			count++;
		}
		fold_elements(l, &count, SUB_build_dict, py_span(l, node));
	}
	py_emit(l, OP_build, SUB_build_dict, 0, py_span(l, node), count);
}

static void named(struct py_lower *l, uint32_t node)
{
	uint32_t name = py_field(l->tree, node, PY_F_name);
	slot_id slot = py_hidden(l);

	py_expr(l, py_field(l->tree, node, PY_F_value));
	py_hidden_store(l, slot, py_span(l, node));
	py_hidden_load(l, slot, py_span(l, node));
	if (name)
		py_assign_name(l, name);
	else
		py_drop(l, py_span(l, node));
	py_hidden_take(l, slot, py_span(l, node));
	py_hidden_free(l, slot);
}

static void await(struct py_lower *l, uint32_t node)
{
	py_expr(l, py_first(l->tree, node));
	py_emit(l, OP_await, SUB_NONE, 0, py_span(l, node), 1);
}

static void yield(struct py_lower *l, uint32_t node)
{
	uint32_t value = py_first(l->tree, node);
	bool from = py_has(l->tree, node, PY_HAS_FROM);

	if (value)
		py_expr(l, value);
	else
		py_none(l, py_span(l, node));
	py_emit(l, OP_yield, from ? SUB_yield_from : SUB_yield_value, 0, py_span(l, node), 1);
}

static void constant(struct py_lower *l, uint32_t node, enum ir_sub sub)
{
	py_const(l, sub, sym(SYM_NONE), py_span(l, node));
}

static void collection(struct py_lower *l, uint32_t node)
{
	switch (py_kind(l->tree, node)) {
	case PY_list:
	case PY_list_pattern:
		py_elements(l, node, SUB_build_list);
		break;
	case PY_set:
		py_elements(l, node, SUB_build_set);
		break;
	case PY_tuple:
	case PY_tuple_pattern:
	case PY_pattern_list:
	case PY_expression_list:
		py_elements(l, node, SUB_build_tuple);
		break;
	case PY_dictionary:
		dictionary(l, node);
		break;
	case PY_list_comprehension:
	case PY_set_comprehension:
	case PY_dictionary_comprehension:
	case PY_generator_expression:
		py_comprehension(l, node);
		break;
	default:
		py_broken(l, node, "not an expression");
	}
}

static void operation(struct py_lower *l, uint32_t node)
{
	switch (py_kind(l->tree, node)) {
	case PY_unary_operator:
		unary(l, node);
		break;
	case PY_not_operator:
		not_operator(l, node);
		break;
	case PY_boolean_operator:
		py_boolean(l, node);
		break;
	case PY_comparison_operator:
		py_comparison(l, node);
		break;
	case PY_conditional_expression:
		py_conditional(l, node);
		break;
	case PY_named_expression:
		named(l, node);
		break;
	case PY_await:
		await(l, node);
		break;
	case PY_yield:
		yield(l, node);
		break;
	case PY_lambda:
		py_lambda(l, node);
		break;
	default:
		collection(l, node);
	}
}

static void atom(struct py_lower *l, uint32_t node)
{
	switch (py_kind(l->tree, node)) {
	case PY_identifier:
		py_load(l, py_ident(l, node), py_span(l, node));
		break;
	case PY_integer:
	case PY_float:
		py_number(l, node);
		break;
	case PY_string:
	case PY_concatenated_string:
		py_string(l, node);
		break;
	case PY_true:
		constant(l, node, SUB_const_true);
		break;
	case PY_false:
		constant(l, node, SUB_const_false);
		break;
	case PY_none:
		constant(l, node, SUB_const_none);
		break;
	case PY_ellipsis:
		constant(l, node, SUB_const_ellipsis);
		break;
	case PY_ERROR:
		py_broken(l, node, "syntax error");
		break;
	default:
		operation(l, node);
	}
}

/* The operand that is evaluated first, of what nests to the left without end:
 * a + b + c, x.y(z)[w]. 0: none. */
static uint32_t leftmost(const struct py_tree *tree, uint32_t node)
{
	switch (py_kind(tree, node)) {
	case PY_binary_operator:
		return py_field(tree, node, PY_F_left);
	case PY_attribute:
		return py_field(tree, node, PY_F_object);
	case PY_call:
		return py_field(tree, node, PY_F_function);
	case PY_subscript:
		return py_field(tree, node, PY_F_value);
	default:
		return 0;
	}
}

static void finish_binary(struct py_lower *l, uint32_t node)
{
	uint32_t token = py_field(l->tree, node, PY_F_operator);
	enum ir_sub sub = token ? py_binary_sub(py_kind(l->tree, token)) : SUB_NONE;

	py_expr(l, py_field(l->tree, node, PY_F_right));
	if (sub)
		py_emit(l, OP_binary, sub, 0, py_span(l, node), 2);
	else
		py_unknown(l, "syntax error", py_span(l, node), 2);
}

/* The leftmost operand's value is on top. */
static void finish(struct py_lower *l, uint32_t node)
{
	uint32_t name;

	switch (py_kind(l->tree, node)) {
	case PY_binary_operator:
		finish_binary(l, node);
		break;
	case PY_attribute:
		name = py_field(l->tree, node, PY_F_attribute);
		if (name && py_kind(l->tree, name) == PY_identifier)
			py_emit(l, OP_load_attr, SUB_NONE, py_ident(l, name).n, py_span(l, node),
			        1);
		else
			py_unknown(l, "syntax error", py_span(l, node), 1);
		break;
	case PY_call:
		py_call_arguments(l, node, py_field(l->tree, node, PY_F_arguments),
		                  l->pending.count - 1);
		break;
	case PY_subscript:
		py_index(l, node);
		py_emit(l, OP_load_item, SUB_NONE, 0, py_span(l, node), 2);
		break;
	default:
		BUG("nothing to finish");
	}
}

static bool is_broken(const struct py_lower *l, uint32_t node)
{
	return py_has(l->tree, node, PY_HAS_ERROR) && py_kind(l->tree, node) != PY_string;
}

static void spine(struct py_lower *l, uint32_t node)
{
	uint32_t base = l->spine.count;
	uint32_t inner;

	while (!is_broken(l, node)) {
		/* Below the star there is the value; who wants elements has seen the star. */
		if (l->spine.count > base && py_kind(l->tree, node) == PY_list_splat) {
			inner = py_first(l->tree, node);
		} else {
			inner = leftmost(l->tree, node);
			if (inner)
				vec_push(l->scratch, &l->spine, node);
		}
		if (!inner)
			break;
		node = py_unwrap(l->tree, inner);
	}
	if (is_broken(l, node) && py_kind(l->tree, node) != PY_ERROR)
		py_broken(l, node, "syntax error");
	else
		atom(l, node);
	while (l->spine.count > base)
		finish(l, l->spine.at[--l->spine.count]);
}

void py_expr(struct py_lower *l, uint32_t node)
{
	uint32_t depth = l->depth;

	if (node == 0) {
		py_unknown(l, "syntax error", (struct span){0, 0}, 0);
		return;
	}
	node = py_unwrap(l->tree, node);
	if (py_enter_depth(l, node))
		spine(l, node);
	else
		py_unknown(l, "nested too deeply", py_span(l, node), 0);
	l->depth = depth;
}
