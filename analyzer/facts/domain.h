#ifndef GRAPHLINT_FACTS_DOMAIN_H
#define GRAPHLINT_FACTS_DOMAIN_H

/* The abstract domain: one heap of objects by allocation site, tensors among
 * them, split into the newest instance of a site and all older ones.
 *
 * A value is a set of objects and of kinds that need no object; sets are
 * hash-consed, so equal sets have equal ids. A state maps objects to contents,
 * copied on write. Joins are unions throughout; the height is bounded by the
 * sites, and those by the calling contexts, which are capped.
 *
 * Graphs are the parents of tensors. A loop's back edge ages what was made in
 * its body: the newest instance becomes one of the older ones. What reaches an
 * older instance of its own kind from a thing that lives on is what grows. */

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/base/arena.h"
#include "analyzer/base/intern.h"
#include "analyzer/base/vec.h"
#include "analyzer/facts/facts.h"
#include "analyzer/ir/ir.h"
#include "analyzer/project/project.h"
#include "analyzer/torch/api.h"

typedef struct {
	uint32_t n;
} object_id; /* even: newest instance, odd: the older ones of the same site */
typedef struct {
	uint32_t n;
} value_id; /* 0: the empty set */
typedef struct {
	uint32_t n;
} context_id; /* 0: none; a chain of calls */

enum value_flags {
	V_UNBOUND = 1,
	V_NONE = 2,
	V_NUMBER = 4,
	V_STRING = 8,
	V_CLEAN = 16, /* anything else that never carries a graph */
	V_KEY = 32,   /* the name under which a dict or a module has something */
};

struct value {
	uint32_t flags;
	uint32_t count;
	const object_id *refs; /* sorted */
};

enum object_kind {
	OBJECT_NONE,
	/* immutable: they have no contents in a state */
	OBJECT_CONST,    /* def.name is the text, def.sub the kind */
	OBJECT_EXTERNAL, /* def.name is a dotted name outside the project */
	OBJECT_IMPORTED, /* def.name of module def.file, not looked up yet */
	/* with contents */
	OBJECT_NAMESPACE,  /* a module's globals */
	OBJECT_FRAME,      /* fields by slot */
	OBJECT_FUNCTION,   /* of: defining frame; fields: defaults by parameter name */
	OBJECT_PARTIAL,    /* of: the function; fields: leading arguments, then keywords */
	OBJECT_NAMEDTUPLE, /* a class; of: the names of its fields */
	OBJECT_WRAPPER,    /* of: the function called, mode set around it */
	OBJECT_BOUND,      /* of: receiver, with: function */
	OBJECT_CLASS,      /* of: bases, fields: namespace */
	OBJECT_SUPER,      /* of: receiver, with: class to search after */
	OBJECT_INSTANCE,   /* of: class */
	OBJECT_TENSOR,
	OBJECT_LIST,
	OBJECT_TUPLE,
	OBJECT_SET,
	OBJECT_DEQUE,
	OBJECT_DICT,
	OBJECT_ITERATOR,  /* elements: what it gives */
	OBJECT_GENERATOR, /* of: its frame, with: function */
	OBJECT_SCOPE,     /* an entered mode: what to restore */
	OBJECT_UNKNOWN,   /* may be a tensor, a module, a container, … */
};

/* Two bits each, so that join is union. */
enum tensor_bits {
	T_BARE = 1,          /* may have no graph */
	T_GRAPH = 2,         /* may carry a graph */
	T_ASSUMED = 4,       /* may carry one if something unknown gave it one */
	T_LEAF = 8,          /* may be a leaf that requires grad */
	T_LIVE = 16,         /* backward may not have run through it */
	T_FREED = 32,        /* backward may have run through it */
	T_SAVES = 64,        /* its node saves tensors */
	T_VIEW = 128,        /* small view of another storage */
	T_ARRAY = 256,       /* shares its storage with a numpy array */
	T_ACCUMULATES = 512, /* made by a sum, a concatenation, a minimum */
	T_WEIGHTS = 1024,    /* made of parameters only */
	T_MODULE = 2048,     /* made by calling a module */
	T_SCALAR = 4096,     /* known to be small */
	T_DEVICE = 8192,     /* may be on an accelerator */
	T_OUTPUT = 16384,    /* computed by a module, graph or not */
	T_VOLATILE = 32768,  /* of old code: nothing made of it has a graph */
	T_ROWS = 65536,      /* known to have two dimensions or more */
	T_DEEP = 1 << 17,    /* ... three or more */
	T_GUESSED = 1 << 18, /* may be a number: nothing says that it is a tensor */
};

enum object_flags {
	O_BOUNDED = 1, /* container with a maximum length */
	O_MODULE = 2,  /* known to be a module */
	O_FROZEN = 4,  /* module without gradients */
	O_HAS_WEIGHTS = 8,
	O_ESCAPED = 16,    /* code outside the project can reach it */
	O_PARAMETERS = 32, /* iterator or container of parameters */
	O_CONTEXT_MANAGER = 64,
	O_CACHED = 128, /* function behind a cache */
	O_PROPERTY = 256,
	O_STATIC = 512,
	O_CLASS_METHOD = 1024,
	O_AUTOGRAD_CONTEXT = 2048,
	O_MODE_SET = 4096,
	O_EVAL = 16384,       /* module that may be in evaluation */
	O_TRAINING = 1 << 18, /* module that may be in training */
	O_RECORD = 32768,     /* class whose annotated names are its fields */
	O_USED = 1 << 19,     /* backward went through what it holds */
	O_RETAINED = 1 << 20, /* tensor: a backward kept its graph */
	O_CLEARED = 1 << 17,  /* container that may be emptied */
	O_DEVICE = 1 << 16,   /* module that may have been moved to an accelerator */
};

