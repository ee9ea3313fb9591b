/* Advanced indexing, one element list for reading and writing alike. */

#include <stdlib.h>
#include <string.h>

#include "runtime/element.h"
#include "runtime/op.h"
#include "runtime/shape.h"

enum { MAX_INDICES = AG_MAX_DIMS };

/* Where the elements of x[indices] are. */
struct plan {
	int ndim;
	int64_t shape[AG_MAX_DIMS];
	int before;                   /* plain dimensions ahead of the index's own */
	int nindex;                   /* dimensions that the indices bring */
	int64_t *offsets;             /* per index element, NULL: unknown */
	int64_t strides[AG_MAX_DIMS]; /* of plain dimensions, at their places in `shape` */
	bool known;
};

struct column {
	struct ag_tensor *t; /* an integer index, or a mask's positions in one dimension */
	int64_t *values;
	int ndim;
	int64_t shape[AG_MAX_DIMS];
	int dim; /* of x */
};

static bool is_mask(const struct ag_tensor *t)
{
	return t->dtype == AG_BOOL8 || t->dtype == AG_U8;
}

/* A mask becomes a column of positions for each of its dimensions. */
static bool add_mask(struct ag_ctx *ctx, struct ag_tensor *x, struct ag_tensor *mask, int *dim,
                     struct column *columns, int *n)
{
	int64_t index[AG_MAX_DIMS] = {0}, count = 0, i, *hits;
	int d, k = mask->ndim;

	if (*dim + k > x->ndim || *n + k > MAX_INDICES)
		return ag_fail(ctx, AG_ERR_INDEX, "too many indices for tensor of dimension %d",
		               x->ndim);
	for (d = 0; d < k; d++) {
		if (mask->shape[d] != x->shape[*dim + d])
			return ag_fail(ctx, AG_ERR_INDEX,
			               "The shape of the mask at index %d does not match the shape "
			               "of the indexed tensor at index %d",
			               d, *dim + d);
	}
	hits = ag_plain_ints(mask);
	if (!hits)
		return ag_fail(ctx, AG_ERR_NO_DATA, "the values of a mask are not known");
	for (i = 0; i < mask->numel; i++)
		count += hits[i] != 0;
	for (d = 0; d < k; d++) {
		struct column *c = &columns[(*n)++];

		memset(c, 0, sizeof(*c));
		c->dim = *dim + d;
		c->ndim = 1;
		c->shape[0] = count;
		c->values = ag_alloc((size_t)count + 1, sizeof(int64_t));
	}
	for (i = 0, count = 0; i < mask->numel; i++) {
		if (hits[i]) {
			for (d = 0; d < k; d++)
				columns[*n - k + d].values[count] = index[d];
			count++;
		}
		for (d = k - 1; d >= 0 && ++index[d] == mask->shape[d]; d--)
			index[d] = 0;
	}
	free(hits);
	*dim += k;
	return true;
}

static bool add_integers(struct ag_ctx *ctx, struct ag_tensor *x, struct ag_tensor *t, int *dim,
                         struct column *columns, int *n)
{
	struct column *c = &columns[*n];
	int64_t size, i;

	if (*dim >= x->ndim || *n == MAX_INDICES)
		return ag_fail(ctx, AG_ERR_INDEX, "too many indices for tensor of dimension %d",
		               x->ndim);
	if (ag_dtype_is_float((enum ag_dtype)t->dtype))
		return ag_fail(ctx, AG_ERR_INDEX,
		               "tensors used as indices must be long, int, byte or bool tensors");
	size = x->shape[*dim];
	memset(c, 0, sizeof(*c));
	c->t = t;
	c->dim = (*dim)++;
	c->ndim = t->ndim;
	memcpy(c->shape, t->shape, sizeof(c->shape));
	c->values = ag_plain_ints(t);
	(*n)++;
	for (i = 0; c->values && i < t->numel; i++) {
		if (c->values[i] < -size || c->values[i] >= size)
			return ag_fail(
			        ctx, AG_ERR_INDEX,
			        "index %lld is out of bounds for dimension %d with size %lld",
			        (long long)c->values[i], c->dim, (long long)size);
		c->values[i] += c->values[i] < 0 ? size : 0;
	}
	return true;
}

