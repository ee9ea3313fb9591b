/* Backward: counts the graph's edges, then runs nodes newest first as the
 * gradients of all their results are complete. Nothing here recurses. */

#include <stdlib.h>
#include <string.h>

#include "runtime/checkpoint.h"
#include "runtime/copy_slices.h"
#include "runtime/engine.h"
#include "runtime/op.h"

struct entry {
	struct ag_node *node;
	struct ag_tensor **grads; /* per result */
	uint32_t waits;           /* edges into it that have not run */
	bool needed;              /* runs, when the task is selective */
	bool captured;            /* its gradient is asked for */
};

struct capture {
	uint32_t entry;
	uint32_t slot;
	uint32_t out;
};

struct task {
	struct ag_ctx *ctx;
	struct entry *entries;
	uint32_t count, capacity;
	uint32_t *table; /* node to entry + 1 */
	uint32_t table_size;
	uint32_t *heap; /* ready entries, newest node first */
	uint32_t heap_count;
	bool selective; /* only nodes on a path to the inputs run */
	struct capture *captures;
	uint32_t ncaptures;
	struct ag_tensor **out;
	unsigned flags;
};

static ag_backward_fn *const formulas[AG_NODE_COUNT] = {
#define NODE(id, name, saved) [AG_NODE_##id] = bw_##id,
#include "runtime/nodes.def"
#undef NODE
};

bool ag_bw_want(const struct ag_bw *b, uint32_t i)
{
	if (i >= b->node->nedges || !b->node->edges[i].node)
		return false;
	return !b->wanted || b->wanted[i];
}

void ag_bw_set(struct ag_bw *b, uint32_t i, struct ag_tensor *t)
{
	ag_retain(t);
	ag_release(b->out[i]);
	b->out[i] = t;
}

bool ag_node_apply(struct ag_bw *b)
{
	bool good = formulas[b->node->kind](b) && b->ctx->error.status == AG_OK;

	good = ag_whole(b->ctx) && good;
	if (!good && b->ctx->error.status == AG_OK)
		ag_fail(b->ctx, AG_ERR_RUNTIME, "%s: the gradients cannot be computed",
		        ag_node_name(b->node));
	if (b->node->region)
		ag_region_done(b->node);
	return good;
}

/* ---- the set of nodes */

static uint32_t slot_of(const struct task *task, const struct ag_node *node)
{
	uint64_t h = node->id * UINT64_C(0x9e3779b97f4a7c15);
	uint32_t at = (uint32_t)(h >> 32) & (task->table_size - 1);

	while (task->table[at] && task->entries[task->table[at] - 1].node != node)
		at = (at + 1) & (task->table_size - 1);
	return at;
}

static void table_grow(struct task *task)
{
	uint32_t i;

	free(task->table);
	task->table_size = task->table_size ? task->table_size * 2 : 64;
	task->table = ag_alloc(task->table_size, sizeof(*task->table));
	for (i = 0; i < task->count; i++)
		task->table[slot_of(task, task->entries[i].node)] = i + 1;
}

/* The entry of a node; *fresh when it was not there. */
static uint32_t entry_of(struct task *task, struct ag_node *node, bool *fresh)
{
	uint32_t at;

	if (2 * (task->count + 1) > task->table_size)
		table_grow(task);
	at = slot_of(task, node);
	*fresh = !task->table[at];
	if (*fresh) {
		if (task->count == task->capacity) {
			task->capacity = task->capacity ? 2 * task->capacity : 32;
			task->entries =
			        ag_grow(task->entries, task->capacity, sizeof(*task->entries));
		}
		memset(&task->entries[task->count], 0, sizeof(*task->entries));
		task->entries[task->count].node = ag_node_retain(node);
		task->table[at] = ++task->count;
	}
	return task->table[at] - 1;
}

static int64_t find_entry(const struct task *task, const struct ag_node *node)
{
	return task->table_size ? (int64_t)task->table[slot_of(task, node)] - 1 : -1;
}

