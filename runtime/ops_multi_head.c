/* The multi-head layer around attention: [L, N, E], in one pass or with its weights. */

#include <math.h>
#include <string.h>

#include "runtime/op.h"
#include "runtime/shape.h"

enum mha_arg {
	MHA_QUERY,
	MHA_KEY,
	MHA_VALUE,
	MHA_DIM,
	MHA_HEADS,
	MHA_WEIGHT,
	MHA_BIAS,
	MHA_BIAS_K,
	MHA_BIAS_V,
	MHA_ZERO,
	MHA_DROPOUT,
	MHA_OUT_WEIGHT,
	MHA_OUT_BIAS,
	MHA_TRAINING,
	MHA_PADDING,
	MHA_NEED,
	MHA_MASK,
	MHA_AVERAGE,
	MHA_CAUSAL
};

struct mha {
	struct ag_ctx *c;
	struct ag_tensor *q, *k, *v, *mask, *pad;
	int64_t l, n, e, heads, dim, s;
	bool alone; /* no batch */
};

static struct ag_tensor *project(struct ag_ctx *c, struct ag_tensor *x, struct ag_tensor *w,
                                 struct ag_tensor *b)
{
	struct ag_value v[3] = {ag_arg(x), ag_arg(w), b ? ag_arg(b) : ag_none()};

	return x && w ? op_call(c, AG_OP_linear, v, 3) : NULL;
}

/* [.., parts * E] as contiguous [parts, ..., E] */
static struct ag_tensor *unpack_parts(struct mha *m, struct ag_tensor *proj, int64_t parts)
{
	struct ag_ctx *c = m->c;
	struct ag_value sizes[2] = {ag_int(parts), ag_int(m->e)}, v[3];

	v[0] = ag_arg(proj);
	v[1] = ag_int(-1);
	v[2] = ag_list(sizes, 2);
	proj = op_call(c, AG_OP_unflatten, v, 3);
	proj = op_transpose(c, op_unsqueeze(c, proj, 0), 0, -2);
	v[0] = ag_arg(proj);
	v[1] = ag_int(-2);
	return op_contiguous(c, op_call(c, AG_OP_squeeze_dim, v, 2));
}

static struct ag_tensor *project_parts(struct mha *m, struct ag_tensor *x, struct ag_tensor *w,
                                       struct ag_tensor *b, int64_t parts)
{
	size_t mark = ag_scope_open(m->c);

	return ag_scope_keep(m->c, mark, unpack_parts(m, project(m->c, x, w, b), parts));
}

/* The rows of a weight or bias in parts; all NULL where there is none. */
static bool row_parts(struct ag_ctx *c, struct ag_tensor *t, enum ag_op op, struct ag_value sizes,
                      uint32_t count, struct ag_tensor **out)
{
	struct ag_value v[2] = {ag_arg(t), sizes};
	struct ag_results results;
	uint32_t i;

	memset((void *)out, 0, count * sizeof(*out));
	if (!t)
		return true;
	if (!ag_run_op(c, op, false, v, 2, &results))
		return false;
	for (i = 0; i < count && i < results.count; i++)
		out[i] = scoped(c, ag_results_take(&results, i));
	ag_results_release(&results);
	return true;
}

static struct ag_tensor *project_keys(struct mha *m, struct ag_tensor *w, struct ag_tensor *b)
{
	struct ag_tensor *all = project_parts(m, m->k, w, b, 2);

	m->k = op_select(m->c, all, 0, 0);
	return op_select(m->c, all, 0, 1);
}

