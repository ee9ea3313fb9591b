/* Embedding: rows of a matrix by index. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/element.h"
#include "runtime/gather.h"
#include "runtime/op.h"

/* A row that is longer than allowed is shortened, once, however often it is asked for. */
static void shorten_row(double *row, int64_t width, double most, double norm_type)
{
	double norm = 0;
	int64_t k;

	for (k = 0; k < width; k++)
		norm = isinf(norm_type) ? fmax(norm, fabs(row[k]))
		                        : norm + pow(fabs(row[k]), norm_type);
	norm = isinf(norm_type) ? norm : pow(norm, 1 / norm_type);
	for (k = 0; norm > most && k < width; k++)
		row[k] *= most / (norm + 1e-7);
}

void ag_shorten_rows(struct ag_tensor *w, struct ag_tensor *index, const int64_t *at, double most,
                     double norm_type)
{
	double *all = NULL;
	bool *done;
	int64_t i;

	if (at && ag_ready2(w, w, index))
		all = ag_plain(w);
	done = all ? ag_alloc((size_t)w->shape[0] + 1, sizeof(*done)) : NULL;
	for (i = 0; all && i < index->numel; i++) {
		if (!done[at[i]])
			shorten_row(all + at[i] * w->shape[1], w->shape[1], most, norm_type);
		done[at[i]] = true;
	}
	if (all)
		ag_put_plain(w, all);
	ag_bump(w);
	free(done);
	free(all);
}

/* indices, weight, padding_idx (-1: none), max_norm, norm_type, scale, sparse */
bool op_run_embedding(struct ag_frame *f)
{
	struct ag_tensor *index = arg_t(f, 0), *w = arg_t(f, 1), *out;
	int64_t shape[AG_MAX_DIMS], *at, i, k, width, padding = arg_none(f, 2) ? -1 : arg_i(f, 2);
	struct ag_node *node;
	double *from, *to;
	bool good;

	if (w->ndim != 2 || index->ndim >= AG_MAX_DIMS)
		return ag_fail(f->ctx, AG_ERR_RUNTIME, "'weight' must be 2-D");
	if (index->dtype != AG_I64 && index->dtype != AG_I32)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "Expected tensor for argument #1 'indices' to have one of the "
		               "following scalar types: Long, Int; but got %s instead (while "
		               "checking arguments for embedding)",
		               ag_dtype_name((enum ag_dtype)index->dtype));
	width = w->shape[1];
	memcpy(shape, index->shape, sizeof(shape));
	shape[index->ndim] = width;
	at = ag_index_values(f->ctx, index, w->shape[0], &good);
	if (!good)
		return ag_fail(f->ctx, AG_ERR_INDEX, "index out of range in self");
	if (!arg_none(f, 3))
		ag_shorten_rows(w, index, at, arg_f(f, 3), arg_f(f, 4));
	out = ag_make(f->ctx, (enum ag_dtype)w->dtype, index->ndim + 1, shape, true);
	if (!out) {
		free(at);
		return false;
	}
	node = ag_record1(f->ctx, AG_NODE_Embedding, w, 1, 2);
	if (node) {
		node->ints[0] = w->shape[0];
		node->ints[1] = padding < -1 ? padding + w->shape[0] : padding;
		ag_save_input(node, 0, index);
	}
	if (ag_ready2(out, w, index)) {
		from = ag_plain(w);
		to = ag_alloc((size_t)out->numel + 1, sizeof(*to));
		for (i = 0; i < index->numel; i++) {
			for (k = 0; k < width; k++)
				to[i * width + k] = from[at[i] * width + k];
		}
		ag_put_plain(out, to);
		free(from);
		free(to);
	}
	free(at);
	return ag_finish(f, out, node);
}

bool bw_Embedding(struct ag_bw *b)
{
	struct ag_ctx *c = B_CTX;
	struct ag_tensor *index = B_SAVED(0), *g;
	int64_t shape[2], rows[2];
	struct ag_value v[5];

	if (!index)
		return false;
	shape[0] = b->node->ints[0];
	shape[1] = rows[1] = B_GRAD->shape[B_GRAD->ndim - 1];
	rows[0] = index->numel;
	if (ag_bw_is_blind(c, &B_GRAD, 1)) {
		B_SET(0, scoped(c, ag_make(c, (enum ag_dtype)B_GRAD->dtype, 2, shape, false)));
		return true;
	}
	g = op_reshape(c, B_GRAD, 2, rows);
	index = op_reshape(c, index, 1, rows);
	if (b->node->ints[1] >= 0) {
		struct ag_tensor *keep = op_ne_n(c, index, (double)b->node->ints[1]);

		g = op_where_n(c, op_unsqueeze(c, keep, 1), g, 0);
	}
	v[0] = ag_arg(op_zeros(c, (enum ag_dtype)B_GRAD->dtype, 2, shape));
	v[1] = ag_int(0);
	v[2] = ag_arg(index);
	v[3] = ag_arg(g);
	v[4] = ag_int(1);
	B_SET(0, op_call(c, AG_OP_index_add, v, 5));
	return true;
}
