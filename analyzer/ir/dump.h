#ifndef GRAPHLINT_IR_DUMP_H
#define GRAPHLINT_IR_DUMP_H

/* Text for people and goldens: one line an instruction (ir), or blocks with
 * their edges, loops and dominators (cfg). Stable from run to run. */

#include "analyzer/base/text.h"
#include "analyzer/ir/ir.h"

void ir_dump(const struct ir_module *module, struct text *out);
void cfg_dump(const struct ir_module *module, struct text *out);

#endif