/* One weight for all three, or a list of one for each. */
static bool in_projection(struct ag_frame *f, struct mha *m)
{
	struct ag_tensor *w = arg_t(f, MHA_WEIGHT), *b = arg_t(f, MHA_BIAS), *all, *ws[3], *bs[3];
	struct ag_ctx *c = m->c;
	struct ag_value two[2] = {ag_int(m->e), ag_int(2 * m->e)}, sizes = ag_list(two, 2);
	uint32_t i;

	if (w && m->k == m->v && m->q == m->k) {
		all = project_parts(m, m->q, w, b, 3);
		m->q = op_select(c, all, 0, 0);
		m->k = op_select(c, all, 0, 1);
		m->v = op_select(c, all, 0, 2);
	} else if (w && m->k == m->v) {
		if (!row_parts(c, w, AG_OP_split, sizes, 2, ws) ||
		    !row_parts(c, b, AG_OP_split, sizes, 2, bs))
			return false;
		m->q = project(c, m->q, ws[0], bs[0]);
		m->v = project_keys(m, ws[1], bs[1]);
	} else {
		if (!row_parts(c, w, AG_OP_chunk, ag_int(3), 3, ws) ||
		    !row_parts(c, b, AG_OP_chunk, ag_int(3), 3, bs))
			return false;
		for (i = 0; !w && i < 3; i++)
			ws[i] = arg_list_t(f, MHA_WEIGHT, i);
		m->q = project(c, m->q, ws[0], bs[0]);
		m->k = project(c, m->k, ws[1], bs[1]);
		m->v = project(c, m->v, ws[2], bs[2]);
	}
	return m->q && m->k && m->v;
}

static struct ag_tensor *by_head(struct mha *m, struct ag_tensor *x, int64_t length)
{
	int64_t shape[3] = {length, ag_times(m->n, m->heads), m->dim};

	return op_transpose(m->c, op_view(m->c, x, 3, shape), 0, 1);
}

/* True means "leave out" here, unlike in sdpa. */
static struct ag_tensor *mask_to_add(struct mha *m, struct ag_tensor *mask)
{
	struct ag_value v[3] = {ag_none(), ag_arg(mask), ag_float(-INFINITY)};

	if (!mask || mask->dtype != AG_BOOL8)
		return mask;
	v[0] = ag_arg(op_zeros(m->c, (enum ag_dtype)m->q->dtype, mask->ndim, mask->shape));
	return op_inplace(m->c, AG_OP_masked_fill, v, 3);
}

static struct ag_tensor *joined(struct mha *m, struct ag_tensor *a, struct ag_tensor *b,
                                int64_t dim)
{
	struct ag_value parts[2] = {ag_arg(a), ag_arg(b)}, v[2] = {ag_list(parts, 2), ag_int(dim)};

	return a && b ? op_call(m->c, AG_OP_cat, v, 2) : NULL;
}

/* One more key and value, which the masks let through. */
static bool lengthen(struct mha *m, struct ag_tensor *k, struct ag_tensor *v, int64_t dim)
{
	struct ag_value sides[2] = {ag_int(0), ag_int(1)};
	struct ag_value pad[4] = {ag_none(), ag_list(sides, 2), ag_text("constant", 8), ag_none()};

	m->k = joined(m, m->k, k, dim);
	m->v = joined(m, m->v, v, dim);
	pad[0] = ag_arg(m->mask);
	m->mask = m->mask ? op_call(m->c, AG_OP_pad, pad, 4) : NULL;
	pad[0] = ag_arg(m->pad);
	m->pad = m->pad ? op_call(m->c, AG_OP_pad, pad, 4) : NULL;
	m->s++;
	return m->k && m->v && m->c->error.status == AG_OK;
}

static struct ag_tensor *for_each_sample(struct mha *m, struct ag_tensor *bias)
{
	struct ag_value times[3] = {ag_int(1), ag_int(m->n), ag_int(1)};
	struct ag_value v[2] = {ag_arg(bias), ag_list(times, 3)};

	return op_call(m->c, AG_OP_repeat, v, 2);
}

static struct ag_tensor *zeros_of_heads(struct mha *m)
{
	int64_t shape[3] = {ag_times(m->n, m->heads), 1, m->dim};

	return op_zeros(m->c, (enum ag_dtype)m->k->dtype, 3, shape);
}

/* Queries, keys and values by head, with what is added to the keys; their masks. */
static bool spread_heads(struct ag_frame *f, struct mha *m)
{
	struct ag_tensor *bias_k = arg_t(f, MHA_BIAS_K), *bias_v = arg_t(f, MHA_BIAS_V);

	if (m->mask && m->mask->ndim == 2)
		m->mask = op_unsqueeze(m->c, m->mask, 0);
	if (bias_k && bias_v &&
	    !lengthen(m, for_each_sample(m, bias_k), for_each_sample(m, bias_v), 0))
		return false;
	m->q = by_head(m, m->q, m->l);
	m->k = by_head(m, m->k, m->s);
	m->v = by_head(m, m->v, m->s);
	if (!m->q || !m->k || !m->v)
		return false;
	return !arg_b(f, MHA_ZERO) || lengthen(m, zeros_of_heads(m), zeros_of_heads(m), 1);
}

