/* Singular value decompositions. One node makes u, s and vh, whichever are given out. */
#include <stdlib.h>
#include <string.h>

#include "runtime/linalg.h"
#include "runtime/matrix.h"

struct svd_results {
	struct ag_tensor *u, *s, *vh;
};

static bool svd_make(struct ag_ctx *ctx, struct ag_tensor *a, struct svd_results *r)
{
	int64_t rows = a->shape[a->ndim - 2], columns = a->shape[a->ndim - 1];
	int64_t shape[AG_MAX_DIMS], k = rows < columns ? rows : columns;
	enum ag_dtype dtype = (enum ag_dtype)a->dtype;

	memcpy(shape, a->shape, sizeof(shape));
	shape[a->ndim - 1] = k;
	r->u = ag_make(ctx, dtype, a->ndim, shape, true);
	shape[a->ndim - 2] = k;
	r->s = ag_make(ctx, dtype, a->ndim - 1, shape, true);
	shape[a->ndim - 1] = columns;
	r->vh = ag_make(ctx, dtype, a->ndim, shape, true);
	return r->u && r->s && r->vh;
}

static void svd_fill(struct ag_tensor *a, struct svd_results *r)
{
	int64_t rows = a->shape[a->ndim - 2], columns = a->shape[a->ndim - 1],
	        batch = linalg_batch(a), i;
	int64_t k = rows < columns ? rows : columns;
	double *in, *u, *s, *vh;

	if (!ag_work(r->u->storage->ctx, 16.0 * (double)a->numel * (double)k))
		ag_storage_drop_data(r->u->storage);
	if (!ag_ready1(r->u, a) || !ag_ready1(r->s, a) || !ag_ready1(r->vh, a))
		return;
	in = ag_plain(a);
	u = ag_alloc((size_t)r->u->numel + 1, sizeof(*u));
	s = ag_alloc((size_t)r->s->numel + 1, sizeof(*s));
	vh = ag_alloc((size_t)r->vh->numel + 1, sizeof(*vh));
	for (i = 0; i < batch; i++)
		matrix_svd(in + i * rows * columns, rows, columns, u + i * rows * k, s + i * k,
		           vh + i * k * columns);
	ag_put_plain(r->u, u);
	ag_put_plain(r->s, s);
	ag_put_plain(r->vh, vh);
	free(in);
	free(u);
	free(s);
	free(vh);
}

/* The node has the results u, s, vh in this order, given or not. */
static bool svd_run(struct ag_frame *f, struct svd_results *r)
{
	struct ag_tensor *a = arg_t(f, 0), *all[3];
	struct ag_node *node;

	memset(r, 0, sizeof(*r));
	if (a->ndim < 2)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "linalg.svd: The input tensor A must have at least 2 dimensions.");
	if (!ag_need_float(f, a) || !svd_make(f->ctx, a, r))
		return false;
	svd_fill(a, r);
	node = ag_record1(f->ctx, AG_NODE_LinalgSvd, a, 3, 0);
	all[0] = r->u;
	all[1] = r->s;
	all[2] = r->vh;
	for (int i = 0; node && i < 3; i++)
		ag_set_history(all[i], node);
	if (node) {
		ag_save_output(node, 0, r->s);
		ag_save_output(node, 1, r->u);
		ag_save_output(node, 2, r->vh);
		ag_node_release(node);
	}
	return true;
}

bool op_run_svd(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0);
	struct svd_results r;
	bool good;

	if (arg_b(f, 1) && (a->ndim < 2 || a->shape[a->ndim - 1] != a->shape[a->ndim - 2]))
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "linalg.svd: full_matrices=True is not supported for matrices that "
		               "are not square");
	good = svd_run(f, &r);
	if (good)
		return ag_give(f, r.u) && ag_give(f, r.s) && ag_give(f, r.vh);
	ag_release(r.u);
	ag_release(r.s);
	ag_release(r.vh);
	return false;
}

bool op_run_svdvals(struct ag_frame *f)
{
	struct svd_results r;
	bool good = svd_run(f, &r);

	ag_release(r.u);
	ag_release(r.vh);
	if (good)
		return ag_give(f, r.s);
	ag_release(r.s);
	return false;
}

struct ag_tensor *linalg_skew_over(struct ag_ctx *ctx, struct ag_tensor *m, struct ag_tensor *l)
{
	struct ag_tensor *e, *t = linalg_turned(ctx, m);

	if (!m || !t || !l)
		return NULL;
	e = op_sub(ctx, op_unsqueeze(ctx, l, -2), op_unsqueeze(ctx, l, -1));
	e = e ? op_add(ctx, e, op_cast(ctx, op_eq_n(ctx, e, 0), (enum ag_dtype)e->dtype)) : NULL;
	return e ? op_div(ctx, op_sub(ctx, m, t), e) : NULL;
}

static struct ag_tensor *sum_of(struct ag_ctx *ctx, struct ag_tensor *a, struct ag_tensor *b)
{
	if (!a || !b)
		return a ? a : b;
	return op_add(ctx, a, b);
}

/* From the gradient of U: within U's span, and outside of it when A is tall. */
static struct ag_tensor *from_u(struct ag_ctx *ctx, struct ag_tensor *g, struct ag_tensor *u,
                                struct ag_tensor *s, struct ag_tensor *vh)
{
	struct ag_tensor *row = op_unsqueeze(ctx, s, -2),
	                 *p = linalg_times(ctx, linalg_turned(ctx, u), g), *in, *out;

	if (!p || !row)
		return NULL;
	in = op_mul(ctx, linalg_skew_over(ctx, p, op_mul(ctx, s, s)), row);
	in = linalg_times(ctx, linalg_times(ctx, u, in), vh);
	if (ag_size(u, -2) == ag_size(u, -1))
		return in;
	out = op_div(ctx, op_sub(ctx, g, linalg_times(ctx, u, p)), row);
	return sum_of(ctx, in, linalg_times(ctx, out, vh));
}

static struct ag_tensor *from_vh(struct ag_ctx *ctx, struct ag_tensor *g, struct ag_tensor *u,
                                 struct ag_tensor *s, struct ag_tensor *vh)
{
	struct ag_tensor *column = op_unsqueeze(ctx, s, -1),
	                 *p = linalg_times(ctx, vh, linalg_turned(ctx, g)), *in, *out;

	if (!p || !column)
		return NULL;
	in = op_mul(ctx, column, linalg_skew_over(ctx, p, op_mul(ctx, s, s)));
	in = linalg_times(ctx, linalg_times(ctx, u, in), vh);
	if (ag_size(vh, -2) == ag_size(vh, -1))
		return in;
	out = op_div(ctx, op_sub(ctx, g, linalg_times(ctx, linalg_turned(ctx, p), vh)), column);
	return sum_of(ctx, in, linalg_times(ctx, u, out));
}

bool bw_LinalgSvd(struct ag_bw *b)
{
	struct ag_tensor *s = B_SAVED(0), *u = B_SAVED(1), *vh = B_SAVED(2), *sum = NULL;
	struct ag_ctx *ctx = B_CTX;

	if (!s || !u || !vh)
		return false;
	if (b->grads[1])
		sum = linalg_times(ctx, op_mul(ctx, u, op_unsqueeze(ctx, b->grads[1], -2)), vh);
	if (b->grads[0])
		sum = sum_of(ctx, sum, from_u(ctx, b->grads[0], u, s, vh));
	if (b->grads[2])
		sum = sum_of(ctx, sum, from_vh(ctx, b->grads[2], u, s, vh));
	if (sum)
		B_SET(0, sum);
	return sum != NULL;
}
