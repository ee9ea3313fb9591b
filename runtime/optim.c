/* Optimizers: groups, state, and one step over all parameters. */

#include <stdlib.h>
#include <string.h>

#include "runtime/op.h"
#include "runtime/optim.h"

static const struct {
	const char *name, *signature;
	ag_step_fn *step;
} infos[AG_OPTIM_COUNT] = {
#define OPTIM(name, signature, step) [AG_OPTIM_##name] = {#name, signature, ag_step_##step},
#include "runtime/optims.def"
#undef OPTIM
};

static int find_optim(const char *name)
{
	const char *dot = strrchr(name, '.');
	int i;

	name = dot ? dot + 1 : name;
	for (i = 0; i < AG_OPTIM_COUNT; i++) {
		if (!strcmp(infos[i].name, name))
			return i;
	}
	return -1;
}

bool ag_optim_known(const char *name)
{
	return find_optim(name) >= 0;
}

static int number_index(const struct ag_optim *o, const char *name)
{
	uint32_t i;

	for (i = 0; i < o->signature->count; i++) {
		if (!strcmp(o->signature->at[i].name, name))
			return (int)i;
	}
	return -1;
}

double ag_group_number(const struct ag_optim *o, const struct ag_optim_group *g, const char *name)
{
	int i = number_index(o, name);

	return i < 0 ? 0 : g->numbers[i];
}

struct ag_tensor *ag_state(struct ag_ctx *ctx, struct ag_param_state *s, int i, double value)
{
	struct ag_tensor *p = s->param;

	if (s->at[i])
		return s->at[i];
	s->at[i] = ag_make(ctx, (enum ag_dtype)p->dtype, p->ndim, p->shape, true);
	if (!s->at[i])
		return NULL;
	ag_storage_set_kind(s->at[i]->storage, AG_KIND_OPTIM);
	if (value != 0)
		ag_fill_data(s->at[i], value);
	return s->at[i];
}

bool ag_state_step(struct ag_ctx *ctx, struct ag_param_state *s)
{
	if (!s->step) {
		s->step = ag_make(ctx, AG_F32, 0, NULL, true);
		if (!s->step)
			return false;
		ag_storage_set_kind(s->step->storage, AG_KIND_OPTIM);
	}
	s->count += 1;
	ag_fill_data(s->step, s->count);
	return true;
}

static void read_group(struct ag_optim *o, struct ag_optim_group *g, const struct ag_value *values)
{
	uint32_t i;

	g->betas[0] = 0.9;
	g->betas[1] = 0.999;
	for (i = 0; i < o->signature->count; i++) {
		g->numbers[i] = ag_value_float(&values[i]);
		if (values[i].kind == AG_LIST && values[i].count == 2) {
			g->betas[0] = ag_value_float(&values[i].as.list[0]);
			g->betas[1] = ag_value_float(&values[i].as.list[1]);
		}
	}
}

/* Adagrad makes its state when it is made. */
static bool eager_state(struct ag_ctx *ctx, struct ag_optim *o, struct ag_optim_group *g)
{
	uint32_t i;

	for (i = 0; o->id == AG_OPTIM_Adagrad && i < g->count; i++) {
		struct ag_param_state *s = &g->params[i];

		if (!ag_state_step(ctx, s) ||
		    !ag_state(ctx, s, 0, ag_group_number(o, g, "initial_accumulator_value")))
			return false;
		s->count = 0;
		ag_fill_data(s->step, 0);
	}
	return true;
}

bool ag_optim_add_group(struct ag_ctx *ctx, struct ag_optim *o, struct ag_tensor *const *params,
                        uint32_t count, const struct ag_args *args)
{
	static const struct ag_args nothing = {0};
	struct ag_value values[AG_MAX_PARAMS], extra[AG_MAX_PARAMS];
	struct ag_optim_group *g;
	char why[160];
	uint32_t i;

	if (!ag_bind(o->signature, args ? args : &nothing, values, extra, 0, why, sizeof(why)))
		return ag_fail(ctx, AG_ERR_TYPE, "%s.__init__(): %s", infos[o->id].name, why);
	for (i = 0; i < count; i++) {
		if (!params[i] || params[i]->grad_fn)
			return ag_fail(ctx, AG_ERR_VALUE, "can't optimize a non-leaf Tensor");
	}
	o->groups = ag_grow(o->groups, o->ngroups + 1u, sizeof(*o->groups));
	g = &o->groups[o->ngroups++];
	memset(g, 0, sizeof(*g));
	g->params = ag_alloc(count, sizeof(*g->params));
	g->count = count;
	for (i = 0; i < count; i++) {
		g->params[i].param = ag_retain(params[i]);
		g->params[i].product = 1;
	}
	read_group(o, g, values);
	return eager_state(ctx, o, g);
}

struct ag_optim *ag_optim_new(struct ag_ctx *ctx, const char *name, struct ag_tensor *const *params,
                              uint32_t count, const struct ag_args *args)
{
	int id = find_optim(name);
	struct ag_optim *o;

	if (id < 0) {
		ag_fail(ctx, AG_ERR_UNKNOWN_OP, "module 'torch.optim' has no attribute '%s'", name);
		return NULL;
	}
	if (!count) {
		ag_fail(ctx, AG_ERR_VALUE, "optimizer got an empty parameter list");
		return NULL;
	}
	o = ag_alloc(1, sizeof(*o));
	o->ctx = ctx;
	o->refs = 1;
	o->id = (enum ag_optim_id)id;
	o->signature = ag_alloc(1, sizeof(*o->signature));
	ag_signature_parse(infos[id].signature, o->signature);
	if (!ag_optim_add_group(ctx, o, params, count, args)) {
		ag_optim_release(o);
		return NULL;
	}
	return o;
}

