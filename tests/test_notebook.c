#include <check.h>
#include <string.h>

#include "analyzer/source/magic.h"
#include "analyzer/source/source.h"

static struct arena arena;
static struct source_problem problem;

static void release(void)
{
	arena_release(&arena);
}

/* Magics: what a cell becomes, and whether it is closed at its end */

static const struct {
	const char *cell;
	const char *python;
	bool closed;
} magics[] = {
        {"x = 1\n", "x = 1\n", true},
        {"%matplotlib inline\nx\n", "pass              \nx\n", true},
        {"!ls\n", "0  \n", true},
        {"!ls\r\nx", "0  \r\nx", true},
        {"!pip install a \\\n  b\nx\n", "pass            \n   \nx\n", true},
        {"if x:\n    !ls -l\n", "if x:\n    pass  \n", true},
        {"files = !ls *.py\n", "files = _       \n", true},
        {"out = %sql select\n", "out = _          \n", true},
        {"a != b\n", "a != b\n", true},
        {"a == b % c\n", "a == b % c\n", true},
        {"x %= 3\n", "x %= 3\n", true},
        {"x = (1\n%2)\n", "x = (1\n%2)\n", true},
        {"x = 1 \\\n%2\n", "x = 1 \\\n%2\n", true},
        {"s = '''\n%no magic\n!ls\n'''\n", "s = '''\n%no magic\n!ls\n'''\n", true},
        {"# why?\nx\n", "# why?\nx\n", true},
        {"s = 'why?'\n", "s = 'why?'\n", true},
        {"'why?'\n", "'why?'\n", true},
        {"print?\n", "pass  \n", true},
        {"torch.nn.Linear??  # help\n", "pass                     \n", true},
        {"?print\n", "pass  \n", true},
        {"%time y = f(x)\n", "0;    y = f(x)\n", true},
        {"%time\n", "pass \n", true},
        {"%time for x in y: f()\n", "pass                 \n", true},
        {"%timeit f(x)\n", "pass        \n", true},
        {"%%time\ny = f(x)\n", "pass  \ny = f(x)\n", true},
        {"f(a=%x)\n", "f(a=%x)\n", true},
        {"", "", true},
        {"%", "0", true},
        {"   ", "   ", true},
        {"x = '''\n", "x = '''\n", false},
        {"f(\n", "f(\n", false},
        {"x = 'open\ny\n", "x = 'open\ny\n", true},
        {")x\n!ls\n", ")x\n0  \n", true},
        {"'\\", "'\\", true},
};

enum { MAGIC_COUNT = sizeof(magics) / sizeof(magics[0]) };

START_TEST(magics_are_blanked_in_place)
{
	size_t length = strlen(magics[_i].cell);
	char *cell = arena_text(&arena, magics[_i].cell, length);

	ck_assert_int_eq(magic_blank(cell, length), magics[_i].closed);
	ck_assert_str_eq(cell, magics[_i].python);
}
END_TEST

static const struct {
	const char *cell;
	const char *name; /* NULL: the cell is Python */
} cell_magics[] = {
        {"%%bash\nls\n", "bash"},
        {"\n  %%html\n<b>\n", "html"},
        {"%%time\nx\n", NULL},
        {"%%capture out\nx\n", NULL},
        {"%time x\n", NULL},
        {"x\n%%bash\n", NULL},
        {"%%", NULL},
        {"", NULL},
        {"%%!\nls", "!"},
        {"%%writefile a.py\nx", "writefile"},
};

enum { CELL_MAGIC_COUNT = sizeof(cell_magics) / sizeof(cell_magics[0]) };

START_TEST(cells_in_another_language_are_known)
{
	const char *cell = cell_magics[_i].cell, *name;
	size_t length;
	bool other = magic_other_language(cell, strlen(cell), &name, &length);

	ck_assert_int_eq(other, cell_magics[_i].name != NULL);
	if (!other)
		return;
	ck_assert_uint_eq(length, strlen(cell_magics[_i].name));
	ck_assert_mem_eq(name, cell_magics[_i].name, length);
}
END_TEST

/* Notebooks */

static struct source *read(const char *json)
{
	return source_from_bytes(&arena, "n.ipynb", json, strlen(json), &problem);
}

START_TEST(code_cells_become_one_text)
{
	struct source *source = read(
	        "{\"metadata\": {\"language_info\": {\"name\": \"python\"}}, \"cells\": ["
	        "{\"cell_type\": \"markdown\", \"source\": [\"# Title\"]},"
	        "{\"cell_type\": \"code\", \"source\": [\"%matplotlib inline\\n\", \"x = 1\"]},"
	        "{\"cell_type\": \"code\", \"source\": []},"
	        "{\"cell_type\": \"code\", \"source\": \"%%bash\\nls\"},"
	        "{\"cell_type\": \"code\", \"source\": \"ä = f(\\\"é\\\")\\ny\\n\"}]}");
	struct position position;

	ck_assert_ptr_nonnull(source);
	ck_assert(source->is_notebook);
	ck_assert_str_eq(source->text, "pass              \nx = 1\nä = f(\"é\")\ny\n");
	ck_assert_uint_eq(source->cells.count, 2);
	ck_assert_uint_eq(source->cells.at[0].number, 2);
	ck_assert_uint_eq(source->cells.at[1].number, 5);
	ck_assert_uint_eq(source->cells.at[1].line, 2);
	ck_assert_uint_eq(source->notes.count, 1);
	ck_assert_str_eq(source->notes.at[0].message, "cell 4 is not read: it begins with %%bash");

	position = source_position(source, (uint32_t)(strchr(source->text, 'y') - source->text));
	ck_assert_uint_eq(position.cell, 5);
	ck_assert_uint_eq(position.row, 2);
	ck_assert_uint_eq(position.column, 1);
	ck_assert_uint_eq(source_offset(source, position),
	                  strchr(source->text, 'y') - source->text);
	ck_assert_uint_eq(source_offset(source, (struct position){9, 1, 2}), 19);
}
END_TEST

