#ifndef GRAPHLINT_RUNTIME_MATRIX_H
#define GRAPHLINT_RUNTIME_MATRIX_H

/* Small dense matrices in row order, in double: what linear algebra needs. */

#include <stdbool.h>
#include <stdint.h>

/* In place: L below the diagonal (ones on it), U on and above; rows swapped as in `pivots`
 * (counted from 1, as LAPACK does). Returns the sign of the permutation. */
int matrix_lu(double *a, int64_t n, int64_t *pivots);
bool matrix_is_singular(const double *lu, int64_t n);
/* b (n x columns) becomes the solution. */
void matrix_solve(const double *lu, const int64_t *pivots, int64_t n, double *b, int64_t columns);
/* The lower factor; false if a is not positive definite. Reads the lower half. */
bool matrix_cholesky(const double *a, int64_t n, double *l);
/* a (rows x columns) = u (rows x k) diag(s) vh (k x columns), k the smaller; s falls. */
void matrix_svd(const double *a, int64_t rows, int64_t columns, double *u, double *s, double *vh);

#endif
