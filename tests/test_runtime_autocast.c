/* Autocast: what programs under it keep, and when casts of weights go. */

#include <check.h>
#include <string.h>

#include "tests/measured_runner.h"
#include "tests/suites.h"

static struct ag_autocast region(bool enabled)
{
	return (struct ag_autocast){.enabled = enabled, .dtype = AG_BF16, .cache = true};
}

static struct ag_autocast enter(bool enabled)
{
	return ag_autocast_enter(rt.ctx, AG_CPU, region(enabled));
}

static void leave(struct ag_autocast before)
{
	ag_autocast_exit(rt.ctx, AG_CPU, before);
}

/* ---- the recorded programs */

enum around { NOTHING, SWITCHED_OFF, SWITCHED_ON };

static struct ag_tensor *forward(struct ag_module *net, struct ag_tensor *x)
{
	struct ag_tensor *zeros = CALL("torch.zeros", N(5), N(2));

	return CALL("F.mse_loss", T(rt_forward(net, x)), T(zeros));
}

static void autocast_steps(enum around outer, bool inner)
{
	struct ag_autocast before = {0}, outside = {0};
	struct ag_tensor *x = NULL, *loss = NULL;
	struct ag_module *net;
	struct ag_optim *opt;
	int step;

	ag_manual_seed(rt.ctx, 61);
	net = rt_sequential(LAYER("Conv2d", N(3), N(4), N(3)), PLAIN("ReLU"), PLAIN("Flatten"),
	                    LAYER("Linear", N(36), N(8)), PLAIN("Tanh"),
	                    LAYER("Linear", N(8), N(2)), NULL);
	opt = rt_optim("SGD", 0.1, 0, net, NULL);
	if (outer != NOTHING)
		outside = enter(outer == SWITCHED_ON);
	for (step = 0; step < STEPS; step++) {
		rt_set(&x, rt_randn(4, 5, 3, 5, 5));
		if (inner)
			before = enter(true);
		rt_set(&loss, forward(net, x));
		if (inner)
			leave(before);
		if (step % 4 != 3) {
			rt_zero_grad(opt);
			rt_backward(loss);
			rt_step(opt);
		}
		keep(loss);
		sample(step);
	}
	if (outer != NOTHING)
		leave(outside);
	drop(&x), drop(&loss);
	ag_optim_release(opt);
	ag_module_release(net);
}

static void autocast_in_each_step(void)
{
	autocast_steps(NOTHING, true);
}

static void autocast_around_all_steps(void)
{
	autocast_steps(SWITCHED_ON, false);
}

static void autocast_in_a_region_without(void)
{
	autocast_steps(SWITCHED_OFF, true);
}

static const struct measured programs[] = {
        {"autocast_in_each_step", autocast_in_each_step},
        {"autocast_around_all_steps", autocast_around_all_steps},
        {"autocast_in_a_region_without", autocast_in_a_region_without},
};

START_TEST(bytes_and_nodes_are_pytorchs)
{
	measured_check(&programs[_i], false);
	measured_check(&programs[_i], true);
}
END_TEST

/* ---- rules */

static enum ag_dtype product(struct ag_tensor *a, struct ag_tensor *b)
{
	return ag_dtype(CALL("torch.mm", T(a), T(b)));
}

START_TEST(regions_nest)
{
	struct ag_autocast outer, inner;
	struct ag_tensor *a;

	rt_open();
	a = rt_randn(2, 3, 3);
	ck_assert_int_eq(product(a, a), AG_F32);
	outer = enter(true);
	ck_assert_int_eq(product(a, a), AG_BF16);
	inner = enter(false);
	ck_assert_int_eq(product(a, a), AG_F32);
	leave(inner);
	ck_assert_int_eq(product(a, a), AG_BF16);
	leave(outer);
	ck_assert_int_eq(product(a, a), AG_F32);
	ck_assert(!ag_autocast_of(rt.ctx, AG_CPU).enabled);
	rt_close();
}
END_TEST

