/* Element loops over strided, broadcast tensors. */

#include <stdlib.h>
#include <string.h>

#include "runtime/element.h"
#include "runtime/kernel.h"

struct walk {
	int ndim;
	int nin;
	int64_t shape[AG_MAX_DIMS];
	int64_t strides[AG_MAP_INPUTS + 1][AG_MAX_DIMS]; /* the result's come last */
	int64_t at[AG_MAP_INPUTS + 1];
};

bool ag_ready(struct ag_tensor *out, struct ag_tensor *const *in, int nin)
{
	int64_t most = out->numel;
	bool ready = true;
	int i;

	if (!out->numel)
		return false;

	/* Numbers are real here: of complex ones there are copies, and nothing is computed. */
	for (i = 0; i < nin; i++) {
		ready = ready &&
		        (!in[i] || ((ag_has_data(in[i]) || !in[i]->numel) &&
		                    (in[i]->dtype < AG_C64 || in[i]->dtype == out->dtype)));
		most = in[i] && in[i]->numel > most ? in[i]->numel : most;
	}
	ready = ready && ag_has_data(out) && ag_work(out->storage->ctx, (double)most);
	if (!ready)
		ag_storage_drop_data(out->storage);
	return ready;
}

bool ag_drawable(struct ag_tensor *t)
{
	struct ag_ctx *ctx = t->storage->ctx;

	if (ctx->meta || !ag_has_data(t) || !ag_work(ctx, (double)t->numel * AG_WORK_OF_DRAW))
		ag_storage_drop_data(t->storage);
	return t->storage->data != NULL;
}

bool ag_ready1(struct ag_tensor *out, struct ag_tensor *a)
{
	return ag_ready(out, &a, 1);
}

bool ag_ready2(struct ag_tensor *out, struct ag_tensor *a, struct ag_tensor *b)
{
	struct ag_tensor *in[2] = {a, b};

	return ag_ready(out, in, 2);
}

static void broadcast_strides(const struct ag_tensor *t, const struct ag_tensor *out,
                              int64_t *strides)
{
	int d, shift = out->ndim - t->ndim;

	for (d = 0; d < out->ndim; d++) {
		bool real = d >= shift && t->shape[d - shift] != 1;

		strides[d] = real ? t->strides[d - shift] : 0;
	}
}

/* Joins dimension d with d + 1 when every operand steps evenly over both. */
static bool can_join(const struct walk *w, int d)
{
	int k;

	for (k = 0; k <= w->nin; k++) {
		if (w->strides[k][d] != w->strides[k][d + 1] * w->shape[d + 1])
			return false;
	}
	return true;
}

/* Whether an operand repeats to the result's shape. Whoever calls a kernel sees to that; what
 * came between (data set to another shape) ends here. */
static bool spreads(const struct ag_tensor *t, const struct ag_tensor *out)
{
	int d, shift = out->ndim - t->ndim;
	char a[128], b[128];

	for (d = 0; d < t->ndim; d++) {
		if (t->shape[d] == 1 || (d + shift >= 0 && t->shape[d] == out->shape[d + shift]))
			continue;
		ag_break(out->storage->ctx,
		         "an operand of shape %s does not broadcast to the shape %s",
		         ag_shape_text(t->ndim, t->shape, a, sizeof(a)),
		         ag_shape_text(out->ndim, out->shape, b, sizeof(b)));
		return false;
	}
	return true;
}

static bool walk_fits(const struct ag_tensor *out, struct ag_tensor *const *in, int nin)
{
	bool fits = true;
	int k;

	for (k = 0; k < nin && fits; k++)
		fits = in[k] == out || spreads(in[k], out);
	return fits;
}

static void walk_open(struct walk *w, struct ag_tensor *out, struct ag_tensor *const *in, int nin)
{
	int d, k;

	w->ndim = out->ndim;
	w->nin = nin;
	memcpy(w->shape, out->shape, sizeof(out->shape));
	for (k = 0; k < nin; k++) {
		broadcast_strides(in[k], out, w->strides[k]);
		w->at[k] = in[k]->offset;
	}
	memcpy(w->strides[nin], out->strides, sizeof(out->strides));
	w->at[nin] = out->offset;
	for (d = w->ndim - 2; d >= 0; d--) {
		if (!can_join(w, d))
			continue;
		w->shape[d] *= w->shape[d + 1];
		for (k = 0; k <= nin; k++) {
			w->strides[k][d] = w->strides[k][d + 1];
			memmove(&w->strides[k][d + 1], &w->strides[k][d + 2],
			        (size_t)(w->ndim - d - 2) * sizeof(int64_t));
		}
		memmove(&w->shape[d + 1], &w->shape[d + 2],
		        (size_t)(w->ndim - d - 2) * sizeof(int64_t));
		w->ndim--;
	}
	if (w->ndim == 0) {
		w->ndim = 1;
		w->shape[0] = 1;
		for (k = 0; k <= nin; k++)
			w->strides[k][0] = 0;
	}
}

