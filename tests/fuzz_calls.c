/* Bytes as calls of everything that ag.h offers, with arguments that may fit or not: ops by name
 * and by number, indexing, layers, optimizers, backward, regions. Sizes may be zero, negative or
 * too large for any machine. Each call gives a result or an error, and afterwards nothing is
 * alive. */

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/bug.h"
#include "runtime/ag.h"

enum { SLOTS = 8, MOST_ARGS = 12, MOST_ITEMS = 4, MOST_CALLS = 40 };

struct fuzz {
	const uint8_t *at, *end;
	struct ag_ctx *ctx;
	struct ag_tensor *slots[SLOTS];
	struct ag_value items[MOST_ARGS][MOST_ITEMS]; /* of lists among the arguments */
};

static const char *const modules[] = {
#define MODULE(name, signature, function, settings, run) #name,
#include "runtime/modules.def"
#undef MODULE
};

static const char *const optimizers[] = {"SGD",     "Adam",     "AdamW",  "RMSprop",
                                         "Adagrad", "Adadelta", "Adamax", "NAdam"};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned next(struct fuzz *f)
{
	return f->at < f->end ? *f->at++ : 0;
}

static int64_t number(struct fuzz *f)
{
	static const int64_t odd[] = {
	        -1,        -2,       -100, 7, 64, 1 << 20, INT64_C(1) << 31, INT64_C(1) << 40,
	        INT64_MAX, INT64_MIN};
	unsigned n = next(f);

	return n < 224 ? n % 5 : odd[n % (sizeof(odd) / sizeof(odd[0]))];
}

static double real(struct fuzz *f)
{
	static const double values[] = {0, 1, 0.5, -1, 2, 1e-8, 1e300, -0.25};

	return values[next(f) % 8];
}

/* ---- tensors */

static struct ag_tensor *fresh(struct fuzz *f)
{
	static const enum ag_dtype dtypes[] = {AG_F32,   AG_F32, AG_F64, AG_I64,
	                                       AG_BOOL8, AG_F16, AG_C64, AG_U8};
	unsigned head = next(f);
	enum ag_dtype dtype = dtypes[head % 8];
	int64_t shape[AG_MAX_DIMS + 1];
	int ndim = (int)(head / 8 % 6), d;
	struct ag_tensor *t;
	double values[64];

	if (head > 250)
		ndim = AG_MAX_DIMS + 1;
	for (d = 0; d < ndim; d++)
		shape[d] = number(f);
	t = ag_tensor_new(f->ctx, dtype, ndim, shape, NULL);
	if (t && ag_numel(t) <= 64) {
		for (d = 0; d < ag_numel(t); d++)
			values[d] = dtype == AG_I64 ? (double)(next(f) % 4) : real(f);
		ag_write(f->ctx, t, values, ag_numel(t));
	}
	if (t && next(f) % 2)
		ag_set_requires_grad(f->ctx, t, true);
	return t;
}

static struct ag_tensor *some(struct fuzz *f)
{
	return f->slots[next(f) % SLOTS];
}

static void put(struct fuzz *f, struct ag_tensor *t)
{
	unsigned i = next(f) % SLOTS;

	if (!t)
		return;
	ag_release(f->slots[i]);
	f->slots[i] = t;
}

static void take_results(struct fuzz *f, struct ag_results *results)
{
	uint32_t i;

	for (i = 0; i < results->count && i < 3; i++)
		put(f, ag_results_take(results, i));
	ag_results_release(results);
}

/* ---- arguments */

static struct ag_value text(struct fuzz *f)
{
	static const char *const words[] = {"mean",    "none",     "sum",      "reflect",
	                                    "nearest", "bilinear", "tanh",     "channels_last",
	                                    "ij,jk",   "ii->i",    "a...,b->", "floor"};
	const char *word = words[next(f) % (sizeof(words) / sizeof(words[0]))];

	return ag_text(word, strlen(word));
}

static struct ag_value list_of(struct fuzz *f, uint32_t arg, bool tensors)
{
	uint32_t count = next(f) % (MOST_ITEMS + 1), i;

	for (i = 0; i < count; i++)
		f->items[arg][i] = tensors ? ag_arg(some(f)) : ag_int(number(f));
	return ag_list(f->items[arg], count);
}

