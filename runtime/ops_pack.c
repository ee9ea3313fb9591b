/* torch._VF._pack_padded_sequence: the sequences of a batch, step after step, without the padding.
 */

#include <stdlib.h>
#include <string.h>

#include "runtime/element.h"
#include "runtime/op.h"
#include "runtime/shape.h"

/* How many sequences each step has; NULL when the lengths do not fall. */
static int64_t *sizes_of_steps(const int64_t *lengths, int64_t count)
{
	int64_t *sizes, i, t;

	if (lengths[0] < 1)
		return NULL;
	sizes = ag_alloc((size_t)lengths[0] + 1, sizeof(*sizes));
	for (i = 0; i < count; i++) {
		if (lengths[i] < 1 || (i && lengths[i] > lengths[i - 1])) {
			free(sizes);
			return NULL;
		}
		for (t = 0; t < lengths[i]; t++)
			sizes[t]++;
	}
	return sizes;
}

static bool lengths_fit(struct ag_frame *f, const struct ag_tensor *x,
                        const struct ag_tensor *lengths, const int64_t *at)
{
	bool batch_first = arg_b(f, 2);

	if (x->ndim < 2 || lengths->ndim != 1 || lengths->dtype != AG_I64 || !x->numel ||
	    lengths->numel != x->shape[batch_first ? 0 : 1])
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "Expected `len(lengths)` to be equal to batch_size");
	/* Of more steps than there is ever data no sizes are made. */
	if (!at || (uint64_t)ag_within(at[0]) > f->ctx->options.data_cap)
		return ag_fail(f->ctx, AG_ERR_NO_DATA,
		               "pack_padded_sequence needs values that are not known");
	if (at[0] > x->shape[batch_first ? 1 : 0])
		return ag_fail(f->ctx, AG_ERR_RUNTIME, "Expected lengths of at most %lld, got %lld",
		               (long long)x->shape[batch_first ? 1 : 0], (long long)at[0]);
	return true;
}

/* The steps of `x` [T, B, ...], cut to their sizes, one after the other. */
static struct ag_tensor *cut(struct ag_ctx *ctx, struct ag_tensor *x, const int64_t *sizes,
                             int64_t steps, int64_t rows)
{
	int64_t shape[AG_MAX_DIMS], inner = x->numel / (x->shape[0] * x->shape[1]), t, at = 0;
	struct ag_tensor *out;
	double *from, *to;

	shape[0] = rows;
	memcpy(shape + 1, x->shape + 2, (size_t)(x->ndim - 2) * sizeof(*shape));
	out = ag_make(ctx, (enum ag_dtype)x->dtype, x->ndim - 1, shape, ag_has_data(x));
	from = ag_plain(x);
	if (out && from) {
		to = ag_alloc((size_t)out->numel + 1, sizeof(*to));
		for (t = 0; t < steps; at += sizes[t++] * inner)
			memcpy(to + at, from + t * x->shape[1] * inner,
			       (size_t)(sizes[t] * inner) * sizeof(*to));
		ag_put_plain(out, to);
		free(to);
	}
	free(from);
	return out;
}

static bool pack(struct ag_frame *f, struct ag_tensor *x, const int64_t *sizes, int64_t steps)
{
	struct ag_tensor *first = arg_t(f, 0), *out, *batch_sizes;
	int64_t rows = 0, t;
	struct ag_node *node;
	int d;

	for (t = 0; t < steps; t++)
		rows += sizes[t];
	batch_sizes = scoped(f->ctx, ag_make(f->ctx, AG_I64, 1, &steps, true));
	out = x && batch_sizes ? cut(f->ctx, x, sizes, steps, rows) : NULL;
	if (!out)
		return false;
	ag_put_ints(batch_sizes, sizes);
	node = ag_record1(f->ctx, AG_NODE_PackPadded, first, 1, (uint32_t)first->ndim + 1);
	if (node) {
		ag_save_input(node, 0, batch_sizes);
		node->ints[0] = arg_b(f, 2);
		for (d = 0; d < first->ndim; d++)
			node->ints[d + 1] = first->shape[d];
	}
	return ag_finish(f, out, node) && ag_give_ref(f, batch_sizes);
}

/* input, lengths, batch_first */
bool op_run_pack_padded(struct ag_frame *f)
{
	struct ag_tensor *x = arg_t(f, 0), *lengths = arg_t(f, 1);
	int64_t *at = ag_has_data(lengths) ? ag_plain_ints(lengths) : NULL, *sizes = NULL;
	bool ok = ag_no_complex(f->ctx, x) && lengths_fit(f, x, lengths, at);

	if (ok) {
		sizes = sizes_of_steps(at, lengths->numel);
		ok = sizes ? pack(f, arg_b(f, 2) ? scoped(f->ctx, ag_first_dims_swapped(x)) : x,
		                  sizes, at[0])
		           : ag_fail(f->ctx, AG_ERR_RUNTIME,
		                     "`lengths` array must be sorted in decreasing order when "
		                     "`enforce_sorted` is True. You can pass "
		                     "`enforce_sorted=False` "
		                     "to pack_padded_sequence and/or pack_sequence to sidestep "
		                     "this "
		                     "requirement if you do not need ONNX exportability.");
	}
	free(at);
	free(sizes);
	return ok;
}

bool bw_PackPadded(struct ag_bw *b)
{
	struct ag_ctx *c = b->ctx;
	struct ag_tensor *batch_sizes = B_SAVED(0), *out, *steps, *step;
	int64_t *sizes, shape[AG_MAX_DIMS], at = 0, t;
	int ndim = (int)b->node->nints - 1;

	if (!batch_sizes)
		return false;
	memcpy(shape, b->node->ints + 1, (size_t)ndim * sizeof(*shape));
	out = op_zeros(c, (enum ag_dtype)B_GRAD->dtype, ndim, shape);
	steps = b->node->ints[0] ? op_transpose(c, out, 0, 1) : out;
	sizes = ag_plain_ints(batch_sizes);
	for (t = 0; steps && sizes && t < batch_sizes->numel; at += sizes[t++]) {
		step = op_narrow(c, op_select(c, steps, 0, t), 0, 0, sizes[t]);
		if (!step || !op_copy_(c, step, op_narrow(c, B_GRAD, 0, at, sizes[t])))
			break;
	}
	free(sizes);
	B_SET(0, out);
	return true;
}
