/* Linear algebra on matrices and batches of them. What PyTorch keeps beside the result (factors
 * and pivots) is kept here too; the formulas are products and inverses of the saved tensors. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/linalg.h"
#include "runtime/matrix.h"

/* ---- what the rows share */

static bool is_square(struct ag_frame *f, const struct ag_tensor *a)
{
	if (a->ndim < 2)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "linalg.%s: The input tensor A must have at least 2 dimensions.",
		               ag_op_info(f->op)->id);
	if (a->shape[a->ndim - 1] != a->shape[a->ndim - 2])
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "linalg.%s: A must be batches of square matrices, but they are %lld "
		               "by %lld matrices",
		               ag_op_info(f->op)->id, (long long)a->shape[a->ndim - 2],
		               (long long)a->shape[a->ndim - 1]);
	return ag_need_float(f, a);
}

static struct ag_tensor *inverse(struct ag_ctx *ctx, struct ag_tensor *a)
{
	struct ag_value v[1] = {ag_arg(a)};

	return a ? op_call(ctx, AG_OP_inv, v, 1) : NULL;
}

/* a with dimensions of size one behind, to be multiplied with matrices or rows. */
static struct ag_tensor *widened(struct ag_ctx *ctx, struct ag_tensor *a, int by)
{
	while (a && by--)
		a = op_unsqueeze(ctx, a, -1);
	return a;
}

/* The factors of every matrix of a, as tensors that a node keeps. */
struct factors {
	struct ag_tensor *lu, *pivots;
	double *values; /* NULL without data */
	int64_t *swaps;
	double *signs;
};

static bool factors_open(struct ag_ctx *ctx, struct factors *s, struct ag_tensor *a)
{
	int64_t n = a->shape[a->ndim - 1], batch = linalg_batch(a), i;

	memset(s, 0, sizeof(*s));
	s->lu = scoped(ctx, ag_make(ctx, (enum ag_dtype)a->dtype, a->ndim, a->shape, true));
	s->pivots = scoped(ctx, ag_make(ctx, AG_I32, a->ndim - 1, a->shape, true));
	if (!s->lu || !s->pivots)
		return false;
	if (!ag_work(ctx, (double)a->numel * (double)n))
		ag_storage_drop_data(s->lu->storage);
	if (!ag_ready1(s->lu, a) || !ag_ready1(s->pivots, a))
		return true;
	s->values = ag_plain(a);
	s->swaps = ag_alloc((size_t)s->pivots->numel + 1, sizeof(*s->swaps));
	s->signs = ag_alloc((size_t)batch + 1, sizeof(*s->signs));
	for (i = 0; i < batch; i++)
		s->signs[i] = matrix_lu(s->values + i * n * n, n, s->swaps + i * n);
	ag_put_plain(s->lu, s->values);
	ag_put_ints(s->pivots, s->swaps);
	return true;
}

static void factors_close(struct factors *s)
{
	free(s->values);
	free(s->swaps);
	free(s->signs);
}

/* The factors may be larger than what has data where the result is not. */
static bool factors_known(const struct factors *s, struct ag_tensor *out)
{
	if (!s->values)
		ag_storage_drop_data(out->storage);
	return s->values != NULL;
}

static bool not_singular(struct ag_frame *f, const struct factors *s, int64_t n, int64_t batch)
{
	int64_t i;

	for (i = 0; s->values && i < batch; i++) {
		if (matrix_is_singular(s->values + i * n * n, n))
			return ag_fail(f->ctx, AG_ERR_RUNTIME,
			               "linalg.%s: The input matrix is singular.",
			               ag_op_info(f->op)->id);
	}
	return true;
}

/* ---- inverse */

