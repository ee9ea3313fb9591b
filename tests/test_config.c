#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/app/command_line.h"
#include "analyzer/app/config.h"
#include "analyzer/app/toml.h"
#include "analyzer/app/usage.h"
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

/* TOML */

/* A value's shape on one line: {a=1 b=["x" true]}. */
static void print_value(const struct toml_value *value, struct text *out)
{
	if (value->key)
		text_print(out, "%s=", value->key);
	switch (value->kind) {
	case TOML_STRING:
		text_print(out, "\"%s\"", value->text);
		break;
	case TOML_INTEGER:
		text_print(out, "%lld", (long long)value->integer);
		break;
	case TOML_BOOLEAN:
		text_add_chars(out, value->boolean ? "true" : "false");
		break;
	case TOML_FLOAT:
	case TOML_DATE:
		text_add_chars(out, value->text);
		break;
	case TOML_ARRAY:
	case TOML_TABLE:
		text_add_char(out, value->kind == TOML_ARRAY ? '[' : '{');
		for (uint32_t i = 0; i < value->items.count; i++) {
			text_add_chars(out, i ? " " : "");
			print_value(value->items.at[i], out);
		}
		text_add_char(out, value->kind == TOML_ARRAY ? ']' : '}');
		break;
	}
}

static const struct {
	const char *toml, *shape; /* or "line: message" */
} tomls[] = {
        {"", "{}"},
        {"# only a comment\n", "{}"},
        {"a = 1", "{a=1}"},
        {"a = 1\r\nb = 2\r\n", "{a=1 b=2}"},
        {"a = [1, 2, # c\n 3,]\n", "{a=[1 2 3]}"},
        {"a.b.c = 'x'\na.d = 2\n", "{a={b={c=\"x\"} d=2}}"},
        {"[t]\na = true\n[t.u]\nb = false\n", "{t={a=true u={b=false}}}"},
        {"[t.u]\nb = 1\n[t]\na = 2\n", "{t={u={b=1} a=2}}"},
        {"[[t]]\na = 1\n[[t]]\na = 2\n[t.u]\nb = 3\n", "{t=[{a=1} {a=2 u={b=3}}]}"},
        {"t = {a = 1, b = {c = 'd'}}\n", "{t={a=1 b={c=\"d\"}}}"},
        {"\"a b\".'c.d' = 1\n", "{a b={c.d=1}}"},
        {"a = \"\\t\\u00e9\\\"\\\\\"\n", "{a=\"\t\xc3\xa9\"\\\"}"},
        {"a = \"\"\"\nx\\\n   y\nz\"\"\"\n", "{a=\"xy\nz\"}"},
        {"a = '''\nx\\n'''\n", "{a=\"x\\n\"}"},
        {"a = 0x1F\nb = 0o17\nc = 0b101\nd = -1_000\n", "{a=31 b=15 c=5 d=-1000}"},
        {"a = 1.5\nb = inf\n", "{a=1.5 b=inf}"},
        {"a = 1979-05-27T07:32:00Z\n", "{a=1979-05-27T07:32:00Z}"},
        {"a = 1\na = 2\n", "2: `a` is set twice"},
        {"[t]\n[t]\n", "2: `t` is set twice"},
        {"t = {a = 1}\n[t.b]\n", "2: `t` is set twice"},
        {"a = 1\na.b = 2\n", "2: `a` is set twice"},
        {"a = [1]\n[[a]]\n", "2: `a` is set twice"},
        {"a = 1\nb = =\n", "2: this is not TOML"},
        {"a = 1\n[t\n", "2: this is not TOML"},
        {"a = 99999999999999999999\n", "1: the integer does not fit into 64 bits"},
};

START_TEST(toml_is_read)
{
	struct toml_error error;
	struct text shape = {.arena = &arena};
	const struct toml_value *value =
	        toml_parse(&arena, tomls[_i].toml, strlen(tomls[_i].toml), &error);

	if (value)
		print_value(value, &shape);
	else
		text_print(&shape, "%u: %s", error.line, error.message);
	ck_assert_str_eq(text_chars(&shape), tomls[_i].shape);
}
END_TEST

