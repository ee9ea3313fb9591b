#ifndef GRAPHLINT_RUNTIME_CORE_H
#define GRAPHLINT_RUNTIME_CORE_H

/* The objects behind ag.h and the few operations that keep their counts.
 * Storages, tensors and nodes are counted references in intrusive lists of
 * their context. What dies is put on one dead list and taken apart by a loop,
 * never by recursion. Temporaries of ops and formulas belong to a scope: what
 * `scoped` returns is borrowed until the scope closes. */

#include "runtime/ag.h"
#include "runtime/random.h"

#if defined(__GNUC__)
#define AG_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define AG_PRINTF(text, first)
#endif

enum {
	AG_MAX_PARAMS = 20, /* of one signature */
	AG_PARAM_NAME = 24,
	AG_NODE_WORDS = 4,           /* shape words of a node's results kept in the node */
	AG_THREADS = 2,              /* that PyTorch's kernels are taken to run on */
	AG_DIVISOR = 12,             /* bytes of a mean's count, and of its cast */
	AG_MOST_OF_NODE = UINT16_MAX /* edges, saved tensors, words */
};

struct ag_storage {
	struct ag_ctx *ctx;
	void *data; /* NULL: no data */
	uint64_t bytes;
	uint64_t id;
	uint64_t device_handle;
	uint32_t refs;
	uint32_t saved_refs; /* handles of nodes on it */
	uint32_t version;
	uint32_t site;
	uint32_t walk; /* the last that came by, see ag_walk */
	uint8_t kind;
	uint8_t device;
	bool foreign; /* its bytes are not the allocator's */
	struct ag_storage *prev, *next;
};

/* A version counter of its own, for `.data` aliases. */
struct ag_version {
	uint32_t refs;
	uint32_t n;
};

struct ag_hook;

struct ag_tensor {
	struct ag_ctx *ctx;
	struct ag_storage *storage;
	struct ag_version *own_version; /* NULL: the storage's */
	struct ag_node *grad_fn;
	struct ag_tensor *grad;
	struct ag_tensor *base;      /* root of the views, for differentiable views */
	struct ag_node *accumulator; /* weak */
	struct ag_node *retain_node; /* weak: node whose hook fills .grad */
	struct ag_hook *hooks;       /* of leaves; others live in the node */
	struct ag_hook *post_hooks;
	struct ag_tensor *prev, *next; /* `next` also chains the dead */
	uint64_t id;
	int64_t numel;
	int64_t offset;
	int64_t shape[AG_MAX_DIMS];
	int64_t strides[AG_MAX_DIMS];
	uint32_t refs;
	uint32_t output_nr;
	uint32_t attr_version; /* of a view: the version its grad_fn belongs to */
	uint32_t walk;         /* the last that came by, see ag_walk */
	uint8_t ndim;
	uint8_t dtype;
	uint8_t creation; /* enum ag_creation */
	bool requires_grad;
	bool is_parameter;
	bool inference;
	bool wrapped_number;
	bool retains_grad;
	bool shown; /* a walk from outside has shown it */
};

/* How a view came about, which decides what in-place ops on it may do. */
enum ag_creation { AG_VIEW_NORMAL, AG_VIEW_MULTI, AG_VIEW_NO_GRAD, AG_VIEW_CUSTOM };

struct ag_edge {
	struct ag_node *node;
	uint32_t slot;
};

struct ag_saved {
	struct ag_tensor *t;
	uint32_t version;
	bool is_output;
	bool set;    /* once; stays when released */
	bool packed; /* into the node's region, as its holder number `version` */
	uint32_t output_nr;
};

enum ag_node_kind {
#define NODE(id, name, saved) AG_NODE_##id,
#include "runtime/nodes.def"
#undef NODE
	AG_NODE_COUNT
};

struct ag_node {
	struct ag_ctx *ctx;
	struct ag_node *prev, *next; /* `next` also chains the dead */
	uint64_t id;                 /* creation order; the engine runs higher ones first */
	struct ag_edge *edges;
	struct ag_saved *saved;
	int64_t *ints; /* shapes and dims the formula needs */
	int64_t *meta; /* per result: dtype | ndim << 8, then its shape */
	struct ag_hook *hooks;
	struct ag_node *region; /* of the checkpoint that has what this one saved */
	void *extra;            /* variable of AccumulateGrad, ag_custom, copy_slices, checkpoint */
	double num[2];
	int64_t few[AG_NODE_WORDS];
	uint32_t refs;
	uint32_t site;
	uint32_t bytes; /* of this object */
	uint32_t walk;  /* the last that came by, see ag_walk */
	uint16_t kind;
	uint16_t nedges;
	uint16_t nsaved;
	uint16_t nints;
	uint16_t nresults;
	bool freed;
	bool hidden; /* wrapped in CopySlices: Python cannot see it, counts leave it out */
};

