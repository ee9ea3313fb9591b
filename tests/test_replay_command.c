/* `graphlint replay` as people run it, on programs of all kinds. */

#include <check.h>
#include <jansson.h>
#include <string.h>

#include "tests/program.h"
#include "tests/temp_tree.h"

static const char leak[] = "import torch\n"
                           "kept = []\n"
                           "for step in range(100):\n"
                           "    kept.append(torch.ones(9, requires_grad=True) * 2)\n";

static const char flat[] = "import torch\n"
                           "weight = torch.ones(3, requires_grad=True)\n"
                           "total = 0\n"
                           "for step in range(30):\n"
                           "    (weight * 2).sum().backward()\n"
                           "    weight.grad = None\n"
                           "    total += 1\n"
                           "print(total)\n";

static const char window[] = "import torch\n"
                             "from collections import deque\n"
                             "weight = torch.ones(3, requires_grad=True)\n"
                             "last = deque(maxlen=9)\n"
                             "for step in range(30):\n"
                             "    last.append((weight * 2).sum())\n";

static const char seldom[] = "import torch\n"
                             "weight = torch.ones(3, requires_grad=True)\n"
                             "kept = []\n"
                             "for step in range(1000):\n"
                             "    if step % 15 == 14:\n"
                             "        kept.append((weight * 2).sum())\n";

static const char blind[] = "import nowhere\n"
                            "for batch in nowhere.batches():\n"
                            "    for part in range(9):\n"
                            "        nowhere.step(batch).backward()\n";

static const char raises[] = "import torch\n"
                             "kept = torch.ones(0)\n"
                             "for i in range(9):\n"
                             "    if i == 6:\n"
                             "        raise ValueError('enough')\n"
                             "    kept = torch.ones(i + 1)\n";

/* It does not get as far as its loop without what it imports. */
static const char refuses[] = "import torch\n"
                              "import elsewhere\n"
                              "if not isinstance(elsewhere.space, elsewhere.Discrete):\n"
                              "    print('only discrete')\n"
                              "    exit(1)\n"
                              "kept = []\n"
                              "for i in range(20):\n"
                              "    kept.append(torch.ones(3, requires_grad=True) * 2)\n";

static const char fails[] = "import torch\n"
                            "kept = []\n"
                            "for i in range(20):\n"
                            "    kept.append(torch.ones(3, requires_grad=True) * 2)\n"
                            "    kept[0].no_such_thing()\n";

static const char uses[] = "import torch\n"
                           "from part import twice\n"
                           "kept = []\n"
                           "for i in range(9):\n"
                           "    kept.append(twice(torch.ones(4, requires_grad=True)))\n";

static const char engine[] = "def fit(weight, rows, kept):\n"
                             "    for x in rows:\n"
                             "        loss = (weight * x).sum()\n"
                             "        loss.backward()\n"
                             "        kept.append(loss)\n";

/* The loop that fills the rows is not the one that trains. */
static const char driver[] = "import torch\n"
                             "from engine import fit\n"
                             "weight, rows = torch.ones(3, requires_grad=True), []\n"
                             "for i in range(20):\n"
                             "    rows.append(torch.ones(3))\n"
                             "fit(weight, rows, [])\n";

static const char trains[] = "import torch\n"
                             "from engine import fit\n"
                             "weight = torch.ones(3, requires_grad=True)\n"
                             "fit(weight, [torch.ones(3)], [])\n"
                             "for i in range(20):\n"
                             "    (weight * 2).sum().backward()\n";

static const char infers[] = "import torch\n"
                             "import engine\n"
                             "rows = []\n"
                             "for i in range(20):\n"
                             "    rows.append(torch.ones(3))\n";

static const char loop_book[] = "{\"cells\": [{\"cell_type\": \"code\", \"metadata\": {}, "
                                "\"source\": [\"import torch\\n\"]},\n"
                                "{\"cell_type\": \"code\", \"metadata\": {}, \"source\": "
                                "[\"for i in range(9):\\n\", \"    x = torch.ones(3)\"]}],\n"
                                "\"metadata\": {}, \"nbformat\": 4, \"nbformat_minor\": 5}\n";

