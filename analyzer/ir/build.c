#include "analyzer/ir/build.h"

#include <string.h>

#include "analyzer/base/bug.h"
#include "analyzer/ir/cfg.h"

/* An instruction in the order of emission; its block is laid out at the end. */
struct draft_inst {
	struct ir_inst inst;
	block_id block;
};

struct draft_block {
	block_id succ[2];
	block_id handler;
	uint32_t count;
	bool started, ended, used;
	struct span loop_span; /* of the loop that it heads */
};

struct ir_builder {
	struct ir_module *module;
	struct ir_builder *next_free;
	struct ir_func *func;
	func_id id;
	block_id current;
	block_id handler;
	VEC(struct ir_slot) slots;
	VEC(struct draft_inst) insts;
	VEC(struct ir_arg) args;
	VEC(struct draft_block) blocks;
};

/* Finished builders are used again: their arrays have grown already. */
struct module_drafts {
	struct ir_module module;
	struct ir_builder *free;
};

struct ir_module *ir_module_new(struct arena *arena, struct intern *names)
{
	struct ir_module *module = &arena_new(arena, struct module_drafts)->module;

	module->arena = arena;
	module->names = names;
	vec_push(arena, &module->funcs, NULL);
	return module;
}

static struct ir_builder *builder_take(struct ir_module *module)
{
	struct module_drafts *drafts = (struct module_drafts *)module;
	struct ir_builder *builder = drafts->free;

	if (!builder)
		return arena_new(module->arena, struct ir_builder);
	drafts->free = builder->next_free;
	builder->slots.count = builder->insts.count = builder->args.count = 0;
	builder->blocks.count = 0;
	builder->handler = builder->current = (block_id){0};
	return builder;
}

struct ir_builder *ir_begin(struct ir_module *module, enum func_kind kind, func_id parent)
{
	struct ir_builder *builder = builder_take(module);
	struct arena *arena = module->arena;

	builder->module = module;
	builder->func = arena_new(arena, struct ir_func);
	builder->func->kind = kind;
	builder->func->parent = parent;
	builder->id = (func_id){module->funcs.count};
	vec_push(arena, &module->funcs, builder->func);
	vec_push(arena, &builder->slots, (struct ir_slot){.name = {0}});
	vec_push(arena, &builder->insts, (struct draft_inst){.block = {0}});
	vec_push(arena, &builder->args, (struct ir_arg){.value = {0}});
	vec_push(arena, &builder->blocks, (struct draft_block){.count = 0});
	ir_block_start(builder, ir_block_add(builder));
	builder->blocks.at[1].used = true;
	return builder;
}

func_id ir_builder_id(const struct ir_builder *builder)
{
	return builder->id;
}

struct ir_func *ir_builder_func(struct ir_builder *builder)
{
	return builder->func;
}

slot_id ir_slot_add(struct ir_builder *builder, struct ir_slot slot)
{
	vec_push(builder->module->arena, &builder->slots, slot);
	return (slot_id){builder->slots.count - 1};
}

block_id ir_block_add(struct ir_builder *builder)
{
	vec_push(builder->module->arena, &builder->blocks, (struct draft_block){.count = 0});
	return (block_id){builder->blocks.count - 1};
}

void ir_block_start(struct ir_builder *builder, block_id block)
{
	struct draft_block *draft = &builder->blocks.at[block.n];

	builder->current = block;
	if (!draft->started)
		draft->handler = builder->handler;
	draft->started = true;
}

void ir_handler_set(struct ir_builder *builder, block_id handler)
{
	struct draft_block *draft = &builder->blocks.at[builder->current.n];

	builder->handler = handler;
	if (draft->count == 0)
		draft->handler = handler;
}

block_id ir_handler(const struct ir_builder *builder)
{
	return builder->handler;
}

bool ir_block_ended(const struct ir_builder *builder)
{
	return builder->blocks.at[builder->current.n].ended;
}

bool ir_block_empty(const struct ir_builder *builder)
{
	return builder->blocks.at[builder->current.n].count == 0;
}

bool ir_block_used(const struct ir_builder *builder, block_id block)
{
	return builder->blocks.at[block.n].used;
}

void ir_loop_span(struct ir_builder *builder, block_id header, struct span span)
{
	builder->blocks.at[header.n].loop_span = span;
}

inst_id ir_emit(struct ir_builder *builder, enum ir_op op, enum ir_sub sub, uint32_t name,
                struct span span, const struct ir_arg *args, uint32_t nargs)
{
	struct draft_block *draft = &builder->blocks.at[builder->current.n];
	struct arena *arena = builder->module->arena;
	struct draft_inst inst = {
	        .inst = {(uint8_t)op, (uint8_t)sub, (uint16_t)nargs, builder->args.count, name,
	                 span},
	        .block = builder->current,
	};

	BUG_IF(draft->ended || nargs > UINT16_MAX);
	for (uint32_t i = 0; i < nargs; i++)
		vec_push(arena, &builder->args, args[i]);
	vec_push(arena, &builder->insts, inst);
	if (draft->count++ == 0)
		builder->blocks.at[draft->handler.n].used = true;
	return (inst_id){builder->insts.count - 1};
}

