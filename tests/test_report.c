#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/finding/fingerprint.h"
#include "analyzer/report/amount.h"
#include "analyzer/report/emit.h"
#include "analyzer/report/excerpt.h"
#include "analyzer/report/read_json.h"
#include "analyzer/report/report.h"
#include "analyzer/report/style.h"
#include "analyzer/report/utf8.h"

static struct arena arena;

static void release(void)
{
	arena_release(&arena);
}

static const struct rule rules[] = {
        {"GL101", "graph-in-list", SEVERITY_ERROR, true, SHOWN_KEPT_GRAPH,
         "a tensor with its graph is added to a list that outlives the iteration", NULL, NULL},
        {"GL103", "graph-accumulator", SEVERITY_ERROR, true, SHOWN_KEPT_GRAPH,
         "a sum keeps the graph of every step", NULL, NULL},
        {"GL502", "sync-per-step", SEVERITY_INFO, false, SHOWN_NOTHING,
         "a read that waits for the device", NULL, NULL},
        {"GL900", "unused-suppression", SEVERITY_WARNING, true, SHOWN_NOTHING,
         "a suppression comment that suppresses nothing", NULL, NULL},
};

static const struct rule_table table = {rules, 4};

/* files of fixtures/report, under their own names */

static char *file_bytes(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	char *bytes;

	ck_assert_msg(file != NULL, "cannot open %s", path);
	fseek(file, 0, SEEK_END);
	*size = (size_t)ftell(file);
	rewind(file);
	bytes = arena_alloc(&arena, *size + 1, 1);
	ck_assert_uint_eq(fread(bytes, 1, *size, file), *size);
	fclose(file);
	return bytes;
}

static const char *fixture_path(const char *name)
{
	struct text path = {.arena = &arena};

	text_print(&path, "%s/fixtures/report/%s", GRAPHLINT_ROOT, name);
	return text_chars(&path);
}

static struct source *fixture(const char *name)
{
	struct source_problem problem;
	size_t size;
	const char *bytes = file_bytes(fixture_path(name), &size);
	struct source *source = source_from_bytes(&arena, name, bytes, size, &problem);

	ck_assert_ptr_nonnull(source);
	return source;
}

/* The nth place where `words` stand, from 1. */
static struct span place_of(const struct source *source, const char *words, int nth)
{
	const char *at = source->text;

	for (int i = 0; i < nth; i++) {
		at = strstr(at + (i > 0), words);
		ck_assert_msg(at != NULL, "%s has no %s", source->path, words);
	}
	return (struct span){(uint32_t)(at - source->text),
	                     (uint32_t)(at - source->text + (long)strlen(words))};
}

static void add_step(struct finding *finding, enum step_role role, const struct source *source,
                     struct span span, const char *message)
{
	vec_push(&arena, &finding->steps, (struct finding_step){role, source, span, message});
}

static void add_fix(struct finding *finding, bool safe, const char *changes, const char *title,
                    struct span span, const char *with, const char *replayed)
{
	struct finding_fix fix = {
	        .safe = safe, .changes = changes, .title = title, .replayed = replayed};

	vec_push(&arena, &fix.edits, (struct finding_edit){span, with});
	vec_push(&arena, &finding->fixes, fix);
}

static void add_curve(struct finding *finding, double per_step, bool exact)
{
	int64_t *bytes = arena_array(&arena, int64_t, 32);

	for (int i = 0; i < 32; i++)
		bytes[i] = (int64_t)(per_step * 32 * i / 31);
	finding->replay = (struct finding_replay){
	        .verdict = EVIDENCE_LINEAR,
	        .exact = exact,
	        .steps = 32,
	        .live_bytes = bytes,
	        .bytes_per_step = per_step,
	};
}

/* The finding that SPEC.md shows. */
static struct finding list_finding(const struct source *source)
{
	struct finding finding = {
	        .rule = &rules[0],
	        .severity = SEVERITY_ERROR,
	        .confidence = CONFIDENCE_CONFIRMED,
	        .source = source,
	        .span = place_of(source, "history.append(loss)", 1),
	        .message = "`history` keeps the autograd graph of every step",
	        .function = "main",
	};
	struct span loss = place_of(source, "loss)", 1);