/* The masks as one to add, [N * heads or 1, L or 1, S]; NULL: none. */
static bool merge_masks(struct mha *m)
{
	struct ag_ctx *c = m->c;
	int64_t four[4] = {m->n, 1, 1, m->s}, wide[4] = {m->n, m->heads, 1, m->s};
	int64_t three[3] = {ag_times(m->n, m->heads), 1, m->s};
	struct ag_tensor *pad = m->pad;

	if (!pad)
		return true;
	pad = op_reshape(c, op_expand(c, op_view(c, pad, 4, four), 4, wide), 3, three);
	m->mask = m->mask ? op_add(c, m->mask, pad) : pad;
	return m->mask != NULL;
}

static struct ag_tensor *weighed(struct ag_frame *f, struct mha *m, struct ag_tensor **weights)
{
	struct ag_ctx *c = m->c;
	size_t mark = ag_scope_open(c);
	struct ag_value v[5];
	struct ag_tensor *w;

	v[0] = ag_arg(m->q);
	v[1] = ag_float(sqrt(1 / (double)m->dim));
	v[1] = ag_arg(op_call(c, AG_OP_mul, v, 2));
	if (m->mask) {
		v[0] = ag_arg(m->mask);
		v[2] = ag_arg(op_transpose(c, m->k, -2, -1));
		w = op_call(c, AG_OP_baddbmm, v, 3);
	} else {
		w = op_bmm(c, v[1].as.tensor, op_transpose(c, m->k, -2, -1));
	}
	v[0] = ag_arg(w);
	v[1] = ag_int(-1);
	w = ag_scope_keep(c, mark, op_call(c, AG_OP_softmax, v, 2));
	if (arg_b(f, MHA_TRAINING) && arg_f(f, MHA_DROPOUT) > 0) {
		v[0] = ag_arg(w);
		v[1] = ag_float(arg_f(f, MHA_DROPOUT));
		v[2] = ag_bool(true);
		w = op_call(c, AG_OP_dropout, v, 3);
	}
	*weights = w;
	return op_transpose(c, op_bmm(c, w, m->v), 0, 1);
}

static struct ag_tensor *unweighed(struct ag_frame *f, struct mha *m)
{
	struct ag_ctx *c = m->c;
	int64_t q[4] = {m->n, m->heads, m->l, m->dim}, k[4] = {m->n, m->heads, m->s, m->dim};
	int64_t order[4] = {2, 0, 1, 3}, mask[4] = {m->n, m->heads, -1, m->s};
	struct ag_value v[8];

	if (m->mask && m->mask->shape[0] == 1)
		m->mask = op_unsqueeze(c, m->mask, 0);
	else if (m->mask)
		mask[2] = m->mask->shape[1], m->mask = op_view(c, m->mask, 4, mask);
	v[0] = ag_arg(op_view(c, m->q, 4, q));
	v[1] = ag_arg(op_view(c, m->k, 4, k));
	v[2] = ag_arg(op_view(c, m->v, 4, k));
	v[3] = m->mask ? ag_arg(m->mask) : ag_none();
	v[4] = ag_float(arg_b(f, MHA_TRAINING) ? arg_f(f, MHA_DROPOUT) : 0);
	v[5] = ag_bool(arg_b(f, MHA_CAUSAL) && !m->mask);
	v[6] = ag_none();
	v[7] = ag_bool(false);
	return op_permute(c, op_call(c, AG_OP_sdpa, v, 8), order, 4);
}

static bool has_weights(const struct ag_frame *f)
{
	return arg_t(f, MHA_WEIGHT) ||
	       (arg_list(f, MHA_WEIGHT) == 3 && arg_list_t(f, MHA_WEIGHT, 0) &&
	        arg_list_t(f, MHA_WEIGHT, 1) && arg_list_t(f, MHA_WEIGHT, 2));
}

