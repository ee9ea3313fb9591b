/* The programs of tools/record_programs.py in C: at the end of every iteration live
 * bytes and nodes equal what real PyTorch's were. */

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/measured_runner.h"
#include "tests/suites.h"

static struct ag_tensor *sub(struct ag_tensor *a, struct ag_tensor *b)
{
	return CALL("torch.sub", T(a), T(b));
}

static struct ag_tensor *square_mean(struct ag_tensor *t)
{
	return CALL("torch.mean", T(CALL("torch.pow", T(t), N(2))));
}

/* ---- the loss appended to a list */

static void loss_append(bool leak)
{
	struct ag_module *model;
	struct ag_optim *opt;
	struct ag_tensor *inputs = NULL, *targets = NULL, *pred = NULL, *loss = NULL;
	int step;

	ag_manual_seed(rt.ctx, 1);
	model = rt_sequential(LAYER("Linear", N(12), N(32)), LAYER("ReLU", ag_bool(false)),
	                      LAYER("Linear", N(32), N(1)), NULL);
	opt = rt_optim("SGD", 0.05, 0, model, NULL);
	rt_set(&inputs, rt_randn(3, 20, 16, 12));
	rt_set(&targets, rt_randn(3, 20, 16, 1));
	for (step = 0; step < STEPS; step++) {
		rt_zero_grad(opt);
		rt_set(&pred, rt_forward(model, rt_at(inputs, step)));
		rt_set(&loss, CALL("F.mse_loss", T(pred), T(rt_at(targets, step))));
		rt_backward(loss);
		rt_step(opt);
		if (leak)
			keep(loss);
		sample(step);
	}
	drop(&inputs), drop(&targets), drop(&pred), drop(&loss);
	ag_optim_release(opt);
	ag_module_release(model);
}

static void losses_in_a_list(void)
{
	loss_append(true);
}

static void losses_used_and_dropped(void)
{
	loss_append(false);
}

/* ---- a validation error summed in place into a tensor */

static void error_summed_in_place(void)
{
	struct ag_module *net;
	struct ag_tensor *batches = NULL, *total = NULL, *recon = NULL, *err = NULL, *batch = NULL;
	struct ag_results rows;
	struct ag_args unbind;
	struct ag_value v;
	int step;

	ag_manual_seed(rt.ctx, 3);
	net = rt_sequential(LAYER("Linear", N(6), N(24)), PLAIN("Tanh"),
	                    LAYER("Linear", N(24), N(6)), NULL);
	rt_set(&batches, rt_randn(3, 20, 10, 6));
	rt_set(&total, rt_keep(ag_zeros(rt.ctx, 0, NULL)));
	v = T(batches);
	unbind = (struct ag_args){&v, 1, NULL, 0};
	rt_true(ag_call(rt.ctx, "torch.unbind", &unbind, &rows));
	for (step = 0; step < STEPS; step++) {
		rt_set(&batch, rows.at[step]);
		rt_set(&recon, rt_forward(net, batch));
		rt_set(&err, CALL("torch.mean", T(CALL("torch.abs", T(sub(recon, batch))))));
		rt_true(ag_add_(rt.ctx, total, err, 1));
		sample(step);
	}
	ag_results_release(&rows);
	drop(&batches), drop(&total), drop(&recon), drop(&err), drop(&batch);
	ag_module_release(net);
}

/* ---- total = total + loss, with momentum */

static void total_rebound(void)
{
	struct ag_module *net;
	struct ag_optim *opt;
	struct ag_tensor *x = NULL, *y = NULL, *total = NULL, *loss = NULL;
	int step;

	ag_manual_seed(rt.ctx, 4);
	net = LAYER("Linear", N(20), N(5));
	opt = rt_optim("SGD", 0.01, 0.9, net, NULL);
	rt_set(&x, rt_randn(2, 64, 20));
	rt_set(&y, rt_randn(2, 64, 5));
	rt_set(&total, CALL("torch.tensor", R(0.0)));
	for (step = 0; step < STEPS; step++) {
		rt_set(&loss, CALL("F.smooth_l1_loss", T(rt_forward(net, x)), T(y)));
		rt_zero_grad(opt);
		rt_backward(loss);
		rt_step(opt);
		rt_set(&total, CALL("torch.add", T(total), T(loss)));
		sample(step);
	}
	drop(&x), drop(&y), drop(&total), drop(&loss);
	ag_optim_release(opt);
	ag_module_release(net);
}

