/* Whatever is asked for wrongly gets a sentence of its own, and status 2. */

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer/base/text.h"
#include "tests/program.h"
#include "tests/temp_tree.h"

static struct arena arena;

static const char leak[] = "import torch\n"
                           "w = torch.ones(3, requires_grad=True)\n"
                           "kept = []\n"
                           "for step in range(9):\n"
                           "    kept.append(w * 2)\n";

static void enter(void)
{
	temp_tree_enter();
	temp_tree_add_text("leak.py", leak);
	temp_tree_add_text("d/", "");
	temp_tree_add_text("loop", "@loop\n");
	temp_tree_add_text("empty.json", "{}");
	temp_tree_add_text("entry.json", "{\"findings\": [{}]}");
	temp_tree_add_text("part.json", "{\"findings\": [], \"skipped\": [], \"shard\": {}}");
	temp_tree_add_text("odd.json",
	                   "{\"findings\": [], \"skipped\": [], "
	                   "\"shard\": {\"part\": 1, \"parts\": 1, \"record\": \"ab\"}}");
}

static void release(void)
{
	temp_tree_leave();
	arena_release(&arena);
}

#define FORMATS "text|concise|json|jsonl|sarif|github|gitlab|junit|rdjsonl|azure"

static const struct {
	const char *line, *sentence;
} lines[] = {
        /* options */
        {"--slect GL1 x", "`graphlint check` has no option `--slect`; did you mean `--select`?"},
        {"rules --slect", "`graphlint rules` has no option `--slect`"},
        {"-Z x", "`graphlint check` has no option `-Z`"},
        {"-qZ x", "`graphlint check` has no option `-qZ`"},
        {"--severity GL1=info x", "`graphlint check` has no option `--severity`: it stands in the "
                                  "configuration file"},
        {"--no-select x",
         "`graphlint check` has no option `--no-select`; did you mean `--select`?"},
        {"--select", "--select needs a value: CODE,..."},
        {"-f", "-f needs a value: " FORMATS},
        {"--quiet=yes x", "--quiet takes no value"},
        /* values */
        {"--select GLX x", "--select: `GLX` is no rule"},
        {"--select gl103 x", "--select: `gl103` is no rule; did you mean `GL103`?"},
        {"--ignore graph_in_list x", "--ignore: `graph_in_list` is no rule; did you mean "
                                     "`graph-in-list`?"},
        {"--extend-select GL1O1 x", "--extend-select: `GL1O1` is no rule; did you mean `GL101`?"},
        {"--select= x", "--select must not be empty"},
        {"--exclude= x", "--exclude must not be empty"},
        {"--config= x", "--config must not be empty"},
        {"--format jsn x", "--format must be one of " FORMATS ", not `jsn`; did you mean `json`?"},
        {"--fail-on warn x", "--fail-on must be one of error|warning|info, not `warn`"},
        {"--color blue x", "--color must be one of auto|always|never, not `blue`"},
        {"--confirm maybe x", "--confirm must be one of auto|always|never, not `maybe`"},
        {"--min-confidence sure x",
         "--min-confidence must be one of likely|certain|confirmed, not `sure`"},
        {"--cpp-headers none x", "--cpp-headers must be one of auto|shim|real, not `none`"},
        {"--jobs two x", "--jobs must be a whole number up to 4294967295, not `two`"},
        {"--jobs -1 x", "--jobs must be a whole number up to 4294967295, not `-1`"},
        {"-j 99999999999 x", "-j must be a whole number up to 4294967295, not `99999999999`"},
        {"--memory 24Gx x", "--memory must be a size such as 24GiB, not `24Gx`"},
        {"--memory -3 x", "--memory must be a size such as 24GiB, not `-3`"},
        {"--shard 0/3 x", "--shard must be I/N with I from 1 to N, not `0/3`"},
        {"--shard 4/3 x", "--shard must be I/N with I from 1 to N, not `4/3`"},
        {"--shard 1/3/4 x", "--shard must be I/N with I from 1 to N, not `1/3/4`"},
        {"--shard +1/3 x", "--shard must be I/N with I from 1 to N, not `+1/3`"},
        {"--shard 1/99999999999999999999 x",
         "--shard must be I/N with I from 1 to N, not `1/99999999999999999999`"},
        {"--dump foo x", "--dump must be one of tree|ir|cfg, not `foo`"},
        /* what does not go together */
        {"--isolated --config a.toml x", "--isolated and --config do not go together"},
        {"--quiet --verbose x", "--quiet and --verbose do not go together"},
        {"--show-files --show-settings x", "--show-files and --show-settings do not go together"},
        {"--watch --add-noqa x", "--watch and --add-noqa do not go together"},
        {"--add-noqa --write-baseline b.json x",
         "--add-noqa and --write-baseline do not go together"},
        {"--statistics -f json x", "--statistics is a text, not json"},
        {"--add-noqa -", "--add-noqa cannot change standard input"},
        {"--watch -", "--watch cannot watch standard input"},
        {"--shard 1/2 -", "standard input has no parts: --shard needs files"},
        {"--shard 1/2 --write-baseline b.json x", "--shard looks at a part, --write-baseline needs "
                                                  "the whole"},
        /* files */
        {"@none", "@none: No such file or directory"},
        {"@d", "@d: Is a directory"},
        {"@loop", "@loop: argument files name each other"},
        {"--config none.toml x", "cannot read none.toml: No such file or directory"},
        {"--config d x", "cannot read d: Is a directory"},
        {"--config leak.py x", "leak.py:1: this is not TOML"},
        {"--baseline none.json leak.py", "baseline none.json: No such file or directory"},
        {"--baseline d leak.py", "baseline d: Is a directory"},
        {"--baseline leak.py leak.py",
         "baseline leak.py: this is no JSON: line 1: '[' or '{' expected near 'import'"},
        {"--baseline empty.json leak.py", "baseline empty.json: this is no baseline of graphlint"},
        {"--baseline entry.json leak.py", "baseline entry.json: an entry lacks a field"},
        {"--write-baseline none/b.json leak.py",
         "cannot write none/b.json: No such file or directory"},
        {"--output-file none/x leak.py", "cannot write none/x: No such file or directory"},
        {"--output-file d leak.py", "cannot write d: Is a directory"},
        {"--diff-base HEAD leak.py", "--diff-base: not a git repository (or any of the parent "
                                     "directories): .git"},
        {"-q none.py", "none.py: No such file or directory"},
        {"-q -f gitlab none.py", "none.py: No such file or directory"},
        {"cache clean --cache-dir leak.py", "leak.py: "},
        /* commands */
        {"chekc", "there is no file or command `chekc`; did you mean `check`?"},
        {"expalin GL103", "there is no file or command `expalin`; did you mean `explain`?"},
        {"help foo", "there is no command `foo`"},
        {"help mergee", "there is no command `mergee`; did you mean `merge`?"},
        {"explain", "which rule? See `graphlint rules`"},
        {"explain GL999", "there is no rule `GL999`; did you mean `GL900`?"},
        {"explain leaks", "there is no rule `leaks`; see `graphlint rules`"},
        {"rules GL1", "`graphlint rules` takes no operand; did you mean `graphlint explain GL1`?"},
        {"version 3", "`graphlint version` takes no operand, and `3` is one"},
        {"schema x", "`graphlint schema` takes no operand, and `x` is one"},
        {"cache", "`graphlint cache clean` is what there is"},
        {"cache claen", "`graphlint cache clean` is what there is"},
        {"completion tcsh", "which shell? `graphlint completion bash`, zsh or fish"},
        {"merge", "which reports? `graphlint merge shard-1.json shard-2.json`"},
        {"merge none.json", "none.json: No such file or directory"},
        {"merge leak.py", "leak.py: this is no JSON: line 1: '[' or '{' expected near 'import'"},
        {"merge empty.json", "empty.json: this is no json report of graphlint"},
        {"merge part.json", "part.json: this is no json report of graphlint"},
        {"merge odd.json", "odd.json: its record is damaged"},
};

