/*
 * Replays the rows of fixtures/runtime/ops.json through the runtime's ag_call, by name: a row is
 * inputs made from a seed, steps with registers, and what PyTorch gave and kept. Each check
 * returns true, or false with a message that says what differs.
 */
#ifndef TESTS_ROW_CHECKS_H
#define TESTS_ROW_CHECKS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct row_message {
	char text[512];
};

/* Results and gradients, on every recorded choice of shapes. */
bool row_check_values(const json_t *document, const json_t *row, struct row_message *message);
/* Nodes, and bytes before and after backward; with `meta` on tensors that have no data. */
bool row_check_memory(const json_t *document, const json_t *row, bool meta,
                      struct row_message *message);
/* The same in a region of autocast. */
bool row_check_autocast(const json_t *document, const json_t *row, bool meta,
                        struct row_message *message);
/* Gradients of gradients, in double. */
bool row_check_second(const json_t *document, const json_t *row, struct row_message *message);
/* Gradients against central differences, in double. */
bool row_check_gradients(const json_t *document, const json_t *row, struct row_message *message);
/* With complex numbers for real ones: an error, no data, or what is right; never a number that
 * took them for real ones. */
bool row_check_complex(const json_t *document, const json_t *row, struct row_message *message);

#endif
