/*
 * trunc_normal_ by rejection. If the interval holds a good part of the normal distribution, whole
 * arrays of normal values are drawn until every place had one inside. If it lies in a tail,
 * uniform values of the interval are accepted with the density's odds. PyTorch draws for all
 * places in each round, also for those that are settled, and so does this.
 */
#include "runtime/init.h"

#include <math.h>
#include <stdlib.h>

/* Of one value: what takes more is as good as for ever. */
#define MOST_ROUNDS 1e6

struct truncation {
	double mean, std, from, to;
	double log_peak; /* log density, less its constant, at the highest point inside */
};

static double normal_cdf(double x)
{
	return (1.0 + erf(x / sqrt(2.0))) / 2.0;
}

static struct ag_array array_like(const struct ag_array *array)
{
	struct ag_array copy = *array;
	size_t count = (size_t)ag_array_numel(array);
	void *data = calloc(count ? count : 1, array->f32 ? sizeof(float) : sizeof(double));

	if (!data)
		abort();
	if (array->f32)
		copy.f32 = data;
	else
		copy.f64 = data;
	return copy;
}

static void array_free(struct ag_array *array)
{
	free(array->f32);
	free(array->f64);
}

static double in_precision(const struct ag_array *array, double value)
{
	return array->f32 ? (double)(float)value : value;
}

/* Takes over candidates where a value lies outside; returns whether one still does. */
static bool replace_outside(struct ag_array *array, const struct ag_array *candidates, double from,
                            double to)
{
	int64_t numel = ag_array_numel(array);
	bool any = false;

	for (int64_t i = 0; i < numel; i++) {
		double value = ag_array_get(array, i);
		if (candidates && (value < from || value > to)) {
			value = ag_array_get(candidates, i);
			ag_array_set(array, i, value);
		}
		any |= value < from || value > to;
	}
	return any;
}

static void reject_normals(struct ag_random *random, struct ag_array *array,
                           const struct truncation *limits)
{
	double from = in_precision(array, limits->from);
	double to = in_precision(array, limits->to);
	struct ag_array candidates = array_like(array);
	bool outside;

	ag_init_normal(random, array, limits->mean, limits->std);
	outside = replace_outside(array, NULL, from, to);
	while (outside) {
		ag_init_normal(random, &candidates, limits->mean, limits->std);
		outside = replace_outside(array, &candidates, from, to);
	}
	array_free(&candidates);
}

/* log density of `value` relative to the peak, rounded after each step as tensors are. */
static double log_density(const struct ag_array *array, const struct truncation *limits,
                          double value)
{
	double density = in_precision(array, value - in_precision(array, limits->mean));

	density = in_precision(array, density / in_precision(array, limits->std));
	density = in_precision(array, density * density);
	density = in_precision(array, density * -0.5);
	return in_precision(array, density - in_precision(array, limits->log_peak));
}

static double log_in_precision(const struct ag_array *array, double value)
{
	return array->f32 ? (double)logf((float)value) : log(value);
}

/* One round: fresh values for the pending places, then the dice; returns whether any is left. */
static bool accept_round(struct ag_random *random, struct ag_array *array,
                         const struct truncation *limits, struct ag_array *candidates,
                         struct ag_array *dice, bool *pending)
{
	int64_t numel = ag_array_numel(array);
	bool any = false;

	ag_init_uniform(random, candidates, limits->from, limits->to);
	ag_init_uniform(random, dice, 0, 1);
	for (int64_t i = 0; i < numel; i++) {
		double value = ag_array_get(candidates, i);
		if (!pending[i])
			continue;
		ag_array_set(array, i, value);
		pending[i] = log_in_precision(array, ag_array_get(dice, i)) >
		             log_density(array, limits, value);
		any |= pending[i];
	}
	return any;
}

static void reject_uniforms(struct ag_random *random, struct ag_array *array,
                            const struct truncation *limits)
{
	struct ag_array candidates = array_like(array);
	struct ag_array dice = array_like(array);
	size_t count = (size_t)ag_array_numel(array);
	bool *pending = calloc(count ? count : 1, sizeof(*pending));

	if (!pending)
		abort();
	for (size_t i = 0; i < count; i++)
		pending[i] = true;
	while (accept_round(random, array, limits, &candidates, &dice, pending))
		continue;
	free(pending);
	array_free(&dice);
	array_free(&candidates);
}

double ag_init_trunc_rounds(double mean, double std, double from, double to)
{
	double inside = normal_cdf((to - mean) / std) - normal_cdf((from - mean) / std);
	double peak = exp(-0.5 * pow((fmax(from, fmin(mean, to)) - mean) / std, 2));

	/* Of a uniform value: the mean height of the density, its highest point as one. */
	return inside > 0.3 ? 1 / inside : (to - from) * peak / (inside * std * sqrt(8 * atan(1)));
}

bool ag_init_trunc_normal(struct ag_random *random, struct ag_array *array, double mean, double std,
                          double from, double to)
{
	struct truncation limits = {mean, std, from, to, 0};
	double inside = normal_cdf((to - mean) / std) - normal_cdf((from - mean) / std);
	double mode = fmax(from, fmin(mean, to));

	/* What PyTorch would draw for ever, or refuse. */
	if (!(std > 0) || !(from < to) || !isfinite(mean) || !isfinite(std))
		return false;
	if (!ag_array_has_data(array))
		return true;
	limits.log_peak = -0.5 * pow((mode - mean) / std, 2);
	if (inside > 0.3)
		reject_normals(random, array, &limits);
	else if (isfinite(from) && isfinite(to) &&
	         ag_init_trunc_rounds(mean, std, from, to) < MOST_ROUNDS)
		reject_uniforms(random, array, &limits);
	else
		return false;
	return true;
}
