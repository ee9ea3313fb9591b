#include <string.h>

#include "analyzer/front/python_lower.h"

static void add_slots(struct py_lower *l, struct py_func *func)
{
	const struct py_scopes *scopes = &l->scopes;
	uint32_t id = scopes->scopes.at[func->scope].first;

	for (; id; id = scopes->symbols.at[id].next) {
		const struct py_symbol *symbol = &scopes->symbols.at[id];
		if (symbol->flags & PY_HAS_SLOT)
			ir_slot_add(func->builder,
			            (struct ir_slot){
			                    .name = symbol->name,
			                    .kind = (enum slot_kind)symbol->slot_kind,
			                    .outer = symbol->outer,
			            });
	}
}

void py_func_begin(struct py_lower *l, struct py_func *func, uint32_t scope, enum func_kind kind)
{
	const struct py_scope *at = &l->scopes.scopes.at[scope];
	func_id parent = {0};

	if (l->func)
		parent = ir_builder_id(l->func->builder);
	*func = (struct py_func){
	        .outer = l->func,
	        .builder = ir_begin(l->module, kind, parent),
	        .scope = scope,
	        .names = scope,
	        .pending_base = l->pending.count,
	};
	l->func = func;
	l->lowered[scope] = ir_builder_id(func->builder);
	add_slots(l, func);
	struct ir_func *made = ir_builder_func(func->builder);
	made->is_generator = at->is_generator;
	made->is_async = at->is_async;
	made->span = py_span(l, at->node);
	made->name_span = made->span;
}

void py_func_end(struct py_lower *l)
{
	struct py_func *func = l->func;
	struct span span = ir_builder_func(func->builder)->span;

	if (!py_is_dead(l)) {
		py_none(l, (struct span){span.end, span.end});
		py_return(l, (struct span){span.end, span.end});
	}
	ir_finish(func->builder);
	l->func = func->outer;
}

/* "Trainer.fit.<locals>.closure" */
static sym_id qualify(struct py_lower *l, const struct ir_func *parent, sym_id name)
{
	struct arena scratch = {0};
	struct text text = {.arena = &scratch};
	size_t length;
	const char *chars;
	sym_id id;

	if (parent->kind == FUNC_MODULE)
		return name;
	chars = intern_chars(l->module->names, parent->qualified, &length);
	text_add(&text, chars, length);
	text_add_chars(&text, parent->kind == FUNC_CLASS_BODY ? "." : ".<locals>.");
	chars = intern_chars(l->module->names, name, &length);
	text_add(&text, chars, length);
	id = intern_text(l->module->names, text_chars(&text), text.length);
	arena_release(&scratch);
	return id;
}

/* Whether the name of what is defined was declared global around it. */
static bool is_global(const struct py_lower *l, sym_id name)
{
	const struct py_func *outer = l->func->outer;
	uint32_t id = outer ? py_symbol_find(&l->scopes, outer->scope, name) : 0;

	return id && (l->scopes.symbols.at[id].flags & PY_GLOBAL);
}

static void name_func(struct py_lower *l, sym_id name)
{
	struct ir_func *made = ir_builder_func(l->func->builder);
	const struct ir_func *parent = ir_func_get(l->module, made->parent);

	made->name = name;
	made->qualified = is_global(l, name) ? name : qualify(l, parent, name);
}

void py_func_name(struct py_lower *l, enum well_known_name name)
{
	name_func(l, sym(name));
}

/* Source text without blanks. */
sym_id py_annotation(struct py_lower *l, uint32_t node)
{
	struct arena scratch = {0};
	struct text text = {.arena = &scratch};
	size_t length;
	const char *from = py_text(l->tree, node, &length);
	sym_id id;

	for (size_t i = 0; i < length; i++)
		if (!strchr(" \t\r\n\f\\", from[i]) || from[i] == '\0')
			text_add_char(&text, from[i]);
	id = intern_text(l->module->names, text_chars(&text), text.length);
	arena_release(&scratch);
	return id;
}

