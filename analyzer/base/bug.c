#include "analyzer/base/bug.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

void bug_at(const char *file, int line, const char *format, ...)
{
	va_list arguments;

	fflush(stdout);
	fprintf(stderr, "graphlint: internal error at %s:%d: ", file, line);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	abort();
}

GL_NORETURN static void out_of_memory(size_t count, size_t size)
{
	fprintf(stderr, "graphlint: out of memory (%zu times %zu bytes)\n", count, size);
	abort();
}

static size_t checked_product(size_t count, size_t size)
{
	if (size && count > SIZE_MAX / 2 / size)
		out_of_memory(count, size);
	return count && size ? count * size : 1;
}

void *checked_alloc(size_t count, size_t size)
{
	void *block = malloc(checked_product(count, size));

	if (!block)
		out_of_memory(count, size);
	return block;
}

void *checked_realloc(void *block, size_t count, size_t size)
{
	void *moved = realloc(block, checked_product(count, size));

	if (!moved)
		out_of_memory(count, size);
	return moved;
}

void keep_freed_memory(void)
{
#ifdef __GLIBC__
	enum { LARGEST_KEPT = 32 << 20, MOST_KEPT = 64 << 20, AT_ONCE = 1 << 20 };

	mallopt(M_MMAP_THRESHOLD, LARGEST_KEPT);
	mallopt(M_TRIM_THRESHOLD, MOST_KEPT);
	mallopt(M_TOP_PAD, AT_ONCE);
#endif
}
