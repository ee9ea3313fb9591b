/* The matrix product family. Sums run over k in order, in double. */

#include <stdlib.h>
#include <string.h>

#include "runtime/element.h"
#include "runtime/op.h"
#include "runtime/shape.h"

enum { MULTIPLY_WIDTH = 8 }; /* columns whose sums are in registers */

/* row[0..p) = a[0..m) @ b[m,p] */
static void multiply_row(double *row, const double *a, const double *b, int64_t m, int64_t p)
{
	int64_t j, k;
	int t;

	for (j = 0; j + MULTIPLY_WIDTH <= p; j += MULTIPLY_WIDTH) {
		double sums[MULTIPLY_WIDTH] = {0};

		for (k = 0; k < m; k++)
			for (t = 0; t < MULTIPLY_WIDTH; t++)
				sums[t] += a[k] * b[k * p + j + t];
		memcpy(row + j, sums, sizeof(sums));
	}
	for (; j < p; j++) {
		row[j] = 0;
		for (k = 0; k < m; k++)
			row[j] += a[k] * b[k * p + j];
	}
}

/* c[b,n,p] = a[b,n,m] @ b[b,m,p] on plain arrays */
static void multiply(double *c, const double *a, const double *b, int64_t batch, int64_t n,
                     int64_t m, int64_t p)
{
	int64_t i, s;

	for (s = 0; s < batch; s++, a += n * m, b += m * p, c += n * p)
		for (i = 0; i < n; i++)
			multiply_row(c + i * p, a + i * m, b, m, p);
}

/* out = alpha * (a @ b) + beta * add; add may be NULL and is broadcast */
static void product(struct ag_tensor *out, struct ag_tensor *a, struct ag_tensor *b, int64_t batch,
                    int64_t n, int64_t m, int64_t p, struct ag_tensor *add, double alpha,
                    double beta)
{
	double *x, *y, *c, *s = NULL;
	int64_t i;

	if (!ag_work(out->storage->ctx, (double)batch * (double)n * (double)m * (double)p))
		ag_storage_drop_data(out->storage);
	if (!ag_ready2(out, a, b) || (add && !ag_ready1(out, add)))
		return;
	x = ag_plain(a);
	y = ag_plain(b);
	c = ag_alloc((size_t)out->numel + 1, sizeof(*c));
	multiply(c, x, y, batch, n, m, p);
	if (add && beta != 0) {
		struct ag_tensor spread = *add;
		int d, shift = out->ndim - add->ndim;

		spread.ndim = out->ndim;
		spread.numel = out->numel;
		for (d = 0; d < out->ndim; d++) {
			bool real = d >= shift && add->shape[d - shift] != 1;

			spread.shape[d] = out->shape[d];
			spread.strides[d] = real ? add->strides[d - shift] : 0;
		}
		s = ag_plain(&spread);
	}
	for (i = 0; i < out->numel; i++)
		c[i] = alpha * c[i] + (s ? beta * s[i] : 0);
	ag_put_plain(out, c);
	free(x);
	free(y);
	free(c);
	free(s);
}

static bool same_dtype(struct ag_ctx *ctx, struct ag_tensor *a, struct ag_tensor *b)
{
	static const char *const scalar[AG_DTYPE_COUNT] = {
	        [AG_BOOL8] = "bool",
	        [AG_U8] = "unsigned char",
	        [AG_I8] = "signed char",
	        [AG_I16] = "short",
	        [AG_I32] = "int",
	        [AG_I64] = "long int",
	        [AG_F16] = "c10::Half",
	        [AG_BF16] = "c10::BFloat16",
	        [AG_F32] = "float",
	        [AG_F64] = "double",
	        [AG_C64] = "c10::complex<float>",
	        [AG_C128] = "c10::complex<double>",
	};

	if (!ag_no_complex(ctx, a) || !ag_no_complex(ctx, b))
		return false;
	if (a->dtype == b->dtype)
		return true;
	return ag_fail(ctx, AG_ERR_RUNTIME,
	               "expected m1 and m2 to have the same dtype, but got: %s != %s",
	               scalar[a->dtype], scalar[b->dtype]);
}

/* Words 0-3 shape and strides of the first matrix, 4-7 of the second. */
static void matrix_words(struct ag_node *n, const struct ag_tensor *a, const struct ag_tensor *b)
{
	n->ints[0] = a->shape[0];
	n->ints[1] = a->shape[1];
	n->ints[2] = a->strides[0];
	n->ints[3] = a->strides[1];
	n->ints[4] = b->shape[0];
	n->ints[5] = b->shape[1];
	n->ints[6] = b->strides[0];
	n->ints[7] = b->strides[1];
}

