#include "runtime/autocast.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/element.h"
#include "runtime/op.h"

enum policy { PASS, LOWER, FULL, WIDEST, RESULT };

static const uint8_t policies[AG_OP_COUNT][2] = {
#define AUTOCAST(op, cpu, cuda) [AG_OP_##op] = {[AG_CPU] = (cpu), [AG_CUDA] = (cuda)},
#include "runtime/autocast.def"
#undef AUTOCAST
};

/* ---- regions */

void ag_autocast_init(struct ag_ctx *ctx)
{
	ctx->autocast = ag_alloc(1, sizeof(*ctx->autocast));
	ctx->autocast->on[AG_CPU] = (struct ag_autocast){.dtype = AG_BF16, .cache = true};
	ctx->autocast->on[AG_CUDA] = (struct ag_autocast){.dtype = AG_F16, .cache = true};
}

static void drop_casts(struct ag_ctx *ctx)
{
	struct ag_autocast_state *s = ctx->autocast;

	while (s->count)
		ag_release(s->kept[--s->count].cast);
}

void ag_autocast_release(struct ag_ctx *ctx)
{
	drop_casts(ctx);
	free(ctx->autocast->kept);
	free(ctx->autocast);
	ctx->autocast = NULL;
}

struct ag_autocast ag_autocast_of(const struct ag_ctx *ctx, enum ag_device device)
{
	return ctx->autocast->on[device == AG_CUDA];
}

/* Whether casts are kept is one switch for all devices. */
void ag_autocast_set(struct ag_ctx *ctx, enum ag_device device, struct ag_autocast region)
{
	struct ag_autocast *on = ctx->autocast->on;

	/* As PyTorch does with a dtype that it does not cast to. */
	if (region.dtype >= AG_DTYPE_COUNT || ag_category(region.dtype) != 2)
		region.enabled = false;
	on[device == AG_CUDA] = region;
	on[AG_CPU].cache = on[AG_CUDA].cache = region.cache;
}

void ag_autocast_forget(struct ag_ctx *ctx)
{
	drop_casts(ctx);
}

struct ag_autocast ag_autocast_enter(struct ag_ctx *ctx, enum ag_device device,
                                     struct ag_autocast region)
{
	struct ag_autocast before = ctx->autocast->on[device == AG_CUDA];

	ag_autocast_set(ctx, device, region);
	ctx->autocast->depth++;
	return before;
}

void ag_autocast_exit(struct ag_ctx *ctx, enum ag_device device, struct ag_autocast before)
{
	struct ag_autocast_state *s = ctx->autocast;

	if (s->depth && --s->depth == 0)
		drop_casts(ctx);
	ag_autocast_set(ctx, device, before);
}

/* ---- casts */

static bool eligible(const struct ag_tensor *t, enum ag_device device)
{
	return t && ag_category((enum ag_dtype)t->dtype) == 2 && t->dtype != AG_F64 &&
	       t->storage->device == device;
}

/* What a model's weights are: their casts serve until the region ends. */
static bool is_kept(const struct ag_tensor *t, const struct ag_autocast *on, enum ag_dtype dtype)
{
	return on->cache && dtype == on->dtype && t->dtype == AG_F32 && t->requires_grad &&
	       !t->grad_fn && !t->base;
}

/* With a graph, also where gradients are off: who uses it next may want one. */
static struct ag_tensor *kept_cast(struct ag_ctx *ctx, struct ag_tensor *t, enum ag_dtype dtype)
{
	struct ag_autocast_state *s = ctx->autocast;
	struct ag_grad_mode mode;
	struct ag_tensor *cast;
	uint32_t i;

	for (i = 0; i < s->count; i++) {
		if (s->kept[i].leaf == t->id)
			return s->kept[i].cast;
	}
	mode = ag_enable_grad(ctx);
	cast = op_cast(ctx, t, dtype);
	ag_set_grad_mode(ctx, mode);
	if (!cast)
		return NULL;
	if (s->count == s->capacity) {
		s->capacity = s->capacity ? 2 * s->capacity : 16;
		s->kept = ag_grow(s->kept, s->capacity, sizeof(*s->kept));
	}
	s->kept[s->count++] = (struct ag_kept_cast){t->id, ag_retain(cast)};
	return cast;
}

struct job {
	struct ag_frame *f;
	const struct ag_autocast *on;
	enum ag_device device;
	enum ag_dtype dtype; /* to cast to; while looking: the widest so far */
};

