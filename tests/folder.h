#ifndef GRAPHLINT_TESTS_FOLDER_H
#define GRAPHLINT_TESTS_FOLDER_H

/* Names in a folder of the project, for tests that have a case for each file. */

#include "analyzer/base/arena.h"
#include "analyzer/base/vec.h"

typedef VEC(const char *) name_list;

/* Sorted; without those that begin with a dot. None when there is no folder. */
void folder_names(struct arena *arena, const char *path, name_list *names);
const char *folder_join(struct arena *arena, const char *folder, const char *name);
/* The file's bytes, a NUL after them; a test fails when it cannot be read. */
char *folder_read(struct arena *arena, const char *folder, const char *name);
int folder_ends_with(const char *path, const char *suffix);
int folder_has(const char *folder, const char *name);

#endif