START_TEST(an_open_cell_does_not_swallow_the_next)
{
	struct source *source = read("{\"cells\": ["
	                             "{\"cell_type\": \"code\", \"source\": \"x = '''a\\nb\"},"
	                             "{\"cell_type\": \"code\", \"source\": \"y = 1\"}]}");

	ck_assert_ptr_nonnull(source);
	ck_assert_str_eq(source->text, "        \n \ny = 1\n");
	ck_assert_uint_eq(source->notes.count, 1);
	ck_assert_str_eq(source->notes.at[0].message,
	                 "cell 1 is not read: a string or a bracket is never closed");
}
END_TEST

START_TEST(format_three_has_worksheets)
{
	struct source *source = read("{\"worksheets\": [{\"cells\": ["
	                             "{\"cell_type\": \"code\", \"input\": [\"x\"]}]}]}");

	ck_assert_ptr_nonnull(source);
	ck_assert_str_eq(source->text, "x\n");
}
END_TEST

static const struct {
	const char *json;
	enum source_failure failure;
	const char *message;
} refused[] = {
        {"", SOURCE_BROKEN, "line 1, column 0: '[' or '{' expected near end of file"},
        {"{\n\"cells\": [}", SOURCE_BROKEN, "line 2, column 11: unexpected token near '}'"},
        {"{}", SOURCE_BROKEN, "not a notebook: it has no cells"},
        {"[]", SOURCE_BROKEN, "not a notebook: it has no cells"},
        {"{\"cells\": 3}", SOURCE_BROKEN, "not a notebook: it has no cells"},
        {"{\"cells\": [], \"metadata\": {\"language_info\": {\"name\": \"R\"}}}", SOURCE_NOT_OURS,
         "a notebook in R"},
        {"{\"cells\": [], \"metadata\": {\"kernelspec\": {\"language\": \"julia\"}}}",
         SOURCE_NOT_OURS, "a notebook in julia"},
};

enum { REFUSED_COUNT = sizeof(refused) / sizeof(refused[0]) };

START_TEST(what_is_no_python_notebook_is_refused)
{
	ck_assert_ptr_null(read(refused[_i].json));
	ck_assert_int_eq(problem.failure, refused[_i].failure);
	ck_assert_str_eq(problem.message, refused[_i].message);
}
END_TEST

static const char *const odd[] = {
        "{\"cells\": []}",
        "{\"cells\": [3, null, [], {}, {\"cell_type\": 3}]}",
        "{\"cells\": [{\"cell_type\": \"code\"}]}",
        "{\"cells\": [{\"cell_type\": \"code\", \"source\": 3}]}",
        "{\"cells\": [{\"cell_type\": \"code\", \"source\": [3, [], \"\"]}]}",
        "{\"cells\": [{\"cell_type\": \"raw\", \"source\": \"x\"}]}",
        "{\"cells\": [], \"metadata\": 3}",
};

enum { ODD_COUNT = sizeof(odd) / sizeof(odd[0]) };

START_TEST(odd_notebooks_are_empty)
{
	struct source *source = read(odd[_i]);

	ck_assert_ptr_nonnull(source);
	ck_assert_uint_eq(source->length, 0);
	ck_assert_uint_eq(source->line_count, 1);
	ck_assert_uint_eq(source_position(source, 0).row, 1);
}
END_TEST

START_TEST(nuls_and_surrogates_in_a_cell_are_no_trouble)
{
	struct source *source = read(
	        "{\"cells\": [{\"cell_type\": \"code\", \"source\": \"a\\u0000\\ud83d\\udd25\"}]}");

	ck_assert_ptr_nonnull(source);
	ck_assert_mem_eq(source->text, "a\0\xf0\x9f\x94\xa5\n", 7);
}
END_TEST

START_TEST(deep_json_is_refused)
{
	char *json = arena_alloc(&arena, 1, 100001);

	memset(json, '[', 100000);
	ck_assert_ptr_null(read(json));
	ck_assert_int_eq(problem.failure, SOURCE_BROKEN);
}
END_TEST

Suite *notebook_suite(void)
{
	Suite *suite = suite_create("notebook");
	TCase *tc = tcase_create("notebook");

	tcase_add_checked_fixture(tc, NULL, release);
	tcase_add_loop_test(tc, magics_are_blanked_in_place, 0, MAGIC_COUNT);
	tcase_add_loop_test(tc, cells_in_another_language_are_known, 0, CELL_MAGIC_COUNT);
	tcase_add_test(tc, code_cells_become_one_text);
	tcase_add_test(tc, an_open_cell_does_not_swallow_the_next);
	tcase_add_test(tc, format_three_has_worksheets);
	tcase_add_loop_test(tc, what_is_no_python_notebook_is_refused, 0, REFUSED_COUNT);
	tcase_add_loop_test(tc, odd_notebooks_are_empty, 0, ODD_COUNT);
	tcase_add_test(tc, nuls_and_surrogates_in_a_cell_are_no_trouble);
	tcase_add_test(tc, deep_json_is_refused);
	suite_add_tcase(suite, tc);
	return suite;
}
