/* Comparisons, logic and bits: results without gradients. */

#include "runtime/binary.h"
#include "runtime/element.h"
#include "runtime/op.h"

MAP2(imap_and, int64_t, x &y)
MAP2(imap_or, int64_t, x | y)
MAP2(imap_xor, int64_t, x ^ y)
MAP2(imap_shl, int64_t, y<0 || y> 63 ? 0 : ag_wrap64((uint64_t)x << y))
MAP2(imap_shr, int64_t, x >> (y < 0 || y > 63 ? 63 : y))

static bool plain(struct ag_frame *f, ag_map_fn *fn, ag_imap_fn *ifn, bool to_bool)
{
	struct ag_binary b;
	struct ag_tensor *out;
	bool integers;

	if (!ag_binary_open(f, &b))
		return false;
	integers = ag_category(b.dtype) < 2;
	if (!fn && !integers)
		return ag_fail(f->ctx, AG_ERR_RUNTIME, "\"%s_cpu\" not implemented for '%s'",
		               ag_op_info(f->op)->id, ag_dtype_name(b.dtype));
	if (to_bool)
		b.dtype = AG_BOOL8;
	b.record = false;
	out = ag_binary_out(f, &b);
	if (!out)
		return false;
	if (integers && ifn)
		ag_imap(out, b.in, 2, ifn, NULL);
	else
		ag_map(out, b.in, 2, fn, NULL);
	return ag_finish(f, out, NULL);
}

#define COMPARE(id, expression)                                                                    \
	MAP2(map_##id, double, expression)                                                         \
	MAP2(imap_##id, int64_t, expression)                                                       \
	bool op_run_##id(struct ag_frame *f)                                                       \
	{                                                                                          \
		return plain(f, map_##id, imap_##id, true);                                        \
	}

COMPARE(eq, x == y)
COMPARE(ne, x != y)
COMPARE(lt, x < y)
COMPARE(le, x <= y)
COMPARE(gt, x > y)
COMPARE(ge, x >= y)
COMPARE(logical_and, x &&y)
COMPARE(logical_or, x || y)
COMPARE(logical_xor, !x != !y)

bool op_run_bitwise_and(struct ag_frame *f)
{
	return plain(f, NULL, imap_and, false);
}

bool op_run_bitwise_or(struct ag_frame *f)
{
	return plain(f, NULL, imap_or, false);
}

bool op_run_bitwise_xor(struct ag_frame *f)
{
	return plain(f, NULL, imap_xor, false);
}

bool op_run_bitwise_left_shift(struct ag_frame *f)
{
	return plain(f, NULL, imap_shl, false);
}

bool op_run_bitwise_right_shift(struct ag_frame *f)
{
	return plain(f, NULL, imap_shr, false);
}

bool op_run_bitwise_not(struct ag_frame *f)
{
	struct ag_tensor *a = arg_t(f, 0);
	struct ag_value v[2] = {ag_arg(a), ag_int(-1)};

	if (a->dtype == AG_BOOL8)
		v[1] = ag_bool(true);
	return ag_give_ref(f, op_call(f->ctx, AG_OP_bitwise_xor, v, 2));
}

bool op_run_max_other(struct ag_frame *f)
{
	return op_run_maximum(f);
}

bool op_run_min_other(struct ag_frame *f)
{
	return op_run_minimum(f);
}