START_TEST(deep_toml_is_refused)
{
	enum { DEPTH = 20000 };
	struct toml_error error;
	char *deep = arena_alloc(&arena, 2 * DEPTH + 5, 1);

	memcpy(deep, "a = ", 4);
	memset(deep + 4, '[', DEPTH);
	memset(deep + 4 + DEPTH, ']', DEPTH);
	ck_assert_ptr_null(toml_parse(&arena, deep, 2 * DEPTH + 4, &error));
	ck_assert_str_eq(error.message, "the value is nested too deeply");
}
END_TEST

/* configuration files */

static struct settings settings;
static struct text complaint;

static bool read_config(const char *path)
{
	complaint = (struct text){.arena = &arena};
	settings_init(&arena, &settings);
	return config_read(&arena, path, &settings, &complaint);
}

static const struct {
	const char *toml, *complaint;
} mistakes[] = {
        {"selct = []\n", "graphlint.toml:1: `selct` is no setting; did you mean `select`?"},
        {"\n\nper-file-ignore = {}\n",
         "graphlint.toml:3: `per-file-ignore` is no setting; did you mean `per-file-ignores`?"},
        {"min_confidence = 'likely'\n",
         "graphlint.toml:1: `min_confidence` is no setting; did you mean `min-confidence`?"},
        {"zebra = 1\n", "graphlint.toml:1: `zebra` is no setting"},
        {"select = 'GL1'\n",
         "graphlint.toml:1: `select` must be an array of strings, not a string"},
        {"select = ['GL1',\n 2]\n",
         "graphlint.toml:2: `select` must be an array of strings, not an integer"},
        {"fix = 'yes'\n", "graphlint.toml:1: `fix` must be a boolean, not a string"},
        {"jobs = '2'\n", "graphlint.toml:1: `jobs` must be an integer, not a string"},
        {"jobs = -2\n",
         "graphlint.toml:1: `jobs` must be a whole number up to 4294967295, not `-2`"},
        {"format = 'jsn'\n",
         "graphlint.toml:1: `format` must be one of "
         "text|concise|json|jsonl|sarif|github|gitlab|junit|rdjsonl|azure, not `jsn`; did you mean "
         "`json`?"},
        {"memory = 'lots'\n",
         "graphlint.toml:1: `memory` must be a size such as 24GiB, not `lots`"},
        {"[severity]\nGL101 = 'fatal'\n",
         "graphlint.toml:2: `GL101` must be \"error\", \"warning\" or \"info\", not `fatal`"},
        {"severity = 3\n", "graphlint.toml:1: `severity` must be a table, not an integer"},
        {"[extend-models]\n'a.b' = 'detach'\n",
         "graphlint.toml:2: `a.b` must be returns-graph, takes-graph, detaches or no-grad, not "
         "`detach`; did you mean `detaches`?"},
        {"[per-file-ignores]\n'*.py' = 'GL1'\n",
         "graphlint.toml:2: `*.py` must be an array of strings, not a string"},
        {"extend = 'none.toml'\n",
         "graphlint.toml:1: `extend`: cannot read none.toml: No such file or "
         "directory"},
        {"extend = 'graphlint.toml'\n", "graphlint.toml:1: `extend` goes round in circles"},
        {"select = [\n", "graphlint.toml:1: this is not TOML"},
};

START_TEST(a_mistake_is_shown_with_its_line)
{
	temp_tree_add_text("graphlint.toml", mistakes[_i].toml);
	ck_assert(!read_config("graphlint.toml"));
	ck_assert_str_eq(text_chars(&complaint), mistakes[_i].complaint);
}
END_TEST

