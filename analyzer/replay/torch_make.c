#include "analyzer/replay/torch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NATIVE(name) static struct val name(struct vm *vm, struct val *a, uint32_t n)

/* A copy of a tensor or an array, or of arrays in a list as one. */
static struct val copied(struct vm *vm, struct val data, struct val dtype, struct val grad)
{
	struct ag_grad_mode old = ag_no_grad(ctx_of(vm));
	struct val both[2] = {data, dtype}, result;

	result = torch_call(vm, is_kind(data, K_LIST) ? "torch.stack" : "Tensor.clone", both, 1,
	                    NULL);
	if (is_kind(result, K_TENSOR) && !is_missing(dtype)) {
		both[0] = result;
		slot_set(vm, &result, torch_call(vm, "Tensor.to", both, 2, NULL));
	}
	ag_set_grad_mode(ctx_of(vm), old);
	if (is_kind(result, K_TENSOR) && !is_missing(grad) && rp_truth(vm, grad) > 0)
		ag_set_requires_grad(ctx_of(vm), tensor_of(result), true);
	return result;
}

static bool is_many(struct val v)
{
	return (is_kind(v, K_TENSOR) && ag_ndim(tensor_of(v)) > 0) ||
	       (is_kind(v, K_ARRAY) && ag_ndim(AS(array, v)->t) > 0);
}

static bool holds_arrays(struct val v)
{
	return is_kind(v, K_LIST) && AS(list, v)->count && is_kind(AS(list, v)->at[0], K_ARRAY) &&
	       is_many(AS(list, v)->at[0]);
}

/* Array scalars and 0-dim tensors inside lists are numbers to torch.tensor. */
static struct val make_tensor(struct vm *vm, struct val data, struct val dtype, struct val grad)
{
	struct val_args args;
	struct ag_value value;
	enum ag_dtype wanted;
	bool typed = torch_dtype_of(vm, dtype, &wanted);
	int on = is_missing(grad) ? 0 : rp_truth(vm, grad);
	struct val result;

	if (is_kind(data, K_UNKNOWN))
		return unknown_materialize(vm, data, typed ? wanted : AG_F32, 2,
		                           (int64_t[]){torch_of(vm)->batch, 8});
	if (is_many(data) || holds_arrays(data))
		return copied(vm, data, dtype, grad);
	val_args_open(&args);
	if (!torch_value(vm, &args, data, &value)) {
		arena_release(&args.arena);
		return val_null();
	}
	result = args.unknown ? torch_opaque(vm, &data, 1, "torch.tensor")
	                      : torch_wrap(vm, ag_tensor_of(ctx_of(vm), &value,
	                                                    typed ? &wanted : NULL, on > 0));
	arena_release(&args.arena);
	return result;
}

NATIVE(make_tensor_function)
{
	(void)n;
	return make_tensor(vm, a[0], a[1], a[3]);
}

NATIVE(make_from_numpy)
{
	(void)n;
	/* An array that is stood in for may be a tensor here. */
	if (is_kind(a[0], K_UNKNOWN) || (is_kind(a[0], K_TENSOR) && !torch_of(vm)->exact))
		return ref(a[0]);
	if (!is_kind(a[0], K_ARRAY))
		return rp_raise(vm, TY_TypeError, "expected np.ndarray (got %s)",
		                type_name(vm, a[0]));
	return torch_wrap(vm, ag_data_of(ctx_of(vm), AS(array, a[0])->t));
}

NATIVE(make_as_tensor)
{
	enum ag_dtype dtype;

	(void)n;
	if (is_kind(a[0], K_TENSOR)) {
		if (!torch_dtype_of(vm, a[1], &dtype) || dtype == ag_dtype(tensor_of(a[0])))
			return ref(a[0]);
		return torch_call(vm, "Tensor.to", a, 2, NULL);
	}
	if (is_kind(a[0], K_ARRAY) &&
	    (!torch_dtype_of(vm, a[1], &dtype) || dtype == ag_dtype(AS(array, a[0])->t)))
		return make_from_numpy(vm, a, 1);
	return make_tensor(vm, a[0], a[1], val_null());
}

NATIVE(make_seed)
{
	int64_t seed;

	(void)n;
	if (is_kind(a[0], K_UNKNOWN))
		return val_none();
	if (!rp_index(vm, a[0], &seed))
		return val_null();
	ag_manual_seed(ctx_of(vm), (uint64_t)seed);
	return val_none();
}