static struct arena arena;

static void enter(void)
{
	temp_tree_enter();
	temp_tree_add_text("leak.py", leak);
	temp_tree_add_text("flat.py", flat);
	temp_tree_add_text("window.py", window);
	temp_tree_add_text("seldom.py", seldom);
	temp_tree_add_text("blind.py", blind);
	temp_tree_add_text("raises.py", raises);
	temp_tree_add_text("refuses.py", refuses);
	temp_tree_add_text("fails.py", fails);
	temp_tree_add_text("sub/uses.py", uses);
	temp_tree_add_text("sub/part.py", "def twice(x):\n    return x * 2\n");
	temp_tree_add_text("sub/engine.py", engine);
	temp_tree_add_text("sub/driver.py", driver);
	temp_tree_add_text("sub/trains.py", trains);
	temp_tree_add_text("sub/infers.py", infers);
	temp_tree_add_text("loop.ipynb", loop_book);
	temp_tree_add_text("clean.py", "import torch\n\nprint(torch.ones(3).sum().item())\n");
	temp_tree_add_text("notes.txt", "hello\n");
}

static void release(void)
{
	temp_tree_leave();
	arena_release(&arena);
}

/* As in test_app.c: status, what standard output has and lacks, what is said. */
static const struct {
	const char *arguments;
	int status;
	const char *has, *lacks, *error;
} cases[] = {
        {"replay flat.py --assert flat", 0, "flat: holds", "held by", NULL},
        {"replay sub/part.py:2 --steps 5", 0, "`return x * 2`, its function called 5 times", NULL,
         NULL},
        {"replay flat.py --output --format svg", 2, NULL, NULL, "--output has no place in svg"},
        {"replay flat.py --output --format html", 0, "What it prints", NULL, NULL},
        {"replay seldom.py", 0, "it repeats every 15 steps", NULL, NULL},
        {"replay seldom.py --steps 32", 0, "replayed 32 steps", NULL, NULL},
        {"replay leak.py", 0,
         "kept.append((torch.ones(9, requires_grad=True) * 2).detach())`: nodes flat", NULL, NULL},
        {"replay leak.py --format json", 0, "\"after\": {", NULL, NULL},
        {"replay leak.py --format html", 0, "After the fix", "src=", NULL},
        {"replay flat.py --format html", 0, "Live memory", "After the fix", NULL},
        {"replay flat.py --output", 0, "30\n", "live bytes", NULL},
        {"replay flat.py --output --format json", 0, "\"output\": \"30\\n\"", NULL, NULL},
        {"replay window.py --assert flat", 1, "flat: does not hold", NULL, NULL},
        {"replay window.py --assert bounded", 0, "bounded: holds", NULL, NULL},
        {"replay blind.py", 0, "stood in for: module nowhere", NULL, NULL},
        {"replay blind.py --assert flat", 2, "flat: cannot be told", NULL, NULL},
        {"replay sub/uses.py", 0, "sub/part.py:2", NULL, NULL},
        {"replay sub/driver.py", 0,
         "sub/engine.py:2: `for x in rows:` in fit, replayed 12 steps, run by sub/driver.py", NULL,
         NULL},
        {"replay sub/driver.py", 0, "sub/engine.py:5  `kept.append(loss.detach())`", NULL, NULL},
        {"replay sub/driver.py --format json", 0,
         "\"filename\": \"sub/driver.py\",\n  \"loop\": {\n    \"filename\": "
         "\"sub/engine.py\",\n    \"line\": 2",
         NULL, NULL},
        {"replay sub/driver.py --format html", 0, "run by sub/driver.py", NULL, NULL},
        {"replay sub/driver.py:4", 0, "sub/driver.py:4: `for i in range(20):`", "run by", NULL},
        {"replay sub/trains.py", 0, "sub/trains.py:5: `for i in range(20):`", "run by", NULL},
        {"replay sub/infers.py", 0, "sub/infers.py:4: `for i in range(20):`", "run by", NULL},
        {"memory sub/driver.py", 0,
         "sub/engine.py:2: `for x in rows:`, step 3, run by sub/driver.py", NULL, NULL},
        {"replay loop.ipynb:4:3", 2, NULL, NULL, "loop.ipynb has no line 3 in a code cell 4"},
        {"replay loop.ipynb:1", 2, NULL, NULL, "name the cell, too, as in loop.ipynb:3:1"},
        {"replay loop.ipynb:2:2", 0, "loop.ipynb:cell 2:1: `for i in range(9):`", NULL, NULL},
        {"replay clean.py", 2, NULL, NULL, "clean.py: there is no loop to replay"},
        {"replay clean.py --output", 0, "3.0\n", NULL, NULL},
        {"replay raises.py", 0, "bytes   linear, +4 B per step", NULL, "ValueError: enough"},
        {"replay refuses.py", 0, "nodes   linear, +2 nodes per step", NULL,
         "replayed with stand-ins for what ends it"},
        {"replay fails.py", 0, "structural", NULL, "has no attribute 'no_such_thing'"},
        {"replay fails.py --format json", 0,
         "\"error\": \"AttributeError: 'Tensor' object has no attribute 'no_such_thing'\"", NULL,
         "replayed with stand-ins"},
        {"replay fails.py --assert flat", 1, "flat: does not hold", NULL,
         "replayed with stand-ins"},
        {"replay fails.py --output", 2, NULL, NULL, "no_such_thing"},
        {"replay raises.py --output", 2, NULL, NULL, "ValueError: enough"},
        {"replay missing.py:3", 2, NULL, NULL, "missing.py: No such file or directory"},
        {"replay notes.txt", 2, NULL, NULL, "only Python and notebooks can be replayed"},
        {"replay", 2, NULL, NULL, "which file?"},
        {"replay leak.py flat.py", 2, NULL, NULL, "one file at a time"},
};

