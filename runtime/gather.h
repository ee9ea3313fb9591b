#ifndef GRAPHLINT_RUNTIME_GATHER_H
#define GRAPHLINT_RUNTIME_GATHER_H

/* Index tensors as numbers. */

#include "runtime/core.h"

/* Wrapped into [0, size), to be freed. NULL: the values are unknown, or, with
 * *good false and an error set, out of range. */
int64_t *ag_index_values(struct ag_ctx *ctx, const struct ag_tensor *index, int64_t size,
                         bool *good);

#endif