START_TEST(the_widest_operand_decides_for_joins)
{
	struct ag_tensor *wide, *half, *twice;
	struct ag_autocast before;

	rt_open();
	wide = rt_randn(2, 2, 2);
	half = CALL("Tensor.bfloat16", T(wide));
	twice = CALL("Tensor.double", T(wide));
	before = enter(true);
	{
		struct ag_value both[2] = {T(half), T(wide)}, halves[2] = {T(half), T(half)};

		ck_assert_int_eq(ag_dtype(CALL("torch.cat", ag_list(both, 2))), AG_F32);
		ck_assert_int_eq(ag_dtype(CALL("torch.cat", ag_list(halves, 2))), AG_BF16);
		ck_assert_int_eq(ag_dtype(both[1].as.tensor), AG_F32);
	}
	ck_assert_int_eq(product(twice, twice), AG_F64);
	ck_assert_int_eq(ag_dtype(CALL("F.mse_loss", T(half), T(half))), AG_F32);
	leave(before);
	rt_close();
}
END_TEST

/* Bytes that a second product with the same leaf allocates beyond its own result. */
static uint64_t second_cast(bool cache)
{
	struct ag_autocast before, on = region(true);
	struct ag_tensor *w, *x, *first, *second;
	uint64_t bytes;

	rt_open();
	w = rt_leaf(rt_randn(2, 16, 16));
	x = CALL("Tensor.bfloat16", T(rt_randn(2, 2, 16)));
	on.cache = cache;
	before = ag_autocast_enter(rt.ctx, AG_CPU, on);
	first = CALL("torch.mm", T(x), T(w));
	bytes = rt_bytes();
	second = CALL("torch.mm", T(first), T(w));
	bytes = rt_bytes() - bytes - ag_storage_bytes(ag_storage_of(second));
	leave(before);
	rt_close();
	return bytes;
}

START_TEST(casts_of_leaves_are_kept_while_a_region_lasts)
{
	ck_assert_uint_eq(second_cast(true), 0);
	ck_assert_uint_eq(second_cast(false), 16 * 16 * 2);
}
END_TEST

START_TEST(what_is_kept_goes_with_the_outermost_region)
{
	struct ag_autocast outer, inner;
	struct ag_tensor *w = NULL, *x = NULL;
	uint64_t bytes;

	rt_open();
	rt_set(&w, rt_leaf(rt_randn(2, 16, 16)));
	rt_set(&x, CALL("Tensor.bfloat16", T(rt_randn(2, 2, 16))));
	rt_sweep();
	bytes = rt_bytes();
	outer = enter(false);
	inner = enter(true);
	CALL("torch.mm", T(x), T(w));
	rt_sweep();
	ck_assert_uint_eq(rt_bytes() - bytes, 16 * 16 * 2);
	leave(inner);
	ck_assert_uint_eq(rt_bytes() - bytes, 16 * 16 * 2);
	leave(outer);
	ck_assert_uint_eq(rt_bytes(), bytes);
	ck_assert_uint_eq(rt_nodes(), 0);
	drop(&w), drop(&x);
	rt_close();
}
END_TEST

START_TEST(casts_made_without_gradients_serve_with_them)
{
	struct ag_autocast before;
	struct ag_grad_mode mode;
	struct ag_tensor *w, *x;
	uint64_t bytes;

	rt_open();
	w = rt_leaf(rt_randn(2, 16, 16));
	x = CALL("Tensor.bfloat16", T(rt_randn(2, 2, 16)));
	before = enter(true);
	mode = ag_inference(rt.ctx);
	bytes = rt_bytes();
	ck_assert(!ag_requires_grad(CALL("torch.mm", T(x), T(w))));
	ag_set_grad_mode(rt.ctx, mode);
	ck_assert_uint_eq(rt_bytes() - bytes, 2 * 16 * 2); /* nothing is kept */
	mode = ag_no_grad(rt.ctx);
	ck_assert(!ag_requires_grad(CALL("torch.mm", T(x), T(w))));
	ag_set_grad_mode(rt.ctx, mode);
	ck_assert(ag_requires_grad(CALL("torch.mm", T(x), T(w))));
	leave(before);
	rt_close();
}
END_TEST

