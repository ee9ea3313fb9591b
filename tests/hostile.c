#include "tests/hostile.h"

#include <math.h>
#include <string.h>

#include "analyzer/base/bug.h"

unsigned hostile_byte(struct hostile *h)
{
	return h->at < h->end ? *h->at++ : 0;
}

int64_t hostile_number(struct hostile *h)
{
	static const int64_t odd[] = {
	        -1,        -2,       -100, 7, 64, 1 << 20, INT64_C(1) << 31, INT64_C(1) << 40,
	        INT64_MAX, INT64_MIN};
	unsigned n = hostile_byte(h);

	return n < 224 ? n % 5 : odd[n % (sizeof(odd) / sizeof(odd[0]))];
}

double hostile_real(struct hostile *h)
{
	static const double values[] = {0, 1, 0.5, -1, 2, 1e-8, 1e300, -0.25};
	static const double odd[] = {INFINITY, -INFINITY, NAN,    9.3e18,
	                             -1e300,   5e-324,    -1e-30, 4294967296.5};
	unsigned n = hostile_byte(h);

	return n < 240 ? values[n % 8] : odd[n % 8];
}

enum ag_dtype hostile_dtype(struct hostile *h)
{
	unsigned n = hostile_byte(h);

	return (enum ag_dtype)(n < 250 ? n % AG_DTYPE_COUNT : n);
}

/* ---- tensors */

struct ag_tensor *hostile_fresh(struct hostile *h)
{
	static const enum ag_dtype dtypes[] = {AG_F32,   AG_F32, AG_F64, AG_I64,
	                                       AG_BOOL8, AG_F16, AG_C64, AG_U8};
	unsigned head = hostile_byte(h);
	enum ag_dtype dtype = dtypes[head % 8];
	int64_t shape[AG_MAX_DIMS + 1];
	int ndim = (int)(head / 8 % 6), d;
	struct ag_tensor *t;
	double values[64];

	if (head > 250)
		ndim = AG_MAX_DIMS + 1;
	for (d = 0; d < ndim; d++)
		shape[d] = hostile_number(h);
	t = ag_tensor_new(h->ctx, dtype, ndim, shape, NULL);
	hostile_check(h, t != NULL);
	if (t && ag_numel(t) <= 64) {
		for (d = 0; d < ag_numel(t); d++)
			values[d] =
			        dtype == AG_I64 ? (double)(hostile_byte(h) % 4) : hostile_real(h);
		ag_write(h->ctx, t, values, ag_numel(t));
	}
	if (t && hostile_byte(h) % 2)
		ag_set_requires_grad(h->ctx, t, true);
	return t;
}

struct ag_tensor *hostile_some(struct hostile *h)
{
	return h->slots[hostile_byte(h) % HOSTILE_SLOTS];
}

void hostile_put(struct hostile *h, struct ag_tensor *t)
{
	unsigned i = hostile_byte(h) % HOSTILE_SLOTS;

	if (!t)
		return;
	ag_release(h->slots[i]);
	h->slots[i] = t;
}

void hostile_put_results(struct hostile *h, struct ag_results *results)
{
	uint32_t i;

	for (i = 0; i < results->count && i < 3; i++)
		hostile_put(h, ag_results_take(results, i));
	ag_results_release(results);
}

void hostile_check(struct hostile *h, bool good)
{
	BUG_IF(!good && ag_error(h->ctx)->status == AG_OK);
}

/* ---- arguments */

static struct ag_value text(struct hostile *h)
{
	static const char *const words[] = {
	        "mean",      "none",          "sum",      "reflect",     "nearest",  "bilinear",
	        "tanh",      "channels_last", "ij,jk",    "ii->i",       "a...,b->", "floor",
	        "trunc",     "replicate",     "circular", "same",        "max",      "fan_out",
	        "relu",      "area",          "bicubic",  "inf",         "fro",      "xy",
	        "trilinear", "linear",        "",         "...ij->...ji"};
	const char *word = words[hostile_byte(h) % (sizeof(words) / sizeof(words[0]))];

	return ag_text(word, strlen(word));
}

static struct ag_value list_of(struct hostile *h, uint32_t arg, char kind)
{
	uint32_t count = hostile_byte(h) % (HOSTILE_ITEMS + 1), i;

	for (i = 0; i < count; i++)
		h->items[arg][i] = kind == 'T'   ? ag_arg(hostile_some(h))
		                   : kind == 'f' ? ag_float(hostile_real(h))
		                                 : ag_int(hostile_number(h));
	return ag_list(h->items[arg], count);
}

static struct ag_value anything(struct hostile *h, uint32_t arg)
{
	static const char kinds[] = "-ifIsTbdLF";

