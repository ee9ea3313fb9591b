#include "analyzer/flow/liveness.h"

#include "analyzer/base/bitset.h"
#include "analyzer/ir/cfg.h"

enum { NO_VARIABLE = INT32_MAX }; /* no slot has that number */

struct flow_live {
	const struct ir_func *func;
	VEC(sym_id) names;             /* variable slots.count + i */
	const struct bitset *rows;     /* by loop: variables that live at its header */
	const struct bitset *replaced; /* ... that each run of it stores before it reads them */
	bool follows_names;
};

struct block_variables {
	struct bitset read_first; /* read before it is stored in the block */
	struct bitset stored;
	struct bitset live;  /* at the block's start */
	struct bitset enter; /* ... where a `for` starts: it runs at least once */
};

static bool is_slot_scope(const struct ir_inst *inst)
{
	return inst->sub == SUB_scope_slot || inst->sub == SUB_scope_take;
}

static bool is_access(const struct ir_inst *inst)
{
	return inst->op == OP_load || inst->op == OP_store || inst->op == OP_delete;
}

static uint32_t name_variable(const struct flow_live *live, uint32_t name)
{
	for (uint32_t i = 0; i < live->names.count; i++)
		if (live->names.at[i].n == name)
			return live->func->slots.count + i;
	return NO_VARIABLE;
}

static uint32_t variable_of(const struct flow_live *live, const struct ir_inst *inst)
{
	if (!is_access(inst))
		return NO_VARIABLE;
	return is_slot_scope(inst) ? inst->name : name_variable(live, inst->name);
}

static bool read_elsewhere(const struct ir_module *module, const struct ir_func *func,
                           uint32_t name)
{
	for (uint32_t f = 1; f < module->funcs.count; f++) {
		const struct ir_func *other = module->funcs.at[f];

		if (other == func)
			continue;
		for (uint32_t i = 1; i < other->insts.count; i++) {
			const struct ir_inst *inst = &other->insts.at[i];

			if (inst->op == OP_load && !is_slot_scope(inst) && inst->name == name)
				return true;
		}
	}
	return false;
}

static void gather_names(struct arena *arena, const struct ir_module *module,
                         struct flow_live *live)
{
	for (uint32_t i = 1; i < live->func->insts.count; i++) {
		const struct ir_inst *inst = &live->func->insts.at[i];

		if (inst->op == OP_store && !is_slot_scope(inst) &&
		    name_variable(live, inst->name) == NO_VARIABLE &&
		    !read_elsewhere(module, live->func, inst->name))
			vec_push(arena, &live->names, (sym_id){inst->name});
	}
}

static void note_read(struct block_variables *block, uint32_t variable)
{
	if (!bitset_has(block->stored, variable))
		bitset_add(block->read_first, variable);
}

static void note_access(const struct flow_live *live, struct block_variables *block,
                        const struct ir_inst *inst)
{
	uint32_t variable;

	if (inst->op == OP_next || inst->op == OP_collect || inst->op == OP_leave) {
		note_read(block, inst->name);
		return;
	}
	variable = inst->op == OP_enter ? inst->name : variable_of(live, inst);
	if (variable == NO_VARIABLE)
		return;
	if (inst->op == OP_load)
		note_read(block, variable);
	else
		bitset_add(block->stored, variable);
}

static struct block_variables *gather(struct arena *arena, const struct flow_live *live)
{
	const struct ir_func *func = live->func;
	const uint32_t variables = func->slots.count + live->names.count;
	struct block_variables *blocks =
	        arena_array(arena, struct block_variables, func->blocks.count);

	for (uint32_t b = 1; b < func->blocks.count; b++) {
		const struct ir_block *block = &func->blocks.at[b];

		blocks[b].read_first = bitset_new(arena, variables);
		blocks[b].stored = bitset_new(arena, variables);
		blocks[b].live = bitset_new(arena, variables);
		blocks[b].enter = bitset_new(arena, variables);
		for (uint32_t i = 0; i < block->count; i++)
			note_access(live, &blocks[b], &func->insts.at[block->first + i]);
	}
	return blocks;
}

