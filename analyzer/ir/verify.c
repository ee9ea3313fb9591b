#include "analyzer/ir/verify.h"

#include "analyzer/ir/cfg.h"
#include "analyzer/ir/verify_check.h"

void check_wrong(struct check *c, const char *format, ...)
{
	struct text text = {.arena = c->arena};
	va_list arguments;

	if (c->wrong)
		return;
	text_print(&text, "f%u: ", c->id);
	va_start(arguments, format);
	text_vprint(&text, format, arguments);
	va_end(arguments);
	c->wrong = text_chars(&text);
}

/* The sub-operations that an opcode may have, as a range; 0, 0: none. */
struct sub_range {
	enum ir_sub first, last;
	bool optional;
};

static struct sub_range sub_range(enum ir_op op)
{
	switch (op) {
	case OP_const:
		return (struct sub_range){SUB_const_none, SUB_const_bytes, false};
	case OP_load:
		return (struct sub_range){SUB_scope_slot, SUB_scope_name, false};
	case OP_store:
	case OP_delete:
		return (struct sub_range){SUB_scope_slot, SUB_scope_name, false};
	case OP_unary:
		return (struct sub_range){SUB_unary_negative, SUB_unary_not, false};
	case OP_binary:
	case OP_inplace:
		return (struct sub_range){SUB_binary_add, SUB_binary_xor, false};
	case OP_compare:
		return (struct sub_range){SUB_compare_less, SUB_compare_catches, false};
	case OP_build:
		return (struct sub_range){SUB_build_list, SUB_build_string, false};
	case OP_collect:
		return (struct sub_range){SUB_build_list, SUB_build_dict, false};
	case OP_format:
		return (struct sub_range){SUB_format_plain, SUB_format_ascii, false};
	case OP_iter:
		return (struct sub_range){SUB_iter_sync, SUB_iter_async, false};
	case OP_import:
		return (struct sub_range){SUB_import_leaf, SUB_import_leaf, true};
	case OP_yield:
		return (struct sub_range){SUB_yield_value, SUB_yield_from, false};
	case OP_enter:
		return (struct sub_range){SUB_enter_sync, SUB_enter_async, false};
	case OP_leave:
		return (struct sub_range){SUB_leave_normal, SUB_leave_exception, false};
	case OP_match:
		return (struct sub_range){SUB_match_sequence, SUB_match_position, false};
	default:
		return (struct sub_range){SUB_NONE, SUB_NONE, true};
	}
}

static void check_sub(struct check *c, uint32_t id, const struct ir_inst *inst)
{
	struct sub_range range = sub_range((enum ir_op)inst->op);

	if (inst->sub == SUB_NONE && range.optional)
		return;
	if (inst->sub < (unsigned)range.first || inst->sub > (unsigned)range.last)
		check_wrong(c, "%%%u: %s cannot have sub %u", id, op_info[inst->op].name,
		            inst->sub);
	if (inst->sub == SUB_scope_take && inst->op != OP_load)
		check_wrong(c, "%%%u: only load takes", id);
}

bool check_names_slot(const struct ir_inst *inst)
{
	switch (inst->op) {
	case OP_load:
	case OP_store:
	case OP_delete:
		return inst->sub == SUB_scope_slot || inst->sub == SUB_scope_take;
	case OP_collect:
	case OP_next:
	case OP_enter:
	case OP_leave:
		return true;
	default:
		return false;
	}
}

static bool needs_hidden_slot(const struct ir_inst *inst)
{
	return inst->op == OP_collect || inst->op == OP_next || inst->op == OP_enter ||
	       inst->op == OP_leave || (inst->op == OP_load && inst->sub == SUB_scope_take);
}

static void check_func_name(struct check *c, uint32_t id, const struct ir_inst *inst)
{
	const struct ir_func *named;

	if (inst->name == 0 || inst->name >= c->module->funcs.count) {
		check_wrong(c, "%%%u: no function f%u", id, inst->name);
		return;
	}
	named = c->module->funcs.at[inst->name];
	if (named->parent.n != c->id)
		check_wrong(c, "%%%u: f%u is not made here", id, inst->name);
	if ((named->kind == FUNC_CLASS_BODY) != (inst->op == OP_class))
		check_wrong(c, "%%%u: f%u is of the wrong kind", id, inst->name);
}

static void check_name(struct check *c, uint32_t id, const struct ir_inst *inst)
{
	if (inst->op == OP_function || inst->op == OP_class) {
		check_func_name(c, id, inst);
	} else if (check_names_slot(inst)) {
		if (inst->name == 0 || inst->name >= c->func->slots.count)
			check_wrong(c, "%%%u: no slot %u", id, inst->name);
		else if (needs_hidden_slot(inst) &&
		         c->func->slots.at[inst->name].kind != SLOT_HIDDEN)
			check_wrong(c, "%%%u: slot %u is not hidden", id, inst->name);
	}
}

