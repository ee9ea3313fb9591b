#include "analyzer/app/progress.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "analyzer/base/bug.h"

enum { FIRST_MILLISECONDS = 500, STEP_MILLISECONDS = 100 };

struct progress_line {
	struct progress progress;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t ended;
	bool ends;
};

static bool is_wanted(const struct app *app)
{
	const char *terminal = getenv("TERM");
	const char *ci = getenv("CI");

	return isatty(STDERR_FILENO) && !(ci && *ci) && !(terminal && !strcmp(terminal, "dumb")) &&
	       !settings_flag(&app->settings, OPTION_quiet);
}

static void show(struct progress_line *line)
{
	const char *what = atomic_load(&line->progress.what);
	const size_t count = atomic_load(&line->progress.count);
	const size_t done = atomic_load(&line->progress.done);

	if (!what)
		return;
	if (count)
		fprintf(stderr, "\r\x1b[K%s %zu of %zu", what, done < count ? done : count, count);
	else
		fprintf(stderr, "\r\x1b[K%s", what);
	fflush(stderr);
}

/* False: the work ended meanwhile. The lock is held. */
static bool rest(struct progress_line *line, long milliseconds)
{
	struct timespec until;
	int failed = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += milliseconds * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000L;
	until.tv_nsec %= 1000000000L;
	while (!line->ends && !failed)
		failed = pthread_cond_timedwait(&line->ended, &line->lock, &until);
	return !line->ends;
}

static void *show_all(void *argument)
{
	struct progress_line *line = argument;
	bool shown = false;

	pthread_mutex_lock(&line->lock);
	for (long pause = FIRST_MILLISECONDS; rest(line, pause); pause = STEP_MILLISECONDS) {
		show(line);
		shown = true;
	}
	pthread_mutex_unlock(&line->lock);
	if (shown)
		fputs("\r\x1b[K", stderr);
	fflush(stderr);
	return NULL;
}

struct progress_line *progress_line_open(const struct app *app)
{
	struct progress_line *line;
	pthread_condattr_t attributes;

	if (!is_wanted(app))
		return NULL;
	line = checked_alloc(1, sizeof(*line));
	memset(line, 0, sizeof(*line));
	pthread_mutex_init(&line->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&line->ended, &attributes);
	pthread_condattr_destroy(&attributes);
	if (pthread_create(&line->thread, NULL, show_all, line) == 0)
		return line;
	pthread_cond_destroy(&line->ended);
	pthread_mutex_destroy(&line->lock);
	free(line);
	return NULL;
}

struct progress *progress_line_of(struct progress_line *line)
{
	return line ? &line->progress : NULL;
}

void progress_line_close(struct progress_line *line)
{
	if (!line)
		return;
	pthread_mutex_lock(&line->lock);
	line->ends = true;
	pthread_cond_signal(&line->ended);
	pthread_mutex_unlock(&line->lock);
	pthread_join(line->thread, NULL);
	pthread_cond_destroy(&line->ended);
	pthread_mutex_destroy(&line->lock);
	free(line);
}