static void fill_inverse(const struct factors *s, struct ag_tensor *out)
{
	int64_t n = out->shape[out->ndim - 1], batch = linalg_batch(out), i, k;
	double *values = ag_alloc((size_t)out->numel + 1, sizeof(*values));

	for (i = 0; i < batch; i++) {
		for (k = 0; k < n; k++)
			values[i * n * n + k * n + k] = 1;
		matrix_solve(s->values + i * n * n, s->swaps + i * n, n, values + i * n * n, n);
	}
	ag_put_plain(out, values);
	free(values);
}

bool op_run_inv(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0), *out = NULL;
	struct ag_node *node;
	struct factors s;
	bool good;

	if (!is_square(f, a))
		return false;
	good = factors_open(f->ctx, &s, a) &&
	       not_singular(f, &s, a->shape[a->ndim - 1], linalg_batch(a));
	if (good)
		out = ag_make(f->ctx, (enum ag_dtype)a->dtype, a->ndim, a->shape, true);
	if (out)
		ag_put_columns(out);
	if (out && ag_ready1(out, a) && factors_known(&s, out))
		fill_inverse(&s, out);
	factors_close(&s);
	if (!out)
		return false;
	node = ag_record1(f->ctx, AG_NODE_LinalgInv, a, 1, 0);
	if (node) {
		ag_set_history(out, node);
		ag_save_output(node, 0, out);
		ag_node_release(node);
	}
	return ag_give(f, out);
}

bool bw_LinalgInv(struct ag_bw *b)
{
	struct ag_tensor *t = linalg_turned(B_CTX, B_SAVED(0));
	struct ag_tensor *g = linalg_times(B_CTX, t, linalg_times(B_CTX, B_GRAD, t));

	if (!g)
		return false;
	B_SET(0, op_neg(B_CTX, g));
	return true;
}

/* ---- solve: A x = b, b a matrix or a vector */

static bool solve_fits(struct ag_frame *f, const struct ag_tensor *a, const struct ag_tensor *b,
                       bool *vector)
{
	if (!is_square(f, a))
		return false;
	*vector = b->ndim == 1 || (b->ndim == a->ndim - 1 && ag_shape_is(b, a->ndim - 1, a->shape));
	if (a->dtype != b->dtype)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "linalg.solve: Expected A and B to have the same dtype");
	if (b->ndim < 1 || (!*vector && b->ndim != a->ndim) ||
	    b->shape[b->ndim - (*vector ? 1 : 2)] != a->shape[a->ndim - 1] ||
	    ag_count(b->ndim - (*vector ? 1 : 2), b->shape) != linalg_batch(a))
		return ag_fail(
		        f->ctx, AG_ERR_RUNTIME,
		        "linalg.solve: Incompatible shapes of A and B for the equation AX = B");
	return true;
}

static void fill_solution(const struct factors *s, struct ag_tensor *out, struct ag_tensor *b,
                          int64_t n)
{
	int64_t batch = linalg_batch(s->lu), columns = batch * n > 0 ? b->numel / (batch * n) : 0,
	        i;
	double *values = ag_plain(b);

	for (i = 0; i < batch; i++)
		matrix_solve(s->values + i * n * n, s->swaps + i * n, n, values + i * n * columns,
		             columns);
	ag_put_plain(out, values);
	free(values);
}

static void solve_record(struct ag_frame *f, struct ag_tensor *const *in, const struct factors *s,
                         struct ag_tensor *out, bool vector)
{
	struct ag_node *node = ag_record(f->ctx, AG_NODE_LinalgSolve, in, 2, 4, 1);

	if (!node)
		return;
	node->ints[0] = vector;
	ag_save_input(node, 0, in[0]);
	ag_save_input(node, 1, s->lu);
	ag_save_input(node, 2, s->pivots);
	ag_set_history(out, node);
	ag_save_output(node, 3, out);
	ag_node_release(node);
}