	loss.end = loss.start + 4;
	add_step(&finding, STEP_MADE, source, place_of(source, "history = []", 1),
	         "the list is made here");
	add_step(&finding, STEP_BORN, source, place_of(source, "loss_fn", 2),
	         "graph is born here (MseLoss over 5 nodes)");
	add_step(&finding, STEP_KEPT, source, finding.span,
	         "kept here, by a list made at line 18 and never cleared");
	add_curve(&finding, 45056, true);
	finding.replay.loop = "helpers.py:6";
	add_fix(&finding, true, NULL, "`history.append(loss.detach())`", finding.span,
	        "history.append(loss.detach())", "nodes flat, 4 B per step");
	add_fix(&finding, false, "the type", "`history.append(loss.item())`", finding.span,
	        "history.append(loss.item())", "flat");
	return finding;
}

static struct finding hard_finding(const struct source *source)
{
	struct finding finding = {
	        .rule = &rules[1],
	        .severity = SEVERITY_WARNING,
	        .confidence = CONFIDENCE_LIKELY,
	        .source = source,
	        .span = place_of(source, "total += 損失(model(é), \"宽字符\")", 1),
	        .message = "`total` keeps the graph of every step",
	        .note = "backward freed the activations: nodes and scalars remain",
	        .function = "f",
	};

	add_step(&finding, STEP_BORN, source, place_of(source, "損失(model(é), \"宽字符\")", 1),
	         "graph is born here");
	add_step(&finding, STEP_TRAVELS, source, place_of(source, "model(é)", 1), "through here");
	add_step(&finding, STEP_MADE, source, place_of(source, "total = 0", 1), "made here");
	add_step(&finding, STEP_KEPT, source, finding.span, "kept here");
	finding.replay.reason = "`batch` comes from a loader that could not be read";
	return finding;
}

/* outcomes */

static struct outcome *small_outcome(void)
{
	struct outcome *outcome = arena_new(&arena, struct outcome);
	const struct source *train = fixture("train.py");
	const struct source *hard = fixture("hard.py");
	const struct source *helpers = fixture("helpers.py");
	const struct source *notebook = fixture("book.ipynb");
	struct finding across = list_finding(train);
	struct finding info = {
	        .rule = &rules[2],
	        .severity = SEVERITY_INFO,
	        .confidence = CONFIDENCE_CERTAIN,
	        .source = notebook,
	        .span = place_of(notebook, "loss.item()", 1),
	        .message = "reads the loss every step: 100% of them wait; [a]",
	};

	add_step(&across, STEP_KEPT, helpers, place_of(helpers, "self.values.append(value)", 1),
	         "and kept here");
	vec_push(&arena, &outcome->findings, across);
	vec_push(&arena, &outcome->findings, hard_finding(hard));
	vec_push(&arena, &outcome->findings, info);
	vec_push(&arena, &outcome->skipped,
	         (struct skipped){"train.py", train, place_of(train, "opt.step()", 1),
	                          "invalid syntax", false});
	vec_push(&arena, &outcome->skipped,
	         (struct skipped){
	                 .path = "secret.py", .reason = "Permission denied", .is_failure = true});
	vec_push(&arena, &outcome->stale, "old.py: GL103 `total` keeps the graph of every step");
	outcome->files = 5;
	outcome->suppressed = 2;
	outcome_sort(outcome);
	return outcome;
}

static const char *page(const struct rule *rule)
{
	return strcmp(rule->code, "GL101") ? NULL : "# GL101 graph-in-list\n\nA page.\n";
}

static struct report report_of(const struct outcome *outcome)
{
	char here[4096];

	ck_assert_ptr_nonnull(getcwd(here, sizeof(here)));
	return (struct report){
	        .outcome = outcome,
	        .rules = table,
	        .version = "1.2.3",
	        .root = arena_text(&arena, here, strlen(here)),
	        .help_uri = "https://example.org/rules/",
	        .page = page,
	        .memory_bytes = 24ull << 30,
	};
}

static struct text write_report(const char *format, const struct report *report)
{
	struct text out = {.arena = &arena};

	ck_assert_ptr_nonnull(report_format_find(format));
	report_format_find(format)->write(report, &out);
	return out;
}

