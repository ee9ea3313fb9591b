#include "analyzer/app/usage.h"

#include <string.h>

#include "analyzer/app/version.h"

enum { HELP_COLUMN = 30, HELP_WIDTH = 100 };

/* The rows of options.def with its headings between them. */
static const struct row {
	const char *heading; /* else an option */
	enum option_id id;
} rows[] = {
#define GROUP(heading)  {heading, OPTION_COUNT},
#define OPTION(id, ...) {NULL, OPTION_##id},
#include "analyzer/app/options.def"
#undef OPTION
#undef GROUP
};

enum { ROW_COUNT = sizeof(rows) / sizeof(rows[0]) };

static bool is_shown(const struct option *option, enum command_id command)
{
	return option->places & PLACE_LINE && option->commands & 1u << command;
}

static bool group_is_shown(size_t heading, enum command_id command)
{
	for (size_t i = heading + 1; i < ROW_COUNT && !rows[i].heading; i++) {
		if (is_shown(&options[rows[i].id], command))
			return true;
	}
	return false;
}

/* help */

static void wrap(const char *words, size_t indent, struct text *out)
{
	size_t column = indent;

	while (*words) {
		size_t length = strcspn(words, " ");

		if (column > indent && column + 1 + length > HELP_WIDTH) {
			text_add_char(out, '\n');
			text_add_repeated(out, ' ', indent);
			column = indent;
		} else if (column > indent) {
			text_add_char(out, ' ');
			column++;
		}
		text_add(out, words, length);
		column += length;
		words += length;
		words += strspn(words, " ");
	}
	text_add_char(out, '\n');
}

static void print_spelling(const struct option *option, struct text *out)
{
	if (option->letter)
		text_print(out, "-%c, ", option->letter);
	text_print(out, "--%s", option->name);
	if (*option->operand)
		text_print(out, " %s", option->kind == OPTION_CHOICE ? "WORD" : option->operand);
}

static void add_help(const struct option *option, struct text *out)
{
	text_add_chars(out, option->help);
	if (option->kind == OPTION_CHOICE)
		text_print(out, " [%s]", option->operand);
	if (*option->fallback)
		text_print(out, " (default: %s)", option->fallback);
}

static void help_option(const struct option *option, struct text *out)
{
	struct text help = {.arena = out->arena};
	size_t start = out->length;

	text_add_chars(out, option->letter ? "  " : "      ");
	print_spelling(option, out);
	if (out->length - start > HELP_COLUMN - 2) {
		text_add_char(out, '\n');
		start = out->length;
	}
	text_add_repeated(out, ' ', HELP_COLUMN - (out->length - start));
	add_help(option, &help);
	wrap(text_chars(&help), HELP_COLUMN, out);
}

static void help_commands(struct text *out)
{
	text_add_chars(out, "\nCommands:\n");
	for (int i = 0; i < COMMAND_COUNT; i++) {
		const struct command *command = &commands[i];

		struct text words = {.arena = out->arena};

		text_print(&words, "%s %s", command->name, command->operands);
		text_print(out, "  %-28s%s%s\n", text_chars(&words), command->help,
		           i ? "" : " (the default)");
	}
}

void usage_help(enum command_id command, struct text *out)
{
	const struct command *shown = &commands[command];

	if (command == COMMAND_check) {
		text_add_chars(
		        out,
		        "graphlint finds the lines that keep PyTorch autograd graphs alive, "
		        "and proves each one.\n\n"
		        "Usage: graphlint [check] [OPTION...] [PATH...]\n"
		        "       graphlint COMMAND [OPTION...] [OPERAND...]\n\n"
		        "PATH is a file, a folder or a notebook, - standard input; without "
		        "one it is the\ncurrent folder. @FILE stands for the lines of a file.\n");
		help_commands(out);
	} else {
		text_print(out, "graphlint %s: %s\n\nUsage: graphlint %s [OPTION...]%s%s\n",
		           shown->name, shown->help, shown->name, *shown->operands ? " " : "",
		           shown->operands);
	}
	for (size_t i = 0; i < ROW_COUNT; i++) {
		if (rows[i].heading && group_is_shown(i, command))
			text_print(out, "\n%s:\n", rows[i].heading);
		else if (!rows[i].heading && is_shown(&options[rows[i].id], command))
			help_option(&options[rows[i].id], out);
	}
	if (command == COMMAND_check)
		text_add_chars(out,
		               "\nExit status: 0 nothing found at or above --fail-on; 1 findings; "
		               "2 bad usage,\nbad configuration, an unreadable file or an internal "
		               "error.\n");
}

/* manual page */

