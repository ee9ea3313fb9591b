/* Notes what may be an event while the analysis runs. */

#include "analyzer/facts/analysis.h"

#include <string.h>

static uint64_t hash_pending(const struct pending *p)
{
	uint64_t hash = hash_join((uint64_t)p->kind, p->inst);

	hash = hash_join(hash, p->context.n);
	hash = hash_join(hash, (uint64_t)(uintptr_t)p->func);
	return hash_join(hash, hash_join(newest_of(p->holder).n, newest_of(p->kept).n));
}

static bool same_pending(const struct analysis *a, uint32_t id, const void *key)
{
	const struct pending *x = key, *y = &a->pending.at[id];

	return x->kind == y->kind && x->inst == y->inst && x->context.n == y->context.n &&
	       x->func == y->func && x->holder.n / 2 == y->holder.n / 2 &&
	       x->kept.n / 2 == y->kept.n / 2;
}

struct pending *event_note(struct analysis *a, struct activation *act, uint32_t inst,
                           enum event_kind kind, object_id holder, object_id kept)
{
	const struct pending key = {
	        .kind = kind,
	        .context = act->context,
	        .file = act->file,
	        .func = act->func,
	        .inst = inst,
	        .holder = newest_of(holder),
	        .kept = newest_of(kept),
	        .from_outside = a->from_outside,
	        .by_choice = a->by_choice,
	        .late = a->steps > FACTS_LATE_STEPS,
	};
	uint32_t *slot;

	if (a->pending.count == 0)
		vec_push(a->arena, &a->pending, (struct pending){0});
	slot = id_table_slot(a, &a->pending_index, hash_pending(&key), same_pending, &key);
	if (*slot == 0) {
		*slot = a->pending.count;
		vec_push(a->arena, &a->pending, key);
	}
	a->pending.at[*slot].from_outside &= a->from_outside;
	a->pending.at[*slot].by_choice &= a->by_choice;
	a->pending.at[*slot].late &= key.late;
	if (kept.n != 0 && kind == EVENT_EVAL)
		def_of(a, kept)->followed = true;
	else if (kept.n != 0)
		def_of(a, kept)->watched = true;
	return &a->pending.at[*slot];
}

void events_outlive(struct analysis *a, object_id kept, context_id context, loop_id loop,
                    bool activations)
{
	for (uint32_t i = 1; i < a->pending.count; i++) {
		struct pending *p = &a->pending.at[i];

		if (p->kept.n == newest_of(kept).n &&
		    happens_inside(a, p->context, p->inst, context, loop)) {
			p->survives = true;
			p->activations |= activations;
		}
	}
}

bool innermost_loop(const struct analysis *a, context_id context, uint32_t inst, context_id *where,
                    loop_id *loop)
{
	while (context.n != 0) {
		const struct context *c = context_get(a, context);

		if (c->loop_of && c->loop_of[inst].n != 0) {
			*where = context;
			*loop = c->loop_of[inst];
			return true;
		}
		inst = c->call;
		context = c->parent;
	}
	return false;
}

static enum holder_kind holder_kind_of(struct analysis *a, const struct state *state, object_id id)
{
	switch (container_kind(a, state, id)) {
	case OBJECT_LIST:
	case OBJECT_ITERATOR:
		return HOLDER_LIST;
	case OBJECT_TUPLE:
		return HOLDER_TUPLE;
	case OBJECT_SET:
		return HOLDER_SET;
	case OBJECT_DEQUE:
		return HOLDER_DEQUE;
	case OBJECT_DICT:
		return HOLDER_DICT;
	case OBJECT_TENSOR:
		return HOLDER_TENSOR;
	default:
		return HOLDER_OBJECT;
	}
}

static bool lies_in_dict(struct analysis *a, const struct state *state, object_id holder)
{
	for (struct state_place at = {0}; state_next(state, &at);) {
		value_id contents;

		if (container_kind(a, state, at.id) != OBJECT_DICT)
			continue;
		contents = contents_of(a, at.object);
		if (value_has(a, contents, holder))
			return true;
	}
	return false;
}

