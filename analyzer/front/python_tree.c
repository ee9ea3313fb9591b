#include "analyzer/front/python_tree.h"

#include <string.h>
#include <tree_sitter/api.h>

#include "analyzer/base/bug.h"

const TSLanguage *tree_sitter_python(void);

enum {
	INDENT_MAX = 200, /* levels that a dump shows */
	FIELD_NOT_MET = 0xff,
};

struct node_name {
	const char *text;
	bool named;
};

static const struct node_name node_names[PY_KIND_COUNT] = {
        [PY_other] = {"", true},
        [PY_ERROR] = {"ERROR", true},
#define NODE(kind, name)  [PY_##kind] = {name, true},
#define TOKEN(kind, name) [PY_T_##kind] = {name, false},
#include "analyzer/front/python_nodes.def"
#undef NODE
#undef TOKEN
};

static const char *const field_names[PY_FIELD_COUNT] = {
        [PY_F_none] = "",
#define FIELD(name) [PY_F_##name] = #name,
#include "analyzer/front/python_fields.def"
#undef FIELD
};

/* Kinds from `first` to `last` are sorted by text. */
static enum py_kind kind_find(const char *text, enum py_kind first, enum py_kind last)
{
	unsigned low = first, high = last + 1;

	while (low < high) {
		unsigned middle = (low + high) / 2;
		int order = strcmp(node_names[middle].text, text);
		if (order == 0)
			return (enum py_kind)middle;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return PY_left_out;
}

static enum py_kind kind_of_symbol(const TSLanguage *language, TSSymbol symbol)
{
	const char *text = ts_language_symbol_name(language, symbol);
	enum py_kind kind;

	switch (ts_language_symbol_type(language, symbol)) {
	case TSSymbolTypeRegular:
		if (strcmp(text, "escape_sequence") == 0 || strcmp(text, "string_content") == 0 ||
		    strcmp(text, "line_continuation") == 0 || strcmp(text, "string_end") == 0)
			return PY_left_out;
		kind = kind_find(text, PY_aliased_import, PY_yield);
		return kind == PY_left_out ? PY_other : kind;
	case TSSymbolTypeAnonymous:
		return kind_find(text, PY_T_not_equal, PY_T_tilde);
	default:
		return PY_left_out;
	}
}

/* What a symbol of the grammar is here. */
struct symbol {
	uint16_t kind;
	uint8_t flag; /* that it leaves on its parent, where it is left out */
	bool known;
};

/* What walking the tree needs beside it. */
struct reader {
	struct arena *arena; /* of the result */
	struct front_result *result;
	struct py_tree *tree;
	TSTreeCursor cursor;
	const TSLanguage *language;
	struct symbol *symbols; /* filled when one is first met */
	uint8_t *fields;        /* by field id, the same; FIELD_NOT_MET */
	TSSymbol comment;
	VEC(uint32_t) open; /* nodes whose subtree is being read */
	VEC(struct py_node) nodes;
};

/* A token that is left out leaves a flag on its parent. */
static unsigned flag_of_token(const char *text)
{
	static const struct {
		const char *text;
		unsigned flag;
	} flags[] = {{",", PY_HAS_COMMA},
	             {"async", PY_HAS_ASYNC},
	             {"*", PY_HAS_STAR},
	             {"=", PY_HAS_EQUALS},
	             {"from", PY_HAS_FROM}};

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (strcmp(flags[i].text, text) == 0)
			return flags[i].flag;
	return 0;
}

static void reader_tables(struct reader *reader, struct arena *scratch)
{
	const uint32_t fields = ts_language_field_count(reader->language) + 1;

	reader->symbols =
	        arena_array(scratch, struct symbol, ts_language_symbol_count(reader->language));
	reader->fields = arena_array(scratch, uint8_t, fields);
	memset(reader->fields, FIELD_NOT_MET, fields);
	reader->comment = ts_language_symbol_for_name(reader->language, "comment", 7, true);
}

static const struct symbol *reader_symbol(struct reader *reader, TSSymbol number)
{
	struct symbol *symbol = &reader->symbols[number];

	if (!symbol->known)
		*symbol = (struct symbol){
		        .kind = (uint16_t)kind_of_symbol(reader->language, number),
		        .flag = (uint8_t)flag_of_token(
		                ts_language_symbol_name(reader->language, number)),
		        .known = true,
		};
	return symbol;
}

static uint8_t field_find(const char *name)
{
	for (uint8_t n = 1; name && n < PY_FIELD_COUNT; n++)
		if (strcmp(field_names[n], name) == 0)
			return n;
	return PY_F_none;
}

static struct py_node *reader_parent(struct reader *reader)
{
	return reader->open.count ? &reader->nodes.at[reader->open.at[reader->open.count - 1]]
	                          : NULL;
}

/* Tokens are kept where lowering needs them in place. */
static bool token_is_kept(enum py_kind parent, enum py_kind token)
{
	switch (parent) {
	case PY_slice:
		return token == PY_T_colon;
	case PY_binary_operator:
	case PY_unary_operator:
	case PY_boolean_operator:
	case PY_comparison_operator:
	case PY_augmented_assignment:
		return true;
	case PY_complex_pattern:
	case PY_case_pattern:
	case PY_union_pattern:
	case PY_dict_pattern:
	case PY_keyword_pattern:
	case PY_splat_pattern:
	case PY_splat_type:
		return token != PY_T_colon && token != PY_T_pipe;
	default:
		return false;
	}
}

static void reader_gap(struct reader *reader, struct span span)
{
	struct ir_gap gap = {span, "syntax error"};
	struct ir_module *module = reader->result->module;

	reader->tree->has_error = true;
	vec_push(reader->arena, &module->gaps, gap);
}

/* PY_left_out: the node leaves nothing but flags, comments and gaps. */
static enum py_kind reader_classify(struct reader *reader, TSNode node, struct span span)
{
	const TSSymbol number = ts_node_symbol(node);
	struct py_node *parent = reader_parent(reader);
	const struct symbol *symbol;
	enum py_kind kind;

