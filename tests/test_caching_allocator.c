#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/caching_allocator.h"

#define KIB UINT64_C(1024)
#define MIB (KIB * KIB)
#define GIB (MIB * KIB)

static struct ag_caching *caching;

static void open_device(uint64_t device_bytes)
{
	struct ag_caching_options options = {.device_bytes = device_bytes};

	caching = ag_caching_open(&options);
}

static void open_large_device(void)
{
	open_device(80 * GIB);
}

static void close_device(void)
{
	ag_caching_close(caching);
	caching = NULL;
}

static uint64_t allocate_on(uint32_t stream, uint64_t bytes)
{
	uint64_t address;

	ck_assert(ag_caching_allocate(caching, bytes, stream, &address));
	return address;
}

static uint64_t allocate(uint64_t bytes)
{
	return allocate_on(0, bytes);
}

static uint64_t now(enum ag_caching_metric metric)
{
	return ag_caching_stat(caching, metric, AG_CACHING_ALL).current;
}

static void expect(uint64_t allocated, uint64_t reserved)
{
	ck_assert_uint_eq(now(AG_CACHING_ALLOCATED_BYTES), allocated);
	ck_assert_uint_eq(now(AG_CACHING_RESERVED_BYTES), reserved);
}

/* A leaked scalar costs 512 bytes; 4096 of them fill a segment of 2 MiB. */
START_TEST(scalars_fill_small_segments)
{
	uint64_t first = allocate(4);

	expect(512, 2 * MIB);
	ck_assert_uint_eq(now(AG_CACHING_REQUESTED_BYTES), 4);
	ck_assert_uint_eq(now(AG_CACHING_INACTIVE_SPLIT_BYTES), 2 * MIB - 512);
	for (uint64_t i = 1; i < 4096; i++)
		ck_assert_uint_eq(allocate(4), first + i * 512);
	expect(2 * MIB, 2 * MIB);
	ck_assert_uint_eq(now(AG_CACHING_INACTIVE_SPLIT_BYTES), 0);
	allocate(4);
	expect(2 * MIB + 512, 4 * MIB);
	ck_assert_uint_eq(now(AG_CACHING_SEGMENTS), 2);
	ck_assert_uint_eq(now(AG_CACHING_ALLOCATIONS), 4097);
}
END_TEST

START_TEST(requests_are_rounded)
{
	static const struct {
		uint64_t bytes, rounded, segment;
	} rows[] = {
	        {1, 512, 2 * MIB},
	        {512, 512, 2 * MIB},
	        {513, 1024, 2 * MIB},
	        {MIB, MIB, 2 * MIB},
	        {MIB + 1, MIB + 512, 20 * MIB},
	        {10 * MIB - 1, 10 * MIB, 10 * MIB},
	        {10 * MIB - 512, 10 * MIB - 512, 20 * MIB},
	        {11 * MIB + 1, 11 * MIB + 512, 12 * MIB},
	        {30 * MIB, 30 * MIB, 30 * MIB},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t rounded = ag_caching_round(caching, rows[i].bytes);
		ck_assert_uint_eq(rounded, rows[i].rounded);
		ck_assert_uint_eq(ag_caching_segment_size(rounded), rows[i].segment);
	}
}
END_TEST

/* 1 MiB is small still: two of them share a segment. One byte more is large. */
START_TEST(pools_are_apart)
{
	uint64_t a = allocate(MIB);
	uint64_t b = allocate(MIB);
	uint64_t c;

	ck_assert_uint_eq(b, a + MIB);
	expect(2 * MIB, 2 * MIB);
	c = allocate(MIB + 1);
	expect(3 * MIB + 512, 22 * MIB);
	ck_assert_uint_eq(
	        ag_caching_stat(caching, AG_CACHING_RESERVED_BYTES, AG_CACHING_SMALL).current,
	        2 * MIB);
	ck_assert_uint_eq(
	        ag_caching_stat(caching, AG_CACHING_ALLOCATED_BYTES, AG_CACHING_LARGE).current,
	        MIB + 512);
	/* A free small segment does not serve a large request, nor the other way round. */
	ag_caching_free(caching, a);
	ag_caching_free(caching, b);
	ck_assert_uint_eq(allocate(2 * MIB), c + MIB + 512);
	ck_assert_uint_eq(allocate(MIB), a);
}
END_TEST