	return hostile_value(h, kinds[hostile_byte(h) % (sizeof(kinds) - 1)], arg);
}

struct ag_value hostile_value(struct hostile *h, char kind, uint32_t arg)
{
	switch (kind) {
	case 'T':
		return ag_arg(hostile_some(h));
	case 'L':
		return list_of(h, arg, 'T');
	case 'F':
		return list_of(h, arg, 'f');
	case 'X':
		return hostile_byte(h) % 4 ? ag_arg(hostile_some(h)) : ag_float(hostile_real(h));
	case 'n':
		return hostile_byte(h) % 2 ? ag_int(hostile_number(h)) : ag_float(hostile_real(h));
	case 'i':
		return ag_int(hostile_number(h));
	case 'f':
		return ag_float(hostile_real(h));
	case 'b':
		return ag_bool(hostile_byte(h) % 2);
	case 's':
		return text(h);
	case 'd':
		return ag_type(hostile_dtype(h));
	case 'I':
		return hostile_byte(h) % 3 ? list_of(h, arg, 'i') : ag_int(hostile_number(h));
	case 'v':
		return anything(h, arg);
	default:
		return ag_none();
	}
}

/* The name of the parameter that starts here; whether it must be named. */
static bool name_of(const char *at, char *name)
{
	size_t n;
	bool named;

	at += strcspn(at, " ,");
	at += strspn(at, " ");
	named = *at == '|';
	at += named;
	n = strcspn(at, "=,");
	n = n < HOSTILE_NAME ? n : HOSTILE_NAME - 1;
	memcpy(name, at, n);
	name[n] = '\0';
	return named;
}

/* Past the default of this parameter, which may be a list. */
static const char *next_param(const char *at)
{
	size_t n = strcspn(at, ",(");

	if (at[n] == '(')
		n += strcspn(at + n, ")");
	at += n + strcspn(at + n, ",");
	return at + strspn(at, ", ");
}

void hostile_read(struct hostile *h, const char *signature, bool all, struct hostile_args *a)
{
	static const char kinds[] = "TLXnifbsdI-vF";
	const char *at = signature;
	uint32_t n = 0, i;
	bool skipped = false;

	a->args = (struct ag_args){a->at, 0, a->keywords, 0};
	while (*at && n < HOSTILE_ARGS && (i = hostile_byte(h)) != 255) {
		char kind = *at;
		bool named = name_of(at, a->names[n]) && all;
		struct ag_value value;

		at = next_param(at);
		if (i > 249 && all) { /* left out: what follows is named */
			skipped = true;
			continue;
		}
		if (hostile_byte(h) > 247)
			kind = kinds[hostile_byte(h) % (sizeof(kinds) - 1)];
		value = hostile_value(h, kind, n);
		if (named || skipped) {
			a->keywords[a->args.nkeywords].name = a->names[n];
			a->keywords[a->args.nkeywords++].value = value;
			skipped = true;
		} else {
			a->at[a->args.count++] = value;
		}
		n++;
	}
}

/* ---- what is alive */

static bool count_reach(void *data, const struct ag_reach *reach)
{
	unsigned *budget = data;

	return reach->role && (*budget)-- > 0;
}

static bool look_at_storage(void *data, struct ag_storage *s)
{
	(void)data;
	return ag_kind_name(ag_storage_kind(s)) != NULL && ag_storage_refs(s) > 0;
}

static bool look_at_node(void *data, struct ag_node *n)
{
	struct ag_saved_info info;
	uint32_t i;

	(void)data;
	for (i = 0; i <= ag_node_saved(n); i++)
		ag_node_saved_at(n, i, &info);
	for (i = 0; i <= ag_node_edges(n); i++)
		ag_node_edge(n, i);
	return ag_node_name(n) != NULL;
}

void hostile_look_around(struct hostile *h)
{
	struct ag_tensor *t = hostile_some(h);
	unsigned budget = hostile_byte(h);
	struct ag_site_memory site;
	struct ag_device_memory device;

	if (t) {
		ag_reachable(h->ctx, t, NULL, count_reach, &budget);
		ag_reachable(h->ctx, NULL, ag_grad_fn(h->ctx, t), count_reach, &budget);
	}
	ag_each_storage(h->ctx, look_at_storage, NULL);
	ag_each_node(h->ctx, look_at_node, NULL);
	ag_each_garbage(h->ctx, count_reach, &budget);
	ag_site_memory(h->ctx, (uint32_t)hostile_number(h), &site);
	ag_device_memory(h->ctx, &device);
	ag_reset_peak(h->ctx);
}
