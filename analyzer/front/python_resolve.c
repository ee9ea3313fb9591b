#include "analyzer/front/python_scope.h"

/* Scopes come before the scopes in them, so whatever an inner scope finds on
 * its way out is already decided. */

static struct py_symbol *symbol_at(const struct py_scopes *scopes, uint32_t symbol)
{
	return &scopes->symbols.at[symbol];
}

static void give_slot(struct py_symbol *symbol, enum slot_kind kind)
{
	symbol->flags |= PY_HAS_SLOT;
	symbol->slot_kind = (uint8_t)kind;
}

/* The class's own cell, for methods that say super() or __class__. */
static bool class_has(struct py_scopes *scopes, uint32_t class_scope, sym_id name)
{
	uint32_t symbol;

	if (!sym_is(name, SYM_class_cell))
		return false;
	symbol = py_symbol_find(scopes, class_scope, name);
	if (!symbol) {
		symbol = py_symbol_add(scopes, class_scope, name);
		symbol_at(scopes, symbol)->access = SUB_scope_name;
	}
	give_slot(symbol_at(scopes, symbol), SLOT_CELL);
	return true;
}

/* Whether the variable is that scope's, for functions inside. */
static bool scope_has(struct py_scopes *scopes, uint32_t scope, sym_id name, bool *stop)
{
	struct py_symbol *symbol;
	uint32_t id;

	if (scopes->scopes.at[scope].kind == PY_SCOPE_CLASS)
		return class_has(scopes, scope, name);
	id = py_symbol_find(scopes, scope, name);
	if (!id)
		return false;
	symbol = symbol_at(scopes, id);
	if (symbol->flags & PY_GLOBAL) {
		*stop = true;
		return false;
	}
	if (!(symbol->flags & PY_HAS_SLOT))
		return false;
	if (symbol->slot_kind == SLOT_LOCAL)
		symbol->slot_kind = SLOT_CELL;
	return true;
}

/* The scope around `scope` whose variable `name` is; 0: none. */
static uint32_t find_outer(struct py_scopes *scopes, uint32_t scope, sym_id name)
{
	bool stop = false;

	for (scope = scopes->scopes.at[scope].parent; scope && !stop;
	     scope = scopes->scopes.at[scope].parent)
		if (scope_has(scopes, scope, name, &stop))
			return scope;
	return 0;
}

/* Functions between a variable's scope and its reader hand it through. */
static void hand_through(struct py_scopes *scopes, uint32_t from, uint32_t to, sym_id name)
{
	for (uint32_t s = scopes->scopes.at[from].parent; s != to;
	     s = scopes->scopes.at[s].parent) {
		enum py_scope_kind kind = scopes->scopes.at[s].kind;
		struct py_symbol *symbol;

		if (kind == PY_SCOPE_TYPE || kind == PY_SCOPE_MODULE)
			continue;
		symbol = symbol_at(scopes, py_symbol_add(scopes, s, name));
		if (symbol->flags & PY_HAS_SLOT)
			continue;
		give_slot(symbol, SLOT_FREE);
		if (kind != PY_SCOPE_CLASS)
			symbol->access = SUB_scope_slot;
		else if (symbol->access == SUB_scope_global && !(symbol->flags & PY_GLOBAL))
			symbol->access = SUB_scope_name;
	}
}

static void resolve_free(struct py_scopes *scopes, uint32_t id)
{
	uint32_t scope = symbol_at(scopes, id)->scope;
	sym_id name = symbol_at(scopes, id)->name;
	bool in_class = scopes->scopes.at[scope].kind == PY_SCOPE_CLASS;
	uint32_t found = find_outer(scopes, scope, name);

	if (!found) {
		symbol_at(scopes, id)->access = in_class ? SUB_scope_name : SUB_scope_global;
		return;
	}
	hand_through(scopes, scope, found, name);
	give_slot(symbol_at(scopes, id), SLOT_FREE);
	symbol_at(scopes, id)->access = SUB_scope_slot;
}

static void resolve_symbol(struct py_scopes *scopes, uint32_t id)
{
	struct py_symbol *symbol = symbol_at(scopes, id);
	enum py_scope_kind kind = scopes->scopes.at[symbol->scope].kind;

	if (symbol->flags & PY_HAS_SLOT)
		return;
	if (symbol->flags & PY_GLOBAL) {
		symbol->access = SUB_scope_global;
	} else if ((symbol->flags & PY_BOUND) && !(symbol->flags & PY_NONLOCAL)) {
		symbol->access = kind == PY_SCOPE_CLASS ? SUB_scope_name : SUB_scope_slot;
		if (kind != PY_SCOPE_CLASS)
			give_slot(symbol, symbol->flags & PY_HIDDEN ? SLOT_HIDDEN : SLOT_LOCAL);
	} else {
		resolve_free(scopes, id);
	}
}

static void number_slots(struct py_scopes *scopes)
{
	for (uint32_t s = 1; s < scopes->scopes.count; s++) {
		struct py_scope *scope = &scopes->scopes.at[s];
		for (uint32_t id = scope->first; id; id = symbol_at(scopes, id)->next)
			if (symbol_at(scopes, id)->flags & PY_HAS_SLOT)
				symbol_at(scopes, id)->slot.n = ++scope->slots;
	}
}

/* The slot of the function around that a captured variable stands for. */
static slot_id outer_slot(const struct py_scopes *scopes, const struct py_symbol *symbol)
{
	uint32_t scope = scopes->scopes.at[symbol->scope].parent;
	uint32_t id = py_symbol_find(scopes, scope, symbol->name);

	while (scopes->scopes.at[scope].kind == PY_SCOPE_TYPE &&
	       !(id && symbol_at(scopes, id)->flags & PY_HAS_SLOT)) {
		scope = scopes->scopes.at[scope].parent;
		id = py_symbol_find(scopes, scope, symbol->name);
	}
	return symbol_at(scopes, id)->slot;
}

void py_scopes_resolve(struct py_scopes *scopes)
{
	for (uint32_t s = 1; s < scopes->scopes.count; s++)
		for (uint32_t id = scopes->scopes.at[s].first; id; id = symbol_at(scopes, id)->next)
			resolve_symbol(scopes, id);
	number_slots(scopes);
	for (uint32_t id = 1; id < scopes->symbols.count; id++) {
		struct py_symbol *symbol = symbol_at(scopes, id);
		if ((symbol->flags & PY_HAS_SLOT) && symbol->slot_kind == SLOT_FREE)
			symbol->outer = outer_slot(scopes, symbol);
	}
}