/* The variable or attribute that names the holder, for people. */
static void name_holder(struct analysis *a, struct activation *act, const struct state *state,
                        struct pending *p, object_id holder)
{
	const struct object *frame = object_read(state, act->frame);

	if (p->holder_name)
		return;
	for (uint32_t i = 0; i < frame->field_count; i++) {
		uint32_t slot = frame->fields[i].key;

		if (act->func->slots.at[slot].kind != SLOT_HIDDEN &&
		    value_has(a, frame->fields[i].value, holder)) {
			p->holder_name =
			        intern_chars(a->names, act->func->slots.at[slot].name, NULL);
			return;
		}
	}
	for (struct state_place at = {0}; state_next(state, &at);) {
		const struct object *o = at.object;
		enum object_kind kind = def_of(a, at.id)->kind;

		if (kind != OBJECT_INSTANCE && kind != OBJECT_NAMESPACE)
			continue;
		for (uint32_t f = 0; f < o->field_count; f++)
			if (o->fields[f].key < PARTIAL_KEYWORDS &&
			    value_has(a, o->fields[f].value, holder)) {
				const sym_id name = {o->fields[f].key};

				p->holder_name = intern_chars(a->names, name, NULL);
				return;
			}
	}
	if (def_of(a, holder)->kind == OBJECT_INSTANCE && def_of(a, holder)->name.n)
		p->holder_name = intern_chars(a->names, def_of(a, holder)->name, NULL);
}

static bool has_functions(const struct analysis *a, value_id value)
{
	const struct value *v = value_get(a, value);

	for (uint32_t i = 0; i < v->count; i++) {
		enum object_kind kind = def_of(a, v->refs[i])->kind;

		if (kind == OBJECT_FUNCTION || kind == OBJECT_PARTIAL || kind == OBJECT_GENERATOR)
			return true;
	}
	return false;
}

/* Is it a function's default argument, made once with the function? */
static bool is_default_argument(struct analysis *a, const struct state *state, object_id holder)
{
	for (struct state_place at = {0}; state_next(state, &at);)
		if (def_of(a, at.id)->kind == OBJECT_FUNCTION &&
		    value_has(a, contents_of(a, at.object), holder))
			return true;
	return false;
}

/* Backward has been through some of what the holder still has. */
static bool keeps_after_use(const struct state *state, object_id holder)
{
	return (object_read(state, holder)->flags & (O_USED | O_CLEARED)) == O_USED;
}

/* A dict of the module, or of the function around it, that a function both fills and reads. */
static bool is_memo(struct analysis *a, const struct activation *act, const struct state *state,
                    object_id holder)
{
	object_id frame = act->frame;

	if (act->func->kind != FUNC_FUNCTION || container_kind(a, state, holder) != OBJECT_DICT ||
	    !def_of(a, holder)->read)
		return false;
	while ((frame = value_single(a, object_read(state, frame)->of)).n != 0)
		if (value_has(a, contents_of(a, object_read(state, frame)), holder))
			return true;
	return value_has(a, contents_of(a, object_read(state, namespace_object(a, act->file))),
	                 holder);
}

struct model_search {
	context_id context;
	loop_id loop;
	bool found;
};

static bool model_visit(struct analysis *a, const struct state *state, object_id id, void *context)
{
	struct model_search *search = context;

	search->found = object_read(state, id)->tensor & T_MODULE &&
	                made_inside(a, def_of(a, id), search->context, search->loop);
	return !search->found;
}

/* Is a module's output, made in this iteration, part of the graph? */
bool runs_model(struct analysis *a, const struct activation *act, const struct state *state,
                uint32_t inst, object_id kept)
{
	struct model_search search = {.found = false};

	if (innermost_loop(a, act->context, inst, &search.context, &search.loop))
		graph_walk(a, state, value_of(a, kept), model_visit, &search);
	return search.found;
}