/* A parameter as it is written. */
struct parameter {
	uint32_t name; /* identifier; 0: a Python 2 tuple */
	uint32_t value, type;
	enum param_kind kind;
};

static struct parameter parameter_read(const struct py_lower *l, uint32_t node, bool keyword_only)
{
	struct parameter p = {
	        .name = node,
	        .value = py_field(l->tree, node, PY_F_value),
	        .type = py_field(l->tree, node, PY_F_type),
	        .kind = keyword_only ? PARAM_KEYWORD_ONLY : PARAM_POSITIONAL,
	};
	enum py_kind kind = py_kind(l->tree, node);

	if (kind == PY_default_parameter || kind == PY_typed_default_parameter)
		p.name = py_field(l->tree, node, PY_F_name);
	if (kind == PY_typed_parameter)
		p.name = py_first(l->tree, node);
	kind = p.name ? py_kind(l->tree, p.name) : PY_ERROR;
	if (kind == PY_list_splat_pattern || kind == PY_dictionary_splat_pattern) {
		p.kind = kind == PY_list_splat_pattern ? PARAM_VAR_POSITIONAL : PARAM_VAR_KEYWORD;
		p.name = py_first(l->tree, p.name);
		kind = p.name ? py_kind(l->tree, p.name) : PY_ERROR;
	}
	if (kind != PY_identifier)
		p.name = 0;
	return p;
}

static slot_id parameter_slot(struct py_lower *l, uint32_t name)
{
	uint32_t id;

	if (!name)
		return py_hidden(l);
	id = py_symbol_find(&l->scopes, l->func->scope, py_ident(l, name));
	return id && l->scopes.symbols.at[id].slot.n ? l->scopes.symbols.at[id].slot : py_hidden(l);
}

static void parameter_add(struct py_lower *l, const struct parameter *p)
{
	struct ir_param param = {
	        .slot = parameter_slot(l, p->name),
	        .kind = p->kind,
	        .has_default = p->value != 0,
	};

	if (p->type)
		param.annotation = py_annotation(l, p->type);
	vec_push(l->arena, &ir_builder_func(l->func->builder)->params, param);
}

static void parameters_add(struct py_lower *l, uint32_t list)
{
	bool keyword_only = false;

	for (uint32_t c = list ? py_first(l->tree, list) : 0; c; c = py_next(l->tree, list, c)) {
		struct ir_func *made = ir_builder_func(l->func->builder);
		struct parameter p;

		if (py_kind(l->tree, c) == PY_positional_separator) {
			for (uint32_t i = 0; i < made->params.count; i++)
				made->params.at[i].kind = PARAM_POSITIONAL_ONLY;
			continue;
		}
		if (py_kind(l->tree, c) == PY_keyword_separator) {
			keyword_only = true;
			continue;
		}
		p = parameter_read(l, c, keyword_only);
		parameter_add(l, &p);
		keyword_only = keyword_only || p.kind == PARAM_VAR_POSITIONAL;
	}
}

/* Python 2: a tuple of names in place of a parameter is unpacked on entry. */
static void unpack_parameters(struct py_lower *l, uint32_t list)
{
	const struct ir_func *made = ir_builder_func(l->func->builder);
	uint32_t at = 0;

	for (uint32_t c = list ? py_first(l->tree, list) : 0; c && at < made->params.count;
	     c = py_next(l->tree, list, c)) {
		uint32_t name = py_field(l->tree, c, PY_F_name);
		uint32_t tuple = py_kind(l->tree, c) == PY_default_parameter ? name : c;
		slot_id slot = made->params.at[at].slot;

		if (py_kind(l->tree, c) == PY_positional_separator ||
		    py_kind(l->tree, c) == PY_keyword_separator)
			continue;
		at++;
		if (!tuple || py_kind(l->tree, tuple) != PY_tuple_pattern)
			continue;
		py_hidden_take(l, slot, py_span(l, tuple));
		py_assign(l, tuple);
	}
}

