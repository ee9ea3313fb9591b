#include <math.h>
#include <string.h>

#include "analyzer/replay/py.h"

static const uint8_t compare_names[SUB_COUNT] = {
        [SUB_compare_less] = PN_lt,    [SUB_compare_less_equal] = PN_le,
        [SUB_compare_equal] = PN_eq,   [SUB_compare_not_equal] = PN_ne,
        [SUB_compare_greater] = PN_gt, [SUB_compare_greater_equal] = PN_ge,
};
static const uint8_t mirrored[SUB_COUNT] = {
        [SUB_compare_less] = SUB_compare_greater,
        [SUB_compare_less_equal] = SUB_compare_greater_equal,
        [SUB_compare_equal] = SUB_compare_equal,
        [SUB_compare_not_equal] = SUB_compare_not_equal,
        [SUB_compare_greater] = SUB_compare_less,
        [SUB_compare_greater_equal] = SUB_compare_less_equal,
};

static const struct val not_implemented = {.tag = PY_NOT_IMPLEMENTED};

static bool order_says(enum ir_sub sub, int order)
{
	switch ((int)sub) {
	case SUB_compare_less:
		return order < 0;
	case SUB_compare_less_equal:
		return order <= 0;
	case SUB_compare_greater:
		return order > 0;
	case SUB_compare_greater_equal:
		return order >= 0;
	case SUB_compare_not_equal:
		return order != 0;
	default:
		return order == 0;
	}
}

static bool float_says(enum ir_sub sub, double a, double b)
{
	if (a != a || b != b)
		return sub == SUB_compare_not_equal;
	return order_says(sub, a < b ? -1 : a > b);
}

static struct val compare_str(enum ir_sub sub, const struct str *a, const struct str *b)
{
	uint32_t least = a->length < b->length ? a->length : b->length;
	int order = least ? memcmp(a->at, b->at, least) : 0;

	if (!order)
		order = a->length < b->length ? -1 : a->length > b->length;
	return val_bool(order_says(sub, order));
}

static struct val compare_lists(struct vm *vm, enum ir_sub sub, struct list *a, struct list *b)
{
	bool equality = sub == SUB_compare_equal || sub == SUB_compare_not_equal;

	if (equality && a->count != b->count)
		return val_bool(sub == SUB_compare_not_equal);
	for (uint32_t i = 0; i < a->count && i < b->count; i++) {
		struct val x, y, result;
		int same;

		if (val_same(a->at[i], b->at[i]))
			continue;
		x = ref(a->at[i]);
		y = ref(b->at[i]);
		same = rp_eq(vm, x, y);
		if (same > 0) {
			unref(vm, x);
			unref(vm, y);
			continue;
		}
		result = same < 0   ? val_null()
		         : equality ? val_bool(sub == SUB_compare_not_equal)
		                    : rp_compare(vm, sub, x, y);
		unref(vm, x);
		unref(vm, y);
		return result;
	}
	return val_bool(order_says(sub, a->count < b->count ? -1 : a->count > b->count));
}

static int dict_equal(struct vm *vm, struct dict *a, struct dict *b)
{
	uint32_t at = 0;
	struct dict_entry *e;

	if (a->count != b->count)
		return 0;
	while ((e = dict_next(a, &at))) {
		struct val other = dict_get(vm, b, e->key);
		int same;

		if (is_null(other))
			return is_null(vm->exc) ? 0 : -1;
		same = a->h.kind == K_SET ? 1 : rp_eq(vm, e->value, other);
		if (same <= 0)
			return same;
	}
	return 1;
}

static int subset(struct vm *vm, struct dict *a, struct dict *b)
{
	uint32_t at = 0;
	struct dict_entry *e;

	while ((e = dict_next(a, &at)))
		if (is_null(dict_get(vm, b, e->key)))
			return is_null(vm->exc) ? 0 : -1;
	return 1;
}

