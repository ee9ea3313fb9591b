#ifndef GRAPHLINT_SOURCE_NOTEBOOK_H
#define GRAPHLINT_SOURCE_NOTEBOOK_H

/* A notebook's code cells as one text with a map of the cells. What IPython
 * understands and Python does not (`%magic`, `!shell`, `help?`) is blanked in
 * place, so that rows and columns stay; a cell in another language is left out. */

#include <stdbool.h>

#include "analyzer/base/arena.h"
#include "analyzer/source/source.h"

/* `source->text` holds the JSON; text, length, cells and notes are replaced. */
bool notebook_read(struct arena *arena, struct source *source, struct source_problem *problem);

#endif
