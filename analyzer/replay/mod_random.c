#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/replay/modules.h"
#include "runtime/python_random.h"

/* Functions of module random. Those of a random.Random (lib/random.py) are the same on
 * another stream, whose state it has as bytes. */

#define RANDOM(name) static struct val name(struct vm *vm, struct val *a, uint32_t n)

static struct ag_python_random *stream(struct vm *vm)
{
	if (!vm->random) {
		vm->random = checked_alloc(1, sizeof(struct ag_python_random));
		ag_python_seed(vm->random, 0x6772617068);
	}
	return vm->random;
}

RANDOM(random_seed)
{
	int64_t seed = 0;

	(void)n;
	if (is_any_int(a[0])) {
		if (is_kind(a[0], K_LONG))
			ag_python_seed_words(stream(vm), AS(big, a[0])->limb, AS(big, a[0])->count);
		else
			ag_python_seed(stream(vm), a[0].as.i);
		return val_none();
	}
	if (is_kind(a[0], K_STR) || is_kind(a[0], K_BYTES))
		return library_call(vm, "random", "_seed_text", a, 1);
	if (a[0].tag == PY_FLOAT && a[0].as.f == floor(a[0].as.f) && fabs(a[0].as.f) < 1e15)
		seed = (int64_t)a[0].as.f;
	ag_python_seed(stream(vm), seed);
	return val_none();
}

RANDOM(random_random)
{
	(void)a, (void)n;
	return val_float(ag_python_random(stream(vm)));
}

RANDOM(random_getrandbits)
{
	int64_t bits;

	(void)n;
	if (!rp_index(vm, a[0], &bits))
		return val_null();
	if (bits < 0)
		return rp_raise(vm, TY_ValueError, "number of bits must be non-negative");
	if (bits > 63)
		return library_call(vm, "random", "_many_bits", a, 1);
	return val_int((int64_t)(ag_python_bits(stream(vm), bits > 63 ? 63 : (unsigned)bits)));
}

RANDOM(random_randint)
{
	int64_t low, high;

	(void)n;
	if (is_kind(a[0], K_UNKNOWN) || is_kind(a[1], K_UNKNOWN))
		return unknown_new(vm, "random integer");
	if (is_kind(a[0], K_LONG) || is_kind(a[1], K_LONG))
		return library_call(vm, "random", "_wide", a, 2);
	if (!rp_index(vm, a[0], &low) || !rp_index(vm, a[1], &high))
		return val_null();
	if (high < low)
		return rp_raise(vm, TY_ValueError, "empty range for randrange() (%lld, %lld, %lld)",
		                (long long)low, (long long)high + 1, (long long)(high + 1 - low));
	return val_int(ag_python_int(stream(vm), low, high));
}

RANDOM(random_randrange)
{
	int64_t start, stop, step = 1, width;

	(void)n;
	if (is_kind(a[0], K_UNKNOWN) || is_kind(a[1], K_UNKNOWN))
		return unknown_new(vm, "random integer");
	if (!rp_index(vm, a[0], &start))
		return val_null();
	if (is_missing(a[1]))
		stop = start, start = 0;
	else if (!rp_index(vm, a[1], &stop) || !arg_int(vm, a[2], 1, &step))
		return val_null();
	width = step > 0 ? (stop - start + step - 1) / step
	        : step   ? (stop - start + step + 1) / step
	                 : 0;
	if (width <= 0)
		return rp_raise(vm, TY_ValueError, "empty range for randrange()");
	return val_int(start + step * (int64_t)ag_python_below(stream(vm), (uint64_t)width));
}

static struct val two_doubles(struct vm *vm, struct val *a, double first, double second,
                              double (*fn)(struct ag_python_random *, double, double))
{
	double x = first, y = second;

	if ((!is_missing(a[0]) && !rp_double(vm, a[0], &x)) ||
	    (!is_missing(a[1]) && !rp_double(vm, a[1], &y)))
		return val_null();
	return val_float(fn(stream(vm), x, y));
}

RANDOM(random_uniform)
{
	(void)n;
	return two_doubles(vm, a, 0, 1, ag_python_uniform);
}

