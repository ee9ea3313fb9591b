#ifndef GRAPHLINT_APP_PAGES_H
#define GRAPHLINT_APP_PAGES_H

/* The pages of docs/rules, put into the executable when it is built. */

#include "analyzer/finding/rule.h"

struct page {
	const char *slug;
	const char *markdown; /* NUL-terminated */
};

/* By slug; a NULL slug ends the list. */
extern const struct page pages[];

/* NULL: it has none. */
const char *page_of_rule(const struct rule *rule);

#endif
