#ifndef GRAPHLINT_REPLAY_PY_H
#define GRAPHLINT_REPLAY_PY_H

/* The interpreter's own door: one machine (`struct vm`) per replay, and what
 * its parts offer each other. It knows Python, not torch: kinds of objects that
 * come from elsewhere are served through `struct kind_ops`, modules through
 * vm_add_module. Budgets (steps, objects' bytes, seconds) set vm->halt, which
 * unwinds everything and cannot be caught. */

#include "analyzer/base/arena.h"
#include "analyzer/base/bug.h"
#include "analyzer/base/intern.h"
#include "analyzer/base/slab.h"
#include "analyzer/base/text.h"
#include "analyzer/ir/ir.h"
#include "analyzer/replay/py_value.h"
#include "analyzer/source/source.h"

enum rp_name {
	PN_NONE,
#define NAME(id, text) PN_##id,
#include "analyzer/replay/py_names.def"
#undef NAME
	PN_COUNT
};

enum rp_type {
#define TYPE(id, name, kind, base) TY_##id,
#include "analyzer/replay/py_types.def"
#undef TYPE
	TY_COUNT
};

enum {
	PY_RECURSION_LIMIT = 1000, /* Python calls in one another */
	PY_NATIVE_DEPTH = 400,     /* interpreter loops in one another */
	PY_RELEASE_DEPTH = 40,     /* objects released in one another */
	PY_MAX_BYTES = 1 << 30,    /* of one string, list or integer */
	PY_ATTR_CACHE = 512,
	PY_STR_PAGE = 64,
	PY_NOT_KNOWN = 2, /* neither true nor false */
};

typedef bool visit_fn(void *walk, struct val child, const char *role, struct val key);

/* What a kind from outside does. Absent entries: the operation is a TypeError. */
struct kind_ops {
	size_t size;                                   /* of an object, where not py_object.c's */
	void (*release)(struct vm *vm, struct obj *o); /* its payload */
	bool (*keep)(struct vm *vm, struct obj *o);    /* nobody refers to it: does it stay? */
	struct val (*revive)(struct vm *vm, struct obj *o); /* a reference to what `keep` kept */
	bool (*visit)(struct obj *o, visit_fn *fn, void *walk);
	/* PY_NULL without an exception: no such attribute */
	struct val (*attr)(struct vm *vm, struct obj *o, struct str *name);
	/* 1 done, 0 not mine, -1 error */
	int (*set_attr)(struct vm *vm, struct obj *o, struct str *name, struct val value);
	/* NotImplemented: try the other side; `sub` SUB_binary_* or SUB_compare_* */
	struct val (*binary)(struct vm *vm, enum ir_sub sub, struct val a, struct val b);
	struct val (*inplace)(struct vm *vm, enum ir_sub sub, struct val a, struct val b);
	struct val (*unary)(struct vm *vm, enum ir_sub sub, struct val a);
	uint64_t (*hash)(struct val v); /* absent: by identity */
	struct val (*item)(struct vm *vm, struct val o, struct val index);
	int (*set_item)(struct vm *vm, struct val o, struct val index, struct val value);
	int (*truth)(struct vm *vm, struct val o); /* or PY_NOT_KNOWN */
	int64_t (*length)(struct vm *vm, struct val o);
	struct val (*iterate)(struct vm *vm, struct val o);
	struct val (*call)(struct vm *vm, struct val o, struct val *a, uint32_t n, struct dict *kw);
	void (*repr)(struct vm *vm, struct val o, struct text *out);
	void (*str)(struct vm *vm, struct val o, struct text *out); /* absent: as repr */
	struct val (*format)(struct vm *vm, struct val o, const char *spec, size_t length);
};

struct attr_cache {
	struct cls *cls;
	struct str *name;
	uint64_t version;
	struct val found; /* borrowed */
};

enum vm_halt {
	VM_RUNNING,
	VM_HALT_STEPS,
	VM_HALT_BYTES,
	VM_HALT_SECONDS,
	VM_HALT_DONE, /* as many iterations as were asked for */
	VM_HALT_UNSUPPORTED,
	VM_HALT_VALUES, /* what the program does depends on numbers that were not computed */
	VM_HALT_WORK,   /* too much arithmetic */
};

struct vm_limits {
	uint64_t steps;
	uint64_t bytes;
	double seconds;
};

