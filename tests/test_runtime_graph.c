/* Graphs: who shares an accumulator, what backward frees, what nothing frees. */

#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tests/runtime_runner.h"
#include "tests/suites.h"

START_TEST(an_accumulator_is_shared_and_dies_with_the_graphs)
{
	struct ag_tensor *w = NULL, *a = NULL, *b = NULL;

	rt_set(&w, rt_ones_leaf(2));
	rt_set(&a, CALL("torch.mul", T(w), N(2)));
	rt_set(&b, CALL("torch.mul", T(w), N(3)));
	rt_sweep();
	ck_assert_uint_eq(rt_nodes(), 3);
	ag_release(a);
	ck_assert_uint_eq(rt_nodes(), 2);
	ag_release(b);
	ck_assert_uint_eq(rt_nodes(), 0);
	ag_release(w);
}
END_TEST

START_TEST(backward_frees_saved_tensors_and_keeps_nodes)
{
	struct ag_tensor *w = rt_ones_leaf(100),
	                 *y = CALL("torch.sum",
	                           T(CALL("torch.exp", T(CALL("torch.mul", T(w), N(2))))));
	uint64_t bytes, nodes;

	w = ag_retain(w);
	y = ag_retain(y);
	rt_sweep();
	bytes = rt_bytes();
	nodes = rt_nodes();
	rt_backward(y);
	ck_assert(ag_set_grad(rt.ctx, w, NULL));
	ck_assert_uint_eq(rt_nodes(), nodes);
	ck_assert_uint_eq(bytes - rt_bytes(), 408);
	ag_release(y);
	ag_release(w);
}
END_TEST

START_TEST(a_second_backward_fails_only_where_something_was_saved)
{
	struct ag_tensor *w = rt_ones_leaf(3),
	                 *y = CALL("torch.sum", T(CALL("torch.add", T(w), N(1)))), *z;

	rt_backward(y);
	rt_backward(y);
	z = CALL("torch.sum", T(CALL("torch.mul", T(w), T(w))));
	rt_backward(z);
	ck_assert(rt_fails(ag_backward(rt.ctx, z, NULL, 0),
	                   "backward through the graph a second time"));
}
END_TEST

START_TEST(two_losses_over_one_trunk)
{
	struct ag_tensor *w = rt_ones_leaf(3), *h = CALL("torch.exp", T(w));
	struct ag_tensor *a = CALL("torch.sum", T(CALL("torch.mul", T(h), N(2))));
	struct ag_tensor *b = CALL("torch.sum", T(CALL("torch.mul", T(h), N(3))));

	rt_backward(a);
	ck_assert(rt_fails(ag_backward(rt.ctx, b, NULL, 0), "second time"));
}
END_TEST

START_TEST(grad_frees_only_the_path_to_its_inputs)
{
	struct ag_tensor *w = NULL, *u = NULL, *y = NULL, *g = NULL;
	uint64_t before;

	rt_set(&w, rt_ones_leaf(100));
	rt_set(&u, rt_ones_leaf(100));
	rt_set(&y, CALL("torch.sum",
	                T(CALL("torch.add", T(CALL("torch.exp", T(w))),
	                       T(CALL("torch.mul", T(CALL("torch.exp", T(u))), R(1.5)))))));
	rt_sweep();
	before = rt_bytes();
	rt_true(ag_grad(rt.ctx, &y, NULL, 1, &w, 1, 0, &g));
	ck_assert_uint_eq(rt_bytes(), before);
	ck_assert_ptr_null(ag_grad_of(w));
	ag_release(g), ag_release(y), ag_release(w), ag_release(u);
}
END_TEST

START_TEST(later_gradients_are_added_in_place)
{
	struct ag_tensor *w = rt_ones_leaf(100);
	struct ag_storage *first;

	rt_backward(CALL("torch.sum", T(CALL("torch.mul", T(w), N(2)))));
	first = ag_storage_of(ag_grad_of(w));
	rt_backward(CALL("torch.sum", T(CALL("torch.mul", T(w), N(2)))));
	ck_assert_ptr_eq(ag_storage_of(ag_grad_of(w)), first);
	ck_assert(rt_item(rt_at(ag_grad_of(w), 7)) == 4);
}
END_TEST

START_TEST(a_gradient_taken_over_may_be_a_view)
{
	struct ag_tensor *w = rt_ones_leaf(10), *a = rt_ones_leaf(10), *b = rt_ones_leaf(10),
	                 *d = rt_ones_leaf(10);
	struct ag_value parts[2] = {T(w), T(rt_ones(90))}, rows[2];

	rt_backward(CALL("torch.sum",
	                 T(CALL("torch.pow", T(CALL("torch.cat", ag_list(parts, 2))), N(2)))));
	rows[0] = T(a);
	rows[1] = T(b);
	rt_backward(CALL("torch.sum",
	                 T(CALL("torch.pow", T(CALL("torch.stack", ag_list(rows, 2))), N(2)))));
	rt_backward(CALL("torch.sum", T(d)));
	ck_assert_uint_eq(ag_storage_bytes(ag_storage_of(ag_grad_of(w))), 400);
	ck_assert_uint_eq(ag_storage_bytes(ag_storage_of(ag_grad_of(a))), 80);
	ck_assert_ptr_eq(ag_storage_of(ag_grad_of(a)), ag_storage_of(ag_grad_of(b)));
	ck_assert_uint_eq(ag_storage_bytes(ag_storage_of(ag_grad_of(d))), 40);
}
END_TEST

