#ifndef GRAPHLINT_APP_PROGRESS_H
#define GRAPHLINT_APP_PROGRESS_H

/* One line on a terminal's standard error that says how far the work is, from
 * the first half second on; it is gone when the work ends. */

#include "analyzer/app/app.h"
#include "analyzer/base/progress.h"

struct progress_line;

/* NULL: nobody is there to see it (no terminal, CI, --quiet). */
struct progress_line *progress_line_open(const struct app *app);
/* What the work writes to; NULL of NULL. */
struct progress *progress_line_of(struct progress_line *line);
void progress_line_close(struct progress_line *line);

#endif