RANDOM(random_gauss)
{
	(void)n;
	return two_doubles(vm, a, 0, 1, ag_python_gauss);
}

RANDOM(random_normalvariate)
{
	(void)n;
	return two_doubles(vm, a, 0, 1, ag_python_normal);
}

RANDOM(random_expovariate)
{
	double lambda = 1;

	(void)n;
	if (!is_missing(a[0]) && !rp_double(vm, a[0], &lambda))
		return val_null();
	return val_float(ag_python_exponential(stream(vm), lambda));
}

RANDOM(random_choice)
{
	int64_t length;

	(void)n;
	if (is_kind(a[0], K_UNKNOWN))
		return unknown_new(vm, "random choice");
	length = rp_length(vm, a[0]);
	if (length < 0)
		return val_null();
	if (!length)
		return rp_raise(vm, TY_IndexError, "Cannot choose from an empty sequence");
	return rp_item(vm, a[0], val_int((int64_t)ag_python_below(stream(vm), (uint64_t)length)));
}

RANDOM(random_shuffle)
{
	struct list *list;
	size_t *order;
	struct val *old;

	(void)n;
	if (!is_kind(a[0], K_LIST))
		return is_kind(a[0], K_UNKNOWN) ? val_none()
		                                : rp_raise(vm, TY_TypeError, "cannot shuffle '%s'",
		                                           type_name(vm, a[0]));
	list = AS(list, a[0]);
	order = checked_alloc(list->count + 1, sizeof(*order));
	old = checked_alloc(list->count + 1, sizeof(*old));
	ag_python_shuffle(stream(vm), order, list->count);
	for (uint32_t i = 0; i < list->count; i++)
		old[i] = list->at[i];
	for (uint32_t i = 0; i < list->count; i++)
		list->at[i] = old[order[i]];
	free(order);
	free(old);
	return val_none();
}

static struct val picked(struct vm *vm, struct val from, const size_t *at, size_t count)
{
	struct list *out = list_new(vm, (uint32_t)count);

	for (size_t i = 0; i < count; i++) {
		struct val v = rp_item(vm, from, val_int((int64_t)at[i]));

		if (is_null(v)) {
			unref_obj(vm, out);
			return v;
		}
		list_push(vm, out, v);
	}
	return val_obj(out);
}

RANDOM(random_sample)
{
	int64_t length, count;
	size_t *at;
	struct val result;

	(void)n;
	if (is_kind(a[0], K_UNKNOWN) || is_kind(a[1], K_UNKNOWN))
		return unknown_new(vm, "random sample");
	length = rp_length(vm, a[0]);
	if (length < 0 || !rp_index(vm, a[1], &count))
		return val_null();
	if (count < 0 || count > length)
		return rp_raise(vm, TY_ValueError, "Sample larger than population or is negative");
	at = checked_alloc((size_t)count + 1, sizeof(*at));
	ag_python_sample(stream(vm), at, (size_t)length, (size_t)count);
	result = picked(vm, a[0], at, (size_t)count);
	free(at);
	return result;
}

static bool running_sums(struct vm *vm, struct val weights, bool summed, double *out, int64_t count)
{
	double sum = 0, w;

	for (int64_t i = 0; i < count; i++) {
		struct val v = rp_item(vm, weights, val_int(i));
		bool ok = !is_null(v) && rp_double(vm, v, &w);

		unref(vm, v);
		if (!ok)
			return false;
		sum = summed ? w : sum + w;
		out[i] = sum;
	}
	return true;
}

RANDOM(random_choices)
{
	int64_t length = rp_length(vm, a[0]), count;
	struct val weights = is_missing(a[2]) ? a[1] : a[2], result = val_null();
	double *sums;
	size_t *at;

	(void)n;
	if (length <= 0 || !arg_int(vm, a[3], 1, &count) || count < 0)
		return is_null(vm->exc) ? rp_raise(vm, TY_IndexError, "empty population")
		                        : val_null();
	at = checked_alloc((size_t)count + 1, sizeof(*at));
	sums = checked_alloc((size_t)length, sizeof(*sums));
	if (is_missing(weights))
		ag_python_choices(stream(vm), at, (size_t)length, (size_t)count);
	else if (running_sums(vm, weights, !is_missing(a[2]), sums, length))
		ag_python_choices_weighted(stream(vm), at, sums, (size_t)length, (size_t)count);
	if (is_null(vm->exc))
		result = picked(vm, a[0], at, (size_t)count);
	free(at);
	free(sums);
	return result;
}

