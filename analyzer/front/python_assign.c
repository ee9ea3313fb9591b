#include "analyzer/front/python_lower.h"

enum {
	PAIRED_MAX = 16,     /* a, b = x, y without a tuple */
	UNPACK_MAX = 0x7fff, /* what fits into the name of `unpack` */
};

void py_assign_name(struct py_lower *l, uint32_t identifier)
{
	py_store(l, py_ident(l, identifier), py_span(l, identifier));
}

static bool is_splat(const struct py_lower *l, uint32_t node)
{
	enum py_kind kind = py_kind(l->tree, node);

	return kind == PY_list_splat || kind == PY_list_splat_pattern;
}

static bool is_sequence(const struct py_lower *l, uint32_t node)
{
	switch (py_kind(l->tree, node)) {
	case PY_tuple:
	case PY_list:
	case PY_tuple_pattern:
	case PY_list_pattern:
	case PY_pattern_list:
	case PY_expression_list:
		return true;
	default:
		return false;
	}
}

static uint32_t unpack_shape(const struct py_lower *l, const uint32_t *targets, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (is_splat(l, targets[i]))
			return i | (count - i - 1) << 15 | 1u << 30;
	return count;
}

/* The items of the tuple in `slot`, one after the other. */
static void unpack_items(struct py_lower *l, const uint32_t *targets, uint32_t count, slot_id slot)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t target = targets[i];
		struct span span = py_span(l, target);

		if (is_splat(l, target) && py_first(l->tree, target))
			target = py_first(l->tree, target);
		if (i + 1 < count)
			py_hidden_load(l, slot, span);
		else
			py_hidden_take(l, slot, span);
		py_int(l, i, span);
		py_emit(l, OP_load_item, SUB_NONE, 0, span, 2);
		py_assign(l, target);
	}
}

void py_unpack(struct py_lower *l, const uint32_t *targets, uint32_t count, struct span span)
{
	slot_id slot;

	if (count > UNPACK_MAX) {
		py_gap(l, span, "too many targets");
		py_drop(l, span);
		return;
	}
	py_emit(l, OP_unpack, SUB_NONE, unpack_shape(l, targets, count), span, 1);
	if (count == 0) {
		py_drop(l, span);
		return;
	}
	slot = py_hidden(l);
	py_hidden_store(l, slot, span);
	unpack_items(l, targets, count, slot);
	py_hidden_free(l, slot);
}

static void unpack_targets(struct py_lower *l, uint32_t node)
{
	VEC(uint32_t) targets = {0};

	for (uint32_t c = py_first(l->tree, node); c; c = py_next(l->tree, node, c))
		vec_push(l->scratch, &targets, c);
	py_unpack(l, targets.at, targets.count, py_span(l, node));
}

static void assign_attribute(struct py_lower *l, uint32_t target)
{
	uint32_t value = l->pending.count - 1;
	uint32_t name = py_field(l->tree, target, PY_F_attribute);

	py_expr(l, py_field(l->tree, target, PY_F_object));
	py_raise_pending(l, value);
	if (name)
		py_emit(l, OP_store_attr, SUB_NONE, py_ident(l, name).n, py_span(l, target), 2);
	else
		py_broken(l, target, "syntax error");
}

static void assign_item(struct py_lower *l, uint32_t target)
{
	uint32_t value = l->pending.count - 1;

	py_expr(l, py_field(l->tree, target, PY_F_value));
	py_index(l, target);
	py_raise_pending(l, value);
	py_emit(l, OP_store_item, SUB_NONE, 0, py_span(l, target), 3);
}

/* What cannot be assigned to is evaluated with the value. */
static void assign_broken(struct py_lower *l, uint32_t target)
{
	if (py_is_expression(py_kind(l->tree, target)))
		py_expr(l, target);
	else
		py_broken(l, target, "syntax error");
	py_unknown(l, "syntax error", py_span(l, target), 2);
	py_drop(l, py_span(l, target));
}

static void assign(struct py_lower *l, uint32_t target)
{
	bool broken = py_has(l->tree, target, PY_HAS_ERROR);

	switch (broken ? PY_ERROR : py_kind(l->tree, target)) {
	case PY_identifier:
		py_assign_name(l, target);
		break;
	case PY_attribute:
		assign_attribute(l, target);
		break;
	case PY_subscript:
		assign_item(l, target);
		break;
	case PY_as_pattern_target:
	case PY_list_splat:
	case PY_list_splat_pattern:
		py_assign(l, py_first(l->tree, target));
		break;
	default:
		if (is_sequence(l, target) && !broken)
			unpack_targets(l, target);
		else
			assign_broken(l, target);
	}
}

