/* What the runtime costs: nodes a second, bytes a node, a transformer step. Prints a
 * line for each figure; tools/bench_runtime.py prints PyTorch's.
 * Usage: bench_runtime [nodes] [meta] [compute] */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/ag.h"

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void bench_nodes(void)
{
	enum { NODES = 1000000 };
	struct ag_ctx *ctx = ag_open(NULL);
	struct ag_tensor *x = ag_ones(ctx, 0, NULL), *y, *next;
	struct ag_memory before, after;
	double start, recorded;
	int i;

	ag_set_requires_grad(ctx, x, true);
	y = ag_retain(x);
	ag_memory(ctx, &before);
	start = now();
	for (i = 0; i < NODES; i++) {
		next = ag_neg(ctx, y);
		ag_release(y);
		y = next;
	}
	recorded = now() - start;
	ag_memory(ctx, &after);
	ag_release(y);
	printf("nodes recorded: %.2f million a second\n", NODES / recorded / 1e6);
	printf("nodes recorded and freed: %.2f million a second\n", NODES / (now() - start) / 1e6);
	printf("bytes a node: %.0f\n", (double)(after.host_bytes - before.host_bytes) / NODES);
	ag_release(x);
	ag_close(ctx);
}

enum { LAYERS = 4 };

struct transformer {
	struct ag_module *layers[LAYERS];
	struct ag_optim *opt;
	struct ag_tensor *x;
};

static bool collect(void *data, const char *name, struct ag_tensor *t)
{
	struct ag_tensor ***at = data;

	(void)name;
	*(*at)++ = t;
	return true;
}

static void transformer_open(struct ag_ctx *ctx, struct transformer *t, int64_t width,
                             int64_t heads, int64_t batch, int64_t length)
{
	struct ag_value v[9] = {ag_int(width), ag_int(heads),      ag_int(4 * width),
	                        ag_float(0),   ag_text("gelu", 4), ag_float(1e-5),
	                        ag_bool(true), ag_bool(true)};
	struct ag_args args = {v, 8, NULL, 0}, none = {NULL, 0, NULL, 0};
	struct ag_tensor *params[LAYERS * 16], **at = params;
	int64_t shape[3] = {batch, length, width};
	int i;

	for (i = 0; i < LAYERS; i++) {
		t->layers[i] = ag_module_new(ctx, "TransformerEncoderLayer", &args);
		ag_module_each(t->layers[i], AG_SLOT_PARAMETER, collect, &at);
	}
	t->opt = ag_optim_new(ctx, "AdamW", params, (uint32_t)(at - params), &none);
	t->x = ag_randn(ctx, 3, shape);
}

static bool transformer_step(struct ag_ctx *ctx, struct transformer *t)
{
	struct ag_tensor *h = ag_retain(t->x), *loss;
	bool good;
	int i;

	for (i = 0; i < LAYERS; i++) {
		struct ag_tensor *next = ag_module_forward(ctx, t->layers[i], h);

		ag_release(h);
		h = next;
	}
	loss = ag_mse_loss(ctx, h, t->x);
	ag_release(h);
	good = loss && ag_optim_zero_grad(ctx, t->opt, true) && ag_backward(ctx, loss, NULL, 0) &&
	       ag_optim_step(ctx, t->opt);
	ag_release(loss);
	return good;
}

static void bench_transformer(bool meta, int64_t width, int64_t batch, int64_t length, int rounds)
{
	struct ag_options options = {.meta = meta};
	struct ag_ctx *ctx = ag_open(&options);
	struct transformer t;
	struct ag_memory memory;
	double start;
	int i;

	transformer_open(ctx, &t, width, 4, batch, length);
	if (!transformer_step(ctx, &t))
		printf("error: %s\n", ag_error(ctx)->text);
	start = now();
	for (i = 0; i < rounds; i++)
		transformer_step(ctx, &t);
	ag_memory(ctx, &memory);
	printf("transformer step, %d layers, width %lld, %lld x %lld, %s: %.0f us, peak %llu "
	       "bytes\n",
	       LAYERS, (long long)width, (long long)batch, (long long)length,
	       meta ? "meta" : "compute", (now() - start) / rounds * 1e6,
	       (unsigned long long)memory.peak_bytes);
	for (i = 0; i < LAYERS; i++)
		ag_module_release(t.layers[i]);
	ag_optim_release(t.opt);
	ag_release(t.x);
	ag_close(ctx);
}

static bool is_wanted(const char *name, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], name))
			return true;
	}
	return argc < 2;
}

int main(int argc, char **argv)
{
	if (is_wanted("nodes", argc, argv))
		bench_nodes();
	if (is_wanted("meta", argc, argv)) {
		bench_transformer(true, 768, 8, 1024, 2000);
		bench_transformer(true, 64, 4, 32, 2000);
	}
	if (is_wanted("compute", argc, argv))
		bench_transformer(false, 64, 4, 32, 20);
	return EXIT_SUCCESS;
}
