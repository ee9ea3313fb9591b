/*
 * Values of the gamma distribution as PyTorch draws them: Marsaglia and Tsang's method of
 * rejection, with one more factor where alpha is below one. Some constants are single-precision
 * ones even where all else is double.
 */
#include "runtime/random.h"

#include <float.h>
#include <math.h>

static const float third = 1.0F / 3.0F, bound = 0.0331F;

static double accepted(struct ag_random *random, double d)
{
	double c = 1 / sqrt(9 * d), x, y, v, u;

	if (!(d > 0))
		return NAN;
	for (;;) {
		do {
			x = ag_random_normal_f64(random, 0, 1);
			y = 1 + c * x;
		} while (y <= 0);
		v = y * y * y;
		u = 1 - ag_random_uniform_f64(random);
		if (u < 1 - bound * (x * x) * (x * x) ||
		    log(u) < 0.5 * (x * x) + d * (1 - v + log(v)))
			return d * v;
	}
}

static double factor_below_one(struct ag_random *random, double alpha)
{
	return alpha < 1 ? pow(1 - ag_random_uniform_f64(random), 1 / alpha) : 1;
}

void ag_random_fill_gamma_f32(struct ag_random *random, float *out, const float *alpha,
                              size_t count)
{
	for (size_t i = 0; i < count; i++) {
		float a = alpha[i];
		double scale = a == 0 ? 0 : factor_below_one(random, a);

		a = a < 1 ? a + 1 : a;
		out[i] = scale == 0 ? 0 : (float)(scale * accepted(random, a - third));
		out[i] = out[i] < FLT_MIN ? FLT_MIN : out[i];
	}
}

void ag_random_fill_gamma_f64(struct ag_random *random, double *out, const double *alpha,
                              size_t count)
{
	for (size_t i = 0; i < count; i++) {
		double a = alpha[i], scale = a == 0 ? 0 : factor_below_one(random, a);

		a = a < 1 ? a + 1 : a;
		out[i] = scale == 0 ? 0 : scale * accepted(random, a - third);
		out[i] = out[i] < DBL_MIN ? DBL_MIN : out[i];
	}
}
