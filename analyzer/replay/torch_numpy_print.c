#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/replay/torch.h"

/* Arrays as NumPy writes them: shortest digits, eight after the point at most, one width. */

enum { LINE_WIDTH = 75, MOST_DIGITS = 8, SUMMARY_FROM = 1000, EDGE_ITEMS = 3, ELEMENT_SIZE = 64 };

struct array_printer {
	struct vm *vm;
	const struct ag_tensor *t;
	const double *at;
	struct text *out;
	size_t line; /* where the current line starts in `out` */
	const char *separator;
	bool is_float, is_bool, is_single, scientific, summary;
	int left, right; /* of the point */
	int digits;      /* after it, in scientific notation */
};

static bool reads_back(const struct array_printer *p, const char *digits, double f)
{
	const double back = strtod(digits, NULL);

	return p->is_single ? (float)back == (float)f : back == f;
}

/* With the trailing zeros away, but not the point. */
static void plain_digits(const struct array_printer *p, double f, char *text)
{
	size_t length;

	for (int precision = 1; precision <= MOST_DIGITS; precision++) {
		snprintf(text, ELEMENT_SIZE, "%.*f", precision, f);
		if (reads_back(p, text, f))
			break;
	}
	for (length = strlen(text); text[length - 1] == '0'; length--)
		text[length - 1] = '\0';
}

/* The fewest digits after the point that read back. */
static int scientific_digits(const struct array_printer *p, double f)
{
	char text[ELEMENT_SIZE];
	int precision;

	for (precision = 0; precision < MOST_DIGITS; precision++) {
		snprintf(text, sizeof(text), "%.*e", precision, f);
		if (reads_back(p, text, f))
			break;
	}
	return precision;
}

static void scientific_text(const struct array_printer *p, double f, char *text)
{
	char *point;

	snprintf(text, ELEMENT_SIZE, "%.*e", p->digits, f);
	point = strchr(text, 'e');
	if (!p->digits && point) {
		memmove(point + 1, point, strlen(point) + 1);
		*point = '.';
	}
}

static void widen(struct array_printer *p, const char *text)
{
	const char *point = strchr(text, '.');
	const int left = (int)(point ? (size_t)(point - text) : strlen(text));
	const int right = point ? (int)strlen(point + 1) : 0;

	p->left = left > p->left ? left : p->left;
	p->right = right > p->right ? right : p->right;
}

static bool is_shown(const struct array_printer *p, int64_t i)
{
	int64_t below = ag_numel(p->t), at;

	for (int d = 0; p->summary && d < ag_ndim(p->t); d++) {
		below /= ag_size(p->t, d);
		at = i / below % ag_size(p->t, d);
		if (at >= EDGE_ITEMS && at < ag_size(p->t, d) - EDGE_ITEMS)
			return false;
	}
	return true;
}

static void choose_notation(struct array_printer *p)
{
	double largest = 0, smallest = INFINITY;

	for (int64_t i = 0; i < ag_numel(p->t); i++) {
		double size = fabs(p->at[i]);

		if (!is_shown(p, i) || !isfinite(size) || size == 0)
			continue;
		largest = size > largest ? size : largest;
		smallest = size < smallest ? size : smallest;
	}
	p->scientific =
	        largest > 0 && (largest >= 1e8 || smallest < 1e-4 || largest / smallest > 1000);
	for (int64_t i = 0; p->scientific && i < ag_numel(p->t); i++) {
		int digits =
		        is_shown(p, i) && isfinite(p->at[i]) ? scientific_digits(p, p->at[i]) : 0;

		p->digits = digits > p->digits ? digits : p->digits;
	}
}

static void element_text(const struct array_printer *p, double f, char *text)
{
	if (p->is_bool)
		snprintf(text, ELEMENT_SIZE, f != 0 ? " True" : "False");
	else if (!p->is_float)
		snprintf(text, ELEMENT_SIZE, "%lld", (long long)f);
	else if (!isfinite(f))
		snprintf(text, ELEMENT_SIZE, isnan(f) ? "nan" : f > 0 ? "inf" : "-inf");
	else if (p->scientific)
		scientific_text(p, f, text);
	else
		plain_digits(p, f, text);
}

static void choose_widths(struct array_printer *p)
{
	char text[ELEMENT_SIZE];
	int odd = 0;

	if (p->is_float)
		choose_notation(p);
	for (int64_t i = 0; i < ag_numel(p->t); i++) {
		if (!is_shown(p, i))
			continue;
		element_text(p, p->at[i], text);
		if (!p->is_float || isfinite(p->at[i]))
			widen(p, text);
		else
			odd = (int)strlen(text) > odd ? (int)strlen(text) : odd;
	}
	if (odd > p->left + p->right + 1)
		p->left = odd - p->right - 1;
}