struct native_module {
	const char *name;
	const struct native_def *defs;                      /* ends with a NULL name */
	void (*init)(struct vm *vm, struct module *module); /* may be NULL */
	/* A name that is not there: PY_NULL without an exception gives up. */
	struct val (*missing)(struct vm *vm, struct module *module, struct str *name);
};

enum { PY_MOST_WATCHED = 64, PY_MOST_OPERANDS = 8 };

/* Strings by a number; few of the numbers are used. */
struct str_pages {
	struct str ***at; /* pages of PY_STR_PAGE, NULL where none is used */
	uint32_t count;
};

struct vm {
	struct arena *arena; /* code, lowered library */
	struct intern *names;
	struct str *n[PN_COUNT];
	struct cls *t[TY_COUNT];
	struct kind_ops kinds[K_COUNT];
	struct obj first;   /* ring of all objects */
	struct slab memory; /* of objects and what they hold */
	struct str **table; /* interned strings, open addressing */
	uint32_t table_count, table_mask;
	struct str_pages of_sym;
	struct str_pages of_library; /* by id of library_names */
	struct dict *modules;
	struct module *builtins;
	struct module *main;
	struct frame *frame;
	struct val exc;
	enum vm_halt halt;
	const char *halt_reason;
	uint64_t steps;
	uint64_t bytes;
	uint64_t version; /* of all classes' namespaces */
	struct attr_cache cache[PY_ATTR_CACHE];
	uint32_t depth, native_depth;
	uint32_t releasing;
	struct obj *pending; /* to be released once the stack is shallow again */
	struct weakref **weak;
	uint32_t weak_mask, weak_count;
	struct text out;   /* what the program prints */
	struct val out_to; /* an object that is given it instead; PY_NULL: none */
	struct arena out_arena;
	uint64_t out_cap;
	struct vm_limits limits;
	double started;
	uint64_t next_clock;
	void *codes;        /* py_code.c: functions made ready */
	void *native_stack; /* py_call.c: native functions that run */
	const struct native_module **offered;
	uint32_t offered_count;
	void *host;    /* torch glue's state */
	void *user;    /* of whoever runs the replay */
	void *random;  /* struct rp_random of module random */
	void *regexes; /* of module re; NULL: none yet */
	/* Called when a loop of `watched` starts its next iteration. */
	const struct ir_module *watched;
	func_id watched_func; /* the measured loop */
	block_id watched_header;
	uint32_t turns;     /* of it so far */
	uint32_t entries;   /* how often it was entered */
	bool leaving;       /* it is left where it can be */
	bool closing;       /* it was measured: nothing leads to it any more */
	bool measured_next; /* its iterator is asked: stand-ins give many items */
	void (*on_iteration)(struct vm *vm, struct frame *frame, block_id header);
	/* Called when what is last in one of them runs. */
	const struct replay_place *watch;
	uint32_t watch_count; /* at most PY_MOST_WATCHED */
	struct watched_at {
		const struct ir_module *module; /* NULL: not met yet */
		func_id func;
		block_id block;
	} watch_at[PY_MOST_WATCHED];
	uint64_t led; /* those that conditions lead to, in a healing machine */
	/* `stored` is what is put somewhere there, else PY_NULL. */
	void (*on_watched)(struct vm *vm, uint32_t index, struct val stored);
	/* Each of its operands before, a callee first (else PY_NULL), and that it is done. */
	void (*on_given)(struct vm *vm, uint32_t index, struct val callee, struct val operand);
	void (*on_passed)(struct vm *vm, uint32_t index);
	/* Whether what is made there has a graph, as is known without running it, and
	 * what it turned out to be (borrowed), at which watched place, from 1. */
	bool (*is_born)(struct vm *vm, const struct ir_module *module, struct span span);
	void (*on_born)(struct vm *vm, struct val made, uint32_t place);
	/* May add to a class what was not needed so far; true: look again. */
	bool (*complete_class)(struct vm *vm, struct cls *cls, struct str *name);
	/* Called for what could not be known. */
	void (*on_stand_in)(struct vm *vm, const char *what);
	/* Asked for the source of a module of the user's project. */
	const struct ir_module *(*find_module)(struct vm *vm, const char *name, bool *is_package);
	struct evaluated *evaluated; /* texts that became code */
	uint64_t evaluated_bytes;
	void *data;
	double fake_time;
	uint64_t unknown_count;
	/* A function runs by itself, its arguments stood in for: what other code would have
	 * set up is stood in for, too, when it is missed. */
	bool forgiving;
	/* Instructions that raise give stand-ins (py_heal.c): forgiving, too. */
	bool healing;
	struct val operands[PY_MOST_OPERANDS]; /* of the instruction that runs */
	uint32_t operand_count;
	struct val last_item; /* of the measured loop */
	const struct frame *operands_of;
	uint32_t operands_at;
	/* One node of a graph that nothing is known of. */
	struct val (*opaque)(struct vm *vm, struct val *a, uint32_t n, const char *what);
	bool lazy;  /* numbers are not computed unless the program depends on them */
	bool whole; /* every turn of every loop is wanted */
	bool asked; /* it has read one that was not computed */
	bool at_close;
	bool collector_off; /* gc.disable() */
};

