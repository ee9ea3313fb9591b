#ifndef GRAPHLINT_FACTS_ANALYSIS_H
#define GRAPHLINT_FACTS_ANALYSIS_H

/* One analysis: the module body, functions and classes of one file, with all
 * that they call. It owns its tables of values, sites and contexts; the project
 * is only read, so analyses run in parallel. */

#include "analyzer/base/hash.h"
#include "analyzer/facts/analyze.h"
#include "analyzer/facts/domain.h"
#include "analyzer/flow/liveness.h"
#include "analyzer/ir/cfg.h"

enum facts_limits {
	FACTS_MAX_DEPTH = 9,     /* calls inlined into each other */
	FACTS_LEAST_DEPTH = 2,   /* of a root that is too large otherwise */
	FACTS_MAX_STEPS = 30000, /* instructions of one root */
	FACTS_LATE_STEPS = 60000,
	FACTS_BODY_STEPS =
	        120000, /* of a file's own body: a program, whose objects are all known */
	FACTS_FILE_STEPS = 150000, /* of all roots of a file; then each gets few */
	FACTS_LEAST_STEPS = 2000,
	FACTS_MAX_ROUNDS = 12,    /* runs of one block in one activation */
	FACTS_MAX_REFS = 48,      /* objects in one value */
	FACTS_MAX_FIELDS = 256,   /* of one object; more go to its elements */
	FACTS_MAX_REACH = 2000,   /* tensors looked at in one walk */
	FACTS_SWEEP_OBJECTS = 96, /* objects before unreachable ones are dropped */
	FACTS_JOIN_CACHE = 4096,
	FACTS_METHOD_CACHE = 512,
	FACTS_MAX_LEFT = 16,
	FACTS_MAX_NESTED = 32,    /* classes made inside functions, looked at by themselves */
	FACTS_IMPORT_DEPTH = 2,   /* calls inlined while an imported body runs */
	FACTS_MAX_IMPORTS = 1000, /* modules loaded for one file */
	FACTS_ROOM_CLASSES = 20,
	FACTS_MAX_OBJECTS = 1000,   /* in a state; then calls are not followed */
	FACTS_SMALL_FUNCTION = 100, /* instructions, without a loop: followed all the same */
	FACTS_OBJECTS_A_STEP = 16,  /* what passing a state on costs, in instructions */
	FACTS_CALLEES = 8,          /* alternatives followed at one call */
	FACTS_FEW_ROUNDS = 4,       /* of a loop that is no loop over steps */
};

struct id_slot {
	uint32_t id, hash;
};

struct id_table { /* open addressing: hash to id, keys are compared by the owner */
	struct id_slot *at;
	uint32_t count, room;
};

struct join_cached {
	value_id a, b, result;
};

/* The last question asked about what a value is: isinstance, is_tensor, hasattr. */
struct test {
	uint32_t inst;    /* the call */
	bool attribute;   /* others may pass it too */
	value_id classes; /* any of them; 0: nothing is known of them */
	value_id owners;  /* whose attribute or item it is about */
	value_id key;     /* the item's */
};

/* Names are compared by address: they are the run's, or literals. */
struct method_cached {
	const char *class_name, *name;
	const struct api_entry *entry;
};

struct ancestor_cached {
	const char *class_name, *ancestor;
	bool is;
};

struct external_cached {
	sym_id dotted;
	object_id id;
};

/* A function that runs: its frame and the temporaries of the current block. */
struct activation {
	struct activation *caller;
	context_id context;
	const struct project_file *file;
	const struct ir_func *func;
	object_id frame;
	object_id names;                   /* module and class bodies: where names are bound */
	value_id *temps;                   /* by instruction */
	uint32_t block_first, block_count; /* the block that runs: whose temporaries live */
	value_id returned, yielded;
	object_id filled; /* generators: the list that is made of what they give */
	value_id assumed; /* what a recursive call that is not followed gives */
	bool recursed;    /* there was one */
	uint32_t entered; /* from within, by those that are followed */
	struct state *exit;
	uint8_t yield_modes; /* modes seen at a yield */
	uint8_t entry_modes;
	object_id class_made; /* class bodies: the class */
	const struct flow_live *live;
	struct test test;
};

