#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/replay/py.h"

/* A view of any int as sign and limbs, without allocation. */
struct num {
	bool negative;
	uint32_t count;
	const uint32_t *limb;
	uint32_t own[2];
};

bool is_any_int(struct val v)
{
	return is_int(v) || is_kind(v, K_LONG);
}

static void num_of(struct val v, struct num *n)
{
	uint64_t magnitude;

	if (is_kind(v, K_LONG)) {
		n->negative = AS(big, v)->negative;
		n->count = AS(big, v)->count;
		n->limb = AS(big, v)->limb;
		return;
	}
	n->negative = v.as.i < 0;
	magnitude = n->negative ? 0 - (uint64_t)v.as.i : (uint64_t)v.as.i;
	n->own[0] = (uint32_t)magnitude;
	n->own[1] = (uint32_t)(magnitude >> 32);
	n->count = n->own[1] ? 2 : n->own[0] ? 1 : 0;
	n->limb = n->own;
}

static struct big *big_new(struct vm *vm, uint32_t count)
{
	struct big *b;

	if (count > (1u << 22)) {
		vm_halt(vm, VM_HALT_BYTES, "an integer of more than 16 MiB");
		count = 1;
	}
	b = rp_new(vm, K_LONG, vm->t[TY_int], sizeof(*b) + count * sizeof(uint32_t));
	b->count = b->room = count;
	return b;
}

/* Cuts leading zeros; small results become immediate. */
static struct val big_done(struct vm *vm, struct big *b, bool negative)
{
	while (b->count && !b->limb[b->count - 1])
		b->count--;
	b->negative = negative;
	if (b->count <= 2) {
		uint64_t m = b->count ? b->limb[0] : 0;

		m |= b->count == 2 ? (uint64_t)b->limb[1] << 32 : 0;
		if (m <= INT64_MAX || (negative && m == (uint64_t)INT64_MAX + 1)) {
			unref_obj(vm, b);
			return val_int(negative ? (int64_t)(0 - m) : (int64_t)m);
		}
	}
	return val_obj(b);
}

static int magnitude_compare(const struct num *a, const struct num *b)
{
	if (a->count != b->count)
		return a->count < b->count ? -1 : 1;
	for (uint32_t i = a->count; i-- > 0;)
		if (a->limb[i] != b->limb[i])
			return a->limb[i] < b->limb[i] ? -1 : 1;
	return 0;
}

static struct val magnitude_add(struct vm *vm, const struct num *a, const struct num *b, bool neg)
{
	uint32_t count = (a->count > b->count ? a->count : b->count) + 1;
	struct big *r = big_new(vm, count);
	uint64_t carry = 0;

	for (uint32_t i = 0; i < r->count; i++) {
		carry += (i < a->count ? a->limb[i] : 0u);
		carry += (i < b->count ? b->limb[i] : 0u);
		r->limb[i] = (uint32_t)carry;
		carry >>= 32;
	}
	return big_done(vm, r, neg);
}

/* |a| >= |b| */
static struct val magnitude_sub(struct vm *vm, const struct num *a, const struct num *b, bool neg)
{
	struct big *r = big_new(vm, a->count ? a->count : 1);
	int64_t borrow = 0;

	for (uint32_t i = 0; i < r->count; i++) {
		int64_t d = (i < a->count ? (int64_t)a->limb[i] : 0) -
		            (i < b->count ? (int64_t)b->limb[i] : 0) + borrow;

		r->limb[i] = (uint32_t)d;
		borrow = d < 0 ? -1 : 0;
	}
	return big_done(vm, r, neg);
}

static struct val add_signed(struct vm *vm, const struct num *a, const struct num *b)
{
	if (a->negative == b->negative)
		return magnitude_add(vm, a, b, a->negative);
	if (magnitude_compare(a, b) >= 0)
		return magnitude_sub(vm, a, b, a->negative);
	return magnitude_sub(vm, b, a, b->negative);
}

static struct val multiply(struct vm *vm, const struct num *a, const struct num *b)
{
	struct big *r = big_new(vm, a->count + b->count + 1);

	if (!vm_work(vm, (uint64_t)a->count * b->count / 64))
		return big_done(vm, r, false);
	memset(r->limb, 0, r->count * sizeof(uint32_t));
	for (uint32_t i = 0; i < a->count; i++) {
		uint64_t carry = 0;

		for (uint32_t j = 0; j < b->count; j++) {
			carry += (uint64_t)a->limb[i] * b->limb[j] + r->limb[i + j];
			r->limb[i + j] = (uint32_t)carry;
			carry >>= 32;
		}
		r->limb[i + b->count] = (uint32_t)carry;
	}
	return big_done(vm, r, a->negative != b->negative);
}

