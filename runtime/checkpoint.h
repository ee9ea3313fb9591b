#ifndef GRAPHLINT_RUNTIME_CHECKPOINT_H
#define GRAPHLINT_RUNTIME_CHECKPOINT_H

/* What a checkpoint keeps. Reentrant, it is one node of the graph. Otherwise the
 * graph has the nodes of the ops themselves, and a hidden node, the region, keeps
 * the inputs: what those nodes save is a holder, empty until a backward asks for
 * one and everything is computed again. A holder lives in the region's list and
 * belongs to the node that saved it; nodes own their region. */

#include "runtime/core.h"

struct ag_holder {
	struct ag_tensor *value; /* computed again, not asked for yet */
	struct ag_node *origin;  /* what made it; the accumulator of a leaf; NULL: none */
	int64_t *shape;
	uint32_t slot;
	uint8_t ndim, dtype;
	bool live, asked;
};

struct ag_checkpoint {
	ag_checkpoint_fn *run;
	struct ag_closure closure;
	struct ag_random random;        /* as it was before the first run */
	struct ag_autocast autocast[2]; /* likewise */
	struct ag_tensor *state;        /* the tensor PyTorch keeps it in */
	struct ag_holder *holders;
	uint32_t count, capacity; /* of holders */
	uint32_t counted;         /* saved by the run that computes them again */
	uint64_t backward;        /* for which they were */
};

struct ag_checkpoint *ag_checkpoint_new(struct ag_ctx *ctx, ag_checkpoint_fn *run,
                                        struct ag_closure closure, bool preserve_rng);
/* Runs it again, with gradients on and the random numbers of the first time. */
bool ag_checkpoint_again(struct ag_ctx *ctx, struct ag_checkpoint *cp,
                         struct ag_tensor *const *inputs, uint32_t ninputs,
                         struct ag_results *outputs);

bool ag_region_run(struct ag_ctx *ctx, struct ag_checkpoint *cp, struct ag_tensor *const *inputs,
                   uint32_t ninputs, struct ag_results *outputs);
/* Node n saves t as its i-th while a region runs: true if that is all there is to do. */
bool ag_region_save(struct ag_node *n, uint32_t i, struct ag_tensor *t, bool is_output);
struct ag_tensor *ag_region_unpack(struct ag_node *n, uint32_t i);
void ag_region_forget(struct ag_node *n, uint32_t i);
/* The formula of n has run: what it asked for goes. */
void ag_region_done(struct ag_node *n);
struct ag_node *ag_region_origin(const struct ag_node *n, uint32_t i);
void ag_region_release(struct ag_checkpoint *cp);

#endif
