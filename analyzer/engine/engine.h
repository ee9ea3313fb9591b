#ifndef GRAPHLINT_ENGINE_ENGINE_H
#define GRAPHLINT_ENGINE_ENGINE_H

/* The pipeline: from paths to an outcome. It knows no rule by name and nothing
 * of command lines; both come in as data. A run owns everything that its
 * outcome points to. Runs share nothing, so several can go on at once. */

#include "analyzer/base/progress.h"
#include "analyzer/engine/select.h"
#include "analyzer/finding/outcome.h"
#include "analyzer/project/project.h"
#include "analyzer/source/discover.h"

/* Rules that are not reported in the files that a pattern matches. */
struct file_ignore {
	const char *folder; /* the pattern is relative to this; "" is the current one */
	const char *pattern;
	const char *file; /* where it is said */
	uint32_t line;
	selector_list selectors;
};

typedef VEC(struct file_ignore) file_ignore_list;

typedef VEC(struct project_model) model_list;

/* Which findings are replayed: those that a budget allows, all, none. */
enum confirm_mode { CONFIRM_AUTO, CONFIRM_ALWAYS, CONFIRM_NEVER };

/* What holds for the findings in a file. */
struct file_terms {
	struct selection selection;
	enum confidence least_confidence;
	file_ignore_list ignores;
};

struct cache_index;

struct engine_settings {
	const char *const *paths; /* "-" is standard input */
	uint32_t path_count;
	const char *stdin_path; /* what people call it */
	struct discover_options discover;
	unsigned jobs;           /* 0: one for each core */
	bool no_skip;            /* lower every file in full */
	struct file_terms terms; /* of all files, without `terms_of` */
	const struct file_terms *(*terms_of)(void *context, const char *path);
	void *context;
	enum confirm_mode confirm;
	const model_list *models;   /* NULL: none; complete once the files are found */
	const char *root;           /* absolute: what fingerprints are relative to */
	uint32_t shard, shards;     /* from 1; shards 0: everything */
	struct cache_index *joined; /* what the shards of this run left; NULL: it has none */
	const char *baseline;       /* NULL: none */
	const char *diff_base;      /* a git revision; NULL: none */
	const char *cache;          /* the folder of the cache; NULL: none */
	struct progress *progress;  /* NULL: nobody asks */
	const char *build;          /* what tells one build of the program from another */
};

struct run;

/* Never NULL. What stops all of it (a baseline that cannot be read, no such
 * revision) is run_error. */
struct run *engine_run(const struct engine_settings *settings, struct rule_table rules);
void run_close(struct run *run);

/* What this run leaves, for `joined`; nothing where nothing was noted. */
void run_record(struct run *run, struct text *out);
const char *run_error(const struct run *run); /* NULL: none */
struct outcome *run_outcome(struct run *run);
const struct project *run_project(const struct run *run);
struct arena *run_arena(struct run *run);
/* --show-files: finds them and stops; problems go to the outcome. */
struct run *engine_list(const struct engine_settings *settings);
const struct discovery *run_files(const struct run *run);

#endif
