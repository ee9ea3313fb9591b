#include <check.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/arena.h"
#include "analyzer/base/bitset.h"
#include "analyzer/base/hash.h"
#include "analyzer/base/intern.h"
#include "analyzer/base/slab.h"
#include "analyzer/base/text.h"
#include "analyzer/base/thread_pool.h"
#include "analyzer/base/vec.h"

static struct arena arena;

static void release(void)
{
	arena_release(&arena);
	ck_assert_ptr_null(arena.top);
	ck_assert_uint_eq(arena.used, 0);
}

/* arena */

static bool all_are(const unsigned char *at, size_t count, unsigned char value)
{
	for (size_t i = 0; i < count; i++)
		if (at[i] != value)
			return false;
	return true;
}

START_TEST(arena_memory_is_zeroed_and_aligned)
{
	static const size_t sizes[] = {0, 1, 15, 16, 17, 4095, 4096, 5000, 1 << 20, 3};

	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			unsigned char *at = arena_alloc(&arena, sizes[i], 1);

			ck_assert_uint_eq((uintptr_t)at % 16, 0);
			ck_assert(all_are(at, sizes[i], 0));
			memset(at, 0xa5, sizes[i]);
		}
		arena_reset(&arena);
	}
}
END_TEST

START_TEST(arena_objects_do_not_overlap)
{
	enum { COUNT = 2000 };
	unsigned char *at[COUNT];
	size_t size[COUNT];

	for (size_t i = 0; i < COUNT; i++) {
		size[i] = i * 37 % 700;
		at[i] = arena_alloc(&arena, size[i], 1);
		memset(at[i], (int)(i & 0xff), size[i]);
	}
	for (size_t i = 0; i < COUNT; i++)
		ck_assert(all_are(at[i], size[i], i & 0xff));
}
END_TEST

START_TEST(arena_resize_keeps_and_zeroes)
{
	unsigned char *first = arena_resize(&arena, NULL, 0, 10);
	unsigned char *grown;

	memset(first, 7, 10);
	grown = arena_resize(&arena, first, 10, 40);
	ck_assert_ptr_eq(grown, first);
	arena_alloc(&arena, 1, 1);
	grown = arena_resize(&arena, grown, 40, 100000);
	ck_assert_ptr_ne(grown, first);
	ck_assert(all_are(grown, 10, 7));
	ck_assert(all_are(grown + 10, 100000 - 10, 0));
}
END_TEST

START_TEST(arena_text_copies_nuls)
{
	char *copy = arena_text(&arena, "a\0b", 3);

	ck_assert_mem_eq(copy, "a\0b", 4);
	ck_assert_str_eq(arena_text(&arena, NULL, 0), "");
}
END_TEST

START_TEST(arena_product_overflow_is_our_bug)
{
	arena_alloc(&arena, SIZE_MAX / 2, 4);
}
END_TEST

/* slab */

enum { SLAB_BLOCKS = 300 };

static const size_t slab_sizes[] = {1, 16, 17, 48, 500, 528, 529, 4000, 100000};

/* Blocks of all sizes, each filled with its number. */
START_TEST(slab_blocks_do_not_overlap)
{
	const size_t size = slab_sizes[_i];
	struct slab slab = {0};
	unsigned char *at[SLAB_BLOCKS];

	for (size_t round = 0; round < 2; round++) {
		for (size_t i = 0; i < SLAB_BLOCKS; i++) {
			at[i] = slab_take(&slab, size);
			ck_assert_uint_eq((uintptr_t)at[i] % 16, 0);
			memset(at[i], (int)(i % 251), size);
		}
		for (size_t i = 0; i < SLAB_BLOCKS; i++)
			ck_assert(all_are(at[i], size, (unsigned char)(i % 251)));
		for (size_t i = 0; i < SLAB_BLOCKS; i += 2)
			slab_give(&slab, at[i], size);
	}
	slab_release(&slab);
	ck_assert_ptr_null(slab.chunks);
	ck_assert_ptr_null(slab.large);
}
END_TEST