/* The shape that the indices have together. */
static bool broadcast_columns(struct ag_ctx *ctx, const struct column *columns, int n, int *nindex,
                              int64_t *shape)
{
	int c, d;

	*nindex = 0;
	for (c = 0; c < n; c++)
		*nindex = columns[c].ndim > *nindex ? columns[c].ndim : *nindex;
	for (d = 0; d < *nindex; d++) {
		shape[d] = 1;
		for (c = 0; c < n; c++) {
			int at = d - (*nindex - columns[c].ndim);
			int64_t size = at < 0 ? 1 : columns[c].shape[at];

			if (size != 1 && shape[d] != 1 && size != shape[d])
				return ag_fail(ctx, AG_ERR_INDEX,
				               "shape mismatch: indexing tensors could not be "
				               "broadcast together");
			shape[d] = size == 1 ? shape[d] : size;
		}
	}
	return true;
}

/* What a column says at a place of the indices' common shape. */
static int64_t column_value(const struct column *c, const int64_t *index, int nindex)
{
	int64_t at = 0;
	int d;

	for (d = 0; d < c->ndim; d++)
		at = at * c->shape[d] + (c->shape[d] == 1 ? 0 : index[d + nindex - c->ndim]);
	return c->values[at];
}

/* The indices broadcast against each other. */
static bool join_columns(struct ag_ctx *ctx, struct ag_tensor *x, const struct column *columns,
                         int n, struct plan *p, int64_t *shape)
{
	int64_t i, total, index[AG_MAX_DIMS] = {0};
	int c, d;

	if (!broadcast_columns(ctx, columns, n, &p->nindex, shape) ||
	    !ag_check_shape(ctx, p->nindex, shape))
		return false;
	total = ag_count(p->nindex, shape);
	p->known = (uint64_t)total <= ctx->options.data_cap;
	for (c = 0; c < n; c++)
		p->known = p->known && columns[c].values;
	if (!p->known)
		return true;
	p->offsets = ag_alloc((size_t)total + 1, sizeof(*p->offsets));
	for (i = 0; i < total; i++) {
		for (c = 0; c < n; c++)
			p->offsets[i] += column_value(&columns[c], index, p->nindex) *
			                 x->strides[columns[c].dim];
		for (d = p->nindex - 1; d >= 0 && ++index[d] == shape[d]; d--)
			index[d] = 0;
	}
	return true;
}

static void columns_free(struct column *columns, int n)
{
	while (n-- > 0)
		free(columns[n].values);
}

/* Plain dimensions ahead of the indices, the indices, the other plain ones. */
static void plan_shape(struct plan *p, const struct ag_tensor *x, const bool *indexed,
                       const int64_t *shape)
{
	int d, k = 0;

	for (d = 0; d <= x->ndim; d++) {
		if (d == p->before) {
			memcpy(p->shape + k, shape, (size_t)p->nindex * sizeof(*shape));
			k += p->nindex;
		}
		if (d == x->ndim || indexed[d])
			continue;
		p->shape[k] = x->shape[d];
		p->strides[k++] = x->strides[d];
	}
	p->ndim = k;
}

/* `indices` may hold NULLs: plain dimensions. */
static bool plan_open(struct ag_ctx *ctx, struct ag_tensor *x, struct ag_tensor *const *indices,
                      uint32_t count, struct plan *p)
{
	struct column columns[MAX_INDICES];
	int64_t shape[AG_MAX_DIMS] = {0};
	bool indexed[AG_MAX_DIMS] = {false}, together = true, good = true;
	int n = 0, dim = 0, c;
	uint32_t i;

	memset(p, 0, sizeof(*p));
	for (i = 0; i < count && good; i++) {
		if (!indices[i])
			dim++;
		else if (is_mask(indices[i]))
			good = add_mask(ctx, x, indices[i], &dim, columns, &n);
		else
			good = add_integers(ctx, x, indices[i], &dim, columns, &n);
	}
	if (good && dim > x->ndim)
		good = ag_fail(ctx, AG_ERR_INDEX, "too many indices for tensor of dimension %d",
		               x->ndim);
	good = good && join_columns(ctx, x, columns, n, p, shape);
	for (c = 0; good && c < n; c++) {
		indexed[columns[c].dim] = true;
		together = together && (!c || columns[c].dim == columns[c - 1].dim + 1);
	}
	if (good && x->ndim - n + p->nindex > AG_MAX_DIMS)
		good = ag_fail(ctx, AG_ERR_RUNTIME,
		               "tensors of more than %d dimensions are not supported", AG_MAX_DIMS);
	p->before = together && n ? columns[0].dim : 0;
	if (good)
		plan_shape(p, x, indexed, shape);
	columns_free(columns, n);
	return good;
}

