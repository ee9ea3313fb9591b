/* Tensors without a graph that pile up. */

#include "analyzer/facts/judge.h"

static bool is_scalar(const struct analysis *a, const struct pending *p)
{
	const struct value *base = value_get(a, p->base);

	for (uint32_t i = 0; i < base->count; i++)
		if (def_of(a, base->refs[i])->scalar)
			return true;
	return def_of(a, p->kept)->scalar;
}

/* Tensors without a graph that are gathered step by step are the result of a computation
 * where each call or iteration makes a new holder; they pile up where they come of data. */
bool piles_up(const struct analysis *a, const struct pending *p)
{
	if (def_of(a, p->holder)->drained || judge_cleared(a, p) || judge_cleared_outside(a, p) ||
	    p->in_pass || is_scalar(a, p))
		return false;
	return p->loops & (LOOP_DATA | LOOP_LIST) ||
	       (p->loops & LOOP_ROWS && judge_goes_by(a, p, &a->backwards)) ||
	       !(p->overwrites || judge_made_anew(p) || (p->from_outside && judge_local(a, p)));
}

/* Outputs pile up where a model runs on one thing after the other. What is counted may be
 * the steps of one computation: unless the model is trained in each, or it is a script that counts.
 */
bool outputs_pile_up(const struct analysis *a, const struct pending *p)
{
	if (!piles_up(a, p))
		return false;
	if (p->loops == LOOP_CALLS)
		return true;
	if (p->loops & (LOOP_DATA | LOOP_LIST | LOOP_ROWS | LOOP_CALLS) || !p->from_outside)
		return judge_goes_by(a, p, &a->runs);
	return judge_goes_by(a, p, &a->backwards);
}
