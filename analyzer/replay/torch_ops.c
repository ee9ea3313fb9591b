#include "analyzer/replay/torch.h"

static const char *const op_names[SUB_COUNT] = {
        [SUB_binary_add] = "Tensor.add",
        [SUB_binary_subtract] = "Tensor.sub",
        [SUB_binary_multiply] = "Tensor.mul",
        [SUB_binary_matmul] = "Tensor.matmul",
        [SUB_binary_divide] = "Tensor.div",
        [SUB_binary_floor_divide] = "Tensor.floor_divide",
        [SUB_binary_modulo] = "Tensor.remainder",
        [SUB_binary_power] = "Tensor.pow",
        [SUB_binary_shift_left] = "Tensor.bitwise_left_shift",
        [SUB_binary_shift_right] = "Tensor.bitwise_right_shift",
        [SUB_binary_and] = "Tensor.bitwise_and",
        [SUB_binary_or] = "Tensor.bitwise_or",
        [SUB_binary_xor] = "Tensor.bitwise_xor",
        [SUB_compare_less] = "Tensor.lt",
        [SUB_compare_less_equal] = "Tensor.le",
        [SUB_compare_equal] = "Tensor.eq",
        [SUB_compare_not_equal] = "Tensor.ne",
        [SUB_compare_greater] = "Tensor.gt",
        [SUB_compare_greater_equal] = "Tensor.ge",
};

static const char *const inplace_names[SUB_COUNT] = {
        [SUB_binary_add] = "Tensor.add_",
        [SUB_binary_subtract] = "Tensor.sub_",
        [SUB_binary_multiply] = "Tensor.mul_",
        [SUB_binary_divide] = "Tensor.div_",
        [SUB_binary_power] = "Tensor.pow_",
        [SUB_binary_and] = "Tensor.bitwise_and_",
        [SUB_binary_or] = "Tensor.bitwise_or_",
        [SUB_binary_xor] = "Tensor.bitwise_xor_",
        [SUB_binary_floor_divide] = "Tensor.floor_divide_",
        [SUB_binary_modulo] = "Tensor.remainder_",
};

static bool fits(struct val v)
{
	return v.tag == PY_BOOL || v.tag == PY_INT || v.tag == PY_FLOAT || is_kind(v, K_TENSOR) ||
	       is_kind(v, K_UNKNOWN) || is_kind(v, K_LONG) || is_kind(v, K_ARRAY);
}

/* With the number on the left torch turns the operands round, and 1 / x is a
 * reciprocal times the number. */
static struct val number_first(struct vm *vm, enum ir_sub sub, struct val number, struct val t)
{
	struct val both[2] = {t, number}, first, result;

	switch ((int)sub) {
	case SUB_binary_add:
	case SUB_binary_multiply:
	case SUB_binary_and:
	case SUB_binary_or:
	case SUB_binary_xor:
		return torch_call(vm, op_names[sub], both, 2, NULL);
	case SUB_binary_subtract:
		return torch_call(vm, "torch.rsub", both, 2, NULL);
	case SUB_binary_divide:
		first = torch_call(vm, "Tensor.reciprocal", &t, 1, NULL);
		if (is_null(first))
			return first;
		both[0] = first;
		result = torch_call(vm, "Tensor.mul", both, 2, NULL);
		unref(vm, first);
		return result;
	default:
		both[0] = number;
		both[1] = t;
		return torch_call(vm, op_names[sub], both, 2, NULL);
	}
}

static enum ir_sub mirrored(enum ir_sub sub)
{
	switch ((int)sub) {
	case SUB_compare_less:
		return SUB_compare_greater;
	case SUB_compare_less_equal:
		return SUB_compare_greater_equal;
	case SUB_compare_greater:
		return SUB_compare_less;
	case SUB_compare_greater_equal:
		return SUB_compare_less_equal;
	default:
		return sub;
	}
}

struct val tensor_binary(struct vm *vm, enum ir_sub sub, struct val a, struct val b)
{
	struct val both[2] = {a, b};

	if (!op_names[sub] || !fits(a) || !fits(b)) {
		if (sub == SUB_compare_equal || sub == SUB_compare_not_equal)
			return val_bool(sub == SUB_compare_not_equal);
		return (struct val){.tag = PY_NOT_IMPLEMENTED};
	}
	if (is_kind(a, K_TENSOR))
		return torch_call(vm, op_names[sub], both, 2, NULL);
	if (is_kind(a, K_UNKNOWN) || is_kind(a, K_ARRAY))
		return torch_call(vm, op_names[sub], both, 2, NULL);
	if (sub >= SUB_compare_less && sub <= SUB_compare_greater_equal) {
		both[0] = b;
		both[1] = a;
		return torch_call(vm, op_names[mirrored(sub)], both, 2, NULL);
	}
	return number_first(vm, sub, a, b);
}

struct val tensor_inplace(struct vm *vm, enum ir_sub sub, struct val a, struct val b)
{
	struct val both[2] = {a, b};

	if (!inplace_names[sub] || !fits(b) || !is_kind(a, K_TENSOR))
		return (struct val){.tag = PY_NOT_IMPLEMENTED};
	return torch_call(vm, inplace_names[sub], both, 2, NULL);
}

struct val tensor_unary(struct vm *vm, enum ir_sub sub, struct val a)
{
	return torch_call(vm,
	                  sub == SUB_unary_negative   ? "Tensor.neg"
	                  : sub == SUB_unary_positive ? "Tensor.positive"
	                                              : "Tensor.bitwise_not",
	                  &a, 1, NULL);
}
