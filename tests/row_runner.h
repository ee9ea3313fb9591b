/*
 * One run of a row of fixtures/runtime/ops.json on the runtime: inputs made from a seed, then the
 * row's steps. Inputs that require grad are clones of leaves, so that nothing but the graph keeps
 * them. row_release drops what is held; it may be called at any point and twice.
 */
#ifndef TESTS_ROW_RUNNER_H
#define TESTS_ROW_RUNNER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/ag.h"
#include "tests/row_checks.h"
#include "tests/steps_runner.h"

enum { ROW_MOST_INPUTS = 8, ROW_MOST_RESULTS = 16, ROW_MOST_ELEMENTS = 1024 };

/* Added to one element of one input that requires grad, before it is used; 0: nothing. */
struct row_nudge {
	uint32_t leaf;
	int64_t element;
	double by;
};

/* What stands for inputs of float32. */
enum row_part { ROW_AS_IT_IS, ROW_COMPLEX, ROW_OTHER_COMPLEX, ROW_IMAGINARY };

struct row_run {
	struct ag_ctx *ctx;
	enum row_part part;
	bool autocast; /* the row runs in a region of it */
	struct row_nudge nudge;
	struct steps_machine machine;
	struct ag_tensor *leaves[ROW_MOST_INPUTS];
	uint32_t leaf_count;
	struct ag_node *stops[ROW_MOST_INPUTS]; /* retained: the inputs' own nodes */
	uint32_t stop_count;
	struct ag_tensor *results[ROW_MOST_RESULTS];
	uint32_t result_count;
};

/* Makes the inputs of `specs`, those named in `needs` with grad. False: ag_error tells. */
bool row_make_inputs(struct row_run *run, const json_t *document, const json_t *specs,
                     const json_t *needs);
/* With the default dtype that the case names. */
bool row_execute_case(struct row_run *run, const json_t *document, const json_t *row,
                      const json_t *value_case);
bool row_execute(struct row_run *run, const json_t *document, const json_t *row);
void row_release(struct row_run *run);
const char *row_failure(const struct row_run *run);

/* Writes the message; always false. */
bool row_differ(struct row_message *message, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
/* The recorded shape; returns its number of elements. */
int64_t row_shape(const json_t *json, int64_t *shape, int *ndim);
bool row_check_kind(const struct ag_tensor *tensor, const json_t *want, const char *what,
                    struct row_message *message);
/* What element `index` of an output is multiplied by before all is summed. */
double row_weight(int64_t index);
struct ag_tensor *row_weight_like(struct row_run *run, const struct ag_tensor *tensor);

#endif
