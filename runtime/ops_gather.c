/* Reading and writing along one dimension by an index tensor. */

#include <stdlib.h>
#include <string.h>

#include "runtime/element.h"
#include "runtime/gather.h"
#include "runtime/op.h"
#include "runtime/shape.h"

static bool need_index(struct ag_ctx *ctx, const struct ag_tensor *index)
{
	if (index->dtype == AG_I64 || index->dtype == AG_I32)
		return true;
	return ag_fail(ctx, AG_ERR_RUNTIME, "%s(): Expected dtype int64 for index", "gather");
}

/* The values of an index, wrapped into [0, size); NULL: unknown, or out of range
 * with an error set. */
int64_t *ag_index_values(struct ag_ctx *ctx, const struct ag_tensor *index, int64_t size,
                         bool *good)
{
	int64_t *values = ag_plain_ints(index), i;

	*good = true;
	for (i = 0; values && i < index->numel; i++) {
		if (values[i] < -size || values[i] >= size) {
			*good = ag_fail(ctx, AG_ERR_INDEX,
			                "index %lld is out of bounds for dimension with size %lld",
			                (long long)values[i], (long long)size);
			free(values);
			return NULL;
		}
		values[i] += values[i] < 0 ? size : 0;
	}
	return values;
}

static void shape_words(struct ag_node *n, int dim, const struct ag_tensor *x)
{
	n->ints[0] = dim;
	n->ints[1] = x->ndim;
	memcpy(n->ints + 2, x->shape, x->ndim * sizeof(int64_t));
}

static struct ag_tensor *zeros_of(struct ag_bw *b)
{
	return op_zeros(B_CTX, (enum ag_dtype)B_GRAD->dtype, (int)b->node->ints[1],
	                b->node->ints + 2);
}

/* ---- index_select */

bool op_run_index_select(struct ag_frame *f)
{
	struct ag_tensor *x = arg_t(f, 0), *index = arg_t(f, 2), *out;
	int dim = ag_dim(f->ctx, x, arg_i(f, 1));
	int64_t shape[AG_MAX_DIMS], *at, i, k, o, outer = 1, inner = 1, size;
	struct ag_node *node;
	double *from, *to;
	bool good;
	int d;

	if (dim < 0 || !need_index(f->ctx, index))
		return false;
	if (index->ndim > 1)
		return ag_fail(f->ctx, AG_ERR_INDEX,
		               "index_select(): Index is supposed to be a vector");
	if (!x->ndim && index->numel != 1)
		return ag_fail(f->ctx, AG_ERR_INDEX,
		               "index_select(): Index to scalar can have only 1 value, got %lld "
		               "value(s)",
		               (long long)index->numel);
	memcpy(shape, x->shape, sizeof(shape));
	size = x->ndim ? x->shape[dim] : 1;
	if (x->ndim)
		shape[dim] = index->numel;
	for (d = 0; d < x->ndim; d++) {
		outer *= d < dim ? shape[d] : 1;
		inner *= d > dim ? shape[d] : 1;
	}
	at = ag_index_values(f->ctx, index, size, &good);
	out = good ? ag_make(f->ctx, (enum ag_dtype)x->dtype, x->ndim, shape, true) : NULL;
	if (!out) {
		free(at);
		return false;
	}
	node = ag_record1(f->ctx, AG_NODE_IndexSelect, x, 1, 2u + x->ndim);
	if (node) {
		shape_words(node, dim, x);
		ag_save_input(node, 0, index);
	}
	if (ag_ready2(out, x, index)) {
		from = ag_plain(x);
		to = ag_alloc((size_t)out->numel + 1, sizeof(*to));
		for (o = 0; o < outer; o++) {
			for (k = 0; k < index->numel; k++) {
				for (i = 0; i < inner; i++)
					to[(o * index->numel + k) * inner + i] =
					        from[(o * size + at[k]) * inner + i];
			}
		}
		ag_put_plain(out, to);
		free(from);
		free(to);
	}
	free(at);
	return ag_finish(f, out, node);
}

