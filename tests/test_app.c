/* The program as people run it: every option and every command. */

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyzer/app/options.h"
#include "analyzer/base/files.h"
#include "analyzer/base/text.h"
#include "tests/program.h"
#include "tests/temp_tree.h"

static struct arena arena;

static const char clean[] = "import torch\n"
                            "\n"
                            "print(torch.ones(3).sum().item())\n";

static const char notebook[] = "{\"cells\": [{\"cell_type\": \"code\", \"metadata\": {}, "
                               "\"source\": [\"import torch\\n\"]},\n"
                               "{\"cell_type\": \"code\", \"metadata\": {}, \"source\": "
                               "[\"%time\\n\", \"x = torch.ones(3)\"]}],\n"
                               "\"metadata\": {}, \"nbformat\": 4, \"nbformat_minor\": 5}\n";

static const char report[] =
        "{\"findings\": [{\"code\": \"GL103\", \"severity\": \"warning\", \"confidence\": "
        "\"likely\", "
        "\"filename\": \"leak.py\", \"location\": {\"row\": 13, \"column\": 5}, \"message\": "
        "\"kept\"}], \"skipped\": [], \"summary\": {\"files\": 1}}";

static void enter(void)
{
	unsetenv("NO_COLOR");
	temp_tree_enter();
	temp_tree_add_text("leak.py", program_leaking);
	temp_tree_add_text("clean.py", clean);
	temp_tree_add_text("sub/other.py", program_leaking);
	temp_tree_add_text("book.ipynb", notebook);
	temp_tree_add_text("build/made.py", program_leaking);
	temp_tree_add_text("broken.py", "import torch\ndef f(:\n    pass\n");
	temp_tree_add_text("notes.txt", "hello\n");
	temp_tree_add_text("args.txt", "--quiet\nleak.py\n");
	temp_tree_add_text("report.json", report);
}

static void release(void)
{
	temp_tree_leave();
	arena_release(&arena);
}

static struct program_run run(const char *arguments)
{
	return program_run(&arena, NULL, arguments);
}

/* One call each: what it exits with, and what its output must (`has`) and must
 * not (`lacks`) hold. NULL: no matter. */
