/* Systems of equations whose matrices are triangles, or products of them. */
#include <stdlib.h>
#include <string.h>

#include "runtime/linalg.h"
#include "runtime/matrix.h"

/* Which half of the matrix counts; whether its diagonal stands for ones, the unknown is on its
 * left, and it is meant turned. */
struct triangle {
	bool upper, unit, right, turned;
};

static bool matrices_fit(struct ag_frame *f, const struct ag_tensor *a, const struct ag_tensor *b,
                         bool left)
{
	int64_t n = a->ndim > 1 ? a->shape[a->ndim - 1] : -1;

	if (n < 0 || b->ndim < 2 || a->shape[a->ndim - 2] != n ||
	    b->shape[b->ndim - (left ? 2 : 1)] != n)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "%s: Incompatible shapes of A and B for the equation",
		               ag_op_info(f->op)->id);
	if (a->dtype != b->dtype)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "%s: Expected A and B to have the same dtype",
		               ag_op_info(f->op)->id);
	return ag_need_float(f, a);
}

/* a with these leading dimensions, and its own last two; borrowed. */
static struct ag_tensor *batched(struct ag_ctx *ctx, struct ag_tensor *a, int ndim,
                                 const int64_t *shape)
{
	int64_t whole[AG_MAX_DIMS];

	memcpy(whole, shape, (size_t)ndim * sizeof(*whole));
	memcpy(whole + ndim - 2, a->shape + a->ndim - 2, 2 * sizeof(*whole));
	return ag_shape_is(a, ndim, whole) ? a : op_expand(ctx, a, ndim, whole);
}

/* Both with the batch dimensions that they have together. */
static bool broadcast_batches(struct ag_ctx *ctx, struct ag_tensor **a, struct ag_tensor **b)
{
	struct ag_tensor x = **a, y = **b;
	int64_t shape[AG_MAX_DIMS];
	int ndim;

	x.ndim = (uint8_t)(x.ndim - 2);
	y.ndim = (uint8_t)(y.ndim - 2);
	if (!ag_broadcast(ctx, &x, &y, &ndim, shape))
		return false;
	*a = batched(ctx, *a, ndim + 2, shape);
	*b = batched(ctx, *b, ndim + 2, shape);
	return *a && *b;
}

static void solve_one(double *matrix, const struct triangle *t, int64_t n, double *b,
                      int64_t columns)
{
	const bool turned = t->turned != t->right;
	struct matrix_view a = {matrix, turned ? 1 : n, turned ? n : 1};
	struct matrix_view x = {b, t->right ? 1 : columns, t->right ? n : 1};

	matrix_solve_triangle(a, t->upper != turned, t->unit, n, x, columns);
}

/* The solutions for each matrix of b, or of these for the next triangle. */
static void fill_solutions(struct ag_tensor *out, struct ag_tensor *a, struct ag_tensor *b,
                           const struct triangle *triangles, int count)
{
	int64_t n = a->shape[a->ndim - 1], batch = linalg_batch(b), i;
	int64_t size = batch ? b->numel / batch : 0, columns = n ? size / n : 0;
	double *matrices, *x;

	if (!ag_work(out->ctx, (double)b->numel * (double)n))
		ag_storage_drop_data(out->storage);
	if (!ag_ready2(out, a, b))
		return;
	matrices = ag_plain(a);
	x = ag_plain(b);
	for (i = 0; i < batch * count; i++)
		solve_one(matrices + i / count * n * n, &triangles[i % count], n,
		          x + i / count * size, columns);
	ag_put_plain(out, x);
	free(matrices);
	free(x);
}

/* Owned. */
static struct ag_tensor *solution(struct ag_ctx *ctx, struct ag_tensor *a, struct ag_tensor *b,
                                  const struct triangle *triangles, int count)
{
	struct ag_grad_mode mode = ag_no_grad(ctx);
	struct ag_tensor *out = NULL;

	if (broadcast_batches(ctx, &a, &b))
		out = ag_make(ctx, (enum ag_dtype)b->dtype, b->ndim, b->shape, true);
	ag_set_grad_mode(ctx, mode);
	if (out) {
		ag_put_columns(out);
		fill_solutions(out, a, b, triangles, count);
	}
	return out;
}

/* What was broadcast is summed again. */
static struct ag_tensor *summed(struct ag_ctx *ctx, struct ag_tensor *g, const int64_t *shape)
{
	return g ? op_sum_to(ctx, g, (int)shape[0], shape + 1) : NULL;
}

static void remember_shape(int64_t *ints, const struct ag_tensor *t)
{
	ints[0] = t->ndim;
	memcpy(ints + 1, t->shape, t->ndim * sizeof(*ints));
}