static void padded_text(const struct array_printer *p, double f, char *padded)
{
	char text[ELEMENT_SIZE];
	const char *point;
	int before, after;

	element_text(p, f, text);
	point = strchr(text, '.');
	if (!p->is_float || !point) {
		snprintf(padded, 2 * ELEMENT_SIZE, "%*s", p->left + p->right + p->is_float, text);
		return;
	}
	before = p->left - (int)(point - text);
	after = p->right - (int)strlen(point + 1);
	snprintf(padded, 2 * ELEMENT_SIZE, "%*s%s%*s", before, "", text, after, "");
}

/* A word of the innermost dimension, on the next line if this one is full. */
static void put_word(struct array_printer *p, const char *word, size_t indent, size_t width)
{
	const size_t length = p->out->length - p->line;

	if (length > indent && length + strlen(word) > width) {
		while (p->out->length && p->out->at[p->out->length - 1] == ' ')
			text_cut(p->out, p->out->length - 1);
		text_add_char(p->out, '\n');
		p->line = p->out->length;
		text_add_repeated(p->out, ' ', indent);
	}
	text_add_chars(p->out, word);
}

static void put_line_ends(struct array_printer *p, int dim, size_t indent)
{
	if (*p->separator == ',')
		text_add_char(p->out, ',');
	text_add_repeated(p->out, '\n', (size_t)(ag_ndim(p->t) - dim - 1));
	p->line = p->out->length;
	text_add_repeated(p->out, ' ', indent);
}

static void put_level(struct array_printer *p, int dim, int64_t offset, size_t indent, size_t width)
{
	const bool innermost = dim == ag_ndim(p->t) - 1;
	const int64_t size = ag_size(p->t, dim);
	char word[2 * ELEMENT_SIZE];
	int64_t stride = 1;

	for (int d = dim + 1; d < ag_ndim(p->t); d++)
		stride *= ag_size(p->t, d);
	text_add_char(p->out, '[');
	for (int64_t i = 0; i < size; i++) {
		bool gap = p->summary && size > 2LL * EDGE_ITEMS && i == EDGE_ITEMS;

		padded_text(p, p->at[offset + i * stride], word);
		if (innermost)
			put_word(p, gap ? "..." : word, indent, width - 1);
		else if (gap)
			text_add_chars(p->out, "...");
		else
			put_level(p, dim + 1, offset + i * stride, indent + 1, width - 1);
		if (gap)
			i = size - EDGE_ITEMS - 1;
		if (i + 1 < size && innermost)
			text_add_chars(p->out, p->separator);
		else if (i + 1 < size)
			put_line_ends(p, dim, indent);
	}
	text_add_char(p->out, ']');
}

/* An array without a dimension is written as its number. */
static void put_number(struct array_printer *p, double f)
{
	char text[ELEMENT_SIZE];

	if (!p->is_single || !isfinite(f)) {
		struct val number = p->is_float ? val_float(f) : val_int((int64_t)f);

		str_into(p->vm, p->is_bool ? val_bool(f != 0) : number, p->out);
		return;
	}
	for (int digits = 1; digits < ELEMENT_SIZE / 2; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, f);
		if (reads_back(p, text, f))
			break;
	}
	str_into(p->vm, val_float(strtod(text, NULL)), p->out);
}

static void put_array(struct array_printer *p, size_t indent, size_t width)
{
	p->line = p->out->length;
	while (p->line && p->out->at[p->line - 1] != '\n')
		p->line--;
	if (!ag_numel(p->t)) {
		text_add_chars(p->out, "[]");
		return;
	}
	if (!ag_ndim(p->t)) {
		put_number(p, *p->at);
		return;
	}
	choose_widths(p);
	/* Columns are counted from the array's own start. */
	p->line = p->out->length - (indent - 1);
	put_level(p, 0, 0, indent, width);
}

void array_repr(struct vm *vm, struct val v, struct text *out, bool str)
{
	struct ag_tensor *t = AS(array, v)->t;
	const enum ag_dtype dtype = ag_dtype(t);
	int64_t count = ag_numel(t);
	double *all = checked_alloc((size_t)count + 1, sizeof(double));
	struct array_printer p = {.vm = vm, .t = t, .at = all, .out = out};

	p.separator = str ? " " : ", ";
	p.is_float = ag_dtype_is_float(dtype);
	p.is_bool = dtype == AG_BOOL8;
	p.is_single = dtype == AG_F32;
	p.summary = count > SUMMARY_FROM;
	if (!str)
		text_add_chars(out, "array(");
	if (ag_read(ctx_of(vm), t, all, count))
		put_array(&p, str ? 1 : 7, str ? LINE_WIDTH : LINE_WIDTH - 1);
	else
		ag_error_clear(ctx_of(vm)), text_add_chars(out, "<tensor>");
	if (!str && dtype != AG_F64 && dtype != AG_I64 && dtype != AG_BOOL8)
		text_print(out, ", dtype=%s", ag_dtype_name(dtype));
	if (!str)
		text_add_char(out, ')');
	free(all);
}
