#include "analyzer/project/links.h"

#include <pthread.h>
#include <stdlib.h>

#include "analyzer/base/bug.h"
#include "analyzer/base/hash.h"

struct links {
	pthread_mutex_t lock;
	struct arena arena;
	VEC(struct project_link) pairs;
	uint32_t *index; /* open addressing: place in pairs + 1 */
	uint32_t room;
};

struct links *links_open(void)
{
	struct links *links = checked_alloc(1, sizeof(*links));

	*links = (struct links){0};
	BUG_IF(pthread_mutex_init(&links->lock, NULL) != 0);
	return links;
}

void links_close(struct links *links)
{
	pthread_mutex_destroy(&links->lock);
	arena_release(&links->arena);
	free(links);
}

/* Where the pair is, or the free place where it belongs. */
static uint32_t *find(struct links *links, struct project_link pair)
{
	uint64_t at = hash_join(pair.from, pair.to);

	for (;; at++) {
		uint32_t *place = &links->index[at & (links->room - 1)];
		const struct project_link *found;

		if (!*place)
			return place;
		found = &links->pairs.at[*place - 1];
		if (found->from == pair.from && found->to == pair.to)
			return place;
	}
}

static void grow(struct links *links)
{
	links->room = links->room ? links->room * 2 : 256;
	links->index = arena_array(&links->arena, uint32_t, links->room);
	for (uint32_t i = 0; i < links->pairs.count; i++)
		*find(links, links->pairs.at[i]) = i + 1;
}

void links_add(struct links *links, uint32_t from, uint32_t to)
{
	struct project_link pair = {from, to};
	uint32_t *place;

	if (from == to)
		return;
	pthread_mutex_lock(&links->lock);
	if ((links->pairs.count + 1) * 2 > links->room)
		grow(links);
	place = find(links, pair);
	if (!*place) {
		vec_push(&links->arena, &links->pairs, pair);
		*place = links->pairs.count;
	}
	pthread_mutex_unlock(&links->lock);
}

uint32_t links_count(const struct links *links)
{
	return links->pairs.count;
}

struct project_link links_at(const struct links *links, uint32_t index)
{
	return links->pairs.at[index];
}
