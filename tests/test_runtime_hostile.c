/* Arguments that no program should give: each kind of them is an error of PyTorch's meaning, or
 * what PyTorch makes of it. */

#include <check.h>
#include <math.h>
#include <string.h>

#include "tests/runtime_runner.h"
#include "tests/suites.h"

#define HUGE_INT (INT64_C(1) << 62)
#define FAILS(part, name, ...)                                                                     \
	ck_assert_msg(fails(part, name, (struct ag_value[]){__VA_ARGS__}, RT_COUNT(__VA_ARGS__)),  \
	              "%s: %s", name, ag_error(rt.ctx)->text)
#define LIST(...) ag_list((struct ag_value[]){__VA_ARGS__}, RT_COUNT(__VA_ARGS__))

static bool fails(const char *part, const char *name, const struct ag_value *v, uint32_t count)
{
	struct ag_args args = {v, count, NULL, 0};
	struct ag_results results;
	bool good;

	ag_error_clear(rt.ctx);
	good = ag_call(rt.ctx, name, &args, &results);
	ag_results_release(&results);
	return !good && strstr(ag_error(rt.ctx)->text, part);
}

static struct ag_tensor *zeros(enum ag_dtype dtype, int ndim, int64_t a, int64_t b, int64_t c)
{
	int64_t shape[3] = {a, b, c};
	double none[64] = {0};
	struct ag_tensor *t = rt_keep(ag_tensor_new(rt.ctx, dtype, ndim, shape, NULL));

	if (ag_numel(t) <= 64)
		ag_write(rt.ctx, t, none, ag_numel(t));
	return t;
}

static struct ag_tensor *integers(int64_t a, int64_t b)
{
	int64_t n = 2, values[2] = {a, b};

	return rt_keep(ag_tensor_new(rt.ctx, AG_I64, 1, &n, values));
}

/* One element seen as 2^40. */
static struct ag_tensor *spread(void)
{
	return CALL("Tensor.expand", T(rt_ones(1)), N(INT64_C(1) << 40));
}

START_TEST(sizes_that_no_tensor_has_do_not_overflow)
{
	struct ag_tensor *x = rt_ones(3);

	FAILS("out of range", "zeros", LIST(N(HUGE_INT)));
	FAILS("overflowed", "eye", N(HUGE_INT));
	FAILS("overflowed", "randperm", N(HUGE_INT));
	FAILS("overflowed", "zeros", LIST(N(1 << 30), N(1 << 30), N(0)));
	FAILS("overflowed", "Tensor.repeat", T(x), N(1 << 30), N(1 << 30));
	FAILS("overflowed", "meshgrid", T(spread()), T(spread()));
	FAILS("overflowed", "add", T(CALL("unsqueeze", T(spread()), N(0))),
	      T(CALL("unsqueeze", T(spread()), N(1))));
	FAILS("overflowed", "cat",
	      LIST(T(spread()), T(spread()),
	           T(CALL("Tensor.expand", T(rt_ones(1)), N(INT64_C(1) << 48)))));
	FAILS("", "F.pixel_unshuffle", T(zeros(AG_F32, 3, 1, 4, 4)), N(HUGE_INT));
	FAILS("split_sizes to sum", "split", T(x), LIST(N(HUGE_INT), N(HUGE_INT), N(3)));
	FAILS("minlength", "bincount", T(integers(0, 1)), ag_none(), N(-1));
	FAILS("overflowed", "F.one_hot", T(integers(HUGE_INT, 0)));
	FAILS("invalid size", "arange", N(0), R(1e300));
	FAILS("invalid size", "arange", N(0), R(NAN));
	FAILS("out of bounds", "init.dirac_", T(zeros(AG_F32, 3, 2, 2, 0)));
	FAILS("not finite", "histc", T(CALL("full", LIST(N(2)), R(INFINITY))), N(3));
	FAILS("0 sized dimensions", "unique", T(zeros(AG_F32, 2, 3, 0, 0)), ag_bool(true),
	      ag_bool(false), ag_bool(false), N(0));
}
END_TEST

START_TEST(groups_of_nothing_take_no_time)
{
	struct ag_tensor *weight = zeros(AG_F32, 3, 0, 2, 3);

	ck_assert_int_eq(ag_numel(CALL("init.dirac_", T(weight), N(HUGE_INT))), 0);
}
END_TEST

