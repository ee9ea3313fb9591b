/*
 * Random programs on the runtime and on a model that is slow and obviously right: every element
 * carries its derivatives by all elements of all leaves, nothing is counted but reached from the
 * program's variables by marking, and a backward only marks what it frees. After each step the
 * values, the gradients, the live bytes and the live nodes must be the same, and at the end
 * nothing may be left. GRAPHLINT_MODEL_SECONDS=n runs new programs for so long.
 */
#include <check.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/ag.h"
#include "runtime/mersenne.h"

enum {
	LEAVES = 3,
	LEAF_SIZE = 6,
	COLUMNS = LEAVES * LEAF_SIZE,
	MOST_ELEMENTS = 16,
	MOST_OBJECTS = 512,
	VARIABLES = 6,
	STEPS = 60,
	NONE = -1
};

/* ---- the model's objects, in arrays and named by index; nothing is ever taken out */

struct m_storage {
	int size, version;
	double value[MOST_ELEMENTS];
	double slope[MOST_ELEMENTS][COLUMNS];
	bool marked;
};

struct m_tensor {
	int storage, ndim, shape[2];
	int at[MOST_ELEMENTS]; /* element to place in the storage */
	int node, base, grad;  /* grad: a tensor, of leaves only */
	int leaf;              /* number of the leaf, or NONE */
	bool requires_grad, is_view, marked;
};

struct m_node {
	int edge[2];  /* nodes; accumulators are nodes too */
	int saved[3]; /* tensors, kept as they are */
	int saved_version[3];
	int saved_result; /* a storage, and its version */
	int result_version;
	int saved_count;
	int accumulates; /* the leaf's tensor, or NONE */
	bool freed, marked;
};

struct model {
	struct ag_ctx *ctx;
	struct ag_mersenne dice;
	struct m_storage storage[MOST_OBJECTS];
	struct m_tensor tensor[MOST_OBJECTS];
	struct m_node node[MOST_OBJECTS];
	int storages, tensors, nodes;
	int accumulator[LEAVES]; /* node, or NONE when no graph has it */
	int leaf[LEAVES];        /* tensors; always held */
	struct ag_tensor *leaf_handle[LEAVES];
	int variable[VARIABLES]; /* tensors or NONE */
	struct ag_tensor *handle[VARIABLES];
	bool grad_mode;
	bool over; /* an expected error ended the program */
	char trace[STEPS * 48];
	size_t trace_used;
};

static int roll(struct model *m, int sides)
{
	return (int)(ag_mersenne_next(&m->dice) % (uint32_t)sides);
}

static void __attribute__((format(printf, 2, 3))) note(struct model *m, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(m->trace + m->trace_used, sizeof(m->trace) - m->trace_used, format, args);
	va_end(args);
	if (n > 0 && m->trace_used + (size_t)n < sizeof(m->trace))
		m->trace_used += (size_t)n;
}

static int numel(const struct m_tensor *t)
{
	int n = 1;

	for (int d = 0; d < t->ndim; d++)
		n *= t->shape[d];
	return n;
}

static int new_tensor(struct model *m, int ndim, const int *shape)
{
	struct m_tensor *t = &m->tensor[m->tensors];
	struct m_storage *s = &m->storage[m->storages];

	ck_assert_int_lt(m->tensors, MOST_OBJECTS);
	memset(t, 0, sizeof(*t));
	memset(s, 0, sizeof(*s));
	t->ndim = ndim;
	for (int d = 0; d < ndim; d++)
		t->shape[d] = shape[d];
	t->storage = m->storages++;
	t->node = t->base = t->grad = t->leaf = NONE;
	s->size = numel(t);
	for (int i = 0; i < s->size; i++)
		t->at[i] = i;
	return m->tensors++;
}

static int new_node(struct model *m)
{
	struct m_node *n = &m->node[m->nodes];

	ck_assert_int_lt(m->nodes, MOST_OBJECTS);
	memset(n, 0, sizeof(*n));
	n->edge[0] = n->edge[1] = n->saved_result = n->accumulates = NONE;
	return m->nodes++;
}

static double *value(struct model *m, int t, int i)
{
	return &m->storage[m->tensor[t].storage].value[m->tensor[t].at[i]];
}

static double *slope(struct model *m, int t, int i)
{
	return m->storage[m->tensor[t].storage].slope[m->tensor[t].at[i]];
}

