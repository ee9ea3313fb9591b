/* Tensors from nested lists of numbers, and tensors as text. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/element.h"
#include "runtime/op.h"

/* What a nested list says about shape and dtype, found in one walk. */
struct literal {
	struct ag_ctx *ctx;
	int ndim; /* -1 until the first number */
	int64_t shape[AG_MAX_DIMS];
	bool any_float, any_int, any_bool, any_tensor, unknown;
	enum ag_dtype tensor_dtype;
	double *values;
	int64_t *ints;
	size_t count, capacity;
};

static void push(struct literal *l, double value, int64_t whole)
{
	if (l->count == l->capacity) {
		l->capacity = l->capacity ? 2 * l->capacity : 16;
		l->values = ag_grow(l->values, l->capacity, sizeof(*l->values));
		l->ints = ag_grow(l->ints, l->capacity, sizeof(*l->ints));
	}
	l->values[l->count] = value;
	l->ints[l->count++] = whole;
}

static bool take_number(struct literal *l, const struct ag_value *v, int depth)
{
	if (l->ndim < 0)
		l->ndim = depth;
	if (depth != l->ndim)
		return ag_fail(l->ctx, AG_ERR_VALUE, "expected sequence of equal length at dim %d",
		               depth);
	l->any_float |= v->kind == AG_FLOAT;
	l->any_int |= v->kind == AG_INT;
	l->any_bool |= v->kind == AG_BOOL;
	push(l, ag_value_float(v), v->kind == AG_FLOAT ? 0 : ag_value_int(v));
	return true;
}

static bool take_tensor(struct literal *l, const struct ag_tensor *t, int depth)
{
	double value = 0;
	int64_t whole = 0;

	if (l->ndim < 0)
		l->ndim = depth;
	if (t->numel != 1 || depth != l->ndim)
		return ag_fail(l->ctx, AG_ERR_VALUE,
		               "only one element tensors can be converted to Python scalars");
	l->tensor_dtype = l->any_tensor ? ag_promote(l->tensor_dtype, (enum ag_dtype)t->dtype)
	                                : (enum ag_dtype)t->dtype;
	l->any_tensor = true;
	if (!t->storage->data) {
		l->unknown = true;
	} else {
		value = ag_load_double((enum ag_dtype)t->dtype, t->storage->data, t->offset);
		whole = ag_load_int((enum ag_dtype)t->dtype, t->storage->data, t->offset);
	}
	push(l, value, whole);
	return true;
}

/* Depth is bounded by the number of dimensions a tensor may have. */
static bool take_value(struct literal *l, const struct ag_value *v, int depth)
{
	uint32_t i;

	if (v->kind == AG_TENSOR && v->as.tensor)
		return take_tensor(l, v->as.tensor, depth);
	if (v->kind == AG_BOOL || v->kind == AG_INT || v->kind == AG_FLOAT)
		return take_number(l, v, depth);
	if (v->kind != AG_LIST)
		return ag_fail(l->ctx, AG_ERR_TYPE, "new(): invalid data type");
	if (depth == AG_MAX_DIMS)
		return ag_fail(l->ctx, AG_ERR_VALUE, "too many dimensions");
	if (l->ndim < 0 || depth < l->ndim) {
		if (l->shape[depth] < 0)
			l->shape[depth] = v->count;
		if (l->shape[depth] != v->count)
			return ag_fail(l->ctx, AG_ERR_VALUE,
			               "expected sequence of length %lld at dim %d (got %u)",
			               (long long)l->shape[depth], depth, v->count);
	}
	if (!v->count && l->ndim < 0)
		l->ndim = depth + 1;
	for (i = 0; i < v->count; i++) {
		if (!take_value(l, &v->as.list[i], depth + 1))
			return false;
	}
	return true;
}

static enum ag_dtype literal_dtype(const struct literal *l)
{
	enum ag_dtype dtype = l->any_float  ? l->ctx->default_dtype
	                      : l->any_int  ? AG_I64
	                      : l->any_bool ? AG_BOOL8
	                                    : l->ctx->default_dtype;

	if (!l->any_tensor)
		return dtype;
	return l->any_float || l->any_int || l->any_bool ? ag_promote(dtype, l->tensor_dtype)
	                                                 : l->tensor_dtype;
}

struct ag_tensor *ag_tensor_of(struct ag_ctx *ctx, const struct ag_value *data,
                               const enum ag_dtype *dtype, bool requires_grad)
{
	struct literal l = {.ctx = ctx, .ndim = -1};
	struct ag_tensor *t = NULL;
	enum ag_dtype type;
	int d;

	if (dtype && *dtype >= AG_DTYPE_COUNT)
		return ag_null(ctx, AG_ERR_TYPE, "no such dtype");
	for (d = 0; d < AG_MAX_DIMS; d++)
		l.shape[d] = -1;
	if (take_value(&l, data, 0)) {
		type = dtype ? *dtype : literal_dtype(&l);
		t = ag_make(ctx, type, l.ndim < 0 ? 0 : l.ndim, l.shape, !l.unknown);
		if (t)
			ag_storage_set_kind(t->storage, AG_KIND_DATA);
		if (t && ag_dtype_is_float(type) && l.count)
			ag_put_plain(t, l.values);
		else if (t && l.count && l.any_float)
			ag_put_plain(t, l.values);
		else if (t && l.count)
			ag_put_ints(t, l.ints);
	}
	free(l.values);
	free(l.ints);
	if (t && requires_grad && !ag_set_requires_grad(ctx, t, true)) {
		ag_release(t);
		return NULL;
	}
	return t;
}

