#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/app/app.h"
#include "analyzer/app/check.h"
#include "analyzer/app/configs.h"
#include "analyzer/app/progress.h"
#include "analyzer/app/shard.h"
#include "analyzer/app/version.h"
#include "analyzer/base/files.h"
#include "analyzer/engine/baseline.h"
#include "analyzer/engine/noqa.h"

/* settings of the engine */

bool check_settings(struct app *app, struct engine_settings *engine)
{
	const struct settings *settings = &app->settings;
	const char *name = settings_text(settings, OPTION_stdin_filename);

	if (!app->line.operands.count)
		vec_push(&app->arena, &app->line.operands, ".");
	*engine = (struct engine_settings){
	        .paths = app->line.operands.at,
	        .path_count = app->line.operands.count,
	        .stdin_path = name ? name : "stdin.py",
	        .jobs = (unsigned)settings_number(settings, OPTION_jobs),
	        .no_skip = settings_flag(settings, OPTION_no_skip),
	        .confirm = (enum confirm_mode)settings_number(settings, OPTION_confirm),
	        .root = app_root(app),
	        .baseline = settings_text(settings, OPTION_write_baseline)
	                            ? NULL
	                            : settings_text(settings, OPTION_baseline),
	        .diff_base = settings_text(settings, OPTION_diff_base),
	        .cache = app_cache_folder(app),
	        .build = GRAPHLINT_VERSION,
	};
	configs_join(app, engine);
	return shard_settings(app, engine);
}

/* what can be done with an outcome */

/* Of the finding's file. --fail-on is written error|warning|info: the most severe
 * is choice 0. */
static bool fails(struct app *app, const struct finding *finding)
{
	const struct settings *settings = &config_of_file(app, finding->source->path)->settings;

	return finding->severity + settings_number(settings, OPTION_fail_on) >= SEVERITY_ERROR;
}

int check_exit_status(struct app *app, const struct outcome *outcome)
{
	if (outcome_has_failure(outcome))
		return EXIT_TROUBLE;
	if (settings_flag(&app->settings, OPTION_exit_zero))
		return EXIT_CLEAN;
	for (uint32_t i = 0; i < outcome->findings.count; i++) {
		if (fails(app, &outcome->findings.at[i]))
			return EXIT_FINDINGS;
	}
	return EXIT_CLEAN;
}

static int write_baseline(struct app *app, const struct outcome *outcome, const char *path)
{
	struct text out = {.arena = &app->arena};

	baseline_print(&outcome->findings, app_root(app), &out);
	if (!file_write(path, text_chars(&out), out.length))
		return app_fail("cannot write %s: %s", path, strerror(errno));
	printf("%u finding%s written to %s\n", outcome->findings.count,
	       outcome->findings.count == 1 ? "" : "s", path);
	return outcome_has_failure(outcome) ? EXIT_TROUBLE : EXIT_CLEAN;
}

static bool write_source(void *context, const struct source *source, const struct text *bytes)
{
	struct app *app = context;

	(void)app;
	if (file_write(source->path, text_chars(bytes), bytes->length))
		return true;
	app_fail("cannot write %s: %s", source->path, strerror(errno));
	return false;
}

static int add_noqa(struct app *app, const struct outcome *outcome)
{
	struct noqa_result result = noqa_add(&app->arena, outcome, write_source, app);

	printf("%u comment%s added in %u file%s\n", result.comments,
	       result.comments == 1 ? "" : "s", result.files, result.files == 1 ? "" : "s");
	if (result.left_out)
		printf("%u finding%s in notebooks left as they are\n", result.left_out,
		       result.left_out == 1 ? "" : "s");
	return result.failed || outcome_has_failure(outcome) ? EXIT_TROUBLE : EXIT_CLEAN;
}

/* Formats that cannot carry what was skipped must not hide it. */
static void tell_failures(const struct app *app, const struct outcome *outcome)
{
	const char *format = app_choice(app, OPTION_format);
	bool carries = settings_text(&app->settings, OPTION_output_file) == NULL &&
	               strcmp(format, "gitlab") != 0 && strcmp(format, "rdjsonl") != 0;

	if (carries && !(settings_flag(&app->settings, OPTION_quiet) &&
	                 (!strcmp(format, "text") || !strcmp(format, "concise"))))
		return;
	for (uint32_t i = 0; i < outcome->skipped.count; i++) {
		const struct skipped *skipped = &outcome->skipped.at[i];

		if (skipped->is_failure)
			app_fail("%s: %s", skipped->path, skipped->reason);
		else if (!carries)
			fprintf(stderr, "graphlint: not analysed: %s: %s\n", skipped->path,
			        skipped->reason);
	}
}

