/* Scaled dot-product attention: the fused CPU kernel where PyTorch takes it,
 * else its composed form. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/element.h"
#include "runtime/op.h"
#include "runtime/shape.h"

/* Row-wise softmax in which a row of minus infinities gives zeros. */
static void softmax_row(double *x, int64_t n, double *lse)
{
	double top = -INFINITY, sum = 0;
	int64_t i;

	for (i = 0; i < n; i++)
		top = x[i] > top ? x[i] : top;
	for (i = 0; i < n; i++)
		sum += x[i] = isinf(top) && top < 0 ? 0 : exp(x[i] - top);
	for (i = 0; i < n; i++)
		x[i] = sum > 0 ? x[i] / sum : 0;
	*lse = sum > 0 ? top + log(sum) : -INFINITY;
}

bool op_run_safe_softmax(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0), *out;
	struct ag_node *node;
	int64_t n, i;
	double *x, lse;

	if (!ag_need_float(f, a))
		return false;
	out = ag_make(f->ctx, (enum ag_dtype)a->dtype, a->ndim, a->shape, true);
	if (!out)
		return false;
	node = ag_record1(f->ctx, AG_NODE_SafeSoftmax, a, 1, 1);
	if (node)
		node->ints[0] = a->ndim - 1;
	n = a->ndim ? a->shape[a->ndim - 1] : 1;
	if (ag_ready1(out, a)) {
		x = ag_plain(a);
		for (i = 0; n && i < a->numel; i += n)
			softmax_row(x + i, n, &lse);
		ag_put_plain(out, x);
		free(x);
	}
	return ag_finish_saving(f, out, node, 0);
}

bool bw_SafeSoftmax(struct ag_bw *b)
{
	struct ag_value v[3] = {ag_arg(B_GRAD), ag_arg(B_SAVED(0)), ag_int(b->node->ints[0])};

	B_SET(0, op_call(B_CTX, AG_OP_softmax_backward, v, 3));
	return true;
}

/* ---- the fused kernel: q, k, v of [B, h, L, d] */

struct flash {
	int64_t b, h, l, s, d, dv;
	double scale;
	bool causal;
};

/* How much query i heeds each key. */
static void flash_scores(const struct flash *p, const double *query, const double *keys,
                         const double *mask, int64_t i, double *row)
{
	int64_t j, e;

	for (j = 0; j < p->s; j++) {
		double sum = 0;

		for (e = 0; e < p->d; e++)
			sum += query[e] * keys[j * p->d + e];
		row[j] = sum * p->scale + (mask ? mask[j] : 0);
		if (p->causal && j > i)
			row[j] = -INFINITY;
	}
}

static void flash_rows(const struct flash *p, const double *q, const double *k, const double *v,
                       const double *mask, double *out, double *lse)
{
	double *row = ag_alloc((size_t)p->s + 1, sizeof(*row));
	int64_t at, j, e;

	for (at = 0; at < p->b * p->h * p->l; at++) {
		int64_t n = at / p->l;
		const double *value = v + n * p->s * p->dv;

		flash_scores(p, q + at * p->d, k + n * p->s * p->d, mask ? mask + at * p->s : NULL,
		             at % p->l, row);
		softmax_row(row, p->s, &lse[at]);
		for (j = 0; j < p->s; j++) {
			for (e = 0; e < p->dv; e++)
				out[at * p->dv + e] += row[j] * value[j * p->dv + e];
		}
	}
	free(row);
}

static bool flash_sizes(const struct ag_tensor *q, const struct ag_tensor *k,
                        const struct ag_tensor *v, struct flash *p)
{
	p->b = q->shape[0];
	p->h = q->shape[1];
	p->l = q->shape[2];
	p->d = q->shape[3];
	p->s = k->shape[2];
	p->dv = v->shape[3];
	return k->shape[3] == p->d && v->shape[2] == p->s && k->shape[0] == p->b &&
	       k->shape[1] == p->h && v->shape[0] == p->b && v->shape[1] == p->h;
}

/* Of queries and keys the kernel looks at so many at a time. */
static void flash_blocks(const struct ag_tensor *q, const struct ag_tensor *k, int64_t *rows,
                         int64_t *columns)
{
	int64_t length = q->shape[2], most = length >= 768 ? 256 : length >= 192 ? 64 : 32;

	*rows = length < most ? length : most;
	*columns = k->shape[2] < 512 ? k->shape[2] : 512;
}

