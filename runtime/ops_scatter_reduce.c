#include <math.h>
#include <stdlib.h>

#include "runtime/frame.h"
#include "runtime/gather.h"
#include "runtime/op.h"

/* scatter_reduce: what an index sends to one place is reduced to one number. */

enum how { HOW_SUM, HOW_MEAN, HOW_PROD, HOW_AMAX, HOW_AMIN, HOW_COUNT };

static const char *const names[HOW_COUNT] = {"sum", "mean", "prod", "amax", "amin"};

enum { DIM, HOW, WITH_SELF, WORDS };

static bool read_how(struct ag_frame *f, int *how)
{
	for (*how = 0; *how < HOW_COUNT; ++*how)
		if (arg_text_is(f, 4, names[*how]))
			return true;
	return ag_fail(f->ctx, AG_ERR_RUNTIME,
	               "reduce argument must be either sum, prod, mean, amax or amin");
}

static double neutral(int how)
{
	return how == HOW_PROD ? 1 : how == HOW_AMAX ? -INFINITY : how == HOW_AMIN ? INFINITY : 0;
}

static double reduced(int how, double old, double x)
{
	if (how == HOW_PROD)
		return old * x;
	if (how == HOW_AMAX)
		return x != x || x > old ? x : old;
	if (how == HOW_AMIN)
		return x != x || x < old ? x : old;
	return old + x;
}

static void reduce_into(struct ag_tensor *out, struct ag_tensor *src, const struct ag_tensor *index,
                        const int64_t *at, int how, bool with_self)
{
	double *to = ag_plain(out), *from = ag_scatter_values(src, index);
	double *count = ag_alloc((size_t)out->numel + 1, sizeof(*count));
	int64_t i;

	for (i = 0; i < out->numel; i++)
		count[i] = with_self;
	for (i = 0; i < index->numel; i++) {
		if (count[at[i]]++ == 0)
			to[at[i]] = neutral(how);
		to[at[i]] = reduced(how, to[at[i]], from[src->ndim ? i : 0]);
	}
	for (i = 0; how == HOW_MEAN && i < out->numel; i++)
		to[i] /= count[i] > 0 ? count[i] : 1;
	ag_put_plain(out, to);
	free(to);
	free(from);
	free(count);
}

/* input, dim, index, source, reduce, include_self */
bool op_run_scatter_reduce(struct ag_frame *f)
{
	struct ag_tensor *x = arg_t(f, 0), *index = arg_t(f, 2), *src = arg_t(f, 3), *out;
	struct ag_tensor *edges[2] = {x, src};
	bool with_self = arg_b(f, 5);
	struct ag_node *node;
	int64_t *at;
	int dim, how;

	if (!read_how(f, &how) || !ag_scatter_open(f, src, &dim, &out, &at))
		return false;
	node = ag_record(f->ctx, AG_NODE_ScatterReduce, edges, 2, 4, WORDS);
	if (node) {
		node->ints[DIM] = dim;
		node->ints[HOW] = how;
		node->ints[WITH_SELF] = with_self;
		ag_save_input(node, 0, index);
		ag_save_arg(f, node, 2, x);
		ag_save_input(node, 3, src);
	}
	if (ag_ready2(out, src, index) && at)
		reduce_into(out, src, index, at, how, with_self);
	free(at);
	return ag_finish_saving(f, out, node, 1);
}

/* --- the gradient */

struct parts {
	struct ag_tensor *index, *result, *self, *src;
	int64_t dim;
};

static struct ag_tensor *scattered(struct ag_bw *b, const struct parts *p, struct ag_tensor *into,
                                   struct ag_tensor *src)
{
	struct ag_value v[4] = {ag_arg(into), ag_int(p->dim), ag_arg(p->index), ag_arg(src)};

	return op_call(B_CTX, AG_OP_scatter_add, v, 4);
}

static struct ag_tensor *gathered(struct ag_bw *b, const struct parts *p, struct ag_tensor *from)
{
	struct ag_value v[3] = {ag_arg(from), ag_int(p->dim), ag_arg(p->index)};

	return op_call(B_CTX, AG_OP_gather, v, 3);
}