/* A slot or a name of the function that runs; neither: it lives always. */
struct variable {
	uint32_t slot;
	sym_id name;
	sym_id field; /* of an object */
};

/* An event as it is gathered; judged when the analysis ends. */
struct pending {
	enum event_kind kind;
	context_id context;
	const struct project_file *file;
	const struct ir_func *func;
	uint32_t inst;
	object_id holder;
	object_id kept; /* a tensor, newest */
	enum holder_kind holder_kind;
	unsigned flags;
	struct variable carrier;  /* CHAIN: what carries it from step to step */
	struct event_place place; /* if not the instruction's own */
	bool after_use;           /* STORE: the holder still has some that backward went through */
	bool activations;         /* still saved something when an iteration ended */
	bool survives;            /* was still there when one ended */
	bool evaluates;           /* EVAL: of a model that was put into evaluation */
	unsigned loops;           /* loop_kind of those that end while the holder lives */
	bool in_pass;      /* the holder, or what is carried, is local to a call of a module */
	value_id base;     /* DATA_STORE: what the kept one is cut from */
	bool overwrites;   /* DATA_STORE: a place of a list, each in its turn */
	bool replaces;     /* DATA_STORE: under a key that is there already, or given */
	bool once;         /* DATA_STORE: in one round of its loop: `if i == 0` */
	bool rotates;      /* DATA_STORE: the holder is one of a bounded number */
	bool runs_model;   /* each iteration calls a module for what is kept */
	bool handed_on;    /* the function that the holder is of hands on what is kept */
	bool fresh;        /* CHAIN: what is kept was made in the same iteration */
	bool own;          /* CHAIN: before, there was what the same line had left */
	bool from_outside; /* seen under unknown callers only */
	bool by_choice;    /* seen in a model only that may be another one */
	bool late;         /* seen by what a body may run beyond other roots' budget only */
	bool incomplete;   /* the root was cut short: what clears it may not have been seen */
	bool felt;         /* MODE_LEFT: something ran under the mode afterwards */
	bool left_on;      /* MODE_LEFT: gradients are on; else only what trains would miss them */
	struct event_place needed;
	const char *holder_name;
};

struct swept_place { /* of an object of the state that is swept in that round */
	uint32_t round;
	const struct object *object;
};

struct site {
	context_id context;
	uint32_t inst;
	bool retains;
};

typedef VEC(struct site) site_list;

struct clearing { /* where a container is emptied */
	object_id holder;
	struct site site;
	bool weak; /* it may have been another one */
};

struct function_facts { /* gathered once a function */
	const struct project_file *file;
	const struct ir_func *func;
	const struct flow_live *live;
	const loop_id *loop_of; /* by instruction: the innermost loop around it */
	bool executed;
	bool known; /* from the body of the file */
	bool looked_through;
	uint32_t hands_back; /* the parameter, counted from 1, that it always returns */
};

struct nested { /* a class or function */
	object_id id;
	struct state *state; /* where it is made */
};

struct field_uses { /* of an attribute that is written with tensors */
	object_id holder;
	sym_id name;
	site_list reads, writes; /* only writes that replace it */
};

struct seen_loop { /* what it goes over, as far as events asked */
	context_id context;
	loop_id loop;
	unsigned kinds;
};

struct left_mode { /* a function returned with modes that it was not entered with */
	uint32_t event;
	uint8_t modes;
};

