#include "analyzer/replay/torch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A small numpy: arrays are tensors without a graph, made by the same ops. What
 * is not here is a stand-in. */

#define NATIVE(name) static struct val name(struct vm *vm, struct val *a, uint32_t n)

/* A tensor over the same memory: an array's own is never seen from Python. */
static struct val array_tensor(struct vm *vm, struct val array)
{
	return torch_wrap(vm, ag_data_of(ctx_of(vm), AS(array, array)->t));
}

/* The result of an op on arrays, as an array (a number if it has no dimension). */
static struct val as_array(struct vm *vm, struct val v)
{
	struct val out;

	if (is_kind(v, K_LIST) || is_kind(v, K_TUPLE)) {
		for (uint32_t i = 0; i < AS(list, v)->count; i++)
			AS(list, v)->at[i] = as_array(vm, AS(list, v)->at[i]);
		return v;
	}
	if (!is_kind(v, K_TENSOR))
		return v;
	out = ag_ndim(tensor_of(v)) ? array_wrap(vm, ag_data_of(ctx_of(vm), tensor_of(v)))
	                            : tensor_number(vm, tensor_of(v));
	unref(vm, v);
	return out;
}

/* A view of an array keeps what that keeps. */
static struct val array_view_of(struct val made, struct val from)
{
	struct array *view, *whole;

	if (!is_kind(made, K_ARRAY) || !is_kind(from, K_ARRAY))
		return made;
	view = AS(array, made);
	whole = AS(array, from);
	if (!view->owner && ag_storage_of(view->t) == ag_storage_of(whole->t))
		view->owner = ag_retain(whole->owner);
	return made;
}

/* NumPy's ways around ops: no graph, floats of 64 bits, memory of its own. */
struct numpy_ways {
	struct ag_grad_mode mode;
	enum ag_dtype dtype;
	bool foreign;
};

static struct numpy_ways numpy_enter(struct vm *vm)
{
	struct ag_ctx *ctx = ctx_of(vm);
	struct numpy_ways before = {ag_no_grad(ctx), ag_default_dtype(ctx),
	                            ag_set_foreign(ctx, true)};

	ag_set_default_dtype(ctx, AG_F64);
	return before;
}

static void numpy_leave(struct vm *vm, struct numpy_ways before)
{
	ag_set_grad_mode(ctx_of(vm), before.mode);
	ag_set_default_dtype(ctx_of(vm), before.dtype);
	ag_set_foreign(ctx_of(vm), before.foreign);
}

static struct val array_call(struct vm *vm, const char *name, struct val *a, uint32_t n,
                             struct dict *kw)
{
	struct numpy_ways before = numpy_enter(vm);
	struct val result = as_array(vm, torch_call(vm, name, a, n, kw));

	for (uint32_t i = 0; i < n; i++)
		result = array_view_of(result, a[i]);
	numpy_leave(vm, before);
	return result;
}

static struct val array_binary(struct vm *vm, enum ir_sub sub, struct val a, struct val b)
{
	struct numpy_ways before;
	struct val x, result;

	if (is_kind(a, K_TENSOR) || is_kind(b, K_TENSOR))
		return (struct val){.tag = PY_NOT_IMPLEMENTED};
	before = numpy_enter(vm);
	x = is_kind(a, K_ARRAY) ? array_tensor(vm, a) : ref(a);
	if (!is_kind(a, K_ARRAY)) {
		struct val y = array_tensor(vm, b);

		result = as_array(vm, tensor_binary(vm, sub, x, y));
		unref(vm, y);
	} else {
		result = as_array(vm, tensor_binary(vm, sub, x, b));
	}
	numpy_leave(vm, before);
	unref(vm, x);
	return result;
}

static struct val array_unary(struct vm *vm, enum ir_sub sub, struct val a)
{
	struct numpy_ways before = numpy_enter(vm);
	struct val x = array_tensor(vm, a);
	struct val result = as_array(vm, tensor_unary(vm, sub, x));

	numpy_leave(vm, before);
	unref(vm, x);
	return result;
}

static bool goes_backwards(struct val index)
{
	if (is_kind(index, K_SLICE))
		return is_int(AS(slice, index)->step) && AS(slice, index)->step.as.i < 0;
	for (uint32_t i = 0; is_kind(index, K_TUPLE) && i < AS(list, index)->count; i++)
		if (is_kind(AS(list, index)->at[i], K_SLICE) &&
		    goes_backwards(AS(list, index)->at[i]))
			return true;
	return false;
}

static struct val array_item(struct vm *vm, struct val o, struct val index)
{
	struct numpy_ways before = numpy_enter(vm);
	struct val x, v;

