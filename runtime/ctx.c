/* Contexts: what is switched on, what is counted, what went wrong. */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/autocast.h"
#include "runtime/core.h"
#include "runtime/names.h"

#define AG_DEFAULT_DATA_CAP (UINT64_C(256) << 20)
enum { AG_SPARE_STEP = 64, AG_SPARE_KEEP = 4096 };

#if defined(__SANITIZE_ADDRESS__)
enum { AG_RECYCLE = 0 };
#else
enum { AG_RECYCLE = 1 };
#endif

void *ag_alloc(size_t count, size_t size)
{
	void *block = calloc(count ? count : 1, size ? size : 1);

	if (!block) {
		fputs("out of memory\n", stderr);
		abort();
	}
	return block;
}

void *ag_grow(void *block, size_t count, size_t size)
{
	void *grown = NULL;

	if (count <= SIZE_MAX / size)
		grown = realloc(block, count * size);
	if (!grown) {
		fputs("out of memory\n", stderr);
		abort();
	}
	return grown;
}

void *ag_block_new(struct ag_ctx *ctx, size_t size)
{
	size_t class = (size + AG_SPARE_STEP - 1) / AG_SPARE_STEP;
	void *block;

	if (!AG_RECYCLE || class > 8)
		return ag_alloc(1, size);
	block = ctx->spare[class - 1];
	if (!block)
		return ag_alloc(class, AG_SPARE_STEP);
	memcpy(&ctx->spare[class - 1], block, sizeof(void *));
	ctx->spare_count[class - 1]--;
	memset(block, 0, size);
	return block;
}

void ag_block_free(struct ag_ctx *ctx, void *block, size_t size)
{
	size_t class = (size + AG_SPARE_STEP - 1) / AG_SPARE_STEP;

	if (!AG_RECYCLE || class > 8 || ctx->spare_count[class - 1] >= AG_SPARE_KEEP) {
		free(block);
		return;
	}
	memcpy(block, &ctx->spare[class - 1], sizeof(void *));
	ctx->spare[class - 1] = block;
	ctx->spare_count[class - 1]++;
}

struct ag_ctx *ag_open(const struct ag_options *options)
{
	struct ag_ctx *ctx = ag_alloc(1, sizeof(*ctx));

	if (options)
		ctx->options = *options;
	if (!ctx->options.data_cap)
		ctx->options.data_cap = AG_DEFAULT_DATA_CAP;
	ctx->meta = ctx->options.meta;
	ctx->mode.enabled = true;
	ctx->default_dtype = AG_F32;
	ctx->storages.prev = ctx->storages.next = &ctx->storages;
	ctx->tensors.prev = ctx->tensors.next = &ctx->tensors;
	ctx->nodes.prev = ctx->nodes.next = &ctx->nodes;
	ag_random_seed(&ctx->random, AG_RANDOM_DEFAULT_SEED);
	ag_autocast_init(ctx);
	if (ctx->options.model_caching)
		ag_device_open(ctx);
	return ctx;
}

/* Cuts every reference, so that what is left goes whatever holds what. */
static void close_objects(struct ag_ctx *ctx)
{
	struct ag_tensor *t;
	struct ag_node *n;

	for (n = ctx->nodes.next; n != &ctx->nodes; n = n->next)
		n->refs++;
	for (t = ctx->tensors.next; t != &ctx->tensors; t = t->next)
		t->refs++;
	ag_unlink_all(ctx);
	while (ctx->nodes.next != &ctx->nodes) {
		ctx->nodes.next->refs = 1;
		ag_node_release(ctx->nodes.next);
	}
	while (ctx->tensors.next != &ctx->tensors) {
		ctx->tensors.next->refs = 1;
		ag_release(ctx->tensors.next);
	}
	while (ctx->storages.next != &ctx->storages) {
		ctx->storages.next->refs = 1;
		ag_storage_release(ctx->storages.next);
	}
}

