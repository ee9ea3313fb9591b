/* The shards of a run, put together, say what the run would have said at once. */

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/base/base64.h"
#include "analyzer/base/files.h"
#include "analyzer/base/text.h"
#include "tests/program.h"
#include "tests/random_tree.h"
#include "tests/temp_tree.h"

static struct arena arena;

static const char meter[] = "class Meter:\n"
                            "    def __init__(self):\n"
                            "        self.values = []\n"
                            "\n"
                            "    def add(self, value):\n"
                            "        self.values.append(value)\n"
                            "\n"
                            "    def note(self, value):\n"
                            "        self.values.append(value)  # noqa: GL101\n"
                            "\n"
                            "    def last(self):\n"
                            "        return 1  # noqa: GL102\n";

static void add_trainer(const char *path, const char *call)
{
	struct text text = {.arena = &arena};

	text_print(&text,
	           "import torch\nfrom torch import nn\nfrom tools.meter import Meter\n"
	           "model = nn.Linear(10, 1)\nmeter = Meter()\n"
	           "for step in range(100):\n"
	           "    loss = model(torch.randn(8, 10)).mean()\n    loss.backward()\n"
	           "    meter.%s(loss)\n",
	           call);
	temp_tree_add_text(path, text_chars(&text));
}

/* Findings that lie in other files than the ones they are found from, that only
 * another file makes certain, or that a comment there leaves out. */
static void enter(void)
{
	temp_tree_enter();
	temp_tree_add_text("tools/__init__.py", "");
	temp_tree_add_text("tools/meter.py", meter);
	add_trainer("one.py", "add");
	add_trainer("two.py", "add");
	add_trainer("three.py", "note");
	temp_tree_add_text("four.py", "import torch\nfrom five import keep\n"
	                              "w = torch.ones(3, requires_grad=True)\n"
	                              "kept = []\nfor i in range(9):\n    keep(kept, w * 2)\n");
	temp_tree_add_text("five.py", "import torch\n\n\ndef keep(kept, value):\n"
	                              "    kept.append(value)\n\n\ndef other(model, kept):\n"
	                              "    for x in range(9):\n        y = model(x)\n"
	                              "        y.backward()\n        kept.append(y)\n");
	temp_tree_add_text("six.py", "import torch\nfrom five import other\n"
	                             "other(torch.nn.Linear(3, 1), [])\n");
	temp_tree_add_text("broken.py", "import torch\ndef f(:\n    pass\n");
	temp_tree_add_text("plain.py", "x = 1  # noqa: GL103\n");
}

static void release(void)
{
	temp_tree_leave();
	arena_release(&arena);
}

GL_PRINTF(1, 2) static struct program_run run(const char *format, ...)
{
	struct text line = {.arena = &arena};
	va_list arguments;

	va_start(arguments, format);
	text_vprint(&line, format, arguments);
	va_end(arguments);
	return program_run(&arena, NULL, text_chars(&line));
}

/* Writes shards/1.json and so on; returns their names for merge. */
static const char *write_shards(const char *options, int parts)
{
	struct text names = {.arena = &arena};

	temp_tree_add_text("shards/.ignore", "");
	for (int i = 1; i <= parts; i++) {
		struct program_run part =
		        run("%s -f json --shard %d/%d -o shards/%d.json .", options, i, parts, i);

		ck_assert_msg(part.status < 2, "%s", part.err);
		/* in any order */
		text_print(&names, " shards/%d.json", parts + 1 - i);
	}
	return text_chars(&names);
}

static void check_merged(const char *options, int parts)
{
	static const char *const formats[] = {"json", "text", "sarif", "concise -v"};
	const char *names = write_shards(options, parts);

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		struct program_run whole = run("%s --no-cache -f %s .", options, formats[i]);
		struct program_run merged = run("merge -f %s%s", formats[i], names);

		ck_assert_msg(!strcmp(merged.out, whole.out), "%s, %d parts:\n%s", formats[i],
		              parts, program_difference(&arena, merged.out, whole.out));
		ck_assert_str_eq(merged.err, "");
		ck_assert_int_eq(merged.status, whole.status);
	}
}

static const int counts[] = {1, 2, 3, 7, 40};

