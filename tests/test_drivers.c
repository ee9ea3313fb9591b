/* Findings in files that others import: replayed from the loops that come by them, with
 * what those give, and fixed there. */

#include <check.h>
#include <string.h>
#include <unistd.h>

#include "tests/program.h"
#include "tests/temp_tree.h"

#define STEP                                                                                       \
	"import torch\n\n\nclass Trainer:\n    def __init__(self, model):\n"                       \
	"        self.model = model\n        self.history = []\n\n"                                \
	"    def step(self, x):\n        loss = self.model(x).pow(2).mean()\n"                     \
	"        loss.backward()\n        self.model.zero_grad()\n"

#define NET "import torch\nnet = torch.nn.Linear(6, 2)\nkept = {}\nhistory = []\n"
#define LOSS                                                                                       \
	"    loss = net(torch.randn(8, 6)).pow(2).mean()\n    net.zero_grad()\n"                   \
	"    loss.backward()\n"
#define LOOP "for i in range(40):\n" LOSS

/* What must be in the report, and what must not. */
static const struct {
	const char *imported, *program, *has, *lacks;
} cases[] = {
        {"def record(kept, loss):\n    kept.append(loss)\n",
         "from imported import record\n" NET LOOP "    record(history, loss)\n",
         "steps of the loop at program.py:6 (exact): ", NULL},
        {"def record(kept, loss):\n    kept.append(loss)\n",
         "from imported import record\n" NET LOOP "    record(history, loss)\n",
         "fix (safe): `kept.append(loss.detach())`, replayed: nodes flat, 4 B per step", NULL},
        {"def record(kept, loss):\n    kept.append(loss.item())\n",
         "from imported import record\n" NET LOOP "    record(history, loss)\n", "No findings",
         NULL},
        /* a method of what the program makes */
        {STEP "        self.history.append(loss)\n",
         "from imported import Trainer\n" NET "trainer = Trainer(net)\nfor epoch in range(3):\n"
         "    for i in range(40):\n        trainer.step(torch.randn(8, 6))\n",
         "the loop at program.py:8 (exact): ", "stood in"},
        {STEP "        self.history.append(loss)\n",
         "from imported import Trainer\n" NET "trainer = Trainer(net)\nfor epoch in range(3):\n"
         "    for i in range(40):\n        trainer.step(torch.randn(8, 6))\n",
         "`self.history.append(loss.detach())`, replayed: nodes flat, 4 B per step", NULL},
        {STEP "        self.history.append(float(loss))\n",
         "from imported import Trainer\n" NET "trainer = Trainer(net)\n"
         "for i in range(40):\n    trainer.step(torch.randn(8, 6))\n",
         "No findings", NULL},
        /* the loop is in the imported file, and what it works on is not */
        {"import torch\n\n\ndef fit(net, kept):\n    for i in range(40):\n"
         "        loss = net(torch.randn(8, 6)).pow(2).mean()\n        loss.backward()\n"
         "        kept.append(loss)\n",
         "from imported import fit\n" NET "fit(net, history)\n",
         "of the loop at imported.py:5 (exact): ", "stood in"},
        /* replaced in every other step: an exact replay speaks against it */
        {"def keep(kept, k, loss):\n    kept[k] = loss\n",
         "from imported import keep\n" NET LOOP "    keep(kept, i % 2, loss)\n", "No findings",
         NULL},
        {"def keep(kept, k, loss):\n    kept[k] = loss\n",
         "from imported import keep\n" NET LOOP "    keep(kept, i, loss)\n",
         "+4 B per step, +4 nodes per step", NULL},
        /* what is made of it is not known */
        {"def keep(kept, k, loss):\n    kept[k] = loss\n",
         "import elsewhere\nfrom imported import keep\n" NET LOOP
         "    keep(kept, i % elsewhere.n, loss)\n",
         "GL102", "No findings"},
};

static struct arena arena;

static void enter(void)
{
	temp_tree_enter();
}

static void release(void)
{
	temp_tree_leave();
	arena_release(&arena);
}

static struct program_run run(const char *arguments)
{
	return program_run(&arena, NULL, arguments);
}

static void expect(const char *arguments, const char *has, const char *lacks)
{
	const struct program_run shown = run(arguments);

	ck_assert_msg(strstr(shown.out, has) != NULL, "%s is not in\n%s", has, shown.out);
	ck_assert_msg(!lacks || !strstr(shown.out, lacks), "%s", shown.out);
}

START_TEST(a_finding_is_replayed_from_the_loop_that_drives_it)
{
	temp_tree_add_text("imported.py", cases[_i].imported);
	temp_tree_add_text("program.py", cases[_i].program);
	expect("check --isolated --no-cache .", cases[_i].has, cases[_i].lacks);
	expect("check --isolated --no-cache program.py", cases[_i].has, cases[_i].lacks);
	ck_assert_str_eq(run("check --isolated --no-cache imported.py program.py").out,
	                 run("check --isolated --no-cache -j 1 program.py imported.py").out);
}
END_TEST

/* One program replaces what it keeps, another one does not. */
START_TEST(one_loop_does_not_speak_for_the_others)
{
	temp_tree_add_text("imported.py", "def keep(kept, k, loss):\n    kept[k] = loss\n");
	temp_tree_add_text("first.py",
	                   "from imported import keep\n" NET LOOP "    keep(kept, i % 2, loss)\n");
	temp_tree_add_text("second.py",
	                   "from imported import keep\n" NET LOOP "    keep(kept, i, loss)\n");
	expect("check --isolated --no-cache .", "of the loop at second.py:6 (exact): ", NULL);
	expect("check --isolated --no-cache first.py", "No findings", NULL);
}
END_TEST

