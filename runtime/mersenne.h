/*
 * The Mersenne twister MT19937, the engine under both PyTorch's CPU generator and Python's
 * `random` module. The struct is plain data: the caller owns it, copying it copies the stream.
 * It must be seeded before the first draw.
 */
#ifndef GRAPHLINT_RUNTIME_MERSENNE_H
#define GRAPHLINT_RUNTIME_MERSENNE_H

#include <stddef.h>
#include <stdint.h>

enum { AG_MERSENNE_WORDS = 624 };

struct ag_mersenne {
	uint32_t word[AG_MERSENNE_WORDS];
	uint32_t next; /* index of the next word; AG_MERSENNE_WORDS: all are used up */
};

/* Seeds from one number, as PyTorch does with the low half of its seed. */
void ag_mersenne_seed(struct ag_mersenne *engine, uint32_t seed);

/* Seeds from `count` >= 1 words, as Python does with the digits of an integer. */
void ag_mersenne_seed_words(struct ag_mersenne *engine, const uint32_t *words, size_t count);

uint32_t ag_mersenne_next(struct ag_mersenne *engine);

#endif
