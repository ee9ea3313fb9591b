#include <math.h>
#include <string.h>

#include "analyzer/replay/py.h"

/* Names of the special methods of each binary operator. */
static const struct {
	uint8_t plain, reflected, inplace;
} op_names[SUB_COUNT] = {
        [SUB_binary_add] = {PN_add, PN_radd, PN_iadd},
        [SUB_binary_subtract] = {PN_sub, PN_rsub, PN_isub},
        [SUB_binary_multiply] = {PN_mul, PN_rmul, PN_imul},
        [SUB_binary_matmul] = {PN_matmul, PN_rmatmul, PN_imatmul},
        [SUB_binary_divide] = {PN_truediv, PN_rtruediv, PN_itruediv},
        [SUB_binary_floor_divide] = {PN_floordiv, PN_rfloordiv, PN_ifloordiv},
        [SUB_binary_modulo] = {PN_mod, PN_rmod, PN_imod},
        [SUB_binary_power] = {PN_pow, PN_rpow, PN_ipow},
        [SUB_binary_shift_left] = {PN_lshift, PN_rlshift, PN_ilshift},
        [SUB_binary_shift_right] = {PN_rshift, PN_rrshift, PN_irshift},
        [SUB_binary_and] = {PN_and, PN_rand, PN_iand},
        [SUB_binary_or] = {PN_or, PN_ror, PN_ior},
        [SUB_binary_xor] = {PN_xor, PN_rxor, PN_ixor},
        [SUB_compare_less] = {PN_lt, PN_gt, 0},
        [SUB_compare_less_equal] = {PN_le, PN_ge, 0},
        [SUB_compare_equal] = {PN_eq, PN_eq, 0},
        [SUB_compare_not_equal] = {PN_ne, PN_ne, 0},
        [SUB_compare_greater] = {PN_gt, PN_lt, 0},
        [SUB_compare_greater_equal] = {PN_ge, PN_le, 0},
};

static const struct val not_implemented = {.tag = PY_NOT_IMPLEMENTED};

static bool is_number(struct val v)
{
	return v.tag == PY_FLOAT || is_any_int(v);
}

static double number(struct val v)
{
	return v.tag == PY_FLOAT ? v.as.f : int_to_double(v);
}

static double float_modulo(double a, double b)
{
	double r = fmod(a, b);

	if (r != 0 && (r < 0) != (b < 0))
		r += b;
	return r == 0 ? copysign(0.0, b) : r;
}

static struct val float_power(struct vm *vm, double a, double b)
{
	if (a == 0 && b < 0)
		return rp_raise(vm, TY_ZeroDivisionError,
		                "0.0 cannot be raised to a negative power");
	if (a < 0 && b != floor(b))
		return unknown_new(vm, "complex power");
	if (isfinite(a) && isfinite(b) && isinf(pow(a, b)))
		return rp_raise(vm, TY_OverflowError, "(34, 'Numerical result out of range')");
	return val_float(pow(a, b));
}

static struct val float_binary(struct vm *vm, enum ir_sub sub, double a, double b)
{
	switch ((int)sub) {
	case SUB_binary_add:
		return val_float(a + b);
	case SUB_binary_subtract:
		return val_float(a - b);
	case SUB_binary_multiply:
		return val_float(a * b);
	case SUB_binary_divide:
		if (b == 0)
			return rp_raise(vm, TY_ZeroDivisionError, "float division by zero");
		return val_float(a / b);
	case SUB_binary_floor_divide:
		if (b == 0)
			return rp_raise(vm, TY_ZeroDivisionError, "float floor division by zero");
		return val_float(floor((a - float_modulo(a, b)) / b + 0.5));
	case SUB_binary_modulo:
		if (b == 0)
			return rp_raise(vm, TY_ZeroDivisionError, "float modulo");
		return val_float(float_modulo(a, b));
	case SUB_binary_power:
		return float_power(vm, a, b);
	default:
		return not_implemented;
	}
}

/* --- sequences and sets */

static struct val text_like(struct vm *vm, const struct str *like, const struct text *text)
{
	return like->h.kind == K_BYTES ? val_obj(bytes_new(vm, text_chars(text), text->length))
	                               : val_text(vm, text);
}

static struct val str_join_two(struct vm *vm, struct str *a, struct str *b)
{
	struct arena scratch = {0};
	struct text text = {.arena = &scratch};
	struct val result;

	text_add(&text, a->at, a->length);
	text_add(&text, b->at, b->length);
	result = text_like(vm, a, &text);
	arena_release(&scratch);
	return result;
}

static struct val deque_joined(struct vm *vm, struct deque *a, struct deque *b)
{
	struct deque *sum = deque_new(vm, a->maxlen);