/* A file between the two has the loop. */
START_TEST(the_loop_may_be_in_a_third_file)
{
	temp_tree_add_text("imported.py", STEP "        self.history.append(loss)\n");
	temp_tree_add_text("engine.py", "import torch\n\n\ndef run(trainer, steps):\n"
	                                "    for i in range(steps):\n"
	                                "        trainer.step(torch.randn(8, 6))\n");
	temp_tree_add_text("program.py", "import torch\nfrom engine import run\n"
	                                 "from imported import Trainer\n"
	                                 "run(Trainer(torch.nn.Linear(6, 2)), 40)\n");
	expect("check --isolated --no-cache .", "of the loop at engine.py:5 (exact): ", "stood in");
	expect("check --isolated --no-cache program.py",
	       "`self.history.append(loss.detach())`, replayed: nodes flat, 4 B per step", NULL);
}
END_TEST

START_TEST(a_package_imports_its_own)
{
	temp_tree_add_text("tool/__init__.py", "");
	temp_tree_add_text("tool/parts/__init__.py", "");
	temp_tree_add_text("tool/parts/trainer.py", "from ..store import record\n" STEP
	                                            "        record(self.history, loss)\n");
	temp_tree_add_text("tool/store.py", "def record(kept, loss):\n    kept.append(loss)\n");
	temp_tree_add_text("tool/main.py",
	                   "import torch\nfrom .parts.trainer import Trainer\n\n\ndef main():\n"
	                   "    trainer = Trainer(torch.nn.Linear(6, 2))\n"
	                   "    for i in range(40):\n        trainer.step(torch.randn(8, 6))\n\n\n"
	                   "if __name__ == '__main__':\n    main()\n");
	expect("check --isolated --no-cache tool", "of the loop at tool/main.py:7 (", NULL);
	expect("check --isolated --no-cache tool",
	       "`kept.append(loss.detach())`, replayed: nodes flat, 4 B per step", NULL);
}
END_TEST

START_TEST(a_replay_tries_edits_of_what_it_imports)
{
	temp_tree_add_text("imported.py", "def record(kept, loss):\n    kept.append(loss)\n");
	temp_tree_add_text("program.py", "from imported import record\n" NET "total = 0\n" LOOP
	                                 "    total += loss\n    record(history, loss)\n");
	expect("replay program.py", "imported.py:2  `kept.append(loss.item())` (changes the type)",
	       NULL);
	expect("replay program.py", "program.py:11  `total += loss.detach()`: flat", NULL);
	expect("replay program.py", "after   bytes flat; nodes flat", NULL);
}
END_TEST

static void check_cached(const char *after)
{
	const struct program_run cached = run("-f json ."), fresh = run("-f json --no-cache .");

	ck_assert_msg(!strcmp(cached.out, fresh.out), "after %s:\n%s", after,
	              program_difference(&arena, cached.out, fresh.out));
}

/* A file is told of anew, and those that drive it are not looked at otherwise. */
START_TEST(what_drives_a_file_is_loaded_for_it)
{
	temp_tree_add_text("imported.py", "def keep(kept, k, loss):\n    kept[k] = loss\n");
	temp_tree_add_text("part.py", "STEPS = 2\n");
	temp_tree_add_text("first.py",
	                   "from imported import keep\nfrom part import STEPS\n" NET LOOP
	                   "    keep(kept, i % STEPS, loss)\n");
	temp_tree_add_text("second.py",
	                   "from imported import keep\n" NET LOOP "    keep(kept, i, loss)\n");
	temp_tree_add_text("third.py",
	                   "from imported import keep\n" NET LOOP "    keep(kept, i // 2, loss)\n");
	check_cached("nothing");
	check_cached("a second run");
	temp_tree_add_text("second.py", "import torch\n");
	check_cached("the loop that leaks went");
	ck_assert_int_eq(unlink("third.py"), 0);
	check_cached("the other one went");
	expect("--no-cache .", "No findings", NULL);
	temp_tree_add_text("part.py", "STEPS = 40\n");
	check_cached("what a driver imports changed");
	expect(".", "of the loop at first.py:7 (exact): ", NULL);
}
END_TEST

Suite *drivers_suite(void);

Suite *drivers_suite(void)
{
	Suite *suite = suite_create("drivers");
	TCase *tests = tcase_create("drivers");

	tcase_set_timeout(tests, 60);
	tcase_add_checked_fixture(tests, enter, release);
	tcase_add_loop_test(tests, a_finding_is_replayed_from_the_loop_that_drives_it, 0,
	                    (int)(sizeof(cases) / sizeof(cases[0])));
	tcase_add_test(tests, one_loop_does_not_speak_for_the_others);
	tcase_add_test(tests, the_loop_may_be_in_a_third_file);
	tcase_add_test(tests, a_package_imports_its_own);
	tcase_add_test(tests, a_replay_tries_edits_of_what_it_imports);
	tcase_add_test(tests, what_drives_a_file_is_loaded_for_it);
	suite_add_tcase(suite, tests);
	return suite;
}
