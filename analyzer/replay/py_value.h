#ifndef GRAPHLINT_REPLAY_PY_VALUE_H
#define GRAPHLINT_REPLAY_PY_VALUE_H

/* Python values. Small ones (None, bool, int of 64 bit, float) are immediate,
 * the others are reference counted objects, released the moment the last
 * reference goes, as in CPython. A function that returns `struct val` gives a
 * new reference, PY_NULL means that vm->exc holds an exception; arguments are
 * borrowed unless the function is named `_take`. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vm;
struct cls;
struct dict;
struct obj;

enum rp_tag {
	PY_NULL, /* unbound, or an exception is set */
	PY_NONE,
	PY_BOOL,
	PY_INT,
	PY_FLOAT,
	PY_NOT_IMPLEMENTED,
	PY_ELLIPSIS,
	PY_OBJECT,
};

struct val {
	uint32_t tag;
	union {
		int64_t i;
		double f;
		struct obj *o;
	} as;
};

enum rp_kind {
	K_INSTANCE, /* nothing but attributes; exceptions and modules of torch are such */
	K_LONG,
	K_STR,
	K_BYTES,
	K_LIST,
	K_TUPLE,
	K_DICT,
	K_SET,
	K_DEQUE,
	K_SLICE,
	K_RANGE,
	K_FUNCTION,
	K_NATIVE,
	K_METHOD,
	K_CELL,
	K_CLASS,
	K_MODULE,
	K_GENERATOR,
	K_ITER,
	K_DESCRIPTOR, /* property, classmethod, staticmethod */
	K_SUPER,
	K_FRAME,
	K_WEAKREF,
	K_VIEW,   /* dict.keys(), .values(), .items() */
	K_NUMBER, /* of a class derived from int or float */
	K_UNKNOWN,
	K_TENSOR,
	K_NODE,
	K_DTYPE,
	K_DEVICE,
	K_STORAGE,
	K_ARRAY,
	K_COUNT
};

enum obj_flags {
	OBJ_GC = 1,         /* a container: the collector looks into it */
	OBJ_WEAK = 2,       /* somebody holds a weak reference to it */
	OBJ_DEAD = 4,       /* being released */
	OBJ_FINALIZED = 8,  /* its __del__ has run */
	OBJ_PRESERVED = 16, /* a tensor's wrapper that only the runtime keeps */
	OBJ_REACHED = 32,   /* scratch mark of the collector */
	OBJ_LIBRARY = 64,   /* made by the interpreter's own library */
	OBJ_LISTED = 128,   /* scratch mark of what lists things once */
};

struct obj {
	uint32_t refs;
	uint8_t kind;
	uint8_t flags;
	uint16_t busy; /* repr guard */
	struct cls *cls;
	struct dict *attrs;      /* NULL until one is set */
	struct obj *prev, *next; /* all live objects, oldest first */
};

struct str {
	struct obj h;
	uint32_t length; /* bytes of UTF-8 */
	uint32_t chars;  /* code points */
	uint64_t hash;   /* 0: not yet */
	bool interned;
	char at[];
};

/* Sign and magnitude, little end first, no leading zero limbs. */
struct big {
	struct obj h;
	bool negative;
	uint32_t count;
	uint32_t room; /* for that many limbs there is memory */
	uint32_t limb[];
};

struct number {
	struct obj h;
	struct val value;
};

struct list { /* K_LIST, K_TUPLE */
	struct obj h;
	struct val *at;
	uint32_t count;
	uint32_t capacity;
	uint64_t hash;
};

struct dict_entry {
	struct val key; /* PY_NULL: deleted */
	struct val value;
	uint64_t hash;
};

struct dict { /* K_DICT, K_SET; insertion order */
	struct obj h;
	struct dict_entry *at;
	uint32_t used;     /* entries, deleted ones included */
	uint32_t count;    /* live entries */
	uint32_t capacity; /* of `at` */
	uint32_t *index;   /* open addressing, entry + 1; NULL while small */
	uint32_t mask;
	uint32_t version; /* changes with every insertion or removal */
	bool frozen;      /* frozenset */
};

struct deque {
	struct obj h;
	struct val *at; /* ring */
	uint32_t first, count, capacity;
	int64_t maxlen; /* -1: none */
};