/* Compares with a file of fixtures/report; UPDATE=1 rewrites it. */
static void check_golden(const char *name, const struct text *text)
{
	const char *path = fixture_path(name);
	const char *expected;
	size_t size;

	if (getenv("UPDATE")) {
		FILE *file = fopen(path, "wb");

		ck_assert_ptr_nonnull(file);
		ck_assert_uint_eq(fwrite(text_chars(text), 1, text->length, file), text->length);
		fclose(file);
	}
	expected = file_bytes(path, &size);
	ck_assert_msg(size == text->length && !memcmp(expected, text_chars(text), size),
	              "%s differs; got:\n%s", name, text_chars(text));
}

static const char *const format_names[] = {"text",   "concise", "json",  "jsonl",   "sarif",
                                           "github", "gitlab",  "junit", "rdjsonl", "azure"};

START_TEST(every_format_is_as_recorded)
{
	struct report report = report_of(small_outcome());
	struct text name = {.arena = &arena};
	struct text out = write_report(format_names[_i], &report);

	text_print(&name, "small.%s", format_names[_i]);
	check_golden(text_chars(&name), &out);
}
END_TEST

START_TEST(text_is_as_the_specification_shows)
{
	struct outcome outcome = {.files = 1};
	struct report report = report_of(&outcome);
	struct text out;

	vec_push(&arena, &outcome.findings, list_finding(fixture("train.py")));
	report.quiet = true;
	out = write_report("text", &report);
	check_golden("sample.text", &out);
	report.color = true;
	out = write_report("text", &report);
	check_golden("sample.color", &out);
}
END_TEST

START_TEST(an_empty_outcome_says_so)
{
	static const char *const texts[] = {
	        "No findings in 3 files.\n",
	        "No findings in 3 files.\n",
	        NULL,
	        NULL,
	        NULL,
	        "",
	        "[]\n",
	        NULL,
	        "",
	        "",
	};
	struct outcome outcome = {.files = 3};
	struct report report = report_of(&outcome);
	struct text out = write_report(format_names[_i], &report);

	if (texts[_i])
		ck_assert_str_eq(text_chars(&out), texts[_i]);
	else
		ck_assert_uint_gt(out.length, 0);
}
END_TEST

START_TEST(nothing_found_is_not_nothing_looked_at)
{
	struct outcome outcome = {.files = 1};
	struct report report = report_of(&outcome);
	struct text out;

	vec_push(&arena, &outcome.skipped, (struct skipped){.path = "a.py", .reason = "too large"});
	out = write_report("text", &report);
	ck_assert_str_eq(text_chars(&out),
	                 "not analysed a.py: too large\n"
	                 "No findings in what could be analysed: 1 file, 1 place not analysed.\n");
}
END_TEST

START_TEST(statistics_count_by_rule)
{
	struct report report = report_of(small_outcome());
	struct text out;

	report.statistics = true;
	report.quiet = true;
	out = write_report("text", &report);
	ck_assert_str_eq(text_chars(&out), "     1  GL101 graph-in-list\n"
	                                   "     1  GL103 graph-accumulator\n"
	                                   "     1  GL502 sync-per-step\n");
}
END_TEST

/* JSON and SARIF */

static json_t *parse(const struct text *text)
{
	json_error_t error;
	json_t *root = json_loadb(text_chars(text), text->length, 0, &error);

	ck_assert_msg(root != NULL, "line %d: %s", error.line, error.text);
	return root;
}

START_TEST(json_has_the_fields_of_the_specification)
{
	static const char *const fields[] = {"code",     "slug",     "severity",     "confidence",
	                                     "filename", "location", "end_location", "message",
	                                     "steps",    "fix",      "replay",       "noqa_row",
	                                     "cell"};
	struct report report = report_of(small_outcome());
	struct text out = write_report("json", &report);
	json_t *root = parse(&out);
	json_t *findings = json_object_get(root, "findings");

	ck_assert_str_eq(json_string_value(json_object_get(root, "version")), "1.2.3");
	ck_assert_uint_eq(json_array_size(findings), 3);
	ck_assert_uint_eq(json_array_size(json_object_get(root, "skipped")), 2);
	ck_assert(json_is_object(json_object_get(root, "summary")));
	for (size_t i = 0; i < 3; i++) {
		for (size_t k = 0; k < sizeof(fields) / sizeof(fields[0]); k++)
			ck_assert_msg(json_object_get(json_array_get(findings, i), fields[k]) !=
			                      NULL,
			              "finding %zu has no %s", i, fields[k]);
	}
	json_decref(root);
}
END_TEST