static void check_sentence(const char *what, const struct program_run *run, const char *sentence)
{
	struct text wanted = {.arena = &arena};

	text_print(&wanted, "graphlint: error: %s", sentence);
	ck_assert_msg(run->status == 2, "%s exits with %d", what, run->status);
	ck_assert_msg(!strncmp(run->err, text_chars(&wanted), wanted.length),
	              "%s says:\n%s\nnot:\n%s", what, run->err, text_chars(&wanted));
	ck_assert_msg(strchr(run->err, '\n') == run->err + strlen(run->err) - 1,
	              "%s says more than a line:\n%s", what, run->err);
	ck_assert_msg(!*run->out || !strcmp(run->out, "[]\n"), "%s prints:\n%s", what, run->out);
}

START_TEST(a_wrong_line_gets_its_sentence)
{
	struct program_run run = program_run(&arena, "", lines[_i].line);

	check_sentence(lines[_i].line, &run, lines[_i].sentence);
}
END_TEST

static const struct {
	const char *config, *sentence;
} configs[] = {
        {"select = \"GL1\"\n", "1: `select` must be an array of strings, not a string"},
        {"select = [1]\n", "1: `select` must be an array of strings, not an integer"},
        {"\nselect = [\"GL1\"\n", "2: this is not TOML"},
        {"select = []\nselect = []\n", "2: `select` is set twice"},
        {"Select = []\n", "1: `Select` is no setting; did you mean `select`?"},
        {"\n\nextend_select = []\n",
         "3: `extend_select` is no setting; did you mean `extend-select`?"},
        {"jobs = \"3\"\n", "1: `jobs` must be an integer, not a string"},
        {"jobs = -3\n", "1: `jobs` must be a whole number up to 4294967295, not `-3`"},
        {"jobs = 3.5\n", "1: `jobs` must be an integer, not a float"},
        {"jobs = 99999999999999999999\n", "1: the integer does not fit into 64 bits"},
        {"quiet = 1\n", "1: `quiet` must be a boolean, not an integer"},
        {"memory = true\n", "1: `memory` must be a string or an integer, not a boolean"},
        {"memory = \"lots\"\n", "1: `memory` must be a size such as 24GiB, not `lots`"},
        {"format = \"xml\"\n", "1: `format` must be one of " FORMATS ", not `xml`"},
        {"fail-on = []\n", "1: `fail-on` must be a string, not an array"},
        {"color = 1979-05-27\n", "1: `color` must be a string, not a date"},
        {"baseline = \"\"\n", "1: `baseline` must not be empty"},
        {"extend = \"none.toml\"\n",
         "1: `extend`: cannot read none.toml: No such file or directory"},
        {"extend = \"graphlint.toml\"\n", "1: `extend` goes round in circles"},
        {"extend = [\"a\"]\n", "1: `extend` must be a string, not an array"},
        {"extend = \"\"\n", "1: `extend` must not be empty"},
        {"per-file-ignores = [\"x\"]\n", "1: `per-file-ignores` must be a table, not an array"},
        {"[per-file-ignores]\n\"x\" = \"GL1\"\n",
         "2: `x` must be an array of strings, not a string"},
        {"[per-file-ignores]\n\"y\" = []\n\"x\" = [\"GLX\"]\n",
         "3: `per-file-ignores`: `GLX` is no rule"},
        {"[severity]\nGL1 = \"off\"\n",
         "2: `GL1` must be \"error\", \"warning\" or \"info\", not `off`"},
        {"[severity]\nGL1 = 3\n", "2: `GL1` must be a string, not an integer"},
        {"[severity]\nGL1O3 = \"info\"\n",
         "2: `severity`: `GL1O3` is no rule; did you mean `GL103`?"},
        {"[extend-models]\n\"a.b\" = \"return-graph\"\n",
         "2: `a.b` must be returns-graph, takes-graph, detaches or no-grad, not `return-graph`; "
         "did you mean `returns-graph`?"},
        {"[extend-models]\n\"a.b\" = [3]\n",
         "2: `a.b` must be an array of strings, not an integer"},
        {"[extend-models]\na.b = \"detaches\"\n",
         "2: `a` must be a name in quotes, dots and all, as in \"package.function\""},
        {"[tool.graphlint]\nselect = []\n",
         "1: `tool` is no setting: in this file settings stand without [tool.graphlint]"},
        {"[unknown]\nx = 1\n", "1: `unknown` is no setting"},
        {"watch = true\n", "1: `watch` is for the command line only"},
        {"= 3\n", "1: this is not TOML"},
        {"select\n", "1: this is not TOML"},
        {"\xff\xfe\n", "1: this is not TOML"},
        {"ignore = [\"GL1O3\"]\n", "1: `ignore`: `GL1O3` is no rule; did you mean `GL103`?"},
};

