#ifndef GRAPHLINT_FINDING_TELL_H
#define GRAPHLINT_FINDING_TELL_H

#include "analyzer/facts/facts.h"
#include "analyzer/finding/rule.h"

/* Turns events into findings: the first rule of the table that claims an event
 * reports it. The result is sorted and merged. */
void tell_findings(struct arena *arena, struct rule_table rules, const event_list *events,
                   finding_list *findings);

#endif
