/* Findings and what a replay says of them: refuted only where nothing was
 * guessed and the place was come by in every step. */

#include <check.h>
#include <stdbool.h>
#include <string.h>

#include "tests/program.h"
#include "tests/temp_tree.h"

#define HEAD                                                                                       \
	"import torch\nfrom torch import nn\nfast = nn.Linear(6, 2)\n"                             \
	"slow = {k: v.detach().clone() for k, v in fast.state_dict().items()}\n"                   \
	"opt = torch.optim.SGD(fast.parameters(), lr=0.1)\n"                                       \
	"def follow(rate):\n    for k, v in fast.state_dict().items():\n"                          \
	"        slow[k] = slow[k].lerp(v, rate)\n"

#define TRAIN                                                                                      \
	"    loss = fast(torch.randn(8, 6)).pow(2).mean()\n"                                       \
	"    opt.zero_grad()\n    loss.backward()\n    opt.step()\n"

/* What must be among the findings, and what must not. */
static const struct {
	const char *program, *has, *lacks;
} cases[] = {
        /* values are replaced, and nothing grows */
        {HEAD "for i in range(20):\n" TRAIN "    follow(0.1)\n", "No findings", "GL401"},
        /* each step has a key of its own */
        {HEAD "for i in range(20):\n" TRAIN "    slow[i] = torch.zeros(8, 6) + loss.detach()\n",
         "GL401", NULL},
        /* the graph is kept */
        {HEAD "for i in range(20):\n" TRAIN "    slow[i] = loss\n", "GL102", NULL},
        /* it does not get there in the steps that are replayed */
        {HEAD "for i in range(200):\n" TRAIN "    if i > 150:\n        slow[i] = loss\n", "GL102",
         NULL},
        /* what is called is not known */
        {"import elsewhere\n" HEAD "for i in range(20):\n" TRAIN
         "    slow[i % elsewhere.n] = loss\n",
         "GL102", NULL},
        /* cleared by the inner loop's every step, but the outer one keeps it */
        {HEAD "kept = []\nfor epoch in range(20):\n    last = []\n    for i in range(3):\n"
              "        loss = fast(torch.randn(8, 6)).pow(2).mean()\n        last = [loss]\n"
              "    kept.append(last)\n",
         "GL101", NULL},
};

#define EPOCHS(range, keep)                                                                        \
	HEAD "for epoch in range(9):\n    total = 0\n    for i in " range ":\n"                    \
	     "        loss = fast(torch.randn(8, 6)).pow(2).mean()\n        opt.zero_grad()\n"     \
	     "        loss.backward()\n        opt.step()\n" keep "    print(float(total))\n"

/* What the loop around clears is confirmed by what happens within it. */
static const struct {
	const char *program;
	bool confirmed;
} nested[] = {
        {EPOCHS("range(6)", "        total += loss\n"), true},
        {EPOCHS("range(2)", "        total += loss\n"), false},
        {EPOCHS("range(len(slow))", "        total += loss\n"), true},
        /* a sum that begins anew in each turn */
        {EPOCHS("range(6)", "        for k in range(2):\n            total = loss.exp()\n"
                            "        total += loss\n"),
         false},
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

START_TEST(only_what_is_seen_not_to_grow_is_refuted)
{
	struct program_run run;

	temp_tree_add_text("train.py", cases[_i].program);
	run = program_run(&arena, NULL, "check --isolated --no-cache train.py");
	ck_assert_msg(strstr(run.out, cases[_i].has) != NULL, "%s is not in\n%s", cases[_i].has,
	              run.out);
	ck_assert_msg(!cases[_i].lacks || !strstr(run.out, cases[_i].lacks), "%s", run.out);
}
END_TEST

START_TEST(what_the_loop_around_clears_is_confirmed_within_it)
{
	struct program_run run;

	temp_tree_add_text("train.py", nested[_i].program);
	run = program_run(&arena, NULL,
	                  "check --isolated --no-cache --confirm always --format json train.py");
	ck_assert_msg((strstr(run.out, "\"confirmed\"") != NULL) == nested[_i].confirmed, "%s",
	              run.out);
}
END_TEST

Suite *confirm_suite(void);

Suite *confirm_suite(void)
{
	Suite *suite = suite_create("confirm");
	TCase *tests = tcase_create("confirm");

	tcase_add_checked_fixture(tests, enter, release);
	tcase_add_loop_test(tests, only_what_is_seen_not_to_grow_is_refuted, 0,
	                    (int)(sizeof(cases) / sizeof(cases[0])));
	tcase_add_loop_test(tests, what_the_loop_around_clears_is_confirmed_within_it, 0,
	                    (int)(sizeof(nested) / sizeof(nested[0])));
	suite_add_tcase(suite, tests);
	return suite;
}
