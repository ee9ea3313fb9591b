#include "analyzer/app/config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/app/toml.h"
#include "analyzer/base/files.h"

enum { EXTEND_DEPTH = 16 };

struct loading {
	struct arena *arena;
	struct settings *settings;
	struct text *complaint;
	const char *path;
	const char *folder; /* of the file; "" or ends with a slash */
	unsigned depth;
};

static bool read_file(struct loading *loading);

/* Always false, to be returned. */
static bool complain(struct loading *loading, uint32_t line, const char *key, const char *what)
{
	text_print(loading->complaint, "%s:%u: `%s` %s", loading->path, line, key, what);
	return false;
}

static bool complain_kind(struct loading *loading, const struct toml_value *value, const char *key,
                          const char *wanted)
{
	text_print(loading->complaint, "%s:%u: `%s` must be %s, not %s", loading->path, value->line,
	           key, wanted, toml_kind_name(value->kind));
	return false;
}

static const char *beside(const struct loading *loading, const char *path)
{
	return path_join(loading->arena, loading->folder, path);
}

static bool is_pyproject(const char *path)
{
	const char *slash = strrchr(path, '/');

	return !strcmp(slash ? slash + 1 : path, "pyproject.toml");
}

/* values */

static bool read_strings(struct loading *loading, const struct toml_value *value, const char *key,
                         text_list *list)
{
	*list = (text_list){0};
	if (value->kind != TOML_ARRAY)
		return complain_kind(loading, value, key, "an array of strings");
	for (uint32_t i = 0; i < value->items.count; i++) {
		const struct toml_value *item = value->items.at[i];

		if (item->kind != TOML_STRING)
			return complain_kind(loading, item, key, "an array of strings");
		vec_push(loading->arena, list, item->text);
	}
	return true;
}

static bool read_written(struct loading *loading, const struct option *option,
                         const struct toml_value *value, struct option_value *into)
{
	struct text complaint = {.arena = loading->arena};
	const char *written = value->text;

	if (option->kind == OPTION_PATH && *written)
		written = beside(loading, written);
	if (option_read(loading->arena, option, written, into, &complaint))
		return true;
	return complain(loading, value->line, option->name, text_chars(&complaint));
}

static bool read_plain(struct loading *loading, const struct option *option,
                       const struct toml_value *value, struct option_value *into)
{
	switch (option->kind) {
	case OPTION_FLAG:
		into->flag = value->boolean;
		return value->kind == TOML_BOOLEAN ||
		       complain_kind(loading, value, option->name, "a boolean");
	case OPTION_COUNT_OF:
		if (value->kind != TOML_INTEGER)
			return complain_kind(loading, value, option->name, "an integer");
		return read_written(loading, option, value, into);
	case OPTION_SIZE:
		if (value->kind != TOML_STRING && value->kind != TOML_INTEGER)
			return complain_kind(loading, value, option->name,
			                     "a string or an integer");
		return read_written(loading, option, value, into);
	case OPTION_CHOICE:
	case OPTION_TEXT:
	case OPTION_PATH:
		if (value->kind != TOML_STRING)
			return complain_kind(loading, value, option->name, "a string");
		return read_written(loading, option, value, into);
	case OPTION_LIST:
		return read_strings(loading, value, option->name, &into->list);
	case OPTION_TABLE:
		break;
	}
	BUG("%s is a table", option->name);
}

/* tables */

static bool read_file_ignore(struct loading *loading, const struct toml_value *row)
{
	struct file_ignore ignore = {.folder = loading->folder,
	                             .pattern = row->key,
	                             .file = loading->path,
	                             .line = row->line};
	text_list codes;

	if (!read_strings(loading, row, row->key, &codes))
		return false;
	for (uint32_t i = 0; i < codes.count; i++)
		vec_push(loading->arena, &ignore.selectors, codes.at[i]);
	vec_push(loading->arena, &loading->settings->file_ignores, ignore);
	return true;
}

static bool read_severity(struct loading *loading, const struct toml_value *row)
{
	struct severity_change change = {
	        .selector = row->key, .file = loading->path, .line = row->line};
	struct text what = {.arena = loading->arena};

	if (row->kind != TOML_STRING)
		return complain_kind(loading, row, row->key, "a string");
	for (change.severity = SEVERITY_INFO; change.severity <= SEVERITY_ERROR;
	     change.severity++) {
		if (!strcmp(severity_name(change.severity), row->text)) {
			vec_push(loading->arena, &loading->settings->selection.severities, change);
			return true;
		}
	}
	text_print(&what, "must be \"error\", \"warning\" or \"info\", not `%s`", row->text);
	return complain(loading, row->line, row->key, text_chars(&what));
}

