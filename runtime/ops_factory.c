/* Tensors made of nothing: constants, ranges, random numbers. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/element.h"
#include "runtime/op.h"

static struct ag_tensor *fresh(struct ag_ctx *ctx, enum ag_dtype dtype, int ndim,
                               const int64_t *shape)
{
	struct ag_tensor *t = ag_make(ctx, dtype, ndim, shape, true);

	if (t)
		ag_storage_set_kind(t->storage, AG_KIND_DATA);
	return t;
}

static enum ag_dtype dtype_arg(struct ag_frame *f, uint32_t i, enum ag_dtype otherwise)
{
	return f->v[i].kind == AG_DTYPE ? f->v[i].as.dtype : otherwise;
}

static struct ag_tensor *sized(struct ag_frame *f, uint32_t i, enum ag_dtype dtype)
{
	int64_t shape[AG_MAX_DIMS];
	int n = arg_ints(f, i, shape, AG_MAX_DIMS);

	return n < 0 ? NULL : fresh(f->ctx, dtype, n, shape);
}

static bool filled(struct ag_frame *f, struct ag_tensor *t, double value)
{
	if (t && value != 0)
		ag_fill_data(t, value);
	return ag_give(f, t);
}

/* size, dtype */
bool op_run_zeros(struct ag_frame *f)
{
	struct ag_tensor *t = sized(f, 0, dtype_arg(f, 1, f->ctx->default_dtype));
	enum ag_format format = AG_CONTIGUOUS;

	if (t && !ag_format_arg(f, 2, t->ndim, &format)) {
		ag_release(t);
		return false;
	}
	if (t)
		ag_lay_out(t, format, t);
	return filled(f, t, 0);
}

bool op_run_ones(struct ag_frame *f)
{
	return filled(f, sized(f, 0, dtype_arg(f, 1, f->ctx->default_dtype)), 1);
}

/* size, value, dtype */
bool op_run_full(struct ag_frame *f)
{
	enum ag_dtype dtype = f->v[1].kind == AG_FLOAT ? f->ctx->default_dtype
	                      : f->v[1].kind == AG_INT ? AG_I64
	                                               : AG_BOOL8;

	return filled(f, sized(f, 0, dtype_arg(f, 2, dtype)), arg_f(f, 1));
}

static struct ag_tensor *alike(struct ag_frame *f, uint32_t type)
{
	struct ag_tensor *a = arg_t(f, 0), *t;
	enum ag_format format = AG_PRESERVE;

	if (!ag_format_arg(f, type + 1, a->ndim, &format))
		return NULL;
	t = fresh(f->ctx, dtype_arg(f, type, (enum ag_dtype)a->dtype), a->ndim, a->shape);
	if (t)
		ag_lay_out(t, format, a);
	return t;
}

bool op_run_zeros_like(struct ag_frame *f)
{
	return filled(f, alike(f, 1), 0);
}

bool op_run_ones_like(struct ag_frame *f)
{
	return filled(f, alike(f, 1), 1);
}

bool op_run_full_like(struct ag_frame *f)
{
	return filled(f, alike(f, 2), arg_f(f, 1));
}

/* tensor, size, dtype */
bool op_run_new_zeros(struct ag_frame *f)
{
	return filled(f, sized(f, 1, dtype_arg(f, 2, (enum ag_dtype)arg_t(f, 0)->dtype)), 0);
}

bool op_run_new_ones(struct ag_frame *f)
{
	return filled(f, sized(f, 1, dtype_arg(f, 2, (enum ag_dtype)arg_t(f, 0)->dtype)), 1);
}

bool op_run_new_full(struct ag_frame *f)
{
	return filled(f, sized(f, 1, dtype_arg(f, 3, (enum ag_dtype)arg_t(f, 0)->dtype)),
	              arg_f(f, 2));
}

/* ---- ranges */

static bool range(struct ag_frame *f, double start, double end, double step, bool whole,
                  uint32_t type)
{
	enum ag_dtype dtype = dtype_arg(f, type, whole ? AG_I64 : f->ctx->default_dtype);
	double count = ceil((end - start) / step);
	struct ag_tensor *t;
	int64_t n, i;

	if (step == 0)
		return ag_fail(f->ctx, AG_ERR_RUNTIME, "step must be nonzero");
	if (isnan(count) || isinf(count) || count > (double)AG_MOST_ELEMENTS)
		return ag_fail(f->ctx, AG_ERR_RUNTIME, "invalid size, possible overflow?");
	if (count < 0)
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "upper bound and lower bound inconsistent with step sign");
	n = (int64_t)count;
	t = fresh(f->ctx, dtype, 1, &n);
	for (i = 0; t && t->storage->data && i < n; i++)
		ag_store_double(dtype, t->storage->data, i, start + (double)i * step);
	return ag_give(f, t);
}

