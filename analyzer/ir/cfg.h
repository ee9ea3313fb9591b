#ifndef GRAPHLINT_IR_CFG_H
#define GRAPHLINT_IR_CFG_H

/* What a function's edges imply. Handler edges count like any other: a block
 * can leave for its handler. A loop is what a back edge to a dominator closes;
 * cycles that are entered at several blocks have no such header and are no
 * loops here: flow sees them as edges backwards in `order`.
 *
 * cfg_compute fills order, order_of, dominator, loops and each block's loop.
 * Linear but for the dominators, which settle after a few rounds. */

#include "analyzer/ir/ir.h"

/* A block's successors: true, false, handler. */
struct cfg_edges {
	block_id to[3];
	uint32_t count;
};

/* Predecessors of block b: list[first[b]] up to, not including, first[b + 1].
 * Unreachable blocks neither have nor are any. */
struct cfg_preds {
	uint32_t *first;
	block_id *list;
};

struct cfg_edges cfg_successors(const struct ir_block *block);
/* Reverse post-order of what block 1 reaches, into `order` (room for `count`). */
uint32_t cfg_order(const struct ir_block *blocks, uint32_t count, block_id *order);
/* `spans`: the source of the loop that each block heads, or NULL. */
void cfg_compute(struct arena *arena, struct ir_func *func, const struct span *spans);
/* Needs order and order_of. */
struct cfg_preds cfg_predecessors(struct arena *arena, const struct ir_func *func);
/* Whether every path to `block` passes `by`; both reachable. */
bool cfg_dominates(const struct ir_func *func, block_id by, block_id block);
/* Whether `inner` is `loop`, or inside it; no loop (0) stands for the whole function. */
bool cfg_loop_holds(const struct ir_func *func, loop_id loop, loop_id inner);
bool cfg_in_loop(const struct ir_func *func, block_id block, loop_id loop);
/* Which of a block's two ways leaves the loop, where the other stays in it; -1: neither. */
int cfg_exit_of(const struct ir_func *func, const struct ir_block *block, loop_id loop);
/* The block that an instruction is in; 0: none. */
block_id cfg_block_of(const struct ir_func *func, uint32_t inst);

#endif
