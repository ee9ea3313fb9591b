/* Whether the graphs that a loop keeps are needed after all: the loop is left, and the
 * program goes on until it comes by again. A backward that runs through a graph of an
 * earlier iteration shows that it was kept on purpose. */

#include <stdlib.h>

#include "analyzer/replay/measure.h"

enum {
	CLOSING_STEPS = 400000,
	RECENT = 2, /* iterations whose graphs may still be in use */
	CLOSING_TURNS = 3,
	MOST_CLOSING = 4, /* more of a loop that cannot be left */
	MOST_ENTRIES = 8,
};

struct keeping {
	struct replay *r;
	uint64_t from, to; /* ids of nodes */
};

static bool note_kept(void *data, struct ag_node *node)
{
	struct keeping *k = data;
	const uint64_t id = ag_node_id(node);

	if (id > k->from && id <= k->to && !ag_node_variable(node) && !ag_node_freed(node))
		id_set_add(&k->r->kept, id);
	return true;
}

bool needs_look(struct replay *r)
{
	struct keeping k = {.r = r};

	if (!r->request->watch_count || r->marks <= RECENT + 1)
		return false;
	k.from = r->node_marks[0];
	k.to = r->node_marks[r->marks - 1 - RECENT];
	ag_each_node(ctx_of(r->vm), note_kept, &k);
	return r->kept.count > 0;
}

bool needs_begin(struct replay *r)
{
	if (!needs_look(r))
		return false;
	r->closing = 1 + CLOSING_TURNS;
	r->closing_entry = r->vm->entries;
	r->was_exact = torch_of(r->vm)->exact;
	r->vm->leaving = r->vm->closing = true;
	/* Numbers that are asked for now are stood in for. */
	r->vm->lazy = false;
	if (r->vm->limits.steps > r->vm->steps + CLOSING_STEPS)
		r->vm->limits.steps = r->vm->steps + CLOSING_STEPS;
	return true;
}

bool needs_go_on(struct replay *r)
{
	if (r->closing_entry != r->vm->entries) {
		r->closing_entry = r->vm->entries;
		r->closing = 1;
		/* Other callers may use the same sum in another way. */
		if (!r->chains || ++r->closing_entries > MOST_ENTRIES)
			return false;
	}
	r->closing++;
	r->vm->leaving = r->closing > CLOSING_TURNS;
	return r->closing <= CLOSING_TURNS + MOST_CLOSING;
}

void needs_backward(struct replay *r, uint64_t node)
{
	if (!r->kept.at || !id_set_has(&r->kept, node))
		return;
	r->result->needed = true;
	vm_halt(r->vm, VM_HALT_DONE, "");
}

void needs_forget(struct replay *r)
{
	free(r->kept.at);
	r->kept = (struct id_set){0};
}

/* However it ended, the loop was measured. */
void needs_end(struct replay *r)
{
	if (!is_null(r->vm->exc))
		exc_clear(r->vm);
	r->vm->halt = VM_HALT_DONE;
	needs_forget(r);
}
