/* Bytes by kind and site, walks, values that are not known, errors and caps. */

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/runtime_runner.h"
#include "tests/suites.h"

START_TEST(bytes_have_a_kind_and_a_site)
{
	struct ag_memory m;
	struct ag_site_memory site;
	struct ag_tensor *w = NULL, *y = NULL, *data, *p;
	int64_t n = 100;

	ag_set_site(rt.ctx, 3);
	data = rt_ones(100);
	p = rt_keep(ag_parameter(rt.ctx, data, true));
	rt_set(&w, p);
	ag_set_site(rt.ctx, 7);
	rt_set(&y, CALL("torch.sum", T(CALL("torch.exp", T(w)))));
	rt_sweep();
	ag_memory(rt.ctx, &m);
	ck_assert_uint_eq(m.by_kind[AG_KIND_PARAMETER], 400);
	ck_assert_uint_eq(m.by_kind[AG_KIND_ACTIVATION], 400);
	ck_assert_uint_eq(m.by_kind[AG_KIND_OTHER], 4);
	ck_assert(ag_site_memory(rt.ctx, 3, &site) && site.live_bytes == 400);
	ck_assert(ag_site_memory(rt.ctx, 7, &site) && site.live_bytes == 404 && site.nodes == 3);
	rt_backward(y);
	ag_memory(rt.ctx, &m);
	ck_assert_uint_eq(m.by_kind[AG_KIND_GRADIENT], 400);
	ck_assert_uint_eq(m.by_kind[AG_KIND_ACTIVATION], 0);
	ck_assert(ag_site_memory(rt.ctx, 7, &site) && site.peak_bytes > site.live_bytes);
	(void)n;
	ag_release(y), ag_release(w);
}
END_TEST

static bool count_objects(void *data, const struct ag_reach *reach)
{
	int *counts = data;

	counts[reach->node ? 1 : 0]++;
	return true;
}

START_TEST(a_walk_finds_each_object_once)
{
	struct ag_tensor *w = rt_ones_leaf(3), *h = CALL("torch.exp", T(w));
	struct ag_tensor *y = CALL("torch.mul", T(h), T(h));
	int counts[2] = {0, 0};

	ag_reachable(rt.ctx, y, NULL, count_objects, counts);
	/* Tensors: y, h (saved twice), the saved handle of exp, w; nodes: mul, exp, w's. */
	ck_assert_int_eq(counts[0], 4);
	ck_assert_int_eq(counts[1], 3);
}
END_TEST

START_TEST(tensors_without_data_stay_exact_in_bytes)
{
	int64_t n = 10;
	struct ag_tensor *x = rt_keep(ag_tensor_new(rt.ctx, AG_F32, 1, &n, NULL));
	struct ag_tensor *w = rt_ones_leaf(10), *y = CALL("torch.mul", T(x), T(w));
	double value;

	ck_assert(!ag_has_data(y));
	ck_assert(!ag_item(rt.ctx, CALL("torch.sum", T(y)), &value));
	ck_assert_int_eq(ag_error(rt.ctx)->status, AG_ERR_NO_DATA);
	ag_error_clear(rt.ctx);
	rt_backward(CALL("torch.sum", T(y)));
	ck_assert_uint_eq(ag_storage_bytes(ag_storage_of(ag_grad_of(w))), 40);
	ck_assert(!ag_has_data(ag_grad_of(w)));
}
END_TEST

START_TEST(an_opaque_value_saves_its_inputs)
{
	struct ag_tensor *w = NULL, *y = NULL, *x;
	uint64_t before;
	int64_t n = 5;

	rt_set(&w, rt_ones_leaf(100));
	rt_sweep();
	before = rt_bytes();
	x = CALL("torch.mul", T(w), N(1));
	rt_set(&y, rt_keep(ag_opaque(rt.ctx, &x, 1, AG_F32, 1, &n, false)));
	rt_sweep();
	ck_assert_uint_eq(rt_bytes() - before, 400 + 8 + 20);
	ck_assert(ag_node_is_opaque(ag_grad_fn(rt.ctx, y)));
	rt_backward(CALL("torch.sum", T(y)));
	ck_assert_ptr_nonnull(ag_grad_of(w));
	ag_release(y), ag_release(w);
}
END_TEST