START_TEST(sarif_stays_within_what_hosts_keep)
{
	struct outcome outcome = {.files = 1};
	struct report report = report_of(&outcome);
	const struct source *train = fixture("train.py");
	size_t errors = 0;
	struct text out;
	json_t *root, *results;

	for (uint32_t i = 0; i < 6000; i++) {
		struct finding finding = list_finding(train);

		finding.steps.count = 0;
		finding.fixes.count = 0;
		finding.span = (struct span){i % 400, i % 400 + 1};
		finding.severity = i % 2 ? SEVERITY_ERROR : SEVERITY_WARNING;
		vec_push(&arena, &outcome.findings, finding);
	}
	findings_sort(&outcome.findings);
	out = write_report("sarif", &report);
	root = parse(&out);
	results = json_object_get(json_array_get(json_object_get(root, "runs"), 0), "results");
	ck_assert_uint_eq(json_array_size(results), 5000);
	for (size_t i = 0; i < 5000; i++)
		errors += !strcmp(
		        json_string_value(json_object_get(json_array_get(results, i), "level")),
		        "error");
	ck_assert_uint_eq(errors, 3000);
	json_decref(root);
}
END_TEST

static json_t *member(json_t *object, const char *name)
{
	json_t *list = json_object_get(object, name);

	ck_assert_ptr_nonnull(list);
	return json_is_array(list) ? json_array_get(list, 0) : list;
}

START_TEST(sarif_tells_the_end_of_a_long_story)
{
	struct outcome outcome = {.files = 1};
	struct report report = report_of(&outcome);
	struct finding finding = list_finding(fixture("train.py"));
	const struct finding_step first = finding.steps.at[0];
	struct text out;
	json_t *root, *flow, *last;

	finding.steps.count = 0;
	for (int i = 0; i < 1500; i++) {
		struct finding_step step = first;

		step.message = i == 1499 ? "the end" : "on the way";
		vec_push(&arena, &finding.steps, step);
	}
	vec_push(&arena, &outcome.findings, finding);
	out = write_report("sarif", &report);
	root = parse(&out);
	flow = member(member(member(member(root, "runs"), "results"), "codeFlows"), "threadFlows");
	flow = json_object_get(flow, "locations");
	ck_assert_uint_eq(json_array_size(flow), 1000);
	last = json_object_get(json_array_get(flow, 999), "location");
	ck_assert_str_eq(json_string_value(json_object_get(member(last, "message"), "text")),
	                 "the end");
	json_decref(root);
}
END_TEST

START_TEST(a_json_report_reads_back)
{
	struct outcome *outcome = small_outcome();
	struct report report = report_of(outcome);
	struct text first = write_report("json", &report);
	struct json_reading reading = {.arena = &arena, .rules = table};
	struct json_shard shard = {0};
	const char *path = "graphlint-report-test.json";
	FILE *file = fopen(path, "wb");
	struct text second;

	ck_assert_ptr_nonnull(file);
	fwrite(first.at, 1, first.length, file);
	fclose(file);
	for (uint32_t i = 0; i < outcome->findings.count; i++)
		vec_push(&arena, &reading.sources, (struct source *)outcome->findings.at[i].source);
	vec_push(&arena, &reading.sources, fixture("helpers.py"));
	ck_assert_ptr_null(json_report_read(&reading, path, &shard));
	remove(path);
	outcome_sort(&reading.outcome);
	report.outcome = &reading.outcome;
	second = write_report("json", &report);
	ck_assert_str_eq(text_chars(&first), text_chars(&second));
}
END_TEST

/* fingerprints */

static struct digest fingerprint_in(const char *code, const char *words)
{
	struct source_problem problem;
	struct source *source = source_from_bytes(&arena, "a.py", code, strlen(code), &problem);
	finding_list findings = {0};
	struct finding finding = {.rule = &rules[0], .source = source, .message = "m"};

