#include <stdio.h>
#include <string.h>

#include "analyzer/replay/py.h"

/* Names of stand-ins stay short: "loader.next()[0]", not a whole history. */
struct val unknown_new(struct vm *vm, const char *format, ...)
{
	struct unknown *u = rp_new(vm, K_UNKNOWN, vm->t[TY_unknown], sizeof(*u));
	char what[96];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(what, sizeof(what), format, arguments);
	va_end(arguments);
	u->what = str_chars(vm, what);
	vm->unknown_count++;
	return val_obj(u);
}

/* The stand-in that another one is only a name of. */
struct unknown *unknown_root(struct unknown *u)
{
	while (is_kind(u->same, K_UNKNOWN))
		u = AS(unknown, u->same);
	return u;
}

static struct val unknown_part(struct vm *vm, struct unknown *u, const char *what)
{
	struct val v = unknown_new(vm, "%s's %s", u->what->at, what);

	AS(unknown, v)->graph = ref(unknown_root(u)->graph);
	AS(unknown, v)->form = unknown_root(u)->form == FORM_PLAIN ? FORM_PLAIN : FORM_ANY;
	return v;
}

struct val unknown_next(struct vm *vm, struct unknown *u)
{
	struct val v;

	u = unknown_root(u);
	v = u->is_result ? unknown_new(vm, "%s's item", u->what->at) : unknown_part(vm, u, "item");
	if (!u->method)
		AS(unknown, v)->base = ref(u->base);
	return v;
}

struct val unknown_enter(struct vm *vm, struct unknown *u)
{
	return unknown_part(vm, u, "__enter__()");
}

struct val unknown_named(struct vm *vm, const char *owner, struct str *name)
{
	struct val v = unknown_new(vm, "%s.%s", owner, name->at);

	vm_stand_in(vm, "%s.%s", owner, name->at);
	AS(unknown, v)->method = name;
	return v;
}

/* What a tensor is asked for that has no graph. */
static const struct {
	const char *name;
	enum unknown_form form;
} graphless[] = {
        {"data", FORM_ANY},     {"grad", FORM_ANY},     {"detach", FORM_ANY},
        {"argmax", FORM_ANY},   {"shape", FORM_PLAIN},  {"dtype", FORM_PLAIN},
        {"device", FORM_PLAIN}, {"ndim", FORM_PLAIN},   {"requires_grad", FORM_PLAIN},
        {"item", FORM_PLAIN},   {"tolist", FORM_PLAIN}, {"numpy", FORM_PLAIN},
        {"size", FORM_PLAIN},   {"dim", FORM_PLAIN},    {"numel", FORM_PLAIN},
};

bool unknown_loses_graph(const struct str *name, enum unknown_form *form)
{
	for (size_t i = 0; name && i < sizeof(graphless) / sizeof(graphless[0]); i++) {
		if (!str_is(name, graphless[i].name))
			continue;
		*form = graphless[i].form;
		return true;
	}
	return false;
}

