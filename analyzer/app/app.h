#ifndef GRAPHLINT_APP_APP_H
#define GRAPHLINT_APP_APP_H

/* One invocation of the program: what was asked, with what settings, and the
 * commands that answer. Commands return the exit status and write through
 * stdout and stderr; nothing else here is global. */

#include <stdio.h>

#include "analyzer/app/command_line.h"
#include "analyzer/report/report.h"

enum exit_status { EXIT_CLEAN, EXIT_FINDINGS, EXIT_TROUBLE };

struct configs;

struct app {
	struct arena arena;
	struct rule_table rules;
	struct command_line line;
	struct settings settings; /* of the run as a whole */
	struct configs *configs;  /* NULL: nobody asked for those of files yet */
};

/* The whole program. */
int app_main(int count, char **arguments, struct rule_table rules);

/* Commands; those that are made elsewhere are joined here. */
int app_check(struct app *app);
int app_replay(struct app *app);
int app_memory(struct app *app);
int app_explain(struct app *app);
int app_rules(struct app *app);
int app_cache(struct app *app);
int app_merge(struct app *app);

/* Reads the configuration and lays the command line over it. */
GL_MUST_USE bool app_load_settings(struct app *app);
/* What the configuration file (NULL: none) says, under the command line. */
GL_MUST_USE bool app_settings_from(struct app *app, const char *config, struct settings *settings,
                                   struct text *complaint);
/* Says what is wrong, as "graphlint: error: ...", and returns EXIT_TROUBLE. */
int app_fail(const char *format, ...) GL_PRINTF(1, 2);
/* --color, NO_COLOR and whether standard output is a terminal. */
bool app_has_color(const struct app *app);
/* The folder that locations are told from: the top of the git work tree, else
 * the configuration's folder, else the current one; absolute. */
const char *app_root(struct app *app);
/* Where the cache is; NULL: --no-cache. */
const char *app_cache_folder(struct app *app);
/* Writes a report to --output-file or standard output; false: it failed and
 * was said. */
GL_MUST_USE bool app_write(struct app *app, const struct text *text);
/* The report's look; the outcome is filled in by the caller. */
struct report app_report(struct app *app);
/* A choice's word. */
const char *app_choice(const struct app *app, enum option_id id);

#endif
