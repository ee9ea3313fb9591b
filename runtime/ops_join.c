/* Joining, repeating and rearranging: results with storages of their own. */

#include <stdlib.h>
#include <string.h>

#include "runtime/element.h"
#include "runtime/op.h"
#include "runtime/shape.h"

/* Copies src into the part of out that begins at `start` along `dim`. */
static void put_part(struct ag_tensor *out, struct ag_tensor *src, int dim, int64_t start)
{
	struct ag_tensor part = *out;

	part.offset += start * out->strides[dim];
	part.shape[dim] = src->shape[dim];
	part.numel = src->numel;
	ag_copy_data(&part, src);
}

static bool list_of(struct ag_frame *f, struct ag_tensor ***list, uint32_t *count)
{
	uint32_t i;

	*count = arg_list(f, 0);
	if (!*count)
		return ag_fail(f->ctx, AG_ERR_RUNTIME, "%s expects a non-empty TensorList",
		               ag_op_info(f->op)->id);
	*list = ag_alloc(*count, sizeof(**list));
	for (i = 0; i < *count; i++) {
		(*list)[i] = arg_list_t(f, 0, i);
		if (!(*list)[i]) {
			free(*list);
			return ag_fail(f->ctx, AG_ERR_TYPE, "expected Tensor as element %u", i);
		}
	}
	return true;
}

static enum ag_dtype common_dtype(struct ag_ctx *ctx, struct ag_tensor **list, uint32_t count)
{
	struct ag_value v[2];
	enum ag_dtype dtype = (enum ag_dtype)list[0]->dtype;
	uint32_t i;

	for (i = 1; i < count; i++) {
		if (list[i]->dtype == dtype)
			continue;
		v[0] = ag_arg(list[0]);
		v[1] = ag_arg(list[i]);
		dtype = ag_promote(dtype, ag_result_type(ctx, v, 2));
	}
	return dtype;
}

/* Old code passes empty 1-D tensors, which cat leaves out. */
static bool left_out(const struct ag_tensor *t)
{
	return t->ndim == 1 && t->shape[0] == 0;
}

static bool cat_shape(struct ag_ctx *ctx, struct ag_tensor **list, uint32_t count, int64_t dim_arg,
                      struct ag_tensor **model, int *dim, int64_t *shape)
{
	uint32_t i;
	int d;

	*model = list[0];
	for (i = 0; i < count && left_out(*model); i++)
		*model = list[i];
	if (!(*model)->ndim)
		return ag_fail(ctx, AG_ERR_RUNTIME,
		               "zero-dimensional tensor (at position 0) cannot be concatenated");
	*dim = ag_dim(ctx, *model, dim_arg);
	if (*dim < 0)
		return false;
	memcpy(shape, (*model)->shape, sizeof((*model)->shape));
	shape[*dim] = 0;
	for (i = 0; i < count; i++) {
		if (left_out(list[i]) && (*model)->ndim != 1)
			continue;
		if (list[i]->ndim != (*model)->ndim)
			return ag_fail(ctx, AG_ERR_RUNTIME,
			               "Tensors must have same number of dimensions: got %d and %d",
			               (*model)->ndim, list[i]->ndim);
		for (d = 0; d < (*model)->ndim; d++) {
			if (d != *dim && list[i]->shape[d] != (*model)->shape[d])
				return ag_fail(ctx, AG_ERR_RUNTIME,
				               "Sizes of tensors must match except in dimension "
				               "%d. Expected size %lld but got size %lld for "
				               "tensor number %u in the list.",
				               *dim, (long long)(*model)->shape[d],
				               (long long)list[i]->shape[d], i);
		}
		shape[*dim] += list[i]->shape[*dim];
	}
	return true;
}

