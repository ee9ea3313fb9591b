#ifndef GRAPHLINT_IR_BUILD_H
#define GRAPHLINT_IR_BUILD_H

/* How front ends write a function: blocks may be filled in any order, one at a
 * time is current. ir_finish lays the blocks out, computes order, dominators
 * and loops (analyzer/ir/cfg.c) and ends the building. */

#include "analyzer/ir/ir.h"

struct ir_builder; /* lives in the module's arena */

struct ir_module *ir_module_new(struct arena *arena, struct intern *names);

/* A new function of the module; its id is known at once, so it can be named by
 * `function` before it is finished. */
struct ir_builder *ir_begin(struct ir_module *module, enum func_kind kind, func_id parent);
func_id ir_builder_id(const struct ir_builder *builder);
struct ir_func *ir_builder_func(struct ir_builder *builder);

slot_id ir_slot_add(struct ir_builder *builder, struct ir_slot slot);
block_id ir_block_add(struct ir_builder *builder);
/* Later instructions go to this block; its handler is the current one. */
void ir_block_start(struct ir_builder *builder, block_id block);
/* Handler of blocks started from now on, and of the current block if empty. */
void ir_handler_set(struct ir_builder *builder, block_id handler);
block_id ir_handler(const struct ir_builder *builder);
/* Whether the current block already has its last instruction. */
bool ir_block_ended(const struct ir_builder *builder);
bool ir_block_empty(const struct ir_builder *builder);
/* Whether anything leads to this block so far. */
bool ir_block_used(const struct ir_builder *builder, block_id block);
/* The source of the loop that this block will head, if it heads one. */
void ir_loop_span(struct ir_builder *builder, block_id header, struct span span);

inst_id ir_emit(struct ir_builder *builder, enum ir_op op, enum ir_sub sub, uint32_t name,
                struct span span, const struct ir_arg *args, uint32_t nargs);
/* The instructions that end a block; `otherwise` is 0 for one successor. */
inst_id ir_emit_end(struct ir_builder *builder, enum ir_op op, uint32_t name, struct span span,
                    const struct ir_arg *args, uint32_t nargs, block_id then, block_id otherwise);

void ir_finish(struct ir_builder *builder);

#endif