void ag_close(struct ag_ctx *ctx)
{
	size_t i;

	if (!ctx)
		return;
	ag_scope_close(ctx, 0);
	ag_autocast_release(ctx);
	close_objects(ctx);
	ag_names_release(ctx);
	ag_device_close(ctx);
	for (i = 0; i < 8; i++) {
		while (ctx->spare[i]) {
			void *block = ctx->spare[i];

			memcpy(&ctx->spare[i], block, sizeof(void *));
			free(block);
		}
	}
	free(ctx->scope);
	free(ctx->sites);
	free(ctx);
}

const struct ag_error *ag_error(const struct ag_ctx *ctx)
{
	return &ctx->error;
}

void ag_error_clear(struct ag_ctx *ctx)
{
	ctx->error.status = AG_OK;
	ctx->error.text[0] = '\0';
}

bool ag_fail(struct ag_ctx *ctx, enum ag_status status, const char *format, ...)
{
	va_list list;

	ctx->error.status = status;
	va_start(list, format);
	vsnprintf(ctx->error.text, sizeof(ctx->error.text), format, list);
	va_end(list);
	return false;
}

void ag_break(struct ag_ctx *ctx, const char *format, ...)
{
	va_list list;

	ctx->broken = true;
	ctx->error.status = AG_ERR_RUNTIME;
	va_start(list, format);
	vsnprintf(ctx->error.text, sizeof(ctx->error.text), format, list);
	va_end(list);
}

bool ag_whole(struct ag_ctx *ctx)
{
	const bool broken = ctx->broken;

	ctx->broken = false;
	return !broken;
}

void ag_raise(struct ag_ctx *ctx, enum ag_status status, const char *format, ...)
{
	va_list list;

	ctx->error.status = status;
	va_start(list, format);
	vsnprintf(ctx->error.text, sizeof(ctx->error.text), format, list);
	va_end(list);
}

const char *ag_status_exception(enum ag_status status)
{
	switch (status) {
	case AG_OK:
		return "";
	case AG_ERR_TYPE:
		return "TypeError";
	case AG_ERR_VALUE:
		return "ValueError";
	case AG_ERR_INDEX:
		return "IndexError";
	case AG_ERR_MEMORY:
		return "OutOfMemoryError";
	case AG_ERR_UNKNOWN_OP:
		return "AttributeError";
	case AG_ERR_RUNTIME:
	case AG_ERR_NO_DATA:
		break;
	}
	return "RuntimeError";
}

void ag_set_meta(struct ag_ctx *ctx, bool meta)
{
	ctx->meta = meta;
}

bool ag_meta(const struct ag_ctx *ctx)
{
	return ctx->meta;
}

bool ag_work(struct ag_ctx *ctx, double multiplications)
{
	if (!ctx->meta)
		ctx->work += multiplications;
	return !ag_work_used_up(ctx);
}

bool ag_work_used_up(const struct ag_ctx *ctx)
{
	return ctx->options.work_cap > 0 && ctx->work > ctx->options.work_cap;
}

void ag_manual_seed(struct ag_ctx *ctx, uint64_t seed)
{
	ag_random_seed(&ctx->random, seed);
}

struct ag_grad_mode ag_grad_mode(const struct ag_ctx *ctx)
{
	return ctx->mode;
}

void ag_set_grad_mode(struct ag_ctx *ctx, struct ag_grad_mode mode)
{
	ctx->mode = mode;
}

struct ag_grad_mode ag_no_grad(struct ag_ctx *ctx)
{
	struct ag_grad_mode old = ctx->mode;

	ctx->mode.enabled = false;
	return old;
}

struct ag_grad_mode ag_enable_grad(struct ag_ctx *ctx)
{
	struct ag_grad_mode old = ctx->mode;

	ctx->mode.enabled = true;
	return old;
}

struct ag_grad_mode ag_inference(struct ag_ctx *ctx)
{
	struct ag_grad_mode old = ctx->mode;