static struct ag_value value_of(struct fuzz *f, char kind, uint32_t arg)
{
	switch (kind) {
	case 'T':
		return ag_arg(some(f));
	case 'L':
		return list_of(f, arg, true);
	case 'X':
		return next(f) % 4 ? ag_arg(some(f)) : ag_float(real(f));
	case 'n':
		return next(f) % 2 ? ag_int(number(f)) : ag_float(real(f));
	case 'i':
		return ag_int(number(f));
	case 'f':
		return ag_float(real(f));
	case 'b':
		return ag_bool(next(f) % 2);
	case 's':
		return text(f);
	case 'd':
		return ag_type((enum ag_dtype)(next(f) % AG_DTYPE_COUNT));
	case 'I':
		return next(f) % 3 ? list_of(f, arg, false) : ag_int(number(f));
	default:
		return ag_none();
	}
}

/* Arguments for a signature ("T input, i dim=0"): mostly of the kinds that it wants. */
static uint32_t arguments(struct fuzz *f, const char *signature, struct ag_value *v)
{
	static const char kinds[] = "TLXnifbsdI-";
	const char *at = signature;
	uint32_t n = 0;

	while (*at && n < MOST_ARGS && next(f) != 255) {
		char kind = *at;

		if (next(f) > 247)
			kind = kinds[next(f) % (sizeof(kinds) - 1)];
		v[n] = value_of(f, kind, n);
		n++;
		at += strcspn(at, ",");
		at += strspn(at, ", ");
	}
	return n;
}

/* ---- calls */

static void call_op(struct fuzz *f)
{
	enum ag_op op = (enum ag_op)((next(f) * 256 + next(f)) % AG_OP_COUNT);
	const struct ag_op_info *info = ag_op_info(op);
	struct ag_value v[MOST_ARGS];
	struct ag_results results;
	char name[64] = "";
	size_t length = info && info->names ? strcspn(info->names, " ") : 0;
	uint32_t count;

	if (!length || length + 2 > sizeof(name))
		return;
	memcpy(name, info->names, length);
	count = arguments(f, info->signature, v);
	if (next(f) % 4 == 0)
		name[length] = '_';
	if (next(f) % 2) {
		struct ag_args args = {v, count, NULL, 0};

		ag_call(f->ctx, name, &args, &results);
	} else {
		ag_call_op(f->ctx, op, name[length] == '_', v, count, &results);
	}
	take_results(f, &results);
}

static void call_index(struct fuzz *f)
{
	struct ag_index index[3] = {{.kind = AG_AT}};
	uint32_t count = next(f) % 4, i;
	struct ag_tensor *t = some(f);

	for (i = 0; i < count; i++) {
		unsigned bits = next(f);

		index[i].kind = (enum ag_index_kind)(bits % 5);
		index[i].start = number(f);
		index[i].stop = number(f);
		index[i].step = bits & 64 ? number(f) : 0;
		index[i].has_start = bits & 16;
		index[i].has_stop = bits & 32;
		index[i].tensor = some(f);
	}
	if (!t)
		return;
	if (next(f) % 2) {
		put(f, ag_index(f->ctx, t, index, count));
	} else {
		struct ag_value value = value_of(f, 'X', 0);

		ag_index_put(f->ctx, t, index, count, &value);
	}
}

static void call_layer(struct fuzz *f)
{
	const char *name = modules[next(f) % (sizeof(modules) / sizeof(modules[0]))];
	struct ag_value v[MOST_ARGS];
	struct ag_args args = {v, 0, NULL, 0};
	struct ag_results results;
	struct ag_module *m;

	args.count = arguments(f, "i, i, i", v);
	m = ag_module_new(f->ctx, name, &args);
	if (!m)
		return;
	args.count = arguments(f, "T, T, T", v);
	ag_module_call(f->ctx, m, &args, &results);
	take_results(f, &results);
	if (next(f) % 4 == 0)
		ag_module_to_format(f->ctx, m, (enum ag_format)(next(f) % 4));
	ag_module_zero_grad(f->ctx, m, next(f) % 2);
	ag_module_release(m);
}

