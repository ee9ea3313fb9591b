#ifndef GRAPHLINT_TESTS_HOSTILE_H
#define GRAPHLINT_TESTS_HOSTILE_H

/* Arguments from bytes, that may fit or not: sizes may be zero, negative or too large for any
 * machine, numbers infinite or none, dtypes and texts unknown. Tensors live in a few slots. */

#include "runtime/ag.h"

enum { HOSTILE_SLOTS = 8, HOSTILE_ARGS = 20, HOSTILE_ITEMS = 4, HOSTILE_NAME = 24 };

struct hostile {
	const uint8_t *at, *end;
	struct ag_ctx *ctx;
	unsigned depth; /* of calls inside callbacks */
	struct ag_tensor *slots[HOSTILE_SLOTS];
	struct ag_value items[HOSTILE_ARGS + 1][HOSTILE_ITEMS]; /* of lists among the arguments */
};

/* Arguments of one call; what must be named comes as keywords. */
struct hostile_args {
	struct ag_value at[HOSTILE_ARGS];
	struct ag_keyword keywords[HOSTILE_ARGS];
	char names[HOSTILE_ARGS][HOSTILE_NAME];
	struct ag_args args;
};

unsigned hostile_byte(struct hostile *h);
int64_t hostile_number(struct hostile *h);
double hostile_real(struct hostile *h);
enum ag_dtype hostile_dtype(struct hostile *h);
/* Of a slot, borrowed; may be NULL. */
struct ag_tensor *hostile_some(struct hostile *h);
/* Into a slot; NULL is fine. */
void hostile_put(struct hostile *h, struct ag_tensor *t);
void hostile_put_results(struct hostile *h, struct ag_results *results);
/* A new one, with numbers in it unless it is large. */
struct ag_tensor *hostile_fresh(struct hostile *h);
/* One value of a kind of ops.def's; `arg` says whose items a list uses. */
struct ag_value hostile_value(struct hostile *h, char kind, uint32_t arg);
/* For a signature ("T input, i dim=0"), mostly of the kinds that it wants. `all`: what must be
 * named is named, else it comes by position too. */
void hostile_read(struct hostile *h, const char *signature, bool all, struct hostile_args *a);
/* Walks over what is alive. */
void hostile_look_around(struct hostile *h);
/* What failed says so. */
void hostile_check(struct hostile *h, bool good);

#endif
