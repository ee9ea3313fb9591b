/* Walks over a tree of modules, and what is done to all of it: modes, moves, copies. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/module.h"
#include "runtime/op.h"

/* A stack of modules with their path; each module and tensor is met once. */

struct frame {
	struct ag_module *m;
	char *path;
};

struct walk {
	struct frame *stack;
	uint32_t count;
	const void **seen;
	uint32_t nseen;
};

static bool first_time(struct walk *w, const void *object)
{
	uint32_t i;

	for (i = 0; i < w->nseen; i++) {
		if (w->seen[i] == object)
			return false;
	}
	w->seen = ag_grow(w->seen, w->nseen + 1u, sizeof(*w->seen));
	w->seen[w->nseen++] = object;
	return true;
}

static void walk_push(struct walk *w, struct ag_module *m, const char *path, const char *name)
{
	size_t size = strlen(path) + strlen(name) + 2;
	char *full = ag_alloc(size, 1);

	snprintf(full, size, "%s%s%s", path, *path && *name ? "." : "", name);
	w->stack = ag_grow(w->stack, w->count + 1u, sizeof(*w->stack));
	w->stack[w->count].m = m;
	w->stack[w->count++].path = full;
}

/* The next module, children of one before its siblings; `path` is the caller's. */
static struct ag_module *walk_next(struct walk *w, char **path)
{
	while (w->count) {
		struct frame f = w->stack[--w->count];
		uint32_t i;

		if (!f.m || !first_time(w, f.m)) {
			free(f.path);
			continue;
		}
		for (i = f.m->nlinks; i-- > 0;)
			walk_push(w, f.m->links[i].child, f.path, f.m->links[i].name);
		*path = f.path;
		return f.m;
	}
	return NULL;
}

static void walk_release(struct walk *w)
{
	while (w->count)
		free(w->stack[--w->count].path);
	free(w->stack);
	free(w->seen);
}

bool ag_module_each(struct ag_module *m, enum ag_slot_kind kind, ag_module_visit_fn *fn, void *data)
{
	struct walk w = {0};
	char *path, *full;
	bool go_on = true;
	uint32_t i;

	walk_push(&w, m, "", "");
	while (go_on && (m = walk_next(&w, &path)) != NULL) {
		for (i = 0; i < m->nslots && go_on; i++) {
			struct ag_module_slot *s = &m->slots[i];
			size_t size;

			if (s->kind != kind || !s->tensor || !first_time(&w, s->tensor))
				continue;
			size = strlen(path) + strlen(s->name) + 2;
			full = ag_alloc(size, 1);
			snprintf(full, size, "%s%s%s", path, *path ? "." : "", s->name);
			go_on = fn(data, full, s->tensor);
			free(full);
		}
		free(path);
	}
	walk_release(&w);
	return go_on;
}

typedef bool module_fn(struct ag_ctx *ctx, struct ag_module *m, const void *data);

static bool each_module(struct ag_ctx *ctx, struct ag_module *m, module_fn *fn, const void *data)
{
	struct walk w = {0};
	bool good = true;
	char *path;

	walk_push(&w, m, "", "");
	while (good && (m = walk_next(&w, &path)) != NULL) {
		good = fn(ctx, m, data);
		free(path);
	}
	walk_release(&w);
	return good;
}

static bool set_training(struct ag_ctx *ctx, struct ag_module *m, const void *data)
{
	(void)ctx;
	m->training = *(const bool *)data;
	return true;
}

void ag_module_train(struct ag_module *m, bool training)
{
	each_module(m->ctx, m, set_training, &training);
}

bool ag_module_training(const struct ag_module *m)
{
	return m->training;
}

static bool set_requires(struct ag_ctx *ctx, struct ag_module *m, const void *data)
{
	uint32_t i;

	for (i = 0; i < m->nslots; i++) {
		if (m->slots[i].kind == AG_SLOT_PARAMETER && m->slots[i].tensor &&
		    !ag_set_requires_grad(ctx, m->slots[i].tensor, *(const bool *)data))
			return false;
	}
	return true;
}

bool ag_module_requires_grad(struct ag_ctx *ctx, struct ag_module *m, bool on)
{
	return each_module(ctx, m, set_requires, &on);
}

bool ag_zero_grad_of(struct ag_ctx *ctx, struct ag_tensor *p, bool set_to_none)
{
	struct ag_value v[1] = {ag_arg(p->grad)};
	struct ag_results results;
	bool good;

	if (!p->grad)
		return true;
	if (set_to_none)
		return ag_set_grad(ctx, p, NULL);
	if (p->grad->grad_fn) {
		if (!ag_run_op(ctx, AG_OP_detach, true, v, 1, &results))
			return false;
		ag_results_release(&results);
	} else {
		p->grad->requires_grad = false;
	}
	good = ag_zero_(ctx, p->grad);
	return good;
}

static bool zero_grads(struct ag_ctx *ctx, struct ag_module *m, const void *data)
{
	uint32_t i;

	for (i = 0; i < m->nslots; i++) {
		if (m->slots[i].kind == AG_SLOT_PARAMETER && m->slots[i].tensor &&
		    !ag_zero_grad_of(ctx, m->slots[i].tensor, *(const bool *)data))
			return false;
	}
	return true;
}

