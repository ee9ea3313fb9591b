#include "analyzer/front/python_pattern.h"

/* The value on top is bound to the name, in the end. */
static void capture_top(struct py_matching *m, uint32_t name)
{
	struct py_lower *l = m->l;
	struct span span = py_span(l, name);
	sym_id id = py_ident(l, name);

	for (uint32_t i = 0; i < m->captures.count; i++)
		if (sym_same(py_ident(l, m->captures.at[i].name), id)) {
			py_hidden_store(l, m->captures.at[i].slot, span);
			return;
		}
	struct py_capture capture = {name, py_hidden(l)};
	vec_push(l->scratch, &m->captures, capture);
	py_hidden_store(l, capture.slot, span);
}

static void capture(struct py_matching *m, uint32_t name, slot_id subject)
{
	py_hidden_load(m->l, subject, py_span(m->l, name));
	capture_top(m, name);
}

/* Goes on if the value on top is true. */
static void require(struct py_lower *l, block_id fail, struct span span)
{
	block_id next = py_block(l);

	py_branch(l, next, fail, span);
	py_start(l, next);
}

/* The value on top is matched against a pattern in it. */
static void part(struct py_matching *m, uint32_t node, block_id fail)
{
	struct py_lower *l = m->l;
	struct span span = py_span(l, node);
	slot_id slot = py_hidden(l);

	py_hidden_store(l, slot, span);
	py_pattern(m, node, slot, fail);
	py_hidden_unbind(l, slot, span);
	py_hidden_free(l, slot);
}

static bool is_wildcard(const struct py_lower *l, uint32_t node)
{
	uint32_t first = py_first(l->tree, node);

	return py_kind(l->tree, node) == PY_T_underscore ||
	       (py_kind(l->tree, node) == PY_case_pattern && first &&
	        py_kind(l->tree, first) == PY_T_underscore);
}

/* `*name` or `**name`: 0 for `*_` and anything else. */
static uint32_t splat_name(const struct py_lower *l, uint32_t node)
{
	return py_child(l->tree, node, PY_identifier);
}

static uint32_t as_splat(const struct py_lower *l, uint32_t node)
{
	if (py_kind(l->tree, node) == PY_case_pattern && py_first(l->tree, node))
		node = py_first(l->tree, node);
	return py_kind(l->tree, node) == PY_splat_pattern ? node : 0;
}

static uint32_t sequence_shape(const struct py_lower *l, const uint32_t *parts, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (as_splat(l, parts[i]))
			return i | (count - i - 1) << 15 | 1u << 30;
	return count;
}

static bool binds_nothing(const struct py_lower *l, uint32_t node)
{
	uint32_t splat = as_splat(l, node);

	return is_wildcard(l, node) || (splat && !splat_name(l, splat));
}

/* `from_end`: the index counts back from there. */
static void sequence_part(struct py_matching *m, uint32_t node, slot_id items, uint32_t index,
                          bool from_end, block_id fail)
{
	struct py_lower *l = m->l;
	struct span span = py_span(l, node);
	uint32_t splat = as_splat(l, node);

	if (binds_nothing(l, node))
		return;
	py_hidden_load(l, items, span);
	py_int(l, index, span);
	if (from_end)
		py_emit(l, OP_unary, SUB_unary_negative, 0, span, 1);
	py_emit(l, OP_load_item, SUB_NONE, 0, span, 2);
	if (splat)
		capture_top(m, splat_name(l, splat));
	else
		part(m, node, fail);
}

/* With `*_`, or nothing but `_`, a sequence is not unpacked. */
static bool needs_unpack(const struct py_lower *l, const uint32_t *parts, uint32_t count)
{
	bool all_wild = true;

	for (uint32_t i = 0; i < count; i++) {
		if (as_splat(l, parts[i]) && binds_nothing(l, parts[i]))
			return false;
		all_wild = all_wild && binds_nothing(l, parts[i]);
	}
	return !all_wild;
}

static void sequence_items(struct py_matching *m, const uint32_t *parts, uint32_t count,
                           slot_id subject, block_id fail)
{
	bool after = false;

	for (uint32_t i = 0; i < count; i++) {
		sequence_part(m, parts[i], subject, after ? count - i : i, after, fail);
		after = after || as_splat(m->l, parts[i]);
	}
}

