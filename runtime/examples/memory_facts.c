/* Facts about memory that are met in practice, on tensors without data. Prints a line
 * for each, and ends with status 1 when one of them does not hold.
 * Usage: memory_facts [adam] [checkpoint] [half] [cache] [fragments] */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/ag.h"

#define MIB (UINT64_C(1) << 20)

enum { LAYERS = 4, PARAMS = 12 * LAYERS };

static struct ag_memory memory_of(const struct ag_ctx *ctx)
{
	struct ag_memory memory;

	ag_memory(ctx, &memory);
	return memory;
}

static unsigned long long of_kind(const struct ag_ctx *ctx, enum ag_kind kind)
{
	return memory_of(ctx).by_kind[kind];
}

/* ---- a transformer */

struct net {
	struct ag_module *layers[LAYERS];
	struct ag_tensor *params[PARAMS];
	uint32_t nparams;
	int64_t elements;
};

static bool collect(void *data, const char *name, struct ag_tensor *t)
{
	struct net *net = data;

	(void)name;
	net->params[net->nparams++] = t;
	net->elements += ag_numel(t);
	return true;
}

static struct net open_net(struct ag_ctx *ctx, int64_t width, const enum ag_dtype *dtype)
{
	struct ag_value v[8] = {ag_int(width), ag_int(8),          ag_int(4 * width),
	                        ag_float(0),   ag_text("gelu", 4), ag_float(1e-5),
	                        ag_bool(true), ag_bool(true)};
	struct ag_args args = {v, 8, NULL, 0};
	struct net net = {.nparams = 0};

	for (int i = 0; i < LAYERS; i++) {
		net.layers[i] = ag_module_new(ctx, "TransformerEncoderLayer", &args);
		if (dtype)
			ag_module_to(ctx, net.layers[i], dtype, NULL);
		ag_module_each(net.layers[i], AG_SLOT_PARAMETER, collect, &net);
	}
	return net;
}

static void release_net(struct net *net)
{
	for (int i = 0; i < LAYERS; i++)
		ag_module_release(net->layers[i]);
}

static struct ag_tensor *forward(struct ag_ctx *ctx, struct net *net, struct ag_tensor *x)
{
	struct ag_tensor *h = ag_retain(x);

	for (int i = 0; i < LAYERS; i++) {
		struct ag_tensor *next = ag_module_forward(ctx, net->layers[i], h);

		ag_release(h);
		h = next;
	}
	return h;
}

/* ---- Adam in float32: parameters, gradients and two averages, 4 bytes each */

static bool adam(void)
{
	struct ag_options options = {.meta = true};
	struct ag_ctx *ctx = ag_open(&options);
	struct ag_args none = {NULL, 0, NULL, 0};
	int64_t shape[3] = {8, 256, 512};
	struct net net = open_net(ctx, 512, NULL);
	struct ag_optim *opt = ag_optim_new(ctx, "Adam", net.params, net.nparams, &none);
	struct ag_tensor *x = ag_randn(ctx, 3, shape), *y = forward(ctx, &net, x);
	struct ag_tensor *loss = ag_mean(ctx, y);
	bool holds = ag_backward(ctx, loss, NULL, 0) && ag_optim_step(ctx, opt);
	struct ag_memory m;

	ag_release(loss);
	ag_release(y);
	ag_release(x);
	m = memory_of(ctx);
	/* Each parameter tensor has a step of 4 bytes besides. */
	holds &= m.live_bytes == (uint64_t)net.elements * 16 + net.nparams * UINT64_C(4);
	printf("adam: %lld parameters, after a step %llu bytes, %.3f a parameter\n",
	       (long long)net.elements, (unsigned long long)m.live_bytes,
	       (double)m.live_bytes / (double)net.elements);
	ag_optim_release(opt);
	release_net(&net);
	ag_close(ctx);
	return holds;
}

/* ---- n layers of one activation each, in sqrt(n) checkpointed segments */