/* ---- what is reachable */

static void mark_node(struct model *m, int n);

static void mark_tensor(struct model *m, int t)
{
	struct m_tensor *tensor;

	if (t == NONE || m->tensor[t].marked)
		return;
	tensor = &m->tensor[t];
	tensor->marked = true;
	m->storage[tensor->storage].marked = true;
	mark_node(m, tensor->node);
	mark_tensor(m, tensor->base);
	mark_tensor(m, tensor->grad);
}

static void mark_node(struct model *m, int n)
{
	struct m_node *node;

	if (n == NONE || m->node[n].marked)
		return;
	node = &m->node[n];
	node->marked = true;
	mark_node(m, node->edge[0]);
	mark_node(m, node->edge[1]);
	mark_tensor(m, node->accumulates);
	for (int i = 0; i < node->saved_count && !node->freed; i++)
		mark_tensor(m, node->saved[i]);
	if (node->saved_result != NONE && !node->freed)
		m->storage[node->saved_result].marked = true;
}

static void mark_all(struct model *m)
{
	for (int i = 0; i < MOST_OBJECTS; i++)
		m->storage[i].marked = m->tensor[i].marked = m->node[i].marked = false;
	for (int i = 0; i < LEAVES; i++)
		mark_tensor(m, m->leaf[i]);
	for (int i = 0; i < VARIABLES; i++)
		mark_tensor(m, m->variable[i]);
	for (int i = 0; i < LEAVES; i++) {
		if (m->accumulator[i] != NONE && !m->node[m->accumulator[i]].marked)
			m->accumulator[i] = NONE;
	}
}

/* ---- comparing */

static void mismatch(const struct model *m, const char *what, double got, double want)
{
	ck_abort_msg("%s: %.12g, not %.12g, after:\n%s", what, got, want, m->trace);
}

static void compare_tensor(struct model *m, int t, const struct ag_tensor *handle, const char *what)
{
	const struct m_tensor *tensor = &m->tensor[t];
	double values[MOST_ELEMENTS];
	int n = numel(tensor);

	if (ag_numel(handle) != n || ag_ndim(handle) != tensor->ndim)
		mismatch(m, "number of elements", (double)ag_numel(handle), n);
	if (!ag_read(m->ctx, handle, values, n))
		ck_abort_msg("%s", ag_error(m->ctx)->text);
	for (int i = 0; i < n; i++) {
		double want = *value(m, t, i);
		if (fabs(values[i] - want) > 1e-9 * (1 + fabs(want)) &&
		    !(isnan(want) && isnan(values[i])))
			mismatch(m, what, values[i], want);
	}
	if (ag_requires_grad(handle) != tensor->requires_grad)
		mismatch(m, "requires_grad", ag_requires_grad(handle), tensor->requires_grad);
}

static void compare(struct model *m)
{
	struct ag_memory memory;
	double bytes = 0;
	double nodes = 0;

	mark_all(m);
	for (int i = 0; i < m->storages; i++)
		bytes += m->storage[i].marked ? 8.0 * m->storage[i].size : 0;
	for (int i = 0; i < m->nodes; i++)
		nodes += m->node[i].marked;
	for (int i = 0; i < VARIABLES; i++) {
		if (m->variable[i] != NONE)
			compare_tensor(m, m->variable[i], m->handle[i], "value");
	}
	for (int i = 0; i < LEAVES; i++) {
		struct ag_tensor *grad = ag_grad_of(m->leaf_handle[i]);
		int want = m->tensor[m->leaf[i]].grad;
		if ((grad != NULL) != (want != NONE))
			mismatch(m, "gradient there", grad != NULL, want != NONE);
		if (grad)
			compare_tensor(m, want, grad, "gradient");
	}
	ag_memory(m->ctx, &memory);
	if ((double)memory.live_bytes != bytes)
		mismatch(m, "live bytes", (double)memory.live_bytes, bytes);
	if ((double)memory.nodes != nodes)
		mismatch(m, "live nodes", (double)memory.nodes, nodes);
}

/* ---- recording in the model */

static int node_of(struct model *m, int t)
{
	struct m_tensor *tensor = &m->tensor[t];

	if (!tensor->requires_grad)
		return NONE;
	if (tensor->leaf == NONE)
		return tensor->node;
	if (m->accumulator[tensor->leaf] == NONE) {
		int n = new_node(m);
		m->node[n].accumulates = t;
		m->accumulator[tensor->leaf] = n;
	}
	return m->accumulator[tensor->leaf];
}