static bool run_product(struct ag_ctx *ctx, void *data, struct ag_tensor *const *inputs,
                        uint32_t ninputs, struct ag_results *outputs)
{
	struct ag_value v[2] = {ag_arg(inputs[0]), ag_arg(inputs[0])};
	bool *seen = data;

	(void)ninputs;
	*seen = ag_autocast_of(ctx, AG_CPU).enabled;
	return ag_call_op(ctx, AG_OP_mm, false, v, 2, outputs);
}

START_TEST(a_checkpoint_runs_again_in_its_region)
{
	bool seen = false;
	struct ag_closure closure = {&seen, NULL, NULL};
	struct ag_autocast before;
	struct ag_tensor *x, *y = NULL;
	struct ag_results out;

	rt_open();
	x = rt_leaf(rt_randn(2, 3, 3));
	before = enter(true);
	rt_true(ag_checkpoint(rt.ctx, run_product, closure, &x, 1, _i == 1, true, &out));
	rt_set(&y, ag_results_take(&out, 0));
	ag_results_release(&out);
	leave(before);
	ck_assert(seen);
	ck_assert_int_eq(ag_dtype(y), AG_BF16);
	seen = false;
	rt_backward(CALL("torch.sum", T(y)));
	ck_assert(seen);
	ck_assert_int_eq(ag_dtype(ag_grad_of(x)), AG_F32);
	ck_assert(!ag_autocast_of(rt.ctx, AG_CPU).enabled);
	drop(&y);
	rt_close();
}
END_TEST

START_TEST(each_device_has_its_own_region)
{
	struct ag_options options = {.model_caching = true};
	struct ag_autocast before, on = {.enabled = true, .dtype = AG_F16, .cache = true};
	struct ag_tensor *here, *there;

	rt_open_with(&options);
	here = rt_randn(2, 3, 3);
	ag_set_default_device(rt.ctx, AG_CUDA);
	there = rt_randn(2, 3, 3);
	before = ag_autocast_enter(rt.ctx, AG_CUDA, on);
	ck_assert_int_eq(product(there, there), AG_F16);
	there = CALL("Tensor.half", T(there));
	ck_assert_int_eq(ag_dtype(CALL("torch.softmax", T(there), N(0))), AG_F32);
	ck_assert_int_eq(ag_dtype(CALL("torch.softmax", T(there), N(0), ag_type(AG_F16))), AG_F16);
	ag_set_default_device(rt.ctx, AG_CPU);
	ck_assert_int_eq(product(here, here), AG_F32);
	ag_autocast_exit(rt.ctx, AG_CUDA, before);
	rt_close();
}
END_TEST

Suite *runtime_autocast_suite(void)
{
	Suite *suite = suite_create("runtime_autocast");
	TCase *tcase = tcase_create("autocast");

	tcase_add_loop_test(tcase, bytes_and_nodes_are_pytorchs, 0,
	                    (int)(sizeof(programs) / sizeof(programs[0])));
	tcase_add_test(tcase, regions_nest);
	tcase_add_test(tcase, the_widest_operand_decides_for_joins);
	tcase_add_test(tcase, casts_of_leaves_are_kept_while_a_region_lasts);
	tcase_add_test(tcase, what_is_kept_goes_with_the_outermost_region);
	tcase_add_test(tcase, casts_made_without_gradients_serve_with_them);
	tcase_add_loop_test(tcase, a_checkpoint_runs_again_in_its_region, 0, 2);
	tcase_add_test(tcase, each_device_has_its_own_region);
	suite_add_tcase(suite, tcase);
	return suite;
}
