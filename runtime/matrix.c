#include "runtime/matrix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/core.h"

enum { MOST_SWEEPS = 60 };

static void swap_rows(double *a, int64_t columns, int64_t i, int64_t j)
{
	for (int64_t k = 0; i != j && k < columns; k++) {
		double moved = a[i * columns + k];

		a[i * columns + k] = a[j * columns + k];
		a[j * columns + k] = moved;
	}
}

int matrix_lu(double *a, int64_t n, int64_t *pivots)
{
	int sign = 1;

	for (int64_t j = 0; j < n; j++) {
		int64_t best = j, i, k;

		for (i = j + 1; i < n; i++) {
			if (fabs(a[i * n + j]) > fabs(a[best * n + j]))
				best = i;
		}
		pivots[j] = best + 1;
		sign = best != j ? -sign : sign;
		swap_rows(a, n, j, best);
		for (i = j + 1; i < n && a[j * n + j] != 0; i++) {
			double factor = a[i * n + j] / a[j * n + j];

			a[i * n + j] = factor;
			for (k = j + 1; k < n; k++)
				a[i * n + k] -= factor * a[j * n + k];
		}
	}
	return sign;
}

bool matrix_is_singular(const double *lu, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		if (lu[i * n + i] == 0)
			return true;
	}
	return false;
}

void matrix_solve(const double *lu, const int64_t *pivots, int64_t n, double *b, int64_t columns)
{
	int64_t i, j, k;

	for (i = 0; i < n; i++)
		swap_rows(b, columns, i, pivots[i] - 1);
	for (i = 0; i < n; i++) {
		for (j = 0; j < i; j++) {
			for (k = 0; k < columns; k++)
				b[i * columns + k] -= lu[i * n + j] * b[j * columns + k];
		}
	}
	for (i = n; i-- > 0;) {
		for (j = i + 1; j < n; j++) {
			for (k = 0; k < columns; k++)
				b[i * columns + k] -= lu[i * n + j] * b[j * columns + k];
		}
		for (k = 0; k < columns; k++)
			b[i * columns + k] /= lu[i * n + i];
	}
}

bool matrix_cholesky(const double *a, int64_t n, double *l)
{
	memset(l, 0, (size_t)(n * n) * sizeof(*l));
	for (int64_t i = 0; i < n; i++) {
		for (int64_t j = 0; j <= i; j++) {
			double sum = a[i * n + j];

			for (int64_t k = 0; k < j; k++)
				sum -= l[i * n + k] * l[j * n + k];
			if (i == j && !(sum > 0))
				return false;
			l[i * n + j] = i == j ? sqrt(sum) : sum / l[j * n + j];
		}
	}
	return true;
}

static double *element(struct matrix_view m, int64_t i, int64_t k)
{
	return m.at + i * m.row + k * m.column;
}

void matrix_solve_triangle(struct matrix_view a, bool upper, bool unit, int64_t n,
                           struct matrix_view b, int64_t columns)
{
	for (int64_t step = 0; step < n; step++) {
		int64_t i = upper ? n - 1 - step : step, end = upper ? n : i;

		for (int64_t k = 0; k < columns; k++) {
			double sum = *element(b, i, k);

			for (int64_t j = upper ? i + 1 : 0; j < end; j++)
				sum -= *element(a, i, j) * *element(b, j, k);
			*element(b, i, k) = unit ? sum : sum / *element(a, i, i);
		}
	}
}

/* ---- singular values: one-sided Jacobi on the columns of a tall matrix */

struct jacobi {
	double *a, *v; /* a = (the original) v; both change together */
	int64_t rows, columns;
};

static void rotate(double *m, int64_t rows, int64_t columns, int64_t p, int64_t q, double c,
                   double s)
{
	for (int64_t i = 0; i < rows; i++) {
		double x = m[i * columns + p], y = m[i * columns + q];

		m[i * columns + p] = c * x - s * y;
		m[i * columns + q] = s * x + c * y;
	}
}

/* Of the angle that makes pq zero. */
static double tangent(double pp, double qq, double pq)
{
	double zeta = (qq - pp) / (2 * pq);

	return (zeta >= 0 ? 1 : -1) / (fabs(zeta) + sqrt(1 + zeta * zeta));
}

/* Makes columns p and q orthogonal; whether they were not. */
static bool orthogonalize(struct jacobi *j, int64_t p, int64_t q)
{
	double pp = 0, qq = 0, pq = 0, t, c;

	for (int64_t i = 0; i < j->rows; i++) {
		double x = j->a[i * j->columns + p], y = j->a[i * j->columns + q];

		pp += x * x;
		qq += y * y;
		pq += x * y;
	}
	if (fabs(pq) <= 1e-15 * sqrt(pp * qq) || pq == 0)
		return false;
	t = tangent(pp, qq, pq);
	c = 1 / sqrt(1 + t * t);
	rotate(j->a, j->rows, j->columns, p, q, c, c * t);
	rotate(j->v, j->columns, j->columns, p, q, c, c * t);
	return true;
}

static double column_length(const struct jacobi *j, int64_t column)
{
	double sum = 0;

	for (int64_t i = 0; i < j->rows; i++)
		sum += j->a[i * j->columns + column] * j->a[i * j->columns + column];
	return sqrt(sum);
}

