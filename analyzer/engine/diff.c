#include "analyzer/engine/diff.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyzer/finding/fingerprint.h"

extern char **environ;

enum { READ_BYTES = 1 << 16 };

struct changed {
	const char *path;     /* absolute */
	uint32_t first, last; /* rows; last UINT32_MAX: to the end */
};

typedef VEC(struct changed) change_list;

struct answer {
	struct text out, err;
	int status; /* -1: could not be run */
};

/* Both pipes are read in turn, so that neither can fill up and stop git. */
static void read_pipes(int out, int err, struct answer *answer)
{
	struct pollfd polls[2] = {{out, POLLIN, 0}, {err, POLLIN, 0}};
	struct text *texts[2] = {&answer->out, &answer->err};
	int open = 2;

	while (open && (poll(polls, 2, -1) >= 0 || errno == EINTR)) {
		for (int i = 0; i < 2; i++) {
			ssize_t got;

			if (polls[i].fd < 0 || !polls[i].revents)
				continue;
			text_reserve(texts[i], READ_BYTES);
			got = read(polls[i].fd, texts[i]->at + texts[i]->length, READ_BYTES);
			if (got > 0) {
				text_cut(texts[i], texts[i]->length + (size_t)got);
			} else if (got == 0 || errno != EINTR) {
				polls[i].fd = -1;
				open--;
			}
		}
	}
}

static pid_t spawn(char **arguments, int out, int err)
{
	posix_spawn_file_actions_t actions;
	pid_t child;
	int failed;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out, 1);
	posix_spawn_file_actions_adddup2(&actions, err, 2);
	failed = posix_spawnp(&child, arguments[0], &actions, NULL, arguments, environ);
	posix_spawn_file_actions_destroy(&actions);
	return failed ? -1 : child;
}

static void ask(char **arguments, struct answer *answer)
{
	int out[2], err[2];
	pid_t child = -1;

	answer->status = -1;
	if (pipe2(out, O_CLOEXEC) != 0)
		return;
	if (pipe2(err, O_CLOEXEC) == 0) {
		child = spawn(arguments, out[1], err[1]);
		close(err[1]);
	} else {
		err[0] = -1;
	}
	close(out[1]);
	if (child > 0) {
		read_pipes(out[0], err[0], answer);
		while (waitpid(child, &answer->status, 0) < 0 && errno == EINTR)
			continue;
	}
	close(out[0]);
	if (err[0] >= 0)
		close(err[0]);
}

/* "@@ -a,b +c,d @@": the rows c to c+d-1 are new. */
static void read_hunk(struct arena *arena, const char *line, const char *path, change_list *changes)
{
	const char *plus = strchr(line, '+');
	struct changed changed = {.path = path};
	unsigned long count = 1;
	char *end;

	if (!plus || !path)
		return;
	changed.first = (uint32_t)strtoul(plus + 1, &end, 10);
	if (*end == ',')
		count = strtoul(end + 1, NULL, 10);
	if (!count)
		return;
	changed.last = changed.first + (uint32_t)count - 1;
	vec_push(arena, changes, changed);
}

static const char *joined(struct arena *arena, const char *top, const char *path, size_t length)
{
	struct text whole = {.arena = arena};

	text_print(&whole, "%s/%.*s", top, (int)length, path);
	return text_chars(&whole);
}

static void read_diff(struct arena *arena, const char *top, const char *diff, change_list *changes)
{
	const char *path = NULL;
	size_t length;

	for (; *diff; diff += length + (diff[length] == '\n')) {
		length = strcspn(diff, "\n");
		if (!strncmp(diff, "+++ ", 4)) {
			size_t end = length && diff[length - 1] == '\t' ? length - 1 : length;

			path = !strncmp(diff, "+++ b/", 6) ? joined(arena, top, diff + 6, end - 6)
			                                   : NULL;
		} else if (!strncmp(diff, "@@ ", 3)) {
			read_hunk(arena, diff, path, changes);
		}
	}
}

static void read_untracked(struct arena *arena, const char *top, const struct text *paths,
                           change_list *changes)
{
	for (size_t at = 0; at < paths->length; at += strlen(paths->at + at) + 1) {
		struct changed changed = {.first = 1, .last = UINT32_MAX};

		changed.path = joined(arena, top, paths->at + at, strlen(paths->at + at));
		vec_push(arena, changes, changed);
	}
}