struct chain {
	int64_t length;
	uint64_t most, left;
	bool good;
};

/* Records a chain of additions, runs it backward, and lets it go. */
static void *run_chain(void *data)
{
	struct chain *chain = data;
	struct ag_tensor *w = ag_ones(rt.ctx, 0, NULL), *y = ag_retain(w);

	ag_set_requires_grad(rt.ctx, w, true);
	for (int64_t i = 0; i < chain->length; i++) {
		struct ag_tensor *next = ag_add_number(rt.ctx, y, 1);

		ag_release(y);
		y = next;
	}
	chain->most = rt_nodes();
	chain->good = ag_backward(rt.ctx, y, NULL, 0) && ag_grad_of(w);
	ag_release(y);
	ag_release(w);
	chain->left = rt_nodes() + rt_bytes();
	return NULL;
}

/* A million nodes, or GRAPHLINT_CHAIN_NODES, on a stack that holds a few thousand frames. */
START_TEST(long_chains_go_without_recursion)
{
	const char *text = getenv("GRAPHLINT_CHAIN_NODES");
	struct chain chain = {.length = text ? strtoll(text, NULL, 10) : 1000000};
	pthread_attr_t attributes;
	pthread_t thread;

	ck_assert_int_gt(chain.length, 0);
	ck_assert_int_eq(pthread_attr_init(&attributes), 0);
	ck_assert_int_eq(pthread_attr_setstacksize(&attributes, 512 * 1024), 0);
	ck_assert_int_eq(pthread_create(&thread, &attributes, run_chain, &chain), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	pthread_attr_destroy(&attributes);
	rt_true(chain.good);
	ck_assert_uint_eq(chain.most, (uint64_t)chain.length + 1);
	ck_assert_uint_eq(chain.left, 0);
}
END_TEST

START_TEST(gradients_with_a_graph_close_a_cycle)
{
	struct ag_tensor *w = NULL, *y = NULL;

	rt_set(&w, rt_ones_leaf(100));
	rt_set(&y, CALL("torch.sum", T(CALL("torch.tanh", T(w)))));
	rt_true(ag_backward(rt.ctx, y, NULL, AG_CREATE_GRAPH));
	rt_sweep();
	ck_assert_uint_eq(ag_cycles(rt.ctx), 1);
	ag_release(y);
	ck_assert(ag_set_grad(rt.ctx, w, NULL));
	ck_assert_uint_eq(ag_cycles(rt.ctx), 0);
	ag_release(w);
	ck_assert_uint_eq(rt_bytes(), 0);
}
END_TEST

struct lost {
	char names[128];
	int64_t elements;
};

static bool name_lost(void *data, const struct ag_reach *reach)
{
	struct lost *lost = data;

	if (reach->tensor) {
		lost->elements += ag_numel(reach->tensor);
	} else {
		strncat(lost->names, ag_node_name(reach->node),
		        sizeof(lost->names) - strlen(lost->names) - 1);
		strncat(lost->names, " ", sizeof(lost->names) - strlen(lost->names) - 1);
	}
	return true;
}

/* a.add_(b) where the graph of b has saved a: PyTorch never frees it. */
START_TEST(a_value_added_to_what_it_saved_is_lost)
{
	struct ag_tensor *w = NULL, *a;
	struct ag_garbage garbage;
	struct lost lost = {"", 0};

	rt_set(&w, rt_ones_leaf(100));
	a = CALL("torch.add", T(w), N(1));
	rt_true(ag_add_(rt.ctx, a, CALL("torch.mul", T(w), T(a)), 1));
	ag_find_garbage(rt.ctx, &garbage);
	ck_assert_uint_eq(garbage.tensors, 0);
	rt_sweep();
	ag_find_garbage(rt.ctx, &garbage);
	ck_assert_uint_eq(garbage.tensors, 1);
	ck_assert_uint_eq(garbage.nodes, 4); /* add, mul, add in place, the accumulator of w */
	ck_assert_uint_eq(garbage.bytes, 400);
	ck_assert_uint_eq(rt_bytes(), 800);
	ag_each_garbage(rt.ctx, name_lost, &lost);
	ck_assert_int_eq(lost.elements, 100);
	ck_assert_str_eq(lost.names, "AddBackward0 AccumulateGrad MulBackward0 AddBackward0 ");
	ag_release(w);
}
END_TEST

Suite *runtime_graph_suite(void)
{
	Suite *suite = suite_create("runtime_graph");
	TCase *tc = tcase_create("graph");

	tcase_add_checked_fixture(tc, rt_open, rt_close);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, an_accumulator_is_shared_and_dies_with_the_graphs);
	tcase_add_test(tc, backward_frees_saved_tensors_and_keeps_nodes);
	tcase_add_test(tc, a_second_backward_fails_only_where_something_was_saved);
	tcase_add_test(tc, two_losses_over_one_trunk);
	tcase_add_test(tc, grad_frees_only_the_path_to_its_inputs);
	tcase_add_test(tc, later_gradients_are_added_in_place);
	tcase_add_test(tc, a_gradient_taken_over_may_be_a_view);
	tcase_add_test(tc, long_chains_go_without_recursion);
	tcase_add_test(tc, gradients_with_a_graph_close_a_cycle);
	tcase_add_test(tc, a_value_added_to_what_it_saved_is_lost);
	suite_add_tcase(suite, tc);
	return suite;
}
