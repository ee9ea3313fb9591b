#include "analyzer/front/python_lower.h"

static bool is_and(const struct py_lower *l, uint32_t node)
{
	uint32_t token = py_field(l->tree, node, PY_F_operator);

	return token && py_kind(l->tree, token) == PY_T_and;
}

/* The operands of `a and b and c` onto the spine; returns where they begin. */
static uint32_t flatten(struct py_lower *l, uint32_t node)
{
	uint32_t base = l->spine.count;
	bool and = is_and(l, node);

	while (py_kind(l->tree, node) == PY_boolean_operator &&
	       is_and(l, node) == and&&!py_has(l->tree, node, PY_HAS_ERROR)) {
		vec_push(l->scratch, &l->spine, py_field(l->tree, node, PY_F_right));
		node = py_unwrap(l->tree, py_field(l->tree, node, PY_F_left));
	}
	vec_push(l->scratch, &l->spine, node);
	return base;
}

/* A value is dropped before the next operand is evaluated. */
void py_boolean(struct py_lower *l, uint32_t node)
{
	bool and = is_and(l, node);
	uint32_t base = flatten(l, node);
	block_id end = py_block(l);
	slot_id slot = py_hidden(l);

	while (l->spine.count > base) {
		uint32_t operand = l->spine.at[--l->spine.count];
		struct span span = operand ? py_span(l, operand) : py_span(l, node);

		py_expr(l, operand);
		py_hidden_store(l, slot, span);
		if (l->spine.count == base)
			break;
		block_id next = py_block(l);
		py_hidden_load(l, slot, span);
		py_branch(l, and? next : end, and? end : next, span);
		py_start(l, next);
		py_hidden_unbind(l, slot, span);
	}
	py_enter_block(l, end, py_span(l, node));
	py_hidden_take(l, slot, py_span(l, node));
	py_hidden_free(l, slot);
}

static enum ir_sub compare_sub(enum py_kind token)
{
	switch (token) {
	case PY_T_less:
		return SUB_compare_less;
	case PY_T_less_equal:
		return SUB_compare_less_equal;
	case PY_T_equal_equal:
		return SUB_compare_equal;
	case PY_T_not_equal:
	case PY_T_less_greater:
		return SUB_compare_not_equal;
	case PY_T_greater:
		return SUB_compare_greater;
	case PY_T_greater_equal:
		return SUB_compare_greater_equal;
	case PY_T_in:
		return SUB_compare_in;
	case PY_T_not_in:
		return SUB_compare_not_in;
	case PY_T_is:
		return SUB_compare_is;
	case PY_T_is_not:
		return SUB_compare_is_not;
	default:
		return SUB_NONE;
	}
}

static void compare(struct py_lower *l, enum ir_sub sub, struct span span)
{
	if (sub)
		py_emit(l, OP_compare, sub, 0, span, 2);
	else
		py_unknown(l, "syntax error", span, 2);
}

/* A comparison with its right operand, one after the other. */
struct chain {
	uint32_t node;
	uint32_t at; /* the operator of the next one; 0: no more */
	slot_id middle;
	struct span left;
};

static uint32_t chain_operand(struct py_lower *l, const struct chain *chain)
{
	return py_next(l->tree, chain->node, chain->at);
}

static void chain_open(struct py_lower *l, struct chain *chain, uint32_t node)
{
	uint32_t first = py_first(l->tree, node);

	*chain = (struct chain){.node = node, .at = first ? py_next(l->tree, node, first) : 0};
	py_expr(l, first);
	chain->left = first ? py_span(l, first) : py_span(l, node);
}

/* Pushes the next comparison's value; false: it is the last. The right operand
 * of any other waits in a slot. */
static bool chain_step(struct py_lower *l, struct chain *chain)
{
	uint32_t operand = chain_operand(l, chain);
	enum ir_sub sub = compare_sub(py_kind(l->tree, chain->at));
	struct span span = {chain->left.start, operand ? py_span(l, operand).end : chain->left.end};
	uint32_t more = operand ? py_next(l->tree, chain->node, operand) : 0;

	py_expr(l, operand);
	if (more) {
		chain->middle = py_hidden(l);
		py_hidden_store(l, chain->middle, py_span(l, operand));
		py_hidden_load(l, chain->middle, py_span(l, operand));
		chain->left = py_span(l, operand);
	}
	compare(l, sub, span);
	chain->at = more;
	return more != 0;
}

static void chain_resume(struct py_lower *l, struct chain *chain)
{
	py_hidden_take(l, chain->middle, chain->left);
	py_hidden_free(l, chain->middle);
}

static bool chain_is_single(const struct py_lower *l, uint32_t node)
{
	return py_child_count(l->tree, node) <= 3;
}

/* a < b < c: the result that ends it early is the value. */
static void chain_value(struct py_lower *l, struct chain *chain)
{
	struct span span = py_span(l, chain->node);
	block_id end = py_block(l), early = py_block(l);
	slot_id result = py_hidden(l);

	while (chain_step(l, chain)) {
		block_id next = py_block(l), stop = py_block(l);
		py_hidden_store(l, result, span);
		py_hidden_load(l, result, span);
		py_branch(l, next, stop, span);
		py_start(l, stop);
		py_hidden_unbind(l, chain->middle, span);
		py_jump(l, early, span);
		py_start(l, next);
		py_hidden_unbind(l, result, span);
		chain_resume(l, chain);
	}
	py_hidden_store(l, result, span);
	py_jump(l, end, span);
	py_start(l, early);
	py_enter_block(l, end, span);
	py_hidden_take(l, result, span);
	py_hidden_free(l, result);
}

