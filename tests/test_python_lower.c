/* What goldens do not show well: values of constants, spans, what is captured,
 * gaps and comments, and input of any size and depth. */

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/front/front.h"
#include "analyzer/ir/dump.h"
#include "analyzer/ir/verify.h"

static struct arena arena;
static struct intern *names;
static struct front_result lowered;
static struct source source;

static void setup(void)
{
	names = intern_open();
}

static void teardown(void)
{
	intern_close(names);
	arena_release(&arena);
}

static void lower_bytes(const char *text, size_t length)
{
	struct text padded = {.arena = &arena};

	text_add(&padded, text, length);
	text_add_repeated(&padded, '\0', SOURCE_PADDING);
	source = (struct source){.path = "x.py", .text = padded.at, .length = (uint32_t)length};
	lowered = python_front_end.lower(&arena, names, &source, NULL);
	ck_assert_pstr_eq(ir_verify(&arena, lowered.module), NULL);
}

static void lower(const char *text)
{
	lower_bytes(text, strlen(text));
}

static const struct ir_func *func_at(uint32_t id)
{
	ck_assert_uint_lt(id, lowered.module->funcs.count);
	return lowered.module->funcs.at[id];
}

/* The n-th instruction of that opcode in the function, from 0. */
static const struct ir_inst *inst_of(const struct ir_func *func, enum ir_op op, uint32_t n)
{
	for (uint32_t i = 1; i < func->insts.count; i++)
		if (func->insts.at[i].op == op && n-- == 0)
			return &func->insts.at[i];
	ck_abort_msg("no such %s", op_info[op].name);
	return NULL;
}

static uint32_t count_of(const struct ir_func *func, enum ir_op op)
{
	uint32_t count = 0;

	for (uint32_t i = 1; i < func->insts.count; i++)
		count += func->insts.at[i].op == op;
	return count;
}

static const char *name_of(uint32_t name)
{
	return intern_chars(names, (sym_id){name}, NULL);
}

static void ck_source(struct span span, const char *expected)
{
	ck_assert_uint_eq(span.end - span.start, strlen(expected));
	ck_assert_int_eq(memcmp(source.text + span.start, expected, strlen(expected)), 0);
}

static const struct literal_case {
	const char *source;
	enum ir_sub sub;
	const char *value;
	size_t length; /* 0: that of `value` */
} literal_cases[] = {
        {"'a\\n\\t\\\\\\'\\x41\\101\\u00e9'", SUB_const_str, "a\n\t\\'AA\xc3\xa9", 0},
        {"'\\U0001F600'", SUB_const_str, "\xf0\x9f\x98\x80", 0},
        {"'\\q\\x4'", SUB_const_str, "\\q\\x4", 0},
        {"'a\\\nb'", SUB_const_str, "ab", 0},
        {"'''a\r\nb'''", SUB_const_str, "a\nb", 0},
        {"r'\\n' \"x\" R'\\''", SUB_const_str, "\\nx\\'", 0},
        {"b'\\xff\\u0041' b'z'", SUB_const_bytes, "\xff\\u0041z", 0},
        {"'\\0x'", SUB_const_str, "\0x", 2},
        {"f'{{}}'", SUB_const_str, "{}", 0},
        {"f'plain' '{}'", SUB_const_str, "plain{}", 0},
        {"''", SUB_const_str, "", 0},
        {"'  spaces  '", SUB_const_str, "  spaces  ", 0},
        {"1_000", SUB_const_int, "1000", 0},
        {"0xF_Fl", SUB_const_int, "0xFF", 0},
        {"0b1_0", SUB_const_int, "0b10", 0},
        {"12L", SUB_const_int, "12", 0},
        {"1_0.5e-3", SUB_const_float, "10.5e-3", 0},
        {"1.e5", SUB_const_float, "1.e5", 0},
        {"2.5J", SUB_const_imaginary, "2.5", 0},
        {"3j", SUB_const_imaginary, "3", 0},
};