struct slice {
	struct obj h;
	struct val start, stop, step;
};

struct range {
	struct obj h;
	int64_t start, stop, step, length;
};

struct cell {
	struct obj h;
	struct val value;
};

struct code;
struct ir_module;

struct function {
	struct obj h;
	struct code *code;
	struct str *name;
	struct str *qualified;
	struct module *module;
	struct val *captured; /* the parent's cells, by slot of the code */
	struct val *defaults; /* by parameter; PY_NULL: none */
};

/* A native function. `sig` names the parameters, separated by blanks: those
 * after `?` are optional, `*x` and `**x` collect the rest, `|` starts the
 * keyword-only ones. With a NULL sig it gets its positional arguments as they
 * are. `a` is borrowed; missing optional arguments are PY_NULL. */
typedef struct val rp_native_fn(struct vm *vm, struct val *a, uint32_t n);

struct native_def {
	const char *name;
	rp_native_fn *fn;
	const char *sig;
};

/* Functions of a class or module that become values when one is asked for. */
struct native_offer {
	const struct native_def *defs; /* ends with a NULL name */
	struct native_offer *next;     /* added before */
};

struct native {
	struct obj h;
	const struct native_def *def;
	struct str *name;
	struct native_sig *parsed;
	struct val bound;  /* data of the function, such as an op's number */
	struct cls *owner; /* borrowed; NULL for functions of modules */
};

struct method {
	struct obj h;
	struct val fn;
	struct val self;
};

enum descriptor_kind { DESC_PROPERTY, DESC_CLASSMETHOD, DESC_STATICMETHOD };

struct descriptor {
	struct obj h;
	enum descriptor_kind what;
	struct val get, set, del, doc;
};

struct super {
	struct obj h;
	struct cls *start;
	struct val self;
};

enum cls_flags {
	CLS_HEAP = 1, /* defined by a class statement */
	CLS_EXCEPTION = 2,
	CLS_NN_MODULE = 4, /* derives from torch.nn.Module */
	CLS_HAS_DEL = 8,
	CLS_LIBRARY = 16,
	CLS_OPAQUE = 32,    /* a class that nothing is known of */
	CLS_SLOTS = 64,     /* its instances have the attributes of __slots__ only */
	CLS_ABSTRACT = 128, /* methods are missing */
};

struct cls {
	struct obj h;
	struct str *name;
	struct str *qualified;
	struct str *module;
	struct list *bases; /* tuple */
	struct cls **mro;   /* itself first, owned references but for itself */
	uint32_t mro_count;
	struct dict *ns;
	struct native_offer *offers;
	enum rp_kind layout; /* of its instances */
	uint32_t flags;
	struct cls *meta; /* NULL: type */
};

struct module {
	struct obj h;
	struct str *name;
	struct dict *ns;
	struct native_offer *offers;
	bool opaque_names;                    /* `from somewhere_unknown import *` was in it */
	const struct library_module *library; /* definitions still to be had; NULL: none */
	const struct native_module *native;   /* NULL: none */
	bool opaque;                          /* nothing is known of it: any attribute stands in */
	bool running;
	bool package;
	uint32_t busy; /* look-ups of missing names in one another */
};

enum iter_kind {
	IT_LIST,
	IT_STR,
	IT_BYTES,
	IT_DICT, /* keys, values, items by `mode` */
	IT_SET,
	IT_DEQUE,
	IT_RANGE,
	IT_ENUMERATE,
	IT_ZIP,
	IT_MAP,
	IT_FILTER,
	IT_REVERSED,
	IT_GETITEM,
	IT_SENTINEL,
	IT_COUNT,
	IT_REPEAT,
	IT_CHAIN,
	IT_ISLICE,
	IT_UNKNOWN,
};

struct iter {
	struct obj h;
	enum iter_kind what;
	uint32_t mode;
	struct val a;      /* what is iterated, or the function of map and filter */
	struct val cached; /* enumerate's and zip's result tuple */
	struct val *inner; /* iterators of zip, map, ... */
	uint32_t count;
	uint32_t version;
	int64_t at, stop, step;
	bool strict, done;
};

