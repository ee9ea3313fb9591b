#ifndef GRAPHLINT_FRONT_PYTHON_SCOPE_H
#define GRAPHLINT_FRONT_PYTHON_SCOPE_H

/* Who binds which name: CPython's symbol table. python_scope.c collects the
 * names of every scope in one walk without recursion, python_resolve.c decides
 * what each means and numbers the slots. The module's own names are not
 * listed: what no scope knows is global.
 *
 * Type parameters have a scope without a function; its variables are slots of
 * the function around it (its owner). */

#include "analyzer/front/python_tree.h"

/* Nested expressions and statements that are lowered. */
enum { PY_DEPTH_MAX = 400 };

enum py_scope_kind {
	PY_SCOPE_MODULE,
	PY_SCOPE_FUNCTION,
	PY_SCOPE_LAMBDA,
	PY_SCOPE_CLASS,
	PY_SCOPE_COMPREHENSION,
	PY_SCOPE_TYPE,
};

enum py_symbol_flag {
	PY_BOUND = 1,
	PY_GLOBAL = 2, /* declared so */
	PY_NONLOCAL = 4,
	PY_HAS_SLOT = 8,
	PY_HIDDEN = 16,
};

struct py_symbol {
	sym_id name;
	uint32_t scope;
	uint32_t next; /* of the same owner; 0 ends */
	uint8_t flags;
	uint8_t access;    /* enum ir_sub: SUB_scope_slot, _global or _name */
	uint8_t slot_kind; /* enum slot_kind, with PY_HAS_SLOT */
	slot_id slot;
	slot_id outer; /* of SLOT_FREE */
};

struct py_scope {
	uint32_t node;
	enum py_scope_kind kind;
	uint32_t parent, owner; /* scopes; the module is 1 */
	uint32_t first, last;   /* symbols, of the owner */
	uint32_t slots;         /* how many */
	uint32_t depth;         /* of functions and classes */
	sym_id private_prefix;  /* innermost class, for __names */
	bool is_generator, is_async;
};

struct py_scope_entry; /* of the hash table */

struct py_scopes {
	struct arena *scratch;
	const struct py_tree *tree;
	struct intern *names;
	VEC(struct py_scope) scopes;
	VEC(struct py_symbol) symbols;
	struct py_scope_entry *table;
	uint32_t capacity, used;
};

void py_scopes_collect(struct py_scopes *scopes, struct arena *scratch, const struct py_tree *tree,
                       struct intern *names);
void py_scopes_resolve(struct py_scopes *scopes);

/* python_symbols.c */
void py_scopes_init(struct py_scopes *scopes, struct arena *scratch, const struct py_tree *tree,
                    struct intern *names);
uint32_t py_scope_add(struct py_scopes *scopes, struct py_scope scope);
/* The scope that a function, class, lambda, comprehension or type_parameter
 * node opens. */
uint32_t py_scope_of(const struct py_scopes *scopes, uint32_t node);
/* Index of the symbol, 0: the scope does not know the name. */
uint32_t py_symbol_find(const struct py_scopes *scopes, uint32_t scope, sym_id name);
uint32_t py_symbol_add(struct py_scopes *scopes, uint32_t scope, sym_id name);
/* An identifier's name as that scope sees it: private names of classes are mangled. */
sym_id py_name(const struct py_scopes *scopes, uint32_t scope, uint32_t node);

#endif