void py_assign(struct py_lower *l, uint32_t target)
{
	uint32_t depth = l->depth;

	target = target ? py_unwrap(l->tree, target) : 0;
	if (target && py_enter_depth(l, target))
		assign(l, target);
	else
		py_drop(l, target ? py_span(l, target) : (struct span){0, 0});
	l->depth = depth;
}

/* How many elements, if both are displays without stars and of equal length. */
static uint32_t paired_count(const struct py_lower *l, uint32_t target, uint32_t value)
{
	uint32_t count, t, v;

	if (!is_sequence(l, target) || !is_sequence(l, value))
		return 0;
	count = py_child_count(l->tree, target);
	if (count > PAIRED_MAX || count != py_child_count(l->tree, value))
		return 0;
	v = py_first(l->tree, value);
	for (t = py_first(l->tree, target); t; t = py_next(l->tree, target, t)) {
		if (is_splat(l, t) || is_splat(l, v) || py_kind(l->tree, t) == PY_ERROR ||
		    py_kind(l->tree, v) == PY_ERROR)
			return 0;
		v = py_next(l->tree, value, v);
	}
	return count;
}

static bool assign_paired(struct py_lower *l, uint32_t target, uint32_t value)
{
	uint32_t count = paired_count(l, target, value);
	uint32_t base = l->pending.count;

	if (count == 0)
		return false;
	for (uint32_t v = py_first(l->tree, value); v; v = py_next(l->tree, value, v))
		py_expr(l, v);
	for (uint32_t t = py_first(l->tree, target); t; t = py_next(l->tree, target, t)) {
		py_raise_pending(l, base);
		py_assign(l, t);
	}
	return true;
}

static void assign_all(struct py_lower *l, const uint32_t *targets, uint32_t count,
                       struct span span)
{
	slot_id slot = py_hidden(l);

	py_hidden_store(l, slot, span);
	for (uint32_t i = 0; i < count; i++) {
		if (i + 1 < count)
			py_hidden_load(l, slot, span);
		else
			py_hidden_take(l, slot, span);
		py_assign(l, targets[i]);
	}
	py_hidden_free(l, slot);
}

/* Of a broken assignment the value is not known. */
static void assign_value(struct py_lower *l, const uint32_t *targets, uint32_t count,
                         uint32_t value, bool broken)
{
	uint32_t only = py_unwrap(l->tree, targets[0]);
	uint32_t what = value ? py_unwrap(l->tree, value) : 0;

	if (what && py_kind(l->tree, what) == PY_augmented_assignment) {
		py_broken(l, what, "syntax error");
		py_gap(l, py_span(l, what), "syntax error");
	} else if (what && count == 1 && !broken && assign_paired(l, only, what)) {
		return;
	} else {
		py_expr(l, what);
	}
	if (broken)
		py_unknown(l, "syntax error", what ? py_span(l, what) : py_span(l, only), 1);
	if (count == 1)
		py_assign(l, only);
	else
		assign_all(l, targets, count, what ? py_span(l, what) : py_span(l, only));
}

static void annotate(struct py_lower *l, uint32_t target, uint32_t type)
{
	enum py_scope_kind kind = l->scopes.scopes.at[l->func->scope].kind;
	sym_id text = py_annotation(l, type);

	if (py_kind(l->tree, target) != PY_identifier ||
	    (kind != PY_SCOPE_CLASS && kind != PY_SCOPE_MODULE))
		return;
	py_const(l, SUB_const_str, text, py_span(l, type));
	py_emit(l, OP_annotate, SUB_NONE, py_ident(l, target).n, py_span(l, type), 1);
}

/* `obj.name: T` without a value evaluates obj, and nothing else. */
static void assign_nothing(struct py_lower *l, uint32_t target)
{
	if (py_kind(l->tree, target) == PY_attribute) {
		py_expr(l, py_field(l->tree, target, PY_F_object));
		py_drop(l, py_span(l, target));
	} else if (py_kind(l->tree, target) == PY_subscript) {
		py_expr(l, py_field(l->tree, target, PY_F_value));
		py_index(l, target);
		py_drop(l, py_span(l, target));
		py_drop(l, py_span(l, target));
	}
}

void py_assignment(struct py_lower *l, uint32_t node)
{
	VEC(uint32_t) targets = {0};
	uint32_t type = py_field(l->tree, node, PY_F_type);
	uint32_t value = node;
	bool broken = false;

	while (value && py_kind(l->tree, value) == PY_assignment) {
		uint32_t left = py_field(l->tree, value, PY_F_left);
		uint32_t right = py_field(l->tree, value, PY_F_right);

		broken = broken || py_has(l->tree, value, PY_HAS_ERROR);
		if (left)
			vec_push(l->scratch, &targets, left);
		if (!right && (type || !left))
			break;
		value = right;
	}
	if (targets.count == 0) {
		py_broken(l, node, "syntax error");
		py_drop(l, py_span(l, node));
	} else if (type && value == node) {
		assign_nothing(l, targets.at[0]);
	} else {
		assign_value(l, targets.at, targets.count, value, broken);
	}
	if (type && targets.count)
		annotate(l, targets.at[0], type);
}