START_TEST(errors_are_values)
{
	struct ag_tensor *a = rt_randn(2, 3, 4), *b = rt_randn(2, 3, 4);
	struct ag_value v[2] = {T(a), T(b)};
	struct ag_args args = {v, 2, NULL, 0};
	struct ag_results r;

	ck_assert(rt_fails(ag_call(rt.ctx, "torch.mm", &args, &r),
	                   "mat1 and mat2 shapes cannot be multiplied (3x4 and 3x4)"));
	ck_assert(rt_fails(ag_call(rt.ctx, "torch.no_such_thing", &args, &r), "not known"));
	ck_assert(rt_fails(ag_backward(rt.ctx, a, NULL, 0), "does not require grad"));
	ck_assert(rt_fails(ag_backward(rt.ctx, rt_leaf(rt_randn(1, 3)), NULL, 0),
	                   "grad can be implicitly created only for scalar outputs"));
	v[1] = T(rt_randn(1, 3));
	ck_assert(rt_fails(ag_call(rt.ctx, "torch.add", &args, &r),
	                   "The size of tensor a (4) must match the size of tensor b (3) at "
	                   "non-singleton dimension 1"));
	v[0] = T(NULL);
	ck_assert(rt_fails(ag_call(rt.ctx, "torch.exp", &(struct ag_args){v, 1, NULL, 0}, &r),
	                   "missing"));
}
END_TEST

/* Complex tensors have bytes and views, and no wrong numbers: an op raises or gives no data. */
START_TEST(complex_numbers_are_refused_or_unknown)
{
	static const char *const refused[] = {"torch.exp", "torch.abs", "torch.sum", "torch.conj"};
	static const float numbers[8] = {1, 2, 3, 4, 5, 6, 7, 8};
	int64_t shape[2] = {2, 2};
	struct ag_tensor *z = rt_keep(ag_tensor_new(rt.ctx, AG_C64, 2, shape, numbers)), *real;
	struct ag_value v = T(z);
	struct ag_args args = {&v, 1, NULL, 0};
	struct ag_results results;

	ck_assert_uint_eq(rt_bytes(), 32);
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		ck_assert(rt_fails(ag_call(rt.ctx, refused[i], &args, &results),
		                   "complex arithmetic is not supported"));
	ck_assert(!ag_has_data(CALL("torch.argmax", T(z))));
	real = CALL("torch.view_as_real", T(CALL("torch.clone", T(z))));
	ck_assert_int_eq(ag_ndim(real), 3);
	ck_assert(rt_item(CALL("torch.sum", T(real))) == 36);
}
END_TEST

START_TEST(caps_stop_a_program_without_ending_it)
{
	struct ag_options options = {.byte_cap = 1000};
	struct ag_ctx *ctx = ag_open(&options);
	int64_t n = 300;

	ck_assert_ptr_null(ag_zeros(ctx, 1, &n));
	ck_assert_int_eq(ag_error(ctx)->status, AG_ERR_MEMORY);
	n = 200;
	ag_release(ag_zeros(ctx, 1, &n));
	ag_close(ctx);
}
END_TEST

static bool sanitized(void)
{
#if defined(__SANITIZE_ADDRESS__)
	return true;
#elif defined(__has_feature)
	return __has_feature(address_sanitizer);
#else
	return false;
#endif
}

