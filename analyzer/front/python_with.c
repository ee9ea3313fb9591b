#include "analyzer/front/python_lower.h"

/* The managers of a statement, `expression` or `expression as target`. */
struct with_items {
	uint32_t node;
	VEC(uint32_t) items;
};

static void with_items(struct py_lower *l, const struct with_items *with, uint32_t index);

/* tree-sitter reads `with (a as b,):` as a tuple. */
static bool is_item_tuple(const struct py_lower *l, uint32_t value)
{
	return py_kind(l->tree, value) == PY_tuple && py_child(l->tree, value, PY_as_pattern);
}

static void with_collect(struct py_lower *l, struct with_items *with)
{
	uint32_t clause = py_child(l->tree, with->node, PY_with_clause);

	for (uint32_t c = clause ? py_first(l->tree, clause) : 0; c;
	     c = py_next(l->tree, clause, c)) {
		uint32_t value =
		        py_kind(l->tree, c) == PY_with_item ? py_field(l->tree, c, PY_F_value) : 0;
		value = value ? py_unwrap(l->tree, value) : 0;
		if (value && !is_item_tuple(l, value))
			vec_push(l->scratch, &with->items, value);
		for (uint32_t i = value && is_item_tuple(l, value) ? py_first(l->tree, value) : 0;
		     i; i = py_next(l->tree, value, i))
			vec_push(l->scratch, &with->items, i);
	}
}

/* What __enter__ gave is bound under the manager's protection; a plain name
 * cannot fail. */
static void bind_entered(struct py_lower *l, uint32_t target, block_id handler, struct span span)
{
	bool plain = target && py_kind(l->tree, target) == PY_identifier &&
	             py_is_plain(l, py_ident(l, target));

	if (!target)
		py_drop(l, span);
	else if (plain)
		py_assign(l, target);
	py_handler(l, handler, span);
	if (target && !plain)
		py_assign(l, target);
}

static void with_exceptional(struct py_lower *l, slot_id manager, block_id handler, uint32_t log,
                             struct span span)
{
	block_id swallowed = py_block(l), again = py_block(l);
	struct py_caught caught;

	py_catch_begin(l, &caught, handler, log, span);
	py_emit(l, OP_leave, SUB_leave_exception, manager.n, span, 0);
	py_branch(l, swallowed, again, span);
	py_start(l, again);
	py_raise_again(l, &caught, span);
	py_start(l, swallowed);
	py_hidden_unbind(l, caught.exception, span);
	py_catch_end(l, &caught);
}

static void with_item(struct py_lower *l, const struct with_items *with, uint32_t index)
{
	bool async = py_has(l->tree, with->node, PY_HAS_ASYNC);
	uint32_t item = with->items.at[index];
	uint32_t value = item, target = 0;
	struct span span = py_span(l, item);
	slot_id manager = py_hidden(l);
	block_id handler = py_block(l), end = py_block(l);
	uint32_t log;
	struct py_exit exit = {
	        .outer = l->func->exits,
	        .kind = PY_EXIT_WITH,
	        .handler = ir_handler(l->func->builder),
	        .slot = manager,
	        .node = item,
	};

	if (py_kind(l->tree, item) == PY_as_pattern) {
		target = py_field(l->tree, item, PY_F_alias);
		if (target && py_kind(l->tree, target) == PY_as_pattern_target)
			target = py_first(l->tree, target);
		value = py_first(l->tree, item);
	}
	py_expr(l, value);
	py_emit(l, OP_enter, async ? SUB_enter_async : SUB_enter_sync, manager.n, span, 1);
	log = l->func->log.count;
	bind_entered(l, target, handler, span);
	l->func->exits = &exit;
	with_items(l, with, index + 1);
	l->func->exits = exit.outer;
	py_handler(l, exit.handler, span);
	if (!py_is_dead(l)) {
		py_leave(l, manager, span);
		py_jump(l, end, span);
	}
	if (ir_block_used(l->func->builder, handler))
		with_exceptional(l, manager, handler, log, span);
	py_join(l, end, span);
	py_hidden_free(l, manager);
}

/* The items from `index` on, then the body. */
static void with_items(struct py_lower *l, const struct with_items *with, uint32_t index)
{
	uint32_t depth = l->depth;

	if (index < with->items.count && py_enter_depth(l, with->items.at[index]))
		with_item(l, with, index);
	else
		py_body(l, py_field(l->tree, with->node, PY_F_body));
	l->depth = depth;
}

void py_with(struct py_lower *l, uint32_t node)
{
	struct with_items with = {.node = node};

	with_collect(l, &with);
	with_items(l, &with, 0);
}