NATIVE(make_parameter)
{
	int on = is_missing(a[1]) ? 1 : rp_truth(vm, a[1]);

	(void)n;
	if (is_kind(a[0], K_UNKNOWN)) {
		struct val t = unknown_materialize(vm, a[0], AG_F32, 2,
		                                   (int64_t[]){torch_of(vm)->batch, 8});
		struct val p =
		        is_null(t) ? t
		                   : torch_wrap(vm, ag_parameter(ctx_of(vm), tensor_of(t), on > 0));

		unref(vm, t);
		return p;
	}
	if (!is_kind(a[0], K_TENSOR))
		return rp_raise(vm, TY_TypeError, "cannot make a Parameter of %s",
		                type_name(vm, a[0]));
	return torch_wrap(vm, ag_parameter(ctx_of(vm), tensor_of(a[0]), on > 0));
}

NATIVE(parameter_new)
{
	if (n < 2 || is_missing(a[1])) {
		struct ag_tensor *empty = ag_zeros(ctx_of(vm), 1, (int64_t[]){0});
		struct val p = torch_wrap(vm, ag_parameter(ctx_of(vm), empty, true));

		ag_release(empty);
		return p;
	}
	return make_parameter(vm, a + 1, 2);
}

NATIVE(tensor_new_function)
{
	struct list *args = AS(list, a[1]);
	struct val sizes;

	(void)n;
	if (args->count == 1 && !is_int(args->at[0])) {
		if (is_kind(args->at[0], K_TENSOR))
			return ref(args->at[0]);
		return make_tensor(vm, args->at[0], dtype_val(vm, AG_F32), val_null());
	}
	sizes = torch_call(vm, "torch.zeros", args->at, args->count, NULL);
	return sizes;
}

NATIVE(make_device)
{
	const char *text;
	int index = -1;

	(void)n;
	if (is_kind(a[0], K_DEVICE))
		return ref(a[0]);
	if (is_int(a[0]))
		return device_val(vm, true, (int)a[0].as.i);
	if (!is_kind(a[0], K_STR))
		return device_val(vm, false, -1);
	text = chars_of(a[0]);
	if (strchr(text, ':'))
		index = strchr(text, ':')[1] - '0';
	if (is_int(a[1]))
		index = (int)a[1].as.i;
	return device_val(vm, strncmp(text, "cuda", 4) == 0, index);
}

NATIVE(make_is_tensor)
{
	(void)vm, (void)n;
	return val_bool(is_kind(a[0], K_TENSOR));
}

NATIVE(make_numel)
{
	(void)vm, (void)n;
	return is_kind(a[0], K_TENSOR) ? val_int(ag_numel(tensor_of(a[0]))) : val_int(0);
}

NATIVE(make_default_dtype)
{
	enum ag_dtype dtype;

	(void)n;
	if (torch_dtype_of(vm, a[0], &dtype))
		ag_set_default_dtype(ctx_of(vm), dtype);
	return val_none();
}

NATIVE(make_get_default_dtype)
{
	(void)a, (void)n;
	return dtype_val(vm, ag_default_dtype(ctx_of(vm)));
}

/* set_kind(tensor, "optim") */
NATIVE(make_set_kind)
{
	(void)vm, (void)n;
	if (is_kind(a[0], K_TENSOR) && is_kind(a[1], K_STR))
		for (int k = 0; k < AG_KIND_COUNT; k++)
			if (str_is(AS(str, a[1]), ag_kind_name((enum ag_kind)k)))
				ag_set_kind(tensor_of(a[0]), (enum ag_kind)k);
	return val_none();
}

NATIVE(make_is_parameter)
{
	(void)vm, (void)n;
	return val_bool(is_kind(a[0], K_TENSOR) && ag_is_parameter(tensor_of(a[0])));
}

/* op(name, args, kwargs): for library code that renames or reorders. */
NATIVE(make_op)
{
	struct list *args = AS(list, a[1]);

	(void)n;
	return torch_call(vm, chars_of(a[0]), args->at, args->count,
	                  is_kind(a[2], K_DICT) ? AS(dict, a[2]) : NULL);
}