/* The node of an op on a and b (NONE: one input), or NONE when nothing is recorded. */
static int record(struct model *m, int a, int b)
{
	bool wanted = m->tensor[a].requires_grad || (b != NONE && m->tensor[b].requires_grad);
	int n;

	if (!m->grad_mode || !wanted)
		return NONE;
	n = new_node(m);
	m->node[n].edge[0] = node_of(m, a);
	m->node[n].edge[1] = b == NONE ? NONE : node_of(m, b);
	return n;
}

static void save(struct model *m, int n, int t)
{
	struct m_node *node;

	if (n == NONE)
		return;
	node = &m->node[n];
	node->saved[node->saved_count] = t;
	node->saved_version[node->saved_count++] = m->storage[m->tensor[t].storage].version;
}

static void save_result(struct model *m, int n, int t)
{
	if (n == NONE)
		return;
	m->node[n].saved_result = m->tensor[t].storage;
	m->node[n].result_version = m->storage[m->tensor[t].storage].version;
}

/* A number that PyTorch wraps in a tensor of 8 bytes and saves. */
static void save_number(struct model *m, int n)
{
	if (n != NONE)
		save(m, n, new_tensor(m, 0, NULL));
}

static void give(struct model *m, int t, int n)
{
	m->tensor[t].node = n;
	m->tensor[t].requires_grad = n != NONE;
}

/* Derivatives by the leaves; without a graph there are none. */
static void chain(struct model *m, int t, int i, int n, int a, int k, double factor)
{
	for (int c = 0; n != NONE && c < COLUMNS && m->tensor[a].requires_grad; c++)
		slope(m, t, i)[c] += factor * slope(m, a, k)[c];
}

/* ---- ops: each makes the model's result and calls the runtime */

static struct ag_tensor *call(struct model *m, const char *name, const struct ag_value *v,
                              uint32_t count)
{
	struct ag_args args = {.at = v, .count = count};
	struct ag_results results;
	struct ag_tensor *t = NULL;

	if (ag_call(m->ctx, name, &args, &results)) {
		t = ag_results_take(&results, 0);
		ag_results_release(&results);
	}
	if (!t)
		ck_abort_msg("%s: %s, after:\n%s", name, ag_error(m->ctx)->text, m->trace);
	return t;
}

/* Variable `to` gets the result; what it held goes afterwards. */
static void assign(struct model *m, int to, int t, struct ag_tensor *handle)
{
	ag_release(m->handle[to]);
	m->handle[to] = handle;
	m->variable[to] = t;
}

static int some_variable(struct model *m)
{
	int first = roll(m, VARIABLES);

	for (int i = 0; i < VARIABLES; i++) {
		if (m->variable[(first + i) % VARIABLES] != NONE)
			return (first + i) % VARIABLES;
	}
	return NONE;
}

static bool same_shape(const struct m_tensor *a, const struct m_tensor *b)
{
	return a->ndim == b->ndim && memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof(int)) == 0;
}

static void op_binary(struct model *m, int va, int to)
{
	static const char *const names[] = {"torch.add", "torch.sub", "torch.mul"};
	int kind = roll(m, 3), vb = some_variable(m), a = m->variable[va], b = m->variable[vb], t,
	    n;

	if (!same_shape(&m->tensor[a], &m->tensor[b]))
		return;
	note(m, "v%d = %s(v%d, v%d)\n", to, names[kind], va, vb);
	t = new_tensor(m, m->tensor[a].ndim, m->tensor[a].shape);
	n = record(m, a, b);
	if (kind == 2 && n != NONE && m->tensor[a].requires_grad)
		save(m, n, b);
	if (kind == 2 && n != NONE && m->tensor[b].requires_grad)
		save(m, n, a);
	for (int i = 0; i < numel(&m->tensor[t]); i++) {
		double x = *value(m, a, i), y = *value(m, b, i);
		*value(m, t, i) = kind == 2 ? x * y : kind == 1 ? x - y : x + y;
		chain(m, t, i, n, a, i, kind == 2 ? y : 1);
		chain(m, t, i, n, b, i, kind == 2 ? x : kind == 1 ? -1 : 1);
	}
	give(m, t, n);
	assign(m, to, t,
	       call(m, names[kind],
	            (struct ag_value[]){ag_arg(m->handle[va]), ag_arg(m->handle[vb])}, 2));
}

