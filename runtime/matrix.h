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
/* Elements at[i * row + k * column]. */
struct matrix_view {
	double *at;
	int64_t row, column;
};

/* b (n x columns) becomes the solution of the equations of one half of a; `unit`: with ones on its
 * diagonal. */
void matrix_solve_triangle(struct matrix_view a, bool upper, bool unit, int64_t n,
                           struct matrix_view b, int64_t columns);
/* Of a symmetric matrix given by one half: the eigenvalues, rising; a becomes their vectors, as
 * columns whose last element is not negative. */
void matrix_eigen(double *a, bool upper, int64_t n, double *values);
/* a (rows x columns) = u (rows x k) diag(s) vh (k x columns), k the smaller; s falls. */
void matrix_svd(const double *a, int64_t rows, int64_t columns, double *u, double *s, double *vh);

#endif