/* Tensors among the values are replaced by their casts; false when one failed. */
static bool cast_values(const struct job *j, struct ag_value *values, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++) {
		struct ag_tensor *t = values[i].kind == AG_TENSOR ? values[i].as.tensor : NULL;

		if (!eligible(t, j->device) || t->dtype == j->dtype)
			continue;
		t = !j->f->ctx->mode.inference && is_kept(t, j->on, j->dtype)
		            ? kept_cast(j->f->ctx, t, j->dtype)
		            : op_cast(j->f->ctx, t, j->dtype);
		if (!t)
			return false;
		values[i].as.tensor = t;
	}
	return true;
}

static bool cast_all(const struct job *j, struct ag_uncast *before)
{
	struct ag_frame *f = j->f;
	uint32_t i;

	for (i = 0; i < f->count; i++) {
		struct ag_value *v = &f->v[i], *copy;

		if (v->kind != AG_LIST) {
			if (!cast_values(j, v, 1))
				return false;
			continue;
		}
		copy = ag_alloc(v->count, sizeof(*copy));
		before->list[before->lists++] = copy;
		if (v->count)
			memcpy(copy, v->as.list, v->count * sizeof(*copy));
		v->as.list = copy;
		if (!cast_values(j, copy, v->count))
			return false;
	}
	return true;
}

/* float32 as soon as one has it. */
static enum ag_dtype widest(const struct job *j)
{
	const struct ag_frame *f = j->f;
	enum ag_dtype dtype = j->on->dtype;
	uint32_t i, k, count;

	for (i = 0; i < f->count; i++) {
		const struct ag_value *items = value_items(&f->v[i], &count);

		for (k = 0; k < count; k++) {
			if (items[k].kind == AG_TENSOR && eligible(items[k].as.tensor, j->device) &&
			    items[k].as.tensor->dtype == AG_F32)
				dtype = AG_F32;
		}
	}
	return dtype;
}

/* dtype=float32, unless the caller says another. */
static void name_dtype(const struct job *j)
{
	const struct ag_signature *s = ag_signature_of(j->f->ctx, j->f->op);
	uint32_t i;

	if (!eligible(arg_t(j->f, 0), j->device))
		return;
	for (i = 0; i < s->count; i++) {
		if (!strcmp(s->at[i].name, "dtype") && arg_none(j->f, i))
			j->f->v[i] = ag_type(AG_F32);
	}
}

static bool apply(struct job *j, enum policy policy, struct ag_uncast *before)
{
	switch (policy) {
	case PASS:
		return true;
	case LOWER:
		j->dtype = j->on->dtype;
		break;
	case FULL:
		j->dtype = AG_F32;
		break;
	case WIDEST:
		j->dtype = widest(j);
		break;
	case RESULT:
		name_dtype(j);
		return true;
	}
	return cast_all(j, before);
}

bool ag_autocast_open(struct ag_frame *f, struct ag_uncast *before)
{
	struct ag_autocast *on = f->ctx->autocast->on;
	bool good = true;
	int d;

	before->active = false;
	if ((!on[AG_CPU].enabled && !on[AG_CUDA].enabled) || f->inplace)
		return true;
	for (d = 0; d < 2 && good; d++) {
		struct job j = {.f = f, .on = &on[d], .device = (enum ag_device)d};
		enum policy policy = (enum policy)policies[f->op][d];

		if (policy == PASS || !on[d].enabled)
			continue;
		if (!before->active) {
			before->active = true;
			before->lists = 0;
			before->enabled[AG_CPU] = on[AG_CPU].enabled;
			before->enabled[AG_CUDA] = on[AG_CUDA].enabled;
			memcpy(before->v, f->v, f->count * sizeof(*f->v));
		}
		good = apply(&j, policy, before);
		on[d].enabled = false;
	}
	return good;
}

void ag_autocast_close(struct ag_frame *f, struct ag_uncast *before)
{
	struct ag_autocast *on = f->ctx->autocast->on;

	if (!before->active)
		return;
	on[AG_CPU].enabled = before->enabled[AG_CPU];
	on[AG_CUDA].enabled = before->enabled[AG_CUDA];
	memcpy(f->v, before->v, f->count * sizeof(*f->v));
	while (before->lists)
		free(before->list[--before->lists]);
}