static bool read_effect(struct loading *loading, const struct toml_value *given, const char *effect)
{
	struct suggestion suggestion = {.name = effect};
	struct text what = {.arena = loading->arena};

	for (const struct model_effect *row = model_effects; row->name; row++) {
		if (!strcmp(row->name, effect)) {
			struct project_model model = {given->key, row->effect};

			vec_push(loading->arena, &loading->settings->models, model);
			return true;
		}
		suggestion_offer(&suggestion, row->name);
	}
	text_print(&what, "must be returns-graph, takes-graph, detaches or no-grad, not `%s`",
	           effect);
	suggestion_print(&suggestion, "", &what);
	return complain(loading, given->line, given->key, text_chars(&what));
}

static bool read_model(struct loading *loading, const struct toml_value *row)
{
	text_list effects;

	if (row->kind == TOML_STRING)
		return read_effect(loading, row, row->text);
	if (row->kind == TOML_TABLE)
		return complain(
		        loading, row->line, row->key,
		        "must be a name in quotes, dots and all, as in \"package.function\"");
	if (!read_strings(loading, row, row->key, &effects))
		return false;
	for (uint32_t i = 0; i < effects.count; i++) {
		if (!read_effect(loading, row, effects.at[i]))
			return false;
	}
	return true;
}

static bool read_table(struct loading *loading, enum option_id id, const struct toml_value *value)
{
	bool ok = true;

	if (value->kind != TOML_TABLE)
		return complain_kind(loading, value, options[id].name, "a table");
	for (uint32_t i = 0; ok && i < value->items.count; i++) {
		const struct toml_value *row = value->items.at[i];

		if (id == OPTION_per_file_ignores)
			ok = read_file_ignore(loading, row);
		else if (id == OPTION_severity)
			ok = read_severity(loading, row);
		else
			ok = read_model(loading, row);
	}
	return ok;
}

/* keys */

static bool is_line_option(const char *key)
{
	for (int i = 0; i < OPTION_COUNT; i++) {
		if (!(options[i].places & PLACE_KEY) && !strcmp(options[i].name, key))
			return true;
	}
	return false;
}

static bool complain_unknown(struct loading *loading, const struct toml_value *value)
{
	struct suggestion suggestion = {.name = value->key};
	struct text what = {.arena = loading->arena};

	for (int i = 0; i < OPTION_COUNT; i++) {
		if (options[i].places & PLACE_KEY)
			suggestion_offer(&suggestion, options[i].name);
	}
	if (is_line_option(value->key)) {
		return complain(loading, value->line, value->key, "is for the command line only");
	}
	text_add_chars(&what, "is no setting");
	suggestion_print(&suggestion, "", &what);
	if (!strcmp(value->key, "tool") && !is_pyproject(loading->path))
		text_add_chars(&what, ": in this file settings stand without [tool.graphlint]");
	return complain(loading, value->line, value->key, text_chars(&what));
}

static bool read_key(struct loading *loading, const struct toml_value *value)
{
	enum option_id id = option_find_key(value->key);
	struct option_value *into;

	if (id == OPTION_COUNT)
		return complain_unknown(loading, value);
	into = &loading->settings->of[id];
	into->origin = ORIGIN_FILE;
	into->file = loading->path;
	into->line = value->line;
	if (options[id].kind == OPTION_TABLE)
		return read_table(loading, id, value);
	return read_plain(loading, &options[id], value, into);
}

static selector_list selectors_of(const struct settings *settings, enum option_id id)
{
	const text_list *list = &settings->of[id].list;

	return (selector_list){list->at, list->count, list->capacity};
}

static void add_layer(struct loading *loading, const struct toml_value *table)
{
	struct settings *settings = loading->settings;
	struct selection_layer layer = {.selects = toml_find(table, "select") != NULL};

	if (layer.selects)
		layer.select = selectors_of(settings, OPTION_select);
	if (toml_find(table, "extend-select"))
		layer.extend = selectors_of(settings, OPTION_extend_select);
	if (toml_find(table, "ignore"))
		layer.ignore = selectors_of(settings, OPTION_ignore);
	vec_push(loading->arena, &settings->selection.layers, layer);
}

