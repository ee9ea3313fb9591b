#include "runtime/numpy_random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- 128 bits */

static struct ag_wide product_of(uint64_t a, uint64_t b)
{
	uint64_t low = (a & UINT32_MAX) * (b & UINT32_MAX);
	uint64_t first = (a >> 32) * (b & UINT32_MAX) + (low >> 32);
	uint64_t second = (a & UINT32_MAX) * (b >> 32) + (first & UINT32_MAX);

	return (struct ag_wide){(a >> 32) * (b >> 32) + (first >> 32) + (second >> 32),
	                        second << 32 | (low & UINT32_MAX)};
}

static struct ag_wide wide_multiply(struct ag_wide a, struct ag_wide b)
{
	struct ag_wide p = product_of(a.low, b.low);

	p.high += a.high * b.low + a.low * b.high;
	return p;
}

static struct ag_wide wide_add(struct ag_wide a, struct ag_wide b)
{
	uint64_t low = a.low + b.low;

	return (struct ag_wide){a.high + b.high + (low < a.low), low};
}

/* --- words */

static void pcg_step(struct ag_numpy_random *random)
{
	static const struct ag_wide multiplier = {0x2360ed051fc65da4, 0x4385df649fccf645};

	random->state = wide_add(wide_multiply(random->state, multiplier), random->increment);
}

static uint64_t next_64(struct ag_numpy_random *random)
{
	uint64_t high, mixed;
	unsigned turn;

	if (!random->is_generator) {
		high = ag_mersenne_next(&random->engine);
		return high << 32 | ag_mersenne_next(&random->engine);
	}
	pcg_step(random);
	mixed = random->state.high ^ random->state.low;
	turn = (unsigned)(random->state.high >> 58);
	return mixed >> turn | mixed << (-turn & 63);
}

static uint32_t next_32(struct ag_numpy_random *random)
{
	uint64_t both;

	if (!random->is_generator)
		return ag_mersenne_next(&random->engine);
	if (random->has_half) {
		random->has_half = false;
		return random->half;
	}
	both = next_64(random);
	random->half = (uint32_t)(both >> 32);
	random->has_half = true;
	return (uint32_t)both;
}

double ag_numpy_double(struct ag_numpy_random *random)
{
	uint32_t high, low;

	if (random->is_generator)
		return (double)(next_64(random) >> 11) * 0x1p-53;
	high = ag_mersenne_next(&random->engine) >> 5;
	low = ag_mersenne_next(&random->engine) >> 6;
	return ((double)high * 0x1p26 + (double)low) * 0x1p-53;
}

/* --- seeds */

void ag_numpy_seed(struct ag_numpy_random *random, uint32_t seed)
{
	memset(random, 0, sizeof(*random));
	ag_mersenne_seed(&random->engine, seed);
}

enum { POOL = 4, SEED_WORDS = 8 };

struct seed_pool {
	uint32_t at[POOL];
	uint32_t factor;
};

static uint32_t pool_hash(struct seed_pool *pool, uint32_t value)
{
	value ^= pool->factor;
	pool->factor *= 0x931e8875U;
	value *= pool->factor;
	return value ^ value >> 16;
}

static void pool_mix(struct seed_pool *pool, size_t into, uint32_t value)
{
	uint32_t mixed = pool->at[into] * 0xca01f9ddU - pool_hash(pool, value) * 0x4973f715U;

	pool->at[into] = mixed ^ mixed >> 16;
}

static void pool_fill(struct seed_pool *pool, const uint32_t *words, size_t count)
{
	pool->factor = 0x43b0d7e5U;
	for (size_t i = 0; i < POOL; i++)
		pool->at[i] = pool_hash(pool, i < count ? words[i] : 0);
	for (size_t from = 0; from < POOL; from++)
		for (size_t into = 0; into < POOL; into++)
			if (from != into)
				pool_mix(pool, into, pool->at[from]);
	for (size_t from = POOL; from < count; from++)
		for (size_t into = 0; into < POOL; into++)
			pool_mix(pool, into, words[from]);
}

void ag_numpy_seed_generator(struct ag_numpy_random *random, const uint32_t *words, size_t count)
{
	struct seed_pool pool;
	uint32_t factor = 0x8b51f9ddU;
	uint64_t seeds[SEED_WORDS / 2] = {0};

	memset(random, 0, sizeof(*random));
	pool_fill(&pool, words, count);
	for (size_t i = 0; i < SEED_WORDS; i++) {
		uint32_t word = pool.at[i % POOL] ^ factor;

		factor *= 0x58f38dedU;
		word *= factor;
		seeds[i / 2] |= (uint64_t)(word ^ word >> 16) << 32 * (i % 2);
	}
	random->is_generator = true;
	random->increment = (struct ag_wide){seeds[2] << 1 | seeds[3] >> 63, seeds[3] << 1 | 1};
	pcg_step(random);
	random->state = wide_add(random->state, (struct ag_wide){seeds[0], seeds[1]});
	pcg_step(random);
}