static struct val compare_sets(struct vm *vm, enum ir_sub sub, struct dict *a, struct dict *b)
{
	int yes;

	switch ((int)sub) {
	case SUB_compare_less:
	case SUB_compare_less_equal:
		yes = subset(vm, a, b);
		return yes < 0 ? val_null()
		               : val_bool(yes &&
		                          (sub == SUB_compare_less_equal || a->count < b->count));
	case SUB_compare_greater:
	case SUB_compare_greater_equal:
		yes = subset(vm, b, a);
		return yes < 0 ? val_null()
		               : val_bool(yes && (sub == SUB_compare_greater_equal ||
		                                  b->count < a->count));
	default:
		yes = dict_equal(vm, a, b);
		return yes < 0 ? val_null() : val_bool((yes != 0) == (sub == SUB_compare_equal));
	}
}

static struct val compare_containers(struct vm *vm, enum ir_sub sub, struct val a, struct val b)
{
	enum rp_kind kind = (enum rp_kind)a.as.o->kind;
	int yes;

	if (kind != b.as.o->kind)
		return not_implemented;
	switch (kind) {
	case K_STR:
	case K_BYTES:
		return compare_str(sub, AS(str, a), AS(str, b));
	case K_LIST:
	case K_TUPLE:
		return compare_lists(vm, sub, AS(list, a), AS(list, b));
	case K_SET:
		return compare_sets(vm, sub, AS(dict, a), AS(dict, b));
	case K_DICT:
		if (sub != SUB_compare_equal && sub != SUB_compare_not_equal)
			return not_implemented;
		yes = dict_equal(vm, AS(dict, a), AS(dict, b));
		return yes < 0 ? val_null() : val_bool((yes != 0) == (sub == SUB_compare_equal));
	case K_RANGE:
		yes = AS(range, a)->start == AS(range, b)->start &&
		      AS(range, a)->stop == AS(range, b)->stop &&
		      AS(range, a)->step == AS(range, b)->step;
		return val_bool(yes == (sub == SUB_compare_equal));
	case K_DEQUE: {
		struct list *x = list_from(vm, a), *y = list_from(vm, b);
		struct val result = compare_lists(vm, sub, x, y);

		unref_obj(vm, x);
		unref_obj(vm, y);
		return result;
	}
	case K_METHOD:
		yes = val_same(AS(method, a)->fn, AS(method, b)->fn) &&
		      val_same(AS(method, a)->self, AS(method, b)->self);
		return sub == SUB_compare_equal || sub == SUB_compare_not_equal
		               ? val_bool(yes == (sub == SUB_compare_equal))
		               : not_implemented;
	default:
		return not_implemented;
	}
}

static struct val call_own(struct vm *vm, struct val self, enum ir_sub sub, struct val other)
{
	struct val fn = special_own(vm, self, (enum rp_name)compare_names[sub]), result;

	if (is_null(fn))
		return is_null(vm->exc) ? not_implemented : val_null();
	result = rp_call1(vm, fn, other);
	unref(vm, fn);
	return result;
}

static struct val own_compare(struct vm *vm, enum ir_sub sub, struct val a, struct val b)
{
	struct val result = call_own(vm, a, sub, b);
	int truth;

	if (result.tag == PY_NOT_IMPLEMENTED)
		result = call_own(vm, b, (enum ir_sub)mirrored[sub], a);
	if (result.tag != PY_NOT_IMPLEMENTED || sub != SUB_compare_not_equal)
		return result;
	result = call_own(vm, a, SUB_compare_equal, b);
	if (result.tag == PY_NOT_IMPLEMENTED || is_null(result))
		return result;
	truth = rp_truth(vm, result);
	unref(vm, result);
	return truth < 0 ? val_null() : val_bool(!truth);
}

static bool is_number(struct val v)
{
	return v.tag == PY_FLOAT || is_any_int(v);
}

