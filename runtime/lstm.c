#include "runtime/lstm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/core.h"

static double logistic(double x)
{
	return 1.0 / (1.0 + exp(-x));
}

static int64_t time_of(const struct lstm *l, int64_t step)
{
	return l->reverse ? l->steps - 1 - step : step;
}

static double dot(const double *a, const double *b, int64_t n)
{
	double sum = 0;

	for (int64_t i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

static void add_scaled(double *sum, const double *a, double scale, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		sum[i] += a[i] * scale;
}

/* One step of one sequence of the batch. */
static void forward_one(const struct lstm *l, const double *x, const double *h, const double *c,
                        double *gates, double *next_h, double *next_c)
{
	int64_t n = l->hidden, i;

	for (i = 0; i < 4 * n; i++) {
		double sum = l->b[i] + l->c[i] + dot(x, l->w + i * l->inputs, l->inputs) +
		             dot(h, l->u + i * n, n);

		gates[i] = i / n == 2 ? tanh(sum) : logistic(sum);
	}
	for (i = 0; i < n; i++) {
		next_c[i] = gates[n + i] * c[i] + gates[i] * gates[2 * n + i];
		next_h[i] = gates[3 * n + i] * tanh(next_c[i]);
	}
}

void lstm_forward(struct lstm *l)
{
	int64_t n = l->hidden, row = l->batch * n, s, k;

	l->gates = ag_alloc((size_t)(l->steps * 4 * row) + 1, sizeof(double));
	l->cells = ag_alloc((size_t)((l->steps + 1) * row) + 1, sizeof(double));
	l->states = ag_alloc((size_t)((l->steps + 1) * row) + 1, sizeof(double));
	memcpy(l->cells, l->c0, (size_t)row * sizeof(double));
	memcpy(l->states, l->h0, (size_t)row * sizeof(double));
	for (s = 0; s < l->steps; s++) {
		for (k = 0; k < l->batch; k++) {
			int64_t at = s * row + k * n,
			        x = (time_of(l, s) * l->batch + k) * l->inputs;

			forward_one(l, l->x + x, l->states + at, l->cells + at, l->gates + 4 * at,
			            l->states + at + row, l->cells + at + row);
		}
	}
}

void lstm_output(const struct lstm *l, double *output)
{
	int64_t row = l->batch * l->hidden;

	for (int64_t s = 0; s < l->steps; s++)
		memcpy(output + time_of(l, s) * row, l->states + (s + 1) * row,
		       (size_t)row * sizeof(double));
}

const double *lstm_final(const struct lstm *l, const double *all)
{
	return all + l->steps * l->batch * l->hidden;
}

/* The gradients of the gates before their functions; dc becomes that of the cell before. */
static void gate_gradients(const struct lstm *l, const double *gates, const double *cells,
                           const double *next_cells, const double *dh, double *dc, double *out)
{
	int64_t n = l->hidden, i;

	for (i = 0; i < n; i++) {
		double in = gates[i], forget = gates[n + i], cell = gates[2 * n + i],
		       o = gates[3 * n + i];
		double t = tanh(next_cells[i]), d = dc[i] + dh[i] * o * (1 - t * t);

		out[i] = d * cell * in * (1 - in);
		out[n + i] = d * cells[i] * forget * (1 - forget);
		out[2 * n + i] = d * in * (1 - cell * cell);
		out[3 * n + i] = dh[i] * t * o * (1 - o);
		dc[i] = d * forget;
	}
}

/* From the gates' gradients to those of everything that went in; dh is replaced. */
static void spread(const struct lstm *l, struct lstm_gradients *g, const double *gates, int64_t x,
                   const double *h, double *dh)
{
	int64_t n = l->hidden, i;

	memset(dh, 0, (size_t)n * sizeof(*dh));
	for (i = 0; i < 4 * n; i++) {
		g->b[i] += gates[i];
		add_scaled(g->w + i * l->inputs, l->x + x, gates[i], l->inputs);
		add_scaled(g->u + i * n, h, gates[i], n);
		add_scaled(g->x + x, l->w + i * l->inputs, gates[i], l->inputs);
		add_scaled(dh, l->u + i * n, gates[i], n);
	}
}

void lstm_backward(const struct lstm *l, struct lstm_gradients *g)
{
	int64_t n = l->hidden, row = l->batch * n, s, k;
	double *gates = ag_alloc((size_t)(4 * n) + 1, sizeof(*gates));

	if (g->h)
		memcpy(g->h0, g->h, (size_t)row * sizeof(double));
	if (g->c)
		memcpy(g->c0, g->c, (size_t)row * sizeof(double));
	for (s = l->steps; s-- > 0;) {
		for (k = 0; k < l->batch; k++) {
			int64_t at = s * row + k * n, t = time_of(l, s) * l->batch + k;
			double *dh = g->h0 + k * n;

			if (g->output)
				add_scaled(dh, g->output + t * n, 1, n);
			gate_gradients(l, l->gates + 4 * at, l->cells + at, l->cells + at + row, dh,
			               g->c0 + k * n, gates);
			spread(l, g, gates, t * l->inputs, l->states + at, dh);
		}
	}
	free(gates);
}

void lstm_release(struct lstm *l)
{
	free(l->x);
	free(l->w);
	free(l->u);
	free(l->b);
	free(l->c);
	free(l->h0);
	free(l->c0);
	free(l->gates);
	free(l->cells);
	free(l->states);
}

/* oneDNN pads rows to 64 bytes, and by 64 more when they would be multiples of 1 KiB. */
static int64_t padded(int64_t n)
{
	n = (n + 15) / 16 * 16;
	return n * 4 % 1024 == 0 ? n + 16 : n;
}

static int64_t pages(int64_t floats)
{
	return (floats * 4 + 4095) / 4096 * 4096;
}

/*
 * Found by measuring 67 shapes (oneDNN as PyTorch 2.13 ships it, float32): seven parts, each from
 * a page of its own. Gates; states of layer and iteration for two layers (input and output) with
 * one more step, three of them as wide as the wider of input and hidden, two unpadded; and one of
 * the hidden size.
 */
int64_t lstm_workspace(const struct lstm *l)
{
	int64_t wide = l->inputs > l->hidden ? l->inputs : l->hidden;
	int64_t rows = ag_times(l->steps, l->batch), more = 2 * ag_times(l->steps + 1, l->batch);

	if (ag_times(more + 1, wide + 16) > AG_MOST_ELEMENTS)
		return AG_TOO_MUCH;

	return pages(rows * padded(4 * l->hidden)) + 3 * pages(more * padded(wide)) +
	       2 * pages(more * l->hidden) + pages(rows * padded(l->hidden));
}