START_TEST(every_setting_is_read)
{
	temp_tree_add_text("sub/base.toml", "ignore = ['GL5']\njobs = 3\ncache-dir = 'kept'\n"
	                                    "[per-file-ignores]\n'tests/' = ['GL101']\n");
	temp_tree_add_text(
	        "graphlint.toml",
	        "extend = 'sub/base.toml'\nselect = ['GL1']\nextend-select = ['GL502']\n"
	        "min-confidence = 'certain'\nbaseline = 'known.json'\nfail-on = 'error'\n"
	        "exclude = ['a']\nextend-exclude = ['b', 'c']\nno-respect-gitignore = true\n"
	        "force-exclude = true\ncpp-headers = 'shim'\ncompile-commands = 'out'\n"
	        "confirm = 'never'\nmemory = '80GiB'\nfix = true\nunsafe-fixes = true\n"
	        "format = 'concise'\noutput-file = 'report'\nstatistics = true\ncolor = 'never'\n"
	        "quiet = true\nverbose = true\nno-cache = true\n"
	        "[severity]\nGL101 = 'warning'\n"
	        "[extend-models]\n'a.b' = 'detaches'\n'a.c' = ['no-grad', 'takes-graph']\n"
	        "[per-file-ignores]\n'x/*.py' = ['GL103', 'GL2']\n");
	ck_assert_msg(read_config("graphlint.toml"), "%s", text_chars(&complaint));
	ck_assert_uint_eq(settings_number(&settings, OPTION_jobs), 3);
	ck_assert_str_eq(settings_text(&settings, OPTION_cache_dir), "sub/kept");
	ck_assert_str_eq(settings_text(&settings, OPTION_baseline), "known.json");
	ck_assert_uint_eq(settings_number(&settings, OPTION_memory), 80ull << 30);
	ck_assert(settings_flag(&settings, OPTION_fix));
	ck_assert_uint_eq(settings.of[OPTION_extend_exclude].list.count, 2);
	ck_assert_uint_eq(settings.selection.layers.count, 2);
	ck_assert_uint_eq(settings.file_ignores.count, 2);
	ck_assert_str_eq(settings.file_ignores.at[0].folder, "sub/");
	ck_assert_str_eq(settings.file_ignores.at[1].pattern, "x/*.py");
	ck_assert_uint_eq(settings.models.count, 3);
	ck_assert_uint_eq(settings.selection.severities.count, 1);
	ck_assert_uint_eq(settings.config_files.count, 2);
	for (int i = 0; i < OPTION_COUNT; i++) {
		if (options[i].places & PLACE_KEY && options[i].kind != OPTION_TABLE)
			ck_assert_msg(settings.of[i].origin == ORIGIN_FILE || i == OPTION_extend,
			              "%s was not set", options[i].name);
	}
}
END_TEST

START_TEST(the_nearest_file_is_found)
{
	temp_tree_add_text("pyproject.toml", "[tool.graphlint]\njobs = 1\n");
	temp_tree_add_text("a/pyproject.toml", "[tool.other]\n");
	temp_tree_add_text("a/b/x.py", "");
	ck_assert_str_eq(config_find(&arena, ""), "pyproject.toml");
	ck_assert_str_eq(config_find(&arena, "a/b/"), "pyproject.toml");
	temp_tree_add_text("a/graphlint.toml", "jobs = 2\n");
	ck_assert_str_eq(config_find(&arena, "a/b/"), "a/graphlint.toml");
	temp_tree_add_text("a/.graphlint.toml", "jobs = 3\n");
	ck_assert_str_eq(config_find(&arena, "a/b/"), "a/.graphlint.toml");
}
END_TEST

START_TEST(pyproject_has_a_table_of_ours)
{
	temp_tree_add_text("pyproject.toml",
	                   "\xef\xbb\xbf[project]\nname = 'x'\n[tool.graphlint]\njobs = 5\n");
	ck_assert(read_config("pyproject.toml"));
	ck_assert_uint_eq(settings_number(&settings, OPTION_jobs), 5);
}
END_TEST

/* the command line */

static struct command_line line;

static bool read_line(const char *arguments)
{
	char *words[32];
	char *copy = arena_text(&arena, arguments, strlen(arguments));
	int count = 1;

	words[0] = copy;
	while (*copy) {
		size_t length = strcspn(copy, " ");

		words[count++] = copy;
		copy += length;
		if (*copy)
			*copy++ = '\0';
	}
	complaint = (struct text){.arena = &arena};
	return command_line_read(&arena, count, words, &line, &complaint);
}