	if (ts_node_is_error(node) || ts_node_is_missing(node)) {
		if (parent)
			parent->flags |= PY_HAS_ERROR;
		if (!parent || parent->kind != PY_ERROR)
			reader_gap(reader, span);
		return PY_ERROR;
	}
	if (number == reader->comment) {
		vec_push(reader->arena, &reader->result->comments, (struct front_comment){span});
		return PY_left_out;
	}
	symbol = reader_symbol(reader, number);
	kind = (enum py_kind)symbol->kind;
	if (kind < PY_KIND_COUNT && node_names[kind].named)
		return kind;
	if (!parent || ts_node_is_named(node))
		return PY_left_out;
	if (kind != PY_left_out && token_is_kept((enum py_kind)parent->kind, kind))
		return kind;
	parent->flags |= symbol->flag;
	return PY_left_out;
}

/* The parents of long lists have no fields, and asking takes time. */
static uint8_t reader_field(struct reader *reader)
{
	const struct py_node *parent = reader_parent(reader);
	TSFieldId id;

	switch (parent ? parent->kind : PY_module) {
	case PY_module:
	case PY_block:
	case PY_list:
	case PY_tuple:
	case PY_set:
	case PY_dictionary:
	case PY_argument_list:
	case PY_expression_list:
		return PY_F_none;
	default:
		id = ts_tree_cursor_current_field_id(&reader->cursor);
		if (reader->fields[id] == FIELD_NOT_MET)
			reader->fields[id] =
			        field_find(ts_language_field_name_for_id(reader->language, id));
		return reader->fields[id];
	}
}

/* Returns whether the node's children are to be read. */
static bool reader_visit(struct reader *reader, struct arena *scratch)
{
	TSNode node = ts_tree_cursor_current_node(&reader->cursor);
	struct span span = {ts_node_start_byte(node), ts_node_end_byte(node)};
	enum py_kind kind = reader_classify(reader, node, span);

	struct py_node made = {
	        .kind = (uint16_t)kind, .span = span, .next = reader->nodes.count + 1};

	if (kind == PY_left_out)
		return false;
	made.field = reader_field(reader);
	vec_push(scratch, &reader->nodes, made);
	return ts_node_child_count(node) > 0;
}

static void reader_close(struct reader *reader)
{
	uint32_t node = reader->open.at[--reader->open.count];

	reader->nodes.at[node].next = reader->nodes.count;
}

static void reader_walk(struct reader *reader, struct arena *scratch)
{
	for (;;) {
		if (reader_visit(reader, scratch)) {
			vec_push(scratch, &reader->open, reader->nodes.count - 1);
			if (ts_tree_cursor_goto_first_child(&reader->cursor))
				continue;
			reader_close(reader);
		}
		while (!ts_tree_cursor_goto_next_sibling(&reader->cursor)) {
			if (!ts_tree_cursor_goto_parent(&reader->cursor))
				return;
			reader_close(reader);
		}
	}
}

/* `old`, with its edits told, or NULL. */
static TSTree *parse_text(const struct source *source, const TSTree *old)
{
	TSParser *parser = ts_parser_new();
	TSTree *parsed;

	if (!ts_parser_set_language(parser, tree_sitter_python()))
		BUG("tree-sitter refuses the Python grammar");
	parsed = ts_parser_parse_string(parser, old, source->text, source->length);
	ts_parser_delete(parser);
	if (!parsed)
		BUG("tree-sitter gave no tree");
	return parsed;
}

static TSPoint point_at(const struct source *source, uint32_t offset)
{
	const uint32_t line = source_line_at(source, offset);

	return (TSPoint){line, offset - source_line_span(source, line).start};
}

/* All that differs lies between a head and a tail that are the same. */
static TSInputEdit difference(const struct source *from, const struct source *to)
{
	const uint32_t least = from->length < to->length ? from->length : to->length;
	uint32_t head = 0, tail = 0;

	while (head < least && from->text[head] == to->text[head])
		head++;
	while (tail < least - head &&
	       from->text[from->length - 1 - tail] == to->text[to->length - 1 - tail])
		tail++;
	return (TSInputEdit){
	        .start_byte = head,
	        .old_end_byte = from->length - tail,
	        .new_end_byte = to->length - tail,
	        .start_point = point_at(from, head),
	        .old_end_point = point_at(from, from->length - tail),
	        .new_end_point = point_at(to, to->length - tail),
	};
}

static TSTree *parse(const struct source *source, struct front_syntax *known)
{
	TSTree *old, *parsed;
	TSInputEdit edit;

	if (!known)
		return parse_text(source, NULL);
	if (!known->tree)
		known->tree = parse_text(known->source, NULL);
	old = ts_tree_copy(known->tree);
	if (known->source == source)
		return old;
	edit = difference(known->source, source);
	ts_tree_edit(old, &edit);
	parsed = parse_text(source, old);
	ts_tree_delete(old);
	return parsed;
}

void front_syntax_release(struct front_syntax *syntax)
{
	if (syntax->tree)
		ts_tree_delete(syntax->tree);
	syntax->tree = NULL;
}

void py_tree_parse(struct py_tree *tree, struct arena *scratch, struct front_result *result,
                   const struct source *source, struct front_syntax *known)
{
	TSTree *parsed = parse(source, known);
	struct reader reader = {
	        .arena = result->module->arena,
	        .result = result,
	        .tree = tree,
	        .language = tree_sitter_python(),
	        .cursor = ts_tree_cursor_new(ts_tree_root_node(parsed)),
	};

	bool had_error;

	tree->source = source;
	reader_tables(&reader, scratch);
	reader_walk(&reader, scratch);
	had_error = ts_node_has_error(ts_tree_root_node(parsed));
	ts_tree_cursor_delete(&reader.cursor);
	ts_tree_delete(parsed);
	tree->nodes = reader.nodes.at;
	tree->count = reader.nodes.count;
	tree->has_error = tree->has_error || had_error;
}

uint32_t py_field(const struct py_tree *tree, uint32_t node, enum py_field field)
{
	for (uint32_t c = py_first(tree, node); c; c = py_next(tree, node, c))
		if (tree->nodes[c].field == field)
			return c;
	return 0;
}

uint32_t py_child(const struct py_tree *tree, uint32_t node, enum py_kind kind)
{
	for (uint32_t c = py_first(tree, node); c; c = py_next(tree, node, c))
		if (py_kind(tree, c) == kind)
			return c;
	return 0;
}

uint32_t py_child_count(const struct py_tree *tree, uint32_t node)
{
	uint32_t count = 0;

	for (uint32_t c = py_first(tree, node); c; c = py_next(tree, node, c))
		count++;
	return count;
}

uint32_t py_unwrap(const struct py_tree *tree, uint32_t node)
{
	while (py_kind(tree, node) == PY_parenthesized_expression &&
	       !py_has(tree, node, PY_HAS_ERROR) && py_first(tree, node))
		node = py_first(tree, node);
	return node;
}

const char *py_text(const struct py_tree *tree, uint32_t node, size_t *length)
{
	struct span span = tree->nodes[node].span;

	*length = span.end - span.start;
	return tree->source->text + span.start;
}

void py_tree_dump(const struct py_tree *tree, struct text *out)
{
	struct arena scratch = {0};
	VEC(uint32_t) ends = {0}; /* of the subtrees around the node */

	for (uint32_t n = 0; n < tree->count; n++) {
		const struct py_node *node = &tree->nodes[n];
		while (ends.count && ends.at[ends.count - 1] <= n)
			ends.count--;
		text_add_repeated(out, ' ',
		                  ends.count < INDENT_MAX ? ends.count * 2 : INDENT_MAX * 2);
		if (node->field)
			text_print(out, "%s: ", field_names[node->field]);
		text_print(out, "%s %u..%u\n", node->kind ? node_names[node->kind].text : "?",
		           node->span.start, node->span.end);
		vec_push(&scratch, &ends, node->next);
	}
	arena_release(&scratch);
}
