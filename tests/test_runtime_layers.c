/* Layers and optimizers: their bytes, their trees, and what a step leaves. */

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "tests/runtime_runner.h"
#include "tests/suites.h"

#define YES ag_bool(true)
#define NO  ag_bool(false)

START_TEST(fresh_layers_have_pytorchs_bytes)
{
	static const struct {
		const char *name;
		int numbers[4];
		int count;
		uint64_t bytes;
	} layers[] = {
	        {"Linear", {10, 20}, 2, 4 * 220},
	        {"Conv2d", {3, 8, 3}, 3, 4 * 224},
	        {"ConvTranspose2d", {3, 8, 3}, 3, 4 * 224},
	        {"BatchNorm1d", {16}, 1, 4 * 16 * 4 + 8},
	        {"LayerNorm", {16}, 1, 128},
	        {"GroupNorm", {2, 16}, 2, 128},
	        {"Embedding", {100, 8}, 2, 3200},
	        {"LSTM", {8, 16}, 2, 4 * 64 * 26},
	        {"GRU", {8, 16}, 2, 4 * 48 * 26},
	        {"RNN", {8, 16}, 2, 4 * 16 * 26},
	        {"LSTMCell", {8, 16}, 2, 4 * 64 * 26},
	        {"MultiheadAttention", {8, 2}, 2, 4 * (24 * 8 + 24 + 64 + 8)},
	        {"TransformerEncoderLayer",
	         {8, 2, 16},
	         3,
	         4 * (24 * 8 + 24 + 64 + 8 + 8 * 16 + 16 + 16 * 8 + 8 + 32)},
	        {"Bilinear", {3, 4, 5}, 3, 4 * 65},
	};
	struct ag_value v[4];
	struct ag_module *m;
	size_t i;
	int k;

	for (i = 0; i < sizeof(layers) / sizeof(layers[0]); i++) {
		for (k = 0; k < layers[i].count; k++)
			v[k] = N(layers[i].numbers[k]);
		m = rt_layer_values(layers[i].name, v, (size_t)layers[i].count);
		ck_assert_msg(rt_bytes() == layers[i].bytes, "%s: %llu bytes, not %llu",
		              layers[i].name, (unsigned long long)rt_bytes(),
		              (unsigned long long)layers[i].bytes);
		ag_module_release(m);
		ck_assert_uint_eq(rt_bytes(), 0);
	}
	m = LAYER("LSTM", N(8), N(16), N(2), YES, NO, R(0.0), YES);
	ck_assert_uint_eq(rt_bytes(), 4 * 64 * 2 * (26 + 50));
	ag_module_release(m);
	m = PLAIN("PReLU");
	ck_assert_uint_eq(rt_bytes(), 4);
	ag_module_release(m);
}
END_TEST

static const struct {
	const char *name;
	const char *keyword;
	double value;
	uint64_t made, stepped;
} optims[] = {
        {"SGD", "lr", 0.1, 0, 0},
        {"SGD", "momentum", 0.9, 0, 400},
        {"Adam", "lr", 0.1, 0, 804},
        {"AdamW", "lr", 0.1, 0, 804},
        {"Adam", "amsgrad", 1, 0, 1204},
        {"RMSprop", "lr", 0.1, 0, 404},
        {"RMSprop", "momentum", 0.9, 0, 804},
        {"RMSprop", "centered", 1, 0, 804},
        {"Adagrad", "lr", 0.1, 404, 404},
        {"Adadelta", "lr", 0.1, 0, 804},
        {"Adamax", "lr", 0.1, 0, 804},
        {"NAdam", "lr", 0.1, 0, 808},
        {"RAdam", "lr", 0.1, 0, 804},
};