void heal_forget(struct vm *vm); /* py_heal.c */

/* --- vm.c */
struct vm *vm_open(struct intern *names, const struct vm_limits *limits);
void vm_close(struct vm *vm);
void vm_offer(struct vm *vm, const struct native_module *module);
bool vm_halt(struct vm *vm, enum vm_halt why, const char *reason); /* false */
/* Counts work done outside instructions; false when the budget is used up. */
bool vm_work(struct vm *vm, uint64_t steps);
/* What could not be known. In a lazy machine that has read a number it did not
 * compute, this one may come of it: it halts, to be run again with numbers. */
void vm_stand_in(struct vm *vm, const char *format, ...) GL_PRINTF(2, 3);
/* A number was read that was not computed, and stays unknown. */
void vm_asked(struct vm *vm);

/* --- py_object.c: life of objects */
void *rp_new(struct vm *vm, enum rp_kind kind, struct cls *cls, size_t size);
void *rp_mem(struct vm *vm, void *old, size_t old_size, size_t new_size);
void rp_release(struct vm *vm, struct obj *o);
bool rp_visit(struct vm *vm, struct obj *o, visit_fn *fn, void *walk);
/* Drops what a container refers to, as the collector does. */
void rp_clear(struct vm *vm, struct obj *o);
struct val rp_weakref(struct vm *vm, struct obj *target, struct val callback);
void weak_forget(struct vm *vm, struct weakref *w); /* the reference goes */
void weak_notify(struct vm *vm, struct obj *o);     /* its target goes */
int64_t rp_collect(struct vm *vm);

static inline struct val ref(struct val v)
{
	if (v.tag == PY_OBJECT)
		v.as.o->refs++;
	return v;
}
static inline void unref(struct vm *vm, struct val v)
{
	if (v.tag == PY_OBJECT && --v.as.o->refs == 0)
		rp_release(vm, v.as.o);
}
static inline struct val ref_obj(void *o)
{
	((struct obj *)o)->refs++;
	return val_obj(o);
}
static inline void unref_obj(struct vm *vm, void *o)
{
	if (o)
		unref(vm, val_obj(o));
}
static inline void slot_set(struct vm *vm, struct val *slot, struct val value) /* takes it */
{
	struct val old = *slot;

	*slot = value;
	unref(vm, old);
}

/* --- py_str.c */
struct str *str_new(struct vm *vm, const char *bytes, size_t length);
struct str *bytes_new(struct vm *vm, const void *bytes, size_t length);
struct str *str_chars(struct vm *vm, const char *chars);
struct str *str_intern(struct vm *vm, const char *bytes, size_t length);     /* borrowed */
struct str *str_of_sym(struct vm *vm, sym_id name);                          /* borrowed */
struct str **str_place(struct vm *vm, struct str_pages *pages, uint32_t id); /* NULL at first */
struct val val_str(struct vm *vm, const char *chars);
struct val val_text(struct vm *vm, const struct text *text);
struct val str_print(struct vm *vm, const char *format, ...) GL_PRINTF(2, 3);
uint64_t str_hash(struct str *s);
bool str_is(const struct str *s, const char *chars);
uint32_t str_offset(const struct str *s, uint32_t index); /* byte of a code point */
struct val str_slice(struct vm *vm, struct str *s, int64_t start, int64_t stop, int64_t step);
struct val str_at(struct vm *vm, struct str *s, int64_t index);
static inline const char *chars_of(struct val v)
{
	return AS(str, v)->at;
}

