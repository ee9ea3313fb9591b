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
	struct front_syntax *syntax; /* kept there, if it is wanted */
	bool linted;                 /* asked for, not only imported */
	bool known;                  /* linted, and what is found in it is known already */
	bool waits;                  /* lowered only if another file asks for it */
	bool matters;                /* the scan found something of ours in it */
	bool relevant;               /* it matters, or nothing is skipped */
	bool wanted;                 /* lowered, or about to be */
	const char *path;            /* its normal path */
	const char *root;            /* the folder above its outermost package */
	uint32_t number;             /* its place in the project */
	struct arena arena;          /* IR and all that belongs to this file */
};

#define PROJECT_NOTHING UINT32_MAX

/* One file looked a module up, while loading or while it was analysed. */
struct project_lookup {
	uint32_t from, to; /* numbers; PROJECT_NOTHING: it is not the project's */
	const char *dotted;
	bool scans; /* among linted files only, to see whether `from` matters */
	bool loads; /* `to` is in the project because of it */
};

/* What the configuration says of functions, by their dotted names. */
enum project_model_effects {
	MODEL_RETURNS_GRAPH = 1,
	MODEL_TAKES_GRAPH = 2, /* keeps what it is given */
	MODEL_DETACHES = 4,
	MODEL_NO_GRAD = 8,
};

struct project_model {
	const char *name;
	unsigned effects;
};

struct project;

struct project *project_open(struct intern *names);
void project_close(struct project *project);

/* The source is borrowed and must outlive the project. `no_skip` lowers it
 * whatever the scan says. */
void project_add(struct project *project, const struct source *source);
/* The same; the syntax of the source is kept, when it is lowered. */
void project_add_parsed(struct project *project, const struct source *source,
                        struct front_syntax *syntax);
/* A linted file that others need, whose own findings are known. */
void project_add_known(struct project *project, const struct source *source);
/* A linted file whose own findings nobody asks for here: it is looked at, and
 * lowered when others import it. */
void project_add_waiting(struct project *project, const struct source *source);
/* A file that is not linted, or that waits, and is lowered all the same: somebody
 * whose own imports need not be loaded imports it. */
void project_add_imported(struct project *project, const char *path);
void project_load(struct project *project, struct thread_pool *pool, bool no_skip);

/* They are borrowed. */
void project_set_models(struct project *project, const struct project_model *models,
                        uint32_t count);
bool project_has_models(const struct project *project);
/* 0: nothing is said of it. */
unsigned project_model(const struct project *project, const char *dotted, size_t length);
/* Whether something is said of a method of the class. */
bool project_models_class(const struct project *project, const char *dotted, size_t length);

uint32_t project_file_count(const struct project *project);
/* Linted files first, in the order of their addition; then imported ones by path. */
const struct project_file *project_file_at(const struct project *project, uint32_t index);
struct intern *project_names(const struct project *project);

/* The file that `dotted` (leading dots: relative) means when `from` imports it;
 * NULL when it is not the project's. */
const struct project_file *project_import(const struct project *project,
                                          const struct project_file *from, const char *dotted);

/* The IR of what `dotted` means there, and whether it is a package; NULL: not the
 * project's, or not lowered. */
const struct ir_module *project_import_module(const struct project *project,
                                              const struct project_file *from, const char *dotted,
                                              bool *is_package);

/* Every look-up so far, once each, in no order. */
uint32_t project_lookup_count(const struct project *project);
struct project_lookup project_lookup_at(const struct project *project, uint32_t index);
/* Some files were not loaded because there are too many. */
bool project_is_full(const struct project *project);

#endif