	if (goes_backwards(index)) {
		numpy_leave(vm, before);
		return library_call(vm, "numpy", "_backwards", (struct val[]){o, index}, 2);
	}
	x = array_tensor(vm, o);
	v = tensor_item(vm, x, index);
	numpy_leave(vm, before);
	unref(vm, x);
	return array_view_of(as_array(vm, v), o);
}

static int array_set_item(struct vm *vm, struct val o, struct val index, struct val value)
{
	struct numpy_ways before = numpy_enter(vm);
	struct val x = array_tensor(vm, o);
	int done = tensor_set_item(vm, x, index, value);

	numpy_leave(vm, before);
	unref(vm, x);
	return done;
}

static struct val array_iterate(struct vm *vm, struct val o)
{
	struct list *rows = list_new(vm, 4);
	struct val it;

	for (int64_t i = 0; i < ag_size(AS(array, o)->t, 0) && is_null(vm->exc); i++)
		list_push(vm, rows, array_item(vm, o, val_int(i)));
	it = rp_iter(vm, val_obj(rows));
	unref_obj(vm, rows);
	return it;
}

static void keyword_rename(struct vm *vm, struct dict *kw, const char *from, const char *to)
{
	struct str *key = str_intern(vm, from, strlen(from));
	struct val given = dict_get_str(vm, kw, key);

	if (is_null(given))
		return;
	if (!is_none(given))
		dict_put_str(vm, kw, str_intern(vm, to, strlen(to)), given);
	dict_remove(vm, kw, val_obj(key), NULL);
}

static void keywords_of_torch(struct vm *vm, struct dict *kw)
{
	if (!kw)
		return;
	keyword_rename(vm, kw, "axis", "dim");
	keyword_rename(vm, kw, "keepdims", "keepdim");
}

/* Methods of arrays that are ops of tensors: a bound name. */
NATIVE(array_method)
{
	struct native *fn = native_running(vm);
	struct list *args = AS(list, a[1]);
	struct val all[TORCH_MAX_ARGS];
	uint32_t count = args->count < TORCH_MAX_ARGS - 1 ? args->count : TORCH_MAX_ARGS - 1;
	struct dict *kw = is_kind(a[2], K_DICT) ? AS(dict, a[2]) : NULL;

	(void)n;
	keywords_of_torch(vm, kw);
	all[0] = a[0];
	for (uint32_t i = 0; i < count; i++)
		all[i + 1] = args->at[i];
	return array_call(vm, chars_of(fn->bound), all, count + 1, kw);
}

static const struct native_def array_method_def = {"method", array_method, "self *args **kw"};

NATIVE(array_tolist)
{
	(void)n;
	return tensor_list(vm, AS(array, a[0])->t);
}

NATIVE(array_copy)
{
	(void)n;
	return array_call(vm, "Tensor.clone", a, 1, NULL);
}

NATIVE(array_astype)
{
	const struct numpy_ways before = numpy_enter(vm);
	struct val both[2] = {a[0], val_null()}, result;
	enum ag_dtype dtype;
	const bool typed = torch_dtype_of(vm, a[1], &dtype);

	(void)n;
	numpy_leave(vm, before);
	if (!typed)
		return array_copy(vm, a, 1);
	both[1] = dtype_val(vm, dtype);
	result = array_call(vm, "Tensor.to", both, 2, NULL);
	unref(vm, both[1]);
	return result;
}

NATIVE(array_item_method)
{
	(void)n;
	return tensor_number(vm, AS(array, a[0])->t);
}

NATIVE(array_float)
{
	struct val v = tensor_number(vm, AS(array, a[0])->t);
	double f;

	(void)n;
	return rp_double(vm, v, &f) ? val_float(f) : v;
}

static const struct native_def array_methods[] = {
        {"tolist", array_tolist, "self"},
        {"copy", array_copy, "self ? order"},
        {"astype", array_astype, "self dtype ? copy"},
        {"item", array_item_method, "self ? index"},
        {"__float__", array_float, "self"},
        {"__deepcopy__", array_copy, "self ? memo"},
        {0},
};

static struct val numpy_dtype(struct vm *vm, enum ag_dtype dtype)
{
	struct obj **at = &torch_of(vm)->numpy_dtypes[dtype];

	if (!*at) {
		struct dtype *d = rp_new(vm, K_DTYPE, vm->t[TY_dtype], sizeof(*d));

		d->dtype = dtype;
		d->of_numpy = true;
		*at = &d->h;
	}
	return ref_obj(*at);
}

static struct val array_attr(struct vm *vm, struct obj *o, struct str *name)
{
	struct ag_tensor *t = ((struct array *)(void *)o)->t;
	char full[96];
	struct val fn;

