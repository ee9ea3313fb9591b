/*
 * Recurrent layers as PyTorch runs them on CPU: cells and layers are ordinary ops with their own
 * nodes, but for the LSTM in single or half precision, which is one oneDNN node a layer and
 * direction.
 */
#include <stdlib.h>
#include <string.h>

#include "runtime/op.h"
#include "runtime/shape.h"

enum { MOST_STEPS = 1 << 20 };

/* ---- short calls */

static struct ag_tensor *linear(struct ag_ctx *ctx, struct ag_tensor *x, struct ag_tensor *w,
                                struct ag_tensor *b)
{
	struct ag_value v[3] = {ag_arg(x), ag_arg(w), b ? ag_arg(b) : ag_none()};

	return x && w ? op_call(ctx, AG_OP_linear, v, 3) : NULL;
}

static struct ag_tensor *in_place(struct ag_ctx *ctx, enum ag_op op, struct ag_tensor *a,
                                  struct ag_tensor *b)
{
	struct ag_value v[2] = {ag_arg(a), ag_arg(b)};

	if (!a || ((op == AG_OP_add || op == AG_OP_mul) && !b))
		return NULL;
	return op_inplace(ctx, op, v, b ? 2 : 1);
}

static struct ag_tensor *transpose01(struct ag_ctx *ctx, struct ag_tensor *x)
{
	return x ? op_transpose(ctx, x, 0, 1) : NULL;
}

/* A list of tensors from an op that gives several; `out` has room for `count`. */
static bool pieces(struct ag_ctx *ctx, enum ag_op op, const struct ag_value *v, uint32_t nv,
                   struct ag_tensor **out, uint32_t count)
{
	struct ag_results results;
	uint32_t i;

	if (!v[0].as.tensor || !ag_run_op(ctx, op, false, v, nv, &results))
		return false;
	for (i = 0; i < count; i++)
		out[i] = scoped(ctx, ag_results_take(&results, i));
	ag_results_release(&results);
	return !count || out[count - 1];
}

static bool chunks(struct ag_ctx *ctx, struct ag_tensor *x, uint32_t count, struct ag_tensor **out)
{
	struct ag_value v[3] = {ag_arg(x), ag_int(count), ag_int(1)};

	return pieces(ctx, AG_OP_unsafe_chunk, v, 3, out, count);
}

static struct ag_tensor *joined(struct ag_ctx *ctx, enum ag_op op, struct ag_tensor *const *list,
                                uint32_t count, int64_t dim)
{
	struct ag_value *items = ag_alloc((size_t)count + 1, sizeof(*items)), v[2];
	struct ag_tensor *out;
	uint32_t i;

	for (i = 0; i < count; i++)
		items[i] = ag_arg(list[i]);
	v[0] = ag_list(items, count);
	v[1] = ag_int(dim);
	out = op_call(ctx, op, v, 2);
	free(items);
	return out;
}

/* ---- cells */

enum cell_kind { CELL_LSTM, CELL_GRU, CELL_TANH, CELL_RELU };

/* The weights of one layer in one direction; biases and projection may be missing. */
struct cell {
	enum cell_kind kind;
	struct ag_tensor *w_ih, *w_hh, *b_ih, *b_hh, *w_hr;
	struct ag_tensor *x; /* of a call by itself; of layers it is projected for all steps */
};

struct state {
	struct ag_tensor *h, *c;
};

/* The state projected comes first, and its nodes do. */
static struct ag_tensor *sum_of_gates(struct ag_ctx *ctx, const struct cell *cell,
                                      struct ag_tensor *projected, const struct state *s)
{
	struct ag_tensor *gates = linear(ctx, s->h, cell->w_hh, cell->b_hh);
	size_t mark = ag_scope_open(ctx);

	if (!projected)
		projected = linear(ctx, cell->x, cell->w_ih, cell->b_ih);
	return ag_scope_keep(ctx, mark, in_place(ctx, AG_OP_add, gates, projected));
}

static bool lstm_step(struct ag_ctx *ctx, const struct cell *cell, struct ag_tensor *projected,
                      struct state *s)
{
	struct ag_tensor *gates = sum_of_gates(ctx, cell, projected, s);
	struct ag_tensor *part[4], *c, *t;

