/* Functions made of other ops: similarity, norms, grids. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/element.h"
#include "runtime/op.h"
#include "runtime/shape.h"

/* tensor + number as C++ writes it */
static void map_add_number(int64_t n, double *out, const double *const *in, const double *p)
{
	int64_t i;

	for (i = 0; i < n; i++)
		out[i] = in[0][i] + *p;
}

static bool shifted(struct ag_frame *f, enum ag_node_kind kind, double p)
{
	struct ag_tensor *a = arg_t(f, 0), *out;
	struct ag_node *node;

	out = ag_make(f->ctx, ag_result_type(f->ctx, f->v, 2), a->ndim, a->shape, true);
	if (!out)
		return false;
	node = ag_record1(f->ctx, kind, a, 0, 0);
	ag_map(out, &a, 1, map_add_number, &p);
	return ag_finish(f, out, node);
}

bool op_run_add_scalar(struct ag_frame *f)
{
	return shifted(f, AG_NODE_AddScalar, arg_f(f, 1));
}

bool op_run_sub_scalar(struct ag_frame *f)
{
	return shifted(f, AG_NODE_SubScalar, -arg_f(f, 1));
}

bool bw_SubScalar(struct ag_bw *b)
{
	B_SET(0, B_GRAD);
	return true;
}

bool bw_AddScalar(struct ag_bw *b)
{
	B_SET(0, B_GRAD);
	return true;
}

static void map_logaddexp(int64_t n, double *out, const double *const *in, const double *p)
{
	int64_t i;

	(void)p;
	for (i = 0; i < n; i++) {
		double x = in[0][i], y = in[1][i], top = x > y ? x : y;

		out[i] = isinf(top) && x == y ? top : top + log1p(exp(-fabs(x - y)));
	}
}

bool op_run_logaddexp(struct ag_frame *f)
{
	struct ag_tensor *in[2] = {arg_t(f, 0), arg_t(f, 1)}, *out;
	int64_t shape[AG_MAX_DIMS];
	struct ag_node *node;
	int ndim;

	if (!ag_broadcast(f->ctx, in[0], in[1], &ndim, shape))
		return false;
	out = ag_result_like(f, ag_result_type(f->ctx, f->v, 2), ndim, shape,
	                     wants2(f->ctx, in[0], in[1]), in, 2);
	if (!out)
		return false;
	node = ag_record(f->ctx, AG_NODE_Logaddexp, in, 2, 2, 0);
	if (node) {
		ag_save_input(node, 0, in[1]);
		ag_save_input(node, 1, in[0]);
	}
	ag_map(out, in, 2, map_logaddexp, NULL);
	return ag_finish(f, out, node);
}

bool bw_Logaddexp(struct ag_bw *b)
{
	struct ag_ctx *c = B_CTX;
	struct ag_tensor *other = B_SAVED(0), *self = B_SAVED(1);

	if (!other || !self)
		return false;
	if (B_WANT(0))
		B_SET(0, op_div(c, B_GRAD, op_add_n(c, op_exp(c, op_sub(c, other, self)), 1)));
	if (B_WANT(1))
		B_SET(1, op_div(c, B_GRAD, op_add_n(c, op_exp(c, op_sub(c, self, other)), 1)));
	return true;
}

bool op_run_softsign(struct ag_frame *f)
{
	struct ag_ctx *c = f->ctx;
	struct ag_tensor *a = arg_t(f, 0);

	return ag_give_ref(f, op_div(c, a, op_add_n(c, op_abs(c, a), 1)));
}

bool op_run_tanhshrink(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0);

	return ag_give_ref(f, op_sub(f->ctx, a, op_tanh(f->ctx, a)));
}

/* ---- norms */

static struct ag_tensor *vector_norm(struct ag_ctx *c, struct ag_tensor *a, struct ag_value p,
                                     struct ag_value dim, bool keepdim)
{
	struct ag_value v[4] = {ag_arg(a), p, dim, ag_bool(keepdim)};

	return op_call(c, AG_OP_vector_norm, v, 4);
}

