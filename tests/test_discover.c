#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/base/text.h"
#include "analyzer/source/discover.h"
#include "analyzer/source/gitignore.h"
#include "analyzer/source/glob.h"
#include "tests/temp_tree.h"

static struct arena arena;

static void release(void)
{
	arena_release(&arena);
}

/* Patterns */

static const struct {
	const char *pattern;
	const char *path;
	bool matches;
} globs[] = {
        {"a", "a", true},
        {"a", "b", false},
        {"", "", true},
        {"*", "", true},
        {"*", "abc", true},
        {"*", "a/b", false},
        {"*.py", "x.py", true},
        {"*.py", "x.pyc", false},
        {"a*b*c", "aXbYbZc", true},
        {"a*b*c", "aXbYbZ", false},
        {"?", "a", true},
        {"?", "/", false},
        {"a?b", "a/b", false},
        {"**", "a/b/c", true},
        {"**/x", "x", true},
        {"**/x", "a/b/x", true},
        {"**/x", "ax", false},
        {"a/**", "a/b/c", true},
        {"a/**", "a", false},
        {"a/**", "ab/c", false},
        {"a/**/b", "a/b", true},
        {"a/**/b", "a/x/y/b", true},
        {"a/**/b", "a/xb", false},
        {"a/**/b/*.c", "a/b/x/b/y.c", true},
        {"a**b", "axxb", true},
        {"a**b", "a/b", false},
        {"**a", "b/a", false},
        {"**a", "ba", true},
        {"***/a", "b/c/a", true},
        {"a/***", "a/b/c", true},
        {"[abc]x", "bx", true},
        {"[a-c]x", "dx", false},
        {"[!a-c]x", "dx", true},
        {"[^a]x", "ax", false},
        {"[]a]x", "]x", true},
        {"[!]]x", "]x", false},
        {"[a-]x", "-x", true},
        {"[[:digit:]]x", "7x", true},
        {"[[:digit:]]x", "ax", false},
        {"[![:space:]]x", " x", false},
        {"[a", "[a", false},
        {"a[/]b", "a/b", false},
        {"\\*", "*", true},
        {"\\*", "x", false},
        {"[\\]]", "]", true},
        {"a\\", "a\\", true},
        {"*/b", "a/b", true},
        {"*/b", "a/c/b", false},
        {"a/*/**/c", "a/x/c", true},
        {"a/*/**/c", "a/c", false},
};

enum { GLOB_COUNT = sizeof(globs) / sizeof(globs[0]) };

START_TEST(globs_match)
{
	bool matches = glob_match(globs[_i].pattern, strlen(globs[_i].pattern), globs[_i].path,
	                          strlen(globs[_i].path));

	ck_assert_msg(matches == globs[_i].matches, "%s and %s", globs[_i].pattern, globs[_i].path);
}
END_TEST

START_TEST(many_stars_take_no_time)
{
	struct text pattern = {.arena = &arena}, path = {.arena = &arena};

	for (int i = 0; i < 2000; i++) {
		text_add_chars(&pattern, i % 10 ? "*a" : "**/");
		text_add_chars(&path, i % 10 ? "aa" : "/");
	}
	text_add_char(&pattern, 'b');
	ck_assert(!glob_match(pattern.at, pattern.length, path.at, path.length));
}
END_TEST

/* Ignore files */

static const struct {
	const char *file;
	const char *path; /* a slash at the end: a folder */
	enum ignore_verdict verdict;
} ignores[] = {
        {"*.log\n", "a.log", IGNORE_EXCLUDED},
        {"*.log\n", "x/y/a.log", IGNORE_EXCLUDED},
        {"*.log", "a.txt", IGNORE_SILENT},
        {"#x\n", "#x", IGNORE_SILENT},
        {"\\#x\n", "#x", IGNORE_EXCLUDED},
        {"*\n!a\n", "a", IGNORE_KEPT},
        {"!a\n*\n", "a", IGNORE_EXCLUDED},
        {"\\!a\n", "!a", IGNORE_EXCLUDED},
        {"/a\n", "a", IGNORE_EXCLUDED},
        {"/a\n", "x/a", IGNORE_SILENT},
        {"x/a\n", "x/a", IGNORE_EXCLUDED},
        {"x/a\n", "y/x/a", IGNORE_SILENT},
        {"x/\n", "x", IGNORE_SILENT},
        {"x/\n", "x/", IGNORE_EXCLUDED},
        {"x/\n", "y/x/", IGNORE_EXCLUDED},
        {"/x/\n", "y/x/", IGNORE_SILENT},
        {"a  \n", "a", IGNORE_EXCLUDED},
        {"a\\ \n", "a ", IGNORE_EXCLUDED},
        {"a\r\nb\r\n", "a", IGNORE_EXCLUDED},
        {"\xef\xbb\xbf"
         "a\n",
         "a", IGNORE_EXCLUDED},
        {"/\n\n   \n!\n", "a", IGNORE_SILENT},
        {"**/foo/bar\n", "x/foo/bar", IGNORE_EXCLUDED},
        {"foo/**\n", "foo/a/b", IGNORE_EXCLUDED},
};

