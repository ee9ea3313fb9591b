/* Statements about lifetimes that no other suite is about, each as small as it can be. */

#include <check.h>
#include <string.h>

#include "tests/runtime_runner.h"
#include "tests/suites.h"

static bool same_storage(const struct ag_tensor *a, const struct ag_tensor *b)
{
	return ag_storage_of(a) == ag_storage_of(b);
}

START_TEST(what_changes_nothing_gives_the_same_tensor)
{
	struct ag_tensor *x;

	rt_open();
	x = rt_randn(2, 3, 4);
	ck_assert_ptr_eq(CALL("Tensor.float", T(x)), x);
	ck_assert_ptr_eq(CALL("Tensor.to", T(x), ag_type(AG_F32)), x);
	ck_assert_ptr_eq(CALL("Tensor.contiguous", T(x)), x);
	ck_assert_ptr_eq(CALL("Tensor.cpu", T(x)), x);
	ck_assert_ptr_eq(CALL("Tensor.requires_grad_", T(x)), x);
	ck_assert_ptr_eq(CALL("F.dropout", T(x), R(0.5), ag_bool(false)), x);
	ck_assert_ptr_ne(CALL("torch.clone", T(x)), x);
	rt_close();
}
END_TEST

START_TEST(the_base_of_a_view_is_never_a_view)
{
	struct ag_tensor *x = NULL, *view = NULL;

	rt_open();
	rt_set(&x, CALL("torch.mul", T(rt_leaf(rt_randn(2, 3, 4))), N(2)));
	rt_set(&view, rt_at(rt_at(x, 0), 1));
	ck_assert_ptr_eq(ag_base(view), x);
	ck_assert_ptr_null(ag_base(CALL("Tensor.detach", T(view))));
	rt_set(&x, NULL);
	rt_sweep();
	ck_assert_ptr_nonnull(ag_base(view));
	rt_set(&view, NULL);
	rt_close();
}
END_TEST

/* Bytes that the product keeps for its backward, when nothing else holds its operands. */
static uint64_t saved_by_product(bool frozen)
{
	struct ag_tensor *w, *x = NULL, *y = NULL;
	uint64_t bytes;

	rt_open();
	w = rt_randn(2, 8, 8);
	if (!frozen)
		rt_leaf(w);
	rt_set(&x, CALL("torch.mul", T(rt_leaf(rt_randn(2, 8, 8))), N(2)));
	rt_set(&y, CALL("torch.mm", T(x), T(w)));
	bytes = rt_grown(0, y);
	rt_set(&x, NULL);
	bytes -= rt_grown(0, y);
	ck_assert(ag_requires_grad(y));
	rt_set(&y, NULL);
	rt_close();
	return bytes;
}

START_TEST(frozen_weights_save_nothing_for_their_sake)
{
	ck_assert_uint_eq(saved_by_product(true), 8 * 8 * 4);
	ck_assert_uint_eq(saved_by_product(false), 0);
}
END_TEST

START_TEST(dropping_the_output_frees_the_graph_at_once)
{
	struct ag_tensor *x = NULL, *y = NULL;

	rt_open();
	rt_set(&x, rt_leaf(rt_randn(1, 10)));
	rt_set(&y, CALL("torch.exp", T(CALL("torch.sin", T(x)))));
	rt_sweep();
	ck_assert_uint_eq(rt_nodes(), 3);
	ck_assert_uint_eq(rt_bytes(), 2 * 40);
	rt_set(&y, NULL);
	ck_assert_uint_eq(rt_nodes(), 0);
	ck_assert_uint_eq(rt_bytes(), 40);
	rt_set(&x, NULL);
	rt_close();
}
END_TEST

