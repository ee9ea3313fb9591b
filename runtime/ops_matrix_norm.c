/* Norms of matrices, as PyTorch composes them of norms of vectors and of singular values. */
#include <math.h>

#include "runtime/op.h"

struct matrices {
	struct ag_tensor *a;
	int dims[2]; /* where their rows and columns are */
	bool keepdim;
};

static struct ag_tensor *vector_norm(struct ag_ctx *c, struct ag_tensor *a, double ord,
                                     struct ag_value dim, bool keepdim)
{
	struct ag_value v[4] = {ag_arg(a), ag_float(ord), dim, ag_bool(keepdim)};

	return op_call(c, AG_OP_vector_norm, v, 4);
}

/* Of nothing the largest is zero. */
static struct ag_tensor *extreme(struct ag_ctx *c, struct ag_tensor *a, bool largest, int64_t dim,
                                 bool keepdim)
{
	struct ag_value at = ag_int(dim), v[3] = {ag_arg(a), ag_list(&at, 1), ag_bool(keepdim)};

	if (a && largest && !ag_size(a, (int)dim))
		return op_sum_dim(c, a, dim, keepdim);
	return op_call(c, largest ? AG_OP_amax : AG_OP_amin, v, 3);
}

/* Fills `dims` with the order that puts rows and columns last, and where each is then. */
static void to_the_end(const struct matrices *m, int64_t *dims, int64_t *back)
{
	int d, n = 0;

	for (d = 0; d < m->a->ndim; d++) {
		if (d != m->dims[0] && d != m->dims[1])
			dims[n++] = d;
	}
	dims[n] = m->dims[0];
	dims[n + 1] = m->dims[1];
	for (d = 0; d < m->a->ndim; d++)
		back[dims[d]] = d;
}

/* The largest or the smallest singular value, with order 0 the sum of all. */
static struct ag_tensor *of_singular_values(struct ag_ctx *c, const struct matrices *m, double ord)
{
	int64_t dims[AG_MAX_DIMS], back[AG_MAX_DIMS];
	struct ag_tensor *s;
	struct ag_value v[1];

	to_the_end(m, dims, back);
	v[0] = ag_arg(op_permute(c, m->a, dims, m->a->ndim));
	s = op_call(c, AG_OP_svdvals, v, 1);
	s = ord == 0 ? (s ? op_sum_dim(c, s, -1, m->keepdim) : NULL)
	             : extreme(c, s, ord > 0, -1, m->keepdim);
	return m->keepdim && s ? op_permute(c, op_unsqueeze(c, s, -1), back, m->a->ndim) : s;
}

/* The largest, or the smallest, of the sums along one dimension. */
static struct ag_tensor *extreme_sum(struct ag_ctx *c, const struct matrices *m, double ord)
{
	int along = m->dims[isinf(ord) ? 1 : 0], over = m->dims[isinf(ord) ? 0 : 1];
	struct ag_value dim = ag_int(along);
	struct ag_tensor *sums = vector_norm(c, m->a, 1, ag_list(&dim, 1), m->keepdim);

	return extreme(c, sums, ord > 0, over - (!m->keepdim && along < over), m->keepdim);
}

static struct ag_tensor *norm_of(struct ag_ctx *c, const struct matrices *m,
                                 const struct ag_value *ord, bool nuclear)
{
	struct ag_value dims[2] = {ag_int(m->dims[0]), ag_int(m->dims[1])};
	double p;

	if (nuclear)
		return of_singular_values(c, m, 0);
	if (ord->kind == AG_TEXT || ord->kind == AG_NONE)
		return vector_norm(c, m->a, 2, ag_list(dims, 2), m->keepdim);
	p = ag_value_float(ord);
	if (fabs(p) == 2)
		return of_singular_values(c, m, p);
	if (fabs(p) == 1 || isinf(p))
		return extreme_sum(c, m, p);
	return ag_null(c, AG_ERR_RUNTIME, "linalg.matrix_norm: Order %g not supported.", p);
}

static bool matrix_norm(struct ag_frame *f, const int64_t *dims)
{
	struct matrices m = {.a = arg_t(f, 0), .keepdim = arg_b(f, 3)};
	int i;

	if (!ag_need_float(f, m.a))
		return false;
	if (m.a->ndim < 2)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "linalg.matrix_norm: The input tensor A must have at least 2 "
		               "dimensions.");
	for (i = 0; i < 2; i++) {
		m.dims[i] = ag_dim(f->ctx, m.a, dims[i]);
		if (m.dims[i] < 0)
			return false;
	}
	if (m.dims[0] == m.dims[1])
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "linalg.matrix_norm: dims must be different.");
	if (f->v[4].kind == AG_DTYPE)
		m.a = op_cast(f->ctx, m.a, f->v[4].as.dtype);
	return m.a && ag_give_ref(f, norm_of(f->ctx, &m, &f->v[1], arg_text_is(f, 1, "nuc")));
}

/* input, ord, dim, keepdim, dtype */
bool op_run_matrix_norm(struct ag_frame *f)
{
	int64_t dims[2];

	return arg_ints_n(f, 2, dims, 2) && matrix_norm(f, dims);
}

/* The same: of vectors, if no order is given or one dimension is meant. */
bool op_run_linalg_norm(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0);
	int64_t dims[AG_MAX_DIMS] = {0, 1};
	int n = arg_none(f, 2) ? a->ndim : arg_ints(f, 2, dims, AG_MAX_DIMS);

	if (n < 0)
		return false;
	if (!arg_none(f, 1) && n != 1 && n != 2)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "linalg.norm: If dim is not specified but ord is, the input must be "
		               "1D or 2D. Got %dD.",
		               n);
	if (!arg_none(f, 1) && n == 2)
		return matrix_norm(f, dims);
	if (f->v[4].kind == AG_DTYPE)
		a = op_cast(f->ctx, a, f->v[4].as.dtype);
	return a && ag_give_ref(f, vector_norm(f->ctx, a, arg_none(f, 1) ? 2 : arg_f(f, 1), f->v[2],
	                                       arg_b(f, 3)));
}
