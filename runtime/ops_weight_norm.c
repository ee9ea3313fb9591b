/* torch._weight_norm: a direction and a length for each slice of one dimension. */

#include <math.h>
#include <stdlib.h>

#include "runtime/element.h"
#include "runtime/op.h"
#include "runtime/shape.h"

/* The element of `g` that element i of the contiguous `v` belongs to. */
static int64_t slice_of(const struct ag_tensor *v, int dim, int64_t i)
{
	int64_t inner = 1;
	int d;

	for (d = dim + 1; d < v->ndim; d++)
		inner *= v->shape[d];
	return i / inner % v->shape[dim];
}

static void slice_shape(const struct ag_tensor *v, int dim, int64_t *shape)
{
	int d;

	for (d = 0; d < v->ndim; d++)
		shape[d] = d == dim ? v->shape[d] : 1;
}

static void fill(struct ag_tensor *out, struct ag_tensor *norms, struct ag_tensor *v,
                 struct ag_tensor *g, int dim)
{
	double *pv = ag_plain(v), *pg = ag_plain(g);
	double *length = ag_alloc((size_t)norms->numel + 1, sizeof(*length));
	int64_t i;

	for (i = 0; i < v->numel; i++)
		length[slice_of(v, dim, i)] += pv[i] * pv[i];
	for (i = 0; i < norms->numel; i++)
		length[i] = sqrt(length[i]);
	for (i = 0; i < v->numel; i++)
		pv[i] *= pg[slice_of(v, dim, i)] / length[slice_of(v, dim, i)];
	ag_put_plain(out, pv);
	ag_put_plain(norms, length);
	free(pv);
	free(pg);
	free(length);
}

static bool fused(struct ag_frame *f, struct ag_tensor *v, struct ag_tensor *g, int dim)
{
	struct ag_tensor *in[2] = {v, g}, *out, *norms;
	int64_t shape[AG_MAX_DIMS];
	struct ag_node *node;

	if (!v || !g)
		return false;
	slice_shape(v, dim, shape);
	norms = scoped(f->ctx,
	               ag_make(f->ctx,
	                       v->dtype == AG_BF16 || v->dtype == AG_F16 ? AG_F32
	                                                                 : (enum ag_dtype)v->dtype,
	                       v->ndim, shape, true));
	out = ag_make(f->ctx, (enum ag_dtype)v->dtype, v->ndim, v->shape, true);
	if (!norms || !out)
		return ag_give(f, out) && norms;
	if (ag_ready(out, in, 2))
		fill(out, norms, v, g, dim);
	else
		ag_storage_drop_data(norms->storage);
	node = ag_record(f->ctx, AG_NODE_WeightNorm, in, 2, 3, 0);
	if (node) {
		ag_save_input(node, 0, v);
		ag_save_input(node, 1, g);
		ag_save_input(node, 2, norms);
	}
	return ag_finish(f, out, node);
}

/* v, g, dim: over all dimensions but `dim` */
bool op_run_weight_norm(struct ag_frame *f)
{
	struct ag_ctx *c = f->ctx;
	struct ag_tensor *v = arg_t(f, 0), *g = arg_t(f, 1), *norm;
	int64_t shape[AG_MAX_DIMS];
	int dim;

	if (!ag_need_float(f, v))
		return false;
	dim = ag_dim(c, v, arg_i(f, 2));
	if (dim < 0)
		return false;
	slice_shape(v, dim, shape);
	if (!v->ndim || g->numel != v->shape[dim])
		return ag_fail(c, AG_ERR_RUNTIME,
		               "expected one length for each slice of the weight");
	if (v->dtype == g->dtype && (dim == 0 || dim == v->ndim - 1))
		return fused(f, op_contiguous(c, v), op_contiguous(c, g), dim);
	norm = op_sqrt(c, op_sum_to(c, op_mul(c, v, v), v->ndim, shape));
	return ag_give_ref(f, op_mul(c, v, op_div(c, g, norm)));
}

bool bw_WeightNorm(struct ag_bw *b)
{
	struct ag_ctx *c = B_CTX;
	struct ag_tensor *v = B_SAVED(0), *g = B_SAVED(1), *norms = B_SAVED(2), *sums;

	if (!v || !g || !norms)
		return false;
	sums = op_sum_to(c, op_mul(c, B_GRAD, v), norms->ndim, norms->shape);
	if (B_WANT(0)) {
		struct ag_tensor *along = op_mul(c, v, op_div(c, sums, op_mul(c, norms, norms)));

		B_SET(0, op_mul(c, op_div(c, g, norms), op_sub(c, B_GRAD, along)));
	}
	if (B_WANT(1))
		B_SET(1, op_div(c, sums, norms));
	return true;
}
