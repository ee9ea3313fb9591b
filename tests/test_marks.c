/* The harness of the fixtures itself: it must see what is missing, what is too
 * much, and marks that are out of date. */

#include <check.h>
#include <string.h>

#include "analyzer/finding/rule.h"
#include "tests/marks.h"

struct mark_case {
	const char *text;     /* comments at the start of a line are read as one each */
	const char *findings; /* "CODE@row severity", separated by ; */
	const char *differences;
};

static const struct mark_case cases[] = {
        {"x\n", "", ""},
        {"# expect: GL101\n", "GL101@1 error", ""},
        {"# expect: GL101\n", "", "a.py:1: GL101 is missing\n"},
        {"# expect: GL101\n", "GL101@2 error",
         "a.py:2: GL101 is not expected\na.py:1: GL101 is missing\n"},
        {"# expect: GL101\n", "GL102@1 error",
         "a.py:1: GL102 is not expected\na.py:1: GL101 is missing\n"},
        {"# expect: GL101, GL201\n", "GL101@1 error;GL201@1 error", ""},
        {"# expect: GL101 warning\n", "GL101@1 warning", ""},
        {"# expect: GL101 warning\n", "GL101@1 error", "a.py:1: GL101 error\n"},
        {"x\n", "GL101@1 error", "a.py:1: GL101 is not expected\n"},
        {"# allow: GL101\n", "", ""},
        {"# allow: GL101\n", "GL101@1 info", ""},
        {"# allow: GL101\n# expect: GL101\n", "GL101@1 info", ""},
        {"# allow: GL101\n# expect: GL101\n", "", "a.py:2: GL101 is missing\n"},
        {"# expect: GL101 # allow: GL201\n", "GL101@1 error;GL201@1 error", ""},
        {"# known-miss: GL104\n", "", ""},
        {"# known-miss: GL104\n", "GL104@1 error", "a.py:1: GL104 is found now: expect it\n"},
        {"# known-noise: GL104\n", "GL104@1 error", ""},
        {"# known-noise: GL104\n", "", "a.py:1: GL104 is quiet now: remove the mark\n"},
        {"# unexpect: GL104\n", "", ""},
};

enum { CASE_COUNT = sizeof(cases) / sizeof(cases[0]) };

static const struct rule rules[] = {
        {.code = "GL101"}, {.code = "GL102"}, {.code = "GL104"}, {.code = "GL201"}};

static struct arena arena;

static void read_comments(const struct source *source, struct front_result *lowered)
{
	for (uint32_t i = 0; i < source->line_count; i++) {
		struct front_comment comment = {source_line_span(source, i)};

		if (source->text[comment.span.start] == '#')
			vec_push(&arena, &lowered->comments, comment);
	}
}

static void add_finding(const struct source *source, const char *spec, finding_list *findings)
{
	static const enum severity severities[] = {SEVERITY_ERROR, SEVERITY_WARNING, SEVERITY_INFO};
	uint32_t row = (uint32_t)(spec[6] - '0');
	struct position position = {row, 1, 0};
	struct finding finding = {.source = source};

	finding.span.start = finding.span.end = source_offset(source, position);
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (!strncmp(rules[i].code, spec, 5))
			finding.rule = &rules[i];
	for (int i = 0; i < 3; i++)
		if (!strcmp(severity_name(severities[i]), spec + 8))
			finding.severity = severities[i];
	vec_push(&arena, findings, finding);
}

START_TEST(marks_are_compared)
{
	const struct mark_case *c = &cases[_i];
	struct source_problem problem;
	const struct source *source =
	        source_from_bytes(&arena, "a.py", c->text, strlen(c->text), &problem);
	struct front_result lowered = {0};
	struct text differences = {.arena = &arena};
	finding_list findings = {0};
	mark_list marks = {0};
	char *rest = arena_text(&arena, c->findings, strlen(c->findings)), *spec;

	while (*rest && (spec = strsep(&rest, ";"))) {
		add_finding(source, spec, &findings);
		if (!rest)
			break;
	}
	read_comments(source, &lowered);
	marks_read(&arena, source, &lowered, &marks);
	marks_compare(&marks, &findings, &differences);
	ck_assert_str_eq(text_chars(&differences), c->differences);
}
END_TEST

static void release(void)
{
	arena_release(&arena);
}

Suite *marks_suite(void)
{
	Suite *suite = suite_create("marks");
	TCase *tc = tcase_create("marks");

	tcase_add_checked_fixture(tc, NULL, release);
	tcase_add_loop_test(tc, marks_are_compared, 0, CASE_COUNT);
	suite_add_tcase(suite, tc);
	return suite;
}
