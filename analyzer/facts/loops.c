/* What a loop goes over: the layers of a network and the rows of a batch are one
 * pass, what is loaded is step after step. */

#include "analyzer/facts/analysis.h"

struct place { /* a loop of a function that runs */
	context_id context;
	loop_id loop;
};

/* Elements without objects: range(n), enumerate(names). */
static bool is_plain(const struct analysis *a, value_id value)
{
	const struct value *v = value_get(a, value);

	for (uint32_t i = 0; i < v->count; i++)
		if (def_of(a, v->refs[i])->kind != OBJECT_CONST)
			return false;
	return value.n != 0;
}

/* zip ends with the shortest; a number or a name beside the thing says nothing. */
static unsigned kind_of_tuple(unsigned kinds)
{
	if (kinds & LOOP_MODULES)
		return LOOP_MODULES;
	return kinds & ~(unsigned)LOOP_COUNT ? kinds & ~(unsigned)LOOP_COUNT : kinds;
}

/* One of several views of a tensor: what split and unbind give. */
static bool is_piece(const struct analysis *a, const struct object *o, object_id id)
{
	const struct api_entry *api = def_of(a, id)->api;

	return o->tensor & T_VIEW ||
	       (api && api->effect == API_VIEWS && api->result == KIND_TENSOR_LIST);
}

enum { PARTS_DEPTH = 16 };

/* A part of something unknown is as old as that: the batches of a loader, the items of one. */
static object_id whole_of(const struct analysis *a, object_id id)
{
	for (int depth = 0; depth < PARTS_DEPTH && def_of(a, id)->whole.n != 0; depth++)
		id = def_of(a, id)->whole;
	return id;
}

/* Part of what an enclosing iteration was given: the items of one batch. */
static bool is_of_iteration(const struct analysis *a, struct place place, object_id id)
{
	const struct context *c = context_get(a, place.context);
	context_id where = place.context;
	loop_id outer = c->func->loops.at[place.loop.n].parent;

	if (outer.n == 0 && !innermost_loop(a, c->parent, c->call, &where, &outer))
		return false;
	return made_inside(a, def_of(a, whole_of(a, id)), where, outer);
}

static unsigned kind_of_unknown(const struct analysis *a, struct place place, object_id id)
{
	return is_of_iteration(a, place, id) ? LOOP_ROWS : LOOP_DATA;
}

static unsigned kind_of_elements(struct analysis *a, const struct state *state, struct place place,
                                 value_id elements, int depth)
{
	const struct value *v = value_get(a, elements);
	unsigned kinds = 0;

	if (is_plain(a, elements))
		return LOOP_COUNT;
	for (uint32_t i = 0; i < v->count; i++) {
		const struct object *o = object_read(state, v->refs[i]);
		const enum object_kind kind = def_of(a, v->refs[i])->kind;

		if (o->flags & O_MODULE || o->tensor & T_WEIGHTS)
			kinds |= LOOP_MODULES;
		else if (kind == OBJECT_TENSOR)
			kinds |= is_piece(a, o, v->refs[i]) ? LOOP_ROWS : LOOP_LIST;
		else if (kind == OBJECT_UNKNOWN)
			kinds |= def_of(a, v->refs[i])->whole.n
			                 ? kind_of_unknown(a, place, v->refs[i])
			                 : LOOP_DATA;
		else if (kind == OBJECT_TUPLE && depth > 0) /* enumerate, zip, items */
			kinds |= kind_of_tuple(
			        kind_of_elements(a, state, place, contents_of(a, o), depth - 1));
		else if (kind != OBJECT_CONST)
			kinds |= LOOP_LIST;
	}
	return kinds;
}