/* Pushes the defaults, positional ones first; returns how many. */
static uint32_t defaults(struct py_lower *l, uint32_t list, uint32_t inside)
{
	uint32_t base = l->pending.count;

	for (int pass = 0; pass < 2; pass++) {
		bool keyword_only = false;
		for (uint32_t c = list ? py_first(l->tree, list) : 0; c;
		     c = py_next(l->tree, list, c)) {
			struct parameter p = parameter_read(l, c, keyword_only);

			if (py_kind(l->tree, c) == PY_keyword_separator ||
			    p.kind == PARAM_VAR_POSITIONAL)
				keyword_only = true;
			if (!p.value || !p.name || keyword_only != (pass == 1) ||
			    l->pending.count - base == PY_OPERANDS_MAX)
				continue;
			py_expr(l, p.value);
			py_keyword(l, py_name(&l->scopes, inside, p.name));
		}
	}
	return l->pending.count - base;
}

/* The body without its docstring, which goes to the function. */
static void documented_body(struct py_lower *l, uint32_t block)
{
	uint32_t first = block || l->scopes.scopes.at[l->func->scope].kind == PY_SCOPE_MODULE
	                         ? py_first(l->tree, block)
	                         : 0;
	sym_id doc = first ? py_docstring(l, first) : (sym_id){0};

	ir_builder_func(l->func->builder)->doc = doc;
	for (uint32_t c = first; c; c = py_next(l->tree, block, c))
		if (c != first || !doc.n)
			py_statement(l, c);
}

void py_module_body(struct py_lower *l)
{
	documented_body(l, 0);
}

/* Type parameters are variables of the function around. */
static void bind_type_parameters(struct py_lower *l, uint32_t list)
{
	uint32_t scope = py_scope_of(&l->scopes, list);
	uint32_t outer = l->func->names;

	if (!scope)
		return;
	l->func->names = scope;
	for (uint32_t p = py_first(l->tree, list); p; p = py_next(l->tree, list, p)) {
		uint32_t name = p;
		while (name < l->tree->nodes[p].next && py_kind(l->tree, name) != PY_identifier)
			name++;
		if (name == l->tree->nodes[p].next)
			continue;
		py_unknown(l, "type parameter", py_span(l, p), 0);
		py_assign_name(l, name);
	}
	l->func->names = outer;
}

static void function_lower(struct py_lower *l, uint32_t node, uint32_t scope)
{
	uint32_t name = py_field(l->tree, node, PY_F_name);
	uint32_t returns = py_field(l->tree, node, PY_F_return_type);
	struct py_func func;
	struct ir_func *made;
	sym_id known = name ? py_ident(l, name) : (sym_id){0};

	py_func_begin(l, &func, scope, FUNC_FUNCTION);
	name_func(l, known);
	made = ir_builder_func(func.builder);
	if (name)
		made->name_span = py_span(l, name);
	if (returns)
		made->returns = py_annotation(l, returns);
	parameters_add(l, py_field(l->tree, node, PY_F_parameters));
	unpack_parameters(l, py_field(l->tree, node, PY_F_parameters));
	documented_body(l, py_field(l->tree, node, PY_F_body));
	py_func_end(l);
}

/* Pushes the function. */
static void function_value(struct py_lower *l, uint32_t node)
{
	uint32_t scope = py_scope_open(l, node);
	uint32_t types = py_field(l->tree, node, PY_F_type_parameters);
	uint32_t count;

	if (!scope)
		return;
	if (types)
		bind_type_parameters(l, types);
	count = defaults(l, py_field(l->tree, node, PY_F_parameters), scope);
	if (!l->lowered[scope].n)
		function_lower(l, node, scope);
	py_emit(l, OP_function, SUB_NONE, l->lowered[scope].n, py_span(l, node), count);
}

