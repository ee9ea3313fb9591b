/* Judges at the end of an analysis what was noted while it ran. */

#include <string.h>

#include "analyzer/facts/judge.h"

/* What a caller gave was made nowhere in the text. */
static bool is_made(const struct analysis *a, object_id id)
{
	return def_of(a, id)->inst != 0;
}

static struct event_place born_place(const struct analysis *a, object_id kept, const char **text)
{
	object_id at = kept;

	for (int depth = 0; depth < 64; depth++) {
		const struct value *parents = value_get(a, def_of(a, at)->parents_seen);
		object_id next = {0};

		for (uint32_t i = 0; i < parents->count && next.n == 0; i++)
			if (parents->refs[i].n / 2 < at.n / 2 && is_made(a, parents->refs[i]))
				next = parents->refs[i];
		if (next.n == 0)
			break;
		at = next;
	}
	*text = def_of(a, at)->api ? api_name(def_of(a, at)->api) : NULL;
	return def_of(a, at)->place;
}

static const char *source_text(const struct project_file *file, struct arena *arena,
                               struct span span)
{
	uint32_t length = span.end - span.start;

	if (length == 0 || length > 60 || span.end > file->source->length)
		return NULL;
	return arena_text(arena, file->source->text + span.start, length);
}

/* A statement's: comprehensions are part of a step. */
static struct event_place loop_place(const struct analysis *a, const struct pending *p)
{
	context_id where = p->context;
	uint32_t inst = p->inst;
	loop_id loop;

	while (innermost_loop(a, where, inst, &where, &loop)) {
		const struct context *context = context_get(a, where);

		if (context->func->kind != FUNC_COMPREHENSION)
			return (struct event_place){context->file->source,
			                            context->func->loops.at[loop.n].span};
		inst = context->call;
		where = context->parent;
	}
	return (struct event_place){0};
}

/* What a model keeps in itself is not certain where another one may be run. */
static bool is_certain(struct analysis *a, const struct pending *p)
{
	const bool keeps = p->kind == EVENT_STORE || p->kind == EVENT_CHAIN;

	return graph_proven(a, p->kept) && !(keeps && p->by_choice);
}

static void fill_event(struct analysis *a, struct arena *arena, const struct pending *p,
                       struct event *event)
{
	const struct def *holder = def_of(a, p->holder);

	event->kind = p->kind;
	event->flags = p->flags | (p->evaluates ? EVENT_EVALUATES : 0U);
	event->holder = p->holder_kind;
	event->holder_name = p->holder_name;
	event->function = intern_chars(a->names, p->func->qualified, NULL);
	event->at = p->place.source ? p->place : place_of(p->file, p->func, p->inst);
	if (p->kind == EVENT_STORE && p->place.source)
		event->happens = place_of(p->file, p->func, p->inst);
	event->needed = p->needed;
	event->loop = loop_place(a, p);
	if (p->holder.n && holder->file)
		event->made = holder->place;
	if (p->kept.n) {
		event->born = born_place(a, p->kept, &event->born_text);
		if (is_made(a, p->kept))
			event->value = def_of(a, p->kept)->place;
		event->value_name = source_text(def_of(a, p->kept)->file, arena,
		                                def_of(a, p->kept)->place.span);
		if (p->activations && !p->after_use && p->kind != EVENT_RETAIN)
			event->flags |= EVENT_ACTIVATIONS;
		event->certainty = is_certain(a, p) ? CERTAINTY_KNOWN : CERTAINTY_ASSUMED;
	} else {
		event->certainty = CERTAINTY_KNOWN;
	}
}

bool judge_any_inside(const struct analysis *a, const site_list *sites, context_id context,
                      loop_id loop)
{
	for (uint32_t i = 0; i < sites->count; i++)
		if (happens_inside(a, sites->at[i].context, sites->at[i].inst, context, loop))
			return true;
	return false;
}

bool judge_trains_around(const struct analysis *a, const struct pending *p)
{
	context_id where;
	loop_id loop;

	return innermost_loop(a, p->context, p->inst, &where, &loop) &&
	       judge_any_inside(a, &a->backwards, where, loop);
}