static const struct {
	const char *arguments;
	int status;
	const char *has, *lacks, *error;
} cases[] = {
        /* selection */
        {"leak.py", 1, "GL103", NULL, NULL},
        {"check leak.py", 1, "GL101", NULL, NULL},
        {"--select GL103 leak.py", 1, "GL103", "GL101", NULL},
        {"-s graph-in-list leak.py", 1, "GL101", "GL103", NULL},
        {"--ignore GL1 leak.py", 0, "No findings in 1 file.", NULL, NULL},
        {"--select GL1 --ignore GL103 leak.py", 1, "GL101", "GL103", NULL},
        {"--extend-select GL502 clean.py", 0, "No findings", NULL, NULL},
        {"--select GL2 leak.py", 0, "No findings", NULL, NULL},
        {"--select GL77 leak.py", 2, NULL, NULL, "--select: `GL77` is no rule"},
        {"--select GL013 leak.py", 2, NULL, NULL, "did you mean `GL103`?"},
        {"--min-confidence confirmed --confirm never leak.py", 0, "No findings", NULL, NULL},
        {"--fail-on error leak.py", 0, "2 warnings", NULL, NULL},
        {"--fail-on info leak.py", 1, "2 warnings", NULL, NULL},
        {"--exit-zero leak.py", 0, "2 warnings", NULL, NULL},
        /* files */
        {".", 1, "sub/other.py:13", "build/made.py", NULL},
        {"", 1, "leak.py:13", "build/made.py", NULL},
        {"--exclude sub .", 1, "build/made.py", "sub/other.py", NULL},
        {"--extend-exclude sub .", 1, "leak.py:13", "other.py", NULL},
        {"build/made.py", 1, "build/made.py:13", NULL, NULL},
        {"--force-exclude build/made.py", 0, "No findings", NULL, NULL},
        {"--show-files", 0, "clean.py\nleak.py\nsub/other.py\n", "made.py", NULL},
        {"missing.py", 2, "could not read missing.py: No such file or directory", NULL, NULL},
        {"missing.py leak.py", 2, "leak.py:13", NULL, NULL},
        {"-q missing.py", 2, NULL, NULL, "missing.py: No such file or directory"},
        {"notes.txt", 0, "not analysed notes.txt", NULL, NULL},
        {"broken.py", 0, "not analysed broken.py:2", NULL, NULL},
        {"book.ipynb", 0, "No findings in 1 file.", NULL, NULL},
        {"--no-skip clean.py", 0, "No findings", NULL, NULL},
        {"chekc", 2, NULL, NULL, "there is no file or command `chekc`; did you mean `check`?"},
        /* output */
        {"-f concise leak.py", 1, "leak.py:13:5: warning GL103", "|", NULL},
        {"-f json leak.py", 1, "\"noqa_row\": 13", NULL, NULL},
        {"-f jsonl leak.py", 1, "{\"code\":\"GL103\"", NULL, NULL},
        {"-f sarif leak.py", 1, "\"ruleId\": \"GL103\"", NULL, NULL},
        {"-f sarif missing.py", 2, "\"executionSuccessful\": false", NULL, NULL},
        {"-f github leak.py", 1, "::warning file=leak.py,line=13", NULL, NULL},
        {"-f gitlab leak.py", 1, "\"check_name\": \"graph-accumulator\"", NULL, NULL},
        {"-f gitlab missing.py", 2, "[]", NULL, "missing.py: No such file"},
        {"-f junit leak.py", 1, "<testsuites", NULL, NULL},
        {"-f rdjsonl leak.py", 1, "\"severity\":\"WARNING\"", NULL, NULL},
        {"-f azure leak.py", 1, "##vso[task.logissue type=warning;sourcepath=leak.py", NULL, NULL},
        {"-f yaml leak.py", 2, NULL, NULL, "-f must be one of text|concise"},
        {"--statistics leak.py", 1, "     1  GL101 graph-in-list\n", "leak.py", NULL},
        {"--quiet leak.py", 1, "GL103", "2 findings", NULL},
        {"--verbose leak.py", 1, "files that cannot matter", NULL, NULL},
        {"--color always leak.py", 1, "\x1b[1;33mwarning", NULL, NULL},
        {"--color never leak.py", 1, "warning", "\x1b", NULL},
        {"--memory 8GiB leak.py", 1, "GL103", NULL, NULL},
        {"-o out/none.txt leak.py", 2, NULL, NULL, "cannot write out/none.txt: No such file"},
        {"-j 1 leak.py", 1, "GL103", NULL, NULL},
        {"--confirm never leak.py", 1, "GL103", NULL, NULL},
        {"--cpp-headers shim -p out leak.py", 1, "GL103", NULL, NULL},
        {"--no-cache leak.py", 1, "GL103", NULL, NULL},
        {"--no-respect-gitignore leak.py", 1, "GL103", NULL, NULL},
        {"@args.txt", 1, "leak.py:13", "2 findings", NULL},
        /* settings */
        {"--show-settings --jobs 3", 0, "jobs = 3  # command line\n", NULL, NULL},
        {"--config none.toml leak.py", 2, NULL, NULL, "cannot read none.toml: No such file"},
        {"--shard 3/2 leak.py", 2, NULL, NULL, "--shard must be I/N"},
        {"--shard one leak.py", 2, NULL, NULL, "--shard must be I/N"},
        {"--diff-base HEAD leak.py", 2, NULL, NULL, "--diff-base: "},
        {"--baseline none.json leak.py", 2, NULL, NULL, "baseline none.json: "},
        /* developers */
        {"--dump tree clean.py", 0, "module", NULL, NULL},
        {"--dump=ir clean.py", 0, "import", NULL, NULL},
        {"--dump=cfg clean.py", 0, "b1", NULL, NULL},
        {"--dump=ir notes.txt", 2, NULL, NULL, "notes.txt: neither Python"},
        /* replay */
        {"replay leak.py", 0, "leak.py:8: `for step in range(100):`, replayed ", NULL, NULL},
        {"replay leak.py", 0, "held by", NULL, NULL},
        {"replay leak.py:13 --steps 6", 0, "replayed 6 steps", NULL, NULL},
        {"replay leak.py:1 --steps 6", 0, "replayed 6 steps", NULL, "this is leak.py:8"},
        {"replay leak.py:99", 2, NULL, NULL, "leak.py has 15 lines"},
        {"replay leak.py --steps 0", 2, NULL, NULL, "--steps must be at least 1"},
        {"replay leak.py --memory 1GiB", 0, "; 1 GiB lasts ", NULL, NULL},
        {"replay leak.py --color always", 0, "\x1b[1;31mlinear", NULL, NULL},
        {"replay leak.py --format svg", 0, "<svg xmlns", "<html", NULL},
        {"replay leak.py --format html", 0, "<!doctype html>", "http-equiv", NULL},
        {"replay leak.py --format json", 0, "\"live_bytes\": [", NULL, NULL},
        {"replay leak.py --format xml", 2, NULL, NULL, "must be one of text|json|svg|html"},
        {"replay leak.py --cpp-headers shim -p out", 0, "linear", NULL, NULL},
        {"replay leak.py --assert flat", 1, "flat: does not hold", NULL, NULL},
        {"replay leak.py --assert bounded", 1, "bounded: does not hold", NULL, NULL},
        {"replay leak.py --assert 1MiB", 0, "1MiB: holds", NULL, NULL},
        {"replay leak.py --assert 1B", 1, "1B: does not hold", NULL, NULL},
        {"replay leak.py --assert most", 2, NULL, NULL, "--assert must be flat, bounded or a size"},
        {"replay leak.py --assert flat --steps 3", 2, "flat: cannot be told", NULL, NULL},
        {"replay leak.py --output --assert flat", 1, NULL, "live bytes",
         "--assert flat does not hold: bytes are linear, nodes linear"},
        /* other commands */
        {"rules", 0, "GL103  graph-accumulator", NULL, NULL},
        {"rules --format json", 0, "\"code\": \"GL103\"", NULL, NULL},
        {"rules GL103", 2, NULL, NULL, "did you mean `graphlint explain GL103`?"},
        {"explain GL103", 0, "# GL103 graph-accumulator", NULL, NULL},
        {"explain GL103 --format json", 0, "\"page\": \"# GL103", NULL, NULL},
        {"explain GL103 --color always", 0, "\x1b[1mGL103 graph-accumulator", NULL, NULL},
        {"explain graph-acumulator", 2, NULL, NULL, "did you mean `graph-accumulator`?"},
        {"explain", 2, NULL, NULL, "which rule?"},
        {"version", 0, "graphlint ", NULL, NULL},
        {"--version", 0, "graphlint ", NULL, NULL},
        {"-V", 0, "graphlint ", NULL, NULL},
        {"--help", 0, "Usage: graphlint [check]", NULL, NULL},
        {"help", 0, "Exit status:", NULL, NULL},
        {"help merge", 0, "Usage: graphlint merge", NULL, NULL},
        {"help mergee", 2, NULL, NULL, "did you mean `merge`?"},
        {"merge --help", 0, "--output-file", NULL, NULL},
        {"manual", 0, ".TH GRAPHLINT 1", NULL, NULL},
        {"completion bash", 0, "complete -o filenames", NULL, NULL},
        {"completion zsh", 0, "#compdef graphlint", NULL, NULL},
        {"completion fish", 0, "complete -c graphlint", NULL, NULL},
        {"completion", 2, NULL, NULL, "which shell?"},
        {"schema", 0, "\"additionalProperties\": false", NULL, NULL},
        {"cache clean", 0, "0 files removed", NULL, NULL},
        {"cache clean --cache-dir sub", 2, NULL, NULL, "is not a cache of graphlint"},
        {"cache", 2, NULL, NULL, "`graphlint cache clean` is what there is"},
        {"merge", 2, NULL, NULL, "which reports?"},
        {"merge notes.txt", 2, NULL, NULL, "notes.txt: "},
        {"--watch -", 2, NULL, NULL, "--watch cannot watch standard input"},
        /* what else an option can be */
        {"--min-confidence likely leak.py", 1, "GL103", NULL, NULL},
        {"--min-confidence certain --confirm always leak.py", 1, "steps (exact)", NULL, NULL},
        {"--fail-on warning --format text --color auto leak.py", 1, "2 warnings", "\x1b", NULL},
        {"--confirm auto --cpp-headers auto leak.py", 1, "steps (exact)", NULL, NULL},
        {"--cpp-headers real leak.py", 1, "GL103", NULL, NULL},
        {"--isolated --cache-dir kept leak.py", 1, "GL103", NULL, NULL},
        {"cache clean --isolated --cache-dir none", 0, "0 files removed", NULL, NULL},
        {"cache clean --config none.toml", 2, NULL, NULL, "cannot read none.toml"},
        {"replay leak.py --format text --output-file out/x", 2, NULL, NULL, "cannot write out/x"},
        {"memory leak.py --format text --color never", 0, "one step", "\x1b", NULL},
        {"memory leak.py --format json", 0, "\"by_kind\"", NULL, NULL},
        {"memory leak.py --color always", 0, "\x1b[", NULL, NULL},
        {"memory leak.py --output-file out/x", 2, NULL, NULL, "cannot write out/x"},
        {"rules --format text --color always", 0, "\x1b[1mGL101", NULL, NULL},
        {"merge report.json --fail-on info --format concise --color never", 1,
         "leak.py:13:5: warning GL103", "\x1b", NULL},
        {"merge report.json --statistics", 1, "     1  GL103 graph-accumulator\n", NULL, NULL},
        {"merge report.json --verbose --jobs 1", 1, "files that cannot matter", NULL, NULL},
        {"merge report.json --quiet", 1, "GL103", "1 finding", NULL},
        {"merge report.json --fail-on error", 0, "GL103", NULL, NULL},
        {"merge report.json --exit-zero", 0, "GL103", NULL, NULL},
        {"merge report.json --output-file out/x", 2, NULL, NULL, "cannot write out/x"},
};

