/*
 * NumPy's random streams: the Mersenne twister of numpy.random's functions and of RandomState, and
 * the PCG64 of default_rng. The same seed gives the same values, bit for bit, but for the last bit
 * of normal numbers of default_rng. The struct is plain data owned by the caller and must be seeded
 * before use; arrays are the caller's.
 */
#ifndef GRAPHLINT_RUNTIME_NUMPY_RANDOM_H
#define GRAPHLINT_RUNTIME_NUMPY_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/mersenne.h"

/* A number of 128 bits. */
struct ag_wide {
	uint64_t high, low;
};

enum { AG_ZIGGURAT_LAYERS = 256 };

struct ag_ziggurat {
	uint64_t inside[AG_ZIGGURAT_LAYERS]; /* below it, a draw needs no test */
	double scale[AG_ZIGGURAT_LAYERS], density[AG_ZIGGURAT_LAYERS];
	bool ready;
};

struct ag_numpy_random {
	bool is_generator; /* of default_rng */
	struct ag_mersenne engine;
	struct ag_wide state, increment;
	struct ag_ziggurat normal;
	double next_normal; /* second value of the last pair */
	bool has_next_normal;
	uint32_t half; /* of the last 64 bits */
	bool has_half;
};

/* numpy.random.seed(number) */
void ag_numpy_seed(struct ag_numpy_random *random, uint32_t seed);
/* numpy.random.default_rng(integer): its words, least significant first, count >= 1 */
void ag_numpy_seed_generator(struct ag_numpy_random *random, const uint32_t *words, size_t count);

double ag_numpy_double(struct ag_numpy_random *random); /* in [0, 1) */
double ag_numpy_normal(struct ag_numpy_random *random);
/* From low to low + width, both included. */
int64_t ag_numpy_integer(struct ag_numpy_random *random, int64_t low, uint64_t width);
/* These are for a stream that is no generator's, but for a beta of two shapes up to 1. */
double ag_numpy_exponential(struct ag_numpy_random *random);
double ag_numpy_gamma(struct ag_numpy_random *random, double shape);
double ag_numpy_beta(struct ag_numpy_random *random, double a, double b);
/* trials * min(p, 1 - p) <= 30 */
int64_t ag_numpy_binomial(struct ag_numpy_random *random, int64_t trials, double p);
int64_t ag_numpy_poisson(struct ag_numpy_random *random, double mean); /* below 10 */

/* order[i] is the old index of what shuffling puts at i. */
void ag_numpy_shuffle(struct ag_numpy_random *random, int64_t *order, size_t count);
/* Generator.choice(count, samples, replace=False) */
void ag_numpy_sample(struct ag_numpy_random *random, int64_t *out, size_t count, size_t samples);

#endif