/* input, p, dim, keepdim, dtype */
bool op_run_norm(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0);
	struct ag_value p = f->v[1], first[2] = {ag_int(0), ag_int(1)};
	struct ag_value v[4] = {ag_arg(a), p, arg_none(f, 2) ? ag_list(first, 2) : f->v[2],
	                        f->v[3]};

	if (arg_text_is(f, 1, "nuc"))
		return ag_give_ref(f, op_call(f->ctx, AG_OP_matrix_norm, v, 4));
	if (p.kind == AG_NONE || arg_text_is(f, 1, "fro"))
		p = ag_int(2);
	if (f->v[4].kind == AG_DTYPE)
		a = op_cast(f->ctx, a, f->v[4].as.dtype);
	return ag_give_ref(f, vector_norm(f->ctx, a, p, f->v[2], arg_b(f, 3)));
}

/* input, p, dim, eps */
bool op_run_normalize(struct ag_frame *f)
{
	struct ag_ctx *c = f->ctx;
	struct ag_tensor *a = arg_t(f, 0), *n;
	struct ag_value v[2];

	n = vector_norm(c, a, f->v[1], f->v[2], true);
	v[0] = ag_arg(n);
	v[1] = f->v[3];
	n = op_expand(c, op_call(c, AG_OP_clamp_min, v, 2), a->ndim, a->shape);
	return ag_give_ref(f, op_div(c, a, n));
}

/* The norm's copy is clamped without history, so that its own gradient stays. */
static struct ag_tensor *clamped_norm(struct ag_ctx *c, struct ag_tensor *x, struct ag_value dim,
                                      double eps)
{
	struct ag_tensor *n = op_clone(c, vector_norm(c, x, ag_int(2), dim, true));
	struct ag_grad_mode mode = ag_no_grad(c);
	struct ag_value v[2] = {ag_arg(n), ag_float(eps)};

	n = n ? op_inplace(c, AG_OP_clamp_min, v, 2) : NULL;
	ag_set_grad_mode(c, mode);
	return n;
}

bool op_run_cosine_similarity(struct ag_frame *f)
{
	struct ag_ctx *c = f->ctx;
	struct ag_tensor *x = arg_t(f, 0), *y = arg_t(f, 1), *nx, *ny;
	int64_t shape[AG_MAX_DIMS];
	int ndim;

	if (!ag_broadcast(c, x, y, &ndim, shape))
		return false;
	/* Both, as soon as one has to be. */
	if (!ag_shape_is(x, ndim, shape) || !ag_shape_is(y, ndim, shape)) {
		x = op_expand(c, x, ndim, shape);
		y = op_expand(c, y, ndim, shape);
	}
	nx = clamped_norm(c, x, f->v[2], arg_f(f, 3));
	ny = clamped_norm(c, y, f->v[2], arg_f(f, 3));
	x = op_mul(c, op_div(c, x, nx), op_div(c, y, ny));
	return ag_give_ref(f, op_sum_dim(c, x, arg_i(f, 2), false));
}

/* ---- cross product */

bool op_run_cross(struct ag_frame *f)
{
	struct ag_ctx *c = f->ctx;
	struct ag_tensor *in[2] = {arg_t(f, 0), arg_t(f, 1)}, *part[3], *out;
	int64_t shape[AG_MAX_DIMS];
	struct ag_grad_mode mode;
	struct ag_value list[3], v[2];
	struct ag_node *node;
	int dim, ndim, i;

	if (in[0]->ndim != in[1]->ndim)
		return ag_fail(c, AG_ERR_RUNTIME,
		               "linalg.cross: inputs must have the same number of dimensions.");
	if (!ag_broadcast(c, in[0], in[1], &ndim, shape))
		return false;
	dim = ag_dim_of(c, arg_i(f, 2), ndim);
	if (dim < 0)
		return false;
	if (!ndim || in[0]->shape[dim] != 3 || in[1]->shape[dim] != 3)
		return ag_fail(
		        c, AG_ERR_RUNTIME,
		        "linalg.cross: inputs dimension %d must have length 3. Got %lld and %lld",
		        dim, (long long)ag_size(in[0], dim), (long long)ag_size(in[1], dim));
	mode = ag_no_grad(c);
	for (i = 0; i < 3; i++) {
		int j = (i + 1) % 3, k = (i + 2) % 3;
		struct ag_tensor *x = op_expand(c, in[0], ndim, shape),
		                 *y = op_expand(c, in[1], ndim, shape);

		part[i] = op_sub(c, op_mul(c, op_select(c, x, dim, j), op_select(c, y, dim, k)),
		                 op_mul(c, op_select(c, x, dim, k), op_select(c, y, dim, j)));
		list[i] = ag_arg(part[i]);
	}
	v[0] = ag_list(list, 3);
	v[1] = ag_int(dim);
	out = op_call(c, AG_OP_stack, v, 2);
	ag_set_grad_mode(c, mode);
	if (!out)
		return false;
	node = ag_record(c, AG_NODE_Cross, in, 2, 2, 1);
	if (node) {
		node->ints[0] = dim - ndim;
		ag_save_input(node, 0, node->edges[0].node ? in[1] : NULL);
		ag_save_input(node, 1, node->edges[1].node ? in[0] : NULL);
	}
	return ag_finish(f, ag_retain(out), node);
}

