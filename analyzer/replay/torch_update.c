/* An optimizer's step without numbers: what it leaves behind and takes while it runs is
 * the same in every step once the state is there. So once that is made, the step is run
 * for the largest parameter and those beside it, as what one took may last into the next;
 * their need is kept, and from then on only counted. */

#include "analyzer/base/hash.h"
#include "analyzer/replay/torch.h"
#include "runtime/core.h"

struct plan {
	const struct list *params;
	struct val largest;       /* of those with a gradient; PY_NULL: none */
	struct val before, after; /* its neighbours among them, or PY_NULL */
	int64_t key;              /* of what the step depends on */
};

/* Which of its options are on. */
static bool join_options(struct vm *vm, struct dict *group, uint64_t *key)
{
	uint32_t at = 0;
	const struct dict_entry *e;

	while ((e = dict_next(group, &at))) {
		const int on = is_kind(e->value, K_LIST) || is_kind(e->value, K_TENSOR)
		                       ? 2
		                       : rp_truth(vm, e->value);

		if (on < 0)
			return false;
		*key = hash_join(*key, (uint64_t)on + 1);
	}
	return true;
}

/* False: there is none with a gradient, or one that is no tensor. */
static bool plan_params(struct plan *plan, uint64_t *key)
{
	struct val last = val_null();
	int64_t most = -1;

	for (uint32_t i = 0; i < plan->params->count; i++) {
		const struct val p = plan->params->at[i];

		if (!is_kind(p, K_TENSOR))
			return false;
		if (!ag_grad_of(tensor_of(p)))
			continue;
		*key = hash_join(*key, i + 1);
		if (ag_numel(tensor_of(p)) > most) {
			most = ag_numel(tensor_of(p));
			plan->before = last;
			plan->largest = p;
			plan->after = val_null();
		} else if (is_null(plan->after)) {
			plan->after = p;
		}
		last = p;
	}
	*key = hash_join(*key, (uint64_t)most);
	return most >= 0;
}

/* False without an exception: the update has to be run. */
static bool plan_read(struct vm *vm, struct val optimizer, struct dict *group, struct plan *plan)
{
	const struct val params = dict_get_str(vm, group, str_intern(vm, "params", 6)),
	                 state = rp_attr(vm, optimizer, str_intern(vm, "state", 5));
	const bool ok = ag_meta(ctx_of(vm)) && is_kind(params, K_LIST) && is_kind(state, K_DICT);
	uint64_t key = ok ? AS(dict, state)->count : 0;

	unref(vm, state);
	*plan = (struct plan){.params = ok ? AS(list, params) : NULL};
	if (!ok || !plan_params(plan, &key))
		return false;
	if (!join_options(vm, group, &key))
		return false;
	plan->key = (int64_t)(key >> 1);
	return true;
}

static bool call_update(struct vm *vm, struct val optimizer, struct val group)
{
	struct val result = rp_call_method(vm, optimizer, "_update", &group, 1);
	const bool ok = !is_null(result);

	unref(vm, result);
	return ok;
}

/* They are changed in place; those of `but` are not, if there is one. */
static void touch(const struct plan *plan, const struct list *but)
{
	for (uint32_t i = 0; i < plan->params->count; i++) {
		struct ag_tensor *t = tensor_of(plan->params->at[i]);
		bool skip = !ag_grad_of(t);

		for (uint32_t k = 0; but && k < but->count; k++)
			skip = skip || tensor_of(but->at[k]) == t;
		if (!skip)
			ag_bump(t);
	}
}

/* How many bytes it needs while it runs; NULL: it failed. */
static struct val update_largest(struct vm *vm, struct val optimizer, struct val group,
                                 const struct plan *plan)
{
	struct dict *one = dict_copy(vm, AS(dict, group));
	struct list *params = list_new(vm, 3);
	struct ag_peak before;
	uint64_t needed;
	bool ok;

	if (!is_null(plan->before))
		list_push(vm, params, ref(plan->before));
	list_push(vm, params, ref(plan->largest));
	if (!is_null(plan->after))
		list_push(vm, params, ref(plan->after));
	touch(plan, params);
	dict_put_str(vm, one, str_intern(vm, "params", 6), val_obj(params));
	unref_obj(vm, params);
	ag_watch_peak(ctx_of(vm), &before);
	ok = call_update(vm, optimizer, val_obj(one));
	needed = ag_watched_peak(ctx_of(vm), &before);
	unref_obj(vm, one);
	return ok ? val_int((int64_t)needed) : val_null();
}