/* Made in a call of a module, or in one of its methods: a part of one pass. */
static bool is_local_to_pass(struct analysis *a, struct activation *act, const struct state *state,
                             object_id holder)
{
	for (; act; act = act->caller)
		if (module_self(a, act, state).n &&
		    made_inside(a, def_of(a, holder), act->context, (loop_id){0}))
			return true;
	return false;
}

/* One of several in a container that drops the oldest. */
static bool lies_in_ring(struct analysis *a, const struct state *state, object_id holder)
{
	for (struct state_place at = {0}; state_next(state, &at);) {
		const struct object *o = at.object;
		value_id contents;

		if (!(o->flags & O_BOUNDED))
			continue;
		contents = contents_of(a, o);
		if (value_has(a, contents, holder) &&
		    (is_older(holder) || value_get(a, contents)->count > 1))
			return true;
	}
	return false;
}

static void note_store(struct analysis *a, struct activation *act, const struct state *state,
                       uint32_t inst, object_id holder, value_id value, object_id kept)
{
	const struct object *o = object_read(state, kept);
	enum event_kind kind = may_carry(o)           ? EVENT_STORE
	                       : (o->tensor & T_VIEW) ? EVENT_VIEW_STORE
	                                              : EVENT_DATA_STORE;
	struct pending *p = event_note(a, act, inst, kind, holder, kept);

	p->holder_kind = holder_kind_of(a, state, holder);
	if (lies_in_dict(a, state, holder))
		p->flags |= EVENT_KEYED;
	if (context_get(a, act->context)->in_hook)
		p->flags |= EVENT_IN_HOOK;
	if (o->tensor & T_DEVICE)
		p->flags |= EVENT_ACCELERATOR;
	if (has_functions(a, value))
		p->flags |= EVENT_IN_CACHE;
	if (is_default_argument(a, state, holder))
		p->flags |= EVENT_DEFAULT_ARG;
	if (is_memo(a, act, state, holder))
		p->flags |= EVENT_IN_CACHE;
	p->overwrites |= a->overwrites;
	p->replaces |= a->replaces;
	p->once |= happens_once(a, act, inst);
	p->rotates |= lies_in_ring(a, state, holder);
	p->runs_model |= runs_model(a, act, state, inst, kept);
	p->in_pass |= is_local_to_pass(a, act, state, holder);
	p->base = value_join(a, p->base, o->base);
	p->after_use |= keeps_after_use(state, holder);
	p->loops |= loops_over(a, act, state, inst, holder, (struct variable){0});
	name_holder(a, act, state, p, holder);
}

static bool is_plural(enum object_kind kind)
{
	return kind == OBJECT_LIST || kind == OBJECT_DICT || kind == OBJECT_SET ||
	       kind == OBJECT_DEQUE;
}

static bool inside_loop(const struct analysis *a, object_id id, context_id context, uint32_t inst)
{
	context_id where;
	loop_id loop;

	return innermost_loop(a, context, inst, &where, &loop) &&
	       made_inside(a, def_of(a, id), where, loop);
}

static bool reaches_container(struct analysis *a, const struct state *state, value_id from,
                              object_id id, int depth)
{
	const struct value *v = value_get(a, from);

	if (value_has(a, from, id))
		return true;
	for (uint32_t i = 0; depth > 0 && i < v->count; i++)
		if (!is_tensor_like(a, v->refs[i]) &&
		    reaches_container(a, state, contents_of(a, object_read(state, v->refs[i])), id,
		                      depth - 1))
			return true;
	return false;
}

