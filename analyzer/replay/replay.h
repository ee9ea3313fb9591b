#ifndef GRAPHLINT_REPLAY_REPLAY_H
#define GRAPHLINT_REPLAY_REPLAY_H

/* Runs a program's loop on the autograd runtime and says what memory it keeps.
 * Numbers are computed only if the program's course depends on them, or if they
 * are wanted; where that is too much arithmetic, they are stood in for.
 * Everything of a result lives in the request's arena. A replay reads and
 * writes nothing but its own memory; its budgets are counted in steps, nodes
 * and bytes, the clock is only the last guard. */

#include "analyzer/base/arena.h"
#include "analyzer/base/intern.h"
#include "analyzer/ir/ir.h"

enum {
	REPLAY_KINDS = 6,  /* of memory: enum ag_kind */
	REPLAY_STEPS = 32, /* iterations without --steps */
	REPLAY_LEAST = 4,  /* iterations that say something */
	REPLAY_MOST_STEPS = 128,
	REPLAY_MAX_STAND_INS = 64,
	REPLAY_MAX_CHAIN = 24,
	REPLAY_MOST_WATCHED = 64,
};

/* Each is made only if the ones before it could not say enough. */
enum replay_attempt {
	REPLAY_WITHOUT_NUMBERS, /* until they are needed */
	REPLAY_WITH_NUMBERS,
	REPLAY_STOOD_IN, /* without, whatever needs them */
	REPLAY_HEALED,   /* and instructions that raise are stood in for */
};

enum replay_kind {
	REPLAY_UNKNOWN, /* too few iterations */
	REPLAY_FLAT,
	REPLAY_BOUNDED,
	REPLAY_LINEAR,
	REPLAY_SUPERLINEAR,
	REPLAY_SHRINKING,
};

struct replay_verdict {
	enum replay_kind kind;
	double slope; /* per iteration */
	bool exact;   /* every step, or every period, is equal */
	uint32_t warmup, period;
};

struct replay_sample {
	uint64_t live_bytes, storages, tensors, nodes;
	uint64_t by_kind[REPLAY_KINDS];
	/* the most that was alive since the sample before, and what it was */
	uint64_t peak_bytes, peak_by_kind[REPLAY_KINDS];
	bool unsized;   /* it lacks what some kernels take while they run (ag.h) */
	uint32_t entry; /* how often the loop had been entered by then */
};

/* Iterations between entering the loop and leaving it. */
struct replay_stretch {
	uint32_t first, count;
	struct replay_verdict bytes, nodes;
};

/* One link of what holds the memory: "history" holds "list" at a line. */
struct replay_link {
	const char *text;
	const struct source *source; /* NULL: at no line */
	uint32_t line;
};

struct replay_budget {
	uint64_t steps;      /* instructions */
	uint64_t host_bytes; /* Python's objects */
	uint64_t live_bytes; /* tensors */
	uint64_t nodes;
	double seconds;
	double work; /* multiplications; 0: replay_default_budget's */
};

struct replay_place {
	const struct source *source;
	struct span span;
};

struct replay_request {
	struct arena *arena;
	struct intern *names;
	const struct ir_module *module; /* the program */
	const struct ir_module *loops;  /* a module that it imports, whose loop is measured; NULL:
	                                   the program */
	uint32_t line;                  /* of the loop, or inside it; 0: the main loop */
	bool search; /* if no loop of the program trains, one that it runs elsewhere is measured */
	uint32_t iterations;      /* stop after so many; 0: run the program to its end */
	uint32_t most_iterations; /* go on to these while the series has no rule */
	bool rare; /* and until a watched place has run often enough, if only some steps do */
	/* Fewer iterations than these before an exception: what raises is stood in for. */
	uint32_t heal;
	bool prolong; /* the same if the loop is always left before them, and nothing grows */
	enum replay_attempt attempt; /* the first that is made; of a result, or 0 */
	bool settle; /* stop before, when growth has been the same for long enough */
	bool values; /* the output is wanted with its numbers */
	const struct replay_budget *budget; /* NULL: replay_default_budget */
	/* Places whose runs are counted; at most REPLAY_MOST_WATCHED. */
	const struct replay_place *watch;
	uint32_t watch_count;
	uint64_t driven;  /* of them, as bits: of another module, and the loop comes by there */
	uint64_t tensors; /* of them, as bits: what is stored there is a tensor for sure */
	uint64_t leads;   /* the same: in a last attempt, conditions are taken as they lead there */
	bool follow_retained; /* result->seen is wanted with its graphs that were retained */
	/* What is made there has a graph: that much is known without a replay. */
	const struct replay_place *born;
	uint32_t born_count;
	/* The IR of a module of the project, NULL if there is none. */
	const struct ir_module *(*find_module)(void *data, const char *name, bool *is_package);
	void *data;
};

