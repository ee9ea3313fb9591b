#ifndef GRAPHLINT_RUNTIME_CTC_H
#define GRAPHLINT_RUNTIME_CTC_H

/* Connectionist temporal classification of one sequence on plain arrays. The target with blanks
 * between and around its labels has 2 * labels + 1 places; alpha and beta are logarithms of the
 * weight of all paths to and from a place at a time. */

#include <stdint.h>

struct ctc {
	const double *log_probs; /* time t, class c at t * step + c */
	int64_t step, steps, classes, blank;
	const int64_t *labels;
	int64_t count;
};

/* alpha: [steps, 2 * count + 1]; returns minus the logarithm of the target's probability. */
double ctc_forward(const struct ctc *c, double *alpha);
/* Adds scale times the gradient by log_probs, laid out as they are. */
void ctc_backward(const struct ctc *c, const double *alpha, double loss, double scale,
                  double *gradient);

#endif
