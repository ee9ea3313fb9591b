#include "analyzer/replay/assume.h"
#include "analyzer/replay/torch.h"

#include <stdlib.h>
#include <string.h>

#define METHOD(name) static struct val name(struct vm *vm, struct val *a, uint32_t n)

static struct val ok_or_raise(struct vm *vm, bool ok)
{
	return ok ? val_none() : torch_raise(vm);
}

struct val tensor_number(struct vm *vm, struct ag_tensor *t)
{
	struct ag_ctx *ctx = ctx_of(vm);
	double f;
	int64_t i;
	bool ok;

	if (ag_numel(t) != 1 && !torch_of(vm)->exact) {
		vm_stand_in(vm, "value of a tensor");
		return unknown_new(vm, "tensor.item()");
	}
	if (ag_numel(t) != 1)
		return rp_raise(vm, TY_RuntimeError,
		                "a Tensor with %lld elements cannot be converted "
		                "to Scalar",
		                (long long)ag_numel(t));
	if (ag_dtype_is_float(ag_dtype(t))) {
		ok = ag_item(ctx, t, &f);
		if (ok)
			return val_float(f);
	} else {
		ok = ag_item_int(ctx, t, &i);
		if (ok)
			return ag_dtype(t) == AG_BOOL8 ? val_bool(i != 0) : val_int(i);
	}
	if (ag_error(ctx)->status != AG_ERR_NO_DATA)
		return torch_raise(vm);
	ag_error_clear(ctx);
	vm_asked(vm);
	return unknown_new(vm, "tensor.item()");
}

static struct val list_level(struct vm *vm, struct ag_tensor *t, const double **at, int dim)
{
	struct list *list;

	if (dim == ag_ndim(t)) {
		double f = *(*at)++;

		return ag_dtype_is_float(ag_dtype(t)) ? val_float(f)
		       : ag_dtype(t) == AG_BOOL8      ? val_bool(f != 0)
		                                      : val_int((int64_t)f);
	}
	list = list_new(vm, (uint32_t)ag_size(t, dim));
	for (int64_t i = 0; i < ag_size(t, dim); i++)
		list_push(vm, list, list_level(vm, t, at, dim + 1));
	return val_obj(list);
}

struct val tensor_list(struct vm *vm, struct ag_tensor *t)
{
	int64_t count = ag_numel(t);
	double *all;
	const double *at;
	struct val result;

	if (!ag_ndim(t))
		return tensor_number(vm, t);
	if (!vm_work(vm, (uint64_t)count))
		return val_null();
	all = checked_alloc((size_t)count + 1, sizeof(*all));
	at = all;
	if (ag_read(ctx_of(vm), t, all, count)) {
		result = list_level(vm, t, &at, 0);
	} else if (ag_error(ctx_of(vm))->status == AG_ERR_NO_DATA) {
		ag_error_clear(ctx_of(vm));
		vm_asked(vm);
		result = unknown_new(vm, "tensor.tolist()");
	} else {
		result = torch_raise(vm);
	}
	free(all);
	return result;
}

METHOD(method_item)
{
	(void)n;
	return tensor_number(vm, tensor_of(a[0]));
}

METHOD(method_tolist)
{
	(void)n;
	return tensor_list(vm, tensor_of(a[0]));
}

METHOD(method_float)
{
	struct val v = tensor_number(vm, tensor_of(a[0]));
	double f;

	(void)n;
	if (is_null(v) || is_kind(v, K_UNKNOWN))
		return v;
	return rp_double(vm, v, &f) ? val_float(f) : val_null();
}

METHOD(method_int)
{
	struct val v = tensor_number(vm, tensor_of(a[0])), i;

	(void)n;
	if (is_null(v) || is_kind(v, K_UNKNOWN))
		return v;
	i = rp_to_int(vm, v);
	unref(vm, v);
	return i;
}

METHOD(method_index)
{
	struct val v = method_int(vm, a, n);

	if (!is_kind(v, K_UNKNOWN))
		return v;
	vm_stand_in(vm, "index by %s", AS(unknown, v)->what->at);
	unref(vm, v);
	return val_int(0);
}

METHOD(method_bool)
{
	int truth = vm->kinds[K_TENSOR].truth(vm, a[0]);

	(void)n;
	if (truth == PY_NOT_KNOWN)
		return unknown_new(vm, "bool()");
	return truth < 0 ? val_null() : val_bool(truth);
}

