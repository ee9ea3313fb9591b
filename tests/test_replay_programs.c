#include <check.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/replay/replay.h"
#include "tests/folder.h"
#include "tests/replayed_runner.h"

/* fixtures/replay/NAME.py beside NAME.out, what CPython and PyTorch print, and
 * memory.txt, the series measured under PyTorch. */

static const char *const programs[] = {
        "classes",
        "containers",
        "errors",
        "formatting",
        "functions",
        "generators",
        "library",
        "torch_many",
        "numpy_random",
        "numpy_arrays",
        "torch_pruning",
        "torch_transforms",
        "torch_datasets",
        "torch_layer_texts",
        "torch_rows",
        "numpy_training",
        "lifetimes",
        "memory_flat",
        "memory_list",
        "memory_project",
        "memory_second",
        "torch_autograd",
        "torch_printing",
        "torch_training",
        "torch_lbfgs",
        "torch_checkpoint",
        "torch_autocast_leak",
        "torch_autocast_fixed",
        "torch_autocast_regions",
        "torch_autocast_scaler",
        "torch_layers",
        "torch_rare_layers",
        "torch_distributions",
        "torch_schedulers",
        "torch_reparametrized",
        "torch_attention",
        "torch_functions",
        "training_actor_critic",
        "training_experts",
        "training_prototypes",
        "training_forecast",
        "training_trees",
};
enum { PROGRAMS = sizeof(programs) / sizeof(programs[0]), MANY = 1000 /* iterations */ };

static struct replay_result run_text(struct arena *arena, struct intern *names, const char *text,
                                     uint32_t line, uint32_t iterations)
{
	return replayed(text, (struct replay_request){.arena = arena,
	                                              .names = names,
	                                              .line = line,
	                                              .iterations = iterations,
	                                              .values = !iterations});
}

static bool is_number_start(const char *at)
{
	return isdigit((unsigned char)*at) || (*at == '-' && isdigit((unsigned char)at[1]));
}

/* Equal but for floats, which agree to 1e-4. */
static bool same_output(const char *a, const char *b)
{
	while (*a && *b) {
		char *end_a, *end_b;
		double x, y;

		if (!is_number_start(a) || !is_number_start(b)) {
			if (*a++ != *b++)
				return false;
			continue;
		}
		x = strtod(a, &end_a);
		y = strtod(b, &end_b);
		if (memchr(a, '.', (size_t)(end_a - a)) && memchr(b, '.', (size_t)(end_b - b))) {
			if (fabs(x - y) > 1e-4 * fmax(1, fabs(y)))
				return false;
		} else if (end_a - a != end_b - b || memcmp(a, b, (size_t)(end_a - a)) != 0) {
			return false;
		}
		a = end_a;
		b = end_b;
	}
	return *a == *b;
}

START_TEST(prints_what_python_prints)
{
	struct arena arena = {0};
	struct intern *names = intern_open();
	char name[64];
	struct replay_result r;
	const char *want;

	snprintf(name, sizeof(name), "%s.py", programs[_i]);
	r = run_text(&arena, names, folder_read(&arena, GRAPHLINT_ROOT "/fixtures/replay", name), 0,
	             0);
	snprintf(name, sizeof(name), "%s.out", programs[_i]);
	want = folder_read(&arena, GRAPHLINT_ROOT "/fixtures/replay", name);
	ck_assert_msg(r.error == NULL, "%s: %s", programs[_i], r.error);
	ck_assert_msg(r.exact, "%s: something was stood in for", programs[_i]);
	ck_assert_msg(same_output(r.output, want), "%s prints\n%s\nnot\n%s", programs[_i], r.output,
	              want);
	intern_close(names);
	arena_release(&arena);
}
END_TEST

/* Cuts the next word off; NULL at the end. */
static char *next_word(char **rest, char separator)
{
	char *word = *rest, *end;

	if (!word || !*word)
		return NULL;
	end = strchr(word, separator);
	*rest = end ? end + 1 : NULL;
	if (end)
		*end = 0;
	return word;
}

static void compare_series(const struct replay_result *r, const char *name, char *line)
{
	const char *key = next_word(&line, ' '), *value;
	uint32_t i = 0;

	for (; (value = next_word(&line, ' ')); i++) {
		ck_assert_msg(i < r->count, "%s: only %u iterations", name, r->count);
		ck_assert_msg(replayed_figure(&r->samples[i], key) == strtoull(value, NULL, 10),
		              "%s: %s at iteration %u is %llu, not %s", name, key, i,
		              (unsigned long long)replayed_figure(&r->samples[i], key), value);
	}
	ck_assert_uint_eq(i, r->count);
}

