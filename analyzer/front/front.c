#include "analyzer/front/front.h"

#include <string.h>

static const struct front_end *const front_ends[] = {&python_front_end};

static bool ends_with(const char *path, size_t length, const char *suffix)
{
	size_t size = strlen(suffix);

	return length > size && memcmp(path + length - size, suffix, size) == 0;
}

const struct front_end *front_end_find(const char *path)
{
	size_t length = strlen(path);

	for (size_t i = 0; i < sizeof(front_ends) / sizeof(front_ends[0]); i++)
		for (const char *const *suffix = front_ends[i]->suffixes; *suffix; suffix++)
			if (ends_with(path, length, *suffix))
				return front_ends[i];
	return NULL;
}
