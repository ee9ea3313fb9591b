#ifndef GRAPHLINT_ENGINE_RUN_H
#define GRAPHLINT_ENGINE_RUN_H

/* What the stages of a run hand on; private to the engine. */

#include "analyzer/engine/engine.h"

struct run_file {
	const char *path;
	bool named; /* on the command line */
	struct arena arena;
	const struct source *source; /* NULL: `problem` says why */
	struct source_problem problem;
};

struct run {
	const struct engine_settings *settings;
	struct rule_table rules;
	struct arena arena;
	struct thread_pool *pool;
	struct intern *names;
	struct project *project;
	struct discovery found;
	struct run_file *files;
	uint32_t file_count;
	struct outcome outcome;
	const char *error;
};

/* files.c */
void run_find_files(struct run *run);
void run_read_files(struct run *run);
bool run_is_in_shard(const struct run *run, const char *path);
/* filter.c */
void run_filter(struct run *run);
/* comments.c */
void run_suppress(struct run *run);

#endif
