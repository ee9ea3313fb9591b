/* `graphlint memory` as people run it. */

#include <check.h>
#include <jansson.h>
#include <string.h>

#include "tests/program.h"
#include "tests/temp_tree.h"

/* Many rows, so that activations outweigh the rest. */
static const char train[] =
        "import torch\n"
        "from torch import nn\n"
        "\n"
        "batch_size = 512\n"
        "model = nn.Sequential(*[nn.Sequential(nn.Linear(32, 64), nn.Tanh(), nn.Linear(64, 32))\n"
        "                        for _ in range(4)])\n"
        "optimizer = torch.optim.Adam(model.parameters())\n"
        "for step in range(10):\n"
        "    x = torch.randn(batch_size, 32)\n"
        "    loss = model(x).pow(2).mean()\n"
        "    optimizer.zero_grad()\n"
        "    loss.backward()\n"
        "    optimizer.step()\n";

static struct arena arena;

static void enter(void)
{
	temp_tree_enter();
	temp_tree_add_text("train.py", train);
	temp_tree_add_text("clean.py", "print(1)\n");
	temp_tree_add_text("images.py", "import torch\nfrom torch import nn\n"
	                                "net = nn.Conv2d(3, 4, 3)\n"
	                                "for step in range(3):\n"
	                                "    net(torch.randn(2, 3, 8, 8)).sum().backward()\n");
	temp_tree_add_text(
	        "raises.py",
	        "import torch\nfor i in range(3):\n    if i == 0:\n        raise OSError('no')\n");
}

static void release(void)
{
	temp_tree_leave();
	arena_release(&arena);
}

static const struct {
	const char *arguments;
	int status;
	const char *has, *error;
} cases[] = {
        {"memory train.py", 0, "  optimizer  ", NULL},
        {"memory train.py", 0, "batch of 256 instead of 512", NULL},
        {"memory images.py", 0, "the peak is without what oneDNN's convolutions", NULL},
        {"memory images.py --format json", 0, "\"peak_without_onednn\": true", NULL},
        {"memory train.py --format json", 0, "\"peak_without_onednn\": false", NULL},
        {"memory train.py:8", 0, "train.py:8: `for step in range(10):`, step 3", NULL},
        {"memory train.py --format json", 0, "\"peak\": {", NULL},
        {"memory train.py --color always", 0, "\x1b[", NULL},
        {"memory", 2, NULL, "which file?"},
        {"memory train.py clean.py", 2, NULL, "one file at a time"},
        {"memory clean.py", 2, NULL, "there is no loop to replay"},
        {"memory raises.py", 2, NULL, "OSError: no"},
        {"memory missing.py", 2, NULL, "missing.py"},
        {"memory train.py --format svg", 2, NULL, "must be one of text|json"},
};

START_TEST(the_command_does_what_it_says)
{
	struct program_run run = program_run(&arena, NULL, cases[_i].arguments);

	ck_assert_int_eq(run.status, cases[_i].status);
	ck_assert_msg(!cases[_i].has || strstr(run.out, cases[_i].has), "%s", run.out);
	ck_assert_msg(!cases[_i].error || strstr(run.err, cases[_i].error), "%s", run.err);
}
END_TEST

static json_int_t bytes_of(const json_t *step, const char *when, const char *kind)
{
	const json_t *at = json_object_get(step, when);
	const json_t *figure = kind ? json_object_get(json_object_get(at, "by_kind"), kind)
	                            : json_object_get(at, "bytes");

	ck_assert(json_is_integer(figure));
	return json_integer_value(figure);
}

/* 4 x (32 x 64 + 64 + 64 x 32 + 32) numbers of four bytes; Adam keeps two of each
 * and a count for each of the 16 tensors. */
enum { PARAMETERS = 4 * 4192 * 4, OPTIMIZER = 2 * PARAMETERS + 16 * 4 };

START_TEST(figures_are_those_of_the_program)
{
	struct program_run run = program_run(&arena, NULL, "memory train.py --format json");
	json_t *root = json_loads(run.out, 0, NULL);
	json_int_t sum = 0;
	const char *kind;
	const json_t *figure;

	ck_assert_ptr_nonnull(root);
	ck_assert_int_eq(bytes_of(root, "peak", "parameter"), PARAMETERS);
	ck_assert_int_eq(bytes_of(root, "end", "gradient"), PARAMETERS);
	ck_assert_int_eq(bytes_of(root, "end", "optimizer"), OPTIMIZER);
	ck_assert_int_gt(bytes_of(root, "peak", NULL), bytes_of(root, "end", NULL));
	json_object_foreach(json_object_get(json_object_get(root, "peak"), "by_kind"), kind, figure)
	        sum += json_integer_value(figure);
	ck_assert_int_eq(sum, bytes_of(root, "peak", NULL));
	json_decref(root);
}
END_TEST

static const json_t *change(const json_t *root, const char *name)
{
	const json_t *one;
	size_t i;

	json_array_foreach(json_object_get(root, "changes"), i, one)
	{
		if (strstr(json_string_value(json_object_get(one, "change")), name))
			return one;
	}
	ck_abort_msg("no change is called %s", name);
	return NULL;
}

START_TEST(changes_are_computed)
{
	struct program_run run = program_run(&arena, NULL, "memory train.py --format json");
	json_t *root = json_loads(run.out, 0, NULL);
	const json_t *half, *narrow;

	ck_assert_ptr_nonnull(root);
	half = change(root, "batch of 256");
	narrow = change(root, "everything in bfloat16");
	ck_assert_int_eq(bytes_of(half, "peak", "parameter"), PARAMETERS);
	ck_assert_int_eq(bytes_of(half, "peak", "activation") * 2,
	                 bytes_of(root, "peak", "activation"));
	ck_assert_int_eq(bytes_of(narrow, "peak", "parameter") * 2, PARAMETERS);
	ck_assert_int_lt(bytes_of(change(root, "checkpointing"), "peak", "activation"),
	                 bytes_of(root, "peak", "activation"));
	json_decref(root);
}
END_TEST

Suite *memory_command_suite(void);

Suite *memory_command_suite(void)
{
	Suite *suite = suite_create("memory_command");
	TCase *tests = tcase_create("memory_command");

	tcase_add_checked_fixture(tests, enter, release);
	tcase_add_loop_test(tests, the_command_does_what_it_says, 0,
	                    (int)(sizeof(cases) / sizeof(cases[0])));
	tcase_add_test(tests, figures_are_those_of_the_program);
	tcase_add_test(tests, changes_are_computed);
	suite_add_tcase(suite, tests);
	return suite;
}
