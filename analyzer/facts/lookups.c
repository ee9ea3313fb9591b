/* Questions to the API table that come again and again, with the last answers. */

#include "analyzer/facts/analysis.h"

#include <string.h>

static uint64_t hash_names(const char *class_name, const char *name)
{
	return hash_join((uint64_t)(uintptr_t)class_name, (uint64_t)(uintptr_t)name);
}

void lookups_init(struct analysis *a)
{
	a->methods = arena_array(a->arena, struct method_cached, FACTS_METHOD_CACHE);
	a->ancestors = arena_array(a->arena, struct ancestor_cached, FACTS_METHOD_CACHE);
	a->externals = arena_array(a->arena, struct external_cached, FACTS_METHOD_CACHE);
}

const struct api_entry *method_entry(struct analysis *a, const char *class_name, const char *name)
{
	struct method_cached *cached =
	        &a->methods[hash_names(class_name, name) & (FACTS_METHOD_CACHE - 1)];

	if (cached->class_name != class_name || cached->name != name) {
		cached->class_name = class_name;
		cached->name = name;
		cached->entry = api_method(class_name, strlen(class_name), name, strlen(name));
	}
	return cached->entry;
}

bool class_is_a(struct analysis *a, const char *class_name, const char *ancestor)
{
	struct ancestor_cached *cached =
	        &a->ancestors[hash_names(class_name, ancestor) & (FACTS_METHOD_CACHE - 1)];

	if (cached->class_name != class_name || cached->ancestor != ancestor) {
		cached->class_name = class_name;
		cached->ancestor = ancestor;
		cached->is = api_is_a(class_name, strlen(class_name), ancestor);
	}
	return cached->is;
}

static object_id external_slowly(struct analysis *a, sym_id dotted)
{
	char canonical[256];
	size_t length;
	const char *text = intern_chars(a->names, dotted, &length);
	size_t canonical_length = api_canonical(text, length, canonical, sizeof(canonical));
	object_id id;

	if (canonical_length)
		dotted = intern_text(a->names, canonical, canonical_length);
	id = site_add(a, (struct def){.kind = OBJECT_EXTERNAL, .name = dotted});
	if (!def_of(a, id)->api) {
		text = intern_chars(a->names, dotted, &length);
		def_of(a, id)->api = api_find(text, length);
	}
	return id;
}

object_id external_object(struct analysis *a, sym_id dotted)
{
	struct external_cached *cached = &a->externals[dotted.n & (FACTS_METHOD_CACHE - 1)];

	if (cached->id.n == 0 || cached->dotted.n != dotted.n) {
		cached->dotted = dotted;
		cached->id = external_slowly(a, dotted);
	}
	return cached->id;
}

bool is_class_outside(struct analysis *a, object_id external)
{
	struct def *def = def_of(a, external);
	size_t length;
	const char *name;

	if (!def->class_asked) {
		name = intern_chars(a->names, def->name, &length);
		def->class_asked = true;
		def->is_class = api_class_find(name, length) != NULL;
	}
	return def->is_class;
}

static const struct {
	const char *name;
	enum object_kind kind;
} builtin_classes[] = {
        {"builtins.list", OBJECT_LIST},
        {"builtins.dict", OBJECT_DICT},
        {"builtins.set", OBJECT_SET},
        {"builtins.tuple", OBJECT_TUPLE},
        {"collections.deque", OBJECT_DEQUE},
        {"collections.defaultdict", OBJECT_DICT},
        {"collections.OrderedDict", OBJECT_DICT},
        {"collections.Counter", OBJECT_DICT},
        {"collections.UserDict", OBJECT_DICT},
        {"collections.UserList", OBJECT_LIST},
};

enum { BUILTIN_CLASSES = sizeof(builtin_classes) / sizeof(*builtin_classes) };

enum object_kind builtin_container(const char *class_name)
{
	for (size_t i = 0; i < BUILTIN_CLASSES; i++)
		if (strcmp(builtin_classes[i].name, class_name) == 0)
			return builtin_classes[i].kind;
	return OBJECT_INSTANCE;
}

const char *builtin_class_of(enum object_kind kind)
{
	for (size_t i = 0; i < BUILTIN_CLASSES; i++)
		if (builtin_classes[i].kind == kind)
			return builtin_classes[i].name;
	return NULL;
}

enum object_kind container_kind(struct analysis *a, const struct state *state, object_id id)
{
	enum object_kind kind = def_of(a, id)->kind;
	const char *class_name;

	if (kind != OBJECT_INSTANCE)
		return kind;
	class_name = external_class(a, state, id);
	return class_name ? builtin_container(class_name) : kind;
}
