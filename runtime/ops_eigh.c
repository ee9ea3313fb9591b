/* Eigenvalues of symmetric matrices. One node makes them and their vectors, given out or not. */
#include <stdlib.h>

#include "runtime/linalg.h"
#include "runtime/matrix.h"

struct eigen {
	struct ag_tensor *values, *vectors;
};

static void eigen_fill(struct ag_tensor *a, bool upper, struct eigen *e)
{
	int64_t n = a->shape[a->ndim - 1], batch = linalg_batch(a), i;
	double *in, *values;

	if (!ag_work(a->ctx, 16.0 * (double)a->numel * (double)n))
		ag_storage_drop_data(e->values->storage);
	if (!ag_ready1(e->values, a) || !ag_ready1(e->vectors, e->values)) {
		ag_storage_drop_data(e->vectors->storage);
		return;
	}
	in = ag_plain(a);
	values = ag_alloc((size_t)(batch * n) + 1, sizeof(*values));
	for (i = 0; i < batch; i++)
		matrix_eigen(in + i * n * n, upper, n, values + i * n);
	ag_put_plain(e->values, values);
	ag_put_plain(e->vectors, in);
	free(in);
	free(values);
}

static bool eigen_run(struct ag_frame *f, struct eigen *e)
{
	struct ag_tensor *a = arg_t(f, 0);
	bool upper = arg_text_is(f, 1, "U") || arg_text_is(f, 1, "u");
	struct ag_node *node;

	*e = (struct eigen){NULL, NULL};
	if (a->ndim < 2 || a->shape[a->ndim - 1] != a->shape[a->ndim - 2])
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "linalg.%s: A must be batches of square matrices",
		               ag_op_info(f->op)->id);
	if (!ag_need_float(f, a))
		return false;
	e->values = ag_make(f->ctx, (enum ag_dtype)a->dtype, a->ndim - 1, a->shape, true);
	e->vectors = ag_make(f->ctx, (enum ag_dtype)a->dtype, a->ndim, a->shape, true);
	if (!e->values || !e->vectors)
		return false;
	ag_put_columns(e->vectors);
	eigen_fill(a, upper, e);
	node = ag_record1(f->ctx, AG_NODE_LinalgEigh, a, 2, 0);
	if (node) {
		ag_set_history(e->values, node);
		ag_set_history(e->vectors, node);
		ag_save_output(node, 0, e->values);
		ag_save_output(node, 1, e->vectors);
		ag_node_release(node);
	}
	return true;
}

bool op_run_eigh(struct ag_frame *f)
{
	struct eigen e;

	if (eigen_run(f, &e))
		return ag_give(f, e.values) && ag_give(f, e.vectors);
	ag_release(e.values);
	ag_release(e.vectors);
	return false;
}

bool op_run_eigvalsh(struct ag_frame *f)
{
	struct eigen e;
	bool good = eigen_run(f, &e);

	ag_release(e.vectors);
	if (good)
		return ag_give(f, e.values);
	ag_release(e.values);
	return false;
}

/* V (skew(V'G) / e + diag(g)) V' with e[i][j] = l[j] - l[i] */
bool bw_LinalgEigh(struct ag_bw *b)
{
	struct ag_ctx *c = B_CTX;
	struct ag_tensor *l = B_SAVED(0), *v = B_SAVED(1), *turned = linalg_turned(c, v), *p;
	struct ag_value diagonal[1];

	if (!l || !turned)
		return false;
	if (b->grads[1]) {
		p = linalg_skew_over(c, linalg_times(c, turned, b->grads[1]), l);
		p = p ? op_mul_n(c, p, 0.5) : NULL;
		if (p && b->grads[0]) {
			diagonal[0] = ag_arg(b->grads[0]);
			p = op_add(c, p, op_call(c, AG_OP_diag_embed, diagonal, 1));
		}
		p = linalg_times(c, v, p);
	} else {
		p = op_mul(c, v, op_unsqueeze(c, b->grads[0], -2));
	}
	p = linalg_times(c, p, turned);
	B_SET(0, p);
	return p != NULL;
}
