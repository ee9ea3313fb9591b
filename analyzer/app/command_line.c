#include "analyzer/app/command_line.h"

#include <string.h>

#include "analyzer/base/files.h"

enum { ARGUMENT_FILE_DEPTH = 8 };

struct parsing {
	struct arena *arena;
	struct command_line *line;
	struct text *complaint;
	text_list arguments;
	uint32_t next;
};

/* argument files */

static bool add_argument(struct parsing *parsing, const char *argument, unsigned depth);

static bool add_argument_file(struct parsing *parsing, const char *path, unsigned depth)
{
	struct file_text file;
	bool ok = true;

	if (depth == ARGUMENT_FILE_DEPTH) {
		text_print(parsing->complaint, "@%s: argument files name each other", path);
		return false;
	}
	if (!file_read(parsing->arena, path, &file)) {
		text_print(parsing->complaint, "@%s: %s", path, file.problem);
		return false;
	}
	for (const char *at = file.bytes; ok && *at;) {
		size_t length = strcspn(at, "\r\n");

		if (length)
			ok = add_argument(parsing, arena_text(parsing->arena, at, length),
			                  depth + 1);
		at += length;
		at += strspn(at, "\r\n");
	}
	return ok;
}

static bool add_argument(struct parsing *parsing, const char *argument, unsigned depth)
{
	if (argument[0] == '@' && argument[1])
		return add_argument_file(parsing, argument + 1, depth);
	vec_push(parsing->arena, &parsing->arguments, argument);
	return true;
}

/* options */

static struct option_value *value_of(struct parsing *parsing, enum option_id id)
{
	struct option_value *value = &parsing->line->given[id];

	if (value->origin == ORIGIN_DEFAULT) {
		*value = (struct option_value){.origin = ORIGIN_LINE};
	}
	return value;
}

static bool read_operand(struct parsing *parsing, enum option_id id, const char *shown,
                         const char *written)
{
	struct text why = {.arena = parsing->arena};

	if (option_read(parsing->arena, &options[id], written, value_of(parsing, id), &why))
		return true;
	text_print(parsing->complaint, "%s %s", shown, text_chars(&why));
	return false;
}

/* The operand that follows as an argument of its own. */
static bool read_next(struct parsing *parsing, enum option_id id, const char *shown)
{
	if (parsing->next == parsing->arguments.count) {
		text_print(parsing->complaint, "%s needs a value: %s", shown, options[id].operand);
		return false;
	}
	return read_operand(parsing, id, shown, parsing->arguments.at[parsing->next++]);
}

static bool complain_unknown(struct parsing *parsing, const char *name, size_t length)
{
	struct suggestion suggestion = {.name = arena_text(parsing->arena, name, length)};
	enum command_id command = parsing->line->command;
	enum option_id key;

	for (int i = 0; i < OPTION_COUNT; i++) {
		if (options[i].places & PLACE_LINE && options[i].commands & 1u << command)
			suggestion_offer(&suggestion, options[i].name);
	}
	text_print(parsing->complaint, "`graphlint %s` has no option `--%s`",
	           commands[command].name, suggestion.name);
	key = option_find_key(suggestion.name);
	if (key != OPTION_COUNT && !(options[key].places & PLACE_LINE)) {
		text_add_chars(parsing->complaint, ": it stands in the configuration file");
		return false;
	}
	suggestion_print(&suggestion, "--", parsing->complaint);
	return false;
}

/* `--no-fix` for `--fix`, `--cache` for `--no-cache`: what the configuration
 * file can switch on, the command line can switch off. */
static enum option_id find_negated(enum command_id command, const char *name, size_t length)
{
	enum option_id id = OPTION_COUNT;
	char longer[64] = "no-";

	if (length > 3 && !memcmp(name, "no-", 3)) {
		id = option_find(command, name + 3, length - 3);
	} else if (length < sizeof(longer) - 3) {
		memcpy(longer + 3, name, length);
		id = option_find(command, longer, length + 3);
	}
	if (id != OPTION_COUNT && options[id].kind == OPTION_FLAG && options[id].places & PLACE_KEY)
		return id;
	return OPTION_COUNT;
}