/* What the call is about: [L, N, E], the batch made where there is none. */
static bool mha_open(struct ag_frame *f, struct mha *m)
{
	struct ag_ctx *c = f->ctx;

	m->c = c;
	m->q = arg_t(f, MHA_QUERY);
	m->k = arg_t(f, MHA_KEY);
	m->v = arg_t(f, MHA_VALUE);
	m->pad = arg_t(f, MHA_PADDING);
	m->alone = m->q->ndim == 2;
	if ((m->q->ndim != 3 && !m->alone) || m->k->ndim != m->q->ndim || m->v->ndim != m->q->ndim)
		return ag_fail(c, AG_ERR_RUNTIME,
		               "query should be unbatched 2D or batched 3D tensor but received "
		               "%d-D query tensor",
		               m->q->ndim);
	if (m->alone) {
		m->q = op_unsqueeze(c, m->q, 1);
		m->k = op_unsqueeze(c, m->k, 1);
		m->v = op_unsqueeze(c, m->v, 1);
		m->pad = m->pad ? op_unsqueeze(c, m->pad, 0) : NULL;
	}
	m->l = m->q->shape[0];
	m->n = m->q->shape[1];
	m->e = m->q->shape[2];
	m->s = m->k->shape[0];
	m->heads = arg_i(f, MHA_HEADS);
	if (m->heads < 1 || m->e % m->heads || m->e != arg_i(f, MHA_DIM) || !has_weights(f))
		return ag_fail(c, AG_ERR_RUNTIME,
		               "was expecting embedding dimension of %lld, but got %lld",
		               (long long)arg_i(f, MHA_DIM), (long long)m->e);
	m->dim = m->e / m->heads;
	m->pad = mask_to_add(m, m->pad);
	m->mask = mask_to_add(m, arg_t(f, MHA_MASK));
	return c->error.status == AG_OK;
}

static struct ag_tensor *without_batch(struct mha *m, struct ag_tensor *t, int64_t dim)
{
	struct ag_value v[2] = {ag_arg(t), ag_int(dim)};

	return m->alone && t ? op_call(m->c, AG_OP_squeeze_dim, v, 2) : t;
}

static struct ag_tensor *out_projection(struct ag_frame *f, struct mha *m, struct ag_tensor *out)
{
	int64_t shape[3] = {m->l, m->n, 0};

	out = project(m->c, out, arg_t(f, MHA_OUT_WEIGHT), arg_t(f, MHA_OUT_BIAS));
	if (!out)
		return NULL;
	shape[2] = out->shape[1];
	return without_batch(m, op_view(m->c, out, 3, shape), 1);
}

static struct ag_tensor *shown_weights(struct ag_frame *f, struct mha *m, struct ag_tensor *w)
{
	int64_t shape[4] = {m->n, m->heads, m->l, m->s};
	struct ag_value dim = ag_int(1), v[3] = {ag_none(), ag_list(&dim, 1), ag_bool(false)};

	w = op_view(m->c, w, 4, shape);
	v[0] = ag_arg(w);
	if (w && arg_b(f, MHA_AVERAGE))
		w = op_call(m->c, AG_OP_mean, v, 3);
	return without_batch(m, w, 0);
}

bool op_run_multi_head_attention(struct ag_frame *f)
{
	struct mha m;
	struct ag_tensor *out, *w = NULL;
	int64_t flat[2];
	size_t mark;

	if (!mha_open(f, &m) || !in_projection(f, &m) || !spread_heads(f, &m) || !merge_masks(&m))
		return false;
	mark = ag_scope_open(f->ctx);
	out = arg_b(f, MHA_NEED) ? weighed(f, &m, &w) : unweighed(f, &m);
	flat[0] = ag_times(m.l, m.n);
	flat[1] = m.e;
	out = op_reshape(f->ctx, out, 2, flat);
	if (w)
		ag_retain(w);
	out = ag_scope_keep(f->ctx, mark, out);
	scoped(f->ctx, w);
	return ag_give_ref(f, out_projection(f, &m, out)) &&
	       (!w || ag_give_ref(f, shown_weights(f, &m, w)));
}
