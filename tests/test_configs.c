/* Each file has the nearest configuration upward; a run has one for the rest. */

#include <check.h>
#include <string.h>

#include "analyzer/base/text.h"
#include "tests/program.h"
#include "tests/temp_tree.h"

static struct arena arena;

static const char leak[] = "import torch\n"
                           "w = torch.ones(3, requires_grad=True)\n"
                           "total = 0\n"
                           "kept = []\n"
                           "for step in range(9):\n"
                           "    loss = (w * 2).sum()\n"
                           "    total += loss\n"
                           "    kept.append(loss)\n";

static void enter(void)
{
	temp_tree_enter();
	temp_tree_add_text("top.py", leak);
	temp_tree_add_text("a/src/in_a.py", leak);
	temp_tree_add_text("b/in_b.py", leak);
	temp_tree_add_text("c/in_c.py", leak);
	temp_tree_add_text("c/vendored/theirs.py", leak);
	temp_tree_add_text("pyproject.toml", "[tool.graphlint]\nignore = ['GL103']\n");
	temp_tree_add_text("a/pyproject.toml", "[tool.graphlint]\nselect = ['GL103']\n"
	                                       "fail-on = 'error'\nmin-confidence = 'likely'\n");
	temp_tree_add_text("b/pyproject.toml", "[tool.other]\nline-length = 100\n");
	temp_tree_add_text("c/graphlint.toml", "extend = '../pyproject.toml'\n"
	                                       "extend-exclude = ['vendored/']\n"
	                                       "[severity]\nGL1 = 'info'\n");
}

static void release(void)
{
	temp_tree_leave();
	arena_release(&arena);
}

/* Of each finding: place without column, severity, code. */
static const char *found(const char *arguments)
{
	struct text line = {.arena = &arena}, out = {.arena = &arena};
	const char *at;

	text_print(&line, "-q -f concise --confirm never %s", arguments);
	at = program_run(&arena, NULL, text_chars(&line)).out;
	for (size_t length; *at; at += length + (at[length] == '\n')) {
		const char *colon = strchr(strchr(at, ':') + 1, ':');
		const char *what = strchr(colon, ' ');
		const char *code = strchr(what + 1, ' ');

		length = strcspn(at, "\n");
		text_add(&out, at, (size_t)(colon - at));
		text_add(&out, what, (size_t)(code - what) + sizeof("GL101"));
		text_add_char(&out, '\n');
	}
	return text_chars(&out);
}

START_TEST(the_nearest_one_holds)
{
	ck_assert_str_eq(found("."), "a/src/in_a.py:7 warning GL103\n"
	                             "b/in_b.py:8 warning GL101\n"
	                             "c/in_c.py:8 info GL101\n"
	                             "top.py:8 warning GL101\n");
}
END_TEST

START_TEST(it_does_not_matter_what_was_named)
{
	ck_assert_str_eq(found("a/src/in_a.py c b/in_b.py"), "a/src/in_a.py:7 warning GL103\n"
	                                                     "b/in_b.py:8 warning GL101\n"
	                                                     "c/in_c.py:8 info GL101\n");
	ck_assert_str_eq(found("a/src"), "a/src/in_a.py:7 warning GL103\n");
}
END_TEST

START_TEST(one_that_is_named_holds_for_all)
{
	ck_assert_str_eq(found("--config a/pyproject.toml b c"),
	                 "b/in_b.py:7 warning GL103\n"
	                 "c/in_c.py:7 warning GL103\n"
	                 "c/vendored/theirs.py:7 warning GL103\n");
	ck_assert_str_eq(found("--isolated a"), "a/src/in_a.py:7 warning GL103\n"
	                                        "a/src/in_a.py:8 warning GL101\n");
}
END_TEST

START_TEST(the_command_line_holds_for_all)
{
	ck_assert_str_eq(found("--select GL101 a c"), "a/src/in_a.py:8 warning GL101\n"
	                                              "c/in_c.py:8 info GL101\n");
}
END_TEST

