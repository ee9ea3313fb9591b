#ifndef GRAPHLINT_REPORT_AMOUNT_H
#define GRAPHLINT_REPORT_AMOUNT_H

/* Numbers for people, and what a replay measured in one line. */

#include "analyzer/base/text.h"
#include "analyzer/finding/finding.h"

/* "0", "512 B", "44.0 KiB"; binary units. */
void amount_bytes(struct text *out, double bytes);
/* "24 GiB" rather than "24.0 GiB": this figure was given, not measured. */
void amount_memory(struct text *out, uint64_t bytes);
/* "571,950" */
void amount_count(struct text *out, uint64_t count);
/* "3 findings" */
void amount_of(struct text *out, uint64_t count, const char *one, const char *many);
/* "▁▂▃▄▅▆▇█", at most eight bars; nothing for less than two values. */
void amount_sparkline(struct text *out, const int64_t *values, uint32_t count);

/* "replayed 32 steps (exact): 0 → 1.4 MiB, +44.0 KiB per step  ▁▂▃▄▅▆▇█   24 GiB
 * lasts 571,950 steps"; false: there is nothing to say. */
bool replay_sentence(const struct finding_replay *replay, uint64_t memory_bytes, struct text *out);

#endif
