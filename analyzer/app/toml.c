#include "analyzer/app/toml.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <tree_sitter/api.h>

#include "analyzer/base/text.h"

enum { TOML_DEPTH = 64, TOML_BYTES = 16 << 20 };

const TSLanguage *tree_sitter_toml(void);

struct reader {
	struct arena *arena;
	const char *bytes;
	struct toml_error *error; /* .message NULL: none so far */
};

static uint32_t line_of(TSNode node)
{
	return ts_node_start_point(node).row + 1;
}

static bool is_node(TSNode node, const char *type)
{
	return !strcmp(ts_node_type(node), type);
}

/* The first error stays. Always false, to be returned. */
static bool fail(struct reader *reader, TSNode node, const char *message)
{
	if (!reader->error->message) {
		reader->error->line = line_of(node);
		reader->error->message = message;
	}
	return false;
}

typedef VEC(TSNode) node_list;

/* Its named children; asking for them by number takes longer with each. */
static node_list children_of(const struct reader *reader, TSNode node)
{
	TSTreeCursor cursor = ts_tree_cursor_new(node);
	node_list children = {0};

	for (bool more = ts_tree_cursor_goto_first_child(&cursor); more;
	     more = ts_tree_cursor_goto_next_sibling(&cursor)) {
		TSNode child = ts_tree_cursor_current_node(&cursor);

		if (ts_node_is_named(child))
			vec_push(reader->arena, &children, child);
	}
	ts_tree_cursor_delete(&cursor);
	return children;
}

static const char *node_text(const struct reader *reader, TSNode node)
{
	uint32_t start = ts_node_start_byte(node);

	return arena_text(reader->arena, reader->bytes + start, ts_node_end_byte(node) - start);
}

static struct toml_value *value_new(struct arena *arena, enum toml_kind kind, uint32_t line)
{
	struct toml_value *value = arena_new(arena, struct toml_value);

	value->kind = kind;
	value->line = line;
	value->text = "";
	return value;
}

const struct toml_value *toml_find(const struct toml_value *table, const char *key)
{
	const struct name_entry *entry =
	        table && table->kind == TOML_TABLE ? name_table_find(&table->places, key) : NULL;

	return entry ? table->items.at[entry->value] : NULL;
}

const char *toml_kind_name(enum toml_kind kind)
{
	static const char *const names[] = {
	        [TOML_STRING] = "a string", [TOML_INTEGER] = "an integer",
	        [TOML_FLOAT] = "a float",   [TOML_BOOLEAN] = "a boolean",
	        [TOML_DATE] = "a date",     [TOML_ARRAY] = "an array",
	        [TOML_TABLE] = "a table",
	};

	return names[kind];
}

/* strings */

static void add_escape(struct text *out, const char *escape, uint32_t length)
{
	static const char letters[] = "btnfr\"\\";
	static const char meanings[] = "\b\t\n\f\r\"\\";
	const char *letter = strchr(letters, escape[1]);

	if (letter && *letter)
		text_add_char(out, meanings[letter - letters]);
	else if (length > 2 && (escape[1] == 'u' || escape[1] == 'U'))
		text_add_code_point(out, (uint32_t)strtoul(escape + 2, NULL, 16));
}

/* A backslash at a line's end drops the white space that follows it. */
static uint32_t after_line_ending(const char *bytes, uint32_t at, uint32_t end)
{
	while (at < end && strchr(" \t\r\n", bytes[at]) && bytes[at])
		at++;
	return at;
}

static void add_basic_string(const struct reader *reader, TSNode node, uint32_t at, uint32_t end,
                             struct text *out)
{
	const node_list children = children_of(reader, node);

	for (uint32_t i = 0; i < children.count; i++) {
		TSNode escape = children.at[i];
		uint32_t start = ts_node_start_byte(escape);
		uint32_t stop = ts_node_end_byte(escape);

		if (!is_node(escape, "escape_sequence") || start < at)
			continue;
		text_add(out, reader->bytes + at, start - at);
		add_escape(out, node_text(reader, escape), stop - start);
		at = strchr("\r\n", reader->bytes[start + 1])
		             ? after_line_ending(reader->bytes, stop, end)
		             : stop;
	}
	if (at < end)
		text_add(out, reader->bytes + at, end - at);
}

static const char *read_string(const struct reader *reader, TSNode node)
{
	uint32_t start = ts_node_start_byte(node);
	uint32_t end = ts_node_end_byte(node);
	char quote = reader->bytes[start];
	struct text out = {.arena = reader->arena};
	uint32_t quotes = 1;

	if (end - start >= 6 && reader->bytes[start + 1] == quote &&
	    reader->bytes[start + 2] == quote)
		quotes = 3;
	start += quotes;
	end -= quotes;
	if (quotes == 3 && start < end && reader->bytes[start] == '\r')
		start++;
	if (quotes == 3 && start < end && reader->bytes[start] == '\n')
		start++;
	if (quote == '"')
		add_basic_string(reader, node, start, end, &out);
	else
		text_add(&out, reader->bytes + start, end - start);
	return arena_text(reader->arena, text_chars(&out), out.length);
}

