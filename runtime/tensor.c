/* Tensors: shape and strides over a counted storage, and their autograd fields. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/core.h"
#include "runtime/element.h"

int64_t ag_count(int ndim, const int64_t *shape)
{
	int64_t count = 1;
	int i;

	for (i = 0; i < ndim; i++)
		count = ag_times(count, shape[i]);
	return count;
}

void ag_contiguous_strides(int ndim, const int64_t *shape, int64_t *strides)
{
	int64_t step = 1;
	int i;

	for (i = ndim - 1; i >= 0; i--) {
		strides[i] = step;
		step *= shape[i] > 1 ? shape[i] : 1;
	}
}

void ag_set_shape(struct ag_tensor *t, int ndim, const int64_t *shape, const int64_t *strides)
{
	size_t bytes = (size_t)ndim * sizeof(*shape);

	t->ndim = (uint8_t)ndim;
	if (ndim > 0)
		memmove(t->shape, shape, bytes);
	if (ndim > 0 && strides)
		memmove(t->strides, strides, bytes);
	else
		ag_contiguous_strides(ndim, shape, t->strides);
	t->numel = ag_count(ndim, shape);
}

static struct ag_tensor *tensor_raw(struct ag_ctx *ctx)
{
	struct ag_tensor *t = ag_block_new(ctx, sizeof(*t));

	t->ctx = ctx;
	t->refs = 1;
	t->id = ++ctx->next_id;
	t->inference = ctx->mode.inference;
	t->next = &ctx->tensors;
	t->prev = ctx->tensors.prev;
	t->prev->next = t->next->prev = t;
	ctx->memory.tensors++;
	return t;
}

bool ag_check_shape(struct ag_ctx *ctx, int ndim, const int64_t *shape)
{
	int64_t count = 1;
	int i;
	char text[128];

	if (ndim > AG_MAX_DIMS)
		return ag_fail(ctx, AG_ERR_RUNTIME,
		               "tensors of more than %d dimensions are not supported", AG_MAX_DIMS);
	for (i = 0; i < ndim; i++) {
		if (shape[i] < 0)
			return ag_fail(ctx, AG_ERR_RUNTIME,
			               "Trying to create tensor with negative dimension %lld: %s",
			               (long long)shape[i],
			               ag_shape_text(ndim, shape, text, sizeof(text)));
		/* Strides must fit even where a size is zero. */
		count = ag_times(count, shape[i] ? shape[i] : 1);
		if (count > AG_MOST_ELEMENTS)
			return ag_fail(ctx, AG_ERR_RUNTIME,
			               "Storage size calculation overflowed with sizes=%s",
			               ag_shape_text(ndim, shape, text, sizeof(text)));
	}
	return true;
}

struct ag_tensor *ag_make(struct ag_ctx *ctx, enum ag_dtype dtype, int ndim, const int64_t *shape,
                          bool with_data)
{
	struct ag_storage *s;
	struct ag_tensor *t;

	if (!ag_check_shape(ctx, ndim, shape))
		return NULL;
	s = ag_storage_new(ctx, (uint64_t)ag_count(ndim, shape) * ag_dtype_size(dtype), with_data);
	if (!s)
		return NULL;
	t = tensor_raw(ctx);
	t->storage = s;
	t->dtype = (uint8_t)dtype;
	ctx->has_complex |= dtype >= AG_C64;
	ag_set_shape(t, ndim, shape, NULL);
	return t;
}

struct ag_tensor *ag_tensor_new(struct ag_ctx *ctx, enum ag_dtype dtype, int ndim,
                                const int64_t *shape, const void *data)
{
	struct ag_tensor *t;

	if (ndim < 0 || dtype >= AG_DTYPE_COUNT)
		return ag_null(ctx, AG_ERR_VALUE, "invalid shape or dtype");
	t = ag_make(ctx, dtype, ndim, shape, data != NULL);
	if (t)
		ag_storage_set_kind(t->storage, AG_KIND_DATA);
	if (t && data && t->storage->data)
		memcpy(t->storage->data, data, t->storage->bytes);
	return t;
}

struct ag_tensor *ag_from_floats(struct ag_ctx *ctx, int ndim, const int64_t *shape,
                                 const float *data)
{
	return ag_tensor_new(ctx, AG_F32, ndim, shape, data);
}

struct ag_tensor *ag_alias(struct ag_tensor *t, int ndim, const int64_t *shape,
                           const int64_t *strides, int64_t offset)
{
	struct ag_tensor *v;
	int d;

	if (!ag_check_shape(t->ctx, ndim, shape))
		return NULL;
	v = tensor_raw(t->ctx);
	v->storage = ag_storage_retain(t->storage);
	v->own_version = t->own_version;
	if (v->own_version)
		v->own_version->refs++;
	v->dtype = t->dtype;
	v->inference = t->inference;
	v->wrapped_number = t->wrapped_number;
	v->offset = ag_within(offset);
	ag_set_shape(v, ndim, shape, strides);
	/* What no step along a dimension uses may be of any size. */
	for (d = 0; d < ndim; d++)
		v->strides[d] = ag_within(v->strides[d]);
	return v;
}

