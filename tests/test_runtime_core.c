/* What holds memory and what lets it go: the statements that were checked under
 * real PyTorch, one test each. */

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/runtime_runner.h"
#include "tests/suites.h"

static struct ag_tensor *leaf(int64_t n)
{
	return rt_leaf(rt_keep(ag_ones(rt.ctx, 1, &n)));
}

static struct ag_tensor *constant(int64_t n)
{
	return rt_keep(ag_ones(rt.ctx, 1, &n));
}

static bool fails(bool good, const char *part)
{
	bool right = !good && strstr(ag_error(rt.ctx)->text, part) != NULL;

	if (!right)
		ck_abort_msg("%s: \"%s\"", good ? "it worked" : "another error",
		             ag_error(rt.ctx)->text);
	ag_error_clear(rt.ctx);
	return right;
}

/* Bytes that appear while the temporaries of a statement go. */
static uint64_t grown(uint64_t before, struct ag_tensor *keep)
{
	struct ag_tensor *held = ag_retain(keep);
	uint64_t after;

	rt_sweep();
	after = rt_bytes() - before;
	rt_keep(held);
	return after;
}

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

	ck_assert_uint_eq(grown(0, rt_at(x, 0)), 4000);
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
		struct ag_tensor *half = CALL("torch.mul", T(constant(10)), R(0.5));
		struct ag_tensor *loss = CALL(losses[i].name, T(half), T(constant(10)));

		ck_assert_uint_eq(ag_storage_bytes(ag_storage_of(loss)), losses[i].bytes);
	}
}
END_TEST

START_TEST(an_accumulator_is_shared_and_dies_with_the_graphs)
{
	struct ag_tensor *w = NULL, *a = NULL, *b = NULL;

	rt_set(&w, leaf(2));
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
	struct ag_tensor *w = leaf(100),
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
	struct ag_tensor *w = leaf(3), *y = CALL("torch.sum", T(CALL("torch.add", T(w), N(1)))), *z;

	rt_backward(y);
	rt_backward(y);
	z = CALL("torch.sum", T(CALL("torch.mul", T(w), T(w))));
	rt_backward(z);
	ck_assert(
	        fails(ag_backward(rt.ctx, z, NULL, 0), "backward through the graph a second time"));
}
END_TEST

START_TEST(two_losses_over_one_trunk)
{
	struct ag_tensor *w = leaf(3), *h = CALL("torch.exp", T(w));
	struct ag_tensor *a = CALL("torch.sum", T(CALL("torch.mul", T(h), N(2))));
	struct ag_tensor *b = CALL("torch.sum", T(CALL("torch.mul", T(h), N(3))));

	rt_backward(a);
	ck_assert(fails(ag_backward(rt.ctx, b, NULL, 0), "second time"));
}
END_TEST

START_TEST(grad_frees_only_the_path_to_its_inputs)
{
	struct ag_tensor *w = NULL, *u = NULL, *y = NULL, *g = NULL;
	uint64_t before;

	rt_set(&w, leaf(100));
	rt_set(&u, leaf(100));
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
		struct ag_tensor *w = ag_retain(leaf(100));
		uint64_t before;

		rt_sweep();
		before = rt_bytes();
		ck_assert_uint_eq(grown(before, CALL(ops[i].name, T(w), R(2.0))),
		                  ops[i].saved ? 408 : 400);
		rt_keep(w);
	}
}
END_TEST

START_TEST(mul_and_div_save_what_the_other_side_needs)
{
	struct ag_tensor *w = ag_retain(leaf(100)), *x = ag_retain(constant(100));
	static const int expected[4] = {1, 2, 1, 2};
	int i;

	rt_sweep();
	for (i = 0; i < 4; i++) {
		uint64_t before = rt_bytes();
		struct ag_tensor *a = CALL("torch.clone", T(i == 3 ? x : w));
		struct ag_tensor *b = CALL("torch.clone", T(i == 0 || i == 2 ? x : w));

		ck_assert_uint_eq(
		        grown(before, CALL(i < 2 ? "torch.mul" : "torch.div", T(a), T(b))),
		        (uint64_t)(expected[i] + 1) * 400);
		rt_sweep();
	}
	ag_release(w), ag_release(x);
}
END_TEST