/* With numbers and without: the number of series. */
static uint32_t compare_all_series(bool values)
{
	struct arena arena = {0};
	struct intern *names = intern_open();
	char *rest = folder_read(&arena, GRAPHLINT_ROOT "/fixtures/replay", "memory.txt"), *words;
	uint32_t compared = 0;

	while ((words = next_word(&rest, '\n'))) {
		const char *name = next_word(&words, ' ');
		char file[64];
		struct replay_result r;

		ck_assert(name != NULL);
		snprintf(file, sizeof(file), "%s.py", name);
		r = run_text(&arena, names,
		             folder_read(&arena, GRAPHLINT_ROOT "/fixtures/replay", file), 0,
		             values ? 0 : MANY);
		/* With numbers some kernels are composed of others. */
		if (!values || strncmp(words, "peak", 4) != 0)
			compare_series(&r, name, words);
		compared++;
	}
	intern_close(names);
	arena_release(&arena);
	return compared;
}

START_TEST(memory_is_pytorchs)
{
	ck_assert_uint_eq(compare_all_series(true), 130);
	ck_assert_uint_eq(compare_all_series(false), 130);
}
END_TEST

#define CENSUS_HEAD                                                                                \
	"import gc\nimport torch\nfrom torch import nn\ntorch.manual_seed(0)\n"                    \
	"x, y = torch.randn(16, 4), torch.randn(16, 1)\n"                                          \
	"net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))\n"                       \
	"opt = torch.optim.SGD(net.parameters(), lr=0.01)\n"                                       \
	"def census():\n"                                                                          \
	"    return sum(type(o) in (torch.Tensor, nn.Parameter) for o in gc.get_objects())\n"      \
	"kept = []\n"                                                                              \
	"for step in range(1, 41):\n    opt.zero_grad()\n"                                         \
	"    loss = nn.functional.mse_loss(net(x), y)\n    loss.backward()\n    opt.step()\n"

START_TEST(tensors_are_counted_as_the_collector_sees_them)
{
	struct arena arena = {0};
	struct intern *names = intern_open();
	struct replay_result leak =
	        run_text(&arena, names,
	                 CENSUS_HEAD
	                 "    kept.append(loss)\n    if step % 10 == 0:\n        print(census())\n",
	                 0, 0);
	struct replay_result fixed = run_text(
	        &arena, names,
	        CENSUS_HEAD
	        "    kept.append(loss.item())\n    if step % 10 == 0:\n        print(census())\n",
	        0, 0);

	ck_assert_str_eq(leak.output, "20\n30\n40\n50\n");
	ck_assert_str_eq(fixed.output, "11\n11\n11\n11\n");
	ck_assert_int_eq(leak.nodes.kind, REPLAY_LINEAR);
	ck_assert_int_eq(fixed.nodes.kind, REPLAY_FLAT);
	ck_assert_uint_ge(leak.chain_count, 3);
	ck_assert_msg(strstr(leak.chain[0].text, "`kept`") != NULL, "%s", leak.chain[0].text);
	ck_assert_uint_eq(leak.chain[0].line, 10);
	intern_close(names);
	arena_release(&arena);
}
END_TEST

START_TEST(loop_is_chosen_and_iterations_are_bounded)
{
	struct arena arena = {0};
	struct intern *names = intern_open();
	const char *text = CENSUS_HEAD "for i in range(3):\n    print(i)\n";
	struct replay_result main_loop = run_text(&arena, names, text, 0, 5);
	struct replay_result other = run_text(&arena, names, text, 16, 0);

	ck_assert_uint_eq(main_loop.loop_line, 11);
	ck_assert_str_eq(main_loop.loop_kind, "backward");
	ck_assert_uint_eq(main_loop.count, 5);
	ck_assert(main_loop.limit == NULL);
	ck_assert_uint_eq(other.loop_line, 16);
	ck_assert_uint_eq(other.count, 3);
	intern_close(names);
	arena_release(&arena);
}
END_TEST

/* A function that nothing calls: its arguments are stood in for. */
START_TEST(stand_ins_prove_growth)
{
	struct arena arena = {0};
	struct intern *names = intern_open();
	struct replay_result r =
	        run_text(&arena, names,
	                 "import torch\nfrom mylib import Model, load\n"
	                 "def train(model, loader, opt, device):\n    losses = []\n"
	                 "    lin = torch.nn.Linear(8, 1)\n"
	                 "    for epoch in range(9):\n        for x, y in loader:\n"
	                 "            out = lin(x.to(device))\n"
	                 "            loss = (out - y).pow(2).mean()\n            opt.zero_grad()\n"
	                 "            loss.backward()\n            opt.step()\n            "
	                 "losses.append(loss)\n"
	                 "    return losses\n",
	                 0, 0);

	ck_assert_msg(r.error == NULL, "%s", r.error);
	ck_assert_uint_eq(r.count, 9);
	ck_assert(!r.exact);
	ck_assert_uint_gt(r.stand_in_count, 0);
	ck_assert_int_eq(r.nodes.kind, REPLAY_LINEAR);
	intern_close(names);
	arena_release(&arena);
}
END_TEST

/* What the library does to each parameter in every step is most of what a replay costs:
 * it is not done in Python. */