/* ---- a moving average of the weights, with gradients on */

static void weights_averaged_with_grad(void)
{
	struct ag_module *net;
	struct ag_optim *opt;
	struct ag_tensor **params, *x = NULL, *loss = NULL, *shadow[2] = {NULL, NULL};
	uint32_t count, i;
	int step;

	ag_manual_seed(rt.ctx, 12);
	net = LAYER("Linear", N(16), N(8));
	params = rt_parameters(net, NULL, &count);
	for (i = 0; i < count; i++)
		rt_set(&shadow[i], CALL("torch.clone", T(CALL("Tensor.detach", T(params[i])))));
	opt = rt_optim("SGD", 0.1, 0, net, NULL);
	rt_set(&x, rt_randn(2, 10, 16));
	for (step = 0; step < STEPS; step++) {
		rt_set(&loss, CALL("torch.mean", T(CALL("torch.square", T(rt_forward(net, x))))));
		rt_zero_grad(opt);
		rt_backward(loss);
		rt_step(opt);
		for (i = 0; i < count; i++)
			rt_set(&shadow[i],
			       CALL("torch.add", T(CALL("torch.mul", T(shadow[i]), R(0.95))),
			            T(CALL("torch.mul", T(params[i]), R(1 - 0.95)))));
		sample(step);
	}
	drop(&x), drop(&loss), drop(&shadow[0]), drop(&shadow[1]);
	free(params);
	ag_optim_release(opt);
	ag_module_release(net);
}

/* ---- evaluation outputs kept with their graphs */

static void outputs_of_evaluation(void)
{
	struct ag_module *model;
	struct ag_tensor *batches = NULL, *batch = NULL;
	struct ag_results rows;
	struct ag_args unbind;
	struct ag_value v;
	int step;

	ag_manual_seed(rt.ctx, 25);
	model = rt_sequential(LAYER("Linear", N(12), N(48)), LAYER("ReLU", ag_bool(false)),
	                      LAYER("Dropout", R(0.3)), LAYER("Linear", N(48), N(2)), NULL);
	rt_set(&batches, rt_randn(3, 20, 8, 12));
	ag_module_train(model, false);
	v = T(batches);
	unbind = (struct ag_args){&v, 1, NULL, 0};
	rt_true(ag_call(rt.ctx, "torch.unbind", &unbind, &rows));
	for (step = 0; step < STEPS; step++) {
		rt_set(&batch, rows.at[step]);
		keep(rt_forward(model, batch));
		sample(step);
	}
	ag_results_release(&rows);
	drop(&batches), drop(&batch);
	ag_module_release(model);
}

/* ---- second derivatives: a gradient penalty */

static void gradient_penalty(bool leak)
{
	struct ag_module *critic;
	struct ag_optim *opt;
	struct ag_tensor *x = NULL, *value = NULL, *grad = NULL, *penalty = NULL, *g;
	int step;

	ag_manual_seed(rt.ctx, 26);
	critic = rt_sequential(LAYER("Linear", N(5), N(20)), PLAIN("Tanh"),
	                       LAYER("Linear", N(20), N(1)), NULL);
	opt = rt_optim("SGD", 1e-3, 0, critic, NULL);
	for (step = 0; step < STEPS; step++) {
		rt_set(&x, rt_leaf(rt_randn(2, 6, 5)));
		rt_set(&value, CALL("torch.sum", T(rt_forward(critic, x))));
		rt_true(ag_grad(rt.ctx, &value, NULL, 1, &x, 1, AG_CREATE_GRAPH, &g));
		rt_set(&grad, rt_keep(g));
		g = CALL("Tensor.norm", T(grad), N(2), N(1));
		rt_set(&penalty, square_mean(CALL("torch.sub", T(g), N(1))));
		rt_zero_grad(opt);
		rt_backward(CALL("torch.add", T(value), T(CALL("torch.mul", T(penalty), N(10)))));
		rt_step(opt);
		if (leak)
			keep(penalty);
		sample(step);
	}
	drop(&x), drop(&value), drop(&grad), drop(&penalty);
	ag_optim_release(opt);
	ag_module_release(critic);
}

static void gradient_penalties(void)
{
	gradient_penalty(true);
}

/* ---- feature maps of a small convolutional net */