static bool run_segment(struct ag_ctx *ctx, void *data, struct ag_tensor *const *inputs,
                        uint32_t ninputs, struct ag_results *outputs)
{
	struct ag_tensor *x = ag_retain(inputs[0]);
	struct ag_value v;
	bool good;

	(void)ninputs;
	for (int i = 1; i < *(const int *)data; i++) {
		struct ag_tensor *next = ag_tanh(ctx, x);

		ag_release(x);
		x = next;
	}
	v = ag_arg(x);
	good = ag_call(ctx, "torch.tanh", &(struct ag_args){&v, 1, NULL, 0}, outputs);
	ag_release(x);
	return good;
}

/* Activations of `segments` runs of `length` layers: kept after forward, and at most. */
static bool run_layers(int segments, int length, bool checkpointed, uint64_t *kept, uint64_t *peak)
{
	struct ag_options options = {.meta = true};
	struct ag_ctx *ctx = ag_open(&options);
	struct ag_closure closure = {&length, NULL, NULL};
	int64_t n = (int64_t)MIB / 4;
	struct ag_tensor *w = ag_zeros(ctx, 1, &n), *x = ag_retain(w), *sum;
	bool good = ag_set_requires_grad(ctx, w, true);

	for (int i = 0; i < segments && good; i++) {
		struct ag_results out;

		good = checkpointed
		               ? ag_checkpoint(ctx, run_segment, closure, &x, 1, true, true, &out)
		               : run_segment(ctx, &length, &x, 1, &out);
		ag_release(x);
		x = good ? ag_results_take(&out, 0) : NULL;
		ag_results_release(&out);
	}
	*kept = memory_of(ctx).live_bytes / MIB;
	sum = ag_sum(ctx, x);
	good = good && ag_backward(ctx, sum, NULL, 0);
	*peak = memory_of(ctx).peak_bytes / MIB;
	ag_release(sum);
	ag_release(x);
	ag_release(w);
	ag_close(ctx);
	return good;
}

static bool checkpoint(void)
{
	bool holds = true;

	for (int root = 4; root <= 32; root *= 2) {
		uint64_t kept[2], peak[2], n = (uint64_t)root * (uint64_t)root;

		holds &= run_layers(root, root, false, &kept[0], &peak[0]);
		holds &= run_layers(root, root, true, &kept[1], &peak[1]);
		/* The leaf is one more; backward has a few gradients at a time. */
		holds &= kept[0] == n + 1 && kept[1] == (uint64_t)root + 1;
		holds &= peak[0] >= n && peak[1] <= 2 * (uint64_t)root + 6;
		printf("checkpoint: %llu layers of 1 MiB: %llu MiB kept, peak %llu; in %d "
		       "segments %llu, peak %llu\n",
		       (unsigned long long)n, (unsigned long long)kept[0],
		       (unsigned long long)peak[0], root, (unsigned long long)kept[1],
		       (unsigned long long)peak[1]);
	}
	return holds;
}

/* ---- half precision */

static unsigned long long activations(enum ag_dtype dtype)
{
	struct ag_options options = {.meta = true};
	struct ag_ctx *ctx = ag_open(&options);
	int64_t shape[3] = {8, 256, 512};
	struct net net = open_net(ctx, 512, &dtype);
	struct ag_tensor *x, *y;
	unsigned long long bytes;

	ag_set_default_dtype(ctx, dtype);
	x = ag_randn(ctx, 3, shape);
	y = forward(ctx, &net, x);
	bytes = y ? of_kind(ctx, AG_KIND_ACTIVATION) : 0;
	ag_release(y);
	ag_release(x);
	release_net(&net);
	ag_close(ctx);
	return bytes;
}

static bool half(void)
{
	unsigned long long single = activations(AG_F32), halves = activations(AG_F16);

	printf("half: activations of a transformer %llu bytes in float32, %llu in float16, %.3f\n",
	       single, halves, (double)halves / (double)single);
	/* Not to the byte: statistics that layers keep may stay wide. */
	return halves && halves <= single / 2 + single / 100 && halves >= single / 2 - single / 100;
}

