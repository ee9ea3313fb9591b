#include "tests/model_runner.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* check's own assertions leave a message each, which an hour of programs cannot afford. */
void model_need(bool good)
{
	if (!good)
		ck_abort_msg("the model itself failed");
}

int model_roll(struct model *m, int sides)
{
	return (int)(ag_mersenne_next(&m->dice) % (uint32_t)sides);
}

void __attribute__((format(printf, 2, 3))) model_note(struct model *m, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(m->trace + m->trace_used, sizeof(m->trace) - m->trace_used, format, args);
	va_end(args);
	if (n > 0 && m->trace_used + (size_t)n < sizeof(m->trace))
		m->trace_used += (size_t)n;
}

int model_numel(const struct m_tensor *t)
{
	int n = 1;

	for (int d = 0; d < t->ndim; d++)
		n *= t->shape[d];
	return n;
}

int model_new_tensor(struct model *m, int ndim, const int *shape)
{
	struct m_tensor *t = &m->tensor[m->tensors];
	struct m_storage *s = &m->storage[m->storages];

	model_need(m->tensors < MOST_OBJECTS);
	memset(t, 0, sizeof(*t));
	memset(s, 0, sizeof(*s));
	t->ndim = ndim;
	for (int d = 0; d < ndim; d++)
		t->shape[d] = shape[d];
	t->storage = m->storages++;
	t->node = t->base = t->grad = t->leaf = NONE;
	s->size = model_numel(t);
	for (int i = 0; i < s->size; i++)
		t->at[i] = i;
	return m->tensors++;
}

int model_new_node(struct model *m)
{
	struct m_node *n = &m->node[m->nodes];

	model_need(m->nodes < MOST_OBJECTS);
	memset(n, 0, sizeof(*n));
	n->edge[0] = n->edge[1] = n->saved_result = n->accumulates = NONE;
	return m->nodes++;
}

double *model_value(struct model *m, int t, int i)
{
	return &m->storage[m->tensor[t].storage].value[m->tensor[t].at[i]];
}

double *model_slope(struct model *m, int t, int i)
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

void model_mark_all(struct model *m)
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

void model_mismatch(const struct model *m, const char *what, double got, double want)
{
	ck_abort_msg("%s: %.12g, not %.12g, after:\n%s", what, got, want, m->trace);
}

static void compare_tensor(struct model *m, int t, const struct ag_tensor *handle, const char *what)
{
	const struct m_tensor *tensor = &m->tensor[t];
	double values[MOST_ELEMENTS];
	int n = model_numel(tensor);

	if (ag_numel(handle) != n || ag_ndim(handle) != tensor->ndim)
		model_mismatch(m, "number of elements", (double)ag_numel(handle), n);
	if (!ag_read(m->ctx, handle, values, n))
		ck_abort_msg("%s", ag_error(m->ctx)->text);
	for (int i = 0; i < n; i++) {
		double want = *model_value(m, t, i);
		if (fabs(values[i] - want) > 1e-9 * (1 + fabs(want)) &&
		    !(isnan(want) && isnan(values[i])))
			model_mismatch(m, what, values[i], want);
	}
	if (ag_requires_grad(handle) != tensor->requires_grad)
		model_mismatch(m, "requires_grad", ag_requires_grad(handle), tensor->requires_grad);
}

/* What holds a tensor: variables, nodes that saved it, its accumulator, views, a .grad. */
static uint32_t references(const struct model *m, int t)
{
	uint32_t count = 0;

	for (int i = 0; i < VARIABLES; i++)
		count += m->variable[i] == t;
	for (int i = 0; i < LEAVES; i++)
		count += m->leaf[i] == t;
	for (int i = 0; i < m->tensors; i++)
		count += m->tensor[i].marked && (m->tensor[i].base == t || m->tensor[i].grad == t);
	for (int i = 0; i < m->nodes; i++) {
		const struct m_node *n = &m->node[i];

		if (!n->marked)
			continue;
		count += n->accumulates == t;
		for (int k = 0; k < n->saved_count && !n->freed; k++)
			count += n->saved[k] == t;
	}
	return count;
}

void model_compare(struct model *m)
{
	struct ag_memory memory;
	double bytes = 0;
	double nodes = 0;

	model_mark_all(m);
	for (int i = 0; i < m->storages; i++)
		bytes += m->storage[i].marked ? 8.0 * m->storage[i].size : 0;
	for (int i = 0; i < m->nodes; i++)
		nodes += m->node[i].marked;
	for (int i = 0; i < VARIABLES; i++) {
		if (m->variable[i] == NONE)
			continue;
		compare_tensor(m, m->variable[i], m->handle[i], "value");
		if (ag_refs(m->handle[i]) != references(m, m->variable[i]))
			model_mismatch(m, "references", ag_refs(m->handle[i]),
			               references(m, m->variable[i]));
	}
	for (int i = 0; i < LEAVES; i++) {
		struct ag_tensor *grad = ag_grad_of(m->leaf_handle[i]);
		int want = m->tensor[m->leaf[i]].grad;
		if ((grad != NULL) != (want != NONE))
			model_mismatch(m, "gradient there", grad != NULL, want != NONE);
		if (grad)
			compare_tensor(m, want, grad, "gradient");
	}
	ag_memory(m->ctx, &memory);
	if ((double)memory.live_bytes != bytes)
		model_mismatch(m, "live bytes", (double)memory.live_bytes, bytes);
	if ((double)memory.nodes != nodes)
		model_mismatch(m, "live nodes", (double)memory.nodes, nodes);
}
