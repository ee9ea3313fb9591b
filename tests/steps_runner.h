/*
 * Executes recorded steps on the runtime. Registers own what they hold; one is dropped after the
 * step that reads it last, as Python drops a temporary. Registers 0.. are the inputs.
 */
#ifndef TESTS_STEPS_RUNNER_H
#define TESTS_STEPS_RUNNER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/ag.h"

enum { STEPS_MOST_REGISTERS = 64, STEPS_MOST_TENSORS = 16 };

struct steps_register {
	struct ag_tensor *tensors[STEPS_MOST_TENSORS];
	uint32_t count;
	struct ag_module *module;
};

struct steps_machine {
	struct ag_ctx *ctx;
	struct steps_register registers[STEPS_MOST_REGISTERS];
	uint32_t count;
};

/* Adds a register with one tensor, which the machine takes over. */
void steps_add_input(struct steps_machine *machine, struct ag_tensor *tensor);
/* False if a call failed: ag_error tells. */
bool steps_run(struct steps_machine *machine, const json_t *steps, const json_t *results);
/* The tensors of the registers that `results` names; new references. Returns their number. */
uint32_t steps_results(const struct steps_machine *machine, const json_t *results,
                       struct ag_tensor **out, uint32_t most);
void steps_release(struct steps_machine *machine);

#endif