static bool cat(struct ag_frame *f, struct ag_tensor **list, uint32_t count)
{
	struct ag_tensor *model, *out;
	int64_t shape[AG_MAX_DIMS], start = 0;
	struct ag_node *node;
	uint32_t i;
	int dim = 0;

	if (!cat_shape(f->ctx, list, count, arg_i(f, 1), &model, &dim, shape))
		return false;
	out = ag_make(f->ctx, common_dtype(f->ctx, list, count), model->ndim, shape, true);
	if (!out)
		return false;
	node = ag_record(f->ctx, AG_NODE_Cat, list, count, 0, 1 + count);
	for (i = 0; i < count; i++) {
		int64_t size = left_out(list[i]) && model->ndim != 1 ? -1 : list[i]->shape[dim];

		if (node)
			node->ints[1 + i] = size;
		if (size <= 0)
			continue;
		put_part(out, list[i], dim, start);
		start += size;
	}
	if (node)
		node->ints[0] = dim;
	return ag_finish(f, out, node);
}

bool op_run_cat(struct ag_frame *f)
{
	struct ag_tensor **list;
	uint32_t count;
	bool good;

	if (!list_of(f, &list, &count))
		return false;
	good = cat(f, list, count);
	free(list);
	return good;
}

bool bw_Cat(struct ag_bw *b)
{
	const int64_t *w = b->node->ints;
	int64_t start = 0;
	uint32_t i;

	for (i = 0; i < b->node->nedges; i++) {
		int64_t zero = 0;

		if (w[1 + i] < 0) {
			B_SET(i, op_zeros(B_CTX, (enum ag_dtype)B_GRAD->dtype, 1, &zero));
			continue;
		}
		if (B_WANT(i))
			B_SET(i, op_narrow(B_CTX, B_GRAD, w[0], start, w[1 + i]));
		start += w[1 + i];
	}
	return true;
}

static bool stack(struct ag_frame *f, struct ag_tensor **list, uint32_t count)
{
	int dim = ag_dim_of(f->ctx, arg_i(f, 1), list[0]->ndim + 1), d;
	int64_t shape[AG_MAX_DIMS + 1];
	struct ag_node *node;
	struct ag_tensor *out;
	char a[128], e[128];
	uint32_t i;

	if (dim < 0)
		return false;
	for (i = 1; i < count; i++) {
		if (!ag_same_shape(list[0], list[i]))
			return ag_fail(f->ctx, AG_ERR_RUNTIME,
			               "stack expects each tensor to be equal size, but got %s at "
			               "entry 0 and %s at entry %u",
			               ag_shape_text(list[0]->ndim, list[0]->shape, a, sizeof(a)),
			               ag_shape_text(list[i]->ndim, list[i]->shape, e, sizeof(e)),
			               i);
	}
	for (d = 0; d <= list[0]->ndim; d++)
		shape[d] = d == dim ? count : list[0]->shape[d > dim ? d - 1 : d];
	out = ag_make(f->ctx, common_dtype(f->ctx, list, count), list[0]->ndim + 1, shape, true);
	if (!out)
		return false;
	node = ag_record(f->ctx, AG_NODE_Stack, list, count, 0, 1);
	if (node)
		node->ints[0] = dim;
	for (i = 0; i < count; i++) {
		struct ag_tensor part = *out;

		part.offset += (int64_t)i * out->strides[dim];
		part.ndim--;
		part.numel = list[i]->numel;
		for (d = 0; d < part.ndim; d++) {
			part.shape[d] = out->shape[d >= dim ? d + 1 : d];
			part.strides[d] = out->strides[d >= dim ? d + 1 : d];
		}
		ag_copy_data(&part, list[i]);
	}
	return ag_finish(f, out, node);
}

bool op_run_stack(struct ag_frame *f)
{
	struct ag_tensor **list;
	uint32_t count;
	bool good;

	if (!list_of(f, &list, &count))
		return false;
	good = stack(f, list, count);
	free(list);
	return good;
}

/* One unbind serves all, as in PyTorch: the pieces share a storage. */
bool bw_Stack(struct ag_bw *b)
{
	uint32_t i;

	for (i = 0; i < b->node->nedges; i++) {
		if (B_WANT(i))
			B_SET(i, op_select(B_CTX, B_GRAD, b->node->ints[0], i));
	}
	return true;
}

/* ---- repeat, flip, roll, tril, triu: an index map each */

typedef int64_t source_fn(const struct ag_tensor *a, const int64_t *index, const int64_t *p);