static void check_inst(struct check *c, uint32_t id)
{
	const struct ir_inst *inst = &c->func->insts.at[id];
	const struct op_info *info;

	if (inst->op >= OP_COUNT || inst->sub >= SUB_COUNT) {
		check_wrong(c, "%%%u: no such opcode", id);
		return;
	}
	info = &op_info[inst->op];
	if (inst->nargs < info->least_args ||
	    (info->most_args >= 0 && inst->nargs > info->most_args))
		check_wrong(c, "%%%u: %s has %u operands", id, info->name, inst->nargs);
	if (inst->args + (uint64_t)inst->nargs > c->func->args.count)
		check_wrong(c, "%%%u: operands out of range", id);
	if (inst->span.start > inst->span.end)
		check_wrong(c, "%%%u: span ends before it starts", id);
	check_sub(c, id, inst);
	check_name(c, id, inst);
}

static void check_block_id(struct check *c, uint32_t block, block_id to)
{
	if (to.n >= c->func->blocks.count)
		check_wrong(c, "b%u: leads to b%u, which is none", block, to.n);
}

static uint32_t successors_needed(enum ir_op op)
{
	switch (op) {
	case OP_jump:
		return 1;
	case OP_branch:
	case OP_next:
		return 2;
	default:
		return 0;
	}
}

static void check_end(struct check *c, uint32_t b, const struct ir_block *block)
{
	const struct ir_inst *last = &c->func->insts.at[block->first + block->count - 1];
	uint32_t needed = successors_needed((enum ir_op)last->op);

	for (uint32_t i = 0; i < block->count; i++) {
		const struct ir_inst *inst = &c->func->insts.at[block->first + i];
		bool ends = op_info[inst->op].flags & OPF_ENDS_BLOCK;
		if (ends != (i + 1 == block->count))
			check_wrong(c, "b%u: %s at %u of %u", b, op_info[inst->op].name, i,
			            block->count);
	}
	for (uint32_t i = 0; i < 2; i++)
		if ((block->succ[i].n != 0) != (i < needed))
			check_wrong(c, "b%u: %s has the wrong successors", b,
			            op_info[last->op].name);
}

/* Blocks partition the instructions, in order. */
static void check_blocks(struct check *c)
{
	uint32_t next = 1;

	for (uint32_t b = 1; b < c->func->blocks.count; b++) {
		const struct ir_block *block = &c->func->blocks.at[b];
		if (block->first != next || block->count == 0 ||
		    block->count > c->func->insts.count - next) {
			check_wrong(c, "b%u: not where the block before ends", b);
			return;
		}
		next += block->count;
		check_block_id(c, b, block->succ[0]);
		check_block_id(c, b, block->succ[1]);
		check_block_id(c, b, block->handler);
	}
	if (next != c->func->insts.count)
		check_wrong(c, "instructions after the last block");
	if (c->func->blocks.count < 2)
		check_wrong(c, "no block");
}

/* The block that consumes an instruction's value: its own, or for `next` the
 * first successor. */
static uint32_t *consuming_blocks(struct check *c)
{
	uint32_t *home = arena_array(&c->scratch, uint32_t, c->func->insts.count);

	for (uint32_t b = 1; b < c->func->blocks.count; b++) {
		const struct ir_block *block = &c->func->blocks.at[b];
		for (uint32_t i = 0; i < block->count; i++) {
			uint32_t id = block->first + i;
			bool next = c->func->insts.at[id].op == OP_next;
			home[id] = next ? block->succ[0].n : b;
		}
	}
	return home;
}

static void check_operand(struct check *c, uint32_t id, uint32_t block, uint32_t value,
                          const uint32_t *home, uint8_t *used)
{
	const struct ir_inst *from;

	if (value == 0 || value >= c->func->insts.count) {
		check_wrong(c, "%%%u: operand %%%u is none", id, value);
		return;
	}
	from = &c->func->insts.at[value];
	if (!(op_info[from->op].flags & OPF_DEFINES))
		check_wrong(c, "%%%u: %%%u leaves no value", id, value);
	if (home[value] != block)
		check_wrong(c, "%%%u: %%%u is consumed outside its block", id, value);
	if (from->op != OP_next && value >= id)
		check_wrong(c, "%%%u: %%%u is consumed before it is there", id, value);
	if (used[value]++)
		check_wrong(c, "%%%u: %%%u is consumed twice", id, value);
}

static void check_values(struct check *c)
{
	const uint32_t *home = consuming_blocks(c);
	uint8_t *used = arena_array(&c->scratch, uint8_t, c->func->insts.count);

	for (uint32_t b = 1; b < c->func->blocks.count && !c->wrong; b++) {
		const struct ir_block *block = &c->func->blocks.at[b];
		for (uint32_t id = block->first; id < block->first + block->count; id++) {
			const struct ir_inst *inst = &c->func->insts.at[id];
			for (uint32_t a = 0; a < inst->nargs; a++)
				check_operand(c, id, b, ir_args(c->func, inst)[a].value.n, home,
				              used);
		}
	}
	for (uint32_t id = 1; id < c->func->insts.count && !c->wrong; id++)
		if (!used[id] && (op_info[c->func->insts.at[id].op].flags & OPF_DEFINES))
			check_wrong(c, "%%%u: its value is never consumed", id);
}

