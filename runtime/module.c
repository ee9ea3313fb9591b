/* The tree of modules: making, naming, walking, copying. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/module.h"
#include "runtime/op.h"

static const struct ag_module_info infos[AG_MODULE_COUNT] = {
        [AG_MODULE_CONTAINER] = {"Module", "", "", "", NULL},
#define MODULE(name, signature, function, arguments, build)                                        \
	[AG_MODULE_##name] = {#name, signature, function, arguments, ag_build_##build},
#include "runtime/modules.def"
#undef MODULE
};

const struct ag_module_info *ag_module_info(enum ag_module_id id)
{
	return &infos[id];
}

static char *copy_text(const char *text, size_t length)
{
	char *copy = ag_alloc(length + 1, 1);

	memcpy(copy, text, length);
	return copy;
}

static enum ag_module_id find_kind(const char *name)
{
	const char *dot = strrchr(name, '.');
	int i;

	name = dot ? dot + 1 : name;
	for (i = 1; i < AG_MODULE_COUNT; i++) {
		if (!strcmp(infos[i].name, name))
			return (enum ag_module_id)i;
	}
	return AG_MODULE_CONTAINER;
}

bool ag_module_known(const char *name)
{
	return find_kind(name) != AG_MODULE_CONTAINER;
}

struct ag_module *ag_module_alloc(struct ag_ctx *ctx, enum ag_module_id id, const char *name)
{
	struct ag_module *m = ag_alloc(1, sizeof(*m));

	m->ctx = ctx;
	m->refs = 1;
	m->id = id;
	m->name = copy_text(name, strlen(name));
	m->training = true;
	m->signature = ag_alloc(1, sizeof(*m->signature));
	ag_signature_parse(infos[id].signature, m->signature);
	return m;
}

/* Settings outlive the call that gave them. */
void ag_setting_own(struct ag_value *v)
{
	struct ag_value *items;

	if (v->kind == AG_TEXT) {
		v->as.text = copy_text(v->as.text, v->count);
	} else if (v->kind == AG_LIST) {
		items = ag_alloc(v->count, sizeof(*items));
		if (v->count)
			memcpy(items, v->as.list, v->count * sizeof(*items));
		v->as.list = items;
	} else if (v->kind == AG_TENSOR) {
		ag_retain(v->as.tensor);
	}
}

static void free_setting(struct ag_value *v)
{
	if (v->kind == AG_TEXT)
		free((char *)(uintptr_t)v->as.text);
	else if (v->kind == AG_LIST)
		free((struct ag_value *)(uintptr_t)v->as.list);
	else if (v->kind == AG_TENSOR)
		ag_release(v->as.tensor);
}

/* Settings are sizes that are multiplied with each other. */
static bool sizes_fit(struct ag_ctx *ctx, const struct ag_module *m)
{
	uint32_t i, k, count;

	for (i = 0; i < m->signature->count; i++) {
		const struct ag_value *items = value_items(&m->settings[i], &count);

		for (k = 0; k < count; k++) {
			if (items[k].kind == AG_INT &&
			    (items[k].as.i > INT32_MAX || items[k].as.i < INT32_MIN))
				return ag_fail(ctx, AG_ERR_RUNTIME, "%s: %lld is out of range",
				               m->name, (long long)items[k].as.i);
		}
	}
	return true;
}

struct ag_module *ag_module_new(struct ag_ctx *ctx, const char *name, const struct ag_args *args)
{
	static const struct ag_args nothing = {0};
	enum ag_module_id id = find_kind(name);
	struct ag_value extra[AG_MAX_PARAMS];
	struct ag_module *m;
	char why[160];
	uint32_t i;

	if (id == AG_MODULE_CONTAINER) {
		ag_fail(ctx, AG_ERR_UNKNOWN_OP, "module 'torch.nn' has no attribute '%s'", name);
		return NULL;
	}
	m = ag_module_alloc(ctx, id, infos[id].name);
	if (!ag_bind(m->signature, args ? args : &nothing, m->settings, extra, AG_OPF_FACTORY, why,
	             sizeof(why))) {
		ag_fail(ctx, AG_ERR_TYPE, "%s.__init__(): %s", infos[id].name, why);
		memset(m->settings, 0, sizeof(m->settings));
		ag_module_release(m);
		return NULL;
	}
	for (i = 0; i < m->signature->count; i++)
		ag_setting_own(&m->settings[i]);
	if (!sizes_fit(ctx, m) || !infos[id].build(ctx, m)) {
		ag_module_release(m);
		return NULL;
	}
	return m;
}

struct ag_module *ag_module_container(struct ag_ctx *ctx, const char *name)
{
	return ag_module_alloc(ctx, AG_MODULE_CONTAINER, name);
}

struct ag_module *ag_module_retain(struct ag_module *m)
{
	if (m)
		m->refs++;
	return m;
}

static void bury(struct ag_module *m, struct ag_module **dead)
{
	if (!m || --m->refs)
		return;
	m->next = *dead;
	*dead = m;
}