/* --- streams of their own */

RANDOM(random_stream)
{
	struct str *s = rp_new(vm, K_BYTES, vm->t[TY_bytes],
	                       sizeof(*s) + sizeof(struct ag_python_random) + 1);

	(void)a, (void)n;
	s->length = s->chars = sizeof(struct ag_python_random);
	return val_obj(s);
}

/* A call of a function of the module on the stream with that state. */
RANDOM(random_on)
{
	struct ag_python_random *around = vm->random, own;
	struct str *state = AS(str, a[0]);
	struct val result;

	(void)n;
	if (!is_kind(a[0], K_BYTES) || state->length != sizeof(own))
		return rp_raise(vm, TY_TypeError, "no stream of random numbers");
	memcpy(&own, state->at, sizeof(own));
	vm->random = &own;
	result = rp_call(vm, a[1], AS(list, a[2])->at, AS(list, a[2])->count,
	                 is_kind(a[3], K_DICT) ? AS(dict, a[3]) : NULL);
	vm->random = around;
	memcpy(state->at, &own, sizeof(own));
	return result;
}

RANDOM(random_getstate)
{
	const struct ag_python_random *r = stream(vm);
	struct list *words = tuple_new(vm, AG_MERSENNE_WORDS + 1), *state = tuple_new(vm, 3);

	(void)a, (void)n;
	for (uint32_t i = 0; i < AG_MERSENNE_WORDS; i++)
		words->at[i] = val_int(r->engine.word[i]);
	words->at[AG_MERSENNE_WORDS] = val_int(r->engine.next);
	state->at[0] = val_int(3);
	state->at[1] = val_obj(words);
	state->at[2] = r->has_next_gauss ? val_float(r->next_gauss) : val_none();
	return val_obj(state);
}

RANDOM(random_setstate)
{
	struct ag_python_random *r = stream(vm);
	struct list *state = AS(list, a[0]), *words;

	(void)n;
	if (is_kind(a[0], K_UNKNOWN))
		return val_none();
	words = is_kind(a[0], K_TUPLE) && state->count == 3 && is_kind(state->at[1], K_TUPLE)
	                ? AS(list, state->at[1])
	                : NULL;
	if (!words || words->count != AG_MERSENNE_WORDS + 1)
		return rp_raise(vm, TY_ValueError, "state vector is the wrong size");
	for (uint32_t i = 0; i < AG_MERSENNE_WORDS; i++)
		r->engine.word[i] = (uint32_t)words->at[i].as.i;
	r->engine.next = (uint32_t)words->at[AG_MERSENNE_WORDS].as.i;
	if (r->engine.next > AG_MERSENNE_WORDS)
		r->engine.next = AG_MERSENNE_WORDS;
	r->has_next_gauss = state->at[2].tag == PY_FLOAT;
	r->next_gauss = r->has_next_gauss ? state->at[2].as.f : 0;
	return val_none();
}

static const struct native_def random_functions[] = {
        {"seed", random_seed, "? a version"},
        {"random", random_random, ""},
        {"getstate", random_getstate, ""},
        {"setstate", random_setstate, "state"},
        {"_stream", random_stream, ""},
        {"_on", random_on, "state fn args kw"},
        {"getrandbits", random_getrandbits, "k"},
        {"randint", random_randint, "a b"},
        {"randrange", random_randrange, "start ? stop step"},
        {"uniform", random_uniform, "a b"},
        {"gauss", random_gauss, "? mu sigma"},
        {"normalvariate", random_normalvariate, "? mu sigma"},
        {"expovariate", random_expovariate, "? lambd"},
        {"choice", random_choice, "seq"},
        {"shuffle", random_shuffle, "x"},
        {"sample", random_sample, "population k ? | counts"},
        {"choices", random_choices, "population ? weights | cum_weights k"},
        {0},
};

const struct native_module random_module = {"random", random_functions, NULL, NULL};
