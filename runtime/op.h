#ifndef GRAPHLINT_RUNTIME_OP_H
#define GRAPHLINT_RUNTIME_OP_H

/* Ops as formulas and composites call them: results are borrowed from the
 * current scope, NULL goes in and comes out. Helpers that every family of ops
 * uses to make its result and its node follow. */

#include "runtime/frame.h"
#include "runtime/kernel.h"

#define AG_TWICE                                                                                   \
	"Trying to backward through the graph a second time (or directly access saved tensors "    \
	"after they have already been freed). Saved intermediate values of the graph are freed "   \
	"when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to "  \
	"backward through the graph a second time or if you need to access saved tensors after "   \
	"calling backward."

/* Calls a row; the first result, borrowed. */
struct ag_tensor *op_call(struct ag_ctx *ctx, enum ag_op op, const struct ag_value *args,
                          uint32_t count);

#define OP1(name)                                                                                  \
	static inline struct ag_tensor *op_##name(struct ag_ctx *ctx, struct ag_tensor *a)         \
	{                                                                                          \
		struct ag_value v[1] = {ag_arg(a)};                                                \
		return op_call(ctx, AG_OP_##name, v, 1);                                           \
	}
#define OP2(name)                                                                                  \
	static inline struct ag_tensor *op_##name(struct ag_ctx *ctx, struct ag_tensor *a,         \
	                                          struct ag_tensor *b)                             \
	{                                                                                          \
		struct ag_value v[2] = {ag_arg(a), ag_arg(b)};                                     \
		return op_call(ctx, AG_OP_##name, v, 2);                                           \
	}
#define OP2N(fn, name)                                                                             \
	static inline struct ag_tensor *op_##fn(struct ag_ctx *ctx, struct ag_tensor *a, double b) \
	{                                                                                          \
		struct ag_value v[2] = {ag_arg(a), ag_float(b)};                                   \
		return op_call(ctx, AG_OP_##name, v, 2);                                           \
	}
#define OP2I(name)                                                                                 \
	static inline struct ag_tensor *op_##name(struct ag_ctx *ctx, struct ag_tensor *a,         \
	                                          int64_t b)                                       \
	{                                                                                          \
		struct ag_value v[2] = {ag_arg(a), ag_int(b)};                                     \
		return op_call(ctx, AG_OP_##name, v, 2);                                           \
	}

#include "runtime/wrappers.h"

/* Shape work of formulas. */
struct ag_tensor *op_view(struct ag_ctx *ctx, struct ag_tensor *a, int ndim, const int64_t *shape);
struct ag_tensor *op_reshape(struct ag_ctx *ctx, struct ag_tensor *a, int ndim,
                             const int64_t *shape);
struct ag_tensor *op_expand(struct ag_ctx *ctx, struct ag_tensor *a, int ndim,
                            const int64_t *shape);
struct ag_tensor *op_permute(struct ag_ctx *ctx, struct ag_tensor *a, const int64_t *dims, int n);
struct ag_tensor *op_transpose(struct ag_ctx *ctx, struct ag_tensor *a, int64_t d0, int64_t d1);
struct ag_tensor *op_narrow(struct ag_ctx *ctx, struct ag_tensor *a, int64_t dim, int64_t start,
                            int64_t length);
struct ag_tensor *op_select(struct ag_ctx *ctx, struct ag_tensor *a, int64_t dim, int64_t index);
struct ag_tensor *op_as_strided(struct ag_ctx *ctx, struct ag_tensor *a, int ndim,
                                const int64_t *shape, const int64_t *strides, int64_t offset);
struct ag_tensor *op_sum_dims(struct ag_ctx *ctx, struct ag_tensor *a, const int64_t *dims, int n,
                              bool keepdim);
struct ag_tensor *op_sum_dim(struct ag_ctx *ctx, struct ag_tensor *a, int64_t dim, bool keepdim);
/* Sums what broadcasting repeated, to `shape`. */
struct ag_tensor *op_sum_to(struct ag_ctx *ctx, struct ag_tensor *a, int ndim,
                            const int64_t *shape);
struct ag_tensor *op_cast(struct ag_ctx *ctx, struct ag_tensor *a, enum ag_dtype dtype);
struct ag_tensor *op_to(struct ag_ctx *ctx, struct ag_tensor *a, enum ag_dtype dtype,
                        enum ag_format format);
struct ag_tensor *op_mul_n(struct ag_ctx *ctx, struct ag_tensor *a, double b); /* a if b is 1 */
struct ag_tensor *op_zeros(struct ag_ctx *ctx, enum ag_dtype dtype, int ndim, const int64_t *shape);
struct ag_tensor *op_zeros_as(struct ag_ctx *ctx, struct ag_tensor *like);
/* Like `like`, contiguous and without data; NULL for NULL. */
struct ag_tensor *op_unknown_as(struct ag_ctx *ctx, const struct ag_tensor *like);
struct ag_tensor *op_full_as(struct ag_ctx *ctx, struct ag_tensor *like, double value);
struct ag_tensor *op_where_n(struct ag_ctx *ctx, struct ag_tensor *cond, struct ag_tensor *a,
                             double b);
/* A copy with the given strides (a dense layout). */
struct ag_tensor *op_clone_strided(struct ag_ctx *ctx, struct ag_tensor *a, int ndim,
                                   const int64_t *shape, const int64_t *strides);
bool op_copy_(struct ag_ctx *ctx, struct ag_tensor *a, struct ag_tensor *b);
bool op_zero_(struct ag_ctx *ctx, struct ag_tensor *a);
struct ag_tensor *ag_clone_as(struct ag_ctx *ctx, struct ag_tensor *a, const int64_t *strides);
/* In place through the table, so that history follows; result is a itself, borrowed. */
struct ag_tensor *op_inplace(struct ag_ctx *ctx, enum ag_op op, const struct ag_value *args,
                             uint32_t count);

/* ---- making results */
/* For all shapes and dtypes the memory of an op's result: fresh, or the first
 * argument when the op works in place (checked, and its leaf rules too). */
struct ag_tensor *ag_result(struct ag_frame *f, enum ag_dtype dtype, int ndim, const int64_t *shape,
                            bool record);
/* The same for pointwise ops: laid out as its operands are (NULLs are skipped). */
struct ag_tensor *ag_result_like(struct ag_frame *f, enum ag_dtype dtype, int ndim,
                                 const int64_t *shape, bool record, struct ag_tensor *const *in,
                                 int nin);
/* Gives a fresh tensor the layout of a pointwise result of these. */
void ag_layout(struct ag_tensor *out, struct ag_tensor *const *in, int nin);
/* Gives a fresh tensor this format; AG_PRESERVE: the layout of `like`, made dense. */
void ag_lay_out(struct ag_tensor *fresh, enum ag_format format, struct ag_tensor *like);
void ag_put_channels_last(struct ag_tensor *fresh);
/* Of matrices: column by column, as LAPACK has them. */
void ag_put_columns(struct ag_tensor *fresh);
/* The format that its strides suggest; AG_CONTIGUOUS for all but images. */
enum ag_format ag_format_of(const struct ag_tensor *t);
/* The same as a question, where one dimension is an image of one row. */
bool ag_suggests_last(const struct ag_tensor *t);
/* Fresh, of the dtype of x and in the format that x suggests. */
struct ag_tensor *ag_make_image(struct ag_ctx *ctx, const struct ag_tensor *x, int ndim,
                                const int64_t *shape);
/* Reads argument i into *format, which stays for None; false when `ndim` does not fit. */
bool ag_format_arg(struct ag_frame *f, uint32_t i, int ndim, enum ag_format *format);
bool ag_format_fits(struct ag_ctx *ctx, enum ag_format format, int ndim);
/* A contiguous copy, or `a` itself; borrowed. */
struct ag_tensor *op_contiguous_in(struct ag_ctx *ctx, struct ag_tensor *a, enum ag_format format);
/* Gives `out` its history (node may be NULL; it is taken over) and hands it over. */
bool ag_finish(struct ag_frame *f, struct ag_tensor *out, struct ag_node *node);
/* The same, and the node saves `out` itself, as its saved tensor `at`. */
bool ag_finish_saving(struct ag_frame *f, struct ag_tensor *out, struct ag_node *node, uint32_t at);
/* Saves an input; when the op is about to overwrite it, a copy. */
void ag_save_arg(struct ag_frame *f, struct ag_node *n, uint32_t i, struct ag_tensor *t);
/* The dtype that these values have together, as PyTorch promotes. */
enum ag_dtype ag_result_type(struct ag_ctx *ctx, const struct ag_value *values, uint32_t count);
bool ag_no_complex(struct ag_ctx *ctx, const struct ag_tensor *t);
bool ag_need_float(struct ag_frame *f, const struct ag_tensor *t);

/* A node with one edge per input, or NULL when none of them wants a gradient. */
struct ag_node *ag_record(struct ag_ctx *ctx, enum ag_node_kind kind,
                          struct ag_tensor *const *inputs, uint32_t count, uint32_t nsaved,
                          uint32_t nints);
static inline struct ag_node *ag_record1(struct ag_ctx *ctx, enum ag_node_kind kind,
                                         struct ag_tensor *a, uint32_t nsaved, uint32_t nints)
{
	return ag_record(ctx, kind, &a, 1, nsaved, nints);
}
/* A view as result: node `kind` with `nints` words, which may be NULL. */
bool ag_give_view(struct ag_frame *f, struct ag_tensor *v, struct ag_tensor *t,
                  enum ag_node_kind kind, const int64_t *ints, uint32_t nints);
struct ag_tensor *ag_view_of(struct ag_ctx *ctx, struct ag_tensor *v, struct ag_tensor *t,
                             enum ag_node_kind kind, const int64_t *ints, uint32_t nints);

/* ---- writing formulas */
bool ag_node_apply(struct ag_bw *b);
/* Whether only the shapes of a formula's results matter: nothing is recorded and one of its
 * tensors (NULLs are skipped) has no data. What is composed here is one kernel in PyTorch. */
bool ag_bw_is_blind(const struct ag_ctx *ctx, struct ag_tensor *const *in, int count);
#define B_CTX      (b->ctx)
#define B_GRAD     (b->grads[0])
#define B_SAVED(i) ag_unpack(b->node, (i))
#define B_WANT(i)  ag_bw_want(b, (i))
#define B_SET(i, value)                                                                            \
	do {                                                                                       \
		if (ag_bw_want(b, (i)))                                                            \
			ag_bw_set(b, (i), (value));                                                \
	} while (0)

#endif