bool op_run_cross_old(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0);
	int d;

	for (d = 0; arg_none(f, 2) && d < a->ndim; d++) {
		if (a->shape[d] == 3)
			f->v[2] = ag_int(d);
	}
	if (arg_none(f, 2))
		f->v[2] = ag_int(-1);
	return op_run_cross(f);
}

bool bw_Cross(struct ag_bw *b)
{
	struct ag_value v[3];

	v[2] = ag_int(b->node->ints[0]);
	if (B_WANT(0)) {
		v[0] = ag_arg(B_SAVED(0));
		v[1] = ag_arg(B_GRAD);
		B_SET(0, op_call(B_CTX, AG_OP_cross, v, 3));
	}
	if (B_WANT(1)) {
		v[0] = ag_arg(B_GRAD);
		v[1] = ag_arg(B_SAVED(1));
		B_SET(1, op_call(B_CTX, AG_OP_cross, v, 3));
	}
	return true;
}

/* ---- bilinear: sum over i, j of x[b,i] w[o,i,j] y[b,j] */

static struct ag_tensor *three_way(struct ag_ctx *c, struct ag_tensor *x, struct ag_tensor *w,
                                   struct ag_tensor *y)
{
	/* [b,1,i] @ [1,o,i,j] summed, as one product of broadcasts */
	struct ag_tensor *xw =
	        op_mul(c, op_unsqueeze(c, op_unsqueeze(c, x, 1), 3), op_unsqueeze(c, w, 0));

	xw = op_sum_dim(c, xw, 2, false);
	return op_sum_dim(c, op_mul(c, xw, op_unsqueeze(c, y, 1)), 2, false);
}

bool op_run_trilinear(struct ag_frame *f)
{
	struct ag_ctx *c = f->ctx;
	struct ag_tensor *in[3] = {arg_t(f, 0), arg_t(f, 1), arg_t(f, 2)}, *out;
	struct ag_grad_mode mode = ag_no_grad(c);
	struct ag_node *node;
	bool a, b, d;

	out = three_way(c, in[0], in[1], in[2]);
	ag_set_grad_mode(c, mode);
	if (!out)
		return false;
	node = ag_record(c, AG_NODE_Trilinear, in, 3, 3, 0);
	if (node) {
		a = node->edges[0].node != NULL;
		b = node->edges[1].node != NULL;
		d = node->edges[2].node != NULL;
		ag_save_input(node, 0, b || d ? in[0] : NULL);
		ag_save_input(node, 1, a || d ? in[1] : NULL);
		ag_save_input(node, 2, a || b ? in[2] : NULL);
	}
	return ag_finish(f, ag_retain(out), node);
}

bool bw_Trilinear(struct ag_bw *b)
{
	struct ag_ctx *c = B_CTX;
	struct ag_tensor *x = B_SAVED(0), *w = B_SAVED(1), *y = B_SAVED(2), *g = B_GRAD, *t;

	if (c->error.status != AG_OK)
		return false;
	if (B_WANT(0)) {
		t = op_mul(c, op_unsqueeze(c, w, 0), op_unsqueeze(c, op_unsqueeze(c, y, 1), 1));
		t = op_mul(c, op_sum_dim(c, t, 3, false), op_unsqueeze(c, g, 2));
		B_SET(0, op_sum_dim(c, t, 1, false));
	}
	if (B_WANT(1)) {
		t = op_mul(c, op_unsqueeze(c, op_unsqueeze(c, x, 1), 3),
		           op_unsqueeze(c, op_unsqueeze(c, y, 1), 1));
		t = op_mul(c, t, op_unsqueeze(c, op_unsqueeze(c, g, 2), 3));
		B_SET(1, op_sum_dim(c, t, 0, false));
	}
	if (B_WANT(2)) {
		t = op_mul(c, op_unsqueeze(c, op_unsqueeze(c, x, 1), 3), op_unsqueeze(c, w, 0));
		t = op_mul(c, op_sum_dim(c, t, 2, false), op_unsqueeze(c, g, 2));
		B_SET(2, op_sum_dim(c, t, 1, false));
	}
	return true;
}