static unsigned kind_of_iterable(struct analysis *a, const struct state *state, struct place place,
                                 value_id iterable)
{
	const struct value *v = value_get(a, iterable);
	unsigned kinds = v->count ? 0 : LOOP_COUNT;

	for (uint32_t i = 0; i < v->count; i++) {
		const struct object *o = object_read(state, v->refs[i]);

		switch (container_kind(a, state, v->refs[i])) {
		case OBJECT_TENSOR:
			kinds |= LOOP_ROWS;
			break;
		case OBJECT_UNKNOWN:
			kinds |= o->flags & O_MODULE ? LOOP_MODULES
			                             : kind_of_unknown(a, place, v->refs[i]);
			break;
		case OBJECT_LIST:
		case OBJECT_TUPLE:
		case OBJECT_SET:
		case OBJECT_DEQUE:
		case OBJECT_ITERATOR:
			kinds |= o->flags & O_BOUNDED &&
			                         def_of(a, v->refs[i])->kind == OBJECT_ITERATOR
			                 ? LOOP_FEW
			                 : kind_of_elements(a, state, place, contents_of(a, o), 2);
			break;
		case OBJECT_DICT: /* its keys */
			kinds |= kind_of_elements(a, state, place, contents_of(a, o), 0) ==
			                         LOOP_MODULES
			                 ? LOOP_MODULES
			                 : LOOP_COUNT;
			break;
		case OBJECT_INSTANCE:
			kinds |= o->flags & O_MODULE ? LOOP_MODULES : LOOP_DATA;
			break;
		default:
			kinds |= LOOP_DATA;
			break;
		}
	}
	return kinds;
}

/* Does its body take one module after the other, by their numbers? */
/* The slot of the iterator that the loop's header asks; 0: a `while`. */
static uint32_t iterator_slot(const struct ir_func *func, loop_id loop)
{
	const struct ir_block *header = &func->blocks.at[func->loops.at[loop.n].header.n];

	for (uint32_t i = 0; i < header->count; i++)
		if (func->insts.at[header->first + i].op == OP_next)
			return func->insts.at[header->first + i].name;
	return 0;
}

static unsigned kind_of_loop(struct analysis *a, const struct state *state, context_id context,
                             loop_id loop)
{
	const struct context *c = context_get(a, context);
	const uint32_t slot = iterator_slot(c->func, loop);
	const struct place place = {context, loop};
	unsigned kinds;

	if (slot == 0)
		return LOOP_WHILE;
	kinds = kind_of_iterable(
	        a, state, place,
	        field_get(object_read(state, frame_object(a, context, c->func)), slot));
	return kinds == LOOP_COUNT && site_any_directly_in(a, &a->layers, context, loop)
	               ? LOOP_MODULES
	               : kinds;
}

unsigned loop_around(struct analysis *a, const struct activation *act, const struct state *state,
                     uint32_t inst)
{
	context_id where;
	loop_id loop;

	return innermost_loop(a, act->context, inst, &where, &loop)
	               ? kind_of_loop(a, state, where, loop)
	               : 0;
}

/* The variable that holds the round's number: `for i in range(n)`, `for i, x in enumerate(xs)`. */
static bool is_counter(const struct ir_func *func, const struct ir_block *header,
                       const struct ir_inst *load)
{
	const struct ir_block *first = &func->blocks.at[header->succ[0].n];

	for (uint32_t i = first->first; i < first->first + first->count; i++) {
		const struct ir_inst *inst = &func->insts.at[i];

		if (inst->op == OP_store && inst->sub == load->sub &&
		    func->slots.at[inst->sub == SUB_scope_slot ? inst->name : 0].kind !=
		            SLOT_HIDDEN)
			return inst->name == load->name;
	}
	return false;
}

/* `i == 0`, of the counter of the loop and a constant; or the other way round. */
static bool asks_round(const struct ir_func *func, const struct ir_block *header, uint32_t inst)
{
	const struct ir_inst *compare = &func->insts.at[inst];
	const struct ir_inst *left, *right;

	if (compare->op != OP_compare || compare->sub != SUB_compare_equal)
		return false;
	left = &func->insts.at[ir_args(func, compare)[0].value.n];
	right = &func->insts.at[ir_args(func, compare)[1].value.n];
	if (left->op == OP_const) {
		const struct ir_inst *swap = left;

		left = right;
		right = swap;
	}
	return left->op == OP_load && right->op == OP_const && right->sub == SUB_const_int &&
	       is_counter(func, header, left);
}

