#include "runtime/random.h"

#include <math.h>

/* From this range on PyTorch takes 64 random bits for an integer. */
#define WIDE_RANGE (UINT64_C(1) << 28)

void ag_random_seed(struct ag_random *random, uint64_t seed)
{
	ag_mersenne_seed(&random->engine, (uint32_t)seed);
	random->seed = seed;
	random->cached_normal = 0;
	random->has_cached_normal = false;
}

uint32_t ag_random_u32(struct ag_random *random)
{
	return ag_mersenne_next(&random->engine);
}

uint64_t ag_random_u64(struct ag_random *random)
{
	uint64_t high = ag_mersenne_next(&random->engine);

	return high << 32 | ag_mersenne_next(&random->engine);
}

float ag_random_uniform_f32(struct ag_random *random)
{
	return (float)(ag_random_u32(random) & 0xffffff) * 0x1p-24f;
}

double ag_random_uniform_f64(struct ag_random *random)
{
	return (double)(ag_random_u64(random) & ((UINT64_C(1) << 53) - 1)) * 0x1p-53;
}

void ag_random_fill_uniform_f32(struct ag_random *random, float *out, size_t count, double from,
                                double to)
{
	float low = (float)from;
	float high = (float)to;

	for (size_t i = 0; i < count; i++) {
		float value = fmaf(ag_random_uniform_f32(random), high - low, low);
		out[i] = value == high ? low : value;
	}
}

void ag_random_fill_uniform_f64(struct ag_random *random, double *out, size_t count, double from,
                                double to)
{
	for (size_t i = 0; i < count; i++) {
		double value = fma(ag_random_uniform_f64(random), to - from, from);
		out[i] = value == to ? from : value;
	}
}

static double exponential(struct ag_random *random, double lambda)
{
	return -1.0 / lambda * log1p(-ag_random_uniform_f64(random));
}

void ag_random_fill_exponential_f32(struct ag_random *random, float *out, size_t count,
                                    double lambda)
{
	for (size_t i = 0; i < count; i++)
		out[i] = (float)exponential(random, lambda);
}

void ag_random_fill_exponential_f64(struct ag_random *random, double *out, size_t count,
                                    double lambda)
{
	for (size_t i = 0; i < count; i++)
		out[i] = exponential(random, lambda);
}

void ag_random_fill_bernoulli_f32(struct ag_random *random, float *out, size_t count, double p)
{
	for (size_t i = 0; i < count; i++)
		out[i] = ag_random_uniform_f64(random) < p ? 1.0F : 0.0F;
}

void ag_random_fill_bernoulli_f64(struct ag_random *random, double *out, size_t count, double p)
{
	for (size_t i = 0; i < count; i++)
		out[i] = ag_random_uniform_f64(random) < p ? 1.0 : 0.0;
}

void ag_random_fill_bernoulli_each_f32(struct ag_random *random, float *out,
                                       const float *probabilities, size_t count)
{
	for (size_t i = 0; i < count; i++)
		out[i] = ag_random_uniform_f32(random) < probabilities[i] ? 1.0F : 0.0F;
}

void ag_random_fill_bernoulli_each_f64(struct ag_random *random, double *out,
                                       const double *probabilities, size_t count)
{
	for (size_t i = 0; i < count; i++)
		out[i] = ag_random_uniform_f64(random) < probabilities[i] ? 1.0 : 0.0;
}

void ag_random_fill_dropout_f32(struct ag_random *random, float *noise, size_t count, double p)
{
	float scale = 1.0F / (float)(1.0 - p);

	ag_random_fill_bernoulli_f32(random, noise, count, 1.0 - p);
	for (size_t i = 0; i < count; i++)
		noise[i] *= scale;
}

void ag_random_fill_dropout_f64(struct ag_random *random, double *noise, size_t count, double p)
{
	double scale = 1.0 / (1.0 - p);

	ag_random_fill_bernoulli_f64(random, noise, count, 1.0 - p);
	for (size_t i = 0; i < count; i++)
		noise[i] *= scale;
}

void ag_random_fill_int64(struct ag_random *random, int64_t *out, size_t count, int64_t low,
                          int64_t high)
{
	uint64_t range = (uint64_t)high - (uint64_t)low;

	for (size_t i = 0; i < count; i++) {
		uint64_t bits = range >= WIDE_RANGE ? ag_random_u64(random) : ag_random_u32(random);
		out[i] = (int64_t)(bits % range + (uint64_t)low);
	}
}

void ag_random_fill_permutation(struct ag_random *random, int64_t *out, size_t count)
{
	bool wide = count >= UINT32_MAX / 20;

	for (size_t i = 0; i < count; i++)
		out[i] = (int64_t)i;
	for (size_t i = 0; i + 1 < count; i++) {
		uint64_t bits = wide ? ag_random_u64(random) : ag_random_u32(random);
		size_t other = i + (size_t)(bits % (count - i));
		int64_t moved = out[i];
		out[i] = out[other];
		out[other] = moved;
	}
}
