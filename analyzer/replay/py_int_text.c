/* Integers as they are written. */

#include "analyzer/replay/py.h"

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 32);
	return c >= 'a' && c <= 'z' ? c - 'a' + 10 : 99;
}

/* The base that a prefix as in 0x names, where `base` allows it; 0: none. */
static int prefix_base(const char *at, size_t length, int base)
{
	char c = length > 1 && at[0] == '0' ? (char)(at[1] | 32) : 0;
	int named = c == 'x' ? 16 : c == 'o' ? 8 : c == 'b' ? 2 : 0;

	return base == 0 || base == named ? named : 0;
}

static void append_digit(struct vm *vm, struct val *number, int base, int digit)
{
	slot_set(vm, number, int_binary(vm, SUB_binary_multiply, *number, val_int(base)));
	slot_set(vm, number, int_binary(vm, SUB_binary_add, *number, val_int(digit)));
}

/* PY_NULL without an exception: no number. */
struct val int_of_text(struct vm *vm, const char *at, size_t length, int base)
{
	struct val result = val_int(0);
	bool negative = false, any = false;
	size_t i = 0;
	int named;

	if (length && (at[0] == '-' || at[0] == '+'))
		negative = at[i++] == '-';
	named = prefix_base(at + i, length - i, base);
	i += named ? 2 : 0;
	base = named ? named : base ? base : 10;
	for (; i < length && !vm->halt; i++) {
		if (at[i] == '_' && any)
			continue;
		if (digit_of(at[i]) >= base) {
			unref(vm, result);
			return val_null();
		}
		any = true;
		append_digit(vm, &result, base, digit_of(at[i]));
	}
	if (!any) {
		unref(vm, result);
		return val_null();
	}
	if (negative)
		slot_set(vm, &result, int_negate(vm, result));
	return result;
}
