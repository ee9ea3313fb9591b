/* Loops within loops: what piles up between entering one and leaving it, for how long it
 * is run, and which one it is. */

#include <check.h>
#include <string.h>

#include "tests/watched_runner.h"

#define NET                                                                                        \
	"import torch\nfrom torch import nn\nnet = nn.Linear(4, 2)\n"                              \
	"opt = torch.optim.SGD(net.parameters(), lr=0.1)\n"                                        \
	"def step():\n    loss = net(torch.randn(8, 4)).pow(2).mean()\n    opt.zero_grad()\n"      \
	"    loss.backward()\n    opt.step()\n    return loss\n"

static struct arena arena;
static struct intern *names;

static void enter(void)
{
	names = intern_open();
}

static void leave(void)
{
	intern_close(names);
	arena_release(&arena);
}

static struct replay_result run(const struct watched *w)
{
	return watched_run(&arena, names, w, false);
}

/* --- what the loop around clears */

#define EPOCHS(keep) "for epoch in range(9):\n    total = 0\n    for i in range(6):\n" keep

static const struct {
	struct watched watched;
	enum replay_kind kind; /* of the nodes in one stretch */
	bool needed;
} cleared[] = {
        {{NET EPOCHS("        total += step()\n") "    print(float(total))\n", "total += step()"},
         REPLAY_LINEAR,
         false},
        {{NET EPOCHS("        total += step().item()\n"), "total += step().item()"},
         REPLAY_FLAT,
         false},
        {{NET EPOCHS("        total = step()\n"), "total = step()"}, REPLAY_FLAT, false},
        {{NET EPOCHS("        total += net(torch.randn(8, 4)).sum()\n") "    opt.zero_grad()\n    "
                                                                        "total.backward()\n    "
                                                                        "opt.step()\n",
          "total += net(torch.randn(8, 4)).sum()"},
         REPLAY_LINEAR,
         true},
};

START_TEST(what_piles_up_between_two_entries_is_seen)
{
	struct replay_result r = run(&cleared[_i].watched);

	ck_assert(r.exact);
	ck_assert_int_le(r.nodes.kind, REPLAY_BOUNDED);
	ck_assert_uint_eq(r.stretch.count, 6);
	ck_assert_uint_eq(r.stretch.first + r.stretch.count, r.count);
	ck_assert_int_eq(r.stretch.nodes.kind, cleared[_i].kind);
	ck_assert_int_eq(r.needed, cleared[_i].needed);
}
END_TEST

/* --- a loop of few turns */

#define OPTIONS                                                                                    \
	"import argparse\nparser = argparse.ArgumentParser()\n"                                    \
	"parser.add_argument('--parts', type=int, default=1)\nargs = parser.parse_args()\n" NET    \
	"for i in range(20):\n    total = 0\n"

static const struct {
	struct watched watched;
	enum replay_kind kind;
	bool longer; /* than the program has it */
} few[] = {
        {{OPTIONS "    for part in range(args.parts):\n        total += step() / args.parts\n",
          "total += step() / args.parts"},
         REPLAY_LINEAR,
         true},
        /* what nothing grows in stays as it is */
        {{OPTIONS "    for part in range(args.parts):\n        total += step().detach()\n",
          "total += step().detach()"},
         REPLAY_FLAT,
         false},
        /* so many as are written there */
        {{OPTIONS "    for part in range(2):\n        total += step()\n", "total += step()"},
         REPLAY_FLAT,
         false},
        {{OPTIONS "    for name in ['left', 'right']:\n        total += step()\n",
          "total += step()"},
         REPLAY_FLAT,
         false},
        /* the last item again */
        {{OPTIONS "    parts = torch.chunk(torch.randn(8, 4), args.parts)\n"
                  "    for x in parts:\n        total += net(x).sum().exp()\n",
          "total += net(x).sum().exp()"},
         REPLAY_LINEAR,
         true},
};

START_TEST(a_loop_that_options_keep_short_is_run_longer)
{
	struct replay_result r = run(&few[_i].watched);

	ck_assert_int_eq(r.stretch.nodes.kind > REPLAY_BOUNDED, few[_i].kind == REPLAY_LINEAR);
	ck_assert_int_eq(r.exact, !few[_i].longer);
	ck_assert_int_eq(r.stretch.count >= REPLAY_LEAST, few[_i].longer);
	ck_assert_ptr_null(r.error);
}
END_TEST

/* --- the loop that calls */

#define PARTS                                                                                      \
	NET "kept = []\ndef keep(loss):\n    kept.append(loss)\n"                                  \
	    "def evaluate():\n    for i in range(5):\n        keep(net(torch.randn(8, 4)))\n"      \
	    "def epoch():\n    for i in range(5):\n        keep(step())\n    kept.clear()\n"

START_TEST(the_loop_of_a_function_is_the_nearest_that_calls_it)
{
	struct replay_result r = run(
	        &(struct watched){PARTS "for i in range(9):\n    epoch()\n", "kept.append(loss)"});

	ck_assert_str_eq(r.loop_function, "epoch");
	ck_assert_int_eq(r.stretch.nodes.kind, REPLAY_LINEAR);
	r = run(&(struct watched){PARTS "for i in range(9):\n    keep(step())\n    epoch()\n",
	                          "kept.append(loss)"});
	ck_assert_str_eq(r.loop_function, "epoch");
	/* called by nothing: the main loop, if it comes by */
	r = run(&(struct watched){NET "class Tap:\n    def __call__(self, x):\n"
	                              "        self.last = x\n"
	                              "tap = Tap()\nfor i in range(9):\n    tap(step())\n",
	                          "self.last = x"});
	ck_assert_ptr_null(r.loop_function);
	ck_assert_int_eq(r.nodes.kind, REPLAY_FLAT);
}
END_TEST

Suite *replay_stretch_suite(void);

Suite *replay_stretch_suite(void)
{
	Suite *suite = suite_create("replay_stretch");
	TCase *tests = tcase_create("stretch");

	tcase_add_checked_fixture(tests, enter, leave);
	tcase_set_timeout(tests, 60);
	tcase_add_loop_test(tests, what_piles_up_between_two_entries_is_seen, 0,
	                    (int)(sizeof(cleared) / sizeof(cleared[0])));
	tcase_add_loop_test(tests, a_loop_that_options_keep_short_is_run_longer, 0,
	                    (int)(sizeof(few) / sizeof(few[0])));
	tcase_add_test(tests, the_loop_of_a_function_is_the_nearest_that_calls_it);
	suite_add_tcase(suite, tests);
	return suite;
}
