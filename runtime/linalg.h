#ifndef GRAPHLINT_RUNTIME_LINALG_H
#define GRAPHLINT_RUNTIME_LINALG_H

/* What the rows of linear algebra share: tensors as batches of matrices. */

#include "runtime/op.h"

static inline int64_t linalg_batch(const struct ag_tensor *a)
{
	return ag_count(a->ndim - 2, a->shape);
}

static inline struct ag_tensor *linalg_turned(struct ag_ctx *ctx, struct ag_tensor *a)
{
	return a ? op_transpose(ctx, a, -2, -1) : NULL;
}

static inline struct ag_tensor *linalg_times(struct ag_ctx *ctx, struct ag_tensor *a,
                                             struct ag_tensor *b)
{
	return a && b ? op_matmul(ctx, a, b) : NULL;
}

/* (m - m') / e with e[i][j] = l[j] - l[i], and ones where that is zero. */
struct ag_tensor *linalg_skew_over(struct ag_ctx *ctx, struct ag_tensor *m, struct ag_tensor *l);

#endif
