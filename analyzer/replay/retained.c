#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/replay/measure.h"
#include "analyzer/source/source.h"

struct newest {
	uint64_t node, storage;
};

static bool newest_node(void *data, struct ag_node *n)
{
	struct newest *newest = data;

	if (ag_node_id(n) > newest->node)
		newest->node = ag_node_id(n);
	return true;
}

static bool newest_storage(void *data, struct ag_storage *s)
{
	struct newest *newest = data;

	if (ag_storage_id(s) > newest->storage)
		newest->storage = ag_storage_id(s);
	return true;
}

/* Ids grow, so the newest id at each sample tells which iteration made what. */
void measure_mark(struct replay *r)
{
	struct newest newest = {0, 0};

	if (r->marks == r->mark_capacity) {
		r->mark_capacity = r->mark_capacity ? r->mark_capacity * 2 : 64;
		r->node_marks = checked_realloc(r->node_marks, r->mark_capacity, sizeof(uint64_t));
		r->storage_marks =
		        checked_realloc(r->storage_marks, r->mark_capacity, sizeof(uint64_t));
	}
	if (r->marks < 64) {
		ag_each_node(ctx_of(r->vm), newest_node, &newest);
		ag_each_storage(ctx_of(r->vm), newest_storage, &newest);
	} else {
		newest.node = r->node_marks[r->marks - 1];
		newest.storage = r->storage_marks[r->marks - 1];
	}
	r->node_marks[r->marks] = newest.node;
	r->storage_marks[r->marks++] = newest.storage;
}

void measure_release(struct replay *r)
{
	free(r->node_marks);
	free(r->storage_marks);
}

/* --- from the variables to what outlived its iteration */

enum { CHAIN_MAX_SEEN = 400000 };

/* One thing that was reached, and from where: an object, a tensor that Python
 * has not seen, a node, or a storage. */
struct seen {
	struct obj *object;
	struct ag_tensor *tensor;
	struct ag_node *node;
	uint32_t from; /* index + 1; 0: a root */
	const char *role;
	struct val key;
};

struct search {
	struct replay *r;
	struct seen *at;
	uint32_t count, capacity, next;
	struct id_pointers {
		const void **at;
		uint32_t mask, count;
	} known;
	uint32_t found; /* index + 1 */
	uint64_t node_from, node_to, storage_from, storage_to;
};

static bool known_add(struct search *s, const void *p)
{
	struct id_pointers *k = &s->known;
	uint32_t at;

	if (k->count * 2 >= k->mask) {
		struct id_pointers old = *k;

		k->mask = old.at ? old.mask * 2 + 1 : 1023;
		k->count = 0;
		k->at = checked_alloc((size_t)k->mask + 1, sizeof(*k->at));
		memset((void *)k->at, 0, ((size_t)k->mask + 1) * sizeof(*k->at));
		for (uint32_t i = 0; old.at && i <= old.mask; i++)
			if (old.at[i])
				known_add(s, old.at[i]);
		free((void *)old.at);
	}
	for (at = (uint32_t)(((uintptr_t)p >> 4) * 0x9e3779b1u) & k->mask; k->at[at];
	     at = (at + 1) & k->mask)
		if (k->at[at] == p)
			return false;
	k->at[at] = p;
	k->count++;
	return true;
}

static void seen_add(struct search *s, struct seen one)
{
	const void *p = one.object   ? (const void *)one.object
	                : one.tensor ? (const void *)one.tensor
	                             : (const void *)one.node;

	if (s->count >= CHAIN_MAX_SEEN || !known_add(s, p))
		return;
	if (s->count == s->capacity) {
		s->capacity = s->capacity ? s->capacity * 2 : 1024;
		s->at = checked_realloc(s->at, s->capacity, sizeof(*s->at));
	}
	s->at[s->count++] = one;
}

static bool child_object(void *walk, struct val child, const char *role, struct val key)
{
	struct search *s = walk;

	/* Modules and classes lead everywhere and hold nothing themselves. */
	if (child.as.o->kind == K_CLASS || child.as.o->kind == K_MODULE ||
	    child.as.o->kind == K_NATIVE)
		return true;
	seen_add(s, (struct seen){.object = child.as.o, .from = s->next, .role = role, .key = key});
	return true;
}