static void feature_maps(void)
{
	struct ag_module *net = ag_module_container(rt.ctx, "Net"), *conv1, *conv2, *fc;
	struct ag_optim *opt;
	struct ag_tensor *x = NULL, *y = NULL, *logits = NULL, *feat = NULL, *loss = NULL, *h;
	struct ag_value size = N(4);
	int step;

	ag_manual_seed(rt.ctx, 31);
	conv1 = LAYER("Conv2d", N(1), N(4), N(3), N(1), N(1));
	conv2 = LAYER("Conv2d", N(4), N(8), N(3));
	fc = LAYER("Linear", N(72), N(10));
	ag_module_set_child(rt.ctx, net, "conv1", conv1);
	ag_module_set_child(rt.ctx, net, "conv2", conv2);
	ag_module_set_child(rt.ctx, net, "fc", fc);
	opt = rt_optim("SGD", 0.01, 0.9, net, NULL);
	for (step = 0; step < STEPS; step++) {
		rt_set(&x, rt_randn(4, 4, 1, 16, 16));
		rt_set(&y, CALL("torch.randint", N(0), N(10), ag_list(&size, 1)));
		h = CALL("F.max_pool2d", T(CALL("F.relu", T(rt_forward(conv1, x)))), N(2));
		h = CALL("F.avg_pool2d", T(CALL("F.relu", T(rt_forward(conv2, h)))), N(2));
		rt_set(&logits, rt_forward(fc, CALL("torch.flatten", T(h), N(1))));
		rt_set(&feat, h);
		rt_set(&loss, CALL("F.cross_entropy", T(logits), T(y)));
		rt_zero_grad(opt);
		rt_backward(loss);
		rt_step(opt);
		keep(feat);
		sample(step);
	}
	drop(&x), drop(&y), drop(&logits), drop(&feat), drop(&loss);
	ag_optim_release(opt);
	ag_module_release(conv1), ag_module_release(conv2), ag_module_release(fc);
	ag_module_release(net);
}

/* ---- attention maps of a transformer block */

static void attention_maps(void)
{
	struct ag_module *block = ag_module_container(rt.ctx, "Block"), *norm1, *attn, *norm2, *mlp;
	struct ag_optim *opt;
	struct ag_tensor *x = NULL, *out = NULL, *weights = NULL, *loss = NULL, *h, *y;
	struct ag_value v[3];
	struct ag_args self = {v, 3, NULL, 0};
	struct ag_results results;
	int step;

	ag_manual_seed(rt.ctx, 33);
	norm1 = LAYER("LayerNorm", N(8));
	attn = LAYER("MultiheadAttention", N(8), N(2), R(0.0), ag_bool(true), ag_bool(false),
	             ag_bool(false), ag_none(), ag_none(), ag_bool(true));
	norm2 = LAYER("LayerNorm", N(8));
	mlp = rt_sequential(LAYER("Linear", N(8), N(16)), LAYER("GELU", ag_text("none", 4)),
	                    LAYER("Linear", N(16), N(8)), NULL);
	ag_module_set_child(rt.ctx, block, "norm1", norm1);
	ag_module_set_child(rt.ctx, block, "attn", attn);
	ag_module_set_child(rt.ctx, block, "norm2", norm2);
	ag_module_set_child(rt.ctx, block, "mlp", mlp);
	opt = rt_optim("AdamW", 1e-3, 0, block, NULL);
	for (step = 0; step < STEPS; step++) {
		rt_set(&x, rt_randn(3, 2, 6, 8));
		h = rt_forward(norm1, x);
		v[0] = v[1] = v[2] = T(h);
		rt_true(ag_module_call(rt.ctx, attn, &self, &results));
		y = CALL("torch.add", T(x), T(rt_keep(ag_results_take(&results, 0))));
		rt_set(&weights, rt_keep(ag_results_take(&results, 1)));
		ag_results_release(&results);
		rt_set(&out, CALL("torch.add", T(y), T(rt_forward(mlp, rt_forward(norm2, y)))));
		rt_set(&loss, square_mean(sub(out, x)));
		rt_zero_grad(opt);
		rt_backward(loss);
		rt_step(opt);
		keep(weights);
		sample(step);
	}
	drop(&x), drop(&out), drop(&weights), drop(&loss);
	ag_optim_release(opt);
	ag_module_release(norm1), ag_module_release(attn);
	ag_module_release(norm2), ag_module_release(mlp);
	ag_module_release(block);
}

/* ---- dropout samples summed with their graphs */