/* out[index] = a[source], or 0 where the source is -1 */
static void rearrange(struct ag_tensor *out, struct ag_tensor *a, source_fn *fn, const int64_t *p)
{
	int64_t index[AG_MAX_DIMS] = {0}, i;
	double *values;

	if (!ag_ready1(out, a))
		return;
	values = ag_alloc((size_t)out->numel + 1, sizeof(*values));
	for (i = 0; i < out->numel; i++) {
		int64_t at = fn(a, index, p);

		values[i] =
		        at < 0 ? 0 : ag_load_double((enum ag_dtype)a->dtype, a->storage->data, at);
		ag_step(out, index);
	}
	ag_put_plain(out, values);
	free(values);
}

static int64_t repeat_source(const struct ag_tensor *a, const int64_t *index, const int64_t *p)
{
	int64_t at = a->offset;
	int d, shift = (int)p[0] - a->ndim;

	for (d = 0; d < a->ndim; d++)
		at += index[d + shift] % a->shape[d] * a->strides[d];
	return at;
}

static bool repeat(struct ag_frame *f, const int64_t *times, int n)
{
	struct ag_tensor *a = arg_t(f, 0), *out;
	int64_t shape[AG_MAX_DIMS], words[1] = {n};
	struct ag_node *node;
	int d;

	if (n < a->ndim)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "Number of dimensions of repeat dims can not be smaller than number "
		               "of dimensions of tensor");
	for (d = 0; d < n; d++)
		shape[d] = times[d] * (d >= n - a->ndim ? a->shape[d - (n - a->ndim)] : 1);
	out = ag_make(f->ctx, (enum ag_dtype)a->dtype, n, shape, true);
	if (!out)
		return false;
	node = ag_record1(f->ctx, AG_NODE_Repeat, a, 0, 2u + (uint32_t)n + a->ndim);
	if (node) {
		node->ints[0] = a->ndim;
		memcpy(node->ints + 1, a->shape, a->ndim * sizeof(*shape));
		node->ints[1 + a->ndim] = n;
		memcpy(node->ints + 2 + a->ndim, times, (size_t)n * sizeof(*shape));
	}
	rearrange(out, a, repeat_source, words);
	return ag_finish(f, out, node);
}

bool op_run_repeat(struct ag_frame *f)
{
	int64_t times[AG_MAX_DIMS];
	int n = arg_ints(f, 1, times, AG_MAX_DIMS);

	return n >= 0 && repeat(f, times, n);
}

bool op_run_tile(struct ag_frame *f)
{
	int64_t given[AG_MAX_DIMS], times[AG_MAX_DIMS];
	int n = arg_ints(f, 1, given, AG_MAX_DIMS), ndim = arg_t(f, 0)->ndim, d;

	if (n < 0)
		return false;
	for (d = 0; d < ndim; d++)
		times[d] = d < ndim - n ? 1 : given[d - (ndim - n)];
	return n >= ndim ? repeat(f, given, n) : repeat(f, times, ndim);
}

/* [r0, s0, r1, s1, ...] with the r summed away */
bool bw_Repeat(struct ag_bw *b)
{
	const int64_t *w = b->node->ints, *times;
	struct ag_ctx *c = B_CTX;
	struct ag_tensor *g = B_GRAD;
	int ndim = (int)w[0], n = (int)w[1 + ndim], d, lead = n - ndim;

	times = w + 2 + ndim;
	for (d = 0; d < lead; d++)
		g = op_sum_dim(c, g, 0, false);
	for (d = 0; d < ndim && g; d++) {
		int64_t shape[AG_MAX_DIMS + 1];
		int k;

		if (times[lead + d] == 1)
			continue;
		if (g->ndim == AG_MAX_DIMS)
			return ag_fail(c, AG_ERR_RUNTIME, "too many dimensions to repeat");
		for (k = 0; k <= ndim; k++)
			shape[k] = k < d ? g->shape[k] : k > d + 1 ? g->shape[k - 1] : 0;
		shape[d] = times[lead + d];
		shape[d + 1] = w[1 + d];
		g = op_sum_dim(c, op_reshape(c, g, ndim + 1, shape), d, false);
	}
	B_SET(0, g);
	return true;
}

static int64_t flip_source(const struct ag_tensor *a, const int64_t *index, const int64_t *p)
{
	int64_t at = a->offset;
	int d;

	for (d = 0; d < a->ndim; d++)
		at += (p[0] >> d & 1 ? a->shape[d] - 1 - index[d] : index[d]) * a->strides[d];
	return at;
}