enum unary_saves { SAVES_NOTHING, SAVES_INPUT, SAVES_RESULT, SAVES_NUMBER };

struct unary {
	const char *name;
	enum unary_saves saves;
	bool in_place; /* exists in place, too */
	double number; /* second argument, or 0 */
};

static const struct unary unaries[] = {
        {"neg", SAVES_NOTHING, true, 0},    {"tanh", SAVES_RESULT, true, 0},
        {"sigmoid", SAVES_RESULT, true, 0}, {"relu", SAVES_RESULT, true, 0},
        {"sin", SAVES_INPUT, false, 0},     {"pow", SAVES_INPUT, false, 2},
        {"mul", SAVES_NUMBER, true, 0.75},  {"add", SAVES_NOTHING, true, 0.5},
        {"clone", SAVES_NOTHING, false, 0},
};

static void unary_value(int kind, double x, double *y, double *factor)
{
	switch (kind) {
	case 0:
		*y = -x, *factor = -1;
		break;
	case 1:
		*y = tanh(x), *factor = 1 - *y * *y;
		break;
	case 2:
		*y = 1 / (1 + exp(-x)), *factor = *y * (1 - *y);
		break;
	case 3:
		*y = x > 0 ? x : 0, *factor = x > 0;
		break;
	case 4:
		*y = sin(x), *factor = cos(x);
		break;
	case 5:
		*y = x * x, *factor = 2 * x;
		break;
	case 6:
		*y = 0.75 * x, *factor = 0.75;
		break;
	case 7:
		*y = x + 0.5, *factor = 1;
		break;
	default:
		*y = x, *factor = 1;
		break;
	}
}

static struct ag_tensor *call_unary(struct model *m, int kind, bool in_place, struct ag_tensor *x)
{
	const struct unary *op = &unaries[kind];
	bool whole = op->number == floor(op->number);
	char name[32];

	snprintf(name, sizeof(name), "Tensor.%s%s", op->name, in_place ? "_" : "");
	return call(m, name,
	            (struct ag_value[]){ag_arg(x),
	                                whole ? ag_int((int64_t)op->number) : ag_float(op->number)},
	            op->number != 0 ? 2 : 1);
}

static void op_unary(struct model *m, int va, int to)
{
	int kind = roll(m, (int)(sizeof(unaries) / sizeof(unaries[0]))), a = m->variable[va], t, n;
	double factor;

	note(m, "v%d = v%d.%s()\n", to, va, unaries[kind].name);
	t = new_tensor(m, m->tensor[a].ndim, m->tensor[a].shape);
	n = record(m, a, NONE);
	if (unaries[kind].saves == SAVES_INPUT)
		save(m, n, a);
	if (unaries[kind].saves == SAVES_RESULT)
		save_result(m, n, t);
	if (unaries[kind].saves == SAVES_NUMBER)
		save_number(m, n);
	for (int i = 0; i < numel(&m->tensor[t]); i++) {
		unary_value(kind, *value(m, a, i), value(m, t, i), &factor);
		chain(m, t, i, n, a, i, factor);
	}
	give(m, t, n);
	assign(m, to, t, call_unary(m, kind, false, m->handle[va]));
}

/* Whether something reachable is a differentiable view of t's storage: what is done in place to
 * one of them gives all of them new histories, which is not modelled. */
static bool has_views(struct model *m, int t)
{
	mark_all(m);
	for (int i = 0; i < m->tensors; i++) {
		if (m->tensor[i].marked && m->tensor[i].is_view &&
		    m->tensor[i].storage == m->tensor[t].storage)
			return true;
	}
	return false;
}

