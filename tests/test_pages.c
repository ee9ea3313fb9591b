#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/app/pages.h"
#include "analyzer/base/text.h"
#include "rules/rules.h"
#include "tests/program.h"
#include "tests/temp_tree.h"

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

static const char *page_of(const struct rule *rule)
{
	const char *page = page_of_rule(rule);

	ck_assert_msg(page != NULL, "docs/rules/%s.md does not exist", rule->slug);
	return page;
}

START_TEST(a_page_says_what_the_table_says)
{
	static const char *const headings[] = {
	        "## What happens\n",
	        "## How to fix it\n",
	        "## Bad\n",
	        "## Good\n",
	        "## The symptom in a run\n",
	        "## Lifetimes and figures\n",
	        "## What it cannot see\n",
	        "## How to silence it\n",
	};
	const struct rule *rule = &rules_all().at[_i];
	struct text head = {.arena = &arena};
	const char *page = page_of(rule);
	const char *at = page;

	text_print(&head, "# %s %s\n\n*%s at most, %s by default*\n\n", rule->code, rule->slug,
	           severity_name(rule->severity), rule->on_by_default ? "on" : "off");
	ck_assert_msg(!strncmp(page, text_chars(&head), head.length), "%s begins otherwise",
	              rule->slug);
	for (size_t i = 0; i < sizeof(headings) / sizeof(headings[0]); i++) {
		at = strstr(at, headings[i]);
		ck_assert_msg(at != NULL, "%s: no %s", rule->slug, headings[i]);
	}
}
END_TEST

START_TEST(every_page_has_a_rule)
{
	int count = 0;

	for (const struct page *page = pages; page->slug; page++, count++)
		ck_assert_msg(rule_find(rules_all(), page->slug) != NULL, "%s", page->slug);
	ck_assert_int_eq(count, (int)rules_all().count);
}
END_TEST

/* The block of code under a heading becomes a file. */
static void write_example(const char *page, const char *heading, const char *path)
{
	const char *start = strstr(page, heading);
	const char *end;

	ck_assert_ptr_nonnull(start);
	start = strstr(start, "```python\n");
	ck_assert_ptr_nonnull(start);
	start += 10;
	end = strstr(start, "```\n");
	ck_assert_ptr_nonnull(end);
	temp_tree_add(path, start, (size_t)(end - start));
}

static struct program_run lint(const struct rule *rule, const char *path)
{
	struct text line = {.arena = &arena};

	text_print(&line,
	           "check --isolated --quiet --no-cache --format concise --extend-select %s %s",
	           rule->code, path);
	return program_run(&arena, NULL, text_chars(&line));
}

START_TEST(the_examples_show_the_rule)
{
	const struct rule *rule = &rules_all().at[_i];
	struct program_run bad, good;

	write_example(page_of(rule), "## Bad\n", "bad.py");
	write_example(page_of(rule), "## Good\n", "good.py");
	bad = lint(rule, "bad.py");
	good = lint(rule, "good.py");
	ck_assert_int_ge(good.status, 0);
	ck_assert_int_lt(good.status, 2);
	ck_assert_msg(strstr(bad.out, rule->code) != NULL, "%s: the bad example gives:\n%s%s",
	              rule->code, bad.out, bad.err);
	ck_assert_msg(strstr(good.out, rule->code) == NULL, "%s: the good example gives:\n%s",
	              rule->code, good.out);
}
END_TEST

/* The number that ends before `at`: "8,192". */
static double number_before(const char *start, const char *at)
{
	const char *first = at;
	struct text digits = {.arena = &arena};

	while (first > start && strchr("0123456789,", first[-1]))
		first--;
	for (; first < at; first++) {
		if (*first != ',')
			text_add_char(&digits, *first);
	}
	return strtod(text_chars(&digits), NULL);
}

static double slope_after(const char *json, const char *name)
{
	const char *verdict = strstr(json, name);
	const char *slope = verdict ? strstr(verdict, "\"slope\": ") : NULL;

	ck_assert_ptr_nonnull(slope);
	return strtod(slope + 9, NULL);
}

/* "8,192 bytes and 3 nodes a step": measured under PyTorch once, and what a replay
 * of the example says every time. */
START_TEST(the_figures_are_those_of_a_replay)
{
	const struct rule *rule = &rules_all().at[_i];
	const char *section = strstr(page_of(rule), "## Lifetimes and figures\n");
	const char *bytes = strstr(section, " bytes and "), *nodes;
	struct program_run run;

	nodes = bytes ? strstr(bytes, " nodes a ") : NULL;
	if (!nodes || nodes - bytes > 20)
		return;
	write_example(page_of(rule), "## Bad\n", "bad.py");
	run = program_run(&arena, NULL, "replay --format json bad.py");
	ck_assert_double_eq(slope_after(run.out, "\"verdict\""), number_before(section, bytes));
	ck_assert_double_eq(slope_after(run.out, "\"nodes_verdict\""),
	                    number_before(section, nodes));
}
END_TEST

START_TEST(most_pages_have_figures)
{
	int count = 0;

	for (uint32_t i = 0; i < rules_all().count; i++) {
		const char *bytes = strstr(page_of(&rules_all().at[i]), " bytes and ");

		count += bytes && strstr(bytes, " nodes a ");
	}
	ck_assert_int_ge(count, 9);
}
END_TEST

START_TEST(explain_prints_the_page)
{
	const struct rule *rule = &rules_all().at[_i];
	struct text line = {.arena = &arena};
	struct program_run run;

	text_print(&line, "explain %s", rule->slug);
	run = program_run(&arena, NULL, text_chars(&line));
	ck_assert_int_eq(run.status, 0);
	ck_assert_str_eq(run.out, page_of(rule));
}
END_TEST

Suite *pages_suite(void);

Suite *pages_suite(void)
{
	Suite *suite = suite_create("pages");
	TCase *tests = tcase_create("pages");
	int count = (int)rules_all().count;

	tcase_set_timeout(tests, 60);
	tcase_add_checked_fixture(tests, enter, release);
	tcase_add_loop_test(tests, a_page_says_what_the_table_says, 0, count);
	tcase_add_test(tests, every_page_has_a_rule);
	tcase_add_loop_test(tests, the_examples_show_the_rule, 0, count);
	tcase_add_loop_test(tests, the_figures_are_those_of_a_replay, 0, count);
	tcase_add_test(tests, most_pages_have_figures);
	tcase_add_loop_test(tests, explain_prints_the_page, 0, count);
	suite_add_tcase(suite, tests);
	return suite;
}