/* Of what a watched place was given: in how many iterations what has a node that is still
 * alive, and the bytes that are. */
struct replay_share {
	struct replay_verdict nodes, bytes;
	struct replay_verdict stretch_nodes, stretch_bytes;
};

/* At a watched place, in how many iterations ... */
struct replay_seen {
	uint32_t recorded; /* what it made had a graph, and no backward ran then */
	uint32_t stored;   /* what it stored was a tensor */
	uint32_t retained; /* it ran a backward that kept its graph */
	bool reused;       /* and another one ran through that graph later */
	/* What it stores contains what it stored before, and a backward outside of the
	 * loop ran through several of them. */
	bool needed;
	struct replay_share share;
};

struct replay_result {
	enum replay_attempt attempt;
	uint32_t loop_line;                  /* 0: no loop was found */
	const struct ir_module *loop_module; /* where it is */
	uint32_t loop_end;
	const char *loop_kind;     /* "backward", "backward-call", "model", "plain" */
	const char *loop_function; /* NULL: top level */
	struct replay_sample *samples;
	uint32_t count;
	struct replay_verdict bytes, nodes;
	struct replay_stretch stretch; /* the longest */
	bool exact;                    /* nothing was stood in for */
	const char *stand_ins[REPLAY_MAX_STAND_INS];
	uint32_t stand_in_count;
	struct replay_link chain[REPLAY_MAX_CHAIN];
	uint32_t chain_count;
	const char *output; /* what the program printed */
	size_t output_length;
	const char *error;              /* the exception that ended it; NULL: none */
	const char *traceback;          /* the same with its frames */
	const char *limit;              /* which budget ended it; NULL: none */
	uint64_t steps;                 /* instructions that ran */
	const uint32_t *watched;        /* for each watched place, in how many iterations it ran */
	const struct replay_seen *seen; /* the same */
	uint64_t led;                   /* the same, as bits: conditions were led there */
	/* A digest of the graphs that the first eight iterations ran backward through: an
	 * edit that only cuts graphs, and leaves it as it is, trains as before. */
	uint64_t trained;
	bool needed; /* behind the loop, a backward runs through the graphs that it kept */
};

extern const struct replay_budget replay_default_budget;

struct replay_result replay_run(const struct replay_request *request);
const char *replay_kind_name(enum replay_kind kind);
/* What samples' by_kind is by: "parameter", "gradient", ... */
const char *replay_memory_name(uint32_t kind);

/* --- loops.c */
struct replay_loop {
	func_id func;
	loop_id loop;
	uint32_t line, end_line;
	uint32_t depth; /* 0: outermost in its function */
	const char *kind;
	const char *function; /* NULL: top level */
};
/* In source order; the array lives in the arena. */
uint32_t replay_loops(struct arena *arena, const struct intern *names,
                      const struct ir_module *module, struct replay_loop **loops);
/* The loop on a line, around it, or (line 0) the outermost one that trains. */
const struct replay_loop *replay_choose(const struct ir_module *module,
                                        const struct replay_loop *loops, uint32_t count,
                                        uint32_t line);
/* The innermost loop that calls the function, or one that calls it; NULL: none by name. */
const struct replay_loop *replay_choose_caller(struct intern *names, const struct ir_module *module,
                                               const struct replay_loop *loops, uint32_t count,
                                               func_id function);
/* Whether something in the module is asked for its `backward`. */
bool replay_names_backward(const struct ir_module *module);
/* Whether something in the module calls it, by its name. */
bool replay_is_called(struct intern *names, const struct ir_module *module, func_id function);
/* `step % 100` in it: the most, 0 if there is none. */
uint32_t replay_rare_steps(const struct ir_module *module, const struct replay_loop *loop);

/* --- verdict.c: as the measuring script on real PyTorch decides */
struct replay_verdict replay_verdict(const uint64_t *series, uint32_t count);
bool replay_grows(enum replay_kind kind);

#endif
