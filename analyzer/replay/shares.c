/* Whose growth it is: of what each watched place was given, or made, in an iteration, how
 * much is still alive when later ones end. The curve of the whole loop does not tell. */

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/bug.h"
#include "analyzer/replay/measure.h"
#include "runtime/core.h"

enum {
	MOST_NOTES = 1 << 18,
	MOST_MADE = 256,    /* ids, by one instruction */
	MOST_OBJECTS = 256, /* that one operand leads to */
	MOST_STEPS = 1024,  /* that are told apart */
	STEP_WORDS = MOST_STEPS / 64,
};

/* A node or a storage, by its id. */
struct share_note {
	uint64_t id; /* 0: the entry is free */
	uint64_t places;
	uint32_t step;
};

struct share_steps {
	uint64_t nodes[STEP_WORDS];
	uint64_t bytes;
};

static struct share_note *note_at(const struct shares *s, uint64_t id)
{
	uint32_t at = (uint32_t)(id * 0x9e3779b97f4a7c15u >> 32) & s->mask;

	while (s->notes[at].id && s->notes[at].id != id)
		at = (at + 1) & s->mask;
	return &s->notes[at];
}

static void notes_grow(struct shares *s)
{
	const struct shares old = *s;

	s->mask = old.notes ? old.mask * 2 + 1 : 255;
	s->notes = checked_alloc((size_t)s->mask + 1, sizeof(*s->notes));
	memset(s->notes, 0, ((size_t)s->mask + 1) * sizeof(*s->notes));
	for (uint32_t i = 0; old.notes && i <= old.mask; i++)
		if (old.notes[i].id)
			*note_at(s, old.notes[i].id) = old.notes[i];
	free(old.notes);
}

void shares_note(struct replay *r, uint32_t place, uint64_t id)
{
	struct shares *s = &r->shares;
	struct share_note *note;

	if (r->closing || s->count >= MOST_NOTES)
		return;
	if (s->count * 2 >= s->mask)
		notes_grow(s);
	note = note_at(s, id);
	if (!note->id) {
		*note = (struct share_note){.id = id, .step = r->result->count};
		s->count++;
	}
	note->places |= UINT64_C(1) << place;
}

/* --- what a place is given */

struct given {
	struct replay *r;
	uint32_t count, next;
	struct obj *at[MOST_OBJECTS];
	uint32_t id_count;
	uint64_t ids[2 * MOST_OBJECTS];
	bool has_older;
};

static void add_id(struct given *g, uint64_t id)
{
	const struct shares *s = &g->r->shares;
	const struct share_note *note = s->notes ? note_at(s, id) : NULL;

	if (note && note->id && note->step < g->r->result->count)
		g->has_older = true;
	g->ids[g->id_count++] = id;
}

static void add_tensor(struct given *g, struct ag_tensor *t)
{
	struct ag_storage *storage = ag_storage_of(t);
	struct ag_node *node = ag_grad_fn(ctx_of(g->r->vm), t);

	if (storage)
		add_id(g, ag_storage_id(storage));
	if (node && !ag_node_variable(node))
		add_id(g, ag_node_id(node));
}

static bool add_object(void *data, struct val child, const char *role, struct val key)
{
	struct given *g = data;
	const uint32_t kind = child.as.o->kind;

	(void)role;
	(void)key;
	if (kind == K_CLASS || kind == K_MODULE || kind == K_NATIVE || g->count == MOST_OBJECTS)
		return true;
	for (uint32_t i = 0; i < g->count; i++)
		if (g->at[i] == child.as.o)
			return true;
	g->at[g->count++] = child.as.o;
	return true;
}

/* What a function of the program is given may be what it fills, with what others put there. */
static void note_value(struct replay *r, uint32_t place, struct val v, bool may_be_filled)
{
	struct given g = {.r = r};

	if (v.tag != PY_OBJECT)
		return;
	add_object(&g, v, NULL, val_null());
	while (g.next < g.count) {
		struct obj *o = g.at[g.next++];

		if (o->kind == K_TENSOR && ((struct tensor *)(void *)o)->t)
			add_tensor(&g, ((struct tensor *)(void *)o)->t);
		else if (o->kind == K_ARRAY)
			add_tensor(&g, ((struct array *)(void *)o)->t);
		else
			rp_visit(r->vm, o, add_object, &g);
	}
	if (may_be_filled && g.has_older && !is_kind(v, K_TENSOR))
		return;
	for (uint32_t i = 0; i < g.id_count; i++)
		shares_note(r, place, g.ids[i]);
}

static bool is_of_program(struct val callee)
{
	if (is_kind(callee, K_METHOD))
		callee = AS(method, callee)->fn;
	return is_kind(callee, K_FUNCTION) && !AS(function, callee)->code->library;
}

/* A method is called: what of. */
static struct val owner_of(struct val callee)
{
	struct val owner = val_null();

