/* Runs a function over all its paths. */

#include "analyzer/facts/exec.h"

#include <string.h>

#include "analyzer/flow/flow.h"

struct run {
	struct analysis *a;
	struct activation *act;
	struct flow *flow;
};

/* 1 true, 0 false, -1 not known. */
static int truth_of(const struct analysis *a, value_id value)
{
	const struct value *v = value_get(a, value);
	object_id only = value_single(a, value);

	if (v->count == 0 && v->flags == V_NONE)
		return 0;
	if (v->flags || !is_const(a, only))
		return -1;
	switch (def_of(a, only)->sub) {
	case SUB_const_true:
		return 1;
	case SUB_const_false:
		return 0;
	case SUB_const_int:
		return strcmp(intern_chars(a->names, def_of(a, only)->name, NULL), "0") != 0;
	default:
		return -1;
	}
}

/* Which of a function's variables are forgotten on the way to a loop's header. */
struct forgotten {
	bool (*slot)(const struct flow_live *live, loop_id loop, uint32_t slot);
	bool (*name)(const struct flow_live *live, loop_id loop, sym_id name);
};

static bool slot_dies(const struct flow_live *live, loop_id loop, uint32_t slot)
{
	return !flow_slot_lives(live, loop, slot);
}

static bool name_dies(const struct flow_live *live, loop_id loop, sym_id name)
{
	return !flow_name_lives(live, loop, name);
}

/* What no iteration reads before storing it again is gone when the next one starts. */
static const struct forgotten by_round = {slot_dies, name_dies};
static const struct forgotten by_entry = {flow_slot_replaced, flow_name_replaced};

static bool is_forgotten(const struct run *run, const struct state *state, loop_id loop,
                         uint32_t slot, struct forgotten what)
{
	const struct activation *act = run->act;
	const enum slot_kind kind = act->func->slots.at[slot].kind;

	return (kind == SLOT_LOCAL || kind == SLOT_HIDDEN) && what.slot(act->live, loop, slot) &&
	       field_get(object_read(state, act->frame), slot).n != 0;
}

static bool name_is_forgotten(const struct run *run, struct field name, loop_id loop,
                              struct forgotten what)
{
	return name.value.n != 0 && what.name(run->act->live, loop, (sym_id){name.key});
}

static bool forgets_any(const struct run *run, const struct state *state, loop_id loop,
                        struct forgotten what)
{
	const struct activation *act = run->act;
	const struct object *names = object_read(state, namespace_object(run->a, act->file));

	for (uint32_t s = 1; s < act->func->slots.count; s++)
		if (is_forgotten(run, state, loop, s, what))
			return true;
	for (uint32_t i = 0; act->func->kind == FUNC_MODULE && i < names->field_count; i++)
		if (name_is_forgotten(run, names->fields[i], loop, what))
			return true;
	return false;
}

static void forget(struct run *run, struct state *state, loop_id loop, struct forgotten what)
{
	const struct activation *act = run->act;
	const object_id globals = namespace_object(run->a, act->file);
	const struct object *names = object_read(state, globals);

	for (uint32_t s = 1; s < act->func->slots.count; s++)
		if (is_forgotten(run, state, loop, s, what))
			field_set(run->a, object_write(run->a, state, act->frame), s,
			          (value_id){0});
	for (uint32_t i = 0; act->func->kind == FUNC_MODULE && i < names->field_count; i++) {
		if (!name_is_forgotten(run, names->fields[i], loop, what))
			continue;
		field_set(run->a, object_write(run->a, state, globals), names->fields[i].key,
		          (value_id){0});
		names = object_read(state, globals);
	}
	state_sweep(run->a, state);
}

/* Does the edge come to a loop that is inside another one, and replaces something there? */
static bool replaces(const struct run *run, block_id from, block_id to, const struct state *state)
{
	const struct ir_func *func = run->act->func;
	const loop_id loop = func->blocks.at[to.n].loop;

	return loop.n != 0 && func->loops.at[loop.n].header.n == to.n &&
	       func->loops.at[loop.n].parent.n != 0 && !cfg_in_loop(func, from, loop) &&
	       forgets_any(run, state, loop, by_entry);
}

static void edge(struct run *run, block_id from, block_id to, struct state *state)
{
	const struct ir_func *func = run->act->func;
	const loop_id loop = func->blocks.at[to.n].loop;

	if (to.n == 0)
		return;
	run->a->steps += state->count / FACTS_OBJECTS_A_STEP;
	run->a->all_steps += state->count / FACTS_OBJECTS_A_STEP;
	if (flow_is_back_edge(func, from, to)) {
		note_round(run->a, run->act->context, loop);
		state = state_copy(run->a, state);
		forget(run, state, loop, by_round);
		state_age(run->a, state, run->act->context, loop);
	} else if (replaces(run, from, to, state)) {
		state = state_copy(run->a, state);
		forget(run, state, loop, by_entry);
	} else {
		flow_edge(run->flow, to, state);
		return;
	}
	flow_edge(run->flow, to, state);
	state_release(run->a, state);
}