bool op_run_bilinear(struct ag_frame *f)
{
	struct ag_ctx *c = f->ctx;
	struct ag_tensor *x = arg_t(f, 0), *y = arg_t(f, 1), *w = arg_t(f, 2), *out;
	int64_t shape[AG_MAX_DIMS], flat[2];
	struct ag_value v[3];
	int n = x->ndim, d;

	if (n < 1 || y->ndim != n || w->ndim != 3 || x->shape[n - 1] != w->shape[1] ||
	    y->shape[n - 1] != w->shape[2])
		return ag_fail(c, AG_ERR_RUNTIME,
		               "bilinear(): the sizes of inputs and weight do not fit");
	for (d = 0; d < n - 1; d++) {
		if (x->shape[d] != y->shape[d])
			return ag_fail(c, AG_ERR_RUNTIME,
			               "bilinear(): input batch dimensions do not match at dim %d: "
			               "got %lld and %lld",
			               d, (long long)x->shape[d], (long long)y->shape[d]);
	}
	memcpy(shape, x->shape, sizeof(shape));
	flat[0] = ag_count(n - 1, shape);
	flat[1] = x->shape[n - 1];
	v[0] = ag_arg(op_reshape(c, x, 2, flat));
	v[1] = ag_arg(w);
	flat[1] = y->shape[n - 1];
	v[2] = ag_arg(op_reshape(c, y, 2, flat));
	shape[n - 1] = w->shape[0];
	out = op_reshape(c, op_call(c, AG_OP_trilinear, v, 3), n, shape);
	return ag_give_ref(f, arg_t(f, 3) ? op_add(c, out, arg_t(f, 3)) : out);
}

/* ---- differences, repeats, grids */

bool op_run_diff(struct ag_frame *f)
{
	struct ag_ctx *c = f->ctx;
	struct ag_tensor *a = arg_t(f, 0);
	int dim = ag_dim(c, a, arg_i(f, 2));
	int64_t n = arg_i(f, 1);

	if (dim < 0 || !a->ndim)
		return ag_fail(c, AG_ERR_RUNTIME,
		               "diff expects input to be at least one-dimensional");
	if (n < 0)
		return ag_fail(c, AG_ERR_RUNTIME, "order must be non-negative but got %lld",
		               (long long)n);
	for (n = n < a->shape[dim] ? n : a->shape[dim]; n > 0 && a; n--) {
		int64_t size = a->shape[dim] ? a->shape[dim] - 1 : 0;

		a = op_sub(c, op_narrow(c, a, dim, a->shape[dim] ? 1 : 0, size),
		           op_narrow(c, a, dim, 0, size));
	}
	return ag_give_ref(f, a);
}

static struct ag_tensor *flat_or_dim(struct ag_frame *f, int64_t *dim)
{
	struct ag_tensor *a = arg_t(f, 0);
	int64_t n = a->numel;

	*dim = 0;
	if (arg_none(f, 2))
		return op_reshape(f->ctx, a, 1, &n);
	*dim = ag_dim(f->ctx, a, arg_i(f, 2));
	return *dim < 0 ? NULL : a;
}

bool op_run_repeat_interleave(struct ag_frame *f)
{
	struct ag_ctx *c = f->ctx;
	int64_t dim, shape[AG_MAX_DIMS + 1], n = arg_i(f, 1);
	struct ag_tensor *a = flat_or_dim(f, &dim), *out;
	struct ag_value v[1];
	int d;

	if (!a || a->ndim == AG_MAX_DIMS || n < 0)
		return ag_fail(c, AG_ERR_RUNTIME, "repeats can not be negative");
	for (d = 0; d <= a->ndim; d++)
		shape[d] = d == dim + 1 ? n : a->shape[d > dim ? d - 1 : d];
	out = op_expand(c, op_unsqueeze(c, a, dim + 1), a->ndim + 1, shape);
	v[0] = ag_arg(out);
	out = op_call(c, AG_OP_clone_contiguous, v, 1);
	memcpy(shape, a->shape, sizeof(a->shape));
	shape[dim] = ag_times(shape[dim], n);
	return ag_give_ref(f, op_view(c, out, a->ndim, shape));
}

