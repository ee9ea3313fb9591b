/* Memory that is flushed: in each step, or now and then. */

#include <string.h>

#include "analyzer/facts/judge.h"

/* Does the loop around an instruction go on to another round without an exception, and come
 * by there in each? */
static bool comes_round(const struct analysis *a, const struct pending *p, context_id where,
                        loop_id loop)
{
	struct site site = {p->context, p->inst, false};

	while (site.context.n != where.n) {
		if (runs_now_and_then(context_get(a, site.context)->func, site.inst, (loop_id){0}))
			return false;
		site = site_outward(a, site);
	}
	return goes_round(context_get(a, where)->func, site.inst, loop) &&
	       !runs_now_and_then(context_get(a, where)->func, site.inst, loop);
}

/* Made by a function of torch; what has a method of tensors may be something else. */
static bool is_computed(const struct def *def)
{
	const char *name = def->kind == OBJECT_TENSOR && def->api ? api_name(def->api) : "";

	return strncmp(name, "torch.", 6) == 0 && strncmp(name, "torch.Tensor.", 13) != 0;
}

static bool computes_inside(const struct analysis *a, context_id where, loop_id loop)
{
	for (uint32_t i = 1; i < a->defs.count; i++)
		if (is_computed(&a->defs.at[i]) && made_inside(a, &a->defs.at[i], where, loop))
			return true;
	return judge_any_inside(a, &a->runs, where, loop) ||
	       judge_any_inside(a, &a->backwards, where, loop);
}

/* Steps compute something; what comes after a failure is no step. */
bool flush_stands(const struct analysis *a, const struct pending *p)
{
	context_id where;
	loop_id loop;

	return p->file->matters && innermost_loop(a, p->context, p->inst, &where, &loop) &&
	       computes_inside(a, where, loop) && comes_round(a, p, where, loop);
}