struct ag_tensor *ag_alias_same(struct ag_tensor *t)
{
	return ag_alias(t, t->ndim, t->shape, t->strides, t->offset);
}

struct ag_tensor *ag_retain(struct ag_tensor *t)
{
	if (t)
		t->refs++;
	return t;
}

void ag_release(struct ag_tensor *t)
{
	struct ag_ctx *ctx;

	if (!t || --t->refs)
		return;
	ctx = t->ctx;
	t->prev->next = t->next;
	t->next->prev = t->prev;
	ctx->memory.tensors--;
	t->next = ctx->dead_tensors;
	ctx->dead_tensors = t;
	ag_drain(ctx);
}

void ag_drop_version(struct ag_version *version)
{
	if (version && --version->refs == 0)
		free(version);
}

uint32_t ag_refs(const struct ag_tensor *t)
{
	return t->refs;
}

int ag_ndim(const struct ag_tensor *t)
{
	return t->ndim;
}

int64_t ag_size(const struct ag_tensor *t, int dim)
{
	if (dim < 0)
		dim += t->ndim;
	return dim >= 0 && dim < t->ndim ? t->shape[dim] : 0;
}

const int64_t *ag_shape(const struct ag_tensor *t)
{
	return t->shape;
}

const int64_t *ag_strides(const struct ag_tensor *t)
{
	return t->strides;
}

int64_t ag_offset(const struct ag_tensor *t)
{
	return t->offset;
}

int64_t ag_numel(const struct ag_tensor *t)
{
	return t->numel;
}

enum ag_dtype ag_dtype(const struct ag_tensor *t)
{
	return (enum ag_dtype)t->dtype;
}

enum ag_device ag_tensor_device(const struct ag_tensor *t)
{
	return (enum ag_device)t->storage->device;
}

bool ag_has_data(const struct ag_tensor *t)
{
	return t->storage->data && (uint64_t)t->numel <= t->storage->ctx->options.data_cap;
}

uint64_t ag_id(const struct ag_tensor *t)
{
	return t->id;
}

bool ag_is_contiguous(const struct ag_tensor *t)
{
	int64_t step = 1;
	int i;

	if (!t->numel)
		return true;
	for (i = t->ndim - 1; i >= 0; i--) {
		if (t->shape[i] == 1)
			continue;
		if (t->strides[i] != step)
			return false;
		step *= t->shape[i];
	}
	return true;
}

bool ag_is_dense(const struct ag_tensor *t)
{
	int order[AG_MAX_DIMS], n = 0, i, j;
	int64_t step = 1;

	if (ag_is_contiguous(t))
		return true;
	for (i = 0; i < t->ndim; i++) {
		if (t->shape[i] == 1)
			continue;
		for (j = n++; j > 0 && t->strides[order[j - 1]] > t->strides[i]; j--)
			order[j] = order[j - 1];
		order[j] = i;
	}
	for (i = 0; i < n; i++) {
		if (t->strides[order[i]] != step)
			return false;
		step *= t->shape[order[i]];
	}
	return true;
}

bool ag_shape_is(const struct ag_tensor *t, int ndim, const int64_t *shape)
{
	return t->ndim == ndim &&
	       (!ndim || !memcmp(t->shape, shape, (size_t)ndim * sizeof(*shape)));
}

bool ag_same_shape(const struct ag_tensor *a, const struct ag_tensor *b)
{
	return ag_shape_is(a, b->ndim, b->shape);
}

uint32_t ag_version(const struct ag_tensor *t)
{
	return t->own_version ? t->own_version->n : t->storage->version;
}

void ag_bump(struct ag_tensor *t)
{
	if (t->own_version)
		t->own_version->n++;
	else
		t->storage->version++;
}

struct ag_storage *ag_storage_of(const struct ag_tensor *t)
{
	return t->storage;
}

int ag_dim_of(struct ag_ctx *ctx, int64_t dim, int ndim)
{
	int64_t n = ndim ? ndim : 1;

	if (dim < -n || dim >= n) {
		ag_fail(ctx, AG_ERR_INDEX,
		        "Dimension out of range (expected to be in range of [%lld, %lld], but got "
		        "%lld)",
		        (long long)-n, (long long)(n - 1), (long long)dim);
		return -1;
	}
	return (int)(dim < 0 ? dim + n : dim);
}

int ag_dim(struct ag_ctx *ctx, const struct ag_tensor *t, int64_t dim)
{
	return ag_dim_of(ctx, dim, t->ndim);
}

