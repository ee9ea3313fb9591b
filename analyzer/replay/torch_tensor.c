#include "analyzer/replay/torch.h"

#include <stdlib.h>
#include <string.h>

/* --- wrappers by the id of their tensor or node */

enum { FIRST_IDS = 64 };

static uint32_t home(const struct id_map *map, uint64_t id)
{
	return (uint32_t)(id * 0x9e3779b97f4a7c15u >> 32) & map->mask;
}

static void map_grow(struct id_map *map)
{
	struct identified **old = map->at;
	uint32_t size = old ? (map->mask + 1) * 2 : FIRST_IDS, count = old ? map->mask + 1 : 0;

	map->at = checked_alloc(size, sizeof(*map->at));
	memset((void *)map->at, 0, size * sizeof(*map->at));
	map->mask = size - 1;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t at;

		if (!old[i])
			continue;
		for (at = home(map, old[i]->id); map->at[at]; at = (at + 1) & map->mask)
			;
		map->at[at] = old[i];
	}
	free((void *)old);
}

static struct identified *map_find(const struct id_map *map, uint64_t id)
{
	if (!map->at)
		return NULL;
	for (uint32_t at = home(map, id); map->at[at]; at = (at + 1) & map->mask)
		if (map->at[at]->id == id)
			return map->at[at];
	return NULL;
}

static void map_add(struct id_map *map, struct identified *o)
{
	uint32_t at;

	if (!map->at || map->count * 2 > map->mask)
		map_grow(map);
	for (at = home(map, o->id); map->at[at]; at = (at + 1) & map->mask)
		;
	map->at[at] = o;
	map->count++;
}

/* Entries behind the hole move up, so that chains stay whole. */
static void map_remove(struct id_map *map, uint64_t id)
{
	uint32_t at = home(map, id), next;

	while (map->at[at] && map->at[at]->id != id)
		at = (at + 1) & map->mask;
	if (!map->at[at])
		return;
	map->count--;
	for (next = at;;) {
		uint32_t wanted;

		map->at[at] = NULL;
		do {
			next = (next + 1) & map->mask;
			if (!map->at[next])
				return;
			wanted = home(map, map->at[next]->id);
		} while (at <= next ? at < wanted && wanted <= next
		                    : at < wanted || wanted <= next);
		map->at[at] = map->at[next];
		at = next;
	}
}

static struct tensor *wrapper_of(const struct torch *torch, const struct ag_tensor *t)
{
	return (struct tensor *)(void *)map_find(&torch->tensors, ag_id(t));
}

struct val torch_raise(struct vm *vm)
{
	const struct ag_error *error = ag_error(ctx_of(vm));
	enum rp_type type = TY_RuntimeError;

	if (!is_null(vm->exc) || vm->halt)
		return val_null();
	switch (error->status) {
	case AG_ERR_TYPE:
		type = TY_TypeError;
		break;
	case AG_ERR_VALUE:
		type = TY_ValueError;
		break;
	case AG_ERR_INDEX:
		type = TY_IndexError;
		break;
	case AG_ERR_MEMORY:
		vm_halt(vm, VM_HALT_BYTES, "budget of tensor bytes or nodes used up");
		return val_null();
	case AG_ERR_NO_DATA:
		vm->asked = true;
		vm_stand_in(vm, "value of a tensor");
		break;
	default:
		break;
	}
	rp_raise(vm, type, "%s", error->text);
	ag_error_clear(ctx_of(vm));
	return val_null();
}

struct val torch_wrap(struct vm *vm, struct ag_tensor *t)
{
	struct torch *torch = torch_of(vm);
	struct tensor *wrapper;

