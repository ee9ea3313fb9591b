#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/replay/py.h"

static size_t trimmed(struct str *s, const char **start)
{
	const char *at = s->at, *end = s->at + s->length;

	while (at < end && (*at == ' ' || (*at >= 9 && *at <= 13)))
		at++;
	while (end > at && (end[-1] == ' ' || (end[-1] >= 9 && end[-1] <= 13)))
		end--;
	*start = at;
	return (size_t)(end - at);
}

static struct val int_of_str(struct vm *vm, struct val s, int base)
{
	const char *at;
	size_t length = trimmed(AS(str, s), &at);
	struct val v = int_of_text(vm, at, length, base), shown;

	if (!is_null(v) || vm->halt)
		return v;
	shown = rp_repr(vm, s);
	rp_raise(vm, TY_ValueError, "invalid literal for int() with base %d: %s", base,
	         is_kind(shown, K_STR) ? chars_of(shown) : "?");
	unref(vm, shown);
	return val_null();
}

static struct val int_of(struct vm *vm, struct val *a, uint32_t n)
{
	int64_t base = 10;

	(void)n;
	if (is_null(a[1]))
		return val_int(0);
	if (!arg_int(vm, a[2], 10, &base))
		return val_null();
	if (is_kind(a[1], K_UNKNOWN))
		return unknown_new(vm, "number %s", AS(unknown, a[1])->what->at);
	if (AS(cls, a[0]) == vm->t[TY_bool]) {
		int truth = rp_truth(vm, a[1]);

		return truth < 0 ? val_null() : val_bool(truth);
	}
	if (is_kind(a[1], K_STR) || is_kind(a[1], K_BYTES))
		return int_of_str(vm, a[1], (int)base);
	return rp_to_int(vm, a[1]);
}

static struct val of_class(struct vm *vm, struct val cls, enum rp_type type, struct val value)
{
	if (is_null(value) || !is_kind(cls, K_CLASS) || !(AS(cls, cls)->flags & CLS_HEAP) ||
	    !cls_is(AS(cls, cls), vm->t[type]))
		return value;
	return number_new(vm, AS(cls, cls), value);
}

static struct val int_new(struct vm *vm, struct val *a, uint32_t n)
{
	return of_class(vm, a[0], TY_int, int_of(vm, a, n));
}

static struct val int_bit_length_method(struct vm *vm, struct val *a, uint32_t n)
{
	(void)vm, (void)n;
	return val_int(int_bit_length(number_plain(a[0])));
}

static struct val float_of_str(struct vm *vm, struct val s)
{
	const char *at;
	size_t length = trimmed(AS(str, s), &at);
	char digits[400], *end;
	size_t used = 0;
	double f;

	for (size_t i = 0; i < length && used + 1 < sizeof(digits); i++)
		if (at[i] != '_')
			digits[used++] = at[i];
	digits[used] = 0;
	f = strtod(digits, &end);
	if (used && !*end && !strpbrk(digits, "xXpP"))
		return val_float(f);
	return rp_raise(vm, TY_ValueError, "could not convert string to float: '%s'",
	                AS(str, s)->at);
}

static struct val float_of(struct vm *vm, struct val *a, uint32_t n)
{
	double f;

	(void)n;
	if (is_null(a[1]))
		return val_float(0);
	if (is_kind(a[1], K_UNKNOWN))
		return unknown_new(vm, "number %s", AS(unknown, a[1])->what->at);
	if (is_kind(a[1], K_STR))
		return float_of_str(vm, a[1]);
	if (!rp_double(vm, a[1], &f)) {
		if (exc_is(vm, TY_TypeError)) {
			exc_clear(vm);
			rp_raise(vm, TY_TypeError,
			         "float() argument must be a string or a real "
			         "number, not '%s'",
			         type_name(vm, a[1]));
		}
		return val_null();
	}
	return val_float(f);
}

static struct val float_new(struct vm *vm, struct val *a, uint32_t n)
{
	return of_class(vm, a[0], TY_float, float_of(vm, a, n));
}

static struct val float_is_integer(struct vm *vm, struct val *a, uint32_t n)
{
	double f;

	(void)n;
	return rp_double(vm, a[0], &f) ? val_bool(isfinite(f) && floor(f) == f) : val_null();
}

static struct val number_self(struct vm *vm, struct val *a, uint32_t n)
{
	(void)vm, (void)n;
	return ref(number_plain(a[0]));
}

static struct val number_repr(struct vm *vm, struct val *a, uint32_t n)
{
	(void)n;
	return rp_repr(vm, number_plain(a[0]));
}

static struct val number_hash(struct vm *vm, struct val *a, uint32_t n)
{
	uint64_t hash;

	(void)n;
	return rp_hash(vm, number_plain(a[0]), &hash) ? val_int((int64_t)(hash >> 1)) : val_null();
}

static struct val number_bool(struct vm *vm, struct val *a, uint32_t n)
{
	int truth = rp_truth(vm, number_plain(a[0]));

	(void)n;
	return truth < 0 ? val_null() : val_bool(truth);
}

#define OPERATOR(name, sub)                                                                        \
	static struct val number_##name(struct vm *vm, struct val *a, uint32_t n)                  \
	{                                                                                          \
		(void)n;                                                                           \
		return rp_binary(vm, sub, number_plain(a[0]), number_plain(a[1]));                 \
	}                                                                                          \
	static struct val number_r##name(struct vm *vm, struct val *a, uint32_t n)                 \
	{                                                                                          \
		(void)n;                                                                           \
		return rp_binary(vm, sub, number_plain(a[1]), number_plain(a[0]));                 \
	}
OPERATOR(add, SUB_binary_add)
OPERATOR(sub, SUB_binary_subtract)
OPERATOR(mul, SUB_binary_multiply)
OPERATOR(truediv, SUB_binary_divide)

#define NUMBER_METHODS                                                                             \
	{"__add__", number_add, "self other"}, {"__radd__", number_radd, "self other"},            \
	        {"__sub__", number_sub, "self other"}, {"__rsub__", number_rsub, "self other"},    \
	        {"__mul__", number_mul, "self other"}, {"__rmul__", number_rmul, "self other"},    \
	        {"__truediv__", number_truediv, "self other"},                                     \
	        {"__rtruediv__", number_rtruediv, "self other"},                                   \
	        {"__repr__", number_repr, "self"}, {"__hash__", number_hash, "self"},              \
	        {"__bool__", number_bool, "self"},                                                 \
	{                                                                                          \
		"conjugate", number_self, "self"                                                   \
	}

const struct native_def int_methods[] = {
        {"__new__", int_new, "cls ? value base"},
        {"bit_length", int_bit_length_method, "self"},
        {"__int__", number_self, "self"},
        {"__index__", number_self, "self"},
        NUMBER_METHODS,
        {0},
};

const struct native_def float_methods[] = {
        {"__new__", float_new, "cls ? value"},
        {"is_integer", float_is_integer, "self"},
        {"__float__", number_self, "self"},
        NUMBER_METHODS,
        {0},
};
