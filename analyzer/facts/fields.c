/* What an attribute carries from one iteration to the next: nothing if each writes it before
 * it reads it. */

#include "analyzer/facts/judge.h"

struct field_key {
	object_id holder;
	sym_id name;
};

static uint64_t hash_field(object_id holder, sym_id name)
{
	return hash_join(holder.n, name.n);
}

static bool same_field(const struct analysis *a, uint32_t id, const void *key)
{
	const struct field_key *wanted = key;
	const struct field_uses *uses = &a->fields.at[id];

	return uses->holder.n == wanted->holder.n && uses->name.n == wanted->name.n;
}

static struct field_uses *find(struct analysis *a, object_id holder, sym_id name, bool add)
{
	const struct field_key key = {newest_of(holder), name};
	uint32_t *slot;

	if (a->fields.count == 0)
		vec_push(a->arena, &a->fields, (struct field_uses){0});
	slot = id_table_slot(a, &a->field_index, hash_field(key.holder, name), same_field, &key);
	if (*slot == 0 && !add)
		return NULL;
	if (*slot == 0) {
		*slot = a->fields.count;
		vec_push(a->arena, &a->fields,
		         (struct field_uses){.holder = key.holder, .name = name});
	}
	return &a->fields.at[*slot];
}

void field_note_write(struct analysis *a, const struct activation *act, uint32_t inst,
                      object_id holder, sym_id name)
{
	site_note(a, &find(a, holder, name, true)->writes,
	          (struct site){act->context, inst, false});
}

void field_note_read(struct analysis *a, const struct activation *act, uint32_t inst,
                     object_id holder, sym_id name)
{
	struct field_uses *uses = find(a, holder, name, false);

	if (uses)
		site_note(a, &uses->reads, (struct site){act->context, inst, false});
}

/* Is the instruction on every way through its function? */
static bool always_runs(const struct ir_func *func, uint32_t inst)
{
	const block_id block = cfg_block_of(func, inst);

	for (uint32_t b = 1; b < func->blocks.count; b++) {
		const struct ir_block *end = &func->blocks.at[b];

		if (end->count && func->insts.at[end->first + end->count - 1].op == OP_return &&
		    func->order_of[b] != UINT32_MAX && !cfg_dominates(func, block, (block_id){b}))
			return false;
	}
	return block.n != 0;
}

/* Has the write been done whenever the read is? Both are in one call, or one iteration. */
static bool precedes(const struct analysis *a, struct site write, struct site read)
{
	const struct ir_func *func;
	block_id x, y;

	while (context_get(a, read.context)->depth > context_get(a, write.context)->depth)
		read = site_outward(a, read);
	while (write.context.n != read.context.n) {
		if (!always_runs(context_get(a, write.context)->func, write.inst))
			return false;
		if (context_get(a, write.context)->depth == context_get(a, read.context)->depth)
			read = site_outward(a, read);
		write = site_outward(a, write);
	}
	if (write.context.n == 0)
		return false;
	func = context_get(a, write.context)->func;
	x = cfg_block_of(func, write.inst);
	y = cfg_block_of(func, read.inst);
	return x.n == y.n ? write.inst < read.inst : cfg_dominates(func, x, y);
}

bool field_is_carried(struct analysis *a, const struct pending *p, context_id where, loop_id loop)
{
	const struct field_uses *uses = find(a, p->holder, p->carrier.field, false);

	for (uint32_t r = 0; uses && r < uses->reads.count; r++) {
		const struct site read = uses->reads.at[r];
		bool written = false;

		if (!happens_inside(a, read.context, read.inst, where, loop))
			continue;
		for (uint32_t w = 0; w < uses->writes.count && !written; w++) {
			const struct site write = uses->writes.at[w];

			written = happens_inside(a, write.context, write.inst, where, loop) &&
			          precedes(a, write, read);
		}
		if (!written)
			return true;
	}
	return !uses;
}

void field_settle_loops(struct analysis *a, struct pending *p)
{
	unsigned loops = p->loops & (LOOP_AROUND | LOOP_OUTLIVED);
	struct site at = {p->context, p->inst, false};
	bool in_forward = false;

	while (at.context.n != 0) {
		const struct context *c = context_get(a, at.context);
		loop_id loop = c->loop_of ? c->loop_of[at.inst] : (loop_id){0};

		for (; loop.n != 0; loop = c->func->loops.at[loop.n].parent) {
			const unsigned kinds = loop_kinds_seen(a, at.context, loop);

			if (!kinds || !field_is_carried(a, p, at.context, loop))
				continue;
			loops |= kinds;
			in_forward = runs_forward(a, at.context);
		}
		if (c->parent.n == 0 && p->loops & LOOP_CALLS &&
		    field_is_carried(a, p, at.context, (loop_id){0})) {
			loops |= LOOP_CALLS;
			in_forward = false;
		}
		at = site_outward(a, at);
	}
	p->loops = loops;
	p->in_pass |= in_forward;
}