static void op_in_place(struct model *m, int va, int to)
{
	int kind = roll(m, (int)(sizeof(unaries) / sizeof(unaries[0]))), a = m->variable[va], n;
	struct m_storage *s = &m->storage[m->tensor[a].storage];
	double factor;

	(void)to;
	if (!unaries[kind].in_place || m->tensor[a].leaf != NONE || has_views(m, a) ||
	    s->size != numel(&m->tensor[a]))
		return;
	/* Without gradients it would keep its history though its values are others. */
	if (!m->grad_mode && m->tensor[a].requires_grad)
		return;
	note(m, "v%d.%s_()\n", va, unaries[kind].name);
	n = record(m, a, NONE);
	if (unaries[kind].saves == SAVES_NUMBER)
		save_number(m, n);
	for (int i = 0; i < s->size; i++) {
		double y;
		unary_value(kind, *value(m, a, i), &y, &factor);
		*value(m, a, i) = y;
		for (int c = 0; n != NONE && c < COLUMNS; c++)
			slope(m, a, i)[c] *= factor;
	}
	s->version++;
	if (unaries[kind].saves == SAVES_RESULT)
		save_result(m, n, a);
	if (n != NONE)
		give(m, a, n);
	ag_release(call_unary(m, kind, true, m->handle[va]));
}

static void op_mm(struct model *m, int va, int to)
{
	int vb = some_variable(m), a = m->variable[va], b = m->variable[vb], t, n, shape[2];

	if (m->tensor[a].ndim != 2 || m->tensor[b].ndim != 2 ||
	    m->tensor[a].shape[1] != m->tensor[b].shape[0])
		return;
	note(m, "v%d = v%d @ v%d\n", to, va, vb);
	shape[0] = m->tensor[a].shape[0];
	shape[1] = m->tensor[b].shape[1];
	t = new_tensor(m, 2, shape);
	n = record(m, a, b);
	if (n != NONE && m->tensor[b].requires_grad)
		save(m, n, a);
	if (n != NONE && m->tensor[a].requires_grad)
		save(m, n, b);
	for (int i = 0; i < shape[0] * shape[1]; i++) {
		for (int k = 0; k < m->tensor[a].shape[1]; k++) {
			int ia = i / shape[1] * m->tensor[a].shape[1] + k,
			    ib = k * shape[1] + i % shape[1];
			*value(m, t, i) += *value(m, a, ia) * *value(m, b, ib);
			chain(m, t, i, n, a, ia, *value(m, b, ib));
			chain(m, t, i, n, b, ib, *value(m, a, ia));
		}
	}
	give(m, t, n);
	assign(m, to, t,
	       call(m, "torch.mm",
	            (struct ag_value[]){ag_arg(m->handle[va]), ag_arg(m->handle[vb])}, 2));
}

static void op_sum(struct model *m, int va, int to)
{
	int a = m->variable[va], t = new_tensor(m, 0, NULL), n = record(m, a, NONE);

	note(m, "v%d = v%d.sum()\n", to, va);
	for (int i = 0; i < numel(&m->tensor[a]); i++) {
		*value(m, t, 0) += *value(m, a, i);
		chain(m, t, 0, n, a, i, 1);
	}
	give(m, t, n);
	assign(m, to, t, call(m, "torch.sum", (struct ag_value[]){ag_arg(m->handle[va])}, 1));
}

/* A handle on a's storage; the caller sets shape and places. */
static int new_view(struct model *m, int a, bool differentiable)
{
	int t = new_tensor(m, m->tensor[a].ndim, m->tensor[a].shape);

	m->storages--;
	m->tensor[t].storage = m->tensor[a].storage;
	memcpy(m->tensor[t].at, m->tensor[a].at, sizeof(m->tensor[t].at));
	if (differentiable) {
		m->tensor[t].base = m->tensor[a].base == NONE ? a : m->tensor[a].base;
		m->tensor[t].is_view = true;
		give(m, t, record(m, a, NONE));
		/* Under no_grad a view reports what its base does. */
		m->tensor[t].requires_grad = m->tensor[a].requires_grad;
	}
	return t;
}

static void op_transpose(struct model *m, int va, int to)
{
	int a = m->variable[va], t, rows, columns;

	if (m->tensor[a].ndim != 2 || (!m->grad_mode && m->tensor[a].requires_grad))
		return;
	note(m, "v%d = v%d.t()\n", to, va);
	t = new_view(m, a, true);
	rows = m->tensor[a].shape[1];
	columns = m->tensor[a].shape[0];
	m->tensor[t].shape[0] = rows;
	m->tensor[t].shape[1] = columns;
	for (int i = 0; i < rows * columns; i++)
		m->tensor[t].at[i] = m->tensor[a].at[i % columns * rows + i / columns];
	assign(m, to, t, call(m, "torch.t", (struct ag_value[]){ag_arg(m->handle[va])}, 1));
}

