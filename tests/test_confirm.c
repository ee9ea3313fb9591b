/* Findings and what a replay says of them: refuted only where nothing was
 * guessed and the place was come by in every step. */

#include <check.h>
#include <stdbool.h>
#include <stdio.h>
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

/* The replay does not get to the call, so that nothing is known of the model. */
#define PREDICT(body, result)                                                                      \
	"import sys, torch\nfrom elsewhere import data\ndef predict(model, data):\n"               \
	"    model.eval()\n    outs = []\n    with torch.no_grad():\n"                             \
	"        for step, x in enumerate(data):\n"                                                \
	"            x = x.cuda()\n" body "    return " result "\nif sys.argv[1:]:\n"              \
	"    predict(torch.nn.Linear(3, 4).cuda(), data)\n"
#define MEAN                                                                                       \
	"def mean(out, y):\n    n = (y != 3).sum()\n"                                              \
	"    return torch.cat([a.exp() for a in out.split(4)]).sum() / n.maximum("                 \
	"torch.ones_like(n))\n"
#define DESCEND                                                                                    \
	"import torch\nnet = torch.nn.Linear(6, 2).cuda()\n"                                       \
	"opt = torch.optim.SGD(net.parameters(), lr=0.1)\nkept = []\n"                             \
	"for i in range(1000):\n    out = net(torch.randn(8, 6).cuda())\n"                         \
	"    loss = out.pow(2).mean()\n    opt.zero_grad()\n    loss.backward()\n"                 \
	"    opt.step()\n    if (i + 1) % 50 == 0:\n"

/* Found, and whether the replay confirms it. */
static const struct {
	const char *program;
	bool found, confirmed;
} piles[] = {
        {PREDICT("            outs.append(model(x).float())\n", "torch.cat(outs).cpu()"), true,
         true},
        {PREDICT("            outs.append(model(x).float().cpu())\n", "torch.cat(outs)"), false,
         false},
        /* a number each, however it comes about */
        {MEAN PREDICT("            loss = mean(model(x), x)\n            outs.append(loss)\n",
                      "torch.stack(outs).mean()"),
         true, false},
        /* and what piles up is somewhere else */
        {MEAN "rows = []\n" PREDICT("            loss = mean(model(x), x)\n"
                                    "            outs.append(loss)\n"
                                    "            rows.append(torch.zeros(64))\n",
                                    "torch.stack(outs).mean()"),
         true, false},
        /* every fiftieth step */
        {DESCEND "        kept.append(out.detach())\n", true, true},
        {DESCEND "        kept.append(out.detach().sum())\n", false, false},
};

static void expect(const char *program, const char *options, const char *code, bool there)
{
	struct program_run run;
	char arguments[128];

	temp_tree_add_text("train.py", program);
	snprintf(arguments, sizeof(arguments), "check --isolated --no-cache %s train.py", options);
	run = program_run(&arena, NULL, arguments);
	ck_assert_msg((strstr(run.out, code) != NULL) == there, "%s\n%s", program, run.out);
}

START_TEST(what_piles_up_is_confirmed_by_more_than_numbers)
{
	expect(piles[_i].program, "--confirm never", "GL401", piles[_i].found);
	expect(piles[_i].program, "--confirm always --min-confidence confirmed", "GL401",
	       piles[_i].confirmed);
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
	tcase_add_loop_test(tests, what_piles_up_is_confirmed_by_more_than_numbers, 0,
	                    (int)(sizeof(piles) / sizeof(piles[0])));
	suite_add_tcase(suite, tests);
	return suite;
}
