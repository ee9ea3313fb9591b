#include "analyzer/replay/torch.h"

#include <string.h>

/* A value nothing is known of becomes a tensor when an op needs one: its shape
 * is what that op asks for, and stays so. Methods that only move or convert
 * (`x.to(device)`) give the same stand-in back. */

static struct unknown *root_of(struct unknown *u)
{
	while (is_kind(u->same, K_UNKNOWN))
		u = AS(unknown, u->same);
	return u;
}

struct val unknown_materialize(struct vm *vm, struct val v, enum ag_dtype dtype, int ndim,
                               const int64_t *shape)
{
	struct unknown *u = root_of(AS(unknown, v));
	struct ag_tensor *t;
	int64_t count = 1;
	double *zeros;

	if (is_kind(u->same, K_TENSOR))
		return ref(u->same);
	for (int i = 0; i < ndim; i++)
		count *= shape[i];
	torch_of(vm)->exact = false;
	vm_stand_in(vm, "tensor %s", u->what->at);
	zeros = NULL;
	t = ag_tensor_new(ctx_of(vm), dtype, ndim, shape, zeros);
	(void)count;
	u->same = torch_wrap(vm, t);
	return is_null(u->same) ? u->same : ref(u->same);
}

static struct ag_tensor *first_tensor(struct val *a, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (is_kind(a[i], K_TENSOR))
			return tensor_of(a[i]);
	return NULL;
}

static bool replace(struct vm *vm, struct val *v, enum ag_dtype dtype, int ndim,
                    const int64_t *shape)
{
	struct val t = unknown_materialize(vm, *v, dtype, ndim, shape);

	if (is_null(t))
		return false;
	slot_set(vm, v, t);
	return true;
}

static bool named(const char *name, const char *what)
{
	const char *last = strrchr(name, '.');

	return strcmp(last ? last + 1 : name, what) == 0;
}

static bool is_class_loss(const char *name)
{
	return named(name, "cross_entropy") || named(name, "nll_loss");
}

/* What the first operand of a layer looks like, by its weight. */
static bool solve_input(struct vm *vm, const char *name, struct val *a, uint32_t n)
{
	struct ag_tensor *w = n > 1 && is_kind(a[1], K_TENSOR) ? tensor_of(a[1]) : NULL;
	int64_t batch = torch_of(vm)->batch, shape[AG_MAX_DIMS] = {batch};

	if (!w)
		return false;
	if (named(name, "linear")) {
		shape[1] = ag_size(w, -1);
		return replace(vm, &a[0], ag_dtype(w), 2, shape);
	}
	if (named(name, "embedding")) {
		shape[1] = 8;
		return replace(vm, &a[0], AG_I64, 2, shape);
	}
	if (strncmp(name, "torch.nn.functional.conv", 24) == 0 || strstr(name, "conv")) {
		shape[1] = ag_size(w, 1);
		for (int i = 2; i < ag_ndim(w); i++)
			shape[i] = 32;
		return replace(vm, &a[0], ag_dtype(w), ag_ndim(w), shape);
	}
	return false;
}

static bool solve_one(struct vm *vm, const char *name, struct val *a, uint32_t n, uint32_t i)
{
	struct ag_tensor *other = first_tensor(a, n);
	int64_t shape[AG_MAX_DIMS] = {torch_of(vm)->batch};
	int ndim;

	if (is_kind(root_of(AS(unknown, a[i]))->same, K_TENSOR))
		return replace(vm, &a[i], AG_F32, 0, shape);
	if (i == 0 && solve_input(vm, name, a, n))
		return true;
	if (!is_null(vm->exc))
		return false;
	if (!other)
		return i == 0 && replace(vm, &a[i], AG_F32, 2, (int64_t[]){shape[0], 8});
	if (is_class_loss(name) && i == 1) {
		ndim = 0;
		for (int d = 0; d < ag_ndim(other); d++)
			if (d != 1 || ag_ndim(other) == 1)
				shape[ndim++] = ag_size(other, d);
		return replace(vm, &a[i], AG_I64, ag_ndim(other) == 1 ? 0 : ndim, shape);
	}
	for (int d = 0; d < ag_ndim(other); d++)
		shape[d] = ag_size(other, d);
	return replace(vm, &a[i], ag_dtype_is_float(ag_dtype(other)) ? ag_dtype(other) : AG_F32,
	               ag_ndim(other), shape);
}