static void module_free(struct ag_module *m)
{
	uint32_t i;

	for (i = 0; i < m->nslots; i++) {
		free(m->slots[i].name);
		ag_release(m->slots[i].tensor);
	}
	for (i = 0; i < m->nhooks; i++) {
		if (m->hooks[i].closure.release)
			m->hooks[i].closure.release(m->hooks[i].closure.data);
	}
	for (i = 0; i < m->signature->count; i++)
		free_setting(&m->settings[i]);
	free(m->slots);
	free(m->links);
	free(m->hooks);
	free(m->signature);
	free(m->name);
	free(m);
}

/* One after the other, however deep they are nested. */
void ag_module_release(struct ag_module *m)
{
	struct ag_module *dead = NULL;
	uint32_t i;

	bury(m, &dead);
	while (dead) {
		m = dead;
		dead = m->next;
		for (i = 0; i < m->nlinks; i++) {
			free(m->links[i].name);
			bury(m->links[i].child, &dead);
		}
		module_free(m);
	}
}

const char *ag_module_kind(const struct ag_module *m)
{
	return m->name;
}

const struct ag_value *ag_module_find(const struct ag_module *m, const char *name)
{
	uint32_t i;

	for (i = 0; i < m->signature->count; i++) {
		if (!strcmp(m->signature->at[i].name, name))
			return &m->settings[i];
	}
	return NULL;
}

int64_t ag_module_int(const struct ag_module *m, const char *name)
{
	const struct ag_value *v = ag_module_find(m, name);

	return v ? ag_value_int(v) : 0;
}

double ag_module_float(const struct ag_module *m, const char *name)
{
	const struct ag_value *v = ag_module_find(m, name);

	return v ? ag_value_float(v) : 0;
}

bool ag_module_setting(const struct ag_module *m, const char *name, double *value)
{
	const struct ag_value *v = ag_module_find(m, name);

	if (!v || (v->kind != AG_INT && v->kind != AG_FLOAT && v->kind != AG_BOOL))
		return false;
	*value = ag_value_float(v);
	return true;
}

bool ag_module_ints(struct ag_ctx *ctx, const struct ag_module *m, const char *name, int n,
                    int64_t *out)
{
	const struct ag_value *v = ag_module_find(m, name);
	int i;

	if (!v || (v->kind == AG_LIST && v->count != 1 && v->count != (uint32_t)n))
		return ag_fail(ctx, AG_ERR_VALUE, "%s: %s must have %d values", m->name, name, n);
	for (i = 0; i < n; i++)
		out[i] = v->kind != AG_LIST ? ag_value_int(v)
		                            : ag_value_int(&v->as.list[v->count == 1 ? 0 : i]);
	return true;
}

static int slot_of(const struct ag_module *m, const char *name)
{
	uint32_t i;

	for (i = 0; i < m->nslots; i++) {
		if (!strcmp(m->slots[i].name, name))
			return (int)i;
	}
	return -1;
}

bool ag_module_set_tensor(struct ag_ctx *ctx, struct ag_module *m, enum ag_slot_kind kind,
                          const char *name, struct ag_tensor *t)
{
	int at = slot_of(m, name);
	struct ag_tensor *old;

	if (kind == AG_SLOT_PARAMETER && t && !t->is_parameter)
		return ag_fail(ctx, AG_ERR_TYPE,
		               "cannot assign 'torch.FloatTensor' object to parameter '%s' "
		               "(torch.nn.Parameter or None required)",
		               name);
	if (at < 0) {
		at = (int)m->nslots++;
		m->slots = ag_grow(m->slots, m->nslots, sizeof(*m->slots));
		m->slots[at].name = copy_text(name, strlen(name));
		m->slots[at].tensor = NULL;
	}
	old = m->slots[at].tensor;
	m->slots[at].kind = kind;
	m->slots[at].tensor = ag_retain(t);
	ag_release(old);
	return true;
}

struct ag_tensor *ag_module_tensor(struct ag_module *m, const char *name)
{
	int at = slot_of(m, name);

	return at < 0 ? NULL : m->slots[at].tensor;
}

struct ag_tensor *ag_module_make(struct ag_ctx *ctx, struct ag_module *m, enum ag_slot_kind kind,
                                 const char *name, enum ag_dtype dtype, int ndim,
                                 const int64_t *shape)
{
	struct ag_tensor *t = ag_make(ctx, dtype, ndim, shape, true), *p = t;

	if (t && kind == AG_SLOT_PARAMETER) {
		p = ag_parameter(ctx, t, true);
		ag_release(t);
	} else if (t) {
		ag_storage_set_kind(t->storage, AG_KIND_PARAMETER);
	}
	if (p)
		ag_module_set_tensor(ctx, m, kind, name, p);
	ag_release(p);
	return p;
}

void ag_module_label(char *out, size_t size, const char *head, int number, const char *tail)
{
	snprintf(out, size, "%s%d%s", head, number, tail);
}