static int write_outcome(struct app *app, struct run *run)
{
	const struct outcome *outcome = run_outcome(run);
	struct report report = app_report(app);
	struct text out = {.arena = &app->arena};
	struct report_shard shard;

	report.outcome = outcome;
	if (settings_text(&app->settings, OPTION_shard)) {
		shard = shard_report(app, run);
		report.shard = &shard;
	}
	report_format_find(app_choice(app, OPTION_format))->write(&report, &out);
	tell_failures(app, outcome);
	if (!app_write(app, &out))
		return EXIT_TROUBLE;
	return check_exit_status(app, outcome);
}

static int finish(struct app *app, struct run *run)
{
	const char *baseline = settings_text(&app->settings, OPTION_write_baseline);

	if (run_error(run))
		return app_fail("%s", run_error(run));
	if (baseline)
		return write_baseline(app, run_outcome(run), baseline);
	if (settings_flag(&app->settings, OPTION_add_noqa))
		return add_noqa(app, run_outcome(run));
	return write_outcome(app, run);
}

int check_once(struct app *app)
{
	struct engine_settings engine;

	if (!check_settings(app, &engine))
		return EXIT_TROUBLE;
	return check_with(app, &engine);
}

int check_with(struct app *app, struct engine_settings *engine)
{
	struct progress_line *line = progress_line_open(app);
	struct run *run;
	int status;

	engine->progress = progress_line_of(line);
	run = engine_run(engine, app->rules);
	progress_line_close(line);
	status = finish(app, run);
	run_close(run);
	return status;
}

static int show_files(struct app *app)
{
	struct engine_settings engine;
	int status = EXIT_CLEAN;
	struct run *run;

	if (!check_settings(app, &engine))
		return EXIT_TROUBLE;
	run = engine_list(&engine);
	if (run_error(run))
		status = app_fail("%s", run_error(run));
	for (uint32_t i = 0; i < run_files(run)->files.count; i++)
		puts(run_files(run)->files.at[i].path);
	for (uint32_t i = 0; i < run_outcome(run)->skipped.count; i++)
		status = app_fail("%s: %s", run_outcome(run)->skipped.at[i].path,
		                  run_outcome(run)->skipped.at[i].reason);
	run_close(run);
	return status;
}

static int show_settings(struct app *app)
{
	struct text out = {.arena = &app->arena};

	settings_dump(&app->settings, &out);
	fwrite(text_chars(&out), 1, out.length, stdout);
	return EXIT_CLEAN;
}

/* A word that is no file and nearly a command is a slip of the fingers. */
static const char *meant_command(struct app *app)
{
	struct suggestion suggestion = {0};

	if (!app->line.operands.count || access(app->line.operands.at[0], F_OK) == 0)
		return NULL;
	suggestion.name = app->line.operands.at[0];
	if (command_find(suggestion.name) != COMMAND_COUNT)
		return NULL;
	for (int i = 0; i < COMMAND_COUNT; i++)
		suggestion_offer(&suggestion, commands[i].name);
	return suggestion.closest;
}

int app_check(struct app *app)
{
	const char *meant = meant_command(app);
	struct engine_settings engine;

	if (meant && strcmp(app->line.operands.at[0], "-") != 0)
		return app_fail("there is no file or command `%s`; did you mean `%s`?",
		                app->line.operands.at[0], meant);
	if (!app_load_settings(app))
		return EXIT_TROUBLE;
	if (settings_flag(&app->settings, OPTION_show_settings))
		return show_settings(app);
	if (settings_flag(&app->settings, OPTION_show_files))
		return show_files(app);
	if (settings_text(&app->settings, OPTION_dump))
		return check_dump(app);
	if (settings_flag(&app->settings, OPTION_watch))
		return check_settings(app, &engine) ? check_watch(app) : EXIT_TROUBLE;
	return check_once(app);
}
