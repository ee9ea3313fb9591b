#include <check.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/engine/baseline.h"
#include "analyzer/engine/directive.h"
#include "analyzer/engine/noqa.h"
#include "analyzer/engine/select.h"
#include "analyzer/engine/suppress.h"

static struct arena arena;

static void release(void)
{
	arena_release(&arena);
}

static const struct rule rules[] = {
        {"GL101", "graph-in-list", SEVERITY_ERROR, true, SHOWN_NOTHING, "a list", NULL, NULL},
        {"GL103", "graph-accumulator", SEVERITY_ERROR, true, SHOWN_NOTHING, "a sum", NULL, NULL},
        {"GL502", "sync-per-step", SEVERITY_INFO, false, SHOWN_NOTHING, "a read", NULL, NULL},
        {"GL900", "unused-suppression", SEVERITY_WARNING, true, SHOWN_NOTHING, "unused", NULL,
         NULL},
};

static const struct rule_table table = {rules, 4};

static struct source *source_of(const char *path, const char *text)
{
	struct source_problem problem;
	struct source *source = source_from_bytes(&arena, path, text, strlen(text), &problem);

	ck_assert_ptr_nonnull(source);
	return source;
}

/* Everything from a comment mark to the line's end: enough for these texts. */
static void comments_of(const struct source *source, const char *mark, struct suppress_file *file)
{
	VEC(struct span) spans = {0};

	for (uint32_t line = 0; line < source->line_count; line++) {
		struct span span = source_line_span(source, line);
		const char *at = memmem(source->text + span.start, span.end - span.start, mark,
		                        strlen(mark));

		if (at)
			vec_push(&arena, &spans,
			         (struct span){(uint32_t)(at - source->text), span.end});
	}
	*file = (struct suppress_file){
	        .source = source, .comments = spans.at, .comment_count = spans.count};
}

/* A GL103 finding at every `!` and a GL101 at every `?`. */
static void findings_of(const struct source *source, finding_list *findings)
{
	for (uint32_t at = 0; at < source->length; at++) {
		struct finding finding = {
		        .source = source, .severity = SEVERITY_ERROR, .message = "m"};

		if (source->text[at] != '!' && source->text[at] != '?')
			continue;
		finding.rule = source->text[at] == '!' ? &rules[1] : &rules[0];
		finding.span = (struct span){at, at + 1};
		vec_push(&arena, findings, finding);
	}
}

static struct outcome suppressed(const struct source *source, const char *mark)
{
	struct outcome outcome = {0};
	struct suppress_file file;

	findings_of(source, &outcome.findings);
	comments_of(source, mark, &file);
	suppress_findings(&arena, table, &file, 1, &outcome);
	return outcome;
}

/* What is left: "code@line" with blanks between. */
static const char *left(const struct outcome *outcome)
{
	struct text text = {.arena = &arena};

	for (uint32_t i = 0; i < outcome->findings.count; i++) {
		const struct finding *finding = &outcome->findings.at[i];

		text_print(&text, "%s%s@%u", i ? " " : "", finding->rule->code,
		           source_position(finding->source, finding->span.start).row);
	}
	return text_chars(&text);
}

static const struct {
	const char *text, *left;
} python_cases[] = {
        {"a!\n", "GL103@1"},
        {"a! # noqa: GL103\n", ""},
        {"a! # NoQA:GL103\n", ""},
        {"a! # noqa\n", ""},
        {"a! # noqa: E501, GL103\n", ""},
        {"a! # noqa: E501 GL103\n", ""},
        {"a! # noqa: GL1\n", ""},
        {"a! # noqa:\n", "GL103@1"},
        {"a! # noqa-not\n", "GL103@1"},
        {"a! # noqaGL103\n", "GL103@1"},
        {"a! # type: ignore # noqa: GL103\n", ""},
        {"a! # noqa: E501\n", "GL103@1"},
        {"a # noqa: E501\n", ""},
        {"a # noqa\n", ""},
        {"a # noqa: GL103\n", "GL900@1"},
        {"a! # noqa: GL103, GL101\n", "GL900@1"},
        {"a! # noqa: GL101\n", "GL103@1 GL900@1"},
        {"a! # noqa: GL999\n", "GL103@1 GL900@1"},
        {"a # noqa: GL103, GL900\n", ""},
        {"a! # graphlint: ignore[GL103]\n", ""},
        {"a! # graphlint: ignore[graph-accumulator]\n", ""},
        {"a! # graphlint: ignore [GL103]\n", ""},
        {"a! # graphlint: ignore[GL101, GL103]\n", "GL900@1"},
        {"a! # graphlint: ignore\n", ""},
        {"a # graphlint: ignore\n", "GL900@1"},
        {"a! # graphlint: ignored\n", "GL103@1"},
        {"a!\n# graphlint: ignore-file\nb?\n", ""},
        {"a!\n# graphlint: ignore-file[GL103]\nb?\n", "GL101@3"},
        {"a\n# graphlint: ignore-file\n", "GL900@2"},
        {"a!\nb # noqa: GL103\n", "GL103@1 GL900@2"},
        {"a! # flake8: noqa\n", "GL103@1"},
};