struct field {
	uint32_t key; /* a sym, a slot, or an index: the object's kind says */
	value_id value;
};

struct object {
	uint32_t stamp; /* of the state that may write it in place */
	uint32_t flags;
	uint32_t tensor; /* tensor_bits */
	value_id of, with;
	value_id elements; /* under keys that are not known */
	value_id parents;  /* tensors: whose graphs it continues */
	value_id base;     /* tensors: whose storage it shares */
	uint32_t field_count, field_room;
	struct field *fields; /* sorted by key */
};

/* What is fixed about an object, by site. */
struct def {
	enum object_kind kind;
	context_id context;
	const struct project_file *file;
	const struct ir_func *func; /* where it is made; FUNCTION, CLASS, FRAME: what it is of */
	uint32_t inst;              /* in the context's function */
	uint32_t part;              /* several of one instruction */
	enum ir_sub sub;
	sym_id name;
	const struct api_entry *api;
	enum api_mode mode; /* WRAPPER, SCOPE */
	bool class_asked;   /* EXTERNAL: whether it is a class is known */
	bool is_class;
	/* gathered over the whole analysis */
	uint32_t tensor_seen;
	uint32_t backward_sites; /* which backwards went through it, as bits */
	bool reached;            /* a backward went through it */
	bool reached_old;        /* ... through an older instance, and freed it */
	bool reached_retained;   /* ... and kept it */
	bool proven;             /* certainly carries a graph */
	bool proven_module;
	bool followed; /* an event asks whether it outlives its iteration */
	bool counted;  /* something without a graph was made of it: a number, an index */
	bool passed;   /* code that is not known got it */
	bool watched;  /* an event asks what it still saves when its iteration ends */
	bool escaped;
	bool used_again; /* after a backward that kept its graph: by an operation, by another one */
	bool running;    /* NAMESPACE: its body was started; IMPORTED: being looked up */
	bool read;       /* container: something looks at what it holds */
	bool no_tensor;  /* UNKNOWN: a test has said so */
	bool some;       /* UNKNOWN: certainly not None */
	bool scalar;     /* used as one number: backward began at it, an `if` asked it */
	bool drained;    /* container: elements are taken out of it one by one */
	value_id parents_seen;
	object_id whole;              /* UNKNOWN: what it is a part of */
	value_id like;                /* tensors: made of these, element by element */
	value_id cut_from;            /* LIST: a slice of these */
	struct event_place cached_at; /* FUNCTION: where a cache is put around it */
	struct event_place place;
};

struct context {
	context_id parent;
	const struct project_file *file;
	const struct ir_func *func; /* the function that runs */
	const loop_id *loop_of;     /* by instruction of func: the innermost loop */
	uint32_t call, part;        /* instruction of the parent's function; which call of it */
	uint32_t depth;
	bool in_hook;
	uint64_t rounds; /* loops that went on to another round, as bits */
};

enum { CHUNK_OBJECTS = 16 }; /* ids, of which a state has some */

/* Objects with neighbouring ids, shared between states like the objects. */
struct chunk {
	uint32_t stamp; /* of the state that may write it in place */
	uint32_t held;  /* which ids, as bits */
	struct object *at[CHUNK_OBJECTS];
};

struct chunk_ref {
	uint32_t number; /* of the first id, over CHUNK_OBJECTS */
	struct chunk *chunk;
};

/* What module bodies made: the same in every state that has not changed it. */
struct heap_base {
	struct object **at; /* by object id */
	uint32_t room;
};

struct state {
	const struct heap_base *base;
	uint32_t stamp;
	uint8_t modes;     /* set of mode_bits */
	uint32_t mode_set; /* the statement of the running function that last set them */
	bool reachable;
	uint32_t count; /* objects beside the base */
	uint32_t chunk_count, room;
	struct chunk_ref *chunks; /* by number */
};

/* An object of a state: all of them by id, by asking for the next. */
struct state_place {
	uint32_t chunk;
	uint32_t left; /* bits of the chunk, those before taken away */
	bool began;
	object_id id;
	struct object *object;
};

enum {                             /* key spaces of one object apart */
       PARTIAL_KEYWORDS = 1 << 24, /* added to the sym of a keyword, or of a named field */
       ITEM_KEYS = 1 << 25,        /* added to the constant that is an instance's item key */
};

enum mode_bits { MODE_ON = 1, MODE_OFF = 2 };

static inline object_id newest_of(object_id id)
{
	object_id newest = {id.n & ~1U};
	return newest;
}

static inline object_id older_of(object_id id)
{
	object_id older = {id.n | 1U};
	return older;
}

static inline bool is_older(object_id id)
{
	return (id.n & 1U) != 0;
}

static inline bool base_has(const struct heap_base *base, object_id id)
{
	return id.n < base->room && base->at[id.n] != NULL;
}

#endif