/* to[count] << shift, with the digit that leaves at the top. */
static uint32_t shift_digits(const struct num *a, uint32_t shift, uint32_t *to)
{
	for (uint32_t i = a->count; i-- > 0;)
		to[i] = a->limb[i] << shift | (shift && i ? a->limb[i - 1] >> (32 - shift) : 0);
	return shift ? a->limb[a->count - 1] >> (32 - shift) : 0;
}

static uint32_t divide_by_digit(const struct num *a, uint32_t by, uint32_t *q)
{
	uint64_t rest = 0;

	for (uint32_t i = a->count; i-- > 0;) {
		rest = rest << 32 | a->limb[i];
		q[i] = (uint32_t)(rest / by);
		rest %= by;
	}
	return (uint32_t)rest;
}

/* One too large at most. */
static uint64_t guess_digit(const uint32_t *u, const uint32_t *v, uint32_t n)
{
	uint64_t top = (uint64_t)u[n] << 32 | u[n - 1];
	uint64_t guess = top / v[n - 1], rest = top % v[n - 1];

	while (guess >> 32 || guess * v[n - 2] > (rest << 32 | u[n - 2])) {
		guess--;
		rest += v[n - 1];
		if (rest >> 32)
			break;
	}
	return guess;
}

/* u[n + 1] -= digit * v[n]; whether that was too much. */
static bool subtract_product(uint32_t *u, const uint32_t *v, uint32_t n, uint64_t digit)
{
	int64_t borrow = 0, t;
	uint64_t carry = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t p = digit * v[i] + carry;

		carry = p >> 32;
		t = (int64_t)u[i] - (int64_t)(uint32_t)p + borrow;
		u[i] = (uint32_t)t;
		borrow = t < 0 ? -1 : 0;
	}
	t = (int64_t)u[n] - (int64_t)carry + borrow;
	u[n] = (uint32_t)t;
	return t < 0;
}

static void add_back(uint32_t *u, const uint32_t *v, uint32_t n)
{
	uint64_t carry = 0;

	for (uint32_t i = 0; i < n; i++) {
		carry += (uint64_t)u[i] + v[i];
		u[i] = (uint32_t)carry;
		carry >>= 32;
	}
	u[n] += (uint32_t)carry;
}

/* Quotient and remainder of magnitudes, on 32-bit digits (Knuth's algorithm D). */
static void divide_magnitude(const struct num *a, const struct num *b, uint32_t *q, uint32_t *r)
{
	uint32_t n = b->count, m = a->count, shift = 0;
	uint32_t *u, *v;

	if (n == 1) {
		r[0] = divide_by_digit(a, b->limb[0], q);
		return;
	}
	while (!(b->limb[n - 1] << shift & 0x80000000u))
		shift++;
	u = checked_alloc(m + 1, sizeof(uint32_t));
	v = checked_alloc(n, sizeof(uint32_t));
	shift_digits(b, shift, v);
	u[m] = shift_digits(a, shift, u);
	for (uint32_t j = m - n + 1; j-- > 0;) {
		uint64_t digit = guess_digit(u + j, v, n);

		if (subtract_product(u + j, v, n, digit)) {
			digit--;
			add_back(u + j, v, n);
		}
		q[j] = (uint32_t)digit;
	}
	for (uint32_t i = 0; i < n; i++)
		r[i] = u[i] >> shift | (shift ? (uint32_t)((uint64_t)u[i + 1] << (32 - shift)) : 0);
	free(u);
	free(v);
}

/* Floored, as Python's // and %. */
static struct val divide(struct vm *vm, struct val x, struct val y, bool want_rest)
{
	struct num a, b;
	struct big *q, *r;
	struct val quotient, rest, fixed;

	num_of(x, &a);
	num_of(y, &b);
	if (magnitude_compare(&a, &b) < 0) {
		bool floor_down = a.count && a.negative != b.negative;

		if (want_rest)
			return floor_down ? int_binary(vm, SUB_binary_add, x, y) : ref(x);
		return val_int(floor_down ? -1 : 0);
	}
	if (!vm_work(vm, (uint64_t)a.count * b.count / 64))
		return val_int(0);
	q = big_new(vm, a.count);
	r = big_new(vm, b.count);
	memset(q->limb, 0, q->count * sizeof(uint32_t));
	divide_magnitude(&a, &b, q->limb, r->limb);
	quotient = big_done(vm, q, a.negative != b.negative);
	rest = big_done(vm, r, a.negative);
	if (int_truth(rest) && a.negative != b.negative) {
		fixed = int_binary(vm, SUB_binary_add, rest, y);
		slot_set(vm, &rest, fixed);
		fixed = int_binary(vm, SUB_binary_subtract, quotient, val_int(1));
		slot_set(vm, &quotient, fixed);
	}
	unref(vm, want_rest ? quotient : rest);
	return want_rest ? rest : quotient;
}

