#include "analyzer/front/python_scope.h"

enum py_context {
	READ,
	BIND,
};

struct visit {
	uint32_t node;
	uint32_t scope;
	enum py_context context;
};

struct collector {
	struct py_scopes *scopes;
	const struct py_tree *tree;
	VEC(struct visit) stack;
};

/* Scopes nested so deeply that nobody lowers them are no scopes. */
static uint32_t scope_add(struct collector *c, enum py_scope_kind kind, uint32_t node,
                          uint32_t parent)
{
	struct py_scopes *scopes = c->scopes;
	const struct py_scope *around = &scopes->scopes.at[parent];
	uint32_t id = scopes->scopes.count;
	struct py_scope scope = {
	        .node = node,
	        .kind = kind,
	        .parent = parent,
	        .owner = kind == PY_SCOPE_TYPE ? around->owner : id,
	        .depth = around->depth + (kind != PY_SCOPE_TYPE),
	        .private_prefix = around->private_prefix,
	};

	if (scope.depth > PY_DEPTH_MAX + 1)
		return parent;
	return py_scope_add(scopes, scope);
}

/* Where `name := value` binds: not in a comprehension. */
static uint32_t walrus_scope(const struct py_scopes *scopes, uint32_t scope)
{
	while (scopes->scopes.at[scope].kind == PY_SCOPE_COMPREHENSION)
		scope = scopes->scopes.at[scope].parent;
	return scope;
}

static void note_symbol(struct collector *c, uint32_t scope, sym_id name, unsigned flags)
{
	struct py_scopes *scopes = c->scopes;
	const struct py_scope *at = &scopes->scopes.at[scope];
	uint32_t symbol;

	while (at->kind == PY_SCOPE_TYPE && !(flags & PY_BOUND) &&
	       !py_symbol_find(scopes, scope, name)) {
		scope = at->parent;
		at = &scopes->scopes.at[scope];
	}
	if (at->kind == PY_SCOPE_MODULE)
		return;
	symbol = py_symbol_add(scopes, scope, name);
	scopes->symbols.at[symbol].flags |= (uint8_t)flags;
	if (sym_is(name, SYM_super) && at->kind != PY_SCOPE_CLASS && !(flags & PY_BOUND))
		py_symbol_add(scopes, scope, sym(SYM_class_cell));
}

static void note(struct collector *c, uint32_t node, uint32_t scope, enum py_context context)
{
	if (context == BIND && c->scopes->scopes.at[scope].kind == PY_SCOPE_TYPE)
		scope = c->scopes->scopes.at[scope].parent;
	note_symbol(c, scope, py_name(c->scopes, scope, node), context == BIND ? PY_BOUND : 0);
}

static void note_walrus(struct collector *c, uint32_t node, uint32_t scope)
{
	uint32_t target = walrus_scope(c->scopes, scope);
	sym_id name = py_name(c->scopes, scope, node);
	bool global = c->scopes->scopes.at[target].kind == PY_SCOPE_MODULE;

	note_symbol(c, target, name, PY_BOUND);
	for (uint32_t s = scope; s != target; s = c->scopes->scopes.at[s].parent)
		note_symbol(c, s, name, global ? PY_GLOBAL : PY_NONLOCAL);
}

static void later(struct collector *c, uint32_t node, uint32_t scope, enum py_context context)
{
	if (node)
		vec_push(c->scopes->scratch, &c->stack, (struct visit){node, scope, context});
}

static void later_children(struct collector *c, uint32_t node, uint32_t scope,
                           enum py_context context)
{
	for (uint32_t child = py_first(c->tree, node); child; child = py_next(c->tree, node, child))
		later(c, child, scope, context);
}

static void later_from(struct collector *c, uint32_t node, uint32_t child, uint32_t scope)
{
	for (; child; child = py_next(c->tree, node, child))
		later(c, child, scope, READ);
}

