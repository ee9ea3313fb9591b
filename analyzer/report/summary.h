#ifndef GRAPHLINT_REPORT_SUMMARY_H
#define GRAPHLINT_REPORT_SUMMARY_H

/* How a report for people ends: what was found, and what could not be looked
 * at. "Nothing found" and "could not look" are never the same. */

#include "analyzer/report/report.h"

void summary_write(const struct report *report, struct text *out);
/* Counts by rule, the most frequent first. */
void summary_statistics(const struct report *report, struct text *out);
/* "train.py:3-5: invalid syntax" */
void summary_skipped(const struct skipped *skipped, struct text *out);
/* Of findings, those with a safe fix. */
uint32_t summary_fixable(const struct outcome *outcome);

#endif
