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

static uint64_t peak_of(void)
{
	struct ag_memory memory;

	ag_memory(rt.ctx, &memory);
	ag_reset_peak(rt.ctx);
	return memory.peak_bytes;
}

static bool exp_sin_tanh(struct ag_ctx *ctx, void *data, struct ag_tensor *const *inputs,
                         uint32_t ninputs, struct ag_results *outputs)
{
	struct ag_value v;
	struct ag_args args = {&v, 1, NULL, 0};
	struct ag_results sin;
	bool good;

	if (data)
		++*(int *)data;
	if (!exp_sin(ctx, NULL, inputs, ninputs, &sin))
		return false;
	v = ag_arg(sin.at[0]);
	good = ag_call(ctx, "torch.tanh", &args, outputs);
	ag_results_release(&sin);
	return good;
}

/* What PyTorch 2.13 holds, and held at most, at each step of
 *     x = w * 1; y = checkpoint(lambda t: t.exp().sin().tanh(), x); del x
 *     l = y.sum(); del y; l.backward(retain_graph=True); l.backward(); del l  */
static const struct {
	bool reentrant, preserve;
	uint64_t nodes; /* of l */
	uint64_t live[7], peak[7];
} kinds[] = {
        {true,
         true,
         4,
         {8008, 17064, 17064, 13068, 17068, 13060, 8000},
         {8012, 21064, 17064, 17068, 33072, 37072, 13060}},
        {true,
         false,
         4,
         {8008, 12008, 12008, 8012, 12012, 8004, 8000},
         {8012, 16008, 12008, 12012, 28016, 32016, 8004}},
        {false,
         true,
         6,
         {8008, 17064, 17064, 13068, 17068, 8004, 8000},
         {8012, 21064, 17064, 17068, 30128, 34128, 8004}},
        {false,
         false,
         6,
         {8008, 12008, 12008, 8012, 12012, 8004, 8000},
         {8012, 16008, 12008, 12012, 24016, 28016, 8004}},
};

static int at;

static void step_is(uint64_t before)
{
	int kind = at / 7, step = at % 7;
	uint64_t peak;

	rt_sweep();
	at++;
	ck_assert_msg(rt_bytes() - before == kinds[kind].live[step], "kind %d, step %d: %ld", kind,
	              step, (long)(rt_bytes() - before));
	peak = peak_of() - before;
	ck_assert_msg(peak == kinds[kind].peak[step], "kind %d, step %d: peak %ld", kind, step,
	              (long)peak);
}

START_TEST(checkpoints_hold_what_pytorch_does)
{
	struct ag_closure none = {NULL, NULL, NULL};
	struct ag_results out;
	struct ag_tensor *w = NULL, *x = NULL, *y = NULL, *l = NULL;
	uint64_t before = rt_bytes();

	at = 7 * _i;
	rt_set(&w, rt_ones_leaf(1000));
	rt_sweep();
	peak_of();
	rt_set(&x, CALL("torch.mul", T(w), N(1)));
	step_is(before);
	rt_true(ag_checkpoint(rt.ctx, exp_sin_tanh, none, &x, 1, kinds[_i].reentrant,
	                      kinds[_i].preserve, &out));
	rt_set(&y, out.at[0]);
	ag_results_release(&out);
	step_is(before);
	ag_release(x);
	step_is(before);
	rt_set(&l, CALL("torch.sum", T(y)));
	ag_release(y);
	step_is(before);
	rt_true(ag_backward(rt.ctx, l, NULL, AG_RETAIN_GRAPH));
	step_is(before);
	rt_backward(l);
	ck_assert_uint_eq(rt_nodes(), kinds[_i].nodes);
	step_is(before);
	ag_release(l);
	step_is(before);
	ag_release(w);
}
END_TEST

/* With and without checkpoint(s): first and second derivatives are the same. */
START_TEST(second_derivatives_go_through_checkpoints)
{
	struct ag_tensor *w = NULL, *x = NULL, *y[2] = {NULL}, *g[2], *gg[2];
	int runs = 0, i;
	struct ag_closure closure = {&runs, NULL, NULL};
	struct ag_results out;

	rt_set(&w, rt_leaf(rt_randn(1, 10)));
	rt_set(&x, CALL("torch.mul", T(w), T(w)));
	rt_true(exp_sin_tanh(rt.ctx, NULL, &x, 1, &out));
	rt_set(&y[0], out.at[0]);
	ag_results_release(&out);
	rt_true(ag_checkpoint(rt.ctx, exp_sin_tanh, closure, &x, 1, false, true, &out));
	rt_set(&y[1], out.at[0]);
	ag_results_release(&out);
	for (i = 0; i < 2; i++) {
		struct ag_tensor *sum = CALL("torch.sum", T(y[i])), *norm;

		rt_true(ag_grad(rt.ctx, &sum, NULL, 1, &w, 1, AG_CREATE_GRAPH, &g[i]));
		norm = CALL("torch.sum", T(CALL("torch.pow", T(g[i]), N(2))));
		rt_true(ag_grad(rt.ctx, &norm, NULL, 1, &w, 1, AG_RETAIN_GRAPH, &gg[i]));
	}
	ck_assert_int_eq(runs, 3); /* once for each backward that comes by */
	for (i = 0; i < 10; i++) {
		ck_assert_double_eq_tol(rt_item(rt_at(g[0], i)), rt_item(rt_at(g[1], i)), 1e-6);
		ck_assert_double_eq_tol(rt_item(rt_at(gg[0], i)), rt_item(rt_at(gg[1], i)), 1e-4);
	}
	for (i = 0; i < 2; i++)
		ag_release(y[i]), ag_release(g[i]), ag_release(gg[i]);
	ag_release(x), ag_release(w);
}
END_TEST

