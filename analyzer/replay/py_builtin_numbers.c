/* round, pow and divmod. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/replay/py.h"

#define BUILTIN(name) static struct val name(struct vm *vm, struct val *a, uint32_t n)

/* Half to even, on decimal digits: the value is rounded as it is printed. */
static double round_digits(double f, int64_t digits)
{
	char text[400];

	if (!isfinite(f) || digits > 300)
		return f;
	if (digits < 0) {
		double scale = pow(10, (double)-digits);

		return nearbyint(f / scale) * scale;
	}
	snprintf(text, sizeof(text), "%.*f", (int)digits, f);
	return strtod(text, NULL);
}

/* To the nearest multiple of 10 ** digits, halves to even. */
static struct val int_rounded(struct vm *vm, struct val v, int64_t digits)
{
	struct val unit = int_binary(vm, SUB_binary_power, val_int(10), val_int(digits));
	struct val rest = int_binary(vm, SUB_binary_modulo, v, unit);
	struct val twice = int_binary(vm, SUB_binary_multiply, rest, val_int(2));
	struct val low = int_binary(vm, SUB_binary_subtract, v, rest);
	struct val units = int_binary(vm, SUB_binary_floor_divide, low, unit);
	struct val odd = int_binary(vm, SUB_binary_and, units, val_int(1));
	const int order = int_compare(twice, unit);

	if (order > 0 || (order == 0 && int_truth(odd)))
		slot_set(vm, &low, int_binary(vm, SUB_binary_add, low, unit));
	unref(vm, unit);
	unref(vm, rest);
	unref(vm, twice);
	unref(vm, units);
	unref(vm, odd);
	return low;
}

static struct val number_rounded(struct vm *vm, struct val v, struct val places)
{
	int64_t digits;

	if (is_missing(places))
		return v.tag == PY_FLOAT  ? int_of_double(vm, nearbyint(v.as.f))
		       : v.tag == PY_BOOL ? val_int(v.as.i)
		                          : ref(v);
	if (!rp_index(vm, places, &digits))
		return val_null();
	if (v.tag == PY_FLOAT)
		return val_float(round_digits(v.as.f, digits));
	if (digits >= 0)
		return v.tag == PY_BOOL ? val_int(v.as.i) : ref(v);
	return digits < -4000 ? val_int(0) : int_rounded(vm, v, -digits);
}

BUILTIN(builtin_round)
{
	struct val fn, v = number_unless(vm, a[0], PN_round);

	(void)n;
	if (is_kind(a[0], K_UNKNOWN))
		return ref(a[0]);
	if (v.tag == PY_FLOAT || is_any_int(v))
		return number_rounded(vm, v, a[1]);
	fn = special_find(vm, a[0], PN_round);
	if (is_null(fn))
		return is_null(vm->exc) ? rp_raise(vm, TY_TypeError,
		                                   "type %s doesn't define __round__ method",
		                                   type_name(vm, a[0]))
		                        : val_null();
	v = is_missing(a[1]) ? rp_call0(vm, fn) : rp_call1(vm, fn, a[1]);
	unref(vm, fn);
	return v;
}

/* base to the power of exponent, modulo m, by squaring; takes base and exponent. */
static struct val modular_power(struct vm *vm, struct val base, struct val exponent, struct val m)
{
	struct val result = int_binary(vm, SUB_binary_modulo, val_int(1), m);

	while (!is_null(result) && !is_null(base) && !is_null(exponent) && int_truth(exponent) &&
	       vm_work(vm, 1)) {
		struct val odd = int_binary(vm, SUB_binary_and, exponent, val_int(1));

		if (int_truth(odd)) {
			slot_set(vm, &result, int_binary(vm, SUB_binary_multiply, result, base));
			slot_set(vm, &result, int_binary(vm, SUB_binary_modulo, result, m));
		}
		slot_set(vm, &base, int_binary(vm, SUB_binary_multiply, base, base));
		slot_set(vm, &base, int_binary(vm, SUB_binary_modulo, base, m));
		slot_set(vm, &exponent,
		         int_binary(vm, SUB_binary_shift_right, exponent, val_int(1)));
	}
	unref(vm, base);
	unref(vm, exponent);
	if (is_null(vm->exc))
		return result;
	unref(vm, result);
	return val_null();
}

static struct val modular_inverse(struct vm *vm, struct val a, struct val m)
{
	struct val r0 = ref(m), r1 = int_binary(vm, SUB_binary_modulo, a, m), q, next;
	struct val s0 = val_int(0), s1 = val_int(1);

	while (!is_null(r1) && int_truth(r1) && vm_work(vm, 1)) {
		q = int_binary(vm, SUB_binary_floor_divide, r0, r1);
		next = int_binary(vm, SUB_binary_modulo, r0, r1);
		slot_set(vm, &r0, r1);
		r1 = next;
		next = int_binary(vm, SUB_binary_multiply, q, s1);
		slot_set(vm, &q, int_binary(vm, SUB_binary_subtract, s0, next));
		unref(vm, next);
		slot_set(vm, &s0, s1);
		s1 = q;
	}
	next = is_null(vm->exc) && int_compare(r0, val_int(1)) == 0
	               ? int_binary(vm, SUB_binary_modulo, s0, m)
	               : val_null();
	unref(vm, r0);
	unref(vm, r1);
	unref(vm, s0);
	unref(vm, s1);
	if (is_null(next) && is_null(vm->exc))
		rp_raise(vm, TY_ValueError, "base is not invertible for the given modulus");
	return next;
}

static struct val power_modulo(struct vm *vm, struct val base, struct val exponent, struct val m)
{
	struct val inverse;

	if (!int_truth(m))
		return rp_raise(vm, TY_ValueError, "pow() 3rd argument cannot be 0");
	if (int_compare(exponent, val_int(0)) >= 0)
		return modular_power(vm, ref(base), ref(exponent), m);
	inverse = modular_inverse(vm, base, m);
	return is_null(inverse) ? inverse : modular_power(vm, inverse, int_negate(vm, exponent), m);
}

BUILTIN(builtin_pow)
{
	struct val fn;

	(void)n;
	if (is_missing(a[2]) || is_none(a[2]))
		return rp_binary(vm, SUB_binary_power, a[0], a[1]);
	if (is_any_int(a[0]) && is_any_int(a[1]) && is_any_int(a[2]))
		return power_modulo(vm, a[0], a[1], a[2]);
	fn = rp_attr_chars(vm, a[0], "__pow__");
	if (!is_null(fn)) {
		struct val result = rp_call2(vm, fn, a[1], a[2]);

		unref(vm, fn);
		return result;
	}
	return fn;
}

BUILTIN(builtin_divmod)
{
	struct val q = special_own(vm, a[0], PN_divmod), r;

	(void)n;
	if (!is_null(q)) {
		r = rp_call1(vm, q, a[1]);
		unref(vm, q);
		return r;
	}
	if (!is_null(vm->exc))
		return val_null();
	q = rp_binary(vm, SUB_binary_floor_divide, a[0], a[1]);
	if (is_null(q))
		return q;
	r = rp_binary(vm, SUB_binary_modulo, a[0], a[1]);
	if (is_null(r)) {
		unref(vm, q);
		return r;
	}
	return tuple_pair(vm, q, r);
}

const struct native_def builtin_number_functions[] = {
        {"round", builtin_round, "number ? ndigits"},
        {"pow", builtin_pow, "base exp ? mod"},
        {"divmod", builtin_divmod, "x y"},
        {0},
};