/* Entries are visited in the order they are found: no stack is needed. */
static void discover(struct task *task)
{
	uint32_t i, k;
	bool fresh;

	for (i = 0; i < task->count; i++) {
		struct ag_node *n = task->entries[i].node;

		for (k = 0; k < n->nedges; k++) {
			if (n->edges[k].node) {
				uint32_t to = entry_of(task, n->edges[k].node, &fresh);

				task->entries[to].waits++;
			}
		}
	}
}

/* ---- the ready heap */

static uint64_t priority(const struct task *task, uint32_t entry)
{
	const struct ag_node *n = task->entries[entry].node;

	return n->kind == AG_NODE_AccumulateGrad ? UINT64_MAX : n->id;
}

static void heap_push(struct task *task, uint32_t entry)
{
	uint32_t at = task->heap_count++;

	while (at) {
		uint32_t up = (at - 1) / 2;

		if (priority(task, task->heap[up]) >= priority(task, entry))
			break;
		task->heap[at] = task->heap[up];
		at = up;
	}
	task->heap[at] = entry;
}

static uint32_t heap_pop(struct task *task)
{
	uint32_t top = task->heap[0], last = task->heap[--task->heap_count], at = 0;

	for (;;) {
		uint32_t down = 2 * at + 1;

		if (down >= task->heap_count)
			break;
		if (down + 1 < task->heap_count &&
		    priority(task, task->heap[down + 1]) > priority(task, task->heap[down]))
			down++;
		if (priority(task, last) >= priority(task, task->heap[down]))
			break;
		task->heap[at] = task->heap[down];
		at = down;
	}
	task->heap[at] = last;
	return top;
}

/* ---- which nodes lead to the inputs */

static int by_id(const void *a, const void *b)
{
	const struct entry *const *x = a, *const *y = b;

	return ((*x)->node->id > (*y)->node->id) - ((*x)->node->id < (*y)->node->id);
}

static bool wanted_at(const struct task *task, int64_t entry)
{
	return task->entries[entry].needed || task->entries[entry].captured;
}

static void mark_needed(struct task *task)
{
	struct entry **order = ag_alloc(task->count, sizeof(struct entry *));
	uint32_t i, k;

	for (i = 0; i < task->count; i++)
		order[i] = &task->entries[i];
	qsort(order, task->count, sizeof(*order), by_id);
	for (i = 0; i < task->count; i++) {
		struct ag_node *n = order[i]->node;

		for (k = 0; k < n->nedges && !order[i]->needed; k++) {
			int64_t to = n->edges[k].node ? find_entry(task, n->edges[k].node) : -1;

			if (to >= 0 && wanted_at(task, to))
				order[i]->needed = true;
		}
	}
	free(order);
}

/* ---- gradients on their way */

static bool in_place_ok(const struct ag_tensor *t)
{
	return t->refs == 1 && t->storage->refs == 1 && ag_is_dense(t);
}

/* Takes over `grad`. */
static bool buffer_add(struct task *task, struct entry *e, uint32_t slot, struct ag_tensor *grad)
{
	struct ag_ctx *ctx = task->ctx;
	struct ag_tensor *old, *sum;

	if (!e->grads)
		e->grads = ag_alloc(e->node->nresults, sizeof(struct ag_tensor *));
	old = e->grads[slot];
	if (!old) {
		e->grads[slot] = grad;
		return true;
	}
	if (!ctx->mode.enabled && in_place_ok(old) && old->dtype == grad->dtype) {
		bool good = ag_add_(ctx, old, grad, 1);

		ag_release(grad);
		return good;
	}
	if (!ctx->mode.enabled && in_place_ok(grad) && old->dtype == grad->dtype) {
		bool good = ag_add_(ctx, grad, old, 1);

		e->grads[slot] = grad;
		ag_release(old);
		return good;
	}
	sum = ag_add(ctx, old, grad);
	ag_release(old);
	ag_release(grad);
	e->grads[slot] = sum;
	return sum != NULL;
}

/* Whether summing makes `grad` a tensor of the shape. */
static bool expands_from(const struct ag_tensor *grad, int ndim, const int64_t *shape)
{
	const int lead = grad->ndim - ndim;
	int d;

	for (d = 0; d < ndim; d++)
		if (lead < 0 || (shape[d] != 1 && shape[d] != grad->shape[d + lead]))
			return false;
	return lead >= 0;
}

