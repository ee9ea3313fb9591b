#include "analyzer/replay/torch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Tensors as PyTorch's _tensor_str writes them: four digits, one width for all,
 * the middle left out above 1000 elements. */

enum { EDGE = 3, THRESHOLD = 1000, LINE = 80, PRECISION = 4 };

struct printer {
	struct vm *vm;
	struct ag_tensor *t;
	double *at;
	bool summary, is_float, is_bool, integers, scientific;
	size_t width;
	struct text *out;
};

static void element(const struct printer *p, double f, struct text *out)
{
	if (p->is_bool)
		text_add_chars(out, f != 0 ? "True" : "False");
	else if (!p->is_float)
		text_print(out, "%lld", (long long)f);
	else if (f != f || isinf(f))
		text_add_chars(out, f != f ? "nan" : f > 0 ? "inf" : "-inf");
	else if (p->scientific)
		text_print(out, "%.*e", PRECISION, f);
	else if (p->integers)
		text_print(out, "%.0f.", f);
	else
		text_print(out, "%.*f", PRECISION, f);
}

typedef void each_fn(struct printer *p, double f, void *data);

/* Elements that are shown, in row order. */
static void each_shown(struct printer *p, int dim, int64_t offset, each_fn *fn, void *data)
{
	int64_t size = dim < ag_ndim(p->t) ? ag_size(p->t, dim) : 1, stride = 1;

	if (dim == ag_ndim(p->t)) {
		fn(p, p->at[offset], data);
		return;
	}
	for (int d = dim + 1; d < ag_ndim(p->t); d++)
		stride *= ag_size(p->t, d);
	for (int64_t i = 0; i < size; i++) {
		if (p->summary && size > 2 * EDGE && i == EDGE)
			i = size - EDGE;
		each_shown(p, dim + 1, offset + i * stride, fn, data);
	}
}

struct range_seen {
	double low, high;
	bool any, fraction;
};

static void see_range(struct printer *p, double f, void *data)
{
	struct range_seen *seen = data;

	(void)p;
	if (!isfinite(f) || f == 0)
		return;
	f = fabs(f);
	seen->low = seen->any ? fmin(seen->low, f) : f;
	seen->high = seen->any ? fmax(seen->high, f) : f;
	seen->any = true;
	seen->fraction |= f != ceil(f);
}

static void see_width(struct printer *p, double f, void *data)
{
	struct arena scratch = {0};
	struct text one = {.arena = &scratch};

	(void)data;
	if (p->is_float && (!isfinite(f) || f == 0))
		return;
	element(p, f, &one);
	if (one.length > p->width)
		p->width = one.length;
	arena_release(&scratch);
}

static void choose_format(struct printer *p)
{
	struct range_seen seen = {0};

	if (p->is_float) {
		each_shown(p, 0, 0, see_range, &seen);
		p->integers = !seen.fraction;
		if (seen.any && !seen.fraction)
			p->scientific = seen.high / seen.low > 1000.0 || seen.high > 1.0e8;
		else if (seen.any)
			p->scientific = seen.high / seen.low > 1000.0 || seen.high > 1.0e8 ||
			                seen.low < 1.0e-4;
	}
	p->width = p->is_float ? 1 : 0;
	each_shown(p, 0, 0, see_width, NULL);
}

static void put_element(struct printer *p, double f)
{
	struct arena scratch = {0};
	struct text one = {.arena = &scratch};

	element(p, f, &one);
	text_add_repeated(p->out, ' ', p->width > one.length ? p->width - one.length : 0);
	text_add(p->out, text_chars(&one), one.length);
	arena_release(&scratch);
}

static void vector(struct printer *p, int64_t offset, size_t indent)
{
	int64_t size = ag_size(p->t, ag_ndim(p->t) - 1), shown = 0;
	int64_t per_line = (int64_t)((LINE - indent) / (p->width + 2));

	per_line = per_line > 0 ? per_line : 1;
	text_add_char(p->out, '[');
	for (int64_t i = 0; i < size; i++, shown++) {
		if (shown)
			text_add_chars(p->out, ",");
		if (shown && shown % per_line == 0) {
			text_add_char(p->out, '\n');
			text_add_repeated(p->out, ' ', indent + 1);
		} else if (shown) {
			text_add_char(p->out, ' ');
		}
		if (p->summary && size > 2 * EDGE && i == EDGE) {
			text_add_chars(p->out, " ...");
			i = size - EDGE - 1;
			continue;
		}
		put_element(p, p->at[offset + i]);
	}
	text_add_char(p->out, ']');
}