/* Is what the variable has at a place still there when the next round of the loop begins? */
static bool reaches_next_round(const struct pending *p, uint32_t inst, loop_id loop)
{
	return p->carrier.slot ? flow_slot_stays(p->func, inst, p->inst, loop, p->carrier.slot)
	                       : flow_name_stays(p->func, inst, p->inst, loop, p->carrier.name);
}

/* Does a backward in this loop retain what is then carried into its next round? */
static bool retains_for_next(const struct analysis *a, const struct pending *p, context_id context,
                             loop_id loop)
{
	for (uint32_t i = 0; i < a->backwards.count; i++) {
		struct site site = a->backwards.at[i];

		if (!site.retains || !happens_inside(a, site.context, site.inst, context, loop))
			continue;
		if (p->carrier.field.n)
			return true;
		while (site.context.n != context.n)
			site = site_outward(a, site);
		if (reaches_next_round(p, site.inst, loop))
			return true;
	}
	return false;
}

/* An attribute is carried through the loops of those who call, too. */
static bool field_outlives_backward(struct analysis *a, const struct pending *p)
{
	struct site at = {p->context, p->inst, false};
	bool loops = false;

	for (; at.context.n != 0; at = site_outward(a, at)) {
		const struct context *c = context_get(a, at.context);
		loop_id loop = c->loop_of ? c->loop_of[at.inst] : (loop_id){0};

		for (; loop.n != 0; loop = c->func->loops.at[loop.n].parent) {
			loops = true;
			if (field_is_carried(a, p, at.context, loop) &&
			    retains_for_next(a, p, at.context, loop))
				return true;
		}
	}
	return !loops;
}

/* A chain that a retaining backward goes through is wanted within the step that
 * ends with it; what enters the next step has been through backward already. */
static bool outlives_backward(struct analysis *a, const struct pending *p)
{
	const struct function_facts *facts = function_facts(a, p->file, p->func);
	loop_id loop = facts->loop_of[p->inst];

	if (p->carrier.field.n)
		return field_outlives_backward(a, p);
	if (loop.n == 0)
		return true;
	for (; loop.n != 0; loop = p->func->loops.at[loop.n].parent)
		if (variable_lives(a, facts->live, p->func, loop, p->carrier) &&
		    retains_for_next(a, p, p->context, loop))
			return true;
	return false;
}

static bool made_around(const struct analysis *a, const struct def *holder, struct site site)
{
	while (site.context.n != 0) {
		const struct context *c = context_get(a, site.context);
		loop_id loop = c->loop_of ? c->loop_of[site.inst] : (loop_id){0};

		for (; loop.n != 0; loop = c->func->loops.at[loop.n].parent)
			if (made_inside(a, holder, site.context, loop))
				return true;
		site = site_outward(a, site);
	}
	return false;
}

/* A retaining backward uses what is in a holder of its own round of some loop; the next one has
 * a new holder. */
static bool holder_outlives_backward(const struct analysis *a, const struct pending *p)
{
	for (uint32_t i = 0; i < a->backwards.count; i++)
		if (a->backwards.at[i].retains &&
		    made_around(a, def_of(a, p->holder), a->backwards.at[i]))
			return false;
	return true;
}

/* Does another backward go through the graph that this one retains? */
static enum ancestor again_test(const struct analysis *a, object_id id, const void *context)
{
	const struct def *def = def_of(a, id);

	(void)context;
	return def->used_again || def->backward_sites & (def->backward_sites - 1) ? ANCESTOR_FOUND
	                                                                          : ANCESTOR_ABOVE;
}

/* After this call of its function, or after another one that the same line is there for. */
static bool needed_again(struct analysis *a, const struct pending *retain)
{
	for (uint32_t i = 1; i < a->pending.count; i++) {
		const struct pending *p = &a->pending.at[i];

		if (p->kind == EVENT_RETAIN && p->func == retain->func && p->inst == retain->inst &&
		    p->kept.n && graph_has_ancestor(a, p->kept, again_test, NULL))
			return true;
	}
	return false;
}