	if (!chunks(ctx, gates, 4, part) || !in_place(ctx, AG_OP_sigmoid, part[0], NULL) ||
	    !in_place(ctx, AG_OP_sigmoid, part[1], NULL) ||
	    !in_place(ctx, AG_OP_tanh, part[2], NULL) ||
	    !in_place(ctx, AG_OP_sigmoid, part[3], NULL))
		return false;
	c = op_mul(ctx, part[1], s->c);
	t = op_mul(ctx, part[0], part[2]);
	c = in_place(ctx, AG_OP_add, c, t);
	if (!c)
		return false;
	s->c = c;
	s->h = op_mul(ctx, part[3], op_tanh(ctx, c));
	if (cell->w_hr)
		s->h = linear(ctx, s->h, cell->w_hr, NULL);
	return s->h != NULL;
}

static bool gru_step(struct ag_ctx *ctx, const struct cell *cell, struct ag_tensor *projected,
                     struct state *s)
{
	struct ag_tensor *in[3], *hid[3], *fresh, *out;

	if (!projected)
		projected = linear(ctx, cell->x, cell->w_ih, cell->b_ih);
	if (!chunks(ctx, projected, 3, in) ||
	    !chunks(ctx, linear(ctx, s->h, cell->w_hh, cell->b_hh), 3, hid))
		return false;
	for (int i = 0; i < 2; i++) {
		hid[i] =
		        in_place(ctx, AG_OP_sigmoid, in_place(ctx, AG_OP_add, hid[i], in[i]), NULL);
		if (!hid[i])
			return false;
	}
	fresh = in_place(ctx, AG_OP_mul, hid[2], hid[0]);
	fresh = fresh ? op_add(ctx, in[2], fresh) : NULL;
	fresh = in_place(ctx, AG_OP_tanh, fresh, NULL);
	if (!fresh)
		return false;
	out = in_place(ctx, AG_OP_mul, op_sub(ctx, s->h, fresh), hid[1]);
	s->h = in_place(ctx, AG_OP_add, out, fresh);
	return s->h != NULL;
}

static bool simple_step(struct ag_ctx *ctx, const struct cell *cell, struct ag_tensor *projected,
                        struct state *s)
{
	struct ag_tensor *sum = linear(ctx, s->h, cell->w_hh, cell->b_hh);

	if (!projected)
		projected = linear(ctx, cell->x, cell->w_ih, cell->b_ih);
	sum = in_place(ctx, AG_OP_add, sum, projected);
	if (!sum)
		return false;
	s->h = cell->kind == CELL_TANH ? op_tanh(ctx, sum) : op_relu(ctx, sum);
	return s->h != NULL;
}

/* Closes, but for a state and a result. */
static void close_around(struct ag_ctx *ctx, size_t mark, const struct state *s,
                         struct ag_tensor **out)
{
	struct ag_tensor *kept[3] = {s->h, s->c, out ? *out : NULL};

	for (int i = 0; i < 3; i++) {
		if (kept[i])
			ag_retain(kept[i]);
	}
	ag_scope_close(ctx, mark);
	for (int i = 0; i < 3; i++)
		scoped(ctx, kept[i]);
}

static bool step(struct ag_ctx *ctx, const struct cell *cell, struct ag_tensor *projected,
                 struct state *s)
{
	size_t mark = ag_scope_open(ctx);
	bool good;

	if (!projected && !cell->x)
		return false;
	if (cell->kind == CELL_LSTM)
		good = lstm_step(ctx, cell, projected, s);
	else
		good = cell->kind == CELL_GRU ? gru_step(ctx, cell, projected, s)
		                              : simple_step(ctx, cell, projected, s);
	close_around(ctx, mark, s, NULL);
	return good;
}

/* Shapes of one cell call: x [B, I], h [B, H]. */
static bool cell_fits(struct ag_frame *f, const struct cell *cell, const struct ag_tensor *x,
                      const struct ag_tensor *h)
{
	if (x->ndim != 2 || h->ndim != 2 || cell->w_ih->ndim != 2 || cell->w_hh->ndim != 2)
		return ag_fail(f->ctx, AG_ERR_RUNTIME, "%s: expected 2-dimensional inputs",
		               ag_op_info(f->op)->id);
	if (x->shape[1] != cell->w_ih->shape[1])
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "input has inconsistent input_size: got %lld expected %lld",
		               (long long)x->shape[1], (long long)cell->w_ih->shape[1]);
	if (x->shape[0] != h->shape[0])
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "Input batch size %lld doesn't match hidden0 batch size %lld",
		               (long long)x->shape[0], (long long)h->shape[0]);
	if (h->shape[1] != cell->w_hh->shape[1])
		return ag_fail(f->ctx, AG_ERR_RUNTIME,
		               "hidden0 has inconsistent hidden_size: got %lld, expected %lld",
		               (long long)h->shape[1], (long long)cell->w_hh->shape[1]);
	return true;
}

