#include "analyzer/front/python_scope.h"

/* Keys are (scope, name) for symbols and (0, node) for scopes. */
struct py_scope_entry {
	uint32_t a, b;
	uint32_t value; /* 0: free */
};

static uint32_t table_index(uint32_t a, uint32_t b, uint32_t capacity)
{
	uint64_t hash = ((uint64_t)a << 32 | b) * UINT64_C(0x9E3779B97F4A7C15);

	return (uint32_t)(hash >> 32) & (capacity - 1);
}

/* The key's entry, or the free one where it belongs. */
static struct py_scope_entry *table_entry(const struct py_scopes *scopes, uint32_t a, uint32_t b)
{
	uint32_t at = table_index(a, b, scopes->capacity);
	struct py_scope_entry *entry = &scopes->table[at];

	while (entry->value && !(entry->a == a && entry->b == b)) {
		at = (at + 1) & (scopes->capacity - 1);
		entry = &scopes->table[at];
	}
	return entry;
}

static void table_grow(struct py_scopes *scopes)
{
	struct py_scope_entry *old = scopes->table;
	uint32_t capacity = scopes->capacity;

	scopes->capacity = capacity ? capacity * 2 : 64;
	scopes->table = arena_array(scopes->scratch, struct py_scope_entry, scopes->capacity);
	for (uint32_t i = 0; i < capacity; i++)
		if (old[i].value)
			*table_entry(scopes, old[i].a, old[i].b) = old[i];
}

static void table_set(struct py_scopes *scopes, uint32_t a, uint32_t b, uint32_t value)
{
	if ((uint64_t)scopes->used * 4 >= (uint64_t)scopes->capacity * 3)
		table_grow(scopes);
	*table_entry(scopes, a, b) = (struct py_scope_entry){a, b, value};
	scopes->used++;
}

uint32_t py_symbol_find(const struct py_scopes *scopes, uint32_t scope, sym_id name)
{
	return table_entry(scopes, scope, name.n)->value;
}

uint32_t py_scope_of(const struct py_scopes *scopes, uint32_t node)
{
	return table_entry(scopes, 0, node)->value;
}

uint32_t py_symbol_add(struct py_scopes *scopes, uint32_t scope, sym_id name)
{
	uint32_t id = py_symbol_find(scopes, scope, name);
	struct py_scope *owner = &scopes->scopes.at[scopes->scopes.at[scope].owner];
	struct py_symbol symbol = {.name = name, .scope = scope, .access = SUB_scope_global};

	if (id)
		return id;
	id = scopes->symbols.count;
	vec_push(scopes->scratch, &scopes->symbols, symbol);
	if (owner->last)
		scopes->symbols.at[owner->last].next = id;
	else
		owner->first = id;
	owner->last = id;
	table_set(scopes, scope, name.n, id);
	return id;
}

static sym_id mangle(const struct py_scopes *scopes, sym_id prefix, const char *name, size_t length)
{
	struct arena scratch = {0};
	struct text text = {.arena = &scratch};
	size_t class_length;
	const char *class_name = intern_chars(scopes->names, prefix, &class_length);
	sym_id id;

	while (class_length && *class_name == '_') {
		class_name++;
		class_length--;
	}
	if (class_length) {
		text_add_char(&text, '_');
		text_add(&text, class_name, class_length);
	}
	text_add(&text, name, length);
	id = intern_text(scopes->names, text_chars(&text), text.length);
	arena_release(&scratch);
	return id;
}

sym_id py_name(const struct py_scopes *scopes, uint32_t scope, uint32_t node)
{
	size_t length;
	const char *name = py_text(scopes->tree, node, &length);
	sym_id prefix = scopes->scopes.at[scope].private_prefix;

	if (prefix.n && length > 2 && name[0] == '_' && name[1] == '_' &&
	    !(name[length - 1] == '_' && name[length - 2] == '_'))
		return mangle(scopes, prefix, name, length);
	return intern_text(scopes->names, name, length);
}

void py_scopes_init(struct py_scopes *scopes, struct arena *scratch, const struct py_tree *tree,
                    struct intern *names)
{
	*scopes = (struct py_scopes){.scratch = scratch, .tree = tree, .names = names};
	table_grow(scopes);
	vec_push(scratch, &scopes->scopes, (struct py_scope){.kind = PY_SCOPE_MODULE});
	vec_push(scratch, &scopes->symbols, (struct py_symbol){.scope = 0});
}

uint32_t py_scope_add(struct py_scopes *scopes, struct py_scope scope)
{
	uint32_t id = scopes->scopes.count;

	vec_push(scopes->scratch, &scopes->scopes, scope);
	table_set(scopes, 0, scope.node, id);
	return id;
}
