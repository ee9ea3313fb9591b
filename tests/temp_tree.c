#include <check.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/temp_tree.h"

static char tree[4096];
static int came_from = -1;

void temp_tree_enter(void)
{
	const char *base = getenv("TMPDIR");

	snprintf(tree, sizeof(tree), "%s/graphlint-XXXXXX", base ? base : "/tmp");
	came_from = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_ptr_nonnull(mkdtemp(tree));
	ck_assert_int_eq(chdir(tree), 0);
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *place)
{
	(void)status;
	(void)type;
	(void)place;
	return remove(path);
}

void temp_tree_leave(void)
{
	ck_assert_int_eq(fchdir(came_from), 0);
	close(came_from);
	nftw(tree, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static void make_folders(const char *path)
{
	char folder[4096];

	for (const char *at = path; (at = strchr(at, '/')); at++) {
		snprintf(folder, sizeof(folder), "%.*s", (int)(at - path), path);
		if (*folder)
			mkdir(folder, 0700);
	}
}

void temp_tree_add(const char *path, const char *bytes, size_t length)
{
	FILE *file;

	make_folders(path);
	if (path[strlen(path) - 1] == '/')
		return;
	file = fopen(path, "wb");
	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(bytes, 1, length, file), length);
	fclose(file);
}

void temp_tree_add_text(const char *path, const char *text)
{
	temp_tree_add(path, text, strlen(text));
}
