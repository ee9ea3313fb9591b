#include "analyzer/app/conflicts.h"

#include <string.h>

static const enum option_id pairs[][2] = {
        {OPTION_isolated, OPTION_config},
        {OPTION_quiet, OPTION_verbose},
        {OPTION_show_files, OPTION_show_settings},
        {OPTION_watch, OPTION_show_files},
        {OPTION_watch, OPTION_show_settings},
        {OPTION_watch, OPTION_dump},
        {OPTION_watch, OPTION_add_noqa},
        {OPTION_watch, OPTION_write_baseline},
        {OPTION_add_noqa, OPTION_write_baseline},
        {OPTION_add_noqa, OPTION_fix},
        {OPTION_add_noqa, OPTION_diff},
        {OPTION_write_baseline, OPTION_fix},
        {OPTION_write_baseline, OPTION_diff},
};

static bool is_given(const struct command_line *line, enum option_id id)
{
	return command_line_has(line, id) &&
	       (options[id].kind != OPTION_FLAG || line->given[id].flag);
}

static bool has_statistics(const char *format)
{
	return !strcmp(format, "text") || !strcmp(format, "concise");
}

bool command_line_fits(const struct command_line *line, struct text *complaint)
{
	const struct option_value *format = &line->given[OPTION_format];

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		if (!is_given(line, pairs[i][0]) || !is_given(line, pairs[i][1]))
			continue;
		text_print(complaint, "--%s and --%s do not go together", options[pairs[i][0]].name,
		           options[pairs[i][1]].name);
		return false;
	}
	if (is_given(line, OPTION_statistics) && format->text && !has_statistics(format->text)) {
		text_print(complaint, "--statistics is a text, not %s", format->text);
		return false;
	}
	if (is_given(line, OPTION_add_noqa) && command_line_has_operand(line, "-")) {
		text_add_chars(complaint, "--add-noqa cannot change standard input");
		return false;
	}
	return true;
}
