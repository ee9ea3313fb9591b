/* Storages: bytes with a size, a kind and a version, counted as they come and go. */

#include <stdlib.h>
#include <string.h>

#include "runtime/core.h"

static const char *const kind_names[AG_KIND_COUNT] = {
        [AG_KIND_OTHER] = "other",           [AG_KIND_DATA] = "data",
        [AG_KIND_ACTIVATION] = "activation", [AG_KIND_PARAMETER] = "parameter",
        [AG_KIND_GRADIENT] = "gradient",     [AG_KIND_OPTIM] = "optimizer",
};

const char *ag_kind_name(enum ag_kind kind)
{
	return kind < AG_KIND_COUNT ? kind_names[kind] : "";
}

static void count_new(struct ag_ctx *ctx, struct ag_storage *s)
{
	struct ag_memory *m = &ctx->memory;

	m->storages++;
	if (s->foreign)
		return;
	m->allocations++;
	m->live_bytes += s->bytes;
	m->by_kind[s->kind] += s->bytes;
	if (m->live_bytes > m->peak_bytes) {
		m->peak_bytes = m->live_bytes;
		memcpy(m->peak_by_kind, m->by_kind, sizeof(m->by_kind));
	}
	if (s->site < ctx->nsites) {
		struct ag_site_memory *site = &ctx->sites[s->site].memory;

		site->storages++;
		site->live_bytes += s->bytes;
		if (site->live_bytes > site->peak_bytes)
			site->peak_bytes = site->live_bytes;
	}
}

void ag_transient(struct ag_ctx *ctx, int64_t bytes)
{
	struct ag_memory *m = &ctx->memory;
	uint64_t with = m->live_bytes + (uint64_t)bytes;

	if (with <= m->peak_bytes)
		return;
	m->peak_bytes = with;
	memcpy(m->peak_by_kind, m->by_kind, sizeof(m->by_kind));
	m->peak_by_kind[AG_KIND_OTHER] += (uint64_t)bytes;
}

static void count_gone(struct ag_ctx *ctx, struct ag_storage *s)
{
	ctx->memory.storages--;
	if (s->foreign)
		return;
	ctx->memory.live_bytes -= s->bytes;
	ctx->memory.by_kind[s->kind] -= s->bytes;
	if (s->site < ctx->nsites) {
		ctx->sites[s->site].memory.storages--;
		ctx->sites[s->site].memory.live_bytes -= s->bytes;
	}
}

enum {
	META_DATA = 64, /* bytes that have data in meta mode, too */
	LEAST_DATA = 16 /* bytes behind an empty tensor: one element of any dtype */
};

struct ag_storage *ag_storage_new(struct ag_ctx *ctx, uint64_t bytes, bool with_data)
{
	struct ag_storage *s;
	uint64_t cap = ctx->options.byte_cap, handle = 0;
	void *data = NULL;

	if (cap && (bytes > cap || ctx->memory.live_bytes > cap - bytes)) {
		ag_fail(ctx, AG_ERR_MEMORY, "live bytes would exceed the cap of %llu",
		        (unsigned long long)cap);
		return NULL;
	}
	if (ctx->default_device == AG_CUDA && ctx->caching && !ctx->foreign) {
		handle = ag_device_allocate(ctx, bytes);
		if (!handle && bytes)
			return NULL;
	}
	if (with_data && bytes <= (ctx->meta ? META_DATA : ctx->options.data_cap)) {
		data = calloc(bytes ? bytes : LEAST_DATA, 1);
		if (!data) {
			ag_device_free(ctx, handle);
			ag_fail(ctx, AG_ERR_MEMORY,
			        "DefaultCPUAllocator: can't allocate memory: you tried to "
			        "allocate %llu bytes.",
			        (unsigned long long)bytes);
			return NULL;
		}
	}
	s = ag_block_new(ctx, sizeof(*s));
	s->ctx = ctx;
	s->data = data;
	s->bytes = bytes;
	s->refs = 1;
	s->id = ++ctx->next_id;
	s->site = ctx->site;
	s->device = (uint8_t)ctx->default_device;
	s->device_handle = handle;
	s->foreign = ctx->foreign;
	s->next = &ctx->storages;
	s->prev = ctx->storages.prev;
	s->prev->next = s->next->prev = s;
	count_new(ctx, s);
	return s;
}

struct ag_storage *ag_storage_retain(struct ag_storage *s)
{
	if (s)
		s->refs++;
	return s;
}

void ag_storage_release(struct ag_storage *s)
{
	if (!s || --s->refs)
		return;
	count_gone(s->ctx, s);
	if (s->device_handle)
		ag_device_free(s->ctx, s->device_handle);
	s->prev->next = s->next;
	s->next->prev = s->prev;
	free(s->data);
	ag_block_free(s->ctx, s, sizeof(*s));
}

void ag_storage_drop_data(struct ag_storage *s)
{
	free(s->data);
	s->data = NULL;
}

void ag_storage_set_kind(struct ag_storage *s, enum ag_kind kind)
{
	if (s->foreign)
		return;
	s->ctx->memory.by_kind[s->kind] -= s->bytes;
	s->kind = (uint8_t)kind;
	s->ctx->memory.by_kind[s->kind] += s->bytes;
}

void ag_set_kind(struct ag_tensor *t, enum ag_kind kind)
{
	if (t && kind < AG_KIND_COUNT)
		ag_storage_set_kind(t->storage, kind);
}

void ag_storage_save(struct ag_storage *s)
{
	if (s->saved_refs++ == 0 && s->kind == AG_KIND_OTHER)
		ag_storage_set_kind(s, AG_KIND_ACTIVATION);
}

void ag_storage_unsave(struct ag_storage *s)
{
	if (--s->saved_refs == 0 && s->kind == AG_KIND_ACTIVATION)
		ag_storage_set_kind(s, AG_KIND_OTHER);
}

uint64_t ag_storage_bytes(const struct ag_storage *s)
{
	return s->bytes;
}

bool ag_set_foreign(struct ag_ctx *ctx, bool foreign)
{
	bool before = ctx->foreign;

	ctx->foreign = foreign;
	return before;
}

bool ag_storage_is_foreign(const struct ag_storage *s)
{
	return s->foreign;
}

uint64_t ag_storage_id(const struct ag_storage *s)
{
	return s->id;
}

uint32_t ag_storage_site(const struct ag_storage *s)
{
	return s->site;
}

uint32_t ag_storage_refs(const struct ag_storage *s)
{
	return s->refs;
}

enum ag_kind ag_storage_kind(const struct ag_storage *s)
{
	return (enum ag_kind)s->kind;
}

void ag_each_storage(struct ag_ctx *ctx, ag_storage_fn *fn, void *data)
{
	struct ag_storage *s = ctx->storages.next;

	while (s != &ctx->storages && fn(data, s))
		s = s->next;
}
