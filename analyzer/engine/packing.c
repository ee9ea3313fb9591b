#include "analyzer/engine/packing.h"

#include <string.h>

/* Seven bits a byte, the lowest first. */
void pack_number(struct text *out, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		text_add_char(out, (char)(number | 0x80));
	text_add_char(out, (char)number);
}

uint64_t unpack_number(struct unpacking *in)
{
	uint64_t number = 0;

	for (unsigned shift = 0; in->at < in->end && shift < 64; shift += 7) {
		unsigned char byte = (unsigned char)*in->at++;

		number |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return number;
	}
	in->broken = true;
	return 0;
}

uint32_t unpack_count(struct unpacking *in)
{
	uint64_t count = unpack_number(in);

	if (count > (uint64_t)(in->end - in->at)) {
		in->broken = true;
		return 0;
	}
	return (uint32_t)count;
}

void pack_digest(struct text *out, struct digest digest)
{
	text_add(out, (const char *)&digest, sizeof(digest));
}

struct digest unpack_digest(struct unpacking *in)
{
	struct digest digest = {0};

	if ((size_t)(in->end - in->at) < sizeof(digest)) {
		in->broken = true;
		return digest;
	}
	memcpy(&digest, in->at, sizeof(digest));
	in->at += sizeof(digest);
	return digest;
}

void pack_real(struct text *out, double real)
{
	text_add(out, (const char *)&real, sizeof(real));
}

double unpack_real(struct unpacking *in)
{
	double real = 0;

	if ((size_t)(in->end - in->at) < sizeof(real)) {
		in->broken = true;
		return 0;
	}
	memcpy(&real, in->at, sizeof(real));
	in->at += sizeof(real);
	return real;
}

void pack_bytes(struct text *out, const char *bytes, size_t length)
{
	pack_number(out, length);
	text_add(out, bytes, length);
}

const char *unpack_bytes(struct unpacking *in, size_t *length)
{
	const char *bytes;

	*length = unpack_count(in);
	bytes = in->at;
	in->at += *length;
	return bytes;
}

/* The length is one more than it is; 0 is no text. */
void pack_text(struct text *out, const char *chars)
{
	if (!chars) {
		pack_number(out, 0);
		return;
	}
	pack_number(out, strlen(chars) + 1);
	text_add(out, chars, strlen(chars));
}

const char *unpack_text(struct unpacking *in)
{
	uint64_t length = unpack_number(in);
	const char *chars;

	if (!length || length - 1 > (uint64_t)(in->end - in->at)) {
		in->broken |= length != 0;
		return NULL;
	}
	chars = arena_text(in->arena, in->at, (size_t)length - 1);
	in->at += length - 1;
	return chars;
}