METHOD(method_size)
{
	int64_t dim;

	(void)n;
	if (is_missing(a[1]))
		return shape_of(vm, tensor_of(a[0]));
	if (!rp_index(vm, a[1], &dim))
		return val_null();
	if (dim >= ag_ndim(tensor_of(a[0])) || dim < -ag_ndim(tensor_of(a[0])))
		return rp_raise(vm, TY_IndexError,
		                "Dimension out of range (expected to be in range of "
		                "[%d, %d], but got %lld)",
		                -ag_ndim(tensor_of(a[0])), ag_ndim(tensor_of(a[0])) - 1,
		                (long long)dim);
	return val_int(ag_size(tensor_of(a[0]), (int)dim));
}

METHOD(method_dim)
{
	(void)vm, (void)n;
	return val_int(ag_ndim(tensor_of(a[0])));
}

METHOD(method_numel)
{
	(void)vm, (void)n;
	return val_int(ag_numel(tensor_of(a[0])));
}

METHOD(method_element_size)
{
	(void)vm, (void)n;
	return val_int((int64_t)ag_dtype_size(ag_dtype(tensor_of(a[0]))));
}

METHOD(method_stride)
{
	struct ag_tensor *t = tensor_of(a[0]);
	struct val all = size_val(vm, ag_strides(t), ag_ndim(t)), one;
	int64_t dim;

	(void)n;
	all.as.o->cls = vm->t[TY_tuple];
	if (is_missing(a[1]))
		return all;
	one = rp_index(vm, a[1], &dim) ? rp_item(vm, all, val_int(dim)) : val_null();
	unref(vm, all);
	return one;
}

METHOD(method_is_contiguous)
{
	enum ag_format format;

	(void)vm, (void)n;
	if (!is_kind(a[1], K_STR) || !ag_format_find(chars_of(a[1]), &format))
		format = AG_CONTIGUOUS;
	return val_bool(ag_is_contiguous_in(tensor_of(a[0]), format));
}

METHOD(method_data_ptr)
{
	(void)vm, (void)n;
	return val_int((int64_t)ag_storage_id(ag_storage_of(tensor_of(a[0]))) * 4096 +
	               ag_offset(tensor_of(a[0])));
}

METHOD(method_storage_offset)
{
	(void)vm, (void)n;
	return val_int(ag_offset(tensor_of(a[0])));
}

METHOD(method_is_floating_point)
{
	(void)vm, (void)n;
	return val_bool(ag_dtype_is_float(ag_dtype(tensor_of(a[0]))));
}

METHOD(method_get_device)
{
	(void)vm, (void)n;
	return val_int(ag_tensor_device(tensor_of(a[0])) == AG_CUDA ? 0 : -1);
}

METHOD(method_numpy)
{
	struct ag_tensor *t = tensor_of(a[0]);

	(void)n;
	if (ag_requires_grad(t) && !(!is_missing(a[1]) && rp_truth(vm, a[1]) > 0))
		return rp_raise(vm, TY_RuntimeError,
		                "Can't call numpy() on Tensor that requires grad. "
		                "Use tensor.detach().numpy() instead.");
	return array_over(vm, t);
}

METHOD(method_storage)
{
	struct storage *s = rp_new(vm, K_STORAGE, vm->t[TY_storage], sizeof(*s));

	(void)n;
	s->s = ag_storage_retain(ag_storage_of(tensor_of(a[0])));
	return val_obj(s);
}

METHOD(storage_nbytes)
{
	(void)vm, (void)n;
	return val_int((int64_t)ag_storage_bytes(AS(storage, a[0])->s));
}

METHOD(storage_data_ptr)
{
	(void)vm, (void)n;
	return val_int((int64_t)ag_storage_id(AS(storage, a[0])->s) * 4096);
}

static const struct native_def storage_methods[] = {
        {"nbytes", storage_nbytes, "self"},
        {"size", storage_nbytes, "self"},
        {"data_ptr", storage_data_ptr, "self"},
        {"__len__", storage_nbytes, "self"},
        {0},
};

