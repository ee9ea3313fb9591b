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

/* The syntax of a source, parsed when it is first needed and kept, so that texts that differ from
 * it in one place are parsed sooner: `{source, NULL}` until then. For one thread. */
struct front_syntax {
	const struct source *source;
	void *tree;
};
void front_syntax_release(struct front_syntax *syntax);

struct front_end {
	const char *name;
	const char *const *suffixes; /* NULL-terminated, ".py" */
	/* Everything of the result lives in `arena`. `known` is the syntax of the source or of
	 * one much like it, or NULL. */
	struct front_result (*lower)(struct arena *arena, struct intern *names,
	                             const struct source *source, struct front_syntax *known);
	/* --dump=tree */
	void (*dump_tree)(const struct source *source, struct text *out);
};

extern const struct front_end python_front_end;

/* By the path's suffix; NULL: no front end for it. */
const struct front_end *front_end_find(const char *path);

#endif