/* The large pool splits only when more than 1 MiB remains. */
START_TEST(large_blocks_keep_their_slack)
{
	uint64_t a = allocate(10 * MIB);

	expect(10 * MIB, 10 * MIB);
	ag_caching_free(caching, a);
	expect(0, 10 * MIB);
	ck_assert_uint_eq(allocate(9 * MIB), a); /* 1 MiB remains: charged in full */
	expect(10 * MIB, 10 * MIB);
	ck_assert_uint_eq(now(AG_CACHING_REQUESTED_BYTES), 9 * MIB);
	ag_caching_free(caching, a);
	ck_assert_uint_eq(allocate(9 * MIB - 512), a); /* 1 MiB + 512: split */
	expect(9 * MIB - 512, 10 * MIB);
	ck_assert_uint_eq(now(AG_CACHING_INACTIVE_SPLIT_BYTES), MIB + 512);
	allocate(11 * MIB + 1); /* a segment of 12 MiB of its own, not split */
	expect(21 * MIB - 512, 22 * MIB);
}
END_TEST

/* 5 MiB four times in a segment of 20 MiB; free blocks merge; the best fit wins, then the lowest.
 */
START_TEST(free_blocks_merge_and_best_fit_wins)
{
	uint64_t a = allocate(5 * MIB);
	uint64_t b = allocate(5 * MIB);
	uint64_t c = allocate(5 * MIB);
	uint64_t d = allocate(5 * MIB);

	ck_assert_uint_eq(b, a + 5 * MIB);
	ck_assert_uint_eq(d, a + 15 * MIB);
	expect(20 * MIB, 20 * MIB);
	ag_caching_free(caching, c);
	ag_caching_free(caching, a);
	ck_assert_uint_eq(now(AG_CACHING_INACTIVE_SPLIT_BLOCKS), 2);
	ck_assert_uint_eq(allocate(5 * MIB), a); /* of two equals the lower */
	ag_caching_free(caching, d);             /* c and d are one block of 10 MiB now */
	ck_assert_uint_eq(now(AG_CACHING_INACTIVE_SPLIT_BLOCKS), 1);
	ag_caching_free(caching, a);
	ck_assert_uint_eq(allocate(4 * MIB + 512), a); /* 5 MiB fits better than 10 */
	expect(10 * MIB, 20 * MIB);                    /* and is not split */
	ck_assert_uint_eq(allocate(6 * MIB), c);
	expect(16 * MIB, 20 * MIB);
	ck_assert_uint_eq(ag_caching_largest_free(caching, 0), 4 * MIB);
	ag_caching_free(caching, a);
	ag_caching_free(caching, c);
	ag_caching_free(caching, b);
	ck_assert_uint_eq(ag_caching_largest_free(caching, 0), 20 * MIB);
	ck_assert_uint_eq(now(AG_CACHING_INACTIVE_SPLIT_BYTES), 0);
	expect(0, 20 * MIB);
}
END_TEST

START_TEST(empty_cache_spares_what_is_live)
{
	uint64_t scalar = allocate(4);
	uint64_t other = allocate(4);
	uint64_t big = allocate(64 * MIB);

	ag_caching_free(caching, other);
	ag_caching_free(caching, big);
	expect(512, 66 * MIB);
	ag_caching_empty_cache(caching);
	expect(512, 2 * MIB);
	ag_caching_free(caching, scalar);
	expect(0, 2 * MIB);
	ag_caching_empty_cache(caching);
	expect(0, 0);
	ck_assert_uint_eq(now(AG_CACHING_SEGMENTS), 0);
	ck_assert_uint_eq(ag_caching_stat(caching, AG_CACHING_RESERVED_BYTES, AG_CACHING_ALL).peak,
	                  66 * MIB);
}
END_TEST

