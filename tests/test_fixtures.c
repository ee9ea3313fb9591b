/* Each file of fixtures/<folder>/ or fixtures/idioms/<folder>/, and each folder
 * in it with a main.py, is linted; the findings are what the marks on the lines
 * say (tests/marks.h), whether or not the scan may skip and with one thread or
 * several. */

#include <check.h>
#include <string.h>

#include "analyzer/engine/engine.h"
#include "rules/rules.h"
#include "tests/folder.h"
#include "tests/marks.h"

static struct arena arena; /* of the list of cases: never released */

struct fixture {
	const char *slug;
	const char *path;
};

static VEC(struct fixture) fixtures;

static int is_source(const char *name)
{
	return front_end_find(name) != NULL;
}

/* Folders that other tests read. */
static int is_fixture_folder(const char *name)
{
	static const char *const others[] = {"broken", "corpus", "ir",     "lsp",
	                                     "replay", "report", "runtime"};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!strcmp(others[i], name))
			return 0;
	return 1;
}

static void list_folder(const char *slug)
{
	const char *folder = folder_join(&arena, GRAPHLINT_ROOT "/fixtures", slug);
	name_list names = {0};

	if (!is_fixture_folder(slug))
		return;
	folder_names(&arena, folder, &names);
	for (uint32_t i = 0; i < names.count; i++) {
		struct fixture fixture = {slug, folder_join(&arena, folder, names.at[i])};

		if (is_source(names.at[i]) || folder_ends_with(names.at[i], ".ipynb") ||
		    folder_has(fixture.path, "main.py"))
			vec_push(&arena, &fixtures, fixture);
	}
}

static void list_fixtures(void)
{
	name_list names = {0};
	name_list idioms = {0};

	folder_names(&arena, GRAPHLINT_ROOT "/fixtures", &names);
	for (uint32_t i = 0; i < names.count; i++)
		list_folder(names.at[i]);
	folder_names(&arena, GRAPHLINT_ROOT "/fixtures/idioms", &idioms);
	for (uint32_t i = 0; i < idioms.count; i++)
		list_folder(folder_join(&arena, "idioms", idioms.at[i]));
}

static struct engine_settings settings_of(struct arena *memory, const struct fixture *fixture)
{
	static const char *const suffixes[] = {".py", ".ipynb", ".cpp", ".cc", ".cu", NULL};
	struct engine_settings settings = {
	        .paths = &fixture->path,
	        .path_count = 1,
	        .stdin_path = "-",
	        .discover = {.suffixes = suffixes, .no_default_excludes = true},
	        .root = GRAPHLINT_ROOT,
	        .terms.least_confidence = CONFIDENCE_LIKELY,
	};
	struct selection_layer layer = {0};

	if (rule_find(rules_all(), fixture->slug))
		vec_push(memory, &layer.extend, fixture->slug);
	vec_push(memory, &settings.terms.selection.layers, layer);
	return settings;
}

static void read_marks(struct arena *memory, const struct project *project, mark_list *marks)
{
	for (uint32_t i = 0; i < project_file_count(project); i++) {
		const struct project_file *file = project_file_at(project, i);
		struct intern *names;
		struct front_result lowered;

		if (!file->linted)
			continue;
		names = intern_open();
		lowered = file->front->lower(memory, names, file->source, NULL);
		marks_read(memory, file->source, &lowered, marks);
		intern_close(names);
	}
}

static void check_run(const struct fixture *fixture, bool no_skip, unsigned jobs)
{
	struct arena memory = {0};
	struct engine_settings settings = settings_of(&memory, fixture);
	struct text differences = {.arena = &memory};
	mark_list marks = {0};
	struct run *run;

	settings.no_skip = no_skip;
	settings.jobs = jobs;
	run = engine_run(&settings, rules_all());
	ck_assert_ptr_null(run_error(run));
	ck_assert(!outcome_has_failure(run_outcome(run)));
	read_marks(&memory, run_project(run), &marks);
	marks_compare(&marks, &run_outcome(run)->findings, &differences);
	if (differences.length)
		ck_abort_msg("%s%s:\n%s", fixture->path, no_skip ? " with --no-skip" : "",
		             differences.at);
	run_close(run);
	arena_release(&memory);
}

START_TEST(findings_are_what_the_marks_say)
{
	const struct fixture *fixture = &fixtures.at[_i];

	check_run(fixture, false, 1);
	check_run(fixture, true, 2);
}
END_TEST

static const char *page_of(const struct rule *rule)
{
	struct text name = {.arena = &arena};

	text_print(&name, "%s.md", rule->slug);
	return name.at;
}

START_TEST(every_rule_has_fixtures_and_a_page)
{
	const struct rule *rule = &rules_all().at[_i];
	const char *folder = folder_join(&arena, GRAPHLINT_ROOT "/fixtures", rule->slug);

	ck_assert_msg(folder_has(GRAPHLINT_ROOT "/docs/rules", page_of(rule)),
	              "%s: no page in docs/rules", rule->slug);
	ck_assert_msg(folder_has(folder, "bad.py"), "%s: no bad fixture", rule->slug);
	ck_assert_msg(folder_has(folder, "good.py"), "%s: no good fixture", rule->slug);
}
END_TEST

Suite *fixtures_suite(void)
{
	Suite *suite = suite_create("fixtures");
	TCase *tc = tcase_create("fixtures");

	list_fixtures();
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, findings_are_what_the_marks_say, 0, (int)fixtures.count);
	tcase_add_loop_test(tc, every_rule_has_fixtures_and_a_page, 0, (int)rules_all().count);
	suite_add_tcase(suite, tc);
	return suite;
}
