/* The caching allocator model's sizes and counters. */
#include "runtime/caching_internal.h"

static const uint64_t small_segment = 2 * CACHING_MIB;
static const uint64_t own_segment = 10 * CACHING_MIB; /* from here on a segment per request */
static const uint64_t segment_unit = 2 * CACHING_MIB;

static uint64_t round_up(uint64_t value, uint64_t unit)
{
	return (value + unit - 1) / unit * unit;
}

/* Up to the next of `divisions` equal parts of the interval between two powers of two. */
static uint64_t round_in_power2(uint64_t bytes, unsigned divisions)
{
	uint64_t floor = CACHING_SMALLEST_BLOCK;

	while (floor <= bytes / 2)
		floor *= 2;
	return bytes == floor ? bytes : round_up(bytes, floor / divisions);
}

uint64_t ag_caching_round(const struct ag_caching *caching, uint64_t bytes)
{
	unsigned divisions = caching->options.power2_divisions;

	if (bytes < CACHING_SMALLEST_BLOCK)
		return CACHING_SMALLEST_BLOCK;
	if (divisions > 1 && bytes > CACHING_SMALLEST_BLOCK * divisions)
		return round_in_power2(bytes, divisions);
	return round_up(bytes, CACHING_SMALLEST_BLOCK);
}

uint64_t ag_caching_segment_size(uint64_t rounded)
{
	if (rounded <= CACHING_LARGEST_SMALL)
		return small_segment;
	if (rounded < own_segment)
		return CACHING_MEDIUM_SEGMENT;
	return round_up(rounded, segment_unit);
}

void caching_stat_add(struct ag_caching *caching, enum ag_caching_metric metric, bool small,
                      uint64_t amount)
{
	enum ag_caching_pool pools[] = {AG_CACHING_ALL,
	                                small ? AG_CACHING_SMALL : AG_CACHING_LARGE};

	for (int i = 0; i < 2; i++) {
		struct ag_caching_stat *stat = &caching->stats[metric][pools[i]];
		stat->current += amount;
		stat->added += amount;
		if (stat->current > stat->peak)
			stat->peak = stat->current;
	}
}

void caching_stat_remove(struct ag_caching *caching, enum ag_caching_metric metric, bool small,
                         uint64_t amount)
{
	enum ag_caching_pool pools[] = {AG_CACHING_ALL,
	                                small ? AG_CACHING_SMALL : AG_CACHING_LARGE};

	for (int i = 0; i < 2; i++) {
		struct ag_caching_stat *stat = &caching->stats[metric][pools[i]];
		stat->current -= amount;
		stat->removed += amount;
	}
}

struct ag_caching_stat ag_caching_stat(const struct ag_caching *caching,
                                       enum ag_caching_metric metric, enum ag_caching_pool pool)
{
	return caching->stats[metric][pool];
}

void ag_caching_reset_peak(struct ag_caching *caching)
{
	for (int metric = 0; metric < AG_CACHING_METRICS; metric++) {
		for (int pool = 0; pool < AG_CACHING_POOLS; pool++) {
			struct ag_caching_stat *stat = &caching->stats[metric][pool];
			stat->peak = stat->current;
		}
	}
}

uint64_t ag_caching_retries(const struct ag_caching *caching)
{
	return caching->retries;
}

uint64_t ag_caching_failures(const struct ag_caching *caching)
{
	return caching->failures;
}
