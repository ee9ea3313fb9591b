#ifndef GRAPHLINT_REPLAY_ASSUME_H
#define GRAPHLINT_REPLAY_ASSUME_H

/* Which calls of what is not known carry a graph. Nobody can know before the
 * program calls backward: that proves the nearest such call behind it, if no
 * known parameter is there to explain it. So a first attempt assumes that every
 * call does, and notes which were proved; if one was not, the program runs
 * again with the proved ones only. Calls are known by their instruction, which
 * is the same in every attempt. */

#include "analyzer/replay/py.h"
#include "runtime/ag.h"

struct assumed_call {
	const struct ir_module *module;
	func_id func;
	uint32_t inst;
	bool proved;
};

/* A node that such a call made. */
struct assumed_node {
	uint64_t id;
	uint32_t call;
	bool of_model; /* it has parameters of its own */
};

struct assumptions {
	bool proved_only; /* else every call is assumed to carry one */
	VEC(struct assumed_call) calls;
	VEC(struct assumed_node) nodes; /* of this attempt, by id */
	struct arena arena;
};

/* The parameter that stands for those of every model that is not known; it is
 * a leaf. Borrowed, NULL when there is no memory. */
struct ag_tensor *assumed_parameter(struct vm *vm);
/* The running call may carry a graph: its number from 1, 0 if it may not. */
uint32_t assumed_call(struct vm *vm);
void assumed_made(struct vm *vm, uint32_t call, struct ag_tensor *result, bool of_model);
/* It does carry one: a model that was asked for its parameters. */
void assumed_proved(struct vm *vm, uint32_t call);
/* This has a graph, whatever calls it may come from. */
void assumed_prove(struct vm *vm, struct ag_tensor *from);
/* Backward is about to run from here. */
void backward_starts(struct vm *vm, struct ag_tensor *from, unsigned flags);
/* Backward, which a shape that was made up does not stop. */
bool assumed_backward(struct vm *vm, struct ag_tensor *from, struct ag_tensor *grad,
                      unsigned flags);
/* Before the next attempt; false: this one stands. */
bool assumed_again(struct assumptions *assumptions);
void assumed_release(struct assumptions *assumptions);

#endif