START_TEST(a_folder_excludes_for_itself)
{
	ck_assert_str_eq(found("c/vendored/theirs.py"), "c/vendored/theirs.py:8 info GL101\n");
	ck_assert_str_eq(found("--force-exclude c/vendored/theirs.py"), "");
	temp_tree_add_text("c/vendored/graphlint.toml", "exclude = []\n");
	ck_assert_str_eq(found("--force-exclude c/vendored/theirs.py"), "");
	temp_tree_add_text("graphlint.toml", "exclude = ['c/']\n");
	ck_assert_str_eq(found("c b"), "b/in_b.py:7 warning GL103\n"
	                               "b/in_b.py:8 warning GL101\n"
	                               "c/in_c.py:8 info GL101\n");
	ck_assert_str_eq(found("--force-exclude c/in_c.py"), "");
}
END_TEST

START_TEST(each_file_says_what_fails)
{
	temp_tree_add_text("a/pyproject.toml", "[tool.graphlint]\nfail-on = 'error'\n"
	                                       "[tool.graphlint.severity]\nGL1 = 'warning'\n");
	ck_assert_int_eq(program_run(&arena, NULL, "a").status, 0);
	ck_assert_int_eq(program_run(&arena, NULL, "--fail-on warning a").status, 1);
	ck_assert_int_eq(program_run(&arena, NULL, "a b").status, 1);
}
END_TEST

START_TEST(models_hold_for_the_run)
{
	temp_tree_add_text("c/graphlint.toml",
	                   "[extend-models]\n'theirs.smooth' = 'returns-graph'\n");
	temp_tree_add_text("use.py", "from theirs import smooth\n"
	                             "total = 0\n"
	                             "for i in range(9):\n"
	                             "    total += smooth(i)\n");
	ck_assert_str_eq(found("--select GL103 use.py"), "");
	ck_assert_str_eq(found("--select GL103 use.py c"), "c/in_c.py:7 warning GL103\n"
	                                                   "c/vendored/theirs.py:7 warning GL103\n"
	                                                   "use.py:4 error GL103\n");
}
END_TEST

START_TEST(a_wrong_one_stops_the_run)
{
	struct program_run run;

	temp_tree_add_text("b/graphlint.toml", "slect = []\n");
	run = program_run(&arena, NULL, ".");
	ck_assert_int_eq(run.status, 2);
	ck_assert_str_eq(run.out, "");
	ck_assert_str_eq(run.err, "graphlint: error: b/graphlint.toml:1: `slect` is no setting; "
	                          "did you mean `select`?\n");
	ck_assert_int_eq(program_run(&arena, NULL, "--show-files").status, 2);
	ck_assert_int_eq(program_run(&arena, NULL, "a top.py").status, 1);
}
END_TEST

/* With the cache of the run before, the output is that of a run without. */
static void check_cached(void)
{
	const char *cached = program_run(&arena, NULL, "-f json .").out;

	ck_assert_str_eq(cached, program_run(&arena, NULL, "-f json --no-cache .").out);
}

START_TEST(the_cache_follows)
{
	check_cached();
	temp_tree_add_text("b/graphlint.toml", "select = ['GL103']\n");
	check_cached();
	temp_tree_add_text("b/graphlint.toml", "exclude = ['in_b.py']\n");
	check_cached();
	temp_tree_add_text("b/graphlint.toml", "[extend-models]\n'torch.ones' = 'detaches'\n");
	check_cached();
	temp_tree_add_text("a/graphlint.toml", "min-confidence = 'confirmed'\n");
	check_cached();
}
END_TEST

Suite *configs_suite(void);

Suite *configs_suite(void)
{
	Suite *suite = suite_create("configs");
	TCase *tests = tcase_create("configs");

	tcase_add_checked_fixture(tests, enter, release);
	tcase_add_test(tests, the_nearest_one_holds);
	tcase_add_test(tests, it_does_not_matter_what_was_named);
	tcase_add_test(tests, one_that_is_named_holds_for_all);
	tcase_add_test(tests, the_command_line_holds_for_all);
	tcase_add_test(tests, a_folder_excludes_for_itself);
	tcase_add_test(tests, each_file_says_what_fails);
	tcase_add_test(tests, models_hold_for_the_run);
	tcase_add_test(tests, a_wrong_one_stops_the_run);
	tcase_add_test(tests, the_cache_follows);
	suite_add_tcase(suite, tests);
	return suite;
}