/* One of them holds the other, or both lie in one container: the lists of a dict. */
static bool are_of_one(struct analysis *a, const struct state *state, object_id holder,
                       object_id id)
{
	for (struct state_place at = {0}; state_next(state, &at);) {
		const object_id whole = at.id;
		value_id contents;

		if (!is_plural(container_kind(a, state, whole)))
			continue;
		contents = contents_of(a, at.object);
		if (value_has(a, contents, holder) &&
		    (whole.n / 2 == id.n / 2 || value_has(a, contents, id)))
			return true;
	}
	return false;
}

/* Made anew in a loop that ends while the holder lives. */
static bool is_outlived(const struct analysis *a, const struct activation *act, uint32_t inst,
                        object_id holder, object_id id)
{
	context_id where;
	loop_id loop;

	return !is_older(id) && outermost_outlived(a, act->context, inst, holder, &where, &loop) &&
	       made_inside(a, def_of(a, id), where, loop);
}

/* What another container already holds lives no longer for being copied. */
static bool is_copied(struct analysis *a, const struct activation *act, const struct state *state,
                      uint32_t inst, object_id holder, value_id value, object_id kept)
{
	const value_id held = contents_of(a, object_read(state, holder));

	if (!is_older(kept))
		return false;
	for (struct state_place at = {0}; state_next(state, &at);) {
		const object_id id = at.id;

		if (id.n / 2 == holder.n / 2 || !is_plural(container_kind(a, state, id)) ||
		    is_outlived(a, act, inst, holder, id) ||
		    !value_has(a, tensors_in(a, state, at.object->elements, 2), kept))
			continue;
		if (!reaches_container(a, state, value, id, 3) &&
		    !reaches_container(a, state, held, id, 1) && !are_of_one(a, state, holder, id))
			return true;
	}
	return false;
}

static bool in_generator(const struct analysis *a, context_id context)
{
	for (; context.n != 0; context = context_get(a, context)->parent)
		if (context_get(a, context)->func->is_generator)
			return true;
	return false;
}

/* A node of its own, not a view of another tensor or a part of something. */
static bool makes_node(const struct analysis *a, const struct state *state, object_id id)
{
	const struct object *o = object_read(state, id);
	const struct api_entry *api = def_of(a, id)->api;

	if (o->tensor & (T_SAVES | T_MODULE))
		return true;
	return def_of(a, id)->kind == OBJECT_TENSOR && o->base.n == 0 && !(o->tensor & T_VIEW) &&
	       !(api && (api->effect == API_VIEWS || api->effect == API_ALIASES));
}

/* A generator runs where its values are asked for, not where it was made. */
static bool born_visit(struct analysis *a, const struct state *state, object_id id, void *context)
{
	struct model_search *search = context;

	search->found = makes_node(a, state, id) &&
	                (made_inside(a, def_of(a, id), search->context, search->loop) ||
	                 in_generator(a, def_of(a, id)->context));
	return !search->found;
}

/* Gathered of what exists already: none of its graph is born in the loops that end while
 * the holder lives. */
static bool is_gathered(struct analysis *a, const struct activation *act, const struct state *state,
                        uint32_t inst, object_id holder, object_id kept)
{
	struct model_search search = {.found = false};

	if (act->func->kind == FUNC_COMPREHENSION && a->from_outside)
		return true; /* a step of a computation whose end is not seen */
	if (!outermost_outlived(a, act->context, inst, holder, &search.context, &search.loop))
		return false;
	graph_walk(a, state, value_of(a, kept), born_visit, &search);
	return !search.found;
}

/* A view of what each iteration makes anew; views of one tensor pin it once. */
static bool pins_each(const struct analysis *a, const struct activation *act, uint32_t inst,
                      const struct object *view)
{
	const struct value *base = value_get(a, view->base);

	for (uint32_t i = 0; i < base->count; i++)
		if (!is_older(base->refs[i]) && inside_loop(a, base->refs[i], act->context, inst))
			return true;
	return false;
}

