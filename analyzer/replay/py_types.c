#include <string.h>

#include "analyzer/replay/py.h"

static const struct {
	const char *name;
	enum rp_kind layout;
	enum rp_type base;
} type_rows[TY_COUNT] = {
#define TYPE(id, name, kind, base) [TY_##id] = {name, kind, TY_##base},
#include "analyzer/replay/py_types.def"
#undef TYPE
};

static const char *const name_texts[PN_COUNT] = {
        "",
#define NAME(id, text) text,
#include "analyzer/replay/py_names.def"
#undef NAME
};

static const struct {
	enum rp_type type;
	const struct native_def *defs;
} type_methods_rows[] = {
        {TY_object, object_methods},
        {TY_type, type_methods},
        {TY_int, int_methods},
        {TY_float, float_methods},
        {TY_str, str_methods},
        {TY_str, str_more_methods},
        {TY_bytes, bytes_methods},
        {TY_list, list_methods},
        {TY_tuple, tuple_methods},
        {TY_dict, dict_methods},
        {TY_set, set_methods},
        {TY_set, set_changing_methods},
        {TY_frozenset, set_methods},
        {TY_deque, deque_methods},
        {TY_generator, generator_methods},
        {TY_iterator, iterator_methods},
};

/* Strings and classes need each other: bare ones first. */
static void first_types(struct vm *vm)
{
	static const enum rp_type early[] = {TY_object, TY_str, TY_dict, TY_tuple};

	for (size_t i = 0; i < sizeof(early) / sizeof(early[0]); i++) {
		struct cls *c = rp_new(vm, K_CLASS, NULL, sizeof(*c));

		vm->t[early[i]] = c;
		c->layout = type_rows[early[i]].layout;
	}
}

static void type_complete(struct vm *vm, struct cls *c, enum rp_type type)
{
	struct cls *base = vm->t[type_rows[type].base];

	c->name = c->qualified = str_intern(vm, type_rows[type].name, strlen(type_rows[type].name));
	c->name->h.refs += 2;
	c->layout = type_rows[type].layout;
	c->ns = dict_new(vm);
	c->bases = tuple_new(vm, type == TY_object ? 0 : 1);
	c->mro_count = type == TY_object ? 1 : base->mro_count + 1;
	c->mro = rp_mem(vm, NULL, 0, c->mro_count * sizeof(*c->mro));
	c->mro[0] = c;
	if (type == TY_object)
		return;
	c->bases->at[0] = ref_obj(base);
	for (uint32_t i = 0; i < base->mro_count; i++) {
		c->mro[i + 1] = base->mro[i];
		base->mro[i]->h.refs++;
	}
}

void types_init(struct vm *vm)
{
	first_types(vm);
	for (int i = 1; i < PN_COUNT; i++) {
		vm->n[i] = str_intern(vm, name_texts[i], strlen(name_texts[i]));
	}
	for (int i = 0; i < TY_COUNT; i++) {
		if (!vm->t[i])
			vm->t[i] = rp_new(vm, K_CLASS, NULL, sizeof(struct cls));
		type_complete(vm, vm->t[i], (enum rp_type)i);
		vm->t[i]->h.cls = vm->t[TY_type];
	}
	vm->t[TY_nn_module]->flags |= CLS_NN_MODULE;
	for (size_t i = 0; i < sizeof(type_methods_rows) / sizeof(type_methods_rows[0]); i++)
		type_add(vm, vm->t[type_methods_rows[i].type], type_methods_rows[i].defs);
}
