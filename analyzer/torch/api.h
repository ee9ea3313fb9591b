#ifndef GRAPHLINT_TORCH_API_H
#define GRAPHLINT_TORCH_API_H

/* What every name that training code calls does to autograd graphs, as data.
 *
 * One row a name, keyed by its canonical dotted name: "torch.relu", "torch.Tensor.add_",
 * "torch.nn.Linear.__call__", "builtins.float", "list.append". A method's row counts self as
 * argument 0. Attributes that are not called have rows too (API_PROPERTY). The tables are
 * constant, sorted and free of pointers: nothing happens at start-up, every look-up is a binary
 * search. Hand-written rows (api.def, python.def, frameworks.def) win over api_measured.def,
 * which tools/gen_api.py writes from what PyTorch was seen doing.
 * A name without a row is unknown: NULL says nothing about it. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum api_effect {
	/* values */
	API_NONE,      /* no tensor out that matters, nothing happens to graphs: print, len */
	API_PASSES,    /* new tensor with the graph of every tensor argument, if gradients are on */
	API_VIEWS,     /* as PASSES, and shares the storage of argument `arg` */
	API_ALIASES,   /* returns argument `arg` itself (API_MAYBE: or a copy in the graph) */
	API_CUTS,      /* new tensor that never carries a graph: argmax, ==, .long() */
	API_CUTS_VIEW, /* no graph, but shares storage: detach, .data */
	API_MAKES,     /* new tensor from no tensor; a leaf when requires_grad=True is given */
	API_NUMBER,    /* reads tensors into Python values: item, tolist, float(), numpy */
	API_COPIES,    /* deep copy: leaves stay leaves, modules get parameters of their own */
	/* in place, on argument `arg` */
	API_IN_PLACE,      /* arg joins the graphs of the others (none: zero_) and keeps its own */
	API_CUTS_IN_PLACE, /* arg's graph is dropped: detach_ */
	API_REQUIRES_GRAD, /* arg (tensor or module) becomes a leaf, or frozen: requires_grad_ */
	/* backward and modes */
	API_BACKWARD, /* runs backward from argument `arg`, frees unless retain_graph */
	API_GRAD,     /* autograd.grad: returns gradients, frees only the path */
	API_MODE,     /* sets the grad mode (api_mode_of) as statement, context or decorator */
	API_CONTEXT,  /* context manager without effect on the mode: autocast, profile */
	API_SAVES_FOR_BACKWARD, /* ctx.save_for_backward, mark_dirty, saved_tensors */
	/* things that are made */
	API_MODULE,       /* constructs a module (API_TRANSPARENT: stands for argument `arg`) */
	API_PARAMETER,    /* constructs a leaf that requires grad: nn.Parameter */
	API_OPTIMIZER,    /* constructs an optimizer over the parameters of `arg` */
	API_LOADER,       /* constructs something that yields batches without graphs */
	API_DISTRIBUTION, /* constructs a distribution that holds the graphs of its arguments */
	API_OBJECT,       /* constructs an object of a known class that holds no tensor */
	/* what they do */
	API_STEP,       /* optimizer.step: updates parameters outside any graph */
	API_ZERO_GRAD,  /* drops or zeroes gradients */
	API_PARAMETERS, /* yields a module's parameters, buffers or state (see result) */
	API_CALLS,      /* calls argument `arg` with the ones that follow, result is its result */
	API_WRAPS,  /* returns a function that calls `arg`: partial, jit.script, compile, vmap */
	API_CACHES, /* decorator whose cache keeps arguments and results: lru_cache */
	API_HOOK,   /* registers function `arg` to be called later; returns a handle */
	API_FLUSH,  /* collects or empties a cache: gc.collect, empty_cache */
	API_SYNC,   /* waits for the device or for other processes, no tensors */
	/* containers; `arg` is the container */
	API_CONTAINER, /* constructs `result`, filled with the elements of its argument(s) */
	API_ITERATES,  /* iterator over the elements of its arguments; result says in what form */
	API_STORES,   /* stores its last argument in `arg` (API_EACH: its elements, API_ALL: all) */
	API_REMOVES,  /* removes one (API_ALL: every) element, returns it if result is ELEMENT */
	API_GETS,     /* gives an element, or a view of the container: get, items, values */
	API_REPLACES, /* copy of `arg` with other fields, each given by its name */
	API_FIELD,    /* element number `count` of a tuple: torch.return_types.max.indices */
	API_EFFECT_COUNT
};