/* Calls for each element: its place in x and its number in row order. */
typedef void element_fn(void *data, int64_t place, int64_t number);

static void plan_each(const struct plan *p, int64_t base, element_fn *fn, void *data)
{
	int64_t index[AG_MAX_DIMS] = {0}, total = ag_count(p->ndim, p->shape), i;
	int d;

	for (i = 0; i < total; i++) {
		int64_t place = base, at = 0;

		for (d = 0; d < p->ndim; d++) {
			if (d >= p->before && d < p->before + p->nindex)
				at = at * p->shape[d] + index[d];
			else
				place += index[d] * p->strides[d];
		}
		fn(data, place + p->offsets[at], i);
		for (d = p->ndim - 1; d >= 0 && ++index[d] == p->shape[d]; d--)
			index[d] = 0;
	}
}

struct transfer {
	struct ag_tensor *x;
	double *values;
	bool add;
};

static void read_element(void *data, int64_t place, int64_t number)
{
	struct transfer *t = data;

	t->values[number] = ag_load_double((enum ag_dtype)t->x->dtype, t->x->storage->data, place);
}

static void write_element(void *data, int64_t place, int64_t number)
{
	struct transfer *t = data;
	enum ag_dtype dtype = (enum ag_dtype)t->x->dtype;
	double value = t->values[number];

	if (t->add)
		value += ag_load_double(dtype, t->x->storage->data, place);
	ag_store_double(dtype, t->x->storage->data, place, value);
}

static uint32_t index_args(struct ag_frame *f, struct ag_tensor **indices)
{
	uint32_t count = arg_list(f, 1), i;

	for (i = 0; i < count && i < MAX_INDICES; i++)
		indices[i] = arg_list_t(f, 1, i);
	return count < MAX_INDICES ? count : MAX_INDICES;
}

static void save_indices(struct ag_node *node, struct ag_tensor *const *indices, uint32_t count)
{
	uint32_t i;

	for (i = 0; node && i < count; i++)
		ag_save_input(node, i, indices[i]);
}

/* Plain dimensions keep their order in memory; those of the indices say nothing about it. */
static void plan_layout(const struct plan *p, struct ag_tensor *out)
{
	struct ag_tensor source = *out, *in = &source;

	memcpy(source.strides, p->strides, sizeof(source.strides));
	ag_layout(out, &in, 1);
}

bool op_run_index(struct ag_frame *f)
{
	struct ag_tensor *x = arg_t(f, 0), *indices[MAX_INDICES], *out;
	uint32_t count = index_args(f, indices);
	struct transfer t = {x, NULL, false};
	struct ag_node *node;
	struct plan p;

	out = plan_open(f->ctx, x, indices, count, &p)
	              ? ag_make(f->ctx, (enum ag_dtype)x->dtype, p.ndim, p.shape, true)
	              : NULL;
	if (!out) {
		free(p.offsets);
		return false;
	}
	plan_layout(&p, out);
	node = ag_record1(f->ctx, AG_NODE_Index, x, count, 1u + x->ndim);
	save_indices(node, indices, count);
	if (node) {
		node->ints[0] = x->ndim;
		memcpy(node->ints + 1, x->shape, x->ndim * sizeof(int64_t));
	}
	if (!p.known)
		ag_storage_drop_data(out->storage);
	else if (ag_ready1(out, x)) {
		t.values = ag_alloc((size_t)out->numel + 1, sizeof(double));
		plan_each(&p, x->offset, read_element, &t);
		ag_put_plain(out, t.values);
		free(t.values);
	}
	free(p.offsets);
	return ag_finish(f, out, node);
}

