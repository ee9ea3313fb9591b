/* Which dimensions go, and how gradients come back. */

#include <stdlib.h>
#include <string.h>

#include "runtime/reduce.h"
#include "runtime/shape.h"

void ag_reduction_dims(const struct ag_tensor *a, unsigned mask, bool keepdim,
                       struct ag_reduction *r)
{
	int d;

	r->mask = mask;
	r->keepdim = keepdim;
	r->ndim = 0;
	r->outer = r->inner = 1;
	for (d = 0; d < a->ndim; d++) {
		if (mask >> d & 1) {
			r->inner = ag_times(r->inner, a->shape[d]);
			if (keepdim)
				r->shape[r->ndim++] = 1;
		} else {
			r->outer = ag_times(r->outer, a->shape[d]);
			r->shape[r->ndim++] = a->shape[d];
		}
	}
}

bool ag_reduction_open(struct ag_frame *f, struct ag_tensor *a, uint32_t i, bool keepdim,
                       struct ag_reduction *r)
{
	int64_t dims[AG_MAX_DIMS];
	int n = arg_none(f, i) ? 0 : arg_ints(f, i, dims, AG_MAX_DIMS), k;
	unsigned mask = 0;

	if (n < 0)
		return false;
	r->whole = n == 0;
	if (r->whole)
		mask = (1u << a->ndim) - 1;
	for (k = 0; k < n; k++) {
		int d = ag_dim(f->ctx, a, dims[k]);

		if (d < 0)
			return false;
		if (mask >> d & 1)
			return ag_fail(f->ctx, AG_ERR_RUNTIME,
			               "dim %d appears multiple times in the list of dims", d);
		mask |= 1u << d;
	}
	ag_reduction_dims(a, mask, keepdim, r);
	return true;
}

double *ag_rows(const struct ag_tensor *a, const struct ag_reduction *r)
{
	struct ag_tensor turned = *a;
	int d, n = 0, pass;

	for (pass = 0; pass < 2; pass++) {
		for (d = 0; d < a->ndim; d++) {
			if ((int)(r->mask >> d & 1) != pass)
				continue;
			turned.shape[n] = a->shape[d];
			turned.strides[n++] = a->strides[d];
		}
	}
	return ag_plain(&turned);
}

uint32_t ag_reduction_words(const struct ag_tensor *a, const struct ag_reduction *r, int64_t *out)
{
	out[0] = a->ndim;
	memcpy(out + 1, a->shape, a->ndim * sizeof(*out));
	out[1 + a->ndim] = r->mask;
	out[2 + a->ndim] = r->keepdim;
	return 3u + a->ndim;
}

struct ag_tensor *ag_restore_dims(struct ag_ctx *ctx, struct ag_tensor *g, const int64_t *words)
{
	int n = (int)words[0], d;
	unsigned mask = (unsigned)words[1 + n];

	if (words[2 + n])
		return g;
	for (d = 0; d < n && g; d++) {
		if (mask >> d & 1)
			g = op_unsqueeze(ctx, g, d);
	}
	return g;
}

struct ag_tensor *ag_unreduce(struct ag_ctx *ctx, struct ag_tensor *g, const int64_t *words)
{
	return op_expand(ctx, ag_restore_dims(ctx, g, words), (int)words[0], words + 1);
}

static struct ag_tensor *reduce_sum(struct ag_ctx *ctx, struct ag_tensor *a,
                                    const struct ag_reduction *r, enum ag_dtype dtype, bool mean)
{
	struct ag_tensor *out = ag_make(ctx, dtype, r->ndim, r->shape, true);
	double *rows;
	int64_t i, k;

	if (!out || !ag_ready1(out, a))
		return out;
	rows = ag_rows(a, r);
	for (i = 0; r->inner && i < r->outer; i++) {
		double sum = 0;

		for (k = 0; k < r->inner; k++)
			sum += rows[i * r->inner + k];
		rows[i] = mean ? sum / (double)r->inner : sum;
	}
	if (!r->inner)
		ag_fill_data(out, mean ? 0.0 / 0.0 : 0);
	else
		ag_put_plain(out, rows);
	free(rows);
	return out;
}

/* A cast that is part of an op: it has no node of its own. */
static struct ag_tensor *cast_alone(struct ag_ctx *ctx, struct ag_tensor *a, enum ag_dtype dtype)
{
	struct ag_grad_mode mode = ag_no_grad(ctx);
	struct ag_tensor *cast = op_cast(ctx, a, dtype);

	ag_set_grad_mode(ctx, mode);
	return cast;
}