enum api_kind { /* what comes out */
	        KIND_UNKNOWN,
	        KIND_NOTHING, /* None */
	        KIND_TENSOR,
	        KIND_TENSORS,     /* tuple of `count` tensors (0: any number); see api_is_clean */
	        KIND_TENSOR_LIST, /* list or tuple of any number of tensors */
	        KIND_NUMBER,
	        KIND_BOOL,
	        KIND_STR,
	        KIND_SHAPE,    /* tuple of numbers */
	        KIND_NUMBERS,  /* list, iterator or dict of numbers and strings */
	        KIND_ARRAY,    /* numpy array or frame: never a graph, may share storage */
	        KIND_SAME,     /* the argument `arg` */
	        KIND_ELEMENT,  /* an element of the argument `arg` */
	        KIND_ELEMENTS, /* iterator over the elements of `arg` */
	        KIND_NUMBERED, /* iterator over (number, element): enumerate */
	        KIND_ZIPPED, /* iterator over tuples with an element of each argument: zip, product
	                      */
	        KIND_ITEMS,  /* iterator over (key, value) of a dict */
	        KIND_KEYS,   /* iterator over the keys of a dict */
	        KIND_LIST,
	        KIND_TUPLE,
	        KIND_DICT,
	        KIND_SET,
	        KIND_DEQUE,
	        KIND_MODULE,
	        KIND_MODULES, /* iterator over modules */
	        KIND_PARAMETER,
	        KIND_PARAMETER_ITER, /* iterator over parameters; named_*: API_KEYED */
	        KIND_BUFFER_ITER,    /* the same over buffers */
	        KIND_STATE,          /* dict of detached tensors that share storage: state_dict */
	        KIND_OPTIMIZER,
	        KIND_DISTRIBUTION,
	        KIND_LOADER,
	        KIND_FUNCTION,
	        KIND_RESULT,   /* whatever the called function returns */
	        KIND_HANDLE,   /* a hook's handle */
	        KIND_OBJECT,   /* see api_result_class */
	        KIND_CONTEXT,  /* a context manager */
	        KIND_GROUPS,   /* an optimizer's param_groups: dicts of parameters and numbers */
	        KIND_CONSTANT, /* dtype, device, generator, stream, class ... */
	        KIND_COUNT
};

/* flags */
#define API_BIT(n)        (UINT64_C(1) << (n))
#define API_SAVES_INPUT   API_BIT(0)  /* its node keeps an argument for backward */
#define API_SAVES_RESULT  API_BIT(1)  /* ... the result */
#define API_SAVES_HIDDEN  API_BIT(2)  /* ... a tensor the program never sees: masks, statistics */
#define API_OUT           API_BIT(3)  /* with `out=` it is IN_PLACE on that */
#define API_INPLACE       API_BIT(4)  /* with `inplace=True` it is IN_PLACE on argument `arg` */
#define API_TUPLE_IF_DIM  API_BIT(5)  /* tuple of `count` if a dim is given, else a tensor: max */
#define API_TUPLE_IF_FLAG API_BIT(6)  /* tuple if a keyword asks: return_indices=True */
#define API_DTYPE         API_BIT(7)  /* an integer or bool dtype argument makes the result CUTS */
#define API_LEAF          API_BIT(8)  /* has a requires_grad= keyword */
#define API_MAYBE         API_BIT(9)  /* an alias or view only when nothing had to be copied */
#define API_TO_CPU        API_BIT(10) /* result is on the host */
#define API_DEVICE        API_BIT(11) /* the device is an argument, or follows one */
#define API_WAITS         API_BIT(12) /* waits for the device */
#define API_EVAL_SAME     API_BIT(13) /* returns its input itself in eval mode: dropout */
#define API_WEIGHTS       API_BIT(14) /* the module's own parameters are in the result's graph */
#define API_TRANSPARENT   API_BIT(15) /* what it makes behaves as argument `arg` */
#define API_EACH          API_BIT(16) /* the elements of the value, not the value */
#define API_KEYED         API_BIT(17) /* by key: a key goes before the value; (name, x) pairs */
#define API_ATTRIBUTE     API_BIT(18) /* under an attribute named by a string argument */
#define API_ALL           API_BIT(19) /* all elements; API_STORES: every argument after `arg` */
#define API_PROPERTY      API_BIT(20) /* read as an attribute, not called */
#define API_LAZY          API_BIT(21) /* happens while the result is iterated */
#define API_PERMANENT     API_BIT(22) /* what it registers stays until removed by its handle */
#define API_BUFFER        API_BIT(23) /* stores a buffer of a module */
#define API_FRONT         API_BIT(24) /* appendleft, insert */
#define API_GROWS         API_BIT(25) /* a new element each time, whatever the key: append */
#define API_DETACHES      API_BIT(26) /* what it stores or hands on is detached first */
#define API_NO_DIFF       API_BIT(27) /* never differentiable, raises or gives no graph */
#define API_OPAQUE        API_BIT(28) /* a kernel or workspace whose hidden bytes are not known */
#define API_NESTED        API_BIT(29) /* the second element of its tuple is a tuple of two: LSTM */
#define API_SIZES         API_BIT(30) /* the numbers it is given are the sizes of its dimensions */
#define API_SCALAR        API_BIT(31) /* one number, unless a dimension or no reduction is asked */
#define API_SUMS_UP       API_BIT(32) /* adds to, joins or picks of what there was: add, cat, max */
#define API_TELLS         API_BIT(33) /* what has this method is a module */
#define API_UNCHECKED     API_BIT(34) /* drops the graph behind autograd's back: .data */
#define API_READS_ONE     API_BIT(35) /* takes nothing but one number: item, float() */
#define API_SAME_SHAPE    API_BIT(36) /* a copy or conversion, of the same sizes: clone, long */