bool ag_module_zero_grad(struct ag_ctx *ctx, struct ag_module *m, bool set_to_none)
{
	return each_module(ctx, m, zero_grads, &set_to_none);
}

struct target {
	const enum ag_dtype *dtype;
	const enum ag_device *device;
	enum ag_format format; /* of images */
};

static struct ag_tensor *converted(struct ag_ctx *ctx, struct ag_tensor *t, const struct target *to)
{
	bool image = t->ndim == 4 || t->ndim == 5;
	enum ag_dtype dtype = (enum ag_dtype)t->dtype;

	if (image && !ag_format_fits(ctx, to->format, t->ndim))
		return NULL;
	if (to->dtype && !ag_dtype_is_float(*to->dtype))
		return ag_null(
		        ctx, AG_ERR_TYPE,
		        "nn.Module.to only accepts floating point or complex dtypes, but got "
		        "desired dtype=torch.%s",
		        ag_dtype_name(*to->dtype));
	if (to->dtype && ag_dtype_is_float(dtype))
		dtype = *to->dtype;
	return op_to(ctx, t, dtype, image ? to->format : AG_PRESERVE);
}

/* The parameters stay the same objects; their storages are replaced. */
static bool move_tensors(struct ag_ctx *ctx, struct ag_module *m, const void *data)
{
	const struct target *to = data;
	enum ag_device device = ctx->default_device;
	uint32_t i;

	for (i = 0; i < m->nslots; i++) {
		struct ag_tensor *t = m->slots[i].tensor, *moved;
		size_t mark = ag_scope_open(ctx);
		struct ag_grad_mode mode = ag_no_grad(ctx);
		bool good = true;

		if (t && to->device)
			ag_set_default_device(ctx, *to->device);
		moved = t ? converted(ctx, t, to) : NULL;
		if (t && moved == t && to->device && t->storage->device != *to->device)
			moved = op_clone(ctx, t);
		if (t && moved != t) {
			good = ag_set_data(ctx, t, moved);
			if (good)
				ag_storage_set_kind(t->storage, AG_KIND_PARAMETER);
		}
		ctx->default_device = device;
		ag_set_grad_mode(ctx, mode);
		ag_scope_close(ctx, mark);
		if (!good || (t && !moved))
			return false;
	}
	return true;
}

bool ag_module_to(struct ag_ctx *ctx, struct ag_module *m, const enum ag_dtype *dtype,
                  const enum ag_device *device)
{
	struct target to = {dtype, device, AG_PRESERVE};

	return each_module(ctx, m, move_tensors, &to);
}

bool ag_module_to_format(struct ag_ctx *ctx, struct ag_module *m, enum ag_format format)
{
	struct target to = {NULL, NULL, format};

	return each_module(ctx, m, move_tensors, &to);
}

/* ---- deep copies: parameters by their data, gradients left out */

static struct ag_module *copy_one(struct ag_ctx *ctx, const struct ag_module *m)
{
	struct ag_module *copy = ag_module_alloc(ctx, m->id, m->name);
	struct ag_grad_mode mode = ag_no_grad(ctx);
	uint32_t i;

	copy->training = m->training;
	for (i = 0; i < m->signature->count; i++) {
		copy->settings[i] = m->settings[i];
		ag_setting_own(&copy->settings[i]);
	}
	for (i = 0; i < m->nslots; i++) {
		struct ag_tensor *t = m->slots[i].tensor, *data = t ? ag_clone(ctx, t) : NULL,
		                 *p = data;

		if (t && t->is_parameter && data) {
			p = ag_parameter(ctx, data, t->requires_grad);
			ag_release(data);
		} else if (data) {
			ag_storage_set_kind(data->storage, (enum ag_kind)t->storage->kind);
		}
		ag_module_set_tensor(ctx, copy, m->slots[i].kind, m->slots[i].name, p);
		ag_release(p);
	}
	ag_set_grad_mode(ctx, mode);
	return copy;
}

struct copies {
	struct ag_module **from, **to;
	uint32_t count;
};

static struct ag_module *copied(const struct copies *c, const struct ag_module *m)
{
	uint32_t i;

	for (i = 0; i < c->count; i++) {
		if (c->from[i] == m)
			return c->to[i];
	}
	return NULL;
}

struct ag_module *ag_module_copy(struct ag_ctx *ctx, struct ag_module *m)
{
	struct copies c = {0};
	struct walk w = {0};
	struct ag_module *at, *root;
	uint32_t i, k;
	char *path;

	walk_push(&w, m, "", "");
	while ((at = walk_next(&w, &path)) != NULL) {
		free(path);
		c.from = ag_grow(c.from, c.count + 1u, sizeof(struct ag_module *));
		c.to = ag_grow(c.to, c.count + 1u, sizeof(struct ag_module *));
		c.from[c.count] = at;
		c.to[c.count++] = copy_one(ctx, at);
	}
	walk_release(&w);
	for (i = 0; i < c.count; i++) {
		for (k = 0; k < c.from[i]->nlinks; k++)
			ag_module_set_child(ctx, c.to[i], c.from[i]->links[k].name,
			                    copied(&c, c.from[i]->links[k].child));
	}
	root = ag_module_retain(c.to[0]);
	for (i = 0; i < c.count; i++)
		ag_module_release(c.to[i]);
	free(c.from);
	free(c.to);
	return root;
}
