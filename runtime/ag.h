#ifndef GRAPHLINT_RUNTIME_AG_H
#define GRAPHLINT_RUNTIME_AG_H

/* A small autograd library that holds and frees memory as PyTorch does on CPU.
 *
 * Everything lives in a context (one thread at a time). Tensors are reference
 * counted: a function that returns `struct ag_tensor *` gives the caller one
 * reference (ag_release it) unless its comment says "borrowed". NULL means an
 * error, which ag_error(ctx) describes; NULL arguments are passed on, so that
 * calls nest and one check at the end is enough. Nothing aborts on bad input.
 * A tensor may have no data (meta mode, unknown values): its shape, bytes and
 * graph are exact all the same, and what is computed from it has no data. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { AG_MAX_DIMS = 8 };

struct ag_ctx;
struct ag_tensor;
struct ag_storage;
struct ag_node;
struct ag_module;
struct ag_optim;

/* ------------------------------------------------------------ context */

enum ag_status {
	AG_OK,
	AG_ERR_RUNTIME,   /* RuntimeError: shapes, versions, freed graphs */
	AG_ERR_TYPE,      /* TypeError: arguments that no overload takes */
	AG_ERR_VALUE,     /* ValueError */
	AG_ERR_INDEX,     /* IndexError: dimension or element out of range */
	AG_ERR_MEMORY,    /* the byte cap or the device model is exhausted */
	AG_ERR_NO_DATA,   /* a number was asked of a tensor without data */
	AG_ERR_UNKNOWN_OP /* no row of ops.def has this name */
};

struct ag_error {
	enum ag_status status;
	char text[384]; /* PyTorch's wording where it has one */
};

struct ag_options {
	bool meta;             /* tensors are made without data */
	uint64_t byte_cap;     /* live bytes beyond this fail with AG_ERR_MEMORY; 0: none */
	uint64_t data_cap;     /* a storage larger than this has no data; 0: 256 MiB */
	double work_cap;       /* multiplications; beyond it results have no data; 0: none */
	uint64_t node_cap;     /* live nodes beyond this fail with AG_ERR_MEMORY; 0: none */
	bool model_caching;    /* storages of AG_CUDA go through the caching allocator model */
	uint64_t device_bytes; /* size of that device; 0: 80 GiB */
};

struct ag_ctx *ag_open(const struct ag_options *options); /* NULL: all defaults */
void ag_close(struct ag_ctx *ctx); /* tensors still referenced are freed too */
const struct ag_error *ag_error(const struct ag_ctx *ctx);
void ag_error_clear(struct ag_ctx *ctx);
const char *ag_status_exception(enum ag_status status); /* "RuntimeError" */

/* Small tensors have data in meta mode, too, unless their numbers are drawn. */
void ag_set_meta(struct ag_ctx *ctx, bool meta);
bool ag_meta(const struct ag_ctx *ctx);
/* Whether something was not computed because of work_cap. */
bool ag_work_used_up(const struct ag_ctx *ctx);
void ag_manual_seed(struct ag_ctx *ctx, uint64_t seed);

/* Grad mode. Save with ag_grad_mode, restore with ag_set_grad_mode. */
struct ag_grad_mode {
	bool enabled;
	bool inference;
};
struct ag_grad_mode ag_grad_mode(const struct ag_ctx *ctx);
void ag_set_grad_mode(struct ag_ctx *ctx, struct ag_grad_mode mode);
struct ag_grad_mode ag_no_grad(struct ag_ctx *ctx);     /* returns the old mode */
struct ag_grad_mode ag_enable_grad(struct ag_ctx *ctx); /* returns the old mode */
struct ag_grad_mode ag_inference(struct ag_ctx *ctx);   /* returns the old mode */

/* ------------------------------------------------------------- dtypes */

enum ag_dtype {
#define DTYPE(id, name, size, category, text) AG_##id,
#include "runtime/dtypes.def"
#undef DTYPE
	AG_DTYPE_COUNT
};

size_t ag_dtype_size(enum ag_dtype dtype);
const char *ag_dtype_name(enum ag_dtype dtype); /* "float32" */
bool ag_dtype_find(const char *name, enum ag_dtype *dtype);
bool ag_dtype_is_float(enum ag_dtype dtype); /* floating or complex */
enum ag_dtype ag_promote(enum ag_dtype a, enum ag_dtype b);
enum ag_dtype ag_default_dtype(const struct ag_ctx *ctx);
void ag_set_default_dtype(struct ag_ctx *ctx, enum ag_dtype dtype);

