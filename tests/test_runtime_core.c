/* Storages, views, versions and dtypes, and what ops save: the statements that were
 * checked under real PyTorch, one test each. */

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/runtime_runner.h"
#include "tests/suites.h"

START_TEST(a_storage_has_its_elements_and_no_more)
{
	int64_t shape[2] = {3, 4};
	uint64_t before = rt_bytes();

	rt_keep(ag_zeros(rt.ctx, 2, shape));
	ck_assert_uint_eq(rt_bytes() - before, 48);
	CALL("torch.tensor", R(1.0));
	ck_assert_uint_eq(rt_bytes() - before, 52);
	CALL("torch.tensor", N(1));
	ck_assert_uint_eq(rt_bytes() - before, 60);
	CALL("torch.tensor", ag_bool(true));
	ck_assert_uint_eq(rt_bytes() - before, 61);
}
END_TEST

START_TEST(a_view_keeps_its_whole_storage)
{
	int64_t shape[2] = {100, 10};
	struct ag_tensor *x = rt_keep(ag_zeros(rt.ctx, 2, shape));

	ck_assert_uint_eq(rt_grown(0, rt_at(x, 0)), 4000);
}
END_TEST

START_TEST(reduced_losses_keep_the_unreduced_storage)
{
	static const struct {
		const char *name;
		uint64_t bytes;
	} losses[] = {{"F.mse_loss", 40},
	              {"F.smooth_l1_loss", 40},
	              {"F.binary_cross_entropy", 40},
	              {"F.l1_loss", 4},
	              {"F.huber_loss", 4},
	              {"F.binary_cross_entropy_with_logits", 4}};
	size_t i;

	for (i = 0; i < sizeof(losses) / sizeof(losses[0]); i++) {
		struct ag_tensor *half = CALL("torch.mul", T(rt_ones(10)), R(0.5));
		struct ag_tensor *loss = CALL(losses[i].name, T(half), T(rt_ones(10)));

		ck_assert_uint_eq(ag_storage_bytes(ag_storage_of(loss)), losses[i].bytes);
	}
}
END_TEST

START_TEST(numbers_cost_eight_bytes_where_they_are_saved)
{
	static const struct {
		const char *name;
		bool saved;
	} ops[] = {{"torch.mul", true},
	           {"torch.div", true},
	           {"torch.add", false},
	           {"torch.sub", false}};
	size_t i;

	for (i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		struct ag_tensor *w = ag_retain(rt_ones_leaf(100));
		uint64_t before;

		rt_sweep();
		before = rt_bytes();
		ck_assert_uint_eq(rt_grown(before, CALL(ops[i].name, T(w), R(2.0))),
		                  ops[i].saved ? 408 : 400);
		rt_keep(w);
	}
}
END_TEST

START_TEST(mul_and_div_save_what_the_other_side_needs)
{
	struct ag_tensor *w = ag_retain(rt_ones_leaf(100)), *x = ag_retain(rt_ones(100));
	static const int expected[4] = {1, 2, 1, 2};
	int i;

	rt_sweep();
	for (i = 0; i < 4; i++) {
		uint64_t before = rt_bytes();
		struct ag_tensor *a = CALL("torch.clone", T(i == 3 ? x : w));
		struct ag_tensor *b = CALL("torch.clone", T(i == 0 || i == 2 ? x : w));

		ck_assert_uint_eq(
		        rt_grown(before, CALL(i < 2 ? "torch.mul" : "torch.div", T(a), T(b))),
		        (uint64_t)(expected[i] + 1) * 400);
		rt_sweep();
	}
	ag_release(w), ag_release(x);
}
END_TEST

START_TEST(versions_are_checked_in_backward_only)
{
	struct ag_tensor *w = rt_ones_leaf(100), *a = CALL("torch.mul", T(w), N(2));
	struct ag_tensor *y = CALL("torch.sum", T(CALL("torch.mul", T(a), T(a))));

	rt_true(ag_add_(rt.ctx, a, rt_ones(100), 1));
	ck_assert(rt_fails(ag_backward(rt.ctx, y, NULL, 0),
	                   "modified by an inplace operation: [torch.FloatTensor [100]], which is "
	                   "output 0 of AddBackward0, is at version 1; expected version 0"));
}
END_TEST

START_TEST(leaves_are_not_changed_in_place)
{
	struct ag_grad_mode mode;
	struct ag_tensor *w = rt_ones_leaf(3);

	ck_assert(rt_fails(
	        ag_add_(rt.ctx, w, rt_ones(3), 1),
	        "a leaf Variable that requires grad is being used in an in-place operation"));
	mode = ag_no_grad(rt.ctx);
	rt_true(ag_add_(rt.ctx, w, rt_ones(3), 1));
	ag_set_grad_mode(rt.ctx, mode);
}
END_TEST