static enum ancestor same_test(const struct analysis *a, object_id id, const void *context)
{
	const object_id *wanted = context;

	(void)a;
	return id.n == newest_of(*wanted).n ? ANCESTOR_FOUND : ANCESTOR_ABOVE;
}

bool judge_continues(struct analysis *a, object_id graph, object_id from)
{
	return graph_has_ancestor(a, graph, same_test, &from);
}

/* Nothing of it outlives the iteration, nobody else gets it, and numbers are read off it. */
static bool only_counted(struct analysis *a, const struct pending *p)
{
	bool counted = false;

	if (p->survives || p->from_outside)
		return false;
	for (uint32_t i = 1; i < a->defs.count; i++) {
		const struct def *def = &a->defs.at[i];

		if ((!def->counted && !def->passed) ||
		    !judge_continues(a, (object_id){i * 2}, p->kept))
			continue;
		if (def->passed)
			return false;
		counted = true;
	}
	return counted;
}

static bool eval_stands(struct analysis *a, const struct pending *p)
{
	const struct def *kept = def_of(a, p->kept);
	context_id context;
	loop_id loop;

	return !kept->reached && !kept->escaped &&
	       innermost_loop(a, p->context, p->inst, &context, &loop) &&
	       context.n == p->context.n && has_rounds(a, context, loop) &&
	       !judge_any_inside(a, &a->backwards, context, loop) &&
	       (p->evaluates || only_counted(a, p));
}

/* Is it the graph of a model that was put into evaluation? */
static bool evaluates(struct analysis *a, object_id kept, uint32_t first)
{
	for (uint32_t i = first; i < a->pending.count; i++)
		if (a->pending.at[i].kind == EVENT_EVAL && a->pending.at[i].evaluates &&
		    judge_continues(a, kept, a->pending.at[i].kept))
			return true;
	return false;
}

/* Whether it is one shows in what the functions that are called do with it. */
static bool rests_on_calls(enum event_kind kind)
{
	switch (kind) {
	case EVENT_STORE:
	case EVENT_CHAIN:
	case EVENT_LAST:
	case EVENT_RETAIN:
	case EVENT_CREATE_GRAPH:
	case EVENT_DATA_STORE:
	case EVENT_VIEW_STORE:
		return true;
	default:
		return false;
	}
}

/* With unknown callers the grad mode is unknown too, and so is what becomes of a
 * graph: only code that itself trains, or evaluates, shows what it means. */
void events_doubt(struct analysis *a, uint32_t first)
{
	const bool shallow = a->depth < FACTS_MAX_DEPTH;

	for (uint32_t i = first; i < a->pending.count; i++) {
		struct pending *p = &a->pending.at[i];
		const bool keeps =
		        p->kind == EVENT_STORE || p->kind == EVENT_CHAIN || p->kind == EVENT_LAST;

		p->incomplete |= a->exhausted || (shallow && rests_on_calls(p->kind)) ||
		                 (keeps && !a->trains && !evaluates(a, p->kept, first));
	}
}

/* Its graph is part of what an unknown caller got, who may cut it. */
static bool given_away(const struct analysis *a, object_id kept)
{
	const struct value *parents = value_get(a, def_of(a, kept)->parents_seen);

	for (uint32_t i = 0; i < parents->count; i++)
		if (parents->refs[i].n / 2 != kept.n / 2 && def_of(a, parents->refs[i])->escaped)
			return true;
	return def_of(a, kept)->escaped;
}

/* A holder that nobody looks into is not why backward came by. */
static bool is_read(const struct analysis *a, const struct pending *p)
{
	return p->holder_kind == HOLDER_OBJECT || p->holder_kind == HOLDER_TENSOR ||
	       def_of(a, p->holder)->read;
}

