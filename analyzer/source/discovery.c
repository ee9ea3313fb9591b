#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer/source/discover.h"

/* A file by the folder it is in and its name: links to folders and different
 * spellings do not hide that it is the same. */
struct keyed_file {
	struct discovered_file file;
	dev_t device;
	ino_t folder;
	const char *name;
};

static struct keyed_file key_of(struct arena *arena, struct discovered_file file)
{
	const char *slash = strrchr(file.path, '/');
	size_t length = slash ? (size_t)(slash - file.path) : 0;
	const char *folder = length ? arena_text(arena, file.path, length) : slash ? "/" : ".";
	struct keyed_file keyed = {.file = file, .name = slash ? slash + 1 : file.path};
	struct stat status;

	if (!stat(folder, &status)) {
		keyed.device = status.st_dev;
		keyed.folder = status.st_ino;
	}
	return keyed;
}

static int compare_keys(const struct keyed_file *a, const struct keyed_file *b)
{
	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	if (a->folder != b->folder)
		return a->folder < b->folder ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* Of two spellings of a file, the shorter one comes first. */
static int compare_keyed(const void *left, const void *right)
{
	const struct keyed_file *a = left, *b = right;
	int order = compare_keys(a, b);
	size_t a_length = strlen(a->file.path), b_length = strlen(b->file.path);

	if (order)
		return order;
	if (a_length != b_length)
		return a_length < b_length ? -1 : 1;
	return strcmp(a->file.path, b->file.path);
}

static int compare_files(const void *a, const void *b)
{
	return strcmp(((const struct discovered_file *)a)->path,
	              ((const struct discovered_file *)b)->path);
}

static int compare_problems(const void *a, const void *b)
{
	return strcmp(((const struct discover_problem *)a)->path,
	              ((const struct discover_problem *)b)->path);
}

static void remove_duplicates(struct arena *arena, struct discovery *found)
{
	uint32_t count = found->files.count, kept = 0;
	struct keyed_file *keyed = arena_array(arena, struct keyed_file, count);

	for (uint32_t i = 0; i < count; i++)
		keyed[i] = key_of(arena, found->files.at[i]);
	if (count)
		qsort(keyed, count, sizeof(*keyed), compare_keyed);
	for (uint32_t i = 0; i < count; i++) {
		if (i && !compare_keys(&keyed[i - 1], &keyed[i]))
			found->files.at[kept - 1].named |= keyed[i].file.named;
		else
			found->files.at[kept++] = keyed[i].file;
	}
	found->files.count = kept;
}

void discovery_sort(struct arena *arena, struct discovery *found)
{
	remove_duplicates(arena, found);
	if (found->files.count)
		qsort(found->files.at, found->files.count, sizeof(*found->files.at), compare_files);
	if (found->problems.count)
		qsort(found->problems.at, found->problems.count, sizeof(*found->problems.at),
		      compare_problems);
}