START_TEST(a_call_does_what_it_says)
{
	struct program_run result = run(cases[_i].arguments);
	const char *call = cases[_i].arguments;

	ck_assert_msg(result.status == cases[_i].status, "`%s` exits with %d\n%s%s", call,
	              result.status, result.out, result.err);
	ck_assert_msg(!cases[_i].has || strstr(result.out, cases[_i].has), "`%s` prints:\n%s", call,
	              result.out);
	ck_assert_msg(!cases[_i].lacks || !strstr(result.out, cases[_i].lacks), "`%s` prints:\n%s",
	              call, result.out);
	ck_assert_msg(!cases[_i].error || strstr(result.err, cases[_i].error), "`%s` says:\n%s",
	              call, result.err);
	ck_assert_msg(cases[_i].error || !*result.err, "`%s` says:\n%s", call, result.err);
}
END_TEST

/* The command of a line; `*rest` is what follows. */
static enum command_id command_of(const char *line, const char **rest)
{
	const char *first = arena_text(&arena, line, strcspn(line, " "));
	const enum command_id command = command_find(first);

	*rest = command == COMMAND_COUNT ? line : line + strlen(first);
	return command == COMMAND_COUNT ? COMMAND_check : command;
}

static bool follows(const char *at, const char *value)
{
	const size_t length = value ? strlen(value) : 0;

	if (!value)
		return !*at || *at == ' ' || *at == '=';
	return (*at == ' ' || *at == '=') && !strncmp(at + 1, value, length) &&
	       (!at[1 + length] || at[1 + length] == ' ');
}

