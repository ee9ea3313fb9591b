/*
 * What tools/record_runtime.py recorded from real PyTorch: reading its files, and comparing
 * arrays with them. A recorded array is {"n", "values"} or, if it is long, {"n", "fnv"}: the hash
 * of its bytes. The comparison is exact and fails the running test with `where` in the message.
 */
#ifndef TESTS_RECORDED_RUNNER_H
#define TESTS_RECORDED_RUNNER_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

/* fixtures/runtime/NAME; the caller drops the reference. Fails the test if it cannot be read. */
json_t *recorded_load(const char *name);

const char *recorded_text(const json_t *object, const char *key);
double recorded_number(const json_t *object, const char *key);
/* The number at `index` of the array at `key`. */
double recorded_at(const json_t *object, const char *key, size_t index);

void recorded_equal_f32(const json_t *recorded, const float *values, size_t count,
                        const char *where);
void recorded_equal_f64(const json_t *recorded, const double *values, size_t count,
                        const char *where);
void recorded_equal_i64(const json_t *recorded, const int64_t *values, size_t count,
                        const char *where);

#endif