static void sequence_unpacked(struct py_matching *m, const uint32_t *parts, uint32_t count,
                              slot_id subject, block_id fail, struct span span)
{
	struct py_lower *l = m->l;
	slot_id items;

	py_hidden_load(l, subject, span);
	py_emit(l, OP_unpack, SUB_NONE, sequence_shape(l, parts, count), span, 1);
	items = py_hidden(l);
	py_hidden_store(l, items, span);
	for (uint32_t i = 0; i < count; i++)
		sequence_part(m, parts[i], items, i, false, fail);
	py_hidden_unbind(l, items, span);
	py_hidden_free(l, items);
}

void py_sequence_pattern(struct py_matching *m, const uint32_t *parts, uint32_t count,
                         slot_id subject, block_id fail, struct span span)
{
	struct py_lower *l = m->l;

	if (count > 0x7fff) {
		py_gap(l, span, "too many patterns");
		return;
	}
	py_hidden_load(l, subject, span);
	py_emit(l, OP_match, SUB_match_sequence, sequence_shape(l, parts, count), span, 1);
	require(l, fail, span);
	if (needs_unpack(l, parts, count))
		sequence_unpacked(m, parts, count, subject, fail, span);
	else
		sequence_items(m, parts, count, subject, fail);
}

static void sequence_children(struct py_matching *m, uint32_t node, slot_id subject, block_id fail)
{
	VEC(uint32_t) parts = {0};
	struct py_lower *l = m->l;

	for (uint32_t c = py_first(l->tree, node); c; c = py_next(l->tree, node, c))
		vec_push(l->scratch, &parts, c);
	if (parts.count == 1 && py_kind(l->tree, node) == PY_tuple_pattern &&
	    !py_has(l->tree, node, PY_HAS_COMMA) && !as_splat(l, parts.at[0]))
		py_pattern(m, parts.at[0], subject, fail);
	else
		py_sequence_pattern(m, parts.at, parts.count, subject, fail, py_span(l, node));
}

/* a.b.c */
static void dotted_value(struct py_lower *l, uint32_t node)
{
	uint32_t first = py_first(l->tree, node);

	py_expr(l, first);
	for (uint32_t c = first ? py_next(l->tree, node, first) : 0; c;
	     c = py_next(l->tree, node, c)) {
		struct span span = {py_span(l, node).start, py_span(l, c).end};
		py_emit(l, OP_load_attr, SUB_NONE, py_ident(l, c).n, span, 1);
	}
}

/* -1, 2 + 3j, -2 - 3j */
static void complex_value(struct py_lower *l, uint32_t node)
{
	bool minus = false, seen = false;

	for (uint32_t c = py_first(l->tree, node); c; c = py_next(l->tree, node, c)) {
		enum py_kind kind = py_kind(l->tree, c);
		if (kind == PY_T_minus || kind == PY_T_plus) {
			minus = kind == PY_T_minus;
			continue;
		}
		py_expr(l, c);
		if (seen)
			py_emit(l, OP_binary, minus ? SUB_binary_subtract : SUB_binary_add, 0,
			        py_span(l, node), 2);
		else if (minus)
			py_emit(l, OP_unary, SUB_unary_negative, 0, py_span(l, node), 1);
		seen = true;
		minus = false;
	}
	if (!seen)
		py_unknown(l, "syntax error", py_span(l, node), 0);
}

static void value(struct py_lower *l, uint32_t node, bool minus)
{
	if (py_kind(l->tree, node) == PY_dotted_name)
		dotted_value(l, node);
	else if (py_kind(l->tree, node) == PY_complex_pattern)
		complex_value(l, node);
	else
		py_expr(l, node);
	if (minus)
		py_emit(l, OP_unary, SUB_unary_negative, 0, py_span(l, node), 1);
}

static void equals(struct py_matching *m, uint32_t node, bool minus, slot_id subject, block_id fail)
{
	struct py_lower *l = m->l;
	struct span span = py_span(l, node);
	enum py_kind kind = py_kind(l->tree, node);
	bool same = kind == PY_none || kind == PY_true || kind == PY_false;

	py_hidden_load(l, subject, span);
	value(l, node, minus);
	py_emit(l, OP_compare, same ? SUB_compare_is : SUB_compare_equal, 0, span, 2);
	require(l, fail, span);
}

/* A pattern or a number after its minus. Returns the node it ends with. */
static uint32_t signed_pattern(struct py_matching *m, uint32_t parent, uint32_t node,
                               slot_id subject, block_id fail)
{
	struct py_lower *l = m->l;
	uint32_t number = py_kind(l->tree, node) == PY_T_minus ? py_next(l->tree, parent, node) : 0;

	if (!number) {
		py_pattern(m, node, subject, fail);
		return node;
	}
	equals(m, number, true, subject, fail);
	return number;
}