/* Largest first. */
static void order_columns(const struct jacobi *j, double *lengths, int64_t *order)
{
	int64_t i, k;

	for (i = 0; i < j->columns; i++) {
		lengths[i] = column_length(j, i);
		for (k = i; k > 0 && lengths[order[k - 1]] < lengths[i]; k--)
			order[k] = order[k - 1];
		order[k] = i;
	}
}

static void tall_svd(struct jacobi *j, double *u, double *s, double *v)
{
	int64_t n = j->columns, p, q, i, *order = ag_alloc((size_t)n + 1, sizeof(*order));
	double *lengths = ag_alloc((size_t)n + 1, sizeof(*lengths));
	bool turning = true;

	for (i = 0; i < n; i++)
		j->v[i * n + i] = 1;
	for (int sweep = 0; turning && sweep < MOST_SWEEPS; sweep++) {
		turning = false;
		for (p = 0; p < n; p++) {
			for (q = p + 1; q < n; q++)
				turning = orthogonalize(j, p, q) || turning;
		}
	}
	order_columns(j, lengths, order);
	for (p = 0; p < n; p++) {
		int64_t from = order[p];

		s[p] = lengths[from];
		for (i = 0; i < j->rows; i++)
			u[i * n + p] = s[p] > 0 ? j->a[i * n + from] / s[p] : 0;
		for (i = 0; i < n; i++)
			v[i * n + p] = j->v[i * n + from];
	}
	free(order);
	free(lengths);
}

/* ---- eigenvalues of symmetric matrices: two-sided Jacobi */

/* Turns the plane of p and q until a[p][q] is zero; whether it was not. */
static bool diagonalize(double *a, double *v, int64_t n, int64_t p, int64_t q)
{
	double pp = a[p * n + p], qq = a[q * n + q], pq = a[p * n + q], t, c;

	if (fabs(pq) <= 1e-16 * (fabs(pp) + fabs(qq)) || pq == 0)
		return false;
	t = tangent(pp, qq, pq);
	c = 1 / sqrt(1 + t * t);
	rotate(a, n, n, p, q, c, c * t);
	for (int64_t k = 0; k < n; k++) {
		double x = a[p * n + k], y = a[q * n + k];

		a[p * n + k] = c * x - c * t * y;
		a[q * n + k] = c * t * x + c * y;
	}
	rotate(v, n, n, p, q, c, c * t);
	return true;
}

static void make_symmetric(double *a, bool upper, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		for (int64_t k = 0; k < i; k++) {
			if (upper)
				a[i * n + k] = a[k * n + i];
			else
				a[k * n + i] = a[i * n + k];
		}
	}
}

/* The columns of v that belong to a's diagonal, the least first. */
static void rising(double *a, const double *v, int64_t n, double *values)
{
	int64_t *order = ag_alloc((size_t)n + 1, sizeof(*order)), i, k;

	for (i = 0; i < n; i++) {
		for (k = i; k > 0 && a[order[k - 1] * (n + 1)] > a[i * (n + 1)]; k--)
			order[k] = order[k - 1];
		order[k] = i;
	}
	for (i = 0; i < n; i++)
		values[i] = a[order[i] * (n + 1)];
	for (k = 0; k < n; k++) {
		double sign = v[(n - 1) * n + order[k]] < 0 ? -1 : 1;

		for (i = 0; i < n; i++)
			a[i * n + k] = sign * v[i * n + order[k]];
	}
	free(order);
}

void matrix_eigen(double *a, bool upper, int64_t n, double *values)
{
	double *v = ag_alloc((size_t)(n * n) + 1, sizeof(*v));
	bool turning = true;

	make_symmetric(a, upper, n);
	for (int64_t i = 0; i < n; i++)
		v[i * n + i] = 1;
	for (int sweep = 0; turning && sweep < MOST_SWEEPS; sweep++) {
		turning = false;
		for (int64_t p = 0; p < n; p++) {
			for (int64_t q = p + 1; q < n; q++)
				turning = diagonalize(a, v, n, p, q) || turning;
		}
	}
	rising(a, v, n, values);
	free(v);
}

static void transpose(const double *in, int64_t rows, int64_t columns, double *out)
{
	for (int64_t i = 0; i < rows; i++) {
		for (int64_t k = 0; k < columns; k++)
			out[k * rows + i] = in[i * columns + k];
	}
}

void matrix_svd(const double *a, int64_t rows, int64_t columns, double *u, double *s, double *vh)
{
	bool wide = rows < columns;
	struct jacobi j = {.rows = wide ? columns : rows, .columns = wide ? rows : columns};
	size_t k = (size_t)j.columns, n = (size_t)j.rows;
	double *left = ag_alloc(n * k + 1, sizeof(*left)),
	       *right = ag_alloc(k * k + 1, sizeof(*right));

	j.a = ag_alloc(n * k + 1, sizeof(double));
	j.v = ag_alloc(k * k + 1, sizeof(double));
	if (wide)
		transpose(a, rows, columns, j.a);
	else
		memcpy(j.a, a, n * k * sizeof(double));
	tall_svd(&j, left, s, right);
	if (wide) {
		memcpy(u, right, k * k * sizeof(double));
		transpose(left, j.rows, j.columns, vh);
	} else {
		memcpy(u, left, n * k * sizeof(double));
		transpose(right, j.columns, j.columns, vh);
	}
	free(left);
	free(right);
	free(j.a);
	free(j.v);
}