static bool grows_data(const struct analysis *a, const struct activation *act, uint32_t inst,
                       const struct object *o, object_id kept)
{
	if (act->func->kind == FUNC_COMPREHENSION || def_of(a, kept)->kind != OBJECT_TENSOR)
		return false;
	if (o->tensor & T_VIEW)
		return pins_each(a, act, inst, o);
	return def_of(a, kept)->kind == OBJECT_TENSOR && (o->tensor & T_OUTPUT) &&
	       !(o->tensor & (T_SCALAR | T_LEAF | T_GUESSED)) &&
	       (o->tensor & (T_ARRAY | T_VIEW)) != T_ARRAY;
}

void check_store(struct analysis *a, struct activation *act, struct state *state, uint32_t inst,
                 object_id holder, value_id value)
{
	const struct object *o = object_read(state, holder);
	value_id before, kept;
	const struct value *v;

	if (o->flags & O_BOUNDED)
		return;
	before = tensors_in(a, state, contents_of(a, o), 3);
	kept = tensors_in(a, state, value, 3);
	v = value_get(a, kept);
	for (uint32_t i = 0; i < v->count; i++) {
		const struct object *t = object_read(state, v->refs[i]);
		const object_id older = older_of(v->refs[i]);

		if (!value_has(a, before, older) ||
		    (!may_carry(t) && !grows_data(a, act, inst, t, v->refs[i])) ||
		    is_copied(a, act, state, inst, holder, value, v->refs[i]) ||
		    (may_carry(t) && is_gathered(a, act, state, inst, holder, v->refs[i])))
			continue;
		note_store(a, act, state, inst, holder, value, v->refs[i]);
	}
}

/* Does what was there before come from an earlier iteration's instance of it, in its graph? */
static bool descends(struct analysis *a, const struct state *state, value_id before,
                     object_id older)
{
	const struct value *v = value_get(a, before);
	value_id past = {0};

	if (!object_exists(state, older))
		return false;
	for (uint32_t i = 0; i < v->count; i++)
		if (is_older(v->refs[i]))
			past = value_join(a, past, value_of(a, v->refs[i]));
	return past.n != 0 && graph_reaches(a, state, past, older);
}

bool check_chain(struct analysis *a, struct activation *act, struct state *state, uint32_t inst,
                 value_id before, value_id value, object_id holder, struct variable carrier)
{
	const value_id old = tensors_in(a, state, before, 3);
	const value_id kept = tensors_in(a, state, value, 3);
	const struct value *v = value_get(a, kept);
	bool found = false;

	for (uint32_t i = 0; i < v->count; i++) {
		const struct object *o = object_read(state, v->refs[i]);
		const object_id older = older_of(v->refs[i]);
		struct pending *p;

		if (!may_carry(o) ||
		    (is_older(holder) && loop_around(a, act, state, inst) == LOOP_MODULES) ||
		    (!value_has(a, old, older) && !descends(a, state, old, older)) ||
		    !graph_reaches(a, state, o->parents, older))
			continue;
		p = event_note(a, act, inst, EVENT_CHAIN, holder, v->refs[i]);
		p->holder_kind = HOLDER_TENSOR;
		p->carrier = carrier;
		p->fresh |= !is_older(v->refs[i]);
		p->own |= value_has(a, old, older);
		p->runs_model |= runs_model(a, act, state, inst, v->refs[i]);
		p->loops |= loops_over(a, act, state, inst, holder, carrier);
		if (graph_sums_up(a, state, v->refs[i]))
			p->flags |= EVENT_ACCUMULATES;
		if (o->tensor & T_WEIGHTS)
			p->flags |= EVENT_WEIGHTS;
		found = true;
	}
	return found;
}

/* Made while the function ran; or its frame. */
static bool is_of_call(const struct analysis *a, object_id holder, context_id function)
{
	const struct def *def = def_of(a, holder);

	return def->context.n == function.n || made_inside(a, def, function, (loop_id){0});
}

