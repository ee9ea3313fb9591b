#include "analyzer/base/thread_pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/base/bug.h"
#include "analyzer/base/limits.h"

struct worker {
	struct thread_pool *pool;
	pthread_t thread;
	unsigned number;
	unsigned long seen; /* the last round that it took part in */
};

struct thread_pool {
	unsigned jobs;
	unsigned started; /* threads besides the caller's */
	struct worker *workers;

	pthread_mutex_t lock;
	pthread_cond_t work_came;
	pthread_cond_t work_done;
	unsigned long round; /* counts the runs */
	unsigned busy;
	bool closing;

	struct progress *progress;
	thread_job *job;
	void *context;
	size_t count;
	_Atomic size_t next;
};

static unsigned core_count(void)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);
#ifdef CPU_COUNT
	cpu_set_t usable;

	if (!sched_getaffinity(0, sizeof(usable), &usable) && CPU_COUNT(&usable) > 0)
		return (unsigned)CPU_COUNT(&usable);
#endif
	return online > 0 ? (unsigned)online : 1;
}

struct thread_pool *thread_pool_open(unsigned jobs)
{
	struct thread_pool *pool = checked_alloc(1, sizeof(*pool));

	memset(pool, 0, sizeof(*pool));
	pool->jobs = jobs ? jobs : core_count();
	if (pool->jobs > LIMIT_JOBS)
		pool->jobs = LIMIT_JOBS;
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->work_came, NULL);
	pthread_cond_init(&pool->work_done, NULL);
	pool->workers = checked_alloc(pool->jobs, sizeof(*pool->workers));
	return pool;
}

unsigned thread_pool_jobs(const struct thread_pool *pool)
{
	return pool->jobs;
}

void thread_pool_count(struct thread_pool *pool, struct progress *progress)
{
	pool->progress = progress;
}

static void do_job(struct thread_pool *pool, size_t index, unsigned worker)
{
	pool->job(pool->context, index, worker);
	if (pool->progress)
		atomic_fetch_add_explicit(&pool->progress->done, 1, memory_order_relaxed);
}

static void work(struct thread_pool *pool, unsigned worker)
{
	size_t index;

	while ((index = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed)) <
	       pool->count)
		do_job(pool, index, worker);
}

static void *worker_main(void *argument)
{
	struct worker *worker = argument;
	struct thread_pool *pool = worker->pool;

	pthread_mutex_lock(&pool->lock);
	for (;;) {
		while (pool->round == worker->seen && !pool->closing)
			pthread_cond_wait(&pool->work_came, &pool->lock);
		if (pool->closing)
			break;
		worker->seen = pool->round;
		pthread_mutex_unlock(&pool->lock);
		work(pool, worker->number);
		pthread_mutex_lock(&pool->lock);
		if (!--pool->busy)
			pthread_cond_signal(&pool->work_done);
	}
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

/* As many threads as can be had: with fewer the same jobs take longer. */
static void start_workers(struct thread_pool *pool)
{
	pthread_attr_t attributes;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, LIMIT_STACK_BYTES);
	while (pool->started + 1 < pool->jobs) {
		struct worker *worker = &pool->workers[pool->started];

		worker->pool = pool;
		worker->number = pool->started + 1;
		worker->seen = pool->round;
		if (pthread_create(&worker->thread, &attributes, worker_main, worker))
			break;
		pool->started++;
	}
	pthread_attr_destroy(&attributes);
}

void thread_pool_run(struct thread_pool *pool, size_t count, thread_job *job, void *context)
{
	if (pool->progress) {
		atomic_store(&pool->progress->done, 0);
		atomic_store(&pool->progress->count, count);
	}
	if (pool->jobs == 1 || count < 2) {
		pool->job = job;
		pool->context = context;
		for (size_t i = 0; i < count; i++)
			do_job(pool, i, 0);
		return;
	}
	if (!pool->started)
		start_workers(pool);
	pthread_mutex_lock(&pool->lock);
	pool->job = job;
	pool->context = context;
	pool->count = count;
	atomic_store(&pool->next, 0);
	pool->busy = pool->started;
	pool->round++;
	pthread_cond_broadcast(&pool->work_came);
	pthread_mutex_unlock(&pool->lock);

	work(pool, 0);

	pthread_mutex_lock(&pool->lock);
	while (pool->busy)
		pthread_cond_wait(&pool->work_done, &pool->lock);
	pthread_mutex_unlock(&pool->lock);
}

void thread_pool_close(struct thread_pool *pool)
{
	if (!pool)
		return;
	pthread_mutex_lock(&pool->lock);
	pool->closing = true;
	pthread_cond_broadcast(&pool->work_came);
	pthread_mutex_unlock(&pool->lock);
	for (unsigned i = 0; i < pool->started; i++)
		pthread_join(pool->workers[i].thread, NULL);
	pthread_cond_destroy(&pool->work_came);
	pthread_cond_destroy(&pool->work_done);
	pthread_mutex_destroy(&pool->lock);
	free(pool->workers);
	free(pool);
}