static const struct {
	const char *arguments, *complaint;
} slips[] = {
        {"--selct GL1", "`graphlint check` has no option `--selct`; did you mean `--select`?"},
        {"--frobnicate", "`graphlint check` has no option `--frobnicate`"},
        {"replay --select GL1", "`graphlint replay` has no option `--select`"},
        {"-z", "`graphlint check` has no option `-z`"},
        {"--select", "--select needs a value: CODE,..."},
        {"-j", "-j needs a value: N"},
        {"-j two", "-j must be a whole number up to 4294967295, not `two`"},
        {"--jobs=-1", "--jobs must be a whole number up to 4294967295, not `-1`"},
        {"--fix=yes", "--fix takes no value"},
        {"--color=blue", "--color must be one of auto|always|never, not `blue`"},
        {"--memory 12XB", "--memory must be a size such as 24GiB, not `12XB`"},
        {"--output-file=", "--output-file must not be empty"},
        {"--no-select", "`graphlint check` has no option `--no-select`; did you mean `--select`?"},
        {"@missing.txt", "@missing.txt: No such file or directory"},
        {"@loop.txt", "@loop.txt: argument files name each other"},
};

START_TEST(a_slip_gets_its_sentence)
{
	temp_tree_add_text("loop.txt", "@loop.txt\n");
	ck_assert(!read_line(slips[_i].arguments));
	ck_assert_str_eq(text_chars(&complaint), slips[_i].complaint);
}
END_TEST

START_TEST(options_and_operands_are_read)
{
	ck_assert(read_line("check a.py -qvj4 --select=GL1,GL2 -s GL3 --format json -- --odd -"));
	ck_assert_int_eq(line.command, COMMAND_check);
	ck_assert_uint_eq(line.operands.count, 3);
	ck_assert_str_eq(line.operands.at[1], "--odd");
	ck_assert_uint_eq(line.given[OPTION_jobs].number, 4);
	ck_assert_uint_eq(line.given[OPTION_select].list.count, 3);
	ck_assert_str_eq(line.given[OPTION_format].text, "json");
	ck_assert(line.given[OPTION_quiet].flag && line.given[OPTION_verbose].flag);
	ck_assert(!command_line_has(&line, OPTION_fix));
}
END_TEST

START_TEST(argument_files_hold_a_line_each)
{
	temp_tree_add_text("all.txt", "--select\nGL1\n\nmy file.py\r\n@more.txt\n");
	temp_tree_add_text("more.txt", "b.py");
	ck_assert(read_line("@all.txt c.py"));
	ck_assert_uint_eq(line.operands.count, 3);
	ck_assert_str_eq(line.operands.at[0], "my file.py");
	ck_assert_str_eq(line.operands.at[1], "b.py");
}
END_TEST

START_TEST(the_command_line_beats_the_file)
{
	temp_tree_add_text("graphlint.toml", "fix = true\nno-cache = true\nformat = 'json'\n"
	                                     "extend-exclude = ['a']\njobs = 2\n");
	ck_assert(read_config("graphlint.toml"));
	ck_assert(read_line("--no-fix --cache --format text --extend-exclude b"));
	command_line_apply(&arena, &line, &settings);
	ck_assert(!settings_flag(&settings, OPTION_fix));
	ck_assert(!settings_flag(&settings, OPTION_no_cache));
	ck_assert_str_eq(settings_text(&settings, OPTION_format), "text");
	ck_assert_uint_eq(settings_number(&settings, OPTION_jobs), 2);
	ck_assert_uint_eq(settings.of[OPTION_extend_exclude].list.count, 2);
}
END_TEST