static void open_tensor(struct search *s, struct ag_tensor *t)
{
	struct ag_node *fn = ag_grad_fn(ctx_of(s->r->vm), t);
	struct ag_storage *storage = ag_storage_of(t);
	uint64_t id = storage ? ag_storage_id(storage) : 0;

	if (!s->found && s->storage_to && id > s->storage_from && id <= s->storage_to)
		s->found = s->next;
	if (fn)
		seen_add(s, (struct seen){.node = fn, .from = s->next, .role = "grad_fn"});
	if (ag_grad_of(t))
		seen_add(s,
		         (struct seen){.tensor = ag_grad_of(t), .from = s->next, .role = "grad"});
	if (ag_base(t))
		seen_add(s, (struct seen){.tensor = ag_base(t), .from = s->next, .role = "base"});
}

static void open_node(struct search *s, struct ag_node *n)
{
	struct ag_saved_info info;

	if (!s->found && s->node_to && ag_node_id(n) > s->node_from && ag_node_id(n) <= s->node_to)
		s->found = s->next;
	for (uint32_t i = 0; i < ag_node_edges(n); i++)
		if (ag_node_edge(n, i))
			seen_add(s, (struct seen){.node = ag_node_edge(n, i),
			                          .from = s->next,
			                          .role = "edge"});
	for (uint32_t i = 0; !ag_node_freed(n) && i < ag_node_saved(n); i++)
		if (ag_node_saved_at(n, i, &info) && info.tensor)
			seen_add(s, (struct seen){.tensor = info.tensor,
			                          .from = s->next,
			                          .role = "saved"});
}

static void open_next(struct search *s)
{
	struct seen one = s->at[s->next++];

	if (one.node)
		open_node(s, one.node);
	else if (one.tensor)
		open_tensor(s, one.tensor);
	else if (one.object->kind == K_TENSOR && ((struct tensor *)(void *)one.object)->t)
		open_tensor(s, ((struct tensor *)(void *)one.object)->t);
	else if (one.object->kind == K_ARRAY)
		open_tensor(s, ((struct array *)(void *)one.object)->t);
	else if (one.object->kind == K_NODE)
		open_node(s, ((struct node *)(void *)one.object)->n);
	if (one.object && !(one.object->flags & OBJ_PRESERVED))
		rp_visit(s->r->vm, one.object, child_object, s);
}

/* --- roots: names, so that the chain starts at a variable */

static void root_names(struct search *s, struct dict *ns)
{
	uint32_t at = 0;
	struct dict_entry *e;

	while (ns && (e = dict_next(ns, &at))) {
		if (e->value.tag != PY_OBJECT || e->value.as.o->kind == K_MODULE ||
		    e->value.as.o->kind == K_NATIVE || chars_of(e->key)[0] == '$')
			continue;
		seen_add(s,
		         (struct seen){.object = e->value.as.o, .role = "variable", .key = e->key});
	}
}

static void root_frame(struct search *s, struct frame *f)
{
	for (uint32_t i = 1; i < f->code->nslots; i++) {
		struct val v = f->slots[i];
		struct str *name = code_slot_name(s->r->vm, f->code, i);

		if (is_kind(v, K_CELL))
			v = AS(cell, v)->value;
		if (v.tag == PY_OBJECT)
			seen_add(s, (struct seen){.object = v.as.o,
			                          .role = name->length ? "variable" : "loop",
			                          .key = val_obj(name)});
	}
}

static void add_roots(struct search *s)
{
	struct vm *vm = s->r->vm;
	uint32_t at = 0;
	struct dict_entry *e;

	/* What the program names first; the loop's own iterator last. */
	if (vm->main)
		root_names(s, vm->main->ns);
	for (struct frame *f = vm->frame; f; f = f->caller)
		if (!f->code->library)
			root_frame(s, f);
	while ((e = dict_next(vm->modules, &at)))
		if (is_kind(e->value, K_MODULE) && !AS(module, e->value)->native &&
		    !AS(module, e->value)->library && AS(module, e->value) != vm->main)
			root_names(s, AS(module, e->value)->ns);
}

/* --- the chain as text */

static const char *object_text(struct replay *r, const struct seen *one, struct text *out)
{
	struct obj *o = one->object;

	if (one->node)
		text_print(out, "%s", ag_node_name(one->node));
	else if (one->tensor || o->kind == K_TENSOR) {
		struct ag_tensor *t = one->tensor ? one->tensor : ((struct tensor *)(void *)o)->t;

		text_print(out, "tensor of %llu B",
		           (unsigned long long)(t ? ag_storage_bytes(ag_storage_of(t)) : 0));
	} else if (o->kind == K_LIST || o->kind == K_TUPLE) {
		text_print(out, "%s of %u", o->kind == K_LIST ? "list" : "tuple",
		           ((struct list *)(void *)o)->count);
	} else if (o->kind == K_DICT) {
		text_print(out, "dict of %u", ((struct dict *)(void *)o)->count);
	} else if (o->kind == K_FUNCTION) {
		text_print(out, "function %s", ((struct function *)(void *)o)->name->at);
	} else {
		text_add_chars(out, type_name(r->vm, val_obj(o)));
	}
	return text_chars(out);
}