START_TEST(shards_merge_to_the_whole)
{
	check_merged("--no-cache", counts[_i]);
}
END_TEST

START_TEST(what_was_asked_for_is_done_at_the_end)
{
	temp_tree_add_text("tools/graphlint.toml", "ignore = ['GL900']\n"
	                                           "[severity]\nGL1 = 'info'\n");
	check_merged("--no-cache --select GL1,GL9", 3);
	check_merged("--no-cache --fail-on info --min-confidence certain --ignore=GL103", 3);
	ck_assert_int_eq(run("--no-cache --write-baseline known.json one.py").status, 0);
	check_merged("--no-cache --baseline known.json", 3);
	check_merged("--no-cache --no-respect-gitignore --exclude 'five.py'", 2);
}
END_TEST

START_TEST(a_merge_says_how_it_is_written)
{
	const char *names = write_shards("--no-cache", 2);

	ck_assert_int_eq(run("merge --exit-zero%s", names).status, 0);
	ck_assert_int_eq(run("merge --fail-on error%s", names).status, 0);
	ck_assert_ptr_nonnull(strstr(run("merge --color always%s", names).out, "\x1b["));
	ck_assert_ptr_nonnull(strstr(run("merge --statistics%s", names).out, "  GL101 "));
	ck_assert_ptr_null(strstr(run("merge -q -j 1%s", names).out, " findings"));
	ck_assert_str_eq(run("merge -o merged.txt%s", names).out, "");
	ck_assert_int_eq(access("merged.txt", R_OK), 0);
}
END_TEST

/* A shard that was run before takes what it knows from the cache. */
START_TEST(shards_may_be_cached)
{
	check_merged("", 3);
	check_merged("", 3);
	temp_tree_add_text("tools/meter.py", "class Meter:\n    def add(self, value):\n"
	                                     "        self.last = value\n");
	check_merged("", 3);
}
END_TEST

START_TEST(a_change_before_the_merge_is_seen)
{
	const char *names = write_shards("--no-cache", 3);

	temp_tree_add_text("five.py", "def keep(kept, value):\n    pass\n");
	temp_tree_add_text("new.py", "import torch\nx = 1  # noqa: GL101\n");
	ck_assert_int_eq(unlink("one.py"), 0);
	ck_assert_str_eq(run("merge -f json%s", names).out, run("--no-cache -f json .").out);
}
END_TEST

START_TEST(random_trees_merge_to_the_whole)
{
	uint32_t state = (uint32_t)_i * 104729u + 5;

	for (int i = 0; i < 12; i++) {
		for (int k = 0; k < 4; k++)
			random_tree_edit(&state);
		check_merged(i % 2 ? "" : "--no-cache", 2 + i % 3);
	}
}
END_TEST

START_TEST(parts_that_do_not_fit_are_named)
{
	write_shards("--no-cache", 2);
	run("--no-cache -f json --shard 1/3 -o three.json .");
	run("--no-cache -f json --shard 2/2 --ignore GL1 -o other.json .");
	run("--no-cache -f json -o whole.json .");
	ck_assert_str_eq(run("merge shards/1.json").err,
	                 "graphlint: error: part 2 of 2 is missing\n");
	ck_assert_str_eq(
	        run("merge shards/1.json shards/1.json").err,
	        "graphlint: error: shards/1.json and shards/1.json are both part 1 of 2\n");
	ck_assert_str_eq(run("merge shards/2.json three.json").err,
	                 "graphlint: error: shards/2.json and three.json are not parts of the same "
	                 "run\n");
	ck_assert_str_eq(run("merge shards/1.json other.json").err,
	                 "graphlint: error: shards/1.json and other.json are not parts of the same "
	                 "run\n");
	ck_assert_str_eq(run("merge whole.json shards/1.json").err,
	                 "graphlint: error: shards/1.json is the report of a shard, whole.json is "
	                 "not\n");
	ck_assert_int_eq(run("merge whole.json").status, 1);
}
END_TEST