/* `value` NULL: whatever it is. */
static bool is_given(const char *line, const char *spelled, const char *value)
{
	const size_t length = strlen(spelled);

	for (const char *at = line; (at = strstr(at, spelled)); at++) {
		if ((at == line || at[-1] == ' ') && follows(at + length, value))
			return true;
	}
	return false;
}

static bool is_in_line(const char *line, enum command_id command, const struct option *option,
                       const char *value)
{
	struct text spelled = {.arena = &arena};
	const char letter[3] = {'-', option->letter, '\0'};
	const char *rest;

	if (command_of(line, &rest) != command)
		return false;
	text_print(&spelled, "--%s", option->name);
	return is_given(rest, text_chars(&spelled), value) ||
	       (option->letter && is_given(rest, letter, value));
}

/* What needs more than a line is tested below, or where it says. */
static const char *const tested_elsewhere[] = {
        "check --stdin-filename a.py",   "replay --stdin-filename a.py", /* test_replay_command.c */
        "memory --stdin-filename a.py",  "check --add-noqa",
        "check --write-baseline b.json", "check --fix --unsafe-fixes --diff",
};

static bool is_tested(enum command_id command, const struct option *option, const char *value)
{
	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		if (is_in_line(cases[k].arguments, command, option, value))
			return true;
	}
	for (size_t k = 0; k < sizeof(tested_elsewhere) / sizeof(tested_elsewhere[0]); k++) {
		if (is_in_line(tested_elsewhere[k], command, option, value))
			return true;
	}
	return false;
}