START_TEST(python_comments_suppress)
{
	struct outcome outcome = suppressed(source_of("a.py", python_cases[_i].text), "#");

	ck_assert_msg(!strcmp(left(&outcome), python_cases[_i].left), "%s: %s left",
	              python_cases[_i].text, left(&outcome));
}
END_TEST

static const struct {
	const char *text, *left;
} cpp_cases[] = {
        {"a!; // NOLINT\n", ""},
        {"a!; // NOLINT(GL103)\n", ""},
        {"a!; // NOLINT(graph-accumulator)\n", ""},
        {"a!; // NOLINT(*)\n", ""},
        {"a!; // NOLINT(bugprone-*)\n", "GL103@1"},
        {"a!; // NOLINT(bugprone-*, GL1*)\n", ""},
        {"a!; // see NOLINT(GL103) above\n", ""},
        {"a!; // NOLINTNEXTLINE(GL103)\nb!;\n", "GL103@1"},
        {"// NOLINTNEXTLINE(GL103)\nb!;\n", ""},
        {"// NOLINTNEXTLINE(GL103)\nb;\n", "GL900@1"},
        {"a!; // NOLINTED\n", "GL103@1"},
        {"a; // NOLINT(GL103)\n", "GL900@1"},
        {"a; // NOLINT(bugprone-x)\n", ""},
        {"a!; // graphlint: ignore[GL103]\n", ""},
};

START_TEST(cpp_comments_suppress)
{
	struct outcome outcome = suppressed(source_of("a.cpp", cpp_cases[_i].text), "//");

	ck_assert_msg(!strcmp(left(&outcome), cpp_cases[_i].left), "%s: %s left",
	              cpp_cases[_i].text, left(&outcome));
}
END_TEST

START_TEST(a_statement_is_suppressed_where_it_ends)
{
	struct source *source = source_of("a.py", "keep(\n  loss,\n)  # noqa: GL101\n");
	struct outcome outcome = {0};
	struct suppress_file file;
	struct finding finding = {
	        .rule = &rules[0], .severity = SEVERITY_ERROR, .source = source, .message = "m"};

	finding.span = (struct span){0, 15};
	vec_push(&arena, &outcome.findings, finding);
	comments_of(source, "#", &file);
	suppress_findings(&arena, table, &file, 1, &outcome);
	ck_assert_uint_eq(outcome.findings.count, 0);
	ck_assert_uint_eq(outcome.suppressed, 1);
}
END_TEST

/* Applies the edits of a finding's first fix, from the last to the first. */
static const char *fixed(const struct source *source, const struct finding *finding)
{
	struct text text = {.arena = &arena};
	uint32_t done = 0;

	ck_assert_uint_ge(finding->fixes.count, 1);
	for (uint32_t i = 0; i < finding->fixes.at[0].edits.count; i++) {
		const struct finding_edit *edit = &finding->fixes.at[0].edits.at[i];

		ck_assert_uint_ge(edit->span.start, done);
		text_add(&text, source->text + done, edit->span.start - done);
		text_add_chars(&text, edit->text);
		done = edit->span.end;
	}
	text_add(&text, source->text + done, source->length - done);
	return text_chars(&text);
}

static const struct {
	const char *before, *after;
} removals[] = {
        {"a  # noqa: GL103\nb\n", "a\nb\n"},
        {"  # noqa: GL103\nb\n", "b\n"},
        {"a!  # noqa: GL103, GL101\n", "a!  # noqa: GL103\n"},
        {"a!  # noqa: GL101, GL103\n", "a!  # noqa: GL103\n"},
        {"a  # noqa: E501, GL101, F401\n", "a  # noqa: E501, F401\n"},
        {"a  # noqa: GL101, GL103\n", "a\n"},
        {"a  # noqa: GL101 since it is small\n", "a  # since it is small\n"},
        {"a  # type: ignore  # noqa: GL101\n", "a  # type: ignore\n"},
        {"a  # noqa: GL101  # type: ignore\n", "a  # type: ignore\n"},
        {"a  # graphlint: ignore[GL101]\n", "a\n"},
        {"a  # graphlint: ignore\n", "a\n"},
};

