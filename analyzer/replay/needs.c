/* Whether the graphs that a loop keeps are needed after all: the loop is left, and the
 * program goes on until it comes by again. A backward that runs through a graph of an
 * earlier iteration shows that it was kept on purpose. */

#include <stdlib.h>

#include "analyzer/replay/measure.h"

enum {
	CLOSING_STEPS = 400000,
	RECENT = 2, /* iterations whose graphs may still be in use */
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

bool needs_begin(struct replay *r)
{
	struct keeping k = {.r = r};

	if (!r->request->watch_count || r->marks <= RECENT + 1)
		return false;
	k.from = r->node_marks[0];
	k.to = r->node_marks[r->marks - 1 - RECENT];
	ag_each_node(ctx_of(r->vm), note_kept, &k);
	if (!r->kept.count)
		return false;
	r->closing = 1;
	r->was_exact = torch_of(r->vm)->exact;
	r->vm->leaving = 1;
	/* Numbers that are asked for now are stood in for. */
	r->vm->lazy = false;
	if (r->vm->limits.steps > r->vm->steps + CLOSING_STEPS)
		r->vm->limits.steps = r->vm->steps + CLOSING_STEPS;
	return true;
}

void needs_backward(struct replay *r, uint64_t node)
{
	if (!r->kept.at || !id_set_has(&r->kept, node))
		return;
	r->result->needed = true;
	vm_halt(r->vm, VM_HALT_DONE, "");
}

/* However it ended, the loop was measured. */
void needs_end(struct replay *r)
{
	if (!is_null(r->vm->exc))
		exc_clear(r->vm);
	r->vm->halt = VM_HALT_DONE;
	free(r->kept.at);
	r->kept = (struct id_set){0};
}