static bool nested(struct ag_ctx *ctx, void *data, struct ag_tensor *const *inputs,
                   uint32_t ninputs, struct ag_results *outputs)
{
	struct ag_closure closure = {data, NULL, NULL};
	struct ag_results inner;
	bool good;

	if (!ag_checkpoint(ctx, exp_sin_tanh, closure, inputs, ninputs, false, false, &inner))
		return false;
	good = exp_sin_tanh(ctx, NULL, inner.at, 1, outputs);
	ag_results_release(&inner);
	return good;
}

START_TEST(checkpoints_nest)
{
	struct ag_tensor *w = NULL, *x = NULL;
	int runs = 0;
	struct ag_closure closure = {&runs, NULL, NULL};
	struct ag_results out, plain;
	uint64_t before;

	rt_set(&w, rt_ones_leaf(100));
	rt_set(&x, CALL("torch.mul", T(w), T(w)));
	rt_sweep();
	before = rt_bytes();
	rt_true(ag_checkpoint(rt.ctx, nested, closure, &x, 1, false, false, &out));
	ck_assert_uint_eq(rt_bytes() - before, 400);
	rt_backward(CALL("torch.sum", T(out.at[0])));
	rt_sweep();
	ck_assert_uint_eq(rt_bytes() - before, 400 + 400);
	ck_assert_int_eq(runs, 3);
	ag_release(x);
	x = ag_retain(ag_grad_of(w));
	rt_true(ag_set_grad(rt.ctx, w, NULL));
	ag_results_release(&out);
	rt_true(exp_sin_tanh(rt.ctx, NULL, (struct ag_tensor *[]){CALL("torch.mul", T(w), T(w))}, 1,
	                     &out));
	rt_true(exp_sin_tanh(rt.ctx, NULL, out.at, 1, &plain));
	rt_backward(CALL("torch.sum", T(plain.at[0])));
	ck_assert_double_eq_tol(rt_item(rt_at(ag_grad_of(w), 3)), rt_item(rt_at(x, 3)), 1e-6);
	ag_results_release(&out), ag_results_release(&plain);
	ag_release(x), ag_release(w);
}
END_TEST

static bool changes_its_mind(struct ag_ctx *ctx, void *data, struct ag_tensor *const *inputs,
                             uint32_t ninputs, struct ag_results *outputs)
{
	int64_t half = ++*(int *)data == 1 ? 10 : 5;
	struct ag_value v[4] = {ag_arg(inputs[0]), ag_int(0), ag_int(0), ag_int(half)};
	struct ag_args args = {v, 4, NULL, 0};
	struct ag_results part;
	bool good;

	(void)ninputs;
	if (!ag_call(ctx, "torch.narrow", &args, &part))
		return false;
	good = exp_sin(ctx, NULL, part.at, 1, outputs);
	ag_results_release(&part);
	return good;
}

START_TEST(a_second_run_must_be_like_the_first)
{
	struct ag_tensor *w = NULL;
	int runs = 0;
	struct ag_closure closure = {&runs, NULL, NULL};
	struct ag_results out;

	rt_set(&w, rt_ones_leaf(10));
	rt_true(ag_checkpoint(rt.ctx, changes_its_mind, closure, &w, 1, false, true, &out));
	ck_assert(rt_fails(ag_backward(rt.ctx, CALL("torch.sum", T(out.at[0])), NULL, 0),
	                   "different metadata"));
	ag_results_release(&out);
	rt_true(ag_checkpoint(rt.ctx, exp_sin, closure, &w, 1, true, true, &out));
	ck_assert(rt_fails(ag_backward_many(rt.ctx,
	                                    (struct ag_tensor *[]){CALL("torch.sum", T(out.at[0]))},
	                                    NULL, 1, &w, 1, 0),
	                   "use_reentrant=True, torch.utils.checkpoint is incompatible"));
	ag_results_release(&out);
	ag_release(w);
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
	tcase_add_loop_test(tc, checkpoints_hold_what_pytorch_does, 0,
	                    (int)(sizeof(kinds) / sizeof(kinds[0])));
	tcase_add_test(tc, second_derivatives_go_through_checkpoints);
	tcase_add_test(tc, checkpoints_nest);
	tcase_add_test(tc, a_second_run_must_be_like_the_first);
	suite_add_tcase(suite, tc);
	return suite;
}