/* The item of `next` exists only in a block that nothing else leads to, and
 * handlers begin with `caught`, which nothing else contains. */
static void check_entries(struct check *c)
{
	uint32_t count = c->func->blocks.count;
	uint32_t *entries = arena_array(&c->scratch, uint32_t, count);
	bool *handler = arena_array(&c->scratch, bool, count);

	entries[1] = 1;
	for (uint32_t b = 1; b < count; b++) {
		struct cfg_edges edges = cfg_successors(&c->func->blocks.at[b]);
		for (uint32_t e = 0; e < edges.count; e++)
			entries[edges.to[e].n]++;
		handler[c->func->blocks.at[b].handler.n] = true;
	}
	for (uint32_t b = 1; b < count; b++) {
		const struct ir_block *block = &c->func->blocks.at[b];
		uint32_t last = block->first + block->count - 1;

		if (c->func->insts.at[last].op == OP_next && entries[block->succ[0].n] != 1)
			check_wrong(c, "b%u: the body of next has another way in", b);
		for (uint32_t i = 0; i < block->count; i++) {
			bool caught = c->func->insts.at[block->first + i].op == OP_caught;
			if (caught != (handler[b] && i == 0))
				check_wrong(c, "b%u: caught belongs at the start of handlers", b);
		}
	}
}

static void check_slots(struct check *c)
{
	const struct ir_func *parent = c->func->parent.n < c->module->funcs.count
	                                       ? c->module->funcs.at[c->func->parent.n]
	                                       : NULL;

	for (uint32_t i = 1; i < c->func->slots.count; i++) {
		const struct ir_slot *slot = &c->func->slots.at[i];
		enum slot_kind outer;

		if (slot->kind != SLOT_FREE)
			continue;
		if (!parent || slot->outer.n == 0 || slot->outer.n >= parent->slots.count) {
			check_wrong(c, "slot %u captures nothing", i);
			continue;
		}
		outer = parent->slots.at[slot->outer.n].kind;
		if (outer != SLOT_CELL && outer != SLOT_FREE)
			check_wrong(c, "slot %u captures what is no cell", i);
	}
	for (uint32_t p = 0; p < c->func->params.count; p++)
		if (c->func->params.at[p].slot.n == 0 ||
		    c->func->params.at[p].slot.n >= c->func->slots.count)
			check_wrong(c, "parameter %u has no slot", p);
}

/* A block of a loop is its header, or its dominator is in the loop too. */
static bool loop_dominates(const struct ir_func *func, uint32_t b)
{
	loop_id loop = func->blocks.at[b].loop;

	return cfg_in_loop(func, func->dominator[b], loop) || func->loops.at[loop.n].header.n == b;
}

/* What cfg_compute left: order, dominators and loops agree with the edges. */
static void check_cfg(struct check *c)
{
	const struct ir_func *func = c->func;

	for (uint32_t i = 0; i < func->order_count; i++) {
		uint32_t b = func->order[i].n;
		struct cfg_edges edges = cfg_successors(&func->blocks.at[b]);

		if (func->order_of[b] != i)
			check_wrong(c, "b%u: order is out of step", b);
		for (uint32_t e = 0; e < edges.count; e++)
			if (func->order_of[edges.to[e].n] == UINT32_MAX)
				check_wrong(c, "b%u: leads to what is unreachable", b);
		if (b != 1 && !cfg_dominates(func, func->dominator[b], (block_id){b}))
			check_wrong(c, "b%u: its dominator is none", b);
		if (!loop_dominates(func, b))
			check_wrong(c, "b%u: its loop's header does not dominate it", b);
	}
}

static void check_func(struct check *c)
{
	static void (*const steps[])(struct check *) = {
	        check_slots, check_entries, check_values, check_scopes, check_cfg,
	};

	check_blocks(c);
	for (uint32_t i = 1; i < c->func->insts.count && !c->wrong; i++)
		check_inst(c, i);
	for (uint32_t b = 1; b < c->func->blocks.count && !c->wrong; b++)
		check_end(c, b, &c->func->blocks.at[b]);
	for (size_t s = 0; s < sizeof(steps) / sizeof(steps[0]) && !c->wrong; s++)
		steps[s](c);
}

const char *ir_verify(struct arena *arena, const struct ir_module *module)
{
	struct check c = {.arena = arena, .module = module};

	for (uint32_t f = 1; f < module->funcs.count && !c.wrong; f++) {
		c.func = module->funcs.at[f];
		c.id = f;
		check_func(&c);
		arena_reset(&c.scratch);
	}
	arena_release(&c.scratch);
	return c.wrong;
}