static bool sum_or_mean(struct ag_frame *f, bool mean, uint32_t dims, uint32_t keep, uint32_t type)
{
	struct ag_tensor *a = arg_t(f, 0), *out;
	enum ag_dtype dtype = (enum ag_dtype)a->dtype;
	int64_t words[AG_MAX_DIMS + 3];
	struct ag_reduction r;
	struct ag_node *node;
	uint32_t n;

	if (f->v[type].kind == AG_DTYPE)
		a = cast_alone(f->ctx, a, f->v[type].as.dtype);
	if (!a || !ag_no_complex(f->ctx, a))
		return false;
	dtype = (enum ag_dtype)a->dtype;
	if (mean && dtype < AG_F16)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "mean(): could not infer output dtype. Input dtype must be either a "
		               "floating point or complex dtype. Got: %s",
		               ag_dtype_name(dtype));
	if (dtype < AG_F16)
		dtype = AG_I64;
	if (!ag_reduction_open(f, a, dims, arg_b(f, keep), &r))
		return false;
	out = reduce_sum(f->ctx, a, &r, dtype, mean);
	if (!out)
		return false;
	if (mean)
		ag_transient(f->ctx, AG_DIVISOR);
	r.whole = r.whole && arg_none(f, dims) && !r.keepdim;
	n = ag_reduction_words(a, &r, words);
	node = dtype == AG_I64 ? NULL
	                       : ag_record1(f->ctx,
	                                    mean ? (r.whole ? AG_NODE_Mean : AG_NODE_MeanDim)
	                                         : (r.whole ? AG_NODE_Sum : AG_NODE_SumDim),
	                                    arg_t(f, 0), 0, n);
	if (node)
		memcpy(node->ints, words, n * sizeof(*words));
	return ag_finish(f, out, node);
}

bool op_run_sum(struct ag_frame *f)
{
	return sum_or_mean(f, false, 1, 2, 3);
}

bool op_run_mean(struct ag_frame *f)
{
	return sum_or_mean(f, true, 1, 2, 3);
}

bool bw_Sum(struct ag_bw *b)
{
	B_SET(0, op_expand(B_CTX, B_GRAD, (int)b->node->ints[0], b->node->ints + 1));
	return true;
}

bool bw_SumDim(struct ag_bw *b)
{
	B_SET(0, ag_unreduce(B_CTX, B_GRAD, b->node->ints));
	return true;
}

static double reduced_count(const int64_t *words)
{
	int n = (int)words[0], d;
	int64_t count = 1;

	for (d = 0; d < n; d++) {
		if (words[1 + n] >> d & 1)
			count *= words[1 + d];
	}
	return (double)count;
}

bool bw_Mean(struct ag_bw *b)
{
	const int64_t *w = b->node->ints;

	B_SET(0, op_div_n(B_CTX, op_expand(B_CTX, B_GRAD, (int)w[0], w + 1), reduced_count(w)));
	return true;
}

bool bw_MeanDim(struct ag_bw *b)
{
	const int64_t *w = b->node->ints;

	B_SET(0, op_div_n(B_CTX, ag_unreduce(B_CTX, B_GRAD, w), reduced_count(w)));
	return true;
}

/* ---- short forms */

struct ag_tensor *op_sum_dims(struct ag_ctx *ctx, struct ag_tensor *a, const int64_t *dims, int n,
                              bool keepdim)
{
	struct ag_value list[AG_MAX_DIMS], v[3];
	int i;

	for (i = 0; i < n; i++)
		list[i] = ag_int(dims[i]);
	v[0] = ag_arg(a);
	v[1] = ag_list(list, (size_t)n);
	v[2] = ag_bool(keepdim);
	return n ? op_call(ctx, AG_OP_sum, v, 3) : a;
}

struct ag_tensor *op_sum_dim(struct ag_ctx *ctx, struct ag_tensor *a, int64_t dim, bool keepdim)
{
	return op_sum_dims(ctx, a, &dim, 1, keepdim);
}

struct ag_tensor *op_sum_to(struct ag_ctx *ctx, struct ag_tensor *a, int ndim, const int64_t *shape)
{
	int64_t dims[AG_MAX_DIMS];
	int lead, d, n = 0;

	if (!a)
		return NULL;
	if (ag_shape_is(a, ndim, shape))
		return a;
	lead = a->ndim - ndim;
	if (lead < 0)
		return ag_null(ctx, AG_ERR_RUNTIME,
		               "a gradient has fewer dimensions than its tensor");
	for (d = 0; d < a->ndim; d++) {
		if (d < lead || (shape[d - lead] == 1 && a->shape[d] != 1))
			dims[n++] = d;
		else if (shape[d - lead] != a->shape[d])
			return ag_null(ctx, AG_ERR_RUNTIME,
			               "Function returned an invalid gradient: got dimension of "
			               "%lld but expected one of %lld",
			               (long long)a->shape[d], (long long)shape[d - lead]);
	}
	a = op_sum_dims(ctx, a, dims, n, true);
	return lead ? op_view(ctx, a, ndim, shape) : a;
}