/* Where the program first binds the name. */
static uint32_t line_of_name(struct replay *r, struct str *name)
{
	const struct ir_module *ir = r->request->module;

	for (uint32_t k = 1; k < ir->funcs.count; k++) {
		const struct ir_func *func = ir->funcs.at[k];

		for (uint32_t i = 1; i < func->insts.count; i++) {
			const struct ir_inst *store = &func->insts.at[i];
			sym_id sym;

			if (store->op != OP_store)
				continue;
			sym = store->sub == SUB_scope_slot ? func->slots.at[store->name].name
			                                   : (sym_id){store->name};
			if (str_of_sym(r->vm, sym) == name)
				return source_line_at(ir->source, store->span.start) + 1;
		}
	}
	return 0;
}

static void link_place(struct replay *r, const struct seen *one, struct replay_link *link)
{
	link->line =
	        one->node ? torch_site_line(torch_of(r->vm), ag_node_site(one->node), &link->source)
	                  : 0;
	if (!one->node && !strcmp(one->role, "variable") && is_kind(one->key, K_STR)) {
		link->line = line_of_name(r, AS(str, one->key));
		link->source = link->line ? r->request->module->source : NULL;
	}
}

static void link_add(struct replay *r, const struct seen *one, uint32_t times)
{
	struct arena scratch = {0};
	struct text text = {.arena = &scratch};
	struct replay_link *link;

	if (r->result->chain_count >= REPLAY_MAX_CHAIN)
		return;
	link = &r->result->chain[r->result->chain_count++];
	if (strcmp(one->role, "variable") == 0 && is_kind(one->key, K_STR))
		text_print(&text, "variable `%s`: ", chars_of(one->key));
	else if (is_kind(one->key, K_STR))
		text_print(&text, "`%s`: ", chars_of(one->key));
	else if (one->key.tag == PY_INT && strcmp(one->role, "item") == 0)
		text_print(&text, "[%lld]: ", (long long)one->key.as.i);
	else
		text_print(&text, "%s: ", one->role);
	object_text(r, one, &text);
	if (times > 1)
		text_print(&text, ", %u times", times);
	link->text = arena_text(r->request->arena, text_chars(&text), text.length);
	link_place(r, one, link);
	arena_release(&scratch);
}

static bool same_link(const struct seen *a, const struct seen *b)
{
	return a->node && b->node && strcmp(a->role, b->role) == 0 &&
	       strcmp(ag_node_name(a->node), ag_node_name(b->node)) == 0;
}

static void write_chain(struct search *s)
{
	uint32_t *path = checked_alloc(s->count + 1, sizeof(*path)), count = 0, times;

	for (uint32_t i = s->found; i; i = s->at[i - 1].from)
		path[count++] = i - 1;
	while (count) {
		const struct seen *one = &s->at[path[--count]];

		for (times = 1; count && same_link(one, &s->at[path[count - 1]]); times++)
			count--;
		/* A namespace between an object and its attribute says nothing. */
		if (strcmp(one->role, "attributes") != 0 && strcmp(one->role, "cell") != 0)
			link_add(s->r, one, times);
	}
	free(path);
}

void measure_chain(struct replay *r)
{
	struct search s = {.r = r};
	uint32_t middle = r->marks > 64 ? 32 : r->marks / 2;

	if (r->marks < 4 || r->vm->halt == VM_HALT_BYTES)
		return;
	if (r->result->samples[r->marks - 1].nodes > r->result->samples[middle].nodes) {
		s.node_from = r->node_marks[middle - 1];
		s.node_to = r->node_marks[middle];
	} else if (r->result->samples[r->marks - 1].live_bytes >
	           r->result->samples[middle].live_bytes) {
		s.storage_from = r->storage_marks[middle - 1];
		s.storage_to = r->storage_marks[middle];
	} else {
		return;
	}
	add_roots(&s);
	while (s.next < s.count && !s.found)
		open_next(&s);
	if (s.found)
		write_chain(&s);
	free(s.at);
	free((void *)s.known.at);
}