static bool run_cell(struct ag_frame *f, enum cell_kind kind)
{
	struct cell cell = {kind,        arg_t(f, 2), arg_t(f, 3), arg_t(f, 4),
	                    arg_t(f, 5), NULL,        arg_t(f, 0)};
	struct state s = {NULL, NULL};

	if (kind != CELL_LSTM) {
		s.h = arg_t(f, 1);
	} else if (arg_list(f, 1) == 2) {
		s.h = arg_list_t(f, 1, 0);
		s.c = arg_list_t(f, 1, 1);
	}
	if (!s.h)
		return ag_fail(f->ctx, AG_ERR_RUNTIME, "lstm_cell expects two hidden states");
	if (!cell_fits(f, &cell, arg_t(f, 0), s.h))
		return false;
	if (!step(f->ctx, &cell, NULL, &s))
		return false;
	return ag_give_ref(f, s.h) && (kind != CELL_LSTM || ag_give_ref(f, s.c));
}

bool op_run_lstm_cell(struct ag_frame *f)
{
	return run_cell(f, CELL_LSTM);
}

bool op_run_gru_cell(struct ag_frame *f)
{
	return run_cell(f, CELL_GRU);
}

bool op_run_rnn_tanh_cell(struct ag_frame *f)
{
	return run_cell(f, CELL_TANH);
}

bool op_run_rnn_relu_cell(struct ag_frame *f)
{
	return run_cell(f, CELL_RELU);
}

/* ---- one layer in one direction: steps of ordinary ops */

static bool run_steps(struct ag_ctx *ctx, const struct cell *cell, struct ag_tensor *x,
                      bool reverse, struct state *s, struct ag_tensor **out)
{
	size_t mark = ag_scope_open(ctx);
	struct ag_tensor *projected = linear(ctx, x, cell->w_ih, cell->b_ih);
	struct ag_value v[2] = {ag_arg(projected), ag_int(0)};
	uint32_t steps = (uint32_t)x->shape[0], i;
	struct ag_tensor **parts = ag_alloc((size_t)steps + 1, 2 * sizeof(*parts));
	struct ag_tensor **outputs = parts + steps;
	bool good = pieces(ctx, AG_OP_unbind, v, 2, parts, steps);

	for (i = 0; good && i < steps; i++) {
		uint32_t t = reverse ? steps - 1 - i : i;

		good = step(ctx, cell, parts[t], s);
		outputs[t] = s->h;
	}
	*out = good ? joined(ctx, AG_OP_stack, outputs, steps, 0) : NULL;
	free(parts);
	close_around(ctx, mark, s, out);
	return *out != NULL;
}

/* ---- or one oneDNN node */

static bool uses_onednn(const struct cell *cell, const struct ag_tensor *x)
{
	return cell->kind == CELL_LSTM && !cell->w_hr && x->dtype == AG_F32 &&
	       ag_tensor_device(x) == AG_CPU && x->numel != 0;
}

static bool run_onednn(struct ag_ctx *ctx, const struct cell *cell, struct ag_tensor *x,
                       bool reverse, struct state *s, struct ag_tensor **out)
{
	struct ag_tensor *b_ih = cell->b_ih, *b_hh = cell->b_hh, *all[3];
	struct ag_value v[8];
	int i;

	if (!b_ih) {
		/* PyTorch makes them as large as the weights. */
		b_ih = op_zeros_as(ctx, cell->w_ih);
		b_hh = op_zeros_as(ctx, cell->w_hh);
	}
	v[0] = ag_arg(x);
	v[1] = ag_arg(cell->w_ih);
	v[2] = ag_arg(cell->w_hh);
	v[3] = ag_arg(b_ih);
	v[4] = ag_arg(b_hh);
	v[5] = ag_arg(s->h);
	v[6] = ag_arg(s->c);
	v[7] = ag_bool(reverse);
	for (i = 0; i < 7; i++) {
		if (!v[i].as.tensor)
			return false;
	}
	if (!pieces(ctx, AG_OP_mkldnn_rnn_layer, v, 8, all, 3))
		return false;
	*out = all[0];
	s->h = all[1];
	s->c = all[2];
	return true;
}

/* ---- layers */

struct stack {
	struct ag_frame *f;
	enum cell_kind kind;
	int64_t layers;
	uint32_t directions, per_cell;
	bool biases, projected;
	struct ag_tensor *x, *h, *c;
	struct ag_tensor **final_h, **final_c;
};

static struct cell cell_at(const struct stack *s, uint32_t index)
{
	uint32_t at = index * s->per_cell;
	struct cell cell = {.kind = s->kind};