enum ag_hook_kind { AG_HOOK_TENSOR, AG_HOOK_RETAIN, AG_HOOK_NODE, AG_HOOK_POST };

struct ag_hook {
	struct ag_hook *next;
	uint64_t handle;
	enum ag_hook_kind kind;
	uint32_t slot; /* result of the node */
	ag_hook_fn *fn;
	ag_node_hook_fn *node_fn;
	struct ag_tensor *retain; /* weak */
	struct ag_closure closure;
};

struct ag_site_slot {
	struct ag_site_memory memory;
};

struct ag_signature;
struct ag_caching;
struct ag_autocast_state;

struct ag_ctx {
	struct ag_error error;
	struct ag_options options;
	struct ag_random random;
	struct ag_memory memory;
	struct ag_grad_mode mode;
	enum ag_dtype default_dtype;
	enum ag_device default_device;
	bool foreign; /* new storages are */
	bool meta;
	bool draining;
	double work; /* multiplications done */
	uint32_t site;
	uint32_t walks; /* how many there were */
	uint64_t next_id;
	struct ag_storage storages; /* list heads */
	struct ag_tensor tensors;
	struct ag_node nodes;
	struct ag_tensor *dead_tensors;
	struct ag_node *dead_nodes;
	struct ag_tensor **scope;
	size_t scope_count, scope_capacity;
	struct ag_site_slot *sites;
	uint32_t nsites;
	struct ag_signature **signatures;
	uint16_t *name_table;         /* hash of torch names to rows, see names.c */
	struct ag_found_name *founds; /* what was looked up lately */
	struct ag_caching *caching;
	struct ag_autocast_state *autocast;
	uint32_t depth;         /* of backward inside backward */
	uint64_t backward;      /* number of the one that runs; 0: none */
	uint64_t backwards;     /* how many there were */
	uint32_t calls;         /* of modules inside modules */
	struct ag_node *region; /* of the checkpoint that runs, for what is saved */
	bool has_complex;       /* complex tensors were made */
	bool broken;            /* a kernel or a node met what does not fit: the call fails */
	bool computes_again;    /* it is its second run */
	bool save_failed;       /* an inference tensor was to be saved, or the run ends */
	void *spare[8];         /* freed blocks by size class */
	uint32_t spare_count[8];
};

/* ---- errors: set ctx's error, return false or NULL */
bool ag_fail(struct ag_ctx *ctx, enum ag_status status, const char *format, ...) AG_PRINTF(3, 4);
/* The same where nobody looks at a result: whoever runs the op or the formula asks ag_whole. */
void ag_break(struct ag_ctx *ctx, const char *format, ...) AG_PRINTF(2, 3);
bool ag_whole(struct ag_ctx *ctx); /* false once after ag_break */
#define ag_null(...) ((void)ag_fail(__VA_ARGS__), (struct ag_tensor *)NULL)

/* ---- host memory: never NULL, zeroed; abort when exhausted */
void *ag_alloc(size_t count, size_t size);

/* ---- arithmetic: false when the budget of work does not reach for this much */
enum { AG_WORK_OF_DRAW = 20 }; /* of a random number */
bool ag_work(struct ag_ctx *ctx, double multiplications);
void *ag_grow(void *block, size_t count, size_t size);

/* The number of a new walk over what is alive: what it comes by is marked with it. */
static inline uint32_t ag_walk(struct ag_ctx *ctx)
{
	return ++ctx->walks;
}

/* Small objects, recycled; zeroed. */
void *ag_block_new(struct ag_ctx *ctx, size_t size);
void ag_block_free(struct ag_ctx *ctx, void *block, size_t size);

/* ---- storages */
struct ag_storage *ag_storage_new(struct ag_ctx *ctx, uint64_t bytes, bool with_data);
void ag_storage_drop_data(struct ag_storage *s);
/* A kernel of PyTorch's has this much for itself while it runs: only the peak sees it. */
void ag_transient(struct ag_ctx *ctx, int64_t bytes);

