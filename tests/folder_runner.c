#include <check.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/base/files.h"
#include "analyzer/base/text.h"
#include "tests/folder.h"

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void folder_names(struct arena *arena, const char *path, name_list *names)
{
	DIR *folder = opendir(path);
	struct dirent *item;

	if (!folder)
		return;
	while ((item = readdir(folder)))
		if (item->d_name[0] != '.')
			vec_push(arena, names,
			         arena_text(arena, item->d_name, strlen(item->d_name)));
	closedir(folder);
	if (names->count)
		qsort(names->at, names->count, sizeof(*names->at), compare_names);
}

const char *folder_join(struct arena *arena, const char *folder, const char *name)
{
	struct text path = {.arena = arena};

	text_print(&path, "%s/%s", folder, name);
	return path.at;
}

char *folder_read(struct arena *arena, const char *folder, const char *name)
{
	const char *path = folder_join(arena, folder, name);
	struct file_text file;

	ck_assert_msg(file_read_whole(arena, path, &file), "%s", path);
	return arena_text(arena, file.bytes, file.length);
}

int folder_ends_with(const char *path, const char *suffix)
{
	size_t length = strlen(path), tail = strlen(suffix);

	return length >= tail && !strcmp(path + length - tail, suffix);
}

int folder_has(const char *folder, const char *name)
{
	struct arena arena = {0};
	int found = !access(folder_join(&arena, folder, name), F_OK);

	arena_release(&arena);
	return found;
}
