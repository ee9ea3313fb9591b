#include "analyzer/replay/torch.h"

#include <string.h>

/* What an index holds while it is used: tensors made of lists and numbers. */
struct indexing {
	struct ag_index at[AG_MAX_DIMS * 2];
	struct val made[AG_MAX_DIMS * 2];
	uint32_t count, made_count;
};

static void indexing_release(struct vm *vm, struct indexing *x)
{
	for (uint32_t i = 0; i < x->made_count; i++)
		unref(vm, x->made[i]);
}

static bool slice_end(struct vm *vm, struct val v, int64_t *out, bool *has)
{
	*has = !is_missing(v) && !is_kind(v, K_UNKNOWN);
	return !*has || rp_index(vm, v, out);
}

static bool slice_index(struct vm *vm, struct slice *s, struct ag_index *out)
{
	bool has_step;

	out->kind = AG_SLICE;
	out->step = 1;
	return slice_end(vm, s->start, &out->start, &out->has_start) &&
	       slice_end(vm, s->stop, &out->stop, &out->has_stop) &&
	       slice_end(vm, s->step, &out->step, &has_step);
}

/* A list as index is a tensor of its numbers. */
static bool list_index(struct vm *vm, struct indexing *x, struct val v, struct ag_index *out)
{
	struct val_args args;
	struct ag_value value;
	struct ag_tensor *t;

	val_args_open(&args);
	if (!torch_value(vm, &args, v, &value)) {
		arena_release(&args.arena);
		return false;
	}
	t = ag_tensor_of(ctx_of(vm), &value, NULL, false);
	arena_release(&args.arena);
	x->made[x->made_count] = torch_wrap(vm, t);
	if (is_null(x->made[x->made_count]))
		return false;
	out->kind = AG_INDEX_TENSOR;
	out->tensor = tensor_of(x->made[x->made_count++]);
	return true;
}

static bool one_index(struct vm *vm, struct indexing *x, struct val v)
{
	struct ag_index *out;

	if (x->count >= AG_MAX_DIMS * 2) {
		rp_raise(vm, TY_IndexError, "too many indices for tensor");
		return false;
	}
	out = &x->at[x->count++];
	memset(out, 0, sizeof(*out));
	if (is_none(v)) {
		out->kind = AG_NEW_AXIS;
		return true;
	}
	if (v.tag == PY_ELLIPSIS) {
		out->kind = AG_ELLIPSIS;
		return true;
	}
	if (is_kind(v, K_SLICE))
		return slice_index(vm, AS(slice, v), out);
	if (is_kind(v, K_TENSOR) || is_kind(v, K_ARRAY)) {
		out->kind = AG_INDEX_TENSOR;
		out->tensor = is_kind(v, K_TENSOR) ? tensor_of(v) : AS(array, v)->t;
		return true;
	}
	if (is_kind(v, K_LIST) || is_kind(v, K_TUPLE) || is_kind(v, K_RANGE) || v.tag == PY_BOOL)
		return list_index(vm, x, v, out);
	out->kind = AG_AT;
	if (is_kind(v, K_UNKNOWN)) {
		torch_of(vm)->exact = false;
		vm_stand_in(vm, "index %s", AS(unknown, v)->what->at);
		return true;
	}
	return rp_index(vm, v, &out->start);
}

static bool parse_index(struct vm *vm, struct val index, struct indexing *x)
{
	x->count = x->made_count = 0;
	if (!is_kind(index, K_TUPLE))
		return one_index(vm, x, index);
	for (uint32_t i = 0; i < AS(list, index)->count; i++)
		if (!one_index(vm, x, AS(list, index)->at[i]))
			return false;
	return true;
}

struct val tensor_item(struct vm *vm, struct val o, struct val index)
{
	struct indexing x;
	struct val result = val_null();

	if (parse_index(vm, index, &x)) {
		struct ag_tensor *t = ag_index(ctx_of(vm), tensor_of(o), x.at, x.count);

		result = t || torch_of(vm)->exact || ag_error(ctx_of(vm))->status == AG_ERR_MEMORY
		                 ? torch_wrap(vm, t)
		                 : torch_misfit(vm, &o, 1, "an index");
	}
	indexing_release(vm, &x);
	return result;
}

/* As what is put somewhere has it, whose shape is not known there: its graph, as a number. */
static struct val put_number(struct vm *vm, struct val value)
{
	struct ag_tensor *from = NULL;
	uint32_t count = 0;

	gather_tensors(value, &from, &count, 1, 0);
	if (!count || !ag_dtype_is_float(ag_dtype(from)))
		return val_null();
	return torch_wrap(vm, ag_opaque(ctx_of(vm), &from, 1, ag_dtype(from), 0, NULL, false));
}

/* Shapes that were made up need not fit. */
static bool put_misfit(struct vm *vm, struct val o, const struct indexing *x, struct val value)
{
	struct val number = val_null();
	struct val_args args;
	struct ag_value v;
	bool ok = false;

	if (torch_of(vm)->exact || ag_error(ctx_of(vm))->status == AG_ERR_MEMORY)
		return false;
	ag_error_clear(ctx_of(vm));
	number = put_number(vm, value);
	if (is_null(number))
		return false;
	val_args_open(&args);
	ok = torch_value(vm, &args, number, &v) &&
	     ag_index_put(ctx_of(vm), tensor_of(o), x->at, x->count, &v);
	arena_release(&args.arena);
	unref(vm, number);
	if (ok)
		vm_stand_in(vm, "what is put at an index");
	return ok;
}

int tensor_set_item(struct vm *vm, struct val o, struct val index, struct val value)
{
	struct indexing x;
	struct val_args args;
	struct ag_value v;
	bool ok;

	val_args_open(&args);
	ok = parse_index(vm, index, &x) && torch_value(vm, &args, value, &v);
	if (ok && is_kind(value, K_UNKNOWN)) {
		torch_of(vm)->exact = false;
		vm_stand_in(vm, "value of %s", AS(unknown, value)->what->at);
		put_misfit(vm, o, &x, value);
	} else if (ok && !ag_index_put(ctx_of(vm), tensor_of(o), x.at, x.count, &v) &&
	           !put_misfit(vm, o, &x, value)) {
		torch_raise(vm);
		ok = false;
	}
	arena_release(&args.arena);
	indexing_release(vm, &x);
	return ok ? 1 : -1;
}
