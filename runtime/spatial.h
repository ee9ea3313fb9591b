#ifndef GRAPHLINT_RUNTIME_SPATIAL_H
#define GRAPHLINT_RUNTIME_SPATIAL_H

/*
 * Linear maps on the last dimensions of a tensor: average pooling, resampling, padding with what
 * is inside, unfolding, shuffling pixels. Each plane (what the leading dimensions index) is mapped
 * alike, and each map is a product of maps along its axes. A map and its adjoint are one row,
 * `spatial_map`, whose formula is itself the other way round, so all orders of gradients follow.
 */

#include "runtime/op.h"

enum { SPATIAL_DIMS = 3 };

enum spatial_kind {
	SPATIAL_AVERAGE,
	SPATIAL_ADAPTIVE,
	SPATIAL_NEAREST,
	SPATIAL_NEAREST_EXACT,
	SPATIAL_LINEAR,
	SPATIAL_CUBIC,
	SPATIAL_REFLECT,
	SPATIAL_REPLICATE,
	SPATIAL_COLUMNS, /* im2col */
	SPATIAL_SHUFFLE
};

/* All words, so that it can travel as a list of integers. */
struct spatial {
	int64_t kind, nd;
	int64_t in[SPATIAL_DIMS], out[SPATIAL_DIMS]; /* unfolding: out are the blocks */
	int64_t kernel[SPATIAL_DIMS], stride[SPATIAL_DIMS], pad[SPATIAL_DIMS],
	        dilation[SPATIAL_DIMS];
	int64_t count_pad, divisor, align_corners;
	double scale[SPATIAL_DIMS]; /* given scale factors, 0: from the sizes */
};

enum { SPATIAL_INTS = sizeof(struct spatial) / sizeof(int64_t) };

/* Sizes of a plane before and after. */
int64_t spatial_in(const struct spatial *s);
int64_t spatial_out(const struct spatial *s);
/* The row's result: owned, with node `kind`, which saves the input if `saves`. The result has
 * the leading dimensions of x and then `shape`. */
struct ag_tensor *spatial_run(struct ag_ctx *ctx, const struct spatial *s, struct ag_tensor *x,
                              int ndim, const int64_t *shape, enum ag_node_kind kind, bool saves,
                              bool adjoint);
/* The formula of such nodes: word 0 says whether they map the other way. */
bool spatial_backward(struct ag_bw *b);

#endif