struct view {
	struct obj h;
	struct dict *dict;
	uint32_t mode; /* 0 keys, 1 values, 2 items */
};

struct weakref {
	struct obj h;
	struct obj *target; /* not counted; NULL: gone */
	struct val callback;
	struct weakref *next;
};

enum { TURN_COUNTS = 4 };

struct turn_count {
	uint32_t loop, count;
};

struct frame {
	struct obj h;
	struct code *code;
	struct function *fn;   /* owned; NULL for modules */
	struct module *module; /* owned */
	struct val *slots;
	struct val *regs;
	struct dict *ns; /* class body's or module's names; owned */
	uint32_t block, pc;
	struct frame *caller;        /* while it runs; borrowed */
	struct generator *generator; /* borrowed */
	struct val handled;          /* the exception being handled */
	uint32_t handler_block;
	struct val made; /* the instance whose __init__ this is */
	uint32_t dst;    /* the caller's register for the result */
	bool entry;      /* returning from it leaves the interpreter loop */
	bool running, finished;
	uint8_t *turns; /* by loop header, in a healing machine; else NULL */
	bool measured;  /* a generator that the measured loop runs on */
	/* By depth: how often a condition on a stand-in kept it in the loop; its turns. */
	struct turn_count stays[TURN_COUNTS], laps[TURN_COUNTS];
	uint32_t line;
};

struct generator {
	struct obj h;
	struct frame *frame; /* NULL: exhausted */
	struct val delegate; /* yield from */
	struct val result;
	bool running, started;
};

/* What a stand-in may be, once somebody wants a tensor of it. */
enum unknown_form {
	FORM_ANY,
	FORM_NUMBER, /* a sum over everything: a tensor without dimensions */
	FORM_PLAIN,  /* item(), shape, numpy(): none */
};

struct unknown {
	struct obj h;
	struct str *what;
	struct val same;  /* what it turned out to be; PY_NULL: not known yet */
	struct val base;  /* of an attribute: the stand-in it was read from */
	struct val graph; /* a tensor whose graph it has; PY_NULL: none */
	enum unknown_form form;
	bool is_model;      /* it was asked for parameters, or told to train */
	bool is_frozen;     /* and its parameters were told to need no gradients */
	bool is_result;     /* of a call: what it is iterated for may as well be data */
	struct str *method; /* the attribute's name; borrowed, interned */
};

static inline struct val val_null(void)
{
	return (struct val){.tag = PY_NULL};
}
static inline struct val val_none(void)
{
	return (struct val){.tag = PY_NONE};
}
static inline struct val val_bool(bool b)
{
	return (struct val){.tag = PY_BOOL, .as.i = b};
}
static inline struct val val_int(int64_t i)
{
	return (struct val){.tag = PY_INT, .as.i = i};
}
static inline struct val val_float(double f)
{
	return (struct val){.tag = PY_FLOAT, .as.f = f};
}
static inline struct val val_obj(void *o)
{
	return (struct val){.tag = PY_OBJECT, .as.o = o};
}
static inline bool is_null(struct val v)
{
	return v.tag == PY_NULL;
}
static inline bool is_none(struct val v)
{
	return v.tag == PY_NONE;
}
static inline bool is_kind(struct val v, enum rp_kind kind)
{
	return v.tag == PY_OBJECT && v.as.o->kind == kind;
}
/* Absent or None: an optional argument left at its default. */
static inline bool is_missing(struct val v)
{
	return v.tag <= PY_NONE;
}
/* An int or a bool. */
static inline bool is_int(struct val v)
{
	return v.tag == PY_INT || v.tag == PY_BOOL;
}
static inline bool val_same(struct val a, struct val b)
{
	if (a.tag != b.tag)
		return false;
	return a.tag == PY_FLOAT ? a.as.f == b.as.f || (a.as.f != a.as.f && b.as.f != b.as.f)
	       : a.tag == PY_NONE || a.tag == PY_NULL || a.tag >= PY_NOT_IMPLEMENTED
	               ? a.tag != PY_OBJECT || a.as.o == b.as.o
	               : a.as.i == b.as.i;
}
#define AS(T, v) ((struct T *)(void *)(v).as.o)

#endif
