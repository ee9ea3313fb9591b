#ifndef GRAPHLINT_SOURCE_MAGIC_H
#define GRAPHLINT_SOURCE_MAGIC_H

/* IPython's additions to Python, in one cell. The cell is walked as Python's
 * tokenizer would (strings, brackets, continued lines), because a magic can only
 * begin a logical line or follow `=`. */

#include <stdbool.h>
#include <stddef.h>

/* Does a cell magic say that the cell is not Python? `*name` is then the magic's. */
bool magic_other_language(const char *text, size_t length, const char **name, size_t *name_length);
/* Replaces what is not Python by a statement or a name of the same place,
 * padded with spaces. False: a string or a bracket is still open at the end. */
bool magic_blank(char *text, size_t length);

#endif