/* --- py_big.c, py_int_text.c: ints; every function takes ints and bools of any size */
struct val int_of_text(struct vm *vm, const char *digits, size_t length, int base);
struct val int_of_double(struct vm *vm, double f);
struct val int_binary(struct vm *vm, enum ir_sub sub, struct val a, struct val b);
struct val int_negate(struct vm *vm, struct val a);
int int_compare(struct val a, struct val b);
double int_to_double(struct val a);
bool int_truth(struct val a);
void int_print(struct vm *vm, struct val a, int base, struct text *out);
uint64_t int_hash(struct val a);
int64_t int_bit_length(struct val a);
bool is_any_int(struct val v);

/* --- py_number.c */
struct val number_new(struct vm *vm, struct cls *cls, struct val value); /* takes value */
struct val number_plain(struct val v); /* borrowed; what is no K_NUMBER as it is */
/* The same, unless its class defines the special method itself. */
struct val number_unless(struct vm *vm, struct val v, enum rp_name name);
void numbers_init(struct vm *vm);

/* --- py_eval.c */
extern const struct native_def eval_functions[];
struct val frame_locals(struct vm *vm, struct frame *f);
/* What the text of an annotation gives in the module, else the text itself. */
struct val annotation_value(struct vm *vm, struct val text, struct module *m, bool always);
struct val annotations_evaluated(struct vm *vm, struct val all, struct val module, bool always);
struct val function_annotations(struct vm *vm, const struct function *fn);

/* --- py_late.c */
/* Adds to a built-in class of the order what is written in Python; true: look again. */
bool type_late(struct vm *vm, const struct cls *cls, struct str *name);
/* New; PY_NULL without an exception: no such name. */
struct val builtin_late(struct vm *vm, struct str *name);

/* --- py_containers.c */
struct list *list_new(struct vm *vm, uint32_t capacity);
struct list *tuple_new(struct vm *vm, uint32_t count);          /* PY_NULL elements to be filled */
void list_push(struct vm *vm, struct list *list, struct val v); /* takes it */
void list_insert(struct vm *vm, struct list *list, uint32_t at, struct val v); /* takes it */
void list_remove(struct vm *vm, struct list *list, uint32_t at, uint32_t count);
bool list_extend(struct vm *vm, struct list *list, struct val iterable);
struct val tuple_of(struct vm *vm, const struct val *at, uint32_t count); /* references them */
struct val tuple_pair(struct vm *vm, struct val a, struct val b);         /* takes them */
struct list *list_from(struct vm *vm, struct val iterable); /* a new list; NULL: error */
struct deque *deque_new(struct vm *vm, int64_t maxlen);
void deque_push(struct vm *vm, struct deque *d, struct val v, bool left); /* takes it */
struct val deque_pop(struct vm *vm, struct deque *d, bool left);          /* PY_NULL: empty */
struct val *deque_at(struct deque *d, int64_t i);

/* --- py_dict.c */
struct dict *dict_new(struct vm *vm);
struct dict *set_new(struct vm *vm, bool frozen);
/* Borrowed; PY_NULL: absent, or an exception of __eq__ or __hash__. */
struct val dict_get(struct vm *vm, struct dict *d, struct val key);
struct val dict_get_str(struct vm *vm, struct dict *d, struct str *key);
bool dict_put(struct vm *vm, struct dict *d, struct val key, struct val value);
void dict_put_str(struct vm *vm, struct dict *d, struct str *key, struct val value);
/* 1 removed, 0 absent, -1 error; *old takes the value if not NULL. */
int dict_remove(struct vm *vm, struct dict *d, struct val key, struct val *old);
void dict_clear(struct vm *vm, struct dict *d);
bool dict_update(struct vm *vm, struct dict *d, struct val other);
struct dict *dict_copy(struct vm *vm, struct dict *d);
/* Next live entry from *at on; NULL at the end. */
struct dict_entry *dict_next(const struct dict *d, uint32_t *at);