	if (is_kind(callee, K_METHOD))
		owner = AS(method, callee)->self;
	else if (is_kind(callee, K_NATIVE))
		owner = AS(native, callee)->bound;
	else if (is_kind(callee, K_UNKNOWN))
		owner = AS(unknown, callee)->graph;
	return is_kind(owner, K_TENSOR) ? owner : val_null();
}

void shares_given(struct vm *vm, uint32_t place, struct val callee, struct val operand)
{
	struct replay *r = vm->user;
	const bool is_callee =
	        callee.tag == PY_OBJECT && operand.tag == PY_OBJECT && callee.as.o == operand.as.o;

	if (r->closing)
		return;
	note_value(r, place, is_callee ? owner_of(operand) : operand, is_of_program(callee));
	r->shares.from[place] = ctx_of(vm)->next_id;
}

void shares_passed(struct vm *vm, uint32_t place)
{
	struct replay *r = vm->user;
	const uint64_t from = r->shares.from[place], to = ctx_of(vm)->next_id;

	for (uint64_t id = from + 1; from && id <= to && id - from <= MOST_MADE; id++)
		shares_note(r, place, id);
	r->shares.from[place] = 0;
}

/* --- what of it is alive */

struct tally {
	struct shares *shares;
	struct share_steps *places;
};

static bool tally_node(void *data, struct ag_node *node)
{
	const struct tally *t = data;
	const struct share_note *note = note_at(t->shares, ag_node_id(node));

	for (uint32_t i = 0; note->id && i < REPLAY_MOST_WATCHED && note->step < MOST_STEPS; i++)
		if (note->places >> i & 1)
			t->places[i].nodes[note->step / 64] |= UINT64_C(1) << note->step % 64;
	return true;
}

static bool tally_storage(void *data, struct ag_storage *storage)
{
	const struct tally *t = data;
	const struct share_note *note = note_at(t->shares, ag_storage_id(storage));

	for (uint32_t i = 0; note->id && i < REPLAY_MOST_WATCHED; i++)
		if (note->places >> i & 1)
			t->places[i].bytes += ag_storage_bytes(storage);
	return true;
}

static uint64_t *series_of(const struct shares *s, uint32_t place, bool bytes)
{
	return s->series + (size_t)(2 * place + bytes) * s->capacity;
}

static void series_grow(struct replay *r, uint32_t count)
{
	const struct shares old = r->shares;
	struct shares *s = &r->shares;
	const uint32_t places = r->vm->watch_count;

	s->places = places;
	s->capacity = r->capacity;
	s->series = arena_array(r->request->arena, uint64_t, 2 * (size_t)places * s->capacity);
	for (uint32_t i = 0; count && i < 2 * places; i++)
		memcpy(s->series + (size_t)i * s->capacity, old.series + (size_t)i * old.capacity,
		       count * sizeof(uint64_t));
}

static uint32_t steps_of(const struct share_steps *steps)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < STEP_WORDS; i++)
		count += (uint32_t)__builtin_popcountll(steps->nodes[i]);
	return count;
}

void shares_sample(struct replay *r)
{
	const uint32_t places = r->vm->watch_count, last = r->result->count - 1;
	struct tally tally = {.shares = &r->shares};

	if (!places)
		return;
	if (r->shares.capacity < r->capacity)
		series_grow(r, last);
	tally.places = checked_alloc(places, sizeof(*tally.places));
	memset(tally.places, 0, places * sizeof(*tally.places));
	if (r->shares.notes) {
		ag_each_node(ctx_of(r->vm), tally_node, &tally);
		ag_each_storage(ctx_of(r->vm), tally_storage, &tally);
	}
	for (uint32_t i = 0; i < places; i++) {
		series_of(&r->shares, i, false)[last] = steps_of(&tally.places[i]);
		series_of(&r->shares, i, true)[last] = tally.places[i].bytes;
	}
	free(tally.places);
}

void shares_judge(struct replay *r)
{
	const struct replay_stretch *stretch = &r->result->stretch;

	for (uint32_t i = 0; r->shares.series && i < r->shares.places; i++) {
		const uint64_t *nodes = series_of(&r->shares, i, false);
		const uint64_t *bytes = series_of(&r->shares, i, true);

		r->seen[i].share = (struct replay_share){
		        .nodes = replay_verdict(nodes, r->result->count),
		        .bytes = replay_verdict(bytes, r->result->count),
		        .stretch_nodes = replay_verdict(nodes + stretch->first, stretch->count),
		        .stretch_bytes = replay_verdict(bytes + stretch->first, stretch->count),
		};
	}
}

/* What was noted so far was another loop's. */
void shares_reset(struct replay *r)
{
	free(r->shares.notes);
	r->shares.notes = NULL;
	r->shares.count = r->shares.mask = 0;
}
