#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/replay/measure.h"

struct newest {
	uint64_t node, storage;
};

static bool newest_node(void *data, struct ag_node *n)
{
	struct newest *newest = data;

	if (ag_node_id(n) > newest->node)
		newest->node = ag_node_id(n);
	return true;
}

static bool newest_storage(void *data, struct ag_storage *s)
{
	struct newest *newest = data;

	if (ag_storage_id(s) > newest->storage)
		newest->storage = ag_storage_id(s);
	return true;
}

/* Ids grow, so the newest id at each sample tells which iteration made what. */
void measure_mark(struct replay *r)
{
	struct newest newest = {0, 0};

	if (r->marks == r->mark_capacity) {
		r->mark_capacity = r->mark_capacity ? r->mark_capacity * 2 : 64;
		r->node_marks = checked_realloc(r->node_marks, r->mark_capacity, sizeof(uint64_t));
		r->storage_marks = checked_realloc(r->storage_marks, r->mark_capacity, sizeof(uint64_t));
	}
	if (r->marks < 64) {
		ag_each_node(ctx_of(r->vm), newest_node, &newest);
		ag_each_storage(ctx_of(r->vm), newest_storage, &newest);
	} else {
		newest.node = r->node_marks[r->marks - 1];
		newest.storage = r->storage_marks[r->marks - 1];
	}
	r->node_marks[r->marks] = newest.node;
	r->storage_marks[r->marks++] = newest.storage;
}

void measure_release(struct replay *r)
{
	free(r->node_marks);
	free(r->storage_marks);
}

void measure_chain(struct replay *r)
{
	(void)r;
}