	if (!t)
		return torch_raise(vm);
	if (ag_work_used_up(torch->ctx))
		vm_halt(vm, VM_HALT_WORK, "budget of arithmetic used up");
	wrapper = wrapper_of(torch, t);
	if (wrapper && (wrapper->h.flags & OBJ_PRESERVED)) {
		wrapper->h.flags &= (uint8_t)~OBJ_PRESERVED;
		torch->preserved--;
		wrapper->h.refs++;
		wrapper->t = t;
		return val_obj(wrapper);
	}
	if (wrapper) {
		ag_release(t);
		return ref_obj(wrapper);
	}
	wrapper = rp_new(vm, K_TENSOR, vm->t[ag_is_parameter(t) ? TY_parameter : TY_tensor],
	                 sizeof(*wrapper));
	wrapper->t = t;
	wrapper->id = ag_id(t);
	map_add(&torch->tensors, (struct identified *)(void *)wrapper);
	return val_obj(wrapper);
}

struct val torch_wrap_ref(struct vm *vm, struct ag_tensor *t)
{
	return t ? torch_wrap(vm, ag_retain(t)) : val_none();
}

/* The last Python reference went: the object stays as long as the runtime has
 * the tensor. Called without an object it lets go those whose tensors are gone. */
static bool tensor_keep(struct vm *vm, struct obj *o)
{
	struct torch *torch = torch_of(vm);
	struct tensor *wrapper = (struct tensor *)(void *)o;
	struct ag_tensor *t;

	if (!o) {
		torch_sweep(vm);
		return false;
	}
	if (o->flags & OBJ_PRESERVED)
		return true;
	if (!wrapper->t || ag_refs(wrapper->t) <= 1)
		return false;
	t = wrapper->t;
	o->flags |= OBJ_PRESERVED;
	if (++torch->preserved % 4096 == 0) {
		ag_release(t);
		torch_sweep(vm);
		return true;
	}
	ag_release(t);
	return true;
}

static struct val tensor_revive(struct vm *vm, struct obj *o)
{
	struct tensor *wrapper = (struct tensor *)(void *)o;

	return torch_wrap(vm, ag_retain(wrapper->t));
}

static bool sweep_mark(void *data, struct ag_tensor *t)
{
	struct tensor *wrapper = wrapper_of(data, t);

	if (wrapper)
		wrapper->h.flags |= OBJ_REACHED;
	return true;
}

void torch_sweep(struct vm *vm)
{
	struct torch *torch = torch_of(vm);
	struct tensor **gone;
	uint32_t count = 0;
	size_t size;

	if (!torch || !torch->preserved)
		return;
	size = torch->preserved * sizeof(*gone);
	gone = slab_take(&vm->memory, size);
	ag_each_tensor(torch->ctx, sweep_mark, torch);
	for (uint32_t i = 0, left = torch->tensors.count; left; i++) {
		struct tensor *wrapper = (struct tensor *)(void *)torch->tensors.at[i];

		if (!wrapper)
			continue;
		left--;
		if ((wrapper->h.flags & OBJ_PRESERVED) && !(wrapper->h.flags & OBJ_REACHED))
			gone[count++] = wrapper;
		wrapper->h.flags &= (uint8_t)~OBJ_REACHED;
	}
	for (uint32_t i = 0; i < count; i++) {
		gone[i]->t = NULL;
		gone[i]->h.flags &= (uint8_t)~OBJ_PRESERVED;
		torch->preserved--;
		rp_release(vm, &gone[i]->h);
	}
	slab_give(&vm->memory, (void *)gone, size);
}

static void tensor_release(struct vm *vm, struct obj *o)
{
	struct tensor *wrapper = (struct tensor *)(void *)o;

	if (vm->at_close) {
		if (wrapper->t && !(o->flags & OBJ_PRESERVED))
			ag_release(wrapper->t);
		wrapper->t = NULL;
		return;
	}
	map_remove(&torch_of(vm)->tensors, wrapper->id);
	ag_release(wrapper->t);
}

/* --- nodes */

/* A class for each kind of node, as type(loss.grad_fn).__name__ shows it. */
static struct cls *node_class(struct vm *vm, const char *name)
{
	struct str *key = str_intern(vm, name, strlen(name));
	struct dict *known = attrs_of(vm, &vm->t[TY_node]->h), *ns;
	struct val found = dict_get_str(vm, known, key);
	struct cls *cls;

