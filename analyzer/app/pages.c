#include "analyzer/app/pages.h"

#include <string.h>

const char *page_of_rule(const struct rule *rule)
{
	for (const struct page *page = pages; page->slug; page++) {
		if (!strcmp(page->slug, rule->slug))
			return page->markdown;
	}
	return NULL;
}