/* Makes `grad` (owned) fit the result it is the gradient of. */
static struct ag_tensor *validate(struct task *task, const struct ag_node *from, uint32_t at,
                                  struct ag_tensor *grad)
{
	struct ag_node *n = from->edges[at].node;
	const uint32_t slot = from->edges[at].slot;
	struct ag_ctx *ctx = task->ctx;
	enum ag_dtype dtype;
	int ndim;
	const int64_t *shape = ag_node_result(n, slot, &ndim, &dtype);
	size_t mark = ag_scope_open(ctx);
	struct ag_tensor *fit = grad;

	if (!expands_from(grad, ndim, shape)) {
		char got[128], want[128];

		fit = ag_null(ctx, AG_ERR_RUNTIME,
		              "Function %s returned an invalid gradient at index %u - got %s but "
		              "expected shape compatible with %s",
		              ag_node_name(from), at,
		              ag_shape_text(grad->ndim, grad->shape, got, sizeof(got)),
		              ag_shape_text(ndim, shape, want, sizeof(want)));
	} else if (!ag_shape_is(grad, ndim, shape)) {
		fit = op_sum_to(ctx, fit, ndim, shape);
	}
	if (fit && fit->dtype != dtype)
		fit = op_cast(ctx, fit, dtype);
	ag_retain(fit);
	ag_scope_close(ctx, mark);
	ag_release(grad);
	return fit;
}

/* While the node still has what it saved and was given, as PyTorch does. */
static bool validate_all(struct task *task, struct ag_node *n, struct ag_tensor **out)
{
	bool good = true;
	uint32_t i;

	for (i = 0; i < n->nedges; i++) {
		struct ag_edge *edge = &n->edges[i];

		if (!out[i] || !edge->node || !good)
			continue;
		out[i] = validate(task, n, i, out[i]);
		good = out[i] != NULL;
	}
	return good;
}

static bool send_on(struct task *task, struct ag_node *n, struct ag_tensor **out)
{
	uint32_t i;
	bool good = true;

	for (i = 0; i < n->nedges; i++) {
		struct ag_edge *edge = &n->edges[i];
		struct entry *to;
		int64_t at;

		if (!edge->node)
			continue;
		at = find_entry(task, edge->node);
		if (at < 0)
			continue;
		to = &task->entries[at];
		if (out[i] && good) {
			struct ag_tensor *grad = out[i];

			out[i] = NULL;
			good = buffer_add(task, to, edge->slot, grad);
		}
		if (--to->waits == 0 && (!task->selective || wanted_at(task, at)))
			heap_push(task, (uint32_t)at);
	}
	return good;
}

static bool capture_grads(struct task *task, uint32_t entry)
{
	struct entry *e = &task->entries[entry];
	uint32_t i;

	for (i = 0; i < task->ncaptures; i++) {
		struct capture *c = &task->captures[i];

		if (c->entry == entry && e->grads && e->grads[c->slot]) {
			ag_release(task->out[c->out]);
			task->out[c->out] = ag_retain(e->grads[c->slot]);
		}
	}
	return true;
}

static void free_saved(struct ag_node *n)
{
	uint32_t i;

	if (n->kind == AG_NODE_CopySlices) {
		ag_copy_slices_drop(n);
		return;
	}
	for (i = 0; i < n->nsaved; i++)
		n->freed |= n->saved[i].set;
	ag_node_free_saved(n);
}

static bool run_formula(struct task *task, struct entry *e, struct ag_tensor **out)
{
	struct ag_ctx *ctx = task->ctx;
	struct ag_node *n = e->node;
	struct ag_bw b = {ctx, n, e->grads, out, NULL};
	bool *wanted = NULL;
	size_t mark;
	bool good;
	uint32_t i;

	if (task->selective) {
		wanted = ag_alloc(n->nedges, sizeof(bool));
		for (i = 0; i < n->nedges; i++) {
			int64_t to = n->edges[i].node ? find_entry(task, n->edges[i].node) : -1;

			wanted[i] = to >= 0 && wanted_at(task, to);
		}
		b.wanted = wanted;
	}
	mark = ag_scope_open(ctx);
	good = ag_node_apply(&b);
	ag_scope_close(ctx, mark);
	if (good && n->hooks)
		good = ag_run_node_hooks(ctx, n, out, e->grads);
	free(wanted);
	return good;
}

