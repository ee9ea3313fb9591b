#include "analyzer/replay/py_code.h"
#include "analyzer/replay/torch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool torch_op_known(struct vm *vm, const char *name)
{
	bool inplace;

	return ag_op_find(ctx_of(vm), name, &inplace) != AG_OP_NONE;
}

/* "values indices": a tuple whose elements have names too. */
static struct cls *named_result(struct vm *vm, const char *op, bool is_linalg, const char *names)
{
	struct dict *ns = dict_new(vm);
	struct cls *base = vm->t[TY_tuple], *cls;
	int64_t index = 0;
	char name[64];
	struct val repr;

	extern const struct native_def field_def, results_def;
	for (const char *at = names; *at; index++) {
		size_t length = strcspn(at, " ");
		struct descriptor *d = rp_new(vm, K_DESCRIPTOR, vm->t[TY_property], sizeof(*d));

		snprintf(name, sizeof(name), "%.*s", (int)length, at);
		d->what = DESC_PROPERTY;
		d->get = native_new(vm, &field_def, val_int(index));
		dict_put_str(vm, ns, str_intern(vm, name, strlen(name)), val_obj(d));
		unref_obj(vm, d);
		at += length;
		at += strspn(at, " ");
	}
	repr = native_new(vm, &results_def, val_null());
	dict_put_str(vm, ns, vm->n[PN_repr], repr);
	snprintf(name, sizeof(name), "torch.return_types.%s%s", is_linalg ? "linalg_" : "", op);
	cls = cls_new(vm, str_intern(vm, name, strlen(name)), &base, 1, ns);
	AS(native, repr)->owner = cls;
	unref(vm, repr);
	cls->flags |= CLS_HEAP | CLS_LIBRARY;
	unref_obj(vm, ns);
	return cls;
}

static struct val field_get(struct vm *vm, struct val *a, uint32_t n)
{
	int64_t index = native_running(vm)->bound.as.i;

	if (!n || !is_kind(a[0], K_TUPLE) || index >= AS(list, a[0])->count)
		return val_none();
	return ref(AS(list, a[0])->at[index]);
}

extern const struct native_def field_def;
const struct native_def field_def = {"field", field_get, NULL};

/* Each result on a line of its own, under its name. */
static struct val results_repr(struct vm *vm, struct val *a, uint32_t n)
{
	struct arena scratch = {0};
	struct text out = {.arena = &scratch};
	struct cls *cls = a[0].as.o->cls;
	struct list *results = AS(list, a[0]);
	struct dict_entry *e;
	uint32_t at = 0, shown = 0;
	bool ok = true;
	struct val text = val_null();

	(void)n;
	text_print(&out, "%s(", cls->name->at);
	while (ok && (e = dict_next(cls->ns, &at))) {
		if (!is_kind(e->value, K_DESCRIPTOR) || shown >= results->count)
			continue;
		text_print(&out, "%s\n%s=", shown ? "," : "", chars_of(e->key));
		ok = repr_into(vm, results->at[shown++], &out);
	}
	text_add_char(&out, ')');
	if (ok)
		text = val_text(vm, &out);
	arena_release(&scratch);
	return text;
}

extern const struct native_def results_def;
const struct native_def results_def = {"__repr__", results_repr, "self"};

static struct cls *result_class(struct vm *vm, const char *name, const struct ag_op_info *info)
{
	const char *last = strrchr(name, '.') ? strrchr(name, '.') + 1 : name;
	struct str *key = str_intern(vm, name, strlen(name));
	struct dict *known = attrs_of(vm, &vm->builtins->h);
	struct val found = dict_get_str(vm, known, key);
	struct cls *cls;

	if (is_kind(found, K_CLASS))
		return AS(cls, found);
	cls = named_result(vm, last, strstr(name, "linalg.") != NULL, info->results);
	dict_put_str(vm, known, key, val_obj(cls));
	unref_obj(vm, cls);
	return cls;
}

