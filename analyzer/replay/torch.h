#ifndef GRAPHLINT_REPLAY_TORCH_H
#define GRAPHLINT_REPLAY_TORCH_H

/* The glue between Python values and runtime/: one Python object per tensor
 * that Python has seen. As in PyTorch, that object outlives its last Python
 * reference while C++ (a saved tensor, a .grad) still holds the tensor; it is
 * then "preserved", has no reference of its own on the tensor, and goes when
 * torch_sweep finds the tensor gone. What the runtime has no row for is stood
 * in for by an opaque node and reported through vm_stand_in. */

#include "analyzer/replay/py.h"
#include "runtime/ag.h"

enum { TORCH_MAX_ARGS = 64 };

/* What tensors and nodes have in common: one object for each id. */
struct identified {
	struct obj h;
	uint64_t id;
};

struct tensor {
	struct obj h;
	uint64_t id;
	struct ag_tensor *t; /* owned, unless preserved */
};

struct node {
	struct obj h;
	uint64_t id;
	struct ag_node *n; /* owned */
};

struct id_map {
	struct identified **at; /* open addressing */
	uint32_t mask, count;
};

struct dtype {
	struct obj h;
	enum ag_dtype dtype;
	bool of_numpy;
};

struct device {
	struct obj h;
	bool cuda;
	int index; /* -1: none */
};

struct storage {
	struct obj h;
	struct ag_storage *s; /* owned */
};

/* numpy.ndarray: a view of a tensor's storage, or a copy of its own. */
struct array {
	struct obj h;
	struct ag_tensor *t;     /* owned; never part of a graph */
	struct ag_tensor *owner; /* owned; whose memory it is, NULL: NumPy's own */
};

/* A node's site is a line of the program. Sites are numbered through, file after
 * file, as the runtime keeps a row for each; 0 is no line. */
enum { MOST_SITE_FILES = 1024, MOST_SITES = 1 << 20 };

struct site_file {
	const struct source *source;
	uint32_t before; /* sites of the files before it */
};

struct torch {
	struct ag_ctx *ctx;
	struct site_file files[MOST_SITE_FILES];
	uint32_t file_count;
	struct vm *vm;
	struct id_map tensors, nodes; /* all wrappers there are */
	uint32_t arrays;              /* of numpy, how many */
	uint32_t preserved;
	struct obj *dtypes[AG_DTYPE_COUNT], *numpy_dtypes[AG_DTYPE_COUNT];
	struct cls *module;          /* torch.nn.Module once all of it is there; borrowed */
	bool exact;                  /* no shape or value was made up */
	int64_t batch;               /* size of a made-up batch */
	struct ag_tensor *parameter; /* of models that are not known; NULL: not needed yet */
	/* A backward is about to run; may be NULL. */
	void (*on_backward)(struct vm *vm, struct ag_tensor *from, unsigned flags);
	struct assumptions *assumptions; /* of who runs the replay; NULL: none are made */
};

static inline struct torch *torch_of(struct vm *vm)
{
	return vm->host;
}
static inline struct ag_ctx *ctx_of(struct vm *vm)
{
	return ((struct torch *)vm->host)->ctx;
}
static inline struct ag_tensor *tensor_of(struct val v)
{
	return AS(tensor, v)->t;
}

/* --- torch_tensor.c */
void torch_open(struct vm *vm, const struct ag_options *options);
void torch_close(struct vm *vm);
struct val torch_wrap(struct vm *vm, struct ag_tensor *t);     /* takes it; NULL: raises */
struct val torch_wrap_ref(struct vm *vm, struct ag_tensor *t); /* borrowed; NULL: None */
void torch_sweep(struct vm *vm);
struct val torch_raise(struct vm *vm);
struct val node_wrap(struct vm *vm, struct ag_node *n); /* borrowed; NULL: None */
void torch_kinds_init(struct vm *vm);

/* --- torch_value.c: Python values as arguments of ops */
struct val_args {
	struct arena arena;
	struct ag_value at[TORCH_MAX_ARGS];
	uint32_t count;
	struct ag_keyword keywords[TORCH_MAX_ARGS];
	uint32_t nkeywords;
	bool unknown;                        /* a stand-in is among them */
	struct ag_value few[TORCH_MAX_ARGS]; /* items of short lists */
	uint32_t used;
};
static inline void val_args_open(struct val_args *args)
{
	args->arena = (struct arena){0};
	args->count = args->nkeywords = args->used = 0;
	args->unknown = false;
}
bool torch_value(struct vm *vm, struct val_args *args, struct val v, struct ag_value *out);
bool torch_args(struct vm *vm, struct val_args *args, struct val *a, uint32_t n, struct dict *kw);
bool torch_dtype_of(struct vm *vm, struct val v, enum ag_dtype *dtype);
struct val dtype_val(struct vm *vm, enum ag_dtype dtype);
struct val device_val(struct vm *vm, bool cuda, int index);
struct val size_val(struct vm *vm, const int64_t *shape, int ndim);
struct val shape_of(struct vm *vm, struct ag_tensor *t);
bool torch_ints(struct vm *vm, struct val v, int64_t *out, uint32_t *count, uint32_t most);

