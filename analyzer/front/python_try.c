#include "analyzer/front/python_lower.h"

static void unbind_name(struct py_lower *l, uint32_t name)
{
	if (py_kind(l->tree, name) != PY_identifier)
		return;
	py_none(l, py_span(l, name));
	py_assign_name(l, name);
	py_delete(l, py_ident(l, name), py_span(l, name));
}

static void finally_again(struct py_lower *l, uint32_t block)
{
	uint32_t nodes = l->tree->nodes[block].next - block;

	if (l->finally_nodes < nodes) {
		py_gap(l, py_span(l, block), "finally blocks nested too deeply");
		py_unknown(l, "finally blocks nested too deeply", py_span(l, block), 0);
		py_drop(l, py_span(l, block));
		return;
	}
	l->finally_nodes -= nodes;
	py_body(l, block);
}

void py_leave(struct py_lower *l, slot_id manager, struct span span)
{
	py_emit(l, OP_leave, SUB_leave_normal, manager.n, span, 0);
	py_drop(l, span);
}

static void unwind_one(struct py_lower *l, const struct py_exit *at, struct span span)
{
	switch (at->kind) {
	case PY_EXIT_LOOP:
		if (at->slot.n)
			py_hidden_unbind(l, at->slot, span);
		break;
	case PY_EXIT_WITH:
		py_handler(l, at->handler, span);
		py_leave(l, at->slot, py_span(l, at->node));
		break;
	case PY_EXIT_FINALLY:
		py_handler(l, at->handler, span);
		finally_again(l, at->node);
		break;
	case PY_EXIT_EXCEPT:
		if (at->node)
			unbind_name(l, at->node);
		py_hidden_unbind(l, at->slot, span);
		break;
	}
}

void py_unwind(struct py_lower *l, struct py_exit *stop, struct span span)
{
	struct py_exit *exits = l->func->exits;

	for (struct py_exit *at = exits; at != stop; at = at->outer) {
		l->func->exits = at->outer;
		unwind_one(l, at, span);
	}
	l->func->exits = exits;
}

/* The handler begins: what the guarded code left bound is unbound, and the
 * exception waits in a slot. */
void py_catch_begin(struct py_lower *l, struct py_caught *caught, block_id handler, uint32_t log,
                    struct span span)
{
	py_start(l, handler);
	py_emit(l, OP_caught, SUB_NONE, 0, span, 0);
	py_hidden_unbind_since(l, log, span);
	caught->exception = py_hidden(l);
	py_hidden_store(l, caught->exception, span);
	caught->outer = l->func->handling;
	l->func->handling = caught->exception;
}

void py_catch_end(struct py_lower *l, struct py_caught *caught)
{
	l->func->handling = caught->outer;
	py_hidden_free(l, caught->exception);
}

void py_raise_again(struct py_lower *l, struct py_caught *caught, struct span span)
{
	py_hidden_take(l, caught->exception, span);
	py_throw(l, span, 1);
}

/* The clause's type and what `as` binds. */
struct except_head {
	uint32_t type, name;
	uint32_t more; /* another type, without parentheses */
};

static struct except_head except_head(const struct py_lower *l, uint32_t clause)
{
	struct except_head head = {.name = py_field(l->tree, clause, PY_F_alias)};
	uint32_t value = py_field(l->tree, clause, PY_F_value);

	head.type = value;
	if (value && py_kind(l->tree, value) == PY_as_pattern) {
		head.type = py_first(l->tree, value);
		head.name = py_field(l->tree, value, PY_F_alias);
	}
	for (uint32_t c = value ? py_next(l->tree, clause, value) : 0; c && !head.more;
	     c = py_next(l->tree, clause, c))
		if (l->tree->nodes[c].field == PY_F_value)
			head.more = c;
	if (head.name && py_kind(l->tree, head.name) == PY_as_pattern_target)
		head.name = py_first(l->tree, head.name);
	return head;
}

