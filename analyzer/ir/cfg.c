#include "analyzer/ir/cfg.h"

#include <string.h>

#include "analyzer/base/bug.h"

struct cfg_edges cfg_successors(const struct ir_block *block)
{
	struct cfg_edges edges = {.count = 0};

	for (int i = 0; i < 2; i++)
		if (block->succ[i].n)
			edges.to[edges.count++] = block->succ[i];
	if (block->handler.n)
		edges.to[edges.count++] = block->handler;
	return edges;
}

/* A block being walked, and how many of its edges are still to be taken. */
struct walk {
	uint32_t block;
	uint32_t left;
};

static struct walk walk_into(const struct ir_block *blocks, uint32_t block)
{
	return (struct walk){block, cfg_successors(&blocks[block]).count};
}

/* Edges are taken last to first, so that in reverse a loop's body comes before
 * what follows the loop. */
uint32_t cfg_order(const struct ir_block *blocks, uint32_t count, block_id *order)
{
	struct arena scratch = {0};
	struct walk *stack = arena_array(&scratch, struct walk, count);
	bool *met = arena_array(&scratch, bool, count);
	uint32_t depth = 0, filled = count;

	if (count > 1) {
		met[1] = true;
		stack[depth++] = walk_into(blocks, 1);
	}
	while (depth) {
		struct walk *top = &stack[depth - 1];

		if (top->left == 0) {
			order[--filled] = (block_id){top->block};
			depth--;
			continue;
		}
		uint32_t next = cfg_successors(&blocks[top->block]).to[--top->left].n;
		if (!met[next]) {
			met[next] = true;
			stack[depth++] = walk_into(blocks, next);
		}
	}
	memmove(order, order + filled, (count - filled) * sizeof(*order));
	arena_release(&scratch);
	return count - filled;
}

struct cfg_preds cfg_predecessors(struct arena *arena, const struct ir_func *func)
{
	uint32_t count = func->blocks.count;
	uint32_t *first = arena_array(arena, uint32_t, (size_t)count + 2);
	block_id *list;

	for (uint32_t i = 0; i < func->order_count; i++) {
		struct cfg_edges edges = cfg_successors(&func->blocks.at[func->order[i].n]);
		for (uint32_t e = 0; e < edges.count; e++)
			first[edges.to[e].n + 2]++;
	}
	for (uint32_t b = 1; b < count + 2; b++)
		first[b] += first[b - 1];
	/* first[b + 1] runs from b's start to its end, which is where b + 1 starts. */
	list = arena_array(arena, block_id, (size_t)first[count + 1] + 1);
	for (uint32_t i = 0; i < func->order_count; i++) {
		struct cfg_edges edges = cfg_successors(&func->blocks.at[func->order[i].n]);
		for (uint32_t e = 0; e < edges.count; e++)
			list[first[edges.to[e].n + 1]++] = func->order[i];
	}
	return (struct cfg_preds){first, list};
}

static block_id meet(const struct ir_func *func, block_id a, block_id b)
{
	while (a.n != b.n) {
		while (func->order_of[a.n] > func->order_of[b.n])
			a = func->dominator[a.n];
		while (func->order_of[b.n] > func->order_of[a.n])
			b = func->dominator[b.n];
	}
	return a;
}

/* Predecessors stand in order; last first, each meeting is a short way up, even
 * where a thousand blocks lead to one. */
static block_id meet_predecessors(const struct ir_func *func, const struct cfg_preds *preds,
                                  block_id block)
{
	block_id found = {0};

	for (uint32_t p = preds->first[block.n + 1]; p-- > preds->first[block.n];) {
		block_id pred = preds->list[p];
		if (func->dominator[pred.n].n)
			found = found.n ? meet(func, found, pred) : pred;
	}
	return found;
}

/* Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm". The entry
 * dominates itself while this runs and has no dominator afterwards. */
static void find_dominators(struct ir_func *func, const struct cfg_preds *preds)
{
	bool changed = true;

	if (func->order_count == 0)
		return;
	func->dominator[1] = (block_id){1};
	while (changed) {
		changed = false;
		for (uint32_t i = 1; i < func->order_count; i++) {
			block_id block = func->order[i];
			block_id found = meet_predecessors(func, preds, block);
			if (found.n != func->dominator[block.n].n) {
				func->dominator[block.n] = found;
				changed = true;
			}
		}
	}
	func->dominator[1] = (block_id){0};
}

bool cfg_dominates(const struct ir_func *func, block_id by, block_id block)
{
	while (block.n && block.n != by.n)
		block = func->dominator[block.n];
	return block.n == by.n;
}

bool cfg_loop_holds(const struct ir_func *func, loop_id loop, loop_id inner)
{
	while (inner.n && inner.n != loop.n)
		inner = func->loops.at[inner.n].parent;
	return inner.n == loop.n;
}

bool cfg_in_loop(const struct ir_func *func, block_id block, loop_id loop)
{
	return cfg_loop_holds(func, loop, func->blocks.at[block.n].loop);
}

int cfg_exit_of(const struct ir_func *func, const struct ir_block *block, loop_id loop)
{
	for (int i = 0; loop.n && i < 2; i++)
		if (!cfg_in_loop(func, block->succ[i], loop) &&
		    cfg_in_loop(func, block->succ[!i], loop))
			return i;
	return -1;
}

block_id cfg_block_of(const struct ir_func *func, uint32_t inst)
{
	for (uint32_t b = 1; b < func->blocks.count; b++)
		if (inst - func->blocks.at[b].first < func->blocks.at[b].count)
			return (block_id){b};
	return (block_id){0};
}

