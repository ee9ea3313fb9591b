#ifndef GRAPHLINT_TESTS_RANDOM_TREE_H
#define GRAPHLINT_TESTS_RANDOM_TREE_H

/* Small edits of a tree of modules that import each other in every way: for tests
 * that two roads lead to the same output. Made inside a temporary tree. */

#include <stdint.h>

uint32_t random_tree_next(uint32_t *state);
/* Writes or removes one file. */
void random_tree_edit(uint32_t *state);

#endif