START_TEST(optimizer_state_has_pytorchs_bytes)
{
	bool flag =
	        !strcmp(optims[_i].keyword, "amsgrad") || !strcmp(optims[_i].keyword, "centered");
	struct ag_keyword k = {optims[_i].keyword,
	                       flag ? ag_bool(true) : ag_float(optims[_i].value)};
	struct ag_args args = {NULL, 0, &k, 1};
	int64_t n = 100;
	struct ag_tensor *ones = rt_keep(ag_ones(rt.ctx, 1, &n)), *w, *grad;
	struct ag_optim *o;
	uint64_t before;

	w = rt_keep(ag_parameter(rt.ctx, ones, true));
	before = rt_bytes();
	o = ag_optim_new(rt.ctx, optims[_i].name, &w, 1, &args);
	rt_true(o != NULL);
	ck_assert_uint_eq(rt_bytes() - before, optims[_i].made);
	grad = ag_ones(rt.ctx, 1, &n);
	ck_assert(ag_set_grad(rt.ctx, w, grad));
	ag_release(grad);
	rt_step(o);
	ck_assert(ag_set_grad(rt.ctx, w, NULL));
	ck_assert_uint_eq(rt_bytes() - before, optims[_i].stepped);
	ck_assert(rt_item(rt_at(w, 0)) < 1);
	ck_assert_ptr_null(ag_grad_fn(rt.ctx, w));
	ag_optim_release(o);
	ck_assert_uint_eq(rt_bytes(), before);
}
END_TEST

START_TEST(adam_costs_sixteen_bytes_a_parameter)
{
	struct ag_module *net = LAYER("Linear", N(1000), N(1000), NO);
	struct ag_optim *opt = rt_optim("Adam", 1e-3, 0, net, NULL);

	rt_backward(CALL("torch.sum", T(rt_forward(net, rt_randn(2, 1, 1000)))));
	rt_step(opt);
	rt_sweep();
	ck_assert_uint_eq(rt_bytes(), 16 * 1000 * 1000 + 4);
	ag_optim_release(opt);
	ag_module_release(net);
}
END_TEST

START_TEST(batch_norm_counts_in_place_and_outside_the_graph)
{
	struct ag_module *bn = LAYER("BatchNorm1d", N(4));
	struct ag_tensor *mean = ag_module_tensor(bn, "running_mean");
	struct ag_storage *storage = ag_storage_of(mean);
	double batches;

	rt_forward(bn, rt_randn(2, 8, 4));
	rt_forward(bn, rt_randn(2, 8, 4));
	ck_assert_ptr_eq(ag_storage_of(ag_module_tensor(bn, "running_mean")), storage);
	ck_assert(!ag_requires_grad(mean));
	rt_true(ag_item(rt.ctx, ag_module_tensor(bn, "num_batches_tracked"), &batches));
	ck_assert(batches == 2);
	ag_module_train(bn, false);
	rt_forward(bn, rt_randn(2, 8, 4));
	rt_true(ag_item(rt.ctx, ag_module_tensor(bn, "num_batches_tracked"), &batches));
	ck_assert(batches == 2);
	ag_module_release(bn);
}
END_TEST

static bool append_name(void *data, const char *name, struct ag_tensor *t)
{
	char *text = data;

	(void)t;
	strncat(text, name, 200 - strlen(text));
	strncat(text, " ", 200 - strlen(text));
	return true;
}

START_TEST(trees_name_each_tensor_once)
{
	struct ag_module *shared = LAYER("Linear", N(2), N(2));
	struct ag_module *net = rt_sequential(ag_module_retain(shared), PLAIN("ReLU"), shared,
	                                      LAYER("BatchNorm1d", N(2)), NULL);
	char names[256] = "";

	ag_module_each(net, AG_SLOT_PARAMETER, append_name, names);
	ck_assert_str_eq(names, "0.weight 0.bias 3.weight 3.bias ");
	names[0] = '\0';
	ag_module_each(net, AG_SLOT_BUFFER, append_name, names);
	ck_assert_str_eq(names, "3.running_mean 3.running_var 3.num_batches_tracked ");
	ag_module_release(net);
}
END_TEST

START_TEST(copies_have_their_own_data_and_no_gradients)
{
	struct ag_module *net = LAYER("Linear", N(10), N(10), NO), *copy;
	uint64_t before;

	rt_backward(CALL("torch.sum", T(rt_forward(net, rt_randn(2, 1, 10)))));
	rt_sweep();
	before = rt_bytes();
	copy = ag_module_copy(rt.ctx, net);
	ck_assert_uint_eq(rt_bytes() - before, 400);
	ck_assert_ptr_null(ag_grad_of(ag_module_tensor(copy, "weight")));
	ck_assert(ag_is_parameter(ag_module_tensor(copy, "weight")));
	ag_module_release(copy);
	ag_module_release(net);
}
END_TEST