static bool column_major(const int64_t *w)
{
	return w[2] == 1 && w[3] == w[0];
}

static struct ag_tensor *first_grad(struct ag_ctx *c, struct ag_tensor *g, struct ag_tensor *mat2,
                                    const int64_t *w, double alpha)
{
	struct ag_tensor *grad;

	if (column_major(w))
		grad = op_t(c, op_mm(c, mat2, op_t(c, g)));
	else
		grad = op_mm(c, g, op_t(c, mat2));
	return op_mul_n(c, grad, alpha);
}

static struct ag_tensor *second_grad(struct ag_ctx *c, struct ag_tensor *g, struct ag_tensor *mat1,
                                     const int64_t *w, double alpha)
{
	struct ag_tensor *grad;

	if (column_major(w))
		grad = op_t(c, op_mm(c, op_t(c, g), mat1));
	else
		grad = op_mm(c, op_t(c, mat1), g);
	return op_mul_n(c, grad, alpha);
}

/* Each operand is saved for the other's sake, at words 1 and 0. */
static void save_products(struct ag_node *node, uint32_t first, struct ag_tensor *a,
                          struct ag_tensor *b)
{
	if (!node)
		return;
	ag_save_input(node, 0, node->edges[first].node ? b : NULL);
	ag_save_input(node, 1, node->edges[first + 1].node ? a : NULL);
}

static bool check_mm(struct ag_ctx *ctx, struct ag_tensor *a, struct ag_tensor *b)
{
	if (a->ndim != 2 || b->ndim != 2)
		return ag_fail(ctx, AG_ERR_RUNTIME, "%s must be a matrix",
		               a->ndim != 2 ? "self" : "mat2");
	if (!same_dtype(ctx, a, b))
		return false;
	if (a->shape[1] != b->shape[0])
		return ag_fail(
		        ctx, AG_ERR_RUNTIME,
		        "mat1 and mat2 shapes cannot be multiplied (%lldx%lld and %lldx%lld)",
		        (long long)a->shape[0], (long long)a->shape[1], (long long)b->shape[0],
		        (long long)b->shape[1]);
	return true;
}

bool op_run_mm(struct ag_frame *f)
{
	struct ag_tensor *in[2] = {arg_t(f, 0), arg_t(f, 1)}, *out;
	struct ag_node *node;
	int64_t shape[2];

	if (!check_mm(f->ctx, in[0], in[1]))
		return false;
	shape[0] = in[0]->shape[0];
	shape[1] = in[1]->shape[1];
	out = ag_make(f->ctx, (enum ag_dtype)in[0]->dtype, 2, shape, true);
	if (!out)
		return false;
	node = ag_record(f->ctx, AG_NODE_Mm, in, 2, 2, 8);
	if (node)
		matrix_words(node, in[0], in[1]);
	save_products(node, 0, in[0], in[1]);
	product(out, in[0], in[1], 1, shape[0], in[0]->shape[1], shape[1], NULL, 1, 0);
	return ag_finish(f, out, node);
}

bool bw_Mm(struct ag_bw *b)
{
	if (B_WANT(0))
		B_SET(0, first_grad(B_CTX, B_GRAD, B_SAVED(0), b->node->ints, 1));
	if (B_WANT(1))
		B_SET(1, second_grad(B_CTX, B_GRAD, B_SAVED(1), b->node->ints + 4, 1));
	return true;
}

/* input, mat1, mat2, beta, alpha */
bool op_run_addmm(struct ag_frame *f)
{
	struct ag_tensor *in[3] = {arg_t(f, 0), arg_t(f, 1), arg_t(f, 2)}, *out;
	double beta = arg_f(f, 3), alpha = arg_f(f, 4);
	struct ag_node *node;
	int64_t shape[2];

	if (!check_mm(f->ctx, in[1], in[2]) || !same_dtype(f->ctx, in[0], in[1]))
		return false;
	shape[0] = in[1]->shape[0];
	shape[1] = in[2]->shape[1];
	if (in[0]->ndim > 2 ||
	    (in[0]->ndim && in[0]->shape[in[0]->ndim - 1] != shape[1] &&
	     in[0]->shape[in[0]->ndim - 1] != 1) ||
	    (in[0]->ndim == 2 && in[0]->shape[0] != shape[0] && in[0]->shape[0] != 1))
		return ag_fail(
		        f->ctx, AG_ERR_RUNTIME,
		        "The expanded size of the tensor (%lld) must match the existing size "
		        "(%lld) at non-singleton dimension 1.  Target sizes: [%lld, %lld].",
		        (long long)shape[1],
		        (long long)(in[0]->ndim ? in[0]->shape[in[0]->ndim - 1] : 1),
		        (long long)shape[0], (long long)shape[1]);
	out = ag_result(f, (enum ag_dtype)in[1]->dtype, 2, shape, ag_wants_grad(f->ctx, in, 3));
	if (!out)
		return false;
	node = ag_record(f->ctx, AG_NODE_Addmm, in, 3, 2, 8);
	if (node) {
		node->num[0] = beta;
		node->num[1] = alpha;
		matrix_words(node, in[1], in[2]);
	}
	save_products(node, 1, in[1], in[2]);
	product(out, in[1], in[2], 1, shape[0], in[1]->shape[1], shape[1], in[0], alpha, beta);
	return ag_finish(f, out, node);
}