static struct ag_tensor *add_back(struct ag_bw *b, enum ag_op op)
{
	struct ag_value v[5] = {ag_arg(zeros_of(b)), ag_int(b->node->ints[0]), ag_arg(B_SAVED(0)),
	                        ag_arg(B_GRAD), ag_int(1)};

	return op_call(B_CTX, op, v, op == AG_OP_index_add ? 5 : 4);
}

bool bw_IndexSelect(struct ag_bw *b)
{
	B_SET(0, add_back(b, AG_OP_index_add));
	return true;
}

/* ---- writing whole slices: index_add, index_copy, index_fill */

enum write_mode { WRITE_SET, WRITE_ADD };

static bool write_slices(struct ag_frame *f, struct ag_tensor *out, int dim,
                         struct ag_tensor *index, struct ag_tensor *src, double scale,
                         enum write_mode mode)
{
	int64_t size = out->ndim ? out->shape[dim] : 1, outer = 1, inner = 1, k, i, n, *at;
	double *to, *from;
	bool good;
	int d;

	at = ag_index_values(f->ctx, index, size, &good);
	if (!good)
		return false;
	n = index->numel;
	for (d = 0; d < out->ndim; d++) {
		outer *= d < dim ? out->shape[d] : 1;
		inner *= d > dim ? out->shape[d] : 1;
	}
	if (src->numel != ag_times(ag_times(outer, n), inner) && src->numel != 1) {
		free(at);
		return ag_fail(f->ctx, AG_ERR_INDEX,
		               "%s(): Number of indices should be equal to source.size(dim)",
		               ag_op_info(f->op)->id);
	}
	if (ag_ready2(out, src, index)) {
		to = ag_plain(out);
		from = ag_plain(src);
		for (k = 0; k < outer * n; k++) {
			double *x = to + (k / n * size + at[k % n]) * inner;

			for (i = 0; i < inner; i++) {
				double y = from[src->numel == 1 ? 0 : k * inner + i];

				x[i] = mode == WRITE_ADD ? x[i] + scale * y : y;
			}
		}
		ag_put_plain(out, to);
		free(to);
		free(from);
	}
	free(at);
	return true;
}

/* The result of such a write: x itself, or a copy of it. */
static struct ag_tensor *target(struct ag_frame *f, struct ag_tensor *x, bool record)
{
	struct ag_tensor *out = ag_result(f, (enum ag_dtype)x->dtype, x->ndim, x->shape, record);

	if (out && !f->inplace && f->op == AG_OP_index_fill)
		ag_lay_out(out, AG_PRESERVE, x);
	if (out && !f->inplace)
		ag_copy_data(out, x);
	return out;
}

/* input, dim, index, source, alpha */
bool op_run_index_add(struct ag_frame *f)
{
	struct ag_tensor *x = arg_t(f, 0), *index = arg_t(f, 2), *src = arg_t(f, 3), *out;
	struct ag_tensor *edges[2] = {x, src};
	int dim = ag_dim(f->ctx, x, arg_i(f, 1));
	struct ag_node *node;

	if (dim < 0 || !need_index(f->ctx, index))
		return false;
	out = target(f, x, wants2(f->ctx, x, src));
	if (!out)
		return false;
	node = ag_record(f->ctx, AG_NODE_IndexAdd, edges, 2, 2, 1);
	if (node) {
		node->num[0] = arg_f(f, 4);
		node->ints[0] = dim;
		if (node->edges[1].node) {
			ag_save_input(node, 0, index);
			ag_save_input(node, 1, src);
		}
	}
	if (!write_slices(f, out, dim, index, src, arg_f(f, 4), WRITE_ADD)) {
		ag_node_release(node);
		ag_release(out);
		return false;
	}
	return ag_finish(f, out, node);
}

static struct ag_tensor *picked(struct ag_bw *b)
{
	struct ag_value v[3] = {ag_arg(B_GRAD), ag_int(b->node->ints[0]), ag_arg(B_SAVED(0))};