struct ag_optim *ag_optim_retain(struct ag_optim *o)
{
	if (o)
		o->refs++;
	return o;
}

void ag_optim_release(struct ag_optim *o)
{
	uint32_t g, i;
	int k;

	if (!o || --o->refs)
		return;
	for (g = 0; g < o->ngroups; g++) {
		for (i = 0; i < o->groups[g].count; i++) {
			struct ag_param_state *s = &o->groups[g].params[i];

			ag_release(s->param);
			ag_release(s->step);
			for (k = 0; k < AG_STATE_SLOTS; k++)
				ag_release(s->at[k]);
		}
		free(o->groups[g].params);
	}
	free(o->groups);
	free(o->signature);
	free(o);
}

bool ag_optim_step(struct ag_ctx *ctx, struct ag_optim *o)
{
	struct ag_grad_mode mode = ag_no_grad(ctx);
	bool good = true;
	uint32_t g, i;

	for (g = 0; g < o->ngroups && good; g++) {
		for (i = 0; i < o->groups[g].count && good; i++) {
			struct ag_param_state *s = &o->groups[g].params[i];
			size_t mark = ag_scope_open(ctx);

			if (s->param->grad)
				good = infos[o->id].step(ctx, o, &o->groups[g], s);
			good = ag_whole(ctx) && good;
			ag_scope_close(ctx, mark);
		}
	}
	ag_set_grad_mode(ctx, mode);
	return good;
}

bool ag_optim_zero_grad(struct ag_ctx *ctx, struct ag_optim *o, bool set_to_none)
{
	uint32_t g, i;

	for (g = 0; g < o->ngroups; g++) {
		for (i = 0; i < o->groups[g].count; i++) {
			if (!ag_zero_grad_of(ctx, o->groups[g].params[i].param, set_to_none))
				return false;
		}
	}
	return true;
}

bool ag_optim_get(const struct ag_optim *o, uint32_t group, const char *name, double *value)
{
	int i = number_index(o, name);

	if (group >= o->ngroups || i < 0)
		return false;
	*value = o->groups[group].numbers[i];
	return true;
}

bool ag_optim_set(struct ag_optim *o, uint32_t group, const char *name, double value)
{
	int i = number_index(o, name);

	if (group >= o->ngroups || i < 0)
		return false;
	o->groups[group].numbers[i] = value;
	return true;
}

uint32_t ag_optim_groups(const struct ag_optim *o)
{
	return o->ngroups;
}

struct ag_tensor *ag_optim_param(const struct ag_optim *o, uint32_t group, uint32_t index)
{
	if (group >= o->ngroups || index >= o->groups[group].count)
		return NULL;
	return o->groups[group].params[index].param;
}

/* ---- gradients clipped */

static struct ag_tensor *norm_of(struct ag_ctx *ctx, struct ag_tensor *t, double p)
{
	struct ag_value v[2] = {ag_arg(t), ag_float(p)};

	return op_call(ctx, AG_OP_vector_norm, v, 2);
}

bool ag_clip_grad_norm(struct ag_ctx *ctx, struct ag_tensor *const *params, uint32_t count,
                       double max_norm, double norm_type, struct ag_tensor **total)
{
	struct ag_grad_mode mode = ag_no_grad(ctx);
	struct ag_value *norms = ag_alloc(count, sizeof(*norms)), v[2];
	size_t mark = ag_scope_open(ctx);
	struct ag_tensor *all, *scale;
	uint32_t i, n = 0;
	bool good = true;

	for (i = 0; i < count; i++) {
		if (params[i] && params[i]->grad)
			norms[n++] = ag_arg(norm_of(ctx, params[i]->grad, norm_type));
	}
	v[0] = ag_list(norms, n);
	v[1] = ag_int(0);
	all = n ? norm_of(ctx, op_call(ctx, AG_OP_stack, v, 2), norm_type)
	        : op_zeros(ctx, AG_F32, 0, NULL);
	scale = op_div(ctx, op_full_as(ctx, all, max_norm), op_add_n(ctx, all, 1e-6));
	v[0] = ag_arg(scale);
	v[1] = ag_float(1);
	scale = op_call(ctx, AG_OP_clamp_max, v, 2);
	for (i = 0; i < count && good; i++) {
		if (params[i] && params[i]->grad)
			good = scale && ag_mul_(ctx, params[i]->grad, scale);
	}
	if (total)
		*total = good ? ag_retain(all) : NULL;
	ag_scope_close(ctx, mark);
	ag_set_grad_mode(ctx, mode);
	free(norms);
	return good && all;
}

bool ag_clip_grad_value(struct ag_ctx *ctx, struct ag_tensor *const *params, uint32_t count,
                        double value)
{
	struct ag_grad_mode mode = ag_no_grad(ctx);
	bool good = true;
	uint32_t i;

	for (i = 0; i < count && good; i++) {
		struct ag_value v[3] = {ag_arg(params[i] ? params[i]->grad : NULL),
		                        ag_float(-value), ag_float(value)};

		if (params[i] && params[i]->grad)
			good = op_inplace(ctx, AG_OP_clamp, v, 3) != NULL;
	}
	ag_set_grad_mode(ctx, mode);
	return good;
}