START_TEST(a_wrong_configuration_gets_its_sentence)
{
	struct text sentence = {.arena = &arena};
	struct program_run run;

	temp_tree_add_text("graphlint.toml", configs[_i].config);
	run = program_run(&arena, "", "leak.py");
	text_print(&sentence, "graphlint.toml:%s", configs[_i].sentence);
	check_sentence(configs[_i].config, &run, text_chars(&sentence));
	/* The same further down the tree. */
	ck_assert_int_eq(rename("graphlint.toml", "d/graphlint.toml"), 0);
	temp_tree_add_text("d/leak.py", leak);
	run = program_run(&arena, "", ".");
	ck_assert_int_eq(run.status, 2);
	ck_assert_msg(strstr(run.err, " d/graphlint.toml:") != NULL, "%s", run.err);
}
END_TEST

/* What a table of the configuration took from another file is that file's. */
START_TEST(a_row_is_named_by_its_own_file)
{
	temp_tree_add_text("base.toml", "\n[severity]\nGLX = \"info\"\n");
	temp_tree_add_text("graphlint.toml",
	                   "extend = \"base.toml\"\n[severity]\nGL1 = \"info\"\n");
	ck_assert_str_eq(program_run(&arena, "", ".").err,
	                 "graphlint: error: base.toml:3: `severity`: `GLX` is no rule\n");
}
END_TEST