static void except_types(struct py_lower *l, uint32_t clause, const struct except_head *head)
{
	uint32_t base = l->pending.count;
	struct span span = py_span(l, head->type);

	py_expr(l, head->type);
	for (uint32_t c = head->more; c; c = py_next(l->tree, clause, c)) {
		if (l->tree->nodes[c].field != PY_F_value)
			continue;
		py_expr(l, c);
		span.end = py_span(l, c).end;
	}
	if (head->more)
		py_emit(l, OP_build, SUB_build_tuple, 0, span, l->pending.count - base);
}

/* Pushes whether the clause takes the exception. except* takes a part of a
 * group, which nothing here models. */
static void except_test(struct py_lower *l, uint32_t clause, const struct except_head *head,
                        struct py_caught *caught)
{
	struct span span = py_span(l, head->type);

	py_hidden_load(l, caught->exception, span);
	except_types(l, clause, head);
	if (py_has(l->tree, clause, PY_HAS_STAR))
		py_unknown(l, "except*", span, 2);
	else
		py_emit(l, OP_compare, SUB_compare_catches, 0, span, 2);
}

/* The clause's body, with the name unbound on every way out of it. */
static void except_body(struct py_lower *l, uint32_t clause, uint32_t name,
                        struct py_caught *caught, block_id end)
{
	struct py_exit exit = {
	        .outer = l->func->exits,
	        .kind = PY_EXIT_EXCEPT,
	        .handler = ir_handler(l->func->builder),
	        .slot = caught->exception,
	        .node = name,
	};
	struct span span = py_span(l, clause);
	uint32_t log = l->func->log.count;
	block_id cleanup = name ? py_block(l) : (block_id){0};

	if (name) {
		py_hidden_load(l, caught->exception, py_span(l, name));
		py_assign(l, name);
		py_handler(l, cleanup, span);
	}
	l->func->exits = &exit;
	py_body(l, py_child(l->tree, clause, PY_block));
	l->func->exits = exit.outer;
	if (name)
		py_handler(l, exit.handler, span);
	if (!py_is_dead(l)) {
		if (name)
			unbind_name(l, name);
		if (!py_has(l->tree, clause, PY_HAS_STAR))
			py_hidden_unbind(l, caught->exception, span);
		py_jump(l, end, span);
	}
	if (name && ir_block_used(l->func->builder, cleanup)) {
		struct py_caught inner;
		py_catch_begin(l, &inner, cleanup, log, span);
		unbind_name(l, name);
		py_hidden_unbind(l, caught->exception, span);
		py_raise_again(l, &inner, span);
		py_catch_end(l, &inner);
	}
}

/* Returns whether the clause takes whatever is left. */
static bool except_clause(struct py_lower *l, uint32_t clause, struct py_caught *caught,
                          block_id end)
{
	struct except_head head = except_head(l, clause);
	block_id next;

	if (!head.type) {
		except_body(l, clause, head.name, caught, end);
		return true;
	}
	block_id body = py_block(l);
	next = py_block(l);
	except_test(l, clause, &head, caught);
	py_branch(l, body, next, py_span(l, head.type));
	py_start(l, body);
	except_body(l, clause, head.name, caught,
	            py_has(l->tree, clause, PY_HAS_STAR) ? next : end);
	py_start(l, next);
	return false;
}

/* After except* clauses: whether anything of the group is left to raise. */
static void except_rest(struct py_lower *l, struct py_caught *caught, block_id end,
                        struct span span)
{
	block_id rest = py_block(l), none = py_block(l);

	py_hidden_load(l, caught->exception, span);
	py_unknown(l, "except*", span, 1);
	py_branch(l, rest, none, span);
	py_start(l, none);
	py_hidden_unbind(l, caught->exception, span);
	py_jump(l, end, span);
	py_start(l, rest);
}