bool bw_Addmm(struct ag_bw *b)
{
	double alpha = b->node->num[1];

	if (B_WANT(0))
		B_SET(0, op_mul_n(B_CTX, B_GRAD, b->node->num[0]));
	if (B_WANT(1))
		B_SET(1, first_grad(B_CTX, B_GRAD, B_SAVED(0), b->node->ints, alpha));
	if (B_WANT(2))
		B_SET(2, second_grad(B_CTX, B_GRAD, B_SAVED(1), b->node->ints + 4, alpha));
	return true;
}

static bool check_bmm(struct ag_ctx *ctx, struct ag_tensor *a, struct ag_tensor *b)
{
	if (a->ndim != 3 || b->ndim != 3)
		return ag_fail(ctx, AG_ERR_RUNTIME, "batch1 and batch2 must be 3D tensors");
	if (!same_dtype(ctx, a, b))
		return false;
	if (a->shape[0] != b->shape[0] || a->shape[2] != b->shape[1])
		return ag_fail(ctx, AG_ERR_RUNTIME,
		               "Expected size for first two dimensions of batch2 tensor to be: "
		               "[%lld, %lld] but got: [%lld, %lld].",
		               (long long)a->shape[0], (long long)a->shape[2],
		               (long long)b->shape[0], (long long)b->shape[1]);
	return true;
}

bool op_run_bmm(struct ag_frame *f)
{
	struct ag_tensor *in[2] = {arg_t(f, 0), arg_t(f, 1)}, *out;
	struct ag_node *node;
	int64_t shape[3];

	if (!check_bmm(f->ctx, in[0], in[1]))
		return false;
	shape[0] = in[0]->shape[0];
	shape[1] = in[0]->shape[1];
	shape[2] = in[1]->shape[2];
	out = ag_make(f->ctx, (enum ag_dtype)in[0]->dtype, 3, shape, true);
	if (!out)
		return false;
	node = ag_record(f->ctx, AG_NODE_Bmm, in, 2, 2, 0);
	save_products(node, 0, in[0], in[1]);
	product(out, in[0], in[1], shape[0], shape[1], in[0]->shape[2], shape[2], NULL, 1, 0);
	return ag_finish(f, out, node);
}

bool bw_Bmm(struct ag_bw *b)
{
	if (B_WANT(0))
		B_SET(0, op_bmm(B_CTX, B_GRAD, op_transpose(B_CTX, B_SAVED(0), 1, 2)));
	if (B_WANT(1))
		B_SET(1, op_bmm(B_CTX, op_transpose(B_CTX, B_SAVED(1), 1, 2), B_GRAD));
	return true;
}

bool op_run_baddbmm(struct ag_frame *f)
{
	struct ag_tensor *in[3] = {arg_t(f, 0), arg_t(f, 1), arg_t(f, 2)}, *out, *spread;
	double beta = arg_f(f, 3), alpha = arg_f(f, 4);
	struct ag_grad_mode mode;
	struct ag_node *node;
	int64_t shape[3];

	if (!check_bmm(f->ctx, in[1], in[2]) || !same_dtype(f->ctx, in[0], in[1]))
		return false;
	shape[0] = in[1]->shape[0];
	shape[1] = in[1]->shape[1];
	shape[2] = in[2]->shape[2];
	mode = ag_no_grad(f->ctx);
	spread = op_expand(f->ctx, in[0], 3, shape);
	ag_set_grad_mode(f->ctx, mode);
	out = spread ? ag_result(f, (enum ag_dtype)in[1]->dtype, 3, shape,
	                         ag_wants_grad(f->ctx, in, 3))
	             : NULL;
	if (!out)
		return false;
	node = ag_record(f->ctx, AG_NODE_Baddbmm, in, 3, 2, 0);
	if (node) {
		node->num[0] = beta;
		node->num[1] = alpha;
	}
	save_products(node, 1, in[1], in[2]);
	product(out, in[1], in[2], shape[0], shape[1], in[1]->shape[2], shape[2], spread, alpha,
	        beta);
	return ag_finish(f, out, node);
}