/* --- integers */

static uint64_t masked(struct ag_numpy_random *random, uint64_t width)
{
	uint64_t mask = width, value;

	for (unsigned shift = 1; shift < 64; shift *= 2)
		mask |= mask >> shift;
	do {
		value = (width <= UINT32_MAX ? next_32(random) : next_64(random)) & mask;
	} while (value > width);
	return value;
}

static uint64_t scaled_32(struct ag_numpy_random *random, uint32_t width)
{
	uint32_t count = width + 1, least = (UINT32_MAX - width) % count;
	uint64_t product;

	do {
		product = (uint64_t)next_32(random) * count;
	} while ((uint32_t)product < least);
	return product >> 32;
}

static uint64_t scaled_64(struct ag_numpy_random *random, uint64_t width)
{
	uint64_t count = width + 1, least = (UINT64_MAX - width) % count;
	struct ag_wide product;

	do {
		product = product_of(next_64(random), count);
	} while (product.low < least);
	return product.high;
}

static uint64_t bounded(struct ag_numpy_random *random, uint64_t width)
{
	if (width == 0)
		return 0;
	if (width == UINT32_MAX)
		return next_32(random);
	if (width == UINT64_MAX)
		return next_64(random);
	if (!random->is_generator)
		return masked(random, width);
	return width < UINT32_MAX ? scaled_32(random, (uint32_t)width) : scaled_64(random, width);
}

int64_t ag_numpy_integer(struct ag_numpy_random *random, int64_t low, uint64_t width)
{
	return (int64_t)((uint64_t)low + bounded(random, width));
}

typedef uint64_t below_fn(struct ag_numpy_random *random, uint64_t width);

static void shuffle_from(struct ag_numpy_random *random, int64_t *at, size_t count, size_t first,
                         below_fn *below)
{
	for (size_t i = count; i-- > (first ? first : 1);) {
		size_t other = (size_t)below(random, i);
		int64_t moved = at[other];

		at[other] = at[i];
		at[i] = moved;
	}
}

static void count_up(int64_t *order, size_t count)
{
	for (size_t i = 0; i < count; i++)
		order[i] = (int64_t)i;
}

void ag_numpy_shuffle(struct ag_numpy_random *random, int64_t *order, size_t count)
{
	count_up(order, count);
	shuffle_from(random, order, count, 1, masked);
}

void ag_numpy_sample(struct ag_numpy_random *random, int64_t *out, size_t count, size_t samples)
{
	enum { LARGE = 10000, FEW = 50 };
	bool pool = count > LARGE && samples > count / FEW;
	int64_t *order = pool ? calloc(count, sizeof(*order)) : NULL;
	bool *taken = pool ? NULL : calloc(count + 1, sizeof(*taken));

	if (!order && !taken)
		abort();
	if (pool) {
		count_up(order, count);
		shuffle_from(random, order, count, count - samples, bounded);
		memcpy(out, order + count - samples, samples * sizeof(*out));
	}
	for (size_t i = count - samples; !pool && i < count; i++) {
		size_t value = (size_t)bounded(random, i);

		value = taken[value] ? i : value;
		taken[value] = true;
		out[i + samples - count] = (int64_t)value;
	}
	if (!pool)
		shuffle_from(random, out, samples, 1, bounded);
	free(order);
	free(taken);
}

/* --- normal: Marsaglia's polar method, or a ziggurat of 256 layers of equal area */

static double polar(struct ag_numpy_random *random)
{
	double x, y, square, factor;

	if (random->has_next_normal) {
		random->has_next_normal = false;
		return random->next_normal;
	}
	do {
		x = 2.0 * ag_numpy_double(random) - 1.0;
		y = 2.0 * ag_numpy_double(random) - 1.0;
		square = x * x + y * y;
	} while (square >= 1.0 || square == 0.0);
	factor = sqrt(-2.0 * log(square) / square);
	random->next_normal = factor * x;
	random->has_next_normal = true;
	return factor * y;
}

static const double tail = 3.6541528853610088;

/* The base layer holds the tail, too: as wide as a rectangle of the area would be. Values are
 * NumPy's but for the last bit. */
static void ziggurat_build(struct ag_ziggurat *z)
{
	const double area = 0.004928673233974655, steps = 0x1p52;
	double x = tail, density = exp(-0.5 * tail * tail);

	z->inside[0] = (uint64_t)(x * density / area * steps);
	z->scale[0] = area / density / steps;
	z->density[0] = 1;
	for (size_t i = AG_ZIGGURAT_LAYERS - 1; i > 0; i--) {
		double inner = i > 1 ? sqrt(-2.0 * log(area / x + density)) : 0;

		z->inside[i] = (uint64_t)(inner / x * steps);
		z->scale[i] = x / steps;
		z->density[i] = density;
		density = exp(-0.5 * inner * inner);
		x = inner;
	}
	z->ready = true;
}