START_TEST(later_gradients_are_added_in_place)
{
	struct ag_tensor *w = leaf(100);
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
	struct ag_tensor *w = leaf(10), *a = leaf(10), *b = leaf(10), *d = leaf(10);
	struct ag_value parts[2] = {T(w), T(constant(90))}, rows[2];

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

START_TEST(versions_are_checked_in_backward_only)
{
	struct ag_tensor *w = leaf(100), *a = CALL("torch.mul", T(w), N(2));
	struct ag_tensor *y = CALL("torch.sum", T(CALL("torch.mul", T(a), T(a))));

	rt_true(ag_add_(rt.ctx, a, constant(100), 1));
	ck_assert(fails(ag_backward(rt.ctx, y, NULL, 0),
	                "modified by an inplace operation: [torch.FloatTensor [100]], which is "
	                "output 0 of AddBackward0, is at version 1; expected version 0"));
}
END_TEST

START_TEST(leaves_are_not_changed_in_place)
{
	struct ag_grad_mode mode;
	struct ag_tensor *w = leaf(3);

	ck_assert(
	        fails(ag_add_(rt.ctx, w, constant(3), 1),
	              "a leaf Variable that requires grad is being used in an in-place operation"));
	mode = ag_no_grad(rt.ctx);
	rt_true(ag_add_(rt.ctx, w, constant(3), 1));
	ag_set_grad_mode(rt.ctx, mode);
}
END_TEST

START_TEST(writes_into_a_view_give_the_base_a_history)
{
	int64_t shape[2] = {4, 3};
	struct ag_tensor *w = leaf(3), *buffer = rt_keep(ag_zeros(rt.ctx, 2, shape));
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

	rt_set(&w, leaf(100));
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
	struct ag_tensor *w = leaf(3), *y = CALL("torch.mul", T(constant(3)), N(2));
	struct ag_value v[2];
	struct ag_args args = {v, 2, NULL, 0};
	struct ag_results results;

	ag_set_grad_mode(rt.ctx, mode);
	ck_assert(ag_is_inference(y) && !ag_requires_grad(y));
	w = leaf(3);
	v[0] = T(w);
	v[1] = T(y);
	ck_assert(fails(ag_call(rt.ctx, "torch.mul", &args, &results),
	                "Inference tensors cannot be saved for backward"));
}
END_TEST

START_TEST(views_made_without_grad_report_their_base)
{
	struct ag_tensor *w = leaf(4), *v, *u;
	struct ag_grad_mode mode = ag_no_grad(rt.ctx);

	v = rt_at(w, 0);
	u = CALL("torch.mul", T(w), N(1));
	ag_set_grad_mode(rt.ctx, mode);
	ck_assert(ag_requires_grad(v) && !ag_grad_fn(rt.ctx, v) && !ag_requires_grad(u));
}
END_TEST

START_TEST(a_chain_of_a_million_nodes_goes_without_recursion)
{
	struct ag_tensor *y = NULL;
	int i;

	rt_set(&y, leaf(1));
	for (i = 0; i < 1000000; i++) {
		struct ag_tensor *next = ag_add_number(rt.ctx, y, 1);

		ag_release(y);
		y = next;
	}
	rt_sweep();
	ck_assert_uint_eq(rt_nodes(), 1000001);
	rt_backward(y);
	ag_release(y);
	ck_assert_uint_eq(rt_nodes(), 0);
	ck_assert_uint_eq(rt_bytes(), 0);
}
END_TEST

START_TEST(gradients_with_a_graph_close_a_cycle)
{
	struct ag_tensor *w = NULL, *y = NULL;

	rt_set(&w, leaf(100));
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

/* a.add_(b) where the graph of b has saved a: PyTorch never frees it. */
START_TEST(a_value_added_to_what_it_saved_is_lost)
{
	struct ag_tensor *w = NULL, *a;
	struct ag_garbage garbage;

	rt_set(&w, leaf(100));
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
	ag_release(w);
}
END_TEST

/* ---- hooks */

static int released;

static void count_release(void *data)
{
	(void)data;
	released++;
}

static struct ag_tensor *double_it(struct ag_ctx *ctx, void *data, struct ag_tensor *grad)
{
	(void)data;
	return ag_mul_number(ctx, grad, 2);
}

START_TEST(hooks_change_gradients_and_die_with_their_tensor)
{
	struct ag_closure closure = {NULL, count_release, NULL};
	struct ag_tensor *w = NULL, *h = NULL;

	released = 0;
	rt_set(&w, leaf(2));
	rt_set(&h, CALL("torch.mul", T(w), N(3)));
	ck_assert(ag_tensor_hook(rt.ctx, h, double_it, closure) != 0);
	ck_assert(ag_tensor_hook(rt.ctx, w, double_it, closure) != 0);
	rt_true(ag_retain_grad(rt.ctx, h));
	rt_backward(CALL("torch.sum", T(h)));
	ck_assert(rt_item(rt_at(ag_grad_of(w), 0)) == 12);
	ck_assert(rt_item(rt_at(ag_grad_of(h), 0)) == 2);
	rt_sweep();
	ck_assert_int_eq(released, 0);
	ag_release(h);
	ck_assert_int_eq(released, 1);
	ag_release(w);
	ck_assert_int_eq(released, 2);
}
END_TEST

/* ---- custom functions: y = x * 3, saving x */

static bool triple_backward(struct ag_ctx *ctx, void *data, struct ag_custom *fn,
                            struct ag_tensor *const *grads, uint32_t ngrads,
                            struct ag_tensor **grad_inputs, uint32_t ninputs)
{
	struct ag_tensor *x = ag_custom_saved(fn, 0);

	(void)data;
	if (!x || ngrads != 1 || ninputs != 1)
		return false;
	ag_release(x);
	grad_inputs[0] = ag_mul_number(ctx, grads[0], 3);
	return grad_inputs[0] != NULL;
}

START_TEST(custom_functions_save_and_release)
{
	struct ag_closure closure = {NULL, count_release, NULL};
	struct ag_tensor *w = NULL, *x = NULL, *y;
	struct ag_custom *fn;
	uint64_t before;

	released = 0;
	rt_set(&w, leaf(100));
	rt_set(&x, CALL("torch.mul", T(w), N(1)));
	rt_sweep();
	before = rt_bytes();
	fn = ag_custom_begin(rt.ctx, "TripleBackward", triple_backward, closure);
	y = ag_mul_number(rt.ctx, x, 3);
	rt_true(ag_custom_save(fn, &x, 1));
	rt_true(ag_custom_end(fn, &x, 1, &y, 1));
	ck_assert_str_eq(ag_node_name(ag_grad_fn(rt.ctx, y)), "TripleBackward");
	ck_assert_uint_eq(rt_bytes() - before, 400);
	ag_release(x);
	ck_assert_uint_eq(rt_bytes() - before, 400);
	rt_backward(CALL("torch.sum", T(y)));
	rt_sweep();
	/* x and the number that its own node saved are gone, the gradient came. */
	ck_assert_uint_eq(rt_bytes() - before, 400 + 400 - 400 - 8);
	ck_assert(rt_item(rt_at(ag_grad_of(w), 0)) == 3);
	ck_assert_int_eq(released, 0);
	ag_release(y);
	ck_assert_int_eq(released, 1);
	ag_release(w);
}
END_TEST

static bool exp_sin(struct ag_ctx *ctx, void *data, struct ag_tensor *const *inputs,
                    uint32_t ninputs, struct ag_results *outputs)
{
	struct ag_value v;
	struct ag_args args = {&v, 1, NULL, 0};
	struct ag_tensor *e;
	bool good;

	(void)data;
	(void)ninputs;
	e = ag_exp(ctx, inputs[0]);
	v = ag_arg(e);
	good = ag_call(ctx, "torch.sin", &args, outputs);
	ag_release(e);
	return good;
}

START_TEST(a_checkpoint_keeps_inputs_and_generator_state)
{
	struct ag_closure none = {NULL, NULL, NULL};
	struct ag_results out;
	struct ag_tensor *w = NULL, *x = NULL, *y = NULL;
	uint64_t before;

	rt_set(&w, leaf(100));
	rt_sweep();
	before = rt_bytes();
	rt_set(&x, CALL("torch.mul", T(w), N(1)));
	rt_true(ag_checkpoint(rt.ctx, exp_sin, none, &x, 1, true, true, &out));
	ag_release(x);
	rt_sweep();
	ck_assert_uint_eq(rt_bytes() - before, 400 + 400 + 8 + 5056);
	rt_set(&y, out.at[0]);
	ag_results_release(&out);
	rt_backward(CALL("torch.sum", T(y)));
	ck_assert_double_eq_tol(rt_item(rt_at(ag_grad_of(w), 0)), 2.718281828 * -0.911733915, 1e-5);
	ck_assert(ag_set_grad(rt.ctx, w, NULL));
	rt_sweep();
	ck_assert_uint_eq(rt_bytes() - before, 400 + 5056);
	ag_release(y), ag_release(w);
}
END_TEST

/* ---- promotion */

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
	ck_assert_int_eq(ag_dtype(CALL("torch.sum", T(CALL("torch.isnan", T(constant(2)))))),
	                 AG_I64);
}
END_TEST

/* ---- accounts */

START_TEST(bytes_have_a_kind_and_a_site)
{
	struct ag_memory m;
	struct ag_site_memory site;
	struct ag_tensor *w = NULL, *y = NULL, *data, *p;
	int64_t n = 100;

	ag_set_site(rt.ctx, 3);
	data = constant(100);
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
	struct ag_tensor *w = leaf(3), *h = CALL("torch.exp", T(w));
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
	struct ag_tensor *w = leaf(10), *y = CALL("torch.mul", T(x), T(w));
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

	rt_set(&w, leaf(100));
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

	ck_assert(fails(ag_call(rt.ctx, "torch.mm", &args, &r),
	                "mat1 and mat2 shapes cannot be multiplied (3x4 and 3x4)"));
	ck_assert(fails(ag_call(rt.ctx, "torch.no_such_thing", &args, &r), "not known"));
	ck_assert(fails(ag_backward(rt.ctx, a, NULL, 0), "does not require grad"));
	ck_assert(fails(ag_backward(rt.ctx, rt_leaf(rt_randn(1, 3)), NULL, 0),
	                "grad can be implicitly created only for scalar outputs"));
	v[1] = T(rt_randn(1, 3));
	ck_assert(fails(ag_call(rt.ctx, "torch.add", &args, &r),
	                "The size of tensor a (4) must match the size of tensor b (3) at "
	                "non-singleton dimension 1"));
	v[0] = T(NULL);
	ck_assert(fails(ag_call(rt.ctx, "torch.exp", &(struct ag_args){v, 1, NULL, 0}, &r),
	                "missing"));
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

Suite *runtime_core_suite(void)
{
	Suite *suite = suite_create("runtime_core");
	TCase *tc = tcase_create("facts");

	tcase_add_checked_fixture(tc, rt_open, rt_close);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_storage_has_its_elements_and_no_more);
	tcase_add_test(tc, a_view_keeps_its_whole_storage);
	tcase_add_test(tc, reduced_losses_keep_the_unreduced_storage);
	tcase_add_test(tc, an_accumulator_is_shared_and_dies_with_the_graphs);
	tcase_add_test(tc, backward_frees_saved_tensors_and_keeps_nodes);
	tcase_add_test(tc, a_second_backward_fails_only_where_something_was_saved);
	tcase_add_test(tc, two_losses_over_one_trunk);
	tcase_add_test(tc, grad_frees_only_the_path_to_its_inputs);
	tcase_add_test(tc, numbers_cost_eight_bytes_where_they_are_saved);
	tcase_add_test(tc, mul_and_div_save_what_the_other_side_needs);
	tcase_add_test(tc, later_gradients_are_added_in_place);
	tcase_add_test(tc, a_gradient_taken_over_may_be_a_view);
	tcase_add_test(tc, versions_are_checked_in_backward_only);
	tcase_add_test(tc, leaves_are_not_changed_in_place);
	tcase_add_test(tc, writes_into_a_view_give_the_base_a_history);
	tcase_add_test(tc, mul_in_place_saves_a_copy_of_the_old_value);
	tcase_add_test(tc, inference_tensors_are_never_saved);
	tcase_add_test(tc, views_made_without_grad_report_their_base);
	tcase_add_test(tc, a_chain_of_a_million_nodes_goes_without_recursion);
	tcase_add_test(tc, gradients_with_a_graph_close_a_cycle);
	tcase_add_test(tc, a_value_added_to_what_it_saved_is_lost);
	tcase_add_test(tc, hooks_change_gradients_and_die_with_their_tensor);
	tcase_add_test(tc, custom_functions_save_and_release);
	tcase_add_test(tc, a_checkpoint_keeps_inputs_and_generator_state);
	tcase_add_test(tc, dtypes_are_promoted_as_in_pytorch);
	tcase_add_test(tc, bytes_have_a_kind_and_a_site);
	tcase_add_test(tc, a_walk_finds_each_object_once);
	tcase_add_test(tc, tensors_without_data_stay_exact_in_bytes);
	tcase_add_test(tc, an_opaque_value_saves_its_inputs);
	tcase_add_test(tc, errors_are_values);
	tcase_add_test(tc, caps_stop_a_program_without_ending_it);
	tcase_add_test(tc, the_device_model_rounds_and_keeps_its_segments);
	suite_add_tcase(suite, tc);
	return suite;
}
