#ifndef GRAPHLINT_FLOW_FLOW_H
#define GRAPHLINT_FLOW_FLOW_H

/* The fixpoint solver: forward, over the blocks of one function, in reverse
 * post-order (Kildall 1973, with the worklist kept in that order). It knows no
 * domain: states are opaque, and the client joins and transfers them. */

#include "analyzer/ir/ir.h"

struct flow_client {
	void *context;
	/* Runs `block` from `entry`, which the client may use up, and hands what
	 * flows on to flow_edge. `entry` is a copy that belongs to the call. */
	void (*transfer)(void *context, block_id block, void *entry);
	/* A copy of the state at a block's start. */
	void *(*copy)(void *context, void *state);
	/* Joins `state` into `*at_start` (NULL: nothing there yet); says whether it grew. */
	bool (*join)(void *context, block_id block, void **at_start, void *state);
	/* What copy or join made is not used any more. */
	void (*release)(void *context, void *state);
};

struct flow;

struct flow *flow_new(struct arena *arena, const struct ir_func *func, struct flow_client client);
/* Called by the client, within transfer or before flow_solve for the entry. */
void flow_edge(struct flow *flow, block_id to, void *state);
/* Until nothing grows, or `rounds` runs of a single block are used up; false then. */
bool flow_solve(struct flow *flow, uint32_t rounds);

/* Is the edge one that goes back to the start of a loop that contains its source? */
bool flow_is_back_edge(const struct ir_func *func, block_id from, block_id to);

#endif
