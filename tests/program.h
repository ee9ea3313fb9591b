#ifndef GRAPHLINT_TESTS_PROGRAM_H
#define GRAPHLINT_TESTS_PROGRAM_H

/* Runs the program that is under test and keeps what it wrote. */

#include "analyzer/base/arena.h"

/* A loop that adds up its loss in line 13 (GL103) and keeps it in line 14 (GL101). */
extern const char program_leaking[];

struct program_run {
	char *out, *err;
	int status; /* of exit; -1: it was ended by a signal */
};

/* Arguments as a shell would split them, single quotes included; `input` may
 * be NULL. NO_COLOR and the like are as the test's environment has them. */
struct program_run program_run(struct arena *arena, const char *input, const char *arguments);

/* Where two outputs part: some lines of both, for a message of a length that check
 * can carry; NULL: they are the same. */
const char *program_difference(struct arena *arena, const char *one, const char *other);

#endif