static void alternatives(struct py_matching *m, uint32_t node, slot_id subject, block_id fail)
{
	struct py_lower *l = m->l;
	struct span span = py_span(l, node);
	block_id matched = py_block(l);

	for (uint32_t c = py_first(l->tree, node); c;) {
		block_id other = py_block(l);
		uint32_t log = l->func->log.count;
		uint32_t end = signed_pattern(m, node, c, subject, other);

		py_jump(l, matched, span);
		c = py_next(l->tree, node, end);
		py_join(l, other, span);
		if (py_is_dead(l))
			break;
		py_hidden_unbind_since(l, log, span);
	}
	if (!py_is_dead(l))
		py_jump(l, fail, span);
	py_join(l, matched, span);
}

/* The keys of a mapping pattern, evaluated once. */
struct keys {
	VEC(uint32_t) values; /* patterns */
	VEC(slot_id) slots;
	uint32_t rest;
};

static void keys_read(struct py_matching *m, uint32_t node, struct keys *keys)
{
	struct py_lower *l = m->l;
	bool minus = false;

	for (uint32_t c = py_first(l->tree, node); c; c = py_next(l->tree, node, c)) {
		if (py_kind(l->tree, c) == PY_T_minus) {
			minus = true;
		} else if (l->tree->nodes[c].field == PY_F_key) {
			slot_id slot = py_hidden(l);
			value(l, c, minus);
			py_hidden_store(l, slot, py_span(l, c));
			vec_push(l->scratch, &keys->slots, slot);
			minus = false;
		} else if (l->tree->nodes[c].field == PY_F_value) {
			vec_push(l->scratch, &keys->values, c);
		} else if (as_splat(l, c)) {
			keys->rest = splat_name(l, as_splat(l, c));
		}
	}
}

static void keys_load(struct py_lower *l, const struct keys *keys, struct span span)
{
	for (uint32_t i = 0; i < keys->slots.count && i < PY_OPERANDS_MAX; i++)
		py_hidden_load(l, keys->slots.at[i], span);
}

static void keys_release(struct py_lower *l, const struct keys *keys, struct span span)
{
	for (uint32_t i = 0; i < keys->slots.count; i++) {
		py_hidden_unbind(l, keys->slots.at[i], span);
		py_hidden_free(l, keys->slots.at[i]);
	}
}

static void mapping(struct py_matching *m, uint32_t node, slot_id subject, block_id fail)
{
	struct py_lower *l = m->l;
	struct span span = py_span(l, node);
	uint32_t base = l->pending.count;
	struct keys keys = {.rest = 0};

	keys_read(m, node, &keys);
	py_hidden_load(l, subject, span);
	keys_load(l, &keys, span);
	py_emit(l, OP_match, SUB_match_mapping, 0, span, l->pending.count - base);
	require(l, fail, span);
	for (uint32_t i = 0; i < keys.values.count && i < keys.slots.count; i++) {
		if (is_wildcard(l, keys.values.at[i]))
			continue;
		py_hidden_load(l, subject, span);
		py_hidden_load(l, keys.slots.at[i], span);
		py_emit(l, OP_load_item, SUB_NONE, 0, span, 2);
		part(m, keys.values.at[i], fail);
	}
	if (keys.rest) {
		base = l->pending.count;
		py_hidden_load(l, subject, span);
		keys_load(l, &keys, span);
		py_emit(l, OP_match, SUB_match_rest, 0, span, l->pending.count - base);
		capture_top(m, keys.rest);
	}
	keys_release(l, &keys, span);
}

static uint32_t keyword_part(const struct py_lower *l, uint32_t node)
{
	uint32_t inner = py_kind(l->tree, node) == PY_case_pattern ? py_first(l->tree, node) : node;

	return inner && py_kind(l->tree, inner) == PY_keyword_pattern ? inner : 0;
}

static void class_keyword(struct py_matching *m, uint32_t node, slot_id subject, block_id fail)
{
	struct py_lower *l = m->l;
	struct span span = py_span(l, node);
	uint32_t name = py_first(l->tree, node);
	uint32_t inner = name ? py_next(l->tree, node, name) : 0;
	slot_id slot;

	if (!inner)
		return;
	py_hidden_load(l, subject, span);
	py_emit(l, OP_match, SUB_match_attribute, py_ident(l, name).n, span, 1);
	require(l, fail, span);
	py_hidden_load(l, subject, span);
	py_emit(l, OP_load_attr, SUB_NONE, py_ident(l, name).n, span, 1);
	slot = py_hidden(l);
	py_hidden_store(l, slot, span);
	signed_pattern(m, node, inner, slot, fail);
	py_hidden_unbind(l, slot, span);
	py_hidden_free(l, slot);
}

