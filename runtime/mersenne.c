#include "runtime/mersenne.h"

enum { SHIFT_WORDS = 397 };

void ag_mersenne_seed(struct ag_mersenne *engine, uint32_t seed)
{
	uint32_t word = seed;

	engine->word[0] = word;
	for (uint32_t i = 1; i < AG_MERSENNE_WORDS; i++) {
		word = UINT32_C(1812433253) * (word ^ (word >> 30)) + i;
		engine->word[i] = word;
	}
	engine->next = AG_MERSENNE_WORDS;
}

/* One mixing step of seeding from words; returns the index after `i`, which skips word 0. */
static uint32_t mix_word(struct ag_mersenne *engine, uint32_t i, uint32_t factor, uint32_t add,
                         uint32_t subtract)
{
	uint32_t *word = engine->word;
	uint32_t before = word[i - 1] ^ (word[i - 1] >> 30);

	word[i] = (word[i] ^ (before * factor)) + add - subtract;
	if (i + 1 < AG_MERSENNE_WORDS)
		return i + 1;
	word[0] = word[AG_MERSENNE_WORDS - 1];
	return 1;
}

void ag_mersenne_seed_words(struct ag_mersenne *engine, const uint32_t *words, size_t count)
{
	size_t rounds = count > AG_MERSENNE_WORDS ? count : AG_MERSENNE_WORDS;
	uint32_t i = 1;

	ag_mersenne_seed(engine, UINT32_C(19650218));
	for (size_t round = 0; round < rounds; round++) {
		size_t j = round % count;
		i = mix_word(engine, i, UINT32_C(1664525), words[j] + (uint32_t)j, 0);
	}
	for (uint32_t round = 1; round < AG_MERSENNE_WORDS; round++)
		i = mix_word(engine, i, UINT32_C(1566083941), 0, i);
	engine->word[0] = UINT32_C(0x80000000);
	engine->next = AG_MERSENNE_WORDS;
}

static uint32_t twist(uint32_t high, uint32_t low)
{
	uint32_t joined = (high & UINT32_C(0x80000000)) | (low & UINT32_C(0x7fffffff));

	return (joined >> 1) ^ ((low & 1) ? UINT32_C(0x9908b0df) : 0);
}

static void refill(struct ag_mersenne *engine)
{
	uint32_t *word = engine->word;

	for (uint32_t i = 0; i < AG_MERSENNE_WORDS; i++) {
		uint32_t after = word[(i + 1) % AG_MERSENNE_WORDS];
		uint32_t far_word = word[(i + SHIFT_WORDS) % AG_MERSENNE_WORDS];
		word[i] = far_word ^ twist(word[i], after);
	}
	engine->next = 0;
}

uint32_t ag_mersenne_next(struct ag_mersenne *engine)
{
	uint32_t word;

	if (engine->next >= AG_MERSENNE_WORDS)
		refill(engine);
	word = engine->word[engine->next++];
	word ^= word >> 11;
	word ^= (word << 7) & UINT32_C(0x9d2c5680);
	word ^= (word << 15) & UINT32_C(0xefc60000);
	return word ^ (word >> 18);
}
