/* Building, laying out, what the control flow graph says, and everything that
 * the verifier must refuse. */

#include <check.h>
#include <string.h>

#include "analyzer/ir/build.h"
#include "analyzer/ir/cfg.h"
#include "analyzer/ir/dump.h"
#include "analyzer/ir/verify.h"

static struct arena arena;
static struct intern *names;
static struct ir_module *module;
static struct ir_builder *builder;

static const struct span nowhere = {0, 0};
static const block_id no_block = {0};

static void setup(void)
{
	names = intern_open();
	module = ir_module_new(&arena, names);
	builder = ir_begin(module, FUNC_MODULE, (func_id){0});
}

static void teardown(void)
{
	intern_close(names);
	arena_release(&arena);
}

static inst_id value(void)
{
	return ir_emit(builder, OP_const, SUB_const_none, 0, nowhere, NULL, 0);
}

static inst_id emit1(enum ir_op op, enum ir_sub sub, uint32_t name, inst_id operand)
{
	struct ir_arg arg = {.value = operand};

	return ir_emit(builder, op, sub, name, nowhere, &arg, 1);
}

static void jump(block_id to)
{
	ir_emit_end(builder, OP_jump, 0, nowhere, NULL, 0, to, no_block);
}

static void branch(block_id then, block_id otherwise)
{
	struct ir_arg arg = {.value = value()};

	ir_emit_end(builder, OP_branch, 0, nowhere, &arg, 1, then, otherwise);
}

static void leave_with(inst_id operand)
{
	struct ir_arg arg = {.value = operand};

	ir_emit_end(builder, OP_return, 0, nowhere, &arg, 1, no_block, no_block);
}

static struct ir_func *finish(void)
{
	ir_finish(builder);
	return module->funcs.at[1];
}

static slot_id hidden(void)
{
	return ir_slot_add(builder, (struct ir_slot){.kind = SLOT_HIDDEN});
}

static void refuses(const char *what)
{
	const char *wrong = ir_verify(&arena, module);

	ck_assert_msg(wrong && strstr(wrong, what), "got %s, not %s", wrong ? wrong : "nothing",
	              what);
}

static void accepts(void)
{
	ck_assert_pstr_eq(ir_verify(&arena, module), NULL);
}

/* b1 -> head; head -> body, done; body -> head */
START_TEST(a_loop_is_found)
{
	block_id head = ir_block_add(builder), done = ir_block_add(builder);
	block_id body = ir_block_add(builder);
	struct ir_func *func;

	jump(head);
	ir_block_start(builder, done);
	leave_with(value());
	ir_block_start(builder, body);
	jump(head);
	ir_block_start(builder, head);
	branch(body, done);
	func = finish();
	accepts();
	ck_assert_uint_eq(func->loops.count, 2);
	ck_assert_uint_eq(func->loops.at[1].header.n, 2);
	ck_assert_uint_eq(func->loops.at[1].depth, 1);
	ck_assert_uint_eq(func->blocks.at[3].loop.n, 1);
	ck_assert_uint_eq(func->blocks.at[4].loop.n, 0);
	ck_assert_uint_eq(func->dominator[3].n, 2);
	ck_assert(cfg_dominates(func, (block_id){2}, (block_id){4}));
	ck_assert(!cfg_dominates(func, (block_id){3}, (block_id){4}));
}
END_TEST

START_TEST(inner_loops_have_parents)
{
	block_id outer = ir_block_add(builder), inner = ir_block_add(builder);
	block_id latch = ir_block_add(builder), done = ir_block_add(builder);
	struct ir_func *func;

	jump(outer);
	ir_block_start(builder, outer);
	branch(inner, done);
	ir_block_start(builder, inner);
	branch(inner, latch);
	ir_block_start(builder, latch);
	jump(outer);
	ir_block_start(builder, done);
	leave_with(value());
	func = finish();
	accepts();
	ck_assert_uint_eq(func->loops.count, 3);
	ck_assert_uint_eq(func->loops.at[2].parent.n, 1);
	ck_assert_uint_eq(func->loops.at[2].depth, 2);
	ck_assert_uint_eq(func->blocks.at[3].loop.n, 2);
	ck_assert_uint_eq(func->blocks.at[4].loop.n, 1);
}
END_TEST