struct analysis {
	const struct project *project;
	struct intern *names;
	struct arena *arena;              /* tables and the base */
	struct arena *heap;               /* states and what else one root needs */
	VEC(const struct value *) values; /* each stays where it is */
	struct id_table value_index;
	value_id *singles; /* by object id: the value that is that and nothing else */
	uint32_t single_room;
	struct join_cached *join_cache;
	struct method_cached *methods;
	struct ancestor_cached *ancestors;
	struct external_cached *externals;
	VEC(struct def) defs; /* by object id / 2 */
	struct id_table def_index;
	VEC(struct context) contexts;
	struct id_table context_index;
	VEC(struct pending) pending;
	struct id_table pending_index;
	VEC(struct function_facts) functions;
	struct id_table function_index;
	VEC(struct field_uses) fields;
	struct id_table field_index;
	VEC(struct seen_loop) seen_loops;
	struct id_table seen_loop_index;
	struct activation *top;
	object_id filled;          /* what the generator that runs next gives goes there */
	VEC(struct nested) nested; /* made inside functions of this root */
	VEC(object_id) pinned;     /* roots beside the frames */
	site_list backwards;       /* where backward or autograd.grad runs */
	VEC(object_id) walk;       /* scratch of graph_walk */
	VEC(object_id) held;       /* scratch of tensors_in */
	VEC(struct clearing) clearings;
	site_list runs;   /* where a model runs, called from outside */
	site_list rows;   /* where a body takes one row after the other of a tensor */
	site_list layers; /* ... where any takes one module after the other */
	uint32_t *held_marks;
	uint32_t held_room, held_round;
	uint32_t *marks;
	uint32_t mark_room, mark_round;
	uint32_t *value_marks; /* of state_sweep, as the next */
	uint32_t value_mark_room, place_room;
	struct swept_place *places; /* by object id */
	uint32_t backward_now;      /* the site that runs, a bit of 32 */
	uint32_t hook_depth;        /* hooks that run */
	uint32_t module_depth;      /* modules that run their parts */
	struct left_mode left[FACTS_MAX_LEFT];
	uint32_t left_count;
	struct heap_base base;
	struct chunk_ref *free_refs[FACTS_ROOM_CLASSES]; /* linked through their first chunk */
	struct chunk *free_chunks;                       /* linked through their first object */
	struct module_summaries *summaries;              /* shared with other analyses */
	struct module_making *making;                    /* an imported body runs */
	uint32_t loaded;                                 /* modules, into the base */
	file_list asked;                                 /* modules, whatever came of it */
	uint32_t stamps;
	uint32_t steps, budget; /* of this root */
	uint32_t last_step;     /* what is found by then is worth something to a body only */
	uint32_t depth;         /* calls inlined into each other, at most */
	uint32_t all_steps;
	bool exhausted;
	bool decorates;    /* what hands a definition back runs: by itself, and what is small */
	bool from_outside; /* roots run whose callers are not known */
	bool by_choice;    /* a model runs that may be another one */
	bool overwrites;   /* the store that is checked now goes to a place of a list */
	bool replaces;     /* ... to one that had something before, or has a name of its own */
	bool gradients_cleared; /* `grad = None` has run */
	bool gradients_zeroed;  /* ... `zero_grad()` */
	bool trains;            /* a backward has run in this root */
};

static inline const struct value *value_get(const struct analysis *a, value_id id)
{
	return a->values.at[id.n];
}

static inline struct def *def_of(const struct analysis *a, object_id id)
{
	return &a->defs.at[id.n / 2];
}

static inline const struct context *context_get(const struct analysis *a, context_id id)
{
	return &a->contexts.at[id.n];
}

/* values.c */
void values_init(struct analysis *a);
value_id value_flags(struct analysis *a, uint32_t flags);
value_id value_of(struct analysis *a, object_id id);
/* `refs` in any order, which is changed; at most FACTS_MAX_REFS. */
value_id value_of_set(struct analysis *a, uint32_t flags, object_id *refs, uint32_t count);
value_id value_join(struct analysis *a, value_id x, value_id y);
value_id value_without(struct analysis *a, value_id x, uint32_t flags);
value_id value_older(struct analysis *a, value_id x, const uint64_t *aged);
bool value_has(const struct analysis *a, value_id x, object_id id);
/* The only object of the value if it is that and nothing else, or 0. */
object_id value_single(const struct analysis *a, value_id x);
bool value_is_empty(value_id x);

/* Hash tables of ids; `same` compares the key with the owner's element. */
uint32_t *id_table_slot(struct analysis *a, struct id_table *table, uint64_t hash,
                        bool (*same)(const struct analysis *a, uint32_t id, const void *key),
                        const void *key);

/* sites.c */
void sites_init(struct analysis *a);
/* The newest object of a site; `part` tells several of one instruction apart. */
object_id site_object(struct analysis *a, struct activation *act, uint32_t inst, uint32_t part,
                      enum object_kind kind);