/* ---- the modelled CUDA allocator */

static struct ag_device_memory device_of(const struct ag_ctx *ctx)
{
	struct ag_device_memory memory = {0};

	ag_device_memory(ctx, &memory);
	return memory;
}

static struct ag_tensor *block(struct ag_ctx *ctx, uint64_t mib)
{
	int64_t n = (int64_t)(mib * MIB / 4);

	return ag_zeros(ctx, 1, &n);
}

static bool cache(void)
{
	struct ag_options options = {.meta = true, .model_caching = true};
	struct ag_ctx *ctx = ag_open(&options);
	struct ag_device_memory before, dropped, emptied;
	struct ag_tensor *live, *gone;

	ag_set_default_device(ctx, AG_CUDA);
	live = block(ctx, 100);
	gone = block(ctx, 50);
	before = device_of(ctx);
	ag_release(gone);
	dropped = device_of(ctx);
	ag_empty_cache(ctx);
	emptied = device_of(ctx);
	printf("cache: 100 MiB live and 50 freed: reserved %llu MiB, after empty_cache %llu; "
	       "allocated %llu before and after\n",
	       (unsigned long long)(dropped.reserved / MIB),
	       (unsigned long long)(emptied.reserved / MIB),
	       (unsigned long long)(emptied.allocated / MIB));
	ag_release(live);
	ag_close(ctx);
	return before.reserved == 150 * MIB && dropped.reserved == 150 * MIB &&
	       dropped.allocated == 100 * MIB && emptied.allocated == 100 * MIB &&
	       emptied.reserved == 100 * MIB;
}

static bool fragments(void)
{
	enum { BLOCKS = 25, SIZE = 4, WANTED = 24 };
	struct ag_options options = {
	        .meta = true, .model_caching = true, .device_bytes = BLOCKS * SIZE * MIB};
	struct ag_ctx *ctx = ag_open(&options);
	struct ag_tensor *blocks[BLOCKS], *large;
	uint64_t free_bytes;
	bool fails;

	ag_set_default_device(ctx, AG_CUDA);
	for (int i = 0; i < BLOCKS; i++)
		blocks[i] = block(ctx, SIZE);
	for (int i = 1; i < BLOCKS; i += 2) {
		ag_release(blocks[i]);
		blocks[i] = NULL;
	}
	free_bytes = device_of(ctx).reserved - device_of(ctx).allocated;
	large = block(ctx, WANTED);
	fails = !large && ag_error(ctx)->status == AG_ERR_MEMORY;
	printf("fragments: every second block of %d MiB is freed, %llu MiB in all; %d MiB %s\n",
	       SIZE, (unsigned long long)(free_bytes / MIB), WANTED,
	       fails ? "cannot be had" : "were given");
	for (int i = 0; i < BLOCKS; i++)
		ag_release(blocks[i]);
	ag_release(large);
	/* In one piece they can: with nothing live the same request works. */
	large = block(ctx, WANTED);
	fails &= large != NULL;
	ag_release(large);
	ag_close(ctx);
	return fails && free_bytes >= WANTED * MIB;
}

static const struct {
	const char *name;
	bool (*run)(void);
} facts[] = {
        {"adam", adam},   {"checkpoint", checkpoint}, {"half", half},
        {"cache", cache}, {"fragments", fragments},
};

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
	int status = EXIT_SUCCESS, ran = 0;

	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		if (!is_wanted(facts[i].name, argc, argv))
			continue;
		ran++;
		if (!facts[i].run()) {
			fprintf(stderr, "%s: does not hold\n", facts[i].name);
			status = EXIT_FAILURE;
		}
	}
	return ran >= (argc < 2 ? 1 : argc - 1) ? status : EXIT_FAILURE;
}
