#ifndef GRAPHLINT_FACTS_EXEC_H
#define GRAPHLINT_FACTS_EXEC_H

/* What the files that run functions share: the transfer functions of the IR by
 * family. `define` gives what an instruction leaves, `effect_only` does the rest. */

#include "analyzer/facts/analysis.h"

value_id do_import(struct analysis *a, struct activation *act, const struct ir_inst *inst);
value_id do_import_from(struct analysis *a, struct activation *act, struct state *state,
                        uint32_t at);
void do_import_star(struct analysis *a, struct activation *act, struct state *state,
                    value_id module);
value_id do_load(struct analysis *a, struct activation *act, struct state *state,
                 const struct ir_inst *inst);
void do_store(struct analysis *a, struct activation *act, struct state *state, block_id block,
              uint32_t at);
void do_delete(struct analysis *a, struct activation *act, struct state *state,
               const struct ir_inst *inst);
value_id operand(const struct activation *act, const struct ir_inst *inst, uint32_t index);
bool is_const(const struct analysis *a, object_id id);
value_id define(struct analysis *a, struct activation *act, struct state *state, uint32_t at);
void effect_only(struct analysis *a, struct activation *act, struct state *state, block_id block,
                 uint32_t at);

/* narrow.c: what a branch says of the variable that its condition asks about */
struct condition {
	uint32_t inst;
	bool negated;
};
struct condition narrow_condition(const struct activation *act, uint32_t branch);
bool narrow_applies(const struct analysis *a, const struct activation *act,
                    struct condition condition);
void narrow(struct analysis *a, struct activation *act, struct state *state,
            struct condition condition, bool truth);

#endif