enum api_mode { API_MODE_KEEP, API_MODE_OFF, API_MODE_ON, API_MODE_INFERENCE, API_MODE_ARGUMENT };
#define API_MODE_SHIFT  40
#define API_RUNS(mode)  ((uint64_t)API_MODE_##mode << API_MODE_SHIFT)
#define API_ARG_SHIFT   44
#define API_ARG(n)      ((uint64_t)(n) << API_ARG_SHIFT)
#define API_CLEAN_SHIFT 48 /* a bit for each of the first 16 elements of a tuple */
#define API_CLEAN(n)    (UINT64_C(1) << (API_CLEAN_SHIFT + (n)))

struct api_entry {
	uint32_t name;  /* use api_name */
	uint8_t effect; /* enum api_effect */
	uint8_t result; /* enum api_kind */
	int8_t count;   /* size of a tuple, number of a field; 0: not known */
	uint8_t measured;
	uint64_t flags;
};

/* What a class promises. `base` is another class here or "" for none. */
struct api_class {
	uint32_t name;
	uint32_t base;
	uint8_t makes; /* enum api_kind: KIND_MODULE, KIND_OPTIMIZER, KIND_DICT ... */
};

/* What a framework does with a method that the user's class overrides. */
enum api_need {
	API_NEED_NOTHING,
	API_NEED_RESULT, /* backward runs on the result, or on its "loss" */
	API_NEED_KEEPS,  /* the framework collects the results of a whole epoch */
	API_NEED_DROPS,  /* the framework reads the result and lets it go */
};

struct api_hook_mode {
	uint32_t class_name;
	uint32_t method;
	uint8_t mode;  /* enum api_mode: what the method runs under */
	uint8_t need;  /* enum api_need */
	uint8_t model; /* the parameter that is the model; 0: none */
};

/* By canonical name, or by any alias of it ("torch.nn.modules.linear.Linear", "at::Tensor::add_").
 */
const struct api_entry *api_find(const char *name, size_t length);
/* A method or attribute, in the class or the nearest base: ("torch.optim.Adam", "step"). */
const struct api_entry *api_method(const char *class_name, size_t class_length, const char *method,
                                   size_t method_length);
const struct api_class *api_class_find(const char *name, size_t length);
/* NULL when the class has no base here. */
const struct api_class *api_class_base(const struct api_class *class);
/* Is `name` the class `ancestor` or derived from it? */
bool api_is_a(const char *name, size_t length, const char *ancestor);
/* By the framework class that the user's class derives from, or a base of it. */
const struct api_hook_mode *api_framework_method(const char *class_name, size_t class_length,
                                                 const char *method, size_t method_length);
/* Writes the canonical name and a NUL; returns its length, 0 when it does not fit. */
size_t api_canonical(const char *name, size_t length, char *out, size_t room);

const char *api_name(const struct api_entry *entry);
const char *api_class_name(const struct api_class *class);
/* The class of the result where it is known and KIND_MODULE or the like says too little; or NULL.
 */
const char *api_result_class(const struct api_entry *entry);
const char *api_effect_name(enum api_effect effect);
const char *api_kind_name(enum api_kind kind);

/* Every row, for tests and tools: hand-written first; NULL past the end. */
const struct api_entry *api_at(size_t index);

static inline bool api_has(const struct api_entry *entry, uint64_t flag)
{
	return (entry->flags & flag) != 0;
}

/* Number of the argument that the effect speaks of. */
static inline unsigned api_arg(const struct api_entry *entry)
{
	return (unsigned)(entry->flags >> API_ARG_SHIFT) & 15U;
}

static inline enum api_mode api_mode_of(const struct api_entry *entry)
{
	return (enum api_mode)((entry->flags >> API_MODE_SHIFT) & 7U);
}

/* Does element `index` of the resulting tuple never carry a graph? */
static inline bool api_is_clean(const struct api_entry *entry, unsigned index)
{
	return index < 16 && (entry->flags >> (API_CLEAN_SHIFT + index) & 1U) != 0;
}

#endif
