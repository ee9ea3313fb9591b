#ifndef GRAPHLINT_IR_VERIFY_CHECK_H
#define GRAPHLINT_IR_VERIFY_CHECK_H

/* What the files of the verifier share. The first thing found wrong is kept;
 * checks that follow may rely on what earlier ones made sure of. */

#include "analyzer/base/text.h"
#include "analyzer/ir/ir.h"

struct check {
	struct arena *arena; /* of the message */
	struct arena scratch;
	const struct ir_module *module;
	const struct ir_func *func;
	uint32_t id;
	const char *wrong;
};

void check_wrong(struct check *c, const char *format, ...) GL_PRINTF(2, 3);
/* Whether the instruction's name is a slot. */
bool check_names_slot(const struct ir_inst *inst);

/* verify_scopes.c: what `enter` opens is left on every path. */
void check_scopes(struct check *c);

#endif