struct ag_peak {
	uint64_t live_bytes, peak_bytes;
	uint64_t peak_by_kind[AG_KIND_COUNT];
};
/* The peak of what comes now, by itself; `before` is what ag_watched_peak goes on from. */
void ag_watch_peak(struct ag_ctx *ctx, struct ag_peak *before);
/* How many bytes the peak since was above what was live then. */
uint64_t ag_watched_peak(struct ag_ctx *ctx, const struct ag_peak *before);

void ag_storage_set_kind(struct ag_storage *s, enum ag_kind kind);
void ag_storage_save(struct ag_storage *s);   /* a node saved a handle on it */
void ag_storage_unsave(struct ag_storage *s); /* and let go */

/* ---- tensors */
/* More elements than an address space has bytes. */
#define AG_MOST_ELEMENTS (INT64_C(1) << 48)
/* What a product that does not fit becomes: more than any size, and a few of them add up. */
#define AG_TOO_MUCH (INT64_C(1) << 60)
bool ag_check_shape(struct ag_ctx *ctx, int ndim, const int64_t *shape);
/* Contiguous. With data iff `with_data` and the context computes. */
struct ag_tensor *ag_make(struct ag_ctx *ctx, enum ag_dtype dtype, int ndim, const int64_t *shape,
                          bool with_data);
/* A handle on the same storage; shares the version; no history. */
struct ag_tensor *ag_alias(struct ag_tensor *t, int ndim, const int64_t *shape,
                           const int64_t *strides, int64_t offset);
struct ag_tensor *ag_alias_same(struct ag_tensor *t);
void ag_set_shape(struct ag_tensor *t, int ndim, const int64_t *shape, const int64_t *strides);
int64_t ag_count(int ndim, const int64_t *shape);
static inline int64_t ag_times(int64_t a, int64_t b)
{
	const double product = (double)a * (double)b;

	if (product >= (double)AG_TOO_MUCH)
		return AG_TOO_MUCH;
	return product <= -(double)AG_TOO_MUCH ? -AG_TOO_MUCH : a * b;
}
/* A size, place or step of a call: what is beyond any tensor is as good as the next one. */
static inline int64_t ag_within(int64_t n)
{
	return n > AG_MOST_ELEMENTS    ? AG_MOST_ELEMENTS + 1
	       : n < -AG_MOST_ELEMENTS ? -AG_MOST_ELEMENTS - 1
	                               : n;
}
void ag_contiguous_strides(int ndim, const int64_t *shape, int64_t *strides);
bool ag_same_shape(const struct ag_tensor *a, const struct ag_tensor *b);
bool ag_shape_is(const struct ag_tensor *t, int ndim, const int64_t *shape);
bool ag_is_dense(const struct ag_tensor *t); /* non-overlapping and dense */
void ag_bump(struct ag_tensor *t);
/* A dim from the program, wrapped; -1 with IndexError when out of range. */
int ag_dim(struct ag_ctx *ctx, const struct ag_tensor *t, int64_t dim);
int ag_dim_of(struct ag_ctx *ctx, int64_t dim, int ndim);
bool ag_broadcast(struct ag_ctx *ctx, const struct ag_tensor *a, const struct ag_tensor *b,
                  int *ndim, int64_t *shape);
const char *ag_shape_text(int ndim, const int64_t *shape, char *out, size_t size);
struct ag_tensor *ag_scalar(struct ag_ctx *ctx, enum ag_dtype dtype, double value);
/* The 0-dim 8-byte tensor that a Python number becomes. */
struct ag_tensor *ag_wrapped(struct ag_ctx *ctx, const struct ag_value *number);
/* Makes data_of(t) writable memory for `t`'s elements; t without data stays so. */
bool ag_writable(struct ag_tensor *t);

/* ---- scopes */
size_t ag_scope_open(struct ag_ctx *ctx);
void ag_scope_close(struct ag_ctx *ctx, size_t mark);
struct ag_tensor *scoped(struct ag_ctx *ctx, struct ag_tensor *t); /* NULL is fine */
/* Closes, but for `t` (NULL is fine), which the scope around it has then. */
struct ag_tensor *ag_scope_keep(struct ag_ctx *ctx, size_t mark, struct ag_tensor *t);