START_TEST(literals_have_their_values)
{
	const struct literal_case *c = &literal_cases[_i];
	struct text text = {.arena = &arena};
	const struct ir_inst *inst;
	size_t length, expected = c->length ? c->length : strlen(c->value);
	const char *chars;

	text_print(&text, "x = %s\n", c->source);
	lower(text_chars(&text));
	inst = inst_of(func_at(1), OP_const, 0);
	chars = intern_chars(names, (sym_id){inst->name}, &length);
	ck_assert_int_eq(inst->sub, c->sub);
	ck_assert_uint_eq(length, expected);
	ck_assert_int_eq(memcmp(chars, c->value, expected), 0);
}
END_TEST

START_TEST(spans_are_those_of_the_expressions)
{
	lower("total[i + 1] = (f(x, *y).z)  # c\n");
	ck_source(inst_of(func_at(1), OP_store_item, 0)->span, "total[i + 1]");
	ck_source(inst_of(func_at(1), OP_call, 0)->span, "f(x, *y)");
	ck_source(inst_of(func_at(1), OP_load_attr, 0)->span, "f(x, *y).z");
	ck_source(inst_of(func_at(1), OP_binary, 0)->span, "i + 1");
	ck_assert_uint_eq(lowered.comments.count, 1);
	ck_source(lowered.comments.at[0].span, "# c");
}
END_TEST

START_TEST(comments_are_found_everywhere)
{
	lower("#!x\nf(a, # one\n  b) # two\nif x: # three\n    pass\n    # four\ns = '# none'\n");
	ck_assert_uint_eq(lowered.comments.count, 5);
	ck_source(lowered.comments.at[1].span, "# one");
	ck_source(lowered.comments.at[4].span, "# four");
}
END_TEST

START_TEST(variables_are_captured_through_functions)
{
	const struct ir_func *inner;

	lower("def f(a):\n def g():\n  def h(): return a\n  return h\n return g\n");
	ck_assert_int_eq(func_at(2)->slots.at[1].kind, SLOT_CELL);
	ck_assert_int_eq(func_at(3)->slots.at[2].kind, SLOT_FREE);
	inner = func_at(4);
	ck_assert_int_eq(inner->slots.at[1].kind, SLOT_FREE);
	ck_assert_uint_eq(inner->slots.at[1].outer.n, 2);
	ck_assert_str_eq(name_of(inner->qualified.n), "f.<locals>.g.<locals>.h");
}
END_TEST

START_TEST(walrus_binds_outside_comprehensions)
{
	lower("def f(xs):\n any((y := x) for x in xs)\n return y\n");
	ck_assert_str_eq(name_of(func_at(2)->slots.at[2].name.n), "y");
	ck_assert_int_eq(func_at(2)->slots.at[2].kind, SLOT_CELL);
	lower("[y := x for x in xs]\n");
	ck_assert_int_eq(inst_of(func_at(2), OP_store, 3)->sub, SUB_scope_global);
}
END_TEST

START_TEST(class_names_are_no_closure)
{
	lower("class A:\n x = 1\n def f(self): return x, __class__\n");
	ck_assert_int_eq(inst_of(func_at(3), OP_load, 0)->sub, SUB_scope_global);
	ck_assert_int_eq(inst_of(func_at(3), OP_load, 1)->sub, SUB_scope_slot);
	ck_assert_int_eq(func_at(2)->slots.at[1].kind, SLOT_CELL);
}
END_TEST