START_TEST(memory_that_cannot_be_had_is_an_error)
{
	struct ag_options options = {.data_cap = UINT64_MAX};
	int64_t most = INT64_C(1) << 46;

	/* AddressSanitizer ends the process instead. */
	if (sanitized())
		return;
	rt_close();
	rt_open_with(&options);
	ck_assert(rt_fails(ag_zeros(rt.ctx, 1, &most) != NULL, "can't allocate memory"));
	ck_assert_uint_eq(rt_bytes(), 0);
}
END_TEST

START_TEST(sizes_that_no_tensor_has_are_errors)
{
	static const int64_t shapes[4][3] = {{INT64_MAX, 0, 2},
	                                     {INT64_C(1) << 40, INT64_C(1) << 40, 1},
	                                     {0, -1, 1},
	                                     {INT64_MIN, 1, 1}};

	for (int i = 0; i < 4; i++)
		ck_assert_ptr_null(ag_tensor_new(rt.ctx, AG_F32, 3, shapes[i], NULL));
	ck_assert_ptr_null(ag_tensor_new(rt.ctx, AG_F32, AG_MAX_DIMS + 1, shapes[3], NULL));
}
END_TEST

START_TEST(calls_that_do_not_fit_are_errors)
{
	struct ag_value number[2] = {N(3), N(4)}, list[1] = {ag_list(number, 2)};
	struct ag_results r;

	ck_assert(rt_fails(ag_call_op(rt.ctx, AG_OP_relu, false, number, 1, &r), "another kind"));
	ck_assert(rt_fails(ag_call_op(rt.ctx, AG_OP_cat, false, list, 1, &r), "another kind"));
	ck_assert(rt_fails(ag_call_op(rt.ctx, AG_OP_relu, false, NULL, 0, &r), "is missing"));
	ck_assert(
	        rt_fails(ag_call_op(rt.ctx, AG_OP_mul, true, number, 2, &r), "works on a tensor"));
	ck_assert(rt_fails(ag_call_op(rt.ctx, AG_OP_COUNT, false, NULL, 0, &r), "no such op"));
}
END_TEST

START_TEST(the_device_model_rounds_and_keeps_its_segments)
{
	struct ag_options options = {.model_caching = true};
	struct ag_ctx *ctx = ag_open(&options);
	struct ag_device_memory m;
	struct ag_tensor *t;

	ag_set_default_device(ctx, AG_CUDA);
	t = ag_zeros(ctx, 0, NULL);
	ck_assert(ag_device_memory(ctx, &m));
	ck_assert_uint_eq(m.allocated, 512);
	ck_assert_uint_eq(m.reserved, UINT64_C(2) << 20);
	ag_release(t);
	ck_assert(ag_device_memory(ctx, &m));
	ck_assert_uint_eq(m.allocated, 0);
	ck_assert_uint_eq(m.reserved, UINT64_C(2) << 20);
	ag_empty_cache(ctx);
	ck_assert(ag_device_memory(ctx, &m));
	ck_assert_uint_eq(m.reserved, 0);
	ag_close(ctx);
}
END_TEST

Suite *runtime_accounts_suite(void)
{
	Suite *suite = suite_create("runtime_accounts");
	TCase *tc = tcase_create("accounts");

	tcase_add_checked_fixture(tc, rt_open, rt_close);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, bytes_have_a_kind_and_a_site);
	tcase_add_test(tc, a_walk_finds_each_object_once);
	tcase_add_test(tc, tensors_without_data_stay_exact_in_bytes);
	tcase_add_test(tc, an_opaque_value_saves_its_inputs);
	tcase_add_test(tc, errors_are_values);
	tcase_add_test(tc, complex_numbers_are_refused_or_unknown);
	tcase_add_test(tc, caps_stop_a_program_without_ending_it);
	tcase_add_test(tc, memory_that_cannot_be_had_is_an_error);
	tcase_add_test(tc, sizes_that_no_tensor_has_are_errors);
	tcase_add_test(tc, calls_that_do_not_fit_are_errors);
	tcase_add_test(tc, the_device_model_rounds_and_keeps_its_segments);
	suite_add_tcase(suite, tc);
	return suite;
}
