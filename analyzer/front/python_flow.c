#include "analyzer/front/python_lower.h"

static void else_body(struct py_lower *l, uint32_t clause)
{
	if (clause)
		py_body(l, py_field(l->tree, clause, PY_F_body));
}

/* One `if` or `elif`: its body, on to `end`; what follows is the false case. */
static void if_arm(struct py_lower *l, uint32_t node, block_id end)
{
	block_id yes = py_block(l), no = py_block(l);
	struct span span = py_span(l, node);

	py_condition(l, py_field(l->tree, node, PY_F_condition), yes, no);
	py_join(l, yes, span);
	py_body(l, py_field(l->tree, node, PY_F_consequence));
	py_jump(l, end, span);
	py_join(l, no, span);
}

void py_if(struct py_lower *l, uint32_t node)
{
	block_id end = py_block(l);

	if_arm(l, node, end);
	for (uint32_t c = py_first(l->tree, node); c; c = py_next(l->tree, node, c)) {
		if (py_kind(l->tree, c) == PY_elif_clause)
			if_arm(l, c, end);
		else if (py_kind(l->tree, c) == PY_else_clause)
			else_body(l, c);
	}
	py_join(l, end, py_span(l, node));
}

static void loop_open(struct py_lower *l, struct py_exit *loop, slot_id slot)
{
	*loop = (struct py_exit){
	        .outer = l->func->exits,
	        .kind = PY_EXIT_LOOP,
	        .handler = ir_handler(l->func->builder),
	        .slot = slot,
	        .next = py_block(l),
	        .end = py_block(l),
	        .pending = l->pending.count,
	};
}

static void loop_head(struct py_lower *l, struct py_exit *loop, uint32_t node)
{
	py_enter_block(l, loop->next, py_span(l, node));
	ir_loop_span(l->func->builder, loop->next, py_span(l, node));
}

static void loop_body(struct py_lower *l, struct py_exit *loop, uint32_t node)
{
	l->func->exits = loop;
	py_body(l, py_field(l->tree, node, PY_F_body));
	py_jump(l, loop->next, py_span(l, node));
	l->func->exits = loop->outer;
}

void py_while(struct py_lower *l, uint32_t node)
{
	block_id body = py_block(l), done = py_block(l);
	struct span span = py_span(l, node);
	struct py_exit loop;

	loop_open(l, &loop, (slot_id){0});
	loop_head(l, &loop, node);
	py_condition(l, py_field(l->tree, node, PY_F_condition), body, done);
	py_join(l, body, span);
	loop_body(l, &loop, node);
	py_join(l, done, span);
	else_body(l, py_field(l->tree, node, PY_F_alternative));
	py_join(l, loop.end, span);
}

void py_for(struct py_lower *l, uint32_t node)
{
	bool async = py_has(l->tree, node, PY_HAS_ASYNC);
	uint32_t left = py_field(l->tree, node, PY_F_left);
	uint32_t right = py_field(l->tree, node, PY_F_right);
	struct span span = py_span(l, node);
	struct span head =
	        left && right ? (struct span){py_span(l, left).start, py_span(l, right).end} : span;
	block_id done = py_block(l);
	slot_id iterator = py_hidden(l);
	struct py_exit loop;

	py_expr(l, right);
	py_emit(l, OP_iter, async ? SUB_iter_async : SUB_iter_sync, 0,
	        right ? py_span(l, right) : span, 1);
	py_hidden_store(l, iterator, head);
	loop_open(l, &loop, iterator);
	loop_head(l, &loop, node);
	py_next_item(l, iterator, done, head);
	py_assign(l, left);
	loop_body(l, &loop, node);
	py_start(l, done);
	py_hidden_unbind(l, iterator, head);
	py_hidden_free(l, iterator);
	else_body(l, py_field(l->tree, node, PY_F_alternative));
	py_join(l, loop.end, span);
}

/* After a way out, what follows is unreachable and has the old handler. */
static void handler_back(struct py_lower *l, block_id handler)
{
	if (py_is_dead(l))
		ir_handler_set(l->func->builder, handler);
}

void py_return_statement(struct py_lower *l, uint32_t node)
{
	uint32_t value = py_first(l->tree, node);
	block_id handler = ir_handler(l->func->builder);
	struct span span = py_span(l, node);

	if (value)
		py_expr(l, value);
	else
		py_none(l, span);
	py_unwind(l, NULL, span);
	py_return(l, span);
	handler_back(l, handler);
}

void py_break(struct py_lower *l, uint32_t node, bool again)
{
	struct py_exit *loop = l->func->exits;
	block_id handler = ir_handler(l->func->builder);
	struct span span = py_span(l, node);

	while (loop && loop->kind != PY_EXIT_LOOP)
		loop = loop->outer;
	if (!loop) {
		py_gap(l, span, "break or continue outside a loop");
		return;
	}
	py_unwind(l, loop, span);
	py_pending_unbind_since(l, loop->pending, span);
	if (!again && loop->slot.n)
		py_hidden_unbind(l, loop->slot, span);
	py_jump(l, again ? loop->next : loop->end, span);
	handler_back(l, handler);
}
