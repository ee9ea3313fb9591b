#ifndef GRAPHLINT_FACTS_ANALYZE_H
#define GRAPHLINT_FACTS_ANALYZE_H

/* What each file of a loaded project brings to light, found by abstract
 * interpretation of its module body, functions and classes. The result of one
 * file depends on that file, on the modules that it used, directly or not, and on
 * what they and it look up; it is the same whatever the pool's size and whatever else is
 * analysed. */

#include "analyzer/facts/facts.h"
#include "analyzer/project/project.h"

/* Tells a function from every other one, from run to run. */
struct function_place {
	const char *path; /* of its project file */
	struct span span;
	uint32_t kind;
};

struct found_event {
	struct event event;
	struct function_place in;
	bool from_outside; /* it stands only if no file is known to call `in` */
};

typedef VEC(const struct project_file *) file_list;

struct file_events {
	const struct project_file *file;
	VEC(struct found_event) found;
	VEC(struct function_place) known; /* what its body is known to call */
	file_list used;                   /* modules that it asked for */
};

/* The body of a module that was asked for, and the modules that it asked for:
 * who rests on it rests on them. */
struct module_uses {
	const struct project_file *file;
	file_list used;
};

struct project_events {
	VEC(struct file_events) files;
	VEC(struct module_uses) modules;
};

/* Appends the events of each linted file that matters and is not known; all
 * they hold lives in `arena` or in the project. */
void analyze_project(const struct project *project, struct thread_pool *pool, struct arena *arena,
                     struct project_events *events);

#endif
