#include "analyzer/replay/torch.h"

#include <stdio.h>
#include <string.h>

struct val dtype_val(struct vm *vm, enum ag_dtype dtype)
{
	struct torch *torch = torch_of(vm);

	if (!torch->dtypes[dtype]) {
		struct dtype *d = rp_new(vm, K_DTYPE, vm->t[TY_dtype], sizeof(*d));

		d->dtype = dtype;
		torch->dtypes[dtype] = &d->h;
	}
	return ref_obj(torch->dtypes[dtype]);
}

struct val device_val(struct vm *vm, bool cuda, int index)
{
	struct device *d = rp_new(vm, K_DEVICE, vm->t[TY_device], sizeof(*d));

	d->cuda = cuda;
	d->index = index;
	return val_obj(d);
}

struct val size_val(struct vm *vm, const int64_t *shape, int ndim)
{
	struct list *size = tuple_new(vm, (uint32_t)ndim);

	size->h.cls = vm->t[TY_size];
	for (int i = 0; i < ndim; i++)
		size->at[i] = val_int(shape[i]);
	return val_obj(size);
}

struct val shape_of(struct vm *vm, struct ag_tensor *t)
{
	return size_val(vm, ag_shape(t), ag_ndim(t));
}

bool torch_dtype_of(struct vm *vm, struct val v, enum ag_dtype *dtype)
{
	if (is_kind(v, K_DTYPE)) {
		*dtype = AS(dtype, v)->dtype;
		return true;
	}
	if (is_kind(v, K_CLASS)) {
		const struct cls *c = AS(cls, v);

		*dtype = c == vm->t[TY_float]  ? ag_default_dtype(ctx_of(vm))
		         : c == vm->t[TY_int]  ? AG_I64
		         : c == vm->t[TY_bool] ? AG_BOOL8
		                               : AG_F32;
		return c == vm->t[TY_float] || c == vm->t[TY_int] || c == vm->t[TY_bool];
	}
	if (is_kind(v, K_STR)) {
		const char *name = chars_of(v);

		return ag_dtype_find(strncmp(name, "torch.", 6) == 0 ? name + 6 : name, dtype);
	}
	return false;
}

static struct ag_value *room_for(struct val_args *args, uint32_t count)
{
	struct ag_value *items = args->few + args->used;

	if (count > TORCH_MAX_ARGS - args->used)
		return arena_array(&args->arena, struct ag_value, count);
	args->used += count;
	return items;
}

static bool list_value(struct vm *vm, struct val_args *args, struct list *list,
                       struct ag_value *out)
{
	struct ag_value *items = room_for(args, list->count);

	for (uint32_t i = 0; i < list->count; i++)
		if (!torch_value(vm, args, list->at[i], &items[i]))
			return false;
	*out = ag_list(items, list->count);
	return true;
}

static bool iterable_value(struct vm *vm, struct val_args *args, struct val v, struct ag_value *out)
{
	struct list *list = list_from(vm, v);
	bool ok = list && list_value(vm, args, list, out);

	/* The elements must live until the call is over. */
	for (uint32_t i = 0; ok && i < list->count; i++)
		if (list->at[i].tag == PY_OBJECT && list->at[i].as.o->refs == 1)
			ok = false;
	if (list && !ok && is_null(vm->exc))
		rp_raise(vm, TY_TypeError, "argument must be a tuple or a list of tensors");
	unref_obj(vm, list);
	return ok;
}

static bool object_value(struct vm *vm, struct val_args *args, struct val v, struct ag_value *out)
{
	double f;
	enum ag_dtype dtype;

	switch ((enum rp_kind)v.as.o->kind) {
	case K_TENSOR:
		*out = ag_arg(tensor_of(v));
		return true;
	case K_ARRAY:
		*out = ag_arg(AS(array, v)->t);
		return true;
	case K_LIST:
	case K_TUPLE:
		return list_value(vm, args, AS(list, v), out);
	case K_STR:
		*out = ag_text(chars_of(v), AS(str, v)->length);
		return true;
	case K_DTYPE:
		*out = ag_type(AS(dtype, v)->dtype);
		return true;
	case K_DEVICE:
		*out = AS(device, v)->cuda ? ag_text("cuda", 4) : ag_text("cpu", 3);
		return true;
	case K_CLASS:
		if (torch_dtype_of(vm, v, &dtype)) {
			*out = ag_type(dtype);
			return true;
		}
		break;
	case K_LONG:
		*out = ag_float(int_to_double(v));
		return true;
	case K_RANGE:
	case K_GENERATOR:
	case K_ITER:
	case K_VIEW:
	case K_DEQUE:
		return iterable_value(vm, args, v, out);
	case K_UNKNOWN:
		args->unknown = true;
		*out = ag_none();
		return true;
	default:
		if (!is_null(cls_find(vm, type_of(vm, v), vm->n[PN_float])) &&
		    rp_double(vm, v, &f)) {
			*out = ag_float(f);
			return true;
		}
		if (!is_null(vm->exc))
			return false;
		if (type_of(vm, v)->flags & CLS_OPAQUE) {
			args->unknown = true;
			*out = ag_none();
			return true;
		}
	}
	rp_raise(vm, TY_TypeError, "argument must be Tensor, not %s", type_name(vm, v));
	return false;
}

bool torch_value(struct vm *vm, struct val_args *args, struct val v, struct ag_value *out)
{
	switch ((enum rp_tag)v.tag) {
	case PY_BOOL:
		*out = ag_bool(v.as.i);
		return true;
	case PY_INT:
		*out = ag_int(v.as.i);
		return true;
	case PY_FLOAT:
		*out = ag_float(v.as.f);
		return true;
	case PY_OBJECT:
		return object_value(vm, args, v, out);
	default:
		*out = ag_none();
		return true;
	}
}

bool torch_args(struct vm *vm, struct val_args *args, struct val *a, uint32_t n, struct dict *kw)
{
	uint32_t at = 0;
	struct dict_entry *e;

	val_args_open(args);
	if (n > TORCH_MAX_ARGS || (kw && kw->count > TORCH_MAX_ARGS)) {
		rp_raise(vm, TY_TypeError, "too many arguments");
		return false;
	}
	for (uint32_t i = 0; i < n; i++)
		if (!torch_value(vm, args, a[i], &args->at[args->count++]))
			return false;
	while (kw && (e = dict_next(kw, &at))) {
		struct ag_keyword *k = &args->keywords[args->nkeywords];

		/* These say nothing about graphs or bytes. */
		if (str_is(AS(str, e->key), "generator") || str_is(AS(str, e->key), "layout") ||
		    str_is(AS(str, e->key), "pin_memory") || str_is(AS(str, e->key), "out"))
			continue;
		k->name = chars_of(e->key);
		if (!torch_value(vm, args, e->value, &k->value))
			return false;
		args->nkeywords++;
	}
	return true;
}

/* An int, or a sequence of them. */
bool torch_ints(struct vm *vm, struct val v, int64_t *out, uint32_t *count, uint32_t most)
{
	struct list *list;
	bool ok = true;

	if (is_int(v)) {
		*out = v.as.i;
		*count = 1;
		return true;
	}
	list = list_from(vm, v);
	if (!list)
		return false;
	*count = list->count < most ? list->count : most;
	for (uint32_t i = 0; ok && i < *count; i++) {
		if (is_kind(list->at[i], K_UNKNOWN))
			out[i] = torch_of(vm)->batch;
		else
			ok = rp_index(vm, list->at[i], &out[i]);
	}
	unref_obj(vm, list);
	return ok;
}
