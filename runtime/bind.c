/* Signatures, and arguments bound to them as Python binds them. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/frame.h"

/* Keywords that say nothing about memory or graphs here. */
static const char *const ignored[] = {"device",        "layout",       "pin_memory", "generator",
                                      "memory_format", "non_blocking", "names",      "dtype",
                                      "requires_grad", "_stacklevel",  "inplace_"};
static const struct {
	const char *given, *meant;
} aliases[] = {{"axis", "dim"},   {"keepdims", "keepdim"},
               {"self", "input"}, {"axes", "dim"},
               {"x1", "input"},   {"x2", "other"},
               {"A", "input"},    {"a_min", "min"},
               {"a_max", "max"},  {"correction", "unbiased"},
               {"dims", "dim"}};

static const char *skip(const char *s)
{
	while (*s == ' ' || *s == ',')
		s++;
	return s;
}

static void parse_default(const char *text, size_t length, struct ag_param *p, struct ag_value *few,
                          uint32_t *used)
{
	p->has_default = true;
	if (!strncmp(text, "None", 4)) {
		p->value = ag_none();
	} else if (!strncmp(text, "True", 4) || !strncmp(text, "False", 5)) {
		p->value = ag_bool(text[0] == 'T');
	} else if (p->kind == 's' || text[0] == '\'') {
		p->value = ag_text(text + 1, length - 2);
	} else if (memchr(text, '.', length) || memchr(text, 'e', length)) {
		p->value = ag_float(strtod(text, NULL));
	} else if (text[0] == '(') {
		p->value = ag_list(few + *used, 0);
		for (text++; *text != ')'; text = skip(text + strspn(text, "-0123456789"))) {
			few[(*used)++] = ag_int(strtoll(text, NULL, 10));
			p->value.count++;
		}
	} else {
		p->value = ag_int(strtoll(text, NULL, 10));
	}
}

void ag_signature_parse(const char *text, struct ag_signature *s)
{
	uint32_t used = 0;

	memset(s, 0, sizeof(*s));
	for (text = skip(text); *text && s->count < AG_MAX_PARAMS; text = skip(text)) {
		struct ag_param *p = &s->at[s->count++];
		size_t n;

		p->kind = *text++;
		for (; *text == '?' || *text == '*'; text++) {
			p->optional |= *text == '?';
			p->starred |= *text == '*';
		}
		text = skip(text);
		if (*text == '|') {
			p->keyword_only = true;
			text++;
		}
		n = strcspn(text, "=,");
		snprintf(p->name, sizeof(p->name), "%.*s", (int)n, text);
		text += n;
		if (*text == '=') {
			const char *value = ++text;

			n = *value == '(' ? strcspn(value, ")") + 1 : strcspn(value, ",");
			parse_default(value, n, p, s->few, &used);
			text += n;
		}
	}
}

const struct ag_signature *ag_signature_of(struct ag_ctx *ctx, enum ag_op op)
{
	if (!ctx->signatures)
		ctx->signatures = ag_alloc(AG_OP_COUNT, sizeof(*ctx->signatures));
	if (!ctx->signatures[op]) {
		ctx->signatures[op] = ag_alloc(1, sizeof(struct ag_signature));
		ag_signature_parse(ag_op_info(op)->signature, ctx->signatures[op]);
	}
	return ctx->signatures[op];
}

static bool is_number(const struct ag_value *v)
{
	return v->kind == AG_INT || v->kind == AG_FLOAT || v->kind == AG_BOOL;
}

static bool all_of(const struct ag_value *v, bool tensors)
{
	uint32_t i;

	for (i = 0; i < v->count; i++) {
		enum ag_value_kind kind = v->as.list[i].kind;

		if (tensors ? kind != AG_TENSOR && kind != AG_NONE
		            : kind != AG_INT && kind != AG_BOOL)
			return false;
	}
	return true;
}