bool ag_broadcast(struct ag_ctx *ctx, const struct ag_tensor *a, const struct ag_tensor *b,
                  int *ndim, int64_t *shape)
{
	int n = a->ndim > b->ndim ? a->ndim : b->ndim, i;

	for (i = 0; i < n; i++) {
		int ia = i - (n - a->ndim), ib = i - (n - b->ndim);
		int64_t sa = ia >= 0 ? a->shape[ia] : 1, sb = ib >= 0 ? b->shape[ib] : 1;

		if (sa != sb && sa != 1 && sb != 1)
			return ag_fail(ctx, AG_ERR_RUNTIME,
			               "The size of tensor a (%lld) must match the size of tensor "
			               "b (%lld) at non-singleton dimension %d",
			               (long long)sa, (long long)sb, i);
		shape[i] = sa == 1 ? sb : sa;
	}
	*ndim = n;
	return ag_check_shape(ctx, n, shape);
}

const char *ag_shape_text(int ndim, const int64_t *shape, char *out, size_t size)
{
	size_t used = 0;
	int i;

	used += (size_t)snprintf(out, size, "[");
	for (i = 0; i < ndim && used < size; i++)
		used += (size_t)snprintf(out + used, size - used, "%s%lld", i ? ", " : "",
		                         (long long)shape[i]);
	if (used < size)
		snprintf(out + used, size - used, "]");
	return out;
}

struct ag_tensor *ag_scalar(struct ag_ctx *ctx, enum ag_dtype dtype, double value)
{
	struct ag_tensor *t = ag_make(ctx, dtype, 0, NULL, true);

	if (t && t->storage->data)
		ag_store_double(dtype, t->storage->data, 0, value);
	return t;
}

struct ag_tensor *ag_wrapped(struct ag_ctx *ctx, const struct ag_value *number)
{
	enum ag_device device = ctx->default_device;
	struct ag_tensor *t;

	ctx->default_device = AG_CPU;
	if (number->kind == AG_FLOAT) {
		t = ag_scalar(ctx, AG_F64, number->as.f);
	} else if (number->kind == AG_BOOL) {
		t = ag_scalar(ctx, AG_BOOL8, number->as.b);
	} else {
		t = ag_make(ctx, AG_I64, 0, NULL, true);
		if (t && t->storage->data)
			memcpy(t->storage->data, &number->as.i, sizeof(int64_t));
	}
	ctx->default_device = device;
	if (t)
		t->wrapped_number = true;
	return t;
}

bool ag_item(struct ag_ctx *ctx, const struct ag_tensor *t, double *value)
{
	if (!t)
		return false;
	if (t->numel != 1)
		return ag_fail(ctx, AG_ERR_RUNTIME,
		               "a Tensor with %lld elements cannot be converted to Scalar",
		               (long long)t->numel);
	if (!t->storage->data)
		return ag_fail(ctx, AG_ERR_NO_DATA, "the value of this tensor is not known");
	*value = ag_load_double((enum ag_dtype)t->dtype, t->storage->data, t->offset);
	return true;
}

bool ag_item_int(struct ag_ctx *ctx, const struct ag_tensor *t, int64_t *value)
{
	double d;

	if (!ag_item(ctx, t, &d))
		return false;
	*value = ag_load_int((enum ag_dtype)t->dtype, t->storage->data, t->offset);
	return true;
}

bool ag_read(struct ag_ctx *ctx, const struct ag_tensor *t, double *out, int64_t count)
{
	int64_t index[AG_MAX_DIMS] = {0}, at, i;

	if (!t || count != t->numel)
		return ag_fail(ctx, AG_ERR_VALUE, "%lld numbers asked of a tensor of another size",
		               (long long)count);
	if (!t->storage->data && count)
		return ag_fail(ctx, AG_ERR_NO_DATA, "the value of this tensor is not known");
	for (i = 0, at = t->offset; i < count; i++) {
		out[i] = ag_load_double((enum ag_dtype)t->dtype, t->storage->data, at);
		at += ag_step(t, index);
	}
	return true;
}

bool ag_write(struct ag_ctx *ctx, struct ag_tensor *t, const double *in, int64_t count)
{
	int64_t index[AG_MAX_DIMS] = {0}, at, i;

	if (!t || count != t->numel)
		return ag_fail(ctx, AG_ERR_VALUE, "%lld numbers given to a tensor of another size",
		               (long long)count);
	if (!t->storage->data && !ctx->meta && count &&
	    (uint64_t)count * ag_dtype_size((enum ag_dtype)t->dtype) == t->storage->bytes &&
	    t->storage->bytes <= ctx->options.data_cap)
		t->storage->data = ag_alloc(t->storage->bytes, 1);
	if (!t->storage->data)
		return true;
	for (i = 0, at = t->offset; i < count; i++) {
		ag_store_double((enum ag_dtype)t->dtype, t->storage->data, at, in[i]);
		at += ag_step(t, index);
	}
	return true;
}

void ag_each_tensor(struct ag_ctx *ctx, ag_tensor_fn *fn, void *data)
{
	struct ag_tensor *t = ctx->tensors.next;

	while (t != &ctx->tensors && fn(data, t))
		t = t->next;
}
