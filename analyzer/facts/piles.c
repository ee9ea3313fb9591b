/* Tensors without a graph that pile up. */

#include "analyzer/facts/judge.h"

static bool is_scalar(const struct analysis *a, const struct pending *p)
{
	const struct value *base = value_get(a, p->base);

	for (uint32_t i = 0; i < base->count; i++)
		if (is_one_number(a, base->refs[i]))
			return true;
	return is_one_number(a, p->kept);
}

/* Emptied, cut, or begun anew in a loop that fills it. */
static bool is_emptied(const struct analysis *a, const struct pending *p)
{
	for (uint32_t i = 0; i < a->clearings.count; i++) {
		const struct clearing *c = &a->clearings.at[i];
		struct site site = c->site;
		const site_list one = {&site, 1, 1};

		if (c->holder.n == newest_of(p->holder).n && judge_goes_by(a, p, &one))
			return true;
	}
	return false;
}

/* Tensors without a graph that are gathered step by step are the result of a computation
 * where each call or iteration makes a new holder; they pile up where they come of data. */
bool piles_up(const struct analysis *a, const struct pending *p)
{
	if (def_of(a, p->holder)->drained || is_emptied(a, p) || judge_cleared_outside(a, p) ||
	    p->in_pass || p->replaces || p->rotates || is_scalar(a, p))
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
	if (!piles_up(a, p) || p->once)
		return false;
	if (p->loops == LOOP_CALLS)
		return true;
	if (p->loops & (LOOP_DATA | LOOP_LIST | LOOP_ROWS | LOOP_CALLS) || !p->from_outside)
		return judge_goes_by(a, p, &a->runs);
	return judge_goes_by(a, p, &a->backwards);
}