/* keys */

typedef VEC(const char *) key_path;

/* A dotted key nests to the left, as deep as it has dots. */
static bool read_key(struct reader *reader, TSNode node, key_path *path)
{
	TSNode part[TOML_DEPTH];
	uint32_t count = 0;

	while (is_node(node, "dotted_key")) {
		if (count == TOML_DEPTH - 1)
			return fail(reader, node, "the key is nested too deeply");
		part[count++] = ts_node_named_child(node, ts_node_named_child_count(node) - 1);
		node = ts_node_named_child(node, 0);
	}
	part[count++] = node;
	while (count--) {
		bool quoted = is_node(part[count], "quoted_key");

		vec_push(reader->arena, path,
		         quoted ? read_string(reader, part[count])
		                : node_text(reader, part[count]));
	}
	return true;
}

static struct toml_value *table_at(struct toml_value *table, const char *key)
{
	return (struct toml_value *)toml_find(table, key);
}

static void table_add(struct reader *reader, struct toml_value *table, const char *key,
                      struct toml_value *value)
{
	bool is_new;

	value->key = key;
	table->places.arena = reader->arena;
	name_table_put(&table->places, key, &is_new)->value = table->items.count;
	vec_push(reader->arena, &table->items, value);
}

static bool fail_twice(struct reader *reader, TSNode node, const char *key)
{
	struct text message = {.arena = reader->arena};

	text_print(&message, "`%s` is set twice", key);
	return fail(reader, node, message.at);
}

/* The table `key` of `table`, made if need be; the newest of an array of tables. */
static struct toml_value *open_table(struct reader *reader, TSNode node, struct toml_value *table,
                                     const char *key)
{
	struct toml_value *inner = table_at(table, key);

	if (!inner) {
		inner = value_new(reader->arena, TOML_TABLE, line_of(node));
		table_add(reader, table, key, inner);
	}
	if (inner->kind == TOML_ARRAY && !inner->closed && inner->items.count)
		inner = inner->items.at[inner->items.count - 1];
	if (inner->kind == TOML_TABLE && !inner->closed)
		return inner;
	fail_twice(reader, node, key);
	return NULL;
}

static struct toml_value *open_path(struct reader *reader, TSNode node, struct toml_value *table,
                                    const key_path *path)
{
	for (uint32_t i = 0; table && i + 1 < path->count; i++)
		table = open_table(reader, node, table, path->at[i]);
	return table;
}

/* values */

static struct toml_value *read_value(struct reader *reader, TSNode node, unsigned depth);

static bool read_pair(struct reader *reader, TSNode pair, struct toml_value *table, unsigned depth)
{
	key_path path = {0};
	struct toml_value *value;
	const char *last;

	if (ts_node_named_child_count(pair) < 2 ||
	    !read_key(reader, ts_node_named_child(pair, 0), &path))
		return fail(reader, pair, "a key needs a value");
	last = path.at[path.count - 1];
	table = open_path(reader, pair, table, &path);
	if (!table)
		return false;
	if (table_at(table, last))
		return fail_twice(reader, pair, last);
	value = read_value(reader, ts_node_named_child(pair, 1), depth);
	if (!value)
		return false;
	value->line = line_of(pair);
	table_add(reader, table, last, value);
	return true;
}

static struct toml_value *read_inline_table(struct reader *reader, TSNode node, unsigned depth)
{
	struct toml_value *table = value_new(reader->arena, TOML_TABLE, line_of(node));
	const node_list children = children_of(reader, node);

	for (uint32_t i = 0; i < children.count; i++) {
		TSNode child = children.at[i];

		if (is_node(child, "pair") && !read_pair(reader, child, table, depth + 1))
			return NULL;
	}
	table->closed = true;
	return table;
}

static struct toml_value *read_array(struct reader *reader, TSNode node, unsigned depth)
{
	struct toml_value *array = value_new(reader->arena, TOML_ARRAY, line_of(node));
	const node_list children = children_of(reader, node);

	array->closed = true;
	for (uint32_t i = 0; i < children.count; i++) {
		TSNode child = children.at[i];
		struct toml_value *value;

		if (is_node(child, "comment"))
			continue;
		value = read_value(reader, child, depth + 1);
		if (!value)
			return NULL;
		vec_push(reader->arena, &array->items, value);
	}
	return array;
}

static bool parse_integer(const char *written, int64_t *value)
{
	char digits[32];
	size_t length = 0;
	int base = 10;
	char *end;

	for (; *written && length < sizeof(digits) - 1; written++) {
		if (*written != '_')
			digits[length++] = *written;
	}
	digits[length] = '\0';
	if (digits[0] == '0' && digits[1])
		base = digits[1] == 'x' ? 16 : digits[1] == 'o' ? 8 : 2;
	errno = 0;
	*value = strtoll(digits + (base == 10 ? 0 : 2), &end, base);
	return !*written && !*end && !errno;
}

static struct toml_value *read_scalar(struct reader *reader, TSNode node)
{
	struct toml_value *value = value_new(reader->arena, TOML_DATE, line_of(node));