START_TEST(slab_resize_keeps_what_fits)
{
	const size_t count = sizeof(slab_sizes) / sizeof(slab_sizes[0]);
	struct slab slab = {0};

	for (size_t from = 0; from < count; from++)
		for (size_t to = 0; to < count; to++) {
			const size_t least = slab_sizes[from < to ? from : to];
			unsigned char *at = slab_resize(&slab, NULL, 0, slab_sizes[from]);

			memset(at, 7, slab_sizes[from]);
			at = slab_resize(&slab, at, slab_sizes[from], slab_sizes[to]);
			ck_assert(all_are(at, least, 7));
			memset(at, 9, slab_sizes[to]);
			if ((from + to) % 3 == 0)
				ck_assert_ptr_null(slab_resize(&slab, at, slab_sizes[to], 0));
		}
	slab_release(&slab);
}
END_TEST

/* vec */

START_TEST(vec_holds_what_was_pushed)
{
	VEC(uint32_t) numbers = {0};
	VEC(struct bitset) large = {0};

	for (uint32_t i = 0; i < 100000; i++)
		vec_push(&arena, &numbers, i * 3);
	ck_assert_uint_eq(numbers.count, 100000);
	for (uint32_t i = 0; i < numbers.count; i++)
		ck_assert_uint_eq(numbers.at[i], i * 3);
	for (uint32_t i = 0; i < 100; i++)
		vec_push(&arena, &large, (struct bitset){NULL, i});
	ck_assert_uint_eq(large.at[99].size, 99);
}
END_TEST

/* text */

START_TEST(text_grows_and_prints)
{
	struct text text = {.arena = &arena};

	ck_assert_str_eq(text_chars(&text), "");
	text_add_chars(&text, "loss");
	text_add_char(&text, ':');
	text_print(&text, " %05.2f|%s|%d", 1.5, "x", -3);
	ck_assert_str_eq(text_chars(&text), "loss: 01.50|x|-3");
	text_add(&text, "\0", 1);
	ck_assert_uint_eq(text.length, 17);
	text_cut(&text, 4);
	ck_assert_str_eq(text.at, "loss");
	text_add_repeated(&text, '-', 5000);
	ck_assert_uint_eq(strlen(text.at), 5004);
	text_print(&text, "%3000d", 1);
	ck_assert_uint_eq(text.length, 8004);
	text_add(&text, text.at, 4);
	ck_assert_str_eq(text.at + 8004, "loss");
}
END_TEST

static const struct {
	uint32_t code_point;
	const char *utf8;
} code_points[] = {
        {'a', "a"},
        {0x7f, "\x7f"},
        {0x80, "\xc2\x80"},
        {0x7ff, "\xdf\xbf"},
        {0x800, "\xe0\xa0\x80"},
        {0xffff, "\xef\xbf\xbf"},
        {0x10000, "\xf0\x90\x80\x80"},
        {0x10ffff, "\xf4\x8f\xbf\xbf"},
        {0x110000, "\xef\xbf\xbd"},
        {0xd800, "\xef\xbf\xbd"},
        {0xdfff, "\xef\xbf\xbd"},
};

enum { CODE_POINT_COUNT = sizeof(code_points) / sizeof(code_points[0]) };

START_TEST(text_encodes_code_points)
{
	struct text text = {.arena = &arena};

	text_add_code_point(&text, code_points[_i].code_point);
	ck_assert_str_eq(text_chars(&text), code_points[_i].utf8);
}
END_TEST

/* bitset: against a plain array of bytes */

struct model {
	struct bitset set;
	unsigned char has[300];
};

static void check_model(const struct model *m)
{
	uint32_t count = 0, next = bitset_next(m->set, 0);

	for (uint32_t i = 0; i < m->set.size; i++) {
		ck_assert_int_eq(bitset_has(m->set, i), m->has[i]);
		if (!m->has[i])
			continue;
		ck_assert_uint_eq(next, i);
		next = bitset_next(m->set, i + 1);
		count++;
	}
	ck_assert_uint_eq(next, BITSET_END);
	ck_assert_uint_eq(bitset_count(m->set), count);
	ck_assert_int_eq(bitset_is_empty(m->set), count == 0);
}

