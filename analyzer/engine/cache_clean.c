#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/engine/cache_clean.h"

static const char mark[] = "CACHEDIR.TAG";

static bool remove_entries(int folder, struct cache_cleaned *cleaned, unsigned depth);

static bool remove_folder(int parent, const char *name, struct cache_cleaned *cleaned,
                          unsigned depth)
{
	int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (folder < 0)
		return false;
	return remove_entries(folder, cleaned, depth) && unlinkat(parent, name, AT_REMOVEDIR) == 0;
}

static bool remove_entry(int folder, const char *name, struct cache_cleaned *cleaned,
                         unsigned depth)
{
	if (!strcmp(name, ".") || !strcmp(name, ".."))
		return true;
	if (unlinkat(folder, name, 0) == 0) {
		cleaned->files++;
		return true;
	}
	if (errno == ENOENT)
		return true;
	return depth && (errno == EISDIR || errno == EPERM) &&
	       remove_folder(folder, name, cleaned, depth - 1);
}

/* Closes the folder. */
static bool remove_entries(int folder, struct cache_cleaned *cleaned, unsigned depth)
{
	DIR *entries = fdopendir(folder);
	struct dirent *entry;
	bool ok = true;

	if (!entries) {
		close(folder);
		return false;
	}
	while (ok && (entry = readdir(entries)))
		ok = remove_entry(folder, entry->d_name, cleaned, depth);
	closedir(entries);
	return ok;
}

bool cache_clean(const char *folder, struct cache_cleaned *cleaned)
{
	enum { DEPTH = 4 };
	int opened = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool ok;

	*cleaned = (struct cache_cleaned){0};
	if (opened < 0) {
		cleaned->problem = strerror(errno);
		return errno == ENOENT;
	}
	if (faccessat(opened, mark, F_OK, 0) != 0) {
		close(opened);
		cleaned->problem = "this folder is not a cache of graphlint; nothing was removed";
		return false;
	}
	ok = remove_entries(opened, cleaned, DEPTH) && rmdir(folder) == 0;
	if (!ok)
		cleaned->problem = strerror(errno);
	return ok;
}

/* The oldest index of a folder, and how many there are. */
static uint32_t oldest_index(int folder, DIR *entries, char oldest[NAME_MAX + 1])
{
	struct timespec least = {0};
	struct dirent *entry;
	uint32_t count = 0;

	while ((entry = readdir(entries))) {
		size_t length = strlen(entry->d_name);
		struct stat status;

		if (length < 6 || strcmp(entry->d_name + length - 6, ".index") != 0 ||
		    fstatat(folder, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		if (!count++ || status.st_mtim.tv_sec < least.tv_sec) {
			least = status.st_mtim;
			snprintf(oldest, NAME_MAX + 1, "%s", entry->d_name);
		}
	}
	return count;
}

void cache_prune(const char *path)
{
	enum { KEPT = 32 };
	DIR *entries = opendir(path);
	char oldest[NAME_MAX + 1];

	if (!entries)
		return;
	if (oldest_index(dirfd(entries), entries, oldest) > KEPT)
		unlinkat(dirfd(entries), oldest, 0);
	closedir(entries);
}
