/* The program on a terminal: colours, widths, progress, --watch. */

#include <check.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analyzer/base/files.h"
#include "analyzer/base/text.h"
#include "tests/program.h"
#include "tests/temp_tree.h"

static struct arena arena;

static void enter(void)
{
	unsetenv("NO_COLOR");
	unsetenv("COLUMNS");
	temp_tree_enter();
	temp_tree_add_text("leak.py", program_leaking);
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

START_TEST(no_color_is_honoured)
{
	struct program_run result;

	setenv("NO_COLOR", "1", 1);
	result = run("leak.py");
	ck_assert_ptr_null(strchr(result.out, '\x1b'));
	result = run("--color always leak.py");
	ck_assert_ptr_nonnull(strchr(result.out, '\x1b'));
}
END_TEST

/* What a terminal gets from a call, both outputs in one. */
static const char *on_terminal_of(const struct winsize *size, const char *arguments)
{
	struct text out = {.arena = &arena}, line = {.arena = &arena};
	char piece[4096];
	ssize_t got;
	int terminal, status;
	pid_t child = forkpty(&terminal, NULL, NULL, size);

	ck_assert_int_ge(child, 0);
	if (child == 0) {
		text_print(&line, "exec " GRAPHLINT_PROGRAM " %s", arguments);
		execl("/bin/sh", "sh", "-c", text_chars(&line), (char *)NULL);
		_exit(127);
	}
	while ((got = read(terminal, piece, sizeof(piece))) > 0)
		text_add(&out, piece, (size_t)got);
	close(terminal);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) < 2);
	return text_chars(&out);
}

static const char *on_terminal(const char *arguments)
{
	return on_terminal_of(NULL, arguments);
}

static void set_terminal(void)
{
	setenv("TERM", "xterm", 1);
	unsetenv("CI");
}

START_TEST(a_terminal_has_colours)
{
	set_terminal();
	ck_assert_ptr_nonnull(strstr(on_terminal("leak.py"), "\x1b[1;33mwarning"));
	ck_assert_ptr_null(strchr(on_terminal("--color never leak.py"), '\x1b'));
	setenv("NO_COLOR", "1", 1);
	ck_assert_ptr_null(strchr(on_terminal("leak.py"), '\x1b'));
	unsetenv("NO_COLOR");
	setenv("TERM", "dumb", 1);
	ck_assert_ptr_null(strchr(on_terminal("leak.py"), '\x1b'));
}
END_TEST

static const char *numbered(const char *format, int number)
{
	struct text text = {.arena = &arena};

	text_print(&text, format, number);
	return text_chars(&text);
}

/* With enough work for the half second after which it is shown. */
static const char *shown_progress(const char *call, int *count)
{
	const char *seen = "";

	*count = 0;
	for (int wanted = 100; wanted <= 12800 && !strstr(seen, "\x1b[K"); wanted *= 2) {
		for (; *count < wanted; ++*count)
			temp_tree_add_text(numbered("many/leak_%d.py", *count), program_leaking);
		seen = on_terminal(call);
	}
	return seen;
}

START_TEST(long_work_shows_how_far_it_is)
{
	static const char call[] = "--no-cache --jobs 1 -f concise many";
	struct text quiet = {.arena = &arena}, piped = {.arena = &arena};
	const char *seen, *last;
	int count;

	set_terminal();
	seen = shown_progress(call, &count);
	ck_assert_ptr_nonnull(strstr(seen, numbered(" of %d", count)));
	/* Nothing of it stays: the line is emptied before the report. */
	last = strstr(seen, "many/leak_0.py");
	ck_assert_ptr_nonnull(last);
	ck_assert_msg(!strncmp(last - 4, "\r\x1b[K", 4), "%.40s", last - 20);
	ck_assert_ptr_null(strstr(last, "\x1b[K"));
	text_print(&quiet, "--quiet %s", call);
	ck_assert_ptr_null(strstr(on_terminal(text_chars(&quiet)), "\x1b[K"));
	text_print(&piped, "%s 2>&1 | cat", call);
	ck_assert_ptr_null(strstr(on_terminal(text_chars(&piped)), "\x1b"));
	setenv("CI", "true", 1);
	ck_assert_ptr_null(strstr(on_terminal(call), "\x1b[K"));
}
END_TEST

/* widths */

static const char long_line[] =
        "import torch\n"
        "w = torch.ones(3, requires_grad=True)\n"
        "kept = []\n"
        "for step in range(9):\n"
        "    print('some words that come before it, of no interest'); kept.append(w * 2); "
        "print('and words after it')\n";

static unsigned columns_of(const char *line, size_t length)
{
	unsigned columns = 0;

	for (size_t i = 0; i < length; i++)
		columns += (line[i] & 0xc0) != 0x80 && line[i] != '\r';
	return columns;
}

/* The columns of the widest line of source. */
static unsigned widest_excerpt(const char *out)
{
	unsigned widest = 0;

	for (size_t length; *out; out += length + (out[length] == '\n')) {
		const size_t digits = strspn(out, " 0123456789");

		length = strcspn(out, "\n");
		if (*out >= '0' && *out <= '9' && out[digits] == '|' &&
		    columns_of(out, length) > widest)
			widest = columns_of(out, length);
	}
	return widest;
}

