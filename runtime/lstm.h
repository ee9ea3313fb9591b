#ifndef GRAPHLINT_RUNTIME_LSTM_H
#define GRAPHLINT_RUNTIME_LSTM_H

/* One LSTM layer in one direction on plain arrays: PyTorch runs it as one oneDNN kernel on CPU.
 * Gates are in PyTorch's order: input, forget, cell, output. */

#include <stdbool.h>
#include <stdint.h>

struct lstm {
	int64_t steps, batch, inputs, hidden;
	bool reverse;
	/* [steps, batch, inputs], [4 hidden, inputs], [4 hidden, hidden], [4 hidden] twice,
	 * [batch, hidden] twice; in this order. The struct owns them after lstm_open. */
	double *x, *w, *u, *b, *c, *h0, *c0;
	double *gates; /* [steps, batch, 4 hidden], after their functions */
	double *cells; /* [steps + 1, batch, hidden], in the order of computation */
	double *states;
};

/* Gradients: those of the results come in, the others are made by lstm_backward. */
struct lstm_gradients {
	const double *output, *h, *c; /* of output, final h and c; NULL: zero */
	double *x, *w, *u, *b, *h0, *c0;
};

void lstm_forward(struct lstm *l);
void lstm_output(const struct lstm *l, double *output); /* [steps, batch, hidden] */
const double *lstm_final(const struct lstm *l, const double *all);
void lstm_backward(const struct lstm *l, struct lstm_gradients *g);
void lstm_release(struct lstm *l);
/* Bytes of the workspace that oneDNN keeps from forward to backward. */
int64_t lstm_workspace(const struct lstm *l);

#endif