START_TEST(half_precision_halves_a_model)
{
	struct ag_module *net = LAYER("Linear", N(10), N(10), NO);
	enum ag_dtype half = AG_F16;

	rt_true(ag_module_to(rt.ctx, net, &half, NULL));
	ck_assert_uint_eq(rt_bytes(), 200);
	ck_assert_int_eq(ag_dtype(ag_module_tensor(net, "weight")), AG_F16);
	ag_module_release(net);
}
END_TEST

static bool stash(struct ag_ctx *ctx, void *data, struct ag_module *m, struct ag_tensor **tensors,
                  uint32_t count)
{
	(void)ctx;
	(void)m;
	*(struct ag_tensor **)data = count ? ag_retain(tensors[0]) : NULL;
	return true;
}

START_TEST(a_forward_hook_sees_the_output)
{
	struct ag_module *net = rt_sequential(LAYER("Linear", N(3), N(4)), PLAIN("ReLU"), NULL);
	struct ag_tensor *seen = NULL, *out;
	struct ag_closure closure = {&seen, NULL, NULL};
	uint64_t handle = ag_module_forward_hook(rt.ctx, ag_module_child(net, "1"), stash, closure);

	out = rt_forward(net, rt_randn(2, 2, 3));
	ck_assert_ptr_eq(seen, out);
	rt_keep(seen);
	seen = NULL;
	ag_module_hook_remove(ag_module_child(net, "1"), handle);
	rt_forward(net, rt_randn(2, 2, 3));
	ck_assert_ptr_null(seen);
	ag_module_release(net);
}
END_TEST

START_TEST(clipping_scales_in_place_and_gives_a_plain_scalar)
{
	int64_t n = 10;
	struct ag_tensor *w = rt_leaf(rt_keep(ag_ones(rt.ctx, 1, &n))), *total;
	uint64_t before;

	rt_backward(CALL("torch.sum", T(CALL("torch.mul", T(w), N(5)))));
	rt_sweep();
	w = rt_leaf(rt_keep(ag_ones(rt.ctx, 1, &n)));
	rt_backward(CALL("torch.sum", T(CALL("torch.mul", T(w), N(5)))));
	before = rt_bytes();
	rt_true(ag_clip_grad_norm(rt.ctx, &w, 1, 1, 2, &total));
	rt_keep(total);
	ck_assert_uint_eq(rt_bytes() - before, 4);
	ck_assert(!ag_requires_grad(total));
	ck_assert_double_eq_tol(rt_item(total), 5 * sqrt(10), 1e-5);
	ck_assert_double_eq_tol(rt_item(rt_at(ag_grad_of(w), 0)), 1 / sqrt(10), 1e-5);
}
END_TEST

/* Checkpointing n layers in about sqrt(n) segments keeps about sqrt(n) activations. */
static bool run_segment(struct ag_ctx *ctx, void *data, struct ag_tensor *const *inputs,
                        uint32_t ninputs, struct ag_results *outputs)
{
	struct ag_tensor *x = ag_retain(inputs[0]);
	int i, length = *(const int *)data;
	struct ag_value v[2];
	struct ag_args args = {v, 2, NULL, 0};
	bool good;

	(void)ninputs;
	for (i = 0; i < length && x; i++) {
		struct ag_tensor *next = ag_tanh(ctx, x);

		ag_release(x);
		x = next;
	}
	v[0] = v[1] = ag_arg(x);
	good = ag_call(ctx, "Tensor.view_as", &args, outputs);
	ag_release(x);
	return good;
}