static void inplace(struct py_lower *l, uint32_t node)
{
	uint32_t token = py_field(l->tree, node, PY_F_operator);
	enum ir_sub sub = token ? py_binary_sub(py_kind(l->tree, token)) : SUB_NONE;

	py_expr(l, py_field(l->tree, node, PY_F_right));
	if (sub)
		py_emit(l, OP_inplace, sub, 0, py_span(l, node), 2);
	else
		py_unknown(l, "syntax error", py_span(l, node), 2);
}

static void augmented_attribute(struct py_lower *l, uint32_t node, uint32_t target)
{
	uint32_t attribute = py_field(l->tree, target, PY_F_attribute);
	uint32_t name = attribute ? py_ident(l, attribute).n : 0;
	struct span span = py_span(l, target);
	slot_id object = py_hidden(l);

	py_expr(l, py_field(l->tree, target, PY_F_object));
	py_hidden_store(l, object, span);
	py_hidden_load(l, object, span);
	py_emit(l, OP_load_attr, SUB_NONE, name, span, 1);
	inplace(l, node);
	py_hidden_take(l, object, span);
	py_raise_pending(l, l->pending.count - 2);
	py_emit(l, OP_store_attr, SUB_NONE, name, span, 2);
	py_hidden_free(l, object);
}

static void augmented_item(struct py_lower *l, uint32_t node, uint32_t target)
{
	struct span span = py_span(l, target);
	slot_id object = py_hidden(l), index = py_hidden(l);

	py_expr(l, py_field(l->tree, target, PY_F_value));
	py_hidden_store(l, object, span);
	py_index(l, target);
	py_hidden_store(l, index, span);
	py_hidden_load(l, object, span);
	py_hidden_load(l, index, span);
	py_emit(l, OP_load_item, SUB_NONE, 0, span, 2);
	inplace(l, node);
	py_hidden_take(l, object, span);
	py_hidden_take(l, index, span);
	py_raise_pending(l, l->pending.count - 3);
	py_emit(l, OP_store_item, SUB_NONE, 0, span, 3);
	py_hidden_free(l, object);
	py_hidden_free(l, index);
}

void py_augmented(struct py_lower *l, uint32_t node)
{
	uint32_t left = py_field(l->tree, node, PY_F_left);
	uint32_t target = left ? py_unwrap(l->tree, left) : 0;

	switch (target && !py_has(l->tree, target, PY_HAS_ERROR) ? py_kind(l->tree, target)
	                                                         : PY_ERROR) {
	case PY_identifier:
		py_expr(l, target);
		inplace(l, node);
		py_assign_name(l, target);
		break;
	case PY_attribute:
		augmented_attribute(l, node, target);
		break;
	case PY_subscript:
		augmented_item(l, node, target);
		break;
	default:
		py_broken(l, node, "syntax error");
		py_gap(l, py_span(l, node), "syntax error");
		py_drop(l, py_span(l, node));
	}
}

static void delete_one(struct py_lower *l, uint32_t node)
{
	uint32_t name = py_field(l->tree, node, PY_F_attribute);

	switch (py_kind(l->tree, node)) {
	case PY_identifier:
		py_delete(l, py_ident(l, node), py_span(l, node));
		break;
	case PY_attribute:
		py_expr(l, py_field(l->tree, node, PY_F_object));
		py_emit(l, OP_delete_attr, SUB_NONE, name ? py_ident(l, name).n : 0,
		        py_span(l, node), 1);
		break;
	case PY_subscript:
		py_expr(l, py_field(l->tree, node, PY_F_value));
		py_index(l, node);
		py_emit(l, OP_delete_item, SUB_NONE, 0, py_span(l, node), 2);
		break;
	default:
		if (is_sequence(l, node)) {
			for (uint32_t c = py_first(l->tree, node); c; c = py_next(l->tree, node, c))
				py_delete_target(l, c);
		} else {
			py_broken(l, node, "syntax error");
			py_drop(l, py_span(l, node));
		}
	}
}

void py_delete_target(struct py_lower *l, uint32_t node)
{
	uint32_t depth = l->depth;

	node = py_unwrap(l->tree, node);
	if (py_enter_depth(l, node))
		delete_one(l, node);
	l->depth = depth;
}
