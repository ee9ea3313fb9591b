/* Storages of the modelled device: their addresses come from its allocator. */

#include "runtime/caching_allocator.h"
#include "runtime/core.h"

#define AG_DEVICE_BYTES (UINT64_C(80) << 30)

void ag_device_open(struct ag_ctx *ctx)
{
	struct ag_caching_options options = {0};

	options.device_bytes =
	        ctx->options.device_bytes ? ctx->options.device_bytes : AG_DEVICE_BYTES;
	ctx->caching = ag_caching_open(&options);
}

void ag_device_close(struct ag_ctx *ctx)
{
	ag_caching_close(ctx->caching);
	ctx->caching = NULL;
}

uint64_t ag_device_allocate(struct ag_ctx *ctx, uint64_t bytes)
{
	uint64_t address = 0;

	if (ag_caching_allocate(ctx->caching, bytes, 0, &address))
		return address;
	ctx->error.status = AG_ERR_MEMORY;
	ag_caching_failure_text(ctx->caching, bytes, ctx->error.text, sizeof(ctx->error.text));
	return 0;
}

void ag_device_free(struct ag_ctx *ctx, uint64_t handle)
{
	if (ctx->caching)
		ag_caching_free(ctx->caching, handle);
}

bool ag_device_memory(const struct ag_ctx *ctx, struct ag_device_memory *memory)
{
	struct ag_caching_stat stat;

	if (!ctx->caching)
		return false;
	stat = ag_caching_stat(ctx->caching, AG_CACHING_ALLOCATED_BYTES, AG_CACHING_ALL);
	memory->allocated = stat.current;
	memory->peak_allocated = stat.peak;
	stat = ag_caching_stat(ctx->caching, AG_CACHING_RESERVED_BYTES, AG_CACHING_ALL);
	memory->reserved = stat.current;
	memory->peak_reserved = stat.peak;
	memory->active =
	        ag_caching_stat(ctx->caching, AG_CACHING_ACTIVE_BYTES, AG_CACHING_ALL).current;
	memory->requested =
	        ag_caching_stat(ctx->caching, AG_CACHING_REQUESTED_BYTES, AG_CACHING_ALL).current;
	memory->inactive_split =
	        ag_caching_stat(ctx->caching, AG_CACHING_INACTIVE_SPLIT_BYTES, AG_CACHING_ALL)
	                .current;
	return true;
}

void ag_empty_cache(struct ag_ctx *ctx)
{
	if (ctx->caching)
		ag_caching_empty_cache(ctx->caching);
}
