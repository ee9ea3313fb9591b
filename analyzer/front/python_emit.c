#include <stdio.h>
#include <string.h>

#include "analyzer/base/bug.h"
#include "analyzer/front/python_lower.h"

struct span py_span(const struct py_lower *l, uint32_t node)
{
	return l->tree->nodes[node].span;
}

bool py_is_dead(const struct py_lower *l)
{
	return ir_block_ended(l->func->builder);
}

static inst_id emit_raw(struct py_lower *l, enum ir_op op, enum ir_sub sub, uint32_t name,
                        struct span span, const struct ir_arg *args, uint32_t count)
{
	if (py_is_dead(l))
		ir_block_start(l->func->builder, ir_block_add(l->func->builder));
	return ir_emit(l->func->builder, op, sub, name, span, args, count);
}

void py_push(struct py_lower *l, inst_id value)
{
	vec_push(l->scratch, &l->pending, (struct py_pending){.value = value});
}

void py_keyword(struct py_lower *l, sym_id keyword)
{
	l->pending.at[l->pending.count - 1].keyword = keyword;
}

/* The value as a temporary of the current block. */
static inst_id pending_value(struct py_lower *l, uint32_t index, struct span span)
{
	struct py_pending pending = l->pending.at[index];

	if (pending.value.n)
		return pending.value;
	BUG_IF(pending.slot.n == 0);
	l->pending.at[index].slot.n = 0;
	py_hidden_free(l, pending.slot);
	return emit_raw(l, OP_load, SUB_scope_take, pending.slot.n, span, NULL, 0);
}

void py_raise_pending(struct py_lower *l, uint32_t index)
{
	struct py_pending pending = l->pending.at[index];

	for (uint32_t i = index; i + 1 < l->pending.count; i++)
		l->pending.at[i] = l->pending.at[i + 1];
	l->pending.at[l->pending.count - 1] = pending;
}

static void spill(struct py_lower *l)
{
	for (uint32_t i = l->func->pending_base; i < l->pending.count; i++) {
		struct ir_arg arg = {.value = l->pending.at[i].value};
		slot_id slot;

		if (arg.value.n == 0)
			continue;
		slot = py_hidden(l);
		l->pending.at[i].value.n = 0;
		l->pending.at[i].slot = slot;
		emit_raw(l, OP_store, SUB_scope_slot, slot.n, (struct span){0, 0}, &arg, 1);
	}
}

static void collect_operands(struct py_lower *l, uint32_t count, struct span span)
{
	uint32_t first = l->pending.count - count;

	BUG_IF(l->pending.count - l->func->pending_base < count);
	l->args.count = 0;
	for (uint32_t i = first; i < l->pending.count; i++) {
		struct ir_arg arg = {pending_value(l, i, span), l->pending.at[i].keyword};
		vec_push(l->scratch, &l->args, arg);
	}
	l->pending.count = first;
}

void py_emit(struct py_lower *l, enum ir_op op, enum ir_sub sub, uint32_t name, struct span span,
             uint32_t count)
{
	inst_id value;

	collect_operands(l, count, span);
	value = emit_raw(l, op, sub, name, span, l->args.at, count);
	if (op_info[op].flags & OPF_DEFINES)
		py_push(l, value);
}

void py_const(struct py_lower *l, enum ir_sub sub, sym_id text, struct span span)
{
	py_emit(l, OP_const, sub, text.n, span, 0);
}

void py_none(struct py_lower *l, struct span span)
{
	py_const(l, SUB_const_none, sym(SYM_NONE), span);
}

void py_int(struct py_lower *l, uint32_t value, struct span span)
{
	char digits[16];
	int length = snprintf(digits, sizeof(digits), "%u", value);

	py_const(l, SUB_const_int, intern_text(l->module->names, digits, (size_t)length), span);
}

void py_unknown(struct py_lower *l, const char *reason, struct span span, uint32_t count)
{
	sym_id name = intern_text(l->module->names, reason, strlen(reason));

	py_emit(l, OP_unknown, SUB_NONE, name.n, span, count);
}

void py_gap(struct py_lower *l, struct span span, const char *reason)
{
	struct ir_module *module = l->module;
	const struct ir_gap *last =
	        module->gaps.count ? &module->gaps.at[module->gaps.count - 1] : NULL;

	if (last && last->span.start == span.start && last->span.end == span.end)
		return;
	vec_push(l->arena, &module->gaps, (struct ir_gap){span, reason});
}

void py_drop(struct py_lower *l, struct span span)
{
	py_emit(l, OP_drop, SUB_NONE, 0, span, 1);
}

/* How the current scope reads and writes a name. */
struct access {
	enum ir_sub sub;
	uint32_t name;
};

static struct access access_find(const struct py_lower *l, sym_id name)
{
	const struct py_scopes *scopes = &l->scopes;
	uint32_t scope = l->func->names;
	uint32_t id = py_symbol_find(scopes, scope, name);
	const struct py_symbol *symbol;

	while (!id && scopes->scopes.at[scope].kind == PY_SCOPE_TYPE) {
		scope = scopes->scopes.at[scope].parent;
		id = py_symbol_find(scopes, scope, name);
	}
	if (!id)
		return (struct access){scopes->scopes.at[scope].kind == PY_SCOPE_CLASS
		                               ? SUB_scope_name
		                               : SUB_scope_global,
		                       name.n};
	symbol = &scopes->symbols.at[id];
	if (symbol->access == SUB_scope_slot)
		return (struct access){SUB_scope_slot, symbol->slot.n};
	return (struct access){(enum ir_sub)symbol->access, name.n};
}

