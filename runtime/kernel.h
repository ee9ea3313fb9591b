#ifndef GRAPHLINT_RUNTIME_KERNEL_H
#define GRAPHLINT_RUNTIME_KERNEL_H

/* Element loops. Elements are computed as doubles (or 64-bit integers) and
 * rounded once to the result's dtype, in a fixed order. When an input has no
 * data the result loses its own. */

#include "runtime/core.h"

enum { AG_CHUNK = 256, AG_MAP_INPUTS = 5 };

typedef void ag_map_fn(int64_t n, double *out, const double *const *in, const double *p);
typedef void ag_imap_fn(int64_t n, int64_t *out, const int64_t *const *in, const double *p);

/* out[i] = fn(in[0][i], ...); inputs are broadcast to out's shape. */
void ag_map(struct ag_tensor *out, struct ag_tensor *const *in, int nin, ag_map_fn *fn,
            const double *p);
void ag_imap(struct ag_tensor *out, struct ag_tensor *const *in, int nin, ag_imap_fn *fn,
             const double *p);
/* Whether there is something to compute and the data is there; drops out's when an input has
 * none. Views may have more elements than any data: then they are as good as without. */
bool ag_ready(struct ag_tensor *out, struct ag_tensor *const *in, int nin);
/* Whether random numbers are to be drawn into it: in meta mode, and where there is not
 * enough work left for them, its data goes. */
bool ag_drawable(struct ag_tensor *t);
bool ag_ready1(struct ag_tensor *out, struct ag_tensor *a);
bool ag_ready2(struct ag_tensor *out, struct ag_tensor *a, struct ag_tensor *b);
/* Copies with conversion; src is broadcast. */
void ag_copy_data(struct ag_tensor *out, struct ag_tensor *src);
void ag_fill_data(struct ag_tensor *out, double value);

/* Row-order arrays of doubles for kernels that index freely: what ag_plain
 * returns is freed by the caller; NULL without data. */
double *ag_plain(const struct ag_tensor *t);
int64_t *ag_plain_ints(const struct ag_tensor *t);
void ag_put_plain(struct ag_tensor *t, const double *values);
void ag_put_ints(struct ag_tensor *t, const int64_t *values);

#endif
