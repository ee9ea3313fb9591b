#ifndef GRAPHLINT_RUNTIME_ENGINE_H
#define GRAPHLINT_RUNTIME_ENGINE_H

/* What the backward engine calls at its nodes: hooks, and the leaves' sums. */

#include "runtime/core.h"

/* Hooks of results and of the leaf; grads may be replaced. */
bool ag_run_tensor_hooks(struct ag_ctx *ctx, struct ag_node *n, struct ag_tensor **grads);
bool ag_run_node_hooks(struct ag_ctx *ctx, struct ag_node *n, struct ag_tensor **grad_inputs,
                       struct ag_tensor **grad_outputs);
/* Adds to leaf's .grad; takes over `grad`. */
bool ag_accumulate(struct ag_ctx *ctx, struct ag_tensor *leaf, struct ag_tensor *grad);

struct ag_tensor *ag_ones_like(struct ag_ctx *ctx, struct ag_tensor *t);

#endif
