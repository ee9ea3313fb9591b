#include "tests/recorded_runner.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

json_t *recorded_load(const char *name)
{
	char path[512];
	json_error_t error;
	json_t *root;

	snprintf(path, sizeof(path), "%s/fixtures/runtime/%s", GRAPHLINT_ROOT, name);
	root = json_load_file(path, JSON_ALLOW_NUL, &error);
	if (!root)
		ck_abort_msg("%s:%d: %s", path, error.line, error.text);
	return root;
}

const char *recorded_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	if (!text)
		ck_abort_msg("no text at %s", key);
	return text;
}

double recorded_number(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	if (!json_is_number(value))
		ck_abort_msg("no number at %s", key);
	return json_number_value(value);
}

double recorded_at(const json_t *object, const char *key, size_t index)
{
	const json_t *value = json_array_get(json_object_get(object, key), index);

	if (!json_is_number(value))
		ck_abort_msg("no number at %s[%zu]", key, index);
	return json_number_value(value);
}

static uint64_t fnv(const void *data, size_t size)
{
	const unsigned char *bytes = data;
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
	return hash;
}

/* Checks the count, and the hash where it is recorded; returns the values where they are. */
static const json_t *listed_values(const json_t *recorded, const void *data, size_t count,
                                   size_t size, const char *where)
{
	const json_t *hash = json_object_get(recorded, "fnv");
	const json_t *values = json_object_get(recorded, "values");
	const json_t *n = json_object_get(recorded, "n");
	char text[17];

	if (n && (size_t)json_integer_value(n) != count)
		ck_abort_msg("%s: %zu values, not %lld", where, count, json_integer_value(n));
	if (!hash) {
		if (json_array_size(values) != count)
			ck_abort_msg("%s: %zu values, recorded are %zu", where, count,
			             json_array_size(values));
		return values;
	}
	snprintf(text, sizeof(text), "%016" PRIx64, fnv(data, count * size));
	if (strcmp(text, json_string_value(hash)) != 0)
		ck_abort_msg("%s: %zu values hash to %s, not %s", where, count, text,
		             json_string_value(hash));
	return NULL;
}

void recorded_equal_f32(const json_t *recorded, const float *values, size_t count,
                        const char *where)
{
	const json_t *list = listed_values(recorded, values, count, sizeof(*values), where);

	for (size_t i = 0; list && i < count; i++) {
		double want = json_number_value(json_array_get(list, i));
		if ((double)values[i] != want)
			ck_abort_msg("%s[%zu]: %.9g, not %.9g", where, i, (double)values[i], want);
	}
}

void recorded_equal_f64(const json_t *recorded, const double *values, size_t count,
                        const char *where)
{
	const json_t *list = listed_values(recorded, values, count, sizeof(*values), where);

	for (size_t i = 0; list && i < count; i++) {
		double want = json_number_value(json_array_get(list, i));
		if (values[i] != want)
			ck_abort_msg("%s[%zu]: %.17g, not %.17g", where, i, values[i], want);
	}
}

void recorded_equal_i64(const json_t *recorded, const int64_t *values, size_t count,
                        const char *where)
{
	const json_t *list = listed_values(recorded, values, count, sizeof(*values), where);

	for (size_t i = 0; list && i < count; i++) {
		int64_t want = json_integer_value(json_array_get(list, i));
		if (values[i] != want)
			ck_abort_msg("%s[%zu]: %" PRId64 ", not %" PRId64, where, i, values[i],
			             want);
	}
}