static void op_select(struct model *m, int va, int to)
{
	int a = m->variable[va], t, index, width;

	if (m->tensor[a].ndim == 0 || (!m->grad_mode && m->tensor[a].requires_grad))
		return;
	index = roll(m, m->tensor[a].shape[0]);
	note(m, "v%d = v%d[%d]\n", to, va, index);
	t = new_view(m, a, true);
	m->tensor[t].ndim--;
	m->tensor[t].shape[0] = m->tensor[a].shape[1];
	width = numel(&m->tensor[t]);
	for (int i = 0; i < width; i++)
		m->tensor[t].at[i] = m->tensor[a].at[index * width + i];
	assign(m, to, t, ag_select(m->ctx, m->handle[va], 0, index));
}

static void op_detach(struct model *m, int va, int to)
{
	note(m, "v%d = v%d.detach()\n", to, va);
	assign(m, to, new_view(m, m->variable[va], false), ag_detach(m->ctx, m->handle[va]));
}

static void op_forget(struct model *m, int va, int to)
{
	(void)to;
	note(m, "del v%d\n", va);
	assign(m, va, NONE, NULL);
}

static void op_leaf(struct model *m, int va, int to)
{
	int i = roll(m, LEAVES);

	(void)va;
	note(m, "v%d = leaf %d\n", to, i);
	assign(m, to, m->leaf[i], ag_retain(m->leaf_handle[i]));
}

static void op_grad_mode(struct model *m, int va, int to)
{
	(void)va;
	(void)to;
	m->grad_mode = !m->grad_mode;
	note(m, "gradients %s\n", m->grad_mode ? "on" : "off");
	if (m->grad_mode)
		ag_enable_grad(m->ctx);
	else
		ag_no_grad(m->ctx);
}

static void op_forget_grad(struct model *m, int va, int to)
{
	int i = roll(m, LEAVES);

	(void)va;
	(void)to;
	note(m, "leaf %d .grad = None\n", i);
	m->tensor[m->leaf[i]].grad = NONE;
	ck_assert(ag_set_grad(m->ctx, m->leaf_handle[i], NULL));
}

/* ---- backward */

/* Visits what hangs on a node; `bad` when a saved tensor that is needed is gone or changed. */
static void visit(struct model *m, int n, bool *seen, bool *bad)
{
	struct m_node *node;

	if (n == NONE || seen[n])
		return;
	seen[n] = true;
	node = &m->node[n];
	*bad |= node->freed && (node->saved_count || node->saved_result != NONE);
	for (int i = 0; i < node->saved_count && !node->freed; i++)
		*bad |= m->storage[m->tensor[node->saved[i]].storage].version !=
		        node->saved_version[i];
	if (node->saved_result != NONE && !node->freed)
		*bad |= m->storage[node->saved_result].version != node->result_version;
	visit(m, node->edge[0], seen, bad);
	visit(m, node->edge[1], seen, bad);
}

static void accumulate(struct model *m, int loss, int leaf)
{
	int t = m->leaf[leaf], grad = m->tensor[t].grad;

	if (grad == NONE) {
		grad = new_tensor(m, m->tensor[t].ndim, m->tensor[t].shape);
		m->tensor[t].grad = grad;
	}
	for (int i = 0; i < numel(&m->tensor[t]); i++)
		*value(m, grad, i) += slope(m, loss, 0)[leaf * LEAF_SIZE + i];
}

static void op_backward(struct model *m, int va, int to)
{
	int a = m->variable[va];
	bool retain = roll(m, 2) == 0, bad = false, done;
	bool seen[MOST_OBJECTS] = {false};

	(void)to;
	if (numel(&m->tensor[a]) != 1 || m->tensor[a].node == NONE)
		return;
	note(m, "v%d.backward(%s)\n", va, retain ? "retain_graph=True" : "");
	visit(m, m->tensor[a].node, seen, &bad);
	done = ag_backward(m->ctx, m->handle[va], NULL, retain ? AG_RETAIN_GRAPH : 0);
	if (done == bad)
		ck_abort_msg("backward %s (%s), after:\n%s", done ? "worked" : "failed",
		             ag_error(m->ctx)->text, m->trace);
	m->over = bad; /* what a backward had done when it failed is not modelled */
	for (int n = 0; n < m->nodes && !bad; n++) {
		if (seen[n] && m->node[n].accumulates != NONE)
			accumulate(m, a, m->tensor[m->node[n].accumulates].leaf);
		else if (seen[n] && !retain)
			m->node[n].freed = true;
	}
}

