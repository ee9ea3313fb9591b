#ifndef GRAPHLINT_RUNTIME_GATHER_H
#define GRAPHLINT_RUNTIME_GATHER_H

/* Index tensors as numbers. */

#include "runtime/core.h"

/* Wrapped into [0, size), to be freed. NULL: the values are unknown, or, with
 * *good false and an error set, out of range. */
int64_t *ag_index_values(struct ag_ctx *ctx, const struct ag_tensor *index, int64_t size,
                         bool *good);

/* Rows of a matrix that are longer than `most` are shortened in place, without a graph. */
void ag_shorten_rows(struct ag_tensor *w, struct ag_tensor *index, const int64_t *at, double most,
                     double norm_type);

struct ag_frame;

/* What scatters begin with, for input, dim, index and a source: the result, a copy of the input
 * yet, and the place in it for each element of the index (NULL: unknown), to be freed. */
bool ag_scatter_open(struct ag_frame *f, struct ag_tensor *src, int *dim, struct ag_tensor **out,
                     int64_t **at);
/* The source's elements that the index has one for; a number stands for all. To be freed. */
double *ag_scatter_values(struct ag_tensor *src, const struct ag_tensor *index);

#endif