/* A baseline that is written has all findings, whatever one that is used hides. */
START_TEST(a_baseline_is_written_anew)
{
	temp_tree_add_text("graphlint.toml", "baseline = \"known.json\"\n");
	ck_assert_str_eq(program_run(&arena, "", "--write-baseline known.json leak.py").out,
	                 "1 finding written to known.json\n");
	ck_assert_int_eq(program_run(&arena, "", "leak.py").status, 0);
	ck_assert_str_eq(program_run(&arena, "", "--write-baseline known.json leak.py").out,
	                 "1 finding written to known.json\n");
	ck_assert_int_eq(program_run(&arena, "", "leak.py").status, 0);
}
END_TEST

Suite *messages_suite(void);

Suite *messages_suite(void)
{
	Suite *suite = suite_create("messages");
	TCase *tests = tcase_create("messages");

	tcase_add_checked_fixture(tests, enter, release);
	tcase_add_loop_test(tests, a_wrong_line_gets_its_sentence, 0,
	                    (int)(sizeof(lines) / sizeof(lines[0])));
	tcase_add_loop_test(tests, a_wrong_configuration_gets_its_sentence, 0,
	                    (int)(sizeof(configs) / sizeof(configs[0])));
	tcase_add_test(tests, a_row_is_named_by_its_own_file);
	tcase_add_test(tests, a_baseline_is_written_anew);
	suite_add_tcase(suite, tests);
	return suite;
}
