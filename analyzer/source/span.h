#ifndef GRAPHLINT_SOURCE_SPAN_H
#define GRAPHLINT_SOURCE_SPAN_H

/* Where the user wrote it: byte offsets into a source's decoded text, end
 * exclusive. An empty span at 0 means nowhere. */

#include <stdint.h>

struct span {
	uint32_t start;
	uint32_t end;
};

#endif