static struct val shift_left(struct vm *vm, struct val x, int64_t by)
{
	struct num a;
	struct big *r;
	uint32_t limbs = (uint32_t)(by / 32), bits = (uint32_t)(by % 32);

	num_of(x, &a);
	if (!a.count)
		return val_int(0);
	if (by > (int64_t)PY_MAX_BYTES) {
		vm_halt(vm, VM_HALT_BYTES, "an integer of more than 16 MiB");
		return val_int(0);
	}
	r = big_new(vm, a.count + limbs + 1);
	if (vm->halt)
		return big_done(vm, r, false);
	memset(r->limb, 0, r->count * sizeof(uint32_t));
	for (uint32_t i = 0; i < a.count; i++) {
		r->limb[i + limbs] |= a.limb[i] << bits;
		if (bits)
			r->limb[i + limbs + 1] |= a.limb[i] >> (32 - bits);
	}
	return big_done(vm, r, a.negative);
}

static struct val shift_right(struct vm *vm, struct val x, int64_t by)
{
	struct val power, result;

	if (by >= int_bit_length(x))
		return val_int(int_compare(x, val_int(0)) < 0 ? -1 : 0);
	power = shift_left(vm, val_int(1), by);
	result = divide(vm, x, power, false);
	unref(vm, power);
	return result;
}

/* Two's complement of `count` limbs. */
static void complement(const struct num *n, uint32_t *out, uint32_t count)
{
	uint64_t carry = 1;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t limb = i < n->count ? n->limb[i] : 0;

		if (n->negative) {
			carry += ~limb;
			limb = (uint32_t)carry;
			carry >>= 32;
		}
		out[i] = limb;
	}
}

static struct val bitwise(struct vm *vm, enum ir_sub sub, const struct num *a, const struct num *b)
{
	uint32_t count = (a->count > b->count ? a->count : b->count) + 1;
	uint32_t *x = checked_alloc(count, 4), *y = checked_alloc(count, 4);
	struct big *r = big_new(vm, count);
	bool negative;
	uint64_t carry = 1;

	complement(a, x, count);
	complement(b, y, count);
	for (uint32_t i = 0; i < r->count; i++)
		r->limb[i] = sub == SUB_binary_and  ? x[i] & y[i]
		             : sub == SUB_binary_or ? x[i] | y[i]
		                                    : x[i] ^ y[i];
	negative = r->limb[r->count - 1] >> 31;
	for (uint32_t i = 0; negative && i < r->count; i++) {
		carry += ~r->limb[i];
		r->limb[i] = (uint32_t)carry;
		carry >>= 32;
	}
	free(x);
	free(y);
	return big_done(vm, r, negative);
}

static struct val power(struct vm *vm, struct val x, struct val y)
{
	struct val result = val_int(1), base = ref(x);
	int64_t n = y.as.i;

	for (; n && !vm->halt; n >>= 1) {
		if (n & 1)
			slot_set(vm, &result, int_binary(vm, SUB_binary_multiply, result, base));
		if (n > 1)
			slot_set(vm, &base, int_binary(vm, SUB_binary_multiply, base, base));
	}
	unref(vm, base);
	return result;
}

static struct val big_binary(struct vm *vm, enum ir_sub sub, struct val x, struct val y)
{
	struct num a, b;

	num_of(x, &a);
	num_of(y, &b);
	switch ((int)sub) {
	case SUB_binary_add:
		return add_signed(vm, &a, &b);
	case SUB_binary_subtract:
		b.negative = !b.negative;
		return add_signed(vm, &a, &b);
	case SUB_binary_multiply:
		return multiply(vm, &a, &b);
	default:
		return bitwise(vm, sub, &a, &b);
	}
}

static bool is_exact(struct val v)
{
	return is_int(v) && v.as.i <= INT64_C(1) << 53 && v.as.i >= -(INT64_C(1) << 53);
}

