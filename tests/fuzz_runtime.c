/* Bytes as a program of tensor ops. The runtime is compared with a model that is
 * slow and plain: values by storage, derivatives by every leaf element carried
 * forward through each op, and what is alive found by walking from the
 * variables. Programs use views, in-place writes, detach, no_grad, backward. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/bug.h"
#include "runtime/ag.h"

enum { VARIABLES = 8, LEAVES = 3, LEAF_SIZE = 6, CELLS = 12, INPUTS = LEAVES * LEAF_SIZE };

/* Counted, because views and detached aliases share. */
struct values {
	int refs;
	double at[CELLS];
};

/* What autograd believes of a storage: derivatives by each leaf element. */
struct history {
	int refs;
	bool tracked;
	double by[CELLS][INPUTS];
};

struct variable {
	struct ag_tensor *t; /* NULL: unset */
	struct values *values;
	struct history *history;
	int rows, cols;
	int cell[CELLS];
	int leaf; /* its number, -1 */
};

struct machine {
	struct ag_ctx *ctx;
	struct variable v[VARIABLES];
	struct ag_tensor *leaves[LEAVES];
	double expected[INPUTS];
	bool has_grad[LEAVES];
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void *zeroed(size_t size)
{
	void *p = calloc(1, size);

	BUG_IF(!p);
	return p;
}

static void unset(struct variable *v)
{
	if (!v->t)
		return;
	ag_release(v->t);
	if (--v->values->refs == 0)
		free(v->values);
	if (--v->history->refs == 0)
		free(v->history);
	memset(v, 0, sizeof(*v));
}

/* A fresh result of this shape; the model's cells are to be filled in. */
static struct variable fresh(struct ag_tensor *t, int rows, int cols, bool tracked)
{
	struct variable v = {.t = t, .rows = rows, .cols = cols, .leaf = -1};
	int i;

	v.values = zeroed(sizeof(*v.values));
	v.history = zeroed(sizeof(*v.history));
	v.values->refs = v.history->refs = 1;
	v.history->tracked = tracked;
	for (i = 0; i < rows * cols; i++)
		v.cell[i] = i;
	return v;
}

/* The same storage; the same history, or one of its own. */
static struct variable alias(const struct variable *of, struct ag_tensor *t, bool detached)
{
	struct variable v = *of;

