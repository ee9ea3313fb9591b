#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/text.h"
#include "analyzer/replay/replay.h"
#include "tests/folder.h"
#include "tests/replayed_runner.h"
#include "tests/suites.h"

/* fixtures/replay/scripts/NAME.py: training code as people write it, with what
 * it imports missing. A line that leaks says what it should have been:
 *	losses.append(loss)  # leaks: losses.append(loss.item())
 * As it stands its loop keeps more nodes with every iteration; put right, none. */

static const char mark[] = "# leaks: ";

static struct replay_result run(struct arena *arena, struct intern *names, const char *text,
                                uint32_t line, bool values)
{
	return replayed(text, (struct replay_request){.arena = arena,
	                                              .names = names,
	                                              .line = line,
	                                              .iterations = REPLAY_STEPS,
	                                              .values = values});
}

/* --- numbers are computed when they are needed */

static const char *const depending[] = {
        "import torch\n"
        "kept = []\n"
        "for i in range(12):\n"
        "    x = torch.randn(50, requires_grad=True)\n"
        "    if x.sum() > 0:\n"
        "        kept.append(x * 2)\n",
        "import torch\n"
        "best, kept = {}, []\n"
        "for i in range(12):\n"
        "    x = torch.randn(50, requires_grad=True).sum()\n"
        "    best[f'{x.item():.3f}'] = x\n",
        "import torch\n"
        "kept = {}\n"
        "for i in range(12):\n"
        "    x = torch.randn(50, requires_grad=True)\n"
        "    kept[round(x.sum().item())] = x.exp()\n",
        "import torch\n"
        "kept = []\n"
        "for i in range(12):\n"
        "    x = torch.randn(50, requires_grad=True)\n"
        "    kept.append((x * 3)[x > 0.5])\n",
        "import torch\n"
        "kept = []\n"
        "for i in range(12):\n"
        "    x = torch.randn(50, requires_grad=True)\n"
        "    kept += [x * k for k in range(abs(int(x.sum())))]\n",
        "import torch\n"
        "kept = []\n"
        "for i in range(12):\n"
        "    x = torch.randn(50, requires_grad=True)\n"
        "    kept.extend(x * k for k in (x > 1).nonzero().flatten().tolist())\n",
};
enum { DEPENDING = sizeof(depending) / sizeof(depending[0]) };

START_TEST(numbers_decide_only_when_they_are_there)
{
	struct arena arena = {0};
	struct intern *names = intern_open();
	struct replay_result lazy = run(&arena, names, depending[_i], 0, false);
	struct replay_result eager = run(&arena, names, depending[_i], 0, true);

	ck_assert_msg(!lazy.error && !eager.error, "%s", lazy.error ? lazy.error : eager.error);
	ck_assert_uint_eq(lazy.count, 12);
	ck_assert_uint_eq(eager.count, 12);
	ck_assert(lazy.exact && eager.exact);
	for (uint32_t i = 0; i < lazy.count; i++)
		ck_assert_uint_eq(lazy.samples[i].live_bytes, eager.samples[i].live_bytes);
	intern_close(names);
	arena_release(&arena);
}
END_TEST

/* A step of this takes minutes with numbers. */
START_TEST(large_models_are_counted)
{
	static const char text[] =
	        "import torch\n"
	        "from torch import nn\n"
	        "net = nn.Sequential(nn.Conv2d(3, 256, 7, padding=3), nn.ReLU(),\n"
	        "                    nn.Conv2d(256, 256, 3, padding=1), nn.Flatten(1),\n"
	        "                    nn.Linear(256 * 64 * 64, 100))\n"
	        "opt = torch.optim.Adam(net.parameters())\n"
	        "best, losses = 1e9, []\n"
	        "for step in range(12):\n"
	        "    loss = net(torch.randn(16, 3, 64, 64)).mean()\n"
	        "    opt.zero_grad()\n"
	        "    loss.backward()\n"
	        "    opt.step()\n"
	        "    losses.append(loss)\n"
	        "    %s\n";
	struct arena arena = {0};
	struct intern *names = intern_open();
	char program[1024];
	struct replay_result r;

	snprintf(program, sizeof(program), text, "print(loss.item())");
	r = run(&arena, names, program, 0, false);
	ck_assert(r.exact && !r.limit);
	ck_assert_int_eq(r.bytes.kind, REPLAY_LINEAR);
	ck_assert(r.bytes.slope == 4);
	snprintf(program, sizeof(program), text, "if loss < best: best = loss.item()");
	r = run(&arena, names, program, 0, false);
	ck_assert(!r.exact && !r.limit);
	ck_assert_int_eq(r.nodes.kind, REPLAY_LINEAR);
	intern_close(names);
	arena_release(&arena);
}
END_TEST