static void dropout_samples(void)
{
	struct ag_module *net;
	struct ag_tensor *x = NULL, *mean = NULL;
	int64_t shape[2] = {5, 2};
	int step;

	ag_manual_seed(rt.ctx, 35);
	net = rt_sequential(LAYER("Linear", N(6), N(30)), LAYER("Dropout", R(0.5)),
	                    LAYER("Linear", N(30), N(2)), NULL);
	rt_set(&x, rt_randn(2, 5, 6));
	rt_set(&mean, rt_keep(ag_zeros(rt.ctx, 2, shape)));
	for (step = 0; step < STEPS; step++) {
		rt_set(&mean, CALL("torch.add", T(mean),
		                   T(CALL("torch.div", T(rt_forward(net, x)), N(20)))));
		sample(step);
	}
	drop(&x), drop(&mean);
	ag_module_release(net);
}

/* ---- adapted weights of an inner loop */

static struct ag_tensor *adapted_loss(struct ag_tensor *x, struct ag_tensor *w, struct ag_tensor *b,
                                      struct ag_tensor *slope, struct ag_tensor **err)
{
	struct ag_tensor *out = CALL("F.linear", T(x), T(w), T(b));

	rt_set(err, sub(CALL("torch.squeeze", T(out), N(1)), CALL("torch.matmul", T(x), T(slope))));
	return square_mean(*err);
}

static void adapted_weights(void)
{
	struct ag_tensor *w = NULL, *b = NULL, *slope = NULL, *support = NULL, *query = NULL;
	struct ag_tensor *fast[2] = {NULL, NULL}, *err = NULL, *loss = NULL,
	                 *grads[2] = {NULL, NULL};
	struct ag_tensor *leaves[2], *made[2], *both;
	struct ag_keyword lr = {"lr", ag_float(0.01)};
	struct ag_args args = {NULL, 0, &lr, 1};
	struct ag_optim *opt;
	int64_t one = 1;
	int task, inner, i;

	ag_manual_seed(rt.ctx, 38);
	rt_set(&w, rt_leaf(rt_randn(2, 1, 6)));
	rt_set(&b, rt_leaf(rt_keep(ag_zeros(rt.ctx, 1, &one))));
	leaves[0] = w;
	leaves[1] = b;
	opt = ag_optim_new(rt.ctx, "SGD", leaves, 2, &args);
	rt_true(opt != NULL);
	for (task = 0; task < STEPS; task++) {
		rt_set(&slope, rt_randn(1, 6));
		both = rt_randn(3, 2, 8, 6);
		rt_set(&support, rt_keep(ag_select(rt.ctx, both, 0, 0)));
		rt_set(&query, rt_keep(ag_select(rt.ctx, both, 0, 1)));
		rt_set(&fast[0], w);
		rt_set(&fast[1], b);
		for (inner = 0; inner < 2; inner++) {
			both = adapted_loss(support, fast[0], fast[1], slope, &err);
			rt_true(ag_grad(rt.ctx, &both, NULL, 1, fast, 2, AG_CREATE_GRAPH, made));
			for (i = 0; i < 2; i++) {
				rt_set(&grads[i], rt_keep(made[i]));
				rt_set(&fast[i],
				       sub(fast[i], CALL("torch.mul", T(grads[i]), R(0.1))));
			}
		}
		rt_set(&loss, adapted_loss(query, fast[0], fast[1], slope, &err));
		rt_zero_grad(opt);
		rt_backward(loss);
		rt_step(opt);
		keep(fast[0]);
		keep(fast[1]);
		sample(task);
	}
	drop(&w), drop(&b), drop(&slope), drop(&support), drop(&query), drop(&err), drop(&loss);
	drop(&fast[0]), drop(&fast[1]), drop(&grads[0]), drop(&grads[1]);
	ag_optim_release(opt);
}

/* ---- both losses of a GAN */

