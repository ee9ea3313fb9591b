#ifndef GRAPHLINT_APP_OPTIONS_H
#define GRAPHLINT_APP_OPTIONS_H

/* The options and configuration keys of options.def and the commands of
 * commands.def as tables, and how a written value is read. Values live in the
 * caller's arena. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/base/arena.h"
#include "analyzer/base/bug.h"
#include "analyzer/base/text.h"
#include "analyzer/base/vec.h"

enum command_id {
#define COMMAND(id, operands, help) COMMAND_##id,
#include "analyzer/app/commands.def"
#undef COMMAND
	COMMAND_COUNT
};

struct command {
	const char *name;
	const char *operands;
	const char *help;
};

extern const struct command commands[COMMAND_COUNT];

enum option_id {
#define GROUP(heading)
#define OPTION(id, ...) OPTION_##id,
#include "analyzer/app/options.def"
#undef OPTION
#undef GROUP
	OPTION_COUNT
};

enum option_kind {
	OPTION_FLAG,
	OPTION_CHOICE,
	OPTION_TEXT,
	OPTION_PATH,
	OPTION_LIST,
	OPTION_COUNT_OF,
	OPTION_SIZE,
	OPTION_TABLE,
};

enum option_places { PLACE_LINE = 1, PLACE_KEY = 2 };

struct option {
	const char *name;
	char letter; /* 0: none */
	enum option_kind kind;
	unsigned places;
	unsigned commands;   /* bits 1 << command_id */
	const char *operand; /* of a choice: "a|b|c" */
	const char *fallback;
	const char *help;
};

extern const struct option options[OPTION_COUNT];

enum option_origin { ORIGIN_DEFAULT, ORIGIN_FILE, ORIGIN_LINE };

typedef VEC(const char *) text_list;

/* Of an option: what holds for it, and who said so. */
struct option_value {
	enum option_origin origin;
	const char *file; /* ORIGIN_FILE */
	uint32_t line;
	bool flag;
	uint64_t number; /* a count, a size, a choice's place from 0 */
	const char *text;
	text_list list;
};

static inline bool option_takes_operand(const struct option *option)
{
	return option->kind != OPTION_FLAG;
}

/* By its long name among those that `command` takes; OPTION_COUNT: none. */
enum option_id option_find(enum command_id command, const char *name, size_t length);
enum option_id option_find_letter(enum command_id command, char letter);
enum option_id option_find_key(const char *key);
/* COMMAND_COUNT: none. */
enum command_id command_find(const char *name);

/* Reads what the user wrote. On failure `complaint` gets a sentence without
 * the option's name. A list is added to. */
GL_MUST_USE bool option_read(struct arena *arena, const struct option *option, const char *written,
                             struct option_value *value, struct text *complaint);
/* "24GiB", "512 MB", "1000"; false when it is no size. */
GL_MUST_USE bool read_size(const char *written, uint64_t *bytes);

/* What the name probably meant: the closest one, or NULL. */
struct suggestion {
	const char *name;
	const char *closest;
	unsigned distance;
};

void suggestion_offer(struct suggestion *suggestion, const char *candidate);
/* Adds "; did you mean X?" when there is something close enough. */
void suggestion_print(const struct suggestion *suggestion, const char *prefix, struct text *out);

#endif
