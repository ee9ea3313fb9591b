#include "analyzer/base/hash.h"
#include "analyzer/replay/assume.h"
#include "analyzer/replay/torch.h"

#include <string.h>

#include "runtime/core.h"

/* Generators: a stream of their own, put in the place of the context's while an
 * op draws from it. A stream is a bytes object that holds a struct ag_random. */

#define NATIVE(name) static struct val name(struct vm *vm, struct val *a, uint32_t n)

static struct val stream_of(struct vm *vm, const struct ag_random *random)
{
	struct val s = val_obj(str_new(vm, (const char *)random, sizeof(*random)));

	s.as.o->kind = K_BYTES;
	s.as.o->cls = vm->t[TY_bytes];
	return s;
}

NATIVE(stream_new)
{
	struct ag_random random;
	int64_t seed;

	(void)n;
	if (!arg_int(vm, a[0], (int64_t)AG_RANDOM_DEFAULT_SEED, &seed))
		return val_null();
	memset(&random, 0, sizeof(random));
	ag_random_seed(&random, (uint64_t)seed);
	return stream_of(vm, &random);
}

static void swap_streams(struct vm *vm, struct val stream)
{
	struct ag_random *current = &ctx_of(vm)->random, kept = *current;
	char *at = AS(str, stream)->at;

	memcpy(current, at, sizeof(kept));
	memcpy(at, &kept, sizeof(kept));
}

NATIVE(stream_swap)
{
	(void)n;
	if (is_kind(a[0], K_BYTES) && AS(str, a[0])->length == sizeof(struct ag_random))
		swap_streams(vm, a[0]);
	return val_none();
}

NATIVE(stream_copy)
{
	(void)a, (void)n;
	return stream_of(vm, &ctx_of(vm)->random);
}

/* As Tensor.random_() draws an int64. */
NATIVE(draw_int63)
{
	(void)a, (void)n;
	return val_int((int64_t)(ag_random_u64(&ctx_of(vm)->random) & INT64_MAX));
}

/* Whether tensors are made without numbers from now on; what it was before. */
NATIVE(set_meta)
{
	bool before = ag_meta(ctx_of(vm));

	(void)n;
	ag_set_meta(ctx_of(vm), rp_truth(vm, a[0]) > 0);
	return val_bool(before);
}

/* Without numbers, an update of all parameters is that of the largest one, as long as
 * the same ones have a gradient: a key for which they are, and the largest. None:
 * numbers are computed. */
NATIVE(update_plan)
{
	struct list *params = AS(list, a[0]);
	struct ag_tensor *most = NULL;
	uint64_t key = 0;
	struct list *plan;

	(void)n;
	if (!ag_meta(ctx_of(vm)) || !is_kind(a[0], K_LIST))
		return val_none();
	for (uint32_t i = 0; i < params->count; i++) {
		struct ag_tensor *t =
		        is_kind(params->at[i], K_TENSOR) ? tensor_of(params->at[i]) : NULL;

		if (!t)
			return val_none();
		if (!ag_grad_of(t))
			continue;
		key = hash_join(key, i + 1);
		if (!most || ag_numel(t) > ag_numel(most))
			most = t;
	}
	if (!most)
		return val_none();
	plan = tuple_new(vm, 2);
	plan->at[0] = val_int((int64_t)(key >> 1));
	plan->at[1] = torch_wrap_ref(vm, most);
	return val_obj(plan);
}

/* They are changed in place, all but one. */
NATIVE(touch)
{
	struct list *params = AS(list, a[0]);

	(void)vm, (void)n;
	for (uint32_t i = 0; i < params->count; i++)
		if (ag_grad_of(tensor_of(params->at[i])) &&
		    tensor_of(params->at[i]) != tensor_of(a[1]))
			ag_bump(tensor_of(params->at[i]));
	return val_none();
}

NATIVE(assumed_parameter_function)
{
	(void)a, (void)n;
	return torch_wrap_ref(vm, assumed_parameter(vm));
}

/* Whether anything was stood in for. */
NATIVE(inexact)
{
	(void)a, (void)n;
	return val_bool(vm->unknown_count > 0 || !torch_of(vm)->exact);
}

bool torch_with_generator(struct vm *vm, struct dict *kw)
{
	struct val g = kw ? dict_get_str(vm, kw, str_intern(vm, "generator", 9)) : val_null(),
	           stream;

	if (!is_kind(g, K_INSTANCE) || !g.as.o->attrs)
		return false;
	stream = dict_get_str(vm, g.as.o->attrs, str_intern(vm, "_stream", 7));
	if (!is_kind(stream, K_BYTES) || AS(str, stream)->length != sizeof(struct ag_random))
		return false;
	swap_streams(vm, stream);
	return true;
}

const struct native_def stream_functions[] = {
        {"stream_new", stream_new, "? seed"},
        {"stream_swap", stream_swap, "stream"},
        {"stream_copy", stream_copy, ""},
        {"draw_int63", draw_int63, ""},
        {"set_meta", set_meta, "meta"},
        {"assumed_parameter", assumed_parameter_function, ""},
        {"update_plan", update_plan, "params"},
        {"touch", touch, "params but"},
        {"inexact", inexact, ""},
        {0},
};