bool op_run_arange(struct ag_frame *f)
{
	bool one = arg_none(f, 1);
	bool whole =
	        f->v[0].kind != AG_FLOAT && f->v[1].kind != AG_FLOAT && f->v[2].kind != AG_FLOAT;

	return range(f, one ? 0 : arg_f(f, 0), one ? arg_f(f, 0) : arg_f(f, 1), arg_f(f, 2), whole,
	             3);
}

bool op_run_linspace(struct ag_frame *f)
{
	enum ag_dtype dtype = dtype_arg(f, 3, f->ctx->default_dtype);
	double start = arg_f(f, 0), end = arg_f(f, 1);
	int64_t n = arg_i(f, 2), i;
	struct ag_tensor *t = fresh(f->ctx, dtype, 1, &n);
	double step = n > 1 ? (end - start) / (double)(n - 1) : 0;

	for (i = 0; t && t->storage->data && i < n; i++)
		ag_store_double(dtype, t->storage->data, i,
		                i < n / 2 ? start + step * (double)i
		                          : end - step * (double)(n - 1 - i));
	if (t && t->storage->data && n == 1)
		ag_store_double(dtype, t->storage->data, 0, start);
	return ag_give(f, t);
}

bool op_run_logspace(struct ag_frame *f)
{
	struct ag_tensor *t;
	double base = arg_f(f, 3);
	int64_t i;

	f->v[3] = ag_none();
	if (!op_run_linspace(f))
		return false;
	t = f->results->at[0];
	for (i = 0; t->storage->data && i < t->numel; i++)
		ag_store_double(
		        (enum ag_dtype)t->dtype, t->storage->data, i,
		        pow(base, ag_load_double((enum ag_dtype)t->dtype, t->storage->data, i)));
	return true;
}

bool op_run_eye(struct ag_frame *f)
{
	enum ag_dtype dtype = dtype_arg(f, 2, f->ctx->default_dtype);
	int64_t shape[2] = {arg_i(f, 0), arg_none(f, 1) ? arg_i(f, 0) : arg_i(f, 1)}, i;
	struct ag_tensor *t = fresh(f->ctx, dtype, 2, shape);

	for (i = 0; t && t->storage->data && i < shape[0] && i < shape[1]; i++)
		ag_store_double(dtype, t->storage->data, i * (shape[1] + 1), 1);
	return ag_give(f, t);
}

/* ---- random numbers, in PyTorch's streams */

enum draw { UNIFORM, NORMAL };

static void draw_into(struct ag_ctx *ctx, struct ag_tensor *t, enum draw draw, double a, double b)
{
	size_t n = (size_t)t->numel;
	double *values;
	float *floats;
	int64_t i;

	if (!ag_drawable(t))
		return;
	if (t->dtype == AG_F64) {
		values = ag_alloc(n + 1, sizeof(*values));
		if (draw == UNIFORM)
			ag_random_fill_uniform_f64(&ctx->random, values, n, a, b);
		else
			ag_random_fill_normal_f64(&ctx->random, values, n, a, b);
		ag_put_plain(t, values);
		free(values);
		return;
	}
	floats = ag_alloc(n + 1, sizeof(*floats));
	if (draw == UNIFORM)
		ag_random_fill_uniform_f32(&ctx->random, floats, n, a, b);
	else if (t->dtype == AG_F32)
		ag_random_fill_normal_f32(&ctx->random, floats, n, a, b);
	else
		ag_random_fill_normal_half(&ctx->random, floats, n, a, b);
	values = ag_alloc(n + 1, sizeof(*values));
	for (i = 0; i < t->numel; i++)
		values[i] = floats[i];
	ag_put_plain(t, values);
	free(values);
	free(floats);
}

static bool drawn(struct ag_frame *f, struct ag_tensor *t, enum draw draw, double a, double b)
{
	if (t && !ag_is_real_float((enum ag_dtype)t->dtype)) {
		ag_fail(f->ctx, AG_ERR_RUNTIME, "\"%s\" not implemented for '%s'",
		        ag_op_info(f->op)->id, ag_dtype_name((enum ag_dtype)t->dtype));
		ag_release(t);
		return false;
	}
	if (t)
		draw_into(f->ctx, t, draw, a, b);
	return ag_give(f, t);
}

bool op_run_rand(struct ag_frame *f)
{
	return drawn(f, sized(f, 0, dtype_arg(f, 1, f->ctx->default_dtype)), UNIFORM, 0, 1);
}

bool op_run_randn(struct ag_frame *f)
{
	return drawn(f, sized(f, 0, dtype_arg(f, 1, f->ctx->default_dtype)), NORMAL, 0, 1);
}

bool op_run_rand_like(struct ag_frame *f)
{
	return drawn(f, alike(f, 1), UNIFORM, 0, 1);
}

bool op_run_randn_like(struct ag_frame *f)
{
	return drawn(f, alike(f, 1), NORMAL, 0, 1);
}

