#include "analyzer/flow/flow.h"

#include "analyzer/base/bitset.h"

struct flow {
	const struct ir_func *func;
	struct flow_client client;
	void **at_start;    /* by block */
	uint32_t *runs;     /* by block */
	struct bitset todo; /* by position in the order */
};

struct flow *flow_new(struct arena *arena, const struct ir_func *func, struct flow_client client)
{
	struct flow *flow = arena_new(arena, struct flow);

	flow->func = func;
	flow->client = client;
	flow->at_start = arena_array(arena, void *, func->blocks.count);
	flow->runs = arena_array(arena, uint32_t, func->blocks.count);
	flow->todo = bitset_new(arena, func->order_count + 1);
	return flow;
}

void flow_edge(struct flow *flow, block_id to, void *state)
{
	uint32_t position = flow->func->order_of[to.n];

	if (to.n == 0 || position == UINT32_MAX)
		return;
	if (flow->client.join(flow->client.context, to, &flow->at_start[to.n], state))
		bitset_add(flow->todo, position);
}

static void run_block(struct flow *flow, block_id block)
{
	void *state = flow->client.copy(flow->client.context, flow->at_start[block.n]);

	flow->client.transfer(flow->client.context, block, state);
	flow->client.release(flow->client.context, state);
}

bool flow_solve(struct flow *flow, uint32_t rounds)
{
	bool complete = true;
	uint32_t position;

	while ((position = bitset_next(flow->todo, 0)) < flow->func->order_count) {
		block_id block = flow->func->order[position];

		bitset_remove(flow->todo, position);
		if (flow->runs[block.n]++ >= rounds) {
			complete = false;
			continue;
		}
		run_block(flow, block);
	}
	for (uint32_t b = 1; b < flow->func->blocks.count; b++)
		if (flow->at_start[b])
			flow->client.release(flow->client.context, flow->at_start[b]);
	return complete;
}

bool flow_is_back_edge(const struct ir_func *func, block_id from, block_id to)
{
	loop_id loop = func->blocks.at[from.n].loop;

	for (; loop.n != 0; loop = func->loops.at[loop.n].parent)
		if (func->loops.at[loop.n].header.n == to.n)
			return true;
	return false;
}