/* An int that a double does not hold exactly, as far as one can see. */
static bool is_wide(struct val v)
{
	return v.tag == PY_OBJECT ||
	       (v.tag == PY_INT && (v.as.i > INT64_C(1) << 53 || v.as.i < -(INT64_C(1) << 53)));
}

/* Of an int and a float: as the int above all, then by what is behind the point. */
static struct val compare_wide(struct vm *vm, enum ir_sub sub, struct val a, struct val b)
{
	const double f = a.tag == PY_FLOAT ? a.as.f : b.as.f;
	struct val whole;
	int order;

	if (!isfinite(f))
		return val_bool(
		        float_says(sub, a.tag == PY_FLOAT ? f : 0, a.tag == PY_FLOAT ? 0 : f));
	whole = int_of_double(vm, floor(f));
	order = int_compare(a.tag == PY_FLOAT ? b : a, whole);
	if (!order && f != floor(f))
		order = -1;
	unref(vm, whole);
	return val_bool(order_says(sub, a.tag == PY_FLOAT ? -order : order));
}

static struct val compare_any(struct vm *vm, enum ir_sub sub, struct val a, struct val b)
{
	struct val result;

	if (is_number(a) && is_number(b)) {
		if (a.tag != PY_FLOAT && b.tag != PY_FLOAT)
			return val_bool(order_says(sub, int_compare(a, b)));
		if (is_wide(a) || is_wide(b))
			return compare_wide(vm, sub, a, b);
		return val_bool(float_says(sub, a.tag == PY_FLOAT ? a.as.f : int_to_double(a),
		                           b.tag == PY_FLOAT ? b.as.f : int_to_double(b)));
	}
	result = own_compare(vm, sub, a, b);
	if (result.tag == PY_NOT_IMPLEMENTED && a.tag == PY_OBJECT &&
	    vm->kinds[a.as.o->kind].binary)
		result = vm->kinds[a.as.o->kind].binary(vm, sub, a, b);
	if (result.tag == PY_NOT_IMPLEMENTED && b.tag == PY_OBJECT &&
	    vm->kinds[b.as.o->kind].binary)
		result = vm->kinds[b.as.o->kind].binary(vm, sub, a, b);
	if (result.tag == PY_NOT_IMPLEMENTED && a.tag == PY_OBJECT && b.tag == PY_OBJECT)
		result = compare_containers(vm, sub, a, b);
	return result;
}

static bool has_class_first(struct val box)
{
	uint32_t at = 0;
	const struct dict_entry *e;

	if (is_kind(box, K_LIST) || is_kind(box, K_TUPLE))
		return AS(list, box)->count && is_kind(AS(list, box)->at[0], K_CLASS);
	if (!is_kind(box, K_SET) && !is_kind(box, K_DICT))
		return false;
	e = dict_next(AS(dict, box), &at);
	return e && is_kind(e->key, K_CLASS);
}

/* A stand-in may be any of those that there are, but it is of no class that is known. */
static bool may_be_in(struct vm *vm, struct val v, struct val box)
{
	const bool is_plain = is_kind(box, K_LIST) || is_kind(box, K_TUPLE) ||
	                      is_kind(box, K_STR) || is_kind(box, K_SET) || is_kind(box, K_DICT);

	return is_kind(v, K_UNKNOWN) && is_plain && !has_class_first(box) && rp_length(vm, box) > 0;
}

static struct val compare_in(struct vm *vm, enum ir_sub sub, struct val a, struct val b)
{
	int yes;

	if (is_kind(b, K_UNKNOWN))
		return unknown_new(vm, "membership in %s", AS(unknown, b)->what->at);
	yes = rp_contains(vm, b, a);
	if (!yes && may_be_in(vm, a, b))
		return unknown_new(vm, "membership of %s", AS(unknown, a)->what->at);
	return yes < 0 ? val_null() : val_bool((yes != 0) == (sub == SUB_compare_in));
}

struct val rp_compare(struct vm *vm, enum ir_sub sub, struct val a, struct val b)
{
	struct val result;

