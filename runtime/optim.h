#ifndef GRAPHLINT_RUNTIME_OPTIM_H
#define GRAPHLINT_RUNTIME_OPTIM_H

/* Optimizers: groups of parameters with numbers, and per parameter the state
 * tensors that the first step with a gradient makes. */

#include "runtime/frame.h"

enum { AG_STATE_SLOTS = 4 };

enum ag_optim_id {
#define OPTIM(name, signature, step) AG_OPTIM_##name,
#include "runtime/optims.def"
#undef OPTIM
	AG_OPTIM_COUNT
};

struct ag_param_state {
	struct ag_tensor *param;
	struct ag_tensor *step;               /* 0-dim float32 */
	struct ag_tensor *at[AG_STATE_SLOTS]; /* moments, of the parameter's shape */
	double count;                         /* steps taken */
	double product;                       /* running product that NAdam keeps */
};

struct ag_optim_group {
	struct ag_param_state *params;
	uint32_t count;
	double numbers[AG_MAX_PARAMS]; /* in the signature's order; betas apart */
	double betas[2];
};

struct ag_optim {
	struct ag_ctx *ctx;
	uint32_t refs;
	enum ag_optim_id id;
	struct ag_signature *signature;
	struct ag_optim_group *groups;
	uint32_t ngroups;
};

typedef bool ag_step_fn(struct ag_ctx *ctx, struct ag_optim *o, struct ag_optim_group *g,
                        struct ag_param_state *s);
#define OPTIM(name, signature, step)                                                               \
	bool ag_step_##step(struct ag_ctx *ctx, struct ag_optim *o, struct ag_optim_group *g,      \
	                    struct ag_param_state *s);
#include "runtime/optims.def"
#undef OPTIM

double ag_group_number(const struct ag_optim *o, const struct ag_optim_group *g, const char *name);
/* State tensor i, zeros like the parameter when missing. */
struct ag_tensor *ag_state(struct ag_ctx *ctx, struct ag_param_state *s, int i, double value);
bool ag_state_step(struct ag_ctx *ctx, struct ag_param_state *s);

#endif