START_TEST(a_narrow_terminal_gets_narrow_lines)
{
	const struct winsize narrow = {.ws_row = 24, .ws_col = 60};
	const char *seen;

	set_terminal();
	temp_tree_add_text("long.py", long_line);
	seen = on_terminal_of(&narrow, "--color never long.py");
	ck_assert_msg(widest_excerpt(seen) <= 60 && widest_excerpt(seen) > 50, "%s", seen);
	ck_assert_msg(strstr(seen, "kept.append(w * 2)") != NULL, "%s", seen);
	setenv("COLUMNS", "40", 1);
	seen = on_terminal("--color never long.py");
	ck_assert_msg(widest_excerpt(seen) <= 40 && widest_excerpt(seen) > 30, "%s", seen);
	ck_assert_msg(strstr(seen, "kept.append(w * 2)") != NULL, "%s", seen);
	setenv("COLUMNS", "1", 1);
	ck_assert_ptr_nonnull(strstr(on_terminal("--color never long.py"), "^^^"));
	setenv("COLUMNS", "many", 1);
	ck_assert_ptr_nonnull(strstr(on_terminal("--color never long.py"), "words after it')\r\n"));
	/* A pipe and a file get it all, whatever the terminal. */
	setenv("COLUMNS", "40", 1);
	ck_assert_ptr_nonnull(strstr(run("long.py").out, "words after it')\n"));
}
END_TEST

/* A line of source and the marks below it, after the bar. */
static void check_marks(const char *text, const char *marked)
{
	struct text source = {.arena = &arena};
	const char *out, *line, *marks;

	text_print(&source,
	           "import torch\nw = torch.ones(3, requires_grad=True)\nkept = []\n"
	           "for step in range(9):\n%s\n",
	           text);
	temp_tree_add_text("wide.py", text_chars(&source));
	out = run("wide.py").out;
	line = strstr(out, "\n5 |");
	ck_assert_msg(line != NULL, "%s", out);
	marks = strchr(line + 1, '\n');
	ck_assert_msg(!strncmp(marks, marked, strlen(marked)), "%s\nnot%s", out, marked);
}

START_TEST(marks_stand_under_what_they_mark)
{
	check_marks("    kept.append(w * 2)", "\n  |     ^^^^^^^^^^^^^^^^^^ kept here");
	check_marks("\tkept.append(w * 2)", "\n  |     ^^^^^^^^^^^^^^^^^^ kept here");
	check_marks("  \t'a'; kept.append(w * 2)", "\n  |          ^^^^^^^^^^^^^^^^^^ kept here");
	/* two columns each */
	check_marks("    '漢字'; kept.append(w * 2)",
	            "\n  |             ^^^^^^^^^^^^^^^^^^ kept here");
	check_marks("    '🔥'; kept.append(w * 2)", "\n  |           ^^^^^^^^^^^^^^^^^^ kept here");
	/* none of its own */
	check_marks("    'e\u0301'; kept.append(w * 2)",
	            "\n  |          ^^^^^^^^^^^^^^^^^^ kept here");
	check_marks("    kept.append((w * 2, '漢'))",
	            "\n  |     ^^^^^^^^^^^^^^^^^^^^^^^^^^ kept here");
}
END_TEST

/* --watch */

static void rest(long milliseconds)
{
	struct timespec pause = {milliseconds / 1000, milliseconds % 1000 * 1000000};

	nanosleep(&pause, NULL);
}

/* Waits until the file has `what` this often. */
static void wait_for(const char *path, const char *what, int times)
{
	for (int i = 0; i < 200; i++) {
		struct file_text file;
		const char *at;
		int found = 0;

		if (file_read(&arena, path, &file)) {
			for (at = file.bytes; (at = strstr(at, what)); at++)
				found++;
			if (found >= times)
				return;
		}
		rest(50);
	}
	ck_abort_msg("%s did not get %s %d times", path, what, times);
}

START_TEST(a_watch_sees_changes_until_it_is_interrupted)
{
	pid_t child = fork();
	int status;

	ck_assert_int_ge(child, 0);
	if (!child) {
		execl("/bin/sh", "sh", "-c",
		      "exec " GRAPHLINT_PROGRAM " --watch -f concise --no-cache . > seen.txt 2>&1",
		      (char *)NULL);
		_exit(127);
	}
	wait_for("seen.txt", "Watching for changes", 1);
	ck_assert_int_eq(system("echo '    history.append(loss)' >> leak.py"), 0);
	wait_for("seen.txt", "leak.py:15", 1);
	wait_for("seen.txt", "Watching for changes", 2);
	/* a new file, and what another configuration says */
	temp_tree_add_text("new.py", program_leaking);
	wait_for("seen.txt", "new.py:13", 1);
	temp_tree_add_text("graphlint.toml", "slect = []\n");
	wait_for("seen.txt", "`slect` is no setting", 1);
	temp_tree_add_text("graphlint.toml", "select = ['GL101']\n");
	wait_for("seen.txt", "5 findings", 1);
	ck_assert_int_eq(kill(child, SIGINT), 0);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
}
END_TEST

Suite *terminal_suite(void);

Suite *terminal_suite(void)
{
	Suite *suite = suite_create("terminal");
	TCase *tests = tcase_create("terminal");

	tcase_set_timeout(tests, 60);
	tcase_add_checked_fixture(tests, enter, release);
	tcase_add_test(tests, no_color_is_honoured);
	tcase_add_test(tests, a_terminal_has_colours);
	tcase_add_test(tests, long_work_shows_how_far_it_is);
	tcase_add_test(tests, a_narrow_terminal_gets_narrow_lines);
	tcase_add_test(tests, marks_stand_under_what_they_mark);
	tcase_add_test(tests, a_watch_sees_changes_until_it_is_interrupted);
	suite_add_tcase(suite, tests);
	return suite;
}