static void drop_grads(struct entry *e)
{
	uint32_t i;

	for (i = 0; e->grads && i < e->node->nresults; i++)
		ag_release(e->grads[i]);
	free(e->grads);
	e->grads = NULL;
}

static bool any_grad(const struct entry *e)
{
	uint32_t i;

	for (i = 0; e->grads && i < e->node->nresults; i++) {
		if (e->grads[i])
			return true;
	}
	return false;
}

static bool run_entry(struct task *task, uint32_t at)
{
	struct entry *e = &task->entries[at];
	struct ag_node *n = e->node;
	struct ag_tensor *few[4] = {NULL}, **out = few;
	bool keep = (task->flags & (AG_RETAIN_GRAPH | AG_CREATE_GRAPH)) != 0, good = true;
	uint32_t i;

	if (any_grad(e))
		good = ag_run_tensor_hooks(task->ctx, n, e->grads);
	capture_grads(task, at);
	e = &task->entries[at];
	if (task->selective && !e->needed) {
		drop_grads(e);
		return good;
	}
	if (n->kind == AG_NODE_AccumulateGrad) {
		struct ag_tensor *grad = e->grads ? e->grads[0] : NULL;

		if (good && grad) {
			e->grads[0] = NULL;
			good = ag_accumulate(task->ctx, n->extra, grad);
			e = &task->entries[at];
		}
		drop_grads(e);
		return good;
	}
	if (n->nedges > 4)
		out = ag_alloc(n->nedges, sizeof(*out));
	if (good && any_grad(e)) {
		good = run_formula(task, e, out) && validate_all(task, n, out);
		e = &task->entries[at];
	}
	drop_grads(e);
	if (!keep && good)
		free_saved(n);
	good = send_on(task, n, out) && good;
	for (i = 0; i < n->nedges; i++)
		ag_release(out[i]);
	if (out != few)
		free(out);
	return good;
}

static void task_release(struct task *task)
{
	uint32_t i;

	for (i = 0; i < task->count; i++) {
		drop_grads(&task->entries[i]);
		ag_node_release(task->entries[i].node);
	}
	free(task->entries);
	free(task->table);
	free(task->heap);
	free(task->captures);
}

static bool add_root(struct task *task, struct ag_tensor *t, struct ag_tensor *grad)
{
	struct ag_edge edge = ag_gradient_edge(t);
	uint32_t at;
	bool fresh;

	if (!edge.node)
		return ag_fail(
		        task->ctx, AG_ERR_RUNTIME,
		        "element 0 of tensors does not require grad and does not have a grad_fn");
	at = entry_of(task, edge.node, &fresh);
	ag_node_release(edge.node);
	return buffer_add(task, &task->entries[at], edge.slot, ag_retain(grad));
}

static bool add_captures(struct task *task, struct ag_tensor *const *inputs, uint32_t count)
{
	uint32_t i;

	task->selective = true;
	task->captures = ag_alloc(count, sizeof(*task->captures));
	for (i = 0; i < count; i++) {
		struct ag_edge edge;
		int64_t at;

		if (!inputs[i] || !ag_requires_grad(inputs[i]))
			return ag_fail(task->ctx, AG_ERR_RUNTIME,
			               "One of the differentiated Tensors does not require grad");
		edge = ag_gradient_edge(inputs[i]);
		at = edge.node ? find_entry(task, edge.node) : -1;
		ag_node_release(edge.node);
		if (at < 0)
			continue;
		if (task->out) {
			struct capture c = {(uint32_t)at, edge.slot, i};

			task->captures[task->ncaptures++] = c;
			task->entries[at].captured = true;
		} else {
			task->entries[at].needed = true;
		}
	}
	mark_needed(task);
	return true;
}

