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
	tcase_add_loop_test(lazy, what_is_simplified_is_named, 0, SIMPLIFIED);
	tcase_add_loop_test(all, scripts_leak_until_put_right, 0,
	                    script_count > 0 ? script_count : 1);
	suite_add_tcase(suite, lazy);
	suite_add_tcase(suite, all);
	return suite;
}
