/*
 * A model of PyTorch's CUDA caching allocator on fake addresses: it holds no memory, it tells what
 * the real one would reserve, keep and refuse. Requests are rounded to 512 bytes and served by the
 * smallest free block that fits, out of segments that stay reserved when they are free. Small
 * requests (to 1 MiB) and large ones have pools of their own; blocks are reused on their stream
 * only. Figures taken from it are modelled, not measured. At all times: the blocks of a segment
 * cover it, two free blocks are never neighbours, and the counters equal sums over the blocks.
 */
#ifndef GRAPHLINT_RUNTIME_CACHING_ALLOCATOR_H
#define GRAPHLINT_RUNTIME_CACHING_ALLOCATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ag_caching;

struct ag_caching_options {
	uint64_t device_bytes;     /* what all segments together may take */
	uint64_t max_split_size;   /* bytes; 0: no limit */
	unsigned power2_divisions; /* roundup_power2_divisions; 0: off; else a power of two */
};

struct ag_caching *ag_caching_open(const struct ag_caching_options *options);
void ag_caching_close(struct ag_caching *caching); /* NULL is fine; live blocks go too */

/*
 * False: out of memory, nothing changed but the cache, which was emptied in the attempt. A request
 * of 0 bytes gets address 0 and takes nothing.
 */
bool ag_caching_allocate(struct ag_caching *caching, uint64_t bytes, uint32_t stream,
                         uint64_t *address);
/* `address` must be live (or 0): anything else is ignored and false. */
bool ag_caching_free(struct ag_caching *caching, uint64_t address);
/* The block is in use on another stream too: once freed it waits for ag_caching_synchronize. */
bool ag_caching_record_stream(struct ag_caching *caching, uint64_t address, uint32_t stream);
void ag_caching_synchronize(struct ag_caching *caching);
void ag_caching_empty_cache(struct ag_caching *caching);

enum ag_caching_metric {
#define METRIC(id, title, is_bytes) AG_CACHING_##id,
#include "runtime/caching_metrics.def"
#undef METRIC
	AG_CACHING_METRICS
};

enum ag_caching_pool { AG_CACHING_ALL, AG_CACHING_LARGE, AG_CACHING_SMALL, AG_CACHING_POOLS };

struct ag_caching_stat {
	uint64_t current, peak, added, removed;
};

struct ag_caching_stat ag_caching_stat(const struct ag_caching *caching,
                                       enum ag_caching_metric metric, enum ag_caching_pool pool);
void ag_caching_reset_peak(struct ag_caching *caching);
uint64_t ag_caching_retries(const struct ag_caching *caching);  /* cache emptied to go on */
uint64_t ag_caching_failures(const struct ag_caching *caching); /* out of memory */
/* The largest request that could be served from free blocks of this stream. */
uint64_t ag_caching_largest_free(const struct ag_caching *caching, uint32_t stream);

/* The size a request is rounded to, and the segment got for one that no free block serves. */
uint64_t ag_caching_round(const struct ag_caching *caching, uint64_t bytes);
uint64_t ag_caching_segment_size(uint64_t rounded);

/* Each block, by address. `segment` is the address of the segment that it is a part of. */
struct ag_caching_block_info {
	uint64_t address, size, requested, segment;
	uint32_t stream;
	bool live;    /* allocated */
	bool waiting; /* freed, but in use on another stream */
};
typedef bool ag_caching_visit_fn(void *data, const struct ag_caching_block_info *block);
void ag_caching_each(const struct ag_caching *caching, ag_caching_visit_fn *visit, void *data);

/* torch.cuda.memory_summary's table. The length needed; at most `size` bytes with a NUL. */
size_t ag_caching_summary(const struct ag_caching *caching, char *out, size_t size);
/* The text of the error that a failed request of `bytes` raises; as above. */
size_t ag_caching_failure_text(const struct ag_caching *caching, uint64_t bytes, char *out,
                               size_t size);

#endif
