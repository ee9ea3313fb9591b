#include "analyzer/base/hash.h"
#include "analyzer/replay/assume.h"
#include "analyzer/replay/torch.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/core.h"
#include "runtime/kernel.h"

/* Generators: a stream of their own, put in the place of the context's while an
 * op draws from it. A stream is a bytes object that holds a struct ag_random. */

#define NATIVE(name) static struct val name(struct vm *vm, struct val *a, uint32_t n)

static struct val stream_of(struct vm *vm, const struct ag_random *random)
{
	return val_obj(bytes_new(vm, random, sizeof(*random)));
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

/* permutation(n, seed): the list that torch.randperm gives of a generator with that seed. */
NATIVE(permutation)
{
	const int64_t count = a[0].as.i;
	struct ag_random random;
	struct list *list;
	int64_t *order;

	(void)n;
	if (!is_int(a[0]) || !is_int(a[1]) || count < 0 || !vm_work(vm, (uint64_t)count))
		return vm->halt ? val_null() : val_none();
	memset(&random, 0, sizeof(random));
	ag_random_seed(&random, (uint64_t)a[1].as.i);
	order = checked_alloc((size_t)count + 1, sizeof(*order));
	ag_random_fill_permutation(&random, order, (size_t)count);
	ag_transient(ctx_of(vm), count * (int64_t)sizeof(*order));
	list = list_new(vm, (uint32_t)count);
	for (int64_t i = 0; i < count; i++)
		list_push(vm, list, val_int(order[i]));
	free(order);
	return val_obj(list);
}

/* The indices that are wanted of `size` rows, as a tensor; NULL: not all are there. */
static struct ag_tensor *row_indices(struct vm *vm, const struct list *indices, int64_t size)
{
	const int64_t count = indices->count;
	int64_t *at = checked_alloc((size_t)count + 1, sizeof(*at));
	struct ag_tensor *t = NULL;
	int64_t i;

	for (i = 0; i < count && is_int(indices->at[i]); i++) {
		at[i] = indices->at[i].as.i;
		at[i] += at[i] < 0 ? size : 0;
		if (at[i] < 0 || at[i] >= size)
			break;
	}
	if (i == count && vm_work(vm, indices->count))
		t = ag_make(ctx_of(vm), AG_I64, 1, &count, true);
	if (t && ag_drawable(t))
		ag_put_ints(t, at);
	free(at);
	return t;
}

static bool have_rows(const struct list *tensors)
{
	for (uint32_t i = 0; i < tensors->count; i++)
		if (!is_kind(tensors->at[i], K_TENSOR) ||
		    ag_requires_grad(tensor_of(tensors->at[i])) ||
		    !ag_ndim(tensor_of(tensors->at[i])) ||
		    ag_shape(tensor_of(tensors->at[i]))[0] !=
		            ag_shape(tensor_of(tensors->at[0]))[0])
			return false;
	return tensors->count > 0;
}

/* rows(tensors, indices): what stacking those rows of each tensor gives; None: stack them. */
NATIVE(rows)
{
	struct val wanted[3] = {val_null(), val_int(0), val_null()};
	const struct list *tensors = AS(list, a[0]);
	struct ag_tensor *index;
	struct list *out;

	(void)n;
	if (!is_kind(a[0], K_TUPLE) || !is_kind(a[1], K_LIST) || !have_rows(tensors))
		return val_none();
	index = row_indices(vm, AS(list, a[1]), ag_shape(tensor_of(tensors->at[0]))[0]);
	if (!index)
		return vm->halt ? val_null() : val_none();
	wanted[2] = torch_wrap(vm, index);
	out = list_new(vm, tensors->count);
	for (uint32_t i = 0; is_null(vm->exc) && !vm->halt && i < tensors->count; i++) {
		struct val row;

		wanted[0] = tensors->at[i];
		row = torch_call(vm, "index_select", wanted, 3, NULL);
		if (!is_null(row))
			list_push(vm, out, row);
	}
	unref(vm, wanted[2]);
	if (out->count == tensors->count)
		return val_obj(out);
	unref_obj(vm, out);
	return val_null();
}

/* Whether tensors are made without numbers from now on; what it was before. */
NATIVE(set_meta)
{
	bool before = ag_meta(ctx_of(vm));

	(void)n;
	ag_set_meta(ctx_of(vm), rp_truth(vm, a[0]) > 0);
	return val_bool(before);
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
        {"permutation", permutation, "n seed"},
        {"rows", rows, "tensors indices"},
        {"set_meta", set_meta, "meta"},
        {"assumed_parameter", assumed_parameter_function, ""},
        {"inexact", inexact, ""},
        {0},
};
