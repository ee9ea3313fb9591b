#include "runtime/gamma.h"

#include <math.h>

#define PI 3.14159265358979323846

/* psi(x): recurrence up to 10, then the asymptotic series. */
double ag_digamma(double x)
{
	double sum = 0, f;

	if (x <= 0 && x == floor(x))
		return NAN;
	if (x < 0)
		return ag_digamma(1 - x) - PI / tan(PI * x);
	for (; x < 10; x++)
		sum -= 1 / x;
	f = 1 / (x * x);
	return sum + log(x) - 0.5 / x -
	       f * (1.0 / 12 - f * (1.0 / 120 - f * (1.0 / 252 - f * (1.0 / 240 - f / 132))));
}

enum { FAR_LEFT = -100 }; /* from here the recurrence would be long: reflection */

double ag_trigamma(double x)
{
	double sum = 0, f;

	if (x < FAR_LEFT)
		return isinf(x) ? NAN : PI * PI / pow(sin(PI * x), 2) - ag_trigamma(1 - x);
	for (; x < 10; x++)
		sum += 1 / (x * x);
	f = 1 / (x * x);
	return sum + 1 / x + f / 2 +
	       f / x * (1.0 / 6 - f * (1.0 / 30 - f * (1.0 / 42 - f * (1.0 / 30))));
}

/* psi''(x): the same way */
double ag_tetragamma(double x)
{
	double sum = 0, f;

	if (x < FAR_LEFT)
		return isinf(x) ? NAN
		                : ag_tetragamma(1 - x) - 2 * pow(PI / sin(PI * x), 3) * cos(PI * x);
	for (; x < 10; x++)
		sum -= 2 / (x * x * x);
	f = 1 / (x * x);
	return sum - f - f / x - f * f * (0.5 - f * (1.0 / 6 - f * (1.0 / 6 - f * 3.0 / 10)));
}

enum { MOST_TERMS = 5000, LARGE_ALPHA = 1000, MOST_STEPS = 400 };

/* Of large alphas, where the cube root is all but normal. */
static double large_slope(double alpha, double x)
{
	double root = cbrt(x / alpha), z = 3 * sqrt(alpha) * (root - 1 + 1 / (9 * alpha));
	double bend = 1 / (9 * alpha * alpha) - z / (6 * alpha * sqrt(alpha));

	return root * root * (root + 3 * alpha * bend);
}

/* The distribution function's series, each term by alpha: of one sign but for its first terms. */
double ag_gamma_slope(double alpha, double x)
{
	double sum = 0, term = 1 / alpha, psi = ag_digamma(alpha + 1), part, logs = log(x);

	if (!(x > 0) || !(alpha > 0) || isinf(x) || isinf(alpha))
		return 0;
	if (alpha > LARGE_ALPHA)
		return large_slope(alpha, x);
	for (int n = 1; n < MOST_TERMS; n++) {
		part = term * (logs - psi);
		sum += part;
		if (alpha + n > x && fabs(part) < 1e-16 * fabs(sum))
			break;
		psi += 1 / (alpha + n);
		term *= x / (alpha + n);
	}
	return -x * sum;
}

/*
 * The integral from 0 to y of s^(p-1) (1-s)^(r-1) (log(s or 1-s) - mean), over that power at y:
 * with s = y exp(-w), and w = exp(sinh(t)) / p on even steps of t.
 */
static double beta_part(double y, double p, double r, double mean, bool other)
{
	const double step = 1.0 / 32;
	double sum = 0;

	for (int i = -MOST_STEPS / 2; i < MOST_STEPS / 2; i++) {
		double t = i * step, w = exp(PI / 2 * sinh(t)) / p, s = y * exp(-w);
		double log_s = log(y) - w, power;

		power = exp(-p * w + (r - 1) * (log1p(-s) - log1p(-y)));
		if (power > 0)
			sum += power * ((other ? log1p(-s) : log_s) - mean) * w * cosh(t);
	}
	return sum * step * PI / 2 * y;
}

double ag_beta_slope(double x, double alpha, double beta)
{
	double mean = ag_digamma(alpha) - ag_digamma(alpha + beta);

	if (!(x > 0) || !(x < 1) || !(alpha > 0) || !(beta > 0))
		return 0;
	return x < alpha / (alpha + beta) ? -beta_part(x, alpha, beta, mean, false)
	                                  : beta_part(1 - x, beta, alpha, mean, true);
}
