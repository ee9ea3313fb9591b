#include "analyzer/report/utf8.h"

#include <stdbool.h>

struct range {
	uint32_t first, last;
};

static const struct range narrow_zero[] = {
#define ZERO(first, last) {first, last},
#define WIDE(first, last)
#include "analyzer/report/columns.def"
#undef WIDE
#undef ZERO
};

static const struct range wide[] = {
#define ZERO(first, last)
#define WIDE(first, last) {first, last},
#include "analyzer/report/columns.def"
#undef WIDE
#undef ZERO
};

static unsigned sequence_length(unsigned char lead)
{
	if (lead < 0x80)
		return 1;
	if (lead >= 0xc2 && lead <= 0xdf)
		return 2;
	if ((lead & 0xf0) == 0xe0)
		return 3;
	return lead >= 0xf0 && lead <= 0xf4 ? 4 : 0;
}

uint32_t utf8_next(const char *bytes, size_t length, size_t *at)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *from = (const unsigned char *)bytes + *at;
	unsigned count = sequence_length(*from);
	uint32_t c = count > 1 ? *from & (0x7fu >> count) : *from;

	if (!count || count > length - *at) {
		++*at;
		return 0xfffd;
	}
	for (unsigned i = 1; i < count; i++) {
		if ((from[i] & 0xc0) != 0x80) {
			++*at;
			return 0xfffd;
		}
		c = c << 6 | (from[i] & 0x3fu);
	}
	if (c < least[count] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff)) {
		++*at;
		return 0xfffd;
	}
	*at += count;
	return c;
}

static bool is_in(const struct range *ranges, size_t count, uint32_t c)
{
	size_t low = 0;

	while (low < count) {
		size_t middle = low + (count - low) / 2;

		if (c > ranges[middle].last)
			low = middle + 1;
		else
			count = middle;
		if (c >= ranges[middle].first && c <= ranges[middle].last)
			return true;
	}
	return false;
}

unsigned utf8_columns(uint32_t c)
{
	if (c < 0x300)
		return c != 0xad;
	if (is_in(narrow_zero, sizeof(narrow_zero) / sizeof(narrow_zero[0]), c))
		return 0;
	return is_in(wide, sizeof(wide) / sizeof(wide[0]), c) ? 2 : 1;
}
