#include "runtime/python_random.h"

#include <math.h>
#include <stdlib.h>

static const double pi = 3.14159265358979323846;

void ag_python_seed_words(struct ag_python_random *random, const uint32_t *words, size_t count)
{
	ag_mersenne_seed_words(&random->engine, words, count);
	random->next_gauss = 0;
	random->has_next_gauss = false;
}

void ag_python_seed(struct ag_python_random *random, int64_t seed)
{
	uint64_t magnitude = seed < 0 ? 0 - (uint64_t)seed : (uint64_t)seed;
	uint32_t words[2] = {(uint32_t)magnitude, (uint32_t)(magnitude >> 32)};

	ag_python_seed_words(random, words, words[1] ? 2 : 1);
}

double ag_python_random(struct ag_python_random *random)
{
	uint32_t high = ag_mersenne_next(&random->engine) >> 5;
	uint32_t low = ag_mersenne_next(&random->engine) >> 6;

	return ((double)high * 0x1p26 + (double)low) * 0x1p-53;
}

uint64_t ag_python_bits(struct ag_python_random *random, unsigned bits)
{
	uint64_t low;

	if (bits == 0)
		return 0;
	if (bits <= 32)
		return ag_mersenne_next(&random->engine) >> (32 - bits);
	low = ag_mersenne_next(&random->engine);
	return low | (uint64_t)(ag_mersenne_next(&random->engine) >> (64 - bits)) << 32;
}

static unsigned bit_length(uint64_t value)
{
	unsigned bits = 0;

	for (; value; value >>= 1)
		bits++;
	return bits;
}

uint64_t ag_python_below(struct ag_python_random *random, uint64_t limit)
{
	unsigned bits = bit_length(limit);
	uint64_t value;

	do {
		value = ag_python_bits(random, bits);
	} while (value >= limit);
	return value;
}

int64_t ag_python_int(struct ag_python_random *random, int64_t low, int64_t high)
{
	uint64_t width = (uint64_t)high - (uint64_t)low + 1;

	/* All of the 64-bit numbers: 2^64 has 65 bits, and half of all draws are too large. */
	while (width == 0) {
		uint64_t words = ag_python_bits(random, 64);
		if (ag_python_bits(random, 1) == 0)
			return (int64_t)(words + (uint64_t)low);
	}
	return (int64_t)(ag_python_below(random, width) + (uint64_t)low);
}

double ag_python_uniform(struct ag_python_random *random, double low, double high)
{
	return low + (high - low) * ag_python_random(random);
}

double ag_python_gauss(struct ag_python_random *random, double mean, double std)
{
	double value = random->next_gauss;

	if (random->has_next_gauss) {
		random->has_next_gauss = false;
	} else {
		double angle = ag_python_random(random) * (2.0 * pi);
		double radius = sqrt(-2.0 * log(1.0 - ag_python_random(random)));
		value = cos(angle) * radius;
		random->next_gauss = sin(angle) * radius;
		random->has_next_gauss = true;
	}
	return mean + value * std;
}

/* normalvariate: Kinderman and Monahan's ratio of uniforms */
double ag_python_normal(struct ag_python_random *random, double mean, double std)
{
	const double magic = 4.0 * exp(-0.5) / sqrt(2.0);

	for (;;) {
		double first = ag_python_random(random);
		double second = 1.0 - ag_python_random(random);
		double ratio = magic * (first - 0.5) / second;
		if (ratio * ratio / 4.0 <= -log(second))
			return mean + ratio * std;
	}
}

double ag_python_exponential(struct ag_python_random *random, double lambda)
{
	return -log(1.0 - ag_python_random(random)) / lambda;
}

void ag_python_shuffle(struct ag_python_random *random, size_t *order, size_t count)
{
	for (size_t i = 0; i < count; i++)
		order[i] = i;
	for (size_t i = count; i-- > 1;) {
		size_t other = (size_t)ag_python_below(random, (uint64_t)i + 1);
		size_t moved = order[i];
		order[i] = order[other];
		order[other] = moved;
	}
}

/* Whether Python holds the whole population in a list, or only remembers what it took. */
static bool samples_from_pool(size_t count, size_t samples)
{
	double set_size = 21;

	if (samples > 5)
		set_size += pow(4, ceil(log((double)samples * 3) / log(4)));
	return (double)count <= set_size;
}

static void sample_from_pool(struct ag_python_random *random, size_t *out, size_t count,
                             size_t samples)
{
	size_t *pool = calloc(count ? count : 1, sizeof(*pool));

	if (!pool)
		abort();
	for (size_t i = 0; i < count; i++)
		pool[i] = i;
	for (size_t i = 0; i < samples; i++) {
		size_t taken = (size_t)ag_python_below(random, count - i);
		out[i] = pool[taken];
		pool[taken] = pool[count - i - 1];
	}
	free(pool);
}

/* Puts `value` into a table of `mask` + 1 slots that hold values + 1; false if it is there. */
static bool take_once(size_t *slots, size_t mask, size_t value)
{
	size_t slot = (value * (size_t)UINT64_C(0x9e3779b97f4a7c15) >> 7) & mask;

	for (; slots[slot]; slot = (slot + 1) & mask) {
		if (slots[slot] == value + 1)
			return false;
	}
	slots[slot] = value + 1;
	return true;
}

static void sample_by_rejection(struct ag_python_random *random, size_t *out, size_t count,
                                size_t samples)
{
	size_t capacity = 4;
	size_t *slots;

	while (capacity < 2 * samples)
		capacity *= 2;
	slots = calloc(capacity, sizeof(*slots));
	if (!slots)
		abort();
	for (size_t i = 0; i < samples; i++) {
		do {
			out[i] = (size_t)ag_python_below(random, count);
		} while (!take_once(slots, capacity - 1, out[i]));
	}
	free(slots);
}

void ag_python_sample(struct ag_python_random *random, size_t *out, size_t count, size_t samples)
{
	if (samples_from_pool(count, samples))
		sample_from_pool(random, out, count, samples);
	else
		sample_by_rejection(random, out, count, samples);
}

void ag_python_choices(struct ag_python_random *random, size_t *out, size_t count, size_t samples)
{
	for (size_t i = 0; i < samples; i++)
		out[i] = (size_t)floor(ag_python_random(random) * (double)count);
}

void ag_python_choices_weighted(struct ag_python_random *random, size_t *out,
                                const double *cumulative, size_t count, size_t samples)
{
	for (size_t i = 0; i < samples; i++) {
		double value = ag_python_random(random) * cumulative[count - 1];
		size_t low = 0;
		size_t high = count - 1;
		while (low < high) {
			size_t middle = (low + high) / 2;
			if (value < cumulative[middle])
				high = middle;
			else
				low = middle + 1;
		}
		out[i] = low;
	}
}