static struct ag_tensor *call_index(struct ag_bw *b, enum ag_op op, struct ag_tensor *x,
                                    const struct ag_value *values, bool accumulate)
{
	struct ag_value list[MAX_INDICES], v[4];
	uint32_t i;

	for (i = 0; i < b->node->nsaved; i++) {
		struct ag_tensor *t = B_SAVED(i);

		list[i] = t ? ag_arg(t) : ag_none();
	}
	v[0] = ag_arg(x);
	v[1] = ag_list(list, b->node->nsaved);
	v[2] = values ? *values : ag_none();
	v[3] = ag_bool(accumulate);
	return B_CTX->error.status == AG_OK ? op_call(B_CTX, op, v, values ? 4 : 2) : NULL;
}

bool bw_Index(struct ag_bw *b)
{
	struct ag_tensor *zeros = op_zeros(B_CTX, (enum ag_dtype)B_GRAD->dtype,
	                                   (int)b->node->ints[0], b->node->ints + 1);
	struct ag_value values = ag_arg(B_GRAD);

	B_SET(0, call_index(b, AG_OP_index_put, zeros, &values, true));
	return true;
}

static bool put_values(struct ag_frame *f, struct ag_tensor *out, const struct plan *p,
                       struct ag_tensor *values, bool accumulate)
{
	struct transfer t = {out, NULL, accumulate};
	struct ag_tensor spread = *values;
	int shift = p->ndim - values->ndim, d;

	for (d = 0; d < p->ndim && shift >= 0; d++) {
		int64_t size = d < shift ? 1 : values->shape[d - shift];

		if (size != 1 && size != p->shape[d])
			shift = -1;
		spread.shape[d] = p->shape[d];
		spread.strides[d] = size == 1 ? 0 : values->strides[d - (shift < 0 ? 0 : shift)];
	}
	if (shift < 0 && values->numel == 1) {
		for (d = 0; d < p->ndim; d++) {
			spread.shape[d] = p->shape[d];
			spread.strides[d] = 0;
		}
	} else if (shift < 0) {
		char a[128], e[128];

		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "shape mismatch: value tensor of shape %s cannot be broadcast to "
		               "indexing result of shape %s",
		               ag_shape_text(values->ndim, values->shape, a, sizeof(a)),
		               ag_shape_text(p->ndim, p->shape, e, sizeof(e)));
	}
	spread.ndim = (uint8_t)p->ndim;
	spread.numel = ag_count(p->ndim, p->shape);
	if (!p->known)
		ag_storage_drop_data(out->storage);
	if (!ag_ready1(out, values) || !spread.numel)
		return true;
	t.values = ag_plain(&spread);
	plan_each(p, out->offset, write_element, &t);
	free(t.values);
	return true;
}

/* input, indices, values, accumulate; in place or into a copy */
bool op_run_index_put(struct ag_frame *f)
{
	struct ag_tensor *x = arg_t(f, 0), *values = arg_t(f, 2), *indices[MAX_INDICES], *out;
	struct ag_tensor *edges[2] = {x, values};
	uint32_t count = index_args(f, indices);
	struct ag_node *node;
	struct plan p;
	bool good;

	if (values->dtype != x->dtype && values->ndim)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "Index put requires the source and destination dtypes match, got %s "
		               "for the destination and %s for the source.",
		               ag_dtype_name((enum ag_dtype)x->dtype),
		               ag_dtype_name((enum ag_dtype)values->dtype));
	out = ag_result_like(f, (enum ag_dtype)x->dtype, x->ndim, x->shape,
	                     wants2(f->ctx, x, values), &x, 1);
	if (!out)
		return false;
	if (!f->inplace)
		ag_copy_data(out, x);
	good = plan_open(f->ctx, out, indices, count, &p) &&
	       put_values(f, out, &p, values, arg_b(f, 3));
	free(p.offsets);
	if (!good) {
		ag_release(out);
		return false;
	}
	node = ag_record(f->ctx, AG_NODE_IndexPut, edges, 2, count, 1);
	save_indices(node, indices, count);
	if (node)
		node->ints[0] = arg_b(f, 3);
	return ag_finish(f, out, node);
}

