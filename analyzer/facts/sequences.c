/* Steps of one sequence: what is carried through them is one computation, which ends with
 * the loop, or with what the function hands on. */

#include "analyzer/facts/judge.h"

static loop_id loop_at(const struct analysis *a, const struct pending *p)
{
	const struct context *c = context_get(a, p->context);

	return c->loop_of ? c->loop_of[p->inst] : (loop_id){0};
}

static bool is_state(const struct analysis *a, const struct pending *p)
{
	return p->kind == EVENT_CHAIN && !(p->flags & (EVENT_ACCUMULATES | EVENT_WEIGHTS)) &&
	       def_of(a, p->kept)->tensor_seen & T_GRAPH;
}

/* The state that is carried around the same loop and is part of what is kept; p itself if it
 * is one. NULL: there is none. */
static const struct pending *state_behind(struct analysis *a, const struct pending *p)
{
	if (is_state(a, p))
		return p;
	if (p->kind != EVENT_STORE && p->kind != EVENT_CHAIN)
		return NULL;
	for (uint32_t i = 1; i < a->pending.count; i++) {
		const struct pending *q = &a->pending.at[i];

		if (is_state(a, q) && q->context.n == p->context.n &&
		    loop_at(a, q).n == loop_at(a, p).n && judge_continues(a, p->kept, q->kept))
			return q;
	}
	return NULL;
}

/* The outermost loop that what is carried outlives. */
static bool loop_of_state(struct analysis *a, const struct pending *p, context_id *where,
                          loop_id *loop)
{
	const struct function_facts *facts = function_facts(a, p->file, p->func);

	if (p->carrier.slot == 0 && p->carrier.name.n == 0)
		return outermost_outlived(a, p->context, p->inst, p->holder, where, loop);
	*where = p->context;
	*loop = (loop_id){0};
	for (loop_id l = loop_at(a, p); l.n != 0; l = p->func->loops.at[l.n].parent)
		if (variable_lives(a, facts->live, p->func, l, p->carrier))
			*loop = l;
	return loop->n != 0;
}

/* Does the loop's own body take one row after the other? */
/* A body that is run as a script, or what it calls without an argument, outside of any loop. */
static bool runs_once(const struct analysis *a, context_id context)
{
	while (context_get(a, context)->func->kind != FUNC_MODULE) {
		const struct context *c = context_get(a, context);
		const struct context *caller = context_get(a, c->parent);

		if (c->func->params.count > 0 || !caller->loop_of ||
		    caller->loop_of[c->call].n != 0)
			return false;
		context = c->parent;
	}
	return true;
}

bool sequence_is_one_pass(struct analysis *a, const struct pending *p)
{
	const struct pending *state = state_behind(a, p);
	context_id where;
	loop_id loop;

	if (!state || !loop_of_state(a, state, &where, &loop) || p->from_outside ||
	    !runs_once(a, where) || judge_any_inside(a, &a->backwards, where, loop))
		return false;
	return state->loops == LOOP_ROWS || site_any_directly_in(a, &a->rows, where, loop);
}

bool sequence_is_handed_on(struct analysis *a, const struct pending *p)
{
	return p->handed_on && !judge_trains_around(a, p) && state_behind(a, p);
}