/* torch.memory_format; ops take its name as text: ag_text("channels_last", 13). */
enum ag_format { AG_CONTIGUOUS, AG_PRESERVE, AG_CHANNELS_LAST, AG_CHANNELS_LAST_3D };
bool ag_format_find(const char *name, enum ag_format *format); /* "channels_last" */

enum ag_device { AG_CPU, AG_CUDA };
void ag_set_default_device(struct ag_ctx *ctx, enum ag_device device);

/* torch.autocast: between enter and exit ops cast what they are given, by PyTorch's lists for the
 * device of each tensor. Casts of leaves that require grad are kept until the outermost region
 * ends; one that is switched off counts as a region, too. Exit takes what enter gave. */
struct ag_autocast {
	bool enabled;
	enum ag_dtype dtype; /* PyTorch's default: AG_BF16 on the CPU, AG_F16 on CUDA */
	bool cache;          /* true unless cache_enabled=False */
};
struct ag_autocast ag_autocast_of(const struct ag_ctx *ctx, enum ag_device device);
struct ag_autocast ag_autocast_enter(struct ag_ctx *ctx, enum ag_device device,
                                     struct ag_autocast region);
void ag_autocast_exit(struct ag_ctx *ctx, enum ag_device device, struct ag_autocast before);
/* The same state outside of regions, and the kept casts dropped at once. */
void ag_autocast_set(struct ag_ctx *ctx, enum ag_device device, struct ag_autocast region);
void ag_autocast_forget(struct ag_ctx *ctx);

/* ------------------------------------------------- tensors and storages */

/* `data` holds numel elements of `dtype` in row order; NULL: no data. */
struct ag_tensor *ag_tensor_new(struct ag_ctx *ctx, enum ag_dtype dtype, int ndim,
                                const int64_t *shape, const void *data);
struct ag_tensor *ag_from_floats(struct ag_ctx *ctx, int ndim, const int64_t *shape,
                                 const float *data);
struct ag_tensor *ag_retain(struct ag_tensor *t); /* returns t */
void ag_release(struct ag_tensor *t);             /* NULL is fine */
uint32_t ag_refs(const struct ag_tensor *t);

int ag_ndim(const struct ag_tensor *t);
int64_t ag_size(const struct ag_tensor *t, int dim); /* dim may be negative */
const int64_t *ag_shape(const struct ag_tensor *t);
const int64_t *ag_strides(const struct ag_tensor *t);
int64_t ag_offset(const struct ag_tensor *t);
int64_t ag_numel(const struct ag_tensor *t);
enum ag_dtype ag_dtype(const struct ag_tensor *t);
enum ag_device ag_tensor_device(const struct ag_tensor *t);
bool ag_has_data(const struct ag_tensor *t);
bool ag_is_contiguous(const struct ag_tensor *t);
bool ag_is_contiguous_in(const struct ag_tensor *t, enum ag_format format);
uint64_t ag_id(const struct ag_tensor *t); /* unique in its context, never reused */

bool ag_requires_grad(const struct ag_tensor *t);
bool ag_is_leaf(const struct ag_tensor *t);
bool ag_is_inference(const struct ag_tensor *t);
bool ag_set_requires_grad(struct ag_ctx *ctx, struct ag_tensor *t, bool on);
struct ag_tensor *ag_grad_of(struct ag_tensor *t); /* .grad, borrowed; NULL: none */
bool ag_set_grad(struct ag_ctx *ctx, struct ag_tensor *t, struct ag_tensor *grad);
bool ag_retain_grad(struct ag_ctx *ctx, struct ag_tensor *t);
struct ag_node *ag_grad_fn(struct ag_ctx *ctx, struct ag_tensor *t); /* borrowed */
struct ag_tensor *ag_base(const struct ag_tensor *t);                /* ._base, borrowed */
uint32_t ag_version(const struct ag_tensor *t);
/* `t.data = value`: t takes over value's storage and shape. */
bool ag_set_data(struct ag_ctx *ctx, struct ag_tensor *t, struct ag_tensor *value);
struct ag_tensor *ag_data_of(struct ag_ctx *ctx, struct ag_tensor *t); /* .data */

struct ag_storage *ag_storage_of(const struct ag_tensor *t); /* borrowed */
uint64_t ag_storage_bytes(const struct ag_storage *s);
uint64_t ag_storage_id(const struct ag_storage *s);
uint32_t ag_storage_site(const struct ag_storage *s);
uint32_t ag_storage_refs(const struct ag_storage *s);
/* From now on the memory of new storages is somebody else's, such as NumPy's, and not counted in
 * bytes; what it was before. */
