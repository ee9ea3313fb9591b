/* The two kernels of gradient scaling: both work in place and give their first tensor back. */

#include <math.h>
#include <stdlib.h>

#include "runtime/op.h"

/* False: one of the numbers is no number, or not finite. */
static bool unscale(struct ag_tensor *grad, double by)
{
	double *values = ag_plain(grad);
	bool finite = true;
	int64_t i;

	for (i = 0; i < grad->numel; i++) {
		finite = finite && isfinite(values[i]);
		values[i] *= by;
	}
	ag_put_plain(grad, values);
	free(values);
	return finite;
}

static double only(const struct ag_tensor *t)
{
	double *values = ag_plain(t), value = values[0];

	free(values);
	return value;
}

static bool single(struct ag_frame *f, const struct ag_tensor *t, enum ag_dtype dtype,
                   const char *name)
{
	if (t->numel != 1)
		return ag_fail(f->ctx, AG_ERR_RUNTIME, "%s must be a 1-element tensor.", name);
	return t->dtype == dtype || ag_fail(f->ctx, AG_ERR_RUNTIME, "%s must be %s tensor.", name,
	                                    dtype == AG_F32 ? "a float" : "an int");
}

/* self, found_inf, inv_scale */
bool op_run_amp_unscale(struct ag_frame *f)
{
	struct ag_tensor *found = arg_t(f, 1), *by = arg_t(f, 2);
	uint32_t i, count = arg_list(f, 0);

	if (!single(f, found, AG_F32, "found_inf") || !single(f, by, AG_F32, "inv_scale"))
		return false;
	for (i = 0; i < count; i++) {
		struct ag_tensor *grad = arg_list_t(f, 0, i);

		if (!grad)
			continue;
		if (!ag_need_float(f, grad))
			return false;
		ag_bump(grad);
		if (!ag_ready1(grad, by) || !ag_ready1(found, grad))
			continue;
		if (!unscale(grad, only(by)))
			ag_fill_data(found, 1);
	}
	ag_bump(found);
	return ag_give_ref(f, found);
}

/* self, growth_tracker, found_inf, scale_growth_factor, scale_backoff_factor, growth_interval */
bool op_run_amp_update_scale(struct ag_frame *f)
{
	struct ag_tensor *scale = arg_t(f, 0), *tracker = arg_t(f, 1), *found = arg_t(f, 2);
	double grown, streak;
	bool known;

	if (!single(f, scale, AG_F32, "current_scale") ||
	    !single(f, tracker, AG_I32, "growth_tracker") || !single(f, found, AG_F32, "found_inf"))
		return false;
	ag_bump(scale);
	ag_bump(tracker);
	known = ag_ready2(scale, tracker, found) && ag_has_data(scale);
	if (!ag_ready2(tracker, scale, found) || !known)
		return ag_give_ref(f, scale);
	if (only(found) != 0) {
		ag_fill_data(scale, only(scale) * arg_f(f, 4));
		ag_fill_data(tracker, 0);
		return ag_give_ref(f, scale);
	}
	streak = only(tracker) + 1;
	grown = only(scale) * arg_f(f, 3);
	if (streak == (double)arg_i(f, 5) && isfinite((float)grown))
		ag_fill_data(scale, grown);
	ag_fill_data(tracker, streak == (double)arg_i(f, 5) ? 0 : streak);
	return ag_give_ref(f, scale);
}