/* Numbers may come as 0-dim tensors: they are read when they have data. */
static bool number_of(const struct ag_value *v, bool integer, struct ag_value *out)
{
	struct ag_tensor *t = v->as.tensor;
	double value;
	int64_t whole;

	if (v->kind != AG_TENSOR || !t || t->numel != 1 || !ag_has_data(t))
		return false;
	if (!ag_dtype_is_float((enum ag_dtype)t->dtype)) {
		if (!ag_item_int(t->ctx, t, &whole))
			return false;
		*out = ag_int(whole);
		return true;
	}
	if (integer || !ag_item(t->ctx, t, &value))
		return false;
	*out = ag_float(value);
	return true;
}

bool ag_take(const struct ag_param *p, const struct ag_value *v, struct ag_value *out)
{
	*out = *v;
	if (v->kind > AG_LIST || (v->kind == AG_DTYPE && v->as.dtype >= AG_DTYPE_COUNT))
		return false;
	if (v->kind == AG_NONE)
		return p->optional || p->kind == 'v';
	switch (p->kind) {
	case 'T':
		return v->kind == AG_TENSOR;
	case 'L':
		return v->kind == AG_LIST && all_of(v, true);
	case 'X':
		return v->kind == AG_TENSOR || is_number(v);
	case 'n':
		return is_number(v) || number_of(v, false, out);
	case 'i':
		return v->kind == AG_INT || v->kind == AG_BOOL || number_of(v, true, out);
	case 'f':
		return is_number(v) || number_of(v, false, out);
	case 'b':
		return v->kind == AG_BOOL || v->kind == AG_INT;
	case 's':
		return v->kind == AG_TEXT;
	case 'd':
		return v->kind == AG_DTYPE;
	case 'I':
		return v->kind == AG_INT || (v->kind == AG_LIST && all_of(v, false));
	default:
		return true;
	}
}

static const char *meant(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++) {
		if (!strcmp(aliases[i].given, name))
			return aliases[i].meant;
	}
	return name;
}

static int param_index(const struct ag_signature *s, const char *name)
{
	uint32_t i;

	for (i = 0; i < s->count; i++) {
		if (!strcmp(s->at[i].name, name))
			return (int)i;
	}
	return -1;
}

static bool is_ignored(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++) {
		if (!strcmp(ignored[i], name))
			return true;
	}
	return false;
}

/* The rest of the positions as one list. */
static uint32_t take_rest(const struct ag_param *p, const struct ag_args *args, uint32_t from,
                          struct ag_value *extra, struct ag_value *out)
{
	uint32_t n = 0;

	while (from + n < args->count && n < AG_MAX_PARAMS) {
		const struct ag_value *v = &args->at[from + n];
		bool fits = p->kind == 'L' ? v->kind == AG_TENSOR : v->kind == AG_INT;

		if (!fits)
			break;
		extra[n++] = *v;
	}
	*out = ag_list(extra, n);
	return n;
}

static bool bind_positions(const struct ag_signature *s, const struct ag_args *args,
                           struct ag_value *values, struct ag_value *extra, bool *given)
{
	uint32_t i = 0, p = 0;

	while (i < args->count) {
		const struct ag_param *param;

		if (p == s->count || s->at[p].keyword_only)
			return false;
		param = &s->at[p];
		if (param->starred && args->at[i].kind != AG_LIST && args->at[i].kind != AG_NONE) {
			uint32_t n = take_rest(param, args, i, extra, &values[p]);

			if (!n)
				return false;
			i += n;
		} else {
			if (!ag_take(param, &args->at[i], &values[p]))
				return false;
			i++;
		}
		given[p++] = true;
	}
	return true;
}

bool ag_bind(const struct ag_signature *s, const struct ag_args *args, struct ag_value *values,
             struct ag_value *extra, uint32_t flags, char *why, size_t why_size)
{
	bool given[AG_MAX_PARAMS] = {false};
	uint32_t i;

