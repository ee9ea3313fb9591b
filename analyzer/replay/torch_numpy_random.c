#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/replay/torch.h"
#include "runtime/numpy_random.h"

/* What lib/numpy.random.py draws from: a stream is a bytes object that holds a
 * struct ag_numpy_random. Results are arrays, or numbers where no shape is asked for. */

#define NATIVE(name) static struct val name(struct vm *vm, struct val *a, uint32_t n)

static struct val stream_bytes(struct vm *vm, const struct ag_numpy_random *random)
{
	struct val s = val_obj(str_new(vm, (const char *)random, sizeof(*random)));

	s.as.o->kind = K_BYTES;
	s.as.o->cls = vm->t[TY_bytes];
	return s;
}

/* The stream of a bytes object in and out again, because that may not be aligned. */
static struct ag_numpy_random stream_read(struct val stream)
{
	struct ag_numpy_random random;

	memcpy(&random, AS(str, stream)->at, sizeof(random));
	return random;
}

static void stream_write(struct val stream, const struct ag_numpy_random *random)
{
	memcpy(AS(str, stream)->at, random, sizeof(*random));
}

NATIVE(numpy_stream)
{
	struct ag_numpy_random random;
	int64_t seed = 0;

	(void)n;
	if (!arg_int(vm, a[0], 0, &seed))
		return val_null();
	if (rp_truth(vm, a[1]) > 0) {
		uint32_t words[2] = {(uint32_t)seed, (uint32_t)((uint64_t)seed >> 32)};

		ag_numpy_seed_generator(&random, words, words[1] ? 2 : 1);
	} else if (seed < 0 || seed > UINT32_MAX) {
		return rp_raise(vm, TY_ValueError, "Seed must be between 0 and 2**32 - 1");
	} else {
		ag_numpy_seed(&random, (uint32_t)seed);
	}
	return stream_bytes(vm, &random);
}

NATIVE(numpy_stream_copy)
{
	struct ag_numpy_random random = stream_read(a[0]);

	(void)n;
	return stream_bytes(vm, &random);
}

/* Some of what is drawn, with what it is drawn by. */
struct draw {
	struct ag_numpy_random random;
	double a, b;
	int64_t low;
	uint64_t width;
};

typedef double draw_fn(struct draw *d);

static double draw_double(struct draw *d)
{
	return d->a + (d->b - d->a) * ag_numpy_double(&d->random);
}

static double draw_normal(struct draw *d)
{
	return d->a + d->b * ag_numpy_normal(&d->random);
}

static double draw_exponential(struct draw *d)
{
	return d->a * ag_numpy_exponential(&d->random);
}

static double draw_gamma(struct draw *d)
{
	return d->b * ag_numpy_gamma(&d->random, d->a);
}

static double draw_beta(struct draw *d)
{
	return ag_numpy_beta(&d->random, d->a, d->b);
}

static double draw_binomial(struct draw *d)
{
	return (double)ag_numpy_binomial(&d->random, (int64_t)d->a, d->b);
}

static double draw_poisson(struct draw *d)
{
	return (double)ag_numpy_poisson(&d->random, d->a);
}

static double draw_integer(struct draw *d)
{
	return (double)ag_numpy_integer(&d->random, d->low, d->width);
}

static const struct {
	const char *name;
	draw_fn *fn;
	bool whole;
} draws[] = {
        {"uniform", draw_double, false},
        {"normal", draw_normal, false},
        {"exponential", draw_exponential, false},
        {"gamma", draw_gamma, false},
        {"beta", draw_beta, false},
        {"binomial", draw_binomial, true},
        {"poisson", draw_poisson, true},
};

/* An array, whose memory is NumPy's. */
static struct val array_of(struct vm *vm, enum ag_dtype dtype, uint32_t ndim, const int64_t *shape,
                           const void *data)
{
	bool before = ag_set_foreign(ctx_of(vm), true);
	struct val array = array_wrap(vm, ag_tensor_new(ctx_of(vm), dtype, (int)ndim, shape, data));

	ag_set_foreign(ctx_of(vm), before);
	return array;
}

enum { MOST_DIMS = 16, MOST_DRAWN = 1 << 26 };

static struct val draw_many(struct vm *vm, struct draw *d, draw_fn *fn, bool whole,
                            struct val shape)
{
	int64_t sizes[MOST_DIMS], count = 1;
	uint32_t ndim;
	double *drawn;
	struct val array;

