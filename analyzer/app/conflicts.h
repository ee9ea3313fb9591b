#ifndef GRAPHLINT_APP_CONFLICTS_H
#define GRAPHLINT_APP_CONFLICTS_H

/* What cannot be asked for at once, before anything is read. */

#include "analyzer/app/command_line.h"

/* False: `complaint` says what does not go together. */
GL_MUST_USE bool command_line_fits(const struct command_line *line, struct text *complaint);

#endif
