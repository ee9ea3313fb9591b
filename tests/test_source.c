#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/base/limits.h"
#include "analyzer/source/encoding.h"
#include "analyzer/source/source.h"
#include "tests/temp_tree.h"

static struct arena arena;
static struct source_problem problem;

static void release(void)
{
	arena_release(&arena);
}

static struct source *from_bytes(const char *bytes, size_t size)
{
	struct source *source = source_from_bytes(&arena, "a.py", bytes, size, &problem);

	ck_assert_ptr_nonnull(source);
	ck_assert_int_eq(problem.failure, SOURCE_READ);
	for (int i = 0; i < SOURCE_PADDING; i++)
		ck_assert_int_eq(source->text[source->length + (uint32_t)i], 0);
	return source;
}

/* Decoding */

struct decoding {
	const char *bytes;
	size_t size;
	const char *text;
	const char *encoding;
	uint32_t damaged;
	bool has_bom;
	const char *note; /* NULL: none */
};

#define BYTES(literal) literal, sizeof(literal) - 1

static const struct decoding decodings[] = {
        {BYTES(""), "", "utf-8", 0, false, NULL},
        {BYTES("x = 1\n"), "x = 1\n", "utf-8", 0, false, NULL},
        {BYTES("\xef\xbb\xbfx"), "x", "utf-8", 0, true, NULL},
        {BYTES("# \xc3\xa4\n"), "# ä\n", "utf-8", 0, false, NULL},
        {BYTES("# coding: latin-1\n# \xe4\n"), "# coding: latin-1\n# ä\n", "ISO-8859-1", 0, false,
         NULL},
        {BYTES("#!/usr/bin/python\n# -*- coding: Latin_1 -*-\n\xe4"),
         "#!/usr/bin/python\n# -*- coding: Latin_1 -*-\nä", "ISO-8859-1", 0, false, NULL},
        {BYTES("\r\n# vim: set fileencoding=cp1252 :\r\n\x80"),
         "\r\n# vim: set fileencoding=cp1252 :\r\n€", "cp1252", 0, false, NULL},
        {BYTES("# coding: cp1252\n\x81"), "# coding: cp1252\n\xef\xbf\xbd", "cp1252", 1, false,
         "1 byte is not cp1252"},
        {BYTES("# coding: koi8_r\n# \xd1"), "# coding: koi8_r\n# я", "koi8-r", 0, false, NULL},
        {BYTES("# coding: shift_jis\n# \x82\xa0"), "# coding: shift_jis\n# あ", "SHIFT_JIS", 0,
         false, NULL},
        /* third line, or after code: too late */
        {BYTES("\n\n# coding: latin-1\n\xe4"), "\n\n# coding: latin-1\n\xef\xbf\xbd", "utf-8", 1,
         false, "1 byte is not UTF-8"},
        {BYTES("x\n# coding: latin-1\n\xe4"), "x\n# coding: latin-1\n\xef\xbf\xbd", "utf-8", 1,
         false, "1 byte is not UTF-8"},
        {BYTES("\"coding: latin-1\"\n\xe4"), "\"coding: latin-1\"\n\xef\xbf\xbd", "utf-8", 1, false,
         "1 byte is not UTF-8"},
        {BYTES("# coding: klingon\nx"), "# coding: klingon\nx", "utf-8", 0, false,
         "the encoding klingon is not known; read as UTF-8"},
        {BYTES("# coding: utf-16\nx"), "# coding: utf-16\nx", "utf-8", 0, false, NULL},
        {BYTES("\xff\xfe"
               "a\0\xe4\0\n\0"),
         "aä\n", "UTF-16LE", 0, true, NULL},
        {BYTES("\xfe\xff\0a\xd8\x00\0b"),
         "a\xef\xbf\xbd"
         "b",
         "UTF-16BE", 1, true, "1 byte is not UTF-16BE"},
        /* one replacement a byte */
        {BYTES("a\xff\xfe"
               "b"),
         "a\xef\xbf\xbd\xef\xbf\xbd"
         "b",
         "utf-8", 2, false, "2 bytes are not UTF-8"},
        {BYTES("\xed\xa0\x80"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", "utf-8", 3, false,
         "3 bytes are not UTF-8"},
        {BYTES("\xc0\x80"), "\xef\xbf\xbd\xef\xbf\xbd", "utf-8", 2, false, "2 bytes are not UTF-8"},
        {BYTES("\xf4\x90\x80\x80"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", "utf-8", 4,
         false, "4 bytes are not UTF-8"},
        {BYTES("x\xe2\x82"), "x\xef\xbf\xbd\xef\xbf\xbd", "utf-8", 2, false,
         "2 bytes are not UTF-8"},
        /* a carriage return alone ends a line */
        {BYTES("a\rb\r\nc\r"), "a\nb\r\nc\n", "utf-8", 2, false, NULL},
        {BYTES("a\r\xff\r"), "a\n\xef\xbf\xbd\n", "utf-8", 3, false, "1 byte is not UTF-8"},
};

enum { DECODING_COUNT = sizeof(decodings) / sizeof(decodings[0]) };

START_TEST(bytes_are_decoded)
{
	const struct decoding *d = &decodings[_i];
	struct source *source = from_bytes(d->bytes, d->size);

	ck_assert_uint_eq(source->length, strlen(d->text));
	ck_assert_str_eq(source->text, d->text);
	ck_assert_str_eq(source->encoding, d->encoding);
	ck_assert_uint_eq(source->damage.count, d->damaged);
	ck_assert_int_eq(source->has_bom, d->has_bom);
	ck_assert_uint_eq(source->notes.count, d->note != NULL);
	if (d->note)
		ck_assert_str_eq(source->notes.at[0].message, d->note);
}
END_TEST

static size_t bom_length(const struct source *source)
{
	return !source->has_bom ? 0 : !strcmp(source->encoding, "utf-8") ? 3 : 2;
}

START_TEST(text_goes_back_to_the_same_bytes)
{
	const struct decoding *d = &decodings[_i];
	struct source *source = from_bytes(d->bytes, d->size);
	size_t mark = bom_length(source);
	struct text out = {.arena = &arena};
	bool lost = source->damage.count && source->damage.at[0].byte == SOURCE_BYTES_LOST;
	bool done = source_encode_span(source, (struct span){0, source->length}, &out);

	ck_assert_int_eq(done, !lost);
	if (!done)
		return;
	ck_assert_uint_eq(out.length, d->size - mark);
	ck_assert_mem_eq(text_chars(&out), d->bytes + mark, out.length);
}
END_TEST

START_TEST(new_text_is_encoded_or_refused)
{
	struct source *source = from_bytes(BYTES("# coding: latin-1\nx"));
	struct text out = {.arena = &arena};

	ck_assert(source_encode_text(source, "ä", 2, &out));
	ck_assert_str_eq(out.at, "\xe4");
	ck_assert(!source_encode_text(source, "a€", 4, &out));
	ck_assert_str_eq(out.at, "\xe4");
}
END_TEST

START_TEST(nul_bytes_stay)
{
	struct source *source = from_bytes(BYTES("a\0b\n\0"));

	ck_assert_uint_eq(source->length, 5);
	ck_assert_mem_eq(source->text, "a\0b\n\0", 5);
	ck_assert_uint_eq(source->line_count, 2);
}
END_TEST

static const struct {
	const char *bytes;
	size_t size;
	size_t valid;
} prefixes[] = {
        {BYTES(""), 0},
        {BYTES("abcdefghijklmnop"), 16},
        {BYTES("abcdefghijklmno\x80"), 15},
        {BYTES("\xc3\xa4\xe2\x82\xac\xf0\x9f\x94\xa5"), 9},
        {BYTES("\xc3"), 0},
        {BYTES("a\xc1\xbf"), 1},
        {BYTES("a\xe0\x9f\xbf"), 1},
        {BYTES("\xe0\xa0\x80"), 3},
        {BYTES("\xed\x9f\xbf"), 3},
        {BYTES("\xed\xa0\x80"), 0},
        {BYTES("\xf0\x8f\xbf\xbf"), 0},
        {BYTES("\xf4\x8f\xbf\xbf"), 4},
        {BYTES("\xf4\x90\x80\x80"), 0},
        {BYTES("\xf5\x80\x80\x80"), 0},
        {BYTES("\xe2\x82("), 0},
};

enum { PREFIX_COUNT = sizeof(prefixes) / sizeof(prefixes[0]) };

START_TEST(utf8_is_valid_up_to)
{
	ck_assert_uint_eq(utf8_valid_length(prefixes[_i].bytes, prefixes[_i].size),
	                  prefixes[_i].valid);
}
END_TEST

/* Places: row, column, offset of "ä = 'é🔥'\r\n\tx\n\nlast" */

static const struct {
	uint32_t offset, row, column;
} places[] = {
        {0, 1, 1},  {2, 1, 2},  {5, 1, 5},  {6, 1, 6},  {8, 1, 7},  {12, 1, 8}, {13, 1, 9},
        {15, 2, 1}, {16, 2, 2}, {17, 2, 3}, {18, 3, 1}, {19, 4, 1}, {23, 4, 5},
};

enum { PLACE_COUNT = sizeof(places) / sizeof(places[0]) };

static const char placed[] = "ä = 'é🔥'\r\n\tx\n\nlast";

START_TEST(offsets_are_rows_and_columns)
{
	struct source *source = from_bytes(BYTES(placed));
	struct position position = source_position(source, places[_i].offset);

	ck_assert_uint_eq(position.row, places[_i].row);
	ck_assert_uint_eq(position.column, places[_i].column);
	ck_assert_uint_eq(position.cell, 0);
	ck_assert_uint_eq(source_offset(source, position), places[_i].offset);
}
END_TEST

START_TEST(places_that_do_not_exist_are_clamped)
{
	struct source *source = from_bytes(BYTES(placed));

	ck_assert_uint_eq(source_position(source, 1000).row, 4);
	ck_assert_uint_eq(source_offset(source, (struct position){1, 99, 0}), 13);
	ck_assert_uint_eq(source_offset(source, (struct position){99, 1, 0}), 19);
	ck_assert_uint_eq(source_offset(source, (struct position){0, 0, 0}), 0);
	ck_assert_uint_eq(source_line_span(source, 99).start, source->length);
}
END_TEST

START_TEST(lines_have_no_ends)
{
	static const struct span expected[] = {{0, 13}, {15, 17}, {18, 18}, {19, 23}};
	struct source *source = from_bytes(BYTES(placed));

	ck_assert_uint_eq(source->line_count, 4);
	for (uint32_t i = 0; i < 4; i++) {
		ck_assert_uint_eq(source_line_span(source, i).start, expected[i].start);
		ck_assert_uint_eq(source_line_span(source, i).end, expected[i].end);
	}
}
END_TEST

START_TEST(editors_count_in_utf16)
{
	struct source *source = from_bytes(BYTES(placed));

	ck_assert_uint_eq(source_utf16_units(source, 0, 13), 9);
	ck_assert_uint_eq(source_utf16_units(source, 8, 12), 2);
}
END_TEST

/* Files */

START_TEST(a_file_is_read)
{
	struct source *source;

	temp_tree_add_text("m.py", "x = 1\n");
	source = source_open(&arena, "m.py", &problem);
	ck_assert_ptr_nonnull(source);
	ck_assert_str_eq(source->path, "m.py");
	ck_assert_str_eq(source->text, "x = 1\n");
	ck_assert_uint_eq(source->size, 6);
}
END_TEST

START_TEST(what_is_no_file_is_refused)
{
	static const char *const messages[] = {"is a pipe", "is a folder", "is a device",
	                                       "No such file or directory"};
	static const char *const paths[] = {"pipe", ".", "/dev/zero", "missing"};

	ck_assert_int_eq(mkfifo("pipe", 0600), 0);
	ck_assert_ptr_null(source_open(&arena, paths[_i], &problem));
	ck_assert_int_eq(problem.failure, SOURCE_UNREADABLE);
	ck_assert_str_eq(problem.message, messages[_i]);
}
END_TEST

START_TEST(a_file_without_permission_is_refused)
{
	temp_tree_add_text("secret.py", "x");
	ck_assert_int_eq(chmod("secret.py", 0), 0);
	if (!access("secret.py", R_OK))
		return; /* root may read everything */
	ck_assert_ptr_null(source_open(&arena, "secret.py", &problem));
	ck_assert_str_eq(problem.message, "Permission denied");
}
END_TEST

START_TEST(a_file_that_is_too_large_is_refused)
{
	temp_tree_add_text("large.py", "");
	ck_assert_int_eq(truncate("large.py", (off_t)LIMIT_SOURCE_BYTES + 1), 0);
	ck_assert_ptr_null(source_open(&arena, "large.py", &problem));
	ck_assert_int_eq(problem.failure, SOURCE_TOO_LARGE);
	ck_assert_str_eq(problem.message, "larger than 256 MiB");
}
END_TEST

START_TEST(fifty_megabytes_are_read)
{
	struct source *source;
	struct position position;

	temp_tree_add_text("large.py", "x = 1\n");
	ck_assert_int_eq(truncate("large.py", 50 << 20), 0);
	source = source_open(&arena, "large.py", &problem);
	ck_assert_ptr_nonnull(source);
	ck_assert_uint_eq(source->length, 50 << 20);
	position = source_position(source, source->length);
	ck_assert_uint_eq(position.row, 2);
	ck_assert_uint_eq(position.column, (50 << 20) - 6 + 1);
}
END_TEST

START_TEST(standard_input_is_read_to_its_end)
{
	struct source *source;
	FILE *file;

	temp_tree_add_text("in", "x = 1\n");
	file = freopen("in", "r", stdin);
	ck_assert_ptr_nonnull(file);
	source = source_open_stdin(&arena, "<stdin>", &problem);
	ck_assert_ptr_nonnull(source);
	ck_assert_str_eq(source->path, "<stdin>");
	ck_assert_str_eq(source->text, "x = 1\n");
}
END_TEST

static TCase *text_case(void)
{
	TCase *tc = tcase_create("text");

	tcase_add_checked_fixture(tc, NULL, release);
	tcase_add_loop_test(tc, bytes_are_decoded, 0, DECODING_COUNT);
	tcase_add_loop_test(tc, text_goes_back_to_the_same_bytes, 0, DECODING_COUNT);
	tcase_add_loop_test(tc, utf8_is_valid_up_to, 0, PREFIX_COUNT);
	tcase_add_loop_test(tc, offsets_are_rows_and_columns, 0, PLACE_COUNT);
	tcase_add_test(tc, new_text_is_encoded_or_refused);
	tcase_add_test(tc, nul_bytes_stay);
	tcase_add_test(tc, places_that_do_not_exist_are_clamped);
	tcase_add_test(tc, lines_have_no_ends);
	tcase_add_test(tc, editors_count_in_utf16);
	return tc;
}

static TCase *file_case(void)
{
	TCase *tc = tcase_create("file");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, NULL, release);
	tcase_add_checked_fixture(tc, temp_tree_enter, temp_tree_leave);
	tcase_add_test(tc, a_file_is_read);
	tcase_add_loop_test(tc, what_is_no_file_is_refused, 0, 4);
	tcase_add_test(tc, a_file_without_permission_is_refused);
	tcase_add_test(tc, a_file_that_is_too_large_is_refused);
	tcase_add_test(tc, fifty_megabytes_are_read);
	tcase_add_test(tc, standard_input_is_read_to_its_end);
	return tc;
}

Suite *source_suite(void)
{
	Suite *suite = suite_create("source");

	suite_add_tcase(suite, text_case());
	suite_add_tcase(suite, file_case());
	return suite;
}