/* The results of layers, and of var_mean and its like, are plain tuples. */
static bool is_named(const struct ag_op_info *info)
{
	static const char *const firsts[] = {"values ", "sign ", "U "};

	for (size_t i = 0; i < sizeof(firsts) / sizeof(firsts[0]); i++)
		if (strncmp(info->results, firsts[i], strlen(firsts[i])) == 0)
			return true;
	return false;
}

/* What gives a list of tensors gives a tuple, but for nonzero without as_tuple. */
static bool is_listed(const struct ag_op_info *info, const struct ag_args *args)
{
	if (!info || !(info->flags & AG_OPF_LIST))
		return false;
	if (strcmp(info->id, "nonzero") != 0)
		return true;
	for (uint32_t i = 0; i < args->nkeywords; i++)
		if (strcmp(args->keywords[i].name, "as_tuple") == 0)
			return args->keywords[i].value.as.b;
	return args->count > 1 && args->at[1].as.b;
}

static struct val results_val(struct vm *vm, const char *name, const struct ag_args *args,
                              struct ag_results *results)
{
	bool inplace;
	enum ag_op op = ag_op_find(ctx_of(vm), name, &inplace);
	const struct ag_op_info *info = op == AG_OP_NONE ? NULL : ag_op_info(op);
	struct list *tuple;

	if (results->count == 1 && !is_listed(info, args))
		return torch_wrap(vm, ag_results_take(results, 0));
	tuple = tuple_new(vm, results->count);
	for (uint32_t i = 0; i < results->count; i++)
		tuple->at[i] = torch_wrap(vm, ag_results_take(results, i));
	if (results->count == 2 && (!info || !*info->results)) {
		/* An overload of several: max(dim) and its like. */
		const char *last = strrchr(name, '.') ? strrchr(name, '.') + 1 : name;

		if (strcmp(last, "max") == 0 || strcmp(last, "min") == 0 ||
		    strcmp(last, "median") == 0)
			info = ag_op_info(ag_op_find(ctx_of(vm), "sort", &inplace));
	}
	if (info && is_named(info)) {
		tuple->h.cls = result_class(vm, name, info);
		tuple->h.cls->h.refs++;
	}
	return val_obj(tuple);
}

static bool deep_unknown(struct val v, int depth)
{
	if (is_kind(v, K_UNKNOWN))
		return true;
	if (depth < 3 && (is_kind(v, K_LIST) || is_kind(v, K_TUPLE)))
		for (uint32_t i = 0; i < AS(list, v)->count; i++)
			if (deep_unknown(AS(list, v)->at[i], depth + 1))
				return true;
	return false;
}

void gather_tensors(struct val v, struct ag_tensor **out, uint32_t *count, uint32_t most, int depth)
{
	if (is_kind(v, K_TENSOR) && *count < most)
		out[(*count)++] = tensor_of(v);
	else if (is_kind(v, K_UNKNOWN) && !is_null(AS(unknown, v)->same))
		gather_tensors(AS(unknown, v)->same, out, count, most, depth + 1);
	else if (is_kind(v, K_UNKNOWN))
		gather_tensors(AS(unknown, v)->graph, out, count, most, depth + 1);
	else if (depth < 4 && (is_kind(v, K_LIST) || is_kind(v, K_TUPLE)))
		for (uint32_t i = 0; i < AS(list, v)->count; i++)
			gather_tensors(AS(list, v)->at[i], out, count, most, depth + 1);
	else if (depth < 4 && is_kind(v, K_DICT))
		for (uint32_t i = 0; i < AS(dict, v)->used; i++)
			gather_tensors(AS(dict, v)->at[i].value, out, count, most, depth + 1);
}

/* What is not known of an op or a call: one node that saves the tensors. */
struct val torch_opaque(struct vm *vm, struct val *a, uint32_t n, const char *what)
{
	struct ag_tensor *inputs[TORCH_MAX_ARGS], *known = NULL;
	uint32_t count = 0;