void py_comparison(struct py_lower *l, uint32_t node)
{
	struct chain chain;

	chain_open(l, &chain, node);
	if (!chain.at)
		return;
	if (chain_is_single(l, node))
		chain_step(l, &chain);
	else
		chain_value(l, &chain);
}

static void chain_condition(struct py_lower *l, uint32_t node, block_id then, block_id otherwise)
{
	struct span span = py_span(l, node);
	struct chain chain;

	chain_open(l, &chain, node);
	while (chain.at && chain_step(l, &chain)) {
		block_id next = py_block(l), stop = py_block(l);
		py_branch(l, next, stop, span);
		py_start(l, stop);
		py_hidden_unbind(l, chain.middle, span);
		py_jump(l, otherwise, span);
		py_start(l, next);
		chain_resume(l, &chain);
	}
	py_branch(l, then, otherwise, span);
}

static void boolean_condition(struct py_lower *l, uint32_t node, block_id then, block_id otherwise)
{
	bool and = is_and(l, node);
	uint32_t base = flatten(l, node);

	while (l->spine.count > base + 1) {
		uint32_t operand = l->spine.at[--l->spine.count];
		block_id next = py_block(l);

		py_condition(l, operand, and? next : then, and? otherwise : next);
		py_join(l, next, py_span(l, node));
	}
	py_condition(l, l->spine.at[--l->spine.count], then, otherwise);
}

/* condition, value if true, value if false */
static bool conditional_parts(const struct py_lower *l, uint32_t node, uint32_t parts[3])
{
	uint32_t value = py_first(l->tree, node);

	parts[1] = value;
	parts[0] = value ? py_next(l->tree, node, value) : 0;
	parts[2] = parts[0] ? py_next(l->tree, node, parts[0]) : 0;
	return parts[2] != 0;
}

static void conditional_condition(struct py_lower *l, uint32_t node, block_id then,
                                  block_id otherwise)
{
	block_id yes = py_block(l), no = py_block(l);
	uint32_t parts[3];

	conditional_parts(l, node, parts);
	py_condition(l, parts[0], yes, no);
	py_join(l, yes, py_span(l, node));
	py_condition(l, parts[1], then, otherwise);
	py_join(l, no, py_span(l, node));
	py_condition(l, parts[2], then, otherwise);
}

/* What CPython decides when it compiles: 1 true, 0 false, -1 not known. */
static int constant_truth(const struct py_lower *l, uint32_t node)
{
	size_t length;
	const char *text;

	switch (py_kind(l->tree, node)) {
	case PY_true:
	case PY_ellipsis:
		return 1;
	case PY_false:
	case PY_none:
		return 0;
	case PY_integer:
		text = py_text(l->tree, node, &length);
		for (size_t i = 0; i < length; i++)
			if (text[i] >= '1' && text[i] <= '9')
				return 1;
		return length == 1 ? 0 : -1;
	default:
		return -1;
	}
}

static void condition(struct py_lower *l, uint32_t node, block_id then, block_id otherwise)
{
	int truth = constant_truth(l, node);
	uint32_t parts[3];

	if (truth >= 0) {
		py_jump(l, truth ? then : otherwise, py_span(l, node));
		return;
	}
	switch (py_has(l->tree, node, PY_HAS_ERROR) ? PY_ERROR : py_kind(l->tree, node)) {
	case PY_not_operator:
		py_condition(l, py_field(l->tree, node, PY_F_argument), otherwise, then);
		return;
	case PY_boolean_operator:
		boolean_condition(l, node, then, otherwise);
		return;
	case PY_comparison_operator:
		chain_condition(l, node, then, otherwise);
		return;
	case PY_conditional_expression:
		if (conditional_parts(l, node, parts)) {
			conditional_condition(l, node, then, otherwise);
			return;
		}
		break;
	default:
		break;
	}
	py_expr(l, node);
	py_branch(l, then, otherwise, py_span(l, node));
}

void py_condition(struct py_lower *l, uint32_t node, block_id then, block_id otherwise)
{
	uint32_t depth = l->depth;

	node = node ? py_unwrap(l->tree, node) : 0;
	if (node && py_enter_depth(l, node)) {
		condition(l, node, then, otherwise);
	} else {
		py_expr(l, node);
		py_branch(l, then, otherwise, node ? py_span(l, node) : (struct span){0, 0});
	}
	l->depth = depth;
}

void py_conditional(struct py_lower *l, uint32_t node)
{
	struct span span = py_span(l, node);
	block_id yes = py_block(l), no = py_block(l), end = py_block(l);
	slot_id result = py_hidden(l);
	uint32_t parts[3];

	conditional_parts(l, node, parts);
	py_condition(l, parts[0], yes, no);
	py_join(l, yes, span);
	py_expr(l, parts[1]);
	py_hidden_store(l, result, span);
	py_jump(l, end, span);
	py_join(l, no, span);
	py_expr(l, parts[2]);
	py_hidden_store(l, result, span);
	py_enter_block(l, end, span);
	py_hidden_take(l, result, span);
	py_hidden_free(l, result);
}
