/* Taking and loading the record of a module. */

#include "analyzer/facts/summary.h"

#include <stdlib.h>

/* Numbers are places in the record's lists; 0 stands for none, as in ids. */
struct summary_value {
	uint32_t flags, first, count; /* of refs */
};

struct summary_field {
	uint32_t key, value;
	bool is_item; /* the key is a reference */
};

struct summary_object {
	uint32_t ref;
	struct object contents; /* values are places; fields stand apart */
	uint32_t first, count;  /* of fields */
};

struct module_summary {
	VEC(struct context) contexts; /* parents are places */
	VEC(struct def) defs;         /* contexts are places */
	VEC(uint32_t) refs;           /* places of defs, doubled; odd: the older ones */
	VEC(struct summary_value) values;
	VEC(struct summary_field) fields;
	VEC(struct summary_object) objects;
	VEC(const struct project_file *) needs;
};

/* Places by id; 0: not taken yet. */
struct taking {
	struct analysis *a;
	struct arena *arena, scratch;
	const struct project_file *file;
	struct module_summary *summary;
	uint32_t *contexts, *defs, *values;
	bool *followed;
	VEC(object_id) todo;
};

static uint32_t take_context(struct taking *t, context_id id)
{
	struct context context = *context_get(t->a, id);

	if (id.n == 0 || t->contexts[id.n])
		return t->contexts[id.n];
	context.parent.n = take_context(t, context.parent); /* as deep as calls are followed */
	context.loop_of = NULL;
	t->contexts[id.n] = t->summary->contexts.count;
	vec_push(t->arena, &t->summary->contexts, context);
	return t->contexts[id.n];
}

/* The file whose body made it, itself or by what it called; NULL: nobody's. */
static const struct project_file *maker_of(const struct taking *t, object_id id)
{
	const struct def *def = def_of(t->a, id);
	const struct context *context = context_get(t->a, def->context);

	if (def->context.n == 0)
		return def->kind == OBJECT_NAMESPACE ? def->file : NULL;
	while (context->parent.n)
		context = context_get(t->a, context->parent);
	return context->file;
}

static void need(struct taking *t, const struct project_file *file)
{
	for (uint32_t i = 0; i < t->summary->needs.count; i++)
		if (t->summary->needs.at[i] == file)
			return;
	vec_push(t->arena, &t->summary->needs, file);
}

/* What it made itself is taken as well, what others made is needed of them. */
static void follow(struct taking *t, object_id id)
{
	const struct project_file *maker;

	if (!base_has(&t->a->base, id) || t->followed[id.n])
		return;
	t->followed[id.n] = true;
	maker = maker_of(t, id);
	if (maker == t->file)
		vec_push(&t->scratch, &t->todo, id);
	else if (maker)
		need(t, maker);
}

static uint32_t take_ref(struct taking *t, object_id id)
{
	struct def def = *def_of(t->a, id);
	uint32_t *place = &t->defs[id.n / 2];

	follow(t, id);
	if (*place == 0) {
		def.context.n = take_context(t, def.context);
		def.parents_seen = def.like = def.cut_from = (value_id){0};
		def.whole = (object_id){0};
		def.running = false;
		*place = t->summary->defs.count;
		vec_push(t->arena, &t->summary->defs, def);
	}
	return *place * 2 + (id.n & 1);
}

static uint32_t take_value(struct taking *t, value_id id)
{
	const struct value *value = value_get(t->a, id);
	struct summary_value taken = {value->flags, t->summary->refs.count, value->count};

	if (id.n == 0 || t->values[id.n])
		return t->values[id.n];
	for (uint32_t i = 0; i < value->count; i++)
		vec_push(t->arena, &t->summary->refs, take_ref(t, value->refs[i]));
	t->values[id.n] = t->summary->values.count;
	vec_push(t->arena, &t->summary->values, taken);
	return t->values[id.n];
}

static void take_fields(struct taking *t, object_id owner, const struct object *object)
{
	for (uint32_t i = 0; i < object->field_count; i++) {
		const uint32_t key = object->fields[i].key;
		const object_id item = item_of_key(t->a, owner, key);
		struct summary_field field = {
		        .key = item.n ? take_ref(t, item) : key,
		        .value = take_value(t, object->fields[i].value),
		        .is_item = item.n != 0,
		};

		vec_push(t->arena, &t->summary->fields, field);
	}
}

static void take_object(struct taking *t, object_id id)
{
	const struct object *from = t->a->base.at[id.n];
	struct summary_object taken = {
	        .ref = take_ref(t, id),
	        .contents = *from,
	        .first = t->summary->fields.count,
	        .count = from->field_count,
	};
	struct object *to = &taken.contents;

	to->stamp = 0; /* no state may write it in place */
	to->of.n = take_value(t, from->of);
	to->with.n = take_value(t, from->with);
	to->elements.n = take_value(t, from->elements);
	to->parents.n = take_value(t, from->parents);
	to->base.n = take_value(t, from->base);
	take_fields(t, id, from);
	vec_push(t->arena, &t->summary->objects, taken);
}