/* Rounded once: 55 or 56 bits of the quotient, the last of which says if there is more. */
static struct val true_quotient(struct vm *vm, struct val a, struct val b)
{
	const bool negative = (int_compare(a, val_int(0)) < 0) != (int_compare(b, val_int(0)) < 0);
	const int64_t shift = 55 - (int_bit_length(a) - int_bit_length(b));
	struct val top, bottom, quotient, rest;
	double f;

	if (is_exact(a) && is_exact(b))
		return val_float((double)a.as.i / (double)b.as.i);
	if (shift < -1100)
		return rp_raise(vm, TY_OverflowError,
		                "integer division result too large for a float");
	if (!int_truth(a) || shift > 1200)
		return val_float(negative ? -0.0 : 0.0);
	top = shift_left(vm, a, shift > 0 ? shift : 0);
	bottom = shift_left(vm, b, shift < 0 ? -shift : 0);
	if (negative)
		slot_set(vm, &top, int_negate(vm, top));
	quotient = divide(vm, top, bottom, false);
	rest = divide(vm, top, bottom, true);
	f = is_int(quotient) ? ldexp((double)(quotient.as.i | int_truth(rest)), (int)-shift) : 0;
	unref(vm, top);
	unref(vm, bottom);
	unref(vm, quotient);
	unref(vm, rest);
	if (isinf(f))
		return rp_raise(vm, TY_OverflowError,
		                "integer division result too large for a float");
	return val_float(negative ? -f : f);
}

static struct val int_divide(struct vm *vm, enum ir_sub sub, struct val a, struct val b)
{
	int64_t q, r;

	if (!int_truth(b))
		return rp_raise(vm, TY_ZeroDivisionError, "%s",
		                sub == SUB_binary_divide   ? "division by zero"
		                : sub == SUB_binary_modulo ? "integer modulo by zero"
		                                           : "integer division or modulo by zero");
	if (sub == SUB_binary_divide)
		return true_quotient(vm, a, b);
	if (is_int(a) && is_int(b) && b.as.i != -1) {
		q = a.as.i / b.as.i;
		r = a.as.i % b.as.i;
		if (r && (r < 0) != (b.as.i < 0)) {
			q--;
			r += b.as.i;
		}
		return val_int(sub == SUB_binary_modulo ? r : q);
	}
	return divide(vm, a, b, sub == SUB_binary_modulo);
}

static struct val int_shift(struct vm *vm, enum ir_sub sub, struct val a, struct val b)
{
	if (!is_int(b) || b.as.i < 0)
		return rp_raise(vm, TY_ValueError, "negative shift count");
	if (sub == SUB_binary_shift_right)
		return is_int(a) ? val_int(a.as.i >> (b.as.i > 63 ? 63 : b.as.i))
		                 : shift_right(vm, a, b.as.i);
	return shift_left(vm, a, b.as.i);
}

static struct val small_binary(enum ir_sub sub, int64_t a, int64_t b)
{
	int64_t r;

	switch ((int)sub) {
	case SUB_binary_add:
		return __builtin_add_overflow(a, b, &r) ? val_null() : val_int(r);
	case SUB_binary_subtract:
		return __builtin_sub_overflow(a, b, &r) ? val_null() : val_int(r);
	case SUB_binary_multiply:
		return __builtin_mul_overflow(a, b, &r) ? val_null() : val_int(r);
	case SUB_binary_and:
		return val_int(a & b);
	case SUB_binary_or:
		return val_int(a | b);
	case SUB_binary_xor:
		return val_int(a ^ b);
	default:
		return val_null();
	}
}

struct val int_binary(struct vm *vm, enum ir_sub sub, struct val a, struct val b)
{
	struct val r = is_int(a) && is_int(b) ? small_binary(sub, a.as.i, b.as.i) : val_null();

	if (!is_null(r)) {
		if (a.tag == PY_BOOL && b.tag == PY_BOOL &&
		    (sub == SUB_binary_and || sub == SUB_binary_or || sub == SUB_binary_xor))
			r.tag = PY_BOOL;
		return r;
	}
	switch ((int)sub) {
	case SUB_binary_divide:
	case SUB_binary_floor_divide:
	case SUB_binary_modulo:
		return int_divide(vm, sub, a, b);
	case SUB_binary_shift_left:
	case SUB_binary_shift_right:
		return int_shift(vm, sub, a, b);
	case SUB_binary_power:
		if (int_compare(b, val_int(0)) < 0) {
			if (!int_truth(a))
				return rp_raise(vm, TY_ZeroDivisionError,
				                "0.0 cannot be raised to a negative power");
			return val_float(pow(int_to_double(a), int_to_double(b)));
		}
		if (!is_int(b))
			vm_halt(vm, VM_HALT_BYTES, "an integer of more than 16 MiB");
		return power(vm, a, b);
	case SUB_binary_matmul:
		return (struct val){.tag = PY_NOT_IMPLEMENTED};
	default:
		return big_binary(vm, sub, a, b);
	}
}

