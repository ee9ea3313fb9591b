#ifndef GRAPHLINT_TESTS_WATCHED_RUNNER_H
#define GRAPHLINT_TESTS_WATCHED_RUNNER_H

/* Replays the loop around a place of a program, as for a finding that is there. */

#include "analyzer/replay/replay.h"

struct watched {
	const char *program, *place; /* the last such text */
};

/* `born`: what the place makes is known to have a graph. */
struct replay_result watched_run(struct arena *arena, struct intern *names,
                                 const struct watched *watched, bool born);

#endif