/* --- torch_call.c */
/* The line of a site, and its file. 0: it is none. */
uint32_t torch_site_line(const struct torch *torch, uint32_t site, const struct source **source);
/* Calls an op by torch name; results as Python values. */
struct val torch_call(struct vm *vm, const char *name, struct val *a, uint32_t n, struct dict *kw);
struct val torch_op_function(struct vm *vm, const char *name); /* a native that calls it */
bool torch_op_known(struct vm *vm, const char *name);
void numpy_kinds_init(struct vm *vm);
struct val torch_opaque(struct vm *vm, struct val *a, uint32_t n, const char *what);
/* The same after an error that shapes which were made up have caused. */
struct val torch_misfit(struct vm *vm, struct val *a, uint32_t n, const char *what);
/* The tensors in a value, those that stand for the graph of a stand-in included. */
void gather_tensors(struct val v, struct ag_tensor **out, uint32_t *count, uint32_t most,
                    int depth);

/* --- torch_ops.c, torch_index.c */
struct val tensor_binary(struct vm *vm, enum ir_sub sub, struct val a, struct val b);
struct val tensor_inplace(struct vm *vm, enum ir_sub sub, struct val a, struct val b);
struct val tensor_unary(struct vm *vm, enum ir_sub sub, struct val a);
struct val tensor_item(struct vm *vm, struct val o, struct val index);
int tensor_set_item(struct vm *vm, struct val o, struct val index, struct val value);

/* --- torch_attr.c */
struct val tensor_attr(struct vm *vm, struct obj *o, struct str *name);
int tensor_set_attr(struct vm *vm, struct obj *o, struct str *name, struct val value);

/* --- torch_methods.c */
extern const struct native_def tensor_methods[];
struct val tensor_number(struct vm *vm, struct ag_tensor *t); /* .item() */
struct val tensor_list(struct vm *vm, struct ag_tensor *t);   /* .tolist() */

/* --- torch_print.c */
void tensor_repr(struct vm *vm, struct val v, struct text *out);
void array_repr(struct vm *vm, struct val v, struct text *out, bool str);

/* --- torch_unknown.c: stand-ins that turn out to be tensors */
struct val unknown_materialize(struct vm *vm, struct val v, enum ag_dtype dtype, int ndim,
                               const int64_t *shape);
/* The stand-ins in a value are tensors for sure, of no known shape. */
void unknown_to_tensors(struct vm *vm, struct val v, int depth);
/* Whether an op makes a tensor of a shape: torch.zeros. */
bool unknown_makes(const char *name);
/* Replaces stand-ins among the arguments as the op wants them; false: it cannot. */
bool unknown_solve(struct vm *vm, const char *name, struct val *a, uint32_t n, struct dict *kw);
struct val torch_unknown_call(struct vm *vm, struct val callee, struct val *a, uint32_t n,
                              struct dict *kw);
/* What a framework does with what a training step returns. */
void torch_framework_backward(struct vm *vm, struct val result);
struct val torch_unknown_item(struct vm *vm, struct val o, struct val index);
struct val torch_unknown_binary(struct vm *vm, enum ir_sub sub, struct val a, struct val b);
/* A stand-in with one more node, whose inputs are the tensors in the values. */
struct val unknown_node(struct vm *vm, struct val *a, uint32_t n, struct dict *kw,
                        const char *what);
/* The same for a call of the first value, which may have parameters. */
struct val unknown_of_model(struct vm *vm, struct val *a, uint32_t n, const char *what);

/* --- torch_module.c, torch_autograd.c, torch_make.c, torch_many.c, torch_amp.c, torch_numpy.c */
extern const struct native_def module_methods[], autograd_functions[], tensor_hook_methods[];
extern const struct native_def node_methods[], many_functions[], update_functions[];
/* Null: the library's torch does not define it. */
struct val torch_library_function(struct vm *vm, struct str *name);
extern const struct native_def make_functions[], stream_functions[], autocast_functions[];
/* Puts the generator of the keywords in the context's place, and back again. */
bool torch_with_generator(struct vm *vm, struct dict *kw);
struct val array_wrap(struct vm *vm, struct ag_tensor *t); /* takes it */
struct val array_over(struct vm *vm, struct ag_tensor *t); /* t.numpy() */
bool torch_complete_class(struct vm *vm, struct cls *cls, struct str *name);

void torch_offer(struct vm *vm);

#endif