START_TEST(a_retained_graph_keeps_what_it_saved)
{
	struct ag_tensor *x = NULL, *loss = NULL;
	uint64_t bytes;

	rt_open();
	rt_set(&x, rt_leaf(rt_randn(1, 100)));
	rt_set(&loss, CALL("torch.sum", T(CALL("torch.exp", T(x)))));
	rt_sweep();
	bytes = rt_bytes();
	rt_true(ag_backward(rt.ctx, loss, NULL, AG_RETAIN_GRAPH));
	ck_assert_uint_eq(rt_bytes(), bytes + 400); /* the gradient */
	rt_true(ag_backward(rt.ctx, loss, NULL, 0));
	ck_assert_uint_eq(rt_bytes(), bytes); /* the gradient, not what exp had saved */
	ck_assert(rt_fails(ag_backward(rt.ctx, loss, NULL, 0), "second time"));
	rt_set(&x, NULL);
	rt_set(&loss, NULL);
	rt_close();
}
END_TEST

START_TEST(only_leaves_and_who_asks_keep_gradients)
{
	struct ag_tensor *x = NULL, *y = NULL, *z = NULL;

	rt_open();
	rt_set(&x, rt_leaf(rt_randn(1, 4)));
	rt_set(&y, CALL("torch.mul", T(x), N(2)));
	rt_set(&z, CALL("torch.mul", T(y), N(3)));
	rt_true(ag_retain_grad(rt.ctx, y));
	rt_backward(CALL("torch.sum", T(z)));
	ck_assert_ptr_nonnull(ag_grad_of(x));
	ck_assert_ptr_nonnull(ag_grad_of(y));
	ck_assert_ptr_null(ag_grad_of(z));
	rt_set(&x, NULL), rt_set(&y, NULL), rt_set(&z, NULL);
	rt_close();
}
END_TEST

START_TEST(gradients_with_a_graph_are_added_out_of_place)
{
	struct ag_tensor *x = NULL, *first = NULL;

	rt_open();
	rt_set(&x, rt_leaf(rt_randn(1, 4)));
	rt_true(ag_backward(rt.ctx, CALL("torch.sum", T(CALL("torch.pow", T(x), N(2)))), NULL,
	                    AG_CREATE_GRAPH));
	rt_set(&first, ag_retain(ag_grad_of(x)));
	ag_release(first);
	rt_true(ag_backward(rt.ctx, CALL("torch.sum", T(CALL("torch.pow", T(x), N(2)))), NULL,
	                    AG_CREATE_GRAPH));
	ck_assert_ptr_ne(ag_grad_of(x), first);
	ck_assert_str_eq(ag_node_name(ag_grad_fn(rt.ctx, ag_grad_of(x))), "AddBackward0");
	/* Zeroed in place it is detached first, which opens the cycle. */
	ck_assert_uint_eq(ag_cycles(rt.ctx), 1);
	{
		struct ag_optim *opt;
		struct ag_keyword lr = {"lr", ag_float(0.1)};
		struct ag_args args = {NULL, 0, &lr, 1};

		opt = ag_optim_new(rt.ctx, "SGD", &x, 1, &args);
		rt_true(ag_optim_zero_grad(rt.ctx, opt, false));
		ag_optim_release(opt);
	}
	ck_assert_uint_eq(ag_cycles(rt.ctx), 0);
	ck_assert_ptr_nonnull(ag_grad_of(x));
	rt_set(&first, NULL);
	rt_set(&x, NULL);
	rt_close();
}
END_TEST

START_TEST(a_node_keeps_its_part_of_the_graph)
{
	struct ag_tensor *x = NULL, *y = NULL;
	struct ag_node *node;

	rt_open();
	rt_set(&x, rt_leaf(rt_randn(1, 10)));
	rt_set(&y, CALL("torch.exp", T(CALL("torch.exp", T(x)))));
	node = ag_node_retain(ag_node_edge(ag_grad_fn(rt.ctx, y), 0));
	rt_set(&y, NULL);
	rt_sweep();
	ck_assert_uint_eq(rt_nodes(), 2);       /* it, and x's accumulator */
	ck_assert_uint_eq(rt_bytes(), 40 + 40); /* x, and the result that it saved */
	ag_node_release(node);
	ck_assert_uint_eq(rt_nodes(), 0);
	rt_set(&x, NULL);
	rt_close();
}
END_TEST