static bool read_base(struct loading *loading, const struct toml_value *extend)
{
	struct loading base = *loading;

	if (extend->kind != TOML_STRING)
		return complain_kind(loading, extend, "extend", "a string");
	if (!*extend->text)
		return complain(loading, extend->line, "extend", "must not be empty");
	if (loading->depth == EXTEND_DEPTH)
		return complain(loading, extend->line, "extend", "goes round in circles");
	base.path = beside(loading, extend->text);
	base.depth++;
	if (access(base.path, R_OK) != 0) {
		text_print(loading->complaint, "%s:%u: `extend`: cannot read %s: %s", loading->path,
		           extend->line, base.path, strerror(errno));
		return false;
	}
	return read_file(&base);
}

static bool read_settings(struct loading *loading, const struct toml_value *table)
{
	const struct toml_value *extend = toml_find(table, "extend");

	if (table->kind != TOML_TABLE)
		return complain_kind(loading, table, "tool.graphlint", "a table");
	if (extend && !read_base(loading, extend))
		return false;
	for (uint32_t i = 0; i < table->items.count; i++) {
		if (!read_key(loading, table->items.at[i]))
			return false;
	}
	add_layer(loading, table);
	return true;
}

/* files */

/* What a file says about us; NULL with an error message: it is no TOML. */
static const struct toml_value *settings_table(struct arena *arena, const char *path,
                                               const struct file_text *file,
                                               struct toml_error *error)
{
	const struct toml_value *root = toml_parse(arena, file->bytes, file->length, error);

	return is_pyproject(path) ? toml_find(toml_find(root, "tool"), "graphlint") : root;
}

static bool read_file(struct loading *loading)
{
	const char *slash = strrchr(loading->path, '/');
	size_t folder = slash ? (size_t)(slash + 1 - loading->path) : 0;
	struct toml_error error = {0};
	const struct toml_value *table;
	struct file_text file;

	loading->folder = arena_text(loading->arena, loading->path, folder);
	vec_push(loading->arena, &loading->settings->config_files, loading->path);
	if (!file_read(loading->arena, loading->path, &file)) {
		text_print(loading->complaint, "cannot read %s: %s", loading->path, file.problem);
		return false;
	}
	table = settings_table(loading->arena, loading->path, &file, &error);
	if (error.message) {
		text_print(loading->complaint, "%s:%u: %s", loading->path, error.line,
		           error.message);
		return false;
	}
	return !table || read_settings(loading, table);
}

bool config_read(struct arena *arena, const char *path, struct settings *settings,
                 struct text *complaint)
{
	struct loading loading = {
	        .arena = arena, .settings = settings, .complaint = complaint, .path = path};

	settings->config_path = path;
	return read_file(&loading);
}

/* A pyproject.toml counts when it mentions us; one that is no TOML does not,
 * so that another tool's broken file does not stop us. */
static bool is_configuration(struct arena *arena, const char *path)
{
	struct toml_error error;
	struct file_text file;

	if (access(path, F_OK) != 0)
		return false;
	if (!is_pyproject(path))
		return true;
	return file_read(arena, path, &file) && memmem(file.bytes, file.length, "graphlint", 9) &&
	       (settings_table(arena, path, &file, &error) || error.message);
}

const char *const config_names[] = {".graphlint.toml", "graphlint.toml", "pyproject.toml", NULL};

static const char *config_in(struct arena *arena, const char *folder)
{
	for (size_t i = 0; config_names[i]; i++) {
		const char *path = path_join(arena, folder, config_names[i]);

		if (is_configuration(arena, path))
			return path;
	}
	return NULL;
}

/* Upward by the real path, so that links and ".." lead where the files are;
 * what is found in the folder itself keeps its short name. */
const char *config_find(struct arena *arena, const char *folder)
{
	const char *found = config_in(arena, folder);
	char *real = found ? NULL : realpath(*folder ? folder : ".", NULL);
	char *slash;

	while (!found && real && (slash = strrchr(real, '/'))) {
		*slash = '\0';
		found = config_in(arena, *real ? real : "/");
	}
	free(real);
	return found ? path_shorten(arena, found) : NULL;
}
