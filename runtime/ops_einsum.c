/* einsum: operands are brought to one order of labels, then multiplied in
 * pairs from the left, each pair as one bmm. */

#include <string.h>

#include "runtime/op.h"
#include "runtime/shape.h"

enum { EIN_LETTERS = 52, EIN_LABELS = EIN_LETTERS + AG_MAX_DIMS, EIN_OPERANDS = 16 };

struct ein {
	struct ag_ctx *c;
	int operands;
	int labels[EIN_OPERANDS][AG_MAX_DIMS]; /* per operand and dimension */
	struct ag_tensor *at[EIN_OPERANDS];
	int place[EIN_LABELS]; /* in the common order, -1: unused */
	int last[EIN_LABELS];  /* last operand that has it */
	int nout, ndim;
};

static int label_of(char ch)
{
	if (ch >= 'A' && ch <= 'Z')
		return ch - 'A';
	if (ch >= 'a' && ch <= 'z')
		return ch - 'a' + 26;
	return -1;
}

/* Labels of one operand's text; an ellipsis takes the dimensions left over. */
static bool read_labels(struct ein *e, const char *text, size_t n, int ndim, int *labels,
                        int *count)
{
	size_t i, letters = 0;
	int extra, k;

	*count = 0;
	for (i = 0; i < n; i++)
		letters += label_of(text[i]) >= 0;
	extra = ndim - (int)letters;
	for (i = 0; i < n; i++) {
		if (text[i] == ' ')
			continue;
		if (i + 2 < n && !memcmp(text + i, "...", 3)) {
			for (k = 0; k < extra && *count < AG_MAX_DIMS; k++)
				labels[(*count)++] = EIN_LABELS - extra + k;
			i += 2;
		} else if (label_of(text[i]) >= 0 && *count < AG_MAX_DIMS) {
			labels[(*count)++] = label_of(text[i]);
		} else {
			return ag_fail(
			        e->c, AG_ERR_RUNTIME,
			        "einsum(): invalid subscript given, only letters are allowed");
		}
	}
	return true;
}

/* A label twice in one operand: its diagonal. */
static bool diagonals(struct ein *e, int op, int *count)
{
	int i, j;

	for (i = 0; i < *count; i++) {
		for (j = i + 1; j < *count; j++) {
			struct ag_value v[4] = {ag_arg(e->at[op]), ag_int(0), ag_int(i), ag_int(j)};

			if (e->labels[op][i] != e->labels[op][j])
				continue;
			e->at[op] = op_call(e->c, AG_OP_diagonal, v, 4);
			if (!e->at[op])
				return false;
			/* The diagonal comes last. */
			{
				int label = e->labels[op][i], k, n = 0;

				for (k = 0; k < *count; k++) {
					if (k != i && k != j)
						e->labels[op][n++] = e->labels[op][k];
				}
				e->labels[op][n++] = label;
				*count = n;
				i = j = *count;
			}
		}
	}
	return true;
}

static bool read_operand(struct ein *e, const char *text, size_t n, int op)
{
	int count, i;

	if (!read_labels(e, text, n, e->at[op]->ndim, e->labels[op], &count))
		return false;
	if (count != e->at[op]->ndim)
		return ag_fail(e->c, AG_ERR_RUNTIME,
		               "einsum(): the number of subscripts in the equation (%d) does not "
		               "match the number of dimensions (%d) for operand %d",
		               count, e->at[op]->ndim, op);
	while (diagonals(e, op, &count) && count != e->at[op]->ndim)
		return false;
	for (i = 0; i < count; i++)
		e->last[e->labels[op][i]] = op;
	return e->at[op] != NULL;
}

/* The output as the equation says it. */
static bool written_output(struct ein *e, const char *text, size_t n, const int *times, int *labels,
                           int *count)
{
	int i, ndim = 0;

	for (i = EIN_LETTERS; i < EIN_LABELS; i++)
		ndim += times[i] > 0;
	for (i = 0; i < (int)n; i++)
		ndim += label_of(text[i]) >= 0;
	return read_labels(e, text, n, ndim, labels, count);
}