START_TEST(a_shard_is_a_part_of_files)
{
	ck_assert_ptr_nonnull(strstr(run("--shard 1/2 -").err, "standard input has no parts"));
	ck_assert_ptr_nonnull(strstr(run("--shard 1/2 --add-noqa .").err, "--add-noqa needs the "));
	ck_assert_ptr_nonnull(
	        strstr(run("--shard 1/2 --write-baseline x.json .").err, "--write-baseline needs"));
	ck_assert_ptr_nonnull(strstr(run("--shard 1/2 --watch .").err, "--watch needs the whole"));
}
END_TEST

/* Whatever a record was made into, it is refused, or does no harm. */
START_TEST(a_damaged_record_is_refused)
{
	struct file_text file;
	const char *record;
	uint32_t state = 3;

	write_shards("--no-cache", 1);
	ck_assert(file_read(&arena, "shards/1.json", &file));
	record = strstr(file.bytes, "\"record\": \"") + 11;
	for (int i = 0; i < 60; i++) {
		char *changed = arena_text(&arena, file.bytes, file.length);
		const size_t length = strcspn(record, "\"");
		const size_t at = (size_t)(record - file.bytes) + random_tree_next(&state) % length;
		struct program_run merged;

		changed[at] = changed[at] == 'A' ? 'B' : 'A';
		temp_tree_add("shards/1.json", changed, file.length);
		merged = run("merge shards/1.json");
		ck_assert_int_eq(merged.status, 2);
		ck_assert_msg(strstr(merged.err, "damaged") || strstr(merged.err, "version") ||
		                      strstr(merged.err, "no rule") ||
		                      strstr(merged.err, "option") || strstr(merged.err, "No such"),
		              "%s", merged.err);
	}
}
END_TEST

static const char *const bytes[] = {"", "a", "ab", "abc", "abcd", "\xff\xfe\xfd\xfc\xfb"};

START_TEST(letters_are_the_bytes)
{
	struct text letters = {.arena = &arena}, back = {.arena = &arena};

	base64_add(&letters, bytes[_i], strlen(bytes[_i]));
	ck_assert_uint_eq(letters.length, (strlen(bytes[_i]) + 2) / 3 * 4);
	ck_assert(base64_read(&back, text_chars(&letters), letters.length));
	ck_assert_str_eq(text_chars(&back), bytes[_i]);
}
END_TEST

START_TEST(other_letters_are_refused)
{
	struct text back = {.arena = &arena};

	ck_assert(base64_read(&back, "TWFu", 4));
	ck_assert_str_eq(text_chars(&back), "Man");
	ck_assert(!base64_read(&back, "TWF", 3));
	ck_assert(!base64_read(&back, "TW!u", 4));
	ck_assert(!base64_read(&back, "T===", 4));
	ck_assert(!base64_read(&back, "TW==TWFu", 8));
	ck_assert(base64_read(&back, "TWE=", 4));
	ck_assert(!base64_read(&back, "TWF=", 4));
	ck_assert(!base64_read(&back, "TR==", 4));
}
END_TEST

Suite *shards_suite(void);

Suite *shards_suite(void)
{
	Suite *suite = suite_create("shards");
	TCase *tests = tcase_create("shards");

	tcase_set_timeout(tests, 120);
	tcase_add_checked_fixture(tests, enter, release);
	tcase_add_loop_test(tests, shards_merge_to_the_whole, 0,
	                    (int)(sizeof(counts) / sizeof(counts[0])));
	tcase_add_test(tests, what_was_asked_for_is_done_at_the_end);
	tcase_add_test(tests, a_merge_says_how_it_is_written);
	tcase_add_test(tests, shards_may_be_cached);
	tcase_add_test(tests, a_change_before_the_merge_is_seen);
	tcase_add_loop_test(tests, random_trees_merge_to_the_whole, 0, 4);
	tcase_add_test(tests, parts_that_do_not_fit_are_named);
	tcase_add_test(tests, a_shard_is_a_part_of_files);
	tcase_add_test(tests, a_damaged_record_is_refused);
	tcase_add_loop_test(tests, letters_are_the_bytes, 0,
	                    (int)(sizeof(bytes) / sizeof(bytes[0])));
	tcase_add_test(tests, other_letters_are_refused);
	suite_add_tcase(suite, tests);
	return suite;
}