/* Dashes must be minus signs, and a line must not start with a control mark. */
static void add_troff(const char *chars, struct text *out)
{
	for (; *chars; chars++) {
		if (*chars == '-')
			text_add_chars(out, "\\-");
		else if (*chars == '\\')
			text_add_chars(out, "\\e");
		else if (*chars == '\'')
			text_add_chars(out, "\\(aq");
		else if (*chars == '`')
			text_add_chars(out, "\\(ga");
		else
			text_add_char(out, *chars);
	}
}

/* Running text, in lines that people can read; none starts with a mark. */
static void troff_words(const char *words, struct text *out)
{
	enum { TROFF_WIDTH = 78 };
	size_t line = out->length;

	while (*words) {
		struct text word = {.arena = out->arena};
		const size_t length = strcspn(words, " ");

		if (*words == '.')
			text_add_chars(&word, "\\&");
		add_troff(arena_text(out->arena, words, length), &word);
		if (out->length > line && out->length + 1 + word.length > line + TROFF_WIDTH) {
			text_add_char(out, '\n');
			line = out->length;
		} else if (out->length > line) {
			text_add_char(out, ' ');
		}
		text_add(out, text_chars(&word), word.length);
		words += length;
		words += strspn(words, " ");
	}
}

static void troff_option(const struct option *option, struct text *out)
{
	struct text plain = {.arena = out->arena};

	text_add_chars(out, ".TP\n.B ");
	print_spelling(option, &plain);
	add_troff(text_chars(&plain), out);
	text_add_char(out, '\n');
	text_cut(&plain, 0);
	add_help(option, &plain);
	text_add_char(&plain, '.');
	troff_words(text_chars(&plain), out);
	text_add_char(out, '\n');
}

static bool only_in_file(const struct option *option)
{
	return option->places == PLACE_KEY;
}

static void troff_key(const struct option *option, struct text *out)
{
	struct text plain = {.arena = out->arena};

	text_add_chars(out, ".TP\n.B ");
	add_troff(option->name, out);
	text_add_char(out, '\n');
	text_print(&plain, "%s: %s", option->help, option->operand);
	troff_words(text_chars(&plain), out);
	text_add_char(out, '\n');
}

static void troff_commands(struct text *out)
{
	text_add_chars(out, ".SH COMMANDS\n");
	for (int i = 0; i < COMMAND_COUNT; i++) {
		text_add_chars(out, ".TP\n.B ");
		add_troff(commands[i].name, out);
		text_add_chars(out, *commands[i].operands ? " " : "");
		add_troff(commands[i].operands, out);
		text_add_char(out, '\n');
		troff_words(commands[i].help, out);
		text_add_chars(out, i ? ".\n" : " (the default).\n");
	}
}

static void troff_options(struct text *out)
{
	text_add_chars(out, ".SH OPTIONS\n");
	for (size_t i = 0; i < ROW_COUNT; i++) {
		if (rows[i].heading)
			text_print(out, ".SS %s\n", rows[i].heading);
		else if (options[rows[i].id].places & PLACE_LINE)
			troff_option(&options[rows[i].id], out);
	}
}

void usage_manual(struct text *out)
{
	text_add_chars(out, ".TH GRAPHLINT 1 " GRAPHLINT_DATE " \"graphlint " GRAPHLINT_VERSION
	                    "\"\n.SH NAME\ngraphlint \\- find the lines that keep PyTorch autograd "
	                    "graphs alive\n.SH SYNOPSIS\n.B graphlint\n"
	                    "[check] [OPTION...] [PATH...]\n.br\n.B graphlint\n"
	                    "COMMAND [OPTION...] [OPERAND...]\n.SH DESCRIPTION\n");
	troff_words(
	        "Reads PyTorch training code in Python, notebooks and C++, finds the lines that "
	        "keep autograd graphs alive, and proves each one by replaying the loop in an "
	        "autograd runtime of its own. It never imports or runs the code. PATH is a "
	        "file, a folder or a notebook, - standard input; without one it is the current "
	        "folder. @FILE stands for the lines of a file.",
	        out);
	text_add_char(out, '\n');
	troff_commands(out);
	troff_options(out);
	text_add_chars(out, ".SH CONFIGURATION\n");
	troff_words("The nearest .graphlint.toml, graphlint.toml or pyproject.toml with "
	            "[tool.graphlint], upward from the paths. The options above are its keys, by "
	            "their long names, and:",
	            out);
	text_add_char(out, '\n');
	for (int i = 0; i < OPTION_COUNT; i++) {
		if (only_in_file(&options[i]))
			troff_key(&options[i], out);
	}
	text_add_chars(out, ".SH EXIT STATUS\n");
	troff_words("0: nothing found at or above --fail-on; 1: findings; 2: bad usage, bad "
	            "configuration, an unreadable file or an internal error.",
	            out);
	text_add_chars(out, "\n.SH ENVIRONMENT\n.TP\n.B NO_COLOR\n"
	                    "no colour unless \\-\\-color always.\n");
}
