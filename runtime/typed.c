/* The typed functions of ag.h: one call of a row each. */

#include <string.h>

#include "runtime/op.h"
#include "runtime/shape.h"

#define TYPED1(name)                                                                               \
	struct ag_tensor *ag_##name(struct ag_ctx *ctx, struct ag_tensor *a)                       \
	{                                                                                          \
		struct ag_value v[1] = {ag_arg(a)};                                                \
		return ag_run1(ctx, AG_OP_##name, v, 1);                                           \
	}
#define TYPED2(name)                                                                               \
	struct ag_tensor *ag_##name(struct ag_ctx *ctx, struct ag_tensor *a, struct ag_tensor *b)  \
	{                                                                                          \
		struct ag_value v[2] = {ag_arg(a), ag_arg(b)};                                     \
		return ag_run1(ctx, AG_OP_##name, v, 2);                                           \
	}

TYPED1(neg)
TYPED1(exp)
TYPED1(log)
TYPED1(relu)
TYPED1(sigmoid)
TYPED1(tanh)
TYPED1(sum)
TYPED1(mean)
TYPED1(clone)
TYPED1(detach)
TYPED2(add)
TYPED2(sub)
TYPED2(mul)
TYPED2(div)
TYPED2(matmul)
TYPED2(mse_loss)
TYPED2(cross_entropy)

struct ag_tensor *ag_add_number(struct ag_ctx *ctx, struct ag_tensor *a, double b)
{
	struct ag_value v[2] = {ag_arg(a), ag_float(b)};

	return ag_run1(ctx, AG_OP_add, v, 2);
}

struct ag_tensor *ag_mul_number(struct ag_ctx *ctx, struct ag_tensor *a, double b)
{
	struct ag_value v[2] = {ag_arg(a), ag_float(b)};

	return ag_run1(ctx, AG_OP_mul, v, 2);
}

struct ag_tensor *ag_pow_number(struct ag_ctx *ctx, struct ag_tensor *a, double exponent)
{
	struct ag_value v[2] = {ag_arg(a), ag_float(exponent)};

	return ag_run1(ctx, AG_OP_pow_scalar, v, 2);
}

struct ag_tensor *ag_linear(struct ag_ctx *ctx, struct ag_tensor *x, struct ag_tensor *weight,
                            struct ag_tensor *bias)
{
	struct ag_value v[3] = {ag_arg(x), ag_arg(weight), bias ? ag_arg(bias) : ag_none()};

	return ag_run1(ctx, AG_OP_linear, v, 3);
}

static bool too_many(struct ag_ctx *ctx, int ndim)
{
	return (ndim < 0 || ndim > AG_MAX_DIMS) &&
	       !ag_fail(ctx, AG_ERR_RUNTIME, "tensors of more than %d dimensions are not supported",
	                AG_MAX_DIMS);
}

static struct ag_tensor *with_shape(struct ag_ctx *ctx, enum ag_op op, struct ag_tensor *a,
                                    int ndim, const int64_t *shape)
{
	struct ag_value sizes[AG_MAX_DIMS], v[2];
	uint32_t n = 0;
	int d;

	if (too_many(ctx, ndim))
		return NULL;
	for (d = 0; d < ndim; d++)
		sizes[d] = ag_int(shape[d]);
	if (op == AG_OP_view)
		v[n++] = ag_arg(a);
	v[n++] = ag_list(sizes, (size_t)ndim);
	return ag_run1(ctx, op, v, n);
}

struct ag_tensor *ag_view(struct ag_ctx *ctx, struct ag_tensor *a, int ndim, const int64_t *shape)
{
	return with_shape(ctx, AG_OP_view, a, ndim, shape);
}

struct ag_tensor *ag_zeros(struct ag_ctx *ctx, int ndim, const int64_t *shape)
{
	return with_shape(ctx, AG_OP_zeros, NULL, ndim, shape);
}

struct ag_tensor *ag_ones(struct ag_ctx *ctx, int ndim, const int64_t *shape)
{
	return with_shape(ctx, AG_OP_ones, NULL, ndim, shape);
}

struct ag_tensor *ag_randn(struct ag_ctx *ctx, int ndim, const int64_t *shape)
{
	return with_shape(ctx, AG_OP_randn, NULL, ndim, shape);
}

struct ag_tensor *ag_transpose(struct ag_ctx *ctx, struct ag_tensor *a, int dim0, int dim1)
{
	struct ag_value v[3] = {ag_arg(a), ag_int(dim0), ag_int(dim1)};

	return ag_run1(ctx, AG_OP_transpose, v, 3);
}

struct ag_tensor *ag_select(struct ag_ctx *ctx, struct ag_tensor *a, int dim, int64_t index)
{
	struct ag_value v[3] = {ag_arg(a), ag_int(dim), ag_int(index)};

	return ag_run1(ctx, AG_OP_select, v, 3);
}

struct ag_tensor *ag_slice(struct ag_ctx *ctx, struct ag_tensor *a, int dim, int64_t start,
                           int64_t stop)
{
	struct ag_value v[5] = {ag_arg(a), ag_int(dim), ag_int(start), ag_int(stop), ag_int(1)};

	return ag_run1(ctx, AG_OP_slice, v, 5);
}

static bool in_place(struct ag_ctx *ctx, enum ag_op op, const struct ag_value *v, uint32_t n)
{
	struct ag_results results;
	bool good = ag_run_op(ctx, op, true, v, n, &results);

	ag_results_release(&results);
	return good;
}

bool ag_add_(struct ag_ctx *ctx, struct ag_tensor *a, struct ag_tensor *b, double alpha)
{
	struct ag_value v[3] = {ag_arg(a), ag_arg(b), ag_float(alpha)};

	return in_place(ctx, AG_OP_add, v, 3);
}

bool ag_mul_(struct ag_ctx *ctx, struct ag_tensor *a, struct ag_tensor *b)
{
	struct ag_value v[2] = {ag_arg(a), ag_arg(b)};

	return in_place(ctx, AG_OP_mul, v, 2);
}

bool ag_copy_(struct ag_ctx *ctx, struct ag_tensor *a, struct ag_tensor *b)
{
	struct ag_value v[2] = {ag_arg(a), ag_arg(b)};

	return in_place(ctx, AG_OP_copy, v, 2);
}

bool ag_zero_(struct ag_ctx *ctx, struct ag_tensor *a)
{
	struct ag_value v[1] = {ag_arg(a)};

	return in_place(ctx, AG_OP_zero, v, 1);
}