/* How often each is repeated, to be freed; NULL with an error. */
static int64_t *known_repeats(struct ag_frame *f, struct ag_tensor *r, int64_t size, int64_t *total)
{
	int64_t *times, i;
	bool good = true;

	if (r->ndim > 1 || (r->numel != size && r->numel != 1)) {
		ag_fail(f->ctx, AG_ERR_RUNTIME,
		        "repeats must have the same size as input along dim, but got "
		        "repeats.size(0) = %lld and input.size(0) = %lld",
		        (long long)r->numel, (long long)size);
		return NULL;
	}
	times = ag_plain_ints(r);
	if (!times)
		ag_fail(f->ctx, AG_ERR_NO_DATA, "the repeats are not known");
	for (i = 0, *total = 0; times && good && i < size; i++) {
		int64_t n = times[r->numel == 1 ? 0 : i];

		*total = ag_within(*total + ag_within(n));
		good = n >= 0 || ag_fail(f->ctx, AG_ERR_RUNTIME, "repeats can not be negative");
	}
	if (good)
		return times;
	free(times);
	return NULL;
}

bool op_run_repeat_interleave_t(struct ag_frame *f)
{
	struct ag_tensor *r = arg_t(f, 1), *index;
	int64_t dim, *times, total, size, i, k, at = 0;
	struct ag_tensor *a = flat_or_dim(f, &dim);
	struct ag_value v[3];

	size = a && a->ndim ? a->shape[dim] : 1;
	times = a ? known_repeats(f, r, size, &total) : NULL;
	if (!times)
		return false;
	index = scoped(f->ctx, ag_make(f->ctx, AG_I64, 1, &total, true));
	for (i = 0; index && index->storage->data && i < size; i++) {
		for (k = 0; k < times[r->numel == 1 ? 0 : i]; k++)
			ag_store_int(AG_I64, index->storage->data, at++, i);
	}
	free(times);
	v[0] = ag_arg(a);
	v[1] = ag_int(dim);
	v[2] = ag_arg(index);
	return ag_give_ref(f, op_call(f->ctx, AG_OP_index_select, v, 3));
}

bool op_run_meshgrid(struct ag_frame *f)
{
	struct ag_ctx *c = f->ctx;
	uint32_t n = arg_list(f, 0), i, d;
	bool swap = arg_text_is(f, 1, "xy") && n >= 2;
	int64_t shape[AG_MAX_DIMS], one[AG_MAX_DIMS];

	if (!n || n > AG_MAX_DIMS)
		return ag_fail(c, AG_ERR_RUNTIME, "meshgrid expects a non-empty TensorList");
	for (i = 0; i < n; i++) {
		struct ag_tensor *t = arg_list_t(f, 0, i);

		if (!t || t->ndim > 1)
			return ag_fail(
			        c, AG_ERR_RUNTIME,
			        "torch.meshgrid: Expected 0D or 1D tensor in the tensor list");
		shape[swap && i < 2 ? 1 - i : i] = t->numel;
	}
	for (i = 0; i < n; i++) {
		struct ag_tensor *t = arg_list_t(f, 0, i);
		uint32_t place = swap && i < 2 ? 1 - i : i;

		for (d = 0; d < n; d++)
			one[d] = d == place ? t->numel : 1;
		if (!ag_give_ref(f, op_expand(c, op_view(c, t, (int)n, one), (int)n, shape)))
			return false;
	}
	return true;
}

/* ---- a mean that leaves out NaN */

bool op_run_nanmean(struct ag_frame *f)
{
	struct ag_ctx *c = f->ctx;
	struct ag_tensor *a = arg_t(f, 0), *known = op_eq(c, a, a);
	struct ag_value v[3] = {ag_arg(a), f->v[1], f->v[2]};
	struct ag_tensor *sum = op_call(c, AG_OP_nansum, v, 3);

	v[0] = ag_arg(known);
	return ag_give_ref(f, op_div(c, sum, op_call(c, AG_OP_sum, v, 3)));
}
