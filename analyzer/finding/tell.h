#ifndef GRAPHLINT_FINDING_TELL_H
#define GRAPHLINT_FINDING_TELL_H

#include "analyzer/facts/facts.h"
#include "analyzer/finding/rule.h"

/* The first rule of the table that claims an event reports it; false: none does. */
GL_MUST_USE bool tell_finding(struct arena *arena, struct rule_table rules,
                              const struct event *event, struct finding *finding);
/* One store gets one finding: leaves one of each place, sorted. */
void settle_findings(struct arena *arena, finding_list *findings);

#endif