	if (!torch_ints(vm, shape, sizes, &ndim, MOST_DIMS))
		return val_null();
	for (uint32_t i = 0; i < ndim; i++)
		if (sizes[i] < 0 || (count *= sizes[i]) > MOST_DRAWN)
			return rp_raise(vm, TY_ValueError, "cannot draw that many numbers");
	drawn = checked_alloc((size_t)count + 1, sizeof(*drawn));
	for (int64_t i = 0; i < count; i++) {
		double value = fn(d);
		int64_t integer = (int64_t)value;

		memcpy(&drawn[i], whole ? (void *)&integer : (void *)&value, sizeof(value));
	}
	array = array_of(vm, whole ? AG_I64 : AG_F64, ndim, sizes, drawn);
	free(drawn);
	return array;
}

static struct val draw_some(struct vm *vm, struct val stream, struct draw *d, draw_fn *fn,
                            bool whole, struct val shape)
{
	struct val result;

	d->random = stream_read(stream);
	if (is_missing(shape)) {
		double value = fn(d);

		result = whole ? val_int((int64_t)value) : val_float(value);
	} else {
		result = draw_many(vm, d, fn, whole, shape);
	}
	stream_write(stream, &d->random);
	return result;
}

static bool any_unknown(const struct val *a, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (is_kind(a[i], K_UNKNOWN))
			return true;
	return false;
}

/* stream, name, shape, and up to two parameters */
NATIVE(numpy_draw)
{
	struct draw d = {.b = 1};

	if (any_unknown(a, n))
		return unknown_new(vm, "random numbers");
	if ((!is_missing(a[3]) && !rp_double(vm, a[3], &d.a)) ||
	    (!is_missing(a[4]) && !rp_double(vm, a[4], &d.b)))
		return val_null();
	if ((str_is(AS(str, a[1]), "binomial") && d.a * fmin(d.b, 1 - d.b) > 30) ||
	    (str_is(AS(str, a[1]), "poisson") && d.a >= 10)) {
		vm_stand_in(vm, "numpy.random.%s of a large mean", chars_of(a[1]));
		return unknown_new(vm, "random numbers");
	}
	for (size_t i = 0; i < sizeof(draws) / sizeof(draws[0]); i++)
		if (str_is(AS(str, a[1]), draws[i].name))
			return draw_some(vm, a[0], &d, draws[i].fn, draws[i].whole, a[2]);
	return rp_raise(vm, TY_ValueError, "unknown distribution");
}

/* stream, low, the first that is too high, shape */
NATIVE(numpy_integers)
{
	struct draw d = {0};
	int64_t high;

	if (any_unknown(a, n))
		return unknown_new(vm, "random integers");
	if (!rp_index(vm, a[1], &d.low) || !rp_index(vm, a[2], &high))
		return val_null();
	if (high <= d.low)
		return rp_raise(vm, TY_ValueError, "low >= high");
	d.width = (uint64_t)high - (uint64_t)d.low - 1;
	return draw_some(vm, a[0], &d, draw_integer, true, a[3]);
}

/* stream, count, and how many of them; all: in the order of a shuffle */
NATIVE(numpy_order)
{
	struct ag_numpy_random random = stream_read(a[0]);
	int64_t count, some, *order;
	struct val array;

	(void)n;
	if (any_unknown(a, n))
		return unknown_new(vm, "random order");
	if (!rp_index(vm, a[1], &count) || !arg_int(vm, a[2], count, &some))
		return val_null();
	if (count < 0 || some < 0 || some > count || count > MOST_DRAWN)
		return rp_raise(
		        vm, TY_ValueError,
		        "Cannot take a larger sample than population when replace is False");
	order = checked_alloc((size_t)count + 1, sizeof(*order));
	if (is_missing(a[2]))
		ag_numpy_shuffle(&random, order, (size_t)count);
	else
		ag_numpy_sample(&random, order, (size_t)count, (size_t)some);
	stream_write(a[0], &random);
	array = array_of(vm, AG_I64, 1, &some, order);
	free(order);
	return array;
}

/* Changes a list in place as shuffling it would: the old index of each place is known. */
NATIVE(numpy_arrange)
{
	struct list *list = AS(list, a[0]), *order = list_from(vm, a[1]);
	struct val *old;

	(void)n;
	if (!order)
		return val_null();
	old = checked_alloc((size_t)list->count + 1, sizeof(*old));
	memcpy(old, list->at, list->count * sizeof(*old));
	for (uint32_t i = 0; i < list->count && i < order->count; i++)
		list->at[i] = old[order->at[i].as.i];
	free(old);
	unref_obj(vm, order);
	return val_none();
}

static const struct native_def functions[] = {
        {"stream", numpy_stream, "seed generator"},
        {"copy", numpy_stream_copy, "stream"},
        {"draw", numpy_draw, "stream name shape ? a b"},
        {"integers", numpy_integers, "stream low high shape"},
        {"order", numpy_order, "stream count ? some"},
        {"arrange", numpy_arrange, "list order"},
        {0},
};

extern const struct native_module numpy_random_module;
const struct native_module numpy_random_module = {"_numpy_random", functions, NULL, NULL};
