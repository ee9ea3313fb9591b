/*
 * orthogonal_: the Q of a normal matrix's QR factorisation, its columns' signs turned so that R
 * has a positive diagonal (then it is unique). Householder reflections in double; PyTorch's
 * values, computed by LAPACK in the array's own precision, agree to its rounding.
 */
#include "runtime/init.h"

#include <math.h>
#include <stdlib.h>

struct matrix {
	double *at; /* column after column */
	int64_t rows, columns;
};

static double *column(const struct matrix *m, int64_t index)
{
	return m->at + index * m->rows;
}

static struct matrix matrix_new(int64_t rows, int64_t columns)
{
	struct matrix m = {calloc((size_t)(rows * columns) + 1, sizeof(double)), rows, columns};

	if (!m.at)
		abort();
	return m;
}

/* x -= 2 v (v.x) / (v.v) on rows from `first` on; v is zero above. */
static void reflect(const double *v, double *x, int64_t first, int64_t rows, double v_dot_v)
{
	double dot = 0;

	if (v_dot_v <= 0)
		return;
	for (int64_t i = first; i < rows; i++)
		dot += v[i] * x[i];
	for (int64_t i = first; i < rows; i++)
		x[i] -= 2 * dot / v_dot_v * v[i];
}

static double dot_below(const double *v, int64_t first, int64_t rows)
{
	double dot = 0;

	for (int64_t i = first; i < rows; i++)
		dot += v[i] * v[i];
	return dot;
}

/* Replaces a (rows >= columns) by its reflection vectors; sign[j] is that of R's diagonal. */
static void factor(struct matrix *a, double *sign)
{
	for (int64_t j = 0; j < a->columns; j++) {
		double *v = column(a, j);
		double length = sqrt(dot_below(v, j, a->rows));

		sign[j] = v[j] > 0 ? -1 : 1;
		v[j] -= sign[j] * length;
		for (int64_t k = j + 1; k < a->columns; k++)
			reflect(v, column(a, k), j, a->rows, dot_below(v, j, a->rows));
	}
}

/* The columns of Q, signs turned. */
static struct matrix unfold_q(const struct matrix *a, const double *sign)
{
	struct matrix q = matrix_new(a->rows, a->columns);

	for (int64_t j = 0; j < q.columns; j++) {
		double *x = column(&q, j);
		x[j] = sign[j];
		for (int64_t k = a->columns; k-- > 0;) {
			const double *v = column(a, k);
			reflect(v, x, k, a->rows, dot_below(v, k, a->rows));
		}
	}
	return q;
}

/* Element (row, column) of the array seen as a matrix, turned so that it is tall. */
static int64_t place(int64_t row, int64_t col, int64_t width, bool turned)
{
	return turned ? col * width + row : row * width + col;
}

bool ag_init_orthogonal(struct ag_random *random, struct ag_array *array, double gain)
{
	int64_t numel = ag_array_numel(array);
	int64_t height = array->ndim ? array->shape[0] : 0;
	int64_t width = height ? numel / height : 0;
	bool turned = height < width;
	struct matrix a;
	struct matrix q;
	double *sign;

	if (array->ndim < 2)
		return false;
	if (numel == 0 || !ag_array_has_data(array))
		return true;
	a = turned ? matrix_new(width, height) : matrix_new(height, width);
	sign = calloc((size_t)a.columns, sizeof(*sign));
	if (!sign)
		abort();
	ag_init_normal(random, array, 0, 1);
	for (int64_t j = 0; j < a.columns; j++) {
		for (int64_t i = 0; i < a.rows; i++)
			column(&a, j)[i] = ag_array_get(array, place(i, j, width, turned));
	}
	factor(&a, sign);
	q = unfold_q(&a, sign);
	for (int64_t j = 0; j < q.columns; j++) {
		for (int64_t i = 0; i < q.rows; i++) {
			double value = column(&q, j)[i] * gain;
			ag_array_set(array, place(i, j, width, turned), value);
		}
	}
	free(sign);
	free(q.at);
	free(a.at);
	return true;
}
