#ifndef GRAPHLINT_RUNTIME_ELEMENT_H
#define GRAPHLINT_RUNTIME_ELEMENT_H

/* Single elements of any dtype, and walking a tensor's elements in row order.
 * Complex elements are read as their real part. Positions count elements from
 * the start of the storage. */

#include "runtime/core.h"

double ag_load_double(enum ag_dtype dtype, const void *data, int64_t at);
int64_t ag_load_int(enum ag_dtype dtype, const void *data, int64_t at);
void ag_store_double(enum ag_dtype dtype, void *data, int64_t at, double value);
void ag_store_int(enum ag_dtype dtype, void *data, int64_t at, int64_t value);
/* `n` elements `stride` apart to or from a plain array. */
void ag_load_row(enum ag_dtype dtype, const void *data, int64_t at, int64_t stride, int64_t n,
                 double *out);
void ag_store_row(enum ag_dtype dtype, void *data, int64_t at, int64_t stride, int64_t n,
                  const double *in);
void ag_load_ints(enum ag_dtype dtype, const void *data, int64_t at, int64_t stride, int64_t n,
                  int64_t *out);
void ag_store_ints(enum ag_dtype dtype, void *data, int64_t at, int64_t stride, int64_t n,
                   const int64_t *in);
float ag_half_to_float(uint16_t half);
uint16_t ag_float_to_half(float value);
uint16_t ag_float_to_bfloat(float value);

/* C leaves the conversion of what does not fit undefined; x86 gives INT64_MIN. */
static inline int64_t ag_to_int(double value)
{
	if (value >= -9223372036854775808.0 && value < 9223372036854775808.0)
		return (int64_t)value;
	return INT64_MIN;
}

/* Moves `index` to the next element in row order; returns how far that is. */
static inline int64_t ag_step(const struct ag_tensor *t, int64_t *index)
{
	int64_t move = 0;
	int d;

	for (d = t->ndim - 1; d >= 0; d--) {
		move += t->strides[d];
		if (++index[d] < t->shape[d])
			return move;
		index[d] = 0;
		move -= t->strides[d] * t->shape[d];
	}
	return move;
}

int ag_category(enum ag_dtype dtype); /* 0 bool, 1 integer, 2 floating, 3 complex */
static inline bool ag_is_real_float(enum ag_dtype dtype)
{
	return ag_category(dtype) == 2;
}

#endif