static bool same_shape_op(struct ag_frame *f, enum ag_node_kind kind, source_fn *fn,
                          const int64_t *words, uint32_t n)
{
	struct ag_tensor *a = arg_t(f, 0), *out;
	struct ag_node *node;

	out = ag_make(f->ctx, (enum ag_dtype)a->dtype, a->ndim, a->shape, true);
	if (!out)
		return false;
	node = ag_record1(f->ctx, kind, a, 0, n);
	if (node)
		memcpy(node->ints, words, n * sizeof(*words));
	rearrange(out, a, fn, words);
	return ag_finish(f, out, node);
}

bool op_run_flip(struct ag_frame *f)
{
	int64_t dims[AG_MAX_DIMS], mask[1] = {0};
	int n = arg_ints(f, 1, dims, AG_MAX_DIMS), i;

	for (i = 0; i < n; i++) {
		int d = ag_dim(f->ctx, arg_t(f, 0), dims[i]);

		if (d < 0)
			return false;
		mask[0] |= INT64_C(1) << d;
	}
	return n >= 0 && same_shape_op(f, AG_NODE_Flip, flip_source, mask, 1);
}

bool bw_Flip(struct ag_bw *b)
{
	struct ag_value dims[AG_MAX_DIMS], v[2];
	int d, n = 0;

	for (d = 0; d < AG_MAX_DIMS; d++) {
		if (b->node->ints[0] >> d & 1)
			dims[n++] = ag_int(d);
	}
	v[0] = ag_arg(B_GRAD);
	v[1] = ag_list(dims, (size_t)n);
	B_SET(0, op_call(B_CTX, AG_OP_flip, v, 2));
	return true;
}

static int64_t roll_source(const struct ag_tensor *a, const int64_t *index, const int64_t *p)
{
	int64_t at = a->offset, from;
	int d;

	for (d = 0; d < a->ndim; d++) {
		from = a->shape[d] ? (index[d] - p[d]) % a->shape[d] : 0;
		at += (from < 0 ? from + a->shape[d] : from) * a->strides[d];
	}
	return at;
}

bool op_run_roll(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0), *flat;
	int64_t shifts[AG_MAX_DIMS], dims[AG_MAX_DIMS], by[AG_MAX_DIMS] = {0}, all;
	int n = arg_ints(f, 1, shifts, AG_MAX_DIMS), k = arg_ints(f, 2, dims, AG_MAX_DIMS), i;
	struct ag_value v[3];

	if (n < 0 || k < 0)
		return false;
	if (!k) {
		all = a->numel;
		flat = op_reshape(f->ctx, a, 1, &all);
		v[0] = ag_arg(flat);
		v[1] = ag_int(n ? shifts[0] : 0);
		v[2] = ag_int(0);
		flat = op_call(f->ctx, AG_OP_roll, v, 3);
		return ag_give_ref(f, op_view(f->ctx, flat, a->ndim, a->shape));
	}
	if (k != n)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "shifts and dimensions must align. shifts: %d, dims:%d", n, k);
	for (i = 0; i < n; i++) {
		int d = ag_dim(f->ctx, a, dims[i]);

		if (d < 0)
			return false;
		by[d] += shifts[i];
	}
	return same_shape_op(f, AG_NODE_Roll, roll_source, by, AG_MAX_DIMS);
}

bool bw_Roll(struct ag_bw *b)
{
	struct ag_value shifts[AG_MAX_DIMS], dims[AG_MAX_DIMS], v[3];
	int d;

	for (d = 0; d < B_GRAD->ndim; d++) {
		shifts[d] = ag_int(-b->node->ints[d]);
		dims[d] = ag_int(d);
	}
	v[0] = ag_arg(B_GRAD);
	v[1] = ag_list(shifts, B_GRAD->ndim);
	v[2] = ag_list(dims, B_GRAD->ndim);
	B_SET(0, op_call(B_CTX, AG_OP_roll, v, 3));
	return true;
}

static int64_t place(const struct ag_tensor *a, const int64_t *index)
{
	int64_t at = a->offset;
	int d;

	for (d = 0; d < a->ndim; d++)
		at += index[d] * a->strides[d];
	return at;
}

