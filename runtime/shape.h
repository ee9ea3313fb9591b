#ifndef GRAPHLINT_RUNTIME_SHAPE_H
#define GRAPHLINT_RUNTIME_SHAPE_H

/* Views: strides for a new shape, and aliases that carry history. */

#include "runtime/core.h"

/* Strides under which t's elements have `shape`; false when only a copy can. */
bool ag_view_strides(const struct ag_tensor *t, int ndim, const int64_t *shape, int64_t *strides);
/* Fills in a -1 and checks the number of elements. */
bool ag_infer_shape(struct ag_ctx *ctx, int ndim, int64_t *shape, int64_t numel);
/* The same views that ops give; owned references. */
struct ag_tensor *ag_reshaped(struct ag_ctx *ctx, struct ag_tensor *t, int ndim,
                              const int64_t *shape, enum ag_node_kind kind);
struct ag_tensor *ag_reshape(struct ag_ctx *ctx, struct ag_tensor *t, int ndim,
                             const int64_t *shape);
struct ag_tensor *ag_expand(struct ag_ctx *ctx, struct ag_tensor *t, int ndim,
                            const int64_t *shape);
struct ag_tensor *ag_permute(struct ag_ctx *ctx, struct ag_tensor *t, const int64_t *dims, int n);
struct ag_tensor *ag_swap(struct ag_ctx *ctx, struct ag_tensor *t, int d0, int d1);
struct ag_tensor *ag_unsqueezed(struct ag_ctx *ctx, struct ag_tensor *t, int dim);
struct ag_tensor *ag_slice_step(struct ag_ctx *ctx, struct ag_tensor *t, int dim, int64_t start,
                                int64_t stop, int64_t step);
/* [a, b, ...] as [b, a, ...], without a history. */
struct ag_tensor *ag_first_dims_swapped(struct ag_tensor *x);
/* A fresh result seen under another shape, as matmul gives it: UnsafeView. */
struct ag_tensor *ag_unsafe_view(struct ag_ctx *ctx, struct ag_tensor *t, int ndim,
                                 const int64_t *shape);

#endif
