#include "analyzer/replay/library.h"

#include <string.h>

/* They are in the order of their names. */
const struct library_module *library_find(const char *name)
{
	uint32_t low = 0, high = library_module_count;

	while (low < high) {
		const uint32_t middle = (low + high) / 2;
		const int order = strcmp(name, library_modules[middle].name);

		if (!order)
			return &library_modules[middle];
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

const char *library_alias(const char *name)
{
	static const struct {
		const char *name, *module;
	} aliases[] = {
#define ALIAS(name, module) {name, module},
#include "analyzer/replay/library_aliases.def"
#undef ALIAS
	};

	for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
		if (strcmp(aliases[i].name, name) == 0)
			return aliases[i].module;
	return name;
}

static bool is_name(uint32_t name, const char *bytes, size_t length)
{
	const struct library_name *n = &library_names[name];

	return n->length == length && memcmp(library_bytes + n->start, bytes, length) == 0;
}

const struct library_definition *library_definition_find(const struct library_module *library,
                                                         const struct str *name)
{
	const struct library_definition *at = library_definitions + library->definitions.first;

	for (uint32_t i = 0; i < library->definitions.count; i++)
		if (is_name(at[i].name, name->at, name->length))
			return &at[i];
	return NULL;
}

bool library_definition_has(const struct library_definition *definition, const char *name)
{
	const struct library_func *at = library_funcs + definition->funcs.first;

	for (uint32_t i = 0; i < definition->funcs.count; i++)
		if (at[i].kind == FUNC_FUNCTION && is_name(at[i].name, name, strlen(name)))
			return true;
	return false;
}

/* The tables are constant and nothing writes to a finished module. */
#define TABLE(field, table)                                                                        \
	func->field.at = (void *)(uintptr_t)((table) + from->field.first);                         \
	func->field.count = from->field.count

static struct ir_func *func_of(struct arena *arena, const struct library_func *from)
{
	struct ir_func *func = arena_new(arena, struct ir_func);

	func->name.n = from->name;
	func->qualified.n = from->qualified;
	func->parent.n = from->parent;
	func->kind = (enum func_kind)from->kind;
	func->is_generator = from->is_generator;
	func->is_async = from->is_async;
	TABLE(params, library_params);
	TABLE(slots, library_slots);
	TABLE(insts, library_insts);
	TABLE(args, library_args);
	TABLE(blocks, library_blocks);
	TABLE(loops, library_loops);
	func->dominator = (block_id *)(uintptr_t)(library_dominators + from->blocks.first);
	return func;
}

struct ir_module *library_lowered(struct arena *arena, const struct library_definition *definition)
{
	struct ir_module *module = arena_new(arena, struct ir_module);

	module->arena = arena;
	module->funcs.count = definition->funcs.count + 1;
	module->funcs.at = arena_array(arena, struct ir_func *, module->funcs.count);
	for (uint32_t i = 0; i < definition->funcs.count; i++)
		module->funcs.at[i + 1] =
		        func_of(arena, &library_funcs[definition->funcs.first + i]);
	return module;
}

struct str *name_of_sym(struct vm *vm, const struct ir_module *module, sym_id name)
{
	const struct library_name *n = &library_names[name.n];
	struct str **place;

	if (module->names)
		return str_of_sym(vm, name);
	place = str_place(vm, &vm->of_library, name.n);
	if (!*place)
		*place = str_intern(vm, library_bytes + n->start, n->length);
	return *place;
}
