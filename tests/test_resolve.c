#include <check.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/base/text.h"
#include "analyzer/project/resolve.h"
#include "tests/temp_tree.h"

static const struct {
	const char *importer, *root, *dotted, *paths;
} lookups[] = {
        {"a/b.py", "a", "m",
         "a/m.py a/m/__init__.py a/src/m.py a/src/m/__init__.py m.py m/__init__.py ../m.py "
         "../m/__init__.py ../../m.py ../../m/__init__.py"},
        /* beside the importer, where that is not the folder of the package */
        {"p/q/b.py", "p", "m.n",
         "p/m/n.py p/m/n/__init__.py p/q/m/n.py p/q/m/n/__init__.py p/src/m/n.py "
         "p/src/m/n/__init__.py m/n.py m/n/__init__.py ../m/n.py ../m/n/__init__.py "
         "../../m/n.py ../../m/n/__init__.py"},
        /* nothing is above the root */
        {"/t/b.py", "/t", "m",
         "/t/m.py /t/m/__init__.py /t/src/m.py /t/src/m/__init__.py /m.py /m/__init__.py"},
        {"/b.py", "/", "m", "/m.py /m/__init__.py /src/m.py /src/m/__init__.py"},
        {"a/b/c.py", "a", ".", "a/b/__init__.py"},
        {"a/b/c.py", "a", ".m", "a/b/m.py a/b/m/__init__.py"},
        {"a/b/c.py", "a", "...m", "m.py m/__init__.py"},
        {"c.py", ".", "..m", "../m.py ../m/__init__.py"},
        {"/c.py", "/", "...m", "/m.py /m/__init__.py"},
};
enum { LOOKUPS = sizeof(lookups) / sizeof(lookups[0]) };

START_TEST(modules_are_looked_for_in_order)
{
	struct arena arena = {0};
	struct text all = {.arena = &arena};
	struct resolve_paths paths;

	resolve_python(&arena, lookups[_i].importer, lookups[_i].root, lookups[_i].dotted, &paths);
	for (unsigned i = 0; i < paths.count; i++)
		text_print(&all, "%s%s", i ? " " : "", paths.at[i]);
	ck_assert_str_eq(text_chars(&all), lookups[_i].paths);
	arena_release(&arena);
}
END_TEST

static const char *const normal[][2] = {
        {"a//b/./c", "a/b/c"}, {"a/../b", "b"}, {"../../b", "../../b"}, {"a/..", "."},
        {"/..", "/"},          {"/../a", "/a"}, {"/a/../../b", "/b"},   {"./a/", "a"},
        {"a/../../b", "../b"}, {"/", "/"},
};
enum { NORMAL = sizeof(normal) / sizeof(normal[0]) };

START_TEST(paths_are_normalized)
{
	struct arena arena = {0};

	ck_assert_str_eq(resolve_normal(&arena, normal[_i][0]), normal[_i][1]);
	arena_release(&arena);
}
END_TEST

/* From where it is looked at makes no difference. */
START_TEST(the_root_is_above_the_outermost_package)
{
	struct arena arena = {0};
	struct text whole = {.arena = &arena};
	char here[4096];

	temp_tree_enter();
	temp_tree_add_text("p/__init__.py", "");
	temp_tree_add_text("p/q/__init__.py", "");
	temp_tree_add_text("p/q/m.py", "");
	temp_tree_add_text("s/m.py", "");
	ck_assert_ptr_nonnull(getcwd(here, sizeof(here)));
	ck_assert_str_eq(resolve_root(&arena, "p/q/m.py"), ".");
	ck_assert_str_eq(resolve_root(&arena, "p/__init__.py"), ".");
	ck_assert_str_eq(resolve_root(&arena, "s/m.py"), "s");
	ck_assert_str_eq(resolve_root(&arena, "m.py"), ".");
	text_print(&whole, "%s/p/q/m.py", here);
	ck_assert_str_eq(resolve_root(&arena, text_chars(&whole)), here);
	temp_tree_leave();
	arena_release(&arena);
}
END_TEST

Suite *resolve_suite(void)
{
	Suite *suite = suite_create("resolve");
	TCase *cases = tcase_create("paths");

	tcase_add_loop_test(cases, modules_are_looked_for_in_order, 0, LOOKUPS);
	tcase_add_loop_test(cases, paths_are_normalized, 0, NORMAL);
	tcase_add_test(cases, the_root_is_above_the_outermost_package);
	suite_add_tcase(suite, cases);
	return suite;
}
