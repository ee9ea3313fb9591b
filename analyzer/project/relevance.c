#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memmem */
#endif
#include "analyzer/project/relevance.h"

#include <string.h>

bool relevance_of(const struct source *source)
{
	static const char *const words[] = {"torch",   "lightning", "accelerate",   ".backward(",
	                                    "no_grad", "fastai",    "transformers", "ignite"};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (memmem(source->text, source->length, words[i], strlen(words[i])))
			return true;
	return false;
}

static const char *skip_blanks(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	return at;
}

static size_t name_length(const char *at, const char *end)
{
	const char *start = at;

	while (at < end && (*at == '.' || *at == '_' || (*at >= '0' && *at <= '9') ||
	                    (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z')))
		at++;
	return (size_t)(at - start);
}

void relevance_imports(const struct source *source,
                       void (*found)(void *context, const char *dotted, size_t length),
                       void *context)
{
	for (uint32_t l = 0; l < source->line_count; l++) {
		const char *at = source->text + source->lines[l];
		const char *end = source->text + (l + 1 < source->line_count ? source->lines[l + 1]
		                                                             : source->length);
		size_t skip;

		at = skip_blanks(at, end);
		skip = end - at > 7 && memcmp(at, "import ", 7) == 0 ? 7
		       : end - at > 5 && memcmp(at, "from ", 5) == 0 ? 5
		                                                     : 0;
		if (skip == 0)
			continue;
		at = skip_blanks(at + skip, end);
		if (name_length(at, end) > 0)
			found(context, at, name_length(at, end));
	}
}