/* To the next row; false after the last. */
static bool walk_next(struct walk *w, int64_t *index)
{
	int d, k;

	for (d = w->ndim - 2; d >= 0; d--) {
		for (k = 0; k <= w->nin; k++)
			w->at[k] += w->strides[k][d];
		if (++index[d] < w->shape[d])
			return true;
		index[d] = 0;
		for (k = 0; k <= w->nin; k++)
			w->at[k] -= w->strides[k][d] * w->shape[d];
	}
	return false;
}

static void map_row(const struct walk *w, struct ag_tensor *out, struct ag_tensor *const *in,
                    ag_map_fn *fn, const double *p)
{
	double buffers[AG_MAP_INPUTS + 1][AG_CHUNK];
	const double *args[AG_MAP_INPUTS];
	int64_t row = w->shape[w->ndim - 1], i;
	int k, last = w->ndim - 1;

	for (k = 0; k < w->nin; k++)
		args[k] = buffers[k];
	for (i = 0; i < row; i += AG_CHUNK) {
		int64_t n = row - i < AG_CHUNK ? row - i : AG_CHUNK;

		for (k = 0; k < w->nin; k++)
			ag_load_row((enum ag_dtype)in[k]->dtype, in[k]->storage->data,
			            w->at[k] + i * w->strides[k][last], w->strides[k][last], n,
			            buffers[k]);
		fn(n, buffers[AG_MAP_INPUTS], args, p);
		ag_store_row((enum ag_dtype)out->dtype, out->storage->data,
		             w->at[w->nin] + i * w->strides[w->nin][last], w->strides[w->nin][last],
		             n, buffers[AG_MAP_INPUTS]);
	}
}

static void imap_row(const struct walk *w, struct ag_tensor *out, struct ag_tensor *const *in,
                     ag_imap_fn *fn, const double *p)
{
	int64_t buffers[AG_MAP_INPUTS + 1][AG_CHUNK];
	const int64_t *args[AG_MAP_INPUTS];
	int64_t row = w->shape[w->ndim - 1], i;
	int k, last = w->ndim - 1;

	for (k = 0; k < w->nin; k++)
		args[k] = buffers[k];
	for (i = 0; i < row; i += AG_CHUNK) {
		int64_t n = row - i < AG_CHUNK ? row - i : AG_CHUNK;

		for (k = 0; k < w->nin; k++)
			ag_load_ints((enum ag_dtype)in[k]->dtype, in[k]->storage->data,
			             w->at[k] + i * w->strides[k][last], w->strides[k][last], n,
			             buffers[k]);
		fn(n, buffers[AG_MAP_INPUTS], args, p);
		ag_store_ints((enum ag_dtype)out->dtype, out->storage->data,
		              w->at[w->nin] + i * w->strides[w->nin][last],
		              w->strides[w->nin][last], n, buffers[AG_MAP_INPUTS]);
	}
}

void ag_map(struct ag_tensor *out, struct ag_tensor *const *in, int nin, ag_map_fn *fn,
            const double *p)
{
	int64_t index[AG_MAX_DIMS] = {0};
	struct walk w;

	if (!ag_ready(out, in, nin) || !out->numel || !walk_fits(out, in, nin))
		return;
	walk_open(&w, out, in, nin);
	do {
		map_row(&w, out, in, fn, p);
	} while (walk_next(&w, index));
}

void ag_imap(struct ag_tensor *out, struct ag_tensor *const *in, int nin, ag_imap_fn *fn,
             const double *p)
{
	int64_t index[AG_MAX_DIMS] = {0};
	struct walk w;

	if (!ag_ready(out, in, nin) || !out->numel || !walk_fits(out, in, nin))
		return;
	walk_open(&w, out, in, nin);
	do {
		imap_row(&w, out, in, fn, p);
	} while (walk_next(&w, index));
}

static void copy_doubles(int64_t n, double *out, const double *const *in, const double *p)
{
	(void)p;
	memcpy(out, in[0], (size_t)n * sizeof(*out));
}

