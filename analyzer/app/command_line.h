#ifndef GRAPHLINT_APP_COMMAND_LINE_H
#define GRAPHLINT_APP_COMMAND_LINE_H

/* The command line as it was written, before any configuration: the command,
 * its operands and the options that were given. An operand `@FILE` stands for
 * the lines of that file. */

#include "analyzer/app/settings.h"

struct command_line {
	enum command_id command;
	text_list operands;
	struct option_value given[OPTION_COUNT]; /* origin ORIGIN_LINE: was given */
};

/* False: `complaint` says what is wrong. */
GL_MUST_USE bool command_line_read(struct arena *arena, int count, char **arguments,
                                   struct command_line *line, struct text *complaint);
/* Lays what was given over the settings. */
void command_line_apply(struct arena *arena, const struct command_line *line,
                        struct settings *settings);

/* "-": standard input. */
bool command_line_has_operand(const struct command_line *line, const char *operand);

static inline bool command_line_has(const struct command_line *line, enum option_id id)
{
	return line->given[id].origin == ORIGIN_LINE;
}

#endif