static int compare_changes(const void *left, const void *right)
{
	const struct changed *a = left;
	const struct changed *b = right;
	int order = strcmp(a->path, b->path);

	return order ? order : (a->first > b->first) - (a->first < b->first);
}

static bool is_changed(const change_list *changes, const char *path, uint32_t first, uint32_t last)
{
	uint32_t low = 0, high = changes->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (strcmp(changes->at[middle].path, path) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < changes->count && !strcmp(changes->at[low].path, path); low++) {
		if (changes->at[low].first <= last && changes->at[low].last >= first)
			return true;
	}
	return false;
}

static bool touches(struct arena *arena, const change_list *changes, const struct source *source,
                    struct span span)
{
	const char *absolute = path_absolute(arena, source->path);
	uint32_t first = source_line_at(source, span.start) + 1;
	uint32_t last = source_line_at(source, span.end > span.start ? span.end - 1 : span.end) + 1;

	/* Rows of a notebook are not those of its file: all or nothing. */
	if (source->is_notebook) {
		first = 1;
		last = UINT32_MAX;
	}
	return is_changed(changes, absolute, first, last);
}

/* A finding is new when its place or any step of its story is. */
static bool is_new(struct arena *arena, const change_list *changes, const struct finding *finding)
{
	if (touches(arena, changes, finding->source, finding->span))
		return true;
	for (uint32_t i = 0; i < finding->steps.count; i++) {
		const struct finding_step *step = &finding->steps.at[i];

		if (step->source && touches(arena, changes, step->source, step->span))
			return true;
	}
	return false;
}

static const char *complain(struct arena *arena, const char *what, const struct answer *answer)
{
	struct text complaint = {.arena = arena};
	const char *said = text_chars(&answer->err);

	if (answer->status == -1)
		said = "git could not be run";
	else if (!strncmp(said, "fatal: ", 7))
		said += 7;
	text_print(&complaint, "%s: %.*s", what, (int)strcspn(said, "\n"), said);
	return text_chars(&complaint);
}

static const char *find_top(struct arena *arena, const char **top)
{
	char *arguments[] = {"git", "rev-parse", "--show-toplevel", NULL};
	struct answer answer = {.out.arena = arena, .err.arena = arena};

	ask(arguments, &answer);
	if (answer.status != 0)
		return complain(arena, "--diff-base", &answer);
	*top = arena_text(arena, text_chars(&answer.out), strcspn(text_chars(&answer.out), "\n"));
	return NULL;
}

static const char *find_changes(struct arena *arena, const char *top, const char *revision,
                                change_list *changes)
{
	struct text end = {.arena = arena};
	char *diff[] = {"git",
	                "-C",
	                "",
	                "-c",
	                "core.quotePath=off",
	                "diff",
	                "--no-color",
	                "--no-ext-diff",
	                "--no-renames",
	                "--src-prefix=a/",
	                "--dst-prefix=b/",
	                "-U0",
	                "--end-of-options",
	                NULL,
	                "--",
	                NULL};
	char *others[] = {"git", "-C", "", "ls-files", "-z", "--others", "--exclude-standard",
	                  NULL};
	struct answer answer = {.out.arena = arena, .err.arena = arena};
	struct answer untracked = {.out.arena = arena, .err.arena = arena};

	text_add_chars(&end, revision);
	diff[2] = others[2] = arena_text(arena, top, strlen(top));
	diff[13] = end.at;
	ask(diff, &answer);
	if (answer.status != 0)
		return complain(arena, "--diff-base", &answer);
	read_diff(arena, top, text_chars(&answer.out), changes);
	ask(others, &untracked);
	read_untracked(arena, top, &untracked.out, changes);
	return NULL;
}

const char *diff_filter(struct arena *arena, const char *revision, struct outcome *outcome)
{
	finding_list *findings = &outcome->findings;
	change_list changes = {0};
	const char *top = NULL;
	const char *complaint = find_top(arena, &top);
	uint32_t kept = 0;

	if (!complaint)
		complaint = find_changes(arena, top, revision, &changes);
	if (complaint)
		return complaint;
	if (changes.count > 1)
		qsort(changes.at, changes.count, sizeof(*changes.at), compare_changes);
	for (uint32_t i = 0; i < findings->count; i++) {
		if (is_new(arena, &changes, &findings->at[i]))
			findings->at[kept++] = findings->at[i];
		else
			outcome->off_diff++;
	}
	findings->count = kept;
	return NULL;
}