void py_load(struct py_lower *l, sym_id name, struct span span)
{
	struct access access = access_find(l, name);

	py_emit(l, OP_load, access.sub, access.name, span, 0);
}

void py_store(struct py_lower *l, sym_id name, struct span span)
{
	struct access access = access_find(l, name);

	py_emit(l, OP_store, access.sub, access.name, span, 1);
}

void py_delete(struct py_lower *l, sym_id name, struct span span)
{
	struct access access = access_find(l, name);

	py_emit(l, OP_delete, access.sub, access.name, span, 0);
}

bool py_is_plain(const struct py_lower *l, sym_id name)
{
	return access_find(l, name).sub != SUB_scope_name;
}

slot_id py_hidden(struct py_lower *l)
{
	struct py_func *func = l->func;
	slot_id slot;

	if (func->free.count)
		slot = func->free.at[--func->free.count];
	else
		slot = ir_slot_add(func->builder, (struct ir_slot){.kind = SLOT_HIDDEN});
	vec_push(l->scratch, &func->log, slot);
	return slot;
}

void py_hidden_free(struct py_lower *l, slot_id slot)
{
	vec_push(l->scratch, &l->func->free, slot);
}

void py_hidden_store(struct py_lower *l, slot_id slot, struct span span)
{
	py_emit(l, OP_store, SUB_scope_slot, slot.n, span, 1);
}

void py_hidden_load(struct py_lower *l, slot_id slot, struct span span)
{
	py_emit(l, OP_load, SUB_scope_slot, slot.n, span, 0);
}

void py_hidden_take(struct py_lower *l, slot_id slot, struct span span)
{
	py_emit(l, OP_load, SUB_scope_take, slot.n, span, 0);
}

void py_hidden_unbind(struct py_lower *l, slot_id slot, struct span span)
{
	py_emit(l, OP_delete, SUB_scope_slot, slot.n, span, 0);
}

void py_hidden_unbind_since(struct py_lower *l, uint32_t log, struct span span)
{
	VEC(slot_id) done = {0};
	uint32_t end = l->func->log.count;

	for (uint32_t i = log; i < end; i++) {
		slot_id slot = l->func->log.at[i];
		uint32_t d = 0;

		while (d < done.count && done.at[d].n != slot.n)
			d++;
		if (d < done.count)
			continue;
		vec_push(l->scratch, &done, slot);
		py_hidden_unbind(l, slot, span);
	}
}

void py_pending_unbind_since(struct py_lower *l, uint32_t index, struct span span)
{
	spill(l);
	for (uint32_t i = index; i < l->pending.count; i++)
		if (l->pending.at[i].slot.n)
			py_hidden_unbind(l, l->pending.at[i].slot, span);
}

block_id py_block(struct py_lower *l)
{
	return ir_block_add(l->func->builder);
}

void py_jump(struct py_lower *l, block_id block, struct span span)
{
	if (py_is_dead(l))
		return;
	spill(l);
	ir_emit_end(l->func->builder, OP_jump, 0, span, NULL, 0, block, (block_id){0});
}

void py_branch(struct py_lower *l, block_id then, block_id otherwise, struct span span)
{
	struct ir_arg condition;

	collect_operands(l, 1, span);
	condition = l->args.at[0];
	spill(l);
	if (py_is_dead(l))
		BUG("a condition is dropped");
	ir_emit_end(l->func->builder, OP_branch, 0, span, &condition, 1, then, otherwise);
}

void py_start(struct py_lower *l, block_id block)
{
	ir_block_start(l->func->builder, block);
}

void py_enter_block(struct py_lower *l, block_id block, struct span span)
{
	py_jump(l, block, span);
	py_start(l, block);
}

void py_join(struct py_lower *l, block_id block, struct span span)
{
	if (ir_block_used(l->func->builder, block))
		py_enter_block(l, block, span);
}

void py_handler(struct py_lower *l, block_id handler, struct span span)
{
	struct ir_builder *builder = l->func->builder;

	if (ir_handler(builder).n == handler.n)
		return;
	if (py_is_dead(l) || ir_block_empty(builder)) {
		ir_handler_set(builder, handler);
		return;
	}
	block_id block = py_block(l);
	py_jump(l, block, span);
	ir_handler_set(builder, handler);
	py_start(l, block);
}

void py_return(struct py_lower *l, struct span span)
{
	struct ir_arg value;

	collect_operands(l, 1, span);
	value = l->args.at[0];
	spill(l);
	ir_emit_end(l->func->builder, OP_return, 0, span, &value, 1, (block_id){0}, (block_id){0});
}

void py_throw(struct py_lower *l, struct span span, uint32_t operands)
{
	collect_operands(l, operands, span);
	if (py_is_dead(l))
		py_start(l, py_block(l));
	spill(l);
	ir_emit_end(l->func->builder, OP_raise, 0, span, l->args.at, operands, (block_id){0},
	            (block_id){0});
}

void py_next_item(struct py_lower *l, slot_id iterator, block_id done, struct span span)
{
	block_id body = py_block(l);

	spill(l);
	py_push(l, ir_emit_end(l->func->builder, OP_next, iterator.n, span, NULL, 0, body, done));
	py_start(l, body);
}