/* What is made where the definition says; one that is there stays as it is. */
object_id site_add(struct analysis *a, struct def def);
object_id const_object(struct analysis *a, enum ir_sub sub, sym_id text);
object_id imported_object(struct analysis *a, const struct project_file *file, sym_id name);
object_id namespace_object(struct analysis *a, const struct project_file *file);
object_id frame_object(struct analysis *a, context_id context, const struct ir_func *func);
context_id context_enter(struct analysis *a, context_id parent, const struct project_file *file,
                         const struct ir_func *func, uint32_t call, uint32_t part);
context_id context_add(struct analysis *a, const struct context *context);
/* The call in the caller that the site is in. */
struct site site_outward(const struct analysis *a, struct site site);
/* Does `loop` of the activation in `context` contain what was made at `def`? */
bool made_inside(const struct analysis *a, const struct def *def, context_id context, loop_id loop);
/* The same of what an instruction does. */
bool happens_inside(const struct analysis *a, context_id at, uint32_t inst, context_id context,
                    loop_id loop);
/* A loop goes on to its next round; one that always ends in the first repeats nothing. */
void note_round(struct analysis *a, context_id context, loop_id loop);
bool has_rounds(const struct analysis *a, context_id context, loop_id loop);
/* Does a module's forward run in the context, or call it? */
bool runs_forward(const struct analysis *a, context_id context);
/* Its place in the list, where it is once. */
uint32_t site_note(struct analysis *a, site_list *list, struct site site);
/* Is one of the sites in this loop of the context, and in none inside it? */
bool site_any_directly_in(const struct analysis *a, const site_list *sites, context_id context,
                          loop_id loop);
struct event_place place_of(const struct project_file *file, const struct ir_func *func,
                            uint32_t inst);

/* lookups.c */
void lookups_init(struct analysis *a);
/* The method's row in the class or its bases. Both names must outlive the analysis. */
const struct api_entry *method_entry(struct analysis *a, const char *class_name, const char *name);
/* Is the class the other one, or derived from it? */
bool class_is_a(struct analysis *a, const char *class_name, const char *ancestor);
object_id external_object(struct analysis *a, sym_id dotted);
/* Is it a class that the tables know? */
bool is_class_outside(struct analysis *a, object_id external);

/* heap.c */
/* Where states are made from now on. */
void heap_switch(struct analysis *a, struct arena *heap);
struct state *state_new(struct analysis *a);
struct state *state_copy(struct analysis *a, struct state *state);
/* Its memory is used again; the objects stay. */
void state_release(struct analysis *a, struct state *state);
/* Everything in the state becomes part of the base. */
void state_promote(struct analysis *a, struct state *state);
/* An object becomes part of the base. */
void base_put(struct analysis *a, object_id id, struct object *object);
bool state_join(struct analysis *a, struct state *into, struct state *from);
/* The next object beside the base, in the order of their ids. */
bool state_next(const struct state *state, struct state_place *place);
/* Leaves only what has the round among the marks. */
void state_keep_marked(struct analysis *a, struct state *state, uint32_t round);
const struct object *object_read(const struct state *state, object_id id);
/* Items of a dict stand apart from the attributes of an instance that is one. */
uint32_t item_key(const struct analysis *a, object_id owner, object_id key);
/* The object that is the field's key; 0: the field is an attribute, or at an index. */
object_id item_of_key(const struct analysis *a, object_id owner, uint32_t key);
/* The constant that a field's key stands for; 0: the field is an attribute. */
object_id key_constant(const struct analysis *a, object_id owner, uint32_t key);
struct object *object_write(struct analysis *a, struct state *state, object_id id);
/* Empties it: the site made a new one. */
struct object *object_renew(struct analysis *a, struct state *state, object_id id);
void object_drop(struct analysis *a, struct state *state, object_id id);
bool object_exists(const struct state *state, object_id id);
value_id field_get(const struct object *object, uint32_t key);
void field_set(struct analysis *a, struct object *object, uint32_t key, value_id value);
void field_join(struct analysis *a, struct object *object, uint32_t key, value_id value);
void elements_join(struct analysis *a, struct object *object, value_id value);
/* All that a container holds, whatever the key. */
value_id contents_of(struct analysis *a, const struct object *object);
/* Writing through a value: strong if it can be only that one object. */
bool is_strong(const struct analysis *a, value_id holders, object_id id);
void state_age(struct analysis *a, struct state *state, context_id context, loop_id loop);

