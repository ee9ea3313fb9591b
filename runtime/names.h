#ifndef GRAPHLINT_RUNTIME_NAMES_H
#define GRAPHLINT_RUNTIME_NAMES_H

/* From torch names to rows of ops.def. A name may have several rows, which
 * follow each other in table order. */

#include "runtime/core.h"

/* The first row named `name` at or after `from`, AG_OP_NONE when there is none.
 * `inplace` is set when the row is meant with a trailing underscore. */
enum ag_op ag_names_next(struct ag_ctx *ctx, const char *name, enum ag_op from, bool *inplace);
void ag_names_release(struct ag_ctx *ctx);

#endif
