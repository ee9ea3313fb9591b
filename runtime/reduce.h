#ifndef GRAPHLINT_RUNTIME_REDUCE_H
#define GRAPHLINT_RUNTIME_REDUCE_H

/* Reductions over a set of dimensions: the shape of the result, and the input
 * as rows, one for each element of the result. */

#include "runtime/op.h"

struct ag_reduction {
	unsigned mask; /* reduced dimensions */
	bool keepdim;
	bool whole; /* no dims were given: everything */
	int ndim;   /* of the result */
	int64_t shape[AG_MAX_DIMS];
	int64_t outer, inner;
};

/* Dims from argument `i` (None or empty: all) of input a. */
bool ag_reduction_open(struct ag_frame *f, struct ag_tensor *a, uint32_t i, bool keepdim,
                       struct ag_reduction *r);
void ag_reduction_dims(const struct ag_tensor *a, unsigned mask, bool keepdim,
                       struct ag_reduction *r);
/* outer x inner doubles; the caller frees them; NULL without data. */
double *ag_rows(const struct ag_tensor *a, const struct ag_reduction *r);
/* Fills `out` with `fn` of each row; p is what fn needs. */
typedef double ag_row_fn(const double *row, int64_t n, const double *p);
void ag_reduce_rows(struct ag_tensor *out, struct ag_tensor *a, const struct ag_reduction *r,
                    ag_row_fn *fn, const double *p);
/* A whole op of that kind, whose node saves its result (0) and input (1). */
bool ag_reduce_saved(struct ag_frame *f, struct ag_tensor *a, const struct ag_reduction *r,
                     enum ag_node_kind kind, ag_row_fn *fn, const double *p);
/* [ndim, shape..., mask, keepdim] for formulas. */
uint32_t ag_reduction_words(const struct ag_tensor *a, const struct ag_reduction *r, int64_t *out);
/* g with the reduced dimensions back as ones. */
struct ag_tensor *ag_restore_dims(struct ag_ctx *ctx, struct ag_tensor *g, const int64_t *words);
/* ... expanded to the input's shape. */
struct ag_tensor *ag_unreduce(struct ag_ctx *ctx, struct ag_tensor *g, const int64_t *words);

#endif