START_TEST(what_suppresses_nothing_is_removed)
{
	const struct source *source = source_of("a.py", removals[_i].before);
	struct outcome outcome = suppressed(source, "#");
	const struct finding *finding = &outcome.findings.at[0];

	ck_assert_uint_eq(outcome.findings.count, 1);
	ck_assert_str_eq(finding->rule->code, "GL900");
	ck_assert_str_eq(fixed(source, finding), removals[_i].after);
}
END_TEST

/* --add-noqa */

static bool keep_bytes(void *context, const struct source *source, const struct text *bytes)
{
	struct text *kept = context;

	(void)source;
	text_add(kept, bytes->at, bytes->length);
	return true;
}

static const struct {
	const char *before, *after;
} additions[] = {
        {"a!\nb\n", "a!  # noqa: GL103\nb\n"},
        {"a!\r\nb\r\n", "a!  # noqa: GL103\r\nb\r\n"},
        {"a!", "a!  # noqa: GL103"},
        {"a!?  \n", "a!?  # noqa: GL103, GL101  \n"},
        {"a! # why\n", "a! # why  # noqa: GL103\n"},
        {"a! # noqa: E501\n", "a! # noqa: E501, GL103\n"},
        {"a! # noqa: E501 reason\n", "a! # noqa: E501, GL103 reason\n"},
        {"\xef\xbb\xbf"
         "a!\n",
         "\xef\xbb\xbf"
         "a!  # noqa: GL103\n"},
        {"# coding: latin-1\na! \xe9\n", "# coding: latin-1\na! \xe9  # noqa: GL103\n"},
};

START_TEST(comments_are_added)
{
	struct source *source = source_of("a.py", additions[_i].before);
	struct text kept = {.arena = &arena};
	struct outcome outcome = {0};
	struct noqa_result result;

	findings_of(source, &outcome.findings);
	result = noqa_add(&arena, &outcome, keep_bytes, &kept);
	ck_assert_uint_eq(result.comments, 1);
	ck_assert_uint_eq(result.files, 1);
	ck_assert_str_eq(text_chars(&kept), additions[_i].after);
}
END_TEST

START_TEST(added_comments_suppress)
{
	struct source *source = source_of("a.py", "a!\nb?  # noqa: E501\n");
	struct text kept = {.arena = &arena};
	struct outcome outcome = {0}, after;

	findings_of(source, &outcome.findings);
	noqa_add(&arena, &outcome, keep_bytes, &kept);
	after = suppressed(source_of("a.py", text_chars(&kept)), "#");
	ck_assert_uint_eq(after.findings.count, 0);
	ck_assert_uint_eq(after.suppressed, 2);
}
END_TEST

START_TEST(notebooks_are_left_as_they_are)
{
	struct source *source =
	        source_of("a.ipynb", "{\"cells\": [{\"cell_type\": \"code\", \"metadata\": {}, "
	                             "\"source\": [\"a!\\n\"]}], "
	                             "\"metadata\": {}, \"nbformat\": 4, \"nbformat_minor\": 5}");
	struct text kept = {.arena = &arena};
	struct outcome outcome = {0};
	struct noqa_result result;

	findings_of(source, &outcome.findings);
	result = noqa_add(&arena, &outcome, keep_bytes, &kept);
	ck_assert_uint_eq(result.left_out, 1);
	ck_assert_uint_eq(kept.length, 0);
}
END_TEST

/* selection */

static const struct {
	const char *select, *extend, *ignore; /* NULL: not given */
	const char *on;
} selections[] = {
        {NULL, NULL, NULL, "GL101 GL103 GL900"},
        {"GL1", NULL, NULL, "GL101 GL103"},
        {"GL1", NULL, "GL103", "GL101"},
        {"GL103", NULL, "GL1", "GL103"},
        {"ALL", NULL, "GL9", "GL101 GL103 GL502"},
        {"ALL", NULL, "ALL", ""},
        {NULL, "GL502", NULL, "GL101 GL103 GL502 GL900"},
        {NULL, "sync-per-step", "GL5", "GL101 GL103 GL502 GL900"},
        {NULL, NULL, "graph-in-list", "GL103 GL900"},
        {"", NULL, NULL, ""},
};