	return op_call(B_CTX, AG_OP_index_select, v, 3);
}

bool bw_IndexAdd(struct ag_bw *b)
{
	struct ag_tensor *src, *g;

	B_SET(0, B_GRAD);
	if (!B_WANT(1))
		return true;
	src = B_SAVED(1);
	g = op_mul_n(B_CTX, picked(b), b->node->num[0]);
	if (src && g && !ag_same_shape(g, src))
		g = op_expand(B_CTX, g, src->ndim, src->shape);
	B_SET(1, g);
	return true;
}

/* input, dim, index, source */
bool op_run_index_copy(struct ag_frame *f)
{
	struct ag_tensor *x = arg_t(f, 0), *index = arg_t(f, 2), *src = arg_t(f, 3), *out;
	struct ag_tensor *edges[2] = {x, src};
	int dim = ag_dim(f->ctx, x, arg_i(f, 1));
	struct ag_node *node;

	if (dim < 0 || !need_index(f->ctx, index))
		return false;
	out = target(f, x, wants2(f->ctx, x, src));
	if (!out)
		return false;
	node = ag_record(f->ctx, AG_NODE_IndexCopy, edges, 2, 2, 1);
	if (node) {
		node->ints[0] = dim;
		ag_save_input(node, 0, index);
		if (node->edges[1].node)
			ag_save_input(node, 1, src);
	}
	if (!write_slices(f, out, dim, index, src, 1, WRITE_SET)) {
		ag_node_release(node);
		ag_release(out);
		return false;
	}
	return ag_finish(f, out, node);
}

static struct ag_tensor *index_filled(struct ag_bw *b)
{
	struct ag_value v[4] = {ag_arg(B_GRAD), ag_int(b->node->ints[0]), ag_arg(B_SAVED(0)),
	                        ag_float(0)};

	return op_call(B_CTX, AG_OP_index_fill, v, 4);
}

bool bw_IndexCopy(struct ag_bw *b)
{
	if (B_WANT(0))
		B_SET(0, index_filled(b));
	if (B_WANT(1))
		B_SET(1, picked(b));
	return true;
}

/* input, dim, index, value */
bool op_run_index_fill(struct ag_frame *f)
{
	struct ag_tensor *x = arg_t(f, 0), *index = arg_t(f, 2), *value, *out;
	int dim = ag_dim(f->ctx, x, arg_i(f, 1));
	struct ag_node *node;

	if (dim < 0 || !need_index(f->ctx, index))
		return false;
	value = arg_t(f, 3)
	                ? arg_t(f, 3)
	                : scoped(f->ctx, ag_scalar(f->ctx, (enum ag_dtype)x->dtype, arg_f(f, 3)));
	out = value ? target(f, x, wants1(f->ctx, x)) : NULL;
	if (!out)
		return false;
	node = ag_record1(f->ctx, AG_NODE_IndexFill, x, 1, 1);
	if (node) {
		node->ints[0] = dim;
		ag_save_input(node, 0, index);
	}
	if (!write_slices(f, out, dim, index, value, 1, WRITE_SET)) {
		ag_node_release(node);
		ag_release(out);
		return false;
	}
	return ag_finish(f, out, node);
}

bool bw_IndexFill(struct ag_bw *b)
{
	B_SET(0, index_filled(b));
	return true;
}

/* ---- gather and scatter: an index for every element */

static bool fits(struct ag_frame *f, const struct ag_tensor *x, const struct ag_tensor *index,
                 int dim, bool gather)
{
	char a[128], e[128];
	int d;

	for (d = 0; x->ndim == index->ndim && d < x->ndim; d++) {
		if (d != dim && index->shape[d] > x->shape[d])
			break;
	}
	if (index->numel == 0 || (x->ndim == index->ndim && d == x->ndim) ||
	    (x->ndim <= 1 && index->ndim <= 1))
		return true;
	(void)gather;
	return ag_fail(f->ctx, AG_ERR_RUNTIME,
	               "Size does not match at dimension %d expected index %s to be no larger than "
	               "self %s apart from dimension %d",
	               d, ag_shape_text(index->ndim, index->shape, a, sizeof(a)),
	               ag_shape_text(x->ndim, x->shape, e, sizeof(e)), dim);
}

