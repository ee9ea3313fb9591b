#ifndef GRAPHLINT_FACTS_SUMMARY_H
#define GRAPHLINT_FACTS_SUMMARY_H

/* What the body of an imported module leaves behind, as a plain record: its
 * objects and what they refer to, by places in the record and not by the ids of
 * one analysis. Analyses of other files load it instead of running the body.
 *
 * A record depends on the sources alone, not on who asked for it first: only
 * what the module itself made is in it, and what its body did to objects of
 * other modules is not. Modules that need each other in a circle see nothing of
 * the one that was asked for.
 *
 * `module_summaries` is shared by all analyses of a run and owns the records. */

#include "analyzer/facts/analysis.h"

struct module_summary;

/* summary.c */
/* The record of what the body of `file` has left in the base of `a`; lives in `arena`. */
struct module_summary *summary_take(struct analysis *a, const struct project_file *file,
                                    struct arena *arena);
/* Puts it into the base of `a`. The modules that it needs must be there. */
void summary_load(struct analysis *a, const struct module_summary *summary);
/* Modules that made what the record refers to. */
uint32_t summary_need_count(const struct module_summary *summary);
const struct project_file *summary_need(const struct module_summary *summary, uint32_t index);

/* modules.c */
struct module_summaries *module_summaries_open(uint32_t files);
void module_summaries_close(struct module_summaries *summaries);
/* The modules whose bodies ran, and what each asked for. */
void module_summaries_uses(const struct module_summaries *summaries, struct arena *arena,
                           const struct project *project, struct project_events *events);

#endif
