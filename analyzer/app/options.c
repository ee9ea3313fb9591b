#include "analyzer/app/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const struct command commands[COMMAND_COUNT] = {
#define COMMAND(id, operands, help) {#id, operands, help},
#include "analyzer/app/commands.def"
#undef COMMAND
};

/* The words of options.def. */
enum {
	CHECK = 1 << COMMAND_check,
	REPLAY = 1 << COMMAND_replay,
	MEMORY = 1 << COMMAND_memory,
	EXPLAIN = 1 << COMMAND_explain,
	RULES = 1 << COMMAND_rules,
	CACHE = 1 << COMMAND_cache,
	MERGE = 1 << COMMAND_merge,
	ANY = (1 << COMMAND_COUNT) - 1,
};

enum { LINE = PLACE_LINE, KEY = PLACE_KEY, BOTH = PLACE_LINE | PLACE_KEY };

enum {
	FLAG = OPTION_FLAG,
	CHOICE = OPTION_CHOICE,
	TEXT = OPTION_TEXT,
	PATH = OPTION_PATH,
	LIST = OPTION_LIST,
	COUNT = OPTION_COUNT_OF,
	SIZE = OPTION_SIZE,
	TABLE = OPTION_TABLE,
};

const struct option options[OPTION_COUNT] = {
#define GROUP(heading)
#define OPTION(id, letter, name, kind, places, takers, operand, fallback, help)                    \
	[OPTION_##id] = {name,     letter, (enum option_kind)kind, places, takers, operand,        \
	                 fallback, help},
#include "analyzer/app/options.def"
#undef OPTION
#undef GROUP
};

static bool is_taken(const struct option *option, enum command_id command)
{
	return option->places & PLACE_LINE && option->commands & 1u << command;
}

enum option_id option_find(enum command_id command, const char *name, size_t length)
{
	for (int i = 0; i < OPTION_COUNT; i++) {
		if (is_taken(&options[i], command) && strlen(options[i].name) == length &&
		    !memcmp(options[i].name, name, length))
			return (enum option_id)i;
	}
	return OPTION_COUNT;
}

enum option_id option_find_letter(enum command_id command, char letter)
{
	for (int i = 0; i < OPTION_COUNT; i++) {
		if (is_taken(&options[i], command) && options[i].letter == letter)
			return (enum option_id)i;
	}
	return OPTION_COUNT;
}

enum option_id option_find_key(const char *key)
{
	for (int i = 0; i < OPTION_COUNT; i++) {
		if (options[i].places & PLACE_KEY && !strcmp(options[i].name, key))
			return (enum option_id)i;
	}
	return OPTION_COUNT;
}

enum command_id command_find(const char *name)
{
	for (int i = 0; i < COMMAND_COUNT; i++) {
		if (!strcmp(commands[i].name, name))
			return (enum command_id)i;
	}
	return COMMAND_COUNT;
}

/* values */

static bool read_choice(const struct option *option, const char *written,
                        struct option_value *value, struct text *complaint)
{
	struct suggestion suggestion = {.name = written};
	uint64_t place = 0;
	char name[32];

	for (const char *at = option->operand; *at; place++) {
		size_t length = strcspn(at, "|");

		BUG_IF(length >= sizeof(name));
		memcpy(name, at, length);
		name[length] = '\0';
		if (!strcmp(name, written)) {
			value->number = place;
			return true;
		}
		suggestion_offer(&suggestion, arena_text(complaint->arena, name, length));
		at += length + (at[length] == '|');
	}
	text_print(complaint, "must be one of %s, not `%s`", option->operand, written);
	suggestion_print(&suggestion, "", complaint);
	return false;
}

static bool read_count(const char *written, uint64_t *number)
{
	char *end;

	if (*written < '0' || *written > '9')
		return false;
	errno = 0;
	*number = strtoull(written, &end, 10);
	return !*end && !errno && *number <= UINT32_MAX;
}

static bool read_unit(const char *unit, uint64_t *factor)
{
	static const struct {
		const char *name;
		uint64_t factor;
	} units[] = {
	        {"", 1},
	        {"B", 1},
	        {"KiB", 1ull << 10},
	        {"MiB", 1ull << 20},
	        {"GiB", 1ull << 30},
	        {"TiB", 1ull << 40},
	        {"K", 1ull << 10},
	        {"M", 1ull << 20},
	        {"G", 1ull << 30},
	        {"T", 1ull << 40},
	        {"kB", 1000},
	        {"MB", 1000000},
	        {"GB", 1000000000},
	        {"TB", 1000000000000},
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (!strcasecmp(units[i].name, unit)) {
			*factor = units[i].factor;
			return true;
		}
	}
	return false;
}

bool read_size(const char *written, uint64_t *bytes)
{
	uint64_t factor;
	double value;
	char *end;

	if (*written < '0' || *written > '9' || strncasecmp(written, "0x", 2) == 0)
		return false;
	value = strtod(written, &end);
	while (*end == ' ')
		end++;
	if (!read_unit(end, &factor) || !(value * (double)factor < 1e18))
		return false;
	*bytes = (uint64_t)(value * (double)factor);
	return true;
}

static void read_list(struct arena *arena, const char *written, text_list *list)
{
	while (*written) {
		size_t length = strcspn(written, ",");
		const char *end = written + length;

		while (written < end && *written == ' ')
			written++;
		while (end > written && end[-1] == ' ')
			end--;
		if (end > written)
			vec_push(arena, list, arena_text(arena, written, (size_t)(end - written)));
		while (*end == ' ')
			end++;
		written = end + (*end == ',');
	}
}

bool option_read(struct arena *arena, const struct option *option, const char *written,
                 struct option_value *value, struct text *complaint)
{
	value->text = written;
	switch (option->kind) {
	case OPTION_FLAG:
		value->flag = true;
		return true;
	case OPTION_CHOICE:
		return read_choice(option, written, value, complaint);
	case OPTION_COUNT_OF:
		if (read_count(written, &value->number))
			return true;
		text_print(complaint, "must be a whole number up to %u, not `%s`", UINT32_MAX,
		           written);
		return false;
	case OPTION_SIZE:
		if (read_size(written, &value->number))
			return true;
		text_print(complaint, "must be a size such as 24GiB, not `%s`", written);
		return false;
	case OPTION_LIST:
		read_list(arena, written, &value->list);
		if (value->list.count)
			return true;
		text_add_chars(complaint, "must not be empty");
		return false;
	case OPTION_TEXT:
	case OPTION_PATH:
		if (*written)
			return true;
		text_add_chars(complaint, "must not be empty");
		return false;
	case OPTION_TABLE:
		break;
	}
	BUG("%s is not for the command line", option->name);
}
