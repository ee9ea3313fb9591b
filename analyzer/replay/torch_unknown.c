#include "analyzer/replay/assume.h"
#include "analyzer/replay/torch.h"

#include <string.h>

/* A value nothing is known of becomes a tensor when an op needs one: its shape
 * is what that op asks for, and stays so. Methods that only move or convert
 * (`x.to(device)`) give the same stand-in back. */

enum {
	WIDTH = 8, /* of a tensor that is not known */
	DEEP = 4,  /* in lists of lists */
};

struct val unknown_materialize(struct vm *vm, struct val v, enum ag_dtype dtype, int ndim,
                               const int64_t *shape)
{
	struct unknown *u = unknown_root(AS(unknown, v));
	struct ag_tensor *t;

	if (is_kind(u->same, K_TENSOR))
		return ref(u->same);
	if (u->form == FORM_NUMBER)
		ndim = 0;
	torch_of(vm)->exact = false;
	vm_stand_in(vm, "tensor %s", u->what->at);
	t = !is_null(u->graph) && ag_dtype_is_float(dtype)
	            ? ag_opaque(ctx_of(vm), (struct ag_tensor *[]){tensor_of(u->graph)}, 1, dtype,
	                        ndim, shape, false)
	            : ag_tensor_new(ctx_of(vm), dtype, ndim, shape, NULL);
	u->same = torch_wrap(vm, t);
	return is_null(u->same) ? u->same : ref(u->same);
}