	cell.w_ih = arg_list_t(s->f, 2, at++);
	cell.w_hh = arg_list_t(s->f, 2, at++);
	if (s->biases) {
		cell.b_ih = arg_list_t(s->f, 2, at++);
		cell.b_hh = arg_list_t(s->f, 2, at++);
	}
	if (s->projected)
		cell.w_hr = arg_list_t(s->f, 2, at);
	return cell;
}

static bool run_direction(struct stack *s, struct ag_tensor *x, uint32_t index,
                          struct ag_tensor **out)
{
	struct ag_ctx *ctx = s->f->ctx;
	struct cell cell = cell_at(s, index);
	struct state state = {op_select(ctx, s->h, 0, index),
	                      s->c ? op_select(ctx, s->c, 0, index) : NULL};
	bool reverse = index % s->directions == 1, good;

	if (!state.h || (s->c && !state.c))
		return false;
	good = uses_onednn(&cell, x) ? run_onednn(ctx, &cell, x, reverse, &state, out)
	                             : run_steps(ctx, &cell, x, reverse, &state, out);
	s->final_h[index] = state.h;
	s->final_c[index] = state.c;
	return good;
}

static struct ag_tensor *dropped(struct stack *s, struct ag_tensor *x, double p)
{
	struct ag_value v[3] = {ag_arg(x), ag_float(p), ag_bool(true)};
	struct ag_args args = {.at = v, .count = 3};
	struct ag_results results;
	struct ag_tensor *out;

	if (!ag_call(s->f->ctx, "torch.dropout", &args, &results))
		return NULL;
	out = scoped(s->f->ctx, ag_results_take(&results, 0));
	ag_results_release(&results);
	return out;
}

/* Of a layer its result and its states are left. */
static struct ag_tensor *close_layer(struct stack *s, size_t mark, uint32_t first,
                                     struct ag_tensor *x)
{
	uint32_t i, end = first + s->directions;

	for (i = first; i < end; i++) {
		if (s->final_h[i])
			ag_retain(s->final_h[i]);
		if (s->final_c[i])
			ag_retain(s->final_c[i]);
	}
	x = ag_scope_keep(s->f->ctx, mark, x);
	for (i = first; i < end; i++) {
		scoped(s->f->ctx, s->final_h[i]);
		scoped(s->f->ctx, s->final_c[i]);
	}
	return x;
}

static struct ag_tensor *run_layers(struct stack *s)
{
	double p = arg_f(s->f, 5);
	struct ag_tensor *x = s->x, *out[2];
	uint32_t layer, d;
	size_t mark;

	for (layer = 0; layer < s->layers; layer++) {
		mark = ag_scope_open(s->f->ctx);
		for (d = 0; d < s->directions; d++) {
			if (!run_direction(s, x, layer * s->directions + d, &out[d]))
				return NULL;
		}
		x = s->directions == 2 ? joined(s->f->ctx, AG_OP_cat, out, 2, -1) : out[0];
		if (x && p > 0 && arg_b(s->f, 6) && layer + 1 < s->layers)
			x = dropped(s, x, p);
		x = close_layer(s, mark, layer * s->directions, x);
		if (!x)
			return NULL;
	}
	return x;
}

static bool stack_fits(const struct stack *s)
{
	struct ag_ctx *ctx = s->f->ctx;
	uint32_t cells = (uint32_t)s->layers * s->directions, i;
	const struct ag_tensor *w;

	if (s->layers < 1 || arg_list(s->f, 2) != cells * s->per_cell)
		return ag_fail(ctx, AG_ERR_RUNTIME, "got an incorrect number of RNN parameters");
	for (i = 0; i < arg_list(s->f, 2); i++) {
		if (!arg_list_t(s->f, 2, i))
			return ag_fail(ctx, AG_ERR_RUNTIME, "an RNN parameter is missing");
	}
	w = arg_list_t(s->f, 2, 0);
	if (s->x->ndim != 3)
		return ag_fail(ctx, AG_ERR_RUNTIME, "input must have 3 dimensions, got %d",
		               s->x->ndim);
	if (s->x->dtype != w->dtype || s->x->dtype != s->h->dtype)
		return ag_fail(ctx, AG_ERR_RUNTIME,
		               "Input and parameter tensors are not the same dtype, found input "
		               "tensor with %s and parameter tensor with %s",
		               ag_dtype_name((enum ag_dtype)s->x->dtype),
		               ag_dtype_name((enum ag_dtype)w->dtype));
	if (w->ndim != 2 || s->x->shape[2] != w->shape[1])
		return ag_fail(
		        ctx, AG_ERR_RUNTIME,
		        "input.size(-1) must be equal to input_size. Expected %lld, got %lld",
		        (long long)(w->ndim == 2 ? w->shape[1] : 0), (long long)s->x->shape[2]);
	if (s->h->ndim != 3 || s->h->shape[0] != cells ||
	    (s->c && (s->c->ndim != 3 || s->c->shape[0] != cells)))
		return ag_fail(ctx, AG_ERR_RUNTIME, "Expected hidden size of %u layers", cells);
	if (s->x->shape[0] < 1 || s->x->shape[0] > MOST_STEPS)
		return ag_fail(ctx, AG_ERR_RUNTIME,
		               "Expected sequence length to be larger than 0 in RNN");
	return true;
}