/* query, key, value, mask, is_causal, scale */
bool op_run_flash_attention(struct ag_frame *f)
{
	struct ag_tensor *in[4] = {arg_t(f, 0), arg_t(f, 1), arg_t(f, 2), arg_t(f, 3)}, *out, *lse;
	struct flash p = {.scale = arg_f(f, 5), .causal = arg_b(f, 4)};
	int64_t shape[4], full[4], rows, columns;
	struct ag_tensor *mask = in[3];
	struct ag_node *node;
	uint32_t i;

	if (!flash_sizes(in[0], in[1], in[2], &p))
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "attention: the shapes of query, key and value differ");
	memcpy(shape, in[0]->shape, sizeof(shape));
	lse = op_zeros(f->ctx, in[0]->dtype == AG_F64 ? AG_F64 : AG_F32, 3, shape);
	full[0] = p.b;
	full[1] = p.h;
	full[2] = p.l;
	full[3] = p.s;
	if (mask)
		mask = op_expand(f->ctx, mask, 4, full);
	if (!lse || (in[3] && !mask))
		return false;
	shape[3] = p.dv;
	out = ag_make(f->ctx, (enum ag_dtype)in[0]->dtype, 4, shape, true);
	if (!out)
		return false;
	if (p.d == p.dv && ag_is_dense(in[0]))
		memcpy(out->strides, in[0]->strides, 4 * sizeof(int64_t));
	flash_blocks(in[0], in[1], &rows, &columns);
	ag_transient(f->ctx, rows * (columns + 2 + p.dv) * AG_THREADS * (int64_t)sizeof(float));
	node = ag_record(f->ctx, AG_NODE_FlashAttention, in, 3, 6, 1);
	if (!ag_work(f->ctx, (double)out->numel * (double)p.s))
		ag_storage_drop_data(out->storage);
	if (ag_ready(out, in, 3) && (!mask || ag_ready1(out, mask))) {
		double *q = ag_plain(in[0]), *k = ag_plain(in[1]), *v = ag_plain(in[2]);
		double *m = mask ? ag_plain(mask) : NULL;
		double *o = ag_alloc((size_t)out->numel + 1, sizeof(*o));
		double *l = ag_alloc((size_t)lse->numel + 1, sizeof(*l));

		flash_rows(&p, q, k, v, m, o, l);
		ag_put_plain(out, o);
		ag_put_plain(lse, l);
		free(q);
		free(k);
		free(v);
		free(m);
		free(o);
		free(l);
	}
	if (!node)
		return ag_finish(f, out, NULL);
	node->ints[0] = p.causal;
	node->num[0] = p.scale;
	for (i = 0; i < 3; i++)
		ag_save_input(node, i, in[i]);
	ag_save_input(node, 4, lse);
	ag_save_input(node, 5, in[3]);
	ag_node_retain(node);
	if (!ag_finish(f, out, node))
		return false;
	ag_save_output(node, 3, out);
	ag_node_release(node);
	return true;
}

static struct ag_tensor *causal_mask(struct ag_ctx *c, int64_t l, int64_t s)
{
	int64_t shape[2] = {l, s};
	struct ag_tensor *ones = op_zeros(c, AG_BOOL8, 2, shape);
	struct ag_value v[2];

	if (ones)
		ag_fill_data(ones, 1);
	v[0] = ag_arg(ones);
	v[1] = ag_int(0);
	return op_call(c, AG_OP_tril, v, 2);
}

/* A mask to add: bool becomes 0 where true and minus infinity elsewhere. */
static struct ag_tensor *float_mask(struct ag_ctx *c, struct ag_tensor *mask, enum ag_dtype dtype)
{
	struct ag_value v[3];
	struct ag_tensor *zero;

	if (!mask || mask->dtype != AG_BOOL8)
		return mask;
	zero = op_zeros(c, dtype, mask->ndim, mask->shape);
	v[0] = ag_arg(zero);
	v[1] = ag_arg(op_eq_n(c, mask, 0));
	v[2] = ag_float(-INFINITY);
	return op_call(c, AG_OP_masked_fill, v, 3);
}

bool bw_FlashAttention(struct ag_bw *b)
{
	struct ag_ctx *c = B_CTX;
	struct ag_tensor *q = B_SAVED(0), *k = B_SAVED(1), *v = B_SAVED(2), *mask = B_SAVED(5), *s,
	                 *p, *dp;
	struct ag_value args[3];
	double scale = b->node->num[0];
	int64_t rows, columns, copied;

	if (!q || !k || !v || !B_SAVED(3))
		return false;
	if (ag_bw_is_blind(c, (struct ag_tensor *[]){q, k, v, B_GRAD}, 4)) {
		B_SET(0, op_unknown_as(c, q));
		B_SET(1, op_unknown_as(c, k));
		B_SET(2, op_unknown_as(c, v));
		flash_blocks(q, k, &rows, &columns);
		/* It reads the gradient row by row, heads inside. */
		copied = ag_is_contiguous(op_transpose(c, B_GRAD, 1, 2)) ? 0 : B_GRAD->numel;
		ag_transient(c, (2 * rows * columns * AG_THREADS + q->shape[2] + copied) *
		                        (int64_t)sizeof(float));
		return true;
	}
	s = op_mul_number(c, op_matmul(c, q, op_transpose(c, k, -1, -2)), scale);
	if (mask)
		s = op_add(c, s, mask);
	if (s && b->node->ints[0])
		s = op_add(c, s,
		           float_mask(c, causal_mask(c, q->shape[2], k->shape[2]),
		                      (enum ag_dtype)q->dtype));
	args[0] = ag_arg(s);
	args[1] = ag_int(-1);
	p = op_call(c, AG_OP_safe_softmax, args, 2);
	if (B_WANT(2))
		B_SET(2, op_matmul(c, op_transpose(c, p, -1, -2), B_GRAD));
	dp = op_matmul(c, B_GRAD, op_transpose(c, v, -1, -2));
	args[0] = ag_arg(dp);
	args[1] = ag_arg(p);
	args[2] = ag_int(3);
	s = op_mul_number(c, op_call(c, AG_OP_softmax_backward, args, 3), scale);
	if (B_WANT(0))
		B_SET(0, op_matmul(c, s, k));
	if (B_WANT(1))
		B_SET(1, op_matmul(c, op_transpose(c, s, -1, -2), q));
	return true;
}