	vm_stand_in(vm, "%s()", what);
	torch_of(vm)->exact = false;
	if (n && is_kind(a[0], K_INSTANCE))
		return unknown_of_model(vm, a, n, what);
	for (uint32_t i = 0; i < n; i++)
		gather_tensors(a[i], inputs, &count, TORCH_MAX_ARGS, 0);
	for (uint32_t i = 0; i < n; i++)
		if (is_kind(a[i], K_TENSOR))
			known = tensor_of(a[i]);
	if (!known)
		return count ? unknown_node(vm, a, n, NULL, what) : unknown_new(vm, "%s()", what);
	return torch_wrap(vm,
	                  ag_opaque(ctx_of(vm), inputs, count,
	                            ag_dtype_is_float(ag_dtype(known)) ? ag_dtype(known) : AG_F32,
	                            ag_ndim(known), ag_shape(known), false));
}

struct val torch_misfit(struct vm *vm, struct val *a, uint32_t n, const char *what)
{
	ag_error_clear(ctx_of(vm));
	return torch_opaque(vm, a, n, what);
}

static uint32_t result_count(struct vm *vm, const char *name)
{
	const enum ag_op op = ag_op_find(ctx_of(vm), name, &(bool){false});
	const char *results = op ? ag_op_info(op)->results : "";
	uint32_t count = *results != '\0';

	for (; *results; results++)
		count += *results == ' ';
	return count;
}

/* As many of it as the op has results. */
static struct val several(struct vm *vm, const char *name, struct val one)
{
	const uint32_t count = is_null(one) ? 0 : result_count(vm, name);
	struct list *results;

	if (count < 2)
		return one;
	results = tuple_new(vm, count);
	for (uint32_t i = 0; i < count; i++)
		results->at[i] = ref(one);
	unref(vm, one);
	return val_obj(results);
}

/* What is given by keyword has a graph, too. */
static struct val opaque_call(struct vm *vm, const char *name, struct val *a, uint32_t n,
                              const struct dict *kw)
{
	struct val all[TORCH_MAX_ARGS];
	uint32_t count = 0;

	for (uint32_t i = 0; i < n && count < TORCH_MAX_ARGS; i++)
		all[count++] = a[i];
	for (uint32_t i = 0; kw && i < kw->used && count < TORCH_MAX_ARGS; i++)
		if (!is_null(kw->at[i].key))
			all[count++] = kw->at[i].value;
	return several(vm, name, torch_opaque(vm, all, count, name));
}

static struct val call_failed(struct vm *vm, const char *name, struct val *a, uint32_t n,
                              const struct dict *kw)
{
	enum ag_status status = ag_error(ctx_of(vm))->status;

	vm->asked |= status == AG_ERR_NO_DATA;
	/* Shapes that were made up need not fit. */
	if (status == AG_ERR_UNKNOWN_OP || status == AG_ERR_NO_DATA ||
	    (status != AG_ERR_MEMORY && !torch_of(vm)->exact)) {
		ag_error_clear(ctx_of(vm));
		return opaque_call(vm, name, a, n, kw);
	}
	return torch_raise(vm);
}

/* NULL: there is no room for one more. */
static const struct site_file *site_file(struct torch *torch, const struct source *source)
{
	struct site_file *file = torch->files;
	uint32_t sites;

	for (; file < torch->files + torch->file_count; file++)
		if (file->source == source)
			return file;
	sites = torch->file_count ? file[-1].before + file[-1].source->line_count : 0;
	if (torch->file_count == MOST_SITE_FILES || source->line_count > MOST_SITES - sites)
		return NULL;
	*file = (struct site_file){source, sites};
	torch->file_count++;
	return file;
}

