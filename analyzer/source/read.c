#include "analyzer/source/read.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/base/text.h"

enum { READ_TRIES = 3, READ_FIRST_BYTES = 16 << 10 };

static bool fail(struct arena *arena, struct source_problem *problem, enum source_failure failure,
                 const char *message)
{
	problem->failure = failure;
	problem->message = arena_text(arena, message, strlen(message));
	return false;
}

static bool fail_too_large(struct arena *arena, struct source_problem *problem, size_t limit)
{
	struct text message = {.arena = arena};

	text_print(&message, "larger than %zu MiB", limit >> 20);
	problem->failure = SOURCE_TOO_LARGE;
	problem->message = message.at;
	return false;
}

/* `expected` is a guess that saves growing. */
static bool read_to_end(struct arena *arena, int fd, size_t expected, size_t limit,
                        struct raw_bytes *raw, struct source_problem *problem)
{
	size_t capacity = expected + 1;

	raw->size = 0;
	raw->at = arena_alloc(arena, 1, capacity + SOURCE_PADDING);
	for (;;) {
		ssize_t got = read(fd, raw->at + raw->size, capacity - raw->size);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return fail(arena, problem, SOURCE_UNREADABLE, strerror(errno));
		if (got == 0)
			break;
		raw->size += (size_t)got;
		if (raw->size > limit)
			return fail_too_large(arena, problem, limit);
		if (raw->size == capacity) {
			raw->at = arena_resize(arena, raw->at, capacity + SOURCE_PADDING,
			                       2 * capacity + SOURCE_PADDING);
			capacity *= 2;
		}
	}
	memset(raw->at + raw->size, 0, SOURCE_PADDING);
	return true;
}

bool read_stream(struct arena *arena, int fd, size_t limit, struct raw_bytes *raw,
                 struct source_problem *problem)
{
	raw->changed = false;
	return read_to_end(arena, fd, READ_FIRST_BYTES, limit, raw, problem);
}

static bool same_state(const struct stat *a, const struct stat *b)
{
	return a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Reads again while somebody else writes, a few times at most. */
static bool read_while_it_changes(struct arena *arena, int fd, size_t limit, struct raw_bytes *raw,
                                  struct source_problem *problem)
{
	struct stat before, after;

	for (int tries = 0; tries < READ_TRIES; tries++) {
		if (fstat(fd, &before) || lseek(fd, 0, SEEK_SET) < 0)
			return fail(arena, problem, SOURCE_UNREADABLE, strerror(errno));
		if ((uintmax_t)before.st_size > limit)
			return fail_too_large(arena, problem, limit);
		if (!read_to_end(arena, fd, (size_t)before.st_size, limit, raw, problem))
			return false;
		raw->changed = fstat(fd, &after) || !same_state(&before, &after) ||
		               (uintmax_t)after.st_size != raw->size;
		if (!raw->changed)
			break;
	}
	return true;
}

static const char *why_not_read(const struct stat *status)
{
	if (S_ISREG(status->st_mode))
		return NULL;
	if (S_ISDIR(status->st_mode))
		return "is a folder";
	if (S_ISFIFO(status->st_mode))
		return "is a pipe";
	if (S_ISSOCK(status->st_mode))
		return "is a socket";
	return "is a device";
}

static int open_regular(struct arena *arena, const char *path, struct source_problem *problem)
{
	struct stat status;
	const char *why;
	int fd;

	/* Opening a pipe or a device can already have an effect: look first. */
	if (stat(path, &status)) {
		fail(arena, problem, SOURCE_UNREADABLE, strerror(errno));
		return -1;
	}
	if ((why = why_not_read(&status))) {
		fail(arena, problem, SOURCE_UNREADABLE, why);
		return -1;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0) {
		fail(arena, problem, SOURCE_UNREADABLE, strerror(errno));
		return -1;
	}
	if (fstat(fd, &status) || (why = why_not_read(&status))) {
		fail(arena, problem, SOURCE_UNREADABLE, why ? why : strerror(errno));
		close(fd);
		return -1;
	}
	return fd;
}

bool read_file(struct arena *arena, const char *path, size_t limit, struct raw_bytes *raw,
               struct source_problem *problem)
{
	int fd = open_regular(arena, path, problem);
	bool done;

	if (fd < 0)
		return false;
	done = read_while_it_changes(arena, fd, limit, raw, problem);
	close(fd);
	return done;
}
