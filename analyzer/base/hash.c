#include "analyzer/base/hash.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t hash_bytes(const void *bytes, size_t length)
{
	return XXH3_64bits(bytes, length);
}

struct digest digest_bytes(const void *bytes, size_t length)
{
	XXH128_hash_t hash = XXH3_128bits(bytes, length);
	struct digest digest = {hash.low64, hash.high64};

	return digest;
}

static void put_little_endian(unsigned char *to, uint64_t word)
{
	for (int i = 0; i < 8; i++)
		to[i] = (unsigned char)(word >> (8 * i));
}

struct digest digest_join(struct digest first, struct digest second)
{
	unsigned char both[32];

	put_little_endian(both, first.low);
	put_little_endian(both + 8, first.high);
	put_little_endian(both + 16, second.low);
	put_little_endian(both + 24, second.high);
	return digest_bytes(both, sizeof(both));
}

void digest_hex(struct digest digest, char hex[DIGEST_HEX_LENGTH + 1])
{
	static const char digits[] = "0123456789abcdef";

	for (int i = 0; i < 16; i++) {
		hex[i] = digits[(digest.high >> (60 - 4 * i)) & 15];
		hex[16 + i] = digits[(digest.low >> (60 - 4 * i)) & 15];
	}
	hex[DIGEST_HEX_LENGTH] = '\0';
}