/* Two blocks that lead to each other and are both entered from outside. */
START_TEST(irreducible_cycles_are_no_loops)
{
	block_id left = ir_block_add(builder), right = ir_block_add(builder);
	block_id done = ir_block_add(builder);
	struct ir_func *func;

	branch(left, right);
	ir_block_start(builder, left);
	branch(right, done);
	ir_block_start(builder, right);
	branch(left, done);
	ir_block_start(builder, done);
	leave_with(value());
	func = finish();
	accepts();
	ck_assert_uint_eq(func->loops.count, 1);
	ck_assert_uint_eq(func->order_count, 4);
	for (uint32_t b = 2; b <= 4; b++)
		ck_assert_uint_eq(func->dominator[b].n, 1);
}
END_TEST

START_TEST(handlers_are_edges)
{
	block_id guarded = ir_block_add(builder), handler = ir_block_add(builder);
	struct ir_func *func;

	jump(guarded);
	ir_handler_set(builder, handler);
	ir_block_start(builder, guarded);
	leave_with(value());
	ir_handler_set(builder, no_block);
	ir_block_start(builder, handler);
	leave_with(ir_emit(builder, OP_caught, SUB_NONE, 0, nowhere, NULL, 0));
	func = finish();
	accepts();
	ck_assert_uint_eq(func->blocks.at[2].handler.n, 3);
	ck_assert_uint_eq(func->dominator[3].n, 2);
}
END_TEST

START_TEST(unreachable_code_is_kept_last)
{
	block_id dead = ir_block_add(builder), next = ir_block_add(builder);
	struct ir_func *func;

	ir_block_add(builder); /* never started: it leaves nothing */
	jump(next);
	ir_block_start(builder, dead);
	leave_with(value());
	ir_block_start(builder, next);
	leave_with(value());
	func = finish();
	accepts();
	ck_assert_uint_eq(func->blocks.count, 4);
	ck_assert_uint_eq(func->order_count, 2);
	ck_assert_uint_eq(func->order_of[3], UINT32_MAX);
	ck_assert_uint_eq(func->dominator[3].n, 0);
}
END_TEST

/* A chain of blocks that each may leave for the same end. */
START_TEST(long_functions_take_linear_time)
{
	enum { LINKS = 200000 };
	block_id end = ir_block_add(builder);
	struct ir_func *func;

	for (int i = 0; i < LINKS; i++) {
		block_id next = ir_block_add(builder);
		branch(next, end);
		ir_block_start(builder, next);
	}
	jump(end);
	ir_block_start(builder, end);
	leave_with(value());
	func = finish();
	accepts();
	ck_assert_uint_eq(func->order_count, LINKS + 2);
	ck_assert_uint_eq(func->dominator[func->order[LINKS + 1].n].n, 1);
}
END_TEST

START_TEST(a_builder_is_used_again)
{
	func_id inner;
	struct ir_builder *outer = builder;

	builder = ir_begin(module, FUNC_FUNCTION, ir_builder_id(outer));
	inner = ir_builder_id(builder);
	leave_with(value());
	ir_finish(builder);
	builder = outer;
	leave_with(ir_emit(builder, OP_function, SUB_NONE, inner.n, nowhere, NULL, 0));
	ir_finish(builder);
	accepts();
	ck_assert_uint_eq(ir_func_get(module, inner)->insts.count, 3);
}
END_TEST

START_TEST(dumps_say_what_there_is)
{
	struct text ir = {.arena = &arena}, cfg = {.arena = &arena};
	slot_id slot = hidden();

	emit1(OP_store, SUB_scope_slot, slot.n, value());
	leave_with(ir_emit(builder, OP_load, SUB_scope_take, slot.n, (struct span){3, 9}, NULL, 0));
	finish();
	accepts();
	ir_dump(module, &ir);
	cfg_dump(module, &cfg);
	ck_assert_str_eq(text_chars(&ir), "f1 module \n"
	                                  "  b1:\n"
	                                  "    %1 = const None\n"
	                                  "    store $1 %1\n"
	                                  "    %3 = load take $1                       ; 3..9\n"
	                                  "    return %3\n");
	ck_assert_str_eq(text_chars(&cfg), "f1 module \n  b1\n");
}
END_TEST

