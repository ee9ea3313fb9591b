#ifndef GRAPHLINT_PROJECT_LINKS_H
#define GRAPHLINT_PROJECT_LINKS_H

/* Which file looked up which: a set of pairs that several threads add to. */

#include "analyzer/project/project.h"

struct links;

struct links *links_open(void);
void links_close(struct links *links);
void links_add(struct links *links, uint32_t from, uint32_t to);
uint32_t links_count(const struct links *links);
struct project_link links_at(const struct links *links, uint32_t index);

#endif