static void call_optimizer(struct fuzz *f)
{
	const char *name = optimizers[next(f) % (sizeof(optimizers) / sizeof(optimizers[0]))];
	struct ag_keyword lr = {"lr", ag_float(real(f))};
	struct ag_args args = {NULL, 0, &lr, 1};
	struct ag_tensor *params[2] = {some(f), some(f)};
	struct ag_optim *opt;

	if (!params[0] || !params[1] || !ag_optim_known(name))
		return;
	opt = ag_optim_new(f->ctx, name, params, 2, &args);
	if (!opt)
		return;
	ag_optim_step(f->ctx, opt);
	ag_optim_zero_grad(f->ctx, opt, next(f) % 2);
	ag_optim_release(opt);
}

static void call_backward(struct fuzz *f)
{
	unsigned flags = next(f) % 8;
	struct ag_tensor *t = some(f), *grad = next(f) % 2 ? some(f) : NULL, *input = some(f), *out;

	if (!t)
		return;
	if (next(f) % 4) {
		/* A graph in .grad is a cycle, which stays. */
		ag_backward(f->ctx, t, grad, flags & ~(unsigned)AG_CREATE_GRAPH);
		return;
	}
	if (input && ag_grad(f->ctx, &t, grad ? &grad : NULL, 1, &input, 1, flags, &out))
		put(f, out);
}

static void call_tensor(struct fuzz *f)
{
	struct ag_tensor *t = some(f), *other = some(f);
	double value;

	if (!t)
		return;
	switch (next(f) % 8) {
	case 0:
		ag_set_requires_grad(f->ctx, t, next(f) % 2);
		break;
	case 1:
		ag_retain_grad(f->ctx, t);
		break;
	case 2:
		if (other)
			ag_set_data(f->ctx, t, other);
		break;
	case 3:
		put(f, ag_data_of(f->ctx, t));
		break;
	case 4:
		ag_set_grad(f->ctx, t, NULL);
		break;
	case 5:
		ag_item(f->ctx, t, &value);
		break;
	case 6:
		put(f, ag_parameter(f->ctx, t, next(f) % 2));
		break;
	default:
		put(f, ag_opaque(f->ctx, &t, 1, AG_F32, ag_ndim(t), ag_shape(t), next(f) % 2));
		break;
	}
}

static void call_mode(struct fuzz *f)
{
	struct ag_autocast region = {next(f) % 2, next(f) % 2 ? AG_BF16 : AG_F16, next(f) % 4 != 0};
	struct ag_autocast before;
	unsigned i, calls = next(f) % 4;

	if (next(f) % 4 == 0) {
		ag_set_grad_mode(f->ctx, (struct ag_grad_mode){next(f) % 2, false});
		return;
	}
	before = ag_autocast_enter(f->ctx, AG_CPU, region);
	for (i = 0; i < calls; i++)
		call_op(f);
	if (next(f) % 4 == 0)
		ag_autocast_forget(f->ctx);
	ag_autocast_exit(f->ctx, AG_CPU, before);
	if (next(f) % 8 == 0)
		ag_autocast_set(f->ctx, AG_CPU, region);
}

static void step(struct fuzz *f)
{
	static void (*const calls[])(struct fuzz *) = {call_layer,  call_optimizer, call_index,
	                                               call_tensor, call_mode,      call_backward};
	unsigned what = next(f);

	ag_error_clear(f->ctx);
	if (what < 32)
		put(f, fresh(f));
	else if (what < 160)
		call_op(f);
	else
		calls[what % 6](f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz *f = calloc(1, sizeof(*f));
	struct ag_options options = {
	        .byte_cap = 1 << 26, .data_cap = 1 << 16, .work_cap = 1e7, .node_cap = 20000};
	struct ag_memory memory;
	int i;

	BUG_IF(!f);
	f->at = data;
	f->end = data + size;
	options.meta = next(f) % 4 == 0;
	if (next(f) % 4 == 0)
		options.byte_cap = 0;
	f->ctx = ag_open(&options);
	for (i = 0; i < 4; i++)
		put(f, fresh(f));
	for (i = 0; i < MOST_CALLS && f->at < f->end; i++)
		step(f);
	for (i = 0; i < SLOTS; i++)
		ag_release(f->slots[i]);
	ag_memory(f->ctx, &memory);
	if (memory.tensors || memory.nodes) {
		/* Only what refers to itself may be left. */
		struct ag_garbage garbage;

		ag_find_garbage(f->ctx, &garbage);
		BUG_IF(garbage.tensors == 0 && garbage.nodes == 0);
	}
	ag_close(f->ctx);
	free(f);
	return 0;
}