/* For element i of the index: its place in x (row order). */
static int64_t *places(struct ag_frame *f, const struct ag_tensor *x, const struct ag_tensor *index,
                       int dim, bool *good)
{
	int64_t steps[AG_MAX_DIMS], position[AG_MAX_DIMS] = {0}, i;
	int64_t *at = ag_index_values(f->ctx, index, x->ndim ? x->shape[dim] : 1, good);
	int d;

	ag_contiguous_strides(x->ndim, x->shape, steps);
	for (i = 0; at && i < index->numel; i++) {
		int64_t place = x->ndim ? at[i] * steps[dim] : 0;

		for (d = 0; d < index->ndim && d < x->ndim; d++)
			place += d == dim ? 0 : position[d] * steps[d];
		at[i] = place;
		for (d = index->ndim - 1; d >= 0 && ++position[d] == index->shape[d]; d--)
			position[d] = 0;
	}
	return at;
}

bool op_run_gather(struct ag_frame *f)
{
	struct ag_tensor *x = arg_t(f, 0), *index = arg_t(f, 2), *out;
	int dim = ag_dim(f->ctx, x, arg_i(f, 1));
	struct ag_node *node;
	int64_t *at, i;
	double *from, *to;
	bool good;

	if (dim < 0 || !need_index(f->ctx, index) || !fits(f, x, index, dim, true))
		return false;
	at = places(f, x, index, dim, &good);
	out = good ? ag_make(f->ctx, (enum ag_dtype)x->dtype, index->ndim, index->shape, true)
	           : NULL;
	if (!out) {
		free(at);
		return false;
	}
	node = ag_record1(f->ctx, AG_NODE_Gather, x, 2, 2u + x->ndim);
	if (node) {
		shape_words(node, dim, x);
		ag_save_input(node, 0, index);
		ag_save_input(node, 1, x);
	}
	if (ag_ready2(out, x, index)) {
		from = ag_plain(x);
		to = ag_alloc((size_t)out->numel + 1, sizeof(*to));
		for (i = 0; i < out->numel; i++)
			to[i] = from[at[i]];
		ag_put_plain(out, to);
		free(from);
		free(to);
	}
	free(at);
	return ag_finish(f, out, node);
}

bool bw_Gather(struct ag_bw *b)
{
	B_SET(0, add_back(b, AG_OP_scatter_add));
	return true;
}

static bool source_fits(struct ag_frame *f, const struct ag_tensor *src,
                        const struct ag_tensor *index, int dim)
{
	int d;

	for (d = 0; src->ndim && d < index->ndim && index->numel; d++) {
		if (src->ndim != index->ndim || src->shape[d] < index->shape[d])
			return ag_fail(
			        f->ctx, AG_ERR_RUNTIME,
			        "Expected index to be no larger than src apart from dimension %d",
			        dim);
	}
	return true;
}

bool ag_scatter_open(struct ag_frame *f, struct ag_tensor *src, int *dim, struct ag_tensor **out,
                     int64_t **at)
{
	struct ag_tensor *x = arg_t(f, 0), *index = arg_t(f, 2);
	bool good;

	*dim = ag_dim(f->ctx, x, arg_i(f, 1));
	if (*dim < 0 || !need_index(f->ctx, index) || !fits(f, x, index, *dim, false) ||
	    !source_fits(f, src, index, *dim))
		return false;
	*out = target(f, x, wants2(f->ctx, x, src));
	*at = *out ? places(f, x, index, *dim, &good) : NULL;
	if (*out && good)
		return true;
	ag_release(*out);
	return false;
}