static double beyond(struct ag_numpy_random *random, bool negative)
{
	double x, y;

	do {
		x = -(1 / tail) * log1p(-ag_numpy_double(random));
		y = -log1p(-ag_numpy_double(random));
	} while (y + y <= x * x);
	return negative ? -(tail + x) : tail + x;
}

static double ziggurat(struct ag_numpy_random *random)
{
	const struct ag_ziggurat *z = &random->normal;

	if (!z->ready)
		ziggurat_build(&random->normal);
	for (;;) {
		uint64_t bits = next_64(random), size = bits >> 9 & 0xfffffffffffff;
		unsigned layer = bits & 0xff;
		double x = (double)size * z->scale[layer] * (bits & 0x100 ? -1.0 : 1.0);

		if (size < z->inside[layer])
			return x;
		if (layer == 0)
			return beyond(random, size >> 8 & 1);
		if ((z->density[layer - 1] - z->density[layer]) * ag_numpy_double(random) +
		            z->density[layer] <
		    exp(-0.5 * x * x))
			return x;
	}
}

double ag_numpy_normal(struct ag_numpy_random *random)
{
	return random->is_generator ? ziggurat(random) : polar(random);
}

/* --- other distributions */

double ag_numpy_exponential(struct ag_numpy_random *random)
{
	return -log(1.0 - ag_numpy_double(random));
}

static double gamma_small(struct ag_numpy_random *random, double shape)
{
	for (;;) {
		double u = ag_numpy_double(random), v = ag_numpy_exponential(random), x, y = 0;

		if (u <= 1.0 - shape) {
			x = pow(u, 1.0 / shape);
		} else {
			y = -log((1 - u) / shape);
			x = pow(1.0 - shape + shape * y, 1.0 / shape);
		}
		if (x <= v + y)
			return x;
	}
}

/* Marsaglia and Tsang's */
static double gamma_large(struct ag_numpy_random *random, double shape)
{
	double b = shape - 1.0 / 3.0, c = 1.0 / sqrt(9 * b);

	for (;;) {
		double x, v, u;

		do {
			x = ag_numpy_normal(random);
			v = 1.0 + c * x;
		} while (v <= 0.0);
		v = v * v * v;
		u = ag_numpy_double(random);
		if (u < 1.0 - 0.0331 * (x * x) * (x * x) ||
		    log(u) < 0.5 * x * x + b * (1.0 - v + log(v)))
			return b * v;
	}
}

double ag_numpy_gamma(struct ag_numpy_random *random, double shape)
{
	if (shape == 1.0)
		return ag_numpy_exponential(random);
	if (shape == 0.0)
		return 0;
	return shape < 1.0 ? gamma_small(random, shape) : gamma_large(random, shape);
}

/* Jöhnk's, where both sides are powers of uniform numbers */
static double beta_small(struct ag_numpy_random *random, double a, double b)
{
	double u, v, x, y, most;

	do {
		u = ag_numpy_double(random);
		v = ag_numpy_double(random);
		x = pow(u, 1.0 / a);
		y = pow(v, 1.0 / b);
	} while (x + y > 1.0 || u + v == 0.0);
	if (x + y > 0)
		return x / (x + y);
	x = log(u) / a;
	y = log(v) / b;
	most = x > y ? x : y;
	return exp(x - most - log(exp(x - most) + exp(y - most)));
}

double ag_numpy_beta(struct ag_numpy_random *random, double a, double b)
{
	double x;

	if (a <= 1.0 && b <= 1.0)
		return beta_small(random, a, b);
	x = ag_numpy_gamma(random, a);
	return x / (x + ag_numpy_gamma(random, b));
}

int64_t ag_numpy_binomial(struct ag_numpy_random *random, int64_t trials, double p)
{
	double small = p <= 0.5 ? p : 1.0 - p, other = 1.0 - small, n = (double)trials;
	double none = exp(n * log(other)), chance = none, u, mean = n * small;
	double most = fmin(n, mean + 10.0 * sqrt(mean * other + 1));
	int64_t x = 0;

	if (trials == 0 || p == 0.0)
		return 0;
	u = ag_numpy_double(random);
	while (u > chance) {
		if ((double)++x > most) {
			x = 0;
			chance = none;
			u = ag_numpy_double(random);
		} else {
			u -= chance;
			chance = (double)(trials - x + 1) * small * chance / ((double)x * other);
		}
	}
	return p <= 0.5 ? x : trials - x;
}

int64_t ag_numpy_poisson(struct ag_numpy_random *random, double mean)
{
	double least = exp(-mean), product = 1;
	int64_t x = 0;

	if (mean == 0)
		return 0;
	for (product *= ag_numpy_double(random); product > least;
	     product *= ag_numpy_double(random))
		x++;
	return x;
}