static bool read_long(struct parsing *parsing, const char *argument)
{
	enum command_id command = parsing->line->command;
	const char *name = argument + 2;
	size_t length = strcspn(name, "=");
	enum option_id id = option_find(command, name, length);
	bool negated = false;

	if (id == OPTION_COUNT) {
		id = find_negated(command, name, length);
		negated = true;
	}
	if (id == OPTION_COUNT)
		return complain_unknown(parsing, name, length);
	if (option_takes_operand(&options[id])) {
		if (name[length])
			return read_operand(parsing, id,
			                    arena_text(parsing->arena, argument, length + 2),
			                    name + length + 1);
		return read_next(parsing, id, argument);
	}
	if (name[length]) {
		text_print(parsing->complaint, "--%s takes no value", options[id].name);
		return false;
	}
	value_of(parsing, id)->flag = !negated;
	return true;
}

static bool read_letters(struct parsing *parsing, const char *argument)
{
	for (const char *at = argument + 1; *at; at++) {
		enum option_id id = option_find_letter(parsing->line->command, *at);
		char shown[3] = {'-', *at, '\0'};

		if (id == OPTION_COUNT) {
			text_print(parsing->complaint, "`graphlint %s` has no option `%s`",
			           commands[parsing->line->command].name, argument);
			return false;
		}
		if (option_takes_operand(&options[id])) {
			if (!at[1])
				return read_next(parsing, id, shown);
			return read_operand(parsing, id, shown, at + 1 + (at[1] == '='));
		}
		value_of(parsing, id)->flag = true;
	}
	return true;
}

static bool read_arguments(struct parsing *parsing)
{
	bool options_end = false;

	while (parsing->next < parsing->arguments.count) {
		const char *argument = parsing->arguments.at[parsing->next++];
		bool ok = true;

		if (options_end || argument[0] != '-' || !argument[1])
			vec_push(parsing->arena, &parsing->line->operands, argument);
		else if (argument[1] != '-')
			ok = read_letters(parsing, argument);
		else if (!argument[2])
			options_end = true;
		else
			ok = read_long(parsing, argument);
		if (!ok)
			return false;
	}
	return true;
}

bool command_line_read(struct arena *arena, int count, char **arguments, struct command_line *line,
                       struct text *complaint)
{
	struct parsing parsing = {.arena = arena, .line = line, .complaint = complaint};
	enum command_id command;

	*line = (struct command_line){.command = COMMAND_check};
	for (int i = 1; i < count; i++) {
		if (!add_argument(&parsing, arguments[i], 0))
			return false;
	}
	command = parsing.arguments.count ? command_find(parsing.arguments.at[0]) : COMMAND_COUNT;
	if (command != COMMAND_COUNT) {
		line->command = command;
		parsing.next = 1;
	}
	return read_arguments(&parsing);
}

/* Lists that add up over the file and the command line. */
static bool adds_up(enum option_id id)
{
	return id == OPTION_extend_exclude || id == OPTION_extend_select;
}

static void apply_value(struct arena *arena, const struct command_line *line, enum option_id id,
                        struct option_value *into)
{
	text_list before = into->list;

	*into = line->given[id];
	if (!adds_up(id))
		return;
	for (uint32_t i = 0; i < into->list.count; i++)
		vec_push(arena, &before, into->list.at[i]);
	into->list = before;
}

static selector_list selectors_of(const struct command_line *line, enum option_id id)
{
	const text_list *list = &line->given[id].list;

	return (selector_list){list->at, list->count, list->capacity};
}

void command_line_apply(struct arena *arena, const struct command_line *line,
                        struct settings *settings)
{
	struct selection_layer layer = {
	        .selects = command_line_has(line, OPTION_select),
	        .select = selectors_of(line, OPTION_select),
	        .extend = selectors_of(line, OPTION_extend_select),
	        .ignore = selectors_of(line, OPTION_ignore),
	};

	for (int i = 0; i < OPTION_COUNT; i++) {
		if (command_line_has(line, (enum option_id)i))
			apply_value(arena, line, (enum option_id)i, &settings->of[i]);
	}
	vec_push(arena, &settings->selection.layers, layer);
}

bool command_line_has_operand(const struct command_line *line, const char *operand)
{
	for (uint32_t i = 0; i < line->operands.count; i++)
		if (!strcmp(line->operands.at[i], operand))
			return true;
	return false;
}