	switch ((int)sub) {
	case SUB_compare_is:
		return val_bool(val_same(a, b));
	case SUB_compare_is_not:
		return val_bool(!val_same(a, b));
	case SUB_compare_in:
	case SUB_compare_not_in:
		return compare_in(vm, sub, a, b);
	default:
		break;
	}
	if (++vm->native_depth > PY_NATIVE_DEPTH * 4) {
		vm->native_depth--;
		return rp_raise(vm, TY_RecursionError,
		                "maximum recursion depth exceeded in comparison");
	}
	result = compare_any(vm, sub, a, b);
	vm->native_depth--;
	if (result.tag != PY_NOT_IMPLEMENTED)
		return result;
	if (is_kind(a, K_UNKNOWN) || is_kind(b, K_UNKNOWN))
		return unknown_new(vm, "comparison with %s",
		                   is_kind(a, K_UNKNOWN) ? AS(unknown, a)->what->at
		                                         : AS(unknown, b)->what->at);
	if (sub == SUB_compare_equal)
		return val_bool(val_same(a, b));
	if (sub == SUB_compare_not_equal)
		return val_bool(!val_same(a, b));
	return rp_raise(vm, TY_TypeError, "'%s' not supported between instances of '%s' and '%s'",
	                ir_sub_text(sub), type_name(vm, a), type_name(vm, b));
}

static int truth_of(struct vm *vm, struct val result)
{
	int truth = is_null(result) ? -1 : rp_truth(vm, result);

	unref(vm, result);
	return truth;
}

int rp_eq(struct vm *vm, struct val a, struct val b)
{
	if (is_kind(a, K_UNKNOWN) || is_kind(b, K_UNKNOWN))
		return val_same(a, b);
	return truth_of(vm, rp_compare(vm, SUB_compare_equal, a, b));
}

int rp_less(struct vm *vm, struct val a, struct val b)
{
	if (is_kind(a, K_UNKNOWN) || is_kind(b, K_UNKNOWN))
		return 0;
	return truth_of(vm, rp_compare(vm, SUB_compare_less, a, b));
}

static int truth_special(struct vm *vm, struct val v)
{
	struct val fn = special_find(vm, v, PN_bool), result;
	int64_t length;

	if (!is_null(fn)) {
		result = rp_call0(vm, fn);
		unref(vm, fn);
		return truth_of(vm, result);
	}
	if (!is_null(vm->exc))
		return -1;
	if (is_null(cls_find(vm, type_of(vm, v), vm->n[PN_len])))
		return 1;
	length = rp_length(vm, v);
	return length < 0 ? -1 : length != 0;
}

int rp_condition(struct vm *vm, struct val v)
{
	switch ((enum rp_tag)v.tag) {
	case PY_NULL:
		return -1;
	case PY_NONE:
		return 0;
	case PY_BOOL:
	case PY_INT:
		return v.as.i != 0;
	case PY_FLOAT:
		return v.as.f != 0;
	case PY_OBJECT:
		break;
	default:
		return 1;
	}
	if ((v.as.o->cls->flags & CLS_HEAP) || v.as.o->kind == K_INSTANCE)
		return truth_special(vm, v);
	switch ((enum rp_kind)v.as.o->kind) {
	case K_LONG:
		return int_truth(v);
	case K_STR:
	case K_BYTES:
		return AS(str, v)->length != 0;
	case K_LIST:
	case K_TUPLE:
		return AS(list, v)->count != 0;
	case K_DICT:
	case K_SET:
		return AS(dict, v)->count != 0;
	case K_DEQUE:
		return AS(deque, v)->count != 0;
	case K_RANGE:
		return AS(range, v)->length != 0;
	case K_VIEW:
		return AS(view, v)->dict->count != 0;
	default:
		if (vm->kinds[v.as.o->kind].truth)
			return vm->kinds[v.as.o->kind].truth(vm, v);
		return 1;
	}
}