	ctx->mode.enabled = false;
	ctx->mode.inference = true;
	return old;
}

enum ag_dtype ag_default_dtype(const struct ag_ctx *ctx)
{
	return ctx->default_dtype;
}

void ag_set_default_dtype(struct ag_ctx *ctx, enum ag_dtype dtype)
{
	if (dtype >= AG_DTYPE_COUNT || !ag_dtype_is_float(dtype))
		ag_fail(ctx, AG_ERR_TYPE,
		        "only floating-point types are supported as the default type");
	else
		ctx->default_dtype = dtype;
}

void ag_set_default_device(struct ag_ctx *ctx, enum ag_device device)
{
	ctx->default_device = device == AG_CUDA ? AG_CUDA : AG_CPU;
}

void ag_memory(const struct ag_ctx *ctx, struct ag_memory *memory)
{
	*memory = ctx->memory;
}

void ag_reset_peak(struct ag_ctx *ctx)
{
	ctx->memory.peak_bytes = ctx->memory.live_bytes;
	memcpy(ctx->memory.peak_by_kind, ctx->memory.by_kind, sizeof(ctx->memory.by_kind));
}

void ag_watch_peak(struct ag_ctx *ctx, struct ag_peak *before)
{
	before->live_bytes = ctx->memory.live_bytes;
	before->peak_bytes = ctx->memory.peak_bytes;
	memcpy(before->peak_by_kind, ctx->memory.peak_by_kind, sizeof(before->peak_by_kind));
	ag_reset_peak(ctx);
}

uint64_t ag_watched_peak(struct ag_ctx *ctx, const struct ag_peak *before)
{
	const uint64_t above = ctx->memory.peak_bytes - before->live_bytes;

	if (ctx->memory.peak_bytes < before->peak_bytes) {
		ctx->memory.peak_bytes = before->peak_bytes;
		memcpy(ctx->memory.peak_by_kind, before->peak_by_kind,
		       sizeof(before->peak_by_kind));
	}
	return above;
}

/* Beyond this many, sites have no account of their own. */
enum { MOST_SITES = 1 << 20 };

void ag_set_site(struct ag_ctx *ctx, uint32_t site)
{
	if (site >= ctx->nsites && site < MOST_SITES) {
		uint32_t count = site < 64 ? 64 : site * 2;

		ctx->sites = ag_grow(ctx->sites, count, sizeof(*ctx->sites));
		memset(ctx->sites + ctx->nsites, 0, (count - ctx->nsites) * sizeof(*ctx->sites));
		ctx->nsites = count;
	}
	ctx->site = site;
}

uint32_t ag_site(const struct ag_ctx *ctx)
{
	return ctx->site;
}

bool ag_site_memory(const struct ag_ctx *ctx, uint32_t site, struct ag_site_memory *memory)
{
	if (site >= ctx->nsites)
		return false;
	*memory = ctx->sites[site].memory;
	return true;
}

size_t ag_scope_open(struct ag_ctx *ctx)
{
	return ctx->scope_count;
}

void ag_scope_close(struct ag_ctx *ctx, size_t mark)
{
	while (ctx->scope_count > mark)
		ag_release(ctx->scope[--ctx->scope_count]);
}

struct ag_tensor *ag_scope_keep(struct ag_ctx *ctx, size_t mark, struct ag_tensor *t)
{
	if (t)
		ag_retain(t);
	ag_scope_close(ctx, mark);
	return scoped(ctx, t);
}

struct ag_tensor *scoped(struct ag_ctx *ctx, struct ag_tensor *t)
{
	if (!t)
		return NULL;
	if (ctx->scope_count == ctx->scope_capacity) {
		ctx->scope_capacity = ctx->scope_capacity ? 2 * ctx->scope_capacity : 64;
		ctx->scope = ag_grow(ctx->scope, ctx->scope_capacity, sizeof(*ctx->scope));
	}
	ctx->scope[ctx->scope_count++] = t;
	return t;
}