inst_id ir_emit_end(struct ir_builder *builder, enum ir_op op, uint32_t name, struct span span,
                    const struct ir_arg *args, uint32_t nargs, block_id then, block_id otherwise)
{
	inst_id id = ir_emit(builder, op, SUB_NONE, name, span, args, nargs);
	struct draft_block *draft = &builder->blocks.at[builder->current.n];

	draft->succ[0] = then;
	draft->succ[1] = otherwise;
	draft->ended = true;
	builder->blocks.at[then.n].used = true;
	builder->blocks.at[otherwise.n].used = true;
	return id;
}

/* Where everything goes: by draft id, the final one. */
struct layout {
	uint32_t *block;
	uint32_t *inst;
	uint32_t blocks, insts, args;
	block_id *order; /* draft blocks, in final order */
};

/* Reachable blocks in reverse post-order, then unreachable code as written. */
static void layout_blocks(struct ir_builder *builder, struct arena *scratch, struct layout *layout)
{
	uint32_t count = builder->blocks.count;
	struct ir_block *edges = arena_array(scratch, struct ir_block, count);

	for (uint32_t b = 1; b < count; b++) {
		struct draft_block *draft = &builder->blocks.at[b];
		edges[b].handler = draft->handler;
		memcpy(edges[b].succ, draft->succ, sizeof(draft->succ));
	}
	layout->order = arena_array(scratch, block_id, count);
	layout->block = arena_array(scratch, uint32_t, count);
	layout->blocks = cfg_order(edges, count, layout->order);
	for (uint32_t i = 0; i < layout->blocks; i++)
		layout->block[layout->order[i].n] = i + 1;
	for (uint32_t b = 1; b < count; b++)
		if (!layout->block[b] && builder->blocks.at[b].started) {
			layout->order[layout->blocks] = (block_id){b};
			layout->block[b] = ++layout->blocks;
		}
}

static void layout_insts(struct ir_builder *builder, struct arena *scratch, struct layout *layout)
{
	uint32_t *at = arena_array(scratch, uint32_t, builder->blocks.count);
	uint32_t next = 1;

	for (uint32_t i = 0; i < layout->blocks; i++) {
		at[layout->order[i].n] = next;
		next += builder->blocks.at[layout->order[i].n].count;
	}
	layout->insts = next;
	layout->inst = arena_array(scratch, uint32_t, builder->insts.count);
	layout->args = 1;
	for (uint32_t i = 1; i < builder->insts.count; i++) {
		layout->inst[i] = at[builder->insts.at[i].block.n]++;
		layout->args += builder->insts.at[i].inst.nargs;
	}
}

#define FINAL_ARRAY(arena, vec, T, n)                                                              \
	((vec).at = arena_array((arena), T, (n)), (vec).count = (vec).capacity = (n))

static void place_blocks(struct ir_builder *builder, const struct layout *layout)
{
	struct ir_func *func = builder->func;
	uint32_t first = 1;

	FINAL_ARRAY(builder->module->arena, func->blocks, struct ir_block, layout->blocks + 1);
	for (uint32_t i = 0; i < layout->blocks; i++) {
		const struct draft_block *draft = &builder->blocks.at[layout->order[i].n];
		struct ir_block *block = &func->blocks.at[i + 1];

		BUG_IF(!draft->ended);
		block->first = first;
		block->count = draft->count;
		block->succ[0].n = layout->block[draft->succ[0].n];
		block->succ[1].n = layout->block[draft->succ[1].n];
		block->handler.n = layout->block[draft->handler.n];
		first += draft->count;
	}
}

static void place_insts(struct ir_builder *builder, const struct layout *layout)
{
	struct ir_func *func = builder->func;
	struct arena *arena = builder->module->arena;
	uint32_t next = 1;

	FINAL_ARRAY(arena, func->insts, struct ir_inst, layout->insts);
	FINAL_ARRAY(arena, func->args, struct ir_arg, layout->args);
	for (uint32_t i = 1; i < builder->insts.count; i++)
		func->insts.at[layout->inst[i]] = builder->insts.at[i].inst;
	for (uint32_t i = 1; i < layout->insts; i++) {
		struct ir_inst *inst = &func->insts.at[i];
		for (uint32_t a = 0; a < inst->nargs; a++) {
			struct ir_arg arg = builder->args.at[inst->args + a];
			arg.value.n = layout->inst[arg.value.n];
			func->args.at[next + a] = arg;
		}
		inst->args = next;
		next += inst->nargs;
	}
}

static void place_slots(struct ir_builder *builder)
{
	struct ir_func *func = builder->func;

	FINAL_ARRAY(builder->module->arena, func->slots, struct ir_slot, builder->slots.count);
	memcpy(func->slots.at, builder->slots.at, builder->slots.count * sizeof(struct ir_slot));
}

void ir_finish(struct ir_builder *builder)
{
	struct arena scratch = {0};
	struct layout layout = {0};
	struct module_drafts *drafts = (struct module_drafts *)builder->module;
	struct span *spans;

	layout_blocks(builder, &scratch, &layout);
	layout_insts(builder, &scratch, &layout);
	place_slots(builder);
	place_blocks(builder, &layout);
	place_insts(builder, &layout);
	spans = arena_array(&scratch, struct span, layout.blocks + 1);
	for (uint32_t i = 0; i < layout.blocks; i++)
		spans[i + 1] = builder->blocks.at[layout.order[i].n].loop_span;
	cfg_compute(builder->module->arena, builder->func, spans);
	arena_release(&scratch);
	builder->next_free = drafts->free;
	drafts->free = builder;
}
