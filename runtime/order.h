#ifndef GRAPHLINT_RUNTIME_ORDER_H
#define GRAPHLINT_RUNTIME_ORDER_H

/* The order of numbers: stable, NaN as the largest, as torch.sort has it. */

#include <stdbool.h>
#include <stdint.h>

void ag_order(const double *x, int64_t n, bool down, int64_t *order);

#endif
