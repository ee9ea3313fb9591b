#ifndef GRAPHLINT_IR_VERIFY_H
#define GRAPHLINT_IR_VERIFY_H

#include "analyzer/ir/ir.h"

/* NULL when everything that ir.h promises holds, else what is wrong, in the
 * arena. Runs after lowering in debug builds, tests and fuzzers. */
const char *ir_verify(struct arena *arena, const struct ir_module *module);

#endif
