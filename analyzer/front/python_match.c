#include "analyzer/front/python_pattern.h"

static void case_patterns(struct py_matching *m, uint32_t clause, slot_id subject, block_id fail)
{
	VEC(uint32_t) parts = {0};
	struct py_lower *l = m->l;

	for (uint32_t c = py_first(l->tree, clause); c; c = py_next(l->tree, clause, c))
		if (py_kind(l->tree, c) == PY_case_pattern)
			vec_push(l->scratch, &parts, c);
	if (parts.count == 1 && !py_has(l->tree, clause, PY_HAS_COMMA))
		py_pattern(m, parts.at[0], subject, fail);
	else if (parts.count)
		py_sequence_pattern(m, parts.at, parts.count, subject, fail,
		                    (struct span){py_span(l, parts.at[0]).start,
		                                  py_span(l, parts.at[parts.count - 1]).end});
	else
		py_broken_pattern(m, clause, subject, fail);
}

static void bind_captures(struct py_matching *m)
{
	struct py_lower *l = m->l;

	for (uint32_t i = 0; i < m->captures.count; i++) {
		struct py_capture bound = m->captures.at[i];
		py_hidden_take(l, bound.slot, py_span(l, bound.name));
		py_assign_name(l, bound.name);
		py_hidden_free(l, bound.slot);
	}
}

static void case_clause(struct py_lower *l, uint32_t clause, slot_id subject, block_id end)
{
	struct py_matching m = {.l = l};
	struct span span = py_span(l, clause);
	uint32_t guard = py_field(l->tree, clause, PY_F_guard);
	uint32_t log = l->func->log.count, used;
	block_id fail = py_block(l), other = fail;

	case_patterns(&m, clause, subject, fail);
	bind_captures(&m);
	used = l->func->log.count;
	if (guard) {
		block_id body = py_block(l);
		other = py_block(l);
		py_condition(l, py_first(l->tree, guard), body, other);
		py_join(l, body, span);
	}
	py_hidden_unbind(l, subject, span);
	py_body(l, py_field(l->tree, clause, PY_F_consequence));
	py_jump(l, end, span);
	py_join(l, fail, span);
	if (!py_is_dead(l)) {
		uint32_t now = l->func->log.count;
		l->func->log.count = used;
		py_hidden_unbind_since(l, log, span);
		l->func->log.count = now;
	}
	if (guard)
		py_join(l, other, span);
}

static void subject_value(struct py_lower *l, uint32_t node)
{
	uint32_t base = l->pending.count;

	for (uint32_t c = py_first(l->tree, node); c; c = py_next(l->tree, node, c)) {
		uint32_t splat = 0;
		if (l->tree->nodes[c].field != PY_F_subject ||
		    l->pending.count - base == PY_OPERANDS_MAX)
			continue;
		if (py_kind(l->tree, c) == PY_list_splat)
			splat = py_first(l->tree, c);
		py_expr(l, splat ? splat : c);
		if (splat)
			py_keyword(l, sym(SYM_star));
	}
	if (l->pending.count == base)
		py_unknown(l, "syntax error", py_span(l, node), 0);
	else if (l->pending.count > base + 1 || py_has(l->tree, node, PY_HAS_COMMA))
		py_emit(l, OP_build, SUB_build_tuple, 0, py_span(l, node), l->pending.count - base);
}

void py_match(struct py_lower *l, uint32_t node)
{
	uint32_t body = py_field(l->tree, node, PY_F_body);
	struct span span = py_span(l, node);
	block_id end = py_block(l);
	slot_id subject = py_hidden(l);

	subject_value(l, node);
	py_hidden_store(l, subject, span);
	for (uint32_t c = body ? py_first(l->tree, body) : 0; c; c = py_next(l->tree, body, c))
		if (py_kind(l->tree, c) == PY_case_clause)
			case_clause(l, c, subject, end);
	if (!py_is_dead(l))
		py_hidden_unbind(l, subject, span);
	py_join(l, end, span);
	py_hidden_free(l, subject);
}
