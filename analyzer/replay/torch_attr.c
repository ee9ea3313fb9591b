#include "analyzer/replay/library.h"
#include "analyzer/replay/torch.h"

#include "analyzer/torch/api.h"

#include <stdio.h>
#include <string.h>

#define GETTER(name) static struct val name(struct vm *vm, struct ag_tensor *t)

GETTER(get_dtype)
{
	return dtype_val(vm, ag_dtype(t));
}

GETTER(get_device)
{
	return device_val(vm, ag_tensor_device(t) == AG_CUDA,
	                  ag_tensor_device(t) == AG_CUDA ? 0 : -1);
}

GETTER(get_grad)
{
	return torch_wrap_ref(vm, ag_grad_of(t));
}

GETTER(get_requires_grad)
{
	(void)vm;
	return val_bool(ag_requires_grad(t));
}

GETTER(get_is_leaf)
{
	(void)vm;
	return val_bool(ag_is_leaf(t));
}

GETTER(get_data)
{
	return torch_wrap(vm, ag_data_of(ctx_of(vm), t));
}

GETTER(get_ndim)
{
	(void)vm;
	return val_int(ag_ndim(t));
}

GETTER(get_base)
{
	return torch_wrap_ref(vm, ag_base(t));
}

GETTER(get_is_cuda)
{
	(void)vm;
	return val_bool(ag_tensor_device(t) == AG_CUDA);
}

GETTER(get_false)
{
	(void)vm, (void)t;
	return val_bool(false);
}

GETTER(get_itemsize)
{
	(void)vm;
	return val_int((int64_t)ag_dtype_size(ag_dtype(t)));
}

GETTER(get_nbytes)
{
	(void)vm;
	return val_int(ag_numel(t) * (int64_t)ag_dtype_size(ag_dtype(t)));
}

GETTER(get_version)
{
	(void)vm;
	return val_int(ag_version(t));
}

GETTER(get_zero)
{
	(void)vm, (void)t;
	return val_int(0);
}

GETTER(get_none)
{
	(void)vm, (void)t;
	return val_none();
}

/* A Python function's node is its context object. */
GETTER(get_grad_fn)
{
	return node_wrap(vm, ag_grad_fn(ctx_of(vm), t));
}

static struct val by_op(struct vm *vm, struct ag_tensor *t, const char *name)
{
	struct val self = torch_wrap_ref(vm, t), result = torch_call(vm, name, &self, 1, NULL);

	unref(vm, self);
	return result;
}

GETTER(get_T)
{
	return by_op(vm, t, "Tensor.T");
}

GETTER(get_mT)
{
	return by_op(vm, t, "Tensor.mT");
}

GETTER(get_layout)
{
	(void)t;
	return val_str(vm, "torch.strided");
}

static const struct {
	const char *name;
	struct val (*get)(struct vm *vm, struct ag_tensor *t);
} getters[] = {
        {"shape", shape_of},
        {"dtype", get_dtype},
        {"device", get_device},
        {"grad", get_grad},
        {"_grad", get_grad},
        {"requires_grad", get_requires_grad},
        {"is_leaf", get_is_leaf},
        {"data", get_data},
        {"ndim", get_ndim},
        {"_base", get_base},
        {"is_cuda", get_is_cuda},
        {"is_sparse", get_false},
        {"is_quantized", get_false},
        {"is_mps", get_false},
        {"itemsize", get_itemsize},
        {"nbytes", get_nbytes},
        {"_version", get_version},
        {"grad_fn", get_grad_fn},
        {"T", get_T},
        {"mT", get_mT},
        {"H", get_mT},
        {"layout", get_layout},
        {"output_nr", get_zero},
        {"name", get_none},
};

/* What the library has in Python as functions of torch, and other modules and tensors have, too. */
struct val torch_library_function(struct vm *vm, struct str *name)
{
	struct val torch = dict_get_str(vm, vm->modules, str_intern(vm, "torch", 5));
	const struct library_module *library =
	        is_kind(torch, K_MODULE) ? AS(module, torch)->library : NULL;

	if (!library || !library_definition_find(library, name))
		return val_null();
	return rp_attr(vm, torch, name);
}

/* Methods that are ops become functions of the class when first used. */
static struct val op_method(struct vm *vm, struct str *name)
{
	char full[128];
	struct val fn;
	int length = snprintf(full, sizeof(full), "Tensor.%s", name->at);

	if (length < 0 || (size_t)length >= sizeof(full) ||
	    (!torch_op_known(vm, full) && !api_method("torch.Tensor", 12, name->at, name->length)))
		return val_null();
	fn = torch_op_known(vm, full) ? val_null() : torch_library_function(vm, name);
	if (is_null(fn)) {
		if (!is_null(vm->exc))
			return val_null();
		fn = torch_op_function(vm, str_intern(vm, full, (size_t)length)->at);
		AS(native, fn)->owner = vm->t[TY_tensor];
	}
	dict_put_str(vm, vm->t[TY_tensor]->ns, name, fn);
	unref(vm, fn);
	vm->version++;
	return fn;
}

struct val tensor_attr(struct vm *vm, struct obj *o, struct str *name)
{
	struct ag_tensor *t = ((struct tensor *)(void *)o)->t;
	struct val found;

	found = cls_find(vm, o->cls, name);
	if (!is_null(found))
		return val_null(); /* an ordinary method */
	for (size_t i = 0; i < sizeof(getters) / sizeof(getters[0]); i++)
		if (str_is(name, getters[i].name))
			return getters[i].get(vm, t);
	if (name->at[0] != '_' || name->at[1] != '_')
		op_method(vm, name);
	return val_null();
}

int tensor_set_attr(struct vm *vm, struct obj *o, struct str *name, struct val value)
{
	struct ag_tensor *t = ((struct tensor *)(void *)o)->t;
	struct ag_ctx *ctx = ctx_of(vm);
	bool ok;

	if (str_is(name, "grad") || str_is(name, "_grad")) {
		if (!is_none(value) && !is_kind(value, K_TENSOR)) {
			if (is_kind(value, K_UNKNOWN))
				return 1;
			rp_raise(vm, TY_TypeError,
			         "assigned grad expected to be a Tensor or None but "
			         "got type '%s'",
			         type_name(vm, value));
			return -1;
		}
		ok = ag_set_grad(ctx, t, is_none(value) ? NULL : tensor_of(value));
	} else if (str_is(name, "requires_grad")) {
		int on = rp_truth(vm, value);

		ok = on >= 0 && ag_set_requires_grad(ctx, t, on);
	} else if (str_is(name, "data")) {
		if (!is_kind(value, K_TENSOR))
			return is_kind(value, K_UNKNOWN)
			               ? 1
			               : (rp_raise(vm, TY_TypeError,
			                           "Variable data has to be a tensor, but got %s",
			                           type_name(vm, value)),
			                  -1);
		ok = ag_set_data(ctx, t, tensor_of(value));
	} else {
		return 0;
	}
	if (ok)
		return 1;
	torch_raise(vm);
	return -1;
}