static int64_t tril_source(const struct ag_tensor *a, const int64_t *index, const int64_t *p)
{
	return index[a->ndim - 1] - index[a->ndim - 2] <= p[0] ? place(a, index) : -1;
}

static int64_t triu_source(const struct ag_tensor *a, const int64_t *index, const int64_t *p)
{
	return index[a->ndim - 1] - index[a->ndim - 2] >= p[0] ? place(a, index) : -1;
}

static bool triangle(struct ag_frame *f, enum ag_node_kind kind, source_fn *fn)
{
	int64_t words[1] = {arg_i(f, 1)};

	if (arg_t(f, 0)->ndim < 2)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "%s: input tensor must have at least 2 dimensions",
		               ag_op_info(f->op)->id);
	return same_shape_op(f, kind, fn, words, 1);
}

bool op_run_tril(struct ag_frame *f)
{
	return triangle(f, AG_NODE_Tril, tril_source);
}

bool op_run_triu(struct ag_frame *f)
{
	return triangle(f, AG_NODE_Triu, triu_source);
}

bool bw_Tril(struct ag_bw *b)
{
	struct ag_value v[2] = {ag_arg(B_GRAD), ag_int(b->node->ints[0])};

	B_SET(0, op_call(B_CTX, AG_OP_tril, v, 2));
	return true;
}

bool bw_Triu(struct ag_bw *b)
{
	struct ag_value v[2] = {ag_arg(B_GRAD), ag_int(b->node->ints[0])};

	B_SET(0, op_call(B_CTX, AG_OP_triu, v, 2));
	return true;
}

bool op_run_trace(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0), *out;
	struct ag_node *node;
	double sum = 0;
	int64_t i;

	if (a->ndim != 2)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "trace: expected a matrix, but got %d-D tensor", a->ndim);
	out = ag_make(f->ctx,
	              ag_category((enum ag_dtype)a->dtype) < 2 ? AG_I64 : (enum ag_dtype)a->dtype,
	              0, NULL, true);
	if (!out)
		return false;
	node = ag_record1(f->ctx, AG_NODE_Trace, a, 0, 2);
	if (node)
		memcpy(node->ints, a->shape, 2 * sizeof(int64_t));
	if (ag_ready1(out, a)) {
		for (i = 0; i < a->shape[0] && i < a->shape[1]; i++)
			sum += ag_load_double((enum ag_dtype)a->dtype, a->storage->data,
			                      a->offset + i * (a->strides[0] + a->strides[1]));
		ag_fill_data(out, sum);
	}
	return ag_finish(f, out, node);
}

bool bw_Trace(struct ag_bw *b)
{
	struct ag_value v[2] = {ag_int(b->node->ints[0]), ag_int(b->node->ints[1])};
	struct ag_tensor *eye = op_call(B_CTX, AG_OP_eye, v, 2);

	if (!eye)
		return false;
	B_SET(0, op_mul(B_CTX, B_GRAD, op_cast(B_CTX, eye, (enum ag_dtype)B_GRAD->dtype)));
	return true;
}

/* ---- pieces */

/* All pieces are results of one node; formulas put their gradients together. */
static bool pieces(struct ag_frame *f, enum ag_node_kind kind, int dim, const int64_t *sizes,
                   uint32_t count, bool drop_dim)
{
	struct ag_tensor *a = arg_t(f, 0);
	struct ag_node *node = ag_record1(f->ctx, kind, a, 0, 3u + a->ndim + count);
	int64_t start = 0;
	uint32_t i;

	if (node) {
		node->ints[0] = dim;
		node->ints[1] = a->dtype;
		node->ints[2] = a->ndim;
		memcpy(node->ints + 3, a->shape, a->ndim * sizeof(int64_t));
		memcpy(node->ints + 3 + a->ndim, sizes, count * sizeof(int64_t));
	}
	for (i = 0; i < count; i++) {
		int64_t shape[AG_MAX_DIMS], strides[AG_MAX_DIMS];
		struct ag_tensor *v;
		int d, n = 0;

		for (d = 0; d < a->ndim; d++) {
			if (d == dim && drop_dim)
				continue;
			shape[n] = d == dim ? sizes[i] : a->shape[d];
			strides[n++] = a->strides[d];
		}
		v = ag_alias(a, n, shape, strides, a->offset + start * a->strides[dim]);
		start += sizes[i];
		if (kind == AG_NODE_UnsafeSplit)
			ag_own_version(v);
		if (kind != AG_NODE_UnsafeSplit)
			ag_make_view(v, a, node, AG_VIEW_MULTI);
		else if (node)
			ag_set_history(v, node);
		ag_give(f, v);
	}
	ag_node_release(node);
	return true;
}

