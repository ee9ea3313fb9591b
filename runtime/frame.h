#ifndef GRAPHLINT_RUNTIME_FRAME_H
#define GRAPHLINT_RUNTIME_FRAME_H

/* One call of an op: its arguments in signature order, defaults filled in, and
 * the results it gives. A row's function is `op_run_<id>`; it returns false
 * after ag_fail. Tensors among the arguments are borrowed from the caller. */

#include "runtime/core.h"

struct ag_frame {
	struct ag_ctx *ctx;
	enum ag_op op;
	bool inplace;
	bool factory_grad; /* requires_grad=True was given */
	uint32_t count;
	struct ag_value v[AG_MAX_PARAMS];
	struct ag_value extra[AG_MAX_PARAMS]; /* items of a starred parameter */
	struct ag_results *results;
};

typedef bool ag_run_fn(struct ag_frame *f);
#define OP(id, names, signature, results, flags) bool op_run_##id(struct ag_frame *f);
#include "runtime/ops.def"
#undef OP

struct ag_param {
	char name[AG_PARAM_NAME];
	char kind;
	bool optional; /* None is allowed */
	bool starred;
	bool keyword_only;
	bool has_default;
	struct ag_value value;
};

struct ag_signature {
	uint32_t count;
	struct ag_param at[AG_MAX_PARAMS];
	struct ag_value few[8]; /* items of list defaults */
};

const struct ag_signature *ag_signature_of(struct ag_ctx *ctx, enum ag_op op);
/* Parses any signature text (modules and optimizers use it too). */
void ag_signature_parse(const char *text, struct ag_signature *s);
/* Fills values[0..s->count); false when the arguments do not fit, with `why`. */
bool ag_bind(const struct ag_signature *s, const struct ag_args *args, struct ag_value *values,
             struct ag_value *extra, uint32_t flags, char *why, size_t why_size);

/* One value as this parameter; false when it does not take such. */
bool ag_take(const struct ag_param *p, const struct ag_value *v, struct ag_value *out);
/* ag_call_op for those who know the row: arguments are not looked at. */
bool ag_run_op(struct ag_ctx *ctx, enum ag_op op, bool inplace, const struct ag_value *args,
               uint32_t count, struct ag_results *results);
struct ag_tensor *ag_run1(struct ag_ctx *ctx, enum ag_op op, const struct ag_value *args,
                          uint32_t count);

/* Arguments. */
static inline struct ag_tensor *arg_t(const struct ag_frame *f, uint32_t i)
{
	return f->v[i].kind == AG_TENSOR ? f->v[i].as.tensor : NULL;
}
/* A list's items; what is no list is one item. */
static inline const struct ag_value *value_items(const struct ag_value *v, uint32_t *count)
{
	*count = v->kind == AG_LIST ? v->count : 1;
	return v->kind == AG_LIST ? v->as.list : v;
}
static inline bool arg_none(const struct ag_frame *f, uint32_t i)
{
	return f->v[i].kind == AG_NONE;
}
double ag_value_float(const struct ag_value *v);
int64_t ag_value_int(const struct ag_value *v);
static inline double arg_f(const struct ag_frame *f, uint32_t i)
{
	return ag_value_float(&f->v[i]);
}
static inline int64_t arg_i(const struct ag_frame *f, uint32_t i)
{
	return ag_within(ag_value_int(&f->v[i]));
}
static inline bool arg_b(const struct ag_frame *f, uint32_t i)
{
	return ag_value_int(&f->v[i]) != 0;
}
bool arg_text_is(const struct ag_frame *f, uint32_t i, const char *text);
/* Up to `max` integers; -1 with an error when there are more. */
int arg_ints(const struct ag_frame *f, uint32_t i, int64_t *out, int max);
/* Exactly `n`: one value stands for all. */
bool arg_ints_n(const struct ag_frame *f, uint32_t i, int64_t *out, int n);
uint32_t arg_list(const struct ag_frame *f, uint32_t i); /* number of items */
struct ag_tensor *arg_list_t(const struct ag_frame *f, uint32_t i, uint32_t item);

/* Results: the frame takes over the reference. NULL: false. */
bool ag_give(struct ag_frame *f, struct ag_tensor *t);
/* Same, but adds a reference: for what a scope owns. */
bool ag_give_ref(struct ag_frame *f, struct ag_tensor *t);

/* Whether a node must be made for these inputs (NULLs are fine). */
bool ag_wants_grad(struct ag_ctx *ctx, struct ag_tensor *const *inputs, uint32_t count);
static inline bool wants1(struct ag_ctx *ctx, struct ag_tensor *a)
{
	return ctx->mode.enabled && a && ag_requires_grad(a);
}
static inline bool wants2(struct ag_ctx *ctx, struct ag_tensor *a, struct ag_tensor *b)
{
	return wants1(ctx, a) || wants1(ctx, b);
}

#endif