START_TEST(every_option_is_run_with_every_command)
{
	for (int i = 0; i < OPTION_COUNT; i++) {
		for (int c = 0; c < COMMAND_COUNT; c++) {
			/* --help and --version are all commands' */
			if (!(options[i].places & PLACE_LINE) || !(options[i].commands & 1u << c) ||
			    (i == OPTION_help && c != COMMAND_check && c != COMMAND_merge) ||
			    (i == OPTION_version && c != COMMAND_check))
				continue;
			ck_assert_msg(is_tested((enum command_id)c, &options[i], NULL),
			              "no test runs `graphlint %s --%s`", commands[c].name,
			              options[i].name);
		}
	}
}
END_TEST

static bool is_chosen(const struct option *option, const char *choice)
{
	for (int c = 0; c < COMMAND_COUNT; c++) {
		if (option->commands & 1u << c && is_tested((enum command_id)c, option, choice))
			return true;
	}
	return false;
}

START_TEST(every_choice_is_made)
{
	for (int i = 0; i < OPTION_COUNT; i++) {
		const char *at = options[i].operand;

		if (!(options[i].places & PLACE_LINE) || options[i].kind != OPTION_CHOICE)
			continue;
		for (size_t length; *at; at += length + (at[length] == '|')) {
			const char *choice;

			length = strcspn(at, "|");
			choice = arena_text(&arena, at, length);
			ck_assert_msg(is_chosen(&options[i], choice), "no test runs `--%s %s`",
			              options[i].name, choice);
		}
	}
}
END_TEST

START_TEST(every_command_is_run)
{
	for (int c = 0; c < COMMAND_COUNT; c++) {
		bool found = false;
		const char *rest;

		for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
			found |= command_of(cases[k].arguments, &rest) == (enum command_id)c;
		ck_assert_msg(found, "no test runs `graphlint %s`", commands[c].name);
	}
}
END_TEST

START_TEST(standard_input_is_read)
{
	struct program_run plain = program_run(&arena, program_leaking, "-f concise -q -");
	struct program_run named =
	        program_run(&arena, program_leaking, "-f concise -q --stdin-filename src/a.py -");
	struct program_run dump = program_run(&arena, clean, "--dump ir -");
	struct program_run cells = program_run(&arena, notebook, "-q --stdin-filename a.ipynb -");
	struct program_run step =
	        program_run(&arena, program_leaking, "memory --stdin-filename src/a.py -");

	ck_assert_ptr_nonnull(strstr(plain.out, "stdin.py:13:5"));
	ck_assert_ptr_nonnull(strstr(named.out, "src/a.py:13:5"));
	ck_assert_int_eq(named.status, 1);
	ck_assert_int_eq(cells.status, 0);
	ck_assert_ptr_nonnull(strstr(dump.out, "import"));
	ck_assert_ptr_nonnull(strstr(step.out, "src/a.py:8: "));
}
END_TEST

START_TEST(output_goes_to_a_file)
{
	struct program_run result = run("--color auto -o report.txt leak.py");
	struct program_run direct = run("leak.py");
	struct program_run read;

	ck_assert_int_eq(result.status, 1);
	ck_assert_str_eq(result.out, "");
	read = run("@report.txt");
	ck_assert_int_eq(read.status, 2);
	ck_assert_int_eq(access("report.txt", R_OK), 0);
	ck_assert_ptr_nonnull(direct.out);
}
END_TEST

