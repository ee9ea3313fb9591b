#ifndef GRAPHLINT_PROJECT_PROJECT_H
#define GRAPHLINT_PROJECT_PROJECT_H

/* The files of a run and how they import each other. Files to lint are added;
 * project_load lowers those that can matter and, from there, every file of the
 * tree that they import. Everything lives in the project's arena until
 * project_close; after project_load it is immutable and shared by threads. */

#include <stdbool.h>

#include "analyzer/base/intern.h"
#include "analyzer/base/thread_pool.h"
#include "analyzer/front/front.h"
#include "analyzer/ir/ir.h"
#include "analyzer/source/source.h"

struct project_file {
	const struct source *source;
	const struct front_end *front;
	struct front_result lowered; /* .module NULL: not lowered */
	bool linted;                 /* asked for, not only imported */
	bool matters;                /* the scan found something of ours in it */
	bool relevant;               /* it matters, or nothing is skipped */
	bool wanted;                 /* lowered, or about to be */
	const char *path;            /* its normal path */
	const char *root;            /* the folder above its outermost package */
	uint32_t number;             /* its place in the project */
	struct arena arena;          /* IR and all that belongs to this file */
};

/* One file looked another one up, while loading or while it was analysed. */
struct project_link {
	uint32_t from, to; /* numbers */
};

struct project;

struct project *project_open(struct intern *names);
void project_close(struct project *project);

/* The source is borrowed and must outlive the project. `no_skip` lowers it
 * whatever the scan says. */
void project_add(struct project *project, const struct source *source);
void project_load(struct project *project, struct thread_pool *pool, bool no_skip);

uint32_t project_file_count(const struct project *project);
/* Linted files first, in the order of their addition; then imported ones by path. */
const struct project_file *project_file_at(const struct project *project, uint32_t index);
struct intern *project_names(const struct project *project);

/* The file that `dotted` (leading dots: relative) means when `from` imports it;
 * NULL when it is not the project's. */
const struct project_file *project_import(const struct project *project,
                                          const struct project_file *from, const char *dotted);

/* Every look-up that found a file, once each, in no order: what depends on what. */
uint32_t project_link_count(const struct project *project);
struct project_link project_link_at(const struct project *project, uint32_t index);

#endif
