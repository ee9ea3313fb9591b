/* --dump: a stage's result for each file, for developers. */

#include <string.h>

#include "analyzer/app/check.h"
#include "analyzer/base/intern.h"
#include "analyzer/front/front.h"
#include "analyzer/ir/dump.h"
#include "analyzer/ir/verify.h"

static void dump_module(const char *stage, const struct front_end *front,
                        const struct source *source, struct text *out)
{
	struct arena arena = {0};
	struct intern *names = intern_open();
	struct front_result lowered = front->lower(&arena, names, source, NULL);
	const char *wrong = ir_verify(&arena, lowered.module);

	if (wrong)
		BUG("%s: %s", source->path, wrong);
	if (!strcmp(stage, "ir"))
		ir_dump(lowered.module, out);
	else
		cfg_dump(lowered.module, out);
	intern_close(names);
	arena_release(&arena);
}

static int dump_file(struct app *app, const char *path, struct text *out)
{
	const char *stage = app_choice(app, OPTION_dump);
	const char *name = settings_text(&app->settings, OPTION_stdin_filename);
	struct arena arena = {0};
	struct source_problem problem;
	const struct front_end *front;
	struct source *source;
	int status = EXIT_CLEAN;

	if (!strcmp(path, "-"))
		source = source_open_stdin(&arena, name ? name : "stdin.py", &problem);
	else
		source = source_open(&arena, path, &problem);
	front = source ? front_end_find(source->path) : NULL;
	if (!source)
		status = app_fail("%s: %s", path, problem.message);
	else if (!front)
		status = app_fail("%s: neither Python, a notebook nor C++ by its name", path);
	else if (!strcmp(stage, "tree"))
		front->dump_tree(source, out);
	else
		dump_module(stage, front, source, out);
	arena_release(&arena);
	return status;
}

int check_dump(struct app *app)
{
	struct text out = {.arena = &app->arena};
	const bool at_once = settings_text(&app->settings, OPTION_output_file) == NULL;
	struct engine_settings engine;
	int status = EXIT_CLEAN;
	bool written = true;
	struct run *run;

	if (!check_settings(app, &engine))
		return EXIT_TROUBLE;
	run = engine_list(&engine);
	if (run_error(run))
		status = app_fail("%s", run_error(run));
	for (uint32_t i = 0; i < run_outcome(run)->skipped.count; i++)
		status = app_fail("%s: %s", run_outcome(run)->skipped.at[i].path,
		                  run_outcome(run)->skipped.at[i].reason);
	for (uint32_t i = 0; i < run_files(run)->files.count; i++) {
		int one = dump_file(app, run_files(run)->files.at[i].path, &out);

		status = one > status ? one : status;
		if (at_once) {
			written = written && app_write(app, &out);
			out.length = 0;
		}
	}
	run_close(run);
	return written && (at_once || app_write(app, &out)) ? status : EXIT_TROUBLE;
}
