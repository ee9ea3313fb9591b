#include "analyzer/project/lookups.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/bug.h"
#include "analyzer/base/hash.h"

struct lookups {
	pthread_mutex_t lock;
	struct arena arena;
	VEC(struct project_lookup) list;
	uint32_t *index; /* open addressing: place in list + 1 */
	uint32_t room;
};

struct lookups *lookups_open(void)
{
	struct lookups *lookups = checked_alloc(1, sizeof(*lookups));

	*lookups = (struct lookups){0};
	BUG_IF(pthread_mutex_init(&lookups->lock, NULL) != 0);
	return lookups;
}

void lookups_close(struct lookups *lookups)
{
	pthread_mutex_destroy(&lookups->lock);
	arena_release(&lookups->arena);
	free(lookups);
}

static bool same_question(const struct project_lookup *a, const struct project_lookup *b)
{
	return a->from == b->from && a->scans == b->scans && !strcmp(a->dotted, b->dotted);
}

/* Where it is, or the free place where it belongs. */
static uint32_t *find(const struct lookups *lookups, const struct project_lookup *lookup)
{
	uint64_t at = hash_join(hash_bytes(lookup->dotted, strlen(lookup->dotted)),
	                        (uint64_t)lookup->from * 2 + lookup->scans);

	for (;; at++) {
		uint32_t *place = &lookups->index[at & (lookups->room - 1)];

		if (!*place || same_question(&lookups->list.at[*place - 1], lookup))
			return place;
	}
}

static void grow(struct lookups *lookups)
{
	lookups->room = lookups->room ? lookups->room * 2 : 256;
	lookups->index = arena_array(&lookups->arena, uint32_t, lookups->room);
	for (uint32_t i = 0; i < lookups->list.count; i++)
		*find(lookups, &lookups->list.at[i]) = i + 1;
}

void lookups_add(struct lookups *lookups, struct project_lookup lookup)
{
	uint32_t *place;

	pthread_mutex_lock(&lookups->lock);
	if ((lookups->list.count + 1) * 2 > lookups->room)
		grow(lookups);
	place = find(lookups, &lookup);
	if (*place) {
		lookups->list.at[*place - 1].loads |= lookup.loads;
	} else {
		lookup.dotted = arena_text(&lookups->arena, lookup.dotted, strlen(lookup.dotted));
		vec_push(&lookups->arena, &lookups->list, lookup);
		*place = lookups->list.count;
	}
	pthread_mutex_unlock(&lookups->lock);
}

bool lookups_find(struct lookups *lookups, struct project_lookup *lookup)
{
	uint32_t place;

	pthread_mutex_lock(&lookups->lock);
	place = lookups->room ? *find(lookups, lookup) : 0;
	if (place)
		*lookup = lookups->list.at[place - 1];
	pthread_mutex_unlock(&lookups->lock);
	return place != 0;
}

uint32_t lookups_count(const struct lookups *lookups)
{
	return lookups->list.count;
}

struct project_lookup lookups_at(const struct lookups *lookups, uint32_t index)
{
	return lookups->list.at[index];
}