/* alternatives.c */
/* Each is made where none of the others is: whichever there is, it is the only one. */
bool are_alternatives(const struct analysis *a, value_id holders);
/* What may be called is one of several models, which are made differently. */
bool is_choice(struct analysis *a, const struct state *state, value_id callees);

/* sweep.c */
void state_sweep(struct analysis *a, struct state *state);

/* graph.c */
/* A fresh round of a->marks, by object id: nothing is cleared between walks. */
uint32_t marks_begin(struct analysis *a);
bool is_tensor_like(const struct analysis *a, object_id id);
/* Adds to `found` each tensor-like object in the value, through containers. */
value_id tensors_in(struct analysis *a, const struct state *state, value_id value, int depth);
bool may_carry(const struct object *object);
bool value_may_carry(struct analysis *a, const struct state *state, value_id value);
object_id tensor_make(struct analysis *a, struct activation *act, struct state *state,
                      uint32_t inst, uint32_t part, value_id operands, unsigned bits);
void tensor_join_graph(struct analysis *a, struct state *state, object_id target, value_id operands,
                       bool strong);
typedef bool graph_visit(struct analysis *a, const struct state *state, object_id id,
                         void *context);
/* Depth-first over parents; stops when the visitor returns false. */
void graph_walk(struct analysis *a, const struct state *state, value_id from, graph_visit *visit,
                void *context);
bool graph_reaches(struct analysis *a, const struct state *state, value_id from, object_id id);
/* Does it reach its predecessor through sums, concatenations and minima only? */
bool graph_sums_up(struct analysis *a, const struct state *state, object_id sum);
/* Does anything saved stay alive with it, of what the loop's body made? */
bool graph_holds_activations(struct analysis *a, const struct state *state, object_id id,
                             context_id context, loop_id loop);
/* Runs through the graphs of `losses`, but not of `inputs`, whose gradients are asked for. */
void graph_backward(struct analysis *a, struct state *state, value_id losses, value_id inputs,
                    bool retain);
/* Code that is not known may run backward on it. */
void graph_may_be_needed(struct analysis *a, struct state *state, value_id value, bool returned);
/* A mode that a function left behind matters to what is computed after it. */
void feel_modes_left(struct analysis *a, const struct state *state, unsigned carried);
/* Looks for a tensor among what a graph was ever made of, itself first. */
enum ancestor { ANCESTOR_FOUND, ANCESTOR_PASSED, ANCESTOR_ABOVE };
typedef enum ancestor ancestor_test(const struct analysis *a, object_id id, const void *context);
bool graph_has_ancestor(struct analysis *a, object_id graph, ancestor_test *test,
                        const void *context);
bool graph_proven(struct analysis *a, object_id id);

/* events.c */
/* The innermost loop around an instruction, in its function or its callers'. */
bool innermost_loop(const struct analysis *a, context_id context, uint32_t inst, context_id *where,
                    loop_id *loop);
struct pending *event_note(struct analysis *a, struct activation *act, uint32_t inst,
                           enum event_kind kind, object_id holder, object_id kept);
/* An iteration of the loop ends, and what is kept is still there, with saved tensors or not. */
void events_outlive(struct analysis *a, object_id kept, context_id context, loop_id loop,
                    bool activations);
void check_store(struct analysis *a, struct activation *act, struct state *state, uint32_t inst,
                 object_id holder, value_id value);
bool runs_model(struct analysis *a, const struct activation *act, const struct state *state,
                uint32_t inst, object_id kept);
/* Says whether there is one. */
bool check_chain(struct analysis *a, struct activation *act, struct state *state, uint32_t inst,
                 value_id before, value_id value, object_id holder, struct variable carrier);
void check_links(struct analysis *a, struct activation *act, struct state *state, uint32_t inst,
                 value_id before, value_id value);
