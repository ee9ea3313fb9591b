/* An optimizer's step without numbers: what it leaves behind and takes while it runs is
 * the same in every step once the state is there. So it is run for all parameters once,
 * then for the largest of them, whose need is kept, and from then on only counted. */

#include "analyzer/base/hash.h"
#include "analyzer/replay/torch.h"
#include "runtime/core.h"

struct plan {
	struct list *params;
	struct ag_tensor *largest; /* of those with a gradient; NULL: none */
	uint64_t key;              /* of what the step depends on */
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

/* False without an exception: the update has to be run. */
static bool plan_read(struct vm *vm, struct val optimizer, struct dict *group, struct plan *plan)
{
	const struct val params = dict_get_str(vm, group, str_intern(vm, "params", 6)),
	                 state = rp_attr(vm, optimizer, str_intern(vm, "state", 5));
	bool ok = ag_meta(ctx_of(vm)) && is_kind(params, K_LIST) && is_kind(state, K_DICT);

	if (ok) {
		plan->params = AS(list, params);
		plan->key = AS(dict, state)->count;
	}
	unref(vm, state);
	for (uint32_t i = 0; ok && i < plan->params->count; i++) {
		const struct val p = plan->params->at[i];

		if (!is_kind(p, K_TENSOR))
			return false;
		if (!ag_grad_of(tensor_of(p)))
			continue;
		plan->key = hash_join(plan->key, i + 1);
		if (!plan->largest || ag_numel(tensor_of(p)) > ag_numel(plan->largest))
			plan->largest = tensor_of(p);
	}
	if (!ok || !plan->largest)
		return false;
	plan->key = hash_join(plan->key, (uint64_t)ag_numel(plan->largest));
	return join_options(vm, group, &plan->key);
}

static bool call_update(struct vm *vm, struct val optimizer, struct val group)
{
	struct val result = rp_call_method(vm, optimizer, "_update", &group, 1);
	const bool ok = !is_null(result);

	unref(vm, result);
	return ok;
}

static bool update_largest(struct vm *vm, struct val optimizer, struct val group,
                           const struct plan *plan, int64_t *needed)
{
	struct dict *one = dict_copy(vm, AS(dict, group));
	struct list *params = list_new(vm, 1);
	struct ag_peak before;
	bool ok;

	list_push(vm, params, torch_wrap_ref(vm, plan->largest));
	dict_put_str(vm, one, str_intern(vm, "params", 6), val_obj(params));
	unref_obj(vm, params);
	ag_watch_peak(ctx_of(vm), &before);
	ok = call_update(vm, optimizer, val_obj(one));
	*needed = (int64_t)ag_watched_peak(ctx_of(vm), &before);
	unref_obj(vm, one);
	return ok;
}

static void touch(const struct plan *plan, const struct ag_tensor *but)
{
	for (uint32_t i = 0; i < plan->params->count; i++) {
		struct ag_tensor *t = tensor_of(plan->params->at[i]);

		if (t != but && ag_grad_of(t))
			ag_bump(t);
	}
}

static bool remember(struct vm *vm, struct dict *plans, struct val id, uint64_t key,
                     struct val needed)
{
	const struct val known = tuple_pair(vm, val_int((int64_t)(key >> 1)), needed);
	const bool ok = dict_put(vm, plans, id, known);

	unref(vm, known);
	return ok;
}

/* update(optimizer, group, plans): `plans` is what is known of each group. */
static struct val update(struct vm *vm, struct val *a, uint32_t n)
{
	const struct val id = val_int((int64_t)(intptr_t)a[1].as.o);
	struct plan plan = {0};
	struct val known;
	int64_t needed = 0;
	bool ok;

	(void)n;
	if (!is_kind(a[1], K_DICT) || !is_kind(a[2], K_DICT) ||
	    !plan_read(vm, a[0], AS(dict, a[1]), &plan))
		return is_null(vm->exc) && call_update(vm, a[0], a[1]) ? val_none() : val_null();
	known = dict_get(vm, AS(dict, a[2]), id);
	if (is_null(known) || AS(list, known)->at[0].as.i != (int64_t)(plan.key >> 1)) {
		ok = call_update(vm, a[0], a[1]) &&
		     remember(vm, AS(dict, a[2]), id, plan.key, val_none());
	} else if (is_none(AS(list, known)->at[1])) {
		touch(&plan, plan.largest);
		ok = update_largest(vm, a[0], a[1], &plan, &needed) &&
		     remember(vm, AS(dict, a[2]), id, plan.key, val_int(needed));
	} else {
		touch(&plan, NULL);
		ag_transient(ctx_of(vm), AS(list, known)->at[1].as.i);
		ok = vm_work(vm, plan.params->count);
	}
	return ok ? val_none() : val_null();
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