START_TEST(writes_into_a_view_give_the_base_a_history)
{
	int64_t shape[2] = {4, 3};
	struct ag_tensor *w = rt_ones_leaf(3), *buffer = rt_keep(ag_zeros(rt.ctx, 2, shape));
	struct ag_index at = {.kind = AG_AT};
	int i, writes = 0;
	struct ag_node *n;

	for (i = 0; i < 4; i++) {
		struct ag_value row = T(CALL("torch.mul", T(w), N(i)));

		at.start = i;
		rt_true(ag_index_put(rt.ctx, buffer, &at, 1, &row));
	}
	for (n = ag_grad_fn(rt.ctx, buffer); n; n = ag_node_edge(n, 0))
		writes += !strcmp(ag_node_name(n), "CopySlices");
	ck_assert_int_eq(writes, 4);
	rt_backward(CALL("torch.sum", T(buffer)));
	ck_assert(rt_item(rt_at(ag_grad_of(w), 0)) == 6);
}
END_TEST

START_TEST(mul_in_place_saves_a_copy_of_the_old_value)
{
	struct ag_tensor *w = NULL, *x = NULL;
	uint64_t before;

	rt_set(&w, rt_ones_leaf(100));
	rt_set(&x, CALL("torch.mul", T(w), N(1)));
	rt_sweep();
	before = rt_bytes();
	rt_true(ag_mul_(rt.ctx, x, CALL("torch.exp", T(w))));
	rt_sweep();
	ck_assert_uint_eq(rt_bytes() - before, 800);
	rt_true(ag_add_(rt.ctx, x, w, 1));
	ck_assert_uint_eq(rt_bytes() - before, 800);
	ag_release(x), ag_release(w);
}
END_TEST

START_TEST(inference_tensors_are_never_saved)
{
	struct ag_grad_mode mode = ag_inference(rt.ctx);
	struct ag_tensor *w = rt_ones_leaf(3), *y = CALL("torch.mul", T(rt_ones(3)), N(2));
	struct ag_value v[2];
	struct ag_args args = {v, 2, NULL, 0};
	struct ag_results results;

	ag_set_grad_mode(rt.ctx, mode);
	ck_assert(ag_is_inference(y) && !ag_requires_grad(y));
	w = rt_ones_leaf(3);
	v[0] = T(w);
	v[1] = T(y);
	ck_assert(rt_fails(ag_call(rt.ctx, "torch.mul", &args, &results),
	                   "Inference tensors cannot be saved for backward"));
}
END_TEST

START_TEST(views_made_without_grad_report_their_base)
{
	struct ag_tensor *w = rt_ones_leaf(4), *v, *u;
	struct ag_grad_mode mode = ag_no_grad(rt.ctx);

	v = rt_at(w, 0);
	u = CALL("torch.mul", T(w), N(1));
	ag_set_grad_mode(rt.ctx, mode);
	ck_assert(ag_requires_grad(v) && !ag_grad_fn(rt.ctx, v) && !ag_requires_grad(u));
}
END_TEST

START_TEST(dtypes_are_promoted_as_in_pytorch)
{
	static const struct {
		enum ag_dtype a, b;
		bool scalar;
		enum ag_dtype result;
	} cases[] = {{AG_F32, AG_F64, false, AG_F64},   {AG_F32, AG_I64, false, AG_F32},
	             {AG_F16, AG_F32, false, AG_F32},   {AG_I32, AG_I64, false, AG_I64},
	             {AG_F32, AG_F64, true, AG_F32},    {AG_I64, AG_F64, true, AG_F64},
	             {AG_BOOL8, AG_I64, false, AG_I64}, {AG_U8, AG_I8, false, AG_I16},
	             {AG_F16, AG_BF16, false, AG_F32}};
	int64_t two = 2;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ag_tensor *a = rt_keep(ag_tensor_new(rt.ctx, cases[i].a, 1, &two, NULL));
		struct ag_tensor *b = rt_keep(
		        ag_tensor_new(rt.ctx, cases[i].b, cases[i].scalar ? 0 : 1, &two, NULL));

		ck_assert_int_eq(ag_dtype(CALL("torch.add", T(a), T(b))), cases[i].result);
	}
	ck_assert_int_eq(ag_dtype(CALL("torch.div", T(CALL("torch.arange", N(3))), N(2))), AG_F32);
	ck_assert_int_eq(ag_dtype(CALL("torch.sum", T(CALL("torch.isnan", T(rt_ones(2)))))),
	                 AG_I64);
}
END_TEST

Suite *runtime_core_suite(void)
{
	Suite *suite = suite_create("runtime_core");
	TCase *tc = tcase_create("core");

	tcase_add_checked_fixture(tc, rt_open, rt_close);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_storage_has_its_elements_and_no_more);
	tcase_add_test(tc, a_view_keeps_its_whole_storage);
	tcase_add_test(tc, reduced_losses_keep_the_unreduced_storage);
	tcase_add_test(tc, numbers_cost_eight_bytes_where_they_are_saved);
	tcase_add_test(tc, mul_and_div_save_what_the_other_side_needs);
	tcase_add_test(tc, versions_are_checked_in_backward_only);
	tcase_add_test(tc, leaves_are_not_changed_in_place);
	tcase_add_test(tc, writes_into_a_view_give_the_base_a_history);
	tcase_add_test(tc, mul_in_place_saves_a_copy_of_the_old_value);
	tcase_add_test(tc, inference_tensors_are_never_saved);
	tcase_add_test(tc, views_made_without_grad_report_their_base);
	tcase_add_test(tc, dtypes_are_promoted_as_in_pytorch);
	suite_add_tcase(suite, tc);
	return suite;
}