START_TEST(a_row_of_a_leaf_keeps_the_leaf)
{
	struct ag_tensor *x = NULL, *row = NULL;

	rt_open();
	rt_set(&x, rt_leaf(rt_randn(2, 10, 10)));
	rt_set(&row, rt_at(x, 3));
	ck_assert_str_eq(ag_node_name(ag_grad_fn(rt.ctx, row)), "SelectBackward0");
	rt_set(&x, NULL);
	rt_sweep();
	ck_assert_uint_eq(rt_bytes(), 400);
	ck_assert_uint_eq(rt_nodes(), 2);
	rt_set(&row, NULL);
	rt_close();
}
END_TEST

START_TEST(a_copied_number_keeps_no_graph)
{
	struct ag_tensor *loss, *copy;
	struct ag_value value;

	rt_open();
	loss = CALL("torch.sum", T(rt_leaf(rt_randn(1, 4))));
	value = ag_arg(loss);
	copy = rt_keep(ag_tensor_of(rt.ctx, &value, NULL, false));
	ck_assert(!ag_requires_grad(copy));
	ck_assert(!same_storage(copy, loss));
	ck_assert_double_eq(rt_item(copy), rt_item(loss));
	rt_close();
}
END_TEST

START_TEST(a_step_leaves_out_who_has_no_gradient)
{
	struct ag_tensor *used = NULL, *unused = NULL, *params[2];
	struct ag_keyword lr = {"lr", ag_float(0.1)};
	struct ag_args args = {NULL, 0, &lr, 1};
	struct ag_optim *opt;
	const void *storage;
	uint64_t bytes;

	rt_open();
	rt_set(&used, rt_leaf(rt_randn(1, 100)));
	rt_set(&unused, rt_leaf(rt_randn(1, 100)));
	params[0] = used;
	params[1] = unused;
	opt = ag_optim_new(rt.ctx, "Adam", params, 2, &args);
	rt_backward(CALL("torch.sum", T(used)));
	rt_sweep();
	storage = ag_storage_of(used);
	bytes = rt_bytes();
	rt_step(opt);
	ck_assert_uint_eq(rt_bytes() - bytes, 2 * 400 + 4);
	ck_assert_ptr_eq(ag_storage_of(used), storage);
	ck_assert_uint_eq(rt_nodes(), 0);
	/* It holds its parameters, their gradients and its state. */
	rt_set(&used, NULL);
	rt_set(&unused, NULL);
	ck_assert_uint_eq(rt_bytes() - bytes, 2 * 400 + 4);
	ag_optim_release(opt);
	ck_assert_uint_eq(rt_bytes(), 0);
	rt_close();
}
END_TEST

Suite *runtime_facts_suite(void)
{
	Suite *suite = suite_create("runtime_facts");
	TCase *tcase = tcase_create("facts");

	tcase_add_test(tcase, what_changes_nothing_gives_the_same_tensor);
	tcase_add_test(tcase, the_base_of_a_view_is_never_a_view);
	tcase_add_test(tcase, frozen_weights_save_nothing_for_their_sake);
	tcase_add_test(tcase, dropping_the_output_frees_the_graph_at_once);
	tcase_add_test(tcase, a_retained_graph_keeps_what_it_saved);
	tcase_add_test(tcase, only_leaves_and_who_asks_keep_gradients);
	tcase_add_test(tcase, gradients_with_a_graph_are_added_out_of_place);
	tcase_add_test(tcase, a_node_keeps_its_part_of_the_graph);
	tcase_add_test(tcase, a_row_of_a_leaf_keeps_the_leaf);
	tcase_add_test(tcase, a_copied_number_keeps_no_graph);
	tcase_add_test(tcase, a_step_leaves_out_who_has_no_gradient);
	suite_add_tcase(suite, tcase);
	return suite;
}