	v.t = t;
	v.leaf = -1;
	v.values->refs++;
	if (detached) {
		v.history = zeroed(sizeof(*v.history));
		v.history->refs = 1;
	} else {
		v.history->refs++;
	}
	return v;
}

static void put(struct machine *m, int at, struct variable v)
{
	unset(&m->v[at]);
	m->v[at] = v;
}

static bool recording(const struct machine *m)
{
	return ag_grad_mode(m->ctx).enabled;
}

static int pick(const struct variable *v, int row, int col)
{
	return v->cell[(row % v->rows) * v->cols + col % v->cols];
}

/* value and derivative of a op b at one place */
static double combine(int op, double a, double b, double *da, double *db)
{
	switch (op) {
	case 0:
		*da = *db = 1;
		return a + b;
	case 1:
		*da = 1;
		*db = -1;
		return a - b;
	default:
		*da = b;
		*db = a;
		return a * b;
	}
}

static bool fits(const struct variable *a, const struct variable *b)
{
	return (a->rows == b->rows || a->rows == 1 || b->rows == 1) &&
	       (a->cols == b->cols || a->cols == 1 || b->cols == 1);
}

static struct ag_tensor *call2(struct machine *m, int op, struct ag_tensor *a, struct ag_tensor *b)
{
	if (op == 0)
		return ag_add(m->ctx, a, b);
	return op == 1 ? ag_sub(m->ctx, a, b) : ag_mul(m->ctx, a, b);
}

static void binary(struct machine *m, int op, int to, const struct variable *a,
                   const struct variable *b)
{
	int rows = a->rows > b->rows ? a->rows : b->rows;
	int cols = a->cols > b->cols ? a->cols : b->cols, i, j, k;
	bool tracked = recording(m) && (a->history->tracked || b->history->tracked);
	struct ag_tensor *t;
	struct variable out;

	if (!fits(a, b) || rows * cols > CELLS)
		return;
	t = call2(m, op, a->t, b->t);
	BUG_IF(!t);
	out = fresh(t, rows, cols, tracked);
	for (i = 0; i < rows; i++) {
		for (j = 0; j < cols; j++) {
			int x = pick(a, i, j), y = pick(b, i, j), z = i * cols + j;
			double da, db;

			out.values->at[z] =
			        combine(op, a->values->at[x], b->values->at[y], &da, &db);
			for (k = 0; tracked && k < INPUTS; k++)
				out.history->by[z][k] =
				        da * a->history->by[x][k] + db * b->history->by[y][k];
		}
	}
	put(m, to, out);
}

struct search {
	struct ag_storage *storage;
	bool found;
};

static bool on_storage(void *data, const struct ag_reach *reach)
{
	struct search *s = data;

	s->found |= reach->tensor && ag_storage_of(reach->tensor) == s->storage;
	return !s->found;
}

/* a += b where b's graph has saved a is a cycle that nothing frees, in PyTorch too. */
static bool closes_cycle(struct machine *m, const struct variable *a, const struct variable *b)
{
	struct search s = {ag_storage_of(a->t), false};

	ag_reachable(m->ctx, b->t, NULL, on_storage, &s);
	return s.found;
}

/* a op= b */
static void inplace(struct machine *m, int op, struct variable *a, const struct variable *b)
{
	bool tracked = recording(m) && (a->history->tracked || b->history->tracked);
	double value[CELLS], by[CELLS][INPUTS];
	int i, j, k, z;
	bool good;

	if (!fits(a, b) || b->rows > a->rows || b->cols > a->cols || closes_cycle(m, a, b))
		return;
	for (i = 0; i < a->rows; i++) {
		for (j = 0; j < a->cols; j++) {
			int x = pick(a, i, j), y = pick(b, i, j);
			double da, db;

			z = i * a->cols + j;
			value[z] = combine(op, a->values->at[x], b->values->at[y], &da, &db);
			for (k = 0; k < INPUTS; k++)
				by[z][k] = da * a->history->by[x][k] + db * b->history->by[y][k];
		}
	}
	good = op == 0 ? ag_add_(m->ctx, a->t, b->t, 1) : ag_mul_(m->ctx, a->t, b->t);
	if (!good) {
		ag_error_clear(m->ctx);
		return;
	}
	for (z = 0; z < a->rows * a->cols; z++) {
		a->values->at[a->cell[z]] = value[z];
		if (tracked)
			memcpy(a->history->by[a->cell[z]], by[z], sizeof(by[z]));
	}
	a->history->tracked = a->history->tracked || tracked;
}

static void unary(struct machine *m, int op, int to, const struct variable *a)
{
	bool tracked = recording(m) && a->history->tracked;
	struct ag_tensor *t = op ? ag_tanh(m->ctx, a->t) : ag_neg(m->ctx, a->t);
	struct variable out;
	int z, k;

	BUG_IF(!t);
	out = fresh(t, a->rows, a->cols, tracked);
	for (z = 0; z < a->rows * a->cols; z++) {
		double x = a->values->at[a->cell[z]], y = op ? tanh(x) : -x,
		       d = op ? 1 - y * y : -1;

		out.values->at[z] = y;
		for (k = 0; tracked && k < INPUTS; k++)
			out.history->by[z][k] = d * a->history->by[a->cell[z]][k];
	}
	put(m, to, out);
}

static void turn(struct machine *m, int to, const struct variable *a)
{
	struct ag_tensor *t = ag_transpose(m->ctx, a->t, 0, 1);
	struct variable out = alias(a, t, false);
	int i, j;

	BUG_IF(!t);
	out.rows = a->cols;
	out.cols = a->rows;
	for (i = 0; i < out.rows; i++) {
		for (j = 0; j < out.cols; j++)
			out.cell[i * out.cols + j] = a->cell[j * a->cols + i];
	}
	put(m, to, out);
}

static void row(struct machine *m, int to, const struct variable *a, int which)
{
	struct ag_tensor *t;
	struct variable out;
	int j;

	which %= a->rows;
	t = ag_slice(m->ctx, a->t, 0, which, which + 1);
	BUG_IF(!t);
	out = alias(a, t, false);
	out.rows = 1;
	for (j = 0; j < a->cols; j++)
		out.cell[j] = a->cell[which * a->cols + j];
	put(m, to, out);
}

static void copy(struct machine *m, int to, const struct variable *a)
{
	bool tracked = recording(m) && a->history->tracked;
	struct ag_tensor *t = ag_clone(m->ctx, a->t);
	struct variable out;
	int z;

	BUG_IF(!t);
	out = fresh(t, a->rows, a->cols, tracked);
	for (z = 0; z < a->rows * a->cols; z++) {
		out.values->at[z] = a->values->at[a->cell[z]];
		if (tracked)
			memcpy(out.history->by[z], a->history->by[a->cell[z]],
			       sizeof(out.history->by[z]));
	}
	put(m, to, out);
}

static void forget_grads(struct machine *m)
{
	int i;

	for (i = 0; i < LEAVES; i++) {
		BUG_IF(!ag_set_grad(m->ctx, m->leaves[i], NULL));
		m->has_grad[i] = false;
	}
	memset(m->expected, 0, sizeof(m->expected));
}

static void check_grads(struct machine *m)
{
	double got[LEAF_SIZE];
	int i, k;

	for (i = 0; i < LEAVES; i++) {
		struct ag_tensor *grad = ag_grad_of(m->leaves[i]);

		for (k = 0; k < LEAF_SIZE; k++) {
			double want = m->expected[i * LEAF_SIZE + k];

			if (!grad) {
				BUG_IF(fabs(want) > 1e-9);
				continue;
			}
			BUG_IF(!ag_read(m->ctx, grad, got, LEAF_SIZE));
			if (fabs(got[k] - want) > 1e-7 * (1 + fabs(want)))
				BUG("leaf %d[%d]: gradient %.12g, the model has %.12g", i, k,
				    got[k], want);
		}
	}
}

static void backward(struct machine *m, const struct variable *a, bool retain)
{
	struct ag_grad_mode mode = ag_enable_grad(m->ctx);
	struct ag_tensor *sum = ag_sum(m->ctx, a->t);
	int z, k;
	bool good;

	BUG_IF(!sum);
	ag_set_grad_mode(m->ctx, mode);
	BUG_IF(ag_requires_grad(sum) != a->history->tracked);
	good = ag_backward(m->ctx, sum, NULL, retain ? AG_RETAIN_GRAPH : 0);
	ag_release(sum);
	if (!good) {
		ag_error_clear(m->ctx);
		forget_grads(m);
		return;
	}
	for (z = 0; z < a->rows * a->cols; z++) {
		for (k = 0; k < INPUTS; k++)
			m->expected[k] += a->history->by[a->cell[z]][k];
	}
	check_grads(m);
}

static void check_values(struct machine *m)
{
	double got[CELLS];
	int i, z;

	for (i = 0; i < VARIABLES; i++) {
		struct variable *v = &m->v[i];

		if (!v->t)
			continue;
		BUG_IF(!ag_read(m->ctx, v->t, got, v->rows * v->cols));
		for (z = 0; z < v->rows * v->cols; z++) {
			double want = v->values->at[v->cell[z]];

			BUG_IF(!(fabs(got[z] - want) <= 1e-9 * (1 + fabs(want))) && isfinite(want));
		}
	}
}

/* ---- what is alive is what the variables reach */

struct census {
	const void *seen[4096];
	size_t count;
	uint64_t bytes, nodes, tensors;
	bool full;
};

static bool first_time(struct census *c, const void *object)
{
	size_t i;

	for (i = 0; i < c->count; i++) {
		if (c->seen[i] == object)
			return false;
	}
	if (c->count == sizeof(c->seen) / sizeof(c->seen[0])) {
		c->full = true;
		return false;
	}
	c->seen[c->count++] = object;
	return true;
}

static bool take(void *data, const struct ag_reach *reach)
{
	struct census *c = data;

	if (reach->node) {
		c->nodes += first_time(c, reach->node) && strcmp(reach->role, "inner") != 0;
		return !c->full;
	}
	c->tensors += first_time(c, reach->tensor);
	if (first_time(c, ag_storage_of(reach->tensor)))
		c->bytes += ag_storage_bytes(ag_storage_of(reach->tensor));
	return !c->full;
}

static void check_alive(struct machine *m)
{
	struct census *c = zeroed(sizeof(*c));
	struct ag_memory memory;
	int i;

	for (i = 0; i < LEAVES; i++)
		ag_reachable(m->ctx, m->leaves[i], NULL, take, c);
	for (i = 0; i < VARIABLES; i++) {
		if (m->v[i].t)
			ag_reachable(m->ctx, m->v[i].t, NULL, take, c);
	}
	ag_memory(m->ctx, &memory);
	if (!c->full && (memory.live_bytes != c->bytes || memory.tensors != c->tensors ||
	                 memory.nodes != c->nodes))
		BUG("%llu bytes, %llu tensors, %llu nodes are alive; reached are %llu, %llu, %llu",
		    (unsigned long long)memory.live_bytes, (unsigned long long)memory.tensors,
		    (unsigned long long)memory.nodes, (unsigned long long)c->bytes,
		    (unsigned long long)c->tensors, (unsigned long long)c->nodes);
	free(c);
}

static void make_leaves(struct machine *m)
{
	int64_t shape[2] = {2, 3};
	double values[LEAF_SIZE];
	int i, k;

	for (i = 0; i < LEAVES; i++) {
		struct variable v;

		for (k = 0; k < LEAF_SIZE; k++)
			values[k] = 0.3 * (i + 1) - 0.17 * k;
		m->leaves[i] = ag_tensor_new(m->ctx, AG_F64, 2, shape, values);
		BUG_IF(!m->leaves[i] || !ag_set_requires_grad(m->ctx, m->leaves[i], true));
		v = fresh(ag_retain(m->leaves[i]), 2, 3, true);
		v.leaf = i;
		memcpy(v.values->at, values, sizeof(values));
		for (k = 0; k < LEAF_SIZE; k++)
			v.history->by[k][i * LEAF_SIZE + k] = 1;
		m->v[i] = v;
	}
}

static void step(struct machine *m, uint8_t op, uint8_t where, uint8_t which)
{
	struct variable a = m->v[where % VARIABLES], b = m->v[which % VARIABLES];
	int to = which / VARIABLES % (VARIABLES - LEAVES) + LEAVES;

	if (!a.t || !b.t)
		return;
	switch (op % 14) {
	case 0:
	case 1:
	case 2:
		binary(m, op % 14, to, &a, &b);
		break;
	case 3:
	case 4:
		inplace(m, op % 14 == 3 ? 0 : 2, &m->v[where % VARIABLES], &b);
		break;
	case 5:
	case 6:
		unary(m, op % 14 - 5, to, &a);
		break;
	/* Views made without recording have a history that comes and goes. */
	case 7:
		if (recording(m))
			turn(m, to, &a);
		break;
	case 8:
		if (recording(m))
			row(m, to, &a, which);
		break;
	case 9:
		copy(m, to, &a);
		break;
	case 10:
		put(m, to, alias(&a, ag_detach(m->ctx, a.t), true));
		break;
	case 11:
		if (where % VARIABLES >= LEAVES)
			unset(&m->v[where % VARIABLES]);
		break;
	case 12:
		backward(m, &a, which & 1);
		break;
	case 13:
		ag_set_grad_mode(m->ctx, (struct ag_grad_mode){!recording(m), false});
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct machine *m = zeroed(sizeof(*m));
	struct ag_memory memory;
	size_t i;
	int k;

	m->ctx = ag_open(NULL);
	make_leaves(m);
	for (i = 0; i + 2 < size && i < 3 * 64; i += 3) {
		step(m, data[i], data[i + 1], data[i + 2]);
		check_values(m);
		check_alive(m);
	}
	for (k = 0; k < VARIABLES; k++)
		unset(&m->v[k]);
	for (k = 0; k < LEAVES; k++)
		ag_release(m->leaves[k]);
	ag_memory(m->ctx, &memory);
	BUG_IF(memory.live_bytes || memory.tensors || memory.nodes || memory.storages);
	ag_close(m->ctx);
	free(m);
	return 0;
}