static bool integers(struct ag_frame *f, struct ag_tensor *t, int64_t low, int64_t high)
{
	int64_t *values;

	if (!t)
		return false;
	if (low >= high) {
		ag_release(t);
		return ag_fail(
		        f->ctx, AG_ERR_RUNTIME,
		        "random_ expects 'from' to be less than 'to', but got from=%lld >= to=%lld",
		        (long long)low, (long long)high);
	}
	if (ag_drawable(t)) {
		values = ag_alloc((size_t)t->numel + 1, sizeof(*values));
		ag_random_fill_int64(&f->ctx->random, values, (size_t)t->numel, low, high);
		ag_put_ints(t, values);
		free(values);
	}
	return ag_give(f, t);
}

/* high, size, dtype / low, high, size, dtype */
bool op_run_randint(struct ag_frame *f)
{
	return integers(f, sized(f, 1, dtype_arg(f, 2, AG_I64)), 0, ag_value_int(&f->v[0]));
}

bool op_run_randint_low(struct ag_frame *f)
{
	return integers(f, sized(f, 2, dtype_arg(f, 3, AG_I64)), ag_value_int(&f->v[0]),
	                ag_value_int(&f->v[1]));
}

bool op_run_randint_like(struct ag_frame *f)
{
	bool one = arg_none(f, 2);

	return integers(f, alike(f, 3), one ? 0 : ag_value_int(&f->v[1]),
	                one ? ag_value_int(&f->v[1]) : ag_value_int(&f->v[2]));
}

bool op_run_randperm(struct ag_frame *f)
{
	int64_t n = arg_i(f, 0), *values;
	struct ag_tensor *t = fresh(f->ctx, dtype_arg(f, 1, AG_I64), 1, &n);

	if (t && ag_drawable(t)) {
		values = ag_alloc((size_t)n + 1, sizeof(*values));
		ag_random_fill_permutation(&f->ctx->random, values, (size_t)n);
		ag_put_ints(t, values);
		free(values);
	}
	return ag_give(f, t);
}

/* mean, std, size as numbers; tensors go through mean + std * randn */
bool op_run_normal(struct ag_frame *f)
{
	return drawn(f, sized(f, 2, dtype_arg(f, 3, f->ctx->default_dtype)), NORMAL, arg_f(f, 0),
	             arg_f(f, 1));
}

bool op_run_normal_tensor(struct ag_frame *f)
{
	struct ag_ctx *c = f->ctx;
	struct ag_tensor *like = arg_t(f, 0) ? arg_t(f, 0) : arg_t(f, 1), *noise;
	struct ag_value mul[2], add[2];
	struct ag_grad_mode mode = ag_no_grad(c);

	noise = like ? op_zeros_as(c, like) : NULL;
	if (noise)
		draw_into(c, noise, NORMAL, 0, 1);
	mul[0] = ag_arg(noise);
	mul[1] = f->v[1];
	add[0] = ag_arg(op_call(c, AG_OP_mul, mul, 2));
	add[1] = f->v[0];
	noise = op_call(c, AG_OP_add, add, 2);
	ag_set_grad_mode(c, mode);
	return ag_give_ref(f, noise);
}

/* In-place draws: uniform_(from, to), normal_(mean, std) */
static bool redraw(struct ag_frame *f, enum draw draw)
{
	struct ag_tensor *a = arg_t(f, 0);
	struct ag_node *node;

	f->inplace = true;
	if (!ag_check_inplace(f->ctx, a, false) || !ag_need_float(f, a) ||
	    !ag_no_overlap(f->ctx, a))
		return false;
	node = ag_record1(f->ctx, AG_NODE_Zero, a, 0, 0);
	draw_into(f->ctx, a, draw, arg_f(f, 1), arg_f(f, 2));
	return ag_finish(f, ag_retain(a), node);
}

bool op_run_uniform(struct ag_frame *f)
{
	return redraw(f, UNIFORM);
}

bool op_run_normal_fill(struct ag_frame *f)
{
	return redraw(f, NORMAL);
}

bool op_run_exponential(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0);
	double *values, rate = arg_f(f, 1);
	float *floats;
	int64_t i;

	f->inplace = true;
	if (!ag_check_inplace(f->ctx, a, false) || !ag_need_float(f, a) ||
	    !ag_no_overlap(f->ctx, a))
		return false;
	if (ag_drawable(a)) {
		values = ag_alloc((size_t)a->numel + 1, sizeof(*values));
		floats = ag_alloc((size_t)a->numel + 1, sizeof(*floats));
		if (a->dtype == AG_F64)
			ag_random_fill_exponential_f64(&f->ctx->random, values, (size_t)a->numel,
			                               rate);
		else
			ag_random_fill_exponential_f32(&f->ctx->random, floats, (size_t)a->numel,
			                               rate);
		for (i = 0; a->dtype != AG_F64 && i < a->numel; i++)
			values[i] = floats[i];
		ag_put_plain(a, values);
		free(values);
		free(floats);
	}
	return ag_finish(f, ag_retain(a), ag_record1(f->ctx, AG_NODE_Zero, a, 0, 0));
}