/* Whatever is printed: what is lost is said, and is no success. */
static const char *const printing[] = {
        "leak.py",
        "-f json clean.py",
        "-f sarif leak.py",
        "--statistics leak.py",
        "--show-files",
        "--show-settings",
        "--dump=ir clean.py",
        "--add-noqa clean.py",
        "--help",
        "help merge",
        "--version",
        "version",
        "rules",
        "explain GL101",
        "schema",
        "manual",
        "completion bash",
        "cache clean",
        "replay leak.py",
        "memory leak.py",
        "merge report.json",
        "--exit-zero .",
        "replay leak.py -f svg",
};

START_TEST(output_that_is_lost_is_said)
{
	struct text line = {.arena = &arena};
	struct file_text errors;
	int status;

	text_print(&line, GRAPHLINT_PROGRAM " %s > /dev/full 2> errors.txt", printing[_i]);
	status = system(text_chars(&line));
	ck_assert(file_read(&arena, "errors.txt", &errors));
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 2, "%s exits with %d",
	              printing[_i], WEXITSTATUS(status));
	ck_assert_msg(strstr(errors.bytes, "cannot write to standard output\n") != NULL, "%s: %s",
	              printing[_i], errors.bytes);
}
END_TEST

START_TEST(closed_streams_do_no_harm)
{
	ck_assert_int_eq(system(GRAPHLINT_PROGRAM " clean.py <&- > out.txt 2>&1"), 0);
	ck_assert_int_eq(WEXITSTATUS(system(GRAPHLINT_PROGRAM " - <&- > out.txt 2>&1")), 2);
	ck_assert_int_eq(WEXITSTATUS(system(GRAPHLINT_PROGRAM " clean.py >&- 2> err.txt")), 2);
	ck_assert_int_eq(system(GRAPHLINT_PROGRAM " clean.py 2>&- > out.txt"), 0);
}
END_TEST

START_TEST(jobs_do_not_change_the_output)
{
	for (int format = 0; format < 2; format++) {
		const char *kind = format ? "-f json" : "-f text";
		struct text one = {.arena = &arena}, four = {.arena = &arena};

		text_print(&one, "%s --no-cache --jobs 1 .", kind);
		text_print(&four, "%s --no-cache --jobs 4 .", kind);
		ck_assert_str_eq(run(text_chars(&one)).out, run(text_chars(&four)).out);
	}
}
END_TEST

START_TEST(skipping_does_not_change_the_output)
{
	ck_assert_str_eq(run("-f json --no-cache .").out,
	                 run("-f json --no-cache --no-skip .").out);
}
END_TEST

/* configuration */

START_TEST(the_configuration_is_used)
{
	temp_tree_add_text("pyproject.toml", "[tool.graphlint]\nselect = ['GL103']\n");
	ck_assert_ptr_null(strstr(run("leak.py").out, "GL101"));
	ck_assert_ptr_nonnull(strstr(run("--isolated leak.py").out, "GL101"));
	ck_assert_ptr_nonnull(strstr(run("--select GL101 leak.py").out, "GL101"));
	temp_tree_add_text("mine.toml", "ignore = ['GL1']\n");
	ck_assert_int_eq(run("--config mine.toml leak.py").status, 0);
	ck_assert_ptr_nonnull(
	        strstr(run("--show-settings").out, "select = [\"GL103\"]  # pyproject.toml:2"));
}
END_TEST

START_TEST(a_wrong_configuration_stops)
{
	struct program_run result;

	temp_tree_add_text("graphlint.toml", "selcet = []\n");
	result = run("leak.py");
	ck_assert_int_eq(result.status, 2);
	ck_assert_str_eq(result.err,
	                 "graphlint: error: graphlint.toml:1: `selcet` is no setting; did you mean "
	                 "`select`?\n");
	temp_tree_add_text("graphlint.toml", "[per-file-ignores]\n'*.py' = ['GL7777']\n");
	ck_assert_ptr_nonnull(strstr(run("leak.py").err, "`GL7777` is no rule"));
}
END_TEST