	if (!is_null(cls_find(vm, o->cls, name)))
		return val_null();
	if (str_is(name, "shape")) {
		struct val shape = shape_of(vm, t);

		shape.as.o->cls = vm->t[TY_tuple];
		return shape;
	}
	if (str_is(name, "ndim"))
		return val_int(ag_ndim(t));
	if (str_is(name, "size"))
		return val_int(ag_numel(t));
	if (str_is(name, "nbytes"))
		return val_int(ag_numel(t) * (int64_t)ag_dtype_size(ag_dtype(t)));
	if (str_is(name, "itemsize"))
		return val_int((int64_t)ag_dtype_size(ag_dtype(t)));
	if (str_is(name, "dtype"))
		return numpy_dtype(vm, ag_dtype(t));
	if (str_is(name, "T"))
		return array_call(vm, "Tensor.T", (struct val[]){val_obj(o)}, 1, NULL);
	fn = module_defined(vm, AS(module, module_import(vm, "numpy", NULL)), name);
	if (!is_null(fn)) {
		dict_put_str(vm, vm->t[TY_array]->ns, name, fn);
		unref(vm, fn);
		vm->version++;
		return val_null();
	}
	snprintf(full, sizeof(full), "Tensor.%s", name->at);
	if (!is_null(vm->exc) || !torch_op_known(vm, full))
		return val_null();
	fn = native_new(vm, &array_method_def, val_obj(str_intern(vm, full, strlen(full))));
	AS(native, fn)->owner = vm->t[TY_array];
	dict_put_str(vm, vm->t[TY_array]->ns, name, fn);
	unref(vm, fn);
	vm->version++;
	return val_null();
}

void numpy_kinds_init(struct vm *vm)
{
	vm->kinds[K_ARRAY].attr = array_attr;
	vm->kinds[K_ARRAY].binary = array_binary;
	vm->kinds[K_ARRAY].unary = array_unary;
	vm->kinds[K_ARRAY].item = array_item;
	vm->kinds[K_ARRAY].set_item = array_set_item;
	vm->kinds[K_ARRAY].iterate = array_iterate;
	type_add(vm, vm->t[TY_array], array_methods);
}

/* --- functions */

static struct val array_made(struct vm *vm, struct val *a)
{
	struct val tensor_fn, t;
	enum ag_dtype dtype;

	if (is_kind(a[0], K_ARRAY))
		return is_missing(a[1]) ? array_copy(vm, a, 1) : array_astype(vm, a, 2);
	if (is_kind(a[0], K_UNKNOWN))
		return ref(a[0]);
	tensor_fn = rp_attr_chars(vm, module_import(vm, "torch", NULL), "tensor");
	if (is_null(tensor_fn))
		return tensor_fn;
	if (is_kind(a[0], K_TENSOR)) {
		if (ag_requires_grad(tensor_of(a[0])))
			return rp_raise(vm, TY_RuntimeError,
			                "Can't call numpy() on Tensor that requires grad. Use "
			                "tensor.detach().numpy() instead.");
		t = torch_call(vm, "Tensor.clone", a, 1, NULL);
	} else {
		bool typed = torch_dtype_of(vm, a[1], &dtype);
		struct val both[2] = {a[0], typed ? dtype_val(vm, dtype) : val_none()};

		t = rp_call(vm, tensor_fn, both, 2, NULL);
	}
	unref(vm, tensor_fn);
	if (!is_kind(t, K_TENSOR))
		return t;
	tensor_fn = array_wrap(vm, ag_data_of(ctx_of(vm), tensor_of(t)));
	unref(vm, t);
	return tensor_fn;
}

NATIVE(numpy_array)
{
	struct numpy_ways before = numpy_enter(vm);
	struct val array = array_made(vm, a);

	(void)n;
	numpy_leave(vm, before);
	return array;
}

/* What is an array stays it, and a tensor's memory is shared. */
NATIVE(numpy_asarray)
{
	enum ag_dtype dtype;
	bool other = torch_dtype_of(vm, a[1], &dtype);

	if (is_kind(a[0], K_ARRAY) && (!other || dtype == ag_dtype(AS(array, a[0])->t)))
		return ref(a[0]);
	if (is_kind(a[0], K_TENSOR) && !other && !ag_requires_grad(tensor_of(a[0])))
		return array_over(vm, tensor_of(a[0]));
	return numpy_array(vm, a, n);
}

/* A function that is a method of tensors. */
NATIVE(numpy_named)
{
	struct val array = numpy_array(vm, (struct val[]){a[0], val_null()}, 2), all[2], result;
	struct dict *kw = is_kind(a[2], K_DICT) ? AS(dict, a[2]) : NULL;

	(void)n;
	if (!is_kind(array, K_ARRAY))
		return array;
	all[0] = array;
	all[1] = a[1];
	keywords_of_torch(vm, kw);
	result = array_call(vm, chars_of(native_running(vm)->bound), all, is_missing(a[1]) ? 1 : 2,
	                    kw);
	unref(vm, array);
	return result;
}