static bool remember(struct vm *vm, struct dict *plans, struct val id, int64_t key,
                     struct val needed)
{
	const struct val known = tuple_pair(vm, val_int(key), needed);
	const bool ok = dict_put(vm, plans, id, known);

	unref(vm, known);
	return ok;
}

/* What the step needs; None: it had to be run for all, as it makes state itself. NULL: it
 * failed. */
static struct val update_first(struct vm *vm, struct val optimizer, struct val group,
                               const struct plan *plan)
{
	struct val begun = rp_call_method(vm, optimizer, "_begin_all", &group, 1);
	const int made = is_null(begun) ? -1 : rp_truth(vm, begun);

	unref(vm, begun);
	if (made < 0)
		return val_null();
	if (made)
		return update_largest(vm, optimizer, group, plan);
	return call_update(vm, optimizer, group) ? val_none() : val_null();
}

static struct val update_planned(struct vm *vm, struct val optimizer, struct val group,
                                 struct dict *plans, struct plan *plan)
{
	const struct val id = val_int((int64_t)(intptr_t)group.as.o),
	                 known = dict_get(vm, plans, id);
	const bool is_known = !is_null(known) && AS(list, known)->at[0].as.i == plan->key;
	struct val needed = is_known ? AS(list, known)->at[1] : val_null();

	if (!is_null(needed) && !is_none(needed)) {
		touch(plan, NULL);
		ag_transient(ctx_of(vm), needed.as.i);
		return vm_work(vm, plan->params->count) ? val_none() : val_null();
	}
	needed = is_known ? update_largest(vm, optimizer, group, plan)
	                  : update_first(vm, optimizer, group, plan);
	/* The state that was made is part of the key. */
	if (is_null(needed) || !plan_read(vm, optimizer, AS(dict, group), plan) ||
	    !remember(vm, plans, id, plan->key, needed))
		return is_null(needed) || !is_null(vm->exc) ? val_null() : val_none();
	return val_none();
}

/* update(optimizer, group, plans): `plans` is what is known of each group. */
static struct val update(struct vm *vm, struct val *a, uint32_t n)
{
	struct plan plan;

	(void)n;
	if (is_kind(a[1], K_DICT) && is_kind(a[2], K_DICT) &&
	    plan_read(vm, a[0], AS(dict, a[1]), &plan))
		return update_planned(vm, a[0], a[1], AS(dict, a[2]), &plan);
	return is_null(vm->exc) && call_update(vm, a[0], a[1]) ? val_none() : val_null();
}

/* clip(gradients, norm_type): the total norm, where numbers are not wanted; else None. */
static struct val clip(struct vm *vm, struct val *a, uint32_t n)
{
	const struct list *gradients = AS(list, a[0]);
	struct ag_grad_mode before;
	int64_t norms = 0;
	struct val total;

	(void)n;
	if (!ag_meta(ctx_of(vm)))
		return val_none();
	for (uint32_t i = 0; i < gradients->count; i++) {
		if (!is_kind(gradients->at[i], K_TENSOR))
			return val_none();
		norms += (int64_t)ag_dtype_size(ag_dtype(tensor_of(gradients->at[i])));
	}
	before = ag_no_grad(ctx_of(vm));
	total = torch_call(vm, "linalg.vector_norm", (struct val[]){gradients->at[0], a[1]}, 2,
	                   NULL);
	ag_set_grad_mode(ctx_of(vm), before);
	ag_transient(ctx_of(vm), 2 * norms);
	for (uint32_t i = 0; !is_null(total) && i < gradients->count; i++)
		ag_bump(tensor_of(gradients->at[i]));
	return total;
}

const struct native_def update_functions[] = {
        {"update", update, "optimizer group plans"},
        {"clip", clip, "gradients norm_type"},
        {0},
};
