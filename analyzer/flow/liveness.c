/* Which slots are live where a loop starts: classic backward liveness over the
 * blocks, only of slots. */

#include "analyzer/base/bitset.h"
#include "analyzer/flow/flow.h"

struct block_slots {
	struct bitset read_first; /* read before it is stored in the block */
	struct bitset stored;
	struct bitset live; /* at the block's start */
};

static bool is_slot_access(const struct ir_inst *inst)
{
	return (inst->op == OP_load || inst->op == OP_store || inst->op == OP_delete) &&
	       (inst->sub == SUB_scope_slot || inst->sub == SUB_scope_take);
}

static void note_access(struct block_slots *slots, const struct ir_inst *inst)
{
	if (inst->op == OP_next || inst->op == OP_collect || inst->op == OP_leave) {
		if (!bitset_has(slots->stored, inst->name))
			bitset_add(slots->read_first, inst->name);
		return;
	}
	if (inst->op == OP_enter) {
		bitset_add(slots->stored, inst->name);
		return;
	}
	if (!is_slot_access(inst))
		return;
	if (inst->op == OP_load) {
		if (!bitset_has(slots->stored, inst->name))
			bitset_add(slots->read_first, inst->name);
	} else {
		bitset_add(slots->stored, inst->name);
	}
}

static struct block_slots *gather(struct arena *arena, const struct ir_func *func)
{
	struct block_slots *blocks = arena_array(arena, struct block_slots, func->blocks.count);

	for (uint32_t b = 1; b < func->blocks.count; b++) {
		const struct ir_block *block = &func->blocks.at[b];

		blocks[b].read_first = bitset_new(arena, func->slots.count);
		blocks[b].stored = bitset_new(arena, func->slots.count);
		blocks[b].live = bitset_new(arena, func->slots.count);
		for (uint32_t i = 0; i < block->count; i++)
			note_access(&blocks[b], &func->insts.at[block->first + i]);
	}
	return blocks;
}

static bool update(const struct ir_func *func, struct block_slots *blocks, uint32_t b,
		   struct bitset scratch)
{
	const struct ir_block *block = &func->blocks.at[b];
	const block_id next[3] = {block->succ[0], block->succ[1], block->handler};

	bitset_clear(scratch);
	for (int i = 0; i < 3; i++)
		if (next[i].n != 0)
			bitset_join(scratch, blocks[next[i].n].live);
	bitset_subtract(scratch, blocks[b].stored);
	bitset_join(scratch, blocks[b].read_first);
	return bitset_join(blocks[b].live, scratch);
}

const bool *const *flow_live_at_loops(struct arena *arena, const struct ir_func *func)
{
	struct block_slots *blocks = gather(arena, func);
	struct bitset scratch = bitset_new(arena, func->slots.count);
	const bool **live = arena_array(arena, const bool *, func->loops.count + 1);
	bool changed = true;

	while (changed) {
		changed = false;
		for (uint32_t i = func->order_count; i-- > 0;)
			changed |= update(func, blocks, func->order[i].n, scratch);
	}
	for (uint32_t l = 1; l < func->loops.count; l++) {
		bool *row = arena_array(arena, bool, func->slots.count + 1);

		for (uint32_t s = 1; s < func->slots.count; s++)
			row[s] = bitset_has(blocks[func->loops.at[l].header.n].live, s);
		live[l] = row;
	}
	return live;
}
