#include "runtime/ctc.h"

#include <math.h>
#include <stdlib.h>

#include "runtime/core.h"

static int64_t places(const struct ctc *c)
{
	return 2 * c->count + 1;
}

static int64_t label_at(const struct ctc *c, int64_t place)
{
	return place % 2 ? c->labels[place / 2] : c->blank;
}

/* A label may follow the one before at once, unless it is the same. */
static bool may_skip(const struct ctc *c, int64_t place)
{
	return place >= 2 && place % 2 && label_at(c, place) != label_at(c, place - 2);
}

static double log_add(double a, double b)
{
	double most = a > b ? a : b;

	return most == -INFINITY ? most : most + log(exp(a - most) + exp(b - most));
}

static double log_prob(const struct ctc *c, int64_t t, int64_t place)
{
	return c->log_probs[t * c->step + label_at(c, place)];
}

double ctc_forward(const struct ctc *c, double *alpha)
{
	int64_t n = places(c), t, s;

	for (s = 0; s < n && c->steps; s++)
		alpha[s] = s < 2 ? log_prob(c, 0, s) : -INFINITY;
	for (t = 1; t < c->steps; t++) {
		const double *before = alpha + (t - 1) * n;

		for (s = 0; s < n; s++) {
			double sum = before[s];

			if (s > 0)
				sum = log_add(sum, before[s - 1]);
			if (may_skip(c, s))
				sum = log_add(sum, before[s - 2]);
			alpha[t * n + s] = sum + log_prob(c, t, s);
		}
	}
	if (!c->steps)
		return c->count ? INFINITY : 0;
	alpha += (c->steps - 1) * n;
	return -log_add(alpha[n - 1], n > 1 ? alpha[n - 2] : -INFINITY);
}

static void beta_fill(const struct ctc *c, double *beta)
{
	int64_t n = places(c), t, s;

	for (s = 0; s < n; s++)
		beta[(c->steps - 1) * n + s] =
		        s >= n - 2 ? log_prob(c, c->steps - 1, s) : -INFINITY;
	for (t = c->steps - 1; t-- > 0;) {
		const double *after = beta + (t + 1) * n;

		for (s = 0; s < n; s++) {
			double sum = after[s];

			if (s + 1 < n)
				sum = log_add(sum, after[s + 1]);
			if (s + 2 < n && may_skip(c, s + 2))
				sum = log_add(sum, after[s + 2]);
			beta[t * n + s] = sum + log_prob(c, t, s);
		}
	}
}

/* PyTorch's gradient is that by the inputs of a log-softmax: probability less expected share. */
void ctc_backward(const struct ctc *c, const double *alpha, double loss, double scale,
                  double *gradient)
{
	int64_t n = places(c), t, s, k;
	double *beta, *share;

	if (!c->steps)
		return;
	beta = ag_alloc((size_t)(c->steps * n), sizeof(*beta));
	share = ag_alloc((size_t)c->classes + 1, sizeof(*share));
	beta_fill(c, beta);
	for (t = 0; t < c->steps; t++) {
		for (k = 0; k < c->classes; k++)
			share[k] = -INFINITY;
		for (s = 0; s < n; s++) {
			k = label_at(c, s);
			share[k] = log_add(share[k], alpha[t * n + s] + beta[t * n + s]);
		}
		for (k = 0; k < c->classes; k++) {
			double lp = c->log_probs[t * c->step + k];

			gradient[t * c->step + k] += scale * (exp(lp) - exp(share[k] + loss - lp));
		}
	}
	free(beta);
	free(share);
}