static bool split_even(struct ag_frame *f, enum ag_node_kind kind, int dim, int64_t size)
{
	struct ag_tensor *a = arg_t(f, 0);
	int64_t total = a->shape[dim], n, i, *sizes;
	bool good;

	if (size < 0 || (size == 0 && total))
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "split expects split_size be non-negative, but got split_size=%lld",
		               (long long)size);
	n = size ? (total + size - 1) / size : 1;
	n = n < 1 ? 1 : n;
	if (n > UINT16_MAX)
		return ag_fail(f->ctx, AG_ERR_RUNTIME, "more than %d pieces are not supported",
		               UINT16_MAX);
	sizes = ag_alloc((size_t)n, sizeof(*sizes));
	for (i = 0; i < n; i++)
		sizes[i] = i < n - 1 ? size : total - size * (n - 1);
	good = pieces(f, kind, dim, sizes, (uint32_t)n, false);
	free(sizes);
	return good;
}

static int split_dim(struct ag_frame *f, uint32_t i)
{
	if (!arg_t(f, 0)->ndim) {
		ag_fail(f->ctx, AG_ERR_RUNTIME, "%s expects at least a 1-dimensional tensor",
		        ag_op_info(f->op)->id);
		return -1;
	}
	return ag_dim(f->ctx, arg_t(f, 0), arg_i(f, i));
}

bool op_run_split(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0);
	int dim = split_dim(f, 2);
	int64_t *sizes, sum = 0;
	uint32_t i, n;
	bool good;

	if (dim < 0)
		return false;
	if (f->v[1].kind != AG_LIST)
		return split_even(f, AG_NODE_Split, dim, arg_i(f, 1));
	n = f->v[1].count;
	sizes = ag_alloc(n, sizeof(*sizes));
	for (i = 0; i < n; i++) {
		sizes[i] = ag_value_int(&f->v[1].as.list[i]);
		sum += sizes[i];
		if (sizes[i] < 0)
			sum = -1;
	}
	if (sum == a->shape[dim] && n <= UINT16_MAX)
		good = pieces(f, AG_NODE_SplitSizes, dim, sizes, n, false);
	else
		good = ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "split_with_sizes expects split_sizes to sum exactly to %lld (input "
		               "tensor's size at dimension %d)",
		               (long long)a->shape[dim], dim);
	free(sizes);
	return good;
}

static bool chunks(struct ag_frame *f, enum ag_node_kind kind)
{
	int dim = split_dim(f, 2);
	int64_t n = arg_i(f, 1), size;

	if (dim < 0)
		return false;
	if (n <= 0)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "chunk expects `chunks` to be greater than 0, got: %lld",
		               (long long)n);
	size = (arg_t(f, 0)->shape[dim] + n - 1) / n;
	return split_even(f, kind, dim, size);
}

bool op_run_chunk(struct ag_frame *f)
{
	return chunks(f, AG_NODE_Split);
}

bool op_run_unsafe_chunk(struct ag_frame *f)
{
	return chunks(f, AG_NODE_UnsafeSplit);
}

bool op_run_unbind(struct ag_frame *f)
{
	int dim = split_dim(f, 1);
	int64_t n, i, *sizes;
	bool good;

	if (dim < 0)
		return false;
	n = arg_t(f, 0)->shape[dim];
	if (n > UINT16_MAX)
		return ag_fail(f->ctx, AG_ERR_RUNTIME, "more than %d pieces are not supported",
		               UINT16_MAX);
	sizes = ag_alloc((size_t)n, sizeof(*sizes));
	for (i = 0; i < n; i++)
		sizes[i] = 1;
	good = pieces(f, AG_NODE_Unbind, dim, sizes, (uint32_t)n, true);
	free(sizes);
	return good;
}

