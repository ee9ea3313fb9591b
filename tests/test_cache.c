/* The cache on disk: the same output with it and without, whatever happened
 * between two runs, and no harm from what can go wrong with files. */

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/base/text.h"
#include "analyzer/engine/cache_index.h"
#include "analyzer/engine/packing.h"
#include "tests/program.h"
#include "tests/random_tree.h"
#include "tests/temp_tree.h"

static struct arena arena;

static const char meter[] = "class Meter:\n"
                            "    def __init__(self):\n"
                            "        self.values = []\n"
                            "\n"
                            "    def add(self, value):\n"
                            "        self.values.append(value)\n";

static const char train[] = "import torch\n"
                            "from torch import nn\n"
                            "from tools.meter import Meter\n"
                            "\n"
                            "model = nn.Linear(10, 1)\n"
                            "meter = Meter()\n"
                            "for step in range(100):\n"
                            "    loss = model(torch.randn(8, 10)).mean()\n"
                            "    loss.backward()\n"
                            "    meter.add(loss)\n";

static const char alone[] = "import torch\n"
                            "\n"
                            "w = torch.ones(3, requires_grad=True)\n"
                            "total = 0\n"
                            "for step in range(9):\n"
                            "    total += (w * 2).sum()\n";

static void enter(void)
{
	temp_tree_enter();
	temp_tree_add_text("tools/__init__.py", "");
	temp_tree_add_text("tools/meter.py", meter);
	temp_tree_add_text("train.py", train);
	temp_tree_add_text("alone.py", alone);
	temp_tree_add_text("plain.py", "x = 1  # noqa: GL103\n");
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

/* The number after `what` in a verbose run. */
static int counted(const char *what, const char *arguments)
{
	struct text line = {.arena = &arena};
	const char *at;

	text_print(&line, "--verbose %s", arguments);
	at = strstr(run(text_chars(&line)).out, what);
	ck_assert_ptr_nonnull(at);
	return (int)strtol(at + strlen(what), NULL, 10);
}

static int from_cache(const char *arguments)
{
	return counted("files taken from the cache", arguments);
}

static int analysed(const char *arguments)
{
	return counted("files analysed", arguments);
}

static void check_same(const char *after)
{
	struct program_run cached = run("-f json .");
	struct program_run fresh = run("-f json --no-cache .");

	ck_assert_msg(!strcmp(cached.out, fresh.out), "after %s:\n%s", after,
	              program_difference(&arena, cached.out, fresh.out));
	ck_assert_int_eq(cached.status, fresh.status);
}

START_TEST(a_second_run_analyses_nothing)
{
	ck_assert_int_eq(from_cache("."), 0);
	ck_assert_int_eq(from_cache("."), 5);
	check_same("two runs");
	ck_assert_int_eq(from_cache("--no-cache ."), 0);
}
END_TEST

START_TEST(a_change_reaches_what_depends_on_it)
{
	run(".");
	temp_tree_add_text("alone.py", "import torch\n");
	ck_assert_int_eq(from_cache("."), 4);
	temp_tree_add_text("tools/meter.py", "class Meter:\n    def add(self, value):\n"
	                                     "        self.last = value.item()\n");
	check_same("a change of what is imported");
	ck_assert_ptr_null(strstr(run(".").out, "train.py"));
	temp_tree_add_text("tools/meter.py", meter);
	ck_assert_int_ge(from_cache("."), 2);
	ck_assert_ptr_nonnull(strstr(run(".").out, "meter.py:6"));
}
END_TEST

START_TEST(a_new_file_can_change_an_import)
{
	run(".");
	temp_tree_add_text("tools/meter/__init__.py", "class Meter:\n    def add(self, value):\n"
	                                              "        pass\n");
	check_same("a package beside a module");
	ck_assert_int_eq(unlink("tools/meter.py"), 0);
	check_same("the module is gone");
	ck_assert_int_eq(unlink("tools/meter/__init__.py"), 0);
	check_same("the package is gone");
}
END_TEST

/* What a change makes necessary, and no more. */
START_TEST(only_what_depends_on_a_change_is_analysed)
{
	temp_tree_add_text("uses.py", "from train import meter\nprint(meter)\n");
	temp_tree_add_text("other.py", alone);
	ck_assert_int_eq(analysed("."), 5);
	ck_assert_int_eq(analysed("."), 0);
	temp_tree_add_text("alone.py", "import torch\n");
	ck_assert_int_eq(analysed("."), 1);
	temp_tree_add_text("uses.py", "from train import meter\nprint(meter, 1)\n");
	ck_assert_int_eq(analysed("."), 1);
	temp_tree_add_text("train.py",
	                   "from tools.meter import Meter\nimport torch\nmeter = Meter()\n");
	ck_assert_int_eq(analysed("."), 2);
	temp_tree_add_text("tools/meter.py", "class Meter:\n    pass\n");
	ck_assert_int_eq(analysed("."), 3);
	check_same("all of that");
}
END_TEST

START_TEST(a_file_that_comes_or_goes_is_analysed_alone)
{
	const int all = analysed(".");

	temp_tree_add_text("new.py", alone);
	ck_assert_int_eq(analysed("."), 1);
	temp_tree_add_text("tools/new.py", alone);
	ck_assert_int_eq(analysed("."), 1);
	ck_assert_int_eq(rename("new.py", "newer.py"), 0);
	ck_assert_int_eq(analysed("."), 1);
	ck_assert_int_eq(unlink("newer.py"), 0);
	ck_assert_int_eq(analysed("."), 0);
	/* What an import finds instead concerns who imports it. */
	temp_tree_add_text("tools/meter/__init__.py", "class Meter:\n    pass\n");
	ck_assert_int_eq(analysed("."), 0);
	temp_tree_add_text("alone.py", "import torch\nimport missing.part\n");
	run(".");
	temp_tree_add_text("missing/part.py", "import torch\n");
	ck_assert_int_eq(analysed("."), 2);
	check_same("all of that");
	ck_assert_int_ge(all, 3);
}
END_TEST

START_TEST(a_finding_in_an_imported_file_stays)
{
	struct program_run first = run("-f json train.py"), again = run("-f json train.py");

	ck_assert_ptr_nonnull(strstr(first.out, "tools/meter.py"));
	ck_assert_str_eq(first.out, again.out);
	temp_tree_add_text("tools/meter.py", "class Meter:\n"
	                                     "    def __init__(self):\n"
	                                     "        self.values = []\n"
	                                     "\n"
	                                     "    def add(self, value):\n"
	                                     "        self.values.append(value)  # noqa: GL101\n");
	ck_assert_int_eq(run("train.py").status, 0);
	ck_assert_int_eq(run("train.py").status, 0);
	ck_assert_int_eq(counted("findings suppressed by comments", "train.py"), 1);
}
END_TEST

/* Nothing is read but the head of the index and the files with findings. */
START_TEST(a_file_that_cannot_be_read_does_not_undo_the_rest)
{
	ck_assert_int_eq(symlink("nowhere.py", "broken.py"), 0);
	temp_tree_add_text("other.ipynb", "{\"cells\": [], \"metadata\": {\"kernelspec\": "
	                                  "{\"language\": \"R\"}}, \"nbformat\": 4}");
	run(". broken.py");
	ck_assert_int_eq(analysed(". broken.py"), 0);
	ck_assert_int_eq(run(". broken.py").status, 2);
	check_same("a file that cannot be read");
}
END_TEST

/* A change that keeps the size, right after the run. */
START_TEST(a_quick_change_is_seen)
{
	for (int i = 0; i < 10; i++) {
		temp_tree_add_text("alone.py", i % 2 ? alone : "import torch\n");
		check_same("a quick change");
	}
}
END_TEST

/* random edits */

START_TEST(random_edits_do_not_change_the_output)
{
	uint32_t state = (uint32_t)_i * 7919u + 1;

	for (int i = 0; i < 20; i++) {
		random_tree_edit(&state);
		if (random_tree_next(&state) % 3 == 0)
			random_tree_edit(&state);
		check_same("random edits");
	}
}
END_TEST

/* what can go wrong with files */

START_TEST(a_damaged_cache_is_no_cache)
{
	run(".");
	for (int i = 0; i < 4; i++) {
		static const char flip_a_byte[] =
		        "for f in .graphlint_cache/*.index; do printf Z | "
		        "dd of=$f bs=1 seek=90 conv=notrunc 2> /dev/null; done";
		static const char *const damage[] = {
		        "for f in .graphlint_cache/*.index; do echo x > $f; done",
		        "for f in .graphlint_cache/*.index; do : > $f; done",
		        "for f in .graphlint_cache/*.index; do truncate -s -9 $f; done",
		        flip_a_byte,
		};

		ck_assert_int_eq(system(damage[i]), 0);
		check_same("damage");
		/* What is not needed is not read: a later run may be the one that finds it. */
		ck_assert(from_cache(".") == 5 || from_cache(".") == 5);
	}
}
END_TEST

START_TEST(a_folder_that_cannot_be_made_is_no_matter)
{
	struct program_run result = run("--cache-dir train.py/cache .");

	ck_assert_int_eq(result.status, 1);
	ck_assert_str_eq(result.err, "");
}
END_TEST

START_TEST(a_full_disk_is_no_matter)
{
	ck_assert_int_eq(system("trap '' XFSZ; ulimit -f 0; " GRAPHLINT_PROGRAM
	                        " -f json . | grep -q GL103"),
	                 0);
	ck_assert_int_eq(system("test -z \"$(find .graphlint_cache -name '*.index*' -size +0)\""),
	                 0);
	check_same("a full disk");
}
END_TEST

START_TEST(runs_can_go_on_at_once)
{
	ck_assert_int_eq(system("for i in 1 2 3 4 5 6; do " GRAPHLINT_PROGRAM
	                        " -f json . > out.$i & done; wait; "
	                        "for i in 2 3 4 5 6; do cmp out.1 out.$i || exit 1; done; "
	                        "rm out.*"),
	                 0);
	check_same("six runs at once");
	/* A run that starts in the clock tick of an edit trusts no stamps: let one pass. */
	ck_assert_int_eq(system("sleep 0.1"), 0);
	run(".");
	ck_assert_int_eq(from_cache("."), 5);
}
END_TEST

START_TEST(the_cache_is_cleaned)
{
	run("--cache-dir kept .");
	ck_assert_int_eq(access("kept/CACHEDIR.TAG", R_OK), 0);
	ck_assert_int_eq(run("cache clean --cache-dir kept").status, 0);
	ck_assert_int_ne(access("kept", R_OK), 0);
	ck_assert_int_eq(run("cache clean --cache-dir tools").status, 2);
	ck_assert_int_eq(access("tools/meter.py", R_OK), 0);
}
END_TEST

/* packing */

START_TEST(numbers_and_texts_are_packed)
{
	static const uint64_t numbers[] = {0, 1, 127, 128, 300, UINT32_MAX, UINT64_MAX};
	struct text out = {.arena = &arena};
	struct unpacking in = {.arena = &arena};

	for (size_t i = 0; i < 7; i++)
		pack_number(&out, numbers[i]);
	pack_text(&out, NULL);
	pack_text(&out, "");
	pack_text(&out, "words");
	pack_real(&out, 0.5);
	in.at = out.at;
	in.end = out.at + out.length;
	for (size_t i = 0; i < 7; i++)
		ck_assert(unpack_number(&in) == numbers[i]);
	ck_assert_ptr_null(unpack_text(&in));
	ck_assert_str_eq(unpack_text(&in), "");
	ck_assert_str_eq(unpack_text(&in), "words");
	ck_assert(unpack_real(&in) == 0.5);
	ck_assert(!in.broken);
	ck_assert_uint_eq(unpack_number(&in), 0);
	ck_assert(in.broken);
}
END_TEST

START_TEST(a_cut_index_is_refused)
{
	struct cache_index index = {0}, back;
	struct cached_file file = {.path = "a.py", .normal = "a.py", .linted = true};

	vec_push(&arena, &index.files, file);
	ck_assert(cache_index_write("one.index", &index));
	ck_assert(cache_index_read(&arena, "one.index", &back));
	ck_assert_uint_eq(back.files.count, 1);
	ck_assert_str_eq(back.files.at[0].path, "a.py");
	ck_assert_int_eq(truncate("one.index", 40), 0);
	ck_assert(!cache_index_read(&arena, "one.index", &back));
	ck_assert(!cache_index_read(&arena, "none.index", &back));
}
END_TEST

Suite *cache_suite(void);

Suite *cache_suite(void)
{
	Suite *suite = suite_create("cache");
	TCase *tests = tcase_create("cache");

	tcase_set_timeout(tests, 120);
	tcase_add_checked_fixture(tests, enter, release);
	tcase_add_test(tests, a_second_run_analyses_nothing);
	tcase_add_test(tests, a_change_reaches_what_depends_on_it);
	tcase_add_test(tests, a_new_file_can_change_an_import);
	tcase_add_test(tests, only_what_depends_on_a_change_is_analysed);
	tcase_add_test(tests, a_file_that_comes_or_goes_is_analysed_alone);
	tcase_add_test(tests, a_finding_in_an_imported_file_stays);
	tcase_add_test(tests, a_file_that_cannot_be_read_does_not_undo_the_rest);
	tcase_add_test(tests, a_quick_change_is_seen);
	tcase_add_loop_test(tests, random_edits_do_not_change_the_output, 0, 12);
	tcase_add_test(tests, a_damaged_cache_is_no_cache);
	tcase_add_test(tests, a_folder_that_cannot_be_made_is_no_matter);
	tcase_add_test(tests, a_full_disk_is_no_matter);
	tcase_add_test(tests, runs_can_go_on_at_once);
	tcase_add_test(tests, the_cache_is_cleaned);
	tcase_add_test(tests, numbers_and_texts_are_packed);
	tcase_add_test(tests, a_cut_index_is_refused);
	suite_add_tcase(suite, tests);
	return suite;
}
