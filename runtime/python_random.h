/*
 * Python's `random` module, bit for bit as in CPython 3.11 and later: the same seed gives the
 * same values. The struct is plain data owned by the caller and must be seeded before use.
 * Containers are the caller's: shuffle and sample work on indices 0..count-1.
 */
#ifndef GRAPHLINT_RUNTIME_PYTHON_RANDOM_H
#define GRAPHLINT_RUNTIME_PYTHON_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/mersenne.h"

struct ag_python_random {
	struct ag_mersenne engine;
	double next_gauss; /* second value of the last pair */
	bool has_next_gauss;
};

/* random.seed(integer); the sign is ignored, as Python ignores it */
void ag_python_seed(struct ag_python_random *random, int64_t seed);
/* The words of a longer integer, least significant first, count >= 1. */
void ag_python_seed_words(struct ag_python_random *random, const uint32_t *words, size_t count);

double ag_python_random(struct ag_python_random *random); /* random.random() */
/* random.getrandbits(bits), 0 <= bits <= 64 */
uint64_t ag_python_bits(struct ag_python_random *random, unsigned bits);
/* random.randrange(limit), limit > 0: also choice's and shuffle's way to an index */
uint64_t ag_python_below(struct ag_python_random *random, uint64_t limit);
/* random.randint(low, high), both included, low <= high */
int64_t ag_python_int(struct ag_python_random *random, int64_t low, int64_t high);
double ag_python_uniform(struct ag_python_random *random, double low, double high);
double ag_python_gauss(struct ag_python_random *random, double mean, double std);
double ag_python_normal(struct ag_python_random *random, double mean, double std);
double ag_python_exponential(struct ag_python_random *random, double lambda);

/* order[i] is the old index of what random.shuffle puts at i. */
void ag_python_shuffle(struct ag_python_random *random, size_t *order, size_t count);
/* random.sample(range(count), samples), samples <= count */
void ag_python_sample(struct ag_python_random *random, size_t *out, size_t count, size_t samples);
/* random.choices(range(count), k=samples), count > 0 */
void ag_python_choices(struct ag_python_random *random, size_t *out, size_t count, size_t samples);
/* ... with weights whose running sums are `cumulative`, as floats */
void ag_python_choices_weighted(struct ag_python_random *random, size_t *out,
                                const double *cumulative, size_t count, size_t samples);

#endif