START_TEST(checkpoints_keep_the_square_root)
{
	static const int length = 10;
	struct ag_closure closure = {(void *)(uintptr_t)&length, NULL, NULL};
	struct ag_tensor *x = NULL;
	int64_t n = 1000;
	uint64_t leaf_bytes, plain;
	int i;

	rt_set(&x, rt_leaf(rt_keep(ag_zeros(rt.ctx, 1, &n))));
	rt_sweep();
	leaf_bytes = rt_bytes();
	for (i = 0; i < 10; i++) {
		struct ag_results out;

		rt_true(ag_checkpoint(rt.ctx, run_segment, closure, &x, 1, true, false, &out));
		rt_set(&x, out.at[0]);
		ag_results_release(&out);
	}
	ck_assert_uint_eq(rt_bytes() - leaf_bytes, 10 * 4000);
	plain = rt_bytes();
	rt_set(&x, rt_leaf(rt_keep(ag_zeros(rt.ctx, 1, &n))));
	rt_sweep();
	ck_assert_uint_eq(rt_bytes(), leaf_bytes);
	for (i = 0; i < 100; i++) {
		struct ag_tensor *next = ag_tanh(rt.ctx, x);

		ag_release(x);
		x = next;
	}
	ck_assert_uint_eq(rt_bytes() - leaf_bytes, 100 * 4000);
	ck_assert(plain < rt_bytes());
	ag_release(x);
}
END_TEST

START_TEST(a_small_network_learns)
{
	struct ag_module *net;
	struct ag_optim *opt;
	struct ag_tensor *x = NULL, *y = NULL, *loss = NULL;
	double first = 0, last = 0;
	int step;

	ag_manual_seed(rt.ctx, 0);
	net = rt_sequential(LAYER("Linear", N(4), N(16)), PLAIN("Tanh"),
	                    LAYER("Linear", N(16), N(1)), NULL);
	opt = rt_optim("Adam", 0.01, 0, net, NULL);
	rt_set(&x, rt_randn(2, 64, 4));
	rt_set(&y, CALL("torch.sum", T(CALL("torch.sin", T(x))), N(1), YES));
	for (step = 0; step < 300; step++) {
		rt_set(&loss, CALL("F.mse_loss", T(rt_forward(net, x)), T(y)));
		rt_zero_grad(opt);
		rt_backward(loss);
		rt_step(opt);
		last = rt_item(loss);
		first = step ? first : last;
		rt_sweep();
	}
	ck_assert_msg(last < first / 20, "from %g to %g", first, last);
	ag_release(x), ag_release(y), ag_release(loss);
	ag_optim_release(opt);
	ag_module_release(net);
}
END_TEST

enum { DEEP = 50000, SMALL_STACK = 256 * 1024 };

START_TEST(nested_modules_go_in_constant_stack)
{
	struct ag_module *m = PLAIN("PReLU"), *outer;
	struct rlimit stack, small;
	int i;

	for (i = 0; i < DEEP; i++) {
		outer = ag_module_container(rt.ctx, "Sequential");
		ck_assert(ag_module_set_child(rt.ctx, outer, "0", m));
		ag_module_release(m);
		m = outer;
	}
	ck_assert_int_eq(getrlimit(RLIMIT_STACK, &stack), 0);
	small = stack;
	small.rlim_cur = SMALL_STACK;
	ck_assert_int_eq(setrlimit(RLIMIT_STACK, &small), 0);
	ag_module_release(m);
	ck_assert_int_eq(setrlimit(RLIMIT_STACK, &stack), 0);
	ck_assert_uint_eq(rt_bytes(), 0);
}
END_TEST

Suite *runtime_layers_suite(void)
{
	Suite *suite = suite_create("runtime_layers");
	TCase *tc = tcase_create("layers");

	tcase_add_checked_fixture(tc, rt_open, rt_close);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, fresh_layers_have_pytorchs_bytes);
	tcase_add_loop_test(tc, optimizer_state_has_pytorchs_bytes, 0,
	                    (int)(sizeof(optims) / sizeof(optims[0])));
	tcase_add_test(tc, adam_costs_sixteen_bytes_a_parameter);
	tcase_add_test(tc, batch_norm_counts_in_place_and_outside_the_graph);
	tcase_add_test(tc, trees_name_each_tensor_once);
	tcase_add_test(tc, copies_have_their_own_data_and_no_gradients);
	tcase_add_test(tc, half_precision_halves_a_model);
	tcase_add_test(tc, nested_modules_go_in_constant_stack);
	tcase_add_test(tc, a_forward_hook_sees_the_output);
	tcase_add_test(tc, clipping_scales_in_place_and_gives_a_plain_scalar);
	tcase_add_test(tc, checkpoints_keep_the_square_root);
	tcase_add_test(tc, a_small_network_learns);
	suite_add_tcase(suite, tc);
	return suite;
}
