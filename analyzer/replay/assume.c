#include "analyzer/replay/assume.h"

#include <string.h>

#include "analyzer/replay/py_code.h"
#include "analyzer/replay/torch.h"

enum { MOST_CALLS = 4096, MOST_WALKED = 5000 };

struct ag_tensor *assumed_parameter(struct vm *vm)
{
	struct torch *torch = torch_of(vm);
	struct ag_grad_mode mode;

	if (torch->parameter)
		return torch->parameter;
	mode = ag_grad_mode(torch->ctx);
	ag_set_grad_mode(torch->ctx, (struct ag_grad_mode){.enabled = true});
	torch->parameter = ag_tensor_new(torch->ctx, AG_F32, 1, (int64_t[]){1}, NULL);
	if (torch->parameter)
		ag_set_requires_grad(torch->ctx, torch->parameter, true);
	ag_set_grad_mode(torch->ctx, mode);
	return torch->parameter;
}

uint32_t assumed_call(struct vm *vm)
{
	struct assumptions *all = torch_of(vm)->assumptions;
	struct assumed_call now = {0};
	struct frame *f = vm->frame;

	while (f && f->code->library)
		f = f->caller;
	if (!all || !f || !ag_grad_mode(ctx_of(vm)).enabled)
		return 0;
	now.module = f->code->module;
	now.func = f->code->id;
	now.inst = f->pc - 1;
	for (uint32_t i = 0; i < all->calls.count; i++) {
		struct assumed_call *one = &all->calls.at[i];

		if (one->module == now.module && one->func.n == now.func.n && one->inst == now.inst)
			return one->proved || !all->proved_only ? i + 1 : 0;
	}
	if (all->proved_only || all->calls.count == MOST_CALLS)
		return 0;
	vec_push(&all->arena, &all->calls, now);
	return all->calls.count;
}

void assumed_made(struct vm *vm, uint32_t call, struct ag_tensor *result, bool of_model)
{
	struct assumptions *all = torch_of(vm)->assumptions;
	struct ag_node *node = ag_grad_fn(ctx_of(vm), result);

	if (!node || all->proved_only)
		return;
	vec_push(&all->arena, &all->nodes,
	         (struct assumed_node){ag_node_id(node), call - 1, of_model});
}

void assumed_proved(struct vm *vm, uint32_t call)
{
	torch_of(vm)->assumptions->calls.at[call - 1].proved = true;
}

static const struct assumed_node *made_by(const struct assumptions *all, const struct ag_node *node)
{
	uint64_t id = ag_node_id(node);
	uint32_t low = 0, high = all->nodes.count;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (all->nodes.at[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < all->nodes.count && all->nodes.at[low].id == id ? &all->nodes.at[low] : NULL;
}

/* --- the walk from where backward starts, node by node */

struct found {
	const struct ag_node *node;
	const struct assumed_node *made;
};

struct proof {
	struct assumptions *all;
	const struct ag_tensor *parameter;
	VEC(const struct ag_node *) todo;
	VEC(struct found) found;
	struct arena arena;
	uint32_t walked;
	bool explained; /* by a parameter that is known */
};

static bool is_assumed_leaf(const struct proof *p, const struct ag_node *node)
{
	const struct ag_tensor *leaf = ag_node_variable(node);

	return leaf && leaf == p->parameter;
}

static void push(struct proof *p, const struct ag_node *node)
{
	for (uint32_t i = 0; node && i < p->todo.count; i++)
		if (p->todo.at[i] == node)
			return;
	if (node && p->todo.count < MOST_WALKED)
		vec_push(&p->arena, &p->todo, node);
}

/* As far as the nearest calls. */
static void walk(struct proof *p)
{
	while (p->walked < p->todo.count && !p->explained) {
		const struct ag_node *node = p->todo.at[p->walked++];
		const struct assumed_node *made = made_by(p->all, node);

		if (made) {
			vec_push(&p->arena, &p->found, (struct found){node, made});
			continue;
		}
		p->explained = ag_node_variable(node) && !is_assumed_leaf(p, node);
		for (uint32_t i = 0; i < ag_node_edges(node); i++)
			push(p, ag_node_edge(node, i));
	}
}

/* A function without parameters has its graph from its one argument with one. */
static void walk_behind(struct proof *p, const struct found *call)
{
	const struct ag_node *only = NULL;
	uint32_t count = 0;

	for (uint32_t i = 0; i < ag_node_edges(call->node); i++) {
		const struct ag_node *edge = ag_node_edge(call->node, i);

		if (!edge || is_assumed_leaf(p, edge))
			continue;
		only = edge;
		count++;
	}
	if (call->made->of_model || count != 1)
		return;
	push(p, only);
	walk(p);
	p->explained = false;
}

void assumed_prove(struct vm *vm, struct ag_tensor *from)
{
	struct torch *torch = torch_of(vm);
	struct proof p = {.all = torch->assumptions, .parameter = torch->parameter};
	struct ag_node *start = from ? ag_grad_fn(torch->ctx, from) : NULL;

	if (!p.all || p.all->proved_only || !p.all->nodes.count || !start)
		return;
	push(&p, start);
	walk(&p);
	for (uint32_t i = 0; !p.explained && i < p.found.count; i++) {
		p.all->calls.at[p.found.at[i].made->call].proved = true;
		walk_behind(&p, &p.found.at[i]);
	}
	arena_release(&p.arena);
}

void backward_starts(struct vm *vm, struct ag_tensor *from, unsigned flags)
{
	if (torch_of(vm)->on_backward)
		torch_of(vm)->on_backward(vm, from, flags);
	assumed_prove(vm, from);
}

bool assumed_backward(struct vm *vm, struct ag_tensor *from, struct ag_tensor *grad, unsigned flags)
{
	struct ag_tensor *made = NULL;
	bool ok;

	backward_starts(vm, from, flags);
	if (!torch_of(vm)->exact && !ag_requires_grad(from)) {
		vm_stand_in(vm, "backward()");
		return true;
	}
	if (!torch_of(vm)->exact && !grad && ag_numel(from) != 1)
		grad = made = ag_tensor_new(ctx_of(vm), ag_dtype(from), ag_ndim(from),
		                            ag_shape(from), NULL);
	ok = ag_backward(ctx_of(vm), from, grad, flags);
	ag_release(made);
	if (!ok && !torch_of(vm)->exact && is_null(vm->exc) && !vm->halt &&
	    ag_error(ctx_of(vm))->status != AG_ERR_MEMORY) {
		ag_error_clear(ctx_of(vm));
		vm_stand_in(vm, "backward()");
		return true;
	}
	return ok;
}

bool assumed_again(struct assumptions *all)
{
	bool again = false;

	for (uint32_t i = 0; i < all->nodes.count && !all->proved_only; i++)
		again |= !all->calls.at[all->nodes.at[i].call].proved;
	all->nodes.count = 0;
	all->proved_only |= again;
	return again;
}

void assumed_release(struct assumptions *all)
{
	arena_release(&all->arena);
	*all = (struct assumptions){0};
}