/* ---- nodes */
struct ag_node *ag_node_new(struct ag_ctx *ctx, enum ag_node_kind kind, uint32_t nedges,
                            uint32_t nsaved, uint32_t nints);
void ag_node_connect(struct ag_node *n, uint32_t i, struct ag_tensor *t);
struct ag_edge ag_gradient_edge(struct ag_tensor *t); /* node owned, NULL: none */
void ag_save_input(struct ag_node *n, uint32_t i, struct ag_tensor *t);
void ag_save_output(struct ag_node *n, uint32_t i, struct ag_tensor *t);
/* Unpacks: borrowed from the scope; NULL with an error, or for nothing saved. */
struct ag_tensor *ag_unpack(struct ag_node *n, uint32_t i);
void ag_node_add_result(struct ag_node *n, const struct ag_tensor *t);
/* t (fresh) becomes result `slot` of the node. */
void ag_set_history(struct ag_tensor *t, struct ag_node *n);
/* t (changed in place) does; the node is connected to the old history already. */
bool ag_rebase_history(struct ag_tensor *t, struct ag_node *n);
bool ag_check_inplace(struct ag_ctx *ctx, struct ag_tensor *t, bool differentiable);
/* False, with an error, for what was expanded: its elements are one in memory. */
bool ag_no_overlap(struct ag_ctx *ctx, const struct ag_tensor *t);
/* False, with an error, when something since save_failed was reset must not be saved. */
bool ag_saves_ok(struct ag_ctx *ctx);
void ag_node_free_saved(struct ag_node *n);
void ag_drain(struct ag_ctx *ctx);
void ag_hooks_free(struct ag_hook *hooks);

/* Makes `v`, an alias of `t`, a differentiable view of it. */
void ag_make_view(struct ag_tensor *v, struct ag_tensor *t, struct ag_node *n,
                  enum ag_creation creation);

void ag_drop_version(struct ag_version *version);
/* Gives an alias a version of its own, from zero: what changes it says nothing of the rest. */
void ag_own_version(struct ag_tensor *t);
/* Cuts all references between objects; what remains is released one by one. */
void ag_unlink_all(struct ag_ctx *ctx);
/* The accumulator of a leaf that requires grad, borrowed; made when missing. */
struct ag_node *ag_accumulator(struct ag_tensor *t);
void ag_custom_free(struct ag_node *n); /* of autograd.Function nodes */
const char *ag_custom_name(const struct ag_node *n);
void ag_custom_visit(const struct ag_node *n, ag_visit_fn *visit, void *walk);
/* Shape and dtype of a result, as the engine checks gradients against. */
const int64_t *ag_node_result(const struct ag_node *n, uint32_t slot, int *ndim,
                              enum ag_dtype *dtype);
void ag_checkpoint_free(struct ag_node *n);
void ag_checkpoint_visit(const struct ag_node *n, ag_visit_fn *visit, void *walk);
void ag_copy_slices_free(struct ag_node *n);
bool ag_hook_add(struct ag_ctx *ctx, struct ag_hook **list, struct ag_hook *hook);
/* PyTorch's names for errors: "torch.FloatTensor [3, 4]". */
const char *ag_type_text(const struct ag_tensor *t, char *out, size_t size);

/* ---- formulas */
struct ag_bw {
	struct ag_ctx *ctx;
	struct ag_node *node;
	struct ag_tensor **grads; /* per result, NULL: zero */
	struct ag_tensor **out;   /* per edge, owned */
	const bool *wanted;       /* per edge; NULL: all connected ones */
};

bool ag_bw_want(const struct ag_bw *b, uint32_t i);
void ag_bw_set(struct ag_bw *b, uint32_t i, struct ag_tensor *t);

typedef bool ag_backward_fn(struct ag_bw *b);
#define NODE(id, name, saved) bool bw_##id(struct ag_bw *b);
#include "runtime/nodes.def"
#undef NODE

/* What zero_grad does to one parameter. */
bool ag_zero_grad_of(struct ag_ctx *ctx, struct ag_tensor *p, bool set_to_none);

/* ---- caching allocator of the device */
void ag_device_open(struct ag_ctx *ctx);
void ag_device_close(struct ag_ctx *ctx);
uint64_t ag_device_allocate(struct ag_ctx *ctx, uint64_t bytes);
void ag_device_free(struct ag_ctx *ctx, uint64_t handle);

#endif