struct val int_negate(struct vm *vm, struct val a)
{
	return int_binary(vm, SUB_binary_subtract, val_int(0), a);
}

int int_compare(struct val x, struct val y)
{
	struct num a, b;
	int order;

	if (is_int(x) && is_int(y))
		return x.as.i < y.as.i ? -1 : x.as.i > y.as.i;
	num_of(x, &a);
	num_of(y, &b);
	if (a.negative != b.negative)
		return a.negative ? -1 : 1;
	order = magnitude_compare(&a, &b);
	return a.negative ? -order : order;
}

/* Rounded once: the upper bits, the last of which says if there is more. */
static double magnitude_to_double(const struct num *n)
{
	const uint32_t last = n->count - 1;
	uint64_t top = n->limb[last];
	uint32_t room = 0, at = last;

	for (; !(n->limb[last] << room & 0x80000000u); room++)
		;
	for (uint32_t bits = 32 - room; bits < 62 && at;) {
		const uint32_t take = 62 - bits < 32 ? 62 - bits : 32;

		top = top << take | n->limb[--at] >> (32 - take);
		bits += take;
		if (take < 32 && (uint32_t)(n->limb[at] << take))
			top |= 1;
		if (bits == 62) {
			for (uint32_t i = 0; i < at; i++)
				top |= n->limb[i] != 0;
			return ldexp((double)top, (int)(at * 32 + 32 - take));
		}
	}
	return (double)top;
}

double int_to_double(struct val v)
{
	struct num n;
	double f;

	if (is_int(v))
		return (double)v.as.i;
	num_of(v, &n);
	f = magnitude_to_double(&n);
	return n.negative ? -f : f;
}

bool int_truth(struct val a)
{
	return is_int(a) ? a.as.i != 0 : AS(big, a)->count != 0;
}

int64_t int_bit_length(struct val v)
{
	struct num n;
	int64_t bits;

	num_of(v, &n);
	if (!n.count)
		return 0;
	bits = (int64_t)(n.count - 1) * 32;
	for (uint32_t top = n.limb[n.count - 1]; top; top >>= 1)
		bits++;
	return bits;
}

uint64_t int_hash(struct val v)
{
	struct num n;
	uint64_t hash = 7;

	if (is_int(v))
		return (uint64_t)v.as.i * 2 + 2;
	num_of(v, &n);
	for (uint32_t i = 0; i < n.count; i++)
		hash = hash * 1000003u + n.limb[i];
	return hash + n.negative;
}

/* Digits are made from the end. */
void int_print(struct vm *vm, struct val v, int base, struct text *out)
{
	struct num n;
	uint32_t *rest, count;
	char *digits;
	size_t used = 0;

	num_of(v, &n);
	if (n.negative)
		text_add_char(out, '-');
	if (!n.count) {
		text_add_char(out, '0');
		return;
	}
	if (!vm_work(vm, (uint64_t)n.count * n.count / 8))
		return;
	count = n.count;
	rest = checked_alloc(count, sizeof(uint32_t));
	digits = checked_alloc((size_t)count * 32 + 1, 1);
	memcpy(rest, n.limb, count * sizeof(uint32_t));
	while (count) {
		uint64_t carry = 0;

		for (uint32_t i = count; i-- > 0;) {
			carry = carry << 32 | rest[i];
			rest[i] = (uint32_t)(carry / (uint32_t)base);
			carry %= (uint32_t)base;
		}
		digits[used++] = "0123456789abcdefghijklmnopqrstuvwxyz"[carry];
		while (count && !rest[count - 1])
			count--;
	}
	while (used)
		text_add_char(out, digits[--used]);
	free(rest);
	free(digits);
}

struct val int_of_double(struct vm *vm, double f)
{
	struct val result, shifted;
	int exponent;

	if (f != f)
		return rp_raise(vm, TY_ValueError, "cannot convert float NaN to integer");
	if (isinf(f))
		return rp_raise(vm, TY_OverflowError, "cannot convert float infinity to integer");
	f = trunc(f);
	if (fabs(f) < 9.2e18)
		return val_int((int64_t)f);
	f = frexp(f, &exponent);
	result = val_int((int64_t)ldexp(f, 62));
	shifted = shift_left(vm, result, exponent - 62);
	return shifted;
}