	if (is_kind(found, K_CLASS))
		return AS(cls, found);
	ns = dict_new(vm);
	cls = cls_new(vm, key, &vm->t[TY_node], 1, ns);
	unref_obj(vm, ns);
	dict_put_str(vm, known, key, val_obj(cls));
	unref_obj(vm, cls);
	return cls;
}

struct val node_wrap(struct vm *vm, struct ag_node *n)
{
	struct node *wrapper;

	if (!n)
		return val_none();
	wrapper = (struct node *)(void *)map_find(&torch_of(vm)->nodes, ag_node_id(n));
	if (wrapper)
		return ref_obj(wrapper);
	wrapper = rp_new(vm, K_NODE, node_class(vm, ag_node_name(n)), sizeof(*wrapper));
	wrapper->n = ag_node_retain(n);
	wrapper->id = ag_node_id(n);
	map_add(&torch_of(vm)->nodes, (struct identified *)(void *)wrapper);
	return val_obj(wrapper);
}

static void node_release(struct vm *vm, struct obj *o)
{
	struct node *wrapper = (struct node *)(void *)o;

	if (!vm->at_close)
		map_remove(&torch_of(vm)->nodes, wrapper->id);
	ag_node_release(wrapper->n);
}

static void storage_release(struct vm *vm, struct obj *o)
{
	(void)vm;
	ag_storage_release(((struct storage *)(void *)o)->s);
}

static void array_release(struct vm *vm, struct obj *o)
{
	torch_of(vm)->arrays--;
	ag_release(((struct array *)(void *)o)->t);
	ag_release(((struct array *)(void *)o)->owner);
}

struct val array_wrap(struct vm *vm, struct ag_tensor *t)
{
	struct array *array;

	if (!t)
		return torch_raise(vm);
	array = rp_new(vm, K_ARRAY, vm->t[TY_array], sizeof(*array));
	array->t = t;
	torch_of(vm)->arrays++;
	return val_obj(array);
}

/* PyTorch makes a tensor of its own for each array, which that keeps. */
struct val array_over(struct vm *vm, struct ag_tensor *t)
{
	struct val array = array_wrap(vm, ag_data_of(ctx_of(vm), t));

	if (!is_null(array))
		AS(array, array)->owner = ag_retain(AS(array, array)->t);
	return array;
}

static int tensor_truth(struct vm *vm, struct val v)
{
	struct ag_tensor *t = v.as.o->kind == K_ARRAY ? AS(array, v)->t : tensor_of(v);
	double value;

	if (ag_numel(t) != 1 && !torch_of(vm)->exact) {
		vm_stand_in(vm, "value of a tensor in a condition");
		return PY_NOT_KNOWN;
	}
	if (ag_numel(t) != 1) {
		rp_raise(vm, TY_RuntimeError, "Boolean value of Tensor with %s is ambiguous",
		         ag_numel(t) ? "more than one value" : "no values");
		return -1;
	}
	if (ag_item(ctx_of(vm), t, &value))
		return value != 0;
	ag_error_clear(ctx_of(vm));
	vm->asked = true;
	vm_stand_in(vm, "value of a tensor in a condition");
	return PY_NOT_KNOWN;
}

static int64_t tensor_length(struct vm *vm, struct val v)
{
	struct ag_tensor *t = v.as.o->kind == K_ARRAY ? AS(array, v)->t : tensor_of(v);

	if (!ag_ndim(t)) {
		rp_raise(vm, TY_TypeError, "len() of a 0-d tensor");
		return -1;
	}
	return ag_size(t, 0);
}

/* All rows at once, as torch does; they live as long as the loop. */
static struct val tensor_iterate(struct vm *vm, struct val v)
{
	struct val rows, it;

	if (!ag_ndim(tensor_of(v)))
		return rp_raise(vm, TY_TypeError, "iteration over a 0-d tensor");
	rows = torch_call(vm, "Tensor.unbind", &v, 1, NULL);
	if (is_null(rows))
		return rows;
	it = rp_iter(vm, rows);
	unref(vm, rows);
	return it;
}

