#ifndef GRAPHLINT_BASE_PROGRESS_H
#define GRAPHLINT_BASE_PROGRESS_H

/* How far long work is: written by who works, read by who shows it, in two
 * threads. `what` is a constant text. */

#include <stdatomic.h>
#include <stddef.h>

struct progress {
	_Atomic(const char *) what; /* NULL: nothing yet */
	_Atomic size_t done, count;
};

static inline void progress_begin(struct progress *progress, const char *what)
{
	if (!progress)
		return;
	atomic_store(&progress->count, 0);
	atomic_store(&progress->done, 0);
	atomic_store(&progress->what, what);
}

#endif