bool goes_round(const struct ir_func *func, uint32_t inst, loop_id loop)
{
	const uint32_t header = func->loops.at[loop.n].header.n;
	struct arena scratch = {0};
	bool *met = arena_array(&scratch, bool, func->blocks.count + 1);
	uint32_t *todo = arena_array(&scratch, uint32_t, func->blocks.count + 1);
	uint32_t count = 0;
	bool found = false;

	todo[count++] = cfg_block_of(func, inst).n;
	while (count > 0 && !found) {
		const struct ir_block *b = &func->blocks.at[todo[--count]];

		for (int way = 0; way < 2; way++) {
			const uint32_t next = b->succ[way].n;

			found |= next == header;
			if (next && !met[next])
				todo[count++] = next;
			met[next] = true;
		}
	}
	arena_release(&scratch);
	return found;
}

static bool has_remainder(const struct ir_func *func, const struct ir_inst *inst)
{
	const struct ir_arg *args = ir_args(func, inst);

	if (inst->op == OP_binary && inst->sub == SUB_binary_modulo)
		return true;
	for (uint32_t i = 0; i < inst->nargs; i++)
		if (args[i].value.n && has_remainder(func, &func->insts.at[args[i].value.n]))
			return true;
	return false;
}

/* Is the block reached from the one that dominates it only by a branch of its own? */
static bool is_one_branch(const struct ir_func *func, block_id from, block_id to)
{
	const struct ir_block *branch = &func->blocks.at[from.n];

	if (!branch->succ[1].n || branch->succ[0].n == branch->succ[1].n)
		return false;
	for (uint32_t b = 1; b < func->blocks.count; b++) {
		const struct ir_block *other = &func->blocks.at[b];

		if (b != from.n && (other->succ[0].n == to.n || other->succ[1].n == to.n) &&
		    !cfg_dominates(func, to, (block_id){b}))
			return false;
	}
	return branch->succ[0].n == to.n || branch->succ[1].n == to.n;
}

bool runs_now_and_then(const struct ir_func *func, uint32_t inst, loop_id loop)
{
	block_id block = cfg_block_of(func, inst);

	while (block.n > 1 && (!loop.n || cfg_in_loop(func, block, loop))) {
		const block_id outer = func->dominator[block.n];
		const struct ir_block *b = &func->blocks.at[outer.n];

		if (is_one_branch(func, outer, block) &&
		    has_remainder(func, &func->insts.at[b->first + b->count - 1]))
			return true;
		block = outer;
	}
	return false;
}

bool runs_each_round(const struct analysis *a, const struct activation *act, uint32_t inst)
{
	const struct ir_func *func = act->func;
	const loop_id *loops = context_get(a, act->context)->loop_of;
	const loop_id loop = loops ? loops[inst] : (loop_id){0};
	const block_id header = func->loops.at[loop.n].header, block = cfg_block_of(func, inst);

	for (uint32_t b = 1; loop.n != 0 && b < func->blocks.count; b++) {
		const struct ir_block *end = &func->blocks.at[b];
		const bool again = end->succ[0].n == header.n || end->succ[1].n == header.n;

		if (again && cfg_in_loop(func, (block_id){b}, loop) &&
		    !cfg_dominates(func, block, (block_id){b}))
			return false;
	}
	return true;
}

bool happens_once(const struct analysis *a, const struct activation *act, uint32_t inst)
{
	const struct ir_func *func = act->func;
	const loop_id *loops = context_get(a, act->context)->loop_of;
	block_id block = cfg_block_of(func, inst);
	const struct ir_block *header;

	if (!loops || loops[inst].n == 0 || iterator_slot(func, loops[inst]) == 0)
		return false;
	header = &func->blocks.at[func->loops.at[loops[inst].n].header.n];
	while (&func->blocks.at[block.n] != header && block.n > 1) {
		const block_id outer = func->dominator[block.n];
		const struct ir_block *b = &func->blocks.at[outer.n];
		const uint32_t last = b->first + b->count - 1;

		if (b->count && func->insts.at[last].op == OP_branch && b->succ[0].n == block.n &&
		    asks_round(func, header, ir_args(func, &func->insts.at[last])[0].value.n))
			return true;
		block = outer;
	}
	return false;
}