static bool hand_on_visit(struct analysis *a, const struct state *state, object_id id,
                          void *context)
{
	const unsigned bits = object_read(state, id)->tensor;
	const context_id *function = context;

	if (!(bits & T_LIVE) || bits & T_FREED)
		return true;
	for (uint32_t i = 1; i < a->pending.count; i++) {
		struct pending *p = &a->pending.at[i];

		if (p->kept.n == newest_of(id).n && is_of_call(a, p->holder, *function))
			p->handed_on = true;
	}
	return true;
}

void events_hand_on(struct analysis *a, const struct activation *act, const struct state *state)
{
	context_id context = act->context;
	bool any = false;

	for (uint32_t i = 1; i < a->pending.count && !any; i++)
		any = is_of_call(a, a->pending.at[i].holder, context);
	if (any)
		graph_walk(a, state, tensors_in(a, state, act->returned, 3), hand_on_visit,
		           &context);
}

void check_last(struct analysis *a, struct activation *act, struct state *state, uint32_t inst,
                object_id holder, value_id value)
{
	const value_id tensors = tensors_in(a, state, value, 2);
	const struct value *v = value_get(a, tensors);
	context_id where;
	loop_id loop;

	if (!innermost_loop(a, act->context, inst, &where, &loop) ||
	    made_inside(a, def_of(a, holder), where, loop) || is_older(holder))
		return;
	for (uint32_t i = 0; i < v->count; i++) {
		struct pending *p;

		const unsigned bits = object_read(state, v->refs[i])->tensor;

		if (!(bits & T_GRAPH) || !(bits & T_OUTPUT) || bits & T_SCALAR ||
		    is_older(v->refs[i]))
			continue;
		p = event_note(a, act, inst, EVENT_LAST, holder, v->refs[i]);
		p->holder_kind = HOLDER_OBJECT;
		name_holder(a, act, state, p, holder);
	}
}

static bool has_module(struct analysis *a, const struct state *state, object_id id)
{
	const value_id contents = contents_of(a, object_read(state, id));
	const struct value *v = value_get(a, contents);

	if (is_module_instance(a, state, id))
		return true;
	for (uint32_t i = 0; i < v->count; i++)
		if (is_module_instance(a, state, v->refs[i]))
			return true;
	return false;
}

void check_each(struct analysis *a, struct activation *act, struct state *state, uint32_t inst,
                object_id holder, value_id value)
{
	const unsigned ends = LOOP_CALLS | LOOP_OUTLIVED;

	/* In a loop around that one each has another one put in its place. */
	if (is_older(holder) && def_of(a, holder)->kind == OBJECT_INSTANCE &&
	    (loops_over(a, act, state, inst, holder, (struct variable){0}) & ~ends) == LOOP_LIST &&
	    !has_module(a, state, holder))
		check_store(a, act, state, inst, holder, value);
}

/* `newest = Node(loss, newest)`: each holds the one before it. */
void check_links(struct analysis *a, struct activation *act, struct state *state, uint32_t inst,
                 value_id before, value_id value)
{
	const struct value *v = value_get(a, value);

	for (uint32_t i = 0; i < v->count; i++) {
		const struct object *o = object_read(state, v->refs[i]);
		const enum object_kind kind = def_of(a, v->refs[i])->kind;
		value_id contents, tensors;

		if ((kind != OBJECT_INSTANCE && kind != OBJECT_TUPLE && kind != OBJECT_LIST &&
		     kind != OBJECT_DICT) ||
		    is_older(v->refs[i]) || !value_has(a, before, older_of(v->refs[i])))
			continue;
		contents = contents_of(a, o);
		if (!value_has(a, contents, older_of(v->refs[i])))
			continue;
		tensors = tensors_in(a, state, contents, 0);
		for (uint32_t k = 0; k < value_get(a, tensors)->count; k++)
			if (may_carry(object_read(state, value_get(a, tensors)->refs[k])))
				note_store(a, act, state, inst, older_of(v->refs[i]), value,
				           value_get(a, tensors)->refs[k]);
	}
}