static void both_losses_of_a_gan(void)
{
	struct ag_module *gen, *disc;
	struct ag_optim *opt_g, *opt_d;
	struct ag_tensor *ones = NULL, *zeros = NULL, *real = NULL, *fake = NULL, *d = NULL,
	                 *g = NULL;
	int64_t shape[2] = {8, 1};
	int step;

	ag_manual_seed(rt.ctx, 40);
	gen = rt_sequential(LAYER("Linear", N(4), N(16)), LAYER("ReLU", ag_bool(false)),
	                    LAYER("Linear", N(16), N(6)), NULL);
	disc = rt_sequential(LAYER("Linear", N(6), N(16)), LAYER("LeakyReLU", R(0.2)),
	                     LAYER("Linear", N(16), N(1)), NULL);
	opt_g = rt_optim("Adam", 2e-4, 0, gen, NULL);
	opt_d = rt_optim("Adam", 2e-4, 0, disc, NULL);
	rt_set(&ones, rt_keep(ag_ones(rt.ctx, 2, shape)));
	rt_set(&zeros, rt_keep(ag_zeros(rt.ctx, 2, shape)));
	for (step = 0; step < STEPS; step++) {
		const char *bce = "F.binary_cross_entropy_with_logits";

		rt_set(&real, CALL("torch.add", T(rt_randn(2, 8, 6)), N(2)));
		rt_set(&fake, rt_forward(gen, rt_randn(2, 8, 4)));
		rt_set(&d, CALL("torch.add", T(CALL(bce, T(rt_forward(disc, real)), T(ones))),
		                T(CALL(bce, T(rt_forward(disc, CALL("Tensor.detach", T(fake)))),
		                       T(zeros)))));
		rt_zero_grad(opt_d);
		rt_backward(d);
		rt_step(opt_d);
		rt_set(&g, CALL(bce, T(rt_forward(disc, fake)), T(ones)));
		rt_zero_grad(opt_g);
		rt_backward(g);
		rt_step(opt_g);
		keep(g);
		keep(d);
		sample(step);
	}
	drop(&ones), drop(&zeros), drop(&real), drop(&fake), drop(&d), drop(&g);
	ag_optim_release(opt_g), ag_optim_release(opt_d);
	ag_module_release(gen), ag_module_release(disc);
}

/* ---- a cycle of parameters and gradients that nothing frees */

static void curvature(void)
{
	struct ag_module *net = rt_sequential(LAYER("Linear", N(5), N(4)), PLAIN("Tanh"),
	                                      LAYER("Linear", N(4), N(1)), NULL);
	struct ag_tensor **params, *second[4], *norm = NULL, *loss;
	uint32_t count, i;

	params = rt_parameters(net, NULL, &count);
	loss = square_mean(rt_forward(net, rt_randn(2, 3, 5)));
	rt_true(ag_backward(rt.ctx, loss, NULL, AG_CREATE_GRAPH));
	for (i = 0; i < count; i++) {
		struct ag_tensor *g =
		        CALL("torch.sum", T(CALL("torch.pow", T(ag_grad_of(params[i])), N(2))));

		norm = CALL("torch.add", T(g), norm ? T(norm) : N(0));
	}
	rt_true(ag_grad(rt.ctx, &norm, NULL, 1, params, count, 0, second));
	for (i = 0; i < count; i++)
		ag_release(second[i]);
	free(params);
	ag_module_release(net);
}

static void gradients_with_a_graph(void)
{
	int step;

	ag_manual_seed(rt.ctx, 41);
	for (step = 0; step < STEPS; step++) {
		curvature();
		sample(step);
	}
	ck_assert_uint_eq(ag_cycles(rt.ctx), 4 * STEPS);
}

/* ---- results written into a tensor made before the loop */

static void rows_written_in_place(void)
{
	struct ag_module *net;
	struct ag_tensor *x = NULL, *results = NULL, *score = NULL;
	int64_t shape[2] = {20, 5};
	int step;

	ag_manual_seed(rt.ctx, 44);
	net = rt_sequential(LAYER("Linear", N(8), N(16)), LAYER("Softplus", R(1.0)),
	                    LAYER("Linear", N(16), N(1)), NULL);
	rt_set(&x, rt_randn(3, 20, 5, 8));
	rt_set(&results, rt_keep(ag_zeros(rt.ctx, 2, shape)));
	for (step = 0; step < STEPS; step++) {
		struct ag_index at = {.kind = AG_AT, .start = step};
		struct ag_value value;

		rt_set(&score, CALL("torch.squeeze", T(rt_forward(net, rt_at(x, step))), N(1)));
		value = T(score);
		rt_true(ag_index_put(rt.ctx, results, &at, 1, &value));
		sample(step);
	}
	drop(&x), drop(&results), drop(&score);
	ag_module_release(net);
}

/* ---- a sum that contains its own factor: a cycle through C++ */