bool op_run_solve(struct ag_frame *f)
{
	struct ag_tensor *in[2] = {arg_t(f, 0), arg_t(f, 1)}, *out = NULL;
	int64_t n;
	struct factors s;
	bool vector;

	if (!solve_fits(f, in[0], in[1], &vector))
		return false;
	n = in[0]->shape[in[0]->ndim - 1];
	if (factors_open(f->ctx, &s, in[0]) && not_singular(f, &s, n, linalg_batch(in[0])))
		out = ag_make(f->ctx, (enum ag_dtype)in[1]->dtype, in[1]->ndim, in[1]->shape, true);
	if (out && !vector)
		ag_put_columns(out);
	if (out && ag_ready2(out, in[0], in[1]) && factors_known(&s, out))
		fill_solution(&s, out, in[1], n);
	if (out)
		solve_record(f, in, &s, out, vector);
	factors_close(&s);
	return ag_give(f, out);
}

bool bw_LinalgSolve(struct ag_bw *b)
{
	bool vector = b->node->ints[0] != 0;
	struct ag_tensor *a = linalg_turned(B_CTX, B_SAVED(0)), *x = B_SAVED(3), *g, *ga;
	struct ag_value v[2] = {ag_arg(a), ag_arg(B_GRAD)};

	if (!a || !x)
		return false;
	g = op_call(B_CTX, AG_OP_solve, v, 2);
	if (!g)
		return false;
	B_SET(1, g);
	if (!B_WANT(0))
		return true;
	ga = linalg_times(B_CTX, vector ? widened(B_CTX, g, 1) : g,
	                  vector ? op_unsqueeze(B_CTX, x, -2) : linalg_turned(B_CTX, x));
	if (!ga)
		return false;
	B_SET(0, op_neg(B_CTX, ga));
	return true;
}

/* ---- determinants */

static void fill_determinants(const struct factors *s, struct ag_tensor *sign,
                              struct ag_tensor *out, int64_t n, bool logs)
{
	int64_t batch = linalg_batch(s->lu), i, k;
	double *values = ag_alloc((size_t)batch + 1, sizeof(*values));
	double *signs = ag_alloc((size_t)batch + 1, sizeof(*signs));

	for (i = 0; i < batch; i++) {
		signs[i] = s->signs[i];
		values[i] = logs ? 0 : s->signs[i];
		for (k = 0; k < n; k++) {
			double d = s->values[(i * n + k) * n + k];

			values[i] = logs ? values[i] + log(fabs(d)) : values[i] * d;
			signs[i] *= d > 0 ? 1 : d < 0 ? -1 : 0;
		}
	}
	ag_put_plain(out, values);
	if (sign)
		ag_put_plain(sign, signs);
	free(values);
	free(signs);
}

static bool determinant(struct ag_frame *f, enum ag_node_kind kind, bool logs)
{
	struct ag_tensor *a = arg_t(f, 0), *out = NULL, *sign = NULL;
	struct ag_node *node;
	struct factors s;

	if (!is_square(f, a))
		return false;
	if (factors_open(f->ctx, &s, a)) {
		out = ag_make(f->ctx, (enum ag_dtype)a->dtype, a->ndim - 2, a->shape, true);
		sign = logs ? ag_make(f->ctx, (enum ag_dtype)a->dtype, a->ndim - 2, a->shape, true)
		            : NULL;
	}
	if (!out || (logs && !sign)) {
		factors_close(&s);
		ag_release(out);
		return false;
	}
	if (!a->numel) {
		ag_fill_data(out, logs ? 0 : 1);
		if (sign)
			ag_fill_data(sign, 1);
	} else if (ag_ready1(out, a) && factors_known(&s, out) && (!sign || ag_ready1(sign, a))) {
		fill_determinants(&s, sign, out, a->shape[a->ndim - 1], logs);
	} else if (sign) {
		ag_storage_drop_data(sign->storage);
		ag_storage_drop_data(out->storage);
	}
	factors_close(&s);
	node = ag_record1(f->ctx, kind, a, 4, 0);
	if (node) {
		ag_save_input(node, 0, a);
		ag_save_input(node, 1, s.lu);
		ag_save_input(node, 2, s.pivots);
		if (sign)
			ag_set_history(sign, node);
		ag_set_history(out, node);
		ag_save_output(node, 3, sign ? sign : out);
		ag_node_release(node);
	}
	return (!sign || ag_give(f, sign)) && ag_give(f, out);
}