/* On 40 MiB: eight blocks of 5 MiB, every other one freed. 20 MiB are free, 8 MiB do not fit. */
START_TEST(fragmentation_fails_what_the_sum_would_fit)
{
	uint64_t address[8];
	uint64_t failed;
	char text[512];

	close_device();
	open_device(40 * MIB);
	for (int i = 0; i < 8; i++)
		address[i] = allocate(5 * MIB);
	expect(40 * MIB, 40 * MIB);
	for (int i = 0; i < 8; i += 2)
		ag_caching_free(caching, address[i]);
	expect(20 * MIB, 40 * MIB);
	ck_assert(!ag_caching_allocate(caching, 8 * MIB, 0, &failed));
	expect(20 * MIB, 40 * MIB);
	ck_assert_uint_eq(ag_caching_failures(caching), 1);
	ck_assert_uint_eq(ag_caching_retries(caching), 1);
	ck_assert_uint_lt(ag_caching_failure_text(caching, 8 * MIB, text, sizeof(text)),
	                  sizeof(text));
	ck_assert_str_eq(text, "CUDA out of memory. Tried to allocate 8.00 MiB. GPU 0 has a total "
	                       "capacity of 40.00 MiB of which 0 bytes is free. Of the allocated "
	                       "memory 20.00 MiB is allocated by PyTorch, and 20.00 MiB is "
	                       "reserved by PyTorch but unallocated.");
	ag_caching_free(caching, address[1]); /* 0, 1, 2 are one block of 15 MiB now */
	ck_assert_uint_eq(allocate(8 * MIB), address[0]);
}
END_TEST

/* Whole segments are given back when the device is full, so these 40 MiB do serve 30. */
START_TEST(a_full_device_empties_the_cache)
{
	uint64_t a;
	uint64_t b;

	close_device();
	open_device(60 * MIB);
	a = allocate(20 * MIB);
	b = allocate(20 * MIB);
	allocate(20 * MIB);
	ag_caching_free(caching, a);
	ag_caching_free(caching, b);
	allocate(30 * MIB);
	expect(50 * MIB, 50 * MIB);
	ck_assert_uint_eq(ag_caching_retries(caching), 1);
	ck_assert_uint_eq(ag_caching_failures(caching), 0);
}
END_TEST

START_TEST(streams_do_not_share_blocks)
{
	uint64_t a = allocate_on(1, 4);
	uint64_t b;

	ag_caching_free(caching, a);
	b = allocate_on(2, 4);
	ck_assert_uint_ne(a, b);
	expect(512, 4 * MIB);
	ck_assert_uint_eq(allocate_on(1, 4), a);
	ck_assert_uint_eq(ag_caching_largest_free(caching, 1), 2 * MIB - 512);
	ck_assert_uint_eq(ag_caching_largest_free(caching, 3), 0);
}
END_TEST

START_TEST(blocks_used_elsewhere_wait)
{
	uint64_t a = allocate(MIB);
	uint64_t b = allocate(MIB);

	ck_assert(
	        ag_caching_record_stream(caching, a, 0)); /* its own stream: nothing to wait for */
	ck_assert(ag_caching_record_stream(caching, a, 7));
	ck_assert(!ag_caching_record_stream(caching, a + 1, 7));
	ag_caching_free(caching, a);
	ag_caching_free(caching, b);
	expect(0, 2 * MIB);
	ck_assert_uint_eq(now(AG_CACHING_ACTIVE_BYTES), MIB);
	ck_assert_uint_eq(now(AG_CACHING_INACTIVE_SPLIT_BYTES), MIB);
	ck_assert_uint_eq(allocate(MIB), b);
	ag_caching_free(caching, b);
	ag_caching_synchronize(caching);
	ck_assert_uint_eq(now(AG_CACHING_ACTIVE_BYTES), 0);
	ck_assert_uint_eq(ag_caching_largest_free(caching, 0), 2 * MIB);
	ck_assert_uint_eq(allocate(MIB), a);
	ag_caching_free(caching, a);
}
END_TEST