	finding.span = place_of(source, words, 1);
	vec_push(&arena, &findings, finding);
	return findings_fingerprint(&arena, &findings, NULL)[0];
}

START_TEST(fingerprints_survive_moves_and_blanks)
{
	struct digest before = fingerprint_in("x = 1\nkept.append(loss)\n", "kept");

	ck_assert(digest_same(before, fingerprint_in("\n\n\n\tkept.append( loss )\n", "kept")));
	ck_assert(!digest_same(before, fingerprint_in("kept.append(other)\n", "kept")));
}
END_TEST

START_TEST(fingerprints_tell_equal_lines_apart)
{
	const struct source *source = fixture("train.py");
	finding_list findings = {0};
	struct digest *digests;

	for (uint32_t i = 0; i < 2; i++) {
		struct finding finding = {.rule = &rules[0], .source = source, .message = "m"};

		finding.span = (struct span){i, i + 1};
		vec_push(&arena, &findings, finding);
	}
	digests = findings_fingerprint(&arena, &findings, NULL);
	ck_assert(!digest_same(digests[0], digests[1]));
}
END_TEST

/* figures */

START_TEST(amounts_are_readable)
{
	static const struct {
		double bytes;
		const char *text;
	} cases[] = {
	        {0, "0"},          {4, "4 B"},          {1.5, "1.5 B"},       {1023, "1023 B"},
	        {1024, "1.0 KiB"}, {45056, "44.0 KiB"}, {1441792, "1.4 MiB"}, {1048575, "1.0 MiB"},
	        {-4, "-4 B"},      {1e9, "953.7 MiB"},
	};
	struct text out = {.arena = &arena};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		text_cut(&out, 0);
		amount_bytes(&out, cases[i].bytes);
		ck_assert_str_eq(text_chars(&out), cases[i].text);
	}
	text_cut(&out, 0);
	amount_count(&out, 1234567);
	amount_count(&out, 0);
	amount_count(&out, 1000);
	amount_count(&out, UINT64_MAX);
	ck_assert_str_eq(text_chars(&out), "1,234,56701,00018,446,744,073,709,551,615");
}
END_TEST

