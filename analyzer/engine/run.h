#ifndef GRAPHLINT_ENGINE_RUN_H
#define GRAPHLINT_ENGINE_RUN_H

/* What the stages of a run hand on; private to the engine. */

#include "analyzer/engine/cache_index.h"
#include "analyzer/engine/engine.h"

struct run_file {
	const char *path;
	bool named; /* on the command line */
	struct arena arena;
	const struct source *source; /* NULL: `problem` says why */
	struct source_problem problem;
	bool has_no_language;
	bool told; /* its problem, if it has one */
	/* for the cache */
	const char *normal; /* path as the project has it */
	struct file_stamp stamp;
	struct digest digest;
	const struct project_file *loaded; /* NULL: reused, or not readable */
	struct cached_file *cached;        /* what the last run left of it */
	bool reused;                       /* its results are taken from there */
	uint32_t suppressed;
};

struct run_cache {
	const char *path;         /* NULL: there is none */
	uint64_t started;         /* nanoseconds */
	struct cache_index index; /* of the last run */
	bool usable;              /* it was over these very files */
	bool stale_stamps;        /* files were read only to see that nothing changed */
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
	struct run_cache cache;
	bool ignores_cache;
	struct arena **confirm_arenas; /* what evidence lives in */
	uint32_t confirmed;
	const char *here; /* the current folder */
	const char *error;
};

/* files.c */
void run_find_files(struct run *run);
void run_read_files(struct run *run);
bool run_is_in_shard(const struct run *run, const char *path);
/* cache.c: what need not be analysed again */
void run_cache_plan(struct run *run);
/* After loading: whether more files must be analysed than was planned. */
bool run_cache_widen(struct run *run);
/* Adds the results that are reused; false: a file changed meanwhile. */
bool run_cache_take(struct run *run);
/* cache_store.c */
void run_cache_store(struct run *run);
/* cache_folders.c: where imports of the loaded files were looked for */
void run_cache_folders(struct run *run, struct cache_index *index);
/* filter.c */
void run_filter(struct run *run);
/* confirm.c */
void run_confirm(struct run *run);
/* comments.c */
void run_suppress(struct run *run);

#endif
