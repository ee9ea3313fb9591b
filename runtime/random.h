/*
 * PyTorch's CPU random generator, bit for bit: the same seed gives the values that torch.rand,
 * randn, randint, ... give, in the same order of draws. It fills plain contiguous arrays and
 * knows no tensors. The struct is plain data owned by the caller; copying it copies the stream
 * (get_rng_state, set_rng_state). It must be seeded before the first draw.
 *
 * The reference is PyTorch on x86-64 with AVX2. On Intel processors PyTorch draws bernoulli_ and
 * dropout from MKL's generator instead; such streams are not reproduced here.
 */
#ifndef GRAPHLINT_RUNTIME_RANDOM_H
#define GRAPHLINT_RUNTIME_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/mersenne.h"

/* Bytes of PyTorch's generator state tensor: what a checkpoint keeps of the generator. */
enum { AG_RANDOM_STATE_BYTES = 5056 };

/* For programs that set no seed; PyTorch takes one from the system then. */
#define AG_RANDOM_DEFAULT_SEED UINT64_C(67280421310721)

struct ag_random {
	struct ag_mersenne engine;
	uint64_t seed;
	double cached_normal; /* second value of the last Box-Muller pair */
	bool has_cached_normal;
};

void ag_random_seed(struct ag_random *random, uint64_t seed);

/* Single draws. The uniform ones lie in [0, 1): 24 bits for float, 53 for double. */
uint32_t ag_random_u32(struct ag_random *random);
uint64_t ag_random_u64(struct ag_random *random);
float ag_random_uniform_f32(struct ag_random *random);
double ag_random_uniform_f64(struct ag_random *random);
double ag_random_normal_f64(struct ag_random *random, double mean, double std);

/* torch.rand, uniform_ */
void ag_random_fill_uniform_f32(struct ag_random *random, float *out, size_t count, double from,
                                double to);
void ag_random_fill_uniform_f64(struct ag_random *random, double *out, size_t count, double from,
                                double to);

/* torch.randn, normal_: from 16 values on another scheme than below */
void ag_random_fill_normal_f32(struct ag_random *random, float *out, size_t count, double mean,
                               double std);
void ag_random_fill_normal_f64(struct ag_random *random, double *out, size_t count, double mean,
                               double std);
/* The stream of float16 and bfloat16 tensors; the caller rounds the values. */
void ag_random_fill_normal_half(struct ag_random *random, float *out, size_t count, double mean,
                                double std);

void ag_random_fill_exponential_f32(struct ag_random *random, float *out, size_t count,
                                    double lambda);
void ag_random_fill_exponential_f64(struct ag_random *random, double *out, size_t count,
                                    double lambda);

/* torch._standard_gamma; in double, too, what torch._sample_dirichlet normalizes */
void ag_random_fill_gamma_f32(struct ag_random *random, float *out, const float *alpha,
                              size_t count);
void ag_random_fill_gamma_f64(struct ag_random *random, double *out, const double *alpha,
                              size_t count);

/* bernoulli_(p): 0 or 1 */
void ag_random_fill_bernoulli_f32(struct ag_random *random, float *out, size_t count, double p);
void ag_random_fill_bernoulli_f64(struct ag_random *random, double *out, size_t count, double p);
/* torch.bernoulli(probabilities) and bernoulli_(probabilities) */
void ag_random_fill_bernoulli_each_f32(struct ag_random *random, float *out,
                                       const float *probabilities, size_t count);
void ag_random_fill_bernoulli_each_f64(struct ag_random *random, double *out,
                                       const double *probabilities, size_t count);

/* F.dropout's noise with 0 < p < 1: 0 or 1/(1-p) */
void ag_random_fill_dropout_f32(struct ag_random *random, float *noise, size_t count, double p);
void ag_random_fill_dropout_f64(struct ag_random *random, double *noise, size_t count, double p);

/* torch.randint(low, high), random_(low, high); low < high */
void ag_random_fill_int64(struct ag_random *random, int64_t *out, size_t count, int64_t low,
                          int64_t high);

/* torch.randperm */
void ag_random_fill_permutation(struct ag_random *random, int64_t *out, size_t count);

/*
 * torch.multinomial on one row of weights after another: `rows` x `categories` weights, `rows` x
 * `samples` indices. False, with nothing drawn, when PyTorch would refuse: a negative, infinite or
 * NaN weight, a row whose sum is not positive, too many samples without replacement.
 */
bool ag_random_multinomial_f32(struct ag_random *random, int64_t *out, const float *weights,
                               size_t rows, size_t categories, size_t samples, bool replacement);
bool ag_random_multinomial_f64(struct ag_random *random, int64_t *out, const double *weights,
                               size_t rows, size_t categories, size_t samples, bool replacement);

#endif