static bool give_finals(struct stack *s, struct ag_tensor **list)
{
	uint32_t cells = (uint32_t)s->layers * s->directions;
	struct ag_tensor *all = joined(s->f->ctx, AG_OP_stack, list, cells, 0);

	return all && ag_give_ref(s->f, all);
}

static bool stack_open(struct stack *s, struct ag_frame *f, enum cell_kind kind)
{
	memset(s, 0, sizeof(*s));
	s->f = f;
	s->kind = kind;
	s->layers = arg_i(f, 4);
	s->directions = arg_b(f, 7) ? 2 : 1;
	s->biases = arg_b(f, 3);
	s->x = arg_t(f, 0);
	s->h = kind == CELL_LSTM ? (arg_list(f, 1) ? arg_list_t(f, 1, 0) : NULL) : arg_t(f, 1);
	if (kind == CELL_LSTM && arg_list(f, 1) == 2)
		s->c = arg_list_t(f, 1, 1);
	if (!s->h || (kind == CELL_LSTM && !s->c))
		return ag_fail(f->ctx, AG_ERR_RUNTIME, "lstm expects two hidden states");
	s->projected =
	        s->c && s->h->ndim == 3 && s->c->ndim == 3 && s->h->shape[2] != s->c->shape[2];
	s->per_cell = 2 + 2 * s->biases + s->projected;
	if (s->layers > 4096)
		return ag_fail(f->ctx, AG_ERR_RUNTIME, "more than 4096 layers are not supported");
	return stack_fits(s);
}

/* As transpose_(0, 1) leaves a fresh result: no view of another tensor. */
static struct ag_tensor *transposed_in_place(struct ag_ctx *ctx, struct ag_tensor *x)
{
	struct ag_tensor *t = scoped(ctx, ag_first_dims_swapped(x));
	struct ag_node *node = t ? ag_record1(ctx, AG_NODE_TransposeInplace, x, 0, 0) : NULL;

	if (node)
		ag_set_history(t, node);
	ag_node_release(node);
	return t;
}

bool bw_TransposeInplace(struct ag_bw *b)
{
	B_SET(0, transpose01(B_CTX, B_GRAD));
	return true;
}

static bool run_stack(struct ag_frame *f, enum cell_kind kind)
{
	bool batch_first = arg_b(f, 8), good = false;
	struct ag_tensor *out;
	struct stack s;
	size_t cells;

	if (!stack_open(&s, f, kind))
		return false;
	if (batch_first)
		s.x = transpose01(f->ctx, s.x);
	if (s.x && kind == CELL_LSTM && s.x->dtype == AG_F32 && !s.projected)
		s.x = op_contiguous(f->ctx, s.x);
	cells = (size_t)s.layers * s.directions;
	s.final_h = ag_alloc(2 * cells, sizeof(*s.final_h));
	s.final_c = s.final_h + cells;
	out = s.x ? run_layers(&s) : NULL;
	if (out && batch_first)
		out = kind == CELL_LSTM && arg_t(f, 0)->dtype == AG_F32 && !s.projected
		              ? transpose01(f->ctx, out)
		              : transposed_in_place(f->ctx, out);
	if (out)
		good = ag_give_ref(f, out) && give_finals(&s, s.final_h) &&
		       (kind != CELL_LSTM || give_finals(&s, s.final_c));
	free(s.final_h);
	return good;
}

bool op_run_lstm(struct ag_frame *f)
{
	return run_stack(f, CELL_LSTM);
}

bool op_run_gru(struct ag_frame *f)
{
	return run_stack(f, CELL_GRU);
}

bool op_run_rnn_tanh(struct ag_frame *f)
{
	return run_stack(f, CELL_TANH);
}

bool op_run_rnn_relu(struct ag_frame *f)
{
	return run_stack(f, CELL_RELU);
}