	for (uint32_t i = 0; i < a->count; i++)
		deque_push(vm, sum, ref(*deque_at(a, i)), false);
	for (uint32_t i = 0; i < b->count; i++)
		deque_push(vm, sum, ref(*deque_at(b, i)), false);
	return val_obj(sum);
}

static struct val sequence_add(struct vm *vm, struct val a, struct val b)
{
	struct list *sum;

	if (a.as.o->kind != b.as.o->kind)
		return not_implemented;
	if (is_kind(a, K_STR) || is_kind(a, K_BYTES))
		return str_join_two(vm, AS(str, a), AS(str, b));
	if (is_kind(a, K_DEQUE))
		return deque_joined(vm, AS(deque, a), AS(deque, b));
	if (!is_kind(a, K_LIST) && !is_kind(a, K_TUPLE))
		return not_implemented;
	sum = list_new(vm, AS(list, a)->count + AS(list, b)->count);
	list_extend(vm, sum, a);
	list_extend(vm, sum, b);
	if (is_kind(a, K_TUPLE)) {
		sum->h.kind = K_TUPLE;
		sum->h.cls = vm->t[a.as.o->cls == vm->t[TY_size] ? TY_size : TY_tuple];
	}
	return val_obj(sum);
}

static struct val str_repeat(struct vm *vm, struct str *s, int64_t times)
{
	struct arena scratch = {0};
	struct text text = {.arena = &scratch};
	struct val result;

	if (times > 0 && s->length && times > PY_MAX_BYTES / (int64_t)s->length) {
		vm_halt(vm, VM_HALT_BYTES, "a string of more than 1 GiB");
		return val_null();
	}
	for (int64_t i = 0; i < times && vm_work(vm, 1); i++)
		text_add(&text, s->at, s->length);
	result = text_like(vm, s, &text);
	arena_release(&scratch);
	return result;
}

static struct val sequence_repeat(struct vm *vm, struct val s, int64_t times)
{
	struct list *from, *list;

	if (is_kind(s, K_STR) || is_kind(s, K_BYTES))
		return str_repeat(vm, AS(str, s), times);
	if (!is_kind(s, K_LIST) && !is_kind(s, K_TUPLE))
		return not_implemented;
	from = AS(list, s);
	if (times > 0 && from->count && times > PY_MAX_BYTES / 16 / (int64_t)from->count) {
		vm_halt(vm, VM_HALT_BYTES, "a list of more than 1 GiB");
		return val_null();
	}
	list = list_new(vm, times > 0 ? (uint32_t)(from->count * (uint64_t)times) : 0);
	for (int64_t k = 0; k < times && vm_work(vm, from->count); k++)
		for (uint32_t i = 0; i < from->count; i++)
			list_push(vm, list, ref(from->at[i]));
	if (is_kind(s, K_TUPLE)) {
		list->h.kind = K_TUPLE;
		list->h.cls = vm->t[TY_tuple];
	}
	return val_obj(list);
}

/* A set's or view's elements as a set; takes nothing. */
static struct dict *as_set(struct vm *vm, struct val v)
{
	struct dict *set;
	struct val it, item;

	if (is_kind(v, K_SET))
		return AS(dict, ref(v));
	it = rp_iter(vm, v);
	if (is_null(it))
		return NULL;
	set = set_new(vm, false);
	while (!is_null(item = rp_next(vm, it))) {
		dict_put(vm, set, item, val_none());
		unref(vm, item);
	}
	unref(vm, it);
	return set;
}

static struct val set_binary(struct vm *vm, enum ir_sub sub, struct val x, struct val y)
{
	struct dict *a = as_set(vm, x), *b = as_set(vm, y), *out;
	struct dict_entry *e;
	uint32_t at = 0;

	if (!a || !b) {
		unref_obj(vm, a);
		unref_obj(vm, b);
		return val_null();
	}
	out = set_new(vm, is_kind(x, K_SET) && AS(dict, x)->frozen);
	while ((e = dict_next(a, &at))) {
		bool in_b = !is_null(dict_get(vm, b, e->key));

		if (sub == SUB_binary_or || (sub == SUB_binary_and && in_b) ||
		    (sub == SUB_binary_subtract && !in_b) || (sub == SUB_binary_xor && !in_b))
			dict_put(vm, out, e->key, val_none());
	}
	at = 0;
	while ((sub == SUB_binary_or || sub == SUB_binary_xor) && (e = dict_next(b, &at)))
		if (sub == SUB_binary_or || is_null(dict_get(vm, a, e->key)))
			dict_put(vm, out, e->key, val_none());
	unref_obj(vm, a);
	unref_obj(vm, b);
	return val_obj(out);
}