static const struct native_def named_def = {"function", numpy_named, "a ? axis **kw"};

NATIVE(numpy_ignore)
{
	(void)vm, (void)a, (void)n;
	return val_none();
}

NATIVE(numpy_concatenate)
{
	struct val both[2] = {a[0], is_missing(a[1]) ? val_int(0) : a[1]};

	(void)n;
	return array_call(vm, "torch.cat", both, 2, NULL);
}

NATIVE(numpy_stack)
{
	struct val both[2] = {a[0], is_missing(a[1]) ? val_int(0) : a[1]};

	(void)n;
	return array_call(vm, "torch.stack", both, 2, NULL);
}

static const struct native_def numpy_functions[] = {
        {"array", numpy_array, "object ? dtype copy"},
        {"asarray", numpy_asarray, "object ? dtype"},
        {"concatenate", numpy_concatenate, "arrays ? axis"},
        {"stack", numpy_stack, "arrays ? axis"},
        {"seterr", numpy_ignore, "*args **kw"},
        {"set_printoptions", numpy_ignore, "*args **kw"},
        {0},
};

/* NumPy's scalars are Python's numbers here, so that numbers have what its scalars have. */
NATIVE(number_item)
{
	(void)vm, (void)n;
	return ref(a[0]);
}

NATIVE(number_astype)
{
	(void)n;
	return library_call(vm, "numpy", "_number", a, 2);
}

NATIVE(number_rounded)
{
	(void)n;
	return library_call(vm, "numpy", "_rounded", a, is_missing(a[1]) ? 1 : 2);
}

static const struct native_def number_methods[] = {
        {"item", number_item, "self"},
        {"tolist", number_item, "self"},
        {"copy", number_item, "self"},
        {"astype", number_astype, "self dtype"},
        {"round", number_rounded, "self ? decimals"},
        {0},
};

static void numpy_init(struct vm *vm, struct module *m)
{
	static const char *const named[][2] = {
	        {"sum", "Tensor.sum"},       {"sqrt", "Tensor.sqrt"}, {"exp", "Tensor.exp"},
	        {"log", "Tensor.log"},       {"abs", "Tensor.abs"},   {"argmax", "Tensor.argmax"},
	        {"argmin", "Tensor.argmin"}, {"prod", "Tensor.prod"}, {"sin", "Tensor.sin"},
	        {"cos", "Tensor.cos"},       {"tanh", "Tensor.tanh"}, {"isnan", "Tensor.isnan"},
	        {"floor", "Tensor.floor"},   {"ceil", "Tensor.ceil"},

	        {"square", "Tensor.square"}, {"sign", "Tensor.sign"},
	};
	static const struct {
		const char *name;
		enum ag_dtype dtype;
	} types[] = {{"float32", AG_F32}, {"float64", AG_F64}, {"int64", AG_I64},
	             {"int32", AG_I32},   {"uint8", AG_U8},    {"bool_", AG_BOOL8},
	             {"float16", AG_F16}, {"int8", AG_I8}};

	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++)
		module_set(vm, m, named[i][0],
		           native_new(vm, &named_def,
		                      val_obj(str_intern(vm, named[i][1], strlen(named[i][1])))));
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		module_set(vm, m, types[i].name, numpy_dtype(vm, types[i].dtype));
	type_add(vm, vm->t[TY_float], number_methods);
	type_add(vm, vm->t[TY_int], number_methods);
	module_set(vm, m, "ndarray", ref_obj(vm->t[TY_array]));
	module_set(vm, m, "pi", val_float(M_PI));
	module_set(vm, m, "inf", val_float(INFINITY));
	module_set(vm, m, "nan", val_float(NAN));
	module_set(vm, m, "newaxis", val_none());
}

static struct val numpy_missing(struct vm *vm, struct module *m, struct str *name)
{
	if (name->at[0] == '_')
		return val_null();
	vm_stand_in(vm, "%s.%s", m->name->at, name->at);
	return unknown_new(vm, "%s.%s", m->name->at, name->at);
}

/* An op on arrays, by name. */
NATIVE(numpy_call)
{
	struct list *args = AS(list, a[1]);

	(void)n;
	return array_call(vm, chars_of(a[0]), args->at, args->count,
	                  is_kind(a[2], K_DICT) ? AS(dict, a[2]) : NULL);
}

static const struct native_def support_functions[] = {
        {"call", numpy_call, "name *args **kw"},
        {0},
};

extern const struct native_module numpy_support_module;
const struct native_module numpy_support_module = {"_numpy", support_functions, NULL, NULL};

extern const struct native_module numpy_module;
const struct native_module numpy_module = {"numpy", numpy_functions, numpy_init, numpy_missing};
