#ifndef GRAPHLINT_RUNTIME_GAMMA_H
#define GRAPHLINT_RUNTIME_GAMMA_H

/* The derivatives of the logarithm of gamma, and of what is drawn from gamma and beta. */

#include <stdbool.h>

double ag_digamma(double x);
double ag_trigamma(double x);
double ag_tetragamma(double x);

/* How a value x that was drawn moves with a parameter, the uniform number behind it kept:
 * minus the derivative of the distribution function by alpha, over the density. */
double ag_gamma_slope(double alpha, double x);
double ag_beta_slope(double x, double alpha, double beta);

#endif
