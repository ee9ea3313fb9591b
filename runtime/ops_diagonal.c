/* Diagonals as tensors of their own: torch.diag and torch.diag_embed. */

#include <stdlib.h>
#include <string.h>

#include "runtime/element.h"
#include "runtime/op.h"

static struct ag_tensor *diagonal_of(struct ag_ctx *c, struct ag_tensor *t, int64_t offset)
{
	struct ag_value v[4] = {ag_arg(t), ag_int(offset), ag_int(-2), ag_int(-1)};

	return t ? op_call(c, AG_OP_diagonal, v, 4) : NULL;
}

/* Each row of `a` on a diagonal of a matrix of zeros. */
static void spread(struct ag_tensor *out, struct ag_tensor *a, int64_t offset)
{
	int64_t n = a->shape[a->ndim - 1], side = out->shape[out->ndim - 1], i;
	int64_t first = offset < 0 ? -offset * side : offset;
	double *from = ag_plain(a), *to = ag_alloc((size_t)out->numel + 1, sizeof(*to));

	for (i = 0; i < a->numel; i++)
		to[i / n * side * side + first + i % n * (side + 1)] = from[i];
	ag_put_plain(out, to);
	free(from);
	free(to);
}

static bool embed(struct ag_frame *f, int64_t offset)
{
	struct ag_tensor *a = arg_t(f, 0), *out;
	int64_t shape[AG_MAX_DIMS], side;
	struct ag_node *node;

	if (!a->ndim || a->ndim == AG_MAX_DIMS || !ag_no_complex(f->ctx, a))
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "diag_embed: expected at least one dimension");
	if (offset > INT32_MAX || offset < -INT32_MAX)
		return ag_fail(f->ctx, AG_ERR_RUNTIME, "diag_embed: the diagonal is too far off");
	side = a->shape[a->ndim - 1] + (offset < 0 ? -offset : offset);
	memcpy(shape, a->shape, sizeof(shape));
	shape[a->ndim - 1] = side;
	shape[a->ndim] = side;
	out = ag_make(f->ctx, (enum ag_dtype)a->dtype, a->ndim + 1, shape, ag_has_data(a));
	if (!out)
		return false;
	if (ag_ready1(out, a))
		spread(out, a, offset);
	node = ag_record1(f->ctx, AG_NODE_DiagEmbed, a, 0, 1);
	if (node)
		node->ints[0] = offset;
	return ag_finish(f, out, node);
}

/* input, offset */
bool op_run_diag_embed(struct ag_frame *f)
{
	return embed(f, arg_i(f, 1));
}

bool bw_DiagEmbed(struct ag_bw *b)
{
	B_SET(0, diagonal_of(B_CTX, B_GRAD, b->node->ints[0]));
	return true;
}

/* A matrix's diagonal, copied. */
static bool taken(struct ag_frame *f, int64_t offset)
{
	struct ag_tensor *a = arg_t(f, 0), *part, *out;
	struct ag_node *node;
	double *x;

	/* The detached matrix: what is recorded is this op. */
	part = diagonal_of(f->ctx, scoped(f->ctx, ag_detach(f->ctx, a)), offset);
	out = part ? ag_make(f->ctx, (enum ag_dtype)a->dtype, 1, part->shape, ag_has_data(a))
	           : NULL;
	if (!out)
		return false;
	x = ag_plain(part);
	if (x)
		ag_put_plain(out, x);
	free(x);
	node = ag_record1(f->ctx, AG_NODE_DiagonalCopy, a, 0, 3);
	if (node) {
		node->ints[0] = offset;
		node->ints[1] = a->shape[0];
		node->ints[2] = a->shape[1];
	}
	return ag_finish(f, out, node);
}

/* input, diagonal */
bool op_run_diag(struct ag_frame *f)
{
	if (arg_t(f, 0)->ndim == 2)
		return taken(f, arg_i(f, 1));
	if (arg_t(f, 0)->ndim == 1)
		return embed(f, arg_i(f, 1));
	return ag_fail(f->ctx, AG_ERR_RUNTIME, "diag(): Supports 1D or 2D tensors. Got %dD",
	               arg_t(f, 0)->ndim);
}

bool bw_DiagonalCopy(struct ag_bw *b)
{
	struct ag_ctx *c = B_CTX;
	struct ag_tensor *out = op_zeros(c, (enum ag_dtype)B_GRAD->dtype, 2, b->node->ints + 1);
	struct ag_tensor *part = diagonal_of(c, out, b->node->ints[0]);

	if (!part || !op_copy_(c, part, B_GRAD))
		return false;
	B_SET(0, out);
	return true;
}
