#ifndef GRAPHLINT_ENGINE_PACKING_H
#define GRAPHLINT_ENGINE_PACKING_H

/* Numbers and texts as bytes and back, for files that only this build reads.
 * Reading past the end gives zeros and marks the input as broken. */

#include <stdbool.h>

#include "analyzer/base/hash.h"
#include "analyzer/base/text.h"

struct unpacking {
	struct arena *arena; /* texts are copied into it */
	const char *at, *end;
	bool broken;
};

void pack_number(struct text *out, uint64_t number);
void pack_digest(struct text *out, struct digest digest);
void pack_real(struct text *out, double real);
void pack_text(struct text *out, const char *chars); /* NULL stays NULL */
void pack_bytes(struct text *out, const char *bytes, size_t length);

uint64_t unpack_number(struct unpacking *in);
/* A count of things that take at least a byte each: never more than there is. */
uint32_t unpack_count(struct unpacking *in);
struct digest unpack_digest(struct unpacking *in);
double unpack_real(struct unpacking *in);
const char *unpack_text(struct unpacking *in);
/* Points into the input. */
const char *unpack_bytes(struct unpacking *in, size_t *length);

#endif