/* ---- one triangle: A, B, upper, left, unitriangular */

enum { UPPER, UNIT, RIGHT, SHAPE, WORDS = SHAPE + 1 + AG_MAX_DIMS };

bool op_run_solve_triangular(struct ag_frame *f)
{
	struct ag_tensor *in[2] = {arg_t(f, 0), arg_t(f, 1)}, *out;
	struct triangle t = {arg_b(f, 2), arg_b(f, 4), !arg_b(f, 3), false};
	struct ag_node *node;

	if (!matrices_fit(f, in[0], in[1], !t.right))
		return false;
	out = solution(f->ctx, in[0], in[1], &t, 1);
	if (!out)
		return false;
	node = ag_record(f->ctx, AG_NODE_SolveTriangular, in, 2, 2, WORDS);
	if (node) {
		node->ints[UPPER] = t.upper;
		node->ints[UNIT] = t.unit;
		node->ints[RIGHT] = t.right;
		remember_shape(node->ints + SHAPE, in[1]);
		ag_save_input(node, 1, in[0]);
	}
	return ag_finish_saving(f, out, node, 0);
}

bool bw_SolveTriangular(struct ag_bw *b)
{
	const int64_t *ints = b->node->ints;
	struct ag_tensor *x = B_SAVED(0), *a = B_SAVED(1), *g, *turned = linalg_turned(B_CTX, x);
	struct ag_value v[5] = {ag_arg(linalg_turned(B_CTX, a)), ag_arg(B_GRAD),
	                        ag_bool(!ints[UPPER]), ag_bool(!ints[RIGHT]), ag_bool(ints[UNIT])};

	if (!turned || !v[0].as.tensor)
		return false;
	g = op_call(B_CTX, AG_OP_solve_triangular, v, 5);
	B_SET(1, summed(B_CTX, g, ints + SHAPE));
	if (!g || !B_WANT(0))
		return g != NULL;
	g = ints[RIGHT] ? linalg_times(B_CTX, turned, g) : linalg_times(B_CTX, g, turned);
	g = g ? op_sum_to(B_CTX, op_neg(B_CTX, g), a->ndim, a->shape) : NULL;
	v[0] = ag_arg(g);
	v[1] = ag_int(ints[UNIT] ? (ints[UPPER] ? 1 : -1) : 0);
	B_SET(0, g ? op_call(B_CTX, ints[UPPER] ? AG_OP_triu : AG_OP_tril, v, 2) : NULL);
	return g != NULL;
}

/* ---- two, the factors of a matrix: b, L, upper */

bool op_run_cholesky_solve(struct ag_frame *f)
{
	struct ag_tensor *in[2] = {arg_t(f, 0), arg_t(f, 1)}, *out;
	bool upper = arg_b(f, 2);
	struct triangle factors[2] = {{.upper = upper, .turned = upper},
	                              {.upper = upper, .turned = !upper}};
	struct ag_node *node;

	if (!matrices_fit(f, in[1], in[0], true))
		return false;
	out = solution(f->ctx, in[1], in[0], factors, 2);
	if (!out)
		return false;
	node = ag_record(f->ctx, AG_NODE_CholeskySolve, in, 2, 3, 1);
	if (node) {
		node->ints[0] = upper;
		ag_save_input(node, 0, in[1]);
		ag_save_input(node, 2, in[0]);
	}
	return ag_finish_saving(f, out, node, 1);
}

bool bw_CholeskySolve(struct ag_bw *b)
{
	bool upper = b->node->ints[0] != 0;
	struct ag_tensor *l = B_SAVED(0), *x = B_SAVED(1), *given = B_SAVED(2), *g, *both;
	struct ag_value v[3] = {ag_arg(B_GRAD), ag_arg(l), ag_bool(upper)};

	if (!l || !x || !given)
		return false;
	g = op_call(B_CTX, AG_OP_cholesky_solve, v, 3);
	B_SET(0, g ? op_sum_to(B_CTX, g, given->ndim, given->shape) : NULL);
	if (!g || !B_WANT(1))
		return g != NULL;
	both = linalg_times(B_CTX, g, linalg_turned(B_CTX, x));
	both = both ? op_add(B_CTX, both, linalg_turned(B_CTX, both)) : NULL;
	both = upper ? linalg_times(B_CTX, l, both) : linalg_times(B_CTX, both, l);
	B_SET(1, both ? op_sum_to(B_CTX, op_neg(B_CTX, both), l->ndim, l->shape) : NULL);
	return both != NULL;
}