/* --- py_exc.c */
struct val rp_raise(struct vm *vm, enum rp_type type, const char *format, ...) GL_PRINTF(3, 4);
struct val rp_raise_val(struct vm *vm, struct val exc); /* takes it */
struct val rp_raise_key(struct vm *vm, struct val key);
bool exc_is(struct vm *vm, enum rp_type type); /* the pending one */
void exc_clear(struct vm *vm);
struct val exc_take(struct vm *vm);
struct val exc_normalize(struct vm *vm, struct val v); /* class or instance to instance */
void exc_add_frame(struct vm *vm, struct frame *frame);
void exc_print(struct vm *vm, struct val exc, struct text *out); /* as a traceback */
int exc_matches(struct vm *vm, struct val exc, struct val type); /* -1 error */
void exc_init_types(struct vm *vm);

/* --- py_class.c */
struct cls *cls_new(struct vm *vm, struct str *name, struct cls **bases, uint32_t count,
                    struct dict *ns);
struct cls *type_of(struct vm *vm, struct val v); /* borrowed */
bool cls_is(const struct cls *cls, const struct cls *base);
/* In the class and its bases; borrowed, PY_NULL without an exception: none. */
struct val cls_find(struct vm *vm, struct cls *cls, struct str *name);
struct val cls_find_after(struct vm *vm, struct cls *cls, struct cls *start, struct str *name);
/* A special method bound to v: looked up on the type only. PY_NULL: none. */
struct val special_find(struct vm *vm, struct val v, enum rp_name name);
/* Only one that Python code defines. */
struct val special_own(struct vm *vm, struct val v, enum rp_name name);
struct val bind(struct vm *vm, struct val found, struct val self, struct cls *cls);
/* Whether bind would make a method of it. */
bool binds_self(struct val found);
struct val class_build(struct vm *vm, struct str *name, struct val bases, struct dict *ns,
                       struct dict *kw);
/* Its __abstractmethods__ were set. */
void class_set_abstract(struct vm *vm, struct cls *cls, struct val methods);
struct val class_refuse(struct vm *vm, struct cls *cls); /* raises: it is abstract */
int rp_isinstance(struct vm *vm, struct val v, struct val type);
int rp_issubclass(struct vm *vm, struct val v, struct val type);
/* Offers natives as methods. */
void type_add(struct vm *vm, struct cls *cls, const struct native_def *defs);
/* Its namespace, with all that is offered (borrowed). */
struct dict *type_namespace(struct vm *vm, struct cls *cls);
void type_method(struct vm *vm, struct cls *cls, const char *name, enum descriptor_kind what,
                 const struct native_def *def);
bool is_instance_of(struct vm *vm, struct val v, enum rp_type type);

/* --- py_attr.c */
struct val rp_attr(struct vm *vm, struct val o, struct str *name);
struct val rp_attr_chars(struct vm *vm, struct val o, const char *name);
/* PY_NULL without an exception when there is none. */
struct val rp_attr_find(struct vm *vm, struct val o, struct str *name);
bool rp_set_attr(struct vm *vm, struct val o, struct str *name, struct val value);
bool rp_set_attr_chars(struct vm *vm, struct val o, const char *name, struct val value);
bool rp_del_attr(struct vm *vm, struct val o, struct str *name);
/* As object.__getattribute__ and object.__setattr__ do. */
struct val object_attr(struct vm *vm, struct val o, struct str *name);
bool object_set_attr(struct vm *vm, struct val o, struct str *name, struct val value);
bool object_del_attr(struct vm *vm, struct val o, struct str *name);
struct dict *attrs_of(struct vm *vm, struct obj *o); /* made if need be */

/* --- py_call.c */
struct val rp_call(struct vm *vm, struct val fn, struct val *a, uint32_t n, struct dict *kw);
struct val rp_call_method(struct vm *vm, struct val o, const char *name, struct val *a, uint32_t n);
/* fn(self, *a): what calling the method would do. */
struct val rp_call_bound(struct vm *vm, struct val fn, struct val self, struct val *a, uint32_t n,
                         struct dict *kw);