static struct val tensor_format(struct vm *vm, struct val v, const char *spec, size_t length)
{
	struct val number, result;

	if (ag_ndim(tensor_of(v)))
		return rp_str(vm, v);
	number = tensor_number(vm, tensor_of(v));
	if (is_null(number))
		return number;
	result = rp_format(vm, number, spec, length);
	unref(vm, number);
	return result;
}

static bool tensor_visit(struct obj *o, visit_fn *fn, void *walk)
{
	(void)o, (void)fn, (void)walk;
	return true;
}

static void dtype_repr(struct vm *vm, struct val v, struct text *out)
{
	(void)vm;
	text_print(out, AS(dtype, v)->of_numpy ? "dtype('%s')" : "torch.%s",
	           ag_dtype_name(AS(dtype, v)->dtype));
}

static void dtype_str(struct vm *vm, struct val v, struct text *out)
{
	if (AS(dtype, v)->of_numpy)
		text_add_chars(out, ag_dtype_name(AS(dtype, v)->dtype));
	else
		dtype_repr(vm, v, out);
}

/* numpy.float32(x) */
static struct val dtype_call(struct vm *vm, struct val fn, struct val *a, uint32_t n,
                             struct dict *kw)
{
	struct val array, both[2], make;

	(void)kw;
	if (!AS(dtype, fn)->of_numpy || n != 1)
		return rp_raise(vm, TY_TypeError, "'torch.dtype' object is not callable");
	make = rp_attr_chars(vm, module_import(vm, "numpy", NULL), "_number");
	both[0] = a[0];
	both[1] = fn;
	array = is_null(make) ? make : rp_call(vm, make, both, 2, NULL);
	unref(vm, make);
	return array;
}

static void device_repr(struct vm *vm, struct val v, struct text *out)
{
	struct device *d = AS(device, v);

	(void)vm;
	text_print(out, "device(type='%s'", d->cuda ? "cuda" : "cpu");
	if (d->index >= 0)
		text_print(out, ", index=%d", d->index);
	text_add_char(out, ')');
}

static void device_str(struct vm *vm, struct val v, struct text *out)
{
	struct device *d = AS(device, v);

	(void)vm;
	text_add_chars(out, d->cuda ? "cuda" : "cpu");
	if (d->index >= 0)
		text_print(out, ":%d", d->index);
}

static void node_repr(struct vm *vm, struct val v, struct text *out)
{
	(void)vm;
	text_print(out, "<%s object at 0x%012llx>", ag_node_name(AS(node, v)->n),
	           (unsigned long long)(uintptr_t)v.as.o & 0xffffffffffffull);
}

static void array_repr_plain(struct vm *vm, struct val v, struct text *out)
{
	array_repr(vm, v, out, false);
}

static void array_str_plain(struct vm *vm, struct val v, struct text *out)
{
	array_repr(vm, v, out, true);
}

static struct val device_binary(struct vm *vm, enum ir_sub sub, struct val a, struct val b)
{
	bool same;

	(void)vm;
	if ((sub != SUB_compare_equal && sub != SUB_compare_not_equal) || !is_kind(a, K_DEVICE) ||
	    !is_kind(b, K_DEVICE))
		return (struct val){.tag = PY_NOT_IMPLEMENTED};
	same = AS(device, a)->cuda == AS(device, b)->cuda &&
	       AS(device, a)->index == AS(device, b)->index;
	return val_bool(same == (sub == SUB_compare_equal));
}

static uint64_t device_hash(struct val v)
{
	return (uint64_t)(AS(device, v)->index + 2) * 2 + AS(device, v)->cuda;
}

static struct val device_attr(struct vm *vm, struct obj *o, struct str *name)
{
	struct device *d = (struct device *)(void *)o;

	if (str_is(name, "type"))
		return val_str(vm, d->cuda ? "cuda" : "cpu");
	if (str_is(name, "index"))
		return d->index < 0 ? val_none() : val_int(d->index);
	return val_null();
}

static struct val dtype_attr(struct vm *vm, struct obj *o, struct str *name)
{
	enum ag_dtype dtype = ((struct dtype *)(void *)o)->dtype;