NATIVE(make_op_known)
{
	(void)vm, (void)n;
	return val_bool(is_kind(a[0], K_STR) && torch_op_known(vm, chars_of(a[0])));
}

NATIVE(make_opaque)
{
	struct list *args = AS(list, a[1]);

	(void)n;
	return torch_opaque(vm, args->at, args->count, chars_of(a[0]));
}

NATIVE(make_live_bytes)
{
	struct ag_memory memory;

	(void)a, (void)n;
	ag_memory(ctx_of(vm), &memory);
	return val_int((int64_t)memory.live_bytes);
}

NATIVE(make_size)
{
	struct list *list = is_missing(a[1]) ? list_new(vm, 0) : list_from(vm, a[1]);
	struct val t;

	(void)n;
	if (!list)
		return val_null();
	t = tuple_of(vm, list->at, list->count);
	t.as.o->cls = vm->t[TY_size];
	unref_obj(vm, list);
	return t;
}

const struct native_def make_functions[] = {
        {"tensor", make_tensor_function, "data ? dtype device requires_grad pin_memory"},
        {"as_tensor", make_as_tensor, "data ? dtype device"},
        {"asarray", make_as_tensor, "data ? dtype device"},
        {"from_numpy", make_from_numpy, "array"},
        {"manual_seed", make_seed, "seed"},
        {"device", make_device, "type ? index"},
        {"is_tensor", make_is_tensor, "obj"},
        {"numel", make_numel, "input"},
        {"set_default_dtype", make_default_dtype, "d"},
        {"get_default_dtype", make_get_default_dtype, ""},
        {0},
};

static const struct native_def support_functions[] = {
        {"parameter", make_parameter, "data ? requires_grad"},
        {"set_kind", make_set_kind, "tensor kind"},
        {"is_parameter", make_is_parameter, "obj"},
        {"op", make_op, "name args ? kwargs"},
        {"op_known", make_op_known, "name"},
        {"opaque", make_opaque, "name args"},
        {"live_bytes", make_live_bytes, ""},
        {0},
};

static const struct native_def parameter_methods[] = {
        {"__new__", parameter_new, "cls ? data requires_grad"}, {0}};
static const struct native_def tensor_new_methods[] = {
        {"__new__", tensor_new_function, "cls *args **kw"}, {0}};
static const struct native_def size_methods[] = {{"__new__", make_size, "cls ? sizes"}, {0}};

static void set_module_name(struct vm *vm, enum rp_type type, const char *module)
{
	struct cls *c = vm->t[type];

	c->module = str_intern(vm, module, strlen(module));
	c->module->h.refs++;
}

static void put_dtypes(struct vm *vm, struct module *m)
{
	static const struct {
		enum ag_dtype dtype;
		const char *names;
	} rows[] = {
#define DTYPE(id, name, bytes, category, spellings) {AG_##id, spellings},
#include "runtime/dtypes.def"
#undef DTYPE
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *at = rows[i].names;

		while (*at) {
			size_t length = strcspn(at, " ");

			dict_put_str(vm, m->ns, str_intern(vm, at + 6, length - 6),
			             val_obj(dtype_val(vm, rows[i].dtype).as.o));
			at += length;
			at += strspn(at, " ");
		}
	}
}

void storage_methods_add(struct vm *vm);

static void torch_init(struct vm *vm, struct module *m)
{
	put_dtypes(vm, m);
	module_set(vm, m, "Tensor", ref_obj(vm->t[TY_tensor]));
	module_set(vm, m, "Size", ref_obj(vm->t[TY_size]));
	module_set(vm, m, "dtype", ref_obj(vm->t[TY_dtype]));
	module_set(vm, m, "OutOfMemoryError", ref_obj(vm->t[TY_OutOfMemoryError]));
	module_set(vm, m, "inf", val_float(INFINITY));
	module_set(vm, m, "nan", val_float(NAN));
	module_set(vm, m, "pi", val_float(M_PI));
	module_set(vm, m, "e", val_float(M_E));
	module_set(vm, m, "strided", val_str(vm, "torch.strided"));
	module_set(vm, m, "contiguous_format", val_str(vm, "contiguous_format"));
	module_set(vm, m, "channels_last", val_str(vm, "channels_last"));
	module_set(vm, m, "channels_last_3d", val_str(vm, "channels_last_3d"));
	module_set(vm, m, "preserve_format", val_str(vm, "preserve_format"));
	module_set(vm, m, "__version__", val_str(vm, "2.13.0"));
}

