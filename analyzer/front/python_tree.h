#ifndef GRAPHLINT_FRONT_PYTHON_TREE_H
#define GRAPHLINT_FRONT_PYTHON_TREE_H

/* A Python syntax tree as one flat array in source order: node 0 is the module,
 * the children of n start at n + 1, and `next` is where what follows n's
 * subtree starts. tree-sitter's own tree is gone when this one is made.
 *
 * Punctuation and keywords are left out; where their presence matters the
 * parent has a flag. Strings have their interpolations as children and nothing
 * else. Missing and unreadable parts are nodes of kind PY_ERROR. */

#include "analyzer/front/front.h"

enum py_kind {
	PY_other, /* a named node that python_nodes.def does not know */
	PY_ERROR,
#define NODE(kind, text)  PY_##kind,
#define TOKEN(kind, text) PY_T_##kind,
#include "analyzer/front/python_nodes.def"
#undef NODE
#undef TOKEN
	PY_KIND_COUNT,
	PY_left_out = PY_KIND_COUNT,
};

enum py_field {
	PY_F_none,
#define FIELD(name) PY_F_##name,
#include "analyzer/front/python_fields.def"
#undef FIELD
	PY_FIELD_COUNT
};

/* Tokens right under a node. */
enum py_flag {
	PY_HAS_COMMA = 1,
	PY_HAS_ASYNC = 2,
	PY_HAS_STAR = 4,   /* except* */
	PY_HAS_EQUALS = 8, /* f"{x=}" */
	PY_HAS_FROM = 16,  /* yield from */
	PY_HAS_ERROR = 32, /* a child is PY_ERROR */
};

struct py_node {
	uint16_t kind;
	uint8_t field; /* under its parent */
	uint8_t flags;
	struct span span;
	uint32_t next;
};

struct py_tree {
	const struct source *source;
	struct py_node *nodes;
	uint32_t count;
	bool has_error;
};

/* Nodes live in `scratch`; comments and gaps go to the result's arena. `known` may be NULL. */
void py_tree_parse(struct py_tree *tree, struct arena *scratch, struct front_result *result,
                   const struct source *source, struct front_syntax *known);
void py_tree_dump(const struct py_tree *tree, struct text *out);

/* Children: for (c = py_first(t, n); c; c = py_next(t, n, c)). 0 ends. */
static inline uint32_t py_first(const struct py_tree *tree, uint32_t node)
{
	return tree->nodes[node].next > node + 1 ? node + 1 : 0;
}

static inline uint32_t py_next(const struct py_tree *tree, uint32_t parent, uint32_t child)
{
	uint32_t next = tree->nodes[child].next;

	return next < tree->nodes[parent].next ? next : 0;
}

static inline enum py_kind py_kind(const struct py_tree *tree, uint32_t node)
{
	return (enum py_kind)tree->nodes[node].kind;
}

static inline bool py_has(const struct py_tree *tree, uint32_t node, enum py_flag flag)
{
	return tree->nodes[node].flags & flag;
}

/* The first child in that field, or of that kind; 0: none. */
uint32_t py_field(const struct py_tree *tree, uint32_t node, enum py_field field);
uint32_t py_child(const struct py_tree *tree, uint32_t node, enum py_kind kind);
uint32_t py_child_count(const struct py_tree *tree, uint32_t node);
/* Out of any parentheses around an expression. */
uint32_t py_unwrap(const struct py_tree *tree, uint32_t node);
const char *py_text(const struct py_tree *tree, uint32_t node, size_t *length);

#endif