START_TEST(refuses_a_value_that_is_never_consumed)
{
	value();
	leave_with(value());
	finish();
	refuses("never consumed");
}
END_TEST

START_TEST(refuses_a_value_that_is_consumed_twice)
{
	inst_id once = value();

	emit1(OP_drop, SUB_NONE, 0, once);
	leave_with(once);
	finish();
	refuses("consumed twice");
}
END_TEST

START_TEST(refuses_a_value_in_another_block)
{
	block_id next = ir_block_add(builder);
	inst_id early = value();

	jump(next);
	ir_block_start(builder, next);
	leave_with(early);
	finish();
	refuses("outside its block");
}
END_TEST

START_TEST(refuses_an_operand_without_value)
{
	slot_id slot = hidden();
	inst_id store = emit1(OP_store, SUB_scope_slot, slot.n, value());

	leave_with(store);
	finish();
	refuses("leaves no value");
}
END_TEST

START_TEST(refuses_a_value_from_later_on)
{
	struct ir_func *func;

	leave_with(emit1(OP_unary, SUB_unary_not, 0, value()));
	func = finish();
	func->args.at[func->insts.at[2].args].value.n = 2;
	refuses("before it is there");
}
END_TEST

START_TEST(refuses_another_way_into_the_body_of_next)
{
	block_id head = ir_block_add(builder), body = ir_block_add(builder);
	block_id done = ir_block_add(builder);
	slot_id slot = hidden();
	inst_id item;

	branch(head, body);
	ir_block_start(builder, head);
	item = ir_emit_end(builder, OP_next, slot.n, nowhere, NULL, 0, body, done);
	ir_block_start(builder, body);
	emit1(OP_drop, SUB_NONE, 0, item);
	jump(head);
	ir_block_start(builder, done);
	leave_with(value());
	finish();
	refuses("another way in");
}
END_TEST

START_TEST(refuses_the_wrong_sub_operation)
{
	leave_with(emit1(OP_unary, SUB_binary_add, 0, value()));
	finish();
	refuses("cannot have sub");
}
END_TEST

START_TEST(refuses_the_wrong_number_of_operands)
{
	leave_with(ir_emit(builder, OP_load_attr, SUB_NONE, SYM_self, nowhere, NULL, 0));
	finish();
	refuses("operands");
}
END_TEST

START_TEST(refuses_slots_that_are_not_there)
{
	leave_with(ir_emit(builder, OP_load, SUB_scope_slot, 7, nowhere, NULL, 0));
	finish();
	refuses("no slot 7");
}
END_TEST

START_TEST(refuses_to_take_a_local)
{
	slot_id slot = ir_slot_add(builder, (struct ir_slot){.kind = SLOT_LOCAL});

	leave_with(ir_emit(builder, OP_load, SUB_scope_take, slot.n, nowhere, NULL, 0));
	finish();
	refuses("not hidden");
}
END_TEST

START_TEST(refuses_functions_that_are_not_there)
{
	leave_with(ir_emit(builder, OP_function, SUB_NONE, 9, nowhere, NULL, 0));
	finish();
	refuses("no function f9");
}
END_TEST

START_TEST(refuses_a_capture_of_nothing)
{
	ir_slot_add(builder, (struct ir_slot){.kind = SLOT_FREE, .outer = {1}});
	leave_with(value());
	finish();
	refuses("captures nothing");
}
END_TEST

START_TEST(refuses_caught_outside_handlers)
{
	leave_with(ir_emit(builder, OP_caught, SUB_NONE, 0, nowhere, NULL, 0));
	finish();
	refuses("caught belongs");
}
END_TEST

START_TEST(refuses_to_return_from_an_open_scope)
{
	slot_id slot = hidden();

	leave_with(emit1(OP_enter, SUB_enter_sync, slot.n, value()));
	finish();
	refuses("with a scope open");
}
END_TEST

