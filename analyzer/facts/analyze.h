#ifndef GRAPHLINT_FACTS_ANALYZE_H
#define GRAPHLINT_FACTS_ANALYZE_H

/* All events of a loaded project, found by abstract interpretation of its
 * module bodies, functions and classes. Deterministic whatever the pool's size. */

#include "analyzer/facts/facts.h"
#include "analyzer/project/project.h"

/* Appends to `events`; all they hold lives in `arena` or in the project. */
void analyze_project(const struct project *project, struct thread_pool *pool, struct arena *arena,
                     event_list *events);

#endif