/* torch.foo: an op, else something nothing is known of. */
static struct val op_or_unknown(struct vm *vm, struct module *m, struct str *name)
{
	char full[160];
	const char *prefix = str_is(m->name, "torch.nn.functional")   ? "F"
	                     : strncmp(m->name->at, "torch.", 6) == 0 ? m->name->at + 6
	                                                              : "torch";

	struct val known;

	if (name->at[0] == '_' && name->at[1] == '_')
		return val_null();
	/* Not among the module's own names: library code means the built-in max. */
	known = dict_get_str(vm, attrs_of(vm, &m->h), name);
	if (!is_null(known))
		return ref(known);
	snprintf(full, sizeof(full), "%s.%s", prefix, name->at);
	if (torch_op_known(vm, full)) {
		struct val fn = torch_op_function(vm, str_intern(vm, full, strlen(full))->at);

		dict_put_str(vm, m->h.attrs, name, fn);
		return fn;
	}
	known = str_is(m->name, "torch.linalg") ? torch_library_function(vm, name) : val_null();
	if (!is_null(known) || !is_null(vm->exc))
		return known;
	vm_stand_in(vm, "%s.%s", m->name->at, name->at);
	return unknown_new(vm, "%s.%s", m->name->at, name->at);
}

static void types_complete(struct vm *vm)
{
	type_add(vm, vm->t[TY_tensor], tensor_methods);
	type_add(vm, vm->t[TY_tensor], tensor_new_methods);
	type_add(vm, vm->t[TY_tensor], tensor_hook_methods);
	type_add(vm, vm->t[TY_node], node_methods);
	type_add(vm, vm->t[TY_parameter], parameter_methods);
	type_add(vm, vm->t[TY_size], size_methods);
	type_add(vm, vm->t[TY_nn_module], module_methods);
	storage_methods_add(vm);
	set_module_name(vm, TY_tensor, "torch");
	set_module_name(vm, TY_parameter, "torch.nn.parameter");
	set_module_name(vm, TY_size, "torch");
	set_module_name(vm, TY_nn_module, "torch.nn.modules.module");
	set_module_name(vm, TY_array, "numpy");
	set_module_name(vm, TY_dtype, "torch");
	set_module_name(vm, TY_device, "torch");
	set_module_name(vm, TY_OutOfMemoryError, "torch");
}

static void support_init(struct vm *vm, struct module *m)
{
	module_add(vm, m, autograd_functions);
	module_add(vm, m, stream_functions);
	module_add(vm, m, autocast_functions);
	module_add(vm, m, many_functions);
	module_add(vm, m, update_functions);
	module_set(vm, m, "ModuleBase", ref_obj(vm->t[TY_nn_module]));
	module_set(vm, m, "Parameter", ref_obj(vm->t[TY_parameter]));
	module_set(vm, m, "Tensor", ref_obj(vm->t[TY_tensor]));
	module_set(vm, m, "Node", ref_obj(vm->t[TY_node]));
}

static const struct native_module torch_module = {"torch", make_functions, torch_init,
                                                  op_or_unknown};
static const struct native_module support = {"_torch", support_functions, support_init, NULL};
static const struct native_module functional = {"torch.nn.functional", NULL, NULL, op_or_unknown};
static const struct native_module nn = {"torch.nn", NULL, NULL, op_or_unknown};
static const struct native_module special = {"torch.special", NULL, NULL, op_or_unknown};
static const struct native_module linalg = {"torch.linalg", NULL, NULL, op_or_unknown};
static const struct native_module vf = {"torch._VF", NULL, NULL, op_or_unknown};
static const struct native_module fft = {"torch.fft", NULL, NULL, op_or_unknown};

extern const struct native_module numpy_module, numpy_support_module, numpy_random_module;

void torch_offer(struct vm *vm)
{
	static const struct native_module *const all[] = {
	        &torch_module,
	        &support,
	        &functional,
	        &nn,
	        &special,
	        &linalg,
	        &vf,
	        &fft,
	        &numpy_module,
	        &numpy_support_module,
	        &numpy_random_module,
	};

	types_complete(vm);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		vm_offer(vm, all[i]);
}
