#include <string.h>

#include "analyzer/ir/verify_check.h"

/* Whether the instruction cannot raise, so that no exception leaves from it. */
static bool is_quiet(const struct check *c, const struct ir_inst *inst)
{
	switch (inst->op) {
	case OP_unknown:
	case OP_const:
	case OP_caught:
	case OP_drop:
	case OP_jump:
	case OP_return:
	case OP_build:
	case OP_function:
		return true;
	case OP_store:
		return inst->sub != SUB_scope_name;
	case OP_load:
	case OP_delete:
		return check_names_slot(inst) && c->func->slots.at[inst->name].kind == SLOT_HIDDEN;
	default:
		return false;
	}
}

/* Which scopes are open, as a bit set over the slots that `enter` names. */
struct scopes {
	uint32_t words;
	uint64_t *at_entry; /* by block */
	bool *known;
	uint64_t *now;
	uint32_t *queue; /* blocks whose entry is new */
	uint32_t queued;
};

static void scopes_reach(struct check *c, struct scopes *s, block_id to, uint32_t from)
{
	uint64_t *entry;

	if (to.n == 0)
		return;
	entry = s->at_entry + (size_t)to.n * s->words;
	if (!s->known[to.n]) {
		s->known[to.n] = true;
		memcpy(entry, s->now, s->words * sizeof(*entry));
		s->queue[s->queued++] = to.n;
	} else if (memcmp(entry, s->now, s->words * sizeof(*entry)) != 0) {
		check_wrong(c, "b%u: other scopes are open from b%u than from elsewhere", to.n,
		            from);
	}
}

static void scopes_leave(struct check *c, const struct scopes *s, uint32_t id)
{
	for (uint32_t w = 0; w < s->words; w++)
		if (s->now[w])
			check_wrong(c, "%%%u: leaves the function with a scope open", id);
}

static void scopes_inst(struct check *c, struct scopes *s, uint32_t b, uint32_t id)
{
	const struct ir_inst *inst = &c->func->insts.at[id];
	block_id handler = c->func->blocks.at[b].handler;
	uint64_t bit = UINT64_C(1) << (inst->name & 63);
	uint64_t *word =
	        &s->now[(inst->op == OP_enter || inst->op == OP_leave) ? inst->name >> 6 : 0];

	if (inst->op == OP_leave) {
		if (!(*word & bit))
			check_wrong(c, "%%%u: the scope is not open", id);
		*word &= ~bit;
	}
	if (handler.n && !is_quiet(c, inst))
		scopes_reach(c, s, handler, b);
	else if (inst->op == OP_return || !is_quiet(c, inst))
		scopes_leave(c, s, id);
	if (inst->op == OP_enter) {
		if (*word & bit)
			check_wrong(c, "%%%u: the scope is open already", id);
		*word |= bit;
	}
}

static bool has_scopes(const struct check *c)
{
	for (uint32_t i = 1; i < c->func->insts.count; i++)
		if (c->func->insts.at[i].op == OP_enter || c->func->insts.at[i].op == OP_leave)
			return true;
	return false;
}

void check_scopes(struct check *c)
{
	uint32_t count = c->func->blocks.count;
	struct scopes s = {.words = c->func->slots.count / 64 + 1};

	if (!has_scopes(c))
		return;
	s.at_entry = arena_array(&c->scratch, uint64_t, (size_t)count * s.words);
	s.known = arena_array(&c->scratch, bool, count);
	s.now = arena_array(&c->scratch, uint64_t, s.words);
	s.queue = arena_array(&c->scratch, uint32_t, count);
	scopes_reach(c, &s, (block_id){1}, 0);
	while (s.queued && !c->wrong) {
		uint32_t b = s.queue[--s.queued];
		const struct ir_block *block = &c->func->blocks.at[b];

		memcpy(s.now, s.at_entry + (size_t)b * s.words, s.words * sizeof(*s.now));
		for (uint32_t i = 0; i < block->count; i++)
			scopes_inst(c, &s, b, block->first + i);
		scopes_reach(c, &s, block->succ[0], b);
		scopes_reach(c, &s, block->succ[1], b);
	}
}
