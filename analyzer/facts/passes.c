/* What ends with one pass: through layers, through a forward, through a call that computes
 * something of what it was given. */

#include "analyzer/facts/judge.h"

/* The layers of a network are one pass through it; two to four rounds, written in the text, are no
 * growth. */
static bool is_one_pass(const struct pending *p)
{
	const unsigned loops = p->loops & ~(unsigned)(LOOP_AROUND | LOOP_OUTLIVED);

	return loops && !(loops & ~(unsigned)(LOOP_MODULES | LOOP_FEW)) &&
	       (p->kind == EVENT_STORE || p->kind == EVENT_CHAIN || p->kind == EVENT_DATA_STORE ||
	        p->kind == EVENT_VIEW_STORE);
}

/* The holder dies with the call, and the loop goes over what the call was given. */
static bool ends_with_call(const struct analysis *a, const struct pending *p)
{
	return judge_local(a, p) && !(p->loops & LOOP_OUTLIVED) &&
	       (p->from_outside || !(p->loops & (LOOP_COUNT | LOOP_WHILE | LOOP_LIST)));
}

/* A recursion over what there is, in a call or an iteration of its own: returns of a
 * rollout, an attention's scores. It runs no model, does not train, and ends with its
 * holder. */
static bool is_computation(const struct analysis *a, const struct pending *p)
{
	if (judge_trains_around(a, p) ||
	    (p->kind == EVENT_STORE && judge_goes_by(a, p, &a->backwards)))
		return false;
	return (p->kind == EVENT_STORE || p->kind == EVENT_CHAIN) && !p->runs_model && p->loops &&
	       !(p->loops & LOOP_DATA) && (judge_made_anew(p) || ends_with_call(a, p));
}

/* Carried or gathered in a variable of one forward pass: what is done with the outcome
 * shows where the model is called. */
static bool ends_with_forward(const struct analysis *a, const struct pending *p)
{
	if (p->kind != EVENT_STORE && p->kind != EVENT_CHAIN)
		return false;
	for (context_id c = p->context; c.n != 0; c = context_get(a, c)->parent)
		if (sym_is(context_get(a, c)->func->name, SYM_forward) &&
		    (p->carrier.slot != 0 || (p->carrier.field.n && p->in_pass) ||
		     (p->holder.n && made_inside(a, def_of(a, p->holder), c, (loop_id){0}))))
			return true;
	return false;
}

/* No loop ends while it is kept: as often as it is written, it is there once. */
static bool is_once(const struct pending *p)
{
	return (p->kind == EVENT_STORE || p->kind == EVENT_CHAIN) &&
	       !(p->loops & ~(unsigned)(LOOP_AROUND | LOOP_OUTLIVED));
}

bool pass_ends_it(struct analysis *a, const struct pending *p)
{
	return is_once(p) || is_one_pass(p) || is_computation(a, p) || ends_with_forward(a, p) ||
	       sequence_is_one_pass(a, p);
}