enum { IGNORE_COUNT = sizeof(ignores) / sizeof(ignores[0]) };

START_TEST(ignore_files_decide)
{
	struct ignore_list list = {0};
	size_t length = strlen(ignores[_i].path);
	bool is_folder = ignores[_i].path[length - 1] == '/';

	ignore_add_lines(&arena, &list, ignores[_i].file, strlen(ignores[_i].file));
	ck_assert_msg(ignore_match(&list, ignores[_i].path, length - is_folder, is_folder) ==
	                      ignores[_i].verdict,
	              "%s against %s", ignores[_i].path, ignores[_i].file);
}
END_TEST

/* Discovery: the files of a tree, the paths asked for, what is found */

static const char *const suffixes[] = {".py", ".ipynb", NULL};

static const char *found_in(const struct discover_options *given, const char *paths)
{
	struct discover_options options = *given;
	struct discovery found = {0};
	struct text out = {.arena = &arena};
	const char *arguments[16];
	uint32_t count = 0;
	char *rest = arena_text(&arena, paths, strlen(paths)), *path;

	while ((path = strsep(&rest, " ")))
		arguments[count++] = path;
	options.suffixes = suffixes;
	discover(&arena, &options, arguments, count, &found);
	for (uint32_t i = 0; i < found.files.count; i++)
		text_print(&out, "%s%s%s", i ? " " : "", found.files.at[i].path,
		           found.files.at[i].named ? "+" : "");
	for (uint32_t i = 0; i < found.problems.count; i++)
		text_print(&out, " [%s: %s]", found.problems.at[i].path,
		           found.problems.at[i].message);
	return text_chars(&out);
}

static const struct {
	const char *files; /* name or name=content, separated by spaces; ; is a line end */
	const char *paths;
	const char *found;
	struct discover_options options;
} trees[] = {
        {"b.py a.py c.txt d.ipynb", ".", "a.py b.py d.ipynb", {0}},
        {"x/b.py x/a/z.py x/a.py", "x", "x/a.py x/a/z.py x/b.py", {0}},
        {"x/a.py", "./x//", "x/a.py", {0}},
        {"x/a.py", "x/../x", "x/../x/a.py", {0}},
        {"x/a.py x/b.py", "x x/a.py ./x/a.py", "x/a.py+ x/b.py", {0}},
        {"script a.py", "script", "script+", {0}},
        {"a.py", "missing a.py", "a.py+ [missing: No such file or directory]", {0}},
        /* excludes */
        {"a.py .venv/b.py x/node_modules/c.py build/d.py .git/e.py", ".", "a.py", {0}},
        {"env/pyvenv.cfg env/a.py b.py", ".", "b.py", {0}},
        {"build/a.py", "build", "build/a.py", {0}},
        {"build/a.py", "build/a.py", "build/a.py+", {0}},
        {"build/a.py", "build/a.py", "", {.force_exclude = true}},
        {"build/a.py", ".", "build/a.py", {.no_default_excludes = true}},
        {"build.py x/build", ".", "build.py", {0}},
        {"a.py x/a.py y/x/a.py y/b.py",
         ".",
         "a.py y/x/a.py",
         {.excludes = (const char *const[]){"/x", "y/b.py", NULL}}},
        {"a.py x/a.py y/x/b.py",
         ".",
         "y/x/b.py",
         {.excludes = (const char *const[]){"a.py", NULL}}},
        {"a.py x/a.py", "x", "", {.excludes = (const char *const[]){"./x/*", NULL}}},
        {"build/a.py", ".", "build/a.py", {.excludes = (const char *const[]){"!build/", NULL}}},
        /* git's ignore files */
        {".gitignore=*.py a.py", ".", "", {0}},
        {".gitignore=*.py a.py", ".", "a.py", {.no_gitignore = true}},
        {".gitignore=*.py a.py", "a.py", "a.py+", {0}},
        {".git/HEAD .gitignore=*.py a.py", "a.py", "", {.force_exclude = true}},
        {".gitignore=x/;!x/a.py x/a.py b.py", ".", "b.py", {0}},
        {".gitignore=*.py;!k.py k.py a.py", ".", "k.py", {0}},
        {".gitignore=*.py x/.gitignore=!a.py x/a.py x/b.py c.py", ".", "x/a.py", {0}},
        {".git/HEAD .gitignore=/x/gen/ x/gen/a.py x/b.py", "x", "x/b.py", {0}},
        {".git/HEAD .gitignore=/x/gen/ x/gen/a.py x/b.py", "x/gen", "x/gen/a.py", {0}},
        {".git/info/exclude=a.py a.py b.py", ".", "b.py", {0}},
        {".git/info/exclude=a.py .gitignore=!a.py a.py b.py", ".", "a.py b.py", {0}},
        {".git/HEAD .gitignore=*.py sub/.git/HEAD sub/a.py a.py", ".", "sub/a.py", {0}},
        {".gitignore=**/gen/*.py a/gen/x.py a/gen/y/z.py gen/w.py", ".", "a/gen/y/z.py", {0}},
        {".git/HEAD .gitignore=deep/er/ deep/.gitignore=a.py deep/er/b.py deep/a.py deep/c.py",
         "deep",
         "deep/c.py",
         {0}},
};

