#ifndef GRAPHLINT_BASE_BUG_H
#define GRAPHLINT_BASE_BUG_H

/* Our own mistakes and exhausted memory end the process here; what the user's
 * input does wrong never does. */

#include <stddef.h>

#if defined(__GNUC__)
#define GL_PRINTF(text, first) __attribute__((format(printf, text, first)))
#define GL_NORETURN            __attribute__((noreturn))
#define GL_MUST_USE            __attribute__((warn_unused_result))
#else
#define GL_PRINTF(text, first)
#define GL_NORETURN
#define GL_MUST_USE
#endif

GL_NORETURN void bug_at(const char *file, int line, const char *format, ...) GL_PRINTF(3, 4);

#define BUG(...) bug_at(__FILE__, __LINE__, __VA_ARGS__)
#define BUG_IF(condition)                                                                          \
	do {                                                                                       \
		if (condition)                                                                     \
			BUG("%s", #condition);                                                     \
	} while (0)

/* Never return NULL; `count * size` is checked against overflow. */
void *checked_alloc(size_t count, size_t size);
void *checked_realloc(void *block, size_t count, size_t size);
/* From now on the process keeps what is freed: to give pages back and to take them again
 * costs more than what a short program does with them. A no-op where malloc has no such
 * option. */
void keep_freed_memory(void);

#endif