static bool is_for(const struct ir_func *func, block_id header)
{
	const struct ir_block *b = &func->blocks.at[header.n];

	return b->loop.n != 0 && func->loops.at[b->loop.n].header.n == header.n && b->count > 0 &&
	       func->insts.at[b->first + b->count - 1].op == OP_next;
}

/* The header of a `for` that does not contain the block. */
static bool enters_for(const struct ir_func *func, uint32_t from, block_id to)
{
	return is_for(func, to) && !cfg_in_loop(func, (block_id){from}, func->blocks.at[to.n].loop);
}

/* Before block `b`: what it reads, and what is live in a successor and not stored here. */
static bool join_before(const struct ir_func *func, const struct block_variables *blocks,
                        uint32_t b, const block_id next[3], struct bitset scratch,
                        struct bitset before)
{
	bitset_clear(scratch);
	for (int i = 0; i < 3; i++)
		if (next[i].n != 0)
			bitset_join(scratch, enters_for(func, b, next[i]) ? blocks[next[i].n].enter
			                                                  : blocks[next[i].n].live);
	bitset_subtract(scratch, blocks[b].stored);
	bitset_join(scratch, blocks[b].read_first);
	return bitset_join(before, scratch);
}

static bool update(const struct ir_func *func, struct block_variables *blocks, uint32_t b,
                   struct bitset scratch)
{
	const struct ir_block *block = &func->blocks.at[b];
	const block_id enter[3] = {block->succ[0], {0}, block->handler};
	const block_id all[3] = {block->succ[0], block->succ[1], block->handler};
	const bool changed = join_before(func, blocks, b, enter, scratch, blocks[b].enter);

	return join_before(func, blocks, b, all, scratch, blocks[b].live) || changed;
}

/* Of a `for` that runs, what it stores and does not read before: what they were is gone. */
static const struct bitset *replaced_by_loops(struct arena *arena, const struct ir_func *func,
                                              const struct block_variables *blocks,
                                              uint32_t variables)
{
	struct bitset *replaced = arena_array(arena, struct bitset, func->loops.count);

	for (uint32_t l = 1; l < func->loops.count; l++)
		replaced[l] = bitset_new(arena, variables);
	for (uint32_t b = 1; b < func->blocks.count; b++)
		for (loop_id l = func->blocks.at[b].loop; l.n != 0; l = func->loops.at[l.n].parent)
			if (is_for(func, func->loops.at[l.n].header))
				bitset_join(replaced[l.n], blocks[b].stored);
	for (uint32_t l = 1; l < func->loops.count; l++)
		bitset_subtract(replaced[l], blocks[func->loops.at[l].header.n].enter);
	return replaced;
}

const struct flow_live *flow_live_new(struct arena *arena, const struct ir_module *module,
                                      const struct ir_func *func)
{
	struct flow_live *live = arena_new(arena, struct flow_live);
	struct block_variables *blocks;
	struct bitset *rows, scratch;
	bool changed = true;

	live->func = func;
	live->follows_names = func->kind == FUNC_MODULE;
	if (func->loops.count < 2)
		return live;
	if (live->follows_names)
		gather_names(arena, module, live);
	blocks = gather(arena, live);
	scratch = bitset_new(arena, func->slots.count + live->names.count);
	while (changed) {
		changed = false;
		for (uint32_t i = func->order_count; i-- > 0;)
			changed |= update(func, blocks, func->order[i].n, scratch);
	}
	rows = arena_array(arena, struct bitset, func->loops.count);
	for (uint32_t l = 1; l < func->loops.count; l++)
		rows[l] = blocks[func->loops.at[l].header.n].live;
	live->rows = rows;
	live->replaced =
	        replaced_by_loops(arena, func, blocks, func->slots.count + live->names.count);
	return live;
}

