#include <string.h>

#include "analyzer/app/usage.h"

static bool is_shown(const struct option *option, int command)
{
	return option->places & PLACE_LINE && option->commands & 1u << command;
}

/* "a|b|c" with blanks between the words. */
static void add_words(const char *choices, struct text *out)
{
	for (; *choices; choices++)
		text_add_char(out, *choices == '|' ? ' ' : *choices);
}

static bool is_a_choice(const struct option *option)
{
	return option->kind == OPTION_CHOICE;
}

/* bash */

static void bash_operands(int command, struct text *out)
{
	for (int i = 0; i < OPTION_COUNT; i++) {
		const struct option *option = &options[i];

		if (!is_shown(option, command) || !option_takes_operand(option))
			continue;
		text_print(out, "\t%s:--%s", commands[command].name, option->name);
		if (option->letter)
			text_print(out, "|%s:-%c", commands[command].name, option->letter);
		text_add_chars(out, ")\n\t\tCOMPREPLY=($(compgen ");
		if (is_a_choice(option)) {
			text_add_chars(out, "-W \"");
			add_words(option->operand, out);
			text_add_chars(out, "\" ");
		} else if (option->kind == OPTION_PATH) {
			text_add_chars(out, "-f ");
		} else {
			text_add_chars(out, "-W \"\" ");
		}
		text_add_chars(out, "-- \"$cur\"))\n\t\treturn ;;\n");
	}
}

static void bash_options(int command, struct text *out)
{
	text_print(out, "\t%s) words=\"", commands[command].name);
	for (int i = 0; i < OPTION_COUNT; i++) {
		if (is_shown(&options[i], command))
			text_print(out, "--%s ", options[i].name);
	}
	text_add_chars(out, "\" ;;\n");
}

static void add_commands(const char *between, struct text *out)
{
	for (int i = 0; i < COMMAND_COUNT; i++)
		text_print(out, "%s%s", i ? between : "", commands[i].name);
}

static void bash(struct text *out)
{
	text_add_chars(out,
	               "# bash completion for graphlint\n_graphlint() {\n"
	               "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
	               "\tlocal command=check words=\"\"\n\tcase ${COMP_WORDS[1]} in\n\t");
	add_commands("|", out);
	text_add_chars(out, ") command=${COMP_WORDS[1]} ;;\n\tesac\n\tcase $command:$prev in\n");
	for (int i = 0; i < COMMAND_COUNT; i++)
		bash_operands(i, out);
	text_add_chars(out, "\tesac\n\tcase $command in\n");
	for (int i = 0; i < COMMAND_COUNT; i++)
		bash_options(i, out);
	text_add_chars(out,
	               "\tesac\n\tif [[ $cur == -* ]]; then\n"
	               "\t\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n\t\treturn\n\tfi\n"
	               "\tCOMPREPLY=($(compgen -f -- \"$cur\"))\n"
	               "\tif ((COMP_CWORD == 1)); then\n\t\tCOMPREPLY+=($(compgen -W \"");
	add_commands(" ", out);
	text_add_chars(
	        out, "\" -- \"$cur\"))\n\tfi\n}\ncomplete -o filenames -F _graphlint graphlint\n");
}

/* zsh */

static void add_zsh_help(const char *help, struct text *out)
{
	for (; *help; help++) {
		if (strchr("[]:\\", *help))
			text_add_char(out, '\\');
		if (*help == '\'')
			text_add_chars(out, "'\\'");
		text_add_char(out, *help);
	}
}

static void zsh_spelling(const struct option *option, const char *dashes, const char *name,
                         size_t length, struct text *out)
{
	text_print(out, "\t\t\t'*%s", dashes);
	text_add(out, name, length);
	text_add_chars(out, option_takes_operand(option) && dashes[1] ? "=[" : "[");
	add_zsh_help(option->help, out);
	text_add_char(out, ']');
	if (option_takes_operand(option)) {
		text_print(out, ":%s:", option->name);
		if (is_a_choice(option)) {
			text_add_char(out, '(');
			add_words(option->operand, out);
			text_add_char(out, ')');
		} else if (option->kind == OPTION_PATH) {
			text_add_chars(out, "_files");
		}
	}
	text_add_chars(out, "' \\\n");
}

static void zsh(struct text *out)
{
	text_add_chars(out, "#compdef graphlint\n_graphlint() {\n\tlocal command=check\n"
	                    "\tcase $words[2] in\n\t");
	add_commands("|", out);
	text_add_chars(out, ") command=$words[2] ;;\n\tesac\n\tcase $command in\n");
	for (int i = 0; i < COMMAND_COUNT; i++) {
		text_print(out, "\t%s)\n\t\t_arguments \\\n", commands[i].name);
		for (int k = 0; k < OPTION_COUNT; k++) {
			if (!is_shown(&options[k], i))
				continue;
			if (options[k].letter)
				zsh_spelling(&options[k], "-", &options[k].letter, 1, out);
			zsh_spelling(&options[k], "--", options[k].name, strlen(options[k].name),
			             out);
		}
		text_add_chars(out, "\t\t\t'1: :_graphlint_first' '*:file:_files' ;;\n");
	}
	text_add_chars(out, "\tesac\n}\n_graphlint_first() {\n\t_files\n\tcompadd ");
	add_commands(" ", out);
	text_add_chars(out, "\n}\n_graphlint \"$@\"\n");
}

/* fish */

static void add_fish_text(const char *chars, struct text *out)
{
	text_add_char(out, '\'');
	for (; *chars; chars++) {
		if (*chars == '\'' || *chars == '\\')
			text_add_char(out, '\\');
		text_add_char(out, *chars);
	}
	text_add_char(out, '\'');
}

static void fish_option(int command, const struct option *option, struct text *out)
{
	text_print(out, "complete -c graphlint -n '__graphlint_is %s' -l %s",
	           commands[command].name, option->name);
	if (option->letter)
		text_print(out, " -s %c", option->letter);
	if (option_takes_operand(option))
		text_add_chars(out, option->kind == OPTION_PATH ? " -r -F" : " -x");
	if (is_a_choice(option)) {
		text_add_chars(out, " -a '");
		add_words(option->operand, out);
		text_add_char(out, '\'');
	}
	text_add_chars(out, " -d ");
	add_fish_text(option->help, out);
	text_add_char(out, '\n');
}

static void fish(struct text *out)
{
	text_add_chars(out, "# fish completion for graphlint\nfunction __graphlint_is\n"
	                    "\tset -l words (commandline -opc)\n\tset -l command check\n"
	                    "\tif set -q words[2]; and contains -- $words[2] ");
	add_commands(" ", out);
	text_add_chars(out,
	               "\n\t\tset command $words[2]\n\tend\n\ttest $command = $argv[1]\nend\n");
	for (int i = 0; i < COMMAND_COUNT; i++) {
		text_print(out, "complete -c graphlint -n __fish_is_first_arg -a %s -d ",
		           commands[i].name);
		add_fish_text(commands[i].help, out);
		text_add_char(out, '\n');
	}
	for (int i = 0; i < COMMAND_COUNT; i++) {
		for (int k = 0; k < OPTION_COUNT; k++) {
			if (is_shown(&options[k], i))
				fish_option(i, &options[k], out);
		}
	}
}

bool usage_completion(const char *shell, struct text *out)
{
	static const struct {
		const char *name;
		void (*print)(struct text *out);
	} shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};

	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++) {
		if (!strcmp(shells[i].name, shell)) {
			shells[i].print(out);
			return true;
		}
	}
	return false;
}