static void add_selector(selector_list *list, const char *selector)
{
	if (selector && *selector)
		vec_push(&arena, list, selector);
}

static const char *chosen(const struct selection *selection)
{
	struct rule_choice *choices = selection_apply(&arena, selection, table);
	struct text on = {.arena = &arena};

	for (uint32_t i = 0; i < table.count; i++) {
		if (choices[i].on)
			text_print(&on, "%s%s", on.length ? " " : "", rules[i].code);
	}
	return text_chars(&on);
}

START_TEST(rules_are_selected)
{
	struct selection selection = {0};
	struct selection_layer layer = {.selects = selections[_i].select != NULL};

	add_selector(&layer.select, selections[_i].select);
	add_selector(&layer.extend, selections[_i].extend);
	add_selector(&layer.ignore, selections[_i].ignore);
	vec_push(&arena, &selection.layers, layer);
	ck_assert_str_eq(chosen(&selection), selections[_i].on);
}
END_TEST

START_TEST(the_last_layer_wins)
{
	struct selection selection = {0};
	struct selection_layer file = {0}, line = {.selects = true};

	add_selector(&file.ignore, "GL103");
	vec_push(&arena, &selection.layers, file);
	ck_assert_str_eq(chosen(&selection), "GL101 GL900");
	add_selector(&line.select, "GL103");
	vec_push(&arena, &selection.layers, line);
	ck_assert_str_eq(chosen(&selection), "GL103");
}
END_TEST

/* baseline */

START_TEST(a_baseline_takes_findings_out_and_names_what_is_gone)
{
	struct source *source = source_of("a.py", "a!\nb?\n");
	struct source *later = source_of("a.py", "\n\nx = 1\na!\nc?\n");
	struct outcome outcome = {0}, after = {0};
	struct text text = {.arena = &arena};
	const char *path = "graphlint-baseline-test.json";
	FILE *file = fopen(path, "wb");

	ck_assert_ptr_nonnull(file);
	findings_of(source, &outcome.findings);
	baseline_print(&outcome.findings, NULL, &text);
	fwrite(text.at, 1, text.length, file);
	fclose(file);
	findings_of(later, &after.findings);
	ck_assert_ptr_null(baseline_filter(&arena, path, NULL, &after));
	remove(path);
	ck_assert_str_eq(left(&after), "GL101@5");
	ck_assert_uint_eq(after.baselined, 1);
	ck_assert_uint_eq(after.stale.count, 1);
	ck_assert_str_eq(after.stale.at[0], "a.py: GL101 m");
}
END_TEST

START_TEST(what_is_no_baseline_is_said)
{
	struct outcome outcome = {0};
	const char *path = "graphlint-baseline-test.json";
	const char *complaint;
	FILE *file = fopen(path, "wb");

	fputs("{\"findings\": 3}", file);
	fclose(file);
	complaint = baseline_filter(&arena, path, NULL, &outcome);
	remove(path);
	ck_assert_ptr_nonnull(strstr(complaint, "this is no baseline"));
	ck_assert_ptr_nonnull(baseline_filter(&arena, "no-such-file.json", NULL, &outcome));
}
END_TEST

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof((array)[0])))

Suite *suppress_suite(void);

Suite *suppress_suite(void)
{
	Suite *suite = suite_create("suppress");
	TCase *tests = tcase_create("suppress");

	tcase_add_checked_fixture(tests, NULL, release);
	tcase_add_loop_test(tests, python_comments_suppress, 0, COUNT_OF(python_cases));
	tcase_add_loop_test(tests, cpp_comments_suppress, 0, COUNT_OF(cpp_cases));
	tcase_add_test(tests, a_statement_is_suppressed_where_it_ends);
	tcase_add_loop_test(tests, what_suppresses_nothing_is_removed, 0, COUNT_OF(removals));
	tcase_add_loop_test(tests, comments_are_added, 0, COUNT_OF(additions));
	tcase_add_test(tests, added_comments_suppress);
	tcase_add_test(tests, notebooks_are_left_as_they_are);
	tcase_add_loop_test(tests, rules_are_selected, 0, COUNT_OF(selections));
	tcase_add_test(tests, the_last_layer_wins);
	tcase_add_test(tests, a_baseline_takes_findings_out_and_names_what_is_gone);
	tcase_add_test(tests, what_is_no_baseline_is_said);
	suite_add_tcase(suite, tests);
	return suite;
}