METHOD(method_backward)
{
	unsigned flags = 0;
	int retain = is_missing(a[2]) ? -1 : rp_truth(vm, a[2]);
	int create = is_missing(a[3]) ? 0 : rp_truth(vm, a[3]);
	struct ag_tensor *self = tensor_of(a[0]),
	                 *grad = is_kind(a[1], K_TENSOR) ? tensor_of(a[1]) : NULL;
	struct ag_tensor *inputs[TORCH_MAX_ARGS];
	uint32_t ninputs = 0;

	(void)n;
	if (retain > 0 || (retain < 0 && create > 0))
		flags |= AG_RETAIN_GRAPH;
	if (create > 0)
		flags |= AG_CREATE_GRAPH;
	if (is_missing(a[4]))
		return ok_or_raise(vm, assumed_backward(vm, self, grad, flags) && !vm->halt);
	backward_starts(vm, self, flags);
	if (is_kind(a[4], K_TENSOR))
		inputs[ninputs++] = tensor_of(a[4]);
	for (uint32_t i = 0; (is_kind(a[4], K_LIST) || is_kind(a[4], K_TUPLE)) &&
	                     i < AS(list, a[4])->count && ninputs < TORCH_MAX_ARGS;
	     i++)
		if (is_kind(AS(list, a[4])->at[i], K_TENSOR))
			inputs[ninputs++] = tensor_of(AS(list, a[4])->at[i]);
	return ok_or_raise(vm, ag_backward_many(ctx_of(vm), &self, grad ? &grad : NULL, 1, inputs,
	                                        ninputs, flags));
}

METHOD(method_requires_grad_)
{
	int on = is_missing(a[1]) ? 1 : rp_truth(vm, a[1]);

	(void)n;
	if (on < 0)
		return val_null();
	return ag_set_requires_grad(ctx_of(vm), tensor_of(a[0]), on) ? ref(a[0]) : torch_raise(vm);
}

METHOD(method_retain_grad)
{
	(void)n;
	return ok_or_raise(vm, ag_retain_grad(ctx_of(vm), tensor_of(a[0])));
}

METHOD(method_deepcopy)
{
	struct ag_tensor *t = tensor_of(a[0]), *copy;
	struct ag_grad_mode old;
	bool parameter = ag_is_parameter(t);

	(void)n;
	if (!ag_is_leaf(t))
		return rp_raise(
		        vm, TY_RuntimeError,
		        "Only Tensors created explicitly by the user (graph leaves) support the "
		        "deepcopy protocol at the moment.  If you were attempting to deepcopy a "
		        "module, this may be because of a torch.nn.utils.weight_norm usage");
	old = ag_no_grad(ctx_of(vm));
	copy = ag_clone(ctx_of(vm), t);
	if (parameter && copy) {
		struct ag_tensor *p = ag_parameter(ctx_of(vm), copy, ag_requires_grad(t));

		ag_release(copy);
		copy = p;
	} else if (copy && ag_requires_grad(t)) {
		ag_set_requires_grad(ctx_of(vm), copy, true);
	}
	if (copy && !parameter && ag_grad_of(t)) {
		struct ag_tensor *grad = ag_clone(ctx_of(vm), ag_grad_of(t));

		ag_set_grad(ctx_of(vm), copy, grad);
		ag_release(grad);
	}
	ag_set_grad_mode(ctx_of(vm), old);
	return torch_wrap(vm, copy);
}

METHOD(method_contains)
{
	struct val hits = torch_call(vm, "Tensor.eq", a, 2, NULL), any, result;

	(void)n;
	if (is_null(hits))
		return hits;
	any = torch_call(vm, "Tensor.any", &hits, 1, NULL);
	unref(vm, hits);
	if (is_null(any))
		return any;
	result = method_bool(vm, &any, 1);
	unref(vm, any);
	return result;
}

METHOD(method_hash)
{
	(void)vm, (void)n;
	return val_int((int64_t)((uintptr_t)a[0].as.o >> 4));
}

METHOD(method_new_tensor)
{
	struct val fn = rp_attr_chars(vm, dict_get_str(vm, vm->modules, str_intern(vm, "torch", 5)),
	                              "tensor"),
	           result;

	(void)n;
	if (is_null(fn))
		return fn;
	result = rp_call(vm, fn, &a[1], 1, is_kind(a[2], K_DICT) ? AS(dict, a[2]) : NULL);
	unref(vm, fn);
	return result;
}

METHOD(method_abs)
{
	(void)n;
	return torch_call(vm, "Tensor.abs", a, 1, NULL);
}

METHOD(method_round)
{
	(void)n;
	return torch_call(vm, "Tensor.round", a, 1, NULL);
}

