/*
 * Random programs on the runtime and on a model that is slow and obviously right: every element
 * carries its derivatives by all elements of all leaves, nothing is counted but reached from the
 * program's variables by marking, and a backward only marks what it frees. After each step the
 * values, the gradients, the live bytes and the live nodes must be the same, and at the end
 * nothing may be left. GRAPHLINT_MODEL_SECONDS=n runs new programs for so long.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/model_runner.h"

/* ---- recording in the model */

static int node_of(struct model *m, int t)
{
	struct m_tensor *tensor = &m->tensor[t];

	if (!tensor->requires_grad)
		return NONE;
	if (tensor->leaf == NONE)
		return tensor->node;
	if (m->accumulator[tensor->leaf] == NONE) {
		int n = model_new_node(m);
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
	n = model_new_node(m);
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
		save(m, n, model_new_tensor(m, 0, NULL));
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
		model_slope(m, t, i)[c] += factor * model_slope(m, a, k)[c];
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
	int first = model_roll(m, VARIABLES);

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
	int kind = model_roll(m, 3), vb = some_variable(m), a = m->variable[va],
	    b = m->variable[vb], t, n;

	if (!same_shape(&m->tensor[a], &m->tensor[b]))
		return;
	model_note(m, "v%d = %s(v%d, v%d)\n", to, names[kind], va, vb);
	t = model_new_tensor(m, m->tensor[a].ndim, m->tensor[a].shape);
	n = record(m, a, b);
	if (kind == 2 && n != NONE && m->tensor[a].requires_grad)
		save(m, n, b);
	if (kind == 2 && n != NONE && m->tensor[b].requires_grad)
		save(m, n, a);
	for (int i = 0; i < model_numel(&m->tensor[t]); i++) {
		double x = *model_value(m, a, i), y = *model_value(m, b, i);
		*model_value(m, t, i) = kind == 2 ? x * y : kind == 1 ? x - y : x + y;
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
	int kind = model_roll(m, (int)(sizeof(unaries) / sizeof(unaries[0]))), a = m->variable[va],
	    t, n;
	double factor;

	model_note(m, "v%d = v%d.%s()\n", to, va, unaries[kind].name);
	t = model_new_tensor(m, m->tensor[a].ndim, m->tensor[a].shape);
	n = record(m, a, NONE);
	if (unaries[kind].saves == SAVES_INPUT)
		save(m, n, a);
	if (unaries[kind].saves == SAVES_RESULT)
		save_result(m, n, t);
	if (unaries[kind].saves == SAVES_NUMBER)
		save_number(m, n);
	for (int i = 0; i < model_numel(&m->tensor[t]); i++) {
		unary_value(kind, *model_value(m, a, i), model_value(m, t, i), &factor);
		chain(m, t, i, n, a, i, factor);
	}
	give(m, t, n);
	assign(m, to, t, call_unary(m, kind, false, m->handle[va]));
}

/* Whether something reachable is a differentiable view of t's storage: what is done in place to
 * one of them gives all of them new histories, which is not modelled. */
static bool has_views(struct model *m, int t)
{
	model_mark_all(m);
	for (int i = 0; i < m->tensors; i++) {
		if (m->tensor[i].marked && m->tensor[i].is_view &&
		    m->tensor[i].storage == m->tensor[t].storage)
			return true;
	}
	return false;
}

static void op_in_place(struct model *m, int va, int to)
{
	int kind = model_roll(m, (int)(sizeof(unaries) / sizeof(unaries[0]))), a = m->variable[va],
	    n;
	struct m_storage *s = &m->storage[m->tensor[a].storage];
	double factor;

	(void)to;
	if (!unaries[kind].in_place || m->tensor[a].leaf != NONE || has_views(m, a) ||
	    s->size != model_numel(&m->tensor[a]))
		return;
	/* Without gradients it would keep its history though its values are others. */
	if (!m->grad_mode && m->tensor[a].requires_grad)
		return;
	model_note(m, "v%d.%s_()\n", va, unaries[kind].name);
	n = record(m, a, NONE);
	if (unaries[kind].saves == SAVES_NUMBER)
		save_number(m, n);
	for (int i = 0; i < s->size; i++) {
		double y;
		unary_value(kind, *model_value(m, a, i), &y, &factor);
		*model_value(m, a, i) = y;
		for (int c = 0; n != NONE && c < COLUMNS; c++)
			model_slope(m, a, i)[c] *= factor;
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
	model_note(m, "v%d = v%d @ v%d\n", to, va, vb);
	shape[0] = m->tensor[a].shape[0];
	shape[1] = m->tensor[b].shape[1];
	t = model_new_tensor(m, 2, shape);
	n = record(m, a, b);
	if (n != NONE && m->tensor[b].requires_grad)
		save(m, n, a);
	if (n != NONE && m->tensor[a].requires_grad)
		save(m, n, b);
	for (int i = 0; i < shape[0] * shape[1]; i++) {
		for (int k = 0; k < m->tensor[a].shape[1]; k++) {
			int ia = i / shape[1] * m->tensor[a].shape[1] + k,
			    ib = k * shape[1] + i % shape[1];
			*model_value(m, t, i) += *model_value(m, a, ia) * *model_value(m, b, ib);
			chain(m, t, i, n, a, ia, *model_value(m, b, ib));
			chain(m, t, i, n, b, ib, *model_value(m, a, ia));
		}
	}
	give(m, t, n);
	assign(m, to, t,
	       call(m, "torch.mm",
	            (struct ag_value[]){ag_arg(m->handle[va]), ag_arg(m->handle[vb])}, 2));
}

static void op_sum(struct model *m, int va, int to)
{
	int a = m->variable[va], t = model_new_tensor(m, 0, NULL), n = record(m, a, NONE);

	model_note(m, "v%d = v%d.sum()\n", to, va);
	for (int i = 0; i < model_numel(&m->tensor[a]); i++) {
		*model_value(m, t, 0) += *model_value(m, a, i);
		chain(m, t, 0, n, a, i, 1);
	}
	give(m, t, n);
	assign(m, to, t, call(m, "torch.sum", (struct ag_value[]){ag_arg(m->handle[va])}, 1));
}

/* A handle on a's storage; the caller sets shape and places. */
static int new_view(struct model *m, int a, bool differentiable)
{
	int t = model_new_tensor(m, m->tensor[a].ndim, m->tensor[a].shape);

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
	model_note(m, "v%d = v%d.t()\n", to, va);
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
	index = model_roll(m, m->tensor[a].shape[0]);
	model_note(m, "v%d = v%d[%d]\n", to, va, index);
	t = new_view(m, a, true);
	m->tensor[t].ndim--;
	m->tensor[t].shape[0] = m->tensor[a].shape[1];
	width = model_numel(&m->tensor[t]);
	for (int i = 0; i < width; i++)
		m->tensor[t].at[i] = m->tensor[a].at[index * width + i];
	assign(m, to, t, ag_select(m->ctx, m->handle[va], 0, index));
}

static void op_detach(struct model *m, int va, int to)
{
	model_note(m, "v%d = v%d.detach()\n", to, va);
	assign(m, to, new_view(m, m->variable[va], false), ag_detach(m->ctx, m->handle[va]));
}

static void op_forget(struct model *m, int va, int to)
{
	(void)to;
	model_note(m, "del v%d\n", va);
	assign(m, va, NONE, NULL);
}

static void op_leaf(struct model *m, int va, int to)
{
	int i = model_roll(m, LEAVES);

	(void)va;
	model_note(m, "v%d = leaf %d\n", to, i);
	assign(m, to, m->leaf[i], ag_retain(m->leaf_handle[i]));
}

static void op_grad_mode(struct model *m, int va, int to)
{
	(void)va;
	(void)to;
	m->grad_mode = !m->grad_mode;
	model_note(m, "gradients %s\n", m->grad_mode ? "on" : "off");
	if (m->grad_mode)
		ag_enable_grad(m->ctx);
	else
		ag_no_grad(m->ctx);
}

static void op_forget_grad(struct model *m, int va, int to)
{
	int i = model_roll(m, LEAVES);

	(void)va;
	(void)to;
	model_note(m, "leaf %d .grad = None\n", i);
	m->tensor[m->leaf[i]].grad = NONE;
	model_need(ag_set_grad(m->ctx, m->leaf_handle[i], NULL));
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
		grad = model_new_tensor(m, m->tensor[t].ndim, m->tensor[t].shape);
		m->tensor[t].grad = grad;
	}
	for (int i = 0; i < model_numel(&m->tensor[t]); i++)
		*model_value(m, grad, i) += model_slope(m, loss, 0)[leaf * LEAF_SIZE + i];
}

static void op_backward(struct model *m, int va, int to)
{
	int a = m->variable[va];
	bool retain = model_roll(m, 2) == 0, bad = false, done;
	bool seen[MOST_OBJECTS] = {false};

	(void)to;
	if (model_numel(&m->tensor[a]) != 1 || m->tensor[a].node == NONE)
		return;
	model_note(m, "v%d.backward(%s)\n", va, retain ? "retain_graph=True" : "");
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
		int t = model_new_tensor(m, 2, shapes[leaf]);
		for (int i = 0; i < model_numel(&m->tensor[t]); i++) {
			*model_value(m, t, i) = model_roll(m, 2001) / 1000.0 - 1;
			model_slope(m, t, i)[leaf * LEAF_SIZE + i] = 1;
		}
		m->tensor[t].leaf = leaf;
		m->tensor[t].requires_grad = true;
		m->leaf[leaf] = t;
		m->accumulator[leaf] = NONE;
		m->leaf_handle[leaf] = ag_tensor_new(m->ctx, AG_F64, 2, shape,
		                                     m->storage[m->tensor[t].storage].value);
		model_need(ag_set_requires_grad(m->ctx, m->leaf_handle[leaf], true));
	}
}

static void run_program(uint32_t seed)
{
	struct model *m = calloc(1, sizeof(*m));
	struct ag_memory memory;

	model_need(m != NULL);
	m->ctx = ag_open(NULL);
	m->grad_mode = true;
	ag_mersenne_seed(&m->dice, seed);
	model_note(m, "program %u\n", seed);
	open_leaves(m);
	for (int i = 0; i < VARIABLES; i++) {
		m->variable[i] = i < LEAVES ? m->leaf[i] : NONE;
		m->handle[i] = i < LEAVES ? ag_retain(m->leaf_handle[i]) : NULL;
	}
	for (int step = 0; step < STEPS && !m->over; step++) {
		int va = some_variable(m), to = model_roll(m, VARIABLES),
		    op = model_roll(m, (int)(sizeof(ops) / sizeof(ops[0])));
		if (va == NONE)
			op_leaf(m, va, to);
		else
			ops[op](m, va, to);
		if (!m->over)
			model_compare(m);
	}
	for (int i = 0; i < VARIABLES; i++)
		ag_release(m->handle[i]);
	for (int i = 0; i < LEAVES; i++)
		ag_release(m->leaf_handle[i]);
	ag_memory(m->ctx, &memory);
	if (memory.live_bytes || memory.nodes || memory.tensors)
		model_mismatch(m, "left over",
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