START_TEST(refuses_to_leave_what_is_not_open)
{
	leave_with(ir_emit(builder, OP_leave, SUB_leave_normal, hidden().n, nowhere, NULL, 0));
	finish();
	refuses("not open");
}
END_TEST

START_TEST(refuses_scopes_that_depend_on_the_way)
{
	block_id enter = ir_block_add(builder), join = ir_block_add(builder);
	slot_id slot = hidden();

	branch(enter, join);
	ir_block_start(builder, enter);
	emit1(OP_drop, SUB_NONE, 0, emit1(OP_enter, SUB_enter_sync, slot.n, value()));
	jump(join);
	ir_block_start(builder, join);
	leave_with(value());
	finish();
	refuses("other scopes are open");
}
END_TEST

START_TEST(refuses_an_exception_out_of_an_open_scope)
{
	slot_id slot = hidden();

	emit1(OP_drop, SUB_NONE, 0, emit1(OP_enter, SUB_enter_sync, slot.n, value()));
	emit1(OP_drop, SUB_NONE, 0, emit1(OP_unary, SUB_unary_not, 0, value()));
	emit1(OP_drop, SUB_NONE, 0,
	      ir_emit(builder, OP_leave, SUB_leave_normal, slot.n, nowhere, NULL, 0));
	leave_with(value());
	finish();
	refuses("with a scope open");
}
END_TEST

START_TEST(refuses_blocks_that_overlap)
{
	struct ir_func *func;

	leave_with(value());
	func = finish();
	func->blocks.at[1].count = 1;
	refuses("after the last block");
}
END_TEST

START_TEST(refuses_a_stale_graph)
{
	block_id next = ir_block_add(builder);
	struct ir_func *func;

	jump(next);
	ir_block_start(builder, next);
	leave_with(value());
	func = finish();
	func->order_count = 1;
	func->order_of[2] = UINT32_MAX;
	refuses("unreachable");
}
END_TEST

Suite *ir_suite(void)
{
	Suite *suite = suite_create("ir");
	TCase *tc = tcase_create("build");
	TCase *verify = tcase_create("verify");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_loop_is_found);
	tcase_add_test(tc, inner_loops_have_parents);
	tcase_add_test(tc, irreducible_cycles_are_no_loops);
	tcase_add_test(tc, handlers_are_edges);
	tcase_add_test(tc, unreachable_code_is_kept_last);
	tcase_add_test(tc, long_functions_take_linear_time);
	tcase_add_test(tc, a_builder_is_used_again);
	tcase_add_test(tc, dumps_say_what_there_is);
	suite_add_tcase(suite, tc);
	tcase_add_checked_fixture(verify, setup, teardown);
	tcase_add_test(verify, refuses_a_value_that_is_never_consumed);
	tcase_add_test(verify, refuses_a_value_that_is_consumed_twice);
	tcase_add_test(verify, refuses_a_value_in_another_block);
	tcase_add_test(verify, refuses_an_operand_without_value);
	tcase_add_test(verify, refuses_a_value_from_later_on);
	tcase_add_test(verify, refuses_another_way_into_the_body_of_next);
	tcase_add_test(verify, refuses_the_wrong_sub_operation);
	tcase_add_test(verify, refuses_the_wrong_number_of_operands);
	tcase_add_test(verify, refuses_slots_that_are_not_there);
	tcase_add_test(verify, refuses_to_take_a_local);
	tcase_add_test(verify, refuses_functions_that_are_not_there);
	tcase_add_test(verify, refuses_a_capture_of_nothing);
	tcase_add_test(verify, refuses_caught_outside_handlers);
	tcase_add_test(verify, refuses_to_return_from_an_open_scope);
	tcase_add_test(verify, refuses_to_leave_what_is_not_open);
	tcase_add_test(verify, refuses_scopes_that_depend_on_the_way);
	tcase_add_test(verify, refuses_an_exception_out_of_an_open_scope);
	tcase_add_test(verify, refuses_blocks_that_overlap);
	tcase_add_test(verify, refuses_a_stale_graph);
	suite_add_tcase(suite, verify);
	return suite;
}