/* The older names of tensors by their dtype. */
static const struct {
	const char *name;
	enum ag_dtype dtype;
} tensor_types[] = {
        {"torch.FloatTensor", AG_F32}, {"torch.DoubleTensor", AG_F64},
        {"torch.HalfTensor", AG_F16},  {"torch.BFloat16Tensor", AG_BF16},
        {"torch.LongTensor", AG_I64},  {"torch.IntTensor", AG_I32},
        {"torch.ShortTensor", AG_I16}, {"torch.CharTensor", AG_I8},
        {"torch.ByteTensor", AG_U8},   {"torch.BoolTensor", AG_BOOL8},
};
enum { TENSOR_TYPES = sizeof(tensor_types) / sizeof(tensor_types[0]) };

static struct val type_given(struct vm *vm, struct val v)
{
	const char *name = is_kind(v, K_STR)     ? chars_of(v)
	                   : is_kind(v, K_CLASS) ? AS(cls, v)->name->at
	                                         : NULL;

	for (size_t i = 0; name && i < TENSOR_TYPES; i++)
		if (strcmp(tensor_types[i].name + (is_kind(v, K_STR) ? 0 : 6), name) == 0)
			return dtype_val(vm, tensor_types[i].dtype);
	if (is_kind(v, K_CLASS) && strcmp(name, "Tensor") == 0)
		return dtype_val(vm, ag_default_dtype(ctx_of(vm)));
	return ref(v);
}

/* type(dtype=None, non_blocking=False) */
METHOD(method_type)
{
	enum ag_dtype dtype = ag_dtype(tensor_of(a[0]));
	struct val args[2], result;

	if (n > 1 && !is_missing(a[1]) && !is_none(a[1])) {
		args[0] = a[0];
		args[1] = type_given(vm, a[1]);
		result = torch_call(vm, "Tensor.type", args, 2, NULL);
		unref(vm, args[1]);
		return result;
	}
	for (size_t i = 0; i < TENSOR_TYPES; i++)
		if (tensor_types[i].dtype == dtype)
			return val_str(vm, tensor_types[i].name);
	return val_str(vm, "torch.ComplexFloatTensor");
}

METHOD(method_split)
{
	struct val args[3] = {a[0], a[1], is_missing(a[2]) ? val_int(0) : a[2]};

	(void)n;
	return torch_call(vm, "Tensor.split", args, 3, NULL);
}

METHOD(method_ne_true)
{
	(void)vm, (void)a, (void)n;
	return val_bool(true);
}

METHOD(method_is_inference)
{
	(void)vm, (void)n;
	return val_bool(ag_is_inference(tensor_of(a[0])));
}

const struct native_def tensor_methods[] = {
        {"item", method_item, "self"},
        {"tolist", method_tolist, "self"},
        {"__float__", method_float, "self"},
        {"__int__", method_int, "self"},
        {"__index__", method_index, "self"},
        {"__bool__", method_bool, "self"},
        {"__abs__", method_abs, "self"},
        {"__round__", method_round, "self ? digits"},
        {"__contains__", method_contains, "self item"},
        {"__hash__", method_hash, "self"},
        {"__deepcopy__", method_deepcopy, "self memo"},
        {"size", method_size, "self ? dim"},
        {"dim", method_dim, "self"},
        {"ndimension", method_dim, "self"},
        {"numel", method_numel, "self"},
        {"nelement", method_numel, "self"},
        {"element_size", method_element_size, "self"},
        {"stride", method_stride, "self ? dim"},
        {"is_contiguous", method_is_contiguous, "self ? memory_format"},
        {"data_ptr", method_data_ptr, "self"},
        {"storage_offset", method_storage_offset, "self"},
        {"is_floating_point", method_is_floating_point, "self"},
        {"get_device", method_get_device, "self"},
        {"numpy", method_numpy, "self ? force"},
        {"__array__", method_numpy, "self ? force"},
        {"untyped_storage", method_storage, "self"},
        {"storage", method_storage, "self"},
        {"backward", method_backward, "self ? gradient retain_graph create_graph inputs"},
        {"requires_grad_", method_requires_grad_, "self ? requires_grad"},
        {"retain_grad", method_retain_grad, "self"},
        {"new_tensor", method_new_tensor, "self data **kw"},
        {"split", method_split, "self split_size ? dim"},
        {"type", method_type, "self ? dtype non_blocking"},
        {"is_shared", method_ne_true, "self"},
        {"is_inference", method_is_inference, "self"},
        {0},
};

void storage_methods_add(struct vm *vm);
void storage_methods_add(struct vm *vm)
{
	type_add(vm, vm->t[TY_storage], storage_methods);
}
