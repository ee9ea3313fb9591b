#include "analyzer/front/python_lower.h"

/* A `for` or `if` clause, opened. */
struct clause {
	block_id next; /* where the next item is fetched */
	block_id done;
	slot_id iterator;
	bool outermost;
};

static void for_clause(struct py_lower *l, uint32_t node, struct clause *clause)
{
	uint32_t left = py_field(l->tree, node, PY_F_left);
	uint32_t right = py_field(l->tree, node, PY_F_right);
	struct span span = py_span(l, node);
	bool async = py_has(l->tree, node, PY_HAS_ASYNC);

	clause->next = py_block(l);
	clause->done = py_block(l);
	if (!clause->outermost) {
		clause->iterator = py_hidden(l);
		py_expr(l, right);
		py_emit(l, OP_iter, async ? SUB_iter_async : SUB_iter_sync, 0,
		        right ? py_span(l, right) : span, 1);
		py_hidden_store(l, clause->iterator, span);
	}
	py_enter_block(l, clause->next, span);
	ir_loop_span(l->func->builder, clause->next, span);
	py_next_item(l, clause->iterator, clause->done, span);
	py_assign(l, left);
}

static void if_clause(struct py_lower *l, uint32_t node, const struct clause *innermost)
{
	block_id yes = py_block(l);

	py_condition(l, py_first(l->tree, node), yes, innermost->next);
	py_join(l, yes, py_span(l, node));
}

static void element(struct py_lower *l, uint32_t node, uint32_t body, slot_id result)
{
	enum py_kind kind = py_kind(l->tree, node);
	struct span span = body ? py_span(l, body) : py_span(l, node);

	if (kind == PY_generator_expression) {
		py_expr(l, body);
		py_emit(l, OP_yield, SUB_yield_value, 0, span, 1);
		py_drop(l, span);
	} else if (kind == PY_dictionary_comprehension && body) {
		py_expr(l, py_field(l->tree, body, PY_F_key));
		py_expr(l, py_field(l->tree, body, PY_F_value));
		py_emit(l, OP_collect, SUB_build_dict, result.n, span, 2);
	} else {
		py_expr(l, body);
		py_emit(l, OP_collect,
		        kind == PY_set_comprehension ? SUB_build_set : SUB_build_list, result.n,
		        span, 1);
	}
}

static void close_clause(struct py_lower *l, const struct clause *clause, struct span span)
{
	py_jump(l, clause->next, span);
	py_start(l, clause->done);
	if (clause->outermost)
		return;
	py_hidden_unbind(l, clause->iterator, span);
	py_hidden_free(l, clause->iterator);
}

static void clauses(struct py_lower *l, uint32_t node, slot_id iterator, slot_id result)
{
	VEC(struct clause) open = {0};

	for (uint32_t c = py_first(l->tree, node); c; c = py_next(l->tree, node, c)) {
		if (py_kind(l->tree, c) == PY_for_in_clause) {
			struct clause clause = {.iterator = iterator, .outermost = open.count == 0};
			for_clause(l, c, &clause);
			vec_push(l->scratch, &open, clause);
		} else if (py_kind(l->tree, c) == PY_if_clause && open.count) {
			if_clause(l, c, &open.at[open.count - 1]);
		}
	}
	element(l, node, py_field(l->tree, node, PY_F_body), result);
	while (open.count)
		close_clause(l, &open.at[--open.count], py_span(l, node));
}

static enum well_known_name scope_name(enum py_kind kind)
{
	switch (kind) {
	case PY_list_comprehension:
		return SYM_list_comprehension;
	case PY_set_comprehension:
		return SYM_set_comprehension;
	case PY_dictionary_comprehension:
		return SYM_dict_comprehension;
	default:
		return SYM_generator_expression;
	}
}

static enum ir_sub result_sub(enum py_kind kind)
{
	switch (kind) {
	case PY_set_comprehension:
		return SUB_build_set;
	case PY_dictionary_comprehension:
		return SUB_build_dict;
	default:
		return SUB_build_list;
	}
}

static void comprehension_lower(struct py_lower *l, uint32_t node, uint32_t scope)
{
	enum py_kind kind = py_kind(l->tree, node);
	bool generator = kind == PY_generator_expression;
	uint32_t symbol = py_symbol_find(&l->scopes, scope, sym(SYM_outermost_iterator));
	slot_id iterator = l->scopes.symbols.at[symbol].slot;
	struct span span = py_span(l, node);
	struct py_func func;
	slot_id result = {0};

	py_func_begin(l, &func, scope, FUNC_COMPREHENSION);
	py_func_name(l, scope_name(kind));
	vec_push(l->arena, &ir_builder_func(func.builder)->params,
	         (struct ir_param){.slot = iterator, .kind = PARAM_POSITIONAL_ONLY});
	if (!generator) {
		result = py_hidden(l);
		py_emit(l, OP_build, result_sub(kind), 0, span, 0);
		py_hidden_store(l, result, span);
	}
	clauses(l, node, iterator, result);
	if (generator)
		py_none(l, span);
	else
		py_hidden_take(l, result, span);
	py_return(l, span);
	py_func_end(l);
}

/* `a, b` after `in` is a tuple (Python 2). */
static void iterable(struct py_lower *l, uint32_t clause, struct span span)
{
	uint32_t base = l->pending.count;

	for (uint32_t c = py_first(l->tree, clause); c; c = py_next(l->tree, clause, c))
		if (l->tree->nodes[c].field == PY_F_right &&
		    l->pending.count - base < PY_OPERANDS_MAX)
			py_expr(l, c);
	if (l->pending.count == base)
		py_unknown(l, "syntax error", span, 0);
	else if (l->pending.count > base + 1)
		py_emit(l, OP_build, SUB_build_tuple, 0, span, l->pending.count - base);
}

/* A comprehension that awaits one inside is awaited itself. */
static void become_async(struct py_lower *l)
{
	l->scopes.scopes.at[l->func->scope].is_async = true;
	ir_builder_func(l->func->builder)->is_async = true;
}

/* The outermost iterator is made here and handed to the function. */
void py_comprehension(struct py_lower *l, uint32_t node)
{
	uint32_t scope = py_scope_open(l, node);
	uint32_t clause = py_child(l->tree, node, PY_for_in_clause);
	struct span span = py_span(l, node);
	bool generator = py_kind(l->tree, node) == PY_generator_expression;
	bool async;

	if (!scope)
		return;
	if (!clause) {
		py_broken(l, node, "syntax error");
		return;
	}
	async = py_has(l->tree, clause, PY_HAS_ASYNC);
	if (!l->lowered[scope].n)
		comprehension_lower(l, node, scope);
	iterable(l, clause, span);
	py_emit(l, OP_iter, async ? SUB_iter_async : SUB_iter_sync, 0, span, 1);
	py_emit(l, OP_function, SUB_NONE, l->lowered[scope].n, span, 0);
	py_raise_pending(l, l->pending.count - 2);
	py_emit(l, OP_call, SUB_NONE, 0, span, 2);
	if (l->scopes.scopes.at[scope].is_async && !generator) {
		py_emit(l, OP_await, SUB_NONE, 0, span, 1);
		if (l->scopes.scopes.at[l->func->scope].kind == PY_SCOPE_COMPREHENSION)
			become_async(l);
	}
}
