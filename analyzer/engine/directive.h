#ifndef GRAPHLINT_ENGINE_DIRECTIVE_H
#define GRAPHLINT_ENGINE_DIRECTIVE_H

/* What a comment asks for: to leave findings out. One comment can hold several
 * directives (`# type: ignore  # noqa: E501, GL103`). */

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/base/vec.h"
#include "analyzer/source/source.h"

enum directive_kind {
	DIRECTIVE_NOQA,      /* # noqa: GL103 */
	DIRECTIVE_IGNORE,    /* # graphlint: ignore[GL103] */
	DIRECTIVE_FILE,      /* # graphlint: ignore-file */
	DIRECTIVE_NOLINT,    /* NOLINT(GL103) */
	DIRECTIVE_NEXT_LINE, /* NOLINTNEXTLINE(GL103) */
};

struct directive_code {
	struct span span;
	const char *selector; /* a code, prefix or slug; "ALL" for `*` */
	bool used;
};

struct directive {
	enum directive_kind kind;
	struct span span; /* from the comment mark or word to the last code */
	struct span comment;
	bool has_list; /* names codes; else it means all */
	bool used;
	VEC(struct directive_code) codes; /* those of other tools, too */
};

typedef VEC(struct directive) directive_list;

/* Appends the directives of the comment at `span`, its marks included. */
void directive_read(struct arena *arena, const struct source *source, struct span span,
                    directive_list *directives);
/* "GL103": a code of ours, whether or not there is such a rule. */
bool directive_code_is_ours(const char *selector);

#endif