	(void)vm;
	if (str_is(name, "is_floating_point"))
		return val_bool(ag_dtype_is_float(dtype) && dtype < AG_C64);
	if (str_is(name, "is_complex"))
		return val_bool(dtype >= AG_C64);
	if (str_is(name, "itemsize"))
		return val_int((int64_t)ag_dtype_size(dtype));
	return val_null();
}

static struct val node_attr(struct vm *vm, struct obj *o, struct str *name)
{
	struct ag_node *n = ((struct node *)(void *)o)->n;
	struct list *t;

	if (str_is(name, "next_functions")) {
		t = tuple_new(vm, ag_node_edges(n));
		for (uint32_t i = 0; i < t->count; i++)
			t->at[i] = tuple_pair(vm, node_wrap(vm, ag_node_edge(n, i)), val_int(0));
		return val_obj(t);
	}
	if (str_is(name, "variable"))
		return torch_wrap_ref(vm, ag_node_variable(n));
	return val_null();
}

void torch_kinds_init(struct vm *vm)
{
	vm->kinds[K_TENSOR] = (struct kind_ops){
	        .size = sizeof(struct tensor),
	        .release = tensor_release,
	        .keep = tensor_keep,
	        .revive = tensor_revive,
	        .visit = tensor_visit,
	        .attr = tensor_attr,
	        .set_attr = tensor_set_attr,
	        .binary = tensor_binary,
	        .inplace = tensor_inplace,
	        .unary = tensor_unary,
	        .item = tensor_item,
	        .set_item = tensor_set_item,
	        .truth = tensor_truth,
	        .length = tensor_length,
	        .iterate = tensor_iterate,
	        .repr = tensor_repr,
	        .format = tensor_format,
	};
	vm->kinds[K_NODE] = (struct kind_ops){.size = sizeof(struct node),
	                                      .release = node_release,
	                                      .attr = node_attr,
	                                      .repr = node_repr};
	vm->kinds[K_STORAGE] =
	        (struct kind_ops){.size = sizeof(struct storage), .release = storage_release};
	vm->kinds[K_DTYPE] = (struct kind_ops){.size = sizeof(struct dtype),
	                                       .repr = dtype_repr,
	                                       .str = dtype_str,
	                                       .attr = dtype_attr,
	                                       .call = dtype_call};
	vm->kinds[K_DEVICE] = (struct kind_ops){.size = sizeof(struct device),
	                                        .repr = device_repr,
	                                        .str = device_str,
	                                        .attr = device_attr,
	                                        .binary = device_binary,
	                                        .hash = device_hash};
	vm->kinds[K_ARRAY].size = sizeof(struct array);
	vm->kinds[K_ARRAY].release = array_release;
	vm->kinds[K_ARRAY].repr = array_repr_plain;
	vm->kinds[K_ARRAY].str = array_str_plain;
	vm->kinds[K_ARRAY].truth = tensor_truth;
	vm->kinds[K_ARRAY].length = tensor_length;
	numpy_kinds_init(vm);
	vm->kinds[K_UNKNOWN].call = torch_unknown_call;
	vm->kinds[K_UNKNOWN].item = torch_unknown_item;
	vm->kinds[K_UNKNOWN].binary = torch_unknown_binary;
	vm->opaque = torch_opaque;
}

void torch_open(struct vm *vm, const struct ag_options *options)
{
	struct torch *torch = calloc(1, sizeof(*torch));

	BUG_IF(!torch);
	torch->ctx = ag_open(options);
	torch->vm = vm;
	torch->exact = true;
	torch->batch = 4;
	vm->host = torch;
	vm->complete_class = torch_complete_class;
	torch_kinds_init(vm);
	torch_offer(vm);
}

/* After vm_close, which gives the tensors back. */
void torch_close(struct vm *vm)
{
	struct torch *torch = torch_of(vm);

	vm_close(vm);
	ag_close(torch->ctx);
	free((void *)torch->tensors.at);
	free((void *)torch->nodes.at);
	free(torch);
}
