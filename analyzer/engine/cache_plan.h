#ifndef GRAPHLINT_ENGINE_CACHE_PLAN_H
#define GRAPHLINT_ENGINE_CACHE_PLAN_H

/* Which files must be analysed when some changed, and which others must be
 * loaded for them. A file changed when its bytes did, or when a module that it
 * looked for may be found elsewhere now. An analysis is touched when its file or
 * one that it used changed, a report when a replay for it rests on such a file.
 * Files only ever become changed, touched or needed, until a round asks for no
 * more. */

#include "analyzer/base/name_table.h"
#include "analyzer/engine/run.h"

struct cache_plan {
	struct run *run;
	struct arena scratch;
	struct name_table by_path;   /* linted files of the index: place + 1 */
	struct name_table by_normal; /* all files of the index: place + 1 */
	struct name_table linted;    /* normal paths of this run: place + 1 */
	struct name_table given;     /* its paths as given: place + 1 */
	struct name_table judged;    /* paths of files with findings: place in digests + 1 */
	VEC(struct digest) digests;
	struct name_table folders; /* all that are watched: changed or not */
	bool any_folder_changed;
	struct name_table exists; /* paths that were asked for: 1 no, 2 yes */
	struct name_table delta;  /* normal paths that came or went */
	/* by place in the index: */
	bool *changed;
	bool *moved;    /* what its body leaves behind may be something else */
	bool *touched;  /* what its analysis found does not hold */
	bool *reported; /* what was reported in it does not */
	bool *imported; /* needed, and there because of files that need not be loaded */
};

/* Without a usable index only the normal paths are filled in. */
void cache_plan_open(struct run *run);
/* What follows from the files that changed. */
void cache_plan_touch(struct cache_plan *plan);
/* Files whose look-ups may end elsewhere now change; false: there is none. */
bool cache_plan_check_lookups(struct cache_plan *plan);
/* Whether one of the places is marked. */
bool cache_plan_any(const bool *marks, const place_list *places);
void cache_plan_add_delta(struct cache_plan *plan, const char *normal);

/* cache_widen.c: says of each file what is to be done with it. */
void run_cache_mark(struct run *run);
/* By place in the index: files that are in the project, loaded or not. */
bool *run_cache_kept(struct run *run);

#endif