/* Without one: what the dots stand for, then the letters that occur once. */
static int implied_output(const int *times, int *labels)
{
	int i, count = 0;

	for (i = EIN_LETTERS; i < EIN_LABELS && count < AG_MAX_DIMS; i++) {
		if (times[i])
			labels[count++] = i;
	}
	for (i = 0; i < EIN_LETTERS && count < AG_MAX_DIMS; i++) {
		if (times[i] == 1)
			labels[count++] = i;
	}
	return count;
}

/* Output labels first, in their order; then the others in theirs. */
static bool order_labels(struct ein *e, const char *arrow, size_t n)
{
	int labels[AG_MAX_DIMS], count = 0, i, times[EIN_LABELS] = {0}, op, d;

	for (i = 0; i < EIN_LABELS; i++)
		e->place[i] = -1;
	for (op = 0; op < e->operands; op++) {
		for (d = 0; d < e->at[op]->ndim; d++)
			times[e->labels[op][d]]++;
	}
	if (!arrow)
		count = implied_output(times, labels);
	else if (!written_output(e, arrow, n, times, labels, &count))
		return false;
	for (i = 0; i < count; i++) {
		if (!times[labels[i]] || e->place[labels[i]] >= 0)
			return ag_fail(e->c, AG_ERR_RUNTIME,
			               "einsum(): output subscript does not appear in the equation "
			               "for any input operand");
		e->place[labels[i]] = i;
	}
	e->nout = e->ndim = count;
	for (i = 0; i < EIN_LABELS; i++) {
		if (times[i] && e->place[i] < 0)
			e->place[i] = e->ndim++;
	}
	if (e->ndim > AG_MAX_DIMS)
		return ag_fail(e->c, AG_ERR_RUNTIME,
		               "einsum with more than %d labels is not supported", AG_MAX_DIMS);
	return true;
}

/* Missing labels become dimensions of one at the end, then all are permuted. */
static bool align(struct ein *e, int op)
{
	int64_t dims[AG_MAX_DIMS];
	int d, p, n = e->at[op]->ndim, from[AG_MAX_DIMS];

	for (p = 0; p < e->ndim; p++)
		from[p] = -1;
	for (d = 0; d < n; d++)
		from[e->place[e->labels[op][d]]] = d;
	for (p = 0; p < e->ndim && e->at[op]; p++) {
		if (from[p] >= 0)
			continue;
		e->at[op] = op_unsqueeze(e->c, e->at[op], n);
		from[p] = n++;
	}
	for (p = 0; p < e->ndim; p++)
		dims[p] = from[p];
	e->at[op] = op_permute(e->c, e->at[op], dims, e->ndim);
	return e->at[op] != NULL;
}

/* Which role a dimension plays in a product of two. */
struct pair {
	int both[AG_MAX_DIMS], left[AG_MAX_DIMS], sum[AG_MAX_DIMS], right[AG_MAX_DIMS];
	int nboth, nleft, nsum, nright;
};

static bool sort_dims(struct ein *e, struct ag_tensor **l, struct ag_tensor **r, unsigned sums,
                      struct pair *p)
{
	int d;

	memset(p, 0, sizeof(*p));
	for (d = 0; d < e->ndim && *l && *r; d++) {
		bool sl = (*l)->shape[d] != 1, sr = (*r)->shape[d] != 1;

		if (sl && sr && (*l)->shape[d] != (*r)->shape[d])
			return ag_fail(e->c, AG_ERR_RUNTIME,
			               "einsum(): operands do not broadcast with remapped shapes");
		if (sums >> d & 1) {
			p->sum[p->nsum++] = d;
			if (sl && !sr)
				*l = op_sum_dim(e->c, *l, d, true);
			else if (sr && !sl)
				*r = op_sum_dim(e->c, *r, d, true);
		} else if (sl && sr) {
			p->both[p->nboth++] = d;
		} else if (sl) {
			p->left[p->nleft++] = d;
		} else {
			p->right[p->nright++] = d;
		}
	}
	return *l && *r;
}

static int put(int64_t *out, int at, const int *dims, int n)
{
	while (n-- > 0)
		out[at++] = *dims++;
	return at;
}

static int64_t sizes(const struct ag_tensor *t, const int *dims, int n)
{
	int64_t size = 1;

	while (n-- > 0)
		size *= t->shape[*dims++];
	return size;
}