START_TEST(parameters_and_defaults)
{
	const struct ir_func *func;

	lower("def f(a, /, b: List[ int ]=1, *c, d=2, e, **g) -> 'T': pass\n");
	func = func_at(2);
	ck_assert_uint_eq(func->params.count, 6);
	ck_assert_int_eq(func->params.at[0].kind, PARAM_POSITIONAL_ONLY);
	ck_assert_int_eq(func->params.at[1].kind, PARAM_POSITIONAL);
	ck_assert_int_eq(func->params.at[2].kind, PARAM_VAR_POSITIONAL);
	ck_assert_int_eq(func->params.at[3].kind, PARAM_KEYWORD_ONLY);
	ck_assert_int_eq(func->params.at[5].kind, PARAM_VAR_KEYWORD);
	ck_assert(func->params.at[1].has_default && !func->params.at[4].has_default);
	ck_assert_str_eq(name_of(func->params.at[1].annotation.n), "List[int]");
	ck_assert_str_eq(name_of(func->returns.n), "'T'");
	ck_assert_uint_eq(inst_of(func_at(1), OP_function, 0)->nargs, 2);
}
END_TEST

/* Keywords wait for all positional arguments. */
START_TEST(arguments_are_evaluated_in_order)
{
	const struct ir_func *func;
	const struct ir_arg *args;

	lower("f(k=a(), *b(), **c())\n");
	func = func_at(1);
	ck_source(inst_of(func, OP_call, 0)->span, "b()");
	ck_source(inst_of(func, OP_call, 1)->span, "a()");
	args = ir_args(func, inst_of(func, OP_call, 3));
	ck_assert(sym_is(args[1].keyword, SYM_star));
	ck_assert_str_eq(name_of(args[2].keyword.n), "k");
	ck_assert(sym_is(args[3].keyword, SYM_double_star));
}
END_TEST

START_TEST(finally_is_lowered_for_every_way_out)
{
	lower("def f():\n for x in y:\n  try:\n   if a: return 1\n   if b: break\n   if c: "
	      "continue\n"
	      "  finally: done()\n");
	/* return, break, continue, the normal way and the exception */
	ck_assert_uint_eq(count_of(func_at(2), OP_call), 5);
}
END_TEST

START_TEST(functions_in_finally_are_lowered_once)
{
	lower("try:\n f()\nfinally:\n def g(): pass\n h = lambda: [x for x in y]\n");
	ck_assert_uint_eq(lowered.module->funcs.count, 5);
	ck_assert_uint_eq(count_of(func_at(1), OP_function), 4);
}
END_TEST

START_TEST(broken_code_leaves_the_rest)
{
	lower("import torch\nx = = 3\ndef fine(y):\n    return y.detach()\n");
	ck_assert(lowered.has_error);
	ck_assert_uint_ge(lowered.module->gaps.count, 1);
	ck_assert_str_eq(name_of(func_at(2)->name.n), "fine");
	ck_assert_uint_eq(count_of(func_at(2), OP_load_attr), 1);
	ck_assert_uint_ge(count_of(func_at(1), OP_unknown), 1);
}
END_TEST

START_TEST(sound_code_has_no_gaps)
{
	lower("match x:\n case [1, *_]: pass\nprint >>f, x\ntype A[T] = T\n");
	ck_assert_uint_eq(lowered.module->gaps.count, 0);
	ck_assert(!lowered.has_error);
}
END_TEST

static void repeat(struct text *text, const char *piece, uint32_t times)
{
	for (uint32_t i = 0; i < times; i++)
		text_add_chars(text, piece);
}

static const struct nest {
	const char *before, *open, *middle, *close;
} nests[] = {
        {"x = ", "(", "1", ")"},
        {"x = ", "[", "1", "]"},
        {"x = ", "f(", "1", ")"},
        {"x = ", "-", "1", ""},
        {"x = ", "not ", "1", ""},
        {"x = ", "lambda: ", "1", ""},
        {"x = ", "a if b else ", "c", ""},
        {"x = ", "[a for b in ", "c", "]"},
        {"x = ", "{1: ", "c", "}"},
        {"x = ", "await ", "c", ""},
        {"x = ", "(", "", ""},
        {"", "(", "a", ")"},
        {"", "with a: ", "b", ""},
        {"x = ", "f'{", "1", "}'"},
        {"match x:\n case ", "[", "y", "]"},
        {"x = a", ".b(c)[d] + e", "", ""},
        {"x = a", " and b", "", ""},
        {"if a", " < b", ": pass", ""},
        {"x = a", " or b", "", ""},
};

