#ifndef GRAPHLINT_APP_CONFIGS_H
#define GRAPHLINT_APP_CONFIGS_H

/* The configurations of a run's files: each file has the nearest one upward, or
 * with --config and --isolated all have the same. What concerns the run as a whole
 * (format, jobs, cache, baseline, replays, ...) is not asked of these. They live in
 * the app's arena; each file is read once. */

#include "analyzer/app/app.h"
#include "analyzer/engine/engine.h"

struct file_config {
	struct settings settings;
	struct discover_options discover;
	struct file_terms terms;
};

/* Of the files in a folder; NULL: it cannot be used, and `*complaint` says why. */
GL_MUST_USE const struct file_config *config_of_folder(struct app *app, const char *folder,
                                                       const char **complaint);
/* Of one file, after its folder was searched. */
const struct file_config *config_of_file(struct app *app, const char *path);
/* Fills in what the engine must know of them; those it meets add their models. */
void configs_join(struct app *app, struct engine_settings *engine);
/* The configuration files that were read so far. */
uint32_t configs_count(const struct app *app);
const struct file_config *configs_at(const struct app *app, uint32_t index);

#endif