double *ag_scatter_values(struct ag_tensor *src, const struct ag_tensor *index)
{
	struct ag_tensor part = *src;

	if (src->ndim)
		ag_set_shape(&part, index->ndim, index->shape, src->strides);
	return ag_plain(&part);
}

static bool scatter(struct ag_frame *f, struct ag_tensor *src, enum ag_node_kind kind,
                    enum write_mode mode)
{
	struct ag_tensor *x = arg_t(f, 0), *index = arg_t(f, 2), *out, *edges[2] = {x, src};
	struct ag_node *node;
	double *to, *from;
	int64_t *at, i;
	int dim;

	if (!ag_scatter_open(f, src, &dim, &out, &at))
		return false;
	node = ag_record(f->ctx, kind, edges, kind == AG_NODE_ScatterValue ? 1 : 2, 1, 1);
	if (node) {
		node->ints[0] = dim;
		if (mode == WRITE_SET || node->edges[1].node)
			ag_save_input(node, 0, index);
	}
	if (ag_ready2(out, src, index)) {
		to = ag_plain(out);
		from = ag_scatter_values(src, index);
		for (i = 0; i < index->numel; i++) {
			double y = from[src->ndim ? i : 0];

			to[at[i]] = mode == WRITE_ADD ? to[at[i]] + y : y;
		}
		ag_put_plain(out, to);
		free(to);
		free(from);
	}
	free(at);
	return ag_finish(f, out, node);
}

bool op_run_scatter(struct ag_frame *f)
{
	return scatter(f, arg_t(f, 3), AG_NODE_Scatter, WRITE_SET);
}

bool op_run_scatter_value(struct ag_frame *f)
{
	struct ag_tensor *x = arg_t(f, 0);
	struct ag_tensor *src =
	        scoped(f->ctx, ag_scalar(f->ctx, (enum ag_dtype)x->dtype, arg_f(f, 3)));

	return src && scatter(f, src, AG_NODE_ScatterValue, WRITE_SET);
}

bool op_run_scatter_add(struct ag_frame *f)
{
	return scatter(f, arg_t(f, 3), AG_NODE_ScatterAdd, WRITE_ADD);
}

static struct ag_tensor *gathered(struct ag_bw *b)
{
	struct ag_value v[3] = {ag_arg(B_GRAD), ag_int(b->node->ints[0]), ag_arg(B_SAVED(0))};

	return op_call(B_CTX, AG_OP_gather, v, 3);
}

static struct ag_tensor *scattered_zero(struct ag_bw *b)
{
	struct ag_value v[4] = {ag_arg(B_GRAD), ag_int(b->node->ints[0]), ag_arg(B_SAVED(0)),
	                        ag_float(0)};

	return op_call(B_CTX, AG_OP_scatter_value, v, 4);
}

bool bw_Scatter(struct ag_bw *b)
{
	if (B_WANT(0))
		B_SET(0, scattered_zero(b));
	if (B_WANT(1))
		B_SET(1, gathered(b));
	return true;
}

bool bw_ScatterValue(struct ag_bw *b)
{
	B_SET(0, scattered_zero(b));
	return true;
}

bool bw_ScatterAdd(struct ag_bw *b)
{
	B_SET(0, B_GRAD);
	if (B_WANT(1))
		B_SET(1, gathered(b));
	return true;
}

/* ---- take, masked_select: the input as one row */

bool op_run_take(struct ag_frame *f)
{
	struct ag_tensor *x = arg_t(f, 0), *index = arg_t(f, 1), *out;
	struct ag_node *node;
	double *from, *to;
	int64_t *at, i;
	bool good;

	if (!need_index(f->ctx, index))
		return false;
	at = ag_index_values(f->ctx, index, x->numel, &good);
	out = good ? ag_make(f->ctx, (enum ag_dtype)x->dtype, index->ndim, index->shape, true)
	           : NULL;
	if (!out) {
		free(at);
		return false;
	}
	node = ag_record1(f->ctx, AG_NODE_Take, x, 2, 0);
	if (node) {
		ag_save_input(node, 0, index);
		ag_save_input(node, 1, x);
	}
	if (ag_ready2(out, x, index)) {
		from = ag_plain(x);
		to = ag_alloc((size_t)out->numel + 1, sizeof(*to));
		for (i = 0; i < out->numel; i++)
			to[i] = from[at[i]];
		ag_put_plain(out, to);
		free(from);
		free(to);
	}
	free(at);
	return ag_finish(f, out, node);
}