bool ag_module_set_child(struct ag_ctx *ctx, struct ag_module *m, const char *name,
                         struct ag_module *child)
{
	struct ag_module *old;
	uint32_t i;

	(void)ctx;
	for (i = 0; i < m->nlinks && strcmp(m->links[i].name, name) != 0; i++)
		;
	if (i == m->nlinks) {
		m->links = ag_grow(m->links, ++m->nlinks, sizeof(*m->links));
		m->links[i].name = copy_text(name, strlen(name));
		m->links[i].child = NULL;
	}
	old = m->links[i].child;
	m->links[i].child = ag_module_retain(child);
	ag_module_release(old);
	return true;
}

struct ag_module *ag_module_child(struct ag_module *m, const char *name)
{
	uint32_t i;

	for (i = 0; i < m->nlinks; i++) {
		if (!strcmp(m->links[i].name, name))
			return m->links[i].child;
	}
	return NULL;
}

uint32_t ag_module_child_count(const struct ag_module *m)
{
	return m->nlinks;
}

struct ag_module *ag_module_child_at(struct ag_module *m, uint32_t index, const char **name)
{
	if (index >= m->nlinks)
		return NULL;
	if (name)
		*name = m->links[index].name;
	return m->links[index].child;
}

/* ---- hooks and calls */

static uint64_t add_hook(struct ag_ctx *ctx, struct ag_module *m, bool before,
                         ag_module_hook_fn *fn, struct ag_closure closure)
{
	struct ag_module_hook *hook;

	m->hooks = ag_grow(m->hooks, m->nhooks + 1u, sizeof(*m->hooks));
	hook = &m->hooks[m->nhooks++];
	hook->handle = ++ctx->next_id;
	hook->before = before;
	hook->fn = fn;
	hook->closure = closure;
	return hook->handle;
}

uint64_t ag_module_forward_hook(struct ag_ctx *ctx, struct ag_module *m, ag_module_hook_fn *fn,
                                struct ag_closure closure)
{
	return add_hook(ctx, m, false, fn, closure);
}

uint64_t ag_module_forward_pre_hook(struct ag_ctx *ctx, struct ag_module *m, ag_module_hook_fn *fn,
                                    struct ag_closure closure)
{
	return add_hook(ctx, m, true, fn, closure);
}

void ag_module_hook_remove(struct ag_module *m, uint64_t handle)
{
	uint32_t i;

	for (i = 0; i < m->nhooks; i++) {
		struct ag_closure closure = m->hooks[i].closure;

		if (m->hooks[i].handle != handle)
			continue;
		memmove(&m->hooks[i], &m->hooks[i + 1], (m->nhooks - i - 1u) * sizeof(*m->hooks));
		m->nhooks--;
		if (closure.release)
			closure.release(closure.data);
		return;
	}
}

static bool run_hooks(struct ag_ctx *ctx, struct ag_module *m, bool before,
                      struct ag_tensor **tensors, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < m->nhooks; i++) {
		if (m->hooks[i].before == before &&
		    !m->hooks[i].fn(ctx, m->hooks[i].closure.data, m, tensors, count))
			return false;
	}
	return true;
}

enum { MOST_CALLS = 500 }; /* of modules inside modules */

bool ag_module_call(struct ag_ctx *ctx, struct ag_module *m, const struct ag_args *args,
                    struct ag_results *results)
{
	struct ag_tensor *inputs[AG_MAX_PARAMS];
	uint32_t i, n = 0;
	bool good;

	memset(results, 0, sizeof(*results));
	if (!m || !args)
		return ag_fail(ctx, AG_ERR_TYPE, "a module or its arguments are missing");
	if (ctx->calls >= MOST_CALLS)
		return ag_fail(ctx, AG_ERR_RUNTIME, "maximum recursion depth exceeded");
	for (i = 0; m->nhooks && i < args->count && n < AG_MAX_PARAMS; i++) {
		if (args->at[i].kind == AG_TENSOR)
			inputs[n++] = args->at[i].as.tensor;
	}
	if (!run_hooks(ctx, m, true, inputs, n))
		return false;
	ctx->calls++;
	good = ag_module_run(ctx, m, args, results);
	ctx->calls--;
	good = good && run_hooks(ctx, m, false, results->at, results->count);
	if (good && (!results->count || !results->at[0]))
		good = ag_fail(ctx, AG_ERR_TYPE, "a module's result is missing");
	if (!good)
		ag_results_release(results);
	return good;
}

struct ag_tensor *ag_module_forward(struct ag_ctx *ctx, struct ag_module *m, struct ag_tensor *x)
{
	struct ag_value v = ag_arg(x);
	struct ag_args args = {&v, 1, NULL, 0};
	struct ag_results results;
	struct ag_tensor *out;

	if (!x && ctx->error.status == AG_OK)
		ag_fail(ctx, AG_ERR_TYPE, "the input of a module is missing");
	if (!x || !ag_module_call(ctx, m, &args, &results))
		return NULL;
	out = ag_results_take(&results, 0);
	ag_results_release(&results);
	return out;
}
