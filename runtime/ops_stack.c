/* Stacking by rows, columns and depth; broadcasting. */

#include <stdlib.h>

#include "runtime/op.h"
#include "runtime/shape.h"

static bool joined(struct ag_frame *f, int least, int64_t dim)
{
	uint32_t n = arg_list(f, 0), i;
	struct ag_value *list, v[2];
	struct ag_tensor *out;

	if (!n)
		return ag_fail(f->ctx, AG_ERR_RUNTIME, "%s expects a non-empty TensorList",
		               ag_op_info(f->op)->id);
	list = ag_alloc(n, sizeof(*list));
	for (i = 0; i < n; i++) {
		struct ag_tensor *t = arg_list_t(f, 0, i);

		while (t && t->ndim < least)
			t = op_unsqueeze(f->ctx, t, t->ndim == 2 ? 2 : 0);
		list[i] = ag_arg(t);
	}
	v[0] = ag_list(list, n);
	v[1] = ag_int(dim == 1 && list[0].as.tensor && list[0].as.tensor->ndim == 1 ? 0 : dim);
	out = op_call(f->ctx, AG_OP_cat, v, 2);
	free(list);
	return ag_give_ref(f, out);
}

bool op_run_hstack(struct ag_frame *f)
{
	return joined(f, 1, 1);
}

bool op_run_vstack(struct ag_frame *f)
{
	return joined(f, 2, 0);
}

bool op_run_dstack(struct ag_frame *f)
{
	return joined(f, 3, 2);
}

bool op_run_broadcast_to(struct ag_frame *f)
{
	int64_t shape[AG_MAX_DIMS];
	int n = arg_ints(f, 1, shape, AG_MAX_DIMS);

	return n >= 0 && ag_give_ref(f, op_expand(f->ctx, arg_t(f, 0), n, shape));
}

bool op_run_broadcast_tensors(struct ag_frame *f)
{
	uint32_t n = arg_list(f, 0), i;
	struct ag_tensor all = {0};
	int64_t shape[AG_MAX_DIMS];
	int ndim = 0;

	for (i = 0; i < n; i++) {
		struct ag_tensor *t = arg_list_t(f, 0, i);

		if (!t || !ag_broadcast(f->ctx, &all, t, &ndim, shape))
			return false;
		ag_set_shape(&all, ndim, shape, NULL);
	}
	for (i = 0; i < n; i++) {
		struct ag_tensor *t = arg_list_t(f, 0, i);

		if (!ag_give_ref(
		            f, ag_shape_is(t, ndim, shape) ? t : op_expand(f->ctx, t, ndim, shape)))
			return false;
	}
	return true;
}