bool bw_Take(struct ag_bw *b)
{
	struct ag_ctx *c = B_CTX;
	struct ag_tensor *index = B_SAVED(0), *x = B_SAVED(1), *flat;
	int64_t n, k;
	struct ag_value v[5];

	if (!index || !x)
		return false;
	n = x->numel;
	k = index->numel;
	flat = op_zeros(c, (enum ag_dtype)B_GRAD->dtype, 1, &n);
	v[0] = ag_arg(flat);
	v[1] = ag_int(0);
	v[2] = ag_arg(op_reshape(c, index, 1, &k));
	v[3] = ag_arg(op_reshape(c, B_GRAD, 1, &k));
	v[4] = ag_int(1);
	B_SET(0, op_view(c, op_call(c, AG_OP_index_add, v, 5), x->ndim, x->shape));
	return true;
}

bool op_run_masked_select(struct ag_frame *f)
{
	struct ag_tensor *x = arg_t(f, 0), *mask = arg_t(f, 1), *out, *wide, *wmask;
	int64_t shape[AG_MAX_DIMS], count = 0, i, k = 0, *hits;
	struct ag_grad_mode mode;
	struct ag_node *node;
	double *from, *to;
	int ndim;

	if (mask->dtype != AG_BOOL8)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "masked_select: expected BoolTensor for mask");
	if (!ag_broadcast(f->ctx, x, mask, &ndim, shape))
		return false;
	mode = ag_no_grad(f->ctx);
	wide = op_expand(f->ctx, x, ndim, shape);
	wmask = op_expand(f->ctx, mask, ndim, shape);
	ag_set_grad_mode(f->ctx, mode);
	hits = wmask ? ag_plain_ints(wmask) : NULL;
	if (!hits)
		return ag_fail(f->ctx, AG_ERR_NO_DATA, "the values of a mask are not known");
	for (i = 0; i < wmask->numel; i++)
		count += hits[i] != 0;
	out = ag_make(f->ctx, (enum ag_dtype)x->dtype, 1, &count, true);
	node = out ? ag_record1(f->ctx, AG_NODE_MaskedSelect, x, 2, 0) : NULL;
	if (node) {
		ag_save_input(node, 0, mask);
		ag_save_input(node, 1, x);
	}
	if (out && ag_ready1(out, wide)) {
		from = ag_plain(wide);
		to = ag_alloc((size_t)count + 1, sizeof(*to));
		for (i = 0; i < wmask->numel; i++) {
			if (hits[i])
				to[k++] = from[i];
		}
		ag_put_plain(out, to);
		free(from);
		free(to);
	}
	free(hits);
	return out && ag_finish(f, out, node);
}

bool bw_MaskedSelect(struct ag_bw *b)
{
	struct ag_ctx *c = B_CTX;
	struct ag_tensor *mask = B_SAVED(0), *x = B_SAVED(1), *zeros;
	int64_t shape[AG_MAX_DIMS];
	struct ag_value list, v[4];
	int ndim;

	if (!mask || !x || !ag_broadcast(c, x, mask, &ndim, shape))
		return false;
	zeros = op_zeros(c, (enum ag_dtype)B_GRAD->dtype, ndim, shape);
	list = ag_arg(op_expand(c, mask, ndim, shape));
	v[0] = ag_arg(zeros);
	v[1] = ag_list(&list, 1);
	v[2] = ag_arg(B_GRAD);
	v[3] = ag_bool(false);
	B_SET(0, op_call(c, AG_OP_index_put, v, 4));
	return true;
}