bool ag_set_foreign(struct ag_ctx *ctx, bool foreign);
bool ag_storage_is_foreign(const struct ag_storage *s);
/* A holder that is no tensor: a NumPy array, a storage object. */
struct ag_storage *ag_storage_retain(struct ag_storage *s);
void ag_storage_release(struct ag_storage *s);

/* One element as a number. False with AG_ERR_NO_DATA when it has none. */
bool ag_item(struct ag_ctx *ctx, const struct ag_tensor *t, double *value);
bool ag_item_int(struct ag_ctx *ctx, const struct ag_tensor *t, int64_t *value);
/* All elements in row order; `count` must be ag_numel. */
bool ag_read(struct ag_ctx *ctx, const struct ag_tensor *t, double *out, int64_t count);
bool ag_write(struct ag_ctx *ctx, struct ag_tensor *t, const double *in, int64_t count);

/* ---------------------------------------------------------- calling ops */

enum ag_value_kind { AG_NONE, AG_BOOL, AG_INT, AG_FLOAT, AG_TEXT, AG_DTYPE, AG_TENSOR, AG_LIST };

/* An argument. Nothing in it is owned. */
struct ag_value {
	enum ag_value_kind kind;
	uint32_t count; /* elements of a list, bytes of a text */
	union {
		bool b;
		int64_t i;
		double f;
		const char *text;
		enum ag_dtype dtype;
		struct ag_tensor *tensor;
		const struct ag_value *list;
	} as;
};

struct ag_keyword {
	const char *name;
	struct ag_value value;
};

struct ag_args {
	const struct ag_value *at;
	uint32_t count;
	const struct ag_keyword *keywords;
	uint32_t nkeywords;
};

/* Results are flat: LSTM gives output, h_n, c_n. */
struct ag_results {
	uint32_t count;
	uint32_t capacity;
	struct ag_tensor **at;
	struct ag_tensor *few[4];
};

void ag_results_release(struct ag_results *results); /* drops the references */
struct ag_tensor *ag_results_take(struct ag_results *results, uint32_t index); /* moves it out */

enum ag_op {
	AG_OP_NONE,
#define OP(id, names, signature, results, flags) AG_OP_##id,
#include "runtime/ops.def"
#undef OP
	AG_OP_COUNT
};

enum ag_op_flags {
	AG_OPF_INPLACE = 1, /* `name_` exists: works on its first tensor */
	AG_OPF_FACTORY = 2, /* makes a tensor of nothing: takes dtype, device, requires_grad */
	AG_OPF_RANDOM = 4,  /* draws from the generator */
	AG_OPF_DATA = 8,    /* the shape of the result depends on data */
	AG_OPF_NOGRAD = 16, /* the result never requires grad */
	AG_OPF_LIST = 32,   /* the result is a tuple of any length (split, unbind) */
	AG_OPF_COMPLEX = 64 /* right for complex numbers; others give no data for them */
};

struct ag_op_info {
	const char *id;
	const char *names;     /* torch spellings, separated by spaces */
	const char *signature; /* see ops.def */
	const char *results;   /* "values indices" for named tuples, "" for one tensor */
	uint32_t flags;
};

const struct ag_op_info *ag_op_info(enum ag_op op);

/* By torch name: "torch.nn.functional.relu", "torch.relu", "Tensor.add_", "relu".
 * Overloads are resolved by the arguments; a trailing underscore works in place
 * (the result is then the first argument itself, with a new reference). */
bool ag_call(struct ag_ctx *ctx, const char *name, const struct ag_args *args,
             struct ag_results *results);
/* The first row with this name, AG_OP_NONE if there is none; *inplace for `name_`. */
enum ag_op ag_op_find(struct ag_ctx *ctx, const char *name, bool *inplace);
/* One row, arguments by position; trailing defaults may be left out. */
bool ag_call_op(struct ag_ctx *ctx, enum ag_op op, bool inplace, const struct ag_value *args,
                uint32_t count, struct ag_results *results);
/* The same for rows with one result. */
struct ag_tensor *ag_call1(struct ag_ctx *ctx, enum ag_op op, const struct ag_value *args,
                           uint32_t count);

