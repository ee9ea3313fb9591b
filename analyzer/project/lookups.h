#ifndef GRAPHLINT_PROJECT_LOOKUPS_H
#define GRAPHLINT_PROJECT_LOOKUPS_H

/* Every look-up of a module with what it found, once each: what a result
 * depends on, be it there or missing. Several threads add and ask. */

#include "analyzer/project/project.h"

struct lookups;

struct lookups *lookups_open(void);
void lookups_close(struct lookups *lookups);
/* The name is copied. One that is known stays as it is, but for `loads`. */
void lookups_add(struct lookups *lookups, struct project_lookup lookup);
/* What was found by the same question; false: it was not asked. */
bool lookups_find(struct lookups *lookups, struct project_lookup *lookup);
uint32_t lookups_count(const struct lookups *lookups);
struct project_lookup lookups_at(const struct lookups *lookups, uint32_t index);

#endif