static bool is_called_in_loop(const struct analysis *a, const struct context *c)
{
	context_id where;
	loop_id loop;

	return innermost_loop(a, c->parent, c->call, &where, &loop);
}

static uint64_t hash_loop(context_id context, loop_id loop)
{
	return hash_join(context.n, loop.n);
}

static bool same_loop(const struct analysis *a, uint32_t id, const void *key)
{
	const struct seen_loop *seen = &a->seen_loops.at[id];
	const struct place *place = key;

	return seen->context.n == place->context.n && seen->loop.n == place->loop.n;
}

static struct seen_loop *seen_loop(struct analysis *a, context_id context, loop_id loop)
{
	const struct place place = {context, loop};
	uint32_t *slot;

	if (a->seen_loops.count == 0)
		vec_push(a->arena, &a->seen_loops, (struct seen_loop){0});
	slot = id_table_slot(a, &a->seen_loop_index, hash_loop(context, loop), same_loop, &place);
	if (*slot == 0) {
		*slot = a->seen_loops.count;
		vec_push(a->arena, &a->seen_loops, (struct seen_loop){context, loop, 0});
	}
	return &a->seen_loops.at[*slot];
}

unsigned loop_kinds_seen(struct analysis *a, context_id context, loop_id loop)
{
	return seen_loop(a, context, loop)->kinds;
}

static bool holds(struct analysis *a, const struct state *state, value_id value, object_id id,
                  int depth)
{
	const struct value *v = value_get(a, value);

	if (value_has(a, value, id))
		return true;
	for (uint32_t i = 0; depth > 0 && i < v->count; i++)
		if (!is_tensor_like(a, v->refs[i]) &&
		    holds(a, state, contents_of(a, object_read(state, v->refs[i])), id, depth - 1))
			return true;
	return false;
}

/* Has something that is older than the call got it? */
static bool outlives_call(struct analysis *a, const struct state *state, object_id holder,
                          context_id context)
{
	for (struct state_place at = {0}; state_next(state, &at);) {
		const struct def *def = def_of(a, at.id);

		if ((def->kind == OBJECT_FRAME && def->context.n == context.n) ||
		    made_inside(a, def, context, (loop_id){0}))
			continue;
		if (holds(a, state, contents_of(a, at.object), holder, 1))
			return true;
	}
	return false;
}

/* Is the holder of the call that runs in the context, and gone with it? */
static bool is_of_call(struct analysis *a, const struct state *state, object_id holder,
                       context_id context)
{
	const struct def *def = def_of(a, holder);

	if (def->context.n != context.n && !made_inside(a, def, context, (loop_id){0}))
		return false;
	return !is_older(holder) || def->kind == OBJECT_TENSOR ||
	       !outlives_call(a, state, holder, context);
}

static const struct activation *activation_of(const struct activation *act, context_id context)
{
	while (act && act->context.n != context.n)
		act = act->caller;
	return act;
}

static bool variable_keeps(struct analysis *a, const struct activation *act, loop_id loop,
                           const struct object *variables, object_id holder)
{
	const bool slots = act->func->kind != FUNC_MODULE;

	for (uint32_t i = 0; i < variables->field_count; i++) {
		const struct field *field = &variables->fields[i];
		const struct variable variable = {.slot = slots ? field->key : 0,
		                                  .name = {slots ? 0 : field->key}};

		if (value_has(a, field->value, holder) &&
		    variable_lives(a, act->live, act->func, loop, variable))
			return true;
	}
	return false;
}

/* Does anything have the holder that is still there when the loop's next round begins? */
static bool outlives_round(struct analysis *a, const struct activation *act,
                           const struct state *state, object_id holder, loop_id loop)
{
	const object_id variables =
	        act->func->kind == FUNC_MODULE ? namespace_object(a, act->file) : act->frame;

	for (struct state_place at = {0}; state_next(state, &at);) {
		const object_id id = at.id;
		const struct object *o = at.object;

		if (id.n == variables.n) {
			if (variable_keeps(a, act, loop, o, holder))
				return true;
		} else if ((is_older(id) || !made_inside(a, def_of(a, id), act->context, loop)) &&
		           value_has(a, contents_of(a, o), holder)) {
			return true;
		}
	}
	return false;
}