bool op_run_det(struct ag_frame *f)
{
	return determinant(f, AG_NODE_LinalgDet, false);
}

bool op_run_slogdet(struct ag_frame *f)
{
	return determinant(f, AG_NODE_LinalgSlogdet, true);
}

bool bw_LinalgDet(struct ag_bw *b)
{
	struct ag_tensor *t = linalg_turned(B_CTX, inverse(B_CTX, B_SAVED(0))), *det = B_SAVED(3);

	if (!t || !det)
		return false;
	B_SET(0, op_mul(B_CTX, widened(B_CTX, op_mul(B_CTX, B_GRAD, det), 2), t));
	return true;
}

bool bw_LinalgSlogdet(struct ag_bw *b)
{
	struct ag_tensor *t = linalg_turned(B_CTX, inverse(B_CTX, B_SAVED(0)));

	if (!t)
		return false;
	if (b->grads[1])
		B_SET(0, op_mul(B_CTX, widened(B_CTX, b->grads[1], 2), t));
	return true;
}

/* ---- Cholesky */

static bool fill_cholesky(struct ag_frame *f, struct ag_tensor *out, struct ag_tensor *a)
{
	int64_t n = a->shape[a->ndim - 1], batch = linalg_batch(a), i;
	double *in, *l;
	bool good = true;

	if (!ag_ready1(out, a))
		return true;
	in = ag_plain(a);
	l = ag_alloc((size_t)a->numel + 1, sizeof(*l));
	for (i = 0; good && i < batch; i++)
		good = matrix_cholesky(in + i * n * n, n, l + i * n * n);
	ag_put_plain(out, l);
	free(in);
	free(l);
	return good || ag_fail(f->ctx, AG_ERR_RUNTIME,
	                       "linalg.cholesky: The factorization could not be completed because "
	                       "the input is not positive-definite.");
}

bool op_run_cholesky(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0), *out;
	struct ag_node *node;

	if (!is_square(f, a))
		return false;
	out = ag_make(f->ctx, (enum ag_dtype)a->dtype, a->ndim, a->shape, true);
	if (out)
		ag_put_columns(out);
	if (!out || !fill_cholesky(f, out, a)) {
		ag_release(out);
		return false;
	}
	node = ag_record1(f->ctx, AG_NODE_LinalgCholesky, a, 1, 0);
	if (node) {
		ag_set_history(out, node);
		ag_save_output(node, 0, out);
		ag_node_release(node);
	}
	if (!arg_b(f, 1))
		return ag_give(f, out);
	return ag_give_ref(f, linalg_turned(f->ctx, scoped(f->ctx, out)));
}

/* inv(L)' X inv(L) with X half of L'G and its mirror; the lower half of L'G is what counts. */
bool bw_LinalgCholesky(struct ag_bw *b)
{
	struct ag_tensor *l = B_SAVED(0), *i = inverse(B_CTX, l), *p, *below, *x;
	struct ag_value v[2] = {ag_arg(linalg_times(B_CTX, linalg_turned(B_CTX, l), B_GRAD)),
	                        ag_int(0)};

	if (!i || !v[0].as.tensor)
		return false;
	p = op_call(B_CTX, AG_OP_tril, v, 2);
	v[1] = ag_int(-1);
	below = linalg_turned(B_CTX, op_call(B_CTX, AG_OP_tril, v, 2));
	if (!p || !below)
		return false;
	x = op_mul_n(B_CTX, op_add(B_CTX, p, below), 0.5);
	x = linalg_times(B_CTX, linalg_turned(B_CTX, i), linalg_times(B_CTX, x, i));
	if (!x)
		return false;
	B_SET(0, x);
	return true;
}