static bool set_both(struct ag_bw *b, const struct parts *p, struct ag_tensor *self,
                     struct ag_tensor *src)
{
	struct ag_value v[4] = {ag_arg(self), ag_int(p->dim), ag_arg(p->index), ag_float(0)};

	if (B_WANT(0))
		B_SET(0,
		      b->node->ints[WITH_SELF] ? self : op_call(B_CTX, AG_OP_scatter_value, v, 4));
	B_SET(1, src);
	return true;
}

static bool mean_back(struct ag_bw *b, const struct parts *p)
{
	struct ag_ctx *c = B_CTX;
	struct ag_tensor *count = op_full_as(c, B_GRAD, b->node->ints[WITH_SELF] ? 1 : 0);

	count = scattered(b, p, count, op_full_as(c, p->src, 1));
	count = op_where_n(c, op_gt_n(c, count, 0), count, 1);
	return set_both(b, p, op_div(c, B_GRAD, count),
	                op_div(c, gathered(b, p, B_GRAD), gathered(b, p, count)));
}

/* Ties share the gradient evenly. */
static bool extreme_back(struct ag_bw *b, const struct parts *p)
{
	struct ag_ctx *c = B_CTX;
	enum ag_dtype dtype = (enum ag_dtype)p->self->dtype;
	struct ag_tensor *self = op_cast(c, op_eq(c, p->self, p->result), dtype);
	struct ag_tensor *src = op_cast(c, op_eq(c, p->src, gathered(b, p, p->result)), dtype);
	struct ag_tensor *share = op_div(c, B_GRAD, scattered(b, p, self, src));

	return set_both(b, p, op_mul(c, share, self), op_mul(c, gathered(b, p, share), src));
}

static struct ag_tensor *product(struct ag_bw *b, const struct parts *p, struct ag_tensor *self,
                                 struct ag_tensor *src)
{
	struct ag_value v[6] = {ag_arg(self),       ag_int(p->dim),
	                        ag_arg(p->index),   ag_arg(src),
	                        ag_text("prod", 4), ag_bool(b->node->ints[WITH_SELF])};

	return op_call(B_CTX, AG_OP_scatter_reduce, v, 6);
}

/* Where one factor of several is zero, the others' product is its gradient; two: none has any. */
static bool product_back(struct ag_bw *b, const struct parts *p)
{
	struct ag_ctx *c = B_CTX;
	enum ag_dtype dtype = (enum ag_dtype)p->self->dtype;
	struct ag_tensor *self = op_where_n(c, op_ne_n(c, p->self, 0), p->self, 1);
	struct ag_tensor *zero = op_cast(c, op_eq_n(c, p->src, 0), dtype);
	struct ag_tensor *zeros = gathered(b, p, scattered(b, p, op_zeros_as(c, p->self), zero));
	struct ag_tensor *alone = op_mul(c, zero, op_cast(c, op_eq_n(c, zeros, 1), dtype));
	struct ag_tensor *src = op_where_n(c, op_eq_n(c, alone, 0), p->src, 1);
	struct ag_tensor *of_self = op_div(c, op_mul(c, B_GRAD, product(b, p, self, p->src)), self);
	struct ag_tensor *rest = gathered(b, p, op_mul(c, B_GRAD, product(b, p, p->self, src)));
	struct ag_tensor *whole = gathered(b, p, op_mul(c, B_GRAD, p->result));
	struct ag_tensor *plain = op_div(c, whole, op_where_n(c, op_eq_n(c, zero, 0), p->src, 1));

	return set_both(
	        b, p, of_self,
	        op_add(c, op_mul(c, alone, rest), op_where_n(c, op_eq_n(c, alone, 0), plain, 0)));
}

bool bw_ScatterReduce(struct ag_bw *b)
{
	struct parts p = {B_SAVED(0), B_SAVED(1), B_SAVED(2), B_SAVED(3), b->node->ints[DIM]};

	if (!p.index || !p.result || !p.self || !p.src)
		return false;
	switch (b->node->ints[HOW]) {
	case HOW_SUM:
		return set_both(b, &p, B_GRAD, gathered(b, &p, B_GRAD));
	case HOW_MEAN:
		return mean_back(b, &p);
	case HOW_PROD:
		return product_back(b, &p);
	default:
		return extreme_back(b, &p);
	}
}