static void except_clauses(struct py_lower *l, uint32_t node, struct py_caught *caught,
                           block_id end)
{
	struct span span = py_span(l, node);
	bool star = false, bare = false;

	for (uint32_t c = py_first(l->tree, node); c; c = py_next(l->tree, node, c)) {
		if (py_kind(l->tree, c) != PY_except_clause)
			continue;
		star = star || py_has(l->tree, c, PY_HAS_STAR);
		bare = except_clause(l, c, caught, end);
	}
	if (bare)
		return;
	if (star)
		except_rest(l, caught, end, span);
	py_raise_again(l, caught, span);
}

static void else_clause(struct py_lower *l, uint32_t node)
{
	uint32_t clause = py_child(l->tree, node, PY_else_clause);

	if (clause)
		py_body(l, py_field(l->tree, clause, PY_F_body));
}

static void try_except(struct py_lower *l, uint32_t node)
{
	block_id outer = ir_handler(l->func->builder);
	uint32_t log = l->func->log.count;
	struct span span = py_span(l, node);
	struct py_caught caught;
	block_id handler, end;

	if (!py_child(l->tree, node, PY_except_clause)) {
		py_body(l, py_field(l->tree, node, PY_F_body));
		else_clause(l, node);
		return;
	}
	handler = py_block(l);
	end = py_block(l);
	py_handler(l, handler, span);
	py_body(l, py_field(l->tree, node, PY_F_body));
	py_handler(l, outer, span);
	else_clause(l, node);
	py_jump(l, end, span);
	if (ir_block_used(l->func->builder, handler)) {
		py_catch_begin(l, &caught, handler, log, span);
		except_clauses(l, node, &caught, end);
		py_catch_end(l, &caught);
	}
	py_join(l, end, span);
}

static void finally_exceptional(struct py_lower *l, uint32_t block, block_id handler, uint32_t log)
{
	struct span span = py_span(l, block);
	struct py_caught caught;

	py_catch_begin(l, &caught, handler, log, span);
	struct py_exit exit = {
	        .outer = l->func->exits,
	        .kind = PY_EXIT_EXCEPT,
	        .handler = ir_handler(l->func->builder),
	        .slot = caught.exception,
	};
	l->func->exits = &exit;
	finally_again(l, block);
	l->func->exits = exit.outer;
	if (!py_is_dead(l))
		py_raise_again(l, &caught, span);
	py_catch_end(l, &caught);
}

static void try_finally(struct py_lower *l, uint32_t node, uint32_t block)
{
	struct py_exit exit = {
	        .outer = l->func->exits,
	        .kind = PY_EXIT_FINALLY,
	        .handler = ir_handler(l->func->builder),
	        .node = block,
	};
	block_id handler = py_block(l), end = py_block(l);
	uint32_t log = l->func->log.count;
	struct span span = py_span(l, node);

	py_handler(l, handler, span);
	l->func->exits = &exit;
	try_except(l, node);
	l->func->exits = exit.outer;
	py_handler(l, exit.handler, span);
	if (!py_is_dead(l))
		py_body(l, block);
	py_jump(l, end, span);
	if (ir_block_used(l->func->builder, handler))
		finally_exceptional(l, block, handler, log);
	py_join(l, end, span);
}

void py_try(struct py_lower *l, uint32_t node)
{
	uint32_t clause = py_child(l->tree, node, PY_finally_clause);
	uint32_t block = clause ? py_child(l->tree, clause, PY_block) : 0;

	if (block)
		try_finally(l, node, block);
	else
		try_except(l, node);
}

void py_raise(struct py_lower *l, uint32_t node)
{
	uint32_t cause = py_field(l->tree, node, PY_F_cause);
	uint32_t value = py_first(l->tree, node);
	struct span span = py_span(l, node);

	if (value && value != cause) {
		py_expr(l, value);
		if (cause)
			py_expr(l, cause);
		py_throw(l, span, cause ? 2 : 1);
	} else if (l->func->handling.n) {
		py_hidden_load(l, l->func->handling, span);
		py_throw(l, span, 1);
	} else {
		py_throw(l, span, 0);
	}
}