START_TEST(arrays_that_are_stood_in_for_become_tensors)
{
	struct arena arena = {0};
	struct intern *names = intern_open();
	struct replay_result r =
	        run(&arena, names,
	            "import numpy as np\nimport torch\n"
	            "x = np.loadtxt('x').reshape(6, 4).astype(np.float32)\nkept = []\n"
	            "net = torch.nn.Linear(4, 1)\n"
	            "for i in range(8):\n    kept.append(net(torch.from_numpy(x)).sum())\n",
	            0, false);

	ck_assert_msg(!r.error, "%s", r.error);
	ck_assert(!r.exact);
	ck_assert_int_eq(r.nodes.kind, REPLAY_LINEAR);
	intern_close(names);
	arena_release(&arena);
}
END_TEST

/* --- what only stand-ins bound is left at last */

#define LOADER                                                                                     \
	"import torch\ndata = torch.load('x')\n"                                                   \
	"net = torch.nn.Linear(4, 1)\n"                                                            \
	"opt = torch.optim.SGD(net.parameters(), lr=0.1)\n"                                        \
	"class Loader:\n"                                                                          \
	"    def __init__(self):\n        self.at, self.stop = 0, len(data) // 4\n"                \
	"    def __iter__(self):\n        return self\n"                                           \
	"    def __next__(self):\n        if self.at == self.stop:\n"                              \
	"            self.at = 0\n            raise StopIteration\n"                               \
	"        self.at += 1\n        return torch.randn(2, 4)\n"                                 \
	"loader = Loader()\n"

#define STEP(indent)                                                                               \
	indent "opt.zero_grad()\n" indent "loss = net(x).sum()\n" indent                           \
	       "loss.backward()\n" indent "opt.step()\n"

static const struct {
	const char *program;
	uint32_t line, least;
} bounded[] = {
        /* an iterator inside of the measured loop, and the measured loop's own */
        {LOADER "def train():\n    for x in loader:\n" STEP("        ") "for epoch in range(20):\n"
                                                                        "    train()\n",
         22, 20},
        {LOADER "for x in loader:\n" STEP("    "), 0, REPLAY_STEPS},
        /* a loop before it, and one inside */
        {LOADER "pairs = [data.pick(i) for i in range(10 ** 7)]\nfor i in range(20):\n"
                "    x = torch.randn(2, 4)\n" STEP("    "),
         0, 20},
        {LOADER "for epoch in range(20):\n    x = torch.randn(2, 4)\n" STEP(
                 "    ") "    for i in range(10 ** 7):\n        data.note(i)\n",
         0, 20},
};
enum { BOUNDED = sizeof(bounded) / sizeof(bounded[0]) };

START_TEST(what_stand_ins_bound_ends)
{
	struct arena arena = {0};
	struct intern *names = intern_open();
	const struct replay_result r =
	        run(&arena, names, bounded[_i].program, bounded[_i].line, false);

	ck_assert_msg(!r.error && !r.limit, "%s", r.error ? r.error : r.limit);
	ck_assert_uint_ge(r.count, bounded[_i].least);
	ck_assert(!r.exact);
	ck_assert_int_eq(r.nodes.kind, REPLAY_FLAT);
	intern_close(names);
	arena_release(&arena);
}
END_TEST

/* What nothing is stood in for goes to its end. */
START_TEST(what_is_known_is_run_in_full)
{
	struct arena arena = {0};
	struct intern *names = intern_open();
	const struct replay_result r = run(&arena, names,
	                                   "import torch\nkept = []\nfor i in range(8):\n"
	                                   "    for k in range(300):\n        "
	                                   "kept.append(torch.ones(1, requires_grad=True) * k)\n",
	                                   3, false);

	ck_assert(r.exact && !r.limit);
	ck_assert_uint_eq(r.samples[7].nodes - r.samples[6].nodes, 2 * 300);
	intern_close(names);
	arena_release(&arena);
}
END_TEST

/* --- what the library does not do as PyTorch does is said to be a stand-in */

static const char *const simplified[] = {
        "torch.nn.utils.parametrizations.orthogonal(net)",
        "torch.nn.init.sparse_(net.weight, 0.5)",
        "torch.optim.SparseAdam(net.parameters())",
        "torch.nn.parallel.DistributedDataParallel(net)",
        "torch.vmap(net)",
        "torch.load('weights.pt')",
};
enum { SIMPLIFIED = sizeof(simplified) / sizeof(simplified[0]) };