int rp_truth(struct vm *vm, struct val v)
{
	const int truth = rp_condition(vm, v);

	return truth == PY_NOT_KNOWN ? 1 : truth;
}

static int contains_by_iteration(struct vm *vm, struct val box, struct val v)
{
	struct val it = rp_iter(vm, box), item;
	int yes = 0;

	if (is_null(it))
		return -1;
	while (!yes && !is_null(item = rp_next(vm, it))) {
		yes = val_same(item, v) ? 1 : rp_eq(vm, item, v);
		unref(vm, item);
		if (!vm_work(vm, 1))
			yes = -1;
	}
	unref(vm, it);
	return is_null(vm->exc) ? yes : -1;
}

int rp_contains(struct vm *vm, struct val box, struct val v)
{
	struct val fn = special_own(vm, box, PN_contains), result;

	if (!is_null(fn)) {
		result = rp_call1(vm, fn, v);
		unref(vm, fn);
		return truth_of(vm, result);
	}
	if (!is_null(vm->exc))
		return -1;
	if (is_kind(box, K_DICT) || is_kind(box, K_SET) ||
	    (is_kind(box, K_VIEW) && AS(view, box)->mode == 0)) {
		struct dict *d = is_kind(box, K_VIEW) ? AS(view, box)->dict : AS(dict, box);

		if (!is_null(dict_get(vm, d, v)))
			return 1;
		return is_null(vm->exc) ? 0 : -1;
	}
	if (is_kind(box, K_STR)) {
		if (is_kind(v, K_UNKNOWN))
			return 0;
		if (!arg_str(vm, v, "'in <string>' requires string as left operand"))
			return -1;
		return memmem(AS(str, box)->at, AS(str, box)->length, AS(str, v)->at,
		              AS(str, v)->length) != NULL;
	}
	if (is_kind(box, K_RANGE) && is_int(v)) {
		struct range *r = AS(range, box);
		int64_t at = v.as.i - r->start;

		return at % r->step == 0 && at / r->step >= 0 && at / r->step < r->length;
	}
	fn = box.tag == PY_OBJECT && box.as.o->kind >= K_UNKNOWN
	             ? special_find(vm, box, PN_contains)
	             : val_null();
	if (!is_null(fn)) {
		result = rp_call1(vm, fn, v);
		unref(vm, fn);
		return truth_of(vm, result);
	}
	return contains_by_iteration(vm, box, v);
}

/* --- numbers of anything */

enum { UNKNOWN_NUMBER = 3 }; /* where a number is needed that is not known */

int64_t rp_length(struct vm *vm, struct val v)
{
	struct val fn = special_own(vm, v, PN_len), result;
	int64_t length;

	if (!is_null(fn)) {
		result = rp_call0(vm, fn);
		unref(vm, fn);
		if (is_null(result))
			return -1;
		length = is_int(result) ? result.as.i : is_kind(result, K_UNKNOWN) ? 3 : 0;
		unref(vm, result);
		return length;
	}
	if (!is_null(vm->exc))
		return -1;
	if (v.tag == PY_OBJECT) {
		switch ((enum rp_kind)v.as.o->kind) {
		case K_STR:
			return AS(str, v)->chars;
		case K_BYTES:
			return AS(str, v)->length;
		case K_LIST:
		case K_TUPLE:
			return AS(list, v)->count;
		case K_DICT:
		case K_SET:
			return AS(dict, v)->count;
		case K_DEQUE:
			return AS(deque, v)->count;
		case K_RANGE:
			return AS(range, v)->length;
		case K_VIEW:
			return AS(view, v)->dict->count;
		default:
			if (vm->kinds[v.as.o->kind].length)
				return vm->kinds[v.as.o->kind].length(vm, v);
		}
		fn = special_find(vm, v, PN_len);
		if (!is_null(fn)) {
			result = rp_call0(vm, fn);
			unref(vm, fn);
			length = is_int(result) ? result.as.i : is_null(result) ? -1 : 0;
			unref(vm, result);
			return length;
		}
	}
	rp_raise(vm, TY_TypeError, "object of type '%s' has no len()", type_name(vm, v));
	return -1;
}