	value->text = node_text(reader, node);
	if (is_node(node, "string")) {
		value->kind = TOML_STRING;
		value->text = read_string(reader, node);
	} else if (is_node(node, "boolean")) {
		value->kind = TOML_BOOLEAN;
		value->boolean = value->text[0] == 't';
	} else if (is_node(node, "float")) {
		value->kind = TOML_FLOAT;
	} else if (is_node(node, "integer")) {
		value->kind = TOML_INTEGER;
		if (!parse_integer(value->text, &value->integer)) {
			fail(reader, node, "the integer does not fit into 64 bits");
			return NULL;
		}
	}
	return value;
}

static struct toml_value *read_value(struct reader *reader, TSNode node, unsigned depth)
{
	if (depth > TOML_DEPTH) {
		fail(reader, node, "the value is nested too deeply");
		return NULL;
	}
	if (is_node(node, "array"))
		return read_array(reader, node, depth);
	if (is_node(node, "inline_table"))
		return read_inline_table(reader, node, depth);
	return read_scalar(reader, node);
}

/* the document */

/* `[a.b]` names a table once, but may follow `[a.b.c]`. */
static struct toml_value *enter_header(struct reader *reader, TSNode node, struct toml_value *root)
{
	bool is_array = is_node(node, "table_array_element");
	key_path path = {0};
	struct toml_value *table, *last;
	const char *key;

	if (!read_key(reader, ts_node_named_child(node, 0), &path))
		return NULL;
	key = path.at[path.count - 1];
	table = open_path(reader, node, root, &path);
	if (!table)
		return NULL;
	if (!is_array) {
		table = open_table(reader, node, table, key);
		if (table && table->headed)
			fail_twice(reader, node, key);
		if (!table || table->headed)
			return NULL;
		table->headed = true;
		return table;
	}
	last = table_at(table, key);
	if (!last) {
		last = value_new(reader->arena, TOML_ARRAY, line_of(node));
		table_add(reader, table, key, last);
	}
	if (last->kind != TOML_ARRAY || last->closed) {
		fail_twice(reader, node, key);
		return NULL;
	}
	table = value_new(reader->arena, TOML_TABLE, line_of(node));
	vec_push(reader->arena, &last->items, table);
	return table;
}

static bool read_section(struct reader *reader, TSNode node, struct toml_value *root)
{
	struct toml_value *table = enter_header(reader, node, root);
	const node_list children = children_of(reader, node);

	for (uint32_t i = 1; table && i < children.count; i++) {
		TSNode child = children.at[i];

		if (is_node(child, "pair") && !read_pair(reader, child, table, 0))
			return false;
	}
	return table != NULL;
}

static bool read_document(struct reader *reader, TSNode root, struct toml_value *table)
{
	TSTreeCursor cursor = ts_tree_cursor_new(root);
	bool ok = true;

	for (bool more = ts_tree_cursor_goto_first_child(&cursor); ok && more;
	     more = ts_tree_cursor_goto_next_sibling(&cursor)) {
		TSNode child = ts_tree_cursor_current_node(&cursor);

		if (is_node(child, "pair"))
			ok = read_pair(reader, child, table, 0);
		else if (is_node(child, "table") || is_node(child, "table_array_element"))
			ok = read_section(reader, child, table);
	}
	ts_tree_cursor_delete(&cursor);
	return ok;
}

/* The first broken node in the order of the text. */
static TSNode find_error(TSNode root)
{
	TSTreeCursor cursor = ts_tree_cursor_new(root);
	TSNode node = root;

	for (;;) {
		node = ts_tree_cursor_current_node(&cursor);
		if (ts_node_is_error(node) || ts_node_is_missing(node))
			break;
		if (ts_node_has_error(node) && ts_tree_cursor_goto_first_child(&cursor))
			continue;
		if (!ts_tree_cursor_goto_next_sibling(&cursor))
			break;
	}
	ts_tree_cursor_delete(&cursor);
	return node;
}

static const struct toml_value *read_tree(struct reader *reader, TSTree *tree)
{
	TSNode root = ts_tree_root_node(tree);
	struct toml_value *table = value_new(reader->arena, TOML_TABLE, 1);

	if (ts_node_has_error(root)) {
		fail(reader, find_error(root), "this is not TOML");
		return NULL;
	}
	return read_document(reader, root, table) ? table : NULL;
}

const struct toml_value *toml_parse(struct arena *arena, const char *bytes, size_t length,
                                    struct toml_error *error)
{
	struct reader reader = {arena, bytes, error};
	const struct toml_value *table = NULL;
	TSParser *parser;
	TSTree *tree;

	*error = (struct toml_error){0};
	if (length > TOML_BYTES) {
		*error = (struct toml_error){1, "the file is too large"};
		return NULL;
	}
	parser = ts_parser_new();
	BUG_IF(!ts_parser_set_language(parser, tree_sitter_toml()));
	tree = ts_parser_parse_string(parser, NULL, bytes, (uint32_t)length);
	table = read_tree(&reader, tree);
	ts_tree_delete(tree);
	ts_parser_delete(parser);
	return table;
}