static inline struct ag_value ag_none(void)
{
	struct ag_value v;

	v.kind = AG_NONE;
	v.count = 0;
	v.as.i = 0;
	return v;
}
static inline struct ag_value ag_bool(bool b)
{
	struct ag_value v = ag_none();

	v.kind = AG_BOOL;
	v.as.b = b;
	return v;
}
static inline struct ag_value ag_int(int64_t i)
{
	struct ag_value v = ag_none();

	v.kind = AG_INT;
	v.as.i = i;
	return v;
}
static inline struct ag_value ag_float(double f)
{
	struct ag_value v = ag_none();

	v.kind = AG_FLOAT;
	v.as.f = f;
	return v;
}
static inline struct ag_value ag_text(const char *text, size_t length)
{
	struct ag_value v = ag_none();

	v.kind = AG_TEXT;
	v.count = (uint32_t)length;
	v.as.text = text;
	return v;
}
static inline struct ag_value ag_type(enum ag_dtype dtype)
{
	struct ag_value v = ag_none();

	v.kind = AG_DTYPE;
	v.as.dtype = dtype;
	return v;
}
static inline struct ag_value ag_arg(struct ag_tensor *t)
{
	struct ag_value v = ag_none();

	v.kind = AG_TENSOR;
	v.as.tensor = t;
	return v;
}
static inline struct ag_value ag_list(const struct ag_value *items, size_t count)
{
	struct ag_value v = ag_none();

	v.kind = AG_LIST;
	v.count = (uint32_t)count;
	v.as.list = items;
	return v;
}

/* torch.tensor(data): nested lists of numbers, bools, 0-dim tensors. */
struct ag_tensor *ag_tensor_of(struct ag_ctx *ctx, const struct ag_value *data,
                               const enum ag_dtype *dtype, bool requires_grad);

/* x[a, b:c, None, ..., index] and x[...] = value. */
enum ag_index_kind { AG_AT, AG_SLICE, AG_NEW_AXIS, AG_ELLIPSIS, AG_INDEX_TENSOR };
struct ag_index {
	enum ag_index_kind kind;
	int64_t start, stop, step; /* AG_AT uses start; AG_SLICE all three, step 1 if 0 */
	bool has_start, has_stop;  /* false: `x[:n]`, `x[n:]` */
	struct ag_tensor *tensor;  /* integer, bool or mask */
};
struct ag_tensor *ag_index(struct ag_ctx *ctx, struct ag_tensor *t, const struct ag_index *index,
                           uint32_t count);
bool ag_index_put(struct ag_ctx *ctx, struct ag_tensor *t, const struct ag_index *index,
                  uint32_t count, const struct ag_value *value);

/* What cannot be known: one differentiable node that saves its inputs. The
 * result has no data; it requires grad when an input does, or `force` is set. */
struct ag_tensor *ag_opaque(struct ag_ctx *ctx, struct ag_tensor *const *inputs, uint32_t count,
                            enum ag_dtype dtype, int ndim, const int64_t *shape, bool force);

/* The common ops, typed. */
struct ag_tensor *ag_add(struct ag_ctx *ctx, struct ag_tensor *a, struct ag_tensor *b);
struct ag_tensor *ag_sub(struct ag_ctx *ctx, struct ag_tensor *a, struct ag_tensor *b);
struct ag_tensor *ag_mul(struct ag_ctx *ctx, struct ag_tensor *a, struct ag_tensor *b);
struct ag_tensor *ag_div(struct ag_ctx *ctx, struct ag_tensor *a, struct ag_tensor *b);
struct ag_tensor *ag_add_number(struct ag_ctx *ctx, struct ag_tensor *a, double b);
struct ag_tensor *ag_mul_number(struct ag_ctx *ctx, struct ag_tensor *a, double b);
struct ag_tensor *ag_pow_number(struct ag_ctx *ctx, struct ag_tensor *a, double exponent);
struct ag_tensor *ag_neg(struct ag_ctx *ctx, struct ag_tensor *a);
struct ag_tensor *ag_exp(struct ag_ctx *ctx, struct ag_tensor *a);
struct ag_tensor *ag_log(struct ag_ctx *ctx, struct ag_tensor *a);
struct ag_tensor *ag_relu(struct ag_ctx *ctx, struct ag_tensor *a);
struct ag_tensor *ag_sigmoid(struct ag_ctx *ctx, struct ag_tensor *a);
struct ag_tensor *ag_tanh(struct ag_ctx *ctx, struct ag_tensor *a);
struct ag_tensor *ag_sum(struct ag_ctx *ctx, struct ag_tensor *a);
struct ag_tensor *ag_mean(struct ag_ctx *ctx, struct ag_tensor *a);
struct ag_tensor *ag_matmul(struct ag_ctx *ctx, struct ag_tensor *a, struct ag_tensor *b);
struct ag_tensor *ag_linear(struct ag_ctx *ctx, struct ag_tensor *x, struct ag_tensor *weight,
                            struct ag_tensor *bias);
