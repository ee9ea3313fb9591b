#ifndef GRAPHLINT_RUNTIME_AUTOCAST_H
#define GRAPHLINT_RUNTIME_AUTOCAST_H

/* Autocast: around a row of autocast.def its tensors are cast, and the rows that it calls are left
 * alone. A cast of a leaf that requires grad is kept, and owned by the context, until the
 * outermost region ends; as the cast has a graph, the leaf lives as long. */

#include "runtime/frame.h"

struct ag_kept_cast {
	uint64_t leaf; /* its id */
	struct ag_tensor *cast;
};

struct ag_autocast_state {
	struct ag_autocast on[2]; /* by device */
	uint32_t depth;           /* regions that are open, switched off ones too */
	struct ag_kept_cast *kept;
	uint32_t count, capacity;
};

/* What a frame had before its arguments were cast. */
struct ag_uncast {
	bool active;
	bool enabled[2];
	uint32_t lists;
	struct ag_value *list[AG_MAX_PARAMS]; /* copies, owned */
	struct ag_value v[AG_MAX_PARAMS];
};

/* Both in the scope that the row runs in. False, with an error, when a cast failed. */
bool ag_autocast_open(struct ag_frame *f, struct ag_uncast *before);
void ag_autocast_close(struct ag_frame *f, struct ag_uncast *before);
void ag_autocast_init(struct ag_ctx *ctx);
void ag_autocast_release(struct ag_ctx *ctx);

#endif