static uint32_t first_identifier(const struct py_tree *tree, uint32_t node)
{
	for (uint32_t n = node; n < tree->nodes[node].next; n++)
		if (py_kind(tree, n) == PY_identifier)
			return n;
	return 0;
}

/* Parameters are bound inside, their defaults read outside. */
static void collect_parameters(struct collector *c, uint32_t list, uint32_t inside,
                               uint32_t outside)
{
	for (uint32_t p = py_first(c->tree, list); p; p = py_next(c->tree, list, p)) {
		uint32_t name = py_field(c->tree, p, PY_F_name);
		switch (py_kind(c->tree, p)) {
		case PY_default_parameter:
		case PY_typed_default_parameter:
			later(c, py_field(c->tree, p, PY_F_value), outside, READ);
			later(c, name, inside, BIND);
			break;
		case PY_typed_parameter:
			later(c, py_first(c->tree, p), inside, BIND);
			break;
		default:
			later(c, p, inside, BIND);
		}
	}
}

static uint32_t collect_type_parameters(struct collector *c, uint32_t node, uint32_t scope)
{
	uint32_t list = py_field(c->tree, node, PY_F_type_parameters);
	uint32_t inner;

	if (!list)
		return scope;
	inner = scope_add(c, PY_SCOPE_TYPE, list, scope);
	for (uint32_t p = py_first(c->tree, list); p; p = py_next(c->tree, list, p)) {
		uint32_t name = first_identifier(c->tree, p);
		if (name)
			note_symbol(c, inner, py_name(c->scopes, scope, name), PY_BOUND);
	}
	return inner;
}

static void collect_function(struct collector *c, uint32_t node, uint32_t scope)
{
	uint32_t name = py_field(c->tree, node, PY_F_name);
	uint32_t around = collect_type_parameters(c, node, scope);
	uint32_t inner = scope_add(c, PY_SCOPE_FUNCTION, node, around);
	uint32_t list = py_field(c->tree, node, PY_F_parameters);

	c->scopes->scopes.at[inner].is_async = py_has(c->tree, node, PY_HAS_ASYNC);
	later(c, name, scope, BIND);
	if (list)
		collect_parameters(c, list, inner, scope);
	later(c, py_field(c->tree, node, PY_F_body), inner, READ);
}

static void collect_lambda(struct collector *c, uint32_t node, uint32_t scope)
{
	uint32_t inner = scope_add(c, PY_SCOPE_LAMBDA, node, scope);
	uint32_t list = py_field(c->tree, node, PY_F_parameters);

	if (list)
		collect_parameters(c, list, inner, scope);
	later(c, py_field(c->tree, node, PY_F_body), inner, READ);
}

static void collect_class(struct collector *c, uint32_t node, uint32_t scope)
{
	uint32_t name = py_field(c->tree, node, PY_F_name);
	uint32_t around = collect_type_parameters(c, node, scope);
	uint32_t inner = scope_add(c, PY_SCOPE_CLASS, node, around);
	size_t length;

	if (name) {
		const char *text = py_text(c->tree, name, &length);
		c->scopes->scopes.at[inner].private_prefix =
		        intern_text(c->scopes->names, text, length);
	}
	later(c, name, scope, BIND);
	later(c, py_field(c->tree, node, PY_F_superclasses), around, READ);
	later(c, py_field(c->tree, node, PY_F_body), inner, READ);
}

/* The first iterable is read outside; the parameter is its iterator. */
static void collect_comprehension(struct collector *c, uint32_t node, uint32_t scope)
{
	uint32_t inner = scope_add(c, PY_SCOPE_COMPREHENSION, node, scope);
	bool first = true;

	note_symbol(c, inner, sym(SYM_outermost_iterator), PY_BOUND | PY_HIDDEN);
	if (py_kind(c->tree, node) == PY_generator_expression)
		c->scopes->scopes.at[inner].is_generator = true;
	for (uint32_t p = py_first(c->tree, node); p; p = py_next(c->tree, node, p)) {
		if (py_kind(c->tree, p) != PY_for_in_clause) {
			later(c, p, inner, READ);
			continue;
		}
		if (py_has(c->tree, p, PY_HAS_ASYNC))
			c->scopes->scopes.at[inner].is_async = true;
		for (uint32_t q = py_first(c->tree, p); q; q = py_next(c->tree, p, q)) {
			bool target = c->tree->nodes[q].field == PY_F_left;
			later(c, q, first && !target ? scope : inner, target ? BIND : READ);
		}
		first = false;
	}
}