static bool pieces_backward(struct ag_bw *b, enum ag_op op)
{
	const int64_t *w = b->node->ints, *sizes;
	int ndim = (int)w[2], n = b->node->nresults, i;
	struct ag_value *list = ag_alloc((size_t)n + 1, sizeof(*list)), v[2];

	sizes = w + 3 + ndim;
	for (i = 0; i < n; i++) {
		struct ag_tensor *g = b->grads[i];
		int64_t shape[AG_MAX_DIMS];
		int d, k = 0;

		for (d = 0; d < ndim && !g; d++) {
			if (d != w[0] || op != AG_OP_stack)
				shape[k++] = d == w[0] ? sizes[i] : w[3 + d];
		}
		list[i] = ag_arg(g ? g : op_zeros(B_CTX, (enum ag_dtype)w[1], k, shape));
	}
	v[0] = ag_list(list, (size_t)n);
	v[1] = ag_int(w[0]);
	if (n)
		B_SET(0, op_call(B_CTX, op, v, 2));
	free(list);
	return true;
}

bool bw_Split(struct ag_bw *b)
{
	return pieces_backward(b, AG_OP_cat);
}

bool bw_SplitSizes(struct ag_bw *b)
{
	return pieces_backward(b, AG_OP_cat);
}

bool bw_UnsafeSplit(struct ag_bw *b)
{
	return pieces_backward(b, AG_OP_cat);
}

bool bw_Unbind(struct ag_bw *b)
{
	return pieces_backward(b, AG_OP_stack);
}

/* ---- constant padding: pairs from the last dimension on */

bool op_run_constant_pad(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0), *out, inner;
	int64_t pad[2 * AG_MAX_DIMS], shape[AG_MAX_DIMS];
	int n = arg_ints(f, 1, pad, 2 * AG_MAX_DIMS), i;
	struct ag_node *node;

	if (n < 0 || n % 2 || n / 2 > a->ndim)
		return ag_fail(
		        f->ctx, AG_ERR_RUNTIME,
		        "Length of pad should be no more than twice the number of dimensions of "
		        "the input. Pad length is %d while the input has %d dimensions.",
		        n, a->ndim);
	memcpy(shape, a->shape, sizeof(shape));
	for (i = 0; i < n / 2; i++)
		shape[a->ndim - 1 - i] += pad[2 * i] + pad[2 * i + 1];
	out = ag_make(f->ctx, (enum ag_dtype)a->dtype, a->ndim, shape, true);
	if (!out)
		return false;
	node = ag_record1(f->ctx, AG_NODE_ConstantPad, a, 0, 1u + (uint32_t)n);
	if (node) {
		node->ints[0] = n;
		memcpy(node->ints + 1, pad, (size_t)n * sizeof(*pad));
	}
	if (arg_f(f, 2) != 0)
		ag_fill_data(out, arg_f(f, 2));
	inner = *a;
	{
		struct ag_tensor hole = *out;

		for (i = 0; i < n / 2; i++) {
			int d = a->ndim - 1 - i;
			int64_t low = pad[2 * i], high = pad[2 * i + 1];

			hole.offset += (low > 0 ? low : 0) * out->strides[d];
			inner.offset += (low < 0 ? -low : 0) * a->strides[d];
			inner.shape[d] = a->shape[d] + (low < 0 ? low : 0) + (high < 0 ? high : 0);
			hole.shape[d] = inner.shape[d];
		}
		hole.numel = inner.numel = ag_count(a->ndim, inner.shape);
		ag_copy_data(&hole, &inner);
	}
	return ag_finish(f, out, node);
}

bool bw_ConstantPad(struct ag_bw *b)
{
	struct ag_value pad[2 * AG_MAX_DIMS], v[3];
	int n = (int)b->node->ints[0], i;

	for (i = 0; i < n; i++)
		pad[i] = ag_int(-b->node->ints[1 + i]);
	v[0] = ag_arg(B_GRAD);
	v[1] = ag_list(pad, (size_t)n);
	v[2] = ag_float(0);
	B_SET(0, op_call(B_CTX, AG_OP_constant_pad, v, 3));
	return true;
}
