/*
 * The memory layout of pointwise results. PyTorch gives a result the dimension order of its
 * operands: dimensions are sorted by the operands' strides, the first operand that tells decides,
 * and what is broadcast does not count. A view or a copy of the result later depends on it.
 */
#include <string.h>

#include "runtime/op.h"

enum { MOST_OPERANDS = 4 };

struct layout {
	int64_t strides[MOST_OPERANDS][AG_MAX_DIMS];
	const int64_t *shape;
	int operands;
};

static void add_operand(struct layout *l, const struct ag_tensor *t, const struct ag_tensor *out)
{
	int shift = out->ndim - t->ndim, d;

	for (d = 0; d < out->ndim; d++) {
		bool spread = d < shift || (t->shape[d - shift] == 1 && out->shape[d] != 1);

		l->strides[l->operands][d] = spread ? 0 : t->strides[d - shift];
	}
	l->operands++;
}

/* Below 0: a is inside b already; above 0: they must change places; 0: nothing tells. */
static int compare_dims(const struct layout *l, int a, int b)
{
	int i;

	for (i = 0; i < l->operands; i++) {
		int64_t sa = l->strides[i][a], sb = l->strides[i][b];

		if (sa == 0 || sb == 0)
			continue;
		if (sa != sb)
			return sa < sb ? -1 : 1;
		if (l->shape[a] > l->shape[b])
			return 1;
	}
	return 0;
}

/* Dimensions from the innermost; an insertion sort, as not all pairs can be compared. */
static void sort_dims(const struct layout *l, int ndim, int *order)
{
	int i, at, k;

	for (i = 0; i < ndim; i++)
		order[i] = ndim - 1 - i;
	for (i = 1; i < ndim; i++) {
		at = i;
		for (k = i - 1; k >= 0; k--) {
			int told = compare_dims(l, order[k], order[at]), moved;

			if (told < 0)
				break;
			if (told == 0)
				continue;
			moved = order[k];
			order[k] = order[at];
			order[at] = moved;
			at = k;
		}
	}
}

void ag_layout(struct ag_tensor *out, struct ag_tensor *const *in, int nin)
{
	struct layout l = {.shape = out->shape};
	int order[AG_MAX_DIMS], i;
	int64_t stride = 1;

	for (i = 0; i < nin && l.operands < MOST_OPERANDS; i++) {
		if (in[i])
			add_operand(&l, in[i], out);
	}
	if (!out->numel || out->ndim < 2)
		return;
	sort_dims(&l, out->ndim, order);
	for (i = 0; i < out->ndim; i++) {
		out->strides[order[i]] = stride;
		stride *= out->shape[order[i]];
	}
}

struct ag_tensor *ag_result_like(struct ag_frame *f, enum ag_dtype dtype, int ndim,
                                 const int64_t *shape, bool record, struct ag_tensor *const *in,
                                 int nin)
{
	struct ag_tensor *out = ag_result(f, dtype, ndim, shape, record);

	if (out && !f->inplace)
		ag_layout(out, in, nin);
	return out;
}
