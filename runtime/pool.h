#ifndef GRAPHLINT_RUNTIME_POOL_H
#define GRAPHLINT_RUNTIME_POOL_H

/* Arguments and sizes of pooling, averages and maxima alike. */

#include "runtime/spatial.h"

struct pool {
	struct ag_tensor *x;
	int64_t kernel[SPATIAL_DIMS], stride[SPATIAL_DIMS], pad[SPATIAL_DIMS],
	        dilation[SPATIAL_DIMS];
	int64_t shape[AG_MAX_DIMS]; /* of the result */
	bool ceil_mode;
	int nd;
};

/* Arguments 1 to 3 of every pool: kernel, stride (none: the kernel), padding; `dilation` is the
 * argument that has it, 0 if there is none. */
bool pool_read(struct ag_frame *f, struct pool *p, int nd, int dilation, int ceil_mode);
/* The output sizes of an adaptive pool; those that were left as None stay the input's. */
bool pool_adaptive_shape(struct ag_frame *f, int nd, int64_t *out, int64_t *shape);

#endif