struct ag_tensor *ag_view(struct ag_ctx *ctx, struct ag_tensor *a, int ndim, const int64_t *shape);
struct ag_tensor *ag_transpose(struct ag_ctx *ctx, struct ag_tensor *a, int dim0, int dim1);
struct ag_tensor *ag_select(struct ag_ctx *ctx, struct ag_tensor *a, int dim, int64_t index);
struct ag_tensor *ag_slice(struct ag_ctx *ctx, struct ag_tensor *a, int dim, int64_t start,
                           int64_t stop);
struct ag_tensor *ag_clone(struct ag_ctx *ctx, struct ag_tensor *a);
struct ag_tensor *ag_detach(struct ag_ctx *ctx, struct ag_tensor *a);
struct ag_tensor *ag_mse_loss(struct ag_ctx *ctx, struct ag_tensor *x, struct ag_tensor *target);
struct ag_tensor *ag_cross_entropy(struct ag_ctx *ctx, struct ag_tensor *x,
                                   struct ag_tensor *target);
struct ag_tensor *ag_zeros(struct ag_ctx *ctx, int ndim, const int64_t *shape);
struct ag_tensor *ag_ones(struct ag_ctx *ctx, int ndim, const int64_t *shape);
struct ag_tensor *ag_randn(struct ag_ctx *ctx, int ndim, const int64_t *shape);
/* In place: true, or false with an error. `alpha` times b is added. */
bool ag_add_(struct ag_ctx *ctx, struct ag_tensor *a, struct ag_tensor *b, double alpha);
bool ag_mul_(struct ag_ctx *ctx, struct ag_tensor *a, struct ag_tensor *b);
bool ag_copy_(struct ag_ctx *ctx, struct ag_tensor *a, struct ag_tensor *b);
bool ag_zero_(struct ag_ctx *ctx, struct ag_tensor *a);

/* ------------------------------------------------------------- autograd */

enum ag_backward_flags { AG_RETAIN_GRAPH = 1, AG_CREATE_GRAPH = 2, AG_ALLOW_UNUSED = 4 };

/* `grad` NULL: the tensor must have one element. */
bool ag_backward(struct ag_ctx *ctx, struct ag_tensor *t, struct ag_tensor *grad, unsigned flags);
bool ag_backward_many(struct ag_ctx *ctx, struct ag_tensor *const *tensors,
                      struct ag_tensor *const *grads, uint32_t count,
                      struct ag_tensor *const *inputs, uint32_t ninputs, unsigned flags);
/* out[i] is owned, NULL where unused (with AG_ALLOW_UNUSED). */
bool ag_grad(struct ag_ctx *ctx, struct ag_tensor *const *outputs,
             struct ag_tensor *const *grad_outputs, uint32_t noutputs,
             struct ag_tensor *const *inputs, uint32_t ninputs, unsigned flags,
             struct ag_tensor **out);

/* Callbacks own `data`: `release` runs once, when the hook or node goes.
 * `visit` tells a walk what `data` holds; either may be NULL. */
typedef void ag_visit_fn(void *walk, struct ag_tensor *t, struct ag_node *node, const char *role);
struct ag_closure {
	void *data;
	void (*release)(void *data);
	void (*visit)(void *data, ag_visit_fn *fn, void *walk);
};

/* A hook returns a replacement (a new reference), or NULL to leave the gradient;
 * to fail it sets ctx's error with ag_raise. */
typedef struct ag_tensor *ag_hook_fn(struct ag_ctx *ctx, void *data, struct ag_tensor *grad);
/* grads may be replaced in place (release the old, store a new reference). */
typedef bool ag_node_hook_fn(struct ag_ctx *ctx, void *data, struct ag_tensor **grad_inputs,
                             uint32_t ninputs, struct ag_tensor *const *grad_outputs,
                             uint32_t noutputs);
uint64_t ag_tensor_hook(struct ag_ctx *ctx, struct ag_tensor *t, ag_hook_fn *fn,
                        struct ag_closure closure); /* 0: error */
/* After gradients reached a leaf. */
uint64_t ag_post_accumulate_hook(struct ag_ctx *ctx, struct ag_tensor *t, ag_hook_fn *fn,
                                 struct ag_closure closure);
uint64_t ag_node_hook(struct ag_ctx *ctx, struct ag_node *node, ag_node_hook_fn *fn,
                      struct ag_closure closure);