enum { TREE_COUNT = sizeof(trees) / sizeof(trees[0]) };

static void make_tree(const char *files)
{
	char *rest = arena_text(&arena, files, strlen(files)), *file;

	while ((file = strsep(&rest, " "))) {
		char *content = strchr(file, '=');

		if (content)
			*content++ = '\0';
		for (char *c = content; c && *c; c++)
			if (*c == ';')
				*c = '\n';
		temp_tree_add_text(file, content ? content : "");
	}
}

START_TEST(files_are_discovered)
{
	make_tree(trees[_i].files);
	ck_assert_str_eq(found_in(&trees[_i].options, trees[_i].paths), trees[_i].found);
}
END_TEST

static const struct discover_options plain;

START_TEST(links_to_folders_are_not_followed)
{
	make_tree("x/a.py y/b.py");
	ck_assert_int_eq(symlink("..", "x/up"), 0);
	ck_assert_int_eq(symlink("../y", "x/y"), 0);
	ck_assert_int_eq(symlink("../y/b.py", "x/b.py"), 0);
	ck_assert_int_eq(symlink("nowhere", "x/c.py"), 0);
	ck_assert_int_eq(symlink("loop.py", "x/loop.py"), 0);
	ck_assert_str_eq(found_in(&plain, "x"), "x/a.py x/b.py");
	ck_assert_int_eq(symlink("x", "named"), 0);
	ck_assert_str_eq(found_in(&plain, "named"), "named/a.py named/b.py");
	ck_assert_str_eq(found_in(&plain, "named x"), "x/a.py x/b.py");
}
END_TEST

START_TEST(pipes_in_folders_are_left_out)
{
	make_tree("x/a.py");
	ck_assert_int_eq(mkfifo("x/p.py", 0600), 0);
	ck_assert_str_eq(found_in(&plain, "x"), "x/a.py");
}
END_TEST

START_TEST(a_deep_tree_ends)
{
	struct text path = {.arena = &arena};
	const char *found;

	for (int i = 0; i < 300; i++)
		text_add_chars(&path, "d/");
	text_add_chars(&path, "a.py");
	make_tree(path.at);
	found = found_in(&plain, "d");
	ck_assert_ptr_nonnull(strstr(found, ": nested too deep]"));
}
END_TEST

START_TEST(a_folder_without_permission_is_a_problem)
{
	make_tree("x/a.py y/b.py");
	ck_assert_int_eq(chmod("y", 0), 0);
	if (!access("y", R_OK))
		return; /* root may read everything */
	ck_assert_str_eq(found_in(&plain, "."), "x/a.py [y: Permission denied]");
	ck_assert_int_eq(chmod("y", 0700), 0);
}
END_TEST

Suite *discover_suite(void)
{
	Suite *suite = suite_create("discover");
	TCase *patterns = tcase_create("patterns"), *files = tcase_create("files");

	tcase_add_checked_fixture(patterns, NULL, release);
	tcase_add_loop_test(patterns, globs_match, 0, GLOB_COUNT);
	tcase_add_test(patterns, many_stars_take_no_time);
	tcase_add_loop_test(patterns, ignore_files_decide, 0, IGNORE_COUNT);
	suite_add_tcase(suite, patterns);

	tcase_add_checked_fixture(files, NULL, release);
	tcase_add_checked_fixture(files, temp_tree_enter, temp_tree_leave);
	tcase_add_loop_test(files, files_are_discovered, 0, TREE_COUNT);
	tcase_add_test(files, links_to_folders_are_not_followed);
	tcase_add_test(files, pipes_in_folders_are_left_out);
	tcase_add_test(files, a_deep_tree_ends);
	tcase_add_test(files, a_folder_without_permission_is_a_problem);
	suite_add_tcase(suite, files);
	return suite;
}