START_TEST(max_split_size_keeps_large_blocks_whole)
{
	struct ag_caching_options options = {.device_bytes = 200 * MIB, .max_split_size = 50 * MIB};
	uint64_t big;
	uint64_t other;

	close_device();
	caching = ag_caching_open(&options);
	big = allocate(100 * MIB);
	ag_caching_free(caching, big);
	other = allocate(20 * MIB); /* not out of the block of 100 MiB */
	ck_assert_uint_ne(other, big);
	expect(20 * MIB, 120 * MIB);
	ck_assert_uint_ne(allocate(80 * MIB), big); /* 20 MiB too large: not taken either */
	expect(100 * MIB, 200 * MIB);
	ck_assert_uint_eq(allocate(80 * MIB + 512), big); /* less than 20 MiB larger: whole */
	expect(200 * MIB, 200 * MIB);
	ag_caching_free(caching, big);
	allocate(60 * MIB); /* gives the oversized block back, no need to empty the cache */
	ck_assert_uint_eq(ag_caching_retries(caching), 0);
	expect(160 * MIB, 160 * MIB);
}
END_TEST

START_TEST(power2_divisions_round_further)
{
	static const uint64_t rows[][2] = {
	        {100, 512},
	        {1200, 1536},
	        {2048, 2048},
	        {2049, 2560},
	        {4096, 4096},
	        {5000, 5 * 1024},
	        {1200 * KIB, 1280 * KIB},
	};
	struct ag_caching_options options = {.device_bytes = GIB, .power2_divisions = 4};

	close_device();
	caching = ag_caching_open(&options);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ck_assert_uint_eq(ag_caching_round(caching, rows[i][0]), rows[i][1]);
}
END_TEST

START_TEST(peaks_can_be_reset)
{
	uint64_t a = allocate(3 * MIB);
	uint64_t b = allocate(2 * MIB);
	struct ag_caching_stat stat;

	ag_caching_free(caching, a);
	stat = ag_caching_stat(caching, AG_CACHING_ALLOCATED_BYTES, AG_CACHING_ALL);
	ck_assert_uint_eq(stat.peak, 5 * MIB);
	ck_assert_uint_eq(stat.added, 5 * MIB);
	ck_assert_uint_eq(stat.removed, 3 * MIB);
	ag_caching_reset_peak(caching);
	stat = ag_caching_stat(caching, AG_CACHING_ALLOCATED_BYTES, AG_CACHING_ALL);
	ck_assert_uint_eq(stat.peak, 2 * MIB);
	ag_caching_free(caching, b);
}
END_TEST

START_TEST(bad_calls_change_nothing)
{
	uint64_t a = allocate(1000);
	uint64_t address = 1;

	ck_assert(ag_caching_allocate(caching, 0, 0, &address));
	ck_assert_uint_eq(address, 0);
	ck_assert(ag_caching_free(caching, 0));
	ck_assert(!ag_caching_free(caching, a + 512));
	expect(1024, 2 * MIB);
	ck_assert(!ag_caching_allocate(caching, UINT64_MAX, 0, &address));
	ck_assert(!ag_caching_allocate(caching, 81 * GIB, 0, &address));
	expect(1024, 2 * MIB);
	ck_assert(ag_caching_free(caching, a));
	ck_assert(!ag_caching_free(caching, a));
	ag_caching_close(NULL);
}
END_TEST

