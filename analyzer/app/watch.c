/* --watch: lints again whenever a file that was looked at, the configuration or
 * the set of files changes. Polls, which works on every file system. */

#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "analyzer/app/check.h"
#include "analyzer/app/configs.h"
#include "analyzer/base/hash.h"

enum { POLL_MILLISECONDS = 300 };

static uint64_t stamp_of(uint64_t stamp, const char *path)
{
	struct stat status;
	struct {
		uint64_t size, seconds, nanoseconds, inode;
	} seen = {0};

	if (stat(path, &status) == 0) {
		seen.size = (uint64_t)status.st_size;
		seen.seconds = (uint64_t)status.st_mtim.tv_sec;
		seen.nanoseconds = (uint64_t)status.st_mtim.tv_nsec;
		seen.inode = (uint64_t)status.st_ino;
	}
	stamp = hash_join(stamp, hash_bytes(path, strlen(path)));
	return hash_join(stamp, hash_bytes(&seen, sizeof(seen)));
}

/* Changes when anything does that could change the outcome. */
static uint64_t stamp_all(struct app *app)
{
	struct engine_settings engine;
	struct run *run;
	uint64_t stamp = 0;

	if (!check_settings(app, &engine))
		return 0;
	run = engine_list(&engine);
	for (uint32_t i = 0; i < run_files(run)->files.count; i++)
		stamp = stamp_of(stamp, run_files(run)->files.at[i].path);
	for (uint32_t i = 0; i < configs_count(app); i++) {
		const text_list *files = &configs_at(app, i)->settings.config_files;

		for (uint32_t k = 0; k < files->count; k++)
			stamp = stamp_of(stamp, files->at[k]);
	}
	run_close(run);
	return stamp;
}

static void rest(void)
{
	struct timespec pause = {0, POLL_MILLISECONDS * 1000000L};

	nanosleep(&pause, NULL);
}

/* One look: settings are read anew, since the configuration may have changed. */
static uint64_t look(const struct app *app, uint64_t before)
{
	struct app fresh = {.rules = app->rules, .line = app->line};
	uint64_t now;

	/* What was given lives in the old arena, which outlives this look. */
	if (!app_load_settings(&fresh)) {
		arena_release(&fresh.arena);
		return before;
	}
	now = stamp_all(&fresh);
	if (now != before) {
		if (isatty(STDOUT_FILENO))
			fputs("\x1b[2J\x1b[3J\x1b[H", stdout);
		check_once(&fresh);
		fputs("Watching for changes; interrupt to stop.\n", stdout);
		fflush(stdout);
	}
	arena_release(&fresh.arena);
	return now;
}

int check_watch(struct app *app)
{
	uint64_t stamp = 0;

	if (!app->line.operands.count)
		vec_push(&app->arena, &app->line.operands, ".");
	if (command_line_has_operand(&app->line, "-"))
		return app_fail("--watch cannot watch standard input");
	for (;;) {
		stamp = look(app, stamp);
		rest();
	}
}