void ag_hook_remove(struct ag_ctx *ctx, uint64_t handle);
void ag_raise(struct ag_ctx *ctx, enum ag_status status, const char *format, ...);

/* autograd.Function. Between begin and end the grad mode is off; `end` makes the
 * node and gives the outputs their history (outputs[i] is replaced when it must
 * be another tensor, as when an input is returned unchanged). */
struct ag_custom;
typedef bool ag_custom_backward_fn(struct ag_ctx *ctx, void *data, struct ag_custom *fn,
                                   struct ag_tensor *const *grads, uint32_t ngrads,
                                   struct ag_tensor **grad_inputs, uint32_t ninputs);
struct ag_custom *ag_custom_begin(struct ag_ctx *ctx, const char *name,
                                  ag_custom_backward_fn *backward, struct ag_closure closure);
bool ag_custom_save(struct ag_custom *fn, struct ag_tensor *const *tensors, uint32_t count);
void ag_custom_mark_dirty(struct ag_custom *fn, struct ag_tensor *t);
void ag_custom_mark_no_grad(struct ag_custom *fn, struct ag_tensor *t);
bool ag_custom_needs_grad(const struct ag_custom *fn, uint32_t input);
bool ag_custom_end(struct ag_custom *fn, struct ag_tensor *const *inputs, uint32_t ninputs,
                   struct ag_tensor **outputs, uint32_t noutputs);
void ag_custom_cancel(struct ag_custom *fn); /* forward failed */
/* In backward: saved tensor i, a new reference, version checked. */
struct ag_tensor *ag_custom_saved(struct ag_custom *fn, uint32_t index);
uint32_t ag_custom_saved_count(const struct ag_custom *fn);

/* torch.utils.checkpoint: `run` is called now (no graph) and again in backward. */
typedef bool ag_checkpoint_fn(struct ag_ctx *ctx, void *data, struct ag_tensor *const *inputs,
                              uint32_t ninputs, struct ag_results *outputs);
bool ag_checkpoint(struct ag_ctx *ctx, ag_checkpoint_fn *run, struct ag_closure closure,
                   struct ag_tensor *const *inputs, uint32_t ninputs, bool reentrant,
                   bool preserve_rng, struct ag_results *outputs);
/* Not reentrant, the second `run` is ended by an error as soon as all that was saved
 * is there again: whether that has happened, and `run` should clean up and return. */
bool ag_checkpoint_stops(const struct ag_ctx *ctx);

/* --------------------------------------------------- modules, optimizers */

/* torch.nn layers by name ("Linear", "Conv2d", "LSTM"), arguments as in torch. */
struct ag_module *ag_module_new(struct ag_ctx *ctx, const char *name, const struct ag_args *args);
bool ag_module_known(const char *name);
/* A container without a forward of its own. */
struct ag_module *ag_module_container(struct ag_ctx *ctx, const char *name);
struct ag_module *ag_module_retain(struct ag_module *m);
void ag_module_release(struct ag_module *m);
const char *ag_module_kind(const struct ag_module *m);
bool ag_module_call(struct ag_ctx *ctx, struct ag_module *m, const struct ag_args *args,
                    struct ag_results *results);
struct ag_tensor *ag_module_forward(struct ag_ctx *ctx, struct ag_module *m, struct ag_tensor *x);

enum ag_slot_kind { AG_SLOT_PARAMETER, AG_SLOT_BUFFER };
bool ag_module_set_tensor(struct ag_ctx *ctx, struct ag_module *m, enum ag_slot_kind kind,
                          const char *name, struct ag_tensor *t);
struct ag_tensor *ag_module_tensor(struct ag_module *m, const char *name); /* borrowed */
bool ag_module_set_child(struct ag_ctx *ctx, struct ag_module *m, const char *name,
                         struct ag_module *child);
struct ag_module *ag_module_child(struct ag_module *m, const char *name); /* borrowed */
uint32_t ag_module_child_count(const struct ag_module *m);
struct ag_module *ag_module_child_at(struct ag_module *m, uint32_t index, const char **name);
/* Depth first as in torch, shared tensors once; names are "0.weight". */
typedef bool ag_module_visit_fn(void *data, const char *name, struct ag_tensor *t);
bool ag_module_each(struct ag_module *m, enum ag_slot_kind kind, ag_module_visit_fn *fn,
                    void *data);
