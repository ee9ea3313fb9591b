#ifndef GRAPHLINT_REPLAY_MEASURE_H
#define GRAPHLINT_REPLAY_MEASURE_H

/* One replay while it runs, and what measuring needs to know of it: which nodes
 * and storages each iteration made, so that one that outlived its iteration can
 * be followed back to the variable that holds it. */

#include "analyzer/replay/py_code.h"
#include "analyzer/replay/replay.h"
#include "analyzer/replay/torch.h"

enum {
	CENSUS_NODES = 50000, /* above, the runtime's own counts are taken */
	CHAIN_SAMPLE = 16,    /* when what grows is looked for, the loop still running */
};

struct assumptions;

struct found_loop {
	const struct ir_module *module; /* NULL: none */
	uint32_t line;
};

struct id_set {
	uint64_t *at; /* open addressing, id + 1 */
	uint32_t mask, count;
};

/* What the watched places keep. */
struct shares {
	struct share_note *notes; /* open addressing */
	uint32_t mask, count;
	uint64_t from[REPLAY_MOST_WATCHED]; /* newest id before the place's instruction */
	uint64_t *series;                   /* by place: iterations, bytes; of each sample */
	uint32_t places, capacity;
};

struct replay {
	const struct replay_request *request;
	struct replay_result *result;
	struct assumptions *assumptions;
	struct found_loop *found; /* it only looks for the loop; NULL: it measures */
	uint64_t led;             /* places that conditions lead to */
	struct vm *vm;
	const struct ir_module *module; /* whose loop is measured */
	const struct replay_loop *loop; /* NULL: none */
	block_id header;
	uint64_t most_steps;                  /* once the loop runs */
	uint32_t rare_every;                  /* steps that a place of the loop may wait for */
	func_id function;                     /* of a line without a loop around it; 0: none */
	uint32_t capacity;                    /* of result->samples */
	uint64_t *node_marks, *storage_marks; /* newest ids at each sample */
	uint32_t marks, mark_capacity;
	/* Watched places, as bits: what happened at them in this iteration. */
	uint64_t ran, recorded, stored;
	uint32_t at_place; /* the last that was come by, from 1 */
	uint32_t *watched; /* in how many iterations they ran */
	struct replay_seen *seen;
	struct id_set *retained; /* nodes, by place */
	struct id_set *chained;  /* the same: of what was stored there */
	uint64_t chains;         /* places where each contains the one before */
	struct shares shares;
	/* The loop was measured; what comes after it may need what it kept. */
	uint32_t closing;
	uint32_t closing_entry, closing_entries; /* of the loop, since */
	bool was_exact;
	struct id_set kept; /* nodes */
};

/* Whether a watched place lies in a span of the module that is measured. */
bool measure_lies_in(const struct replay *r, uint32_t place, struct span span);
bool id_set_add(struct id_set *set, uint64_t id); /* false: it was there */
bool id_set_has(const struct id_set *set, uint64_t id);

/* --- needs.c */
/* Goes on behind the loop to see who uses the graphs that it kept; false: none. */
bool needs_begin(struct replay *r);
bool needs_look(struct replay *r); /* what it kept so far; false: nothing */
void needs_forget(struct replay *r);
/* The loop came by again: a few turns of it, then on; false: nothing more is to be learnt. */
bool needs_go_on(struct replay *r);
void needs_backward(struct replay *r, uint64_t node);
void needs_end(struct replay *r);

/* --- called.c */
/* A function as the program calls it. */
struct called {
	struct function *fn; /* whose parameters are stood in for */
	struct val callee;   /* itself, or what decorates it */
	struct val self;     /* PY_NULL: it has none */
	/* A function of autograd: by parameter, what operands turned out to be. */
	bool applied;
	uint32_t first;       /* parameter that is given */
	struct val *operands; /* NULL: none */
};
struct called called_open(struct vm *vm, struct function *fn);
struct val called_call(struct vm *vm, struct called *called);
void called_close(struct vm *vm, struct called *called);

/* --- entry.c */
struct val entry_run(struct replay *r);
bool entry_trains(const struct replay_loop *loop);
func_id entry_function_at(const struct ir_module *ir, uint32_t line);
void take_sample(struct replay *r); /* replay.c */

/* --- search.c */
void search_open(struct replay *r); /* the machine ends at its first backward */

/* --- places.c */
void places_open(struct replay *r);
void places_note(struct replay *r); /* an iteration is over */
/* What goes back to a caller that is not known may still be needed. */
void needs_returned(struct replay *r, struct val result);
void places_reset(struct replay *r);
void places_release(struct replay *r);

/* --- shares.c */
void shares_note(struct replay *r, uint32_t place, uint64_t id); /* of a node or a storage */
void shares_given(struct vm *vm, uint32_t place, struct val callee, struct val operand);
void shares_passed(struct vm *vm, uint32_t place);
void shares_sample(struct replay *r);
void shares_judge(struct replay *r);
void shares_reset(struct replay *r);

/* tensors, nodes and storages that a walk from Python finds (census.c). */
void census_take(struct replay *r, struct replay_sample *sample);
void measure_mark(struct replay *r);
/* Fills result->chain for what grew, while everything is still alive. */
void measure_chain(struct replay *r);
void measure_release(struct replay *r);

#endif
