#ifndef GRAPHLINT_RUNTIME_MODULE_H
#define GRAPHLINT_RUNTIME_MODULE_H

/* Modules: named tensors, named children, settings. A module holds what hangs
 * on it; nothing points back up. Its kind is a row of modules.def, or none for
 * a container, which calls its children in order. */

#include "runtime/frame.h"

enum ag_module_id {
	AG_MODULE_CONTAINER,
#define MODULE(name, signature, function, arguments, build) AG_MODULE_##name,
#include "runtime/modules.def"
#undef MODULE
	AG_MODULE_COUNT
};

struct ag_module_info {
	const char *name, *signature, *function, *arguments;
	bool (*build)(struct ag_ctx *ctx, struct ag_module *m);
};

struct ag_module_slot {
	char *name;
	enum ag_slot_kind kind;
	struct ag_tensor *tensor; /* NULL: registered as None */
};

struct ag_module_link {
	char *name;
	struct ag_module *child;
};

struct ag_module_hook {
	uint64_t handle;
	bool before;
	ag_module_hook_fn *fn;
	struct ag_closure closure;
};

struct ag_module {
	struct ag_ctx *ctx;
	uint32_t refs;
	enum ag_module_id id;
	char *name;
	bool training;
	struct ag_signature *signature; /* of the settings */
	struct ag_value settings[AG_MAX_PARAMS];
	struct ag_module_slot *slots;
	struct ag_module_link *links;
	struct ag_module_hook *hooks;
	uint32_t nslots, nlinks, nhooks;
	struct ag_module *next; /* of the dead */
};

const struct ag_module_info *ag_module_info(enum ag_module_id id);
const struct ag_value *ag_module_find(const struct ag_module *m, const char *name);
int64_t ag_module_int(const struct ag_module *m, const char *name);
double ag_module_float(const struct ag_module *m, const char *name);
/* Integers of a setting spread over n places. */
bool ag_module_ints(struct ag_ctx *ctx, const struct ag_module *m, const char *name, int n,
                    int64_t *out);
/* Registers a fresh parameter (or buffer) of this shape, with data; borrowed. */
struct ag_tensor *ag_module_make(struct ag_ctx *ctx, struct ag_module *m, enum ag_slot_kind kind,
                                 const char *name, enum ag_dtype dtype, int ndim,
                                 const int64_t *shape);
struct ag_module *ag_module_alloc(struct ag_ctx *ctx, enum ag_module_id id, const char *name);
void ag_setting_own(struct ag_value *v); /* copies what it points to */
bool ag_module_run(struct ag_ctx *ctx, struct ag_module *m, const struct ag_args *args,
                   struct ag_results *results);
/* A name with a number in it: "weight_ih_l", 1, "_reverse". */
void ag_module_label(char *out, size_t size, const char *head, int number, const char *tail);

#define MODULE(name, signature, function, arguments, build)                                        \
	bool ag_build_##build(struct ag_ctx *ctx, struct ag_module *m);
#include "runtime/modules.def"
#undef MODULE

#endif
