/* Every snippet of every page is run, whatever its language; one in a language that
 * nobody runs fails. The picture in README.md is what the program prints. */

#include <check.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyzer/app/toml.h"
#include "analyzer/base/files.h"
#include "analyzer/base/text.h"
#include "tests/program.h"
#include "tests/temp_tree.h"

static struct arena arena, pages_arena;

/* Pages outside of docs/rules/, whose examples test_pages.c runs. */
static VEC(const char *) pages;

static void add_pages(const char *folder)
{
	struct text whole = {.arena = &pages_arena};
	const struct dirent *entry;
	DIR *opened;

	text_print(&whole, GRAPHLINT_ROOT "/%s", folder);
	opened = opendir(text_chars(&whole));
	while (opened && (entry = readdir(opened))) {
		struct text path = {.arena = &pages_arena};
		const size_t length = strlen(entry->d_name);

		if (length < 4 || strcmp(entry->d_name + length - 3, ".md") != 0)
			continue;
		text_print(&path, "%s%s", folder, entry->d_name);
		vec_push(&pages_arena, &pages, text_chars(&path));
	}
	if (opened)
		closedir(opened);
}

START_TEST(all_pages_are_there)
{
	ck_assert_uint_ge(pages.count, 10);
}
END_TEST

static void enter(void)
{
	static const char program[] = GRAPHLINT_PROGRAM;
	struct text path = {.arena = &arena};

	temp_tree_enter();
	temp_tree_add_text("train.py", "import torch\n\nfor step in range(9):\n"
	                               "    loss = torch.ones(3).sum()\n");
	temp_tree_add_text("known.json", "{\"findings\": []}");
	temp_tree_add_text("common.toml", "");
	text_print(&path, "%.*s:%s", (int)(sizeof(program) - sizeof("/graphlint")), program,
	           getenv("PATH"));
	setenv("PATH", text_chars(&path), 1);
}

static void release(void)
{
	temp_tree_leave();
	arena_release(&arena);
}

static const char *page_text(const char *name)
{
	struct file_text file;

	ck_assert(file_read(&arena, path_join(&arena, GRAPHLINT_ROOT "/", name), &file));
	return file.bytes;
}

/* A block between fences, and its language ("" where none is said). */
struct block {
	const char *language, *text;
};

/* `*at` moves past it; false: no more. */
static bool next_block(const char **at, struct block *block)
{
	const char *start = strstr(*at, "```"), *line, *end;

	if (!start)
		return false;
	line = start + strcspn(start, "\n") + 1;
	end = strstr(line, "\n```");
	ck_assert_ptr_nonnull(end);
	block->language = arena_text(&arena, start + 3, (size_t)(line - start) - 4);
	block->text = arena_text(&arena, line, (size_t)(end + 1 - line));
	*at = end + 4;
	return true;
}

/* languages */

static void run_shell(const char *page, const char *line, size_t length)
{
	struct text command = {.arena = &arena};
	int status;

	text_print(&command, "{ %.*s; } > printed.txt 2>&1 < /dev/null", (int)length, line);
	status = system(text_chars(&command));
	if (status != 0) {
		struct file_text printed;

		ck_assert(file_read(&arena, "printed.txt", &printed));
		ck_abort_msg("%s: `%.*s` exits with %d:\n%.2000s", page, (int)length, line,
		             WEXITSTATUS(status), printed.bytes);
	}
}

/* ./dev is what a developer has: that it knows the word is enough. */
static void check_dev(const char *page, const char *line)
{
	struct text word = {.arena = &arena};

	line += strlen("./dev ");
	text_print(&word, "\n%.*s)", (int)strcspn(line, " \n"), line);
	ck_assert_msg(strstr(page_text("dev"), text_chars(&word)) != NULL, "%s: ./dev has no%s",
	              page, text_chars(&word));
}

static void run_console(const char *page, const char *text)
{
	for (size_t length; *text; text += length + (text[length] == '\n')) {
		length = strcspn(text, "\n");
		if (!strncmp(text, "$ ./dev ", 8))
			check_dev(page, text + 2);
		else if (!strncmp(text, "$ ", 2))
			run_shell(page, text + 2, length - 2);
	}
}

/* "- run: graphlint ..." of a workflow, for each part of its matrix. */
static void run_workflow(const char *page, const char *text)
{
	static const char part[] = "${{ matrix.part }}";
	const char *run;

	while ((run = strstr(text, "run: "))) {
		const size_t length = strcspn(run + 5, "\n");
		const char *line = arena_text(&arena, run + 5, length);
		const bool is_matrix = strstr(line, part) != NULL;

		text = run + 5 + length;
		for (int i = 1; i <= (is_matrix ? 4 : 1); i++) {
			struct text command = {.arena = &arena};
			const char *at = line, *found;

			for (; (found = strstr(at, part)); at = found + strlen(part))
				text_print(&command, "%.*s%d", (int)(found - at), at, i);
			text_add_chars(&command, at);
			run_shell(page, text_chars(&command), command.length);
		}
	}
}