START_TEST(numbers_too_large_to_be_told_apart_are_counted)
{
	struct ag_tensor *counts = CALL("histc", T(CALL("full", LIST(N(2)), R(1e20))), N(3));

	ck_assert_double_eq(rt_item(rt_at(counts, 1)), 2);
}
END_TEST

START_TEST(places_and_steps_beyond_any_tensor_are_its_end)
{
	struct ag_tensor *x = CALL("arange", N(3));
	struct ag_index at = {.kind = AG_SLICE,
	                      .start = 1,
	                      .stop = INT64_MAX,
	                      .step = INT64_MAX,
	                      .has_start = true,
	                      .has_stop = true};
	struct ag_tensor *y = rt_keep(ag_index(rt.ctx, x, &at, 1));

	ck_assert_int_eq(ag_size(y, 0), 1);
	ck_assert_double_eq(rt_item(y), 1);
	at.start = INT64_MIN;
	at.step = 0;
	ck_assert_int_eq(ag_size(rt_keep(ag_index(rt.ctx, x, &at, 1)), 0), 3);
	at.start = INT64_MAX;
	ck_assert_int_eq(ag_size(rt_keep(ag_index(rt.ctx, x, &at, 1)), 0), 0);
	at.kind = AG_AT;
	ck_assert(rt_fails(ag_index(rt.ctx, x, &at, 1) != NULL, "out of bounds"));
	y = CALL("roll", T(x), N(INT64_C(1) << 40));
	ck_assert_double_eq(rt_item(rt_at(y, 0)), 2);
	FAILS("out of range", "roll", T(x), N(HUGE_INT));
	ck_assert_int_eq(ag_size(CALL("diff", T(x), N(HUGE_INT)), 0), 0);
	FAILS("non-negative", "diff", T(x), N(-1));
	FAILS("narrow()", "F.pad", T(x), LIST(N(-5), N(4)));
	FAILS("negative padding", "conv1d", T(zeros(AG_F32, 3, 1, 1, 5)),
	      T(zeros(AG_F32, 3, 1, 1, 1)), ag_none(), N(1), N(-1));
}
END_TEST

START_TEST(integers_are_not_divided_by_zero)
{
	struct ag_tensor *x = integers(7, INT64_MIN), *zero = integers(1, 0);

	FAILS("ZeroDivisionError", "remainder", T(x), T(zero));
	FAILS("ZeroDivisionError", "fmod", T(x), N(0));
	FAILS("ZeroDivisionError", "floor_divide", T(x), T(zero));
	ck_assert_double_eq(rt_item(rt_at(CALL("remainder", T(x), N(-1)), 1)), 0);
	ck_assert(isinf(rt_item(rt_at(CALL("div", T(x), T(zero)), 1))));
	FAILS("non-zero size", "F.adaptive_max_pool2d", T(zeros(AG_F32, 3, 1, 0, 2)), N(2));
	FAILS("greater than 0", "F.interpolate", T(zeros(AG_F32, 3, 1, 1, 0)), N(3));
	FAILS("", "F.pixel_shuffle", T(zeros(AG_F32, 3, 4, 1, 1)), N(0));
	FAILS("groups", "group_norm", T(zeros(AG_F32, 3, 1, 4, 1)), N(0));
}
END_TEST

START_TEST(numbers_that_no_integer_holds_are_the_least)
{
	static const double odd[] = {INFINITY, -INFINITY, NAN, 1e300};
	struct ag_tensor *one = integers(1, 1);
	size_t i;

	for (i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		struct ag_tensor *x = CALL("full", LIST(N(2)), R(odd[i]));

		CALL("add", T(one), T(one), R(odd[i]));
		x = CALL("Tensor.long", T(x));
		ck_assert_double_eq(rt_item(rt_at(x, 0)), (double)INT64_MIN);
		CALL("F.init.sparse_", T(zeros(AG_F32, 2, 2, 2, 0)), R(odd[i]));
		CALL("F.fractional_max_pool2d", T(zeros(AG_F32, 3, 1, 4, 4)), N(2), N(2), ag_none(),
		     ag_bool(false), T(CALL("full", LIST(N(1), N(1), N(2)), R(odd[i]))));
	}
}
END_TEST