static void collect_declaration(struct collector *c, uint32_t node, uint32_t scope, unsigned flag)
{
	for (uint32_t p = py_first(c->tree, node); p; p = py_next(c->tree, node, p))
		if (py_kind(c->tree, p) == PY_identifier)
			note_symbol(c, scope, py_name(c->scopes, scope, p), flag);
}

static void collect_import(struct collector *c, uint32_t node, uint32_t scope)
{
	for (uint32_t p = py_first(c->tree, node); p; p = py_next(c->tree, node, p)) {
		if (c->tree->nodes[p].field != PY_F_name)
			continue;
		if (py_kind(c->tree, p) == PY_aliased_import)
			later(c, py_field(c->tree, p, PY_F_alias), scope, BIND);
		else
			later(c, first_identifier(c->tree, p), scope, BIND);
	}
}

static void collect_dotted_pattern(struct collector *c, uint32_t node, uint32_t scope, bool capture)
{
	uint32_t name = first_identifier(c->tree, node);

	if (name)
		note(c, name, scope, capture && py_child_count(c->tree, node) == 1 ? BIND : READ);
}

/* `case pattern as name`, or `expression as target` of with and except. */
static void collect_as(struct collector *c, uint32_t node, uint32_t scope)
{
	uint32_t first = py_first(c->tree, node);

	for (uint32_t p = first; p; p = py_next(c->tree, node, p))
		later(c, p, scope, p == first ? READ : BIND);
}

static void collect_assignment(struct collector *c, uint32_t node, uint32_t scope)
{
	for (uint32_t p = py_first(c->tree, node); p; p = py_next(c->tree, node, p))
		later(c, p, scope, c->tree->nodes[p].field == PY_F_left ? BIND : READ);
}

/* Whether `node` belongs to the patterns of `case`. */
static bool collect_pattern(struct collector *c, uint32_t node, uint32_t scope)
{
	uint32_t first = py_first(c->tree, node);

	switch (py_kind(c->tree, node)) {
	case PY_dotted_name:
		collect_dotted_pattern(c, node, scope, true);
		return true;
	case PY_class_pattern:
		if (first) {
			collect_dotted_pattern(c, first, scope, false);
			later_from(c, node, py_next(c->tree, node, first), scope);
		}
		return true;
	case PY_keyword_pattern:
		if (first)
			later_from(c, node, py_next(c->tree, node, first), scope);
		return true;
	case PY_splat_pattern:
		later_children(c, node, scope, BIND);
		return true;
	default:
		return false;
	}
}

static bool collect_scope(struct collector *c, uint32_t node, uint32_t scope)
{
	switch (py_kind(c->tree, node)) {
	case PY_function_definition:
		collect_function(c, node, scope);
		return true;
	case PY_class_definition:
		collect_class(c, node, scope);
		return true;
	case PY_lambda:
		collect_lambda(c, node, scope);
		return true;
	case PY_list_comprehension:
	case PY_set_comprehension:
	case PY_dictionary_comprehension:
	case PY_generator_expression:
		collect_comprehension(c, node, scope);
		return true;
	default:
		return collect_pattern(c, node, scope);
	}
}