START_TEST(ten_thousand_levels_are_no_danger)
{
	const struct nest *nest = &nests[_i];
	struct text text = {.arena = &arena};

	text_add_chars(&text, nest->before);
	repeat(&text, nest->open, 10000);
	text_add_chars(&text, nest->middle);
	repeat(&text, nest->close, 10000);
	text_add_char(&text, '\n');
	lower_bytes(text_chars(&text), text.length);
}
END_TEST

START_TEST(deep_blocks_are_no_danger)
{
	struct text text = {.arena = &arena};

	for (uint32_t i = 0; i < 1000; i++) {
		text_add_repeated(&text, ' ', i);
		text_add_chars(&text, i % 3 ? "if x:\n" : "try:\n");
	}
	lower_bytes(text_chars(&text), text.length);
	ck_assert_uint_ge(lowered.module->gaps.count, 1);
}
END_TEST

/* Each level would double what is lowered. */
START_TEST(nested_finally_blocks_are_bounded)
{
	struct text text = {.arena = &arena};

	for (uint32_t i = 0; i < 90; i++) {
		text_add_repeated(&text, ' ', i);
		text_add_chars(&text, "try: a()\n");
		text_add_repeated(&text, ' ', i);
		text_add_chars(&text, "finally:\n");
	}
	text_add_repeated(&text, ' ', 90);
	text_add_chars(&text, "b()\n");
	lower_bytes(text_chars(&text), text.length);
	ck_assert_uint_ge(lowered.module->gaps.count, 1);
	ck_assert_uint_lt(func_at(1)->insts.count, 2000000);
}
END_TEST

static const struct wide {
	const char *open, *piece, *close;
} wides[] = {
        {"x = [", "1,", "]"},           {"x = {", "1:2,", "}"},  {"x = {", "1,", "}"},
        {"x = f(", "*a, b,", ")"},      {"x = f'", "{a} ", "'"}, {"", "a, ", "= b"},
        {"from m import ", "a, ", "b"}, {"del ", "a, ", "b"},
};

START_TEST(instructions_have_a_largest_size)
{
	const struct wide *wide = &wides[_i];
	struct text text = {.arena = &arena};

	text_add_chars(&text, wide->open);
	repeat(&text, wide->piece, 70000);
	text_add_chars(&text, wide->close);
	text_add_char(&text, '\n');
	lower_bytes(text_chars(&text), text.length);
}
END_TEST

START_TEST(any_bytes_will_do)
{
	static const char bytes[] = "x = 1\0\0y = '\xff\xfe'\n\x80(\n\0def f(:\n\tlambda\xc3\x28";

	lower_bytes(bytes, sizeof(bytes) - 1);
	lower_bytes("", 0);
	lower_bytes("\n", 1);
	lower_bytes("\xef\xbb\xbfx = 1", 8);
	ck_assert_uint_eq(func_at(1)->kind, FUNC_MODULE);
}
END_TEST

START_TEST(front_ends_are_found_by_suffix)
{
	ck_assert_ptr_eq(front_end_find("a/b.py"), &python_front_end);
	ck_assert_ptr_eq(front_end_find("b.ipynb"), &python_front_end);
	ck_assert_ptr_null(front_end_find("b.pyc"));
	ck_assert_ptr_null(front_end_find(".py"));
	ck_assert_ptr_null(front_end_find(""));
}
END_TEST

/* --- texts much like one whose syntax is known */

static const char *dump_of(const char *text, struct front_syntax *known)
{
	struct source_problem problem;
	struct source *made = source_from_bytes(&arena, "x.py", text, strlen(text), &problem);
	struct text out = {.arena = &arena};
	struct front_result result;

	ck_assert_ptr_nonnull(made);
	result = python_front_end.lower(&arena, names, made, known);
	ir_dump(result.module, &out);
	text_add_chars(&out, result.has_error ? "error" : "");
	return text_chars(&out);
}

