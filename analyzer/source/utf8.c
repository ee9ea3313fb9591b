#include <stdint.h>
#include <string.h>

#include "analyzer/source/encoding.h"

static size_t ascii_length(const unsigned char *at, size_t size)
{
	size_t i = 0;
	uint64_t word;

	for (; i + sizeof(word) <= size; i += sizeof(word)) {
		memcpy(&word, at + i, sizeof(word));
		if (word & 0x8080808080808080u)
			break;
	}
	while (i < size && at[i] < 0x80)
		i++;
	return i;
}

/* Bytes of the sequence at `at`, which is not ASCII; 0: it is malformed.
 * The second byte's range excludes overlong forms, surrogates and what lies
 * beyond U+10FFFF (table 3-7 of the Unicode standard). */
static size_t sequence_length(const unsigned char *at, size_t size)
{
	unsigned char low = 0x80, high = 0xbf;
	size_t length;

	if (at[0] < 0xc2 || at[0] > 0xf4)
		return 0;
	length = at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
	if (at[0] == 0xe0)
		low = 0xa0;
	else if (at[0] == 0xed)
		high = 0x9f;
	else if (at[0] == 0xf0)
		low = 0x90;
	else if (at[0] == 0xf4)
		high = 0x8f;
	if (length > size || at[1] < low || at[1] > high)
		return 0;
	for (size_t i = 2; i < length; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	return length;
}

size_t utf8_valid_length(const char *bytes, size_t size)
{
	const unsigned char *at = (const unsigned char *)bytes;
	size_t i = 0, length;

	for (;;) {
		i += ascii_length(at + i, size - i);
		if (i == size)
			return size;
		length = sequence_length(at + i, size - i);
		if (!length)
			return i;
		i += length;
	}
}
