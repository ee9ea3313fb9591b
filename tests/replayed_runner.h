#ifndef GRAPHLINT_TESTS_REPLAYED_RUNNER_H
#define GRAPHLINT_TESTS_REPLAYED_RUNNER_H

/* Replays a program that is a text. */

#include "analyzer/replay/replay.h"

/* `request` has its arena and names; the module is the text. */
struct replay_result replayed(const char *text, struct replay_request request);
/* "live_bytes", "peak_bytes", "storages", "tensors" or "nodes"; the test fails for any other. */
uint64_t replayed_figure(const struct replay_sample *sample, const char *key);

#endif