/* Does a backward go through the same thing when others call? */
static bool is_wanted_elsewhere(const struct analysis *a, object_id kept)
{
	const struct def *def = def_of(a, kept);

	for (uint32_t i = 1; i < a->defs.count; i++) {
		const struct def *other = &a->defs.at[i];

		if (other != def && other->reached && other->func == def->func &&
		    other->inst == def->inst && other->part == def->part &&
		    other->kind == def->kind)
			return true;
	}
	return false;
}

/* Gathered or summed up for whoever called: what is wanted with it shows there. */
static bool is_handed_on(struct analysis *a, const struct pending *p)
{
	if (!p->handed_on || (p->kind != EVENT_STORE && p->kind != EVENT_CHAIN))
		return false;
	if (p->flags & EVENT_WEIGHTS)
		return true; /* weights that steps of learning gave */
	return runs_forward(a, p->context) || p->in_pass || is_wanted_elsewhere(a, p->kept) ||
	       (p->from_outside && !evaluates(a, p->kept, 1)) || sequence_is_handed_on(a, p);
}

bool judge_made_anew(const struct pending *p)
{
	return (p->loops & (LOOP_AROUND | LOOP_OUTLIVED)) == LOOP_AROUND;
}

bool judge_local(const struct analysis *a, const struct pending *p)
{
	const context_id made = def_of(a, p->holder)->context;

	for (context_id c = p->context; c.n != 0; c = context_get(a, c)->parent)
		if (c.n == made.n)
			return context_get(a, c)->func->kind != FUNC_MODULE;
	return false;
}

/* Does a loop that ends while the holder lives have one of the sites in it? */
bool judge_goes_by(const struct analysis *a, const struct pending *p, const site_list *sites)
{
	const struct def *holder = def_of(a, p->holder);
	context_id context = p->context;
	uint32_t inst = p->inst;

	while (context.n != 0) {
		const struct context *c = context_get(a, context);
		loop_id loop = c->loop_of ? c->loop_of[inst] : (loop_id){0};

		for (; loop.n != 0; loop = c->func->loops.at[loop.n].parent) {
			if (made_inside(a, holder, context, loop))
				return false;
			if (judge_any_inside(a, sites, context, loop))
				return true;
		}
		if (holder->context.n == context.n)
			return false;
		inst = c->call;
		context = c->parent;
	}
	return false;
}

/* Emptied in the very loop that fills it, whatever else may have been meant. */
bool judge_cleared(const struct analysis *a, const struct pending *p)
{
	context_id where;
	loop_id loop;
	const bool loops = innermost_loop(a, p->context, p->inst, &where, &loop);

	for (uint32_t i = 0; loops && i < a->clearings.count; i++) {
		const struct clearing *c = &a->clearings.at[i];

		if (c->weak && c->holder.n == newest_of(p->holder).n &&
		    happens_inside(a, c->site.context, c->site.inst, where, loop))
			return true;
	}
	return false;
}

/* Emptied by some method, when it is others that call them. */
bool judge_cleared_outside(const struct analysis *a, const struct pending *p)
{
	for (uint32_t i = 0; p->from_outside && i < a->clearings.count; i++)
		if (a->clearings.at[i].holder.n == newest_of(p->holder).n)
			return true;
	return false;
}

/* The outputs of one operation have one node: backward through one frees it. */
static bool node_reached(const struct analysis *a, object_id id)
{
	const struct def *kept = def_of(a, id);

	for (uint32_t i = 1; i < a->defs.count; i++) {
		const struct def *def = &a->defs.at[i];

		if (def->reached && def->kind == OBJECT_TENSOR && def->inst == kept->inst &&
		    def->context.n == kept->context.n)
			return true;
	}
	return kept->reached;
}

/* What a module gave; `context` says whether backward has come to it in another round. */
static enum ancestor output_test(const struct analysis *a, object_id id, const void *context)
{
	const struct def *def = def_of(a, id);
	const bool *used = context;

	return def->tensor_seen & T_MODULE && def->reached_old == *used ? ANCESTOR_FOUND
	                                                                : ANCESTOR_ABOVE;
}

/* All that models computed for it is kept for a backward anyway, as long as the holder lives:
 * a node more. */