START_TEST(draws_that_never_end_are_not_begun)
{
	FAILS("", "init.trunc_normal_", T(rt_ones(2)), R(0), R(1e-3), R(1), R(2));
	FAILS("", "init.trunc_normal_", T(rt_ones(2)), R(0), R(1), R(2), R(1e30));
	CALL("init.trunc_normal_", T(rt_ones(2)), R(0), R(1), R(2), R(4));
	ck_assert(
	        isnan(rt_item(CALL("torch._standard_gamma", T(CALL("full", LIST(N(1)), R(NAN)))))));
	ck_assert(
	        isnan(rt_item(CALL("torch._standard_gamma", T(CALL("full", LIST(N(1)), R(-3)))))));
}
END_TEST

START_TEST(views_larger_than_any_memory_are_not_computed)
{
	struct ag_tensor *x = spread();
	double value;

	ck_assert(!ag_has_data(x));
	ck_assert(!ag_has_data(CALL("sum", T(x))));
	ck_assert(!ag_has_data(CALL("softmax", T(x), N(0))));
	ck_assert(!ag_has_data(CALL("index_select", T(x), N(0), T(CALL("Tensor.long", T(x))))));
	FAILS("not known", "nonzero", T(x));
	FAILS("not known", "masked_select", T(x), T(CALL("Tensor.bool", T(x))));
	ck_assert_double_eq(rt_item(CALL("select", T(x), N(0), N(-1))), 1);
	ck_assert(rt_fails(ag_item(rt.ctx, x, &value), "cannot be converted to Scalar"));
	/* A bin for each: more than is ever allocated, so nothing is known of them. */
	ck_assert(!ag_has_data(CALL("bincount", T(integers(INT64_C(1) << 40, 0)))));
}
END_TEST

START_TEST(tensors_without_elements_take_no_loops)
{
	int64_t shape[2] = {INT64_C(1) << 40, 0};
	struct ag_tensor *x = rt_keep(ag_tensor_new(rt.ctx, AG_F32, 2, shape, NULL));
	struct ag_tensor *t = CALL("t", T(x)), *mean = zeros(AG_F32, 1, 3, 0, 0);

	FAILS("", "kron", T(x), T(x));
	ck_assert_int_eq(ag_numel(CALL("softmax", T(x), N(1))), 0);
	ck_assert_int_eq(ag_numel(CALL("median", T(t), N(1))), 0);
	ck_assert_int_eq(ag_numel(CALL("cumsum", T(x), N(0))), 0);
	ck_assert_int_eq(ag_numel(CALL("sort", T(x), N(0))), 0);
	/* The pieces of nothing are as many as asked for. */
	ck_assert_int_eq(ag_size(CALL("stack", LIST(T(CALL("chunk", T(x), N(4), N(1))))), 2), 0);
	CALL("F.batch_norm", T(zeros(AG_F32, 2, 0, 3, 0)), T(mean), T(rt_ones(3)), ag_none(),
	     ag_none(), ag_bool(true));
	ck_assert_double_eq(rt_item(rt_at(mean, 0)), 0);
	ck_assert_double_eq(rt_item(CALL("linalg.det", T(zeros(AG_F32, 2, 0, 0, 0)))), 1);
}
END_TEST

START_TEST(what_was_expanded_is_not_written_to)
{
	struct ag_tensor *x = CALL("Tensor.expand", T(rt_ones(1)), N(5));

	FAILS("single memory location", "Tensor.add_", T(x), N(1));
	FAILS("single memory location", "Tensor.copy_", T(x), T(rt_ones(5)));
	FAILS("single memory location", "Tensor.uniform_", T(x));
	FAILS("single memory location", "Tensor.scatter_", T(x), N(0), T(integers(0, 0)), N(1));
	CALL("Tensor.fill_", T(x), N(3));
	CALL("Tensor.masked_fill_", T(x), T(CALL("eq", T(x), N(3))), N(4));
	ck_assert_double_eq(rt_item(rt_at(x, 2)), 4);
}
END_TEST