START_TEST(the_summary_is_a_table)
{
	char text[8192];
	size_t length;
	char few[10];

	allocate(4);
	allocate(30 * MIB);
	length = ag_caching_summary(caching, text, sizeof(text));
	ck_assert_uint_eq(length, strlen(text));
	ck_assert_ptr_nonnull(strstr(text, "| Allocated memory       |  30720 KiB |  30720 KiB |"));
	ck_assert_ptr_nonnull(strstr(text, "|       from small pool  |    512 B   |"));
	ck_assert_ptr_nonnull(strstr(text, "| GPU reserved segments  |      2     |"));
	ck_assert_uint_eq(ag_caching_summary(caching, few, sizeof(few)), length);
	ck_assert_uint_eq(strlen(few), sizeof(few) - 1);
}
END_TEST

/* A long random trace, each step against what the blocks themselves say. */

struct sums {
	uint64_t live_bytes, active_bytes, requested, reserved, split_bytes;
	uint64_t live, segments, split_blocks;
	struct ag_caching_block_info last;
	uint64_t best_size, best_address; /* the block that the next request must get */
	uint64_t wanted;
	uint32_t stream;
	uint64_t segment_blocks, segment_free;
	uint64_t segment_split_bytes, segment_split_blocks;
};

static bool idle(const struct ag_caching_block_info *block)
{
	return !block->live && !block->waiting;
}

/* Free blocks count as split off when their segment has other blocks, too. */
static void close_segment(struct sums *sums)
{
	if (sums->segment_blocks > 1) {
		sums->split_bytes += sums->segment_split_bytes;
		sums->split_blocks += sums->segment_split_blocks;
	}
	sums->segment_blocks = sums->segment_split_bytes = sums->segment_split_blocks = 0;
}

static void check_neighbours(const struct sums *sums, const struct ag_caching_block_info *block)
{
	const struct ag_caching_block_info *last = &sums->last;

	if (block->segment != last->segment) {
		ck_assert_uint_eq(block->address, block->segment);
		ck_assert_uint_ge(block->segment, last->address + last->size);
		return;
	}
	ck_assert_uint_eq(block->address, last->address + last->size);
	ck_assert(!(idle(block) && idle(last)));
	ck_assert_uint_eq(block->stream, last->stream);
}

static void consider(struct sums *sums, const struct ag_caching_block_info *block,
                     uint64_t segment_size)
{
	bool small = sums->wanted <= MIB;

	if (!idle(block) || block->stream != sums->stream || block->size < sums->wanted ||
	    small != (segment_size == 2 * MIB))
		return;
	if (!sums->best_size || block->size < sums->best_size) {
		sums->best_size = block->size;
		sums->best_address = block->address;
	}
}

struct segment_size {
	uint64_t segment, size;
};

static bool measure_segment(void *data, const struct ag_caching_block_info *block)
{
	struct segment_size *measured = data;

	if (block->segment == measured->segment)
		measured->size += block->size;
	return block->segment <= measured->segment;
}

static bool add_block(void *data, const struct ag_caching_block_info *block)
{
	struct sums *sums = data;
	struct segment_size segment = {block->segment, 0};

	check_neighbours(sums, block);
	ag_caching_each(caching, measure_segment, &segment);
	if (block->segment != sums->last.segment) {
		close_segment(sums);
		sums->segments++;
	}
	sums->segment_blocks++;
	sums->reserved += block->size;
	sums->live += block->live;
	sums->live_bytes += block->live ? block->size : 0;
	sums->active_bytes += idle(block) ? 0 : block->size;
	sums->requested += idle(block) ? 0 : block->requested;
	if (idle(block)) {
		sums->segment_split_bytes += block->size;
		sums->segment_split_blocks++;
	}
	consider(sums, block, segment.size);
	sums->last = *block;
	return true;
}

static struct sums take_sums(uint64_t wanted, uint32_t stream)
{
	struct sums sums = {.wanted = wanted, .stream = stream};