static bool is_byproduct(struct analysis *a, const struct pending *p)
{
	static const bool used = true, idle = false;

	return judge_made_anew(p) && is_read(a, p) && !judge_trains_around(a, p) &&
	       graph_has_ancestor(a, p->kept, output_test, &used) &&
	       !graph_has_ancestor(a, p->kept, output_test, &idle);
}

/* Around a syntax error the parser guesses: the `with` or the loop that something stood in
 * may be lost. */
static bool is_guessed(const struct pending *p)
{
	const struct ir_module *module = p->file->lowered.module;
	const struct span span = p->func->insts.at[p->inst].span;

	for (uint32_t i = 0; i < module->gaps.count; i++)
		if (module->gaps.at[i].span.start <= span.start &&
		    span.end <= module->gaps.at[i].span.end)
			return true;
	return false;
}

/* Nothing takes the gradients away from their parameters. */
static bool circle_stands(const struct analysis *a, const struct pending *p)
{
	const bool is_given = p->kept.n != 0;

	return !a->gradients_cleared && !(is_given && a->gradients_zeroed);
}

/* Far into a large program much is only guessed at: what says what the code is for has to stand
 * beside it, a backward in the same loop, or a model in evaluation. */
static bool is_too_late(const struct analysis *a, const struct pending *p)
{
	context_id where;
	loop_id loop;

	if (!p->late)
		return false;
	switch (p->kind) {
	case EVENT_EVAL:
		return !p->evaluates;
	case EVENT_STORE:
	case EVENT_CHAIN:
		return !innermost_loop(a, p->context, p->inst, &where, &loop) ||
		       where.n != p->context.n || !judge_any_inside(a, &a->backwards, where, loop);
	default:
		return p->kind == EVENT_LAST;
	}
}

static bool stands(struct analysis *a, const struct pending *p)
{
	const struct def *kept = def_of(a, p->kept);
	context_id where;
	loop_id loop;

	if (p->incomplete || is_too_late(a, p) || is_guessed(p) || is_handed_on(a, p) ||
	    pass_ends_it(a, p))
		return false;
	switch (p->kind) {
	case EVENT_HOOK_CYCLE:
		return graph_proven(a, p->kept);
	case EVENT_MODE_LEFT:
		return p->felt && (p->left_on || a->backwards.count > 0);
	case EVENT_VIEW_STORE:
		return piles_up(a, p) &&
		       (!p->from_outside || def_of(a, p->holder)->context.n != p->context.n);
	case EVENT_DATA_STORE:
		return outputs_pile_up(a, p);
	case EVENT_FLUSH:
		return flush_stands(a, p);
	case EVENT_SYNC:
		return p->file->matters && innermost_loop(a, p->context, p->inst, &where, &loop);
	case EVENT_CREATE_GRAPH:
		return circle_stands(a, p);
	case EVENT_CHAIN:
		if (p->from_outside && given_away(a, p->kept))
			return false;
		if (kept->reached_retained && !outlives_backward(a, p))
			return false;
		return !kept->reached_old && graph_proven(a, p->kept);
	case EVENT_STORE:
		if (kept->reached_retained && is_read(a, p) && !holder_outlives_backward(a, p))
			return false;
		if (kept->reached_old && is_read(a, p) &&
		    (!p->after_use || judge_cleared_outside(a, p)))
			return false;
		return !p->replaces && !def_of(a, p->holder)->drained && !judge_cleared(a, p) &&
		       !is_byproduct(a, p) && graph_proven(a, p->kept);
	case EVENT_LAST:
		return !node_reached(a, p->kept) && !kept->escaped && p->activations &&
		       judge_trains_around(a, p) && graph_proven(a, p->kept);
	case EVENT_EVAL:
		return eval_stands(a, p);
	case EVENT_RETAIN:
		return p->kept.n != 0 && !needed_again(a, p);
	default:
		return true;
	}
}