/* An attribute of one thing after the other, each of which lives on. */
void check_each(struct analysis *a, struct activation *act, struct state *state, uint32_t inst,
                object_id holder, value_id value);
void check_last(struct analysis *a, struct activation *act, struct state *state, uint32_t inst,
                object_id holder, value_id value);
/* A function ends: some of what its holders keep may be part of what it returns. */
void events_hand_on(struct analysis *a, const struct activation *act, const struct state *state);
/* After a root: its events from `first` on that rest on what it did not show. */
void events_doubt(struct analysis *a, uint32_t first);
void events_judge(struct analysis *a, struct arena *arena, struct file_events *events);

/* containers.c */
/* Which container a class outside the project is; OBJECT_INSTANCE: none. */
enum object_kind builtin_container(const char *class_name);
const char *builtin_class_of(enum object_kind kind);
enum object_kind container_kind(struct analysis *a, const struct state *state, object_id id);
value_id item_get(struct analysis *a, struct activation *act, struct state *state, uint32_t inst,
                  value_id object, value_id index);
void item_set(struct analysis *a, struct activation *act, struct state *state, uint32_t inst,
              value_id object, value_id index, value_id value);
/* The built-in operation, whatever a subclass makes of it. */
void item_set_plain(struct analysis *a, struct activation *act, struct state *state, uint32_t inst,
                    value_id object, value_id index, value_id value);
void item_delete(struct analysis *a, const struct activation *act, struct state *state,
                 uint32_t inst, value_id object, value_id index);
void container_add(struct analysis *a, struct activation *act, struct state *state, uint32_t inst,
                   value_id holders, value_id value);
value_id iterate(struct analysis *a, struct activation *act, struct state *state, uint32_t inst,
                 value_id iterable);
value_id build_container(struct analysis *a, struct activation *act, struct state *state,
                         uint32_t inst, const struct ir_inst *ir);
value_id unpack_value(struct analysis *a, struct activation *act, struct state *state,
                      uint32_t inst, value_id value, uint32_t shape);
object_id int_object(struct analysis *a, uint32_t number);
bool index_of(const struct analysis *a, value_id value, uint32_t *index);

/* clearings.c */
void container_clear(struct analysis *a, const struct activation *act, struct state *state,
                     uint32_t inst, value_id holders);
/* A variable or an attribute holds something else from now on. */
void containers_replaced(struct analysis *a, struct state *state, value_id before, value_id after);
/* What was bound to `before` is bound to `after` now: it starts anew with another container. */
void containers_let_go(struct analysis *a, const struct activation *act, const struct state *state,
                       uint32_t inst, value_id before, value_id after);

/* unknowns.c */
value_id unknown_value(struct analysis *a, struct activation *act, struct state *state,
                       uint32_t inst, uint32_t part, value_id from);
/* The part of an unknown object under a key: the same one each time. */
value_id unknown_part(struct analysis *a, struct activation *act, struct state *state,
                      uint32_t inst, object_id owner, uint32_t key, uint32_t part);
value_id unknown_iteration(struct analysis *a, struct activation *act, struct state *state,
                           uint32_t inst, object_id owner);

/* attributes.c */
value_id attribute_get(struct analysis *a, struct activation *act, struct state *state,
                       uint32_t inst, value_id object, sym_id name);
void attribute_set(struct analysis *a, struct activation *act, struct state *state, uint32_t inst,
                   value_id object, sym_id name, value_id value);
/* A name in a class and its bases; 0 when it is not there. */
value_id class_lookup(struct analysis *a, struct state *state, value_id class, sym_id name);
/* The dotted name of the nearest class outside the project, or NULL. */
const char *external_class(struct analysis *a, const struct state *state, object_id id);
value_id force_import(struct analysis *a, struct activation *act, struct state *state, value_id v);
bool is_module_instance(struct analysis *a, const struct state *state, object_id id);

/* calls.c */
struct argument {
	value_id value;
	sym_id keyword;
};
struct call {
	uint32_t inst;
	uint32_t part;
	const struct argument *at;
	uint32_t count;
};
value_id call_value(struct analysis *a, struct activation *act, struct state *state,
                    struct call call, value_id callee);