/* A numeric or bool setting: "in_features", "p", "eps"; false if there is none. */
bool ag_module_setting(const struct ag_module *m, const char *name, double *value);
void ag_module_train(struct ag_module *m, bool training);
bool ag_module_training(const struct ag_module *m);
bool ag_module_requires_grad(struct ag_ctx *ctx, struct ag_module *m, bool on);
bool ag_module_zero_grad(struct ag_ctx *ctx, struct ag_module *m, bool set_to_none);
bool ag_module_to(struct ag_ctx *ctx, struct ag_module *m, const enum ag_dtype *dtype,
                  const enum ag_device *device);
/* Of the parameters and buffers that have as many dimensions as images do. */
bool ag_module_to_format(struct ag_ctx *ctx, struct ag_module *m, enum ag_format format);
struct ag_module *ag_module_copy(struct ag_ctx *ctx, struct ag_module *m); /* deepcopy */
struct ag_tensor *ag_parameter(struct ag_ctx *ctx, struct ag_tensor *t, bool requires_grad);
bool ag_is_parameter(const struct ag_tensor *t);

/* Forward hooks may replace results[i]; pre-hooks see the inputs. */
typedef bool ag_module_hook_fn(struct ag_ctx *ctx, void *data, struct ag_module *m,
                               struct ag_tensor **tensors, uint32_t count);
uint64_t ag_module_forward_hook(struct ag_ctx *ctx, struct ag_module *m, ag_module_hook_fn *fn,
                                struct ag_closure closure);
void ag_module_hook_remove(struct ag_module *m, uint64_t handle);
uint64_t ag_module_forward_pre_hook(struct ag_ctx *ctx, struct ag_module *m, ag_module_hook_fn *fn,
                                    struct ag_closure closure);

/* torch.optim by name ("SGD", "AdamW"); keywords as in torch. */
struct ag_optim *ag_optim_new(struct ag_ctx *ctx, const char *name, struct ag_tensor *const *params,
                              uint32_t count, const struct ag_args *args);
bool ag_optim_known(const char *name);
bool ag_optim_add_group(struct ag_ctx *ctx, struct ag_optim *o, struct ag_tensor *const *params,
                        uint32_t count, const struct ag_args *args);
struct ag_optim *ag_optim_retain(struct ag_optim *o);
void ag_optim_release(struct ag_optim *o);
bool ag_optim_step(struct ag_ctx *ctx, struct ag_optim *o);
bool ag_optim_zero_grad(struct ag_ctx *ctx, struct ag_optim *o, bool set_to_none);
bool ag_optim_get(const struct ag_optim *o, uint32_t group, const char *name, double *value);
bool ag_optim_set(struct ag_optim *o, uint32_t group, const char *name, double value);
uint32_t ag_optim_groups(const struct ag_optim *o);
/* Parameter `index` of a group, borrowed; NULL past the end. */
struct ag_tensor *ag_optim_param(const struct ag_optim *o, uint32_t group, uint32_t index);

bool ag_clip_grad_norm(struct ag_ctx *ctx, struct ag_tensor *const *params, uint32_t count,
                       double max_norm, double norm_type, struct ag_tensor **total);
bool ag_clip_grad_value(struct ag_ctx *ctx, struct ag_tensor *const *params, uint32_t count,
                        double value);

/* -------------------------------------------------------- what is alive */

enum ag_kind {
	AG_KIND_OTHER,      /* results nothing saved: outputs, losses */
	AG_KIND_DATA,       /* made by factories: inputs, targets */
	AG_KIND_ACTIVATION, /* saved for a backward */
	AG_KIND_PARAMETER,
	AG_KIND_GRADIENT, /* in a .grad */
	AG_KIND_OPTIM,    /* optimizer state */
	AG_KIND_COUNT
};
const char *ag_kind_name(enum ag_kind kind);
enum ag_kind ag_storage_kind(const struct ag_storage *s);
void ag_set_kind(struct ag_tensor *t, enum ag_kind kind); /* of its storage */

struct ag_memory {
	uint64_t live_bytes;
	uint64_t peak_bytes;
	uint64_t by_kind[AG_KIND_COUNT];
	uint64_t peak_by_kind[AG_KIND_COUNT]; /* at the moment of peak_bytes */
	/* Calls of oneDNN's kernels: what they take while they run is known to oneDNN alone, and
	 * not in the peak. */
	uint64_t unsized;
	uint64_t storages; /* of at least one byte or more, live */
	uint64_t tensors;  /* live handles, saved outputs included */
	uint64_t nodes;    /* live; AccumulateGrad too, not those inside CopySlices */
	uint64_t nodes_made;
	uint64_t allocations;
	uint64_t host_bytes; /* what the library itself holds for nodes */
};
void ag_memory(const struct ag_ctx *ctx, struct ag_memory *memory);
void ag_reset_peak(struct ag_ctx *ctx);