	if (!bind_positions(s, args, values, extra, given)) {
		snprintf(why, why_size, "the positional arguments do not fit");
		return false;
	}
	for (i = 0; i < args->nkeywords; i++) {
		const struct ag_keyword *k = &args->keywords[i];
		int p = param_index(s, k->name);

		if (p < 0)
			p = param_index(s, meant(k->name));
		if (p < 0 && (is_ignored(k->name) || (flags & AG_OPF_FACTORY)))
			continue;
		if (p < 0 || given[p] || !ag_take(&s->at[p], &k->value, &values[p])) {
			snprintf(why, why_size, "%s an unexpected keyword argument '%s'",
			         p < 0 ? "got" : "wrong value for", k->name);
			return false;
		}
		given[p] = true;
	}
	for (i = 0; i < s->count; i++) {
		if (given[i])
			continue;
		if (!s->at[i].has_default && s->at[i].starred) {
			values[i] = ag_list(extra, 0);
			continue;
		}
		if (!s->at[i].has_default) {
			snprintf(why, why_size, "missing argument '%s'", s->at[i].name);
			return false;
		}
		values[i] = s->at[i].value;
	}
	return true;
}

double ag_value_float(const struct ag_value *v)
{
	switch (v->kind) {
	case AG_FLOAT:
		return v->as.f;
	case AG_INT:
		return (double)v->as.i;
	case AG_BOOL:
		return v->as.b;
	default:
		return 0;
	}
}

int64_t ag_value_int(const struct ag_value *v)
{
	switch (v->kind) {
	case AG_FLOAT:
		return v->as.f >= -9e18 && v->as.f <= 9e18 ? (int64_t)v->as.f : 0;
	case AG_INT:
		return v->as.i;
	case AG_BOOL:
		return v->as.b;
	default:
		return 0;
	}
}

bool arg_text_is(const struct ag_frame *f, uint32_t i, const char *text)
{
	return f->v[i].kind == AG_TEXT && f->v[i].count == strlen(text) &&
	       !memcmp(f->v[i].as.text, text, f->v[i].count);
}

/* Sizes, steps and pads are added and multiplied: what no tensor can have is refused early. */
static bool in_range(const struct ag_frame *f, int64_t n, int64_t most)
{
	return (n <= most && n >= -most) ||
	       ag_fail(f->ctx, AG_ERR_RUNTIME, "%s: %lld is out of range", ag_op_info(f->op)->id,
	               (long long)n);
}

int arg_ints(const struct ag_frame *f, uint32_t i, int64_t *out, int max)
{
	const struct ag_value *v = &f->v[i];
	uint32_t k;

	if (v->kind == AG_INT) {
		out[0] = v->as.i;
		return in_range(f, out[0], AG_MOST_ELEMENTS) ? 1 : -1;
	}
	if (v->kind != AG_LIST)
		return 0;
	if (v->count > (uint32_t)max) {
		ag_fail(f->ctx, AG_ERR_RUNTIME, "%s: more than %d integers", ag_op_info(f->op)->id,
		        max);
		return -1;
	}
	for (k = 0; k < v->count; k++) {
		out[k] = ag_value_int(&v->as.list[k]);
		if (!in_range(f, out[k], AG_MOST_ELEMENTS))
			return -1;
	}
	return (int)v->count;
}

bool arg_ints_n(const struct ag_frame *f, uint32_t i, int64_t *out, int n)
{
	int got = arg_ints(f, i, out, n), k;

	for (k = 0; k < got; k++) {
		if (!in_range(f, out[k], INT32_MAX))
			return false;
	}
	if (got == 1) {
		for (k = 1; k < n; k++)
			out[k] = out[0];
		return true;
	}
	return got == n || (got >= 0 && ag_fail(f->ctx, AG_ERR_RUNTIME,
	                                        "expected %d values, but got %d", n, got));
}

uint32_t arg_list(const struct ag_frame *f, uint32_t i)
{
	return f->v[i].kind == AG_LIST ? f->v[i].count : 0;
}

struct ag_tensor *arg_list_t(const struct ag_frame *f, uint32_t i, uint32_t item)
{
	const struct ag_value *v = &f->v[i].as.list[item];

	return v->kind == AG_TENSOR ? v->as.tensor : NULL;
}
