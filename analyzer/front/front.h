#ifndef GRAPHLINT_FRONT_FRONT_H
#define GRAPHLINT_FRONT_FRONT_H

/* A language: source text to IR. What cannot be read becomes `unknown` and a
 * gap of the module, never silence. */

#include "analyzer/base/text.h"
#include "analyzer/ir/ir.h"
#include "analyzer/source/source.h"

/* A comment, delimiters included: suppressions are read from these. */
struct front_comment {
	struct span span;
};

struct front_result {
	struct ir_module *module;
	VEC(struct front_comment) comments;
	bool has_error; /* broken syntax somewhere */
};

struct front_end {
	const char *name;
	const char *const *suffixes; /* NULL-terminated, ".py" */
	/* Everything of the result lives in `arena`. */
	struct front_result (*lower)(struct arena *arena, struct intern *names,
	                             const struct source *source);
	/* --dump=tree */
	void (*dump_tree)(const struct source *source, struct text *out);
};

extern const struct front_end python_front_end;

/* By the path's suffix; NULL: no front end for it. */
const struct front_end *front_end_find(const char *path);

#endif