static bool takes_flash(struct ag_frame *f, struct ag_tensor *q, struct ag_tensor *k,
                        struct ag_tensor *v, struct ag_tensor *mask)
{
	struct flash p;

	return q->ndim == 4 && k->ndim == 4 && v->ndim == 4 && flash_sizes(q, k, v, &p) &&
	       p.d == p.dv && arg_f(f, 4) == 0 && p.l && p.s && q->strides[3] == 1 &&
	       k->strides[3] == 1 && v->strides[3] == 1 && !(mask && ag_requires_grad(mask)) &&
	       (!mask || mask->ndim == 2 || mask->ndim == 4);
}

static bool sdpa_fits(struct ag_frame *f)
{
	const struct ag_tensor *q = arg_t(f, 0), *k = arg_t(f, 1), *v = arg_t(f, 2);

	if (q->ndim < 2 || k->ndim < 2 || v->ndim < 2 || !ag_need_float(f, q))
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "scaled_dot_product_attention: inputs need two dimensions");
	return !arg_t(f, 3) || !arg_b(f, 5) ||
	       ag_fail(f->ctx, AG_ERR_RUNTIME,
	               "_scaled_dot_product_attention: Explicit attn_mask should not be "
	               "set when is_causal=True");
}

static struct ag_tensor *fused(struct ag_frame *f, double scale)
{
	struct ag_tensor *q = arg_t(f, 0);
	struct ag_tensor *mask = float_mask(f->ctx, arg_t(f, 3), (enum ag_dtype)q->dtype);
	struct ag_value args[6] = {f->v[0], f->v[1], f->v[2], ag_none(), f->v[5], ag_float(scale)};

	if (mask)
		args[3] = ag_arg(mask);
	return op_call(f->ctx, AG_OP_flash_attention, args, 6);
}

/* By ordinary ops, in float32 at least. */
static struct ag_tensor *in_steps(struct ag_frame *f, double scale)
{
	struct ag_ctx *c = f->ctx;
	enum ag_dtype dtype = (enum ag_dtype)arg_t(f, 0)->dtype;
	enum ag_dtype wide = dtype == AG_F16 || dtype == AG_BF16 ? AG_F32 : dtype;
	struct ag_tensor *q = op_cast(c, arg_t(f, 0), wide), *k = op_cast(c, arg_t(f, 1), wide),
	                 *v = op_cast(c, arg_t(f, 2), wide), *mask = arg_t(f, 3), *s;
	double root = sqrt(scale);
	struct ag_value args[3];

	if (!q || !k || !v)
		return NULL;
	if (arg_b(f, 5))
		mask = causal_mask(c, q->shape[q->ndim - 2], k->shape[k->ndim - 2]);
	mask = float_mask(c, mask, wide);
	s = op_matmul(c, op_mul_number(c, q, root),
	              op_mul_number(c, op_transpose(c, k, -2, -1), root));
	if (s && mask) {
		args[0] = ag_arg(s);
		args[1] = ag_arg(mask);
		args[2] = ag_int(1);
		s = op_inplace(c, AG_OP_add, args, 3);
	}
	args[0] = ag_arg(s);
	args[1] = ag_int(-1);
	s = op_call(c, AG_OP_safe_softmax, args, 2);
	if (arg_f(f, 4) > 0) {
		args[0] = ag_arg(s);
		args[1] = f->v[4];
		args[2] = ag_bool(true);
		s = op_call(c, AG_OP_dropout, args, 3);
	}
	return op_cast(c, op_matmul(c, s, v), dtype);
}

/* query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa */
bool op_run_sdpa(struct ag_frame *f)
{
	struct ag_tensor *q = arg_t(f, 0);
	double scale;

	if (!sdpa_fits(f))
		return false;
	scale = arg_none(f, 6) ? 1 / sqrt((double)q->shape[q->ndim - 1]) : arg_f(f, 6);
	if (takes_flash(f, q, arg_t(f, 1), arg_t(f, 2), arg_t(f, 3)))
		return ag_give_ref(f, fused(f, scale));
	return ag_give_ref(f, in_steps(f, scale));
}
