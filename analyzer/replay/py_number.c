/* Instances of classes derived from int and float: an object around the number. What
 * the class does not define itself is the number's. */

#include "analyzer/replay/py.h"

struct val number_new(struct vm *vm, struct cls *cls, struct val value)
{
	struct number *n = rp_new(vm, K_NUMBER, cls, sizeof(*n));

	n->value = value;
	return val_obj(n);
}

struct val number_plain(struct val v)
{
	return is_kind(v, K_NUMBER) ? AS(number, v)->value : v;
}

struct val number_unless(struct vm *vm, struct val v, enum rp_name name)
{
	struct val found;

	if (!is_kind(v, K_NUMBER))
		return v;
	found = cls_find(vm, v.as.o->cls, vm->n[name]);
	return is_null(found) || is_kind(found, K_NATIVE) ? AS(number, v)->value : v;
}

static void number_release(struct vm *vm, struct obj *o)
{
	unref(vm, ((struct number *)(void *)o)->value);
}

static struct val number_binary(struct vm *vm, enum ir_sub sub, struct val a, struct val b)
{
	a = number_plain(a);
	b = number_plain(b);
	return sub >= SUB_compare_less ? rp_compare(vm, sub, a, b) : rp_binary(vm, sub, a, b);
}

static struct val number_unary(struct vm *vm, enum ir_sub sub, struct val a)
{
	return rp_unary(vm, sub, number_plain(a));
}

static int number_truth(struct vm *vm, struct val a)
{
	return rp_condition(vm, number_plain(a));
}

static void number_repr(struct vm *vm, struct val a, struct text *out)
{
	repr_into(vm, number_plain(a), out);
}

static struct val number_format(struct vm *vm, struct val a, const char *spec, size_t length)
{
	return length ? rp_format(vm, number_plain(a), spec, length) : rp_str(vm, a);
}

void numbers_init(struct vm *vm)
{
	vm->kinds[K_NUMBER] = (struct kind_ops){
	        .size = sizeof(struct number),
	        .release = number_release,
	        .binary = number_binary,
	        .unary = number_unary,
	        .truth = number_truth,
	        .repr = number_repr,
	        .format = number_format,
	};
}