START_TEST(sparklines_have_at_most_eight_bars)
{
	static const int64_t rising[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
	static const int64_t flat[] = {7, 7, 7};
	struct text out = {.arena = &arena};

	amount_sparkline(&out, rising, 15);
	ck_assert_str_eq(text_chars(&out), "▁▂▃▄▅▆▇█");
	text_cut(&out, 0);
	amount_sparkline(&out, flat, 3);
	ck_assert_str_eq(text_chars(&out), "▁▁▁");
	text_cut(&out, 0);
	amount_sparkline(&out, flat, 1);
	ck_assert_str_eq(text_chars(&out), "");
}
END_TEST

START_TEST(characters_have_their_columns)
{
	ck_assert_uint_eq(utf8_columns('a'), 1);
	ck_assert_uint_eq(utf8_columns(0xe9), 1);
	ck_assert_uint_eq(utf8_columns(0x301), 0);
	ck_assert_uint_eq(utf8_columns(0x5bbd), 2);
	ck_assert_uint_eq(utf8_columns(0xff21), 2);
	ck_assert_uint_eq(utf8_columns(0x1f600), 2);
	ck_assert_uint_eq(utf8_columns(0x200b), 0);
	ck_assert_uint_eq(utf8_columns(0x10ffff), 1);
}
END_TEST

START_TEST(wrong_utf8_is_one_mark_a_byte)
{
	static const char bytes[] = "a\xff\xc3z\xe2\x82\xed\xa0\x80";
	static const uint32_t expected[] = {'a',    0xfffd, 0xfffd, 'z',   0xfffd,
	                                    0xfffd, 0xfffd, 0xfffd, 0xfffd};
	size_t at = 0;

	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		ck_assert_uint_eq(utf8_next(bytes, sizeof(bytes) - 1, &at), expected[i]);
	ck_assert_uint_eq(at, sizeof(bytes) - 1);
}
END_TEST

START_TEST(json_is_escaped)
{
	struct text out = {.arena = &arena};
	struct emitter json = {.out = &out};

	emit_open_array(&json, NULL);
	emit_bytes(&json, NULL, "a\"\\\n\x01\x00\xff\xc3\xa9", 9);
	emit_real(&json, NULL, 0.1);
	emit_real(&json, NULL, 1e300 * 1e300);
	emit_close_array(&json);
	ck_assert_str_eq(text_chars(&out),
	                 "[\"a\\\"\\\\\\n\\u0001\\u0000\xef\xbf\xbd\xc3\xa9\",0.1,null]");
}
END_TEST

START_TEST(excerpts_survive_any_place)
{
	const struct source *source = fixture("hard.py");
	struct excerpt_look look = {.color = false, .gutter = 2};
	struct arena scratch = {0};

	for (uint32_t start = 0; start <= source->length; start += 7) {
		for (uint32_t end = start; end <= source->length; end += 61) {
			struct text out = {.arena = &scratch};
			excerpt_marks marks = {0};

			vec_push(&scratch, &marks,
			         (struct excerpt_mark){{start, end}, true, "here"});
			vec_push(&scratch, &marks,
			         (struct excerpt_mark){{start / 2, end}, false, "there"});
			excerpt_print(&scratch, source, &marks, &look, &out);
			ck_assert(strstr(text_chars(&out), "here") != NULL);
			ck_assert(strstr(text_chars(&out), "there") != NULL);
			ck_assert(strchr(text_chars(&out), '\x1b') == NULL);
			arena_reset(&scratch);
		}
	}
	arena_release(&scratch);
}
END_TEST

START_TEST(hard_lines_are_lined_up)
{
	const struct source *source = fixture("hard.py");
	struct excerpt_look look = {.color = false, .gutter = 2};
	struct text out = {.arena = &arena};
	excerpt_marks marks = {0};
	struct span call = place_of(source, "keep(", 1);
	struct span red = place_of(source, "red", 1);

	call.end = place_of(source, "fifth=5,\n\t)", 1).end;
	vec_push(&arena, &marks, (struct excerpt_mark){call, true, "the whole call"});
	vec_push(&arena, &marks,
	         (struct excerpt_mark){place_of(source, "model(batch)", 1), false, "first"});
	vec_push(&arena, &marks,
	         (struct excerpt_mark){place_of(source, "tab", 1), false, "after a tab"});
	vec_push(&arena, &marks, (struct excerpt_mark){red, false, "control"});
	vec_push(&arena, &marks,
	         (struct excerpt_mark){place_of(source, "number_030", 1), true, "far right"});
	vec_push(&arena, &marks,
	         (struct excerpt_mark){place_of(source, "number_031", 1), false, "next to it"});
	excerpt_print(&arena, source, &marks, &look, &out);
	check_golden("hard.excerpt", &out);
}
END_TEST

Suite *report_suite(void);

Suite *report_suite(void)
{
	Suite *suite = suite_create("report");
	TCase *tests = tcase_create("report");

	tcase_add_checked_fixture(tests, NULL, release);
	tcase_add_loop_test(tests, every_format_is_as_recorded, 0, 10);
	tcase_add_test(tests, text_is_as_the_specification_shows);
	tcase_add_loop_test(tests, an_empty_outcome_says_so, 0, 10);
	tcase_add_test(tests, nothing_found_is_not_nothing_looked_at);
	tcase_add_test(tests, statistics_count_by_rule);
	tcase_add_test(tests, json_has_the_fields_of_the_specification);
	tcase_add_test(tests, sarif_stays_within_what_hosts_keep);
	tcase_add_test(tests, sarif_tells_the_end_of_a_long_story);
	tcase_add_test(tests, a_json_report_reads_back);
	tcase_add_test(tests, fingerprints_survive_moves_and_blanks);
	tcase_add_test(tests, fingerprints_tell_equal_lines_apart);
	tcase_add_test(tests, amounts_are_readable);
	tcase_add_test(tests, sparklines_have_at_most_eight_bars);
	tcase_add_test(tests, characters_have_their_columns);
	tcase_add_test(tests, wrong_utf8_is_one_mark_a_byte);
	tcase_add_test(tests, json_is_escaped);
	tcase_add_test(tests, excerpts_survive_any_place);
	tcase_add_test(tests, hard_lines_are_lined_up);
	suite_add_tcase(suite, tests);
	return suite;
}