bool bw_IndexPut(struct ag_bw *b)
{
	struct ag_ctx *c = B_CTX;

	if (B_WANT(0)) {
		struct ag_value zero = ag_arg(op_zeros(c, (enum ag_dtype)B_GRAD->dtype, 0, NULL));

		B_SET(0, b->node->ints[0] ? B_GRAD
		                          : call_index(b, AG_OP_index_put, B_GRAD, &zero, false));
	}
	if (B_WANT(1))
		B_SET(1, call_index(b, AG_OP_index, B_GRAD, NULL, false));
	return true;
}

/* ---- x[...] as Python writes it */

struct subscript {
	struct ag_tensor *t; /* borrowed from the scope: basic indices applied */
	struct ag_tensor *indices[MAX_INDICES];
	uint32_t count; /* of tensor indices, NULLs included; 0: basic only */
};

static int consumed(const struct ag_index *index, uint32_t count)
{
	uint32_t i;
	int n = 0;

	for (i = 0; i < count; i++) {
		if (index[i].kind == AG_AT || index[i].kind == AG_SLICE)
			n++;
		else if (index[i].kind == AG_INDEX_TENSOR)
			n += index[i].tensor && is_mask(index[i].tensor) ? index[i].tensor->ndim
			                                                 : 1;
	}
	return n;
}

static struct ag_tensor *apply_slice(struct ag_ctx *c, struct ag_tensor *t, int dim,
                                     const struct ag_index *ix)
{
	int64_t step = ix->step ? ix->step : 1, size;

	if (step < 0)
		return ag_null(c, AG_ERR_VALUE, "step must be greater than zero");
	if (dim >= t->ndim)
		return ag_null(c, AG_ERR_INDEX, "too many indices for tensor of dimension %d",
		               t->ndim);
	size = t->shape[dim];
	/* A full slice is not an op. */
	if (!ix->has_start && !ix->has_stop && step == 1)
		return t;
	return scoped(c, ag_slice_step(c, t, dim, ix->has_start ? ag_within(ix->start) : 0,
	                               ix->has_stop ? ag_within(ix->stop) : size, ag_within(step)));
}

/* A single whole number as a tensor selects as the number does. */
static bool is_position(const struct ag_tensor *t)
{
	return t && !t->ndim && !is_mask(t) && ag_category((enum ag_dtype)t->dtype) == 1 &&
	       ag_has_data(t);
}

static int64_t position(const struct ag_tensor *t)
{
	int64_t *at = ag_plain_ints(t), value = *at;

	free(at);
	return value;
}

static bool subscript_open(struct ag_ctx *c, struct ag_tensor *t, const struct ag_index *index,
                           uint32_t count, struct subscript *s)
{
	int dim = 0, rest = t ? t->ndim - consumed(index, count) : 0;
	uint32_t i;

	memset(s, 0, sizeof(*s));
	s->t = t;
	if (rest < 0)
		return ag_fail(c, AG_ERR_INDEX, "too many indices for tensor of dimension %d",
		               t->ndim);
	for (i = 0; i < count && s->t; i++) {
		const struct ag_index *ix = &index[i];

		switch (ix->kind) {
		case AG_AT:
			s->t = op_select(c, s->t, dim, ix->start);
			break;
		case AG_SLICE:
			s->t = apply_slice(c, s->t, dim++, ix);
			break;
		case AG_NEW_AXIS:
			s->t = op_unsqueeze(c, s->t, dim++);
			break;
		case AG_ELLIPSIS:
			dim += rest;
			break;
		case AG_INDEX_TENSOR:
			if (is_position(ix->tensor)) {
				s->t = op_select(c, s->t, dim, position(ix->tensor));
				break;
			}
			if (!ix->tensor || dim >= MAX_INDICES)
				return ag_fail(c, AG_ERR_INDEX, "too many indices");
			s->indices[dim] = ix->tensor;
			/* One truth value takes all of a new dimension, or nothing. */
			if (is_mask(ix->tensor) && !ix->tensor->ndim) {
				s->indices[dim] = op_unsqueeze(c, ix->tensor, 0);
				s->t = op_unsqueeze(c, s->t, dim);
			}
			s->count = (uint32_t)dim + 1;
			/* Masks cover several dimensions but are one index. */
			dim++;
			break;
		}
	}
	return s->t != NULL;
}