/* Place 0 of each list is nobody's. */
static struct module_summary *summary_new(struct arena *arena)
{
	struct module_summary *summary = arena_new(arena, struct module_summary);

	vec_push(arena, &summary->contexts, (struct context){0});
	vec_push(arena, &summary->defs, (struct def){0});
	vec_push(arena, &summary->values, (struct summary_value){0});
	return summary;
}

struct module_summary *summary_take(struct analysis *a, const struct project_file *file,
                                    struct arena *arena)
{
	struct taking t = {.a = a, .arena = arena, .file = file, .summary = summary_new(arena)};

	t.contexts = arena_array(&t.scratch, uint32_t, a->contexts.count);
	t.values = arena_array(&t.scratch, uint32_t, a->values.count);
	/* Names of modules may be met for the first time: one more than there are. */
	t.defs = arena_array(&t.scratch, uint32_t, a->defs.count + 1);
	t.followed = arena_array(&t.scratch, bool, a->defs.count * 2 + 2);
	follow(&t, namespace_object(a, file));
	while (t.todo.count > 0)
		take_object(&t, t.todo.at[--t.todo.count]);
	arena_release(&t.scratch);
	return t.summary;
}

/* Loading: ids by place. */
struct loading {
	struct analysis *a;
	struct arena scratch;
	const struct module_summary *summary;
	context_id *contexts;
	object_id *defs;
	value_id *values;
};

static void load_contexts(struct loading *l)
{
	for (uint32_t i = 1; i < l->summary->contexts.count; i++) {
		struct context context = l->summary->contexts.at[i];

		context.parent = l->contexts[context.parent.n];
		l->contexts[i] = context_add(l->a, &context);
	}
}

static void load_defs(struct loading *l)
{
	for (uint32_t i = 1; i < l->summary->defs.count; i++) {
		struct def def = l->summary->defs.at[i];

		def.context = l->contexts[def.context.n];
		l->defs[i] = site_add(l->a, def);
	}
}

static object_id load_ref(const struct loading *l, uint32_t ref)
{
	return (object_id){l->defs[ref / 2].n + (ref & 1)};
}

static void load_values(struct loading *l)
{
	for (uint32_t i = 1; i < l->summary->values.count; i++) {
		const struct summary_value *value = &l->summary->values.at[i];
		object_id refs[FACTS_MAX_REFS];

		for (uint32_t r = 0; r < value->count; r++)
			refs[r] = load_ref(l, l->summary->refs.at[value->first + r]);
		l->values[i] = value_of_set(l->a, value->flags, refs, value->count);
	}
}

static int by_key(const void *x, const void *y)
{
	const struct field *a = x, *b = y;

	return a->key < b->key ? -1 : a->key > b->key;
}

static void load_object(struct loading *l, const struct summary_object *from)
{
	const object_id id = load_ref(l, from->ref);
	struct object *object = arena_new(l->a->arena, struct object);

	*object = from->contents;
	object->of = l->values[from->contents.of.n];
	object->with = l->values[from->contents.with.n];
	object->elements = l->values[from->contents.elements.n];
	object->parents = l->values[from->contents.parents.n];
	object->base = l->values[from->contents.base.n];
	object->field_room = from->count;
	object->fields = arena_array(l->a->arena, struct field, from->count);
	for (uint32_t i = 0; i < from->count; i++) {
		const struct summary_field *field = &l->summary->fields.at[from->first + i];

		object->fields[i].key =
		        field->is_item ? item_key(l->a, id, load_ref(l, field->key)) : field->key;
		object->fields[i].value = l->values[field->value];
	}
	if (from->count > 1)
		qsort(object->fields, from->count, sizeof(*object->fields), by_key);
	base_put(l->a, id, object);
}

void summary_load(struct analysis *a, const struct module_summary *summary)
{
	struct loading l = {.a = a, .summary = summary};

	l.contexts = arena_array(&l.scratch, context_id, summary->contexts.count);
	l.defs = arena_array(&l.scratch, object_id, summary->defs.count);
	l.values = arena_array(&l.scratch, value_id, summary->values.count);
	load_contexts(&l);
	load_defs(&l);
	load_values(&l);
	for (uint32_t i = 0; i < summary->objects.count; i++)
		load_object(&l, &summary->objects.at[i]);
	arena_release(&l.scratch);
}

uint32_t summary_need_count(const struct module_summary *summary)
{
	return summary->needs.count;
}

const struct project_file *summary_need(const struct module_summary *summary, uint32_t index)
{
	return summary->needs.at[index];
}
