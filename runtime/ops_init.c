/* torch.nn.init as in-place ops on any tensor, drawn as init.c draws. */

#include <math.h>
#include <stdlib.h>

#include "runtime/element.h"
#include "runtime/init.h"
#include "runtime/op.h"

/* The tensor's values as a plain array that an initialiser can fill. */
struct canvas {
	struct ag_array array;
	double *values;
	float *floats;
};

static void canvas_open(struct canvas *c, struct ag_tensor *t)
{
	size_t n = (size_t)t->numel + 1;

	c->values = NULL;
	c->floats = NULL;
	c->array.shape = t->shape;
	c->array.ndim = t->ndim;
	c->array.f32 = NULL;
	c->array.f64 = NULL;
	if (!ag_drawable(t))
		return;
	if (t->dtype == AG_F64) {
		c->values = ag_alloc(n, sizeof(*c->values));
		c->array.f64 = c->values;
	} else {
		c->floats = ag_alloc(n, sizeof(*c->floats));
		c->array.f32 = c->floats;
	}
}

static void canvas_close(struct canvas *c, struct ag_tensor *t, bool keep)
{
	int64_t i;

	if (c->floats) {
		c->values = ag_alloc((size_t)t->numel + 1, sizeof(*c->values));
		for (i = 0; i < t->numel; i++)
			c->values[i] = c->floats[i];
	}
	if (c->values && keep)
		ag_put_plain(t, c->values);
	free(c->values);
	free(c->floats);
}

static enum ag_fan fan_of(struct ag_frame *f, uint32_t i)
{
	return arg_text_is(f, i, "fan_out") ? AG_FAN_OUT : AG_FAN_IN;
}

static const char *nonlinearity(struct ag_frame *f, uint32_t i, char *out, size_t size)
{
	size_t n = f->v[i].count < size - 1 ? f->v[i].count : size - 1, k;

	for (k = 0; k < n; k++)
		out[k] = f->v[i].as.text[k];
	out[n] = '\0';
	return out;
}

static bool fill_by(struct ag_frame *f, struct ag_array *a)
{
	struct ag_random *random = &f->ctx->random;
	char name[32];

	switch (f->op) {
	case AG_OP_init_xavier_uniform:
		return ag_init_xavier_uniform(random, a, arg_f(f, 1));
	case AG_OP_init_xavier_normal:
		return ag_init_xavier_normal(random, a, arg_f(f, 1));
	case AG_OP_init_kaiming_uniform:
		return ag_init_kaiming_uniform(random, a, arg_f(f, 1), fan_of(f, 2),
		                               nonlinearity(f, 3, name, sizeof(name)));
	case AG_OP_init_kaiming_normal:
		return ag_init_kaiming_normal(random, a, arg_f(f, 1), fan_of(f, 2),
		                              nonlinearity(f, 3, name, sizeof(name)));
	case AG_OP_init_trunc_normal:
		return ag_init_trunc_normal(random, a, arg_f(f, 1), arg_f(f, 2), arg_f(f, 3),
		                            arg_f(f, 4));
	case AG_OP_init_orthogonal:
		return ag_init_orthogonal(random, a, arg_f(f, 1));
	case AG_OP_init_sparse:
		return ag_init_sparse(random, a, arg_f(f, 1), arg_f(f, 2));
	case AG_OP_init_eye:
		return ag_init_eye(a);
	case AG_OP_init_dirac:
		return ag_init_dirac(a, arg_i(f, 1));
	default:
		return false;
	}
}

/* Whether there is work left for all the draws; those of a truncated normal are repeated. */
static bool is_affordable(struct ag_frame *f, const struct ag_tensor *t)
{
	double rounds = 1;

	if (f->op == AG_OP_init_eye || f->op == AG_OP_init_dirac || !ag_has_data(t))
		return true;
	if (f->op == AG_OP_init_trunc_normal)
		rounds = ag_init_trunc_rounds(arg_f(f, 1), arg_f(f, 2), arg_f(f, 3), arg_f(f, 4));
	rounds = rounds > 1 && !isinf(rounds) ? rounds : 1;
	return ag_work(f->ctx, (double)t->numel * rounds * AG_WORK_OF_DRAW);
}

/* Whether the filters of a dirac weight have a middle. */
static bool has_middle(struct ag_frame *f, const struct ag_tensor *t)
{
	for (int d = 2; f->op == AG_OP_init_dirac && d < t->ndim; d++) {
		if (!t->shape[d] && t->shape[0] && t->shape[1])
			return ag_fail(f->ctx, AG_ERR_INDEX,
			               "index 0 is out of bounds for dimension %d with size 0", d);
	}
	return true;
}

static bool initialise(struct ag_frame *f)
{
	struct ag_tensor *t = arg_t(f, 0);
	struct ag_grad_mode mode = ag_no_grad(f->ctx);
	struct canvas c;
	bool good;

	good = ag_need_float(f, t) && ag_check_inplace(f->ctx, t, false) &&
	       ag_no_overlap(f->ctx, t) && has_middle(f, t);
	ag_set_grad_mode(f->ctx, mode);
	if (!good)
		return false;
	if (!is_affordable(f, t))
		ag_storage_drop_data(t->storage);
	canvas_open(&c, t);
	good = fill_by(f, &c.array);
	canvas_close(&c, t, good);
	if (!good)
		return ag_fail(f->ctx, AG_ERR_VALUE,
		               "Fan in and fan out can not be computed for tensor with fewer than "
		               "2 dimensions");
	ag_bump(t);
	return ag_give_ref(f, t);
}

#define INIT(id)                                                                                   \
	bool op_run_init_##id(struct ag_frame *f)                                                  \
	{                                                                                          \
		return initialise(f);                                                              \
	}

INIT(xavier_uniform)
INIT(xavier_normal)
INIT(kaiming_uniform)
INIT(kaiming_normal)
INIT(trunc_normal)
INIT(orthogonal)
INIT(sparse)
INIT(eye)
INIT(dirac)

static bool constant(struct ag_frame *f, double value)
{
	struct ag_tensor *t = arg_t(f, 0);
	struct ag_grad_mode mode = ag_no_grad(f->ctx);
	struct ag_value v[2] = {ag_arg(t), ag_float(value)};
	bool good = op_inplace(f->ctx, AG_OP_fill, v, 2) != NULL;

	ag_set_grad_mode(f->ctx, mode);
	return good && ag_give_ref(f, t);
}

bool op_run_init_zeros(struct ag_frame *f)
{
	return constant(f, 0);
}

bool op_run_init_ones(struct ag_frame *f)
{
	return constant(f, 1);
}

bool op_run_init_constant(struct ag_frame *f)
{
	return constant(f, arg_f(f, 1));
}

/* init.uniform_ and init.normal_ are no_grad */
static bool quietly(struct ag_frame *f, enum ag_op op)
{
	struct ag_grad_mode mode = ag_no_grad(f->ctx);
	bool good = op_inplace(f->ctx, op, f->v, 3) != NULL;

	ag_set_grad_mode(f->ctx, mode);
	return good && ag_give_ref(f, arg_t(f, 0));
}

bool op_run_init_uniform(struct ag_frame *f)
{
	return quietly(f, AG_OP_uniform);
}

bool op_run_init_normal(struct ag_frame *f)
{
	return quietly(f, AG_OP_normal_fill);
}