value_id call_object(struct analysis *a, struct activation *act, struct state *state,
                     struct call call, object_id callee);
bool result_is_dropped(const struct activation *act, uint32_t inst);
value_id call_unknown(struct analysis *a, struct activation *act, struct state *state,
                      struct call call, value_id callee);
value_id call_module(struct analysis *a, struct activation *act, struct state *state,
                     struct call call, object_id module);
/* What a method's first parameter is, if that is a module. */
value_id module_self(struct analysis *a, struct activation *act, const struct state *state);
value_id call_generator(struct analysis *a, struct activation *act, struct state *state,
                        uint32_t inst, object_id generator, uint8_t *modes);
value_id argument_at(struct analysis *a, const struct state *state, struct call call,
                     uint32_t index, const char *keyword);
value_id argument_named(const struct analysis *a, struct call call, const char *keyword);
value_id arguments_all(struct analysis *a, struct call call);
value_id bind_class(struct analysis *a, struct activation *act, struct state *state,
                    struct call call, object_id class);

/* loops.c */
enum loop_kind {
	LOOP_MODULES = 1, /* layers, parameters */
	LOOP_COUNT = 2,   /* numbers and names */
	LOOP_ROWS = 4,    /* of a tensor, or what one batch consists of */
	LOOP_WHILE = 8,
	LOOP_LIST = 16,      /* things the program has made */
	LOOP_DATA = 32,      /* what is loaded */
	LOOP_AROUND = 64,    /* there is one that makes the holder anew */
	LOOP_CALLS = 128,    /* the holder is older than the outermost call */
	LOOP_OUTLIVED = 256, /* ... though made in a loop, it may have outlived that */
	LOOP_FEW = 512,      /* two to four rounds */
};
/* An item was taken: with another index in each round, it says what the loop goes over. */
void loop_note_item(struct analysis *a, const struct activation *act, const struct state *state,
                    uint32_t inst, object_id owner, value_id index, value_id item);
/* What the innermost loop around an instruction goes over. */
unsigned loop_around(struct analysis *a, const struct activation *act, const struct state *state,
                     uint32_t inst);
/* What events have found the loop to go over. */
unsigned loop_kinds_seen(struct analysis *a, context_id context, loop_id loop);
/* Does the loop go on after the instruction, but by an exception? */
bool goes_round(const struct ir_func *func, uint32_t inst, loop_id loop);
/* Is it behind a condition of a remainder, as in `step % 100 == 0`, in the loop (0: in its
 * function)? */
bool runs_now_and_then(const struct ir_func *func, uint32_t inst, loop_id loop);
/* Does every round of its function's innermost loop come by? */
bool runs_each_round(const struct analysis *a, const struct activation *act, uint32_t inst);
/* In one round of its innermost loop, whose number the code asks for. */
bool happens_once(const struct analysis *a, const struct activation *act, uint32_t inst);
/* What the loops around an instruction go over that the holder outlives. */
unsigned loops_over(struct analysis *a, const struct activation *act, const struct state *state,
                    uint32_t inst, object_id holder, struct variable carrier);
/* The outermost loop around an instruction that ends while the holder lives; false: none. */
bool outermost_outlived(const struct analysis *a, context_id context, uint32_t inst,
                        object_id holder, context_id *where, loop_id *loop);

/* shapes.c */
/* It is made of the tensors among `operands`, element by element. */
void shape_follows(struct analysis *a, const struct state *state, object_id id, value_id operands);
/* Used where only one number can be, in the iteration that made it. */
void mark_number(struct analysis *a, value_id value);
/* Backward begins at it: one number, whenever it was made. */
void mark_loss(struct analysis *a, value_id losses);
/* Is it one number, by what is done with it, or with what it is made of? */
bool is_one_number(const struct analysis *a, object_id id);

/* fields.c */
void field_note_write(struct analysis *a, const struct activation *act, uint32_t inst,
                      object_id holder, sym_id name);
void field_note_read(struct analysis *a, const struct activation *act, uint32_t inst,
                     object_id holder, sym_id name);

/* narrow.c */
/* Is it a call that asks what something is? Then what it gives. */
bool test_call(struct analysis *a, struct activation *act, const struct state *state,
               struct call call, const char *name, value_id *result);