/* int | str */
static struct val types_joined(struct vm *vm, struct val a, struct val b)
{
	struct val both[2] = {a, b};

	return library_call(vm, "types", "_union", both, 2);
}

static struct val container_binary(struct vm *vm, enum ir_sub sub, struct val a, struct val b)
{
	struct dict *merged;
	bool sets = (is_kind(a, K_SET) || is_kind(a, K_VIEW)) &&
	            (is_kind(b, K_SET) || is_kind(b, K_VIEW));

	if (sub == SUB_binary_modulo && is_kind(a, K_STR))
		return str_percent(vm, AS(str, a), b);
	if (sub == SUB_binary_multiply && a.tag == PY_OBJECT && is_int(b))
		return sequence_repeat(vm, a, b.as.i);
	if (sub == SUB_binary_multiply && b.tag == PY_OBJECT && is_int(a))
		return sequence_repeat(vm, b, a.as.i);
	if (sub == SUB_binary_or && (is_kind(a, K_CLASS) || is_kind(b, K_CLASS)))
		return types_joined(vm, a, b);
	if (a.tag != PY_OBJECT || b.tag != PY_OBJECT)
		return not_implemented;
	if (sub == SUB_binary_add)
		return sequence_add(vm, a, b);
	if (sets && (sub == SUB_binary_or || sub == SUB_binary_and || sub == SUB_binary_subtract ||
	             sub == SUB_binary_xor))
		return set_binary(vm, sub, a, b);
	if (sub == SUB_binary_or && is_kind(a, K_DICT) && is_kind(b, K_DICT)) {
		merged = dict_copy(vm, AS(dict, a));
		dict_update(vm, merged, b);
		return val_obj(merged);
	}
	return not_implemented;
}

/* --- dispatch */

static struct val call_own(struct vm *vm, struct val self, enum rp_name name, struct val other)
{
	struct val fn = special_own(vm, self, name), result;

	if (is_null(fn))
		return is_null(vm->exc) ? not_implemented : val_null();
	result = rp_call1(vm, fn, other);
	unref(vm, fn);
	return result;
}

static bool right_first(struct vm *vm, struct val a, struct val b)
{
	struct cls *ca = type_of(vm, a), *cb = type_of(vm, b);

	return ca != cb && (cb->flags & CLS_HEAP) && cls_is(cb, ca);
}

static struct val own_binary(struct vm *vm, enum ir_sub sub, struct val a, struct val b)
{
	struct val result = not_implemented;
	bool right = right_first(vm, a, b);

	if (right)
		result = call_own(vm, b, (enum rp_name)op_names[sub].reflected, a);
	if (result.tag == PY_NOT_IMPLEMENTED)
		result = call_own(vm, a, (enum rp_name)op_names[sub].plain, b);
	if (result.tag == PY_NOT_IMPLEMENTED && !right)
		result = call_own(vm, b, (enum rp_name)op_names[sub].reflected, a);
	return result;
}

/* A kind from outside on either side; stand-ins come last. */
static struct val foreign_binary(struct vm *vm, enum ir_sub sub, struct val a, struct val b)
{
	struct val result = not_implemented;

	if (a.tag == PY_OBJECT && vm->kinds[a.as.o->kind].binary)
		result = vm->kinds[a.as.o->kind].binary(vm, sub, a, b);
	if (result.tag == PY_NOT_IMPLEMENTED && b.tag == PY_OBJECT &&
	    vm->kinds[b.as.o->kind].binary)
		result = vm->kinds[b.as.o->kind].binary(vm, sub, a, b);
	if (result.tag == PY_NOT_IMPLEMENTED && (is_kind(a, K_UNKNOWN) || is_kind(b, K_UNKNOWN)))
		result = unknown_new(vm, "%s",
		                     is_kind(a, K_UNKNOWN) ? AS(unknown, a)->what->at
		                                           : AS(unknown, b)->what->at);
	return result;
}

static struct val binary_any(struct vm *vm, enum ir_sub sub, struct val a, struct val b)
{
	struct val result;

	if (is_number(a) && is_number(b)) {
		if (a.tag == PY_FLOAT || b.tag == PY_FLOAT)
			return float_binary(vm, sub, number(a), number(b));
		return int_binary(vm, sub, a, b);
	}
	result = own_binary(vm, sub, a, b);
	if (result.tag == PY_NOT_IMPLEMENTED)
		result = foreign_binary(vm, sub, a, b);
	if (result.tag == PY_NOT_IMPLEMENTED)
		result = container_binary(vm, sub, a, b);
	return result;
}

