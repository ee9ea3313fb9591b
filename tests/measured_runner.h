#ifndef TESTS_MEASURED_RUNNER_H
#define TESTS_MEASURED_RUNNER_H

/* Programs of tools/record_programs.py in C: each calls sample at the end of its loop's body, and
 * live bytes and nodes then equal what real PyTorch's were. What a program keeps to its end it
 * gives to keep; it drops its variables itself. */

#include "tests/runtime_runner.h"

enum { STEPS = 20 };

struct measured {
	const char *name;
	void (*run)(void);
};

void sample(int step);
void keep(struct ag_tensor *t);
void drop(struct ag_tensor **variable);
/* Runs it and compares with what is recorded under its name. */
void measured_check(const struct measured *program, bool meta);

#endif