/* effects.c */
value_id call_external(struct analysis *a, struct activation *act, struct state *state,
                       struct call call, object_id external);
value_id apply_api(struct analysis *a, struct activation *act, struct state *state,
                   struct call call, const struct api_entry *entry);
value_id apply_property(struct analysis *a, struct activation *act, struct state *state,
                        uint32_t inst, value_id receiver, const struct api_entry *entry);
/* Something says that it is a tensor: what made it, or a backward. */
bool is_known_tensor(const struct analysis *a, const struct state *state, object_id id);
/* What every tensor among the operands is, and what any is: sizes, whether it is one at all. */
unsigned operand_bits(struct analysis *a, const struct state *state, value_id operands);
/* `left op right`, in place or not. */
value_id apply_binary(struct analysis *a, struct activation *act, struct state *state,
                      uint32_t inst, enum ir_sub op, value_id left, value_id right, bool in_place);

/* decorators.c */
/* The function or class among the arguments that the function gives back in any case; 0: none. */
value_id definition_handed_back(struct analysis *a, const struct state *state, struct call call,
                                const struct project_file *file, const struct ir_func *func);

/* `@decorator` above a definition, of which nothing is known but that: what it makes is taken for
 * the function or class. */
bool is_decoration(const struct analysis *a, const struct activation *act, struct call call);

/* models.c: what the configuration says of functions; 0: nothing */
unsigned model_of_function(const struct analysis *a, object_id function);
unsigned model_of_external(const struct analysis *a, object_id external);
/* The method of a class outside that it says something of; 0: it does not. */
object_id model_method(struct analysis *a, const char *class_name, sym_id name);
/* Whether it says something of a method. */
bool model_of_class(const struct analysis *a, object_id external);
value_id apply_model(struct analysis *a, struct activation *act, struct state *state,
                     struct call call, object_id callee, unsigned effects);

/* scopes.c: with statements and grad modes */
value_id scope_enter(struct analysis *a, struct activation *act, struct state *state, uint32_t inst,
                     value_id manager, uint32_t slot);
void scope_leave(struct analysis *a, struct activation *act, struct state *state, uint32_t inst,
                 uint32_t slot);
uint8_t modes_of(struct analysis *a, enum api_mode mode, value_id argument);
/* set_grad_enabled as a statement */
void mode_statement(struct analysis *a, struct activation *act, struct state *state, uint32_t inst,
                    value_id argument);
/* no_grad() as a statement */
void check_mode_used(struct analysis *a, struct activation *act, uint32_t inst);
/* A function returns with another mode than it was entered with. */
void check_mode_left(struct analysis *a, struct activation *act, const struct state *exit);

/* modules.c */
/* What the module's body leaves becomes part of the base. */
void module_load(struct analysis *a, const struct project_file *file);

/* analyze.c */
void analysis_init(struct analysis *a, const struct project *project,
                   struct module_summaries *summaries, struct arena *arena);

/* exec.c */
value_id run_function(struct analysis *a, struct activation *act, struct state *state);
struct activation activation_begin(struct analysis *a, struct activation *caller,
                                   const struct project_file *file, const struct ir_func *func,
                                   context_id context);
/* The class whose method runs, for super() without arguments. */
value_id enclosing_class(struct analysis *a, struct activation *act, struct state *state);
struct function_facts *function_facts(struct analysis *a, const struct project_file *file,
                                      const struct ir_func *func);
bool variable_lives(const struct analysis *a, const struct flow_live *live,
                    const struct ir_func *func, loop_id loop, struct variable variable);
/* `x += y` in a loop: may x be what an earlier iteration left? */
bool target_is_carried(const struct analysis *a, const struct activation *act, uint32_t inst);
value_id slot_read(struct analysis *a, const struct activation *act, const struct state *state,
                   uint32_t slot);
void slot_write(struct analysis *a, struct activation *act, struct state *state, uint32_t slot,
                value_id value);

static inline const struct ir_inst *inst_at(const struct activation *act, uint32_t inst)
{
	return &act->func->insts.at[inst];
}

#endif