struct val rp_call0(struct vm *vm, struct val fn);
struct val rp_call1(struct vm *vm, struct val fn, struct val a);
struct val rp_call2(struct vm *vm, struct val fn, struct val a, struct val b);
struct val native_new(struct vm *vm, const struct native_def *def, struct val bound);
/* The result of a function that wanted something else than the stand-in it was given. */
struct val stood_in(struct vm *vm, const struct str *function);
/* `defs` end with a NULL name and stay. What is offered later hides what was before. */
void native_offer(struct vm *vm, struct native_offer **offers, const struct native_def *defs);
/* Moves one into the namespace; borrowed, PY_NULL: not offered. */
struct val native_offered(struct vm *vm, struct dict *ns, const struct native_offer *offers,
                          struct cls *owner, const struct str *name);
void native_take_all(struct vm *vm, struct dict *ns, struct native_offer **offers,
                     struct cls *owner);
/* A frame with its parameters bound (arguments are copied); NULL: exception. */
struct frame *frame_for_call(struct vm *vm, struct function *fn, struct val *a, uint32_t n,
                             struct dict *kw);
struct val instantiate(struct vm *vm, struct cls *cls, struct val *a, uint32_t n, struct dict *kw);
/* The native function that runs now. */
struct native *native_running(struct vm *vm);

/* --- py_code.c */
struct code *code_of(struct vm *vm, const struct ir_module *module, func_id id);
struct frame *frame_new(struct vm *vm, struct code *code, struct module *module);
void frame_drop_slots(struct vm *vm, struct frame *frame);
uint32_t code_line(const struct code *code, uint32_t inst);
const char *code_file(const struct code *code);
const char *code_name(const struct code *code);
bool code_is_generator(const struct function *fn);
struct val code_parameters(struct vm *vm, const struct function *fn); /* names, a list */

/* --- py_interp.c */
struct val frame_run(struct vm *vm, struct frame *frame); /* takes the frame */
struct val module_run(struct vm *vm, struct module *module, const struct ir_module *ir);
struct val generator_send(struct vm *vm, struct generator *gen, struct val sent); /* takes sent */
struct val generator_throw(struct vm *vm, struct generator *gen, struct val exc); /* takes exc */
void generator_close(struct vm *vm, struct generator *gen);
struct val load_global(struct vm *vm, struct module *module, struct str *name);

/* --- py_ops.c */
struct val rp_binary(struct vm *vm, enum ir_sub sub, struct val a, struct val b);
/* Of the built-in types, whatever a class derived from them says. */
struct val rp_binary_builtin(struct vm *vm, enum ir_sub sub, struct val a, struct val b);
struct val rp_inplace(struct vm *vm, enum ir_sub sub, struct val a, struct val b);
struct val rp_unary(struct vm *vm, enum ir_sub sub, struct val a);
struct val rp_compare(struct vm *vm, enum ir_sub sub, struct val a, struct val b);
int rp_eq(struct vm *vm, struct val a, struct val b);   /* -1 error */
int rp_less(struct vm *vm, struct val a, struct val b); /* -1 error */
int rp_truth(struct vm *vm, struct val v);              /* -1 error */
int rp_condition(struct vm *vm, struct val v);          /* the same, or PY_NOT_KNOWN */
int rp_contains(struct vm *vm, struct val box, struct val v);
bool rp_hash(struct vm *vm, struct val v, uint64_t *hash);
int64_t rp_length(struct vm *vm, struct val v); /* -1 error */
struct val rp_to_int(struct vm *vm, struct val v);
bool rp_index(struct vm *vm, struct val v, int64_t *i); /* __index__ */
bool rp_double(struct vm *vm, struct val v, double *f);

/* --- py_item.c */
struct val rp_item(struct vm *vm, struct val o, struct val index);
bool rp_set_item(struct vm *vm, struct val o, struct val index, struct val value);
bool rp_del_item(struct vm *vm, struct val o, struct val index);
bool slice_bounds(struct vm *vm, struct slice *s, int64_t length, int64_t *start, int64_t *stop,
                  int64_t *step, int64_t *count);

/* --- py_iter.c */
struct val rp_iter(struct vm *vm, struct val v);
/* PY_NULL with no exception: exhausted. */
struct val rp_next(struct vm *vm, struct val iterator);
struct iter *iter_new(struct vm *vm, enum iter_kind what, enum rp_type type, struct val a);
void iter_inner(struct vm *vm, struct iter *it, uint32_t count);