START_TEST(operands_that_do_not_belong_together_are_errors)
{
	struct ag_tensor *x = zeros(AG_F32, 2, 2, 3, 0), *w = rt_ones(2), *one = rt_ones(1);

	FAILS("all 3 classes", "F.nll_loss", T(x), T(integers(0, 1)), T(w));
	FAILS("must match the size", "F.binary_cross_entropy", T(x), T(x), T(w));
	FAILS("broadcast shape", "F.binary_cross_entropy", T(one), T(one), T(w));
	FAILS("broadcast shape", "F.binary_cross_entropy_with_logits", T(one), T(one), T(w));
	FAILS("per_sample_weights", "F.embedding_bag", T(integers(0, 1)), T(x),
	      T(CALL("torch.tensor", LIST(N(0)))), ag_none(), R(2), ag_bool(false),
	      ag_text("sum", 3), ag_bool(false), T(one));
	FAILS("can have only 1 value", "index_select", T(CALL("sum", T(x))), N(0),
	      T(integers(0, 0)));
	FAILS("must have the same size", "repeat_interleave", T(rt_ones(3)), T(integers(1, 1)),
	      N(0));
	FAILS("can not be negative", "repeat_interleave", T(w), T(integers(-1, 1)));
}
END_TEST

START_TEST(an_lstm_checks_its_states)
{
	struct ag_module *lstm = LAYER("LSTM", N(4), N(5));
	struct ag_tensor *x = zeros(AG_F32, 3, 2, 3, 4), *h = zeros(AG_F32, 3, 1, 2, 5);
	struct ag_value states[2] = {T(h), T(h)}, v[2] = {T(x), ag_list(states, 2)};
	struct ag_args args = {v, 2, NULL, 0};
	struct ag_results results;

	ck_assert(rt_fails(ag_module_call(rt.ctx, lstm, &args, &results), "hidden size"));
	ag_module_release(lstm);
}
END_TEST

START_TEST(data_of_another_shape_is_a_change_in_place)
{
	struct ag_tensor *w = rt_ones_leaf(3), *y = CALL("sum", T(CALL("mul", T(w), T(w))));

	rt_true(ag_set_data(rt.ctx, w, rt_ones(5)));
	ck_assert(rt_fails(ag_backward(rt.ctx, y, NULL, 0), "modified by an inplace operation"));
}
END_TEST

START_TEST(an_optimizer_sees_that_its_state_has_another_shape)
{
	struct ag_tensor *w = rt_ones_leaf(3);
	struct ag_optim *adam = rt_keep(w) ? ag_optim_new(rt.ctx, "Adam", &w, 1, NULL) : NULL;

	ag_retain(w);
	rt_backward(CALL("sum", T(w)));
	rt_true(ag_optim_step(rt.ctx, adam));
	rt_true(ag_set_data(rt.ctx, w, rt_ones(5)));
	ck_assert(rt_fails(ag_optim_step(rt.ctx, adam), "does not broadcast"));
	ag_optim_release(adam);
}
END_TEST

START_TEST(a_module_inside_itself_ends_as_a_recursion)
{
	struct ag_module *m = ag_module_container(rt.ctx, "Loop");

	ag_module_set_child(rt.ctx, m, "self", m);
	ck_assert(rt_fails(ag_module_forward(rt.ctx, m, rt_ones(1)) != NULL, "recursion depth"));
	ag_module_set_child(rt.ctx, m, "self", NULL);
	ag_module_release(m);
}
END_TEST

START_TEST(names_beyond_their_tables_are_errors)
{
	enum ag_dtype none = (enum ag_dtype)200;
	struct ag_value data = N(1);
	struct ag_results r;
	struct ag_value v[1] = {T(rt_ones(1))};

	FAILS("", "zeros", LIST(N(1)), ag_type(none));
	FAILS("", "Tensor.to", T(rt_ones(1)), ag_type(none));
	ck_assert(rt_fails(ag_tensor_of(rt.ctx, &data, &none, false) != NULL, "no such dtype"));
	ag_set_default_dtype(rt.ctx, AG_I64);
	ck_assert_int_eq(ag_default_dtype(rt.ctx), AG_F32);
	ag_set_site(rt.ctx, UINT32_MAX);
	ck_assert_uint_eq(ag_site(rt.ctx), UINT32_MAX);
	/* Rows that are parts of others. */
	ck_assert(rt_fails(ag_call_op(rt.ctx, AG_OP_squeeze_row, false, v, 1, &r), "no such op"));
}
END_TEST

static struct ag_tensor *one_hook(struct ag_ctx *ctx, void *data, struct ag_tensor *grad)
{
	int64_t n = 1;

	(void)data;
	(void)grad;
	return ag_ones(ctx, 1, &n);
}