/* What a configuration says of functions, and what changes: code and line, or
 * NULL when nothing is found. The first holds without it. */
static const struct {
	const char *code, *model, *without, *with;
} models[] = {
        {"from acme.losses import smooth\n"
         "total = 0\n"
         "for i in range(9):\n"
         "    total += smooth(i)\n",
         "'acme.losses.smooth' = 'returns-graph'", NULL, "GL103 graph-accumulator"},
        {"import torch, acme.track\n"
         "w = torch.ones(3, requires_grad=True)\n"
         "for i in range(9):\n"
         "    acme.track.note(i, w * 2)\n",
         "'acme.track.note' = 'takes-graph'", NULL, "`acme.track.note` keeps"},
        {"import torch, local\n"
         "w = torch.ones(3, requires_grad=True)\n"
         "kept = []\n"
         "for i in range(9):\n"
         "    kept.append(local.double(w))\n",
         "'local.double' = ['detaches']", "GL101 graph-in-list", NULL},
        {"import torch, local\n"
         "w = torch.ones(3, requires_grad=True)\n"
         "kept = []\n"
         "for i in range(9):\n"
         "    kept.append(local.double(w))\n",
         "'local.double' = 'no-grad'", "GL101 graph-in-list", NULL},
        {"import torch, local\n"
         "w = torch.ones(3, requires_grad=True)\n"
         "kept = []\n"
         "for i in range(9):\n"
         "    kept.append(local.double(w))\n",
         "'local.triple' = 'detaches'", "GL101 graph-in-list", "GL101 graph-in-list"},
};

static void check_model(const char *how, const char *found)
{
	struct text line = {.arena = &arena};
	struct program_run result;

	text_print(&line, "%s -f concise --select GL1 a.py", how);
	result = run(text_chars(&line));
	ck_assert_msg(found ? strstr(result.out, found) != NULL : result.status == 0, "%s:\n%s%s",
	              how, result.out, result.err);
}

START_TEST(models_change_what_is_found)
{
	struct text config = {.arena = &arena};

	text_print(&config, "[extend-models]\n%s\n", models[_i].model);
	temp_tree_add_text("a.py", models[_i].code);
	temp_tree_add_text("local.py", "def double(x):\n    return x * 2\n");
	temp_tree_add_text("graphlint.toml", text_chars(&config));
	check_model("--isolated", models[_i].without);
	check_model("", models[_i].with);
	/* The cache tells one from the other. */
	temp_tree_add_text("graphlint.toml", "");
	check_model("", models[_i].without);
}
END_TEST

START_TEST(files_have_their_own_ignores)
{
	temp_tree_add_text("graphlint.toml", "[per-file-ignores]\n'sub/' = ['GL1']\n"
	                                     "'leak.py' = ['GL101']\n");
	ck_assert_ptr_null(strstr(run(".").out, "sub/other.py"));
	ck_assert_ptr_null(strstr(run(".").out, "GL101"));
	ck_assert_ptr_nonnull(strstr(run(".").out, "leak.py:13:5: warning GL103"));
}
END_TEST

START_TEST(severities_can_be_lowered)
{
	temp_tree_add_text("graphlint.toml", "[severity]\nGL1 = 'info'\nGL101 = 'warning'\n");
	ck_assert_ptr_nonnull(strstr(run("leak.py").out, "info GL103"));
	ck_assert_ptr_nonnull(strstr(run("leak.py").out, "warning GL101"));
}
END_TEST

/* suppressions and baselines */

START_TEST(noqa_comments_are_added)
{
	struct program_run result = run("--add-noqa leak.py");

	ck_assert_int_eq(result.status, 0);
	ck_assert_str_eq(result.out, "2 comments added in 1 file\n");
	result = run("leak.py");
	ck_assert_int_eq(result.status, 0);
	ck_assert_str_eq(result.out, "No findings in 1 file.\n");
	ck_assert_str_eq(run("--add-noqa leak.py").out, "0 comments added in 0 files\n");
}
END_TEST