static struct val number_special(struct vm *vm, struct val v, enum rp_name name)
{
	struct val fn = special_find(vm, v, name), result;

	if (is_null(fn))
		return val_null();
	result = rp_call0(vm, fn);
	unref(vm, fn);
	return result;
}

bool rp_index(struct vm *vm, struct val v, int64_t *i)
{
	struct val got;

	if (is_int(v)) {
		*i = v.as.i;
		return true;
	}
	if (is_kind(v, K_LONG)) {
		*i = AS(big, v)->negative ? INT64_MIN : INT64_MAX;
		return true;
	}
	if (is_kind(v, K_UNKNOWN)) {
		vm_stand_in(vm, "number %s", AS(unknown, v)->what->at);
		*i = UNKNOWN_NUMBER;
		return true;
	}
	got = v.tag == PY_OBJECT ? number_special(vm, v, PN_index) : val_null();
	if (is_null(got) && is_null(vm->exc))
		rp_raise(vm, TY_TypeError, "'%s' object cannot be interpreted as an integer",
		         type_name(vm, v));
	*i = is_int(got) ? got.as.i : 0;
	unref(vm, got);
	return !is_null(got);
}

bool rp_double(struct vm *vm, struct val v, double *f)
{
	struct val got;

	if (v.tag == PY_FLOAT || is_any_int(v)) {
		*f = v.tag == PY_FLOAT ? v.as.f : int_to_double(v);
		if (v.tag != PY_OBJECT || isfinite(*f))
			return true;
		rp_raise(vm, TY_OverflowError, "int too large to convert to float");
		return false;
	}
	if (is_kind(v, K_UNKNOWN)) {
		vm_stand_in(vm, "number %s", AS(unknown, v)->what->at);
		*f = UNKNOWN_NUMBER;
		return true;
	}
	got = v.tag == PY_OBJECT ? number_special(vm, v, PN_float) : val_null();
	if (is_null(got) && is_null(vm->exc) && v.tag == PY_OBJECT)
		got = number_special(vm, v, PN_index);
	if (is_null(got) && is_null(vm->exc))
		rp_raise(vm, TY_TypeError, "must be real number, not %s", type_name(vm, v));
	*f = got.tag == PY_FLOAT ? got.as.f : is_any_int(got) ? int_to_double(got) : 0;
	unref(vm, got);
	return !is_null(got);
}

struct val rp_to_int(struct vm *vm, struct val v)
{
	struct val got;

	v = number_unless(vm, v, PN_int);
	if (is_any_int(v))
		return v.tag == PY_BOOL ? val_int(v.as.i) : ref(v);
	if (v.tag == PY_FLOAT)
		return int_of_double(vm, v.as.f);
	got = v.tag == PY_OBJECT ? number_special(vm, v, PN_int) : val_null();
	if (is_null(got) && is_null(vm->exc) && v.tag == PY_OBJECT)
		got = number_special(vm, v, PN_index);
	if (is_null(got) && is_null(vm->exc))
		return rp_raise(vm, TY_TypeError,
		                "int() argument must be a string, a bytes-like "
		                "object or a real number, not '%s'",
		                type_name(vm, v));
	return got;
}

bool arg_int(struct vm *vm, struct val v, int64_t fallback, int64_t *out)
{
	if (is_missing(v)) {
		*out = fallback;
		return true;
	}
	if (v.tag == PY_FLOAT) {
		rp_raise(vm, TY_TypeError, "'float' object cannot be interpreted as an integer");
		return false;
	}
	return rp_index(vm, v, out);
}

bool arg_str(struct vm *vm, struct val v, const char *what)
{
	if (is_kind(v, K_STR))
		return true;
	rp_raise(vm, TY_TypeError, "%s, not %s", what, type_name(vm, v));
	return false;
}
