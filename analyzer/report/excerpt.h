#ifndef GRAPHLINT_REPORT_EXCERPT_H
#define GRAPHLINT_REPORT_EXCERPT_H

/* Lines of source with places in them underlined and labelled. Tabs, wide and
 * combining characters are lined up; long lines are cut to what matters. */

#include "analyzer/finding/finding.h"
#include "analyzer/report/style.h"

struct excerpt_mark {
	struct span span;
	bool primary;      /* ^^^ instead of --- */
	const char *label; /* NULL: none */
};

typedef VEC(struct excerpt_mark) excerpt_marks;

struct excerpt_look {
	bool color;
	enum style primary;
	unsigned gutter;  /* digits of the largest row */
	unsigned columns; /* room for source text; 0: as much as is usual */
};

/* The digits that the rows of these marks need. */
unsigned excerpt_gutter(const struct source *source, const excerpt_marks *marks);
/* All marks are in `source`, and in one cell of it; sorts them. */
void excerpt_print(struct arena *scratch, const struct source *source, excerpt_marks *marks,
                   const struct excerpt_look *look, struct text *out);
/* "   |" */
void excerpt_gap(const struct excerpt_look *look, struct text *out);

#endif