bool flow_slot_lives(const struct flow_live *live, loop_id loop, uint32_t slot)
{
	return live->rows && bitset_has(live->rows[loop.n], slot);
}

bool flow_name_lives(const struct flow_live *live, loop_id loop, sym_id name)
{
	const uint32_t variable = name_variable(live, name.n);

	if (!live->follows_names || variable == NO_VARIABLE)
		return true;
	return live->rows && bitset_has(live->rows[loop.n], variable);
}

bool flow_slot_replaced(const struct flow_live *live, loop_id loop, uint32_t slot)
{
	return live->replaced && bitset_has(live->replaced[loop.n], slot);
}

bool flow_name_replaced(const struct flow_live *live, loop_id loop, sym_id name)
{
	const uint32_t variable = name_variable(live, name.n);

	return live->follows_names && live->replaced && variable != NO_VARIABLE &&
	       bitset_has(live->replaced[loop.n], variable);
}

struct stay {
	const struct ir_func *func;
	uint32_t grows;
	bool is_slot;
	uint32_t variable;
};

static bool is_of(const struct stay *stay, const struct ir_inst *inst)
{
	return inst->name == stay->variable && is_slot_scope(inst) == stay->is_slot;
}

enum { MOST_OPERANDS_DEPTH = 12 };

/* Is the variable read for what an instruction is given? */
static bool rests_on_it(const struct stay *stay, const struct ir_inst *inst, int depth)
{
	for (uint32_t i = 0; i < inst->nargs; i++) {
		const struct ir_inst *from =
		        &stay->func->insts.at[ir_args(stay->func, inst)[i].value.n];

		if ((from->op == OP_load && is_of(stay, from)) ||
		    (depth < MOST_OPERANDS_DEPTH && rests_on_it(stay, from, depth + 1)))
			return true;
	}
	return false;
}

static bool is_replaced(const struct stay *stay, uint32_t first, uint32_t end)
{
	for (uint32_t i = first; i < end; i++) {
		const struct ir_inst *inst = &stay->func->insts.at[i];

		if (inst->op == OP_store && i != stay->grows && is_of(stay, inst) &&
		    !rests_on_it(stay, inst, 0))
			return true;
	}
	return false;
}

static bool stays(const struct stay *stay, uint32_t from, loop_id loop)
{
	const struct ir_func *func = stay->func;
	const block_id header = func->loops.at[loop.n].header;
	struct arena scratch = {0};
	uint32_t *todo = arena_array(&scratch, uint32_t, func->blocks.count + 1);
	bool *met = arena_array(&scratch, bool, func->blocks.count + 1);
	uint32_t count = 0, first = from + 1;
	bool found = false;

	todo[count++] = cfg_block_of(func, from).n;
	while (count > 0 && !found) {
		const struct ir_block *b = &func->blocks.at[todo[--count]];
		const struct cfg_edges next = cfg_successors(b);
		const bool replaced = is_replaced(stay, first, b->first + b->count);

		for (uint32_t i = 0; !replaced && i < next.count; i++) {
			const block_id to = next.to[i];

			found |= to.n == header.n;
			if (!met[to.n] && cfg_in_loop(func, to, loop))
				todo[count++] = to.n;
			met[to.n] = true;
		}
		first = count ? func->blocks.at[todo[count - 1]].first : 0;
	}
	arena_release(&scratch);
	return found;
}

bool flow_slot_stays(const struct ir_func *func, uint32_t from, uint32_t grows, loop_id loop,
                     uint32_t slot)
{
	const struct stay stay = {func, grows, true, slot};

	return stays(&stay, from, loop);
}

bool flow_name_stays(const struct ir_func *func, uint32_t from, uint32_t grows, loop_id loop,
                     sym_id name)
{
	const struct stay stay = {func, grows, false, name.n};

	return stays(&stay, from, loop);
}
