#ifndef GRAPHLINT_RUNTIME_BINARY_H
#define GRAPHLINT_RUNTIME_BINARY_H

/* Two operands of a pointwise op: numbers wrapped, shapes broadcast, dtypes
 * promoted. */

#include "runtime/op.h"

struct ag_binary {
	struct ag_tensor *in[2]; /* borrowed; numbers are wrapped */
	enum ag_dtype dtype;
	int ndim;
	int64_t shape[AG_MAX_DIMS];
	bool record;
};

bool ag_binary_open(struct ag_frame *f, struct ag_binary *b);
struct ag_tensor *ag_binary_out(struct ag_frame *f, const struct ag_binary *b);

#define MAP2(name, T, expression)                                                                  \
	static void name(int64_t n, T *out, const T *const *in, const double *p)                   \
	{                                                                                          \
		int64_t i;                                                                         \
		(void)p;                                                                           \
		for (i = 0; i < n; i++) {                                                          \
			T x = in[0][i], y = in[1][i];                                              \
			out[i] = (T)(expression);                                                  \
		}                                                                                  \
	}

/* Two's complement, as PyTorch's integers wrap. */
static inline int64_t ag_wrap64(uint64_t x)
{
	return (int64_t)x;
}

#endif