static void copy_ints(int64_t n, int64_t *out, const int64_t *const *in, const double *p)
{
	(void)p;
	memcpy(out, in[0], (size_t)n * sizeof(*out));
}

/* Complex elements have two parts; same dtype only. */
static void copy_complex(struct ag_tensor *out, struct ag_tensor *src)
{
	size_t size = ag_dtype_size((enum ag_dtype)out->dtype);
	int64_t strides[AG_MAX_DIMS], index[AG_MAX_DIMS] = {0}, i, from, to = out->offset;
	int d;

	broadcast_strides(src, out, strides);
	for (i = 0; i < out->numel; i++) {
		for (d = 0, from = src->offset; d < out->ndim; d++)
			from += index[d] * strides[d];
		memcpy((char *)out->storage->data + (size_t)to * size,
		       (const char *)src->storage->data + (size_t)from * size, size);
		to += ag_step(out, index);
	}
}

void ag_copy_data(struct ag_tensor *out, struct ag_tensor *src)
{
	if (!ag_ready1(out, src) || !out->numel)
		return;
	if (out->dtype == src->dtype && out->numel == src->numel && ag_is_contiguous(out) &&
	    ag_is_contiguous(src)) {
		size_t size = ag_dtype_size((enum ag_dtype)out->dtype);

		memmove((char *)out->storage->data + (size_t)out->offset * size,
		        (const char *)src->storage->data + (size_t)src->offset * size,
		        (size_t)out->numel * size);
	} else if (ag_category((enum ag_dtype)out->dtype) == 3 && out->dtype == src->dtype) {
		if (walk_fits(out, &src, 1))
			copy_complex(out, src);
	} else if (ag_dtype_is_float((enum ag_dtype)out->dtype) ||
	           ag_dtype_is_float((enum ag_dtype)src->dtype)) {
		ag_map(out, &src, 1, copy_doubles, NULL);
	} else {
		ag_imap(out, &src, 1, copy_ints, NULL);
	}
}

static void fill(int64_t n, double *out, const double *const *in, const double *p)
{
	int64_t i;

	(void)in;
	for (i = 0; i < n; i++)
		out[i] = *p;
}

void ag_fill_data(struct ag_tensor *out, double value)
{
	ag_map(out, NULL, 0, fill, &value);
}

double *ag_plain(const struct ag_tensor *t)
{
	double *out;
	int64_t index[AG_MAX_DIMS] = {0}, at = t->offset, i, row;

	if (t->numel && !ag_has_data(t))
		return NULL;
	out = ag_alloc((size_t)t->numel + 1, sizeof(*out));
	if (ag_is_contiguous(t)) {
		ag_load_row((enum ag_dtype)t->dtype, t->storage->data, at, 1, t->numel, out);
		return out;
	}
	row = t->shape[t->ndim - 1];
	for (i = 0; i < t->numel; i += row) {
		ag_load_row((enum ag_dtype)t->dtype, t->storage->data, at, t->strides[t->ndim - 1],
		            row, out + i);
		index[t->ndim - 1] = row - 1;
		at += t->strides[t->ndim - 1] * (row - 1) + ag_step(t, index);
	}
	return out;
}

int64_t *ag_plain_ints(const struct ag_tensor *t)
{
	int64_t *out, index[AG_MAX_DIMS] = {0}, at = t->offset, i;

	if (t->numel && !ag_has_data(t))
		return NULL;
	out = ag_alloc((size_t)t->numel + 1, sizeof(*out));
	for (i = 0; i < t->numel; i++) {
		out[i] = ag_load_int((enum ag_dtype)t->dtype, t->storage->data, at);
		at += ag_step(t, index);
	}
	return out;
}

void ag_put_plain(struct ag_tensor *t, const double *values)
{
	int64_t index[AG_MAX_DIMS] = {0}, at = t->offset, i;

	if (!t->storage->data)
		return;
	if (ag_is_contiguous(t)) {
		ag_store_row((enum ag_dtype)t->dtype, t->storage->data, at, 1, t->numel, values);
		return;
	}
	for (i = 0; i < t->numel; i++) {
		ag_store_double((enum ag_dtype)t->dtype, t->storage->data, at, values[i]);
		at += ag_step(t, index);
	}
}

void ag_put_ints(struct ag_tensor *t, const int64_t *values)
{
	int64_t index[AG_MAX_DIMS] = {0}, at = t->offset, i;

	if (!t->storage->data)
		return;
	for (i = 0; i < t->numel; i++) {
		ag_store_int((enum ag_dtype)t->dtype, t->storage->data, at, values[i]);
		at += ag_step(t, index);
	}
}