static void sum_with_its_factor(void)
{
	struct ag_garbage garbage;
	struct ag_tensor *w = NULL, *h = NULL;
	int step;

	ag_manual_seed(rt.ctx, 50);
	rt_set(&w, rt_leaf(rt_randn(1, 100)));
	for (step = 0; step < STEPS; step++) {
		rt_set(&h, CALL("torch.add", T(w), N(1)));
		rt_true(ag_add_(rt.ctx, h, CALL("torch.mul", T(w), T(h)), 1));
		sample(step);
	}
	drop(&h);
	ag_find_garbage(rt.ctx, &garbage);
	ck_assert_uint_eq(garbage.tensors, STEPS);
	drop(&w);
}

/* ---- checkpoints of both kinds, some of them never computed again */

static bool run_module(struct ag_ctx *ctx, void *data, struct ag_tensor *const *inputs,
                       uint32_t ninputs, struct ag_results *outputs)
{
	struct ag_value x = ag_arg(inputs[0]);
	struct ag_args args = {&x, 1, NULL, 0};

	(void)ninputs;
	return ag_module_call(ctx, data, &args, outputs);
}

static void checkpoints(bool reentrant)
{
	struct ag_module *net, *head;
	struct ag_closure closure = {NULL, NULL, NULL};
	struct ag_optim *opt;
	struct ag_tensor *x = NULL, *y = NULL, *loss = NULL;
	struct ag_results out;
	int step;

	ag_manual_seed(rt.ctx, 51);
	net = rt_sequential(LAYER("Linear", N(6), N(16)), PLAIN("Tanh"), LAYER("Dropout", R(0.3)),
	                    LAYER("Linear", N(16), N(6)), NULL);
	head = LAYER("Linear", N(6), N(1));
	opt = rt_optim("SGD", 0.1, 0, net, head);
	closure.data = net;
	for (step = 0; step < STEPS; step++) {
		rt_set(&x, rt_leaf(rt_randn(2, 5, 6)));
		rt_true(ag_checkpoint(rt.ctx, run_module, closure, &x, 1, reentrant, true, &out));
		rt_set(&y, out.at[0]);
		ag_results_release(&out);
		rt_set(&y, CALL("torch.sigmoid", T(y)));
		rt_set(&y, rt_forward(head, y));
		rt_set(&loss, square_mean(y));
		drop(&y);
		if (step % 4 != 3) {
			rt_zero_grad(opt);
			rt_backward(loss);
			rt_step(opt);
		}
		keep(loss);
		sample(step);
	}
	drop(&x), drop(&loss);
	ag_optim_release(opt);
	ag_module_release(head);
	ag_module_release(net);
}

static void checkpoints_in_one_node(void)
{
	checkpoints(true);
}

static void checkpoints_with_their_ops(void)
{
	checkpoints(false);
}

static const struct measured programs[] = {
        {"losses_in_a_list", losses_in_a_list},
        {"losses_used_and_dropped", losses_used_and_dropped},
        {"error_summed_in_place", error_summed_in_place},
        {"total_rebound", total_rebound},
        {"weights_averaged_with_grad", weights_averaged_with_grad},
        {"outputs_of_evaluation", outputs_of_evaluation},
        {"gradient_penalties", gradient_penalties},
        {"feature_maps", feature_maps},
        {"attention_maps", attention_maps},
        {"dropout_samples", dropout_samples},
        {"adapted_weights", adapted_weights},
        {"both_losses_of_a_gan", both_losses_of_a_gan},
        {"gradients_with_a_graph", gradients_with_a_graph},
        {"rows_written_in_place", rows_written_in_place},
        {"a_sum_that_contains_its_factor", sum_with_its_factor},
        {"checkpoints_in_one_node", checkpoints_in_one_node},
        {"checkpoints_with_their_ops", checkpoints_with_their_ops},
};

START_TEST(bytes_and_nodes_are_pytorchs)
{
	measured_check(&programs[_i], false);
}
END_TEST

START_TEST(meta_mode_has_the_same_bytes)
{
	measured_check(&programs[_i], true);
}
END_TEST

Suite *runtime_programs_suite(void)
{
	Suite *suite = suite_create("runtime_programs");
	TCase *tc = tcase_create("programs");
	int count = (int)(sizeof(programs) / sizeof(programs[0]));

	tcase_add_loop_test(tc, bytes_and_nodes_are_pytorchs, 0, count);
	tcase_add_loop_test(tc, meta_mode_has_the_same_bytes, 0, count);
	suite_add_tcase(suite, tc);
	return suite;
}