void unknown_to_tensors(struct vm *vm, struct val v, int depth)
{
	if (is_kind(v, K_UNKNOWN) && is_null(unknown_root(AS(unknown, v))->same) &&
	    AS(unknown, v)->form != FORM_PLAIN)
		unref(vm, unknown_materialize(vm, v, AG_F32, 2,
		                              (int64_t[]){torch_of(vm)->batch, WIDTH}));
	else if (depth < DEEP && (is_kind(v, K_LIST) || is_kind(v, K_TUPLE)))
		for (uint32_t i = 0; i < AS(list, v)->count; i++)
			unknown_to_tensors(vm, AS(list, v)->at[i], depth + 1);
	else if (depth < DEEP && is_kind(v, K_DICT))
		for (uint32_t i = 0; i < AS(dict, v)->used; i++)
			unknown_to_tensors(vm, AS(dict, v)->at[i].value, depth + 1);
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

/* A tensor, or the first of a list of them. */
static struct ag_tensor *tensor_in(struct val v)
{
	if (is_kind(v, K_TENSOR))
		return tensor_of(v);
	return is_kind(v, K_LIST) || is_kind(v, K_TUPLE)
	               ? first_tensor(AS(list, v)->at, AS(list, v)->count)
	               : NULL;
}

/* input, hx, weights ..., and of layers batch_first at the end */
static bool solve_recurrent(struct vm *vm, const char *name, struct val *a, uint32_t n)
{
	const bool is_cell = strstr(name, "_cell") != NULL;
	const struct ag_tensor *hidden = n > 2 ? tensor_in(a[1]) : NULL,
	                       *w = hidden ? tensor_in(a[2]) : NULL;
	int64_t shape[3];

	if (!w || ag_ndim(hidden) != (is_cell ? 2 : 3))
		return false;
	shape[0] = ag_size(hidden, -2);
	shape[1] = ag_size(w, 1);
	if (is_cell)
		return replace(vm, &a[0], ag_dtype(w), 2, shape);
	shape[0] = shape[1] = WIDTH;
	shape[n > 8 && a[8].tag == PY_BOOL && a[8].as.i ? 0 : 1] = ag_size(hidden, 1);
	shape[2] = ag_size(w, 1);
	return replace(vm, &a[0], ag_dtype(w), 3, shape);
}

static bool is_recurrent(const char *name)
{
	return strstr(name, "lstm") || strstr(name, "gru") || strstr(name, "rnn_");
}

/* What the first operand of a layer looks like, by its weight. */
static bool solve_input(struct vm *vm, const char *name, struct val *a, uint32_t n)
{
	struct ag_tensor *w = n > 1 && is_kind(a[1], K_TENSOR) ? tensor_of(a[1]) : NULL;
	int64_t batch = torch_of(vm)->batch, shape[AG_MAX_DIMS] = {batch};

	if (is_recurrent(name))
		return solve_recurrent(vm, name, a, n);
	if (!w)
		return false;
	if (named(name, "linear")) {
		shape[1] = ag_size(w, -1);
		return replace(vm, &a[0], ag_dtype(w), 2, shape);
	}
	if (named(name, "embedding")) {
		shape[1] = WIDTH;
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

	if (is_kind(unknown_root(AS(unknown, a[i]))->same, K_TENSOR))
		return replace(vm, &a[i], AG_F32, 0, shape);
	if (i == 0 && solve_input(vm, name, a, n))
		return true;
	if (!is_null(vm->exc))
		return false;
	if (!other)
		return i == 0 && replace(vm, &a[i], AG_F32, 2, (int64_t[]){shape[0], WIDTH});
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

/* torch.zeros(n, 4): sizes that are not known are a batch's. */
bool unknown_makes(const char *name)
{
	static const char *const names[] = {"zeros", "ones", "empty",  "full",   "rand",
	                                    "randn", "eye",  "arange", "randint"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (named(name, names[i]))
			return true;
	return false;
}

static void solve_sizes(struct vm *vm, struct val *v)
{
	struct val size = val_int(torch_of(vm)->batch);

	if (is_kind(*v, K_UNKNOWN)) {
		vm_stand_in(vm, "%s", AS(unknown, *v)->what->at);
		slot_set(vm, v, size);
	} else if (is_kind(*v, K_LIST) || is_kind(*v, K_TUPLE)) {
		struct list *from = AS(list, *v), *to = tuple_new(vm, from->count);

		for (uint32_t i = 0; i < from->count; i++)
			to->at[i] = is_kind(from->at[i], K_UNKNOWN) ? size : ref(from->at[i]);
		slot_set(vm, v, val_obj(to));
	}
}

bool unknown_solve(struct vm *vm, const char *name, struct val *a, uint32_t n, struct dict *kw)
{
	(void)kw;
	if (unknown_makes(name)) {
		for (uint32_t i = 0; i < n; i++)
			solve_sizes(vm, &a[i]);
		return true;
	}
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

/* --- graphs of what is not known */

/* The result of calls has no size that anybody knows; its graph is what counts. */
static struct val with_graph(struct vm *vm, struct ag_tensor *graph, const char *what)
{
	struct val v = unknown_new(vm, "%s()", what);

	if (graph && ag_requires_grad(graph))
		AS(unknown, v)->graph = torch_wrap(vm, graph);
	else
		ag_release(graph);
	return v;
}

static struct ag_tensor *opaque_of(struct vm *vm, struct ag_tensor *first, struct val *a,
                                   uint32_t n, struct dict *kw)
{
	struct ag_tensor *inputs[TORCH_MAX_ARGS];
	uint32_t count = 0;

	if (first)
		inputs[count++] = first;
	for (uint32_t i = 0; i < n; i++)
		gather_tensors(a[i], inputs, &count, TORCH_MAX_ARGS, 0);
	if (kw)
		gather_tensors(val_obj(kw), inputs, &count, TORCH_MAX_ARGS, 0);
	return ag_opaque(ctx_of(vm), inputs, count, AG_F32, 0, NULL, false);
}

struct val unknown_node(struct vm *vm, struct val *a, uint32_t n, struct dict *kw, const char *what)
{
	vm_stand_in(vm, "%s()", what);
	return with_graph(vm, opaque_of(vm, NULL, a, n, kw), what);
}

/* One that needs a gradient, of the object's own; else any, or PY_NULL: it has none. */
static struct val parameter_of(struct vm *vm, struct val object)
{
	struct val found = val_null();
	struct val all = rp_call_method(vm, object, "parameters", NULL, 0), it, item;

	it = is_null(all) ? all : rp_iter(vm, all);
	unref(vm, all);
	while (!is_null(it) && !is_null(item = rp_next(vm, it))) {
		if (is_kind(item, K_TENSOR))
			slot_set(vm, &found, item);
		else
			unref(vm, item);
		if (is_kind(item, K_TENSOR) && ag_requires_grad(tensor_of(found)))
			break;
	}
	unref(vm, it);
	exc_clear(vm);
	return found;
}

static bool has_graph(struct val v)
{
	return is_kind(v, K_UNKNOWN) && !is_null(unknown_root(AS(unknown, v))->graph);
}

struct val torch_unknown_binary(struct vm *vm, enum ir_sub sub, struct val a, struct val b)
{
	struct val both[2] = {a, b};

	if (is_kind(a, K_TENSOR) || is_kind(b, K_TENSOR) || (!has_graph(a) && !has_graph(b)) ||
	    sub >= SUB_compare_equal)
		return (struct val){.tag = PY_NOT_IMPLEMENTED};
	return unknown_node(vm, both, 2, NULL, ir_sub_text(sub));
}

static bool selects(struct val index)
{
	if (is_kind(index, K_UNKNOWN))
		index = unknown_root(AS(unknown, index))->same;
	if (is_kind(index, K_TENSOR))
		return true;
	for (uint32_t i = 0; is_kind(index, K_TUPLE) && i < AS(list, index)->count; i++)
		if (selects(AS(list, index)->at[i]))
			return true;
	return false;
}

/* Only a tensor is indexed by tensors: what that gives is no part of it, but a node more. */
struct val torch_unknown_item(struct vm *vm, struct val o, struct val index)
{
	const struct unknown *u = unknown_root(AS(unknown, o));

	if (!is_null(u->same) || is_null(u->graph) || !selects(index))
		return val_null();
	return unknown_node(vm, &o, 1, NULL, "an index");
}

/* --- calls */

static bool is_one_of(const struct str *method, const char *const *names)
{
	for (; method && *names; names++)
		if (str_is(method, *names))
			return true;
	return false;
}

static bool is_true(struct vm *vm, struct dict *kw, const char *name)
{
	const struct val v =
	        kw ? dict_get_str(vm, kw, str_intern(vm, name, strlen(name))) : val_null();

	return v.tag == PY_BOOL && v.as.i;
}

static unsigned backward_flags(struct vm *vm, struct dict *kw)
{
	return (is_true(vm, kw, "retain_graph") ? AG_RETAIN_GRAPH : 0U) |
	       (is_true(vm, kw, "create_graph") ? AG_CREATE_GRAPH : 0U);
}

/* backward() of a value, or of a helper that is given one: accelerator.backward(loss) */
static struct val run_backward(struct vm *vm, struct unknown *u, struct val *a, uint32_t n,
                               struct dict *kw)
{
	struct ag_tensor *from[TORCH_MAX_ARGS];
	uint32_t count = 0;

	for (uint32_t i = 0; i < n; i++)
		gather_tensors(a[i], from, &count, TORCH_MAX_ARGS, 0);
	if (is_kind(u->base, K_UNKNOWN))
		gather_tensors(u->base, from, &count, TORCH_MAX_ARGS, 0);
	for (uint32_t i = 0; i < count; i++) {
		if (!ag_requires_grad(from[i]))
			continue;
		return assumed_backward(vm, from[i], NULL, backward_flags(vm, kw))
		               ? val_none()
		               : torch_raise(vm);
	}
	return val_none();
}

void torch_framework_backward(struct vm *vm, struct val result)
{
	struct ag_tensor *from[TORCH_MAX_ARGS];
	uint32_t count = 0;

	if (is_kind(result, K_DICT))
		result = dict_get_str(vm, AS(dict, result), str_intern(vm, "loss", 4));
	gather_tensors(result, from, &count, TORCH_MAX_ARGS, 0);
	if (count && ag_requires_grad(from[0]) && !assumed_backward(vm, from[0], NULL, 0)) {
		ag_error_clear(ctx_of(vm));
		if (!vm->halt)
			exc_clear(vm);
	}
}

/* A container is given something, or gives it up. */
static bool container_call(struct vm *vm, struct unknown *u, struct val *a, uint32_t n)
{
	static const char *const gives[] = {"append",     "extend", "insert",
	                                    "appendleft", "add",    NULL};
	static const char *const takes[] = {"pop", "popleft", NULL};

	if (!is_kind(u->base, K_UNKNOWN))
		return false;
	if (n && is_one_of(u->method, gives))
		unknown_keep(vm, AS(unknown, u->base), a[n - 1]);
	else if (is_one_of(u->method, takes))
		unknown_drop(vm, AS(unknown, u->base), false);
	else if (!n && str_is(u->method, "clear"))
		unknown_drop(vm, AS(unknown, u->base), true);
	else
		return false;
	return !is_one_of(u->method, takes);
}

/* Over all of a tensor, if nothing else is asked for. */
static bool makes_number(const struct str *method, uint32_t n, const struct dict *kw)
{
	static const char *const names[] = {"sum", "mean", "max", "min", "prod", "norm",
	                                    "std", "var",  "any", "all", NULL};

	return !n && (!kw || !kw->count) && is_one_of(method, names);
}

/* What a call of something unknown gives: a graph if it was proved to, or may be. */
static struct val call_of(struct vm *vm, struct val callee, struct val *a, uint32_t n,
                          struct dict *kw)
{
	struct unknown *u = is_kind(callee, K_UNKNOWN) ? AS(unknown, callee) : NULL;
	const char *what = u ? u->what->at : type_name(vm, callee);
	struct ag_tensor *result;
	enum unknown_form form;
	struct val v;
	uint32_t call;
	bool of_model;

	vm_stand_in(vm, "%s()", what);
	if (u && unknown_loses_graph(u->method, &form)) {
		v = unknown_new(vm, "%s()", what);
		AS(unknown, v)->form = form;
		return v;
	}
	if (u && !is_null(u->graph))
		return with_graph(vm, opaque_of(vm, tensor_of(u->graph), a, n, kw), what);
	if (u && u->is_frozen)
		return with_graph(vm, opaque_of(vm, NULL, a, n, kw), what);
	call = assumed_call(vm);
	if (!call)
		return unknown_new(vm, "%s()", what);
	result = opaque_of(vm, assumed_parameter(vm), a, n, kw);
	of_model = !u || u->is_model ||
	           (is_kind(u->base, K_UNKNOWN) && AS(unknown, u->base)->is_model);
	if (result)
		assumed_made(vm, call, result, of_model);
	if (u && u->is_model)
		assumed_proved(vm, call);
	v = with_graph(vm, result, what);
	AS(unknown, v)->is_result = true;
	return v;
}

struct val unknown_of_model(struct vm *vm, struct val *a, uint32_t n, const char *what)
{
	struct val parameter = parameter_of(vm, a[0]);
	struct val v;

	/* What it runs is in something that is not known. */
	if (is_null(parameter))
		return call_of(vm, a[0], a + 1, n - 1, NULL);
	v = with_graph(vm, opaque_of(vm, tensor_of(parameter), a + 1, n - 1, NULL), what);
	unref(vm, parameter);
	return v;
}

/* As many as there will be, the first of them known: prepare(model, *loaders). */
static struct val unknown_of(struct vm *vm, struct unknown *u, struct val *a, uint32_t n)
{
	struct val v = unknown_new(vm, "%s()", u->what->at);

	for (uint32_t i = 0; i < n; i++)
		unknown_set_item(vm, AS(unknown, v), val_int(i), a[i]);
	return v;
}

struct val torch_unknown_call(struct vm *vm, struct val callee, struct val *a, uint32_t n,
                              struct dict *kw)
{
	static const char *const backward[] = {"backward", "manual_backward", NULL};
	static const char *const prepare[] = {"prepare", "setup", "setup_dataloaders", NULL};
	struct unknown *u = is_kind(callee, K_UNKNOWN) ? AS(unknown, callee) : NULL;
	struct val v;

	torch_of(vm)->exact = false;
	/* A decorator gives back what it decorates; x.type(torch.FloatTensor) is none. */
	if (n == 1 && !(u && u->method && keeps_value(u->method)) && (!kw || !kw->count) &&
	    (is_kind(a[0], K_FUNCTION) || is_kind(a[0], K_CLASS)))
		return ref(a[0]);
	/* A tensor is not called: what is has no graph itself. */
	if (u && (!u->method || u->is_model))
		slot_set(vm, &u->graph, val_null());
	if (!u || !u->method)
		return call_of(vm, callee, a, n, kw);
	if (is_kind(u->base, K_UNKNOWN) && str_is(u->method, "requires_grad_"))
		AS(unknown, u->base)->is_frozen = n && a[0].tag == PY_BOOL && !a[0].as.i;
	if (is_kind(u->base, K_UNKNOWN) && keeps_value(u->method))
		return ref(u->base);
	if (is_one_of(u->method, backward))
		return run_backward(vm, u, a, n, kw);
	if (container_call(vm, u, a, n))
		return val_none();
	/* They give back what they are given, wrapped. */
	if (n && is_one_of(u->method, prepare)) {
		vm_stand_in(vm, "%s()", u->what->at);
		return n == 1 ? ref(a[0]) : unknown_of(vm, u, a, n);
	}
	v = call_of(vm, callee, a, n, kw);
	if (is_kind(v, K_UNKNOWN) && makes_number(u->method, n, kw))
		AS(unknown, v)->form = FORM_NUMBER;
	if (!is_null(v) && strstr(u->method->at, "parameters"))
		AS(unknown, v)->base = ref(u->base);
	return v;
}