/* Bytes by the site that was current when the storage was allocated. */
void ag_set_site(struct ag_ctx *ctx, uint32_t site);
uint32_t ag_site(const struct ag_ctx *ctx);
struct ag_site_memory {
	uint64_t live_bytes;
	uint64_t peak_bytes;
	uint64_t storages;
	uint64_t nodes;
};
bool ag_site_memory(const struct ag_ctx *ctx, uint32_t site, struct ag_site_memory *memory);

/* The CUDA model's counters; false when the context does not model it. */
struct ag_device_memory {
	uint64_t allocated, reserved, active, requested;
	uint64_t peak_allocated, peak_reserved;
	uint64_t inactive_split;
};
bool ag_device_memory(const struct ag_ctx *ctx, struct ag_device_memory *memory);
void ag_empty_cache(struct ag_ctx *ctx);

/* Nodes. Names are PyTorch's: "MulBackward0", "AccumulateGrad". */
const char *ag_node_name(const struct ag_node *n);
uint64_t ag_node_id(const struct ag_node *n);
uint32_t ag_node_site(const struct ag_node *n);
struct ag_node *ag_node_retain(struct ag_node *n);
void ag_node_release(struct ag_node *n);
bool ag_node_freed(const struct ag_node *n); /* backward has dropped its saved tensors */
bool ag_node_is_opaque(const struct ag_node *n);
uint32_t ag_node_edges(const struct ag_node *n);
struct ag_node *ag_node_edge(const struct ag_node *n, uint32_t i); /* borrowed, may be NULL */
struct ag_tensor *ag_node_variable(const struct ag_node *n);       /* AccumulateGrad's leaf */
uint32_t ag_node_saved(const struct ag_node *n);
struct ag_saved_info {
	char name[24];              /* "self", "result"; "" if it has none */
	struct ag_tensor *tensor;   /* borrowed */
	struct ag_storage *storage; /* borrowed */
	bool is_output;
};
bool ag_node_saved_at(const struct ag_node *n, uint32_t i, struct ag_saved_info *info);
/* Walk everything reachable from a tensor or node, each once, without recursion.
 * `from` is what refers to it (NULL for the start); return false to stop. */
struct ag_reach {
	struct ag_tensor *tensor; /* one of these two */
	struct ag_node *node;
	struct ag_tensor *from_tensor;
	struct ag_node *from_node;
	const char *role; /* "grad_fn", "edge", "saved", "base", "grad", "variable", "hook" */
};
typedef bool ag_reach_fn(void *data, const struct ag_reach *reach);
void ag_reachable(struct ag_ctx *ctx, struct ag_tensor *t, struct ag_node *n, ag_reach_fn *fn,
                  void *data);
/* Live objects, oldest first. */
typedef bool ag_storage_fn(void *data, struct ag_storage *s);
typedef bool ag_node_fn(void *data, struct ag_node *n);
typedef bool ag_tensor_fn(void *data, struct ag_tensor *t);
void ag_each_storage(struct ag_ctx *ctx, ag_storage_fn *fn, void *data);
void ag_each_node(struct ag_ctx *ctx, ag_node_fn *fn, void *data);
void ag_each_tensor(struct ag_ctx *ctx, ag_tensor_fn *fn, void *data);

/* Parameter cycles made by backward(create_graph=True), which nothing frees:
 * counts the tensors whose .grad leads back to them. */
uint64_t ag_cycles(struct ag_ctx *ctx);
/* What nothing outside the library refers to, yet is alive: all cycles of counted
 * references, which PyTorch does not free either. What hooks hold counts as
 * referred to. Takes a walk over everything alive. */
struct ag_garbage {
	uint64_t bytes;
	uint64_t tensors;
	uint64_t nodes;
};
void ag_find_garbage(struct ag_ctx *ctx, struct ag_garbage *garbage);
/* Names them: each such tensor and node, with role "lost"; hidden nodes are left out. */
void ag_each_garbage(struct ag_ctx *ctx, ag_reach_fn *fn, void *data);

/* An empty tensor list printed as PyTorch would print the tensor; returns the
 * length needed, writes at most `size` bytes with a NUL. */
size_t ag_print(const struct ag_tensor *t, char *out, size_t size);

#ifdef __cplusplus
}
#endif

#endif