static bool run_all(struct task *task)
{
	struct ag_ctx *ctx = task->ctx;
	struct ag_grad_mode mode = ctx->mode;
	uint64_t outer = ctx->backward;
	bool good = true;
	uint32_t i;

	ctx->backward = ++ctx->backwards;
	ctx->mode.enabled = (task->flags & AG_CREATE_GRAPH) != 0;
	ctx->depth++;
	task->heap = ag_alloc(task->count, sizeof(*task->heap));
	for (i = 0; i < task->count; i++) {
		if (!task->entries[i].waits)
			heap_push(task, i);
	}
	while (good && task->heap_count) {
		good = run_entry(task, heap_pop(task));
	}
	ctx->depth--;
	ctx->backward = outer;
	ctx->mode = mode;
	return good;
}

static struct ag_tensor *root_grad(struct ag_ctx *ctx, struct ag_tensor *t, struct ag_tensor *grad)
{
	char a[128], b[128];

	if (grad && !ag_same_shape(t, grad))
		return ag_null(ctx, AG_ERR_RUNTIME,
		               "Mismatch in shape: grad_output[0] has a shape of torch.Size(%s) "
		               "and output[0] has a shape of torch.Size(%s).",
		               ag_shape_text(grad->ndim, grad->shape, a, sizeof(a)),
		               ag_shape_text(t->ndim, t->shape, b, sizeof(b)));
	if (grad)
		return ag_retain(grad);
	if (!ag_requires_grad(t))
		return ag_null(
		        ctx, AG_ERR_RUNTIME,
		        "element 0 of tensors does not require grad and does not have a grad_fn");
	if (t->numel != 1)
		return ag_null(ctx, AG_ERR_RUNTIME,
		               "grad can be implicitly created only for scalar outputs");
	return ag_ones_like(ctx, t);
}

static bool engine_run(struct ag_ctx *ctx, struct ag_tensor *const *roots,
                       struct ag_tensor *const *grads, uint32_t count,
                       struct ag_tensor *const *inputs, uint32_t ninputs, unsigned flags,
                       struct ag_tensor **out)
{
	struct task task = {.ctx = ctx, .flags = flags, .out = out};
	struct ag_tensor **held = ag_alloc(count, sizeof(*held));
	bool good = true;
	uint32_t i;

	ag_error_clear(ctx);
	for (i = 0; i < count && good; i++) {
		if (!roots[i])
			good = ag_fail(ctx, AG_ERR_TYPE, "a tensor is missing");
		held[i] = good ? root_grad(ctx, roots[i], grads ? grads[i] : NULL) : NULL;
		good = good && held[i] && add_root(&task, roots[i], held[i]);
	}
	if (good)
		discover(&task);
	if (good && inputs)
		good = add_captures(&task, inputs, ninputs);
	if (good)
		good = run_all(&task);
	for (i = 0; i < count; i++)
		ag_release(held[i]);
	free(held);
	task_release(&task);
	return good;
}

bool ag_backward_many(struct ag_ctx *ctx, struct ag_tensor *const *tensors,
                      struct ag_tensor *const *grads, uint32_t count,
                      struct ag_tensor *const *inputs, uint32_t ninputs, unsigned flags)
{
	return engine_run(ctx, tensors, grads, count, ninputs ? inputs : NULL, ninputs, flags,
	                  NULL);
}

bool ag_backward(struct ag_ctx *ctx, struct ag_tensor *t, struct ag_tensor *grad, unsigned flags)
{
	return engine_run(ctx, &t, grad ? &grad : NULL, 1, NULL, 0, flags, NULL);
}

bool ag_grad(struct ag_ctx *ctx, struct ag_tensor *const *outputs,
             struct ag_tensor *const *grad_outputs, uint32_t noutputs,
             struct ag_tensor *const *inputs, uint32_t ninputs, unsigned flags,
             struct ag_tensor **out)
{
	uint32_t i;
	bool good;

	memset(out, 0, ninputs * sizeof(*out));
	good = engine_run(ctx, outputs, grad_outputs, noutputs, inputs, ninputs, flags, out);
	for (i = 0; i < ninputs && good && !(flags & AG_ALLOW_UNUSED); i++) {
		if (!out[i])
			good = ag_fail(ctx, AG_ERR_RUNTIME,
			               "One of the differentiated Tensors appears to not have been "
			               "used in the graph. Set allow_unused=True if this is the "
			               "desired behavior.");
	}
	for (i = 0; i < ninputs && !good; i++) {
		ag_release(out[i]);
		out[i] = NULL;
	}
	return good;
}
