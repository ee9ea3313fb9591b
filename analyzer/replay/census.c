#include <stdlib.h>
#include <string.h>

#include "analyzer/replay/measure.h"
#include "runtime/core.h"

/* Counts what a walk from Python would find, as the measuring script does on
 * real PyTorch: nodes that only other nodes' insides hold are not seen. */

bool id_set_add(struct id_set *set, uint64_t id)
{
	uint32_t at;

	if (set->count * 2 >= set->mask) {
		struct id_set old = *set;

		set->mask = old.at ? old.mask * 2 + 1 : 255;
		set->count = 0;
		set->at = checked_alloc((size_t)set->mask + 1, sizeof(uint64_t));
		memset(set->at, 0, ((size_t)set->mask + 1) * sizeof(uint64_t));
		for (uint32_t i = 0; old.at && i <= old.mask; i++)
			if (old.at[i])
				id_set_add(set, old.at[i] - 1);
		free(old.at);
	}
	for (at = (uint32_t)(id * 0x9e3779b97f4a7c15u >> 32) & set->mask; set->at[at];
	     at = (at + 1) & set->mask)
		if (set->at[at] == id + 1)
			return false;
	set->at[at] = id + 1;
	set->count++;
	return true;
}

bool id_set_has(const struct id_set *set, uint64_t id)
{
	uint32_t at;

	for (at = (uint32_t)(id * 0x9e3779b97f4a7c15u >> 32) & set->mask; set->at[at];
	     at = (at + 1) & set->mask)
		if (set->at[at] == id + 1)
			return true;
	return false;
}

enum { FIRST_TODO = 32 };

struct census {
	struct ag_ctx *ctx;
	struct slab *memory;
	uint32_t walk;
	uint32_t tensors, nodes, storages;
	struct ag_tensor **todo_tensors;
	struct ag_node **todo_nodes;
	uint32_t ntensors, tensor_capacity, nnodes, node_capacity;
};

/* Twice the room for pointers; counts the entries. */
static void *todo_grow(struct census *c, void *todo, uint32_t *capacity)
{
	const uint32_t before = *capacity;

	*capacity = before ? before * 2 : FIRST_TODO;
	return slab_resize(c->memory, todo, before * sizeof(void *), *capacity * sizeof(void *));
}

static void push_tensor(struct census *c, struct ag_tensor *t)
{
	if (!t || t->walk == c->walk)
		return;
	t->walk = c->walk;
	c->tensors++;
	if (c->ntensors == c->tensor_capacity)
		c->todo_tensors = todo_grow(c, (void *)c->todo_tensors, &c->tensor_capacity);
	c->todo_tensors[c->ntensors++] = t;
}

/* A tensor that Python was shown keeps its object, which later walks start from. */
static void show_tensor(struct census *c, struct ag_tensor *t)
{
	if (t)
		t->shown = true;
	push_tensor(c, t);
}

static void push_node(struct census *c, struct ag_node *n)
{
	if (!n || n->walk == c->walk)
		return;
	n->walk = c->walk;
	c->nodes++;
	if (c->nnodes == c->node_capacity)
		c->todo_nodes = todo_grow(c, (void *)c->todo_nodes, &c->node_capacity);
	c->todo_nodes[c->nnodes++] = n;
}

static void see_tensor(struct census *c, struct ag_tensor *t)
{
	struct ag_storage *s = t->storage;

	if (s && s->walk != c->walk) {
		s->walk = c->walk;
		c->storages++;
	}
	show_tensor(c, t->grad);
	show_tensor(c, t->base);
	push_node(c, ag_grad_fn(c->ctx, t));
}

/* Changed in place since it was saved: PyTorch refuses to show it. */
static bool is_stale(const struct ag_saved *saved)
{
	return saved->version != ag_version(saved->t);
}

static void see_saved(struct census *c, const struct ag_saved *saved)
{
	if (!saved->t || is_stale(saved))
		return;
	if (saved->is_output)
		push_tensor(c, saved->t);
	else
		show_tensor(c, saved->t);
}

static void see_node(struct census *c, struct ag_node *n)
{
	for (uint32_t i = 0; i < n->nedges; i++)
		push_node(c, n->edges[i].node);
	show_tensor(c, ag_node_variable(n));
	for (uint32_t i = 0; !n->freed && i < n->nsaved; i++)
		see_saved(c, &n->saved[i]);
}

static bool push_shown(void *data, struct ag_tensor *t)
{
	if (t->shown)
		push_tensor(data, t);
	return true;
}

static void push_roots(struct census *c, struct vm *vm)
{
	const struct torch *torch = torch_of(vm);

	for (uint32_t i = 0, left = torch->tensors.count; left; i++)
		if (torch->tensors.at[i] && left--)
			push_tensor(c, ((struct tensor *)(void *)torch->tensors.at[i])->t);
	for (uint32_t i = 0, left = torch->nodes.count; left; i++)
		if (torch->nodes.at[i] && left--)
			push_node(c, ((struct node *)(void *)torch->nodes.at[i])->n);
	for (struct obj *o = vm->first.next; torch->arrays && o != &vm->first; o = o->next)
		if (o->kind == K_ARRAY)
			push_tensor(c, ((struct array *)(void *)o)->owner);
	ag_each_tensor(c->ctx, push_shown, c);
}

void census_take(struct replay *r, struct replay_sample *sample)
{
	struct vm *vm = r->vm;
	struct census c = {.ctx = ctx_of(vm), .memory = &vm->memory};

	c.walk = ag_walk(c.ctx);
	push_roots(&c, vm);
	while (c.ntensors || c.nnodes) {
		while (c.ntensors)
			see_tensor(&c, c.todo_tensors[--c.ntensors]);
		while (c.nnodes)
			see_node(&c, c.todo_nodes[--c.nnodes]);
	}
	sample->tensors = c.tensors;
	sample->nodes = c.nodes;
	sample->storages = c.storages;
	slab_give(&vm->memory, (void *)c.todo_tensors, c.tensor_capacity * sizeof(*c.todo_tensors));
	slab_give(&vm->memory, (void *)c.todo_nodes, c.node_capacity * sizeof(*c.todo_nodes));
}
