#include "analyzer/base/base64.h"

#include <string.h>

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_add(struct text *out, const char *bytes, size_t length)
{
	const unsigned char *at = (const unsigned char *)bytes;

	for (; length; at += 3) {
		const size_t taken = length < 3 ? length : 3;
		const unsigned group = (unsigned)at[0] << 16 |
		                       (taken > 1 ? (unsigned)at[1] << 8 : 0) |
		                       (taken > 2 ? (unsigned)at[2] : 0);

		for (size_t i = 0; i < 4; i++)
			text_add_char(out, i <= taken ? letters[group >> (18 - 6 * i) & 63] : '=');
		length -= taken;
	}
}

static bool read_group(const char *at, unsigned count, unsigned *group)
{
	*group = 0;
	for (unsigned i = 0; i < 4; i++) {
		const char *letter = i < count && at[i] ? strchr(letters, at[i]) : letters;

		if (!letter || (i < count && !at[i]))
			return false;
		*group = *group << 6 | (unsigned)(letter - letters);
	}
	return true;
}

bool base64_read(struct text *out, const char *at, size_t length)
{
	if (length % 4)
		return false;
	for (; length; at += 4, length -= 4) {
		unsigned count = 4, group;

		if (length == 4)
			count = at[3] != '=' ? 4 : at[2] != '=' ? 3 : 2;
		/* what is left over is nothing */
		if (!read_group(at, count, &group) || group & ((1u << 8 * (4 - count)) - 1))
			return false;
		for (unsigned i = 0; i + 1 < count; i++)
			text_add_char(out, (char)(group >> (16 - 8 * i) & 255));
	}
	return true;
}