/* The dominator tree, numbered from the top: a block dominates those from its
 * `first` up to, not including, its `end`. */
struct dominated {
	uint32_t first, end;
};

static struct dominated *number_dominated(struct arena *scratch, const struct ir_func *func)
{
	uint32_t count = func->blocks.count;
	struct dominated *at = arena_array(scratch, struct dominated, count);
	uint32_t *size = arena_array(scratch, uint32_t, count);

	for (uint32_t i = func->order_count; i-- > 1;) {
		uint32_t b = func->order[i].n;
		size[func->dominator[b].n] += size[b] + 1;
	}
	/* While a parent's children are numbered, its `end` is where the next goes. */
	at[0].end = 1;
	for (uint32_t i = 0; i < func->order_count; i++) {
		uint32_t b = func->order[i].n;
		struct dominated *parent = &at[func->dominator[b].n];
		at[b].first = parent->end;
		at[b].end = parent->end + 1;
		parent->end += size[b] + 1;
	}
	return at;
}

/* What finding the loops needs. */
struct loops {
	struct ir_func *func;
	const struct cfg_preds *preds;
	const struct dominated *dominated;
	block_id *stack;
};

/* Blocks that jump back to `header`, onto the stack. */
static uint32_t back_edges(const struct loops *l, block_id header)
{
	struct dominated at = l->dominated[header.n];
	uint32_t count = 0;

	for (uint32_t p = l->preds->first[header.n]; p < l->preds->first[header.n + 1]; p++) {
		uint32_t first = l->dominated[l->preds->list[p].n].first;
		if (first >= at.first && first < at.end)
			l->stack[count++] = l->preds->list[p];
	}
	return count;
}

static loop_id outermost(const struct ir_func *func, loop_id loop)
{
	while (func->loops.at[loop.n].parent.n)
		loop = func->loops.at[loop.n].parent;
	return loop;
}

/* Backwards from the back edges to the header. What inner loops already own is
 * passed over by their headers. */
static void flood_loop(const struct loops *l, loop_id id)
{
	struct ir_func *func = l->func;
	block_id header = func->loops.at[id.n].header;
	uint32_t depth = back_edges(l, header);

	func->blocks.at[header.n].loop = id;
	while (depth) {
		block_id at = l->stack[--depth];
		loop_id known = func->blocks.at[at.n].loop;

		if (known.n) {
			known = outermost(func, known);
			if (known.n == id.n)
				continue;
			func->loops.at[known.n].parent = id;
			at = func->loops.at[known.n].header;
		} else {
			func->blocks.at[at.n].loop = id;
		}
		for (uint32_t p = l->preds->first[at.n]; p < l->preds->first[at.n + 1]; p++)
			l->stack[depth++] = l->preds->list[p];
	}
}

static struct span blocks_span(const struct ir_func *func, loop_id loop)
{
	struct span span = {0, 0};

	for (uint32_t b = 1; b < func->blocks.count; b++) {
		const struct ir_block *block = &func->blocks.at[b];
		for (uint32_t i = 0; block->loop.n == loop.n && i < block->count; i++) {
			struct span at = func->insts.at[block->first + i].span;
			if (at.end == 0)
				continue;
			if (span.end == 0 || at.start < span.start)
				span.start = at.start;
			if (at.end > span.end)
				span.end = at.end;
		}
	}
	return span;
}

/* Headers in order, so that a loop's id is above its parent's. */
static void find_loops(struct arena *arena, struct ir_func *func, const struct cfg_preds *preds,
                       const struct span *spans)
{
	struct arena scratch = {0};
	uint32_t edges = preds->first[func->blocks.count];
	struct loops l = {
	        .func = func,
	        .preds = preds,
	        .dominated = number_dominated(&scratch, func),
	        .stack = arena_array(&scratch, block_id, (size_t)edges * 2 + 1),
	};

	vec_push(arena, &func->loops, (struct ir_loop){.depth = 0});
	for (uint32_t i = 0; i < func->order_count; i++)
		if (back_edges(&l, func->order[i]))
			vec_push(arena, &func->loops, (struct ir_loop){.header = func->order[i]});
	for (uint32_t id = func->loops.count - 1; id; id--)
		flood_loop(&l, (loop_id){id});
	for (uint32_t id = 1; id < func->loops.count; id++) {
		struct ir_loop *loop = &func->loops.at[id];
		loop->depth = func->loops.at[loop->parent.n].depth + 1;
		loop->span = spans && spans[loop->header.n].end ? spans[loop->header.n]
		                                                : blocks_span(func, (loop_id){id});
	}
	arena_release(&scratch);
}

void cfg_compute(struct arena *arena, struct ir_func *func, const struct span *spans)
{
	struct arena scratch = {0};
	uint32_t count = func->blocks.count;
	struct cfg_preds preds;

	func->order = arena_array(arena, block_id, count);
	func->order_of = arena_array(arena, uint32_t, count);
	func->dominator = arena_array(arena, block_id, count);
	func->order_count = cfg_order(func->blocks.at, count, func->order);
	for (uint32_t b = 0; b < count; b++)
		func->order_of[b] = UINT32_MAX;
	for (uint32_t i = 0; i < func->order_count; i++)
		func->order_of[func->order[i].n] = i;
	preds = cfg_predecessors(&scratch, func);
	find_dominators(func, &preds);
	find_loops(arena, func, &preds, spans);
	arena_release(&scratch);
}
