/* Where objects are made: allocation sites in calling contexts. */

#include "analyzer/facts/analysis.h"

struct site_key {
	context_id context;
	uint32_t inst, part;
	enum object_kind kind;
	const void *owner; /* function or file: what tells sites without a context apart */
	sym_id name;
	enum ir_sub sub;
};

static uint64_t hash_key(const struct site_key *key)
{
	uint64_t hash = hash_join(key->context.n, key->inst);

	hash = hash_join(hash, key->part * 64U + (unsigned)key->kind);
	hash = hash_join(hash, (uint64_t)(uintptr_t)key->owner);
	return hash_join(hash, key->name.n * 256U + (unsigned)key->sub);
}

static struct site_key key_of(const struct def *def)
{
	const struct site_key key = {
	        def->context,
	        def->inst,
	        def->part,
	        def->kind,
	        def->context.n ? NULL
	                       : (def->func ? (const void *)def->func : (const void *)def->file),
	        def->context.n ? (sym_id){0} : def->name,
	        def->sub,
	};

	return key;
}

static bool same_site(const struct analysis *a, uint32_t id, const void *wanted)
{
	const struct site_key *x = wanted;
	const struct site_key y = key_of(&a->defs.at[id]);

	return x->context.n == y.context.n && x->inst == y.inst && x->part == y.part &&
	       x->kind == y.kind && x->owner == y.owner && x->name.n == y.name.n && x->sub == y.sub;
}

object_id site_add(struct analysis *a, struct def def)
{
	const struct site_key key = key_of(&def);
	uint32_t *slot = id_table_slot(a, &a->def_index, hash_key(&key), same_site, &key);
	object_id id;

	if (*slot == 0) {
		*slot = a->defs.count;
		vec_push(a->arena, &a->defs, def);
	}
	id.n = *slot * 2;
	return id;
}

void sites_init(struct analysis *a)
{
	vec_push(a->arena, &a->defs, (struct def){0});
	vec_push(a->arena, &a->contexts, (struct context){0});
}

struct event_place place_of(const struct project_file *file, const struct ir_func *func,
                            uint32_t inst)
{
	struct event_place place = {file->source, func->span};

	if (inst != 0)
		place.span = func->insts.at[inst].span;
	return place;
}

object_id site_object(struct analysis *a, struct activation *act, uint32_t inst, uint32_t part,
                      enum object_kind kind)
{
	struct def def = {
	        .kind = kind,
	        .context = act->context,
	        .file = act->file,
	        .func = act->func,
	        .inst = inst,
	        .part = part,
	        .place = place_of(act->file, act->func, inst),
	};

	return site_add(a, def);
}

object_id const_object(struct analysis *a, enum ir_sub sub, sym_id text)
{
	return site_add(a, (struct def){.kind = OBJECT_CONST, .sub = sub, .name = text});
}

object_id imported_object(struct analysis *a, const struct project_file *file, sym_id name)
{
	return site_add(a, (struct def){.kind = OBJECT_IMPORTED, .file = file, .name = name});
}

object_id namespace_object(struct analysis *a, const struct project_file *file)
{
	return site_add(a, (struct def){.kind = OBJECT_NAMESPACE, .file = file});
}

object_id frame_object(struct analysis *a, context_id context, const struct ir_func *func)
{
	struct def def = {.kind = OBJECT_FRAME, .context = context, .func = func};

	def.file = context_get(a, context)->file;
	return site_add(a, def);
}

static uint64_t hash_context(const struct context *c)
{
	uint64_t hash = hash_join(c->parent.n, c->call + ((uint64_t)c->part << 32));

	return hash_join(hash, (uint64_t)(uintptr_t)c->func);
}

static bool same_context(const struct analysis *a, uint32_t id, const void *key)
{
	const struct context *x = key, *y = &a->contexts.at[id];

	return x->parent.n == y->parent.n && x->call == y->call && x->part == y->part &&
	       x->func == y->func;
}

context_id context_add(struct analysis *a, const struct context *context)
{
	uint32_t *slot =
	        id_table_slot(a, &a->context_index, hash_context(context), same_context, context);

	if (*slot == 0) {
		*slot = a->contexts.count;
		vec_push(a->arena, &a->contexts, *context);
	}
	return (context_id){*slot};
}

context_id context_enter(struct analysis *a, context_id parent, const struct project_file *file,
                         const struct ir_func *func, uint32_t call, uint32_t part)
{
	const struct context *outer = &a->contexts.at[parent.n];
	struct context context = {
	        .parent = parent,
	        .file = file,
	        .func = func,
	        .call = call,
	        .part = part,
	        .depth = outer->depth + 1,
	        .in_hook = outer->in_hook || a->hook_depth > 0,
	};

	return context_add(a, &context);
}

struct site site_outward(const struct analysis *a, struct site site)
{
	const struct context *c = context_get(a, site.context);

	return (struct site){c->parent, c->call, false};
}

bool made_inside(const struct analysis *a, const struct def *def, context_id context, loop_id loop)
{
	const struct context *c;
	context_id at = def->context;
	uint32_t inst = def->kind == OBJECT_FRAME ? 0 : def->inst;

	if (at.n == context.n && inst == 0)
		return false; /* the frame itself */
	while (at.n != 0 && at.n != context.n) {
		inst = a->contexts.at[at.n].call;
		at = a->contexts.at[at.n].parent;
	}
	if (at.n != context.n)
		return false;
	c = context_get(a, context);
	return cfg_loop_holds(c->func, loop, c->loop_of ? c->loop_of[inst] : (loop_id){0});
}

bool happens_inside(const struct analysis *a, context_id at, uint32_t inst, context_id context,
                    loop_id loop)
{
	const struct def def = {.kind = OBJECT_TENSOR, .context = at, .inst = inst};

	return made_inside(a, &def, context, loop);
}

bool site_any_directly_in(const struct analysis *a, const site_list *sites, context_id context,
                          loop_id loop)
{
	const loop_id *loop_of = context_get(a, context)->loop_of;

	for (uint32_t i = 0; i < sites->count; i++)
		if (sites->at[i].context.n == context.n && loop_of[sites->at[i].inst].n == loop.n)
			return true;
	return false;
}

void note_round(struct analysis *a, context_id context, loop_id loop)
{
	a->contexts.at[context.n].rounds |= UINT64_C(1) << loop.n % 64;
}

bool has_rounds(const struct analysis *a, context_id context, loop_id loop)
{
	return context_get(a, context)->rounds >> loop.n % 64 & 1;
}

bool runs_forward(const struct analysis *a, context_id context)
{
	for (; context.n != 0; context = context_get(a, context)->parent)
		if (sym_is(context_get(a, context)->func->name, SYM_forward))
			return true;
	return false;
}

uint32_t site_note(struct analysis *a, site_list *list, struct site site)
{
	for (uint32_t i = 0; i < list->count; i++)
		if (list->at[i].context.n == site.context.n && list->at[i].inst == site.inst)
			return i;
	vec_push(a->arena, list, site);
	return list->count - 1;
}
