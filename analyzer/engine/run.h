#ifndef GRAPHLINT_ENGINE_RUN_H
#define GRAPHLINT_ENGINE_RUN_H

/* What the stages of a run hand on; private to the engine. */

#include "analyzer/engine/cache_index.h"
#include "analyzer/engine/engine.h"
#include "analyzer/facts/analyze.h"

struct run_file {
	const char *path;
	bool named; /* on the command line */
	struct arena arena;
	const struct source *source; /* NULL: `problem` says why, or it was not read */
	struct source_problem problem;
	bool has_no_language;
	bool told;                         /* its problem, if it has one */
	const struct project_file *loaded; /* NULL: not in the project */
	uint32_t suppressed;
	/* for the cache */
	const char *normal; /* path as the project has it */
	struct file_stamp stamp;
	struct digest digest;
	const struct cached_file *cached; /* what the last run left of it; NULL: nothing */
	bool known;                       /* what its analysis finds is taken from there */
	bool needed;                      /* loaded all the same */
	bool asked_for;                   /* not ours, but its code is looked at */
	bool is_told_anew;                /* what is found in it changed */
	bool reused;                      /* what is reported in it is taken as it is */
	struct cached_bytes found;        /* of this run's analysis */
	file_list used;                   /* by it */
};

struct cache_plan;

struct run_cache {
	const char *path;         /* NULL: nothing is kept on disk */
	bool records;             /* what results rest on is noted */
	uint64_t started;         /* nanoseconds */
	struct cache_index index; /* of the last run, or of all shards */
	struct cache_index left;  /* what this run leaves */
	bool leaves;              /* there is such a thing */
	bool usable;              /* there is such an index */
	bool same_files;          /* ... over the very files of this run */
	bool is_stale;            /* its stamps are, though nothing changed */
	bool reuses_all;          /* nothing changed */
	bool *file_changed;       /* by place in the index */
	bool *folder_changed;
	struct cache_plan *plan;
};

/* Findings that comments left out of a file that is only imported. */
struct imported_suppressed {
	const struct source *source;
	uint32_t count;
};

/* A file whose loops were replayed, and the modules that they imported. */
struct replayed_file {
	const struct project_file *file;
	file_list used;
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
	struct run_file **owners;   /* of the project's files, by number */
	VEC(struct skipped) unread; /* what could not be found or read */
	struct outcome outcome;
	VEC(struct imported_suppressed) imported_suppressed;
	VEC(struct replayed_file) replayed;
	VEC(const char *)
	drivers;                         /* normal paths of files that replays start at, and
	                                    that are not loaded */
	VEC(struct module_uses) modules; /* of this run's analyses */
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
/* Whether the file is this run's to look at; others only serve it. */
bool run_is_in_shard(const struct run *run, const char *path);
/* cache_widen.c: what is loaded without being linted */
void run_cache_add_imported(struct run *run);
/* engine.c */
void run_count_file(struct run *run, const struct run_file *file, bool was_analysed);
/* ... and its code with it */
bool run_has_loaded(const struct run *run, const char *normal);
/* cache.c: what need not be analysed again */
void run_cache_plan(struct run *run);
/* Scratch of the plan; the rest lives in the run. */
void run_cache_close(struct run *run);
/* cache_widen.c: after loading, whether more files must be loaded or analysed */
bool run_cache_widen(struct run *run);
/* After the analysis: whether results changed in files that are not loaded. */
bool run_cache_settle(struct run *run);
/* shard.c: whether the code of more files must be looked at */
bool run_shard_widen(struct run *run);
/* Leaves out what other shards tell. */
void run_shard_filter(struct run *run);
/* cache_take.c: the findings of all files' analyses, of this run or taken;
 * false: a file changed meanwhile. */
GL_MUST_USE bool run_find(struct run *run);
/* Leaves in the outcome what is told in this run. */
void run_cache_split(struct run *run);
/* Adds the results that are reused; false: a file changed meanwhile. */
GL_MUST_USE bool run_cache_take(struct run *run);
/* cache_store.c */
void run_cache_store(struct run *run);
/* cache_folders.c: where the look-ups of the index's files may end */
void run_cache_folders(struct run *run, struct cache_index *index);
/* filter.c */
void run_filter(struct run *run);
/* confirm.c */
void run_confirm(struct run *run);
/* comments.c */
void run_suppress(struct run *run);

#endif