START_TEST(unused_suppressions_are_found)
{
	temp_tree_add_text("a.py", "x = 1  # noqa: GL103\ny = '# noqa: GL103'\n");
	ck_assert_ptr_nonnull(strstr(run("a.py").out, "a.py:1:8: warning GL900"));
	ck_assert_ptr_null(strstr(run("a.py").out, "a.py:2"));
}
END_TEST

START_TEST(a_baseline_hides_what_is_known)
{
	struct program_run result = run("--write-baseline known.json leak.py");

	ck_assert_int_eq(result.status, 0);
	ck_assert_str_eq(result.out, "2 findings written to known.json\n");
	ck_assert_int_eq(run("--baseline known.json leak.py").status, 0);
	temp_tree_add_text("leak.py", clean);
	result = run("--baseline known.json leak.py");
	ck_assert_int_eq(result.status, 0);
	ck_assert_ptr_nonnull(strstr(result.out, "gone since the baseline: leak.py: GL101"));
}
END_TEST

START_TEST(a_diff_hides_unchanged_lines)
{
	ck_assert_int_eq(system("git init -q . && git add leak.py && "
	                        "git -c user.email=a@b -c user.name=c commit -q -m x"),
	                 0);
	ck_assert_int_eq(run("--diff-base HEAD leak.py").status, 0);
	ck_assert_int_eq(run("--diff-base HEAD sub").status, 1);
	ck_assert_ptr_nonnull(strstr(run("--diff-base nothing leak.py").err, "--diff-base: "));
	ck_assert_int_eq(system("echo '    history.append(loss)' >> leak.py"), 0);
	ck_assert_ptr_nonnull(strstr(run("--diff-base HEAD leak.py").out, "leak.py:15:5"));
	ck_assert_ptr_null(strstr(run("--diff-base HEAD leak.py").out, "GL103"));
}
END_TEST

START_TEST(an_unreadable_file_hides_nothing)
{
	struct program_run result;

	if (geteuid() == 0) {
		ck_assert_int_eq(symlink("loop.py", "loop.py"), 0);
	} else {
		temp_tree_add_text("loop.py", clean);
		ck_assert_int_eq(chmod("loop.py", 0), 0);
	}
	result = run("loop.py leak.py");
	ck_assert_int_eq(result.status, 2);
	ck_assert_ptr_nonnull(strstr(result.out, "could not read loop.py"));
	ck_assert_ptr_nonnull(strstr(result.out, "GL103"));
}
END_TEST

Suite *app_suite(void);

Suite *app_suite(void)
{
	Suite *suite = suite_create("app");
	TCase *tests = tcase_create("app");

	tcase_set_timeout(tests, 60);
	tcase_add_checked_fixture(tests, enter, release);
	tcase_add_loop_test(tests, a_call_does_what_it_says, 0,
	                    (int)(sizeof(cases) / sizeof(cases[0])));
	tcase_add_test(tests, every_option_is_run_with_every_command);
	tcase_add_test(tests, every_choice_is_made);
	tcase_add_test(tests, every_command_is_run);
	tcase_add_test(tests, standard_input_is_read);
	tcase_add_test(tests, output_goes_to_a_file);
	tcase_add_loop_test(tests, output_that_is_lost_is_said, 0,
	                    (int)(sizeof(printing) / sizeof(printing[0])));
	tcase_add_test(tests, closed_streams_do_no_harm);
	tcase_add_test(tests, jobs_do_not_change_the_output);
	tcase_add_test(tests, skipping_does_not_change_the_output);
	tcase_add_test(tests, the_configuration_is_used);
	tcase_add_test(tests, a_wrong_configuration_stops);
	tcase_add_loop_test(tests, models_change_what_is_found, 0,
	                    (int)(sizeof(models) / sizeof(models[0])));
	tcase_add_test(tests, files_have_their_own_ignores);
	tcase_add_test(tests, severities_can_be_lowered);
	tcase_add_test(tests, noqa_comments_are_added);
	tcase_add_test(tests, unused_suppressions_are_found);
	tcase_add_test(tests, a_baseline_hides_what_is_known);
	tcase_add_test(tests, a_diff_hides_unchanged_lines);
	tcase_add_test(tests, an_unreadable_file_hides_nothing);
	suite_add_tcase(suite, tests);
	return suite;
}