/* Ops whose operands beside the first are numbers when nothing is known. */
static bool wants_tensor(const char *name, uint32_t i)
{
	static const char *const binary[] = {
	        "add",  "sub",  "mul",  "div",  "pow",  "matmul", "mm",      "bmm",
	        "eq",   "ne",   "lt",   "le",   "gt",   "ge",     "maximum", "minimum",
	        "rsub", "add_", "sub_", "mul_", "div_", "dot",
	};

	if (i == 0 || strstr(name, "loss") || strstr(name, "entropy") || strstr(name, "kl_div"))
		return i < 2 || !strstr(name, "loss");
	for (size_t k = 0; k < sizeof(binary) / sizeof(binary[0]); k++)
		if (named(name, binary[k]))
			return true;
	return false;
}

static bool solve_list(struct vm *vm, struct val *v)
{
	struct list *from = AS(list, *v), *to = list_new(vm, from->count);
	struct ag_tensor *other = first_tensor(from->at, from->count);
	bool ok = other != NULL;

	for (uint32_t i = 0; ok && i < from->count; i++) {
		list_push(vm, to, ref(from->at[i]));
		if (is_kind(from->at[i], K_UNKNOWN))
			ok = replace(vm, &to->at[i], ag_dtype(other), ag_ndim(other),
			             ag_shape(other));
	}
	if (ok)
		slot_set(vm, v, val_obj(to));
	else
		unref_obj(vm, to);
	return ok;
}

bool unknown_solve(struct vm *vm, const char *name, struct val *a, uint32_t n, struct dict *kw)
{
	(void)kw;
	for (uint32_t i = 0; i < n; i++) {
		if (is_kind(a[i], K_LIST) && i == 0) {
			if (!solve_list(vm, &a[i]))
				return false;
			continue;
		}
		if (!is_kind(a[i], K_UNKNOWN))
			continue;
		if (!wants_tensor(name, i))
			return false;
		if (!solve_one(vm, name, a, n, i))
			return false;
	}
	return true;
}

/* --- calls */

static bool keeps_value(const struct str *method)
{
	static const char *const names[] = {
	        "to",         "cuda",  "cpu",     "float",     "double",         "half",
	        "contiguous", "clone", "type",    "bfloat16",  "requires_grad_", "pin_memory",
	        "train",      "eval",  "squeeze", "unsqueeze", "permute",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) - 3; i++)
		if (str_is(method, names[i]))
			return true;
	return false;
}

static bool has_tensor(struct val *a, uint32_t n, int depth)
{
	for (uint32_t i = 0; i < n; i++) {
		if (is_kind(a[i], K_TENSOR))
			return true;
		if (depth < 3 && (is_kind(a[i], K_LIST) || is_kind(a[i], K_TUPLE)) &&
		    has_tensor(AS(list, a[i])->at, AS(list, a[i])->count, depth + 1))
			return true;
	}
	return false;
}

/* A call of something unknown on tensors may carry their graphs on. */
struct val torch_unknown_call(struct vm *vm, struct val callee, struct val *a, uint32_t n,
                              struct dict *kw)
{
	struct unknown *u = AS(unknown, callee);

	(void)kw;
	if (u->method && is_kind(u->base, K_UNKNOWN) && keeps_value(u->method))
		return ref(u->base);
	if (has_tensor(a, n, 0))
		return torch_opaque(vm, a, n, u->what->at);
	vm_stand_in(vm, "%s()", u->what->at);
	return unknown_new(vm, "%s()", u->what->at);
}
