#include "analyzer/base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/base/text.h"

enum { FILE_BYTES = 256 << 20, READ_BYTES = 1 << 16 };

static bool read_all(int from, struct text *text)
{
	ssize_t got;

	do {
		if (text->length > FILE_BYTES) {
			errno = EFBIG;
			return false;
		}
		text_reserve(text, READ_BYTES);
		got = read(from, text->at + text->length, READ_BYTES);
		if (got > 0)
			text_cut(text, text->length + (size_t)got);
	} while (got > 0 || (got < 0 && errno == EINTR));
	return got == 0;
}

bool file_read_whole(struct arena *arena, const char *path, struct file_text *file)
{
	struct text text = {.arena = arena};
	int from = open(path, O_RDONLY | O_CLOEXEC);
	bool ok = from >= 0 && read_all(from, &text);
	const char *problem = ok ? NULL : strerror(errno);

	if (from >= 0)
		close(from);
	*file = (struct file_text){.bytes = text_chars(&text), .length = text.length};
	if (!ok)
		file->problem = arena_text(arena, problem, strlen(problem));
	return ok;
}

bool file_read(struct arena *arena, const char *path, struct file_text *file)
{
	if (!file_read_whole(arena, path, file))
		return false;
	if (file->length >= 3 && !memcmp(file->bytes, "\xef\xbb\xbf", 3)) {
		file->bytes += 3;
		file->length -= 3;
	}
	return true;
}

static bool write_all(int to, const char *bytes, size_t length)
{
	while (length) {
		ssize_t written = write(to, bytes, length);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return false;
		bytes += written;
		length -= (size_t)written;
	}
	return true;
}

/* The file that `path` leads to, so that a link stays one. */
static char *real_target(const char *path)
{
	char *real = realpath(path, NULL);

	return real ? real : strdup(path);
}

static bool write_in_place(const char *path, const char *bytes, size_t length)
{
	int to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	bool ok = to >= 0 && write_all(to, bytes, length);

	return to >= 0 && close(to) == 0 && ok;
}

static mode_t usual_mode(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return 0666 & ~mask;
}

static bool replace_file(const char *path, mode_t mode, const char *bytes, size_t length)
{
	struct arena arena = {0};
	struct text name = {.arena = &arena};
	bool ok = false;
	int to;

	text_print(&name, "%s.XXXXXX", path);
	to = mkostemp(name.at, O_CLOEXEC);
	if (to >= 0) {
		ok = write_all(to, bytes, length) && fchmod(to, mode) == 0;
		ok = close(to) == 0 && ok;
		ok = ok && rename(name.at, path) == 0;
		if (!ok) {
			int why = errno;

			unlink(name.at);
			errno = why;
		}
	}
	arena_release(&arena);
	return ok;
}

bool file_write(const char *path, const char *bytes, size_t length)
{
	char *target = real_target(path);
	struct stat status;
	bool exists, ok;

	if (!target)
		return false;
	exists = stat(target, &status) == 0;
	if (exists && !S_ISREG(status.st_mode))
		ok = write_in_place(target, bytes, length);
	else
		ok = replace_file(target, exists ? status.st_mode & 07777 : usual_mode(), bytes,
		                  length);
	free(target);
	return ok;
}

const char *path_join(struct arena *arena, const char *folder, const char *path)
{
	struct text joined = {.arena = arena};
	size_t length = strlen(folder);

	if (*path == '/' || !length)
		return arena_text(arena, path, strlen(path));
	text_print(&joined, "%s%s%s", folder, folder[length - 1] == '/' ? "" : "/", path);
	return joined.at;
}

const char *path_shorten(struct arena *arena, const char *path)
{
	char here[PATH_MAX];
	size_t length;

	if (*path != '/' || !getcwd(here, sizeof(here)))
		return path;
	length = strlen(here);
	if (strncmp(path, here, length) != 0 || path[length] != '/')
		return path;
	return arena_text(arena, path + length + 1, strlen(path + length + 1));
}

const char *path_current(struct arena *arena)
{
	char here[PATH_MAX];

	return getcwd(here, sizeof(here)) ? arena_text(arena, here, strlen(here)) : "";
}

const char *path_folder(struct arena *arena, const char *path)
{
	const char *slash = strrchr(path, '/');

	return arena_text(arena, path, slash ? (size_t)(slash + 1 - path) : 0);
}
