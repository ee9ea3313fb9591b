#ifndef GRAPHLINT_APP_SHARD_H
#define GRAPHLINT_APP_SHARD_H

/* `--shard I/N`: a part of a run, and its report, which carries besides what was
 * found all that `graphlint merge` needs to make one run of the parts: what was
 * asked for, and what each result rests on. */

#include "analyzer/app/app.h"
#include "analyzer/engine/cache_index.h"
#include "analyzer/engine/engine.h"

/* Reads --shard; false: it cannot be, and was said. */
GL_MUST_USE bool shard_settings(struct app *app, struct engine_settings *engine);
struct report_shard shard_report(struct app *app, struct run *run);

/* A shard's record, read. */
struct shard_record {
	text_list arguments; /* as on a command line; what only concerns the output is not there */
	struct cache_index index;
};

/* NULL, or what is wrong. */
const char *shard_record_read(struct arena *arena, const char *letters,
                              struct shard_record *record);

#endif