/* --- py_repr.c, py_format.c */
struct val rp_repr(struct vm *vm, struct val v);
struct val rp_str(struct vm *vm, struct val v);
bool repr_into(struct vm *vm, struct val v, struct text *out);
bool str_into(struct vm *vm, struct val v, struct text *out);
void float_repr(struct text *out, double f);
struct val rp_format(struct vm *vm, struct val v, const char *spec, size_t length);
struct val str_percent(struct vm *vm, struct str *format, struct val args);
struct val str_format(struct vm *vm, struct str *format, struct val *a, uint32_t n,
                      struct dict *kw);

/* --- py_module.c */
struct val module_import(struct vm *vm, const char *name, struct module *from); /* the last part */
struct val module_import_top(struct vm *vm, const char *name, struct module *from);
struct val module_attr(struct vm *vm, struct module *module, struct str *name); /* new; find */
/* Defined by the library's source of the module; new, PY_NULL: not. */
struct val module_defined(struct vm *vm, struct module *module, struct str *name);
/* A function that the library has in Python. */
struct val library_call(struct vm *vm, const char *module, const char *name, struct val *a,
                        uint32_t n);
/* What the library's source of the module imports. */
bool module_run_imports(struct vm *vm, struct module *module);
struct module *module_new(struct vm *vm, const char *name);
/* Offers natives as functions. */
void module_add(struct vm *vm, struct module *module, const struct native_def *defs);
/* What it holds or offers, and nothing that has to be searched for; borrowed, PY_NULL: none. */
struct val module_own(struct vm *vm, struct module *module, struct str *name);
/* Its namespace, with all that is offered (borrowed). */
struct dict *module_namespace(struct vm *vm, struct module *module);
void module_set(struct vm *vm, struct module *module, const char *name, struct val v); /* takes */
bool module_star(struct vm *vm, struct module *from, struct module *into);

/* --- mod_regex.c */
void regexes_close(struct vm *vm);

/* --- py_unknown.c */
struct val unknown_new(struct vm *vm, const char *format, ...) GL_PRINTF(2, 3);
/* The stand-in that another one is only a name of. */
struct unknown *unknown_root(struct unknown *u);
struct val unknown_attr(struct vm *vm, struct unknown *u, struct str *name);
/* Whether what a tensor gives under that name has no graph, and what it is. */
bool unknown_loses_graph(const struct str *name, enum unknown_form *form);
struct val unknown_call(struct vm *vm, struct val callee, struct val *a, uint32_t n,
                        struct dict *kw);
struct val unknown_next(struct vm *vm, struct unknown *u);  /* an item of an iteration */
struct val unknown_enter(struct vm *vm, struct unknown *u); /* what `with` names */
/* What is read of an object that does not have it. */
struct val unknown_named(struct vm *vm, const char *owner, struct str *name);
struct val unknown_item(struct vm *vm, struct unknown *u, struct val index);
bool unknown_set_attr(struct vm *vm, struct unknown *u, struct str *name, struct val value);
bool unknown_set_item(struct vm *vm, struct unknown *u, struct val index, struct val value);
/* What a container that is not known is given, and what is taken out again. */
void unknown_keep(struct vm *vm, struct unknown *u, struct val value);
void unknown_drop(struct vm *vm, struct unknown *u, bool all);

/* --- methods of the built-in types, functions of `builtins` */
void builtins_init(struct vm *vm);
void properties_init(struct vm *vm);
/* Whether a module stands for one of Python's or torch's, and may lack names. */
bool is_of_library(const struct module *m);
void types_init(struct vm *vm);
extern const struct native_def object_methods[], type_methods[], int_methods[], float_methods[];
extern const struct native_def str_methods[], bytes_methods[], list_methods[], tuple_methods[];
extern const struct native_def dict_methods[], set_methods[], set_changing_methods[];
extern const struct native_def deque_methods[];
extern const struct native_def generator_methods[], exception_methods[], iterator_methods[];
extern const struct native_def builtin_functions[], builtin_iter_functions[],
        builtin_number_functions[];
extern const struct native_def str_more_methods[];

/* Helpers for natives. */
bool arg_int(struct vm *vm, struct val v, int64_t fallback, int64_t *out);
bool arg_str(struct vm *vm, struct val v, const char *what);
/* Text or bytes; false: *result is a stand-in, or PY_NULL with an exception. */
bool text_argument(struct vm *vm, struct val v, struct val *result);
const char *type_name(struct vm *vm, struct val v);

#endif