START_TEST(a_hook_gives_a_gradient_like_the_one_it_got)
{
	struct ag_closure closure = {NULL, NULL, NULL};
	struct ag_tensor *w = rt_ones_leaf(3), *y = CALL("exp", T(w));

	ck_assert(ag_tensor_hook(rt.ctx, w, one_hook, closure) != 0);
	ck_assert(rt_fails(ag_backward(rt.ctx, CALL("sum", T(y)), NULL, 0), "size of value"));
	ck_assert_ptr_null(ag_grad_of(w));
	ck_assert_uint_eq(ag_node_hook(rt.ctx, NULL, NULL, closure), 0);
}
END_TEST

static bool pass_on(struct ag_ctx *ctx, void *data, struct ag_custom *fn,
                    struct ag_tensor *const *grads, uint32_t ngrads, struct ag_tensor **inputs,
                    uint32_t ninputs)
{
	(void)ctx;
	(void)data;
	(void)fn;
	(void)ngrads;
	(void)ninputs;
	inputs[0] = ag_retain(grads[0]);
	return true;
}

START_TEST(what_a_function_marks_it_does_not_hold)
{
	struct ag_closure closure = {NULL, NULL, NULL};
	struct ag_tensor *w = rt_ones_leaf(3), *x = rt_ones(3);
	struct ag_custom *fn = ag_custom_begin(rt.ctx, "F", pass_on, closure);
	uint32_t refs = ag_refs(x);

	ag_custom_mark_dirty(fn, x);
	rt_true(ag_custom_end(fn, &w, 1, &x, 1));
	ck_assert_uint_eq(ag_refs(x), refs);
	rt_backward(CALL("sum", T(x)));
	ck_assert_double_eq(rt_item(rt_at(ag_grad_of(w), 0)), 1);
}
END_TEST

static bool lose_result(struct ag_ctx *ctx, void *data, struct ag_module *m,
                        struct ag_tensor **tensors, uint32_t count)
{
	(void)ctx;
	(void)data;
	(void)m;
	if (count) {
		ag_release(tensors[0]);
		tensors[0] = NULL;
	}
	return true;
}

START_TEST(a_module_whose_result_is_lost_fails)
{
	struct ag_closure closure = {NULL, NULL, NULL};
	struct ag_module *outer = ag_module_container(rt.ctx, "Sequential");
	struct ag_module *inner = ag_module_container(rt.ctx, "Sequential");

	ag_module_set_child(rt.ctx, outer, "0", inner);
	ag_module_forward_hook(rt.ctx, inner, lose_result, closure);
	ck_assert(rt_fails(ag_module_forward(rt.ctx, outer, rt_ones(3)) != NULL, "is missing"));
	ck_assert(rt_fails(ag_module_forward(rt.ctx, outer, NULL) != NULL, "is missing"));
	ag_module_release(inner);
	ag_module_release(outer);
}
END_TEST

Suite *runtime_hostile_suite(void)
{
	Suite *suite = suite_create("runtime_hostile");
	TCase *tc = tcase_create("calls");

	tcase_add_checked_fixture(tc, rt_open, rt_close);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, sizes_that_no_tensor_has_do_not_overflow);
	tcase_add_test(tc, groups_of_nothing_take_no_time);
	tcase_add_test(tc, numbers_too_large_to_be_told_apart_are_counted);
	tcase_add_test(tc, places_and_steps_beyond_any_tensor_are_its_end);
	tcase_add_test(tc, integers_are_not_divided_by_zero);
	tcase_add_test(tc, numbers_that_no_integer_holds_are_the_least);
	tcase_add_test(tc, draws_that_never_end_are_not_begun);
	tcase_add_test(tc, views_larger_than_any_memory_are_not_computed);
	tcase_add_test(tc, tensors_without_elements_take_no_loops);
	tcase_add_test(tc, what_was_expanded_is_not_written_to);
	tcase_add_test(tc, operands_that_do_not_belong_together_are_errors);
	tcase_add_test(tc, an_lstm_checks_its_states);
	tcase_add_test(tc, data_of_another_shape_is_a_change_in_place);
	tcase_add_test(tc, an_optimizer_sees_that_its_state_has_another_shape);
	tcase_add_test(tc, a_module_inside_itself_ends_as_a_recursion);
	tcase_add_test(tc, names_beyond_their_tables_are_errors);
	tcase_add_test(tc, a_hook_gives_a_gradient_like_the_one_it_got);
	tcase_add_test(tc, a_module_whose_result_is_lost_fails);
	tcase_add_test(tc, what_a_function_marks_it_does_not_hold);
	suite_add_tcase(suite, tc);
	return suite;
}
