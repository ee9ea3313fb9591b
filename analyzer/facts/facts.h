#ifndef GRAPHLINT_FACTS_FACTS_H
#define GRAPHLINT_FACTS_FACTS_H

/* What the engine knows and rules may ask: events. An event is a place where a
 * graph outlives what made it, or where the program handles graphs in a way
 * that a rule speaks of. Rules only name, grade and tell them. */

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/base/arena.h"
#include "analyzer/base/intern.h"
#include "analyzer/base/vec.h"
#include "analyzer/source/source.h"

enum event_kind {
	EVENT_STORE,         /* a holder gets one more graph each iteration */
	EVENT_CHAIN,         /* a value's graph contains the one of its predecessor */
	EVENT_LAST,          /* a live graph is held across the next step */
	EVENT_EVAL,          /* a loop builds graphs that nothing runs backward through */
	EVENT_MODE_UNUSED,   /* a grad mode that is made and never entered */
	EVENT_MODE_LEFT,     /* a grad mode that is changed and not put back */
	EVENT_RETAIN,        /* retain_graph that nothing needs */
	EVENT_CREATE_GRAPH,  /* backward(create_graph=True) */
	EVENT_CONTEXT_STORE, /* a tensor on an autograd context */
	EVENT_HOOK_CYCLE,    /* a hook that captures what it hangs on */
	EVENT_DATA_STORE,    /* a holder gets one more tensor without a graph */
	EVENT_VIEW_STORE,    /* ... and it is a view of a larger storage */
	EVENT_FLUSH,         /* caches emptied or garbage collected each step */
	EVENT_SYNC,          /* a read that waits for the device each step */
	EVENT_DATA_READ,     /* `.data` drops the graph */
};

/* What keeps it. */
enum holder_kind {
	HOLDER_NONE,
	HOLDER_LIST,
	HOLDER_TUPLE,
	HOLDER_SET,
	HOLDER_DEQUE,
	HOLDER_DICT,
	HOLDER_TENSOR,
	HOLDER_OBJECT, /* an instance, a module, a function, a class */
};

/* How far what it rests on is known. */
enum certainty { CERTAINTY_ASSUMED, CERTAINTY_KNOWN };

enum event_flags {
	EVENT_ACTIVATIONS = 1,  /* saved tensors stay alive, not only nodes */
	EVENT_KEYED = 2,        /* stored under a key, or in a container under one */
	EVENT_ACCUMULATES = 4,  /* chain: sums, concatenations, minima */
	EVENT_WEIGHTS = 8,      /* chain: an average of parameters */
	EVENT_IN_HOOK = 16,     /* happens inside a hook */
	EVENT_IN_CACHE = 32,    /* the holder is a cache, closure, default argument */
	EVENT_ACCELERATOR = 64, /* may be on an accelerator */
	EVENT_DEFAULT_ARG = 128,
	EVENT_EVALUATES = 256, /* the model was put into evaluation */
};

struct event_place {
	const struct source *source;
	struct span span;
};

struct event {
	enum event_kind kind;
	enum certainty certainty;
	unsigned flags;
	enum holder_kind holder;
	const char *function;    /* qualified name of the one it happens in */
	const char *holder_name; /* "history", "self.outputs"; NULL: no name */
	const char *value_name;  /* the source text of what is kept; NULL: none */
	struct event_place at;
	struct event_place
	        happens; /* if it is told of elsewhere: the call whose result a cache keeps */
	struct event_place made;   /* where the holder is made; no source: unknown */
	struct event_place born;   /* where the graph is born */
	struct event_place value;  /* where what is kept is made; no source: nowhere in the text */
	struct event_place needed; /* more, by kind: the other place */
	struct event_place loop;   /* the innermost around it, over its callers; no source: none */
	const struct source *program; /* where the analysis that found it started */
	const char *born_text;        /* what made it: "torch.nn.functional.mse_loss" */
};

typedef VEC(struct event) event_list;

const char *event_kind_name(enum event_kind kind);
const char *holder_name(enum holder_kind holder);

#endif
