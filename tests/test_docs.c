/* Every snippet of the documentation is run: commands in ```console blocks,
 * configurations in ```toml blocks, the picture in README.md. */

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/base/files.h"
#include "analyzer/base/text.h"
#include "tests/program.h"
#include "tests/temp_tree.h"

static struct arena arena;

static const char *const pages[] = {"README.md", "docs/configuration.md", "docs/output.md",
                                    "docs/ci.md"};

static void enter(void)
{
	temp_tree_enter();
	temp_tree_add_text("train.py", "import torch\n\nfor step in range(9):\n"
	                               "    loss = torch.ones(3).sum()\n");
	temp_tree_add_text("known.json", "{\"findings\": []}");
}

static void release(void)
{
	temp_tree_leave();
	arena_release(&arena);
}

static const char *page_text(const char *name)
{
	struct file_text file;

	ck_assert(file_read(&arena, path_join(&arena, GRAPHLINT_ROOT, name), &file));
	return file.bytes;
}

/* The next block of a language; `*at` moves past it. NULL: no more. */
static const char *next_block(const char **at, const char *language)
{
	struct text fence = {.arena = &arena};
	const char *start, *end;

	text_print(&fence, "```%s\n", language);
	start = strstr(*at, text_chars(&fence));
	if (!start)
		return NULL;
	start += fence.length;
	end = strstr(start, "```");
	ck_assert_ptr_nonnull(end);
	*at = end + 3;
	return arena_text(&arena, start, (size_t)(end - start));
}

static void run_line(const char *page, const char *line, size_t length)
{
	static const char prompt[] = "$ graphlint ";
	struct program_run run;

	if (length < sizeof(prompt) || strncmp(line, prompt, sizeof(prompt) - 1) != 0)
		return;
	line += sizeof(prompt) - 1;
	length -= sizeof(prompt) - 1;
	run = program_run(&arena, NULL, arena_text(&arena, line, length));
	ck_assert_msg(run.status == 0, "%s: graphlint %.*s exits with %d:\n%s%s", page, (int)length,
	              line, run.status, run.out, run.err);
}

START_TEST(commands_run)
{
	const char *at = page_text(pages[_i]);
	const char *block;

	while ((block = next_block(&at, "console"))) {
		for (const char *line = block; *line;) {
			size_t length = strcspn(line, "\n");

			run_line(pages[_i], line, length);
			line += length + (line[length] == '\n');
		}
	}
}
END_TEST

START_TEST(configurations_are_read)
{
	const char *at = page_text("docs/configuration.md");
	const char *block;
	int count = 0;

	temp_tree_add_text("common.toml", "");
	for (; (block = next_block(&at, "toml")); count++) {
		const char *name = strstr(block, "[tool.graphlint]") ? "in/pyproject.toml"
		                                                     : "in/graphlint.toml";
		struct text line = {.arena = &arena};
		struct program_run run;

		temp_tree_add_text(name, block);
		text_print(&line, "--show-settings --config %s", name);
		run = program_run(&arena, NULL, text_chars(&line));
		ck_assert_msg(run.status == 0, "%s:\n%s", block, run.err);
	}
	ck_assert_int_eq(count, 2);
}
END_TEST

START_TEST(the_picture_is_real_output)
{
	const char *at = page_text("README.md");
	const char *picture = next_block(&at, "text");
	const char *path = strstr(picture, "fixtures/tour/");
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
	tcase_add_loop_test(tests, commands_run, 0, sizeof(pages) / sizeof(pages[0]));
	tcase_add_test(tests, configurations_are_read);
	tcase_add_test(tests, the_picture_is_real_output);
	tcase_add_test(tests, every_setting_is_documented);
	suite_add_tcase(suite, tests);
	return suite;
}
