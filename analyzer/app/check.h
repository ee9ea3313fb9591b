#ifndef GRAPHLINT_APP_CHECK_H
#define GRAPHLINT_APP_CHECK_H

/* The parts of `graphlint check`. */

#include "analyzer/app/app.h"
#include "analyzer/engine/engine.h"

/* The engine's settings; false: something is wrong with them, and was said. */
GL_MUST_USE bool check_settings(struct app *app, struct engine_settings *engine);
/* Lints, reports, and returns the exit status. */
int check_once(struct app *app);
/* The same with settings that are ready. */
int check_with(struct app *app, struct engine_settings *engine);
/* What a run that ended so exits with. */
int check_exit_status(struct app *app, const struct outcome *outcome);
/* --dump */
int check_dump(struct app *app);
/* --watch: does not return until it is interrupted. */
int check_watch(struct app *app);

#endif