static unsigned random_number(unsigned *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

static void fill_model(struct model *m, unsigned *state)
{
	memset(m->has, 0, sizeof(m->has));
	bitset_clear(m->set);
	for (uint32_t i = 0; i < m->set.size / 3; i++) {
		uint32_t member = random_number(state) % m->set.size;

		bitset_add(m->set, member);
		m->has[member] = 1;
	}
}

static const uint32_t set_sizes[] = {0, 1, 63, 64, 65, 128, 129, 300};

enum { SET_SIZE_COUNT = sizeof(set_sizes) / sizeof(set_sizes[0]) };

START_TEST(bitset_behaves_like_an_array)
{
	uint32_t size = set_sizes[_i];
	struct model a = {.set = bitset_new(&arena, size)}, b = {.set = bitset_new(&arena, size)};
	unsigned state = size + 1;

	for (int round = 0; round < 50; round++) {
		bool changed = false, did;
		struct bitset before = bitset_new(&arena, size);

		fill_model(&a, &state);
		fill_model(&b, &state);
		bitset_copy(before, a.set);
		for (uint32_t i = 0; i < size; i++) {
			unsigned char had = a.has[i];

			a.has[i] = round % 3 == 0   ? had | b.has[i]
			           : round % 3 == 1 ? had & b.has[i]
			                            : had & !b.has[i];
			changed |= a.has[i] != had;
		}
		did = round % 3 == 0   ? bitset_join(a.set, b.set)
		      : round % 3 == 1 ? bitset_meet(a.set, b.set)
		                       : bitset_subtract(a.set, b.set);
		ck_assert_int_eq(did, changed);
		ck_assert_int_eq(bitset_same(a.set, before), !changed);
		check_model(&a);
		check_model(&b);
		if (round % 3 == 2)
			ck_assert(!bitset_intersects(a.set, b.set));
	}
	bitset_fill(a.set);
	ck_assert_uint_eq(bitset_count(a.set), size);
	for (uint32_t i = 0; i < size; i++)
		bitset_remove(a.set, i);
	ck_assert(bitset_is_empty(a.set));
}
END_TEST

START_TEST(bitset_member_outside_is_our_bug)
{
	bitset_add(bitset_new(&arena, 10), 10);
}
END_TEST

/* hash */

START_TEST(hash_depends_on_bytes_only)
{
	struct digest a = digest_bytes("abc", 3), b = digest_bytes("abd", 3);
	char hex[DIGEST_HEX_LENGTH + 1];

	ck_assert(digest_same(a, digest_bytes("abcd", 3)));
	ck_assert(!digest_same(a, b));
	ck_assert(!digest_same(digest_join(a, b), digest_join(b, a)));
	ck_assert_uint_ne(hash_join(1, 2), hash_join(2, 1));
	ck_assert_uint_eq(hash_bytes("abc", 3), 0x78af5f94892f3950u);
	digest_hex((struct digest){0xfedcba9876543210u, 0x0123456789abcdefu}, hex);
	ck_assert_str_eq(hex, "0123456789abcdeffedcba9876543210");
}
END_TEST

/* intern */

START_TEST(intern_well_known_names_are_constants)
{
	struct intern *table = intern_open();

#define NAME(id, text)                                                                             \
	ck_assert(sym_is(intern_text(table, text, sizeof(text) - 1), SYM_##id));                   \
	ck_assert_str_eq(intern_chars(table, sym(SYM_##id), NULL), text);
#include "analyzer/base/names.def"
#undef NAME
	ck_assert_str_eq(intern_chars(table, (sym_id){0}, NULL), "");
	intern_close(table);
}
END_TEST

START_TEST(intern_tells_bytes_apart)
{
	struct intern *table = intern_open();
	sym_id a = intern_text(table, "a\0b", 3), b = intern_text(table, "a\0c", 3);
	size_t length;

	ck_assert(!sym_same(a, b));
	ck_assert(sym_same(a, intern_text(table, "a\0b", 3)));
	ck_assert(!sym_same(a, intern_text(table, "a", 1)));
	ck_assert_mem_eq(intern_chars(table, b, &length), "a\0c", 4);
	ck_assert_uint_eq(length, 3);
	ck_assert_uint_ne(intern_text(table, "", 0).n, 0);
	intern_close(table);
}
END_TEST

enum { INTERN_NAMES = 30000, INTERN_JOBS = 8 };

struct intern_case {
	struct intern *table;
	sym_id ids[INTERN_JOBS][INTERN_NAMES];
};

static void intern_all(void *context, size_t index, unsigned worker)
{
	struct intern_case *c = context;
	char name[32];

	(void)worker;
	for (unsigned i = 0; i < INTERN_NAMES; i++) {
		unsigned which = index % 2 ? INTERN_NAMES - 1 - i : i;
		int length = snprintf(name, sizeof(name), "name_%u", which);

		c->ids[index][which] = intern_text(c->table, name, (size_t)length);
	}
}

START_TEST(intern_is_the_same_from_all_threads)
{
	struct intern_case *c = calloc(1, sizeof(*c));
	struct thread_pool *pool = thread_pool_open(INTERN_JOBS);
	char name[32];

	c->table = intern_open();
	thread_pool_run(pool, INTERN_JOBS, intern_all, c);
	for (unsigned i = 0; i < INTERN_NAMES; i++) {
		snprintf(name, sizeof(name), "name_%u", i);
		ck_assert_str_eq(intern_chars(c->table, c->ids[0][i], NULL), name);
		for (unsigned job = 1; job < INTERN_JOBS; job++)
			ck_assert(sym_same(c->ids[0][i], c->ids[job][i]));
	}
	thread_pool_close(pool);
	intern_close(c->table);
	free(c);
}
END_TEST

/* thread pool */

struct pool_case {
	unsigned jobs;
	_Atomic unsigned runs[1000];
	_Atomic bool wrong_worker;
};

static void count_run(void *context, size_t index, unsigned worker)
{
	struct pool_case *c = context;

	atomic_fetch_add(&c->runs[index], 1);
	if (worker >= c->jobs)
		atomic_store(&c->wrong_worker, true);
}

START_TEST(thread_pool_runs_each_index_once)
{
	struct pool_case c = {.jobs = (unsigned)_i};
	struct thread_pool *pool = thread_pool_open((unsigned)_i);
	static const size_t counts[] = {0, 1, 2, 7, 1000};

	ck_assert_uint_eq(thread_pool_jobs(pool), (unsigned)_i);
	for (unsigned round = 0; round < 200; round++) {
		size_t count = counts[round % 5];

		memset(c.runs, 0, sizeof(c.runs));
		thread_pool_run(pool, count, count_run, &c);
		for (size_t i = 0; i < 1000; i++)
			if (c.runs[i] != (i < count))
				ck_abort_msg("job %zu ran %u times", i, c.runs[i]);
	}
	ck_assert(!c.wrong_worker);
	thread_pool_close(pool);
}
END_TEST

START_TEST(thread_pool_default_is_at_least_one)
{
	struct thread_pool *pool = thread_pool_open(0);

	ck_assert_uint_ge(thread_pool_jobs(pool), 1);
	thread_pool_close(pool);
	thread_pool_close(NULL);
}
END_TEST

static TCase *memory_case(void)
{
	TCase *tc = tcase_create("memory");

	tcase_add_checked_fixture(tc, NULL, release);
	tcase_add_test(tc, arena_memory_is_zeroed_and_aligned);
	tcase_add_test(tc, arena_objects_do_not_overlap);
	tcase_add_test(tc, arena_resize_keeps_and_zeroes);
	tcase_add_test(tc, arena_text_copies_nuls);
	tcase_add_loop_test(tc, slab_blocks_do_not_overlap, 0,
	                    (int)(sizeof(slab_sizes) / sizeof(slab_sizes[0])));
	tcase_add_test(tc, slab_resize_keeps_what_fits);
	tcase_add_test(tc, vec_holds_what_was_pushed);
	tcase_add_test(tc, text_grows_and_prints);
	tcase_add_loop_test(tc, text_encodes_code_points, 0, CODE_POINT_COUNT);
	tcase_add_loop_test(tc, bitset_behaves_like_an_array, 0, SET_SIZE_COUNT);
	tcase_add_test_raise_signal(tc, arena_product_overflow_is_our_bug, SIGABRT);
	tcase_add_test_raise_signal(tc, bitset_member_outside_is_our_bug, SIGABRT);
	return tc;
}

static TCase *shared_case(void)
{
	TCase *tc = tcase_create("shared");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, hash_depends_on_bytes_only);
	tcase_add_test(tc, intern_well_known_names_are_constants);
	tcase_add_test(tc, intern_tells_bytes_apart);
	tcase_add_test(tc, intern_is_the_same_from_all_threads);
	tcase_add_loop_test(tc, thread_pool_runs_each_index_once, 1, 5);
	tcase_add_test(tc, thread_pool_default_is_at_least_one);
	return tc;
}

Suite *base_suite(void)
{
	Suite *suite = suite_create("base");

	suite_add_tcase(suite, memory_case());
	suite_add_tcase(suite, shared_case());
	return suite;
}
