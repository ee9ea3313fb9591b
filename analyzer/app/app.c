#include "analyzer/app/app.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "analyzer/app/conflicts.h"
#include "analyzer/app/pages.h"
#include "analyzer/app/usage.h"
#include "analyzer/app/version.h"
#include "analyzer/base/files.h"
#include "analyzer/finding/fingerprint.h"

int app_fail(const char *format, ...)
{
	va_list arguments;

	fputs("graphlint: error: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	return EXIT_TROUBLE;
}

const char *app_choice(const struct app *app, enum option_id id)
{
	return settings_text(&app->settings, id);
}

bool app_has_color(const struct app *app)
{
	const char *choice = app_choice(app, OPTION_color);
	const char *no_color = getenv("NO_COLOR");
	const char *terminal = getenv("TERM");

	if (strcmp(choice, "auto") != 0)
		return !strcmp(choice, "always");
	return isatty(STDOUT_FILENO) && !(no_color && *no_color) &&
	       !(terminal && !strcmp(terminal, "dumb")) &&
	       !settings_text(&app->settings, OPTION_output_file);
}

/* 0: it is no terminal. */
static unsigned terminal_columns(const struct app *app)
{
	const char *said = getenv("COLUMNS");
	struct winsize size;
	unsigned long columns;

	if (!isatty(STDOUT_FILENO) || settings_text(&app->settings, OPTION_output_file))
		return 0;
	columns = said ? strtoul(said, NULL, 10) : 0;
	if (!columns && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
		columns = size.ws_col;
	return columns > 10000 ? 10000 : (unsigned)columns;
}

/* Upward from the current folder to one that has `name` in it; NULL: none. */
static const char *folder_with(struct arena *arena, const char *name)
{
	struct text folder = {.arena = arena};
	size_t length;

	text_add_chars(&folder, path_absolute(arena, ""));
	for (length = folder.length;;) {
		text_print(&folder, "/%s", name);
		if (access(folder.at, F_OK) == 0) {
			text_cut(&folder, length);
			return length ? folder.at : "/";
		}
		text_cut(&folder, length);
		if (!length)
			return NULL;
		while (length && folder.at[length - 1] != '/')
			length--;
		length -= length > 0;
		text_cut(&folder, length);
	}
}

const char *app_root(struct app *app)
{
	const char *top = folder_with(&app->arena, ".git");
	const char *config = app->settings.config_path;

	if (top)
		return top;
	return path_absolute(&app->arena, config ? path_folder(&app->arena, config) : "");
}

const char *app_cache_folder(struct app *app)
{
	const char *config = app->settings.config_path;
	const char *given = settings_text(&app->settings, OPTION_cache_dir);

	if (settings_flag(&app->settings, OPTION_no_cache))
		return NULL;
	if (given)
		return given;
	return path_join(&app->arena, config ? path_folder(&app->arena, config) : "",
	                 ".graphlint_cache");
}

bool app_write(struct app *app, const struct text *text)
{
	const char *path = settings_text(&app->settings, OPTION_output_file);

	if (!path)
		return fwrite(text_chars(text), 1, text->length, stdout) == text->length &&
		       fflush(stdout) == 0;
	if (file_write(path, text_chars(text), text->length))
		return true;
	app_fail("cannot write %s: %s", path, strerror(errno));
	return false;
}

struct report app_report(struct app *app)
{
	return (struct report){
	        .rules = app->rules,
	        .version = GRAPHLINT_VERSION,
	        .root = app_root(app),
	        .page = page_of_rule,
	        .memory_bytes = settings_number(&app->settings, OPTION_memory),
	        .columns = terminal_columns(app),
	        .color = app_has_color(app),
	        .quiet = settings_flag(&app->settings, OPTION_quiet),
	        .verbose = settings_flag(&app->settings, OPTION_verbose),
	        .statistics = settings_flag(&app->settings, OPTION_statistics),
	};
}

/* commands */

static int print(const struct text *text)
{
	fwrite(text_chars(text), 1, text->length, stdout);
	return fflush(stdout) == 0 ? EXIT_CLEAN : EXIT_TROUBLE;
}

static int print_version(void)
{
	printf("graphlint %s\n", GRAPHLINT_VERSION);
	return fflush(stdout) == 0 ? EXIT_CLEAN : EXIT_TROUBLE;
}

static int fail_command(struct app *app, const char *name)
{
	struct suggestion suggestion = {.name = name};
	struct text complaint = {.arena = &app->arena};

	for (int i = 0; i < COMMAND_COUNT; i++)
		suggestion_offer(&suggestion, commands[i].name);
	text_print(&complaint, "there is no command `%s`", name);
	suggestion_print(&suggestion, "", &complaint);
	return app_fail("%s", text_chars(&complaint));
}

static int app_help(struct app *app)
{
	struct text out = {.arena = &app->arena};
	enum command_id command = COMMAND_check;

	if (app->line.operands.count) {
		command = command_find(app->line.operands.at[0]);
		if (command == COMMAND_COUNT)
			return fail_command(app, app->line.operands.at[0]);
	}
	usage_help(command, &out);
	return print(&out);
}

static int app_completion(struct app *app)
{
	struct text out = {.arena = &app->arena};
	const char *shell = app->line.operands.count ? app->line.operands.at[0] : "";

	if (!usage_completion(shell, &out))
		return app_fail("which shell? `graphlint completion bash`, zsh or fish");
	return print(&out);
}

static int app_text(struct app *app, void (*write)(struct text *out))
{
	struct text out = {.arena = &app->arena};

	write(&out);
	return print(&out);
}

/* Commands without operands in commands.def take none. */
static bool has_its_operands(struct app *app)
{
	const struct command *command = &commands[app->line.command];
	const char *first;

	if (*command->operands || !app->line.operands.count)
		return true;
	first = app->line.operands.at[0];
	if (app->line.command == COMMAND_rules)
		app_fail("`graphlint rules` takes no operand; did you mean `graphlint explain %s`?",
		         first);
	else
		app_fail("`graphlint %s` takes no operand, and `%s` is one", command->name, first);
	return false;
}

static int run_command(struct app *app)
{
	struct text complaint = {.arena = &app->arena};

	if (!has_its_operands(app))
		return EXIT_TROUBLE;
	if (!command_line_fits(&app->line, &complaint))
		return app_fail("%s", text_chars(&complaint));
	switch (app->line.command) {
	case COMMAND_check:
		return app_check(app);
	case COMMAND_replay:
		return app_replay(app);
	case COMMAND_memory:
		return app_memory(app);
	case COMMAND_explain:
		return app_explain(app);
	case COMMAND_rules:
		return app_rules(app);
	case COMMAND_cache:
		return app_cache(app);
	case COMMAND_merge:
		return app_merge(app);
	case COMMAND_version:
		return print_version();
	case COMMAND_help:
		return app_help(app);
	case COMMAND_manual:
		return app_text(app, usage_manual);
	case COMMAND_completion:
		return app_completion(app);
	case COMMAND_schema:
		return app_text(app, usage_schema);
	case COMMAND_COUNT:
		break;
	}
	BUG("command %d", (int)app->line.command);
}

int app_main(int count, char **arguments, struct rule_table rules)
{
	struct app app = {.rules = rules};
	struct text out = {.arena = &app.arena};
	int status;

	if (!command_line_read(&app.arena, count, arguments, &app.line, &out)) {
		status = app_fail("%s", text_chars(&out));
	} else if (app.line.given[OPTION_help].flag) {
		usage_help(app.line.command, &out);
		status = print(&out);
	} else if (app.line.given[OPTION_version].flag) {
		status = print_version();
	} else {
		status = run_command(&app);
	}
	arena_release(&app.arena);
	/* Whoever wrote it: what is lost must not look like what was clean. */
	if (fflush(stdout) != 0 || ferror(stdout))
		return app_fail("cannot write to standard output");
	return status;
}