static void read_settings(const char *page, const char *text)
{
	const char *name =
	        strstr(text, "[tool.graphlint]") ? "in/pyproject.toml" : "in/graphlint.toml";
	struct text line = {.arena = &arena};

	temp_tree_add_text(name, text);
	text_print(&line, "graphlint --show-settings --config %s", name);
	run_shell(page, text_chars(&line), line.length);
	unlink(name);
}

/* Of another tool: that it is TOML is all that we know. */
static void read_other_settings(const char *page, const char *text)
{
	struct toml_error error;

	ck_assert_msg(toml_parse(&arena, text, strlen(text), &error) != NULL, "%s:\n%s", page,
	              text);
}

static void read_python(const char *page, const char *text)
{
	temp_tree_add_text("in/snippet.py", text);
	run_shell(page, "graphlint -q in/snippet.py", 26);
	unlink("in/snippet.py");
}

/* Is it part of a program that is built and run? But for the indentation. */
static void find_in_example(const char *page, const char *text)
{
	const char *example = page_text("runtime/examples/train.c");

	for (size_t length; *text; text += length + (text[length] == '\n')) {
		const char *line;
		size_t skip = strspn(text, "\t ");

		length = strcspn(text, "\n");
		line = arena_text(&arena, text + skip, length - skip);
		ck_assert_msg(strstr(example, line) != NULL,
		              "%s: runtime/examples/train.c has no\n%s", page, line);
	}
}

static void check_block(const char *page, const struct block *block)
{
	static const struct {
		const char *language;
		void (*check)(const char *page, const char *text);
	} checks[] = {
	        {"console", run_console}, {"yaml", run_workflow},       {"toml", read_settings},
	        {"python", read_python},  {"ini", read_other_settings}, {"c", find_in_example},
	};

	/* Pictures; the one of output has its own test. */
	if (!*block->language || !strcmp(block->language, "text"))
		return;
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		if (!strcmp(checks[i].language, block->language)) {
			checks[i].check(page, block->text);
			return;
		}
	}
	ck_abort_msg("%s: nobody runs blocks of `%s`", page, block->language);
}

START_TEST(every_snippet_is_run)
{
	const char *at = page_text(pages.at[_i]);
	struct block block;

	while (next_block(&at, &block))
		check_block(pages.at[_i], &block);
}
END_TEST

/* The fence that opens it must be there to be found. */
START_TEST(a_prompt_stands_in_a_block)
{
	const char *text = page_text(pages.at[_i]);
	const char *at = text;
	struct block block;
	int in_blocks = 0, in_all = 0;

	for (const char *p = text; (p = strstr(p, "\n$ ")); p++)
		in_all++;
	while (next_block(&at, &block)) {
		if (strcmp(block.language, "console") != 0)
			continue;
		in_blocks += !strncmp(block.text, "$ ", 2);
		for (const char *p = block.text; (p = strstr(p, "\n$ ")); p++)
			in_blocks++;
	}
	ck_assert_int_eq(in_blocks, in_all);
}
END_TEST

static const char *picture_of(const char *page)
{
	const char *at = page_text(page);
	struct block block = {0};

	while (next_block(&at, &block) && strcmp(block.language, "text") != 0)
		continue;
	return block.text;
}

START_TEST(the_picture_is_real_output)
{
	const char *path = strstr(picture_of("README.md"), "fixtures/tour/");
	struct program_run run = program_run(&arena, NULL,
	                                     "--isolated --no-cache --color never " GRAPHLINT_ROOT
	                                     "/fixtures/tour/history_leak.py");
	const char *shown = strstr(run.out, "fixtures/tour/");

	ck_assert_msg(path && shown && !strncmp(shown, path, strlen(path)), "graphlint shows:\n%s",
	              run.out);
}
END_TEST

START_TEST(every_setting_is_documented)
{
	const char *page = page_text("docs/configuration.md");
	struct program_run run = program_run(&arena, NULL, "--isolated --show-settings");

	for (const char *line = run.out; *line;) {
		size_t length = strcspn(line, "\n");
		size_t name = strcspn(line, " ");
		struct text row = {.arena = &arena};

		if (*line != '#' && name < length) {
			text_print(&row, "| `%.*s` |", (int)name, line);
			ck_assert_msg(strstr(page, text_chars(&row)) != NULL, "%s",
			              text_chars(&row));
		}
		line += length + (line[length] == '\n');
	}
}
END_TEST

Suite *docs_suite(void);

Suite *docs_suite(void)
{
	Suite *suite = suite_create("docs");
	TCase *tests = tcase_create("docs");

	tcase_set_timeout(tests, 60);
	tcase_add_checked_fixture(tests, enter, release);
	tcase_add_test(tests, all_pages_are_there);
	add_pages("");
	add_pages("docs/");
	tcase_add_loop_test(tests, every_snippet_is_run, 0, (int)pages.count);
	tcase_add_loop_test(tests, a_prompt_stands_in_a_block, 0, (int)pages.count);
	tcase_add_test(tests, the_picture_is_real_output);
	tcase_add_test(tests, every_setting_is_documented);
	suite_add_tcase(suite, tests);
	return suite;
}