/* ---- programs */

typedef void op_fn(struct model *m, int va, int to);

static op_fn *const ops[] = {
        op_binary, op_binary, op_binary,    op_unary,    op_unary,     op_unary,       op_in_place,
        op_mm,     op_mm,     op_sum,       op_sum,      op_transpose, op_select,      op_detach,
        op_forget, op_leaf,   op_grad_mode, op_backward, op_backward,  op_forget_grad,
};

static void open_leaves(struct model *m)
{
	static const int shapes[LEAVES][2] = {{2, 3}, {3, 2}, {2, 2}};

	for (int leaf = 0; leaf < LEAVES; leaf++) {
		int64_t shape[2] = {shapes[leaf][0], shapes[leaf][1]};
		int t = new_tensor(m, 2, shapes[leaf]);
		for (int i = 0; i < numel(&m->tensor[t]); i++) {
			*value(m, t, i) = roll(m, 2001) / 1000.0 - 1;
			slope(m, t, i)[leaf * LEAF_SIZE + i] = 1;
		}
		m->tensor[t].leaf = leaf;
		m->tensor[t].requires_grad = true;
		m->leaf[leaf] = t;
		m->accumulator[leaf] = NONE;
		m->leaf_handle[leaf] = ag_tensor_new(m->ctx, AG_F64, 2, shape,
		                                     m->storage[m->tensor[t].storage].value);
		ck_assert(ag_set_requires_grad(m->ctx, m->leaf_handle[leaf], true));
	}
}

static void run_program(uint32_t seed)
{
	struct model *m = calloc(1, sizeof(*m));
	struct ag_memory memory;

	ck_assert_ptr_nonnull(m);
	m->ctx = ag_open(NULL);
	m->grad_mode = true;
	ag_mersenne_seed(&m->dice, seed);
	note(m, "program %u\n", seed);
	open_leaves(m);
	for (int i = 0; i < VARIABLES; i++) {
		m->variable[i] = i < LEAVES ? m->leaf[i] : NONE;
		m->handle[i] = i < LEAVES ? ag_retain(m->leaf_handle[i]) : NULL;
	}
	for (int step = 0; step < STEPS && !m->over; step++) {
		int va = some_variable(m), to = roll(m, VARIABLES),
		    op = roll(m, (int)(sizeof(ops) / sizeof(ops[0])));
		if (va == NONE)
			op_leaf(m, va, to);
		else
			ops[op](m, va, to);
		if (!m->over)
			compare(m);
	}
	for (int i = 0; i < VARIABLES; i++)
		ag_release(m->handle[i]);
	for (int i = 0; i < LEAVES; i++)
		ag_release(m->leaf_handle[i]);
	ag_memory(m->ctx, &memory);
	if (memory.live_bytes || memory.nodes || memory.tensors)
		mismatch(m, "left over",
		         (double)(memory.live_bytes + memory.nodes + memory.tensors), 0);
	ag_close(m->ctx);
	free(m);
}

START_TEST(random_programs_agree_with_the_model)
{
	for (uint32_t i = 0; i < 150; i++)
		run_program((uint32_t)_i * 150 + i);
}
END_TEST

START_TEST(as_many_as_there_is_time_for)
{
	const char *text = getenv("GRAPHLINT_MODEL_SECONDS");
	time_t end = time(NULL) + (text ? strtol(text, NULL, 10) : 0);
	uint32_t seed = 1u << 20;

	for (; time(NULL) < end; seed++)
		run_program(seed);
	if (text)
		printf("%u programs\n", seed - (1u << 20));
}
END_TEST

Suite *runtime_model_suite(void);

Suite *runtime_model_suite(void)
{
	Suite *suite = suite_create("runtime_model");
	TCase *programs = tcase_create("programs");

	tcase_set_timeout(programs, 0);
	tcase_add_loop_test(programs, random_programs_agree_with_the_model, 0, 4);
	tcase_add_test(programs, as_many_as_there_is_time_for);
	suite_add_tcase(suite, programs);
	return suite;
}