static bool of_models(const struct str *name)
{
	static const char *const names[] = {
	        "parameters", "named_parameters", "state_dict", "train",
	        "eval",       "zero_grad",        "step",       "param_groups"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (str_is(name, names[i]))
			return true;
	return false;
}

/* From now on it is what its base gives under its name, not the other way round. */
static void anchor(struct vm *vm, struct unknown *u)
{
	struct val base = u->base;

	if (!is_kind(base, K_UNKNOWN) || !u->method)
		return;
	u->base = val_null();
	dict_put_str(vm, attrs_of(vm, base.as.o), u->method, val_obj(u));
	anchor(vm, AS(unknown, base));
	unref(vm, base);
}

struct val unknown_attr(struct vm *vm, struct unknown *u, struct str *name)
{
	struct val v;

	if (name->length > 4 && name->at[0] == '_' && name->at[1] == '_' &&
	    name != vm->n[PN_name] && name != vm->n[PN_class])
		return val_null();
	if (!is_null(u->same))
		return rp_attr_find(vm, u->same, name);
	v = u->h.attrs ? dict_get_str(vm, u->h.attrs, name) : val_null();
	if (!is_null(v))
		return ref(v);
	if (of_models(name)) {
		u->is_model = true;
		anchor(vm, u);
		slot_set(vm, &u->graph, val_null());
	}
	v = unknown_new(vm, "%s.%s", u->what->at, name->at);
	AS(unknown, v)->base = ref_obj(u);
	AS(unknown, v)->method = name;
	if (!unknown_loses_graph(name, &AS(unknown, v)->form))
		AS(unknown, v)->graph = ref(u->graph);
	return v;
}

/* --- what is put into a stand-in stays there */

static struct dict *items_of(struct vm *vm, struct unknown *u, bool make)
{
	struct str *name = str_intern(vm, "$items", 6);
	struct val items = u->h.attrs ? dict_get_str(vm, u->h.attrs, name) : val_null();

	if (is_null(items) && make) {
		items = val_obj(dict_new(vm));
		dict_put_str(vm, attrs_of(vm, &u->h), name, items);
		unref(vm, items);
	}
	return is_null(items) ? NULL : AS(dict, items);
}

bool unknown_set_attr(struct vm *vm, struct unknown *u, struct str *name, struct val value)
{
	u = unknown_root(u);
	if (!is_null(u->same))
		return rp_set_attr(vm, u->same, name, value);
	if (is_kind(u->base, K_UNKNOWN) && AS(unknown, u->base)->is_model &&
	    str_is(name, "requires_grad"))
		AS(unknown, u->base)->is_frozen = value.tag == PY_BOOL && !value.as.i;
	anchor(vm, u);
	dict_put_str(vm, attrs_of(vm, &u->h), name, value);
	return true;
}

bool unknown_set_item(struct vm *vm, struct unknown *u, struct val index, struct val value)
{
	u = unknown_root(u);
	if (!is_null(u->same))
		return rp_set_item(vm, u->same, index, value);
	anchor(vm, u);
	if (is_kind(index, K_UNKNOWN) || is_kind(index, K_SLICE))
		index = val_none();
	return dict_put(vm, items_of(vm, u, true), index, value);
}

struct val unknown_item(struct vm *vm, struct unknown *u, struct val index)
{
	struct dict *items;
	struct val v;

	u = unknown_root(u);
	if (!is_null(u->same))
		return rp_item(vm, u->same, index);
	items = items_of(vm, u, false);
	v = items && !is_kind(index, K_UNKNOWN) && !is_kind(index, K_SLICE)
	            ? dict_get(vm, items, index)
	            : val_null();
	if (!is_null(v))
		return ref(v);
	exc_clear(vm);
	return unknown_part(vm, u, "item");
}

static struct list *kept_of(struct vm *vm, struct unknown *u, bool make)
{
	struct str *name = str_intern(vm, "$kept", 5);
	struct val kept = u->h.attrs ? dict_get_str(vm, u->h.attrs, name) : val_null();

	if (is_null(kept) && make) {
		kept = val_obj(list_new(vm, 4));
		dict_put_str(vm, attrs_of(vm, &u->h), name, kept);
		unref(vm, kept);
	}
	return is_null(kept) ? NULL : AS(list, kept);
}

void unknown_keep(struct vm *vm, struct unknown *u, struct val value)
{
	u = unknown_root(u);
	anchor(vm, u);
	list_push(vm, kept_of(vm, u, true), ref(value));
}

void unknown_drop(struct vm *vm, struct unknown *u, bool all)
{
	struct list *kept = kept_of(vm, unknown_root(u), false);

	if (kept && kept->count)
		list_remove(vm, kept, all ? 0 : kept->count - 1, all ? kept->count : 1);
}

/* What it is a method of has turned out to be something, since it was asked for. */
static bool settle_method(struct vm *vm, struct unknown *u)
{
	struct val base = is_kind(u->base, K_UNKNOWN) && u->method
	                          ? unknown_root(AS(unknown, u->base))->same
	                          : val_null();

	if (is_null(base))
		return false;
	u->same = rp_attr_find(vm, base, u->method);
	if (is_null(u->same))
		exc_clear(vm);
	return !is_null(u->same);
}

struct val unknown_call(struct vm *vm, struct val callee, struct val *a, uint32_t n,
                        struct dict *kw)
{
	const char *what =
	        is_kind(callee, K_UNKNOWN) ? AS(unknown, callee)->what->at : type_name(vm, callee);

	if (is_kind(callee, K_UNKNOWN) && !is_null(AS(unknown, callee)->same))
		return rp_call(vm, AS(unknown, callee)->same, a, n, kw);
	if (is_kind(callee, K_UNKNOWN) && settle_method(vm, AS(unknown, callee)))
		return unknown_call(vm, callee, a, n, kw);
	if (vm->kinds[K_UNKNOWN].call)
		return vm->kinds[K_UNKNOWN].call(vm, callee, a, n, kw);
	vm_stand_in(vm, "%s()", what);
	return unknown_new(vm, "%s()", what);
}