static void class_lower(struct py_lower *l, uint32_t node, uint32_t scope)
{
	uint32_t name = py_field(l->tree, node, PY_F_name);
	struct py_func func;
	sym_id known = name ? py_ident(l, name) : (sym_id){0};

	py_func_begin(l, &func, scope, FUNC_CLASS_BODY);
	name_func(l, known);
	if (name)
		ir_builder_func(func.builder)->name_span = py_span(l, name);
	documented_body(l, py_field(l->tree, node, PY_F_body));
	py_func_end(l);
}

/* Pushes the class. */
static void class_value(struct py_lower *l, uint32_t node)
{
	uint32_t scope = py_scope_open(l, node);
	uint32_t types = py_field(l->tree, node, PY_F_type_parameters);
	uint32_t bases = py_field(l->tree, node, PY_F_superclasses);
	uint32_t base = l->pending.count;
	uint32_t outer = l->func->names;

	if (!scope)
		return;
	if (types && py_scope_of(&l->scopes, types)) {
		bind_type_parameters(l, types);
		l->func->names = py_scope_of(&l->scopes, types);
	}
	if (bases)
		py_arguments(l, bases);
	l->func->names = outer;
	if (!l->lowered[scope].n)
		class_lower(l, node, scope);
	py_emit(l, OP_class, SUB_NONE, l->lowered[scope].n, py_span(l, node),
	        l->pending.count - base);
}

static void definition_value(struct py_lower *l, uint32_t node)
{
	if (py_kind(l->tree, node) == PY_class_definition)
		class_value(l, node);
	else
		function_value(l, node);
}

static void definition_bind(struct py_lower *l, uint32_t node)
{
	uint32_t name = py_field(l->tree, node, PY_F_name);

	if (name && py_kind(l->tree, name) == PY_identifier)
		py_assign_name(l, name);
	else
		py_drop(l, py_span(l, node));
}

void py_function(struct py_lower *l, uint32_t node)
{
	function_value(l, node);
	definition_bind(l, node);
}

void py_class(struct py_lower *l, uint32_t node)
{
	class_value(l, node);
	definition_bind(l, node);
}

void py_decorated(struct py_lower *l, uint32_t node)
{
	uint32_t definition = py_field(l->tree, node, PY_F_definition);
	VEC(struct span) spans = {0};

	for (uint32_t c = py_first(l->tree, node); c; c = py_next(l->tree, node, c)) {
		if (py_kind(l->tree, c) != PY_decorator || !py_first(l->tree, c))
			continue;
		py_expr(l, py_first(l->tree, c));
		vec_push(l->scratch, &spans, py_span(l, py_first(l->tree, c)));
	}
	if (!definition || (py_kind(l->tree, definition) != PY_class_definition &&
	                    py_kind(l->tree, definition) != PY_function_definition)) {
		py_unknown(l, "syntax error", py_span(l, node), spans.count);
		py_drop(l, py_span(l, node));
		return;
	}
	definition_value(l, definition);
	while (spans.count)
		py_emit(l, OP_call, SUB_NONE, 0, spans.at[--spans.count], 2);
	definition_bind(l, definition);
}

void py_lambda(struct py_lower *l, uint32_t node)
{
	uint32_t scope = py_scope_open(l, node);
	uint32_t list = py_field(l->tree, node, PY_F_parameters);
	uint32_t body = py_field(l->tree, node, PY_F_body);
	struct py_func func;
	uint32_t count;

	if (!scope)
		return;
	count = defaults(l, list, scope);
	if (!l->lowered[scope].n) {
		py_func_begin(l, &func, scope, FUNC_LAMBDA);
		name_func(l, sym(SYM_lambda_scope));
		parameters_add(l, list);
		unpack_parameters(l, list);
		py_expr(l, body);
		py_return(l, py_span(l, body ? body : node));
		py_func_end(l);
	}
	py_emit(l, OP_function, SUB_NONE, l->lowered[scope].n, py_span(l, node), count);
}