static struct ag_tensor *multiply(struct ein *e, struct ag_tensor *l, struct ag_tensor *r,
                                  unsigned sums)
{
	int64_t order[AG_MAX_DIMS], shape[AG_MAX_DIMS], three[3], back[AG_MAX_DIMS];
	struct pair p;
	int n, i;

	if (!sort_dims(e, &l, &r, sums, &p))
		return NULL;
	three[0] = sizes(l, p.both, p.nboth);
	three[1] = sizes(l, p.left, p.nleft);
	three[2] = sizes(l, p.sum, p.nsum);
	n = put(order,
	        put(order, put(order, put(order, 0, p.both, p.nboth), p.left, p.nleft), p.sum,
	            p.nsum),
	        p.right, p.nright);
	for (i = 0; i < n; i++) {
		bool from_right = i >= p.nboth + p.nleft + p.nsum;
		bool summed = !from_right && i >= p.nboth + p.nleft;

		shape[i] = summed ? 1 : from_right ? r->shape[order[i]] : l->shape[order[i]];
		back[order[i]] = i;
	}
	l = op_reshape(e->c, op_permute(e->c, l, order, n), 3, three);
	n = put(order,
	        put(order, put(order, put(order, 0, p.both, p.nboth), p.sum, p.nsum), p.right,
	            p.nright),
	        p.left, p.nleft);
	three[1] = three[2];
	three[2] = sizes(r, p.right, p.nright);
	r = op_reshape(e->c, op_permute(e->c, r, order, n), 3, three);
	return op_permute(e->c, op_view(e->c, op_bmm(e->c, l, r), n, shape), back, n);
}

/* Which dimensions end with operand `op`: they are summed with it. */
static unsigned ending(const struct ein *e, int op)
{
	unsigned sums = 0;
	int i;

	for (i = 0; i < EIN_LABELS; i++) {
		if (e->place[i] >= e->nout && e->last[i] <= op)
			sums |= 1u << e->place[i];
	}
	return sums;
}

static struct ag_tensor *drop_summed(struct ein *e, struct ag_tensor *t)
{
	return t && e->ndim > e->nout ? op_view(e->c, t, e->nout, t->shape) : t;
}

static struct ag_tensor *contract(struct ein *e)
{
	struct ag_tensor *t = e->at[0];
	int64_t dims[AG_MAX_DIMS];
	unsigned done = 0;
	int i, d, n = 0;

	if (e->operands == 1) {
		for (d = e->nout; d < e->ndim; d++)
			dims[n++] = d;
		return op_sum_dims(e->c, t, dims, n, false);
	}
	for (i = 1; i < e->operands && t; i++) {
		unsigned sums = ending(e, i) & ~done;

		t = multiply(e, t, e->at[i], sums);
		done |= sums;
	}
	return drop_summed(e, t);
}

/* The subscripts up to `end`, parted by commas. */
static bool read_operands(struct ein *e, struct ag_frame *f, const char *at, const char *end)
{
	int i;

	for (i = 0; i < e->operands; i++) {
		const char *stop = at;

		e->at[i] = arg_list_t(f, 1, (uint32_t)i);
		while (stop < end && *stop != ',')
			stop++;
		if (!e->at[i] || !read_operand(e, at, (size_t)(stop - at), i))
			return false;
		at = stop < end ? stop + 1 : stop;
	}
	return true;
}

bool op_run_einsum(struct ag_frame *f)
{
	struct ein e = {.c = f->ctx};
	const char *text = f->v[0].as.text, *end = text + f->v[0].count, *arrow = NULL, *at;
	uint32_t n = arg_list(f, 1), i;

	if (!n || n > EIN_OPERANDS)
		return ag_fail(f->ctx, AG_ERR_VALUE, "einsum(): must provide at least one operand");
	for (at = text; at + 1 < end && !arrow; at++) {
		if (at[0] == '-' && at[1] == '>')
			arrow = at;
	}
	e.operands = (int)n;
	if (!read_operands(&e, f, text, arrow ? arrow : end))
		return false;
	if (!order_labels(&e, arrow ? arrow + 2 : NULL, arrow ? (size_t)(end - arrow - 2) : 0))
		return false;
	for (i = 0; i < n; i++) {
		if (!align(&e, (int)i))
			return false;
	}
	return ag_give_ref(f, contract(&e));
}
