#ifndef GRAPHLINT_BASE_HASH_H
#define GRAPHLINT_BASE_HASH_H

/* Hashes of bytes (XXH3). `hash_bytes` is for tables in memory; `struct digest`
 * is for keys that are stored, where a collision would be a wrong result.
 * Both depend on the bytes only, never on the process or the machine. */

#include <stddef.h>
#include <stdint.h>

struct digest {
	uint64_t low;
	uint64_t high;
};

enum { DIGEST_HEX_LENGTH = 32 };

uint64_t hash_bytes(const void *bytes, size_t length);
struct digest digest_bytes(const void *bytes, size_t length);
/* The digest of `first` followed by `second`; order matters. */
struct digest digest_join(struct digest first, struct digest second);
/* Lower-case hexadecimal digits and a NUL. */
void digest_hex(struct digest digest, char hex[DIGEST_HEX_LENGTH + 1]);

static inline uint64_t hash_join(uint64_t first, uint64_t second)
{
	uint64_t mixed = (first ^ (second + 0x9e3779b97f4a7c15u)) * 0xff51afd7ed558ccdu;

	return mixed ^ (mixed >> 32);
}

static inline int digest_same(struct digest a, struct digest b)
{
	return a.low == b.low && a.high == b.high;
}

#endif