static struct ag_value index_list(const struct subscript *s, struct ag_value *list)
{
	uint32_t i;

	for (i = 0; i < s->count; i++)
		list[i] = s->indices[i] ? ag_arg(s->indices[i]) : ag_none();
	return ag_list(list, s->count);
}

struct ag_tensor *ag_index(struct ag_ctx *ctx, struct ag_tensor *t, const struct ag_index *index,
                           uint32_t count)
{
	size_t mark = ag_scope_open(ctx);
	struct ag_value list[MAX_INDICES], v[2];
	struct ag_tensor *out = NULL;
	struct subscript s;

	if (t && subscript_open(ctx, t, index, count, &s)) {
		v[0] = ag_arg(s.t);
		v[1] = index_list(&s, list);
		if (s.count)
			out = ag_run1(ctx, AG_OP_index, v, 2);
		else if (s.t == t)
			out = ag_view_of(ctx, ag_alias_same(t), t, AG_NODE_Alias, NULL, 0);
		else
			out = ag_retain(s.t);
	}
	ag_scope_close(ctx, mark);
	return out;
}

bool bw_Alias(struct ag_bw *b)
{
	B_SET(0, B_GRAD);
	return true;
}

static struct ag_tensor *value_tensor(struct ag_ctx *ctx, struct ag_tensor *t,
                                      const struct ag_value *value)
{
	if (value->kind == AG_TENSOR)
		return value->as.tensor;
	return scoped(ctx, ag_scalar(ctx, (enum ag_dtype)t->dtype, ag_value_float(value)));
}

/* The value without its leading dimensions of one. */
static struct ag_tensor *stripped(struct ag_ctx *ctx, struct ag_tensor *t, bool always)
{
	int lead = 0;

	while (t && lead < t->ndim && t->shape[lead] == 1)
		lead++;
	return !t || (!lead && !always) ? t : op_view(ctx, t, t->ndim - lead, t->shape + lead);
}

static bool copy_to(struct ag_ctx *ctx, struct ag_tensor *t, struct ag_tensor *value)
{
	struct ag_value v[2] = {ag_arg(t), ag_arg(value)};

	if (value && ag_same_shape(t, value))
		return op_copy_(ctx, t, value);
	if (value && !value->ndim)
		return op_inplace(ctx, AG_OP_fill, v, 2) != NULL;
	value = stripped(ctx, value, true);
	if (value && !ag_same_shape(t, value))
		value = op_expand(ctx, value, t->ndim, t->shape);
	return op_copy_(ctx, t, value);
}

static bool is_number(const struct ag_value *v)
{
	return v->kind == AG_INT || v->kind == AG_FLOAT || v->kind == AG_BOOL;
}

bool ag_index_put(struct ag_ctx *ctx, struct ag_tensor *t, const struct ag_index *index,
                  uint32_t count, const struct ag_value *value)
{
	size_t mark = ag_scope_open(ctx);
	struct ag_value list[MAX_INDICES], v[4];
	struct subscript s;
	bool good = false;

	if (value->kind == AG_TENSOR ? !value->as.tensor : !is_number(value))
		return ag_fail(ctx, AG_ERR_TYPE, "can't assign this to a tensor's elements");
	if (t && subscript_open(ctx, t, index, count, &s)) {
		v[0] = ag_arg(s.t);
		if (s.count) {
			struct ag_tensor *values = value_tensor(ctx, t, value);

			if (values && values->dtype != t->dtype)
				values = op_cast(ctx, values, (enum ag_dtype)t->dtype);
			v[1] = index_list(&s, list);
			values = stripped(ctx, values, false);
			v[2] = ag_arg(values);
			v[3] = ag_bool(false);
			good = values && op_inplace(ctx, AG_OP_index_put, v, 4);
		} else if (value->kind == AG_TENSOR) {
			good = copy_to(ctx, s.t, value->as.tensor);
		} else {
			v[1] = *value;
			good = op_inplace(ctx, AG_OP_fill, v, 2) != NULL;
		}
	}
	ag_scope_close(ctx, mark);
	return good;
}