static void level(struct printer *p, int dim, int64_t offset, size_t indent)
{
	int ndim = ag_ndim(p->t);
	int64_t size, stride = 1;

	if (!ndim) {
		put_element(p, p->at[0]);
		return;
	}
	if (dim == ndim - 1) {
		vector(p, offset, indent);
		return;
	}
	for (int d = dim + 1; d < ndim; d++)
		stride *= ag_size(p->t, d);
	size = ag_size(p->t, dim);
	text_add_char(p->out, '[');
	for (int64_t i = 0; i < size; i++) {
		if (i) {
			text_add_char(p->out, ',');
			text_add_repeated(p->out, '\n', (size_t)(ndim - dim - 1));
			text_add_repeated(p->out, ' ', indent + 1);
		}
		if (p->summary && size > 2 * EDGE && i == EDGE) {
			text_add_chars(p->out, "...");
			i = size - EDGE - 1;
			continue;
		}
		level(p, dim + 1, offset + i * stride, indent + 1);
	}
	text_add_char(p->out, ']');
}

static void body(struct vm *vm, struct ag_tensor *t, size_t indent, struct text *out)
{
	struct printer p = {.vm = vm, .t = t, .out = out};
	int64_t count = ag_numel(t);

	if (!count) {
		text_add_chars(out, "[]");
		return;
	}
	p.at = checked_alloc((size_t)count, sizeof(double));
	p.is_float = ag_dtype_is_float(ag_dtype(t));
	p.is_bool = ag_dtype(t) == AG_BOOL8;
	p.summary = count > THRESHOLD;
	if (ag_read(ctx_of(vm), t, p.at, count)) {
		choose_format(&p);
		level(&p, 0, 0, indent);
	} else {
		ag_error_clear(ctx_of(vm));
		text_add_chars(out, "<tensor>");
	}
	free(p.at);
}

static void suffix(struct text *out, size_t *last, const char *part)
{
	size_t length = strlen(part);

	if (*last + length + 2 > LINE) {
		text_add_chars(out, ",\n       ");
		*last = 7 + length;
	} else {
		text_add_chars(out, ", ");
		*last += length + 2;
	}
	text_add_chars(out, part);
}

static void grad_suffix(struct vm *vm, struct ag_tensor *t, struct text *out, size_t *last)
{
	struct arena scratch = {0};
	struct text part = {.arena = &scratch};
	struct ag_node *n = ag_grad_fn(ctx_of(vm), t);

	if (n)
		text_print(&part, "grad_fn=<%s>", ag_node_name(n));
	else if (ag_requires_grad(t))
		text_add_chars(&part, "requires_grad=True");
	if (part.length)
		suffix(out, last, text_chars(&part));
	arena_release(&scratch);
}

void tensor_repr(struct vm *vm, struct val v, struct text *out)
{
	struct ag_tensor *t = tensor_of(v);
	struct arena scratch = {0};
	struct text part = {.arena = &scratch};
	enum ag_dtype dtype = ag_dtype(t);
	size_t start, last;

	if (ag_is_parameter(t))
		text_add_chars(out, "Parameter containing:\n");
	start = out->length;
	text_add_chars(out, "tensor(");
	body(vm, t, 7, out);
	last = 0;
	for (size_t i = out->length; i-- > start && out->at[i] != '\n';)
		last++;
	if (ag_tensor_device(t) == AG_CUDA)
		suffix(out, &last, "device='cuda:0'");
	if (!ag_numel(t) && ag_ndim(t) != 1) {
		text_add_chars(&part, "size=(");
		for (int i = 0; i < ag_ndim(t); i++)
			text_print(&part, "%s%lld", i ? ", " : "", (long long)ag_size(t, i));
		text_add_char(&part, ')');
		suffix(out, &last, text_chars(&part));
		text_cut(&part, 0);
	}
	if ((dtype != ag_default_dtype(ctx_of(vm)) && dtype != AG_I64 && dtype != AG_BOOL8) ||
	    (!ag_numel(t) && dtype != ag_default_dtype(ctx_of(vm)))) {
		text_print(&part, "dtype=torch.%s", ag_dtype_name(dtype));
		suffix(out, &last, text_chars(&part));
	}
	grad_suffix(vm, t, out, &last);
	text_add_char(out, ')');
	arena_release(&scratch);
}