static unsigned note_kinds(struct analysis *a, const struct state *state, context_id context,
                           loop_id loop)
{
	const unsigned kinds = kind_of_loop(a, state, context, loop);

	seen_loop(a, context, loop)->kinds |= kinds;
	return kinds;
}

unsigned loops_over(struct analysis *a, const struct activation *act, const struct state *state,
                    uint32_t inst, object_id holder, struct variable carrier)
{
	const bool named = carrier.slot != 0 || carrier.name.n != 0;
	context_id context = act->context;
	unsigned kinds = 0;

	while (context.n != 0) {
		const struct context *c = context_get(a, context);
		loop_id loop = c->loop_of ? c->loop_of[inst] : (loop_id){0};

		for (; loop.n != 0; loop = c->func->loops.at[loop.n].parent) {
			if (made_inside(a, def_of(a, holder), context, loop)) {
				const struct activation *around = activation_of(act, context);

				if (!is_older(holder) ||
				    (around && !outlives_round(a, around, state, holder, loop)))
					return kinds | LOOP_AROUND;
				kinds |= LOOP_OUTLIVED;
			}
			if (!named || variable_lives(a, act->live, act->func, loop, carrier))
				kinds |= note_kinds(a, state, context, loop);
		}
		if (named || is_of_call(a, state, holder, context))
			return kinds | (is_called_in_loop(a, c) ? LOOP_AROUND : 0);
		inst = c->call;
		context = c->parent;
	}
	return kinds | LOOP_CALLS;
}

bool outermost_outlived(const struct analysis *a, context_id context, uint32_t inst,
                        object_id holder, context_id *where, loop_id *loop)
{
	const struct def *def = def_of(a, holder);
	bool found = false;

	while (context.n != 0) {
		const struct context *c = context_get(a, context);
		loop_id l = c->loop_of ? c->loop_of[inst] : (loop_id){0};

		for (; l.n != 0; l = c->func->loops.at[l.n].parent) {
			if (!is_older(holder) && made_inside(a, def, context, l))
				return found;
			*where = context;
			*loop = l;
			found = true;
		}
		if (!is_older(holder) && def->context.n == context.n)
			return found;
		inst = c->call;
		context = c->parent;
	}
	return found;
}

static bool varies(struct analysis *a, const struct state *state, value_id index, int depth)
{
	const struct value *v = value_get(a, index);
	bool any = (v->flags & V_NUMBER) != 0;

	for (uint32_t i = 0; i < v->count && depth > 0; i++)
		if (def_of(a, v->refs[i])->kind == OBJECT_TUPLE)
			any |= varies(a, state, contents_of(a, object_read(state, v->refs[i])),
			              depth - 1);
	return any;
}

static bool is_or_has_module(struct analysis *a, const struct state *state, value_id item,
                             int depth)
{
	const struct value *v = value_get(a, item);

	for (uint32_t i = 0; i < v->count; i++) {
		const struct object *o = object_read(state, v->refs[i]);

		if (o->flags & O_MODULE || def_of(a, v->refs[i])->proven_module ||
		    (depth > 0 && def_of(a, v->refs[i])->kind == OBJECT_INSTANCE &&
		     is_or_has_module(a, state, contents_of(a, o), depth - 1)))
			return true;
	}
	return false;
}

void loop_note_item(struct analysis *a, const struct activation *act, const struct state *state,
                    uint32_t inst, object_id owner, value_id index, value_id item)
{
	const loop_id *loop_of = context_get(a, act->context)->loop_of;
	const loop_id loop = loop_of ? loop_of[inst] : (loop_id){0};
	const struct site site = {act->context, inst, false};

	if (loop.n == 0 || !varies(a, state, index, 1))
		return;
	if (is_or_has_module(a, state, item, 1))
		site_note(a, &a->layers, site);
	else if (is_tensor_like(a, owner) && !made_inside(a, def_of(a, owner), act->context, loop))
		site_note(a, &a->rows, site);
}