/* Both ways of a branch, each with what the condition says there. */
static void branch(struct run *run, block_id block, uint32_t at, struct state *state, int known)
{
	const struct ir_block *b = &run->act->func->blocks.at[block.n];
	const struct condition condition = narrow_condition(run->act, at);
	const bool narrows = narrow_applies(run->a, run->act, condition);

	for (int way = 0; way < 2; way++) {
		struct state *taken = state;

		if (known == way)
			continue; /* succ[0] is taken when true */
		if (narrows) {
			taken = state_copy(run->a, state);
			narrow(run->a, run->act, taken, condition, way == 0);
		}
		edge(run, block, b->succ[way], taken);
		if (narrows)
			state_release(run->a, taken);
	}
}

static void do_return(struct run *run, struct state *state, value_id value)
{
	struct activation *act = run->act;

	act->returned = value_join(run->a, act->returned, value);
	check_mode_left(run->a, act, state);
	if (!act->exit)
		act->exit = state_copy(run->a, state);
	else
		state_join(run->a, act->exit, state);
}

static void end_block(struct run *run, block_id block, uint32_t at, struct state *state)
{
	const struct ir_block *b = &run->act->func->blocks.at[block.n];
	const struct ir_inst *inst = inst_at(run->act, at);
	const value_id value = operand(run->act, inst, 0);
	const int known = truth_of(run->a, value);

	for (uint32_t i = b->first; i < at; i++)
		run->act->temps[i] = (value_id){0}; /* all are consumed */
	switch ((enum ir_op)inst->op) {
	case OP_jump:
		edge(run, block, b->succ[0], state);
		break;
	case OP_branch:
		mark_number(run->a, value);
		branch(run, block, at, state, known);
		break;
	case OP_next:
		edge(run, block, b->succ[1], state);
		if (run->act->temps[at].n != 0)
			edge(run, block, b->succ[0], state);
		break;
	case OP_return:
		do_return(run, state, value);
		break;
	default:
		break; /* raise: the handler has the state of the block's start and end */
	}
	if (b->handler.n)
		edge(run, block, b->handler, state);
}

static void transfer(void *context, block_id block, void *entry)
{
	struct run *run = context;
	struct state *state = entry;
	const struct ir_block *b = &run->act->func->blocks.at[block.n];

	run->act->block_first = b->first;
	run->act->block_count = b->count;
	if (b->handler.n)
		edge(run, block, b->handler, state);
	for (uint32_t i = 0; i < b->count; i++) {
		uint32_t at = b->first + i;
		const unsigned flags = op_info[inst_at(run->act, at)->op].flags;

		run->a->all_steps++;
		if (++run->a->steps > run->a->budget)
			run->a->exhausted = true;
		if (run->a->steps > run->a->last_step)
			return;
		if (flags & OPF_DEFINES)
			run->act->temps[at] = define(run->a, run->act, state, at);
		else if (!(flags & OPF_ENDS_BLOCK))
			effect_only(run->a, run->act, state, block, at);
		if (!state->reachable)
			return;
	}
	if (b->count > 0)
		end_block(run, block, b->first + b->count - 1, state);
}

static void *copy(void *context, void *state)
{
	struct run *run = context;

	return state_copy(run->a, state);
}

static bool join(void *context, block_id block, void **at_start, void *state)
{
	struct run *run = context;

	(void)block;
	if (!*at_start) {
		*at_start = state_copy(run->a, state);
		return true;
	}
	return state_join(run->a, *at_start, state);
}

static void release(void *context, void *state)
{
	struct run *run = context;

	state_release(run->a, state);
}

static void solve(struct run *run, struct state *entry)
{
	const struct flow_client client = {run, transfer, copy, join, release};

	run->flow = flow_new(run->a->heap, run->act->func, client);
	flow_edge(run->flow, (block_id){1}, entry);
	flow_solve(run->flow, FACTS_MAX_ROUNDS);
}

value_id run_function(struct analysis *a, struct activation *act, struct state *state)
{
	struct run run = {a, act, NULL};
	struct activation *before = a->top;
	const uint32_t objects = state->count, mode_set = state->mode_set;

	state->mode_set = 0;
	act->entry_modes = state->modes;
	a->top = act;
	solve(&run, state);
	if (act->recursed && value_join(a, act->assumed, act->returned).n != act->assumed.n) {
		act->assumed = act->returned;
		solve(&run, state);
	}
	if (act->exit) {
		state_release(a, state);
		*state = *act->exit;
		state->mode_set = mode_set;
		events_hand_on(a, act, state);
		if (state->count > FACTS_SWEEP_OBJECTS && state->count > objects + 32)
			state_sweep(a, state);
	} else {
		state->reachable = act->func->is_generator;
	}
	a->top = before;
	return act->returned;
}
