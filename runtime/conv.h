#ifndef GRAPHLINT_RUNTIME_CONV_H
#define GRAPHLINT_RUNTIME_CONV_H

/*
 * The arithmetic of convolutions of one to three dimensions, plain and transposed. Both are one
 * sum over pairs of a position on the small side and one on the big side: a plain convolution
 * gathers from big (its input) to small, a transposed one scatters from small (its input) to big,
 * and the weight's gradient sums over both.
 */

#include "runtime/kernel.h"

enum { CONV_DIMS = 3, CONV_INTS = 3 + 4 * CONV_DIMS };

struct conv {
	int nd;
	bool transposed;
	int64_t groups;
	int64_t stride[CONV_DIMS], pad[CONV_DIMS], dilation[CONV_DIMS], output_pad[CONV_DIMS];
};

enum conv_mode { CONV_GATHER, CONV_SCATTER, CONV_WEIGHT };

/* Fills the operand that `mode` writes (small, big, weight) from the other two, and adds `bias`,
 * a number for each of its channels (NULL: none), before it is rounded. */
void conv_walk(const struct conv *c, enum conv_mode mode, struct ag_tensor *small,
               struct ag_tensor *big, struct ag_tensor *weight, struct ag_tensor *bias);

#endif
