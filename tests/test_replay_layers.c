/* fixtures/replay/layers.json: a program for each layer, function and optimizer, and what PyTorch
 * held after its passes (tools/conformance_layers.py). */

#include <check.h>
#include <ctype.h>
#include <jansson.h>
#include <string.h>

#include "analyzer/replay/library.h"
#include "analyzer/replay/replay.h"
#include "runtime/ag.h"
#include "tests/replayed_runner.h"
#include "tests/suites.h"

static json_t *document;

static const json_t *rows(void)
{
	return json_object_get(document, "rows");
}

static struct replay_result run(struct arena *arena, struct intern *names, const char *text,
                                bool values)
{
	return replayed(text, (struct replay_request){.arena = arena,
	                                              .names = names,
	                                              .iterations = values ? 0 : 100,
	                                              .values = values});
}

static bool is_equal(const struct replay_result *result, const json_t *want, const char *key)
{
	bool equal = json_array_size(want) == result->count;
	size_t i;

	for (i = 0; equal && i < result->count; i++)
		equal = replayed_figure(&result->samples[i], key) ==
		        (uint64_t)json_integer_value(json_array_get(want, i));
	return equal;
}

static bool differs(const json_t *row, const char *key)
{
	const json_t *one;
	size_t i;

	json_array_foreach(json_object_get(row, "differs"), i, one)
	{
		if (strcmp(json_string_value(one), key) == 0)
			return true;
	}
	return false;
}

static void compare(const json_t *row, bool values)
{
	static const char *const keys[] = {"live_bytes", "storages", "tensors", "nodes",
	                                   "peak_bytes"};
	const char *name = json_string_value(json_object_get(row, "name"));
	struct arena arena = {0};
	struct intern *names = intern_open();
	struct replay_result result =
	        run(&arena, names, json_string_value(json_object_get(row, "program")), values);

	ck_assert_msg(!result.error && result.exact, "%s: %s", name,
	              result.error ? result.error : "something was stood in for");
	/* With numbers some kernels are composed of others, and take more. */
	for (int k = 0; k < (values ? 4 : 5); k++) {
		bool equal = is_equal(&result, json_object_get(row, keys[k]), keys[k]);

		ck_assert_msg(equal || differs(row, keys[k]), "%s: %s are not PyTorch's%s", name,
		              keys[k], values ? ", with numbers" : "");
		ck_assert_msg(values || !equal || !differs(row, keys[k]),
		              "%s: %s are PyTorch's now: record them again", name, keys[k]);
	}
	intern_close(names);
	arena_release(&arena);
}

START_TEST(layers_hold_what_pytorchs_hold)
{
	compare(json_array_get(rows(), (size_t)_i), false);
	compare(json_array_get(rows(), (size_t)_i), true);
}
END_TEST

/* Classes of the library without a program: bases, containers of parameters and what is said to be
 * a stand-in. */
static bool has_none(const char *name)
{
	static const char *const without[] = {
	        "nn.Parameter", "nn.UninitializedParameter", "nn.NonDynamicallyQuantizableLinear",
	        "nn.Buffer",    "optim.Optimizer",           "optim.SparseAdam",
	};

	for (size_t i = 0; i < sizeof(without) / sizeof(without[0]); i++) {
		if (strcmp(without[i], name) == 0)
			return true;
	}
	return false;
}

static bool is_told(const char *name)
{
	const size_t length = strlen(name);
	const json_t *row;
	size_t i;

	json_array_foreach(rows(), i, row)
	{
		const char *told = json_string_value(json_object_get(row, "name"));

		if (strncmp(told, name, length) == 0 && (!told[length] || told[length] == ' '))
			return true;
	}
	return false;
}

static void all_are_told(const char *module, const char *prefix)
{
	const struct library_module *library = library_find(module);
	char name[128];

	ck_assert(library != NULL);
	for (uint32_t i = 0; i < library->definitions.count; i++) {
		const struct library_definition *definition =
		        &library_definitions[library->definitions.first + i];
		const char *bytes = library_bytes + library_names[definition->name].start;

		if (!definition->name || !isupper((unsigned char)*bytes))
			continue;
		snprintf(name, sizeof(name), "%s.%s", prefix, bytes);
		ck_assert_msg(is_told(name) || has_none(name),
		              "%s has no program in tools/layer_rows.py", name);
	}
}

START_TEST(no_layer_is_forgotten)
{
	all_are_told("torch.nn", "nn");
	all_are_told("torch.optim", "optim");
}
END_TEST

/* Those that are spelled out as functions of torch.nn.functional. */
START_TEST(no_function_is_forgotten)
{
	for (int op = 1; op < AG_OP_COUNT; op++) {
		const char *at = ag_op_info((enum ag_op)op)->names;

		for (; *at; at += strcspn(at, " "), at += *at == ' ') {
			char name[128];

			if (strncmp(at, "F.", 2) != 0)
				continue;
			snprintf(name, sizeof(name), "%.*s", (int)strcspn(at, " "), at);
			ck_assert_msg(is_told(name), "%s has no program in tools/layer_rows.py",
			              name);
		}
	}
}
END_TEST

Suite *replay_layers_suite(void)
{
	Suite *suite = suite_create("replay_layers");
	TCase *all = tcase_create("layers"), *names = tcase_create("names");
	json_error_t error;

	document = json_load_file(GRAPHLINT_ROOT "/fixtures/replay/layers.json", 0, &error);
	tcase_set_timeout(all, 120);
	tcase_add_loop_test(all, layers_hold_what_pytorchs_hold, 0,
	                    document ? (int)json_array_size(rows()) : 1);
	tcase_add_test(names, no_layer_is_forgotten);
	tcase_add_test(names, no_function_is_forgotten);
	suite_add_tcase(suite, all);
	suite_add_tcase(suite, names);
	return suite;
}
