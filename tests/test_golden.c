/* fixtures/ir/X.py (or .cpp) lowers to what X.ir and X.cfg say. UPDATE=1 in the
 * environment writes them anew: look at the difference before it is committed. */

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/front/front.h"
#include "analyzer/ir/dump.h"
#include "analyzer/ir/verify.h"
#include "tests/folder.h"

static struct arena list_arena; /* never released */
static name_list sources;

static void list_sources(void)
{
	name_list names = {0};

	folder_names(&list_arena, GRAPHLINT_ROOT "/fixtures/ir", &names);
	for (uint32_t i = 0; i < names.count; i++)
		if (front_end_find(names.at[i]))
			vec_push(&list_arena, &sources, names.at[i]);
}

static const char *golden_path(struct arena *arena, const char *name, const char *suffix)
{
	struct text path = {.arena = arena};

	text_print(&path, "%s/fixtures/ir/%.*s%s", GRAPHLINT_ROOT, (int)(strrchr(name, '.') - name),
	           name, suffix);
	return path.at;
}

static void write_golden(const char *path, const struct text *dump)
{
	FILE *file = fopen(path, "wb");

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(text_chars(dump), 1, dump->length, file), dump->length);
	fclose(file);
}

static size_t first_difference(const char *a, const char *b)
{
	size_t row = 1;

	for (; *a && *a == *b; a++, b++)
		row += *a == '\n';
	return row;
}

static void check_golden(struct arena *arena, const char *path, const struct text *dump)
{
	struct source_problem problem;
	const struct source *golden;

	if (getenv("UPDATE")) {
		write_golden(path, dump);
		return;
	}
	golden = source_open(arena, path, &problem);
	ck_assert_msg(golden != NULL, "%s: %s (UPDATE=1 writes it)", path, problem.message);
	if (golden->length != dump->length ||
	    memcmp(golden->text, text_chars(dump), dump->length) != 0)
		ck_abort_msg("%s differs from line %zu on:\n%s", path,
		             first_difference(golden->text, text_chars(dump)), text_chars(dump));
}

START_TEST(lowering_gives_the_golden)
{
	struct arena arena = {0};
	struct intern *names = intern_open();
	const char *path = folder_join(&arena, GRAPHLINT_ROOT "/fixtures/ir", sources.at[_i]);
	struct text ir = {.arena = &arena}, cfg = {.arena = &arena};
	struct source_problem problem;
	const struct source *source = source_open(&arena, path, &problem);
	struct front_result lowered;

	ck_assert_ptr_nonnull(source);
	lowered = front_end_find(path)->lower(&arena, names, source, NULL);
	ck_assert_ptr_nonnull(lowered.module);
	ck_assert_pstr_eq(ir_verify(&arena, lowered.module), NULL);
	ir_dump(lowered.module, &ir);
	cfg_dump(lowered.module, &cfg);
	check_golden(&arena, golden_path(&arena, sources.at[_i], ".ir"), &ir);
	check_golden(&arena, golden_path(&arena, sources.at[_i], ".cfg"), &cfg);
	intern_close(names);
	arena_release(&arena);
}
END_TEST

/* Damaged input lowers to something that holds together. */

static name_list broken;

START_TEST(broken_files_lower_and_verify)
{
	struct arena arena = {0};
	struct intern *names = intern_open();
	const char *path = folder_join(&arena, GRAPHLINT_ROOT "/fixtures/broken", broken.at[_i]);
	struct source_problem problem;
	const struct source *source = source_open(&arena, path, &problem);

	if (source && front_end_find(path)) {
		struct front_result lowered =
		        front_end_find(path)->lower(&arena, names, source, NULL);

		ck_assert_ptr_nonnull(lowered.module);
		ck_assert_pstr_eq(ir_verify(&arena, lowered.module), NULL);
	}
	intern_close(names);
	arena_release(&arena);
}
END_TEST

Suite *golden_suite(void)
{
	Suite *suite = suite_create("golden");
	TCase *tc = tcase_create("golden");

	list_sources();
	folder_names(&list_arena, GRAPHLINT_ROOT "/fixtures/broken", &broken);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, lowering_gives_the_golden, 0, (int)sources.count);
	tcase_add_loop_test(tc, broken_files_lower_and_verify, 0, (int)broken.count);
	suite_add_tcase(suite, tc);
	return suite;
}
