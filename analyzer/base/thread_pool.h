#ifndef GRAPHLINT_BASE_THREAD_POOL_H
#define GRAPHLINT_BASE_THREAD_POOL_H

/* Runs job(context, 0..count-1) on several threads; the caller's is one of
 * them. Indices are handed out in order, and a job may take any time.
 * `worker` is below `jobs`: a place for arenas of one's own. A pool is used by
 * one thread at a time; its threads start with the first run that needs them. */

#include <stddef.h>

#include "analyzer/base/progress.h"

typedef void thread_job(void *context, size_t index, unsigned worker);

struct thread_pool;

/* `jobs` 0 means one for each core that this process may use. */
struct thread_pool *thread_pool_open(unsigned jobs);
/* Counts jobs there from now on; NULL: nowhere. */
void thread_pool_count(struct thread_pool *pool, struct progress *progress);
void thread_pool_close(struct thread_pool *pool);
unsigned thread_pool_jobs(const struct thread_pool *pool);
/* Returns when all jobs are done. */
void thread_pool_run(struct thread_pool *pool, size_t count, thread_job *job, void *context);

#endif