START_TEST(what_is_simplified_is_named)
{
	struct arena arena = {0};
	struct intern *names = intern_open();
	char text[512];
	struct replay_result r;

	snprintf(text, sizeof(text),
	         "import torch\nimport torch.nn.utils.parametrizations\n"
	         "net = torch.nn.Linear(4, 4)\nmade = %s\n"
	         "for i in range(5):\n    net(torch.ones(2, 4)).sum().backward()\n",
	         simplified[_i]);
	r = run(&arena, names, text, 0, false);
	ck_assert_msg(!r.error, "%s: %s", simplified[_i], r.error);
	ck_assert_msg(!r.exact && r.stand_in_count, "%s is said to be exact", simplified[_i]);
	intern_close(names);
	arena_release(&arena);
}
END_TEST

/* --- the scripts */

/* The text with every marked line as it should have been. */
static char *put_right(struct arena *arena, const char *text)
{
	struct text out = {.arena = arena};

	while (*text) {
		size_t length = strcspn(text, "\n");
		const char *at = memmem(text, length, mark, strlen(mark));
		size_t indent = strspn(text, " ");

		if (at) {
			text_add(&out, text, indent);
			text_add(&out, at + strlen(mark),
			         length - (size_t)(at - text) - strlen(mark));
		} else {
			text_add(&out, text, length);
		}
		text_add_char(&out, '\n');
		text += length + (text[length] == '\n');
	}
	return arena_text(arena, text_chars(&out), out.length);
}

static uint32_t line_of_mark(const char *text)
{
	const char *at = strstr(text, mark);
	uint32_t line = 1;

	ck_assert(at != NULL);
	for (const char *c = text; c < at; c++)
		line += *c == '\n';
	return line;
}

static struct dirent **scripts;
static int script_count;

static int is_script(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return length > 3 && strcmp(entry->d_name + length - 3, ".py") == 0;
}

START_TEST(scripts_leak_until_put_right)
{
	const char *name = script_count > 0 ? scripts[_i]->d_name : "(none)";
	struct arena arena = {0};
	struct intern *names = intern_open();
	const char *text = folder_read(&arena, GRAPHLINT_ROOT "/fixtures/replay/scripts", name);
	uint32_t line = line_of_mark(text);
	struct replay_result leak = run(&arena, names, text, line, false);
	struct replay_result right = run(&arena, names, put_right(&arena, text), line, false);

	ck_assert_msg(leak.nodes.kind == REPLAY_LINEAR || leak.nodes.kind == REPLAY_SUPERLINEAR,
	              "%s: nodes are %s after %u iterations: %s", name,
	              replay_kind_name(leak.nodes.kind), leak.count,
	              leak.error ? leak.error : "no error");
	ck_assert_msg(right.nodes.kind == REPLAY_FLAT || right.nodes.kind == REPLAY_BOUNDED,
	              "%s, put right: nodes are %s after %u iterations: %s", name,
	              replay_kind_name(right.nodes.kind), right.count,
	              right.error ? right.error : "no error");
	intern_close(names);
	arena_release(&arena);
}
END_TEST

Suite *replay_scripts_suite(void)
{
	Suite *suite = suite_create("replay_scripts");
	TCase *lazy = tcase_create("lazy"), *all = tcase_create("scripts");

	tcase_set_timeout(lazy, 120);
	tcase_set_timeout(all, 120);
	script_count =
	        scandir(GRAPHLINT_ROOT "/fixtures/replay/scripts", &scripts, is_script, alphasort);
	tcase_add_loop_test(lazy, numbers_decide_only_when_they_are_there, 0, DEPENDING);
	tcase_add_test(lazy, large_models_are_counted);
	tcase_add_test(lazy, arrays_that_are_stood_in_for_become_tensors);
	tcase_add_loop_test(lazy, what_stand_ins_bound_ends, 0, BOUNDED);
	tcase_add_test(lazy, what_is_known_is_run_in_full);
	tcase_add_loop_test(lazy, what_is_simplified_is_named, 0, SIMPLIFIED);
	tcase_add_loop_test(all, scripts_leak_until_put_right, 0,
	                    script_count > 0 ? script_count : 1);
	suite_add_tcase(suite, lazy);
	suite_add_tcase(suite, all);
	return suite;
}