/* data, dtype: a tensor as data is copied without its graph */
bool op_run_tensor(struct ag_frame *f)
{
	enum ag_dtype dtype = f->v[1].kind == AG_DTYPE ? f->v[1].as.dtype : AG_F32;
	struct ag_grad_mode mode;
	struct ag_tensor *t;

	if (f->v[0].kind != AG_TENSOR)
		return ag_give(f, ag_tensor_of(f->ctx, &f->v[0],
		                               f->v[1].kind == AG_DTYPE ? &dtype : NULL, false));
	mode = ag_no_grad(f->ctx);
	t = op_clone(f->ctx, f->v[0].as.tensor);
	if (t && f->v[1].kind == AG_DTYPE)
		t = op_cast(f->ctx, t, dtype);
	ag_set_grad_mode(f->ctx, mode);
	if (t)
		ag_storage_set_kind(t->storage, AG_KIND_DATA);
	return ag_give_ref(f, t);
}

bool op_run_as_tensor(struct ag_frame *f)
{
	if (f->v[0].kind != AG_TENSOR)
		return op_run_tensor(f);
	return ag_give_ref(f, f->v[1].kind == AG_DTYPE
	                              ? op_cast(f->ctx, f->v[0].as.tensor, f->v[1].as.dtype)
	                              : f->v[0].as.tensor);
}

/* ---- text */

struct text {
	char *out;
	size_t size, used;
};

static void say_word(struct text *t, const char *word)
{
	for (; *word; word++, t->used++) {
		if (t->used + 1 < t->size)
			t->out[t->used] = *word;
	}
}

struct style {
	bool whole, science;
	int width;
};

static void say_number(struct text *t, const struct style *s, enum ag_dtype dtype, double x,
                       bool pad)
{
	char piece[64];
	int n;

	if (dtype == AG_BOOL8)
		snprintf(piece, sizeof(piece), "%s", x != 0 ? "True" : "False");
	else if (!ag_dtype_is_float(dtype))
		snprintf(piece, sizeof(piece), "%.0f", x);
	else if (isnan(x) || isinf(x))
		snprintf(piece, sizeof(piece), isnan(x) ? "nan" : x > 0 ? "inf" : "-inf");
	else
		snprintf(piece, sizeof(piece),
		         s->science ? "%.4e"
		         : s->whole ? "%.0f."
		                    : "%.4f",
		         x);
	for (n = (int)strlen(piece); pad && n < s->width; n++)
		say_word(t, " ");
	say_word(t, piece);
}

/* Whole numbers print as "1.", very large or small ones in science notation. */
static struct style style_of(const struct ag_tensor *a, const double *x)
{
	struct style s = {true, false, 0};
	double top = 0, low = INFINITY;
	char piece[64] = "";
	struct text measure = {piece, sizeof(piece), 0};
	int64_t i;

	for (i = 0; i < a->numel; i++) {
		double y = fabs(x[i]);

		if (!isfinite(y))
			continue;
		s.whole = s.whole && x[i] == nearbyint(x[i]);
		top = y > top ? y : top;
		low = y > 0 && y < low ? y : low;
	}
	s.science = ag_dtype_is_float((enum ag_dtype)a->dtype) &&
	            (top > 1e8 || (!s.whole && (low < 1e-4 || top / low > 1000)));
	for (i = 0; i < a->numel; i++) {
		measure.used = 0;
		say_number(&measure, &s, (enum ag_dtype)a->dtype, x[i], false);
		s.width = (int)measure.used > s.width ? (int)measure.used : s.width;
	}
	return s;
}

static void say_level(struct text *t, const struct ag_tensor *a, const double *x,
                      const struct style *s, int dim, int64_t *at)
{
	int64_t i;
	int k;

	if (dim == a->ndim) {
		say_number(t, s, (enum ag_dtype)a->dtype, x[(*at)++], a->ndim > 0);
		return;
	}
	say_word(t, "[");
	for (i = 0; i < a->shape[dim]; i++) {
		if (i && dim == a->ndim - 1)
			say_word(t, ", ");
		else if (i) {
			say_word(t, ",");
			for (k = dim; k < a->ndim - 1; k++)
				say_word(t, "\n");
			for (k = 0; k < 8 + dim; k++)
				say_word(t, " ");
		}
		say_level(t, a, x, s, dim + 1, at);
	}
	say_word(t, "]");
}

size_t ag_print(const struct ag_tensor *a, char *out, size_t size)
{
	struct text t = {out, size, 0};
	double *x = ag_plain(a);
	struct style style;
	int64_t at = 0;
	enum ag_dtype dtype = (enum ag_dtype)a->dtype;

	say_word(&t, "tensor(");
	if (x && a->numel) {
		style = style_of(a, x);
		say_level(&t, a, x, &style, 0, &at);
	} else {
		say_word(&t, a->numel ? "..." : "[]");
	}
	if (!a->numel && a->ndim != 1) {
		char shape[128];

		say_word(&t, ", size=(");
		ag_shape_text(a->ndim, a->shape, shape, sizeof(shape));
		shape[strlen(shape) - 1] = '\0';
		say_word(&t, shape + 1);
		say_word(&t, ")");
	}
	if (dtype != AG_F32 && dtype != AG_BOOL8 && (dtype != AG_I64 || !a->numel)) {
		say_word(&t, ", dtype=torch.");
		say_word(&t, ag_dtype_name(dtype));
	}
	if (a->grad_fn) {
		say_word(&t, ", grad_fn=<");
		say_word(&t, ag_node_name(a->grad_fn));
		say_word(&t, ">");
	} else if (a->requires_grad) {
		say_word(&t, ", requires_grad=True");
	}
	say_word(&t, ")");
	free(x);
	if (size)
		out[t.used < size ? t.used : size - 1] = '\0';
	return t.used;
}
