#ifndef GRAPHLINT_RUNTIME_LOSS_H
#define GRAPHLINT_RUNTIME_LOSS_H

/* What losses share: the reduction argument and operands of one shape. */

#include "runtime/frame.h"

enum ag_loss_reduction { AG_REDUCE_NONE, AG_REDUCE_MEAN, AG_REDUCE_SUM, AG_REDUCE_BATCHMEAN };

bool ag_reduction_arg(struct ag_frame *f, uint32_t i, enum ag_loss_reduction *r);
struct ag_tensor *ag_reduce_loss(struct ag_ctx *c, struct ag_tensor *loss,
                                 enum ag_loss_reduction r);
/* Arguments 0 and 1, broadcast against each other; borrowed. */
bool ag_loss_operands(struct ag_frame *f, struct ag_tensor **x, struct ag_tensor **y);

#endif