	ag_caching_each(caching, add_block, &sums);
	close_segment(&sums);
	ck_assert_uint_eq(sums.live_bytes, now(AG_CACHING_ALLOCATED_BYTES));
	ck_assert_uint_eq(sums.active_bytes, now(AG_CACHING_ACTIVE_BYTES));
	ck_assert_uint_eq(sums.requested, now(AG_CACHING_REQUESTED_BYTES));
	ck_assert_uint_eq(sums.reserved, now(AG_CACHING_RESERVED_BYTES));
	ck_assert_uint_eq(sums.split_bytes, now(AG_CACHING_INACTIVE_SPLIT_BYTES));
	ck_assert_uint_eq(sums.split_blocks, now(AG_CACHING_INACTIVE_SPLIT_BLOCKS));
	ck_assert_uint_eq(sums.live, now(AG_CACHING_ALLOCATIONS));
	ck_assert_uint_eq(sums.segments, now(AG_CACHING_SEGMENTS));
	return sums;
}

static uint64_t dice(uint64_t *state, uint64_t sides)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (*state >> 33) % sides;
}

enum { SLOTS = 40 };

static void random_step(uint64_t *state, uint64_t *slots)
{
	uint64_t slot = dice(state, SLOTS);
	uint32_t stream = dice(state, 8) == 0;
	uint64_t bytes = dice(state, UINT64_C(1) << (4 + dice(state, 20))) + 1;
	uint64_t rounded = ag_caching_round(caching, bytes);
	struct sums sums;

	if (slots[slot]) {
		if (dice(state, 10) == 0)
			ck_assert(ag_caching_record_stream(caching, slots[slot], 5));
		ck_assert(ag_caching_free(caching, slots[slot]));
		slots[slot] = 0;
		return;
	}
	sums = take_sums(rounded, stream);
	if (!ag_caching_allocate(caching, bytes, stream, &slots[slot])) {
		ck_assert_uint_eq(sums.best_size, 0);
		return;
	}
	if (sums.best_size)
		ck_assert_uint_eq(slots[slot], sums.best_address);
}

START_TEST(random_traces_keep_the_counters)
{
	uint64_t state = (uint64_t)_i + 1;
	uint64_t slots[SLOTS] = {0};

	close_device();
	open_device(100 * MIB);
	for (int step = 0; step < 600; step++) {
		random_step(&state, slots);
		if (dice(&state, 50) == 0)
			ag_caching_empty_cache(caching);
		if (dice(&state, 50) == 0)
			ag_caching_synchronize(caching);
		take_sums(0, 9);
	}
	for (int i = 0; i < SLOTS; i++)
		ag_caching_free(caching, slots[i]);
	ag_caching_empty_cache(caching);
	expect(0, 0);
}
END_TEST

Suite *caching_allocator_suite(void);

Suite *caching_allocator_suite(void)
{
	Suite *suite = suite_create("caching_allocator");
	TCase *traces = tcase_create("traces");

	tcase_add_checked_fixture(traces, open_large_device, close_device);
	tcase_add_test(traces, scalars_fill_small_segments);
	tcase_add_test(traces, requests_are_rounded);
	tcase_add_test(traces, pools_are_apart);
	tcase_add_test(traces, large_blocks_keep_their_slack);
	tcase_add_test(traces, free_blocks_merge_and_best_fit_wins);
	tcase_add_test(traces, empty_cache_spares_what_is_live);
	tcase_add_test(traces, fragmentation_fails_what_the_sum_would_fit);
	tcase_add_test(traces, a_full_device_empties_the_cache);
	tcase_add_test(traces, streams_do_not_share_blocks);
	tcase_add_test(traces, blocks_used_elsewhere_wait);
	tcase_add_test(traces, max_split_size_keeps_large_blocks_whole);
	tcase_add_test(traces, power2_divisions_round_further);
	tcase_add_test(traces, peaks_can_be_reset);
	tcase_add_test(traces, bad_calls_change_nothing);
	tcase_add_test(traces, the_summary_is_a_table);
	tcase_add_loop_test(traces, random_traces_keep_the_counters, 0, 4);
	suite_add_tcase(suite, traces);
	return suite;
}
