#ifndef GRAPHLINT_FLOW_LIVENESS_H
#define GRAPHLINT_FLOW_LIVENESS_H

/* Which variables carry something from one iteration to the next: may what a
 * slot, or a module's name, holds where a loop starts be read before it is
 * stored again? Classic backward liveness over the blocks of one function. */

#include "analyzer/ir/ir.h"

struct flow_live;

/* Names are followed in module bodies only; one that another function of the
 * module reads lives always. */
const struct flow_live *flow_live_new(struct arena *arena, const struct ir_module *module,
                                      const struct ir_func *func);
bool flow_slot_lives(const struct flow_live *live, loop_id loop, uint32_t slot);
bool flow_name_lives(const struct flow_live *live, loop_id loop, sym_id name);
/* A `for` that is come to stores it before it is read, if it is: it runs at least once. */
bool flow_slot_replaced(const struct flow_live *live, loop_id loop, uint32_t slot);
bool flow_name_replaced(const struct flow_live *live, loop_id loop, sym_id name);

/* Does what a variable has behind instruction `from`, which is in the loop, come to the next
 * round? What `grows` stores still has it. */
bool flow_slot_stays(const struct ir_func *func, uint32_t from, uint32_t grows, loop_id loop,
                     uint32_t slot);
bool flow_name_stays(const struct ir_func *func, uint32_t from, uint32_t grows, loop_id loop,
                     sym_id name);

#endif