static const char like_text[] = "import torch\n"
                                "class Trainer:\n"
                                "    def step(self, batch, *, scale=1.0):\n"
                                "        with torch.no_grad():\n"
                                "            seen = [b * 2 for b in batch if b is not None]\n"
                                "        loss = self.model(batch)['loss'] # of it\n"
                                "        if scale > 1 and not seen:\n"
                                "            loss = loss / scale\n"
                                "        else:\n"
                                "            self.log(f\"{loss:.3f} {scale!r}\",\n"
                                "                     '''two\nlines''')\n"
                                "        try:\n"
                                "            self.history.append(loss)\n"
                                "        except (ValueError, TypeError) as error:\n"
                                "            raise RuntimeError from error\n"
                                "        return loss.item()\n"
                                "for epoch in range(3):\n"
                                "    total = 0.0\n"
                                "    while total < 9: total += Trainer().step([epoch])\n"
                                "print(total)\n";

/* At each offset something is put in, taken out or put in the place of something. */
START_TEST(edited_text_lowers_as_if_it_were_new)
{
	static const char *const put[] = {"", ".detach()", "\n        pass", "(", "\n", "'", "# "};
	struct source_problem problem;
	struct front_syntax known = {.source = source_from_bytes(&arena, "x.py", like_text,
	                                                         sizeof(like_text) - 1, &problem)};

	for (size_t at = 0; at < sizeof(like_text) - 1; at++) {
		const size_t gone = at * 7 % 23, rest = sizeof(like_text) - 1 - at;
		struct text text = {.arena = &arena};

		text_add(&text, like_text, at);
		text_add_chars(&text, put[at % (sizeof(put) / sizeof(put[0]))]);
		text_add_chars(&text, like_text + at + (gone < rest ? gone : rest));
		ck_assert_str_eq(dump_of(text_chars(&text), &known),
		                 dump_of(text_chars(&text), NULL));
	}
	front_syntax_release(&known);
}
END_TEST

#define COUNT(array) (int)(sizeof(array) / sizeof((array)[0]))

Suite *python_lower_suite(void)
{
	Suite *suite = suite_create("python_lower");
	TCase *tc = tcase_create("lower");
	TCase *size = tcase_create("size");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, literals_have_their_values, 0, COUNT(literal_cases));
	tcase_add_test(tc, spans_are_those_of_the_expressions);
	tcase_add_test(tc, comments_are_found_everywhere);
	tcase_add_test(tc, variables_are_captured_through_functions);
	tcase_add_test(tc, walrus_binds_outside_comprehensions);
	tcase_add_test(tc, class_names_are_no_closure);
	tcase_add_test(tc, parameters_and_defaults);
	tcase_add_test(tc, arguments_are_evaluated_in_order);
	tcase_add_test(tc, finally_is_lowered_for_every_way_out);
	tcase_add_test(tc, functions_in_finally_are_lowered_once);
	tcase_add_test(tc, broken_code_leaves_the_rest);
	tcase_add_test(tc, sound_code_has_no_gaps);
	tcase_add_test(tc, any_bytes_will_do);
	tcase_add_test(tc, edited_text_lowers_as_if_it_were_new);
	tcase_add_test(tc, front_ends_are_found_by_suffix);
	suite_add_tcase(suite, tc);
	tcase_add_checked_fixture(size, setup, teardown);
	tcase_set_timeout(size, 60);
	tcase_add_loop_test(size, ten_thousand_levels_are_no_danger, 0, COUNT(nests));
	tcase_add_test(size, deep_blocks_are_no_danger);
	tcase_add_test(size, nested_finally_blocks_are_bounded);
	tcase_add_loop_test(size, instructions_have_a_largest_size, 0, COUNT(wides));
	suite_add_tcase(suite, size);
	return suite;
}
