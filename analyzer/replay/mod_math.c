#include <math.h>

#include "analyzer/replay/modules.h"

#define MATH(name) static struct val name(struct vm *vm, struct val *a, uint32_t n)

static struct val float_or_domain(struct vm *vm, double x, double result)
{
	if (result != result && x == x)
		return rp_raise(vm, TY_ValueError, "math domain error");
	if (isinf(result) && isfinite(x))
		return rp_raise(vm, TY_OverflowError, "math range error");
	return val_float(result);
}

static struct val unary(struct vm *vm, struct val v, double (*fn)(double))
{
	double x;

	if (is_kind(v, K_UNKNOWN))
		return ref(v);
	return rp_double(vm, v, &x) ? float_or_domain(vm, x, fn(x)) : val_null();
}

#define UNARY(name, fn)                                                                            \
	MATH(math_##name)                                                                          \
	{                                                                                          \
		(void)n;                                                                           \
		return unary(vm, a[0], fn);                                                        \
	}
UNARY(sqrt, sqrt)
UNARY(exp, exp)
UNARY(expm1, expm1)
UNARY(log1p, log1p)
UNARY(sin, sin)
UNARY(cos, cos)
UNARY(tan, tan)
UNARY(asin, asin)
UNARY(acos, acos)
UNARY(atan, atan)
UNARY(sinh, sinh)
UNARY(cosh, cosh)
UNARY(tanh, tanh)
UNARY(asinh, asinh)
UNARY(acosh, acosh)
UNARY(atanh, atanh)
UNARY(erf, erf)
UNARY(erfc, erfc)
UNARY(gamma, tgamma)
UNARY(lgamma, lgamma)
UNARY(fabs, fabs)
UNARY(cbrt, cbrt)
UNARY(exp2, exp2)

static double degrees_of(double x)
{
	return x * (180.0 / M_PI);
}

static double radians_of(double x)
{
	return x * (M_PI / 180.0);
}

UNARY(degrees, degrees_of)
UNARY(radians, radians_of)

static struct val logarithm(struct vm *vm, struct val v, double (*fn)(double))
{
	double x;

	if (is_kind(v, K_UNKNOWN))
		return ref(v);
	if (!rp_double(vm, v, &x))
		return val_null();
	if (x <= 0)
		return rp_raise(vm, TY_ValueError, "math domain error");
	return val_float(fn(x));
}

MATH(math_log)
{
	struct val top = logarithm(vm, a[0], log), base, result;

	(void)n;
	if (is_missing(a[1]) || is_null(top))
		return top;
	base = logarithm(vm, a[1], log);
	if (is_null(base))
		return base;
	result = rp_binary(vm, SUB_binary_divide, top, base);
	unref(vm, top);
	unref(vm, base);
	return result;
}

MATH(math_log2)
{
	(void)n;
	return logarithm(vm, a[0], log2);
}

MATH(math_log10)
{
	(void)n;
	return logarithm(vm, a[0], log10);
}

static struct val rounded(struct vm *vm, struct val v, enum rp_name name, double (*fn)(double))
{
	struct val own;
	double x;

	if (is_kind(v, K_UNKNOWN) || is_any_int(v))
		return rp_to_int(vm, v);
	own = special_find(vm, v, name);
	if (!is_null(own)) {
		struct val result = rp_call0(vm, own);

		unref(vm, own);
		return result;
	}
	return rp_double(vm, v, &x) ? int_of_double(vm, fn(x)) : val_null();
}

MATH(math_floor)
{
	(void)n;
	return rounded(vm, a[0], PN_floor, floor);
}

MATH(math_ceil)
{
	(void)n;
	return rounded(vm, a[0], PN_ceil, ceil);
}

MATH(math_trunc)
{
	(void)n;
	return rounded(vm, a[0], PN_trunc, trunc);
}

static struct val two(struct vm *vm, struct val *a, double (*fn)(double, double))
{
	double x, y;

	if (is_kind(a[0], K_UNKNOWN) || is_kind(a[1], K_UNKNOWN))
		return unknown_new(vm, "math");
	return rp_double(vm, a[0], &x) && rp_double(vm, a[1], &y) ? val_float(fn(x, y))
	                                                          : val_null();
}

MATH(math_pow)
{
	(void)n;
	return two(vm, a, pow);
}

MATH(math_atan2)
{
	(void)n;
	return two(vm, a, atan2);
}

MATH(math_fmod)
{
	(void)n;
	return two(vm, a, fmod);
}

MATH(math_copysign)
{
	(void)n;
	return two(vm, a, copysign);
}

MATH(math_hypot)
{
	struct list *args = AS(list, a[0]);
	double sum = 0, x;

	(void)n;
	for (uint32_t i = 0; i < args->count; i++) {
		if (!rp_double(vm, args->at[i], &x))
			return val_null();
		sum = hypot(sum, x);
	}
	return val_float(sum);
}

MATH(math_nextafter)
{
	(void)n;
	return two(vm, a, nextafter);
}

MATH(math_frexp)
{
	double x;
	int exponent = 0;

	(void)n;
	if (!rp_double(vm, a[0], &x))
		return val_null();
	if (isfinite(x))
		x = frexp(x, &exponent);
	return tuple_pair(vm, val_float(x), val_int(exponent));
}

MATH(math_ulp)
{
	double x;

	(void)n;
	if (!rp_double(vm, a[0], &x))
		return val_null();
	x = fabs(x);
	return val_float(!isfinite(x)                       ? x
	                 : isfinite(nextafter(x, INFINITY)) ? nextafter(x, INFINITY) - x
	                                                    : x - nextafter(x, 0));
}

MATH(math_isnan)
{
	double x;

	(void)n;
	if (is_kind(a[0], K_UNKNOWN))
		return val_bool(false);
	return rp_double(vm, a[0], &x) ? val_bool(x != x) : val_null();
}

MATH(math_isinf)
{
	double x;

	(void)n;
	if (is_kind(a[0], K_UNKNOWN))
		return val_bool(false);
	return rp_double(vm, a[0], &x) ? val_bool(isinf(x)) : val_null();
}

MATH(math_isfinite)
{
	double x;

	(void)n;
	if (is_kind(a[0], K_UNKNOWN))
		return val_bool(true);
	return rp_double(vm, a[0], &x) ? val_bool(isfinite(x)) : val_null();
}

MATH(math_isclose)
{
	double x, y, relative = 1e-9, absolute = 0;

	(void)n;
	if (!rp_double(vm, a[0], &x) || !rp_double(vm, a[1], &y) ||
	    (!is_null(a[2]) && !rp_double(vm, a[2], &relative)) ||
	    (!is_null(a[3]) && !rp_double(vm, a[3], &absolute)))
		return val_null();
	return val_bool(x == y || fabs(x - y) <= fmax(relative * fmax(fabs(x), fabs(y)), absolute));
}

MATH(math_gcd)
{
	struct list *args = AS(list, a[0]);
	struct val x = val_int(0);

	(void)n;
	for (uint32_t i = 0; i < args->count; i++) {
		struct val y = rp_to_int(vm, args->at[i]);

		while (!is_null(y) && int_truth(y)) {
			struct val rest = int_binary(vm, SUB_binary_modulo, x, y);

			slot_set(vm, &x, y);
			y = rest;
		}
		unref(vm, y);
		if (int_compare(x, val_int(0)) < 0)
			slot_set(vm, &x, int_negate(vm, x));
	}
	return x;
}

MATH(math_factorial)
{
	struct val product = val_int(1);
	int64_t top;

	(void)n;
	if (!rp_index(vm, a[0], &top))
		return val_null();
	if (top < 0)
		return rp_raise(vm, TY_ValueError, "factorial() not defined for negative values");
	for (int64_t i = 2; i <= top && vm_work(vm, 1); i++)
		slot_set(vm, &product, int_binary(vm, SUB_binary_multiply, product, val_int(i)));
	return product;
}

MATH(math_comb)
{
	struct val result = val_int(1);
	int64_t total, chosen;

	(void)n;
	if (!rp_index(vm, a[0], &total) || !rp_index(vm, a[1], &chosen))
		return val_null();
	if (chosen > total)
		return val_int(0);
	for (int64_t i = 1; i <= chosen && vm_work(vm, 1); i++) {
		slot_set(vm, &result,
		         int_binary(vm, SUB_binary_multiply, result, val_int(total - chosen + i)));
		slot_set(vm, &result, int_binary(vm, SUB_binary_floor_divide, result, val_int(i)));
	}
	return result;
}

MATH(math_isqrt)
{
	int64_t x, root;

	(void)n;
	if (is_kind(a[0], K_LONG))
		return library_call(vm, "math", "_isqrt", a, 1);
	if (!rp_index(vm, a[0], &x))
		return val_null();
	if (x < 0)
		return rp_raise(vm, TY_ValueError, "isqrt() argument must be nonnegative");
	root = (int64_t)sqrt((double)x);
	while (root > 0 && root > x / root)
		root--;
	while (root + 1 <= x / (root + 1))
		root++;
	return val_int(root);
}

MATH(math_prod)
{
	struct val product = is_null(a[1]) ? val_int(1) : ref(a[1]), it = rp_iter(vm, a[0]), item;

	(void)n;
	while (!is_null(it) && !is_null(product) && !is_null(item = rp_next(vm, it))) {
		slot_set(vm, &product, rp_binary(vm, SUB_binary_multiply, product, item));
		unref(vm, item);
	}
	unref(vm, it);
	return is_null(vm->exc) ? product : val_null();
}

/* Exact: partial sums that do not overlap. */
MATH(math_fsum)
{
	double partial[64], x, y, high, low;
	uint32_t used = 0, kept;
	struct val it = rp_iter(vm, a[0]), item;

	(void)n;
	while (!is_null(it) && !is_null(item = rp_next(vm, it))) {
		bool ok = rp_double(vm, item, &x);

		unref(vm, item);
		if (!ok)
			break;
		kept = 0;
		for (uint32_t i = 0; i < used; i++) {
			y = partial[i];
			high = x + y;
			low = fabs(x) < fabs(y) ? x - (high - y) : y - (high - x);
			if (low != 0)
				partial[kept++] = low;
			x = high;
		}
		if (kept < 63)
			partial[kept++] = x;
		used = kept;
	}
	unref(vm, it);
	for (x = 0; used; used--)
		x += partial[used - 1];
	return is_null(vm->exc) ? val_float(x) : val_null();
}

static const struct native_def math_functions[] = {
#define ROW(name)                                                                                  \
	{                                                                                          \
#name, math_##name, "x"                                                            \
	}
        ROW(sqrt),
        ROW(exp),
        ROW(expm1),
        ROW(log1p),
        ROW(sin),
        ROW(cos),
        ROW(tan),
        ROW(asin),
        ROW(acos),
        ROW(atan),
        ROW(sinh),
        ROW(cosh),
        ROW(tanh),
        ROW(asinh),
        ROW(acosh),
        ROW(atanh),
        ROW(erf),
        ROW(erfc),
        ROW(gamma),
        ROW(lgamma),
        ROW(fabs),
        ROW(cbrt),
        ROW(exp2),
        ROW(degrees),
        ROW(radians),
        ROW(log2),
        ROW(log10),
        ROW(floor),
        ROW(ceil),
        ROW(trunc),
        ROW(isnan),
        ROW(frexp),
        ROW(ulp),
        ROW(isinf),
        ROW(isfinite),
        ROW(factorial),
        ROW(isqrt),
        ROW(fsum),
#undef ROW
        {"log", math_log, "x ? base"},
        {"pow", math_pow, "x y"},
        {"atan2", math_atan2, "y x"},
        {"fmod", math_fmod, "x y"},
        {"copysign", math_copysign, "x y"},
        {"nextafter", math_nextafter, "x y"},
        {"hypot", math_hypot, "*args"},
        {"isclose", math_isclose, "a b ? | rel_tol abs_tol"},
        {"gcd", math_gcd, "*args"},
        {"comb", math_comb, "n k"},
        {"prod", math_prod, "iterable ? start"},
        {0},
};

static void math_init(struct vm *vm, struct module *m)
{
	module_set(vm, m, "pi", val_float(M_PI));
	module_set(vm, m, "e", val_float(M_E));
	module_set(vm, m, "tau", val_float(2 * M_PI));
	module_set(vm, m, "inf", val_float(INFINITY));
	module_set(vm, m, "nan", val_float(NAN));
}

const struct native_module math_module = {"math", math_functions, math_init, NULL};
