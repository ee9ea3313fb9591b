#include <check.h>
#include <stdio.h>

#include "tests/recorded_runner.h"
#include "tests/row_checks.h"

/* Read once by the suite, before the tests fork. */
static json_t *document;

static const json_t *row_at(int index)
{
	return json_array_get(json_object_get(document, "rows"), (size_t)index);
}

static void expect(bool same, const json_t *row, const struct row_message *message)
{
	if (!same)
		ck_abort_msg("%s: %s", recorded_text(row, "name"), message->text);
}

START_TEST(results_and_gradients_are_pytorchs)
{
	struct row_message message;

	expect(row_check_values(document, row_at(_i), &message), row_at(_i), &message);
}
END_TEST

START_TEST(gradients_are_those_of_differences)
{
	struct row_message message;

	expect(row_check_gradients(document, row_at(_i), &message), row_at(_i), &message);
}
END_TEST

START_TEST(second_gradients_are_pytorchs)
{
	struct row_message message;

	expect(row_check_second(document, row_at(_i), &message), row_at(_i), &message);
}
END_TEST

START_TEST(saved_bytes_and_nodes_are_pytorchs)
{
	struct row_message message;

	expect(row_check_memory(document, row_at(_i), false, &message), row_at(_i), &message);
}
END_TEST

START_TEST(meta_tensors_keep_the_same_bytes)
{
	struct row_message message;

	expect(row_check_memory(document, row_at(_i), true, &message), row_at(_i), &message);
}
END_TEST

START_TEST(autocast_keeps_what_pytorchs_keeps)
{
	struct row_message message;

	expect(row_check_autocast(document, row_at(_i), false, &message), row_at(_i), &message);
	expect(row_check_autocast(document, row_at(_i), true, &message), row_at(_i), &message);
}
END_TEST

START_TEST(complex_numbers_are_never_taken_for_real)
{
	struct row_message message;

	expect(row_check_complex(document, row_at(_i), &message), row_at(_i), &message);
}
END_TEST

Suite *ops_recorded_suite(void);

Suite *ops_recorded_suite(void)
{
	Suite *suite = suite_create("ops_recorded");
	TCase *rows = tcase_create("rows");
	int count;

	document = recorded_load("ops.json");
	count = (int)json_array_size(json_object_get(document, "rows"));
	tcase_add_loop_test(rows, results_and_gradients_are_pytorchs, 0, count);
	tcase_add_loop_test(rows, gradients_are_those_of_differences, 0, count);
	tcase_add_loop_test(rows, second_gradients_are_pytorchs, 0, count);
	tcase_add_loop_test(rows, saved_bytes_and_nodes_are_pytorchs, 0, count);
	tcase_add_loop_test(rows, meta_tensors_keep_the_same_bytes, 0, count);
	tcase_add_loop_test(rows, autocast_keeps_what_pytorchs_keeps, 0, count);
	tcase_add_loop_test(rows, complex_numbers_are_never_taken_for_real, 0, count);
	suite_add_tcase(suite, rows);
	return suite;
}