START_TEST(a_replay_does_what_it_says)
{
	struct program_run result = program_run(&arena, NULL, cases[_i].arguments);
	const char *call = cases[_i].arguments;

	ck_assert_msg(result.status == cases[_i].status, "`%s` exits with %d\n%s%s", call,
	              result.status, result.out, result.err);
	ck_assert_msg(!cases[_i].has || strstr(result.out, cases[_i].has), "`%s` prints:\n%s", call,
	              result.out);
	ck_assert_msg(!cases[_i].lacks || !strstr(result.out, cases[_i].lacks), "`%s` prints:\n%s",
	              call, result.out);
	ck_assert_msg(!cases[_i].error || strstr(result.err, cases[_i].error), "`%s` says:\n%s",
	              call, result.err);
	ck_assert_msg(cases[_i].error || !*result.err, "`%s` says:\n%s", call, result.err);
}
END_TEST

START_TEST(standard_input_is_replayed)
{
	struct program_run plain = program_run(&arena, window, "replay - --assert bounded");
	struct program_run named =
	        program_run(&arena, uses, "replay --stdin-filename sub/typed.py -- -:5");

	ck_assert_int_eq(plain.status, 0);
	ck_assert_ptr_nonnull(strstr(plain.out, "stdin.py:5: "));
	ck_assert_int_eq(named.status, 0);
	ck_assert_ptr_nonnull(strstr(named.out, "sub/typed.py:4: "));
	ck_assert_ptr_nonnull(strstr(named.out, "exact"));
}
END_TEST

static const char tags[] = "import torch\n"
                           "kept = []\n"
                           "weight = torch.ones(9, requires_grad=True)\n"
                           "for step in [str(i) + '<b>&' for i in range(30)]:\n"
                           "    kept.append(weight.exp())  # <script>\n";

static json_t *replayed(const char *arguments)
{
	struct program_run result = program_run(&arena, NULL, arguments);
	json_t *document = json_loads(result.out, JSON_REJECT_DUPLICATES, NULL);

	ck_assert_msg(document != NULL, "`%s` prints:\n%s", arguments, result.out);
	return document;
}

static json_int_t at(const json_t *series, size_t index)
{
	return json_integer_value(json_array_get(series, index));
}