/* The line of the program that runs, whatever library code it went through. */
static uint32_t site_now(struct vm *vm)
{
	struct frame *f = vm->frame;
	const struct site_file *file;
	uint32_t line;

	while (f && f->code->library)
		f = f->caller;
	line = f ? code_line(f->code, f->pc - 1) : 0;
	if (!line)
		return 0;
	file = site_file(torch_of(vm), f->code->module->source);
	return file ? file->before + line : 0;
}

uint32_t torch_site_line(const struct torch *torch, uint32_t site, const struct source **source)
{
	uint32_t at = torch->file_count;

	if (!site)
		return 0;
	while (at && torch->files[at - 1].before >= site)
		at--;
	*source = torch->files[at - 1].source;
	return site - torch->files[at - 1].before;
}

static struct val call_known(struct vm *vm, const char *name, struct val *a, uint32_t n,
                             struct dict *kw)
{
	struct val_args args;
	struct ag_results results = {0};
	struct ag_args given;
	struct val result;
	bool own_stream, ok;

	if (!torch_args(vm, &args, a, n, kw)) {
		arena_release(&args.arena);
		return val_null();
	}
	if (args.unknown) {
		arena_release(&args.arena);
		return opaque_call(vm, name, a, n, kw);
	}
	ag_set_site(ctx_of(vm), site_now(vm));
	given = (struct ag_args){args.at, args.count, args.keywords, args.nkeywords};
	own_stream = torch_with_generator(vm, kw);
	ok = ag_call(ctx_of(vm), name, &given, &results);
	if (own_stream)
		torch_with_generator(vm, kw);
	if (ok)
		result = results_val(vm, name, &given, &results);
	else
		result = call_failed(vm, name, a, n, kw);
	ag_results_release(&results);
	arena_release(&args.arena);
	return vm->halt ? val_null() : result;
}

struct val torch_call(struct vm *vm, const char *name, struct val *a, uint32_t n, struct dict *kw)
{
	bool unknown = false;
	struct val few[TORCH_MAX_ARGS], result;

	for (uint32_t i = 0; i < n; i++)
		unknown |= deep_unknown(a[i], 0);
	for (uint32_t i = 0; kw && i < kw->used; i++)
		unknown |= deep_unknown(kw->at[i].value, 0);
	if (!unknown || n > TORCH_MAX_ARGS)
		return call_known(vm, name, a, n, kw);
	/* A shape that is not known: neither is the tensor. */
	if (n == 1 && is_kind(a[0], K_UNKNOWN) && unknown_makes(name))
		return unknown_new(vm, "%s()", name);
	for (uint32_t i = 0; i < n; i++)
		few[i] = ref(a[i]);
	if (unknown_solve(vm, name, few, n, kw))
		result = call_known(vm, name, few, n, kw);
	else
		result = is_null(vm->exc) ? opaque_call(vm, name, few, n, kw) : val_null();
	for (uint32_t i = 0; i < n; i++)
		unref(vm, few[i]);
	return result;
}

/* --- ops as functions */

static struct val op_native(struct vm *vm, struct val *a, uint32_t n)
{
	struct native *fn = native_running(vm);
	struct list *args = AS(list, a[0]);

	(void)n;
	return torch_call(vm, chars_of(fn->bound), args->at, args->count,
	                  is_kind(a[1], K_DICT) ? AS(dict, a[1]) : NULL);
}

static const struct native_def op_def = {"op", op_native, "*args **kw"};

struct val torch_op_function(struct vm *vm, const char *name)
{
	struct val bound = val_obj(str_intern(vm, name, strlen(name)));
	struct val fn = native_new(vm, &op_def, bound);
	const char *last = strrchr(name, '.') ? strrchr(name, '.') + 1 : name;

	unref_obj(vm, AS(native, fn)->name);
	AS(native, fn)->name = str_intern(vm, last, strlen(last));
	AS(native, fn)->name->h.refs++;
	return fn;
}
