#include <check.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tests/runtime_runner.h"

struct rt rt;

void rt_open_with(const struct ag_options *options)
{
	rt.ctx = ag_open(options);
	rt.pool = NULL;
	rt.count = rt.capacity = 0;
}

void rt_open(void)
{
	rt_open_with(NULL);
}

void rt_sweep(void)
{
	while (rt.count)
		ag_release(rt.pool[--rt.count]);
}

void rt_close(void)
{
	rt_sweep();
	free(rt.pool);
	ag_close(rt.ctx);
	rt.ctx = NULL;
}

void rt_true(bool good)
{
	if (!good)
		ck_abort_msg("%s", ag_error(rt.ctx)->text);
}

struct ag_tensor *rt_keep(struct ag_tensor *t)
{
	rt_true(t != NULL);
	if (rt.count == rt.capacity) {
		rt.capacity = rt.capacity ? 2 * rt.capacity : 32;
		rt.pool = realloc(rt.pool, rt.capacity * sizeof(*rt.pool));
		ck_assert_ptr_nonnull(rt.pool);
	}
	rt.pool[rt.count++] = t;
	return t;
}

void rt_set(struct ag_tensor **variable, struct ag_tensor *t)
{
	struct ag_tensor *old = *variable;

	*variable = ag_retain(t);
	ag_release(old);
}

struct ag_tensor *rt_call_values(const char *name, const struct ag_value *values, size_t count)
{
	struct ag_args args = {values, (uint32_t)count, NULL, 0};
	struct ag_results results;
	struct ag_tensor *t;

	rt_true(ag_call(rt.ctx, name, &args, &results));
	t = rt_keep(ag_results_take(&results, 0));
	ag_results_release(&results);
	return t;
}

struct ag_tensor *rt_randn(int ndim, ...)
{
	int64_t shape[AG_MAX_DIMS];
	va_list sizes;
	int i;

	va_start(sizes, ndim);
	for (i = 0; i < ndim; i++)
		shape[i] = va_arg(sizes, int);
	va_end(sizes);
	return rt_keep(ag_randn(rt.ctx, ndim, shape));
}

struct ag_tensor *rt_at(struct ag_tensor *t, int64_t index)
{
	struct ag_index at = {.kind = AG_AT, .start = index};

	return rt_keep(ag_index(rt.ctx, t, &at, 1));
}

struct ag_tensor *rt_leaf(struct ag_tensor *t)
{
	rt_true(ag_set_requires_grad(rt.ctx, t, true));
	return t;
}

struct ag_tensor *rt_ones(int64_t n)
{
	return rt_keep(ag_ones(rt.ctx, 1, &n));
}

struct ag_tensor *rt_ones_leaf(int64_t n)
{
	return rt_leaf(rt_ones(n));
}

struct ag_module *rt_layer_values(const char *name, const struct ag_value *values, size_t count)
{
	struct ag_args args = {values, (uint32_t)count, NULL, 0};
	struct ag_module *m = ag_module_new(rt.ctx, name, &args);

	rt_true(m != NULL);
	return m;
}

struct ag_module *rt_sequential(struct ag_module *first, ...)
{
	struct ag_module *all = ag_module_container(rt.ctx, "Sequential"), *m;
	static const char *const names[] = {"0", "1", "2", "3", "4", "5", "6", "7"};
	va_list more;
	int i = 0;

	va_start(more, first);
	for (m = first; m; m = va_arg(more, struct ag_module *)) {
		ag_module_set_child(rt.ctx, all, names[i++], m);
		ag_module_release(m);
	}
	va_end(more);
	return all;
}

struct ag_tensor *rt_forward(struct ag_module *m, struct ag_tensor *x)
{
	return rt_keep(ag_module_forward(rt.ctx, m, x));
}

struct list {
	struct ag_tensor **at;
	uint32_t count;
};

static bool collect(void *data, const char *name, struct ag_tensor *t)
{
	struct list *list = data;

	(void)name;
	list->at = realloc(list->at, (list->count + 1) * sizeof(struct ag_tensor *));
	ck_assert_ptr_nonnull(list->at);
	list->at[list->count++] = t;
	return true;
}

struct ag_tensor **rt_parameters(struct ag_module *a, struct ag_module *b, uint32_t *count)
{
	struct list list = {NULL, 0};

	ag_module_each(a, AG_SLOT_PARAMETER, collect, &list);
	if (b)
		ag_module_each(b, AG_SLOT_PARAMETER, collect, &list);
	*count = list.count;
	return list.at;
}

struct ag_optim *rt_optim(const char *name, double lr, double momentum, struct ag_module *a,
                          struct ag_module *b)
{
	struct ag_keyword keywords[2] = {{"lr", ag_float(lr)}, {"momentum", ag_float(momentum)}};
	struct ag_args args = {NULL, 0, keywords, momentum > 0 ? 2 : 1};
	struct ag_tensor **params;
	struct ag_optim *o;
	uint32_t count;

	params = rt_parameters(a, b, &count);
	o = ag_optim_new(rt.ctx, name, params, count, &args);
	free(params);
	rt_true(o != NULL);
	return o;
}

void rt_backward(struct ag_tensor *t)
{
	rt_true(ag_backward(rt.ctx, t, NULL, 0));
}

void rt_step(struct ag_optim *o)
{
	rt_true(ag_optim_step(rt.ctx, o));
}

void rt_zero_grad(struct ag_optim *o)
{
	rt_true(ag_optim_zero_grad(rt.ctx, o, true));
}

uint64_t rt_bytes(void)
{
	struct ag_memory m;

	ag_memory(rt.ctx, &m);
	return m.live_bytes;
}

uint64_t rt_nodes(void)
{
	struct ag_memory m;

	ag_memory(rt.ctx, &m);
	return m.nodes;
}

double rt_item(struct ag_tensor *t)
{
	double value;

	rt_true(ag_item(rt.ctx, t, &value));
	return value;
}

uint64_t rt_grown(uint64_t before, struct ag_tensor *keep)
{
	struct ag_tensor *held = ag_retain(keep);
	uint64_t after;

	rt_sweep();
	after = rt_bytes() - before;
	rt_keep(held);
	return after;
}

bool rt_fails(bool good, const char *part)
{
	bool right = !good && strstr(ag_error(rt.ctx)->text, part) != NULL;

	if (!right)
		ck_abort_msg("%s: \"%s\"", good ? "it worked" : "another error",
		             ag_error(rt.ctx)->text);
	ag_error_clear(rt.ctx);
	return right;
}
