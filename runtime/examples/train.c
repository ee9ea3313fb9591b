/* A network that learns the sine, with nothing but the runtime: this file includes
 * ag.h alone and is linked with libgraphlint_runtime.a and libm. It ends with
 * status 1 when the network did not learn or when something stays alive. */

#include <stdio.h>
#include <stdlib.h>

#include "runtime/ag.h"

enum { WIDTH = 32, SAMPLES = 64, STEPS = 400 };

struct network {
	struct ag_module *hidden, *output;
	struct ag_optim *opt;
};

struct list {
	struct ag_tensor *at[4];
	uint32_t count;
};

static bool collect(void *data, const char *name, struct ag_tensor *t)
{
	struct list *list = data;

	(void)name;
	list->at[list->count++] = t;
	return true;
}

static struct ag_module *linear(struct ag_ctx *ctx, int64_t in, int64_t out, struct list *params)
{
	struct ag_value sizes[2] = {ag_int(in), ag_int(out)};
	struct ag_args args = {sizes, 2, NULL, 0};
	struct ag_module *m = ag_module_new(ctx, "Linear", &args);

	ag_module_each(m, AG_SLOT_PARAMETER, collect, params);
	return m;
}

static struct network open_network(struct ag_ctx *ctx)
{
	struct ag_keyword rate = {"lr", ag_float(0.01)};
	struct ag_args args = {NULL, 0, &rate, 1};
	struct list params = {.count = 0};
	struct network net;

	net.hidden = linear(ctx, 1, WIDTH, &params);
	net.output = linear(ctx, WIDTH, 1, &params);
	net.opt = ag_optim_new(ctx, "Adam", params.at, params.count, &args);
	return net;
}

static void release_network(struct network *net)
{
	ag_optim_release(net->opt);
	ag_module_release(net->hidden);
	ag_module_release(net->output);
}

/* One step; the loss, or a negative number on an error. */
static double train(struct ag_ctx *ctx, struct network *net, struct ag_tensor *x,
                    struct ag_tensor *y)
{
	struct ag_tensor *a = ag_module_forward(ctx, net->hidden, x);
	struct ag_tensor *b = ag_tanh(ctx, a);
	struct ag_tensor *c = ag_module_forward(ctx, net->output, b);
	struct ag_tensor *loss = ag_mse_loss(ctx, c, y);
	double value = -1;

	if (!loss || !ag_item(ctx, loss, &value) || !ag_optim_zero_grad(ctx, net->opt, true) ||
	    !ag_backward(ctx, loss, NULL, 0) || !ag_optim_step(ctx, net->opt)) {
		fprintf(stderr, "%s\n", ag_error(ctx)->text);
		value = -1;
	}
	ag_release(loss);
	ag_release(c);
	ag_release(b);
	ag_release(a);
	return value;
}

int main(void)
{
	struct ag_ctx *ctx = ag_open(NULL);
	int64_t shape[2] = {SAMPLES, 1};
	struct ag_tensor *x, *y;
	struct ag_results sine;
	struct ag_memory memory;
	struct network net;
	double first = 0, last = 0;

	ag_manual_seed(ctx, 0);
	net = open_network(ctx);
	x = ag_randn(ctx, 2, shape);
	if (!ag_call(ctx, "torch.sin",
	             &(struct ag_args){(struct ag_value[]){ag_arg(x)}, 1, NULL, 0}, &sine))
		return EXIT_FAILURE;
	y = ag_results_take(&sine, 0);
	ag_results_release(&sine);
	for (int step = 0; step < STEPS && last >= 0; step++) {
		last = train(ctx, &net, x, y);
		first = step ? first : last;
	}
	ag_memory(ctx, &memory);
	printf("loss %.4f, after %d steps %.6f; %llu bytes, %llu nodes, at most %llu bytes\n",
	       first, STEPS, last, (unsigned long long)memory.live_bytes,
	       (unsigned long long)memory.nodes, (unsigned long long)memory.peak_bytes);
	ag_release(x);
	ag_release(y);
	release_network(&net);
	ag_memory(ctx, &memory);
	ag_close(ctx);
	return last < 0 || last > first / 100 || memory.live_bytes ? EXIT_FAILURE : EXIT_SUCCESS;
}