static void check_series(const json_t *document, size_t count)
{
	static const char *const names[] = {"live_bytes", "storages", "tensors", "nodes"};

	ck_assert_uint_eq(count,
	                  (size_t)json_integer_value(json_object_get(document, "iterations")));
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		ck_assert_uint_eq(json_array_size(json_object_get(document, names[i])), count);
}

START_TEST(kinds_of_memory_add_up)
{
	json_t *document = replayed("replay sub/uses.py -f json"), *series;
	const json_t *live = json_object_get(document, "live_bytes");
	const char *name;

	check_series(document, 9);
	for (size_t i = 0; i < 9; i++) {
		json_int_t sum = 0;

		json_object_foreach(json_object_get(document, "by_kind"), name, series) sum +=
		        at(series, i);
		ck_assert_int_eq(sum, at(live, i));
	}
	ck_assert_int_gt(at(live, 8), at(live, 0));
	json_decref(document);
}
END_TEST

START_TEST(json_says_what_holds_it)
{
	json_t *document = replayed("replay sub/uses.py -f json --assert flat");
	const json_t *chain = json_object_get(document, "retained_by");
	const json_t *last = json_array_get(chain, json_array_size(chain) - 1);
	const json_t *verdict = json_object_get(document, "verdict");

	ck_assert_str_eq(json_string_value(json_object_get(document, "mode")), "exact");
	ck_assert_str_eq(json_string_value(json_object_get(verdict, "kind")), "linear");
	ck_assert(json_is_false(json_object_get(json_object_get(document, "assert"), "holds")));
	ck_assert_str_eq(json_string_value(json_object_get(last, "filename")), "sub/part.py");
	ck_assert_int_eq(json_integer_value(json_object_get(last, "line")), 2);
	json_decref(document);
	document = replayed("replay flat.py -f json");
	ck_assert_uint_eq(json_array_size(json_object_get(document, "retained_by")), 0);
	json_decref(document);
}
END_TEST

START_TEST(pages_need_nothing_and_run_nothing)
{
	struct program_run page;

	temp_tree_add_text("tags.py", tags);
	page = program_run(&arena, NULL, "replay tags.py -f html");
	ck_assert_int_eq(page.status, 0);
	ck_assert_ptr_nonnull(strstr(page.out, "<svg "));
	ck_assert_ptr_nonnull(strstr(page.out, "class=\"holds\""));
	ck_assert_ptr_nonnull(strstr(page.out, "&lt;script&gt;"));
	ck_assert_ptr_null(strstr(page.out, "<script"));
	ck_assert_ptr_null(strstr(page.out, "<b>&"));
	ck_assert_ptr_null(strstr(page.out, "src="));
	ck_assert_ptr_null(strstr(page.out, "url("));
	ck_assert_ptr_null(strstr(page.out, "href="));
}
END_TEST

START_TEST(long_and_equal_rows_are_left_out)
{
	struct program_run flat_run = program_run(&arena, NULL, "replay flat.py");
	struct program_run grown = program_run(&arena, NULL, "replay leak.py --steps 100");

	ck_assert_ptr_nonnull(strstr(flat_run.out, "more steps, the same\n    30  "));
	ck_assert_ptr_nonnull(strstr(grown.out, "80 more steps\n    93  "));
}
END_TEST

Suite *replay_command_suite(void);

Suite *replay_command_suite(void)
{
	Suite *suite = suite_create("replay_command");
	TCase *tests = tcase_create("replay_command");

	tcase_set_timeout(tests, 60);
	tcase_add_checked_fixture(tests, enter, release);
	tcase_add_loop_test(tests, a_replay_does_what_it_says, 0,
	                    (int)(sizeof(cases) / sizeof(cases[0])));
	tcase_add_test(tests, standard_input_is_replayed);
	tcase_add_test(tests, kinds_of_memory_add_up);
	tcase_add_test(tests, json_says_what_holds_it);
	tcase_add_test(tests, pages_need_nothing_and_run_nothing);
	tcase_add_test(tests, long_and_equal_rows_are_left_out);
	suite_add_tcase(suite, tests);
	return suite;
}
