/* Whether two runs trained alike: a digest of what all weights were on the way. */

#include <stdlib.h>

#include "analyzer/base/hash.h"
#include "analyzer/replay/measure.h"
#include "runtime/core.h"

enum { MOST_WEIGHTS = 1 << 22 }; /* numbers; further ones are not read */

struct weights {
	struct ag_ctx *ctx;
	uint64_t digest;
	int64_t left;
};

/* Tensors are added up, because the order they were made in may differ. */
static bool add_tensor(void *data, struct ag_tensor *t)
{
	struct weights *weights = data;
	const struct ag_storage *storage = ag_storage_of(t);
	const int64_t count = ag_numel(t);
	double *values;

	if (!storage || ag_storage_kind(storage) != AG_KIND_PARAMETER || !ag_is_leaf(t) ||
	    !ag_requires_grad(t) || !ag_has_data(t) || count > weights->left)
		return true;
	weights->left -= count;
	values = checked_alloc((size_t)count + 1, sizeof(*values));
	if (ag_read(weights->ctx, t, values, count))
		weights->digest += hash_bytes(values, (size_t)count * sizeof(*values));
	free(values);
	return true;
}

void weights_note(struct replay *r)
{
	struct weights weights = {.ctx = ctx_of(r->vm), .left = MOST_WEIGHTS};
	const uint32_t count = r->result->count;

	if (count & (count - 1))
		return;
	ag_each_tensor(weights.ctx, add_tensor, &weights);
	r->result->weights = hash_join(r->result->weights, weights.digest);
}