static void class_position(struct py_matching *m, uint32_t node, slot_id subject, slot_id type,
                           uint32_t index, block_id fail)
{
	struct py_lower *l = m->l;
	struct span span = py_span(l, node);

	if (is_wildcard(l, node))
		return;
	py_hidden_load(l, subject, span);
	py_hidden_load(l, type, span);
	py_emit(l, OP_match, SUB_match_position, index, span, 2);
	part(m, node, fail);
}

static void class_pattern(struct py_matching *m, uint32_t node, slot_id subject, block_id fail)
{
	struct py_lower *l = m->l;
	struct span span = py_span(l, node);
	uint32_t first = py_first(l->tree, node);
	uint32_t positions = 0;
	slot_id type = py_hidden(l);

	for (uint32_t c = first ? py_next(l->tree, node, first) : 0; c;
	     c = py_next(l->tree, node, c))
		positions += !keyword_part(l, c);
	if (first)
		dotted_value(l, first);
	else
		py_unknown(l, "syntax error", span, 0);
	py_hidden_store(l, type, span);
	py_hidden_load(l, subject, span);
	py_hidden_load(l, type, span);
	py_emit(l, OP_match, SUB_match_class, positions, span, 2);
	require(l, fail, span);
	positions = 0;
	for (uint32_t c = first ? py_next(l->tree, node, first) : 0; c;
	     c = py_next(l->tree, node, c)) {
		uint32_t keyword = keyword_part(l, c);
		if (keyword)
			class_keyword(m, keyword, subject, fail);
		else
			class_position(m, c, subject, type, positions++, fail);
	}
	py_hidden_unbind(l, type, span);
	py_hidden_free(l, type);
}

static void as_pattern(struct py_matching *m, uint32_t node, slot_id subject, block_id fail)
{
	struct py_lower *l = m->l;
	uint32_t inner = py_first(l->tree, node);
	uint32_t name = py_child(l->tree, node, PY_identifier);

	if (inner && inner != name)
		py_pattern(m, inner, subject, fail);
	if (name)
		capture(m, name, subject);
}

void py_broken_pattern(struct py_matching *m, uint32_t node, slot_id subject, block_id fail)
{
	struct py_lower *l = m->l;

	py_hidden_load(l, subject, py_span(l, node));
	py_unknown(l, "syntax error", py_span(l, node), 1);
	require(l, fail, py_span(l, node));
}

static void pattern_of_kind(struct py_matching *m, uint32_t node, slot_id subject, block_id fail)
{
	struct py_lower *l = m->l;
	uint32_t first = py_first(l->tree, node);

	switch (py_kind(l->tree, node)) {
	case PY_T_underscore:
		break;
	case PY_case_pattern:
		if (first)
			signed_pattern(m, node, first, subject, fail);
		break;
	case PY_dotted_name:
		if (py_child_count(l->tree, node) == 1)
			capture(m, first, subject);
		else
			equals(m, node, false, subject, fail);
		break;
	case PY_as_pattern:
		as_pattern(m, node, subject, fail);
		break;
	case PY_union_pattern:
		alternatives(m, node, subject, fail);
		break;
	case PY_list_pattern:
	case PY_tuple_pattern:
		sequence_children(m, node, subject, fail);
		break;
	case PY_dict_pattern:
		mapping(m, node, subject, fail);
		break;
	case PY_class_pattern:
		class_pattern(m, node, subject, fail);
		break;
	case PY_string:
	case PY_concatenated_string:
	case PY_integer:
	case PY_float:
	case PY_true:
	case PY_false:
	case PY_none:
	case PY_complex_pattern:
		equals(m, node, false, subject, fail);
		break;
	default:
		py_broken_pattern(m, node, subject, fail);
	}
}

void py_pattern(struct py_matching *m, uint32_t node, slot_id subject, block_id fail)
{
	uint32_t depth = m->l->depth;

	if (py_enter_depth(m->l, node))
		pattern_of_kind(m, node, subject, fail);
	else
		py_broken_pattern(m, node, subject, fail);
	m->l->depth = depth;
}