/* A graph that a store keeps is told of there, once; one that is handed on concerns the caller. */
static bool told_by_store(struct analysis *a, const struct pending *p)
{
	if (p->kind != EVENT_EVAL)
		return false;
	for (uint32_t i = 1; i < a->pending.count; i++) {
		const struct pending *other = &a->pending.at[i];

		if ((other->kind == EVENT_STORE || other->kind == EVENT_CHAIN ||
		     other->kind == EVENT_LAST) &&
		    judge_continues(a, other->kept, p->kept) &&
		    (stands(a, other) || sequence_is_handed_on(a, other)))
			return true;
	}
	return false;
}

static bool same_carrier(const struct pending *x, const struct pending *y)
{
	return x->holder.n == y->holder.n && x->carrier.slot == y->carrier.slot &&
	       x->carrier.name.n == y->carrier.name.n && x->carrier.field.n == y->carrier.field.n;
}

/* What is carried is told of where it is made, not where it is handed on unchanged; of several
 * lines that one after the other replace it, one that replaces its own. */
static bool told_by_chain(struct analysis *a, const struct pending *p)
{
	if (p->kind != EVENT_CHAIN || (p->fresh && p->own))
		return false;
	for (uint32_t i = 1; i < a->pending.count; i++) {
		const struct pending *other = &a->pending.at[i];
		const bool same_tensor = !p->fresh && other->kept.n == p->kept.n;
		const bool same_place = !p->own && other->own && same_carrier(p, other);

		if (other->kind == EVENT_CHAIN && other->fresh && (same_tensor || same_place) &&
		    stands(a, other))
			return true;
	}
	return false;
}

/* Does a graph that some backward retains grow from step to step, or pile up? One that
 * lives until the next step only is a bounded second one. */
static bool retained_grows(struct analysis *a, object_id retained)
{
	for (uint32_t i = 1; i < a->pending.count; i++) {
		const struct pending *p = &a->pending.at[i];
		const bool chain = p->kind == EVENT_CHAIN && def_of(a, p->kept)->reached_retained;
		const bool store = p->kind == EVENT_STORE && judge_continues(a, p->kept, retained);

		if ((chain || store) && stands(a, p))
			return true;
	}
	return false;
}

static struct function_place place_of_function(const struct project_file *file,
                                               const struct ir_func *func)
{
	return (struct function_place){file->path, func->span, func->kind};
}

void events_judge(struct analysis *a, struct arena *arena, struct file_events *events)
{
	for (uint32_t i = 0; i < a->asked.count; i++)
		vec_push(arena, &events->used, a->asked.at[i]);
	for (uint32_t i = 1; i < a->functions.count; i++)
		if (a->functions.at[i].known)
			vec_push(arena, &events->known,
			         place_of_function(a->functions.at[i].file,
			                           a->functions.at[i].func));
	for (uint32_t i = 1; i < a->pending.count; i++)
		if (a->pending.at[i].carrier.field.n)
			field_settle_loops(a, &a->pending.at[i]);
	for (uint32_t i = 1; i < a->pending.count; i++) {
		const struct pending *pending = &a->pending.at[i];
		struct found_event found = {
		        .in = place_of_function(pending->file, pending->func),
		        .from_outside = pending->from_outside,
		};

		if (!stands(a, pending) || told_by_store(a, pending) || told_by_chain(a, pending))
			continue;
		fill_event(a, arena, &a->pending.at[i], &found.event);
		found.event.program = events->file->source;
		if (found.event.kind == EVENT_RETAIN && retained_grows(a, pending->kept))
			found.event.flags |= EVENT_ACTIVATIONS;
		vec_push(arena, &events->found, found);
	}
}

const char *event_kind_name(enum event_kind kind)
{
	static const char *const names[] = {
	        "store",      "chain",      "last",         "eval",          "mode-unused",
	        "mode-left",  "retain",     "create-graph", "context-store", "hook-cycle",
	        "data-store", "view-store", "flush",        "sync",          "data-read",
	};

	return names[kind];
}

const char *holder_name(enum holder_kind holder)
{
	static const char *const names[] = {
	        "", "list", "tuple", "set", "deque", "dict", "tensor", "object",
	};

	return names[holder];
}