static bool collect_statement(struct collector *c, uint32_t node, uint32_t scope)
{
	switch (py_kind(c->tree, node)) {
	case PY_global_statement:
		collect_declaration(c, node, scope, PY_GLOBAL);
		return true;
	case PY_nonlocal_statement:
		collect_declaration(c, node, scope, PY_NONLOCAL);
		return true;
	case PY_import_statement:
	case PY_import_from_statement:
	case PY_future_import_statement:
		collect_import(c, node, scope);
		return true;
	case PY_type_alias_statement:
		later(c, first_identifier(c->tree, node), scope, BIND);
		return true;
	case PY_delete_statement:
		later_children(c, node, scope, BIND);
		return true;
	case PY_assignment:
	case PY_augmented_assignment:
	case PY_for_statement:
		collect_assignment(c, node, scope);
		return true;
	default:
		return collect_scope(c, node, scope);
	}
}

static void collect_suspension(struct collector *c, uint32_t node, uint32_t scope)
{
	struct py_scope *at = &c->scopes->scopes.at[c->scopes->scopes.at[scope].owner];

	if (py_kind(c->tree, node) == PY_yield)
		at->is_generator = true;
	else if (at->kind == PY_SCOPE_COMPREHENSION)
		at->is_async = true;
	later_children(c, node, scope, READ);
}

/* What tree-sitter takes for `:=` in f"{x:=9}" begins a specification. */
static void collect_field(struct collector *c, uint32_t node, uint32_t scope)
{
	for (uint32_t p = py_first(c->tree, node); p; p = py_next(c->tree, node, p)) {
		if (py_kind(c->tree, p) == PY_named_expression)
			later_children(c, p, scope, READ);
		else
			later(c, p, scope, READ);
	}
}

static void collect(struct collector *c, struct visit at)
{
	switch (py_kind(c->tree, at.node)) {
	case PY_identifier:
		note(c, at.node, at.scope, at.context);
		break;
	case PY_type: /* annotations are text */
		break;
	case PY_attribute:
		later(c, py_field(c->tree, at.node, PY_F_object), at.scope, READ);
		break;
	case PY_keyword_argument:
		later(c, py_field(c->tree, at.node, PY_F_value), at.scope, READ);
		break;
	case PY_named_expression:
		if (py_field(c->tree, at.node, PY_F_name))
			note_walrus(c, py_field(c->tree, at.node, PY_F_name), at.scope);
		later(c, py_field(c->tree, at.node, PY_F_value), at.scope, READ);
		break;
	case PY_interpolation:
	case PY_format_expression:
		collect_field(c, at.node, at.scope);
		break;
	case PY_except_clause:
		for (uint32_t p = py_first(c->tree, at.node); p; p = py_next(c->tree, at.node, p))
			later(c, p, at.scope, c->tree->nodes[p].field == PY_F_alias ? BIND : READ);
		break;
	case PY_as_pattern:
		collect_as(c, at.node, at.scope);
		break;
	case PY_yield:
	case PY_await:
		collect_suspension(c, at.node, at.scope);
		break;
	case PY_subscript:
		later_children(c, at.node, at.scope, READ);
		break;
	default:
		if (!collect_statement(c, at.node, at.scope))
			later_children(c, at.node, at.scope, at.context);
	}
}

/* Children are stacked in order and must come off in order. */
static void reverse_from(struct collector *c, uint32_t base)
{
	for (uint32_t low = base, high = c->stack.count; low + 1 < high; low++, high--) {
		struct visit swap = c->stack.at[low];
		c->stack.at[low] = c->stack.at[high - 1];
		c->stack.at[high - 1] = swap;
	}
}

void py_scopes_collect(struct py_scopes *scopes, struct arena *scratch, const struct py_tree *tree,
                       struct intern *names)
{
	struct collector c = {.scopes = scopes, .tree = tree};

	py_scopes_init(scopes, scratch, tree, names);
	scope_add(&c, PY_SCOPE_MODULE, 0, 0);
	later_children(&c, 0, 1, READ);
	reverse_from(&c, 0);
	while (c.stack.count) {
		struct visit at = c.stack.at[--c.stack.count];
		uint32_t base = c.stack.count;
		collect(&c, at);
		reverse_from(&c, base);
	}
}