static struct val unsupported(struct vm *vm, enum ir_sub sub, const char *more, struct val a,
                              struct val b)
{
	if (sub == SUB_binary_add && is_kind(a, K_STR))
		return rp_raise(vm, TY_TypeError, "can only concatenate str (not \"%s\") to str",
		                type_name(vm, b));
	return rp_raise(vm, TY_TypeError, "unsupported operand type(s) for %s%s: '%s' and '%s'",
	                ir_sub_text(sub), more, type_name(vm, a), type_name(vm, b));
}

struct val rp_binary(struct vm *vm, enum ir_sub sub, struct val a, struct val b)
{
	struct val result = binary_any(vm, sub, a, b);

	if (result.tag == PY_NOT_IMPLEMENTED)
		return unsupported(vm, sub, "", a, b);
	return result;
}

struct val rp_binary_builtin(struct vm *vm, enum ir_sub sub, struct val a, struct val b)
{
	return container_binary(vm, sub, a, b);
}

static struct val inplace_container(struct vm *vm, enum ir_sub sub, struct val a, struct val b)
{
	struct val result;

	if (is_kind(a, K_LIST) && sub == SUB_binary_add)
		return list_extend(vm, AS(list, a), b) ? ref(a) : val_null();
	if (is_kind(a, K_DICT) && sub == SUB_binary_or)
		return dict_update(vm, AS(dict, a), b) ? ref(a) : val_null();
	if (is_kind(a, K_DEQUE) && sub == SUB_binary_add) {
		result = rp_call_method(vm, a, "extend", &b, 1);
		unref(vm, result);
		return is_null(result) ? result : ref(a);
	}
	if (is_kind(a, K_SET) && !AS(dict, a)->frozen && is_kind(b, K_SET)) {
		struct dict old, *into = AS(dict, a);
		struct val made = set_binary(vm, sub, a, b);
		struct dict *from = AS(dict, made);

		if (is_null(made))
			return made;
		old = *into;
		into->at = from->at, from->at = old.at;
		into->index = from->index, from->index = old.index;
		into->mask = from->mask, from->mask = old.mask;
		into->used = from->used, from->used = old.used;
		into->count = from->count, from->count = old.count;
		into->capacity = from->capacity, from->capacity = old.capacity;
		unref(vm, made);
		return ref(a);
	}
	return not_implemented;
}

struct val rp_inplace(struct vm *vm, enum ir_sub sub, struct val a, struct val b)
{
	struct val result = not_implemented;

	if (a.tag == PY_OBJECT) {
		result = call_own(vm, a, (enum rp_name)op_names[sub].inplace, b);
		if (result.tag == PY_NOT_IMPLEMENTED && vm->kinds[a.as.o->kind].inplace)
			result = vm->kinds[a.as.o->kind].inplace(vm, sub, a, b);
		if (result.tag == PY_NOT_IMPLEMENTED)
			result = inplace_container(vm, sub, a, b);
	}
	if (result.tag == PY_NOT_IMPLEMENTED)
		result = binary_any(vm, sub, a, b);
	if (result.tag == PY_NOT_IMPLEMENTED)
		return unsupported(vm, sub, "=", a, b);
	return result;
}

struct val rp_unary(struct vm *vm, enum ir_sub sub, struct val a)
{
	enum rp_name name = sub == SUB_unary_negative   ? PN_neg
	                    : sub == SUB_unary_positive ? PN_pos
	                                                : PN_invert;
	struct val fn, result;
	int truth;

	if (sub == SUB_unary_not && is_kind(a, K_UNKNOWN))
		return ref(a);
	if (sub == SUB_unary_not) {
		truth = rp_condition(vm, a);
		if (truth == PY_NOT_KNOWN)
			return unknown_new(vm, "not");
		return truth < 0 ? val_null() : val_bool(!truth);
	}
	if (is_any_int(a))
		return sub == SUB_unary_negative ? int_negate(vm, a)
		       : sub == SUB_unary_invert
		               ? int_binary(vm, SUB_binary_subtract, val_int(-1), a)
		               : int_binary(vm, SUB_binary_add, a, val_int(0));
	if (a.tag == PY_FLOAT && sub != SUB_unary_invert)
		return val_float(sub == SUB_unary_negative ? -a.as.f : a.as.f);
	fn = special_own(vm, a, name);
	if (!is_null(fn)) {
		result = rp_call0(vm, fn);
		unref(vm, fn);
		return result;
	}
	if (is_null(vm->exc) && a.tag == PY_OBJECT && vm->kinds[a.as.o->kind].unary)
		return vm->kinds[a.as.o->kind].unary(vm, sub, a);
	if (is_kind(a, K_UNKNOWN))
		return ref(a);
	return rp_raise(vm, TY_TypeError, "bad operand type for unary %s: '%s'", ir_sub_text(sub),
	                type_name(vm, a));
}