START_TEST(a_step_of_training_is_cheap)
{
	enum { STEPS = 32, INSTRUCTIONS = 800, PARAMETERS = 40 };
	struct arena arena = {0};
	struct intern *names = intern_open();
	struct replay_result r = run_text(
	        &arena, names,
	        "import torch\nfrom torch import nn\n"
	        "from torch.utils.data import DataLoader, TensorDataset\n"
	        "data = TensorDataset(torch.randn(1024, 4), torch.randn(1024, 1))\n"
	        "loader = DataLoader(data, batch_size=32, shuffle=True)\n"
	        "layers = [nn.Linear(4, 4) for _ in range(19)]\n"
	        "model = nn.Sequential(*layers, nn.Linear(4, 1))\n"
	        "optimizer = torch.optim.AdamW(model.parameters())\n"
	        "for x, y in loader:\n    optimizer.zero_grad()\n"
	        "    loss = (model(x) - y).pow(2).mean()\n    loss.backward()\n"
	        "    nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n    optimizer.step()\n",
	        0, STEPS);

	ck_assert_msg(r.error == NULL, "%s", r.error);
	ck_assert_uint_eq(r.count, STEPS);
	ck_assert_uint_lt(r.steps / STEPS, INSTRUCTIONS + 10 * PARAMETERS);
	intern_close(names);
	arena_release(&arena);
}
END_TEST

static struct replay_result hostile(struct arena *arena, struct intern *names, const char *text)
{
	static const struct replay_budget small = {.steps = 300000,
	                                           .host_bytes = 64 << 20,
	                                           .live_bytes = 64 << 20,
	                                           .nodes = 8000,
	                                           .seconds = 20};

	return replayed(text,
	                (struct replay_request){.arena = arena, .names = names, .budget = &small});
}

START_TEST(budgets_end_what_would_not)
{
	static const char *const texts[] = {
	        "while True:\n    pass\n",
	        "x = [0]\nwhile True:\n    x = x + x\n",
	        "x = 'ab'\nwhile True:\n    x += x\n",
	        "x = 3\nwhile True:\n    x = x * x\n",
	        "print(1 << 10 ** 12)\n",
	        ("while True:\n    try:\n        while True:\n            pass\n    except "
	         "BaseException:\n        pass\n"),
	        "import torch\nkept = []\nwhile True:\n    kept.append(torch.zeros(1 << 20))\n",
	        "import torch\nx = torch.ones(1, requires_grad=True)\nwhile True:\n    x = x + 1\n",
	        "def g():\n    yield from g()\nlist(g())\n",
	        "import itertools\nlist(itertools.count())\n",
	};
	struct arena arena = {0};
	struct intern *names = intern_open();
	struct replay_result r = hostile(&arena, names, texts[_i]);

	ck_assert_msg(r.limit != NULL || r.error != NULL, "%s ended", texts[_i]);
	intern_close(names);
	arena_release(&arena);
}
END_TEST

START_TEST(verdicts)
{
	static const struct {
		enum replay_kind kind;
		double slope;
		uint64_t series[16];
	} rows[] = {
	        {REPLAY_FLAT, 0, {9, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5}},
	        {REPLAY_LINEAR, 4, {1, 5, 9, 13, 17, 21, 25, 29, 33, 37, 41, 45, 49, 53, 57, 61}},
	        {REPLAY_LINEAR, 2, {0, 0, 4, 4, 8, 8, 12, 12, 16, 16, 20, 20, 24, 24, 28, 28}},
	        {REPLAY_BOUNDED, 0, {0, 1, 2, 3, 4, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5}},
	        {REPLAY_BOUNDED, 0, {0, 4, 8, 0, 4, 8, 0, 4, 8, 0, 4, 8, 0, 4, 8, 0}},
	        {REPLAY_SHRINKING, -1, {16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1}},
	        {REPLAY_SUPERLINEAR,
	         0,
	         {0, 1, 4, 9, 16, 25, 36, 49, 64, 81, 100, 121, 144, 169, 196, 225}},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct replay_verdict v = replay_verdict(rows[i].series, 16);

		ck_assert_msg(v.kind == rows[i].kind, "row %zu is %s", i, replay_kind_name(v.kind));
		if (v.exact)
			ck_assert_double_eq(v.slope, rows[i].slope);
	}
	ck_assert_int_eq(replay_verdict(rows[0].series, 3).kind, REPLAY_UNKNOWN);
}
END_TEST

Suite *replay_programs_suite(void)
{
	Suite *suite = suite_create("replay_programs");
	TCase *programs_case = tcase_create("programs"), *rest = tcase_create("rest");

	tcase_set_timeout(programs_case, 60);
	tcase_set_timeout(rest, 60);
	tcase_add_loop_test(programs_case, prints_what_python_prints, 0, PROGRAMS);
	tcase_add_test(programs_case, memory_is_pytorchs);
	tcase_add_test(rest, tensors_are_counted_as_the_collector_sees_them);
	tcase_add_test(rest, loop_is_chosen_and_iterations_are_bounded);
	tcase_add_test(rest, stand_ins_prove_growth);
	tcase_add_test(rest, a_step_of_training_is_cheap);
	tcase_add_loop_test(rest, budgets_end_what_would_not, 0, 10);
	tcase_add_test(rest, verdicts);
	suite_add_tcase(suite, programs_case);
	suite_add_tcase(suite, rest);
	return suite;
}
