/*
 * Memory formats. A layout has its channels last when dimension 1 is innermost, then come the
 * others from the last on. A tensor has no format of its own: its strides suggest one, by the rule
 * of PyTorch's suggest_memory_format, and ops over images lay out their results by it.
 */
#include <string.h>

#include "runtime/op.h"

static const struct {
	const char *name;
	int ndim; /* that it is for; 0: any */
} formats[] = {
        [AG_CONTIGUOUS] = {"contiguous_format", 0},
        [AG_PRESERVE] = {"preserve_format", 0},
        [AG_CHANNELS_LAST] = {"channels_last", 4},
        [AG_CHANNELS_LAST_3D] = {"channels_last_3d", 5},
};

bool ag_format_find(const char *name, enum ag_format *format)
{
	size_t i;

	for (i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		if (!strcmp(name, formats[i].name)) {
			*format = (enum ag_format)i;
			return true;
		}
	}
	return false;
}

bool ag_format_fits(struct ag_ctx *ctx, enum ag_format format, int ndim)
{
	if (format > AG_CHANNELS_LAST_3D)
		return ag_fail(ctx, AG_ERR_TYPE, "no such memory format");
	return !formats[format].ndim || formats[format].ndim == ndim ||
	       ag_fail(ctx, AG_ERR_RUNTIME, "required rank %d tensor to use %s format",
	               formats[format].ndim, formats[format].name);
}

bool ag_format_arg(struct ag_frame *f, uint32_t i, int ndim, enum ag_format *format)
{
	char name[32] = "";

	if (arg_none(f, i))
		return true;
	if (f->v[i].kind == AG_TEXT && f->v[i].count < sizeof(name))
		memcpy(name, f->v[i].as.text, f->v[i].count);
	if (!ag_format_find(name, format))
		return ag_fail(f->ctx, AG_ERR_TYPE,
		               "%s(): argument 'memory_format' must be torch.memory_format",
		               ag_op_info(f->op)->id);
	return ag_format_fits(f->ctx, *format, ndim);
}

/* The i-th dimension from the innermost: 1, then from the last to 2, then 0. */
static int from_inside(int ndim, int i)
{
	if (i == 0)
		return 1;
	return i == ndim - 1 ? 0 : ndim - i;
}

static bool channels_are_last(int ndim, const int64_t *shape, const int64_t *strides)
{
	int64_t least = 0;
	int i;

	for (i = 0; i < ndim; i++) {
		int d = from_inside(ndim, i);

		if (!shape[d] || strides[d] < least || !strides[1])
			return false;
		if (d == 0 && least == strides[1])
			return false; /* N111: both layouts */
		least = strides[d] * shape[d];
	}
	return true;
}

enum ag_format ag_format_of(const struct ag_tensor *t)
{
	if (t->ndim != 4 && t->ndim != 5)
		return AG_CONTIGUOUS;
	if (!channels_are_last(t->ndim, t->shape, t->strides))
		return AG_CONTIGUOUS;
	return t->ndim == 4 ? AG_CHANNELS_LAST : AG_CHANNELS_LAST_3D;
}

bool ag_suggests_last(const struct ag_tensor *t)
{
	if (t->ndim == 3) { /* as the image of one row that PyTorch makes of it */
		int64_t shape[4] = {t->shape[0], t->shape[1], 1, t->shape[2]};
		int64_t strides[4] = {t->strides[0], t->strides[1], t->shape[2] * t->strides[2],
		                      t->strides[2]};

		return channels_are_last(4, shape, strides);
	}
	return ag_format_of(t) != AG_CONTIGUOUS;
}

void ag_put_channels_last(struct ag_tensor *fresh)
{
	int64_t stride = 1;
	int i;

	for (i = 0; i < fresh->ndim; i++) {
		int d = from_inside(fresh->ndim, i);

		fresh->strides[d] = stride;
		stride *= fresh->shape[d] > 1 ? fresh->shape[d] : 1;
	}
}

void ag_put_columns(struct ag_tensor *fresh)
{
	int n = fresh->ndim;

	if (n < 2 || !fresh->numel)
		return;
	fresh->strides[n - 2] = 1;
	fresh->strides[n - 1] = fresh->shape[n - 2];
}

void ag_lay_out(struct ag_tensor *fresh, enum ag_format format, struct ag_tensor *like)
{
	if (format == AG_PRESERVE && ag_is_dense(like))
		memcpy(fresh->strides, like->strides, sizeof(fresh->strides));
	else if (format == AG_PRESERVE)
		ag_layout(fresh, &like, 1);
	else if (format != AG_CONTIGUOUS)
		ag_put_channels_last(fresh);
}

struct ag_tensor *ag_make_image(struct ag_ctx *ctx, const struct ag_tensor *x, int ndim,
                                const int64_t *shape)
{
	struct ag_tensor *out = ag_make(ctx, (enum ag_dtype)x->dtype, ndim, shape, true);

	if (out && ndim == x->ndim && ag_format_of(x) != AG_CONTIGUOUS)
		ag_put_channels_last(out);
	return out;
}

bool ag_is_contiguous_in(const struct ag_tensor *t, enum ag_format format)
{
	int64_t step = 1;
	int i;

	if (format > AG_CHANNELS_LAST_3D || !formats[format].ndim)
		return ag_is_contiguous(t);
	if (t->ndim != formats[format].ndim)
		return false;
	for (i = 0; i < t->ndim; i++) {
		int d = from_inside(t->ndim, i);

		if (t->shape[d] == 1)
			continue;
		if (t->strides[d] != step)
			return false;
		step *= t->shape[d];
	}
	return true;
}