START_TEST(sizes_are_read)
{
	static const struct {
		const char *written;
		uint64_t bytes; /* 0: no size */
	} cases[] = {
	        {"24GiB", 24ull << 30},
	        {"1.5 GiB", 3ull << 29},
	        {"512", 512},
	        {"80gb", 80000000000},
	        {"10k", 10240},
	        {"", 0},
	        {"GiB", 0},
	        {"-1", 0},
	        {"1e30", 0},
	        {"0x10", 0},
	        {"5 parsecs", 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t bytes = 0;

		ck_assert(read_size(cases[i].written, &bytes) == (cases[i].bytes != 0));
		ck_assert_uint_eq(bytes, cases[i].bytes);
	}
}
END_TEST

/* what is made from the tables */

START_TEST(every_option_is_in_help_manual_and_completions)
{
	struct text help = {.arena = &arena}, manual = {.arena = &arena};
	struct text shells[3] = {{.arena = &arena}, {.arena = &arena}, {.arena = &arena}};

	for (int i = 0; i < COMMAND_COUNT; i++)
		usage_help((enum command_id)i, &help);
	usage_manual(&manual);
	ck_assert(usage_completion("bash", &shells[0]));
	ck_assert(usage_completion("zsh", &shells[1]));
	ck_assert(usage_completion("fish", &shells[2]));
	ck_assert(!usage_completion("tcsh", &manual));
	for (int i = 0; i < OPTION_COUNT; i++) {
		if (!(options[i].places & PLACE_LINE))
			continue;
		ck_assert_msg(strstr(text_chars(&help), options[i].name) != NULL, "%s",
		              options[i].name);
		for (int k = 0; k < 3; k++)
			ck_assert_msg(strstr(text_chars(&shells[k]), options[i].name) != NULL, "%s",
			              options[i].name);
	}
	ck_assert_ptr_nonnull(strstr(text_chars(&manual), ".SH EXIT STATUS"));
}
END_TEST

START_TEST(the_schema_is_the_one_in_docs)
{
	struct text schema = {.arena = &arena};
	json_error_t error;
	json_t *made, *kept;

	usage_schema(&schema);
	made = json_loads(text_chars(&schema), 0, &error);
	kept = json_load_file(GRAPHLINT_ROOT "/docs/graphlint.schema.json", 0, &error);
	ck_assert_ptr_nonnull(made);
	ck_assert_msg(json_equal(made, kept), "run: graphlint schema > docs/graphlint.schema.json");
	json_decref(made);
	json_decref(kept);
}
END_TEST

START_TEST(settings_show_where_they_come_from)
{
	struct text out = {.arena = &arena};

	temp_tree_add_text("graphlint.toml", "\njobs = 2\n[severity]\nGL1 = 'info'\n");
	ck_assert(read_config("graphlint.toml"));
	ck_assert(read_line("--memory 8GiB"));
	command_line_apply(&arena, &line, &settings);
	settings_dump(&settings, &out);
	ck_assert_ptr_nonnull(strstr(text_chars(&out), "jobs = 2  # graphlint.toml:2\n"));
	ck_assert_ptr_nonnull(strstr(text_chars(&out), "memory = \"8GiB\"  # command line\n"));
	ck_assert_ptr_nonnull(strstr(text_chars(&out), "confirm = \"auto\"  # default\n"));
	ck_assert_ptr_nonnull(strstr(text_chars(&out), "GL1 = \"info\"\n"));
}
END_TEST

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof((array)[0])))

Suite *config_suite(void);

Suite *config_suite(void)
{
	Suite *suite = suite_create("config");
	TCase *tests = tcase_create("config");

	tcase_add_checked_fixture(tests, enter, release);
	tcase_add_loop_test(tests, toml_is_read, 0, COUNT_OF(tomls));
	tcase_add_test(tests, deep_toml_is_refused);
	tcase_add_loop_test(tests, a_mistake_is_shown_with_its_line, 0, COUNT_OF(mistakes));
	tcase_add_test(tests, every_setting_is_read);
	tcase_add_test(tests, the_nearest_file_is_found);
	tcase_add_test(tests, pyproject_has_a_table_of_ours);
	tcase_add_loop_test(tests, a_slip_gets_its_sentence, 0, COUNT_OF(slips));
	tcase_add_test(tests, options_and_operands_are_read);
	tcase_add_test(tests, argument_files_hold_a_line_each);
	tcase_add_test(tests, the_command_line_beats_the_file);
	tcase_add_test(tests, sizes_are_read);
	tcase_add_test(tests, every_option_is_in_help_manual_and_completions);
	tcase_add_test(tests, the_schema_is_the_one_in_docs);
	tcase_add_test(tests, settings_show_where_they_come_from);
	suite_add_tcase(suite, tests);
	return suite;
}
