#ifndef GRAPHLINT_RUNTIME_COPY_SLICES_H
#define GRAPHLINT_RUNTIME_COPY_SLICES_H

/* A write into a view makes the base's history a CopySlices node: it wraps the
 * op's own node and sends the rest of the gradient on to the base's old history. */

#include "runtime/core.h"

void ag_copy_slices(struct ag_tensor *view, struct ag_node *fn);
/* After a backward that frees the op's own node is gone. */
void ag_copy_slices_drop(struct ag_node *n);
struct ag_node *ag_copy_slices_inner(const struct ag_node *n); /* NULL then; borrowed */

#endif
