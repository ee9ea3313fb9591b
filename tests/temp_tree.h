#ifndef GRAPHLINT_TESTS_TEMP_TREE_H
#define GRAPHLINT_TESTS_TEMP_TREE_H

/* A folder for one test, made under TMPDIR and removed with all in it. The test
 * runs inside it: paths are relative. */

#include <stddef.h>

void temp_tree_enter(void);
void temp_tree_leave(void);
/* Makes the folders on the way; a path that ends in a slash is a folder. */
void temp_tree_add(const char *path, const char *bytes, size_t length);
void temp_tree_add_text(const char *path, const char *text);

#endif
