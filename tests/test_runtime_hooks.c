/* What the program hands to a graph: hooks, functions of its own, checkpoints. */

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/runtime_runner.h"
#include "tests/suites.h"

static int released;

static void count_release(void *data)
{
	(void)data;
	released++;
}

static struct ag_tensor *double_it(struct ag_ctx *ctx, void *data, struct ag_tensor *grad)
{
	(void)data;
	return ag_mul_number(ctx, grad, 2);
}

START_TEST(hooks_change_gradients_and_die_with_their_tensor)
{
	struct ag_closure closure = {NULL, count_release, NULL};
	struct ag_tensor *w = NULL, *h = NULL;

	released = 0;
	rt_set(&w, rt_ones_leaf(2));
	rt_set(&h, CALL("torch.mul", T(w), N(3)));
	ck_assert(ag_tensor_hook(rt.ctx, h, double_it, closure) != 0);
	ck_assert(ag_tensor_hook(rt.ctx, w, double_it, closure) != 0);
	rt_true(ag_retain_grad(rt.ctx, h));
	rt_backward(CALL("torch.sum", T(h)));
	ck_assert(rt_item(rt_at(ag_grad_of(w), 0)) == 12);
	ck_assert(rt_item(rt_at(ag_grad_of(h), 0)) == 2);
	rt_sweep();
	ck_assert_int_eq(released, 0);
	ag_release(h);
	ck_assert_int_eq(released, 1);
	ag_release(w);
	ck_assert_int_eq(released, 2);
}
END_TEST

/* y = x * 3, saving x */

static bool triple_backward(struct ag_ctx *ctx, void *data, struct ag_custom *fn,
                            struct ag_tensor *const *grads, uint32_t ngrads,
                            struct ag_tensor **grad_inputs, uint32_t ninputs)
{
	struct ag_tensor *x = ag_custom_saved(fn, 0);

	(void)data;
	if (!x || ngrads != 1 || ninputs != 1)
		return false;
	ag_release(x);
	grad_inputs[0] = ag_mul_number(ctx, grads[0], 3);
	return grad_inputs[0] != NULL;
}

START_TEST(custom_functions_save_and_release)
{
	struct ag_closure closure = {NULL, count_release, NULL};
	struct ag_tensor *w = NULL, *x = NULL, *y;
	struct ag_custom *fn;
	uint64_t before;

	released = 0;
	rt_set(&w, rt_ones_leaf(100));
	rt_set(&x, CALL("torch.mul", T(w), N(1)));
	rt_sweep();
	before = rt_bytes();
	fn = ag_custom_begin(rt.ctx, "TripleBackward", triple_backward, closure);
	y = ag_mul_number(rt.ctx, x, 3);
	rt_true(ag_custom_save(fn, &x, 1));
	rt_true(ag_custom_end(fn, &x, 1, &y, 1));
	ck_assert_str_eq(ag_node_name(ag_grad_fn(rt.ctx, y)), "TripleBackward");
	ck_assert_uint_eq(rt_bytes() - before, 400);
	ag_release(x);
	ck_assert_uint_eq(rt_bytes() - before, 400);
	rt_backward(CALL("torch.sum", T(y)));
	rt_sweep();
	/* x and the number that its own node saved are gone, the gradient came. */
	ck_assert_uint_eq(rt_bytes() - before, 400 + 400 - 400 - 8);
	ck_assert(rt_item(rt_at(ag_grad_of(w), 0)) == 3);
	ck_assert_int_eq(released, 0);
	ag_release(y);
	ck_assert_int_eq(released, 1);
	ag_release(w);
}
END_TEST

static bool exp_sin(struct ag_ctx *ctx, void *data, struct ag_tensor *const *inputs,
                    uint32_t ninputs, struct ag_results *outputs)
{
	struct ag_value v;
	struct ag_args args = {&v, 1, NULL, 0};
	struct ag_tensor *e;
	bool good;

	(void)data;
	(void)ninputs;
	e = ag_exp(ctx, inputs[0]);
	v = ag_arg(e);
	good = ag_call(ctx, "torch.sin", &args, outputs);
	ag_release(e);
	return good;
}

START_TEST(a_checkpoint_keeps_inputs_and_generator_state)
{
	struct ag_closure none = {NULL, NULL, NULL};
	struct ag_results out;
	struct ag_tensor *w = NULL, *x = NULL, *y = NULL;
	uint64_t before;

	rt_set(&w, rt_ones_leaf(100));
	rt_sweep();
	before = rt_bytes();
	rt_set(&x, CALL("torch.mul", T(w), N(1)));
	rt_true(ag_checkpoint(rt.ctx, exp_sin, none, &x, 1, true, true, &out));
	ag_release(x);
	rt_sweep();
	ck_assert_uint_eq(rt_bytes() - before, 400 + 400 + 8 + 5056);
	rt_set(&y, out.at[0]);
	ag_results_release(&out);
	rt_backward(CALL("torch.sum", T(y)));
	ck_assert_double_eq_tol(rt_item(rt_at(ag_grad_of(w), 0)), 2.718281828 * -0.911733915, 1e-5);
	ck_assert(ag_set_grad(rt.ctx, w, NULL));
	rt_sweep();
	ck_assert_uint_eq(rt_bytes() - before, 400 + 5056);
	ag_release(y), ag_release(w);
}
END_TEST

Suite *runtime_hooks_suite(void)
{
	Suite *suite = suite_create("runtime_hooks");
	TCase *tc = tcase_create("hooks");

	tcase_add_checked_fixture(tc, rt_open, rt_close);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, hooks_change_gradients_and_die_with_their_tensor);
	tcase_add_test(tc, custom_functions_save_and_release);
	tcase_add_test(tc, a_checkpoint_keeps_inputs_and_generator_state);
	suite_add_tcase(suite, tc);
	return suite;
}