bool bw_Baddbmm(struct ag_bw *b)
{
	struct ag_ctx *c = B_CTX;
	double alpha = b->node->num[1];

	if (B_WANT(0))
		B_SET(0, op_mul_n(c, B_GRAD, b->node->num[0]));
	if (B_WANT(1))
		B_SET(1, op_mul_n(c, op_bmm(c, B_GRAD, op_transpose(c, B_SAVED(0), 1, 2)), alpha));
	if (B_WANT(2))
		B_SET(2, op_mul_n(c, op_bmm(c, op_transpose(c, B_SAVED(1), 1, 2), B_GRAD), alpha));
	return true;
}

bool op_run_mv(struct ag_frame *f)
{
	struct ag_tensor *in[2] = {arg_t(f, 0), arg_t(f, 1)}, *out;
	struct ag_node *node;

	if (in[0]->ndim != 2 || in[1]->ndim != 1)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "vector + matrix @ vector expected, got %d, %d, %d", 1, in[0]->ndim,
		               in[1]->ndim);
	if (in[0]->shape[1] != in[1]->shape[0])
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "size mismatch, got input (%lld), mat (%lldx%lld), vec (%lld)",
		               (long long)in[0]->shape[0], (long long)in[0]->shape[0],
		               (long long)in[0]->shape[1], (long long)in[1]->shape[0]);
	if (!same_dtype(f->ctx, in[0], in[1]))
		return false;
	out = ag_make(f->ctx, (enum ag_dtype)in[0]->dtype, 1, in[0]->shape, true);
	if (!out)
		return false;
	node = ag_record(f->ctx, AG_NODE_Mv, in, 2, 2, 0);
	save_products(node, 0, in[0], in[1]);
	product(out, in[0], in[1], 1, in[0]->shape[0], in[0]->shape[1], 1, NULL, 1, 0);
	return ag_finish(f, out, node);
}

bool bw_Mv(struct ag_bw *b)
{
	struct ag_ctx *c = B_CTX;

	if (B_WANT(0))
		B_SET(0, op_mul(c, op_unsqueeze(c, B_GRAD, 1), op_unsqueeze(c, B_SAVED(0), 0)));
	if (B_WANT(1))
		B_SET(1, op_mv(c, op_t(c, B_SAVED(1)), B_GRAD));
	return true;
}

bool op_run_dot(struct ag_frame *f)
{
	struct ag_tensor *in[2] = {arg_t(f, 0), arg_t(f, 1)}, *out;
	struct ag_node *node;

	if (in[0]->ndim != 1 || in[1]->ndim != 1)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "1D tensors expected, but got %dD and %dD tensors", in[0]->ndim,
		               in[1]->ndim);
	if (in[0]->shape[0] != in[1]->shape[0])
		return ag_fail(
		        f->ctx, AG_ERR_RUNTIME,
		        "inconsistent tensor size, expected tensor [%lld] and src [%lld] to have "
		        "the same number of elements, but got %lld and %lld elements respectively",
		        (long long)in[0]->shape[0], (long long)in[1]->shape[0],
		        (long long)in[0]->shape[0], (long long)in[1]->shape[0]);
	if (in[0]->dtype != in[1]->dtype)
		return ag_fail(
		        f->ctx, AG_ERR_RUNTIME,
		        "dot : expected both vectors to have same dtype, but found %s and %s",
		        ag_dtype_name((enum ag_dtype)in[0]->dtype),
		        ag_dtype_name((enum ag_dtype)in[1]->dtype));
	out = ag_make(f->ctx, (enum ag_dtype)in[0]->dtype, 0, NULL, true);
	if (!out)
		return false;
	node = ag_record(f->ctx, AG_NODE_Dot, in, 2, 2, 0);
	save_products(node, 0, in[0], in[1]);
	product(out, in[0], in[1], 1, 1, in[0]->shape[0], 1, NULL, 1, 0);
	return ag_finish(f, out, node);
}

bool bw_Dot(struct ag_bw *b)
{
	if (B_WANT(0))
		B_SET(0, op_mul(B_CTX, B_GRAD, B_SAVED(0)));
	if (B_WANT(1))
		B_SET(1, op_mul(B_CTX, B_GRAD, B_SAVED(1)));
	return true;
}
